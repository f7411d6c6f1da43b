/* SPDX-License-Identifier: Apache-2.0 */
/* The compaction-adequacy predictor (CAPRI): a direct-mapped table with a saturating counter for each branch. The counter
 * predicts whether compaction of the warps of a block at the branch reduces the number of warps. */
#ifndef TIM_ADEQUACY_PRIV_H
#define TIM_ADEQUACY_PRIV_H

#include "base/lw.h"

struct tim_adequacy_row {
    uint64_t pc;    /* 0: the table row is empty */
    unsigned count; /* saturating counter */
};
struct tim_adequacy {
    unsigned rows;          /* 0: there is no table */
    unsigned initial, most; /* first and largest value of a counter; a count above most / 2 predicts that compaction helps */
    struct tim_adequacy_row *row;
};
/** Creates an empty table. A counter has @bits bits, and predicts @adequate before it is trained. Returns false if memory is
 *  short. */
bool tim_adequacy_init(struct tim_adequacy *table, unsigned rows, unsigned bits, bool adequate) LW_MUST_CHECK;
void tim_adequacy_fini(struct tim_adequacy *table);
/** Returns the index of the table row that the branch at @pc uses. */
unsigned tim_adequacy_row(const struct tim_adequacy *table, uint64_t pc);
/** Returns whether compaction at the branch at @pc is predicted to help. A branch without a table row has the initial
 *  prediction. */
bool tim_adequacy_predicts(const struct tim_adequacy *table, uint64_t pc);
/** Records in the table row of the branch at @pc whether compaction helps. If the table row belongs to another branch, replaces
 *  that branch. Returns whether a prediction may have changed. */
bool tim_adequacy_train(struct tim_adequacy *table, uint64_t pc, bool helps);

#endif
