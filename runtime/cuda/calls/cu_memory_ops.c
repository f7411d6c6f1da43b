/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: writes of a value in a stream, and waits of a stream for a value in memory. */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/cu_graph_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { WAIT_GREATER_OR_EQUAL, WAIT_EQUAL, WAIT_AND, WAIT_NOR, WAIT_FLUSH = 1 << 30, WRITE_FLAGS = 1 };
enum { OP_WAIT_32 = 1, OP_WRITE_32, OP_FLUSH, OP_WAIT_64, OP_WRITE_64, OP_BARRIER, MOST_OPS = 255 };

/** An operation of a batch, in CUDA's layout. OP_FLUSH and OP_BARRIER have no members but the type. */
struct operation {
    int type; /* OP_... */
    CUdeviceptr address;
    uint64_t value; /* an operation of 32 bits uses the lower half */
    unsigned flags;
    uint64_t alias, reserved;
};
_Static_assert(sizeof(struct operation) == 48, "the layout of CUstreamBatchMemOpParams");

static bool is_wide(const struct operation *o)
{
    return o->type == OP_WAIT_64 || o->type == OP_WRITE_64;
}

static bool is_wait(const struct operation *o)
{
    return o->type == OP_WAIT_32 || o->type == OP_WAIT_64;
}

/** Tests an operation; locked. */
static CUresult check(const struct operation *o, CUstream stream)
{
    const uint64_t bytes = is_wide(o) ? 8 : 4;
    const unsigned condition = o->flags & ~(unsigned)WAIT_FLUSH;

    if (cu_stream_captures(stream)) /* graphs have no nodes for these operations */
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (o->type == OP_FLUSH || o->type == OP_BARRIER)
        return CUDA_SUCCESS;
    if (o->type < OP_WAIT_32 || o->type > OP_BARRIER || o->address % bytes != 0 ||
        !cu_memory_is_device((const void *)(uintptr_t)o->address) || (is_wait(o) ? condition > WAIT_NOR : o->flags > WRITE_FLAGS))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/** Writes a value in a stream. Both halves of a wide value are written under one lock, so that no wait sees only one of them. */
static CUresult write_value(const struct operation *o, CUstream stream)
{
    cudaError_t error = cudaSuccess;

    cu_stream_settle(stream);
    rt_lock();
    for (unsigned half = 0; half < (is_wide(o) ? 2u : 1u) && error == cudaSuccess; half++) {
        const struct cu_work work = {.type = CU_FILL, .fill = {(uint32_t *)(uintptr_t)o->address + half, 0,
                                                               (unsigned)(o->value >> 32 * half), 4, 1, 1}};

        error = cu_stream_submit(stream, &work);
    }
    rt_unlock();
    return cu_result(error);
}

/** Reads the value for which an operation waits, and tests the condition; locked. */
static CUresult test_value(const struct operation *o, bool *is_met, uint64_t *found)
{
    const uint64_t mask = is_wide(o) ? UINT64_MAX : UINT32_MAX, sign = is_wide(o) ? UINT64_C(1) << 63 : UINT64_C(1) << 31;
    const uint64_t value = o->value & mask;

    if (cu_registered_has_copy((const void *)(uintptr_t)o->address))
        cu_registered_to_device();
    *found = 0;
    if (lanewise_peek(rt_machine(), o->address, found, is_wide(o) ? 8 : 4) != LANEWISE_OK) {
        rt_complain("cuStreamWaitValue");
        return CUDA_ERROR_INVALID_VALUE;
    }
    switch (o->flags & ~(unsigned)WAIT_FLUSH) {
    case WAIT_GREATER_OR_EQUAL: *is_met = ((*found - value) & sign) == 0; break; /* the difference is not negative */
    case WAIT_EQUAL: *is_met = *found == value; break;
    case WAIT_AND: *is_met = (*found & value) != 0; break;
    default: *is_met = (~(*found | value) & mask) != 0;
    }
    return CUDA_SUCCESS;
}

/** Waits until the condition is met. All earlier work of the device is complete, so only another thread of the program can write the
 *  value. If none does for a while, the wait is a hang, which is reported as that of a kernel is. */
static CUresult wait_for_value(const struct operation *o, CUstream stream)
{
    enum { LIMIT_MS = 5000, PAUSE_NS = 1000000 };
    const struct timespec pause = {0, PAUSE_NS};
    const uint64_t begin = rt_now_ns();
    CUresult result = CUDA_SUCCESS;
    uint64_t found = 0;
    bool is_met = false;

    cu_stream_settle(stream);
    for (;;) {
        const bool is_late = rt_now_ns() - begin > UINT64_C(1000000) * LIMIT_MS; /* before the test, which then is the last one */

        rt_lock();
        result = test_value(o, &is_met, &found);
        rt_unlock();
        if (result != CUDA_SUCCESS || is_met)
            return result;
        if (is_late) {
            fprintf(stderr, "lanewise: hang: cuStreamWaitValue waits for the value 0x%" PRIx64 " at 0x%llx, which has the value 0x%"
                            PRIx64 ": write the value before the call, or in another thread\n",
                    is_wide(o) ? o->value : o->value & UINT32_MAX, o->address, found);
            return CUDA_ERROR_LAUNCH_TIMEOUT;
        }
        nanosleep(&pause, NULL);
    }
}

/** Executes operations one after another, after it has tested all of them. */
static CUresult run(const struct operation *list, unsigned count, CUstream stream)
{
    CUresult result = cu_need_context();

    rt_lock();
    if (result == CUDA_SUCCESS)
        result = cu_result(cu_stream_check(stream));
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = check(&list[i], stream);
    rt_unlock();
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (is_wait(&list[i]))
            result = wait_for_value(&list[i], stream);
        else if (list[i].type == OP_WRITE_32 || list[i].type == OP_WRITE_64)
            result = write_value(&list[i], stream);
    return cu_driver_return(result);
}

CU_API CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, const struct operation *list, unsigned flags)
{
    if (count == 0 || count > MOST_OPS || list == NULL || flags != 0)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    return run(list, count, stream);
}
CU_ALIAS(cuStreamBatchMemOp, cuStreamBatchMemOp_v2);

#define OPERATION(NAME, TYPE, VALUE) \
    CU_API CUresult NAME(CUstream stream, CUdeviceptr address, VALUE value, unsigned flags) \
    { \
        const struct operation o = {.type = TYPE, .address = address, .value = value, .flags = flags}; \
\
        return run(&o, 1, stream); \
    } \
    CU_ALIAS(NAME, NAME##_v2);
OPERATION(cuStreamWaitValue32, OP_WAIT_32, uint32_t)
OPERATION(cuStreamWaitValue64, OP_WAIT_64, uint64_t)
OPERATION(cuStreamWriteValue32, OP_WRITE_32, uint32_t)
OPERATION(cuStreamWriteValue64, OP_WRITE_64, uint64_t)
