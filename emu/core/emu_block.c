/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a core: their memory, and the initial state of their warps. */
#include <stdlib.h>

#include "emu/grid/emu_grid_priv.h"
#include "emu/tags/emu_compact_priv.h"
#include "emu/core/emu_core_priv.h"
#include "emu/program/emu_decode_priv.h"
#include "emu/log/emu_log_priv.h"

/** Layout, in bytes, of the memory of a thread block: the warps, their tags, shared memory, the masks of lanes that have arrived
 *  at CTA barriers; then, for each warp, its vector registers and local memory. The barrier registers of the warps are allocated
 *  separately. */
struct block_plan {
    size_t warps, bregs, tags, shared, cta, rows_at, rows, local, step, total;
    unsigned vregs, bregs_count;
    uint32_t local_bytes;
};

/** Template of a grid's warps: their initial state, and the values from which it was made. */
struct emu_warp_template {
    const struct emu_code *code;
    const struct isa_function *kernel;
    const void *bank0;
    unsigned warps;
    uint32_t shared_bytes;
    struct block_plan plan;
    struct emu_layout layout;
    uint64_t stamp; /* number of the template; counts from 1, and each grid's template gets a new number */
    struct emu_kernel_use use; /* registers that the kernel can write, apart from exec */
    struct emu_warp warp;
};

struct emu_warp_template *emu_warp_template_create(void)
{
    struct emu_warp_template *t = aligned_alloc(64, emu_round_up(sizeof *t, 64));

    if (t != NULL)
        memset(t, 0, sizeof *t);
    return t;
}

/* Zeroes memory by a call of memset(). If the size were known at compile time, gcc would emit `rep stos` instead, which is slower
 * and delays later loads. */
static void zero(void *at, size_t bytes)
{
    __asm__("" : "+r"(bytes));
    memset(at, 0, bytes);
}
/* Copies memory by a call of memcpy(), because gcc would otherwise emit the slower `rep movs`. */
static void copy(void *to, const void *from, size_t bytes)
{
    __asm__("" : "+r"(bytes));
    memcpy(to, from, bytes);
}

/* Distance modulo 4 KiB of v0 from its warp's structure. A host load waits for an earlier store whose address has the same low 12
 * bits. At this distance, v0 is past the members that every instruction reads, so that stores to v0 and the next registers do not
 * delay reads of these members. */
enum { ROW_V0_AHEAD = 1024, ALIAS_BYTES = 4096 };

static void plan_block(const struct emu_core *core, const struct emu_grid *grid,
                       const struct emu_layout *layout, struct block_plan *plan)
{
    const struct isa_function *kernel = grid->launch.kernel;
    const size_t n = layout->stride / 4;
    size_t v0;

    plan->vregs = emu_kernel_vregs(grid->launch.program, kernel);
    plan->bregs_count = ISA_BREG_COUNT;
    plan->local_bytes = kernel->local_bytes; /* the exact number of bytes, not rounded up */
    plan->warps = emu_round_up(grid->block_warps * sizeof(struct emu_warp), 4096);
    /* plus three registers after the last one, because a pair or quad may start in the last one */
    plan->rows = emu_round_up((size_t)(EMU_ROW_V0 + plan->vregs + 3) * n * 4, 64) + 64;
    plan->bregs = (size_t)plan->bregs_count * EMU_MAX_LANES * 8;
    plan->local = emu_round_up(emu_round_up(plan->local_bytes, 16) * n, 64) + 64;
    plan->shared = emu_round_up((size_t)grid->shared_bytes + 64, 64);
    plan->cta = emu_round_up((size_t)ISA_CTA_BARRIER_COUNT * grid->block_warps * 8, 64);
    plan->tags = 0;
    if (core->machine->config.tags == EMU_TAGS_SHADOW)
        plan->tags = emu_round_up(sizeof(struct emu_shadow) + plan->vregs * sizeof(struct emu_tag), 64);
    else if (core->machine->config.tags == EMU_TAGS_COMPACT)
        plan->tags = emu_round_up(emu_compact_bytes(EMU_ROW_V0 + plan->vregs + 3), 64);
    plan->rows_at = plan->warps + grid->block_warps * plan->tags + plan->shared + plan->cta;
    v0 = plan->rows_at + EMU_ROW_V0 * layout->stride;
    plan->rows_at += (ALIAS_BYTES + ROW_V0_AHEAD - v0 % ALIAS_BYTES) % ALIAS_BYTES;
    plan->step = plan->rows + plan->local;
    plan->step += (sizeof(struct emu_warp) - plan->step) % ALIAS_BYTES;
    plan->total = plan->rows_at + grid->block_warps * plan->step;
}

