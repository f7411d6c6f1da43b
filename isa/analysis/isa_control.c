/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latencies of functional units, and the lint that checks control fields along all paths. isa_control_fill.c computes control
 * fields. Control fields never change results of a program (MACHINE 5); the timing model and readers of the code use them.
 *
 * Rules for code:
 *  - A result of fixed latency is not read before this latency has passed since issue; an instruction of variable latency must
 *  not read it until one cycle later. The cycles that pass are the sum of the stall counts of the instructions in between (a
 *  stall count of 0 counts as 1). If an instruction ends before an earlier instruction does, the two must not write the same
 *  register.
 *  - An instruction of variable latency names a write barrier. Instructions that read or write its result wait for this barrier.
 *  The sources of the instruction may be overwritten after a wait for its read barrier or, if it names no read barrier, for its
 *  write barrier.
 *  - An instruction must not wait for a barrier until two cycles after the barrier was set.
 *  - There is no rule for convergence barrier registers.
 *  - At calls, returns and indirect branches, no result or source may be pending.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isa/isa.h"

const struct isa_latency *isa_unit_latency(enum isa_unit unit)
{
    static const struct isa_latency latencies[ISA_UNIT_COUNT] = {
        [ISA_UNIT_INT] = { 4, false },   [ISA_UNIT_FP] = { 4, false },
        [ISA_UNIT_DP] = { 8, true },     [ISA_UNIT_SFU] = { 18, true },
        [ISA_UNIT_CVT] = { 10, true },   [ISA_UNIT_MEM] = { 30, true },
        [ISA_UNIT_WARP] = { 20, true },  [ISA_UNIT_SCALAR] = { 4, false },
        [ISA_UNIT_CTRL] = { 4, false },  [ISA_UNIT_SYNC] = { 12, true },
        [ISA_UNIT_TEX] = { 60, true },   [ISA_UNIT_MATRIX] = { 16, true },
    };

    return &latencies[unit];
}

bool isa_op_is_half(const struct isa_op_info *info)
{
    return info->unit == ISA_UNIT_FP && (info->flags & ISA_F_HALF) != 0;
}

struct isa_latency isa_op_latency(const struct isa_op_info *info)
{
    struct isa_latency latency = *isa_unit_latency((enum isa_unit)info->unit);

    latency.cycles = (uint8_t)(latency.cycles + isa_op_is_half(info));
    return latency;
}

unsigned isa_reg_number(const struct isa_reg_use *use)
{
    static const uint16_t first[] = { [ISA_REG_V] = 0, [ISA_REG_S] = 256, [ISA_REG_P] = 384,
                                      [ISA_REG_SP] = 392, [ISA_REG_B] = 400 };

    return first[use->reg_class] + use->first;
}

enum { BARS = 6, LOST = 6, WORDS = ISA_REG_NUMBERS / 64 };

struct state {
    uint64_t written[BARS + 1][WORDS]; /* [barrier] registers whose results are not written yet; when they are written, the
                                        * barrier is released. [LOST]: those whose instruction names no barrier */
    uint64_t read[BARS + 1][WORDS];    /* [barrier] registers whose source values are not read yet; when they are read, the
                                        * barrier is released. [LOST]: those whose instruction names no barrier */
    uint8_t left[ISA_REG_NUMBERS];     /* number of cycles until an instruction of variable latency can read the register's result
                                        * of fixed latency; other instructions can read it one cycle earlier */
    uint8_t fresh;                     /* set of the barriers that were set in the preceding cycle */
};
struct lint {
    const struct isa_object *object;
    const struct isa_function *function;
    struct isa_insn *insn;
    uint32_t *location; /* [instruction] 1 + index in `in` of the state at the start of its block */
    struct state *in;
    uint32_t *work;
    bool *queued;
    uint32_t work_count;
    bool *wrong; /* [instruction] true if a finding about the instruction's control field was recorded */
    unsigned findings; /* number of instructions with a finding, in all functions */
    struct lw_sink *out; /* sink that receives a line for each instruction with a finding, or NULL */
    struct lw_error *err; /* receives the first finding */
};

static bool has(const uint64_t *set, unsigned r)
{
    return set[r / 64] >> r % 64 & 1;
}
static void put(uint64_t *set, unsigned r)
{
    set[r / 64] |= UINT64_C(1) << r % 64;
}

static bool merge(struct state *into, const struct state *from)
{
    bool changed = (from->fresh & ~into->fresh) != 0;

    for (unsigned b = 0; b <= BARS; b++) {
        for (unsigned w = 0; w < WORDS; w++) {
            changed |= (from->written[b][w] & ~into->written[b][w]) != 0 ||
                       (from->read[b][w] & ~into->read[b][w]) != 0;
            into->written[b][w] |= from->written[b][w];
            into->read[b][w] |= from->read[b][w];
        }
    }
    for (unsigned r = 0; r < ISA_REG_NUMBERS; r++) {
        changed |= from->left[r] > into->left[r];
        into->left[r] = from->left[r] > into->left[r] ? from->left[r] : into->left[r];
    }
    into->fresh |= from->fresh;
    return changed;
}

