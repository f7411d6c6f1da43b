/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uniform and affine tags (docs/explanation/uniform-affine.md): the algebra on them, compares by closed form, and
 * shadow mode, which keeps a tag for each register and compares it with the lanes.
 *
 * A tag describes the live lanes of a warp. Value of a lane:
 *     base + stride * (lane % fold) + rise * (lane / fold)
 * fold is W. Exception: under the rules `fold`, in a block whose rows have 2^k < W threads, fold is 2^k.
 */
#ifndef EMU_TAGS_PRIV_H
#define EMU_TAGS_PRIV_H

#include "emu/emu_code_priv.h"

/** A 32- or 64-bit value in all lanes. For 32 bits the base is zero-extended, and stride and rise are sign-extended.
 *  U: stride and rise are 0. A: stride or rise is not 0. V: all three members are 0. */
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
/** Returns U or A of @bits; a stride and rise congruent to 0 give U. */
struct emu_affine emu_affine_make(unsigned bits, uint64_t base, uint64_t stride, uint64_t rise);
uint64_t emu_affine_at(const struct emu_affine *v, unsigned bits, unsigned fold, unsigned lane);
/** Returns true if no live lane's value leaves the range of the type: the base is interpreted as @is_signed,
 *  stride and rise always as signed. True for U. */
bool emu_affine_fits(const struct emu_affine *v, unsigned bits, bool is_signed, unsigned fold,
                     uint64_t live);
/** Returns {low, high} as one 64-bit value. The value is known if the low words do not wrap. */
struct emu_affine emu_affine_join(const struct emu_affine *low, const struct emu_affine *high,
                                  unsigned fold, uint64_t live);
/** Returns the high words of a 64-bit value: V when a carry reaches them in some lanes only. */
struct emu_affine emu_affine_high(const struct emu_affine *v, unsigned fold, uint64_t live);

/** Inputs of a rule. */
struct emu_tag_query {
    enum isa_tag_rule rule;
    enum emu_tag_rules rules;
    unsigned fold;
    uint64_t live;
    unsigned bits;              /* bits of the result */
    unsigned source_bits[3];    /* bits of each source a, b, c; 0: no such source */
    struct emu_affine source[3];
    int r;                      /* SELECT, ADDC: 0 or 1 in all live lanes; -1: differs */
    unsigned dtype, stype;      /* CVT: values of DTYPE and STYPE */
    bool saturate;
};
enum emu_tag_how {
    EMU_TAG_KNOWN,   /* the value is the result */
    EMU_TAG_READ,    /* U: its value is read from the live lanes afterwards */
    EMU_TAG_EVALUATE /* U if all live lanes have the same value afterwards, otherwise V */
};
enum emu_tag_how emu_tag_infer(const struct emu_tag_query *q, struct emu_affine *out);

/**
 * Returns the lanes of 0 .. @width-1 for which (v - k) cmp 0, for a value that does not wrap, by closed
 * forms. @cmp: ISA_CMP_* (eq, ne, lt, le, gt, ge). @d: k - base.
 */
uint64_t emu_tag_compare(unsigned cmp, int64_t d, int64_t stride, int64_t rise, unsigned fold,
                         unsigned width);
/** Compares two values of 32 or 64 bits. Returns true and sets *lanes when the closed form applies. */
bool emu_tag_compare_values(unsigned cmp, const struct emu_affine *a, const struct emu_affine *b,
                            unsigned bits, bool is_signed, unsigned fold, unsigned width,
                            uint64_t live, uint64_t *lanes);

/** Gets the tag of a special register, by the shape of the block. */
enum emu_tag_how emu_tag_special(const struct emu_warp *w, enum isa_special sr,
                                 struct emu_affine *out);
/** Returns the number of lanes in a row of the block if a warp has several rows, otherwise W. */
unsigned emu_tag_fold(const struct emu_warp *w);

void emu_tag_stats_add(struct emu_tag_stats *to, const struct emu_tag_stats *from);

/* ---- operands of an instruction, found when it is decoded ----------------------------- */

struct emu_tag_insn {
    uint8_t rule;       /* enum isa_tag_rule */
    uint8_t d_words;    /* vector registers written, 0: none */
    uint8_t words[3];   /* words of the sources a, b, c as the semantics name them; 0: none */
    uint8_t is_float;   /* source modifiers are those of floats */
    uint8_t address;    /* form of the address; 0: no memory; else 1 + AMODE, CONST: 1 + AMODE_32 */
    uint8_t space;      /* enum isa_space */
    uint16_t d;         /* first register written; ISA_VZ: none */
};
void emu_tag_insn_read(const struct isa_insn *insn, struct emu_tag_insn *out);
/** Gets the sources of an instruction before it is executed, from the tags of @w. */
void emu_tag_sources(const struct emu_warp *w, const struct emu_dinsn *di,
                     const struct emu_tag_insn *info, struct emu_affine source[3]);

/** Returns the tag of a vector register, in any mode. */
struct emu_tag emu_tag_of(const struct emu_warp *w, unsigned number);
/** Called before an instruction: lists the instruction's registers, with their tags, in the core's tag_step. */
void emu_tag_count(const struct emu_warp *w, const struct isa_insn *insn);
/** Called after an instruction: adds the tags after it to the registers that emu_tag_count() listed. */
void emu_tag_counted(const struct emu_warp *w);

/* ---- shadow mode ------------------------------------------------------------------------ */

/** First half of an addition in two halves, while its carry is valid. */
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
/** Sets all registers to 0: U. */
void emu_shadow_init(struct emu_warp *w);

/** State between the two halves of a step. */
struct emu_tag_step {
    const struct emu_dinsn *di;
    struct emu_tag_insn info;
    struct emu_tag_query query;
    struct emu_affine value;
    uint8_t how;        /* enum emu_tag_how */
    uint8_t seen, address; /* combined tags of the sources, and the tag of the address */
    bool counted;       /* the instruction uses vector registers */
    uint64_t mask, live;
    uint64_t divergences;
    uint64_t p_before[ISA_PRED_COUNT];
    struct emu_tag_change change[3 * 4 + 4];
    unsigned change_count, expansions;
};
void emu_shadow_prepare(struct emu_warp *w, const struct emu_dinsn *di);
/** Updates the shadow tags after an instruction. @skipped: faulting lanes were skipped; in that case the rule does not
 *  hold, and the result has no tag. */
void emu_shadow_after(struct emu_warp *w, bool skipped);
/** Drops the tag of a register, or of EMU_ALL_REGISTERS, after code other than an instruction has written rows. Does
 *  nothing in other modes. */
void emu_shadow_forget(struct emu_warp *w, unsigned number);

#endif
