/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of isa/ that encoder, decoder, assembler, disassembler and manual share: operand tokens, modifier groups, and the
 * layout of the instruction word. */
#ifndef ISA_PRIV_H
#define ISA_PRIV_H

#include "isa/isa.h"

/* ---- operand tokens (isa/tokens.def) -------------------------------------- */

/* Classes of operands, as a set: vector register, scalar register, constant, immediate. */
enum { C_V = 1 << ISA_X_VECTOR, C_S = 1 << ISA_X_SCALAR, C_C = 1 << ISA_X_CONST, C_I = 1 << ISA_X_IMM };
/* Flags of a token. T_WRITE: the instruction writes the operand. T_READ: the instruction reads the operand. T_OPT: the operand is
 * optional in the text. */
enum { T_WRITE = 1, T_READ = 2, T_OPT = 4 };

/** Kinds of operand tokens. The comments name the fields of the instruction word in which the operand is encoded. */
enum isa_tok_kind {
    ISA_TK_D,       /* D */
    ISA_TK_A,       /* A */
    ISA_TK_X,       /* X, of the kind in xkind */
    ISA_TK_C,       /* C */
    ISA_TK_SWAP,    /* C, if the instruction is a compare-and-swap; otherwise there is no such operand */
    ISA_TK_XREG,    /* X 39:32 */
    ISA_TK_P,       /* P, Q, R */
    ISA_TK_Q,
    ISA_TK_SP,      /* P, for a scalar predicate */
    ISA_TK_R,
    ISA_TK_RA,
    ISA_TK_RB,
    ISA_TK_ALLP,    /* no field: all predicates are read or written */
    ISA_TK_ADDR,    /* A, X 63:40, AMODE, and C if the base is scalar */
    ISA_TK_CADDR,   /* A, X 63:40, bank in C */
    ISA_TK_TARGET,  /* X */
    ISA_TK_BREG,    /* D 19:16 */
    ISA_TK_BOPT,    /* D 19:16 if the variant bit is set */
    ISA_TK_XBREG,   /* X 35:32 */
    ISA_TK_CTABAR,  /* X: a register or 0..15 */
    ISA_TK_COUNT,   /* C if the variant bit is set */
    ISA_TK_IMM,     /* X */
    ISA_TK_SPECIAL, /* X */
    ISA_TK_LUT,     /* modifiers 103:96 */
    ISA_TK_LUTX,    /* X 39:32 */
    ISA_TK_DEPBAR,  /* X 34:32, X 45:40 */
    ISA_TK_WAITCNT, /* X 37:32, X 42:40, X 53:48 */
    ISA_TK_LANE,    /* X 39:32 (kind by xkind), and X 51:40 or C */
    ISA_TK_MEMBER,  /* X 63:56 */
    ISA_TK_SOFT,    /* the variant bit */
    ISA_TK_RS,      /* R, a scalar predicate */
    ISA_TK_SADDR,   /* A, X 39:32, X 63:40 */
    ISA_TK_TEXARG,  /* X 39:32 if the modifiers require it */
    ISA_TK_TEXEL    /* X 51:40 */
};

/** Number of registers of an operand: fixed, or determined by a modifier. */
enum isa_tok_count {
    ISA_N1 = 1,
    ISA_N2 = 2,
    ISA_NSIZE,  /* by modifier SIZE */
    ISA_NATYPE, /* by modifier ATYPE */
    ISA_NDTYPE, /* by modifier DTYPE */
    ISA_NSTYPE, /* by modifier STYPE */
    ISA_N4,
    ISA_NCOORD, /* by modifier TGEOM or TGATHER */
    ISA_NHANDLE, /* by modifier TSAMP */
    ISA_NTEX,   /* by the modifiers of texture instructions, including TLOD and TDC */
    ISA_NMATD,  /* by modifier MFORM; ISA_NMATD is for D and C, ISA_NMATA for A, and ISA_NMATB for B */
    ISA_NMATA,
    ISA_NMATB,
    ISA_NMLD    /* by modifier MLDN */
};

struct isa_token {
    const char *name;
    uint8_t kind;    /* enum isa_tok_kind */
    uint8_t classes; /* C_V... */
    uint8_t count;   /* enum isa_tok_count */
    uint8_t flags;   /* T_... */
    const char *summary; /* description in the manual */
};

enum { ISA_TOKEN_COUNT = ISA_TOK_NONE };
const struct isa_token *isa_token_info(unsigned tok);
/** Returns the index of the first operand token of @kind in a row, or -1. */
int isa_operands_find(const struct isa_operands *operands, enum isa_tok_kind kind);
/** Returns the number of registers of token @tok in @insn: 1, 2, 4 or 8, or 0 if @insn does not have the operand. */
unsigned isa_token_regs(unsigned tok, const struct isa_insn *insn);
/** Returns the number of registers of operand @index. In some rows the variant bit exchanges X and C, which the function takes
 *  into account. */
