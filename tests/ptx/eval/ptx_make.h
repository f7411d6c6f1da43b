/* SPDX-License-Identifier: Apache-2.0 */
/* Generates random PTX kernels whose results do not depend on the order of threads. */
#ifndef PTX_MAKE_H
#define PTX_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PM_SHARED = 64 };
/** Registers of one kind that all threads share: those that may be read here. */
struct pm_shared {
    unsigned synthetic, count, visible[PM_SHARED];
};
enum {
    PM_ROW_BYTES = 512,  /* bytes of global memory for each thread: 128 of input, 128 of scratch, the results */
    PM_SUM_BYTES = 128,  /* after the rows: cells for reductions */
    PM_PARAM_BYTES = 64
};
/** A kernel as statements: one that opens or closes something names its other end. */
struct pm_statement {
    char *text;
    int match; /* -1: it is alone; of an opening one the closing one, and back */
    bool middle; /* belongs to the pair around it */
    char kind;   /* 's', 'e', 'q': it alone defines that shared register; without it it is 0 */
    unsigned defines;
};
struct pm_kernel {
    struct pm_statement *at;
    int count, room;
    bool warp;           /* uses other lanes: needs whole warps of 32 */
    bool scalar;         /* mostly work that all threads share, flow too */
    bool leaves;         /* threads may end early: no barriers */
    bool traps;          /* threads may reach a trap, which ends the run */
    struct pm_shared s, e, q; /* of 32 and 64 bits, predicates */
    char kind;           /* registers that the current statement defines */
    unsigned defines;
    uint64_t state;      /* of the random numbers */
    unsigned labels, counters;
    char name[16];
};
/** Make kernel @name from @seed; @calls: of the functions that pm_head() writes. */
void pm_make(struct pm_kernel *kernel, uint64_t seed, const char *name, bool calls);
void pm_free(struct pm_kernel *kernel);
/** The head of a module and the functions that its kernels call, heap text. */
char *pm_head(uint64_t seed, bool calls);
/** The kernel's text, heap. */
char *pm_text(const struct pm_kernel *kernel);
/** The same numbers everywhere. */
uint64_t pm_random(uint64_t *state);

#endif
