/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs that a warp loops for ever; emu_cycle_priv.h describes the method. */
#include "emu/inspect/emu_cycle_slice_priv.h"

#include <stdlib.h>

#include "emu/tags/emu_compact_priv.h"
#include "emu/simt/emu_split_priv.h"

enum {
    LOCAL_MOST = 1 << 26,      /* largest local memory of a warp, in bytes, that is copied */
    SLOT_LOCAL = 16,
    /* T is the sequence of observed steps that may be one iteration (emu_cycle_priv.h). An analysis of T reads its steps
     * backwards. To limit the cost of analyses, all of them together may read WALK_FREE steps, plus, for each observed step,
     * WALK_FIRST steps (in the first analysis of a T) or WALK_MOST steps (in later analyses of the same T). */
    WALK_FREE = 1 << 16,
    WALK_FIRST = 2,
    WALK_MOST = 4,
    WALK_BYTES = 32,           /* an analysis of this many bytes of local memory counts as much as one step */
    NEW_SLOTS = 8              /* maximum number of differing registers and bytes that one analysis records */
};

/* ---- position of a warp: its splits, pcs and convergence groups ------------------------------------- */

static void put64(struct emu_bytes *out, uint64_t value)
{
    emu_put(out, &value, sizeof value);
}

/** Returns the split with the lowest lane among the splits that are not in *@seen, and adds it to *@seen. Returns -1 if *@seen
 *  contains all splits. */
static int next_split(const struct emu_warp *w, uint64_t *seen)
{
    int best = -1;

    for (LW_EACH_BIT(id, w->split_ids & ~*seen))
        if (best < 0 || lw_lowest(w->split[id].lanes) < lw_lowest(w->split[best].lanes))
            best = (int)id;
    if (best >= 0)
        *seen |= UINT64_C(1) << best;
    return best;
}

/** Writes which lanes have equal numbers in barrier register @reg. The numbers themselves are not written, because they differ in
 *  each iteration of a loop, even if the same lanes have equal numbers. */
static void put_groups(struct emu_bytes *out, const struct emu_warp *w, unsigned reg)
{
    uint64_t todo = w->bform[reg].lanes & w->live;

    while (todo != 0) {
        const uint64_t number = emu_breg_number(w, reg, lw_lowest(todo));
        uint64_t group = 0;
        for (LW_EACH_BIT(l, todo))
            group |= (uint64_t)(emu_breg_number(w, reg, (unsigned)l) == number) << l;
        todo &= ~group;
        put64(out, number != 0 ? group : 0);
    }
}

/** Writes the state that determines where lanes continue, independent of the order in which splits run. */
static void put_control(struct emu_bytes *out, const struct emu_warp *w)
{
    uint64_t seen = 0;
    int id;

    put64(out, w->live);
    put64(out, emu_exec_mask(w));
    while ((id = next_split(w, &seen)) >= 0) {
        const struct emu_split *s = &w->split[id];
        const bool at_barrier = s->state == EMU_SPLIT_BLOCKED || s->state == EMU_SPLIT_CTA;
        put64(out, s->lanes);
        put64(out, (uint64_t)emu_split_pc(w, (unsigned)id) << 32 | (uint64_t)s->state << 16 |
                       (uint64_t)(at_barrier ? s->barrier : 0) << 8 | s->flags);
        if (s->state == EMU_SPLIT_CTA)
            put64(out, s->reduction);
        if (s->state == EMU_SPLIT_WARPSYNC)
            for (LW_EACH_BIT(l, s->lanes))
                put64(out, w->member[l]);
    }
    for (unsigned i = 0; i < w->simt.count; i++) {
        const struct emu_simt_entry *e = &emu_simt_entries(w)[i];
        put64(out, (uint64_t)e->rpc << 32 |
                       (e->split >= 0 ? emu_split_pc(w, (unsigned)e->split) : e->pc));
        put64(out, (uint64_t)e->rdepth << 32 | e->depth);
        put64(out, e->lanes);
        put64(out, (uint64_t)e->right << 33 | (uint64_t)e->early << 32 | e->began);
    }
    for (unsigned reg = 0; reg < ISA_BREG_COUNT; reg++)
        if ((w->bform[reg].lanes & w->live) != 0) {
            put64(out, reg);
            put_groups(out, w, reg);
        }
}

