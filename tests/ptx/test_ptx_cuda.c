/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the compilation of CUDA C++ without an SDK, with our own headers, by every installed clang of a list. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define COMPILER_SOURCE "k.cu"
#include "tests/lib/compiler_fixture.h"

#include "ptx/ptx.h"

static void put(const char *path, const char *text)
{
    assert_int_equal(lw_file_write(path, text, strlen(text), NULL), LW_OK);
}

static char *compile(const struct fixture *f, const char *text, const char *flag,
                     const char *compiler)
{
    struct lw_error err = {.text = ""};
    const char *const flags[] = {flag};
    char *ptx = NULL;
    size_t size = 0;

    put(f->source, text);
    if (ptx_compile(f->source, flags, flag != NULL, compiler, &ptx, &size, NULL, &err) != LW_OK)
        fail_msg("%s: %s", compiler != NULL ? compiler : "", err.text);
    assert_int_equal(strlen(ptx), size);
    return ptx;
}

static struct lw_error refuse(const struct fixture *f, const char *text, const char *compiler,
                              enum lw_status expected)
{
    struct lw_error err = {.text = ""};
    char *ptx = NULL;
    size_t size = 0;

    put(f->source, text);
    assert_int_equal(ptx_compile(f->source, NULL, 0, compiler, &ptx, &size, NULL, &err), expected);
    assert_null(ptx);
    assert_null(strchr(err.text, '\n'));
    return err;
}

static void expect_text(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no \"%s\" in: %s", part, text);
}

static const char *const versions[] = {"clang-14", "clang-15", "clang-16", "clang-19"};

/** Compiles @text with every installed clang, and checks that each result contains all @parts and no call. The versions between
 *  the oldest and the newest are used only if LW_LONG is 1, because 14 and 19 differ most. */
static void with_all(const struct fixture *f, const char *text, const char *const *parts)
{
    const char *all = getenv("LW_LONG");
    unsigned found = 0;

    for (size_t i = 0; i < LW_COUNT_OF(versions); i++) {
        const bool between = i != 0 && i + 1 != LW_COUNT_OF(versions);
        char *ptx;

        if (!installed(versions[i]) || (between && (all == NULL || strcmp(all, "1") != 0) && found != 0))
            continue;
        found++;
        ptx = compile(f, text, NULL, versions[i]);
        for (size_t p = 0; parts[p] != NULL; p++)
            expect_text(ptx, parts[p]);
        if (strstr(ptx, "call.uni") != NULL)
            fail_msg("a call with %s: %s", versions[i], strstr(ptx, "call.uni"));
        free(ptx);
    }
    assert_int_not_equal(found, 0);
}

static const char plain[] = "__global__ void k(float *p)\n"
                            "{\n"
                            "    p[blockIdx.x * blockDim.x + threadIdx.x] += 1;\n"
                            "}\n";

static void every_installed_clang_makes_an_entry_with_lines_of_the_source_only(void **state)
{
    static const char *const parts[] = {".entry _Z1kPf(", "k.cu\"", ".loc\t1 3", "%ctaid.x",
                                        "%ntid.x", "%tid.x", NULL};
    char *ptx;

    with_all(*state, plain, parts);
    ptx = compile(*state, plain, NULL, NULL);
    assert_null(strstr(ptx, "lanewise_"));
    free(ptx);
    /* Debuggers define variables with these names. The objects that clang declares would hide these variables. */
    ptx = compile(*state, plain, "-O0", NULL);
    assert_null(strstr(ptx, "threadIdx"));
    expect_text(ptx, "%tid.x");
    free(ptx);
}

