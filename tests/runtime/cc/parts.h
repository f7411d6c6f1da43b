/* SPDX-License-Identifier: Apache-2.0 */
/* Header of a program for test_cc.sh. Two files have kernels that use functions and variables of other files.
 * One file has only a function for kernels. */
#include <cuda_runtime.h>
extern __device__ int offset;
__device__ int twice(int x);
__device__ int sum(int x, int y);
/* The name of a specialisation contains an enumerator, and the other the name of a type with an L. */
enum class op { add, multiply };
template <op which> __device__ int calculate(int x, int y);
template <> __device__ int calculate<op::multiply>(int x, int y);
struct modulusL2 {};
template <class which> __device__ int norm(int x);
template <> __device__ int norm<modulusL2>(int x);
__global__ void shift(int *data, int n);
int on_host(int x);
extern "C" int in_c(int x);
