/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution of native code in place of handlers. An entry of native code is a layer on an instruction (emu_layers_priv.h), so a
 * chain of handlers reaches it as it reaches any handler. The native code executes instructions on the warp's registers, up to
 * one that it leaves to the interpreter, and the chain continues with that instruction.
 *
 * Warps whose lanes are all in one split and active have their own code. For all others there is masked code, which executes only
 * the running split. The interpreter executes branches that divide the split, and all instructions that release, block or merge
 * splits. If another split is ready, the masked code leaves before the end of the split's slice, so that the split policy selects
 * the next split as it does in the interpreter. If all other splits are blocked at convergence barriers, the policy has no
 * choice, and the code continues.
 *
 * While a warp is in native code, it does not rotate with the other warps of its block. This cannot change results, because only
 * order-free kernels (MACHINE 4) have native code.
 */
#include <string.h>

#include "emu/emu_next_priv.h"
#include "emu/interp/emu_layers_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/simt/emu_split_priv.h"

/* Largest number of instructions that native code executes before it leaves, so that an interruption is noticed. */
enum { LONGEST_VISIT = 1 << 20 };
/* An entry is no longer used if its visits are shorter than this on average, because each visit has to load and store
 * registers. */
enum { VISITS = 256, SHORTEST_VISIT = 16, SHORTEST_MASKED_VISIT = 8, NOT_USED = -1 };

_Static_assert((int)EMU_NATIVE_PAGE == (int)EMU_PAGE_BYTES && (int)EMU_NATIVE_DIRTY == (int)EMU_DIRTY_STORE,
               "native code uses the tables of pages");

static void end_of_pair(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_leave(w, EMU_LEAVE_BUDGET, di);
}

bool emu_native_execute(struct emu_native_frame *frame, uint32_t index)
{
    struct emu_warp *w = frame->warp;
    struct emu_dinsn pair[2] __attribute__((aligned(64)));
    const struct emu_dinsn *start = w->run_start;

    pair[0] = w->code->insn[index];
    pair[0].h = w->code->base[index];
    pair[1] = pair[0];
    pair[1].h.full = pair[1].h.part = end_of_pair;
    w->run_start = pair; /* an empty run: native code counts its instructions itself */
    w->leave = EMU_RUNNING;
    if (w->full)
        pair[0].h.full(w, &pair[0]);
    else
        pair[0].h.part(w, &pair[0]);
    const bool done = w->leave != EMU_LEAVE_FAULT;
    w->leave = EMU_RUNNING;
    w->run_start = start;
    return done;
}

bool emu_native_reach(struct emu_native_frame *frame, uint64_t offset, uint64_t bytes, bool write)
{
    struct emu_warp *w = frame->warp;
    struct emu_memory *memory = &w->core->machine->memory;
    const uint16_t *valid = write ? memory->store_valid : memory->load_valid;
    uint64_t page = offset / EMU_PAGE_BYTES, in = offset % EMU_PAGE_BYTES, left = bytes;

    if (offset >= memory->bytes || bytes > memory->bytes - offset)
        return false;
    for (; in + left > EMU_PAGE_BYTES; in = 0) {
        if (valid[page++] != EMU_PAGE_BYTES)
            return false;
        left -= EMU_PAGE_BYTES - in;
    }
    if (in + left > valid[page])
        return false;
    if (write)
        emu_memory_touch(memory, offset, bytes);
    return true;
}

bool emu_native_find(struct emu_native_frame *frame, uint32_t slot, uint64_t offset)
{
    const struct emu_warp *w = frame->warp;
    const struct emu_memory *memory = &w->core->machine->memory;
    const struct emu_alloc_record *record = emu_memory_find(memory, ISA_GLOBAL_BASE + offset);

    if (record == NULL)
        return false;
    const uint64_t low = record->address - ISA_GLOBAL_BASE;
    if (record->size_bytes == 0 || !emu_native_reach(frame, low, record->size_bytes, false))
        return false; /* the allocation was freed, or not all of it may be loaded */
    frame->window[slot] = (struct emu_native_window){low, record->size_bytes};
    return true;
}

bool emu_native_bssy(struct emu_native_frame *frame, uint32_t reg)
{
    struct emu_warp *w = frame->warp;

    if (emu_split_bssy_frees(w, reg, w->m))
        return false;
    emu_split_bssy(w, reg, w->m);
    return true;
}

