/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the variable that an address depends on. If a memory address is the address of one variable plus offsets, the
 * access stays inside the variable if the source is correct (struct isa_bound). Compilers preserve this, because the
 * order of variables in memory is unspecified. The value of a register is the meet of all its definitions, regardless
 * of control flow. Values from memory, calls or parameters are numbers, and so are values computed from numbers. A
 * value computed from an address in another way than by an addition, or from two addresses, is unknown, and accesses
 * with it get no bound. */
#include "ptx/ptx_priv.h"

enum { MAX_ROUNDS = 24 }; /* the values of registers that depend on each other in a cycle converge in two or three rounds */

enum state { UNSEEN, NUMBER, ADDRESS, ANYTHING };
struct value {
    uint8_t state; /* enum state; the analysis never decreases the state */
    bool exact;    /* if the state is ADDRESS: true: the address is @symbol + @at; false: the address is @symbol + @at + an
                    * unknown number */
    bool at_known;
    uint32_t symbol;
    int64_t at;
};
struct ptx_bounds {
    struct ptx_unit *unit;
    struct value *reg; /* by register of the function: value of the register */
    bool stepped;
};

static const struct value number = { .state = NUMBER }, anything = { .state = ANYTHING };

static bool is_bounded(const struct ptx_bounds *b, const struct ptx_symbol *s)
{
    if (s->kind != PTX_SYM_VARIABLE || s->external || s->texture || s->size_bytes == 0 ||
        s->size_bytes > UINT32_MAX)
        return false;
    if (s->space == PTX_SP_LOCAL) /* Only a kernel's local addresses are absolute. Local addresses of other functions
                                   * are relative to the stack pointer. */
        return b->unit->function->kernel;
    return s->space == PTX_SP_SHARED || s->space == PTX_SP_GLOBAL || s->space == PTX_SP_CONST;
}

static struct value symbol_value(const struct ptx_bounds *b, uint32_t symbol, uint64_t imm)
{
    if (!is_bounded(b, &b->unit->module->symbols.at[symbol]))
        return number;
    return (struct value){ .state = ADDRESS, .exact = true, .at_known = true, .symbol = symbol,
                           .at = (int64_t)imm };
}

static struct value value_of(const struct ptx_bounds *b, const struct ptx_operand *o)
{
    struct value worst = number;

    switch ((enum ptx_operand_kind)o->kind) {
    case PTX_O_REG: return b->reg[o->reg];
    case PTX_O_SYMBOL: return o->count != 0 ? anything : symbol_value(b, o->symbol, o->imm);
    case PTX_O_VECTOR: case PTX_O_PAIR: case PTX_O_LIST:
        for (unsigned i = 0; i < o->count; i++) {
            struct value v = value_of(b, &o->element[i]);

            if (v.state == ADDRESS || v.state == ANYTHING)
                worst = anything;
        }
        return worst;
    default: return number;
    }
}

static bool literal_of(const struct ptx_bounds *b, const struct ptx_operand *o, int64_t *out)
{
    const struct ptx_reg *r = o->kind == PTX_O_REG ? &b->unit->function->regs.at[o->reg] : NULL;

    if (o->kind != PTX_O_IMM && (r == NULL || !r->constant))
        return false;
    *out = (int64_t)(r != NULL ? r->value : o->imm);
    return true;
}

/* Returns @address plus the number @o, or @address minus @o if @minus is true. @o is a literal or unknown. */
static struct value add_number(const struct ptx_bounds *b, struct value address,
                               const struct ptx_operand *o, bool minus)
{
    int64_t by;

    if (address.exact && o != NULL && literal_of(b, o, &by))
        address.at = (int64_t)((uint64_t)address.at + (minus ? 0 - (uint64_t)by : (uint64_t)by));
    else
        address.exact = false;
    return address;
}

static struct value sum(const struct ptx_bounds *b, const struct ptx_operand *x,
                        const struct ptx_operand *y)
{
    struct value a = value_of(b, x), c = value_of(b, y);

    if (a.state == UNSEEN || c.state == UNSEEN)
        return (struct value){ .state = UNSEEN };
    if (a.state == NUMBER && c.state == NUMBER)
        return number;
    if (a.state == ADDRESS && c.state == NUMBER)
        return add_number(b, a, y, false);
    if (a.state == NUMBER && c.state == ADDRESS)
        return add_number(b, c, x, false);
    return anything;
}

