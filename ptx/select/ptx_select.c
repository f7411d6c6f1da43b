/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction selection: blocks of the control-flow graph, and the table of rules. */
#include <stdio.h>
#include <stdlib.h>

#include "ptx/select/ptx_select_priv.h"

/* ---- rules --------------------------------------------------------------- */

/* Emits nothing: ptx_select() turns control flow into blocks. */
static void ptx_rule_flow(struct ptx_sel *sel)
{
    (void)sel;
}

/* Emits nothing: the instructions of the expansion follow. */
static void ptx_rule_expanded(struct ptx_sel *sel)
{
    (void)sel;
}

ptx_rule_fn ptx_rule(enum ptx_op op)
{
    static const ptx_rule_fn rules[PTX_OP_COUNT] = {
#define ptx_rule_none NULL
#define OP(id, name, effect, rule) [PTX_##id] = ptx_rule_##rule,
#include "ptx/ptx_ops.def"
#undef ptx_rule_none
    };

    return (unsigned)op < PTX_OP_COUNT ? rules[op] : NULL;
}

/* ---- the whole function -------------------------------------------------- */

static void refuse_leftovers(struct ptx_sel *sel, unsigned types_used)
{
    const struct ptx_insn *in = &sel->in;

    if (in->unknown != NULL)
        ptx_sel_fail(sel, LW_EUNSUPP, "the modifier '.%s' is not supported", in->unknown);
    if ((in->words[0] | in->words[1] | in->words[2]) == 0 && in->type_count <= types_used)
        return;
    for (unsigned w = 1; w < PTX_W_COUNT; w++) {
        if (ptx_has(in, (enum ptx_word)w) && !(types_used != 0 && ptx_is_hint((enum ptx_word)w)))
            ptx_sel_fail(sel, LW_EUNSUPP, "the modifier '.%s' is not supported on this instruction",
                         ptx_word_text((enum ptx_word)w));
    }
    if (in->type_count > types_used)
        ptx_sel_fail(sel, LW_EINPUT, "the instruction has too many types: remove '.%s'",
                     ptx_type_name((enum ptx_type)in->type[types_used]));
}

/* Finds registers whose only definition is a mov of a literal. */
static void find_constants(struct ptx_function *fn)
{
    for (size_t i = 0; i < fn->insns.count; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];

        if (in->operand_count == 0)
            continue;
        const struct ptx_operand *o = &in->operand[0];
        unsigned n = o->kind == PTX_O_VECTOR || o->kind == PTX_O_PAIR || o->kind == PTX_O_LIST
                         ? o->count : 1;

        for (unsigned k = 0; k < n; k++) {
            const struct ptx_operand *e = n == 1 && o->element == NULL ? o : &o->element[k];

            if (e->kind != PTX_O_REG)
                continue;
            struct ptx_reg *r = &fn->regs.at[e->reg];

            if (r->definitions < 2)
                r->definitions++;
            r->constant = r->definitions == 1 && in->op == PTX_MOV && in->guard == PTX_NONE &&
                          o->kind == PTX_O_REG && in->operand_count == 2 &&
                          in->operand[1].kind == PTX_O_IMM &&
                          in->operand[1].literal == PTX_LIT_INT && r->type != PTX_T_F32 &&
                          r->type != PTX_T_F64;
            if (r->constant)
                r->value = in->operand[1].imm;
        }
    }
}

static void lay_out_symbol(struct ptx_sel *sel, uint32_t index)
{
    struct ptx_unit *unit = sel->unit;
    struct ptx_symbol *s = &unit->module->symbols.at[index];
    uint32_t *top;

    s->used = true;
    if (s->kind != PTX_SYM_VARIABLE || (s->space != PTX_SP_SHARED && s->space != PTX_SP_LOCAL))
        return;
    if (s->space == PTX_SP_SHARED && s->size_bytes == 0) { /* dynamic shared memory follows all other variables */
        unit->dynamic_shared = true;
        return;
    }
    top = s->space == PTX_SP_SHARED ? &unit->shared_bytes : &unit->local_bytes;
    if (!s->placed) {
        uint64_t at = ((uint64_t)*top + s->align - 1) & ~(uint64_t)(s->align - 1);

        if (at + s->size_bytes > (s->space == PTX_SP_SHARED ? 1u << 22 : 1u << 22))
            ptx_fail(sel->job, s->line, LW_EUNSUPP, "variable '%s' makes the %s memory larger than 4 MiB, which is the maximum",
                     s->name, s->space == PTX_SP_SHARED ? "shared" : "local");
        s->offset = (uint32_t)at;
        s->placed = true;
        if (s->space == PTX_SP_SHARED && unit->module->shared_top < at + s->size_bytes)
            unit->module->shared_top = (uint32_t)(at + s->size_bytes);
    }
    if (*top < s->offset + s->size_bytes)
        *top = (uint32_t)(s->offset + s->size_bytes);
}

