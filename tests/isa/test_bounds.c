/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the bounds of accesses, which are the variables to whose memory accesses belong. The translator determines them,
 * the object file contains them, and the reader checks them. */
#include "tests/lib/object_fixture.h"

#include "check/check.h"

/* Kernel into which the code of a case is inserted. %r2 and %rd9 hold the thread number, and %rd1 a pointer to global memory. */
static const char form[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".shared .align 4 .b8 s[128];\n.shared .align 4 .b8 t[128];\n.global .align 4 .b8 g[64];\n"
    ".const .align 4 .b8 c[32] = {1,2,3};\n.extern .shared .align 4 .b8 d[];\n"
    ".entry k(.param .u64 p, .param .u64 .ptr .shared .align 4 q) {\n"
    ".reg .pred %%p<9>; .reg .b32 %%r<20>; .reg .b64 %%rd<20>;\n.local .align 8 .b8 depot[64];\n"
    "ld.param.u64 %%rd1,[p]; mov.u32 %%r2,%%tid.x; cvt.u64.u32 %%rd9,%%r2; st.shared.u32 [s],%%r2; st.shared.u32 [t],%%r2;\n"
    "setp.lt.u32 %%p1,%%r2,7;\n%s\nst.global.u32 [%%rd1],%%r9;\nret; }\n";

static const struct {
    const char *code, *variable; /* code, and the variable of its last access; NULL: the translator determines none */
} cases[] = {
    /* the address of a variable plus an offset */
    { "mov.u64 %rd2,s; add.s64 %rd3,%rd2,%rd9; ld.shared.u32 %r9,[%rd3];", "s" },
    { "mov.u64 %rd2,t; add.s64 %rd3,%rd9,%rd2; ld.shared.u32 %r9,[%rd3+-4];", "t" },
    { "mov.u64 %rd2,t; sub.s64 %rd3,%rd2,%rd9; ld.shared.u32 %r9,[%rd3];", "t" },
    { "mov.u32 %r3,s; mad.lo.s32 %r4,%r2,4,%r3; ld.shared.u32 %r9,[%r4];", "s" },
    { "mov.u64 %rd2,s; mad.wide.u32 %rd3,%r2,4,%rd2; ld.shared.u32 %r9,[%rd3];", "s" },
    { "mov.u64 %rd2,s; cvta.shared.u64 %rd3,%rd2; add.s64 %rd4,%rd3,%rd9; ld.u32 %r9,[%rd4];", "s" },
    { "mov.u64 %rd2,g; add.s64 %rd3,%rd2,%rd9; ld.global.u32 %r9,[%rd3];", "g" },
    { "mov.u64 %rd2,c; add.s64 %rd3,%rd2,%rd9; ld.const.u32 %r9,[%rd3];", "c" },
    { "mov.u64 %rd2,g; add.s64 %rd3,%rd2,%rd9; atom.global.add.u32 %r9,[%rd3],1;", "g" },
    /* a pointer that a loop increments, or a phi of the pointer with itself */
    { "mov.u64 %rd2,s; L: ld.shared.u32 %r9,[%rd2]; add.s64 %rd2,%rd2,4; setp.lt.u32 %p2,%r9,9; @%p2 bra L;", "s" },
    { "mov.u64 %rd3,s; selp.b64 %rd2,%rd3,%rd3,%p1; add.s64 %rd2,%rd2,%rd9; ld.shared.u32 %r9,[%rd2];", "s" },
    /* the difference of two addresses in one variable is a number */
    { "mov.u64 %rd2,s; add.s64 %rd3,%rd2,%rd9; sub.s64 %rd4,%rd3,%rd2; mov.u64 %rd5,t; add.s64 %rd6,%rd5,%rd4; "
      "ld.shared.u32 %r9,[%rd6];", "t" },
    /* constant offsets outside the variable, and inside it, where no check is needed */
    { "ld.shared.u32 %r9,[s+128];", "s" },
    { "ld.shared.u32 %r9,[t+-4];", "t" },
    { "ld.shared.v2.u32 {%r9,%r8},[s+120];", NULL },
    { "mov.u64 %rd2,s; add.s64 %rd3,%rd2,124; ld.shared.u32 %r9,[%rd3];", NULL },
    /* two variables, or an operation other than a sum */
    { "mov.u64 %rd3,s; mov.u64 %rd4,t; selp.b64 %rd2,%rd3,%rd4,%p1; ld.shared.u32 %r9,[%rd2];", NULL },
    { "mov.u64 %rd2,s; @%p1 mov.u64 %rd2,t; ld.shared.u32 %r9,[%rd2];", NULL },
    { "mov.u64 %rd2,s; @%p1 mov.u64 %rd2,%rd9; ld.shared.u32 %r9,[%rd2];", NULL },
    { "mov.u64 %rd2,s; mov.u64 %rd3,t; sub.s64 %rd4,%rd3,%rd2; add.s64 %rd5,%rd2,%rd4; ld.shared.u32 %r9,[%rd5];", NULL },
    { "mov.u64 %rd2,s; and.b64 %rd3,%rd2,-4; ld.shared.u32 %r9,[%rd3];", NULL },
    { "mov.u64 %rd2,s; sub.s64 %rd3,%rd9,%rd2; ld.shared.u32 %r9,[%rd3];", NULL },
    /* a pointer loaded from memory, and memory of unknown size */
    { "mov.u64 %rd2,s; st.global.u64 [%rd1],%rd2; ld.global.u64 %rd3,[%rd1]; ld.shared.u32 %r9,[%rd3];", NULL },
    { "mov.u64 %rd2,d; add.s64 %rd3,%rd2,%rd9; ld.shared.u32 %r9,[%rd3];", NULL },
    { "add.s64 %rd3,%rd1,%rd9; ld.global.u32 %r9,[%rd3];", NULL },
    /* an argument, and local memory */
    { "ld.param.u64 %rd2,[q]; add.s64 %rd3,%rd2,%rd9; ld.shared.u32 %r9,[%rd3];", "argument" },
    { "mov.u64 %rd2,depot; add.s64 %rd3,%rd2,%rd9; st.local.u32 [%rd3],%r2; ld.local.u32 %r9,[depot+8];", "local" },
};

static struct isa_object *translate(const char *code)
{
    char text[4096];

    snprintf(text, sizeof text, form, code);
    return object_of(text);
}

static const char *name_of(const struct isa_object *object, const struct isa_bound *b)
{
    switch ((enum isa_bound_kind)b->kind) {
    case ISA_BOUND_VARIABLE: return object->variables[b->which].name;
    case ISA_BOUND_PARAM: return b->which == 1 ? "argument" : "another argument";
    case ISA_BOUND_LOCAL: return b->which == 0 && b->bytes == 64 ? "local" : "other local memory";
    default: return "?";
    }
}

static void an_address_is_of_the_variable_it_is_computed_from(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct isa_object *object = translate(cases[i].code);

        if (cases[i].variable == NULL && object->bound_count != 0)
            fail_msg("%s: the access is assigned to %s", cases[i].code, name_of(object, &object->bounds[0]));
        if (cases[i].variable != NULL &&
            (object->bound_count != 1 || strcmp(name_of(object, &object->bounds[0]), cases[i].variable) != 0))
            fail_msg("%s: %u bounds, %s", cases[i].code, object->bound_count,
                     object->bound_count != 0 ? name_of(object, &object->bounds[0]) : "");
        isa_object_destroy(object);
    }
}

