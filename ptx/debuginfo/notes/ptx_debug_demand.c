/* SPDX-License-Identifier: Apache-2.0 */
/* Finds values of variables in which clang may have changed bits. If code uses only some bits of a value, LLVM may change
 * the unused bits. For example, LLVM compiles `x = gid & 1023; out[x & 3] = 0` with gid instead of x, and its debug value
 * says that x is in the register of gid. The used bits are the demanded bits of LLVM's InstCombine and BDCE. This file
 * computes the demanded bits again from the PTX, by a backward data-flow analysis over the registers. A debugger shows a
 * value only if the code uses all bits of the variable. If LLVM has removed the instruction that computes a value, the debug
 * value contains the operation instead. In this case it is unknown which bits of the value were used. So a computed value is
 * shown only if the operation is a conversion to a narrower integer, and the variable is assigned once. After a load that LLVM
 * has narrowed, the code uses all bits of the register, although the register does not have all bits of the variable. For such
 * a register ptx_values.c writes the number of known bits into the note (struct ptx_note_operand.bits). */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

enum { MOST_PASSES = 256, MOST_COPIES = 4 };

struct demanding {
    struct ptx_placing *pl;
    uint64_t *demand; /* by register: bit set of the register's bits that the code uses */
    bool changed;
};

/* Returns a mask of the @bits lowest bits. */
static uint64_t low_bits(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Returns a mask of all bits up to the highest bit of @bits. The bits @bits of a sum depend on these bits of the operands. */
static uint64_t up_to_highest(uint64_t bits)
{
    return bits == 0 ? 0 : low_bits(64 - (unsigned)__builtin_clzll(bits));
}

static unsigned bits_of(uint8_t type)
{
    return 8 * ptx_type_bytes((enum ptx_type)type);
}

static bool is_signed(uint8_t type)
{
    return type == PTX_T_S8 || type == PTX_T_S16 || type == PTX_T_S32 || type == PTX_T_S64;
}

static void demand(struct demanding *d, const struct ptx_operand *o, uint64_t bits)
{
    if (o->element != NULL) {
        for (unsigned i = 0; i < o->count; i++)
            demand(d, &o->element[i], bits);
    } else if ((o->kind == PTX_O_REG || o->kind == PTX_O_ADDRESS) && o->reg != PTX_NONE) {
        if (o->kind == PTX_O_ADDRESS)
            bits = UINT64_MAX;
        d->changed |= (bits & ~d->demand[o->reg]) != 0;
        d->demand[o->reg] |= bits;
    }
}

/* Returns the bits of a value of @width bits that are used if bits @bits of the extended value are used. If the value is
 * sign-extended, bits above it come from its sign bit. */
static uint64_t extended(uint64_t bits, unsigned width, bool sign)
{
    return (bits & low_bits(width)) | (sign && (bits & ~low_bits(width)) != 0 ? UINT64_C(1) << (width - 1) : 0);
}

/* Returns the bits of the first operand that determine the result of a comparison with a constant. For example, `x < 16` does not
 * use the low four bits of x. */
static uint64_t compared(const struct ptx_insn *in, uint64_t constant)
{
    const unsigned width = bits_of(in->type[0]);
    uint64_t unused = 0;

    constant &= low_bits(width);
    if (ptx_has(in, PTX_W_LT) || ptx_has(in, PTX_W_GE) || ptx_has(in, PTX_W_HS))
        unused = constant == 0 ? low_bits(width - 1) : low_bits((unsigned)__builtin_ctzll(constant));
    else if (ptx_has(in, PTX_W_GT) || ptx_has(in, PTX_W_LE) || ptx_has(in, PTX_W_LS))
        unused = constant == UINT64_MAX ? low_bits(63) : low_bits((unsigned)__builtin_ctzll(~constant));
    return low_bits(width) & ~(unused & low_bits(width - 1));
}

/* Adds the used bits of the sources of an instruction that has one result. @bits are the used bits of the result. Returns
 * false if there is no rule for the instruction. */
static bool demand_sources(struct demanding *d, const struct ptx_insn *in, uint64_t bits)
{
    const struct ptx_operand *o = in->operand;
    const unsigned width = in->type_count != 0 ? bits_of(in->type[0]) : 0;
    const bool immediate = in->operand_count > 2 && o[2].kind == PTX_O_IMM;
    const uint64_t constant = immediate ? o[2].imm & low_bits(width) : 0;

    if (width == 0 || in->type_count > 2 || ptx_type_class((enum ptx_type)in->type[0]) == PTX_CLASS_FLOAT || ptx_has(in, PTX_W_SAT) ||
        ptx_has(in, PTX_W_CC))
        return false;
    bits &= low_bits(width);
    switch (in->op) {
    case PTX_MOV: demand(d, &o[1], o[1].element != NULL ? UINT64_MAX : bits); return true;
    case PTX_ADD:
    case PTX_SUB:
    case PTX_NEG: bits = up_to_highest(bits); break;
    case PTX_MUL:
    case PTX_MAD:
        if (!ptx_has(in, PTX_W_LO))
            return false;
        bits = up_to_highest(bits);
        break;
    case PTX_AND: bits &= immediate ? constant : UINT64_MAX; break;
    case PTX_OR: bits &= ~constant; break;
    case PTX_XOR:
    case PTX_NOT:
    case PTX_SELP: break;
    case PTX_SHL:
        if (!immediate || constant >= width)
            return false;
        /* The source may be an array index. LLVM counts the high bits of an array index as used, although this shift drops
         * them. So these bits count as used if the highest bit of the result is used. */
        bits = bits >> constant | (bits >> (width - 1) != 0 ? low_bits(width) & ~low_bits(width - (unsigned)constant) : 0);
        break;
    case PTX_SHR:
        if (!immediate || constant >= width)
            return false;
        bits = extended(bits << constant, width, is_signed(in->type[0])) |
               (is_signed(in->type[0]) && up_to_highest(bits) >> (width - 1 - constant) > 1 ? UINT64_C(1) << (width - 1) : 0);
        break;
    case PTX_BFE:
        if (!immediate || in->operand_count != 4 || o[3].kind != PTX_O_IMM || constant >= width || o[3].imm == 0 || o[3].imm > width - constant)
            return false;
        demand(d, &o[1], extended(bits, (unsigned)o[3].imm, is_signed(in->type[0])) << constant);
        return true;
    case PTX_CVT:
        if (in->type_count != 2 || bits_of(in->type[1]) == 0 || ptx_type_class((enum ptx_type)in->type[1]) == PTX_CLASS_FLOAT)
            return false;
        bits = extended(bits, bits_of(in->type[1]), is_signed(in->type[1]));
        break;
    default: return false;
    }
    for (unsigned i = 1; i < in->operand_count; i++)
        demand(d, &o[i], bits);
    return true;
}

static void demand_all(struct demanding *d, const struct ptx_insn *in)
{
    const struct ptx_operand *o = in->operand;
    const unsigned width = in->type_count != 0 ? bits_of(in->type[0]) : 0;

    if (in->operand_count == 0)
        return;
    if ((in->op == PTX_ST || in->op == PTX_RED) && in->operand_count == 2 && width != 0) {
        demand(d, &o[0], UINT64_MAX);
        demand(d, &o[1], low_bits(width));
    } else if (in->op == PTX_SETP && in->operand_count == 3 && width != 0 && o[2].kind == PTX_O_IMM &&
               ptx_type_class((enum ptx_type)in->type[0]) != PTX_CLASS_FLOAT) {
        demand(d, &o[1], compared(in, o[2].imm));
    } else if (o[0].kind != PTX_O_REG || !demand_sources(d, in, d->demand[o[0].reg])) {
        for (unsigned i = o[0].kind == PTX_O_REG && in->operand_count > 1; i < in->operand_count; i++)
            demand(d, &o[i], UINT64_MAX);
    }
}

const uint64_t *ptx_debug_notes_demand(struct ptx_placing *pl)
{
    const struct ptx_function *fn = pl->fn;
    struct demanding d = {.pl = pl, .demand = PTX_ARRAY(pl->job, uint64_t, fn->regs.count + 1), .changed = true};

    for (unsigned pass = 0; pass < MOST_PASSES && d.changed && ptx_spend(pl, fn->insns.count); pass++) {
        d.changed = false;
        for (size_t i = fn->insns.count; i-- > 0;)
            demand_all(&d, &fn->insns.at[i]);
    }
    return d.demand;
}

/* Clears the used bits of an operand's registers. Returns whether register @reg is among them. */
static bool clear(struct demanding *d, const struct ptx_operand *o, uint32_t reg)
{
    bool found = false;

    for (unsigned i = 0; o->element != NULL && i < o->count; i++)
        found |= clear(d, &o->element[i], reg);
    if (o->element != NULL || (o->kind != PTX_O_REG && o->kind != PTX_O_ADDRESS) || o->reg == PTX_NONE)
        return found;
    d->demand[o->reg] = 0;
    return o->reg == reg;
}

uint64_t ptx_debug_demand_of(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t statement, uint32_t reg)
{
    const struct ptx_insn *in = &pl->fn->insns.at[statement];
    const bool writes = in->operand_count != 0 && in->operand[0].kind == PTX_O_REG;
    bool uses = false;

    if (noting->demand_of == NULL)
        noting->demand_of = PTX_ARRAY(pl->job, uint64_t, pl->fn->regs.count + 1);
    struct demanding d = {.pl = pl, .demand = noting->demand_of};

    for (unsigned i = 0; i < in->operand_count; i++)
        uses |= clear(&d, &in->operand[i], reg) && (i != 0 || !writes);
    if (!uses)
        return 0;
    if (writes && in->operand[0].reg == reg)
        return noting->demand[reg]; /* an update: the bits of the result may be those of the source */
    if (writes)
        d.demand[in->operand[0].reg] = noting->demand[in->operand[0].reg];
    demand_all(&d, in);
    return d.demand[reg];
}

/* Returns whether an expression only converts integers to narrower integers. */
static bool is_narrowing(const struct ptx_noted_value *v)
{
    struct ptx_note_words words = {v->expression, v->expression + v->expression_size};
    uint64_t bits = 64, next;

    for (struct ptx_name word = ptx_note_word(&words); word.size != 0; word = ptx_note_word(&words)) {
        const bool converts = ptx_name_is(word, "DW_OP_LLVM_convert");

        if (!converts && !ptx_name_is(word, "DW_OP_stack_value") && !ptx_name_is(word, "DW_OP_LLVM_fragment") && memchr(word.text, 'O', word.size) != NULL)
            return false;
        if (converts && (!ptx_note_number(ptx_note_word(&words), 10, &next) || next > bits))
            return false;
        bits = converts ? next : bits;
    }
    return v->operand_count == 1;
}

bool ptx_note_equals(const struct ptx_noted_value *a, const struct ptx_noted_value *b)
{
    return a->first == b->first && a->bytes == b->bytes && a->operand[0].kind == PTX_NOTE_REG &&
           b->operand[0].kind == PTX_NOTE_REG && a->operand[0].reg == b->operand[0].reg && is_narrowing(a) && is_narrowing(b);
}

static bool is_assigned_once(const struct ptx_noting *noting, const struct ptx_noted_variable *variable)
{
    return variable->lines != 0 && (noting->lines.at[variable->lines - 1].once || noting->lines.at[variable->lines - 1].count == 0);
}

/* Returns whether the code uses all bits of @needed in a register, or in another register of which this one is a copy.
 * Returns false if the register has a part of a kernel parameter and this part is narrower than @needed, because code may
 * load only the part that it uses. */
static bool is_used(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg, uint64_t needed)
{
    for (unsigned copies = 0; copies < MOST_COPIES; copies++) {
        const uint32_t first = noting->first_write[reg];
        const struct ptx_insn *in = &pl->fn->insns.at[noting->writes[first]];

        if (in->op == PTX_LD && ptx_has(in, PTX_W_PARAM) && in->operand[0].reg == reg && (needed & ~low_bits(bits_of(in->type[0]))) != 0)
            return false;
        if (noting->demand[reg] == 0 || (needed & ~noting->demand[reg]) == 0)
            return true;
        if (noting->first_write[reg + 1] != first + 1 || (in->op != PTX_MOV && in->op != PTX_CVT) || in->operand_count != 2 ||
            in->operand[1].kind != PTX_O_REG || ptx_type_class((enum ptx_type)in->type[0]) == PTX_CLASS_FLOAT ||
            (needed & ~low_bits(bits_of(in->type[in->type_count - 1]))) != 0)
            return false;
        reg = in->operand[1].reg;
    }
    return false;
}

bool ptx_debug_note_is_changed(const struct ptx_placing *pl, const struct ptx_noting *noting,
                               const struct ptx_noted_variable *variable, const struct ptx_noted_value *v, uint32_t bytes)
{
    if (v->operand_count != 0 && !v->is_launch && !ptx_note_is_plain(v) && !v->is_derived && !(is_narrowing(v) && is_assigned_once(noting, variable)))
        return true;
    for (unsigned k = 0; k < v->operand_count && !v->is_launch; k++) {
        const struct ptx_note_operand *o = &v->operand[k];
        const unsigned most = v->bytes != 0 ? 8 * v->bytes : bytes != 0 && bytes <= 8 ? 8 * bytes : 64;
        const unsigned width = o->kind == PTX_NOTE_REG ? bits_of(pl->fn->regs.at[o->reg].type) : 0;
        const uint64_t needed = low_bits(width < most ? width : most);

        if (o->kind == PTX_NOTE_REG && needed != 0 && ((needed & ~low_bits(o->bits)) != 0 || !is_used(pl, noting, o->reg, needed)))
            return true;
    }
    return false;
}
