/* SPDX-License-Identifier: Apache-2.0 */
/* Parses mini programs and evaluates their expressions. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/emu/simt/split_program.h"

struct reader {
    struct sm_program *p;
    const char *at, *end;
    bool bad;
};

static void skip(struct reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
}
static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}
static bool take(struct reader *r, const char *token)
{
    size_t n = strlen(token);

    skip(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, token, n) != 0)
        return false;
    if (word_char(token[0]) && r->at + n < r->end && word_char(r->at[n]))
        return false;
    r->at += n;
    return true;
}
static bool read_name(struct reader *r, char *out)
{
    size_t n = 0;

    skip(r);
    while (r->at + n < r->end && word_char(r->at[n]))
        n++;
    if (n == 0 || n >= SM_NAME)
        return false;
    memcpy(out, r->at, n);
    out[n] = '\0';
    r->at += n;
    return true;
}
int sm_reg_index(struct sm_program *p, const char *name)
{
    for (unsigned i = 0; i < p->reg_count; i++)
        if (strcmp(p->reg[i], name) == 0)
            return (int)i;
    if (p->reg_count == SM_REGS)
        return -1;
    memcpy(p->reg[p->reg_count], name, strlen(name) + 1);
    return (int)p->reg_count++;
}
static int new_node(struct reader *r, enum sm_kind kind, int a, int b, int c, int64_t value)
{
    struct sm_program *p = r->p;

    if (!lw_grow(&p->node, &p->node_capacity, p->node_count + 1, sizeof *p->node))
        abort();
    p->node[p->node_count] = (struct sm_node){kind, a, b, c, value};
    return (int)p->node_count++;
}

static int read_if(struct reader *r);

static int read_primary(struct reader *r)
{
    char name[SM_NAME];
    int a, b;

    skip(r);
    if (take(r, "(")) {
        a = read_if(r);
        r->bad |= !take(r, ")");
        return a;
    }
    if (take(r, "-"))
        return new_node(r, K_NEG, read_primary(r), 0, 0, 0);
    if (take(r, "~"))
        return new_node(r, K_INV, read_primary(r), 0, 0, 0);
    if (r->at < r->end && isdigit((unsigned char)*r->at)) {
        char *end;
        unsigned long long v = strtoull(r->at, &end, 0);
        r->at = end;
        return new_node(r, K_CONST, 0, 0, 0, (int64_t)v);
    }
    if (!read_name(r, name)) {
        r->bad = true;
        return new_node(r, K_CONST, 0, 0, 0, 0);
    }
    if (strcmp(name, "mix") == 0) {
        r->bad |= !take(r, "(");
        a = read_if(r);
        r->bad |= !take(r, ",");
        b = read_if(r);
        r->bad |= !take(r, ")");
        return new_node(r, K_MIX, a, b, 0, 0);
    }
    for (size_t i = 0; i < r->p->label_count; i++)
        if (strcmp(r->p->label[i].name, name) == 0)
            return new_node(r, K_CONST, 0, 0, 0, r->p->label[i].at);
    a = sm_reg_index(r->p, name);
    r->bad |= a < 0;
    return new_node(r, K_REG, a, 0, 0, 0);
}

static const struct {
    const char *token;
    enum sm_kind kind;
    int level;
} binary[] = {
    {"or", K_OR, 1},   {"and", K_AND, 2}, {"==", K_EQ, 4},  {"!=", K_NE, 4},  {"<=", K_LE, 4},
    {">=", K_GE, 4},   {"<<", K_SHL, 8},  {">>", K_SHR, 8}, {"<", K_LT, 4},   {">", K_GT, 4},
    {"|", K_BOR, 5},   {"^", K_XOR, 6},   {"&", K_BAND, 7}, {"+", K_ADD, 9},  {"-", K_SUB, 9},
    {"//", K_DIV, 10}, {"*", K_MUL, 10},  {"%", K_MOD, 10},
};

static int read_binary(struct reader *r, int level)
{
    int left;

    if (level == 3 && take(r, "not"))
        return new_node(r, K_NOT, read_binary(r, 3), 0, 0, 0);
    if (level > 10)
        return read_primary(r);
    left = read_binary(r, level + 1);
    for (;;) {
        size_t i;
        for (i = 0; i < LW_COUNT_OF(binary); i++) {
            const char *start = r->at;
            if (!take(r, binary[i].token))
                continue;
            if (binary[i].level == level)
                break;
            r->at = start; /* the operator has another precedence, so the caller parses it */
            return left;
        }
        if (i == LW_COUNT_OF(binary))
            return left;
        left = new_node(r, binary[i].kind, left, read_binary(r, level + 1), 0, 0);
    }
}

