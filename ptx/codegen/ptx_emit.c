/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts the allocated registers into instructions, encodes the instructions, and writes the line table. */
#include <stdlib.h>

#include "ptx/ptx_priv.h"

struct emit {
    struct ptx_unit *unit;
    struct isa_object *object;
    uint32_t *index; /* by instruction: index in the function of the instruction's word, or of the bar.synch_partner before
                      * the instruction */
};

static unsigned number_of(const struct ptx_unit *unit, ptx_ref ref, unsigned none)
{
    if (!ptx_ref_is_vreg(ref))
        return none;
    return unit->assigned[ptx_ref_vreg(ref)] + ptx_ref_row(ref);
}

static bool is_scalar(const struct ptx_unit *unit, ptx_ref ref)
{
    return ptx_ref_is_vreg(ref) && unit->vregs.at[ptx_ref_vreg(ref)].scalar;
}

/* Returns true for an instruction that emits nothing: a pin, or a copy whose operands were assigned the same register. */
static bool is_empty(const struct ptx_unit *unit, const struct ptx_mi *mi)
{
    if (mi->flags & PTX_MI_PIN)
        return true;
    return (((mi->in.op == ISA_V_MOV_B32 || mi->in.op == ISA_V_MOV_B64) &&
             mi->in.xkind == ISA_X_VECTOR) ||
            ((mi->in.op == ISA_S_MOV_B32 || mi->in.op == ISA_S_MOV_B64) &&
             mi->in.xkind == ISA_X_SCALAR)) &&
           number_of(unit, mi->ref[PTX_S_D], 256) == number_of(unit, mi->ref[PTX_S_X], 257);
}

static void fill_registers(const struct ptx_unit *unit, const struct ptx_mi *mi,
                           struct isa_insn *in)
{
    enum isa_format format = isa_op_info((enum isa_op)in->op)->format;
    const ptx_ref *ref = mi->ref;

    if (ref[PTX_S_D] != PTX_NO_REF)
        in->d = (uint8_t)number_of(unit, ref[PTX_S_D], ISA_VZ);
    if (ref[PTX_S_A] != PTX_NO_REF)
        in->a = (uint8_t)number_of(unit, ref[PTX_S_A], ISA_VZ);
    if (ref[PTX_S_C] != PTX_NO_REF)
        in->c = (uint8_t)number_of(unit, ref[PTX_S_C], ISA_VZ);
    if (ref[PTX_S_X] != PTX_NO_REF) {
        unsigned x = number_of(unit, ref[PTX_S_X], ISA_VZ);

        if (format == ISA_FMT_MEM || format == ISA_FMT_SMEM || format == ISA_FMT_ATOM ||
            format == ISA_FMT_WARP)
            in->x = (in->x & 0xffffff00u) | x;
        else
            in->x = x;
    }
    if (ref[PTX_S_M] != PTX_NO_REF)
        in->x = (in->x & 0x00ffffffu) | number_of(unit, ref[PTX_S_M], ISA_VZ) << 24;
    if (ref[PTX_S_P] != PTX_NO_REF)
        isa_insn_set_p(in, number_of(unit, ref[PTX_S_P], ISA_PT));
    if (ref[PTX_S_Q] != PTX_NO_REF)
        isa_insn_set_q(in, number_of(unit, ref[PTX_S_Q], ISA_PT));
    if (ref[PTX_S_R] != PTX_NO_REF)
        isa_insn_set_r(in, number_of(unit, ref[PTX_S_R], ISA_PT), isa_insn_r_neg(in));
    if (ref[PTX_S_RA] != PTX_NO_REF)
        isa_insn_set_ra(in, number_of(unit, ref[PTX_S_RA], ISA_PT), isa_insn_ra_neg(in));
    if (ref[PTX_S_RB] != PTX_NO_REF)
        isa_insn_set_rb(in, number_of(unit, ref[PTX_S_RB], ISA_PT), isa_insn_rb_neg(in));
    if (ref[PTX_S_GUARD] != PTX_NO_REF) {
        in->guard = (uint8_t)number_of(unit, ref[PTX_S_GUARD], ISA_PT);
        in->guard_scalar = is_scalar(unit, ref[PTX_S_GUARD]);
    }
    if (mi->barrier != PTX_NO_BARRIER &&
        (in->op == ISA_BRA || isa_op_info((enum isa_op)in->op)->flags & ISA_F_CALL))
        isa_insn_set_bo(in, mi->barrier);
}

static bool same_loc(const struct ptx_loc *a, const struct ptx_loc *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column && a->copy == b->copy;
}

