/* SPDX-License-Identifier: Apache-2.0 */
/* The device grants as much memory as it reports, and memory that host and kernels share costs the host only the pages that are used. */
#include "check.h"

#include <sys/resource.h>

__global__ void put(char *p, size_t at) { p[at] = 5; }

static long resident_mib()
{
    rusage use;

    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss >> 10;
}

int main()
{
    size_t available, total, left, part;
    void *p[8];
    char *shared, *host;

    EQUALS(cudaMemGetInfo(&available, &total), cudaSuccess);
    CHECK(available == total);
    part = total / 4;
    for (int i = 0; i < 4; i++)
        EQUALS(cudaMalloc(&p[i], part), cudaSuccess);
    EQUALS(cudaMemGetInfo(&left, &total), cudaSuccess);
    CHECK(left == total - 4 * part);
    EQUALS(cudaMalloc(&p[4], part), cudaErrorMemoryAllocation);
    EQUALS(cudaMallocManaged(&p[4], part), cudaErrorMemoryAllocation);
    for (int i = 0; i < 4; i++)
        EQUALS(cudaFree(p[i]), cudaSuccess);
    EQUALS(cudaMemGetInfo(&left, &total), cudaSuccess);
    CHECK(left == total);

    const long before = resident_mib();
    const size_t bytes = size_t(1) << 30;
    EQUALS(cudaMallocManaged(&shared, bytes), cudaSuccess);
    EQUALS(cudaMallocHost(&host, bytes), cudaSuccess);
    put<<<1, 1>>>(shared, bytes / 2);
    put<<<1, 1>>>(host, bytes - 1);
    EQUALS(cudaDeviceSynchronize(), cudaSuccess);
    shared[bytes - 1] = 7;
    CHECK(shared[bytes / 2] == 5 && host[bytes - 1] == 5 && shared[bytes - 1] == 7 && shared[0] == 0);
    CHECK(resident_mib() - before < 200);
    EQUALS(cudaFree(shared), cudaSuccess);
    EQUALS(cudaFreeHost(host), cudaSuccess);
    EQUALS(cudaMalloc(&shared, bytes), cudaSuccess); /* new memory is zero, whatever the program has stored to earlier memory */
    char last[2] = {1, 1};
    EQUALS(cudaMemcpy(&last[0], shared + bytes - 1, 1, cudaMemcpyDeviceToHost), cudaSuccess);
    EQUALS(cudaMemcpy(&last[1], shared + bytes / 2, 1, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK(last[0] == 0 && last[1] == 0);
    if (!failed)
        printf("all right\n");
    return failed;
}
