/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the native translator. Each run changes instructions of a kernel at random, executes the kernel in the interpreter and
 * then in native code, and compares memory, counts and faults. The kernels are those of fuzz_native_kernels.h, and the assembly
 * files on the command line or, without files, in kernels/. The program also fails if LLVM refuses code of the translator, if the
 * compiler process or native code crashes, if native code does not end, or if native code has executed nothing.
 *
 *     fuzz_native [-s SEED] [-n RUNS] [-t SECONDS] [-k] [FILE...]      -k: continue after failures
 *
 * LW_SEED, LW_RANDOM_COUNT and LW_RANDOM_DIVISOR act as in other random tests, and LW_FUZZ_SECONDS as -t. A run depends only on
 * its seed and the files, so `-s SEED -n 1` repeats it. A kernel that fails is shown as assembly, and once more with a `nop` in
 * place of each instruction that the failure does not need.
 *
 * What must be equal depends on the launch. If each block is one warp, there is only one order of execution, and everything must
 * be equal at the end and at a fault. If blocks have several warps, a changed kernel may have races. Therefore the interpreter
 * also runs the kernel with other time slices, and with the race checker. If all results are equal, and there is no race, those
 * of native code must be equal, too.
 * After a fault only its existence is compared, because other warps may have run farther, or may have faults of their own.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "check/check.h"
#include "native/nat_priv.h"
#include "tests/lib/prop_setup.h"
#include "tests/native/fuzz_native_mutate.h"

enum {
    BUFFERS = 8, BUFFER_BYTES = 1 << 14, /* most pointer parameters, and bytes of a buffer */
    LIMIT = 30000,              /* warp instructions after which the interpreter stops; less than the longest time slice */
    HANG_WINDOW = 1 << 14,
    RUNS_OF_TRANSLATOR = 40,    /* then new translators are created, because a translator keeps all code */
    SECONDS_OF_RUN = 60,        /* limit of the processor time */
    COSTS = 3                   /* translators with different limits of nat_set_most_leave_cost() */
};
/* Native code is not used near a limit of instructions (emu_fixed_native_until()). */
#define NATIVE_LIMIT (UINT64_C(3) << 20)

/** A kernel and how it is launched. */
struct trial {
    const struct sample *sample; /* the object has the changed text */
    uint64_t seed;
    struct setup setup;
    unsigned width, threads, masked_after, cost;
    uint32_t block[3], blocks, launches, local_bytes;
    uint64_t buffer_bytes[BUFFERS];
    struct lw_buffer text; /* what is printed about the trial */
};

struct outcome {
    enum emu_stop_kind kind;
    struct emu_fault fault;
    struct setup_counts counts;
    uint64_t hash_mem, native;
    uint8_t memory[BUFFERS][BUFFER_BYTES];
};

static struct emu_native *translators[COSTS];
static struct lw_buffer lines; /* lines of the translators about kernels that LLVM did not compile */
static int errors;             /* file that gets what compiler processes write to stderr */
static const struct trial *current;
static struct tally {
    uint64_t objects, orders; /* rejected objects, and kernels that are not order-free */
    uint64_t runs, alone, compared, races, compiled, refused, native, instructions, ended, faults, hangs, limits, failures;
} tally;

/* ---- runs --------------------------------------------------------------------------------------- */

static uint64_t pick_size(struct prop_random *r)
{
    static const uint64_t sizes[] = {0, 60, 256, 512, 1000, 4096, 5000, BUFFER_BYTES - 4};

    return prop_below(r, 5) != 0 ? BUFFER_BYTES : sizes[prop_below(r, LW_COUNT_OF(sizes))];
}

