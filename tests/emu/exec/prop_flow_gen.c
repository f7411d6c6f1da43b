/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates the programs of prop_flow.c, statement by statement. Places barriers, yields and soft barriers by the rules
 * of the machine (docs/reference/machine.md, 2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/emu/exec/prop_flow_gen.h"

/* numbers of vector registers, and limits of their use */
enum { ACC = 0, T1 = 1, T2 = 2, T3 = 3, LINK = 4, SP = 6, DEPTH = 7, SAVED = 8, POINTER = 10, GOT = 12,
       ONE = 13, MASK = 14, COUNT = 15, BASE = 16, TID = 18, BIT = 20, LOOPS = 24, MAX_LOOPS = 60 };

/* ---- instructions ------------------------------------------------------------------ */

static struct isa_insn *emit(struct gen *g, enum isa_op op)
{
    struct isa_insn *i = &g->code[g->count < MAX_CODE - 1 ? g->count++ : (g->overflow = true, g->count)];

    isa_insn_init(i, op);
    return i;
}
static struct isa_insn *alu(struct gen *g, enum isa_op op, unsigned d, unsigned a, unsigned kind,
                            uint32_t x)
{
    struct isa_insn *i = emit(g, op);

    i->d = (uint8_t)d;
    i->a = (uint8_t)a;
    i->xkind = (uint8_t)kind;
    i->x = x;
    return i;
}
static void set(struct gen *g, unsigned d, uint32_t value)
{
    alu(g, ISA_V_MOV_B32, d, 0, ISA_X_IMM, value);
}
static void test(struct gen *g, unsigned cmp, unsigned a, uint32_t value)
{
    struct isa_insn *i = alu(g, ISA_V_SETP_U32, 0, a, ISA_X_IMM, value);

    isa_mod_set(i, ISA_MOD_CMP, cmp);
    isa_insn_set_p(i, 0);
    isa_insn_set_q(i, ISA_PT);
}
static unsigned label(struct gen *g)
{
    if (g->labels == MAX_LABELS) {
        g->overflow = true;
        return 0;
    }
    return g->labels++;
}
static void put(struct gen *g, unsigned l)
{
    g->at[l] = g->count;
}
static struct isa_insn *jump(struct gen *g, enum isa_op op, unsigned l)
{
    struct isa_insn *i = emit(g, op);

    g->jump[g->jumps].insn = (uint32_t)(i - g->code);
    g->jump[g->jumps++].label = l;
    return i;
}
/** Emit a branch on p0, or on its negation. @barrier -1 means that the branch names no barrier. */
static void branch_if(struct gen *g, bool holds, unsigned l, int barrier)
{
    struct isa_insn *i = jump(g, ISA_BRA, l);

    i->guard = 0;
    i->guard_neg = !holds;
    if (barrier >= 0)
        isa_insn_set_bo(i, (unsigned)barrier);
}
static void barrier(struct gen *g, enum isa_op op, unsigned reg)
{
    struct isa_insn *i = emit(g, op);

    i->d = (uint8_t)reg;
    if (op == ISA_BSYNC)
        i->variant = g->soft;
}
/** Emit an access to word @word of the data. */
static struct isa_insn *memory(struct gen *g, enum isa_op op, unsigned word)
{
    struct isa_insn *i = emit(g, op);

    isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_PAIR);
    i->a = BASE;
    i->x = 4 * word << 8;
    return i;
}
static void load(struct gen *g, unsigned d, unsigned word, unsigned order)
{
    struct isa_insn *i = memory(g, ISA_LD_GLOBAL, word);

    isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
    isa_mod_set(i, ISA_MOD_MORDER, order);
    i->d = (uint8_t)d;
}
static void store(struct gen *g, unsigned data, unsigned word)
{
    struct isa_insn *i = memory(g, ISA_ST_GLOBAL, word);

    isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
    i->x |= data;
}
static void stack(struct gen *g, enum isa_op op, unsigned pair)
{
    struct isa_insn *i = emit(g, op);

    isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_32);
    isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B64);
    i->a = SP;
    if (op == ISA_ST_LOCAL)
        i->x = pair;
    else
        i->d = (uint8_t)pair;
}
static void push(struct gen *g, unsigned pair)
{
    stack(g, ISA_ST_LOCAL, pair);
    alu(g, ISA_V_ADD_U32, SP, SP, ISA_X_IMM, 8);
}
static void pop(struct gen *g, unsigned pair)
{
    alu(g, ISA_V_SUB_U32, SP, SP, ISA_X_IMM, 8);
    stack(g, ISA_LD_LOCAL, pair);
}

