/* SPDX-License-Identifier: Apache-2.0 */
/* Tests virtual memory management of the driver API: results, errors, and contents of memory that moves to other addresses. */
#include "check.h"
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void add(unsigned *p, unsigned n, unsigned value)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        p[i] += value + i;
}

static const size_t step = 2 << 20;
static CUmemAllocationProp properties()
{
    CUmemAllocationProp p = {};

    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return p;
}
static CUmemAccessDesc access_of(CUmemAccess_flags flags)
{
    CUmemAccessDesc a = {};

    a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.flags = flags;
    return a;
}

/* A vector that grows: its memory is mapped to a larger range of addresses, and keeps its contents. */
static void grow()
{
    const CUmemAllocationProp p = properties();
    const CUmemAccessDesc rw = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUmemGenericAllocationHandle h[2];
    CUdeviceptr small, large;
    static unsigned out[2 << 20 >> 1];
    const unsigned n = (unsigned)(2 * step / sizeof *out), half = n / 2;

    EQUALS(cuMemAddressReserve(&small, step, 0, 0, 0), CUDA_SUCCESS);
    EQUALS(cuMemCreate(&h[0], step, &p, 0), CUDA_SUCCESS);
    EQUALS(cuMemMap(small, step, 0, h[0], 0), CUDA_SUCCESS);
    CHECK(cudaMemset((void *)small, 0, step) == cudaErrorInvalidValue); /* nobody may access the memory yet */
    (void)cudaGetLastError();
    EQUALS(cuMemSetAccess(small, step, &rw, 1), CUDA_SUCCESS);
    EQUALS(cuMemsetD32(small, 5, half), CUDA_SUCCESS);
    add<<<half / 256, 256>>>((unsigned *)small, half, 1);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);

    EQUALS(cuMemAddressReserve(&large, 2 * step, 0, 0, 0), CUDA_SUCCESS);
    CHECK(small % step == 0 && large % step == 0);
    EQUALS(cuMemUnmap(small, step), CUDA_SUCCESS);
    EQUALS(cuMemAddressFree(small, step), CUDA_SUCCESS);
    EQUALS(cuMemCreate(&h[1], step, &p, 0), CUDA_SUCCESS);
    EQUALS(cuMemMap(large, step, 0, h[0], 0), CUDA_SUCCESS);
    EQUALS(cuMemMap(large + step, step, 0, h[1], 0), CUDA_SUCCESS);
    EQUALS(cuMemSetAccess(large, 2 * step, &rw, 1), CUDA_SUCCESS);
    EQUALS(cuMemsetD32(large + step - 16, 7, 8), CUDA_SUCCESS); /* a fill, a kernel and copies use both parts as one range */
    EQUALS(cuMemsetD32(large + step + 16, 7, half - 4), CUDA_SUCCESS);
    add<<<n / 256, 256>>>((unsigned *)large, n, 2);
    EQUALS(cuMemcpyDtoH(out, large, 2 * step), CUDA_SUCCESS);
    for (unsigned i = 0; i < n; i++)
        if (out[i] != (i < half - 4 ? 5 + 1 + i + 2 + i : 7 + 2 + i)) {
            printf("element %u is %u\n", i, out[i]);
            failed = 1;
            break;
        }
    EQUALS(cuMemRelease(h[0]), CUDA_SUCCESS); /* the memory remains until it is unmapped */
    EQUALS(cuMemcpyDtoH(out, large + 4, 4), CUDA_SUCCESS);
    CHECK(out[0] == 5 + 1 + 1 + 2 + 1);
    EQUALS(cuMemUnmap(large, 2 * step), CUDA_SUCCESS);
    EQUALS(cuMemRelease(h[1]), CUDA_SUCCESS);
    EQUALS(cuMemAddressFree(large, 2 * step), CUDA_SUCCESS);
}

