/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints results of the first CUDA device:
 *
 * instructions forms FORMS.txt: hashes of the results of each form of tests/ptx/silicon/forms.txt; values of approximate ones.
 * instructions values FORMS.txt: the first register that each form writes, for each thread.
 * instructions random FIRST COUNT: a hash of the memory of each random kernel in modules of tests/ptx/eval/ptx_make.c.
 * instructions memory MODULE KERNEL: the memory after one random kernel, row by row, in hexadecimal.
 *
 * The environment variable LW_SILICON_LEVEL sets the optimisation level of the driver's compiler, 0 to 4.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "tests/ptx/eval/ptx_make.h"
#include "tests/ptx/silicon/silicon_forms.h"

enum { LOG_BYTES = 4096, LOG = 5, LOG_SIZE = 6, LEVEL = 7 }; /* options of cuModuleLoadDataEx */
enum { STACK_LIMIT = 0, STACK_BYTES = 8192 };      /* stack of a thread in bytes, for kernels that recurse; the driver's
                                                    * default is 1024 */

/* Returns the module of @text, or NULL with the messages of the driver's compiler in @log (LOG_BYTES bytes). */
static CUmodule load(const char *text, char *log)
{
    CUmodule module;
    const char *level = getenv("LW_SILICON_LEVEL");
    int options[] = { LOG, LOG_SIZE, LEVEL };
    void *values[] = { log, (void *)(uintptr_t)LOG_BYTES, (void *)(uintptr_t)(level != NULL ? strtoul(level, NULL, 10) : 4) };

    *log = 0;
    return cu.cuModuleLoadDataEx(&module, text, 3, options, values) == 0 ? module : NULL;
}

/* Copies @memory to the device, runs kernel @name, and copies the memory back. */
static void run(CUmodule module, const char *name, unsigned blocks, unsigned threads, uint64_t *parameters, uint8_t *memory,
                size_t bytes)
{
    CUdeviceptr at = parameters[0];
    CUfunction function;

    need(cu.cuMemcpyHtoD_v2(at, memory, bytes), name);
    need(cu.cuModuleGetFunction(&function, module, name), name);
    void *pointers[PM_PARAMETERS];

    for (unsigned i = 0; i < PM_PARAMETERS; i++)
        pointers[i] = (char *)parameters + pm_offsets[i];
    need(cu.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, pointers, NULL), name);
    need(cu.cuCtxSynchronize(), name);
    need(cu.cuMemcpyDtoH_v2(memory, at, bytes), name);
}

/* ---- forms --------------------------------------------------------------------------------- */

static void print_form(const struct silicon_form *form, const uint8_t *memory, bool values)
{
    static const char letters[] = "hrfdgp";
    static const unsigned sizes[] = { 2, 4, 4, 8, 8, 1 };
    char kind;
    unsigned offset = sf_result(form, &kind), share = SF_BYTES / SF_HASHES;

    printf("%s\t", form->text);
    if (!values && !form->approximate) {
        for (unsigned i = 0; i < SF_HASHES; i++)
            printf("%08" PRIx32, sf_hash(memory + (size_t)i * share, share));
    } else {
        for (unsigned thread = 0; thread < SF_THREADS; thread++) {
            uint64_t v = 0;

            memcpy(&v, memory + (size_t)thread * SF_ROW_BYTES + offset, sizes[strchr(letters, kind) - letters]);
            printf("%s%" PRIx64, thread == 0 ? "" : " ", v);
        }
    }
    printf("\n");
}

/* Runs forms @first to @end - 1 of @all as kernels of one module. Returns false if the driver's compiler refuses the module. */
static bool run_forms(const struct silicon_form *all, unsigned first, unsigned end, bool values, char *log)
{
    static uint8_t memory[SF_BYTES];
    uint64_t parameters[PM_PARAM_BYTES / 8] = { allocate(SF_BYTES) };
    char *text = calloc(1, 1 << 20), name[16], kind;

    strcpy(text, sf_head());
    for (unsigned i = first; i < end; i++) {
        snprintf(name, sizeof name, "f%u", i);
        char *kernel = sf_kernel(&all[i], name);

        strcat(text, kernel);
        free(kernel);
    }
    CUmodule module = load(text, log);

    free(text);
    for (unsigned i = first; i < end && module != NULL; i++) {
        snprintf(name, sizeof name, "f%u", i);
        sf_fill(&all[i], memory);
        run(module, name, 1, SF_THREADS, parameters, memory, SF_BYTES);
        sf_canonical(&all[i], memory);
        print_form(&all[i], memory, values && sf_result(&all[i], &kind) != 0);
    }
    need(cu.cuMemFree_v2(parameters[0]), "memory");
    if (module != NULL)
        need(cu.cuModuleUnload(module), "unload");
    return module != NULL;
}