/** Number of splits of the warp whose @member is lower than the @member of split @s. */
#define RANK(w, s, member)                                                                     \
    ({                                                                                         \
        unsigned rank_ = 0;                                                                    \
        for (LW_EACH_BIT(k_, (w)->split_ids))                                                  \
            rank_ += (w)->split[k_].member < (s)->member;                                      \
        rank_;                                                                                 \
    })

/** Writes the state that determines which split gets the time slice. */
static void put_schedule(struct emu_bytes *out, const struct emu_warp *w)
{
    uint64_t seen = 0;
    int id;

    put64(out, (uint64_t)w->turn_used << 32 | w->last_low);
    while ((id = next_split(w, &seen)) >= 0) {
        const struct emu_split *s = &w->split[id];
        uint64_t age = w->retired - s->since;
        age = age < w->window ? age : w->window; /* all ages above the fairness limit have the same effect */
        put64(out, age << 32 | (uint64_t)(id == w->running) << 31 | (uint64_t)RANK(w, s, seq) << 16 |
                       RANK(w, s, born) << 8 | (unsigned)id);
    }
}

/** Returns a hash of the warp's control state, which put_control() writes in full. */
static uint64_t key_of(const struct emu_warp *w)
{
    const unsigned id = w->running >= 0 ? (unsigned)w->running : lw_lowest(w->split_ids);

    return w->split_ids == 0 ? 0
                             : w->split[id].lanes * UINT64_C(0x9e3779b97f4a7c15) ^
                                   emu_split_pc(w, id) ^ (uint64_t)w->split_count << 40 ^
                                   (uint64_t)(w->running >= 0) << 63;
}

static uint32_t lane_of(const struct emu_warp *w, unsigned number, unsigned lane)
{
    const unsigned index = EMU_ROW_V0 + number;

    return w->ctag != NULL ? emu_compact_lane(w, index, lane) : emu_row(w, index * w->stride)[lane];
}

/* Layout of registers as bytes: the register rows of the vector registers, then predicates, scalar registers, scalar predicates.
 * p_at() and s_at() return the offsets of the predicates and of the scalars. */
static size_t p_at(const struct emu_warp *w)
{
    return (size_t)w->vreg_count * w->width * 4;
}
static size_t s_at(const struct emu_warp *w)
{
    return p_at(w) + sizeof w->p;
}
/* Returns the number of bytes of all registers of the warp in this layout of registers. */
static size_t regs_bytes(const struct emu_warp *w)
{
    return s_at(w) + sizeof w->s + sizeof w->sp;
}
/* Returns the number of bytes of the warp's local memory. */
static size_t local_bytes(const struct emu_warp *w)
{
    return (size_t)(w->local_bytes + 3) / 4 * 4 * w->n;
}

static void put_regs(struct emu_bytes *out, const struct emu_warp *w)
{
    uint8_t *at = emu_bytes_add(out, regs_bytes(w));

    if (at == NULL)
        return;
    for (unsigned r = 0; r < w->vreg_count; r++)
        for (unsigned l = 0; l < w->width; l++, at += 4) {
            const uint32_t value = w->live >> l & 1 ? lane_of(w, r, l) : 0;
            memcpy(at, &value, 4);
        }
    memcpy(at, w->p, sizeof w->p);
    memcpy(at + sizeof w->p, w->s, sizeof w->s);
    memcpy(at + sizeof w->p + sizeof w->s, w->sp, sizeof w->sp);
}

/** Makes the current state of @w the start of T. Returns false if memory is short, or if the warp's local memory is larger
 *  than LOCAL_MOST. */
