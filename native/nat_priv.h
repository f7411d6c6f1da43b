/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translation of a kernel to native code, in steps:
 *
 *   analysis/
 *     nat_row_text.c reads the semantics column of isa/insns.def
 *     nat_flow.c     control flow and liveness: basic blocks, entries, which registers are live before an instruction
 *     nat_shape.c    shapes: which registers hold the same value in all lanes, or base + x * sx + y * sy
 *   emit/
 *     nat_lines.c    debug locations, for listings
 *     nat_build.c    IR of values and conversions
 *     nat_expr.c     IR of the expressions of isa/insns.def
 *     nat_values.c   IR of registers
 *     nat_row.c      IR of arithmetic
 *     nat_checks.c   IR that checks addresses
 *     nat_memory.c   IR of loads and stores
 *     nat_reduce.c   IR of reductions in memory
 *     nat_region.c   IR of regions in which lanes have diverged
 *     nat_emit.c     IR of the whole kernel: flow, entering, leaving
 *     nat_wide.c     IR of short kernels for several warps together
 *   compile/
 *     nat_llvm.c     loads LLVM
 *     nat_compile.c  the steps above in turn, and LLVM's code generation: compiles a kernel to an object file
 *     nat_listing.c  lists the host code of a kernel's instructions
 *     nat_process.c  the process that compiles
 *     nat_cache.c    stores object files in the cache, and reads them
 *     nat_pays.c     whether it pays to compile a kernel (--engine auto)
 *   native.c     links the object file to the program and keeps the code
 *
 * The lanes of a warp form a grid: lane = x + y * columns, with columns = the block's first dimension if it divides
 * the warp, else the warp's width.
 *
 * The same functions emit two kinds of code: code for whole warps, and masked code. Masked code executes one split. The
 * frame, through which the emulator passes data to native code, has a mask of the split's lanes. Masked code computes in all
 * lanes of its variables, and the values of lanes outside the mask are arbitrary. Only the lanes of the mask decide branches, are
 * checked before an access, access memory, and are written to the register file. So the register file keeps the values of other
 * splits. The shape of a register describes only the lanes of the mask.
 */
#ifndef NAT_PRIV_H
#define NAT_PRIV_H

#include "emu/emu.h"
#include "native/nat_build_priv.h"
#include "native/native.h"

/* ---- flow ------------------------------------------------------------------------------------- */

enum nat_kind {
    NAT_ROW,     /* native code is compiled from the expression in the instruction's row of isa/insns.def */
    NAT_LOAD, NAT_STORE, NAT_SCALAR_LOAD,
    NAT_REDUCE,  /* an integer red */
    NAT_GENERIC, /* native code calls the interpreter's handler, which reads and writes the register file */
    NAT_NOTHING, /* no code is emitted for the instruction */
    NAT_BRANCH,  /* an instruction bra or s_bra */
    NAT_BSSY, NAT_BSYNC,
    NAT_EXIT,    /* an exit with a guard: native code leaves before the instruction if a lane exits */
    NAT_BAR,     /* bar.sync of all threads of the block: native code leaves before it, and the warp is parked */
    NAT_LEAVE    /* native code always leaves before the instruction */
};
/** Numbers of registers in a struct nat_set: for each class of registers (v, s, p, sp) the number of the first register. */
enum { NAT_V = 0, NAT_S = 256, NAT_P = 384, NAT_SP = 392, NAT_REGS = 400, NAT_SET_WORDS = (NAT_REGS + 63) / 64 };
struct nat_set {
    uint64_t word[NAT_SET_WORDS];
};
static inline bool nat_has(const struct nat_set *set, unsigned reg)
{
    return set->word[reg / 64] >> reg % 64 & 1;
}
static inline void nat_add(struct nat_set *set, unsigned reg)
{
    set->word[reg / 64] |= UINT64_C(1) << reg % 64;
}
static inline void nat_remove(struct nat_set *set, unsigned reg)
{
    set->word[reg / 64] &= ~(UINT64_C(1) << reg % 64);
}

