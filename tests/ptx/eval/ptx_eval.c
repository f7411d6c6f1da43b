/* SPDX-License-Identifier: Apache-2.0 */
/* Executes the threads in the direct PTX evaluator, with memory, calls, barriers and cross-lane operations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/eval/ptx_eval_priv.h"

enum { MAX_DEPTH = 40, LOCAL_BYTES = 16384, WARP = 32, SLICE = 7 };
/* Address ranges of generic addresses, which PTX does not define. */
static const uint64_t shared_window = UINT64_C(0x5e) << 48, local_window = UINT64_C(0x10) << 48,
                      static_window = UINT64_C(0x57) << 48,
                      function_window = UINT64_C(0xf0) << 48;

struct frame {
    const struct pe_function *fn;
    int pc;
    uint64_t *regs;
    uint32_t local; /* offset in local memory at which the function's variables start */
    const struct pe_insn *call; /* the call instruction that created the next frame */
};
enum state { RUNNING, AT_WARP, AT_BARRIER, DONE };
struct thread {
    struct frame frame[MAX_DEPTH];
    int depth;
    enum state state;
    bool carry;
    uint32_t tid[3], linear, mask;
    uint32_t barrier; /* number of the barrier at which the thread waits */
    uint8_t local[LOCAL_BYTES];
};
struct runner {
    struct pe_module *m;
    const struct pe_launch *launch;
    uint32_t ctaid[3], count; /* current block, and number of its threads */
    struct thread *threads;
    uint8_t *shared, *fixed; /* shared memory, and memory of the module's variables */
    uint32_t shared_bytes;
    uint32_t arrived[16], expected[16];
    uint64_t steps;
    char *why;
    size_t why_size;
    bool failed;
};

static void fail(struct runner *r, const struct pe_insn *in, const char *what)
{
    if (!r->failed)
        snprintf(r->why, r->why_size, "evaluator, line %d: %s", in != NULL ? in->line : 0, what);
    r->failed = true;
}

/* ---- memory -------------------------------------------------------------------- */

static uint8_t *memory(struct runner *r, struct thread *t, enum pe_space space, uint64_t at,
                       unsigned bytes, const struct pe_insn *in)
{
    if (space == PE_GENERIC) {
        uint64_t window = at >> 48 << 48;

        space = window == shared_window ? PE_SHARED : window == local_window ? PE_LOCAL : PE_GLOBAL;
        if (space != PE_GLOBAL)
            at -= window;
    }
    switch (space) {
    case PE_SHARED:
        if (at + bytes <= r->shared_bytes)
            return r->shared + at;
        break;
    case PE_LOCAL:
        if (at + bytes <= LOCAL_BYTES)
            return t->local + at;
        break;
    case PE_PARAM:
        if (at + bytes <= r->launch->param_bytes)
            return (uint8_t *)(uintptr_t)r->launch->params + at;
        break;
    default:
        if (at >> 48 << 48 == static_window && at - static_window + bytes <= r->m->static_bytes)
            return r->fixed + (at - static_window);
        if (at >= r->launch->global_base && at - r->launch->global_base + bytes <=
                                                r->launch->global_bytes)
            return r->launch->global + (at - r->launch->global_base);
        break;
    }
    fail(r, in, "an access outside memory");
    return r->fixed;
}

static enum pe_space space_of(const struct pe_insn *in)
{
    return pe_has(in, PE_W_global)   ? PE_GLOBAL
           : pe_has(in, PE_W_shared) ? PE_SHARED
           : pe_has(in, PE_W_local)  ? PE_LOCAL
           : pe_has(in, PE_W_param)  ? PE_PARAM
           : pe_has(in, PE_W_const)  ? PE_CONST
                                     : PE_GENERIC;
}

static uint64_t symbol_address(const struct runner *r, const struct frame *f, int symbol,
                               enum pe_space *space)
{
    const struct pe_symbol *s = &r->m->symbols[symbol];
    uint64_t at = s->offset;

    *space = s->space;
    if (s->space == PE_PARAM && !(f->fn->entry && s->formal)) {
        *space = PE_LOCAL;
        at += f->local;
    } else if (s->space == PE_LOCAL) {
        at += f->local;
    } else if (s->space == PE_GLOBAL || s->space == PE_CONST) {
        at += static_window;
    } else if (s->space == PE_SHARED && s->open) {
        at = (r->m->shared_bytes + 15) & ~15u;
    }
    return at;
}

