/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside emu/: the schedule log as bytes (emu_log.c), as a file (emu_log_file.c), and being
 * replayed (emu_replay.c).
 *
 * An entry is a byte, its kind and flags, and numbers. Places are written as differences to the
 * block named before, so a log is read from its start or from a cursor that was there before.
 */
#ifndef EMU_LOG_PRIV_H
#define EMU_LOG_PRIV_H

#include "emu/bytes/emu_bytes_priv.h"
#include "emu/emu_machine_priv.h"

enum emu_log_kind {
    /* what the fixed order did */
    EMU_LOG_RUN = 1, /* count instructions */
    EMU_LOG_PASS,    /* count steps that retired nothing: arrivals, parts that wait */
    EMU_LOG_COMMIT,  /* it chose what goes next */
    /* what was run outside of it; place */
    EMU_LOG_LOOK,    /* between turns of single warps a look for a live-lock; `which` 1: for blocks
                        to become resident in addition to a suspended one */
    EMU_LOG_STEP,    /* count steps of place.split, of place.lanes (0: all of it) */
    EMU_LOG_SLICE,    /* count instructions of a warp by its own policy, then `value` passes */
    EMU_LOG_SELECT,  /* a split was given the turn */
    EMU_LOG_BEGIN,   /* an engine that places blocks itself started one, */
    EMU_LOG_END,     /* and freed it */
    EMU_LOG_NONDET,  /* an engine's answer to the next step: what (which), value */
    /* a debugger's edits; place, place.split being a lane */
    EMU_LOG_REGISTER, /* which: class; address: number; value */
    EMU_LOG_PC,       /* value */
    EMU_LOG_MEMORY,   /* address, bytes */
    /* what the host did */
    EMU_LOG_HOST,    /* flags hold the real kind: enum emu_log_host */
    EMU_LOG_STOP = 15 /* the log is complete: count instructions were retired */
};
enum emu_log_host {
    EMU_LOG_PROGRAM = 16, /* value: fingerprint */
    EMU_LOG_LAUNCH,       /* bytes: emu_log_launch_put */
    EMU_LOG_ALLOC,        /* address, size; which: flags; bytes: name */
    EMU_LOG_FREE,         /* address */
    EMU_LOG_WRITE,        /* address, size; value: hash; bytes: the data if it is kept */
    EMU_LOG_KINDS
};

struct emu_log_entry {
    unsigned kind; /* enum emu_log_kind or emu_log_host */
    unsigned which;
    struct emu_thread_ref place;
    uint64_t count, value, address, size;
    const uint8_t *bytes; /* borrowed from the log; NULL: none */
};

/** A place in a log: `done` of the counted entry that starts at `at` have been done. */
struct emu_log_cursor {
    size_t at;
    uint64_t done;
    uint32_t grid;  /* named before */
    uint64_t block;
};

enum emu_log_mode {
    EMU_LOG_RECORD, /* the cursor is at the end, unless history went back */
    EMU_LOG_REPLAY  /* from a file: the host acts itself and is compared */
};

struct emu_log {
    struct emu_machine *machine;
    enum emu_log_mode mode;
    struct emu_bytes bytes;
    struct emu_log_cursor cursor; /* where the machine is; at the end: bytes.size, 0 */
    struct emu_log_cursor front;  /* how far it ever was: what is after it is done again */
    struct emu_log_cursor last;   /* the entry that was added last, for counting it up */
    bool has_last;
    bool committed;    /* an EMU_LOG_COMMIT that a later run would make superfluous */
    bool keep_data;  /* host data is kept: the log can be replayed without the host */
    bool applying;   /* a replay is at work: nothing is noted */
    bool complete;   /* from a file, and not left for another course */
    uint64_t retired; /* instructions at the end, of a file */
    struct emu_bytes options; /* of the machine, for the file */
    uint64_t host_steps; /* added so far */
    char name[200];  /* of the file */
    /** The future is about to be forgotten: history drops what belongs to it. */
    void (*on_forget)(void *context);
    void *context;
};

