/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the PTX reader and instruction selection: accepted texts, refused texts and their messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
/* A kernel whose entry is on line 4 and whose statements start on line 6. */
#define KERNEL(body) HEAD ".entry k(.param .u64 p) {\n" \
    ".reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>;\n" \
    body "\nret; }\n"

static char *file(const char *name, size_t *size)
{
    const char *dir = getenv("srcdir");
    struct lw_error err;
    char path[1024], *text;

    snprintf(path, sizeof path, "%s/tests/ptx/data/%s", dir != NULL ? dir : ".", name);
    if (lw_file_read(path, &text, size, &err) != LW_OK)
        fail_msg("%s", err.text);
    return text;
}

static struct isa_object *translate(const char *text, size_t size)
{
    struct isa_object *object = NULL;
    struct lw_error err;

    if (ptx_translate("t.ptx", text, size, NULL, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    return object;
}

static void refusals_name_line_construct_and_reason(void **state)
{
    static const struct {
        const char *text, *message;
        enum lw_status status;
    } cases[] = {
        { "rubbish", "t.ptx:1: expected a directive, found 'rubbish'", LW_EINPUT },
        { HEAD ".texref t;", "t.ptx:4: the directive '.texref' is not supported", LW_EUNSUPP },
        { ".address_size 32", "t.ptx:1: .address_size 32 is not supported: compile for nvptx64",
          LW_EUNSUPP },
        { HEAD ".entry k(.param .u64 p) {\nret;\n", "t.ptx:4: the body of 'k' is not closed with '}'",
          LW_EINPUT },
        { HEAD "/* no end", "t.ptx:4: a comment is not closed: add */", LW_EINPUT },
        { KERNEL("frobnicate.b32 %r1;"), "t.ptx:6: unknown instruction 'frobnicate': docs/reference/ptx-support.md lists the supported instructions",
          LW_EINPUT },
        { KERNEL("addd.b32 %r1;"), "t.ptx:6: unknown instruction 'addd' (did you mean add?)",
          LW_EINPUT },
        { "", "t.ptx:1: the file is empty: expected a kernel (.visible .entry ...) after .version, .target and .address_size", LW_EINPUT },
        { ".target sm_75\n.address_size 64\n", "t.ptx:1: the directive .version is missing: PTX starts with .version, .target and .address_size", LW_EINPUT },
        { ".version 7.0\n.address_size 64\n", "t.ptx:1: the directive .target is missing: PTX starts with .version, .target and .address_size", LW_EINPUT },
        { ".version 99.9\n", "t.ptx:1: .version 99.9 does not exist: versions are 1.0 to 9.0", LW_EINPUT },
        { ".version 5.5\n", "t.ptx:1: .version 5.5 does not exist: versions are 1.0 to 9.0", LW_EINPUT },
        { ".version 7.0\n.target sm_banana\n", "t.ptx:2: target 'sm_banana' does not exist: targets are sm_75, sm_80, sm_90a ...", LW_EINPUT },
        { ".version 7.0\n.target sm_89\n", "t.ptx:2: 'sm_89' needs .version 7.8 or later, but this module has 7.0", LW_EINPUT },
        { KERNEL("add.u32 %r1, %tid.x, 4;"), "t.ptx:6: add: a special register can be read only by 'mov': "
          "move %tid.x into a register", LW_EINPUT },
        { KERNEL("barrier.sync 1, 33;"), "t.ptx:6: barrier: the number of threads 33 is not a multiple of 32: only whole warps arrive at a barrier", LW_EINPUT },
        { KERNEL("redux.sync.add.u32 %r1, %r2, -1;"), "t.ptx:6: redux: the instruction needs .target sm_80 or higher, but this module has sm_75", LW_EINPUT },
        { KERNEL("mov.u32 %r1, %reserved_smem_offset_1;"), "t.ptx:6: %reserved_smem_offset_1 needs "
          ".version 7.6 and .target sm_80 or later", LW_EINPUT },
        { KERNEL("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%f1};"),
          "t.ptx:6: the instruction 'stmatrix' is not supported: use instructions that docs/reference/ptx-support.md lists", LW_EUNSUPP },
        { KERNEL("tld4.r.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [t, {%f0,%f1}];"),
          "t.ptx:6: the instruction 'tld4' is not supported: use instructions that docs/reference/ptx-support.md lists", LW_EUNSUPP },
        { KERNEL(".reg .v2 .v2 .f32 %v;"), "t.ptx:6: registers of type '.v2' are not supported", LW_EUNSUPP },
        { KERNEL(".reg .v2 .align 8 .f32 %v;"), "t.ptx:6: registers of type '.align' are not supported",
          LW_EUNSUPP },
        { KERNEL("add.s32 %r1, %r2;"), "t.ptx:6: add: expected 3 operands, found 2", LW_EINPUT },
        { KERNEL("add.s32 %r1, %r2, %r99;"),
          "t.ptx:6: '%r99' is neither a declared register nor a supported special register (did you mean %r1?)",
          LW_EINPUT },
        { KERNEL("add.s32 %r1, %r2, %rs1;"),
          "t.ptx:6: add: register '%rs1' is .b16, expected .u32, .s32 or .b32", LW_EINPUT },
        { KERNEL("add.s32 %rd1, %r2, %r1;"),
          "t.ptx:6: add: register '%rd1' is .b64, expected .u32, .s32 or .b32", LW_EINPUT },
        { KERNEL("add.u32 %r1, %rd1, %r2;"),
          "t.ptx:6: add: register '%rd1' is .b64, expected .u32, .s32 or .b32", LW_EINPUT },
        { KERNEL("add.s32 %f1, %f2, %r1;"),
          "t.ptx:6: add: register '%f2' is .f32, expected .u32, .s32 or .b32", LW_EINPUT },
        { KERNEL("add.s32 %f1, %r2, %r1;"),
          "t.ptx:6: add: register '%f1' is .f32, expected .u32, .s32 or .b32", LW_EINPUT },
        { KERNEL("add.f32 %f1, %f2, %rd1;"),
          "t.ptx:6: add: register '%rd1' is .b64, expected .f32 or .b32", LW_EINPUT },
        { KERNEL(".reg .s32 %s<2>; mul.f32 %f1, %f2, %s1;"),
          "t.ptx:6: mul: register '%s1' is .s32, expected .f32 or .b32", LW_EINPUT },
        { KERNEL("mul.wide.u32 %r1, %r2, %r3;"),
          "t.ptx:6: mul: register '%r1' is .b32, expected .u64, .s64 or .b64", LW_EINPUT },
        { KERNEL("mad.wide.s32 %rd1, %r2, %r3, %r4;"),
          "t.ptx:6: mad: register '%r4' is .b32, expected .u64, .s64 or .b64", LW_EINPUT },
        { KERNEL("mul.wide.u16 %rd1, %rs2, %rs3;"),
          "t.ptx:6: mul: register '%rd1' is .b64, expected .u32, .s32 or .b32", LW_EINPUT },
        { KERNEL("shl.b64 %rd1, %rd2, %rd3;"),
          "t.ptx:6: shl: register '%rd3' is .b64, expected .u32, .s32 or .b32", LW_EINPUT },
        { KERNEL("popc.b64 %rd1, %rd2;"),
          "t.ptx:6: popc: register '%rd1' is .b64, expected .u32, .s32 or .b32", LW_EINPUT },
        { KERNEL("xor.b32 %r1, %rd2, %r3;"),
          "t.ptx:6: xor: register '%rd2' is .b64, expected a register of 32 bits", LW_EINPUT },
        { KERNEL("mov.b32 %r1, %rd2;"),
          "t.ptx:6: mov: register '%rd2' is .b64, expected a register of 32 bits", LW_EINPUT },
        { KERNEL("setp.lt.f32 %p1, %f1, %rd1;"),
          "t.ptx:6: setp: register '%rd1' is .b64, expected .f32 or .b32", LW_EINPUT },
        { KERNEL("selp.b32 %rs1, %r1, %r2, %p1;"),
          "t.ptx:6: selp: register '%rs1' is .b16, expected a register of 32 bits", LW_EINPUT },
        { KERNEL("st.global.u32 [%rd1], %rs1;"),
          "t.ptx:6: st: register '%rs1' is .b16, expected .u32, .s32 or .b32, or a wider one",
          LW_EINPUT },
        { KERNEL("st.global.u32 [%rd1], %f1;"),
          "t.ptx:6: st: register '%f1' is .f32, expected .u32, .s32 or .b32, or a wider one",
          LW_EINPUT },
        { KERNEL("ld.global.f32 %rs1, [%rd1];"),
          "t.ptx:6: ld: register '%rs1' is .b16, expected .f32 or .b32, or a wider one",
          LW_EINPUT },
        { KERNEL("cvt.rn.f32.s32 %f1, %rs1;"),
          "t.ptx:6: cvt: register '%rs1' is .b16, expected .u32, .s32 or .b32, or a wider one",
          LW_EINPUT },
        { KERNEL("st.global.u8 [%rd1], %r1; st.global.b32 [%rd1], %f1; ld.global.s8 %r1, [%rd1]; "
                 "ld.global.u16 %rd2, [%rd1]; cvt.u16.u32 %r1, %rd1; and.b32 %f1, %f2, %r1; "
                 "add.f32 %r1, %r2, %f1; mov.b32 %r1, %f1; mul.wide.u16 %r1, %rs1, %rs2;"),
          NULL, LW_OK },
        { KERNEL("add.sat.u32 %r1, %r2, %r3;"),
          "t.ptx:6: add: the modifier '.sat' is not supported on this instruction", LW_EUNSUPP },
        { KERNEL("add.zz.s32 %r1, %r2, %r3;"), "t.ptx:6: add: the modifier '.zz' is not supported",
          LW_EUNSUPP },
        { KERNEL("div.rn.f16 %rs1, %rs2, %rs3;"), "t.ptx:6: div: '.f16' is not allowed on this instruction",
          LW_EINPUT },
        { KERNEL("add.rn.rn.f32 %f1, %f2, %f3;"), "t.ptx:6: 'add': modifier '.rn' is given twice",
          LW_EINPUT },
        { KERNEL("add.rn.rz.f32 %f1, %f2, %f3;"),
          "t.ptx:6: add: '.rn' and '.rz' cannot be combined", LW_EINPUT },
        { KERNEL("add.approx.f32 %f1, %f2, %f3;"),
          "t.ptx:6: add: '.approx' is not allowed on this instruction", LW_EINPUT },
        { KERNEL("setp.lt.eq.s32 %p1, %r1, %r2;"),
          "t.ptx:6: setp: '.eq' and '.lt' cannot be combined", LW_EINPUT },
        { KERNEL("setp.lo.s32 %p1, %r1, %r2;"),
          "t.ptx:6: setp: the comparison '.lo' is for unsigned integers, not for .s32", LW_EINPUT },
        { KERNEL("setp.lt.b32 %p1, %r1, %r2;"),
          "t.ptx:6: setp: type .b32 has only the comparisons '.eq' and '.ne'", LW_EINPUT },
        { KERNEL("add.ftz.f64 %rd1, %rd2, %rd3;"),
          "t.ptx:6: add: '.ftz' is allowed for .f32 and .f16, not for .f64", LW_EINPUT },
        { KERNEL("add.sat.f64 %rd1, %rd2, %rd3;"),
          "t.ptx:6: add: type .f64 has no '.sat'", LW_EINPUT },
        { KERNEL("st.global.nc.f32 [%rd1], %f1;"),
          "t.ptx:6: st: '.nc' is allowed only for loads", LW_EINPUT },
        { KERNEL("ld.volatile.global.nc.f32 %f1, [%rd1];"),
          "t.ptx:6: ld: '.nc' and '.volatile' cannot be combined", LW_EINPUT },
        { KERNEL("ld.global.ca.cg.f32 %f1, [%rd1];"),
          "t.ptx:6: ld: '.ca' and '.cg' cannot be combined", LW_EINPUT },
        { KERNEL("fma.f32 %f1, %f2, %f3, %f1;"),
          "t.ptx:6: fma: type .f32 needs '.rn' or another rounding", LW_EINPUT },
        { KERNEL("ex2.f32 %f1, %f2;"),
          "t.ptx:6: ex2: type .f32 needs '.approx'", LW_EINPUT },
        { KERNEL("cvt.f32.s32 %f1, %r2;"),
          "t.ptx:6: cvt: a conversion from .s32 to .f32 needs '.rn' or another rounding", LW_EINPUT },
        { KERNEL("cvt.rn.s32.f32 %r1, %f2;"),
          "t.ptx:6: cvt: a conversion from .f32 to .s32 needs '.rni' or another rounding", LW_EINPUT },
        { KERNEL("cp.async.shared.global [%r1], [%rd1], 4;"),
          "t.ptx:6: cp: expected .ca or .cg", LW_EINPUT },
        { KERNEL("min.NaN.u32 %r1, %r2, %r3;"),
          "t.ptx:6: min: the modifier '.NaN' is not supported on this instruction",
          LW_EUNSUPP },
        { KERNEL("mov.u32 %r1, %envreg9;"),
          "t.ptx:6: '%envreg9' is neither a declared register nor a supported special register",
          LW_EUNSUPP },
        { KERNEL("bra NOWHERE;"), "t.ptx:6: the label 'NOWHERE' is not defined: write 'NOWHERE:' "
          "before the target of the branch", LW_EINPUT },
        { KERNEL("LOOP: bra LOPP;"), "t.ptx:6: the label 'LOPP' is not defined (did you mean LOOP?)",
          LW_EINPUT },
        { KERNEL("L: L: ret;"), "t.ptx:6: the label 'L' is defined twice", LW_EINPUT },
        { KERNEL("@%r1 bra L; L:"), "t.ptx:6: the guard '%r1' is not a predicate", LW_EINPUT },
        { KERNEL("ld.global.u32 %r1, %rd1;"),
          "t.ptx:6: ld: operand 2 is not an address in brackets", LW_EINPUT },
        { KERNEL("ld.param.u64 %rd1, [p+4];"), "t.ptx:6: ld: the access is past the 8 bytes of parameters",
          LW_EINPUT },
        { KERNEL("ld.global.v4.u64 {%rd1,%rd2,%rd3,%rd4}, [%rd1];"),
          "t.ptx:6: ld: an access of 32 bytes is not supported", LW_EUNSUPP },
        { KERNEL("st.param.u32 [p], %r1;"), "t.ptx:6: st: this state space is read-only", LW_EUNSUPP },
        { KERNEL("vadd.s32.s32.s32 %r1, %r2, %r3;"),
          "t.ptx:6: the instruction 'vadd' is not supported: use instructions that docs/reference/ptx-support.md lists", LW_EUNSUPP },
        { KERNEL("cp.async.bulk.wait_group 0;"),
          "t.ptx:6: cp: this form needs .version 8.0 and .target sm_90 or later", LW_EINPUT },
        { KERNEL("cp.async.mbarrier.arrive.shared.b64 [%rd1];"),
          "t.ptx:6: cp: the instruction needs .target sm_80 or higher, but this module has sm_75", LW_EINPUT },
        { KERNEL("cp.async.ca.shared.global [%r1], [%rd1], 12;"),
          "t.ptx:6: cp: the size of the copy must be 4, 8 or 16 bytes", LW_EINPUT },
        { KERNEL("barrier.cluster.arrive;"), "t.ptx:6: barrier: clusters of blocks are not supported",
          LW_EUNSUPP },
        { KERNEL("bar.red.popc.pred %p1, 0, %p1;"),
          "t.ptx:6: bar: '.popc.pred' is not allowed on this instruction", LW_EINPUT },
        { KERNEL("redux.sync.add.f32 %f1, %f2, -1;"),
          "t.ptx:6: redux: type .f32 has only '.min' and '.max'", LW_EINPUT },
        { KERNEL("cvt.rna.tf32.f32 %f1, %f2;"),
          "t.ptx:6: cvt: register '%f1' is .f32, expected .b32 for .tf32", LW_EINPUT },
        { KERNEL("cvt.rm.tf32.f32 %r1, %f2;"), "t.ptx:6: cvt: a conversion to .tf32 allows '.rna', '.rn' and '.rz', each with '.satfinite', and '.relu' only with '.rn' and '.rz'", LW_EINPUT },
        { KERNEL("mul.u32 %r1, %r1, %r1;"), "t.ptx:6: mul: '.lo', '.hi' or '.wide' is missing before '.u32'",
          LW_EINPUT },
        { KERNEL("mov.u32 %r1, %tid;"), "t.ptx:6: mov: a special register with three elements needs .v4; to read one element, give its name, as in %tid.x", LW_EINPUT },
        { KERNEL("ld.global.u64 %rd1, [p];"), "t.ptx:6: ld: 'p' is in .param, not in .global: use ld.param to read its value", LW_EINPUT },
        { KERNEL("add.f64.f16 %rd1, %r1, %rd1;"), "t.ptx:6: add: the instruction has too many types: remove '.f16'",
          LW_EINPUT },
        { KERNEL("fma.rn.oob.f16x2 %r1, %r1, %r1, %r1;"), "t.ptx:6: fma: '.oob' is not supported, as there are no tensor copies", LW_EUNSUPP },
        { KERNEL("fence.proxy.tensormap::generic.acquire.gpu [%rd1], 64;"), "t.ptx:6: fence: expected "
          "the address of a tensor map, and 128 for its bytes", LW_EINPUT },
        { KERNEL(".reg .v4 .f64 v;"), "t.ptx:6: a vector of 4 .f64 is not possible: vectors have at most 128 bits, and no predicates", LW_EINPUT },
        { KERNEL(".reg .v2 .f32 v; mov.f32 %f1, v.z;"), "t.ptx:6: the vector 'v' has 2 elements but no "
          "'.z': elements are .x .y .z .w, or .r .g .b .a", LW_EINPUT },
        { KERNEL(".reg .v2 .f32 v; .reg .v2 .f32 v;"), "t.ptx:6: 'v' is declared twice", LW_EINPUT },
        { KERNEL(".reg .v4 .f32 v; ld.global.v2.f32 v, [%rd1];"), "t.ptx:6: ld: the operand does not "
          "match .v2", LW_EINPUT },
        { KERNEL("mov.v2.b32 {%r1, %r2}, %rd1;"), "t.ptx:6: mov: '.v2' needs a vector of 2 elements on "
          "both sides", LW_EINPUT },
        { KERNEL(".reg .tf32 t;"), "t.ptx:6: registers of type '.tf32' are not supported", LW_EUNSUPP },
        { KERNEL("match.any.b32 %r1, %r2, -1;"), "t.ptx:6: match: expected .any.sync or .all.sync",
          LW_EINPUT },
        { KERNEL("elect.sync %r1, -1;"),
          "t.ptx:6: elect: expected a register and a predicate, d|p", LW_EINPUT },
        { KERNEL("cvt.pack.sat.u4.s32.b32 %r1, %r2, %r3, 0;"),
          "t.ptx:6: cvt: the modifier '.u4' is not supported", LW_EUNSUPP },
        { KERNEL("sub.u16x2 %r1, %r2, %r3;"), "t.ptx:6: sub: type .u16x2 has no subtraction",
          LW_EINPUT },
        { KERNEL("div.rn.f32x2 %rd1, %rd2, %rd3;"), "t.ptx:6: div: '.f32x2' is not allowed on this instruction",
          LW_EINPUT },
        { KERNEL("red.shared.v2.f32.add [%r1], {%f1, %f2};"),
          "t.ptx:6: red: atomics on vectors need global memory", LW_EUNSUPP },
        { KERNEL("red.global.v2.u32.add [%rd1], {%r1, %r2};"),
          "t.ptx:6: red: vectors of .u32 are not supported", LW_EUNSUPP },
        { KERNEL("lop3.or.b32 %r1, %r1, %r2, %r3, 1, %p1;"),
          "t.ptx:6: lop3: a second destination (d|p) and '.and' or '.or' must be given together", LW_EINPUT },
        { KERNEL("bar.sync 16;"), "t.ptx:6: bar: barrier 16 does not exist: barriers are 0 to 15", LW_EINPUT },
        { KERNEL("mov.f32 %f1, 0f123;"),
          "t.ptx:6: a floating-point literal 0f needs 8 hexadecimal digits", LW_EINPUT },
        { KERNEL("mov.u32 %r1, 99999999999999999999;"), "t.ptx:6: an integer literal exceeds 64 bits",
          LW_EINPUT },
        { HEAD ".func f(.param .u32 a);\n" ".entry k() {\n call f, (1);\nret; }\n",
          "t.ptx:6: call to f: the function is declared but not defined in this module: link the module that defines it, or define it in the source", LW_EUNSUPP },
        { HEAD ".extern .global .u32 x;\n.entry k() {\n.reg .b32 %r1;\nld.global.u32 %r1, [x];\nret; }",
          "t.ptx:7: ld: 'x' is external, but no linked module defines it", LW_EUNSUPP },
        { HEAD ".func (.param .b32 r) f(.param .b32 n, .param .align 8 .b8 %VAParam[]) { ret; }\n",
          "t.ptx:4: 'f' takes a variable number of arguments ('...'), which is not supported: pass an "
          "array, or write one function for each number of arguments", LW_EUNSUPP },
        { HEAD ".global .u32 x; .global .u32 x;", "t.ptx:4: 'x' is declared twice", LW_EINPUT },
        { HEAD ".entry k() {\n.reg .b32 %r<9>; .reg .b32 %r1; ret; }", "t.ptx:5: '%r1' is declared twice",
          LW_EINPUT },
        { HEAD ".entry k() {\n.reg .b32 %r8; .reg .b32 %r<9>; ret; }", "t.ptx:5: '%r8' is declared twice",
          LW_EINPUT },
        { HEAD ".entry k() {\n.reg .b32 %r<9>; .reg .b32 %r<2>; ret; }",
          "t.ptx:5: '%r<...>' is declared twice", LW_EINPUT },
        { HEAD ".entry k() {\n.reg .b32 %r<9>;\nbfe.u32 %r1, %r2, 300, 1; ret; }",
          "t.ptx:6: bfe: operand 3 is 300: it must be from 0 to 255", LW_EINPUT },
        { HEAD ".global .u8 x[2] = {1, 2, 3};",
          "t.ptx:4: the initialiser of 'x' has more than the 2 elements of this dimension", LW_EINPUT },
        { HEAD ".global .u32 x[3] = {{1}, {2}, {3}};",
          "t.ptx:4: the initialiser of 'x' has more levels of braces than the variable has dimensions", LW_EINPUT },
        { HEAD ".global .u32 x[3][2] = {1, 2, 3, 4, 5, 6};",
          "t.ptx:4: the initialiser of 'x' needs a brace for each dimension: {{1, 2}, {3, 4}}",
          LW_EINPUT },
        { HEAD ".global .u32 x = 1.5;", "t.ptx:4: the initial value of a .u32 must be an integer",
          LW_EINPUT },
        { HEAD ".global .f32 x = 1;",
          "t.ptx:4: the initial value of a .f32 must be a float, such as 1.0", LW_EINPUT },
        { HEAD ".global .f16 x = 1.0;",
          "t.ptx:4: a variable of type .f16 cannot have an initial value: declare it as .b16", LW_EINPUT },
        { HEAD ".shared .u32 x = 1;", "t.ptx:4: 'x' cannot have an initial value: only .global and "
          ".const variables have one", LW_EINPUT },
        { HEAD ".extern .global .u32 x = 1;", "t.ptx:4: 'x' is external: its initial value belongs "
          "to its definition", LW_EINPUT },
        { HEAD ".global .u32 x[0];", "t.ptx:4: 'x' has no elements", LW_EINPUT },
        { HEAD ".global .attribute(.bogus) .u32 x;", "t.ptx:4: the attribute '.bogus' is not supported: use .managed or .unified", LW_EUNSUPP },
        { HEAD ".global .attribute(.unified(19,95)) .f32 x; .entry k() { ret; }", NULL, LW_OK },
        { HEAD ".entry k() .noreturn { ret; }", "t.ptx:4: '.noreturn' of a function is not supported",
          LW_EUNSUPP },
        { ".version 7.0\n.target sm_70, map_f64_to_f32\n.address_size 64\n", "t.ptx:2: '.target map_f64_to_f32' is not supported: use sm_NN, debug, texmode_unified or texmode_independent", LW_EUNSUPP },
        { KERNEL("ret %r1;"), "t.ptx:6: ret: expected 0 operands, found 1", LW_EINPUT },
        { KERNEL("@%p1 exit.uni;"), "t.ptx:6: exit: the modifier '.uni' is not supported on this instruction",
          LW_EUNSUPP },
        { HEAD ".entry k() {\nbra M;\nL: bra M;\nM: bra L;\n}", NULL, LW_OK }, /* a loop of two jumps */
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct isa_object *object = NULL;
        struct lw_error err = { LW_OK, "" };
        enum lw_status status = ptx_translate("t.ptx", cases[i].text, strlen(cases[i].text), NULL,
                                              &object, &err);

        if (cases[i].message == NULL) {
            assert_int_equal(status, LW_OK);
            isa_object_destroy(object);
            continue;
        }
        assert_string_equal(err.text, cases[i].message);
        assert_int_equal(status, cases[i].status);
        assert_null(object);
    }
}

/* Messages must name a line of the compiler's source: the line of the last .loc, and of the call at which the code was
 * inlined. */
static void messages_name_the_file_and_the_call_of_inlined_code(void **state)
{
#define SOURCE(body)                                                                              \
    ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n" body "ret;\n}\n"    \
    "\t.file\t1 \"/home/me/k.cu\", 7, 9\n\t.file\t2 \"/opt/sdk/group.h\"\n"
    static const struct {
        const char *text, *message;
    } cases[] = {
        { SOURCE(".loc 1 5 3\nfoo;\n"), "dir/k.cu:5: unknown instruction 'foo'" },
        { SOURCE(".loc 2 40 3\nfoo;\n"),
          "/opt/sdk/group.h:40: unknown instruction 'foo': docs/reference/ptx-support.md lists the supported instructions "
          "(line 7 of the PTX of dir/k.cu)" },
        { SOURCE(".loc 1 9 3\n.loc 2 40 5, function_name name, inlined_at 1 9 3\n.loc 2 0 0\nfoo;\n"),
          "/opt/sdk/group.h:40: unknown instruction 'foo': docs/reference/ptx-support.md lists the supported instructions "
          "(inlined at dir/k.cu:9; line 9 of its PTX)" },
        { SOURCE(".loc 1 9 3\n.loc 2 40 5, function_name a, inlined_at 1 9 3\n"
                 "{ // callseq {\n.loc 2 12 7, function_name b, inlined_at 2 40 5\nfoo;\n}\n"),
          "/opt/sdk/group.h:12: unknown instruction 'foo': docs/reference/ptx-support.md lists the supported instructions "
          "(inlined at dir/k.cu:9; line 10 of its PTX)" },
        /* A .loc before a function does not belong to the function. The line of the function's head is that of its first .loc. */
        { SOURCE(".loc 1 5 3\n") ".visible .entry k()\n{\n.loc 1 31 1\nret;\n}\n",
          "dir/k.cu:31: 'k' is defined twice: it has two bodies (line 11 of its PTX)" },
        { SOURCE(".loc 1 5 3\n") ".global .wrong x;\n", "dir/k.cu: " },
    };
    struct ptx_options options;

    (void)state;
    ptx_options_default(&options);
    options.from_source = true;
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct isa_object *object = NULL;
        struct lw_error err = { 0 };

        assert_int_not_equal(ptx_translate("dir/k.cu", cases[i].text, strlen(cases[i].text),
                                           &options, &object, &err), LW_OK);
        if (strncmp(err.text, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("case %zu: %s", i, err.text);
    }
#undef SOURCE
}

static void a_refused_kernel_leaves_the_others(void **state)
{
#define KERNELS(one, two, three)                                                             \
    HEAD ".entry a(.param .u64 out) {\n" REGS one "ret; }\n.entry b() {\n" REGS two             \
         "ret; }\n.entry c() {\n" REGS three "ret; }\n"
#define REGS ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.shared .u32 tile[4];\n"
#define GOOD "mov.u32 %r1, %tid.x; st.shared.u32 [tile], %r1;\n"
#define BAD "mov.u32 %r1, %tid.x; stacksave.u64 %rd1;\n"
    static const struct {
        const char *text, *names;
        unsigned refused;
    } cases[] = {
        { KERNELS(GOOD, GOOD, GOOD), "abc", 0 }, { KERNELS(BAD, GOOD, GOOD), "bc", 1 },
        { KERNELS(GOOD, BAD, GOOD), "ac", 1 },   { KERNELS(GOOD, GOOD, BAD), "ab", 1 },
        { KERNELS(BAD, GOOD, BAD), "b", 2 },     { KERNELS(BAD, BAD, BAD), NULL, 0 },
        { KERNELS(GOOD, "what.u32 %r1;\n", GOOD), NULL, 0 }, /* this statement is not PTX */
        { KERNELS(GOOD, "mov.u32 %r1;\n", GOOD), NULL, 0 },
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct isa_object *object = NULL, *again = NULL;
        struct lw_error err = { LW_OK, "" };
        enum lw_status status = ptx_translate("t.ptx", cases[i].text, strlen(cases[i].text), NULL,
                                              &object, &err);
        uint8_t *bytes;
        size_t size;

        if (cases[i].names == NULL) {
            assert_int_not_equal(status, LW_OK);
            assert_null(object);
            continue;
        }
        if (status != LW_OK)
            fail_msg("case %u: %s", i, err.text);
        assert_int_equal(object->function_count, strlen(cases[i].names));
        for (unsigned k = 0; k < object->function_count; k++)
            assert_int_equal(object->functions[k].name[0], cases[i].names[k]);
        assert_int_equal(object->refusal_count, cases[i].refused);
        for (unsigned k = 0; k < object->refusal_count; k++) {
            assert_null(strchr(cases[i].names, object->refusals[k].name[0]));
            assert_non_null(strstr(object->refusals[k].message, "'stacksave' is not supported"));
        }
        /* The object with the other kernels must be valid. */
        assert_int_equal(isa_object_write(object, &bytes, &size, &err), LW_OK);
        if (isa_object_read("t.lwo", bytes, size, &again, &err) != LW_OK)
            fail_msg("case %u: %s", i, err.text);
        free(bytes);
        isa_object_destroy(again);
        isa_object_destroy(object);
    }
}

/* Incomplete rows of an initialiser must be filled with zeros, whatever follows them. */
static void rows_of_initialisers_lie_where_they_belong(void **state)
{
    static const char text[] = HEAD
        ".global .u32 a[3][2] = {{1}, {3, 4}};\n"
        ".global .v2 .u32 b[2] = {{5}, {6, 7}};\n"
        ".global .u16 c[][2] = {{1}, {2, 3}, {4}};\n"
        ".global .b32 d = 1.5;\n.global .f64 e = 0f3fc00000;\n"
        ".entry k() { ret; }";
    static const struct {
        const char *name;
        uint32_t words[6], count;
    } want[] = {
        { "a", { 1, 0, 3, 4, 0, 0 }, 6 }, { "b", { 5, 0, 6, 7 }, 4 },
        { "c", { 1, 0x30002, 4 }, 3 }, { "d", { 0x3fc00000 }, 1 }, { "e", { 0, 0x3ff80000 }, 2 },
    };
    struct isa_object *object = NULL;
    struct lw_error err = { LW_OK, "" };

    (void)state;
    if (ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    for (unsigned i = 0; i < LW_COUNT_OF(want); i++) {
        const struct isa_variable *v = NULL;

        for (unsigned k = 0; k < object->variable_count; k++)
            if (strcmp(object->variables[k].name, want[i].name) == 0)
                v = &object->variables[k];
        assert_non_null(v);
        assert_int_equal(v->size_bytes, 4 * want[i].count);
        assert_memory_equal(v->init, want[i].words, v->size_bytes);
    }
    isa_object_destroy(object);
}

static void every_truncation_is_answered_and_never_crashes(void **state)
{
    static const char *const names[] = { "features.ptx", "gemm_tiled_clang19.ptx",
                                         "spinlock_clang14.ptx" };

    (void)state;
    for (unsigned f = 0; f < LW_COUNT_OF(names); f++) {
        size_t size;
        char *text = file(names[f], &size);

        for (size_t n = 0; n < size; n++) {
            struct isa_object *object = NULL;
            struct lw_error err = { LW_OK, "" };
            /* The text ends at the end of the allocation, so that the sanitizer detects reads past its end. */
            char *exact = malloc(n + 1);

            assert_non_null(exact);
            memcpy(exact + 1, text, n);
            if (ptx_translate("cut.ptx", exact + 1, n, NULL, &object, &err) == LW_OK)
                isa_object_destroy(object);
            else
                assert_memory_equal(err.text, "cut.ptx:", 8);
            free(exact);
        }
        free(text);
    }
}

static void the_syntax_of_compilers_is_read(void **state)
{
    size_t size;
    char *text = file("features.ptx", &size);
    struct isa_object *object = translate(text, size);
    const struct isa_function *k = &object->functions[0];

    (void)state;
    assert_int_equal(object->function_count, 1);
    assert_string_equal(k->name, "features");
    assert_int_equal(k->max_threads, 256);
    assert_int_equal(k->required_block[0], 0);
    assert_int_equal(k->needs_warp, 32);
    assert_int_equal(k->shared_bytes, 68);
    assert_int_equal(k->local_bytes, 32);
    assert_int_equal(k->param_bytes, 48);
    assert_int_equal(k->param_count, 5);
    assert_int_equal(k->params[0].kind, ISA_PARAM_POINTER);
    assert_int_equal(k->params[0].space, ISA_SPACE_GLOBAL);
    assert_int_equal(k->params[1].space, ISA_SPACE_SHARED);
    assert_int_equal(k->params[1].offset, 8);
    assert_int_equal(k->params[2].kind, ISA_PARAM_VALUE);
    assert_int_equal(k->params[2].size_bytes, 16);
    assert_int_equal(k->params[3].offset, 32);
    assert_int_equal(k->params[4].offset, 40);
    assert_string_equal(object->files[1], "features.cl");
    assert_string_equal(object->files[2], "include/part.h");
    assert_int_equal(k->line, 11); /* the line of the first .loc of an instruction */
    isa_object_destroy(object);
    free(text);
}

static void parameters_are_integers_or_floats_where_their_types_say_so(void **state)
{
    static const char text[] =
        HEAD ".entry k(.param .u32 a, .param .s64 b, .param .f32 c, .param .f64 d, .param .b32 e,\n"
             ".param .f32 f[2], .param .align 16 .v4 .f32 g, .param .s8 h, .param .b64 i,\n"
             ".param .u64 .ptr .global .align 4 j) {\nret; }\n";
    static const uint8_t kinds[] = { ISA_PARAM_INTEGER, ISA_PARAM_INTEGER, ISA_PARAM_FLOAT,
                                     ISA_PARAM_FLOAT,   ISA_PARAM_VALUE,   ISA_PARAM_VALUE,
                                     ISA_PARAM_VALUE,   ISA_PARAM_INTEGER, ISA_PARAM_VALUE,
                                     ISA_PARAM_POINTER };
    struct isa_object *object = translate(text, strlen(text));

    (void)state;
    assert_int_equal(object->functions[0].param_count, LW_COUNT_OF(kinds));
    for (unsigned i = 0; i < LW_COUNT_OF(kinds); i++)
        assert_int_equal(object->functions[0].params[i].kind, kinds[i]);
    isa_object_destroy(object);
}

static const struct isa_variable *variable(const struct isa_object *object, const char *name)
{
    for (unsigned i = 0; i < object->variable_count; i++) {
        if (strcmp(object->variables[i].name, name) == 0)
            return &object->variables[i];
    }
    fail_msg("no variable %s", name);
    return NULL;
}

static void variables_keep_values_spaces_and_addresses(void **state)
{
    size_t size;
    char *text = file("features.ptx", &size);
    struct isa_object *object = translate(text, size);
    const struct isa_variable *v = variable(object, "table");
    static const uint8_t table[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 0xff, 8, 3, 0xff };
    unsigned into_where = 0;

    (void)state;
    assert_int_equal(v->size_bytes, 16);
    assert_int_equal(v->align, 16);
    assert_memory_equal(v->init, table, 16);
    v = variable(object, "halves");
    assert_int_equal(lw_get32(v->init), 0x3f000000);
    assert_int_equal(lw_get32(v->init + 4), 0x3e800000);
    assert_int_equal(variable(object, "coefficients")->space, ISA_SPACE_CONST);
    assert_int_equal(variable(object, "inside")->space, ISA_SPACE_SHARED);
    assert_int_equal(variable(object, "inside")->shared_offset, 0);
    for (unsigned i = 0; i < object->reloc_count; i++) {
        const struct isa_reloc *r = &object->relocs[i];

        if (r->insn != UINT32_MAX)
            continue;
        assert_ptr_equal(&object->variables[r->in], variable(object, "where"));
        assert_ptr_equal(&object->variables[r->to], variable(object, "counter"));
        assert_int_equal(r->addend, r->offset == 8 ? 4 : 0);
        into_where++;
    }
    assert_int_equal(into_where, 2);
    isa_object_destroy(object);
    free(text);
}

static void the_line_table_follows_loc_and_skips_line_zero(void **state)
{
    static const char text[] = HEAD
        ".entry k(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
        ".loc 1 5 0\n ld.param.u64 %rd1,[p];\n.loc 1 6 3\n ld.global.u32 %r1,[%rd1];\n"
        ".loc 1 0 3\n add.s32 %r2,%r1,%r1;\n.loc 1 7 9\n st.global.u32 [%rd1],%r2;\n ret;\n}\n"
        ".file 1 \"dir\" \"a.cl\"\n";
    struct isa_object *object = translate(text, strlen(text));

    (void)state;
    assert_int_equal(object->line_count, 3);
    assert_int_equal(object->lines[0].line, 5);
    assert_false(object->lines[0].prologue_end);
    assert_int_equal(object->lines[1].line, 6);
    assert_int_equal(object->lines[1].column, 3);
    assert_true(object->lines[1].prologue_end);
    assert_int_equal(object->lines[2].line, 7);
    assert_int_equal(object->lines[2].insn, object->lines[1].insn + 2);
    assert_string_equal(object->files[object->lines[1].file], "dir/a.cl");
    assert_int_equal(object->functions[0].line, 5);
    isa_object_destroy(object);
}

static void print(const struct isa_object *object, struct lw_buffer *out)
{
    lw_buffer_init(out);
    isa_disassemble(object, &out->sink);
}

static void literals_parameters_and_offsets_become_operands(void **state)
{
    static const char text[] = KERNEL(
        "ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[p]; ld.global.u32 %r2,[%rd1+-8];\n"
        "mad.lo.s32 %r3,%r2,%r1,7; sub.s32 %r4,5,%r3; setp.gt.s32 %p1,10,%r4;\n"
        "selp.b32 %r5,3,%r4,%p1; st.global.u32 [%rd1+16],%r5;");
    struct isa_object *object = translate(text, strlen(text));
    struct lw_buffer out;

    (void)state;
    print(object, &out);
    assert_non_null(strstr(out.text, "ld.global.b32 v0, [s0:1+vz-8]"));
    assert_non_null(strstr(out.text, "c[0][0x0]"));
    assert_non_null(strstr(out.text, "v_setp_s32.lt p0, v0, 10"));
    assert_non_null(strstr(out.text, "v_selp_b32 v0, v0, 3, !p0"));
    lw_buffer_fini(&out);
    isa_object_destroy(object);
}

static void an_atomic_with_an_unused_result_is_a_reduction(void **state)
{
    static const char text[] = KERNEL(
        "ld.param.u64 %rd1,[p]; atom.global.add.u32 %r1,[%rd1],1;\n"
        "atom.global.exch.b32 %r2,[%rd1],2; atom.global.min.u32 %r3,[%rd1],3;\n"
        "st.global.u32 [%rd1+4],%r3;");
    struct isa_object *object = translate(text, strlen(text));
    struct lw_buffer out;

    (void)state;
    print(object, &out);
    assert_non_null(strstr(out.text, "red.global.add.u32"));
    assert_non_null(strstr(out.text, "atom.global.exch.b32")); /* an exchange has no form without a result */
    assert_non_null(strstr(out.text, "atom.global.min.u32"));
    lw_buffer_fini(&out);
    isa_object_destroy(object);
}

static void modifiers_of_floats_are_preserved(void **state)
{
    static const char text[] = KERNEL(
        "ld.param.u64 %rd1,[p]; ld.global.f32 %f1,[%rd1];\n"
        "add.rz.ftz.sat.f32 %f2,%f1,%f1; neg.f32 %f3,%f1; fma.rm.f32 %f2,%f2,%f1,%f3;\n"
        "st.global.f32 [%rd1],%f2;");
    struct isa_object *object = translate(text, strlen(text));
    struct lw_buffer out;

    (void)state;
    print(object, &out);
    assert_non_null(strstr(out.text, "v_add_f32.rz.ftz.sat"));
    assert_non_null(strstr(out.text, "v_fma_f32.rm v"));
    assert_non_null(strstr(out.text, ", -v")); /* neg must become a source modifier */
    assert_null(strstr(out.text, "v_neg_f32"));
    lw_buffer_fini(&out);
    isa_object_destroy(object);
}

static void variables_of_one_name_in_two_kernels_both_exist(void **state)
{
    static const char text[] = HEAD
        ".entry a(.param .u64 p) { .shared .b32 s; .reg .b32 %r1; ld.shared.u32 %r1,[s];\n"
        "st.shared.u32 [s],%r1; ret; }\n"
        ".entry b(.param .u64 p) { .shared .b32 t; .shared .b32 s; st.shared.u32 [t],1;\n"
        "st.shared.u32 [s],1; ret; }\n";
    struct isa_object *object = translate(text, strlen(text));
    struct lw_error err;
    uint8_t *bytes;
    size_t size;

    (void)state;
    assert_int_equal(object->variable_count, 3);
    assert_int_equal(object->functions[0].shared_bytes, 4);
    assert_int_equal(object->functions[1].shared_bytes, 8);
    assert_int_equal(isa_object_write(object, &bytes, &size, &err), LW_OK);
    free(bytes);
    isa_object_destroy(object);
}

/* lanewise cc writes the pragma, because clang writes a low .version, and inline assembly may be newer. */
static void a_pragma_of_the_module_permits_newer_instructions(void **state)
{
    static const char rest[] = "\n.visible .entry k() {\n.reg .b32 %r<3>;\nbmsk.clamp.b32 %r1, %r2, 1;\nret; }\n";
    static const char *const heads[] = {
        ".version 6.3\n.target sm_75\n.address_size 64",
        ".version 6.3\n.target sm_75\n.address_size 64 .pragma \"nounroll\";",
        ".version 6.3\n.target sm_75\n.address_size 64 .pragma \"lanewise.newer\";",
    };
    struct isa_object *object;
    struct lw_error err;
    char text[400];

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(heads); i++) {
        object = NULL;
        snprintf(text, sizeof text, "%s%s", heads[i], rest);
        if (i == LW_COUNT_OF(heads) - 1) {
            assert_int_equal(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), LW_OK);
        } else {
            assert_int_equal(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), LW_EINPUT);
            assert_string_equal(err.text, "t.ptx:6: bmsk: the instruction needs .version 7.6 or later, but this module has 6.3");
        }
        isa_object_destroy(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pragma_of_the_module_permits_newer_instructions),
        cmocka_unit_test(refusals_name_line_construct_and_reason),
        cmocka_unit_test(messages_name_the_file_and_the_call_of_inlined_code),
        cmocka_unit_test(a_refused_kernel_leaves_the_others),
        cmocka_unit_test(rows_of_initialisers_lie_where_they_belong),
        cmocka_unit_test(every_truncation_is_answered_and_never_crashes),
        cmocka_unit_test(the_syntax_of_compilers_is_read),
        cmocka_unit_test(parameters_are_integers_or_floats_where_their_types_say_so),
        cmocka_unit_test(variables_keep_values_spaces_and_addresses),
        cmocka_unit_test(the_line_table_follows_loc_and_skips_line_zero),
        cmocka_unit_test(literals_parameters_and_offsets_become_operands),
        cmocka_unit_test(an_atomic_with_an_unused_result_is_a_reduction),
        cmocka_unit_test(modifiers_of_floats_are_preserved),
        cmocka_unit_test(variables_of_one_name_in_two_kernels_both_exist),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