/** Returns the address of an operand. If the operand names a variable, stores the variable's space in @space. */
static uint64_t address(struct runner *r, struct thread *t, const struct pe_operand *o,
                        enum pe_space *space)
{
    const struct frame *f = &t->frame[t->depth];
    uint64_t base = 0;

    if (o->symbol >= 0)
        base = symbol_address(r, f, o->symbol, space);
    else if (o->index >= 0)
        base = f->regs[o->index];
    return base + o->imm;
}

/* ---- operands --------------------------------------------------------------------- */

static uint64_t special(const struct runner *r, const struct thread *t, int which)
{
    uint32_t lane = t->linear % WARP;

    switch (which) {
    case PE_S_TID_X: case PE_S_TID_Y: case PE_S_TID_Z: return t->tid[which - PE_S_TID_X];
    case PE_S_NTID_X: case PE_S_NTID_Y: case PE_S_NTID_Z:
        return r->launch->block[which - PE_S_NTID_X];
    case PE_S_CTAID_X: case PE_S_CTAID_Y: case PE_S_CTAID_Z:
        return r->ctaid[which - PE_S_CTAID_X];
    case PE_S_NCTAID_X: case PE_S_NCTAID_Y: case PE_S_NCTAID_Z:
        return r->launch->grid[which - PE_S_NCTAID_X];
    case PE_S_LANEID: return lane;
    case PE_S_LANEMASK_EQ: return UINT32_C(1) << lane;
    case PE_S_LANEMASK_LE: return UINT32_MAX >> (31 - lane);
    case PE_S_LANEMASK_LT: return (UINT32_C(1) << lane) - 1;
    case PE_S_LANEMASK_GE: return UINT32_MAX << lane;
    default: return (uint32_t)(UINT32_MAX << lane) << 1 & UINT32_MAX;
    }
}

static uint64_t value(struct runner *r, struct thread *t, const struct pe_operand *o,
                      struct pe_type type)
{
    const struct frame *f = &t->frame[t->depth];
    enum pe_space space;
    uint64_t v = 0;

    switch (o->kind) {
    case PE_O_REG: v = f->regs[o->index] ^ o->negated; break;
    case PE_O_IMM: case PE_O_FLOAT: v = pe_literal(o, type); break;
    case PE_O_SPECIAL: v = special(r, t, o->index); break;
    case PE_O_SYMBOL: v = symbol_address(r, f, o->index, &space) + o->imm; break;
    case PE_O_FUNCTION: v = function_window + (uint64_t)o->index; break;
    case PE_O_VECTOR: { /* the elements are packed, with the first element in the lowest bits */
        unsigned each = pe_type_bits(type) / (unsigned)o->count;

        for (int i = 0; i < o->count; i++)
            v |= pe_cut(value(r, t, &o->element[i], (struct pe_type){ 'b', (uint8_t)each, 0 }),
                        each) << (unsigned)i * each;
        break;
    }
    default: break;
    }
    return pe_cut(v, pe_type_bits(type));
}

/** Writes a register. If the register is wider than the value, the value is sign- or zero-extended by its type. */
static void set(struct thread *t, const struct pe_operand *o, uint64_t v, struct pe_type type)
{
    struct frame *f = &t->frame[t->depth];

    if (o->kind == PE_O_VECTOR) {
        unsigned each = pe_type_bits(type) / (unsigned)o->count;

        for (int i = 0; i < o->count; i++)
            set(t, &o->element[i], v >> (unsigned)i * each, (struct pe_type){ 'b', (uint8_t)each, 0 });
        return;
    }
    if (o->kind != PE_O_REG)
        return;
    unsigned bits = pe_type_bits(f->fn->regs[o->index].type), have = pe_type_bits(type);

    v = pe_cut(v, have);
    if (type.kind == 's' && have < bits)
        v = (uint64_t)pe_signed(v, have);
    f->regs[o->index] = pe_cut(v, bits);
}

/** Returns the type of source @k of an instruction that accesses only registers. */
static struct pe_type source_type(const struct pe_insn *in, int k)
{
    static const struct pe_type u32 = { 'u', 32, 0 }, pred = { 'p', 1, 0 };
    struct pe_type type = in->type[0];

