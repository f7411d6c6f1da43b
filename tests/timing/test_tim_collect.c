/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests operand collectors and register banks against published cycle tables: section 9.4 of the
 * specification of the book on GPU architectures, with figure 3.17 of the book and its variants. The
 * test itself issues the instructions, without a program and warp schedulers.
 */
#include "tests/timing/tim_run.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#include "timing/kinds/tim_cycle_body.h"

struct bench {
    struct run *run;
    struct tim_core *core;
    struct tim_core_stats stats;
    struct tim_memory *memory;
    struct emu_machine *machine;
    struct tim_static add, mad;
};

static struct bench *bench_new(unsigned ports, bool in_order, bool swizzle)
{
    struct bench *b = calloc(1, sizeof *b);
    struct emu_config config;
    struct lw_error err;

    b->run = run_new();
    struct tim_config *c = b->run->config;
    c->registers_banks = 4;
    c->registers_ports = ports;
    c->registers_in_order = in_order;
    c->registers_swizzle = swizzle;
    c->unit[ISA_UNIT_INT] = (struct tim_unit_config){1, 32, 1};
    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    fix_check(emu_machine_create(&config, &b->machine, &err), &err);
    b->memory = run_memory_create(c);
    b->core = tim_core_create(c, b->machine, b->memory, &b->stats, 0);
    assert_non_null(b->core);
    assert_true(tim_core_set_model(b->core, false));
    /* i1: add r1, r2, r5; i2: mad r4, r3, r7, r1 */
    b->add = (struct tim_static){.unit = ISA_UNIT_INT, .path = TIM_PATH_COLLECT, .row_reads = 2,
                                 .row_writes = 1, .row_read = {2, 5}, .row_write = {1}};
    b->mad = (struct tim_static){.unit = ISA_UNIT_INT, .path = TIM_PATH_COLLECT, .row_reads = 3,
                                 .row_writes = 1, .row_read = {3, 7, 1}, .row_write = {4}};
    return b;
}

static void bench_free(struct bench *b)
{
    tim_core_destroy(b->core);
    b->memory->ops->destroy(b->memory);
    emu_machine_destroy(b->machine);
    tim_config_destroy(b->run->config);
    free(b->run);
    free(b);
}

static void put(struct bench *b, unsigned warp, const struct tim_static *what, uint64_t now)
{
    uint32_t i = tim_op_take(b->core);
    struct tim_op *op = &b->core->op[i];
    struct tim_buffered entry = {0};

    op->warp = (uint16_t)warp;
    op->what = what;
    op->issued = now;
    tim_depend_issue(b->core, &b->core->warp[warp], op, &entry, now);
    tim_pipe_issue(b->core, i, 0, now);
}

/** Issue the instructions of figure 3.17, one per cycle from cycle 0 on: i1 by warps 1, 2 and 3, then i2 by warp 0. Check in
 *  which cycles they enter their pipes and write their results. "w1@3/4" means that the instruction of warp 1 entered its
 *  pipe in cycle 3 and wrote its result in cycle 4. */
static void figure_is(unsigned ports, bool in_order, bool swizzle, const char *expected)
{
    struct bench *b = bench_new(ports, in_order, swizzle);
    uint64_t enter[4] = {0}, written[4] = {0};
    char text[200] = "";
    size_t used = 0;

    for (uint64_t now = 0; now < 20; now++) {
        unsigned flight[4];
        for (unsigned w = 0; w < 4; w++)
            flight[w] = b->core->warp[w].in_flight;
        b->core->now = now;
        tim_pipe_writeback(b->core, now);
        for (unsigned w = 0; w < 4; w++)
            if (flight[w] != 0 && b->core->warp[w].in_flight == 0)
                written[w] = now;
        tim_pipe_dispatch(b->core, now);
        for (unsigned n = 0; n < b->core->op_count; n++) {
            const struct tim_op *op = &b->core->op[n];
            if (op->stage == TIM_STAGE_PIPE && enter[op->warp] == 0)
                enter[op->warp] = now;
        }
        tim_pipe_collect(b->core, now);
        if (now < 4)
            put(b, now < 3 ? (unsigned)now + 1 : 0, now < 3 ? &b->add : &b->mad, now);
    }
    for (unsigned k = 0; k < 4; k++) {
        unsigned w = (k + 1) % 4;
        used += (size_t)snprintf(text + used, sizeof text - used, "%sw%u@%u/%u",
                                 k == 0 ? "" : " ", w, (unsigned)enter[w], (unsigned)written[w]);
    }
    assert_string_equal(text, expected);
    assert_int_equal(b->core->live_count, 0);
    bench_free(b);
}

static void the_published_table_comes_out(void **state)
{
    (void)state;
    figure_is(1, true, true, "w1@3/4 w2@4/5 w3@5/6 w0@8/9");
}

static void operands_in_any_order_come_earlier(void **state)
{
    (void)state;
    figure_is(1, false, true, "w1@3/4 w2@4/5 w3@5/6 w0@7/8");
}

static void more_ports_take_operands_at_once(void **state)
{
    (void)state;
    figure_is(4, false, true, "w1@2/3 w2@3/4 w3@4/5 w0@7/8");
}

static void without_swizzling_warps_share_one_bank(void **state)
{
    (void)state;
    figure_is(1, true, false, "w1@3/4 w2@4/5 w3@7/8 w0@8/9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_table_comes_out),
        cmocka_unit_test(operands_in_any_order_come_earlier),
        cmocka_unit_test(more_ports_take_operands_at_once),
        cmocka_unit_test(without_swizzling_warps_share_one_bank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
