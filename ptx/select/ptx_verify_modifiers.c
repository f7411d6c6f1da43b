/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses instructions that PTX forbids although each modifier is valid: two modifiers of the same kind, a rounding of an
 * operation that does not round, a missing mandatory rounding. Selection rules therefore need not check these cases. */
#include "ptx/select/ptx_select_priv.h"

enum { WORDS = 12 };

/* Each table row lists modifiers; an instruction may have at most one modifier of a table row. */
static const uint8_t exclusive[][WORDS] = {
    { PTX_W_RN, PTX_W_RZ, PTX_W_RM, PTX_W_RP, PTX_W_RNA, PTX_W_RNI, PTX_W_RZI, PTX_W_RMI, PTX_W_RPI,
      PTX_W_APPROX, PTX_W_FULL },
    { PTX_W_EQ, PTX_W_NE, PTX_W_LT, PTX_W_LE, PTX_W_GT, PTX_W_GE, PTX_W_LO, PTX_W_LS, PTX_W_HI,
      PTX_W_HS },
    { PTX_W_EQ, PTX_W_NE, PTX_W_EQU, PTX_W_NEU, PTX_W_LTU, PTX_W_LEU, PTX_W_GTU, PTX_W_GEU,
      PTX_W_NUM, PTX_W_NAN },
    { PTX_W_LT, PTX_W_LE, PTX_W_GT, PTX_W_GE, PTX_W_EQU, PTX_W_NEU, PTX_W_LTU, PTX_W_LEU,
      PTX_W_GTU, PTX_W_GEU, PTX_W_NUM, PTX_W_NAN },
    { PTX_W_AND, PTX_W_OR, PTX_W_XOR },
    { PTX_W_WIDE, PTX_W_HI, PTX_W_LO },
    { PTX_W_CA, PTX_W_CG, PTX_W_CS, PTX_W_LU, PTX_W_CV, PTX_W_WB, PTX_W_WT },
    { PTX_W_WEAK, PTX_W_VOLATILE, PTX_W_RELAXED, PTX_W_ACQUIRE, PTX_W_RELEASE, PTX_W_ACQ_REL,
      PTX_W_SC },
    { PTX_W_NC, PTX_W_VOLATILE, PTX_W_RELAXED, PTX_W_ACQUIRE },
    { PTX_W_NC, PTX_W_MMIO },
    { PTX_W_CTA, PTX_W_GPU, PTX_W_SYS, PTX_W_CLUSTER },
    { PTX_W_V2, PTX_W_V4, PTX_W_V8 },
    { PTX_W_UP, PTX_W_DOWN, PTX_W_BFLY, PTX_W_IDX },
    { PTX_W_FINITE, PTX_W_INFINITE, PTX_W_NUMBER, PTX_W_NOTANUMBER, PTX_W_NORMAL,
      PTX_W_SUBNORMAL },
    { PTX_W_F4E, PTX_W_B4E, PTX_W_RC8, PTX_W_ECL, PTX_W_ECR, PTX_W_RC16 },
    { PTX_W_L1, PTX_W_L2 },
    { PTX_W_FRACTIONAL, PTX_W_RANGE, PTX_W_CVT },
    { PTX_W_SYNC, PTX_W_ARRIVE, PTX_W_RED },
};

/* Modifiers for the precision of float operations that an instruction permits, and whether one of them is mandatory. */
static const struct precision {
    uint8_t op, words[8];
    bool required;
} precision[] = {
    { PTX_ADD, { PTX_W_RN, PTX_W_RZ, PTX_W_RM, PTX_W_RP }, false },
    { PTX_SUB, { PTX_W_RN, PTX_W_RZ, PTX_W_RM, PTX_W_RP }, false },
    { PTX_MUL, { PTX_W_RN, PTX_W_RZ, PTX_W_RM, PTX_W_RP }, false },
    { PTX_FMA, { PTX_W_RN, PTX_W_RZ, PTX_W_RM, PTX_W_RP }, true },
    { PTX_MAD, { PTX_W_RN, PTX_W_RZ, PTX_W_RM, PTX_W_RP }, true },
    { PTX_DIV, { PTX_W_RN, PTX_W_RZ, PTX_W_RM, PTX_W_RP, PTX_W_APPROX, PTX_W_FULL }, true },
    { PTX_RCP, { PTX_W_RN, PTX_W_RZ, PTX_W_RM, PTX_W_RP, PTX_W_APPROX }, true },
    { PTX_SQRT, { PTX_W_RN, PTX_W_RZ, PTX_W_RM, PTX_W_RP, PTX_W_APPROX }, true },
    { PTX_RSQRT, { PTX_W_APPROX }, true },
    { PTX_SIN, { PTX_W_APPROX }, true },
    { PTX_COS, { PTX_W_APPROX }, true },
    { PTX_EX2, { PTX_W_APPROX }, true },
    { PTX_LG2, { PTX_W_APPROX }, true },
    { PTX_TANH, { PTX_W_APPROX }, true },
};
static const uint8_t to_float[] = { PTX_W_RN, PTX_W_RZ, PTX_W_RM, PTX_W_RP, PTX_W_RNA, 0 };
static const uint8_t to_integer[] = { PTX_W_RNI, PTX_W_RZI, PTX_W_RMI, PTX_W_RPI, 0 };

