/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lint of wait counters. The lint follows all paths of a function that contains `waitcnt`, and finds each register that is
 * used before a `waitcnt` covers its pending load or store. A function without `waitcnt` counts as compiled code, in which waits
 * are implied.
 *
 * The state of a register describes the operations that are pending for it. Vector memory operations end in order, and so do
 * shared memory operations. For these operations, the state (`vm`, `shared`) is 1 + the number of younger operations of the same
 * counter, because a counter value of N means that all but the N youngest operations have ended. Scalar loads end in any order,
 * so only a count of 0 covers them; while a scalar load is pending, only a count of 0 covers shared memory operations. `exp`
 * describes a store that may not have read the register yet. At an instruction where paths join, the state with the younger
 * operation is used, because this operation needs the longer wait. Source: Southern Islands ISA manual, section 4.4.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isa/isa.h"

enum { YOUNGEST = 1, OLDEST = 200 }; /* Age of an operation: 1 + number of younger operations of the same counter; 0: no operation
                                      * is pending. */

struct pending {
    uint8_t vm, shared, exp;
    bool scalar;
    uint32_t load, store; /* the instructions of the pending load and store */
};
struct state {
    struct pending of[ISA_REG_NUMBERS];
    bool reached, mixed; /* reached: control reaches the instruction; mixed: a scalar load was issued after the last wait for
                          * lgkmcnt 0 */
};
struct lint {
    const struct isa_object *object;
    const struct isa_function *function;
    struct isa_insn *insn;
    struct state *in; /* states at the instructions that are targets of jumps */
    uint32_t *block; /* [instruction] 1 + index of its state in `in`; 0: control reaches the instruction only from the preceding
                      * one */
    bool *queued, *wrong;
    uint32_t blocks;
    unsigned findings;
    struct lw_sink *out;
    struct lw_error *err;
};

enum counted { NOT_COUNTED, VECTOR_MEMORY, SHARED_MEMORY, SCALAR_LOAD };

static enum counted counted_by(const struct isa_insn *insn, const struct isa_op_info *info)
{
    if ((info->flags & ISA_F_MEMORY) == 0)
        return NOT_COUNTED;
    switch (insn->op) {
    case ISA_LD_SHARED: case ISA_ST_SHARED: case ISA_ATOM_SHARED: case ISA_RED_SHARED: case ISA_LDMATRIX:
        return SHARED_MEMORY;
    default:
        return (info->flags & ISA_F_SCALAR) != 0 ? SCALAR_LOAD : VECTOR_MEMORY;
    }
}

/** If age @other is younger than *@age, sets *@age to @other and *@which to the instruction @its, and returns true. */
static bool younger(uint8_t *age, uint8_t other, uint32_t *which, uint32_t its)
{
    if (other == 0 || (*age != 0 && *age <= other))
        return false;
    *age = other;
    *which = its;
    return true;
}

static bool merge(struct state *into, const struct state *from)
{
    bool changed = !into->reached || (from->mixed && !into->mixed);

    for (unsigned r = 0; r < ISA_REG_NUMBERS; r++) {
        struct pending *p = &into->of[r];
        const struct pending *q = &from->of[r];

        changed |= younger(&p->vm, q->vm, &p->load, q->load);
        changed |= younger(&p->shared, q->shared, &p->load, q->load);
        changed |= younger(&p->exp, q->exp, &p->store, q->store);
        if (q->scalar && !p->scalar) {
            p->scalar = changed = true;
            p->load = q->load;
        }
    }
    into->mixed |= from->mixed;
    into->reached = true;
    return changed;
}

static void finding(struct lint *lint, uint32_t i, const char *what, unsigned number, uint32_t by)
{
    static const char *const names[] = { "v", "s", "p", "sp", "b" };
    static const uint16_t first[] = { 0, 256, 384, 392, 400 };
    unsigned c = number < 256 ? 0 : number < 384 ? 1 : number < 392 ? 2 : number < 400 ? 3 : 4;
    const struct isa_line *row = isa_object_line_at(lint->object, lint->function->first + i);
    bool known = row != NULL && row->file < lint->object->file_count && row->line != 0;
    char line[24] = "";
    struct lw_error one;

    if (lint->wrong[i])
        return;
    lint->wrong[i] = true;
    lint->findings++;
    if (known)
        snprintf(line, sizeof line, ":%u: ", row->line);
    (void)LW_FAIL(&one, LW_EFORMAT, "%s%s%s+0x%x: %s: no waitcnt waits until %s%u %s %s+0x%x",
                  known ? lint->object->files[row->file] : "",
                  line, lint->function->name, 16 * i, isa_op_info((enum isa_op)lint->insn[i].op)->mnemonic, names[c],
                  number - first[c], what, lint->function->name, 16 * by);
    if (lint->findings == 1 && lint->err != NULL)
        *lint->err = one;
    if (lint->out != NULL)
        lw_printf(lint->out, "%s\n", one.text);
}

