/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Race checker: redundant-access filter for pages of global memory (FastTrack: same epoch).
 *
 * Further reads of a page that many blocks have read change nothing in its records. The instructions that read the page
 * therefore call no hook for it until something writes to the page. Without the filter, `gemm` executes 5.6 times as
 * many instructions (docs/explanation/race-detection.md).
 */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/* A page is filtered for an instruction under the following conditions. Since the last launch by the host, each of its
 * cells was read by weak loads of unordered blocks, and was not written. The last read was by that instruction, or by
 * several instructions with different cells, as in unrolled loops. The record of each cell then has level RACE_GRID. A
 * later write finds two readers in the record, one of them in another block. Without fences the clocks of the writer
 * cannot cover that reader, whatever the time of its last read. Further reads would change only this time, so they need no
 * check. */

enum { TABLE_PAGES = 1 << RACE_TABLE_SHIFT, MIXED = -1, LOOK_EVERY = 64 };

/** Returns true if @insn may make a thread release more accesses than the barriers of its block do. */
static bool is_fence(const struct isa_insn *insn)
{
    const unsigned flags = isa_op_info((enum isa_op)insn->op)->flags;

    if (insn->op == ISA_FENCE)
        return true;
    if (!(flags & ISA_F_MEMORY) || flags & ISA_F_SCALAR || insn->op == ISA_TEX || insn->op == ISA_LDMATRIX)
        return false;
    const unsigned order = isa_mod_get(insn, ISA_MOD_MORDER);
    return order == ISA_MORDER_RELEASE || order == ISA_MORDER_ACQREL;
}

/** Marks the instructions that can be reached from a kernel's entry. Returns false if control may reach any
 *  instruction. */
static bool code_reach(const struct emu_program *program, uint32_t first, uint32_t count, bool *mark, uint32_t *todo)
{
    uint32_t n = 0;
    bool falls = false; /* The code writes exec, so some lanes may continue where other lanes end. */

    for (uint32_t i = 0; i < count; i++) {
        const struct isa_insn *insn = chk_insn_at(program, i);
        struct isa_reg_use uses[ISA_MAX_USES];
        const unsigned used = isa_insn_uses(insn, uses);
        for (unsigned k = 0; k < used; k++)
            falls |= uses[k].written && uses[k].reg_class == ISA_REG_S && uses[k].first + uses[k].count > ISA_S_EXEC;
    }
    mark[first] = true;
    todo[n++] = first;
    while (n != 0) {
        const uint32_t i = todo[--n];
        const struct isa_insn *insn = chk_insn_at(program, i);
        const bool calls = isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL;
        int64_t next[3];
        unsigned ways = 0;

        if (!isa_insn_ends(insn) || falls || calls)
            next[ways++] = (int64_t)i + 1;
        if (isa_insn_jumps(insn, i, &next[ways]))
            ways++;
        if (calls && isa_insn_target(insn, i, &next[ways]))
            ways++;
        else if (calls || (isa_op_is_indirect((enum isa_op)insn->op) && insn->op != ISA_RET))
            return false;
        for (unsigned k = 0; k < ways; k++)
            if (next[k] >= 0 && next[k] < count && !mark[next[k]]) {
                mark[next[k]] = true;
                todo[n++] = (uint32_t)next[k];
            }
    }
    return true;
}

/** Fills the properties of a kernel's code (struct race_code) from the instructions that the kernel can reach. If these are
 *  not known, or if the kernel launches other kernels, analyses the whole program. */
static void code_read(const struct emu_program *program, const struct isa_function *kernel, struct race_code *out)
{
    const uint32_t count = (uint32_t)emu_program_object(program)->text_count;
    bool *mark = calloc((size_t)count + 1, sizeof *mark);
    uint32_t *todo = calloc((size_t)count + 1, sizeof *todo);
    bool known = mark != NULL && todo != NULL && kernel->first < count && code_reach(program, kernel->first, count, mark, todo);

    *out = (struct race_code){.kernel = kernel, .sync_free = true};
    for (uint32_t i = 0; i < count; i++) {
        const struct isa_insn *insn = chk_insn_at(program, i);
        if (known && !mark[i])
            continue;
        out->sync_free &= !is_fence(insn);
        if (insn->op == ISA_LAUNCH_KERNEL || insn->op == ISA_LAUNCH_GROUP) {
            out->launches = true;
            if (known)
                i = UINT32_MAX; /* Restarts the loop for the whole program: a device launch may execute any of its
                                 * code. */
            known = false;
        }
    }
    free(mark);
    free(todo);
}

