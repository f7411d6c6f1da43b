/* SPDX-License-Identifier: Apache-2.0 */
/* Linearises blocks and edges: barriers, yields and branches become instructions, empty blocks are removed, 64-bit
 * literals become moves. */
#include "ptx/ptx_priv.h"

struct layout {
    struct ptx_unit *unit;
    PTX_LIST(struct ptx_mi) code;
    PTX_LIST(struct ptx_block) lines; /* lines: straight-line blocks of the new code, without their final jumps */
    uint32_t *head;                   /* by block of the graph: number of the block's first line */
    uint32_t loc, line;
};

static struct ptx_mi *put(struct layout *lay, enum isa_op op)
{
    struct ptx_mi *mi = PTX_PUSH(lay->unit->job, lay->code);

    ptx_mi_init(mi, op, lay->loc, lay->line);
    return mi;
}

static void put_barrier(struct layout *lay, enum isa_op op, uint8_t barrier)
{
    struct ptx_mi *mi = put(lay, op);

    mi->barrier = barrier;
    mi->in.d = barrier;
    mi->in.variant = op == ISA_BSYNC && lay->unit->soft;
}

/* Saves a barrier register in a register pair. put_give() sets the pair to zero when it has restored the barrier, so that
 * lanes that have saved nothing restore nothing. */
static void put_take(struct layout *lay, uint8_t barrier, uint32_t pair)
{
    struct ptx_mi *mi = put(lay, ISA_V_MOV_TAKE_B);

    mi->ref[PTX_S_D] = ptx_ref_of(pair, 0);
    mi->rows[PTX_S_D] = 2;
    mi->in.x = barrier;
}

static void put_zero(struct layout *lay, uint32_t pair)
{
    struct ptx_mi *mi = put(lay, ISA_V_MOV_B64);

    mi->ref[PTX_S_D] = ptx_ref_of(pair, 0);
    mi->rows[PTX_S_D] = mi->rows[PTX_S_X] = 2;
    mi->in.xkind = ISA_X_IMM;
    mi->in.x = 0;
}

static void put_give(struct layout *lay, uint8_t barrier, uint32_t pair)
{
    struct ptx_mi *mi = put(lay, ISA_V_MOV_GIVE_B);

    mi->ref[PTX_S_A] = ptx_ref_of(pair, 0);
    mi->rows[PTX_S_A] = 2;
    mi->in.d = barrier;
    put_zero(lay, pair);
}

static void copy_insn(struct layout *lay, const struct ptx_mi *mi)
{
    bool literal = mi->flags & PTX_MI_IMM64;
    struct ptx_mi *out;

    lay->loc = mi->loc;
    lay->line = mi->line;
    if (!literal || (mi->in.op != ISA_V_MOV_B64 && mi->in.op != ISA_S_MOV_B64) ||
        (uint64_t)(int64_t)(int32_t)mi->imm64 == mi->imm64) {
        *PTX_PUSH(lay->unit->job, lay->code) = *mi;
        return;
    }
    for (unsigned half = 0; half < 2; half++) {
        out = PTX_PUSH(lay->unit->job, lay->code);
        *out = *mi;
        out->in.op = mi->in.op == ISA_S_MOV_B64 ? ISA_S_MOV_B32 : ISA_V_MOV_B32;
        out->ref[PTX_S_D] += half;
        out->rows[PTX_S_D] = out->rows[PTX_S_X] = 1;
        out->in.x = (uint32_t)(mi->imm64 >> (32 * half));
        out->imm64 = out->in.x;
        if (half != 0)
            out->flags |= PTX_MI_PARTIAL;
    }
}

/* Removes the nop that carries a jump's line from the end of the code, because another instruction of that line follows. */
static bool drop_mark(struct layout *lay, uint32_t first)
{
    bool has = lay->code.count > first && lay->code.at[lay->code.count - 1].flags & PTX_MI_LINE;

    lay->code.count -= has;
    return has;
}

static void put_edge(struct layout *lay, const struct ptx_block *b, unsigned k)
{
    for (size_t i = 0; i < b->breaks[k].count; i++) {
        put_barrier(lay, ISA_BBREAK, b->breaks[k].at[i]);
        if (b->break_gives[k].at[i] & PTX_GIVE_UP)
            put_zero(lay, (b->break_gives[k].at[i] & ~PTX_GIVE_UP) - 1);
        else if (b->break_gives[k].at[i] != 0)
            put_give(lay, b->breaks[k].at[i], b->break_gives[k].at[i] - 1);
    }
    if (b->yields[k])
        (void)put(lay, ISA_YIELD);
}