/** Returns the template for warps of @grid. If the core's template was made for another grid, it is made again. */
static const struct emu_warp_template *warp_template_of(struct emu_core *core, const struct emu_grid *grid,
                                            struct emu_code *code)
{
    struct emu_warp_template *t = core->warp_template;
    struct emu_warp *w = &t->warp;
    const struct emu_launch *launch = &grid->launch;
    const struct emu_config *config = &core->machine->config;

    if (t->code == code && t->kernel == launch->kernel && t->bank0 == grid->bank0 &&
        t->warps == grid->block_warps && t->shared_bytes == grid->shared_bytes)
        return t;
    t->stamp++;
    t->use = *emu_kernel_use(launch->program, launch->kernel);
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
    w->tagged = config->tags != EMU_TAGS_OFF;
    emu_split_template(w);
    return t;
}

/* Range of a warp's members that every new block copies from the template. memcpy() takes half as many host instructions for up
 * to 256 bytes as for more bytes. */
enum {
    FRESH = offsetof(struct emu_warp, s[ISA_S_EXEC]),
    FRESH_BYTES = offsetof(struct emu_warp, seq_counter) - FRESH
};
_Static_assert(FRESH % 16 == 0 && FRESH_BYTES <= 256, "whole vectors");

/** Initialises warp @index of a new block, except for memory outside the structure. @formed: the slot's memory was initialised
 *  from the same template, so members that warps never change are still valid. mask_row may still represent lanes of the earlier
 *  warp, because no split is running yet. */
static struct emu_warp *init_warp(struct emu_block *block, const struct emu_warp_template *t,
                                  unsigned index, bool formed)
{
    struct emu_warp *w = &block->warp[index];
    uint32_t left = block->threads - index * t->warp.width;

    if (formed) {
        for (unsigned i = 0; i < t->use.scalars; i += 4) /* may also clear exec, which is set later */
            memset(&w->s[i], 0, 4 * sizeof w->s[0]);
        copy((char *)w + FRESH, (const char *)&t->warp + FRESH, FRESH_BYTES);
        w->seq_counter = w->group_counter = w->born_counter = 0;
        w->served = w->lanes_saved = w->expansions = w->rows_made = 0;
        w->simt.count = w->simt.capacity = 0;
        w->simt.heap = NULL;
        for (LW_EACH_BIT(reg, t->use.bregs))
            w->bform[reg] = (struct emu_breg_form){0};
    } else {
        copy(w, &t->warp, offsetof(struct emu_warp, fault));
        w->block = block;
        w->index = index;
        w->ubase[EMU_U_SCALAR] = (const char *)w->s;
        w->ubase[EMU_U_SPECIAL] = (const char *)block->special;
    }
    w->launched = lw_mask(left < t->warp.width ? left : t->warp.width);
    w->hooked_lanes = w->launched; /* on_block() also reports the first split, so no further call of the hooks is necessary */
    return w;
}

/** Initialises the registers of a warp that are always zero and never change, and sets mask_row to no lanes. */
static void form_warp(struct emu_warp *w)
{
    zero(w->regs + w->row_zero, w->row_sink - w->row_zero);
    w->mask_lanes = 0;
    memset(w->mask_row, 0, sizeof w->mask_row);
}

/** Allocates memory for the barrier registers of a block's warps. The memory is not initialised, because emu_breg_form shows
 *  which of its arrays of group numbers are valid. Returns false if there is no memory. */
static bool take_bregs(struct emu_block *block, size_t bytes)
{
    if (block->bregs_bytes >= bytes)
        return true;
    lw_release(block->bregs, block->bregs_bytes);
    block->bregs = lw_reserve(bytes);
    block->bregs_bytes = block->bregs != NULL ? bytes : 0;
    block->formed_by = 0;
    return block->bregs != NULL;
}

/** Prepares the memory of a slot for a block, and zeroes @block except for the members that describe the slot. *@formed is set to
 *  whether the memory is already initialised from the same template. If *@formed is true, the CTA barriers are not zeroed,
 *  because no CTA barrier is in use. */