static bool begin(struct emu_cycle *c, const struct emu_warp *w)
{
    c->control.size = c->schedule.size = c->regs.size = c->local.size = 0;
    c->count = c->offset_count = 0;
    c->ran = 0;
    c->arrives = 0;
    c->waits = false;
    c->next_try = 1;
    c->differ_count = 0;
    c->key = key_of(w);
    put_control(&c->control, w);
    put_schedule(&c->schedule, w);
    put_regs(&c->regs, w);
    if (local_bytes(w) > LOCAL_MOST)
        return false;
    emu_put(&c->local, w->local, local_bytes(w));
    return !c->control.failed && !c->schedule.failed && !c->regs.failed && !c->local.failed;
}

/* ---- test for a cycle ------------------------------------------------------------------------- */

static uint8_t local_byte(const struct emu_warp *w, const uint8_t *local, uint32_t at, unsigned lane)
{
    return local[((size_t)(at / 4) * w->n + lane) * 4 + at % 4];
}

/** Returns true if the register or byte that @slot names has, in the bits of slot->mask, the same value now as at the start of
 *  T. */
static bool same_at(const struct emu_cycle *c, const struct emu_warp *w,
                    const struct emu_cycle_slot *slot)
{
    const uint8_t *regs = c->regs.data;
    const unsigned r = slot->number, l = slot->lane;
    uint32_t then;
    uint64_t mask;

    switch (slot->kind) {
    case 1 + ISA_REG_V:
        if (r >= w->vreg_count || l >= w->width)
            return true;
        memcpy(&then, regs + ((size_t)r * w->width + l) * 4, 4);
        return ((then ^ lane_of(w, r, l)) & slot->mask) == 0;
    case 1 + ISA_REG_P:
        memcpy(&mask, regs + p_at(w) + (r & 7) * sizeof mask, sizeof mask);
        return ((mask ^ w->p[r & 7]) >> l & 1) == 0;
    case 1 + ISA_REG_S:
        memcpy(&then, regs + s_at(w) + (r & 127) * 4, 4);
        return ((then ^ w->s[r & 127]) & slot->mask) == 0;
    case 1 + ISA_REG_SP:
        return regs[s_at(w) + sizeof w->s + (r & 7)] == w->sp[r & 7];
    case SLOT_LOCAL:
        return r >= w->local_bytes || l >= w->width ||
               ((local_byte(w, c->local.data, r, l) ^ local_byte(w, w->local, r, l)) & slot->mask) == 0;
    default:
        return true;
    }
}

/** Returns true if all bits in the set @r have the same values now as at the start of T. Otherwise returns false, and if @note is
 *  set, adds up to NEW_SLOTS registers and bytes that differ to c->differs. */
static bool same(const struct emu_slice *k, const struct emu_relevant *r, bool note)
{
    const struct emu_warp *w = k->w;
    struct emu_cycle *c = k->c;
    unsigned found = 0;

/* Tests one register or byte of one lane. If its @bits differ, returns false, or, if @note is set, records the register or byte
 * and leaves the loop over the lanes. */
#define LOOK(what, at, which, bits)                                                            \
    {                                                                                          \
        const struct emu_cycle_slot slot = {.kind = (what), .lane = (uint8_t)(at), .number = (which), \
                                            .mask = (bits)};                                   \
        if (slot.mask != 0 && !same_at(c, w, &slot)) {                                         \
            if (!note)                                                                         \
                return false;                                                                  \
            c->differs[c->differ_count++ % EMU_CYCLE_SLOTS] = slot;                            \
            if (++found == NEW_SLOTS)                                                          \
                return false;                                                                  \
            break;                                                                             \
        }                                                                                      \
    }
    for (unsigned i = 0; i < w->vreg_count; i++)
        for (LW_EACH_BIT(l, w->live))
            LOOK(1 + ISA_REG_V, l, i, r->v[i][l])
    for (unsigned i = 0; i < ISA_PT; i++)
        for (LW_EACH_BIT(l, r->p[i] & w->live))
            LOOK(1 + ISA_REG_P, l, i, 1)
    for (unsigned i = 0; i < 128; i++)
        do
            LOOK(1 + ISA_REG_S, 0, i, r->s[i])
        while (false);
    for (unsigned i = 0; i < ISA_PT; i++)
        do
            LOOK(1 + ISA_REG_SP, 0, i, r->sp[i])
        while (false);
    for (uint32_t i = 0; i < w->local_bytes; i++)
        for (LW_EACH_BIT(l, w->live))
            LOOK(SLOT_LOCAL, l, i, r->local[(size_t)i * w->width + l])
#undef LOOK
    return found == 0;
}

