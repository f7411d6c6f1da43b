/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of isa/: the instruction table and its readers (encode, decode,
 * assemble, disassemble), register and special-register names, and the object
 * file. One row of isa/insns.def is the only place that knows an instruction.
 */
#ifndef ISA_H
#define ISA_H

#include "base/lw.h"

/* ---- limits and fixed addresses (MACHINE 6) ------------------------------ */

enum {
    ISA_WORD_BYTES = 16,
    ISA_VREG_COUNT = 255, /* v0..v254 */
    ISA_VZ = 255,         /* vz: reads zero, writes are dropped */
    ISA_SREG_COUNT = 126, /* s0..s125 */
    ISA_S_EXEC = 126,     /* s126:127 is exec */
    ISA_SZ = 255,
    ISA_PRED_COUNT = 7, /* p0..p6, sp0..sp6 */
    ISA_PT = 7,         /* pt, spt: always true; as a destination: none */
    ISA_BREG_COUNT = 16,
    ISA_CTA_BARRIER_COUNT = 16,
    ISA_CONST_BANK_BYTES = 65536,
    ISA_CONST_BANK_COUNT = 32
};

#define ISA_CODE_BASE (UINT64_C(1) << 32)
#define ISA_SHARED_BASE (UINT64_C(1) << 40)
#define ISA_LOCAL_BASE (UINT64_C(1) << 41)
#define ISA_APERTURE_BYTES (UINT64_C(1) << 32) /* of shared and of local */
#define ISA_CONST_BASE (UINT64_C(1) << 42)
#define ISA_CONST_STRIDE (UINT64_C(1) << 32) /* bank k at base + k * stride */
#define ISA_GLOBAL_BASE (UINT64_C(1) << 45)

/* ---- the table ----------------------------------------------------------- */

/** Formats: which modifier groups (isa/mods.def) an instruction has. */
enum isa_format {
    ISA_FMT_ALU,  /* no modifiers */
    ISA_FMT_FLT,  /* rounding, ftz, saturate */
    ISA_FMT_CMP,  /* compare, boolean combination, ftz */
    ISA_FMT_CVT,  /* destination and source type, rounding, saturate, ftz */
    ISA_FMT_LUT,  /* 8-bit truth table (lop3) */
    ISA_FMT_PLUT, /* plop3 */
    ISA_FMT_MEM,  /* addressing, size, order, scope, cache hint */
    ISA_FMT_ATOM, /* the same and the atomic operation */
    ISA_FMT_WARP, /* shuffles, votes, match, redux */
    ISA_FMT_CTRL, /* control flow, barriers, system */
    ISA_FMT_PRM,  /* prmt: byte permute mode */
    ISA_FMT_FNC,  /* fence: scope */
    ISA_FMT_TEX,  /* texture fetch: geometry, types, level of detail, depth comparison */
    ISA_FMT_TLD,  /* texture gather: geometry, type, component, depth comparison */
    ISA_FMT_MMA,  /* matrix multiply: shape and types, saturation */
    ISA_FMT_LDM,  /* matrix load: addressing, count, transposition */
    ISA_FMT_SMEM, /* scalar load: size */
    ISA_FMT_FUN,  /* functions of floats: ftz, saturate; rounded to nearest */
    ISA_FMT_MNM,  /* minimum and maximum of floats: ftz, NaN, xor of signs */
    ISA_FMT_HLF,  /* 16-bit floats: ftz, saturate, relu; rounded to nearest */
    ISA_FMT_BAR,  /* CTA barriers: memory that they order */
    ISA_FMT_COUNT
};

/** Functional units, the key of every latency table. */
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

/** Column `order` (MACHINE 4). */
enum isa_order {
    ISA_ORDER_NONE,
    ISA_ORDER_COMMUTES, /* integer reductions without result */
    ISA_ORDER_BLOCK,    /* observes order in its block only */
    ISA_ORDER_GRID,     /* observes order between blocks */
    ISA_ORDER_ACCESS    /* by space, operation and memory-order modifier: isa_insn_order() */
};

/** Column `tag`: how uniform and affine tags pass through a row (docs/explanation/uniform-affine.md). The rule is
 *  for the vector registers that it writes; that of a compare for its predicates. */
enum isa_tag_rule {
    ISA_TAG_NONE,     /* writes no vector register */
    ISA_TAG_VECTOR,   /* always V: cross-lane, atomics, lane state */
    ISA_TAG_UNIFORM,  /* U when all sources are U, else V */
    ISA_TAG_EVALUATE, /* the same; of affine sources U if the results are equal */
    ISA_TAG_MOV,
    ISA_TAG_ADD,
    ISA_TAG_SUB,
    ISA_TAG_ADDC,     /* add with a carry from R and to P */
    ISA_TAG_SUBC,     /* adds the complement */
    ISA_TAG_MUL,      /* low half */
    ISA_TAG_MAD,
    ISA_TAG_MULWIDE,  /* 32 x 32 -> 64, unsigned; _S: signed */
    ISA_TAG_MULWIDE_S,
    ISA_TAG_MADWIDE,
    ISA_TAG_MADWIDE_S,
    ISA_TAG_LEA,      /* (a << b) + c, a widened to 64 bits */
    ISA_TAG_LEA_S,
    ISA_TAG_SHL,
    ISA_TAG_SHR,
    ISA_TAG_SHR_S,
    ISA_TAG_NEG,
    ISA_TAG_NOT,
    ISA_TAG_SELECT,
    ISA_TAG_CVT,      /* integer widening keeps affine values that do not wrap */
    ISA_TAG_SPECIAL,  /* by the special register and the shape of the block */
    ISA_TAG_LOAD,     /* U when all lanes read one place */
    ISA_TAG_CMP,      /* P and Q: compare of unsigned integers; _S signed */
    ISA_TAG_CMP_S,
    ISA_TAG_COUNT
};