static enum lw_status take_slot(struct emu_block *block, const struct emu_warp_template *t,
                                bool *formed, struct lw_error *err)
{
    const struct block_plan *plan = &t->plan;

    if (block->memory_bytes < plan->total) {
        free(block->memory);
        block->memory_bytes = 0;
        block->formed_by = 0;
        block->memory = aligned_alloc(4096, emu_round_up(plan->total, 4096));
        if (block->memory == NULL)
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the state of a block (%zu bytes)", plan->total);
        block->memory_bytes = plan->total;
    }
    if (!take_bregs(block, t->warps * plan->bregs))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the barrier registers of a block (%zu bytes)", t->warps * plan->bregs);
    void *memory = block->memory, *bregs = block->bregs;
    size_t memory_bytes = block->memory_bytes, bregs_bytes = block->bregs_bytes;
    uint64_t formed_by = block->formed_by;
    *formed = formed_by == t->stamp;
    if (*formed) {
        for (LW_EACH_BIT(id, block->cta_open)) { /* only barriers in use have arrived lanes to clear */
            block->cta[id].in_use = false;
            zero(block->cta[id].lanes, block->warp_count * sizeof block->cta[id].lanes[0]);
        }
        zero(block, offsetof(struct emu_block, cta));
        zero(&block->cta_open, offsetof(struct emu_block, memory) - offsetof(struct emu_block, cta_open));
    } else {
        zero(block, sizeof *block);
    }
    block->memory = memory;
    block->memory_bytes = memory_bytes;
    block->bregs = bregs;
    block->bregs_bytes = bregs_bytes;
    block->formed_by = formed_by;
    block->warp = memory;
    return LW_OK;
}

/** Zeroes the vector registers and local memory of a new warp. Scratch register rows and the register row for discarded results
 *  are not zeroed, because they are written before they are read. @formed: as in init_warp(). */
static void clear_registers(struct emu_warp *w, const struct block_plan *plan, bool formed)
{
    zero(w->regs + EMU_ROW_V0 * w->stride, formed ? (size_t)plan->vregs * w->stride : plan->rows - EMU_ROW_V0 * w->stride);
    if (plan->local_bytes != 0)
        zero(w->local, plan->local);
}

void emu_block_specials(struct emu_block *block)
{
    const struct emu_launch *launch = &block->grid->launch;
    const uint64_t linear = block->linear, row = linear / launch->grid[0];

    block->index[0] = (uint32_t)(linear - row * launch->grid[0]);
    block->index[1] = row == 0 ? 0 : (uint32_t)(row % launch->grid[1]);
    block->index[2] = row == 0 ? 0 : (uint32_t)(row / launch->grid[1]);
    for (unsigned k = 0; k < 3; k++) {
        block->special[ISA_SR_NTID_X - ISA_SR_NTID_X + k] = launch->block[k];
        block->special[ISA_SR_CTAID_X - ISA_SR_NTID_X + k] = block->index[k];
        block->special[ISA_SR_NCTAID_X - ISA_SR_NTID_X + k] = launch->grid[k];
        block->special[ISA_SR_OFFSET_X - ISA_SR_NTID_X + k] = launch->offset[k];
    }
    block->special[ISA_SR_WORKDIM - ISA_SR_NTID_X] = launch->work_dim;
}

static void count_start(struct emu_block *block)
{
    struct emu_core *core = block->core;

    (void)emu_count_one(core->machine, &block->grid->blocks_started);
    core->stats.blocks++;
    core->stats.warps += block->warp_count;
}

void emu_core_block_next(struct emu_block *block, uint64_t linear, bool written, const bool *spilled)
{
    const struct emu_warp_template *t = block->core->warp_template;
    const bool follows = linear == block->linear + 1 && block->index[0] + 1 < block->grid->launch.grid[0];

    block->linear = linear;
    block->progress = block->cta_generation = block->retired = 0;
    block->threads_live = block->threads;
    if (follows)
        block->special[ISA_SR_CTAID_X - ISA_SR_NTID_X] = ++block->index[0];
    else
        emu_block_specials(block);
    if (block->shared_bytes != 0)
        zero(block->shared, t->plan.shared);
    const bool unchanged = spilled == NULL && !written && t->use.bregs == 0 && t->plan.local_bytes == 0;
    for (unsigned i = 0; !unchanged && i < block->warp_count; i++) {
        struct emu_warp *w = &block->warp[i];
        if (written || (spilled != NULL && spilled[i])) {
            (void)init_warp(block, t, i, true);
            clear_registers(w, &t->plan, true);
            emu_split_begin(w, t->kernel->first);
            continue;
        }
        w->retired = w->lane_retired = w->slice_start = w->group_counter = w->seq_counter = 0;
        w->split[0].pc = t->kernel->first;
        for (LW_EACH_BIT(reg, t->use.bregs))
            w->bform[reg] = (struct emu_breg_form){0};
        if (t->plan.local_bytes != 0)
            zero(w->local, t->plan.local);
    }
    count_start(block);
}

