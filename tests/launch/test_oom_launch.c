/* SPDX-License-Identifier: Apache-2.0 */
/* Makes each allocation fail in turn while a launch file is executed and checkpoints are written and read. The error must be
 * LW_ENOMEM, and nothing may leak (the sanitizer build detects leaks). The allocators are replaced by --wrap of the linker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/launch.h"

static unsigned long until_failure; /* number of the next allocation that fails, counted from 1, or 0 if no allocation fails */
static unsigned long failures;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool fails(void)
{
    if (until_failure == 0 || --until_failure != 0)
        return false;
    failures++;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : __real_realloc(p, size);
}

static const char text[] =
    "machine: {warp: 8}\nprogram: {source: k.s}\n"
    "buffers: {A: {type: f32, count: 8, init: {ramp: {}}}, B: {type: u32, init: {file: n.txt}}}\n"
    "steps:\n  - launch: {entry: k, grid: 1, block: 8, args: [A, {u32: [1, 2]}]}\n"
    "  - copy: {from: A, to: A}\n  - swap: [B, B]\n"
    "  - repeat: {count: 2, steps: [check: {buffer: A, values: [0, 1, 2]}]}\n";
static const char kernel[] = ".kernel k\n.param ptr.global a\n.param bytes 8 v\n"
                             "    nop\n    nop\n    exit\n.end\n";

static const char other[] = ".kernel o\n.param ptr.global a\n.param bytes 8 v\n.param ptr.global again\n.param f32 f\n"
                            ".param bytes 24 s\n    nop\n    nop\n    exit\n.end\n";

/** Writes a checkpoint with the session's position in the launch file and the state of the machine. */
static enum lw_status save(const struct lnc_session *session, struct emu_engine *engine,
                           struct lw_error *err)
{
    size_t location_bytes;
    void *location;
    enum lw_status status = lnc_session_save(session, &location, &location_bytes, err);

    if (status != LW_OK)
        return status;
    status = emu_checkpoint_save(engine, location, location_bytes, "l.lwc", err);
    free(location);
    return status;
}

static enum lw_status load(struct lnc_session *session, struct emu_engine *engine,
                           struct lw_error *err)
{
    size_t size, location_bytes;
    const void *location;
    char *data;
    enum lw_status status = lw_file_read("l.lwc", &data, &size, err);

    if (status != LW_OK)
        return status;
    status = emu_checkpoint_load(engine, "l.lwc", data, size, &location, &location_bytes, err);
    if (status == LW_OK)
        status = lnc_session_load(session, location, location_bytes, err);
    free(data);
    return status;
}

/* How the test executes all steps. START: from the start of a launch file. RESUME: from a checkpoint in the middle of the kernel,
 * which a run from the start has written. BY_OPTIONS: from the start, with options instead of a launch file. */
enum way { START, RESUME, BY_OPTIONS, WAYS };

/* Executes all steps in one of these ways. Returns the status of the first failure. */
static enum lw_status go(enum way way, struct lw_error *err)
{
    static const char *const args[] = {"f32[]:1,2,3,4", "v=u32:1,2", "again=a", "{f32: 1.5}", "s=0"};
    const struct lnc_direct direct = {.source = "o.s", .grid = "1", .block = "2x2", .entry = "o", .shared = "16",
                                      .args = args, .arg_count = LW_COUNT_OF(args)};
    bool resume = way == RESUME;
    struct emu_config config;
    struct lnc_file *file = NULL;
    struct emu_machine *machine = NULL;
    struct emu_engine *engine = NULL;
    struct lnc_session *session = NULL;
    struct emu_stop stop;
    enum lnc_state state = LNC_LAUNCHED;
    enum lw_status status;

    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    status = way == BY_OPTIONS ? lnc_direct_load(&direct, &config, NULL, &file, err)
                               : lnc_file_load("l.yaml", &config, &file, err);
    if (status == LW_OK)
        status = emu_machine_create(&config, &machine, err);
    if (status == LW_OK)
        status = lnc_session_create(file, machine, NULL, &session, err);
    if (status == LW_OK)
        status = emu_engine_functional_create(machine, &engine, err);
    if (status == LW_OK && resume)
        status = load(session, engine, err);
    while (status == LW_OK && state == LNC_LAUNCHED) {
        if (!resume)
            status = lnc_session_next(session, &state, err);
        if (status != LW_OK || state != LNC_LAUNCHED)
            break;
        engine->stop_at = resume ? UINT64_MAX : 2;
        status = engine->ops->run(engine, &stop, err);
        if (status == LW_OK && !resume) {
            status = stop.kind == EMU_STOP_COUNT
                         ? save(session, engine, err)
                         : LW_FAIL(err, LW_ESTATE, "the kernel has fewer than 2 instructions");
            engine->stop_at = UINT64_MAX;
            if (status == LW_OK)
                status = engine->ops->run(engine, &stop, err);
        }
        resume = false;
        if (status == LW_OK && stop.kind != EMU_STOP_IDLE)
            status = LW_FAIL(err, LW_ESTATE, "the kernel has not ended");
    }
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    lnc_session_destroy(session);
    lnc_file_destroy(file);
    return status;
}

static void each_failed_allocation_has_a_message(void **state)
{
    char folder[] = "/tmp/lw_oom_XXXXXX";
    struct lw_error err;
    (void)state;

    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(lw_file_write("l.yaml", text, sizeof text - 1, &err), LW_OK);
    assert_int_equal(lw_file_write("k.s", kernel, sizeof kernel - 1, &err), LW_OK);
    assert_int_equal(lw_file_write("n.txt", "1 2 3", 5, &err), LW_OK);
    assert_int_equal(lw_file_write("o.s", other, sizeof other - 1, &err), LW_OK);
    for (enum way way = START; way < WAYS; way++) {
        unsigned long n = 0;
        if (go(way, &err) != LW_OK)
            fail_msg("%s", err.text);
        do {
            enum lw_status status;

            err = (struct lw_error){0};
            failures = 0;
            until_failure = ++n;
            status = go(way, &err);
            until_failure = 0;
            if (failures != 0 && status != LW_OK) {
                assert_int_equal(status, LW_ENOMEM);
                assert_true(err.text[0] != '\0');
            }
        } while (failures != 0);
        assert_true(n > 20); /* n - 1 allocations were counted, so the linker has replaced the allocators */
        assert_int_equal(go(way, &err), LW_OK);
    }
    unlink("l.lwc");
    unlink("l.yaml");
    unlink("k.s");
    unlink("o.s");
    unlink("n.txt");
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failed_allocation_has_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
