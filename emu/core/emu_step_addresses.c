/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watched step (MACHINE 5), and its reduced-detail variant for engines that only model time (EMU_EVENT_ADDRESSES). The
 * variant executes the same instruction with the same handler, but fills only the accessed addresses in the event, as segments
 * if possible. A step of gemm takes 963 host instructions with reduced detail, and 1,811 with the full event (callgrind). Option
 * --timing-reference uses the full event. The number of cycles that the timing model computes is the same with full and with
 * reduced detail.
 */
#include "emu/grid/emu_grid_priv.h"
#include "emu/core/emu_core_priv.h"
#include "emu/log/emu_log_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/simt/emu_split_priv.h"

/* ---- accesses ---------------------------------------------------------------------------- */

/** Returns the space of @address, if it is in an address range that belongs to a single space. Otherwise returns GENERIC. */
static enum isa_space space_of(uint64_t address)
{
    if (address >= ISA_GLOBAL_BASE)
        return ISA_SPACE_GLOBAL;
    if (address - ISA_SHARED_BASE < ISA_APERTURE_BYTES)
        return ISA_SPACE_SHARED;
    if (address - ISA_LOCAL_BASE < ISA_APERTURE_BYTES)
        return ISA_SPACE_LOCAL;
    return ISA_SPACE_GENERIC;
}

/** Describes the addresses of the lanes as segments in one space. Returns false if more than EMU_EVENT_SEGMENTS segments are
 *  needed. */
static bool find_pieces(const struct emu_warp *w, const struct emu_dinsn *di,
                        const struct emu_form *form, uint64_t lanes, struct emu_access *access)
{
    const uint32_t *low = emu_row(w, di->a), *high = emu_row(w, di->a + w->stride);
    const struct emu_level *level = w->core->level;
    unsigned mode = form->mode & 15, scale = form->mode >> 4, count = 0;
    uint64_t base = (uint64_t)(int64_t)di->disp, bends, rest = lanes;
    enum isa_space space = ISA_SPACE_GENERIC;

    if (mode == ISA_AMODE_PAIR) {
        uint32_t top = high[lw_lowest(lanes)];
        if (!level->is_splat(high, w->n, lanes, top))
            return false;
        base += (uint64_t)top << 32;
    } else if (mode != ISA_AMODE_32) {
        base += emu_scalar_pair(w, di->reg);
    }
    if (form->space == ISA_SPACE_SHARED)
        base += ISA_SHARED_BASE;
    else if (form->space == ISA_SPACE_LOCAL)
        base += ISA_LOCAL_BASE;
    else if (form->space == ISA_SPACE_CONST)
        return false;
    bends = level->bends(low, w->n);
    while (rest != 0) {
        unsigned first = lw_lowest(rest), last;
        uint64_t after = first >= 62 ? 0 : bends >> (first + 1) << (first + 1), here, start, end;
        int64_t stride;

        here = rest & lw_mask(after != 0 ? lw_lowest(after) + 1 : EMU_MAX_LANES);
        last = 63 - (unsigned)__builtin_clzll(here);
        stride = first == last ? 0 : (int32_t)(low[first + 1] - low[first]);
        if (mode == ISA_AMODE_SS32) {
            start = (uint64_t)(int64_t)(int32_t)low[first];
            end = (uint64_t)(int64_t)(int32_t)low[last];
        } else {
            start = low[first];
            end = low[last];
        }
        /* the lanes' addresses are affine modulo 2^32, so they form a segment only if they do not wrap */
        if (start + (uint64_t)stride * (last - first) != end || count == EMU_EVENT_SEGMENTS)
            return false;
        start = base + (start << scale);
        end = base + (end << scale);
        if (count == 0)
            space = space_of(start);
        if (space == ISA_SPACE_GENERIC || space_of(start) != space || space_of(end) != space)
            return false;
        access->piece[count++] = (struct emu_event_segment){
            .lanes = here, .base = start, .stride = (int64_t)((uint64_t)stride << scale)};
        rest &= ~here;
    }
    access->space = space;
    access->piece_count = count;
    return true;
}