/** Returns true if one of the registers and bytes that same() recorded still differs from its value at the start of T, so that a
 *  new analysis would fail, too. The register or byte that differs is moved to the start of c->differs, so that the next call
 *  tests it first. */
static bool still_differs(struct emu_cycle *c, const struct emu_warp *w)
{
    const unsigned n = c->differ_count < EMU_CYCLE_SLOTS ? c->differ_count : EMU_CYCLE_SLOTS;

    for (unsigned i = 0; i < n; i++)
        if (!same_at(c, w, &c->differs[i])) {
            const struct emu_cycle_slot slot = c->differs[i];
            c->differs[i] = c->differs[0];
            c->differs[0] = slot;
            return true;
        }
    return false;
}

/** Returns the lanes that executed no step of T, although their split is ready, has yielded, or sleeps. */
static uint64_t starved(const struct emu_cycle *c, const struct emu_warp *w)
{
    return emu_split_lanes(w, w->split_in[EMU_SPLIT_READY] | w->split_in[EMU_SPLIT_YIELDED] |
                                  w->split_in[EMU_SPLIT_SLEEPING]) & ~c->ran;
}

/** Returns true if @put writes for @w, in its present state, the same bytes as it wrote to @kept earlier. */
static bool same_bytes(const struct emu_warp *w, void (*put)(struct emu_bytes *, const struct emu_warp *),
                       const struct emu_bytes *kept)
{
    struct emu_bytes now = {0};

    put(&now, w);
    const bool equal = !now.failed && now.size == kept->size && memcmp(now.data, kept->data, now.size) == 0;
    emu_bytes_fini(&now);
    return equal;
}

/** Returns true if all indices and offsets in the steps of T are valid for @w. The steps may come from a checkpoint file,
 *  which may contain anything. */
static bool fits(const struct emu_cycle *c, const struct emu_warp *w)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct emu_cycle_step *t = &c->step[i];
        const uint64_t noted_lanes = t->decided ? t->effective : t->local;
        const unsigned n = lw_popcount(noted_lanes);
        if (t->index >= w->code->program->count || ((t->lanes | t->effective | t->local) & ~lw_mask(w->width)) ||
            (t->decided && (t->local != 0 || n == 0)) ||
            (t->apart && (t->offset > c->offset_count || n > c->offset_count - t->offset)))
            return false;
        for (unsigned k = 0; t->local != 0 && k < (t->apart ? n : 1); k++) {
            const uint32_t at = t->apart ? c->offset[t->offset + k] : t->offset;
            if (at >= w->local_bytes || t->bytes > w->local_bytes - at)
                return false;
        }
    }
    return true;
}

/** Analyses T backwards once more. Returns false if the analysis shows that no proof is possible. Also returns false, without an
 *  analysis, if all analyses together would then read more than WALK_FREE steps plus @factor steps for each observed step. */
static bool walk(struct emu_slice *k, uint64_t factor)
{
    struct emu_cycle *c = k->c;
    const uint64_t cost = c->count + k->local_size / WALK_BYTES;

    if (k->hopeless || c->walked + cost > WALK_FREE + factor * c->steps)
        return false;
    c->walked += cost;
    emu_slice_walk(k);
    return !k->hopeless;
}

/** Tries to prove that the warp loops for ever. The caller has found that the warp's control state (splits, pcs, convergence
 *  groups) is the same as at the start of T. Registers and local memory may differ from those at the start of T; the function
 *  compares them. */