/* ---- shapes ----------------------------------------------------------------------------------- */

enum nat_shape_kind {
    NAT_UNKNOWN, /* the analysis has not reached the instruction yet */
    NAT_SAME,    /* the register has the same value in all lanes */
    NAT_AFFINE,  /* base + x * sx + y * sy, modulo 2^32, or 2^64 for pairs */
    NAT_HIGH,    /* high word of an affine pair, whose shape is that of the low register */
    NAT_LANES    /* the lanes may have any values */
};
struct nat_shape {
    uint8_t kind;  /* enum nat_shape_kind */
    bool known;    /* SAME: the translator knows the value, which is `value` */
    bool pair;     /* AFFINE: low word of a pair */
    bool known_sy; /* AFFINE: the translator knows sy; else the code computes it at run time */
    bool known_origin; /* AFFINE: `origin` is known */
    int64_t sx, sy;
    int64_t origin; /* AFFINE: the value in thread 0 of the block, without wrapping. Only the choice of shapes depends on it */
    uint64_t value;
};
struct nat_state {
    bool reached;
    struct nat_shape v[256], s[128]; /* s: the kind is NAT_SAME, with or without a known value */
    uint8_t p[8];                    /* NAT_SAME or NAT_LANES */
    struct nat_set nan;              /* registers with an f32 result. If it is a NaN, it may have any bits of a NaN: code
                                      * that reads the register's bits must first replace it by the canonical NaN */
    struct nat_set bits;             /* registers with other values, whose bits must not change, even if they are those of
                                      * a NaN. A register in neither set has a constant that is not a NaN */
};

struct nat_block {
    uint32_t first, count; /* index of the block's first instruction in the kernel, and number of its instructions */
    int32_t next[2];       /* [0]: the block that follows without a jump, [1]: the target of the branch; -1 if there is no
                            * such block */
    uint16_t entry;        /* 1 + the number of the entry at this block, or 0 if native code cannot be entered at this block */
    bool head;             /* the block is the target of a backward branch */
    bool loop;             /* a later branch jumps to this block or to an earlier one */
    uint32_t path;         /* largest number of instructions that native code can execute from the start of this block until it
                            * reaches a backward branch or a bsync, or leaves */
    struct nat_set live;   /* registers that are live before the block */
    bool divides;          /* the lanes may diverge at the end of the block */
    bool divided;          /* the block begins with a bsync, and the lanes may have diverged since the bssy */
    struct nat_set apart;  /* the block begins with a bsync: live registers that are written between the bssy and the bsync */
    struct nat_state *in;
};

/* ---- a translation ---------------------------------------------------------------------------- */

/** A set of lanes at run time. */
struct nat_lanes {
    bool some;              /* false: all lanes of the warp */
    LLVMValueRef mask, bits; /* the set as a vector of i1, and as an integer */
    LLVMValueRef others;    /* the lanes that are not in the set, an integer */
    LLVMValueRef low;       /* the number of the lowest lane in the set, an i32 */
    LLVMValueRef first, last, span; /* numbers of the lowest and highest lane, and last - first + 1: i64 */
};

/** Offsets of lanes in a memory. The offset of a lane is base + (index << scale). The index is sign-extended to 64 bits if
 *  `is_signed`, and otherwise zero-extended. nat_check_lanes() leaves native code unless both extensions give the same. */
struct nat_offsets {
    LLVMValueRef index; /* <W x i32>, or <W x i64> if `wide` */
    LLVMValueRef base;  /* i64 */
    unsigned scale;
    bool wide, is_signed;
};

/** A function that native code calls in several places. A function with `enter` verifies the shapes of registers when native
 *  code is entered. A function without `enter` writes uniform and affine registers to the register file when native code is
 *  left. */
