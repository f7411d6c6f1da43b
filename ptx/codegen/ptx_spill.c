/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spilling of values that got no register. Each value gets a spill slot in local memory (a predicate gets a vector
 * register), which every definition writes. A use reads a piece of the value: a part of its live range, with a register of
 * its own.
 *
 *   - A loop that uses the value has one piece, loaded before the loop.
 *   - Elsewhere, uses that follow each other closely in straight-line code, without a call between them,
 *     share a piece from the first load or write on.
 *
 * A piece that gets no register either is split again. The piece of a loop is split into pieces of inner loops and of
 * straight-line code. A piece of straight-line code is split into one piece for each instruction, and these pieces are
 * never spilled. A value that is a literal or a parameter is rematerialised instead of stored and loaded.
 */
#include "ptx/ptx_priv.h"

enum {
    DEEPEST = 6,    /* a loop that is nested more deeply than this gets no piece of its own */
    LINE = 0xff,    /* level of a piece of straight-line code */
    NEAR = 40       /* greatest number of instructions between two uses that share a piece of straight-line code */
};

struct piece {
    uint32_t loop, vreg; /* vreg: the register that has the piece */
    uint32_t next; /* 1 + index of the next piece of the same value, or 0 if there is none */
};
struct load {      /* load of a loop's piece, at the end of the block before the loop */
    uint32_t value, vreg; /* value: the spilled value; vreg: the register that has the piece */
    uint32_t next; /* 1 + index of the next load of the same block, or 0 if there is none */
};
struct split {
    struct ptx_unit *unit;
    const uint32_t *rep;    /* by vreg: the vreg with which this vreg was coalesced */
    const uint8_t *spilled; /* by vreg: whether the value is spilled */
    PTX_LIST(struct ptx_mi) code;
    uint32_t *remat;        /* by vreg: 1 + the move that is the only definition of the value, if each use can repeat the
                             * move; otherwise 0 */
    uint32_t *here;         /* by vreg: 1 + the current piece of the value in straight-line code */
    uint32_t *touched;      /* by vreg: the last instruction that used the current piece */
    PTX_LIST(uint32_t) open; /* vregs that have a current piece */
    uint32_t *first_piece;  /* by vreg: 1 + index of the first piece of a loop of the value, or 0 if there is none */
    PTX_LIST(struct piece) pieces;
    uint32_t *first_load;   /* by block: 1 + index of the first load at the end of the block, or 0 if there is none */
    PTX_LIST(struct load) loads;
    uint32_t *entry;        /* by loop: 1 + the block before the loop, if no other block enters the loop and the block has no
                             * other successor; otherwise 0 */
    uint32_t *header;       /* by loop: header block of the loop */
};

static uint32_t new_vreg(struct ptx_unit *unit, unsigned rows)
{
    (void)ptx_vreg_new(unit, rows);
    return (uint32_t)(unit->vregs.count - 1);
}

static struct ptx_mi *put_like(struct split *sp, const struct ptx_mi *like, enum isa_op op)
{
    struct ptx_mi *mi = PTX_PUSH(sp->unit->job, sp->code);

    ptx_mi_init(mi, op, like->loc, like->line);
    mi->flags = PTX_MI_SPILL;
    return mi;
}

/* ---- spill slots ------------------------------------------------------------ */

static uint32_t home_of(struct split *sp, uint32_t v)
{
    struct ptx_unit *unit = sp->unit;
    unsigned rows = unit->vregs.at[v].rows;
    uint32_t home;

    if (unit->vregs.at[v].home != 0)
        return unit->vregs.at[v].home - 1;
    if (rows == 0) {
        home = new_vreg(unit, 1);
    } else {
        unit->local_bytes = (unit->local_bytes + rows * 4 - 1) & ~(rows * 4 - 1);
        if (unit->local_bytes > 1u << 22)
            ptx_fail(unit->job, unit->function->line, LW_EUNSUPP,
                     "'%s' needs more than 4 MiB of local memory", unit->function->name);
        home = unit->local_bytes;
        unit->local_bytes += rows * 4;
    }
    unit->vregs.at[v].home = home + 1;
    return home;
}