static bool has_any(const struct ptx_insn *in, const uint8_t *words)
{
    for (unsigned i = 0; words[i] != PTX_W_NONE; i++)
        if (ptx_has(in, (enum ptx_word)words[i]))
            return true;
    return false;
}

static void check_exclusive(struct ptx_sel *sel)
{
    for (unsigned row = 0; row < LW_COUNT_OF(exclusive); row++) {
        unsigned first = PTX_W_NONE;

        for (unsigned i = 0; i < WORDS && exclusive[row][i] != PTX_W_NONE; i++) {
            unsigned word = exclusive[row][i];

            if (!ptx_has(&sel->in, (enum ptx_word)word))
                continue;
            if (first != PTX_W_NONE)
                ptx_sel_fail(sel, LW_EINPUT, "'.%s' and '.%s' cannot be combined",
                             ptx_word_text((enum ptx_word)first),
                             ptx_word_text((enum ptx_word)word));
            first = word;
        }
    }
}

static void check_precision(struct ptx_sel *sel, enum ptx_type type)
{
    const struct precision *row = NULL;

    for (unsigned i = 0; i < LW_COUNT_OF(precision); i++)
        if (precision[i].op == sel->in.op)
            row = &precision[i];
    if (row == NULL)
        return;
    for (unsigned i = 0; i < WORDS && exclusive[0][i] != PTX_W_NONE; i++) {
        unsigned word = exclusive[0][i];

        if (ptx_has(&sel->in, (enum ptx_word)word) &&
            memchr(row->words, (int)word, sizeof row->words) == NULL)
            ptx_sel_fail(sel, LW_EINPUT, "'.%s' is not allowed on this instruction",
                         ptx_word_text((enum ptx_word)word));
    }
    if (row->required && !has_any(&sel->in, row->words))
        ptx_sel_fail(sel, LW_EINPUT, "type .%s needs '.%s'%s", ptx_type_name(type),
                     ptx_word_text((enum ptx_word)row->words[0]),
                     row->words[1] != PTX_W_NONE ? " or another rounding" : "");
}

static bool is_packed(enum ptx_type type)
{
    return type == PTX_T_F16X2 || type == PTX_T_BF16X2;
}

/* Returns true if type @to can represent all values of @from, so that nothing saturates. */
static bool holds(enum ptx_type to, enum ptx_type from)
{
    bool to_signed = ptx_type_name(to)[0] == 's', from_signed = ptx_type_name(from)[0] == 's';

    if (from_signed && !to_signed)
        return false;
    return ptx_type_bytes(to) >= ptx_type_bytes(from) + (to_signed && !from_signed);
}

