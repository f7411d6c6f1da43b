/* SPDX-License-Identifier: Apache-2.0 */
/* Tests linked modules, rare forms of PTX syntax, and code that needs warps of 32 lanes. The code runs on the machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "ptx/ptx.h"

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"
#define MAX_WORDS 128

/* Runs kernel k of the modules with one block of @threads threads and warps of @width lanes. The parameter of k is the memory
 * from which @got is read after the run. Returns an error message, or "". */
static const char *run(const char *const *texts, unsigned count, unsigned width, unsigned threads,
                       uint32_t *got, struct lw_error *err)
{
    static const char *const names[] = { "a.ptx", "b.ptx", "c.ptx" };
    struct ptx_source sources[3] = { 0 };
    struct isa_object *object = NULL;
    struct emu_machine *machine = NULL;
    struct emu_engine *engine = NULL;
    struct emu_program *program = NULL;
    struct emu_config config;
    struct emu_stop stop;
    uint64_t out = 0;
    uint8_t *file = NULL;
    size_t size;

    *err = (struct lw_error){ LW_OK, "" };
    memset(got, 0, MAX_WORDS * sizeof *got);
    for (unsigned i = 0; i < count; i++)
        sources[i] = (struct ptx_source){ names[i], texts[i], strlen(texts[i]), false };
    emu_config_default(&config);
    config.arena_bytes = 1 << 26;
    config.warp_width = width;
    if (ptx_translate_all(sources, count, NULL, &object, err) != LW_OK ||
        isa_object_write(object, &file, &size, err) != LW_OK || /* the file is written so that gdb can debug it */
        emu_machine_create(&config, &machine, err) != LW_OK ||
        emu_program_load(machine, object, &program, err) != LW_OK ||
        emu_alloc(machine, MAX_WORDS * sizeof *got, "out", 0, &out, err) != LW_OK ||
        emu_engine_functional_create(machine, &engine, err) != LW_OK)
        goto cleanup;
    struct emu_launch launch = { .program = program, .kernel = emu_program_kernel(program, "k"),
                                 .grid = { 1, 1, 1 }, .block = { threads, 1, 1 }, .work_dim = 1,
                                 .params = &out };

    if (emu_grid_launch(machine, &launch, NULL, err) != LW_OK ||
        engine->ops->run(engine, &stop, err) != LW_OK)
        goto cleanup;
    if (stop.kind != EMU_STOP_IDLE)
        snprintf(err->text, sizeof err->text, "stopped: %d %.300s", stop.kind, stop.hang.detail);
    else if (emu_global_read(machine, out, got, MAX_WORDS * sizeof *got, err) != LW_OK)
        goto cleanup;
cleanup:
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
    free(file);
    return err->text;
}

static void gives(const char *const *texts, unsigned count, const uint32_t *want, unsigned words)
{
    uint32_t got[MAX_WORDS];
    struct lw_error err;

    assert_string_equal(run(texts, count, 32, 1, got, &err), "");
    for (unsigned i = 0; i < words; i++)
        assert_int_equal(got[i], want[i]);
}

static void refuses(const char *a, const char *b, const char *message)
{
    const char *const texts[] = { a, b };
    uint32_t got[MAX_WORDS];
    struct lw_error err;

    assert_string_equal(run(texts, b != NULL ? 2 : 1, 32, 1, got, &err), message);
}

/* A kernel that stores %r1 .. %r4. */
#define KERNEL(code)                                                                         \
    HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<20>; .reg .b64 %d<20>;"        \
         " .reg .pred %p<5>; .reg .f32 %f<5>; .reg .f64 %g<5>;\n ld.param.u64 %d0,[out];\n"  \
         code "\nst.global.v4.u32 [%d0],{%r1,%r2,%r3,%r4};\nret;\n}\n"

