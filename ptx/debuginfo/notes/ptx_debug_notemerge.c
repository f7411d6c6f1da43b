/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises a branch that the compiler has replaced by a selection. For example, `if (b > n) b -= n;` becomes `b - (b > n ?
 * n : 0)`. The branch and its side have no code of their own, so the lines of the code do not show whether the source
 * assigns to the variable. The selection shows the assignment: if one alternative of the selection is the variable's old
 * value, the result of the selection is the variable's value after the branch. */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

enum { MAX_DEPTH = 4 };

struct merging {
    struct ptx_placing *pl;
    const struct ptx_noting *noting;
    const struct ptx_note_operand *old;
};

/* Returns the statement that writes a register, or NULL if several statements write the register or the statement is guarded. */
static const struct ptx_insn *definition(const struct merging *m, uint32_t reg)
{
    const uint32_t first = m->noting->first_write[reg];
    const struct ptx_insn *in =
        m->noting->first_write[reg + 1] == first + 1 ? &m->pl->fn->insns.at[m->noting->writes[first]] : NULL;

    return in != NULL && in->guard == PTX_NONE ? in : NULL;
}

static bool is_old(const struct merging *m, const struct ptx_operand *o)
{
    if (o->kind == PTX_O_REG)
        return m->old->kind == PTX_NOTE_REG && o->reg == m->old->reg && definition(m, o->reg) != NULL;
    return o->kind == PTX_O_IMM && o->literal == PTX_LIT_INT && m->old->kind == PTX_NOTE_CONST && m->old->bits == 64 &&
           (uint32_t)o->imm == (uint32_t)m->old->value;
}

/* Returns whether one alternative of a selection is 0. */
static bool may_be_zero(const struct merging *m, const struct ptx_operand *o)
{
    const struct ptx_insn *in = o->kind == PTX_O_REG ? definition(m, o->reg) : NULL;

    for (unsigned i = 1; in != NULL && in->op == PTX_SELP && i <= 2; i++)
        if (in->operand[i].kind == PTX_O_IMM && in->operand[i].literal == PTX_LIT_INT && in->operand[i].imm == 0)
            return true;
    return false;
}

static bool merges(const struct merging *m, uint32_t reg, unsigned depth)
{
    const struct ptx_insn *in = definition(m, reg);
    const struct ptx_operand *o = in != NULL ? in->operand : NULL;

    if (in == NULL || depth == MAX_DEPTH || in->operand_count < 3 || !ptx_spend(m->pl, 4))
        return false;
    switch (in->op) {
    case PTX_SELP:
        for (unsigned i = 1; i <= 2; i++)
            if (is_old(m, &o[i]) || (o[i].kind == PTX_O_REG && merges(m, o[i].reg, depth + 1)))
                return true;
        return false;
    case PTX_MIN:
    case PTX_MAX: return is_old(m, &o[1]) || is_old(m, &o[2]);
    case PTX_ADD:
    case PTX_XOR:
    case PTX_OR: return (is_old(m, &o[1]) && may_be_zero(m, &o[2])) || (is_old(m, &o[2]) && may_be_zero(m, &o[1]));
    case PTX_SUB:
    case PTX_SHL:
    case PTX_SHR: return is_old(m, &o[1]) && may_be_zero(m, &o[2]);
    default: return false;
    }
}

bool ptx_note_merges(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_value *v,
                     const uint32_t *known)
{
    if (!ptx_note_is_plain(v) || v->bytes != 0 || v->operand[0].kind != PTX_NOTE_REG)
        return false;
    for (unsigned k = 0; k < PTX_NOTE_SAME && known[k] != PTX_NONE; k++) {
        const struct ptx_noted_value *old = &noting->values.at[known[k]];
        const struct merging m = {pl, noting, &old->operand[0] };

        if (ptx_note_is_plain(old) && old->bytes == 0 && merges(&m, v->operand[0].reg, 0))
            return true;
    }
    return false;
}

uint32_t ptx_note_derive(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t value,
                         const uint32_t *known)
{
    struct ptx_noted_value v = noting->values.at[value];

    for (unsigned k = 0; k < PTX_NOTE_SAME && known[k] < noting->values.count && v.is_sum && v.bytes == 0; k++) {
        const struct ptx_noted_value *old = &noting->values.at[known[k]];

        if (old->operand_count != 1 || old->operand[0].kind != PTX_NOTE_REG || old->operand[0].reg != v.operand[0].reg ||
            (!old->is_derived && !ptx_note_is_plain(old)) || old->bytes != 0 || v.addend - old->addend != lines->step)
            continue;
        if (noting->derived == NULL)
            noting->derived = PTX_ARRAY(pl->job, uint32_t, noting->value_count);
        if (noting->derived[value] == 0) {
            v.is_derived = true;
            *PTX_PUSH(pl->job, noting->values) = v;
            noting->derived[value] = (uint32_t)noting->values.count - 1;
        }
        return noting->derived[value];
    }
    return value;
}

bool ptx_note_steps(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t value,
                    const uint32_t *known)
{
    const struct ptx_noted_value *v = &noting->values.at[value];
    const bool constant = ptx_note_is_plain(v) && v->operand[0].kind == PTX_NOTE_CONST && v->bytes == 0;

    for (unsigned k = 0; k < PTX_NOTE_SAME && known[k] < noting->values.count && constant; k++) {
        const struct ptx_noted_value *old = &noting->values.at[known[k]];

        if (ptx_note_is_plain(old) && old->operand[0].kind == PTX_NOTE_CONST && old->bytes == 0 && lines->step != 0 &&
            (int64_t)(v->operand[0].value - old->operand[0].value) == lines->step)
            return true;
    }
    return lines->step != 0 && ptx_note_derive(pl, noting, lines, value, known) != value;
}

bool ptx_note_uses(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t value, uint32_t reg)
{
    const struct ptx_noted_value *v = &noting->values.at[value];

    for (unsigned i = 0; i < v->operand_count && !v->is_launch; i++)
        for (uint32_t r = v->operand[i].kind == PTX_NOTE_REG ? v->operand[i].reg : PTX_NONE; r != PTX_NONE; r = ptx_debug_copied_from(pl, r))
            if (r == reg)
                return true;
    return false;
}
