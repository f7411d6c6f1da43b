/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal to emu/: the schedule log. emu_log.c encodes its entries as bytes, emu_log_file.c writes and reads it as a file, and
 * emu_replay.c replays it.
 *
 * The first byte of an entry holds its kind and flags; the numbers of the entry follow. A block's number is written as the
 * difference to the block's number in the preceding entry, so a log can only be read from its start, or from a cursor that was
 * saved earlier.
 */
#ifndef EMU_LOG_PRIV_H
#define EMU_LOG_PRIV_H

#include "emu/bytes/emu_bytes_priv.h"
#include "emu/emu_machine_priv.h"

enum emu_log_kind {
    /* entries for execution in the fixed order */
    EMU_LOG_RUN = 1, /* the engine executed `count` instructions */
    EMU_LOG_PASS,    /* the engine executed `count` steps in which lanes arrived or waited, and no instruction retired */
    EMU_LOG_COMMIT,  /* the engine selected the warp and split that run next */
    /* entries for execution outside the fixed order; they name a block and warp in emu_log_entry.place */
    EMU_LOG_LOOK,    /* between time slices of single warps, the engine checked for a livelock or, if `which` is 1, for blocks
                      * that can become resident in addition to a suspended block */
    EMU_LOG_STEP,    /* `count` steps of place.split for the lanes place.lanes (0: all lanes of the split) */
    EMU_LOG_SLICE,    /* `count` instructions of a warp whose splits were selected by the policy, then `value` steps in which no
                       * instruction retired */
    EMU_LOG_SELECT,  /* a split was selected for the time slice; if `which` is 1, the split that has the time slice was merged with
                      * splits at its pc */
    EMU_LOG_BEGIN,   /* an engine that places blocks itself started a block */
    EMU_LOG_END,     /* an engine that places blocks itself freed a block */
    EMU_LOG_NONDET,  /* a non-deterministic input of the next step: its kind is `which`, its value is `value` */
    /* entries for edits by a debugger; place and place.split name the lane */
    EMU_LOG_REGISTER, /* which: register class; address: register number; value */
    EMU_LOG_PC,       /* value: the new pc */
    EMU_LOG_MEMORY,   /* address; bytes: the new contents */
    /* entries for host steps */
    EMU_LOG_HOST, /* in the file, the kind of every host step; the flags in its first byte are the kind in enum emu_log_host */
    EMU_LOG_STOP = 15 /* end of the log; `count` instructions had retired */
};
enum emu_log_host {
    EMU_LOG_PROGRAM = 16, /* value: fingerprint of the loaded program */
    EMU_LOG_LAUNCH,       /* bytes: the launch, as written by emu_log_launch_put */
    EMU_LOG_ALLOC,        /* address; value: size in bytes; which: flags; bytes: name */
    EMU_LOG_FREE,         /* address: that of the freed allocation */
    EMU_LOG_WRITE,        /* address, size; value: hash of the data; bytes: the data, if the log stores it */
    EMU_LOG_KINDS
};

struct emu_log_entry {
    unsigned kind; /* enum emu_log_kind or emu_log_host */
    unsigned which;
    struct emu_thread_ref place;
    uint64_t count, value, address, size;
    const uint8_t *bytes; /* borrowed from the log; NULL: the entry has no bytes */
};

/** A position in a log. `at` is the byte at which an entry starts; `done` is the number of steps of this entry, out of its count,
 *  that have been executed. */
struct emu_log_cursor {
    size_t at;
    uint64_t done;
    uint32_t grid;  /* grid and block of the preceding entry */
    uint64_t block;
};

enum emu_log_mode {
    EMU_LOG_RECORD, /* the run is recorded: the cursor is at the end of the log, unless history has moved the machine back */
    EMU_LOG_REPLAY  /* the log was read from a file; the host repeats its steps, and each step is compared with the log */
};

struct emu_log {
    struct emu_machine *machine;
    enum emu_log_mode mode;
    struct emu_bytes bytes;
    struct emu_log_cursor cursor; /* the machine's position; at the end of the log: byte bytes.size, done 0 */
    struct emu_log_cursor front;  /* the farthest position that the run has reached; execution before it is a replay */
    struct emu_log_cursor last;   /* position of the entry added last, whose count may still grow; valid if has_last */
    bool has_last;
    bool committed;    /* the last entry is an EMU_LOG_COMMIT, which becomes unnecessary if an EMU_LOG_RUN or EMU_LOG_PASS
                        * follows */
    bool keep_data;  /* the log stores the data of host writes, so that it can be replayed without the host */
    bool applying;   /* a replay is executing an entry, so nothing is recorded */
    bool complete;   /* the log was read from a file, and the run has not differed from it so far */
    uint64_t retired; /* for a log from a file: instruction count at the end of the log */
    struct emu_bytes options; /* options of the machine, as they are written to the file */
    uint64_t host_steps; /* number of host steps added so far */
    char name[200];  /* name of the file, for messages */
    /** Called before the log drops the entries after the machine's position. History then drops its snapshots and saved host
     *  states after this position. */
    void (*on_forget)(void *context);
    void *context;
};

