/* SPDX-License-Identifier: Apache-2.0 */
/* Tests parts of native/ that need no LLVM: the check of code that comes from a process or a file, entries of the cache with wrong
 * numbers, and the model of --engine auto. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "native/nat_process_priv.h"

enum { COUNT = 5, SITES = 3, FIRST = 100, ENTRIES = 2 };

/** Code with consistent numbers. */
struct sample {
    uint16_t entry[COUNT];
    struct emu_native_site site[SITES];
    char object[16];
    struct nat_job job;
    struct nat_code code;
};

static void sample_init(struct sample *s)
{
    *s = (struct sample){.entry = {1, 0, 2, 0, 0}, .site = {{0}, {.next = FIRST}, {.next = FIRST + COUNT, .parks = 2}},
                         .object = "object", .job = {.first = FIRST, .count = COUNT}};
    s->code = (struct nat_code){.size = {.entries = ENTRIES, .windows = 1, .sites = SITES, .object = sizeof s->object}, .entry = s->entry, .site = s->site, .object = s->object};
}

static void code_is_valid_if_all_numbers_are_in_range(void **state)
{
    struct sample s;

    (void)state;
    sample_init(&s);
    assert_true(nat_code_is_valid(&s.code, &s.job));
    s.entry[4] = ENTRIES + 1;
    assert_false(nat_code_is_valid(&s.code, &s.job));
    sample_init(&s);
    s.site[1].next = FIRST - 1;
    assert_false(nat_code_is_valid(&s.code, &s.job));
    sample_init(&s);
    s.site[2].next = FIRST + COUNT + 1;
    assert_false(nat_code_is_valid(&s.code, &s.job));
    sample_init(&s);
    s.site[1].parks = ENTRIES + 1;
    assert_false(nat_code_is_valid(&s.code, &s.job));
    sample_init(&s);
    s.code.size.sites = 0;
    assert_false(nat_code_is_valid(&s.code, &s.job));
    sample_init(&s);
    s.code.size.writes = 2;
    assert_false(nat_code_is_valid(&s.code, &s.job));
}

/** Stores @code in the cache and reads it again. Returns the status of nat_cache_read(). */
static enum lw_status stored_and_read(const struct sample *s, struct nat_code *out)
{
    static const struct isa_word text[COUNT];
    static const uint32_t x[COUNT];
    struct lw_cache_key *key = malloc(sizeof *key);
    struct lw_buffer compiler;
    struct nat_job job = s->job;
    struct lw_error err;

    assert_non_null(key);
    lw_buffer_init(&compiler);
    lw_put(&compiler.sink, "compiler");
    assert_true(nat_cache_key(&compiler, &job, text, x, key));
    nat_cache_write(key, &job, &s->code);
    const enum lw_status status = nat_cache_read(key, &job, out, &err);
    (void)remove(key->path);
    lw_buffer_fini(&compiler);
    lw_buffer_fini(&key->text);
    free(key);
    return status;
}

static void the_cache_returns_only_valid_code(void **state)
{
    char folder[] = "/tmp/lanewise-test-XXXXXX", path[64];
    struct nat_code code;
    struct sample s;

    (void)state;
    assert_non_null(mkdtemp(folder));
    unsetenv("LANEWISE_CACHE");
    setenv("XDG_CACHE_HOME", folder, 1);
    sample_init(&s);
    assert_int_equal(stored_and_read(&s, &code), LW_OK);
    assert_memory_equal(&code.size, &s.code.size, sizeof code.size);
    assert_memory_equal(code.entry, s.entry, sizeof s.entry);
    assert_memory_equal(code.site, s.site, sizeof s.site);
    assert_memory_equal(code.object, s.object, sizeof s.object);
    nat_code_free(&code);
    s.site[1].next = FIRST + COUNT + 1; /* the hash of this entry is right */
    assert_int_equal(stored_and_read(&s, &code), LW_EFORMAT);
    assert_null(code.entry);
    setenv("LANEWISE_CACHE", "off", 1);
    snprintf(path, sizeof path, "%s/lanewise", folder);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(folder), 0);
}

/** Returns nat_pays() for an interpreter that needs 10 ns for a warp instruction. */
static bool pays(uint64_t executed, uint64_t rest, uint32_t count, bool loaded)
{
    const struct nat_work work = {.executed = executed, .timed = executed, .seconds = 10e-9 * (double)executed, .rest = rest};

    return nat_pays(&work, count, loaded, false);
}

static void only_kernels_that_run_for_long_pay(void **state)
{
    const struct nat_work slow = {.executed = 40000, .timed = 20000, .seconds = 2e-3, .rest = 3000000}; /* 100 ns */
    const struct nat_work unknown = {.executed = UINT64_C(1000000000)};

    (void)state;
    for (unsigned loaded = 0; loaded < 2; loaded++) {
        assert_false(pays(0, 0, 10, loaded));
        assert_false(pays(20000, 200000, 10, loaded));
        assert_true(pays(20000, UINT64_C(1000000000), 10, loaded));
        assert_true(pays(UINT64_C(1000000000), 0, 10, loaded));
        assert_false(pays(20000, UINT64_C(20000000), 4000, loaded)); /* the compilation takes longer than the rest of the grid */
        assert_true(nat_pays(&slow, 10, loaded, false));
        assert_true(nat_pays(&unknown, 10, loaded, false)); /* no time is known, because no launch was long */
    }
    assert_false(pays(20000, 3000000, 10, false)); /* the instructions of `slow` in a tenth of the time */
    assert_true(pays(20000, 5000000, 10, true));
    assert_false(pays(20000, 5000000, 10, false)); /* LLVM must be loaded first */
    const struct nat_work some = {.executed = 20000, .rest = 15000000};
    assert_true(nat_pays(&some, 10, false, false));
    assert_false(nat_pays(&some, 10, false, true)); /* the emulator would wait for the compilation */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_valid_if_all_numbers_are_in_range),
        cmocka_unit_test(the_cache_returns_only_valid_code),
        cmocka_unit_test(only_kernels_that_run_for_long_pay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