static void wait_for(struct state *s, uint32_t x)
{
    unsigned vm = isa_x_vmcnt(x), exp = isa_x_expcnt(x), lgkm = isa_x_lgkmcnt(x);

    for (unsigned r = 0; r < ISA_REG_NUMBERS; r++) {
        struct pending *p = &s->of[r];

        if (vm != ISA_WAIT_ANY && p->vm > vm)
            p->vm = 0;
        if (exp != ISA_WAIT_EXP_ANY && p->exp > exp)
            p->exp = 0;
        if (lgkm == 0 || (lgkm != ISA_WAIT_ANY && !s->mixed && p->shared > lgkm))
            p->shared = 0;
        if (lgkm == 0)
            p->scalar = false;
    }
    s->mixed = s->mixed && lgkm != 0;
}

static void older(uint8_t *age)
{
    *age = (uint8_t)(*age == 0 || *age >= OLDEST ? *age : *age + 1);
}

/* A later instruction with the same counter may write the register of a pending load, because results of one counter are written
 * in order. */
static void check_uses(struct lint *lint, uint32_t i, enum counted counted, const struct state *s, const struct isa_reg_use *use,
                       unsigned count)
{
    for (unsigned u = 0; u < count; u++)
        for (unsigned k = 0; k < use[u].count; k++) {
            unsigned r = isa_reg_number(&use[u]) + k;
            const struct pending *p = &s->of[r];

            if (p->scalar || (p->vm != 0 && !(use[u].written && counted == VECTOR_MEMORY)) ||
                (p->shared != 0 && !(use[u].written && counted == SHARED_MEMORY)))
                finding(lint, i, "has the result of", r, p->load);
            if (use[u].written && p->exp != 0)
                finding(lint, i, "was read by", r, p->store);
        }
}

/** Updates the pending operations after a memory instruction. */
static void count(const struct isa_insn *insn, uint32_t i, enum counted counted, struct state *s, const struct isa_reg_use *use, unsigned uses)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    bool stores = counted == VECTOR_MEMORY && (info->flags & ISA_F_STORE) != 0;
    bool address = isa_op_has(info, ISA_TOK_MA) && insn->a != ISA_VZ; /* an address register is read at issue, so its next write
                                                                       * need not wait for expcnt */

    for (unsigned r = 0; r < ISA_REG_NUMBERS && counted != SCALAR_LOAD; r++) {
        older(counted == VECTOR_MEMORY ? &s->of[r].vm : &s->of[r].shared);
        if (stores)
            older(&s->of[r].exp);
    }
    s->mixed |= counted == SCALAR_LOAD;
    for (unsigned u = 0; u < uses; u++) {
        bool data = use[u].reg_class == ISA_REG_V && !use[u].written && !address;

        address = address && (use[u].reg_class != ISA_REG_V || use[u].written);
        for (unsigned k = 0; k < use[u].count; k++) {
            struct pending *p = &s->of[isa_reg_number(&use[u]) + k];

            if (use[u].written) {
                p->vm = counted == VECTOR_MEMORY ? YOUNGEST : 0;
                p->shared = counted == SHARED_MEMORY ? YOUNGEST : 0;
                p->scalar = counted == SCALAR_LOAD;
                p->load = i;
            } else if (stores && data) {
                p->exp = YOUNGEST;
                p->store = i;
            }
        }
    }
}

