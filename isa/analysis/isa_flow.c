/* SPDX-License-Identifier: Apache-2.0 */
/* The control flow graph of a function: its basic blocks and their successors. */
#include <stdlib.h>

#include "isa/isa_priv.h"

void isa_flow_fini(struct isa_flow *flow)
{
    free(flow->block);
    free(flow->block_at);
    *flow = (struct isa_flow){ 0 };
}

bool isa_flow_find(const struct isa_insn *insn, uint32_t count, struct isa_flow *out)
{
    struct isa_flow flow = { .block_at = calloc((size_t)count + 1, sizeof *flow.block_at) };
    uint32_t blocks = 0;
    int64_t to;

    if (flow.block_at == NULL)
        return false;
    flow.block_at[0] = 1;
    for (uint32_t i = 0; i < count; i++) {
        bool jumps = isa_insn_jumps(&insn[i], i, &to);

        if (!jumps && !isa_insn_ends(&insn[i]))
            continue;
        flow.block_at[i + 1] = 1;
        if (jumps && to >= 0 && to < count)
            flow.block_at[to] = 1;
    }
    for (uint32_t i = 0; i < count; i++)
        blocks += flow.block_at[i] != 0;
    flow.block = calloc(blocks, sizeof *flow.block);
    if (flow.block == NULL) {
        free(flow.block_at);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (flow.block_at[i] != 0) {
            flow.block[flow.count++].first = i;
            flow.block_at[i] = flow.count;
        }
        flow.block[flow.count - 1].count++;
    }
    for (uint32_t b = 0; b < flow.count; b++) {
        struct isa_block *block = &flow.block[b];
        uint32_t last = block->first + block->count - 1;

        block->next[0] = !isa_insn_ends(&insn[last]) && b + 1 < flow.count ? b + 1 : ISA_NO_BLOCK;
        block->next[1] = isa_insn_jumps(&insn[last], last, &to) && to >= 0 && to < count
                             ? flow.block_at[to] - 1 : ISA_NO_BLOCK;
    }
    *out = flow;
    return true;
}
