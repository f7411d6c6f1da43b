/* SPDX-License-Identifier: Apache-2.0 */
/* Random kernels and random debugger sessions, for the tests of replay and history. */
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

/** Create a program with nested divergent ifs and loops, barriers of all kinds, atomics, shared and local memory, clocks,
 *  sleeps, member masks and launches. The program always ends. The caller frees it with lw_buffer_fini.
 *  random_config() creates the options of the machine. */
void random_kernel(struct rnd *r, struct lw_buffer *text);
void random_config(struct rnd *r, struct emu_config *config);

/** Execute the next step of the host: a launch, sometimes after an allocation, a write or a release. Equal states of @r
 *  give equal steps. Return false when the host has made @launches launches. */
bool random_host(struct fix *fix, struct rnd *r, unsigned *launch, unsigned launches);

/** Select a random live split of a random resident warp. Return false if no warp is resident. */
bool random_location(struct fix *fix, struct rnd *r, struct emu_thread_ref *place,
                  struct emu_core **core, unsigned *slot);

/** Execute one random action of a debugger: a run of some instructions, a step of a warp, of a split or of a part of a
 *  split, a rotation of the other warps, a selection of the next warp, or, if @edits is set, an edit. */
struct emu_stop random_operation(struct fix *fix, struct rnd *r, bool edits);

#endif
