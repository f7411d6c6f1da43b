/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the registers from which a debugger can compute the value of a register again. Only one statement writes the register,
 * by an integer operation on other registers, its sources. Where no physical register has the register's value any more, the
 * sources may still have theirs. A source is usable at a statement if it still has the value that the operation read. */
#include "ptx/debuginfo/notes/ptx_debug_notesources_priv.h"

static const struct ptx_note_operation operations[] = {
    {PTX_ADD, ISA_OP_PLUS, PTX_NOTE_SURE_LOW},  {PTX_SUB, ISA_OP_MINUS, PTX_NOTE_SURE_LOW},
    {PTX_MUL, ISA_OP_MUL, PTX_NOTE_SURE_LOW},   {PTX_MAD, ISA_OP_MUL, PTX_NOTE_SURE_LOW},
    {PTX_AND, ISA_OP_AND, PTX_NOTE_SURE_LOW},   {PTX_OR, ISA_OP_OR, PTX_NOTE_SURE_LOW},
    {PTX_XOR, ISA_OP_XOR, PTX_NOTE_SURE_LOW},   {PTX_SHL, ISA_OP_SHL, PTX_NOTE_SURE_SHIFT},
    {PTX_SHR, ISA_OP_SHR, PTX_NOTE_SURE_ALL},   {PTX_DIV, ISA_OP_DIV, PTX_NOTE_SURE_ALL},
    {PTX_REM, ISA_OP_DIV, PTX_NOTE_SURE_ALL},
};

const struct ptx_note_operation *ptx_note_operation_of(const struct ptx_insn *in)
{
    for (size_t i = 0; i < LW_COUNT_OF(operations); i++)
        if (operations[i].op == in->op)
            return &operations[i];
    return NULL;
}

int ptx_note_find_register(const struct ptx_note_registers *regs, uint32_t reg)
{
    for (unsigned i = 0; i < regs->count; i++)
        if (regs->reg[i] == reg)
            return (int)i;
    return -1;
}

const struct ptx_insn *ptx_note_only_write(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg,
                                           uint32_t before)
{
    const uint32_t first = noting->first_write[reg];
    const uint32_t statement = noting->first_write[reg + 1] == first + 1 ? noting->writes[first] : PTX_NONE;
    const struct ptx_insn *in = statement < before ? &pl->fn->insns.at[statement] : NULL;

    return in != NULL && in->guard == PTX_NONE && in->operand[0].kind == PTX_O_REG ? in : NULL;
}

/* Returns whether a statement computes its result from its operands only. */
static bool is_computation(const struct ptx_insn *in)
{
    return in->op == PTX_MOV || in->op == PTX_CVT || ptx_note_operation_of(in) != NULL;
}

void ptx_note_want_sources(struct ptx_placing *pl, const struct ptx_noting *noting)
{
    PTX_LIST(uint32_t) work = {0};

    for (uint32_t reg = 0; reg < pl->fn->regs.count; reg++)
        if (pl->wanted[reg])
            *PTX_PUSH(pl->job, work) = reg;
    while (work.count != 0 && ptx_spend(pl, 1)) {
        const struct ptx_insn *in = ptx_note_only_write(pl, noting, work.at[--work.count], PTX_NONE);

        for (unsigned i = 1; in != NULL && is_computation(in) && i < in->operand_count; i++)
            if (in->operand[i].kind == PTX_O_REG && !pl->wanted[in->operand[i].reg]) {
                pl->wanted[in->operand[i].reg] = 1;
                *PTX_PUSH(pl->job, work) = in->operand[i].reg;
            }
    }
}

/* Returns whether a register, or a register of which it is a copy, has a holder at one of the words from the first to the last
 * marked word. */
static bool is_held(struct ptx_placing *pl, uint32_t reg)
{
    for (; reg != PTX_NONE; reg = ptx_debug_copied_from(pl, reg))
        for (uint32_t h = pl->holder_of[reg]; h != 0; h = pl->holders.at[h - 1].next)
            for (size_t s = 0; s < pl->holders.at[h - 1].spans.count && ptx_spend(pl, 1); s++)
                if (pl->holders.at[h - 1].spans.at[s].from < pl->marked_to && pl->holders.at[h - 1].spans.at[s].to > pl->marked_from)
                    return true;
    return false;
}

/* Removes all sources if none of the first @roots registers can be computed from them. A source must have a holder, a value
 * that may never change, or sources from which it can be computed itself. */
static void drop_useless(struct ptx_placing *pl, const struct ptx_noting *noting, struct ptx_note_registers *regs, unsigned roots,
                         uint32_t before)
{
    uint32_t known = 0, computed = 0, last = UINT32_MAX;
    bool held = false;

    for (unsigned r = 0; r < regs->count; r++) {
        const struct ptx_insn *in = ptx_note_only_write(pl, noting, regs->reg[r], before);
        const bool has_holder = is_held(pl, regs->reg[r]);

        held |= has_holder && r >= roots;
        known |= (uint32_t)(has_holder || (in != NULL && (in->op == PTX_LD || in->op == PTX_MOV))) << r;
    }
    while (computed != last && held) {
        last = computed;
        for (unsigned r = 0; r < regs->count; r++) {
            const struct ptx_insn *in = regs->expanded >> r & 1 ? ptx_note_only_write(pl, noting, regs->reg[r], before) : NULL;
            bool all = in != NULL;

            for (unsigned i = 1; all && i < in->operand_count; i++)
                all = in->operand[i].kind != PTX_O_REG ||
                      ((known | computed) >> ptx_note_find_register(regs, in->operand[i].reg) & 1) != 0;
            computed |= (uint32_t)all << r;
        }
    }
    if ((computed & lw_mask(roots)) == 0) {
        regs->expanded = 0;
        regs->count = roots;
    }
}