static void externals_mean_what_other_modules_define(void **state)
{
    static const char *const texts[] = {
        HEAD ".extern .func (.param .b32 r) twice (.param .b32 a);\n"
             ".extern .global .align 4 .u32 table[4];\n.weak .global .u32 w = 5;\n"
             ".common .global .u32 c[2];\n.global .u32 own = 100;\n"
             ".weak .func (.param .b32 r) which () { st.param.b32 [r], 1; ret; }\n"
             ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<9>; .reg .b64 %d<5>;\n"
             "ld.param.u64 %d0,[out]; ld.global.u32 %r2,[table+8];\n"
             "{ .param .b32 a; .param .b32 r; st.param.b32 [a],%r2;\n"
             " call.uni (r), twice, (a); ld.param.b32 %r1,[r]; }\n"
             "{ .param .b32 r; call.uni (r), which; ld.param.b32 %r2,[r]; }\n"
             "ld.global.u32 %r3,[w]; ld.global.u32 %r4,[own]; st.global.u32 [c+12],%r4;\n"
             "st.global.v4.u32 [%d0],{%r1,%r2,%r3,%r4}; ret;\n}\n",
        HEAD ".visible .global .align 4 .u32 table[] = {1, 2, 3, 4};\n"
             ".visible .global .u32 w = 7;\n.common .global .u32 c[4];\n.global .u32 own = 200;\n"
             ".visible .func (.param .b32 r) which () { st.param.b32 [r], 2; ret; }\n"
             ".visible .func (.param .b32 r) twice (.param .b32 a)\n{ .reg .b32 %r<4>;\n"
             "ld.param.b32 %r1,[a]; ld.global.u32 %r2,[own]; mad.lo.u32 %r1,%r1,2,%r2;\n"
             "st.param.b32 [r],%r1; ret; }\n",
    };
    static const char *const back[] = { texts[1], texts[0] };
    static const uint32_t want[] = { 206, 2, 7, 100 };

    (void)state;
    gives(texts, 2, want, 4);
    gives(back, 2, want, 4); /* modules may be linked in any order */
}

static void an_extern_array_has_one_location_in_all_modules(void **state)
{
    static const char *const texts[] = {
        HEAD ".extern .func put ();\n.visible .global .u32 x = 1;\n"
             ".visible .entry k(.param .u64 out) { .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
             "call.uni put; ld.param.u64 %d0,[out]; ld.global.u32 %r1,[x];\n"
             "st.global.u32 [%d0],%r1; ret; }\n",
        HEAD ".extern .global .u32 x;\n.visible .global .u64 p = x;\n"
             ".visible .func put () { .reg .b64 %d<3>; ld.global.u64 %d0,[p];\n"
             "st.global.u32 [%d0], 42; ret; }\n",
    };
    static const uint32_t want[] = { 42 };

    (void)state;
    gives(texts, 2, want, 1);
}

static void clashes_and_missing_names_are_refused(void **state)
{
    (void)state;
    refuses(HEAD ".visible .global .u32 x;\n", HEAD ".visible .global .u32 x;\n",
            "b.ptx:4: 'x' is also defined in a.ptx:4: declare one of them .weak");
    refuses(HEAD ".visible .func f () { ret; }\n", HEAD "\n.visible .func f () { ret; }\n",
            "b.ptx:5: 'f' is also defined in a.ptx:4: declare one of them .weak");
    refuses(HEAD ".visible .global .u32 x;\n", HEAD ".visible .shared .u32 x;\n",
            "b.ptx:4: 'x' is also defined in a.ptx:4: declare one of them .weak");
    refuses(HEAD ".global .u32 x;\n",
            HEAD ".extern .global .u32 x;\n.entry k() { .reg .b32 %r1;\nld.global.u32 %r1,[x]; ret; }",
            "b.ptx:6: ld: 'x' is external, but no linked module defines it");
    refuses(HEAD ".extern .func f ();\n.visible .const .align 8 .u64 table[2] = {f, 1};\n",
            HEAD ".extern .const .align 8 .u64 table[2];\n.entry k() { .reg .b64 %d1;\nld.const.u64 %d1,[table]; ret; }",
            "a.ptx:5: 'table' is initialised with the address of 'f', which is defined in another module");
    refuses(HEAD ".extern .func f ();\n.visible .global .align 8 .u64 table[2] = {f, 1};\n.visible .global .align 8 .u64 all[1] = {table};\n",
            HEAD ".extern .global .align 8 .u64 all[1];\n.entry k() { .reg .b64 %d1;\nld.global.u64 %d1,[all]; ret; }",
            "a.ptx:5: 'table' is initialised with the address of 'f', which is defined in another module");
    refuses(HEAD ".entry k() { ret; }\n", HEAD ".entry k() { ret; }\n",
            "b.ptx:4: 'k' is also defined in a.ptx:4: declare one of them .weak");
    refuses(HEAD ".func f ();\n.func g ();\n.alias f, g;\n", NULL,
            "a.ptx:6: the alias 'f' refers to 'g', which has no body in this module");
}

/* clang writes constants of host code that kernels do not use, with addresses of the host's functions. */
static void unused_constants_may_have_addresses_of_missing_functions(void **state)
{
    static const char *const texts[] = {
        HEAD ".extern .func f ();\n.visible .const .align 8 .u64 table[2] = {f, 1};\n"
             ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r1; .reg .b64 %d<2>;\nld.param.u64 %d0,[out];\n"
             "mov.u32 %r1,5; st.global.u32 [%d0],%r1; ret;\n}\n",
    };
    static const uint32_t want[] = { 5 };

    (void)state;
    gives(texts, 1, want, 1);
}

