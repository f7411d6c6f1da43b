/* SPDX-License-Identifier: Apache-2.0 */
/* What header libraries such as CUB and Thrust expect of a CUDA toolkit, without these libraries: macros, variadic functions that
 * inspect types, addresses of the runtime's functions, instructions of PTX 8.0, addresses of driver functions, and 8-bit floats,
 * whose results must be the same in host code and in kernels. */
/* A library that does not include <cooperative_groups.h> declares groups. */
namespace cooperative_groups {
namespace __v1 {
class thread_block;
template <unsigned int Size, typename Parent> class thread_block_tile;
}
using namespace __v1;
}
template <class T> struct is_block { static constexpr bool value = false; };
template <> struct is_block<cooperative_groups::thread_block> { static constexpr bool value = true; };

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_fp8.h>
#include <cuda_occupancy.h>
#include <dlfcn.h>
#include <string.h>

/* Old libraries undefine the keywords, unless <host_defines.h> has been included. */
#ifndef __HOST_DEFINES_H__
#undef __host__
#undef __device__
#endif
#include <cuda_runtime_api.h>

static int failures;
static void check(const char *what, bool right)
{
    if (!right)
        printf("wrong: %s\n", what), failures++;
}

/* ---- language -------------------------------------------------------------------------------- */

struct sized { __host__ __device__ int size() const { return 3; } };
template <class T> __host__ __device__ auto has_size(T *) -> decltype(((T *)0)->size(), true) { return true; }
template <class T> __host__ __device__ bool has_size(...) { return false; }

template <int N> struct steps {
    template <class T> static __host__ __device__ T apply(T x) { return x + N; }
};
template <int N> __host__ __device__ int three_steps(int x)
{
    return steps<N>::template apply(steps<N>::template apply(steps<N>::template apply(x)));
}

/* A resource that allocates by functions of the runtime, which are template arguments. */
template <cudaError_t (*Allocate)(void **, size_t), cudaError_t (*Release)(void *)> static bool allocates()
{
    void *p = nullptr;

    return Allocate(&p, 64) == cudaSuccess && p != nullptr && Release(p) == cudaSuccess;
}

__global__ void language(int *out)
{
    unsigned int mask;

    __asm__("bmsk.clamp.b32 %0, %1, %2;" : "=r"(mask) : "r"(4u + threadIdx.x), "r"(8u)); /* since PTX 7.6 */
    out[0] = has_size<sized>((sized *)0);
    out[1] = has_size<int>((int *)0);
    out[2] = three_steps<5>((int)threadIdx.x);
    out[3] = (int)mask;
}

/* ---- 8-bit floats ------------------------------------------------------------------------------ */

enum { CASES = 4096, RESULTS = 12 };

template <class T> __host__ __device__ static void put(unsigned int *&at, T value)
{
    *at = 0;
    memcpy(at++, &value, sizeof value);
}
__host__ __device__ static void convert(unsigned int i, unsigned int *at)
{
    const unsigned int u = i * 2654435761u, small = (u & 0x807fffff) | (110 + i % 40) << 23;
    __half_raw half;
    __nv_fp8_e4m3 e4;
    __nv_fp8_e5m2 e5;
    float f;

    memcpy(&f, &small, sizeof f);
    half.x = (unsigned short)u;
    e4.__x = (unsigned char)u;
    e5.__x = (unsigned char)(u >> 8);
    put(at, __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E4M3)), put(at, __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2));
    put(at, __nv_cvt_double_to_fp8(f * 1.000001, __NV_SATFINITE, __NV_E4M3)), put(at, __nv_fp8_e5m2((int)u >> i % 30));
    put(at, __nv_cvt_halfraw_to_fp8(half, __NV_NOSAT, __NV_E5M2)), put(at, __nv_fp8_e4m3(__nv_bfloat16(f)));
    put(at, (float)e4), put(at, (__half)e5), put(at, (int)e5), put(at, (unsigned char)e4);
    put(at, __nv_fp8x4_e4m3(make_float4(f, -f, 1.0f, 1e30f))), put(at, (__half2)__nv_fp8x2_e5m2(make_float2(f, 2 * f)));
}
__global__ void conversions(unsigned int *out)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    convert(i, out + i * RESULTS);
}

/* Arguments of the runtime's templates may have types that no other file can name: local and unnamed types, types of an anonymous
 * namespace, and lambdas. */
