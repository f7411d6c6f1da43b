/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the allocations of the memory side. Memory is allocated only while the memory side is created. If any of these
 * allocations fails, the creation fails and leaks nothing (the sanitizer build detects leaks). The program is linked with
 * --wrap for malloc and calloc. */
#include <stdlib.h>

#include "tests/timing/tim_memory_fixture.h"

static unsigned long until_failure; /* the number of allocations until one fails, including it, or 0 if none fails */
static unsigned long allocations;

void *__real_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);

static bool fails(void)
{
    allocations++;
    return until_failure != 0 && --until_failure == 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

static void each_allocation_may_fail(void **state)
{
    static const rig_create_fn creates[] = {tim_memory_reference_create, tim_memory_fast_create};
    struct tim_config c = rig_config();

    (void)state;
    c.l2_slices = 2;
    for (size_t i = 0; i < LW_COUNT_OF(creates); i++) {
        unsigned long n = 1;

        for (;; n++) {
            struct tim_memory *m;

            until_failure = n;
            m = creates[i](&c);
            if (until_failure != 0) { /* fewer than n allocations were made, so none failed */
                until_failure = 0;
                assert_non_null(m);
                m->ops->destroy(m);
                break;
            }
            assert_null(m);
        }
        assert_true(n > 20);
    }
}

static void nothing_is_allocated_for_a_request(void **state)
{
    static const rig_create_fn creates[] = {tim_memory_reference_create, tim_memory_fast_create};

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(creates); i++) {
        struct tim_config c = rig_config();
        struct rig r;
        unsigned long before;

        rig_open(&r, creates[i], &c);
        before = allocations;
        for (uint32_t k = 0; k < 2000; k++) {
            struct tim_packet p = rig_packet(k % 3 == 0 ? TIM_PACKET_WRITE : TIM_PACKET_READ, 0,
                                             k * 128 % 200000, 0, 64, k);

            rig_step(&r, r.memory->ops->can_send(r.memory, 0) ? &p : NULL);
        }
        rig_drain(&r);
        assert_int_equal(allocations, before);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(nothing_is_allocated_for_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
