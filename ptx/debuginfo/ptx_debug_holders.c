/* SPDX-License-Identifier: Apache-2.0 */
/* Finds for each instruction word of a function the physical registers and spill slots that contain its PTX registers. A
 * physical register contains a PTX register from each write of the PTX register until the physical register is written for
 * another purpose. The search is a forward data-flow analysis over the allocated code, for up to 64 holders at a time. */
#include "ptx/debuginfo/ptx_debug_varloc_priv.h"

enum { NO_ROW = 0xffff };

/* ---- registers ----------------------------------------------------------------------------- */

uint32_t ptx_debug_register(struct ptx_placing *pl, const char *name)
{
    const uint32_t *known;

    if (pl->reg_map.count == 0) {
        for (uint32_t r = 0; r < pl->fn->regs.count; r++)
            ptx_map_put(pl->job, &pl->reg_map, pl->fn->regs.at[r].name,
                        strlen(pl->fn->regs.at[r].name), r);
    }
    known = ptx_map_find(&pl->reg_map, name, strlen(name));
    return known != NULL ? *known : PTX_NONE;
}

/* Returns the PTX register into which a statement loads a whole parameter that the translator keeps in a virtual register, or
 * PTX_NONE. Stores this virtual register in *@home. */
static uint32_t loaded_parameter(const struct ptx_placing *pl, const struct ptx_insn *in, uint32_t *home)
{
    const struct ptx_operand *to = in->operand, *from = in->operand_count == 2 ? &in->operand[1] : NULL;
    const struct ptx_symbol *s;
    unsigned bytes;

    if (in->op != PTX_LD || from == NULL || in->guard != PTX_NONE || in->type_count != 1 || to->kind != PTX_O_REG ||
        from->kind != PTX_O_ADDRESS || from->reg != PTX_NONE || from->symbol == PTX_NONE || from->imm != 0 ||
        pl->fn->regs.at[to->reg].definitions != 1)
        return PTX_NONE;
    s = &pl->module->symbols.at[from->symbol];
    bytes = ptx_type_bytes((enum ptx_type)in->type[0]);
    *home = s->home_vreg;
    for (size_t i = 0; i < pl->fn->params.count; i++)
        if (pl->fn->params.at[i] == from->symbol)
            return s->home == PTX_SPILL_REGISTER && (bytes == 4 || bytes == 8) && s->size_bytes == bytes &&
                           ptx_type_bytes(pl->fn->regs.at[to->reg].type) == bytes
                       ? to->reg
                       : PTX_NONE;
    return PTX_NONE;
}

uint32_t *ptx_debug_origins(const struct ptx_placing *pl)
{
    const struct ptx_unit *unit = pl->unit;
    uint32_t *origin = PTX_ARRAY(pl->job, uint32_t, unit->vregs.count + 1), home;

    for (uint32_t v = 0; v < unit->vregs.count; v++)
        origin[v] = unit->vregs.at[v].origin;
    for (size_t i = 0; i < pl->fn->insns.count && !pl->fn->kernel; i++) {
        const uint32_t reg = loaded_parameter(pl, &pl->fn->insns.at[i], &home);

        if (reg != PTX_NONE && home < unit->vregs.count && origin[home] == PTX_NONE)
            origin[home] = reg;
    }
    return origin;
}

static bool is_same_row_copy(const struct ptx_placing *pl, size_t i)
{
    const struct ptx_mi *mi = &pl->unit->code.at[i];

    return pl->index[i] == pl->index[i + 1] &&
           (mi->in.op == ISA_V_MOV_B32 || mi->in.op == ISA_V_MOV_B64 ||
            mi->in.op == ISA_S_MOV_B32 || mi->in.op == ISA_S_MOV_B64);
}

/* State of the analysis for up to 64 holders. A set of holders has one bit for each holder. */
struct flow {
    const struct ptx_holder *holder; /* the first of the up to 64 holders */
    unsigned count;
    uint64_t rows[ROW_COUNT]; /* by physical register: set of the holders that are in the register */
    uint64_t *of_vreg, *of_reg; /* by virtual register, and by PTX register: set of the register's holders */
};

static uint16_t row_of(const struct ptx_unit *unit, uint32_t vreg)
{
    return (uint16_t)(unit->assigned[vreg] + (unit->vregs.at[vreg].scalar ? FIRST_SCALAR : 0));
}

