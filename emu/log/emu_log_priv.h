/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal to emu/: the schedule log as bytes (emu_log.c), as a file (emu_log_file.c), and in replay
 * (emu_replay.c).
 *
 * An entry is a byte with its kind and flags, then numbers. Positions are written as differences to the block of the
 * preceding entry, so a log can be read from its start or from a cursor saved earlier.
 */
#ifndef EMU_LOG_PRIV_H
#define EMU_LOG_PRIV_H

#include "emu/bytes/emu_bytes_priv.h"
#include "emu/emu_machine_priv.h"

enum emu_log_kind {
    /* the fixed order */
    EMU_LOG_RUN = 1, /* `count` instructions were executed */
    EMU_LOG_PASS,    /* `count` steps in which lanes arrived or waited, and no instruction retired */
    EMU_LOG_COMMIT,  /* the engine has chosen the warp and split that run next */
    /* execution outside the fixed order; these entries have a place */
    EMU_LOG_LOOK,    /* a check for a live-lock between slices of single warps; `which` 1: a check for blocks that
                      * can become resident in addition to a suspended one */
    EMU_LOG_STEP,    /* `count` steps of place.split, of place.lanes (0: all its lanes) */
    EMU_LOG_SLICE,    /* `count` instructions of a warp in the order of its policy, then `value` steps that retired
                       * nothing */
    EMU_LOG_SELECT,  /* a split was given the time slice */
    EMU_LOG_BEGIN,   /* an engine that places blocks itself started a block */
    EMU_LOG_END,     /* an engine that places blocks itself freed a block */
    EMU_LOG_NONDET,  /* a non-deterministic input of the next step: kind (which), value */
    /* The following entries are a debugger's edits. The entry names a lane: place, and place.split. */
    EMU_LOG_REGISTER, /* which: class; address: number; value */
    EMU_LOG_PC,       /* value */
    EMU_LOG_MEMORY,   /* address, bytes */
    /* host steps */
    EMU_LOG_HOST,    /* the flags hold the real kind: enum emu_log_host */
    EMU_LOG_STOP = 15 /* end of the log: count instructions were retired */
};
enum emu_log_host {
    EMU_LOG_PROGRAM = 16, /* value: fingerprint */
    EMU_LOG_LAUNCH,       /* bytes: emu_log_launch_put */
    EMU_LOG_ALLOC,        /* address, size; which: flags; bytes: name */
    EMU_LOG_FREE,         /* address */
    EMU_LOG_WRITE,        /* address, size; value: hash; bytes: the data if it is stored */
    EMU_LOG_KINDS
};

struct emu_log_entry {
    unsigned kind; /* enum emu_log_kind or emu_log_host */
    unsigned which;
    struct emu_thread_ref place;
    uint64_t count, value, address, size;
    const uint8_t *bytes; /* borrowed from the log; NULL: none */
};

/** A position in a log: `done` of the counted entry that starts at `at` have been executed. */
struct emu_log_cursor {
    size_t at;
    uint64_t done;
    uint32_t grid;  /* grid of the block in the preceding entry */
    uint64_t block;
};

enum emu_log_mode {
    EMU_LOG_RECORD, /* the cursor is at the end, unless history went back */
    EMU_LOG_REPLAY  /* the log is from a file: the host repeats its steps, which are compared with the log */
};

struct emu_log {
    struct emu_machine *machine;
    enum emu_log_mode mode;
    struct emu_bytes bytes;
    struct emu_log_cursor cursor; /* position of the machine; at the end: bytes.size, 0 */
    struct emu_log_cursor front;  /* the farthest position so far: entries before it are replayed */
    struct emu_log_cursor last;   /* the entry added last, whose count may grow */
    bool has_last;
    bool committed;    /* the last entry is an EMU_LOG_COMMIT that becomes unnecessary if a run or pass follows */
    bool keep_data;  /* host data is stored: the log can be replayed without the host */
    bool applying;   /* a replay is executing: nothing is recorded */
    bool complete;   /* the log is from a file, and the run has not left its history for another execution */
    uint64_t retired; /* from a file: instruction count at the end */
    struct emu_bytes options; /* options of the machine, for the file */
    uint64_t host_steps; /* number of host steps added so far */
    char name[200];  /* name of the file */
    /** Called before entries past the machine's position are dropped: history then drops its snapshots and marks past
     *  that position. */
    void (*on_forget)(void *context);
    void *context;
};

