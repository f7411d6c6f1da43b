/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside isa/: operand tokens, modifier groups and the layout of the word, shared by
 * the encoder, the decoder, the assembler, the disassembler and the manual.
 */
#ifndef ISA_PRIV_H
#define ISA_PRIV_H

#include "isa/isa.h"

/* ---- operand tokens (isa/tokens.def) -------------------------------------- */

enum { C_V = 1 << ISA_X_VECTOR, C_S = 1 << ISA_X_SCALAR, C_C = 1 << ISA_X_CONST, C_I = 1 << ISA_X_IMM };
enum { T_WRITE = 1, T_READ = 2, T_OPT = 4 };

enum isa_tok_kind {
    ISA_TK_D,       /* D */
    ISA_TK_A,       /* A */
    ISA_TK_X,       /* X, by xkind */
    ISA_TK_C,       /* C */
    ISA_TK_SWAP,    /* C of a compare-and-swap, unused else */
    ISA_TK_XREG,    /* X 39:32 */
    ISA_TK_P,       /* P, Q, R */
    ISA_TK_Q,
    ISA_TK_SP,      /* P, scalar predicate */
    ISA_TK_R,
    ISA_TK_RA,
    ISA_TK_RB,
    ISA_TK_ALLP,    /* no field: all predicates */
    ISA_TK_ADDR,    /* A, X 63:40, AMODE, C of a scalar base */
    ISA_TK_CADDR,   /* A, X 63:40, C is the bank */
    ISA_TK_TARGET,  /* X */
    ISA_TK_BREG,    /* D 19:16 */
    ISA_TK_BOPT,    /* D 19:16 where the variant bit is set */
    ISA_TK_XBREG,   /* X 35:32 */
    ISA_TK_CTABAR,  /* X: register or 0..15 */
    ISA_TK_COUNT,   /* C where the variant bit is set */
    ISA_TK_IMM,     /* X */
    ISA_TK_SPECIAL, /* X */
    ISA_TK_LUT,     /* modifiers 103:96 */
    ISA_TK_LUTX,    /* X 39:32 */
    ISA_TK_DEPBAR,  /* X 34:32, X 45:40 */
    ISA_TK_WAITCNT, /* X 37:32, X 42:40, X 53:48 */
    ISA_TK_LANE,    /* X 39:32 by xkind, X 51:40 or C */
    ISA_TK_MEMBER,  /* X 63:56 */
    ISA_TK_SOFT,    /* the variant bit */
    ISA_TK_RS,      /* R, scalar predicate */
    ISA_TK_SADDR,   /* A, X 39:32, X 63:40 */
    ISA_TK_TEXARG,  /* X 39:32 where modifiers ask for it */
    ISA_TK_TEXEL    /* X 51:40 */
};

enum isa_tok_count {
    ISA_N1 = 1,
    ISA_N2 = 2,
    ISA_NSIZE,  /* by SIZE */
    ISA_NATYPE, /* by ATYPE */
    ISA_NDTYPE, /* by DTYPE */
    ISA_NSTYPE, /* by STYPE */
    ISA_N4,
    ISA_NCOORD, /* by TGEOM or TGATHER */
    ISA_NHANDLE, /* by TSAMP */
    ISA_NTEX,   /* by these, TLOD and TDC */
    ISA_NMATD,  /* by MFORM: D and C, A, B */
    ISA_NMATA,
    ISA_NMATB,
    ISA_NMLD    /* by MLDN */
};

struct isa_token {
    const char *name;
    uint8_t kind;    /* enum isa_tok_kind */
    uint8_t classes; /* C_V... */
    uint8_t count;   /* enum isa_tok_count */
    uint8_t flags;   /* T_... */
    const char *summary; /* for the manual */
};

enum { ISA_TOKEN_COUNT = ISA_TOK_NONE };
const struct isa_token *isa_token_info(unsigned tok);
/** Position in the row of a token of @kind, or -1. */
int isa_operands_find(const struct isa_operands *operands, enum isa_tok_kind kind);
/** Registers that token @tok takes in @insn: 1, 2, 4 or 8; 0: the operand is not there. */
unsigned isa_token_regs(unsigned tok, const struct isa_insn *insn);
/** Registers of the operand in X or C: they change places by the variant bit. */
unsigned isa_operand_regs(const struct isa_operands *operands, unsigned index,
                          const struct isa_insn *insn);