static void forms(const char *path, bool values)
{
    enum { TOGETHER = 64 };
    unsigned count;
    struct silicon_form *all = sf_read(path, &count);
    char log[LOG_BYTES];

    if (all == NULL)
        exit(2);
    for (unsigned first = 0; first < count; first += TOGETHER) {
        unsigned end = first + TOGETHER < count ? first + TOGETHER : count;

        if (run_forms(all, first, end, values, log))
            continue;
        for (unsigned i = first; i < end; i++) { /* at least one of the forms is refused, so each form is compiled as its own
                                                  * module to find which */
            if (!run_forms(all, i, i + 1, values, log)) {
                printf("%s\trefused\n", all[i].text);
                fprintf(stderr, "%s: %s\n", all[i].text, log);
            }
        }
    }
    free(all);
}

/* ---- random kernels ------------------------------------------------------------------------ */

/* Runs the kernels of module @seed, and prints a hash for each; if @shown is not negative, runs only that kernel and prints its
 * memory. */
static void random_module(uint64_t seed, int shown)
{
    struct pm_kernel k[PM_KERNELS];
    char *text = pm_module(seed, k), log[LOG_BYTES];
    bool progress = isatty(STDERR_FILENO);

    if (progress)
        fprintf(stderr, "module %" PRIu64 "\r", seed);
    CUmodule module = load(text, log);
    uint64_t parameters[PM_PARAM_BYTES / 8];

    if (module == NULL)
        fprintf(stderr, "module %" PRIu64 ": %s\n", seed, log);
    printf("%" PRIu64, seed);
    for (unsigned i = 0; i < PM_KERNELS && module != NULL; i++) {
        uint64_t one = seed * PM_KERNELS + i;
        struct pm_shape shape = pm_shape(one, k[i].warp);
        uint8_t *memory = malloc(shape.bytes);

        pm_parameters(parameters, one);
        parameters[0] = allocate(shape.bytes);
        pm_fill(memory, &shape, one);
        if (shown < 0 || (unsigned)shown == i) {
            run(module, k[i].name, shape.grid, shape.block, parameters, memory, shape.bytes);
            if (shown < 0)
                printf(" %08" PRIx32, sf_hash(memory, shape.bytes));
            for (size_t b = 0; b < shape.bytes && shown >= 0; b++)
                printf("%s%02x", b % PM_ROW_BYTES == 0 ? "\n" : "", memory[b]);
        }
        need(cu.cuMemFree_v2(parameters[0]), "memory");
        free(memory);
    }
    printf("%s\n", module == NULL ? " refused" : "");
    if (module != NULL)
        need(cu.cuModuleUnload(module), "unload");
    for (unsigned i = 0; i < PM_KERNELS; i++)
        pm_free(&k[i]);
    free(text);
}

int main(int argc, char **argv)
{
    char name[256];
    int version;

    if (argc < 3) {
        fprintf(stderr, "usage: instructions forms|values FORMS.txt | random FIRST COUNT | memory MODULE KERNEL\n");
        return 2;
    }
    CUdevice device = driver_open();
    need(cu.cuCtxSetLimit(STACK_LIMIT, STACK_BYTES), "the stack");
    need(cu.cuDeviceGetName(name, sizeof name, device), "device 0");
    need(cu.cuDriverGetVersion(&version), "the driver");
    printf("# %s, CUDA driver %d.%d\n", name, version / 1000, version % 1000 / 10);
    if (strcmp(argv[1], "forms") == 0 || strcmp(argv[1], "values") == 0) {
        forms(argv[2], *argv[1] == 'v');
    } else if (argc == 4) {
        uint64_t first = strtoull(argv[2], NULL, 0), count = strtoull(argv[3], NULL, 0);

        if (*argv[1] == 'm')
            random_module(first, (int)count);
        for (uint64_t i = 0; i < count && *argv[1] == 'r'; i++)
            random_module(first + i, -1);
    }
    return 0;
}
