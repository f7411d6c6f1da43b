/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to emu/: cores and the machine. */
#ifndef EMU_MACHINE_PRIV_H
#define EMU_MACHINE_PRIV_H

#include "emu/emu_warp_priv.h"
#include "emu/memory/emu_memory_priv.h"
#include "emu/print/emu_print_priv.h"

/** State of a direct switch: when the time slice of a warp ends inside its handler chain, the next warp of the block's rotation
 *  continues in the chain, without a return to the engine (emu_switch_to_next_warp). */
struct emu_warp_switch {
    uint64_t until;    /* value of core->retired up to which direct switches are allowed; 0: they are not allowed */
    uint64_t launches; /* value of machine->launch_changes when direct switches were last allowed */
    uint64_t start;    /* value of w->retired when the time slice after the last direct switch started */
    uint32_t quantum;  /* length of each time slice, in instructions */
    bool handed;       /* a direct switch has happened: the running warp is block->next_warp */
};

/** Native code of a core's grid, in one of its two forms: for whole warps, or masked. */
struct emu_native_form {
    const struct emu_native_kernel *kernel; /* NULL: there is no native code in this form */
    struct emu_native_gain { /* [entries], owned: how much native code executes from each entry on */
        uint32_t visits, instructions;      /* visits: number of visits of the entry that are summed up so far; instructions:
                                             * number of instructions that native code executed in these visits, or UINT32_MAX if
                                             * the entry is not used any more */
    } *gain;
    uint32_t gains;
    struct emu_native_window *window; /* [windows], owned */
    uint32_t windows;
    bool later;          /* there is no code yet, but a later request may get it */
    uint64_t request_at; /* `later`: value of core->retired from which on the code is requested again */
};
struct emu_functional;
/** Counts of what happens to whole blocks in native code (emu_native_blocks.c), for tests. */
struct emu_native_events {
    uint64_t slow;     /* warps that became slow */
    uint64_t ended;    /* warps that had ended in a call of native code whose block native code did not end */
    uint64_t uneven;   /* warps that ran up to a barrier, an exit, or code after an exit of some lanes, and whose lanes have executed
                        * different numbers of instructions */
    uint64_t successors; /* blocks that a call of native code began after the end of another block */
};
/** Native code of a core (emu_native.c). */
struct emu_core_native {
    struct emu_native_form whole, masked;
    uint32_t requests;                      /* number of times that a warp reached an entry while masked code did not exist */
    bool masked_done;                       /* masked code was requested from the translator */
    const struct emu_grid *grid;            /* grid for which native code was last requested, and its sequence number */
    uint64_t sequence;
    uint64_t begin, reported;               /* values of core->retired when the grid began, and at the last request */
    double reported_seconds;                /* the thread's processor time at the last request in this grid; 0: there was none */
    uint64_t until;                         /* value of core->retired up to which native code may run; 0: it may not run */
    uint64_t retired;                       /* instructions executed by native code */
    struct emu_native_events events;
    struct emu_native_frame frame;          /* emu_native_use() sets the members that are the same in all warps of a block */
    struct emu_native_part *part;           /* [parts], owned: memory for emu_native_frame.part */
    uint32_t parts;
    uint32_t (*next_warps)(struct emu_functional *engine); /* emu_native_calls.next_warps() calls it */
    struct emu_functional *engine;
    uint32_t entry, begin_entry;            /* entry from which native code runs each warp of the block, as in
                                             * emu_native_kernel.run, and the entry of a block's start (emu_native_blocks.c) */
    bool divides;                           /* the split policy permits that native code divides split 0 of a warp */
    uint64_t call_until;                    /* value of core->retired from which on next_warps() returns no entry */
    uint64_t missing;                       /* sum of emu_native_frame.missing since the block began (emu_native_blocks.c) */
    uint64_t *uniform;                      /* [warps][uniform_stride], owned: memory for emu_native_frame.uniform */
    uint32_t uniform_stride;
    uint32_t *park;                         /* [warps of the block], owned: 1 + the entry at which the warp resumes, if it is
                                             * parked at a CTA barrier; 0: the warp is not parked */
    bool *slow;                             /* [warps of the block], owned: the interpreter executes the warp
                                             * (emu_native_blocks.c) */
    struct emu_native_record *record;       /* [warps of the block], owned: memory for emu_native_frame.record */
    bool *spilled;                          /* [warps of the block], in the memory of slow[]: some lanes of the warp have exited,
                                             * or all lanes have exited at an exit with a guard; in both cases code for whole
                                             * warps has stored registers */
    bool *ended;                            /* [warps of the block], in the memory of slow[]: all lanes of the warp have arrived at
                                             * an exit in a call that has then executed other warps. The exit has not been
                                             * executed, and the register file does not have the registers that its guard reads */
    uint32_t parked;                        /* number of parked warps, all of which belong to the block that rotate() runs */
    uint32_t warps;                         /* number of elements of uniform[], park[], slow[], record[], spilled[] and ended[] */
};
/** Empties the windows of native code. */
static inline void emu_native_forget(struct emu_native_form *form)
{
    if (form->windows != 0)
        memset(form->window, 0, form->windows * sizeof *form->window);
}
/** Stores all registers of the parked warps of @block to their register files: afterwards no warp is parked. */
void emu_native_unpark(struct emu_block *block);
/** The functions that native code calls (emu_native.c). */
extern const struct emu_native_calls emu_native_calls;