void race_code_of(struct chk_race *race, const struct emu_program *program, const struct isa_function *kernel,
                  struct race_code *out)
{
    for (size_t i = 0; i < race->order.code_count; i++)
        if (race->order.codes[i].kernel == kernel) {
            *out = race->order.codes[i];
            return;
        }
    code_read(program, kernel, out);
    if (lw_grow(&race->order.codes, &race->order.code_capacity, race->order.code_count + 1, sizeof *race->order.codes))
        race->order.codes[race->order.code_count++] = *out;
}

/** Returns the number of bytes, from the start of a page, that may be accessed. Bytes after the end of the allocation that
 *  contains the page's first byte do not count. If small objects may share the page, returns the size of the page. */
static uint32_t bytes_of(const struct chk_race *race, uint64_t page)
{
    const uint64_t all = UINT64_C(1) << RACE_PAGE_SHIFT, base = ISA_GLOBAL_BASE + page * all;
    struct emu_allocation a;
    bool inside;

    if (!emu_allocation_at(race->machine, base, &a, &inside) || !inside || a.flags & EMU_ALLOC_HEAP)
        return (uint32_t)all;
    const uint64_t left = a.address + a.size_bytes - base;
    return (uint32_t)(left < all ? left : all);
}

/** Returns the stamp of a page: the site of the instruction that made the last read of each cell, or MIXED if there are
 *  several such instructions. 0: the page cannot be filtered. */
static uint32_t stamp_of(const struct race_page_shadow *cells, uint32_t bytes, uint32_t base)
{
    const uint32_t *hot = cells->hot;
    const uint32_t count = (bytes + (1u << cells->shift) - 1) >> cells->shift;
    const uint32_t mine = hot[RACE_HOT_SITE] & (uint32_t)lw_mask(RACE_SITE_BITS);
    uint32_t bad = 0, other = 0;

    for (uint32_t i = 0; i < count; i++, hot += RACE_HOT) {
        const uint32_t site = hot[RACE_HOT_SITE];
        bad |= (uint32_t)(hot[RACE_HOT_WRITE] > base) | (uint32_t)(hot[RACE_HOT_READ] <= base);
        bad |= (site & RACE_HOW) | (~site >> RACE_LEVEL_SHIFT & RACE_GRID);
        other |= (site & (uint32_t)lw_mask(RACE_SITE_BITS)) ^ mine;
        if (bad != 0)
            return 0;
    }
    return other != 0 || mine == 0 ? (uint32_t)MIXED : mine;
}

struct race_page_shadow *race_filter_reads_allowed(struct race_access *ctx, uint64_t at)
{
    struct chk_race *race = ctx->race;
    struct race_page_shadow *cells;

    if (at < ISA_GLOBAL_BASE || ctx->synchronizes || ctx->write || !ctx->plain || race->order.grid_count != 1 ||
        !race->order.grids[0].code.sync_free)
        return NULL;
    if (race_shadow_hot(&race->shadow, at - ISA_GLOBAL_BASE) == NULL)
        return NULL;
    cells = race_shadow_cached(&race->shadow, at - ISA_GLOBAL_BASE);
    if (cells == NULL || cells->valid_epoch != race->shadow.epoch)
        return NULL;
    const uint32_t i = (uint32_t)(at & ((1 << RACE_PAGE_SHIFT) - 1)) >> cells->shift;
    const uint32_t site = *race_at(cells, RACE_R + RACE_SITE, i);
    if (site >> RACE_LEVEL_SHIFT != RACE_GRID ||
        *race_at(cells, RACE_R + RACE_CLOCK, i) <= ctx->block->vc_floor ||
        *race_at(cells, RACE_W + RACE_CLOCK, i) > ctx->block->vc_floor)
        return NULL;
    if ((site ^ ctx->site) & ((1u << RACE_SITE_BITS) - 1)) { /* another instruction made the last read of this cell */
        cells->redundant_reads = 0;
        race_filter_reads_end(race, at - ISA_GLOBAL_BASE, 0);
        return NULL;
    }
    return cells;
}

