/* SPDX-License-Identifier: Apache-2.0 */
/* Splits, warps and blocks, operands and counts of a running warp, and faults. Shared by all directories of emu/, and internal to
 * emu/. */
#ifndef EMU_WARP_PRIV_H
#define EMU_WARP_PRIV_H

#include "emu/emu_code_priv.h"
#include "emu/program/emu_addr_cache_priv.h"

struct emu_block;

/** Reason why a warp left its handler chain, in which each handler jumps to the handler of the next instruction
 *  (emu_handler_fn). */
enum emu_leave {
    EMU_RUNNING = 0,
    EMU_LEAVE_BUDGET,  /* w->budget is used up; the split may continue at w->di */
    EMU_LEAVE_SLICE_END,    /* the time slice of the split ended: the split diverged, blocked, yielded or exited */
    EMU_LEAVE_BREAK,   /* the instruction at w->di has a breakpoint and was not executed */
    EMU_LEAVE_FAULT    /* w->fault is set; the faulting instruction changed nothing */
};

struct emu_split {
    uint8_t id, state; /* id: the split's index in the warp's table; state: enum emu_split_state */
    uint8_t barrier;   /* number of the convergence register or CTA barrier at which the split is blocked */
    uint8_t flags;     /* EMU_SPLIT_* */
    uint32_t pc;       /* index of the next instruction in the program; not valid for the running split, whose next instruction is
                        * w->di */
    uint64_t lanes;
    uint64_t since;    /* instruction count of the warp at the time when the split last ran or became ready */
    uint64_t seq;      /* stack_like policy: position in the order in which splits were pushed */
    uint64_t wake;     /* sleeping: instruction count of the block at which the split wakes */
    uint64_t family;   /* if emu_split_divide() created this split as a part of a divided split: all lanes of the divided split;
                        * else 0 */
    uint64_t born;     /* sequence number of the split's creation; if one step divides several splits, the splits are divided in
                        * the order of their creation */
    uint32_t reduction; /* at a CTA barrier: 1 + index of the bar.red for whose result the split waits */
} __attribute__((aligned(64)));
enum {
    EMU_SPLIT_SOFT = 1,   /* the split is blocked at a bsync.soft */
    EMU_SPLIT_AT_SYNC = 2, /* state WARPSYNC: the split is before a .sync operation, not after a warpsync */
    EMU_SPLIT_SYNCED = 4  /* ready: the split has synchronised for the .sync operation at its pc */
};
_Static_assert(sizeof(struct emu_split) == 64, "a split is a cache line");

/** State of a convergence barrier register of a warp. `lanes` are the lanes that hold a group number. If all these lanes hold the
 *  same number, it is in `number`, and the array w->breg[reg] is not up to date. If `number` is 0, the array is valid. Lanes
 *  outside `lanes` hold 0. Values of dead lanes are undefined. */
struct emu_breg_form {
    uint64_t lanes, number;
    uint64_t arrived;  /* lanes that are blocked at a bsync of this register */
    uint64_t splits;   /* ids of the splits that are blocked at a bsync of this register */
};

/** Entry of a SIMT stack, or of the table of another reconvergence engine (emu_simt_entries.c). The own lanes of an entry are
 *  those that no later entry contains. If an entry with own lanes waits, its pc is the pc of the split of these lanes. */
struct emu_simt_entry {
    uint32_t rpc;          /* pc at which the entry is popped, if the call depth is rdepth; EMU_NO_RPC: the entry is never popped
                            * at a pc */
    uint32_t pc;           /* pc at which the entry's lanes continue */
    uint32_t rdepth, depth; /* call depth (calls minus returns since the kernel's entry) at rpc, and at pc */
    uint64_t lanes;
    uint32_t began;        /* reconvergence engine `early`: 1 + pc at which the entry's split began, or 0 if it is not known */
    int16_t split;         /* id of the split of the entry's own lanes, or -1 if the entry has no own lanes */
    bool early;            /* the entry waits before its reconvergence pc: under the engine `early` for lanes whose split began
                            * at the same pc, under the engine `likely` at a likely convergence point */
    bool right;            /* the second path of a level of a dual-path stack; the entry before it is the first path */
};
enum { EMU_SIMT_BASE = 6, EMU_SIMT_LIMIT = 1 << 14 };
struct emu_simt {
    unsigned count, capacity;
    struct emu_simt_entry *heap; /* owned; NULL while base has enough capacity */
    struct emu_simt_entry base[EMU_SIMT_BASE];
};

/** Number of registers before v0 in a warp's register file (emu_decode_priv.h). */
enum { EMU_ROW_V0 = 16 };

