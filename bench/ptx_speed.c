/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures time and memory of the translation of PTX: `make bench/ptx_speed`, then
 *
 *     bench/ptx_speed [SHAPE...]          translates generated modules, in sizes 1, 2, 4 ...
 *     bench/ptx_speed FILE.ptx...         translates these files
 *
 * Each module is translated three times, each time in a new process. For each module the program prints the number of
 * virtual registers of the largest function, the size of the text, the median CPU time, the text translated per second,
 * and the increase of the process's memory in the median run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ptx/ptx.h"

enum { REPEATS = 3 };

static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
#define ENTRY                                                                                \
    ".visible .entry k%u(.param .u64 out, .param .u32 n)\n{\n.reg .pred %%p<%u>;\n"          \
    ".reg .b32 %%r<%u>;\n.reg .f32 %%f<%u>;\n.reg .b64 %%rd<%u>;\n"                          \
    "ld.param.u64 %%rd0, [out];\nld.param.u32 %%r1, [n];\nmov.u32 %%r0, %%tid.x;\n"          \
    "mul.wide.u32 %%rd1, %%r0, 4;\nadd.s64 %%rd1, %%rd0, %%rd1;\n"

/* ---- shapes: functions that write a module with about @size registers to @s ------ */

/* Many kernels of 60 registers each. */
static void kernels(struct lw_sink *s, unsigned size)
{
    for (unsigned k = 0; k < size / 60; k++) {
        lw_printf(s, ENTRY, k, 4u, 64u, 64u, 4u);
        for (unsigned i = 2; i < 32; i++)
            lw_printf(s, "mad.lo.s32 \t%%r%u, %%r%u, %u, %%r%u;\n", i, i - 1, i * 7, i - 2);
        lw_put(s, "setp.lt.u32 %p1, %r0, 17;\n@%p1 bra L;\n");
        for (unsigned i = 32; i < 60; i++)
            lw_printf(s, "xor.b32 \t%%r%u, %%r%u, %%r%u;\n", i, i - 1, i - 30);
        lw_put(s, "st.global.u32 [%rd1], %r59;\nL:\nst.global.u32 [%rd1+4], %r31;\nret;\n}\n");
    }
}

/* Straight-line code like that of an unrolled loop: loads, sums that are live to the end, and products that are dead earlier. */
static void line(struct lw_sink *s, unsigned size)
{
    lw_printf(s, ENTRY, 0u, 2u, 2u, size + 16, 2u);
    for (unsigned i = 0; i < 16; i++)
        lw_printf(s, "mov.f32 \t%%f%u, 0f00000000;\n", i);
    for (unsigned i = 16; i + 2 < size; i += 3)
        lw_printf(s, "ld.global.f32 \t%%f%u, [%%rd1+%u];\nmul.f32 \t%%f%u, %%f%u, %%f%u;\n"
                     "fma.rn.f32 \t%%f%u, %%f%u, %%f%u, %%f%u;\n",
                  i, i * 4 % 65536, i + 1, i, i > 60 ? i - 45 : 1, i + 2, i + 1, i,
                  i >= 64 ? i + 2 - 48 : i % 16);
    lw_printf(s, "st.global.f32 [%%rd1], %%f%u;\nret;\n}\n", (size - 3) / 3 * 3 - 1);
}

/* Branches and small loops one after the other, all divergent. */
static void blocks(struct lw_sink *s, unsigned size)
{
    unsigned n = size / 12;

    lw_printf(s, ENTRY, 0u, n * 3 + 4, n * 9 + 16, 2u, 2u);
    lw_put(s, "mov.u32 %r2, 1;\n");
    for (unsigned i = 0; i < n; i++) {
        unsigned r = 3 + i * 9, p = 1 + i * 3, was = i == 0 ? 2 : r - 1;

        lw_printf(s, "and.b32 \t%%r%u, %%r%u, 7;\nsetp.eq.s32 \t%%p%u, %%r%u, %u;\n"
                     "mov.u32 \t%%r%u, %%r%u;\n@%%p%u bra \t$I%u;\n"
                     "add.s32 \t%%r%u, %%r%u, %%r0;\nmov.u32 \t%%r%u, %%r%u;\n$I%u:\n",
                  r, was, p, r, i % 8, r + 8, was, p, i, r + 1, was, r + 8, r + 1, i);
        lw_printf(s, "and.b32 \t%%r%u, %%r0, 3;\n$L%u:\nmad.lo.s32 \t%%r%u, %%r%u, 3, %%r%u;\n"
                     "add.s32 \t%%r%u, %%r%u, -1;\nsetp.gt.s32 \t%%p%u, %%r%u, 0;\n@%%p%u bra \t$L%u;\n",
                  r + 2, i, r + 8, r + 8, r + 2, r + 2, r + 2, p + 1, r + 2, p + 1, i);
    }
    lw_printf(s, "st.global.u32 [%%rd1], %%r%u;\nret;\n}\n", 3 + (n - 1) * 9 + 8);
}

