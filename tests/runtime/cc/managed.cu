/* SPDX-License-Identifier: Apache-2.0 */
/* Managed variables: host code and kernels read and write the same variable. The file is compiled alone, and together with
 * managed_two.cu with -rdc=true. */
#include <cstdio>
#include <cstring>

struct pair {
    int first;
    float second;
    int *pointer;
};
__device__ __managed__ int count = 5;
__managed__ int table[4] = {1, 2, 3, 4};
static __managed__ pair both;
namespace inner {
__managed__ double sum;
}
__device__ int plain = 7;
__constant__ int fixed;
extern int other_value();

static int failures;
#define EXPECT(what)                                                      \
    do {                                                                  \
        if (!(what)) {                                                    \
            printf("line %d: not true: %s\n", __LINE__, #what);           \
            failures++;                                                   \
        }                                                                 \
    } while (0)

__global__ void change(int *p)
{
    count += table[threadIdx.x];
    *p = 40;
    both.second = 2.5f;
    both.pointer = &table[3];
    inner::sum += 0.25 * plain * fixed;
}
template <class T> static __global__ void store(T *p, T value)
{
    p[threadIdx.x] = value;
}

int main()
{
    int value = 0, four[4] = {};
    void *address = nullptr;
    size_t bytes = 0;
    cudaPointerAttributes attributes;

    EXPECT(count == 5 && table[3] == 4 && both.first == 0 && inner::sum == 0); /* no call of the runtime comes before */
    count = 100;
    both.first = 1;
    inner::sum = 1;
    value = 2;
    EXPECT(cudaMemcpyToSymbol(fixed, &value, sizeof value) == cudaSuccess);
    change<<<1, 1>>>(&table[2]);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    EXPECT(count == 101 && table[2] == 40 && both.first == 1 && both.second == 2.5f && inner::sum == 4.5);
    EXPECT(both.pointer == table + 3 && *both.pointer == 4);
    store<int><<<1, 4>>>(table, 9);
    store<int><<<1, 1>>>(&both.first, 10);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess && table[0] == 9 && table[3] == 9 && both.first == 10);

    value = 77;
    EXPECT(cudaMemcpyToSymbol(count, &value, sizeof value) == cudaSuccess && count == 77);
    count = 78;
    EXPECT(cudaMemcpyFromSymbol(&value, count, sizeof value) == cudaSuccess && value == 78);
    EXPECT(cudaMemcpyFromSymbol(&value, table, sizeof value, 8) == cudaSuccess && value == 9);
    EXPECT(cudaGetSymbolAddress(&address, table) == cudaSuccess && address == table);
    EXPECT(cudaGetSymbolSize(&bytes, table) == cudaSuccess && bytes == sizeof table);
    EXPECT(cudaMemcpyFromSymbol(&value, plain, sizeof value) == cudaSuccess && value == 7);
    EXPECT(cudaMemcpy(four, table, sizeof four, cudaMemcpyDefault) == cudaSuccess && four[1] == 9);
    EXPECT(cudaMemset(table, 0, sizeof table) == cudaSuccess && table[1] == 0);
    EXPECT(cudaPointerGetAttributes(&attributes, &table[1]) == cudaSuccess && attributes.type == cudaMemoryTypeManaged);
    EXPECT(attributes.hostPointer == &table[1] && attributes.devicePointer == &table[1]);
    memcpy(table, four, sizeof four);
    EXPECT(table[2] == 9);
    EXPECT(other_value() == 33);
    /* A reset gives the variables their initial values again. */
    EXPECT(cudaDeviceReset() == cudaSuccess && count == 5 && table[3] == 4);
    count = 200;
    change<<<1, 1>>>(&table[1]);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess && count == 201 && table[1] == 40);
    printf(failures == 0 ? "all right\n" : "%d failures\n", failures);
    return failures != 0;
}
