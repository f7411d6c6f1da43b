/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the variables of a launch file's kernels, line by line, for each lane. For a build with all
 * variables in memory (the reference) they come from its stores; for any other build they are those that the
 * debugger shows.
 *
 * A lane visits a line when it executes an instruction of it (effectively: not where its guard is false) and
 * the one that it executed before was of another line, or of another call. What counts is the state before that
 * instruction, where a breakpoint on the line stops.
 */
#ifndef VALUES_TRACE_H
#define VALUES_TRACE_H

#include "debug/expr/dbg_expr_priv.h"
#include "launch/launch.h"

/** @memory; NULL ends the program. */
void *values_need(void *memory);

/** Numbers by a 64-bit key. */
struct values_table {
    uint64_t *key, *value;
    size_t count, capacity;
};
/** The value of @key, 0 if it is new. */
uint64_t *values_table_at(struct values_table *table, uint64_t key);
/** NULL: it is not there. */
const uint64_t *values_table_find(const struct values_table *table, uint64_t key);
void values_table_free(struct values_table *table);
uint64_t values_mix(uint64_t a, uint64_t b);

/** Numbers of texts, the same for all runs that are compared. */
struct values_names {
    struct lw_arena arena;
    struct values_table ids;
    const char **text; /* [id] */
    bool *pointer;     /* [id]: it has pointed to memory that is elsewhere in another build */
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
    bool outer;             /* in an outer frame of the inlined call */
    bool memory;            /* it is in local memory, which may not be written yet */
};

/** What a run recorded. */
struct values_trace {
    struct values_names *names; /* borrowed */
    /* Of a thread and a visit: how often it was there. */
    struct values_table visits;
    /* Of a thread, a visit and which time: when, by a count of the thread's visits. */
    struct values_table when;
    struct values_visit { /* all of them in order */
        uint64_t thread;
        uint32_t visit, nth;
    } *order;
    size_t order_count, order_capacity;
    /* The reference alone. Of a thread, a visit, which time, and a variable: its value, if it was
     * initialised. Of a thread, a variable and a value: it had that. Of a variable: it exists. */
    struct values_table at, had, known;
    /* Others. */
    struct values_shown *shown;
    size_t count, capacity;
    uint64_t requested, unreadable; /* unreadable: there is a place, but nothing can be read */
    bool complete; /* all recorded blocks ran to their ends */
    uint8_t *results; /* the buffer `out`, if there is one; heap */
    uint64_t result_bytes;
    unsigned corrupted; /* places that were changed in the object */
};
uint64_t values_visits_key(uint64_t thread, uint32_t visit);
uint64_t values_when_key(uint64_t thread, uint32_t visit, uint32_t nth);
uint64_t values_at_key(uint64_t thread, uint32_t visit, uint32_t nth, uint32_t variable);
uint64_t values_had_key(uint64_t thread, uint32_t variable, uint64_t value);
uint64_t values_known_key(uint32_t variable);
void values_trace_free(struct values_trace *trace);

struct values_options {
    const char *launch, *compiler; /* compiler NULL: the usual */
    const char *flags[4];
    unsigned flag_count;
    bool reference;    /* compiled for a debugger, -O0 -g */
    bool steps;        /* what is shown between visits, too, in one lane at a time */
    unsigned blocks;   /* of each launch are recorded, */
    uint64_t lanes;    /* these lanes of their warps */
    uint64_t most;     /* instructions of warps in them; then no more is recorded */
    uint64_t corrupt;    /* not 0: interchange the places of two variables, chosen by this number */
    uint64_t seed;
};
/** Run a launch file to its end and record. Errors: as lnc_session_create; LW_ESTATE for a fault. */
enum lw_status values_trace_make(const struct values_options *options, struct values_names *names,
                                 struct values_trace *out, struct lw_error *err) LW_MUST_CHECK;

#endif
