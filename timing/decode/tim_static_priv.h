/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of an instruction that the model needs before the instruction issues. tim_tags_priv.h declares how register tags
 * change these properties. */
#ifndef TIM_STATIC_PRIV_H
#define TIM_STATIC_PRIV_H

#include "timing/tim_priv.h"

enum { TIM_MAX_READS = 24, TIM_MAX_WRITES = 8, TIM_MAX_ROWS = 12 };

/** Path of an instruction after its issue. */
enum tim_path {
    TIM_PATH_NONE,    /* the instruction ends at issue: branches, barriers, exits */
    TIM_PATH_DIRECT,  /* the instruction goes to a pipe without reading register banks: scalar instructions, and barrier
                       * instructions with a result */
    TIM_PATH_COLLECT, /* the instruction takes a collector, then a pipe */
    TIM_PATH_MEMORY   /* the instruction takes a collector, the pipe `mem`, then the load/store unit */
};
/** What an instruction waits for before it issues: events of the warp's earlier memory instructions. */
enum tim_awaits {
    TIM_AWAITS_ANSWERS = 1, /* all writes are answered; for fences and for accesses that release */
    TIM_AWAITS_QUEUE = 2    /* all earlier memory instructions are in the load/store queue or, with replays, have made their
                             * accesses (unqueued is 0); used for barriers of blocks, so that accesses of other warps after the
                             * barrier follow these accesses */
};
/** issue.types: types of instructions; a scheduler issues at most one instruction of each type in a cycle. */
enum tim_type {
    TIM_TYPE_VECTOR,
    TIM_TYPE_SCALAR,  /* instructions of the scalar unit, and scalar loads */
    TIM_TYPE_MEMORY,  /* vector memory instructions, without shared memory */
    TIM_TYPE_SHARED,
    TIM_TYPE_BRANCH,  /* changes of the pc, and exits */
    TIM_TYPE_SPECIAL, /* barriers, waits and similar */
    TIM_TYPES
};
/** issue.dependence counters: the wait counter of the warp that counts a memory instruction. */
enum tim_counted {
    TIM_COUNTED_NOT,
    TIM_COUNTED_VM,    /* vmcnt */
    TIM_COUNTED_SHARED, /* lgkmcnt: shared memory, in order */
    TIM_COUNTED_SCALAR /* lgkmcnt: scalar loads, in any order */
};
/** Sets of registers, with a bit for each isa_reg_number. */
enum { TIM_REG_WORDS = (ISA_REG_NUMBERS + 63) / 64 };
struct tim_registers {
    uint64_t word[TIM_REG_WORDS];
};
/** Returns whether registers get a register row only while they have a value (rows.rename). */
static inline bool tim_renames(const struct tim_config *config)
{
    return config->rows_on && config->rows_rename;
}
/** Sets of vector registers, with a bit for each register of a lane. */
struct tim_vectors {
    uint64_t word[4];
};
static inline void tim_vectors_add(struct tim_vectors *set, unsigned reg)
{
    set->word[reg / 64] |= UINT64_C(1) << reg % 64;
}
static inline void tim_vectors_remove(struct tim_vectors *set, unsigned reg)
{
    set->word[reg / 64] &= ~(UINT64_C(1) << reg % 64);
}
static inline bool tim_vectors_has(const struct tim_vectors *set, unsigned reg)
{
    return set->word[reg / 64] >> reg % 64 & 1;
}
static inline void tim_vectors_join(struct tim_vectors *set, const struct tim_vectors *other)
{
    for (unsigned i = 0; i < LW_COUNT_OF(set->word); i++)
        set->word[i] |= other->word[i];
}
/** Condition for executing an instruction on one lane (uniform sources) or on the affine unit (affine sources) instead of
 *  on all lanes. */
enum tim_tag_rule {
    TIM_TAG_NEVER,      /* never, because the results differ between lanes even if all sources are uniform, or because
                         * there are no results */
    TIM_TAG_BY_RESULT,  /* the results must be tagged, too; for instructions that read special registers or predicates */
    TIM_TAG_BY_SOURCES, /* uniform sources suffice; for affine sources the result must be tagged */
    TIM_TAG_COMPARE,    /* uniform sources suffice; with affine sources, a vector result must be tagged and, if there is no
                         * vector result, no source may wrap as an unsigned number in any active lane */
    TIM_TAG_COMPARE_S,  /* as TIM_TAG_COMPARE, but no source may wrap as a signed number */
    TIM_TAG_ADDRESS     /* a load or store: the address is generated once */
};
/** Predecoded properties of an instruction, one record for each instruction of a program. Members that most steps of
 *  a core read come first. */
