/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of CCWS call by name. */
#ifndef TIM_CCWS_PRIV_H
#define TIM_CCWS_PRIV_H

#include "timing/mechanisms/tim_mechanism_priv.h"

/** The score of a warp that hit its victim tags, when @hits hits were counted in @issued instructions and @warps warps
 *  live: between ccws.base_score and what ccws.score_bits hold. Source: the warp scheduling thesis 4.5. */
uint64_t tim_ccws_llds(const struct tim_config *config, uint64_t hits, uint64_t issued, unsigned warps);
/** The score of a warp slot now. @mech: of tim_ccws. */
uint64_t tim_ccws_score(const struct tim_mech *mech, unsigned warp);

#endif
