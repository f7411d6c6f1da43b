/* SPDX-License-Identifier: Apache-2.0 */
/* Between dbg_watch.c and dbg_watch_hit.c. */
#ifndef DBG_WATCH_PRIV_H
#define DBG_WATCH_PRIV_H

#include "debug/debug_priv.h"

/** Where a point's place is: addresses of memory, or numbers of threads; [start, end). */
struct dbg_range {
    uint64_t start, end;
    size_t point; /* index in dbg->points */
};

/**
 * A watchpoint of gdb's that was removed. gdb takes its points out at each stop and puts them in
 * again when it resumes, by the bare address; the focus may be elsewhere by then. Whose memory or
 * register it was is remembered until the next resume but one.
 */
struct dbg_ghost {
    uint64_t address;
    unsigned size_bytes, access; /* access 0: none */
    unsigned age;                /* resumes since */
    struct dbg_watched watched;
};
enum { DBG_GHOSTS = 64 };

/** A stop can name one watchpoint to gdb: this one was touched by the same instruction. */
struct dbg_later {
    uint64_t address;
    unsigned size_bytes, access;
    struct dbg_watch_hit touch;
};

/** What instructions are compared with. */
struct dbg_watch {
    struct emu_observer observer;
    struct dbg *dbg;
    bool attached;
    bool changed;  /* the tables are older than the points */
    struct dbg_range *memory, *registers; /* by start; room for all points */
    size_t memory_count, register_count;
    uint64_t memory_end;
    unsigned catches;
    struct dbg_watch_hit *touches; /* of the last instruction; room for all points */
    size_t *touched;           /* their points */
    size_t touch_count;
    size_t capacity;               /* points that there is room for */
    struct dbg_watch_hit pending;  /* the stop to be made; point 0: none */
    unsigned others[8];        /* points that stop as well */
    unsigned other_count;
    struct dbg_ghost ghosts[DBG_GHOSTS]; /* ring */
    unsigned ghost_next;
    struct dbg_later later[8]; /* gdb's: reported one by one, at its next resumes */
    unsigned later_count;
    bool filtering;                /* dbg_watch_filter.c: the observer waits at these pcs only */
    uint64_t *filter;
    size_t filter_count, filter_capacity;
    const struct emu_program *filtered_program;
    unsigned filter_steps;        /* since the count was: */
    uint64_t filter_instructions;
};
/** The stop that dbg_watch_pending() announces. */
enum lw_status dbg_watch_stop(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;

/** Makes the stop after an instruction of a thread, on @lane; checks breakpoints at the new pc. */
void dbg_watch_stand(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_stop *stop);

/** While all runs, stop before the instructions that may touch a watchpoint, instead of looking at
 *  each one; where that is possible. */
void dbg_watch_filter_begin(struct dbg *dbg);
/** Another launch may run now. */
void dbg_watch_filter_next(struct dbg *dbg);
void dbg_watch_filter_end(struct dbg *dbg);
/** The engine's next instruction, which it stopped before, watched. dbg_continue steps over a breakpoint
 *  that is no hit in this way, too: one step of the engine, observed if a watch filter is in force. */
enum lw_status dbg_watch_filter_step(struct dbg *dbg, struct emu_stop *es, struct lw_error *err)
    LW_MUST_CHECK;

/** The same for a look at the past, with an observer that sees what may touch a point. */
struct dbg_watch_filter_search {
    bool writes; /* of memory, only those; reads are not searched for */
    /** What is looked at in place of what may touch a point; NULL: that. */
    bool (*wanted)(const void *context, uint64_t pc);
    const void *context;
    bool dense; /* looking at all is cheaper: kept from window to window */
    /* its own: */
    struct emu_observer *observer;
    bool filtering;
    unsigned steps;
    uint64_t from;
};
/** To be called where dbg_watch_hit_begin() is; no other observer is there. */
void dbg_watch_filter_search_begin(struct dbg *dbg, struct emu_observer *observer,
                          struct dbg_watch_filter_search *look);
/** As dbg_watch_filter_step(), after a stop before an instruction. */
enum lw_status dbg_watch_filter_search_step(struct dbg *dbg, struct dbg_watch_filter_search *look,
                                   struct emu_stop *es, struct lw_error *err) LW_MUST_CHECK;
void dbg_watch_filter_search_end(struct dbg *dbg, struct dbg_watch_filter_search *look);
/** The user, or the log that is replayed, may have changed a pc at some time. */
bool dbg_pc_edited(const struct dbg *dbg);

#endif