bool emu_native_bsync(struct emu_native_frame *frame, uint32_t reg, uint64_t retired)
{
    struct emu_warp *w = frame->warp;

    return emu_split_bsync_uncontended(w, reg, w->m, w->retired + retired + 1);
}

/** Returns true if the running split would be selected again at the end of its slice, because all other splits are blocked at
 *  convergence barriers. */
static bool no_choice(const struct emu_warp *w)
{
    return (w->split_ids & ~w->split_in[EMU_SPLIT_BLOCKED]) == split_bit((unsigned)w->running);
}

/** Runs native code from entry @entry until it leaves. Returns the number of instructions that it executed, and sets *@next to
 *  the index of the next instruction. */
static uint64_t visit(struct emu_warp *w, struct emu_native_form *form, unsigned entry, uint32_t *next)
{
    struct emu_core *core = w->core;
    struct emu_memory *memory = &core->machine->memory;
    struct emu_block *block = w->block;
    const uint64_t left = core->native.until - core->retired;
    struct emu_native_frame frame = {
        .regs = w->regs, .s = w->s, .p = w->p, .sp = w->sp, .special = block->special,
        .bank0 = w->ubase[EMU_U_BANK0], .global = memory->host, .global_bytes = memory->bytes,
        .load_valid = memory->load_valid, .store_valid = memory->store_valid, .dirty = memory->dirty,
        .shared = block->shared, .shared_bytes = block->shared_bytes, .window = core->native.window,
        .uniform = core->native.uniform,
        .limit = left < LONGEST_VISIT ? left : LONGEST_VISIT, .mask = w->m, .alone = w->split_count == 1, .warp = w};
    const uint32_t shortest = form == &core->native.whole ? SHORTEST_VISIT : SHORTEST_MASKED_VISIT;

    if (!frame.alone && !no_choice(w) && w->budget < (int64_t)frame.limit)
        frame.limit = (uint64_t)w->budget;
    form->kernel->run(&frame, entry);
    const struct emu_native_site *site = &form->kernel->site[frame.site];
    frame.retired += site->retired;
    frame.loads += site->loads;
    frame.stores += site->stores;
    core->native.retired += frame.retired;
    struct emu_native_gain *gain = &form->gain[entry];
    gain->instructions += (uint32_t)frame.retired;
    if (++gain->visits == VISITS) {
        gain->instructions = gain->instructions < VISITS * shortest ? (uint32_t)NOT_USED : 0;
        gain->visits = 0;
    }
    core->stats.loads += frame.loads;
    core->stats.stores += frame.stores;
    block->progress += frame.stores != 0;
    *next = site->next;
    return frame.retired;
}

void emu_native_handler(struct emu_warp *w, const struct emu_dinsn *di)
{
    struct emu_core *core = w->core;
    struct emu_native_form *form = w->m == w->all && w->split_count == 1 ? &core->native.whole : &core->native.masked;
    const struct emu_native_kernel *kernel = form->kernel;

    if (kernel == NULL && !core->native.masked_done)
        core->native.requests++;
    if (kernel != NULL && core->native.until > core->retired && w->e == w->m && !w->stepped && !w->parts &&
        di->index - kernel->first < kernel->count) {
        const unsigned entry = kernel->entry[di->index - kernel->first];
        uint32_t next = di->index;
        uint64_t count = 0;
        if (entry != 0 && form->gain[entry - 1].instructions != (uint32_t)NOT_USED) {
            if (di > w->run_start)
                emu_count_before(w, di);
            w->run_start = di;
            count = visit(w, form, entry - 1, &next);
        }
        if (count != 0) {
            const struct emu_dinsn *t = w->code->insn + next;
            w->retired += count;
            w->lane_retired += count * w->m_count;
            w->budget = (int64_t)count < w->budget ? w->budget - (int64_t)count : 0;
            w->run_start = t;
            memset(w->proved, 0, sizeof w->proved);
            if (t->run > w->budget)
                EMU_TAIL emu_slice_expired(w, t);
            EMU_GO(w, t);
        }
    }
    const struct emu_handlers below = emu_code_below(w->code, di->index, EMU_LAYER_NATIVE);
    if (w->full)
        EMU_TAIL below.full(w, di);
    EMU_TAIL below.part(w, di);
}
