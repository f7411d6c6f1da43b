/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the random kernels of prop_native_grids.c. */
#ifndef PROP_GRIDS_GEN_H
#define PROP_GRIDS_GEN_H

#include "tests/isa/prop_isa_random.h"

enum {
    IN_WORDS = 1000, OTHER_WORDS = 16, /* words of the buffers `in` and `other`, which kernels only read */
    COLUMNS = 8,    /* the first words that a thread may store: word k of all threads is one array */
    ROW_WORDS = 4   /* further words that a thread may store: the words of a thread are consecutive */
};

/** A kernel, and how it is launched. Its parameters are the addresses of the buffers `out`, `in`, `other` and `more`. A thread stores
 *  only to words of its own, and reads words of other threads only between barriers, so the results do not depend on the order of
 *  warps. */
struct grids_program {
    struct lw_buffer text; /* assembly; the caller calls lw_buffer_init() and lw_buffer_fini() */
    unsigned width;
    uint32_t block[3], grid[3], threads, blocks; /* threads: of a block */
    uint32_t out_bytes, more_bytes;
    bool invalid; /* the kernel has accesses that may be invalid */
};
/** Fills in @program at random. */
void grids_generate(struct grids_program *program, struct prop_random *r);

#endif