/* Assigns offsets to the shared and local variables that the function uses. ptx_module_translate() has already assigned
 * the offsets of shared variables that several kernels use. */
static void lay_out_symbols(struct ptx_sel *sel)
{
    struct ptx_function *fn = sel->fn;
    struct ptx_module *module = sel->unit->module;

    for (int pass = 0; pass < 2; pass++) { /* the first pass handles symbols with a fixed offset, the second pass all other
                                            * symbols */
        for (size_t i = 0; i < fn->insns.count; i++) {
            const struct ptx_insn *in = &fn->insns.at[i];

            for (unsigned k = 0; k < in->operand_count; k++) {
                const struct ptx_operand *o = &in->operand[k];
                unsigned n = o->element != NULL ? o->count : 1;

                for (unsigned e = 0; e < n; e++) {
                    const struct ptx_operand *one = o->element != NULL ? &o->element[e] : o;

                    if ((one->kind == PTX_O_SYMBOL || one->kind == PTX_O_ADDRESS) &&
                        one->symbol != PTX_NONE &&
                        (pass == 1 || module->symbols.at[one->symbol].placed))
                        lay_out_symbol(sel, one->symbol);
                }
            }
        }
    }
    if (module->common_dynamic && sel->unit->shared_bytes < module->shared_top)
        sel->unit->shared_bytes = module->shared_top;
    sel->unit->dynamic_base = (sel->unit->shared_bytes + 15) & ~15u;
    for (size_t i = 0; i < module->dynamic.count; i++)
        module->symbols.at[module->dynamic.at[i]].offset = sel->unit->dynamic_base;
}

static uint32_t new_block(struct ptx_sel *sel)
{
    return (uint32_t)(ptx_block_new(sel->unit) - sel->unit->blocks.at);
}

/* Adds the guard of the PTX instruction to the machine instructions from @first on. Instructions that only write
 * temporaries may execute in all lanes and get no guard. A guarded write keeps the old value in the other lanes. */
static void apply_guard(struct ptx_sel *sel, size_t first)
{
    struct ptx_unit *unit = sel->unit;
    struct ptx_operand o = { .kind = PTX_O_REG, .reg = sel->in.guard, .symbol = PTX_NONE };
    ptx_ref guard = ptx_sel_pred(sel, &o);

    for (size_t i = first; i < unit->code.count; i++) {
        struct ptx_mi *mi = &unit->code.at[i];
        const struct isa_op_info *info = isa_op_info((enum isa_op)mi->in.op);
        bool temporary = true;

        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            bool written = s == PTX_S_D || s == PTX_S_P || s == PTX_S_Q;

            if (written && ptx_ref_is_vreg(mi->ref[s]) &&
                (ptx_ref_vreg(mi->ref[s]) < sel->first_temp ||
                 (unit->has_carry && mi->ref[s] == unit->carry))) /* the condition code is not a temporary, although
                                                                   * this instruction may have created its register */
                temporary = false;
        }
        if ((temporary && !(info->flags & (ISA_F_MEMORY | ISA_F_CONTROL))) ||
            (mi->flags & PTX_MI_NO_GUARD))
            continue;
        mi->ref[PTX_S_GUARD] = guard;
        mi->in.guard_neg = sel->in.guard_neg;
        mi->flags |= PTX_MI_PARTIAL;
    }
}

/* Marks the machine instructions from @first on that interact with other lanes. ptx_opt.c removes the mark of an atomic
 * whose result is unused. */