struct nat_shared {
    struct nat_shared *next;
    LLVMValueRef function; /* NULL: there is nothing to store or verify, so no function is called */
    LLVMBasicBlockRef block; /* without `enter`: block that calls the function and leaves native code; NULL until it is needed */
    LLVMValueRef site;       /* phi node in `block`: number of the site */
    bool enter;
    size_t count;
    struct nat_item {      /* a register and its shape */
        struct nat_shape shape;
        uint8_t reg;
        bool raw;
    } item[];
};

/** LLVM variables that hold the registers while native code runs. NULL: no code that uses the register was emitted yet. */
struct nat_values {
    LLVMValueRef vec[256], same[256], step[256], wide[256], wide_step[256], scalar[128], pred[8], pred_same[8], spred[8];
};

/** What is compiled: a kernel, for one block shape and warp width. The members are as in struct emu_native_request. */
struct nat_job {
    uint32_t first, count;
    unsigned width;
    uint32_t block[3], stride, first_row;
    unsigned vregs;
    bool masked;
    uint64_t number;          /* hash of everything on which the code depends (nat_cache.c) */
    uint64_t most_leave_cost; /* if nat_leave_cost() exceeds this limit, registers are stored where they are written */
    double seconds;           /* limit of the processor time */
    bool listed;              /* the compiler also returns assembly */
};
/** Writes the name of the function that is compiled for @job. */
enum { NAT_NAME_BYTES = 32 };
void nat_name(const struct nat_job *job, char *out);

/** Loads of one block by the same registers, with constants that differ. One check covers all of them if their bytes have no gap. */
struct nat_covered {
    uint32_t at;       /* index of the first load, which has the check */
    int64_t low, high; /* constants of all these loads: from low to high - 1, with the bytes after each */
};

/** Translation of one kernel. */
struct nat_unit {
    struct nat_build b; /* LLVM objects; functions that build values get a pointer to this member */
    const struct nat_job *job;
    const struct isa_insn *insn; /* [count] instructions of the kernel */
    uint32_t first, count;       /* first: index of insn[0] in the program */
    unsigned width, columns, rows; /* lanes of a warp: `rows` rows of the block, each with `columns` lanes */
    bool masked;          /* the code executes a split with any lanes; false: the code executes whole warps */
    bool scatters;        /* the host has an instruction that stores the elements of a vector to any addresses */
    uint8_t *kind;        /* [count] enum nat_kind */
    int32_t *block_of;    /* [count] */
    struct nat_block *block;
    uint32_t blocks, entries, windows;
    bool failed;          /* an allocation has failed, so the translation must be abandoned */
    bool writes;          /* emission: the code also writes to the register file at points at which it does not leave */
    bool through;         /* emission: code that writes a register also stores it to the register file, unless the register
                           * is uniform or affine. So only uniform and affine registers are stored when native code is left */