/* Returns true if a call in the function may change a physical register. Any call may change all scalar registers. */
static bool is_clobbered(const struct ptx_unit *unit, unsigned row)
{
    return row >= FIRST_SCALAR || unit->clobber.v[row / 64] >> (row % 64) & 1;
}

/* Returns true if an instruction stores a register to a spill slot. Coalesced registers share one slot. */
static bool is_deposit(const struct ptx_unit *unit, const struct ptx_mi *mi)
{
    return mi->in.op == ISA_ST_LOCAL && mi->flags & PTX_MI_SPILL &&
           mi->symbol < unit->vregs.count;
}

/* Returns the holders that are valid after instruction @i. @known: the holders that are valid before instruction @i. */
static uint64_t step(const struct ptx_placing *pl, const struct flow *flow, size_t i, uint64_t known)
{
    const struct ptx_unit *unit = pl->unit;
    const struct ptx_mi *mi = &unit->code.at[i];

    if (isa_op_info((enum isa_op)mi->in.op)->flags & ISA_F_CALL) {
        for (unsigned r = 0; r < ROW_COUNT; r++) {
            if (is_clobbered(unit, r))
                known &= ~flow->rows[r];
        }
    }
    for (unsigned h = 0; is_deposit(unit, mi) && h < flow->count; h++) {
        if (!flow->holder[h].spilled || flow->holder[h].offset != mi->in.x >> 8)
            continue;
        if (flow->holder[h].vreg == mi->symbol)
            known |= UINT64_C(1) << h;
        else
            known &= ~(UINT64_C(1) << h);
    }
    for (unsigned s = 0; s < PTX_S_M; s++) {
        uint32_t vreg;
        unsigned row;

        if (!ptx_mi_writes(mi, (enum ptx_slot)s))
            continue;
        vreg = ptx_ref_vreg(mi->ref[s]);
        if (unit->vregs.at[vreg].rows == 0 || unit->assigned[vreg] == NO_ROW)
            continue;
        row = row_of(unit, vreg) + ptx_ref_row(mi->ref[s]);
        if (!is_same_row_copy(pl, i)) {
            for (unsigned k = 0; k < mi->rows[s] && row + k < ROW_COUNT; k++)
                known &= ~flow->rows[row + k];
        }
        /* A write of the PTX register by any of its webs makes the value in all other holders outdated. */
        if (pl->origin[vreg] < pl->fn->regs.count)
            known &= ~flow->of_reg[pl->origin[vreg]];
        known |= flow->of_vreg[vreg];
    }
    return known;
}

/* Initialises the state for up to 64 holders from number @first on. */
static void begin(struct ptx_placing *pl, struct flow *flow, uint32_t first)
{
    memset(flow->rows, 0, sizeof flow->rows);
    flow->holder = &pl->holders.at[first];
    flow->count = pl->holders.count - first < 64 ? (unsigned)(pl->holders.count - first) : 64;
    for (unsigned h = 0; h < flow->count; h++) {
        const struct ptx_holder *holder = &flow->holder[h];

        for (unsigned k = 0; k < holder->rows && holder->row + k < ROW_COUNT; k++)
            flow->rows[holder->row + k] |= UINT64_C(1) << h;
        flow->of_vreg[holder->vreg] |= UINT64_C(1) << h;
        flow->of_reg[holder->reg] |= UINT64_C(1) << h;
    }
}

