/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution of native code in place of handlers. An entry of native code is a layer on an instruction (emu_layers_priv.h), so a
 * handler chain reaches it as it reaches any handler. The native code executes instructions on the warp's registers until it
 * reaches an instruction that it leaves to the interpreter. The chain continues with that instruction.
 *
 * One form of code is for warps whose lanes are all active and in one split. For all other warps there is masked code, which
 * executes only the running split. If the warp has other splits, the interpreter executes branches that divide the split, and all
 * instructions that release, block or merge splits. If another split is ready, masked code returns to the interpreter before the
 * end of the split's time slice, so that the split policy selects the next split as without native code. If all other splits are
 * blocked at convergence barriers, the policy has no choice, and the code continues.
 *
 * While a warp executes native code, its time slice does not end. The order of the warps cannot change results, because only
 * order-free kernels (MACHINE 4) have native code.
 */
#include <string.h>

#include "emu/emu_next_priv.h"
#include "emu/interp/emu_layers_priv.h"
#include "emu/interp/emu_native_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/simt/emu_split_priv.h"

/* After each VISITS visits of an entry, the average number of instructions in a visit is computed. If the average is below
 * SHORTEST_VISIT or SHORTEST_MASKED_VISIT, the entry is no longer used, because each visit must load and store registers. */
enum { VISITS = 256, SHORTEST_VISIT = 16, SHORTEST_MASKED_VISIT = 8 };

_Static_assert((int)EMU_NATIVE_PAGE == (int)EMU_PAGE_BYTES && (int)EMU_NATIVE_DIRTY == (int)EMU_DIRTY_STORE,
               "native code uses the tables of pages");

static void end_of_pair(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_leave(w, EMU_LEAVE_BUDGET, di);
}

static bool native_execute(struct emu_native_frame *frame, uint32_t index)
{
    struct emu_warp *w = frame->warp;
    struct emu_dinsn pair[2] __attribute__((aligned(64)));
    const struct emu_dinsn *start = w->run_start;

    pair[0] = w->code->insn[index];
    pair[0].h = w->code->base[index];
    pair[1] = pair[0];
    pair[1].h.full = pair[1].h.part = end_of_pair;
    w->run_start = pair; /* an empty straight-line run, because native code counts its instructions itself */
    w->leave = EMU_RUNNING;
    const uint64_t lanes = w->m;
    if (frame->mask != lanes) /* native code has divided the warp */
        emu_warp_set_lanes(w, frame->mask);
    if (w->full)
        pair[0].h.full(w, &pair[0]);
    else
        pair[0].h.part(w, &pair[0]);
    if (w->m != lanes)
        emu_warp_set_lanes(w, lanes);
    const bool done = w->leave != EMU_LEAVE_FAULT;
    w->leave = EMU_RUNNING;
    w->run_start = start;
    return done;
}

static bool native_reach(struct emu_native_frame *frame, uint64_t offset, uint64_t bytes, bool write)
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

static bool native_load(struct emu_native_frame *frame, uint32_t slot, uint64_t offset, uint64_t bytes)
{
    const struct emu_warp *w = frame->warp;
    const struct emu_alloc_record *record = emu_memory_find(&w->core->machine->memory, ISA_GLOBAL_BASE + offset);

    if (!native_reach(frame, offset, bytes, false))
        return false;
    if (record != NULL && record->size_bytes >= bytes &&
        native_reach(frame, record->address - ISA_GLOBAL_BASE, record->size_bytes, false))
        frame->window[slot] = (struct emu_native_window){record->address - ISA_GLOBAL_BASE, record->size_bytes - bytes + 1};
    return true;
}

static bool is_marked(const struct emu_memory *memory, uint64_t page)
{
    return __atomic_load_n(&memory->dirty[page], __ATOMIC_RELAXED) == EMU_DIRTY_STORE;
}

/** Sets the window of a store, whose lanes are in pages [@first, @end) of allocation @record, to a larger range of pages of the
 *  allocation, all of which are marked as written. Leaves the window as it is if not all of these pages are marked. */
