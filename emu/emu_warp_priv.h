/* SPDX-License-Identifier: Apache-2.0 */
/* Inside emu/: splits, warps and blocks as all folders see them; operands and counts of a running warp; faults. */
#ifndef EMU_WARP_PRIV_H
#define EMU_WARP_PRIV_H

#include "emu/emu_code_priv.h"
#include "emu/program/emu_addr_cache_priv.h"

struct emu_block;

/** Why a warp left its handler chain. */
enum emu_leave {
    EMU_RUNNING = 0,
    EMU_LEAVE_BUDGET,  /* w->budget is used up; the split may continue at w->di */
    EMU_LEAVE_SLICE_END,    /* the split's turn ended: parted, blocked, passed, exited */
    EMU_LEAVE_BREAK,   /* a breakpoint at w->di, not executed */
    EMU_LEAVE_FAULT    /* w->fault; nothing was changed for the faulting instruction */
};

struct emu_split {
    uint8_t id, state; /* enum emu_split_state; a split's index in the table is its id */
    uint8_t barrier;   /* blocked at this convergence register / CTA barrier */
    uint8_t flags;     /* EMU_SPLIT_* */
    uint32_t pc;       /* instruction index in the program; while it runs, w->di has it */
    uint64_t lanes;
    uint64_t since;    /* warp's instruction count when it last ran or became ready */
    uint64_t seq;      /* for stack_like: order of pushing */
    uint64_t wake;     /* sleeping: block instruction count when it wakes */
    uint64_t family;   /* lanes of the split that an engine divided, this one's included; 0: whole */
    uint64_t born;     /* order of creation, decides ids when several splits are divided in one step */
    uint32_t reduction; /* at a CTA barrier: 1 + index of the bar.red whose result it waits for */
} __attribute__((aligned(64)));
enum {
    EMU_SPLIT_SOFT = 1,   /* blocked at a bsync.soft */
    EMU_SPLIT_AT_SYNC = 2, /* at warpsync: is before a .sync operation, not after a warpsync */
    EMU_SPLIT_SYNCED = 4  /* ready: has synchronised for the .sync operation at its pc */
};
_Static_assert(sizeof(struct emu_split) == 64, "a split is a cache line");

/** A convergence barrier register. While all lanes that hold a number hold the same one,
 *  `number` is it and the row w->breg[reg] is stale; number 0: the row says. Numbers of
 *  lanes outside `lanes` are 0; dead lanes do not matter. */
struct emu_breg_form {
    uint64_t lanes, number;
    uint64_t arrived;  /* lanes blocked at this register */
    uint64_t splits;   /* ids of the splits blocked at it */
};

/** An entry of a SIMT stack (emu_simt_stack.c). The top's pc is its split's; so is that of any entry
 *  with lanes of its own (those that no entry above has). */
struct emu_simt_entry {
    uint32_t rpc;          /* where it is popped, at call depth rdepth; EMU_NO_RPC: never */
    uint32_t pc;           /* where it continues */
    uint32_t rdepth, depth; /* calls minus returns since the kernel's entry; depth: at pc */
    uint64_t lanes;
    int32_t split;         /* id of the split of its own lanes; -1: all are above */
};
enum { EMU_SIMT_BASE = 6, EMU_SIMT_LIMIT = 1 << 14 };
struct emu_simt {
    unsigned count, capacity;
    struct emu_simt_entry *heap; /* owned; NULL while base is enough */
    struct emu_simt_entry base[EMU_SIMT_BASE];
};

/** Rows before v0 in a warp's register file (emu_decode_priv.h). */
enum { EMU_ROW_V0 = 16 };

/** One warp, by lines of the host's cache: a step looks at two at its start, two from exec on and what
 *  registers it has (emu_step_addresses.c). It does not alias low register rows modulo 4 KiB. */
