/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs random kernels (prop_grids_gen.h) in grids of several blocks of several warps, in the interpreter and in native code. In these
 * kernels warps of a block leave native code in different ways: at exits of some or all lanes, barriers that some of the warps reach,
 * branches that divide a warp, calls, instructions that native code does not execute, and accesses that are not in the window or
 * invalid. The runs of a kernel have different split policies and numbers of host threads, masked code from the start or after many
 * requests, and kernels that are compiled as if they were large. In half of the runs a fault filter, like that of `--check=memory`,
 * skips invalid accesses. Some of these runs are interrupted, and continued, at every seventh skipped access.
 *
 * Memory, the final state, all counts, the kind of stop and the skipped accesses must be equal in both engines; state and counts only if
 * they do not depend on the order of warps. The test counts how often warps of a block leave in different ways, and fails if it is not
 * often enough.
 *
 * LW_SEED repeats a kernel. LW_RANDOM_COUNT sets the number of kernels, and LW_RANDOM_DIVISOR divides it. A kernel that fails is shown,
 * and once more without the instructions that the failure does not need.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "emu/emu_machine_priv.h"
#include "native/native.h"
#include "tests/lib/prop_setup.h"
#include "tests/native/prop_grids_gen.h"

enum {
    RUNS = 6,                  /* runs of each kernel */
    RUNS_OF_TRANSLATOR = 40,   /* kernels after which new translators are created, because a translator keeps all code */
    INTERRUPT_EVERY = 7,       /* skipped accesses */
    MOST_INSTRUCTIONS = 4000000, WHY = 600, READ_VALUE = 0xa5a5a5a5
};

/** How a kernel is run. */
struct how {
    struct setup setup;
    unsigned threads, masked_after, launches;
    bool large, filtered, interrupted; /* interrupted: a run with a filter is interrupted, and continued, several times */
};

/** A skipped access of one lane. */
struct skipped {
    uint64_t pc, block;
    uint32_t grid, warp, lane, kind;
};
struct filter {
    struct emu_fault_filter filter;
    pthread_mutex_t lock;
    struct emu_engine *interrupts; /* the engine that skip_access() interrupts, or NULL */
    struct skipped *skipped; /* owned */
    size_t count, capacity;
    uint64_t faults; /* number of calls of skip_access() */
};

struct outcome {
    enum emu_stop_kind kind;
    struct setup_counts counts;
    uint64_t hash_mem, native;
    struct emu_native_events events;
    uint8_t *out; /* owned */
    struct filter filter;
};

static struct emu_native *translators[2]; /* [large] */
static struct lw_buffer lines;            /* lines of the translators about kernels that LLVM did not compile */
static struct tally {
    uint64_t kernels, runs, native, instructions, faults, hangs, skipped, vary; /* vary: runs whose counts depend on the order of warps, and differ */
    struct emu_native_events events;
} tally;

static bool skip_access(struct emu_fault_filter *filter, const struct emu_fault *fault, uint32_t *read_value)
{
    struct filter *f = (struct filter *)(void *)filter;

    if (fault->bytes == 0)
        return false;
    pthread_mutex_lock(&f->lock);
    for (LW_EACH_BIT(lane, fault->lanes)) {
        if (f->count == f->capacity) {
            f->capacity = 2 * f->capacity + 64;
            f->skipped = realloc(f->skipped, f->capacity * sizeof *f->skipped);
            assert_non_null(f->skipped);
        }
        f->skipped[f->count++] = (struct skipped){fault->pc, fault->block, fault->grid, fault->warp, lane, fault->kind};
    }
    f->faults++;
    if (f->interrupts != NULL && f->faults % INTERRUPT_EVERY == 0) {
        if (f->faults % 2 || f->interrupts->threads != 1) /* a run on several threads cannot be halted */
            emu_engine_interrupt(f->interrupts);
        else
            emu_machine_halt(f->interrupts->machine, true);
    }
    pthread_mutex_unlock(&f->lock);
    *read_value = READ_VALUE;
    return true;
}

static int compare_skipped(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct skipped));
}

