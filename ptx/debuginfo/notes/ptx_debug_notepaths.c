/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of positions in the source: where the execution paths to a statement have been last. */
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
