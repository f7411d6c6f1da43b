/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests texts that no compiler writes: rare forms of the language, deliberate errors, and files that are not PTX or
 * not text. The translator must refuse a text with the line and the error, or the kernel must compute what PTX defines, or
 * the machine must stop with a fault or hang report that states the reason. test_ptx_parse tests the messages for ordinary
 * errors.
 */
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

enum { THREADS = 64 };

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"
#define REGS ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f64 %fd<4>;\n"
/* A kernel whose entry is on line 4 and whose statements are on line 6. */
#define KERNEL(body) HEAD ".entry k(.param .u64 p) {\n" REGS body "\nret; }\n"
/* A kernel with code that computes %r1 in each thread t. At the start of the code, %r0 is t, and %p0 is t < 7. */
#define RUNS(declared, body) HEAD declared ".entry k(.param .u64 p) {\n" REGS                     \
    "mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [p]; mad.wide.u32 %rd0, %r0, 4, %rd0;\n"             \
    "setp.lt.u32 %p0, %r0, 7; mov.u32 %r1, 0;\n" body "\nst.global.u32 [%rd0], %r1; ret; }\n"

#define TEXT(t) t, sizeof t - 1
#define REFUSED(t, words) { TEXT(t), "t.ptx:" words, NULL, 0, 0 }
#define GIVES(declared, body, first, step) { TEXT(RUNS(declared, body)), NULL, NULL, first, step }
#define STOPS(declared, body, words) { TEXT(RUNS(declared, body)), NULL, words, 0, 0 }
#define FINE(t) { TEXT(t), NULL, NULL, 0, 0 }

struct row {
    const char *text;
    size_t size;
    const char *message; /* message of the refusal */
    const char *stop;     /* a part of the message of the fault or hang */
    uint32_t first, step; /* the result of thread t is first + t * step */
};

static void ok(enum lw_status status, const struct lw_error *err)
{
    if (status != LW_OK)
        fail_msg("%s", err->text);
}

/* Runs the kernel in one block. If a fault or hang ends the run, stores its message in @why. */
static void run(struct isa_object *object, uint32_t *words, struct lw_buffer *why)
{
    const size_t bytes = THREADS * sizeof *words;
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct emu_stop stop;
    struct lw_error err;
    uint64_t out;

    emu_config_default(&config);
    config.arena_bytes = 1 << 26;
    config.hang_window = 1 << 16;
    ok(emu_machine_create(&config, &machine, &err), &err);
    ok(emu_program_load(machine, object, &program, &err), &err);
    ok(emu_alloc(machine, bytes, "out", 0, &out, &err), &err);
    ok(emu_engine_functional_create(machine, &engine, &err), &err);
    struct emu_launch launch = { .program = program, .kernel = emu_program_kernel(program, "k"),
                                 .grid = { 1, 1, 1 }, .block = { THREADS, 1, 1 }, .work_dim = 1,
                                 .params = &out };

    assert_non_null(launch.kernel);
    ok(emu_grid_launch(machine, &launch, NULL, &err), &err);
    ok(engine->ops->run(engine, &stop, &err), &err);
    if (stop.kind == EMU_STOP_FAULT)
        emu_fault_print(machine, &stop.fault, &why->sink);
    else if (stop.kind != EMU_STOP_IDLE)
        lw_printf(&why->sink, "%s", stop.hang.detail);
    ok(emu_global_read(machine, out, words, bytes, &err), &err);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
}

