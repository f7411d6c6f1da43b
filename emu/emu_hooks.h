/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks: what a checker is called for on the fast path, without events. */
#ifndef EMU_HOOKS_H
#define EMU_HOOKS_H

#include "emu/emu_event.h"

/** The instruction that a warp is about to execute. Borrowed for the time of a call. */
struct emu_hook_site {
    struct emu_core *core;
    const struct emu_grid *grid;
    uint64_t block;       /* linear id */
    unsigned slot, warp;  /* on the core; in the block */
    const struct emu_program *program;
    const struct isa_insn *insn;
    uint32_t index;       /* of the instruction in the program */
    uint64_t lanes;       /* that it has an effect in: M & exec & guard; may be 0 */
    uint64_t split_lanes; /* M */
};
/** Lanes [first, last] of an access whose addresses are equal or consecutive. */
struct emu_addr_segment {
    uint64_t address; /* generic, of lane `first` */
    uint8_t first, last;
    bool run;         /* lane l is at address + (l - first) * bytes; else all are at address */
};
enum emu_addr_form { EMU_ADDR_GATHER, EMU_ADDR_CONTIGUOUS, EMU_ADDR_UNIFORM, EMU_ADDR_STRIDED };
/** What a load or store of 4 bytes a lane in global memory was about to do: the k-th of its lanes, at
 *  base + ((uint64_t)word[k] << scale), or (EMU_ADDR_CONTIGUOUS) as far behind the first as its number is, or all at
 *  one place, with one word. EMU_ADDR_STRIDED, of loads alone: as if the word of lane l were
 *  (uint32_t)(word[0] + (l - first lane) * word[1]). Of a store `count` values follow the words, then as many
 *  that were there before it. */
struct emu_access_record {
    uint64_t lanes, base;
    uint32_t index, mark; /* the instruction; see emu_hook_filter */
    uint16_t slot, warp;
    uint8_t count, scale, form; /* enum emu_addr_form; several lanes, but for EMU_ADDR_GATHER */
    bool store;
    uint32_t word[];
};
/** Eighths of an entry, and of what follows it. */
static inline unsigned emu_access_record_size(unsigned count, enum emu_addr_form form, bool store)
{
    /* a stride's two words and one word are an eighth */
    const unsigned words = (form == EMU_ADDR_GATHER ? count : 1) + (store ? 2 * count : 0);

    return sizeof(struct emu_access_record) / 8 + (words + 1) / 2;
}
/** Entries in the order in which they were executed, of one core and program. The memory and what is in
 *  here is whose tap it is. */
struct emu_access_log {
    const struct emu_core *core;
    const struct emu_program *program;
    uint64_t *at;
    unsigned used, room; /* of 8 bytes */
};
/** Generic addresses [first, end). */
struct emu_hook_filter {
    uint64_t first, end;
    bool any_split; /* whoever is told does not ask whose lanes they are */
    /** Beside those who need not be told: this many times what is executed is written here, until there
     *  is no room. The span is in one allocation. NULL: it is not. */
    uint16_t credit;
    uint32_t mark;
    struct emu_access_log *log;
};
/** A memory instruction before it is executed: nothing is said of whether its lanes may access what
 *  they name. A scalar load is of the lowest lane. */
struct emu_hook_access {
    struct emu_hook_site at;    /* at.lanes: those that access memory, not 0 */
    enum emu_access_kind kind;
    enum isa_space space;      /* of the instruction: may be ISA_SPACE_GENERIC */
    unsigned bytes;            /* a lane */
    unsigned piece_count;      /* 0: see address */
    struct emu_addr_segment piece[2];
    const uint64_t *address;   /* [lane] generic; piece_count 0 */
    /** Filled by who is told, if need be: this instruction may go on without a word where all its
     *  lanes are in there, until emu_hooks_invalidate_filters. A warp in single steps is told of all; so is, unless
     *  any_split is set, one whose split is not the one that it was told of last, or all of a new warp
     *  (local memory apart). One thread runs. */
    struct emu_hook_filter *quiet;
};
/**
 * Who looks at instructions on the fast path, whatever engine runs. All members are given. Calls
 * come on the thread that runs the block; they change nothing of the machine but what
 * emu_hooks_single_step does.
 */
struct emu_hooks {
    /** At decoding: shall on_access (of memory instructions) or on_insn be called before this one? */
    bool (*wants)(struct emu_hooks *tap, const struct emu_program *program, uint32_t index,
                  const struct isa_insn *insn);
    void (*on_insn)(struct emu_hooks *tap, const struct emu_hook_site *site);
    /** True: from this instruction on, and with it, the warp goes in single steps. For such a warp
     *  the call comes (again) between on_step and on_stepped. */
    bool (*on_access)(struct emu_hooks *tap, const struct emu_hook_access *access);
    /** Before and after an instruction of a warp that goes in single steps. @retired: it was
     *  executed; else its lanes wait at it, or it is a fault. on_stepped returns true: the warp
     *  needs no single steps any more. */
    void (*on_step)(struct emu_hooks *tap, const struct emu_hook_site *site);
    bool (*on_stepped)(struct emu_hooks *tap, const struct emu_hook_site *site, bool retired);
    /** A block has got a slot (@begins), or leaves it. */
    void (*on_block)(struct emu_hooks *tap, struct emu_core *core, unsigned slot, bool begins);
    /** CTA barrier @id of a block completes: lanes[warp] have arrived, those that wait go on. */
    void (*on_cta)(struct emu_hooks *tap, struct emu_core *core, unsigned slot, unsigned id,
                   const uint64_t *lanes);
    /** Lanes of a warp, each other's members, have met: at warpsync or at .sync operations. */
    void (*on_warpsync)(struct emu_hooks *tap, struct emu_core *core, unsigned slot, unsigned warp,
                        uint64_t lanes);
    /** History has left the past, in which nobody was called. @same: the machine stands as it did
     *  when it went there, but no warp goes in single steps. Else something was changed in the
     *  past, and what was known of the run is of one that does not exist. */
    void (*on_present)(struct emu_hooks *tap, bool same);
    /** A debugger, or the log of a run with one, has set the pc of lanes. */
    void (*on_moved)(struct emu_hooks *tap);
};
/** One a machine; borrowed until it is replaced or the machine ends; NULL: none. Who wants one
 *  thread listens to the machine's life as well. Errors: LW_ESTATE when something has run. */
enum lw_status emu_machine_set_hooks(struct emu_machine *machine, struct emu_hooks *tap,
                               struct lw_error *err) LW_MUST_CHECK;
/** What on_access said of quiet spans holds no longer. */
void emu_hooks_invalidate_filters(struct emu_machine *machine);
/** Is the tap called before instruction @index of @program, one that it `wants`, from now on? It is, until this
 *  says no, and again in what is decoded later. */
void emu_hooks_enable_site(const struct emu_program *program, uint32_t index, bool on);
/** A resident warp goes in single steps from its next instruction on, or no longer. */
void emu_hooks_single_step(struct emu_core *core, unsigned slot, unsigned warp, bool on);

#endif
