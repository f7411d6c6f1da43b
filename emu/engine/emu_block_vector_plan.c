/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of block-wide execution: a kernel's instructions from the entry on, decoded for register rows as wide as the block. */
#include <stdlib.h>

#include "emu/lane/emu_semantics_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/engine/emu_block_vector_priv.h"

enum {
    MAX_STEPS = 192,
    MAX_ROW_BYTES = 1 << 20 /* limit of the bytes of all register rows of a block together, so that they fit in an L2 cache */
};

/* ---- kind of each operand's register row in block-wide execution, from the table --------------------------- */

/* Excludes rare kinds such as HALVES and LANER. The bodies of instructions of these kinds have capacity only for the lanes of a
 * warp, or are not loops over register rows. */
#define KIND_LANES EMU_IS(BV_ROW)
#define KIND_FUNCTION EMU_IS(BV_ROW)
#define KIND_SELDOM_LANES EMU_IS(BV_ROW)
#define KIND_COMPARE EMU_IS(BV_COMPARE)
#define KIND_SCALAR EMU_IS(BV_SCALAR)
#define KIND_LOAD EMU_IS(BV_LOAD)
#define KIND_STORE EMU_IS(BV_STORE)
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)      \
    [ISA_##id] = EMU_BY_GROUP(KIND_, EMU_GROUP_##semantics, BV_NONE),
static const uint8_t kinds[ISA_OP_COUNT] = {
#include "isa/insns.def"
};

/* ---- the plan -------------------------------------------------------------------------------- */

static void end_of_step(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_leave(w, EMU_LEAVE_BUDGET, di);
}

void emu_block_vector_destroy(struct emu_block_vector *s)
{
    if (s == NULL)
        return;
    emu_code_destroy(&s->code);
    free(s->step);
    free(s->rows);
    free(s->saved);
    free(s);
}

/** Returns false if an instruction uses more registers than a step can list, or registers of an unsupported kind. */
static bool read_uses(const struct isa_insn *insn, struct bv_step *step)
{
    struct isa_reg_use use[ISA_MAX_USES];
    unsigned count = isa_insn_uses(insn, use);

    for (unsigned u = 0; u < count; u++) {
        if (use[u].reg_class == ISA_REG_B)
            return false;
        if (use[u].reg_class == ISA_REG_S && use[u].written &&
            use[u].first + use[u].count > ISA_S_EXEC)
            return false;
        if (use[u].reg_class != ISA_REG_V)
            continue;
        if (use[u].written) {
            step->written = use[u].first;
            step->written_count = use[u].count;
            continue;
        }
        for (unsigned k = 0; k < use[u].count; k++) {
            if (step->source_count == BV_SOURCES)
                return false;
            step->source[step->source_count++] = (uint8_t)(use[u].first + k);
        }
    }
    return true;
}

/** Returns the register number of the register row at @offset. */
static uint8_t reg_at(const struct emu_block_vector *s, uint32_t offset)
{
    uint32_t index = offset / s->stride;

    return index < EMU_ROW_V0 ? BV_NO_REG : (uint8_t)(index - EMU_ROW_V0);
}

/** Classifies the decoded instruction @insn for the plan. Returns false if block-wide execution does not support @insn. */
static bool plan_step(const struct emu_block_vector *s, const struct isa_insn *insn,
                      const struct emu_level *level, struct bv_step *step)
{
    const struct emu_dinsn *di = &step->insn[0];

    step->kind = kinds[insn->op];
    step->a = reg_at(s, di->a);
    step->b = di->ukind == EMU_U_ROW ? reg_at(s, di->b) : BV_NO_REG;
    step->c = reg_at(s, di->c);
    step->d = reg_at(s, di->d);
    if (!read_uses(insn, step))
        return false;
    switch (insn->op) {
    case ISA_EXIT:
        step->exit = true;
        return true;
    case ISA_V_S2R:
        step->kind = BV_ROW;
        step->special = di->ukind != EMU_U_SPECIAL;
        return !step->special || di->reg <= ISA_SR_TID_Z;
    case ISA_S_S2R:
        step->kind = BV_SCALAR;
        return di->ukind == EMU_U_SPECIAL;
    case ISA_V_CVT:
        step->kind = BV_ROW;
        return level->converts_rows(di);
    default:
        break;
    }
    if (step->kind == BV_COMPARE)
        return !(di->flags & (EMU_D_MODIFIED | EMU_D_FLOAT_MODE));
    if (step->kind == BV_ROW)
        return !(di->flags & EMU_D_FLOAT_MODE);
    if (step->kind == BV_LOAD || step->kind == BV_STORE) {
        step->mode = (uint8_t)isa_mod_get(insn, ISA_MOD_AMODE);
        step->scale = step->mode == ISA_AMODE_PAIR ? 0 : (uint8_t)isa_mod_get(insn, ISA_MOD_ASCALE);
        step->bytes = (uint8_t)isa_mem_bytes(insn);
        step->words = (uint8_t)isa_mem_regs(insn);
        step->size = di->sub;
        return emu_mem_info[insn->op].space == ISA_SPACE_GLOBAL && !insn->a_scalar &&
               isa_mod_get(insn, ISA_MOD_MORDER) == ISA_MORDER_WEAK;
    }
    return step->kind == BV_SCALAR;
}

/** Decodes instruction @index into @step; @insn receives the instruction without its guard. Returns false if block-wide execution
 *  does not support the instruction. */
static bool decode_step(const struct emu_block_vector *s, struct emu_decoder *dec, struct isa_insn *insn,
                        uint32_t index, struct bv_step *step)
{
    step->guard = ISA_PT;
    if (!(isa_op_info((enum isa_op)insn->op)->flags & ISA_F_SCALAR)) {
        step->guard = (uint8_t)(insn->guard | insn->guard_neg << 3 | insn->guard_scalar << 4);
        insn->guard = ISA_PT;
        insn->guard_neg = insn->guard_scalar = false;
    }
    return !isa_insn_jumps(insn, index, &(int64_t){0}) &&
           emu_decode(dec, index, &step->insn[0], NULL) == LW_OK &&
           plan_step(s, insn, dec->level, step);
}

/** Decodes the instructions from the kernel's entry to the first exit without a guard, or to the first unsupported instruction if
 *  all lanes may have exited before it. Returns false if there is no such sequence of instructions, or if memory is short. */
static bool plan_steps(struct emu_block_vector *s, const struct emu_core *core,
                       const struct emu_program *program)
{
    struct isa_insn insn[MAX_STEPS];
    struct emu_program line = *program; /* copy of the program, in which the instructions have no guards */
    struct emu_decoder dec = {.program = &line, .code = &s->code, .layout = &s->layout,
                              .level = core->level};
    bool exits = false, effects = true;
    unsigned saved = 0;

    line.insn = insn;
    for (bool more = true; more; s->count++) {
        const uint32_t at = s->kernel->first + s->count;
        struct bv_step *step = &s->step[s->count];
        if (s->count == MAX_STEPS || s->count == s->kernel->count)
            return false;
        insn[s->count] = program->insn[at];
        line.count = s->count + 1;
        if (!decode_step(s, &dec, &insn[s->count], s->count, step)) {
            if (!exits)
                return false;
            memset(step, 0, sizeof *step);
            step->guard = ISA_PT;
            step->ends = true;
        }
        step->insn[0].index = at;
        step->insn[1].h.full = step->insn[1].h.part = end_of_step;
        if (step->kind == BV_STORE)
            saved += step->words;
        exits = exits || step->exit;
        more = !step->ends && !(step->exit && step->guard == ISA_PT);
    }
    for (unsigned i = s->count; i-- > 0;) {
        struct bv_step *step = &s->step[i];
        const bool plain = step->guard == ISA_PT;
        step->last = effects;
        effects = effects && plain && (step->exit || step->kind == BV_SCALAR);
    }
    s->saved = malloc((size_t)(saved + 1) * s->stride);
    if (s->saved == NULL)
        return false;
    saved = 0;
    for (unsigned i = 0; i < s->count; i++) {
        if (s->step[i].kind != BV_STORE)
            continue;
        s->step[i].saved = s->saved + (size_t)saved * s->stride / 4;
        saved += s->step[i].words;
    }
    return true;
}

/** Initialises the state that is common to all blocks of the grid. */
static void form(struct emu_block_vector *s, struct emu_core *core, const struct emu_grid *grid)
{
    struct emu_warp *w = &s->warp;

    s->block.core = core;
    w->core = core;
    w->block = &s->block;
    w->code = &s->code;
    w->regs = s->rows;
    w->stride = s->stride;
    w->n = s->n;
    w->row_zero = s->layout.row_zero;
    w->row_sink = s->layout.row_sink;
    w->width = (uint8_t)core->machine->config.warp_width;
    w->all = w->m = w->live = w->e = lw_mask(w->width);
    w->m_count = w->width;
    w->full = true;
    w->s[126] = w->s[127] = ~UINT32_C(0);
    w->p[ISA_PT] = ~UINT64_C(0);
    w->sp[ISA_PT] = 1;
    w->ubase[EMU_U_IMM] = (const char *)s->code.imm_pool;
    w->ubase[EMU_U_SCALAR] = (const char *)w->s;
    w->ubase[EMU_U_SPECIAL] = (const char *)s->block.special;
    w->ubase[EMU_U_BANK1] = (const char *)grid->launch.program->bank1;
    w->reconv = core->machine->reconv;
}

struct emu_block_vector *emu_bv_plan(struct emu_core *core, const struct emu_grid *grid,
                                 const struct emu_code *code)
{
    const struct emu_launch *launch = &grid->launch;
    struct emu_block_vector *s = aligned_alloc(64, emu_round_up(sizeof *s, 64));

    if (s == NULL)
        return NULL;
    memset(s, 0, sizeof *s);
    s->of = code;
    s->kernel = launch->kernel;
    s->threads = grid->block_threads;
    s->warps = grid->block_warps;
    emu_layout_make(&s->layout, (unsigned)emu_round_up(s->threads, 16), core->level); /* padded to whole cache lines of the
                                                                                       * host */
    s->stride = s->layout.stride;
    s->n = s->stride / 4;
    const struct emu_kernel_use *use = emu_kernel_use(launch->program, launch->kernel);
    s->vregs = use->vregs;
    s->scalars = use->scalars;
    const size_t bytes = (size_t)(EMU_ROW_V0 + s->vregs + 3) * s->stride;
    if (bytes > MAX_ROW_BYTES || s->vregs > 250)
        return s;
    s->code.program = launch->program;
    s->step = aligned_alloc(64, MAX_STEPS * sizeof *s->step);
    s->rows = aligned_alloc(64, bytes + EMU_MAX_LANES * 4); /* extra bytes, because compares read 64 lanes at a time */
    if (s->step == NULL || s->rows == NULL)
        return s;
    memset(s->step, 0, MAX_STEPS * sizeof *s->step);
    memset(s->rows, 0, bytes + EMU_MAX_LANES * 4);
    s->usable = plan_steps(s, core, launch->program);
    if (s->usable)
        form(s, core, grid);
    return s;
}
