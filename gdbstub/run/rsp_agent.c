/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gdb's agent expressions: conditions that gdb compiles to bytecode and the stub evaluates, once for each
 * active lane, so that a false condition needs no packets.
 *
 * Source: gdb manual, appendix "The GDB Agent Expression Mechanism". Constants in the bytecode are big-endian and
 * not sign-extended; values in memory are little-endian. The operations on floats are an extension that only the Python
 * file uses, as gdb compiles no floats. On the stack a float or double is represented by the bits of the double with the
 * same value.
 */
#include "gdbstub/rsp_priv.h"

enum { STACK_DEPTH = 64, MAX_STEPS = 4096 };

enum opcode {
    OP_ADD = 0x02, OP_SUB, OP_MUL, OP_DIV_SIGNED, OP_DIV_UNSIGNED, OP_REM_SIGNED,
    OP_REM_UNSIGNED, OP_LSH, OP_RSH_SIGNED, OP_RSH_UNSIGNED,
    OP_TRACE = 0x0c, OP_TRACE_QUICK = 0x0d,
    OP_LOG_NOT = 0x0e, OP_BIT_AND, OP_BIT_OR, OP_BIT_XOR, OP_BIT_NOT, OP_EQUAL,
    OP_LESS_SIGNED, OP_LESS_UNSIGNED, OP_EXT, OP_REF8, OP_REF16, OP_REF32, OP_REF64,
    OP_IF_GOTO = 0x20, OP_GOTO, OP_CONST8, OP_CONST16, OP_CONST32, OP_CONST64, OP_REG,
    OP_END, OP_DUP, OP_POP, OP_ZERO_EXT, OP_SWAP,
    OP_PICK = 0x32, OP_ROT, OP_PRINTF,
    OP_F_ADD = 0x80, OP_F_SUB, OP_F_MUL, OP_F_DIV, OP_F_EQUAL, OP_F_LESS,
    OP_F_WIDEN,    /* converts the bits of a 4-byte float to a double */
    OP_F_NARROW,   /* rounds a double to a 4-byte float */
    OP_F_FROM,     /* converts a signed integer to a double */
    OP_F_FROM_NARROW /* converts a signed integer to a double that is rounded to a 4-byte float */
};

struct state {
    const uint8_t *code;
    size_t size, at;
    uint64_t stack[STACK_DEPTH];
    unsigned depth;
    const struct rsp_agent_ops *ops;
    void *context;
};

static bool operand(struct state *s, unsigned bytes, uint64_t *out)
{
    uint64_t value = 0;

    if (s->size - s->at < bytes)
        return false;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | s->code[s->at++];
    *out = value;
    return true;
}

static bool push(struct state *s, uint64_t value)
{
    if (s->depth == STACK_DEPTH)
        return false;
    s->stack[s->depth++] = value;
    return true;
}

static bool divide(enum opcode op, uint64_t a, uint64_t b, uint64_t *out)
{
    if (b == 0)
        return false;
    if (op == OP_DIV_UNSIGNED || op == OP_REM_UNSIGNED) {
        *out = op == OP_DIV_UNSIGNED ? a / b : a % b;
        return true;
    }
    if (b == UINT64_MAX) { /* a divisor of -1: in C, INT64_MIN / -1 would overflow */
        *out = op == OP_DIV_SIGNED ? 0 - a : 0;
        return true;
    }
    *out = op == OP_DIV_SIGNED ? (uint64_t)((int64_t)a / (int64_t)b)
                               : (uint64_t)((int64_t)a % (int64_t)b);
    return true;
}

static uint64_t shift_right_signed(uint64_t a, uint64_t b)
{
    unsigned n = b > 63 ? 63 : (unsigned)b;
    uint64_t sign = a >> 63 ? ~(~UINT64_C(0) >> n) : 0;

    return a >> n | sign;
}

