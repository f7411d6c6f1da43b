/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of CCWS that tests and mechanism dynpcal call. */
#ifndef TIM_CCWS_PRIV_H
#define TIM_CCWS_PRIV_H

#include "timing/mechanisms/tim_mechanism_priv.h"

/** Returns the score that a warp gets at a hit in its victim tags (called LLDS in the source). @hits, @issued: numbers of hits
 *  and of instructions so far; @warps: number of live warps. The score is at least ccws.base_score and fits into
 *  ccws.score_bits. Source: specification of the warp scheduling thesis, section 4.5. */
uint64_t tim_ccws_llds(const struct tim_config *config, uint64_t hits, uint64_t issued, unsigned warps);
/** Returns the current score of the warp in a slot. @mech must be of mechanism tim_ccws. */
uint64_t tim_ccws_score(const struct tim_mech *mech, unsigned warp);
/** Returns the number of warps that may load now according to the scores of all warps. @mech must be of mechanism
 *  tim_ccws. */
unsigned tim_ccws_allowed(struct tim_mech *mech);
/** Returns the victim tags. @mech must be of mechanism tim_ccws. */
struct tim_vta *tim_ccws_victim_tags(struct tim_mech *mech);
/** Returns whether ccws may throttle warps in cycle @now. The result is false while mechanism dynpcal limits the warps
 *  instead of ccws. */
bool tim_dynpcal_lets_ccws_throttle(const struct tim_config *config, uint64_t now);

#endif