    /* Emission. */
    LLVMMetadataRef lines; /* scope of the debug locations; NULL: the code is not listed */
    LLVMValueRef function, frame;
    LLVMValueRef caller[sizeof(struct emu_native_calls) / sizeof(void *)]; /* functions that make rare calls (nat_call()); NULL:
                                                                            * not emitted yet */
    LLVMBasicBlockRef *start; /* [block] */
    struct nat_values values;
    LLVMValueRef ended, warps; /* variables: frame->ended, and frame->warps, or 0 if the code must not begin another warp. NULL: the
                                * code executes only one warp in a call */
    LLVMValueRef entry;        /* variable: entry from which the next warp runs, as in emu_native_kernel.run. NULL: each warp runs
                                * from the kernel's start */
    bool misses;               /* lanes may miss instructions (frame->missing) */
    LLVMValueRef counted, loads, stores, local_stores; /* local_stores: NULL if the kernel has no store to local memory */
    LLVMValueRef atomics, changes;                     /* NULL if the kernel has no NAT_REDUCE */
    LLVMBasicBlockRef dispatch;     /* jumps to the entry in variable `entry`, if there is this variable */
    LLVMBasicBlockRef out, refused; /* out: returns the counts of instructions and accesses; refused: returns before any
                                     * instruction is executed */
    struct nat_shared *shared_functions, *leave_shared;
    struct emu_native_site *site; /* [sites], of sites_room; owned */
    uint32_t sites, sites_room, leave_site;
    struct nat_set *live; /* [count of the block] registers that are live before its instructions; owned */
    struct nat_lanes base, split, lanes; /* base: lanes with which the code runs outside of divided copies; split: lanes of the
                                          * split; lanes: lanes of the access being emitted, which the guard of the access
                                          * selects */
    LLVMValueRef alone;            /* an i1 that is true if the warp has no other split */
    LLVMValueRef gone;             /* lanes that have exited, an i64; NULL: no lane has. See emit_tail() */
    struct nat_region **regions;   /* [block] the region whose bssy is in the block, or NULL; owned. nat_region.c */
    struct nat_region **region_of; /* [block] the region in which the block may diverge, or NULL; owned */
    struct nat_region *region;     /* the region whose divided copy is being emitted; NULL: no divided copy is being emitted */
    uint32_t *rank_of;             /* [2 * count] rank and place of instructions (isa_function_ranks); owned */
    LLVMValueRef oldest;           /* variable: instruction count before which no waiting lane arrived */
    LLVMBasicBlockRef entry_block; /* the function's first block, which allocates the variables of the registers */
    LLVMBuilderRef entry_builder;
    LLVMValueRef columns_vector, rows_vector; /* x and y of the lanes, i32 */
    LLVMValueRef offsets, elements; /* variables for the offsets and elements of lanes, which are accessed one by one, or NULL */
    struct nat_state state; /* shapes before the instruction being emitted */
    uint32_t at;            /* index of the instruction being emitted */
    LLVMBasicBlockRef leave; /* block that leaves native code before the segment's first instruction; with `through`, before
                              * instruction leave_at - 1, and leave_shared and leave_site are used instead */
    uint32_t leave_at;       /* 0: there is no block `leave` */
    struct nat_segment {     /* used without `through`: consecutive instructions, each of which can leave native code only before
                              * the first one */
        uint32_t first;
        unsigned loads, stores;   /* block_loads and block_stores before the segment */
        struct nat_state state;   /* shapes before the segment */
        struct nat_values before; /* values of the variables before the segment */
    } segment;
    uint32_t block_first;
    struct nat_covered covered[4]; /* checks that were emitted last in this block */
    unsigned covered_count;
    struct {
        LLVMBasicBlockRef start, plain; /* code for several warps together, or NULL; code for one warp */
        bool active;         /* this code is being emitted */
        bool stored, failed; /* it has stored; it would leave after a store, or is not worth while */
    } wide;
    bool generic;            /* the interpreter's handler executes the instruction being emitted, or executed the previous one */
    unsigned block_loads, block_stores; /* number of loads and stores in this block before instruction `at` */
    LLVMValueRef regs, s, p, sp, warp, global, global_bytes, load_valid, store_valid, dirty, shared, shared_bytes, local, local_bytes,
        bank0, bank1, special, window, limit, uniform, part, divides; /* members of the frame; with `through` and `ended`, those
                                                                       * of a warp are of the warp that is being executed.
                                                                       * divides: false also if the warp has other splits */
};

static inline const struct isa_op_info *nat_info(const struct isa_insn *insn)
{
    return isa_op_info((enum isa_op)insn->op);
}

/** Finds the kernel's basic blocks, the blocks at which native code can be entered, and which registers are live. Returns
 *  false if the kernel cannot be translated, or if memory is short. */
bool nat_flow(struct nat_unit *unit);
/** Estimates the size of the code that loads registers where native code is entered, and stores them where it is left:
 *  returns the number of host vectors in all these loads and stores together. */
