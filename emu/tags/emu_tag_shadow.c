/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow mode: all register rows are valid, and each register also has a tag. The rule of an instruction is evaluated before the
 * instruction is executed; afterwards the resulting tag is stored and compared with the lanes. This file also counts tags, and
 * fills in the tags of events.
 */
#include "emu/tags/emu_compact_priv.h"
#include "emu/tags/emu_tag_measure_priv.h"
#include "emu/memory/emu_mem_priv.h"

/* ---- operands ------------------------------------------------------------------- */

static bool is_wide_type(unsigned type)
{
    return type == ISA_DT_U64 || type == ISA_DT_S64 || type == ISA_DT_F64;
}

void emu_tag_insn_read(const struct isa_insn *insn, struct emu_tag_insn *out)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    struct isa_reg_use use[ISA_MAX_USES];
    unsigned count = isa_insn_uses(insn, use);

    memset(out, 0, sizeof *out);
    out->rule = (uint8_t)info->tag;
    out->d = ISA_VZ;
    out->is_float = (info->flags & ISA_F_FLOAT) != 0;
    for (unsigned i = 0; i < count; i++) {
        if (use[i].reg_class == ISA_REG_V && use[i].written) {
            out->d = use[i].first;
            out->d_words = use[i].count;
        }
    }
    if (info->format == ISA_FMT_TEX) { /* its operand A contains coordinates, not an address */
        out->words[0] = 1;
        return;
    }
    if (info->flags & ISA_F_MEMORY) {
        out->space = emu_mem_info[insn->op].space;
        out->address = (uint8_t)(1 + (out->space == ISA_SPACE_CONST ? ISA_AMODE_32
                                                                    : EMU_MOD(insn, AMODE)));
        return;
    }
    out->words[0] = (uint8_t)isa_op_words(info, ISA_TOK_VA, ISA_TOK_VA2);
    out->words[1] = (uint8_t)isa_op_words(info, ISA_TOK_XB, ISA_TOK_XB2);
    out->words[2] = (uint8_t)isa_op_words(info, ISA_TOK_VC, ISA_TOK_VC2);
    if (isa_op_has(info, ISA_TOK_XT))
        out->words[1] = is_wide_type(EMU_MOD(insn, STYPE)) ? 2 : 1;
}

static struct emu_affine half(const struct emu_tag *t)
{
    return (struct emu_affine){.kind = t->kind, .base = t->base, .stride = t->stride,
                               .rise = t->rise};
}

/** Returns the value of the @words vector registers from number @number on, by their tags. */
static struct emu_affine register_value(const struct emu_warp *w, unsigned number,
                                        unsigned words)
{
    const struct emu_tag *t = w->shadow->reg;

    if (number + words > w->vreg_count)
        return emu_affine_v();
    if (words == 1)
        return half(&t[number]);
    if (t[number].pair)
        return (struct emu_affine){
            .kind = t[number].pair_stride == 0 && t[number].pair_rise == 0 ? EMU_TAG_U
                                                                           : EMU_TAG_A,
            .base = t[number].pair_base,
            .stride = t[number].pair_stride,
            .rise = t[number].pair_rise};
    struct emu_affine low = half(&t[number]), high = half(&t[number + 1]);
    return emu_affine_join(&low, &high, w->shadow->fold, w->live);
}

/** Returns the value of the @words registers from byte offset @offset of the register file on, by their tags. */
static struct emu_affine row_value(const struct emu_warp *w, uint32_t offset, unsigned words)
{
    unsigned row = offset / w->stride;

    return row < EMU_ROW_V0 ? emu_affine_u(0) /* vz is 0 */
                            : register_value(w, row - EMU_ROW_V0, words);
}

static struct emu_affine place_value(const struct emu_warp *w, unsigned ukind, uint32_t from,
                                     unsigned words)
{
    const char *at = w->ubase[ukind] + from;

    return emu_affine_u(words == 2 ? lw_get64(at) : lw_get32(at));
}

