/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that native code can take over a grid at any time: a translator makes the machine wait for the code for a number of requests.
 * Results, counts and states must equal those of the interpreter, on one host thread and on several. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "native/native.h"
#include "tests/lib/prop_setup.h"

enum { BLOCKS = 300, THREADS = 96, OUT_BYTES = BLOCKS * THREADS * 4 };

/* The lanes of a warp leave the first inner loop one by one, and the second one together. */
static const char text[] = ".kernel k\n.param ptr.global out\n"
                           "    s_s2r s0, %ctaid.x\n    s_s2r s1, %ntid.x\n    s_mul_u32 s0, s0, s1\n    v_s2r v0, %tid.x\n"
                           "    v_add_u32 v0, v0, s0\n    v_mov_b32 v1, v0\n    v_mov_b32 v4, 0\n"
                           "again:\n    v_rem_u32 v3, v0, 7\n    bssy b0, done\n"
                           "loop:\n    v_setp_u32.eq p0, v3, 0\n    @p0 bra done, b0\n    v_mad_u32 v1, v1, 5, v0\n"
                           "    v_sub_u32 v3, v3, 1\n    bra loop\n"
                           "done:\n    bsync b0\n    v_mov_b32 v6, 0\n"
                           "turn:\n    v_mad_u32 v1, v1, 3, v6\n    v_add_u32 v6, v6, 1\n    v_setp_u32.lt p2, v6, 25\n    @p2 bra turn\n"
                           "    v_add_u32 v4, v4, 1\n    v_setp_u32.lt p1, v4, 30\n    @p1 bra again\n"
                           "    v_shl_b32 v5, v0, 2\n    s_mov_b64 s2:3, c[out]\n    st.global.b32 [s2:3+v5], v1\n    exit\n.end\n";

/** A translator that passes requests to another one, after the first @refuse requests. */
struct late {
    struct emu_native native; /* first member */
    struct emu_native *inner;
    unsigned refuse, requests;
};

static const struct emu_native_kernel *late_kernel(struct emu_native *native, const struct emu_native_request *request, bool *later)
{
    struct late *late = (struct late *)native;

    if (__atomic_fetch_add(&late->requests, 1, __ATOMIC_RELAXED) < late->refuse) {
        *later = true;
        return NULL;
    }
    return late->inner->kernel(late->inner, request, later);
}

struct result {
    struct setup_counts counts;
    uint64_t native;
    uint8_t out[OUT_BYTES];
};

static void run(struct emu_native *native, unsigned threads, struct result *result)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_stop stop;
    struct lw_error err;
    uint64_t out;

    emu_config_default(&config);
    config.arena_bytes = 1 << 24;
    assert_int_equal(emu_machine_create(&config, &machine, &err), LW_OK);
    if (isa_assemble("k.s", text, strlen(text), &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_int_equal(emu_program_load(machine, object, &program, &err), LW_OK);
    assert_int_equal(emu_alloc(machine, OUT_BYTES, "out", 0, &out, &err), LW_OK);
    assert_int_equal(emu_engine_functional_create(machine, &engine, &err), LW_OK);
    engine->threads = threads;
    emu_machine_set_native(machine, native);
    for (unsigned i = 0; i < 2; i++) {
        struct emu_launch launch = {.program = program, .kernel = &object->functions[0], .grid = {BLOCKS, 1, 1},
                                    .block = {THREADS, 1, 1}, .work_dim = 1, .params = &out};
        assert_int_equal(emu_grid_launch(machine, &launch, NULL, &err), LW_OK);
        assert_int_equal(engine->ops->run(engine, &stop, &err), LW_OK);
        assert_int_equal(stop.kind, EMU_STOP_IDLE);
    }
    memset(result, 0, sizeof *result);
    result->counts = setup_counts_get(machine);
    result->counts.stats.threads = 0;
    result->native = emu_machine_native_instructions(machine);
    assert_int_equal(emu_global_read(machine, out, result->out, OUT_BYTES, &err), LW_OK);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
}

static void native_code_takes_over_after_any_number_of_requests(void **state)
{
    static const unsigned refused[] = {0, 1, 3, 8, 21, 55, 144, 233, 1000000};
    static struct result want, have;
    uint64_t least = UINT64_MAX, most = 0;
    struct lw_error err;
    char why[200];

    (void)state;
    run(NULL, 1, &want);
    for (unsigned threads = 1; threads <= 2; threads++) {
        for (size_t i = 0; i < LW_COUNT_OF(refused); i++) {
            struct late late = {.native = {.kernel = late_kernel, .masked_after = 64}, .refuse = refused[i]};
            if (nat_create(NAT_NATIVE, &late.inner, &err) != LW_OK) {
                print_message("%s\n", err.text);
                skip();
            }
            run(&late.native, threads, &have);
            nat_destroy(late.inner);
            if (!setup_counts_agree(&have.counts, &want.counts, why, sizeof why))
                fail_msg("%u threads, %u requests without code: %s", threads, refused[i], why);
            if (memcmp(have.out, want.out, sizeof want.out) != 0)
                fail_msg("%u threads, %u requests without code: the results differ", threads, refused[i]);
            if (refused[i] == 1000000 ? have.native != 0 : i == 0 && have.native < want.counts.stats.warp_instructions / 4)
                fail_msg("%u threads, %u requests without code: native code executed %" PRIu64 " of %" PRIu64 " instructions", threads,
                         refused[i], have.native, want.counts.stats.warp_instructions);
            if (threads == 1 && have.native != 0) {
                least = have.native < least ? have.native : least;
                most = have.native > most ? have.native : most;
            }
        }
    }
    assert_true(least < most * 3 / 4); /* some runs began native code in the middle of a grid */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_code_takes_over_after_any_number_of_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
