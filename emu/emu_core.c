/* SPDX-License-Identifier: Apache-2.0 */
/* Cores: blocks and their warps, the turn of a warp, the watched step. */
#include "emu/emu_core_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/emu_decode_priv.h"
#include "emu/emu_log_priv.h"
#include "emu/emu_next_priv.h"
#include "emu/emu_compact_priv.h"

/* ---- levels ------------------------------------------------------------------------ */

const struct emu_level *emu_level_choose(unsigned wanted)
{
#if defined __x86_64__ && !defined LW_ONE_LEVEL
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");

    if ((wanted == 0 || wanted == 4) && v4)
        return &emu_level_v4;
    if ((wanted == 0 || wanted == 3) && v3)
        return &emu_level_v3;
    return wanted == 0 || wanted == 1 ? &emu_level_v1 : NULL;
#else
    return wanted == 0 || wanted == 1 ? &emu_level_v1 : NULL;
#endif
}

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* ---- cores and decoded programs ------------------------------------------------------- */

enum lw_status emu_program_try_decode(struct emu_machine *machine, struct emu_program *program,
                                      struct lw_error *err)
{
    struct emu_layout layout;
    struct emu_code code;
    enum lw_status status;

    const struct emu_level *level = emu_level_choose(machine->config.level);

    emu_layout_make(&layout, machine->config.warp_width, level);
    status = emu_code_create(program, &layout, level, NULL, &code, err);
    if (status == LW_OK)
        emu_code_destroy(&code);
    return status;
}

/** Sizes of the parts of a block's one heap block: warps, barrier registers, tags, shared
 *  memory, lanes at CTA barriers; then for each warp, in steps, its rows and local memory. */
struct block_plan {
    size_t warps, bregs, tags, shared, cta, rows_at, rows, local, step, total;
    unsigned vregs, bregs_count;
    uint32_t local_bytes;
};

/** The start of a grid's warps, and what it was made of. */
struct emu_stencil {
    const struct emu_code *code;
    const struct isa_function *kernel;
    const void *bank0;
    unsigned warps;
    uint32_t shared_bytes;
    struct block_plan plan;
    struct emu_layout layout;
    struct emu_warp warp;
};

