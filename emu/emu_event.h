/* SPDX-License-Identifier: Apache-2.0 */
/* The event of one warp instruction (MACHINE 5), which describes the effects of a step. */
#ifndef EMU_EVENT_H
#define EMU_EVENT_H

#include "emu/emu_fault.h"
#include "emu/emu_grid.h"
#include "emu/emu_memory.h"

enum emu_event_kind {
    EMU_EV_RETIRED,
    EMU_EV_FAULT,
    EMU_EV_ARRIVED /* lanes arrived at a .sync operation and wait: no instruction was executed */
};
enum emu_conv_op {
    EMU_CONV_NONE, EMU_CONV_JOIN, EMU_CONV_ARRIVE, EMU_CONV_PASS, EMU_CONV_BREAK,
    EMU_CONV_SAVE, EMU_CONV_RESTORE, EMU_CONV_YIELD, EMU_CONV_WARPSYNC
};

/** Cause for which waiting lanes became ready. */
enum emu_release {
    EMU_RELEASE_NONE, EMU_RELEASE_ARRIVAL, EMU_RELEASE_YIELD, EMU_RELEASE_EXIT,
    EMU_RELEASE_BREAK, EMU_RELEASE_REJOIN, EMU_RELEASE_CTA, EMU_RELEASE_WARPSYNC,
    EMU_RELEASE_POP /* stack: the lanes above reached the reconvergence pc or exited */
};

/** Tag of a vector register of a warp, describing the values in all live lanes. U: base. A: base + stride *
 *  (lane % fold) + rise * (lane / fold) modulo 2^32, where fold is the machine's warp width and rise is 0,
 *  except under the rules `fold`. V: any values. */
enum emu_tag_kind { EMU_TAG_U, EMU_TAG_A, EMU_TAG_V };
struct emu_tag {
    uint8_t kind;  /* enum emu_tag_kind */
    bool pair;     /* this register and the following one form one 64-bit value that is U or A: see pair_base */
    uint8_t fold;  /* number of lanes in a row of the block, or W */
    uint32_t base;
    int32_t stride, rise;
    uint64_t pair_base;
    int64_t pair_stride, pair_rise;
};
/** A vector register that an instruction reads or writes. */
struct emu_tag_change {
    uint8_t reg;
    bool read, written; /* the instruction's operands read or write it, even if the guard is false in all lanes */
    struct emu_tag before, after;
};

struct emu_outcome {
    uint64_t pc, lanes;
    unsigned split; /* id of the lanes' split after the step */
};
enum emu_access_kind {
    EMU_ACCESS_LOAD,
    EMU_ACCESS_STORE,
    EMU_ACCESS_ATOMIC,
    EMU_ACCESS_REDUCE,  /* atomic that returns no result */
    EMU_ACCESS_CONSTANT /* constant operand: all lanes read one address of a bank */
};
/** Lanes whose addresses are affine: lane l of `lanes`, which is not empty, has base + stride * (l - lowest
 *  lane). */
struct emu_event_segment {
    uint64_t lanes, base;
    int64_t stride; /* distance of the lanes' addresses; 0 for one lane */
};
enum { EMU_EVENT_SEGMENTS = 8 };
/**
 * One access of a step, with all its lanes. Reads of vprintf and assertfail from guest memory (format, arguments,
 * names) are not listed, because the size of strings is unknown before they are read; EMU_MACHINE_TEXT and _ASSERT
 * have the text. Reads of launch instructions are not listed either; EMU_MACHINE_LAUNCH reports them.
 */
struct emu_access {
    enum isa_space space;      /* space of the lowest lane, after generic resolution */
    enum emu_access_kind kind;
    uint8_t bytes;             /* bytes that each lane accesses */
    uint8_t order, scope, cache; /* values of the modifier groups */
    /** The access fetches texels of a texture. `lanes` are the lanes that read a texel. The other lanes of the
     *  instruction fetched outside the texture and read no memory. The read of the descriptor is not listed. */
    bool texture;
    /** Lanes that the access serves. A scalar load is one access, reported for the lowest lane; a constant
     *  operand of a scalar instruction serves all lanes of the split. */
    uint64_t lanes;
    const uint8_t *lane_space; /* [lane] enum isa_space after generic resolution */
    const uint64_t *address;   /* [lane] generic addresses */
    const uint8_t (*old_value)[16]; /* [lane]: memory before the access */
    const uint8_t (*new_value)[16]; /* [lane]: memory after a write; NULL for loads */
    bool affine;
    uint64_t base;
    int64_t stride;
    /** Global accesses: the allocation of the lowest lane's address. */
    bool in_allocation;
    struct emu_allocation allocation;
    /** Atomics: lanes in the order in which they were served; other accesses have no order. */
    const uint8_t *service; /* [service_count] */
    unsigned service_count;
    /** EMU_EVENT_ADDRESSES: the addresses of all lanes in closed form, each lane in one segment, sorted by
     *  lowest lane. 0: there are too many segments, or they were not requested; the arrays above are then
     *  valid. */
    unsigned piece_count;
    struct emu_event_segment piece[EMU_EVENT_SEGMENTS];
};

/** Effect of a step on a convergence barrier. */
struct emu_event_conv {
    enum emu_conv_op op;
    uint8_t reg;
    bool soft;
    uint64_t group;             /* number of the group */
    uint64_t arrived, released; /* lanes that arrived, lanes that were released */
    enum emu_release why;
};
/** Effect of a step on a CTA barrier. */
struct emu_event_cta {
    bool used, completed;
    uint8_t id;
    unsigned arrived, expected;
    uint64_t generation;
};
/** Result of one step. Pointers are borrowed until the next step on the same core. */
struct emu_event {
    enum emu_event_kind kind;
    /* the warp that executed the step */
    const struct emu_core *core;
    const struct emu_grid *grid;
    uint32_t block_index[3];
    uint64_t block;    /* linear index */
    unsigned slot;     /* resident block slot on the core */
    unsigned warp;     /* index in the block */
    unsigned split;
    /** Instructions retired before this one: by the core's warps (several cores have no common order), by the
     *  warp, by the block. */
    uint64_t sequence;
    uint64_t warp_sequence, block_sequence;
    /* the instruction */
    uint64_t pc;
    const struct isa_insn *insn;
    /* lanes of the split, exec, guard, and the lanes that are in all three */
    uint64_t split_lanes, exec, guard, effective;
    /* control flow */
    const struct emu_outcome *outcomes;
    unsigned outcome_count;
    uint64_t exited;
    struct emu_event_conv conv;
    struct emu_event_cta cta;
    /* memory */
    struct emu_access access[2];
    unsigned access_count;
    /* tags of the registers that the instruction reads and writes. With the tags off no register is listed, and every
     * register is V */
    const struct emu_tag_change *tags;
    unsigned tag_count;
    unsigned expansions; /* number of tagged registers that became V because only some lanes were written */
    /* start and end */
    /** True if the warp, block or grid had retired nothing before this step. After a fault or an arrival this
     *  is also true for the next step. */
    bool warp_started, block_started, grid_started;
    bool warp_ended, block_ended, grid_ended; /* this step ended the last lane of the warp, block or grid */
    struct emu_fault fault; /* valid if kind == EMU_EV_FAULT */
};

#endif
