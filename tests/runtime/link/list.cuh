// SPDX-License-Identifier: Apache-2.0
// Templates that instances.cu defines and explicitly instantiates, and that users.cu uses. Both files instantiate twice<int>.
#include <cstdio>

template <typename T> struct list {
    T first;
    __device__ list(T value) : first(value) {}
    __device__ T get(int n) const;
    __device__ virtual T next() const;
};
template <typename T> __device__ T sum(T a, T b);
template <typename T> __global__ void scale(T *p, T by);
template <typename T> __device__ T twice(T x) { return x + x; }
template __device__ int twice<int>(int);
extern template __device__ int sum<int>(int, int);
extern template __global__ void scale<int>(int *, int);
extern __device__ int (*operation)(int);