static enum lw_status core_code(struct emu_core *core, const struct emu_launch *launch,
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
        return LW_FAIL(err, LW_ENOMEM, "decoded programs");
    core->code_capacity = (unsigned)capacity;
    struct emu_code *code = calloc(1, sizeof *code);
    if (code == NULL)
        return LW_FAIL(err, LW_ENOMEM, "decoded program");
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

enum lw_status emu_core_create(struct emu_machine *machine, unsigned slots,
                               const struct emu_core_ops *ops, void *context,
                               struct emu_core **out, struct lw_error *err)
{
    /* blocks and counters change all the time: a cache line is one core's */
    size_t block_bytes = round_up(slots * sizeof(struct emu_block), 128);
    struct emu_core *core = aligned_alloc(128, round_up(sizeof *core, 128));
    struct emu_core **cores;

    if (core == NULL)
        return LW_FAIL(err, LW_ENOMEM, "core");
    memset(core, 0, sizeof *core);
    core->machine = machine;
    core->level = emu_level_choose(machine->config.level);
    if (ops != NULL)
        core->ops = *ops;
    core->context = context;
    core->slots = slots;
    core->block = aligned_alloc(128, block_bytes);
    core->scratch = calloc(1, sizeof *core->scratch);
    core->tag_step = calloc(1, sizeof *core->tag_step);
    core->stencil = aligned_alloc(64, round_up(sizeof *core->stencil, 64));
    cores = realloc(machine->cores, (machine->core_count + 1) * sizeof *cores);
    if (cores != NULL)
        machine->cores = cores;
    if (core->block == NULL || core->scratch == NULL || core->tag_step == NULL ||
        core->stencil == NULL || cores == NULL) {
        free(core->block);
        free(core->scratch);
        free(core->tag_step);
        free(core->stencil);
        free(core);
        return LW_FAIL(err, LW_ENOMEM, "core of %u blocks", slots);
    }
    memset(core->block, 0, block_bytes);
    memset(core->stencil, 0, sizeof *core->stencil);
    machine->cores[machine->core_count++] = core;
    *out = core;
    return LW_OK;
}

void emu_core_destroy(struct emu_core *core)
{
    struct emu_machine *machine;

    if (core == NULL)
        return;
    machine = core->machine;
    for (unsigned i = 0; i < machine->core_count; i++) {
        if (machine->cores[i] == core) {
            machine->cores[i] = machine->cores[--machine->core_count];
            break;
        }
    }
    machine->helper_count -= core->helper;
    for (unsigned i = 0; i < core->slots; i++) {
        if (core->block[i].in_use)
            emu_core_block_free(core, i);
        free(core->block[i].memory);
    }
    for (unsigned i = 0; i < core->code_count; i++) {
        emu_code_destroy(core->code[i]);
        free(core->code[i]);
    }
    free(core->code);
    free(core->block);
    free(core->text_room.data);
    free(core->scratch);
    free(core->tag_step);
    free(core->stencil);
    free(core);
}

void emu_core_counts_move(struct emu_core *from, struct emu_core *to)
{
    to->retired += from->retired;
    from->retired = 0;
    emu_stats_add(&to->stats, &from->stats);
    memset(&from->stats, 0, sizeof from->stats);
}

struct emu_block *emu_core_block(const struct emu_core *core, unsigned slot)
{
    return slot < core->slots && core->block[slot].in_use ? &core->block[slot] : NULL;
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* By the library: with a size that it knows gcc emits `rep stos` and `rep movs`, which are
 * slower, and loads behind them wait. */
static void zero(void *at, size_t bytes)
{
    __asm__("" : "+r"(bytes));
    memset(at, 0, bytes);
}
static void copy(void *to, const void *from, size_t bytes)
{
    __asm__("" : "+r"(bytes));
    memcpy(to, from, bytes);
}

/* Where v0 lies from its warp, modulo 4 KiB: behind what each instruction looks at. A load
 * whose address equals that of a store just done in these bits waits for it. */
enum { ROW_V0_AHEAD = 1024, ALIAS_BYTES = 4096 };

static void plan_block(const struct emu_core *core, const struct emu_grid *grid,
                       const struct emu_layout *layout, struct block_plan *plan)
{
    const struct isa_function *kernel = grid->launch.kernel;
    const size_t n = layout->stride / 4;
    size_t v0;

    plan->vregs = emu_kernel_vregs(grid->launch.program, kernel);
    plan->bregs_count = ISA_BREG_COUNT;
    plan->local_bytes = kernel->local_bytes; /* exact to the byte */
    plan->warps = round_up(grid->block_warps * sizeof(struct emu_warp), 4096);
    /* a pair or quad may start at the last register: three rows of slack */
    plan->rows = round_up((size_t)(EMU_ROW_V0 + plan->vregs + 3) * n * 4, 64) + 64;
    plan->bregs = (size_t)plan->bregs_count * EMU_MAX_LANES * 8;
    plan->local = round_up(round_up(plan->local_bytes, 16) * n, 64) + 64;
    plan->shared = round_up((size_t)grid->shared_bytes + 64, 64);
    plan->cta = round_up((size_t)ISA_CTA_BARRIER_COUNT * grid->block_warps * 8, 64);
    plan->tags = 0;
    if (core->machine->config.tags == EMU_TAGS_SHADOW)
        plan->tags = round_up(sizeof(struct emu_shadow) + plan->vregs * sizeof(struct emu_tag), 64);
    else if (core->machine->config.tags == EMU_TAGS_COMPACT)
        plan->tags = round_up(emu_compact_bytes(EMU_ROW_V0 + plan->vregs + 3), 64);
    plan->rows_at = plan->warps + grid->block_warps * (plan->bregs + plan->tags) + plan->shared +
                    plan->cta;
    v0 = plan->rows_at + EMU_ROW_V0 * layout->stride;
    plan->rows_at += (ALIAS_BYTES + ROW_V0_AHEAD - v0 % ALIAS_BYTES) % ALIAS_BYTES;
    plan->step = plan->rows + plan->local;
    plan->step += (sizeof(struct emu_warp) - plan->step) % ALIAS_BYTES;
    plan->total = plan->rows_at + grid->block_warps * plan->step;
}

/** What new warps of @grid are copied from; made again when it is another's. */
static const struct emu_stencil *stencil_of(struct emu_core *core, const struct emu_grid *grid,
                                            struct emu_code *code)
{
    struct emu_stencil *t = core->stencil;
    struct emu_warp *w = &t->warp;
    const struct emu_launch *launch = &grid->launch;
    const struct emu_config *config = &core->machine->config;

    if (t->code == code && t->kernel == launch->kernel && t->bank0 == grid->bank0 &&
        t->warps == grid->block_warps && t->shared_bytes == grid->shared_bytes)
        return t;
    t->code = code;
    t->kernel = launch->kernel;
    t->bank0 = grid->bank0;
    t->warps = grid->block_warps;
    t->shared_bytes = grid->shared_bytes;
    emu_layout_make(&t->layout, config->warp_width, core->level);
    plan_block(core, grid, &t->layout, &t->plan);
    zero(w, sizeof *w);
    w->stride = t->layout.stride;
    w->n = t->layout.stride / 4;
    w->width = (uint8_t)config->warp_width;
    w->all = lw_mask(config->warp_width);
    w->core = core;
    w->code = code;
    w->row_zero = t->layout.row_zero;
    w->row_sink = t->layout.row_sink;
    w->row_a = t->layout.row_a;
    w->row_b = t->layout.row_b;
    w->row_c = t->layout.row_c;
    w->p[ISA_PT] = ~UINT64_C(0);
    w->sp[ISA_PT] = 1;
    w->s[126] = w->s[127] = ~UINT32_C(0);
    w->ubase[EMU_U_IMM] = (const char *)code->imm_pool;
    w->ubase[EMU_U_BANK0] = (const char *)grid->bank0;
    w->ubase[EMU_U_BANK1] = (const char *)code->program->bank1;
    w->breg_count = t->plan.bregs_count;
    w->local_bytes = t->plan.local_bytes;
    w->vreg_count = (uint16_t)t->plan.vregs;
    emu_split_stencil(w);
    return t;
}

/** Warp @index of a new block, but for its parts that have a place of their own. */
static struct emu_warp *init_warp(struct emu_block *block, const struct emu_stencil *t,
                                  unsigned index)
{
    struct emu_warp *w = &block->warp[index];
    uint32_t left = block->threads - index * t->warp.width;

    copy(w, &t->warp, offsetof(struct emu_warp, fault));
    w->block = block;
    w->index = index;
    w->ubase[EMU_U_SCALAR] = (const char *)w->s;
    w->launched = lw_mask(left < t->warp.width ? left : t->warp.width);
    return w;
}

/** The rows of zeros and the registers; scratch rows and the sink are written before they are
 *  read. */
static void zero_rows(struct emu_warp *w, size_t bytes)
{
    zero(w->regs + w->row_zero, w->row_sink - w->row_zero);
    zero(w->regs + EMU_ROW_V0 * w->stride, bytes - EMU_ROW_V0 * w->stride);
}

/** Memory for a block, @block zeroed but for what belongs to its slot. */
static enum lw_status take_slot(struct emu_block *block, const struct block_plan *plan,
                                struct lw_error *err)
{
    if (block->memory_bytes < plan->total) {
        free(block->memory);
        block->memory_bytes = 0;
        block->formed = 0;
        block->memory = aligned_alloc(4096, round_up(plan->total, 4096));
        if (block->memory == NULL)
            return LW_FAIL(err, LW_ENOMEM, "state of a block, %zu bytes", plan->total);
        block->memory_bytes = plan->total;
    }
    void *memory = block->memory;
    size_t memory_bytes = block->memory_bytes;
    unsigned formed = block->formed;
    zero(block, sizeof *block);
    block->memory = memory;
    block->memory_bytes = memory_bytes;
    block->formed = formed;
    block->warp = memory;
    return LW_OK;
}

enum lw_status emu_core_block_start(struct emu_core *core, struct emu_grid *grid,
                                    uint64_t linear, unsigned *slot, struct lw_error *err)
{
    struct emu_block *block = NULL;
    struct emu_code *code = NULL;
    enum lw_status status = core_code(core, &grid->launch, &code, err);

    if (status != LW_OK)
        return status;
    if (linear >= grid->block_count)
        return LW_FAIL(err, LW_ERANGE, "block %llu of %llu", (unsigned long long)linear,
                       (unsigned long long)grid->block_count);
    for (unsigned i = 0; i < core->slots && block == NULL; i++) {
        unsigned at = (core->free_hint + i) % core->slots;
        if (!core->block[at].in_use)
            block = &core->block[at];
    }
    if (block == NULL)
        return LW_FAIL(err, LW_ESTATE, "all %u block slots of the core are in use", core->slots);
    const struct emu_stencil *t = stencil_of(core, grid, code);
    const struct block_plan *plan = &t->plan;
    status = take_slot(block, plan, err);
    if (status != LW_OK)
        return status;
    block->core = core;
    block->grid = grid;
    block->linear = linear;
    block->index[0] = (uint32_t)(linear % grid->launch.grid[0]);
    block->index[1] = (uint32_t)(linear / grid->launch.grid[0] % grid->launch.grid[1]);
    block->index[2] = (uint32_t)(linear / grid->launch.grid[0] / grid->launch.grid[1]);
    block->slot = (unsigned)(block - core->block);
    block->in_use = true;
    block->threads = block->threads_live = grid->block_threads;
    block->warp_count = block->warps_live = grid->block_warps;
    block->shared_bytes = grid->shared_bytes;

    char *memory = block->memory, *at = memory + plan->warps;
    char *bregs = at; /* the forms in the warp say which rows count: no zeroing */
    at += grid->block_warps * plan->bregs;
    char *tags = at; /* made below */
    at += grid->block_warps * plan->tags;
    /* registers, local and shared memory start as zero (MACHINE 6) */
    zero(at, plan->shared + plan->cta);
    block->shared = (uint8_t *)at;
    at += plan->shared;
    for (unsigned i = 0; i < ISA_CTA_BARRIER_COUNT; i++)
        block->cta[i].lanes = (uint64_t *)(void *)at + (size_t)i * grid->block_warps;
    for (; block->formed < grid->block_warps; block->formed++) {
        struct emu_warp *w = &block->warp[block->formed];
        w->mask_lanes = 0;
        memset(w->mask_row, 0, sizeof w->mask_row);
    }
    block->formed = grid->block_warps; /* rows may lie where others had been */
    for (unsigned i = 0; i < grid->block_warps; i++) {
        struct emu_warp *w = init_warp(block, t, i);
        w->regs = memory + plan->rows_at + i * plan->step;
        zero_rows(w, plan->rows);
        w->breg = (uint64_t(*)[EMU_MAX_LANES])(void *)(bregs + i * plan->bregs);
        w->local = (uint8_t *)w->regs + plan->rows;
        if (plan->local_bytes != 0)
            zero(w->local, plan->local);
        if (core->machine->config.tags == EMU_TAGS_SHADOW) {
            w->shadow = (struct emu_shadow *)(void *)(tags + i * plan->tags);
            emu_shadow_init(w);
        } else if (plan->tags != 0) {
            emu_compact_init(w, tags + i * plan->tags, EMU_ROW_V0 + plan->vregs + 3);
        }
        emu_split_begin(w, grid->launch.kernel->first);
    }
    if (!core->notes_itself && emu_log_noting(core->machine))
        emu_log_add(core->machine->log,
                    &(struct emu_log_entry){.kind = EMU_LOG_BEGIN,
                                            .place = {.grid = grid->sequence, .block = linear}});
    __atomic_fetch_add(&grid->blocks_started, 1, __ATOMIC_RELAXED);
    grid->blocks_held += emu_grid_of_device(grid);
    core->stats.blocks++;
    core->stats.warps += grid->block_warps;
    *slot = block->slot;
    return LW_OK;
}

void emu_core_block_free(struct emu_core *core, unsigned slot)
{
    struct emu_block *block = emu_core_block(core, slot);

    if (block == NULL)
        return;
    if (block->ended)
        emu_text_block_ended(core->machine, block->grid, block->linear);
    for (unsigned i = 0; i < block->warp_count; i++)
        if (block->warp[i].simt.heap != NULL)
            emu_split_fini(&block->warp[i]);
    for (unsigned i = 0; block->ended && i < block->warp_count; i++)
        emu_warp_count(&block->warp[i], &core->stats);
    if (!core->notes_itself && emu_log_noting(core->machine))
        emu_log_add(core->machine->log,
                    &(struct emu_log_entry){.kind = EMU_LOG_END,
                                            .place = {.grid = block->grid->sequence,
                                                      .block = block->linear}});
    block->in_use = false;
    core->free_hint = slot;
    if (emu_grid_of_device(block->grid))
        emu_grid_unhold(core->machine, block->grid);
}

/* ---- lanes of the running split ------------------------------------------------------------- */

void emu_warp_set_lanes(struct emu_warp *w, uint64_t lanes)
{
    uint64_t e = lanes & emu_exec_mask(w);

    if (lanes != w->m) {
        w->m = lanes;
        w->m_count = (uint8_t)lw_popcount(lanes);
    }
    w->e = e;
    w->full = e == w->all; /* loads of the full chain touch every lane of the row */
    if (e != w->mask_lanes) {
        w->core->level->expand_mask(w->mask_row, e, w->n);
        w->mask_lanes = e;
    }
}

/* ---- the turn -------------------------------------------------------------------------------- */

static inline void counts_sync(struct emu_warp *w)
{
    uint64_t n = w->retired - w->turn_start;

    w->block->retired += n;
    w->core->retired += n;
    w->turn_start = w->retired;
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
#ifdef LW_LOOP
    while (w->leave == EMU_RUNNING)
        (w->full ? w->di->h.full : w->di->h.part)(w, w->di);
#endif
}

enum { LONGEST_BUDGET = 32768 }; /* below the saturation of emu_dinsn.run */

/** Execute exactly up to @budget instructions of the running split from w->di. Where a
 *  straight-line run is longer than what is left, the instruction behind the budget gets a
 *  handler that stops: exact, and free everywhere else. @past_break: the first instruction
 *  is executed even if it has a breakpoint. */
static void run_chain_once(struct emu_warp *w, int64_t budget, bool past_break)
{
    struct emu_code *code = w->code;

    w->budget = budget < LONGEST_BUDGET ? budget : LONGEST_BUDGET;
    for (;;) {
        const struct emu_dinsn *di = w->di;
        struct emu_handlers first = past_break ? code->normal[di->index] : di->h;
        w->run_start = di;
        past_break = false;
        if (di->run > w->budget) {
            struct emu_dinsn *stop = &code->insn[di->index + (uint32_t)w->budget];
            struct emu_handlers saved = stop->h;
            stop->h.full = stop->h.part = emu_budget_handler;
            go(w, first);
            stop->h = saved;
        } else {
            go(w, first);
        }
        if (w->leave != EMU_LEAVE_BUDGET || w->budget <= 0)
            return;
    }
}

/** Asks the engine, or the log in a replay. */
static bool ask_skip(const struct emu_core *core, const struct emu_fault *fault, uint32_t *read)
{
    uint64_t yes = 0, value = 0;

    if (core->answers != NULL) {
        (void)emu_answer_take(core, EMU_ANSWER_SKIP, &yes);
        if (yes != 0)
            (void)emu_answer_take(core, EMU_ANSWER_SKIP_VALUE, &value);
        *read = (uint32_t)value;
        return yes != 0;
    }
    yes = core->ops.skip_fault(core->context, fault, read);
    emu_answer_note(core, EMU_ANSWER_SKIP, yes);
    if (yes != 0)
        emu_answer_note(core, EMU_ANSWER_SKIP_VALUE, *read);
    return yes != 0;
}

static bool may_skip(const struct emu_core *core)
{
    return core->ops.skip_fault != NULL || core->answers != NULL;
}

/** The engine may let a memory instruction go on without its faulting lanes. True: it did,
 *  and the split stands behind it. */
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
    if (!(info->flags & ISA_F_MEMORY))
        return false;
    if (info->flags & ISA_F_SCALAR) { /* all of the warp or nothing */
        uint32_t read_value = 0;
        if (!core->ops.skip_fault(core->context, &w->fault, &read_value))
            return false;
        for (unsigned r = 0; r < isa_mem_regs(insn) && di->reg + r < 128; r++)
            w->s[di->reg + r] = read_value;
        emu_warp_set_lanes(w, m); /* exec may be what was loaded */
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
        /* the others, one instruction; none left is a no-op that still retires */
        w->e = all & ~skipped;
        w->full = false;
        core->level->expand_mask(w->mask_row, w->e, w->n);
        w->mask_lanes = w->e;
        w->di = di;
        run_chain_once(w, 1, true);
    }
    emu_warp_set_lanes(w, m);
    if (w->leave != EMU_LEAVE_BUDGET)
        return false;
    /* what they would have loaded; reductions and stores have no result */
    bool result = !(info->flags & ISA_F_STORE) || strncmp(info->operands, "dt", 2) == 0;
    for (unsigned r = 0; result && r < isa_mem_regs(insn); r++)
        for (LW_EACH_BIT(l, skipped))
            emu_row(w, di->d + r * w->stride)[l] = value[l];
    return true;
}

/** Where the engine may let lanes skip what faulted: go on until it does not. True: some did. */
static __attribute__((noinline)) bool skip_faults(struct emu_warp *w, uint64_t before, int64_t budget)
{
    bool skipped = false;

    while (w->leave == EMU_LEAVE_FAULT && may_skip(w->core) && skip_fault(w)) {
        int64_t left = budget - (int64_t)(w->retired - before);
        skipped = true;
        if (left <= 0)
            break;
        run_chain_once(w, left, false);
    }
    return skipped;
}

/** The same under shadow tags: @budget is one instruction. */
static __attribute__((noinline)) void run_chain_tagged(struct emu_warp *w, int64_t budget,
                                                       bool past_break)
{
    uint64_t before = w->retired;
    bool shadow = w->di->index < w->code->program->count, skipped;

    if (shadow)
        emu_shadow_before(w, w->di);
    run_chain_once(w, budget, past_break);
    skipped = skip_faults(w, before, budget);
    if (shadow && w->retired != before)
        emu_shadow_after(w, skipped);
}

static inline void run_chain(struct emu_warp *w, int64_t budget, bool past_break)
{
    uint64_t before = w->retired;

    if (w->shadow != NULL) {
        run_chain_tagged(w, budget, past_break);
        return;
    }
    run_chain_once(w, budget, past_break);
    if (w->leave == EMU_LEAVE_FAULT)
        (void)skip_faults(w, before, budget);
}

/** Go on where the chain of a turn of @budget, begun at the count @before, was left before its end. */
static __attribute__((noinline)) void run_chain_on(struct emu_warp *w, int64_t budget, uint64_t before)
{
    if (w->leave == EMU_LEAVE_BUDGET)
        run_chain_once(w, w->budget, false);
    if (w->leave == EMU_LEAVE_FAULT)
        (void)skip_faults(w, before, budget);
}

enum emu_turn_end emu_warp_turn(struct emu_warp *w, uint64_t limit, uint64_t *count)
{
    const uint64_t start = w->retired;
    enum emu_turn_end end = EMU_TURN_DONE;

    w->turn_start = start;
    for (;;) {
        const uint64_t before = w->retired, left = limit - (before - start);
        int64_t budget = left < INT64_MAX ? (int64_t)left : INT64_MAX;
        if (left == 0 || !emu_split_select_soon(w))
            break;
        if (w->split_count != 1) { /* else nothing limits it */
            int64_t allowance = emu_split_allowance(w);
            budget = allowance < budget ? allowance : budget;
        }
        if (w->shadow == NULL && w->di->run <= budget && budget <= LONGEST_BUDGET) {
            /* run_chain() where nothing is cut short */
            w->budget = budget;
            w->run_start = w->di;
            go(w, w->di->h);
            if ((w->leave == EMU_LEAVE_BUDGET && w->budget > 0) || w->leave == EMU_LEAVE_FAULT)
                run_chain_on(w, budget, before);
        } else {
            run_chain(w, w->shadow != NULL ? 1 : budget, false);
        }
        counts_sync(w);
        if (w->leave == EMU_LEAVE_TURN) {
            if (w->live == 0) {
                end = EMU_TURN_WARP_ENDED;
                break;
            }
            if (!emu_split_has_ready(w))
                break;
        } else if (w->leave == EMU_LEAVE_BUDGET) {
            emu_split_ran(w, (unsigned)(w->retired - before));
        } else if (w->leave == EMU_LEAVE_BREAK && w->reconv->reach != NULL &&
                   w->reconv->reach(w)) {
            continue; /* its lanes wait there: they have not come to the instruction yet */
        } else {
            if (w->retired != before)
                emu_split_ran(w, (unsigned)(w->retired - before));
            end = w->leave == EMU_LEAVE_BREAK ? EMU_TURN_BREAK : EMU_TURN_FAULT;
            break;
        }
    }
    *count = w->retired - start;
    if (*count != 0 && w->block->retired == *count) /* the block's first turn */
        emu_grid_begin(w->core->machine, w->block->grid);
    return end;
}

/* ---- faults ------------------------------------------------------------------------------------ */

static struct emu_fault *fault_begin(struct emu_warp *w, const struct emu_dinsn *di,
                                     enum emu_fault_kind kind, uint64_t lanes)
{
    struct emu_fault *fault = &w->fault;

    memset(fault, 0, sizeof *fault);
    fault->kind = kind;
    fault->lanes = lanes;
    fault->pc = w->code->program->base + (uint64_t)di->index * ISA_WORD_BYTES;
    fault->grid = w->block->grid->sequence;
    fault->block = w->block->linear;
    fault->warp = w->index;
    if (w->run_start <= di)
        emu_count_before(w, di);
    emu_leave(w, EMU_LEAVE_FAULT, di);
    return fault;
}

void emu_raise(struct emu_warp *w, const struct emu_dinsn *di, enum emu_fault_kind kind,
               uint64_t lanes, const char *fmt, ...)
{
    struct emu_fault *fault = fault_begin(w, di, kind, lanes);
    va_list args;

    va_start(args, fmt);
    vsnprintf(fault->detail, sizeof fault->detail, fmt, args);
    va_end(args);
}

void emu_raise_memory(struct emu_warp *w, const struct emu_dinsn *di, enum emu_fault_kind kind,
                      uint64_t lanes, enum isa_space space, uint64_t address, unsigned bytes,
                      bool write)
{
    struct emu_fault *fault = fault_begin(w, di, kind, lanes);

    fault->space = space;
    fault->address = address;
    fault->bytes = (uint8_t)bytes;
    fault->write = write;
    emu_describe_address(w, kind, space, address, bytes, write, fault->detail,
                         sizeof fault->detail);
}

/* ---- the watched step ------------------------------------------------------------------------------ */

static enum emu_access_kind kind_of(enum isa_op op)
{
    enum isa_space space;

    switch (isa_op_access(op, &space)) {
    case ISA_ACCESS_STORE: return EMU_ACCESS_STORE;
    case ISA_ACCESS_ATOMIC: return EMU_ACCESS_ATOMIC;
    case ISA_ACCESS_REDUCE: return EMU_ACCESS_REDUCE;
    case ISA_ACCESS_LOAD:
    case ISA_ACCESS_NONE: break; /* scalar loads */
    }
    return EMU_ACCESS_LOAD;
}

static void fill_access(struct emu_warp *w, struct emu_step_scratch *scratch,
                        const struct isa_insn *insn, const struct emu_dinsn *di,
                        uint64_t lanes, struct emu_event *ev)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    struct emu_access *access = &ev->access[ev->access_count++];

    memset(access, 0, sizeof *access);
    access->kind = kind_of((enum isa_op)insn->op);
    access->bytes = (uint8_t)isa_mem_bytes(insn);
    access->order = (uint8_t)isa_mod_get(insn, ISA_MOD_MORDER);
    access->scope = (uint8_t)isa_mod_get(insn, ISA_MOD_SCOPE);
    access->cache = (uint8_t)isa_mod_get(insn, ISA_MOD_CACHE);
    access->lanes = lanes;
    emu_addresses(w, insn, di, lanes, scratch->address);
    access->address = scratch->address;
    access->lane_space = scratch->space;
    access->old_value = scratch->old_value;
    access->affine = lanes != 0;
    unsigned first = lanes ? lw_lowest(lanes) : 0, previous = first;
    if (lanes != 0)
        access->in_allocation =
            emu_allocation_at(w->core->machine, scratch->address[first], &access->allocation,
                              &access->in_allocation) && access->in_allocation;
    if (info->flags & ISA_F_ATOMIC) {
        access->service = scratch->service;
        for (LW_EACH_BIT(k, lanes)) /* in lane order (MACHINE 6) */
            scratch->service[access->service_count++] = (uint8_t)k;
    }
    for (LW_EACH_BIT(l, lanes)) {
        enum isa_space space = ISA_SPACE_GENERIC;
        (void)emu_resolve(w, (unsigned)l, scratch->address[l], access->bytes, false, &space);
        scratch->space[l] = (uint8_t)space;
        memset(scratch->old_value[l], 0, sizeof scratch->old_value[l]);
        (void)emu_lane_copy(w, (unsigned)l, scratch->address[l], scratch->old_value[l],
                            access->bytes, false);
        if (l == first)
            access->space = space, access->base = scratch->address[l];
        else if (previous == first)
            access->stride = (int64_t)(scratch->address[l] - access->base) /
                             (int64_t)(l - first);
        previous = (unsigned)l;
    }
    for (LW_EACH_BIT(k, lanes))
        if (scratch->address[k] !=
            access->base + (uint64_t)access->stride * (uint64_t)(k - first))
            access->affine = false;
}