static uint32_t new_line(struct layout *lay, const struct ptx_block *like)
{
    struct ptx_block *line = PTX_PUSH(lay->unit->job, lay->lines);

    memset(line, 0, sizeof *line);
    line->first = (uint32_t)lay->code.count;
    line->guard = PTX_NO_REF;
    line->branch_barrier = PTX_NO_BARRIER;
    line->label = PTX_NONE;
    line->ipdom = line->idom = PTX_NONE;
    line->loop = like->loop;
    line->loc = like->loc;
    line->line = like->line;
    line->merged = like->merged;
    return (uint32_t)(lay->lines.count - 1);
}

/* Marks the instructions from @first on: no statement begins at them. */
static void unhook(struct layout *lay, uint32_t first)
{
    for (uint32_t i = first; i < lay->code.count; i++)
        lay->code.at[i].flags |= PTX_MI_UNHOOKED;
}

/* Appends a block of the graph as a line. The successors of the line are blocks of the graph until all lines exist. The
 * instructions of an edge (bbreak, yield) get a line of their own, a stub, which follows directly. */
static void lay_block(struct layout *lay, uint32_t old)
{
    struct ptx_unit *unit = lay->unit;
    const struct ptx_block *b = &unit->blocks.at[old];
    uint32_t line = new_line(lay, b), stub[2] = { PTX_NONE, PTX_NONE };
    struct ptx_block *out;

    lay->head[old] = line;
    lay->loc = b->count != 0 ? unit->code.at[b->first].loc : b->loc;
    lay->line = b->count != 0 ? unit->code.at[b->first].line : b->line;
    for (size_t i = 0; i < b->syncs.count; i++) {
        put_barrier(lay, ISA_BSYNC, b->syncs.at[i]);
        if (b->sync_gives.at[i] != 0)
            put_give(lay, b->syncs.at[i], b->sync_gives.at[i] - 1);
    }
    uint32_t body = b->first;

    if (old == unit->entry) {
        for (uint32_t own = ptx_entry_own(unit); body < own;)
            copy_insn(lay, &unit->code.at[body++]);
        for (size_t i = 0; i < unit->regions.count; i++) {
            if (unit->regions.at[i].saved != PTX_NONE)
                put_zero(lay, unit->regions.at[i].saved);
        }
    }
    for (uint32_t i = body; i < b->first + b->count; i++)
        copy_insn(lay, &unit->code.at[i]);
    bool marked = (b->joins.count != 0 || b->breaks[0].count != 0 || b->yields[0]) &&
                  drop_mark(lay, lay->lines.at[line].first);
    const uint32_t end_of_body = (uint32_t)lay->code.count;

    /* The barrier instructions before the jump get the line of the preceding instruction. A debugger then stops on the same
     * lines as on processors without barriers, where a jump that falls through has no instruction. The barrier instructions get
     * the line of the jump only if the jump has a nop for its line, or if the block is empty. A breakpoint on a `while` is then
     * at the loop's head. */
    if (b->loc != 0 && (marked || b->count == 0)) {
        lay->loc = b->loc;
        lay->line = b->line;
    }
    for (size_t i = 0; i < b->joins.count; i++) {
        const struct ptx_region *g = &unit->regions.at[b->joins.at[i]];

        if (g->saved != PTX_NONE)
            put_take(lay, g->barrier, g->saved);
        put_barrier(lay, ISA_BSSY, g->barrier);
        lay->code.at[lay->code.count - 1].target = g->join;
    }
    if (b->synthetic)
        unhook(lay, lay->lines.at[line].first);
    if (b->loc != 0) {
        lay->loc = b->loc;
        lay->line = b->line;
    }
    uint8_t end = b->end;
    unsigned only = 0;

    if (end == PTX_END_BRANCH && b->exit_side != 0) {
        struct ptx_mi *mi = put(lay, ISA_EXIT);

        mi->ref[PTX_S_GUARD] = b->guard;
        mi->in.guard_neg = b->guard_neg ^ (b->exit_side == 2);
        only = 2u - b->exit_side;
        end = PTX_END_NEXT;
    }
    if (end == PTX_END_NEXT && b->succ_count != 0)
        put_edge(lay, b, only);
    if (b->merged)
        unhook(lay, end_of_body);
    out = &lay->lines.at[line];
    out->count = (uint32_t)lay->code.count - out->first;
    out->end = end;
    if (end == PTX_END_NEXT) {
        out->succ_count = 1;
        out->succ[0] = b->succ[only];
        return;
    }
    if (end != PTX_END_BRANCH)
        return;
    out->succ_count = 2;
    out->guard = b->guard;
    out->guard_neg = b->guard_neg;
    out->branch_barrier = b->branch_barrier;
    for (unsigned k = 0; k < 2; k++) {
        out = &lay->lines.at[line];
        out->succ[k] = b->succ[k];
        if (b->breaks[k].count == 0 && !b->yields[k])
            continue;
        stub[k] = new_line(lay, b);
        put_edge(lay, b, k);
        struct ptx_block *s = &lay->lines.at[stub[k]];

        s->count = (uint32_t)lay->code.count - s->first;
        s->end = PTX_END_NEXT;
        s->succ_count = 1;
        s->succ[0] = b->succ[k];
        lay->lines.at[line].succ[k] = stub[k] | 1u << 31; /* bit 31 says that the number is that of a line, not of a block */
    }
}

