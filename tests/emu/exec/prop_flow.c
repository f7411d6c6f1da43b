/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs random programs with much control flow on the emulator: nested branches, loops with break, continue and early
 * return, calls, recursion with saved barrier registers, indirect calls, locks, flags, and CTA barriers and warpsync
 * in divergent flow. The generator places barriers, yields and soft barriers by the rules of the machine. The
 * reference is ref_block(), which runs each lane by itself in a random fair order.
 *
 * A program that ends on the reference must end under `cbar` with every policy, and leave the same memory. Under
 * `stack` the same holds if no lane waits for another one; otherwise the program may hang. After each step of an
 * observed run the invariants of splits must hold. The fast path and the watched path must give equal hashes.
 *
 * With LW_NATIVE (tests/native/prop_native.sh) the programs run in native code instead, and then in the interpreter:
 * counts and states must be equal.
 *
 * LW_SEED repeats a program. LW_RANDOM_COUNT sets the number of programs, and LW_RANDOM_DIVISOR divides it. At the end, or if
 * SIGINT or SIGTERM ends the test, the number of programs that have run is printed.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "native/native.h"
#include "tests/emu/exec/layers_check.h"
#include "tests/emu/exec/prop_flow_gen.h"
#include "tests/model/ref_lane.h"

static struct tally {
    unsigned ran, skipped, waits, hangs, soft, scalars, runs;
    unsigned compiled, cached; /* kernels whose native code was compiled, and came from the cache */
    uint64_t native;   /* instructions that native code executed */
} tally;

struct trial {
    struct gen *g;
    struct isa_object object;
    struct isa_function function[FUNCTIONS];
    size_t bytes;
    uint8_t *want, *got;
    struct setup_counts counts;
    struct emu_native *native; /* NULL: the program runs in the interpreter */
    struct emu_hang hang;
    enum emu_stop_kind stop;
    char why[700];
};

enum { NATIVE_CODE = 500 }; /* LLVM takes seconds for larger kernels */

/* Observer that checks the warp after each step. It checks the whole block after steps that may affect other warps, and
 * after some other steps. */
struct checker {
    struct emu_observer observer;
    unsigned steps;
    char *why;
    size_t why_size;
};
static bool check_step(struct emu_observer *observer, const struct emu_event *ev)
{
    struct checker *c = (struct checker *)(void *)observer;
    const struct emu_block *block = &ev->core->block[ev->slot];
    bool all = ev->cta.used || ev->warp_ended || ++c->steps % 16 == 0;
    char what[200];

    for (unsigned i = 0; i < block->warp_count; i++) {
        if ((!all && i != ev->warp) || emu_split_check(&block->warp[i], what, sizeof what))
            continue;
        snprintf(c->why, c->why_size, "after pc 0x%" PRIx64 ": %s", ev->pc, what);
        return true;
    }
    return false;
}

/** Return true if a run may hang because lanes wait for lanes that wait to reconverge with them. */
static bool may_hang(const struct setup *setup, const struct gen *g)
{
    return g->waits && emu_reconv_has_push_order(setup->reconv);
}

