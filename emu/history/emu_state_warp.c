/* SPDX-License-Identifier: Apache-2.0 */
/* The state of blocks and warps as bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "emu/simt/emu_split_priv.h"
#include "emu/bytes/emu_state_priv.h"
#include "emu/tags/emu_compact_priv.h"
#include "emu/engine/emu_engine_priv.h"

/* ---- byte rows: registers and shared memory, with runs of equal byte rows --------------------------- */

enum row_kind { ROWS_ZERO, ROWS_WORD, ROWS_RAW };

/** Returns the kind of a byte row: all words are zero, all words are equal, or (raw) neither. Sets *@word to the first word. */
static enum row_kind kind_of(const uint8_t *row, size_t row_bytes, uint32_t *word)
{
    uint32_t first = lw_get32(row), differ = 0;

    for (size_t i = 4; i < row_bytes; i += 4)
        differ |= lw_get32(row + i) ^ first;
    *word = first;
    return differ != 0 ? ROWS_RAW : first != 0 ? ROWS_WORD : ROWS_ZERO;
}

/* Writes consecutive byte rows of one kind as a run: first their number * 4 + kind; then nothing, the common word, or the bytes
 * of raw byte rows. */
void emu_put_rows(struct emu_bytes *out, const void *rows, size_t count, size_t row_bytes)
{
    const uint8_t *row = rows;

    for (size_t i = 0; i < count;) {
        uint32_t word, next;
        enum row_kind kind = kind_of(row + i * row_bytes, row_bytes, &word);
        size_t n = 1;
        while (i + n < count && kind_of(row + (i + n) * row_bytes, row_bytes, &next) == kind &&
               (kind != ROWS_WORD || next == word))
            n++;
        emu_put_number(out, n << 2 | kind);
        if (kind == ROWS_WORD)
            emu_put(out, &word, sizeof word);
        else if (kind == ROWS_RAW)
            emu_put(out, row + i * row_bytes, n * row_bytes);
        i += n;
    }
}

bool emu_get_rows(struct emu_reader *in, void *rows, size_t count, size_t row_bytes)
{
    uint8_t *row = rows;

    for (size_t i = 0; i < count;) {
        uint64_t head = emu_get_number(in), n = head >> 2;
        const uint8_t *from = NULL;
        if (n == 0 || n > count - i || (head & 3) > ROWS_RAW)
            in->bad = true;
        else if ((head & 3) != ROWS_ZERO)
            from = emu_get(in, (head & 3) == ROWS_WORD ? 4 : n * row_bytes);
        if (in->bad)
            return false;
        if (from == NULL)
            memset(row + i * row_bytes, 0, n * row_bytes);
        else if ((head & 3) == ROWS_RAW)
            memcpy(row + i * row_bytes, from, n * row_bytes);
        else
            for (size_t k = 0; k < n * row_bytes; k += 4)
                memcpy(row + i * row_bytes + k, from, 4);
        i += n;
    }
    return true;
}

/* ---- a warp ---------------------------------------------------------------------------- */

enum { SLACK_ROWS = 3 }; /* number of registers after the last one, because a pair or quad may start in the last one */

static size_t local_rows(const struct emu_warp *w)
{
    return (w->local_bytes + 15) / 16 * 4;
}

static void save_split(const struct emu_warp *w, unsigned id, struct emu_bytes *out)
{
    const struct emu_split *p = &w->split[id];

    emu_put_number(out, id);
    emu_put_number(out, emu_split_pc(w, id));
    EMU_SAVE(EMU_STATE_SPLIT, p, out);
    if (p->state == EMU_SPLIT_SLEEPING)
        emu_put_number(out, p->wake);
    if (p->state == EMU_SPLIT_CTA)
        emu_put_number(out, p->reduction);
    if (p->state == EMU_SPLIT_WARPSYNC)
        for (LW_EACH_BIT(l, p->lanes))
            emu_put_number(out, w->member[l]);
}

