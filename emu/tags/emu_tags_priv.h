/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform and affine tags (docs/explanation/uniform-affine.md): the algebra on them, compares in closed form, and shadow mode, in
 * which the tag of each register is compared with the register's lanes.
 *
 * A tag describes the values in the live lanes of a warp. The value of lane l is
 *    base + stride * (l % fold) + rise * (l / fold)
 * fold is the warp width W. Only under the tag rules `fold`, if a thread row of the block has 2^k < W threads, fold is 2^k.
 */
#ifndef EMU_TAGS_PRIV_H
#define EMU_TAGS_PRIV_H

#include "emu/emu_code_priv.h"

/** A value of 32 or 64 bits in all lanes. In a 32-bit value, the base is zero-extended, and stride and rise are sign-extended. U:
 *  stride and rise are 0. A: stride or rise is not 0. V: base, stride and rise are 0. */
struct emu_affine {
    uint8_t kind; /* enum emu_tag_kind */
    uint64_t base;
    int64_t stride, rise;
};
static inline struct emu_affine emu_affine_u(uint64_t base)
{
    return (struct emu_affine){.kind = EMU_TAG_U, .base = base};
}
static inline struct emu_affine emu_affine_v(void)
{
    return (struct emu_affine){.kind = EMU_TAG_V};
}
/** Returns a value of @bits bits: U if stride and rise are 0 modulo 2^bits, otherwise A. */
struct emu_affine emu_affine_make(unsigned bits, uint64_t base, uint64_t stride, uint64_t rise);
uint64_t emu_affine_at(const struct emu_affine *v, unsigned bits, unsigned fold, unsigned lane);
/** Returns true if the value is in the range of the type in all live lanes. The base is a signed number if @is_signed; stride and
 *  rise are always signed. The result is always true for U. */
bool emu_affine_fits(const struct emu_affine *v, unsigned bits, bool is_signed, unsigned fold,
                     uint64_t live);
/** Returns the 64-bit value {high, low}. The result is V if the low words wrap in some lane. */
struct emu_affine emu_affine_join(const struct emu_affine *low, const struct emu_affine *high,
                                  unsigned fold, uint64_t live);
/** Returns the high words of a 64-bit value. The high words are V if the low words carry into the high words in only some
 *  lanes. */
struct emu_affine emu_affine_high(const struct emu_affine *v, unsigned fold, uint64_t live);

/** Inputs of a tag rule. */
struct emu_tag_query {
    enum isa_tag_rule rule;
    enum emu_tag_rules rules;
    unsigned fold;
    uint64_t live;
    unsigned bits;              /* size of the result */
    unsigned source_bits[3];    /* sizes of the sources a, b and c; 0: the instruction has no such source */
    struct emu_affine source[3];
    int r;                      /* SELECT and ADDC: value of predicate R in all live lanes, 0 or 1; -1: the lanes differ */
    unsigned dtype, stype;      /* CVT: values of the modifiers DTYPE and STYPE */
    bool saturate;
};
enum emu_tag_how {
    EMU_TAG_KNOWN,   /* the rule has determined the result's value */
    EMU_TAG_READ,    /* the result is U; its value is read from a live lane after execution */
    EMU_TAG_EVALUATE /* after execution, the result is U if all live lanes have the same value, otherwise V */
};
enum emu_tag_how emu_tag_infer(const struct emu_tag_query *q, struct emu_affine *out);

/**
 * Returns the lanes of 0 .. @width - 1 in which v cmp k is true, for an affine value v that does not wrap. The lanes are computed
 * in closed form, without a loop. @cmp: ISA_CMP_* (eq, ne, lt, le, gt, ge). @d: k - base.
 */
uint64_t emu_tag_compare(unsigned cmp, int64_t d, int64_t stride, int64_t rise, unsigned fold,
                         unsigned width);
/** Compares two values of 32 or 64 bits. If the comparison can be computed in closed form, sets *lanes to the lanes in which the
 *  comparison is true, and returns true. */