static bool binary(enum opcode op, uint64_t a, uint64_t b, uint64_t *out)
{
    switch (op) {
    case OP_ADD: *out = a + b; return true;
    case OP_SUB: *out = a - b; return true;
    case OP_MUL: *out = a * b; return true;
    case OP_DIV_SIGNED:
    case OP_DIV_UNSIGNED:
    case OP_REM_SIGNED:
    case OP_REM_UNSIGNED: return divide(op, a, b, out);
    case OP_LSH: *out = b > 63 ? 0 : a << b; return true;
    case OP_RSH_SIGNED: *out = shift_right_signed(a, b); return true;
    case OP_RSH_UNSIGNED: *out = b > 63 ? 0 : a >> b; return true;
    case OP_BIT_AND: *out = a & b; return true;
    case OP_BIT_OR: *out = a | b; return true;
    case OP_BIT_XOR: *out = a ^ b; return true;
    case OP_EQUAL: *out = a == b; return true;
    case OP_LESS_SIGNED: *out = (int64_t)a < (int64_t)b; return true;
    case OP_LESS_UNSIGNED: *out = a < b; return true;
    default: return false;
    }
}

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t float_binary(enum opcode op, double a, double b)
{
    switch (op) {
    case OP_F_ADD: return bits_of(a + b);
    case OP_F_SUB: return bits_of(a - b);
    case OP_F_MUL: return bits_of(a * b);
    case OP_F_DIV: return bits_of(a / b);
    case OP_F_EQUAL: return a == b;
    default: return a < b;
    }
}

static uint64_t float_convert(enum opcode op, uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float narrow;

    switch (op) {
    case OP_F_WIDEN:
        memcpy(&narrow, &word, sizeof narrow);
        return bits_of((double)narrow);
    case OP_F_NARROW: return bits_of((double)(float)double_of(bits));
    case OP_F_FROM: return bits_of((double)(int64_t)bits);
    default: return bits_of((double)(float)(int64_t)bits);
    }
}

static bool load(struct state *s, unsigned bytes)
{
    uint8_t data[8] = {0};

    if (s->depth == 0 ||
        !s->ops->memory(s->context, s->stack[s->depth - 1], data, bytes))
        return false;
    s->stack[s->depth - 1] = lw_get64(data);
    return true;
}

static bool extend(struct state *s, bool sign)
{
    uint64_t bits;

    if (!operand(s, 1, &bits) || s->depth == 0 || bits == 0)
        return false;
    if (bits < 64) {
        uint64_t value = s->stack[s->depth - 1] & lw_mask((unsigned)bits);

        if (sign && value >> (bits - 1) & 1)
            value |= ~lw_mask((unsigned)bits);
        s->stack[s->depth - 1] = value;
    }
    return true;
}

static bool jump(struct state *s, bool conditional)
{
    uint64_t target;

    if (!operand(s, 2, &target))
        return false;
    if (conditional) {
        if (s->depth == 0)
            return false;
        if (s->stack[--s->depth] == 0)
            return true;
    }
    if (target >= s->size)
        return false;
    s->at = (size_t)target;
    return true;
}

static bool shuffle(struct state *s, enum opcode op)
{
    uint64_t *top = s->stack + s->depth;
    uint64_t n, value;

    switch (op) {
    case OP_SWAP:
        if (s->depth < 2)
            return false;
        value = top[-1];
        top[-1] = top[-2];
        top[-2] = value;
        return true;
    case OP_ROT: /* the three top values of the stack, a b c, become c a b */
        if (s->depth < 3)
            return false;
        value = top[-1];
        top[-1] = top[-2];
        top[-2] = top[-3];
        top[-3] = value;
        return true;
    default:
        return operand(s, 1, &n) && n < s->depth && push(s, top[-1 - (ptrdiff_t)n]);
    }
}

/* Executes printf, whose operands are the number of arguments, the length of the format, and the format with its
 * terminating zero. The stack has the arguments, the first on top, and above them a function and a channel, which are
 * dropped: gdb uses them only for other styles of dprintf. Returns false if the operands are not valid, or if this
 * evaluation cannot print. */
static bool print(struct state *s)
{
    uint64_t count, length, args[STACK_DEPTH];
    const char *format;

    if (s->ops->print == NULL || !operand(s, 1, &count) || !operand(s, 2, &length) ||
        length == 0 || length > s->size - s->at || s->code[s->at + length - 1] != '\0' ||
        s->depth < 2 || s->depth - 2 < count)
        return false;
    format = (const char *)s->code + s->at;
    s->at += (size_t)length;
    s->depth -= 2;
    for (uint64_t i = 0; i < count; i++)
        args[i] = s->stack[--s->depth];
    s->ops->print(s->context, format, (size_t)length - 1, args, (unsigned)count);
    return true;
}