static bool goes_round(struct emu_cycle *c, const struct emu_warp *w, enum emu_order order)
{
    struct emu_slice *k;
    bool proved = false;

    if (c->count < c->next_try || still_differs(c, w) || !fits(c, w))
        return false;
    k = calloc(1, sizeof *k);
    if (k == NULL)
        return false;
    k->c = c;
    k->w = w;
    k->local_size = (size_t)w->local_bytes * w->width;
    k->cached = calloc(EMU_SLICE_CACHED, sizeof *k->cached);
    k->now.local = malloc(k->local_size + 1);
    k->end.local = calloc(k->local_size + 1, 1);
    if (k->cached == NULL || k->now.local == NULL || k->end.local == NULL)
        goto cleanup;
    /* If T is extended by further steps, it still depends on all values on which it depends now. A value that differs is
     * therefore recorded: as long as it differs, still_differs() rejects the extended T without an analysis. */
    const bool walked = walk(k, WALK_FIRST);
    if (walked && !same(k, &k->now, true))
        goto cleanup;
    c->next_try = c->count + c->count / 2 + 1; /* if the following analyses fail, the next try is made when T is 1.5 times as
                                                * long */
    if (!walked)
        goto cleanup;
    while (emu_slice_join(k))
        if (!same(k, &k->end, false) || !walk(k, WALK_MOST))
            goto cleanup;
    const bool by_order = k->ordered || (starved(c, w) != 0 && order != EMU_ORDER_CHOSEN);
    proved = !by_order || (order == EMU_ORDER_OWN && !c->waits && same_bytes(w, put_schedule, &c->schedule));
cleanup:
    free(k->cached);
    free(k->now.local);
    free(k->end.local);
    free(k);
    return proved;
}

/* ---- observed steps -------------------------------------------------------------------------- */

/** Records which offsets of local memory @ev's lanes accessed. Returns false if memory is short, or if the offsets are
 *  invalid. */
static bool note_local(struct emu_cycle *c, const struct emu_warp *w, const struct emu_event *ev,
                       struct emu_cycle_step *t)
{
    for (unsigned i = 0; i < ev->access_count; i++) {
        const struct emu_access *a = &ev->access[i];
        if (a->kind == EMU_ACCESS_CONSTANT)
            continue;
        for (LW_EACH_BIT(l, a->lanes))
            if (a->lane_space[l] == ISA_SPACE_LOCAL)
                t->local |= UINT64_C(1) << l;
        if (t->local == 0)
            continue;
        t->bytes = a->bytes;
        t->offset = (uint32_t)(a->address[lw_lowest(t->local)] - ISA_LOCAL_BASE);
        for (LW_EACH_BIT(l, t->local)) {
            const uint64_t at = a->address[l] - ISA_LOCAL_BASE;
            if (at >= w->local_bytes || a->bytes > w->local_bytes - at)
                return false;
            t->apart = t->apart || at != t->offset;
        }
        if (!t->apart)
            return true;
        t->offset = (uint32_t)c->offset_count;
        if (!lw_grow(&c->offset, &c->offset_capacity, c->offset_count + EMU_MAX_LANES,
                     sizeof *c->offset))
            return false;
        for (LW_EACH_BIT(l, t->local))
            c->offset[c->offset_count++] = (uint32_t)(a->address[l] - ISA_LOCAL_BASE);
        return true;
    }
    return true;
}

/** Gets the two values that a comparison for equality or inequality compared in a lane. Returns false if the values cannot be
 *  determined. */
