/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the random programs of prop_flow.c. */
#ifndef PROP_FLOW_GEN_H
#define PROP_FLOW_GEN_H

#include "tests/lib/prop_setup.h"

enum { MAX_CODE = 3000, CAPACITY = 250, MAX_LABELS = 1200, FUNCTIONS = 4, MAX_REGIONS = 6, LOCALS = 480 };
/* layout of the global data: offsets and sizes in words */
enum { LOCKS = 0, COUNTERS = 8, FLAGS = 16, MAX_FLAGS = 48, OUT = FLAGS + MAX_FLAGS };

struct loop {
    unsigned regions; /* number of regions that are open when the loop's body begins, including the loop's own region */
    unsigned out, next;
};
struct gen {
    struct prop_random r;
    struct isa_insn code[MAX_CODE];
    uint32_t count;
    uint32_t at[MAX_LABELS];
    unsigned labels;
    struct { uint32_t insn; unsigned label; } jump[MAX_CODE];
    unsigned jumps;
    struct { uint32_t insn; unsigned function; } call[400];
    unsigned calls;
    uint32_t first[FUNCTIONS], size[FUNCTIONS];
    unsigned functions, width, threads;
    /* which constructs the program contains */
    bool spin, bars, recursive, saves, around, soft;
    bool waits, irregular, scalars, overflow;
    bool apart[FUNCTIONS], syncs[FUNCTIONS];
    /* state of the function that is being generated */
    unsigned f, base, regions, region[MAX_REGIONS], limit, end, saved;
    struct loop loop[8];
    unsigned loops, counters, flags;
    bool sync_seen, convergent;
};

/** Write a program to @g. At entry g->r is set and all other members are 0. The kernel is function 0. Return false if
 *  the program is too long. */
bool flow_generate(struct gen *g);

#endif
