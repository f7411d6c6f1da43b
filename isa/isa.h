/* SPDX-License-Identifier: Apache-2.0 */
/* Public interface of isa/: the instruction table; the encoder, decoder, assembler and disassembler, which read the table; names
 * of registers and special registers; the object file. Each instruction is defined by one row of isa/insns.def and nowhere
 * else. */
#ifndef ISA_H
#define ISA_H

#include "base/lw.h"

/* ---- limits and fixed addresses (MACHINE 6) ------------------------------ */

enum {
    ISA_WORD_BYTES = 16,
    ISA_VREG_COUNT = 255, /* v0..v254 */
    ISA_VZ = 255,         /* vz: reads return zero; writes are dropped */
    ISA_SREG_COUNT = 126, /* s0..s125 */
    ISA_S_EXEC = 126,     /* s126:127 is exec */
    ISA_SZ = 255,
    ISA_PRED_COUNT = 7, /* p0..p6, sp0..sp6 */
    ISA_PT = 7,         /* pt and spt: always true; as a destination, the result is dropped */
    ISA_BREG_COUNT = 16,
    ISA_CTA_BARRIER_COUNT = 16,
    ISA_CONST_BANK_BYTES = 65536,
    ISA_CONST_BANK_COUNT = 32
};

/** Codes of trap instructions that compiled programs contain. A program may use other codes. */
enum isa_trap {
    ISA_TRAP_PROGRAM,         /* trap of PTX, __builtin_trap of clang */
    ISA_TRAP_BREAKPOINT,      /* brkpt of PTX */
    ISA_TRAP_OUTSIDE_SURFACE, /* coordinates outside the surface */
    ISA_TRAP_NO_SURFACE       /* the object is not a surface */
};

#define ISA_CODE_BASE (UINT64_C(1) << 32)
#define ISA_SHARED_BASE (UINT64_C(1) << 40)
#define ISA_LOCAL_BASE (UINT64_C(1) << 41)
#define ISA_APERTURE_BYTES (UINT64_C(1) << 32) /* size of the shared aperture, and size of the local aperture */
#define ISA_CONST_BASE (UINT64_C(1) << 42)
#define ISA_CONST_STRIDE (UINT64_C(1) << 32) /* constant bank k is at ISA_CONST_BASE + k * ISA_CONST_STRIDE */
#define ISA_GLOBAL_BASE (UINT64_C(1) << 45)

/* ---- the table ----------------------------------------------------------- */

/** Instruction formats. The format of an instruction determines which modifier groups (isa/mods.def) it has. */
enum isa_format {
    ISA_FMT_ALU,  /* no modifiers */
    ISA_FMT_FLT,  /* rounding, ftz, saturate */
    ISA_FMT_CMP,  /* compare, boolean combination, ftz */
    ISA_FMT_CVT,  /* destination and source type, rounding, saturate, ftz */
    ISA_FMT_LUT,  /* 8-bit truth table (lop3) */
    ISA_FMT_PLUT, /* plop3 */
    ISA_FMT_MEM,  /* addressing, size, order, scope, cache hint */
    ISA_FMT_ATOM, /* modifiers of ISA_FMT_MEM, and the atomic operation */
    ISA_FMT_WARP, /* shuffles, votes, match, redux */
    ISA_FMT_CTRL, /* control flow, barriers, system */
    ISA_FMT_PRM,  /* prmt: byte permute mode */
    ISA_FMT_FNC,  /* fence: scope */
    ISA_FMT_TEX,  /* texture fetch: geometry, types, level of detail, depth comparison */
    ISA_FMT_TLD,  /* texture gather: geometry, type, component, depth comparison */
    ISA_FMT_MMA,  /* matrix multiply: shape and types, saturation */
    ISA_FMT_LDM,  /* matrix load: addressing, count, transposition */
    ISA_FMT_SMEM, /* scalar load: size */
    ISA_FMT_FUN,  /* functions of floats, rounded to nearest: ftz, saturate */
    ISA_FMT_MNM,  /* minimum and maximum of floats: ftz, NaN, xor of signs */
    ISA_FMT_HLF,  /* 16-bit floats, rounded to nearest: ftz, saturate, relu */
    ISA_FMT_BAR,  /* CTA barriers: the memory that they order */
    ISA_FMT_COUNT
};

/** Functional units that execute instructions. The latency of an instruction depends on its unit (isa_unit_latency()). */
enum isa_unit {
    ISA_UNIT_INT,
    ISA_UNIT_FP,   /* f32, f16 */
    ISA_UNIT_DP,   /* f64 */
    ISA_UNIT_SFU,  /* mufu, division, square root */
    ISA_UNIT_CVT,
    ISA_UNIT_MEM,  /* loads, stores, atomics */
    ISA_UNIT_WARP, /* cross-lane */
    ISA_UNIT_SCALAR,
    ISA_UNIT_CTRL,
    ISA_UNIT_SYNC,
    ISA_UNIT_TEX,    /* texture fetches */
    ISA_UNIT_MATRIX, /* matrix multiply */
    ISA_UNIT_COUNT
};

/** Column `order` of the table: how the instruction observes the order of accesses (MACHINE 4). */
enum isa_order {
    ISA_ORDER_NONE,
    ISA_ORDER_COMMUTES, /* integer reductions without a result */
    ISA_ORDER_BLOCK,    /* observes the order of accesses within its block */
    ISA_ORDER_GRID,     /* observes the order of accesses by different blocks */
    ISA_ORDER_ACCESS    /* depends on space, operation and memory-order modifier: isa_insn_order() */
};

/** Column `tag`: the rule by which the shape of the result (uniform U, affine A, varying V) follows from the shapes of the
 *  sources (docs/explanation/uniform-affine.md). The rule applies to the vector registers that the instruction writes, and for a
 *  compare to its predicates. */