static void hold(const struct row *rows, unsigned count)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        struct isa_object *object = NULL;
        struct lw_error err = { LW_OK, "" };
        enum lw_status status = ptx_translate("t.ptx", row->text, row->size, NULL, &object, &err);
        uint32_t words[THREADS] = { 0 };
        struct lw_buffer why;

        if (status != LW_OK) {
            if (row->message == NULL || strcmp(err.text, row->message) != 0) {
                print_error("row %u: %s\n expected: %s\n", i, err.text,
                            row->message != NULL ? row->message : "a translation");
                wrong++;
            }
            assert_null(object);
            assert_true(status == LW_EINPUT || status == LW_EUNSUPP);
            continue;
        }
        if (row->message != NULL) {
            print_error("row %u was translated; expected: %s\n", i, row->message);
            wrong++;
        } else if (strstr(row->text, ".param .u64 p") != NULL) {
            lw_buffer_init(&why);
            run(object, words, &why);
            if ((row->stop == NULL) != (why.size == 0) ||
                (row->stop != NULL && strstr(why.text, row->stop) == NULL)) {
                print_error("row %u: %s\n", i, why.size != 0 ? why.text : "nothing stopped it");
                wrong++;
            }
            for (uint32_t t = 0; t < THREADS && row->stop == NULL && why.size == 0; t++) {
                if (words[t] != row->first + t * row->step) {
                    print_error("row %u, thread %u: %u, expected %u\n", i, t, words[t],
                                row->first + t * row->step);
                    wrong++;
                    break;
                }
            }
            lw_buffer_fini(&why);
        }
        isa_object_destroy(object);
    }
    assert_int_equal(wrong, 0);
}

static void numbers_at_their_edges(void **state)
{
    static const struct row rows[] = {
        REFUSED(KERNEL(".reg .b32 %q<2147483648>;"),
                "6: .reg declares 2147483648 registers: expected 0 to 268435455"),
        REFUSED(KERNEL(".reg .b32 %q<-1>;"), "6: .reg declares -1 registers: expected 0 to 268435455"),
        REFUSED(KERNEL(".reg .b32 %q<99999999999999999999>;"),
                "6: an integer literal exceeds 64 bits"),
        REFUSED(KERNEL("mov.u32 %r8, 1;"), "6: '%r8' is neither a declared register nor a supported special register"),
        REFUSED(KERNEL("mov.u32 %r01, 1;"), "6: '%r01' is neither a declared register nor a supported special register"),
        REFUSED(KERNEL("mov.u32 %r4294967297, 1;"), "6: '%r4294967297' is neither a declared register nor a supported special register"),
        REFUSED(HEAD ".global .u32 x[-1];",
                "4: the number of elements of 'x' is negative, or exceeds 63 bits"),
        REFUSED(HEAD ".global .u32 x[4294967296][4294967296];", "4: 'x' is too large"),
        REFUSED(HEAD ".global .u64 x[2305843009213693952];", "4: 'x' is too large"),
        REFUSED(HEAD ".global .u32 x[2][];", "4: expected a number of elements, found ']'"),
        REFUSED(HEAD ".global .align 3 .u32 x;", "4: .align 3: expected a power of two up to 4096"),
        REFUSED(HEAD ".global .align 0 .u32 x;", "4: .align 0: expected a power of two up to 4096"),
        REFUSED(HEAD ".global .align 4294967304 .u32 x;",
                "4: .align 4294967304: expected a power of two up to 4096"),
        REFUSED(HEAD ".global .u32 x = 1/0;", "4: division by zero in a constant expression"),
        REFUSED(KERNEL("mov.u32 %r1, 0x;"), "6: expected an operand, found '0x'"),
        REFUSED(KERNEL("mov.u32 %r1, 08;"), "6: expected an operand, found '08'"),
        REFUSED(KERNEL("mov.u32 %r1, 0b12;"), "6: '0b12' is not a number"),
        REFUSED(KERNEL("mov.u32 %r1, 1UU;"), "6: '1UU' is not a number"),
        REFUSED(KERNEL("mov.b16 %rs1, 0h3c00;"), "6: '0h3c00' is not a number"),
        REFUSED(KERNEL("mov.f64 %fd1, 0d3ff00000000000000;"),
                "6: a floating-point literal 0d needs 16 hexadecimal digits"),
        REFUSED(KERNEL("add.f16 %rs1, %rs2, 1.0;"),
                "6: add: a floating-point literal does not fit type .f16"),
        REFUSED(KERNEL("bar.sync 4294967296;"), "6: bar: barrier 4294967296 does not exist: barriers are 0 to 15"),
        REFUSED(KERNEL("bar.sync 0, 4294967296;"), "6: bar: 4294967296 threads cannot arrive at a "
                "barrier: a block has at most 1024"),
        REFUSED(KERNEL("bar.sync 0, -32;"), "6: bar: -32 threads cannot arrive at a barrier: a "
                "block has at most 1024"),
        REFUSED(KERNEL("lop3.b32 %r1, %r1, %r2, %r3, 256;"),
                "6: lop3: only type .b32 with a truth table of 0 to 255 is supported"),
        REFUSED(KERNEL(".loc 1 99999999999 1\nret;"), "6: .loc 1 99999999999: the line or column is out of range"),
        REFUSED(HEAD ".file 4294967295 \"a\"", "4: the file number 4294967295 is too large"),
        REFUSED(HEAD ".entry k() .maxntid 4294967295, 4294967295, 4294967295 { ret; }",
                "4: the block of 'k' is too large"),
        /* A literal has 64 bits, of which an instruction uses the low bits of its type. */
        GIVES("", "mov.u32 %r1, 4294967298;", 2, 0),
        GIVES("", "add.u32 %r1, %r0, -4294967297;", UINT32_MAX, 1),
        GIVES("", "mov.u64 %rd1, 18446744073709551615; shr.u64 %rd1, %rd1, 40; cvt.u32.u64 %r1, %rd1;",
              0xffffff, 0),
        GIVES("", "mov.u32 %r1, 017;", 15, 0),
        GIVES("", "mov.u32 %r1, 0B101;", 5, 0),
        GIVES("", "mov.u32 %r1, (-1 > 0U) ? 7 : 9;", 7, 0),
        GIVES("", "mov.u32 %r1, (-9223372036854775807 - 1) / -1 == -9223372036854775807 - 1 ? 3 : 4;",
              3, 0),
        GIVES("", "mov.u32 %r1, (-9223372036854775807 - 1) % -1 + 6;", 6, 0),
        GIVES("", "mov.f64 %fd1, 1e999999999; mov.b64 {%r2, %r1}, %fd1;", 0x7ff00000, 0),
        GIVES("", "shl.b32 %r1, %r0, 4294967295;", 0, 0),
    };

    (void)state;
    hold(rows, LW_COUNT_OF(rows));
}

