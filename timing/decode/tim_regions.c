/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides code into regions, as the compiler of RegLess would. A region is a sequence of instructions that a warp executes
 * without a branch or barrier in between. It ends
 *
 *   - before a branch target and after a branch or barrier,
 *   - before an instruction that needs the result of a load that the region has issued, so that a warp does not hold
 *     the entries of a whole region in the operand staging unit while it waits for a load from outside the core,
 *   - before an instruction with which the region would use more registers than it may.
 *
 * Source: specification of the book on GPU architectures, section 13.
 */
#include "timing/decode/tim_static_priv.h"

#include <stdlib.h>

/** Adds the vector registers of an instruction to @set. Returns the number of registers in @set. */
static unsigned add_registers(const struct tim_static *what, struct tim_vectors *set)
{
    unsigned count = 0;

    for (unsigned k = 0; k < what->row_reads; k++)
        tim_vectors_add(set, what->row_read[k]);
    for (unsigned k = 0; k < what->row_writes; k++)
        tim_vectors_add(set, what->row_write[k]);
    for (unsigned i = 0; i < LW_COUNT_OF(set->word); i++)
        count += lw_popcount(set->word[i]);
    return count;
}

bool tim_regions_fill(struct tim_code *code, unsigned most)
{
    bool *leads = tim_code_leaders(code);

    code->region = calloc((size_t)code->count + 1, sizeof *code->region);
    if (leads == NULL || code->region == NULL) {
        free(leads);
        return false;
    }
    for (uint32_t i = 0, end; i < code->count; i = end) {
        struct tim_region region = {.first = i};
        const uint32_t strand = tim_strand_end(code, leads, i);

        unsigned count = add_registers(&code->insn[i], &region.registers);
        for (end = i + 1; end < strand; end++) {
            struct tim_vectors more = region.registers;
            const unsigned sum = add_registers(&code->insn[end], &more);

            if (sum > most && sum > count)
                break;
            region.registers = more;
            count = sum;
        }
        region.end = end;
        for (uint32_t k = i; k < end; k++)
            code->region[k] = region;
    }
    free(leads);
    return true;
}
