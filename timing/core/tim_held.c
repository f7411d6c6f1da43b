/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data of the lines in L1, for models without cache coherence (l1.coherent: off). A line has the bytes that memory had in
 * the cycle in which the line arrived. A load that hits in L1 at issue returns these bytes, even if another core has
 * stored to the line since. The tags of L1 determine which lines are present. All warps of the core see the core's own
 * stores and atomics from their issue on, because the load/store unit is in order. A fence or an acquire with a scope
 * wider than the block drops all lines of global memory. So does the first block of a later kernel. Source: PTX ISA,
 * cache operators (.ca: other L1 caches may be stale; L1 is invalidated between dependent grids). Compilers emit
 * CCTL.IVALL after MEMBAR for fences of device scope, so these fences invalidate L1.
 */
#include "timing/core/tim_core_priv.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 256 };
struct held_line {
    uint64_t line;    /* 1 + address of the line, or 0 if there is none */
    uint64_t mask[4]; /* valid bytes */
    uint8_t data[LINE_MOST];
};
struct tim_held {
    uint32_t grid;    /* highest sequence number of a grid that has had a block on the core */
    size_t ways;
    struct held_line *at; /* [sets x ways] */
};

bool tim_held_create(struct tim_core *core)
{
    struct tim_held *held = calloc(1, sizeof *held);

    core->held = held;
    if (held == NULL)
        return false;
    held->ways = core->config->l1_ways;
    held->at = calloc(tim_cache_sets(core->l1) * held->ways, sizeof *held->at);
    return held->at != NULL;
}

void tim_held_destroy(struct tim_held *held)
{
    if (held != NULL)
        free(held->at);
    free(held);
}

static bool is_known(const uint64_t mask[4], unsigned at, unsigned bytes)
{
    return (~mask[at / 64] & lw_mask(bytes) << at % 64) == 0; /* one word of the mask is enough, because accesses are
                                                               * aligned and have at most 16 bytes */
}

/** Returns the recorded data of the line at @line if L1 has bytes [@at, @at + @bytes) of the line now and the record of these
 *  bytes is valid; else NULL. */
static struct held_line *find(const struct tim_core *core, uint64_t line, unsigned at, unsigned bytes)
{
    uint64_t mask[4] = {0};
    struct tim_cache_result r;
    struct held_line *held;

    mask[at / 64] = lw_mask(bytes) << at % 64;
    tim_cache_lookup(core->l1, line, mask, &r);
    if (r.answer != TIM_CACHE_HIT)
        return NULL;
    held = &core->held->at[r.set * core->held->ways + r.way];
    return held->line == line + 1 && is_known(held->mask, at, bytes) ? held : NULL;
}

/** Reads memory as warp @warp sees it. Returns the number of valid bytes from @address on. */
static unsigned peek(const struct tim_core *core, unsigned warp, uint64_t address, void *data, unsigned bytes)
{
    const struct tim_warp *w = &core->warp[warp];

    return (unsigned)emu_mem_peek(core->emu, core->block[w->block].slot, w->index, 0, address, data, bytes);
}

void tim_held_fill(struct tim_core *core, unsigned warp, uint64_t line, const uint64_t mask[4])
{
    const unsigned bytes = core->config->l1_line;
    struct tim_cache_result r;
    struct held_line *held;

    tim_cache_lookup(core->l1, line, mask, &r);
    if (r.answer != TIM_CACHE_HIT) /* the line was evicted before it arrived */
        return;
    held = &core->held->at[r.set * core->held->ways + r.way];
    if (held->line != line + 1)
        memset(held, 0, sizeof *held);
    held->line = line + 1;
    for (unsigned at = 0; at < bytes;) { /* parts of the line may be in no allocation, so peek() may read fewer bytes */
        unsigned n = 1;

        if (mask[at / 64] >> at % 64 & 1) {
            while (at + n < bytes && mask[(at + n) / 64] >> (at + n) % 64 & 1)
                n++;
            n = peek(core, warp, line + at, held->data + at, n);
            for (unsigned k = at; k < at + n; k++)
                held->mask[k / 64] |= UINT64_C(1) << k % 64;
            n += n == 0;
        }
        at += n;
    }
}

void tim_held_miss(struct tim_core *core, unsigned set, unsigned way, uint64_t line)
{
    struct held_line *held = &core->held->at[set * core->held->ways + way];

    if (held->line != line + 1)
        held->line = 0;
}

void tim_held_forget(struct tim_core *core)
{
    core->stats->count[TIM_CORE_l1_invalidations]++;
    tim_cache_invalidate(core->l1, TIM_LOCAL_BASE);
    if (core->locality != NULL)
        tim_locality_invalidate(core->locality, TIM_LOCAL_BASE);
    if (core->mechs.count != 0)
        tim_mechs_drop(&core->mechs, UINT64_MAX);
}