/* ---- values and conditions ------------------------------------------------------------ */

static uint32_t number(struct gen *g)
{
    return (uint32_t)prop_next(&g->r);
}
/** Emit code that sets T1 to a hash of register @of. */
static void mix(struct gen *g, unsigned of)
{
    alu(g, ISA_V_XOR_B32, T1, of, ISA_X_IMM, number(g));
    alu(g, ISA_V_MUL_U32, T1, T1, ISA_X_IMM, 0x85ebca6b);
    alu(g, ISA_V_SHR_U32, T2, T1, ISA_X_IMM, 13);
    alu(g, ISA_V_XOR_B32, T1, T1, ISA_X_VECTOR, T2);
}
static void op(struct gen *g)
{
    mix(g, ACC);
    alu(g, ISA_V_MOV_B32, ACC, 0, ISA_X_VECTOR, T1);
    if (prop_below(&g->r, 8) == 0) {
        struct isa_insn *i = memory(g, ISA_RED_GLOBAL, COUNTERS + prop_below(&g->r, 4));
        isa_mod_set(i, ISA_MOD_AOP, ISA_AOP_ADD);
        isa_mod_set(i, ISA_MOD_ATYPE, ISA_ATYPE_U32);
        i->x |= ONE;
    }
}
/** Return a mask of some lanes of the virtual warp, but not of all. */
static uint32_t some_lanes(struct gen *g)
{
    uint32_t all = (uint32_t)lw_mask(g->width < 32 ? g->width : 32), m;

    do
        m = number(g) & all;
    while (m == 0 || m == all);
    return m;
}
static void in_mask(struct gen *g, uint32_t m)
{
    set(g, T1, m);
    alu(g, ISA_V_SHR_U32, T1, T1, ISA_X_VECTOR, BIT);
    alu(g, ISA_V_AND_B32, T1, T1, ISA_X_IMM, 1);
    test(g, ISA_CMP_NE, T1, 0);
}
/** Emit code that sets p0 to a condition that depends on the lane. */
static void condition(struct gen *g)
{
    switch (prop_below(&g->r, 4)) {
    case 0:
        in_mask(g, some_lanes(g));
        return;
    case 1:
        mix(g, ACC);
        alu(g, ISA_V_REM_U32, T1, T1, ISA_X_IMM, 3);
        test(g, ISA_CMP_EQ, T1, 0);
        return;
    default:
        mix(g, ACC);
        alu(g, ISA_V_AND_B32, T1, T1, ISA_X_IMM, 1);
        test(g, ISA_CMP_NE, T1, 0);
        return;
    }
}

/* ---- regions ----------------------------------------------------------------------------- */

static bool may_open(const struct gen *g)
{
    return g->regions < g->limit && g->count < MAX_CODE - CAPACITY && g->labels < MAX_LABELS - 20;
}
/** Emit the bssy of a new region that ends at @join. Return its barrier register. */
static unsigned region_open(struct gen *g, unsigned join)
{
    unsigned reg = g->base + g->regions;

    jump(g, ISA_BSSY, join)->d = (uint8_t)reg;
    g->region[g->regions++] = reg;
    if (g->regions > g->saved)
        g->saved = g->regions;
    return reg;
}
static void region_close(struct gen *g, unsigned join)
{
    put(g, join);
    barrier(g, ISA_BSYNC, g->region[--g->regions]);
}
/** Emit code with which lanes leave all regions except the outermost @kept ones and jump to @to. */
static void leave(struct gen *g, unsigned kept, unsigned to)
{
    for (unsigned k = g->regions; k > kept; k--)
        barrier(g, ISA_BBREAK, g->region[k - 1]);
    jump(g, ISA_BRA, to);
    g->irregular = true;
}

static void sequence(struct gen *g, unsigned depth, bool top);

/* ---- statements -------------------------------------------------------------------------- */

/** An if-statement on p0 that is being emitted: choice_begin(), choice_otherwise() and choice_end() emit its parts. */
struct choice {
    unsigned join, other;
    unsigned reg;
    bool has_other;
};
static struct choice choice_begin(struct gen *g, bool has_other)
{
    struct choice c = {.join = label(g), .has_other = has_other};