static struct value difference(const struct ptx_bounds *b, const struct ptx_operand *x,
                               const struct ptx_operand *y)
{
    struct value a = value_of(b, x), c = value_of(b, y);

    if (a.state == UNSEEN || c.state == UNSEEN)
        return (struct value){ .state = UNSEEN };
    if (c.state == NUMBER)
        return a.state == ADDRESS ? add_number(b, a, y, true) : a;
    return a.state == ADDRESS && c.state == ADDRESS && a.symbol == c.symbol ? number : anything;
}

/* Returns the result of another operation: a number if all operands are numbers, otherwise an unknown value. */
static struct value other(const struct ptx_bounds *b, const struct ptx_insn *in)
{
    struct value worst = number;

    for (unsigned k = 1; k < in->operand_count; k++) {
        struct value v = in->operand[k].kind == PTX_O_ADDRESS ? number : value_of(b, &in->operand[k]);

        if (v.state == ADDRESS || v.state == ANYTHING)
            return anything;
        if (v.state == UNSEEN)
            worst = v;
    }
    return worst;
}

static struct value meet(struct value a, struct value b)
{
    if (a.state == UNSEEN || b.state == ANYTHING)
        return b;
    if (b.state == UNSEEN || a.state == ANYTHING)
        return a;
    if (a.state != b.state || a.symbol != b.symbol)
        return anything;
    if (a.state == ADDRESS) {
        a.exact = a.exact && b.exact && a.at == b.at;
        a.at_known = a.at_known && b.at_known && a.at == b.at;
    }
    return a;
}

/* Returns the result of a load: a pointer to shared memory if the load reads a parameter of a kernel that is such a pointer,
 * otherwise a number. */
static struct value loaded(const struct ptx_bounds *b, const struct ptx_insn *in)
{
    const struct ptx_operand *o = &in->operand[1];
    const struct ptx_symbol *s;

    if (in->op != PTX_LD || o->kind != PTX_O_ADDRESS || o->symbol == PTX_NONE || o->imm != 0 ||
        !b->unit->function->kernel || in->operand[0].kind != PTX_O_REG)
        return number;
    s = &b->unit->module->symbols.at[o->symbol];
    if (s->kind != PTX_SYM_PARAM || !s->pointer || s->pointer_space != PTX_SP_SHARED ||
        o->symbol < b->unit->function->first_symbol || o->symbol >= b->unit->function->end_symbol)
        return number;
    return (struct value){ .state = ADDRESS, .exact = true, .at_known = true, .symbol = o->symbol };
}

static bool is_word(const struct ptx_insn *in, unsigned type)
{
    return in->type_count > type && ptx_type_bytes((enum ptx_type)in->type[type]) >= 4 &&
           ptx_type_class((enum ptx_type)in->type[type]) != PTX_CLASS_FLOAT;
}

static struct value result_of(const struct ptx_bounds *b, const struct ptx_insn *in)
{
    const struct ptx_operand *o = in->operand;

