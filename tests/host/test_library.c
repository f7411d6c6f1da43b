/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the functions of lanewise.h: their results, each call that is refused with its message, and two machines at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "host/lanewise.h"

/* The kernel computes out[i] = i + add, for i below n. */
static const char ramp[] =
    ".kernel ramp\n"
    ".param out, 8, ptr global\n"
    ".param n, 4\n"
    ".param add, 4\n"
    "    v_s2r v0, %gtid.x\n";

static const char ptx[] =
    ".version 7.2\n.target sm_70\n.address_size 64\n.file 1 \"two.cl\"\n"
    ".global .align 4 .u32 counter = 5;\n"
    ".visible .entry ramp(.param .u64 out, .param .u32 n, .param .u32 add)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .b32 %r<8>;\n"
    "    .reg .b64 %rd<4>;\n"
    "    mov.u32 %r0, %ctaid.x;\n"
    "    mov.u32 %r1, %ntid.x;\n"
    "    mov.u32 %r2, %tid.x;\n"
    "    mad.lo.u32 %r3, %r0, %r1, %r2;\n"
    "    ld.param.u32 %r4, [n];\n"
    "    setp.ge.u32 %p, %r3, %r4;\n"
    "    @%p ret;\n"
    "    ld.param.u32 %r5, [add];\n"
    "    add.u32 %r6, %r3, %r5;\n"
    "    ld.param.u64 %rd0, [out];\n"
    "    mul.wide.u32 %rd1, %r3, 4;\n"
    "    add.u64 %rd2, %rd0, %rd1;\n"
    "    .loc 1 9 5\n" /* one() is inlined in put(), which is called in line 9 */
    "    .loc 1 5 3, function_name $put, inlined_at 1 9 5\n"
    "    .loc 1 2 1, function_name $one, inlined_at 1 5 3\n"
    "    st.global.u32 [%rd2], %r6;\n"
    "    .loc 1 10 1\n"
    "    ret;\n"
    "}\n"
    ".visible .entry spin(.param .u64 flag)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .b32 %r<2>;\n"
    "    .reg .b64 %rd<2>;\n"
    "    ld.param.u64 %rd0, [flag];\n"
    "again:\n"
    "    ld.volatile.global.u32 %r0, [%rd0];\n"
    "    setp.eq.u32 %p, %r0, 0;\n"
    "    @%p bra again;\n"
    "    ret;\n"
    "}\n"
    ".section .debug_str {\n"
    "$put:\n.b8 112,117,116,0\n"
    "$one:\n.b8 111,110,101,0\n"
    "}\n";

struct fixture {
    lanewise_machine *gpu;
    lanewise_module *module;
    lanewise_kernel *ramp, *spin;
};

static struct fixture make(const char *key, const char *value)
{
    struct fixture f = {.gpu = lanewise_create()};

    assert_non_null(f.gpu);
    assert_string_equal(lanewise_error(f.gpu), "");
    if (key != NULL)
        assert_int_equal(lanewise_set(f.gpu, key, value), LANEWISE_OK);
    assert_int_equal(lanewise_load_text(f.gpu, "two.ptx", ptx, strlen(ptx), NULL, &f.module),
                     LANEWISE_OK);
    f.ramp = lanewise_kernel_find(f.module, "ramp");
    f.spin = lanewise_kernel_find(f.module, "spin");
    assert_non_null(f.ramp);
    assert_non_null(f.spin);
    return f;
}

static int launch(struct fixture *f, uint64_t out, uint32_t n, uint32_t add)
{
    const uint32_t grid[3] = {4, 1, 1}, block[3] = {64, 1, 1};
    const void *arguments[] = {&out, &n, &add};

    return lanewise_launch(f->gpu, f->ramp, grid, block, 0, arguments);
}

static void said(lanewise_machine *gpu, int result, const char *words)
{
    assert_int_equal(result, LANEWISE_ERROR);
    if (strstr(lanewise_error(gpu), words) == NULL)
        fail_msg("expected \"%s\" in \"%s\"", words, lanewise_error(gpu));
}

