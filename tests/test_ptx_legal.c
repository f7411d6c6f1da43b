/* SPDX-License-Identifier: Apache-2.0 */
/* Which instructions are PTX: tests/ptx_legal.txt has the verdicts of another assembler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"

static bool takes(const char *version, const char *target, const char *insn, char *why, size_t room)
{
    static const char form[] =
        ".version %s\n.target %s\n.address_size 64\n"
        ".visible .func f () { ret; }\n"
        ".visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %%r<20>; .reg .b64 %%rd<10>; .reg .f32 %%f<10>; .reg .f64 %%fd<6>;\n"
        ".reg .pred %%p<6>; .reg .b16 %%h<6>;\n"
        "%s;\nL: ret;\n}\n";
    struct isa_object *object = NULL;
    struct lw_error err = {0};
    char text[1024];
    int size = snprintf(text, sizeof text, form, version, target, insn);
    bool good;

    assert_true(size > 0 && (size_t)size < sizeof text);
    good = ptx_translate("t.ptx", text, (size_t)size, NULL, &object, &err) == LW_OK;
    snprintf(why, room, "%s", err.text);
    isa_object_destroy(object);
    return good;
}

/* Lines of @name: "+ insn", or with @placed "+ version target insn". */
static void compare(const char *name, bool placed)
{
    const char *dir = getenv("srcdir");
    char path[4096], *text, *rest = NULL, why[LW_ERROR_BYTES];
    unsigned taken = 0, refused = 0, wrong = 0;
    struct lw_error err;
    size_t size;

    snprintf(path, sizeof path, "%s/tests/%s", dir != NULL ? dir : ".", name);
    if (lw_file_read(path, &text, &size, &err) != LW_OK)
        fail_msg("%s", err.text);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (*line == '#')
            continue;
        char version[8] = "8.8", target[12] = "sm_90";
        int start = 2;

        if (placed)
            assert_int_equal(sscanf(line + 2, "%7s %11s %n", version, target, &start), 2);
        bool good = takes(version, target, line + (placed ? 2 + start : 2), why, sizeof why);

        if (good != (*line == '+')) {
            printf("%s: %s\n", line, good ? "taken" : why);
            wrong++;
        }
        good ? taken++ : refused++;
    }
    free(text);
    printf("%u taken, %u refused\n", taken, refused);
    assert_int_equal(wrong, 0);
    assert_true(taken > 200 && refused > 200);
}

static void verdicts_agree(void **state)
{
    (void)state;
    compare("ptx_legal.txt", false);
}

static void what_a_module_may_use_follows_its_version_and_target(void **state)
{
    (void)state;
    compare("ptx_since.txt", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_agree),
        cmocka_unit_test(what_a_module_may_use_follows_its_version_and_target),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
