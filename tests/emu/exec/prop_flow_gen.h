/* SPDX-License-Identifier: Apache-2.0 */
/* Generator of random programs of control flow for prop_flow.c. */
#ifndef PROP_FLOW_GEN_H
#define PROP_FLOW_GEN_H

#include "tests/lib/prop_setup.h"

enum { MAX_CODE = 3000, CAPACITY = 250, MAX_LABELS = 1200, FUNCTIONS = 4, MAX_REGIONS = 6, LOCALS = 480 };
/* memory, in words */
enum { LOCKS = 0, COUNTERS = 8, FLAGS = 16, MAX_FLAGS = 48, OUT = FLAGS + MAX_FLAGS };

struct loop {
    unsigned regions; /* number of open regions when the body of this one begins, with its own region */
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
    /* the constructs that the program contains */
    bool spin, bars, recursive, saves, around, soft;
    bool waits, irregular, scalars, overflow;
    bool apart[FUNCTIONS], syncs[FUNCTIONS];
    /* the function being written */
    unsigned f, base, regions, region[MAX_REGIONS], limit, end, saved;
    struct loop loop[8];
    unsigned loops, counters, flags;
    bool sync_seen, convergent;
};

/** Write a program to @g. At entry g->r is set and all other members are 0. The kernel is function 0. Return false if
 *  the program is too long. */
bool flow_generate(struct gen *g);

#endif
