/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register tags: which unit executes an instruction, and where a register is stored. Source: specification of the book,
 * sections 12.4 and 12.8 to 12.10 (which registers are tagged, expansion, where affine operations execute) and 13 (compressed
 * registers). docs/reference/timing-core.md marks the choices that are not from the book.
 */
#include "timing/decode/tim_tags_priv.h"

#include <stdlib.h>

static const struct emu_tag_change *change_of(const struct emu_event *ev, unsigned reg)
{
    for (unsigned i = 0; i < ev->tag_count; i++)
        if (ev->tags[i].reg == reg)
            return &ev->tags[i];
    return NULL;
}

/** Returns true if the value base + stride * lane of the register wraps in no lane of @lanes, so that a compare of the
 *  closed forms gives the result of all lanes. @high: the register is the upper half of a pair, and must be uniform. */
static bool fits(const struct emu_tag *tag, bool is_signed, bool high, uint64_t lanes)
{
    int64_t base = is_signed ? (int32_t)tag->base : (int64_t)tag->base;
    const int64_t least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : (int64_t)UINT32_MAX;
    unsigned fold = tag->fold, low = lw_lowest(lanes), top = 63 - (unsigned)__builtin_clzll(lanes);
    bool folds = top >= fold; /* the lanes span several thread rows of `fold` lanes, so any column may occur */
    const unsigned column[2] = {folds ? 0 : low, folds ? fold - 1 : top}, line[2] = {low / fold, top / fold};

    if (tag->kind == EMU_TAG_U)
        return true;
    if (high)
        return false;
    for (unsigned i = 0; i < 4; i++) {
        int64_t v = base + (int64_t)tag->stride * column[i & 1] + (int64_t)tag->rise * line[i >> 1];

        if (v < least || v > most)
            return false;
    }
    return true;
}

/** Returns true if a compare of the closed forms of the sources gives the result of all lanes. The caller has checked that no
 *  source has tag V. */
static bool compares(const struct tim_static *what, const struct emu_event *ev)
{
    bool is_signed = what->tag_rule == TIM_TAG_COMPARE_S;

    for (unsigned k = 0; k < what->row_reads; k++) {
        const struct emu_tag_change *c = change_of(ev, what->row_read[k]);
        bool high = k != 0 && what->row_operand[k - 1] == what->row_operand[k];
        bool low = k + 1 < what->row_reads && what->row_operand[k + 1] == what->row_operand[k];

        if (!fits(&c->before, is_signed && !low, high, ev->effective))
            return false;
    }
    return true;
}