struct tim_static {
    uint8_t unit; /* enum isa_unit, which gives lanes and latency */
    uint8_t pipes; /* unit whose pipes the instruction uses: int if its own unit has none */
    uint8_t path; /* enum tim_path */
    uint8_t work; /* enum tim_work */
    uint8_t need_words; /* number of words of `need` that are not empty */
    uint8_t read_count, write_count; /* number of registers, of all classes, that are read; number that are written */
    uint8_t row_reads, row_writes;   /* number of vector registers that are read; number that are written */
    uint8_t address_rows; /* number of registers that form the address; they are the first elements of row_read */
    uint8_t words;    /* code for the number of words that memory moves for each lane: 0: one word; 1: two words; 2: more */
    uint16_t latency; /* latency of the instruction in its pipe */
    bool uniform;     /* no vector register is in the instruction's address */
    bool fixed;       /* registers.collector window: the instruction's latency is fixed, so it passes Allocate */
    bool cached;      /* registers.collector window: the instruction's operands may be in the register-file cache */
    uint8_t held;     /* cycles for which the instruction occupies its pipe; 0: as many as its lanes need */
    bool sleep, texture;
    bool writes;      /* the instruction is a store, reduction or atomic */
    uint8_t awaits;   /* set of enum tim_awaits: earlier accesses of the warp for which the instruction waits */
    bool to_constant; /* a load of global memory through the constant cache: a scalar load, or a load of constant space */
    bool data;        /* a vector load or store of global memory, local memory or generic addresses that does not use
                       * the constant cache */
    bool of_constants; /* a vector load of constant memory, or a load for which to_constant is set */
    bool flow;        /* a branch, exit or other control instruction */
    bool calls;       /* a control instruction that calls a function */
    bool load;        /* the instruction's results come from memory */
    bool uncached;    /* the instruction is a load that bypasses L1, whatever its address is */
    bool launch;      /* the instruction may make its warp wait for a launch */
    bool constant;    /* the instruction has an operand of a constant bank, at constant_at */
    bool lat_barrier; /* bar.synch_partner of mechanism dwr */
    bool whole;       /* the instruction needs all lanes of the split */
    bool joins;       /* at this instruction (bsync), lanes that took different paths wait for each other */
    struct isa_control control;
    uint8_t takes_bars; /* set of dependence barriers that the instruction increments */
    uint8_t stall;      /* stall count of the instruction: number of cycles */
    bool yields;        /* the instruction's warp does not issue in the next cycle */
    bool depbar;        /* depbar.le: the warp waits while the count of barrier depbar_bar is above depbar_most */
    uint8_t depbar_bar, depbar_most;
    uint8_t type;       /* enum tim_type */
    uint8_t counted;    /* enum tim_counted */
    bool waitcnt;       /* the instruction waits until its warp's counters are at most the following values: */
    uint8_t vm_most, exp_most, lgkm_most;
    uint8_t tag_rule;   /* enum tim_tag_rule */
    uint8_t row_read[TIM_MAX_ROWS], row_write[TIM_MAX_WRITES];
    uint8_t row_operand[TIM_MAX_ROWS]; /* [row_read]: index of the vector operand to which the register belongs */
    uint16_t write[TIM_MAX_WRITES], read[TIM_MAX_READS];
    struct tim_registers need; /* registers that the instruction reads or writes */
    uint64_t constant_at;    /* bank << 32 | offset */
    unsigned constant_bytes;
};
/** Returns whether the instruction reads its vector registers after its issue. */
static inline bool tim_reads_later(const struct tim_static *what)
{
    return what->path >= TIM_PATH_COLLECT || what->fixed;
}
/** Returns whether the instruction loads vector registers from outside the core, or may do so: not from shared memory or the
 *  constant cache. */
static inline bool tim_is_far(const struct tim_static *what)
{
    return what->load && what->row_writes != 0 && (what->texture || (what->type == TIM_TYPE_MEMORY && !what->of_constants && !what->to_constant));
}
/** Returns the number of cycles for which an instruction waits until the register rows of its sources are on (rows.drowsy). */
static inline unsigned tim_wake_cycles(const struct tim_config *config, const struct tim_static *what)
{
    return config->rows_on && config->rows_drowsy && what->row_reads != 0 ? config->rows_wake : 0;
}
/** A loop: the instructions from the target of a backward branch to that branch. Backward branches with the same target
 *  form one loop, which ends at the last of them. */
