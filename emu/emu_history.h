/* SPDX-License-Identifier: Apache-2.0 */
/* Schedule logs, replay, history and checkpoints: part of the public interface. */
#ifndef EMU_HISTORY_H
#define EMU_HISTORY_H

#include "emu/emu_engine.h"

/* ---- schedule log and replay (docs/reference/history-files.md) ----------------------------------------- */

/** A schedule log holds the order of execution, and the host steps and debugger edits between the instructions. From this
 *  data, a replay repeats the run exactly. While a log is attached to a machine, emu records host steps, edits, starts and
 *  ends of blocks, steps of warps that an engine chooses, and non-deterministic inputs. Instructions in the functional
 *  engine's fixed order are recorded only as an instruction count, so the log of a plain run takes a few bytes. */
struct emu_log;
/** Creates an empty log, which records the execution of @machine from now on. A log that is to be saved must be
 *  created before programs are loaded. Errors: LW_ESTATE when the machine already has a log. */
enum lw_status emu_log_create(struct emu_machine *machine, struct emu_log **out,
                              struct lw_error *err) LW_MUST_CHECK;
/** Copies the options on which results depend from a saved log, of @size bytes at @data, to @config, so that a machine with these
 *  options can replay the log. @name appears in messages. Errors: LW_EFORMAT; LW_EUNSUPP, another version. */
enum lw_status emu_log_config(const char *name, const void *data, size_t size, struct emu_config *config,
                              struct lw_error *err) LW_MUST_CHECK;
/** Opens a saved log: @size bytes at @data; @name appears in messages. The log is then replayed by emu_engine_replay_create on a
 *  machine that has no programs and launches. The host repeats the steps that it made when the log was recorded; a step that
 *  differs fails with LW_EINPUT and a message. Errors: LW_EFORMAT; LW_EUNSUPP, another version; LW_EINPUT, other options. */
enum lw_status emu_log_open(struct emu_machine *machine, const char *name, const void *data,
                            size_t size, struct emu_log **out, struct lw_error *err)
    LW_MUST_CHECK;
/** Detaches a log from its machine and frees the log. The machine may already be destroyed. */
void emu_log_destroy(struct emu_log *log);
/** Writes the log to a file; must be called before the engine is destroyed. */
enum lw_status emu_log_save(struct emu_log *log, const char *path, struct lw_error *err)
    LW_MUST_CHECK;
/** Checks that a replay has ended at the end of the log. Errors: LW_EINPUT. */
enum lw_status emu_log_finish(const struct emu_log *log, struct lw_error *err) LW_MUST_CHECK;
/** Creates an engine that executes the machine's log and, after the end of the log, the fixed order. Errors: LW_ESTATE
 *  when the machine has no log. */
enum lw_status emu_engine_replay_create(struct emu_machine *machine, struct emu_engine **out,
                                        struct lw_error *err) LW_MUST_CHECK;

/* ---- history (docs/explanation/history.md) -------------------------------------------------------------- */

struct emu_history;
struct emu_history_options {
    uint64_t budget_bytes; /* memory for snapshots and the log; 0: 256 MiB */
    /* number of warp instructions between snapshots; 0: chosen so that snapshots take about 2 % of the time */
    uint64_t interval;
    /** Saves the host's own state (its position in its steps) to a heap block. `save_host` may be NULL. save_host is called only
     *  if the host has made steps since the last call. Returns false if there is no memory. */
    bool (*save_host)(void *context, void **data, size_t *size);
    /** Restores the state that save_host saved, and drops the host's later steps. */
    void (*load_host)(void *context, const void *data, size_t size);
    /** Called when an edit in the past has dropped the later history. `forgotten` may be NULL. */
    void (*forgotten)(void *context);
    void *context;
};
/**
 * Starts recording history: snapshots, and a schedule log of the execution of @engine from now on. The log is the machine's log
 * or, if the machine has no log, a new one. While the machine is in the past, the engine replays the recording: run, step and
 * step_warp follow the log up to its end, and text that was printed before is not printed again. An edit in the past drops the
 * later history. The history must be destroyed before engine and machine.
 *
 * Errors: LW_EUNSUPP when the engine does not support history.
 */
enum lw_status emu_history_create(struct emu_engine *engine,
                                  const struct emu_history_options *options,
                                  struct emu_history **out, struct lw_error *err) LW_MUST_CHECK;
void emu_history_destroy(struct emu_history *history);
/** Moves the machine to the state after @instructions retired warp instructions, including all host steps before the
 *  next instruction; UINT64_MAX: to the end of history. Nothing is printed; observers and breakpoints are ignored.
 *  Errors: LW_ERANGE, with the reason, for a count outside the recorded range. */
enum lw_status emu_history_goto(struct emu_history *history, uint64_t instructions,
                                struct lw_error *err) LW_MUST_CHECK;
struct emu_history_info {
    bool kept;    /* false: recording has ended, for the reason in `why` */
    bool in_past;
    uint64_t earliest, now, latest; /* instruction counts */
    unsigned snapshots;
    uint64_t bytes, budget_bytes;
    const char *why; /* why recording has ended, or why the recorded range does not begin at the creation of the history;
                      * otherwise "" */
};
void emu_history_info(const struct emu_history *history, struct emu_history_info *out);
/** Moves the machine to instruction count @from, and replays the history up to count @to. Instructions are reported only to
 *  @observer, which stops the replay by returning true. */
enum lw_status emu_history_walk(struct emu_history *history, uint64_t from, uint64_t to,
                                struct emu_observer *observer, struct lw_error *err)
    LW_MUST_CHECK;

/* ---- checkpoints (docs/reference/history-files.md) ------------------------------------------------------- */

/** Saves the state of @engine and its machine, and @host_bytes of the host's own state, to a file. An error leaves no partial
 *  file. Errors: LW_EUNSUPP; LW_ESTATE if the engine is running on threads; LW_EIO. */
enum lw_status emu_checkpoint_save(struct emu_engine *engine, const void *host, size_t host_bytes,
                                   const char *path, struct lw_error *err) LW_MUST_CHECK;
/** Copies the options on which results depend from a checkpoint, of @size bytes at @data, to @config. @name appears in messages.
 *  Errors: LW_EFORMAT; LW_EUNSUPP, another version. */
enum lw_status emu_checkpoint_config(const char *name, const void *data, size_t size, struct emu_config *config,
                                     struct lw_error *err) LW_MUST_CHECK;
/**
 * Restores a saved state on a machine on which the same programs are loaded and nothing was launched. The data need not be
 * trustworthy: every value is checked. After an error the machine is unusable.
 * @host  the host's own bytes, borrowed from @data
 * Errors: LW_EFORMAT; LW_EUNSUPP, another version; LW_EINPUT, other programs or options.
 */
enum lw_status emu_checkpoint_load(struct emu_engine *engine, const char *name, const void *data,
                                   size_t size, const void **host, size_t *host_bytes,
                                   struct lw_error *err) LW_MUST_CHECK;

#endif