static void addresses_at_their_edges(void **state)
{
    static const struct row rows[] = {
        REFUSED(KERNEL("ld.param.u64 %rd1, [p+8];"),
                "6: ld: the access is past the 8 bytes of parameters"),
        REFUSED(KERNEL("ld.param.u64 %rd1, [p+16777216];"),
                "6: ld: the access is past the 8 bytes of parameters"),
        REFUSED(KERNEL("ld.param.u64 %rd1, [p+-16777216];"),
                "6: ld: the access is past the 8 bytes of parameters"),
        REFUSED(KERNEL("ld.param.u64 %rd1, [p+4294967296];"),
                "6: ld: the offset is past the end of 'p': +4294967296"),
        REFUSED(KERNEL("ld.param.u64 %rd1, [p+9223372036854775807];"),
                "6: ld: the offset is past the end of 'p': +9223372036854775807"),
        REFUSED(KERNEL(".shared .u32 s; ld.shared.u32 %r1, [s+9223372036854775807];"),
                "6: ld: the offset is past the end of 's': +9223372036854775807"),
        REFUSED(KERNEL(".shared .u32 s; ld.shared.u32 %r1, [s+4294967296];"),
                "6: ld: the offset is past the end of 's': +4294967296"),
        REFUSED(KERNEL(".local .u32 s; ld.local.u32 %r1, [s+-4294967296];"),
                "6: ld: the offset is past the end of 's': -4294967296"),
        REFUSED(KERNEL("ld.global.u32 %r1, [];"), "6: expected an address, found ']'"),
        REFUSED(KERNEL("ld.global.u32 %r1, [%rd1, %rd2];"),
                "6: expected ']' after the address, found ','"),
        REFUSED(KERNEL("ld.global.u32 %r1, [%rs1];"),
                "6: ld: register '%rs1' is .b16, expected .u32, .s32 or .b32"),
        REFUSED(KERNEL("st.param.u64 [p], %rd1;"), "6: st: this state space is read-only"),
        GIVES("", "ld.global.u32 %r1, [%rd0+0]; add.u64 %rd1, %rd0, -4294967296; "
                  "st.global.u32 [%rd1+4294967296], 5; ld.global.u32 %r1, [%rd0+4+-4];", 5, 0),
        GIVES("", "add.u64 %rd1, %rd0, -99999999999999; st.global.u32 [%rd1+99999999999999], %r0; "
                  "ld.global.u32 %r1, [%rd0];", 0, 1),
        GIVES(".global .u64 x = x;\n", "ld.global.u64 %rd1, [x]; mov.u64 %rd2, x; "
              "setp.eq.u64 %p1, %rd1, %rd2; selp.u32 %r1, 1, 0, %p1;", 1, 0),
        STOPS(".shared .u32 s;\n", "ld.shared.u32 %r1, [s+2147483644];", "out-of-bounds: shared load of 4 bytes"),
        STOPS("", ".local .u32 s; ld.local.u32 %r1, [s+8388608];", "out-of-bounds: local load of 4 bytes"),
        STOPS("", "ld.global.u32 %r1, [%rd0+4294967296];", "no allocation is near this address"),
        STOPS("", "mov.u64 %rd1, -1; ld.global.u8 %r1, [%rd1];",
              "global load of 1 byte at 0xffffffffffffffff"),
        STOPS("", "mov.u64 %rd1, -1; ld.u32 %r1, [%rd1+5];", "null-page: generic load of 4 bytes at 0x4"),
    };

    (void)state;
    hold(rows, LW_COUNT_OF(rows));
}

