/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the values of variables from PTX registers to locations of the object. A PTX register is in the holders that
 * ptx_debug_holders.c has found, for the instruction words before which a holder has the register's value. A computed value
 * becomes a location expression of the object (isa_expression.c). LLVM computes in the width of a register, but DWARF in 64 bits.
 * So this file tracks the number of correct low bits. Sums and products have as many correct bits as their operands. Quotients
 * and right shifts require that all 64 bits are correct. The result must have at least as many correct bits as the variable has
 * bits. */
#include "ptx/debuginfo/notes/ptx_debug_notesources_priv.h"

/* MOST_DEPTH: maximum number of statements on a path from a computed register back to a special register or parameter. */
enum { MOST_STACK = 12, MOST_DEPTH = 8 };

void ptx_debug_notes_want(struct ptx_placing *pl, const struct ptx_noting *noting)
{
    for (size_t i = 0; i < noting->values.count; i++) {
        const struct ptx_noted_value *v = &noting->values.at[i];

        for (unsigned k = 0; k < v->operand_count; k++)
            for (uint32_t reg = v->operand[k].kind == PTX_NOTE_REG ? v->operand[k].reg : PTX_NONE; reg != PTX_NONE;
                 reg = ptx_debug_copied_from(pl, reg))
                pl->wanted[reg] = 1;
    }
    ptx_note_want_sources(pl, noting);
}

/* ---- words of statements ------------------------------------------------------------------------- */

/* State of find_words() before a machine instruction. */
struct layout {
    const struct ptx_noting *noting;
    uint32_t before;  /* statement of the preceding words, or PTX_NONE at the first word */
    uint32_t arm;     /* block of a branch side that if-conversion has merged into the code, so that lanes that do not take
                       * this side execute its words, too; PTX_NONE if there is none */
    uint32_t from;    /* statement with the branch to this side */
    bool branches;    /* the preceding instruction is a branch */
    bool second;      /* the code of the other side of the branch precedes this side */
};

static bool is_guarded(const struct ptx_mi *mi)
{
    return mi->in.guard != ISA_PT || mi->in.guard_neg;
}

/* Returns 0 if all lanes that execute an instruction of @statement are at that statement. Exceptions are instructions of a branch
 * side whose branch was removed, and later instructions of the branch's own block. For these, returns 1 + the statement at which
 * the other lanes are, or 1 + the number of statements if this statement is unknown. */
static uint32_t others_at(struct layout *l, const struct ptx_function *fn, const struct ptx_mi *mi, uint32_t statement)
{
    const struct ptx_noting *noting = l->noting;
    const uint32_t block = noting->block_of[statement];

    if (l->before != PTX_NONE && statement < l->before && noting->blocks.at[block].first != statement && !l->branches)
        return 1 + l->before;
    if (l->before != PTX_NONE && noting->block_of[l->before] != block && !l->branches) {
        const struct ptx_noted_block *from = &noting->blocks.at[noting->block_of[l->before]];
        bool follows = false;

        for (size_t i = 0; i < from->succ.count; i++)
            follows |= from->succ.at[i] == block;
        l->second = !follows && l->arm != PTX_NONE && l->arm == noting->block_of[l->before];
        if (follows && from->succ.count > 1 && fn->insns.at[from->end - 1].guard != PTX_NONE)
            l->from = from->end - 1;
        else if (follows || l->arm == PTX_NONE)
            l->from = PTX_NONE;
        l->arm = l->from != PTX_NONE ? block : PTX_NONE;
    } else if (l->before != PTX_NONE && noting->block_of[l->before] != block) {
        l->arm = PTX_NONE;
    }
    l->before = statement;
    if (l->arm != block || is_guarded(mi))
        return 0;
    return 1 + (l->second ? (uint32_t)fn->insns.count : l->from); /* if this side is the second one in the code, the first
                                                                   * side may have reused any register, so the statement
                                                                   * counts as unknown */
}

/* Returns whether the translator has inserted an instruction after the statements of a block. An inserted instruction has no
 * statement of its own, so it counts as code of @statement, the last statement before the instruction. */
static bool is_inserted(const struct ptx_function *fn, const struct ptx_mi *mi, uint32_t statement)
{
    const enum isa_op op = (enum isa_op)mi->in.op;

    return ((isa_op_info(op)->flags & ISA_F_BRANCH) != 0 || op == ISA_BSSY || op == ISA_BBREAK || op == ISA_YIELD) &&
           !ptx_note_ends_block(&fn->insns.at[statement]);
}

static void find_words(struct ptx_placing *pl, struct ptx_noting *noting)
{
    const struct ptx_unit *unit = pl->unit;
    const struct ptx_function *fn = pl->fn;
    const uint32_t n = (uint32_t)fn->insns.count;
    uint32_t *first = noting->first_word = PTX_ARRAY(pl->job, uint32_t, n + 2);

    noting->words = PTX_ARRAY(pl->job, uint32_t, pl->count + 1);
    noting->others = PTX_ARRAY(pl->job, uint32_t, pl->count + 1);
    noting->inserted = PTX_ARRAY(pl->job, uint8_t, pl->count + 1);
    for (unsigned pass = 0; pass < 2; pass++) {
        struct layout layout = {.noting = noting, .before = PTX_NONE, .arm = PTX_NONE};

        for (size_t i = 0; i < unit->code.count; i++) {
            /* 1 + the statement of the line, or the last statement before the line */
            const uint32_t low = ptx_debug_statements_before(fn, unit->code.at[i].line + 1);
            uint32_t others;

            if (low == 0 || pl->index[i] == pl->index[i + 1])
                continue;
            others = others_at(&layout, fn, &unit->code.at[i], low - 1);
            layout.branches = (isa_op_info((enum isa_op)unit->code.at[i].in.op)->flags & ISA_F_BRANCH) != 0;
            for (uint32_t w = pl->index[i]; w < pl->index[i + 1]; w++) {
                noting->others[w] = others;
                noting->inserted[w] = is_inserted(fn, &unit->code.at[i], low - 1);
                if (pass == 0)
                    first[low]++;
                else
                    noting->words[first[low - 1]++] = w;
            }
        }
        for (uint32_t s = 0; s < n && pass == 0; s++)
            first[s + 1] += first[s];
    }
    memmove(first + 1, first, n * sizeof *first);
    first[0] = 0;
}

