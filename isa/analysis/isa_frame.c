/* SPDX-License-Identifier: Apache-2.0 */
/* Stack frames by the ABI (docs/reference/abi.md). A function's frame before an instruction is computed from the instructions
 * before it: by how much they have changed v2, and whether they have saved v0:1. */
#include "isa/isa_priv.h"

#include <stdlib.h>

enum { REG_RETURN = 0, REG_STACK = 2 };

/* Gets the number that an instruction adds to v2. Returns false if the instruction writes v2 in another way. */
static bool stack_change(const struct isa_insn *insn, int32_t *change)
{
    struct isa_reg_use uses[ISA_MAX_USES];
    unsigned count = isa_insn_uses(insn, uses);
    bool writes = false;

    *change = 0;
    for (unsigned i = 0; i < count; i++)
        writes = writes || (uses[i].written && uses[i].reg_class == ISA_REG_V &&
                            uses[i].first <= REG_STACK &&
                            REG_STACK < uses[i].first + uses[i].count);
    if (!writes)
        return true;
    if (insn->xkind != ISA_X_IMM || insn->a != REG_STACK || insn->a_scalar ||
        (insn->op != ISA_V_ADD_U32 && insn->op != ISA_V_SUB_U32))
        return false;
    *change = insn->op == ISA_V_ADD_U32 ? (int32_t)insn->x : (int32_t)(0 - insn->x);
    return true;
}

static bool saves_return(const struct isa_insn *insn)
{
    return (insn->op == ISA_ST_LOCAL || insn->op == ISA_ST_GENERIC) &&
           isa_x_reg(insn->x) == REG_RETURN && isa_mem_bytes(insn) == 8;
}

struct way {
    struct isa_frame frame;
    bool known;
};

/* Follows an edge of the control flow. The frame at an instruction is the frame of the first path that reaches the
 * instruction. */
static void follow(struct way *ways, uint32_t *work, uint32_t *count, uint32_t limit, uint64_t to,
                   const struct way *way)
{
    if (to >= limit || ways[to].known)
        return;
    ways[to] = *way;
    work[(*count)++] = (uint32_t)to;
}

bool isa_function_frame(const struct isa_object *object, const struct isa_function *function, uint32_t index,
                        struct isa_frame *out)
{
    const uint32_t want = index - function->first;
    struct way *ways = calloc((size_t)function->count + 1, sizeof *ways);
    uint32_t *work = calloc((size_t)function->count + 1, sizeof *work), count = 0;
    bool found = false;

    if (ways != NULL && work != NULL && want < function->count) {
        const struct way start = {.known = true};

        follow(ways, work, &count, function->count, 0, &start);
        while (count != 0 && !ways[want].known) {
            const uint32_t at = work[--count];
            struct way way = ways[at];
            struct isa_insn insn;
            int32_t change;
            int64_t target;

            if (!isa_insn_decode(object->text[function->first + at], &insn) || !stack_change(&insn, &change))
                continue;
            way.frame.added += change;
            way.frame.saved = way.frame.saved || saves_return(&insn);
            if (isa_insn_jumps(&insn, at, &target))
                follow(ways, work, &count, function->count, (uint64_t)target, &way);
            if (!isa_insn_ends(&insn))
                follow(ways, work, &count, function->count, (uint64_t)at + 1, &way);
        }
        found = ways[want].known;
        *out = ways[want].frame;
    }
    free(ways);
    free(work);
    return found;
}