    c.other = has_other ? label(g) : c.join;
    c.reg = region_open(g, c.join);
    branch_if(g, false, c.other, (int)c.reg);
    return c;
}
static void choice_otherwise(struct gen *g, const struct choice *c)
{
    jump(g, ISA_BRA, c->join);
    put(g, c->other);
}
static void choice_end(struct gen *g, const struct choice *c)
{
    region_close(g, c->join);
}

static void restore(struct gen *g)
{
    for (unsigned k = g->saves && g->f != 0 ? g->limit : 0; k-- > 0;) {
        pop(g, SAVED);
        struct isa_insn *i = emit(g, ISA_V_MOV_GIVE_B);
        i->d = (uint8_t)(g->base + k);
        i->a = SAVED;
    }
    set(g, SAVED, 0); /* clear the group number, which differs between runs */
    set(g, SAVED + 1, 0);
    pop(g, LINK);
    emit(g, ISA_RET)->a = LINK;
}

static void give_up(struct gen *g)
{
    switch (g->f == 0 ? 0 : prop_below(&g->r, 3)) {
    case 0:
        emit(g, ISA_EXIT);
        return;
    case 1: /* the lanes return at the end of the function or at another return */
        g->apart[g->f] = true;
        leave(g, 0, g->end);
        return;
    default:
        g->apart[g->f] = g->irregular = true;
        for (unsigned k = g->regions; k-- > 0;)
            barrier(g, ISA_BBREAK, g->region[k]);
        restore(g);
        return;
    }
}

static void loop(struct gen *g, unsigned depth)
{
    unsigned counter = LOOPS + g->counters++, head = label(g), limit = 1 + prop_below(&g->r, 4);
    struct loop l = {.out = label(g), .next = label(g)};
    bool whole = prop_below(&g->r, 2), sync = g->sync_seen;
    uint32_t salt = number(g);
    unsigned reg;

    set(g, counter, 0);
    reg = region_open(g, l.out);
    l.regions = g->regions;
    g->loop[g->loops++] = l;
    g->sync_seen = false;
    put(g, head);
    for (unsigned end = 0; end < 2; end++) { /* end 0: before the body, where a while loop tests its condition; end 1: after
                                              * the body */
        if (end == (whole ? 0u : 1u)) {
            alu(g, ISA_V_XOR_B32, T1, TID, ISA_X_IMM, salt);
            alu(g, ISA_V_MUL_U32, T1, T1, ISA_X_IMM, 0x9e3779b1);
            alu(g, ISA_V_SHR_U32, T1, T1, ISA_X_IMM, 16);
            alu(g, ISA_V_REM_U32, T1, T1, ISA_X_IMM, limit);
            struct isa_insn *i = alu(g, ISA_V_SETP_U32, 0, counter, ISA_X_VECTOR, T1);
            isa_mod_set(i, ISA_MOD_CMP, whole ? ISA_CMP_LE : ISA_CMP_LT);
            isa_insn_set_p(i, 0);
            isa_insn_set_q(i, ISA_PT);
        }
        if (end == 0) {
            if (whole)
                branch_if(g, false, l.out, (int)reg);
            sequence(g, depth - 1, false);
            put(g, l.next);
            alu(g, ISA_V_ADD_U32, counter, counter, ISA_X_IMM, 1);
        }
    }
    if (g->sync_seen && !whole) { /* the back edge is a separate branch, so that only lanes in the loop yield */
        branch_if(g, false, l.out, (int)reg);
        emit(g, ISA_YIELD);
        jump(g, ISA_BRA, head);
    } else if (whole) {
        if (g->sync_seen)
            emit(g, ISA_YIELD);
        jump(g, ISA_BRA, head);
    } else {
        branch_if(g, true, head, (int)reg);
    }
    g->sync_seen = g->sync_seen || sync;
    g->loops--;
    region_close(g, l.out);
}

/** Emit a loop that waits for @word of the data: until the lane has acquired the lock if @lock is set, otherwise until the
 *  flag is not 0. */
static void spin(struct gen *g, unsigned word, bool lock)
{
    unsigned head = label(g), out = label(g), reg = region_open(g, out);

    put(g, head);
    if (lock) {
        struct isa_insn *i = memory(g, ISA_ATOM_GLOBAL, word);
        isa_mod_set(i, ISA_MOD_AOP, ISA_AOP_CAS);
        isa_mod_set(i, ISA_MOD_ATYPE, ISA_ATYPE_B32);
        i->d = GOT;
        i->x |= 255;
        i->c = ONE;
        test(g, ISA_CMP_EQ, GOT, 0);
    } else {
        load(g, GOT, word, prop_below(&g->r, 2) ? ISA_MORDER_VOLATILE : ISA_MORDER_ACQUIRE);
        test(g, ISA_CMP_NE, GOT, 0);
    }
    branch_if(g, true, out, (int)reg);
    emit(g, ISA_YIELD);
    if (prop_below(&g->r, 6) == 0) {
        struct isa_insn *i = emit(g, ISA_NANOSLEEP);
        i->xkind = ISA_X_IMM;
        i->x = prop_below(&g->r, 40);
    }
    jump(g, ISA_BRA, head);
    region_close(g, out);
    g->sync_seen = g->waits = true;
}