enum isa_tag_rule {
    ISA_TAG_NONE,     /* the instruction writes no vector register */
    ISA_TAG_VECTOR,   /* the result is always V. Examples: cross-lane operations, atomics, reads of lane state */
    ISA_TAG_UNIFORM,  /* U when all sources are U, else V */
    ISA_TAG_EVALUATE, /* as ISA_TAG_UNIFORM; also U if the result of affine sources is equal in all lanes */
    ISA_TAG_MOV,
    ISA_TAG_ADD,
    ISA_TAG_SUB,
    ISA_TAG_ADDC,     /* add with carry: R is the carry input, P the carry output */
    ISA_TAG_SUBC,     /* as ISA_TAG_ADDC, with the complement of the second source */
    ISA_TAG_MUL,      /* low half of the product */
    ISA_TAG_MAD,
    ISA_TAG_MULWIDE,  /* 64-bit product of unsigned 32-bit numbers; for ISA_TAG_MULWIDE_S the numbers are signed */
    ISA_TAG_MULWIDE_S,
    ISA_TAG_MADWIDE,
    ISA_TAG_MADWIDE_S,
    ISA_TAG_LEA,      /* (a << b) + c with a extended to 64 bits */
    ISA_TAG_LEA_S,
    ISA_TAG_SHL,
    ISA_TAG_SHR,
    ISA_TAG_SHR_S,
    ISA_TAG_NEG,
    ISA_TAG_NOT,
    ISA_TAG_SELECT,
    ISA_TAG_CVT,      /* widening of integers: an affine value stays affine if it does not wrap */
    ISA_TAG_SPECIAL,  /* depends on the special register and the shape of the block */
    ISA_TAG_LOAD,     /* U if all lanes read the same address */
    ISA_TAG_CMP,      /* predicates P and Q of a compare of unsigned integers; for ISA_TAG_CMP_S the integers are signed */
    ISA_TAG_CMP_S,
    ISA_TAG_COUNT
};

enum isa_flag {
    ISA_F_WHOLE = 1 << 0,     /* a step executes the instruction for the whole split, never for some of its lanes (MACHINE 1,
                               * Step) */
    ISA_F_SCALAR = 1 << 1,    /* executes once for the warp, and ignores exec */
    ISA_F_BRANCH = 1 << 2,    /* may set the pc to a value other than that of the next instruction */
    ISA_F_CONTROL = 1 << 3,   /* acts on all lanes of the split (mask M); is the last instruction of a straight-line run */
    ISA_F_MEMORY = 1 << 4,    /* reads or writes memory */
    ISA_F_STORE = 1 << 5,     /* writes memory */
    ISA_F_ATOMIC = 1 << 6,
    ISA_F_BARRIER = 1 << 7,   /* can release or block lanes: bsync, bar, warpsync, yield, exit */
    ISA_F_CROSS = 1 << 8,     /* reads registers of other lanes */
    ISA_F_SYNC = 1 << 9,      /* the member lanes wait for each other; the mask register in bits 63:56 (token wm) names them */
    ISA_F_CALL = 1 << 10,
    ISA_F_FLOAT = 1 << 11,    /* source modifiers are neg and abs; without the flag, they are neg and not */
    ISA_F_NOSRCMOD = 1 << 12, /* has no source modifiers: bits 85:80 are zero, or are modifiers of another kind */
    ISA_F_WARP32 = 1 << 13,   /* the result depends on lane ids or masks of 32-lane virtual warps (MACHINE 1) */
    ISA_F_ENDS = 1 << 14,     /* without a guard, control never continues after the instruction */
    ISA_F_HALF = 1 << 15,     /* immediates are 16-bit floats, which assembly shows as their bit patterns */
    ISA_F_PARTIAL = 1 << 16   /* the result may be undefined, infinite or NaN although the operands are not, so the compiler must
                               * not execute the instruction where its guard is false (isa_insn_is_partial) */
};

enum isa_op {
    ISA_OP_NONE,
#define INSN(id, ...) ISA_##id,
#include "isa/insns.def"
    ISA_OP_COUNT
};

