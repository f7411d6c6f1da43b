/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA kernel from a C program, on a machine without a GPU:
 *
 *     cc saxpy.c $(pkg-config --cflags --libs lanewise) -o saxpy && ./saxpy
 *
 * ./saxpy volta counts the cycles of the GPU model volta. ./saxpy check makes the buffer y one element too short, and prints
 * the finding of the check.
 */
#include <lanewise.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, BLOCK = 128 };

static const char source[] =
    "__global__ void saxpy(int n, float a, const float *x, float *y)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        y[i] = a * x[i] + y[i];\n"
    "}\n";

static void check(lanewise_machine *gpu, int result)
{
    if (result == LANEWISE_OK)
        return;
    fprintf(stderr, "saxpy: %s\n", lanewise_error(gpu));
    lanewise_destroy(gpu);
    exit(result);
}

/* Prints the findings, one on each line. Returns 1 if there are any, else 0. */
static int report(lanewise_machine *gpu)
{
    unsigned count = lanewise_finding_count(gpu);
    lanewise_finding f;
    char kernel[200];

    for (unsigned i = 0; i < count; i++) {
        check(gpu, lanewise_finding_get(gpu, i, &f, sizeof f));
        lanewise_plain_name(f.location.kernel, kernel, sizeof kernel);
        printf("%s:%u: %s in %s, block (%u,%u,%u): %s\n", f.location.file, (unsigned)f.location.line, f.kind,
               kernel, (unsigned)f.location.block[0], (unsigned)f.location.block[1], (unsigned)f.location.block[2], f.message);
    }
    return count != 0;
}

int main(int argc, char **argv)
{
    static float x[N], y[N];
    lanewise_machine *gpu = lanewise_create();
    lanewise_module *module;
    lanewise_kernel *saxpy;
    uint64_t gx, gy, count;
    int n = N, wrong = 0;
    float a = 2;
    int checks = argc > 1 && strcmp(argv[1], "check") == 0;
    size_t y_bytes = checks ? sizeof y - sizeof *y : sizeof y;

    if (gpu == NULL)
        return 2;
    if (checks)
        check(gpu, lanewise_set(gpu, "check", "memory,races"));
    else if (argc > 1)
        check(gpu, lanewise_set(gpu, "timing", argv[1]));
    check(gpu, lanewise_load_text(gpu, "saxpy.cu", source, strlen(source), NULL, &module));
    saxpy = lanewise_kernel_find(module, "saxpy");
    check(gpu, saxpy != NULL ? LANEWISE_OK : LANEWISE_ERROR);

    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    check(gpu, lanewise_alloc(gpu, sizeof x, "x", &gx));
    check(gpu, lanewise_alloc(gpu, y_bytes, "y", &gy));
    check(gpu, lanewise_write(gpu, gx, x, sizeof x));
    check(gpu, lanewise_write(gpu, gy, y, y_bytes));

    const void *arguments[] = {&n, &a, &gx, &gy};
    const uint32_t grid[3] = {(N + BLOCK - 1) / BLOCK, 1, 1}, block[3] = {BLOCK, 1, 1};
    check(gpu, lanewise_launch(gpu, saxpy, grid, block, 0, arguments));
    int result = lanewise_wait(gpu);
    if (result == LANEWISE_FINDING) {
        wrong = report(gpu);
        lanewise_destroy(gpu);
        return wrong;
    }
    check(gpu, result);

    check(gpu, lanewise_read(gpu, gy, y, sizeof y));
    for (int i = 0; i < N; i++)
        wrong += y[i] != 2 * (float)i + 1;
    check(gpu, lanewise_statistic(gpu, argc > 1 ? "cycles" : "thread_instructions", &count));
    printf("saxpy: %d of %d elements are wrong; %llu %s\n", wrong, N, (unsigned long long)count,
           argc > 1 ? "cycles" : "thread instructions");
    lanewise_destroy(gpu);
    return wrong != 0;
}