static uint64_t allocate(struct emu_machine *machine, const char *name, uint32_t bytes, unsigned flags, uint64_t seed)
{
    struct prop_random r = {.state = seed};
    uint8_t *data = malloc(bytes);
    struct lw_error err;
    uint64_t base;

    assert_non_null(data);
    for (uint32_t i = 0; i < bytes; i += 4)
        lw_put32(data + i, prop_below(&r, 2) ? (uint32_t)prop_next(&r) : prop_below(&r, 64));
    if (emu_alloc(machine, bytes, name, flags, &base, &err) != LW_OK || emu_global_write(machine, base, data, bytes, &err) != LW_OK)
        fail_msg("%s", err.text);
    free(data);
    return base;
}

/** Runs the kernel of @object, in native code if @native is not NULL. @quantum: length of the time slices of warps. Returns false if
 *  the kernel cannot be run. */
static bool run(const struct grids_program *p, const struct isa_object *object, const struct how *how, unsigned quantum,
                struct emu_native *native, struct outcome *out)
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct emu_stop stop = {.kind = EMU_STOP_NONE};
    struct lw_error err;
    uint8_t params[32];
    uint64_t base[4];

    memset(out, 0, sizeof *out);
    out->filter.filter.skip = skip_access;
    pthread_mutex_init(&out->filter.lock, NULL);
    emu_config_default(&config);
    setup_apply(&how->setup, &config);
    config.warp_width = p->width;
    config.warp_quantum = quantum;
    config.arena_bytes = 1 << 24;
    if (emu_machine_create(&config, &machine, &err) != LW_OK)
        fail_msg("%s", err.text);
    if (emu_program_load(machine, object, &program, &err) != LW_OK) {
        emu_machine_destroy(machine);
        return false;
    }
    base[0] = allocate(machine, "out", p->out_bytes, 0, 2);
    base[2] = allocate(machine, "other", 4 * OTHER_WORDS, EMU_ALLOC_READ_ONLY, 3);
    base[3] = allocate(machine, "more", p->more_bytes, 0, 4);
    base[1] = allocate(machine, "in", 4 * IN_WORDS, EMU_ALLOC_READ_ONLY, 1); /* the last one: kernels access memory after its end */
    for (unsigned i = 0; i < 4; i++)
        lw_put64(params + 8 * i, base[i]);
    assert_int_equal(emu_engine_functional_create(machine, &engine, &err), LW_OK);
    if (native != NULL) {
        native->masked_after = how->masked_after;
        engine->threads = how->threads;
        out->filter.interrupts = how->interrupted ? engine : NULL;
    } else {
        engine->stop_at = MOST_INSTRUCTIONS;
    }
    emu_machine_set_native(machine, native);
    if (how->filtered)
        emu_machine_filter_faults(machine, &out->filter.filter);
    const struct isa_function *kernel = &object->functions[0];
    const struct emu_launch launch = {.program = program, .kernel = kernel, .grid = {p->grid[0], p->grid[1], p->grid[2]},
                                      .block = {p->block[0], p->block[1], p->block[2]}, .work_dim = 3, .params = params};
    for (unsigned i = 0; i < how->launches; i++)
        if (emu_grid_launch(machine, &launch, NULL, &err) != LW_OK)
            fail_msg("%s", err.text);
    do
        if (engine->ops->run(engine, &stop, &err) != LW_OK)
            fail_msg("%s", err.text);
    while (stop.kind == EMU_STOP_INTERRUPTED || stop.kind == EMU_STOP_OBSERVER);
    out->kind = stop.kind;
    out->counts = setup_counts_get(machine);
    out->counts.stats.threads = 1;
    out->hash_mem = emu_hash_mem(machine);
    out->native = emu_machine_native_instructions(machine);
    for (unsigned i = 0; i < machine->core_count; i++) {
        const struct emu_native_events *e = &machine->cores[i]->native.events;
        out->events.slow += e->slow;
        out->events.ended += e->ended;
        out->events.uneven += e->uneven;
        out->events.successors += e->successors;
    }
    out->out = malloc(p->out_bytes);
    assert_non_null(out->out);
    assert_int_equal(emu_global_read(machine, base[0], out->out, p->out_bytes, &err), LW_OK);
    if (out->filter.count != 0)
        qsort(out->filter.skipped, out->filter.count, sizeof *out->filter.skipped, compare_skipped);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    return true;
}

