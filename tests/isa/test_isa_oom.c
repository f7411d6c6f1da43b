/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the n-th memory allocation fail, for every n. The result must be LW_ENOMEM, without a crash or a leak. Builds with
 * sanitizers detect leaks. The program is linked with --wrap for the allocation functions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "isa/isa.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

/* Number of allocations that succeed before one fails. A negative number means that no allocation fails. */
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

static char *source(size_t *size)
{
    const char *dir = getenv("srcdir");
    struct lw_error err;
    char path[1024], *text;

    snprintf(path, sizeof path, "%s/tests/isa/corpus/asm/directives.s", dir != NULL ? dir : ".");
    if (lw_file_read(path, &text, size, &err) != LW_OK)
        fail_msg("%s", err.text);
    return text;
}

static void assembling_survives_every_failed_allocation(void **state)
{
    size_t size;
    char *text = source(&size);
    bool done = false;

    (void)state;
    for (long n = 0; !done; n++) {
        struct isa_object *object = NULL;
        struct lw_error err = { LW_OK, "" };
        enum lw_status status;

        countdown = n;
        status = isa_assemble("t.s", text, size, &object, &err);
        done = countdown >= 0; /* the run ended before the n-th allocation */
        countdown = -1;
        assert_int_equal(status, done ? LW_OK : LW_ENOMEM);
        assert_int_equal(err.status, status);
        assert_int_equal(object != NULL, done);
        isa_object_destroy(object);
        assert_true(n < 5000);
    }
    free(text);
}

static void writing_and_reading_survive_every_failed_allocation(void **state)
{
    size_t size, byte_count = 0;
    char *text = source(&size);
    struct isa_object *object = NULL;
    struct lw_error err;
    uint8_t *bytes = NULL;
    bool done = false;

    (void)state;
    assert_int_equal(isa_assemble("t.s", text, size, &object, &err), LW_OK);
    for (long n = 0; !done; n++) {
        enum lw_status status;

        countdown = n;
        status = isa_object_write(object, &bytes, &byte_count, &err);
        done = countdown >= 0;
        countdown = -1;
        assert_int_equal(status, done ? LW_OK : LW_ENOMEM);
        assert_int_equal(bytes != NULL, done);
        assert_true(n < 5000);
    }
    isa_object_destroy(object);
    done = false;
    for (long n = 0; !done; n++) {
        enum lw_status status;

        object = NULL;
        countdown = n;
        status = isa_object_read("t.lwo", bytes, byte_count, &object, &err);
        done = countdown >= 0;
        countdown = -1;
        assert_int_equal(status, done ? LW_OK : LW_ENOMEM);
        assert_int_equal(object != NULL, done);
        isa_object_destroy(object);
        assert_true(n < 5000);
    }
    free(bytes);
    free(text);
}

static void slicing_survives_every_failed_allocation(void **state)
{
    static const char text[] = ".kernel k\n.param ptr.global A\n.param u32 n\nv_s2r v0, %tid.x\nv_mov_b64 v4:5, c[A]\n"
                               "v_mov_b32 v2, v0\nL:\nv_lea_u32 v6:7, v2, 2, v4:5\nld.global.b32 v8, [v6:7]\n"
                               "v_add_u32 v2, v2, 4\nv_setp_u32.lt p0, v2, c[n]\n@p0 bra L\nexit\n.end\n";
    bool done = false;

    (void)state;
    for (long n = 0; !done; n++) {
        struct isa_object *object = NULL;
        struct lw_error err = { LW_OK, "" };
        enum lw_status status;

        assert_int_equal(isa_assemble("t.s", text, sizeof text - 1, &object, &err), LW_OK);
        countdown = n;
        status = isa_object_slice(object, &err);
        done = countdown >= 0;
        countdown = -1;
        assert_int_equal(status, done ? LW_OK : LW_ENOMEM);
        assert_int_equal(object->slice_count, done);
        isa_object_destroy(object);
        assert_true(n < 5000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assembling_survives_every_failed_allocation),
        cmocka_unit_test(writing_and_reading_survive_every_failed_allocation),
        cmocka_unit_test(slicing_survives_every_failed_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