static void host_code_beside_a_kernel_only_has_to_parse(void **state)
{
    static const char text[] =
        "#include <cstdio>\n"
        "#include <iostream>\n"
        "#include <vector>\n"
        "#include <cmath>\n"
        "#include <cuda_runtime.h>\n"
        "#include <device_launch_parameters.h>\n"
        "__constant__ float table[4];\n"
        "__global__ void k(float *p) { p[threadIdx.x] = std::sqrt(p[threadIdx.x]) + table[1]; }\n"
        "int main()\n"
        "{\n"
        "    std::vector<float> v(8, std::sqrt(2.0f));\n"
        "    cudaDeviceProp properties;\n"
        "    cudaEvent_t start;\n"
        "    float *p, ms;\n"
        "    cudaGetDeviceProperties(&properties, 0);\n"
        "    cudaMalloc((void **)&p, 32);\n"
        "    cudaMemcpyToSymbol(table, v.data(), 16);\n"
        "    cudaEventCreate(&start);\n"
        "    k<<<dim3(1, 2), 8, 64>>>(p);\n"
        "    cudaEventElapsedTime(&ms, start, start);\n"
        "    std::cout << cudaGetErrorString(cudaGetLastError()) << std::max(1, 2);\n"
        "    free(malloc(std::min(8, abs(-3))));\n"
        "    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;\n"
        "}\n";
    static const char *const parts[] = {"sqrt.rn.f32", NULL};

    with_all(*state, text, parts);
}

/* nvcc declares all names in this text without an #include, so Lanewise must declare them, too. */
static const char no_include[] =
    "#ifndef __CUDACC__\n"
    "#error not CUDA\n"
    "#endif\n"
    "struct pair { char a; int b; };\n"
    "__constant__ float table[4];\n"
    "__global__ void k(float *f, double *d, int64_t *l, uint8_t *b, int *i)\n"
    "{\n"
    "    uint64_t big = UINT64_MAX;\n"
    "    ptrdiff_t off = offsetof(pair, b) + CHAR_BIT;\n"
    "    intptr_t at = (intptr_t)f;\n"
    "    i[0] = INT_MAX; i[1] = (int)(SIZE_MAX >> 40) + __CUDACC_VER_MAJOR__ + (int)off;\n"
    "    i[2] = std::abs(i[3]) + (int)std::lround(f[1]) + std::move(i[4]) + (FLT_MAX > f[3]);\n"
    "    l[0] = std::abs(l[1]) + LLONG_MIN + (long long)big + at + min(3l, 4ul);\n"
    "    f[0] = std::sqrt(f[1]) + std::fma(f[2], f[3], f[4]) + std::abs(f[5]) + std::pow(f[6], 2);\n"
    "    d[0] = std::floor(d[1]) + std::fmax(d[2], d[3]) + std::isnan(d[4]) + std::abs(d[5]);\n"
    "    memset(b, 0, 4); memcpy(b + 4, b + 8, 4);\n"
    "    __stwt((float4 *)f + 4, __ldcv((const float4 *)f + 5));\n"
    "    assert(i[9] != 1);\n"
    "}\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    cudaDeviceProp prop;\n"
    "    cudaStream_t s;\n"
    "    void *p;\n"
    "    if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess)\n"
    "        fprintf(stderr, \"%s %d\\n\", prop.name, prop.concurrentManagedAccess);\n"
    "    printf(\"%d\\n\", std::max(argc, std::min(argc, atoi(argv[1]))));\n"
    "    cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, 0);\n"
    "    cudaMallocAsync(&p, 64, s); cudaFreeAsync(p, s); cudaFreeAsync(p, cudaStreamPerThread);\n"
    "    return strcmp(argv[0], \"x\") + isalpha(argv[0][0]) + (int)std::sqrt(2.0);\n"
    "}\n";

static void names_that_nvcc_declares_are_there_without_an_include(void **state)
{
    static const char *const parts[] = {"sqrt.rn.f32", "fma.rn.f32", "cvt.rmi.f64.f64", "max.f64",
                                        "st.volatile.", "ld.volatile.", NULL};
    static const char includes[] = "#include <cmath>\n#include <algorithm>\n#include <cstdlib>\n"
                                   "#include <cstdint>\n#include <climits>\n";
    char text[sizeof includes + sizeof no_include], *ptx;

    for (size_t i = 0; i < LW_COUNT_OF(versions); i++) {
        if (!installed(versions[i]))
            continue;
        /* The standard headers have no effect if they are included after ours. */
        snprintf(text, sizeof text, "%s%s", i % 2 != 0 ? includes : "", no_include);
        ptx = compile(*state, text, i == 0 ? "-std=c++11" : NULL, versions[i]);
        for (size_t p = 0; parts[p] != NULL; p++)
            expect_text(ptx, parts[p]);
        free(ptx);
    }
}