static void save_warp(const struct emu_warp *w, struct emu_bytes *out)
{
    EMU_SAVE(EMU_STATE_WARP, w, out);
    if (w->ctag != NULL) /* gives tagged registers their register rows; this does not change the guest's state */
        emu_compact_show((struct emu_warp *)(uintptr_t)w);
    emu_tags_save(w, out);
    emu_put_rows(out, w->regs + EMU_ROW_V0 * w->stride, w->vreg_count + SLACK_ROWS, w->stride);
    emu_put_rows(out, w->local, local_rows(w), w->n * 4);
    emu_put(out, w->s, sizeof w->s);
    for (unsigned i = 0; i < ISA_PT; i++) {
        emu_put_number(out, w->p[i] & w->all);
        emu_put_number(out, w->sp[i]);
    }
    emu_put_signed(out, w->running);
    emu_put_number(out, w->split_count);
    for (LW_EACH_BIT(id, w->split_ids))
        save_split(w, (unsigned)id, out);
    for (unsigned reg = 0; reg < ISA_BREG_COUNT; reg++) {
        const struct emu_breg_form *p = &w->bform[reg];
        EMU_SAVE(EMU_STATE_BREG, p, out);
        if (p->number == 0)
            for (LW_EACH_BIT(l, p->lanes))
                emu_put_number(out, w->breg[reg][l]);
    }
    emu_put_number(out, w->simt.count);
    for (unsigned i = 0; i < w->simt.count; i++) {
        const struct emu_simt_entry *p = &emu_simt_entries(w)[i];
        EMU_SAVE(EMU_STATE_ENTRY, p, out);
        emu_put_signed(out, p->split);
    }
}

/** Returns true if the warp has all registers that the function at @pc uses. The pc after the end of the code is valid, too. */
static bool pc_is_good(const struct emu_warp *w, uint32_t pc)
{
    const struct emu_program *program = w->code->program;
    const struct isa_function *f;

    if (pc >= program->count)
        return pc == program->count;
    f = isa_object_function_at(program->object, pc);
    return f != NULL && emu_kernel_vregs(program, f) <= w->vreg_count;
}

static bool is_reduction(const struct emu_warp *w, uint32_t index)
{
    unsigned op;

    if (index >= w->code->program->count || !pc_is_good(w, index))
        return false;
    op = w->code->program->insn[index].op;
    return op == ISA_BAR_RED_POPC || op == ISA_BAR_RED_AND || op == ISA_BAR_RED_OR;
}

static bool load_split(struct emu_warp *w, struct emu_reader *in)
{
    unsigned id = (unsigned)emu_get_limited(in, EMU_MAX_LANES - 1);
    struct emu_split *p = &w->split[id];

    if (in->bad || (w->split_ids >> id & 1))
        return false;
    memset(p, 0, sizeof *p);
    p->id = (uint8_t)id;
    p->pc = (uint32_t)emu_get_limited(in, UINT32_MAX);
    EMU_LOAD(EMU_STATE_SPLIT, p, in);
    if (p->state == EMU_SPLIT_SLEEPING)
        p->wake = emu_get_number(in);
    if (p->state == EMU_SPLIT_CTA)
        p->reduction = (uint32_t)emu_get_limited(in, UINT32_MAX);
    if (p->state >= EMU_SPLIT_STATE_COUNT || p->lanes == 0 ||
        (p->lanes & (w->live | ~w->launched)) ||
        (p->family & ~w->launched) || !pc_is_good(w, p->pc) ||
        (p->state == EMU_SPLIT_BLOCKED && p->barrier >= ISA_BREG_COUNT) ||
        (p->state == EMU_SPLIT_CTA && p->barrier >= ISA_CTA_BARRIER_COUNT) ||
        (p->reduction != 0 && !is_reduction(w, p->reduction - 1)))
        return false;
    if (p->state == EMU_SPLIT_WARPSYNC)
        for (LW_EACH_BIT(l, p->lanes))
            w->member[l] = emu_get_number(in);
    w->split_ids |= split_bit(id);
    w->split_in[p->state] |= split_bit(id);
    w->split_count++;
    w->live |= p->lanes;
    return !in->bad;
}