    switch (in->op) {
    case PTX_MOV:
    case PTX_CVTA:
        return in->operand_count == 2 && o[0].kind == PTX_O_REG && is_word(in, 0)
                   ? value_of(b, &o[1]) : other(b, in);
    case PTX_CVT:
        return in->operand_count == 2 && is_word(in, 0) && is_word(in, 1) ? value_of(b, &o[1])
                                                                         : other(b, in);
    case PTX_ADD:
    case PTX_OR: /* OR is an addition, because the address is aligned and the number is less than the alignment */
        return in->operand_count == 3 && is_word(in, 0) && !ptx_has(in, PTX_W_CC) ? sum(b, &o[1], &o[2])
                                                                                  : other(b, in);
    case PTX_SUB:
        return in->operand_count == 3 && is_word(in, 0) && !ptx_has(in, PTX_W_CC)
                   ? difference(b, &o[1], &o[2]) : other(b, in);
    case PTX_MAD: {
        struct value a, c, d;

        if (in->operand_count != 4 || !is_word(in, 0) || ptx_has(in, PTX_W_CC) ||
            ptx_has(in, PTX_W_HI))
            return other(b, in);
        a = value_of(b, &o[1]);
        c = value_of(b, &o[2]);
        d = value_of(b, &o[3]);
        if (d.state == ADDRESS && (a.state == UNSEEN || c.state == UNSEEN))
            return (struct value){ .state = UNSEEN };
        return a.state == NUMBER && c.state == NUMBER && d.state == ADDRESS
                   ? add_number(b, d, NULL, false) : other(b, in);
    }
    case PTX_SELP:
        return in->operand_count == 4 && is_word(in, 0) ? meet(value_of(b, &o[1]), value_of(b, &o[2]))
                                                        : other(b, in);
    case PTX_LD:
        return in->operand_count >= 2 ? loaded(b, in) : number;
    case PTX_LDU: case PTX_ATOM: case PTX_CALL: case PTX_TEX:
        return number;
    case PTX_SHFL: /* The result is the value of the same register in another lane, which may be any value of that
                    * register. */
        return other(b, in);
    default:
        return other(b, in);
    }
}

/* Returns true if the instruction writes operand 0, false if it reads it. */
static bool has_result(const struct ptx_insn *in)
{
    switch (in->op) {
    case PTX_ST: case PTX_RED: case PTX_BRA: case PTX_BRX: case PTX_RET: case PTX_EXIT:
    case PTX_BAR: case PTX_BARRIER: case PTX_CP: case PTX_PREFETCH: case PTX_PREFETCHU:
    case PTX_NANOSLEEP: case PTX_DISCARD: case PTX_APPLYPRIORITY: case PTX_MEMBAR: case PTX_FENCE:
    case PTX_TRAP: case PTX_BRKPT: case PTX_PMEVENT: case PTX_GRIDDEPCONTROL:
        return false;
    default:
        return in->operand_count != 0;
    }
}

static bool define(struct ptx_bounds *b, const struct ptx_operand *to, struct value v)
{
    struct value *reg, old;
    bool changed = false;

    if (to->element != NULL) {
        for (unsigned i = 0; i < to->count; i++)
            changed |= define(b, &to->element[i], v);
        return changed;
    }
    if (to->kind != PTX_O_REG)
        return false;
    reg = &b->reg[to->reg];
    old = *reg;
    *reg = meet(old, v);
    return reg->state != old.state || reg->exact != old.exact || reg->at_known != old.at_known;
}

void ptx_bounds_find(struct ptx_unit *unit)
{
    const struct ptx_function *fn = unit->function;
    struct ptx_bounds *b = PTX_NEW(unit->job, struct ptx_bounds);
    bool changed = true;

    b->unit = unit;
    b->stepped = ptx_debug_is_stepped(unit);
    b->reg = PTX_ARRAY(unit->job, struct value, fn->regs.count + 1);
    for (unsigned round = 0; changed; round++) {
        if (round == MAX_ROUNDS)
            return; /* the values did not converge, so the function gets no bounds */
        changed = false;
        for (size_t i = 0; i < fn->insns.count; i++) {
            const struct ptx_insn *in = &fn->insns.at[i];

            if (has_result(in))
                changed |= define(b, &in->operand[0], result_of(b, in));
        }
    }
    unit->bounds = b;
}

/* ---- bounds of instructions --------------------------------------------------------- */

/* Returns the operand of @in that is the address of memory instruction @mi, or NULL. */
static const struct ptx_operand *address_of(const struct ptx_insn *in, const struct ptx_mi *mi)
{
    unsigned k;

    switch (in->op) {
    case PTX_LD: case PTX_LDU: case PTX_ATOM: k = 1; break;
    case PTX_ST: case PTX_RED: k = 0; break;
    case PTX_CP: k = mi->in.op == ISA_LD_GLOBAL; break;
    default: return NULL;
    }
    return k < in->operand_count && in->operand[k].kind == PTX_O_ADDRESS ? &in->operand[k] : NULL;
}

