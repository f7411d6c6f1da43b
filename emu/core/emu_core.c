/* SPDX-License-Identifier: Apache-2.0 */
/* Cores: decoded programs, the time slice of a warp, and the watched step, which fills an event. */
#include "emu/grid/emu_grid_priv.h"
#include "emu/core/emu_core_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/program/emu_decode_priv.h"
#include "emu/log/emu_log_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/emu_next_priv.h"
#include "emu/tags/emu_compact_priv.h"
#include "emu/simt/emu_split_priv.h"
#include "emu/interp/emu_hooks_priv.h"
#include "emu/interp/emu_layers_priv.h"

/* ---- cores and decoded programs ------------------------------------------------------- */

/** Returns true if the core shares decoded code with other cores. Cores that an engine outside emu/ drives are all driven by one
 *  thread. These cores share the code that one of them has decoded, and the last core that uses the code frees it. A core of any
 *  other engine has its own code, because its steps replace handlers in the code. */
static bool shares_code(const struct emu_core *core)
{
    return core->context != NULL;
}

/** Returns the code that another core has decoded from the same program for the same level and block shape, or NULL if no core
 *  has decoded it. */
static struct emu_code *decoded_elsewhere(const struct emu_core *core,
                                          const struct emu_program *program, uint8_t shape)
{
    const struct emu_machine *machine = core->machine;

    for (unsigned c = 0; shares_code(core) && c < machine->core_count; c++) {
        const struct emu_core *other = machine->cores[c];

        if (!shares_code(other) || other->level != core->level)
            continue;
        for (unsigned i = 0; i < other->code_count; i++)
            if (other->code[i]->program == program && other->code[i]->shape == shape)
                return other->code[i];
    }
    return NULL;
}

enum lw_status emu_core_code(struct emu_core *core, const struct emu_launch *launch,
                             struct emu_code **out, struct lw_error *err)
{
    struct emu_layout layout;
    enum lw_status status;
    size_t capacity = core->code_capacity;
    const struct emu_program *program = launch->program;
    uint8_t shape = emu_plan_shape(&core->machine->config, launch->block);