/* Returns true if a variable has the values @value at a statement. */
static bool holds_at(struct ptx_placing *pl, const struct ptx_noted_pieces *pieces, const uint32_t *value, uint32_t statement)
{
    for (size_t r = 0; r < pieces->ranges.count && ptx_spend(pl, 1); r++) {
        const struct ptx_noted_range *range = &pieces->ranges.at[r];

        if (statement >= range->from && statement < range->to)
            return memcmp(range->value, value, pieces->count * PTX_NOTE_SAME * sizeof *value) == 0;
    }
    return false;
}

/* Returns whether one of statements [@from, @to) writes a register of the values. */
static bool is_overwritten(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_pieces *pieces,
                           const uint32_t *value, uint32_t from, uint32_t to)
{
    for (uint32_t p = 0; p < pieces->count * PTX_NOTE_SAME; p++) {
        const struct ptx_noted_value *v = value[p] < noting->values.count ? &noting->values.at[value[p]] : NULL;

        for (unsigned k = 0; v != NULL && k < v->operand_count; k++)
            for (uint32_t reg = v->operand[k].kind == PTX_NOTE_REG ? v->operand[k].reg : PTX_NONE; reg != PTX_NONE;
                 reg = ptx_debug_copied_from(pl, reg))
                for (uint32_t w = noting->first_write[reg]; w < noting->first_write[reg + 1] && ptx_spend(pl, 1); w++)
                    if (noting->writes[w] >= from && noting->writes[w] < to)
                        return true;
    }
    return false;
}

static void mark_words(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_pieces *pieces,
                       const struct ptx_noted_range *range)
{
    for (uint32_t k = noting->first_word[range->from], s = range->from; k < noting->first_word[range->to] && ptx_spend(pl, 2); k++) {
        const uint32_t w = noting->words[k];

        while (k >= noting->first_word[s + 1])
            s++;
        if (noting->inserted[w] && is_overwritten(pl, noting, pieces, range->value, s, noting->blocks.at[noting->block_of[s]].end))
            continue; /* at this word, the registers already have the values that later statements of the block write */
        if (k != noting->first_word[s] && is_overwritten(pl, noting, pieces, range->value, s, s + 1))
            continue; /* an earlier word of the statement may have written the register */
        if (noting->others[w] != 0 && !holds_at(pl, pieces, range->value, noting->others[w] - 1))
            continue;
        pl->mark[w] = 1;
        if (w < pl->marked_from)
            pl->marked_from = w;
        if (w >= pl->marked_to)
            pl->marked_to = w + 1;
    }
}

/* ---- registers of a variable ------------------------------------------------------------------------ */

/* Collects the registers that the values of a range use. Returns false if there are too many. */
static bool collect(const struct ptx_noting *noting, const struct ptx_noted_pieces *pieces, const uint32_t *values,
                    struct ptx_note_registers *regs)
{
    regs->count = regs->expanded = 0;
    for (uint32_t p = 0; p < pieces->count * PTX_NOTE_SAME; p++) {
        const struct ptx_noted_value *v = values[p] < noting->values.count ? &noting->values.at[values[p]] : NULL;

        for (unsigned k = 0; v != NULL && k < v->operand_count; k++) {
            if (v->operand[k].kind != PTX_NOTE_REG || ptx_note_find_register(regs, v->operand[k].reg) >= 0)
                continue;
            if (regs->count == PTX_NOTE_REGISTERS)
                return false;
            regs->reg[regs->count++] = v->operand[k].reg;
        }
    }
    return true;
}

static void fill_register(struct ptx_placing *pl, uint32_t reg, uint32_t *by_word, bool forget)
{
    for (uint32_t h = pl->holder_of[reg]; h != 0 && ptx_spend(pl, 1); h = pl->holders.at[h - 1].next) {
        const struct ptx_holder *holder = &pl->holders.at[h - 1];

        for (size_t s = 0; s < holder->spans.count && ptx_spend(pl, 1); s++) {
            const struct isa_span *span = &holder->spans.at[s];
            const uint32_t from = span->from > pl->marked_from ? span->from : pl->marked_from;
            const uint32_t to = span->to < pl->marked_to ? span->to : pl->marked_to;

            for (uint32_t w = from; w < to && ptx_spend(pl, 1); w++)
                by_word[w] = forget ? 0 : h;
        }
    }
}

/* Sets noting->holder of each register for the words between the first and the last marked word, or clears it if @forget is set.
 * A holder of the register itself has priority over a holder of a register of which it is a copy. */
