/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates random valid instructions for property tests, for every row of the instruction table. Each field gets a random
 * value that the row permits.
 */
#ifndef PROP_ISA_RANDOM_H
#define PROP_ISA_RANDOM_H

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "isa/isa_priv.h"

struct prop_random {
    uint64_t state;
};

/** Return the value of LW_SEED, or NULL if the variable does not select a program to repeat. */
static inline const char *prop_given(void)
{
    const char *text = getenv("LW_SEED");

    return text != NULL && strcmp(text, "random") == 0 ? NULL : text;
}

/** Return the seed: the value of LW_SEED, or one from the clock if LW_SEED is "random", or a constant if LW_SEED is not
 *  set. The test prints the seed. */
static inline uint64_t prop_seed(void)
{
    const char *text = prop_given();

    if (text != NULL)
        return strtoull(text, NULL, 0);
    return getenv("LW_SEED") != NULL ? (uint64_t)time(NULL) * 2654435761u + 1 : 1;
}

/** Return the number of programs and print it. The number is 1 if LW_SEED is a number. Otherwise it is LW_RANDOM_COUNT, or
 *  @usual without this variable, divided by LW_RANDOM_DIVISOR. */
static inline unsigned long prop_count(unsigned long usual, uint64_t seed)
{
    const char *count_text = getenv("LW_RANDOM_COUNT"), *divide = getenv("LW_RANDOM_DIVISOR");
    unsigned long count = count_text != NULL ? strtoul(count_text, NULL, 0) : usual;

    if (divide != NULL && strtoul(divide, NULL, 0) != 0)
        count = count / strtoul(divide, NULL, 0) + 1;
    if (prop_given() != NULL)
        count = 1;
    printf("first seed %" PRIu64 ", %lu programs\n", seed, count);
    fflush(stdout); /* an interrupted campaign must show its seed */
    return count;
}

/** Number of programs that have run, for prop_interrupted(). */
static volatile sig_atomic_t prop_ran;

/** Print how many programs have run, and end the process by the signal. The function calls no function that a signal handler must
 *  not call. */
static inline void prop_interrupted(int number)
{
    char text[64];
    size_t at = sizeof text;
    unsigned long left = (unsigned long)prop_ran;

#define PROP_PREPEND(words) at -= sizeof(words) - 1, memcpy(text + at, words, sizeof(words) - 1)
    PROP_PREPEND(" programs have run: interrupted\n");
    do
        text[--at] = (char)('0' + left % 10);
    while ((left /= 10) != 0);
#undef PROP_PREPEND
    (void)!write(STDERR_FILENO, text + at, sizeof text - at);
    signal(number, SIG_DFL);
    raise(number);
}

/** Setup of a test that runs a campaign of programs: if SIGINT or SIGTERM ends the process, the number of programs that have run is
 *  printed. */
static inline int prop_campaign_begin(void **state)
{
    (void)state;
    prop_ran = 0;
    signal(SIGINT, prop_interrupted);
    signal(SIGTERM, prop_interrupted);
    return 0;
}

/** Count a program that has run, of a campaign of @count programs. Print a line after each 1,000 programs of a long campaign. */
static inline void prop_campaign_ran(unsigned long count)
{
    prop_ran = prop_ran + 1;
    if (count >= 2000 && prop_ran % 1000 == 0)
        fprintf(stderr, "%ld of %lu programs have run\n", (long)prop_ran, count);
}

/** Teardown of the test: print the number of programs that have run, also if one of them has failed. */
static inline int prop_campaign_end(void **state)
{
    (void)state;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    printf("%ld programs have run\n", (long)prop_ran);
    return 0;
}

static inline uint64_t prop_next(struct prop_random *r)
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15)); /* splitmix64 */

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline unsigned prop_below(struct prop_random *r, unsigned n)
{
    return (unsigned)(prop_next(r) % n);
}