static void follow(struct ptx_placing *pl, struct flow *flow, uint64_t *in, uint32_t first)
{
    const struct ptx_unit *unit = pl->unit;
    size_t blocks = unit->blocks.count;
    uint32_t open[64];
    uint64_t shown = 0;
    bool changed = true;

    begin(pl, flow, first);
    in[0] = 0;
    for (size_t b = 1; b < blocks; b++)
        in[b] = ~UINT64_C(0);
    while (changed) { /* The sets only shrink, so the loop ends. For reducible control flow, it needs few rounds. */
        changed = false;
        for (size_t b = 0; b < blocks; b++) {
            const struct ptx_block *block = &unit->blocks.at[b];
            uint64_t known = in[b];

            if (!ptx_spend(pl, block->count))
                return; /* the budget of steps is used up, so these and the remaining sets of 64 holders get no result */
            for (uint32_t i = block->first; i < block->first + block->count; i++)
                known = step(pl, flow, i, known);
            for (unsigned s = 0; s < block->succ_count; s++) {
                if ((in[block->succ[s]] & known) != in[block->succ[s]]) {
                    in[block->succ[s]] &= known;
                    changed = true;
                }
            }
        }
    }
    for (size_t b = 0; b < blocks; b++) {
        const struct ptx_block *block = &unit->blocks.at[b];
        uint64_t known = in[b];

        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const uint64_t all = flow->count < 64 ? lw_mask(flow->count) : ~UINT64_C(0);
            uint64_t other = pl->index[i] != pl->index[i + 1] ? (known & all) ^ shown : 0;

            shown ^= other;
            for (; other != 0; other &= other - 1) {
                const unsigned h = lw_lowest(other);

                if (shown >> h & 1)
                    open[h] = pl->index[i];
                else
                    *PTX_PUSH(pl->job, pl->holders.at[first + h].spans) = (struct isa_span){ open[h], pl->index[i] };
            }
            known = step(pl, flow, i, known);
        }
    }
    for (; shown != 0; shown &= shown - 1) {
        const unsigned h = lw_lowest(shown);

        *PTX_PUSH(pl->job, pl->holders.at[first + h].spans) = (struct isa_span){ open[h], pl->count };
    }
    for (unsigned h = 0; h < flow->count; h++) {
        flow->of_vreg[flow->holder[h].vreg] = 0;
        flow->of_reg[flow->holder[h].reg] = 0;
    }
}

static void add_holder(struct ptx_placing *pl, struct ptx_holder holder)
{
    holder.next = pl->holder_of[holder.reg];
    *PTX_PUSH(pl->job, pl->holders) = holder;
    pl->holder_of[holder.reg] = (uint32_t)pl->holders.count;
}

void ptx_debug_find_holders(struct ptx_placing *pl)
{
    const struct ptx_unit *unit = pl->unit;

    pl->holder_of = PTX_ARRAY(pl->job, uint32_t, pl->fn->regs.count + 1);
    pl->origin = ptx_debug_origins(pl);
    for (uint32_t v = 0; v < unit->vregs.count; v++) {
        const struct ptx_vreg *vreg = &unit->vregs.at[v];

        if (pl->origin[v] >= pl->fn->regs.count || !pl->wanted[pl->origin[v]] || vreg->rows == 0 ||
            unit->assigned[v] == NO_ROW)
            continue;
        add_holder(pl, (struct ptx_holder){
            .reg = pl->origin[v], .vreg = v, .row = row_of(unit, v), .rows = vreg->rows
        });
    }
    for (size_t i = 0; i < unit->code.count; i++) {
        const struct ptx_mi *mi = &unit->code.at[i];
        bool known = false;

        if (!is_deposit(unit, mi) || pl->origin[mi->symbol] >= pl->fn->regs.count || !pl->wanted[pl->origin[mi->symbol]])
            continue;
        for (uint32_t h = pl->holder_of[pl->origin[mi->symbol]]; h != 0 && !known && ptx_spend(pl, 1);
             h = pl->holders.at[h - 1].next)
            known = pl->holders.at[h - 1].spilled && pl->holders.at[h - 1].vreg == mi->symbol;
        if (!known)
            add_holder(pl, (struct ptx_holder){
                .reg = pl->origin[mi->symbol], .vreg = mi->symbol, .spilled = true,
                .offset = mi->in.x >> 8
            });
    }
    if (pl->holders.count == 0)
        return;
    struct flow *flow = PTX_NEW(pl->job, struct flow);
    uint64_t *in = PTX_ARRAY(pl->job, uint64_t, unit->blocks.count + 1);

    flow->of_vreg = PTX_ARRAY(pl->job, uint64_t, unit->vregs.count + 1);
    flow->of_reg = PTX_ARRAY(pl->job, uint64_t, pl->fn->regs.count + 1);
    for (uint32_t first = 0; first < pl->holders.count; first += 64)
        follow(pl, flow, in, first);
}

/* ---- locations of holders --------------------------------------------------------------------- */

