// SPDX-License-Identifier: Apache-2.0
// A program that uses the explicit instantiations of instances.cu.
#include "list.cuh"

bool run_instances(int *p);
static __device__ int offset = 1;
static __global__ void work(int *p)
{
    list<int> one(3);
    const list<double> two(1.5);
    const list<int> *const any = &one;

    p[0] = one.get(2);
    p[1] = (int)(two.get(1) * 2);
    p[2] = any->next();
    p[3] = sum(4, 5) + (int)sum(0.5f, 1.5f);
    p[4] = one.first + list<int>(9).first;
    p[5] = operation(offset);
    p[6] = twice(6);
}

int main()
{
    static const int expected[] = {7, 7, 4, 11, 12, 210, 12};
    const int value = 10;
    int *p;
    bool good = cudaMallocManaged(&p, sizeof expected) == cudaSuccess;

    good &= run_instances(p);
    good &= cudaMemcpyToSymbol(offset, &value, sizeof value) == cudaSuccess;
    work<<<1, 1>>>(p);
    scale<int><<<1, 7>>>(p, 3);
    good &= cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < 7; i++)
        if (p[i] != 3 * expected[i]) {
            printf("value %d is %d, expected %d\n", i, p[i], 3 * expected[i]);
            good = false;
        }
    puts(good ? "all right" : "wrong");
    return !good;
}