uint64_t nat_leave_cost(const struct nat_unit *unit);
/** Gets the registers that instruction @i reads and writes. A register that the instruction writes only in some lanes also
 *  counts as read, because the register keeps its value in all other lanes. */
void nat_uses(const struct nat_unit *unit, uint32_t i, struct nat_set *reads, struct nat_set *writes);
/** Gets the registers that are live before each instruction of a block; @out: [count of the block]. */
void nat_live_in(const struct nat_unit *unit, const struct nat_block *b, struct nat_set *out);
/** Returns the kind of an instruction. */
enum nat_kind nat_kind_of(const struct isa_insn *insn);

/** Computes the shapes before each block. Returns false if memory is short. */
bool nat_shapes(struct nat_unit *unit);
/** Applies instruction @i to the shapes in @state. */
void nat_shape_step(const struct nat_unit *unit, struct nat_state *state, uint32_t i);

/** A source of an instruction, as the table's expressions name it. */
struct nat_source {
    unsigned words; /* 0: the instruction does not have this source */
    bool vector;    /* the source is vector register `reg`; false: the source is uniform */
    uint8_t kind;   /* enum isa_xkind */
    unsigned reg;
    uint32_t x;
    unsigned mods;  /* source modifiers */
    bool high;      /* the immediate of a 64-bit operand is the high word of a double */
};
/** Gets sources a, b and c. */
void nat_sources(const struct isa_insn *insn, struct nat_source source[3]);
/** Returns the shape of a source of one or two words. */
struct nat_shape nat_source_shape(const struct nat_unit *unit, const struct nat_state *state, const struct nat_source *source);
/** Returns the shape of an instruction's result from the shapes of its sources, disregarding the instruction's guard. */
struct nat_shape nat_result_shape(const struct nat_unit *unit, const struct isa_insn *insn, const struct nat_source source[3],
                                  const struct nat_shape shape[3]);
/** Returns true if the instruction, whose second source has shape @b, zero-extends the low word of a pair. clang emits such an
 *  AND for the conversion of a long to an unsigned int and back. */
bool nat_zero_extends(const struct isa_insn *insn, const struct nat_shape *b);
/** Gets the value of a special register if the block shape determines it; otherwise returns false. */
bool nat_known_special(const struct nat_unit *unit, enum isa_special sr, uint32_t *value);
/** Returns the shape of a special register. */
struct nat_shape nat_special_shape(const struct nat_unit *unit, enum isa_special sr);

/** The semantics of a row of isa/insns.def, divided into the parts of the expression. */
enum nat_semantics { NAT_SEM_NONE, NAT_SEM_LANE, NAT_SEM_WORDS, NAT_SEM_PICK, NAT_SEM_COMPARE, NAT_SEM_FUNCTION };
struct nat_row {
    enum nat_semantics semantics;
    uint8_t type, a, b, c; /* enum nat_type */
    bool scalar;
    const char *text;
    size_t size;
};
/** Reads the semantics column of a row of isa/insns.def. Returns false if the column is not an expression that native code
 *  can be made from. */
bool nat_row_of(const struct isa_op_info *info, struct nat_row *row);
/** Returns true if the instruction has modifiers that native code does not support. */
bool nat_has_modifiers(const struct isa_insn *insn);

/** If the code is listed: LLVM instructions that are emitted after nat_line() belong to instruction @i of the kernel, and after
 *  nat_no_line() to no instruction. nat_lines_begin() is called before any code of unit->function is emitted. */
void nat_lines_begin(struct nat_unit *unit);
void nat_line(struct nat_unit *unit, uint32_t i);
void nat_no_line(struct nat_unit *unit);
/** Returns the assembly of the module with debug locations, which the caller frees; NULL if LLVM fails or memory is short. */
char *nat_assembly(struct nat_unit *unit, LLVMTargetMachineRef machine);