static void put_local(struct split *sp, const struct ptx_mi *like, bool store, ptx_ref ref,
                      unsigned rows, uint32_t offset)
{
    struct ptx_mi *mi = put_like(sp, like, store ? ISA_ST_LOCAL : ISA_LD_LOCAL);

    mi->ref[PTX_S_A] = sp->unit->sp;
    mi->ref[store ? PTX_S_X : PTX_S_D] = ref;
    mi->rows[PTX_S_A] = 1;
    mi->rows[PTX_S_X] = mi->rows[PTX_S_D] = (uint8_t)rows;
    mi->in.x = offset << 8;
    isa_mod_set(&mi->in, ISA_MOD_AMODE, ISA_AMODE_32);
    isa_mod_set(&mi->in, ISA_MOD_SIZE,
                rows == 1 ? ISA_SIZE_B32 : rows == 2 ? ISA_SIZE_B64 : ISA_SIZE_V4B32);
}

/* Loads the value of @v into its piece @t. */
static void fetch(struct split *sp, const struct ptx_mi *like, uint32_t v, uint32_t t)
{
    unsigned rows = sp->unit->vregs.at[v].rows;

    if (sp->remat[v] != 0) {
        struct ptx_mi *reload = PTX_PUSH(sp->unit->job, sp->code);

        *reload = sp->unit->code.at[sp->remat[v] - 1];
        reload->ref[PTX_S_D] = ptx_ref_of(t, 0);
        reload->loc = like->loc;
        reload->line = like->line;
        reload->flags |= PTX_MI_SPILL;
    } else if (rows == 0) {
        uint32_t home = home_of(sp, v);
        struct ptx_mi *test = put_like(sp, like, ISA_V_SETP_U32);

        isa_mod_set(&test->in, ISA_MOD_CMP, ISA_CMP_NE);
        test->ref[PTX_S_A] = ptx_ref_of(home, 0);
        test->ref[PTX_S_X] = PTX_ZERO;
        test->ref[PTX_S_P] = ptx_ref_of(t, 0);
        test->ref[PTX_S_R] = PTX_ZERO;
        test->rows[PTX_S_A] = test->rows[PTX_S_X] = 1;
    } else {
        put_local(sp, like, false, ptx_ref_of(t, 0), rows, home_of(sp, v));
    }
}

/* Emits the store of piece @t to the spill slot of @v, after an instruction that wrote @t. @member: the register that the
 * code named before coalescing. The store instruction records @member for debuggers. */
static void deposit(struct split *sp, const struct ptx_mi *like, uint32_t v, uint32_t member,
                    uint32_t t)
{
    unsigned rows = sp->unit->vregs.at[v].rows;
    uint32_t home = home_of(sp, v);

    if (rows == 0) {
        struct ptx_mi *sel = put_like(sp, like, ISA_V_SELP_B32);

        sel->ref[PTX_S_D] = ptx_ref_of(home, 0);
        sel->ref[PTX_S_A] = PTX_ZERO;
        sel->in.xkind = ISA_X_IMM;
        sel->in.x = 1;
        sel->ref[PTX_S_R] = ptx_ref_of(t, 0);
        sel->rows[PTX_S_D] = sel->rows[PTX_S_A] = sel->rows[PTX_S_X] = 1;
        isa_insn_set_r(&sel->in, ISA_PT, true);
    } else {
        put_local(sp, like, true, ptx_ref_of(t, 0), rows, home);
        sp->code.at[sp->code.count - 1].symbol = member;
    }
}

/* Returns true if @mi is a load or store that an earlier round inserted for a piece, and if this round splits the piece
 * again. The caller drops @mi, because the new pieces have their own loads and stores. The note for debuggers of a
 * dropped store moves to the store that replaces it. */
