/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs random PTX on the machine and in the direct evaluator of tests/ptx/eval/ptx_eval.h, and compares the results. The PTX
 * contains every instruction with every type and modifier, literals, guards, branches, loops, chains of comparisons, memory of
 * every space, atomics, barriers, cross-lane operations, calls and traps. The seed determines warp width, policy, reconvergence
 * engine and tags. If a program fails, the test removes parts of the program as long as the rest still fails, and prints the seed
 * and the rest. LW_SEED and LW_RANDOM_COUNT select other programs.
 */
#include <inttypes.h>
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
#include "tests/ptx/eval/ptx_eval.h"
#include "tests/ptx/eval/ptx_make.h"

enum { KERNELS = 20, WHY = 700 };

struct setting {
    unsigned width, policy, quantum;
    bool stack;
    enum emu_tag_mode tags;
};

static struct setting choose(uint64_t seed, bool warp)
{
    static const unsigned widths[] = { 32, 8, 64, 16, 4 }, whole[] = { 32, 64, 32 };
    uint64_t x = seed * 31 + 7;
    struct setting s = { 0 };
    unsigned policies = 0, r;

    while (emu_policy_names[policies] != NULL)
        policies++;
    r = (unsigned)(pm_random(&x) >> 20);
    s.width = warp ? whole[r % 3] : widths[r % 5];
    s.policy = r / 16 % policies;
    s.quantum = r / 256 % 4 == 0 ? 1 + r / 1024 % 5 : 0;
    s.stack = r / 8192 % 5 == 0;
    s.tags = r / 65536 % 3 == 0 ? EMU_TAGS_OFF : r / 65536 % 3 == 1 ? EMU_TAGS_COMPACT
                                                                     : EMU_TAGS_SHADOW;
    return s;
}

struct module {
    struct isa_object *object;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct pe_module *direct;
    uint64_t out;
    bool trapped; /* a kernel has trapped, so the machine cannot be used any more */
    char setting[160];
};

static void close_module(struct module *m)
{
    emu_engine_destroy(m->engine);
    emu_machine_destroy(m->machine);
    isa_object_destroy(m->object);
    pe_destroy(m->direct);
    *m = (struct module){ 0 };
}

static bool open_module(struct module *m, const char *text, uint64_t seed, bool warp, char *why)
{
    struct setting s = choose(seed, warp);
    struct ptx_options options;
    struct emu_config config;
    struct lw_error err = { LW_OK, "" };

    *m = (struct module){ 0 };
    ptx_options_default(&options);
    options.no_scalar = seed % 5 == 0;
    options.from_source = true; /* the kernels mix features of new and of old PTX versions */
    options.vector_registers = seed % 4 == 1 ? 16 + (unsigned)(seed / 4 % 8) : 0;
    emu_config_default(&config);
    config.arena_bytes = 1 << 26;
    config.warp_width = s.width;
    config.policy = emu_policy_names[s.policy];
    config.split_quantum = s.quantum;
    config.tags = s.tags;
    if (s.stack)
        config.reconv = "stack";
    snprintf(m->setting, sizeof m->setting, "width %u, %s, quantum %u, %s, tags %d%s", s.width,
             config.policy, s.quantum, s.stack ? "stack" : "cbar", (int)s.tags,
             options.no_scalar ? ", no scalars" : "");
    m->direct = pe_read(text, why, WHY);
    if (m->direct == NULL)
        return false;
    if (ptx_translate("random.ptx", text, strlen(text), &options, &m->object, &err) != LW_OK ||
        emu_machine_create(&config, &m->machine, &err) != LW_OK ||
        emu_program_load(m->machine, m->object, &m->program, &err) != LW_OK ||
        emu_alloc(m->machine, 192 * PM_ROW_BYTES + PM_SUM_BYTES, "out", 0, &m->out, &err) != LW_OK ||
        emu_engine_functional_create(m->machine, &m->engine, &err) != LW_OK) {
        snprintf(why, WHY, "%s: %.500s", m->setting, err.text);
        return false;
    }
    return true;
}

