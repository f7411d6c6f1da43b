/* SPDX-License-Identifier: Apache-2.0 */
/* Tests malloc and free in kernels: calls that are refused, and the machine's records of heap objects. */
#include "tests/emu/exec/emu_fixture.h"

#define OBJECT "malloc v4:5, 24\n"

static void expect_free_fault(const char *body, uint64_t lanes, const char *insn, const char *why)
{
    char text[1000];

    snprintf(text, sizeof text, "%s%sexit\n.end\n", FIX_HEAD, body);
    struct fix *f = fix_run(text, 32, 4);
    fix_expect_fault(f, EMU_FAULT_FREE, lanes, insn);
    if (strstr(f->stop.fault.detail, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", f->stop.fault.detail, why);
    fix_free(f);
}

static void free_takes_only_what_malloc_gave(void **state)
{
    (void)state;
    expect_free_fault("free v8:9\n", 15, "free v8:9", "malloc did not return this address");
    expect_free_fault("free 4096\n", 15, "free 4096", "malloc did not return this address");
    expect_free_fault(OBJECT "v_add_u64 v4:5, v4:5, 8\nfree v4:5\n", 15, "free v4:5",
                      "the address is not the start of the memory that malloc returned");
    expect_free_fault(OBJECT "v_add_u64 v4:5, v4:5, 24\nfree v4:5\n", 15, "free v4:5",
                      "malloc did not return this address");
    expect_free_fault(OBJECT "free v4:5\nv_setp_u32.eq p0, v0, 2\n@p0 free v4:5\n", 4,
                      "@p0 free v4:5", "was freed before");
    expect_free_fault(OBJECT "v_mov_b64 v6:7, v4:5\nshfl.idx v6, v4, 1, 31, vz\nshfl.idx v7, v5, 1, 31, vz\n"
                             "v_setp_u32.gt p0, v0, 1\n@p0 free v6:7\n", 8, "@p0 free v6:7",
                      "another lane frees the same address in this instruction");
}

/* If the free of one lane is refused, no lane of the instruction frees its object. */
static void a_refused_free_frees_nothing(void **state)
{
    struct emu_allocation a;
    unsigned live = 0;

    (void)state;
    struct fix *f = fix_run(FIX_HEAD OBJECT "v_setp_u32.eq p0, v0, 3\n@p0 v_mov_b32 v4, 1\n"
                                            "free v4:5\nexit\n.end\n", 32, 4);
    fix_expect_fault(f, EMU_FAULT_FREE, 8, "free v4:5");
    for (unsigned i = 0; i < emu_allocation_count(f->machine); i++)
        if (emu_allocation_get(f->machine, i, &a) && a.flags & EMU_ALLOC_HEAP)
            live += !(a.flags & EMU_ALLOC_FREED);
    assert_int_equal(live, 4);
    fix_free(f);
}

static void objects_are_exact_to_the_byte_and_die(void **state)
{
    (void)state;
    struct fix *f = fix_run(FIX_HEAD OBJECT "ld.global.b32 v6, [v4:5+24]\nexit\n.end\n", 32, 1);
    fix_expect_fault(f, EMU_FAULT_OUT_OF_BOUNDS, 1, "ld.global.b32 v6, [v4:5+24]");
    fix_free(f);
    f = fix_run(FIX_HEAD OBJECT "free v4:5\nld.global.b32 v6, [v4:5]\nexit\n.end\n", 32, 1);
    fix_expect_fault(f, EMU_FAULT_FREED, 1, "ld.global.b32 v6, [v4:5]");
    fix_free(f);
}

/* An object of 100 bytes takes 112 bytes, so nine objects fit into a heap of 1,024 bytes. */
static void the_heap_has_the_size_that_the_machine_has(void **state)
{
    (void)state;
    struct fix *f = fix_new(32);
    f->config.heap_bytes = 1024;
    fix_load(f, FIX_HEAD "malloc v4:5, 100\nv_setp_u64.ne p0, v4:5, 0\nv_mov_b32 v6, 0\n@p0 v_mov_b32 v6, 1\n"
                         FIX_STORE("v6") "exit\n.end\n", 20);
    fix_go(f);
    assert_int_equal(f->stop.kind, EMU_STOP_IDLE);
    for (unsigned t = 0; t < 20; t++)
        assert_int_equal(f->word[t], t < 9);
    fix_free(f);
}

/* A loop allocates and frees a hundred thousand objects, one after the other, in a heap that has space for one. */
static void a_kernel_may_make_any_number_of_objects(void **state)
{
    (void)state;
    struct fix *f = fix_new(32);
    f->config.heap_bytes = 16;
    f->config.arena_bytes = UINT64_C(4) << 30;
    fix_load(f, FIX_HEAD "v_mov_b32 v6, 0\n"
                         "again: malloc v4:5, 16\nst.global.b32 [v4:5], v6\n"
                         "ld.global.b32 v6, [v4:5]\nfree v4:5\nv_add_u32 v6, v6, 1\n"
                         "v_setp_u32.lt p0, v6, 100000\n@p0 bra again\n" FIX_STORE("v6")
                         "exit\n.end\n", 1);
    fix_go(f);
    assert_int_equal(f->stop.kind, EMU_STOP_IDLE);
    assert_int_equal(f->word[0], 100000);
    assert_true(emu_allocation_count(f->machine) < 5000);
    fix_free(f);
}

static void a_kernel_that_asks_for_memory_runs_in_the_fixed_order(void **state)
{
    (void)state;
    struct fix *f = fix_run(FIX_HEAD OBJECT "exit\n.end\n", 32, 1);
    assert_false(emu_kernel_block_order_free(f->program, &f->object->functions[0]));
    fix_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_takes_only_what_malloc_gave),
        cmocka_unit_test(a_refused_free_frees_nothing),
        cmocka_unit_test(objects_are_exact_to_the_byte_and_die),
        cmocka_unit_test(the_heap_has_the_size_that_the_machine_has),
        cmocka_unit_test(a_kernel_may_make_any_number_of_objects),
        cmocka_unit_test(a_kernel_that_asks_for_memory_runs_in_the_fixed_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