    for (unsigned i = 0; i < core->code_count; i++) {
        if (core->code[i]->program == program && core->code[i]->shape == shape) {
            *out = core->code[i];
            return LW_OK;
        }
    }
    if (!lw_grow(&core->code, &capacity, core->code_count + 1u, sizeof *core->code))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for decoded programs");
    core->code_capacity = (unsigned)capacity;
    struct emu_code *code = decoded_elsewhere(core, program, shape);
    if (code != NULL) {
        *out = core->code[core->code_count++] = code;
        return LW_OK;
    }
    code = calloc(1, sizeof *code);
    if (code == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the decoded program");
    emu_layout_make(&layout, core->machine->config.warp_width, core->level);
    status = emu_code_create((struct emu_program *)program, &layout, core->level, &shape, code, err);
    if (status != LW_OK) {
        free(code);
        return status;
    }
    core->code[core->code_count++] = code;
    *out = code;
    return LW_OK;
}

void emu_core_counts_move(struct emu_core *from, struct emu_core *to)
{
    to->retired += from->retired;
    from->retired = 0;
    emu_stats_add(&to->stats, &from->stats);
    memset(&from->stats, 0, sizeof from->stats);
}

/* ---- the time slice -------------------------------------------------------------------------- */

static inline void counts_sync(struct emu_warp *w)
{
    uint64_t n = w->retired - w->slice_start;

    w->block->retired += n;
    w->core->retired += n;
    w->slice_start = w->retired;
    w->run_done = 0;
}

void emu_counts_sync(struct emu_warp *w)
{
    counts_sync(w);
}

static void go(struct emu_warp *w, struct emu_handlers h)
{
    w->leave = EMU_RUNNING;
    (w->full ? h.full : h.part)(w, w->di);
    (void)emu_slice_end_unpatch(w->core->hand.handed ? &w->block->warp[w->block->next_warp] : w);
#ifdef LW_LOOP
    for (;;) {
        while (w->leave == EMU_RUNNING)
            (w->full ? w->di->h.full : w->di->h.part)(w, w->di);
        if (!w->core->hand.handed)
            break;
        w = &w->block->warp[w->block->next_warp]; /* the handler chain has switched directly to this warp */
        if (w->leave != EMU_RUNNING)
            break;
    }
#endif
}

/** Executes the instructions from @di on, beginning with the handlers @first, for at most w->budget instructions. If the
 *  straight-line run is longer than the budget, the instruction where the budget ends temporarily gets a handler that leaves the
 *  chain. The chain therefore stops after exactly the budget, and the other instructions need no test. */
static inline void go_within(struct emu_warp *w, const struct emu_dinsn *di, struct emu_handlers first)
{
    const uint32_t stop = di->index + (uint32_t)w->budget;

    if (di->run <= w->budget) {
        go(w, first);
        return;
    }
    emu_code_set_layer(w->code, stop, EMU_LAYER_BUDGET, true);
    go(w, first);
    emu_code_set_layer(w->code, stop, EMU_LAYER_BUDGET, false);
}

/** Executes instructions of the running split from w->di on, at most @budget. @past_break: the first instruction is executed even
 *  if it has a breakpoint. */
static void run_chain_once(struct emu_warp *w, int64_t budget, bool past_break)
{
    struct emu_code *code = w->code;

    w->budget = budget < EMU_LONGEST_BUDGET ? budget : EMU_LONGEST_BUDGET;
    for (;;) {
        const struct emu_dinsn *di = w->di;
        struct emu_handlers first = past_break ? emu_code_past_break(code, di) : di->h;
        w->run_start = di;
        past_break = false;
        go_within(w, di, first);
        if (w->leave != EMU_LEAVE_BUDGET || w->budget <= 0)
            return;
        past_break = w->halting;
    }
}

/** Returns true if a fault is skipped: the instruction continues without its faulting lanes. The fault filter of the engine or
 *  of the machine decides; in a replay, the log decides. *@read is set to the value that the faulting lanes read. */
static bool ask_skip(const struct emu_core *core, const struct emu_fault *fault, uint32_t *read)
{
    struct emu_fault_filter *filter = core->machine->fault_filter;
    uint64_t yes = 0, value = 0;

    if (emu_nondet_replay(core, EMU_NONDET_SKIP, &yes)) {
        uint32_t same = 0;

        if (yes != 0) {
            (void)emu_nondet_replay(core, EMU_NONDET_SKIP_VALUE, &value);
            if (filter != NULL) /* a replay calls the machine's filter, too, but does not use its answer */
                (void)filter->skip(filter, fault, &same);
        }
        *read = (uint32_t)value;
        return yes != 0;
    }
    yes = core->ops.skip_fault != NULL && core->ops.skip_fault(core->context, fault, read);
    if (yes == 0 && filter != NULL)
        yes = filter->skip(filter, fault, read);
    if (core->ops.skip_fault == NULL && core->ops.clock == NULL)
        /* In the fixed order, the log does not record the filter's decision, so the filter must make the same decision in a
         * replay. */
        return yes != 0;
    emu_nondet_record(core, EMU_NONDET_SKIP, yes);
    if (yes != 0)
        emu_nondet_record(core, EMU_NONDET_SKIP_VALUE, *read);
    return yes != 0;
}

static bool may_skip(const struct emu_core *core)
{
    return core->ops.skip_fault != NULL || core->machine->fault_filter != NULL ||
           core->answers != NULL;
}

/** Lets a memory instruction or a free continue without its faulting lanes, if the filters permit it. Returns true if the
 *  instruction continued; it has then retired. */
static bool skip_fault(struct emu_warp *w)
{
    const struct emu_core *core = w->core;
    const struct emu_dinsn *di = w->di;
    uint64_t m = w->m, all = w->e, skipped = 0;
    uint32_t value[EMU_MAX_LANES];

    if (di->index >= w->code->program->count)
        return false;
    const struct isa_insn *insn = &w->code->program->insn[di->index];
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    const bool frees = insn->op == ISA_FREE;
    if (!(info->flags & ISA_F_MEMORY) && !frees)
        return false;
    if (info->flags & ISA_F_SCALAR) { /* a scalar instruction is skipped as a whole */
        uint32_t read_value = 0;
        if (!ask_skip(core, &w->fault, &read_value))
            return false;
        for (unsigned r = 0; r < isa_mem_regs(insn) && di->reg + r < 128; r++)
            w->s[di->reg + r] = read_value;
        emu_warp_set_lanes(w, m); /* the skipped instruction may have loaded exec */
        w->run_start = di;
        emu_count_run(w, di);
        emu_leave(w, EMU_LEAVE_BUDGET, di + 1);
        return true;
    }
    while (w->leave == EMU_LEAVE_FAULT) {
        uint64_t lanes = w->fault.lanes & all & ~skipped;
        uint32_t read_value = 0;
        if (lanes == 0 || !ask_skip(core, &w->fault, &read_value))
            break;
        for (LW_EACH_BIT(l, lanes))
            value[l] = read_value;
        skipped |= lanes;
        /* Executes the instruction for the remaining lanes. If no lane remains, the instruction retires as well. */
        w->e = all & ~skipped;
        w->full = false;
        core->level->expand_mask(w->mask_row, w->e, w->n);
        w->mask_lanes = w->e;
        w->di = di;
        w->halting = core->machine->active_hooks != NULL; /* the hook has already been called, for all lanes of this
                                                           * instruction */
        run_chain_once(w, 1, true);
        w->halting = false;
    }
    emu_warp_set_lanes(w, m);
    if (w->leave != EMU_LEAVE_BUDGET)
        return false;
    /* Sets the result registers of the skipped lanes; stores and reductions have no result register. */
    bool result = !frees && (!(info->flags & ISA_F_STORE) || isa_op_has(info, ISA_TOK_DT));
    for (unsigned r = 0; result && r < isa_mem_regs(insn); r++)
        for (LW_EACH_BIT(l, skipped))
            emu_row(w, di->d + r * w->stride)[l] = value[l];
    return true;
}

/** Skips faults as long as the filters permit it, and continues the time slice after each fault. Returns true if a fault was
 *  skipped. */
static __attribute__((noinline)) bool skip_faults(struct emu_warp *w, uint64_t before, int64_t budget)
{
    bool skipped = false;

    while (w->leave == EMU_LEAVE_FAULT && may_skip(w->core) && skip_fault(w)) {
        int64_t left = budget - (int64_t)(w->retired - before);
        skipped = true;
        if (left <= 0 || w->core->machine->halt)
            break;
        run_chain_once(w, left, false);
    }
    return skipped;
}

/** Executes instructions as run_chain_once() does; in shadow mode, @budget is 1, and the tags of the registers that the
 *  instruction writes are updated. */
static __attribute__((noinline)) void run_chain_tagged(struct emu_warp *w, int64_t budget,
                                                       bool past_break)
{
    uint64_t before = w->retired;
    bool shadow = w->di->index < w->code->program->count, skipped;

    if (shadow)
        emu_shadow_prepare(w, w->di);
    run_chain_once(w, budget, past_break);
    skipped = skip_faults(w, before, budget);
    if (shadow && w->retired != before)
        emu_shadow_after(w, skipped);
}

/** Executes one instruction of a warp in single steps, and calls the machine's hooks before and after it. */
static __attribute__((noinline)) void run_chain_stepped(struct emu_warp *w, bool past_break)
{
    struct emu_hooks *active_hooks = w->core->machine->active_hooks;
    const struct emu_dinsn *di = w->di;
    const uint64_t before = w->retired;
    const bool is_hooked = active_hooks != NULL && di->index < w->code->program->count;
    struct emu_hook_site site;

    if (is_hooked) {
        emu_hook_site(w, di, w->e & emu_guard(w, di), &site);
        if (w->ctag != NULL)
            emu_compact_sources(w, di);
        active_hooks->on_step(active_hooks, &site);
    }
    if (w->shadow != NULL) {
        run_chain_tagged(w, 1, past_break);
    } else {
        run_chain_once(w, 1, past_break);
        (void)skip_faults(w, before, 1);
    }
    if (!is_hooked || active_hooks->on_stepped(active_hooks, &site, w->retired != before))
        w->stepped = false;
}

static inline void run_chain(struct emu_warp *w, int64_t budget, bool past_break)
{
    uint64_t before = w->retired;

    if (w->stepped) {
        run_chain_stepped(w, past_break);
        return;
    }
    if (w->shadow != NULL) {
        run_chain_tagged(w, budget, past_break);
    } else {
        run_chain_once(w, budget, past_break);
        if (w->leave == EMU_LEAVE_FAULT)
            (void)skip_faults(w, before, budget);
    }
    if (w->stepped && w->retired == before && w->leave == EMU_LEAVE_BUDGET)
        run_chain_stepped(w, true); /* the hook has requested single steps, which start with this instruction */
}

/** Executes one instruction of the running split, even if it has a breakpoint. Tries go_within() first, by which most
 *  instructions retire, and then run_chain_once(). */
static inline void run_single(struct emu_warp *w)
{
    const struct emu_dinsn *di = w->di;

    w->budget = 1;
    w->run_start = di;
    go_within(w, di, emu_code_past_break(w->code, di));
    if (w->leave == EMU_LEAVE_BUDGET && w->budget > 0)
        run_chain_once(w, w->budget, w->halting);
}

void emu_run_one(struct emu_warp *w)
{
    if (w->stepped || (w->tagged && w->shadow != NULL)) {
        run_chain(w, 1, true);
        return;
    }
    uint64_t before = w->retired;

    run_single(w);
    if (w->leave == EMU_LEAVE_FAULT)
        (void)skip_faults(w, before, 1);
    if (w->stepped && w->retired == before && w->leave == EMU_LEAVE_BUDGET)
        run_chain_stepped(w, true); /* the hook has requested single steps, which start with this instruction */
}

/** Continues a time slice of @budget instructions of a warp that left its chain before the slice ended. @before: value of
 *  w->retired when the slice started. */
static __attribute__((noinline)) void run_chain_on(struct emu_warp *w, int64_t budget, uint64_t before)
{
    if (w->leave == EMU_LEAVE_BUDGET)
        run_chain_once(w, w->budget, w->halting);
    if (w->leave == EMU_LEAVE_FAULT)
        (void)skip_faults(w, before, budget);
}

/** If the chain has switched directly to another warp, sets *@w to that warp and returns true. */
static inline bool was_handed(struct emu_warp **w)
{
    struct emu_core *core = (*w)->core;

    if (!core->hand.handed)
        return false;
    core->hand.handed = false;
    *w = &(*w)->block->warp[(*w)->block->next_warp];
    return true;
}

enum emu_slice_end emu_warp_run_slice(struct emu_warp **warp, uint64_t limit, uint64_t *count)
{
    struct emu_warp *w = *warp;
    const struct emu_machine *machine = w->core->machine;
    const uint64_t launches = machine->launch_changes;
    uint64_t start = w->retired;
    enum emu_slice_end end = EMU_SLICE_DONE;

