/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the search for fences and launches in the code of a kernel. The search covers the functions that the kernel can
 * call, or the whole program if the called functions are not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "check/race/chk_race_priv.h"

static const char text[] =
    ".kernel plain\nld.global.b32 v4, [v2:3]\nst.global.b32 [v2:3], v4\nbar.sync 0\nexit\n.end\n"
    ".kernel fenced\nst.global.b32 [v2:3], v4\nfence\nexit\n.end\n"
    ".kernel over\nbra over_it\nfence\nover_it:\nexit\n.end\n"
    ".kernel guarded\n@p0 exit\n@p1 bra far\nexit\nfar:\nfence\nexit\n.end\n"
    ".kernel behind\ncall v8:9, deep\nexit\n.end\n"
    ".kernel beside\ncall v8:9, calm\nexit\n.end\n"
    ".kernel releases\nst.global.b32.release.gpu [v2:3], v4\nexit\n.end\n"
    ".kernel counts\nred.global.add.u32 [v2:3], v4\nexit\n.end\n"
    ".func calm\nv_mov_b32 v4, 0\nret v8:9\n.end\n"
    ".func deep\ncall v10:11, deeper\nret v8:9\n.end\n"
    ".func deeper\nfence\nret v10:11\n.end\n";
static const char apart[] = ".kernel jumps\nbrx v2:3\n.end\n.kernel fenced\nfence\nexit\n.end\n";
static const char launching[] =
    ".kernel parent\nlaunch.kernel v8, v4:5, v6:7, vz\nexit\n.end\n.kernel fenced\nfence\nexit\n.end\n"
    ".kernel plain\nexit\n.end\n";
static const char partial[] =
    ".kernel some\ns_mov_b64 exec, s4:5\nexit\n.end\n.kernel fenced\nfence\nexit\n.end\n";

struct want {
    const char *kernel;
    bool sync_free, launches;
};

static void look(const char *source, const struct want *want, unsigned count)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_program *program;
    struct isa_object *object;
    struct lw_error err;
    struct chk_race race = {.machine = NULL};

    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    assert_int_equal(emu_machine_create(&config, &machine, &err), LW_OK);
    if (isa_assemble("k.s", source, strlen(source), &object, &err) != LW_OK ||
        emu_program_load(machine, object, &program, &err) != LW_OK)
        fail_msg("%s", err.text);
    for (unsigned round = 0; round < 2; round++) { /* the second query uses the stored result */
        for (unsigned i = 0; i < count; i++) {
            const struct isa_function *kernel = NULL;
            struct race_code code;

            for (unsigned f = 0; f < object->function_count; f++)
                if (strcmp(object->functions[f].name, want[i].kernel) == 0)
                    kernel = &object->functions[f];
            assert_non_null(kernel);
            race_code_of(&race, program, kernel, &code);
            if (code.sync_free != want[i].sync_free || code.launches != want[i].launches)
                fail_msg("%s: sync_free %d, launches %d", want[i].kernel, code.sync_free, code.launches);
        }
        assert_int_equal(race.order.code_count, count);
    }
    free(race.order.codes);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
}

static void fences_count_where_a_kernel_reaches_them(void **state)
{
    static const struct want of_text[] = {{"plain", true, false}, {"fenced", false, false}, {"over", true, false},
                                          {"guarded", false, false}, {"behind", false, false},
                                          {"beside", true, false}, {"releases", false, false}, {"counts", true, false}};
    static const struct want of_apart[] = {{"jumps", false, false}, {"fenced", false, false}};
    static const struct want of_launching[] = {{"parent", false, true}, {"plain", true, false}};
    static const struct want of_partial[] = {{"some", false, false}};

    (void)state;
    look(text, of_text, LW_COUNT_OF(of_text));
    look(apart, of_apart, LW_COUNT_OF(of_apart));
    look(launching, of_launching, LW_COUNT_OF(of_launching));
    look(partial, of_partial, LW_COUNT_OF(of_partial));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fences_count_where_a_kernel_reaches_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
