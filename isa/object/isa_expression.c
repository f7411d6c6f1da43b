/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the DWARF expressions (DWARF 4, sections 2.5 and 2.6) that objects contain for variables of optimised code. An
 * expression gives the location or value of each piece of a variable. Addresses are in the debugger's address space
 * (docs/reference/object.md), where registers are memory. */
#include "isa/object/isa_elf_priv.h"

enum { MAX_STACK = 16 };

/* Form of an operation's operand. */
enum form { FORM_NONE, FORM_ADDRESS, FORM_ULEB, FORM_SLEB, FORM_BYTE, FORM_UNKNOWN };

static enum form form_of(unsigned op)
{
    switch (op) {
    case ISA_OP_ADDR: return FORM_ADDRESS;
    case ISA_OP_CONSTU:
    case ISA_OP_PLUS_UCONST:
    case ISA_OP_PIECE: return FORM_ULEB;
    case ISA_OP_FBREG: return FORM_SLEB;
    case ISA_OP_DEREF_SIZE: return FORM_BYTE;
    case ISA_OP_AND: case ISA_OP_DIV: case ISA_OP_MINUS: case ISA_OP_MUL: case ISA_OP_NEG: case ISA_OP_NOT:
    case ISA_OP_OR: case ISA_OP_PLUS: case ISA_OP_SHL: case ISA_OP_SHR: case ISA_OP_SHRA: case ISA_OP_XOR:
    case ISA_OP_EQ: case ISA_OP_NE: case ISA_OP_STACK_VALUE: return FORM_NONE;
    default: return FORM_UNKNOWN;
    }
}

struct cursor {
    const uint8_t *ops;
    uint32_t size, at;
};