    w->slice_start = start;
    for (;;) {
        uint64_t before = w->retired;
        const uint64_t done = before - start; /* native code may have executed more than the limit */
        const uint64_t left = done < limit ? limit - done : 0;
        int64_t budget = left < INT64_MAX ? (int64_t)left : INT64_MAX;
        if (left == 0 || machine->halt || machine->launch_changes != launches || !emu_split_select_soon(w))
            break;
        if (w->split_count != 1) { /* for a warp with several splits, the split policy may set a lower limit */
            int64_t allowance = emu_split_allowance(w);
            budget = allowance < budget ? allowance : budget;
        }
        if (w->shadow == NULL && !w->stepped && w->di->run <= budget && budget <= EMU_LONGEST_BUDGET) {
            /* the common case of run_chain(): no shadow mode, no single steps, and the next straight-line run is within the
             * budget */
            w->budget = budget;
            w->run_start = w->di;
            go(w, w->di->h);
            if ((w->leave == EMU_LEAVE_BUDGET && w->budget > 0) || w->leave == EMU_LEAVE_FAULT)
                run_chain_on(w, budget, before);
        } else {
            run_chain(w, w->shadow != NULL || w->stepped ? 1 : budget, false);
        }
        while (was_handed(&w)) { /* a loop, because in the rest of the time slice the chain may switch to another warp again */
            start = before = w->core->hand.start;
            limit = w->core->hand.quantum;
            budget = (int64_t)limit;
            if ((w->leave == EMU_LEAVE_BUDGET && w->budget > 0) || w->leave == EMU_LEAVE_FAULT)
                run_chain_on(w, budget, before);
        }
        counts_sync(w);
        if (w->leave == EMU_LEAVE_SLICE_END) {
            if (w->live == 0) {
                end = EMU_SLICE_WARP_ENDED;
                break;
            }
            if (!emu_split_has_ready(w))
                break;
        } else if (w->leave == EMU_LEAVE_BUDGET) {
            emu_split_ran(w, (unsigned)(w->retired - before));
        } else if (w->leave == EMU_LEAVE_BREAK && w->reconv->reach != NULL &&
                   w->reconv->reach(w)) {
            continue; /* the lanes have not reached this instruction and its breakpoint, because they wait before this
                       * instruction */
        } else {
            if (w->retired != before)
                emu_split_ran(w, (unsigned)(w->retired - before));
            end = w->leave == EMU_LEAVE_BREAK ? EMU_SLICE_BREAK : EMU_SLICE_FAULT;
            break;
        }
    }
    *warp = w;
    *count = w->retired - start;
    if (*count != 0 && w->block->retired == *count) /* true after the block's first time slice */
        emu_grid_begin(w->core->machine, w->block->grid);
    return end;
}

/* ---- the watched step ------------------------------------------------------------------------------ */

/** A contiguous range of host memory that contains all bytes that the lanes of one instruction access. */
struct run {
    const uint8_t *host; /* host address of the guest address `start` */
    uint64_t start;
    enum isa_space space;
};

/** Finds the contiguous range of host memory that the lanes access. Returns false if the lanes access several spaces, local
 *  memory, constant banks or unmapped addresses, or a range of more than about a page. */
static bool find_run(const struct emu_warp *w, const uint64_t *address, uint64_t lanes,
                     unsigned bytes, struct run *out)
{
    const struct emu_memory *memory = &w->core->machine->memory;
    uint64_t low = UINT64_MAX, high = 0, shared = w->block->shared_bytes;

    for (LW_EACH_BIT(l, lanes)) {
        low = address[l] < low ? address[l] : low;
        high = address[l] > high ? address[l] : high;
    }
    if (lanes == 0 || high - low >= EMU_PAGE_BYTES - 16) /* no lane accesses memory, or the range may be in more than two pages,
                                                          * which emu_global_ok() cannot check */
        return false;
    out->start = low;
    if (low >= ISA_GLOBAL_BASE) {
        out->space = ISA_SPACE_GLOBAL;
        out->host = memory->host + (low - ISA_GLOBAL_BASE);
        return emu_global_ok(memory, memory->load_valid, low, high - low + bytes);
    }
    if (low < ISA_SHARED_BASE || high - ISA_SHARED_BASE >= shared ||
        shared - (high - ISA_SHARED_BASE) < bytes)
        return false;
    out->space = ISA_SPACE_SHARED;
    out->host = w->block->shared + (low - ISA_SHARED_BASE);
    return true;
}

/** Reads the @bytes bytes that each lane accesses to @out, whose other bytes become zero. Unmapped bytes are read as zero. @run:
 *  range that contains all accessed bytes, or NULL. */
static void read_lanes(struct emu_warp *w, const struct run *run, const uint64_t *address,
                       uint64_t lanes, unsigned bytes, uint8_t (*out)[16])
{
    if (run == NULL) {
        for (LW_EACH_BIT(l, lanes)) {
            memset(out[l], 0, sizeof out[l]);
            (void)emu_lane_copy(w, (unsigned)l, address[l], out[l], bytes, false);
        }
    } else if (bytes == 4) { /* the most frequent size has its own loop, with one copy for each lane */
        for (LW_EACH_BIT(l, lanes)) {
            uint32_t word[4] = {0};

            memcpy(word, run->host + (address[l] - run->start), 4);
            memcpy(out[l], word, sizeof word);
        }
    } else {
        for (LW_EACH_BIT(l, lanes)) {
            memset(out[l], 0, sizeof out[l]);
            memcpy(out[l], run->host + (address[l] - run->start), bytes);
        }
    }
}

/** Determines the spaces of the lanes' addresses and, if the addresses are affine, their base and stride. */
static void describe_lanes(struct emu_warp *w, const struct run *run, uint64_t lanes, uint8_t *space,
                           struct emu_access *access)
{
    const uint64_t *address = access->address;
    unsigned first = lw_lowest(lanes);
    uint64_t rest = lanes & (lanes - 1), expected = address[first];
    unsigned at = first;