/** Chooses how the kernel is launched. */
static void choose(struct trial *t, struct prop_random *r)
{
    static const unsigned widths[] = {4, 8, 16, 32, 64, 32, 64};
    uint32_t *block = t->block;

    t->width = widths[prop_below(r, LW_COUNT_OF(widths))];
    const bool alone = prop_below(r, 3) != 0;
    const unsigned rows = 1u << (prop_below(r, 2) ? 0 : prop_below(r, 4)), levels = prop_below(r, 8) ? 1 : 2;
    block[1] = rows;
    block[2] = rows * levels <= t->width ? levels : 1;
    block[0] = t->width / block[1] / block[2];
    if (!alone && prop_below(r, 2))
        block[prop_below(r, 2)] *= 2 + prop_below(r, 3);
    else if (!alone)
        block[0] += prop_below(r, 2 * t->width);
    t->threads = block[0] * block[1] * block[2];
    t->blocks = prop_below(r, 2) ? 1 : 1 + prop_below(r, 4);
    t->launches = prop_below(r, 4) ? 1 : 2;
    t->setup = prop_below(r, 2) ? setup_native(r) : (struct setup){.reconv = "cbar", .push_order = "smaller", .merge = true,
                                                                   .policy = "converge", .window = 1024};
    t->masked_after = prop_below(r, 3) ? 0 : 64;
    t->cost = prop_below(r, COSTS);
    t->local_bytes = t->sample->kernel->local_bytes;
    if (prop_below(r, 8) == 0)
        t->local_bytes = 4 * prop_below(r, 20);
    for (unsigned i = 0; i < BUFFERS; i++)
        t->buffer_bytes[i] = pick_size(r);
}

/** Allocates and fills the buffers, and sets the parameters. */
static void make_params(const struct trial *t, struct emu_machine *machine, uint64_t base[BUFFERS], uint8_t params[PARAMS])
{
    const struct isa_function *kernel = t->sample->kernel;
    struct prop_random r = {.state = ~t->seed};
    uint8_t *data = malloc(BUFFER_BYTES);
    unsigned buffers = 0;

    require(data != NULL, "no memory");
    memset(params, 0, PARAMS);
    for (unsigned p = 0; p < kernel->param_count; p++) {
        const struct isa_param *param = &kernel->params[p];
        uint64_t value = param->kind == ISA_PARAM_FLOAT ? 0x3fc00000 : prop_below(&r, prop_below(&r, 4) ? 8 : 30);
        if (param->kind == ISA_PARAM_POINTER && buffers < BUFFERS) {
            const unsigned most = 1u << prop_below(&r, 11);
            const bool any = prop_below(&r, 4) == 0;
            for (unsigned i = 0; i < BUFFER_BYTES; i += 4)
                lw_put32(data + i, any ? number(&r) : prop_below(&r, most));
            require(emu_alloc(machine, t->buffer_bytes[buffers], param->name, 0, &base[buffers], NULL) == LW_OK &&
                    (t->buffer_bytes[buffers] == 0 ||
                     emu_global_write(machine, base[buffers], data, t->buffer_bytes[buffers], NULL) == LW_OK), "no buffer");
            value = base[buffers++];
        }
        for (unsigned i = 0; i < param->size_bytes && param->offset + i < PARAMS; i++)
            params[param->offset + i] = i < 8 ? (uint8_t)(value >> 8 * i) : 0;
    }
    free(data);
}

static void get_outcome(const struct trial *t, struct emu_machine *machine, const struct emu_stop *stop,
                        const uint64_t base[BUFFERS], struct outcome *out)
{
    out->kind = stop->kind;
    out->fault = stop->fault;
    out->counts = setup_counts_get(machine);
    out->hash_mem = emu_hash_mem(machine);
    out->native = emu_machine_native_instructions(machine);
    for (unsigned i = 0; i < BUFFERS && base[i] != 0; i++)
        require(t->buffer_bytes[i] == 0 || emu_global_read(machine, base[i], out->memory[i], t->buffer_bytes[i], NULL) == LW_OK,
                "a buffer cannot be read");
}

/** Returns false if native code can never run @kernel, because its results may depend on the order of warps. */
static bool is_order_free(const struct emu_program *program, const struct isa_function *kernel)
{
    return emu_kernel_order(program, kernel)->worst == ISA_ORDER_NONE;
}

