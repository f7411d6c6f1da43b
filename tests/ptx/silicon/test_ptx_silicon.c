/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares results of the emulator with those of devices, for each form of forms.txt and for random kernels. The results of a
 * device are in tests/ptx/silicon/devices/DEVICE.forms and DEVICE.random, which `bench/silicon/run instructions` has written on a
 * host with the device.
 */
#include <glob.h>
#include <inttypes.h>
#include <math.h>
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
#include "tests/ptx/eval/ptx_make.h"
#include "tests/ptx/silicon/silicon_forms.h"

struct module {
    struct isa_object *object;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    uint64_t memory;
};

static void close_module(struct module *m)
{
    emu_engine_destroy(m->engine);
    emu_machine_destroy(m->machine);
    isa_object_destroy(m->object);
    *m = (struct module){ 0 };
}

/* Translates @text, loads the program, and allocates @bytes of global memory. */
static bool open_module(struct module *m, const char *text, size_t bytes, struct lw_error *err)
{
    struct ptx_options options;
    struct emu_config config;

    *m = (struct module){ 0 };
    ptx_options_default(&options);
    emu_config_default(&config);
    config.arena_bytes = 1 << 26;
    config.warp_width = 32;
    return ptx_translate("silicon.ptx", text, strlen(text), &options, &m->object, err) == LW_OK &&
           emu_machine_create(&config, &m->machine, err) == LW_OK &&
           emu_program_load(m->machine, m->object, &m->program, err) == LW_OK &&
           emu_alloc(m->machine, bytes, "memory", 0, &m->memory, err) == LW_OK &&
           emu_engine_functional_create(m->machine, &m->engine, err) == LW_OK;
}

/* Runs kernel @name, which reads and changes @memory. */
static bool run(struct module *m, const char *name, uint32_t blocks, uint32_t threads, uint64_t *parameters, uint8_t *memory,
                size_t bytes, struct lw_error *err)
{
    struct emu_stop stop;
    struct emu_launch launch = { .program = m->program,
                                 .kernel = emu_program_kernel(m->program, name),
                                 .grid = { blocks, 1, 1 }, .block = { threads, 1, 1 },
                                 .work_dim = 1, .params = parameters };

    parameters[0] = m->memory;
    assert_non_null(launch.kernel);
    if (emu_global_write(m->machine, m->memory, memory, bytes, err) != LW_OK ||
        emu_grid_launch(m->machine, &launch, NULL, err) != LW_OK || m->engine->ops->run(m->engine, &stop, err) != LW_OK)
        return false;
    if (stop.kind != EMU_STOP_IDLE) {
        snprintf(err->text, sizeof err->text, "stopped: %.200s%.200s", stop.hang.detail, stop.fault.detail);
        return false;
    }
    return emu_global_read(m->machine, m->memory, memory, bytes, err) == LW_OK;
}

/* ---- forms ---------------------------------------------------------------------------------- */

/* Returns the value of @bits, whose type follows from the register's kind and the form. */
static double value(const struct silicon_form *form, char kind, uint64_t bits)
{
    double d;
    float f;
    uint32_t w = (uint32_t)bits;

    switch (kind) {
    case 'g': memcpy(&d, &bits, sizeof d); return d;
    case 'f': memcpy(&f, &w, sizeof f); return f;
    default:
        if (strstr(form->text, "bf16") != NULL) {
            w <<= 16;
            memcpy(&f, &w, sizeof f);
            return f;
        }
        int exponent = (int)(w >> 10 & 31);
        double size = exponent == 31 ? (w & 1023) != 0 ? NAN : INFINITY
                                     : ldexp(exponent == 0 ? w & 1023 : (w & 1023) + 1024, exponent == 0 ? -24 : exponent - 25);

        return w & 0x8000 ? -size : size;
    }
}

/* Returns a number for a float such that the numbers of neighbouring floats differ by 1. */
static double order(char kind, uint64_t bits)
{
    unsigned width = kind == 'g' ? 64 : kind == 'f' ? 32 : 16;
    uint64_t sign = UINT64_C(1) << (width - 1), size = bits & (sign - 1);

    return bits & sign ? -(double)size : (double)size;
}

