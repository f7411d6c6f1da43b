/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the control fields of final code, for the translator and the assembler, by the rules of isa_control.c. Dependence
 * barriers 0 to 3 are used in rotation for results of variable latency, and 4 and 5 for sources that are soon overwritten. A
 * fixed-point iteration over the basic blocks determines which results may be pending at each instruction, and therefore for
 * which barriers the instruction waits. Stalls are computed for each block separately; no result of fixed latency is pending
 * between blocks. */
#include <stdlib.h>

#include "isa/isa_priv.h"

enum { BARS = 6, RESULT_BARS = 4, WORDS = ISA_REG_NUMBERS / 64, SOON = 8, NO_BAR = 7 };
enum { NO_LINE = ISA_NO_BLOCK };

struct pending { /* [barrier] written: registers whose results are not written until the barrier is released; read: registers
                  * whose values are not read until then */
    uint64_t written[BARS][WORDS], read[BARS][WORDS];
};
struct line {
    uint32_t first, count;
    uint32_t next[2]; /* indices of the successors; NO_LINE: none */
    bool queued;
    struct pending in;
};
struct uses {
    struct isa_reg_use at[ISA_MAX_USES];
    unsigned count;
};
struct schedule {
    struct isa_insn *insn;
    uint32_t count;
    struct line *lines;
    uint32_t line_count;
    uint32_t *line_of; /* [instruction] 1 + index of the line (basic block) that starts at the instruction, or 0 if no line starts
                        * there */
};

static struct uses uses_of(const struct isa_insn *insn)
{
    struct uses u;

    struct isa_reg_use all[ISA_MAX_USES];
    unsigned n = isa_insn_uses(insn, all);

    u.count = 0;
    for (unsigned k = 0; k < n; k++) { /* convergence barrier registers need no control fields */
        if (all[k].reg_class != ISA_REG_B)
            u.at[u.count++] = all[k];
    }
    return u;
}

static struct isa_latency latency_of(const struct isa_insn *insn)
{
    return isa_op_latency(isa_op_info((enum isa_op)insn->op));
}

static bool leaves(const struct isa_insn *insn)
{
    return isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL ||
           isa_op_is_indirect((enum isa_op)insn->op);
}

/* ---- lines: basic blocks ------------------------------------------------- */

/** Finds the lines (basic blocks) of the code. Returns false if there is no memory. */
static bool find_lines(struct schedule *s)
{
    struct isa_flow flow;

    if (!isa_flow_find(s->insn, s->count, &flow))
        return false;
    s->lines = calloc(flow.count, sizeof *s->lines);
    for (uint32_t l = 0; s->lines != NULL && l < flow.count; l++) {
        s->lines[l] = (struct line){ .first = flow.block[l].first, .count = flow.block[l].count,
                                     .next = { flow.block[l].next[0], flow.block[l].next[1] } };
    }
    s->line_count = flow.count;
    s->line_of = flow.block_at;
    flow.block_at = NULL;
    isa_flow_fini(&flow);
    return s->lines != NULL;
}

/* ---- barriers ------------------------------------------------------------ */

static bool uses_overlap(const struct uses *reader, const struct uses *writer)
{
    for (unsigned a = 0; a < reader->count; a++) {
        for (unsigned b = 0; b < writer->count; b++) {
            unsigned x = isa_reg_number(&reader->at[a]), y = isa_reg_number(&writer->at[b]);

            if (!reader->at[a].written && writer->at[b].written &&
                x < y + writer->at[b].count && y < x + reader->at[a].count)
                return true;
        }
    }
    return false;
}

static void name_barriers(struct schedule *s)
{
    unsigned result = 0, source = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        struct isa_control *control = &s->insn[i].control;
        struct uses u = uses_of(&s->insn[i]);
        bool writes = false, reads = false, soon = false;

        control->write_bar = control->read_bar = NO_BAR;
        if (!latency_of(&s->insn[i]).variable)
            continue;
        for (unsigned k = 0; k < u.count; k++) {
            writes |= u.at[k].written;
            reads |= !u.at[k].written;
        }
        for (uint32_t j = i + 1; j < s->count && j <= i + SOON && writes && reads && !soon; j++) {
            struct uses v = uses_of(&s->insn[j]);

            if (s->line_of[j] != 0)
                break;
            soon = uses_overlap(&u, &v);
        }
        if (writes)
            control->write_bar = (uint8_t)(result++ % RESULT_BARS);
        if (reads && (!writes || soon))
            control->read_bar = (uint8_t)(RESULT_BARS + source++ % (BARS - RESULT_BARS));
    }
}

/* ---- barriers to wait for ------------------------------------------------ */

