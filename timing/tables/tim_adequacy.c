/* SPDX-License-Identifier: Apache-2.0 */
/* The compaction-adequacy predictor. Source: specification of the book on GPU architectures, section 11.1.4; the size of the
 * table, its mapping and the initial prediction are choices of Lanewise. */
#include "timing/tables/tim_adequacy_priv.h"

#include "isa/isa.h"

#include <stdlib.h>

bool tim_adequacy_init(struct tim_adequacy *table, unsigned rows, unsigned bits, bool adequate)
{
    const unsigned most = (1u << bits) - 1;

    *table = (struct tim_adequacy){.rows = rows, .most = most, .initial = most / 2 + adequate};
    table->row = calloc(rows, sizeof *table->row);
    return table->row != NULL;
}

void tim_adequacy_fini(struct tim_adequacy *table)
{
    free(table->row);
}

unsigned tim_adequacy_row(const struct tim_adequacy *table, uint64_t pc)
{
    return (unsigned)(pc / ISA_WORD_BYTES % table->rows);
}

bool tim_adequacy_predicts(const struct tim_adequacy *table, uint64_t pc)
{
    const struct tim_adequacy_row *row = &table->row[tim_adequacy_row(table, pc)];

    return (row->pc == pc ? row->count : table->initial) > table->most / 2;
}

bool tim_adequacy_train(struct tim_adequacy *table, uint64_t pc, bool helps)
{
    struct tim_adequacy_row *row = &table->row[tim_adequacy_row(table, pc)];
    const bool before = tim_adequacy_predicts(table, pc), replaces = row->pc != pc && row->pc != 0;

    if (row->pc != pc)
        *row = (struct tim_adequacy_row){pc, table->initial};
    if (helps && row->count < table->most)
        row->count++;
    else if (!helps && row->count > 0)
        row->count--;
    return replaces || tim_adequacy_predicts(table, pc) != before;
}