static bool compared(const struct emu_warp *w, const struct emu_cycle_step *t, const struct isa_insn *insn,
                     unsigned lane, uint64_t value[2])
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    const struct emu_dinsn *di = &w->code->insn[t->index];
    const bool wide = isa_op_has(info, ISA_TOK_VA2) || isa_op_has(info, ISA_TOK_SA2);

    for (unsigned which = 0; which < 2; which++) {
        const unsigned r = which == 0 ? insn->a : isa_x_reg(insn->x);
        const unsigned kind = which != 0 ? insn->xkind
                              : insn->a_scalar || info->flags & ISA_F_SCALAR ? ISA_X_SCALAR
                                                                             : ISA_X_VECTOR;
        uint64_t low = 0, high = 0;
        if (kind == ISA_X_IMM) {
            low = insn->x;
            high = wide && (int32_t)insn->x < 0 ? UINT32_MAX : 0;
        } else if (kind == ISA_X_CONST) {
            if (di->ukind != EMU_U_BANK0 && di->ukind != EMU_U_BANK1)
                return false;
            low = wide ? emu_uniform64(w, di) : emu_uniform32(w, di);
        } else if (r == 255) {
            low = 0; /* vz, sz */
        } else if (kind == ISA_X_SCALAR) {
            low = w->s[r & 127];
            high = wide ? w->s[(r + 1) & 127] : 0;
        } else {
            if (r + wide >= w->vreg_count)
                return false;
            low = lane_of(w, r, lane);
            high = wide ? lane_of(w, r + 1, lane) : 0;
        }
        value[which] = low | high << 32;
    }
    return true;
}

/** Records a bit in which the two values of a comparison for equality or inequality differ. Called after the comparison, which
 *  writes only predicates, so that its sources are unchanged. Returns false if memory is short. */
static bool note_equality(struct emu_cycle *c, const struct emu_warp *w, const struct isa_insn *insn,
                          struct emu_cycle_step *t)
{
    const uint64_t lanes = isa_op_info((enum isa_op)insn->op)->flags & ISA_F_SCALAR
                               ? t->effective & -t->effective : t->effective;
    uint32_t bit[EMU_MAX_LANES];
    unsigned n = 0;

    for (LW_EACH_BIT(l, lanes)) {
        uint64_t value[2];
        if (!compared(w, t, insn, (unsigned)l, value))
            return true;
        bit[n++] = value[0] != value[1] ? lw_lowest(value[0] ^ value[1]) : 64;
        t->apart = t->apart || bit[n - 1] != bit[0];
    }
    if (n == 0)
        return true;
    t->decided = true;
    t->offset = bit[0];
    if (!t->apart)
        return true;
    t->offset = (uint32_t)c->offset_count;
    if (!lw_grow(&c->offset, &c->offset_capacity, c->offset_count + n, sizeof *c->offset))
        return false;
    memcpy(&c->offset[c->offset_count], bit, n * sizeof *bit);
    c->offset_count += n;
    return true;
}

static bool note(struct emu_cycle *c, const struct emu_warp *w, const struct emu_event *ev)
{
    const struct isa_insn *insn = ev->insn;
    struct emu_cycle_step *t;

    if (!lw_grow(&c->step, &c->capacity, c->count + 1, sizeof *c->step))
        return false;
    t = &c->step[c->count];
    *t = (struct emu_cycle_step){
        .lanes = ev->split_lanes, .effective = ev->effective, .retired = ev->kind == EMU_EV_RETIRED,
        .index = (uint32_t)((ev->pc - w->code->program->base) / ISA_WORD_BYTES)};
    if (!note_local(c, w, ev, t) || (t->retired && emu_slice_equality(insn) && !note_equality(c, w, insn, t)))
        return false;
    c->count++;
    c->ran |= t->lanes;
    switch (insn->op) {
    case ISA_BAR_SYNC: case ISA_BAR_ARRIVE: case ISA_BAR_RED_POPC: case ISA_BAR_RED_AND: case ISA_BAR_RED_OR:
        c->arrives |= insn->xkind == ISA_X_IMM ? 1u << (insn->x & 15) : 0xffff;
        c->waits = true;
        break;
    case ISA_NANOSLEEP: case ISA_LAUNCH_SYNC:
        c->waits = true;
        break;
    default:
        break;
    }
    return true;
}