/* Emission. */
bool nat_emit(struct nat_unit *unit);
/** Loads the members of the frame that do not change during a call of native code. */
void nat_load_frame(struct nat_unit *unit);
/** Changes the values of @unit that differ between the warps of a block from those of the frame's warp to those of the warp that is
 *  @ended (an i64) warps after it. */
void nat_load_warp(struct nat_unit *unit, LLVMValueRef ended);
/** Returns an i1 that is true if @lanes, a vector of i1, is true in all executed lanes. */
LLVMValueRef nat_all(struct nat_unit *unit, LLVMValueRef lanes);
/** Returns the element of @vector that belongs to the lowest executed lane. */
LLVMValueRef nat_first(struct nat_unit *unit, LLVMValueRef vector);
/** Returns the value in lane 0 of the affine row @row, whose sy is known. */
LLVMValueRef nat_base_of(struct nat_unit *unit, bool wide, LLVMValueRef row, int64_t sx, int64_t sy);
/** Loads a vector from @at in the lanes of @mask. */
LLVMValueRef nat_load_masked(struct nat_unit *unit, LLVMTypeRef type, LLVMValueRef at, unsigned align, LLVMValueRef mask);
/** Stores a vector to @at in the lanes of @mask. */
void nat_store_masked(struct nat_unit *unit, LLVMValueRef value, LLVMValueRef at, unsigned align, LLVMValueRef mask);
/** Finds the regions. Returns false if memory is short. */
bool nat_regions(struct nat_unit *unit);
void nat_regions_free(struct nat_unit *unit);
/** Creates the blocks to which the code jumps when lanes diverge. */
void nat_prepare_regions(struct nat_unit *unit);
/** Emits the divided copies of all regions. */
void nat_emit_regions(struct nat_unit *unit);
/** Returns true if lanes that diverge at the end of @b can continue in a divided copy. */
bool nat_can_divide(const struct nat_unit *unit, const struct nat_block *b);
/** Emits code that continues in the divided copy: lanes @taken take the branch at the end of @b. */
void nat_divide(struct nat_unit *unit, const struct nat_block *b, struct nat_value taken);
/** Converts @lanes, a vector of i1 or one i1 for all lanes, to a set of lanes, an i64. */
LLVMValueRef nat_set_of(struct nat_unit *unit, struct nat_value lanes);
/** Adds to frame->missing: @lanes, a set of lanes, have not executed @count (an i64) instructions of their warp. */
void nat_count_missing(struct nat_unit *unit, LLVMValueRef lanes, LLVMValueRef count);
/** Stores to the register file the registers of @live, and all registers that waiting lanes may read, with the values of all
 *  lanes. */