static void mathematics_comes_from_libclc_or_is_one_instruction(void **state)
{
    static const char text[] =
        "#include <cmath>\n"
        "__global__ void k(float *p, double *d, int *q)\n"
        "{\n"
        "    p[0] = sinf(p[1]) + expf(p[2]) + powf(p[3], p[4]) + erff(p[5]) + tgammaf(p[6]);\n"
        "    d[0] = sin(d[1]) + exp(d[2]) + pow(d[3], d[4]) + erfc(d[5]) + lgamma(d[6]);\n"
        "    p[1] = __expf(p[1]) + __sinf(p[2]) + __logf(p[3]) + rsqrtf(p[4]) + __fdividef(p[5], 3);\n"
        "    d[1] = std::floor(d[1]) + std::fma(d[1], d[2], d[3]) + rint(d[4]) + fmod(d[5], 2.0);\n"
        "    p[2] = __fmaf_rz(p[1], p[2], p[3]) + __fadd_ru(p[4], p[5]) + __saturatef(p[6]);\n"
        "    q[0] = __float2int_rd(p[3]) + __double2int_rz(d[2]) + (int)lroundf(p[7]);\n"
        "    p[3] = frexpf(p[8], q + 1) + modff(p[9], p) + normcdff(p[10]) + erfinvf(p[11]);\n"
        "    p[4] = fminf(p[1], p[2]) + max(p[3], 2.0f) + std::abs(p[5]) + isnan(p[6]);\n"
        "    sincosf(p[7], p + 20, p + 21);\n"
        "}\n";
    static const char *const parts[] = {"ex2.approx.f32", "sin.approx.f32", "lg2.approx.f32",
                                        "rsqrt.approx.f32", "fma.rz.f32", "add.rp.f32",
                                        "cvt.rmi.s32.f32", "min.f32", NULL};

    with_all(*state, text, parts);
}

static void arguments_of_integer_and_mixed_types_become_double(void **state)
{
    static const char text[] =
        "#define IS(T, X) static_assert(__is_same(decltype(X), T), #X)\n"
        "__global__ void k(double *d, float f, int i, long l, unsigned char c, int *q)\n"
        "{\n"
        "    IS(double, cbrt(27)); IS(double, erf(l)); IS(double, tgamma(c)); IS(double, normcdf(1)); IS(int, ilogb(i));\n"
        "    IS(double, fma(1, 2, 3)); IS(double, fma(f, f, i)); IS(float, fma(f, f, f)); IS(double, fma(f, f, 1.0));\n"
        "    IS(double, remainder(i, 2)); IS(double, fdim(f, l)); IS(double, nextafter(f, 1.0)); IS(float, nextafter(f, f));\n"
        "    IS(double, pow(f, i)); IS(double, pow(l, 2)); IS(float, pow(f, f)); IS(double, remquo(i, f, q)); IS(long, lround(i));\n"
        "    IS(float, erfinv(f)); IS(float, copysign(f, f)); IS(double, copysign(f, 1.0)); IS(double, frexp(i, q)); IS(bool, isnan(i));\n"
        "    d[0] = cbrt(27) + erf(l) + tgamma(c) + fma(f, i, 3) + remainder(i, 2) + fdim(f, l) + nextafter(f, 1) + remquo(i, f, q);\n"
        "    d[1] = std::cbrt(i) + std::fmax(i, f) + std::fma(1, f, 2.0);\n"
        "}\n"
        "__device__ int erf(char, char);\n";
    static const char *const parts[] = {"fma.rn.f64", NULL};
    static const char included[] = "#include <cmath>\n";
    char whole[sizeof text + sizeof included];

    snprintf(whole, sizeof whole, "%s%s", included, text);
    with_all(*state, whole, parts);
}

