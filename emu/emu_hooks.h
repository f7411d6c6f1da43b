/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: callbacks with which a checker observes instructions on the fast path, which makes no events (struct emu_event). */
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
    uint64_t lanes;       /* lanes in which the instruction has an effect: lanes of the split that are in exec and whose guard is
                           * true; may be 0 */
    uint64_t split_lanes; /* all lanes of the split */
};
/** Lanes [first, last] of one access, if the addresses of these lanes are equal or consecutive. */
struct emu_addr_segment {
    uint64_t address; /* generic address of lane `first` */
    uint8_t first, last;
    bool run;         /* true: lane l accesses address + (l - first) * bytes; false: all lanes access `address` */
};
enum emu_addr_form { EMU_ADDR_GATHER, EMU_ADDR_CONTIGUOUS, EMU_ADDR_UNIFORM, EMU_ADDR_STRIDED };
/**
 * A recorded load or store of 4 bytes for each lane in global memory. The record is written before the access is executed. Lane k
 * of `lanes`, counted from 0, accesses
 *       EMU_ADDR_GATHER      base + ((uint64_t)word[k] << scale)
 *       EMU_ADDR_CONTIGUOUS  the first lane's address + 4 * (its lane number - the first lane's)
 *       EMU_ADDR_UNIFORM     the first lane's address
 *       EMU_ADDR_STRIDED     loads only: as if the word of lane l were
 *                            (uint32_t)(word[0] + (l - first lane) * word[1])
 * In the record of a store, `count` values to store follow the words, then the `count` values that memory held before.
 */
struct emu_access_record {
    uint64_t lanes, base;
    uint32_t index, tag; /* index of the instruction; copy of emu_hook_filter.tag */
    uint16_t slot, warp;
    uint8_t count, scale, form; /* count: number of lanes, at least 2 except for EMU_ADDR_GATHER; form: enum emu_addr_form */
    bool store;
    uint32_t word[];
};
/** Returns the size of a record, including its words and values, in units of 8 bytes. */
static inline unsigned emu_access_record_size(unsigned count, enum emu_addr_form form, bool store)
{
    /* a stride has two words, and EMU_ADDR_CONTIGUOUS and _UNIFORM have one; either fits in one unit of 8 bytes */
    const unsigned words = (form == EMU_ADDR_GATHER ? count : 1) + (store ? 2 * count : 0);

    return sizeof(struct emu_access_record) / 8 + (words + 1) / 2;
}
/** Access records of one core and program, in the order of execution. The owner of the hooks owns the memory at `data`, and sets
 *  the members. The interpreter appends records, and increases `used`. */
struct emu_access_log {
    const struct emu_core *core;
    const struct emu_program *program;
    uint64_t *data;
    unsigned used, capacity; /* filled part and size of `data`, in units of 8 bytes */
};
/** Range of generic addresses [first, end): an access whose addresses are all in the range needs no callback. */
struct emu_hook_filter {
    uint64_t first, end;
    bool ignore_split; /* the filter is valid for every split of the warp, not only for the split of the last callback */
    /** The next `remaining` accesses that need no callback are recorded in `log`, unless the log is full. A range with a log must
     *  be in one allocation. log NULL: accesses without a callback are not recorded. */
    uint16_t remaining;
    uint32_t tag; /* copied to emu_access_record.tag */
    struct emu_access_log *log;
};
/** A memory instruction that is about to be executed. The addresses of the access have not been checked. A scalar load counts as
 *  an access of the lowest lane. */
struct emu_hook_access {
    struct emu_hook_site at;   /* at.lanes: the lanes that access memory; never 0 */
    enum emu_access_kind kind;
    enum isa_space space;      /* the instruction's space, which may be ISA_SPACE_GENERIC */
    unsigned bytes;            /* bytes that each lane accesses */
    unsigned piece_count;      /* number of segments in `piece`; 0: the addresses are in `address` */
    struct emu_addr_segment piece[2]; /* the lanes as at most two segments */
    const uint64_t *address;   /* [lane] generic addresses if piece_count is 0 */
    /** Filled in by the callback; all members are 0 at the call. Afterwards this instruction needs no callback while the
     *  addresses of all its lanes are in the range, until emu_hooks_invalidate_filters(). The filter does not apply to a warp in
     *  single steps. A filter with ignore_split is used for accesses to any memory. A filter without ignore_split is used only
     *  for accesses to global and generic memory, and only while the running split is the one that ran at the warp's last
     *  callback. "Last callback" means the last one for shared, global or generic memory; before there was one, the warp's first
     *  split counts as the split that ran. Filters are used only while one host thread runs. */
    struct emu_hook_filter *filter;
};
/**
 * Callbacks for instructions on the fast path, on every engine. All members must be set. The callbacks are called on
 * the thread that runs the block. They must not change the guest's state. They may call emu_machine_halt() and the functions
 * emu_hooks_*() below.
 */