unsigned isa_operand_regs(const struct isa_operands *operands, unsigned index,
                          const struct isa_insn *insn);
/** Returns true if the row has an X and a C source, which the variant bit exchanges. */
bool isa_operands_swappable(const struct isa_operands *operands);
/** Returns the variant bit that the operands of @insn require, for a row in which the bit exchanges X and C. */
bool isa_insn_natural_variant(const struct isa_insn *insn);

/* ---- modifier groups (isa/mods.def) --------------------------------------- */

struct isa_mod_value {
    const char *id; /* "RND_RN" */
    uint8_t value;
    const char *suffix; /* if "", no suffix is printed */
};
struct isa_mod_info {
    const char *name;
    unsigned formats; /* set of formats that have the modifier group, as bits 1 << enum isa_format */
    uint8_t lsb, bits; /* position and size in the word */
    int8_t deflt;      /* default value; -1: there is no default; -2: there is no default, and the value is never printed as a
                        * suffix */
    const char *summary;
    const struct isa_mod_value *values;
    unsigned value_count;
};
const struct isa_mod_info *isa_mod_info(enum isa_mod mod);
/** Returns true if an instruction has modifier group @mod: the modifier group belongs to the instruction's format, and, if it is
 *  a part of an address, the instruction has an address operand. */
bool isa_mod_applies(enum isa_mod mod, const struct isa_op_info *info);

/* ---- properties of a row that are not in isa_op_info ------------------------ */

enum isa_op isa_op_by_opcode(unsigned opcode);

/** Sets the bits that the row or the addressing mode implies (see the list of tokens in isa.h). */
void isa_insn_normalise(struct isa_insn *insn);
/** Checks that the value of every field is valid for the instruction, by its row of insns.def. Errors: LW_ERANGE, with a message
 *  that begins with the mnemonic. */
enum lw_status isa_insn_check(const struct isa_insn *insn, struct lw_error *err) LW_MUST_CHECK;

/* ---- control flow of a function ------------------------------------------------- */

/** Basic block. next[0] is the block after it, if its last instruction can fall through. next[1] is the target of its last
 *  instruction. */
enum { ISA_NO_BLOCK = UINT32_MAX };
struct isa_block {
    uint32_t first, count;
    uint32_t next[2]; /* indices of blocks, or ISA_NO_BLOCK */
};
struct isa_flow {
    struct isa_block *block; /* in code order */
    uint32_t count;
    uint32_t *block_at; /* [count + 1] 1 + number of the block that starts at the instruction, or 0 if there is none */
};
/** Finds the basic blocks of @count instructions, of which there is at least one. Targets outside these instructions are ignored.
 *  Returns false if memory is short. */
bool isa_flow_find(const struct isa_insn *insn, uint32_t count, struct isa_flow *out) LW_MUST_CHECK;
void isa_flow_fini(struct isa_flow *flow);

/* ---- address slices (isa_slices.c) -------------------------------------------------------- */

/** Returns the size in bits of result @part of an instruction with modifiers @mod, or 0 if the instruction has no such result. */
unsigned isa_slice_row_bits(enum isa_op op, uint32_t mod, unsigned part);

/* ---- text ---------------------------------------------------------------------- */

/** Returns true if an immediate for operand token @tok of @insn is a float: f32, or f64 if the token has two registers. */
bool isa_operand_is_float(const struct isa_insn *insn, unsigned tok);
/** Prints as isa_insn_print() does. @immediate is printed in place of an immediate X, unless it is NULL. */
void isa_insn_print_reloc(const struct isa_insn *insn, uint64_t pc, isa_symbol_fn symbol,
                          void *context, const char *immediate, struct lw_sink *out);
/** Largest size of a variable's initial data. */
enum { ISA_MAX_INIT_BYTES = 1 << 30 };
void isa_relocs_sort(struct isa_reloc *relocs, size_t count);
/** Largest size of a symbol's name, and of the text of a name that is printed in quotes with an offset. */
enum { ISA_NAME_BYTES = 8192, ISA_NAME_TEXT_BYTES = 4 * ISA_NAME_BYTES + 32 };
/** Prints a name as the assembler reads it: quoted only if necessary. */
void isa_name_print(const char *name, struct lw_sink *out);
void isa_loop_print(const struct isa_object *object, unsigned index, struct lw_sink *out);

#endif
