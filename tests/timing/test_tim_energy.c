/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the energy estimate: classes of instructions, the energy of each event, and figures computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "timing/energy/tim_energy_priv.h"

static int setup(void **state)
{
    struct tim_config *config = NULL;
    struct lw_error err;

    if (tim_config_default(&config, &err) != LW_OK)
        return -1;
    *state = config;
    return 0;
}

static int teardown(void **state)
{
    tim_config_destroy(*state);
    return 0;
}

static void set(struct tim_config *config, const char *key)
{
    struct lw_error err;

    if (tim_config_set(config, key, &err) != LW_OK)
        fail_msg("%s", err.text);
}

static void assert_pj(double joules, double pj)
{
    if (!(fabs(joules * 1e12 - pj) <= 1e-9 * pj + 1e-15))
        fail_msg("expected %.6g pJ, found %.6g", pj, joules * 1e12);
}

static double pj_of(const struct tim_sums *sums, const struct tim_config *config)
{
    struct tim_energy energy;

    tim_energy_of(sums, config, &energy);
    return energy.joules;
}

/* Example of the book by Aamodt, Fung and Rogers: an fma of 32 lanes takes 4.6 pJ a lane. The fma reads three operands and
 * writes one, at 5 pJ a lane each. */
static void a_warp_of_fma_takes_787_pj(void **state)
{
    struct tim_sums sums = {.sched = {[TIM_SCHED_lanes_fp_fma] = 32},
                            .core = {[TIM_CORE_register_reads] = 3, [TIM_CORE_register_writes] = 1}};
    struct tim_energy energy;

    tim_energy_of(&sums, *state, &energy);
    assert_pj(energy.component[TIM_COMPONENT_UNITS], 32 * 4.6);
    assert_pj(energy.component[TIM_COMPONENT_REGISTER], 32 * 20.0);
    assert_pj(energy.joules, 787.2);
    assert_true(energy.watts == 0); /* no cycle has been executed, so no time has passed */
}

/* An integer addition of 32 lanes takes 0.1 pJ a lane. The addition reads two operands and writes one, at 5 pJ a lane each. */
static void a_warp_of_additions_takes_483_pj(void **state)
{
    struct tim_sums sums = {.sched = {[TIM_SCHED_lanes_int] = 32},
                            .core = {[TIM_CORE_register_reads] = 2, [TIM_CORE_register_writes] = 1}};

    assert_pj(pj_of(&sums, *state), 483.2);
}