/* Skips empty lines that fall through: returns the first other line from @line on. */
static uint32_t thread(const struct layout *lay, uint32_t line)
{
    for (size_t steps = 0; steps < lay->lines.count; steps++) {
        const struct ptx_block *b = &lay->lines.at[line];

        if (b->count != 0 || b->end != PTX_END_NEXT || b->succ[0] == line)
            break;
        line = b->succ[0];
    }
    return line;
}

static struct ptx_mi *put_branch(struct layout *lay, uint32_t target, ptx_ref guard, bool neg,
                                 uint8_t barrier)
{
    bool scalar = ptx_ref_is_vreg(guard) && lay->unit->vregs.at[ptx_ref_vreg(guard)].scalar;
    struct ptx_mi *mi = put(lay, scalar ? ISA_S_BRA : ISA_BRA);

    mi->target = target;
    mi->ref[PTX_S_GUARD] = guard;
    mi->in.guard_neg = neg;
    mi->barrier = barrier;
    return mi;
}

static uint32_t depth_of(const struct layout *lay, uint32_t line)
{
    uint32_t loop = lay->lines.at[line].loop;

    return loop == PTX_NONE ? 0 : lay->unit->loops.at[loop].depth;
}

/* Writes the @retained lines in order, with their jumps. */
static void finish(struct layout *lay, const uint32_t *retained, uint32_t count)
{
    struct ptx_unit *unit = lay->unit;
    PTX_LIST(struct ptx_mi) old = { lay->code.at, lay->code.count, lay->code.capacity };
    uint32_t *number = PTX_ARRAY(unit->job, uint32_t, lay->lines.count + 1);

    lay->code.at = NULL;
    lay->code.count = lay->code.capacity = 0;
    unit->blocks.at = NULL;
    unit->blocks.count = unit->blocks.capacity = 0;
    for (uint32_t i = 0; i < count; i++)
        number[retained[i]] = i;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_block *b = &lay->lines.at[retained[i]];
        struct ptx_block *out = PTX_PUSH(unit->job, unit->blocks);
        uint32_t next = i + 1 < count ? retained[i + 1] : PTX_NONE;

        *out = *b;
        out->first = (uint32_t)lay->code.count;
        out->rpo = i;
        for (uint32_t k = b->first; k < b->first + b->count; k++) {
            struct ptx_mi *mi = PTX_PUSH(unit->job, lay->code);

            *mi = old.at[k];
            if (mi->in.op == ISA_BSSY)
                mi->target = number[lay->head[mi->target]];
            lay->loc = mi->loc;
            lay->line = mi->line;
        }
        for (unsigned k = 0; k < b->succ_count; k++)
            out->succ[k] = number[b->succ[k]];
        if (b->loc != 0) {
            lay->loc = b->loc;
            lay->line = b->line;
        }
        if (b->end != PTX_END_NEXT || b->succ[0] != next)
            drop_mark(lay, out->first);
        const uint32_t end_of_body = (uint32_t)lay->code.count;

        if (b->end == PTX_END_FINAL && !unit->function->kernel) {
            struct ptx_mi *mi = put(lay, ISA_RET);

            mi->ref[PTX_S_A] = unit->link;
            mi->rows[PTX_S_A] = 2;
        } else if (b->end == PTX_END_FINAL || b->end == PTX_END_EXIT) {
            (void)put(lay, ISA_EXIT);
        } else if (b->end == PTX_END_NEXT) {
            const struct ptx_block *to = &lay->lines.at[b->succ[0]];

            if (to->count == 0 &&
                (to->end == PTX_END_EXIT ||
                 (to->end == PTX_END_FINAL && unit->function->kernel)) &&
                b->succ[0] != next) {
                (void)put(lay, ISA_EXIT); /* a jump to an exit becomes an exit */
                out->end = PTX_END_EXIT;
                out->succ_count = 0;
            } else if (b->succ[0] != next) {
                (void)put_branch(lay, number[b->succ[0]], PTX_NO_REF, false, PTX_NO_BARRIER);
            }
        } else if (b->succ[0] == next ||
                   (b->succ[1] != next && depth_of(lay, b->succ[1]) > depth_of(lay, b->succ[0]))) {
            /* if neither successor follows, the edge that stays in the loop executes one jump, and the edge that leaves the
             * loop executes two */
            (void)put_branch(lay, number[b->succ[1]], b->guard, !b->guard_neg, b->branch_barrier);
            if (b->succ[0] != next)
                (void)put_branch(lay, number[b->succ[0]], PTX_NO_REF, false, PTX_NO_BARRIER);
        } else {
            (void)put_branch(lay, number[b->succ[0]], b->guard, b->guard_neg, b->branch_barrier);
            if (b->succ[1] != next)
                (void)put_branch(lay, number[b->succ[1]], PTX_NO_REF, false, PTX_NO_BARRIER);
        }
        if (b->merged)
            unhook(lay, end_of_body);
        out->count = (uint32_t)lay->code.count - out->first;
        if (out->end == PTX_END_BRANCH)
            out->end = PTX_END_NEXT; /* the branch is now an instruction with a guard */
    }
    unit->code.at = lay->code.at;
    unit->code.count = lay->code.count;
    unit->code.capacity = lay->code.capacity;
}