void race_filter_reads_prefetch(struct race_access *ctx, uint64_t at, struct race_page_shadow *cells)
{
    enum { MOST = 512 };
    struct chk_race *race = ctx->race;
    const uint64_t page = (at - ISA_GLOBAL_BASE) >> RACE_PAGE_SHIFT;
    const uint64_t in = page & (TABLE_PAGES - 1);
    uint32_t **table = &race->filter.page_stamp[page >> RACE_TABLE_SHIFT];
    uint64_t first = in, end = in + 1;

    if (cells->redundant_launch != race->filter.host_launches) {
        cells->redundant_launch = race->filter.host_launches;
        cells->redundant_reads = 0;
    }
    if (*table == NULL || (*table)[in] == 0) {
        if (++cells->redundant_reads % LOOK_EVERY != 0)
            return;
        const uint32_t stamp = stamp_of(cells, bytes_of(race, page), ctx->block->vc_floor);
        if (stamp == 0)
            return;
        if (*table == NULL)
            *table = calloc(TABLE_PAGES, sizeof **table);
        if (*table == NULL)
            return; /* if memory for the table is short, the page is not filtered */
        (*table)[in] = stamp;
        race->filter.any_page = true;
        race_batch_revoke(race);
    }
    const uint32_t *stamp = *table, mine = stamp[in];
    while (first > 0 && in - first < MOST && stamp[first - 1] == mine)
        first--;
    while (end < TABLE_PAGES && end - in < MOST && stamp[end] == mine)
        end++;
    const uint64_t base = ISA_GLOBAL_BASE + ((page - in) << RACE_PAGE_SHIFT);
    *ctx->access->filter = (struct emu_hook_filter){.first = base + (first << RACE_PAGE_SHIFT),
                                                 .end = base + (end << RACE_PAGE_SHIFT)};
}

void race_filter_reads_end(struct chk_race *race, uint64_t offset, uint32_t reader)
{
    const uint64_t page = offset >> RACE_PAGE_SHIFT;
    uint32_t *table = page >> RACE_TABLE_SHIFT < 1 << RACE_TABLE_SHIFT
                          ? race->filter.page_stamp[page >> RACE_TABLE_SHIFT]
                          : NULL;

    if (table == NULL || table[page & (TABLE_PAGES - 1)] == 0 ||
        (reader != 0 && (table[page & (TABLE_PAGES - 1)] == reader ||
                         table[page & (TABLE_PAGES - 1)] == (uint32_t)MIXED)))
        return;
    table[page & (TABLE_PAGES - 1)] = 0;
    emu_hooks_invalidate_filters(race->machine);
}

bool race_filter_reads_enter(const struct chk_race *race, uint64_t first, uint64_t end)
{
    uint32_t any = 0;

    for (uint64_t page = first >> RACE_PAGE_SHIFT; page <= (end - 1) >> RACE_PAGE_SHIFT; page++) {
        const uint32_t *table = race->filter.page_stamp[page >> RACE_TABLE_SHIFT];
        any |= table != NULL ? table[page & (TABLE_PAGES - 1)] : 0;
    }
    return any != 0;
}

void race_filter_reads_forget(struct chk_race *race)
{
    race->filter.host_launches++;
    if (!race->filter.any_page)
        return;
    for (unsigned t = 0; t < 1 << RACE_TABLE_SHIFT; t++) {
        free(race->filter.page_stamp[t]);
        race->filter.page_stamp[t] = NULL;
    }
    race->filter.any_page = false;
    emu_hooks_invalidate_filters(race->machine);
}