static void each_class_of_instructions_has_its_key(void **state)
{
    struct tim_config *config = *state;

#define WORK(name, fj, help)                                                                  \
    {                                                                                         \
        struct tim_sums sums = {.sched = {[TIM_SCHED_lanes_##name] = 1000}};                  \
        set(config, "energy." #name "=7");                                                    \
        assert_pj(pj_of(&sums, config), 7);                                                   \
    }
#include "timing/energy/energy.def"
}

static void each_event_has_its_key(void **state)
{
    struct tim_config *config = *state;
    struct tim_sums one;
    double before;

    for (size_t i = 0; i < sizeof one / 8; i++) { /* set every counter, so that every event has occurred */
        uint64_t count = 3 + i;
        memcpy((char *)&one + i * 8, &count, 8);
    }
    one.gpu[TIM_GPU_cycles] = 1000000; /* more cycles than those in which cores are active */
    for (unsigned i = TIM_CORE_dvfs_bubble_cycles; i <= TIM_CORE_dvfs_saved_l1; i++)
        one.core[i] = 0; /* the energy of these cycles and events is subtracted */
    set(config, "energy.scale=50");
    before = pj_of(&one, config);
#define CHANGES(key, in, sign)                                                                \
    {                                                                                         \
        struct tim_energy a, b;                                                               \
        tim_energy_of(&one, config, &a);                                                      \
        config->energy_##key += 1000000;                                                      \
        tim_energy_of(&one, config, &b);                                                      \
        config->energy_##key -= 1000000;                                                      \
        assert_true(sign (b.component[TIM_COMPONENT_##in] - a.component[TIM_COMPONENT_##in]) > 0); \
        assert_true(fabs(b.joules - a.joules - (b.component[TIM_COMPONENT_##in] -             \
                                                a.component[TIM_COMPONENT_##in])) <= 1e-9 * b.joules); \
    }
#define ENERGY(key, in, fj, count, scaled, help) CHANGES(key, in, +)
#define POWER(key, in, mw, count, help) CHANGES(key, in, +)
#define SAVING(key, in, fj, count, scaled, help) CHANGES(key, in, -)
#include "timing/energy/energy.def"
    assert_true(pj_of(&one, config) == before);
}

/* A register file of 1,024 register rows in 1,000 cycles, in which 124 are on, 600 are drowsy and 300 are off. */
static void rows_save_leakage(void **state)
{
    struct tim_config *config = *state;
    struct tim_sums sums = {.gpu = {[TIM_GPU_cycles] = 1000}, .core = {[TIM_CORE_rows_on] = 1024000}};
    const double all = pj_of(&sums, config);

    sums.core[TIM_CORE_rows_on] = 124000;
    sums.core[TIM_CORE_rows_drowsy] = 600000;
    sums.core[TIM_CORE_rows_off] = 300000;
    assert_pj(all - pj_of(&sums, config), 600 * 89 + 300 * 105);
}

/* P-10 of the dynamic parallelism thesis's specification: an idle core that is parked for half of the time draws 57 % of the
 * power of an idle core that is never parked. */
static void p10_a_parked_core_draws_57_percent(void **state)
{
    struct tim_config *config = *state;
    const uint64_t cycles = 14000000;
    struct tim_sums sums = {.gpu = {[TIM_GPU_cycles] = cycles}};

    set(config, "core.count=1");
    set(config, "energy.core_static=200");
    set(config, "energy.core_idle=800");
    set(config, "energy.gpu_static=0");
    const double all = pj_of(&sums, config);
    assert_true(all > 0);
    sums.core[TIM_CORE_dvfs_low_cycles] = cycles / 2;
    sums.core[TIM_CORE_dvfs_low_own] = cycles / 14;
    sums.core[TIM_CORE_dvfs_lost_cycles] = cycles / 2 - cycles / 14;
    assert_true(fabs(pj_of(&sums, config) / all - 0.5723) < 0.00005);
    set(config, "dvfs.leakage=3"); /* leakage scales with the cube of the voltage 0.55 */
    assert_true(fabs(pj_of(&sums, config) / all - (0.5 + 0.5 * (0.0432 * 0.8 + 0.166375 * 0.2))) < 0.00005);
}

/* The energy of one kilobyte that is loaded from DRAM through L2 and L1, computed by hand. */
static void memory_is_charged_by_what_moves(void **state)
{
    struct tim_config *config = *state;
    struct tim_sums sums = {
        .core = {[TIM_CORE_sectors] = 32, [TIM_CORE_l1_misses] = 8},
        .slice = {[TIM_SLICE_sectors] = 32, [TIM_SLICE_fills] = 16, /* each fill has 64 bytes */
                  [TIM_SLICE_flits] = 8 + 40},
        .channel = {[TIM_CHANNEL_reads] = 16, [TIM_CHANNEL_activates] = 2},
    };
    struct tim_energy energy;

    set(config, "energy.dram_byte=27840"); /* a bit takes 3.48 pJ */
    set(config, "energy.dram_activate=909000");
    tim_energy_of(&sums, config, &energy);
    assert_pj(energy.component[TIM_COMPONENT_L1], 64 * 40.0);
    assert_pj(energy.component[TIM_COMPONENT_ICNT], 48 * 32 * 9.7);
    assert_pj(energy.component[TIM_COMPONENT_L2], 64 * 400.0);
    assert_pj(energy.component[TIM_COMPONENT_DRAM], 1024 * 27.84 + 2 * 909.0);
}

/* 1,400 cycles at 1,400 MHz are a microsecond. */
static void power_is_drawn_while_time_passes(void **state)
{
    struct tim_config *config = *state;
    struct tim_sums sums = {.gpu = {[TIM_GPU_cycles] = 1400}, .core = {[TIM_CORE_active_cycles] = 2800}};
    struct tim_energy energy;

    set(config, "energy.core_static=1000");
    set(config, "energy.core_active=500");
    set(config, "energy.gpu_static=20000");
    tim_energy_of(&sums, config, &energy);
    assert_true(fabs(energy.seconds - 1e-6) < 1e-18);
    assert_true(fabs(energy.watts - (15 * 1.0 + 2 * 0.5 + 20)) < 1e-9);
    assert_true(fabs(energy.joules - 36e-6) < 1e-15);
}

/* energy.scale scales the energy of the chip, but not the energy of DRAM or the constant power. */
static void a_smaller_process_scales_the_chip(void **state)
{
    struct tim_config *config = *state;
    struct tim_sums chip = {.sched = {[TIM_SCHED_lanes_fp_mul] = 10}},
                    dram = {.channel = {[TIM_CHANNEL_reads] = 1}};

    set(config, "energy.scale=30");
    assert_pj(pj_of(&chip, config), 11.1);
    assert_pj(pj_of(&dram, config), 64 * 160.0); /* a burst has 64 bytes */
}

static enum tim_work work_of(enum isa_op op)
{
    return tim_work_of(&(struct isa_insn){.op = (uint16_t)op});
}

static void instructions_have_their_class(void **state)
{
    (void)state;
    assert_int_equal(work_of(ISA_V_ADD_U32), TIM_WORK_int);
    assert_int_equal(work_of(ISA_V_MAD_U32), TIM_WORK_int_mul);
    assert_int_equal(work_of(ISA_V_SETP_F32), TIM_WORK_fp_add);
    assert_int_equal(work_of(ISA_V_FMA_F32), TIM_WORK_fp_fma);
    assert_int_equal(work_of(ISA_V_FMA_F16X2), TIM_WORK_fp16);
    assert_int_equal(work_of(ISA_V_NEG_F32), TIM_WORK_int);
    assert_int_equal(work_of(ISA_V_FMA_F64), TIM_WORK_dp);
    assert_int_equal(work_of(ISA_V_SIN_F32), TIM_WORK_sfu);
    assert_int_equal(work_of(ISA_V_CVT), TIM_WORK_cvt);
    assert_int_equal(work_of(ISA_LD_SHARED), TIM_WORK_address);
    assert_int_equal(work_of(ISA_TEX), TIM_WORK_texture);
    assert_int_equal(work_of(ISA_MMA), TIM_WORK_matrix);
    assert_int_equal(work_of(ISA_S_ADD_U32), TIM_WORK_scalar);
    assert_int_equal(work_of(ISA_BAR_SYNC), TIM_WORK_control);
}

/* No multiplication is in a cheaper class, such as that of additions. The test recognises multiplications by mnemonics. */
static void what_multiplies_is_a_multiplication(void **state)
{
    static const char *const words[] = {"mul", "mad", "fma", "dp4a", "dp2a"};
    unsigned seen = 0;

    (void)state;
    for (unsigned op = ISA_OP_NONE + 1; op < ISA_OP_COUNT; op++) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);
        enum tim_work work = work_of((enum isa_op)op);

        if (strncmp(info->mnemonic, "v_", 2) != 0)
            continue;
        for (unsigned i = 0; i < LW_COUNT_OF(words); i++)
            if (strstr(info->mnemonic, words[i]) != NULL) {
                seen++;
                if (work == TIM_WORK_int || work == TIM_WORK_fp_add || work == TIM_WORK_control)
                    fail_msg("%s is in a cheaper class than multiplications", info->mnemonic);
            }
    }
    assert_true(seen > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_warp_of_fma_takes_787_pj, setup, teardown),
        cmocka_unit_test_setup_teardown(a_warp_of_additions_takes_483_pj, setup, teardown),
        cmocka_unit_test_setup_teardown(each_class_of_instructions_has_its_key, setup, teardown),
        cmocka_unit_test_setup_teardown(each_event_has_its_key, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_save_leakage, setup, teardown),
        cmocka_unit_test_setup_teardown(p10_a_parked_core_draws_57_percent, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_is_charged_by_what_moves, setup, teardown),
        cmocka_unit_test_setup_teardown(power_is_drawn_while_time_passes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_smaller_process_scales_the_chip, setup, teardown),
        cmocka_unit_test(instructions_have_their_class),
        cmocka_unit_test(what_multiplies_is_a_multiplication),
    };

    return cmocka_run_group_tests_name("tim_energy", tests, NULL, NULL);
}
