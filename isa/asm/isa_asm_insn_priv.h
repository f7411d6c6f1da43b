/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the assembler: state of the parser of an instruction, and parsers of operands. */
#ifndef ISA_ASM_INSN_PRIV_H
#define ISA_ASM_INSN_PRIV_H

#include "isa/asm/isa_asm_priv.h"

enum { ASM_MAX_TEXTS = 12 };

struct parse {
    struct asm_state *as;
    const struct isa_op_info *info;
    struct isa_insn insn;
    char *texts[ASM_MAX_TEXTS]; /* operands, which are separated by commas, as text */
    unsigned text_count;
    unsigned operand;       /* number of the current operand, from 1, for messages */
    const char *reloc_name; /* name whose address is in X; NULL: X contains no address */
    int64_t reloc_addend;
    bool reloc_high;
    const char *target_name;
    int64_t target_addend;
    bool target_quoted;
    bool alt, soft;
};

#define PARSE_FAIL(p, fmt, ...)                                                            \
    asm_fail((p)->as, "%s: " fmt, (p)->info->mnemonic, ##__VA_ARGS__)
#define OPERAND_FAIL(p, fmt, ...)                                                          \
    asm_fail((p)->as, "%s: operand %u: " fmt, (p)->info->mnemonic, (p)->operand, ##__VA_ARGS__)

struct reg {
    bool scalar;
    unsigned number;
    unsigned span; /* number of registers in the text; 0: vz or sz, which can stand for any number */
};

/** A source operand that was parsed, before it is stored in field X or C of the instruction. */
struct source {
    unsigned kind; /* enum isa_xkind */
    uint32_t x;
    struct reg reg;
    unsigned srcmod;
};

/** Parses a predicate: p3 or pt, if @prefix is "p", or sp3 or spt, if it is "sp"; with ! if @may_negate. Returns false if the
 *  text is no such predicate. */
bool asm_take_predicate(struct cursor *c, const char *prefix, bool may_negate, unsigned *number,
                        bool *negate);
/** Parses b0 to b15. */
bool asm_take_barrier(struct cursor *c, unsigned *number);
/** Parses an operand that must be @regs registers of a class in @classes (C_V, C_S). */
enum lw_status asm_parse_register(struct parse *p, struct cursor *c, unsigned regs,
                                  unsigned classes, struct reg *out);
/** Converts an integer, or a float with the suffix f, to an immediate X. */
enum lw_status asm_int_immediate(struct parse *p, const struct number *n, unsigned regs,
                                 uint32_t *x);
/** Parses a register, constant or immediate, with source modifiers, as an operand with token @tok. */
enum lw_status asm_parse_source(struct parse *p, struct cursor *c, unsigned tok, unsigned regs,
                                struct source *out);
/** Stores a source in field X. */
void asm_set_x(struct isa_insn *insn, const struct source *source);
/** Parses the address [...] of a load, store or atomic. */
enum lw_status asm_parse_address(struct parse *p, struct cursor *c);
/** Parses the address c[bank][...] of a constant load. */
enum lw_status asm_parse_const_address(struct parse *p, struct cursor *c, unsigned classes);
/** Parses the address [pair+register+offset] of a scalar load. */
enum lw_status asm_parse_scalar_address(struct parse *p, struct cursor *c);

#endif