static void grow_window(struct emu_native_window *window, const struct emu_memory *memory, const struct emu_alloc_record *record,
                        uint64_t first, uint64_t end)
{
    /* pages before and after the range that are tested: more the first time, when all pages may be marked already */
    enum { MOST_AHEAD = 512, MOST_AT_FIRST = 1 << 15 };
    const unsigned most = window->bytes != 0 ? MOST_AHEAD : MOST_AT_FIRST;
    const uint64_t low = record->address - ISA_GLOBAL_BASE, high = low + record->size_bytes;
    const uint64_t from = low / EMU_PAGE_BYTES, to = (high + EMU_PAGE_BYTES - 1) / EMU_PAGE_BYTES;
    const uint64_t old = window->low / EMU_PAGE_BYTES;
    const uint64_t old_end = (window->low + window->bytes + EMU_PAGE_BYTES - 1) / EMU_PAGE_BYTES;

    for (uint64_t page = first; page < end; page++)
        if (!is_marked(memory, page))
            return;
    if (window->bytes != 0 && window->low >= low && window->low < high && old <= end && first <= old_end) {
        first = old < first ? old : first;
        end = old_end > end ? old_end : end;
    }
    for (unsigned n = 0; n < most && first > from && is_marked(memory, first - 1); n++)
        first--;
    for (unsigned n = 0; n < most && end < to && is_marked(memory, end); n++)
        end++;
    window->low = first == from ? low : first * EMU_PAGE_BYTES;
    window->bytes = (end == to ? high : end * EMU_PAGE_BYTES) - window->low;
}

static bool native_store(struct emu_native_frame *frame, uint32_t slot, uint64_t offset, uint64_t bytes)
{
    const struct emu_warp *w = frame->warp;
    struct emu_memory *memory = &w->core->machine->memory;
    struct emu_native_window *window = &frame->window[slot];
    const struct emu_alloc_record *record = emu_memory_find(memory, ISA_GLOBAL_BASE + offset);

    if (!native_reach(frame, offset, bytes, true))
        return false;
    if (record == NULL || offset + bytes > record->address - ISA_GLOBAL_BASE + record->size_bytes)
        return true; /* the bytes are in several allocations */
    window->bytes += window->bytes != 0 ? bytes - 1 : 0; /* for grow_window(), the number of bytes */
    grow_window(window, memory, record, offset / EMU_PAGE_BYTES, (offset + bytes - 1) / EMU_PAGE_BYTES + 1);
    window->bytes -= window->bytes >= bytes ? bytes - 1 : window->bytes;
    return true;
}

static bool native_find(struct emu_native_frame *frame, uint32_t slot, uint32_t bytes, const uint64_t *offset, uint64_t mask,
                        bool write)
{
    const struct emu_warp *w = frame->warp;
    struct emu_memory *memory = &w->core->machine->memory;
    const struct emu_alloc_record *record = emu_memory_find(memory, ISA_GLOBAL_BASE + offset[lw_lowest(mask)]);
    uint64_t first = UINT64_MAX, end = 0;

    if (record == NULL)
        return false;
    const uint64_t low = record->address - ISA_GLOBAL_BASE, count = record->size_bytes / bytes;
    if (low % EMU_NATIVE_ALIGN != 0 || count == 0)
        return false;
    if (write ? record->flags & (EMU_ALLOC_FREED | EMU_ALLOC_READ_ONLY) : !native_reach(frame, low, record->size_bytes, false))
        return false; /* the allocation was freed, or guests may not load or store all of it */
    for (uint64_t m = mask; m != 0; m &= m - 1) {
        const uint64_t at = offset[lw_lowest(m)], from = at - low;
        if (from % bytes != 0 || from / bytes >= count)
            return false;
        first = at / EMU_PAGE_BYTES < first ? at / EMU_PAGE_BYTES : first;
        end = at / EMU_PAGE_BYTES + 1 > end ? at / EMU_PAGE_BYTES + 1 : end;
    }
    if (!write) {
        frame->window[slot] = (struct emu_native_window){low, record->size_bytes};
        return true;
    }
    for (uint64_t m = mask; m != 0; m &= m - 1)
        emu_dirty_mark(memory, offset[lw_lowest(m)] / EMU_PAGE_BYTES);
    grow_window(&frame->window[slot], memory, record, first, end);
    return true;
}

static bool native_bssy(struct emu_native_frame *frame, uint32_t reg)
{
    struct emu_warp *w = frame->warp;

    if (emu_split_bssy_frees(w, reg, w->m))
        return false;
    emu_split_bssy(w, reg, w->m);
    return true;
}