static unsigned worse(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/** Returns the unit that executes the instruction, as an enum emu_tag_kind. */
static unsigned executed_as(const struct tim_config *config, const struct tim_static *what, const struct emu_event *ev,
                            const struct tim_tagged *t)
{
    unsigned kind = t->sources;

    if (what->tag_rule == TIM_TAG_NEVER || kind == EMU_TAG_V || ev->effective == 0)
        return EMU_TAG_V;
    if (what->tag_rule == TIM_TAG_ADDRESS)
        return config->tags_address == TIM_ADDRESS_LANES ? EMU_TAG_V : kind;
    if (what->tag_rule == TIM_TAG_BY_RESULT)
        kind = worse(kind, t->results);
    else if (kind == EMU_TAG_A && what->row_writes != 0)
        kind = t->results == EMU_TAG_V ? EMU_TAG_V : EMU_TAG_A;
    else if (kind == EMU_TAG_A && (what->tag_rule == TIM_TAG_BY_SOURCES || !compares(what, ev)))
        kind = EMU_TAG_V;
    if (kind == EMU_TAG_U)
        return config->tags_scalar == TIM_SCALAR_OFF ? EMU_TAG_V : EMU_TAG_U;
    return config->tags_affine == TIM_AFFINE_OFF ? EMU_TAG_V : kind;
}

void tim_tags_look(const struct tim_config *config, const struct tim_static *what, const struct emu_event *ev,
                   struct tim_tagged *out)
{
    memset(out, 0, sizeof *out);
    for (unsigned k = 0; k < what->row_reads; k++) {
        const struct emu_tag_change *c = change_of(ev, what->row_read[k]);
        unsigned kind = c != NULL ? c->before.kind : EMU_TAG_V;

        out->read_kind[k] = (uint8_t)kind;
        out->sources = (uint8_t)worse(out->sources, kind);
        if (k < what->address_rows)
            out->address = (uint8_t)worse(out->address, kind);
        out->reads |= (uint32_t)tim_tag_is_compact(config, kind) << k;
    }
    for (unsigned k = 0; k < what->row_writes; k++) {
        const struct emu_tag_change *c = change_of(ev, what->row_write[k]);
        unsigned before = c != NULL ? c->before.kind : EMU_TAG_V, after = c != NULL ? c->after.kind : EMU_TAG_V;
        bool was = tim_tag_is_compact(config, before), is = tim_tag_is_compact(config, after);

        out->write_kind[k] = (uint8_t)after;
        out->results = (uint8_t)worse(out->results, after);
        out->writes |= (uint32_t)is << k;
        out->expands |= (uint32_t)(was && !is && after == EMU_TAG_V && ev->expansions != 0) << k;
        out->rows += was - is;
    }
    out->as = (uint8_t)executed_as(config, what, ev, out);
}

unsigned tim_tags_count(const struct tim_config *config, const struct emu_core *core, unsigned slot, unsigned warp,
                        unsigned *count)
{
    struct emu_tag tag;
    unsigned compact = 0, n = 0;

    while (n < ISA_VREG_COUNT && emu_reg_tag(core, slot, warp, n, &tag)) {
        compact += tim_tag_is_compact(config, tag.kind);
        n++;
    }
    *count = n;
    return compact;
}

void tim_tags_variant(const struct tim_config *config, unsigned kind, struct tim_static *insn)
{
    bool unit = kind == EMU_TAG_A ? config->tags_affine == TIM_AFFINE_UNIT : config->tags_scalar == TIM_SCALAR_PIPE;

    if (insn->tag_rule == TIM_TAG_NEVER)
        return;
    insn->held = kind == EMU_TAG_A ? 2 : 1; /* one cycle for the base of an affine value and one for its stride */
    if (insn->tag_rule == TIM_TAG_ADDRESS) {
        insn->uniform = true;
    } else if (unit) {
        insn->unit = ISA_UNIT_SCALAR;
        insn->latency = (uint16_t)config->unit[ISA_UNIT_SCALAR].latency;
        insn->pipes = config->unit[ISA_UNIT_SCALAR].pipes == 0 ? ISA_UNIT_INT : ISA_UNIT_SCALAR;
    }
}

/* ---- where compact entries are ------------------------------------------------------------------ */

struct tim_entries *tim_entries_create(const struct tim_config *config)
{
    struct tim_entries *e = calloc(1, sizeof *e);

    if (e == NULL || config->registers_compact != TIM_COMPACT_PART)
        return e;
    e->parts = config->registers_parts;
    e->part = calloc((size_t)config->issue_schedulers * config->registers_banks * (e->parts + 1), sizeof *e->part);
    if (e->part == NULL) {
        free(e);
        return NULL;
    }
    return e;
}

void tim_entries_destroy(struct tim_entries *e)
{
    if (e != NULL)
        free(e->part);
    free(e);
}

bool tim_entries_claim(const struct tim_config *config, struct tim_entries *e, unsigned sched, unsigned bank,
                       unsigned row, bool row_taken, uint64_t now, bool *avoids)
{
    if (e->parts == 0) {
        if (e->file[sched].at != now + 1) {
            e->file[sched].at = now + 1;
            e->file[sched].used = 0;
        }
        *avoids = row_taken;
        return e->file[sched].used < config->registers_compact_ports && ++e->file[sched].used != 0;
    }
    uint64_t *part = tim_entries_bank(e, bank), bit = UINT64_C(1) << tim_entry_part(config, row);
    if (row_taken || (part[0] == now + 1 && (part[1] & bit) != 0))
        return false;
    *avoids = part[0] == now + 1;
    part[1] = *avoids ? part[1] | bit : bit;
    part[0] = now + 1;
    return true;
}

uint64_t tim_entries_reserve(const struct tim_config *config, struct tim_entries *e, unsigned sched, unsigned bank,
                             unsigned row, uint64_t bank_free, uint64_t from)
{
    uint64_t at = from;

    if (e->parts == 0) {
        uint64_t last = e->file[sched].at;

        if (last > at || (last == at && e->file[sched].used == config->registers_compact_ports))
            at = e->file[sched].used == config->registers_compact_ports ? last + 1 : last;
        e->file[sched].used = at == last ? e->file[sched].used + 1 : 1;
        e->file[sched].at = at;
        return at;
    }
    uint64_t *part = tim_entries_bank(e, bank), *own = &part[1 + tim_entry_part(config, row)];
    at = at > bank_free ? at : bank_free;
    at = at > *own ? at : *own;
    *own = at + 1;
    part[0] = part[0] > at + 1 ? part[0] : at + 1;
    return at;
}
