// SPDX-License-Identifier: Apache-2.0
// The third file of modules_main.cu.
#include "modules.cuh"
struct item { char letter; long position; };
__constant__ int table[4] = {2, 4, 6, 8};
static __device__ int hidden = 33;
__global__ void spread(shape *s, long where)
{
    int t = threadIdx.x;
    item own = {'g', where};
    s[t].sides[1] = table[1] + hidden - doubled((int)own.position) + 24;
    hidden = 33;
}