static void names_and_scopes_of_any_kind(void **state)
{
    static const struct row rows[] = {
        REFUSED(KERNEL("L: add.u32 %r1, L, 1;"), "6: 'L' is a label, which only branches can use"),
        REFUSED(KERNEL("L: ld.global.u32 %r1, [L];"),
                "6: 'L' is a label, which only branches can use"),
        REFUSED(KERNEL("L: mov.u32 L, 1;"), "6: 'L' is a label, which only branches can use"),
        REFUSED(KERNEL("L: call L;"), "6: 'L' is a label, which only branches can use"),
        REFUSED(KERNEL("bra %r1;"),
                "6: the label '%r1' is not defined: write '%r1:' before the target of the branch"),
        REFUSED(KERNEL("bra k;"),
                "6: the label 'k' is not defined: write 'k:' before the target of the branch"),
        REFUSED(KERNEL("{ L: } bra L;"),
                "6: the label 'L' is not defined: write 'L:' before the target of the branch"),
        REFUSED(KERNEL("{ .reg .u32 q; } mov.u32 q, 1;"),
                "6: 'q' is not declared: declare it before it is used"),
        REFUSED(KERNEL("}}}"), "6: expected a directive, found '}'"),
        REFUSED(HEAD ".entry k() { ret; }\n.entry k() { ret; }", "5: 'k' is defined twice: it has two bodies"),
        REFUSED(HEAD ".weak .entry k() { ret; }\n.weak .entry k() { ret; }",
                "5: 'k' is defined twice: it has two bodies"),
        REFUSED(HEAD ".func k() { ret; }\n.entry k() { ret; }", "5: 'k' is defined twice: it has two bodies"),
        REFUSED(HEAD ".global .u32 k;\n.entry k() { ret; }", "5: 'k' is declared twice"),
        REFUSED(HEAD ".entry k(.param .u32 a, .param .u32 a) { ret; }", "4: 'a' is declared twice"),
        REFUSED(HEAD ".entry 9k() { ret; }", "4: expected the name of a function, found '9k'"),
        REFUSED(HEAD ".entry k() { .entry j() { ret; } ret; }",
                "4: the directive '.entry' is not supported"),
        REFUSED(KERNEL("T: .branchtargets ;\nbrx.idx %r1, T;"), "6: expected a label, found ';'"),
        REFUSED(KERNEL("T: brx.idx %r1, T;"), "6: 'T' is not a .branchtargets above"),
        REFUSED(KERNEL("{ T: .branchtargets A; }\nbrx.idx %r1, T; A:"),
                "7: 'T' is not a .branchtargets above"),
        REFUSED(HEAD ".func f();\n.func g();\n.alias f, g;\n.alias g, f;\n.entry k() { call f; ret; }",
                "6: the alias 'f' refers to 'g', which has no body in this module"),
        REFUSED(HEAD ".func f();\n.alias f, f;\n.entry k() { ret; }",
                "5: the alias 'f' refers to 'f', which has no body in this module"),
        GIVES("", ".reg .u32 %, $, _; add.u32 %, %r0, 1; add.u32 $, %, 1; add.u32 %r1, $, %;", 3, 2),
        GIVES("", ".reg .u32 mov, add; mov.u32 mov, 5; add.u32 add, mov, %r0; mov.u32 %r1, add;", 5, 1),
        GIVES("", ".reg .u32 %tid; mov.u32 %tid, 9; mov.u32 %r1, %tid;", 9, 0),
        GIVES("", ".reg .u32 q; mov.u32 q, 1; { .reg .u32 q; mov.u32 q, 2; { .reg .u32 q; mov.u32 q, 3; } "
                  "add.u32 %r1, q, 10; } add.u32 %r1, %r1, q;", 13, 0),
        GIVES("", "@%p0 bra L; add.u32 %r1, %r1, 1; bra M; { L: add.u32 %r1, %r1, 9; } L: add.u32 %r1, %r1, 1; M:",
              1, 0),
        GIVES("", "T: .branchtargets A, A, B, A; and.b32 %r2, %r0, 1; brx.idx %r2, T; "
                  "B: mov.u32 %r1, 7; A: add.u32 %r1, %r1, %r0;", 0, 1),
        GIVES("", ".reg .u32 %q<0>; {{{{{{{{ mov.u32 %r1, 4; }}}}}}}};;;;", 4, 0),
    };

    (void)state;
    hold(rows, LW_COUNT_OF(rows));
}

