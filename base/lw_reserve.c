/* SPDX-License-Identifier: Apache-2.0 */
/* Memory mappings for large tables. A table is mapped with its maximal size; most of its pages are never accessed. */
#include "base/lw.h"

#include <sys/mman.h>

void *lw_reserve(uint64_t bytes)
{
    return lw_reserve_at(NULL, bytes);
}

void *lw_reserve_at(void *at, uint64_t bytes)
{
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

void lw_release(void *at, uint64_t bytes)
{
    if (at != NULL)
        (void)munmap(at, bytes);
}