static inline uint8_t prop_register(struct prop_random *r, bool scalar, unsigned regs)
{
    if (prop_below(r, 8) == 0)
        return 255;
    if (!scalar)
        return (uint8_t)(prop_below(r, ISA_VREG_COUNT / regs) * regs);
    if (regs <= 2 && prop_below(r, 8) == 0)
        return (uint8_t)(ISA_S_EXEC + (regs == 1 ? prop_below(r, 2) : 0));
    return (uint8_t)(prop_below(r, ISA_SREG_COUNT / regs) * regs);
}

static inline unsigned prop_class(struct prop_random *r, unsigned classes)
{
    unsigned kind;

    do
        kind = prop_below(r, 4);
    while (!(classes >> kind & 1));
    return kind;
}

static inline void prop_x(struct prop_random *r, struct isa_insn *insn, unsigned classes,
                          unsigned regs)
{
    insn->xkind = (uint8_t)prop_class(r, classes);
    if (insn->xkind <= ISA_X_SCALAR)
        insn->x = prop_register(r, insn->xkind == ISA_X_SCALAR, regs);
    else if (insn->xkind == ISA_X_CONST)
        insn->x = prop_below(r, 32) << 16 | prop_below(r, ISA_CONST_BANK_BYTES - 4 * regs + 1);
    else
        insn->x = prop_below(r, 4) == 0 ? prop_below(r, 64) : (uint32_t)prop_next(r);
}

static inline void prop_mod(struct prop_random *r, struct isa_insn *insn,
                            const struct isa_op_info *info, unsigned mod)
{
    const struct isa_mod_info *group = isa_mod_info(mod);

    if (isa_mod_applies(mod, info))
        isa_mod_set(insn, mod, group->values[prop_below(r, group->value_count)].value);
}