    switch (in->op) {
    case PE_shl: case PE_shr: return k == 1 ? u32 : type;
    case PE_bfe: return k >= 1 ? u32 : type;
    case PE_bfi: return k >= 2 ? u32 : type;
    case PE_selp: return k == 2 ? pred : type;
    case PE_setp: return k == 2 ? pred : type;
    case PE_set: return k == 2 ? pred : in->type[1];
    case PE_slct: return k == 2 ? in->type[1] : type;
    case PE_cvt: return pe_has(in, PE_W_pack) && k == 2 ? u32 : in->type[1];
    case PE_dp2a: case PE_dp4a: case PE_fns: case PE_bmsk: case PE_szext: return u32;
    case PE_lop3: return k == 4 ? pred : u32;
    case PE_prmt: return u32;
    case PE_mad:
        if (pe_has(in, PE_W_wide) && k == 2)
            type.bits *= 2;
        return type;
    default: return type;
    }
}

static struct pe_type result_type(const struct pe_insn *in)
{
    static const struct pe_type u32 = { 'u', 32, 0 }, pred = { 'p', 1, 0 };
    struct pe_type type = in->type[0];

    switch (in->op) {
    case PE_setp: case PE_testp: return pred;
    case PE_cvt: return pe_has(in, PE_W_pack) ? u32 : type;
    case PE_popc: case PE_clz: case PE_bfind: case PE_dp2a: case PE_dp4a: return u32;
    case PE_mul: case PE_mad:
        if (pe_has(in, PE_W_wide))
            type.bits *= 2;
        return type;
    default: return type;
    }
}

/* ---- instructions ------------------------------------------------------------------- */

static void load(struct runner *r, struct thread *t, const struct pe_insn *in)
{
    enum pe_space space = space_of(in);
    const struct pe_operand *to = &in->operand[0];
    uint64_t at = address(r, t, &in->operand[1], &space);
    unsigned bytes = pe_type_bits(in->type[0]) / 8, n = to->kind == PE_O_VECTOR ? (unsigned)to->count : 1;
    uint64_t v[8] = { 0 };
    const uint8_t *p = memory(r, t, space, at, bytes * n, in);

    if (r->failed)
        return;
    for (unsigned i = 0; i < n; i++)
        memcpy(&v[i], p + i * bytes, bytes);
    for (unsigned i = 0; i < n; i++)
        set(t, to->kind == PE_O_VECTOR ? &to->element[i] : to, v[i], in->type[0]);
}

static void store(struct runner *r, struct thread *t, const struct pe_insn *in)
{
    enum pe_space space = space_of(in);
    const struct pe_operand *from = &in->operand[1];
    uint64_t at = address(r, t, &in->operand[0], &space);
    unsigned bytes = pe_type_bits(in->type[0]) / 8;
    unsigned n = from->kind == PE_O_VECTOR ? (unsigned)from->count : 1;
    uint8_t *p = memory(r, t, space, at, bytes * n, in);

    for (unsigned i = 0; i < n && !r->failed; i++) {
        uint64_t v = value(r, t, from->kind == PE_O_VECTOR ? &from->element[i] : from, in->type[0]);

        memcpy(p + i * bytes, &v, bytes);
    }
}

static void atomic(struct runner *r, struct thread *t, const struct pe_insn *in)
{
    int k = in->op == PE_atom;
    enum pe_space space = space_of(in);
    const struct pe_operand *from = &in->operand[k + 1], *to = &in->operand[0];
    uint64_t at = address(r, t, &in->operand[k], &space), old[8] = { 0 }, new;
    struct pe_type type = in->type[0];
    unsigned bytes = pe_type_bits(type) / 8, n = from->kind == PE_O_VECTOR ? (unsigned)from->count : 1;
    uint8_t *p = memory(r, t, space, at, bytes * n, in);

    for (unsigned i = 0; i < n && !r->failed; i++) {
        memcpy(&old[i], p + i * bytes, bytes);
        new = pe_atomic(in, type, old[i],
                        value(r, t, from->kind == PE_O_VECTOR ? &from->element[i] : from, type),
                        in->operand_count > k + 2 ? value(r, t, &in->operand[k + 2], type) : 0);
        memcpy(p + i * bytes, &new, bytes);
    }
    for (unsigned i = 0; i < n && k && !r->failed; i++)
        set(t, to->kind == PE_O_VECTOR ? &to->element[i] : to, old[i], type);
}