/** A managed variable is one in the object file, too. */
static void managed_variables_remain_managed_in_object_files(void **state)
{
    static const char source[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .global .attribute(.managed) .align 4 .u32 both[2] = {8, 9};\n"
                                 ".visible .global .align 4 .u32 plain = 7;\n.visible .entry k() { ret; }\n";
    lanewise_machine *gpu = lanewise_create();
    lanewise_module *module, *again;
    void *object;
    size_t size;
    uint64_t address, bytes;
    uint32_t values[2];

    (void)state;
    assert_int_equal(lanewise_load_text(gpu, "m.ptx", source, strlen(source), NULL, &module), LANEWISE_OK);
    assert_int_equal(lanewise_module_object(module, &object, &size), LANEWISE_OK);
    assert_int_equal(lanewise_load_text(gpu, "m.lwo", object, size, NULL, &again), LANEWISE_OK);
    lanewise_object_free(object);
    assert_int_equal(lanewise_variable_is_managed(module, "both"), 1);
    assert_int_equal(lanewise_variable_is_managed(again, "both"), 1);
    assert_int_equal(lanewise_variable_is_managed(again, "plain"), 0);
    assert_int_equal(lanewise_variable_is_managed(again, "none"), 0);
    assert_int_equal(lanewise_variable_is_managed(NULL, "both"), 0);
    assert_int_equal(lanewise_variable_is_managed(again, NULL), 0);
    assert_int_equal(lanewise_variable(again, "both", &address, &bytes), LANEWISE_OK);
    assert_int_equal(lanewise_read(gpu, address, values, sizeof values), LANEWISE_OK);
    assert_true(bytes == 8 && values[0] == 8 && values[1] == 9);
    lanewise_destroy(gpu);
}

static void run_on(const char *key, const char *value)
{
    struct fixture f = make(key, value);
    uint32_t got[200];
    uint64_t out, count;

    assert_int_equal(lanewise_alloc(f.gpu, sizeof got, NULL, &out), LANEWISE_OK);
    assert_int_equal(launch(&f, out, 200, 7), LANEWISE_OK);
    assert_int_equal(lanewise_read(f.gpu, out, got, sizeof got), LANEWISE_OK);
    assert_int_equal(got[199], 0); /* the launch has not run yet */
    assert_int_equal(lanewise_wait(f.gpu), LANEWISE_OK);
    assert_int_equal(lanewise_read(f.gpu, out, got, sizeof got), LANEWISE_OK);
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(got[i], i + 7);
    assert_int_equal(lanewise_statistic(f.gpu, "blocks", &count), LANEWISE_OK);
    assert_int_equal(count, 4);
    assert_int_equal(lanewise_statistic(f.gpu, "stores", &count), LANEWISE_OK);
    assert_true(count >= 4);
    lanewise_destroy(f.gpu);
}

static void runs(void **state)
{
    (void)state;
    run_on(NULL, NULL);
    run_on("warp", "8");
    run_on("threads", "2");
    run_on("reconv", "stack");
    run_on("tags", "compact");
    run_on("timing", "fermi");
}

/* If tags.detect of a GPU model is on, tags cannot be set to off. */
static void times_tagged_registers(void **state)
{
    static const char *const tags[] = {"off", "shadow", "compact"};

    (void)state;
    for (unsigned i = 0; i < sizeof tags / sizeof *tags; i++) {
        lanewise_machine *gpu = lanewise_create();
        uint64_t out;

        assert_non_null(gpu);
        assert_int_equal(lanewise_set(gpu, "timing", "fermi"), LANEWISE_OK);
        assert_int_equal(lanewise_set(gpu, "timing-set", "tags.detect=exact"), LANEWISE_OK);
        assert_int_equal(lanewise_set(gpu, "tags", tags[i]), LANEWISE_OK);
        if (i == 0)
            said(gpu, lanewise_alloc(gpu, 4, NULL, &out), "fermi needs tags: set tags.detect=off by");
        else
            assert_int_equal(lanewise_alloc(gpu, 4, NULL, &out), LANEWISE_OK);
        lanewise_destroy(gpu);
    }
}

static void refuses(void **state)
{
    static const char five_errors[] = "__kernel void k(void) {\na;\nb;\nc;\nd;\ne; }\n";
    struct fixture f = make(NULL, NULL);
    const uint32_t one[3] = {1, 1, 1}, none[3] = {1, 0, 1}, wide[3] = {2000, 1, 1};
    uint64_t out, count, zero = 0;
    const void *arguments[] = {&zero, NULL, &zero};
    lanewise_module *module;
    lanewise_machine *other;
    char *text;

    (void)state;
    said(f.gpu, lanewise_set(f.gpu, "warp", "8"), "in use");
    other = lanewise_create();
    said(other, lanewise_set(other, "wrap", "8"), "did you mean \"warp\"");
    said(other, lanewise_set(other, "warp", "7"), "4, 8, 16, 32 or 64");
    said(other, lanewise_set(other, "reconv", "stak"), "did you mean \"stack\"");
    said(other, lanewise_set(other, "policy", "?"), "the names are converge, rr_quantum");
    said(other, lanewise_set(other, "threads", "0"), "from 1 to");
    assert_int_equal(lanewise_set(other, "timing-set", "l1.bytes=1"), LANEWISE_OK);
    said(other, lanewise_alloc(other, 4, NULL, &out), "set \"timing\"");
    said(other, lanewise_set(other, "timing", "fermy"), "did you mean \"fermi\"");
    assert_int_equal(lanewise_set(other, "timing", "fermi"), LANEWISE_OK);
    said(other, lanewise_alloc(other, 4, NULL, &out), "l1.bytes is 1, ");
    said(other, lanewise_launch(other, f.ramp, one, one, 0, arguments), "another machine");
    lanewise_destroy(other);

    said(f.gpu, lanewise_load(f.gpu, "no/such/file.ptx", NULL, &module), "no/such/file.ptx");
    assert_null(module);
    said(f.gpu, lanewise_load_text(f.gpu, "bad.ptx", "what", 4, NULL, &module), "bad.ptx:1");
    said(f.gpu, lanewise_load_text(f.gpu, "bad.txt", "what", 4, NULL, &module), ".cl, .cu");
    said(f.gpu, lanewise_load_text(f.gpu, "bad.s", ramp, strlen(ramp), NULL, &module), "bad.s:");
    said(f.gpu, lanewise_load_text(f.gpu, "five.cl", five_errors, strlen(five_errors), NULL, &module),
         "five.cl:2:1: error: ");
    said(f.gpu, LANEWISE_ERROR, "(and 2 more)\n");
    /* the message names the program, not the temporary file that the compiler gets */
    assert_int_equal(strncmp(lanewise_error(f.gpu), "five.cl: ", 9), 0);
    assert_null(strstr(lanewise_error(f.gpu), "/text.cl"));
    said(f.gpu, LANEWISE_ERROR, "five.cl:6:1: error: "); /* the message contains all lines that the compiler printed */
    assert_null(lanewise_kernel_find(f.module, "rump"));
    said(f.gpu, LANEWISE_ERROR, "did you mean \"ramp\"");
    assert_null(lanewise_kernel_at(f.module, 2));
    said(f.gpu, lanewise_variable(f.module, "none", &out, &count), "no variable \"none\"");

    said(f.gpu, lanewise_launch(f.gpu, f.ramp, one, none, 0, arguments), "ramp: parameter 2");
    arguments[1] = &zero;
    said(f.gpu, lanewise_launch(f.gpu, f.ramp, one, none, 0, arguments), "size is 0");
    said(f.gpu, lanewise_launch(f.gpu, f.ramp, one, wide, 0, arguments), "2000");
    said(f.gpu, lanewise_free(f.gpu, 4), "0x4");
    said(f.gpu, lanewise_read(f.gpu, 4, &zero, 4), "0x4");
    said(f.gpu, lanewise_statistic(f.gpu, "lods", &count), "\"loads\"");
    said(f.gpu, lanewise_statistic(f.gpu, "cycles", &count), "there is no timing model");
    said(f.gpu, lanewise_report(f.gpu, "timing", &text), "there is no timing model");
    said(f.gpu, lanewise_report(f.gpu, "tuming", &text), "unknown report");
    lanewise_destroy(f.gpu);
    lanewise_destroy(NULL);
}

/* NULL for a required argument is refused. If the machine is not NULL, its error message names the argument. */
static void misses(void **state)
{
    struct fixture f = make("check", "memory");
    const uint32_t one[3] = {1, 1, 1};
    lanewise_module *module;
    lanewise_finding finding;
    lanewise_call call;
    uint64_t number;
    char *text;

    (void)state;
    said(f.gpu, lanewise_set(f.gpu, NULL, "8"), "the key must not be NULL");
    said(f.gpu, lanewise_set(f.gpu, "warp", NULL), "the value must not be NULL");
    said(f.gpu, lanewise_load(f.gpu, NULL, NULL, &module), "the path");
    said(f.gpu, lanewise_load(f.gpu, "k.cl", NULL, NULL), "the module");
    said(f.gpu, lanewise_load_text(f.gpu, NULL, "x", 1, NULL, &module), "the name");
    said(f.gpu, lanewise_load_text(f.gpu, "k.s", NULL, 1, NULL, &module), "the text");
    said(f.gpu, lanewise_load_text(f.gpu, "k.s", "x", 1, NULL, NULL), "the module");
    assert_null(lanewise_kernel_at(NULL, 0));
    assert_null(lanewise_kernel_find(NULL, "ramp"));
    assert_null(lanewise_kernel_find(f.module, NULL));
    said(f.gpu, LANEWISE_ERROR, "lanewise_kernel_find: the name must not be NULL");
    assert_string_equal(lanewise_kernel_name(NULL), "");
    assert_int_equal(lanewise_kernel_param_count(NULL), 0);
    assert_int_equal(lanewise_kernel_param_bytes(NULL, 0), 0);
    said(f.gpu, lanewise_variable(f.module, NULL, &number, &number), "the name");
    said(f.gpu, lanewise_variable(f.module, "counter", NULL, &number), "the address");
    said(f.gpu, lanewise_variable(f.module, "counter", &number, NULL), "the bytes");
    assert_int_equal(lanewise_variable(NULL, "counter", &number, &number), LANEWISE_ERROR);
    said(f.gpu, lanewise_alloc(f.gpu, 4, NULL, NULL), "the address");
    said(f.gpu, lanewise_write(f.gpu, 4, NULL, 4), "the data");
    said(f.gpu, lanewise_read(f.gpu, 4, NULL, 4), "the data");
    said(f.gpu, lanewise_launch(f.gpu, NULL, one, one, 0, NULL), "the kernel");
    said(f.gpu, lanewise_launch(f.gpu, f.ramp, NULL, one, 0, NULL), "the grid");
    said(f.gpu, lanewise_launch(f.gpu, f.ramp, one, NULL, 0, NULL), "the block");
    said(f.gpu, lanewise_finding_get(f.gpu, 0, NULL, 0), "the finding");
    said(f.gpu, lanewise_finding_call(f.gpu, 0, 0, 0, NULL, 0), "the call");
    said(f.gpu, lanewise_statistic(f.gpu, NULL, &number), "the name");
    said(f.gpu, lanewise_statistic(f.gpu, "loads", NULL), "the value");
    said(f.gpu, lanewise_report(f.gpu, NULL, &text), "the kind");
    said(f.gpu, lanewise_report(f.gpu, "statistics", NULL), "the text");
    lanewise_destroy(f.gpu);

    assert_int_equal(lanewise_set(NULL, "warp", "8"), LANEWISE_ERROR);
    assert_int_equal(lanewise_load(NULL, "k.cl", NULL, &module), LANEWISE_ERROR);
    assert_int_equal(lanewise_load_text(NULL, "k.s", "x", 1, NULL, &module), LANEWISE_ERROR);
    assert_int_equal(lanewise_alloc(NULL, 4, NULL, &number), LANEWISE_ERROR);
    assert_int_equal(lanewise_free(NULL, 4), LANEWISE_ERROR);
    assert_int_equal(lanewise_write(NULL, 4, &number, 4), LANEWISE_ERROR);
    assert_int_equal(lanewise_read(NULL, 4, &number, 4), LANEWISE_ERROR);
    assert_int_equal(lanewise_launch(NULL, NULL, one, one, 0, NULL), LANEWISE_ERROR);
    assert_int_equal(lanewise_wait(NULL), LANEWISE_ERROR);
    assert_int_equal(lanewise_finish(NULL), LANEWISE_ERROR);
    assert_int_equal(lanewise_finding_count(NULL), 0);
    assert_int_equal(lanewise_finding_get(NULL, 0, &finding, sizeof finding), LANEWISE_ERROR);
    assert_int_equal(lanewise_finding_call(NULL, 0, 0, 0, &call, sizeof call), LANEWISE_ERROR);
    assert_int_equal(lanewise_statistic(NULL, "loads", &number), LANEWISE_ERROR);
    assert_int_equal(lanewise_report(NULL, "findings", &text), LANEWISE_ERROR);
    assert_int_equal(lanewise_hash(NULL), 0);
    assert_non_null(strstr(lanewise_error(NULL), "the machine must not be NULL"));
    lanewise_print(NULL, NULL, NULL);
    lanewise_interrupt(NULL);
    lanewise_report_free(NULL);
}

/* A fault or a hang stops the machine, but not the process. Memory can still be read. */
static void faults(void **state)
{
    struct fixture f = make(NULL, NULL), g = make(NULL, NULL);
    const uint32_t one[3] = {1, 1, 1};
    const void *arguments[1];
    uint32_t got = 0;
    uint64_t out;

    (void)state;
    assert_int_equal(lanewise_alloc(f.gpu, 400, "little", &out), LANEWISE_OK);
    assert_int_equal(launch(&f, out, 200, 7), LANEWISE_OK);
    assert_int_equal(lanewise_wait(f.gpu), LANEWISE_FAULT);
    assert_non_null(strstr(lanewise_error(f.gpu), "little"));
    assert_int_equal(lanewise_read(f.gpu, out + 4, &got, 4), LANEWISE_OK);
    assert_int_equal(got, 8);
    said(f.gpu, launch(&f, out, 1, 0), "stopped");
    said(f.gpu, lanewise_wait(f.gpu), "stopped");

    assert_int_equal(lanewise_alloc(g.gpu, 4, "flag", &out), LANEWISE_OK);
    arguments[0] = &out;
    assert_int_equal(lanewise_launch(g.gpu, g.spin, one, one, 0, arguments), LANEWISE_OK);
    lanewise_interrupt(g.gpu);
    assert_int_equal(lanewise_wait(g.gpu), LANEWISE_INTERRUPTED);
    assert_int_equal(lanewise_write(g.gpu, out, &(uint32_t){1}, 4), LANEWISE_OK);
    assert_int_equal(lanewise_wait(g.gpu), LANEWISE_OK);
    lanewise_destroy(f.gpu);
    lanewise_destroy(g.gpu);
}

/* lanewise.h lists the faults of the emulator, with the same numbers. */
enum emu_fault_kind {
    EMU_FAULT_NONE,
#define FAULT(id, name, message) EMU_FAULT_##id,
#include "emu/faults.def"
};
#define FAULT(id, name, message) _Static_assert((int)LANEWISE_FAULT_##id == (int)EMU_FAULT_##id, name);
#include "emu/faults.def"

/** After a fault or a hang, lanewise_recover() makes the machine usable again. Counts and memory are preserved. */
static void recovers(void **state)
{
    static const char *const engines[][2] = {{NULL, NULL}, {"timing", "fermi"}, {"check", "all,-performance"}, {"threads", "2"}};
    (void)state;

    for (unsigned i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct fixture f = make(engines[i][0], engines[i][1]);
        const uint32_t one[3] = {1, 1, 1};
        uint64_t out, before, after;
        uint32_t got[4];

        assert_int_equal(lanewise_set(f.gpu, "hang-limit", "20000"), LANEWISE_ERROR); /* settings are fixed after the first use */
        assert_int_equal(lanewise_recover(f.gpu), LANEWISE_OK); /* no effect: the machine has no fault or hang */
        assert_int_equal(lanewise_alloc(f.gpu, sizeof got, NULL, &out), LANEWISE_OK);
        for (unsigned round = 1; round < 4; round++) {
            assert_int_equal(launch(&f, out, 4, round), LANEWISE_OK);
            assert_int_equal(lanewise_wait(f.gpu), LANEWISE_OK);
            assert_int_equal(lanewise_statistic(f.gpu, "thread_instructions", &before), LANEWISE_OK);
            /* When the first launch fails, the second one is dropped, too. */
            assert_int_equal(launch(&f, i == 2 ? 0 : out, i == 2 ? 4 : 200, 9), LANEWISE_OK);
            assert_int_equal(launch(&f, out, 4, 100), LANEWISE_OK);
            if (i != 2) {
                assert_int_equal(lanewise_fault_kind(f.gpu), LANEWISE_FAULT_NONE);
                assert_int_equal(lanewise_wait(f.gpu), LANEWISE_FAULT);
                assert_int_equal(lanewise_fault_kind(f.gpu), LANEWISE_FAULT_OUT_OF_BOUNDS);
                said(f.gpu, launch(&f, out, 4, 1), "cannot launch");
            }
            assert_int_equal(lanewise_recover(f.gpu), LANEWISE_OK);
            assert_int_equal(lanewise_fault_kind(f.gpu), LANEWISE_FAULT_NONE);
            assert_int_equal(lanewise_wait(f.gpu), LANEWISE_OK);
            assert_int_equal(lanewise_read(f.gpu, out, got, sizeof got), LANEWISE_OK);
            assert_true(got[3] == 3 + round || got[3] == 3 + 9); /* lanes in bounds may have stored before the fault */
            assert_int_equal(lanewise_statistic(f.gpu, "thread_instructions", &after), LANEWISE_OK);
            if (after < before)
                fail_msg("%s: %llu thread instructions after %llu", engines[i][0], (unsigned long long)after, (unsigned long long)before);
        }
        if (i == 0) { /* also a hang that is reported because no lane can ever continue */
            assert_int_equal(lanewise_heap_limit(f.gpu, 16 << 20), LANEWISE_OK);
            assert_int_equal(lanewise_stack_limit(f.gpu, 64 << 10), LANEWISE_OK);
            said(f.gpu, lanewise_stack_limit(f.gpu, 5 << 20), "the limit is 4194304");
            assert_int_equal(lanewise_pending_limit(f.gpu, 4096), LANEWISE_OK);
            said(f.gpu, lanewise_pending_limit(f.gpu, 0), "0 pending launches: the number must be from 1 to 1048576");
            assert_int_equal(lanewise_fill(f.gpu, out, "\0", 1, sizeof got), LANEWISE_OK);
            assert_int_equal(lanewise_launch(f.gpu, f.spin, one, one, 0, (const void *[]){&out}), LANEWISE_OK);
            assert_int_equal(lanewise_wait(f.gpu), LANEWISE_HANG);
            assert_int_equal(lanewise_fault_kind(f.gpu), LANEWISE_FAULT_NONE);
            assert_int_equal(lanewise_recover(f.gpu), LANEWISE_OK);
            assert_int_equal(launch(&f, out, 4, 50), LANEWISE_OK);
            assert_int_equal(lanewise_wait(f.gpu), LANEWISE_OK);
            assert_int_equal(lanewise_read(f.gpu, out, got, sizeof got), LANEWISE_OK);
            assert_int_equal(got[2], 52);
        }
        (void)lanewise_finish(f.gpu);
        lanewise_destroy(f.gpu);
    }
}

/** Memory is mapped to reserved addresses and unmapped. Kernels and copies use adjacent memory as one range. An access to other
 *  reserved addresses is a fault. */
static void maps(void **state)
{
    static const char *const engines[] = {"interpreter", "native"};
    enum { PAGE = 4096, RESERVED = 4 << 20 };

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct fixture f = make("engine", engines[i]);
        int32_t got[200];
        uint64_t at, other, begin, bytes;

        said(f.gpu, lanewise_reserve(f.gpu, 100, &at), "not a multiple of 2097152 bytes");
        assert_int_equal(lanewise_reserve(f.gpu, RESERVED, &at), LANEWISE_OK);
        assert_int_equal(at % (2 << 20), 0);
        assert_int_equal(lanewise_alloc(f.gpu, PAGE, NULL, &other), LANEWISE_OK);
        assert_true(other >= at + RESERVED || other + PAGE <= at);
        said(f.gpu, lanewise_free(f.gpu, at), "no memory is mapped");
        said(f.gpu, lanewise_write(f.gpu, at, "x", 1), "no memory is mapped to the reserved address");
        said(f.gpu, lanewise_map(f.gpu, at + RESERVED - PAGE, 2 * PAGE, NULL, 0), "are not reserved addresses");
        said(f.gpu, lanewise_map(f.gpu, at + 4, PAGE, NULL, 0), "are not reserved addresses");
        assert_int_equal(lanewise_map(f.gpu, at + 2 * PAGE, PAGE, "second", 0), LANEWISE_OK);
        assert_int_equal(lanewise_map(f.gpu, at + PAGE, PAGE, "first", 0), LANEWISE_OK);
        said(f.gpu, lanewise_map(f.gpu, at, 2 * PAGE, NULL, 0), "are not reserved addresses");
        assert_int_equal(lanewise_allocation(f.gpu, at + 2 * PAGE + 8, &begin, &bytes), LANEWISE_OK);
        assert_true(begin == at + 2 * PAGE && bytes == PAGE);
        assert_int_equal(lanewise_allocation(f.gpu, at, &begin, &bytes), LANEWISE_ERROR);
        assert_int_equal(launch(&f, at + 2 * PAGE - 400, 200, 7), LANEWISE_OK);
        assert_int_equal(lanewise_wait(f.gpu), LANEWISE_OK);
        assert_int_equal(lanewise_read(f.gpu, at + 2 * PAGE - 400, got, sizeof got), LANEWISE_OK);
        for (int32_t k = 0; k < 200; k++)
            assert_int_equal(got[k], k + 7);
        said(f.gpu, lanewise_read(f.gpu, at + 3 * PAGE - 4, got, sizeof got), "runs past the end");
        assert_int_equal(lanewise_fill(f.gpu, at + 2 * PAGE - 8, "\1", 1, 16), LANEWISE_OK);
        said(f.gpu, lanewise_unreserve(f.gpu, at), "memory is mapped to the reservation");
        assert_int_equal(lanewise_free(f.gpu, at + PAGE), LANEWISE_OK);
        assert_int_equal(lanewise_map(f.gpu, at + PAGE, 100, "part", 0), LANEWISE_OK); /* zeroed, and exact to the byte */
        assert_int_equal(lanewise_read(f.gpu, at + PAGE, got, 100), LANEWISE_OK);
        assert_int_equal(got[1], 0);
        assert_int_equal(launch(&f, at + PAGE, 25, 3), LANEWISE_OK);
        assert_int_equal(lanewise_wait(f.gpu), LANEWISE_OK);
        assert_int_equal(launch(&f, at + PAGE, 26, 3), LANEWISE_OK);
        assert_int_equal(lanewise_wait(f.gpu), LANEWISE_FAULT);
        assert_int_equal(lanewise_recover(f.gpu), LANEWISE_OK);
        assert_int_equal(launch(&f, at + 3 * PAGE, 4, 3), LANEWISE_OK);
        assert_int_equal(lanewise_wait(f.gpu), LANEWISE_FAULT);
        assert_int_equal(lanewise_fault_kind(f.gpu), LANEWISE_FAULT_OUT_OF_BOUNDS);
        assert_int_equal(lanewise_recover(f.gpu), LANEWISE_OK);
        assert_int_equal(lanewise_free(f.gpu, at + 2 * PAGE), LANEWISE_OK);
        assert_int_equal(lanewise_map(f.gpu, at + 2 * PAGE, PAGE, NULL, 1), LANEWISE_OK); /* read-only */
        assert_int_equal(launch(&f, at + 2 * PAGE, 4, 3), LANEWISE_OK);
        assert_int_equal(lanewise_wait(f.gpu), LANEWISE_FAULT);
        assert_int_equal(lanewise_recover(f.gpu), LANEWISE_OK);
        assert_int_equal(lanewise_free(f.gpu, at + 2 * PAGE), LANEWISE_OK);
        assert_int_equal(lanewise_free(f.gpu, at + PAGE), LANEWISE_OK);
        assert_int_equal(lanewise_unreserve(f.gpu, at), LANEWISE_OK);
        said(f.gpu, lanewise_unreserve(f.gpu, at), "no reservation");
        (void)lanewise_finish(f.gpu);
        lanewise_destroy(f.gpu);
    }
}