/* Head of a text as clang writes it for OpenCL C, in which no .func is .extern or .visible. */
#define OPENCL ".version 3.2\n.target sm_35, texmode_independent\n.address_size 64\n"
static void functions_of_opencl_c_are_found_by_name(void **state)
{
    static const char *const texts[] = {
        OPENCL ".func (.param .b32 r) f (.param .b32 a)\n;\n.func (.param .b32 r) g ();\n"
               ".extern .const .align 4 .b8 table[8];\n.func (.param .b32 r) own ();\n"
               ".entry k(.param .u64 out)\n{\n.reg .b32 %r<9>; .reg .b64 %d<5>;\nld.param.u64 %d0,[out];\n"
               "{ .param .b32 a; .param .b32 r; st.param.b32 [a],20;\n"
               " call.uni (r), f, (a); ld.param.b32 %r1,[r]; }\n"
               "{ .param .b32 r; call.uni (r), g, (); ld.param.b32 %r2,[r]; }\n"
               "{ .param .b32 r; call.uni (r), own, (); ld.param.b32 %r3,[r]; }\n"
               "ld.const.u32 %r4,[table+4]; st.global.v4.u32 [%d0],{%r1,%r2,%r3,%r4}; ret;\n}\n"
               ".func (.param .b32 r) own () { st.param.b32 [r], 3; ret; }\n",
        OPENCL ".visible .const .align 4 .b8 table[8] = {1, 0, 0, 0, 9};\n"
               ".func (.param .b32 r) own () { st.param.b32 [r], 4; ret; }\n"
               ".func (.param .b32 r) f (.param .b32 a)\n{ .reg .b32 %r<4>; ld.param.b32 %r1,[a];\n"
               "{ .param .b32 r; call.uni (r), own, (); ld.param.b32 %r2,[r]; }\n"
               "add.u32 %r1,%r1,%r2; st.param.b32 [r],%r1; ret; }\n",
        HEAD ".visible .func (.param .b32 r) g () { st.param.b32 [r], 7; ret; }\n",
    };
    static const char *const back[] = { texts[2], texts[1], texts[0] };
    static const uint32_t want[] = { 24, 7, 3, 9 };

    (void)state;
    gives(texts, 3, want, 4);
    gives(back, 3, want, 4);
    /* Functions without .extern and .visible are found by name only if both modules are OpenCL C. */
    refuses(HEAD ".func f ();\n.entry k() { call.uni f; ret; }\n", OPENCL ".func f () { ret; }\n",
            "a.ptx:5: call to f: the function is declared but not defined in this module: link the module that defines it, or define it in the source");
    refuses(OPENCL ".func f ();\n.entry k() { call.uni f; ret; }\n", HEAD ".func f () { ret; }\n",
            "a.ptx:5: call to f: the function is declared but not defined in this module: link the module that defines it, or define it in the source");
    static const char *const mixed[] = {
        HEAD ".extern .func (.param .b32 r) f ();\n.visible .entry k(.param .u64 out) {\n"
             ".reg .b32 %r<3>; .reg .b64 %d<3>; { .param .b32 q; call.uni (q), f; ld.param.b32 %r1,[q]; }\n"
             "ld.param.u64 %d0,[out]; st.global.u32 [%d0],%r1; ret; }\n",
        OPENCL ".func (.param .b32 r) f () { st.param.b32 [r], 11; ret; }\n"
    };
    static const uint32_t eleven[] = { 11 };

    gives(mixed, 2, eleven, 1);
    static const char *const two[] = { OPENCL ".func f ();\n.entry k() { call.uni f; ret; }\n",
                                       OPENCL ".func f () { ret; }\n",
                                       OPENCL "\n.func f () { ret; }\n" };
    uint32_t got[MAX_WORDS];
    struct lw_error err;

    assert_string_equal(run(two, 3, 32, 1, got, &err),
                        "a.ptx:4: 'f' is defined in b.ptx:4 and in c.ptx:5: remove one definition, or give them different names");
    /* A second visible definition of a function is an error. A weak definition is replaced. */
    static const char *const visible[] = { two[0], two[1],
                                           HEAD "\n.visible .func f () { ret; }\n" };
    assert_string_equal(run(visible, 3, 32, 1, got, &err),
                        "a.ptx:4: 'f' is defined in b.ptx:4 and in c.ptx:5: remove one definition, or give them different names");
    static const char *const weak[] = {
        OPENCL ".func (.param .b32 r) f ();\n.entry k(.param .u64 out) {\n"
               ".reg .b32 %r<3>; .reg .b64 %d<3>; { .param .b32 q; call.uni (q), f, (); ld.param.b32 %r1,[q]; }\n"
               "ld.param.u64 %d0,[out]; st.global.u32 [%d0],%r1; ret; }\n",
        HEAD ".weak .func (.param .b32 r) f () { st.param.b32 [r], 12; ret; }\n", mixed[1]
    };

    gives(weak, 3, eleven, 1);
}

