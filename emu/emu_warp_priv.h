/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to emu/: splits, warps and blocks as all folders see them; operands and counts of a running warp;
 * faults. */
#ifndef EMU_WARP_PRIV_H
#define EMU_WARP_PRIV_H

#include "emu/emu_code_priv.h"
#include "emu/program/emu_addr_cache_priv.h"

struct emu_block;

/** Reason for which a warp left its handler chain. */
enum emu_leave {
    EMU_RUNNING = 0,
    EMU_LEAVE_BUDGET,  /* w->budget is used up; the split may continue at w->di */
    EMU_LEAVE_SLICE_END,    /* the split's slice ended: diverged, blocked, yielded, exited */
    EMU_LEAVE_BREAK,   /* a breakpoint at w->di, which was not executed */
    EMU_LEAVE_FAULT    /* w->fault is set; the faulting instruction changed nothing */
};

struct emu_split {
    uint8_t id, state; /* enum emu_split_state; a split's index in the table is its id */
    uint8_t barrier;   /* convergence register or CTA barrier at which the split is blocked */
    uint8_t flags;     /* EMU_SPLIT_* */
    uint32_t pc;       /* instruction index in the program; for a running split w->di has it */
    uint64_t lanes;
    uint64_t since;    /* value of the warp's instruction count when the split last ran or became ready */
    uint64_t seq;      /* stack_like: order of pushing */
    uint64_t wake;     /* sleeping: block instruction count at which it wakes */
    uint64_t family;   /* lanes of the split that an engine divided, including the lanes of this part; 0: the split is
                        * undivided */
    uint64_t born;     /* creation sequence; decides ids when several splits are divided in one step */
    uint32_t reduction; /* at a CTA barrier: 1 + index of the bar.red for whose result the split waits */
} __attribute__((aligned(64)));
enum {
    EMU_SPLIT_SOFT = 1,   /* the split is blocked at a bsync.soft */
    EMU_SPLIT_AT_SYNC = 2, /* at warpsync: the split is before a .sync operation, not after a warpsync */
    EMU_SPLIT_SYNCED = 4  /* ready: the split has synchronised for the .sync operation at its pc */
};
_Static_assert(sizeof(struct emu_split) == 64, "a split is a cache line");

/** State of a convergence barrier register. If all lanes that hold a group number hold the same number, this number is
 *  in `number`, and the vector register w->breg[reg] is stale. number 0: the vector register is valid. Lanes outside
 *  `lanes` hold 0. Values of dead lanes are undefined. */
struct emu_breg_form {
    uint64_t lanes, number;
    uint64_t arrived;  /* lanes blocked at this register */
    uint64_t splits;   /* ids of the splits blocked at this register */
};

/** Entry of a SIMT stack, or of the tables of another engine (emu_simt_entries.c). An entry's own lanes are the lanes that
 *  no later entry has. If an entry has own lanes and waits, its pc is the pc of their split. */
struct emu_simt_entry {
    uint32_t rpc;          /* pc at which the entry is popped, at call depth rdepth; EMU_NO_RPC: never */
    uint32_t pc;           /* pc at which it continues */
    uint32_t rdepth, depth; /* call depth (calls minus returns since the kernel's entry) at rpc and at pc */
    uint64_t lanes;
    uint32_t began;        /* pc + 1 at which the split of the entry began, for the engine `early`; 0: not known */
    int16_t split;         /* id of the split of the entry's own lanes; -1: all its lanes are in later entries */
    bool early;            /* the entry waits before its end for lanes that began where its split began */
};
enum { EMU_SIMT_BASE = 6, EMU_SIMT_LIMIT = 1 << 14 };
struct emu_simt {
    unsigned count, capacity;
    struct emu_simt_entry *heap; /* owned; NULL while base has enough capacity */
    struct emu_simt_entry base[EMU_SIMT_BASE];
};

/** Registers before v0 in a warp's register file (emu_decode_priv.h). */
enum { EMU_ROW_V0 = 16 };

/** A warp, laid out by cache lines of the host: a step reads two lines at its start, two from `exec` on, and the
 *  registers that it uses (emu_step_addresses.c). Its address must not alias low vector registers modulo 4 KiB. */