enum isa_flag {
    ISA_F_WHOLE = 1 << 0,     /* takes the whole split (MACHINE 1, Step) */
    ISA_F_SCALAR = 1 << 1,    /* runs once a warp, ignores exec */
    ISA_F_BRANCH = 1 << 2,    /* may set the pc to something else than the next */
    ISA_F_CONTROL = 1 << 3,   /* acts on M; ends a straight-line run */
    ISA_F_MEMORY = 1 << 4,    /* reads or writes memory */
    ISA_F_STORE = 1 << 5,     /* writes memory */
    ISA_F_ATOMIC = 1 << 6,
    ISA_F_BARRIER = 1 << 7,   /* can release or block: bsync, bar, warpsync, yield, exit */
    ISA_F_CROSS = 1 << 8,     /* reads other lanes */
    ISA_F_SYNC = 1 << 9,      /* its members wait for each other; with wm, a mask register in 63:56 names them */
    ISA_F_CALL = 1 << 10,
    ISA_F_FLOAT = 1 << 11,    /* source modifiers are neg/abs of floats, else neg/not */
    ISA_F_NOSRCMOD = 1 << 12, /* bits 85:80 must be zero (or are modifiers) */
    ISA_F_WARP32 = 1 << 13,   /* meaning depends on the 32-lane contract of MACHINE 1 */
    ISA_F_ENDS = 1 << 14,     /* without a guard, flow never continues after it */
    ISA_F_HALF = 1 << 15,     /* 16-bit floats: an immediate is written as its bits */
    ISA_F_PARTIAL = 1 << 16   /* may be undefined, infinite or no number for operands that are not:
                                 sources keep values from it (isa_insn_is_partial) */
};

enum isa_op {
    ISA_OP_NONE,
#define INSN(id, ...) ISA_##id,
#include "isa/insns.def"
    ISA_OP_COUNT
};

/**
 * Operand tokens (column `operands`). A number is the register count; `n` is the
 * count that the size modifier gives (1, 2 or 4).
 *
 *   vd vd2 vdn   D, vector row / aligned pair (v, v+1) / by size, aligned to its count
 *   sd sd2       D, scalar register / pair
 *   va va2       A, vector; a scalar register is accepted too (sets a_scalar)
 *   sa sa2       A, scalar (a_scalar is always set)
 *   xb xb2       X: vector, scalar, constant c[bank][offset] or immediate, 32/64 bits.
 *                A 64-bit immediate is imm32 sign-extended (integers) or the high
 *                word (f64).
 *   sx sx2       X: scalar, constant or immediate
 *   vc vc2       C, vector; a scalar register is accepted too (sets c_scalar)
 *                Rows with both xb and vc: written a, b, c. With the variant bit X
 *                is the third source and C the second; the assembler sets it when
 *                the third operand is not a vector register and the second is.
 *   sc           C, scalar
 *   pd qd        P, Q: predicate written, `_` or pt = none
 *   spd          P: scalar predicate written
 *   rr           R: predicate read, with `!`; left out when pt
 *   ma           memory address: A (mode in the modifiers), offset in 63:40
 *   mc           constant-memory address c[bank][A + offset]: bank in C (71:64)
 *   xd xdn       X register 39:32 as data: one row / by size
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
 *   pa pw        no operand: reads all, writes all of p0..p6
 *   rs           R: scalar predicate read, with `!`; left out when spt
 *   sps spw      no operand: reads all, writes all of sp0..sp6
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
 *   xl           X register 39:32, what .level, .bias, .grad and .dc ask for: level or bias, or
 *                the derivatives by x and then by y of each dimension; last the value to compare
 *                with; 0, 1, 2, 4 or 8 registers, left out when 0
 *   xo           texel offsets, three signed nibbles 51:40, written (x,y,z); left out when zero
 *   vdm vam xbm vcm   D, A, X 39:32 and C of a matrix multiply, 1, 2 or 4 registers by its form
 *   vdl          D of a matrix load, 1, 2 or 4 registers
 *
 * Bits that the row or the address mode implies are set by the encoder whatever the
 * struct holds: a_scalar of sa, c_scalar of sc and of a scalar base, the variant bit of
 * a scalar base (AMODE SU32, SS32: C is the pair, A the 32-bit offset), the X kind of
 * im (immediate) and of tokens without a kind (vector). Fields that a row does not use
 * must be zero; A of ma and mc is a vector register; mc has no AMODE (zero): A is one
 * 32-bit register, vz for none.
 * Source modifiers are refused on immediates.
 */
enum isa_tok {
#define TOKEN(id, ...) ISA_TOK_##id,
#include "isa/tokens.def"
    ISA_TOK_NONE
};