static struct emu_affine modify(struct emu_affine v, unsigned bits, unsigned mods,
                                bool is_float)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);

    if (mods == 0 || v.kind == EMU_TAG_V)
        return v;
    if (is_float) { /* abs is applied before neg */
        if (v.kind != EMU_TAG_U)
            return emu_affine_v();
        v.base = mods & 2 ? v.base & ~sign : v.base;
        v.base = mods & 1 ? v.base ^ sign : v.base;
        return v;
    }
    if (mods & 2)
        v = emu_affine_make(bits, ~v.base, 0 - (uint64_t)v.stride, 0 - (uint64_t)v.rise);
    if (mods & 1)
        v = emu_affine_make(bits, 0 - v.base, 0 - (uint64_t)v.stride, 0 - (uint64_t)v.rise);
    return v;
}

void emu_tag_sources(const struct emu_warp *w, const struct emu_dinsn *di,
                     const struct emu_tag_insn *info, struct emu_affine source[3])
{
    const struct emu_prelude *pre =
        di->flags & EMU_D_MODIFIED ? &w->code->prelude[di->aux] : NULL;
    const uint32_t place[3] = {di->a, di->b, di->c};

    for (unsigned i = 0; i < 3; i++) {
        unsigned words = info->words[i];
        source[i] = emu_affine_v();
        if (words == 0)
            continue;
        if (pre != NULL && pre->source[i].kind != EMU_PRE_NONE) {
            source[i] = pre->source[i].kind == EMU_PRE_UNIFORM
                            ? place_value(w, pre->source[i].ukind, pre->source[i].from, words)
                            : row_value(w, pre->source[i].from, words);
            source[i] = modify(source[i], 32 * words, pre->source[i].mods, pre->is_float);
        } else if (i == 1 && di->ukind != EMU_U_ROW) {
            source[i] = place_value(w, di->ukind, di->b, words);
        } else {
            source[i] = row_value(w, place[i], words);
        }
    }
}

/** Returns the part of the lanes' addresses that comes from a vector register, without scalar base and offset. Returns V if this
 *  part wraps. */
static struct emu_affine address_value(const struct emu_warp *w, const struct emu_dinsn *di,
                                       const struct emu_tag_insn *info)
{
    unsigned mode = info->address - 1u;
    struct emu_affine v = row_value(w, di->a, mode == ISA_AMODE_PAIR ? 2 : 1);

    if (mode != ISA_AMODE_PAIR && !emu_affine_fits(&v, 32, mode == ISA_AMODE_SS32,
                                                   w->shadow->fold, w->live))
        return emu_affine_v();
    return v;
}

/** Returns the value, 0 or 1, of predicate operand @r in all live lanes, or -1 if it differs between lanes. */
static int uniform_predicate(const struct emu_warp *w, unsigned r)
{
    uint64_t p = w->p[r & 7] & w->live;

    if (p != 0 && p != w->live)
        return -1;
    return (p != 0) != ((r & 8) != 0);
}

/* ---- tags of registers --------------------------------------------------------------- */

static void set_v(struct emu_warp *w, unsigned number)
{
    struct emu_tag *t = w->shadow->reg;

    t[number] = (struct emu_tag){.kind = EMU_TAG_V, .fold = (uint8_t)w->shadow->fold};
    if (number > 0)
        t[number - 1].pair = false;
}
static void set_tag(struct emu_warp *w, unsigned number, const struct emu_affine *v)
{
    set_v(w, number);
    struct emu_tag *t = &w->shadow->reg[number];
    t->kind = v->kind;
    t->base = (uint32_t)v->base;
    t->stride = (int32_t)v->stride;
    t->rise = (int32_t)v->rise;
}
static void set_pair(struct emu_warp *w, unsigned number, const struct emu_affine *v)
{
    struct emu_tag *t = &w->shadow->reg[number];

    t->pair = v->kind != EMU_TAG_V;
    t->pair_base = v->base;
    t->pair_stride = v->stride;
    t->pair_rise = v->rise;
}