static void an_alias_is_its_function(void **state)
{
    static const char *const texts[] = {
        HEAD ".func (.param .b32 r) f ();\n.func (.param .b32 r) g ();\n.alias f, g;\n"
             ".visible .entry k(.param .u64 out) { .reg .b32 %r<3>; .reg .b64 %d<3>;\n"
             "{ .param .b32 q; call.uni (q), f; ld.param.b32 %r1,[q]; }\n"
             "ld.param.u64 %d0,[out]; st.global.u32 [%d0],%r1; ret; }\n"
             ".func (.param .b32 r) g () { st.param.b32 [r], 11; ret; }\n"
    };
    static const uint32_t want[] = { 11 };

    (void)state;
    gives(texts, 1, want, 1);
}

static void constant_expressions_have_cs_values(void **state)
{
    static const char *const texts[] = {
        KERNEL("mov.u32 %r1, (1 + 2) * 3 - 8 / 2 % 3; mov.b32 %r2, ~0 ^ 0x0f << (4 | 1);\n"
               "mov.s32 %r3, -(7) / 2 >= -3 ? 0b101 : 017; add.u32 %r4, 1 + WARP_SZ * 2 - 33, 5 == (WARP_SZ+ 8)/8 && !(3 < 2);\n"
               "ld.global.u32 %r5, [%d0 + 4 * 2 - 8];"),
        HEAD ".global .u32 t[2*2] = {1<<3, 100-1, -1 >> 1, (.u64)-1 >> 63};\n"
             ".visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %d<3>;\n"
             "ld.param.u64 %d0,[out]; mov.u64 %d1,t; ld.global.u32 %r1,[%d1]; "
             "ld.global.u32 %r2,[%d1+4]; ld.global.u32 %r3,[%d1+8]; ld.global.u32 %r4,[%d1+12];\n"
             "st.global.v4.u32 [%d0],{%r1,%r2,%r3,%r4}; ret; }\n",
    };
    static const uint32_t want[] = { 8, UINT32_MAX ^ 0x0f << 5, 5, 33 };
    static const uint32_t values[] = { 8, 99, UINT32_MAX, 1 };

    (void)state;
    gives(&texts[0], 1, want, 4);
    gives(&texts[1], 1, values, 4);
    refuses(KERNEL("mov.u32 %r1, 1 / (2 - 2);"), NULL, "a.ptx:8: division by zero in a constant expression");
    refuses(KERNEL("mov.u32 %r1, (.f32)1;"), NULL,
            "a.ptx:8: expected (.s64) or (.u64), found (.f32)");
    refuses(KERNEL("mov.u32 %r1, 1 + %r2;"), NULL,
            "a.ptx:8: expected an integer in the constant expression, found '%r2'");
}

static void literals_have_every_form(void **state)
{
    static const char *const texts[] = {
        KERNEL("mov.u32 %r1, 0b1101; mov.u32 %r2, 0777U; mov.f32 %f1, 2.5; mov.b32 %r3, %f1;\n"
               "mov.f64 %g1, 1e3; cvt.rzi.u32.f64 %r4, %g1; add.f32 %f2, %f1, 0F3f800000;"),
        /* The text has line ends of other systems, comments at unusual positions, and no line end at its end. */
        ".version 7.8\r\n.target sm_80 // t\r\n.address_size/* here */64\r\n"
        ".visible/*a*/.entry/*b*/k/*c*/(/*d*/.param .u64 out/*e*/)\r\n{ .reg .b64 %d<2>;\r\n"
        ".reg .b32 %r<3>; ld.param.u64 /* [ */ %d0 , [ out ] ;\r\nmov.u32 %r1, /* ; */ 9 ;// ;\r\n"
        "@!%p st.global.u32 [ %d0 + 4 ] , %r1 ; .reg .pred %q;\r\n"
        "st.global.u32 [%d0],%r1;ret;} // end",
    };
    static const uint32_t want[] = { 13, 511, 0x40200000, 1000 };
    static const uint32_t nine[] = { 9, 9 };
    char *repaired = strdup(texts[1]), *at;

    (void)state;
    gives(&texts[0], 1, want, 4);
    at = strstr(repaired, "@!%p "); /* removes the use of the undeclared predicate */
    assert_non_null(at);
    memcpy(at, "     ", 5);
    gives((const char *const *)&repaired, 1, nine, 2);
    free(repaired);
}