void nat_spill_divided(struct nat_unit *unit, const struct nat_set *live);
/** Returns the lanes that run in a divided copy or after an exit of some lanes, an i64, or NULL if all lanes run. */
LLVMValueRef nat_running_bits(struct nat_unit *unit);
/** Emits code that leaves native code before instruction @unit->at unless @ok is true. */
void nat_leave_unless(struct nat_unit *unit, LLVMValueRef ok);
/** Returns a register as a vector of lanes, with canonical NaNs unless @raw. */
LLVMValueRef nat_get_lanes(struct nat_unit *unit, unsigned reg, bool raw);
/** Replaces NaNs of f32 bits by the canonical one. */
LLVMValueRef nat_canonical(struct nat_unit *unit, LLVMValueRef bits, bool vector);
/** Returns the base of a SAME or AFFINE register, i32. The base of the low word of an AFFINE pair is the low word of its base. */
LLVMValueRef nat_get_base(struct nat_unit *unit, unsigned reg, bool raw);
/** Returns the base of a SAME or AFFINE pair, i64. */
LLVMValueRef nat_get_base_pair(struct nat_unit *unit, unsigned reg, bool raw);
/** Returns the step sy of an AFFINE register: i32 if @words is 1, also for the low word of a pair, and i64 if @words is 2. */
LLVMValueRef nat_get_step(struct nat_unit *unit, unsigned reg, unsigned words);
/** Returns a pair as a vector of i64, a value for each lane. */
LLVMValueRef nat_get_pair(struct nat_unit *unit, unsigned reg, bool raw);
/** Returns the vector that nat_put_lanes() stored last for register @reg. */
LLVMValueRef nat_get_stored(struct nat_unit *unit, unsigned reg);
/** Returns the set of the lanes of @mask, a vector of i1. */
struct nat_lanes nat_lanes_of(struct nat_unit *unit, LLVMValueRef mask, LLVMValueRef bits);
/** Loads a register as a vector of lanes from the register file. */
LLVMValueRef nat_load_lanes(struct nat_unit *unit, unsigned reg);
void nat_put_lanes(struct nat_unit *unit, unsigned reg, LLVMValueRef value);
void nat_put_same(struct nat_unit *unit, unsigned reg, LLVMValueRef value);
void nat_put_affine(struct nat_unit *unit, unsigned reg, bool pair, LLVMValueRef base, LLVMValueRef step);
/** Returns a register of the scalar unit as i32. */
LLVMValueRef nat_get_scalar(struct nat_unit *unit, unsigned reg);
LLVMValueRef nat_get_scalar_pair(struct nat_unit *unit, unsigned reg);
void nat_put_scalar(struct nat_unit *unit, unsigned reg, LLVMValueRef value);
/** Returns a predicate as a NAT_BOOL: a vector, or one value if all lanes have the same value. */
struct nat_value nat_get_predicate(struct nat_unit *unit, unsigned reg, bool negate, bool scalar);
void nat_put_predicate(struct nat_unit *unit, unsigned reg, struct nat_value value);
void nat_put_scalar_predicate(struct nat_unit *unit, unsigned reg, LLVMValueRef value);
/** Returns base + x * sx + y * sy as a vector, i32 or i64. */
LLVMValueRef nat_affine_lanes(struct nat_unit *unit, bool wide, LLVMValueRef base, int64_t sx, LLVMValueRef step);
/** Returns a uniform source as i32 or i64. */
LLVMValueRef nat_get_uniform(struct nat_unit *unit, const struct nat_source *source);
/** Returns the frame's member of type @type at byte @offset. */
LLVMValueRef nat_member(struct nat_unit *unit, LLVMTypeRef type, size_t offset);
/** Return the addresses of the scalar registers, and of the local memory, of the warp that is being executed. */
LLVMValueRef nat_scalars(struct nat_unit *unit);
LLVMValueRef nat_local(struct nat_unit *unit);
LLVMValueRef nat_address(struct nat_unit *unit, LLVMValueRef base, LLVMValueRef offset);
/** Emits a call of the function at byte @offset of struct emu_native_calls, with the frame and @count further arguments. @rare:
 *  the call is rarely executed. */
LLVMValueRef nat_call(struct nat_unit *unit, size_t offset, bool rare, LLVMTypeRef result, LLVMTypeRef *types,
                      LLVMValueRef *args, unsigned count);
/** Emits a call of the interpreter's handler, which executes the instruction. */
void nat_emit_generic(struct nat_unit *unit);
LLVMBasicBlockRef nat_new_block(struct nat_unit *unit);
/** Lets the code of @function use vectors of 512 bits. */
void nat_wide_vectors(const struct nat_unit *unit, LLVMValueRef function);

/* segments, and checks of accesses (nat_checks.c) */

/** Begins a segment with the instruction that is being emitted. */
void nat_begin_segment(struct nat_unit *unit);
/** Emits code that leaves native code before the segment. */
void nat_leave_segment(struct nat_unit *unit);
/** Returns true if the instruction that is being emitted must begin a segment. @kept: number of registers that the segment has
 *  overwritten although they were live before it. */