static uint32_t waits_at(const struct emu_cycle *c, const struct emu_warp *w)
{
    uint32_t ids = 0;

    for (LW_EACH_BIT(id, w->split_in[EMU_SPLIT_CTA]))
        if ((w->split[id].lanes & c->ran) == 0)
            ids |= 1u << (w->split[id].barrier & 15);
    return ids;
}

static bool same_control(const struct emu_cycle *c, const struct emu_warp *w)
{
    return key_of(w) == c->key && c->regs.size == regs_bytes(w) && c->local.size == local_bytes(w) &&
           same_bytes(w, put_control, &c->control);
}

enum emu_cycle_result emu_cycle_see(struct emu_cycle *c, const struct emu_warp *w,
                                    const struct emu_event *ev, uint64_t most, enum emu_order order,
                                    uint32_t *waiting)
{
    const uint64_t before = ev->warp_sequence, after = before + (ev->kind == EMU_EV_RETIRED);
    /* T starts at this step if it is the first observed step, or if the warp has executed steps that were not observed */
    const bool fresh = c->steps == 0 || c->next != before;

    c->next = after;
    if (w->live == 0 || ev->kind == EMU_EV_FAULT || emu_split_divided(w) || ++c->steps > most)
        return EMU_CYCLE_GIVEN_UP;
    if (fresh) {
        c->segment = most - most / 8; /* length of T after which T starts at a later step. The length is large, because a warp has
                                       * usually been in its loop for a long time when its observation begins. */
        return begin(c, w) ? EMU_CYCLE_MORE : EMU_CYCLE_GIVEN_UP;
    }
    if (!note(c, w, ev))
        return EMU_CYCLE_GIVEN_UP;
    if (same_control(c, w) && goes_round(c, w, order)) {
        *waiting = waits_at(c, w);
        return EMU_CYCLE_PROVED;
    }
    if (c->count >= c->segment) { /* T perhaps began before the warp entered its loop, so it starts anew at the current step. */
        c->segment *= 2;
        return begin(c, w) ? EMU_CYCLE_MORE : EMU_CYCLE_GIVEN_UP;
    }
    return EMU_CYCLE_MORE;
}

void emu_cycle_fini(struct emu_cycle *c)
{
    emu_bytes_fini(&c->control);
    emu_bytes_fini(&c->schedule);
    emu_bytes_fini(&c->regs);
    emu_bytes_fini(&c->local);
    free(c->step);
    free(c->offset);
    c->step = NULL;
    c->offset = NULL;
    c->count = c->capacity = c->offset_count = c->offset_capacity = 0;
}

/* ---- as bytes ------------------------------------------------------------------------- */

static void put_bytes(struct emu_bytes *out, const struct emu_bytes *bytes)
{
    emu_put_number(out, bytes->size);
    emu_put(out, bytes->data, bytes->size);
}

static bool get_bytes(struct emu_reader *in, struct emu_bytes *bytes)
{
    const size_t size = (size_t)emu_get_limited(in, LOCAL_MOST);
    const uint8_t *data = emu_get(in, size);

    if (data == NULL && size != 0)
        return false;
    emu_put(bytes, data, size);
    return !bytes->failed;
}

void emu_cycle_save(const struct emu_cycle *c, struct emu_bytes *out)
{
    emu_put_number(out, c->grid);
    emu_put_number(out, c->block);
    emu_put_number(out, c->warp);
    emu_put_number(out, c->over);
    if (c->over)
        return;
    emu_put_number(out, c->steps);
    emu_put_number(out, c->segment);
    emu_put_number(out, c->next);
    emu_put_number(out, c->next_try);
    emu_put_number(out, c->walked);
    emu_put_number(out, c->ran);
    emu_put_number(out, c->arrives);
    emu_put_number(out, c->waits);
    emu_put_number(out, c->differ_count);
    for (unsigned i = 0; i < EMU_CYCLE_SLOTS && i < c->differ_count; i++) {
        emu_put_number(out, c->differs[i].kind);
        emu_put_number(out, c->differs[i].lane);
        emu_put_number(out, c->differs[i].number);
        emu_put_number(out, c->differs[i].mask);
    }
    emu_put_number(out, c->key);
    put_bytes(out, &c->control);
    put_bytes(out, &c->schedule);
    put_bytes(out, &c->regs);
    put_bytes(out, &c->local);
    emu_put_number(out, c->count);
    for (size_t i = 0; i < c->count; i++) {
        const struct emu_cycle_step *t = &c->step[i];
        emu_put_number(out, t->lanes);
        emu_put_number(out, t->effective);
        emu_put_number(out, t->local);
        emu_put_number(out, t->index);
        emu_put_number(out, t->offset);
        emu_put_number(out, (unsigned)t->bytes << 3 | (unsigned)t->decided << 2 |
                                (unsigned)t->apart << 1 | t->retired);
    }
    emu_put_number(out, c->offset_count);
    for (size_t i = 0; i < c->offset_count; i++)
        emu_put_number(out, c->offset[i]);
}