/* Executes one bytecode instruction. Sets *@done at the end of the expression. Returns false if the instruction cannot
 * be executed. */
static bool step(struct state *s, bool *done)
{
    enum opcode op = (enum opcode)s->code[s->at++];
    uint64_t value;

    switch (op) {
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV_SIGNED: case OP_DIV_UNSIGNED:
    case OP_REM_SIGNED: case OP_REM_UNSIGNED: case OP_LSH: case OP_RSH_SIGNED:
    case OP_RSH_UNSIGNED: case OP_BIT_AND: case OP_BIT_OR: case OP_BIT_XOR: case OP_EQUAL:
    case OP_LESS_SIGNED: case OP_LESS_UNSIGNED:
        if (s->depth < 2 ||
            !binary(op, s->stack[s->depth - 2], s->stack[s->depth - 1], &value))
            return false;
        s->stack[--s->depth - 1] = value;
        return true;
    case OP_F_ADD: case OP_F_SUB: case OP_F_MUL: case OP_F_DIV: case OP_F_EQUAL: case OP_F_LESS:
        if (s->depth < 2)
            return false;
        s->depth--;
        s->stack[s->depth - 1] = float_binary(op, double_of(s->stack[s->depth - 1]), double_of(s->stack[s->depth]));
        return true;
    case OP_F_WIDEN: case OP_F_NARROW: case OP_F_FROM: case OP_F_FROM_NARROW:
        if (s->depth == 0)
            return false;
        s->stack[s->depth - 1] = float_convert(op, s->stack[s->depth - 1]);
        return true;
    case OP_LOG_NOT:
    case OP_BIT_NOT:
        if (s->depth == 0)
            return false;
        value = s->stack[s->depth - 1];
        s->stack[s->depth - 1] = op == OP_LOG_NOT ? value == 0 : ~value;
        return true;
    case OP_EXT: return extend(s, true);
    case OP_ZERO_EXT: return extend(s, false);
    case OP_REF8: return load(s, 1);
    case OP_REF16: return load(s, 2);
    case OP_REF32: return load(s, 4);
    case OP_REF64: return load(s, 8);
    case OP_IF_GOTO: return jump(s, true);
    case OP_GOTO: return jump(s, false);
    case OP_CONST8: return operand(s, 1, &value) && push(s, value);
    case OP_CONST16: return operand(s, 2, &value) && push(s, value);
    case OP_CONST32: return operand(s, 4, &value) && push(s, value);
    case OP_CONST64: return operand(s, 8, &value) && push(s, value);
    case OP_REG: {
        uint64_t number;

        return operand(s, 2, &number) &&
               s->ops->reg(s->context, (unsigned)number, &value) && push(s, value);
    }
    case OP_DUP: return s->depth != 0 && push(s, s->stack[s->depth - 1]);
    case OP_POP:
    case OP_TRACE:
        /* A trace instruction collects memory for tracepoints; in a condition it only drops its operands. */
        if (s->depth < (op == OP_TRACE ? 2u : 1u))
            return false;
        s->depth -= op == OP_TRACE ? 2 : 1;
        return true;
    case OP_TRACE_QUICK: return operand(s, 1, &value);
    case OP_SWAP: case OP_ROT: case OP_PICK: return shuffle(s, op);
    case OP_PRINTF: return print(s);
    case OP_END:
        *done = true;
        return true;
    }
    return false;
}

bool rsp_agent_eval(const uint8_t *code, size_t size, const struct rsp_agent_ops *ops,
                    void *context, uint64_t *value)
{
    struct state s = {.code = code, .size = size, .ops = ops, .context = context};
    bool done = false;

    for (unsigned n = 0; n < MAX_STEPS && s.at < s.size; n++) {
        if (!step(&s, &done))
            return false;
        if (done) {
            if (value == NULL)
                return true;
            if (s.depth == 0)
                return false;
            *value = s.stack[s.depth - 1];
            return true;
        }
    }
    return false;
}
