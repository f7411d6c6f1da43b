/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of prop_cuda.c: libraries, launches whose arguments are state of the function, and user objects. */
#ifndef PROP_CUDA_LAUNCHES_H
#define PROP_CUDA_LAUNCHES_H

#include "tests/runtime/calls/prop_cuda_objects.h"

/** A library has the same handle as its module. */
static void use_library(void)
{
    void *library_of = handle_of(MODULE), *made = NULL, *kernels[4], *kernel = handle_of(FUNCTION);
    const char *name = one_of(2) ? "symbol" : one_of(2) ? "set" : one_of(2) ? "none" : "";
    unsigned count;
    size_t bytes;

    is_bad = false;
    switch (below(11)) {
    case 0:
        if (is_full(MODULE) || __atomic_fetch_add(&pool.loads, 1, __ATOMIC_RELAXED) >= LOADS_OF_ROUND)
            break;
        if (check(CU(cudaLibraryLoadData, &made, ptx, NULL, NULL, 0u, NULL, NULL, 0u)))
            add_object(MODULE, made, 0, false);
        break;
    case 1:
        if (check(CU(cudaLibraryGetKernel, &made, library_of, name)) && !is_full(FUNCTION))
            add_object(FUNCTION, made, 0, false);
        break;
    case 2: check(CU(cudaLibraryGetGlobal, one_of(9) ? NULL : &made, &bytes, library_of, name)); break;
    case 3:
        if (check(CU(cudaLibraryGetManaged, &made, one_of(9) ? NULL : &bytes, library_of, name)) && is_checked())
            wrong("the library has no managed variable, but %s is one", name);
        break;
    case 4: check(CU(cudaLibraryGetUnifiedFunction, &made, library_of, name)); break;
    case 5: check(CU(cudaLibraryGetKernelCount, one_of(9) ? NULL : &count, library_of)); break;
    case 6: check(CU(cudaLibraryEnumerateKernels, kernels, below(5), library_of)); break;
    case 7: check(CU(cudaFuncGetParamInfo, kernel, (size_t)below(5), &bytes, &bytes)); break;
    case 8: check(CU(cuKernelGetLibrary, &made, kernel)); break;
    case 9: check(CU(cuLibraryGetModule, &made, library_of)); break;
    default:
        if (one_of(4) && check(CU(cudaLibraryUnload, library_of))) {
            remove_object(MODULE, library_of);
            while (pool.count[FUNCTION] != 0 && is_checked()) /* its functions are those of one of the modules */
                remove_object(FUNCTION, pool.at[FUNCTION][0].handle);
        }
    }
    is_bad = false;
}

/** Launches of CUDA 3. The kernel may get arguments that no call has set. Then it writes to the blocks of memory, or has a fault that
 *  is reported. */
static void launch_in_parts(void)
{
    const struct object o = pick_block();
    void *function = handle_of(FUNCTION), *stream = handle_of(STREAM);
    const uint32_t value = below(1000), n = (uint32_t)(o.bytes / 4);
    const int offset = one_of(6) ? (int)next_random() : (int)below(20) * 4;

    if (o.bytes == 0)
        return;
    is_bad = false;
    switch (below(9)) {
    case 0: check(CU(cuFuncSetBlockShape, function, (int)below(70), 1, one_of(9) ? -1 : 1)); break;
    case 1: check(CU(cuFuncSetSharedSize, function, one_of(6) ? (unsigned)next_random() : below(2000))); break;
    case 2: check(CU(cuParamSetSize, function, one_of(6) ? (unsigned)next_random() : 16u)); break;
    case 3: check(CU(cuParamSetv, function, offset, host[thread_number], below(64))); break;
    case 4: check(CU(cuParamSeti, function, offset, value)); break;
    case 5:
        begin_call("cuParamSetf");
        check(((int (*)(void *, int, float))(uintptr_t)symbol("cuParamSetf"))(function, offset, 1.5f));
        break;
    default:
        check(CU(cuParamSetv, function, 0, &o.handle, 8u));
        check(CU(cuParamSeti, function, 8, value));
        check(CU(cuParamSeti, function, 12, n));
        if (one_of(3))
            check(CU(cuLaunch, function));
        else if (one_of(2))
            check(CU(cuLaunchGrid, function, (int)below(5), (int)below(3)));
        else
            check(CU(cuLaunchGridAsync, function, (int)below(5), (int)below(3), stream));
        forget_all();
    }
    is_bad = false;
}

/** A graph may keep an object whose references the program has released. */
static void use_user_object(void)
{
    void *object = handle_of(USER_OBJECT), *graph = handle_of(GRAPH), *made = NULL;
    const unsigned count = one_of(9) ? (unsigned)next_random() : below(4);

    is_bad = false;
    switch (below(6)) {
    case 0:
        if (!is_full(USER_OBJECT) && check(CU(cudaUserObjectCreate, &made, &host_calls, one_of(9) ? NULL : on_host, count, one_of(9) ? 0u : 1u)))
            add_object(USER_OBJECT, made, 0, false);
        break;
    case 1: check(CU(cudaUserObjectRetain, object, count)); break;
    case 2: check(CU(cudaUserObjectRelease, object, count)); break;
    case 3: case 4: check(CU(cudaGraphRetainUserObject, graph, object, count, below(3))); break;
    default: check(CU(cudaGraphReleaseUserObject, graph, object, count));
    }
    is_bad = false;
}

#endif