/** Executes cp.async: copies the bytes of the source, and fills the rest of the destination with zeros. */
static void copy(struct runner *r, struct thread *t, const struct pe_insn *in)
{
    enum pe_space to = PE_SHARED, from = PE_GLOBAL;

    if (!pe_has(in, PE_W_shared))
        return; /* commit_group and wait_group have no effect, because copies are executed immediately */
    uint64_t d = address(r, t, &in->operand[0], &to), s = address(r, t, &in->operand[1], &from);
    struct pe_type u32 = { 'u', 32, 0 };
    unsigned bytes = (unsigned)value(r, t, &in->operand[2], u32), part = bytes;
    uint8_t room[16] = { 0 };

    if (in->operand_count > 3)
        part = in->operand[3].kind == PE_O_REG &&
                       t->frame[t->depth].fn->regs[in->operand[3].index].type.kind == 'p'
                   ? (value(r, t, &in->operand[3], (struct pe_type){ 'p', 1, 0 }) ? 0 : bytes)
                   : (unsigned)value(r, t, &in->operand[3], u32);
    if (bytes > 16 || part > bytes) {
        fail(r, in, "cp.async of more than its size");
        return;
    }
    const uint8_t *p = part != 0 ? memory(r, t, from, s, part, in) : room;

    if (!r->failed && part != 0)
        memcpy(room, p, part);
    uint8_t *q = memory(r, t, to, d, bytes, in);

    if (!r->failed)
        memcpy(q, room, bytes);
}

static void convert_address(struct runner *r, struct thread *t, const struct pe_insn *in)
{
    uint64_t v = value(r, t, &in->operand[1], in->type[0]);
    uint64_t window = pe_has(in, PE_W_shared)  ? shared_window
                      : pe_has(in, PE_W_local) ? local_window
                                               : 0;

    set(t, &in->operand[0], pe_has(in, PE_W_to) ? v - window : v + window, in->type[0]);
}

static void test_space(struct runner *r, struct thread *t, const struct pe_insn *in)
{
    uint64_t at = value(r, t, &in->operand[1], (struct pe_type){ 'u', 64, 0 });
    uint64_t window = at >> 48 << 48;
    bool constant = false, is;

    for (int i = 0; i < r->m->symbol_count && window == static_window; i++) {
        const struct pe_symbol *s = &r->m->symbols[i];

        constant |= s->space == PE_CONST && at - window - s->offset < s->bytes;
    }
    is = pe_has(in, PE_W_shared)  ? window == shared_window
         : pe_has(in, PE_W_local) ? window == local_window
         : pe_has(in, PE_W_const) ? constant
                                  : window != shared_window && window != local_window && !constant;

    set(t, &in->operand[0], is, (struct pe_type){ 'p', 1, 0 });
}

/* ---- calls ---------------------------------------------------------------------------- */

static const struct pe_function *with_body(const struct pe_module *m, int index)
{
    for (int i = 0; i < m->function_count; i++) {
        if (m->functions[i].body && strcmp(m->functions[i].name, m->functions[index].name) == 0)
            return &m->functions[i];
    }
    return NULL;
}

static bool enter(struct runner *r, struct thread *t, const struct pe_function *fn,
                  const struct pe_insn *in)
{
    struct frame *f;
    uint32_t local = 0;

    if (t->depth >= 0) {
        const struct frame *caller = &t->frame[t->depth];

        local = (caller->local + caller->fn->local_bytes + 15) & ~15u;
    }
    if (t->depth + 1 >= MAX_DEPTH || local + fn->local_bytes > LOCAL_BYTES) {
        fail(r, in, "the stack is full");
        return false;
    }
    f = &t->frame[++t->depth];
    *f = (struct frame){ .fn = fn, .local = local };
    f->regs = calloc((size_t)fn->reg_count + 1, sizeof *f->regs);
    memset(t->local + local, 0, fn->local_bytes);
    return true;
}

/** Copies an argument or result between two frames. */
static void pass(struct runner *r, struct thread *t, const struct pe_operand *outer, int depth,
                 int symbol, bool down, const struct pe_insn *in)
{
    const struct pe_symbol *formal = &r->m->symbols[symbol];
    struct frame *caller = &t->frame[depth], *callee = &t->frame[depth + 1];
    uint64_t v = 0;
    uint8_t *inner = formal->reg >= 0 ? (uint8_t *)&callee->regs[formal->reg]
                                      : t->local + callee->local + formal->offset;
    uint32_t bytes = formal->reg >= 0 ? pe_type_bits(formal->type) / 8 : formal->bytes;
    uint8_t *other = (uint8_t *)&v;

    if (outer->kind == PE_O_SYMBOL) {
        const struct pe_symbol *s = &r->m->symbols[outer->index];

        other = t->local + caller->local + s->offset;
        if (s->bytes != bytes)
            fail(r, in, "a parameter of another size");
    } else if (outer->kind == PE_O_REG) {
        other = (uint8_t *)&caller->regs[outer->index];
    } else if (outer->kind == PE_O_IMM || outer->kind == PE_O_FLOAT) {
        v = pe_literal(outer, formal->type);
    }
    if (r->failed)
        return;
    memcpy(down ? inner : other, down ? other : inner, bytes);
}