enum lw_status emu_core_block_start(struct emu_core *core, struct emu_grid *grid,
                                    uint64_t linear, unsigned *slot, struct lw_error *err)
{
    struct emu_block *block = NULL;
    struct emu_code *code = NULL;
    enum lw_status status = emu_core_code(core, &grid->launch, &code, err);

    if (status != LW_OK)
        return status;
    if (linear >= grid->block_count)
        return LW_FAIL(err, LW_ERANGE, "block %llu does not exist: the grid has %llu blocks", (unsigned long long)linear,
                       (unsigned long long)grid->block_count);
    if (!emu_grid_complete_bank(core->machine, grid))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the parameters of launch %u", grid->sequence);
    for (unsigned i = 0; i < core->slots && block == NULL; i++) {
        unsigned at = (core->free_hint + i) % core->slots;
        if (!core->block[at].in_use)
            block = &core->block[at];
    }
    if (block == NULL)
        return LW_FAIL(err, LW_ESTATE, "cannot start another block: all %u block slots of the core are in use",
                       core->slots);
    const struct emu_warp_template *t = warp_template_of(core, grid, code);
    const struct block_plan *plan = &t->plan;
    bool formed = false;
    status = take_slot(block, t, &formed, err);
    if (status != LW_OK)
        return status;
    block->core = core;
    block->grid = grid;
    block->linear = linear;
    emu_block_specials(block);
    block->slot = (unsigned)(block - core->block);
    block->in_use = true;
    if (block->slot >= core->slots_used)
        core->slots_used = block->slot + 1;
    block->threads = block->threads_live = grid->block_threads;
    block->warp_count = block->warps_live = grid->block_warps;
    block->shared_bytes = grid->shared_bytes;

    char *memory = block->memory, *at = memory + plan->warps;
    char *tags = at; /* the loop over the warps sets each warp's tags */
    at += grid->block_warps * plan->tags;
    /* shared memory starts as zero (MACHINE 6) */
    zero(at, plan->shared + (formed ? 0 : plan->cta));
    block->shared = (uint8_t *)at;
    at += plan->shared;
    for (unsigned i = 0; !formed && i < ISA_CTA_BARRIER_COUNT; i++)
        block->cta[i].lanes = (uint64_t *)(void *)at + (size_t)i * grid->block_warps;
    for (unsigned i = 0; i < grid->block_warps; i++) {
        struct emu_warp *w = init_warp(block, t, i, formed);
        if (!formed) {
            w->regs = memory + plan->rows_at + i * plan->step;
            w->breg = (uint64_t(*)[EMU_MAX_LANES])(void *)((char *)block->bregs + i * plan->bregs);
            w->local = (uint8_t *)w->regs + plan->rows;
            form_warp(w);
        }
        clear_registers(w, plan, formed);
        if (core->machine->config.tags == EMU_TAGS_SHADOW) {
            w->shadow = (struct emu_shadow *)(void *)(tags + i * plan->tags);
            emu_shadow_init(w);
        } else if (plan->tags != 0) {
            emu_compact_init(w, tags + i * plan->tags, EMU_ROW_V0 + plan->vregs + 3);
        }
        emu_split_begin(w, grid->launch.kernel->first);
    }
    block->formed_by = t->stamp;
    if (!core->notes_itself && emu_log_is_recording(core->machine))
        emu_log_add(core->machine->log,
                    &(struct emu_log_entry){.kind = EMU_LOG_BEGIN,
                                            .place = {.grid = grid->sequence, .block = linear}});
    count_start(block);
    if (emu_grid_of_device(grid)) /* slots of host launches are not counted: their blocks may start on several threads at the
                                   * same time */
        grid->slots_in_use++;
    *slot = block->slot;
    if (core->machine->active_hooks != NULL)
        core->machine->active_hooks->on_block(core->machine->active_hooks, core, block->slot, true);
    return LW_OK;
}

void emu_core_block_free(struct emu_core *core, unsigned slot)
{
    struct emu_block *block = emu_core_block(core, slot);

    if (block == NULL)
        return;
    if (core->machine->active_hooks != NULL)
        core->machine->active_hooks->on_block(core->machine->active_hooks, core, slot, false);
    if (block->ended)
        emu_text_block_ended(core->machine, block->grid, block->linear);
    for (unsigned i = 0; i < block->warp_count; i++) {
        struct emu_warp *w = &block->warp[i];
        if (w->simt.heap != NULL)
            emu_split_fini(w);
        if (block->ended && w->ctag == NULL)
            core->stats.thread_instructions += w->lane_retired;
        else if (block->ended)
            emu_warp_count(w, &core->stats);
    }
    if (!core->notes_itself && emu_log_is_recording(core->machine))
        emu_log_add(core->machine->log,
                    &(struct emu_log_entry){.kind = EMU_LOG_END,
                                            .place = {.grid = block->grid->sequence,
                                                      .block = block->linear}});
    block->in_use = false;
    core->free_hint = slot;
    if (emu_grid_of_device(block->grid))
        emu_grid_unhold(core->machine, block->grid);
}