void emu_shadow_forget(struct emu_warp *w, unsigned number)
{
    if (w->shadow == NULL)
        return;
    w->shadow->carry.valid = false;
    for (unsigned r = 0; r < w->vreg_count; r++)
        if (number == r || number == EMU_ALL_REGISTERS)
            set_v(w, r);
}

void emu_shadow_init(struct emu_warp *w)
{
    memset(&w->shadow->carry, 0, sizeof w->shadow->carry);
    w->shadow->fold = emu_tag_fold(w);
    for (unsigned r = 0; r < w->vreg_count; r++) /* registers start as 0, which is U */
        w->shadow->reg[r] = (struct emu_tag){.kind = EMU_TAG_U,
                                             .fold = (uint8_t)w->shadow->fold};
}

/** Sets the tag of a register that the instruction has written in lanes s->mask. */
static void write_tag(struct emu_warp *w, struct emu_tag_step *s, unsigned number,
                      const struct emu_affine *v)
{
    struct emu_tag *t = &w->shadow->reg[number];

    if (s->mask == s->live) {
        set_tag(w, number, v);
        return;
    }
    if (t->kind != EMU_TAG_V && t->kind == v->kind && t->base == (uint32_t)v->base &&
        t->stride == (int32_t)v->stride && t->rise == (int32_t)v->rise)
        return; /* the written value equals the value in all other lanes, so the register keeps its tag */
    s->expansions += t->kind != EMU_TAG_V;
    set_v(w, number);
}

static uint32_t *vector(const struct emu_warp *w, unsigned number)
{
    return emu_row(w, (EMU_ROW_V0 + number) * w->stride);
}

/** Returns true if a register has the same value in all @lanes. */
static bool equal_lanes(const uint32_t *row, uint64_t lanes)
{
    for (LW_EACH_BIT(l, lanes))
        if (row[l] != row[lw_lowest(lanes)])
            return false;
    return true;
}

static bool matches(const struct emu_warp *w, unsigned number)
{
    const struct emu_tag *t = &w->shadow->reg[number];
    struct emu_affine v = half(t);

    for (LW_EACH_BIT(l, w->live)) {
        if (t->kind != EMU_TAG_V &&
            vector(w, number)[l] != emu_affine_at(&v, 32, w->shadow->fold, (unsigned)l))
            return false;
        if (t->pair) {
            struct emu_affine p = {.base = t->pair_base, .stride = t->pair_stride,
                                   .rise = t->pair_rise};
            uint64_t is = (uint64_t)vector(w, number + 1)[l] << 32 | vector(w, number)[l];
            if (is != emu_affine_at(&p, 64, w->shadow->fold, (unsigned)l))
                return false;
        }
    }
    return true;
}

/* ---- before an instruction is executed -------------------------------------------------- */

struct emu_tag emu_tag_of(const struct emu_warp *w, unsigned number)
{
    if (w->shadow != NULL)
        return w->shadow->reg[number];
    if (w->ctag != NULL)
        return emu_compact_tag(w, EMU_ROW_V0 + number);
    return (struct emu_tag){.kind = EMU_TAG_V, .fold = w->width};
}

void emu_tag_count(const struct emu_warp *w, const struct isa_insn *insn)
{
    struct emu_tag_step *s = w->core->tag_step;
    struct isa_reg_use use[ISA_MAX_USES];
    unsigned count = isa_insn_uses(insn, use);

    s->change_count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (use[i].reg_class != ISA_REG_V)
            continue;
        for (unsigned k = 0; k < use[i].count; k++) {
            unsigned r = use[i].first + k, at = 0;
            if (r >= w->vreg_count)
                continue;
            while (at < s->change_count && s->change[at].reg != r)
                at++;
            if (at == LW_COUNT_OF(s->change))
                continue;
            if (at == s->change_count)
                s->change[s->change_count++] =
                    (struct emu_tag_change){.reg = (uint8_t)r, .before = emu_tag_of(w, r)};
            s->change[at].read |= !use[i].written;
            s->change[at].written |= use[i].written;
        }
    }
}