/** Records a finding about the control field of instruction @i, or of an earlier instruction on which it depends. Returns false
 *  if a finding about @i was already recorded. */
static bool is_new(struct lint *lint, uint32_t i)
{
    bool counted = lint->wrong[i];

    lint->wrong[i] = true;
    lint->findings += !counted;
    return !counted;
}

/** Prints a finding about instruction @i, with message @text. */
static void describe(struct lint *lint, uint32_t i, const char *text)
{
    const struct isa_line *row = isa_object_line_at(lint->object, lint->function->first + i);
    bool known = row != NULL && row->file < lint->object->file_count && row->line != 0;
    char line[24] = "";
    struct lw_error one;

    if (known)
        snprintf(line, sizeof line, ":%u: ", row->line);
    (void)LW_FAIL(&one, LW_EFORMAT, "%s%s%s+0x%x: %s: %s", known ? lint->object->files[row->file] : "",
                  line, lint->function->name, 16 * i, isa_op_info((enum isa_op)lint->insn[i].op)->mnemonic, text);
    if (lint->findings == 1 && lint->err != NULL)
        *lint->err = one;
    if (lint->out != NULL)
        lw_printf(lint->out, "%s\n", one.text);
}

static void finding(struct lint *lint, uint32_t i, const char *what, unsigned number)
{
    static const char *const names[] = { "v", "s", "p", "sp", "b" };
    unsigned c = number < 256 ? 0 : number < 384 ? 1 : number < 392 ? 2 : number < 400 ? 3 : 4;
    static const uint16_t first[] = { 0, 256, 384, 392, 400 };
    char text[120];

    if (!is_new(lint, i))
        return;
    snprintf(text, sizeof text, "%s %s%u", what, names[c], number - first[c]);
    describe(lint, i, text);
}

/* Returns true if @insn leaves the analysed code, so that no result or source may be pending. */
static bool leaves(const struct isa_insn *insn)
{
    return isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL ||
           isa_op_is_indirect((enum isa_op)insn->op);
}

static void check_use(struct lint *lint, uint32_t i, const struct state *s, bool written, unsigned r)
{
    const struct isa_latency latency = isa_op_latency(isa_op_info((enum isa_op)lint->insn[i].op));

    if (!written && s->left[r] > !latency.variable)
        finding(lint, i, "the stall counts before this instruction are too short for", r);
    if (written && !latency.variable && s->left[r] > latency.cycles)
        finding(lint, i, "this instruction writes its result before an earlier instruction does, to", r);
    for (unsigned b = 0; b <= BARS; b++) {
        if (has(s->written[b], r))
            finding(lint, i, b == LOST ? "this instruction sets no dependence barrier for the result in"
                                       : "this instruction does not wait for the result in", r);
        if (written && has(s->read[b], r))
            finding(lint, i, "this instruction overwrites a register that an earlier instruction may not have read yet,", r);
    }
}

static void check_uses(struct lint *lint, uint32_t i, const struct state *s,
                       const struct isa_reg_use *use, unsigned count)
{
    for (unsigned u = 0; u < count; u++) {
        for (unsigned k = 0; k < use[u].count; k++)
            check_use(lint, i, s, use[u].written, isa_reg_number(&use[u]) + k);
    }
}

static void step(struct lint *lint, uint32_t i, struct state *s)
{
    const struct isa_insn *insn = &lint->insn[i];
    const struct isa_control *control = &insn->control;
    const struct isa_latency latency = isa_op_latency(isa_op_info((enum isa_op)insn->op));
    unsigned stall = control->stall == 0 ? 1 : control->stall;
    unsigned set_w = control->write_bar < BARS ? control->write_bar : LOST;
    unsigned set_r = control->read_bar < BARS ? control->read_bar : set_w;
    struct isa_reg_use use[ISA_MAX_USES];
    unsigned all = isa_insn_uses(insn, use), count = 0;

    for (unsigned u = 0; u < all; u++) {
        if (use[u].reg_class != ISA_REG_B) /* convergence barrier registers need no control fields */
            use[count++] = use[u];
    }
    if (control->wait_mask & s->fresh && is_new(lint, i))
        describe(lint, i, "this instruction waits for a dependence barrier only one cycle after the barrier was set");
    for (unsigned b = 0; b < BARS; b++) {
        if (control->wait_mask >> b & 1) {
            memset(s->written[b], 0, sizeof s->written[b]);
            memset(s->read[b], 0, sizeof s->read[b]);
        }
    }
    check_uses(lint, i, s, use, count);
    if (leaves(insn)) {
        for (unsigned r = 0; r < ISA_REG_NUMBERS; r++) {
            for (unsigned b = 0; b <= BARS; b++) {
                if (has(s->written[b], r) || has(s->read[b], r))
                    finding(lint, i, "the function ends while a result is pending,", r);
            }
        }
    }
    s->fresh = 0;
    for (unsigned r = 0; r < ISA_REG_NUMBERS; r++)
        s->left[r] = s->left[r] > stall ? (uint8_t)(s->left[r] - stall) : 0;
    for (unsigned u = 0; u < count; u++) {
        for (unsigned k = 0; k < use[u].count; k++) {
            unsigned r = isa_reg_number(&use[u]) + k;

            if (!latency.variable) {
                if (use[u].written)
                    s->left[r] = latency.cycles + 1u > stall ? (uint8_t)(latency.cycles + 1 - stall) : 0;
            } else if (use[u].written) {
                s->left[r] = 0; /* a result of variable latency is always written later than one of fixed latency */
                put(s->written[set_w], r);
            } else {
                put(s->read[set_r], r);
            }
        }
    }
    if (latency.variable && stall < 2)
        s->fresh = (uint8_t)((set_w < BARS ? 1u << set_w : 0) | (set_r < BARS ? 1u << set_r : 0));
}

