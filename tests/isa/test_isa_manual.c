/* SPDX-License-Identifier: Apache-2.0 */
/* Compares docs/reference/isa.md with the output of isa_manual_print(). `make golden` writes the page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "isa/isa.h"
#include "tests/lib/golden_page.h"

static void the_manual_in_docs_is_the_one_that_the_tables_give(void **state)
{
    struct lw_buffer manual;

    (void)state;
    lw_buffer_init(&manual);
    isa_manual_print(&manual.sink);
    golden_page("docs/reference/isa.md", &manual, "tests/isa/test_isa_manual");
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
