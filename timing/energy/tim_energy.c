/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the energy estimate from the counters. Also determines the class of each instruction (tim_work_of()). */
#include "timing/energy/tim_energy_priv.h"

#define COMPONENT(id, name, help) {name, "J", help},
const struct tim_counter tim_components[TIM_COMPONENT_COUNT] = {
#include "timing/energy/energy.def"
};

/* The counters must be consecutive and in the order of the classes. */
#define WORK(name, fj, help)                                                                         \
    _Static_assert((int)TIM_SCHED_lanes_##name - (int)TIM_SCHED_lanes_int == (int)TIM_WORK_##name,   \
                   "stats.def and energy.def have lanes_" #name " in different places");
#include "timing/energy/energy.def"

static enum tim_work integer(unsigned op)
{
    switch (op) {
    case ISA_V_MUL_U32: case ISA_V_MULHI_U32: case ISA_V_MULHI_S32: case ISA_V_MAD_U32:
    case ISA_V_MULWIDE_U32: case ISA_V_MULWIDE_S32: case ISA_V_MADWIDE_U32: case ISA_V_MADWIDE_S32:
    case ISA_V_MUL_U64: case ISA_V_MULHI_U64: case ISA_V_MULHI_S64: case ISA_V_MAD_U64:
    case ISA_V_DP4A_U32: case ISA_V_DP4A_S32: case ISA_V_DP4A_US32: case ISA_V_DP4A_SU32:
    case ISA_V_DP2A_U32: case ISA_V_DP2A_S32: case ISA_V_DP2A_US32: case ISA_V_DP2A_SU32:
        return TIM_WORK_int_mul;
    default:
        return TIM_WORK_int;
    }
}

static enum tim_work floating(unsigned op)
{
    switch (op) {
    case ISA_V_ADD_F32: case ISA_V_SUB_F32: case ISA_V_MIN_F32: case ISA_V_MAX_F32: case ISA_V_SETP_F32:
        return TIM_WORK_fp_add;
    case ISA_V_MUL_F32:
        return TIM_WORK_fp_mul;
    case ISA_V_FMA_F32:
        return TIM_WORK_fp_fma;
    case ISA_V_ABS_F32: case ISA_V_NEG_F32: case ISA_V_COPYSIGN_F32:
        return TIM_WORK_int; /* these operations change only the sign bit, which costs as much as an integer operation */
    default:
        return TIM_WORK_fp16;
    }
}

enum tim_work tim_work_of(const struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);

    if (info->flags & ISA_F_MEMORY)
        return info->unit == ISA_UNIT_TEX ? TIM_WORK_texture : TIM_WORK_address;
    switch (info->unit) {
    case ISA_UNIT_INT: return integer(insn->op);
    case ISA_UNIT_FP: return floating(insn->op);
    case ISA_UNIT_DP: return TIM_WORK_dp;
    case ISA_UNIT_SFU: return TIM_WORK_sfu;
    case ISA_UNIT_CVT: return TIM_WORK_cvt;
    case ISA_UNIT_MEM: return TIM_WORK_address;
    case ISA_UNIT_WARP: return TIM_WORK_warp;
    case ISA_UNIT_SCALAR: return TIM_WORK_scalar;
    case ISA_UNIT_TEX: return TIM_WORK_texture;
    case ISA_UNIT_MATRIX: return TIM_WORK_matrix;
    default: return TIM_WORK_control;
    }
}

#define CORE_OF(name) ((double)s->core[TIM_CORE_##name])
#define SCHED_OF(name) ((double)s->sched[TIM_SCHED_##name])
#define SLICE_OF(name) ((double)s->slice[TIM_SLICE_##name])
#define CHANNEL_OF(name) ((double)s->channel[TIM_CHANNEL_##name])
static double cycles(const struct tim_sums *s)
{
    return (double)s->gpu[TIM_GPU_cycles];
}

double tim_energy_at_low(const struct tim_config *c, unsigned power)
{
    double value = 1;

    while (power-- > 0)
        value *= (double)c->dvfs_low_mv / c->dvfs_high_mv;
    return value;
}
#define at_low tim_energy_at_low
static double leakage(const struct tim_config *c)
{
    return at_low(c, c->dvfs_leakage);
}

void tim_energy_of(const struct tim_sums *s, const struct tim_config *c, struct tim_energy *out)
{
    const double cycle = 1e-6 / c->clocks_core, chip = 1e-15 * c->energy_scale / 100, off_chip = 1e-15;

    *out = (struct tim_energy){.seconds = cycles(s) * cycle};
#define WORK(name, fj, help) \
    out->component[TIM_COMPONENT_UNITS] += SCHED_OF(lanes_##name) * c->energy_##name * chip;
#define ENERGY(key, in, fj, count, scaled, help) \
    out->component[TIM_COMPONENT_##in] += (double)(count) * c->energy_##key * ((scaled) ? chip : off_chip);
#define POWER(key, in, mw, count, help) \
    out->component[TIM_COMPONENT_##in] += (double)(count) * cycle * 1e-3 * c->energy_##key;
#define SAVING(key, in, fj, count, scaled, help) \
    out->component[TIM_COMPONENT_##in] -= (double)(count) * c->energy_##key * ((scaled) ? chip : off_chip);
#include "timing/energy/energy.def"
    out->component[TIM_COMPONENT_ISSUE] -= CORE_OF(dvfs_saved_issue) * 1e-12;
    out->component[TIM_COMPONENT_REGISTER] -= CORE_OF(dvfs_saved_registers) * 1e-12;
    out->component[TIM_COMPONENT_UNITS] -= CORE_OF(dvfs_saved_units) * 1e-12;
    out->component[TIM_COMPONENT_L1] -= CORE_OF(dvfs_saved_l1) * 1e-12;
    const double active = CORE_OF(dvfs_bubble_active), idle = CORE_OF(dvfs_bubble_cycles) - active;
    out->gated = (active * c->energy_core_active + idle * c->energy_core_idle + (active + idle) * c->energy_core_static) * cycle * 1e-3;
    for (unsigned i = 0; i < TIM_COMPONENT_COUNT; i++)
        out->joules += out->component[i];
    out->watts = out->seconds > 0 ? out->joules / out->seconds : 0;
}