bool nat_begins_segment(const struct nat_unit *unit, unsigned kept);
/** Returns the number of registers that the instruction that is being emitted overwrites, and that were live before the
 *  segment. */
unsigned nat_overwrites(const struct nat_unit *unit);
/** Emits code that leaves native code unless the bytes [@offset, @offset + @bytes) of memory of @space may be accessed and
 *  @offset is a multiple of @align. @rest: an i64 that has the same remainder as @offset, if divided by @align. If several accesses
 *  have the same @rest, such as the base of an array, LLVM removes all tests of it but the first. */
void nat_check(struct nat_unit *unit, enum isa_space space, LLVMValueRef offset, LLVMValueRef rest, uint64_t bytes, unsigned align,
               bool write);
/** Returns whether the code of instruction @k cannot continue elsewhere than at instruction @k + 1. */
bool nat_goes_on(const struct nat_unit *unit, uint32_t k);
/** Returns whether an earlier check covers the load at unit->at, which accesses @bytes of each row, by consecutive lanes. Otherwise
 *  *@low and *@high get the bytes that a check should cover, which include those of later loads: from *@low to *@high - 1 after the
 *  row's first byte. */
bool nat_is_covered(struct nat_unit *unit, uint64_t bytes, int64_t *low, int64_t *high);
/** Emits code that leaves native code unless @rest, as for nat_check(), is a multiple of @align. */
void nat_must_be_aligned(struct nat_unit *unit, LLVMValueRef rest, unsigned align);
/** As nat_check(), for consecutive elements of @bytes each. The element of lane 0 is at @offset. The range that is checked is
 *  from the element of the mask's lowest lane to that of its highest lane. */
void nat_check_masked_row(struct nat_unit *unit, enum isa_space space, LLVMValueRef offset, LLVMValueRef rest, unsigned bytes, bool write);
/** Emits code that leaves native code unless the lanes can load or, if @write, store @bytes at offsets @at, which must be
 *  multiples of @bytes. After this code, the executed lanes have 32-bit indices from -NAT_MOST_INDEX to NAT_MOST_INDEX. */
enum { NAT_MOST_INDEX = 3 << 29 };
void nat_check_lanes(struct nat_unit *unit, enum isa_space space, const struct nat_offsets *at, unsigned bytes, bool write);
/** Returns @x, an index that was checked or a vector of such indices, times 2^scale, as i64. */
LLVMValueRef nat_scaled(struct nat_unit *unit, const struct nat_offsets *at, LLVMValueRef x);
/** Returns the set unit->base, an i64. */
LLVMValueRef nat_base_bits(struct nat_unit *unit);
/** Returns the lanes of the access as an i64. */
LLVMValueRef nat_access_bits(struct nat_unit *unit);
/** Returns the number of the highest lane of the access, an i64. */
LLVMValueRef nat_last_lane(struct nat_unit *unit);
/** Returns the variable *@slot, which has @bytes for each lane. */
LLVMValueRef nat_lane_variable(struct nat_unit *unit, LLVMValueRef *slot, unsigned bytes);

void nat_emit_row(struct nat_unit *unit);
/** Emits a load, store, scalar load or red. Returns false if the interpreter's handler must execute the instruction. */
bool nat_emit_memory(struct nat_unit *unit);
/** Emits the red at unit->at, without its count. The lanes access @memory at offsets @at. @equal: these are equal in all lanes. */
void nat_emit_reduce(struct nat_unit *unit, LLVMValueRef memory, const struct nat_offsets *at, bool equal);
/** Extends a 32-bit affine value, @base + x * @sx + y * @step, to 64 bits: sets *@wide_base and *@wide_step. Emits code that
 *  leaves native code if the value of a lane wraps. */
void nat_extend(struct nat_unit *unit, bool is_signed, LLVMValueRef base, int64_t sx, LLVMValueRef step, LLVMValueRef *wide_base,
                LLVMValueRef *wide_step);

#endif