static bool is_own_transfer(struct split *sp, const struct ptx_mi *mi)
{
    enum ptx_slot slot = mi->in.op == ISA_LD_LOCAL   ? PTX_S_D
                         : mi->in.op == ISA_ST_LOCAL ? PTX_S_X
                         : mi->in.op == ISA_V_SETP_U32 ? PTX_S_P
                                                       : PTX_S_R;
    uint32_t v, at;

    if (!(mi->flags & PTX_MI_SPILL) || !ptx_ref_is_vreg(mi->ref[slot]))
        return false;
    v = ptx_ref_vreg(mi->ref[slot]);
    if (!sp->spilled[sp->rep[v]] || sp->unit->vregs.at[v].home == 0)
        return false;
    switch (mi->in.op) {
    case ISA_LD_LOCAL: case ISA_ST_LOCAL: at = mi->in.x >> 8; break;
    case ISA_V_SETP_U32: at = ptx_ref_vreg(mi->ref[PTX_S_A]); break;
    case ISA_V_SELP_B32: at = ptx_ref_vreg(mi->ref[PTX_S_D]); break;
    default: return false;
    }
    if (at != sp->unit->vregs.at[v].home - 1)
        return false;
    for (size_t i = sp->code.count; mi->in.op == ISA_ST_LOCAL && i-- > 0 && i + 3 >= sp->code.count;) {
        struct ptx_mi *synthetic = &sp->code.at[i];

        if (synthetic->flags & PTX_MI_SPILL && synthetic->in.op == ISA_ST_LOCAL && synthetic->in.x == mi->in.x)
            synthetic->symbol = mi->symbol;
    }
    return true;
}

/* ---- pieces of loops -------------------------------------------------------- */

static void find_entries(struct split *sp)
{
    const struct ptx_unit *unit = sp->unit;
    enum { SEVERAL = UINT32_MAX };

    for (uint32_t b = 0; b < unit->blocks.count; b++) {
        const struct ptx_block *block = &unit->blocks.at[b];

        for (uint32_t l = block->loop; l != PTX_NONE; l = unit->loops.at[l].parent) {
            for (uint32_t k = 0; k < block->pred_count; k++) {
                uint32_t p = block->pred[k];

                if (ptx_in_loop(unit, p, l))
                    continue;
                sp->entry[l] = sp->entry[l] == 0 && unit->blocks.at[p].succ_count == 1 ? p + 1 : SEVERAL;
                sp->header[l] = b;
            }
            if (b == 0)
                sp->entry[l] = SEVERAL;
        }
    }
    for (size_t l = 0; l < unit->loops.count; l++) {
        if (sp->entry[l] == SEVERAL)
            sp->entry[l] = 0;
    }
}

/* Returns the loop around @block whose uses of @v share one piece: the loop that is one level deeper than the level of @v.
 * Returns PTX_NONE if there is no such loop; uses in @block then get pieces of straight-line code. */
static uint32_t loop_for(const struct split *sp, uint32_t v, uint32_t block)
{
    const struct ptx_unit *unit = sp->unit;
    uint32_t depth = unit->vregs.at[v].level + 1u, l = unit->blocks.at[block].loop;

    if (depth > DEEPEST)
        return PTX_NONE;
    while (l != PTX_NONE && unit->loops.at[l].depth > depth)
        l = unit->loops.at[l].parent;
    return l != PTX_NONE && unit->loops.at[l].depth == depth && sp->entry[l] != 0 ? l : PTX_NONE;
}

static uint32_t piece_of_loop(const struct split *sp, uint32_t v, uint32_t loop)
{
    for (uint32_t i = sp->first_piece[v]; i != 0; i = sp->pieces.at[i - 1].next) {
        if (sp->pieces.at[i - 1].loop == loop)
            return sp->pieces.at[i - 1].vreg;
    }
    return PTX_NONE;
}

static void plan_loops(struct split *sp)
{
    struct ptx_unit *unit = sp->unit;
    uint32_t *lives = PTX_ARRAY(unit->job, uint32_t, unit->vregs.count); /* by vreg: 1 + the loop into whose header the
                                                                          * vreg is live */

    for (uint32_t b = 0; b < unit->blocks.count; b++) {
        const struct ptx_block *block = &unit->blocks.at[b];

        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];

            if (mi->flags & PTX_MI_PIN || is_own_transfer(sp, mi))
                continue;
            for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
                uint32_t v, loop, t;

                if (!ptx_ref_is_vreg(mi->ref[s]))
                    continue;
                v = sp->rep[ptx_ref_vreg(mi->ref[s])];
                if (!sp->spilled[v] || (loop = loop_for(sp, v, b)) == PTX_NONE ||
                    (sp->remat[v] != 0 && ptx_mi_writes(mi, (enum ptx_slot)s)) ||
                    piece_of_loop(sp, v, loop) != PTX_NONE)
                    continue;
                t = new_vreg(unit, unit->vregs.at[v].rows);
                unit->vregs.at[t].level = (uint8_t)(unit->vregs.at[v].level + 1);
                if (sp->remat[v] == 0)
                    unit->vregs.at[t].home = home_of(sp, v) + 1;
                *PTX_PUSH(unit->job, sp->pieces) = (struct piece){ loop, t, sp->first_piece[v] };
                sp->first_piece[v] = (uint32_t)sp->pieces.count;
            }
        }
    }
    for (uint32_t l = 0; l < unit->loops.count && sp->pieces.count != 0; l++) {
        if (sp->entry[l] == 0)
            continue;
        uint32_t from = sp->entry[l] - 1, header = sp->header[l];

        for (size_t i = 0; i < unit->live_in[header].count; i++) {
            uint32_t v = sp->rep[unit->live_in[header].at[i]], t;

            if (!sp->spilled[v] || lives[v] == l + 1 || (t = piece_of_loop(sp, v, l)) == PTX_NONE)
                continue;
            lives[v] = l + 1; /* one load is enough: live_in may contain several vregs that are coalesced into @v */
            *PTX_PUSH(unit->job, sp->loads) = (struct load){ v, t, sp->first_load[from] };
            sp->first_load[from] = (uint32_t)sp->loads.count;
        }
    }
}