void emu_tag_counted(const struct emu_warp *w)
{
    struct emu_tag_step *s = w->core->tag_step;

    for (unsigned i = 0; i < s->change_count; i++)
        s->change[i].after = emu_tag_of(w, s->change[i].reg);
}

/** Returns true if the result of a load is U: all lanes read the same address, in memory that all lanes share, and the tag rules
 *  @rules permit the result U for this memory. */
static bool loads_one_address(const struct emu_warp *w, const struct emu_dinsn *di,
                            const struct emu_tag_insn *info, const struct emu_affine *address,
                            enum emu_tag_rules rules)
{
    if (address->kind != EMU_TAG_U || EMU_MOD(emu_insn_of(w, di), MORDER) != ISA_MORDER_WEAK)
        return false;
    switch (info->space) {
    case ISA_SPACE_CONST:
    case ISA_SPACE_SHARED: return true;
    case ISA_SPACE_GLOBAL: return rules != EMU_TAG_RULES_TABLE;
    case ISA_SPACE_GENERIC: /* not U if the address is in local memory, because each lane has its own local memory */
        return rules != EMU_TAG_RULES_TABLE &&
               address->base + (uint64_t)(int64_t)di->disp - ISA_LOCAL_BASE >= ISA_APERTURE_BYTES;
    default: return false;
    }
}

void emu_shadow_prepare(struct emu_warp *w, const struct emu_dinsn *di)
{
    struct emu_tag_step *s = w->core->tag_step;
    enum emu_tag_rules rules = w->core->machine->config.tag_rules;
    const struct isa_insn *insn = emu_insn_of(w, di);
    unsigned flags = isa_op_info((enum isa_op)insn->op)->flags;
    struct emu_affine address = emu_affine_v();

    memset(s, 0, offsetof(struct emu_tag_step, change));
    s->di = di;
    s->expansions = 0;
    s->divergences = w->core->stats.divergences;
    s->info = w->code->tag[di->index];
    s->mask = w->e & emu_guard(w, di);
    s->live = w->live;
    if (flags & ISA_F_SYNC)
        s->mask = w->e; /* in cross-lane operations, lanes outside the mask may take part, so the result is always V */
    if (flags & ISA_F_SCALAR && s->info.d_words != 0)
        s->mask = w->live & emu_guard(w, di); /* v_writelane ignores exec */
    emu_tag_count(w, insn);
    memcpy(s->p_before, w->p, sizeof s->p_before);

    s->query.rule = (enum isa_tag_rule)s->info.rule;
    s->query.rules = rules;
    s->query.fold = w->shadow->fold;
    s->query.live = w->live;
    s->query.bits = 32u * (s->info.d_words == 2 ? 2 : 1);
    s->query.r = uniform_predicate(w, di->r);
    for (unsigned i = 0; i < 3; i++)
        s->query.source_bits[i] = 32u * s->info.words[i];
    emu_tag_sources(w, di, &s->info, s->query.source);
    if (s->info.address != 0) {
        address = address_value(w, di, &s->info);
        s->address = address.kind;
    }
    switch (s->query.rule) {
    case ISA_TAG_SPECIAL:
        s->how = (uint8_t)emu_tag_special(w, (enum isa_special)di->reg, &s->value);
        break;
    case ISA_TAG_LOAD:
        s->value = emu_affine_v();
        s->how = loads_one_address(w, di, &s->info, &address, rules) ? EMU_TAG_READ
                                                                   : EMU_TAG_KNOWN;
        break;
    case ISA_TAG_CVT:
        s->query.dtype = di->sub & 15;
        s->query.stype = di->sub >> 4;
        s->query.saturate = di->reg & 8;
        /* fall through */
    default: s->how = (uint8_t)emu_tag_infer(&s->query, &s->value); break;
    }

    /* counts the registers that the instruction reads, by tag */
    s->counted = s->change_count != 0;
    for (unsigned i = 0; i < 3; i++) {
        s->counted |= s->info.words[i] != 0;
        if (s->info.words[i] != 0 && s->query.source[i].kind > s->seen)
            s->seen = s->query.source[i].kind;
    }
    if (s->info.address != 0 && address.kind > s->seen)
        s->seen = address.kind;
    for (unsigned i = 0; s->info.address != 0 && i < s->change_count; i++) {
        unsigned row = di->a / w->stride - EMU_ROW_V0, r = s->change[i].reg;
        bool of_address = r == row || (s->info.address == 1 + ISA_AMODE_PAIR && r == row + 1);
        if (s->change[i].read && !of_address && s->change[i].before.kind > s->seen)
            s->seen = s->change[i].before.kind;
    }
}