void ptx_layout(struct ptx_unit *unit)
{
    struct layout lay = { .unit = unit };
    uint32_t *retained, count = 0;
    uint8_t *seen;
    PTX_LIST(uint32_t) work = { 0 };

    lay.head = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count + 1);
    /* lays out the entry block first, even if it was created last */
    lay_block(&lay, unit->entry);
    for (size_t i = 0; i < unit->order.count; i++) {
        uint32_t b = unit->order.at[i];

        if (unit->blocks.at[b].rpo != PTX_NONE && b != unit->entry)
            lay_block(&lay, b);
    }
    for (size_t i = 0; i < lay.lines.count; i++) {
        struct ptx_block *b = &lay.lines.at[i];

        for (unsigned k = 0; k < b->succ_count; k++)
            b->succ[k] = b->succ[k] >> 31 ? b->succ[k] & 0x7fffffff : lay.head[b->succ[k]];
    }
    for (size_t i = 0; i < lay.lines.count; i++) {
        struct ptx_block *b = &lay.lines.at[i];

        for (unsigned k = 0; k < b->succ_count; k++)
            b->succ[k] = thread(&lay, b->succ[k]);
        if (b->end == PTX_END_BRANCH && b->succ[0] == b->succ[1]) {
            b->end = PTX_END_NEXT;
            b->succ_count = 1;
        }
    }
    seen = PTX_ARRAY(unit->job, uint8_t, lay.lines.count + 1);
    retained = PTX_ARRAY(unit->job, uint32_t, lay.lines.count + 1);
    *PTX_PUSH(unit->job, work) = thread(&lay, 0);
    seen[work.at[0]] = 1;
    while (work.count != 0) {
        const struct ptx_block *b = &lay.lines.at[work.at[--work.count]];

        for (unsigned k = 0; k < b->succ_count; k++) {
            if (!seen[b->succ[k]]) {
                seen[b->succ[k]] = 1;
                *PTX_PUSH(unit->job, work) = b->succ[k];
            }
        }
    }
    uint32_t start = thread(&lay, 0);

    retained[count++] = start;
    for (uint32_t i = 0; i < lay.lines.count; i++) {
        if (seen[i] && i != start)
            retained[count++] = i;
    }
    finish(&lay, retained, count);
    /* recompute predecessors and order, for liveness and the verifier */
    unit->rpo = PTX_ARRAY(unit->job, uint32_t, count);
    unit->rpo_count = count;
    for (uint32_t i = 0; i < count; i++) {
        unit->rpo[i] = i;
        unit->blocks.at[i].pred_count = 0;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            const struct ptx_block *b = &unit->blocks.at[i];

            for (unsigned k = 0; k < b->succ_count; k++) {
                struct ptx_block *s = &unit->blocks.at[b->succ[k]];

                if (pass == 1)
                    s->pred[s->pred_count] = i;
                s->pred_count++;
            }
        }
        for (uint32_t i = 0; pass == 0 && i < count; i++) {
            struct ptx_block *b = &unit->blocks.at[i];

            b->pred = PTX_ARRAY(unit->job, uint32_t, b->pred_count);
            b->pred_count = 0;
        }
    }
}
