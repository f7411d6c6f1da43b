/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a translation for which the host has too little memory fails without a crash: for every n, a translation whose
 * n-th allocation fails must return LW_ENOMEM, and must leak no memory. The sanitizer build detects leaks. The program is
 * linked with --wrap for the allocators.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ptx/ptx.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

/* Number of allocations until the one that fails. If it is negative, no allocation fails. */
static long countdown = -1;

static bool fails(void)
{
    return countdown >= 0 && countdown-- == 0;
}
void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}
char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

static void translating_survives_every_failed_allocation(void **state)
{
    const char *dir = getenv("srcdir");
    struct lw_error err;
    char path[1024], *text;
    size_t size;
    bool done = false;
    long n;

    (void)state;
    snprintf(path, sizeof path, "%s/tests/ptx/data/features.ptx", dir != NULL ? dir : ".");
    if (lw_file_read(path, &text, &size, &err) != LW_OK)
        fail_msg("%s", err.text);
    for (n = 0; !done; n++) {
        struct isa_object *object = NULL;
        enum lw_status status;

        countdown = n;
        status = ptx_translate("t.ptx", text, size, NULL, &object, &err);
        done = countdown >= 0; /* the run ended before the n-th allocation */
        countdown = -1;
        assert_int_equal(status, done ? LW_OK : LW_ENOMEM);
        assert_true((object != NULL) == done);
        isa_object_destroy(object);
    }
    assert_true(n > 4); /* some allocations have failed */
    free(text);
}

/* Links two modules with debug information, of which one has only lines, and writes and reads the object. */
static void linking_survives_every_failed_allocation(void **state)
{
    static const char *const names[] = { "debug_params.ptx", "debug_inlined.ptx" };
    const char *dir = getenv("srcdir");
    struct ptx_source sources[LW_COUNT_OF(names)];
    struct lw_error err;
    bool done = false;
    long n;

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(names); i++) {
        char path[1024], *text;
        size_t size;

        snprintf(path, sizeof path, "%s/tests/ptx/corpus/%s", dir != NULL ? dir : ".", names[i]);
        if (lw_file_read(path, &text, &size, &err) != LW_OK)
            fail_msg("%s", err.text);
        sources[i] = (struct ptx_source){ names[i], text, size, false };
    }
    for (n = 0; !done; n++) {
        struct isa_object *object = NULL, *back = NULL;
        uint8_t *bytes = NULL;
        enum lw_status status;
        size_t size;

        countdown = n;
        status = ptx_translate_all(sources, LW_COUNT_OF(sources), NULL, &object, &err);
        if (status == LW_OK)
            status = isa_object_write(object, &bytes, &size, &err);
        if (status == LW_OK)
            status = isa_object_read("o", bytes, size, &back, &err);
        done = countdown >= 0;
        countdown = -1;
        assert_int_equal(status, done ? LW_OK : LW_ENOMEM);
        assert_true((back != NULL) == done);
        if (done)
            assert_int_equal(back->debug->unit_count, LW_COUNT_OF(sources));
        isa_object_destroy(back);
        isa_object_destroy(object);
        free(bytes);
    }
    assert_true(n > 20);
    for (unsigned i = 0; i < LW_COUNT_OF(sources); i++)
        free((void *)(uintptr_t)sources[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(translating_survives_every_failed_allocation),
        cmocka_unit_test(linking_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