static unsigned needed(const struct pending *p, const struct uses *u)
{
    unsigned wait = 0;

    for (unsigned k = 0; k < u->count; k++) {
        unsigned first = isa_reg_number(&u->at[k]);

        for (unsigned r = first; r < first + u->at[k].count; r++) {
            for (unsigned b = 0; b < BARS; b++) {
                uint64_t set = p->written[b][r / 64] | (u->at[k].written ? p->read[b][r / 64] : 0);

                wait |= (unsigned)(set >> r % 64 & 1) << b;
            }
        }
    }
    return wait;
}

static void run_line(struct schedule *s, const struct line *line, struct pending *p)
{
    for (uint32_t i = line->first; i < line->first + line->count; i++) {
        struct isa_control *control = &s->insn[i].control;
        struct uses u = uses_of(&s->insn[i]);
        unsigned wait = needed(p, &u);

        for (unsigned b = 0; b < BARS && leaves(&s->insn[i]); b++) {
            for (unsigned w = 0; w < WORDS; w++)
                wait |= (p->written[b][w] | p->read[b][w]) != 0 ? 1u << b : 0;
        }
        control->wait_mask |= (uint8_t)wait; /* the mask grows in each round of the fixed-point iteration */
        for (unsigned b = 0; b < BARS; b++) {
            if (control->wait_mask >> b & 1) {
                memset(p->written[b], 0, sizeof p->written[b]);
                memset(p->read[b], 0, sizeof p->read[b]);
            }
        }
        unsigned read_bar = control->read_bar != NO_BAR ? control->read_bar : control->write_bar;

        for (unsigned k = 0; k < u.count; k++) {
            unsigned bar = u.at[k].written ? control->write_bar : read_bar;
            unsigned first = isa_reg_number(&u.at[k]);

            for (unsigned r = first; bar != NO_BAR && r < first + u.at[k].count; r++)
                (u.at[k].written ? p->written : p->read)[bar][r / 64] |= UINT64_C(1) << r % 64;
        }
    }
}

static bool merge(struct pending *into, const struct pending *from)
{
    bool changed = false;

    for (unsigned b = 0; b < BARS; b++) {
        for (unsigned w = 0; w < WORDS; w++) {
            changed |= (from->written[b][w] & ~into->written[b][w]) != 0 ||
                       (from->read[b][w] & ~into->read[b][w]) != 0;
            into->written[b][w] |= from->written[b][w];
            into->read[b][w] |= from->read[b][w];
        }
    }
    return changed;
}

/* Iterates to a fixed point. The iteration ends, because the sets of pending results and of waits only grow. The last time that a
 * line (basic block) is processed, its input is final. */
static void find_waits(struct schedule *s)
{
    for (uint32_t l = 0; l < s->line_count; l++)
        s->lines[l].queued = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t l = 0; l < s->line_count; l++) {
            struct line *line = &s->lines[l];
            struct pending p;

            if (!line->queued)
                continue;
            line->queued = false;
            p = line->in;
            run_line(s, line, &p);
            for (unsigned k = 0; k < 2; k++) {
                if (line->next[k] != NO_LINE && merge(&s->lines[line->next[k]].in, &p))
                    s->lines[line->next[k]].queued = changed = true;
            }
        }
    }
}

/* ---- stalls -------------------------------------------------------------- */

static unsigned bars_set(const struct isa_insn *insn)
{
    unsigned set = 0;

    if (insn->control.write_bar != NO_BAR)
        set |= 1u << insn->control.write_bar;
    if (insn->control.read_bar != NO_BAR)
        set |= 1u << insn->control.read_bar;
    return set;
}

/** Returns true if the next instruction after @line may have variable latency, and therefore can read results of fixed latency
 *  only one cycle later. */
static bool variable_follows(const struct schedule *s, const struct line *line)
{
    bool follows = leaves(&s->insn[line->first + line->count - 1]);

    for (unsigned k = 0; k < 2; k++)
        if (line->next[k] != NO_LINE)
            follows |= latency_of(&s->insn[s->lines[line->next[k]].first]).variable;
    return follows;
}