static bool get_leb(struct cursor *c, bool is_signed, uint64_t *value)
{
    unsigned shift = 0;
    uint8_t byte;

    *value = 0;
    do {
        if (c->at == c->size || shift > 63)
            return false;
        byte = c->ops[c->at++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && (byte & 0x40) && shift < 64)
        *value |= ~UINT64_C(0) << shift;
    return true;
}

/* Reads the next operation and its operand. Returns false at the end of the expression, and for an unknown operation. */
static bool get_op(struct cursor *c, unsigned *op, uint64_t *operand)
{
    if (c->at == c->size)
        return false;
    *op = c->ops[c->at++];
    *operand = 0;
    switch (form_of(*op)) {
    case FORM_NONE: return true;
    case FORM_ADDRESS:
        if (c->size - c->at < 8)
            return false;
        *operand = lw_get64(c->ops + c->at);
        c->at += 8;
        return true;
    case FORM_ULEB: return get_leb(c, false, operand);
    case FORM_SLEB: return get_leb(c, true, operand);
    case FORM_BYTE:
        if (c->at == c->size)
            return false;
        *operand = c->ops[c->at++];
        return *operand == 1 || *operand == 2 || *operand == 4 || *operand == 8;
    default: return false;
    }
}

static bool compute(unsigned op, uint64_t x, uint64_t y, uint64_t *out)
{
    const int64_t sx = (int64_t)x, sy = (int64_t)y;

    switch (op) {
    case ISA_OP_AND: *out = x & y; break;
    case ISA_OP_OR: *out = x | y; break;
    case ISA_OP_XOR: *out = x ^ y; break;
    case ISA_OP_PLUS: *out = x + y; break;
    case ISA_OP_MINUS: *out = x - y; break;
    case ISA_OP_MUL: *out = x * y; break;
    case ISA_OP_DIV:
        if (sy == 0)
            return false;
        *out = sy == -1 ? -x : (uint64_t)(sx / sy);
        break;
    case ISA_OP_SHL: *out = y < 64 ? x << y : 0; break;
    case ISA_OP_SHR: *out = y < 64 ? x >> y : 0; break;
    case ISA_OP_SHRA: *out = (uint64_t)(sx >> (y < 64 ? y : 63)); break;
    case ISA_OP_EQ: *out = x == y; break;
    case ISA_OP_NE: *out = x != y; break;
    default: return false;
    }
    return true;
}

/* State of the evaluation of a piece. */
struct state {
    const struct isa_expression_reader *reader; /* NULL: values are not computed */
    uint64_t stack[MAX_STACK];
    unsigned depth;
    bool is_known;   /* all reads so far have succeeded */
    bool is_address; /* the top of the stack is an address that the expression contains, not a computed one */
    bool is_value;   /* DW_OP_stack_value was executed: the top of the stack is the value itself */
};

/* Executes an operation that pushes a value on the stack. Returns false if the stack is full. */
static bool push(struct state *st, unsigned op, uint64_t operand, struct isa_piece *piece)
{
    if (st->depth == MAX_STACK)
        return false;
    if (op != ISA_OP_CONSTU) {
        piece->frame = op == ISA_OP_FBREG;
        piece->address = operand;
    }
    if (op == ISA_OP_FBREG && st->reader != NULL) {
        uint64_t base = 0;

        st->is_known &= st->reader->frame(st->reader->context, &base);
        operand += base;
    }
    st->is_address = op != ISA_OP_CONSTU;
    st->stack[st->depth++] = operand;
    return true;
}

static void dereference(struct state *st, unsigned bytes)
{
    uint8_t raw[8] = {0};

    if (st->reader != NULL)
        st->is_known &= st->reader->read(st->reader->context, st->stack[st->depth - 1], raw, bytes);
    st->stack[st->depth - 1] = lw_get64(raw);
}

static bool apply(struct state *st, unsigned op, uint64_t operand, struct isa_piece *piece)
{
    uint64_t *top;

    if (st->is_value) /* only DW_OP_piece may follow DW_OP_stack_value */
        return false;
    if (op == ISA_OP_ADDR || op == ISA_OP_CONSTU || op == ISA_OP_FBREG)
        return push(st, op, operand, piece);
    if (st->depth == 0)
        return false;
    top = &st->stack[st->depth - 1];
    if (op == ISA_OP_STACK_VALUE) {
        st->is_value = true;
        return true;
    }
    st->is_address = false;
    switch (op) {
    case ISA_OP_DEREF_SIZE: dereference(st, (unsigned)operand); return true;
    case ISA_OP_PLUS_UCONST: *top += operand; return true;
    case ISA_OP_NEG: *top = -*top; return true;
    case ISA_OP_NOT: *top = ~*top; return true;
    default:
        if (st->depth < 2)
            return false;
        st->depth--;
        if (!compute(op, top[-1], top[0], &top[-1]) && st->reader != NULL)
            st->is_known = false;
        return true;
    }
}

/* Evaluates a piece: the operations up to DW_OP_piece or to the end of the expression. Returns false if the expression is
 * invalid. */
static bool evaluate(struct cursor *c, const struct isa_expression_reader *reader, struct isa_piece *piece)
{
    struct state st = {.reader = reader, .is_known = true};
    uint64_t operand;
    unsigned op;

    piece->bytes = UINT32_MAX;
    piece->kind = ISA_PIECE_MISSING;
    while (c->at < c->size) {
        if (!get_op(c, &op, &operand))
            return false;
        if (op == ISA_OP_PIECE) {
            if (operand == 0 || operand >= UINT32_MAX)
                return false;
            piece->bytes = (uint32_t)operand;
            break;
        }
        if (!apply(&st, op, operand, piece))
            return false;
    }
    if (st.depth == 0 || !st.is_known)
        return true; /* the piece is missing, because its location or value is not known */
    if (st.is_value ? piece->bytes != UINT32_MAX && piece->bytes > 8 : st.depth != 1 || !st.is_address)
        return false; /* invalid, because the address of a piece may not be computed */
    piece->kind = st.is_value ? ISA_PIECE_VALUE : ISA_PIECE_MEMORY;
    piece->value = st.stack[st.depth - 1];
    return true;
}

bool isa_expression_next(const uint8_t *ops, uint32_t size, uint32_t *at, const struct isa_expression_reader *reader,
                         struct isa_piece *piece)
{
    struct cursor c = {ops, size, *at};

    if (c.at >= c.size)
        return false;
    piece->offset = *at == 0 ? 0 : piece->offset + piece->bytes;
    if (!evaluate(&c, reader, piece))
        return false;
    *at = c.at;
    return true;
}

bool isa_expression_find(const struct isa_debug *debug, const struct isa_var_location *location, uint32_t byte,
                         const struct isa_expression_reader *reader, struct isa_piece *piece)
{
    const uint8_t *ops = debug->expressions + location->value;

    *piece = (struct isa_piece){0};
    for (uint32_t at = 0; isa_expression_next(ops, location->variable, &at, reader, piece);)
        if (byte - piece->offset < piece->bytes)
            return piece->kind != ISA_PIECE_MISSING;
    return false;
}

bool isa_expression_ok(const uint8_t *ops, uint32_t size)
{
    struct isa_piece piece = {0};
    uint32_t at = 0;
    uint64_t end = 0;

    while (at < size) {
        if (!isa_expression_next(ops, size, &at, NULL, &piece))
            return false;
        end += piece.bytes;
        if (piece.bytes == UINT32_MAX ? piece.offset != 0 || at != size : end > ISA_EXPRESSION_BYTES)
            return false;
    }
    return size != 0;
}