struct emu_warp {
    char *regs;            /* rows: v0.., then the special rows below */
    uint32_t stride;       /* bytes of a row */
    uint32_t n;            /* lanes of a padded row */
    uint64_t e;            /* lanes that effects reach: m & exec */
    uint64_t m;            /* lanes of the running split: set by emu_warp_set_lanes() only */
    int64_t budget;        /* instructions this turn may still retire, after the current run */
    const struct emu_dinsn *run_start; /* first instruction not yet counted */
    const struct emu_dinsn *di;        /* where to continue, when the chain was left */
    struct emu_code *code;
    const char *ubase[EMU_U_COUNT]; /* the second line */
    uint8_t leave;         /* enum emu_leave */
    bool full;             /* e covers all lanes of the row that exist: `full` chain */
    uint8_t width;         /* W */
    uint8_t m_count;       /* lanes in m */
    unsigned index;        /* in the block */
    struct emu_core *core;
    struct emu_block *block;
    uint64_t all;          /* lw_mask(width); what few instructions ask for */
    uint32_t row_zero, row_sink, row_a, row_b, row_c; /* byte offsets */
    uint8_t last_column, last_row; /* of lanes: W is (last_column + 1) * (last_row + 1) */
    uint16_t vreg_count;
    struct emu_ctag *ctag;   /* compact mode: by row index; NULL: not in that mode */
    uint8_t *cstate;
    struct emu_shadow *shadow; /* tags in addition to the rows (emu_tags_priv.h), NULL: not in that mode */
    uint64_t launched;
    const struct emu_reconv *reconv;
    uint32_t s[128];       /* s0..s125, exec in 126:127: that in the line after the others */
    /* From exec to the base of the stack: what each new warp of a grid starts with (init_warp). */
    uint64_t live;
    uint64_t retired;      /* warp instructions */
    uint64_t lane_retired; /* sum of split sizes */
    uint64_t slice_start;   /* retired when the warp's counts were last added to its block */
    /* splits, owned by emu_split.c */
    unsigned split_count;
    int running;           /* id of the split with the turn, or -1 */
    unsigned turn_used;    /* instructions of the running split's turn */
    unsigned last_low;     /* lowest lane of the split selected last */
    bool stepped;          /* in single steps, for the machine's hooks */
    bool halting;          /* the hook has seen the instruction that is to be executed, and halts */
    bool parts;            /* emu_split_divide divided a split; may be stale. Else no split has a family */
    bool reaches;          /* reconv->reach must be called at the end of each slice */
    bool tagged;           /* has shadow or ctag */
    bool merge, stacked;   /* copies of the machine's options */
    struct emu_flow *flow; /* NULL, or takes what a step did (watched path); the line after exec's */
    uint8_t proved[EMU_ADDR_CHECKS]; /* EMU_PROVED_*: in this straight-line run */
    uint8_t sp[8];         /* sp0..sp6 as 0/1, spt = 1 */
    uint64_t split_ids;
    uint32_t breg_blocked; /* registers with arrived lanes */
    uint32_t run_done;     /* instructions of the current run before a clock is read */
    uint64_t split_in[EMU_SPLIT_STATE_COUNT]; /* [state] ids; the running one is READY */
    uint64_t p[9];         /* p0..p6, pt = ~0, sink */
    uint64_t seq_counter;  /* from here on zeros */
    uint64_t hooked_lanes;         /* lanes of the split whose access the machine's hooks saw last */
    uint64_t group_counter, born_counter;
    uint64_t served;       /* compact mode: instructions of all W lanes done on tags */
    uint64_t lanes_saved, expansions, rows_made; /* by warps not whole; tags that ended; rows of tags */
    struct emu_simt simt;  /* `stack` only; owns memory: emu_split_fini() */
    uint8_t *local;        /* word-interleaved: [word][padded lane] uint32_t */
    uint32_t local_bytes;  /* per lane */
    unsigned breg_count;
    uint64_t (*breg)[EMU_MAX_LANES]; /* [breg_count][lane] group numbers: emu_breg_number() */
    struct emu_breg_form bform[ISA_BREG_COUNT]; /* zeros, too */
    const struct emu_policy *policy; /* copies of the machine's options */
    unsigned quantum, window;
    uint64_t look;         /* proved to go round for ever, in the look of this number */
    uint32_t cycle;        /* index of what that look knows of it */

    /* From here on a new warp takes over what was there: what is above says what of it counts. */
    struct emu_fault fault;
    struct emu_split split[EMU_MAX_LANES]; /* [id]; those in split_ids exist */
    uint64_t member[EMU_MAX_LANES]; /* warpsync masks of waiting lanes */
    uint64_t mask_lanes;   /* what mask_row was filled from: emu_warp_set_lanes */
    uint32_t mask_row[EMU_MAX_LANES] __attribute__((aligned(64))); /* e as 0 / ~0 */
    struct emu_addr_check proof[EMU_ADDR_CHECKS]; /* where proved[] says so */
};
struct emu_cta_barrier {
    bool in_use, has_count;
    uint32_t count;
    uint32_t arrived;      /* lanes, phantom lanes of a partial group included */
    uint32_t arrived_live; /* arrived lanes that are still live, phantoms not counted */
    uint32_t alone;        /* warps that came by emu_split_bar_alone() and were not changed since */
    uint64_t generation;   /* numbered through the block's barriers, in order of opening */
    uint64_t *lanes;       /* [warp] arrived lanes */
    uint32_t brought, yes; /* by bar.red: active lanes, and those with a true predicate */
};