/** Fills the array of the lanes' addresses, and, if they are in several spaces, the array of the lanes' spaces. */
static void find_rows(struct emu_warp *w, struct emu_step_scratch *scratch,
                      const struct isa_insn *insn, const struct emu_dinsn *di,
                      struct emu_access *access)
{
    uint64_t *address = scratch->address, least = UINT64_MAX;

    if (insn->op == ISA_TEX) {
        unsigned bytes;

        access->lanes = emu_texture_addresses(w, insn, di, access->lanes, address, &bytes);
        access->bytes = (uint8_t)bytes;
        access->texture = true;
        access->order = access->scope = 0;
        access->cache = ISA_CACHE_NC;
    } else {
        emu_addresses(w, insn, di, access->lanes, address);
    }
    access->address = address;
    if (access->lanes == 0)
        return;
    for (LW_EACH_BIT(l, access->lanes))
        least = address[l] < least ? address[l] : least;
    access->space = ISA_SPACE_GLOBAL;
    if (least >= ISA_GLOBAL_BASE)
        return;
    access->lane_space = scratch->space;
    for (LW_EACH_BIT(l, access->lanes)) {
        enum isa_space real = ISA_SPACE_GENERIC;

        (void)emu_resolve(w, (unsigned)l, address[l], access->bytes, false, &real);
        scratch->space[l] = (uint8_t)real;
    }
    access->space = (enum isa_space)scratch->space[lw_lowest(access->lanes)];
}

static void find_access(struct emu_warp *w, const struct isa_insn *insn,
                        const struct emu_dinsn *di, const struct emu_form *form, uint64_t lanes,
                        struct emu_access *access)
{
    access->kind = (enum emu_access_kind)form->kind;
    access->space = (enum isa_space)form->space;
    access->bytes = form->bytes;
    access->order = form->order;
    access->scope = form->scope;
    access->cache = form->cache;
    access->texture = false;
    access->lanes = lanes;
    access->lane_space = NULL;
    access->address = NULL;
    access->old_value = access->new_value = NULL;
    access->affine = access->in_allocation = false;
    access->service = NULL;
    access->service_count = access->piece_count = 0;
    if (lanes == 0)
        return;
    if (form->flags & EMU_FORM_SCALAR) {
        uint64_t address = emu_scalar_address(w, di);

        access->space = space_of(address);
        if (access->space != ISA_SPACE_GENERIC) {
            access->piece_count = 1;
            access->piece[0] = (struct emu_event_segment){.lanes = lanes, .base = address};
            return;
        }
    } else if (!(form->flags & EMU_FORM_TEXTURE) && find_pieces(w, di, form, lanes, access)) {
        return;
    }
    find_rows(w, w->core->scratch, insn, di, access);
}

/* ---- prefetch before a step ---------------------------------------------------------------- */

/* Cache lines of a warp that most steps access; emu_warp_prefetch() prefetches them. */
_Static_assert(offsetof(struct emu_warp, ubase) == 64 && offsetof(struct emu_warp, all) == 128 &&
                   offsetof(struct emu_warp, s[126]) % 64 == 0 &&
                   offsetof(struct emu_warp, flow) == offsetof(struct emu_warp, s[126]) + 64 &&
                   offsetof(struct emu_warp, split_in[1]) <= offsetof(struct emu_warp, s[126]) + 128 &&
                   offsetof(struct emu_warp, p[0]) / 64 + 1 == offsetof(struct emu_warp, p[7]) / 64 &&
                   offsetof(struct emu_warp, bform) % sizeof(struct emu_breg_form) == 0,
               "a step touches four lines of a warp");

struct emu_warp *emu_warp_state(const struct emu_core *core, unsigned slot, unsigned warp)
{
    const struct emu_block *block = emu_core_block(core, slot);

    return block != NULL && warp < block->warp_count ? &block->warp[warp] : NULL;
}

