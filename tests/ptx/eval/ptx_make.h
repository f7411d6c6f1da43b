/* SPDX-License-Identifier: Apache-2.0 */
/* Generates random PTX kernels whose results do not depend on the order of threads. */
#ifndef PTX_MAKE_H
#define PTX_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PM_SHARED = 64 };
/** Registers of one kind that all threads share, and that may be read at this point. */
struct pm_shared {
    unsigned synthetic, count, visible[PM_SHARED];
};
enum {
    PM_ROW_BYTES = 512,  /* bytes of global memory for each thread: 128 of input, 128 of scratch, then the results */
    PM_SUM_BYTES = 128,  /* words for reductions, after the memory of all threads */
    PM_PARAM_BYTES = 64
};
/** A kernel as a list of statements. A statement that opens or closes a block names the other end. */
struct pm_statement {
    char *text;
    int match; /* -1: the statement opens and closes nothing; otherwise the index of the other end */
    bool middle; /* the statement belongs to the surrounding block */
    char kind;   /* 's', 'e', 'q': the only statement that defines that shared register; without it the register is 0 */
    unsigned defines;
};
struct pm_kernel {
    struct pm_statement *at;
    int count, room;
    bool warp;           /* the statement uses other lanes, so that it needs whole warps of 32 */
    bool scalar;         /* most of the kernel is computed identically by all threads, control flow too */
    bool leaves;         /* threads may end early, so that the kernel has no barriers */
    bool traps;          /* threads may reach a trap, which ends the run */
    struct pm_shared s, e, q; /* shared registers of 32 and 64 bits, and predicates */
    char kind;           /* registers that the current statement defines */
    unsigned defines;
    uint64_t state;      /* state of the random number generator */
    unsigned labels, counters;
    char name[16];
};
/** Generate kernel @name from @seed. @calls: it calls the functions that pm_head() writes. */
void pm_make(struct pm_kernel *kernel, uint64_t seed, const char *name, bool calls);
void pm_free(struct pm_kernel *kernel);
/** Return the head of a module with the functions that its kernels call. The caller frees the text. */
char *pm_head(uint64_t seed, bool calls);
/** The kernel's text, heap. */
char *pm_text(const struct pm_kernel *kernel);
/** The same numbers everywhere. */
uint64_t pm_random(uint64_t *state);

#endif