/** The memory of ended launches is freed, and each launch has its own arguments. */
static void launches_many(void **state)
{
    struct fixture f = make(NULL, NULL);
    struct rusage begin, end;
    uint64_t out;
    uint32_t got;
    (void)state;

    assert_int_equal(lanewise_alloc(f.gpu, sizeof got, NULL, &out), LANEWISE_OK);
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(launch(&f, out, 1, i), LANEWISE_OK);
        if (i % 3 == 0)
            assert_int_equal(launch(&f, out, 1, i + 7), LANEWISE_OK);
        assert_int_equal(lanewise_wait(f.gpu), LANEWISE_OK);
        if (i % 100 == 0) {
            assert_int_equal(lanewise_read(f.gpu, out, &got, sizeof got), LANEWISE_OK);
            assert_int_equal(got, i % 3 == 0 ? i + 7 : i);
        }
        if (i == 1000)
            getrusage(RUSAGE_SELF, &begin);
    }
    getrusage(RUSAGE_SELF, &end);
#ifndef __SANITIZE_ADDRESS__ /* the address sanitizer delays the reuse of freed memory */
    assert_true(end.ru_maxrss - begin.ru_maxrss < 64 * 1024); /* in KiB; about 25,000 launches had 64 KiB of parameters each */
#endif
    lanewise_destroy(f.gpu);
}