namespace {
struct Pair { int a, b; };
}
typedef struct { int factor, add[3]; } Unnamed;
__constant__ Unnamed parameters;
template <class F> __global__ void apply(F f, Pair *out)
{
    out[threadIdx.x] = Pair{f((int)threadIdx.x), parameters.add[2]};
}
static void types()
{
    struct Local { int x; } *local = nullptr;
    enum { NOTHING, SOMETHING } *choice = nullptr;
    const Unnamed values = {7, {1, 2, 3}};
    Pair *pairs, host[32];
    cudaFuncAttributes attributes;
    const int k = 5;
    auto f = [=] __device__(int i) { return i * k + parameters.factor; };
    int grid, block, count;
    void *args[] = {&f, &pairs};
    bool same = true;

    check("memory of a local type", cudaMalloc(&local, 10 * sizeof *local) == cudaSuccess && cudaFree(local) == cudaSuccess);
    check("memory of an unnamed type", cudaMallocManaged(&choice, 8) == cudaSuccess && cudaFree(choice) == cudaSuccess);
    check("memory of an anonymous namespace's type", cudaMalloc(&pairs, sizeof host) == cudaSuccess);
    check("a constant of an unnamed type", cudaMemcpyToSymbol(parameters, &values, sizeof values) == cudaSuccess);
    check("attributes", cudaFuncGetAttributes(&attributes, apply<decltype(f)>) == cudaSuccess);
    check("occupancy", cudaOccupancyMaxPotentialBlockSize(&grid, &block, apply<decltype(f)>) == cudaSuccess &&
                           cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, apply<decltype(f)>, block, 0) == cudaSuccess &&
                           cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&count, apply<decltype(f)>, block, 0,
                                                                                  cudaOccupancyDefault) == cudaSuccess);
    check("a launch", cudaLaunchKernel(apply<decltype(f)>, dim3(1), dim3(32), args) == cudaSuccess);
    check("a copy", cudaMemcpy(host, pairs, sizeof host, cudaMemcpyDefault) == cudaSuccess);
    for (int i = 0; i < 32; i++)
        same &= host[i].a == i * k + 7 && host[i].b == 3;
    check("the results of a lambda", same);
    cudaFree(pairs);
}

/* Trigonometric functions of large arguments. Contracting the operations of their library to fma would leave no correct digit. */
enum { ANGLES = 512 };
__global__ void angles(const double *x, double *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float f = (float)x[i];
    double *to = out + 6 * i;

    to[0] = sin(x[i]), to[1] = cos(x[i]), to[2] = tan(x[i]);
    to[3] = sinf(f), to[4] = cosf(f), to[5] = tanf(f);
}
static void large_angles()
{
    double *x, *out;

    cudaMallocManaged(&x, ANGLES * sizeof *x);
    cudaMallocManaged(&out, 6 * ANGLES * sizeof *out);
    for (int i = 0; i < ANGLES; i++)
        x[i] = ldexp(1.0 + i * 0.0017, i % 120);
    angles<<<ANGLES / 128, 128>>>(x, out);
    check("a kernel with large angles", cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < ANGLES && failures < 10; i++) {
        const double f = (double)(float)x[i], want[] = {sin(x[i]), cos(x[i]), tan(x[i]), sin(f), cos(f), tan(f)};

        for (int k = 0; k < 6; k++)
            check("a function of a large angle", fabs(out[6 * i + k] - want[k]) <= fabs(want[k]) * (k < 3 ? 4e-16 : 4e-7));
    }
    cudaFree(x);
    cudaFree(out);
}