static void lock(struct gen *g)
{
    unsigned k = prop_below(&g->r, 3);

    spin(g, LOCKS + k, true);
    load(g, T1, COUNTERS + 4 + k, ISA_MORDER_WEAK); /* a weak load, since the lock excludes the other lanes */
    alu(g, ISA_V_ADD_U32, T1, T1, ISA_X_IMM, 1);
    store(g, T1, COUNTERS + 4 + k);
    struct isa_insn *i = memory(g, ISA_ATOM_GLOBAL, LOCKS + k);
    isa_mod_set(i, ISA_MOD_AOP, ISA_AOP_EXCH);
    isa_mod_set(i, ISA_MOD_ATYPE, ISA_ATYPE_B32);
    i->d = T2;
    i->x |= 255;
    op(g);
}

static void flag(struct gen *g)
{
    uint32_t m = some_lanes(g);
    unsigned word = FLAGS + g->flags++;
    bool apart = prop_below(&g->r, 2);

    in_mask(g, m);
    struct choice c = choice_begin(g, !apart);
    op(g);
    store(g, ONE, word);
    if (!apart) {
        choice_otherwise(g, &c);
        spin(g, word, false);
    }
    choice_end(g, &c);
    if (!apart)
        return;
    op(g);
    in_mask(g, ~m);
    c = choice_begin(g, false);
    spin(g, word, false);
    choice_end(g, &c);
}

static void meet(struct gen *g, unsigned kind, uint32_t m)
{
    uint32_t all = (uint32_t)lw_mask(g->width < 32 ? g->width : 32);
    struct isa_insn *i;

    switch (kind) {
    case 0:
    case 1:
        i = emit(g, ISA_BAR_SYNC);
        i->xkind = ISA_X_IMM;
        i->x = kind;
        i->variant = kind == 1;
        i->c = kind == 1 ? COUNT : 0;
        return;
    case 2:
        i = emit(g, ISA_WARPSYNC);
        i->xkind = ISA_X_IMM;
        i->x = all;
        return;
    default: /* the lanes of the mask synchronise with each other, and the remaining lanes with each other */
        set(g, T2, m);
        set(g, T3, all & ~m);
        in_mask(g, m);
        i = alu(g, ISA_V_SELP_B32, MASK, T2, ISA_X_VECTOR, T3);
        isa_insn_set_r(i, 0, false);
        i = emit(g, ISA_WARPSYNC);
        i->xkind = ISA_X_VECTOR;
        i->x = MASK;
        return;
    }
}

static void barrier_site(struct gen *g)
{
    unsigned kind = prop_below(&g->r, 4), form = prop_below(&g->r, 3);
    uint32_t m = some_lanes(g);

    g->waits = true;
    if (form == 0) {
        meet(g, kind, m);
        return;
    }
    in_mask(g, m);
    struct choice c = choice_begin(g, form == 1);
    op(g);
    meet(g, kind, m);
    if (form == 1) {
        choice_otherwise(g, &c);
        meet(g, kind, m);
        op(g);
    }
    choice_end(g, &c);
    if (form == 1)
        return;
    op(g);
    in_mask(g, ~m);
    c = choice_begin(g, false);
    meet(g, kind, m);
    choice_end(g, &c);
}

static void target(struct gen *g, uint32_t insn, unsigned function)
{
    g->call[g->calls].insn = insn;
    g->call[g->calls++].function = function;
}