/** Links several PTX texts into one module, and tests inputs that are refused. */
static void links(void **state)
{
    static const char caller[] = ".version 6.3\n.target sm_70\n.address_size 64\n"
                                 ".extern .func (.param .b32 r) seven();\n"
                                 ".visible .entry put(.param .u64 out)\n{\n    .reg .b32 %r;\n    .reg .b64 %rd;\n    .param .b32 v;\n"
                                 "    call (v), seven;\n    ld.param.b32 %r, [v];\n    ld.param.u64 %rd, [out];\n"
                                 "    st.global.u32 [%rd], %r;\n    ret;\n}\n";
    static const char callee[] = ".version 6.3\n.target sm_70\n.address_size 64\n"
                                 ".visible .func (.param .b32 r) seven()\n{\n    .reg .b32 %r;\n    mov.u32 %r, 7;\n"
                                 "    st.param.b32 [r], %r;\n    ret;\n}\n";
    const lanewise_text texts[] = {{"caller.ptx", caller, strlen(caller)}, {"callee.ptx", callee, strlen(callee)}};
    const uint32_t one[3] = {1, 1, 1};
    lanewise_machine *gpu = lanewise_create();
    const lanewise_gdb_options options = {.address = "0"};
    lanewise_module *module;
    uint64_t out;
    uint32_t got = 0;
    (void)state;

    said(gpu, lanewise_link(gpu, texts, 1, &module), "seven");
    assert_null(module);
    said(gpu, lanewise_link(gpu, texts, 0, &module), "must not be NULL");
    assert_int_equal(lanewise_link(gpu, texts, 2, &module), LANEWISE_OK);
    assert_int_equal(lanewise_alloc(gpu, sizeof got, NULL, &out), LANEWISE_OK);
    assert_int_equal(lanewise_launch(gpu, lanewise_kernel_find(module, "put"), one, one, 0, (const void *[]){&out}), LANEWISE_OK);
    assert_int_equal(lanewise_wait(gpu), LANEWISE_OK);
    assert_int_equal(lanewise_read(gpu, out, &got, sizeof got), LANEWISE_OK);
    assert_int_equal(got, 7);
    said(gpu, lanewise_gdb(gpu, &options, sizeof options), "already in use");
    said(gpu, lanewise_gdb(gpu, NULL, 0), "must not be NULL");
    lanewise_destroy(gpu);
    gpu = lanewise_create(); /* this machine gets a debugger, but no launch */
    assert_int_equal(lanewise_gdb(gpu, &options, sizeof options), LANEWISE_OK);
    said(gpu, lanewise_gdb(gpu, &options, sizeof options), "called before");
    said(gpu, lanewise_set(gpu, "debuggable", "perhaps"), "expected yes or no");
    assert_int_equal(lanewise_set(gpu, "record", "none/below"), LANEWISE_OK);
    said(gpu, lanewise_begin(gpu), "none/below");
    lanewise_destroy(gpu);
}