static void fill_stalls(struct schedule *s, const struct line *line, uint32_t *ready)
{
    uint32_t now = 1, latest = 0; /* cycles are counted from 1. ready[r] is 0 if register r has no pending result */
    uint32_t end = line->first + line->count;

    for (uint32_t i = line->first; i < end; i++) {
        struct isa_insn *insn = &s->insn[i];
        const struct isa_latency latency = latency_of(insn);
        struct uses u = uses_of(insn);
        uint32_t at = now;

        for (unsigned k = 0; k < u.count; k++) {
            unsigned first = isa_reg_number(&u.at[k]);

            for (unsigned r = first; r < first + u.at[k].count; r++) {
                uint32_t from = ready[r] == 0        ? 0
                                : !u.at[k].written   ? ready[r] + latency.variable
                                : latency.variable   ? 0
                                                     /* of two writes to a register, the later one must also end later */
                                                     : ready[r] + 1 - latency.cycles;

                at = from > at ? from : at;
            }
        }
        if (i != line->first) {
            struct isa_control *before = &s->insn[i - 1].control;

            before->stall = (uint8_t)(1 + (at - now));
            if (bars_set(&s->insn[i - 1]) & insn->control.wait_mask && before->stall < 2) {
                before->stall = 2;
                at = now + 1;
            }
            /* a warp that is about to wait lets other warps issue */
            before->yield = insn->control.wait_mask != 0 && before->stall > 1;
        }
        for (unsigned k = 0; k < u.count; k++) {
            unsigned first = isa_reg_number(&u.at[k]);

            for (unsigned r = first; u.at[k].written && r < first + u.at[k].count; r++)
                ready[r] = latency.variable ? 0 : at + latency.cycles;
        }
        if (!latency.variable && u.count != 0) {
            for (unsigned k = 0; k < u.count; k++)
                latest = u.at[k].written && at + latency.cycles > latest ? at + latency.cycles : latest;
        }
        insn->control.stall = 1;
        now = at + 1;
    }
    /* now is the cycle after the issue of the last instruction */
    struct isa_control *last = &s->insn[end - 1].control;

    if (latest != 0)
        latest += variable_follows(s, line);
    last->stall = (uint8_t)(latest > now ? latest - now + 1 : 1);
    if (bars_set(&s->insn[end - 1]) != 0 && last->stall < 2)
        last->stall = 2;
    for (uint32_t i = line->first; i < end; i++) {
        struct uses u = uses_of(&s->insn[i]);

        for (unsigned k = 0; k < u.count; k++) {
            unsigned first = isa_reg_number(&u.at[k]);

            for (unsigned r = first; r < first + u.at[k].count; r++)
                ready[r] = 0;
        }
    }
}

/* Sets the reuse bits of instruction @i: the bit of each operand position in which the next instruction reads the same vector
 * register. */
static void fill_reuse(struct schedule *s, uint32_t i)
{
    struct isa_insn *insn = &s->insn[i];
    const struct isa_insn *next = &s->insn[i + 1];
    const struct isa_op_info *a = isa_op_info((enum isa_op)insn->op);
    const struct isa_op_info *b = isa_op_info((enum isa_op)next->op);
    struct uses u = uses_of(insn);
    unsigned written = ISA_VZ, count = 0;

    if (a->unit != b->unit || (a->unit != ISA_UNIT_INT && a->unit != ISA_UNIT_FP) ||
        s->line_of[i + 1] != 0)
        return;
    for (unsigned k = 0; k < u.count; k++) {
        if (u.at[k].written && u.at[k].reg_class == ISA_REG_V) {
            written = u.at[k].first;
            count = u.at[k].count;
        }
    }
    const struct {
        bool here, there;
        unsigned mine, other;
    } slot[] = {
        { isa_op_words(a, ISA_TOK_VA, ISA_TOK_VA2) != 0 && !insn->a_scalar,
          isa_op_words(b, ISA_TOK_VA, ISA_TOK_VA2) != 0 && !next->a_scalar, insn->a, next->a },
        { isa_op_words(a, ISA_TOK_XB, ISA_TOK_XB2) != 0 && insn->xkind == ISA_X_VECTOR,
          isa_op_words(b, ISA_TOK_XB, ISA_TOK_XB2) != 0 && next->xkind == ISA_X_VECTOR, isa_x_reg(insn->x),
          isa_x_reg(next->x) },
        { isa_op_words(a, ISA_TOK_VC, ISA_TOK_VC2) != 0 && !insn->c_scalar,
          isa_op_words(b, ISA_TOK_VC, ISA_TOK_VC2) != 0 && !next->c_scalar, insn->c, next->c },
    };

    for (unsigned k = 0; k < LW_COUNT_OF(slot); k++) {
        bool overwritten = slot[k].mine >= written && slot[k].mine < written + count;

        if (slot[k].here && slot[k].there && slot[k].mine == slot[k].other &&
            slot[k].mine != ISA_VZ && !overwritten)
            insn->control.reuse |= (uint8_t)(1u << k);
    }
}

bool isa_control_fill(struct isa_insn *insn, uint32_t count)
{
    struct schedule s = { .insn = insn, .count = count };
    uint32_t *ready = calloc(ISA_REG_NUMBERS, sizeof *ready);
    bool done = false;

    if (count == 0) {
        done = true;
        goto cleanup;
    }
    if (ready == NULL || !find_lines(&s))
        goto cleanup;
    name_barriers(&s);
    find_waits(&s);
    for (uint32_t l = 0; l < s.line_count; l++)
        fill_stalls(&s, &s.lines[l], ready);
    for (uint32_t i = 0; i + 1 < count; i++)
        fill_reuse(&s, i);
    done = true;
cleanup:
    free(s.lines);
    free(s.line_of);
    free(ready);
    return done;
}