static void count_step(struct emu_tag_stats *stats, const struct emu_tag_step *s)
{
    for (unsigned i = 0; i < s->change_count; i++)
        if (s->change[i].read)
            stats->reads[s->change[i].before.kind]++;
    if (s->mask == 0)
        return;
    if (s->counted)
        stats->instructions[s->seen]++;
    if (s->info.address != 0)
        stats->addresses[s->address]++;
}

/* ---- after an instruction was executed ----------------------------------------------------- */

/** If the instruction is the addx of a 64-bit addition by add.cc and addx, gives the two results the tag of the 64-bit sum. */
static void follow_carry(struct emu_warp *w, struct emu_tag_step *s)
{
    struct emu_carry *c = &w->shadow->carry;
    const struct emu_dinsn *di = s->di;
    bool adds = s->info.rule == ISA_TAG_ADDC || s->info.rule == ISA_TAG_SUBC;
    struct emu_affine a = s->query.source[0], b = s->query.source[1];

    if (adds && s->info.rule == ISA_TAG_SUBC && b.kind != EMU_TAG_V)
        b = emu_affine_make(32, ~b.base, 0 - (uint64_t)b.stride, 0 - (uint64_t)b.rise);
    if (adds && c->valid && c->rule == s->info.rule && di->r == c->p && di->guard == c->guard &&
        s->info.d == c->d + 1u && s->mask == s->live) {
        struct emu_affine wide_a = emu_affine_join(&c->a, &a, w->shadow->fold, s->live);
        struct emu_affine wide_b = emu_affine_join(&c->b, &b, w->shadow->fold, s->live);
        struct emu_affine sum = emu_affine_v();
        if (wide_a.kind != EMU_TAG_V && wide_b.kind != EMU_TAG_V)
            sum = emu_affine_make(64, wide_a.base + wide_b.base + c->in,
                                  (uint64_t)wide_a.stride + (uint64_t)wide_b.stride,
                                  (uint64_t)wide_a.rise + (uint64_t)wide_b.rise);
        if (c->d + 1u < w->vreg_count)
            set_pair(w, c->d, &sum);
    }
    for (unsigned i = 0; c->valid && i < s->change_count; i++)
        if (s->change[i].written && s->change[i].reg == c->d)
            c->valid = false;
    if (c->valid && (w->p[c->p] != s->p_before[c->p] || di->p == c->p || di->q == c->p))
        c->valid = false;
    if (adds && di->p < ISA_PT && s->mask == s->live && s->query.r >= 0 &&
        s->info.d != ISA_VZ && a.kind != EMU_TAG_V && b.kind != EMU_TAG_V)
        *c = (struct emu_carry){.valid = true, .rule = s->info.rule, .p = di->p,
                                .guard = di->guard, .d = (uint8_t)s->info.d,
                                .in = (uint8_t)s->query.r, .a = a, .b = b};
}

/** Returns the lane operations that a compare needs: 1 or 2 if it can be computed in closed form, otherwise one for each lane. */
static unsigned compare_cost(struct emu_warp *w, struct emu_tag_step *s, unsigned lanes)
{
    const struct emu_affine *a = &s->query.source[0], *b = &s->query.source[1];
    const struct emu_dinsn *di = s->di;
    uint64_t truth;

    if (s->info.words[0] == 0 ||
        !emu_tag_compare_values(di->sub & 15, a, b, 32u * s->info.words[0],
                                s->info.rule == ISA_TAG_CMP_S, w->shadow->fold, w->width,
                                s->live, &truth))
        return lanes;
    if ((di->sub >> 4 & 3) == ISA_BOOL_NONE && di->p < ISA_PT && di->p != di->q &&
        ((w->p[di->p] ^ truth) & s->mask) != 0)
        w->core->stats.tags.mismatches++;
    return a->kind == EMU_TAG_U && b->kind == EMU_TAG_U ? 1 : 2;
}