static void operands_of_the_wrong_kind(void **state)
{
    static const struct row rows[] = {
        REFUSED(KERNEL("add.u32 %r1, %p1, %r2;"),
                "6: add: expected a .u32, found the predicate '%p1'"),
        REFUSED(KERNEL("st.global.u32 [%rd1], %p1;"),
                "6: st: expected a .u32, found the predicate '%p1'"),
        REFUSED(KERNEL("ld.global.pred %p1, [%rd1];"), "6: ld: '.pred' is not allowed on this instruction"),
        REFUSED(KERNEL("selp.u32 %r1, %r2, %r3, %r4;"), "6: selp: expected a predicate, found %r4"),
        REFUSED(HEAD ".global .pred x;", "4: a variable cannot have type .pred"),
        REFUSED(KERNEL("@ add.u32 %r1, %r1, 1;"),
                "6: 'add' is not declared: declare it before it is used"),
        REFUSED(KERNEL("@!!%p1 ret;"), "6: expected a predicate after '@', found '!'"),
        REFUSED(KERNEL("@%p1 @%p2 ret;"), "6: expected an instruction after the guard, found '@'"),
        REFUSED(KERNEL("@%p1 L: ret;"), "6: unknown instruction 'L': docs/reference/ptx-support.md lists the supported instructions"),
        REFUSED(KERNEL("add.u32 %r1, _, %r2;"),
                "6: add: an operand of type .u32 must be a register or a number"),
        REFUSED(KERNEL("ld.global.v3.u32 {%r1, %r2, %r3}, [%rd1];"),
                "6: ld: the modifier '.v3' is not supported"),
        REFUSED(KERNEL("ld.global.v2.u32 {}, [%rd1];"), "6: ld: the operand does not match .v2"),
        REFUSED(KERNEL("ld.global.v2.u32 {{%r1}, %r2}, [%rd1];"),
                "6: expected a register, found '{'"),
        REFUSED(KERNEL(".reg .v4 .u32 v; mov.u32 %r1, v.x99;"),
                "6: the vector 'v' has 4 elements but no '.x99': elements are .x .y .z .w, or .r .g .b .a"),
        REFUSED(KERNEL("call k, (%rd1);"),
                "6: call to k, which is a kernel: call a .func, or launch it"),
        REFUSED(KERNEL("F: .callprototype _ (); call %r1, F;"),
                "6: call: expected a function or a 64-bit register"),
        REFUSED(HEAD ".func f(.param .u32 a) { ret; }\n.entry k() { .param .u32 x; call f, (x, x); ret; }",
                "5: call: f has 1 parameters and 0 results, but the call has 2 and 0"),
        REFUSED(HEAD ".func f(.param .u32 a) { ret; }\n.entry k() { .param .u64 x; call f, (x); ret; }",
                "5: call: parameter 1 of f has 4 bytes, but 'x' has 8"),
        REFUSED(HEAD ".func f(.param .align 4 .b8 a[16]) { ret; }\n.entry k() { .param .align 4 .b8 x[12]; call f, (x); ret; }",
                "5: call: parameter 1 of f has 16 bytes, but 'x' has 12"),
        REFUSED(HEAD ".func f(.reg .u32 a) { ret; }\n.entry k() { .reg .f64 d; call f, (d); ret; }",
                "5: call: register 'd' is .f64, expected .u32, .s32 or .b32"),
        REFUSED(HEAD ".entry k(.param .align 4 .b8 q[70000]) { ret; }",
                "4: the parameters of 'k' exceed 65536 bytes"),
        REFUSED(HEAD ".entry k(.param .align 4 .b8 q[4294967297]) { ret; }", "4: 'q' is too large"),
        REFUSED(HEAD ".shared .b8 a[4000000];\n.shared .b8 b[4000000];\n.entry k() { .reg .u32 r; mov.u32 r, a; mov.u32 r, b; ret; }",
                "5: variable 'b' makes the shared memory larger than 4 MiB, which is the maximum"),
        REFUSED(HEAD ".entry k() { .local .b8 s[4194305]; .reg .u32 r; mov.u32 r, s; ret; }",
                "4: variable 's' makes the local memory larger than 4 MiB, which is the maximum"),
        GIVES("", "setp.eq.u32 %p1|%p1, %r0, %r0; selp.u32 %r1, 1, 2, %p1;", 2, 0),
        GIVES("", "ld.global.v2.u32 {_, _}, [%rd0+-4294967296];", 0, 0),
        GIVES("", "mov.pred %p1, 1; not.pred %p1, %p1; @%p1 bra L; mov.u32 %r1, 3; L:", 3, 0),
        /* A function calls itself through a pointer with a prototype. Each lane has its own depth of recursion. */
        GIVES(".func (.param .b32 r) f(.param .b32 n, .param .b64 g) {\n"
              ".reg .b32 %a<4>; .reg .b64 %g; .reg .pred %q;\n"
              "ld.param.b32 %a1, [n]; ld.param.b64 %g, [g]; mov.u32 %a2, 0; setp.eq.u32 %q, %a1, 0; @%q bra E;\n"
              "{ .param .b32 x; .param .b64 y; .param .b32 z; sub.u32 %a1, %a1, 1; st.param.b32 [x], %a1; st.param.b64 [y], %g;\n"
              "P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _); call (z), %g, (x, y), P; ld.param.b32 %a2, [z]; }\n"
              "add.u32 %a2, %a2, 3; E: st.param.b32 [r], %a2; ret; }\n",
              "{ .param .b32 x; .param .b64 y; .param .b32 z; mov.u64 %rd1, f; st.param.b32 [x], %r0; st.param.b64 [y], %rd1;\n"
              "call (z), f, (x, y); ld.param.b32 %r1, [z]; }", 0, 3),
        STOPS("", "mov.u64 %rd1, 12345; F: .callprototype _ (); call %rd1, F;",
              "bad-call: lane 0 jumps to 0x3039, which is not the entry of a function"),
        STOPS(".func f() { call f; ret; }\n", "call f;", "stack overflow"),
        STOPS("", "bar.sync 0, 0;",
              "barrier-count: 32 lanes arrive at CTA barrier 0, but its thread count is 0"),
        STOPS("", "@%p0 bra L; bar.sync 0, 64; L: bar.sync 1, 64;", "partial CTA barrier"),
        STOPS("", "vote.sync.any.pred %p1, %p0, 0; selp.u32 %r1, 1, 2, %p1;",
              "warpsync-self: lane 0 has the member mask 0x0, which does not contain the lane"),
        STOPS("", "L: bra L;", "livelock: no store changes memory"),
        STOPS("", "@%p0 bra L; bra M; L: bra L; M:", "livelock: no store changes memory"),
    };

    (void)state;
    hold(rows, LW_COUNT_OF(rows));
}