static void outcome_fini(struct outcome *out)
{
    pthread_mutex_destroy(&out->filter.lock);
    free(out->filter.skipped);
    free(out->out);
}

static bool skipped_agree(const struct filter *have, const struct filter *want, char *why)
{
    for (size_t i = 0; i < have->count || i < want->count; i++) {
        const bool in_have = i < have->count, in_want = i < want->count;
        const int order = !in_have ? 1 : !in_want ? -1 : compare_skipped(&have->skipped[i], &want->skipped[i]);
        if (order == 0)
            continue;
        const struct skipped *s = order < 0 ? &have->skipped[i] : &want->skipped[i];
        snprintf(why, WHY, "%zu accesses are skipped, %zu in the interpreter; only %s skips that of lane %u of warp %u, "
                 "block %" PRIu64 ", grid %u, at pc 0x%" PRIx64 " (%s)", have->count, want->count,
                 order < 0 ? "native code" : "the interpreter", s->lane, s->warp, s->block, s->grid, s->pc,
                 emu_fault_name((enum emu_fault_kind)s->kind));
        return false;
    }
    return true;
}

static bool agrees(const struct grids_program *p, const struct outcome *have, const struct outcome *want, char *why)
{
    if (have->kind != want->kind) {
        snprintf(why, WHY, "the run ends by stop %d, in the interpreter by stop %d", have->kind, want->kind);
        return false;
    }
    if (want->kind != EMU_STOP_IDLE) /* other warps may have run farther */
        return true;
    for (uint32_t i = 0; i < p->out_bytes; i += 4)
        if (lw_get32(have->out + i) != lw_get32(want->out + i)) {
            const uint32_t total = p->threads * p->blocks, word = i / 4;
            const uint32_t thread = word < COLUMNS * total ? word % total : (word - COLUMNS * total) / ROW_WORDS;
            snprintf(why, WHY, "word %u, of thread %u of block %u, is 0x%08x, in the interpreter 0x%08x", word,
                     thread % p->threads, thread / p->threads, lw_get32(have->out + i), lw_get32(want->out + i));
            return false;
        }
    if (have->hash_mem != want->hash_mem) {
        snprintf(why, WHY, "memory differs outside of `out`");
        return false;
    }
    return skipped_agree(&have->filter, &want->filter, why);
}

/** If lanes of a warp wait at different barriers of the block, it depends on the order of the warps whether they meet again, and with it
 *  the counts of warp instructions. Returns true if the counts of the interpreter depend on the length of time slices. */
static bool counts_vary(const struct grids_program *p, const struct isa_object *object, const struct how *how, const struct outcome *want)
{
    static const unsigned quanta[] = {1, 7, 1 << 15};
    bool vary = false;
    char why[WHY];

    for (size_t i = 0; i < LW_COUNT_OF(quanta) && !vary; i++) {
        struct outcome other;
        assert_true(run(p, object, how, quanta[i], NULL, &other));
        vary = !setup_counts_agree(&other.counts, &want->counts, why, WHY);
        outcome_fini(&other);
    }
    return vary;
}

static void destroy_translators(void)
{
    for (unsigned i = 0; i < 2; i++) {
        nat_destroy(translators[i]);
        translators[i] = NULL;
    }
}
static struct emu_native *translator(bool large)
{
    struct emu_native **native = &translators[large];
    struct lw_error err;

    if (*native != NULL)
        return *native;
    if (nat_create(NAT_NATIVE, native, &err) != LW_OK) {
        printf("%s\n", err.text);
        exit(77); /* LLVM is not installed */
    }
    nat_set_cached(*native, false);
    nat_set_sink(*native, &lines.sink);
    if (large)
        nat_set_most_leave_cost(*native, 0);
    return *native;
}