/** Runs one kernel on the machine and in the evaluator. Returns whether the results are equal. */
static bool compare(struct module *m, const char *name, uint64_t seed, bool warp, char *why)
{
    struct pm_shape shape = pm_shape(seed, warp);
    uint8_t *want = malloc(shape.bytes), *got = malloc(shape.bytes);
    struct lw_error err = { LW_OK, "" };
    struct emu_stop stop;
    bool ok = false, trapped = false;
    /* The parameters out, pa, pb, pc, pd and pe in the layout of C. */
    uint64_t params[PM_PARAM_BYTES / 8] = { 0 };

    pm_parameters(params, seed);
    params[0] = m->out;
    pm_fill(want, &shape, seed);
    struct emu_launch launch = { .program = m->program,
                                 .kernel = emu_program_kernel(m->program, name),
                                 .grid = { shape.grid, 1, 1 }, .block = { shape.block, 1, 1 },
                                 .work_dim = 1, .params = params };

    if (launch.kernel == NULL) {
        snprintf(err.text, sizeof err.text, "no kernel %s", name);
        goto cleanup;
    }
    if (emu_global_write(m->machine, m->out, want, shape.bytes, &err) != LW_OK ||
        emu_grid_launch(m->machine, &launch, NULL, &err) != LW_OK ||
        m->engine->ops->run(m->engine, &stop, &err) != LW_OK)
        goto cleanup;
    m->trapped = stop.kind == EMU_STOP_FAULT && stop.fault.kind == EMU_FAULT_TRAP;
    if (stop.kind != EMU_STOP_IDLE && !m->trapped) {
        snprintf(err.text, sizeof err.text, "stopped: %d %.300s %.200s", stop.kind, stop.hang.detail,
                 stop.fault.detail);
        goto cleanup;
    }
    if (emu_global_read(m->machine, m->out, got, shape.bytes, &err) != LW_OK)
        goto cleanup;
    struct pe_launch direct = { .entry = name, .grid = { shape.grid, 1, 1 },
                                .block = { shape.block, 1, 1 }, .params = params,
                                .param_bytes = sizeof params, .global = want,
                                .global_base = m->out, .global_bytes = shape.bytes,
                                .max_steps = 20000000, .trapped = &trapped };
    bool ends = pe_run(m->direct, &direct, err.text, sizeof err.text);

    if (trapped || m->trapped) { /* memory is not compared, because the progress of other threads at a trap is undefined */
        ok = trapped == m->trapped;
        if (!ok)
            snprintf(err.text, sizeof err.text, "%s reaches a trap",
                     trapped ? "only the evaluator" : "only the machine");
        goto cleanup;
    }
    if (!ends)
        goto cleanup;
    ok = memcmp(want, got, shape.bytes) == 0;
    for (size_t i = 0; i < shape.bytes && !ok; i++) {
        if (want[i] != got[i]) {
            uint32_t a, b;

            i -= i % 4;
            memcpy(&a, want + i, 4);
            memcpy(&b, got + i, 4);
            snprintf(err.text, sizeof err.text,
                     "thread %zu, byte %zu of its row: %#x, the evaluator has %#x",
                     i / PM_ROW_BYTES, i % PM_ROW_BYTES, b, a);
            break;
        }
    }
cleanup:
    if (!ok)
        snprintf(why, WHY, "%s: %s, block %u: %.400s", name, m->setting, shape.block, err.text);
    free(want);
    free(got);
    return ok;
}

/** Returns whether the kernel fails in a module that contains only this kernel. If so, describes the failure in @why. */
static bool fails(const struct pm_kernel *k, const char *head, uint64_t module_seed, uint64_t seed,
                  bool warp, char *why)
{
    char *body = pm_text(k), *text = malloc(strlen(head) + strlen(body) + 1);
    struct module m;
    bool ok;

    strcat(strcpy(text, head), body);
    ok = open_module(&m, text, module_seed, warp, why) && compare(&m, k->name, seed, warp, why);
    close_module(&m);
    free(text);
    free(body);
    return !ok;
}

static void cut_down(struct pm_kernel *k, const char *head, uint64_t module_seed, uint64_t seed,
                     bool warp, char *why)
{
    char trial[WHY];
    bool smaller = true;

    while (smaller) {
        smaller = false;
        for (int i = 0; i < k->count; i++) {
            int last = k->at[i].match > i ? k->at[i].match : i;
            char **kept;

            if (k->at[i].text == NULL || k->at[i].middle || (k->at[i].match >= 0 && last == i))
                continue;
            kept = calloc((size_t)(last - i) + 1, sizeof *kept);
            for (int j = i; j <= last; j++) {
                kept[j - i] = k->at[j].text;
                k->at[j].text = NULL;
            }
            if (fails(k, head, module_seed, seed, warp, trial)) {
                memcpy(why, trial, WHY);
                for (int j = i; j <= last; j++)
                    free(kept[j - i]);
                smaller = true;
            } else {
                for (int j = i; j <= last; j++)
                    k->at[j].text = kept[j - i];
            }
            free(kept);
        }
    }
}