static void bytes_that_are_no_text(void **state)
{
    static const struct row rows[] = {
        REFUSED(HEAD ".entry k() {\0 ret; }", "4: expected a statement, found the byte 0x00"),
        REFUSED(HEAD ".entry k() { ret; }\n\0\0rubbish",
                "5: expected a directive, found the byte 0x00"),
        REFUSED(HEAD "\xff\xfe", "4: expected a directive, found the byte 0xff"),
        REFUSED(HEAD ".entry k\xc3\xa9() { ret; }",
                "4: expected ';' or a body after the function's head, found the byte 0xc3"),
        REFUSED("\xff\xfe.\0v\0e\0r\0s\0", "1: the file is encoded as UTF-16: save it as UTF-8"),
        REFUSED(HEAD "/* /* */ */\n", "4: expected a directive, found '*'"),
        REFUSED(HEAD "/*/", "4: a comment is not closed: add */"),
        REFUSED(HEAD "/", "4: expected a directive, found '/'"),
        REFUSED(HEAD ".file 1 \"abc\n\"", "4: a string is not closed: add \""),
        REFUSED(HEAD ".file 1 \"abc\\", "4: a string is not closed: add \""),
        REFUSED(".", "1: expected a directive, found '.'"),
        REFUSED(".version",
                "1: expected a number such as 8.0 after .version, found the end of the text"),
        REFUSED(HEAD ".entry", "4: expected the name of a function, found the end of the text"),
        REFUSED(HEAD ".entry k(.param",
                "4: expected a type in the declaration, found the end of the text"),
        REFUSED(HEAD ".global .u32 x[2] = {1,",
                "4: expected a value in the initialiser, found the end of the text"),
        REFUSED(HEAD ".entry k() { call (", "4: expected an operand, found the end of the text"),
        REFUSED(HEAD ".section .debug_info {\n.b8 1", "4: the section is not closed with '}'"),
        REFUSED(".version 7.8\r\n.target sm_80\r\n.address_size 64\r\n.entry k() {\r\nadd.u32 1;\r\n}",
                "5: add: expected 3 operands, found 1"),
        FINE(".version 7.8\r\n.target sm_80\r\n.address_size 64\r\n.entry k() {\r\n// \r\nret;\r\n}\r\n"),
        FINE("\xef\xbb\xbf" HEAD ".entry k() { ret; }"),
        FINE(HEAD "// a\0b \xff\xfe\n.file 1 \"\xc3\xa9\xff\"\n.entry k() {\v\f ret; } //"),
    };

    (void)state;
    hold(rows, LW_COUNT_OF(rows));
}