static void mark_effect(struct ptx_sel *sel, enum ptx_effect effect, size_t first)
{
    for (size_t i = first; i < sel->unit->code.count; i++) {
        struct ptx_mi *mi = &sel->unit->code.at[i];
        unsigned flags = isa_op_info((enum isa_op)mi->in.op)->flags;

        if (effect == PTX_EFFECT_SYNCS)
            mi->flags |= PTX_MI_SYNCS;
        else if (flags & ISA_F_CONTROL ||
                 (flags & ISA_F_MEMORY && mi->ref[PTX_S_D] != PTX_NO_REF))
            mi->flags |= PTX_MI_SPIN;
    }
}

static void select_one(struct ptx_sel *sel, const struct ptx_insn *insn)
{
    ptx_rule_fn rule = ptx_rule((enum ptx_op)insn->op);
    size_t first = sel->unit->code.count;

    sel->in = *insn;
    sel->local = NULL;
    /* creates the registers of the guard and the operands before first_temp is set, because they are not temporaries */
    if (insn->guard != PTX_NONE)
        (void)ptx_sel_reg(sel, insn->guard);
    for (unsigned k = 0; k < insn->operand_count; k++) {
        const struct ptx_operand *o = &insn->operand[k];

        if (o->kind == PTX_O_SPECIAL && insn->op != PTX_MOV && insn->op != PTX_CVT)
            ptx_sel_fail(sel, LW_EINPUT, "a special register can be read only by 'mov': move %%%s into a register",
                         isa_special_info((enum isa_special)o->reg)->name);
        if (o->kind == PTX_O_SYMBOL && o->count != 0 && insn->op != PTX_MOV && insn->op != PTX_CVT)
            ptx_sel_fail(sel, LW_EINPUT, "a special register can be read only by 'mov': move %%envreg%u into a register",
                         o->count == 2 ? 1 : 2);
        if (o->kind == PTX_O_REG)
            (void)ptx_sel_reg(sel, o->reg);
        for (unsigned e = 0; o->element != NULL && e < o->count; e++) {
            if (o->element[e].kind == PTX_O_REG)
                (void)ptx_sel_reg(sel, o->element[e].reg);
        }
    }
    sel->first_temp = (uint32_t)sel->unit->vregs.count;
    if (rule == NULL)
        ptx_fail(sel->job, insn->line, LW_EUNSUPP, "the instruction '%s' is not supported: use instructions that "
                                                   "docs/reference/ptx-support.md lists",
                 ptx_op_name((enum ptx_op)insn->op));
    if (sel->in.unknown != NULL)
        refuse_leftovers(sel, 4);
    ptx_sel_check(sel);
    ptx_verify_types(sel);
    rule(sel);
    refuse_leftovers(sel, 4);
    sel->in = *insn;
    ptx_verify_version(sel);
    if (ptx_effect(insn) != PTX_EFFECT_NONE)
        mark_effect(sel, ptx_effect(insn), first);
    if (insn->guard != PTX_NONE)
        apply_guard(sel, first);
    ptx_bounds_mark(sel->unit, insn, first);
}

static void end_block(struct ptx_sel *sel, uint32_t block, const struct ptx_insn *insn,
                      uint32_t taken, uint32_t next)
{
    ptx_ref guard = PTX_NO_REF;

    if (insn->guard != PTX_NONE) {
        sel->in = *insn;
        guard = ptx_sel_reg(sel, insn->guard);
    }
    struct ptx_block *b = &sel->unit->blocks.at[block];

    b->loc = insn->loc;
    b->line = insn->line;
    if (insn->guard != PTX_NONE && taken != next) {
        b->end = PTX_END_BRANCH;
        b->succ_count = 2;
        b->succ[0] = taken;
        b->succ[1] = next;
        b->guard = guard;
        b->guard_neg = insn->guard_neg;
    } else {
        b->end = PTX_END_NEXT;
        b->succ_count = 1;
        b->succ[0] = taken;
    }
}

/* Marks the instructions that branches target. Only a marked instruction begins a straight-line stretch. An instruction with
 * a label that no branch uses, such as a debug label, does not. */