static void step(struct lint *lint, uint32_t i, struct state *s)
{
    const struct isa_insn *insn = &lint->insn[i];
    enum counted counted = counted_by(insn, isa_op_info((enum isa_op)insn->op));
    struct isa_reg_use use[ISA_MAX_USES];
    unsigned uses = isa_insn_uses(insn, use);

    if (insn->op == ISA_WAITCNT) {
        if (insn->guard == ISA_PT) /* with any other guard, some lanes may not wait */
            wait_for(s, insn->x);
        return;
    }
    check_uses(lint, i, counted, s, use, uses);
    if (counted != NOT_COUNTED)
        count(insn, i, counted, s, use, uses);
    else /* the instruction overwrites registers, which are no longer pending: a missing wait was reported above */
        for (unsigned u = 0; u < uses; u++)
            for (unsigned k = 0; use[u].written && k < use[u].count; k++)
                s->of[isa_reg_number(&use[u]) + k] = (struct pending){.vm = 0};
}

static void go_to(struct lint *lint, uint32_t to, const struct state *s)
{
    if (to < lint->function->count && merge(&lint->in[lint->block[to] - 1], s))
        lint->queued[to] = true;
}

static void follow(struct lint *lint, uint32_t from, struct state *s)
{
    const struct isa_function *f = lint->function;
    int64_t to;

    *s = lint->in[lint->block[from] - 1];
    for (uint32_t at = from; at < f->count; at++) {
        if (at != from && lint->block[at] != 0) {
            go_to(lint, at, s);
            return;
        }
        step(lint, at, s);
        if (isa_insn_jumps(&lint->insn[at], at, &to) && to >= 0)
            go_to(lint, (uint32_t)to, s);
        if (isa_insn_ends(&lint->insn[at]))
            return;
    }
}

/** Decodes the function, and marks the targets of jumps. *@has is set to true if the function contains a `waitcnt`. */
static enum lw_status decode(struct lint *lint, bool *has)
{
    const struct isa_function *f = lint->function;
    int64_t to;

    for (uint32_t i = 0; i < f->count; i++) {
        if (!isa_insn_decode(lint->object->text[f->first + i], &lint->insn[i]))
            return LW_FAIL(lint->err, LW_EFORMAT, "%s+0x%x: the word is not an instruction", f->name, 16 * i);
        *has |= lint->insn[i].op == ISA_WAITCNT;
        lint->block[i] |= i == 0;
        if (isa_insn_jumps(&lint->insn[i], i, &to) && to >= 0 && to < f->count)
            lint->block[to] = 1;
    }
    for (uint32_t i = 0; i < f->count; i++)
        if (lint->block[i] != 0)
            lint->block[i] = ++lint->blocks;
    return LW_OK;
}

static enum lw_status check_function(struct lint *lint)
{
    const struct isa_function *f = lint->function;
    struct state *s = calloc(1, sizeof *s);
    enum lw_status status = LW_OK;
    bool has = false, more = true;

    lint->insn = calloc(f->count + 1, sizeof *lint->insn);
    lint->block = calloc(f->count + 1, sizeof *lint->block);
    lint->queued = calloc(f->count + 1, sizeof *lint->queued);
    lint->wrong = calloc(f->count + 1, sizeof *lint->wrong);
    if (s == NULL || lint->insn == NULL || lint->block == NULL || lint->queued == NULL || lint->wrong == NULL)
        status = LW_FAIL(lint->err, LW_ENOMEM, "the host has no memory to check waitcnt instructions");
    if (status == LW_OK)
        status = decode(lint, &has);
    if (status != LW_OK || !has)
        goto cleanup;
    lint->in = calloc(lint->blocks, sizeof *lint->in);
    if (lint->in == NULL) {
        status = LW_FAIL(lint->err, LW_ENOMEM, "the host has no memory to check waitcnt instructions");
        goto cleanup;
    }
    go_to(lint, 0, s);
    while (more) {
        more = false;
        for (uint32_t i = 0; i < f->count; i++)
            if (lint->queued[i]) {
                lint->queued[i] = false;
                more = true;
                follow(lint, i, s);
            }
    }
cleanup:
    free(s);
    free(lint->insn);
    free(lint->block);
    free(lint->queued);
    free(lint->wrong);
    free(lint->in);
    return status;
}

enum lw_status isa_waitcnt_count(const struct isa_object *object, unsigned *findings, struct lw_sink *out, struct lw_error *err)
{
    *findings = 0;
    for (unsigned i = 0; i < object->function_count; i++) {
        struct lint lint = {.object = object, .function = &object->functions[i], .findings = *findings, .out = out, .err = err};
        enum lw_status status = check_function(&lint);

        if (status != LW_OK)
            return status;
        *findings = lint.findings;
    }
    return *findings == 0 ? LW_OK : LW_EFORMAT;
}