static void wrong_calls()
{
    CUmemAllocationProp p = properties(), other;
    CUmemAccessDesc rw = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE), none = access_of(CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CUmemGenericAllocationHandle h, second;
    unsigned long long flags = 0;
    CUdeviceptr at;
    size_t size = 0, before, after, total;
    int value = 0;

    EQUALS(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 0), CUDA_SUCCESS);
    CHECK(value == 1);
    EQUALS(cuMemGetAllocationGranularity(&size, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_SUCCESS);
    CHECK(size == step);
    EQUALS(cuMemGetAllocationGranularity(NULL, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemAddressReserve(&at, step + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemAddressReserve(&at, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemAddressReserve(&at, 4 * step, 0, 0, 0), CUDA_SUCCESS);
    EQUALS(cuMemCreate(&h, step / 2, &p, 0), CUDA_ERROR_INVALID_VALUE);
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    EQUALS(cuMemCreate(&h, step, &p, 0), CUDA_ERROR_NOT_SUPPORTED);
    p = properties();
    p.location.id = 1;
    EQUALS(cuMemCreate(&h, step, &p, 0), CUDA_ERROR_INVALID_DEVICE);
    p = properties();
    EQUALS(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
    EQUALS(cuMemCreate(&h, 2 * step, &p, 0), CUDA_SUCCESS);
    EQUALS(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
    CHECK(before - after == 2 * step);
    EQUALS(cuMemGetAllocationPropertiesFromHandle(&other, h), CUDA_SUCCESS);
    CHECK(other.type == p.type && other.location.id == 0);
    EQUALS(cuMemMap(at, 4 * step, 0, h, 0), CUDA_ERROR_INVALID_VALUE);        /* the memory is smaller */
    EQUALS(cuMemMap(at + 3 * step, 2 * step, 0, h, 0), CUDA_ERROR_INVALID_VALUE); /* the range leaves the reservation */
    EQUALS(cuMemMap(at, 2 * step, 0, h + 1, 0), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemSetAccess(at, 2 * step, &rw, 1), CUDA_ERROR_INVALID_VALUE);   /* no memory is mapped */
    EQUALS(cuMemMap(at + step, 2 * step, 0, h, 0), CUDA_SUCCESS);
    EQUALS(cuMemMap(at, 2 * step, 0, h, 0), CUDA_ERROR_INVALID_VALUE);        /* the range overlaps the mapping */
    EQUALS(cuMemSetAccess(at, 4 * step, &rw, 1), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemSetAccess(at + step, 2 * step, &rw, 1), CUDA_SUCCESS);
    EQUALS(cuMemGetAccess(&flags, &rw.location, at + 2 * step), CUDA_SUCCESS);
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EQUALS(cuMemRetainAllocationHandle(&second, (void *)(at + step + 8)), CUDA_SUCCESS);
    CHECK(second == h);
    EQUALS(cuMemRelease(second), CUDA_SUCCESS);
    EQUALS(cuMemsetD8(at + step, 9, 2 * step), CUDA_SUCCESS);
    EQUALS(cuMemsetD8(at, 9, 2 * step), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemSetAccess(at + step, 2 * step, &none, 1), CUDA_SUCCESS);
    EQUALS(cuMemsetD8(at + step, 9, 1), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemFree(at + step), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemAddressFree(at, 4 * step), CUDA_ERROR_INVALID_VALUE);         /* memory is mapped */
    EQUALS(cuMemUnmap(at + step, step), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemUnmap(at + step, 2 * step), CUDA_SUCCESS);
    EQUALS(cuMemUnmap(at + step, 2 * step), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemExportToShareableHandle(&value, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), CUDA_ERROR_NOT_SUPPORTED);
    cudaIpcMemHandle_t memory;
    CHECK(cudaIpcGetMemHandle(&memory, (void *)at) == cudaErrorNotSupported); /* there is no memory of other processes */
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    EQUALS(cuMemRelease(h), CUDA_SUCCESS);
    EQUALS(cuMemRelease(h), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
    CHECK(before == after);
    EQUALS(cuMemAddressFree(at, 2 * step), CUDA_ERROR_INVALID_VALUE);
    EQUALS(cuMemAddressFree(at, 4 * step), CUDA_SUCCESS);
    EQUALS(cuMemAddressFree(at, 4 * step), CUDA_ERROR_INVALID_VALUE);
}

int main()
{
    CUdeviceptr at;
    const CUmemAllocationProp p = properties();
    const CUmemAccessDesc rw = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUmemGenericAllocationHandle h;

    EQUALS(cuMemAddressReserve(&at, step, 0, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
    CHECK(cudaFree(NULL) == cudaSuccess);
    grow();
    wrong_calls();
    puts(failed ? "wrong" : "all right");
    fflush(stdout);
    /* A kernel writes the four bytes after the mapped memory. */
    EQUALS(cuMemAddressReserve(&at, 2 * step, 0, 0, 0), CUDA_SUCCESS);
    EQUALS(cuMemCreate(&h, step, &p, 0), CUDA_SUCCESS);
    EQUALS(cuMemMap(at, step, 0, h, 0), CUDA_SUCCESS);
    EQUALS(cuMemSetAccess(at, step, &rw, 1), CUDA_SUCCESS);
    EQUALS(cuMemsetD8(at, 0, step), CUDA_SUCCESS);
    add<<<1, 1>>>((unsigned *)(at + step), 1, 1);
    (void)cudaDeviceSynchronize();
    return failed;
}