void emu_warp_prefetch(const struct emu_warp *w)
{
    __builtin_prefetch(&w->regs);
    __builtin_prefetch(&w->ubase);
    __builtin_prefetch(&w->s[0]);
    __builtin_prefetch(&w->s[126]);
    __builtin_prefetch(&w->proved);
}

/* ---- the reduced-detail step ------------------------------------------------------------------- */

static void begin_event(struct emu_warp *w, const struct isa_insn *insn,
                        const struct emu_dinsn *di, struct emu_event *ev)
{
    struct emu_block *block = w->block;

    ev->core = w->core;
    ev->grid = block->grid;
    ev->block = block->linear;
    ev->slot = block->slot;
    ev->warp = w->index;
    ev->split = (unsigned)w->running;
    ev->pc = w->code->program->base + (uint64_t)di->index * ISA_WORD_BYTES;
    ev->insn = insn;
    ev->split_lanes = w->m;
    ev->exec = emu_exec_mask(w);
    ev->guard = di->guard == ISA_PT ? ~UINT64_C(0) : emu_guard(w, di); /* without a guard, the predicates of the warp and their
                                                                        * cache line are not read */
    ev->effective = w->m & ev->exec & ev->guard;
    ev->access_count = 0;
    ev->tags = NULL;
    ev->tag_count = ev->expansions = 0;
    ev->grid_started = block->retired == 0 &&
                       !__atomic_load_n(&block->grid->started, __ATOMIC_RELAXED);
}

static inline void fill_outcome(const struct emu_warp *w, struct emu_event *ev)
{
    struct emu_outcome *outcome = &w->core->scratch->flow.outcome[0];

    ev->outcome_count = 0;
    if (ev->kind != EMU_EV_RETIRED || w->running < 0 || w->split_count != 1)
        return;
    *outcome = (struct emu_outcome){.pc = w->code->program->base + (uint64_t)(w->di - w->code->insn) *
                                                                       ISA_WORD_BYTES,
                                    .lanes = w->m,
                                    .split = (unsigned)w->running};
    ev->outcomes = outcome;
    ev->outcome_count = 1;
}

/** Executes a step with reduced detail. Returns false if the function has executed nothing. The caller then executes the step
 *  with the full event, which also reports invalid arguments. */
static inline bool addresses_step(struct emu_warp *w, unsigned split, uint64_t lanes,
                              struct emu_event *ev)
{
    struct emu_core *core = w->core;
    struct emu_block *block = w->block;
    struct emu_step_scratch *scratch = core->scratch;

    if (w->tagged || w->parts || w->running < 0 || w->running != (int)split || w->m != lanes)
        return false; /* the step is not for all lanes of the split that has the time slice, or the warp has tags or divided
                       * splits */
    const struct emu_dinsn *di = w->di;
    if (di->index >= w->code->program->count)
        return false;
    const struct isa_insn *insn = &w->code->program->insn[di->index];
    const struct emu_form *form = &w->code->program->form[di->index];
    uint64_t before = w->retired, live = w->live;

    w->slice_start = before;
    begin_event(w, insn, di, ev);
    if (form->flags & EMU_FORM_MEMORY)
        find_access(w, insn, di, form,
                    form->flags & EMU_FORM_SCALAR ? w->m & ev->guard & (0 - w->m) : ev->effective,
                    &ev->access[ev->access_count++]);
    ev->cta.used = ev->cta.completed = false;
    if (form->flags & EMU_FORM_FLOW) {
        memset((char *)&scratch->flow + offsetof(struct emu_flow, count), 0, /* clears the members after the arrays outcome[] and
                                                                              * target[] */
               sizeof scratch->flow - offsetof(struct emu_flow, count));
        w->flow = &scratch->flow;
    }
    emu_run_one(w);
    emu_counts_sync(w);
    if (w->leave == EMU_LEAVE_BUDGET)
        emu_split_ran(w, (unsigned)(w->retired - before)); /* under an engine with a SIMT stack, may pop an entry */
    if (form->flags & EMU_FORM_FLOW) {
        w->flow = NULL;
        ev->cta.used = scratch->flow.cta.used;
        ev->cta.completed = scratch->flow.cta.completed;
    }
    if (ev->grid_started && w->retired != before)
        ev->grid_started = emu_grid_begin(core->machine, block->grid);
    ev->exited = live & ~w->live;
    ev->warp_ended = w->live == 0;
    ev->block_ended = block->threads_live == 0;
    ev->grid_ended = block->ends_grid;
    ev->kind = w->retired != before ? EMU_EV_RETIRED : EMU_EV_ARRIVED;
    if (w->leave == EMU_LEAVE_FAULT) {
        ev->kind = EMU_EV_FAULT;
        ev->fault = w->fault;
        ev->exited = 0;
        ev->warp_ended = ev->block_ended = ev->grid_ended = false;
    }
    fill_outcome(w, ev);
    return true;
}