struct isa_var_location ptx_debug_holder_location(const struct ptx_placing *pl, const struct ptx_holder *holder,
                                     uint32_t from, uint32_t to)
{
    struct isa_var_location location = { .from = pl->base + from, .to = pl->base + to };

    if (holder->spilled) {
        location.value = pl->fn->kernel ? ISA_LOCAL_BASE + holder->offset
                                     : holder->offset - pl->fn->calls.tree.frame_bytes;
        location.kind = pl->fn->kernel ? ISA_LOCATION_ADDRESS : ISA_LOCATION_FRAME;
        return location;
    }
    /* While a call runs, the callee may have changed this register, or saved it in its own frame. */
    location.innermost_only = holder->row + holder->rows > PTX_FIRST_SAVED ||
                      is_clobbered(pl->unit, holder->row) ||
                      is_clobbered(pl->unit, holder->row + holder->rows - 1u);
    location.value = holder->row < FIRST_SCALAR
                      ? WINDOW_VECTOR + 4 * (uint64_t)holder->row
                      : WINDOW_SCALAR + 4 * (uint64_t)(holder->row - FIRST_SCALAR);
    return location;
}

/* ---- copies and literals ------------------------------------------------------------------------ */

uint32_t ptx_debug_copied_from(const struct ptx_placing *pl, uint32_t reg)
{
    const struct ptx_operand *from =
        pl->move_of != NULL && pl->move_of[reg] != 0 ? &pl->fn->insns.at[pl->move_of[reg] - 1].operand[1] : NULL;

    return from != NULL && from->kind == PTX_O_REG && pl->fn->regs.at[from->reg].definitions == 1 &&
                   pl->move_of[from->reg] < pl->move_of[reg] /* prevents two registers from being recorded as copies of each
                                                              * other */
               ? from->reg
               : PTX_NONE;
}

static bool is_integer(unsigned type)
{
    const enum ptx_type_class class = ptx_type_class((enum ptx_type)type);

    return class == PTX_CLASS_INTEGER || class == PTX_CLASS_BITS;
}

/* Returns true if an instruction is a move, or an integer conversion that preserves all bytes of the narrower of the two
 * registers. A conversion that keeps fewer bytes is no copy. */
static bool is_copy(const struct ptx_function *fn, const struct ptx_insn *in)
{
    unsigned to, from;

    if (in->op == PTX_MOV)
        return true;
    if (in->op != PTX_CVT || in->type_count != 2 || !is_integer(in->type[0]) || !is_integer(in->type[1]) ||
        ptx_has(in, PTX_W_SAT) || in->operand_count != 2 || in->operand[0].kind != PTX_O_REG || in->operand[1].kind != PTX_O_REG)
        return false;
    to = ptx_type_bytes(fn->regs.at[in->operand[0].reg].type);
    from = ptx_type_bytes(fn->regs.at[in->operand[1].reg].type);
    from = from < to ? from : to;
    return ptx_type_bytes(in->type[0]) >= from && ptx_type_bytes(in->type[1]) >= from;
}

void ptx_debug_find_moves(struct ptx_placing *pl)
{
    pl->move_of = PTX_ARRAY(pl->job, uint32_t, pl->fn->regs.count + 1);
    for (uint32_t i = 0; i < pl->fn->insns.count; i++) {
        const struct ptx_insn *in = &pl->fn->insns.at[i];

        if (is_copy(pl->fn, in) && in->guard == PTX_NONE && in->operand_count == 2 && in->operand[0].kind == PTX_O_REG &&
            pl->fn->regs.at[in->operand[0].reg].definitions == 1)
            pl->move_of[in->operand[0].reg] = i + 1;
    }
}

bool ptx_debug_literal(const struct ptx_placing *pl, uint32_t reg, uint64_t *value)
{
    for (unsigned depth = 0; depth < 8; depth++) {
        const struct ptx_reg *r = &pl->fn->regs.at[reg];
        const struct ptx_operand *from;

        if (pl->move_of[reg] == 0 || pl->fn->insns.at[pl->move_of[reg] - 1].op != PTX_MOV)
            return false;
        from = &pl->fn->insns.at[pl->move_of[reg] - 1].operand[1];
        if (from->kind == PTX_O_IMM) {
            *value = from->imm;
            return r->type == PTX_T_F32   ? from->literal == PTX_LIT_F32
                   : r->type == PTX_T_F64 ? from->literal == PTX_LIT_F64
                                          : from->literal == PTX_LIT_INT;
        }
        if (from->kind != PTX_O_REG)
            return false;
        reg = from->reg;
    }
    return false;
}