/* two accesses, to two variables */
static const char two[] = "mov.u64 %rd2,s; add.s64 %rd3,%rd2,%rd9; ld.shared.u32 %r9,[%rd3];"
                          "mov.u64 %rd4,t; add.s64 %rd5,%rd4,%rd9; st.shared.u32 [%rd5],%r9;";

static void the_file_keeps_them(void **state)
{
    struct isa_object *object = translate(two), *again = object_reread(object);

    (void)state;
    assert_int_equal(object->bound_count, 2);
    assert_int_equal(again->bound_count, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct isa_bound *b = isa_object_bound_at(again, object->bounds[i].insn);

        assert_non_null(b);
        assert_string_equal(name_of(again, b), i == 0 ? "s" : "t");
    }
    assert_null(isa_object_bound_at(again, again->text_count - 1));
    assert_null(isa_object_bound_at(again, object->bounds[0].insn + 1));
    isa_object_destroy(object);
    isa_object_destroy(again);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct isa_object *object = translate(two);
    struct isa_bound *b = &object->bounds[1], was = *b;
    struct lw_error err;

    (void)state;
    assert_int_equal(isa_object_check(object, &err), LW_OK);
#define WITH(change, what) do { change; object_is_refused(object, what); *b = was; } while (0)
    WITH(b->insn = object->text_count, "bound 1: instruction ");
    WITH(b->insn = object->bounds[0].insn, "out of order");
    WITH(b->which = object->variable_count, "bound 1: the variable does not exist");
    WITH(b->bytes = 4, "the variable does not exist");
    WITH(b->kind = ISA_BOUND_KIND_COUNT, "the variable does not exist");
    WITH((b->kind = ISA_BOUND_PARAM, b->which = 2), "the variable does not exist");
    assert_int_equal(isa_object_check(object, &err), LW_OK);
    isa_object_destroy(object);
}