static uint8_t *find_targets(struct ptx_sel *sel)
{
    const struct ptx_function *fn = sel->fn;
    uint8_t *target = PTX_ARRAY(sel->job, uint8_t, fn->insns.count + 1);

    for (size_t i = 0; i < fn->insns.count; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];

        for (unsigned k = 0; k < in->operand_count; k++) {
            const struct ptx_operand *o = &in->operand[k];

            if (o->kind == PTX_O_LABEL && in->op != PTX_CALL)
                target[fn->labels.at[o->reg]] = 1;
            for (unsigned e = 0; o->element != NULL && e < o->count; e++) {
                if (o->element[e].kind == PTX_O_LABEL)
                    target[fn->labels.at[o->element[e].reg]] = 1;
            }
        }
    }
    return target;
}

static unsigned table_size(const struct ptx_insn *in)
{
    return in->operand_count == 2 && in->operand[1].kind == PTX_O_LIST ? in->operand[1].count : 0;
}

/* Creates the blocks in the order of the text. The further blocks of a call or a branch table follow the block that
 * contains the call or table. */
static void number_blocks(struct ptx_sel *sel)
{
    const struct ptx_function *fn = sel->fn;
    size_t n = fn->insns.count;

    if (sel->unit->framed)
        (void)new_block(sel); /* the entry block, which no branch targets */
    sel->call_at = PTX_ARRAY(sel->job, uint32_t, n + 1);
    for (size_t i = 0; i <= n; i++) {
        const struct ptx_insn *in = i < n ? &fn->insns.at[i] : NULL;
        unsigned more = in == NULL             ? 0
                        : in->op == PTX_CALL ? ptx_sel_call_blocks(sel, in)
                        : in->op == PTX_BRX  ? table_size(in)
                                             : 0;

        sel->block_at[i] = sel->block_at[i] != 0 ? new_block(sel) : PTX_NONE;
        sel->call_at[i] = more == 0 ? PTX_NONE : new_block(sel);
        for (; more > 1; more--)
            (void)new_block(sel);
    }
}

static void end_next(struct ptx_sel *sel, uint32_t block, uint32_t next)
{
    struct ptx_block *b = &sel->unit->blocks.at[block];

    b->count = (uint32_t)sel->unit->code.count - b->first;
    b->end = PTX_END_NEXT;
    b->succ_count = 1;
    b->succ[0] = next;
}

static void begin_block(struct ptx_sel *sel, uint32_t block)
{
    sel->current = block;
    sel->unit->blocks.at[block].first = (uint32_t)sel->unit->code.count;
}

static void select_call(struct ptx_sel *sel, const struct ptx_insn *in, size_t index)
{
    struct ptx_insn plain = *in;
    uint32_t own = sel->call_at[index];

    plain.guard = PTX_NONE;
    sel->wrap = PTX_NONE;
    if (own != PTX_NONE) {
        sel->unit->blocks.at[sel->current].count =
            (uint32_t)sel->unit->code.count - sel->unit->blocks.at[sel->current].first;
        if (in->guard != PTX_NONE)
            end_block(sel, sel->current, in, own, sel->block_at[index + 1]);
        else
            end_next(sel, sel->current, own);
        begin_block(sel, own);
        sel->unit->blocks.at[own].loc = in->loc;
        sel->unit->blocks.at[own].line = in->line;
        if (ptx_sel_call_wraps(sel, in)) {
            *PTX_PUSH(sel->job, sel->unit->wraps) = (struct ptx_wrap){ own, own + 1, own + 2 };
            end_next(sel, own, own + 1);
            begin_block(sel, own + 1);
            sel->wrap = own + 2;
        }
    }
    select_one(sel, &plain);
}

/* State of the lowering of one brx.idx to a binary search with ordinary branches. */
struct table {
    struct ptx_sel *sel;
    const struct ptx_insn *in;
    ptx_ref index;
    uint32_t spare; /* number of the next unused block among the blocks that are reserved for this table */
};

static uint32_t table_target(const struct table *t, unsigned i)
{
    return t->sel->block_at[t->sel->fn->labels.at[t->in->operand[1].element[i].reg]];
}

/* Selects the search for indices from @low to @high - 1 into @block, or into a new block if @block is PTX_NONE. Returns
 * the block. If all these indices have the same target and @block is PTX_NONE, returns the target. */