static bool native_bsync(struct emu_native_frame *frame, uint32_t reg, uint64_t retired)
{
    struct emu_warp *w = frame->warp;

    return emu_split_bsync_uncontended(w, reg, w->m, w->retired + retired + 1);
}

static bool native_bssy_part(struct emu_native_frame *frame, uint32_t reg, uint64_t mask)
{
    emu_split_bssy(frame->warp, reg, mask);
    return true;
}

static bool native_release(struct emu_native_frame *frame, uint32_t reg, uint64_t mask)
{
    struct emu_warp *w = frame->warp;

    w->bform[reg].lanes &= ~mask;
    w->seq_counter++;
    w->core->stats.reconvergences++;
    return true;
}

static bool native_join(struct emu_native_frame *frame, uint32_t reg, uint64_t retired)
{
    struct emu_warp *w = frame->warp;

    w->core->stats.reconvergences++;
    return emu_split_bsync_uncontended(w, reg, w->m, w->retired + retired);
}

static uint32_t native_next_warps(struct emu_native_frame *frame)
{
    struct emu_core *core = ((struct emu_warp *)frame->warp)->core;

    return core->native.next_warps(core->native.engine);
}

const struct emu_native_calls emu_native_calls = {
    .execute = native_execute, .reach = native_reach, .load = native_load, .store = native_store, .find = native_find, .bssy = native_bssy,
    .bsync = native_bsync, .bssy_part = native_bssy_part, .release = native_release, .join = native_join,
    .next_warps = native_next_warps};

#define AT(member) offsetof(struct emu_warp, member)
#define HAS_BYTES(member, bytes) (sizeof((struct emu_warp){0}.member) == (bytes))
_Static_assert(HAS_BYTES(turn_used, 4) && HAS_BYTES(last_low, 4) && HAS_BYTES(split[0].flags, 1) && HAS_BYTES(split[0].seq, 8) &&
               HAS_BYTES(split[0].since, 8) && HAS_BYTES(retired, 8) && HAS_BYTES(group_counter, 8) && HAS_BYTES(seq_counter, 8) &&
               HAS_BYTES(bform[0].lanes, 8) && HAS_BYTES(bform[0].number, 8), "native code accesses the members with these sizes");
const struct emu_native_layout emu_native_layout = {
    .retired = AT(retired), .group_counter = AT(group_counter), .seq_counter = AT(seq_counter), .turn_used = AT(turn_used),
    .last_low = AT(last_low), .since = AT(split[0].since), .seq = AT(split[0].seq), .flags = AT(split[0].flags),
    .lanes = AT(bform[0].lanes), .number = AT(bform[0].number), .barrier_bytes = sizeof(struct emu_breg_form)};
#undef HAS_BYTES
#undef AT

/* ---- divided warps -------------------------------------------------------------------------------- */

/** A split into which native code has divided the warp. */
struct part {
    uint64_t lanes, since;
    uint32_t pc;
    bool runs, blocked;
};

/** Inserts @part into @parts, which are sorted by lowest lane. Returns the new number of parts. */
static unsigned insert(struct part *parts, unsigned count, struct part part)
{
    unsigned i = count;

    for (; i > 0 && lw_lowest(parts[i - 1].lanes) > lw_lowest(part.lanes); i--)
        parts[i] = parts[i - 1];
    parts[i] = part;
    return count + 1;
}