/** The operands of one row, in the order of its text. */
enum { ISA_MAX_TOKENS = 8 };
struct isa_operands {
    uint8_t tok[ISA_MAX_TOKENS]; /* enum isa_tok; ISA_TOK_NONE after the last */
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
    const char *semantics; /* the table's last column as text, for the manual */
};

/** The row has operand token @tok. */
static inline bool isa_op_has(const struct isa_op_info *info, enum isa_tok tok)
{
    for (unsigned i = 0; i < info->operands.count; i++)
        if (info->operands.tok[i] == tok)
            return true;
    return false;
}
/** Registers of an operand that is @one in some rows and a pair, @two, in others: 1 or 2; 0: the row has
 *  neither. */
static inline unsigned isa_op_words(const struct isa_op_info *info, enum isa_tok one, enum isa_tok two)
{
    return isa_op_has(info, two) ? 2 : isa_op_has(info, one) ? 1 : 0;
}

/** What X is in a decoded instruction. */
enum isa_xkind { ISA_X_VECTOR, ISA_X_SCALAR, ISA_X_CONST, ISA_X_IMM };

struct isa_control {
    uint8_t stall;       /* 0..15 */
    uint8_t yield;       /* 0..1 */
    uint8_t write_bar;   /* 0..7, 7 = none; encoded inverted so that zero = none */
    uint8_t read_bar;    /* the same */
    uint8_t wait_mask;   /* 6 bits */
    uint8_t reuse;       /* 3 bits */
};

/** One decoded instruction. Zero-initialise, then isa_insn_init(). */
struct isa_insn {
    uint16_t op; /* enum isa_op */
    uint8_t guard; /* 0..6, ISA_PT */
    bool guard_neg, guard_scalar;
    uint8_t d, a, c;
    bool a_scalar, c_scalar;
    uint8_t xkind; /* enum isa_xkind */
    bool variant;
    uint32_t x;   /* bits 63:32 of the word; see the accessors */
    uint32_t mod; /* bits 107:80: source modifiers, P, Q, R, modifiers */
    struct isa_control control;
};

/** X as a constant-bank reference. */
static inline unsigned isa_x_offset(uint32_t x)
{
    return x & 0xffff;
}
static inline unsigned isa_x_bank(uint32_t x)
{
    return x >> 16 & 31;
}
/** X register of memory and warp instructions (39:32); its signed 24-bit offset
 *  (63:40); the member mask register (63:56). */
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
/** Texel offset of a texture fetch in dimension @axis (token xo), -8..7. */
static inline int isa_x_texel(uint32_t x, unsigned axis)
{
    return (int)((x >> (8 + 4 * axis) & 15) ^ 8) - 8;
}

/** `depbar.le`: dependence barrier (34:32), and the highest count that lets the warp continue (45:40). */
static inline unsigned isa_x_depbar(uint32_t x)
{
    return x & 7;
}
static inline unsigned isa_x_depbar_most(uint32_t x)
{
    return x >> 8 & 63;
}
/** `waitcnt`: the most that each counter may be at: vector memory (37:32), operands of stores (42:40), scalar and shared
 *  memory (53:48). All ones: it is not waited for. */
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
/** Clamp (45:40) and segment mask (51:46) of shuffles when the variant bit is clear. */
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

/** Fields of `mod`, as (shift, bits) from bit 80. */
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
/** Source modifiers of A, X, C: bit 0 neg, bit 1 abs (floats) or not (integers). */
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
/** Values of the groups: ISA_RND_RN, ISA_SIZE_B32, ... */
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
/** Barrier that a branch or call names (token bo), or -1; setting one sets the variant. */
int isa_insn_bo(const struct isa_insn *insn);
void isa_insn_set_bo(struct isa_insn *insn, unsigned barrier);
void isa_insn_set_lut(struct isa_insn *insn, unsigned table);
void isa_insn_set_ra(struct isa_insn *insn, unsigned ra, bool negate);
void isa_insn_set_rb(struct isa_insn *insn, unsigned rb, bool negate);

/** A fresh instruction: guard pt, unused registers zero, P/Q/R none where the row
 *  has them, modifiers at their defaults, control {stall 0, no barriers}. */
void isa_insn_init(struct isa_insn *insn, enum isa_op op);
/** The same with the first value of each modifier that has no default: it can be encoded. */
void isa_insn_example(struct isa_insn *insn, enum isa_op op);
const struct isa_op_info *isa_op_info(enum isa_op op);
/** By mnemonic without modifier suffixes; ISA_OP_NONE if there is none. */
enum isa_op isa_op_find(const char *mnemonic, size_t size);
/** What the row would do, in words ("texture fetches"), where no emulator of ours executes it:
 *  it can be written, encoded and shown, and a loader refuses it. NULL for all others. */
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
/** How and where lanes of a row access memory, from its semantics column; scalar loads: NONE. */
enum isa_access isa_op_access(enum isa_op op, enum isa_space *space);

/** Order column with ISA_ORDER_ACCESS resolved for this instruction's modifiers:
 *  shared or local -> BLOCK or NONE; reductions of integers -> COMMUTES; etc.
 *  (MACHINE 4). Generic counts as global. */
enum isa_order isa_insn_order(const struct isa_insn *insn);

/** May the result be undefined, infinite or NaN although the operands are not (ISA_F_PARTIAL)? Not
 *  with a constant divisor or shift amount that has a result, and not for a conversion of integers,
 *  except to half precision. Sums and products, which only overflow, do not count. */