static void call(struct runner *r, struct thread *t, const struct pe_insn *in)
{
    const struct pe_operand *args = NULL;
    const struct pe_function *fn = NULL;
    uint64_t callee = UINT64_MAX;

    for (int k = 0; k < in->operand_count; k++) {
        if (in->operand[k].kind == PE_O_FUNCTION || in->operand[k].kind == PE_O_REG)
            callee = value(r, t, &in->operand[k], (struct pe_type){ 'u', 64, 0 }) - function_window;
        else if (in->operand[k].kind == PE_O_LIST && callee != UINT64_MAX)
            args = &in->operand[k];
    }
    if (callee < (uint64_t)r->m->function_count)
        fn = with_body(r->m, (int)callee);
    if (fn == NULL || (args != NULL ? args->count : 0) != fn->param_count) {
        fail(r, in, "a call of what is no function here");
        return;
    }
    t->frame[t->depth].call = in;
    if (!enter(r, t, fn, in))
        return;
    for (int i = 0; i < fn->param_count; i++)
        pass(r, t, &args->element[i], t->depth - 1, fn->params[i], true, in);
}

static void leave(struct runner *r, struct thread *t)
{
    struct frame *f = &t->frame[t->depth];

    if (t->depth == 0) {
        t->state = DONE;
        return;
    }
    const struct pe_insn *in = t->frame[t->depth - 1].call;

    if (in->operand[0].kind == PE_O_LIST) {
        for (int i = 0; i < f->fn->result_count && i < in->operand[0].count; i++)
            pass(r, t, &in->operand[0].element[i], t->depth - 1, f->fn->results[i], false, in);
    }
    free(f->regs);
    t->depth--;
}

/* ---- other lanes ------------------------------------------------------------------------ */

static int mask_operand(const struct pe_insn *in)
{
    switch (in->op) {
    case PE_shfl: return 4;
    case PE_bar: case PE_barrier: return 0;
    case PE_elect: return 1;
    default: return 2;
    }
}

/** Executes one lane's part of a cross-lane operation at which all members wait. */
static void exchange(struct runner *r, struct thread *t, const struct pe_insn *in,
                     struct thread *warp, uint32_t live)
{
    struct pe_type type = in->type[0], u32 = { 'u', 32, 0 }, pred = { 'p', 1, 0 };
    uint32_t lane = t->linear % WARP, members = t->mask & live, found = 0;
    const struct pe_operand *to = &in->operand[0];
    uint64_t mine, v[WARP];

    if (in->op == PE_bar || in->op == PE_barrier)
        return;
    if (in->op == PE_activemask) {
        set(t, to, live, u32);
        return;
    }
    if (in->op == PE_elect) {
        uint32_t leader = (uint32_t)__builtin_ctz(members);

        set(t, &to->element[0], leader, u32);
        set(t, &to->element[1], lane == leader, pred);
        return;
    }
    for (uint32_t l = 0; l < WARP; l++)
        v[l] = members >> l & 1 ? value(r, &warp[l], &in->operand[1], in->op == PE_vote ? pred : type)
                                : 0;
    mine = v[lane];
    switch (in->op) {
    case PE_shfl: {
        int64_t b = (int64_t)(value(r, t, &in->operand[2], u32) & 31);
        uint32_t c = (uint32_t)value(r, t, &in->operand[3], u32), segment = c >> 8 & 31;
        int64_t top = (lane & segment) | (c & 31 & ~segment), low = lane & segment, from;
        bool valid;

        from = pe_has(in, PE_W_up)     ? (int64_t)lane - b
               : pe_has(in, PE_W_down) ? lane + b
               : pe_has(in, PE_W_bfly) ? (int64_t)(lane ^ (uint32_t)b)
                                       : low | (b & ~(int64_t)segment);
        valid = pe_has(in, PE_W_up) ? from >= top : from <= top;
        if (!valid)
            from = lane;
        set(t, to->kind == PE_O_PAIR ? &to->element[0] : to, v[from & 31], type);
        if (to->kind == PE_O_PAIR)
            set(t, &to->element[1], valid, pred);
        break;
    }
    case PE_vote:
        for (uint32_t l = 0; l < WARP; l++)
            found |= (uint32_t)v[l] << l;
        if (pe_has(in, PE_W_ballot))
            set(t, to, found, u32);
        else
            set(t, to, pe_has(in, PE_W_all)   ? found == members
                       : pe_has(in, PE_W_any) ? found != 0
                                              : found == 0 || found == members, pred);
        break;
    case PE_match:
        for (uint32_t l = 0; l < WARP; l++)
            found |= (uint32_t)((members >> l & 1) && v[l] == mine) << l;
        if (pe_has(in, PE_W_all)) {
            set(t, to->kind == PE_O_PAIR ? &to->element[0] : to, found == members ? members : 0, u32);
            if (to->kind == PE_O_PAIR)
                set(t, &to->element[1], found == members, pred);
        } else {
            set(t, to, found, u32);
        }
        break;
    case PE_redux: {
        bool first = true;
        uint64_t all = 0;

        for (uint32_t l = 0; l < WARP; l++) {
            if (members >> l & 1)
                all = first ? v[l] : pe_atomic(in, type, all, v[l], 0);
            first = first && !(members >> l & 1);
        }
        set(t, to, all, type);
        break;
    }
    default:
        break;
    }
}

