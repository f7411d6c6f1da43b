/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of dbg_watch.c, dbg_watch_hit.c and dbg_watch_filter.c. */
#ifndef DBG_WATCH_PRIV_H
#define DBG_WATCH_PRIV_H

#include "debug/debug_priv.h"

/** Range [start, end) that a watchpoint covers: addresses of memory, or thread ids for registers. */
struct dbg_range {
    uint64_t start, end;
    size_t point; /* index in dbg->points */
};

/**
 * A watchpoint that gdb has removed. At each stop gdb removes all its watchpoints, and at the next resume it inserts them
 * again. The insertion gives only the address, and the focus may have moved to another lane. So this record keeps the
 * lane that owns the memory or register. It is deleted at the second resume after the removal.
 */
struct dbg_ghost {
    uint64_t address;
    unsigned size_bytes, access; /* access 0: none */
    unsigned age;                /* number of resumes since the removal */
    struct dbg_watched watched;
};
enum { DBG_GHOSTS = 64 };

/** Watchpoint that an instruction hit together with the one reported: gdb accepts one for each stop. */
struct dbg_later {
    uint64_t address;
    unsigned size_bytes, access;
    struct dbg_watch_hit touch;
};

/** State of watchpoints and catchpoints, with which each instruction is compared. */
struct dbg_watch {
    struct emu_observer observer;
    struct dbg *dbg;
    bool attached;
    bool changed;  /* stoppoints have changed: the tables must be rebuilt */
    struct dbg_range *memory, *registers; /* sorted by start; with capacity for all stoppoints */
    size_t memory_count, register_count;
    uint64_t memory_end;
    unsigned catches;
    struct dbg_watch_hit *touches; /* hits of the last instruction; with capacity for all stoppoints */
    size_t *touched;           /* indices of the stoppoints in touches */
    size_t touch_count;
    size_t capacity;               /* number of stoppoints that the tables have memory for */
    struct dbg_watch_hit pending;  /* hit whose stop is to be made; point 0: none */
    unsigned others[8];        /* further stoppoints of the same stop */
    unsigned other_count;
    struct dbg_ghost ghosts[DBG_GHOSTS]; /* ring buffer */
    unsigned ghost_next;
    struct dbg_later later[8]; /* hits of gdb's watchpoints, reported one by one at its next resumes */
    unsigned later_count;
    bool filtering;                /* static filter (dbg_watch_filter.c): the observer inspects these pcs only */
    uint64_t *filter;
    size_t filter_count, filter_capacity;
    const struct emu_program *filtered_program;
    unsigned filter_steps;        /* steps of the filter since filter_instructions, an instruction count, was taken */
    uint64_t filter_instructions;
};
/** Makes the stop that dbg_watch_pending() announces. */
enum lw_status dbg_watch_stop(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;

/** Makes the stop after an instruction of a thread, on @lane; includes breakpoints at the new pc. */
void dbg_watch_stand(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_stop *stop);

/** Inserts the static filter if possible: while all warps run, the run stops before instructions that may touch a
 *  watchpoint. Other instructions are not inspected. */
void dbg_watch_filter_begin(struct dbg *dbg);
/** Updates the filter when another launch may run next. */
void dbg_watch_filter_next(struct dbg *dbg);
void dbg_watch_filter_end(struct dbg *dbg);
/** Executes and observes the engine's next instruction, before which the run has stopped. dbg_continue also calls this
 *  function at a breakpoint that no lane hits: it makes one step of the engine over the breakpoint, observed if a
 *  filter is in force. */
enum lw_status dbg_watch_filter_step(struct dbg *dbg, struct emu_stop *es, struct lw_error *err)
    LW_MUST_CHECK;

/** Static filter of a reverse search, whose observer sees the instructions that may touch a stoppoint. */
struct dbg_watch_filter_search {
    bool writes; /* for watchpoints on memory, only writes are searched */
    /** selects other instructions for the observer; NULL: those that may touch a stoppoint */
    bool (*wanted)(const void *context, uint64_t pc);
    const void *context;
    bool dense; /* set when inspecting all instructions is cheaper; persists between search intervals */
    /* internal: */
    struct emu_observer *observer;
    bool filtering;
    unsigned steps;
    uint64_t from;
};
/** Inserts the filter of a search; called where dbg_watch_hit_begin() is, with no other observer attached. */
void dbg_watch_filter_search_begin(struct dbg *dbg, struct emu_observer *observer,
                          struct dbg_watch_filter_search *look);
/** Executes and observes the engine's next instruction in a search, as dbg_watch_filter_step() does in a run. */
enum lw_status dbg_watch_filter_search_step(struct dbg *dbg, struct dbg_watch_filter_search *look,
                                   struct emu_stop *es, struct lw_error *err) LW_MUST_CHECK;
void dbg_watch_filter_search_end(struct dbg *dbg, struct dbg_watch_filter_search *look);
/** Returns true if the user, or the log being replayed, may have edited a pc at some time. */
bool dbg_pc_edited(const struct dbg *dbg);

#endif
