/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the values of the variables of a launch file's kernels, line by line, for each lane. For a build with all
 * variables in memory (the reference) the values are taken from the build's stores. For any other build they are the
 * values that the debugger shows.
 *
 * A lane visits a line when it executes an instruction of the line, and the instruction that it executed before
 * belongs to another line or another call. Instructions with a false guard do not count. The recorded state is that
 * before the instruction, at which a breakpoint on the line stops.
 */
#ifndef VALUES_TRACE_H
#define VALUES_TRACE_H

#include "debug/expr/dbg_expr_priv.h"
#include "launch/launch.h"

/** Returns @memory. If @memory is NULL, ends the program. */
void *values_need(void *memory);

/** A hash table from 64-bit keys to 64-bit values. */
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

/** Assigns a number to each text. All compared runs use the same numbers. */
struct values_names {
    struct lw_arena arena;
    struct values_table ids;
    const char **text; /* [id] */
    bool *pointer;     /* [id]: the variable has pointed to memory that has another address in another build */
    uint32_t count, capacity;
};
uint32_t values_name(struct values_names *names, const char *text);
void values_names_init(struct values_names *names);
void values_names_fini(struct values_names *names);

/** A value that the debugger showed. */
struct values_shown {
    uint64_t thread, value; /* thread: the warp's id * 64 + lane */
    uint32_t variable;      /* name: "kernel>12:5 function|x#10.member", calls by line and column */
    uint32_t visit, nth;    /* name: "kernel>12:5 function@14"; nth 0: between visits */
    uint32_t insn;
    bool outer;             /* the variable is in an outer frame of the inlined call */
    bool memory;            /* the variable is in local memory, which may not be written yet */
};

/** The data that a run recorded. */
struct values_trace {
    struct values_names *names; /* borrowed */
    /* number of visits, by thread and visit name */
    struct values_table visits;
    /* time of a visit as a count of the thread's visits, by thread, visit name and number of the visit */
    struct values_table when;
    struct values_visit { /* all visits in order */
        uint64_t thread;
        uint32_t visit, nth;
    } *order;
    size_t order_count, order_capacity;
    /* These tables are filled only for the reference. `at`: value of an initialised variable, by thread, visit name, number
     * of the visit and variable. `had`: the variable had this value, by thread, variable and value. `known`: the variable
     * exists, by variable. */
    struct values_table at, had, known;
    /* The members below are filled for other builds. */
    struct values_shown *shown;
    size_t count, capacity;
    uint64_t requested, unreadable; /* unreadable: the variable has a location, but its value cannot be read */
    bool complete; /* all recorded blocks ran to their ends */
    uint8_t *results; /* the buffer `out`, or NULL; on the heap */
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
    const char *launch, *compiler; /* compiler NULL: the default one */
    const char *flags[4];
    unsigned flag_count;
    bool reference;    /* compiled for a debugger, with -O0 -g */
    bool steps;        /* record values between visits, too, in one lane at a time */
    unsigned blocks;   /* number of blocks of each launch that are recorded */
    uint64_t lanes;    /* lanes of these blocks' warps that are recorded */
    uint64_t most;     /* maximum number of instructions of the recorded warps */
    uint64_t corrupt;    /* not 0: exchange the locations of two variables, which this number selects */
    uint64_t seed;
};
/** Run a launch file to its end and record. Errors: the errors of lnc_session_create; LW_ESTATE for a fault. */
enum lw_status values_trace_make(const struct values_options *options, struct values_names *names,
                                 struct values_trace *out, struct lw_error *err) LW_MUST_CHECK;

#endif
