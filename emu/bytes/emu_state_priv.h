/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole state of a machine between two instructions as bytes, except for the pages of global memory. Used by snapshots
 * (emu_history.c) and checkpoints (emu_checkpoint.c). emu_state.def lists the structures' members.
 */
#ifndef EMU_STATE_PRIV_H
#define EMU_STATE_PRIV_H

#include "emu/bytes/emu_bytes_priv.h"
#include "emu/bytes/emu_state.def"

struct emu_functional;
struct emu_machine;
struct emu_memory;
struct emu_block;
struct emu_spin_observer;
struct emu_text;

/* Writes the members of a structure that its list in emu_state.def marks as PLAIN. Example: EMU_SAVE(EMU_STATE_WARP, w, out). */
#define EMU_SAVE(LIST, from, out)                                                             \
    do {                                                                                      \
        const __typeof__(*(from)) *const from_ = (from);                                      \
        struct emu_bytes *const out_ = (out);                                                 \
        LIST(EMU_SAVE_MEMBER)                                                                 \
    } while (0)
#define EMU_LOAD(LIST, to, in)                                                                \
    do {                                                                                      \
        __typeof__(to) const to_ = (to);                                                      \
        struct emu_reader *const in_ = (in);                                                  \
        LIST(EMU_LOAD_MEMBER)                                                                 \
    } while (0)
#define EMU_SAVE_MEMBER(how, member) EMU_SAVE_##how(member)
#define EMU_SAVE_PLAIN(member) emu_put_number(out_, (uint64_t)from_->member);
#define EMU_SAVE_CUSTOM(member)
#define EMU_SAVE_DERIVED(member)
#define EMU_SAVE_TRANSIENT(member)
#define EMU_LOAD_MEMBER(how, member) EMU_LOAD_##how(member)
#define EMU_LOAD_PLAIN(member) to_->member = (__typeof__(to_->member))emu_get_number(in_);
#define EMU_LOAD_CUSTOM(member)
#define EMU_LOAD_DERIVED(member)
#define EMU_LOAD_TRANSIENT(member)

/** Returns a fingerprint of the lists in emu_state.def. A file with another fingerprint is rejected. */
uint64_t emu_state_layout(void);

void emu_state_save(const struct emu_functional *f, struct emu_bytes *out);
/**
 * Restores machine and engine from a saved state. The caller restores the pages of global memory.
 * @trusted  true: the bytes were written by this process. false: all bytes are checked. Invalid bytes give LW_EFORMAT, with a
 *           message, and the machine must not run afterwards.
 */
enum lw_status emu_state_load(struct emu_functional *f, struct emu_reader *in, bool trusted,
                              struct lw_error *err) LW_MUST_CHECK;

/** Writes byte rows, which are arrays of @row_bytes bytes; runs of byte rows that contain only zeros, or only one repeated word,
 *  are shortened. */
void emu_put_rows(struct emu_bytes *out, const void *rows, size_t count, size_t row_bytes);
/** Reads byte rows that emu_put_rows() has written. Returns false if the bytes are invalid. */
bool emu_get_rows(struct emu_reader *in, void *rows, size_t count, size_t row_bytes);

/** Writes the state of a block that has started (emu_state_warp.c). */
void emu_block_save(const struct emu_block *block, struct emu_bytes *out);
/** Reads the state of a block into @block, which emu_core_block_start() has just started. */
enum lw_status emu_block_load(struct emu_block *block, struct emu_reader *in, bool trusted,
                              struct lw_error *err) LW_MUST_CHECK;

/** Writes the table of allocations (emu_memory.c). */
void emu_memory_save(const struct emu_memory *memory, struct emu_bytes *out);
/** Reads the table of allocations. */
enum lw_status emu_memory_load(struct emu_machine *machine, struct emu_reader *in,
                               struct lw_error *err) LW_MUST_CHECK;
/** Writes the state of the spin observer (emu_spin_observer.c). @probe may be NULL. */
void emu_spin_observer_save(const struct emu_spin_observer *probe, struct emu_bytes *out);
/** Destroys *@probe, and replaces it by the spin observer that was saved, or NULL if none was saved. */
enum lw_status emu_spin_observer_load(struct emu_machine *machine, struct emu_spin_observer **probe,
                              struct emu_reader *in, struct lw_error *err) LW_MUST_CHECK;
/** Writes the printed text that is buffered until earlier blocks end (emu_print.c). */
void emu_text_save(const struct emu_text *text, struct emu_bytes *out);
/** Reads the printed text that is buffered until earlier blocks end. */
enum lw_status emu_text_load(struct emu_machine *machine, struct emu_reader *in,
                             struct lw_error *err) LW_MUST_CHECK;

enum lw_status emu_state_bad(struct lw_error *err, const char *what);

#endif