/**
 * Operand tokens (column `operands`). A number in a token is the number of registers; with `n` the size modifier determines
 * it (1, 2 or 4).
 *
 *   vd vd2 vdn   D, vector register / aligned pair (v, v+1) / by size, aligned to its count
 *   sd sd2       D, scalar register / pair
 *   va va2       A, vector; a scalar register is accepted too (sets a_scalar)
 *   sa sa2       A, scalar (a_scalar is always set)
 *   xb xb2       X: vector, scalar, constant c[bank][offset] or immediate, 32/64 bits.
 *                A 64-bit immediate is imm32 sign-extended (integers) or the high
 *                word (f64).
 *   sx sx2       X: scalar, constant or immediate
 *   vc vc2       C, vector; a scalar register is accepted too (sets c_scalar)
 *                Instructions with both xb and vc: written a, b, c. With the variant bit X
 *                is the third source and C the second; the assembler sets it when
 *                the third operand is not a vector register and the second is.
 *   sc           C, scalar
 *   pd qd        P, Q: predicate written, `_` or pt = none
 *   spd          P: scalar predicate written
 *   rr           R: predicate read, with `!`; left out when pt
 *   ma           memory address: A (mode in the modifiers), offset in 63:40
 *   mc           constant-memory address c[bank][A + offset]: bank in C (71:64)
 *   xd xdn       X register 39:32 as data: one / by size
 *   xp           X register 39:32, comparand or data of an atomic, by type (1 or 2)
 *   cw           C register, swap value of cas, by type (1 or 2)
 *   dt           D, result of an atomic, by type (1 or 2)
 *   tg           branch target (label or address), signed 32 bits in 63:32 counted
 *                in instructions from the next pc
 *   bn           barrier register, 19:16
 *   bo           optional barrier register of a branch or call (variant bit set):
 *                19:16, or 67:64 in rows whose D is a register; isa_insn_bo()
 *   cb           CTA barrier: number in X (register or immediate 0..15)
 *   cn           optional thread count of a CTA barrier in C (vector register);
 *                present when the variant bit is set
 *   im           32-bit immediate in 63:32
 *   sr           special register number in 63:32
 *   lt           8-bit truth table in the modifiers
 *   wl           X lane operand (register or imm in 39:32), clamp and segment 51:40
 *   wm           member mask register 63:56 (vector; `_` = all lanes = 255)
 *   vt xt        D and X of a conversion: 1 or 2 registers by DTYPE and STYPE
 *   ra rb        further predicates read, 98:96 with negate 99, 102:100 with negate 103
 *   l8           8-bit truth table in 39:32
 *   sf           no operand: the variant bit, printed as the suffix .soft
 *   bx           barrier register in X, 35:32
 *   xm           member mask: X vector register or immediate
 *   pa pw        no operand: the instruction reads (pa) or writes (pw) all of p0..p6
 *   rs           R: scalar predicate read, with `!`; left out when spt
 *   sps spw      no operand: the instruction reads (sps) or writes (spw) all of sp0..sp6
 *   sdn          D, scalar registers by size
 *   sm           scalar address: A scalar pair, scalar index register in X 39:32 (sz: none),
 *                offset in 63:40
 *   smc          constant address c[bank][s + offset]: A scalar (sz: none), bank in C
 *   vd4          D, quad
 *   xd2          X register 39:32, pair
 *   vac          A, coordinates of a texture: 1, 2 or 4 registers by the geometry (a layer
 *                first, a sample last; the fourth of four may be unused)
 *   vch          C, vector or scalar pair (with TSAMP a quad): 64-bit handle of a texture (and of
 *                a sampler)
 *   xl           X register 39:32, the first of the operands of .level, .bias, .grad and .dc:
 *                the level or the bias; or the derivatives by x, then those by y, of each dimension;
 *                then the value to compare with. 0, 1, 2, 4 or 8 registers; left out when 0
 *   xo           texel offsets, three signed nibbles 51:40, written (x,y,z); left out when zero
 *   vdm vam xbm vcm   D, A, X 39:32 and C of a matrix multiply, 1, 2 or 4 registers by its form
 *   vdl          D of a matrix load, 1, 2 or 4 registers
 *
 * The encoder sets the bits that the row or the addressing mode implies, whatever their
 * values in the structure: a_scalar of sa; c_scalar of sc and of a scalar base; the variant
 * bit of a scalar base (AMODE SU32, SS32: C is the pair, A the 32-bit offset); the X kind of
 * im (immediate) and of tokens without a kind (vector). Fields that a row does not use
 * must be zero. A of ma and mc is a vector register. mc has no AMODE (zero): A is one
 * 32-bit register, or vz for none.
 * Source modifiers are refused on immediates.
 */
enum isa_tok {
#define TOKEN(id, ...) ISA_TOK_##id,
#include "isa/tokens.def"
    ISA_TOK_NONE
};

/** Operands of one row of the table, in the order of the assembly text. */
enum { ISA_MAX_TOKENS = 8 };
struct isa_operands {
    uint8_t tok[ISA_MAX_TOKENS]; /* enum isa_tok; unused elements are ISA_TOK_NONE */
    uint8_t count;
};

struct isa_op_info {
    const char *id;       /* "V_ADD_U32" */
    const char *mnemonic; /* "v_add_u32" */
    enum isa_format format;
    uint16_t opcode; /* 10 bits: 5:0 low part 1..0x3f, 9:6 high part */
    enum isa_unit unit;
    enum isa_order order;
    enum isa_tag_rule tag;
    unsigned flags;
    struct isa_operands operands;
    const char *semantics; /* last column of the row as text, for the manual */
};

/** Returns true if the table row has operand token @tok. */
static inline bool isa_op_has(const struct isa_op_info *info, enum isa_tok tok)
{
    for (unsigned i = 0; i < info->operands.count; i++)
        if (info->operands.tok[i] == tok)
            return true;
    return false;
}
/** Returns the number of registers of an operand that has token @one in some rows and the pair token @two in others: 1 or 2.
 *  Returns 0 if the row has neither token. */
static inline unsigned isa_op_words(const struct isa_op_info *info, enum isa_tok one, enum isa_tok two)
{
    return isa_op_has(info, two) ? 2 : isa_op_has(info, one) ? 1 : 0;
}

/** Kind of operand X in a decoded instruction. */
enum isa_xkind { ISA_X_VECTOR, ISA_X_SCALAR, ISA_X_CONST, ISA_X_IMM };

struct isa_control {
    uint8_t stall;       /* stall count: 0..15 */
    uint8_t yield;       /* yield bit: 0..1 */
    uint8_t write_bar;   /* number of a dependence barrier, 0..6, or 7 if there is none; encoded inverted, so that an all-zero
                          * field means "none" */
    uint8_t read_bar;    /* as write_bar, for the dependence barrier of reads */
    uint8_t wait_mask;   /* set of the dependence barriers to wait for, as 6 bits */
    uint8_t reuse;       /* reuse bits, one for each position of a vector operand: 3 bits */
};

/** One decoded instruction. Callers zero-initialise the structure, and then call isa_insn_init(). */
struct isa_insn {
    uint16_t op; /* enum isa_op */
    uint8_t guard; /* 0..6; ISA_PT: no guard */
    bool guard_neg, guard_scalar;
    uint8_t d, a, c;
    bool a_scalar, c_scalar;
    uint8_t xkind; /* enum isa_xkind */
    bool variant;
    uint32_t x;   /* bits 63:32 of the word; functions such as isa_x_reg() extract its fields */
    uint32_t mod; /* bits 107:80: source modifiers, P, Q, R, modifiers */
    struct isa_control control;
};

/** Offset and bank of the constant operand X. */
static inline unsigned isa_x_offset(uint32_t x)
{
    return x & 0xffff;
}
static inline unsigned isa_x_bank(uint32_t x)
{
    return x >> 16 & 31;
}
/** Fields of X in memory and cross-lane instructions: register in bits 39:32, signed 24-bit offset in 63:40, member mask register
 *  in 63:56. */