/** Returns true if entries remain to be replayed. */
static inline bool emu_log_in_history(const struct emu_log *log)
{
    return log != NULL && log->cursor.at < log->bytes.size;
}
/** Returns true if @a is farther than @b. */
static inline bool emu_log_is_before(const struct emu_log_cursor *a, const struct emu_log_cursor *b)
{
    return a->at != b->at ? a->at > b->at : a->done > b->done;
}
/** Returns true if the next entry has been executed before: the machine has moved back in history. */
static inline bool emu_log_is_replaying(const struct emu_log *log)
{
    return log != NULL && emu_log_is_before(&log->front, &log->cursor);
}

/** Returns true if the caller must record an event: the machine has a log, and no replay is executing. The function then
 *  drops all entries after the cursor, because the event changes the run from there on. */
bool emu_log_is_recording(const struct emu_machine *machine);
/** Drops the entries after the cursor. */
void emu_log_forget(struct emu_log *log);

/** Gets the entry at @cursor. Returns false at the end (or where bytes are invalid: *bad). */
bool emu_log_peek(const struct emu_log *log, const struct emu_log_cursor *cursor,
                  struct emu_log_entry *entry, struct emu_log_cursor *behind, bool *bad);
/** Advances the cursor by @count steps of its entry. If no steps of the entry remain, the cursor moves past the
 *  entry. */
void emu_log_advance(struct emu_log *log, uint64_t count);
/** Returns true if entries of @kind have a count that can be executed in parts. */
bool emu_log_is_counted(unsigned kind);
bool emu_log_is_host(unsigned kind);

/** Adds an entry at the end; equal neighbours are merged by count. Call only if emu_log_is_recording(). */
void emu_log_add(struct emu_log *log, const struct emu_log_entry *entry);
/** Returns the machine's position as a cursor that remains valid when the log grows. */
struct emu_log_cursor emu_log_position(struct emu_log *log);
/** Drops the first @bytes: entries before all reachable counts. */
void emu_log_trim(struct emu_log *log, size_t bytes);
/** Moves to a cursor of emu_log_position(). */
void emu_log_seek(struct emu_log *log, const struct emu_log_cursor *cursor);
/** Handles a host step: records it, or compares it with the file. Errors: LW_EINPUT if the step differs. */
enum lw_status emu_log_host_step(struct emu_machine *machine, const struct emu_log_entry *entry,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Returns the number of warp instructions of all cores. */
uint64_t emu_machine_retired(const struct emu_machine *machine);
/** Writes a launch as bytes, to be compared and repeated. */
void emu_log_launch_put(struct emu_bytes *out, const struct emu_grid *grid);
/** Handles a launch as emu_log_host_step does a host step. */
enum lw_status emu_log_launch_step(struct emu_machine *machine, const struct emu_grid *grid,
                                   struct lw_error *err) LW_MUST_CHECK;
/** Reads a launch from its bytes; params borrow @bytes. Returns false if they are invalid. */
bool emu_log_launch_read(const struct emu_machine *machine, const uint8_t *bytes, size_t size,
                         struct emu_launch *out);
/** Returns a hash of the parts of a program on which its runs depend. */
uint64_t emu_program_fingerprint(const struct isa_object *object);

/** Kinds of non-deterministic inputs, which an engine gives during a step: special registers by number, then the
 *  following. */
enum emu_log_nondet {
    EMU_NONDET_SLEEP = 128, /* length of a sleep */
    EMU_NONDET_SKIP,        /* 1: faulting lanes are skipped, and read EMU_NONDET_SKIP_VALUE */
    EMU_NONDET_SKIP_VALUE,  /* value that skipped faulting lanes read */
    EMU_NONDET_COUNT
};
/** Inputs recorded for the next step. */
struct emu_nondet_log {
    unsigned what[256];
    uint64_t value[256];
    unsigned count, next;
};
/** Gets the next recorded input in a replay. Returns false if no input of this kind is recorded. */
static inline bool emu_nondet_replay(const struct emu_core *core, unsigned what, uint64_t *value)
{
    struct emu_nondet_log *a = core->answers;

    if (a == NULL || a->next == a->count || a->what[a->next] != what)
        return false;
    *value = a->value[a->next++];
    return true;
}
/** Records the answer of an engine. */
void emu_nondet_record(const struct emu_core *core, unsigned what, uint64_t value);

#endif