int main(void)
{
    static_assert(is_block<decltype(cooperative_groups::this_thread_block())>::value, "the group is another class");
    static const unsigned int archs[] = {__CUDA_ARCH_LIST__};
    int *ints;

    check("__CUDA_ARCH_LIST__", archs[0] == 750);
    check("cudaMalloc as a template argument", allocates<cudaMalloc, cudaFree>());
    check("cudaMallocHost as a template argument", allocates<cudaMallocHost, cudaFreeHost>());
    check("cudaDeviceSynchronize under its other name", __cudaDeviceSynchronizeDeprecationAvoidance() == cudaSuccess);
    cudaMallocManaged(&ints, 4 * sizeof *ints);
    language<<<1, 1>>>(ints);
    check("a kernel with inline assembly", cudaDeviceSynchronize() == cudaSuccess);
    check("variadic functions", ints[0] == 1 && ints[1] == 0 && has_size<sized>((sized *)0));
    check("template without arguments", ints[2] == 15 && three_steps<2>(1) == 7);
    check("bmsk", ints[3] == 0xff0);

    /* The driver's functions by their names, without linking them. */
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *found = nullptr;
    auto find = library == nullptr ? nullptr : (decltype(cuGetProcAddress) *)dlsym(library, "cuGetProcAddress_v2");
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    int count = 0;

    check("cuGetProcAddress", find != nullptr && find("cuDeviceGetCount", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &result) == CUDA_SUCCESS &&
                                  result == CU_GET_PROC_ADDRESS_SUCCESS && cuInit(0) == CUDA_SUCCESS &&
                                  ((decltype(cuDeviceGetCount) *)found)(&count) == CUDA_SUCCESS && count == 1);

    static const struct { double value; unsigned char e4, e4_finite, e5, e5_finite; } known[] = {
        {0.0, 0x00, 0x00, 0x00, 0x00}, {-1.0, 0xb8, 0xb8, 0xbc, 0xbc}, {17.0, 0x58, 0x58, 0x4c, 0x4c}, {19.0, 0x5a, 0x5a, 0x4d, 0x4d},
        {448.0, 0x7e, 0x7e, 0x5f, 0x5f}, {464.0, 0x7e, 0x7e, 0x5f, 0x5f}, {465.0, 0x7f, 0x7e, 0x5f, 0x5f},
        {0x1p-9, 0x01, 0x01, 0x18, 0x18}, {0x1p-10, 0x00, 0x00, 0x14, 0x14}, {0x1.8p-10, 0x01, 0x01, 0x16, 0x16},
        {57344.0, 0x7f, 0x7e, 0x7b, 0x7b}, {-1e9, 0xff, 0xfe, 0xfc, 0xfb}, {0x1p-17, 0x00, 0x00, 0x00, 0x00},
    };
    for (const auto &k : known) {
        const bool right = __nv_cvt_double_to_fp8(k.value, __NV_NOSAT, __NV_E4M3) == k.e4 &&
                           __nv_cvt_double_to_fp8(k.value, __NV_SATFINITE, __NV_E4M3) == k.e4_finite &&
                           __nv_cvt_double_to_fp8(k.value, __NV_NOSAT, __NV_E5M2) == k.e5 &&
                           __nv_cvt_double_to_fp8(k.value, __NV_SATFINITE, __NV_E5M2) == k.e5_finite;

        if (!right)
            printf("%a: %02x %02x\n", k.value, __nv_cvt_double_to_fp8(k.value, __NV_NOSAT, __NV_E4M3),
                   __nv_cvt_double_to_fp8(k.value, __NV_NOSAT, __NV_E5M2));
        check("a conversion to 8-bit floats", right);
    }
    check("NaN", __nv_cvt_float_to_fp8(-__builtin_nanf(""), __NV_SATFINITE, __NV_E4M3) == 0x7f && (int)__nv_fp8_e4m3(__builtin_nan("")) == 0);
    for (unsigned int i = 0; i < 256; i++) {
        __nv_fp8_e4m3 e4, back4;
        __nv_fp8_e5m2 e5, back5;

        e4.__x = e5.__x = (unsigned char)i;
        back4 = __nv_fp8_e4m3((float)e4), back5 = __nv_fp8_e5m2((double)e5);
        check("a value of e4m3", (i & 0x7f) == 0x7f || back4.__x == i);
        check("a value of e5m2", (i & 0x7f) >= 0x7c || back5.__x == i);
    }

    types();
    large_angles();

    unsigned int *out, want[RESULTS] = {0};

    cudaMallocManaged(&out, CASES * RESULTS * sizeof *out);
    conversions<<<CASES / 256, 256>>>(out);
    check("a kernel with 8-bit floats", cudaDeviceSynchronize() == cudaSuccess);
    for (unsigned int i = 0; i < CASES && failures < 10; i++) {
        convert(i, want);
        check("the host's results and the kernel's", memcmp(want, out + i * RESULTS, sizeof want) == 0);
    }
    if (failures == 0)
        printf("all right\n");
    return failures != 0;
}