static uint64_t bytes_of(const struct ptx_insn *in)
{
    unsigned n = ptx_has(in, PTX_W_V8) ? 8 : ptx_has(in, PTX_W_V4) ? 4 : ptx_has(in, PTX_W_V2) ? 2 : 1;

    return in->type_count != 0 ? (uint64_t)ptx_type_bytes((enum ptx_type)in->type[in->type_count - 1]) * n
                               : 16;
}

static struct ptx_bound bound_of(const struct ptx_bounds *b, const struct ptx_insn *in,
                                 const struct ptx_operand *o)
{
    struct ptx_bound bound = { 0, PTX_NONE };
    struct value v = number;
    const struct ptx_symbol *s;

    if (o->symbol != PTX_NONE) {
        v = symbol_value(b, o->symbol, o->imm);
    } else if (o->reg != PTX_NONE) {
        v = b->reg[o->reg];
        if (v.exact)
            v.at = (int64_t)((uint64_t)v.at + o->imm);
    }
    if (v.state != ADDRESS)
        return bound;
    s = &b->unit->module->symbols.at[v.symbol];
    if (v.exact && s->kind == PTX_SYM_VARIABLE && v.at >= 0 &&
        (uint64_t)v.at + bytes_of(in) <= s->size_bytes)
        return bound; /* the access is certainly inside the variable */
    bound.symbol = v.symbol + 1;
    if (s->space == PTX_SP_LOCAL && s->kind == PTX_SYM_VARIABLE && b->stepped && !v.exact && v.at_known &&
        v.at >= 0 && (uint64_t)v.at < s->size_bytes)
        bound.at = (uint32_t)v.at;
    return bound;
}

void ptx_bounds_mark(struct ptx_unit *unit, const struct ptx_insn *insn, size_t first)
{
    for (size_t i = first; unit->bounds != NULL && i < unit->code.count; i++) {
        struct ptx_mi *mi = &unit->code.at[i];
        const struct ptx_operand *o = isa_op_info((enum isa_op)mi->in.op)->flags & ISA_F_MEMORY
                                          ? address_of(insn, mi) : NULL;

        if (o != NULL)
            mi->bound = bound_of(unit->bounds, insn, o);
    }
}

static uint32_t param_number(const struct ptx_function *fn, uint32_t symbol)
{
    for (size_t i = 0; i < fn->params.count; i++) {
        if (fn->params.at[i] == symbol)
            return (uint32_t)i;
    }
    return PTX_NONE;
}

void ptx_bounds_put(struct ptx_unit *unit, const struct ptx_mi *mi, uint32_t index)
{
    struct isa_object *object = unit->object;
    struct isa_bound bound = { .insn = index };
    uint32_t symbol = mi->bound.symbol - 1;

    if (mi->bound.symbol == 0 || !(isa_op_info((enum isa_op)mi->in.op)->flags & ISA_F_MEMORY))
        return;
    const struct ptx_symbol *s = &unit->module->symbols.at[symbol];
    if (s->kind == PTX_SYM_PARAM) {
        bound.kind = ISA_BOUND_PARAM;
        bound.which = param_number(unit->function, symbol);
        if (bound.which == PTX_NONE)
            return;
    } else if (s->space != PTX_SP_LOCAL) {
        bound.kind = ISA_BOUND_VARIABLE;
        bound.which = symbol; /* until ptx_bounds_finish(), the index of a symbol stands for the variable */
    } else if (mi->bound.at != PTX_NONE) {
        bound.kind = ISA_BOUND_SOURCE;
        bound.which = s->offset + mi->bound.at;
    } else {
        bound.kind = ISA_BOUND_LOCAL;
        bound.which = s->offset;
        bound.bytes = (uint32_t)s->size_bytes;
    }
    object->bounds = ptx_object_grow(unit->job, object->bounds, &unit->job->bound_capacity,
                                     object->bound_count + 1, sizeof *object->bounds);
    object->bounds[object->bound_count++] = bound;
}

void ptx_bounds_finish(struct ptx_job *job, struct ptx_module *module)
{
    for (unsigned i = 0; i < job->object->bound_count; i++) {
        struct isa_bound *b = &job->object->bounds[i];

        if (b->kind == ISA_BOUND_VARIABLE)
            b->which = module->symbols.at[b->which].variable;
    }
}
