/* SPDX-License-Identifier: Apache-2.0 */
/* Tests checkpoints: a machine that is resumed from a checkpoint ends in the same state as the machine that wrote it. */
#include <inttypes.h>

#include "tests/emu/history/random_kernels.h"

static const char path[] = "test_checkpoint.lwc";

struct side {
    struct fix fix;
    struct rnd host;
    unsigned launch;
};

static void open_side(struct side *s, uint64_t seed)
{
    struct rnd r = {.state = seed};
    struct emu_config config;
    struct lw_buffer text;

    memset(s, 0, sizeof *s);
    s->host.state = seed ^ 77;
    random_config(&r, &config);
    random_kernel(&r, &text);
    fix_open(&s->fix, &config, text.text);
    lw_buffer_fini(&text);
}

/** Run all queued grids to their end, and return how the run ended. */
static enum emu_stop_kind run_out(struct side *s)
{
    struct emu_stop stop;
    struct lw_error err;

    for (;;) {
        fix_check(s->fix.engine->ops->run(s->fix.engine, &stop, &err), &err);
        if (stop.kind != EMU_STOP_IDLE || !random_host(&s->fix, &s->host, &s->launch, 3))
            return stop.kind;
    }
}

static void load(struct side *s, char **data)
{
    struct lw_error err;
    const void *host;
    size_t size, host_bytes;

    fix_check(lw_file_read(path, data, &size, &err), &err);
    fix_check(emu_checkpoint_load(s->fix.engine, path, *data, size, &host, &host_bytes, &err),
              &err);
    assert_int_equal(host_bytes, sizeof s->host + sizeof s->launch);
    memcpy(&s->host, host, sizeof s->host);
    memcpy(&s->launch, (const uint8_t *)host + sizeof s->host, sizeof s->launch);
}

static void save(struct side *s)
{
    uint8_t host[sizeof s->host + sizeof s->launch];
    struct lw_error err;

    memcpy(host, &s->host, sizeof s->host);
    memcpy(host + sizeof s->host, &s->launch, sizeof s->launch);
    fix_check(emu_checkpoint_save(s->fix.engine, host, sizeof host, path, &err), &err);
}

static void a_resumed_run_ends_as_the_first(void **state)
{
    unsigned count = getenv("LW_LONG") != NULL ? 3000 : fix_usual(80), idle = 0;

    (void)state;
    for (uint64_t seed = fix_first_seed(); seed <= count; seed++) {
        struct rnd user = {.state = seed};
        struct side first, second;
        struct emu_stats a, b;
        struct lw_buffer text[2];
        char *data;
        bool ended = false;

        fix_seed = seed;
        open_side(&first, seed);
        assert_true(random_host(&first.fix, &first.host, &first.launch, 3));
        for (unsigned i = rnd_below(&user, 40); i > 0 && !ended; i--) {
            struct emu_stop stop = random_operation(&first.fix, &user, true);
            ended = stop.kind == EMU_STOP_FAULT || stop.kind == EMU_STOP_HANG;
            if (emu_grid_current(first.fix.machine) == NULL)
                ended = ended || !random_host(&first.fix, &first.host, &first.launch, 3);
        }
        save(&first);
        open_side(&second, seed);
        load(&second, &data);
        free(data);
        if (emu_hash_state(second.fix.machine) != emu_hash_state(first.fix.machine))
            fail_msg("seed %" PRIu64 ": another state", seed);
        lw_buffer_init(&text[0]);
        lw_buffer_init(&text[1]);
        emu_machine_set_print(first.fix.machine, &text[0].sink);
        emu_machine_set_print(second.fix.machine, &text[1].sink);
        enum emu_stop_kind kind = run_out(&first);
        assert_int_equal(run_out(&second), kind);
        idle += kind == EMU_STOP_IDLE;
        assert_int_equal(first.fix.engine->ops->instructions(first.fix.engine),
                         second.fix.engine->ops->instructions(second.fix.engine));
        if (emu_hash_state(second.fix.machine) != emu_hash_state(first.fix.machine))
            fail_msg("seed %" PRIu64 ": another end", seed);
        emu_stats_get(first.fix.machine, &a);
        emu_stats_get(second.fix.machine, &b);
        assert_int_equal(a.thread_instructions, b.thread_instructions);
        assert_int_equal(a.divergences, b.divergences);
        assert_int_equal(a.merges, b.merges);
        assert_int_equal(text[0].size, text[1].size);
        lw_buffer_fini(&text[0]);
        lw_buffer_fini(&text[1]);
        fix_close(&first.fix);
        fix_close(&second.fix);
    }
    assert_true(idle > count / 2);
}