bool isa_insn_is_partial(const struct isa_insn *insn);
/** Flow never continues after it: no guard, and the row says so (ISA_F_ENDS). Calls return. */
bool isa_insn_ends(const struct isa_insn *insn);
/** Direct target (token tg) of a branch, a call or a bssy that is instruction @index: the index
 *  of an instruction, which may lie anywhere. False: it has none. */
bool isa_insn_target(const struct isa_insn *insn, uint32_t index, int64_t *target);
/** The same for branches alone: flow may continue there in the same function. */
bool isa_insn_jumps(const struct isa_insn *insn, uint32_t index, int64_t *target);
/** A branch, call or return to where a register pair says. */
bool isa_op_is_indirect(enum isa_op op);

/** Bytes a lane that a memory instruction moves (1..16; a texture fetch at most 16: the texture
 *  says how many) and registers it takes. */
unsigned isa_mem_bytes(const struct isa_insn *insn);
unsigned isa_mem_regs(const struct isa_insn *insn);
/** NULL, or a clause that says why there is no atomic or reduction with these modifiers: types
 *  that an operation lacks, operands without a place in the word. Neither the encoder nor the
 *  decoder takes one. @insn: of format ISA_FMT_ATOM. Source: PTX ISA 8.5, 9.7.12.13 and 14, and
 *  docs/reference/isa.md. */
const char *isa_atomic_refused(const struct isa_insn *insn);
/** Bytes of the source in X (register, constant or immediate): 4 or 8; 0: it has none there. */
unsigned isa_insn_x_bytes(const struct isa_insn *insn);

/** What an instruction reads and writes, for allocators, scoreboards, lints. */
enum isa_reg_class { ISA_REG_V, ISA_REG_S, ISA_REG_P, ISA_REG_SP, ISA_REG_B };
struct isa_reg_use {
    uint8_t reg_class; /* enum isa_reg_class */
    uint8_t first, count;
    bool written;
};
enum { ISA_MAX_USES = 12 };
/** Fills @uses (room for ISA_MAX_USES); vz, sz and pt are left out. Returns the count. */
unsigned isa_insn_uses(const struct isa_insn *insn, struct isa_reg_use *uses);

/** Registers of all classes in one count, below ISA_REG_NUMBERS: the number of a use's first. */
enum { ISA_REG_NUMBERS = 448 };
unsigned isa_reg_number(const struct isa_reg_use *use);

/** Cycles from issue to result by unit, for the control field; where they are variable (an
 *  average then) a dependence barrier signals the end. GPU models of the timing model have
 *  latencies of their own. */
struct isa_latency {
    uint8_t cycles;
    bool variable;
};
const struct isa_latency *isa_unit_latency(enum isa_unit unit);
/** The same of an instruction: its unit's, a cycle more of f16 and bf16 in unit fp. A fixed result is there a cycle later for a
 *  reader of variable latency, which no bypass reaches.
 *  Source: Huerta et al., MICRO 2025, 5.3. */
struct isa_latency isa_op_latency(const struct isa_op_info *info);
/** Is it of f16 or bf16, in unit fp? */
bool isa_op_is_half(const struct isa_op_info *info);
struct isa_object;
/** Follow the control fields along all paths of each function. LW_EFORMAT with the first place
 *  where a result may not be there, or a source be overwritten before it is read: "k.s:3: k+0x20: ...". */
enum lw_status isa_control_check(const struct isa_object *object, struct lw_error *err)
    LW_MUST_CHECK;
/** The same; to *@findings, which is set unless there is no memory, how many instructions there are like that, and to
 *  @out (NULL: nothing) a line for each. */
enum lw_status isa_control_count(const struct isa_object *object, unsigned *findings, struct lw_sink *out,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Fill in the control fields of a function, which has none: isa_insn_init's. False: no memory. */
bool isa_control_fill(struct isa_insn *insn, uint32_t count) LW_MUST_CHECK;

/* ---- words --------------------------------------------------------------- */

struct isa_word {
    uint64_t lo, hi;
};

/** False when no row matches, a reserved or unused field is not canonical, or a
 *  modifier has no such value. Never fails on an instruction that encode made. */
bool isa_insn_decode(struct isa_word word, struct isa_insn *insn);
/** Errors: LW_ERANGE with a message when a field does not fit its row. */
enum lw_status isa_insn_encode(const struct isa_insn *insn, struct isa_word *word,
                               struct lw_error *err) LW_MUST_CHECK;

/** Names an address in disassembly: writes e.g. "loop" or "saxpy+0x30" into @text and
 *  returns true, or returns false. */
typedef bool (*isa_symbol_fn)(void *context, uint64_t address, char *text, size_t size);
/** One instruction as text that the assembler reads back. @pc is its guest address;
 *  @symbol may be NULL (targets are then printed as absolute addresses). */
void isa_insn_print(const struct isa_insn *insn, uint64_t pc, isa_symbol_fn symbol,
                    void *context, struct lw_sink *out);

/* ---- registers ----------------------------------------------------------- */

/** Special registers (isa/specials.def): s2r and s_s2r, debugger names. */
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
int isa_special_find(const char *name, size_t size); /* -1: none */

/* ---- objects ------------------------------------------------------------- */

/** VALUE: bits of an unknown type; INTEGER has 1, 2, 4 or 8 bytes, FLOAT 4 or 8. */
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
    uint8_t space;        /* of a pointer: enum isa_space */
    uint32_t offset, size_bytes, align; /* in constant bank 0 */
};