/* Values that are all live at the same time, more than there are registers. */
static void live(struct lw_sink *s, unsigned size)
{
    unsigned n = size / 2;

    lw_printf(s, ENTRY, 0u, 2u, n * 2 + 8, 2u, 2u);
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "ld.global.u32 \t%%r%u, [%%rd1+%u];\n", 2 + i, i * 4);
    lw_printf(s, "mov.u32 \t%%r%u, 0;\n", 2 + n);
    for (unsigned i = 0; i < n; i++)
        lw_printf(s, "add.s32 \t%%r%u, %%r%u, %%r%u;\n", 3 + n + i, 2 + n + i, 2 + n - 1 - i);
    lw_printf(s, "st.global.u32 [%%rd1], %%r%u;\nret;\n}\n", 2 + n + n);
}

/* A chain of functions, each of which calls an earlier one. */
static void calls(struct lw_sink *s, unsigned size)
{
    unsigned n = size / 20;

    for (unsigned f = 0; f < n; f++) {
        lw_printf(s, ".func (.param .b32 q) f%u (.param .b32 a)\n{\n.reg .b32 %%r<20>;\n"
                     "ld.param.b32 %%r1, [a];\n", f);
        for (unsigned i = 2; i < 16; i++)
            lw_printf(s, "add.s32 \t%%r%u, %%r%u, %%r1;\n", i, i - 1);
        if (f != 0)
            lw_printf(s, "{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %%r15;\n"
                         "call.uni (y), f%u, (x);\nld.param.b32 %%r16, [y];\n}\n", f / 2);
        lw_printf(s, "st.param.b32 [q], %%r%u;\nret;\n}\n", f != 0 ? 16u : 15u);
    }
    lw_printf(s, ENTRY "{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %%r0;\n"
                 "call.uni (y), f%u, (x);\nld.param.b32 %%r2, [y];\n}\n"
                 "st.global.u32 [%%rd1], %%r2;\nret;\n}\n", 0u, 2u, 4u, 2u, 2u, n - 1);
}

static const struct {
    const char *name;
    void (*make)(struct lw_sink *s, unsigned size);
    unsigned first, last;
} shapes[] = {
    { "kernels", kernels, 3125, 50000 }, { "line", line, 3125, 50000 },
    { "blocks", blocks, 3125, 50000 },   { "live", live, 1562, 25000 },
    { "calls", calls, 3125, 50000 },
};

/* ---- measuring ------------------------------------------------------------------- */

struct figures {
    double seconds, mib;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double most_memory(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static bool once(const char *name, const char *text, size_t size, struct figures *out)
{
    int ends[2], status;
    bool ok;

    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    pid_t child = fork();

    if (child == 0) {
        struct isa_object *object = NULL;
        struct figures mine = { .mib = most_memory() };
        struct lw_error err;
        double start = now();

        if (ptx_translate(name, text, size, NULL, &object, &err) != LW_OK) {
            fprintf(stderr, "%s\n", err.text);
            _exit(1);
        }
        mine.seconds = now() - start;
        mine.mib = most_memory() - mine.mib;
        _exit(write(ends[1], &mine, sizeof mine) != (ssize_t)sizeof mine);
    }
    close(ends[1]);
    ok = child > 0 && read(ends[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(ends[0]);
    return waitpid(child, &status, 0) == child && ok && status == 0;
}

static bool measure(const char *name, unsigned registers, const char *text, size_t size)
{
    struct figures f[REPEATS], t;

    for (unsigned i = 0; i < REPEATS; i++) {
        if (!once(name, text, size, &f[i]))
            return false;
        for (unsigned k = i; k > 0 && f[k].seconds < f[k - 1].seconds; k--) {
            t = f[k];
            f[k] = f[k - 1];
            f[k - 1] = t;
        }
    }
    printf("%-10s %7u registers %8.1f KB  %8.2f ms  %6.2f MB/s  %7.1f MiB, %.1f a byte\n", name,
           registers, (double)size / 1e3, f[REPEATS / 2].seconds * 1e3,
           (double)size / 1e6 / f[REPEATS / 2].seconds, f[REPEATS / 2].mib,
           f[REPEATS / 2].mib * 1048576 / (double)size);
    return true;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return true;
    }
    return argc < 2;
}

int main(int argc, char **argv)
{
    bool ok = true;

    for (unsigned i = 0; i < LW_COUNT_OF(shapes); i++) {
        for (unsigned n = shapes[i].first; n <= shapes[i].last && ok; n *= 2) {
            struct lw_buffer text;

            if (!is_wanted(shapes[i].name, argc, argv))
                break;
            lw_buffer_init(&text);
            lw_put(&text.sink, head);
            shapes[i].make(&text.sink, n);
            ok = measure(shapes[i].name, n, text.text, text.size);
            lw_buffer_fini(&text);
        }
    }
    for (int i = 1; i < argc; i++) {
        size_t n = strlen(argv[i]), size;
        struct lw_error err;
        char *text;

        if (n < 5 || strcmp(argv[i] + n - 4, ".ptx") != 0)
            continue;
        if (lw_file_read(argv[i], &text, &size, &err) != LW_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        ok = measure(argv[i], 0, text, size) && ok;
        free(text);
    }
    return ok ? 0 : 1;
}