/** A constant operand: all lanes read one place of a bank. */
static void fill_constant(struct emu_warp *w, struct emu_step_scratch *scratch,
                          const struct isa_insn *insn, struct emu_event *ev)
{
    struct emu_access *access = &ev->access[ev->access_count++];
    uint64_t address = ISA_CONST_BASE + isa_x_bank(insn->x) * ISA_CONST_STRIDE +
                       isa_x_offset(insn->x);
    uint8_t value[16] = {0};

    memset(access, 0, sizeof *access);
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

    memset(ev, 0, sizeof *ev);
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
        ev->block_started && !__atomic_load_n(&block->grid->begun, __ATOMIC_RELAXED);
    ev->pc = w->code->program->base + (uint64_t)di->index * ISA_WORD_BYTES;
    ev->insn = insn;
    ev->split_lanes = w->m;
    ev->exec = emu_exec_mask(w);
    ev->guard = emu_guard(w, di);
    ev->effective = w->m & ev->exec & ev->guard;
}

static enum lw_status step(struct emu_core *core, unsigned slot, unsigned warp, unsigned split,
                           uint64_t lanes, struct emu_event *ev, struct lw_error *err)
{
    struct emu_block *block = emu_core_block(core, slot);
    struct emu_step_scratch *scratch = core->scratch;

    if (block == NULL || warp >= block->warp_count)
        return LW_FAIL(err, LW_ERANGE, "no warp %u in slot %u", warp, slot);
    struct emu_warp *w = &block->warp[warp];
    if (emu_split_by_id(w, split) < 0)
        return LW_FAIL(err, LW_ERANGE, "warp %u has no split %u", warp, split);
    if (lanes == 0 || lanes & ~w->split[split].lanes)
        return LW_FAIL(err, LW_ERANGE, "lanes 0x%llx are not of split %u",
                       (unsigned long long)lanes, split);
    if (w->reconv->lockstep && lanes != w->split[split].lanes)
        return LW_FAIL(err, LW_EUNSUPP, "the %s engine runs a split whole: lanes 0x%llx of split "
                       "%u, which has 0x%llx", w->reconv->name, (unsigned long long)lanes, split,
                       (unsigned long long)w->split[split].lanes);
    uint32_t pc = emu_split_pc(w, split);
    const struct emu_dinsn *di = &w->code->insn[pc];
    if (pc >= w->code->program->count) { /* the sentinel behind the code */
        memset(ev, 0, sizeof *ev);
        ev->kind = EMU_EV_FAULT;
        emu_split_force(w, split, w->split[split].lanes, true);
        run_chain(w, 1, true);
        ev->fault = w->fault;
        return LW_OK;
    }
    const struct isa_insn *insn = &w->code->program->insn[pc];
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    bool whole = info->flags & ISA_F_WHOLE ||
                 (emu_exec_mask(w) & w->live) != w->live;

    w->turn_start = w->retired;
    if (!emu_split_force(w, split, lanes, whole)) {
        uint64_t waits = 0; /* the part may have got another id than the split had */
        for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_SUSPENDED]))
            waits |= w->split[id].lanes;
        if ((lanes & ~waits) == 0)
            return LW_FAIL(err, LW_EAGAIN, "split %u waits for the rest of its lanes", split);
        return LW_FAIL(err, LW_ESTATE, "split %u is not ready", split);
    }
    fill_event(w, insn, di, ev);
    ev->split = (unsigned)w->running;
    if (w->ctag != NULL) {
        emu_tag_note(w, insn);
        emu_compact_sources(w, di);
        core->tag_step->expansions = (unsigned)w->expansions;
    }
    uint64_t m = w->m;
    if (info->flags & ISA_F_MEMORY)
        fill_access(w, scratch, insn, di,
                    info->flags & ISA_F_SCALAR ? w->m & ev->guard & (0 - w->m) : ev->effective, ev);
    else if (insn->xkind == ISA_X_CONST)
        fill_constant(w, scratch, insn, ev);
    memset(&scratch->flow, 0, sizeof scratch->flow);
    w->flow = &scratch->flow;
    uint64_t before = w->retired;
    run_chain(w, 1, true);
    emu_counts_sync(w);
    if (w->leave == EMU_LEAVE_BUDGET)
        emu_split_ran(w, (unsigned)(w->retired - before)); /* a SIMT stack may pop here */
    w->flow = NULL;
    if (ev->grid_started && w->retired != before) /* of several at once, one is the first */
        ev->grid_started = emu_grid_begin(core->machine, block->grid);
    if (w->ctag != NULL) {
        emu_tag_noted(w);
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
    ev->conv.op = scratch->flow.op;
    ev->conv.reg = scratch->flow.reg;
    ev->conv.soft = scratch->flow.soft;
    ev->conv.group = scratch->flow.group;
    ev->conv.arrived = scratch->flow.arrived;
    ev->conv.released = scratch->flow.released;
    ev->conv.why = scratch->flow.released == 0 ? EMU_RELEASE_NONE : scratch->flow.why;
    ev->cta.used = scratch->flow.cta_used;
    ev->cta.completed = scratch->flow.cta_completed;
    ev->cta.id = scratch->flow.cta_id;
    ev->cta.arrived = scratch->flow.cta_arrived;
    ev->cta.expected = scratch->flow.cta_expected;
    ev->cta.generation = scratch->flow.cta_generation;
    if (info->flags & ISA_F_STORE) {
        for (LW_EACH_BIT(l, ev->effective))
            (void)emu_lane_copy(w, (unsigned)l, scratch->address[l], scratch->new_value[l],
                                ev->access[0].bytes, false);
        ev->access[0].new_value = scratch->new_value;
    }
    ev->warp_ended = w->live == 0;
    ev->block_ended = block->threads_live == 0;
    ev->grid_ended = block->ends_grid;
    return LW_OK;
}

static void note(const struct emu_block *block, enum emu_log_kind kind, unsigned warp,
                 unsigned split, uint64_t lanes)
{
    if (emu_log_noting(block->core->machine))
        emu_log_add(block->core->machine->log,
                    &(struct emu_log_entry){.kind = kind,
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
    enum lw_status status = step(core, slot, warp, split, lanes, ev, err);

    if (noted && (status == LW_OK || status == LW_EAGAIN))
        note(block, EMU_LOG_STEP, warp, split, whole ? 0 : lanes);
    return status;
}

int emu_warp_select(struct emu_core *core, unsigned slot, unsigned warp)
{
    struct emu_block *block = emu_core_block(core, slot);

    if (block == NULL || warp >= block->warp_count)
        return -1;
    struct emu_warp *w = &block->warp[warp];
    if (w->running < 0 && !emu_log_in_past(core->machine->log)) {
        (void)emu_split_select(w);
        note(block, EMU_LOG_SELECT, warp, 0, 0);
    }
    return w->running;
}