struct emu_nondet_log;
struct emu_block_vector;
struct emu_core {
    struct emu_machine *machine;
    struct emu_step_scratch *scratch; /* arrays that events borrow, and the step's flow */
    uint64_t retired;
    enum emu_event_detail event_detail;
    struct emu_core_ops ops;
    void *context;
    struct emu_block *block; /* [slots] */
    unsigned slots;
    unsigned slots_used;     /* number of slots, counted from slot 0, that have ever held a block */
    struct emu_code **code;  /* decoded programs, one for each program and block shape in use; owned, unless other cores share
                              * them (emu_core_code()) */
    unsigned code_count, code_capacity;
    unsigned free_hint;      /* slot at which the search for a free slot starts */
    const struct emu_level *level;
    struct emu_warp_switch hand;
    struct emu_core_native native;
    struct emu_stats stats;
    struct emu_text_buffer text_capacity;
    struct emu_warp_template *warp_template;      /* template of warps, made for the grid whose block started last */
    struct emu_tag_step *tag_step;    /* shadow mode: tags of the instruction being executed */
    bool helper;           /* the core belongs to an additional host thread; guests do not see it */
    struct emu_nondet_log *answers; /* recorded non-deterministic inputs during a replay, otherwise NULL */
    struct emu_block_vector *block_vector; /* plan of block-wide execution for the kernel whose block started last, or NULL */
    bool notes_itself;       /* the core's engine writes the schedule log itself; the core then records nothing */
    uint64_t passes;         /* number of steps in which no instruction retired (emu_count_stalled_step) */
    uint64_t pass_retired;   /* instruction count at the last step that retired nothing */
    uint64_t pass_run;       /* number of steps at instruction count pass_retired that retired nothing */
};

/** Returns the block in @slot, or NULL if the slot is free. */
struct emu_block *emu_core_block(const struct emu_core *core, unsigned slot);
/** Returns warp @warp of the block in @slot, or NULL if there is no such warp. */
struct emu_warp *emu_warp_at(const struct emu_core *core, unsigned slot, unsigned warp);

enum emu_push_order { EMU_PUSH_SMALLER, EMU_PUSH_LARGER, EMU_PUSH_FALL_THROUGH };
enum { EMU_LAUNCH_NESTING = 64 }; /* nesting levels of launches; a host launch is level 0 */
enum { EMU_STREAM_LISTS = 1 << 10 };

/** Memory for the parameters of a device launch, free for reuse after a launch has completed: ISA_CONST_BANK_BYTES + 8 bytes,
 *  which are zero after `next`. */