static inline void prop_insn(struct prop_random *r, enum isa_op op, struct isa_insn *insn)
{
    const struct isa_op_info *info = isa_op_info(op);
    bool swap = false;

    isa_insn_init(insn, op);
    insn->guard = (uint8_t)prop_below(r, 8);
    insn->guard_neg = prop_below(r, 2);
    insn->guard_scalar = prop_below(r, 4) == 0;
    for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++)
        prop_mod(r, insn, info, mod);
    if (info->format == ISA_FMT_ATOM) {
        while (isa_atomic_refused(insn) != NULL)
            for (unsigned mod = 0; mod < ISA_MOD_COUNT; mod++)
                prop_mod(r, insn, info, mod);
        swap = isa_mod_get(insn, ISA_MOD_AOP) == ISA_AOP_CAS;
    }
    if (isa_operands_swappable(&info->operands))
        insn->variant = prop_below(r, 2);
    for (unsigned i = 0; i < info->operands.count; i++) {
        unsigned tok = info->operands.tok[i];
        const struct isa_token *token = isa_token_info(tok);
        unsigned regs = isa_operand_regs(&info->operands, i, insn);

        switch ((enum isa_tok_kind)token->kind) {
        case ISA_TK_D:
            insn->d = prop_register(r, token->classes == C_S, regs);
            break;
        case ISA_TK_A:
            insn->a_scalar = prop_class(r, token->classes) == ISA_X_SCALAR;
            insn->a = prop_register(r, insn->a_scalar, regs);
            break;
        case ISA_TK_X:
        case ISA_TK_XREG:
            prop_x(r, insn, token->classes, regs);
            break;
        case ISA_TK_C:
            insn->c_scalar = prop_class(r, token->classes) == ISA_X_SCALAR;
            insn->c = prop_register(r, insn->c_scalar, regs);
            break;
        case ISA_TK_SWAP:
            insn->c = swap ? prop_register(r, false, regs) : insn->c;
            break;
        case ISA_TK_P:
        case ISA_TK_SP:
            isa_insn_set_p(insn, prop_below(r, 8));
            break;
        case ISA_TK_Q:
            isa_insn_set_q(insn, prop_below(r, 8));
            break;
        case ISA_TK_R:
        case ISA_TK_RS:
            isa_insn_set_r(insn, prop_below(r, 8), prop_below(r, 2));
            break;
        case ISA_TK_RA:
            isa_insn_set_ra(insn, prop_below(r, 8), prop_below(r, 2));
            break;
        case ISA_TK_RB:
            isa_insn_set_rb(insn, prop_below(r, 8), prop_below(r, 2));
            break;
        case ISA_TK_ADDR: {
            unsigned mode = isa_mod_get(insn, ISA_MOD_AMODE);

            insn->a = prop_register(r, false, mode == ISA_AMODE_PAIR ? 2 : 1);
            isa_mod_set(insn, ISA_MOD_ASCALE, 0);
            if (mode >= ISA_AMODE_SU32)
                insn->c = prop_register(r, true, 2);
            if (mode >= ISA_AMODE_SU32 && isa_mod_applies(ISA_MOD_ASCALE, isa_op_info(insn->op)))
                isa_mod_set(insn, ISA_MOD_ASCALE, prop_below(r, ISA_ASCALE_16 + 1));
            insn->x |= (uint32_t)prop_next(r) << 8;
            break;
        }
        case ISA_TK_CADDR:
            insn->a = prop_register(r, token->classes == C_S, 1);
            insn->c = (uint8_t)prop_below(r, ISA_CONST_BANK_COUNT);
            insn->x |= (uint32_t)prop_next(r) << 8;
            break;
        case ISA_TK_SADDR:
            insn->a = prop_register(r, true, 2);
            insn->x = (uint32_t)prop_next(r) << 8 | prop_register(r, true, 1);
            break;
        case ISA_TK_TARGET:
        case ISA_TK_IMM:
            insn->x = (uint32_t)prop_next(r);
            break;
        case ISA_TK_BREG:
            insn->d = (uint8_t)prop_below(r, ISA_BREG_COUNT);
            break;
        case ISA_TK_BOPT:
            if (prop_below(r, 2))
                isa_insn_set_bo(insn, prop_below(r, ISA_BREG_COUNT));
            break;
        case ISA_TK_XBREG:
            insn->x = prop_below(r, ISA_BREG_COUNT);
            break;
        case ISA_TK_CTABAR:
            prop_x(r, insn, token->classes, 1);
            if (insn->xkind == ISA_X_IMM)
                insn->x = prop_below(r, ISA_CTA_BARRIER_COUNT);
            break;
        case ISA_TK_COUNT:
            insn->variant = prop_below(r, 2);
            insn->c = insn->variant ? prop_register(r, false, 1) : 0;
            break;
        case ISA_TK_SPECIAL: {
            unsigned room = isa_token_regs(info->operands.tok[0], insn) * 32;

            do
                insn->x = prop_below(r, ISA_SR_COUNT);
            while (isa_special_info(insn->x)->width > room);
            break;
        }
        case ISA_TK_LUT:
            isa_insn_set_lut(insn, prop_below(r, 256));
            break;
        case ISA_TK_LUTX:
            insn->x = prop_below(r, 256);
            break;
        case ISA_TK_DEPBAR:
            insn->x = prop_below(r, 6) | prop_below(r, 64) << 8;
            break;
        case ISA_TK_WAITCNT:
            insn->x = prop_below(r, 64) | prop_below(r, 8) << 8 | prop_below(r, 64) << 16;
            break;
        case ISA_TK_LANE:
            insn->xkind = (uint8_t)prop_class(r, token->classes);
            insn->x = insn->xkind == ISA_X_IMM
                          ? prop_below(r, 256)
                          : prop_register(r, insn->xkind == ISA_X_SCALAR, 1);
            insn->variant = prop_below(r, 2);
            insn->c_scalar = insn->variant && prop_below(r, 2);
            insn->c = insn->variant ? prop_register(r, insn->c_scalar, 1) : 0;
            if (!insn->variant)
                insn->x |= prop_below(r, 4096) << 8;
            break;
        case ISA_TK_MEMBER:
            insn->x = (insn->x & 0xffffff) | (uint32_t)prop_register(r, false, 1) << 24;
            break;
        case ISA_TK_SOFT:
            insn->variant = prop_below(r, 2);
            break;
        case ISA_TK_TEXARG:
            if (regs != 0)
                prop_x(r, insn, token->classes, regs);
            break;
        case ISA_TK_TEXEL:
            insn->x |= prop_below(r, 2) ? prop_below(r, 4096) << 8 : 0;
            break;
        case ISA_TK_ALLP:
            break;
        }
    }
    if (!(info->flags & ISA_F_NOSRCMOD)) {
        static const enum isa_tok_kind kinds[] = { ISA_TK_A, ISA_TK_X, ISA_TK_C };

        for (unsigned source = 0; source < 3; source++) {
            if (isa_operands_find(&info->operands, kinds[source]) < 0 ||
                (source == 1 && insn->xkind == ISA_X_IMM))
                continue;
            isa_insn_set_srcmod(insn, source,
                                prop_below(r, info->flags & ISA_F_FLOAT ? 4 : 3));
        }
    }
    if (prop_below(r, 2)) {
        insn->control.stall = (uint8_t)prop_below(r, 16);
        insn->control.yield = (uint8_t)prop_below(r, 2);
        insn->control.write_bar = (uint8_t)prop_below(r, 8);
        insn->control.read_bar = (uint8_t)prop_below(r, 8);
        insn->control.wait_mask = (uint8_t)prop_below(r, 64);
        insn->control.reuse = (uint8_t)prop_below(r, 8);
    }
    isa_insn_normalise(insn);
}