static void integer_bit_and_atomic_functions_are_instructions(void **state)
{
    static const char text[] =
        "__global__ void k(unsigned *p, unsigned long long *d)\n"
        "{\n"
        "    p[0] = __clz(p[1]) + __popc(p[2]) + __brev(p[3]) + __ffs(p[4]) + __clzll(d[5]);\n"
        "    p[1] = __byte_perm(p[1], p[2], p[3]) + __umulhi(p[4], p[5]) + __mul24(p[1], p[7]);\n"
        "    p[2] = __usad(p[1], p[2], p[3]) + __dp4a(p[4], p[5], p[6]) + __dp2a_lo(p[7], p[8], p[9]);\n"
        "    p[3] = __funnelshift_l(p[1], p[2], p[3]) + __funnelshift_rc(p[4], p[5], p[6]);\n"
        "    d[0] = __umul64hi(d[1], d[2]) + __brevll(d[3]) + __popcll(d[4]);\n"
        "    p[4] = __float_as_uint(__uint_as_float(p[5]) + 1) + __vaddus4(p[6], p[7]);\n"
        "    p[5] = __ldg(p + 9) + min(p[8], 3) + __uhadd(p[3], p[4]);\n"
        "}\n"
        "__global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d,\n"
        "                  unsigned short *h)\n"
        "{\n"
        "    __shared__ int s;\n"
        "    atomicOr((long long *)l, 5ll); atomicAdd((float4 *)f, make_float4(1, 2, 3, 4));\n"
        "    i[1] = atomicAdd(i, 1) + atomicCAS(i, 2, 3) + atomicExch(i, 4) + atomicXor(i, 5);\n"
        "    u[1] = atomicInc(u, 9) + atomicDec(u, 9) + atomicMin(u, 3u) + atomicSub(u, 1u);\n"
        "    l[1] = atomicMax(l, 5ull) + atomicCAS(l, 1ull, 2ull) + atomicAnd(l, 3ull);\n"
        "    f[1] = atomicAdd(f, 1.0f) + atomicExch(f, 2.0f);\n"
        "    d[1] = atomicAdd(d, 1.0);\n"
        "    h[1] = atomicCAS(h, (unsigned short)1, (unsigned short)2);\n"
        "    i[2] = atomicAdd_block(i, 1) + atomicMax_system(i, 7) + atomicAdd(&s, 1);\n"
        "    __threadfence();\n"
        "}\n";
    static const char *const parts[] = {"clz.b32", "popc.b32", "brev.b32", "prmt.b32",
                                        "mul.hi.u32", "dp4a.u32.u32", "shf.l.wrap.b32",
                                        "shf.r.clamp.b32", "mul.hi.u64", ".add.u32", ".cas.b32",
                                        ".exch.b32", ".xor.b32", ".inc.u32", ".dec.u32",
                                        ".min.u32", ".max.u64", ".add.f32", ".add.f64",
                                        "atom.cta.", "atom.sys.", "atom.shared", "membar.gl",
                                        NULL};

    with_all(*state, text, parts);
}

static void warps_shuffle_vote_match_and_reduce(void **state)
{
    static const char text[] =
        "__global__ void k(int *p, double *d, long long *l)\n"
        "{\n"
        "    int x = p[threadIdx.x], all;\n"
        "    p[0] = __shfl_sync(~0u, x, 3) + __shfl_up_sync(~0u, x, 1, 16) +\n"
        "           __shfl_down_sync(~0u, x, 2) + __shfl_xor_sync(~0u, x, 4) + __shfl_xor(x, 1);\n"
        "    d[0] = __shfl_down_sync(~0u, d[threadIdx.x], 1);\n"
        "    p[1] = __any_sync(~0u, x) + __all_sync(~0u, x) + __ballot_sync(~0u, x) + __activemask();\n"
        "    p[2] = __match_any_sync(~0u, x) + __match_all_sync(~0u, l[0], &all) + all;\n"
        "    p[3] = __reduce_add_sync(~0u, x) + __reduce_xor_sync(~0u, (unsigned)x);\n"
        "    __syncwarp();\n"
        "    p[4] = __syncthreads_count(x) + __syncthreads_or(x);\n"
        "    __nanosleep(10);\n"
        "    l[1] = clock64() + clock() + __globaltimer();\n"
        "}\n";
    static const char *const parts[] = {"shfl.sync.idx", "shfl.sync.up", "shfl.sync.down",
                                        "shfl.sync.bfly", "vote.sync.any", "vote.sync.ballot",
                                        "activemask.b32", "match.any.sync.b32", "match.all.sync.b64",
                                        "redux.sync.add.s32", "bar.warp.sync", "nanosleep.u32",
                                        "%clock64", "%globaltimer", NULL};

    with_all(*state, text, parts);
}