/** If all live members of @t's mask wait at the instruction of @t, executes the instruction for these members. */
static void try_warp(struct runner *r, struct thread *t)
{
    struct thread *warp = t - t->linear % WARP;
    uint32_t base = warp->linear, live = 0, waiting = 0;
    const struct pe_insn *in = &t->frame[t->depth].fn->insns[t->frame[t->depth].pc];

    for (uint32_t l = 0; l < WARP && base + l < r->count; l++) {
        const struct thread *o = &warp[l];

        if (o->state != DONE)
            live |= UINT32_C(1) << l;
        if (o->state == AT_WARP && o->mask == t->mask &&
            &o->frame[o->depth].fn->insns[o->frame[o->depth].pc] == in)
            waiting |= UINT32_C(1) << l;
    }
    if ((t->mask & live & ~waiting) != 0)
        return;
    /* A result must not overwrite a register that another lane still reads, so all lanes read copies of the registers. */
    uint64_t *old[WARP] = { 0 };
    size_t bytes = (size_t)t->frame[t->depth].fn->reg_count * sizeof(uint64_t);

    for (uint32_t l = 0; l < WARP; l++) {
        if (waiting >> l & 1) {
            struct frame *f = &warp[l].frame[warp[l].depth];

            old[l] = malloc(2 * bytes + 1);
            memcpy(old[l], f->regs, bytes);
        }
    }
    for (uint32_t l = 0; l < WARP; l++) {
        if (!(waiting >> l & 1))
            continue;
        struct frame *f = &warp[l].frame[warp[l].depth];

        exchange(r, &warp[l], in, warp, live);
        /* Stores the results separately at first, because the remaining lanes must read the old values of the registers. */
        memcpy((uint8_t *)old[l] + bytes, f->regs, bytes);
        memcpy(f->regs, old[l], bytes);
    }
    for (uint32_t l = 0; l < WARP; l++) {
        if (!(waiting >> l & 1))
            continue;
        struct frame *f = &warp[l].frame[warp[l].depth];

        memcpy(f->regs, (uint8_t *)old[l] + bytes, bytes);
        free(old[l]);
        f->pc++;
        warp[l].state = RUNNING;
    }
}

/** Completes each barrier of the block at which all expected threads have arrived. */
static void try_barriers(struct runner *r)
{
    for (uint32_t b = 0; b < 16; b++) {
        uint32_t live = 0, waiting = 0, votes = 0;
        const struct pe_insn *in = NULL;

        for (uint32_t i = 0; i < r->count; i++) {
            struct thread *t = &r->threads[i];

            live += t->state != DONE;
            if (t->state == AT_BARRIER && t->barrier == b) {
                in = &t->frame[t->depth].fn->insns[t->frame[t->depth].pc];
                waiting++;
                if (pe_has(in, PE_W_red))
                    votes += value(r, t, &in->operand[in->operand_count - 1],
                                   (struct pe_type){ 'p', 1, 0 }) & 1;
            }
        }
        if (waiting == 0 ||
            waiting + r->arrived[b] < (r->expected[b] != 0 ? r->expected[b] : live))
            continue;
        for (uint32_t i = 0; i < r->count; i++) {
            struct thread *t = &r->threads[i];

            if (t->state != AT_BARRIER || t->barrier != b)
                continue;
            in = &t->frame[t->depth].fn->insns[t->frame[t->depth].pc];
            if (pe_has(in, PE_W_red))
                set(t, &in->operand[0], pe_has(in, PE_W_popc)  ? votes
                                        : pe_has(in, PE_W_and) ? votes == waiting
                                                               : votes != 0,
                    (struct pe_type){ 'u', 32, 0 });
            t->frame[t->depth].pc++;
            t->state = RUNNING;
        }
        r->arrived[b] = r->expected[b] = 0;
    }
}