    if (run != NULL) {
        memset(space, (uint8_t)run->space, EMU_MAX_LANES);
    } else {
        for (LW_EACH_BIT(l, lanes)) {
            enum isa_space real = ISA_SPACE_GENERIC;

            (void)emu_resolve(w, (unsigned)l, address[l], access->bytes, false, &real);
            space[l] = (uint8_t)real;
        }
    }
    access->space = (enum isa_space)space[first];
    access->base = address[first];
    access->affine = true;
    if (rest == 0)
        return;
    unsigned second = lw_lowest(rest);
    int64_t step = (int64_t)(address[second] - access->base);

    access->stride = second - first == 1 ? step : step / (int64_t)(second - first);
    for (LW_EACH_BIT(l, rest)) {
        expected += (uint64_t)access->stride * ((unsigned)l - at);
        at = (unsigned)l;
        if (address[l] != expected) {
            access->affine = false;
            break;
        }
    }
}

static void fill_access(struct emu_warp *w, struct emu_step_scratch *scratch,
                        const struct isa_insn *insn, const struct emu_dinsn *di,
                        uint64_t lanes, struct emu_event *ev)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    struct emu_access *access = &ev->access[ev->access_count++];
    struct run found, *run;

    memset(access, 0, offsetof(struct emu_access, piece));
    access->kind = emu_access_kind_of((enum isa_op)insn->op);
    access->bytes = (uint8_t)isa_mem_bytes(insn);
    access->order = (uint8_t)isa_mod_get(insn, ISA_MOD_MORDER);
    access->scope = (uint8_t)isa_mod_get(insn, ISA_MOD_SCOPE);
    access->cache = (uint8_t)isa_mod_get(insn, ISA_MOD_CACHE);
    access->lanes = lanes;
    if (insn->op == ISA_TEX) {
        unsigned bytes;
        lanes = access->lanes =
            emu_texture_addresses(w, insn, di, lanes, scratch->address, &bytes);
        access->bytes = (uint8_t)bytes;
        access->texture = true;
        access->order = access->scope = 0; /* a texture fetch has no modifiers for order and scope */
        access->cache = ISA_CACHE_NC;      /* texels are read through the read-only cache */
    } else {
        emu_addresses(w, insn, di, lanes, scratch->address);
    }
    access->address = scratch->address;
    access->lane_space = scratch->space;
    access->old_value = scratch->old_value;
    if (info->flags & ISA_F_ATOMIC) {
        access->service = scratch->service;
        for (LW_EACH_BIT(k, lanes)) /* atomics are served in lane order (MACHINE 6) */
            scratch->service[access->service_count++] = (uint8_t)k;
    }
    if (lanes == 0)
        return;
    access->in_allocation =
        emu_allocation_at(w->core->machine, scratch->address[lw_lowest(lanes)],
                          &access->allocation, &access->in_allocation) && access->in_allocation;
    run = find_run(w, scratch->address, lanes, access->bytes, &found) ? &found : NULL;
    describe_lanes(w, run, lanes, scratch->space, access);
    read_lanes(w, run, scratch->address, lanes, access->bytes, scratch->old_value);
}