static void addresses_stand_in_initialisers_whole_and_by_bytes(void **state)
{
    static const char *const texts[] = {
        HEAD ".global .u32 x[2] = {17, 18};\n"
             ".global .align 8 .u8 packed[9] = {7, 0xFF(x), 0xFF00(x), 0xFF0000(x), 0xFF000000(x),"
             " 0xFF00000000(x), 0xFF0000000000(x), 0xFF000000000000(x), 0xFF00000000000000(x)};\n"
             ".global .u64 q[] = {generic(x), x+4, 3};\n"
             ".visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
             ".reg .b16 %h<9>; ld.param.u64 %d0,[out]; ld.global.u64 %d1,[q+8]; ld.u32 %r1,[%d1];\n"
             "ld.global.u64 %d1,[q]; ld.global.u32 %r2,[%d1]; mov.u64 %d2,packed;\n"
             "ld.global.u8 %r4,[%d2]; mov.u64 %d3,0;\n"
             "ld.global.u8 %d4,[%d2+8]; or.b64 %d3,%d3,%d4; shl.b64 %d3,%d3,8;\n"
             "ld.global.u8 %d4,[%d2+7]; or.b64 %d3,%d3,%d4; shl.b64 %d3,%d3,8;\n"
             "ld.global.u8 %d4,[%d2+6]; or.b64 %d3,%d3,%d4; shl.b64 %d3,%d3,8;\n"
             "ld.global.u8 %d4,[%d2+5]; or.b64 %d3,%d3,%d4; shl.b64 %d3,%d3,8;\n"
             "ld.global.u8 %d4,[%d2+4]; or.b64 %d3,%d3,%d4; shl.b64 %d3,%d3,8;\n"
             "ld.global.u8 %d4,[%d2+3]; or.b64 %d3,%d3,%d4; shl.b64 %d3,%d3,8;\n"
             "ld.global.u8 %d4,[%d2+2]; or.b64 %d3,%d3,%d4; shl.b64 %d3,%d3,8;\n"
             "ld.global.u8 %d4,[%d2+1]; or.b64 %d3,%d3,%d4; ld.global.u32 %r3,[%d3];\n"
             "st.global.v4.u32 [%d0],{%r1,%r2,%r3,%r4}; ret; }\n"
    };
    static const uint32_t want[] = { 18, 17, 17, 7 };

    (void)state;
    gives(texts, 1, want, 4);
    refuses(HEAD ".global .u32 x;\n.global .u8 y[2] = {0xFF(x), 0xFF00(x)};\n", NULL,
            "a.ptx:5: only the bytes 0xFF(x), 0xFF00(x) ... of the 8-byte address of a global or "
            "constant variable or a function, in order, are supported");
    refuses(HEAD ".shared .u32 x;\n.global .u64 y = x;\n", NULL,
            "a.ptx:5: only 8-byte addresses of global and constant variables and of functions can "
            "be initial values; 'x' is not one");
}

static void each_function_has_its_own_tables_of_branches(void **state)
{
#define TABLE(a, b)                                                                          \
    "ld.global.u32 %r1,[%d0]; mov.u32 %r2,0; mov.u32 %r3,0; mov.u32 %r4,0;\n"                \
    "T: .branchtargets " a ", " b ";\nbrx.idx %r1, T;\n" a ": mov.u32 %r2,5; bra E;\n" b     \
    ": mov.u32 %r2,6;\nE:\n"
    static const char *const texts[] = {
        KERNEL(TABLE("A", "B")),
        ".visible .entry other(.param .u64 out)\n{ .reg .b32 %r<9>; .reg .b64 %d<3>;\n"
        "ld.param.u64 %d0,[out];\n" TABLE("F", "G") "st.global.u32 [%d0],%r2; ret; }\n",
    };
    static const uint32_t want[] = { 0, 5, 0, 0 };
    char both[4000];
    const char *one = both;

    (void)state;
    snprintf(both, sizeof both, "%s%s", texts[0], texts[1]);
    gives(&one, 1, want, 4);
}

static void kernels_of_32_lanes_do_not_run_on_narrow_warps(void **state)
{
    static const char *const texts[] = {
        HEAD ".visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
             ".reg .pred %p<3>; ld.param.u64 %d0,[out]; mov.u32 %r0,%tid.x;\n"
             "mul.wide.u32 %d1,%r0,4; add.u64 %d0,%d0,%d1; mov.u32 %r1,%laneid;\n"
             "setp.eq.u32 %p1,%r1,5; vote.sync.ballot.b32 %r2,%p1,-1;\n"
             "shfl.sync.up.b32 %r3,%r0,1,0,-1; mad.lo.u32 %r3,%r3,100,%r1; add.u32 %r3,%r3,%r2;\n"
             "st.global.u32 [%d0],%r3; ret; }\n"
    };
    static const unsigned narrow[] = { 4, 8, 16 }, wide[] = { 32, 64 };
    uint32_t got[MAX_WORDS];
    struct lw_error err;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        run(texts, 1, narrow[i], 64, got, &err);
        assert_non_null(strstr(err.text, "32"));
        assert_null(strstr(err.text, "stopped"));
    }
    for (unsigned i = 0; i < 2; i++) { /* a warp of 64 lanes consists of two virtual warps of 32 lanes */
        assert_string_equal(run(texts, 1, wide[i], 64, got, &err), "");
        for (unsigned t = 0; t < 64; t++)
            assert_int_equal(got[t], (t % 32 == 0 ? t : t - 1) * 100 + t % 32 + 32);
    }
}