static void at_barrier(struct runner *r, struct thread *t, const struct pe_insn *in)
{
    struct pe_type u32 = { 'u', 32, 0 };
    int k = pe_has(in, PE_W_red), counts = in->operand_count - (k ? 1 : 0);

    t->barrier = (uint32_t)value(r, t, &in->operand[k], u32) & 15;
    if (counts > k + 1) {
        r->expected[t->barrier] = (uint32_t)value(r, t, &in->operand[k + 1], u32);
        /* Barriers count threads in whole warps. The threads that a partial last warp lacks arrive together with the warp's first
         * thread. */
        if (t == &r->threads[r->count / 32 * 32])
            r->arrived[t->barrier] += 32 - r->count % 32;
    }
    if (pe_has(in, PE_W_arrive)) {
        r->arrived[t->barrier]++;
        t->frame[t->depth].pc++;
        return;
    }
    t->state = AT_BARRIER;
}

/* ---- one thread, one instruction ---------------------------------------------------------- */

static void compute(struct runner *r, struct thread *t, const struct pe_insn *in)
{
    struct pe_result out;
    uint64_t s[5] = { 0 };
    const struct pe_operand *to = &in->operand[0];

    for (int k = 0; k + 1 < in->operand_count && k < 5; k++)
        s[k] = value(r, t, &in->operand[k + 1], source_type(in, k));
    if (!pe_compute(in, s, &t->carry, &out)) {
        fail(r, in, "an instruction that has no meaning here");
        return;
    }
    if (to->kind == PE_O_PAIR) {
        set(t, &to->element[0], out.value, result_type(in));
        set(t, &to->element[1], out.second, (struct pe_type){ 'p', 1, 0 });
    } else {
        set(t, to, out.value, result_type(in));
    }
}

static void step(struct runner *r, struct thread *t)
{
    struct frame *f = &t->frame[t->depth];
    const struct pe_insn *in = &f->fn->insns[f->pc];

    if (f->pc >= f->fn->insn_count) {
        leave(r, t);
        return;
    }
    if (in->guard >= 0 && (f->regs[in->guard] & 1) == in->guard_neg) {
        f->pc++;
        return;
    }
    switch (in->op) {
    case PE_bra:
        f->pc = f->fn->label_at[in->operand[0].index];
        return;
    case PE_brx: {
        const struct pe_operand *table = &f->fn->insns[f->fn->label_at[in->operand[1].index]].operand[0];
        uint64_t k = value(r, t, &in->operand[0], (struct pe_type){ 'u', 32, 0 });

        if (k >= (uint64_t)table->count)
            fail(r, in, "an index behind the table");
        else
            f->pc = f->fn->label_at[table->element[k].index];
        return;
    }
    case PE_ret:
        leave(r, t);
        return;
    case PE_exit:
        t->state = DONE;
        return;
    case PE_trap: case PE_brkpt:
        if (r->launch->trapped != NULL)
            *r->launch->trapped = true;
        fail(r, in, "trap");
        return;
    case PE_call:
        f->pc++;
        call(r, t, in);
        return;
    case PE_bar:
    case PE_barrier:
        if (!pe_has(in, PE_W_warp)) {
            at_barrier(r, t, in);
            return;
        }
        /* fallthrough */
    case PE_shfl: case PE_vote: case PE_match: case PE_redux: case PE_elect:
    case PE_activemask: { /* all lanes have reconverged here */
        int k = mask_operand(in);

        t->mask = UINT32_MAX; /* an operation without .sync has no mask, and includes all lanes that execute it */
        if (k < in->operand_count && (pe_has(in, PE_W_sync)))
            t->mask = (uint32_t)value(r, t, &in->operand[k], (struct pe_type){ 'u', 32, 0 });
        t->state = AT_WARP;
        return;
    }
    case PE_ld: case PE_ldu: load(r, t, in); break;
    case PE_st: store(r, t, in); break;
    case PE_atom: case PE_red: atomic(r, t, in); break;
    case PE_cp: copy(r, t, in); break;
    case PE_cvta: convert_address(r, t, in); break;
    case PE_isspacep: test_space(r, t, in); break;
    case PE_mov: {
        struct pe_type type = in->type[0];

        set(t, &in->operand[0], value(r, t, &in->operand[1], type), type);
        break;
    }
    case PE_membar: case PE_fence: case PE_nanosleep: case PE_prefetch: case PE_prefetchu:
    case PE_pmevent: case PE_discard: case PE_createpolicy: case PE_applypriority:
        break;
    default: compute(r, t, in); break;
    }
    f->pc++;
}

