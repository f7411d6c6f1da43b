// SPDX-License-Identifier: Apache-2.0
// Explicit instantiations that only users.cu uses. Static names are the same in both files, and host code and the initial value of a
// variable use them.
#include "list.cuh"

static __device__ int offset = 100;
static __device__ int add_offset(int x) { return x + offset; }
static __device__ int *const place = &offset;
__device__ int (*operation)(int) = add_offset;
template <typename T> __device__ T list<T>::get(int n) const { return first + n * sum(T(1), T(1)); }
template <typename T> __device__ T list<T>::next() const { return first + 1; }
template <typename T> __device__ T sum(T a, T b) { return a + b; }
template <typename T> __global__ void scale(T *p, T by) { p[threadIdx.x] *= by; }
template struct list<int>;
template struct list<double>;
template __device__ int sum<int>(int, int);
template __device__ float sum<float>(float, float);
template __global__ void scale<int>(int *, int);
static __global__ void work(int *p) { p[0] += *place; }

bool run_instances(int *p)
{
    const int value = 200;
    bool good = cudaMemcpyToSymbol(offset, &value, sizeof value) == cudaSuccess;

    p[0] = 1;
    work<<<1, 1>>>(p);
    good &= cudaDeviceSynchronize() == cudaSuccess && p[0] == 201;
    return good;
}