static bool load_splits(struct emu_warp *w, struct emu_reader *in)
{
    int64_t running = emu_get_signed(in);
    uint64_t count = emu_get_limited(in, w->width);

    w->split_ids = w->split_count = 0;
    w->live = 0;
    memset(w->split_in, 0, sizeof w->split_in);
    for (uint64_t i = 0; i < count; i++)
        if (!load_split(w, in))
            return false;
    if (running < -1 || running >= EMU_MAX_LANES ||
        (running >= 0 && !(w->split_in[EMU_SPLIT_READY] >> running & 1)))
        return false;
    w->running = (int)running;
    return true;
}

static bool load_barriers(struct emu_warp *w, struct emu_reader *in)
{
    memset(w->bform, 0, sizeof w->bform);
    w->breg_blocked = 0;
    for (unsigned reg = 0; reg < ISA_BREG_COUNT; reg++) {
        struct emu_breg_form *p = &w->bform[reg];
        EMU_LOAD(EMU_STATE_BREG, p, in);
        if (p->lanes & ~w->all)
            return false;
        if (p->number == 0)
            for (LW_EACH_BIT(l, p->lanes))
                w->breg[reg][l] = emu_get_number(in);
    }
    for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_BLOCKED])) {
        struct emu_breg_form *p = &w->bform[w->split[id].barrier];
        p->arrived |= w->split[id].lanes;
        p->splits |= split_bit((unsigned)id);
        w->breg_blocked |= UINT32_C(1) << w->split[id].barrier;
    }
    return !in->bad;
}

static bool load_stack(struct emu_warp *w, struct emu_reader *in)
{
    unsigned count = (unsigned)emu_get_limited(in, EMU_SIMT_LIMIT);

    if (in->bad || !w->reconv->lockstep)
        return !in->bad && count == 0;
    w->simt.count = 0;
    if (w->reconv->room != NULL && !w->reconv->room(w, count))
        return false;
    w->simt.count = count;
    for (unsigned i = 0; i < count; i++) {
        struct emu_simt_entry *p = &emu_simt_entries(w)[i];
        memset(p, 0, sizeof *p);
        EMU_LOAD(EMU_STATE_ENTRY, p, in);
        int64_t split = emu_get_signed(in);
        if (split < -1 || split >= EMU_MAX_LANES || (p->lanes & ~w->launched) ||
            (split >= 0 && !(w->split_ids >> split & 1)) ||
            (p->rpc != EMU_NO_RPC && !pc_is_good(w, p->rpc)) ||
            (split < 0 && !pc_is_good(w, p->pc)))
            return false;
        p->split = (int16_t)split;
    }
    return !in->bad;
}

static enum lw_status load_warp(struct emu_warp *w, struct emu_reader *in, bool trusted,
                                struct lw_error *err)
{
    char why[160];

    EMU_LOAD(EMU_STATE_WARP, w, in);
    if (!emu_tags_load(w, in, trusted))
        return emu_state_bad(err, "tags");
    if (!emu_get_rows(in, w->regs + EMU_ROW_V0 * w->stride, w->vreg_count + SLACK_ROWS,
                      w->stride) ||
        !emu_get_rows(in, w->local, local_rows(w), w->n * 4))
        return emu_state_bad(err, "registers");
    const uint8_t *scalars = emu_get(in, sizeof w->s);
    if (scalars != NULL)
        memcpy(w->s, scalars, sizeof w->s);
    for (unsigned i = 0; i < ISA_PT; i++) {
        w->p[i] = emu_get_number(in) & w->all;
        w->sp[i] = (uint8_t)emu_get_limited(in, 1);
    }
    if (in->bad || w->last_low >= EMU_MAX_LANES)
        return emu_state_bad(err, "registers");
    if (!load_splits(w, in) || !load_barriers(w, in))
        return emu_state_bad(err, "splits");
    if (!load_stack(w, in))
        return emu_state_bad(err, "a stack");
    w->slice_start = w->retired;
    w->run_done = 0;
    w->m = w->m_count = 0;
    w->di = NULL;
    if (w->running >= 0) {
        w->di = w->code->insn + w->split[w->running].pc;
        emu_warp_set_lanes(w, w->split[w->running].lanes);
    }
    if (!trusted && w->live != 0 && !emu_split_check(w, why, sizeof why))
        return emu_state_bad(err, why);
    if (w->live == 0 && w->simt.count != 0)
        return emu_state_bad(err, "a stack");
    return LW_OK;
}