/** Adds to the event the read of a constant operand, for which all lanes read one address of a bank. */
static void fill_constant(struct emu_warp *w, struct emu_step_scratch *scratch,
                          const struct isa_insn *insn, struct emu_event *ev)
{
    struct emu_access *access = &ev->access[ev->access_count++];
    uint64_t address = ISA_CONST_BASE + isa_x_bank(insn->x) * ISA_CONST_STRIDE +
                       isa_x_offset(insn->x);
    uint8_t value[16] = {0};

    memset(access, 0, offsetof(struct emu_access, piece));
    access->kind = EMU_ACCESS_CONSTANT;
    access->space = ISA_SPACE_CONST;
    access->bytes = (uint8_t)isa_insn_x_bytes(insn);
    access->lanes = isa_op_info((enum isa_op)insn->op)->flags & ISA_F_SCALAR ? w->m & ev->guard
                                                                            : ev->effective;
    access->address = scratch->address;
    access->lane_space = scratch->space;
    access->old_value = scratch->old_value;
    access->affine = true;
    access->base = address;
    (void)emu_lane_copy(w, 0, address, value, access->bytes, false);
    for (unsigned l = 0; l < w->width; l++) {
        scratch->address[l] = address;
        scratch->space[l] = ISA_SPACE_CONST;
        memcpy(scratch->old_value[l], value, sizeof value);
    }
}