static void text_that_waits_for_earlier_blocks_is_saved(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n.param u64 number\n"
        "v_s2r v0, %tid.x\nv_mov_b64 v4:5, c[out]\nv_mov_b32 v6, 9\n"
        "v_add_u64 v10:11, v4:5, 64\n"
        "again: vprintf v1, v4:5, v10:11\n"
        "atom.global.add.u32 v12, [v10:11], v6\n"
        "v_sub_u32 v6, v6, 1\nv_setp_u32.ne p0, v6, 0\n@p0 bra again\nexit\n.end\n";
    struct lw_buffer out[3];
    uint64_t hash[2];

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        lw_buffer_init(&out[i]);
    /* one run without interruption, a run to the middle, and a run from the middle on */
    for (unsigned part = 0; part < 3; part++) {
        struct emu_config config;
        struct lw_error err;
        struct fix fix;
        char *data;
        size_t size, host_bytes;
        const void *host;
        emu_config_default(&config);
        config.warp_width = 4;
        config.arena_bytes = 1 << 24;
        fix_open(&fix, &config, text);
        fix_check(emu_global_write(fix.machine, fix.out, "x%d,", 5, &err), &err);
        emu_machine_set_print(fix.machine, &out[part].sink);
        if (part < 2) {
            fix_launch(&fix, 4, 8, 0);
        } else {
            fix_check(lw_file_read(path, &data, &size, &err), &err);
            fix_check(emu_checkpoint_load(fix.engine, path, data, size, &host, &host_bytes, &err),
                      &err);
            free(data);
        }
        struct emu_thread_ref place;
        struct emu_event ev;
        struct emu_stop stop;
        /* the last block prints first, and its text is held back until the other blocks have printed their text */
        for (unsigned i = 0; part < 2 && i < 20; i++) {
            assert_int_not_equal(fix.engine->ops->warp_count(fix.engine), 0);
            assert_true(fix.engine->ops->warp_at(fix.engine, 7, &place));
            assert_int_equal(place.block, 3);
            fix_check(fix.engine->ops->step_warp(fix.engine, &place, &ev, &stop, &err), &err);
        }
        if (part == 1) {
            assert_int_equal(fix_run(&fix, 150), EMU_STOP_COUNT);
            fix_check(emu_checkpoint_save(fix.engine, NULL, 0, path, &err), &err);
        } else {
            assert_int_equal(fix_run(&fix, UINT64_MAX), EMU_STOP_IDLE);
            hash[part == 2] = emu_hash_mem(fix.machine);
        }
        fix_close(&fix);
    }
    assert_int_equal(hash[0], hash[1]);
    assert_true(out[1].size != 0 && out[2].size != 0);
    assert_int_equal(out[0].size, out[1].size + out[2].size);
    assert_memory_equal(out[0].text, out[1].text, out[1].size);
    assert_memory_equal(out[0].text + out[1].size, out[2].text, out[2].size);
    for (unsigned i = 0; i < 3; i++)
        lw_buffer_fini(&out[i]);
}

static void what_does_not_fit_is_refused(void **state)
{
    static const char other[] = ".kernel k\n.param ptr.global out\n.param u64 number\nnop\nexit\n.end\n";
    struct side s;
    struct emu_config config;
    struct rnd r = {.state = 5};
    struct lw_error err;
    const void *host;
    size_t size, host_bytes;
    char *data;
    struct fix fix;

    (void)state;
    open_side(&s, 5);
    assert_true(random_host(&s.fix, &s.host, &s.launch, 3));
    assert_int_equal(fix_run(&s.fix, 100), EMU_STOP_COUNT);
    save(&s);
    fix_check(lw_file_read(path, &data, &size, &err), &err);
    /* The machine runs already, so the load is refused. */
    assert_int_equal(emu_checkpoint_load(s.fix.engine, path, data, size, &host, &host_bytes, &err),
                     LW_ESTATE);
    fix_close(&s.fix);
    random_config(&r, &config);
    fix_open(&fix, &config, other);
    assert_int_equal(emu_checkpoint_load(fix.engine, path, data, size, &host, &host_bytes, &err),
                     LW_EINPUT);
    assert_non_null(strstr(err.text, "another program"));
    fix_close(&fix);
    config.warp_quantum++;
    fix_open(&fix, &config, other);
    assert_int_equal(emu_checkpoint_load(fix.engine, path, data, size, &host, &host_bytes, &err),
                     LW_EINPUT);
    assert_non_null(strstr(err.text, "warp_quantum"));
    /* files with a changed byte, and a truncated file */
    for (size_t i = 0; i < size; i += 1 + size / 300) {
        data[i] ^= 4;
        if (emu_checkpoint_load(fix.engine, path, data, size, &host, &host_bytes, &err) == LW_OK ||
            emu_checkpoint_load(fix.engine, path, data, i, &host, &host_bytes, &err) == LW_OK)
            fail_msg("a file with another byte %zu, or that ends there, is accepted", i);
        data[i] ^= 4;
    }
    fix_close(&fix);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_run_ends_as_the_first),
        cmocka_unit_test(text_that_waits_for_earlier_blocks_is_saved),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