static struct chk *create_race_checker(struct emu_machine *machine, uint64_t *kinds)
{
    struct chk *chk;

    require(chk_select("races", kinds, NULL) == LW_OK, "no check for races");
    const struct chk_options options = {.kinds = *kinds, .max_findings = 1};
    require(chk_create(machine, &options, &chk, NULL) == LW_OK, "no checker");
    return chk;
}

/** Destroys the checker. Returns true if it has found a race. Its other findings are faults and hangs. */
static bool finish_race_checker(struct chk *chk, const struct emu_stop *stop, uint64_t kinds)
{
    const struct chk_finding *f;
    bool found = false;

    require(chk_finish(chk, stop, NULL) == LW_OK, "no memory");
    for (unsigned i = 0; (f = chk_get(chk, i)) != NULL; i++)
        found = found || (kinds >> f->kind & 1) != 0;
    chk_destroy(chk);
    return found;
}

/** Runs the kernel until @limit instructions. @native: NULL for the interpreter. @has_race: if it is not NULL, it is set to
 *  true if the run has a race. Returns false if the kernel cannot be run. */
static bool run(const struct trial *t, struct emu_native *native, unsigned quantum, uint64_t limit, bool *has_race,
                struct outcome *out)
{
    const struct isa_function *kernel = t->sample->kernel;
    struct emu_machine *machine;
    struct emu_engine *engine = NULL;
    struct emu_program *program;
    struct emu_config config;
    struct emu_stop stop = {.kind = EMU_STOP_NONE};
    struct chk *chk = NULL;
    struct lw_error err;
    uint64_t base[BUFFERS] = {0}, kinds;
    uint8_t params[PARAMS];
    bool good;

    memset(out, 0, sizeof *out);
    emu_config_default(&config);
    setup_apply(&t->setup, &config);
    config.arena_bytes = 1 << 24;
    config.warp_width = t->width;
    config.warp_quantum = quantum;
    config.hang_window = HANG_WINDOW;
    if (emu_machine_create(&config, &machine, &err) != LW_OK)
        require(false, err.text);
    good = emu_program_load(machine, t->sample->object, &program, &err) == LW_OK;
    tally.objects += !good;
    if (good && !is_order_free(program, kernel)) {
        tally.orders++;
        good = false;
    }
    if (good) {
        make_params(t, machine, base, params);
        const struct emu_launch launch = {.program = program, .kernel = kernel, .grid = {t->blocks, 1, 1},
                                          .block = {t->block[0], t->block[1], t->block[2]}, .work_dim = 3, .params = params};
        chk = has_race != NULL ? create_race_checker(machine, &kinds) : NULL;
        require(emu_engine_functional_create(machine, &engine, NULL) == LW_OK, "no engine");
        engine->stop_at = limit;
        emu_machine_set_native(machine, native);
        for (uint32_t i = 0; i < t->launches && good; i++)
            good = emu_grid_launch(machine, &launch, NULL, &err) == LW_OK;
        tally.objects += !good;
    }
    if (good) {
        if (engine->ops->run(engine, &stop, &err) != LW_OK)
            require(false, err.text);
        get_outcome(t, machine, &stop, base, out);
    }
    if (chk != NULL)
        *has_race = finish_race_checker(chk, &stop, kinds);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    return good;
}

/** Returns true if native code supports the kernel of @t. Otherwise the translator may refuse it. */
static bool is_supported(const struct trial *t)
{
    const struct isa_function *kernel = t->sample->kernel;
    struct isa_insn *insn = malloc(kernel->count * sizeof *insn);
    bool good = true;

    require(insn != NULL, "no memory");
    for (uint32_t i = 0; i < kernel->count; i++)
        good = good && isa_insn_decode(t->sample->object->text[kernel->first + i], &insn[i]);
    require(good, "a word is no instruction");
    struct nat_unit u = {.insn = insn, .first = kernel->first, .count = kernel->count, .width = t->width};
    good = nat_flow(&u);
    free(u.kind);
    free(u.block_of);
    free(u.block);
    free(insn);
    return good;
}