static void fill(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_note_registers *regs, bool forget)
{
    if (noting->holder == NULL) {
        noting->holder = PTX_ARRAY(pl->job, uint32_t *, PTX_NOTE_REGISTERS);
        for (unsigned i = 0; i < PTX_NOTE_REGISTERS; i++)
            noting->holder[i] = PTX_ARRAY(pl->job, uint32_t, pl->count + 1);
    }
    for (unsigned i = 0; i < regs->count; i++) {
        for (uint32_t reg = ptx_debug_copied_from(pl, regs->reg[i]); reg != PTX_NONE; reg = ptx_debug_copied_from(pl, reg))
            fill_register(pl, reg, noting->holder[i], forget);
        fill_register(pl, regs->reg[i], noting->holder[i], forget);
    }
}

/* ---- expressions -------------------------------------------------------------------------------------- */

struct making {
    struct ptx_placing *pl;
    const struct ptx_noting *noting;
    const struct ptx_note_registers *regs;
    const uint32_t *holder; /* by register of @regs: 1 + index of the holder that has the register, or 0 */
    uint32_t unusable;      /* see ptx_note_mark_sources() */
    uint32_t param;
    uint32_t statement;     /* first statement of the range for which locations are created */
    uint8_t out[ISA_EXPRESSION_BYTES * 2];
    uint32_t size;
    uint8_t bits[MOST_STACK]; /* for each value on the stack: number of correct low bits */
    unsigned depth;
    bool failed;
    bool innermost_only;      /* the expression is valid only in the innermost frame, because calls may change its registers */
};

static void put_byte(struct making *m, unsigned byte)
{
    if (m->size == sizeof m->out)
        m->failed = true;
    else
        m->out[m->size++] = (uint8_t)byte;
}

static void put_leb(struct making *m, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        put_byte(m, (value & 0x7f) | 0x80);
    put_byte(m, (unsigned)value);
}

static void push(struct making *m, unsigned bits)
{
    if (m->depth == MOST_STACK)
        m->failed = true;
    else
        m->bits[m->depth++] = (uint8_t)bits;
}

static void put_constant(struct making *m, uint64_t value, unsigned bits)
{
    put_byte(m, ISA_OP_CONSTU);
    put_leb(m, value);
    push(m, bits);
}

static void put_address(struct making *m, const struct isa_var_location *location)
{
    uint8_t raw[8];

    if (location->kind == ISA_LOCATION_FRAME) {
        int64_t offset = (int64_t)location->value;
        bool more = true;

        put_byte(m, ISA_OP_FBREG);
        m->innermost_only = true; /* DW_OP_fbreg is relative to the CFA of the innermost frame only */
        while (more) {
            const unsigned low = offset & 0x7f;

            offset >>= 7;
            more = !((offset == 0 && (low & 0x40) == 0) || (offset == -1 && (low & 0x40) != 0));
            put_byte(m, low | (more ? 0x80 : 0));
        }
        return;
    }
    put_byte(m, ISA_OP_ADDR);
    lw_put64(raw, location->value);
    for (unsigned i = 0; i < 8; i++)
        put_byte(m, raw[i]);
}

/* Returns how many low bytes of a register @holder has. @holder may belong to another register of which this register is a
 * copy. */
static unsigned held_bytes(const struct ptx_placing *pl, const struct ptx_holder *holder, uint32_t reg)
{
    const unsigned own = ptx_type_bytes(pl->fn->regs.at[reg].type);
    const unsigned others = ptx_type_bytes(pl->fn->regs.at[holder->reg].type);
    const unsigned bytes = own < others ? own : others;

    return holder->spilled || 4u * holder->rows >= bytes ? bytes : 4u * holder->rows;
}

static const struct ptx_holder *holder_of(const struct making *m, uint32_t reg)
{
    const int i = ptx_note_find_register(m->regs, reg);

    return i >= 0 && m->holder[i] != 0 ? &m->pl->holders.at[m->holder[i] - 1] : NULL;
}

/* Finds the location in a debug address range of a register that is a copy of a special register whose value never changes for a
 * lane. */
static bool find_special(const struct ptx_placing *pl, uint32_t reg, struct isa_var_location *location)
{
    static const struct {
        uint8_t special, offset;
    } seen[] = { /* offsets in the debug address range of built-in variables (docs/reference/object.md) */
        {ISA_SR_TID_X, 0},     {ISA_SR_TID_Y, 4},     {ISA_SR_TID_Z, 8},      {ISA_SR_CTAID_X, 16},
        {ISA_SR_CTAID_Y, 20},  {ISA_SR_CTAID_Z, 24},  {ISA_SR_NTID_X, 32},    {ISA_SR_NTID_Y, 36},
        {ISA_SR_NTID_Z, 40},   {ISA_SR_NCTAID_X, 48}, {ISA_SR_NCTAID_Y, 52},  {ISA_SR_NCTAID_Z, 56},
        {ISA_SR_OFFSET_X, 128}, {ISA_SR_OFFSET_Y, 132}, {ISA_SR_OFFSET_Z, 136},
    };
    const struct ptx_operand *from;

    for (uint32_t next; (next = ptx_debug_copied_from(pl, reg)) != PTX_NONE; reg = next)
        ;
    if (pl->move_of[reg] == 0)
        return false;
    from = &pl->fn->insns.at[pl->move_of[reg] - 1].operand[1];
    for (size_t i = 0; i < LW_COUNT_OF(seen) && from->kind == PTX_O_SPECIAL; i++)
        if (from->reg == seen[i].special) {
            *location = (struct isa_var_location){.value = WINDOW_BUILTIN + seen[i].offset};
            return true;
        }
    return false;
}