/** Runs @object in both engines. Returns false if the results differ, and sets @why. *@usable: the kernel ends, and could be run. */
static bool succeeds(const struct grids_program *p, const struct isa_object *object, const struct how *how, bool *usable, char *why)
{
    struct emu_native *native = translator(how->large);
    struct nat_stats before, after;
    struct outcome want, have;

    *usable = run(p, object, how, 64, NULL, &want);
    if (*usable && want.kind == EMU_STOP_COUNT) {
        outcome_fini(&want);
        *usable = false;
    }
    if (!*usable)
        return true;
    nat_get_stats(native, &before);
    lw_buffer_clear(&lines);
    (void)run(p, object, how, 64, native, &have);
    nat_get_stats(native, &after);
    tally.kernels += after.kernels - before.kernels;
    tally.runs++;
    tally.native += have.native;
    tally.instructions += have.counts.stats.warp_instructions;
    tally.faults += want.kind == EMU_STOP_FAULT;
    tally.hangs += want.kind == EMU_STOP_HANG;
    tally.skipped += want.filter.count;
    tally.events.slow += have.events.slow;
    tally.events.ended += have.events.ended;
    tally.events.uneven += have.events.uneven;
    tally.events.successors += have.events.successors;
    const bool refused = after.refused != before.refused || lines.size != 0;
    if (refused)
        snprintf(why, WHY, "the kernel is not compiled: %.500s", lw_buffer_text(&lines));
    bool good = !refused && agrees(p, &have, &want, why);
    if (good && want.kind == EMU_STOP_IDLE && !setup_counts_agree(&have.counts, &want.counts, why, WHY)) {
        good = counts_vary(p, object, how, &want);
        tally.vary += good;
    }
    outcome_fini(&have);
    outcome_fini(&want);
    return good;
}

/** Assembles the text of @p without the lines that @drop names. Returns NULL if this is not possible. */
static struct isa_object *assemble(const struct grids_program *p, const bool *drop, struct lw_buffer *text, struct lw_error *err)
{
    struct isa_object *object;
    unsigned line = 0;

    lw_buffer_clear(text);
    for (const char *at = lw_buffer_text(&p->text), *end; *at != '\0'; at = end) {
        end = strchr(at, '\n') + 1;
        if (drop == NULL || !drop[line++])
            lw_printf(&text->sink, "%.*s", (int)(end - at), at);
    }
    return isa_assemble("kernel.s", lw_buffer_text(text), text->size, &object, err) == LW_OK ? object : NULL;
}

/** Leaves out instructions as long as the kernel fails. Barriers remain, because without them the kernel has races. */
static void shrink(const struct grids_program *p, const struct how *how, struct lw_buffer *text, char *why)
{
    const struct tally saved = tally; /* the runs of this function are not counted */
    unsigned count = 0;
    bool *drop = NULL, shorter = true, usable;
    char other[WHY];

    for (const char *at = lw_buffer_text(&p->text); *at != '\0'; at = strchr(at, '\n') + 1)
        count++;
    drop = calloc(count, sizeof *drop);
    assert_non_null(drop);
    while (shorter) {
        const char *at = lw_buffer_text(&p->text);
        shorter = false;
        for (unsigned i = 0; i < count; i++, at = strchr(at, '\n') + 1) {
            if (drop[i] || at[0] != ' ' || strncmp(at + 4, "bar.", 4) == 0)
                continue;
            drop[i] = true;
            struct isa_object *object = assemble(p, drop, text, NULL);
            const bool fails = object != NULL && !succeeds(p, object, how, &usable, other);
            isa_object_destroy(object);
            drop[i] = fails;
            shorter = shorter || fails;
            if (fails)
                memcpy(why, other, sizeof other);
            destroy_translators();
        }
    }
    isa_object_destroy(assemble(p, drop, text, NULL));
    free(drop);
    tally = saved;
}

static struct how choose(struct prop_random *r, const struct grids_program *p)
{
    static const unsigned threads[] = {1, 1, 2, 3};
    struct how how = {.setup = prop_below(r, 2) ? setup_native(r) : (struct setup){.reconv = "cbar", .push_order = "smaller",
                                                                                   .merge = true, .policy = "converge", .window = 1024}};