struct emu_warp {
    char *regs;            /* register file: v0.., then special registers */
    uint32_t stride;       /* bytes of a vector register */
    uint32_t n;            /* lanes of a padded vector register */
    uint64_t e;            /* lanes in which instructions have an effect: m & exec */
    uint64_t m;            /* lanes of the running split; only emu_warp_set_lanes() sets them */
    int64_t budget;        /* instructions that this slice may still retire, after the current run */
    const struct emu_dinsn *run_start; /* first instruction not counted yet */
    const struct emu_dinsn *di;        /* instruction at which to continue after the chain was left */
    struct emu_code *code;
    const char *ubase[EMU_U_COUNT]; /* line 1 of the warp in the host cache begins here (lines count from 0) */
    uint8_t leave;         /* enum emu_leave */
    bool full;             /* e contains all lanes that the warp has: the full chain runs */
    uint8_t width;         /* W */
    uint8_t m_count;       /* number of lanes in m */
    unsigned index;        /* index in the block */
    struct emu_core *core;
    struct emu_block *block;
    uint64_t all;          /* lw_mask(width); few instructions use it */
    uint32_t row_zero, row_sink, row_a, row_b, row_c; /* byte offsets */
    uint8_t last_column, last_row; /* numbers of the last column and row of the warp's lanes; W is (last_column + 1) *
                                    * (last_row + 1) */
    uint16_t vreg_count;
    struct emu_ctag *ctag;   /* compact mode: [row index] tags; NULL in other modes */
    uint8_t *cstate;
    struct emu_shadow *shadow; /* shadow mode: tags in addition to the rows (emu_tags_priv.h); NULL in other modes */
    uint64_t launched;
    const struct emu_reconv *reconv;
    uint32_t s[128];       /* s0..s125, exec in 126:127; exec has the cache line after s0..s125 */
    /* The members from exec to the base of the stack are set to initial values in each new warp of a grid
     * (init_warp). */
    uint64_t live;
    uint64_t retired;      /* warp instructions */
    uint64_t lane_retired; /* sum of active split sizes over instructions */
    uint64_t slice_start;   /* value of retired when the warp's counts were last added to its block */
    /* splits, managed by emu_split.c */
    unsigned split_count;
    int running;           /* id of the split with the time slice, or -1 */
    unsigned turn_used;    /* instructions of the running split's slice so far */
    unsigned last_low;     /* lowest lane of the split selected last */
    bool stepped;          /* the warp executes in single steps for the machine's hooks */
    bool halting;          /* the hook has been called for the next instruction, and halts the warp before it */
    bool parts;            /* emu_split_divide may have divided a split; may be stale. If false, no split has a
                            * family */
    bool reaches;          /* reconv->reach must be called at the end of each slice */
    bool tagged;           /* shadow or ctag is set */
    bool merge, stacked;   /* copies of machine options */
    struct emu_flow *flow; /* receives the effects of a step (watched path), or NULL; it is in the cache line after
                            * exec's */
    uint8_t proved[EMU_ADDR_CHECKS]; /* EMU_PROVED_*: facts about addresses that are known in this straight-line run */
    uint8_t sp[8];         /* sp0..sp6 as 0/1, spt = 1 */
    uint64_t split_ids;
    uint32_t breg_blocked; /* set of convergence registers at which lanes are blocked */
    uint32_t run_done;     /* number of instructions of the current run before the instruction that reads a clock */
    uint64_t split_in[EMU_SPLIT_STATE_COUNT]; /* [state] ids of splits; the running one is READY */
    uint64_t p[9];         /* p0..p6, pt = ~0, sink */
    uint64_t seq_counter;  /* from here on zeros */
    uint64_t hooked_lanes;         /* lanes of the split whose access the machine's hooks saw last */
    uint64_t group_counter, born_counter;
    uint64_t served;       /* compact mode: instructions executed on tags for all W lanes */
    uint64_t lanes_saved, expansions, rows_made; /* compact mode: lanes saved in partial warps; tags lost;
                                                  * vectors materialised */
    struct emu_simt simt;  /* used by reconvergence engines with a table of entries; emu_split_fini() frees simt.heap */
    uint8_t *local;        /* local memory, word-interleaved: [word][padded lane] uint32_t */
    uint32_t local_bytes;  /* bytes of local memory of each lane */
    unsigned breg_count;
    uint64_t (*breg)[EMU_MAX_LANES]; /* [breg_count][lane] group numbers: emu_breg_number() */
    struct emu_breg_form bform[ISA_BREG_COUNT]; /* initially zeros */
    const struct emu_policy *policy; /* copies of machine options */
    unsigned quantum, window;
    uint64_t look;         /* number of the observation that proved that the warp loops for ever */
    uint32_t cycle;        /* index of its record in that observation */