static void halves_and_bfloats_have_their_headers(void **state)
{
    static const char text[] =
        "#include <cuda_fp16.h>\n"
        "#include <cuda_bf16.h>\n"
        "__global__ void k(half *h, half2 *p, __nv_bfloat16 *b, float *f)\n"
        "{\n"
        "    h[0] = h[1] * h[2] + __float2half(2.0f);\n"
        "    h[1] = __hfma(h[1], h[2], h[3]);\n"
        "    p[0] = __hadd2(p[1], __hmul2(p[2], __float2half2_rn(f[9])));\n"
        "    if (h[4] > h[5] || __hisnan(h[6]))\n"
        "        h[7] = hsqrt(__hmax(h[8], h[9]));\n"
        "    f[0] = __half2float(h[10]) + __low2float(p[3]) + __half2int_rz(h[11]);\n"
        "    b[0] = b[1] + b[2] * __float2bfloat16(f[3]);\n"
        "    f[1] = __bfloat162float(b[4]);\n"
        "    h[12] = __shfl_down_sync(~0u, h[13], 1);\n"
        "    __nv_bfloat162 c = __floats2bfloat162_rn(f[4], f[5]);\n"
        "    f[6] = __low2float(__hadd2_sat(c, __lowhigh2highlow(c))) + __high2float(__hfma2_sat(c, c, c));\n"
        "    __stwt(h + 14, __ldcv(h + 15)); __stwt(p + 8, __ldcv(p + 9));\n"
        "}\n"
        "#include <cuComplex.h>\n"
        "__global__ void complex(cuFloatComplex *c, cuDoubleComplex *d, double4_32a *q)\n"
        "{\n"
        "    c[0] = cuCdivf(cuCmulf(c[1], cuConjf(c[2])), make_cuComplex(cuCabsf(c[3]), 1));\n"
        "    d[0] = cuCadd(cuCfma(d[1], d[2], d[3]), make_cuDoubleComplex(cuCabs(d[4]), cuCreal(d[5])));\n"
        "    q[0] = make_double4_32a(fdivide(q[1].x, q[1].y), copysign(q[1].z, c[4].x), cuCimag(d[6]), 1);\n"
        "}\n";
    static const char *const parts[] = {"mul.rn.f16", "fma.rn.f16", "add.rn.f16x2", "mul.rn.f16x2",
                                        "cvt.rn.f16.f32", "cvt.f32.f16", "cvt.rzi.s32.f16", NULL};

    with_all(*state, text, parts);
}

static void cooperative_groups_become_shuffles_votes_and_barriers(void **state)
{
    static const char text[] =
        "#include <cooperative_groups.h>\n"
        "#include <cooperative_groups/reduce.h>\n"
        "namespace cg = cooperative_groups;\n"
        "__global__ void k(int *p)\n"
        "{\n"
        "    cg::thread_block block = cg::this_thread_block();\n"
        "    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);\n"
        "    auto small = cg::tiled_partition<4>(tile);\n"
        "    int x = p[block.thread_rank()], equal;\n"
        "    x = cg::reduce(tile, x, cg::plus<int>()) + tile.shfl_up(x, 1) + small.ballot(x);\n"
        "    x += tile.match_any(x) + tile.match_all(x, equal) + tile.any(x) + equal;\n"
        "    block.sync();\n"
        "    tile.sync();\n"
        "    if (x & 1) {\n"
        "        cg::coalesced_group here = cg::coalesced_threads();\n"
        "        x += here.shfl(x, 0) + here.size() + cg::inclusive_scan(here, x);\n"
        "    }\n"
        "    p[tile.meta_group_rank()] = x;\n"
        "}\n";
    static const char *const parts[] = {"shfl.sync.bfly", "shfl.sync.up", "vote.sync.ballot",
                                        "match.any.sync", "bar.sync", "bar.warp.sync",
                                        "activemask", NULL};

    with_all(*state, text, parts);
}