static inline unsigned isa_x_reg(uint32_t x)
{
    return x & 0xff;
}
static inline int32_t isa_x_disp(uint32_t x)
{
    return (int32_t)x >> 8;
}
static inline unsigned isa_x_member(uint32_t x)
{
    return x >> 24;
}
/** Texel offset, -8..7, of a texture fetch in dimension @axis (token xo). */
static inline int isa_x_texel(uint32_t x, unsigned axis)
{
    return (int)((x >> (8 + 4 * axis) & 15) ^ 8) - 8;
}

/** Fields of `depbar.le`: dependence barrier (34:32), and the highest count at which the warp continues (45:40). */
static inline unsigned isa_x_depbar(uint32_t x)
{
    return x & 7;
}
static inline unsigned isa_x_depbar_most(uint32_t x)
{
    return x >> 8 & 63;
}
/** Fields of `waitcnt`: the warp waits until each counter is at most the field's value. Counters: vector memory (37:32), operands
 *  of stores (42:40), scalar and shared memory (53:48). A field of all ones means that the instruction does not wait for this
 *  counter. */
enum { ISA_WAIT_ANY = 63, ISA_WAIT_EXP_ANY = 7 };
static inline unsigned isa_x_vmcnt(uint32_t x)
{
    return x & 63;
}
static inline unsigned isa_x_expcnt(uint32_t x)
{
    return x >> 8 & 7;
}
static inline unsigned isa_x_lgkmcnt(uint32_t x)
{
    return x >> 16 & 63;
}
/** Clamp (45:40) and segment mask (51:46) of a shuffle whose variant bit is clear. If the variant bit is set, both are in
 *  register C instead. */
static inline unsigned isa_x_clamp(uint32_t x)
{
    return x >> 8 & 63;
}
static inline unsigned isa_x_segment(uint32_t x)
{
    return x >> 14 & 63;
}
/** Guest address of a branch target (token tg) of the instruction at @pc. */
static inline uint64_t isa_x_target(uint32_t x, uint64_t pc)
{
    return pc + ISA_WORD_BYTES + (uint64_t)(int64_t)(int32_t)x * ISA_WORD_BYTES;
}

/** Fields of `mod`, which starts at bit 80 of the word. */
static inline unsigned isa_insn_p(const struct isa_insn *insn)
{
    return insn->mod >> 6 & 7;
}
static inline unsigned isa_insn_q(const struct isa_insn *insn)
{
    return insn->mod >> 9 & 7;
}
static inline unsigned isa_insn_r(const struct isa_insn *insn)
{
    return insn->mod >> 12 & 7;
}
static inline bool isa_insn_r_neg(const struct isa_insn *insn)
{
    return insn->mod >> 15 & 1;
}
/** Truth table of lop3 (token lt, 103:96). */
static inline unsigned isa_insn_lut(const struct isa_insn *insn)
{
    return insn->mod >> 16 & 0xff;
}
/** Predicates ra (98:96, negate 99) and rb (102:100, negate 103) of plop3; its table
 *  l8 is isa_x_reg(x). */
static inline unsigned isa_insn_ra(const struct isa_insn *insn)
{
    return insn->mod >> 16 & 7;
}
static inline bool isa_insn_ra_neg(const struct isa_insn *insn)
{
    return insn->mod >> 19 & 1;
}
static inline unsigned isa_insn_rb(const struct isa_insn *insn)
{
    return insn->mod >> 20 & 7;
}
static inline bool isa_insn_rb_neg(const struct isa_insn *insn)
{
    return insn->mod >> 23 & 1;
}
/** Source modifiers of A, X or C: bit 0 is neg, bit 1 is abs (floats) or not (integers). */
static inline unsigned isa_insn_srcmod(const struct isa_insn *insn, unsigned source)
{
    return insn->mod >> (2 * source) & 3;
}

/** Modifier groups (isa/mods.def). */
enum isa_mod {
#define MOD(id, ...) ISA_MOD_##id,
#define VALUE(...)
#include "isa/mods.def"
    ISA_MOD_COUNT
};
/** Values of the modifier groups, such as ISA_RND_RN and ISA_SIZE_B32. */
#define MOD(id, format, lsb, bits, deflt, summary) enum isa_mod_##id {
#define VALUE(id, value, suffix) ISA_##id = (value),
#define MOD_END(id) ISA_MOD_##id##_END };
#include "isa/mods.def"

unsigned isa_mod_get(const struct isa_insn *insn, enum isa_mod mod);
void isa_mod_set(struct isa_insn *insn, enum isa_mod mod, unsigned value);
void isa_insn_set_p(struct isa_insn *insn, unsigned p);
void isa_insn_set_q(struct isa_insn *insn, unsigned q);
void isa_insn_set_r(struct isa_insn *insn, unsigned r, bool negate);
void isa_insn_set_srcmod(struct isa_insn *insn, unsigned source, unsigned bits);
/** Returns the barrier register that a branch or call names (token bo), or -1. The setter also sets the variant bit. */
int isa_insn_bo(const struct isa_insn *insn);
void isa_insn_set_bo(struct isa_insn *insn, unsigned barrier);
void isa_insn_set_lut(struct isa_insn *insn, unsigned table);
void isa_insn_set_ra(struct isa_insn *insn, unsigned ra, bool negate);
void isa_insn_set_rb(struct isa_insn *insn, unsigned rb, bool negate);

/** Initialises an instruction: guard pt; unused registers zero; no predicates P, Q and R if the row has them; modifiers at their
 *  defaults; in the control field stall 0 and no barriers. */
void isa_insn_init(struct isa_insn *insn, enum isa_op op);
/** Initialises an instruction so that it can be encoded: as isa_insn_init(), but a modifier without a default is set to its first
 *  value. */