static void votes_without_sync_are_of_the_lanes_that_are_there(void **state)
{
    static const char *const texts[] = {
        ".version 6.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
             ".reg .pred %p<5>; ld.param.u64 %d0,[out]; mov.u32 %r0,%tid.x;\n"
             "mul.wide.u32 %d1,%r0,4; add.u64 %d0,%d0,%d1; and.b32 %r1,%r0,1; mov.u32 %r2,0;\n"
             "setp.eq.u32 %p1,%r1,1; setp.lt.u32 %p2,%r0,8; mov.pred %p3,-1;\n"
             "@%p1 vote.ballot.b32 %r2,%p2;\n" /* odd lanes below 8: 0xaa */
             "@!%p1 vote.ballot.b32 %r2,%p3;\n"
             "@%p1 bra L; shfl.down.b32 %r3,%r0,2,31; add.u32 %r2,%r2,%r3; L:\n"
             "st.global.u32 [%d0],%r2; ret; }\n"
    };
    uint32_t got[MAX_WORDS];
    struct lw_error err;

    (void)state;
    assert_string_equal(run(texts, 1, 32, 32, got, &err), "");
    for (unsigned t = 0; t < 32; t++)
        assert_int_equal(got[t], t % 2 ? 0xaa : 0x55555555 + (t + 2 < 32 ? t + 2 : t));
}

static void activemask_is_of_the_lanes_that_ask(void **state)
{
    static const char *const texts[] = {
        HEAD ".visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
             ".reg .pred %p<5>; ld.param.u64 %d0,[out]; mov.u32 %r0,%tid.x;\n"
             "mul.wide.u32 %d1,%r0,16; add.u64 %d0,%d0,%d1; setp.lt.u32 %p1,%r0,5;\n"
             "setp.lt.u32 %p2,%r0,20; mov.u32 %r1,0; mov.u32 %r3,0; mov.u32 %r4,0;\n"
             "@%p1 activemask.b32 %r1;\n"                       /* a guard */
             "@!%p1 bra A; activemask.b32 %r2; bra B;\n"        /* the code has two branch sides */
             "A: activemask.b32 %r2; B:\n"
             "@!%p2 bra C; activemask.b32 %r3; @!%p1 bra C;\n"  /* the code has a branch side in a branch side */
             "activemask.b32 %r4; popc.b32 %r4,%r4; C:\n"
             "st.global.v4.u32 [%d0],{%r1,%r2,%r3,%r4}; ret; }\n"
    };
    uint32_t got[MAX_WORDS];
    struct lw_error err;

    (void)state;
    assert_string_equal(run(texts, 1, 32, 32, got, &err), "");
    for (unsigned t = 0; t < 32; t++) {
        assert_int_equal(got[4 * t], t < 5 ? 0x1f : 0);
        assert_int_equal(got[4 * t + 1], t < 5 ? 0x1f : 0xffffffe0);
        assert_int_equal(got[4 * t + 2], t < 20 ? 0xfffff : 0);
        assert_int_equal(got[4 * t + 3], t < 5 ? 5 : 0);
    }
}

