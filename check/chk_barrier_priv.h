/* SPDX-License-Identifier: Apache-2.0 */
/* CTA barriers and masks that are complete although not all lanes came to one and the same place. */
#ifndef CHK_BARRIER_PRIV_H
#define CHK_BARRIER_PRIV_H

#include "check/chk_priv.h"

struct chk_barrier;
/** NULL: no memory. */
struct chk_barrier *chk_barrier_create(struct chk *chk);
void chk_barrier_destroy(struct chk_barrier *barrier);
/** Barriers, cross-lane operations and exits: the tap's, of those that chk_barrier_wants. */
bool chk_barrier_wants(const struct chk_barrier *barrier, const struct isa_insn *insn);
void chk_barrier_insn(struct chk_barrier *barrier, const struct emu_tap_site *site);
void chk_barrier_block(struct chk_barrier *barrier, struct emu_core *core, unsigned slot);
void chk_barrier_cta(struct chk_barrier *barrier, struct emu_core *core, unsigned slot,
                     unsigned id);
/** Lanes of a warp, each other's members, have met. */
void chk_barrier_warpsync(struct chk_barrier *barrier, struct emu_core *core, unsigned slot,
                          unsigned warp, uint64_t lanes);

#endif
