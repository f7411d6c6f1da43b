/* SPDX-License-Identifier: Apache-2.0 */
/* Counts by instruction and by line: what coverage, profile and lints share. */
#ifndef CHK_COUNT_PRIV_H
#define CHK_COUNT_PRIV_H

#include "check/check.h"

/** Requests of memory, of one space. */
struct chk_requests {
    uint64_t count;
    uint64_t parts; /* 32-byte sectors of global, or passes of shared memory, that they took */
    uint64_t least; /* of them with the same bytes side by side */
};
/** What an instruction did in a run. */
struct chk_tally {
    uint64_t times;     /* warp instructions */
    uint64_t lanes;     /* that took part: mask and guard held */
    uint64_t others;    /* of branches and exits: the split's lanes whose guard did not hold */
    uint64_t parted;    /* times that the guard held for some lanes only */
    struct chk_requests global, shared;
    uint64_t local;     /* bytes of local memory */
    const struct isa_function *kernel; /* that ran it first; NULL: none */
    uint32_t grid;      /* sequence of that launch */
};

/** Which scope of the source (entry of the object's debug information) an instruction is of, and,
 *  in one of the copies that the front end made of code there, which; 0: none. */
struct chk_scope {
    uint32_t scope, copy;
};
/** Of one program. */
struct chk_counts {
    const struct emu_program *program;
    const struct isa_object *object;
    uint8_t *what;           /* [text_count] CHK_COUNT_* */
    struct chk_tally *tally; /* [text_count] */
    struct chk_scope *scopes; /* [text_count], of coverage; NULL: there are no copies */
};
enum {
    CHK_COUNT_BRANCH = 1, /* a guarded branch or exit: two ways */
    CHK_COUNT_MEMORY = 2,
    CHK_COUNT_JOIN = 4 /* where lanes meet again: not of the source, and for all of them */
};
/** What one launch did. */
struct chk_launch_counts {
    struct chk_counters *counters; /* owned */
    const struct isa_function *kernel;
    uint32_t grid, size[3], block[3]; /* grid: its sequence; 0: of all later ones */
};
enum { CHK_MOST_LAUNCHES = 1000 }; /* that are counted each for itself; later ones are one */
struct chk_counters {
    struct chk *chk;
    bool memory;    /* requests of memory, too */
    bool by_launch; /* of each launch, besides */
    struct chk_launch_counts *launches; /* in the order of their first instructions */
    size_t launch_count, launch_capacity, launch_last;
    struct chk_counts **programs, *last;
    size_t count, room;
    uint64_t address[EMU_MAX_LANES];
};
/** An instruction with a source line. */
struct chk_line_entry {
    const char *file;
    uint32_t line, index;
    const struct chk_counts *counts;
};
/** All of them, by file, line, program and index; or (@lines false) those without a line of functions that are no
 *  kernels: a compiler's own; by program and index. NULL: no memory, or (@count 0) none. */
struct chk_line_entry *chk_lines(const struct chk_counters *counters, bool lines, size_t *count);
/** Index past the entries of one line, or one @file, that begin at @from. */
size_t chk_line_end(const struct chk_line_entry *entries, size_t count, size_t from, bool file);
/** Add to a sum: its kernel is that of the earliest launch. */
void chk_tally_add(struct chk_tally *sum, const struct chk_tally *t);
/** Sums of a line's entries [from, to). */
struct chk_tally chk_line_sum(const struct chk_line_entry *entries, size_t from, size_t to);

#endif