bool emu_tag_compare_values(unsigned cmp, const struct emu_affine *a, const struct emu_affine *b,
                            unsigned bits, bool is_signed, unsigned fold, unsigned width,
                            uint64_t live, uint64_t *lanes);

/** Gets the tag of a special register, which depends on the shape of the block. */
enum emu_tag_how emu_tag_special(const struct emu_warp *w, enum isa_special sr,
                                 struct emu_affine *out);
/** Returns the value of `fold` for a warp: the number of lanes in a thread row of the block under the rules `fold`, if a warp has
 *  several thread rows; otherwise W. */
unsigned emu_tag_fold(const struct emu_warp *w);

void emu_tag_stats_add(struct emu_tag_stats *to, const struct emu_tag_stats *from);

/* ---- operands of an instruction, determined when it is decoded ------------------------- */

struct emu_tag_insn {
    uint8_t rule;       /* enum isa_tag_rule */
    uint8_t d_words;    /* number of vector registers that the instruction writes */
    uint8_t words[3];   /* number of words of the sources a, b and c, in the order of the semantics; 0: the instruction has no
                         * such source */
    uint8_t is_float;   /* source modifiers act on floats */
    uint8_t address;    /* 0: no access to memory; otherwise 1 + the addressing mode (AMODE; constant space: AMODE_32) */
    uint8_t space;      /* enum isa_space */
    uint16_t d;         /* first vector register written; ISA_VZ: none */
};
void emu_tag_insn_read(const struct isa_insn *insn, struct emu_tag_insn *out);
/** Gets the values of an instruction's sources from the tags of @w, before the instruction is executed. */
void emu_tag_sources(const struct emu_warp *w, const struct emu_dinsn *di,
                     const struct emu_tag_insn *info, struct emu_affine source[3]);

/** Returns the tag of a vector register, in any tag mode. */
struct emu_tag emu_tag_of(const struct emu_warp *w, unsigned number);
/** Lists the registers that an instruction uses, with their present tags, in the core's tag_step. Called before the instruction
 *  is executed. */
void emu_tag_count(const struct emu_warp *w, const struct isa_insn *insn);
/** Adds the new tags to the list that emu_tag_count() has made. Called after the instruction was executed. */
void emu_tag_counted(const struct emu_warp *w);

/* ---- shadow mode ------------------------------------------------------------------------ */

/** State of a 64-bit addition in two instructions, after the first one, which adds the low halves. The state is valid until an
 *  instruction changes the carry or the operands. */
struct emu_carry {
    bool valid;
    uint8_t rule, p, guard, d, in;
    struct emu_affine a, b;
};
/** Shadow tags of a warp. */
struct emu_shadow {
    unsigned fold;
    struct emu_carry carry;
    struct emu_tag reg[];
};
enum { EMU_ALL_REGISTERS = ISA_VREG_COUNT + 1 };
/** Initialises all registers to tag U with value 0. */
void emu_shadow_init(struct emu_warp *w);

/** Values that emu_shadow_prepare() determines before an instruction, and emu_shadow_after() uses. */
struct emu_tag_step {
    const struct emu_dinsn *di;
    struct emu_tag_insn info;
    struct emu_tag_query query;
    struct emu_affine value;
    uint8_t how;        /* enum emu_tag_how */
    uint8_t seen, address; /* seen: highest tag of the sources (U < A < V); address: tag of the address */
    bool counted;       /* the instruction uses vector registers, so it is counted */
    uint64_t mask, live;
    uint64_t divergences;
    uint64_t p_before[ISA_PRED_COUNT];
    struct emu_tag_change change[3 * 4 + 4];
    unsigned change_count, expansions;
};
void emu_shadow_prepare(struct emu_warp *w, const struct emu_dinsn *di);
/** Updates the shadow tags after an instruction. @skipped: faulting lanes were skipped, so that the rule does not apply and the
 *  result has no tag. */
void emu_shadow_after(struct emu_warp *w, bool skipped);
/** Drops the tag of register @number, or all tags if @number is EMU_ALL_REGISTERS, because something other than an instruction
 *  has written lanes. Does nothing outside shadow mode. */
void emu_shadow_forget(struct emu_warp *w, unsigned number);

#endif