static void run_block(struct runner *r, const struct pe_function *fn)
{
    const uint32_t *block = r->launch->block;
    uint32_t left = r->count;

    memset(r->shared, 0, r->shared_bytes);
    memset(r->arrived, 0, sizeof r->arrived);
    memset(r->expected, 0, sizeof r->expected);
    for (uint32_t i = 0; i < r->count; i++) {
        struct thread *t = &r->threads[i];

        t->linear = i;
        t->tid[0] = i % block[0];
        t->tid[1] = i / block[0] % block[1];
        t->tid[2] = i / block[0] / block[1];
        t->state = RUNNING;
        t->carry = false;
        t->depth = -1;
        (void)enter(r, t, fn, NULL);
    }
    while (left != 0 && !r->failed) {
        bool moved = false;

        for (uint32_t i = 0; i < r->count && !r->failed; i++) {
            struct thread *t = &r->threads[i];

            for (int k = 0; k < SLICE && t->state == RUNNING && !r->failed; k++) {
                step(r, t);
                r->steps++;
                moved = true;
            }
            if (t->state == AT_WARP)
                try_warp(r, t);
            moved = moved || t->state == RUNNING;
        }
        left = 0;
        for (uint32_t i = 0; i < r->count; i++)
            left += r->threads[i].state != DONE;
        try_barriers(r);
        for (uint32_t i = 0; i < r->count; i++)
            moved = moved || r->threads[i].state == RUNNING;
        if (!moved && left != 0)
            fail(r, NULL, "all threads wait for each other");
        if (r->launch->max_steps != 0 && r->steps > r->launch->max_steps)
            fail(r, NULL, "too many steps");
    }
    for (uint32_t i = 0; i < r->count; i++) {
        for (; r->threads[i].depth >= 0; r->threads[i].depth--)
            free(r->threads[i].frame[r->threads[i].depth].regs);
    }
}

bool pe_run(struct pe_module *module, const struct pe_launch *launch, char *why, size_t size)
{
    struct runner r = { .m = module, .launch = launch, .why = why, .why_size = size };
    const struct pe_function *fn = NULL;

    for (int i = 0; i < module->function_count; i++) {
        if (module->functions[i].entry && strcmp(module->functions[i].name, launch->entry) == 0)
            fn = &module->functions[i];
    }
    if (fn == NULL) {
        snprintf(why, size, "evaluator: there is no entry %s", launch->entry);
        return false;
    }
    r.count = launch->block[0] * launch->block[1] * launch->block[2];
    r.shared_bytes = ((module->shared_bytes + 15) & ~15u) + launch->dynamic_shared_bytes;
    r.threads = calloc(r.count, sizeof *r.threads);
    r.shared = calloc(1, r.shared_bytes + 16);
    r.fixed = calloc(1, module->static_bytes + 16);
    for (int i = 0; i < module->symbol_count; i++) {
        const struct pe_symbol *s = &module->symbols[i];

        if (s->init != NULL)
            memcpy(r.fixed + s->offset, s->init, s->bytes);
    }
    for (r.ctaid[2] = 0; r.ctaid[2] < launch->grid[2] && !r.failed; r.ctaid[2]++) {
        for (r.ctaid[1] = 0; r.ctaid[1] < launch->grid[1] && !r.failed; r.ctaid[1]++) {
            for (r.ctaid[0] = 0; r.ctaid[0] < launch->grid[0] && !r.failed; r.ctaid[0]++)
                run_block(&r, fn);
        }
    }
    free(r.threads);
    free(r.shared);
    free(r.fixed);
    return !r.failed;
}