static void fill_event(struct emu_warp *w, const struct isa_insn *insn,
                       const struct emu_dinsn *di, struct emu_event *ev)
{
    struct emu_block *block = w->block;

    /* Clears the event, except for its accesses, because access_count states how many accesses are valid, and for the text of a
     * fault. */
    memset(ev, 0, offsetof(struct emu_event, access));
    memset((char *)ev + offsetof(struct emu_event, access_count), 0,
           offsetof(struct emu_event, fault.detail) + 1 - offsetof(struct emu_event, access_count));
    ev->core = w->core;
    ev->grid = block->grid;
    memcpy(ev->block_index, block->index, sizeof ev->block_index);
    ev->block = block->linear;
    ev->slot = block->slot;
    ev->warp = w->index;
    ev->sequence = w->core->retired;
    ev->warp_sequence = w->retired;
    ev->block_sequence = block->retired;
    ev->warp_started = w->retired == 0;
    ev->block_started = block->retired == 0;
    ev->grid_started =
        ev->block_started && !__atomic_load_n(&block->grid->started, __ATOMIC_RELAXED);
    ev->pc = w->code->program->base + (uint64_t)di->index * ISA_WORD_BYTES;
    ev->insn = insn;
    ev->split_lanes = w->m;
    ev->exec = emu_exec_mask(w);
    ev->guard = emu_guard(w, di);
    ev->effective = w->m & ev->exec & ev->guard;
}