/* Returns whether the device's result @theirs differs from the emulator's result @ours by no more than the form permits. */
static bool near(const struct silicon_form *form, char kind, uint64_t ours, uint64_t theirs)
{
    double a = value(form, kind, ours), b = value(form, kind, theirs);

    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return fabs(order(kind, ours) - order(kind, theirs)) <= form->ulps || fabs(a - b) <= form->difference;
}

/* Returns whether @memory agrees with the device's result in @device. If not, describes the first difference in @why. */
static bool equal(const struct silicon_form *form, const uint8_t *memory, const char *device, char *why, size_t room)
{
    char ours[SF_HASHES * 8 + 1] = "", kind;
    unsigned offset = sf_result(form, &kind), share = SF_BYTES / SF_HASHES, wrong = 0;

    if (!form->approximate) {
        for (unsigned i = 0; i < SF_HASHES; i++)
            snprintf(ours + 8 * i, 9, "%08" PRIx32, sf_hash(memory + (size_t)i * share, share));
        snprintf(why, room, "hashes %s, the device has %.40s", ours, device);
        return strcmp(ours, device) == 0;
    }
    for (unsigned thread = 0; thread < SF_THREADS; thread++) {
        char *end;
        uint64_t theirs = strtoull(device, &end, 16), mine = 0;

        device = end;
        memcpy(&mine, memory + (size_t)thread * SF_ROW_BYTES + offset, kind == 'g' ? 8 : kind == 'f' ? 4 : 2);
        if (near(form, kind, mine, theirs))
            continue;
        if (wrong++ == 0)
            snprintf(why, room, "thread %u: %" PRIx64 ", the device has %" PRIx64, thread, mine, theirs);
    }
    return wrong == 0;
}

/* Searches @lines for the line of @form, "FORM\tRESULT\n". Copies RESULT to @result and returns it, or NULL if there is no such
 * line. */
static const char *result_of(const struct silicon_form *form, const char *lines, char *result, size_t room)
{
    size_t length = strlen(form->text);

    for (const char *at = lines; (at = strstr(at, form->text)) != NULL; at++) {
        if ((at == lines || at[-1] == '\n') && at[length] == '\t') {
            snprintf(result, room, "%.*s", (int)strcspn(at + length + 1, "\n"), at + length + 1);
            return result;
        }
    }
    return NULL;
}

static void find(const char *name, char *path, size_t room)
{
    const char *dir = getenv("srcdir");

    snprintf(path, room, "%s/tests/ptx/silicon/%s", dir != NULL ? dir : ".", name);
}

static char *read(const char *path)
{
    struct lw_error err;
    size_t size;
    char *text;

    if (lw_file_read(path, &text, &size, &err) != LW_OK)
        fail_msg("%s", err.text);
    return text;
}