/** Compare two decoded instructions field by field, since structs have padding. */
static inline bool prop_insn_equal(const struct isa_insn *a, const struct isa_insn *b)
{
    return a->op == b->op && a->guard == b->guard && a->guard_neg == b->guard_neg &&
           a->guard_scalar == b->guard_scalar && a->d == b->d && a->a == b->a &&
           a->c == b->c && a->a_scalar == b->a_scalar && a->c_scalar == b->c_scalar &&
           a->xkind == b->xkind && a->variant == b->variant && a->x == b->x &&
           a->mod == b->mod && a->control.stall == b->control.stall &&
           a->control.yield == b->control.yield &&
           a->control.write_bar == b->control.write_bar &&
           a->control.read_bar == b->control.read_bar &&
           a->control.wait_mask == b->control.wait_mask && a->control.reuse == b->control.reuse;
}

/** Round the register numbers of pairs and quads of an instruction down to the required alignment. */
static inline void prop_align_groups(struct isa_insn *insn)
{
    const struct isa_operands *operands = &isa_op_info((enum isa_op)insn->op)->operands;

    for (unsigned i = 0; i < operands->count; i++) {
        unsigned low = isa_operand_regs(operands, i, insn) - 1;

        switch ((enum isa_tok_kind)isa_token_info(operands->tok[i])->kind) {
        case ISA_TK_D: insn->d = (uint8_t)(insn->d == 255 ? 255 : insn->d & ~low); break;
        case ISA_TK_A: insn->a = (uint8_t)(insn->a == 255 ? 255 : insn->a & ~low); break;
        case ISA_TK_C:
        case ISA_TK_SWAP: insn->c = (uint8_t)(insn->c == 255 ? 255 : insn->c & ~low); break;
        case ISA_TK_X:
            if (insn->xkind <= ISA_X_SCALAR && insn->x != 255)
                insn->x &= ~low;
            break;
        case ISA_TK_XREG:
            if (isa_x_reg(insn->x) != 255)
                insn->x &= ~low;
            break;
        default: break;
        }
    }
}

#endif