enum lw_status emu_step_addresses(struct emu_core *core, unsigned slot, unsigned warp, unsigned split,
                             uint64_t lanes, struct emu_event *ev, struct lw_error *err)
{
    struct emu_block *block = emu_core_block(core, slot);
    struct emu_step_scratch *scratch = core->scratch;

    if (block == NULL || warp >= block->warp_count)
        return LW_FAIL(err, LW_ERANGE, "there is no warp %u in block slot %u", warp, slot);
    struct emu_warp *w = &block->warp[warp];
    if (emu_split_by_id(w, split) < 0)
        return LW_FAIL(err, LW_ERANGE, "warp %u has no split %u", warp, split);
    if (lanes == 0 || lanes & ~w->split[split].lanes)
        return LW_FAIL(err, LW_ERANGE, "lanes 0x%llx are not all in split %u",
                       (unsigned long long)lanes, split);
    if (w->reconv->lockstep && lanes != w->split[split].lanes)
        return LW_FAIL(err, LW_EUNSUPP, "the reconvergence engine %s cannot step a part of a split: lanes 0x%llx were "
                                        "requested of split %u, which has lanes 0x%llx",
                                        w->reconv->name, (unsigned long long)lanes, split,
                       (unsigned long long)w->split[split].lanes);
    uint32_t pc = emu_split_pc(w, split);
    const struct emu_dinsn *di = &w->code->insn[pc];
    if (pc >= w->code->program->count) { /* past the end of the code, where the decoded program has an element that raises a
                                          * fault */
        memset(ev, 0, sizeof *ev);
        ev->kind = EMU_EV_FAULT;
        emu_split_divide(w, split, w->split[split].lanes, true);
        run_chain(w, 1, true);
        ev->fault = w->fault;
        return LW_OK;
    }
    const struct isa_insn *insn = &w->code->program->insn[pc];
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    bool whole = info->flags & ISA_F_WHOLE ||
                 (emu_exec_mask(w) & w->live) != w->live;

    w->slice_start = w->retired;
    if (!emu_split_divide(w, split, lanes, whole)) {
        uint64_t waits = 0; /* the lanes that still wait; the id of their split may have changed */
        for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_SUSPENDED]))
            waits |= w->split[id].lanes;
        if ((lanes & ~waits) == 0)
            return LW_FAIL(err, LW_EAGAIN, "split %u cannot run: it waits for its other lanes", split);
        return LW_FAIL(err, LW_ESTATE, "split %u cannot run: it waits or sleeps", split);
    }
    fill_event(w, insn, di, ev);
    ev->split = (unsigned)w->running;
    if (w->ctag != NULL) {
        emu_tag_count(w, insn);
        emu_compact_sources(w, di);
        core->tag_step->expansions = (unsigned)w->expansions;
    }
    uint64_t m = w->m;
    if (info->flags & ISA_F_MEMORY)
        fill_access(w, scratch, insn, di,
                    info->flags & ISA_F_SCALAR ? w->m & ev->guard & (0 - w->m) : ev->effective, ev);
    else if (insn->xkind == ISA_X_CONST)
        fill_constant(w, scratch, insn, ev);
    memset((char *)&scratch->flow + offsetof(struct emu_flow, count), 0, /* clears the members after the arrays outcome[] and
                                                                          * target[] */
           sizeof scratch->flow - offsetof(struct emu_flow, count));
    w->flow = &scratch->flow;
    uint64_t before = w->retired;
    run_chain(w, 1, true);
    emu_counts_sync(w);
    if (w->leave == EMU_LEAVE_BUDGET)
        emu_split_ran(w, (unsigned)(w->retired - before)); /* under an engine with a SIMT stack, may pop an entry */
    w->flow = NULL;
    if (ev->grid_started && w->retired != before) /* Several warps may execute their first step before the grid is recorded as
                                                   * started. Only one of these first steps may report the start of the grid. */
        ev->grid_started = emu_grid_begin(core->machine, block->grid);
    if (w->ctag != NULL) {
        emu_tag_counted(w);
        core->tag_step->expansions = (unsigned)w->expansions - core->tag_step->expansions;
    }
    if ((w->shadow != NULL || w->ctag != NULL) && w->retired != before) {
        ev->tags = core->tag_step->change;
        ev->tag_count = core->tag_step->change_count;
        ev->expansions = core->tag_step->expansions;
    }
    if (w->leave == EMU_LEAVE_FAULT) {
        ev->kind = EMU_EV_FAULT;
        ev->fault = w->fault;
        return LW_OK;
    }
    ev->kind = w->retired != before ? EMU_EV_RETIRED : EMU_EV_ARRIVED;
    emu_split_outcomes(w, m, &scratch->flow);
    for (unsigned i = 0; i < scratch->flow.count; i++)
        scratch->flow.outcome[i].pc =
            w->code->program->base + (uint64_t)scratch->flow.target[i] * ISA_WORD_BYTES;
    ev->outcomes = scratch->flow.outcome;
    ev->outcome_count = scratch->flow.count;
    ev->exited = scratch->flow.exited;
    ev->conv = scratch->flow.conv;
    if (ev->conv.released == 0)
        ev->conv.why = EMU_RELEASE_NONE;
    ev->cta = scratch->flow.cta;
    if (info->flags & ISA_F_STORE) {
        struct run found; /* the range is determined again, because other lanes may have freed the memory */
        bool one = find_run(w, scratch->address, ev->effective, ev->access[0].bytes, &found);

        read_lanes(w, one ? &found : NULL, scratch->address, ev->effective, ev->access[0].bytes,
                   scratch->new_value);
        ev->access[0].new_value = scratch->new_value;
    }
    ev->warp_ended = w->live == 0;
    ev->block_ended = block->threads_live == 0;
    ev->grid_ended = block->ends_grid;
    return LW_OK;
}
