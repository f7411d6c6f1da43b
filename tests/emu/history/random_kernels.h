/* SPDX-License-Identifier: Apache-2.0 */
/* Random kernels and random sessions of a debugger, for the tests of replay and history. */
#ifndef RANDOM_KERNELS_H
#define RANDOM_KERNELS_H

#include "tests/emu/history/history_fixture.h"

struct rnd {
    uint64_t state;
};
uint64_t rnd_next(struct rnd *r);
static inline unsigned rnd_below(struct rnd *r, unsigned n)
{
    return (unsigned)((rnd_next(r) >> 33) % n);
}

/** Options and a program: nested divergent ifs and loops, barriers of all kinds, atomics, shared
 *  and local memory, clocks, sleeps, member masks, launches. It always ends. Frees with lw_buffer_fini. */
void random_kernel(struct rnd *r, struct lw_buffer *text);
void random_config(struct rnd *r, struct emu_config *config);

/** The host's next step: launches, and sometimes allocates, writes and frees in between. The
 *  same steps for equal @r. False when it has done @launches. */
bool random_host(struct fix *fix, struct rnd *r, unsigned *launch, unsigned launches);

/** A live split of any resident warp; false: nothing is resident. */
bool random_location(struct fix *fix, struct rnd *r, struct emu_thread_ref *place,
                  struct emu_core **core, unsigned *slot);

/** One thing that a debugger does: a run of some instructions, a step of any warp, split or
 *  part of it, a rotation of the others, a selection, an edit. */
struct emu_stop random_operation(struct fix *fix, struct rnd *r, bool edits);

#endif