/* ---- comparing ---------------------------------------------------------------------------------- */

enum { WHY = 4000 };

static bool memory_agrees(const struct outcome *have, const struct outcome *want, char *why)
{
    for (unsigned i = 0; i < BUFFERS; i++)
        for (unsigned k = 0; k < BUFFER_BYTES; k++)
            if (have->memory[i][k] != want->memory[i][k]) {
                snprintf(why, WHY, "byte %u of buffer %u is 0x%02x, in the interpreter 0x%02x", k, i, have->memory[i][k],
                         want->memory[i][k]);
                return false;
            }
    if (have->hash_mem != want->hash_mem)
        snprintf(why, WHY, "memory differs outside the buffers");
    return have->hash_mem == want->hash_mem;
}

static void put_fault(const struct emu_fault *f, char *text, size_t size)
{
    snprintf(text, size, "%s of lanes 0x%" PRIx64 " at pc 0x%" PRIx64 ", address 0x%" PRIx64 ", block %" PRIu64 ", warp %u (%s)",
             emu_fault_name(f->kind), f->lanes, f->pc, f->address, f->block, f->warp, f->detail);
}

static bool fault_agrees(const struct emu_fault *have, const struct emu_fault *want, char *why)
{
    char texts[2][500];

    if (have->kind == want->kind && have->lanes == want->lanes && have->pc == want->pc && have->address == want->address &&
        have->space == want->space && have->bytes == want->bytes && have->write == want->write && have->block == want->block &&
        have->warp == want->warp && strcmp(have->detail, want->detail) == 0)
        return true;
    put_fault(have, texts[0], sizeof texts[0]);
    put_fault(want, texts[1], sizeof texts[1]);
    snprintf(why, WHY, "fault %s; in the interpreter %s", texts[0], texts[1]);
    return false;
}

/** Compares two runs. @exact: a fault must be the same. */
static bool agrees(const struct outcome *have, const struct outcome *want, bool exact, char *why)
{
    struct setup_counts counts[2] = {have->counts, want->counts};

    if (want->kind == EMU_STOP_COUNT)
        return true;
    if (want->kind == EMU_STOP_HANG && have->kind == EMU_STOP_COUNT)
        return true; /* native code needs more instructions until the proof */
    if (have->kind != want->kind) {
        snprintf(why, WHY, "the run ends by stop %d (%s), in the interpreter by stop %d (%s)", have->kind,
                 emu_fault_name(have->kind == EMU_STOP_FAULT ? have->fault.kind : EMU_FAULT_NONE), want->kind,
                 emu_fault_name(want->kind == EMU_STOP_FAULT ? want->fault.kind : EMU_FAULT_NONE));
        return false;
    }
    if (want->kind == EMU_STOP_HANG || (want->kind == EMU_STOP_FAULT && !exact))
        return true;
    if (want->kind == EMU_STOP_FAULT && !fault_agrees(&have->fault, &want->fault, why))
        return false;
    if (want->kind == EMU_STOP_FAULT) /* native code does not keep dead registers, and numbers splits differently */
        counts[0].hash_state = counts[1].hash_state = 0;
    return memory_agrees(have, want, why) && setup_counts_agree(&counts[0], &counts[1], why, WHY);
}

/** Returns true if the results of the interpreter do not depend on the length of time slices, and the race checker finds no
 *  race. */
static bool has_no_race(const struct trial *t, const struct outcome *want)
{
    static const unsigned quanta[] = {1, 1 << 15};
    static struct outcome other;
    char why[WHY];
    bool has_race;

    for (size_t i = 0; i < LW_COUNT_OF(quanta); i++)
        if (!run(t, NULL, quanta[i], LIMIT, NULL, &other) || !agrees(&other, want, false, why) || other.kind != want->kind)
            return false;
    return run(t, NULL, 64, LIMIT, &has_race, &other) && !has_race;
}

