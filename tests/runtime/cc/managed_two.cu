/* SPDX-License-Identifier: Apache-2.0 */
/* A second file with a managed variable, for managed.cu. */
static __managed__ int count = 30;

static __global__ void add(int *p)
{
    count += 1;
    *p += 2;
}

int other_value()
{
    add<<<1, 1>>>(&count);
    return cudaDeviceSynchronize() == cudaSuccess ? count : -1;
}
