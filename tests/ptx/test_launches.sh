#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests kernels that launch kernels, in CUDA C++ and OpenCL C. The kernels use each supported call of CUDA's device runtime,
# block groups, and enqueue_kernel. They are compiled by the oldest and the newest clang, for debuggers, and by nvcc, and also
# run with a GPU model. Also tests that unsupported calls are refused with their names. Expected results are computed by formulas.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

# Each thread of a child grid adds its arguments, and 1000 times the number of blocks, to its own word.
cat >calls.cu <<'C'
struct pair { char a; double b; };
__global__ void child(int *out, char first, pair p, short last)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] += first + p.a + (int)p.b + last + (int)gridDim.x * 1000;
}
__global__ void shared_child(int *out)
{
    extern __shared__ int room[];

    room[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x] + (int)blockDim.y * 100;
}
template <typename T> __global__ void typed(int *out, T value) { out[0] = (int)(value * 2); }
__global__ void deeper(int *out, int depth)
{
    atomicAdd(out, 1);
    if (threadIdx.x == 0 && depth > 1)
        lanewise::launch<deeper>(2, 2)(out, depth - 1);
}

__global__ void forms(int *out)
{
    pair p = {3, 4.5};

    /* 0..63: 32 threads launch a block each, with arguments of their own */
    lanewise::launch<child>(1, 2)(out + 2 * threadIdx.x, (char)1, p, (short)threadIdx.x);
    if (threadIdx.x != 7)
        return;
    /* 64..95: a stream keeps the order */
    cudaStream_t stream;
    out[96] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    lanewise::launch<shared_child>(1, dim3(32, 1), 32 * sizeof(int), stream)(out + 64);
    lanewise::launch<child>(2, 16, 0, stream)(out + 64, (char)0, p, (short)0);
    out[97] = cudaStreamDestroy(stream);
    lanewise::launch<typed<float>>(1, 1)(out + 98, 2.5f);
    lanewise::launch<typed<double>>(1, 1, 0, cudaStreamFireAndForget)(out + 99, 3.5);
    /* 100: 1 + ... : a kernel that launches itself */
    lanewise::launch<deeper>(1, 1)(out + 100, 3);
    /* 101..: groups join a kernel, or are one */
    lanewise::launch_group<child>(3, 2)(out + 101, (char)1, p, (short)1);
    out[110] = cudaGetLastError() + cudaPeekAtLastError();
}

/* The runtime's own calls, as compilers make them of <<<>>>, and the ones before these. */
__global__ void calls(int *out)
{
    void *buffer = cudaGetParameterBufferV2((void *)lanewise::kernel<typed<float>>, dim3(1), dim3(1), 0);

    *(int **)buffer = out;
    *(float *)((char *)buffer + 8) = 20;
    out[3] = cudaLaunchDeviceV2(buffer, 0);
    buffer = cudaGetParameterBuffer(8, 12);
    *(int **)buffer = out + 1;
    *(float *)((char *)buffer + 8) = 21;
    out[4] = cudaLaunchDevice((void *)lanewise::kernel<typed<float>>, buffer, dim3(1), dim3(1), 0, 0);
    cudaDeviceSynchronize();
    int device = 5;
    cudaGetDevice(&device);
    out[2] = out[0] + out[1] + device;
}
C
cat >forms.yaml <<'Y'
program: {source: calls.cu}
buffers: {out: {type: s32, count: 112}}
steps:
  - launch: {entry: forms, grid: [1], block: [32], args: [out]}
  - launch: {entry: check, grid: [1], block: [1], args: [out]}
  - check: {buffer: out, values: [V]}
Y
python3 - <<'P'
out = [0] * 112
for t in range(32):
    for k in range(2):
        out[2 * t + k] = 1 + 3 + 4 + t + 1000
for t in range(32):
    out[64 + t] = 31 - t + 100 + 3 + 4 + 2000
out[98], out[99] = 5, 7
out[100] = 1 + 4 + 8  # one thread; 2 blocks of 2 threads; one thread of each block launches 2 blocks of 2 threads
for k in range(6):
    out[101 + k] = 1 + 3 + 4 + 1 + 3000