/* ---- a block ------------------------------------------------------------------------------ */

void emu_block_save(const struct emu_block *block, struct emu_bytes *out)
{
    EMU_SAVE(EMU_STATE_BLOCK, block, out);
    emu_put_rows(out, block->shared, (block->shared_bytes + 63) / 64, 64);
    emu_put_number(out, block->cta_open);
    for (LW_EACH_BIT(id, block->cta_open)) {
        const struct emu_cta_barrier *p = &block->cta[id];
        EMU_SAVE(EMU_STATE_CTA, p, out);
        for (unsigned i = 0; i < block->warp_count; i++)
            emu_put_number(out, p->lanes[i]);
    }
    for (unsigned i = 0; i < block->warp_count; i++)
        save_warp(&block->warp[i], out);
}

static bool load_cta(struct emu_block *block, struct emu_reader *in)
{
    block->cta_open = (uint32_t)emu_get_limited(in, (1u << ISA_CTA_BARRIER_COUNT) - 1);
    for (LW_EACH_BIT(id, block->cta_open)) {
        struct emu_cta_barrier *p = &block->cta[id];
        EMU_LOAD(EMU_STATE_CTA, p, in);
        p->in_use = true;
        p->arrived_live = p->alone = 0;
        for (unsigned i = 0; i < block->warp_count; i++)
            p->lanes[i] = emu_get_number(in) & block->warp[i].launched;
    }
    return !in->bad;
}

/** Raises the machine's count of spin observations to at least *look, the number of a loaded observation, so that this number is
 *  not used again. */
static void note_look(const struct emu_block *block, uint64_t *look)
{
    struct emu_machine *machine = block->core->machine;

    if (*look >= UINT64_MAX / 2) /* invalid, because no machine can have made so many observations */
        *look = 0;
    if (machine->looks < *look)
        machine->looks = *look;
}

enum lw_status emu_block_load(struct emu_block *block, struct emu_reader *in, bool trusted,
                              struct lw_error *err)
{
    EMU_LOAD(EMU_STATE_BLOCK, block, in);
    note_look(block, &block->look);
    if (in->bad || block->next_warp >= block->warp_count)
        return emu_state_bad(err, "a block");
    if (!emu_get_rows(in, block->shared, (block->shared_bytes + 63) / 64, 64) ||
        !load_cta(block, in))
        return emu_state_bad(err, "shared memory or barriers of a block");
    block->formed_by = 0; /* 0: the next block in this slot must initialise its memory, because the loaded values are not those of
                           * a warp template */
    block->warps_live = block->threads_live = 0;
    for (unsigned i = 0; i < block->warp_count; i++) {
        struct emu_warp *w = &block->warp[i];
        enum lw_status status = load_warp(w, in, trusted, err);
        if (status != LW_OK)
            return status;
        note_look(block, &w->look);
        block->warps_live += w->live != 0;
        block->threads_live += lw_popcount(w->live);
        for (LW_EACH_BIT(id, block->cta_open))
            block->cta[id].arrived_live += lw_popcount(block->cta[id].lanes[i] & w->live);
        for (LW_EACH_BIT(s, w->split_in[EMU_SPLIT_CTA]))
            if (!(block->cta_open >> w->split[s].barrier & 1))
                return emu_state_bad(err, "splits: one waits at a CTA barrier that is not in use");
    }
    block->ended = block->threads_live == 0;
    return LW_OK;
}
