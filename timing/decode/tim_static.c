/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predecoding: computes the properties of each instruction of a program once, so that an issue need not read the
 * instruction table. gemm on `fermi` has 46,336 issues.
 */
#include "timing/decode/tim_tags_priv.h"
#include "timing/energy/tim_energy_priv.h"

#include <assert.h>
#include <stdlib.h>

/** Returns the number of bytes of the constant operand, which is in field X of the instruction. */
static unsigned constant_bytes(const struct isa_insn *insn)
{
    unsigned bytes = isa_insn_x_bytes(insn);

    return bytes == 0 ? 4 : bytes;
}

/** Returns the set of enum tim_awaits for an instruction. */
static uint8_t awaits(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    bool ordered = info->format == ISA_FMT_MEM || info->format == ISA_FMT_ATOM;
    unsigned order = ordered ? isa_mod_get(insn, ISA_MOD_MORDER) : ISA_MORDER_WEAK;

    if (insn->op == ISA_FENCE || order == ISA_MORDER_RELEASE || order == ISA_MORDER_ACQREL)
        return TIM_AWAITS_ANSWERS;
    return info->format == ISA_FMT_BAR ? TIM_AWAITS_QUEUE : 0;
}

/** Sets the members that the control field and the wait instructions determine, except takes_bars. */
static void fill_control(const struct tim_config *config, const struct isa_insn *insn, struct tim_static *out)
{
    unsigned stall = insn->control.stall;

    if (stall == 0)
        stall = insn->control.yield ? config->issue_stall_zero_yield : 1;
    else if (stall > 11 && !insn->control.yield && config->issue_stall_odd != 0)
        stall = config->issue_stall_odd;
    out->stall = (uint8_t)stall;
    out->yields = config->issue_yield && insn->control.yield;
    out->depbar = insn->op == ISA_DEPBAR_LE;
    out->depbar_bar = (uint8_t)isa_x_depbar(insn->x);
    out->depbar_most = (uint8_t)isa_x_depbar_most(insn->x);
    out->waitcnt = insn->op == ISA_WAITCNT;
    out->vm_most = (uint8_t)isa_x_vmcnt(insn->x);
    out->exp_most = (uint8_t)isa_x_expcnt(insn->x);
    out->lgkm_most = (uint8_t)isa_x_lgkmcnt(insn->x);
}

static enum tim_type type_of(const struct isa_insn *insn, const struct isa_op_info *info)
{
    if ((info->flags & ISA_F_MEMORY) != 0 || info->unit == ISA_UNIT_TEX) {
        switch (insn->op) {
        case ISA_LD_SHARED: case ISA_ST_SHARED: case ISA_ATOM_SHARED: case ISA_RED_SHARED: case ISA_LDMATRIX:
            return TIM_TYPE_SHARED;
        default:
            return (info->flags & ISA_F_SCALAR) != 0 ? TIM_TYPE_SCALAR : TIM_TYPE_MEMORY;
        }
    }
    if ((info->flags & ISA_F_BRANCH) != 0)
        return TIM_TYPE_BRANCH;
    if (info->unit == ISA_UNIT_CTRL || info->unit == ISA_UNIT_SYNC)
        return TIM_TYPE_SPECIAL;
    return info->unit == ISA_UNIT_SCALAR ? TIM_TYPE_SCALAR : TIM_TYPE_VECTOR;
}

/** Sets the members of a memory instruction that a scheduler's memory unit needs: address_rows, uniform and words. The
 *  register lists of @out are already filled. */
static void fill_memory(const struct isa_insn *insn, const struct isa_op_info *info, struct tim_static *out)
{
    bool vector = isa_op_has(info, ISA_TOK_MA) || (isa_op_has(info, ISA_TOK_MC) && !insn->a_scalar);
    unsigned words = out->row_writes;

    if (out->texture)
        out->address_rows = out->row_reads;
    while (vector && insn->a != ISA_VZ && out->address_rows < out->row_reads &&
           out->row_operand[out->address_rows] == 0)
        out->address_rows++;
    out->uniform = out->address_rows == 0;
    if (words == 0)
        words = out->held != 0 ? out->write_count : out->row_reads - out->address_rows;
    out->words = words <= 1 ? 0 : words == 2 ? 1 : 2;
}

/** Returns true if the instruction reads a predicate other than its guard. */
static bool reads_predicates(const struct isa_insn *insn, const struct isa_reg_use *use, unsigned uses)
{
    unsigned count = 0;

    for (unsigned i = 0; i < uses; i++)
        count += use[i].reg_class == ISA_REG_P && !use[i].written;
    return count > (insn->guard != ISA_PT && !insn->guard_scalar);
}