text = open('forms.yaml').read().replace('V', ', '.join(map(str, out)), 1)
open('forms.yaml', 'w').write(''.join(line + '\n' for line in text.splitlines() if 'entry: check' not in line))
P
cat >calls.yaml <<'Y'
program: {source: calls.cu}
buffers: {out: {type: s32, count: 5}}
steps:
  - launch: {entry: calls, grid: [1], block: [1], args: [out]}
  - check: {buffer: out, values: [40, 42, 82, 0, 0]}
Y
for launch in forms calls; do
    sed 's/calls.cu/calls.cu, options: [-O0, -g]/' $launch.yaml >$launch-debug.yaml
done

# The OpenCL C kernels enqueue work-groups of a selected size, two and three dimensions, sizes of local memory, a block that
# captures nothing, and a kernel that begins after its parent has ended.
cat >blocks.cl <<'C'
__kernel void blocks(__global int *out, int x, long y)
{
    queue_t queue = get_default_queue();
    const size_t two[2] = {6, 2}, three[3] = {2, 3, 2}, of_three[3] = {2, 1, 2};
    int bad = 0;

    bad |= enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(300), ^{ out[get_global_id(0)] = x + get_local_size(0); });
    bad |= enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_2D(two), ^{ out[300 + get_global_id(1) * 6 + get_global_id(0)] = (int)y; });
    bad |= enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_3D(three, of_three), ^{
        out[312 + (get_global_id(2) * 3 + get_global_id(1)) * 2 + get_global_id(0)] = get_work_dim() * 10 + get_group_id(1);
    });
    bad |= enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4, 4), ^(__local void *a, __local void *b) {
        __local int *p = a, *q = b;
        int t = get_local_id(0);
        p[t] = t + x;
        q[t] = t * 100;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[324 + t] = p[3 - t] + q[3 - t];
    }, 4 * sizeof(int), (uint)(4 * sizeof(int)));
    bad |= enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP, ndrange_1D(1, 1), ^{ out[329] = out[328] + 1; });
    out[328] = bad == 0 ? 70 : bad;
}
C
cat >blocks.yaml <<'Y'
program: {source: blocks.cl, options: [-cl-std=CL2.0]}
buffers: {out: {type: s32, count: 330}}
steps:
  - launch: {entry: blocks, grid: [1], block: [1], args: [out, 9, 12345]}
  - check: {buffer: out, values: [V]}
Y
python3 - <<'P'
out = [9 + 150] * 300 + [12345] * 12
out += [30 + k // 2 % 3 for k in range(12)] + [3 - t + 9 + (3 - t) * 100 for t in range(4)] + [70, 71]
text = open('blocks.yaml').read().replace('V', ', '.join(map(str, out)), 1)
open('blocks.yaml', 'w').write(text)
P
sed 's/-cl-std=CL2.0/&, -O0, -g/' blocks.yaml >blocks-debug.yaml

for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    for launch in forms calls blocks forms-debug calls-debug blocks-debug; do
        LANEWISE_CLANG=$clang "$lanewise" run $launch.yaml >out 2>&1 ||
            { fail "$launch with $clang: the run fails"; head -n 5 out; }
        grep warning: out && fail "$launch with $clang: the compiler warns"
    done
done
for launch in forms calls blocks; do
    for more in "" "--mechanism dtbl" "--mechanism dtbl,laperm --timing-set dtbl.kernels=true" "--timing-set kernels.ideal=true --timing-reference"; do
        # shellcheck disable=SC2086
        "$lanewise" run $launch.yaml --timing=kepler-k20c --timing-set kernels.launch_lane=10 $more >out 2>&1 ||
            { fail "$launch with a GPU model $more: the run fails"; head -n 5 out; }
    done
    "$lanewise" run $launch.yaml --check=all,-performance,-uninitialised >out 2>&1 ||
        { fail "$launch: expected no findings"; head -n 5 out; }
done

# Launches in device code with <<<>>>, by clang and by nvcc, which needs -rdc=true. nvcc calls other functions of the device runtime
# than those that clang compiles.
cat >nv.cu <<'C'
struct pair { char a; double b; };
__global__ void child(int *out, char first, pair p, short last)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] += first + p.a + (int)p.b + last + (int)gridDim.x * 1000;
}
__global__ void parent(int *out)
{
    pair p = {3, 4.5};

    child<<<1, 2>>>(out + 2 * threadIdx.x, (char)1, p, (short)threadIdx.x);
    if (threadIdx.x == 3) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        child<<<dim3(2), dim3(1, 1, 1), 64, stream>>>(out + 8, (char)1, p, (short)1);
        child<<<1, 1, 0, cudaStreamFireAndForget>>>(out + 10, (char)1, p, (short)1);
        cudaStreamDestroy(stream);
    }
}
C
cat >nv.yaml <<'Y'
program: {source: nv.cu, options: [-rdc=true]}
buffers: {out: {type: s32, count: 11}}
steps:
  - launch: {entry: parent, grid: [1], block: [4], args: [out]}
  - check: {buffer: out, values: [1008, 1008, 1009, 1009, 1010, 1010, 1011, 1011, 2009, 2009, 1009]}
