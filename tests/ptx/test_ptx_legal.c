/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which instructions the translator accepts as legal PTX. tests/ptx/ptx_legal.txt contains the decisions of NVIDIA's
 * assembler. */
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

/* Compares the translator with the lines of file @name. A line is "+ INSN" or "- INSN", or with @placed "+ VERSION TARGET
 * INSN". */
static void compare(const char *name, bool placed)
{
    const char *dir = getenv("srcdir");
    char path[4096], *text, *rest = NULL, why[LW_ERROR_BYTES];
    unsigned taken = 0, refused = 0, wrong = 0;
    struct lw_error err;
    size_t size;

    snprintf(path, sizeof path, "%s/tests/ptx/%s", dir != NULL ? dir : ".", name);
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

static void analyses_agree(void **state)
{
    (void)state;
    compare("ptx_legal.txt", false);
}

static void what_a_module_may_use_follows_its_version_and_target(void **state)
{
    (void)state;
    compare("ptx_since.txt", true);
}

/* Each row of ptx_ops.def with a rule must have a line in the list of docs/reference/ptx-support.md, and an example that NVIDIA's
 * assembler accepts. The list must have no other lines. */
static void instructions_are_documented_and_verified(void **state)
{
    static const struct {
        const char *name, *rule;
    } ops[] = {
#define OP(id, name, effect, rule) { name, #rule },
#include "ptx/ptx_ops.def"
    };
    const char *dir = getenv("srcdir");
    char path[4096], *docs, *legal, *since, *list, *end, want[24];
    unsigned supported = 0, wrong = 0;
    struct lw_error err;
    size_t size;

    (void)state;
    dir = dir != NULL ? dir : ".";
    snprintf(path, sizeof path, "%s/docs/reference/ptx-support.md", dir);
    assert_int_equal(lw_file_read(path, &docs, &size, &err), LW_OK);
    snprintf(path, sizeof path, "%s/tests/ptx/ptx_legal.txt", dir);
    assert_int_equal(lw_file_read(path, &legal, &size, &err), LW_OK);
    snprintf(path, sizeof path, "%s/tests/ptx/ptx_since.txt", dir);
    assert_int_equal(lw_file_read(path, &since, &size, &err), LW_OK);
    list = strstr(docs, "    abs ");
    assert_non_null(list);
    end = strstr(list, "\n\n");
    assert_non_null(end);
    *end = '\0';
    /* Replaces newlines and dots with blanks, so that each name is between blanks. For brx.idx and cvt.pack of the list,
     * ptx_ops.def has opcodes brx and cvt. */
    for (char *p = list; *p != '\0'; p++)
        *p = *p == '\n' || *p == '.' ? ' ' : *p;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        bool here = strcmp(ops[i].rule, "none") != 0, told = false, shown = false;
        size_t length = strlen(ops[i].name);

        for (char *p = list; (p = strstr(p, ops[i].name)) != NULL; p++)
            told |= p[-1] == ' ' && (p[length] == ' ' || p[length] == '\0');
        snprintf(want, sizeof want, "\n+ %s", ops[i].name);
        for (char *p = legal; (p = strstr(p, want)) != NULL; p++)
            shown |= strchr(". \n", p[length + 3]) != NULL;
        for (char *p = since; !shown && (p = strstr(p, ops[i].name)) != NULL; p++)
            shown |= p[-1] == ' ' && strchr(". \n", p[length]) != NULL;
        /* These instructions also need a declaration, so tests/ptx/test_ptx_call.c and tests/ptx/test_ptx_texture.c test
         * them. */
        shown |= strcmp(ops[i].name, "brx") == 0 || strcmp(ops[i].name, "tex") == 0;
        supported += here;
        if (told != here || (here && !shown)) {
            printf("%s: %s, %s in docs/reference/ptx-support.md, %s\n", ops[i].name, here ? "has a rule" : "no rule",
                   told ? "listed" : "not listed", shown ? "has an example" : "no example");
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(supported > 80);
    free(docs);
    free(legal);
    free(since);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(analyses_agree),
        cmocka_unit_test(what_a_module_may_use_follows_its_version_and_target),
        cmocka_unit_test(instructions_are_documented_and_verified),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