/** There is something to be replayed. */
static inline bool emu_log_in_history(const struct emu_log *log)
{
    return log != NULL && log->cursor.at < log->bytes.size;
}
/** Is @a farther than @b? */
static inline bool emu_log_is_before(const struct emu_log_cursor *a, const struct emu_log_cursor *b)
{
    return a->at != b->at ? a->at > b->at : a->done > b->done;
}
/** What comes next has happened before: history went back. */
static inline bool emu_log_is_replaying(const struct emu_log *log)
{
    return log != NULL && emu_log_is_before(&log->front, &log->cursor);
}

/** Is something to be noted? Edits and steps in the past make it the present first. */
bool emu_log_is_recording(const struct emu_machine *machine);
/** Forget what is after the cursor. */
void emu_log_forget(struct emu_log *log);

/** The entry at @cursor; false at the end (or where bytes are bad: *bad). */
bool emu_log_peek(const struct emu_log *log, const struct emu_log_cursor *cursor,
                  struct emu_log_entry *entry, struct emu_log_cursor *behind, bool *bad);
/** Move on by @count of the entry under the cursor; past its end when that is all of it. */
void emu_log_advance(struct emu_log *log, uint64_t count);
/** Does it have a count that may be done bit by bit? */
bool emu_log_is_counted(unsigned kind);
bool emu_log_is_host(unsigned kind);

/** Add an entry at the end; equal neighbours are counted up. Call when emu_log_is_recording() says so. */
void emu_log_add(struct emu_log *log, const struct emu_log_entry *entry);
/** Where the machine is, as a cursor that stays right when the log grows. */
struct emu_log_cursor emu_log_position(struct emu_log *log);
/** Forget the first @bytes: entries to which nothing goes back. */
void emu_log_trim(struct emu_log *log, size_t bytes);
/** Go to such a cursor. */
void emu_log_seek(struct emu_log *log, const struct emu_log_cursor *cursor);
/** One of the host's steps: noted, or compared with the file. Errors: LW_EINPUT, it differs. */
enum lw_status emu_log_host_step(struct emu_machine *machine, const struct emu_log_entry *entry,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Warp instructions of all cores. */
uint64_t emu_machine_retired(const struct emu_machine *machine);
/** A launch as bytes, to be compared and to be launched again. */
void emu_log_launch_put(struct emu_bytes *out, const struct emu_grid *grid);
/** It happened: as emu_log_host_step. */
enum lw_status emu_log_launch_step(struct emu_machine *machine, const struct emu_grid *grid,
                                   struct lw_error *err) LW_MUST_CHECK;
/** The launch that such bytes stand for; params borrow @bytes. False: they do not fit. */
bool emu_log_launch_read(const struct emu_machine *machine, const uint8_t *bytes, size_t size,
                         struct emu_launch *out);
/** What makes a program's runs what they are. */
uint64_t emu_program_fingerprint(const struct isa_object *object);

/** Answers of an engine to what a step asks. Special registers by number; then these. */
enum emu_log_nondet {
    EMU_NONDET_SLEEP = 128, /* the length of a sleep */
    EMU_NONDET_SKIP,        /* 1: faulting lanes are skipped, and read */
    EMU_NONDET_SKIP_VALUE,  /* this */
    EMU_NONDET_COUNT
};
/** Answers that were noted for the step to come. */
struct emu_nondet_log {
    unsigned what[256];
    uint64_t value[256];
    unsigned count, next;
};
/** In a replay: the noted answer into *value. */
static inline bool emu_nondet_replay(const struct emu_core *core, unsigned what, uint64_t *value)
{
    struct emu_nondet_log *a = core->answers;

    if (a == NULL || a->next == a->count || a->what[a->next] != what)
        return false;
    *value = a->value[a->next++];
    return true;
}
/** The engine has answered: note it. */
void emu_nondet_record(const struct emu_core *core, unsigned what, uint64_t value);

#endif
