/* SPDX-License-Identifier: Apache-2.0 */
#include "timing/tables/tim_lines_priv.h"

#include <stdlib.h>

static size_t entry_of(const struct tim_lines *lines, uint64_t line)
{
    size_t i = (size_t)((line * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (lines->capacity - 1);

    while (lines->line[i] != 0 && lines->line[i] != line + 1)
        i = (i + 1) & (lines->capacity - 1);
    return i;
}

static bool grow(struct tim_lines *lines)
{
    struct tim_lines larger = {.capacity = lines->capacity == 0 ? 64 : 2 * lines->capacity, .count = lines->count};

    larger.line = calloc(larger.capacity, sizeof *larger.line);
    larger.times = calloc(larger.capacity, sizeof *larger.times);
    if (larger.line == NULL || larger.times == NULL) {
        tim_lines_fini(&larger);
        return false;
    }
    for (size_t i = 0; i < lines->capacity; i++) {
        if (lines->line[i] == 0)
            continue;
        const size_t at = entry_of(&larger, lines->line[i] - 1);
        larger.line[at] = lines->line[i];
        larger.times[at] = lines->times[i];
    }
    tim_lines_fini(lines);
    *lines = larger;
    return true;
}

bool tim_lines_add(struct tim_lines *lines, uint64_t line)
{
    if (2 * lines->count >= lines->capacity && !grow(lines))
        return false;
    const size_t at = entry_of(lines, line);
    lines->count += lines->line[at] == 0;
    lines->line[at] = line + 1;
    lines->times[at]++;
    return true;
}

uint32_t tim_lines_times(const struct tim_lines *lines, uint64_t line)
{
    const size_t at = lines->capacity == 0 ? 0 : entry_of(lines, line);

    return lines->capacity == 0 || lines->line[at] == 0 ? 0 : lines->times[at];
}

uint64_t tim_lines_common(const struct tim_lines *a, const struct tim_lines *b)
{
    const struct tim_lines *few = a->count < b->count ? a : b, *many = few == a ? b : a;
    uint64_t sum = 0;

    for (size_t i = 0; i < few->capacity; i++)
        sum += few->line[i] != 0 && tim_lines_times(many, few->line[i] - 1) != 0;
    return sum;
}

void tim_lines_fini(struct tim_lines *lines)
{
    free(lines->line);
    free(lines->times);
    *lines = (struct tim_lines){0};
}