static void keep(void *context, const char *text, size_t size)
{
    strncat(context, text, size);
}

/* A program can read the text that kernels print, the names of kernels and parameters, reports, and the counts of the
 * timing model. */
static void tells(void **state)
{
    static const char hello[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
        ".global .align 1 .b8 text[4] = {104, 105, 10, 0};\n"
        ".visible .entry hello()\n{\n"
        "    .reg .b64 %rd<2>;\n    .reg .b32 %r<2>;\n"
        "    mov.u64 %rd0, text;\n    cvta.global.u64 %rd1, %rd0;\n"
        "    {\n    .param .b64 p0;\n    st.param.b64 [p0], %rd1;\n"
        "    .param .b64 p1;\n    st.param.b64 [p1], 0;\n    .param .b32 q;\n"
        "    call.uni (q), vprintf, (p0, p1);\n    ld.param.b32 %r0, [q];\n    }\n"
        "    ret;\n}\n";
    struct fixture f = make("timing", "volta"), g = make("timing", "volta");
    const uint32_t one[3] = {1, 1, 1};
    char text[100] = "", *report;
    uint64_t address, bytes, cycles[2] = {0};
    uint32_t value = 0;
    lanewise_module *module;

    (void)state;
    assert_string_equal(lanewise_kernel_name(lanewise_kernel_at(f.module, 0)), "ramp");
    assert_int_equal(lanewise_kernel_param_count(f.ramp), 3);
    assert_int_equal(lanewise_kernel_param_bytes(f.ramp, 0), 8);
    assert_int_equal(lanewise_kernel_param_bytes(f.ramp, 2), 4);
    assert_int_equal(lanewise_kernel_param_bytes(f.ramp, 3), 0);
    for (unsigned i = 0; i < 3; i++) {
        lanewise_param param;

        assert_int_equal(lanewise_kernel_param(f.ramp, i, &param, sizeof param), LANEWISE_OK);
        assert_int_equal(param.type == LANEWISE_TYPE_INTEGER || (i == 0 && param.type == LANEWISE_TYPE_POINTER), 1);
        memset(&param, 0, sizeof param);
        assert_int_equal(lanewise_kernel_param(f.ramp, i, &param, offsetof(lanewise_param, type)), LANEWISE_OK);
        assert_int_equal(param.type, LANEWISE_TYPE_UNKNOWN); /* not set: the given size is that of an older structure */
    }
    said(f.gpu, lanewise_kernel_param(f.ramp, 3, &(lanewise_param){.name = NULL}, sizeof(lanewise_param)), "the kernel has 3 parameters");
    assert_int_equal(lanewise_variable(f.module, "counter", &address, &bytes), LANEWISE_OK);
    assert_int_equal(bytes, 4);
    said(f.gpu, lanewise_fill(f.gpu, address, "ab", 2, 1), "a pattern of 2 bytes cannot fill 1 byte");
    said(f.gpu, lanewise_fill(f.gpu, address + 4, "a", 1, 1), "is not inside an allocation");
    said(f.gpu, lanewise_fill(f.gpu, address + 3, "a", 1, 2), "2 bytes do not fit into the 1 byte up to the end");
    assert_int_equal(lanewise_read(f.gpu, address, &value, 4), LANEWISE_OK);
    assert_int_equal(value, 5);

    lanewise_print(f.gpu, keep, text);
    assert_int_equal(lanewise_load_text(f.gpu, "hello.ptx", hello, strlen(hello), NULL, &module),
                     LANEWISE_OK);
    assert_int_equal(lanewise_launch(f.gpu, lanewise_kernel_find(module, "hello"), one, one, 0,
                                     NULL), LANEWISE_OK);
    assert_int_equal(lanewise_wait(f.gpu), LANEWISE_OK);
    assert_string_equal(text, "hi\n");

    for (unsigned i = 0; i < 2; i++) { /* Two machines give the same results. */
        struct fixture *h = i == 0 ? &f : &g;
        uint64_t out, before;

        assert_int_equal(lanewise_statistic(h->gpu, "cycles", &before), LANEWISE_OK);
        assert_int_equal(lanewise_alloc(h->gpu, 800, "out", &out), LANEWISE_OK);
        assert_int_equal(launch(h, out, 200, 1), LANEWISE_OK);
        assert_int_equal(lanewise_wait(h->gpu), LANEWISE_OK);
        assert_int_equal(lanewise_statistic(h->gpu, "cycles", &cycles[i]), LANEWISE_OK);
        assert_true(cycles[i] > before);
    }
    assert_int_equal(lanewise_report(g.gpu, "statistics", &report), LANEWISE_OK);
    assert_non_null(strstr(report, "\"thread_instructions\": "));
    assert_non_null(strstr(report, "\"timing\": {"));
    lanewise_report_free(report);
    assert_int_equal(lanewise_report(g.gpu, "timing", &report), LANEWISE_OK);
    assert_non_null(strstr(report, "cycles"));
    lanewise_report_free(report);
    assert_true(lanewise_hash(g.gpu) != 0);
    for (unsigned i = 0; lanewise_key(i) != NULL; i++)
        assert_true(i < 100);
    for (unsigned i = 0; lanewise_statistic_name(i) != NULL; i++)
        assert_int_equal(lanewise_statistic(g.gpu, lanewise_statistic_name(i), &bytes),
                         LANEWISE_OK);
    assert_string_not_equal(lanewise_version(), "");
    lanewise_destroy(f.gpu);
    lanewise_destroy(g.gpu);
}

/* The last lane stores one element past the end of the buffer. With the check this is a finding, and the lane continues. Each
 * location is reported once. */
static void finds(void **state)
{
    const uint32_t grid[3] = {1, 1, 1}, block[3] = {32, 1, 1};
    struct fixture f = make("check", "memory,uninitialised");
    lanewise_finding finding;
    lanewise_call call;
    uint64_t out, size = 31 * 4;
    uint32_t n = 32, add = 3, first;
    const void *arguments[] = {&out, &n, &add};
    struct { lanewise_finding now; uint64_t more; } later;
    static const char *const forms[][2] = {
        {"findings-json", "{"}, {"findings-junit", "<?xml"}, {"findings-sarif", "{\n  \"$schema\""}};
    char *text;

    (void)state;
    assert_int_equal(lanewise_alloc(f.gpu, size, "out", &out), LANEWISE_OK);
    assert_int_equal(lanewise_launch(f.gpu, f.ramp, grid, block, 0, arguments), LANEWISE_OK);
    assert_int_equal(lanewise_finding_count(f.gpu), 0);
    assert_int_equal(lanewise_wait(f.gpu), LANEWISE_FINDING);
    assert_non_null(strstr(lanewise_error(f.gpu), "out-of-bounds: global store of 4 bytes"));
    assert_int_equal(lanewise_finding_count(f.gpu), 1);
    assert_int_equal(lanewise_finding_get(f.gpu, 0, &finding, sizeof finding), LANEWISE_OK);
    assert_string_equal(finding.kind, "out-of-bounds");
    assert_string_equal(finding.location.kernel, "ramp");
    assert_string_equal(finding.allocation, "out");
    assert_string_equal(finding.other.kernel, "");
    assert_int_equal(finding.location.lanes, UINT64_C(1) << 31);
    assert_int_equal(finding.address, out + size);
    assert_int_equal(finding.count, 1);
    assert_int_equal(finding.location.line, 2);
    assert_int_equal(finding.call_count, 2);
    assert_int_equal(finding.other_call_count, 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(lanewise_finding_call(f.gpu, 0, 0, i, &call, sizeof call), LANEWISE_OK);
        assert_string_equal(call.function, i == 0 ? "one" : "put");
        assert_int_equal(call.line, i == 0 ? 5 : 9);
        assert_non_null(strstr(call.file, "two.cl"));
    }
    said(f.gpu, lanewise_finding_call(f.gpu, 0, 0, 2, &call, sizeof call), "there are 2");
    said(f.gpu, lanewise_finding_call(f.gpu, 0, 1, 0, &call, sizeof call), "there are 0");
    said(f.gpu, lanewise_finding_call(f.gpu, 1, 0, 0, &call, sizeof call), "there is 1 finding");
    memset(&later, 0xff, sizeof later);
    assert_int_equal(lanewise_finding_get(f.gpu, 0, &later.now, sizeof later), LANEWISE_OK);
    assert_int_equal(later.more, 0);
    assert_int_equal(later.now.address, out + size);
    said(f.gpu, lanewise_finding_get(f.gpu, 1, &finding, sizeof finding), "there is 1 finding");

    /* a second launch has no new finding, and its results can be read */
    assert_int_equal(lanewise_launch(f.gpu, f.ramp, grid, block, 0, arguments), LANEWISE_OK);
    assert_int_equal(lanewise_wait(f.gpu), LANEWISE_OK);
    assert_int_equal(lanewise_read(f.gpu, out, &first, sizeof first), LANEWISE_OK);
    assert_int_equal(first, 3);
    assert_int_equal(lanewise_finding_get(f.gpu, 0, &finding, sizeof finding), LANEWISE_OK);
    assert_int_equal(finding.count, 2);
    assert_int_equal(lanewise_report(f.gpu, "findings", &text), LANEWISE_OK);
    assert_non_null(strstr(text, "2 times\nlanewise.h: 1 finding\n"));
    lanewise_report_free(text);
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        assert_int_equal(lanewise_report(f.gpu, forms[i][0], &text), LANEWISE_OK);
        assert_memory_equal(text, forms[i][1], strlen(forms[i][1]));
        assert_non_null(strstr(text, "out-of-bounds"));
        lanewise_report_free(text);
    }

    /* reports name files in the current folder relative to it */
    char *here = realpath(".", NULL), whole[4200];
    assert_non_null(here);
    snprintf(whole, sizeof whole, "%s/", here);
    free(here);
    assert_int_equal(lanewise_report(f.gpu, "findings-json", &text), LANEWISE_OK);
    assert_non_null(strstr(text, "two.cl\""));
    assert_null(strstr(text, whole));
    assert_non_null(strstr(text, "\"run\": \"lanewise.h\""));
    lanewise_report_free(text);

    /* uninitialised memory is found when the host reads it */
    assert_int_equal(lanewise_alloc(f.gpu, 8, "never", &out), LANEWISE_OK);
    assert_int_equal(lanewise_read(f.gpu, out, &first, sizeof first), LANEWISE_OK);
    assert_int_equal(lanewise_finding_count(f.gpu), 2);
    assert_int_equal(lanewise_wait(f.gpu), LANEWISE_FINDING);
    assert_non_null(strstr(lanewise_error(f.gpu), "uninitialised-output"));
    assert_int_equal(lanewise_finish(f.gpu), LANEWISE_FINDING);
    said(f.gpu, lanewise_launch(f.gpu, f.ramp, grid, block, 0, arguments), "has finished");
    lanewise_destroy(f.gpu);

    lanewise_machine *m = lanewise_create();
    said(m, lanewise_set(m, "check-suppress", "none.yaml"), "check-suppress: none.yaml: ");
    said(m, lanewise_set(m, "check-base", "none"), "check-base: none: the folder does not exist");
    said(m, lanewise_set(m, "check-run", ""), "expected the name");
    assert_int_equal(lanewise_set(m, "check-base", ""), LANEWISE_OK);
    assert_int_equal(lanewise_set(m, "check-run", "first test"), LANEWISE_OK);
    said(m, lanewise_report(m, "findings-junit", &text), "no checks are enabled: set \"check\"");
    assert_int_equal(lanewise_set(m, "check", "races"), LANEWISE_OK);
    said(m, lanewise_report(m, "findings-junit", &text), "load a program or allocate memory first");
    assert_int_equal(lanewise_alloc(m, 4, "one", &out), LANEWISE_OK);
    assert_int_equal(lanewise_report(m, "findings-junit", &text), LANEWISE_OK);
    assert_non_null(strstr(text, "<testsuite name=\"first test\""));
    lanewise_report_free(text);
    lanewise_destroy(m);

    f = make(NULL, NULL);
    said(f.gpu, lanewise_finding_get(f.gpu, 0, &finding, sizeof finding), "no checks are enabled");
    assert_int_equal(lanewise_finish(f.gpu), LANEWISE_OK);
    lanewise_destroy(f.gpu);
}

