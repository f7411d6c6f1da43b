/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile of the loads of a run's kernels. Mechanism `loads` counts the events of each load, and member "loads" of a
 * timing report contains the counts. A later run reads the profile from that report (tim_config_set_profile()).
 */
#ifndef TIM_PROFILE_PRIV_H
#define TIM_PROFILE_PRIV_H

#include "timing/decode/tim_static_priv.h"

/** Counters of a load: name in reports, and meaning. */
#define TIM_LOAD_COUNTERS(X)                                                                       \
    X(executions, "warp instructions whose accesses use L1")                                      \
    X(lanes, "active lanes, summed over executions")                                                      \
    X(wide, "executions with more than 2 lanes")                                                   \
    X(diverged, "executions with more than 2 lanes and more than 2 accesses")                                  \
    X(accesses, "accessed lines")                                                                           \
    X(hits_own, "accesses that hit a line that the same warp requested")                             \
    X(hits_other, "accesses that hit a line that another warp requested")                            \
    X(merges, "accesses to a line that was already requested")                                             \
    X(misses, "accesses that missed")                                                              \
    X(this_trip, "accesses to a line that the warp touched in the current iteration of the loop")         \
    X(last_trip, "accesses to a line that the warp last touched in the preceding iteration")          \
    X(earlier, "accesses to a line that the warp last touched in an earlier iteration")                        \
    X(reuses, "executions with an access that this_trip, last_trip or hits_own counts")
enum tim_load_counter {
#define X(name, help) TIM_LOAD_##name,
    TIM_LOAD_COUNTERS(X)
#undef X
    TIM_LOAD_COUNT
};

/** A load in a profile. The load is identified by its function and its byte offset in the function. */
struct tim_profile_load {
    char *function; /* symbol of the function; owned */
    uint64_t offset;
    uint64_t loop;  /* byte offset, in the function, of the start of the innermost enclosing loop, or UINT64_MAX if none */
    uint64_t count[TIM_LOAD_COUNT];
};
struct tim_profile {
    unsigned users;   /* number of configurations that refer to the profile */
    char *name;       /* file name of the report */
    struct tim_profile_load *load; /* [count] */
    size_t count;
};
/** Returns the name of the function that contains the instruction at @pc, and sets *offset to the byte offset of the
 *  instruction in the function. */
const char *tim_code_location(const struct tim_code *code, uint64_t pc, uint64_t *offset);

#endif
