/* SPDX-License-Identifier: Apache-2.0 */
/* The event of one warp instruction (MACHINE 5): it describes everything that the step changed. */
#ifndef EMU_EVENT_H
#define EMU_EVENT_H

#include "emu/emu_fault.h"
#include "emu/emu_grid.h"
#include "emu/emu_memory.h"

enum emu_event_kind {
    EMU_EV_RETIRED,
    EMU_EV_FAULT,
    EMU_EV_ARRIVED /* lanes arrived at a .sync operation and wait there: no instruction was executed */
};
enum emu_conv_op {
    EMU_CONV_NONE, EMU_CONV_JOIN, EMU_CONV_ARRIVE, EMU_CONV_PASS, EMU_CONV_BREAK,
    EMU_CONV_SAVE, EMU_CONV_RESTORE, EMU_CONV_YIELD, EMU_CONV_WARPSYNC
};

/** Reason why waiting lanes became ready. */
enum emu_release {
    EMU_RELEASE_NONE, EMU_RELEASE_ARRIVAL, EMU_RELEASE_YIELD, EMU_RELEASE_EXIT,
    EMU_RELEASE_BREAK, EMU_RELEASE_REJOIN, EMU_RELEASE_CTA, EMU_RELEASE_WARPSYNC,
    EMU_RELEASE_POP /* SIMT stack: the lanes of the entries above the waiting lanes' entry reached the reconvergence pc or
                     * exited */
};

/** Tag of a vector register: it describes the values in all live lanes of a warp. U: every lane has `base`. A: lane l has base +
 *  stride * (l % fold) + rise * (l / fold) modulo 2^32, where fold is the warp width and rise is 0, except under the tag rules
 *  `fold`. V: lanes have any values. */
enum emu_tag_kind { EMU_TAG_U, EMU_TAG_A, EMU_TAG_V };
struct emu_tag {
    uint8_t kind;  /* enum emu_tag_kind */
    bool pair;     /* this register and the next one hold a 64-bit value that is U or A: pair_base, pair_stride, pair_rise */
    uint8_t fold;  /* under the tag rules `fold`: number of lanes in a thread row of the block; otherwise W */
    uint32_t base;
    int32_t stride, rise;
    uint64_t pair_base;
    int64_t pair_stride, pair_rise;
};
/** A vector register that an instruction reads or writes, and its tag before and after the instruction. */
struct emu_tag_change {
    uint8_t reg;
    bool read, written; /* the instruction has the register as a source or destination, even if its guard is false in all lanes */
    struct emu_tag before, after;
};

struct emu_outcome {
    uint64_t pc, lanes;
    unsigned split; /* id of the split in which the lanes are after the step */
};
enum emu_access_kind {
    EMU_ACCESS_LOAD,
    EMU_ACCESS_STORE,
    EMU_ACCESS_ATOMIC,
    EMU_ACCESS_REDUCE,  /* atomic whose old value is not returned */
    EMU_ACCESS_CONSTANT /* constant operand: all lanes read one address of a bank */
};
/** Lanes whose addresses are affine: lane l of `lanes` accesses base + stride * (l - lowest lane). `lanes` has at least one
 *  lane. */
struct emu_event_segment {
    uint64_t lanes, base;
    int64_t stride; /* difference between the addresses of neighbouring lanes; 0 for a single lane */
};
enum { EMU_EVENT_SEGMENTS = 8 };
/**
 * One memory access of a step, with all its lanes. Reads of guest memory by vprintf and assertfail (format, arguments, names) are
 * not listed, because the size of a string is not known before it is read; the machine events EMU_MACHINE_TEXT and
 * EMU_MACHINE_ASSERT hold the text. Reads by launch instructions are not listed either; EMU_MACHINE_LAUNCH reports the launch.
 */
struct emu_access {
    enum isa_space space;      /* space of the lowest lane's address; a generic address is resolved */
    enum emu_access_kind kind;
    uint8_t bytes;             /* bytes that each lane accesses */
    uint8_t order, scope, cache; /* values of the instruction's modifiers */
    /** The access fetches texels of a texture. `lanes` are the lanes that read a texel; the other lanes of the instruction
     *  fetched outside the texture and read no memory. The read of the texture's descriptor is not listed. */
    bool texture;
    /** Lanes for which the access is made. A scalar load is one access, reported for the lowest lane. A constant operand of a
     *  scalar instruction counts for all lanes of the split. */
    uint64_t lanes;
    const uint8_t *lane_space; /* [lane] enum isa_space of the lane's address; a generic address is resolved */
    const uint64_t *address;   /* [lane] generic addresses */
    const uint8_t (*old_value)[16]; /* [lane] bytes in memory before the access */
    const uint8_t (*new_value)[16]; /* [lane] bytes in memory after a write; NULL for loads */
    bool affine;
    uint64_t base;
    int64_t stride;
    /** Global accesses: true if the lowest lane's address is in an allocation; `allocation` is then this allocation. */
    bool in_allocation;
    struct emu_allocation allocation;
    /** Order in which the lanes of an atomic were served. Accesses other than atomics have no order. */
    const uint8_t *service; /* [service_count] */
    unsigned service_count;
    /** Event detail EMU_EVENT_ADDRESSES: number of segments that describe the addresses of all lanes. Each lane is in one
     *  segment; the segments are sorted by lowest lane. 0: the addresses need more than EMU_EVENT_SEGMENTS segments, or segments
     *  were not requested; `address` and `lane_space` are then valid. */
    unsigned piece_count;
    struct emu_event_segment piece[EMU_EVENT_SEGMENTS];
};

/** Effect of a step on a convergence barrier. */
struct emu_event_conv {
    enum emu_conv_op op;
    uint8_t reg;
    bool soft;
    uint64_t group;             /* number of the lanes' convergence group (MACHINE 2) */
    uint64_t arrived, released; /* lanes that arrived at the barrier, and lanes that the step released from it */
    enum emu_release why;
};
/** Effect of a step on a CTA barrier. */
struct emu_event_cta {
    bool used, completed;
    uint8_t id;
    unsigned arrived, expected;
    uint64_t generation;
};
/** Description of what one step did. Pointers are borrowed until the next step on the same core. */
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
    /** Number of instructions retired before this instruction: by all warps of the core, by the warp, and by the block.
     *  Instructions of different cores have no common order. */
    uint64_t sequence;
    uint64_t warp_sequence, block_sequence;
    /* the instruction */
    uint64_t pc;
    const struct isa_insn *insn;
    /* masks. split_lanes: lanes of the split. effective: lanes in which the instruction had an effect: lanes that are in
     * split_lanes, exec and guard */
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
    /* tags of the registers that the instruction reads or writes. If tags are off, no register is listed. */
    const struct emu_tag_change *tags;
    unsigned tag_count;
    unsigned expansions; /* number of tagged registers that became V because the instruction wrote only some lanes */
    /* start and end of warp, block and grid */
    /** True if no instruction of the warp, block or grid had retired before this step. If this step ends in a fault or an
     *  arrival, it retires no instruction, and the members are therefore true again in the next step. */
    bool warp_started, block_started, grid_started;
    bool warp_ended, block_ended, grid_ended; /* this step ended the last lane of the warp, block or grid */
    struct emu_fault fault; /* valid if kind == EMU_EV_FAULT */
};

#endif