/** A kernel or a device function: a contiguous range of instructions. */
struct isa_function {
    const char *name;
    uint32_t first, count; /* instructions, index into the text */
    bool kernel;
    uint32_t line; /* of its declaration, 0 unknown; file in `file` */
    uint16_t file;
    /* kernels only from here */
    struct isa_param *params;
    unsigned param_count;
    uint32_t param_bytes;
    uint32_t shared_bytes; /* static; dynamic shared starts after it, aligned to 16 */
    uint32_t local_bytes;  /* per thread, stack included */
    /* of the whole call tree; sreg_count is also the flag that the kernel uses the scalar unit:
     * 0 means that it does not */
    uint16_t vreg_count, sreg_count, breg_count;
    uint32_t max_threads;     /* 0: no limit */
    uint32_t required_block[3]; /* 0: free */
    uint8_t needs_warp;       /* 0: any width; 32: see MACHINE 1 */
    bool dynamic_shared;      /* it, or what it calls, names shared memory that its launch sizes */
};

/** A line-table row: instruction index -> source place. Sorted by index. */
struct isa_line {
    uint32_t insn;
    uint16_t file; /* index into files */
    uint32_t line;
    uint16_t column;
    bool is_stmt, prologue_end;
};

/** A natural loop of the code: for tools and the timing side; nothing runs by it. */
struct isa_loop {
    uint32_t header;       /* its first instruction; loops are sorted by it */
    uint32_t depth;        /* 1: outermost */
    uint32_t parent;       /* index of the loop around it, UINT32_MAX: none */
    uint16_t file;         /* of the source lines from_line .. to_line; 0: not known */
    uint32_t from_line, to_line;
    uint32_t *latches, *exits; /* last instructions of the blocks that go back, or out; sorted */
    uint32_t latch_count, exit_count;
};
struct isa_object;

/**
 * What a load, store or atomic of translated code stays in if its source is right: its address is
 * made of this one variable and of offsets (docs/reference/object.md).
 */
enum isa_bound_kind {
    ISA_BOUND_VARIABLE, /* @which: of the object */
    ISA_BOUND_PARAM,    /* @which: parameter of the kernel, a pointer to shared memory: up to the next one */
    ISA_BOUND_LOCAL,    /* @which: offset in the kernel's local memory, @bytes from there */
    ISA_BOUND_SOURCE,   /* the source's variable at offset @which of local memory */
    ISA_BOUND_KIND_COUNT
};
struct isa_bound {
    uint32_t insn;
    uint8_t kind;           /* enum isa_bound_kind */
    uint32_t which, bytes;
};

/** A module variable in global or constant memory (or a static shared one). */
struct isa_variable {
    const char *name;
    uint8_t space; /* ISA_SPACE_GLOBAL, CONST (read-only global), SHARED */
    uint32_t align;
    uint64_t size_bytes;
    uint32_t shared_offset;     /* ISA_SPACE_SHARED: offset in the block's memory */
    const uint8_t *init;        /* NULL: zero; else size_bytes */
};

/** The text holds an address that the loader must fill in: the 32-bit immediate X of
 *  instruction @insn becomes the low or high word of variable/function + addend.
 *  With insn == UINT32_MAX the 8 bytes at @offset of variable @in are filled. */
struct isa_reloc {
    uint32_t insn;
    bool high;
    uint32_t in, offset;
    bool to_function;
    uint32_t to;     /* index of the variable or function */
    int64_t addend;
};

/* ---- debug information of the source --------------------------------------- */

/** Where a variable is, for some instructions. */
enum isa_var_location_kind {
    ISA_LOCATION_ADDRESS,  /* @value: an address of the debugger's space (docs/reference/object.md, windows) */
    ISA_LOCATION_FRAME,    /* @value: signed offset in local memory from the function's CFA */
    ISA_LOCATION_VARIABLE, /* @value: offset in the object's variable @variable */
    ISA_LOCATION_CONSTANT, /* @value itself: the variable is nowhere */
    ISA_LOCATION_EXPRESSION, /* @variable bytes at offset @value of the object's expressions: its pieces, or a
                              * value that is computed */
    ISA_LOCATION_KIND_COUNT
};
struct isa_var_location {
    uint32_t from, to; /* instructions [from, to); the only place of all: both 0 */
    uint8_t kind;      /* enum isa_var_location_kind */
    bool innermost_only;    /* a register that a call does not keep: not valid for the caller's frame */
    bool shared_pointer; /* its value is an offset in shared memory, shown as an address */
    uint32_t variable;
    uint64_t value;
};
struct isa_span { /* instructions [from, to) */
    uint32_t from, to;
};