struct tim_loop {
    uint64_t begin, end; /* pc of the first and the last instruction */
    uint64_t from, to;   /* address range [from, to) of the function that contains the loop */
    bool called;         /* the function is not a kernel */
    uint16_t parent;     /* 1 + index of the enclosing loop, which precedes this loop in the list, or 0 if there is none */
};
enum { TIM_LOOPS_MOST = 65535 };
/** Mechanism orf: the levels of the register file from which an instruction reads its vector registers, and to which it writes
 *  results. The bits of the members are indexes into row_read and row_write. */
struct tim_level {
    uint16_t read_near, read_last;   /* registers read from the operand register file, and from the last result file; all
                                      * others: from the main register file */
    uint8_t write_near, write_last, write_main;
    bool starts; /* the instruction is the first of a strand */
};
/** Mechanism regless: instructions [first, end), which a warp executes while the operand staging unit has all their vector registers. */
struct tim_region {
    uint32_t first, end;
    struct tim_vectors registers;
};
/** Returns the number of entries of the operand staging unit (regless.size). */
static inline unsigned tim_regless_entries(const struct tim_config *config)
{
    return config->core_registers / config->core_warp_width * config->regless_size / 100;
}
/** All instructions of a program; owned by the engine. */
struct tim_code {
    const struct emu_program *program;
    uint64_t base, end; /* the instructions are at addresses [base, end) */
    uint32_t count;
    struct tim_static *insn;
    struct tim_loop *loop; /* [loop_count], sorted by `begin`, or NULL if no key needs loops */
    uint32_t loop_count;
    uint16_t *loop_of;     /* [count] 1 + index of the innermost loop that contains the instruction, or 0 if there is none */
    struct tim_vectors *live; /* [count + 1] vector registers that a lane may still read before it writes them, from each
                               * instruction on, or NULL if no key needs liveness */
    bool writes_exec;          /* the program writes exec; valid with `live` */
    struct tim_level *level;   /* [count + 1] levels that a compiler assigns, or NULL if mechanism orf does not need them */
    struct tim_region *region; /* [count + 1] region of each instruction, or NULL if mechanism regless does not need them */
    struct tim_static *tagged[2]; /* [count] variants of `insn` for execution by one lane, and by the affine unit; NULL: the
                                   * model never executes instructions in this way */
};
/** Predecodes a program. Returns false if memory is short; tim_code_fini() must be called then, too. */
bool tim_code_fill(const struct tim_config *config, const struct emu_program *program,
                   struct tim_code *out);
void tim_code_fini(struct tim_code *code);
/** Fills `loop` and `loop_of`. Returns false if memory is short. */
bool tim_loops_fill(struct tim_code *code);
/** Fills `live` and `writes_exec`. Returns false if memory is short. */
bool tim_live_fill(struct tim_code *code);
/** Adds to @out the registers that are live after instruction @i. */
void tim_live_after(const struct tim_code *code, uint32_t i, struct tim_vectors *out);
/** Returns whether instruction @i writes its results in all lanes of the split. */
bool tim_writes_all(const struct tim_code *code, uint32_t i);
/** Fills `level`, for an operand register file of @entries entries for each warp and, if @has_last, a last result file. `live`
 *  must be filled. Returns false if memory is short. */
bool tim_values_fill(struct tim_code *code, unsigned entries, bool has_last);
/** Returns an array with true for each instruction to which a branch may lead, or that follows a branch or barrier, or NULL if memory is
 *  short. The caller frees it. */
bool *tim_code_leaders(const struct tim_code *code);
/** Returns the end of the strand that begins with instruction @begin: the index of the instruction after it. */
uint32_t tim_strand_end(const struct tim_code *code, const bool *leads, uint32_t begin);
/** Fills `region`, with regions of at most @most registers, or of one instruction. `live` must be filled. Returns false if memory is
 *  short. */
bool tim_regions_fill(struct tim_code *code, unsigned most);
/** Returns instruction number @i of the program. */
static inline const struct isa_insn *tim_insn_at(const struct tim_code *code, uint32_t i)
{
    return emu_program_insn(code->program, code->base + (uint64_t)i * ISA_WORD_BYTES);
}
/** Returns 1 + the index of the innermost loop that contains @pc; 0: none, or tim_loops_fill() was not called. */
static inline unsigned tim_loop_at(const struct tim_code *code, uint64_t pc)
{
    return code->loop_of == NULL ? 0 : code->loop_of[(pc - code->base) / ISA_WORD_BYTES];
}

#endif