static bool is_parameter_of(const struct ptx_function *fn, uint32_t symbol)
{
    for (size_t i = 0; i < fn->params.count && fn->kernel; i++)
        if (fn->params.at[i] == symbol)
            return true;
    return false;
}

/* Finds the location of a kernel parameter that only one statement loads into a register, or into a register of which this one is
 * a copy. A parameter keeps the value of the launch, so the location is valid even if the register has been reused. Stores the
 * type of the load in @type. */
static bool find_parameter(const struct making *m, uint32_t reg, struct isa_var_location *location, uint8_t *type)
{
    const struct ptx_operand *from;
    const struct ptx_insn *in;

    for (uint32_t next; (next = ptx_debug_copied_from(m->pl, reg)) != PTX_NONE; reg = next)
        ;
    in = ptx_note_only_write(m->pl, m->noting, reg, m->statement);
    if (in == NULL || in->op != PTX_LD || !ptx_has(in, PTX_W_PARAM) || in->operand_count != 2 || in->type_count != 1)
        return false;
    from = &in->operand[1];
    if (from->kind != PTX_O_ADDRESS || from->reg != PTX_NONE || !is_parameter_of(m->pl->fn, from->symbol))
        return false;
    *location = (struct isa_var_location){.value = WINDOW_CONST + m->pl->module->symbols.at[from->symbol].offset + from->imm};
    *type = in->type[0];
    return true;
}

/* Writes the operations that read a register from its holder. */
static void put_holder(struct making *m, const struct ptx_holder *holder, uint32_t reg)
{
    const unsigned bytes = held_bytes(m->pl, holder, reg);
    const struct isa_var_location location = ptx_debug_holder_location(m->pl, holder, 0, 1);

    m->innermost_only |= location.innermost_only;
    put_address(m, &location);
    put_byte(m, ISA_OP_DEREF_SIZE);
    put_byte(m, bytes);
    push(m, 8 * bytes);
    m->failed |= bytes == 0 || bytes > 8;
}

static void put_fixed(struct making *m, uint32_t reg, unsigned depth, bool held);

static void put_operand(struct making *m, const struct ptx_note_operand *operand)
{
    const struct ptx_holder *holder;
    struct isa_var_location location;
    uint64_t value;
    unsigned bytes;

    switch (operand->kind) {
    case PTX_NOTE_CONST: put_constant(m, operand->value, operand->bits); return;
    case PTX_NOTE_REG:
        holder = holder_of(m, operand->reg);
        bytes = ptx_type_bytes(m->pl->fn->regs.at[operand->reg].type);
        if (holder == NULL && find_special(m->pl, operand->reg, &location)) {
            put_address(m, &location);
            put_byte(m, ISA_OP_DEREF_SIZE);
            put_byte(m, bytes < 4 ? bytes : 4);
            push(m, bytes < 4 ? 8 * bytes : 64); /* the value is unsigned, so its extension to 64 bits is correct */
            return;
        }
        if (holder == NULL) {
            if (ptx_debug_literal(m->pl, operand->reg, &value))
                put_constant(m, value, 8 * ptx_type_bytes(m->pl->fn->regs.at[operand->reg].type));
            else
                put_fixed(m, operand->reg, 0, true);
            return;
        }
        put_holder(m, holder, operand->reg);
        return;
    default: m->failed = true; return;
    }
}

static bool take(struct ptx_note_words *words, struct ptx_name *word)
{
    *word = ptx_note_word(words);
    return word->size != 0;
}

static bool take_number(struct ptx_note_words *words, uint64_t *out)
{
    *out = 0;
    return ptx_note_number(ptx_note_word(words), 10, out);
}

/* Writes operations that sign- or zero-extend the value on top of the stack from @bits to 64 bits. */
static void extend(struct making *m, uint64_t bits, bool is_signed)
{
    if (m->depth == 0 || bits == 0 || bits > 64 || bits > m->bits[m->depth - 1]) {
        m->failed = true;
        return;
    }
    if (bits < 64 && is_signed) {
        for (unsigned i = 0; i < 2; i++) {
            put_byte(m, ISA_OP_CONSTU);
            put_leb(m, 64 - bits);
            put_byte(m, i == 0 ? ISA_OP_SHL : ISA_OP_SHRA);
        }
    } else if (bits < 64) {
        put_byte(m, ISA_OP_CONSTU);
        put_leb(m, lw_mask((unsigned)bits));
        put_byte(m, ISA_OP_AND);
    }
    m->bits[m->depth - 1] = 64;
}

/* Operations of LLVM's expressions, with the DWARF operations that compute the same. DW_OP_mod is omitted because it is signed in
 * LLVM but not in DWARF. Unsigned comparisons are omitted, too. */
