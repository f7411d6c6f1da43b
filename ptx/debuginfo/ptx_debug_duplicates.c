/* SPDX-License-Identifier: Apache-2.0 */
/* Debug scopes of duplicated blocks (ptx_node_split.c). Debuggers set a breakpoint on a line once in each scope with
 * code for it, so each duplicate becomes a separate scope, inside the source scope that contains the duplicate. */
#include "ptx/debuginfo/ptx_debug_priv.h"

#include <stdlib.h>

struct copied {
    uint32_t owner, copy, word;
};

static int compare_copied(const void *a, const void *b)
{
    const struct copied *x = a, *y = b;

    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->copy != y->copy)
        return x->copy < y->copy ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static void *keep(struct ptx_unit *unit, const void *list, size_t count, size_t size)
{
    void *copy = lw_arena_alloc(&unit->object->arena, count * size);

    if (copy == NULL)
        ptx_fail(unit->job, 0, LW_ENOMEM, "out of memory");
    memcpy(copy, list, count * size);
    return copy;
}

bool ptx_debug_has_duplicates(const struct ptx_unit *unit)
{
    for (size_t i = 0; i < unit->code.count; i++) {
        if (unit->module->locs.at[unit->code.at[i].loc].copy != 0)
            return true;
    }
    return false;
}

void ptx_debug_copies(struct ptx_unit *unit, uint32_t base, const uint32_t *index,
                      const uint32_t *owner, struct ptx_duplicates *of)
{
    PTX_LIST(struct copied) words = { 0 };
    PTX_LIST(struct isa_span) spans = { 0 };
    uint32_t at = 0;

    for (size_t i = 0; i < unit->code.count; i++) {
        uint32_t copy;

        if (unit->code.at[i].loc != 0)
            at = unit->code.at[i].loc;
        copy = unit->module->locs.at[at].copy;
        for (uint32_t w = index[i]; w < index[i + 1] && copy != 0; w++)
            *PTX_PUSH(unit->job, words) = (struct copied){ owner[w], copy, w };
    }
    if (words.count > 1)
        qsort(words.at, words.count, sizeof *words.at, compare_copied);
    for (size_t from = 0, end; from < words.count; from = end) {
        uint32_t scope = words.at[from].owner;
        PTX_LIST(struct ptx_copied) copies = { 0 };

        for (end = from; end < words.count && words.at[end].owner == scope;) {
            uint32_t copy = words.at[end].copy;

            spans.count = 0;
            for (; end < words.count && words.at[end].owner == scope &&
                   words.at[end].copy == copy; end++) {
                uint32_t word = base + words.at[end].word;

                if (spans.count != 0 && spans.at[spans.count - 1].to == word)
                    spans.at[spans.count - 1].to++;
                else
                    *PTX_PUSH(unit->job, spans) = (struct isa_span){ word, word + 1 };
            }
            *PTX_PUSH(unit->job, copies) = (struct ptx_copied){
                keep(unit, spans.at, spans.count, sizeof *spans.at),
                (uint32_t)spans.count
            };
        }
        of[scope] = (struct ptx_duplicates){ keep(unit, copies.at, copies.count, sizeof *copies.at),
                                         (uint32_t)copies.count };
    }
}