static void put_line(struct emit *emit, uint32_t insn, const struct ptx_loc *loc, bool silent,
                     bool prologue_end)
{
    struct isa_object *object = emit->object;

    object->lines = ptx_object_grow(emit->unit->job, object->lines, &emit->unit->job->line_capacity,
                                    object->line_count + 1, sizeof *object->lines);
    object->lines[object->line_count++] =
        (struct isa_line){ .insn = insn, .file = (uint16_t)loc->file, .line = loc->line,
                           .column = loc->column, .is_stmt = !silent, .prologue_end = prologue_end };
}

/* Writes the function's line-table rows. Debuggers take the second line-table row of a function as the end of its prologue.
 * Therefore the line of the opening brace gets a line-table row even if no instruction of that line remains, so that the one of
 * the first statement is the second. */
static void put_lines(struct emit *emit, uint32_t base)
{
    struct ptx_unit *unit = emit->unit;
    struct isa_object *object = emit->object;
    const struct ptx_loc *locs = unit->module->locs.at, *shown = NULL;
    const uint32_t start = object->line_count, opening = unit->function->opening;
    uint32_t at = 0;
    bool silent = false, in_body = false;

    /* code before the first .loc gets the location of that .loc */
    for (size_t i = 0; i < unit->code.count && at == 0; i++)
        at = unit->code.at[i].loc;
    if (at == 0)
        return;
    for (size_t i = 0; i < unit->code.count; i++) {
        if (unit->code.at[i].loc != 0)
            at = unit->code.at[i].loc;
        bool is_silent = ((unit->code.at[i].flags & PTX_MI_UNHOOKED) != 0 || locs[at].silent) && in_body;

        if (emit->index[i] == emit->index[i + 1] ||
            (shown != NULL && same_loc(&locs[at], shown) && (is_silent || !silent)))
            continue;
        if (shown == NULL && opening != 0 && !same_loc(&locs[at], &locs[opening]))
            put_line(emit, base + emit->index[i], &locs[opening], false, false);
        shown = &locs[at];
        silent = is_silent;
        put_line(emit, base + emit->index[i], shown, silent,
                 !in_body && object->line_count == start + 1);
        in_body |= object->line_count > start + 1;
    }
    if (object->line_count == start + 1)
        object->lines[start].prologue_end = true;
}

/* ---- loops --------------------------------------------------------------- */

static void add_line(const struct ptx_unit *unit, struct isa_loop *loop, uint32_t loc)
{
    const struct ptx_loc *at = &unit->module->locs.at[loc];

    if (loc == 0 || at->line == 0 || (loop->file != 0 && loop->file != at->file))
        return;
    loop->file = (uint16_t)at->file;
    if (loop->from_line == 0 || at->line < loop->from_line)
        loop->from_line = at->line;
    if (at->line > loop->to_line)
        loop->to_line = at->line;
}

/* Describes the part of loop @l that is still in the code. @member has the blocks of the loop. Returns false if no block
 * that enters the loop, or no backward branch, is left in the code. */
static bool describe_loop(struct emit *emit, uint32_t l, const uint32_t *member, size_t members,
                          uint32_t base, struct isa_loop *loop)
{
    struct ptx_unit *unit = emit->unit;
    struct {
        PTX_LIST(uint32_t) latches, exits;
    } ends = { .latches = { 0 } };
    uint32_t header = PTX_NONE;

    for (size_t m = 0; m < members; m++) {
        const struct ptx_block *block = &unit->blocks.at[member[m]];
        uint32_t b = member[m];
        bool entered = b == 0;

        for (uint32_t k = 0; k < block->pred_count; k++)
            entered |= !ptx_in_loop(unit, block->pred[k], l);
        if (entered && header == PTX_NONE)
            header = b;
        for (uint32_t i = block->first; i < block->first + block->count; i++)
            add_line(unit, loop, unit->code.at[i].loc);
    }
    if (header == PTX_NONE)
        return false;
    for (size_t m = 0; m < members; m++) {
        const struct ptx_block *block = &unit->blocks.at[member[m]];
        uint32_t end = emit->index[block->first + block->count];
        bool back = false, out = block->succ_count == 0;

        if (end == emit->index[block->first])
            continue;
        for (unsigned k = 0; k < block->succ_count; k++) {
            back |= block->succ[k] == header;
            out |= !ptx_in_loop(unit, block->succ[k], l);
        }
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            if (unit->code.at[i].in.op == ISA_EXIT && emit->index[i] + 1 != end)
                *PTX_PUSH(unit->job, ends.exits) = base + emit->index[i];
        }
        if (back)
            *PTX_PUSH(unit->job, ends.latches) = base + end - 1;
        if (out || unit->code.at[block->first + block->count - 1].in.op == ISA_EXIT)
            *PTX_PUSH(unit->job, ends.exits) = base + end - 1;
    }
    loop->header = base + emit->index[unit->blocks.at[header].first];
    loop->latch_count = (uint32_t)ends.latches.count;
    loop->exit_count = (uint32_t)ends.exits.count;
    loop->latches = lw_arena_alloc(&emit->object->arena, (ends.latches.count + 1) * sizeof(uint32_t));
    loop->exits = lw_arena_alloc(&emit->object->arena, (ends.exits.count + 1) * sizeof(uint32_t));
    if (loop->latches == NULL || loop->exits == NULL)
        ptx_fail(unit->job, 0, LW_ENOMEM, "the host has no memory for the translation");
    if (ends.latches.count != 0)
        memcpy(loop->latches, ends.latches.at, ends.latches.count * sizeof(uint32_t));
    if (ends.exits.count != 0)
        memcpy(loop->exits, ends.exits.at, ends.exits.count * sizeof(uint32_t));
    return loop->latch_count != 0;
}