bool emu_cycle_load(struct emu_cycle *c, struct emu_reader *in)
{
    enum { MOST_STEPS = 1 << 21 };

    memset(c, 0, sizeof *c);
    c->grid = (uint32_t)emu_get_limited(in, UINT32_MAX);
    c->block = emu_get_number(in);
    c->warp = (unsigned)emu_get_limited(in, UINT16_MAX);
    c->over = emu_get_limited(in, 1) != 0;
    if (c->over || in->bad)
        return !in->bad;
    c->steps = emu_get_number(in);
    c->segment = emu_get_number(in);
    c->next = emu_get_number(in);
    c->next_try = emu_get_number(in);
    c->walked = emu_get_number(in);
    c->ran = emu_get_number(in);
    c->arrives = (uint32_t)emu_get_limited(in, 0xffff);
    c->waits = emu_get_limited(in, 1) != 0;
    c->differ_count = (unsigned)emu_get_limited(in, UINT32_MAX);
    for (unsigned i = 0; i < EMU_CYCLE_SLOTS && i < c->differ_count; i++) {
        c->differs[i].kind = (uint8_t)emu_get_limited(in, SLOT_LOCAL);
        c->differs[i].lane = (uint8_t)emu_get_limited(in, EMU_MAX_LANES - 1);
        c->differs[i].number = (uint32_t)emu_get_limited(in, UINT32_MAX);
        c->differs[i].mask = (uint32_t)emu_get_limited(in, UINT32_MAX);
    }
    c->key = emu_get_number(in);
    if (!get_bytes(in, &c->control) || !get_bytes(in, &c->schedule) || !get_bytes(in, &c->regs) ||
        !get_bytes(in, &c->local))
        return false;
    const size_t count = (size_t)emu_get_limited(in, MOST_STEPS);
    if (in->bad || !lw_grow(&c->step, &c->capacity, count + 1, sizeof *c->step))
        return false;
    for (; c->count < count && !in->bad; c->count++) {
        struct emu_cycle_step *t = &c->step[c->count];
        t->lanes = emu_get_number(in);
        t->effective = emu_get_number(in);
        t->local = emu_get_number(in);
        t->index = (uint32_t)emu_get_limited(in, UINT32_MAX);
        t->offset = (uint32_t)emu_get_limited(in, UINT32_MAX);
        const unsigned how = (unsigned)emu_get_limited(in, 16 << 3 | 7);
        t->bytes = (uint8_t)(how >> 3);
        t->decided = how >> 2 & 1;
        t->apart = how >> 1 & 1;
        t->retired = how & 1;
    }
    const size_t offsets = (size_t)emu_get_limited(in, (uint64_t)MOST_STEPS * EMU_MAX_LANES);
    if (in->bad)
        return false;
    for (size_t i = 0; i < offsets && !in->bad; i++) {
        if (!lw_grow(&c->offset, &c->offset_capacity, i + 1, sizeof *c->offset))
            return false;
        c->offset[c->offset_count++] = (uint32_t)emu_get_limited(in, UINT32_MAX);
    }
    return !in->bad;
}