/** The row has both an X and a C source, so the variant bit exchanges them. */
bool isa_operands_swappable(const struct isa_operands *operands);
/** The variant bit that the operands imply where a row is swappable. */
bool isa_insn_natural_variant(const struct isa_insn *insn);

/* ---- modifier groups (isa/mods.def) --------------------------------------- */

struct isa_mod_value {
    const char *id; /* "RND_RN" */
    uint8_t value;
    const char *suffix; /* "" never printed */
};
struct isa_mod_info {
    const char *name;
    unsigned formats; /* bits 1 << enum isa_format */
    uint8_t lsb, bits; /* in the word */
    int8_t deflt;      /* -1: none; -2: hidden */
    const char *summary;
    const struct isa_mod_value *values;
    unsigned value_count;
};
const struct isa_mod_info *isa_mod_info(enum isa_mod mod);
/** Group @mod exists for rows of info->format; a hidden one only if the row has an address. */
bool isa_mod_applies(enum isa_mod mod, const struct isa_op_info *info);

/* ---- what a row is, beyond isa_op_info ------------------------------------- */

enum isa_op isa_op_by_opcode(unsigned opcode);

/** Set the bits that the row or the address mode implies (see isa.h, tokens). */
void isa_insn_normalise(struct isa_insn *insn);
/** Every field fits the row: LW_OK, or LW_ERANGE with a sentence that starts with the
 *  mnemonic. */
enum lw_status isa_insn_check(const struct isa_insn *insn, struct lw_error *err) LW_MUST_CHECK;

/* ---- control flow of a function ------------------------------------------------- */

/** A straight line of instructions. next[0]: where flow falls through, next[1]: where its last one jumps. */
enum { ISA_NO_BLOCK = UINT32_MAX };
struct isa_block {
    uint32_t first, count;
    uint32_t next[2]; /* blocks, or ISA_NO_BLOCK */
};
struct isa_flow {
    struct isa_block *block; /* in the order of the code */
    uint32_t count;
    uint32_t *block_at; /* by instruction, and one more: where a block starts, 1 + its number; else 0 */
};
/** The blocks of @count instructions, which are not none. Targets outside of them are left out. False: no memory. */
bool isa_flow_find(const struct isa_insn *insn, uint32_t count, struct isa_flow *out) LW_MUST_CHECK;
void isa_flow_fini(struct isa_flow *flow);

/* ---- slices (isa_slices.c) -------------------------------------------------------- */

/** Bits of @part of a row with modifiers @mod; 0: there is no such part. */
unsigned isa_slice_row_bits(enum isa_op op, uint32_t mod, unsigned part);
const char *isa_slice_reject_name(unsigned reject);

/* ---- text ---------------------------------------------------------------------- */

/** An immediate for operand token @tok of @insn is a float (f32, or f64 if it takes two
 *  registers). */
bool isa_operand_is_float(const struct isa_insn *insn, unsigned tok);
/** As isa_insn_print; @immediate, unless NULL, stands for an immediate X. */
void isa_insn_print_reloc(const struct isa_insn *insn, uint64_t pc, isa_symbol_fn symbol,
                          void *context, const char *immediate, struct lw_sink *out);
/** Longest name of a symbol, and room for one as quoted text with an offset. */
enum { ISA_MAX_INIT_BYTES = 1 << 30 };
void isa_relocs_sort(struct isa_reloc *relocs, size_t count);
enum { ISA_NAME_BYTES = 1024, ISA_NAME_TEXT_BYTES = 4 * ISA_NAME_BYTES + 32 };
/** A name as the assembler reads it: bare if it can be, else quoted. */
void isa_name_print(const char *name, struct lw_sink *out);
void isa_loop_print(const struct isa_object *object, unsigned index, struct lw_sink *out);

#endif