/** Divides the running split, the warp's only split, into the splits that emu_native_frame.part describes. */
static void make_splits(struct emu_warp *w, const struct emu_native_kernel *kernel, uint32_t pc)
{
    struct emu_native_frame *frame = &w->core->native.frame;
    struct part parts[EMU_MAX_LANES];
    unsigned count = insert(parts, 0, (struct part){.lanes = frame->mask, .pc = pc, .runs = true});

    for (uint32_t i = 0; i < kernel->count; i++) {
        struct emu_native_part *p = &frame->part[i];
        const uint32_t at = kernel->first + i;
        if (p->lanes == 0)
            continue;
        count = insert(parts, count, (struct part){.lanes = p->lanes, .since = w->retired + p->since, .pc = at,
                                                  .blocked = w->code->insn[at].op == ISA_BSYNC});
        *p = (struct emu_native_part){0};
    }
    w->split_ids = w->split_in[EMU_SPLIT_READY] = 0;
    for (unsigned id = 0; id < count; id++) {
        const struct part *p = &parts[id];
        const struct emu_dinsn *di = &w->code->insn[p->pc];
        struct emu_split *s = &w->split[id];
        *s = (struct emu_split){.id = (uint8_t)id, .state = p->blocked ? EMU_SPLIT_BLOCKED : EMU_SPLIT_READY, .pc = p->pc,
                                .lanes = p->lanes, .since = p->since, .born = ++w->born_counter};
        w->split_ids |= split_bit(id);
        w->split_in[s->state] |= split_bit(id);
        if (p->blocked) {
            struct emu_breg_form *b = &w->bform[di->sub];
            s->pc++;
            s->barrier = di->sub;
            s->flags = di->flags & EMU_D_SOFT ? EMU_SPLIT_SOFT : 0;
            b->arrived |= p->lanes;
            b->splits |= split_bit(id);
            w->breg_blocked |= UINT32_C(1) << di->sub;
        }
        if (p->runs)
            w->running = (int)id;
    }
    w->split_count = count;
    w->turn_used = w->quantum;
    w->last_low = lw_lowest(frame->mask);
    emu_warp_set_lanes(w, frame->mask);
}

uint64_t emu_native_divided(struct emu_warp *w, const struct emu_native_kernel *kernel, const struct emu_native_site *site)
{
    struct emu_native_frame *frame = &w->core->native.frame;
    struct emu_stats *stats = &w->core->stats;
    uint64_t missing = frame->missing;

    stats->divergences += frame->divergences;
    stats->merges += frame->merges;
    stats->reconvergences -= frame->passes;
    frame->missing = frame->divergences = frame->merges = frame->passes = 0;
    if (frame->mask != w->m) {
        missing += (uint64_t)site->retired * (w->m_count - lw_popcount(frame->mask)); /* only the lanes of frame->mask have
                                                                                       * executed the instructions that
                                                                                       * site->retired counts */
        make_splits(w, kernel, site->next);
    }
    return missing;
}

/** Returns true if the running split would be selected again at the end of its time slice, because all other splits are blocked
 *  at convergence barriers. */
static bool no_choice(const struct emu_warp *w)
{
    return (w->split_ids & ~w->split_in[EMU_SPLIT_BLOCKED]) == split_bit((unsigned)w->running);
}

static inline struct emu_native_form *form_of(const struct emu_warp *w)
{
    return w->m == w->all && w->split_count == 1 ? &w->core->native.whole : &w->core->native.masked;
}

void emu_native_unpark_warp(struct emu_warp *w)
{
    struct emu_core_native *native = &w->core->native;

    form_of(w)->kernel->run(emu_native_frame_of(w), (native->park[w->index] - 1) | EMU_NATIVE_UNPARK);
    native->park[w->index] = 0;
    native->parked--;
}

void emu_native_unpark(struct emu_block *block)
{
    const struct emu_core_native *native = &block->core->native;

    for (unsigned i = 0; i < block->warp_count && native->parked != 0; i++)
        if (native->park[i] != 0)
            emu_native_unpark_warp(&block->warp[i]);
}

void emu_native_count_visit(const struct emu_core *core, struct emu_native_form *form, unsigned entry, uint64_t count, unsigned cheap)
{
    const uint32_t shortest = form == &core->native.whole ? SHORTEST_VISIT : SHORTEST_MASKED_VISIT;
    struct emu_native_gain *gain = &form->gain[entry];

    gain->instructions += (uint32_t)count + shortest / 2 * cheap;
    if (++gain->visits == VISITS) {
        gain->instructions = gain->instructions < VISITS * shortest ? (uint32_t)EMU_NATIVE_NOT_USED : 0;
        gain->visits = 0;
    }
}

const struct emu_native_site *emu_native_run(struct emu_core *core, const struct emu_native_form *form, uint32_t entry)
{
    struct emu_native_frame *frame = &core->native.frame;

    frame->window = form->window;
    form->kernel->run(frame, entry);
    const struct emu_native_site *site = &form->kernel->site[frame->site];
    frame->retired += site->retired;
    frame->loads += site->loads;
    frame->stores += site->stores;
    core->native.retired += frame->retired;
    core->stats.loads += frame->loads;
    core->stats.stores += frame->stores + frame->local_stores;
    core->stats.atomics += frame->atomics;
    ((struct emu_warp *)frame->warp)->block->progress += frame->stores != 0 || frame->changes != 0;
    return site;
}