static const struct operation {
    const char *name;
    uint8_t op, operands, sure;
} operations[] = {
    {"DW_OP_plus", ISA_OP_PLUS, 2, PTX_NOTE_SURE_LOW}, {"DW_OP_minus", ISA_OP_MINUS, 2, PTX_NOTE_SURE_LOW},
    {"DW_OP_mul", ISA_OP_MUL, 2, PTX_NOTE_SURE_LOW},   {"DW_OP_and", ISA_OP_AND, 2, PTX_NOTE_SURE_LOW},
    {"DW_OP_or", ISA_OP_OR, 2, PTX_NOTE_SURE_LOW},     {"DW_OP_xor", ISA_OP_XOR, 2, PTX_NOTE_SURE_LOW},
    {"DW_OP_neg", ISA_OP_NEG, 1, PTX_NOTE_SURE_LOW},   {"DW_OP_not", ISA_OP_NOT, 1, PTX_NOTE_SURE_LOW},
    {"DW_OP_shl", ISA_OP_SHL, 2, PTX_NOTE_SURE_SHIFT}, {"DW_OP_shr", ISA_OP_SHR, 2, PTX_NOTE_SURE_ALL},
    {"DW_OP_shra", ISA_OP_SHRA, 2, PTX_NOTE_SURE_ALL}, {"DW_OP_div", ISA_OP_DIV, 2, PTX_NOTE_SURE_ALL},
    {"DW_OP_eq", ISA_OP_EQ, 2, PTX_NOTE_SURE_ALL},     {"DW_OP_ne", ISA_OP_NE, 2, PTX_NOTE_SURE_ALL},
};

static void put_operation(struct making *m, const struct operation *op)
{
    unsigned bits;

    if (m->depth < op->operands) {
        m->failed = true;
        return;
    }
    bits = m->bits[m->depth - 1];
    if (op->operands == 2) {
        const unsigned left = m->bits[m->depth - 2];

        m->failed |= op->sure == PTX_NOTE_SURE_SHIFT && bits != 64;
        bits = op->sure == PTX_NOTE_SURE_SHIFT || left < bits ? left : bits;
        m->depth--;
    }
    m->failed |= op->sure == PTX_NOTE_SURE_ALL && bits != 64;
    m->bits[m->depth - 1] = (uint8_t)bits;
    put_byte(m, op->op);
}

/* ---- values that never change --------------------------------------------------------------------------- */

static bool is_integer_type(uint8_t type)
{
    const enum ptx_type_class class = ptx_type_class((enum ptx_type)type);

    return class == PTX_CLASS_INTEGER || class == PTX_CLASS_BITS;
}

static bool is_signed_type(uint8_t type)
{
    return type == PTX_T_S8 || type == PTX_T_S16 || type == PTX_T_S32 || type == PTX_T_S64;
}

/* Writes operations that compute a source operand of a statement, and extends it to 64 bits if @extends is set. @type is the
 * statement's type for this operand. */
static void put_source(struct making *m, const struct ptx_operand *o, uint8_t type, bool extends, unsigned depth, bool held)
{
    if (o->kind == PTX_O_IMM && o->literal == PTX_LIT_INT)
        put_constant(m, o->imm, 64);
    else if (o->kind == PTX_O_REG)
        put_fixed(m, o->reg, depth + 1, held);
    else
        m->failed = true;
    if (extends && !m->failed && 8 * ptx_type_bytes((enum ptx_type)type) < 64)
        extend(m, 8 * ptx_type_bytes((enum ptx_type)type), is_signed_type(type));
}

static void put_fixed_operation(struct making *m, const struct ptx_insn *in, unsigned depth, bool held)
{
    const struct ptx_note_operation *known = ptx_note_operation_of(in);
    const bool wide = ptx_has(in, PTX_W_WIDE), shifts = in->op == PTX_SHL || in->op == PTX_SHR;
    const struct ptx_operand *o = in->operand;
    const unsigned width = in->type_count != 0 ? 8 * ptx_type_bytes((enum ptx_type)in->type[0]) : 0;
    const bool multiplies = in->op == PTX_MUL || in->op == PTX_MAD, divides = in->op == PTX_DIV || in->op == PTX_REM;
    const bool extends = wide || divides || in->op == PTX_SHR;
    static const struct operation plus = {.op = ISA_OP_PLUS, .operands = 2, .sure = PTX_NOTE_SURE_LOW};
    static const struct operation minus = {.op = ISA_OP_MINUS, .operands = 2, .sure = PTX_NOTE_SURE_LOW};
    static const struct operation times = {.op = ISA_OP_MUL, .operands = 2, .sure = PTX_NOTE_SURE_LOW};
    struct operation op = {.operands = 2};

    if (known != NULL) {
        op.op = known->dwarf;
        op.sure = (uint8_t)known->sure;
    }
    if (op.op == 0 || width == 0 || width > 64 || !is_integer_type(in->type[0]) || in->type_count != 1 ||
        ptx_has(in, PTX_W_SAT) || ptx_has(in, PTX_W_CC) || in->operand_count != (in->op == PTX_MAD ? 4 : 3) ||
        (multiplies && (wide ? width > 32 : !ptx_has(in, PTX_W_LO))) || (divides && width > 32) ||
        (shifts && (o[2].kind != PTX_O_IMM || o[2].imm >= width))) {
        m->failed = true;
        return;
    }
    if (in->op == PTX_REM) /* a remainder is a - a / b * b */
        put_source(m, &o[1], in->type[0], extends, depth, held);
    put_source(m, &o[1], in->type[0], extends, depth, held);
    put_source(m, &o[2], in->type[0], wide || divides, depth, held);
    if (in->op == PTX_SHR && is_signed_type(in->type[0]))
        op.op = ISA_OP_SHRA;
    if (!m->failed)
        put_operation(m, &op);
    if (in->op == PTX_REM && !m->failed) {
        put_source(m, &o[2], in->type[0], extends, depth, held);
        put_operation(m, &times);
        put_operation(m, &minus);
    }
    if (in->op == PTX_MAD && !m->failed) {
        put_source(m, &o[3], in->type[0], false, depth, held);
        put_operation(m, &plus);
    }
}

