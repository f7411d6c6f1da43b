// SPDX-License-Identifier: Apache-2.0
// The structure, function and variable that the three files of modules_main.cu share.
#ifndef MODULES_CUH
#define MODULES_CUH
struct shape {
    int width;
    float weight;
    int sides[3];
};
__device__ float blend(const shape *s, float by);
__global__ void spread(shape *s, long where);
extern __device__ int calls;
inline __device__ int doubled(int x)
{
    int twice = 2 * x;
    return twice;
}
#endif