/** Returns the condition for executing the instruction on one lane or the affine unit if its registers are tagged. */
static enum tim_tag_rule tag_rule(const struct isa_insn *insn, const struct tim_static *out, bool predicates)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);

    if (out->held != 0 || (out->row_reads == 0 && out->row_writes == 0))
        return TIM_TAG_NEVER;
    if (info->unit == ISA_UNIT_MEM)
        return info->format == ISA_FMT_MEM && out->address_rows != 0 ? TIM_TAG_ADDRESS : TIM_TAG_NEVER;
    if (info->unit > ISA_UNIT_CVT || info->tag == ISA_TAG_VECTOR)
        return TIM_TAG_NEVER;
    if (predicates)
        return out->row_writes != 0 ? TIM_TAG_BY_RESULT : TIM_TAG_NEVER;
    switch (info->tag) {
    case ISA_TAG_SPECIAL: return TIM_TAG_BY_RESULT;
    case ISA_TAG_CMP: return TIM_TAG_COMPARE;
    case ISA_TAG_CMP_S: return TIM_TAG_COMPARE_S;
    default: return TIM_TAG_BY_SOURCES;
    }
}

/** Returns true for a global load that bypasses L1 whatever its address is. is_cached() of tim_lsu_body.h decides the
 *  other cases at issue. */
static bool is_uncached(const struct tim_config *config, const struct isa_insn *insn)
{
    unsigned cache = isa_mod_get(insn, ISA_MOD_CACHE);

    return insn->op == ISA_LD_GLOBAL && (config->l1_bytes == 0 || config->l1_global == TIM_L1_OFF ||
                                         isa_mod_get(insn, ISA_MOD_MORDER) != 0 || cache == ISA_CACHE_CG ||
                                         cache == ISA_CACHE_CV);
}

static void fill(const struct tim_config *config, const struct isa_insn *insn,
                 struct tim_static *out)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    struct isa_reg_use use[ISA_MAX_USES];
    unsigned uses = isa_insn_uses(insn, use), operand = 0;

    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < uses; i++)
        for (unsigned k = 0; k < use[i].count; k++) {
            unsigned number = isa_reg_number(&use[i]) + k;
            bool row = use[i].reg_class == ISA_REG_V;
            out->need.word[number / 64] |= UINT64_C(1) << number % 64;
            out->need_words |= (uint8_t)(1u << number / 64);
            if (use[i].written) {
                assert(out->write_count < TIM_MAX_WRITES);
                out->write[out->write_count++] = (uint16_t)number;
                if (row)
                    out->row_write[out->row_writes++] = (uint8_t)(use[i].first + k);
            } else {
                assert(out->read_count < TIM_MAX_READS && out->row_reads < TIM_MAX_ROWS);
                out->read[out->read_count++] = (uint16_t)number;
                if (row) {
                    out->row_operand[out->row_reads] = (uint8_t)(k == 0 ? operand++ : operand - 1);
                    out->row_read[out->row_reads++] = (uint8_t)(use[i].first + k);
                }
            }
        }
    out->unit = (uint8_t)info->unit;
    out->work = (uint8_t)tim_work_of(insn);
    out->control = insn->control;
    fill_control(config, insn, out);
    out->takes_bars = (uint8_t)(((1u << insn->control.write_bar) | (1u << insn->control.read_bar)) & 0x3f);
    out->held = info->flags & ISA_F_SCALAR ? 1 : 0; /* a scalar instruction occupies its pipe for one cycle */
    out->flow = info->unit == ISA_UNIT_CTRL;
    out->calls = (info->flags & ISA_F_CALL) != 0;
    out->type = (uint8_t)type_of(insn, info);
    out->launch = insn->op == ISA_LAUNCH_STREAM || insn->op == ISA_LAUNCH_BUFFER || insn->op == ISA_LAUNCH_BUFFER_OF ||
                  insn->op == ISA_LAUNCH_KERNEL || insn->op == ISA_LAUNCH_GROUP;
    out->joins = insn->op == ISA_BSYNC;
    out->whole = (info->flags & ISA_F_WHOLE) != 0;
    out->lat_barrier = insn->op == ISA_BAR_SYNCH_PARTNER;
    out->awaits = awaits(insn);
    out->writes = (info->flags & ISA_F_MEMORY) != 0 && (info->flags & ISA_F_STORE) != 0;
    out->sleep = insn->op == ISA_NANOSLEEP;
    out->texture = info->unit == ISA_UNIT_TEX;
    out->to_constant = insn->op == ISA_S_LD_GLOBAL ||
                       (insn->op == ISA_LD_GLOBAL && isa_mod_get(insn, ISA_MOD_CONSTANT) == ISA_CONSTANT_ON);
    const bool plain = insn->op == ISA_LD_GLOBAL || insn->op == ISA_LD_LOCAL || insn->op == ISA_LD_GENERIC ||
                       insn->op == ISA_ST_GLOBAL || insn->op == ISA_ST_LOCAL || insn->op == ISA_ST_GENERIC;
    out->data = plain && !out->to_constant;
    out->of_constants = insn->op == ISA_LD_CONST || (plain && out->to_constant);
    if (info->flags & ISA_F_MEMORY) {
        out->path = TIM_PATH_MEMORY;
        out->unit = ISA_UNIT_MEM;
        out->load = out->write_count != 0;
        fill_memory(insn, info, out);
        out->uncached = is_uncached(config, insn);
        out->counted = out->type == TIM_TYPE_SHARED   ? TIM_COUNTED_SHARED
                       : out->type == TIM_TYPE_SCALAR ? TIM_COUNTED_SCALAR
                                                      : TIM_COUNTED_VM;
    } else if (info->unit == ISA_UNIT_CTRL || info->unit == ISA_UNIT_SYNC) {
        out->path = out->write_count == 0 ? TIM_PATH_NONE : TIM_PATH_DIRECT;
    } else {
        out->path = out->held != 0 || (out->row_reads == 0 && out->row_writes == 0)
                        ? TIM_PATH_DIRECT
                        : TIM_PATH_COLLECT;
    }
    if (config->registers_collector == TIM_COLLECTOR_WINDOW && out->path != TIM_PATH_MEMORY) {
        out->fixed = !isa_op_latency(info).variable;
        if (out->fixed && out->path == TIM_PATH_COLLECT)
            out->path = TIM_PATH_DIRECT;
        out->cached = info->unit == ISA_UNIT_INT || info->unit == ISA_UNIT_FP;
    }
    out->tag_rule = (uint8_t)tag_rule(insn, out, reads_predicates(insn, use, uses));
    out->latency = (uint16_t)config->unit[out->unit].latency;
    if (isa_op_is_half(info) && config->issue_half_latency != 0)
        out->latency = (uint16_t)config->issue_half_latency;
    out->pipes = config->unit[out->unit].pipes == 0 ? ISA_UNIT_INT : out->unit;
    if (insn->xkind == ISA_X_CONST && !(info->flags & ISA_F_MEMORY)) {
        out->constant = true;
        out->constant_at = (uint64_t)isa_x_bank(insn->x) << 32 | isa_x_offset(insn->x);
        out->constant_bytes = constant_bytes(insn);
    }
}