static int read_if(struct reader *r)
{
    int yes = read_binary(r, 1), cond;

    if (!take(r, "if"))
        return yes;
    cond = read_binary(r, 1);
    r->bad |= !take(r, "else");
    return new_node(r, K_IF, cond, yes, read_if(r), 0);
}

static int read_expression(struct reader *r, const char *from, const char *to)
{
    struct reader sub = {.p = r->p, .at = from, .end = to};
    int e = read_if(&sub);

    skip(&sub);
    r->bad |= sub.bad || sub.at != sub.end;
    return e;
}

/** Texts of the operands of an instruction, which commas outside brackets separate. */
struct operands {
    const char *from[6], *to[6];
    unsigned count;
};
static struct operands read_operands(const char *at, const char *end)
{
    struct operands o = {.count = 0};
    int depth = 0;
    const char *start = at;

    for (; at <= end; at++) {
        if (at < end && (*at == '(' || *at == '['))
            depth++;
        else if (at < end && (*at == ')' || *at == ']'))
            depth--;
        else if ((at == end || *at == ',') && depth <= 0 && o.count < 6) {
            const char *to = at;
            while (start < to && isspace((unsigned char)*start))
                start++;
            while (to > start && isspace((unsigned char)to[-1]))
                to--;
            if (to > start) {
                o.from[o.count] = start;
                o.to[o.count++] = to;
            }
            start = at + 1;
        }
    }
    return o;
}
static int barrier_number(const struct operands *o, unsigned i)
{
    size_t n = (size_t)(o->to[i] - o->from[i]);

    if (n < 2 || n > 3 || o->from[i][0] != 'b' || !isdigit((unsigned char)o->from[i][1]) ||
        !isdigit((unsigned char)o->to[i][-1]))
        return -1;
    return atoi(o->from[i] + 1);
}
static int operand_register(struct reader *r, const struct operands *o, unsigned i)
{
    char name[SM_NAME];
    struct reader sub = {.p = r->p, .at = o->from[i], .end = o->to[i]};
    int reg;

    if (!read_name(&sub, name) || sub.at != sub.end || (reg = sm_reg_index(r->p, name)) < 0) {
        r->bad = true;
        return 0;
    }
    return reg;
}
static int operand_value(struct reader *r, const struct operands *o, unsigned i)
{
    if (*o->from[i] == '[')
        return read_expression(r, o->from[i] + 1, o->to[i] - 1);
    return read_expression(r, o->from[i], o->to[i]);
}
static uint32_t operand_label(struct reader *r, const struct operands *o, unsigned i)
{
    size_t n = (size_t)(o->to[i] - o->from[i]);

    for (size_t k = 0; k < r->p->label_count; k++)
        if (strlen(r->p->label[k].name) == n && memcmp(r->p->label[k].name, o->from[i], n) == 0)
            return r->p->label[k].at;
    r->bad = true;
    return 0;
}

static const struct {
    const char *name;
    enum sm_op op;
    unsigned low, high; /* least and greatest number of operands */
} mnemonics[] = {
    {"nop", NOP, 0, 0},       {"mov", MOV, 2, 2},         {"push", PUSH, 1, 1},
    {"pop", POP, 1, 1},       {"ld", LD, 2, 2},           {"st", ST, 2, 2},
    {"red", RED, 2, 2},       {"cas", CAS, 2, 2},         {"bra", BRA, 1, 3},
    {"call", CALL, 1, 2},     {"ret", RET, 0, 0},         {"exit", EXIT, 0, 0},
    {"bssy", BSSY, 2, 2},     {"bsync", BSYNC, 1, 1},     {"bsync.soft", BSYNC, 1, 1},
    {"bbreak", BBREAK, 1, 1}, {"yield", YIELD, 0, 0},     {"warpsync", WARPSYNC, 1, 1},
    {"bar", BAR, 1, 2},       {"bar.arrive", ARRIVE, 1, 2}, {"scalar", SCALAR, 0, 0},
    {"nanosleep", SLEEP, 1, 1}, {"sync", SYNC, 2, 2},
};