/** Returns true if entries remain to be replayed. */
static inline bool emu_log_in_history(const struct emu_log *log)
{
    return log != NULL && log->cursor.at < log->bytes.size;
}
/** Returns true if position @b is before position @a in the log. */
static inline bool emu_log_is_before(const struct emu_log_cursor *a, const struct emu_log_cursor *b)
{
    return a->at != b->at ? a->at > b->at : a->done > b->done;
}
/** Returns true if the next instruction was executed before the machine was moved back in history, so that its execution is a
 *  replay. */
static inline bool emu_log_is_replaying(const struct emu_log *log)
{
    return log != NULL && emu_log_is_before(&log->front, &log->cursor);
}

/** Returns true if the caller must record its action, because the machine has a log and no replay is executing. If the result is
 *  true, the function has already dropped all entries after the cursor, because the new action makes them invalid. */
bool emu_log_is_recording(const struct emu_machine *machine);
/** Drops the entries after the cursor. */
void emu_log_forget(struct emu_log *log);

/** Decodes the entry at @cursor, and gets the position after it. Returns false at the end of the log, or, with *bad
 *  set, if the bytes are not a valid entry. */
bool emu_log_peek(const struct emu_log *log, const struct emu_log_cursor *cursor,
                  struct emu_log_entry *entry, struct emu_log_cursor *behind, bool *bad);
/** Counts @count steps of the entry at the cursor as executed. When the whole count of the entry is executed, the cursor moves to
 *  the next entry. */
void emu_log_advance(struct emu_log *log, uint64_t count);
/** Returns true if entries of @kind have a count, so that a replay can execute a part of them. */
bool emu_log_is_counted(unsigned kind);
bool emu_log_is_host(unsigned kind);

/** Adds an entry at the end. If the preceding entry is equal except for its count, that count is increased instead. The caller
 *  has checked emu_log_is_recording(). */
void emu_log_add(struct emu_log *log, const struct emu_log_entry *entry);
/** Returns the machine's position as a cursor that stays valid when the log grows, even if the count of the log's last entry
 *  grows. */
struct emu_log_cursor emu_log_position(struct emu_log *log);
/** Removes the first @bytes of the log. The removed entries are before all instruction counts to which history can still
 *  return. */
void emu_log_trim(struct emu_log *log, size_t bytes);
/** Moves the machine's position to a cursor from emu_log_position(). */
void emu_log_seek(struct emu_log *log, const struct emu_log_cursor *cursor);
/** Handles a host step: records it, or in a replay compares it with the entry at the cursor. Errors: LW_EINPUT if step and entry
 *  differ. */
enum lw_status emu_log_host_step(struct emu_machine *machine, const struct emu_log_entry *entry,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Returns the number of warp instructions that the cores of the machine have retired. */
uint64_t emu_machine_retired(const struct emu_machine *machine);
/** Writes a launch as bytes, with which later launches can be compared, and from which the launch can be repeated. */
void emu_log_launch_put(struct emu_bytes *out, const struct emu_grid *grid);
/** Handles a launch in the same way as emu_log_host_step() handles other host steps. */
enum lw_status emu_log_launch_step(struct emu_machine *machine, const struct emu_grid *grid,
                                   struct lw_error *err) LW_MUST_CHECK;
/** Decodes a launch from its bytes; out->params points into @bytes. Returns false if the bytes are invalid. */
bool emu_log_launch_read(const struct emu_machine *machine, const uint8_t *bytes, size_t size,
                         struct emu_launch *out);
/** Returns a hash of those parts of a program that can affect a run. */
uint64_t emu_program_fingerprint(const struct isa_object *object);

/** Kinds of non-deterministic inputs, which an engine supplies during a step. A value below 128 is the number of the special
 *  register that was read. */
enum emu_log_nondet {
    EMU_NONDET_SLEEP = 128, /* length of a sleep, if the engine changes it */
    EMU_NONDET_SKIP,        /* 1: a fault is skipped; the faulting lanes read EMU_NONDET_SKIP_VALUE */
    EMU_NONDET_SKIP_VALUE,  /* value that the skipped lanes read */
    EMU_NONDET_COUNT
};
/** Non-deterministic inputs that the log has for the next step, in order. */
struct emu_nondet_log {
    unsigned what[256];
    uint64_t value[256];
    unsigned count, next;
};
/** In a replay, gets the next recorded input of the step. Returns false outside a replay, or if the next recorded input is not of
 *  kind @what. */
static inline bool emu_nondet_replay(const struct emu_core *core, unsigned what, uint64_t *value)
{
    struct emu_nondet_log *a = core->answers;

    if (a == NULL || a->next == a->count || a->what[a->next] != what)
        return false;
    *value = a->value[a->next++];
    return true;
}
/** Records an input that the engine has supplied. */
void emu_nondet_record(const struct emu_core *core, unsigned what, uint64_t value);
/** Checks the start of a log's file and the hash at its end. @reader has the whole file; afterwards its position is that of the
 *  machine's options. @name appears in messages. Errors: LW_EFORMAT; LW_EUNSUPP, another version. */
enum lw_status emu_log_open_file(struct emu_reader *reader, const char *name, struct lw_error *err) LW_MUST_CHECK;

#endif