bool tim_code_fill(const struct tim_config *config, const struct emu_program *program,
                   struct tim_code *out)
{
    uint64_t base = emu_program_base(program);
    uint32_t count = 0;

    while (emu_program_insn(program, base + (uint64_t)count * ISA_WORD_BYTES) != NULL)
        count++;
    out->program = program;
    out->base = base;
    out->count = count;
    out->end = base + (uint64_t)count * ISA_WORD_BYTES;
    out->insn = calloc((size_t)count + 1, sizeof *out->insn);
    if (out->insn == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        fill(config, emu_program_insn(program, base + (uint64_t)i * ISA_WORD_BYTES),
             &out->insn[i]);
    if ((config->ccws_on || config->daws_on || config->loads_on) && !tim_loops_fill(out))
        return false;
    if ((tim_renames(config) || config->orf_on || config->regless_on) && !tim_live_fill(out))
        return false;
    if (config->orf_on && config->orf_kind == TIM_ORF_COMPILER && !tim_values_fill(out, config->orf_entries, config->orf_last))
        return false;
    if (config->regless_on && !tim_regions_fill(out, config->regless_region))
        return false;
    for (unsigned kind = 0; kind < LW_COUNT_OF(out->tagged) && tim_tags_execute(config); kind++) {
        out->tagged[kind] = calloc((size_t)count + 1, sizeof *out->insn);
        if (out->tagged[kind] == NULL)
            return false;
        for (uint32_t i = 0; i < count; i++) {
            out->tagged[kind][i] = out->insn[i];
            tim_tags_variant(config, kind, &out->tagged[kind][i]);
        }
    }
    return true;
}

void tim_code_fini(struct tim_code *code)
{
    free(code->insn);
    free(code->loop);
    free(code->loop_of);
    free(code->live);
    free(code->level);
    free(code->region);
    for (unsigned kind = 0; kind < LW_COUNT_OF(code->tagged); kind++)
        free(code->tagged[kind]);
}
