/* SPDX-License-Identifier: Apache-2.0 */
/* Inside emu/: cores and the machine. */
#ifndef EMU_MACHINE_PRIV_H
#define EMU_MACHINE_PRIV_H

#include "emu/emu_warp_priv.h"
#include "emu/memory/emu_memory_priv.h"
#include "emu/print/emu_print_priv.h"

/** What lets a warp whose slice ends inside its handler chain switch to the next one of its block's
 *  rotation without a return to the engine (emu_switch_to_next_warp). */
struct emu_warp_switch {
    uint64_t until;    /* core->retired that no direct switch may pass; 0: not allowed */
    uint64_t launches; /* machine->launch_changes when it was allowed */
    uint64_t start;    /* w->retired at the start of the last slice after a direct switch */
    uint32_t quantum;  /* of each slice */
    bool handed;       /* it was done: the turn is that of warp block->next_warp */
};

struct emu_nondet_log;
struct emu_block_vector;
struct emu_core {
    struct emu_machine *machine;
    struct emu_step_scratch *scratch; /* rows after the event */
    uint64_t retired;
    enum emu_event_detail event_detail;
    struct emu_core_ops ops;
    void *context;
    struct emu_block *block; /* [slots] */
    unsigned slots;
    unsigned slots_used;     /* of them the first: no block was ever in those after */
    struct emu_code **code;  /* decoded copies, one per program used; owned */
    unsigned code_count, code_capacity;
    unsigned free_hint;      /* slot to try first */
    const struct emu_level *level;
    struct emu_warp_switch hand;
    struct emu_stats stats;
    struct emu_text_buffer text_capacity;
    struct emu_warp_template *warp_template;      /* of the warps of the grid that had the last block */
    struct emu_tag_step *tag_step;    /* shadow mode: the instruction being executed */
    bool helper;           /* of one more host thread: guests do not count it */
    struct emu_nondet_log *answers; /* of a replay, or NULL */
    struct emu_block_vector *block_vector; /* of the kernel whose blocks came last, or NULL */
    bool notes_itself;       /* its engine writes the schedule log: the core does not */
    uint64_t passes;         /* steps that retired nothing (emu_count_stalled_step), of them */
    uint64_t pass_retired;   /* at this count of instructions, the last, */
    uint64_t pass_run;       /* so many */
};

/** The block in @slot; NULL: the slot is free. */
struct emu_block *emu_core_block(const struct emu_core *core, unsigned slot);
/** Its warp @warp; NULL: there is none. */
struct emu_warp *emu_warp_at(const struct emu_core *core, unsigned slot, unsigned warp);

enum emu_push_order { EMU_PUSH_SMALLER, EMU_PUSH_LARGER, EMU_PUSH_FALL_THROUGH };
enum { EMU_LAUNCH_NESTING = 64 }; /* levels of launches, the host's included */
enum { EMU_STREAM_LISTS = 1 << 10 };

struct emu_log;
struct emu_machine {
    struct emu_config config;
    struct emu_memory memory;
    struct emu_program *programs;
    uint64_t next_code;
    struct emu_grid *grids, *last_grid;
    uint32_t grid_count;
    uint64_t warp_ids;
    struct emu_core **cores;
    unsigned core_count;
    struct lw_sink *print;
    struct lw_hash text_hash;
    struct emu_text text;
    const struct emu_policy *policy;
    const struct emu_reconv *reconv; /* NULL: cbar */
    enum emu_push_order push_order;
    unsigned breakpoint_count;
    struct emu_machine_listener *listeners;
    struct emu_fault_filter *fault_filter; /* may be NULL */
    struct emu_hooks *active_hooks;                   /* the active hooks: attached_hooks, or NULL while @again */
    uint64_t hooks_epoch;                    /* from 1: emu_hook_filters.epoch */
    struct emu_hooks *attached_hooks;               /* may be NULL */
    bool again;            /* what runs has run before */
    bool halt;             /* the engine must stop after this instruction */
    bool scalar_warned;    /* scalar_rule warn: said once */
    bool threaded;         /* several host threads run on its memory now */
    unsigned helper_count; /* cores that guests do not count */
    unsigned threads_used; /* most threads that a grid ran on, 0: one */
    struct emu_log *log;   /* the schedule log, or NULL */
    struct emu_grid *spare_grids; /* launched in a future that history went back from */
    struct emu_grid *oldest;      /* the first that is not complete */
    struct emu_grid *spare_device; /* device launches that are over: their memory */
    uint32_t device_open;         /* device launches that are not complete, */
    uint32_t pending;             /* of them, that have not begun */
    uint64_t launch_changes;      /* grows when a device launch comes or is complete */
    /* Launches of the device that wait for none in their stream and have blocks that no engine has
     * placed, in order; how many of each depth, and a bit for each depth that has some. */
    struct emu_grid *first_start, *last_start;
    uint32_t starts[EMU_LAUNCH_NESTING];
    uint64_t start_levels;
    struct emu_grid *stream[EMU_STREAM_LISTS]; /* the last of each stream, by a hash of its name */
    uint64_t looks;               /* at blocks without progress: their numbers */
};

/** Notify the machine's listeners. */
void emu_machine_notify(const struct emu_machine *machine, const struct emu_machine_event *event);
/** The machine goes to the past, and comes back: as it was, or (not @same) otherwise. Twice is as
 *  once. */
void emu_machine_begin_replay(struct emu_machine *machine);
void emu_machine_end_replay(struct emu_machine *machine, bool same);
/** No kernel that @block launched is open any more: lanes that wait for that continue. */
void emu_block_launches_done(struct emu_block *block);
/** The name of the allocation that holds @address; empty: of none, or it has no name. */
void emu_machine_allocation_name(const struct emu_machine *machine, uint64_t address, char *name, size_t size);

/** A checker requested a stop after the instruction that was executed: it happens now. */
static inline bool emu_consume_halt_request(struct emu_machine *machine)
{
    bool halt = machine->halt;

    machine->halt = false;
    return halt;
}

/** Add one to a count of a grid, which other cores may do at the same time; the new value. */
static inline uint64_t emu_count_one(const struct emu_machine *machine, uint64_t *count)
{
    /* a locked addition waits for all stores before it: 60 ns after those of a new block */
    return machine->core_count == 1 ? ++*count : __atomic_add_fetch(count, 1, __ATOMIC_ACQ_REL);
}

#endif