/** Reads what compiler processes have written since the last call. Returns false if they have written something. */
static bool compiler_is_silent(char *why)
{
    static off_t seen;
    struct stat file;

    if (fstat(errors, &file) != 0 || file.st_size == seen)
        return true;
    const size_t used = strlen(why);
    const ssize_t n = pread(errors, why + used, WHY - 1 - used, seen);
    why[used + (size_t)(n > 0 ? n : 0)] = '\0';
    seen = file.st_size;
    return false;
}

static void destroy_translators(void)
{
    for (unsigned i = 0; i < COSTS; i++) {
        nat_destroy(translators[i]);
        translators[i] = NULL;
    }
}

/** Creates a translator, and starts its compiler process by compiling a kernel. */
static struct emu_native *create_translator(unsigned cost)
{
    const int own = dup(STDERR_FILENO);
    struct trial first = {.sample = &samples[0], .seed = 1, .width = 8, .block = {8, 1, 1}, .blocks = 1, .launches = 1,
                          .threads = 8};
    static struct outcome out;
    struct emu_native *native;
    struct lw_error err;

    if (nat_create(NAT_NATIVE, &native, &err) != LW_OK) {
        printf("%s\n", err.text);
        exit(77);
    }
    nat_set_cached(native, false);
    nat_set_sink(native, &lines.sink);
    if (cost != 1)
        nat_set_most_leave_cost(native, cost == 0 ? 0 : UINT64_MAX);
    first.setup = (struct setup){.reconv = "cbar", .push_order = "smaller", .policy = "converge", .merge = true, .window = 1024};
    for (unsigned i = 0; i < BUFFERS; i++)
        first.buffer_bytes[i] = BUFFER_BYTES;
    struct isa_word *text = samples[0].object->text;
    const size_t bytes = samples[0].object->text_count * sizeof *text;
    struct isa_word *changed = malloc(bytes);
    require(changed != NULL && own >= 0, "no memory");
    memcpy(changed, text, bytes);
    restore(&samples[0]);
    if (getenv("LANEWISE_NATIVE_DUMP") == NULL)
        require(dup2(errors, STDERR_FILENO) == STDERR_FILENO, "no file for errors");
    const bool good = run(&first, native, 64, UINT64_MAX, NULL, &out);
    require(dup2(own, STDERR_FILENO) == STDERR_FILENO, "no file for errors");
    require(good && out.native != 0, "native code does not execute the first kernel");
    (void)close(own);
    memcpy(text, changed, bytes);
    free(changed);
    return native;
}

/** Runs @t in native code, and requires that LLVM accepts its code. */
static bool run_natively(const struct trial *t, struct outcome *have, bool ends, char *why)
{
    struct nat_stats before, after;

    if (translators[t->cost] == NULL)
        translators[t->cost] = create_translator(t->cost);
    struct emu_native *native = translators[t->cost];
    native->masked_after = t->masked_after;
    nat_get_stats(native, &before);
    lw_buffer_clear(&lines);
    require(run(t, native, 64, ends ? UINT64_MAX : NATIVE_LIMIT, NULL, have), "the kernel cannot be run again");
    nat_get_stats(native, &after);
    tally.compiled += after.kernels - before.kernels;
    tally.refused += after.refused - before.refused;
    snprintf(why, WHY, "%s", lines.size != 0 ? lw_buffer_text(&lines) : "");
    if (!compiler_is_silent(why) || why[0] != '\0')
        return false;
    if (after.refused != before.refused && is_supported(t)) {
        snprintf(why, WHY, "the translator refuses a kernel that it supports");
        return false;
    }
    return true;
}