/** Runs native code from entry @entry until the code leaves. @resumes: the warp is parked for this entry. Returns the site at
 *  which the code left, and sets *@count to the number of instructions that it executed. */
static const struct emu_native_site *visit(struct emu_warp *w, struct emu_native_form *form, unsigned entry, bool resumes,
                                           uint64_t *count)
{
    struct emu_core *core = w->core;
    struct emu_native_frame *frame = emu_native_frame_of(w);

    if (!frame->alone && !no_choice(w) && w->budget < (int64_t)frame->limit)
        frame->limit = (uint64_t)w->budget;
    const struct emu_native_site *site = emu_native_run(core, form, resumes ? entry | EMU_NATIVE_RESUME : entry);
    emu_native_count_visit(core, form, entry, frame->retired, resumes + (site->parks != 0));
    *count = frame->retired;
    return site;
}

/** Called when native code has parked @w before the barrier of the block at @di. Returns true if the warp may stay parked while
 *  it waits, so that the handler of the barrier can be called. If the warp may not stay parked, the interpreter continues at the
 *  barrier. */
static bool remains_parked(struct emu_warp *w, const struct emu_dinsn *di, const struct emu_native_form *form, uint32_t parks)
{
    struct emu_core_native *native = &w->core->native;

    native->park[w->index] = parks;
    native->parked++;
    if (!emu_split_bar_usual(w, di->reg) || form->gain[parks - 1].instructions == (uint32_t)EMU_NATIVE_NOT_USED) {
        emu_native_unpark_warp(w);
        return false;
    }
    native->retired++;
    return true;
}

void emu_native_handler(struct emu_warp *w, const struct emu_dinsn *di)
{
    struct emu_core *core = w->core;
    struct emu_native_form *form = form_of(w);
    bool resumes = core->native.parked != 0 && core->native.park[w->index] != 0;
    const struct emu_native_kernel *kernel = form->kernel;

    if (kernel == NULL && !core->native.masked_done)
        core->native.requests++;
    if (kernel != NULL && core->native.until > core->retired && w->e == w->m && !w->stepped && !w->parts &&
        di->index - kernel->first < kernel->count) {
        const unsigned entry = kernel->entry[di->index - kernel->first];
        const struct emu_native_site *site = NULL;
        uint64_t count = 0;
        if (entry != 0 && (resumes || form->gain[entry - 1].instructions != (uint32_t)EMU_NATIVE_NOT_USED)) {
            if (di > w->run_start)
                emu_count_before(w, di);
            w->run_start = di;
            /* native code does not stop at the slice-end layer, which would remain after the end of the slice */
            const bool ends_in_run = emu_slice_end_unpatch(w);
            if (resumes) {
                core->native.park[w->index] = 0;
                core->native.parked--;
            }
            site = visit(w, form, entry - 1, resumes, &count);
            if (ends_in_run && count == 0 && site->parks == 0) /* nothing was executed */
                emu_code_set_layer(w->code, di->index + (uint32_t)w->budget, EMU_LAYER_SLICE_END, true);
            resumes = false;
        }
        if (count != 0 || (site != NULL && site->parks != 0)) {
            const struct emu_dinsn *t = w->code->insn + site->next;
            w->lane_retired += count * w->m_count;
            if (core->native.frame.divided)
                w->lane_retired -= emu_native_divided(w, kernel, site);
            w->retired += count;
            w->budget = (int64_t)count < w->budget ? w->budget - (int64_t)count : 0;
            w->run_start = t;
            memset(w->proved, 0, sizeof w->proved);
            if (core->native.frame.divided && w->split_count != 1) { /* the policy selects a split */
                w->budget = 0;
                EMU_TAIL emu_leave(w, EMU_LEAVE_BUDGET, t);
            }
            if (site->parks != 0 && remains_parked(w, t, form, site->parks)) {
                const struct emu_handlers bar = w->code->base[t->index];
                EMU_TAIL bar.full(w, t);
            }
            if (t->run > w->budget)
                EMU_TAIL emu_slice_expired(w, t);
            EMU_GO(w, t);
        }
    }
    if (resumes)
        emu_native_unpark_warp(w);
    const struct emu_handlers below = emu_code_below(w->code, di->index, EMU_LAYER_NATIVE);
    if (w->full)
        EMU_TAIL below.full(w, di);
    EMU_TAIL below.part(w, di);
}