/* If only the race check is enabled, lanewise_wait() processes the access log before it returns. */
static void finds_races(void **state)
{
    static const char clash[] = ".kernel clash\n.param ptr.global out\n"
                                "v_mov_b64 v2:3, c[out]\nv_s2r v0, %ctaid.x\n"
                                "st.global.b32 [v2:3], v0\nexit\n.end\n";
    const uint32_t grid[3] = {2, 1, 1}, block[3] = {32, 1, 1};
    struct fixture f = make("check", "races");
    lanewise_finding finding;
    lanewise_module *module;
    uint64_t out;
    const void *arguments[] = {&out};

    (void)state;
    assert_int_equal(lanewise_load_text(f.gpu, "clash.s", clash, strlen(clash), NULL, &module),
                     LANEWISE_OK);
    assert_int_equal(lanewise_alloc(f.gpu, 128, "out", &out), LANEWISE_OK);
    assert_int_equal(lanewise_launch(f.gpu, lanewise_kernel_find(module, "clash"), grid, block, 0,
                                     arguments), LANEWISE_OK);
    assert_int_equal(lanewise_wait(f.gpu), LANEWISE_FINDING);
    assert_non_null(strstr(lanewise_error(f.gpu), "clash.s:5: race: "));
    assert_int_equal(lanewise_finding_count(f.gpu), 1);
    assert_int_equal(lanewise_finding_get(f.gpu, 0, &finding, sizeof finding), LANEWISE_OK);
    assert_string_equal(finding.kind, "race");
    assert_string_equal(finding.other.kernel, "clash");
    assert_int_equal(lanewise_wait(f.gpu), LANEWISE_OK); /* there is no new finding */
    assert_int_equal(lanewise_finish(f.gpu), LANEWISE_FINDING);
    lanewise_destroy(f.gpu);
}