/* Writes the operations that compute the value of a register again, where no physical register has it any more. Only one
 * statement may write the register. The value is computed from special registers and kernel parameters, whose values never
 * change for a lane. If @held is set, it is also computed from registers that have a holder and still have the values that the
 * operations read. */
static void put_fixed(struct making *m, uint32_t reg, unsigned depth, bool held)
{
    struct isa_var_location location;
    const int i = ptx_note_find_register(m->regs, reg);
    const struct ptx_insn *in = ptx_note_only_write(m->pl, m->noting, reg, m->statement);
    const unsigned own = ptx_type_bytes(m->pl->fn->regs.at[reg].type);
    uint64_t literal;
    uint8_t type;

    held = held && i >= 0 && (depth == 0 || (m->unusable >> i & 1) == 0);
    if (held && depth != 0 && m->holder[i] != 0) {
        put_holder(m, &m->pl->holders.at[m->holder[i] - 1], reg);
        return;
    }
    held = held && (m->regs->expanded >> i & 1) != 0;
    m->failed |= in == NULL || depth > MOST_DEPTH || own == 0 || own > 8 || !ptx_spend(m->pl, 1);
    if (m->failed)
        return;
    if (own >= 4 && find_special(m->pl, reg, &location)) {
        put_address(m, &location);
        put_byte(m, ISA_OP_DEREF_SIZE);
        put_byte(m, 4);
        push(m, 64); /* the value is unsigned, so its extension to 64 bits is correct */
    } else if (find_parameter(m, reg, &location, &type) && ptx_type_bytes((enum ptx_type)type) >= own) {
        put_address(m, &location);
        put_byte(m, ISA_OP_DEREF_SIZE);
        put_byte(m, own);
        push(m, 8 * own);
    } else if (ptx_debug_literal(m->pl, reg, &literal)) {
        put_constant(m, literal, 8 * own);
    } else if (in->op == PTX_MOV && in->operand_count == 2 && in->operand[1].kind == PTX_O_REG) {
        put_fixed(m, in->operand[1].reg, depth + 1, held);
    } else if (in->op == PTX_CVT && in->operand_count == 2 && in->type_count == 2 && is_integer_type(in->type[0]) &&
               is_integer_type(in->type[1]) && !ptx_has(in, PTX_W_SAT) && ptx_type_bytes((enum ptx_type)in->type[0]) == own) {
        put_source(m, &in->operand[1], in->type[1], true, depth, held);
    } else {
        put_fixed_operation(m, in, depth, held);
    }
    if (!m->failed && m->bits[m->depth - 1] > 8 * own)
        m->bits[m->depth - 1] = (uint8_t)(8 * own);
}

/* Writes the operations that compute a value. Afterwards m->bits[0] is the value's number of correct bits. */
static void put_computed(struct making *m, const struct ptx_noted_value *v)
{
    struct ptx_note_words words = {v->expression, v->expression + v->expression_size};
    struct ptx_name word;
    bool list = false;
    uint64_t n;

    for (size_t i = 0; i + 9 <= v->expression_size && !list; i++)
        list = memcmp(v->expression + i, "LLVM_arg", 8) == 0;
    if (!list && v->operand_count != 1)
        m->failed = true;
    else if (!list)
        put_operand(m, &v->operand[0]);
    while (!m->failed && take(&words, &word)) {
        if (ptx_name_is(word, "DW_OP_LLVM_arg")) {
            if (take_number(&words, &n) && n < v->operand_count)
                put_operand(m, &v->operand[n]);
            else
                m->failed = true;
        } else if (ptx_name_is(word, "DW_OP_constu") || ptx_name_is(word, "DW_OP_consts")) {
            m->failed |= !take_number(&words, &n);
            put_constant(m, n, 64);
        } else if (ptx_name_is(word, "DW_OP_plus_uconst")) {
            m->failed |= !take_number(&words, &n) || m->depth == 0;
            put_byte(m, ISA_OP_PLUS_UCONST);
            put_leb(m, n);
        } else if (ptx_name_is(word, "DW_OP_LLVM_convert")) {
            /* refuses parts of bytes, because debug values of 1 bit are sometimes wrong */
            m->failed |= !take_number(&words, &n) || !take(&words, &word) || n % 8 != 0;
            m->failed |= !ptx_name_is(word, "DW_ATE_signed") && !ptx_name_is(word, "DW_ATE_unsigned");
            if (!m->failed)
                extend(m, n, ptx_name_is(word, "DW_ATE_signed"));
        } else if (ptx_name_is(word, "DW_OP_LLVM_fragment")) {
            break; /* DW_OP_LLVM_fragment is the last operation */
        } else if (!ptx_name_is(word, "DW_OP_stack_value")) {
            const struct operation *op = NULL;

            for (size_t i = 0; i < LW_COUNT_OF(operations) && op == NULL; i++)
                if (ptx_name_is(word, operations[i].name))
                    op = &operations[i];
            m->failed |= op == NULL;
            if (op != NULL)
                put_operation(m, op);
        }
    }
    m->failed |= m->depth != 1;
}

/* Returns true if a value's expression is "[DW_OP_plus_uconst N,] DW_OP_deref", the memory at offset N of the function's local
 * memory, and the memory is proven to have the value. Stores N in @offset. */
