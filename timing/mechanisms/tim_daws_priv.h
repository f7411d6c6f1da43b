/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divergence-aware warp scheduling (DAWS), in two parts. tim_daws_predict.c predicts the L1 lines that a loop needs,
 * from sampled warps or a profile. tim_daws.c tracks the loop of each warp, and determines which warps may load.
 * Source: specification of the warp scheduling thesis, section 5. Loops and loads are identified by pc.
 */
#ifndef TIM_DAWS_PRIV_H
#define TIM_DAWS_PRIV_H

#include "timing/mechanisms/tim_mechanism_priv.h"
#include "timing/tables/tim_profile_priv.h"
#include "timing/tables/tim_vta_priv.h"

enum { TIM_DAWS_WAYS = 8 };

/** An entry of the static load classification table. */
struct tim_daws_load {
    uint64_t loop, pc;  /* pc of the innermost enclosing loop; pc of the load */
    int8_t div;         /* DivCount: number of divergent executions minus number of convergent executions */
    bool is_div;        /* the load is classified as divergent */
    uint16_t rep;       /* RepID: loads of a loop with the same number access the same lines */
};
/** An entry of the sampling warp table. */
struct tim_daws_sample {
    uint64_t loop;
    int warp;           /* slot of the sampled warp, or -1 if there is none */
    int8_t locality;    /* HasLocality of the source: the loop has intra-warp locality if this is above 0 */
    uint64_t instruction; /* number of the load that is making its accesses */
    bool found;         /* an access of this load hit a line that the warp had requested, or missed a line of the
                         * warp that L1 had evicted */
    uint64_t line[TIM_LINES_MOST]; /* lines of this load's accesses so far */
};
/** An entry of the intra-loop repetition detector. */
struct tim_daws_repeat {
    uint64_t tag, pc;   /* tag: 1 + number of the line; pc: the load that first accessed the line in the iteration */
    int warp;           /* slot of the warp */
};
struct tim_daws_tables {
    const struct tim_config *config;
    uint64_t *count;    /* the core's counters */
    unsigned loads, samples; /* number of used elements of `load` and `sample` */
    uint16_t next_rep;       /* RepID of the next new load */
    struct tim_daws_load *load;     /* [config->daws_loads] */
    struct tim_daws_sample *sample; /* [config->daws_loops] */
    struct tim_daws_repeat *repeat; /* [config->daws_repeats] each set is sorted from the youngest entry to the oldest */
};

/** Creates empty tables. Returns false if memory is short. The caller must call tim_daws_tables_fini() in any case. */
bool tim_daws_tables_init(struct tim_daws_tables *t, const struct tim_mech_core *core);
void tim_daws_tables_fini(struct tim_daws_tables *t);
void tim_daws_tables_clear(struct tim_daws_tables *t);
/** Adds a loop to the tables, with its loads and its locality from the profile. Does nothing if there is no profile or if the
 *  tables already have the loop. */
void tim_daws_take_profile(struct tim_daws_tables *t, const struct tim_code *code, const struct tim_loop *loop);

/** Returns the entry of the load at @pc in @loop, or NULL if the table is full. Adds the entry if the load has none. */
struct tim_daws_load *tim_daws_find_load(struct tim_daws_tables *t, uint64_t loop, uint64_t pc);
/** Returns whether sampling or the profile has shown that the loop has intra-warp locality. */
bool tim_daws_has_locality(const struct tim_daws_tables *t, uint64_t loop);
/** Returns the number of lines that a warp with @active lanes needs in the loop. Source: section 5.3. */
unsigned tim_daws_predict(const struct tim_daws_tables *t, uint64_t loop, unsigned active);

/** Called when @warp enters the loop or, if @enters is false, begins its next iteration. */
void tim_daws_begins(struct tim_daws_tables *t, uint64_t loop, unsigned warp, unsigned lanes, bool enters);
/** Called when @warp has left @loop. If @loop is 0, the warp has ended and has thus left all loops. */
void tim_daws_leaves(struct tim_daws_tables *t, uint64_t loop, unsigned warp);
/** Called for an access of a load in @loop. @lost: the access missed L1, but its line is among the warp's victim tags. */
void tim_daws_access(struct tim_daws_tables *t, uint64_t loop, const struct tim_mech_access *a, bool lost);
/** Returns whether @warp is the sampled warp of the loop. */
bool tim_daws_samples(const struct tim_daws_tables *t, uint64_t loop, unsigned warp);

/* Returns the tables of mechanism @mech, which is a tim_daws; for tests. */
struct tim_daws_tables *tim_daws_tables_of(struct tim_mech *mech);
/** Returns the number of lines in a warp's entry of the footprint prediction table, and sets *loop to the loop of the entry,
 *  or to 0 if the entry has no loop. */
unsigned tim_daws_footprint(const struct tim_mech *mech, unsigned warp, uint64_t *loop);

#endif