/* ---- pieces of straight-line code ------------------------------------------- */

static void close_pieces(struct split *sp)
{
    for (size_t i = 0; i < sp->open.count; i++)
        sp->here[sp->open.at[i]] = 0;
    sp->open.count = 0;
}

static uint32_t new_piece(struct split *sp, uint32_t v, uint32_t index)
{
    struct ptx_unit *unit = sp->unit;
    uint32_t t = new_vreg(unit, unit->vregs.at[v].rows);

    /* A piece for one instruction must get a register. piece_to_read() resets no_spill when a second instruction uses the
     * piece. */
    unit->vregs.at[t].no_spill = true;
    unit->vregs.at[t].level = LINE;
    if (sp->remat[v] == 0)
        unit->vregs.at[t].home = home_of(sp, v) + 1;
    if (sp->here[v] == 0)
        *PTX_PUSH(unit->job, sp->open) = v;
    sp->here[v] = t + 1;
    sp->touched[v] = index;
    return t;
}

static uint32_t piece_to_read(struct split *sp, const struct ptx_mi *mi, uint32_t v, uint32_t index)
{
    struct ptx_unit *unit = sp->unit;
    uint32_t near = unit->vregs.at[v].level == LINE ? 0 : NEAR, t;

    if (sp->here[v] != 0 && index - sp->touched[v] <= near) {
        if (index != sp->touched[v])
            unit->vregs.at[sp->here[v] - 1].no_spill = false;
        sp->touched[v] = index;
        return sp->here[v] - 1;
    }
    t = new_piece(sp, v, index);
    fetch(sp, mi, v, t);
    return t;
}

static void rewrite_insn(struct split *sp, uint32_t block, uint32_t index)
{
    struct ptx_unit *unit = sp->unit;
    struct ptx_mi mi = unit->code.at[index];
    uint32_t out_v[3], out_t[3], out_m[3];
    unsigned outs = 0;

    /* A pin that keeps a source variable live to the end of its scope is dropped if the variable is spilled, because the
     * spill slot has the value anyway. */
    if (mi.flags & PTX_MI_PIN && ptx_ref_is_vreg(mi.ref[PTX_S_A]) &&
        sp->spilled[sp->rep[ptx_ref_vreg(mi.ref[PTX_S_A])]])
        return;
    if (is_own_transfer(sp, &mi))
        return;
    for (unsigned pass = 0; pass < 2; pass++) { /* the first pass handles reads, the second writes */
        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            enum ptx_slot slot = (enum ptx_slot)s;
            ptx_ref ref = unit->code.at[index].ref[s];
            bool written = ptx_mi_writes(&unit->code.at[index], slot);
            uint32_t v, t, loop;

            if (!ptx_ref_is_vreg(ref) || written != (pass == 1))
                continue;
            v = sp->rep[ptx_ref_vreg(ref)];
            if (!sp->spilled[v])
                continue;
            if (written && sp->remat[v] != 0)
                return; /* drops the definition, because each use repeats it (rematerialisation) */
            loop = loop_for(sp, v, block);
            t = loop == PTX_NONE ? PTX_NONE : piece_of_loop(sp, v, loop);
            if (t == PTX_NONE) /* a partial write needs the old value */
                t = written && !(mi.flags & PTX_MI_PARTIAL) ? new_piece(sp, v, index)
                                                            : piece_to_read(sp, &mi, v, index);
            if (written) {
                out_v[outs] = v;
                out_m[outs] = ptx_ref_vreg(ref);
                out_t[outs++] = t;
            }
            mi.ref[s] = ptx_ref_of(t, ptx_ref_row(ref));
        }
    }
    *PTX_PUSH(unit->job, sp->code) = mi;
    for (unsigned k = 0; k < outs; k++)
        deposit(sp, &mi, out_v[k], out_m[k], out_t[k]);
    if (isa_op_info((enum isa_op)mi.in.op)->flags & ISA_F_CALL)
        close_pieces(sp);
}

