// SPDX-License-Identifier: Apache-2.0
// Uninitialised values in CUDA. uninitialised.cl describes the format.

// find: uninitialised-branch @1 0x1
extern "C" __global__ void heap_bad(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        volatile int *p = (volatile int *)malloc(8);
        p[0] = in[1];
        if (p[1] == 7) asm volatile("st.global.b32 [%0], 2;" ::"l"(g) : "memory"); /* @1 */
        free((void *)p);
    }
}
extern "C" __global__ void heap_good(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) {
        volatile int *p = (volatile int *)malloc(8);
        p[0] = in[1];
        p[1] = in[2];
        if (p[1] == 7)
            asm volatile("st.global.b32 [%0], 2;" ::"l"(g) : "memory");
        free((void *)p);
    }
}

// The first thread sets the variable, but only after the barrier.
// find: uninitialised-branch @2 0xffffffff
extern "C" __global__ void late_bad(int *g, int *in, int *raw)
{
    __shared__ volatile int flag;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (flag == in[3]) asm volatile("st.global.b32 [%0], 2;" ::"l"(g + i) : "memory"); /* @2 */
    __syncthreads();
    if (threadIdx.x == 0)
        flag = 1;
}
extern "C" __global__ void late_good(int *g, int *in, int *raw)
{
    __shared__ volatile int flag;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        flag = 1;
    __syncthreads();
    if (flag == in[3])
        asm volatile("st.global.b32 [%0], 2;" ::"l"(g + i) : "memory");
}

// Lane 9 gets a value that lane 8 has not set, through a shuffle.
// find: uninitialised-address @3 0x200
extern "C" __global__ void shuffle_bad(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    if (lane != 8)
        raw[i] = in[lane];
    int v = __shfl_up_sync(~0u, ((volatile int *)raw)[i], 1);
    g[v & 127] = 1; /* @3 */
}
extern "C" __global__ void shuffle_good(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    raw[i] = in[lane];
    int v = __shfl_up_sync(~0u, ((volatile int *)raw)[i], 1);
    g[v & 127] = 1;
}

// find: uninitialised-output raw -
extern "C" __global__ void struct_bad(int *g, int *in, int *raw)
{
    struct pair { int a, b; };
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    struct pair *p = (struct pair *)raw + (i & 63);
    p->a = in[i];
    struct pair copy = *p;
    g[i] = copy.a + copy.b;
}
extern "C" __global__ void struct_good(int *g, int *in, int *raw)
{
    struct pair { int a, b; };
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    struct pair *p = (struct pair *)raw + (i & 63);
    p->a = in[i];
    struct pair copy = *p; /* a member that is not used may be uninitialised */
    g[i] = copy.a;
}

// find: uninitialised-output @30 0x4
extern "C" __global__ void printed_bad(int *g, int *in, int *raw)
{
    double value;
    if (threadIdx.x != 2)
        value = in[threadIdx.x];
    asm volatile("" : "+d"(value));
    if (blockIdx.x == 0 && threadIdx.x < 3)
        printf("%c: %lld %g\n", 'a', (long long)in[3], *(volatile double *)&value); /* @30 */
}
extern "C" __global__ void printed_good(int *g, int *in, int *raw)
{
    double value = in[threadIdx.x];
    asm volatile("" : "+d"(value));
    if (blockIdx.x == 0 && threadIdx.x < 3)
        printf("%c: %lld %g\n", 'a', (long long)in[3], *(volatile double *)&value);
}

// Lanes 24 to 31 have ended, so values from them are undefined. If no such lane exists, the result is the lane's own value.
// find: uninitialised-branch @31 0xff00
extern "C" __global__ void tail_bad(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    if (lane >= 24)
        return;
    int v = __shfl_down_sync(~0u, in[i], 16);
    if (v == 77) asm volatile("st.global.b32 [%0], 2;" ::"l"(g + i) : "memory"); /* @31 */
}
extern "C" __global__ void tail_good(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = in[i];
    if (lane >= 24)
        return;
    for (int d = 16; d > 0; d /= 2) {
        int other = __shfl_down_sync(~0u, v, d); /* unused in lanes whose source lane has ended */
        if (lane + d < 24)
            v += other;
    }
    g[i] = v + __shfl_up_sync(0xffffff, v, 1);
}

// The shuffle reads from a lane that is not in the mask and does not execute it.
// find: uninitialised-branch @32 0xffff
extern "C" __global__ void outside_bad(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    if (lane < 16) {
        int v = __shfl_sync(0xffff, in[i], 20);
        if (v == 77) asm volatile("st.global.b32 [%0], 2;" ::"l"(g + i) : "memory"); /* @32 */
    }
}
extern "C" __global__ void outside_good(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    if (lane < 16) {
        int v = __shfl_sync(0xffff, in[i], 20, 16); /* lane 4 */
        if (v == 77)
            asm volatile("st.global.b32 [%0], 2;" ::"l"(g + i) : "memory");
    }
}

// The two halves of the warp shuffle at the same instruction, each with its own mask.
// find: uninitialised-branch @33 0xffffffff
extern "C" __global__ void halves_bad(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = __shfl_xor_sync(lane < 16 ? 0xffff : 0xffff0000, in[i], 16);
    if (v == 77) asm volatile("st.global.b32 [%0], 2;" ::"l"(g + i) : "memory"); /* @33 */
}
extern "C" __global__ void halves_good(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = __shfl_xor_sync(lane < 16 ? 0xffff : 0xffff0000, in[i], 8);
    if (v == 77)
        asm volatile("st.global.b32 [%0], 2;" ::"l"(g + i) : "memory");
}

// Lanes reach the shuffle one after the other. Lanes that wait take part; lanes that have ended do not.
// find: uninitialised-branch @34 0xf000000
extern "C" __global__ void parts_bad(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = in[i];
    for (int k = 0; k < lane / 4; k++)
        v += in[k] * ((volatile int *)g)[k];
    if (lane >= 28)
        return;
    v = __shfl_sync(~0u, v, lane + 4);
    if (lane < 24 && v == 77) asm volatile("st.global.b32 [%0], 2;" ::"l"(g + i) : "memory"); /* none */
    if (lane / 4 >= 5 && v == 78) asm volatile("st.global.b32 [%0], 2;" ::"l"(g + i) : "memory"); /* @34 */
}
extern "C" __global__ void parts_good(int *g, int *in, int *raw)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = in[i];
    for (int k = 0; k < lane / 4; k++)
        v += in[k] * ((volatile int *)g)[k];
    if (lane >= 28)
        return;
    v = __shfl_sync(~0u, v, lane + 4);
    if (lane < 24 && v == 77)
        asm volatile("st.global.b32 [%0], 2;" ::"l"(g + i) : "memory");
}