static void read_instruction(struct reader *r, const char *at, const char *end, struct sm_ins *i)
{
    const char *start;
    struct operands o;
    size_t n, k;

    *i = (struct sm_ins){.d = -1, .a = -1, .x = -1, .guard = -1, .bar = -1};
    if (*at == '@') {
        int depth = 0;
        start = ++at;
        while (at < end && (depth > 0 || !isspace((unsigned char)*at))) {
            depth += (*at == '(') - (*at == ')');
            at++;
        }
        i->guard = read_expression(r, start, at);
        while (at < end && isspace((unsigned char)*at))
            at++;
    }
    start = at;
    while (at < end && !isspace((unsigned char)*at))
        at++;
    n = (size_t)(at - start);
    for (k = 0; k < LW_COUNT_OF(mnemonics); k++)
        if (strlen(mnemonics[k].name) == n && memcmp(mnemonics[k].name, start, n) == 0)
            break;
    o = read_operands(at, end);
    if (k == LW_COUNT_OF(mnemonics) || o.count < mnemonics[k].low || o.count > mnemonics[k].high) {
        r->bad = true;
        return;
    }
    i->op = mnemonics[k].op;
    snprintf(i->name, sizeof i->name, "%s", mnemonics[k].name);
    i->soft = strcmp(i->name, "bsync.soft") == 0;
    switch (i->op) {
    case BRA:
        if (o.count > 1 && barrier_number(&o, o.count - 1) >= 0)
            i->bar = barrier_number(&o, --o.count);
        i->target = operand_label(r, &o, o.count - 1);
        if (o.count > 1)
            i->guard = operand_value(r, &o, 0);
        break;
    case CALL:
        if (o.count > 1)
            i->bar = barrier_number(&o, 1);
        i->x = operand_value(r, &o, 0);
        break;
    case WARPSYNC:
    case SLEEP:
        i->x = operand_value(r, &o, 0);
        break;
    case BSSY:
    case BSYNC:
    case BBREAK:
        i->bar = barrier_number(&o, 0);
        r->bad |= i->bar < 0 || i->bar >= ISA_BREG_COUNT;
        if (i->op == BSSY)
            i->target = operand_label(r, &o, 1);
        break;
    case MOV:
        if (barrier_number(&o, 1) >= 0) {
            i->op = TAKE;
            i->d = operand_register(r, &o, 0);
            i->bar = barrier_number(&o, 1);
        } else if (barrier_number(&o, 0) >= 0) {
            i->op = GIVE;
            i->bar = barrier_number(&o, 0);
            i->x = operand_value(r, &o, 1);
        } else {
            i->d = operand_register(r, &o, 0);
            i->x = operand_value(r, &o, 1);
        }
        break;
    case LD:
    case CAS:
    case SYNC:
        i->d = operand_register(r, &o, 0);
        i->x = operand_value(r, &o, 1);
        break;
    case ST:
    case RED:
        i->a = operand_value(r, &o, 0);
        i->x = operand_value(r, &o, 1);
        break;
    case PUSH:
    case POP:
        i->d = operand_register(r, &o, 0);
        break;
    case BAR:
    case ARRIVE:
        i->bar = atoi(o.from[0]);
        r->bad |= i->bar < 0 || i->bar >= ISA_CTA_BARRIER_COUNT;
        i->label = o.count > 1 ? atoi(o.from[1]) : -1; /* the count */
        break;
    default:
        break;
    }
}

void sm_program_free(struct sm_program *program)
{
    if (program == NULL)
        return;
    free(program->ins);
    free(program->node);
    free(program->label);
    free(program);
}

struct sm_program *sm_parse(const char *text, size_t size, struct lw_error *err)
{
    struct sm_program *p = calloc(1, sizeof *p);
    struct reader r = {.p = p};

