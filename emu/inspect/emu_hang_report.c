/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hang reports: why a grid makes no progress, as a wait-for graph written as text. Each line states which lanes wait, and for
 * what: for other lanes, with their locations; for a barrier; or for a location in memory.
 */
#include <stdio.h>

#include "emu/grid/emu_grid_priv.h"
#include "emu/inspect/emu_spin_observer_priv.h"
#include "emu/simt/emu_split_priv.h"

static uint64_t address_of(const struct emu_warp *w, uint32_t index)
{
    return w->code->program->base + (uint64_t)index * ISA_WORD_BYTES;
}

/** Returns the live lanes whose barrier register @reg holds group number @number, which is not 0. */
static uint64_t members_of(const struct emu_warp *w, unsigned reg, uint64_t number)
{
    uint64_t lanes = 0;

    for (LW_EACH_BIT(l, w->bform[reg].lanes & w->live))
        lanes |= (uint64_t)(emu_breg_number(w, reg, (unsigned)l) == number) << l;
    return lanes;
}

/* ---- words -------------------------------------------------------------------------- */

/** Text buffer of fixed size; text that does not fit ends in "...". */
struct words {
    char *text;
    size_t size, used;
};

static void say(struct words *out, const char *fmt, ...) LW_PRINTF(2, 3);
static void say(struct words *out, const char *fmt, ...)
{
    va_list ap;
    int n;

    if (out->used + 4 >= out->size)
        return;
    va_start(ap, fmt);
    n = vsnprintf(out->text + out->used, out->size - out->used, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    out->used += (size_t)n;
    if (out->used >= out->size) {
        memcpy(out->text + out->size - 4, "...", 4);
        out->used = out->size;
    }
}

static void say_lanes(struct words *out, uint64_t lanes)
{
    bool first = true;

    say(out, "%s ", lanes & (lanes - 1) ? "lanes" : "lane");
    while (lanes != 0) {
        unsigned low = lw_lowest(lanes), end = low;
        while (end < EMU_MAX_LANES && (lanes >> end & 1))
            end++;
        lanes &= ~(lw_mask(end) & ~lw_mask(low));
        say(out, end - low > 2 ? "%s%u-%u" : end - low == 2 ? "%s%u,%u" : "%s%u",
            first ? "" : ",", low, end - 1);
        first = false;
    }
}

/** Returns the index of the instruction at which a split waits, or which the split executes next. */
static uint32_t index_of(const struct emu_warp *w, unsigned id)
{
    const struct emu_split *s = &w->split[id];
    uint32_t pc = emu_split_pc(w, id);
    bool is_past = s->state == EMU_SPLIT_BLOCKED || s->state == EMU_SPLIT_CTA ||
                  s->state == EMU_SPLIT_YIELDED || s->state == EMU_SPLIT_SLEEPING ||
                  s->state == EMU_SPLIT_LAUNCH ||
                  (s->state == EMU_SPLIT_WARPSYNC && !(s->flags & EMU_SPLIT_AT_SYNC));

    return is_past && pc > 0 ? pc - 1 : pc;
}

static void say_pc(struct words *out, const struct emu_warp *w, uint32_t index)
{
    const struct isa_object *object = w->code->program->object;
    const struct isa_line *line = object != NULL ? isa_object_line_at(object, index) : NULL;

    say(out, "pc 0x%llx", (unsigned long long)address_of(w, index));
    if (line != NULL && line->file < object->file_count && line->line != 0)
        say(out, " (%s:%u)", object->files[line->file], line->line);
}

/** Appends the location of @lanes. They are the lanes of split @id, or of several splits that wait at one warpsync. */
static void say_location(struct words *out, const struct emu_warp *w, unsigned id, uint64_t lanes)
{
    static const char *const doing[] = {
        [EMU_SPLIT_READY] = "at ", [EMU_SPLIT_YIELDED] = "yielded at ", [EMU_SPLIT_SLEEPING] = "sleeping at ",
        [EMU_SPLIT_SUSPENDED] = "suspended at ", [EMU_SPLIT_STACKED] = "stacked at ",
        [EMU_SPLIT_LAUNCH] = "waiting at launch.sync, "};
    const struct emu_split *s = &w->split[id];

    if (s->state == EMU_SPLIT_BLOCKED)
        say(out, "blocked at bsync%s b%u, ", s->flags & EMU_SPLIT_SOFT ? ".soft" : "", s->barrier);
    else if (s->state == EMU_SPLIT_WARPSYNC)
        say(out, "waiting at a warpsync with mask 0x%llx, ", (unsigned long long)w->member[lw_lowest(lanes)]);
    else if (s->state == EMU_SPLIT_CTA)
        say(out, "waiting at CTA barrier %u, ", s->barrier);
    else
        say(out, "%s", doing[s->state]);
    say_pc(out, w, index_of(w, id));
}

static bool same_location(const struct emu_warp *w, unsigned a, unsigned b)
{
    const struct emu_split *x = &w->split[a], *y = &w->split[b];

    return x->state == y->state && x->flags == y->flags &&
           emu_split_pc(w, a) == emu_split_pc(w, b) &&
           ((x->state != EMU_SPLIT_BLOCKED && x->state != EMU_SPLIT_CTA) ||
            x->barrier == y->barrier);
}

/** Appends the locations of @lanes of a warp: "lane 3 (blocked at bsync b0, pc ...), lane 5 (...)". */
static void say_where(struct words *out, const struct emu_warp *w, uint64_t lanes)
{
    uint64_t todo = w->split_ids;
    bool first = true;

    while (todo != 0) {
        unsigned id = lw_lowest(todo);
        uint64_t here = 0;
        for (LW_EACH_BIT(k, todo)) {
            if (!same_location(w, id, (unsigned)k))
                continue;
            here |= w->split[k].lanes & lanes;
            todo &= ~split_bit((unsigned)k);
        }
        while (here != 0) {
            uint64_t same = here; /* lanes that wait with different member masks are listed separately */
            for (LW_EACH_BIT(l, w->split[id].state == EMU_SPLIT_WARPSYNC ? here : 0))
                if (w->member[l] != w->member[lw_lowest(here)])
                    same &= ~split_bit((unsigned)l);
            here &= ~same;
            if (!first)
                say(out, ", ");
            first = false;
            say_lanes(out, same);
            say(out, " (");
            say_location(out, w, id, same);
            say(out, ")");
        }
    }
}

void emu_hang_report_where(const struct emu_warp *w, uint64_t lanes, char *text, size_t size)
{
    struct words out = {.text = text, .size = size};

    text[0] = '\0';
    say_where(&out, w, lanes);
}

/* ---- lines -------------------------------------------------------------------------- */

struct culprit {
    enum emu_hang_kind kind;
    uint32_t grid;
    uint64_t block;
    unsigned warp;
    uint64_t lanes, pc;
};

/** A hang report being written. A line that equals the last line of the preceding warp is not written again; instead, that line
 *  is extended to a range of warps. */
struct report {
    struct words out;
    const struct emu_spin_observer *probe; /* spin observation that proved the hang, or NULL if there was no observation */
    bool name_blocks, name_grids;
    bool in_stack; /* culprit.kind is EMU_HANG_SIMT, and the reconvergence engine is a SIMT stack */
    struct culprit culprit;
    struct {
        uint32_t grid;
        uint64_t block;
        unsigned first, last;
        char text[700];
    } held;
    bool holds, values; /* values: every location that lanes read repeatedly is never written */
    unsigned lines, dropped;
};
enum { MOST_LINES = 24 };

static void begin_line(struct report *r, uint32_t grid, uint64_t block)
{
    say(&r->out, "\n");
    if (r->name_grids)
        say(&r->out, "launch %u ", grid);
    if (r->name_blocks)
        say(&r->out, "block %llu ", (unsigned long long)block);
}

static void flush(struct report *r)
{
    if (!r->holds)
        return;
    r->holds = false;
    if (r->lines++ >= MOST_LINES) {
        r->dropped++;
        return;
    }
    begin_line(r, r->held.grid, r->held.block);
    if (r->held.first == r->held.last)
        say(&r->out, "warp %u ", r->held.first);
    else
        say(&r->out, "warps %u-%u ", r->held.first, r->held.last);
    say(&r->out, "%s", r->held.text);
}

static uint32_t grid_of(const struct emu_warp *w)
{
    return w->block->grid != NULL ? w->block->grid->sequence : 0;
}

/** Appends a line about lanes of @w. */
static void put_line(struct report *r, const struct emu_warp *w, const char *text)
{
    if (r->holds && r->held.grid == grid_of(w) && r->held.block == w->block->linear &&
        r->held.last + 1 == w->index &&
        strcmp(r->held.text, text) == 0) {
        r->held.last = w->index;
        return;
    }
    flush(r);
    r->holds = true;
    r->held.grid = grid_of(w);
    r->held.block = w->block->linear;
    r->held.first = r->held.last = w->index;
    snprintf(r->held.text, sizeof r->held.text, "%s", text);
}

/** If @kind is the most severe kind of hang so far, records @lanes as the report's culprit and returns true. */
static bool blame(struct report *r, enum emu_hang_kind kind, const struct emu_warp *w,
                  uint64_t lanes)
{
    static const unsigned weight[] = {[EMU_HANG_NONE] = 0,       [EMU_HANG_DEADLOCK] = 1,
                                      [EMU_HANG_CTA_BARRIER] = 2, [EMU_HANG_CONVERGENCE] = 3,
                                      [EMU_HANG_LIVELOCK] = 4,    [EMU_HANG_VALUE] = 4,
                                      [EMU_HANG_SIMT] = 5};
    struct culprit *c = &r->culprit;

    if (weight[kind] <= weight[c->kind])
        return false;
    c->kind = kind;
    c->grid = grid_of(w);
    c->block = w->block->linear;
    c->warp = w->index;
    c->lanes = lanes;
    for (LW_EACH_BIT(id, w->split_ids))
        if (w->split[id].lanes & lanes) {
            c->pc = address_of(w, index_of(w, (unsigned)id));
            break;
        }
    return true;
}

/* ---- who spins ---------------------------------------------------------------------- */

/** Appends "lock+0x4 (0x200000000004)". */
static void say_memory(struct words *out, const struct emu_warp *w, uint64_t address)
{
    const struct isa_object *object = w->code->program->object;
    struct emu_allocation a;
    char room[ISA_SYMBOL_BYTES];
    bool inside = false;

    if (address >= ISA_SHARED_BASE && address < ISA_LOCAL_BASE) {
        uint64_t offset = address - ISA_SHARED_BASE;
        const struct isa_function *kernel = w->block->grid->launch.kernel;
        const struct isa_variable *v = object != NULL ? isa_shared_variable(object, kernel, (uint32_t)offset) : NULL;
        if (v != NULL) {
            say(out, "%s+0x%llx (shared 0x%llx)", isa_symbol_text(isa_own_name(v->name), room),
                (unsigned long long)(offset - v->shared_offset), (unsigned long long)offset);
            return;
        }
        say(out, "shared 0x%llx", (unsigned long long)offset);
        return;
    }
    if (emu_allocation_at(w->core->machine, address, &a, &inside) && inside && *a.name != '\0')
        say(out, "%s+0x%llx (0x%llx)", isa_symbol_text(a.name, room), (unsigned long long)(address - a.address),
            (unsigned long long)address);
    else
        say(out, "0x%llx", (unsigned long long)address);
}

/** Returns the lanes of @lanes that, in the observed accesses @p, read the same address with the same value more than once. */
static uint64_t steady(const struct emu_poll *p, uint64_t lanes)
{
    if (p->kind != EMU_ACCESS_LOAD && p->kind != EMU_ACCESS_ATOMIC)
        return 0;
    return p->again & ~p->moved & ~p->changed & lanes;
}

/** Returns true if the observed accesses @p are those of warp @w. */
static bool launched_by(const struct emu_poll *p, const struct emu_warp *w)
{
    return p->grid == grid_of(w) && p->block == w->block->linear && p->warp == w->index &&
           /* a pc from a loaded checkpoint may have any value */
           (p->pc - w->code->program->base) / ISA_WORD_BYTES < w->code->program->count;
}

/** Returns true if @lanes, which are running, may be waiting for other lanes. If the lanes were observed and none of them
 *  repeatedly reads one address with an unchanged value, they compute and do not wait. */
static bool may_wait(const struct report *r, const struct emu_warp *w, uint64_t lanes)
{
    uint64_t waits = 0;

    if (r->probe == NULL || !emu_spin_observer_has_block(r->probe, w->block))
        return true;
    for (size_t i = 0; i < r->probe->count; i++)
        if (launched_by(&r->probe->poll[i], w))
            waits |= steady(&r->probe->poll[i], lanes);
    return waits != 0;
}

static uint64_t value_in(const struct emu_poll *p, unsigned lane)
{
    uint64_t value = 0;

    memcpy(&value, p->value[lane], p->bytes < 8 ? p->bytes : 8); /* little-endian, as guest values are */
    return value;
}

static void say_polled(struct words *out, const struct emu_warp *w, const struct emu_poll *p,
                       uint64_t lanes)
{
    uint32_t index = (uint32_t)((p->pc - w->code->program->base) / ISA_WORD_BYTES);
    unsigned places = 0, first = lw_lowest(lanes), last = first;
    bool same = true;

    say_lanes(out, lanes);
    say(out, lanes & (lanes - 1) ? " spin with %s at " : " spins with %s at ",
        isa_op_info((enum isa_op)w->code->program->insn[index].op)->mnemonic);
    say_pc(out, w, index);
    for (LW_EACH_BIT(l, lanes)) {
        bool again = false;
        for (LW_EACH_BIT(k, lanes & lw_mask((unsigned)l)))
            again = again || p->address[k] == p->address[l];
        places += !again;
        first = p->address[l] < p->address[first] ? (unsigned)l : first;
        last = p->address[l] > p->address[last] ? (unsigned)l : last;
        same = same && value_in(p, (unsigned)l) == value_in(p, lw_lowest(lanes));
    }
    if (places == 1)
        say(out, " until this value changes: ");
    else
        say(out, " until one of %u values changes, from ", places);
    say_memory(out, w, p->address[first]);
    if (!same)
        say(out, ", now 0x%llx,", (unsigned long long)value_in(p, first));
    if (places > 1) {
        say(out, " to ");
        say_memory(out, w, p->address[last]);
    }
    say(out, ", now 0x%llx", (unsigned long long)value_in(p, last));
}

/** Returns lanes that could run but have not run for a long time: a policy without a fairness limit need not be fair (MACHINE
 *  2). */
static uint64_t starved(const struct emu_warp *w)
{
    enum { LONG = 1024 }; /* in warp instructions; the default fairness limit */
    uint64_t lanes = 0;

    for (LW_EACH_BIT(id, w->window == 0 ? w->split_in[EMU_SPLIT_READY] : 0))
        if ((int)id != w->running && w->retired - w->split[id].since > LONG)
            lanes |= w->split[id].lanes;
    return lanes;
}

static void explain_spinning(struct report *r, const struct emu_warp *w)
{
    uint64_t spin = w->split_in[EMU_SPLIT_READY] | w->split_in[EMU_SPLIT_YIELDED] |
                    w->split_in[EMU_SPLIT_SLEEPING];
    uint64_t lanes = emu_split_lanes(w, spin), rest = lanes, by_order = 0;
    char text[sizeof r->held.text];
    bool seen = r->probe != NULL && emu_spin_observer_has_block(r->probe, w->block);

    if (lanes == 0)
        return;
    bool is_culprit = blame(r, EMU_HANG_LIVELOCK, w, lanes);
    for (unsigned ordered = 2; ordered-- > 0 && seen;) { /* The second iteration searches plain loads, if the first one found no
                                                          * ordered load. */
        for (size_t i = 0; i < r->probe->count; i++) {
            const struct emu_poll *p = &r->probe->poll[i];
            struct words out = {.text = text, .size = sizeof text};
            uint64_t here;
            if (p->ordered != ordered || !launched_by(p, w))
                continue;
            here = steady(p, lanes) & ~(ordered ? 0 : by_order);
            if (here == 0)
                continue;
            rest &= ~here;
            by_order |= ordered ? here : 0;
            for (LW_EACH_BIT(l, here))
                r->values = r->values && !emu_spin_observer_is_written(r->probe, p, (unsigned)l);
            say_polled(&out, w, p, here);
            put_line(r, w, text);
            /* The report's pc is that of the load by which the lanes of the report's first line wait. When the run stops, these
             * lanes may be at another instruction of their loop. */
            if (is_culprit) {
                r->culprit.lanes = here;
                r->culprit.pc = p->pc;
                is_culprit = false;
            }
        }
    }
    if (rest == 0)
        return;
    r->values = false;
    const uint64_t never = rest & starved(w);
    if (never != 0) {
        struct words out = {.text = text, .size = sizeof text};
        say_where(&out, w, never);
        say(&out, never & (never - 1) ? " are" : " is");
        say(&out, " ready, but the split policy %s always prefers other lanes (the fairness limit is 0)",
            w->policy->name);
        put_line(r, w, text);
        rest &= ~never;
    }
    if (rest == 0)
        return;
    struct words out = {.text = text, .size = sizeof text};
    say_where(&out, w, rest);
    say(&out, rest & (rest - 1) ? " run" : " runs");
    if (seen)
        say(&out, " in a loop that does not read a changing value from memory");
    put_line(r, w, text);
}

/* ---- who waits ---------------------------------------------------------------------- */

/** Returns the lanes for which split @s waits or may wait. */
static uint64_t awaited(const struct report *r, const struct emu_warp *w, const struct emu_split *s)
{
    uint64_t lanes = 0;

    for (LW_EACH_BIT(l, s->state == EMU_SPLIT_WARPSYNC ? s->lanes : 0))
        lanes |= w->member[l];
    if (((s->state == EMU_SPLIT_READY || s->state == EMU_SPLIT_SLEEPING) && may_wait(r, w, s->lanes)) ||
        (s->state == EMU_SPLIT_CTA && !w->block->cta[s->barrier].has_count))
        lanes = w->live;
    return lanes;
}

/** Appends the lines about lanes that wait in a SIMT stack, or in another table of entries, for lanes of later entries. */
static void explain_stack(struct report *r, const struct emu_warp *w)
{
    const struct emu_simt_entry *e = emu_simt_entries(w);
    const uint64_t stacked = emu_split_lanes(w, w->split_in[EMU_SPLIT_STACKED]);
    char text[sizeof r->held.text];

    if (w->simt.count < 2 || stacked == 0)
        return;
    for (LW_EACH_BIT(id, w->split_ids & ~w->split_in[EMU_SPLIT_STACKED]))
        if (awaited(r, w, &w->split[id]) & stacked) {
            r->in_stack = w->reconv->one_path || w->reconv->two_paths;
            blame(r, EMU_HANG_SIMT, w, w->split[id].lanes);
        }
    for (unsigned i = w->simt.count; i-- > 0;) {
        struct words out = {.text = text, .size = sizeof text};
        const struct emu_split *s = e[i].split < 0 ? NULL : &w->split[e[i].split];
        if (s == NULL || s->state != EMU_SPLIT_STACKED)
            continue;
        say_where(&out, w, s->lanes);
        say(&out, s->lanes & (s->lanes - 1) ? " wait" : " waits");
        if (w->reconv->one_path || w->reconv->two_paths) {
            const unsigned next = emu_simt_level_end(w, i);
            uint64_t above = 0;
            for (unsigned k = next; k < w->simt.count; k++)
                above |= e[k].lanes;
            say(&out, " in the SIMT stack below ");
            say_lanes(&out, above);
            if (e[next].rpc != EMU_NO_RPC) {
                say(&out, ", until they reach ");
                say_pc(&out, w, e[next].rpc);
            }
        } else {
            say(&out, " to reconverge with ");
            say_lanes(&out, e[i].lanes & ~s->lanes);
            say(&out, " at ");
            say_pc(&out, w, s->pc);
        }
        put_line(r, w, text);
    }
}

static void explain_convergence(struct report *r, const struct emu_warp *w)
{
    char text[sizeof r->held.text];

    for (LW_EACH_BIT(reg, w->breg_blocked)) {
        uint64_t todo = w->bform[reg].arrived;
        while (todo != 0) {
            struct words out = {.text = text, .size = sizeof text};
            uint64_t number = emu_breg_number(w, (unsigned)reg, lw_lowest(todo));
            uint64_t members = members_of(w, (unsigned)reg, number), here = members & todo;
            todo &= ~members;
            say_where(&out, w, here);
            say(&out, " wait%s at convergence barrier b%u (group %llu) for ", here & (here - 1) ? "" : "s",
                (unsigned)reg, (unsigned long long)number);
            say_where(&out, w, members & ~here);
            put_line(r, w, text);
            blame(r, EMU_HANG_CONVERGENCE, w, here);
        }
    }
}

static void explain_warpsync(struct report *r, const struct emu_warp *w)
{
    uint64_t waiting = emu_split_lanes(w, w->split_in[EMU_SPLIT_WARPSYNC]), todo = waiting;
    char text[sizeof r->held.text];

    while (todo != 0) {
        struct words out = {.text = text, .size = sizeof text};
        uint64_t m = w->member[lw_lowest(todo)], same = 0, other;
        for (LW_EACH_BIT(l, todo))
            same |= (uint64_t)(w->member[l] == m) << l;
        todo &= ~same;
        say_where(&out, w, same);
        say(&out, same & (same - 1) ? " wait for " : " waits for ");
        other = m & w->live & ~same;
        say_where(&out, w, other);
        if (other & waiting)
            say(&out, " (at least one of these with another mask)");
        put_line(r, w, text);
        blame(r, EMU_HANG_DEADLOCK, w, same);
    }
}

/** Appends "warp 0 lanes 0-7" or "warps 0-3 lanes 0-7", for warps with the same text. */
static void say_warps(struct words *out, unsigned first, unsigned last, const char *text)
{
    if (first == last)
        say(out, " warp %u %s", first, text);
    else
        say(out, " warps %u-%u %s", first, last, text);
}

/** Appends the location of @lanes, which have arrived at CTA barrier @id, if all of them wait there together. */
static void say_barrier(struct words *out, const struct emu_warp *w, unsigned id, uint64_t lanes)
{
    for (LW_EACH_BIT(k, w->split_in[EMU_SPLIT_CTA]))
        if (w->split[k].barrier == id && w->split[k].lanes == lanes) {
            say(out, " (");
            say_pc(out, w, index_of(w, (unsigned)k));
            say(out, ")");
        }
}

/** Appends, for each warp, the lanes that have arrived at CTA barrier @id, or, if @missing is set, the lanes that have not, with
 *  their locations. Returns false if no lanes were appended. */
static bool say_by_warp(struct words *out, const struct emu_block *block,
                        unsigned id, bool missing)
{
    const struct emu_cta_barrier *c = &block->cta[id];
    char held[400] = "", text[400];
    unsigned first = 0, last = 0;
    bool any = false;

    for (unsigned i = 0; i < block->warp_count; i++) {
        const struct emu_warp *w = &block->warp[i];
        uint64_t lanes = missing ? w->live & ~c->lanes[i] : c->lanes[i];
        struct words one = {.text = text, .size = sizeof text};
        if (lanes == 0)
            continue;
        if (missing) {
            say_where(&one, w, lanes);
        } else {
            say_lanes(&one, lanes);
            say_barrier(&one, w, id, lanes);
        }
        if (any && last + 1 == i && strcmp(held, text) == 0) {
            last = i;
            continue;
        }
        if (any) {
            say_warps(out, first, last, held);
            say(out, ",");
        }
        any = true;
        first = last = i;
        memcpy(held, text, sizeof held);
    }
    if (any)
        say_warps(out, first, last, held);
    return any;
}

static void explain_cta(struct report *r, const struct emu_block *block)
{
    for (LW_EACH_BIT(id, block->cta_open)) {
        const struct emu_cta_barrier *c = &block->cta[id];
        for (unsigned i = 0; i < block->warp_count; i++) {
            const struct emu_warp *w = &block->warp[i];
            if (emu_split_lanes(w, w->split_in[EMU_SPLIT_CTA]) & c->lanes[i])
                blame(r, EMU_HANG_CTA_BARRIER, w, c->lanes[i]);
        }
        flush(r);
        if (r->lines++ >= MOST_LINES) {
            r->dropped++;
            continue;
        }
        begin_line(r, block->grid != NULL ? block->grid->sequence : 0, block->linear);
        if (c->has_count)
            say(&r->out, "CTA barrier %u: %u of %u lanes arrived:", (unsigned)id, c->arrived,
                c->count);
        else
            say(&r->out, "CTA barrier %u: %u of %u live lanes arrived:", (unsigned)id,
                c->arrived_live, block->threads_live);
        (void)say_by_warp(&r->out, block, (unsigned)id, false);
        say(&r->out, "; missing:");
        if (!say_by_warp(&r->out, block, (unsigned)id, true))
            say(&r->out, " all other lanes have exited");
    }
}

/** Appends the lines about lanes that wait at launch.sync, with the state of the kernels that their block launched. */
static void explain_launches(struct report *r, const struct emu_warp *w)
{
    uint64_t lanes = emu_split_lanes(w, w->split_in[EMU_SPLIT_LAUNCH]);
    const struct emu_machine *machine = w->core->machine;
    char text[sizeof r->held.text], room[ISA_SYMBOL_BYTES];
    struct words out = {.text = text, .size = sizeof text};
    unsigned named = 0;

    if (lanes == 0)
        return;
    say_where(&out, w, lanes);
    say(&out, lanes & (lanes - 1) ? " wait for" : " waits for");
    for (const struct emu_grid *g = machine->oldest; g != NULL && named < 4; g = g->next) {
        if (g->group || g->parent.grid != grid_of(w) || g->parent.block != w->block->linear ||
            emu_grid_complete(g))
            continue;
        say(&out, "%s launch %u of %s (", named++ != 0 ? "," : "", g->sequence,
            isa_symbol_text(g->launch.kernel->name, room));
        if (g->stream_prev != NULL)
            say(&out, "after launch %u in its stream)", g->stream_prev->sequence);
        else if (g->blocks_started == 0)
            say(&out, "not started)");
        else if (g->blocks_ended < g->block_count)
            say(&out, "%llu of %llu blocks ended)", (unsigned long long)g->blocks_ended,
                (unsigned long long)g->block_count);
        else
            say(&out, "waiting for launches of its own)");
    }
    if (w->block->children > named)
        say(&out, " and %u more", w->block->children - named);
    put_line(r, w, text);
    blame(r, EMU_HANG_DEADLOCK, w, lanes);
}

static void explain_waiting(struct report *r, const struct emu_block *block)
{
    for (unsigned i = 0; i < block->warp_count; i++)
        explain_stack(r, &block->warp[i]);
    for (unsigned i = 0; i < block->warp_count; i++)
        explain_convergence(r, &block->warp[i]);
    for (unsigned i = 0; i < block->warp_count; i++)
        explain_warpsync(r, &block->warp[i]);
    for (unsigned i = 0; i < block->warp_count; i++)
        explain_launches(r, &block->warp[i]);
    explain_cta(r, block);
    flush(r);
}

/** Returns true if a report on @mine includes the lines of @b: both blocks belong to the same launch, or one of them belongs to a
 *  device launch. */
static bool is_related(const struct emu_block *mine, const struct emu_block *b)
{
    if (b->grid == mine->grid)
        return true;
    return b->grid != NULL && mine->grid != NULL &&
           (emu_grid_of_device(b->grid) || emu_grid_of_device(mine->grid));
}

static bool is_before(const struct emu_block *a, const struct emu_block *b)
{
    uint32_t ga = a->grid != NULL ? a->grid->sequence : 0;
    uint32_t gb = b->grid != NULL ? b->grid->sequence : 0;

    return ga != gb ? ga < gb : a->linear < b->linear;
}

/** Returns the next resident block after @last that is related to @mine, or the first related block if @last is NULL. */
static const struct emu_block *next_block(const struct emu_block *mine,
                                          const struct emu_block *last)
{
    const struct emu_core *core = mine->core;
    const struct emu_block *best = NULL;

    for (unsigned i = 0; i < core->slots_used; i++) {
        const struct emu_block *b = &core->block[i];
        if (b->in_use && b->warps_live != 0 && is_related(mine, b) &&
            (last == NULL || is_before(last, b)) && (best == NULL || is_before(b, best)))
            best = b;
    }
    return best;
}

const char *emu_hang_name(enum emu_hang_kind kind)
{
    static const char *const names[] = {"none",     "deadlock", "convergence", "cta-barrier",
                                        "livelock", "simt",     "value"};

    return (unsigned)kind < LW_COUNT_OF(names) ? names[kind] : "?";
}

static void say_headline(struct words *out, const struct report *r, bool livelock)
{
    static const char *const what[] = {
        [EMU_HANG_DEADLOCK] = "deadlock: nothing can run",
        [EMU_HANG_CONVERGENCE] = "convergence deadlock: lanes wait at a convergence barrier for "
                                 "lanes that cannot reach it",
        [EMU_HANG_CTA_BARRIER] = "partial CTA barrier: lanes wait at a CTA barrier for lanes that cannot reach it",
        [EMU_HANG_LIVELOCK] = "livelock",
        [EMU_HANG_SIMT] = "SIMT deadlock: the lanes on top of the SIMT stack wait for lanes "
                          "below them",
        [EMU_HANG_VALUE] = "wait on a value that is never written",
    };

    say(out, "%s", r->culprit.kind == EMU_HANG_SIMT && !r->in_stack
                       ? "SIMT deadlock: lanes wait for lanes of their warp that wait to reconverge with them"
                       : what[r->culprit.kind]);
    if (livelock)
        say(out, ": no store changes memory, no lane exits, and each running warp repeats the same states");
}

void emu_block_explain(const struct emu_block *block, const struct emu_hang_cause *cause,
                       struct emu_hang *out)
{
    const struct emu_spin_observer *probe = cause->probe;
    bool livelock = cause->livelock;
    char lines[sizeof out->detail - 500]; /* leaves space for the headline and for the count of dropped lines */
    struct report r = {.out = {.text = lines, .size = sizeof lines}, .probe = probe,
                       .values = livelock && probe != NULL && !probe->incomplete};
    struct words text = {.text = out->detail, .size = sizeof out->detail};
    char suffix[200] = "", room[ISA_SYMBOL_BYTES];
    struct words tail = {.text = suffix, .size = sizeof suffix};
    const struct emu_grid *grid = block->grid;

    memset(out, 0, sizeof *out);
    lines[0] = '\0';
    r.name_grids = grid != NULL && block->core->machine->device_open != 0;
    r.name_blocks = r.name_grids || (grid != NULL && grid->block_count > 1);
    explain_waiting(&r, block);
    for (const struct emu_block *b = next_block(block, NULL); b != NULL && !cause->alone;
         b = next_block(block, b))
        if (b != block)
            explain_waiting(&r, b);
    for (const struct emu_block *b = cause->alone ? block : next_block(block, NULL);
         livelock && b != NULL; b = cause->alone ? NULL : next_block(block, b))
        for (unsigned i = 0; i < b->warp_count; i++)
            explain_spinning(&r, &b->warp[i]);
    flush(&r);
    if (r.dropped > 0)
        say(&tail, "\n... and %u more lines like these", r.dropped);
    if (livelock && grid != NULL && !cause->alone && grid->blocks_started < grid->block_count)
        say(&tail, "\n%llu blocks of the grid have not started: they start when other blocks end",
            (unsigned long long)(grid->block_count - grid->blocks_started));
    if (livelock && block->core->machine->pending != 0 && !cause->alone)
        say(&tail, "\n%u device-side launches have not started",
            block->core->machine->pending);
    if (r.culprit.kind == EMU_HANG_LIVELOCK && r.values)
        r.culprit.kind = EMU_HANG_VALUE;
    if (r.culprit.kind == EMU_HANG_NONE)
        r.culprit.kind = livelock ? EMU_HANG_LIVELOCK : EMU_HANG_DEADLOCK;
    say_headline(&text, &r, livelock);
    if (grid != NULL && grid->launch.kernel != NULL && !r.name_grids)
        say(&text, "; kernel %s", isa_symbol_text(grid->launch.kernel->name, room));
    say(&text, "%s%s", lines, suffix);
    out->kind = r.culprit.kind;
    out->grid = r.culprit.lanes != 0 ? r.culprit.grid : grid != NULL ? grid->sequence : 0;
    out->block = r.culprit.lanes != 0 ? r.culprit.block : block->linear;
    out->warp = r.culprit.warp;
    out->lanes = r.culprit.lanes;
    out->pc = r.culprit.pc;
}

void emu_hang_print(const struct emu_hang *hang, struct lw_sink *out)
{
    lw_put(out, "hang: ");
    emu_where_print(hang, out);
}

void emu_where_print(const struct emu_hang *where, struct lw_sink *out)
{
    const char *rest = where->detail, *end;

    while ((end = strchr(rest, '\n')) != NULL) {
        lw_printf(out, "%.*s\n  ", (int)(end - rest), rest);
        rest = end + 1;
    }
    lw_put(out, rest);
}