/** A warp. The members of a warp are arranged by cache lines of the host: a step reads the first two lines, the two lines from
 *  `exec` on, and the registers that the instruction uses (emu_step_addresses.c). The address of the structure must differ from
 *  those of low vector registers modulo 4 KiB, because equal addresses alias in the host's store buffer. */
struct emu_warp {
    char *regs;            /* register file: EMU_ROW_V0 registers, v0.., then special registers */
    uint32_t stride;       /* bytes of a vector register */
    uint32_t n;            /* number of lanes in a vector register, including padding */
    uint64_t e;            /* mask m & exec: lanes in which instructions have an effect */
    uint64_t m;            /* lanes of the running split; only emu_warp_set_lanes() sets them */
    int64_t budget;        /* number of instructions that this time slice may still retire after the current straight-line run */
    const struct emu_dinsn *run_start; /* first instruction of the current straight-line run that is not in the warp's counts
                                        * yet */
    const struct emu_dinsn *di;        /* instruction at which the warp continues; valid after the warp has left its handler
                                        * chain */
    struct emu_code *code;
    const char *ubase[EMU_U_COUNT]; /* [enum emu_ukind] addresses of uniform operands. `ubase` begins line 1 of the warp in the
                                     * host's cache (lines count from 0). */
    uint8_t leave;         /* enum emu_leave */
    bool full;             /* true if e contains all lanes of the warp, so that full handlers may run */
    uint8_t width;         /* W */
    uint8_t m_count;       /* number of lanes in m */
    unsigned index;        /* index in the block */
    struct emu_core *core;
    struct emu_block *block;
    uint64_t all;          /* lw_mask(width), for the few instructions that need the mask of all lanes */
    uint32_t row_zero, row_sink, row_a, row_b, row_c; /* byte offsets from regs of register rows. row_zero: zeros; row_sink: for
                                                       * discarded results; row_a, row_b, row_c: scratch, for operands A, B
                                                       * and C */
    uint8_t last_column, last_row; /* tag rules `fold`: last column and last thread row of the warp:
                                    * (last_column + 1) * (last_row + 1) is W */
    uint16_t vreg_count;
    struct emu_ctag *ctag;   /* compact mode: tags, by register index; NULL in other modes */
    uint8_t *cstate;
    struct emu_shadow *shadow; /* shadow mode: tags in addition to the register rows (emu_tags_priv.h); NULL in other modes */
    uint64_t launched;
    const struct emu_reconv *reconv;
    uint32_t s[128];       /* s0..s125, then exec in s[126] and s[127]. exec is in the cache line after the last one of
                            * s0..s125 */
    /* In each new warp, init_warp() sets the members from exec to simt.heap to initial values. */
    uint64_t live;
    uint64_t retired;      /* number of retired warp instructions */
    uint64_t lane_retired; /* sum over the retired instructions of the number of lanes of the running split */
    uint64_t slice_start;   /* value of retired when the warp's counts were last added to its block */
    /* table of splits; emu_split.c manages it */
    unsigned split_count;
    int running;           /* id of the split with the time slice, or -1 */
    unsigned turn_used;    /* instructions of the running split's time slice so far */
    unsigned last_low;     /* lowest lane of the split selected last */
    bool stepped;          /* the warp executes in single steps because the machine's hooks requested it */
    bool halting;          /* the hook of the next instruction has already been called, so the hook layer must not call it again */
    bool parts;            /* a split may be a part of a divided split (emu_split_divide); may still be true when no part exists.
                            * If `parts` is false, every split's `family` is 0 */
    bool reaches;          /* reconv->reach must be called at the end of each of the warp's time slices */
    bool tagged;           /* tags are on: shadow or ctag is set */
    bool merge, stacked;   /* copies of machine options */
    struct emu_flow *flow; /* watched path: receives the effects of a step; NULL on the fast path. `flow` is in the cache line
                            * after that of exec */
    uint8_t proved[EMU_ADDR_CHECKS]; /* bits EMU_PROVED_*: facts about addresses in registers, valid within the current
                                      * straight-line run */
    uint8_t sp[8];         /* scalar predicates sp0..sp6 as 0 or 1; spt is 1 */
    uint64_t split_ids;
    uint32_t breg_blocked; /* set of convergence registers at which lanes are blocked */
    uint32_t run_done;     /* number of instructions of the current straight-line run that precede an instruction which reads a
                            * clock */
    uint64_t split_in[EMU_SPLIT_STATE_COUNT]; /* [state] set of the ids of splits in that state; the running split counts as
                                               * READY */
    uint64_t p[9];         /* predicates p0..p6 as lane masks; pt, which is all ones; and p[8], which receives discarded
                            * results */
    uint64_t seq_counter;  /* seq_counter and the following members are 0 in a new warp */
    uint64_t hooked_lanes;         /* lanes of the split whose access was last reported to the machine's hooks */
    uint64_t group_counter, born_counter;
    uint64_t served;       /* compact mode: number of instructions executed on tags for all W lanes */
    uint64_t lanes_saved, expansions, rows_made; /* compact mode: thread instructions that tags saved in warps with fewer than W
                                                  * lanes, registers that lost their tag, and register rows materialised */
    struct emu_simt simt;  /* table of entries, for reconvergence engines that have one; emu_split_fini() frees simt.heap */
    uint8_t *local;        /* local memory, word-interleaved: [word][padded lane] uint32_t */
    uint32_t local_bytes;  /* bytes of local memory of each lane */
    unsigned breg_count;
    uint64_t (*breg)[EMU_MAX_LANES]; /* [breg_count][lane] group numbers; read by emu_breg_number() */
    struct emu_breg_form bform[ISA_BREG_COUNT]; /* initially zeros */
    const struct emu_policy *policy; /* copies of machine options */
    unsigned quantum, window;
    uint64_t look;         /* number of the observation that proved that the warp repeats a cycle for ever */
    uint32_t cycle;        /* index of the warp's record in that observation */