static void reserved_shared_memory_is_one_location_in_all_modules(void **state)
{
    static const char *const texts[] = {
        HEAD ".extern .func (.param .b32 r) other (.param .b32 x);\n"
             ".visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;\n"
             ".shared .align 4 .b8 own[64];\n.param .b32 a, b;\n"
             "ld.param.u64 %d0,[out]; mov.u32 %r0,%tid.x; mul.wide.u32 %d1,%r0,4;\n"
             "add.u64 %d0,%d0,%d1; mov.u32 %r1,own; st.shared.u32 [%r1+60],%r0;\n"
             "mov.u32 %r2,%reserved_smem_offset_1; mov.u32 %r3,%reserved_smem_offset_begin;\n"
             "mov.u32 %r4,%reserved_smem_offset_end; mov.u32 %r5,%reserved_smem_offset_cap;\n"
             "sub.u32 %r6,%r4,%r3; setp.eq.u32 %p1,%r6,%r5; setp.ge.and.u32 %p2,%r2,%r3,%p1;\n"
             "setp.lt.and.u32 %p2,%r2,%r4,%p2; selp.u32 %r6,1000,0,%p2;\n"
             "mad.lo.u32 %r2,%r0,4,%r2; st.shared.u32 [%r2],%r0; bar.sync 0;\n"
             "st.param.b32 [a],%r0; call (b), other, (a); ld.param.b32 %r7,[b];\n"
             "add.u32 %r6,%r6,%r7; ld.shared.u32 %r7,[%r1+60]; mov.u32 %r8,%total_smem_size;\n"
             "setp.lt.u32 %p1,%r8,1088; @%p1 mov.u32 %r6,0; st.global.u32 [%d0],%r6; ret; }\n",
        HEAD ".visible .func (.param .b32 r) other (.param .b32 x) { .reg .b32 %r<9>;\n"
             "ld.param.b32 %r1,[x]; xor.b32 %r1,%r1,1; mov.u32 %r2,%reserved_smem_offset_1;\n"
             "mad.lo.u32 %r2,%r1,4,%r2; ld.shared.u32 %r3,[%r2]; st.param.b32 [r],%r3; ret; }\n"
    };
    uint32_t got[MAX_WORDS];
    struct lw_error err;

    (void)state;
    assert_string_equal(run(texts, 2, 32, 64, got, &err), "");
    for (unsigned t = 0; t < 64; t++)
        assert_int_equal(got[t], 1000 + (t ^ 1));
}

static void functions_that_are_not_visible_may_share_a_name(void **state)
{
    static const char *const texts[] = {
        HEAD ".func (.param .b32 r) f() { .reg .b32 %r<2>; mov.u32 %r0,7; st.param.b32 [r],%r0; ret; }\n"
             ".visible .func (.param .b32 r) g() { .reg .b32 %r<2>; .param .b32 q;\n"
             "call (q),f,(); ld.param.b32 %r0,[q]; st.param.b32 [r],%r0; ret; }\n",
        HEAD ".extern .func (.param .b32 r) g();\n"
             ".func (.param .b32 r) f() { .reg .b32 %r<2>; mov.u32 %r0,9; st.param.b32 [r],%r0; ret; }\n"
             ".visible .entry k(.param .u64 out) { .reg .b32 %r<2>; .reg .b64 %d<2>; .param .b32 q, p;\n"
             "ld.param.u64 %d0,[out]; call (q),f,(); ld.param.b32 %r0,[q]; st.global.u32 [%d0],%r0;\n"
             "call (p),g,(); ld.param.b32 %r0,[p]; st.global.u32 [%d0+4],%r0; ret; }\n"
    };
    static const uint32_t want[] = { 9, 7 };

    (void)state;
    gives(texts, 2, want, 2);
}

/* If the translator refuses a kernel, or a function or variable that the kernel uses, it must still translate the other kernels.
 * The object must contain the reason, also after it has been written to a file and read again. */