struct emu_hooks {
    /** Called for each instruction of a program when the program is decoded, at its first launch. Returns true to request a call
     *  before each execution of the instruction: of on_access for a memory instruction, of on_insn for another. */
    bool (*wants)(struct emu_hooks *hooks, const struct emu_program *program, uint32_t index,
                  const struct isa_insn *insn);
    void (*on_insn)(struct emu_hooks *hooks, const struct emu_hook_site *site);
    /** Returns true to let the warp execute in single steps, starting with this instruction: on_step is then called, and
     *  on_access a second time for the same instruction. For a warp that already executes in single steps, on_access is called
     *  between on_step and on_stepped. */
    bool (*on_access)(struct emu_hooks *hooks, const struct emu_hook_access *access);
    /** Called before and after each instruction of a warp in single steps. @retired: the instruction was executed; false: the
     *  lanes wait at the instruction, or the instruction faulted. on_stepped returns true to end the single steps. */
    void (*on_step)(struct emu_hooks *hooks, const struct emu_hook_site *site);
    bool (*on_stepped)(struct emu_hooks *hooks, const struct emu_hook_site *site, bool retired);
    /** A block was placed in a slot (@begins true), or leaves its slot (false). If `wants` has returned false for all instructions
     *  of a kernel and of the functions that it may call, native code may execute its blocks. Then this function and the next two
     *  are not called for some of the blocks. */
    void (*on_block)(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, bool begins);
    /** CTA barrier @id of a block completes. lanes[warp]: lanes that have arrived. The waiting lanes among the arrived ones
     *  continue. */
    void (*on_cta)(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, unsigned id,
                   const uint64_t *lanes);
    /** @lanes, the member lanes of a warpsync or a .sync operation, have all arrived. The lanes are in one warp. */
    void (*on_warpsync)(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, unsigned warp,
                        uint64_t lanes);
    /** A replay has ended. No callback is called during a replay. @unchanged: the machine is in the same state as when the replay
     *  began, except that no warp is in single steps. If @unchanged is false, the past was edited, and the records of the
     *  callbacks belong to a run that no longer exists. */
    void (*on_replay_end)(struct emu_hooks *hooks, bool unchanged);
    /** The pc of some lanes was set by a debugger, or by the replay of a log that contains such an edit. */
    void (*on_pc_edited)(struct emu_hooks *hooks);
};
/** Sets the hooks of a machine. A machine has at most one struct emu_hooks. The hooks are borrowed until they are replaced or the
 *  machine is destroyed. NULL removes the hooks. Hooks do not restrict the run to one host thread; a caller that needs this
 *  restriction also registers a listener (emu_machine_add_listener). Errors: LW_ESTATE if the machine has
 *  decoded a program for a launch. */
enum lw_status emu_machine_set_hooks(struct emu_machine *machine, struct emu_hooks *hooks,
                               struct lw_error *err) LW_MUST_CHECK;
/** Invalidates all filters that on_access has set. */
void emu_hooks_invalidate_filters(struct emu_machine *machine);
/** Enables or disables the call before instruction @index of @program. The hooks' function `wants` must have returned true for
 *  this instruction. Code that is decoded later starts with the call enabled. */
void emu_hooks_enable_site(const struct emu_program *program, uint32_t index, bool on);
/** Switches single steps of a resident warp on or off, with effect from its next instruction. If on_insn calls the function,
 *  single steps begin with the instruction of the call. */
void emu_hooks_single_step(struct emu_core *core, unsigned slot, unsigned warp, bool on);

#endif