/** Runs and compares. Returns false and sets @why if the runs differ. *@usable: the kernel could be run. */
static bool succeeds(const struct trial *t, bool *usable, char *why)
{
    static struct outcome want, have;
    const bool alone = t->threads == t->width;

    why[0] = '\0';
    *usable = run(t, NULL, 64, LIMIT, NULL, &want);
    if (!*usable)
        return true;
    const bool ends = want.kind == EMU_STOP_IDLE || want.kind == EMU_STOP_FAULT;
    if (!run_natively(t, &have, ends, why)) {
        destroy_translators(); /* they would not compile the kernel again, and would start a process with another stderr */
        return false;
    }
    const bool comparable = alone || has_no_race(t, &want);
    tally.alone += alone;
    tally.compared += comparable && ends;
    tally.races += !comparable;
    tally.native += have.native;
    tally.instructions += have.counts.stats.warp_instructions;
    tally.ended += want.kind == EMU_STOP_IDLE;
    tally.faults += want.kind == EMU_STOP_FAULT;
    tally.hangs += want.kind == EMU_STOP_HANG;
    tally.limits += want.kind == EMU_STOP_COUNT;
    return !comparable || agrees(&have, &want, alone, why);
}

/* ---- reports ------------------------------------------------------------------------------------ */

/** Sets the text about @t. */
static void describe(struct trial *t)
{
    struct lw_sink *out = &t->text.sink;
    char how[400];

    lw_buffer_clear(&t->text);
    setup_print(&t->setup, how, sizeof how);
    lw_printf(out, "repeat by: -s %" PRIu64 " -n 1\nW %u, %u launches of %u blocks of [%u, %u, %u], ", t->seed, t->width,
              t->launches, t->blocks, t->block[0], t->block[1], t->block[2]);
    lw_printf(out, "masked after %u, cost %u, local memory %u\n%s\nbuffers", t->masked_after, t->cost, t->local_bytes, how);
    for (unsigned i = 0; i < BUFFERS; i++)
        lw_printf(out, " %" PRIu64, t->buffer_bytes[i]);
    lw_printf(out, "\nkernel %s:\n", t->sample->kernel->name);
    isa_disassemble(t->sample->object, out);
}

/** Handler of signals: prints the trial that was running. */
static void crashed(int number)
{
    static const char what[] = "fuzz_native: a crash, or code that does not end (SIGPROF):\n";

    (void)!write(STDERR_FILENO, what, sizeof what - 1);
    if (current != NULL)
        (void)!write(STDERR_FILENO, current->text.text, current->text.size);
    signal(number, SIG_DFL);
    raise(number);
}

/** Called by the address sanitizer after it has reported an error. */
static void died(void)
{
    if (current != NULL)
        (void)!write(STDERR_FILENO, current->text.text, current->text.size);
}
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void set_timer(unsigned seconds)
{
    const struct itimerval timer = {.it_value = {.tv_sec = seconds}};

    (void)setitimer(ITIMER_PROF, &timer, NULL);
}

/** Replaces instructions by `nop` as long as the trial fails. */
static void shrink(struct trial *t)
{
    const struct isa_function *kernel = t->sample->kernel;
    struct isa_insn nop = {0};
    struct isa_word word;
    char why[WHY];
    bool usable;

    isa_insn_init(&nop, ISA_NOP);
    require(isa_insn_encode(&nop, &word, NULL) == LW_OK, "nop cannot be encoded");
    for (uint32_t i = kernel->count; i-- > 0;) {
        struct isa_word *at = &t->sample->object->text[kernel->first + i], before = *at;
        *at = word;
        describe(t);
        set_timer(SECONDS_OF_RUN);
        if (isa_object_check(t->sample->object, NULL) != LW_OK || succeeds(t, &usable, why) || !usable)
            *at = before;
    }
    describe(t);
}

static void report(struct trial *t, const char *why)
{
    const struct tally saved = tally; /* the runs of this function are not counted */
    char smaller[WHY];
    bool usable;

    fprintf(stderr, "FAIL: seed %" PRIu64 ": %s\n%s", t->seed, why, lw_buffer_text(&t->text));
    shrink(t);
    if (succeeds(t, &usable, smaller))
        snprintf(smaller, sizeof smaller, "the smaller kernel does not fail again");
    fprintf(stderr, "smaller: seed %" PRIu64 ": %s\n%s", t->seed, smaller, lw_buffer_text(&t->text));
    tally = saved;
}

