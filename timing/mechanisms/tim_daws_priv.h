/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divergence-aware warp scheduling, in two parts: what loops need of L1, as their sampling warps find or
 * a profile says (tim_daws_predict.c); who is in which loop, and who may load (tim_daws.c). Source: the warp scheduling thesis 5.
 * Loops and loads are named by their pc.
 */
#ifndef TIM_DAWS_PRIV_H
#define TIM_DAWS_PRIV_H

#include "timing/mechanisms/tim_profile_priv.h"
#include "timing/tables/tim_vta_priv.h"

enum { TIM_DAWS_WAYS = 8 };

/** A row of the static load classification table. */
struct tim_daws_load {
    uint64_t loop, pc;  /* the innermost loop around it; the load */
    int8_t div;         /* DivCount: diverged executions less converged ones */
    bool is_div;
    uint16_t rep;       /* RepID: loads of one number touch the same lines */
};
/** A row of the sampling warp table. */
struct tim_daws_sample {
    uint64_t loop;
    int warp;           /* slot; -1: none */
    int8_t locality;    /* HasLocality */
    uint64_t instruction; /* the load that is under way: */
    bool found;         /* one of its accesses has hit a line that the warp brought, or lost */
    uint64_t line[TIM_LINES_MOST];
};
/** An entry of the intra-loop repetition detector. */
struct tim_daws_repeat {
    uint64_t tag, pc;   /* 1 + line; who touched it first */
    int warp;
};
struct tim_daws_tables {
    const struct tim_config *config;
    uint64_t *count;    /* the core's counters */
    unsigned loads, samples;
    uint16_t next_rep;
    struct tim_daws_load *load;     /* [config->daws_loads] */
    struct tim_daws_sample *sample; /* [config->daws_loops] */
    struct tim_daws_repeat *repeat; /* [config->daws_repeats], a set from the youngest to the oldest */
};

/** False: no memory; tim_daws_tables_fini() then, too. */
bool tim_daws_tables_init(struct tim_daws_tables *t, const struct tim_mech_core *core);
void tim_daws_tables_fini(struct tim_daws_tables *t);
void tim_daws_tables_clear(struct tim_daws_tables *t);
/** Fills in what a profile has of a loop: its loads, and whether it has locality. Without a profile, or where the loop is
 *  known already, it does nothing. */
void tim_daws_take_profile(struct tim_daws_tables *t, const struct tim_code *code, const struct tim_loop *loop);

/** The row of a load of @loop, which it gets if it has none. NULL: there is no room. */
struct tim_daws_load *tim_daws_find_load(struct tim_daws_tables *t, uint64_t loop, uint64_t pc);
/** Is intra-warp locality known of the loop? */
bool tim_daws_has_locality(const struct tim_daws_tables *t, uint64_t loop);
/** Lines that a warp with @active lanes needs in the loop. Source: 5.3. */
unsigned tim_daws_predict(const struct tim_daws_tables *t, uint64_t loop, unsigned active);

/** @warp enters the loop, or (@enters false) begins its next iteration. */
void tim_daws_begins(struct tim_daws_tables *t, uint64_t loop, unsigned warp, unsigned lanes, bool enters);
/** It has left the loop. loop 0: all, it has ended. */
void tim_daws_leaves(struct tim_daws_tables *t, uint64_t loop, unsigned warp);
/** An access of a load in @loop. @lost: it missed, and hit the warp's victim tags. */
void tim_daws_access(struct tim_daws_tables *t, uint64_t loop, const struct tim_mech_access *a, bool lost);
/** Does @warp sample the loop? */
bool tim_daws_samples(const struct tim_daws_tables *t, uint64_t loop, unsigned warp);

/* For tests. @mech: of tim_daws. */
struct tim_daws_tables *tim_daws_tables_of(struct tim_mech *mech);
/** The entry of a warp in the footprint prediction table: the lines; to *loop its loop, 0: none. */
unsigned tim_daws_footprint(const struct tim_mech *mech, unsigned warp, uint64_t *loop);

#endif
