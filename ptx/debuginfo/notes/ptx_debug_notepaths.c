/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of positions in the source: where the execution paths to a statement have been last. Dominance of blocks. */
#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

bool ptx_note_add_position(struct ptx_note_positions *positions, struct ptx_note_position position)
{
    for (unsigned i = 0; i < positions->count; i++) {
        const struct ptx_note_position *at = &positions->at[i];

        if (at->line == position.line && at->notes == position.notes && at->left == position.left && at->back == position.back &&
            at->crossed == position.crossed && at->merges == position.merges && at->none == position.none && at->owed == position.owed)
            return false;
    }
    if (positions->count < PTX_NOTE_POSITIONS) {
        positions->at[positions->count++] = position;
        return true;
    }
    if (positions->more)
        return false;
    positions->more = true;
    return true;
}

bool ptx_note_join_positions(struct ptx_note_positions *to, const struct ptx_note_positions *from, bool back)
{
    const uint32_t pending = to->count == 0 && !to->more ? from->pending : to->pending & from->pending;
    bool changed = (from->more && !to->more) || ((from->doubted & ~to->doubted) | (from->hidden & ~to->hidden)) != 0 || pending != to->pending;

    to->pending = pending;
    to->more |= from->more;
    to->doubted |= from->doubted;
    to->hidden |= from->hidden;
    for (unsigned i = 0; i < from->count; i++) {
        struct ptx_note_position position = from->at[i];

        position.back |= back;
        position.crossed = true;
        changed |= ptx_note_add_position(to, position);
    }
    return changed;
}

bool ptx_note_dominates(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t over, uint32_t to)
{
    PTX_LIST(uint32_t) work = {0};
    uint32_t *seen;

    if (over == to || over == 0)
        return true;
    if (!ptx_spend(pl, 1 + noting->blocks.count))
        return false;
    if (noting->seen == NULL)
        noting->seen = PTX_ARRAY(pl->job, uint32_t, noting->blocks.count);
    seen = noting->seen;
    noting->generation++;
    *PTX_PUSH(pl->job, work) = 0;
    seen[0] = noting->generation;
    while (work.count != 0) {
        const struct ptx_noted_block *block = &noting->blocks.at[work.at[--work.count]];

        if (!ptx_spend(pl, 4))
            return false;
        for (size_t s = 0; s < block->succ.count; s++) {
            const uint32_t next = block->succ.at[s];

            if (next == over || seen[next] == noting->generation)
                continue;
            seen[next] = noting->generation;
            *PTX_PUSH(pl->job, work) = next;
        }
    }
    return seen[to] != noting->generation;
}
