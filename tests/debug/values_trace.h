/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the values of the variables of a launch file's kernels, line by line, for each lane. In the reference, a build with all
 * variables in memory, the values are taken from the stores of the code. In any other build, the values are those that the
 * debugger shows.
 *
 * A lane visits a line when it executes an instruction of the line, and the preceding instruction that it executed belongs to
 * another line or another call. Instructions at which no breakpoint can stop do not count. Instructions with a false guard do not
 * count, except branches. The recorded state is the state before the instruction, because a breakpoint on the line stops there.
 */
#ifndef VALUES_TRACE_H
#define VALUES_TRACE_H

#include "debug/expr/dbg_expr_priv.h"
#include "launch/launch.h"

/** Returns @memory. If @memory is NULL, ends the program. */
void *values_need(void *memory);

/** A hash table that maps 64-bit keys to 64-bit values. */
struct values_table {
    uint64_t *key, *value;
    size_t count, capacity;
};
/** Returns a pointer to the value of @key. A new key is added with the value 0. */
uint64_t *values_table_at(struct values_table *table, uint64_t key);
/** Returns a pointer to the value of @key, or NULL if the table does not contain the key. */
const uint64_t *values_table_find(const struct values_table *table, uint64_t key);
void values_table_free(struct values_table *table);
uint64_t values_mix(uint64_t a, uint64_t b);

/** Assigns a number, the id, to each name of a variable or visited line. All compared runs use the same numbers. */
struct values_names {
    struct lw_arena arena;
    struct values_table ids;
    const char **text; /* by id: the name */
    bool *pointer;     /* by id: whether the variable has pointed to memory whose address may differ in another build */
    uint32_t count, capacity;
};
uint32_t values_name(struct values_names *names, const char *text);
void values_names_init(struct values_names *names);
void values_names_fini(struct values_names *names);

/** A value that the debugger showed. */
struct values_shown {
    uint64_t thread, value; /* thread: the warp's id * 64 + lane */
    uint32_t variable;      /* id of a name such as "kernel>12:5 function|x#10.member": calls by line and column, and the
                             * variable with the line of its declaration */
    uint32_t visit, nth;    /* visit: id of a name such as "kernel>12:5 function@14", the visited line. nth: number of the visit,
                             * or 0 if the value was shown between visits */
    uint32_t insn;
    bool outer;             /* the variable is in an outer frame of an inlined call */
    bool memory;            /* the variable is in local memory, which may be uninitialised */
};

/** The data that a run recorded. */
struct values_trace {
    struct values_names *names; /* borrowed */
    /* by thread and visited line: number of visits */
    struct values_table visits;
    /* by thread, visited line and number of the visit: time of the visit, as a count of all visits of the thread */
    struct values_table when;
    struct values_visit { /* all visits in order */
        uint64_t thread;
        uint32_t visit, nth;
    } *order;
    size_t order_count, order_capacity;
    /* These tables are filled only for the reference. `at` contains the values of initialised variables by thread, visited line,
     * number of the visit and variable. `had` contains 1 by thread, variable and value if the variable ever had this value.
     * `known` contains 1 by variable if the variable exists. `assigned` contains the last value that a visit assigns, by the
     * same keys as `at`. */
    struct values_table at, had, known, assigned;
    /* The members below are filled for other builds. */
    struct values_shown *shown;
    size_t count, capacity;
    uint64_t requested, unreadable; /* number of values requested from the debugger, and of values that have a location but cannot
                                     * be read */
    bool complete; /* all recorded blocks ran to their ends */
    uint8_t *results; /* contents of the buffer `out` on the heap, or NULL if there is no such buffer */
    uint64_t result_bytes;
    unsigned corrupted; /* number of locations that were changed in the object */
};
uint64_t values_visits_key(uint64_t thread, uint32_t visit);
uint64_t values_when_key(uint64_t thread, uint32_t visit, uint32_t nth);
uint64_t values_at_key(uint64_t thread, uint32_t visit, uint32_t nth, uint32_t variable);
uint64_t values_had_key(uint64_t thread, uint32_t variable, uint64_t value);
uint64_t values_known_key(uint32_t variable);
void values_trace_free(struct values_trace *trace);

struct values_options {
    const char *launch, *compiler; /* path of the launch file; compiler, or NULL for the default one */
    const char *flags[4];
    unsigned flag_count;
    bool reference;    /* compiled for a debugger, with -O0 -g */
    bool steps;        /* values are also recorded between visits, in one lane at a time */
    unsigned blocks;   /* number of blocks of each launch that are recorded */
    uint64_t lanes;    /* mask of the recorded lanes of each warp of these blocks */
    uint64_t most;     /* maximum number of instructions of the recorded warps */
    uint64_t corrupt;  /* if not 0: seed that selects two variables whose locations are exchanged */
    uint64_t seed;
};
/** Runs a launch file to its end and stores the recorded data in @out. Errors: those of lnc_session_create(), and LW_ESTATE for a
 *  fault. */
enum lw_status values_trace_make(const struct values_options *options, struct values_names *names,
                                 struct values_trace *out, struct lw_error *err) LW_MUST_CHECK;

#endif