static void run(struct trial *t, const struct setup *setup)
{
    const struct gen *g = t->g;
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_program *program;
    struct emu_engine *engine;
    struct emu_stop stop;
    struct lw_error err = {0};
    struct checker checker = {.observer = {.on_event = check_step}, .why = t->why,
                              .why_size = sizeof t->why};
    uint64_t base;
    uint8_t params[8];

    t->why[0] = '\0';
    emu_config_default(&config);
    setup_apply(setup, &config);
    config.warp_width = g->width;
    config.arena_bytes = 1 << 24;
    config.resident_warps = 64;
    config.hang_window = may_hang(setup, g) ? 1 << 13 : 1 << 22;
    if (emu_machine_create(&config, &machine, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (emu_alloc(machine, t->bytes, "data", 0, &base, &err) != LW_OK ||
        emu_program_load(machine, &t->object, &program, &err) != LW_OK ||
        emu_engine_functional_create(machine, &engine, &err) != LW_OK)
        fail_msg("%s", err.text);
    lw_put64(params, base);
    struct emu_launch launch = {.program = program, .kernel = &t->function[g->functions - 1],
                                .grid = {1, 1, 1}, .block = {g->threads, 1, 1}, .work_dim = 1, .params = params};
    emu_machine_set_native(machine, t->native);
    if (emu_grid_launch(machine, &launch, NULL, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (setup->watched)
        emu_observer_add(engine, &checker.observer);
    t->stop = EMU_STOP_NONE;
    if (engine->ops->run(engine, &stop, &err) != LW_OK) {
        snprintf(t->why, sizeof t->why, "error: %s", err.text);
    } else if (t->why[0] == '\0') {
        t->stop = stop.kind;
        t->hang = stop.hang;
        if (stop.kind == EMU_STOP_FAULT)
            snprintf(t->why, sizeof t->why, "fault %s: %s, pc 0x%" PRIx64,
                     emu_fault_name(stop.fault.kind), stop.fault.detail, stop.fault.pc);
        else if (stop.kind != EMU_STOP_IDLE)
            snprintf(t->why, sizeof t->why, "stop %d: %.600s", stop.kind, stop.hang.detail);
        else if (emu_global_read(machine, base, t->got, t->bytes, &err) != LW_OK)
            snprintf(t->why, sizeof t->why, "%s", err.text);
        t->counts = setup_counts_get(machine);
        layers_check(machine->cores[0], t->why, sizeof t->why);
    }
    tally.native += emu_machine_native_instructions(machine);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
}

/** Run the lanes one by one on the reference, in an order that @seed determines. */
static enum ref_end reference(struct trial *t, uint64_t seed, uint8_t *memory)
{
    const struct gen *g = t->g;
    struct ref_lane *lane = calloc(g->threads, sizeof *lane);
    uint8_t *local = calloc(g->threads, LOCALS), bank0[264] = {0};
    uint32_t block[3] = {g->threads, 1, 1}, grid[3] = {1, 1, 1};
    const uint64_t base = ISA_GLOBAL_BASE;
    const char *why = "";
    enum ref_end end;

    assert_true(lane != NULL && local != NULL);
    lw_put64(bank0, base);
    memset(memory, 0, t->bytes);
    for (unsigned n = 0; n < g->threads; n++)
        lane[n] = (struct ref_lane){.bank0 = bank0, .tid = {n, 0, 0}, .lane = n % g->width,
                                    .width = g->width, .block = block, .grid = grid,
                                    .s = {[ISA_S_EXEC] = UINT32_MAX, [ISA_S_EXEC + 1] = UINT32_MAX},
                                    .local = local + (size_t)n * LOCALS,
                                    .local_bytes = LOCALS, .global = memory,
                                    .global_bytes = t->bytes,
                                    .global_base = base, .pc = g->first[0]};
    for (unsigned n = 0; n < g->threads; n++)
        lane[n].p[ISA_PT] = lane[n].sp[ISA_PT] = true;
    end = ref_block(lane, g->threads, g->code, g->count, seed, 4000ul * g->threads, &why);
    if (end == REF_FAULT)
        fail_msg("the reference stops: %s", why);
    free(lane);
    free(local);
    return end;
}

static void show(const struct gen *g)
{
    struct lw_file_sink sink;

    lw_file_sink_init(&sink, stdout);
    for (uint32_t i = 0; i < g->count; i++) {
        for (unsigned f = 0; f < g->functions; f++)
            if (g->first[f] == i)
                lw_printf(&sink.sink, "F%u:\n", f);
        lw_printf(&sink.sink, "%4u  ", i);
        isa_insn_print(&g->code[i], ISA_CODE_BASE + 16 * (uint64_t)i, NULL, NULL, &sink.sink);
        lw_printf(&sink.sink, "\n");
    }
}

static void expect(struct trial *t, const struct setup *setup, uint64_t seed)
{
    char how[400];

    run(t, setup);
    tally.runs++;
    if (may_hang(setup, t->g) && t->stop == EMU_STOP_HANG) {
        tally.hangs++;
        return;
    }
    if (t->why[0] == '\0' && memcmp(t->got, t->want, t->bytes) == 0)
        return;
    show(t->g);
    for (size_t i = 0; i < t->bytes && t->why[0] == '\0'; i += 4)
        if (lw_get32(t->got + i) != lw_get32(t->want + i))
            printf("word %zu: emulator %08x, reference %08x\n", i / 4, lw_get32(t->got + i),
                   lw_get32(t->want + i));
    setup_print(setup, how, sizeof how);
    fail_msg("LW_SEED=%" PRIu64 ": W %u, %u threads, %s: %s", seed, t->g->width, t->g->threads, how,
             t->why[0] != '\0' ? t->why : "results differ");
}

/** Run the program in native code and in the interpreter. Counts and states must be equal. */
static void native_and_interpreter(struct trial *t, uint64_t seed)
{
    const struct setup setup = setup_native(&t->g->r);
    struct lw_error err = {0};
    struct nat_stats stats;
    char how[400], why[200];

    if (nat_create(NAT_NATIVE, &t->native, &err) != LW_OK)
        fail_msg("%s", err.text);
    t->native->masked_after = 0;
    nat_set_cached(t->native, getenv("LW_NATIVE_CACHE") != NULL);
    if (seed & 1) /* compile as if the kernel were large */
        nat_set_most_leave_cost(t->native, 0);
    expect(t, &setup, seed);
    const struct setup_counts with = t->counts;
    nat_get_stats(t->native, &stats);
    tally.compiled += stats.kernels;
    tally.cached += stats.cached;
    nat_destroy(t->native);
    t->native = NULL;
    expect(t, &setup, seed);
    if (setup_counts_agree(&with, &t->counts, why, sizeof why))
        return;
    show(t->g);
    setup_print(&setup, how, sizeof how);
    fail_msg("LW_SEED=%" PRIu64 ": W %u, %u threads, native code, %s: %s", seed, t->g->width, t->g->threads, how, why);
}

static void one_program(uint64_t seed)
{
    const bool native = getenv("LW_NATIVE") != NULL;
    static const unsigned levels[] = {1, 3, 4};
    struct trial t = {.g = calloc(1, sizeof *t.g)};
    struct gen *g = t.g;
    struct lw_error err;
    uint8_t *again;
    bool fine;

    assert_non_null(g);
    g->r.state = seed;
    if (!flow_generate(g)) {
        tally.skipped++;
        free(g);
        return;
    }
    t.bytes = 4 * (OUT + 2 * (size_t)g->threads);
    t.want = malloc(t.bytes);
    t.got = malloc(t.bytes);
    again = malloc(t.bytes);
    assert_true(t.want != NULL && t.got != NULL && again != NULL);
    /* a program is usable if it ends on the reference and if its results do not depend on the order of lanes */
    fine = reference(&t, seed, t.want) == REF_ENDS;
    for (unsigned k = 1; k < 3 && fine && g->waits; k++)
        fine = reference(&t, seed + k, again) == REF_ENDS && memcmp(t.want, again, t.bytes) == 0;
    tally.skipped += !fine;
    tally.ran += fine;
    tally.waits += fine && g->waits;
    tally.soft += fine && g->soft;
    tally.scalars += fine && g->scalars;
    lw_arena_init(&t.object.arena);
    t.object.text = lw_arena_alloc(&t.object.arena, g->count * sizeof *t.object.text);
    t.object.text_count = g->count;
    for (uint32_t i = 0; i < g->count; i++)
        if (isa_insn_encode(&g->code[i], &t.object.text[i], &err) != LW_OK)
            fail_msg("LW_SEED=%" PRIu64 ": instruction %u: %s", seed, i, err.text);
    for (unsigned f = 0; f < g->functions; f++) {
        /* functions are sorted by address, so the kernel is the last one */
        t.function[g->functions - 1 - f] = (struct isa_function){
            .name = f == 0 ? "flow" : "callee", .first = g->first[f], .count = g->size[f],
            .kernel = f == 0, .param_bytes = f == 0 ? 8 : 0, .local_bytes = LOCALS};
    }
    t.object.functions = t.function;
    t.object.function_count = g->functions;
    if (native && fine && g->size[0] <= NATIVE_CODE)
        native_and_interpreter(&t, seed);
    for (unsigned k = 0; k < 4 && fine && !native; k++) {
        struct setup setup = setup_random(&g->r, levels[k % 3], false);
        if (strcmp(setup.reconv, "frontier") == 0) /* the engine runs the lowest pc first, so lanes that spin never let other
                                                    * lanes run */
            setup.reconv = "cbar";
        uint64_t fast;
        if (may_hang(&setup, g) && setup.window == 0) /* yield has no effect here, so only a fairness limit lets all splits run */
            setup.window = 64;
        /* on a SIMT stack, lanes that leave a region by another exit continue alone, so scalar instructions are not
         * permitted */
        if (g->scalars && g->irregular)
            setup.reconv = "cbar";
        if (!setup_have_level(setup.level))
            setup.level = 1;
        expect(&t, &setup, seed);
        fast = t.counts.hash_state;
        setup.watched = true;
        expect(&t, &setup, seed);
        if (t.counts.hash_state != fast && t.stop == EMU_STOP_IDLE)
            fail_msg("LW_SEED=%" PRIu64 ": runs with and without observers differ in hash_state", seed);
    }
    free(t.want);
    free(t.got);
    free(again);
    lw_arena_fini(&t.object.arena);
    free(g);
}

static void random_flow_ends_where_single_lanes_end(void **state)
{
    uint64_t seed = prop_seed();
    unsigned long count = prop_count(5000, seed);

    (void)state;
    for (unsigned long i = 0; i < count; i++) {
        one_program(seed + i);
        prop_campaign_ran(count);
    }
    printf("%u ran, %u runs, %u have no reference; %u wait, %u soft, %u scalar; %u runs hang with "
           "entries\n", tally.ran, tally.runs, tally.skipped, tally.waits, tally.soft, tally.scalars,
           tally.hangs);
    if (getenv("LW_NATIVE") != NULL) {
        printf("native code: %u kernels, %u from the cache, %" PRIu64 " warp instructions\n", tally.compiled + tally.cached,
               tally.cached, tally.native);
        assert_true(count < 10 || (tally.compiled + tally.cached != 0 && tally.native != 0));
    } else if (count >= 100) { /* the generated programs include enough of each case */
        assert_true(tally.ran * 2 > count);
        assert_true(tally.waits * 10 > tally.ran);
        assert_true(tally.hangs > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_flow_ends_where_single_lanes_end, prop_campaign_begin, prop_campaign_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