/** What an attribute's value is; its name decides (isa_debug_attr_kind()). */
enum isa_attr_kind {
    ISA_ATTR_NONE,     /* not an attribute that objects keep */
    ISA_ATTR_NUMBER,
    ISA_ATTR_SIGNED,
    ISA_ATTR_FLAG,     /* value 1 */
    ISA_ATTR_TEXT,
    ISA_ATTR_DIE,      /* value: index of an entry */
    ISA_ATTR_LOCATIONS,   /* value: first place, count: how many */
    ISA_ATTR_SPANS,    /* value: first span, count: how many; sorted, disjoint */
    ISA_ATTR_FUNCTION  /* value: function of the object */
};
struct isa_attr {
    uint16_t name; /* enum isa_dw_at */
    uint32_t count;
    uint64_t value;
    const char *text;
};
/** A debugging information entry of DWARF; entries are in preorder. */
struct isa_die {
    uint16_t tag; /* enum isa_dw_tag */
    uint32_t end; /* the first entry after its children */
    uint32_t first_attr, attr_count;
};
/** Types, variables and scopes of the source; roots are the children of the compile unit. */
struct isa_debug {
    unsigned language; /* DW_LANG_..., 0: unknown */
    struct isa_die *dies;
    uint32_t die_count;
    struct isa_attr *attrs;
    uint32_t attr_count;
    struct isa_var_location *locations;
    uint32_t location_count;
    struct isa_span *spans;
    uint32_t span_count;
    const uint8_t *expressions; /* of DWARF 4, one after the other */
    uint32_t expression_bytes;
};

/* ---- expressions for variables (isa_expression.c) --------------------------- */

/** DWARF 4, 7.7.1: the operations that an expression of an object may have. Addresses are those of the
 *  debugger's space; what DW_OP_fbreg adds to is the function's CFA in local memory. */
enum isa_dw_op {
    ISA_OP_ADDR = 0x03, ISA_OP_CONSTU = 0x10, ISA_OP_AND = 0x1a, ISA_OP_DIV = 0x1b, ISA_OP_MINUS = 0x1c,
    ISA_OP_MUL = 0x1e, ISA_OP_NEG = 0x1f, ISA_OP_NOT = 0x20, ISA_OP_OR = 0x21, ISA_OP_PLUS = 0x22,
    ISA_OP_PLUS_UCONST = 0x23, ISA_OP_SHL = 0x24, ISA_OP_SHR = 0x25, ISA_OP_SHRA = 0x26, ISA_OP_XOR = 0x27,
    ISA_OP_EQ = 0x29, ISA_OP_NE = 0x2e, ISA_OP_FBREG = 0x91, ISA_OP_PIECE = 0x93, ISA_OP_DEREF_SIZE = 0x94,
    ISA_OP_STACK_VALUE = 0x9f
};
/** A variable of which pieces are known is not larger. In the window of values a location has 512 bytes: a line of
 *  lldb's cache then holds one, and what cannot be read of one is no other's zeros. */
enum { ISA_EXPRESSION_BYTES = 256, ISA_VALUE_BITS = 9 };
enum isa_piece_kind {
    ISA_PIECE_MISSING, /* it is not known */
    ISA_PIECE_MEMORY,  /* at @address, from the CFA if @frame; @value: the same with the CFA */
    ISA_PIECE_VALUE    /* @value */
};
struct isa_piece {
    uint32_t offset, bytes; /* of the variable; bytes UINT32_MAX: the expression is of the whole variable */
    uint8_t kind;           /* enum isa_piece_kind */
    bool frame;
    uint64_t address, value;
};
/** What an expression asks for: memory (windows count), the CFA. They return false where it is not known. */
struct isa_expression_reader {
    bool (*read)(void *context, uint64_t address, void *out, unsigned bytes);
    bool (*frame)(void *context, uint64_t *address);
    void *context;
};
/** The piece that begins at *@at, which is 0 at first and is moved on; @piece keeps the one before.
 *  @reader: NULL: values are not computed. False: the end, or no expression that is ok. */
bool isa_expression_next(const uint8_t *ops, uint32_t size, uint32_t *at, const struct isa_expression_reader *reader,
                         struct isa_piece *piece);

