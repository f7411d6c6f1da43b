/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule logs, replay, history and checkpoints: part of the public interface. */
#ifndef EMU_HISTORY_H
#define EMU_HISTORY_H

#include "emu/emu_engine.h"

/* ---- schedule log and replay (docs/reference/history-files.md) ----------------------------------------- */

/**
 * What ran in which order, and what the host and a debugger did in between: enough to repeat the run
 * exactly. While a log is attached to a machine, emu records host steps, edits, blocks that an engine
 * starts and frees, steps of its warps, its non-deterministic inputs. The functional engine's fixed order is
 * recorded as such, so a plain run takes a few bytes.
 */
struct emu_log;
/** An empty log of what @machine does from now on; created before programs are loaded if it is
 *  to be saved. Errors: LW_ESTATE when the machine has one already. */
enum lw_status emu_log_create(struct emu_machine *machine, struct emu_log **out,
                              struct lw_error *err) LW_MUST_CHECK;
/** A saved log (@size bytes at @data; @name in messages), to be replayed by
 *  emu_engine_replay_create on a machine that is still empty. The host does its steps again,
 *  as when the log was made; a step that differs gets LW_EINPUT with a message.
 *  Errors: LW_EFORMAT, LW_EUNSUPP (version), LW_EINPUT (other options). */
enum lw_status emu_log_open(struct emu_machine *machine, const char *name, const void *data,
                            size_t size, struct emu_log **out, struct lw_error *err)
    LW_MUST_CHECK;
/** Detach and free. The machine may be gone already. */
void emu_log_destroy(struct emu_log *log);
/** Writes the log to a file; to be called before the engine is destroyed. */
enum lw_status emu_log_save(struct emu_log *log, const char *path, struct lw_error *err)
    LW_MUST_CHECK;
/** Did a replay end where the log ends? Errors: LW_EINPUT. */
enum lw_status emu_log_finish(const struct emu_log *log, struct lw_error *err) LW_MUST_CHECK;
/** An engine that runs what the machine's log says, and after its end the fixed order.
 *  Errors: LW_ESTATE when the machine has no log. */
enum lw_status emu_engine_replay_create(struct emu_machine *machine, struct emu_engine **out,
                                        struct lw_error *err) LW_MUST_CHECK;

/* ---- history (docs/explanation/history.md) -------------------------------------------------------------- */

struct emu_history;
struct emu_history_options {
    uint64_t budget_bytes; /* for snapshots and the log; 0: 256 MiB */
    uint64_t interval;     /* warp instructions between snapshots; 0: they take about 2 % of the time */
    /** The host's own state (where it is in its steps): a heap block. May be NULL. Called when
     *  the host has taken steps since the last call. False: no memory. */
    bool (*save_host)(void *context, void **data, size_t *size);
    /** Restores that state: what the host did later is forgotten. */
    void (*load_host)(void *context, const void *data, size_t size);
    /** The past was edited: the later history is gone. May be NULL. */
    void (*forgotten)(void *context);
    void *context;
};
/**
 * Keep snapshots and a schedule log (the machine's, or one of its own) of what @engine does from
 * now on, and be able to go back. While the machine is in the past, the engine replays what
 * was recorded: run, step and step_warp follow the log up to its end, and print nothing again.
 * An edit there forgets the later history. Destroy it before engine and machine.
 * Errors: LW_EUNSUPP when the engine keeps none.
 */
enum lw_status emu_history_create(struct emu_engine *engine,
                                  const struct emu_history_options *options,
                                  struct emu_history **out, struct lw_error *err) LW_MUST_CHECK;
void emu_history_destroy(struct emu_history *history);
/** Go to where @instructions warp instructions have been retired and what was done then, before
 *  the next, is done; UINT64_MAX: to the end of history. Nothing is printed; observers and
 *  breakpoints are ignored. Errors: LW_ERANGE, with the reason, when that is out of reach. */
enum lw_status emu_history_goto(struct emu_history *history, uint64_t instructions,
                                struct lw_error *err) LW_MUST_CHECK;
struct emu_history_info {
    bool kept;    /* false: it has ended, see why */
    bool in_past;
    uint64_t earliest, now, latest; /* instructions */
    unsigned snapshots;
    uint64_t bytes, budget_bytes;
    const char *why; /* why nothing earlier is kept; "" if history begins where it was created */
};
void emu_history_info(const struct emu_history *history, struct emu_history_info *out);
/** Go to @from and from there to @to, reporting every instruction to @observer alone; it stops
 *  the walk by returning true. */
enum lw_status emu_history_walk(struct emu_history *history, uint64_t from, uint64_t to,
                                struct emu_observer *observer, struct lw_error *err)
    LW_MUST_CHECK;

/* ---- checkpoints (docs/reference/history-files.md) ------------------------------------------------------- */

/** The state of @engine and its machine as a file, all or nothing; with @host_bytes of the
 *  host's own. Errors: LW_EUNSUPP, LW_ESTATE (running on threads), LW_EIO. */
enum lw_status emu_checkpoint_save(struct emu_engine *engine, const void *host, size_t host_bytes,
                                   const char *path, struct lw_error *err) LW_MUST_CHECK;
/**
 * Bring a machine on which the same programs are loaded, and nothing was launched, to a saved
 * state. The bytes may be hostile: everything is checked. On an error the machine is of no use.
 *
 * @host  the host's own bytes, borrowed from @data
 * Errors: LW_EFORMAT; LW_EUNSUPP, another version; LW_EINPUT, other programs or options.
 */
enum lw_status emu_checkpoint_load(struct emu_engine *engine, const char *name, const void *data,
                                   size_t size, const void **host, size_t *host_bytes,
                                   struct lw_error *err) LW_MUST_CHECK;

#endif
