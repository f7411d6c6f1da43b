/* SPDX-License-Identifier: Apache-2.0 */
/* docs/reference/isa.md is what isa_manual_print() prints; LW_GOLDEN=1 renews it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "isa/isa.h"

static void the_manual_in_docs_is_the_one_that_the_tables_give(void **state)
{
    const char *dir = getenv("srcdir");
    const char *golden = getenv("LW_GOLDEN");
    struct lw_buffer manual;
    struct lw_error err;
    char path[1024], *text;
    size_t size;

    (void)state;
    snprintf(path, sizeof path, "%s/docs/reference/isa.md", dir != NULL ? dir : ".");
    lw_buffer_init(&manual);
    isa_manual_print(&manual.sink);
    if (golden != NULL && strcmp(golden, "1") == 0 &&
        lw_file_write(path, manual.text, manual.size, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (lw_file_read(path, &text, &size, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_string_equal(text, manual.text);
    free(text);
    lw_buffer_fini(&manual);
}

static void the_manual_has_every_instruction_modifier_and_special_register(void **state)
{
    struct lw_buffer manual;

    (void)state;
    lw_buffer_init(&manual);
    isa_manual_print(&manual.sink);
    for (unsigned op = 1; op < ISA_OP_COUNT; op++) {
        char cell[64];

        snprintf(cell, sizeof cell, "| `%s` |", isa_op_info((enum isa_op)op)->mnemonic);
        assert_non_null(strstr(manual.text, cell));
    }
    for (unsigned sr = 0; sr < ISA_SR_COUNT; sr++) {
        char cell[64];

        snprintf(cell, sizeof cell, "| `%%%s` |", isa_special_info((enum isa_special)sr)->name);
        assert_non_null(strstr(manual.text, cell));
    }
    assert_non_null(strstr(manual.text, "`.acq_rel`"));
    lw_buffer_fini(&manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manual_in_docs_is_the_one_that_the_tables_give),
        cmocka_unit_test(the_manual_has_every_instruction_modifier_and_special_register),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
