/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are not supported. Without them, a program would end at such a call with an error of the dynamic linker. */
#include "runtime/cuda/cu_driver_priv.h"

#include <stdio.h>
#include <string.h>

enum {
#define CU_ABSENT(name) INDEX_##name,
#include "runtime/cuda/calls/cu_absent.def"
#undef CU_ABSENT
    COUNT
};

/** Returns the error of function @index, whose name it prints at the first call. */
static int refuse(unsigned index, const char *name)
{
    static bool printed[COUNT];

    rt_lock();
    if (!printed[index])
        fprintf(stderr, "lanewise: the program calls %s(), which is not supported\n", name);
    printed[index] = true;
    rt_unlock();
    return strncmp(name, "cuda", 4) == 0 ? cu_return(cudaErrorNotSupported) : cu_driver_return(CUDA_ERROR_NOT_SUPPORTED);
}

#define CU_ABSENT(name) \
    CU_API int name(void) \
    { \
        return refuse(INDEX_##name, #name); \
    }
#include "runtime/cuda/calls/cu_absent.def"
