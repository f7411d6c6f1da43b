/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables with open addressing, whose keys are numbers. */
#include "base/lw.h"

#include <stdlib.h>

void *lw_table_find(const struct lw_table *table, size_t row_bytes, uint64_t key)
{
    for (size_t i = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 20); table->capacity != 0; i++) {
        char *row = (char *)table->rows + (i & (table->capacity - 1)) * row_bytes;

        if (lw_get64(row) == key || lw_get64(row) == 0)
            return row;
    }
    return NULL;
}

void *lw_table_add(struct lw_table *table, size_t row_bytes, uint64_t key, bool *is_new)
{
    char *row = lw_table_find(table, row_bytes, key);

    *is_new = row == NULL || lw_get64(row) == 0;
    if (*is_new && 2 * (table->count + 1) > table->capacity) {
        struct lw_table larger = {.count = table->count, .capacity = table->capacity != 0 ? 2 * table->capacity : 64};

        larger.rows = calloc(larger.capacity, row_bytes);
        if (larger.rows == NULL)
            return NULL;
        for (size_t i = 0; i < table->capacity; i++) {
            row = (char *)table->rows + i * row_bytes;
            if (lw_get64(row) != 0)
                memcpy(lw_table_find(&larger, row_bytes, lw_get64(row)), row, row_bytes);
        }
        free(table->rows);
        *table = larger;
        row = lw_table_find(table, row_bytes, key);
    }
    if (*is_new) {
        lw_put64(row, key);
        table->count++;
    }
    return row;
}