static void go_to(struct lint *lint, uint32_t to, const struct state *s)
{
    uint32_t location;

    if (to >= lint->function->count)
        return;
    location = lint->location[to] - 1;
    if (!merge(&lint->in[location], s) && lint->queued[location])
        return;
    if (!lint->queued[location] || lint->work[location] == 0) {
        lint->queued[location] = true;
        lint->work[location] = 1;
        lint->work_count++;
    }
}

static enum lw_status check_function(struct lint *lint)
{
    const struct isa_function *f = lint->function;
    uint32_t blocks = 0;
    enum lw_status status = LW_OK;

    lint->insn = calloc(f->count + 1, sizeof *lint->insn);
    lint->location = calloc(f->count + 1, sizeof *lint->location);
    lint->wrong = calloc(f->count + 1, sizeof *lint->wrong);
    if (lint->insn == NULL || lint->location == NULL || lint->wrong == NULL) {
        status = LW_FAIL(lint->err, LW_ENOMEM, "the host has no memory to check control fields");
        goto cleanup;
    }
    if (f->count != 0)
        lint->location[0] = 1;
    for (uint32_t i = 0; i < f->count; i++) {
        int64_t to;

        if (!isa_insn_decode(lint->object->text[f->first + i], &lint->insn[i])) {
            status = LW_FAIL(lint->err, LW_EFORMAT, "%s+0x%x: the word is not an instruction", f->name, 16 * i);
            goto cleanup;
        }
        if (!isa_insn_jumps(&lint->insn[i], i, &to))
            continue;
        if (to >= 0 && to < f->count)
            lint->location[to] = 1;
        lint->location[i + 1] = 1;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        if (lint->location[i] != 0)
            lint->location[i] = ++blocks;
    }
    lint->in = calloc(blocks + 1, sizeof *lint->in);
    lint->work = calloc(blocks + 1, sizeof *lint->work);
    lint->queued = calloc(blocks + 1, sizeof *lint->queued);
    if (lint->in == NULL || lint->work == NULL || lint->queued == NULL) {
        status = LW_FAIL(lint->err, LW_ENOMEM, "the host has no memory to check control fields");
        goto cleanup;
    }
    struct state s = { .fresh = 0 };

    go_to(lint, 0, &s);
    while (lint->work_count != 0) {
        for (uint32_t i = 0; i < f->count; i++) {
            int64_t to;
            bool ends = false;

            if (lint->location[i] == 0 || lint->work[lint->location[i] - 1] == 0)
                continue;
            lint->work[lint->location[i] - 1] = 0;
            lint->work_count--;
            s = lint->in[lint->location[i] - 1];
            for (uint32_t at = i; !ends && at < f->count; at++) {
                if (at != i && lint->location[at] != 0) {
                    go_to(lint, at, &s);
                    break;
                }
                step(lint, at, &s);
                if (isa_insn_jumps(&lint->insn[at], at, &to) && to >= 0)
                    go_to(lint, (uint32_t)to, &s);
                ends = isa_insn_ends(&lint->insn[at]);
            }
        }
    }
cleanup:
    free(lint->insn);
    free(lint->location);
    free(lint->in);
    free(lint->work);
    free(lint->queued);
    free(lint->wrong);
    return status;
}

enum lw_status isa_control_count(const struct isa_object *object, unsigned *findings, struct lw_sink *out,
                                 struct lw_error *err)
{
    struct lint lint = { .object = object };

    for (unsigned i = 0; i < object->function_count; i++) {
        unsigned before = lint.findings;

        lint = (struct lint){ .object = object, .function = &object->functions[i], .findings = before, .out = out,
                              .err = err };

        enum lw_status status = check_function(&lint);

        if (status != LW_OK)
            return status;
    }
    *findings = lint.findings;
    return lint.findings == 0 ? LW_OK : LW_EFORMAT;
}

enum lw_status isa_control_check(const struct isa_object *object, struct lw_error *err)
{
    unsigned findings;

    return isa_control_count(object, &findings, NULL, err);
}