/** Changes a kernel until it can be run, and runs it. Returns false if the results differ. */
static bool one_run(uint64_t seed)
{
    struct prop_random r = {.state = seed};
    struct trial t = {.seed = seed};
    char why[WHY];
    bool usable = false, good = true;

    lw_buffer_init(&t.text);
    for (unsigned tries = 0; tries < 10 * MOST_TRIES && !usable; tries++) {
        t.sample = &samples[prop_below(&r, (unsigned)(prop_below(&r, 4) ? built_in : sample_count))];
        if (!mutate(&r, t.sample)) {
            tally.objects++;
            continue;
        }
        choose(&t, &r);
        const struct isa_function saved = *t.sample->kernel;
        t.sample->kernel->local_bytes = t.local_bytes;
        describe(&t);
        current = &t;
        set_timer(SECONDS_OF_RUN);
        good = succeeds(&t, &usable, why);
        if (!good)
            report(&t, why);
        set_timer(0);
        current = NULL;
        *t.sample->kernel = saved;
    }
    tally.runs += usable;
    restore(t.sample);
    lw_buffer_fini(&t.text);
    return good;
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_tally(double seconds)
{
    printf("%" PRIu64 " runs in %.1f s: %" PRIu64 " ended, ", tally.runs, seconds, tally.ended);
    printf("%" PRIu64 " had a fault, %" PRIu64 " hung, ", tally.faults, tally.hangs);
    printf("%" PRIu64 " reached the limit; %" PRIu64 " failures\n", tally.limits, tally.failures);
    printf("rejected: %" PRIu64 " words, %" PRIu64 " objects, ", rejected_words, tally.objects);
    printf("%" PRIu64 " kernels that are not order-free\n", tally.orders);
    printf("%" PRIu64 " runs with one warp in a block; %" PRIu64 " runs compared, ", tally.alone, tally.compared);
    printf("%" PRIu64 " may have races\n", tally.races);
    printf("native code: %" PRIu64 " kernels compiled, %" PRIu64 " not supported, ", tally.compiled, tally.refused);
    printf("%" PRIu64 " of %" PRIu64 " warp instructions\n", tally.native, tally.instructions);
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGPROF};
    const char *limit = getenv("LW_FUZZ_SECONDS");
    uint64_t seed = 0, runs = 0, seconds = 0;
    bool have_seed = false, have_runs = false, keep = false;
    int option;

    if (limit != NULL && !lw_parse_u64(limit, &seconds))
        return 2;
    while ((option = getopt(argc, argv, "s:n:t:k")) != -1) {
        keep = keep || option == 'k';
        have_seed = have_seed || option == 's';
        have_runs = have_runs || option == 'n';
        if (option == '?' || (option != 'k' && !lw_parse_u64(optarg, option == 's' ? &seed : option == 'n' ? &runs : &seconds)))
            return 2;
    }
    seed = have_seed ? seed : prop_seed();
    runs = have_runs ? runs : prop_count(200, seed);
    make_corpus(argc - optind, argv + optind);
    errors = memfd_create("errors", MFD_CLOEXEC);
    require(errors >= 0, "no file for errors");
    lw_buffer_init(&lines);
    translators[1] = create_translator(1); /* skips the test if LLVM is not installed */
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(died);
    for (size_t i = 0; i < LW_COUNT_OF(signals); i++)
        signal(signals[i], crashed);
    const double start = seconds_now();
    for (uint64_t i = 0; i < runs && (seconds == 0 || seconds_now() - start < (double)seconds); i++) {
        tally.failures += !one_run(seed + i);
        if (tally.failures != 0 && !keep)
            break;
        if (i % RUNS_OF_TRANSLATOR == RUNS_OF_TRANSLATOR - 1)
            destroy_translators();
    }
    print_tally(seconds_now() - start);
    destroy_translators();
    if (tally.runs >= 10 && tally.native == 0)
        fprintf(stderr, "FAIL: native code has executed nothing\n");
    return tally.failures != 0 || (tally.runs >= 10 && tally.native == 0);
}