    /* The following members are not initialised in a new warp: they still have the values of the slot's earlier warp. Members
     * above this comment determine which of the uninitialised members are valid. */
    struct emu_fault fault;
    struct emu_split split[EMU_MAX_LANES]; /* [id]; valid for ids in split_ids */
    uint64_t member[EMU_MAX_LANES]; /* [lane] member masks of lanes that wait at a warpsync */
    uint64_t mask_lanes;   /* mask that mask_row represents (emu_warp_set_lanes) */
    uint32_t mask_row[EMU_MAX_LANES] __attribute__((aligned(64))); /* mask_lanes as words: 0 or ~0 for each lane */
    struct emu_addr_check proof[EMU_ADDR_CHECKS]; /* the element with an index is valid if proved[] is not 0 at that index */
};
struct emu_cta_barrier {
    bool in_use, has_count;
    uint32_t count;
    uint32_t arrived;      /* number of arrived lanes, including the missing lanes of the last 32 of the block
                            * (MACHINE 2) */
    uint32_t arrived_live; /* number of arrived lanes that are live */
    uint32_t alone;        /* number of warps that have arrived by emu_split_bar_alone() and whose splits have not changed
                            * since */
    uint64_t generation;   /* value of the block's cta_generation at the first arrival of the current use */
    uint64_t *lanes;       /* [warp] mask of arrived lanes */
    uint32_t brought, yes; /* bar.red: number of active lanes that arrived, and of arrived lanes whose predicate is true */
};

/** Number of special registers whose values are fixed when a block starts: %ntid, %ctaid, %nctaid, %offset and %workdim. */
enum { EMU_BLOCK_SPECIALS = ISA_SR_WORKDIM + 1 - ISA_SR_NTID_X };
static inline bool emu_special_of_block(enum isa_special sr)
{
    return (unsigned)sr - ISA_SR_NTID_X < EMU_BLOCK_SPECIALS;
}

struct emu_block {
    struct emu_core *core;
    struct emu_grid *grid;
    uint64_t linear;
    uint32_t index[3];
    uint32_t special[EMU_BLOCK_SPECIALS]; /* special registers from ISA_SR_NTID_X on: equal in all warps of the block */
    unsigned slot;
    bool in_use, started;
    bool ended;       /* no lane is live; the grid's count of ended blocks includes the block */
    bool unseen;      /* true if checkers have not been notified of the block's start, because a debugger's inspection of the past
                       * created the block; they are notified when the block first runs */
    bool ends_grid;   /* the block was the last block of its grid to end */
    struct emu_warp *warp;   /* [warp_count] */
    unsigned warp_count, warps_live;
    uint32_t threads, threads_live;
    uint8_t *shared;
    uint32_t shared_bytes;
    struct emu_cta_barrier cta[ISA_CTA_BARRIER_COUNT];
    uint32_t cta_open;       /* set of the CTA barriers that are in use; emu_barrier.c manages it */
    uint64_t cta_generation; /* number of times that the use of a CTA barrier of the block began */
    uint64_t retired;        /* number of retired warp instructions; the guest reads it as `clock` */
    uint64_t progress;       /* grows with every store that changes a byte of shared or global memory, every exit, and every
                              * printed text */
    uint64_t seen, seen_at;  /* seen: value of `progress` when it was last checked; seen_at: 1 + time of the last check that found
                              * that `progress` had grown */
    uint64_t look;           /* number of the spin observation (emu_spin_observer_priv.h) that proved that some warps of the block
                              * loop for ever; look_arrives and look_waits describe these warps */
    uint32_t look_arrives, look_waits; /* set of the CTA barriers at which the looping warps arrive, and of those at which lanes
                                        * of these warps always wait */
    uint64_t sleep_offset;   /* added to `retired` to get the block's time, at which sleeping splits wake. sleep_offset grows when
                              * all splits sleep and the time jumps */
    unsigned next_warp;      /* index of the next warp in the rotation */
    uint32_t children;       /* number of launches by the block that are not complete; launch.sync waits for them */
    uint32_t streams;        /* number of streams that launch.stream has created */
    void *memory;            /* heap block that holds the warps, vector registers and shared memory */
    size_t memory_bytes;
    void *bregs;             /* memory of the barrier registers, which few kernels use; from lw_reserve */
    size_t bregs_bytes;
    uint64_t formed_by;      /* stamp of the warp template from which the block's memory was initialised, or 0. Members that
                              * the template's warps never change are still valid for the same template */
};