void tim_held_block(struct tim_core *core, const struct emu_grid *grid, bool moves_in)
{
    if (grid->sequence <= core->held->grid && !moves_in)
        return;
    if (grid->sequence > core->held->grid)
        core->held->grid = grid->sequence;
    tim_held_forget(core);
}

/** Called after a lane of this core has stored @bytes bytes at @address, by a store or an atomic. Updates the bytes that L1
 *  has or, unless @updates, drops their line. */
static void store(struct tim_core *core, unsigned warp, uint64_t address, unsigned bytes, bool updates)
{
    const uint64_t line = address & ~(uint64_t)(core->config->l1_line - 1);
    const unsigned at = (unsigned)(address - line);
    uint64_t mask[4] = {0};
    struct tim_cache_line place;
    struct held_line *held;

    /* Visits all ways that have or had the line, because the load/store unit makes the access, and thus changes the tags,
     * later. */
    for (unsigned way = 0; way < core->held->ways; way++) {
        const unsigned set = tim_cache_set(core->l1, line);

        held = &core->held->at[set * core->held->ways + way];
        if (held->line != line + 1)
            continue;
        if (!updates || !tim_cache_line(core->l1, set, way, &place) || place.line != line) {
            held->line = 0;
            continue;
        }
        mask[at / 64] = lw_mask(bytes) << at % 64;
        if (peek(core, warp, address, held->data + at, bytes) == bytes)
            held->mask[at / 64] |= mask[at / 64];
    }
}

/** Writes @bytes bytes of @data to the destination registers of load @insn in one lane, as the load does. */
static void put(struct tim_core *core, unsigned warp, unsigned lane, const struct isa_insn *insn,
                const uint8_t *data, unsigned bytes)
{
    const struct tim_warp *w = &core->warp[warp];
    uint32_t word[4] = {0};

    memcpy(word, data, bytes);
    switch (isa_mod_get(insn, ISA_MOD_SIZE)) {
    case ISA_SIZE_S8: word[0] = (uint32_t)(int8_t)word[0]; break;
    case ISA_SIZE_S16: word[0] = (uint32_t)(int16_t)word[0]; break;
    default: break;
    }
    for (unsigned k = 0; k < isa_mem_regs(insn) && insn->d != ISA_VZ; k++)
        (void)emu_reg_write(core->emu, core->block[w->block].slot, w->index, ISA_REG_V, insn->d + k, lane,
                            word[k], NULL);
}

/** Called after load @insn has executed in one lane. If L1 has bytes that differ from memory (are stale), gives the lane
 *  the stale bytes and returns true. */
static bool load(struct tim_core *core, unsigned warp, unsigned lane, const struct isa_insn *insn,
                 uint64_t address, unsigned bytes)
{
    const uint64_t line = address & ~(uint64_t)(core->config->l1_line - 1);
    const unsigned at = (unsigned)(address - line);
    const struct held_line *held = find(core, line, at, bytes);
    uint8_t now[16];

    if (held == NULL || peek(core, warp, address, now, bytes) != bytes ||
        memcmp(now, held->data + at, bytes) == 0)
        return false;
    put(core, warp, lane, insn, held->data + at, bytes);
    return true;
}

/** Returns whether an access with this memory order and scope acquires with a scope wider than the block. */
static bool acquires(unsigned order, unsigned scope)
{
    return (order == ISA_MORDER_ACQUIRE || order == ISA_MORDER_ACQREL) && scope != ISA_SCOPE_CTA;
}

void tim_held_step(struct tim_core *core, unsigned warp, const struct emu_event *ev, bool cached)
{
    for (unsigned i = 0; i < ev->access_count; i++) {
        const struct emu_access *a = &ev->access[i];
        const bool reads = a->kind == EMU_ACCESS_LOAD;
        uint64_t row[EMU_MAX_LANES], stale = 0;
        const uint64_t *address = a->piece_count != 0 ? tim_access_rows(a, row) : a->address;

        if (a->kind == EMU_ACCESS_CONSTANT || a->texture || (reads && !cached && a->order == 0))
            continue;
        for (LW_EACH_BIT(l, reads && !cached ? 0 : a->lanes)) {
            if ((a->lane_space != NULL ? a->lane_space[l] : a->space) != ISA_SPACE_GLOBAL)
                continue;
            if (!reads)
                store(core, warp, address[l], a->bytes,
                      a->kind == EMU_ACCESS_STORE && core->config->l1_store == TIM_STORE_UPDATE);
            else if (load(core, warp, (unsigned)l, ev->insn, address[l], a->bytes))
                stale |= UINT64_C(1) << l;
        }
        if (stale != 0) {
            core->stats->count[TIM_CORE_l1_stale] += lw_popcount(stale);
            emu_machine_report_stale(core->machine, ev, stale, address[lw_lowest(stale)], a->bytes);
        }
        if (acquires(a->order, a->scope))
            tim_held_forget(core);
    }
    if (ev->insn->op == ISA_FENCE && isa_mod_get(ev->insn, ISA_MOD_FSCOPE) != ISA_FSCOPE_CTA)
        tim_held_forget(core);
}
