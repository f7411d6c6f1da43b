/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole state between two instructions as bytes, global memory's pages aside: of snapshots
 * (emu_history.c) and of checkpoints (emu_checkpoint.c). emu_state.def lists what is in it.
 */
#ifndef EMU_STATE_PRIV_H
#define EMU_STATE_PRIV_H

#include "emu/bytes/emu_bytes_priv.h"

struct emu_functional;
struct emu_machine;
struct emu_memory;
struct emu_block;
struct emu_spin_observer;
struct emu_text;

/* How rows of emu_state.def become lines: `p` is the structure. */
#define EMU_SAVE_PLAIN(member) emu_put_number(out, (uint64_t)p->member);
#define EMU_SAVE_CUSTOM(member)
#define EMU_SAVE_DERIVED(member)
#define EMU_SAVE_TRANSIENT(member)
#define EMU_LOAD_PLAIN(member) p->member = (__typeof__(p->member))emu_get_number(in);
#define EMU_LOAD_CUSTOM(member)
#define EMU_LOAD_DERIVED(member)
#define EMU_LOAD_TRANSIENT(member)

/** A number that stands for what the rows say: files of another build do not fit. */
uint64_t emu_state_layout(void);

void emu_state_save(const struct emu_functional *f, struct emu_bytes *out);
/**
 * Bring the machine and its engine to a saved state. Pages of global memory are the caller's.
 *
 * @trusted  the bytes are our own; else everything is checked, and LW_EFORMAT says what is wrong.
 *           On an error the machine is in no state to run.
 */
enum lw_status emu_state_load(struct emu_functional *f, struct emu_reader *in, bool trusted,
                              struct lw_error *err) LW_MUST_CHECK;

/** Rows of bytes, zeros and repeated words left out. */
void emu_put_rows(struct emu_bytes *out, const void *rows, size_t count, size_t row_bytes);
bool emu_get_rows(struct emu_reader *in, void *rows, size_t count, size_t row_bytes);

/** A begun block (emu_state_warp.c). Loading wants it as emu_core_block_start leaves it. */
void emu_block_save(const struct emu_block *block, struct emu_bytes *out);
enum lw_status emu_block_load(struct emu_block *block, struct emu_reader *in, bool trusted,
                              struct lw_error *err) LW_MUST_CHECK;

/** The table of allocations (emu_memory.c). */
void emu_memory_save(const struct emu_memory *memory, struct emu_bytes *out);
enum lw_status emu_memory_load(struct emu_machine *machine, struct emu_reader *in,
                               struct lw_error *err) LW_MUST_CHECK;
/** The observer of loops without progress (emu_spin_observer.c); @probe may be NULL, what *@probe was is
 *  destroyed. */
void emu_spin_observer_save(const struct emu_spin_observer *probe, struct emu_bytes *out);
enum lw_status emu_spin_observer_load(struct emu_machine *machine, struct emu_spin_observer **probe,
                              struct emu_reader *in, struct lw_error *err) LW_MUST_CHECK;
/** Text that waits for earlier blocks (emu_print.c). */
void emu_text_save(const struct emu_text *text, struct emu_bytes *out);
enum lw_status emu_text_load(struct emu_machine *machine, struct emu_reader *in,
                             struct lw_error *err) LW_MUST_CHECK;

enum lw_status emu_state_bad(struct lw_error *err, const char *what);

#endif