static uint32_t search_table(struct table *t, unsigned low, unsigned high, uint32_t block)
{
    struct ptx_sel *sel = t->sel;
    unsigned middle = low + (high - low) / 2, i = low;
    uint32_t target = table_target(t, low);
    struct ptx_mi *mi;
    struct ptx_block *b;
    ptx_ref p;

    while (i < high && table_target(t, i) == target)
        i++;
    if (i == high && block == PTX_NONE)
        return target;
    if (block == PTX_NONE) {
        block = t->spare++;
        begin_block(sel, block);
    }
    if (i == high) {
        end_next(sel, block, target);
        sel->unit->blocks.at[block].loc = t->in->loc;
        sel->unit->blocks.at[block].line = t->in->line;
        return block;
    }
    p = ptx_sel_temp(sel, 0);
    mi = ptx_sel_put(sel, ISA_V_SETP_U32, PTX_NO_REF, t->index, PTX_NO_REF, PTX_NO_REF, 1);
    mi->in.xkind = ISA_X_IMM;
    mi->in.x = middle;
    isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_LT);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_R] = PTX_ZERO;
    b = &sel->unit->blocks.at[block];
    b->count = (uint32_t)sel->unit->code.count - b->first;
    uint32_t less = search_table(t, low, middle, PTX_NONE);
    uint32_t more = search_table(t, middle, high, PTX_NONE);

    b = &sel->unit->blocks.at[block];
    b->loc = t->in->loc;
    b->line = t->in->line;
    b->guard = p;
    b->end = less == more ? PTX_END_NEXT : PTX_END_BRANCH;
    b->succ_count = less == more ? 1 : 2;
    b->succ[0] = less;
    b->succ[1] = more;
    return block;
}

static void select_table(struct ptx_sel *sel, const struct ptx_insn *in, size_t index)
{
    struct table t = { .sel = sel, .in = in, .spare = sel->call_at[index] };
    unsigned n = table_size(in);
    uint32_t block = sel->current;

    sel->in = *in;
    (void)ptx_take(&sel->in, PTX_W_IDX);
    (void)ptx_take(&sel->in, PTX_W_UNI);
    refuse_leftovers(sel, 0);
    if (n == 0)
        ptx_sel_fail(sel, LW_EINPUT, "expected an index and the label of a .branchtargets");
    if (in->guard != PTX_NONE) {
        struct ptx_block *b = &sel->unit->blocks.at[block];

        b->count = (uint32_t)sel->unit->code.count - b->first;
        end_block(sel, block, in, t.spare, sel->block_at[index + 1]);
        sel->in = *in;
        block = t.spare++;
        begin_block(sel, block);
    }
    t.index = ptx_sel_value(sel, &in->operand[0], PTX_T_U32);
    (void)search_table(&t, 0, n, block);
}

/* Fills the entry block of a framed function. */
static void enter(struct ptx_sel *sel)
{
    struct ptx_unit *unit = sel->unit;

    if (!unit->framed)
        return;
    for (size_t i = 0; i < sel->fn->insns.count && sel->in.loc == 0; i++) {
        sel->in.loc = sel->fn->insns.at[i].loc;
        sel->in.line = sel->fn->insns.at[i].line;
    }
    begin_block(sel, 0);
    ptx_sel_enter(sel);
    unit->blocks.at[0].loc = sel->in.loc;
    unit->blocks.at[0].line = sel->in.line;
    end_next(sel, 0, sel->block_at[0]);
}

/* Emits a pin that reads the register, so that the register, which holds a variable, is live up to this instruction. */
static void keep_register(struct ptx_sel *sel, uint32_t reg, const struct ptx_insn *insn)
{
    struct ptx_mi *mi;
    ptx_ref ref;

    if (sel->fn->regs.at[reg].vreg == 0 || ptx_type_bytes(sel->fn->regs.at[reg].type) == 0)
        return;
    ref = ptx_sel_reg(sel, reg);
    sel->unit->vregs.at[ptx_ref_vreg(ref)].retained = true;
    sel->in = *insn;
    mi = ptx_sel_put(sel, ISA_NOP, PTX_NO_REF, ref, PTX_NO_REF, PTX_NO_REF,
                     sel->unit->vregs.at[ptx_ref_vreg(ref)].rows);
    mi->flags |= PTX_MI_PIN;
}

/* Source lines of the function that have other instructions than unconditional jumps. */
struct full_lines {
    uint64_t *at; /* file << 32 | line, in ascending order */
    size_t count;
};