static void text_assertions_and_memory_are_calls_of_cudas_names(void **state)
{
    char *ptx = compile(*state,
                        "#include <cassert>\n"
                        "#include <cstdio>\n"
                        "__global__ void k(int n)\n"
                        "{\n"
                        "    int *p = (int *)malloc(n);\n"
                        "    printf(\"%d %p\\n\", n, p);\n"
                        "    assert(n != 3);\n"
                        "    free(p);\n"
                        "    delete new int(n);\n"
                        "}\n",
                        NULL, NULL);

    expect_text(ptx, "vprintf");
    expect_text(ptx, "__assertfail");
    expect_text(ptx, "malloc");
    free(ptx);
}

static void macros_of_one_letter_are_the_sources_own(void **state)
{
    const struct fixture *f = *state;
    char text[1024] = "#define T float\n";
    size_t at = strlen(text);

    /* The source defines each capital letter except T as a macro, and the command line defines one more name. */
    for (char c = 'A'; c <= 'Z'; c++)
        if (c != 'T' && c != 'N')
            at += (size_t)snprintf(text + at, sizeof text - at, "#define %c %d\n", c, c);
    snprintf(text + at, sizeof text - at,
             "#include <cuda_runtime.h>\n#include <cooperative_groups.h>\n"
             "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cmath>\n"
             "__device__ int log2(int x) { return x; }\n" /* with nvcc, the program's function replaces log2<int> */
             "__global__ void k(T *p, int *q) { q[1] = log2(q[1]) + sqrt(q[2]); *p = __half2float(__float2half(*p)); *q = N * M; }\n");
    free(compile(f, text, "-DN=512", NULL));
    if (installed("nvcc") || access("/usr/local/cuda/bin/nvcc", X_OK) == 0) {
        char *ptx = compile(f, "#define T float\n__global__ void k(T *p) { *p = M; }\n", "-DM=3", "nvcc");

        expect_text(ptx, ".entry _Z1kPf(");
        free(ptx);
    }
}

static void helper_headers_of_samples_find_the_runtimes_names(void **state)
{
    const struct fixture *f = *state;

    free(compile(f,
                 "#include <cuda.h>\n#include <cuda_runtime.h>\n"
                 "#ifdef __DRIVER_TYPES_H__\n"
                 "static const char *name(cudaError_t e)\n"
                 "{\n"
                 "    switch (e) {\n"
                 "    case cudaErrorMissingConfiguration: return \"configuration\";\n"
                 "    case cudaErrorPeerAccessAlreadyEnabled: return \"peer\";\n"
                 "    default: return cudaGetErrorName(e);\n"
                 "    }\n"
                 "}\n"
                 "#define checkCudaErrors(x) name(x)\n"
                 "#endif\n"
                 "#ifdef __CUDA_RUNTIME_H__\n"
                 "inline int devices() { int n; checkCudaErrors(cudaGetDeviceCount(&n)); return n; }\n"
                 "#endif\n"
                 "__global__ void k() {}\n"
                 "int main() { size_t a, b; cuMemGetInfo(&a, &b); return devices(); }\n",
                 NULL, NULL));
}

/** As nvcc does, Lanewise must include its own header before headers that the user includes with -include. */
static void a_header_given_on_the_command_line_may_use_cudas_names(void **state)
{
    const struct fixture *f = *state;
    char header[sizeof f->root + 16], flag[sizeof header + 16];
    char *ptx;

    snprintf(header, sizeof header, "%s/pre.h", f->root);
    put(header, "__device__ inline int thrice(int x) { return 3 * x; }\n");
    snprintf(flag, sizeof flag, "-include%s", header);
    ptx = compile(f, "__global__ void k(int *p) { p[0] = thrice(p[1]); }\n", flag, NULL);
    expect_text(ptx, ", 3;");
    free(ptx);
}