static void check_conversion(struct ptx_sel *sel, enum ptx_type to, enum ptx_type from)
{
    const uint8_t *needed = NULL;
    bool between_integers = ptx_type_class(to) == PTX_CLASS_INTEGER &&
                            ptx_type_class(from) == PTX_CLASS_INTEGER;
    bool between_floats = ptx_type_class(to) == PTX_CLASS_FLOAT &&
                          ptx_type_class(from) == PTX_CLASS_FLOAT;

    if (to == PTX_T_TF32) {
        static const uint8_t rounds[] = { PTX_W_RN, PTX_W_RZ, PTX_W_RNA, 0 };
        static const uint8_t others[] = { PTX_W_RM, PTX_W_RP, PTX_W_RNI, PTX_W_RZI, PTX_W_RMI,
                                          PTX_W_RPI, PTX_W_FTZ, PTX_W_SAT, 0 };

        if (from != PTX_T_F32)
            ptx_sel_fail(sel, LW_EINPUT, "a conversion to .tf32 must be from .f32");
        if (!has_any(&sel->in, rounds) || has_any(&sel->in, others) ||
            (ptx_has(&sel->in, PTX_W_RNA) && ptx_has(&sel->in, PTX_W_RELU)))
            ptx_sel_fail(sel, LW_EINPUT, "a conversion to .tf32 allows '.rna', '.rn' and '.rz', each with "
                                         "'.satfinite', and '.relu' only with '.rn' and '.rz'");
        return;
    }
    if (ptx_is_fp8x2(to) || ptx_is_fp8x2(from)) {
        static const uint8_t others[] = { PTX_W_RZ, PTX_W_RM, PTX_W_RP, PTX_W_RNA, PTX_W_RNI, PTX_W_RZI, PTX_W_RMI,
                                          PTX_W_RPI, PTX_W_FTZ, PTX_W_SAT, 0 };
        bool good = ptx_is_fp8x2(to) ? from == PTX_T_F32 || from == PTX_T_F16X2 : to == PTX_T_F16X2;

        if (!good)
            ptx_sel_fail(sel, LW_EINPUT, "a conversion to .%s from .%s does not exist: the types are .f32 or .f16x2 to .e4m3x2 or "
                                         ".e5m2x2, and these two to .f16x2", ptx_type_name(to), ptx_type_name(from));
        if (!ptx_has(&sel->in, PTX_W_RN) || has_any(&sel->in, others) ||
            ptx_has(&sel->in, PTX_W_SATFINITE) != ptx_is_fp8x2(to))
            ptx_sel_fail(sel, LW_EINPUT, "a conversion from .%s to .%s needs '.rn'%s, and allows only '.relu' in addition",
                         ptx_type_name(from), ptx_type_name(to), ptx_is_fp8x2(to) ? " and '.satfinite'" : "");
        return;
    }
    bool brain = to == PTX_T_BF16 || from == PTX_T_BF16;

    if (brain && (ptx_type_bytes(to) == 1 || ptx_type_bytes(from) == 1))
        ptx_sel_fail(sel, LW_EINPUT, ".bf16 cannot be converted to or from 8 bits: convert through 16 or 32 bits");
    if (from == PTX_T_BF16 && ptx_has(&sel->in, PTX_W_SAT))
        ptx_sel_fail(sel, LW_EINPUT, "type .bf16 has no '.sat'");
    if (brain && between_floats && to != from) { /* a conversion to or from bf16 permits the roundings of floats, also
                                                  * if it is exact */
        if (has_any(&sel->in, to_integer) || ptx_has(&sel->in, PTX_W_RNA))
            ptx_sel_fail(sel, LW_EINPUT, "a conversion from .%s to .%s does not allow this rounding",
                         ptx_type_name(from), ptx_type_name(to));
        if (ptx_type_bytes(to) >= ptx_type_bytes(from))
            return;
    }
    if ((between_integers && (has_any(&sel->in, to_float) || has_any(&sel->in, to_integer))) ||
        (between_floats && !is_packed(to) && ptx_type_bytes(to) >= ptx_type_bytes(from) &&
         (has_any(&sel->in, to_float) ||
          (ptx_type_bytes(to) > ptx_type_bytes(from) && has_any(&sel->in, to_integer)))))
        ptx_sel_fail(sel, LW_EINPUT, "a conversion from .%s to .%s does not allow this rounding", ptx_type_name(from),
                     ptx_type_name(to));
    if (between_integers && ptx_has(&sel->in, PTX_W_SAT) && holds(to, from))
        ptx_sel_fail(sel, LW_EINPUT, "a conversion from .%s to .%s never saturates: remove '.sat'", ptx_type_name(from),
                     ptx_type_name(to));
    if (ptx_type_class(to) == PTX_CLASS_INTEGER && ptx_type_class(from) == PTX_CLASS_FLOAT)
        needed = to_integer;
    else if (ptx_type_class(to) == PTX_CLASS_FLOAT &&
             (ptx_type_class(from) == PTX_CLASS_INTEGER ||
              ptx_type_bytes(to) < ptx_type_bytes(from)))
        needed = to_float;
    if (needed != NULL && !has_any(&sel->in, needed))
        ptx_sel_fail(sel, LW_EINPUT, "a conversion from .%s to .%s needs '.%s' or another rounding",
                     ptx_type_name(from), ptx_type_name(to),
                     ptx_word_text((enum ptx_word)needed[0]));
}

/* Returns true for instructions that have no modifier .ftz, because they always or never flush denormals, or have no floats. */
static bool never_flushes(const struct ptx_insn *in, enum ptx_type type, enum ptx_type last)
{
    switch (in->op) {
    case PTX_TANH: return true;
    case PTX_CVT: return type != PTX_T_F32 && last != PTX_T_F32;
    case PTX_EX2: return type == PTX_T_F16 || type == PTX_T_F16X2;
    case PTX_SET:
        return ptx_type_class(last) != PTX_CLASS_FLOAT || last == PTX_T_F64 ||
               type == PTX_T_BF16 || last == PTX_T_BF16;
    case PTX_SLCT: return ptx_type_class(last) != PTX_CLASS_FLOAT;
    default: return false;
    }
}