void isa_insn_example(struct isa_insn *insn, enum isa_op op);
const struct isa_op_info *isa_op_info(enum isa_op op);
/** Finds a row by its mnemonic, without modifier suffixes. Returns ISA_OP_NONE if no row has the mnemonic. */
enum isa_op isa_op_find(const char *mnemonic, size_t size);
/** If Lanewise does not execute instruction @op, returns a text that states what the instruction would do, such as "texture
 *  fetches"; otherwise returns NULL. An instruction that Lanewise does not execute can be assembled, encoded and printed, but a
 *  program that contains it is not loaded. */
const char *isa_op_refused(enum isa_op op);
const char *isa_unit_name(enum isa_unit unit);

enum isa_space {
    ISA_SPACE_GENERIC,
    ISA_SPACE_GLOBAL,
    ISA_SPACE_SHARED,
    ISA_SPACE_LOCAL,
    ISA_SPACE_CONST,
    ISA_SPACE_COUNT
};
const char *isa_space_name(enum isa_space space);
enum isa_access { ISA_ACCESS_NONE, ISA_ACCESS_LOAD, ISA_ACCESS_STORE, ISA_ACCESS_ATOMIC,
                  ISA_ACCESS_REDUCE };
/** Returns how an instruction accesses memory, and stores the space, according to its semantics column. Returns NONE for a scalar
 *  load, because it is no access by lanes. */
enum isa_access isa_op_access(enum isa_op op, enum isa_space *space);

/** Returns the instruction's order (MACHINE 4). If the table contains ISA_ORDER_ACCESS, the modifiers determine the result:
 *  shared and local accesses are BLOCK or NONE, integer reductions are COMMUTES, and so on. Generic accesses count as global. */
enum isa_order isa_insn_order(const struct isa_insn *insn);

/** Returns true if the result may be undefined, infinite or NaN although the operands are not (ISA_F_PARTIAL). Returns false if X
 *  is a constant divisor or shift amount for which the result is defined, and for conversions of integers to any type except f16.
 *  An overflow of a sum or product does not count as undefined or infinite. */
bool isa_insn_is_partial(const struct isa_insn *insn);
/** Returns true if control never continues after @insn, because the instruction has no guard and its row has ISA_F_ENDS. The
 *  result is false for calls, because they return. */
bool isa_insn_ends(const struct isa_insn *insn);
/** Gets the target of a direct branch, call or bssy (token tg) at instruction @index: an instruction index, which may be out of
 *  range. Returns false if the instruction has no direct target. */
bool isa_insn_target(const struct isa_insn *insn, uint32_t index, int64_t *target);
/** Gets the target of a direct branch at instruction @index, as isa_insn_target() does. Returns false for other instructions,
 *  even if they have a target. */
bool isa_insn_jumps(const struct isa_insn *insn, uint32_t index, int64_t *target);
/** Returns true for a branch, call or return whose target is in a register pair. */
bool isa_op_is_indirect(enum isa_op op);

/** Returns the number of bytes that a memory instruction accesses for each lane (1 to 16), and its number of data registers. For
 *  a texture fetch, the texture determines the number of bytes, and the result is the maximum, 16. */
unsigned isa_mem_bytes(const struct isa_insn *insn);
unsigned isa_mem_regs(const struct isa_insn *insn);
/** Returns NULL if @insn, of format ISA_FMT_ATOM, is a valid atomic or reduction. Otherwise returns the reason as a clause: the
 *  operation does not exist for the type, or an operand has no field in the word. Encoder and decoder refuse invalid atomics.
 *  Source: PTX ISA manual, version 8.5, sections 9.7.12.13 and 9.7.12.14; docs/reference/isa.md. */
const char *isa_atomic_refused(const struct isa_insn *insn);
/** Returns the number of bytes of the source in X (register, constant or immediate): 4 or 8, or 0 if X is no source. */
unsigned isa_insn_x_bytes(const struct isa_insn *insn);

/** Registers that an instruction reads and writes, for register allocators, scoreboards and lints. */
enum isa_reg_class { ISA_REG_V, ISA_REG_S, ISA_REG_P, ISA_REG_SP, ISA_REG_B };
struct isa_reg_use {
    uint8_t reg_class; /* enum isa_reg_class */
    uint8_t first, count;
    bool written;
};
enum { ISA_MAX_USES = 12 };
/** Fills @uses, which has ISA_MAX_USES elements, and returns the number of elements filled. vz, sz and pt are omitted. */
unsigned isa_insn_uses(const struct isa_insn *insn, struct isa_reg_use *uses);

/** Numbers registers across all classes. Returns the number of the first register of @use, which is below ISA_REG_NUMBERS. */
enum { ISA_REG_NUMBERS = 448 };
unsigned isa_reg_number(const struct isa_reg_use *use);

/** Latency of a unit: cycles from issue to result, for the control field. If the latency is variable, `cycles` is an average, and
 *  a dependence barrier signals the completion. GPU models of the timing model have their own latencies. */
struct isa_latency {
    uint8_t cycles;
    bool variable;
};
const struct isa_latency *isa_unit_latency(enum isa_unit unit);
/** Returns the latency of an instruction: that of its unit, and one cycle more for f16 and bf16 in unit fp. The bypass network
 *  does not serve instructions of variable latency. Therefore such an instruction can use a result of fixed latency only one
 *  cycle later than other instructions can. Source: Huerta et al., MICRO 2025, section 5.3. */
struct isa_latency isa_op_latency(const struct isa_op_info *info);
/** Returns true for f16 and bf16 instructions of unit fp. */
bool isa_op_is_half(const struct isa_op_info *info);
struct isa_object;
/** Checks the control fields on all paths of each function. Returns LW_EFORMAT and a message, such as "k.s:3: k+0x20: ...", for
 *  the first instruction that may read a result before it is written, or overwrite a source before it is read. */
enum lw_status isa_control_check(const struct isa_object *object, struct lw_error *err)
    LW_MUST_CHECK;
/** Checks as isa_control_check() does, and sets *@findings to the number of wrong instructions. If memory is short, *@findings is
 *  not written. For each wrong instruction, a line is written to @out, which may be NULL. */