/** Special registers that a block knows when it starts: %ntid, %ctaid, %nctaid, %offset, %workdim. */
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
    uint32_t special[EMU_BLOCK_SPECIALS]; /* ISA_SR_NTID_X and on: the same for all warps */
    unsigned slot;
    bool in_use, started;
    bool ended;       /* no lane lives; counted in the grid */
    bool unseen;      /* begun by a look in the past: checkers see its beginning where it first runs */
    bool ends_grid;   /* it was the last of the grid that ended */
    struct emu_warp *warp;   /* [warp_count] */
    unsigned warp_count, warps_live;
    uint32_t threads, threads_live;
    uint8_t *shared;
    uint32_t shared_bytes;
    struct emu_cta_barrier cta[ISA_CTA_BARRIER_COUNT];
    uint32_t cta_open;       /* barriers in use; emu_barrier.c's, 0 at the start */
    uint64_t cta_generation; /* of the barrier opened last */
    uint64_t retired;        /* warp instructions; `clock` */
    uint64_t progress;       /* grows with every store that changes a byte of shared or global memory, exit, text */
    uint64_t seen, seen_at;  /* progress when it was last looked at, and 1 + the time when it had grown */
    uint64_t retired_then;   /* when a look found progress in some block */
    uint64_t look;           /* in the look of this number (emu_spin_observer_priv.h), of warps that were proved: */
    uint32_t look_arrives, look_waits; /* CTA barriers that they arrive at, or are at all the time */
    uint64_t sleep_offset;   /* added to retired for sleepers when time jumps */
    unsigned next_warp;      /* rotation */
    uint32_t children;       /* kernels that it launched, not complete: launch.sync waits for them */
    uint32_t streams;        /* launch.stream made so many */
    void *memory;            /* the one heap block that holds warps, rows, shared */
    size_t memory_bytes;
    void *bregs;             /* rows of barrier registers, which few kernels touch: lw_reserve */
    size_t bregs_bytes;
    uint64_t formed_by;      /* the template's stamp: what its warps leave unchanged fits; or 0 */
};

/** Leave the chain; @next is what the split executes when it continues. */
static inline void emu_leave(struct emu_warp *w, enum emu_leave why,
                             const struct emu_dinsn *next)
{
    w->leave = (uint8_t)why;
    w->di = next;
}

/** Count the straight-line run that ends with @last (included) against the budget. */
static inline void emu_count_run(struct emu_warp *w, const struct emu_dinsn *last)
{
    int64_t n = last - w->run_start + 1;

    w->budget -= n;
    w->retired += (uint64_t)n;
    w->lane_retired += (uint64_t)n * w->m_count;
    w->run_start = last + 1;
    memset(w->proved, 0, sizeof w->proved); /* whatever comes next may start anywhere */
}

/** The same for a run that ends before @di: it is not executed. */
static inline void emu_count_before(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_count_run(w, di - 1);
}

/** Raise a guest fault at @di for @lanes; the instruction has no effect. Nothing before it
 *  in the run is lost. Call, then return from the handler. */
void emu_raise(struct emu_warp *w, const struct emu_dinsn *di, enum emu_fault_kind kind,
               uint64_t lanes, const char *fmt, ...) LW_PRINTF(5, 6);
/** The same for memory. */
void emu_raise_memory(struct emu_warp *w, const struct emu_dinsn *di, enum emu_fault_kind kind,
                      uint64_t lanes, enum isa_space space, uint64_t address, unsigned bytes,
                      bool write);

/** Guard mask: lanes of the machine word for which @di's guard holds. */
static inline uint64_t emu_guard(const struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t g = di->guard & 16 ? (w->sp[di->guard & 7] ? ~UINT64_C(0) : 0) : w->p[di->guard & 7];
    return di->guard & 8 ? ~g : g;
}
/** Lanes where predicate operand @r (| 8 negated) is true. */
static inline uint64_t emu_predicate(const struct emu_warp *w, unsigned r)
{
    uint64_t p = w->p[r & 7];
    return r & 8 ? ~p : p;
}
static inline void emu_put_predicate(struct emu_warp *w, unsigned p, uint64_t lanes, uint64_t value)
{
    w->p[p] = (w->p[p] & ~lanes) | (value & lanes);
}
/** P and Q of a compare, both combined with R as bits 5:4 of di->sub say. */
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
/** A row of the register file. */
static inline uint32_t *emu_row(const struct emu_warp *w, uint32_t offset)
{
    return (uint32_t *)(void *)(w->regs + offset);
}
/** 32- or 64-bit value of a uniform operand. */
static inline uint32_t emu_uniform32(const struct emu_warp *w, const struct emu_dinsn *di)
{
    return lw_get32(w->ubase[di->ukind] + di->b);
}
static inline uint64_t emu_uniform64(const struct emu_warp *w, const struct emu_dinsn *di)
{
    return lw_get64(w->ubase[di->ukind] + di->b);
}

#endif