static bool is_frame_memory(const struct ptx_noted_value *v, uint64_t *offset)
{
    struct ptx_note_words words = {v->expression, v->expression + v->expression_size};
    struct ptx_name word;

    *offset = 0;
    if (v->operand_count != 1 || v->operand[0].kind != PTX_NOTE_FRAME || !v->is_proven || !take(&words, &word))
        return false;
    if (ptx_name_is(word, "DW_OP_plus_uconst") && (!take_number(&words, offset) || !take(&words, &word)))
        return false;
    return ptx_name_is(word, "DW_OP_deref") && (!take(&words, &word) || ptx_name_is(word, "DW_OP_LLVM_fragment"));
}

/* Finds the location of the value's bytes from offset @skip on. Returns false if the value is computed or has no location. */
static bool find_memory(struct making *m, const struct ptx_noted_value *v, uint32_t skip, uint64_t bytes,
                        struct isa_var_location *location)
{
    const struct ptx_holder *holder;
    uint64_t offset;
    uint8_t type;

    if (v->is_launch) {
        *location = (struct isa_var_location){
            .value = WINDOW_CONST + m->pl->module->symbols.at[m->param].offset + v->first + skip};
        return true;
    }
    if (is_frame_memory(v, &offset)) {
        if (!ptx_debug_frame_location(m->pl, offset + skip, location))
            return false;
        return true;
    }
    if (!ptx_note_is_plain(v) || v->operand[0].kind != PTX_NOTE_REG)
        return false;
    holder = holder_of(m, v->operand[0].reg);
    if (holder == NULL && skip + bytes <= 4 && skip + bytes <= ptx_type_bytes(m->pl->fn->regs.at[v->operand[0].reg].type) &&
        find_special(m->pl, v->operand[0].reg, location)) {
        location->value += skip;
        return true;
    }
    if (holder == NULL && find_parameter(m, v->operand[0].reg, location, &type) &&
        skip + bytes <= ptx_type_bytes((enum ptx_type)type) &&
        skip + bytes <= ptx_type_bytes(m->pl->fn->regs.at[v->operand[0].reg].type)) {
        location->value += skip;
        return true;
    }
    if (holder == NULL || skip + bytes > held_bytes(m->pl, holder, v->operand[0].reg))
        return false;
    *location = ptx_debug_holder_location(m->pl, holder, 0, 1);
    location->value += skip;
    return true;
}

/* Writes the expression of one value for the bytes [first, first + bytes) of the variable. Returns false if the value is unknown
 * at the current words. */
static bool put_value(struct making *m, const struct ptx_noted_value *v, uint32_t first, uint32_t bytes)
{
    const uint32_t start = m->size;
    struct isa_var_location location;
    bool known = false;

    m->depth = 0;
    m->failed = false;
    if (find_memory(m, v, first - v->first, bytes, &location)) {
        m->innermost_only |= location.innermost_only;
        put_address(m, &location);
        known = !m->failed;
    } else if (!v->is_launch && bytes <= 8) {
        put_computed(m, v);
        if (!m->failed && first != v->first) { /* the piece begins after the first byte of the value, so these bytes are
                                                * skipped */
            put_byte(m, ISA_OP_CONSTU);
            put_leb(m, 8 * (uint64_t)(first - v->first));
            put_byte(m, ISA_OP_SHR);
        }
        known = !m->failed && m->bits[0] >= 8 * (first - v->first + bytes);
        put_byte(m, ISA_OP_STACK_VALUE);
    }
    known &= !m->failed;
    if (!known)
        m->size = start;
    return known;
}

/* Writes the expression of a piece. Uses the first of the piece's equal values that is known at the current words, or an
 * empty expression if none is known. Returns whether a value is known. */
static bool put_piece(struct making *m, const uint32_t *same, uint32_t first, uint32_t bytes, bool whole)
{
    bool known = false;

    for (uint32_t k = 0; k < PTX_NOTE_SAME && !known && same[k] < m->noting->values.count; k++)
        known = put_value(m, &m->noting->values.at[same[k]], first, bytes);
    m->failed = false;
    if (!whole) {
        put_byte(m, ISA_OP_PIECE);
        put_leb(m, bytes);
    }
    return known;
}

void ptx_note_put_expression(struct ptx_placing *pl, const uint8_t *expression, uint32_t size, struct isa_var_location *location)
{
    struct ptx_debug *debug = pl->debug;

    location->kind = ISA_LOCATION_EXPRESSION;
    location->variable = size;
    if (debug->expression_bytes >= size && memcmp(debug->expressions + debug->expression_bytes - size, expression, size) == 0) {
        location->value = debug->expression_bytes - size;
        return;
    }
    debug->expressions = ptx_object_grow(pl->job, debug->expressions, &debug->expression_capacity, debug->expression_bytes + size, 1);
    memcpy(debug->expressions + debug->expression_bytes, expression, size);
    location->value = debug->expression_bytes;
    debug->expression_bytes += size;
}

/* Finds a location without an expression for a variable that has one value. Returns false if the value is computed or unknown. */
static bool locate_whole(struct making *m, const struct ptx_noted_value *v, uint64_t bytes, struct isa_var_location *location)
{
    uint64_t literal;

    if (bytes == 0 && v->operand[0].kind == PTX_NOTE_REG)
        bytes = ptx_type_bytes(m->pl->fn->regs.at[v->operand[0].reg].type);
    if (find_memory(m, v, 0, bytes, location))
        return true;
    if (!ptx_note_is_plain(v))
        return false;
    if (v->operand[0].kind == PTX_NOTE_CONST && 8 * bytes <= v->operand[0].bits) {
        *location = (struct isa_var_location){.kind = ISA_LOCATION_CONSTANT, .value = v->operand[0].value};
        return true;
    }
    if (v->operand[0].kind == PTX_NOTE_REG && holder_of(m, v->operand[0].reg) == NULL &&
        ptx_debug_literal(m->pl, v->operand[0].reg, &literal) &&
        bytes <= ptx_type_bytes(m->pl->fn->regs.at[v->operand[0].reg].type)) {
        *location = (struct isa_var_location){.kind = ISA_LOCATION_CONSTANT, .value = literal};
        return true;
    }
    return false;
}