static void rewrite_block(struct split *sp, uint32_t b)
{
    struct ptx_unit *unit = sp->unit;
    struct ptx_block *block = &unit->blocks.at[b];
    uint32_t first = (uint32_t)sp->code.count, end = block->first + block->count, last = end;

    if (sp->first_load[b] != 0 && block->count != 0 &&
        (isa_op_info((enum isa_op)unit->code.at[end - 1].in.op)->flags & ISA_F_BRANCH))
        last--;
    for (uint32_t i = block->first; i < last; i++)
        rewrite_insn(sp, b, i);
    for (uint32_t k = sp->first_load[b]; k != 0; k = sp->loads.at[k - 1].next) {
        struct ptx_mi like = { .loc = block->loc, .line = block->line };

        if (block->count != 0)
            like = unit->code.at[end - 1];
        fetch(sp, &like, sp->loads.at[k - 1].value, sp->loads.at[k - 1].vreg);
    }
    for (uint32_t i = last; i < end; i++)
        rewrite_insn(sp, b, i);
    close_pieces(sp);
    block->first = first;
    block->count = (uint32_t)sp->code.count - first;
}

static void find_remats(struct split *sp)
{
    struct ptx_unit *unit = sp->unit;
    uint32_t *defs = PTX_ARRAY(unit->job, uint32_t, unit->vregs.count);

    for (size_t i = 0; i < unit->code.count; i++) {
        const struct ptx_mi *mi = &unit->code.at[i];

        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            uint32_t v;

            if (!ptx_mi_writes(mi, (enum ptx_slot)s))
                continue;
            v = sp->rep[ptx_ref_vreg(mi->ref[s])];
            bool move = (mi->in.op == ISA_V_MOV_B32 || mi->in.op == ISA_V_MOV_B64) &&
                        (mi->in.xkind == ISA_X_IMM || mi->in.xkind == ISA_X_CONST) &&
                        !(mi->flags & (PTX_MI_PARTIAL | PTX_MI_RELOC_LOW | PTX_MI_RELOC_HIGH)) &&
                        !ptx_ref_is_vreg(mi->ref[PTX_S_GUARD]) &&
                        mi->rows[PTX_S_D] == unit->vregs.at[v].rows;

            /* If @v has a spill slot, @v is a piece of a value that an earlier round split. The only move to @v is one of
             * several definitions of that value, so @v cannot be rematerialised. */
            move = move && unit->vregs.at[v].home == 0;
            sp->remat[v] = defs[v]++ == 0 && move ? (uint32_t)i + 1 : 0;
        }
    }
}

void ptx_split(struct ptx_unit *unit, const uint32_t *rep, const uint8_t *spilled)
{
    struct split sp = { .unit = unit, .rep = rep, .spilled = spilled };
    size_t n = unit->vregs.count;

    sp.remat = PTX_ARRAY(unit->job, uint32_t, n);
    sp.here = PTX_ARRAY(unit->job, uint32_t, n);
    sp.touched = PTX_ARRAY(unit->job, uint32_t, n);
    sp.first_piece = PTX_ARRAY(unit->job, uint32_t, n);
    sp.first_load = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count + 1);
    sp.entry = PTX_ARRAY(unit->job, uint32_t, unit->loops.count + 1);
    sp.header = PTX_ARRAY(unit->job, uint32_t, unit->loops.count + 1);
    find_remats(&sp);
    find_entries(&sp);
    plan_loops(&sp);
    for (uint32_t b = 0; b < unit->blocks.count; b++)
        rewrite_block(&sp, b);
    unit->code.at = sp.code.at;
    unit->code.count = sp.code.count;
    unit->code.capacity = sp.code.capacity;
}
