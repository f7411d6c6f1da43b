/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: writes of a value in a stream, and waits of a stream for a value in memory; and the same work of graphs. */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/cu_graph_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT_GREATER_OR_EQUAL, WAIT_EQUAL, WAIT_AND, WAIT_NOR, WAIT_FLUSH = 1 << 30, WRITE_FLAGS = 1 };
/* Types of operations. OP_FLUSH and OP_BARRIER have no other members, and no effect here. */
enum { OP_WAIT_32 = 1, OP_WRITE_32, OP_FLUSH, OP_WAIT_64, OP_WRITE_64, OP_BARRIER, MOST_OPS = 255 };

_Static_assert(sizeof(struct cu_operation) == 48 && sizeof(struct cu_batch) == 32, "the layouts of CUDA");

static bool is_wide(const struct cu_operation *o)
{
    return o->type == OP_WAIT_64 || o->type == OP_WRITE_64;
}

static bool is_wait(const struct cu_operation *o)
{
    return o->type == OP_WAIT_32 || o->type == OP_WAIT_64;
}

/** Tests an operation; locked. */
static cudaError_t check(const struct cu_operation *o)
{
    const uint64_t bytes = is_wide(o) ? 8 : 4;
    const unsigned condition = o->flags & ~(unsigned)WAIT_FLUSH;

    if (o->type == OP_FLUSH || o->type == OP_BARRIER)
        return cudaSuccess;
    if (o->type < OP_WAIT_32 || o->type > OP_BARRIER || o->address % bytes != 0 ||
        !(cu_memory_is_device((const void *)(uintptr_t)o->address) || cu_graph_memory_has((const void *)(uintptr_t)o->address)) ||
        (is_wait(o) ? condition > WAIT_NOR : o->flags > WRITE_FLAGS))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/** Writes a value; locked. Both halves of a wide value are written under one lock, so that no wait sees only one of them. */
static cudaError_t write_value(const struct cu_operation *o)
{
    cudaError_t error = cudaSuccess;

    for (unsigned half = 0; half < (is_wide(o) ? 2u : 1u) && error == cudaSuccess; half++)
        error = cu_fill(&(struct cudaMemsetParams){(uint32_t *)(uintptr_t)o->address + half, 0, (unsigned)(o->value >> 32 * half), 4, 1, 1},
                        false);
    return error;
}

/** Reads the value for which an operation waits, and tests the condition; locked. */
static cudaError_t test_value(const struct cu_operation *o, bool *is_met, uint64_t *found)
{
    const uint64_t mask = is_wide(o) ? UINT64_MAX : UINT32_MAX, sign = is_wide(o) ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
    const uint64_t value = o->value & mask;

    if (cu_registered_has_copy((const void *)(uintptr_t)o->address))
        cu_registered_to_device();
    *found = 0;
    if (lanewise_peek(rt_machine(), o->address, found, is_wide(o) ? 8 : 4) != LANEWISE_OK) {
        rt_complain("cuStreamWaitValue");
        return cudaErrorInvalidValue;
    }
    switch (o->flags & ~(unsigned)WAIT_FLUSH) {
    case WAIT_GREATER_OR_EQUAL: *is_met = ((*found - value) & sign) == 0; break; /* the difference is not negative */
    case WAIT_EQUAL: *is_met = *found == value; break;
    case WAIT_AND: *is_met = (*found & value) != 0; break;
    default: *is_met = (~(*found | value) & mask) != 0;
    }
    return cudaSuccess;
}

/** Waits until the condition is met; locked, but releases the lock between its tests. All earlier work of the device is complete, so
 *  only another thread of the program can write the value. If none does for a while, the wait is a hang, which is reported as that of
 *  a kernel is. */
static cudaError_t wait_for_value(const struct cu_operation *o)
{
    enum { PAUSE_NS = 1000000 };
    const struct timespec pause = {0, PAUSE_NS};
    const uint64_t begin = rt_now_ns();
    uint64_t found = 0;
    bool is_met = false;

    for (;;) {
        const bool is_late = rt_now_ns() - begin > UINT64_C(1000000) * rt_wait_limit_ms(); /* before the test, which then is the last one */
        const cudaError_t error = test_value(o, &is_met, &found);

        if (error != cudaSuccess || is_met)
            return error;
        if (is_late) {
            fprintf(stderr, "lanewise: hang: cuStreamWaitValue waits for the value 0x%" PRIx64 " at 0x%llx, which has the value 0x%"
                            PRIx64 ": write the value before the call, or in another thread\n",
                    is_wide(o) ? o->value : o->value & UINT32_MAX, o->address, found);
            return cudaErrorLaunchTimeout;
        }
        rt_unlock();
        nanosleep(&pause, NULL);
        rt_lock();
    }
}

cudaError_t cu_batch_check(const struct cu_batch *batch)
{
    cudaError_t error = cudaSuccess;

    if (batch->count == 0 || batch->count > MOST_OPS || batch->list == NULL || batch->flags != 0)
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < batch->count && error == cudaSuccess; i++)
        error = check(&batch->list[i]);
    return error;
}