    if (p == NULL)
        abort();
    sm_reg_index(p, "t");
    sm_reg_index(p, "lane");
    sm_reg_index(p, "warp");
    for (int pass = 0; pass < 2; pass++) { /* the first pass defines the labels */
        const char *at = text, *end = text + size;
        uint32_t pc = 0;
        while (at < end) {
            const char *stop = at, *from, *to;
            while (stop < end && *stop != '\n' && *stop != ';' && *stop != '#')
                stop++;
            from = at;
            to = stop;
            if (stop < end && *stop == '#')
                while (stop < end && *stop != '\n')
                    stop++;
            at = stop + 1;
            for (;;) { /* labels */
                const char *q;
                while (from < to && isspace((unsigned char)*from))
                    from++;
                q = from;
                while (q < to && word_char(*q))
                    q++;
                if (q == from || q >= to || *q != ':' || (size_t)(q - from) >= SM_NAME)
                    break;
                if (pass == 0) {
                    if (!lw_grow(&p->label, &p->label_capacity, p->label_count + 1,
                                 sizeof *p->label))
                        abort();
                    struct sm_label *l = &p->label[p->label_count++];
                    memcpy(l->name, from, (size_t)(q - from));
                    l->name[q - from] = '\0';
                    l->at = pc;
                }
                from = q + 1;
            }
            while (to > from && isspace((unsigned char)to[-1]))
                to--;
            if (from == to)
                continue;
            if (*from == '.') {
                sscanf(from, ".lanes %u", &p->lanes);
                sscanf(from, ".warps %u", &p->warps);
                sscanf(from, ".threads %u", &p->threads);
                continue;
            }
            pc++;
            if (pass == 0)
                continue;
            if (!lw_grow(&p->ins, &p->capacity, p->count + 1, sizeof *p->ins))
                abort();
            read_instruction(&r, from, to, &p->ins[p->count++]);
            if (r.bad) {
                lw_fail(err, LW_EFORMAT, "cannot read: %.*s", (int)(to - from), from);
                sm_program_free(p);
                return NULL;
            }
        }
    }
    return p;
}

/* ---- values ------------------------------------------------------------------------- */

static uint32_t mix(int64_t x, int64_t y)
{
    uint64_t a = ((uint64_t)x ^ ((uint64_t)y + 0x9E3779B9u)) * 0x85EBCA6Bu & 0xFFFFFFFFu;

    a = (a ^ a >> 13) * 0xC2B2AE35u & 0xFFFFFFFFu;
    return (uint32_t)(a ^ a >> 16);
}

int64_t sm_value(const struct sm_program *p, const int64_t *r, int e)
{
    const struct sm_node *n = &p->node[e];
    int64_t a, b;

    switch (n->kind) {
    case K_CONST:
        return n->value;
    case K_REG:
        return r[n->a];
    case K_IF:
        return sm_value(p, r, n->a) ? sm_value(p, r, n->b) : sm_value(p, r, n->c);
    case K_OR:
        a = sm_value(p, r, n->a);
        return a ? a : sm_value(p, r, n->b);
    case K_AND:
        a = sm_value(p, r, n->a);
        return a ? sm_value(p, r, n->b) : a;
    case K_NOT:
        return !sm_value(p, r, n->a);
    case K_NEG:
        return (int64_t)(0 - (uint64_t)sm_value(p, r, n->a));
    case K_INV:
        return ~sm_value(p, r, n->a);
    default:
        break;
    }
    a = sm_value(p, r, n->a);
    b = sm_value(p, r, n->b);
    switch (n->kind) {
    case K_MIX: return mix(a, b);
    case K_EQ: return a == b;
    case K_NE: return a != b;
    case K_LT: return a < b;
    case K_LE: return a <= b;
    case K_GT: return a > b;
    case K_GE: return a >= b;
    case K_BOR: return a | b;
    case K_XOR: return a ^ b;
    case K_BAND: return a & b;
    case K_SHL: return (int64_t)((uint64_t)a << (b & 63));
    case K_SHR: return a >> (b & 63);
    case K_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case K_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
    case K_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case K_DIV: return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
    case K_MOD: return b == 0 ? 0 : a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    default: return 0;
    }
}