/* Deep nesting and long texts must need little stack and little time. */
static void what_is_repeated_a_hundred_thousand_times(void **state)
{
    static const struct {
        const char *before, *repeated, *middle, *closed, *behind;
        const char *message;
    } cases[] = {
        { HEAD ".entry k() {\n", "{", "", "}", "ret; }", NULL },
        { HEAD ".entry k() {\n", "{", "", "", "", "t.ptx:4: the body of 'k' is not closed with '}'" },
        { HEAD ".global .u32 x = ", "(", "1", ")", ";", "t.ptx:4: a constant expression is nested too deeply" },
        { HEAD ".entry k() { .reg .u32 r;\nmov.u32 r, ", "-", "1", "", "; ret; }",
          "t.ptx:5: a constant expression is nested too deeply" },
        { HEAD ".entry k() { .reg .u32 r;\nmov.u32 r, ", "1 ? ", "1", " : 1", "; ret; }",
          "t.ptx:5: a constant expression is nested too deeply" },
        { HEAD ".global .u32 x[1] = ", "{", "1", "}", ";",
          "t.ptx:4: the initialiser of 'x' has more levels of braces than the variable has dimensions" },
        { HEAD ".entry k() { .reg .u32 r;\nadd", ".u32", "", "", " r, r, 1; ret; }",
          "t.ptx:5: add: the modifier '.u32' is not supported" },
        { HEAD ".entry k() { .reg .u32 r;\nadd.u32 r", ", r", "", "", "; ret; }",
          "t.ptx:5: 'add' has 100001 operands: no instruction has more than 16" },
        { HEAD ".entry ", "k", "", "", "() { ret; }",
          "t.ptx:4: a name of 100000 characters is too long (8000 at most)" },
        { HEAD ".global .u8 x", "[1]", "", "", ";", "t.ptx:4: 'x' has more than 8 dimensions" },
        { HEAD ".entry k() {\n", ";", "", "", "ret; }", NULL },
        { HEAD, "}", "", "", "", "t.ptx:4: expected a directive, found '}'" },
    };
    enum { TIMES = 100000 };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct isa_object *object = NULL;
        struct lw_error err = { LW_OK, "" };
        struct lw_buffer text;

        lw_buffer_init(&text);
        lw_printf(&text.sink, "%s", cases[i].before);
        for (unsigned k = 0; k < TIMES; k++)
            lw_printf(&text.sink, "%s", cases[i].repeated);
        lw_printf(&text.sink, "%s", cases[i].middle);
        for (unsigned k = 0; k < TIMES && *cases[i].closed != '\0'; k++)
            lw_printf(&text.sink, "%s", cases[i].closed);
        lw_printf(&text.sink, "%s", cases[i].behind);
        enum lw_status status = ptx_translate("t.ptx", text.text, text.size, NULL, &object, &err);

        if (cases[i].message == NULL)
            ok(status, &err);
        else
            assert_string_equal(err.text, cases[i].message);
        isa_object_destroy(object);
        lw_buffer_fini(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_at_their_edges),
        cmocka_unit_test(addresses_at_their_edges),
        cmocka_unit_test(names_and_scopes_of_any_kind),
        cmocka_unit_test(operands_of_the_wrong_kind),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(what_is_repeated_a_hundred_thousand_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