/** Numbers of DWARF 4, section 7. */
enum isa_dw_tag {
    ISA_TAG_ARRAY = 0x01, ISA_TAG_CLASS = 0x02, ISA_TAG_ENUMERATION = 0x04,
    ISA_TAG_PARAMETER = 0x05, ISA_TAG_BLOCK = 0x0b, ISA_TAG_MEMBER = 0x0d,
    ISA_TAG_POINTER = 0x0f, ISA_TAG_REFERENCE = 0x10, ISA_TAG_UNIT = 0x11,
    ISA_TAG_STRUCTURE = 0x13, ISA_TAG_SUBROUTINE = 0x15, ISA_TAG_TYPEDEF = 0x16,
    ISA_TAG_UNION = 0x17, ISA_TAG_UNSPECIFIED = 0x18, ISA_TAG_INHERITANCE = 0x1c,
    ISA_TAG_INLINED = 0x1d, ISA_TAG_SUBRANGE = 0x21, ISA_TAG_BASE = 0x24, ISA_TAG_CONST = 0x26,
    ISA_TAG_ENUMERATOR = 0x28, ISA_TAG_SUBPROGRAM = 0x2e, ISA_TAG_VARIABLE = 0x34,
    ISA_TAG_VOLATILE = 0x35, ISA_TAG_RESTRICT = 0x37, ISA_TAG_NAMESPACE = 0x39,
    ISA_TAG_UNSPECIFIED_TYPE = 0x3b, ISA_TAG_RVALUE_REFERENCE = 0x42
};
enum isa_dw_at {
    ISA_AT_LOCATION = 0x02, ISA_AT_NAME = 0x03, ISA_AT_BYTE_SIZE = 0x0b, ISA_AT_BIT_SIZE = 0x0d,
    ISA_AT_LOW_PC = 0x11, ISA_AT_CONST_VALUE = 0x1c, ISA_AT_INLINE = 0x20,
    ISA_AT_LOWER_BOUND = 0x22, ISA_AT_PROTOTYPED = 0x27, ISA_AT_UPPER_BOUND = 0x2f,
    ISA_AT_ABSTRACT_ORIGIN = 0x31, ISA_AT_ACCESSIBILITY = 0x32, ISA_AT_ARTIFICIAL = 0x34,
    ISA_AT_CALLING_CONVENTION = 0x36, ISA_AT_COUNT = 0x37, ISA_AT_MEMBER_LOCATION = 0x38, ISA_AT_DECL_FILE = 0x3a,
    ISA_AT_DECL_LINE = 0x3b, ISA_AT_DECLARATION = 0x3c, ISA_AT_ENCODING = 0x3e,
    ISA_AT_EXTERNAL = 0x3f, ISA_AT_TYPE = 0x49, ISA_AT_RANGES = 0x55, ISA_AT_CALL_COLUMN = 0x57,
    ISA_AT_CALL_FILE = 0x58, ISA_AT_CALL_LINE = 0x59, ISA_AT_DATA_BIT_OFFSET = 0x6b,
    ISA_AT_ENUM_CLASS = 0x6d, ISA_AT_LINKAGE_NAME = 0x6e, ISA_AT_VECTOR = 0x2107
};
/** What an object keeps of the attribute @name. */
enum isa_attr_kind isa_debug_attr_kind(unsigned name);
bool isa_debug_tag_known(unsigned tag);
/** The attribute @name of entry @die, or NULL. */
const struct isa_attr *isa_die_attr(const struct isa_debug *debug, uint32_t die, unsigned name);
/** An entry is named by its index, or there is none: void, or not known. */
enum { ISA_NO_DIE = -1 };
/** Its value; @otherwise: there is no such attribute. */
uint64_t isa_die_number(const struct isa_debug *debug, uint32_t die, unsigned name,
                        uint64_t otherwise);
/** Of an inlined thing: its origin's. */
int64_t isa_die_type(const struct isa_debug *debug, uint32_t die);
/** The same; NULL: none. */
const char *isa_die_name(const struct isa_debug *debug, uint32_t die);
/** Past names and qualifiers; @is_const, which may be NULL, becomes true where const is among them. */
int64_t isa_type_plain(const struct isa_debug *debug, int64_t type, bool *is_const);
bool isa_tag_is_pointer(unsigned tag);
/** Elements of the dimension @nth of an array; 0: it has no such dimension, or no end. */
uint64_t isa_type_dimension(const struct isa_debug *debug, uint32_t array, unsigned nth);
unsigned isa_type_dimensions(const struct isa_debug *debug, uint32_t array);
/** Bytes of a type; of an array without its first @skip dimensions. 0: not known. */
uint64_t isa_type_bytes(const struct isa_debug *debug, int64_t type, unsigned skip);

/** A kernel of the source that a translator left out, and why. */
struct isa_refusal {
    const char *name, *message;
};

/** How the name of a producer ends that kept values of variables of optimised code alive. */
#define ISA_KEEPS_VALUES ", values kept"

/** An object in memory; everything is owned by its arena. */
struct isa_object {
    struct lw_arena arena;
    struct isa_word *text;
    uint32_t text_count;
    struct isa_function *functions;
    unsigned function_count;
    struct isa_variable *variables;
    unsigned variable_count;
    struct isa_reloc *relocs;
    unsigned reloc_count;
    struct isa_line *lines;
    unsigned line_count;
    const char **files; /* index 0 unused: "" */
    unsigned file_count;
    const char *producer; /* what made it */
    const char *comp_dir;
    const uint8_t *const_bank; /* bank 1: 64-bit immediates etc.; may be NULL */
    uint32_t const_bank_bytes;
    const struct isa_debug *debug; /* of the source; may be NULL */
    struct isa_loop *loops;
    unsigned loop_count;
    struct isa_bound *bounds; /* by instruction, one each */
    unsigned bound_count;
    struct isa_refusal *refusals;
    unsigned refusal_count;
    struct isa_slices *slices; /* by kernel, if they were made (isa/isa_slice.h) */
    unsigned slice_count;
};

/** Whether @object was compiled to keep values of variables of optimised code (ISA_KEEPS_VALUES). */
bool isa_object_keeps_values(const struct isa_object *object);

/** An empty object (files[0] is ""), to be filled by a translator; its strings and
 *  arrays are allocated in its arena. NULL when memory is short. */
struct isa_object *isa_object_create(void);
/** Rules that isa_object_write and isa_object_read enforce: functions sorted by `first`,
 *  disjoint and not empty; names not empty and unique among functions and variables;
 *  lines sorted by instruction; every index, size and alignment in range; every word
 *  decodes; a relocated instruction has an immediate X. Errors: LW_EFORMAT. */
enum lw_status isa_object_check(const struct isa_object *object, struct lw_error *err)
    LW_MUST_CHECK;
void isa_object_destroy(struct isa_object *object);
/** Control fields of a function in which no instruction has one, not even an empty one: are they filled in
 *  (isa_control_fill)? In other functions all stay as written. */