static void one_module(uint64_t seed, unsigned kernels, bool calls)
{
    struct pm_kernel k[KERNELS];
    uint64_t first = seed * KERNELS;
    char *head = pm_head(seed, calls, false), *text, why[WHY] = "";
    size_t size = strlen(head) + 1;
    struct module m;
    bool warp = false;
    unsigned bad = kernels;

    text = malloc(size);
    strcpy(text, head);
    for (unsigned i = 0; i < kernels; i++) {
        char name[16], *body;

        snprintf(name, sizeof name, "k%u", i);
        pm_make(&k[i], first + i, name, calls, false);
        warp = warp || k[i].warp;
        body = pm_text(&k[i]);
        text = realloc(text, size + strlen(body));
        strcpy(text + size - 1, body);
        size += strlen(body);
        free(body);
    }
    if (!open_module(&m, text, seed, warp, why)) {
        bad = 0; /* searches the first kernel that fails alone, which is reported */
        while (bad + 1 < kernels && !fails(&k[bad], head, seed, first + bad, warp, why))
            bad++;
    } else {
        for (bad = 0; bad < kernels; bad++) {
            if (!compare(&m, k[bad].name, first + bad, warp, why))
                break;
            if (!m.trapped)
                continue;
            close_module(&m);
            if (!open_module(&m, text, seed, warp, why))
                break;
        }
    }
    close_module(&m);
    free(text);
    if (bad < kernels) {
        if (fails(&k[bad], head, seed, first + bad, warp, why))
            cut_down(&k[bad], head, seed, first + bad, warp, why);
        text = pm_text(&k[bad]);
        printf("%s%s\n", head, text);
        fflush(stdout);
        fail_msg("LW_SEED=%" PRIu64 ": %s", seed, why);
    }
    for (unsigned i = 0; i < kernels; i++)
        pm_free(&k[i]);
    free(head);
}

static void random_kernels_compute_what_the_manual_says(void **state)
{
    const char *seed = getenv("LW_SEED"), *count = getenv("LW_RANDOM_COUNT"), *divisor = getenv("LW_RANDOM_DIVISOR");
    uint64_t first = seed != NULL ? strtoull(seed, NULL, 0) : 1;
    uint64_t n = count != NULL ? strtoull(count, NULL, 0) : seed != NULL ? KERNELS : 10000;

    if (count == NULL && divisor != NULL && atoi(divisor) > 0)
        n /= (unsigned)atoi(divisor);
    (void)state;
    for (uint64_t i = 0; i * KERNELS < n; i++)
        one_module(first + i, n - i * KERNELS < KERNELS ? (unsigned)(n - i * KERNELS) : KERNELS,
                   (first + i) % 3 != 0);
}

/* Reduced kernels for which earlier versions failed. */
static const char *const kept[] = {
    "mad.wide.s32 %d1,%r7,%r0,0x1;\nmad.wide.u32 %d2,%r1,%r2,8;\n",
    "@!%p3 lop3.or.b32 %r5|%p3,%r6,%r5,%r5,108,!%p1;\n@%p0 elect.sync %r1|%p0,-1;\n",
    "{\n.param .b32 a0;\n.param .b32 q;\nst.param.b32 [a0],3;\ncall (q), fn3, (a0);\n"
    "ld.param.b32 %r1,[q];\n}\n@%q1 or.b32 %r2,%r2,32;\n",
};

static void kernels_that_once_failed_do_not(void **state)
{
    char *head = pm_head(0, true, false), why[WHY] = "";

    (void)state;
    for (unsigned i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        char text[2000];
        struct pm_statement one = { .text = text, .match = -1 };
        struct pm_kernel k = { .at = &one, .count = 1, .name = "k",
                               .s = { 6, 6, { 0, 1, 2, 3, 4, 5 } }, .e = { 2, 2, { 0, 1 } },
                               .q = { 2, 2, { 0, 1 } } };

        snprintf(text, sizeof text, "%s", kept[i]);
        for (uint64_t seed = 1; seed <= 5; seed++) {
            if (fails(&k, head, seed, seed, true, why))
                fail_msg("kept kernel %u: %s", i, why);
        }
    }
    free(head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_once_failed_do_not),
        cmocka_unit_test(random_kernels_compute_what_the_manual_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