static void call(struct gen *g, bool top)
{
    unsigned lowest = g->recursive ? 1 : g->f + 1, h, other, join = 0;
    bool indirect = prop_below(&g->r, 4) == 0, enclosed, two;

    if (lowest >= g->functions || g->calls > 390 || g->count > MAX_CODE - CAPACITY) {
        op(g);
        return;
    }
    h = other = lowest + prop_below(&g->r, g->functions - lowest);
    if (indirect)
        other = lowest + prop_below(&g->r, g->functions - lowest);
    two = other != h;
    enclosed = g->around && may_open(g);
    alu(g, ISA_V_ADD_U32, DEPTH, DEPTH, ISA_X_IMM, 1);
    if (indirect) {
        target(g, g->count, h);
        set(g, POINTER, 0);
        set(g, POINTER + 1, (uint32_t)(ISA_CODE_BASE >> 32));
        if (two) { /* some lanes call one function, and some the other */
            condition(g);
            target(g, g->count, other);
            set(g, POINTER, 0);
            g->code[g->count - 1].guard = 0;
        }
    }
    if (enclosed) {
        join = label(g);
        (void)region_open(g, join);
    }
    struct isa_insn *i = emit(g, indirect ? ISA_CALLX : ISA_CALL);
    i->d = LINK;
    if (indirect)
        i->a = POINTER;
    else
        target(g, g->count - 1, h);
    if (enclosed) {
        isa_insn_set_bo(i, g->region[g->regions - 1]);
        region_close(g, join);
    } else if (g->recursive || g->apart[h] || g->apart[other] || two) {
        g->apart[g->f] = true;
        g->convergent = g->convergent && !top;
        if (!top)
            g->convergent = false;
    }
    alu(g, ISA_V_SUB_U32, DEPTH, DEPTH, ISA_X_IMM, 1);
    g->sync_seen = g->sync_seen || (g->recursive ? g->spin : g->syncs[h] || g->syncs[other]);
}

static void statement(struct gen *g, unsigned depth, bool top)
{
    unsigned what = prop_below(&g->r, 100);
    struct choice c;

    if (depth == 0 || !may_open(g) || what < 18) {
        op(g);
    } else if (what < 34 && g->spin && g->regions + 2 <= g->limit) {
        if (prop_below(&g->r, 2) || g->flags == MAX_FLAGS)
            lock(g);
        else
            flag(g);
    } else if (what < 44 && g->bars) {
        barrier_site(g);
    } else if (what < 60) {
        condition(g);
        c = choice_begin(g, prop_below(&g->r, 5) < 3);
        sequence(g, depth - 1, false);
        if (c.has_other) {
            choice_otherwise(g, &c);
            sequence(g, depth - 1, false);
        }
        choice_end(g, &c);
    } else if (what < 76 && g->counters < MAX_LOOPS && g->loops < LW_COUNT_OF(g->loop)) {
        loop(g, depth);
    } else if (what < 88) {
        call(g, top);
    } else if (what < 94 && g->loops > 0) {
        const struct loop *l = &g->loop[prop_below(&g->r, g->loops)];
        condition(g);
        c = choice_begin(g, false);
        op(g);
        leave(g, l->regions, prop_below(&g->r, 2) ? l->out : l->next);
        choice_end(g, &c);
    } else if (prop_below(&g->r, 3) == 0) {
        condition(g);
        emit(g, ISA_EXIT)->guard = 0;
    } else {
        condition(g);
        c = choice_begin(g, false);
        op(g);
        give_up(g);
        choice_end(g, &c);
    }
}

static void exec(struct gen *g, uint32_t lanes)
{
    struct isa_insn *i = emit(g, ISA_S_MOV_B64);

    i->d = ISA_S_EXEC;
    i->xkind = ISA_X_IMM;
    i->x = lanes;
}

static void sequence(struct gen *g, unsigned depth, bool top)
{
    for (unsigned n = 1 + prop_below(&g->r, top ? 5 : 3); n > 0; n--) {
        statement(g, depth, top);
        if (top && g->f == 0 && g->convergent && prop_below(&g->r, 2)) {
            struct isa_insn *i = emit(g, ISA_S_ADD_U32); /* all lanes of a warp execute together here */
            i->xkind = ISA_X_IMM;
            i->x = 1;
            g->scalars = true;
            if (prop_below(&g->r, 2)) { /* the warp has no other split, so exec may exclude lanes */
                exec(g, prop_below(&g->r, 4) ? (uint32_t)prop_next(&g->r) : 0);
                for (unsigned k = 1 + prop_below(&g->r, 3); k > 0; k--)
                    alu(g, prop_below(&g->r, 2) ? ISA_V_ADD_U32 : ISA_V_XOR_B32, ACC, ACC,
                        prop_below(&g->r, 2) ? ISA_X_VECTOR : ISA_X_IMM, prop_below(&g->r, 2) ? TID : BIT);
                exec(g, UINT32_MAX);
            }
        }
    }
}