void emu_shadow_after(struct emu_warp *w, bool skipped)
{
    struct emu_tag_step *s = w->core->tag_step;
    struct emu_tag_stats *stats = &w->core->stats.tags;
    unsigned lanes = lw_popcount(s->mask), cost = lanes, d = s->info.d;
    bool writes = s->mask != 0 && d != ISA_VZ && d + s->info.d_words <= w->vreg_count;

    count_step(stats, s);
    for (unsigned i = 0; writes && i < s->info.d_words; i++) {
        uint32_t *row = vector(w, d + i);
        struct emu_affine v = s->value;
        if (skipped)
            v = emu_affine_v();
        else if (s->how == EMU_TAG_READ ||
                 (s->how == EMU_TAG_EVALUATE && equal_lanes(row, s->mask)))
            v = emu_affine_u(row[lw_lowest(s->mask)]);
        else if (s->query.bits == 64)
            v = i == 0 && v.kind != EMU_TAG_V
                    ? emu_affine_make(32, v.base, (uint64_t)v.stride, (uint64_t)v.rise)
                    : emu_affine_high(&v, w->shadow->fold, s->live);
        write_tag(w, s, d + i, &v);
    }
    if (writes && s->query.bits == 64 && s->mask == s->live && !skipped) {
        struct emu_affine v = s->value;
        if (s->how != EMU_TAG_KNOWN) {
            struct emu_affine low = half(&w->shadow->reg[d]), high = half(&w->shadow->reg[d + 1]);
            v = emu_affine_v();
            if (low.kind == EMU_TAG_U && high.kind == EMU_TAG_U)
                v = emu_affine_u(high.base << 32 | low.base);
        }
        set_pair(w, d, &v);
    }
    follow_carry(w, s);
    for (unsigned i = 0; writes && i < s->info.d_words; i++) {
        struct emu_detected found;
        stats->mismatches += !matches(w, d + i);
        emu_detect(vector(w, d + i), s->mask, w->width, &found);
        stats->common[found.common]++;
        if (s->mask == s->live) { /* writes in only some lanes are not counted as compressed */
            const unsigned all = (w->width * 4u + EMU_BANK_BYTES - 1) / EMU_BANK_BYTES;
            stats->delta_banks += found.banks < all ? found.banks : all;
            stats->row_banks += all;
        }
        stats->writes[w->shadow->reg[d + i].kind]++;
    }
    if (writes && s->mask == s->live) {
        const struct emu_tag *t = &w->shadow->reg[d];
        unsigned kind = t->pair && s->info.d_words == 2
                            ? (t->pair_stride != 0 || t->pair_rise != 0 ? EMU_TAG_A : EMU_TAG_U)
                            : t->kind;
        cost = kind == EMU_TAG_V ? lanes : kind == EMU_TAG_A ? 2 : 1;
    }
    if (s->mask != 0 && (s->info.rule == ISA_TAG_CMP || s->info.rule == ISA_TAG_CMP_S)) {
        unsigned c = compare_cost(w, s, lanes);
        if (s->mask == s->live)
            cost = c;
    }
    if (s->counted && cost < lanes)
        stats->lanes_saved += lanes - cost;
    if (w->core->machine->config.tag_expansion == EMU_TAG_EAGER &&
        w->core->stats.divergences != s->divergences)
        for (unsigned r = 0; r < w->vreg_count; r++)
            if (w->shadow->reg[r].kind != EMU_TAG_V) {
                set_v(w, r);
                s->expansions++;
            }
    stats->expansions += s->expansions;
    emu_tag_counted(w);
}
