/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, types and values of C++, for tests of the shell. */
namespace util { __device__ __noinline__ float twice(float x) { return 2 * x; } }
struct item { int id; float weight[3]; const char *name; unsigned flags : 3; };
__device__ __noinline__ float scale(float *p, int i) { return p[i] * 2; }
__device__ __noinline__ int scale(int *p, int i) { return p[i] * 3; }
template <typename T> __global__ void reduce(T *in, T *out, int n)
{
    __shared__ T tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    item it;
    it.id = i;
    it.weight[1] = 1.5f;
    it.name = "hello";
    it.flags = 5;
    char text[8] = "abc";
    item *pi = &it;
    float m[2][3] = {{1, 2, 3}, {4, 5, 6}};
    if (i < n) {
        tile[threadIdx.x] = scale(in, i);
        out[i] = (T)util::twice(tile[threadIdx.x]) + pi->id * 0 + text[0] * 0 + m[1][2] * 0;
    }
}
template __global__ void reduce<float>(float *, float *, int);
template __global__ void reduce<int>(int *, int *, int);