void ptx_note_add_sources(struct ptx_placing *pl, const struct ptx_noting *noting, struct ptx_note_registers *regs,
                          uint32_t before)
{
    const unsigned roots = regs->count;

    regs->expanded = 0;
    for (unsigned r = 0; r < regs->count && ptx_spend(pl, 1); r++) {
        const struct ptx_insn *in = ptx_note_only_write(pl, noting, regs->reg[r], before);
        bool all = in != NULL && is_computation(in);

        for (unsigned i = 1; all && i < in->operand_count; i++) {
            if (in->operand[i].kind != PTX_O_REG || ptx_note_find_register(regs, in->operand[i].reg) >= 0)
                continue;
            all = regs->count < PTX_NOTE_REGISTERS;
            if (all)
                regs->reg[regs->count++] = in->operand[i].reg;
        }
        regs->expanded |= (uint32_t)all << r;
    }
    drop_useless(pl, noting, regs, roots, before);
}

/* Returns the last statement of [@from, @to) that writes a register, or a register of which it is a copy. Returns PTX_NONE if
 * there is none. */
static uint32_t last_write(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg, uint32_t from, uint32_t to)
{
    uint32_t last = PTX_NONE;

    for (; reg != PTX_NONE; reg = ptx_debug_copied_from(pl, reg))
        for (uint32_t k = noting->first_write[reg]; k < noting->first_write[reg + 1] && ptx_spend(pl, 1); k++)
            if (noting->writes[k] >= from && noting->writes[k] < to && (last == PTX_NONE || noting->writes[k] > last))
                last = noting->writes[k];
    return last;
}

/* Returns whether a path leads from a write of register @reg to statement @at without statement @user. If there is no such path,
 * the register has the value at @at that the last execution of @user read. */
static bool is_rewritten(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t reg, uint32_t user, uint32_t at)
{
    PTX_LIST(uint32_t) work = {0};
    uint32_t end = at;

    if (noting->seen == NULL)
        noting->seen = PTX_ARRAY(pl->job, uint32_t, noting->blocks.count);
    noting->generation++;
    *PTX_PUSH(pl->job, work) = noting->block_of[at];
    while (work.count != 0) {
        const struct ptx_noted_block *block = &noting->blocks.at[work.at[--work.count]];
        const bool uses = user >= block->first && user < end;
        const uint32_t write = last_write(pl, noting, reg, uses ? user : block->first, end);

        if (write != PTX_NONE || !ptx_spend(pl, 1 + block->pred.count))
            return true;
        for (size_t p = 0; p < block->pred.count && !uses; p++)
            if (noting->seen[block->pred.at[p]] != noting->generation) {
                noting->seen[block->pred.at[p]] = noting->generation;
                *PTX_PUSH(pl->job, work) = block->pred.at[p];
            }
        end = work.count != 0 ? noting->blocks.at[work.at[work.count - 1]].end : 0;
    }
    return false;
}

/* Marks source number @source of an operation in statement @user as unusable at the words of statements [@from, @to) of one block
 * at which the source may have another value than the operation read. */
static void mark_block(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_note_registers *regs, unsigned source,
                       uint32_t user, uint32_t from, uint32_t to)
{
    uint32_t first = is_rewritten(pl, noting, regs->reg[source], user, from) ? noting->first_word[from] : noting->first_word[to];

    for (uint32_t reg = regs->reg[source]; reg != PTX_NONE; reg = ptx_debug_copied_from(pl, reg))
        for (uint32_t k = noting->first_write[reg]; k < noting->first_write[reg + 1] && ptx_spend(pl, 1); k++) {
            const uint32_t s = noting->writes[k];

            if (s < from || s >= to)
                continue;
            /* the first word of the statement is before the write; the statement may have no words */
            const uint32_t after = noting->first_word[s] + (noting->first_word[s] != noting->first_word[s + 1]);

            first = after < first ? after : first;
        }
    for (uint32_t k = first; k < noting->first_word[to] && ptx_spend(pl, 1); k++)
        noting->unusable[noting->words[k]] |= UINT32_C(1) << source;
}

void ptx_note_mark_sources(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_note_registers *regs,
                           uint32_t from, uint32_t to)
{
    if (noting->unusable == NULL)
        noting->unusable = PTX_ARRAY(pl->job, uint32_t, pl->count + 1);
    for (uint32_t k = noting->first_word[from]; k < noting->first_word[to] && ptx_spend(pl, 1); k++) {
        const uint32_t w = noting->words[k];

        /* other lanes may be at another statement, and an inserted word is after later statements of the block */
        noting->unusable[w] = noting->others[w] != 0 || noting->inserted[w] ? UINT32_MAX : 0;
    }
    for (unsigned r = 0; r < regs->count; r++) {
        const struct ptx_insn *in = regs->expanded >> r & 1 ? ptx_note_only_write(pl, noting, regs->reg[r], from) : NULL;

        for (unsigned i = 1; in != NULL && i < in->operand_count; i++) {
            const int source = in->operand[i].kind == PTX_O_REG ? ptx_note_find_register(regs, in->operand[i].reg) : -1;

            for (uint32_t s = from, end; s < to && source >= 0 && ptx_spend(pl, 1); s = end) {
                end = noting->blocks.at[noting->block_of[s]].end < to ? noting->blocks.at[noting->block_of[s]].end : to;
                mark_block(pl, noting, regs, (unsigned)source, (uint32_t)(in - pl->fn->insns.at), s, end);
            }
        }
    }
}