/* ---- the step ----------------------------------------------------------------------------- */

static void note(const struct emu_block *block, enum emu_log_kind kind, unsigned which, unsigned warp,
                 unsigned split, uint64_t lanes)
{
    if (emu_log_is_recording(block->core->machine))
        emu_log_add(block->core->machine->log,
                    &(struct emu_log_entry){.kind = kind,
                                            .which = which,
                                            .place = {.grid = block->grid->sequence,
                                                      .block = block->linear,
                                                      .warp = warp,
                                                      .split = split,
                                                      .lanes = lanes},
                                            .count = 1});
}

enum lw_status emu_warp_step(struct emu_core *core, unsigned slot, unsigned warp,
                             unsigned split, uint64_t lanes, struct emu_event *ev,
                             struct lw_error *err)
{
    const struct emu_block *block = emu_core_block(core, slot);
    bool noted = core->machine->log != NULL && !core->notes_itself && block != NULL;
    bool whole = noted && warp < block->warp_count && split < EMU_MAX_LANES &&
                 block->warp[warp].split[split].lanes == lanes;
    enum lw_status status = LW_OK;

    if (core->event_detail == EMU_EVENT_FULL) {
        status = emu_step_addresses(core, slot, warp, split, lanes, ev, err);
    } else if (block == NULL || warp >= block->warp_count ||
               !addresses_step(&block->warp[warp], split, lanes, ev)) {
        status = emu_step_addresses(core, slot, warp, split, lanes, ev, err);
        if (status == LW_OK)
            fill_outcome(&block->warp[warp], ev);
    }

    if (noted && (status == LW_OK || status == LW_EAGAIN))
        note(block, EMU_LOG_STEP, 0, warp, split, whole ? 0 : lanes);
    return status;
}

enum lw_status emu_warp_step_at(struct emu_warp *w, unsigned split, uint64_t lanes,
                                struct emu_event *ev, struct lw_error *err)
{
    const struct emu_core *core = w->core;

    if (core->event_detail == EMU_EVENT_ADDRESSES && core->machine->log == NULL &&
        addresses_step(w, split, lanes, ev))
        return LW_OK;
    return emu_warp_step(w->core, w->block->slot, w->index, split, lanes, ev, err);
}

void emu_core_set_event_detail(struct emu_core *core, enum emu_event_detail event_detail)
{
    core->event_detail = event_detail;
}

int emu_warp_select(struct emu_core *core, unsigned slot, unsigned warp)
{
    struct emu_block *block = emu_core_block(core, slot);

    if (block == NULL || warp >= block->warp_count)
        return -1;
    struct emu_warp *w = &block->warp[warp];
    if (w->running < 0 && !emu_log_in_history(core->machine->log)) {
        (void)emu_split_select(w);
        note(block, EMU_LOG_SELECT, 0, warp, 0, 0);
    }
    return w->running;
}

int emu_warp_join(struct emu_core *core, unsigned slot, unsigned warp)
{
    struct emu_block *block = emu_core_block(core, slot);

    if (block == NULL || warp >= block->warp_count)
        return -1;
    if (!emu_log_in_history(core->machine->log) && emu_split_join(&block->warp[warp]))
        note(block, EMU_LOG_SELECT, 1, warp, 0, 0);
    return block->warp[warp].running;
}