/** Makes the warp leave its handler chain. @next is the instruction that the split executes when it continues. */
static inline void emu_leave(struct emu_warp *w, enum emu_leave why,
                             const struct emu_dinsn *next)
{
    w->leave = (uint8_t)why;
    w->di = next;
}

/** Counts the instructions of the straight-line run up to @last, inclusive: subtracts them from the budget, and adds them to the
 *  warp's counts. */
static inline void emu_count_run(struct emu_warp *w, const struct emu_dinsn *last)
{
    int64_t n = last - w->run_start + 1;

    w->budget -= n;
    w->retired += (uint64_t)n;
    w->lane_retired += (uint64_t)n * w->m_count;
    w->run_start = last + 1;
    memset(w->proved, 0, sizeof w->proved); /* facts about addresses are valid only within a straight-line run */
}

/** Counts the instructions of the straight-line run up to @di, exclusive. @di is not counted, because it has not been executed
 *  yet, or has no effect. */
static inline void emu_count_before(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_count_run(w, di - 1);
}

/** Raises a guest fault at @di for @lanes. The instruction has no effect; earlier instructions of the run keep their
 *  effects. The handler must return after the call. */
void emu_raise(struct emu_warp *w, const struct emu_dinsn *di, enum emu_fault_kind kind,
               uint64_t lanes, const char *fmt, ...) LW_PRINTF(5, 6);
/** Raises a guest fault of the memory access @di for @lanes, as emu_raise() does. */
void emu_raise_memory(struct emu_warp *w, const struct emu_dinsn *di, enum emu_fault_kind kind,
                      uint64_t lanes, enum isa_space space, uint64_t address, unsigned bytes,
                      bool write);

/** Returns the mask of the lanes for which the guard of @di is true. Bits outside the warp are undefined. */
static inline uint64_t emu_guard(const struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t g = di->guard & 16 ? (w->sp[di->guard & 7] ? ~UINT64_C(0) : 0) : w->p[di->guard & 7];
    return di->guard & 8 ? ~g : g;
}
/** Returns the lanes in which predicate operand @r is true; bit 3 of @r negates the predicate. */
static inline uint64_t emu_predicate(const struct emu_warp *w, unsigned r)
{
    uint64_t p = w->p[r & 7];
    return r & 8 ? ~p : p;
}
static inline void emu_put_predicate(struct emu_warp *w, unsigned p, uint64_t lanes, uint64_t value)
{
    w->p[p] = (w->p[p] & ~lanes) | (value & lanes);
}
/** Writes the predicates P and Q of a compare. Bits 5:4 of di->sub select how P and Q are combined with predicate R. */
static inline void emu_put_compare(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes,
                                   uint64_t p, uint64_t q)
{
    if (__builtin_expect(di->sub & 3 << 4, 0)) {
        const uint64_t r = emu_predicate(w, di->r);
        switch (di->sub >> 4 & 3) {
        case ISA_BOOL_AND: p &= r, q &= r; break;
        case ISA_BOOL_OR: p |= r, q |= r; break;
        default: p ^= r, q ^= r; break;
        }
    }
    emu_put_predicate(w, di->p, lanes, p);
    emu_put_predicate(w, di->q, lanes, q);
}
static inline uint64_t emu_exec_mask(const struct emu_warp *w)
{
    return (uint64_t)w->s[127] << 32 | w->s[126];
}
/** Returns the vector register at byte offset @offset of the register file. */
static inline uint32_t *emu_row(const struct emu_warp *w, uint32_t offset)
{
    return (uint32_t *)(void *)(w->regs + offset);
}
/** Return the 32- or 64-bit value of a uniform operand. */
static inline uint32_t emu_uniform32(const struct emu_warp *w, const struct emu_dinsn *di)
{
    return lw_get32(w->ubase[di->ukind] + di->b);
}
static inline uint64_t emu_uniform64(const struct emu_warp *w, const struct emu_dinsn *di)
{
    return lw_get64(w->ubase[di->ukind] + di->b);
}

#endif