static bool flushes(enum ptx_type type)
{
    return type == PTX_T_F32 || type == PTX_T_F16 || type == PTX_T_F16X2 || type == PTX_T_F32X2;
}

/* Returns true if the instruction permits .sat, which divisions, square roots, f64 and bf16 do not. */
static bool saturates(const struct ptx_insn *in, enum ptx_type type)
{
    if (in->op == PTX_CVT)
        return type != PTX_T_BF16 && type != PTX_T_BF16X2;
    return type != PTX_T_F64 && type != PTX_T_BF16 && type != PTX_T_BF16X2 && in->op != PTX_DIV &&
           in->op != PTX_RCP && in->op != PTX_SQRT;
}

/* Refuses pairs of types that the instruction set does not permit. */
static void check_set(struct ptx_sel *sel, enum ptx_type to, enum ptx_type from)
{
    bool half = from == PTX_T_F16 || from == PTX_T_BF16;

    if (((to == PTX_T_U16 || to == PTX_T_S16) && !half) || (to == PTX_T_F32 && half) ||
        (to == PTX_T_F16 && from == PTX_T_BF16))
        ptx_sel_fail(sel, LW_EINPUT, "'.%s.%s' is not allowed on this instruction", ptx_type_name(to),
                     ptx_type_name(from));
}

void ptx_sel_check(struct ptx_sel *sel)
{
    const struct ptx_insn *in = &sel->in;
    enum ptx_type type = in->type_count != 0 ? (enum ptx_type)in->type[0] : PTX_T_NONE;
    enum ptx_type last =
        in->type_count != 0 ? (enum ptx_type)in->type[in->type_count - 1] : PTX_T_NONE;
    unsigned words = 0;

    for (unsigned i = 0; i < LW_COUNT_OF(in->words); i++)
        words += (unsigned)__builtin_popcountll(in->words[i]);
    if (words > 1)
        check_exclusive(sel);
    if (ptx_type_class(type) == PTX_CLASS_FLOAT && in->op != PTX_CVT)
        check_precision(sel, type);
    if (in->op == PTX_CVT && in->type_count == 2 && !ptx_has(in, PTX_W_PACK))
        check_conversion(sel, type, last);
    if (in->op == PTX_SET && in->type_count == 2)
        check_set(sel, type, last);
    if (in->op == PTX_EX2 && (type == PTX_T_BF16 || type == PTX_T_BF16X2) && !ptx_has(in, PTX_W_FTZ))
        ptx_sel_fail(sel, LW_EINPUT, "type .%s needs '.ftz'", ptx_type_name(type));
    if (words == 0)
        return;
    if (ptx_has(in, PTX_W_FTZ) && !flushes(type) && !flushes(last) && in->op != PTX_RCP &&
        in->op != PTX_RSQRT && in->op != PTX_EX2)
        ptx_sel_fail(sel, LW_EINPUT, "'.ftz' is allowed for .f32 and .f16, not for .%s",
                     ptx_type_name(type));
    if (ptx_has(in, PTX_W_FTZ) && in->op != PTX_CVT && in->op != PTX_SET && in->type_count == 2 &&
        (last == PTX_T_F16 || last == PTX_T_BF16))
        ptx_sel_fail(sel, LW_EINPUT, "'.%s.%s' has no '.ftz'", ptx_type_name(type),
                     ptx_type_name(last));
    if (ptx_has(in, PTX_W_FTZ) && never_flushes(in, type, last))
        ptx_sel_fail(sel, LW_EINPUT, "'.ftz' is not allowed on this instruction");
    if (ptx_has(in, PTX_W_OOB))
        ptx_sel_fail(sel, LW_EUNSUPP, "'.oob' is not supported, as there are no tensor copies");
    if (ptx_has(in, PTX_W_RELU) && (in->op == PTX_ADD || in->op == PTX_SUB || in->op == PTX_MUL))
        ptx_sel_fail(sel, LW_EINPUT, "'.relu' is allowed only for fma, max, min and cvt");
    if (ptx_has(in, PTX_W_NAN_WINS) && type == PTX_T_F64)
        ptx_sel_fail(sel, LW_EINPUT, "type .f64 has no '.NaN'");
    if (ptx_has(in, PTX_W_SAT) && !saturates(in, type))
        ptx_sel_fail(sel, LW_EINPUT, "type .%s has no '.sat'", ptx_type_name(type));
    if (ptx_has(in, PTX_W_NC) && in->op != PTX_LD)
        ptx_sel_fail(sel, LW_EINPUT, "'.nc' is allowed only for loads");
}