static void what_there_is_not_is_refused_by_name(void **state)
{
    struct lw_error err = refuse(*state, "#include <curand_kernel.h>\n__global__ void k() {}\n",
                                 NULL, LW_EINPUT);

    expect_text(err.text, "curand_kernel.h");
    expect_text(err.text, "not supported");
    err = refuse(*state, "#include <cusparse.h>\n__global__ void k() {}\n", NULL, LW_EINPUT);
    expect_text(err.text, "cusparse.h");
    assert_null(strstr(err.text, "nvcc"));
    err = refuse(*state, "#include <mma.h>\nusing namespace nvcuda::wmma;\n"
                 "__global__ void k() { fragment<matrix_a, 16, 16, 32, __half, row_major> a; }\n", NULL, LW_EINPUT);
    expect_text(err.text, "Lanewise has no fragments of matrices with this shape and type");
    err = refuse(*state, "#include <cub/cub.cuh>\n__global__ void k() {}\n", NULL, LW_EINPUT);
    expect_text(err.text, "CUB, Thrust and libcu++ are header libraries (github.com/NVIDIA/cccl): name the folders of their headers with -I");
}

/* A call of an unsupported function must make only the kernel with the call fail, not the whole file. */
static void gathers_are_refused_with_their_kernel_alone(void **state)
{
    static const char text[] = "__global__ void good(cudaSurfaceObject_t s, cudaTextureObject_t t, float4 *p)\n"
                               "{ surf2Dwrite(1.0f, s, 4, 5); surf3Dread(&p[1].x, s, 4, 5, 6); *p = tex2DLayered<float4>(t, 4, 5, 1); }\n"
                               "__global__ void a(cudaTextureObject_t t, float4 *p) { *p = tex2Dgather<float4>(t, 4, 5, 1); }\n"
                               "__global__ void b(cudaTextureObject_t t, float *p) { float2 f; tex2Dgather(&f, t, 1, 2); *p = f.y; }\n"
                               "texture<float, 2> t;\n"
                               "__global__ void d(float *p) { *p = tex2Dgather(t, 4, 5); }\n";
    static const char *const reasons[] = {":3: tex2Dgather is not supported", ":4: tex2Dgather is not supported",
                                          ":6: tex2Dgather is not supported"};
    char *ptx = compile(*state, text, NULL, NULL);
    struct ptx_options options;
    struct isa_object *object;
    struct lw_error err;

    ptx_options_default(&options);
    options.from_source = true;
    if (ptx_translate("k.cu", ptx, strlen(ptx), &options, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_int_equal(object->refusal_count, LW_COUNT_OF(reasons));
    for (unsigned i = 0; i < LW_COUNT_OF(reasons); i++)
        expect_text(object->refusals[i].message, reasons[i]);
    isa_object_destroy(object);
    free(ptx);
}

static void assembly_may_name_registers_with_one_percent_sign(void **state)
{
    static const char text[] =
        "__device__ unsigned lane() { unsigned r; asm volatile(\"mov.u32 %0,%laneid;\" : \"=r\"(r)); return r; }\n"
        "__global__ void k(unsigned *p)\n"
        "{\n"
        "    unsigned a, b, c;\n"
        "    __asm__ /* of two strings */ (\"{ .reg .u32 %%x; mov.u32 %%x, %lanemask_lt;\\n\"\n"
        "        \"add.u32 %[sum], %%x, %1; }\" : [sum] \"=r\"(a) : \"r\"(lane()));\n"
        "    asm(R\"(mov.u32 %0, %%nwarpid;)\" : \"=r\"(b));\n"
        "    asm(\"mov.u32 %0, %smid;\" : \"=r\"(c));\n"
        "    asm volatile(\"{ .reg .u32 %once; mov.u32 %once, %gridid; }\");\n"
        "    p[0] = a + b + c;\n"
        "    wrong;\n"
        "}\n";
    static const char *const parts[] = {",%laneid", "%x, %lanemask_lt", ", %nwarpid", ", %smid", "%once, %gridid", NULL};
    char right[sizeof text];
    struct lw_error err;

    strcpy(right, text);
    memset(strstr(right, "wrong;"), ' ', 6);
    with_all(*state, right, parts);
    err = refuse(*state, text, NULL, LW_EINPUT);
    expect_text(err.text, "k.cu:11:"); /* the lines are those of the source */
}

static void an_access_through_a_null_pointer_remains(void **state)
{
    static const char text[] = "__global__ void k(int *p) { if (p == nullptr) *p = 7001; }\n"
                               "__global__ void l() { *(int *)nullptr = 7002; }\n"
                               "__global__ void m(int *p, int i) { int *q = nullptr; if (i == 5) p[0] = *q + 7003; }\n";
    static const char *const parts[] = {"7001", "7002", "7003", NULL};

    with_all(*state, text, parts);
}

static void an_error_in_the_source_has_its_line(void **state)
{
    const struct fixture *f = *state;
    struct lw_error err = refuse(f, "__global__ void k(int *p)\n{\n    p[0] = x;\n}\n", NULL,
                                 LW_EINPUT);

    expect_text(err.text, "k.cu:3:12: error: ");
    assert_int_equal(entries(f->tmp), 0);
}

static void our_headers_are_stored_once_and_repaired_when_damaged(void **state)
{
    const struct fixture *f = *state;
    char folder[128], command[160];

    free(compile(f, plain, NULL, NULL));
    snprintf(folder, sizeof folder, "%s/lanewise", f->cache);
    assert_int_equal(entries(folder), 4); /* with the three override libraries */
    snprintf(command, sizeof command, "rm '%s'/cuda-*/cmath", folder);
    assert_int_equal(system(command), 0);
    free(compile(f, "#include <cmath>\n__global__ void k(float *p) { *p = std::sin(*p); }", NULL,
                 NULL));
    assert_int_equal(entries(folder), 4); /* with the three override libraries */
    assert_int_equal(entries(f->tmp), 0);
}

static void without_a_cache_folder_the_headers_are_private(void **state)
{
    const struct fixture *f = *state;

    setenv("XDG_CACHE_HOME", "/proc/none", 1);
    free(compile(f, plain, NULL, NULL));
    assert_int_equal(entries(f->tmp), 0);
}

static void nvcc_compiles_where_there_is_one_and_is_missed_by_name(void **state)
{
    const struct fixture *f = *state;
    struct lw_error err;

    setenv("LANEWISE_NVCC", "/no/such/nvcc", 1);
    err = refuse(f, plain, "nvcc", LW_ENOENT);
    expect_text(err.text, "the compiler nvcc was not found");
    unsetenv("LANEWISE_NVCC");
    if (installed("nvcc") || access("/usr/local/cuda/bin/nvcc", X_OK) == 0) {
        char *ptx = compile(f, plain, NULL, "nvcc");

        expect_text(ptx, ".entry _Z1kPf(");
        expect_text(ptx, ".loc\t1 3");
        free(ptx);
        ptx = compile(f, plain, "-G", "nvcc");
        expect_text(ptx, ".debug_info");
        free(ptx);
        err = refuse(f, "__global__ void k(int *p) { p[0] = x; }\n", "nvcc", LW_EINPUT);
        expect_text(err.text, "identifier \"x\" is undefined");
    }
    assert_int_equal(entries(f->tmp), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_CACHE(name) cmocka_unit_test_setup_teardown(name, setup_cache, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_installed_clang_makes_an_entry_with_lines_of_the_source_only),
        TEST(host_code_beside_a_kernel_only_has_to_parse),
        TEST(names_that_nvcc_declares_are_there_without_an_include),
        TEST(mathematics_comes_from_libclc_or_is_one_instruction),
        TEST(arguments_of_integer_and_mixed_types_become_double),
        TEST(integer_bit_and_atomic_functions_are_instructions),
        TEST(warps_shuffle_vote_match_and_reduce),
        TEST(halves_and_bfloats_have_their_headers),
        TEST(cooperative_groups_become_shuffles_votes_and_barriers),
        TEST(text_assertions_and_memory_are_calls_of_cudas_names),
        TEST(macros_of_one_letter_are_the_sources_own),
        TEST(helper_headers_of_samples_find_the_runtimes_names),
        TEST(a_header_given_on_the_command_line_may_use_cudas_names),
        TEST(what_there_is_not_is_refused_by_name),
        TEST(gathers_are_refused_with_their_kernel_alone),
        TEST(assembly_may_name_registers_with_one_percent_sign),
        TEST(an_access_through_a_null_pointer_remains),
        TEST(an_error_in_the_source_has_its_line),
        TEST_CACHE(our_headers_are_stored_once_and_repaired_when_damaged),
        TEST_CACHE(without_a_cache_folder_the_headers_are_private),
        TEST(nvcc_compiles_where_there_is_one_and_is_missed_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