struct emu_spare_bank {
    struct emu_spare_bank *next;
};

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
    const char *stack_advice; /* for messages: what sets a larger stack */
    struct lw_hash text_hash;
    struct emu_text text;
    const struct emu_policy *policy; /* the split policy; NULL, as in some unit tests: converge */
    const struct emu_reconv *reconv; /* the reconvergence engine; NULL, as in some unit tests: cbar */
    enum emu_push_order push_order;
    unsigned breakpoint_count;
    struct emu_machine_listener *listeners;
    struct emu_fault_filter *fault_filter; /* borrowed; may be NULL */
    struct emu_hooks *active_hooks;                   /* attached_hooks, or NULL while `again` is set */
    uint64_t hooks_epoch; /* counts from 1; a filter is valid if its emu_hook_filters.epoch equals this number */
    struct emu_hooks *attached_hooks;               /* may be NULL */
    bool again;            /* the machine is replaying */
    bool halt;             /* a hook, filter or listener has requested that the engine stops after this instruction */
    bool scalar_warned;    /* scalar_rule warn: the warning has been printed */
    bool threaded;         /* several host threads are running on the machine's memory */
    unsigned helper_count; /* number of cores of additional host threads, which guests do not see */
    unsigned threads_used; /* largest number of host threads on which a grid ran; 0: one thread */
    struct emu_log *log;   /* the schedule log, or NULL */
    struct emu_native *native; /* translator to native code, or NULL */
    struct emu_grid *spare_grids; /* grids of host launches that a move into the past has undone; a replay launches them again */
    struct emu_grid *oldest;      /* the first host or device launch that is not complete */
    struct emu_grid *spare_device; /* structures of completed device launches, for reuse */
    struct emu_spare_bank *spare_bank; /* memory for parameters that completed device launches have left, for reuse */
    uint32_t device_open;         /* number of device launches that are not complete */
    uint32_t pending;             /* number of device launches that have not started */
    uint64_t launch_changes;      /* grows when a device launch is queued or complete */
    /* Lists of startable device launches: they wait for no launch in their stream, and have blocks that no engine has placed.
     * first_start and last_start: the list in launch order. starts: number of startable launches of each depth; start_levels: a
     * bit for each depth with a startable launch. */
    struct emu_grid *first_start, *last_start;
    uint32_t starts[EMU_LAUNCH_NESTING];
    uint64_t start_levels;
    struct emu_grid *stream[EMU_STREAM_LISTS]; /* last launch of each stream, in lists by a hash of the stream's name */
    uint64_t looks;               /* number of spin observations begun so far. They are numbered from 1, and
                                   * emu_warp.look is such a number */
};

/** Notifies the machine's listeners. */
void emu_machine_notify(const struct emu_machine *machine, const struct emu_machine_event *event);
/** Begins a replay, during which hooks are not called. Has no effect while a replay is in progress. */
void emu_machine_begin_replay(struct emu_machine *machine);
/** Ends a replay and notifies the hooks. @same: the machine is in the state in which the replay began. Has no effect if no replay
 *  is in progress. */
void emu_machine_end_replay(struct emu_machine *machine, bool same);
/** Makes the lanes that wait at launch.sync of @block ready. Called when all launches by the block are complete. */
void emu_block_launches_done(struct emu_block *block);
/** Gets the name of the allocation that contains @address, or "" if no allocation contains it or the allocation has no name. */
void emu_machine_allocation_name(const struct emu_machine *machine, uint64_t address, char *name, size_t size);

/** Returns true, and clears the request, if a hook, filter or listener requested a halt after the instruction just executed. */
static inline bool emu_consume_halt_request(struct emu_machine *machine)
{
    bool halt = machine->halt;

    machine->halt = false;
    return halt;
}

/** Increments a count of a grid, which other cores may increment at the same time. Returns the new value. */
static inline uint64_t emu_count_one(const struct emu_machine *machine, uint64_t *count)
{
    /* an atomic addition waits for all earlier stores of its processor; this wait takes 60 ns after the stores that initialise a
     * block */
    return machine->core_count == 1 ? ++*count : __atomic_add_fetch(count, 1, __ATOMIC_ACQ_REL);
}

#endif