static void refusals_are_of_the_kernels_that_have_them(void **state)
{
#define GOOD ".entry good() { call fine; ret; }\n"
#define FINE ".func fine() { ret; }\n"
#define BODY(words) "{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p; " words " ret; }\n"
    static const struct {
        const char *text, *bad, *message;
    } rows[] = {
        { FINE GOOD ".entry bad() " BODY("call f;"), NULL, "t.ptx:6: 'f' is not declared: declare it before it is used" },
        { FINE ".func f() " BODY("stmatrix.sync.aligned.m8n8.x1.b16 [%d1], {%r1};") GOOD ".entry bad() { call f; ret; }\n", "bad",
          "t.ptx:5: the instruction 'stmatrix' is not supported: use instructions that docs/reference/ptx-support.md lists" },
        { FINE ".func f() " BODY("stacksave.u64 %d1;") ".func g() { call f; ret; }\n"
               ".entry bad() { call g; ret; }\n" GOOD, "bad",
          "t.ptx:5: the instruction 'stacksave' is not supported: use instructions that docs/reference/ptx-support.md lists" },
        { FINE ".func f() " BODY("cvt.rn.e2m1x2.f32 %r1, %r2, %r3;") GOOD
               ".entry bad() " BODY("mov.u64 %d1, f;"), "bad",
          "t.ptx:5: cvt: the modifier '.e2m1x2' is not supported" },
        { FINE ".func f(); .func g() " BODY("call f; stacksave.u64 %d1;")
               ".func f() { call g; ret; }\n" GOOD ".entry bad() { call f; ret; }\n", "bad",
          "t.ptx:5: the instruction 'stacksave' is not supported: use instructions that docs/reference/ptx-support.md lists" },
        { FINE GOOD ".entry bad() " BODY("\nbrand.new.b32 %r1, {%r2, %r3};\n"), NULL,
          "t.ptx:7: unknown instruction 'brand' (did you mean and?)" },
        { FINE GOOD ".entry bad() " BODY("\n.reg .b128 %q; add.b128 %q, %q, %q;\n { .reg .b32 %r1; L: } @!%p bra L;"),
          "bad", "t.ptx:7: registers of type '.b128' are not supported" },
        { FINE GOOD ".entry bad() " BODY("\n.reg .b128 %q; { mov.b128 %q, {%d1, %d2}; } // }"
                                         "\n.pragma \"}\"; /* } */"),
          "bad", "t.ptx:7: registers of type '.b128' are not supported" },
        { FINE GOOD ".entry bad() " BODY("mov.u32 %r1, %clusterid.y;"), "bad",
          "t.ptx:6: '%clusterid.y' is neither a declared register nor a supported special register" },
        { FINE GOOD ".entry bad() " BODY("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [%d2];"),
          "bad", "t.ptx:6: cp: copies of tensors are not supported" },
        { FINE GOOD ".entry bad() " BODY("ad.b32 %r1, %r2, %r3;"), NULL,
          "t.ptx:6: unknown instruction 'ad' (did you mean add?)" },
        { FINE GOOD ".entry bad() " BODY("mov.b32 %r1, %r99;"), NULL,
          "t.ptx:6: '%r99' is neither a declared register nor a supported special register (did you mean %r1?)" },
        { FINE GOOD ".entry bad() " BODY("\nstacksave.foo.bar %d1; .reg .b128 %q; /*"), NULL,
          "t.ptx:7: a comment is not closed: add */" },
        { FINE GOOD ".entry bad() { .reg .b128 %q; {\n", NULL, "t.ptx:6: the body of 'bad' is not closed with '}'" },
        { FINE ".func f() " BODY("stacksave.u64 %d1;") GOOD ".global .u64 table[1] = {f};\n", NULL,
          "t.ptx:5: the instruction 'stacksave' is not supported: use instructions that docs/reference/ptx-support.md lists" },
        { ".func f() " BODY("stacksave.u64 %d1;") ".entry k() { call f; ret; }\n", NULL,
          "t.ptx:4: the instruction 'stacksave' is not supported: use instructions that docs/reference/ptx-support.md lists" },
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct isa_object *object = NULL, *back = NULL;
        char text[2000];
        uint8_t *file = NULL;
        struct lw_error err;
        bool good = false;
        size_t size;

        snprintf(text, sizeof text, "%s%s", HEAD, rows[i].text);
        if (rows[i].bad == NULL) {
            assert_int_not_equal(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), LW_OK);
            assert_string_equal(err.text, rows[i].message);
            continue;
        }
        if (ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err) != LW_OK ||
            isa_object_write(object, &file, &size, &err) != LW_OK ||
            isa_object_read("t.lwo", file, size, &back, &err) != LW_OK)
            fail_msg("case %u: %s", i, err.text);
        for (unsigned f = 0; f < back->function_count; f++) {
            assert_string_not_equal(back->functions[f].name, "bad");
            good |= strcmp(back->functions[f].name, "good") == 0;
        }
        assert_true(good);
        assert_int_equal(back->refusal_count, 1);
        assert_string_equal(back->refusals[0].name, rows[i].bad);
        assert_string_equal(back->refusals[0].message, rows[i].message);
        isa_object_destroy(object);
        isa_object_destroy(back);
        free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(externals_mean_what_other_modules_define),
        cmocka_unit_test(an_extern_array_has_one_location_in_all_modules),
        cmocka_unit_test(clashes_and_missing_names_are_refused),
        cmocka_unit_test(unused_constants_may_have_addresses_of_missing_functions),
        cmocka_unit_test(functions_of_opencl_c_are_found_by_name),
        cmocka_unit_test(functions_that_are_not_visible_may_share_a_name),
        cmocka_unit_test(an_alias_is_its_function),
        cmocka_unit_test(constant_expressions_have_cs_values),
        cmocka_unit_test(literals_have_every_form),
        cmocka_unit_test(addresses_stand_in_initialisers_whole_and_by_bytes),
        cmocka_unit_test(each_function_has_its_own_tables_of_branches),
        cmocka_unit_test(kernels_of_32_lanes_do_not_run_on_narrow_warps),
        cmocka_unit_test(votes_without_sync_are_of_the_lanes_that_are_there),
        cmocka_unit_test(activemask_is_of_the_lanes_that_ask),
        cmocka_unit_test(
            reserved_shared_memory_is_one_location_in_all_modules),
        cmocka_unit_test(refusals_are_of_the_kernels_that_have_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
