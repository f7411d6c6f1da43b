/* SPDX-License-Identifier: Apache-2.0 */
/* State that ptx_debug_noteflow.c (values on all paths) and ptx_debug_notecheck.c (comparison with the source) share. */
#ifndef PTX_DEBUG_NOTEFLOW_PRIV_H
#define PTX_DEBUG_NOTEFLOW_PRIV_H

#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

struct ptx_note_following {
    struct ptx_placing *pl;
    struct ptx_noting *noting;
    const struct ptx_noted_pieces *pieces;
    PTX_LIST(struct ptx_noted_event) events;
    uint32_t param;
    const struct ptx_noted_variable *variable;
    const struct ptx_noted_lines *lines; /* source lines with which notes are compared, or NULL if notes are not checked */
    uint32_t bytes; /* size of the variable, or 0 if it is unknown */
    uint32_t frame; /* debug entry of the function or inlined call that contains the variable */
};

enum { PTX_NOTE_UNSEEN = PTX_NONE - 1 };

/* State on a path through a block, from the block's begin on. */
struct ptx_note_walk {
    uint32_t block, *state;
    struct ptx_note_positions positions;
    struct ptx_noted_pieces *ranges; /* list to which the ranges of values are added; NULL: ranges are not needed */
    uint32_t from;                   /* first statement at which the values are valid */
    uint32_t given;                  /* bit set of the pieces that the notes of the last counted assignment gave */
    bool counted;                    /* a note was counted since the code of the current line began */
    bool outside;                    /* the path is in code of other functions, such as an inlined call */
    bool ahead;                      /* the path is in code that has moved up in a loop (is_ahead) */
    bool astray;                     /* the values are unknown in the code of an inlined call (is_astray) */
    bool earlier;                    /* the path is in code of an earlier iteration (doubt_earlier()) */
};

/** Applies a note, or a write of a register, to the values @state of all pieces. */
void ptx_note_apply(const struct ptx_note_following *f, const struct ptx_noted_event *event, uint32_t *state);
/** Adds a range of statements with the values @state to @pieces, cut to the variable's scope. */
void ptx_note_add_range(struct ptx_note_following *f, struct ptx_noted_pieces *pieces, uint32_t from, uint32_t to, const uint32_t *state);
/** Follows a block from its begin to its end, and updates the state @w (ptx_debug_notecheck.c). */
void ptx_note_walk_block(struct ptx_note_following *f, struct ptx_note_walk *w);
#endif
