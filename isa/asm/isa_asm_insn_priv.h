/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the assembler: an instruction being parsed, and the readers of single operands.
 */
#ifndef ISA_ASM_INSN_PRIV_H
#define ISA_ASM_INSN_PRIV_H

#include "isa/asm/isa_asm_priv.h"

enum { ASM_MAX_TEXTS = 12 };

/** The instruction being parsed. */
struct parse {
    struct asm_state *as;
    const struct isa_op_info *info;
    struct isa_insn insn;
    char *texts[ASM_MAX_TEXTS]; /* operands, split at commas */
    unsigned text_count;
    unsigned operand;       /* 1-based, for messages */
    const char *reloc_name; /* an address in X */
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
    unsigned span; /* registers as written; 0: vz or sz, any number of them */
};

/** A source operand before it is known which field takes it. */
struct source {
    unsigned kind; /* enum isa_xkind */
    uint32_t x;
    struct reg reg;
    unsigned srcmod;
};

/** p3, !p3, pt; sp0 with @prefix "sp". */
bool asm_take_predicate(struct cursor *c, const char *prefix, bool may_negate, unsigned *number,
                        bool *negate);
/** b0..b15 */
bool asm_take_barrier(struct cursor *c, unsigned *number);
/** A register that must be there, @regs of them, of @classes (C_V, C_S). */
enum lw_status asm_parse_register(struct parse *p, struct cursor *c, unsigned regs,
                                  unsigned classes, struct reg *out);
/** An integer, or the bits of a float with a suffix, as X. */
enum lw_status asm_int_immediate(struct parse *p, const struct number *n, unsigned regs,
                                 uint32_t *x);
/** Register, constant or immediate with its source modifiers, for token @tok. */
enum lw_status asm_parse_source(struct parse *p, struct cursor *c, unsigned tok, unsigned regs,
                                struct source *out);
/** Put a source into X. */
void asm_set_x(struct isa_insn *insn, const struct source *source);
/** [...] of loads, stores and atomics. */
enum lw_status asm_parse_address(struct parse *p, struct cursor *c);
/** c[bank][...] of constant loads. */
enum lw_status asm_parse_const_address(struct parse *p, struct cursor *c, unsigned classes);
/** [pair+register+offset] of scalar loads. */
enum lw_status asm_parse_scalar_address(struct parse *p, struct cursor *c);

#endif