/* Creates the location of a variable for words that have the same values and holders. Returns false if no value is known at these
 * words. */
static bool make_location(struct making *m, const struct ptx_noted_pieces *pieces, const uint32_t *value, uint64_t bytes,
                          struct isa_var_location *location)
{
    const size_t values = m->noting->values.count;
    bool known = false, launch = true;

    for (uint32_t p = 0; p < pieces->count; p++)
        launch &= value[p * PTX_NOTE_SAME] < values && m->noting->values.at[value[p * PTX_NOTE_SAME]].is_launch;
    *location = (struct isa_var_location){0};
    m->size = 0;
    m->innermost_only = false;
    m->failed = false;
    if (launch) {
        location->value = WINDOW_CONST + m->pl->module->symbols.at[m->param].offset;
        return true;
    }
    if (pieces->count == 1 && pieces->edge[1] == 0) {
        for (uint32_t k = 0; k < PTX_NOTE_SAME && value[k] < values; k++)
            if (locate_whole(m, &m->noting->values.at[value[k]], bytes, location))
                return true;
        if (bytes == 0 || bytes > 8)
            return false;
        known = put_piece(m, value, 0, (uint32_t)bytes, true);
    } else {
        for (uint32_t p = 0; p < pieces->count; p++) {
            if (p == 0 && pieces->edge[0] != 0) {
                put_byte(m, ISA_OP_PIECE);
                put_leb(m, pieces->edge[0]);
            }
            known |= put_piece(m, value + p * PTX_NOTE_SAME, pieces->edge[p], pieces->edge[p + 1] - pieces->edge[p], false);
        }
        if (known && bytes > pieces->edge[pieces->count] && bytes <= ISA_EXPRESSION_BYTES) {
            put_byte(m, ISA_OP_PIECE);
            put_leb(m, bytes - pieces->edge[pieces->count]);
        }
    }
    if (!known || m->failed)
        return false;
    ptx_note_put_expression(m->pl, m->out, m->size, location);
    location->innermost_only = m->innermost_only;
    return true;
}

/* Splits the marked words into ranges with the same holders, and adds the variable's location in each range. */
static void locate_range(struct making *m, const struct ptx_noted_pieces *pieces, const uint32_t *value, uint64_t bytes)
{
    struct ptx_placing *pl = m->pl;

    for (uint32_t w = pl->marked_from; w < pl->marked_to && ptx_spend(pl, 1); w++) {
        uint32_t holder[PTX_NOTE_REGISTERS], start = w;
        struct isa_var_location location;

        if (!pl->mark[w])
            continue;
        for (unsigned i = 0; i < m->regs->count; i++)
            holder[i] = m->noting->holder[i][w];
        m->unusable = m->regs->expanded != 0 ? m->noting->unusable[w] : 0;
        for (w++; w < pl->marked_to && pl->mark[w]; w++) {
            bool same = m->regs->expanded == 0 || m->unusable == m->noting->unusable[w];

            for (unsigned i = 0; i < m->regs->count; i++)
                same &= holder[i] == m->noting->holder[i][w];
            if (!same)
                break;
        }
        m->holder = holder;
        if (make_location(m, pieces, value, bytes, &location)) {
            location.from = pl->base + start;
            location.to = pl->base + w;
            *PTX_PUSH(pl->job, pl->locations) = location;
        }
        w--;
    }
}

/* Returns whether a register of the values has no holder at one of the marked words. */
static bool is_lost(const struct making *m)
{
    for (uint32_t w = m->pl->marked_from; w < m->pl->marked_to && ptx_spend(m->pl, 1); w++)
        for (unsigned i = 0; i < m->regs->count && m->pl->mark[w]; i++)
            if (m->noting->holder[i][w] == 0)
                return true;
    return false;
}

void ptx_debug_notes_locate(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_pieces *pieces,
                            uint32_t param, uint64_t bytes)
{
    struct ptx_note_registers regs = {.count = 0};
    struct making making = {.pl = pl, .noting = noting, .regs = &regs, .param = param};

    if (noting->first_word == NULL)
        find_words(pl, noting);
    for (size_t r = 0; r < pieces->ranges.count; r++) {
        const struct ptx_noted_range *range = &pieces->ranges.at[r];

        if (!collect(noting, pieces, range->value, &regs))
            continue;
        mark_words(pl, noting, pieces, range);
        making.statement = range->from;
        fill(pl, noting, &regs, false);
        if (is_lost(&making)) {
            fill(pl, noting, &regs, true);
            ptx_note_add_sources(pl, noting, &regs, range->from);
            if (regs.expanded != 0)
                ptx_note_mark_sources(pl, noting, &regs, range->from, range->to);
            fill(pl, noting, &regs, false);
        }
        locate_range(&making, pieces, range->value, bytes);
        fill(pl, noting, &regs, true);
        ptx_debug_clear_marks(pl);
    }
}