/* Calls @compare for each file in devices/ with suffix @kind, or if @only is not NULL for this file alone. */
static void each_device(const char *kind, const char *only, unsigned (*compare)(const char *path))
{
    char pattern[4096], name[32];
    unsigned wrong = 0;
    glob_t files;

    snprintf(name, sizeof name, "devices/*.%s", kind);
    find(name, pattern, sizeof pattern);
    assert_int_equal(glob(only != NULL ? only : pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        wrong += compare(files.gl_pathv[i]);
    globfree(&files);
    assert_int_equal(wrong, 0);
}

/* Compares the emulator's result of each form with file @name. Returns the number of wrong forms. */
static unsigned compare_forms(const char *name)
{
    char path[4096], why[400], *lines = read(name);
    static char result[SF_THREADS * 20];
    uint8_t *memory = malloc(SF_BYTES);
    unsigned count, compared = 0, wrong = 0;
    struct silicon_form *forms;

    find("forms.txt", path, sizeof path);
    forms = sf_read(path, &count);
    assert_non_null(forms);
    for (unsigned i = 0; i < count; i++) {
        char *kernel = sf_kernel(&forms[i], "k"), *text = malloc(strlen(kernel) + strlen(sf_head()) + 1);
        struct lw_error err = { LW_OK, "" };
        uint64_t parameters[1];
        struct module m;
        bool good = true;

        strcat(strcpy(text, sf_head()), kernel);
        sf_fill(&forms[i], memory);
        if (result_of(&forms[i], lines, result, sizeof result) == NULL) {
            snprintf(why, sizeof why, "the device's results do not have it: run bench/silicon/run there");
            good = false;
        } else if (!open_module(&m, text, SF_BYTES, &err)) {
            snprintf(why, sizeof why, "%.300s", err.text);
            good = forms[i].refused;
        } else if (forms[i].refused) {
            snprintf(why, sizeof why, "the emulator has it: remove the x before the form");
            good = false;
        } else if (!run(&m, "k", 1, SF_THREADS, parameters, memory, SF_BYTES, &err)) {
            snprintf(why, sizeof why, "%.300s", err.text);
            good = false;
        } else {
            sf_canonical(&forms[i], memory);
            good = equal(&forms[i], memory, result, why, sizeof why) != forms[i].differs;
            if (forms[i].differs)
                snprintf(why, sizeof why, "the results are equal: remove the ! before the form");
        }
        compared++;
        if (!good)
            printf("%s: %s\n", forms[i].text, why);
        wrong += !good;
        close_module(&m);
        free(kernel);
        free(text);
    }
    printf("%u forms, %u differ\n", compared, wrong);
    free(memory);
    free(forms);
    free(lines);
    return wrong;
}

static void forms_have_the_results_of_devices(void **state)
{
    (void)state;
    each_device("forms", NULL, compare_forms);
}

/* ---- random kernels --------------------------------------------------------------------------- */

/* Runs random module @seed and compares the results with @line, which has a blank and a hash for each kernel. Returns the number
 * of wrong kernels. */
static unsigned random_module(uint64_t seed, const char *line)
{
    struct pm_kernel k[PM_KERNELS];
    char *text = pm_module(seed, k);
    struct lw_error err = { LW_OK, "" };
    struct module m;
    unsigned wrong = 0;

    if (!open_module(&m, text, (size_t)192 * PM_ROW_BYTES + PM_SUM_BYTES, &err))
        fail_msg("module %" PRIu64 ": %s", seed, err.text);
    for (unsigned i = 0; i < PM_KERNELS; i++) {
        uint64_t one = seed * PM_KERNELS + i, parameters[PM_PARAM_BYTES / 8] = { 0 };
        struct pm_shape shape = pm_shape(one, k[i].warp);
        uint8_t *memory = malloc(shape.bytes);
        bool differs = line[1] == '!'; /* marks a known difference, which docs/evidence/silicon.md describes */
        char *end;
        uint32_t theirs = (uint32_t)strtoull(line + 1 + differs, &end, 16);

        line = end;
        pm_parameters(parameters, one);
        pm_fill(memory, &shape, one);
        if (!run(&m, k[i].name, shape.grid, shape.block, parameters, memory, shape.bytes, &err))
            fail_msg("module %" PRIu64 ", kernel %u: %s", seed, i, err.text);
        if ((sf_hash(memory, shape.bytes) != theirs) != differs) {
            printf("module %" PRIu64 ", kernel %u: the device's memory %s\n", seed, i, differs ? "is equal" : "differs");
            wrong++;
        }
        free(memory);
        pm_free(&k[i]);
    }
    close_module(&m);
    free(text);
    return wrong;
}

static unsigned compare_random(const char *path)
{
    const char *divisor = getenv("LW_RANDOM_DIVISOR");
    unsigned each = divisor != NULL && atoi(divisor) > 1 ? (unsigned)atoi(divisor) : 1, number = 0, wrong = 0;
    char *lines = read(path), *rest = NULL;

    for (char *line = strtok_r(lines, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        char *hashes;
        uint64_t seed = strtoull(line, &hashes, 10);

        if (*line != '#' && strstr(line, "refused") == NULL && number++ % each == 0)
            wrong += random_module(seed, hashes);
    }
    free(lines);
    assert_int_not_equal(number, 0);
    return wrong;
}

/* The environment variable LW_SILICON_RANDOM can name a single file of results to use. */
static void random_kernels_have_the_results_of_devices(void **state)
{
    (void)state;
    each_device("random", getenv("LW_SILICON_RANDOM"), compare_random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_have_the_results_of_devices),
        cmocka_unit_test(random_kernels_have_the_results_of_devices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