Y
sed 's/-rdc=true/&, -O0, -g/' nv.yaml >nv-debug.yaml
if command -v "${LANEWISE_NVCC:-nvcc}" >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    "$lanewise" run nv.yaml --compiler nvcc >out 2>&1 || { fail "nvcc: the run fails"; head -n 5 out; }
    sed 's/-rdc=true/&, -G/' nv.yaml >nvg.yaml
    "$lanewise" run nvg.yaml --compiler nvcc >out 2>&1 || { fail "nvcc -G: the run fails"; head -n 5 out; }
fi
# All forms of <<<>>>: in a header, in a namespace, with template arguments, in several lines, next to comments and strings, and in
# a lambda. Macros and host code are not changed. Kernels also copy, fill and allocate memory.
mkdir -p inc
cat >inc/deep.cuh <<'C'
namespace deep {
template <typename T, int K> __global__ void fill(T *p, int n) { if (threadIdx.x < n) p[threadIdx.x] = (T)(threadIdx.x * K); }
template <typename T> __device__ void start(T *p, int n, cudaStream_t s)
{
    /* fill<<<1, 2>>>(p, n) */
    fill<T, 3>
        <<<dim3((n + 63) / 64), /* threads */ 64, (n >> 1) > 3 ? 0 : 16, s>>>(p, n);
}
}
C
cat >signs.cu <<'C'
#include "inc/deep.cuh"
#define HOST_ONLY(k, p) k<<<1, 1>>>(p, fixed{1, 2})
struct fixed { const int a; int b; };
__device__ int flags[] = {1, 2, 3};
__device__ const char *const quoted = R"x(leaf<<<1, 1>>>(p); } )" )x";
__global__ void leaf(int *p, fixed f) { atomicAdd(p, flags[0] + f.a + f.b); }
__global__ void tree(int *p, int depth)
{
    const char *s = "leaf<<<1, 1>>>(\"p\")", c = '"';

    if (depth > 0)
        for (int i = 0; i < 2; i++) { tree<<<1, 1>>>(p, depth - 1); }
    ::leaf<<<1, 4>>>(p, fixed{1, 2}); leaf <<<1, 1 + (s[0] == c)>>> (p, {3, 4}); if (s[1] == 'l') return;
    auto more = [=] __device__(int n) { leaf<<<n, 1>>>(p, {0, 1}); };
    more(2);
}
__global__ void memory(int *out)
{
    unsigned char *bytes;

    out[1] = cudaMalloc(&bytes, 40);
    cudaMemsetAsync(bytes, 7, 40);
    cudaMemcpyAsync(out + 2, bytes + 1, 8, cudaMemcpyDeviceToDevice); /* no multiple of 4 */
    cudaMemcpyAsync(out + 4, bytes, 8, cudaMemcpyDeviceToDevice);
    deep::start(out + 6, 4, 0);
    cudaDeviceSynchronize();
    cudaFree(bytes);
}
__host__ __device__ int shared(int x) { return x << 2; }
#if 0
__global__ void either(float *p) {
#elif 1
__global__ void either(int *p) {
#else
__global__ void either(char *p) {
#endif
    leaf<<<1, 1>>>(p, {0, 0});
}
void host(int *p) { HOST_ONLY(leaf, p); leaf<<<1, 1>>>(p, fixed{1, 2}); shared(3); either<<<1, 1>>>(p); }
C
cat >signs.yaml <<'Y'
program: {source: signs.cu}
buffers: {out: {type: s32, count: 10}}
steps:
  - launch: {entry: tree, grid: [1], block: [1], args: [out, 2]}
  - launch: {entry: memory, grid: [1], block: [1], args: [out]}
  - check: {buffer: out, values: [196, 0, 117901063, 117901063, 117901063, 117901063, 0, 3, 6, 9]}
Y
sed 's/signs.cu/&, options: [-O0, -g]/' signs.yaml >signs-debug.yaml
sed 's/signs.cu/&, options: [-std=c++11]/' signs.yaml >signs-old.yaml
for clang in clang-14 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    for launch in nv nv-debug signs signs-debug signs-old; do
        LANEWISE_CLANG=$clang "$lanewise" run $launch.yaml >out 2>&1 || { fail "$launch with $clang: the run fails"; head -n 5 out; }
        grep warning: out && fail "$launch with $clang: the compiler warns"
    done
done
"$lanewise" run signs.yaml --check=all,-performance,-uninitialised,-races >out 2>&1 || { fail "signs: expected no findings"; head -n 5 out; }
# Messages and lines are those of the user's files.
sed 's/::leaf<<<1, 4>>>(p,/::leaf<<<1, 4>>>(q,/' signs.cu >wrong.cu
"$lanewise" compile wrong.cu >out 2>&1
grep -q '^wrong.cu:13:.* error: use of undeclared identifier' out || { fail "an error in a launch: other lines"; head -n 5 out; }
"$lanewise" debug signs.yaml -b -c 'break signs.cu:13' -c continue -c list >out 2>&1
grep -q '^13.*::leaf<<<1, 4>>>' out || { fail "a breakpoint at a launch: other lines"; head -n 5 out; }

# ---- refusals -----------------------------------------------------------------------------------
# usage: refused MESSAGE FILE [OPTIONS]. Checks that a run of kernel k fails with the message
refused() {
    "$lanewise" run "$2" --entry k --grid 1 --block 1 --arg out=s32[4] ${3:-} >out 2>&1 && fail "$2: the run does not fail"
    grep -qF -e "$1" out || { fail "$2 does not print: $1"; head -n 3 out; }
}
cat >tail.cu <<'C'
__global__ void child(int *out) { out[0] = 1; }
__global__ void k(int *out) { lanewise::launch<child>(1, 1, 0, cudaStreamTailLaunch)(out); }
C
refused 'lane 0 launches into the stream of tail launches (cudaStreamTailLaunch), which is not supported' tail.cu
cat >other.ptx <<'P'
.version 6.3
.target sm_75
.address_size 64
.extern .func (.param .b32 r) cudaEventQuery (.param .b64 e);
.visible .entry k (.param .u64 out) {
    .reg .b64 %p;
    .param .b64 a;
    .param .b32 b;
    ld.param.u64 %p, [out];
    st.param.b64 [a], %p;
    call (b), cudaEventQuery, (a);
    ret;
}
P
refused 'call to cudaEventQuery: kernels cannot call this function of the CUDA runtime, only launches, cudaDeviceSynchronize and streams' other.ptx
sed 's/cudaEventQuery/cudaStreamDestroy/; s/param .b64 [ea]/param .b32 a/; s/cudaEventQuery/cudaStreamDestroy/; s/st.param.b64 \[a\], %p/st.param.b32 [a], 0/' other.ptx >type.ptx
refused 'parameter 1 of cudaStreamDestroy has another type than the function of this name in CUDA' type.ptx
# usage: cl FILE STATEMENTS. Writes an OpenCL C file with a kernel
cl() {
    printf '__kernel void k(__global int *out)\n{\n    queue_t q = get_default_queue();\n    %s\n}\n' "$2" >"$1"
}
cl offset.cl 'enqueue_kernel(q, 0, ndrange_1D(4, 8, 8), ^{ out[0] = 1; });'
refused 'a global offset is not supported' offset.cl '-X -cl-std=CL2.0'
cl uneven.cl 'enqueue_kernel(q, 0, ndrange_1D(10, 4), ^{ out[0] = 1; });'
refused 'a last work-group that is smaller is not supported' uneven.cl '-X -cl-std=CL2.0'
cl events.cl 'clk_event_t e; enqueue_kernel(q, 0, ndrange_1D(8, 4), 0, (const clk_event_t *)0, &e, ^{ out[0] = 1; });'
refused 'events are not supported' events.cl '-X -cl-std=CL2.0'
cl marker.cl 'clk_event_t e; enqueue_marker(q, 0, (const clk_event_t *)0, &e);'
refused 'call to enqueue_marker' marker.cl '-X -cl-std=CL2.0'

# The blocks of a grid wait for each other at a barrier in the memory whose address is in %envreg1 and %envreg2, as in code of nvcc.
cat >grid.ptx <<'END'
.version 7.8
.target sm_75
.address_size 64
.visible .entry phases(.param .u64 out)
{
    .reg .pred %p<6>;
    .reg .b32 %r<30>;
    .reg .b64 %rd<20>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %nctaid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %envreg2;
    mov.u32 %r5, %envreg1;
    mov.b64 %rd2, {%r4, %r5};
    // out[ctaid] = ctaid + 1
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.u32 %r6, %r1, 1;
    st.global.u32 [%rd4], %r6;
    bar.sync 0;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra joined;
    sub.u32 %r7, %r2, 1;
    sub.u32 %r7, 0x80000000, %r7;
    setp.eq.u32 %p2, %r1, 0;
    selp.u32 %r8, %r7, 1, %p2;
    membar.gl;
    add.s64 %rd5, %rd2, 4;
    atom.add.u32 %r9, [%rd5], %r8;
spin:
    ld.volatile.u32 %r10, [%rd5];
    xor.b32 %r11, %r10, %r9;
    setp.ge.s32 %p3, %r11, 0;
    @%p3 bra spin;
    membar.gl;
joined:
    bar.sync 0;
    // out[n + ctaid] = out[n - 1 - ctaid], which another block has written
    sub.u32 %r12, %r2, %r6;
    mul.wide.u32 %rd6, %r12, 4;
    add.s64 %rd7, %rd1, %rd6;
    ld.global.u32 %r13, [%rd7];
    add.u32 %r14, %r2, %r1;
    mul.wide.u32 %rd8, %r14, 4;
    add.s64 %rd9, %rd1, %rd8;
    st.global.u32 [%rd9], %r13;
    ret;
}
END
cat >grid.yaml <<'END'
program: {source: grid.ptx}
buffers: {out: {type: u32, count: 16}}
steps:
  - launch: {entry: phases, grid: [8], block: [64], args: [out]}
  - launch: {entry: phases, grid: [8], block: [64], args: [out]}
  - check: {buffer: out, values: [1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1]}
END
"$lanewise" run -q grid.yaml || fail "the blocks of a grid do not wait for each other"
"$lanewise" run -q --timing grid.yaml || fail "the blocks of a grid do not wait for each other with the timing model"
sed 's/mov.u32 %r4, %envreg2/mov.u64 %rd2, %envreg2/' grid.ptx >wide.ptx
refused '%envreg2 has 32 bits and is not a float' wide.ptx
sed 's/st.global.u32 .%rd4., %r6/st.global.u32 [%rd4], %envreg1/' grid.ptx >store.ptx
refused 'move %envreg1 into a register' store.ptx
sed 's/st.global.u32 .%rd4., %r6/st.global.u32 [%envreg2], %r6/' grid.ptx >address.ptx
refused 'an address starts with a register or a variable' address.ptx
[ $failures = 0 ]
