/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of programs that print the wrong ones and continue. */
#include <cuda_runtime.h>
#include <stdio.h>

static int failed;
#define CHECK(x) \
    do { \
        if (!(x)) { \
            printf("line %d: %s\n", __LINE__, #x); \
            failed = 1; \
        } \
    } while (0)
/** Compares an error of CUDA's runtime or driver interface, and then forgets the last error of the runtime. */
#define EQUALS(call, wanted) \
    do { \
        const auto got = (call); \
        if (got != (wanted)) { \
            printf("line %d: %s is %d\n", __LINE__, #call, (int)got); \
            failed = 1; \
        } \
        (void)cudaGetLastError(); \
    } while (0)
