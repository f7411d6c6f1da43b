/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of native code: parts that handlers (emu_native.c) and the engine (emu_native_blocks.c) share. */
#ifndef EMU_NATIVE_PRIV_H
#define EMU_NATIVE_PRIV_H

#include "emu/emu_machine_priv.h"
#include "emu/simt/emu_split_priv.h"

/* EMU_NATIVE_LONGEST_VISIT: largest number of instructions that native code executes before it leaves, so that the engine notices
 * an interruption. EMU_NATIVE_NOT_USED: value of emu_native_gain.instructions of an entry that is not used any more. */
enum { EMU_NATIVE_LONGEST_VISIT = 1 << 20, EMU_NATIVE_NOT_USED = -1 };

/** Sets the members of the core's frame that differ between warps, and returns the frame. */
static inline struct emu_native_frame *emu_native_frame_of(struct emu_warp *w)
{
    struct emu_core_native *native = &w->core->native;
    struct emu_native_frame *frame = &native->frame;
    const uint64_t left = native->until > w->core->retired ? native->until - w->core->retired : 0;

    frame->regs = w->regs;
    frame->s = w->s;
    frame->p = w->p;
    frame->sp = w->sp;
    frame->uniform = native->uniform + (size_t)w->index * native->uniform_stride;
    frame->limit = left < EMU_NATIVE_LONGEST_VISIT ? left : EMU_NATIVE_LONGEST_VISIT;
    frame->mask = w->m;
    frame->first_thread = w->index * w->width;
    frame->alone = w->split_count == 1;
    frame->divides = native->divides && w->running == 0; /* after a division and a merge the interpreter's split has the lowest id */
    frame->local = w->local;
    frame->local_bytes = w->local_bytes;
    frame->loads = frame->stores = frame->local_stores = frame->atomics = frame->changes = 0;
    frame->divided = frame->ended = frame->gone = 0;
    frame->warps = 0;
    frame->site = 0;
    frame->warp = w;
    return frame;
}

/** Runs native code until it leaves. @entry: as in emu_native_kernel.run. The frame's limit is set. Returns the site at which the
 *  code left. frame->retired is the number of instructions that it executed. */
const struct emu_native_site *emu_native_run(struct emu_core *core, const struct emu_native_form *form, uint32_t entry);
/** Called when code of @kernel has left at @site, and has divided the warp during the visit. If the warp is still divided
 *  (the running lanes are not all lanes of the split), creates its splits, one of which runs. Adds the frame's counts of divergences and
 *  merges to the statistics. Returns the sum of emu_native_frame.missing and of the instructions of @site that lanes have missed.
 *  Called before the instructions of the visit are added to w->retired. */
uint64_t emu_native_divided(struct emu_warp *w, const struct emu_native_kernel *kernel, const struct emu_native_site *site);
/** Counts a visit of entry @entry, in which native code executed @count instructions. @cheap: 0, 1 or 2: at how many of the
 *  visit's start and end native code loads or stores only few registers. Such a visit pays with fewer instructions. */
void emu_native_count_visit(const struct emu_core *core, struct emu_native_form *form, unsigned entry, uint64_t count, unsigned cheap);
/** Stores all registers of parked warp @w to its register file. */
void emu_native_unpark_warp(struct emu_warp *w);

#endif