static void write_list(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Several suppression lists apply together. lanewise_set() fails for a list that does not exist. */
static void knows(void **state)
{
    static const char wild[] = ".kernel wild\nv_mov_b32 v2, 0\nv_mov_b32 v3, 0\nst.global.b32 [v2:3], vz\nexit\n.end\n";
    const uint32_t one[3] = {1, 1, 1};
    lanewise_machine *gpu = lanewise_create();
    lanewise_module *module;

    (void)state;
    write_list("library_known_1.yaml", "- {kind: null-access, kernel: wild}\n");
    write_list("library_known_2.yaml", "- {kind: misaligned}\n");
    assert_int_equal(lanewise_set(gpu, "check", "memory"), LANEWISE_OK);
    said(gpu, lanewise_set(gpu, "check-suppress", "library_known_3.yaml"), "check-suppress: ");
    assert_int_equal(lanewise_set(gpu, "check-suppress", "library_known_1.yaml"), LANEWISE_OK);
    assert_int_equal(lanewise_set(gpu, "check-suppress", "library_known_2.yaml"), LANEWISE_OK);
    assert_int_equal(remove("library_known_1.yaml"), 0);
    assert_int_equal(remove("library_known_2.yaml"), 0);
    assert_int_equal(lanewise_load_text(gpu, "wild.s", wild, strlen(wild), NULL, &module), LANEWISE_OK);
    assert_int_equal(lanewise_launch(gpu, lanewise_kernel_find(module, "wild"), one, one, 0, NULL), LANEWISE_OK);
    assert_int_equal(lanewise_wait(gpu), LANEWISE_OK);
    assert_int_equal(lanewise_finding_count(gpu), 0);
    lanewise_destroy(gpu);
}

/* Run ramp<<<1, 32>>> with @n elements, on a machine that is already configured. */
static int run_ramp(struct fixture *f, uint32_t n, uint64_t *out)
{
    const uint32_t one[3] = {1, 1, 1}, block[3] = {32, 1, 1}, add = 1;
    const void *arguments[3] = {out, &n, &add};

    assert_int_equal(lanewise_launch(f->gpu, f->ramp, one, block, 0, arguments), LANEWISE_OK);
    return lanewise_wait(f->gpu);
}

/* Coverage and profile are reports of the instructions executed so far. */
static void counts(void **state)
{
    struct fixture f = make("coverage", "yes");
    uint64_t out;
    char *text;

    (void)state;
    assert_int_equal(lanewise_alloc(f.gpu, 128, "out", &out), LANEWISE_OK);
    assert_int_equal(run_ramp(&f, 32, &out), LANEWISE_OK);
    assert_int_equal(lanewise_report(f.gpu, "coverage", &text), LANEWISE_OK);
    assert_non_null(strstr(text, "SF:"));
    assert_non_null(strstr(text, "DA:10,32"));
    assert_non_null(strstr(text, "FNDA:32,ramp"));
    lanewise_report_free(text);
    said(f.gpu, lanewise_report(f.gpu, "profile", &text), "profile: there are no counts: set \"profile\" to \"yes\"");
    said(f.gpu, lanewise_report(f.gpu, "findings", &text), "findings: no checks are enabled");
    assert_int_equal(lanewise_finish(f.gpu), LANEWISE_OK);
    lanewise_destroy(f.gpu);

    f.gpu = lanewise_create();
    said(f.gpu, lanewise_set(f.gpu, "profile", "perhaps"), "profile: unknown name \"perhaps\"");
    assert_int_equal(lanewise_set(f.gpu, "profile", "yes"), LANEWISE_OK);
    assert_int_equal(lanewise_set(f.gpu, "profile-by", "launch"), LANEWISE_OK);
    said(f.gpu, lanewise_report(f.gpu, "profile", &text), "profile: the machine was not used yet");
    assert_int_equal(lanewise_load_text(f.gpu, "two.ptx", ptx, strlen(ptx), NULL, &f.module), LANEWISE_OK);
    f.ramp = lanewise_kernel_find(f.module, "ramp");
    assert_int_equal(lanewise_alloc(f.gpu, 128, "out", &out), LANEWISE_OK);
    assert_int_equal(run_ramp(&f, 32, &out), LANEWISE_OK);
    assert_int_equal(run_ramp(&f, 16, &out), LANEWISE_OK);
    assert_int_equal(lanewise_report(f.gpu, "profile", &text), LANEWISE_OK);
    assert_non_null(strstr(text, "by launch: 2 launches"));
    assert_non_null(strstr(text, "Launch 2, kernel ramp, grid (1,1,1), block (32,1,1): "));
    lanewise_report_free(text);
    lanewise_destroy(f.gpu);

    f.gpu = lanewise_create();
    assert_int_equal(lanewise_set(f.gpu, "profile-by", "launch"), LANEWISE_OK);
    said(f.gpu, lanewise_alloc(f.gpu, 128, "out", &out), "profile-by has no effect without a profile");
    lanewise_destroy(f.gpu);
}

/* A machine stops at its limits, and its error message gives the pc of all lanes. */
static void limits(void **state)
{
    struct fixture f = {.gpu = lanewise_create()};
    uint64_t out, count;
    char *text;

    (void)state;
    said(f.gpu, lanewise_set(f.gpu, "max-instructions", "0"), "max-instructions: expected an integer of 1 or more");
    said(f.gpu, lanewise_set(f.gpu, "timeout", "-1"), "timeout: expected a time above 0");
    assert_int_equal(lanewise_set(f.gpu, "max-instructions", "8"), LANEWISE_OK);
    assert_int_equal(lanewise_set(f.gpu, "timeout", "1000"), LANEWISE_OK);
    assert_int_equal(lanewise_set(f.gpu, "coverage", "yes"), LANEWISE_OK);
    assert_int_equal(lanewise_load_text(f.gpu, "two.ptx", ptx, strlen(ptx), NULL, &f.module), LANEWISE_OK);
    f.ramp = lanewise_kernel_find(f.module, "ramp");
    assert_int_equal(lanewise_alloc(f.gpu, 128, "out", &out), LANEWISE_OK);
    assert_int_equal(run_ramp(&f, 32, &out), LANEWISE_HANG);
    assert_non_null(strstr(lanewise_error(f.gpu), "limit: 8 warp instructions were executed (max-instructions 8); in kernel ramp"));
    assert_non_null(strstr(lanewise_error(f.gpu), "warp 0 lanes 0-31 (at pc "));
    assert_int_equal(lanewise_statistic(f.gpu, "warp_instructions", &count), LANEWISE_OK);
    assert_int_equal(count, 8);
    said(f.gpu, lanewise_wait(f.gpu), "the machine has stopped at a fault, a hang or a limit");
    assert_int_equal(lanewise_report(f.gpu, "coverage", &text), LANEWISE_OK);
    assert_int_equal(strncmp(text, "TN:broken_off\n", 14), 0);
    lanewise_report_free(text);
    lanewise_destroy(f.gpu);

    f = make("timeout", "0.05"); /* spin waits for a value that is never written */
    const uint32_t one[3] = {1, 1, 1};
    assert_int_equal(lanewise_alloc(f.gpu, 128, "flag", &out), LANEWISE_OK);
    const void *argument = &out;
    assert_int_equal(lanewise_launch(f.gpu, f.spin, one, one, 0, &argument), LANEWISE_OK);
    assert_int_equal(lanewise_wait(f.gpu), LANEWISE_HANG);
    lanewise_destroy(f.gpu);
}

static void a_program_adds_findings_of_its_own_calls(void **state)
{
    lanewise_machine *gpu = lanewise_create();
    lanewise_host_finding own = {.kind = "api-leak", .message = "a file is not closed", .function = "main", .file = "own.c", .line = 3};
    lanewise_finding f;

    (void)state;
    assert_int_equal(lanewise_set(gpu, "check", "api,-api-unread-log"), LANEWISE_OK);
    assert_int_equal(lanewise_finding_wanted(gpu, "api-leak"), 1);
    assert_int_equal(lanewise_finding_wanted(gpu, "api-unread-log"), 0);
    assert_int_equal(lanewise_finding_wanted(gpu, "no-such-kind"), 0);
    assert_int_equal(lanewise_finding_wanted(NULL, "api-leak"), 0);
    assert_int_equal(lanewise_finding_add(gpu, &own, sizeof own), LANEWISE_FINDING);
    assert_int_equal(lanewise_wait(gpu), LANEWISE_OK); /* the finding has already been reported */
    own.count = 4;
    assert_int_equal(lanewise_finding_add(gpu, &own, sizeof own), LANEWISE_OK);
    own.line = 4;
    assert_int_equal(lanewise_finding_add(gpu, &own, offsetof(lanewise_host_finding, count)), LANEWISE_FINDING);
    own.kind = "api-unread-log";
    assert_int_equal(lanewise_finding_add(gpu, &own, sizeof own), LANEWISE_OK);
    assert_int_equal(lanewise_finding_count(gpu), 2);
    assert_int_equal(lanewise_finding_get(gpu, 0, &f, sizeof f), LANEWISE_OK);
    assert_string_equal(f.kind, "api-leak");
    assert_string_equal(f.message, "a file is not closed");
    assert_string_equal(f.location.file, "own.c");
    assert_string_equal(f.location.function, "main");
    assert_string_equal(f.location.kernel, "");
    assert_int_equal(f.location.line, 3);
    assert_int_equal(f.count, 5);
    own.kind = "race";
    said(gpu, lanewise_finding_add(gpu, &own, sizeof own), "is not a kind of finding of class api");
    own.kind = NULL;
    said(gpu, lanewise_finding_add(gpu, &own, sizeof own), "the kind must not be NULL");
    said(gpu, lanewise_finding_add(gpu, NULL, sizeof own), "the finding must not be NULL");
    assert_int_equal(lanewise_finish(gpu), LANEWISE_FINDING);
    own.kind = "api-leak";
    said(gpu, lanewise_finding_add(gpu, &own, sizeof own), "finished");
    lanewise_destroy(gpu);
    gpu = lanewise_create(); /* a machine without checks */
    assert_int_equal(lanewise_finding_wanted(gpu, "api-leak"), 0);
    assert_int_equal(lanewise_finding_add(gpu, &own, sizeof own), LANEWISE_OK);
    assert_int_equal(lanewise_finding_count(gpu), 0);
    lanewise_destroy(gpu);
}

/* Names of C++ functions, as in the source. */
static void names(void **state)
{
    static const char *const rows[][2] = {
        {"vadd", "vadd"}, {"_Z5saxpyifPfS_", "saxpy"}, {"_ZN2ns6reduceIfLi256EEEvPT_", "ns::reduce<float, 256>"},
        {"_ZN2ns3boxC2Ev", "ns::box::box"}, {"_ZN2ns3boxD1Ev", "ns::box::~box"}, {"_ZNK2ns3boxclEi", "ns::box::operator()"},
        {"_ZNSt6thread4joinEv", "std::thread::join"}, {"_ZN1aplERKS_", "_ZN1aplERKS_"}};
    char text[80];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lanewise_plain_name(rows[i][0], text, sizeof text);
        assert_string_equal(text, rows[i][1]);
    }
    lanewise_plain_name("abcdef", text, 4);
    assert_string_equal(text, "abc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_adds_findings_of_its_own_calls),
        cmocka_unit_test(finds_races),
        cmocka_unit_test(runs),
        cmocka_unit_test(times_tagged_registers),
        cmocka_unit_test(refuses),
        cmocka_unit_test(misses),
        cmocka_unit_test(faults),
        cmocka_unit_test(recovers),
        cmocka_unit_test(maps),
        cmocka_unit_test(launches_many),
        cmocka_unit_test(links),
        cmocka_unit_test(tells),
        cmocka_unit_test(finds),
        cmocka_unit_test(knows),
        cmocka_unit_test(counts),
        cmocka_unit_test(limits),
        cmocka_unit_test(names),
        cmocka_unit_test(managed_variables_remain_managed_in_object_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
