/* SPDX-License-Identifier: Apache-2.0 */
/* What the model needs to know of an instruction before it issues. tim_tags_priv.h: what tags change. */
#ifndef TIM_STATIC_PRIV_H
#define TIM_STATIC_PRIV_H

#include "timing/tim_priv.h"

enum { TIM_MAX_READS = 24, TIM_MAX_WRITES = 8, TIM_MAX_ROWS = 12 };

/** Where an instruction goes when it has been issued. */
enum tim_path {
    TIM_PATH_NONE,    /* it ends at issue: branches, barriers, exits */
    TIM_PATH_DIRECT,  /* to a pipe, without operands from banks: scalar, results of barriers */
    TIM_PATH_COLLECT, /* a collector, then a pipe */
    TIM_PATH_MEMORY   /* a collector, the pipe `mem`, the load/store unit */
};
/** What an instruction waits for of the memory instructions before it in its warp. */
enum tim_awaits {
    TIM_AWAITS_ANSWERS = 1, /* fences, accesses that release: all that write are answered */
    TIM_AWAITS_QUEUE = 2    /* barriers of blocks: nothing that another warp accesses from now on comes before them */
};
/** issue.types: of an instruction; a scheduler issues one of each in a cycle. */
enum tim_type {
    TIM_TYPE_VECTOR,
    TIM_TYPE_SCALAR,  /* the scalar unit's, and its loads */
    TIM_TYPE_MEMORY,  /* of vectors, but for shared memory */
    TIM_TYPE_SHARED,
    TIM_TYPE_BRANCH,  /* what changes the pc, and exits */
    TIM_TYPE_SPECIAL, /* barriers, waits and the like */
    TIM_TYPES
};
/** issue.dependence: counters: which of its warp's a memory instruction is counted by. */
enum tim_counted {
    TIM_COUNTED_NOT,
    TIM_COUNTED_VM,    /* vmcnt */
    TIM_COUNTED_SHARED, /* lgkmcnt, in order */
    TIM_COUNTED_SCALAR /* lgkmcnt, in any order */
};
/** Sets of registers, by isa_reg_number. */
enum { TIM_REG_WORDS = (ISA_REG_NUMBERS + 63) / 64 };
struct tim_registers {
    uint64_t word[TIM_REG_WORDS];
};
/** What decides whether less than all lanes can execute an instruction, beyond tags. */
enum tim_tag_rule {
    TIM_TAG_NEVER,      /* its lanes differ, whatever its vector registers are; or it is on none */
    TIM_TAG_BY_RESULT,  /* what it writes must be tagged, too: special registers, sources that are predicates */
    TIM_TAG_BY_SOURCES, /* uniform sources are enough; affine ones where the result is tagged */
    TIM_TAG_COMPARE,    /* the same; affine sources must not wrap, as unsigned values, */
    TIM_TAG_COMPARE_S,  /* as signed ones */
    TIM_TAG_ADDRESS     /* a load or store: its address is generated once */
};
/** What the model needs to know of an instruction; one an instruction of a program. What most of its
 *  ways through a core read is first. */
struct tim_static {
    uint8_t unit; /* enum isa_unit: whose lanes and latency it has, */
    uint8_t pipes; /* and in whose pipes: int where that unit has none */
    uint8_t path; /* enum tim_path */
    uint8_t work; /* enum tim_work */
    uint8_t need_words; /* words of `need` that are not empty */
    uint8_t read_count, write_count; /* registers of all classes, by isa_reg_number */
    uint8_t row_reads, row_writes;   /* vector registers, which lie in banks */
    uint8_t address_rows; /* of row_read, the first: those of an address */
    uint8_t words;    /* of a lane that memory moves: 0: one, 1: two, 2: more */
    uint16_t latency; /* in its pipe */
    bool uniform;     /* no vector register is in its address */
    bool fixed;       /* window: of fixed latency, so it passes Allocate */
    bool cached;      /* its operands may be in the register-file cache */
    uint8_t held;     /* cycles for which it holds its pipe; 0: as many as its lanes take */
    bool sleep, texture;
    bool writes;      /* memory: a store, reduction or atomic */
    uint8_t awaits;   /* of its warp's earlier accesses, a set of enum tim_awaits */
    bool to_constant; /* a load of global memory through the constant cache: constant space, or scalar */
    bool data;        /* a vector load or store of global or local memory, or by generic addresses, not to_constant */
    bool of_constants; /* a vector load of constant memory, or to_constant */
    bool flow;        /* a branch, exit or other control instruction */
    bool load;        /* its results come from memory */
    bool uncached;    /* a load that does not pass L1, whatever its address */
    bool launch;      /* its warp may be held for a launch */
    bool constant;    /* an operand of a constant bank: constant_at */
    struct isa_control control;
    uint8_t takes_bars; /* its dependence barriers, a set */
    uint8_t stall;      /* cycles that its stall count stands for */
    bool yields;        /* its warp issues nothing in the next cycle */
    bool depbar;        /* it holds its warp by depbar_bar, while that is above depbar_most */
    uint8_t depbar_bar, depbar_most;
    uint8_t type;       /* enum tim_type */
    uint8_t counted;    /* enum tim_counted */
    bool waitcnt;       /* it waits until its warp's counters are at these at most: */
    uint8_t vm_most, exp_most, lgkm_most;
    uint8_t tag_rule;   /* enum tim_tag_rule */
    uint8_t row_read[TIM_MAX_ROWS], row_write[TIM_MAX_WRITES];
    uint8_t row_operand[TIM_MAX_ROWS]; /* by row_read: which of its vector operands it is of, from 0 */
    uint16_t write[TIM_MAX_WRITES], read[TIM_MAX_READS];
    struct tim_registers need; /* those that it reads or writes */
    uint64_t constant_at;    /* bank << 32 | offset */
    unsigned constant_bytes;
};
/** A loop: the instructions from the target of a branch back to that branch, of several to one target the last. */
struct tim_loop {
    uint64_t begin, end; /* pc of the first and the last instruction */
    uint64_t from, to;   /* of its function: the first, and the first after it */
    bool called;         /* that is no kernel */
    uint16_t parent;     /* 1 + the loop around it, which is before it in the list; 0: none */
};
enum { TIM_LOOPS_MOST = 65535 };
/** All instructions of a program; owned by the engine. */
struct tim_code {
    const struct emu_program *program;
    uint64_t base;
    uint32_t count;
    struct tim_static *insn;
    struct tim_loop *loop; /* [loop_count], by `begin`; NULL: no key needs them */
    uint32_t loop_count;
    uint16_t *loop_of;     /* [count] 1 + the innermost loop that has the instruction; 0: none */
    struct tim_static *tagged[2]; /* the same as one lane executes them, or as the affine unit does; NULL: by no key */
};
/** Errors: false: no memory; tim_code_fini() then, too. */
bool tim_code_fill(const struct tim_config *config, const struct emu_program *program,
                   struct tim_code *out);
void tim_code_fini(struct tim_code *code);
/** Fills in `loop` and `loop_of`. False: no memory. */
bool tim_loops_fill(struct tim_code *code);
/** 1 + the innermost loop at @pc; 0: none, or loops were not filled in. */
static inline unsigned tim_loop_at(const struct tim_code *code, uint64_t pc)
{
    return code->loop_of == NULL ? 0 : code->loop_of[(pc - code->base) / ISA_WORD_BYTES];
}

#endif