    how.threads = threads[prop_below(r, LW_COUNT_OF(threads))];
    how.masked_after = prop_below(r, 2) ? 0 : 64;
    how.launches = prop_below(r, 4) ? 1 : 2;
    how.filtered = p->invalid ? prop_below(r, 8) != 0 : prop_below(r, 2);
    how.interrupted = how.filtered && prop_below(r, 4) == 0;
    return how;
}

static void one_kernel(uint64_t seed)
{
    struct prop_random r = {.state = seed};
    struct grids_program p = {0};
    struct lw_buffer text;
    struct lw_error err;
    char why[WHY] = "", setup[400];
    bool usable;

    lw_buffer_init(&p.text);
    lw_buffer_init(&text);
    grids_generate(&p, &r);
    struct isa_object *object = assemble(&p, NULL, &text, &err);
    if (object == NULL)
        fail_msg("LW_SEED=%" PRIu64 ": %s", seed, err.text);
    const bool large = prop_below(&r, 3) == 0;
    for (unsigned i = 0; i < RUNS; i++) {
        struct how how = choose(&r, &p);
        how.large = large;
        if (succeeds(&p, object, &how, &usable, why) && usable)
            continue;
        setup_print(&how.setup, setup, sizeof setup);
        printf("W %u, grid [%u, %u], block [%u, %u, %u], %s\n%u host threads, masked after %u, %u launches, %s, %s filter%s\n%s", p.width, p.grid[0],
               p.grid[1], p.block[0], p.block[1], p.block[2], setup, how.threads, how.masked_after, how.launches, large ? "large" : "not large",
               how.filtered ? "a" : "no", how.interrupted ? ", interrupted" : "", lw_buffer_text(&p.text));
        fflush(stdout);
        if (!usable)
            fail_msg("LW_SEED=%" PRIu64 ": the kernel does not end, or cannot be run", seed);
        printf("LW_SEED=%" PRIu64 ": %s\n", seed, why);
        fflush(stdout);
        shrink(&p, &how, &text, why);
        printf("smaller:\n%s", lw_buffer_text(&text));
        fail_msg("LW_SEED=%" PRIu64 ": %s", seed, why);
    }
    isa_object_destroy(object);
    lw_buffer_fini(&p.text);
    lw_buffer_fini(&text);
}

static void random_grids_agree_with_the_interpreter(void **state)
{
    const uint64_t seed = prop_seed();
    const unsigned long count = prop_count(60, seed);

    (void)state;
    lw_buffer_init(&lines);
    for (unsigned long i = 0; i < count; i++) {
        one_kernel(seed + i);
        prop_campaign_ran(count);
        if (i % RUNS_OF_TRANSLATOR == RUNS_OF_TRANSLATOR - 1)
            destroy_translators();
    }
    destroy_translators();
    lw_buffer_fini(&lines);
    printf("%" PRIu64 " runs, %" PRIu64 " with a fault, %" PRIu64 " with a hang; %" PRIu64 " skipped accesses; counts of %" PRIu64
           " runs depend on the order of warps\n", tally.runs, tally.faults, tally.hangs, tally.skipped, tally.vary);
    printf("native code: %" PRIu64 " kernels, %" PRIu64 " of %" PRIu64 " warp instructions; %" PRIu64 " slow warps, %" PRIu64
           " warps that had ended beside slow warps, %" PRIu64 " uneven warps, %" PRIu64 " blocks begun in calls\n", tally.kernels,
           tally.native, tally.instructions, tally.events.slow, tally.events.ended, tally.events.uneven, tally.events.successors);
    if (count >= 30) { /* the generated kernels include enough of each case */
        assert_true(tally.native * 4 > tally.instructions);
        assert_true(tally.events.slow > count && tally.events.ended > count / 4);
        assert_true(tally.events.uneven > count / 4 && tally.events.successors > count / 2);
        assert_true(tally.skipped > count && tally.vary * 10 < tally.runs);
    } else if (count >= 6) {
        assert_true(tally.native * 4 > tally.instructions && tally.events.slow > count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_grids_agree_with_the_interpreter, prop_campaign_begin, prop_campaign_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