/* ---- functions ---------------------------------------------------------------------------- */

static void begin_function(struct gen *g, unsigned f)
{
    g->f = f;
    g->first[f] = g->count;
    g->limit = f == 0 ? 5 : 3;
    g->base = g->saves || f == 0 ? 0 : 5 + 3 * (f - 1);
    g->regions = g->loops = g->saved = 0;
    g->sync_seen = false;
    g->end = label(g);
    g->convergent = f == 0 && !g->soft && !g->saves;
}

static void function(struct gen *g, unsigned f)
{
    begin_function(g, f);
    push(g, LINK);
    for (unsigned k = 0; g->saves && k < g->limit; k++) {
        struct isa_insn *i = emit(g, ISA_V_MOV_TAKE_B);
        i->d = SAVED;
        i->x = g->base + k;
        push(g, SAVED);
    }
    if (g->recursive) {
        if (g->spin)
            emit(g, ISA_YIELD);
        test(g, ISA_CMP_GT, DEPTH, 3);
        struct choice c = choice_begin(g, false);
        leave(g, 0, g->end);
        choice_end(g, &c);
        g->apart[f] = true;
    }
    sequence(g, 1 + prop_below(&g->r, 3), false);
    put(g, g->end);
    restore(g);
    g->size[f] = g->count - g->first[f];
    g->syncs[f] = g->sync_seen;
}

static void kernel(struct gen *g)
{
    struct isa_insn *i;

    begin_function(g, 0);
    alu(g, ISA_V_MOV_B64, BASE, 0, ISA_X_CONST, 0);
    i = emit(g, ISA_V_S2R);
    i->d = TID;
    i->x = ISA_SR_TID_X;
    alu(g, ISA_V_AND_B32, BIT, TID, ISA_X_IMM, (g->width < 32 ? g->width : 32) - 1);
    set(g, ONE, 1);
    set(g, COUNT, (g->threads + 31) / 32 * 32);
    set(g, DEPTH, 0);
    sequence(g, 2 + prop_below(&g->r, 3), true);
    put(g, g->end);
    alu(g, ISA_V_MADWIDE_U32, SAVED, TID, ISA_X_IMM, 4)->c = BASE;
    for (unsigned word = 0; word < 2; word++) {
        if (word == 1 && g->scalars)
            alu(g, ISA_V_MOV_B32, ACC, 0, ISA_X_SCALAR, 0);
        i = emit(g, ISA_ST_GLOBAL);
        isa_mod_set(i, ISA_MOD_AMODE, ISA_AMODE_PAIR);
        isa_mod_set(i, ISA_MOD_SIZE, ISA_SIZE_B32);
        i->a = SAVED;
        i->x = ACC | 4 * (OUT + word * g->threads) << 8;
    }
    emit(g, ISA_EXIT);
    g->size[0] = g->count - g->first[0];
}

bool flow_generate(struct gen *g)
{
    static const unsigned widths[] = {4, 8, 16, 32, 64};
    unsigned kind = prop_below(&g->r, 7);

    g->width = widths[prop_below(&g->r, 5)];
    g->spin = kind == 1 || kind == 5;
    g->bars = kind == 2 || kind == 5;
    g->recursive = kind == 3 || (kind == 5 && prop_below(&g->r, 3) == 0);
    g->saves = g->recursive || kind == 4;
    g->around = prop_below(&g->r, 2) && !g->recursive;
    g->soft = g->spin || g->bars || prop_below(&g->r, 4) == 0;
    g->functions = kind == 0 ? 1 : 1 + 1 + prop_below(&g->r, FUNCTIONS - 1);
    g->threads = g->width * (1 + prop_below(&g->r, 3));
    if (prop_below(&g->r, 3) == 0)
        g->threads -= prop_below(&g->r, g->width);
    if (g->threads > 96)
        g->threads = 96;
    for (unsigned f = g->functions; f-- > 1;)
        function(g, f);
    kernel(g);
    if (g->overflow)
        return false;
    for (unsigned k = 0; k < g->jumps; k++)
        g->code[g->jump[k].insn].x = g->at[g->jump[k].label] - g->jump[k].insn - 1;
    for (unsigned k = 0; k < g->calls; k++) {
        struct isa_insn *i = &g->code[g->call[k].insn];
        uint32_t to = g->first[g->call[k].function];
        i->x = i->op == ISA_CALL ? to - g->call[k].insn - 1 : to * ISA_WORD_BYTES;
    }
    return true;
}
