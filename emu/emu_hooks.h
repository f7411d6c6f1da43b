/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: callbacks of a checker on the fast path, without events. */
#ifndef EMU_HOOKS_H
#define EMU_HOOKS_H

#include "emu/emu_event.h"

/** The instruction that a warp is about to execute. Borrowed for the duration of a call. */
struct emu_hook_site {
    struct emu_core *core;
    const struct emu_grid *grid;
    uint64_t block;       /* linear index */
    unsigned slot, warp;  /* slot on the core; warp in the block */
    const struct emu_program *program;
    const struct isa_insn *insn;
    uint32_t index;       /* index of the instruction in the program */
    uint64_t lanes;       /* lanes in which it has an effect (split, exec and guard); may be 0 */
    uint64_t split_lanes; /* M */
};
/** Lanes [first, last] of an access whose addresses are equal or consecutive. */
struct emu_addr_segment {
    uint64_t address; /* generic address of lane `first` */
    uint8_t first, last;
    bool run;         /* true: lane l is at address + (l - first) * bytes; false: all lanes are at `address` */
};
enum emu_addr_form { EMU_ADDR_GATHER, EMU_ADDR_CONTIGUOUS, EMU_ADDR_UNIFORM, EMU_ADDR_STRIDED };
/**
 * A load or store of 4 bytes for each lane in global memory, before it is executed. Lane k of `lanes`
 * accesses
 *       EMU_ADDR_GATHER      base + ((uint64_t)word[k] << scale)
 *       EMU_ADDR_CONTIGUOUS  the first lane's address + 4 * (its lane number - the first lane's)
 *       EMU_ADDR_UNIFORM     the first lane's address
 *       EMU_ADDR_STRIDED     loads only: as if the word of lane l were
 *                            (uint32_t)(word[0] + (l - first lane) * word[1])
 * For a store, `count` values to store follow the words, then `count` values that were in memory before.
 */
struct emu_access_record {
    uint64_t lanes, base;
    uint32_t index, tag; /* the instruction; the tag of its filter (emu_hook_filter.tag) */
    uint16_t slot, warp;
    uint8_t count, scale, form; /* enum emu_addr_form; count is at least 2, except for EMU_ADDR_GATHER */
    bool store;
    uint32_t word[];
};
/** Returns the size of a record with the words and values that follow it, in units of 8 bytes. */
static inline unsigned emu_access_record_size(unsigned count, enum emu_addr_form form, bool store)
{
    /* one word and the two words of a stride both take one unit */
    const unsigned words = (form == EMU_ADDR_GATHER ? count : 1) + (store ? 2 * count : 0);

    return sizeof(struct emu_access_record) / 8 + (words + 1) / 2;
}
/** Records of one core and program in the order of execution. The owner of the hooks owns the memory and sets
 *  the members. */
struct emu_access_log {
    const struct emu_core *core;
    const struct emu_program *program;
    uint64_t *data;
    unsigned used, capacity; /* filled part and size of `data`, in units of 8 bytes */
};
/** Generic addresses [first, end) whose accesses need no callback. */
struct emu_hook_filter {
    uint64_t first, end;
    bool ignore_split; /* the filter holds for every split of the warp */
    /** Filtered accesses are recorded in `log`, for the next `remaining` accesses, until the log is full. The range
     *  is in one allocation. NULL: filtered accesses are not recorded. */
    uint16_t remaining;
    uint32_t tag; /* copied to the records */
    struct emu_access_log *log;
};
/** A memory instruction before it is executed; its addresses are not checked yet. A scalar load is an access
 *  of the lowest lane. */
struct emu_hook_access {
    struct emu_hook_site at;   /* at.lanes: the lanes that access memory; never 0 */
    enum emu_access_kind kind;
    enum isa_space space;      /* the instruction's space, which may be ISA_SPACE_GENERIC */
    unsigned bytes;            /* bytes that each lane accesses */
    unsigned piece_count;      /* number of segments in `piece`; 0: the addresses are in `address` */
    struct emu_addr_segment piece[2]; /* the lanes as at most two segments */
    const uint64_t *address;   /* [lane] generic addresses if piece_count is 0 */
    /** All members are 0 at the call. The callback may fill in the filter: this instruction then needs no callback
     *  while all its lanes are in that range, until emu_hooks_invalidate_filters. A warp in single steps is not
     *  filtered. Unless ignore_split is set, the filter does not apply to a split other than that of the last callback,
     *  and to a new warp, except in local memory. Filters are used only while one host thread runs. */
    struct emu_hook_filter *filter;
};
/**
 * Callbacks for instructions on the fast path, on every engine. All members must be set. The callbacks are called on
 * the thread that runs the block, and may change the machine only by emu_hooks_single_step.
 */
struct emu_hooks {
    /** Called at decoding. Returns true to request a call before this instruction: on_access for memory instructions,
     *  on_insn for others. */
    bool (*wants)(struct emu_hooks *hooks, const struct emu_program *program, uint32_t index,
                  const struct isa_insn *insn);
    void (*on_insn)(struct emu_hooks *hooks, const struct emu_hook_site *site);
    /** Returns true to let the warp execute in single steps from this instruction on, inclusive. For a
     *  warp in single steps it is called (again) between on_step and on_stepped. */
    bool (*on_access)(struct emu_hooks *hooks, const struct emu_hook_access *access);
    /** @retired: the instruction was executed; otherwise its lanes wait at the instruction, or it faulted. on_stepped
     *  returns true to end single steps. */
    void (*on_step)(struct emu_hooks *hooks, const struct emu_hook_site *site);
    bool (*on_stepped)(struct emu_hooks *hooks, const struct emu_hook_site *site, bool retired);
    /** A block has been given a slot (@begins), or leaves its slot. */
    void (*on_block)(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, bool begins);
    /** CTA barrier @id of a block completes. lanes[warp] are the lanes that have arrived; the waiting lanes continue. */
    void (*on_cta)(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, unsigned id,
                   const uint64_t *lanes);
    /** All member lanes of a warpsync or a .sync operation, lanes of one warp, have arrived. */
    void (*on_warpsync)(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, unsigned warp,
                        uint64_t lanes);
    /** A replay, during which no callback is called, has ended. @unchanged: the machine is in the state in which the
     *  replay began, but no warp is in single steps. Otherwise the past was edited, and the callbacks' records belong
     *  to a run that no longer exists. */
    void (*on_replay_end)(struct emu_hooks *hooks, bool unchanged);
    /** A debugger, or the replayed log of a run with one, has set the pc of lanes. */
    void (*on_pc_edited)(struct emu_hooks *hooks);
};
/** Sets the hooks, one set for each machine. They are borrowed until they are replaced or the machine is destroyed;
 *  NULL: none. Hooks alone do not limit the run to one thread: also register a listener (emu_machine_add_listener).
 *  Errors: LW_ESTATE if the machine has executed an instruction. */
enum lw_status emu_machine_set_hooks(struct emu_machine *machine, struct emu_hooks *hooks,
                               struct lw_error *err) LW_MUST_CHECK;
/** Invalidates all filters that on_access has set. */
void emu_hooks_invalidate_filters(struct emu_machine *machine);
/** Enables or disables the call before instruction @index of @program, for which the hooks' function `wants` returned
 *  true. In code that is decoded later, the call is enabled. */
void emu_hooks_enable_site(const struct emu_program *program, uint32_t index, bool on);
/** Switches single steps of a resident warp on or off, from its next instruction on. */
void emu_hooks_single_step(struct emu_core *core, unsigned slot, unsigned warp, bool on);

#endif