/* Returns a list of the blocks of each loop, in order. The blocks of loop l begin at index @first[l]. */
static uint32_t *loop_members(struct ptx_unit *unit, size_t *first)
{
    size_t n = unit->loops.count, at = 0;
    uint32_t *member;

    for (uint32_t b = 0; b < unit->blocks.count; b++) {
        for (uint32_t l = unit->blocks.at[b].loop; l != PTX_NONE; l = unit->loops.at[l].parent)
            first[l]++;
    }
    for (size_t l = 0; l <= n; l++) { /* sets first[l] to the end of loop l's part of the list; the loop below fills this
                                       * part from its end, and so moves first[l] to the start */
        at += l < n ? first[l] : 0;
        first[l] = at;
    }
    member = PTX_ARRAY(unit->job, uint32_t, at + 1);
    for (uint32_t b = (uint32_t)unit->blocks.count; b-- > 0;) {
        for (uint32_t l = unit->blocks.at[b].loop; l != PTX_NONE; l = unit->loops.at[l].parent)
            member[--first[l]] = b;
    }
    return member;
}

struct placed_loop {
    uint32_t header, index;
};
static int by_header(const void *a, const void *b)
{
    const struct placed_loop *x = a, *y = b;

    if (x->header != y->header)
        return x->header < y->header ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Stores the loops in the object, sorted by header. Loops are described from the highest number down, so that parents,
 * which have higher numbers, come before their children. */
static void put_loops(struct emit *emit, uint32_t base)
{
    struct ptx_unit *unit = emit->unit;
    struct isa_object *object = emit->object;
    size_t n = unit->loops.count, count = 0;
    struct isa_loop *found = PTX_ARRAY(unit->job, struct isa_loop, n + 1);
    uint32_t *number = PTX_ARRAY(unit->job, uint32_t, n + 1); /* 1 + index of the loop in `found` */
    struct placed_loop *order = PTX_ARRAY(unit->job, struct placed_loop, n + 1);
    uint32_t *rank = PTX_ARRAY(unit->job, uint32_t, n + 1);
    size_t *first = PTX_ARRAY(unit->job, size_t, n + 1);

    if (n == 0)
        return;
    const uint32_t *member = loop_members(unit, first);

    for (size_t l = n; l-- > 0;) {
        struct isa_loop *loop = &found[count];
        uint32_t up = unit->loops.at[l].parent;

        if (!describe_loop(emit, (uint32_t)l, member + first[l], first[l + 1] - first[l], base, loop)) {
            memset(loop, 0, sizeof *loop);
            continue;
        }
        while (up != PTX_NONE && number[up] == 0)
            up = unit->loops.at[up].parent;
        loop->parent = up == PTX_NONE ? UINT32_MAX : number[up] - 1;
        loop->depth = up == PTX_NONE ? 1 : found[number[up] - 1].depth + 1;
        number[l] = (uint32_t)++count;
    }
    for (uint32_t i = 0; i < count; i++) /* sorts by header; with equal headers a parent precedes its child */
        order[i] = (struct placed_loop){ found[i].header, i };
    qsort(order, count, sizeof *order, by_header);
    for (uint32_t i = 0; i < count; i++)
        rank[order[i].index] = i;
    object->loops = ptx_object_grow(unit->job, object->loops, &unit->job->loop_capacity,
                                    object->loop_count + count, sizeof *object->loops);
    for (uint32_t i = 0; i < count; i++) {
        struct isa_loop *loop = &object->loops[object->loop_count + i];

        *loop = found[order[i].index];
        if (loop->parent != UINT32_MAX)
            loop->parent = object->loop_count + rank[loop->parent];
    }
    object->loop_count += (unsigned)count;
}

/** Encodes @in to *word. Sets *full to the decoded word, which also has the fields that the operation implies, such as
 *  the kinds of its registers. */
static void encode(const struct ptx_unit *unit, const struct ptx_mi *mi, const struct isa_insn *in, struct isa_word *word,
                   struct isa_insn *full)
{
    struct lw_error err;

    if (isa_insn_encode(in, word, &err) != LW_OK)
        ptx_fail(unit->job, mi->line, LW_ESTATE, "internal error: %s", err.text);
    (void)isa_insn_decode(*word, full);
}

void ptx_emit(struct ptx_unit *unit, struct isa_function *function)
{
    struct emit emit = { .unit = unit, .object = unit->object };
    struct isa_object *object = unit->object;
    uint32_t base = object->text_count, count = 0, relocs = 0;
    struct isa_insn *insns;
    struct lw_error err;

    emit.index = PTX_ARRAY(unit->job, uint32_t, unit->code.count + 1);
    for (size_t i = 0; i < unit->code.count; i++) {
        emit.index[i] = count;
        count += !is_empty(unit, &unit->code.at[i]) + ptx_has_lat_barrier(unit, &unit->code.at[i]);
        relocs += (unit->code.at[i].flags & (PTX_MI_RELOC_LOW | PTX_MI_RELOC_HIGH)) != 0;
    }
    emit.index[unit->code.count] = count;
    object->text = ptx_object_grow(unit->job, object->text, &unit->job->text_capacity, base + count,
                                   sizeof *object->text);
    object->relocs = ptx_object_grow(unit->job, object->relocs, &unit->job->reloc_capacity,
                                     object->reloc_count + relocs, sizeof *object->relocs);
    insns = PTX_ARRAY(unit->job, struct isa_insn, count + 1);
    for (size_t i = 0; i < unit->code.count; i++) {
        const struct ptx_mi *mi = &unit->code.at[i];
        struct isa_insn in = mi->in;
        uint32_t place = emit.index[i];

        if (is_empty(unit, mi))
            continue;
        if (ptx_has_lat_barrier(unit, mi)) {
            struct ptx_mi barrier;

            ptx_mi_init(&barrier, ISA_BAR_SYNCH_PARTNER, mi->loc, mi->line);
            encode(unit, mi, &barrier.in, &object->text[base + place], &insns[place]);
            place++;
        }
        fill_registers(unit, mi, &in);
        if (mi->target != PTX_NONE) {
            uint32_t to = emit.index[unit->blocks.at[mi->target].first];

            in.x = to - (place + 1);
        }
        if (mi->flags & (PTX_MI_RELOC_LOW | PTX_MI_RELOC_HIGH)) {
            const struct ptx_symbol *s = &unit->module->symbols.at[mi->symbol];

            bool function = s->kind == PTX_SYM_FUNCTION;

            if (function && !unit->module->functions.at[s->function].calls.reachable)
                ptx_fail(unit->job, mi->line, LW_EUNSUPP, "kernel '%s', which is used here, could not be translated",
                         s->name);
            object->relocs[object->reloc_count++] = (struct isa_reloc){
                .insn = base + place, .high = (mi->flags & PTX_MI_RELOC_HIGH) != 0,
                .to_function = function,
                .to = function ? unit->module->functions.at[s->function].calls.index : s->variable,
                .addend = (int64_t)mi->imm64
            };
        }
        ptx_bounds_put(unit, mi, base + place);
        encode(unit, mi, &in, &object->text[base + place], &insns[place]);
    }
    if (!isa_control_fill(insns, count))
        ptx_fail(unit->job, 0, LW_ENOMEM, "the host has no memory for the translation");
    for (uint32_t i = 0; i < count; i++) {
        if (isa_insn_encode(&insns[i], &object->text[base + i], &err) != LW_OK)
            ptx_fail(unit->job, 0, LW_ESTATE, "internal error: %s", err.text);
    }
    object->text_count = base + count;
    function->first = base;
    function->count = count;
    put_lines(&emit, base);
    put_loops(&emit, base);
    ptx_debug_function(unit, base, emit.index);
}
