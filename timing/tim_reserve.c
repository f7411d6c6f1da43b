/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with room for the most that can be, which is far more than ever is. */
#include "timing/tim_priv.h"

#include <sys/mman.h>

void *tim_reserve(size_t count, size_t bytes)
{
    void *p = mmap(NULL, count * bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

void tim_release(void *at, size_t count, size_t bytes)
{
    if (at != NULL)
        (void)munmap(at, count * bytes);
}