enum lw_status isa_control_count(const struct isa_object *object, unsigned *findings, struct lw_sink *out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Checks the wait counters on all paths of each function that has a `waitcnt`. A register must not be used before a `waitcnt`
 *  covers its load, nor written before an earlier store has read it. Findings are reported as by isa_control_count(). */
enum lw_status isa_waitcnt_count(const struct isa_object *object, unsigned *findings, struct lw_sink *out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Computes the control fields of a function whose instructions have only the values that isa_insn_init() sets. Returns false if
 *  memory is short. */
bool isa_control_fill(struct isa_insn *insn, uint32_t count) LW_MUST_CHECK;

/* ---- instruction words --------------------------------------------------- */

struct isa_word {
    uint64_t lo, hi;
};

/** Decodes a word. Returns false if no row has its opcode, a reserved or unused field is not zero, or a modifier has an undefined
 *  value. Every word from isa_insn_encode() can be decoded. */
bool isa_insn_decode(struct isa_word word, struct isa_insn *insn);
/** Encodes an instruction. Returns LW_ERANGE and a message if the value of a field is not valid for the instruction's row. */
enum lw_status isa_insn_encode(const struct isa_insn *insn, struct isa_word *word,
                               struct lw_error *err) LW_MUST_CHECK;

/** Callback that names an address in disassembly: writes a name such as "loop" or "saxpy+0x30" to @text and returns true, or
 *  returns false. */
typedef bool (*isa_symbol_fn)(void *context, uint64_t address, char *text, size_t size);
/** Prints an instruction as the assembler reads it. @pc is the guest address of the instruction. If @symbol is NULL, branch
 *  targets are printed as absolute addresses. */
void isa_insn_print(const struct isa_insn *insn, uint64_t pc, isa_symbol_fn symbol,
                    void *context, struct lw_sink *out);

/* ---- registers ----------------------------------------------------------- */

/** Special registers (isa/specials.def), which s2r and s_s2r read. Debuggers use the same names. */
enum isa_special {
#define SPECIAL(id, name, width, uniform, order, summary) ISA_SR_##id,
#include "isa/specials.def"
    ISA_SR_COUNT
};
struct isa_special_info {
    const char *name; /* "tid.x" */
    uint8_t width;    /* 32 or 64 */
    bool uniform;     /* equal in all lanes of a warp */
    enum isa_order order;
    const char *summary;
};
const struct isa_special_info *isa_special_info(enum isa_special sr);
int isa_special_find(const char *name, size_t size); /* returns -1 if there is no special register of this name */

/* ---- objects ------------------------------------------------------------- */

/** Kinds of kernel parameters. VALUE: bytes whose type is not known. INTEGER: 1, 2, 4 or 8 bytes. FLOAT: 4 or 8 bytes. */
enum isa_param_kind {
    ISA_PARAM_VALUE,
    ISA_PARAM_POINTER,
    ISA_PARAM_INTEGER,
    ISA_PARAM_FLOAT,
    ISA_PARAM_KIND_COUNT
};
struct isa_param {
    const char *name;
    uint8_t kind;         /* enum isa_param_kind */
    uint8_t space;        /* space that a pointer points to: enum isa_space */
    uint32_t offset, size_bytes, align; /* position, size and alignment in constant bank 0 */
};

/** A kernel or device function: a contiguous range of instructions. */
struct isa_function {
    const char *name;
    uint32_t first, count; /* instruction range; `first` is an index into the text */
    bool kernel;
    uint32_t line; /* line and file of the function's declaration; line 0: the declaration is not known */
    uint16_t file;
    /* the members from here on are used for kernels only */
    struct isa_param *params;
    unsigned param_count;
    uint32_t param_bytes;
    uint32_t shared_bytes; /* size of static shared memory; dynamic shared memory follows it at a multiple of 16 */
    uint32_t local_bytes;  /* local memory per thread, including the stack */
    /* registers that the kernel and all functions that it calls use; sreg_count 0: the scalar unit is not used */
    uint16_t vreg_count, sreg_count, breg_count;
    uint32_t max_threads;     /* greatest number of threads of a block, or 0 if there is no limit */
    uint32_t required_block[3]; /* size that a block must have; 0: any size */
    uint8_t needs_warp;       /* warp width that the kernel needs, or 0 if it can have any width; kernels that need 32 also run
                               * with 64, as two virtual warps (MACHINE 1) */
    bool dynamic_shared;      /* the kernel or a callee uses shared memory whose size the launch determines */
};

/** Line-table row: the source location of the instructions from `insn` up to the next line-table row. Line-table rows are sorted
 *  by instruction. */
struct isa_line {
    uint32_t insn;
    uint16_t file; /* index into `files` */
    uint32_t line;
    uint16_t column;
    bool is_stmt, prologue_end;
};

/** Natural loop of the code, for tools and the timing model; execution does not use it. */
struct isa_loop {
    uint32_t header;       /* first instruction; the loops are sorted by this member */
    uint32_t depth;        /* nesting depth; 1: the loop is in no other loop */
    uint32_t parent;       /* index of the loop that contains this loop, or UINT32_MAX if there is none */
    uint16_t file;         /* file of the source lines from_line to to_line; 0: unknown */
    uint32_t from_line, to_line;
    uint32_t *latches, *exits; /* last instructions of the blocks that jump back, and of the blocks that leave the loop;
                                * sorted */
    uint32_t latch_count, exit_count;
};
struct isa_debug;
struct isa_object;

/** Kinds of bounds. The bound of a load, store or atomic is the object in memory outside which this instruction accesses no byte
 *  in a correct program. In translated code, an access has a bound if its address is that of one known variable plus offsets
 *  (docs/reference/object.md). */
enum isa_bound_kind {
    ISA_BOUND_VARIABLE, /* variable @which of the object */
    ISA_BOUND_PARAM,    /* parameter @which of the kernel, a pointer to shared memory; the object extends to the start of the next
                         * such parameter's object */
    ISA_BOUND_LOCAL,    /* the @bytes bytes at offset @which of the kernel's local memory */
    ISA_BOUND_SOURCE,   /* the source variable at offset @which of the kernel's local memory */
    ISA_BOUND_KIND_COUNT
};
struct isa_bound {
    uint32_t insn;
    uint8_t kind;           /* enum isa_bound_kind */
    uint32_t which, bytes;
};

/** Module variable in global or constant memory, or static shared variable. */
struct isa_variable {
    const char *name;
    uint8_t space; /* ISA_SPACE_GLOBAL, ISA_SPACE_CONST (read-only global) or ISA_SPACE_SHARED */
    uint32_t align;
    uint64_t size_bytes;
    bool managed;               /* ISA_SPACE_GLOBAL: the source declares the variable as managed memory, which host code accesses, too */
    uint32_t shared_offset;     /* ISA_SPACE_SHARED: offset in the block's shared memory */
    const uint8_t *init;        /* size_bytes of initial data; NULL: zeros */
};

/** Relocation: the loader writes the address of a variable or function plus @addend. If @insn is not UINT32_MAX, the loader
 *  writes the low or high word of the sum to the immediate X of instruction @insn. Otherwise the loader writes the whole sum, 8
 *  bytes, to offset @offset of variable @in. */
struct isa_reloc {
    uint32_t insn;
    bool high;
    uint32_t in, offset;
    bool to_function;
    uint32_t to;     /* index of the variable or function */
    int64_t addend;
};

/** A kernel of the source that the translator has refused, and the reason as a message. */
struct isa_refusal {
    const char *name, *message;
};

/** Suffix of isa_object.producer if the compiler preserved the values of variables in optimised code. */
#define ISA_KEEPS_VALUES ", values kept"

/** An object. The arena of an object owns all its parts. */
struct isa_object {
    struct lw_arena arena;
    struct isa_word *text;
    uint32_t text_count;
    uint64_t text_address; /* address of the code in a file that isa_object_write_loaded() writes; 0: ISA_CODE_BASE, the address
                            * in all other files */
    struct isa_function *functions;
    unsigned function_count;
    struct isa_variable *variables;
    unsigned variable_count;
    struct isa_reloc *relocs;
    unsigned reloc_count;
    struct isa_line *lines;
    unsigned line_count;
    const char **files; /* files[0] is "" */
    unsigned file_count;
    const char *producer; /* name of the compiler, translator or assembler */
    const char *comp_dir;
    const uint8_t *const_bank; /* constant bank 1 (64-bit immediates etc.); may be NULL */
    uint32_t const_bank_bytes;
    const struct isa_debug *debug; /* debug information of the source; may be NULL */
    struct isa_loop *loops;
    unsigned loop_count;
    struct isa_bound *bounds; /* sorted by instruction; an instruction has at most one bound */
    unsigned bound_count;
    struct isa_refusal *refusals;
    unsigned refusal_count;
    struct isa_slices *slices; /* address slices of each kernel; NULL: not computed (isa/isa_slice.h) */
    unsigned slice_count;
};

/** Returns true if the compiler preserved the values of variables in optimised code (ISA_KEEPS_VALUES). */
bool isa_object_keeps_values(const struct isa_object *object);

/** Creates an empty object, with "" as files[0]; a translator fills it. Strings and arrays are allocated in its arena. Returns
 *  NULL if memory is short. */
struct isa_object *isa_object_create(void);
/** Checks the rules that an object file obeys: functions are sorted by `first`, disjoint and not empty; names are not empty, and
 *  unique among functions and variables; lines are sorted by instruction; every index, size and alignment is in range; every word
 *  can be decoded; a relocated instruction has an immediate X. Errors: LW_EFORMAT. */
enum lw_status isa_object_check(const struct isa_object *object, struct lw_error *err)
    LW_MUST_CHECK;
void isa_object_destroy(struct isa_object *object);
/** Treatment of a function in whose assembly text no instruction has a control field, not even an empty one. ISA_ASM_AUTO: the
 *  assembler computes the control fields (isa_control_fill()). ISA_ASM_KEEP: the control fields stay empty. */
enum isa_asm_control { ISA_ASM_KEEP, ISA_ASM_AUTO };
/** Assembles text. Messages begin with "name:line: ". */
enum lw_status isa_assemble_as(const char *name, const char *text, size_t size, enum isa_asm_control control,
                               struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/** Assembles text as isa_assemble_as() does with ISA_ASM_KEEP. */
enum lw_status isa_assemble(const char *name, const char *text, size_t size,
                            struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/** Prints an object as text from which the assembler, with either value of isa_asm_control, makes an equal object. */
void isa_disassemble(const struct isa_object *object, struct lw_sink *out);
/** Writes an object as an ELF64 file, into a heap block *@bytes: e_machine is ISA_ELF_MACHINE; text at ISA_CODE_BASE; symbols;
 *  metadata; DWARF (.debug_line, .debug_info, .debug_abbrev, .debug_frame). */
enum lw_status isa_object_write(const struct isa_object *object, uint8_t **bytes, size_t *size,
                                struct lw_error *err) LW_MUST_CHECK;
/** Writes an object as isa_object_write() does, but for a debugger: symbols and debug information have the addresses that the
 *  loader has chosen for the variables. @variables[i] is the address of variable i; it is not read for shared variables. */
enum lw_status isa_object_write_loaded(const struct isa_object *object,
                                       const uint64_t *variables, uint8_t **bytes, size_t *size,
                                       struct lw_error *err) LW_MUST_CHECK;
/** Values of ISA_AT_CALLING_CONVENTION (DWARF 5, section 7.15), from which debuggers derive where a function's result is. */
enum {
    ISA_CC_NORMAL = 1,
    ISA_CC_NOCALL = 3,  /* debuggers do not read the result */
    ISA_CC_REALS = 0x4C /* our own value: as ISA_CC_NORMAL, for debuggers that know floating-point registers */
};
/** Reads an object file. Checks every field: invalid bytes result in LW_EFORMAT and a message. */
enum lw_status isa_object_read(const char *name, const uint8_t *bytes, size_t size,
                               struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/* ---- names of C++ ---------------------------------------------------------------- */

enum { ISA_SYMBOL_BYTES = 256 };
/**
 * Writes a C++ symbol as it is in the source: its qualified name with template arguments, such as "ns::reduce<float, 256>". A
 * symbol that is no C++ name, or that cannot be parsed, is copied. A longer text is cut off at @room bytes.
 * @base  offset in @out of the last component of the name
 * @bare  length of the name without its template arguments
 */
void isa_symbol_read(const char *symbol, char *out, size_t room, size_t *base, size_t *bare);
/** Returns a name for messages: @symbol, or its text from isa_symbol_read() in @room, which has ISA_SYMBOL_BYTES. */
const char *isa_symbol_text(const char *symbol, char *room);
/** Returns the name that a variable has in the source, without the compiler's prefix "kernel_$_". */
const char *isa_own_name(const char *name);
/** Returns the shared variable of a kernel at @offset in shared memory; @kernel may be NULL. If kernels of the object have different
 *  variables there, and it is not known which one is that of @kernel, returns NULL. */
const struct isa_variable *isa_shared_variable(const struct isa_object *object, const struct isa_function *kernel, uint32_t offset);

/** Returns the function that contains instruction @index, or NULL. */
const struct isa_function *isa_object_function_at(const struct isa_object *object,
                                                  uint32_t index);
/** Sets the rank of each instruction of the text. The ranks are chosen so that lanes of a warp reconverge early if the lanes at
 *  the instruction with the lowest rank always run first (isa_rank.c). Returns false if memory is short. */
bool isa_object_ranks(const struct isa_object *object, const struct isa_insn *insn, uint32_t *rank) LW_MUST_CHECK;
/** Sets the ranks of the @count instructions of one function, in the order of isa_object_ranks(). @place receives the rank of the
 *  instruction's basic block. @rank and @place differ only at the first instruction of a loop: its @rank is higher than that of
 *  all blocks of the loop. Therefore lanes at this instruction wait for the lanes inside the loop. Returns false if memory is
 *  short. */
bool isa_function_ranks(const struct isa_insn *insn, uint32_t count, uint32_t *rank, uint32_t *place) LW_MUST_CHECK;
/** Finds the likely convergence points of a function's branches (isa_likely.c). The function has the instructions [@first, @first
 *  + @count) of the text; @rank, @rpc and @lpc have an element for each instruction of the text. @rank is from
 *  isa_object_ranks(); if it is NULL, instructions are ordered as in the text. @rpc contains the reconvergence pcs of branches,
 *  and UINT32_MAX for other instructions. Sets @lpc for each instruction of the function: to the likely convergence point, or to
 *  UINT32_MAX if there is none. Returns false if memory is short. */
bool isa_likely_points(const struct isa_insn *insn, uint32_t first, uint32_t count, const uint32_t *rank, const uint32_t *rpc,
                       uint32_t *lpc) LW_MUST_CHECK;
/** A function's frame before one of its instructions. In compiled code the frame is the same on every path to the instruction
 *  (docs/reference/abi.md). */
struct isa_frame {
    int32_t added; /* by how much the stack pointer, v2, has changed since the function's entry */
    bool saved;    /* true: the return address is in memory at CFA - 8; false: it is in v0:1. The CFA is the value of v2 at the
                    * function's entry */
};
/** Gets the frame before instruction @index of @function. Returns false if no path leads to the instruction, or if memory is
 *  short. */
bool isa_function_frame(const struct isa_object *object, const struct isa_function *function, uint32_t index,
                        struct isa_frame *out);
/** Returns the line-table row that applies to instruction @index, or NULL. As in .debug_line, a line-table row does not apply
 *  beyond the end of its function. */
const struct isa_line *isa_object_line_at(const struct isa_object *object, uint32_t index);
/** Returns the contents of a source file of an object, which the caller frees, or NULL if the file cannot be read. */
char *isa_source_read(const struct isa_object *object, const char *file);
/** Returns the bound of instruction @index, or NULL. */
const struct isa_bound *isa_object_bound_at(const struct isa_object *object, uint32_t index);
enum { ISA_ELF_MACHINE = 0x4C57 };

/** Result of the order analysis: how a kernel can observe the order in which its threads run (MACHINE 4). */
struct isa_order_analysis {
    enum isa_order worst; /* NONE: the kernel is order-free; BLOCK: it is block-order-free; GRID: it is neither */
    uint32_t insn;        /* index of the first instruction with this order */
    bool mixed; /* instruction `insn` is a reduction, and the kernel has another reduction of the same size, which may access the
                 * same location, with a different operation */
    bool everything;      /* an indirect branch or call exists, so that the whole text was analysed */
};
/**
 * Analyses each kernel: the code of its function and of all functions that it calls; if there is an indirect jump or call, or if
 * memory is short, the whole text. Generic accesses count as global.
 * @insn  the decoded text of the object, @count instructions
 * @out   a result for each function of the object; undefined for functions that are no kernels
 */
void isa_kernel_orders(const struct isa_object *object, const struct isa_insn *insn,
                       uint32_t count, struct isa_order_analysis *out);
/** Analyses kernels as isa_kernel_orders() does, and decodes the text for this purpose. Returns an array that the caller frees,
 *  or NULL if memory is short. */
struct isa_order_analysis *isa_object_orders(const struct isa_object *object) LW_MUST_CHECK;
/** Prints "order-free", "block-order-free: ..." or "fixed order: ...", with the instruction and its source location. */
void isa_order_print(const struct isa_object *object, const struct isa_order_analysis *analysis,
                     struct lw_sink *out);

/** Prints the instruction manual (docs/reference/isa.md), generated from the table. */
void isa_manual_print(struct lw_sink *out);

#include "isa/isa_debug.h"
#include "isa/isa_prmt.h"
#include "isa/isa_slice.h"

#endif