/* ---- accesses that are covered by the check of another access ---------------------------------- */

static void must(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

/* The check of the access to s[4 * tid] covers the access to s[4 * tid + 1]. In warps of 8 lanes both accesses of the second
 * warp are out of bounds. */
static const char led[] = "mov.u64 %rd2,s; shl.b64 %rd4,%rd9,4; add.s64 %rd3,%rd2,%rd4; st.shared.u32 [%rd3],%r2;"
                          "st.shared.u32 [%rd3+4],%r2; mov.u32 %r9,%r2;";

static void a_lane_that_a_debugger_moves_past_the_look_is_looked_at(void **state)
{
    struct isa_object *object = translate(led);
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_program *program;
    struct emu_engine *engine;
    struct emu_stop stop;
    struct emu_core *core;
    struct chk_options options = {.max_findings = 10};
    struct chk *chk;
    struct lw_error err;
    uint64_t params[2] = {0};
    unsigned slot;

    (void)state;
    assert_int_equal(object->bound_count, 2);
    emu_config_default(&config);
    config.warp_width = 8;
    must(emu_machine_create(&config, &machine, &err), &err);
    must(emu_program_load(machine, object, &program, &err), &err);
    must(emu_alloc(machine, 64, "p", 0, &params[0], &err), &err);
    must(chk_select("memory", &options.kinds, &err), &err);
    must(chk_create(machine, &options, &chk, &err), &err);
    must(emu_engine_functional_create(machine, &engine, &err), &err);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0], .grid = {1, 1, 1},
                                .block = {16, 1, 1}, .work_dim = 1, .params = params};
    must(emu_grid_launch(machine, &launch, NULL, &err), &err);

    /* the first warp has executed both accesses, and the second warp is about to execute the checked one */
    const uint64_t lead = emu_program_base(program) + (uint64_t)object->bounds[0].insn * ISA_WORD_BYTES;
    const uint64_t behind = lead + 2 * ISA_WORD_BYTES;
    must(emu_breakpoint_set(machine, behind, true, &err), &err);
    must(engine->ops->run(engine, &stop, &err), &err);
    assert_int_equal(stop.kind, EMU_STOP_BREAK);
    assert_int_equal(stop.place.warp, 0);
    must(emu_breakpoint_set(machine, behind, false, &err), &err);
    must(emu_breakpoint_set(machine, lead, true, &err), &err);
    must(engine->ops->run(engine, &stop, &err), &err);
    assert_int_equal(stop.kind, EMU_STOP_BREAK);
    assert_int_equal(stop.place.warp, 1);
    must(emu_breakpoint_set(machine, lead, false, &err), &err);
    assert_true(engine->ops->locate(engine, stop.place.grid, stop.place.block, &core, &slot));
    must(emu_pc_write(core, slot, 1, 0, false, lead + ISA_WORD_BYTES, &err), &err);
    must(engine->ops->run(engine, &stop, &err), &err);
    assert_int_equal(stop.kind, EMU_STOP_IDLE);
    must(chk_finish(chk, &stop, &err), &err);
    assert_non_null(chk_get(chk, 0));
    assert_int_equal(chk_get(chk, 0)->location.pc, lead + ISA_WORD_BYTES);
    assert_int_equal(chk_get(chk, 0)->location.lanes, 0xff);
    assert_null(chk_get(chk, 1));
    emu_engine_destroy(engine);
    chk_destroy(chk);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_of_the_variable_it_is_computed_from),
        cmocka_unit_test(the_file_keeps_them),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_lane_that_a_debugger_moves_past_the_look_is_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