cudaError_t cu_batch_copy(const struct cu_batch *batch, struct cu_batch *out)
{
    *out = *batch;
    out->list = malloc(batch->count * sizeof *out->list);
    if (out->list == NULL)
        return cudaErrorMemoryAllocation;
    memcpy(out->list, batch->list, batch->count * sizeof *out->list);
    return cudaSuccess;
}

bool cu_batches_are_alike(const struct cu_batch *a, const struct cu_batch *b)
{
    if (a->count != b->count)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (a->list[i].type != b->list[i].type || (is_wait(&a->list[i]) && ((a->list[i].flags ^ b->list[i].flags) & WAIT_FLUSH) != 0))
            return false;
    return true;
}

cudaError_t cu_batch_run(const struct cu_batch *batch)
{
    struct cu_batch own; /* during a wait another thread may change the node */
    cudaError_t error = cu_batch_copy(batch, &own);

    for (unsigned i = 0; i < own.count && error == cudaSuccess; i++) {
        const struct cu_operation *o = &own.list[i];

        error = check(o); /* the program may have freed the memory */
        if (error == cudaSuccess && is_wait(o))
            error = wait_for_value(o);
        else if (error == cudaSuccess && (o->type == OP_WRITE_32 || o->type == OP_WRITE_64))
            error = write_value(o);
    }
    free(own.list);
    return error;
}

/** Executes operations in a stream one after another, after it has tested all of them. In a capture they become a node. */
static cudaError_t submit(struct cu_operation *list, unsigned count, unsigned flags, CUstream stream)
{
    const struct cu_work work = {.type = CU_BATCH, .batch = {NULL, count, list, flags}};
    cudaError_t error;

    cu_stream_settle(stream);
    rt_lock();
    error = cu_stream_check(stream);
    if (error == cudaSuccess)
        error = cu_batch_check(&work.batch);
    if (error == cudaSuccess)
        error = cu_stream_submit(stream, &work);
    rt_unlock();
    return error;
}

CU_API CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, struct cu_operation *list, unsigned flags)
{
    return CU_IN_CONTEXT(submit(list, count, flags, stream));
}
CU_ALIAS(cuStreamBatchMemOp, cuStreamBatchMemOp_v2);

#define OPERATION(NAME, TYPE, VALUE) \
    CU_API CUresult NAME(CUstream stream, CUdeviceptr address, VALUE value, unsigned flags) \
    { \
        struct cu_operation o = {.type = TYPE, .address = address, .value = value, .flags = flags}; \
\
        return CU_IN_CONTEXT(submit(&o, 1, 0, stream)); \
    } \
    CU_ALIAS(NAME, NAME##_v2);
OPERATION(cuStreamWaitValue32, OP_WAIT_32, uint32_t)
OPERATION(cuStreamWaitValue64, OP_WAIT_64, uint64_t)
OPERATION(cuStreamWriteValue32, OP_WRITE_32, uint32_t)
OPERATION(cuStreamWriteValue64, OP_WRITE_64, uint64_t)