    /* From here on a new warp keeps the old contents of the slot: the members above determine which of the following
     * members are valid. */
    struct emu_fault fault;
    struct emu_split split[EMU_MAX_LANES]; /* [id]; valid for ids in split_ids */
    uint64_t member[EMU_MAX_LANES]; /* warpsync masks of waiting lanes */
    uint64_t mask_lanes;   /* lanes that mask_row represents: emu_warp_set_lanes */
    uint32_t mask_row[EMU_MAX_LANES] __attribute__((aligned(64))); /* e as words: 0 or ~0 for each lane */
    struct emu_addr_check proof[EMU_ADDR_CHECKS]; /* valid if the element of proved[] has a bit set */
};
struct emu_cta_barrier {
    bool in_use, has_count;
    uint32_t count;
    uint32_t arrived;      /* arrived lanes, including phantom lanes of a partial group */
    uint32_t arrived_live; /* arrived lanes that are live */
    uint32_t alone;        /* warps that arrived by emu_split_bar_alone() and have not changed since then */
    uint64_t generation;   /* sequence number of the opening of the barrier among the block's barriers */
    uint64_t *lanes;       /* [warp] arrived lanes */
    uint32_t brought, yes; /* bar.red: active lanes that arrived, and arrived lanes with a true predicate */
};

/** Special registers with values known when a block starts: %ntid, %ctaid, %nctaid, %offset, %workdim. */
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
    bool ended;       /* no lane is live; counted in the grid */
    bool unseen;      /* a debugger's inspection of the past created the block: checkers are notified of its start when
                       * it first runs */
    bool ends_grid;   /* the block was the last block of its grid to end */
    struct emu_warp *warp;   /* [warp_count] */
    unsigned warp_count, warps_live;
    uint32_t threads, threads_live;
    uint8_t *shared;
    uint32_t shared_bytes;
    struct emu_cta_barrier cta[ISA_CTA_BARRIER_COUNT];
    uint32_t cta_open;       /* CTA barriers in use; managed by emu_barrier.c, 0 at the start */
    uint64_t cta_generation; /* generation of the barrier opened last */
    uint64_t retired;        /* warp instructions; value of `clock` */
    uint64_t progress;       /* grows with every store that changes a byte of shared or global memory, every exit and
                              * every printed text */
    uint64_t seen, seen_at;  /* seen: value of progress when it was last checked; seen_at: 1 + time of the last check
                              * that found progress */
    uint64_t retired_then;   /* value of retired when a check last found that some block had made progress */
    uint64_t look;           /* Observation (emu_spin_observer_priv.h) that proved that some warps loop, and properties
                              * of these warps: */
    uint32_t look_arrives, look_waits; /* sets of the CTA barriers at which the warps arrive, and at which they always
                                        * wait */
    uint64_t sleep_offset;   /* added to `retired` for the wake-up times of sleeping splits, after a jump of the block's
                              * time */
    unsigned next_warp;      /* index of the next warp in the rotation */
    uint32_t children;       /* launches of the block that are not complete: launch.sync waits for them */
    uint32_t streams;        /* number of streams that launch.stream has created */
    void *memory;            /* heap block with warps, vector registers and shared memory */
    size_t memory_bytes;
    void *bregs;             /* barrier registers, which few kernels use: lw_reserve */
    size_t bregs_bytes;
    uint64_t formed_by;      /* stamp of the warp template from which the memory was initialised, or 0; members that the
                              * template's warps never change are still valid */
};

/** Leaves the chain; @next is the instruction that the split executes when it continues. */
static inline void emu_leave(struct emu_warp *w, enum emu_leave why,
                             const struct emu_dinsn *next)
{
    w->leave = (uint8_t)why;
    w->di = next;
}

/** Counts the straight-line run that ends with @last (inclusive) against the budget. */
static inline void emu_count_run(struct emu_warp *w, const struct emu_dinsn *last)
{
    int64_t n = last - w->run_start + 1;

    w->budget -= n;
    w->retired += (uint64_t)n;
    w->lane_retired += (uint64_t)n * w->m_count;
    w->run_start = last + 1;
    memset(w->proved, 0, sizeof w->proved); /* the facts are valid only for this run */
}

/** Counts the instructions of a run that ends before @di, which is not executed. */
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

/** Returns the guard mask: lanes of the machine word for which @di's guard holds. */
static inline uint64_t emu_guard(const struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t g = di->guard & 16 ? (w->sp[di->guard & 7] ? ~UINT64_C(0) : 0) : w->p[di->guard & 7];
    return di->guard & 8 ? ~g : g;
}
/** Returns the lanes in which predicate operand @r (| 8: negated) is true. */
static inline uint64_t emu_predicate(const struct emu_warp *w, unsigned r)
{
    uint64_t p = w->p[r & 7];
    return r & 8 ? ~p : p;
}
static inline void emu_put_predicate(struct emu_warp *w, unsigned p, uint64_t lanes, uint64_t value)
{
    w->p[p] = (w->p[p] & ~lanes) | (value & lanes);
}
/** Writes P and Q of a compare. Bits 5:4 of di->sub select how both results are combined with R. */
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
/** Returns a vector register of the register file. */
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
