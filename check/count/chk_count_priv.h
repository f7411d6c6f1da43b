/* SPDX-License-Identifier: Apache-2.0 */
/* Counts by instruction and by line, for coverage, profile and performance findings. */
#ifndef CHK_COUNT_PRIV_H
#define CHK_COUNT_PRIV_H

#include "check/check.h"

/** Counts of memory requests to one address space. */
struct chk_requests {
    uint64_t count;
    uint64_t parts; /* number of 32-byte sectors of global memory, or of wavefronts of shared memory, that the requests
                     * took */
    uint64_t least; /* number of sectors or wavefronts that the same bytes would take if they were contiguous */
};
/** Counts of an instruction in a run. */
struct chk_tally {
    uint64_t times;     /* number of executions (warp instructions) */
    uint64_t lanes;     /* number of lanes that executed the instruction: active lanes whose guard was true */
    uint64_t others;    /* for guarded branches and exits: number of lanes of the split whose guard was false */
    uint64_t parted;    /* for guarded branches and exits: number of executions in which the lanes diverged */
    struct chk_requests global, shared;
    uint64_t local;     /* number of bytes of local memory that were accessed */
    const struct isa_function *kernel; /* first kernel that executed the instruction, or NULL if it was never executed */
    uint32_t grid;      /* sequence number of the launch in which `kernel` first executed the instruction */
};

/** Source scope of an instruction (entry of the object's debug information) and, for code that the front end has
 *  duplicated, the number of the duplicate, or 0 if there is none. */
struct chk_scope {
    uint32_t scope, copy;
};
/** Counts of one program. */
struct chk_counts {
    const struct emu_program *program;
    const struct isa_object *object;
    uint8_t *what;           /* [instruction]: CHK_COUNT_* */
    struct chk_tally *tally; /* [instruction] */
    struct chk_scope *scopes; /* [instruction], for coverage; NULL: there is no duplicated code */
};
enum {
    CHK_COUNT_BRANCH = 1, /* a guarded branch or exit, which has two outcomes */
    CHK_COUNT_MEMORY = 2,
    CHK_COUNT_JOIN = 4 /* a reconvergence instruction, which is not in the source and which all lanes execute */
};
/** Counts of one launch. */
struct chk_launch_counts {
    struct chk_counters *counters; /* owned */
    const struct isa_function *kernel;
    uint32_t grid, size[3], block[3]; /* grid: sequence number of the launch; 0: the entry contains the sum over all launches
                                       * after the first CHK_MOST_LAUNCHES */
};
enum { CHK_MOST_LAUNCHES = 1000 }; /* maximum number of launches counted separately; all later launches together have
                                    * one entry */
struct chk_counters {
    struct chk *chk;
    bool memory;    /* memory requests are counted, too */
    bool by_launch; /* each launch is counted separately as well */
    struct chk_launch_counts *launches; /* launches that are counted separately, in the order of their first instructions */
    size_t launch_count, launch_capacity, launch_last;
    struct chk_counts **programs, *last;
    size_t count, room;
    uint64_t address[EMU_MAX_LANES];
};
/** An instruction and its source line; file "" and line 0 if it has none. */
struct chk_line_entry {
    const char *file;
    uint32_t line, index;
    const struct chk_counts *counts;
};
/** Returns an entry for each instruction with a source line, sorted by file, line, program and index. If @lines is false,
 *  returns the entries of instructions without a line in functions that are not kernels (functions of the compiler), sorted
 *  by program and index. The caller frees the array. NULL: there is no memory. */
struct chk_line_entry *chk_lines(const struct chk_counters *counters, bool lines, size_t *count);
/** Returns the end index of the entries of one line or, with @file, of one file, which begin at index @from. */
size_t chk_line_end(const struct chk_line_entry *entries, size_t count, size_t from, bool file);
/** Adds counts to a sum. The kernel of the sum is the kernel of the earliest launch. */
void chk_tally_add(struct chk_tally *sum, const struct chk_tally *t);
/** Returns the sums of a line's entries [from, to). */
struct chk_tally chk_line_sum(const struct chk_line_entry *entries, size_t from, size_t to);

#endif