static uint64_t line_key(const struct ptx_loc *loc)
{
    return (uint64_t)loc->file << 32 | loc->line;
}

static int compare_lines(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static struct full_lines find_full_lines(const struct ptx_sel *sel)
{
    const struct ptx_function *fn = sel->fn;
    struct full_lines lines = { .at = PTX_ARRAY(sel->job, uint64_t, fn->insns.count + 1) };

    for (size_t i = 0; i < fn->insns.count; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];

        if (in->op != PTX_BRA || in->guard != PTX_NONE)
            lines.at[lines.count++] = line_key(&sel->unit->module->locs.at[in->loc]);
    }
    qsort(lines.at, lines.count, sizeof *lines.at, compare_lines);
    return lines;
}

/* Emits a nop for a jump that is alone on its line (goto, break, continue, return) in code for debuggers, because a
 * breakpoint on the line needs an instruction. Like compilers for host processors, it emits no nop if the jump only
 * falls through after other instructions of its block, as at the closing brace of a loop. */
static void mark_jump(struct ptx_sel *sel, const struct full_lines *lines, const uint8_t *target,
                      size_t index)
{
    const struct ptx_insn *before = index != 0 ? &sel->fn->insns.at[index - 1] : NULL;
    const bool flows_on = sel->fn->labels.at[sel->in.operand[0].reg] == index + 1;
    const bool alone = before == NULL || target[index] != 0 ||
                       (before->op == PTX_BRA && before->guard == PTX_NONE);
    const struct ptx_loc *loc = &sel->unit->module->locs.at[sel->in.loc];
    uint64_t key = line_key(loc);

    if ((flows_on && !alone) || sel->in.guard != PTX_NONE || sel->in.loc == 0 || loc->line == 0 ||
        (before != NULL && line_key(&sel->unit->module->locs.at[before->loc]) == key) ||
        bsearch(&key, lines->at, lines->count, sizeof key, compare_lines) != NULL)
        return;
    ptx_sel_emit(sel, ISA_NOP)->flags |= PTX_MI_LINE;
}