enum isa_asm_control { ISA_ASM_KEEP, ISA_ASM_AUTO };
/** Assemble text. Errors are "name:line: message". */
enum lw_status isa_assemble_as(const char *name, const char *text, size_t size, enum isa_asm_control control,
                               struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/** The same with ISA_ASM_KEEP. */
enum lw_status isa_assemble(const char *name, const char *text, size_t size,
                            struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/** An object as text that isa_assemble, with or without ISA_ASM_AUTO, turns into an equal one. */
void isa_disassemble(const struct isa_object *object, struct lw_sink *out);
/** ELF64, our e_machine (0x4C57), text at ISA_CODE_BASE, symbols, metadata, DWARF:
 *  .debug_line, .debug_info, .debug_abbrev, .debug_frame. *@bytes is a heap block. */
enum lw_status isa_object_write(const struct isa_object *object, uint8_t **bytes, size_t *size,
                                struct lw_error *err) LW_MUST_CHECK;
/** The same with the addresses of the object's variables, as the loader chose them, in the
 *  symbols and in the debug information (@variables[i]; shared ones are not read). */
enum lw_status isa_object_write_loaded(const struct isa_object *object,
                                       const uint64_t *variables, uint8_t **bytes, size_t *size,
                                       struct lw_error *err) LW_MUST_CHECK;
/** Values of ISA_AT_CALLING_CONVENTION (DWARF 5, 7.15): where debuggers look for a result. */
enum {
    ISA_CC_NORMAL = 1,
    ISA_CC_NOCALL = 3,  /* nowhere */
    ISA_CC_REALS = 0x4C /* ours: as normal, if the debugger knows floating-point registers */
};
/** Every field is checked: hostile bytes give LW_EFORMAT and a message. */
enum lw_status isa_object_read(const char *name, const uint8_t *bytes, size_t size,
                               struct isa_object **out, struct lw_error *err) LW_MUST_CHECK;
/* ---- names of C++ ---------------------------------------------------------------- */

enum { ISA_SYMBOL_BYTES = 256 };
/**
 * A symbol as people write it: its qualified name with the arguments of templates,
 * "ns::reduce<float, 256>"; what is no C++ name that is understood stays as it is, cut off at @room bytes.
 *
 * @base where the last part begins in @out
 * @bare size of the name before its template arguments
 */
void isa_symbol_read(const char *symbol, char *out, size_t room, size_t *base, size_t *bare);
/** The same for messages: @symbol itself or text in @room, of ISA_SYMBOL_BYTES. */
const char *isa_symbol_text(const char *symbol, char *room);

/** Function that contains instruction @index, or NULL. */
const struct isa_function *isa_object_function_at(const struct isa_object *object,
                                                  uint32_t index);
/** What @function has done to its frame before its instruction @index (of the object), along any way there:
 *  code of a compiler has the same frame on all of them (docs/reference/abi.md). */
struct isa_frame {
    int32_t added; /* to v2 */
    bool saved;    /* the return address is at [CFA - 8], CFA being v2 at the function's entry; else in v0:1 */
};
/** False: no way leads there, or memory is short. */
bool isa_function_frame(const struct isa_object *object, const struct isa_function *function, uint32_t index,
                        struct isa_frame *out);
/** The entry of a function in the source (a DW_TAG_subprogram that names it), or ISA_NO_DIE. */
int64_t isa_function_die(const struct isa_object *object, const struct isa_function *function);
/** The entry of parameter @nth of the entry @function, or ISA_NO_DIE. */
int64_t isa_function_parameter(const struct isa_debug *debug, int64_t function, unsigned nth);
/** Line row in force at instruction @index, or NULL: rows end with their function, as .debug_line. */
const struct isa_line *isa_object_line_at(const struct isa_object *object, uint32_t index);
/** The bound of instruction @index, or NULL. */
const struct isa_bound *isa_object_bound_at(const struct isa_object *object, uint32_t index);
enum { ISA_ELF_MACHINE = 0x4C57 };

/** What a kernel can observe of the order in which threads run (MACHINE 4). */
struct isa_order_analysis {
    enum isa_order worst; /* NONE: order-free; BLOCK: block-order-free; GRID: neither */
    uint32_t insn;        /* index of the first instruction that makes it so */
    bool mixed;           /* it is a reduction, and another one of its size has another operation */
    bool everything;      /* an indirect branch or call: all of the text counts */
};
/**
 * The analysis of each kernel: over everything that flow from it can reach, which is its function,
 * those it calls, and all of the text where it jumps through registers. Generic accesses count as
 * global. If memory is short, a kernel reaches all of the text.
 *
 * @insn  the object's text decoded, @count instructions
 * @out   a result per function of the object; that of a function that is no kernel is undefined
 */
void isa_kernel_orders(const struct isa_object *object, const struct isa_insn *insn,
                       uint32_t count, struct isa_order_analysis *out);
/** The same for an object whose text is not decoded: the caller frees it. NULL: out of memory. */
struct isa_order_analysis *isa_object_orders(const struct isa_object *object) LW_MUST_CHECK;
/** "order-free", "block-order-free: ..." or "fixed order: ...", with instruction and location. */
void isa_order_print(const struct isa_object *object, const struct isa_order_analysis *analysis,
                     struct lw_sink *out);

/** The instruction manual, generated from the table (docs/reference/isa.md). */
void isa_manual_print(struct lw_sink *out);

#include "isa/isa_slice.h"

#endif
