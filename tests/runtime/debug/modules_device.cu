// SPDX-License-Identifier: Apache-2.0
// Device functions of modules_main.cu. This file has no kernel.
#include "modules.cuh"
enum mode { SLOW = 3, FAST = 9 };
struct item { double part; mode how; };
__device__ int calls = 40;
static __device__ int hidden = 22;
static __device__ __noinline__ float deeper(float in, mode how)
{
    item own = {in * (int)how, how};
    return (float)own.part + hidden;
}
__device__ float blend(const shape *s, float by)
{
    float mixed = s->width * by;
    int local[2] = {s->width, 8};
    mixed += deeper(by, FAST) + local[1] - doubled(4);
    calls = 41;
    return mixed;
}
