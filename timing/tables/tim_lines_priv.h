/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of lines of memory. A set also counts how often each line was added. */
#ifndef TIM_LINES_PRIV_H
#define TIM_LINES_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A set of lines: a hash table with open addressing. A zeroed set is empty. */
struct tim_lines {
    uint64_t *line;  /* [capacity] 1 + the number of a line; 0: free */
    uint32_t *times; /* [capacity] number of times that the line was added */
    size_t capacity, count;
};
/** Adds the line with number @line, which is below UINT64_MAX. Returns false if memory is short; the set is then unchanged. */
bool tim_lines_add(struct tim_lines *lines, uint64_t line);
/** Returns how often the line was added. */
uint32_t tim_lines_times(const struct tim_lines *lines, uint64_t line);
/** Returns the number of lines that are in both sets. */
uint64_t tim_lines_common(const struct tim_lines *a, const struct tim_lines *b);
void tim_lines_fini(struct tim_lines *lines);

#endif