void ptx_select(struct ptx_unit *unit)
{
    struct ptx_function *fn = unit->function;
    struct ptx_sel sel = { .unit = unit, .job = unit->job, .fn = fn, .wrap = PTX_NONE };
    size_t n = fn->insns.count;
    uint8_t *target = find_targets(&sel);
    size_t keeps;
    bool stepped = ptx_debug_is_stepped(unit);
    struct full_lines lines = { 0 };
    const struct ptx_keep *keep = ptx_debug_keeps(unit, &keeps);

    unit->sp = PTX_ZERO;
    if (unit->framed) {
        unit->link = ptx_sel_fixed(&sel, 0, 2);
        unit->stack = ptx_sel_fixed(&sel, 2, 1);
        if (!fn->kernel)
            unit->sp = unit->stack;
    }
    find_constants(fn);
    ptx_find_locals(&sel);
    ptx_bounds_find(unit);
    ptx_sel_call_frame_bytes(&sel);
    lay_out_symbols(&sel);
    ptx_param_homes(&sel, target, stepped);
    if (stepped)
        lines = find_full_lines(&sel);
    sel.block_at = PTX_ARRAY(unit->job, uint32_t, n + 1);
    /* blocks are numbered in the order of the text, which is the layout order */
    for (size_t i = 0; i <= n; i++)
        sel.block_at[i] = target[i];
    sel.block_at[0] = 1;
    for (size_t i = 0; i < n; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];
        bool ends = in->op == PTX_BRA || in->op == PTX_BRX || in->op == PTX_RET ||
                    (in->op == PTX_EXIT && in->guard == PTX_NONE) ||
                    (in->op == PTX_CALL && in->guard != PTX_NONE);

        if (ends)
            sel.block_at[i + 1] = 1;
    }
    number_blocks(&sel);
    for (size_t l = 0; l < fn->labels.count; l++) {
        if (target[fn->labels.at[l]])
            unit->blocks.at[sel.block_at[fn->labels.at[l]]].label = (uint32_t)l;
    }
    /* A further block after the last instruction ends the kernel. */
    if (sel.block_at[n] == PTX_NONE)
        sel.block_at[n] = new_block(&sel);
    unit->final_block = new_block(&sel);
    unit->blocks.at[unit->final_block].end = PTX_END_FINAL;
    unit->blocks.at[sel.block_at[n]].succ_count = 1;
    unit->blocks.at[sel.block_at[n]].succ[0] = unit->final_block;
    enter(&sel);
    sel.current = sel.block_at[0];
    bool ended = n == 0; /* true if the successors of the current block are set. Without instructions, block 0 is the last
                          * block, whose successor is already set */

    for (size_t i = 0; i < n; i++) {
        const struct ptx_insn *in = &fn->insns.at[i];

        for (; keeps != 0 && keep->insn < i; keep++, keeps--)
            ;
        if (sel.block_at[i] != PTX_NONE) {
            uint32_t b = sel.block_at[i];

            if (i != 0 && !ended) {
                unit->blocks.at[sel.current].end = PTX_END_NEXT;
                unit->blocks.at[sel.current].succ_count = 1;
                unit->blocks.at[sel.current].succ[0] = b;
            }
            sel.current = b;
            unit->blocks.at[b].first = (uint32_t)unit->code.count;
            ended = false;
        }
        uint32_t next = sel.block_at[i + 1];

        for (; keeps != 0 && keep->insn == i; keep++, keeps--)
            keep_register(&sel, keep->reg, in);
        switch (in->op) {
        case PTX_BRA:
            sel.in = *in;
            (void)ptx_take(&sel.in, PTX_W_UNI);
            refuse_leftovers(&sel, 0);
            ptx_sel_operands(&sel, 1, 1);
            if (stepped)
                mark_jump(&sel, &lines, target, i);
            end_block(&sel, sel.current, in, sel.block_at[fn->labels.at[in->operand[0].reg]], next);
            ended = true;
            break;
        case PTX_RET:
            sel.in = *in;
            (void)ptx_take(&sel.in, PTX_W_UNI);
            refuse_leftovers(&sel, 0);
            ptx_sel_operands(&sel, 0, 0);
            end_block(&sel, sel.current, in, unit->final_block, next);
            ended = true;
            break;
        case PTX_EXIT:
            sel.in = *in;
            refuse_leftovers(&sel, 0);
            ptx_sel_operands(&sel, 0, 0);
            if (in->guard == PTX_NONE) {
                unit->blocks.at[sel.current].end = PTX_END_EXIT;
                unit->blocks.at[sel.current].loc = in->loc;
                unit->blocks.at[sel.current].line = in->line;
                ended = true;
            } else {
                sel.first_temp = (uint32_t)unit->vregs.count;
                size_t first = unit->code.count;

                (void)ptx_sel_emit(&sel, ISA_EXIT);
                apply_guard(&sel, first);
                unit->blocks.at[sel.current].count++;
            }
            break;
        case PTX_BRX:
            select_table(&sel, in, i);
            ended = true;
            continue; /* select_table() has already set the number of instructions of each block */
        case PTX_CALL:
            select_call(&sel, in, i);
            break;
        default:
            select_one(&sel, in);
            break;
        }
        unit->blocks.at[sel.current].count =
            (uint32_t)unit->code.count - unit->blocks.at[sel.current].first;
    }
    if (!ended) {
        unit->blocks.at[sel.current].end = PTX_END_NEXT;
        unit->blocks.at[sel.current].succ_count = 1;
        unit->blocks.at[sel.current].succ[0] = sel.block_at[n];
    }
    /* the final exit gets the location of the last ret */
    for (size_t i = n; i-- > 0;) {
        if (fn->insns.at[i].op == PTX_RET) {
            unit->blocks.at[unit->final_block].loc = fn->insns.at[i].loc;
            unit->blocks.at[unit->final_block].line = fn->insns.at[i].line;
            break;
        }
    }
    unit->blocks.at[sel.block_at[n]].first = (uint32_t)unit->code.count;
    begin_block(&sel, unit->final_block);
    if (!fn->kernel) {
        sel.in.loc = unit->blocks.at[unit->final_block].loc;
        sel.in.line = unit->blocks.at[unit->final_block].line;
        ptx_sel_leave(&sel);
        unit->blocks.at[unit->final_block].count =
            (uint32_t)unit->code.count - unit->blocks.at[unit->final_block].first;
    }
}
