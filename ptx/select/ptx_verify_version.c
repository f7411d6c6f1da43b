/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the module's .version and .target have the features that the module uses. Compiled text is not checked,
 * because its version is the lowest that the compiler can write, and inline assembly may use newer features. The rules are
 * those of the PTX ISA's release notes, "PTX ISA Notes" and "Target ISA Notes"; where these have no rule, the checks follow
 * ptxas 13.0. */
#include "ptx/select/ptx_select_priv.h"

/* ---- versions and targets ------------------------------------------------------------------- */

/* ---- instructions --------------------------------------------------------------------------- */

#define T(name) (UINT32_C(1) << PTX_T_##name)
enum {
    HALF = T(F16) | T(F16X2),
    BRAIN = T(BF16) | T(BF16X2),
    WIDE = T(U64) | T(S64) | T(B64),
    EIGHTHS = T(E4M3X2) | T(E5M2X2),
};

/* All matching rows apply. A row matches instruction @op with all of @words (PTX_W_NONE for no modifier) and one of @types
 * (0: any). The last rows, with PTX_OP_NONE, match every instruction. */
static const struct since {
    uint8_t op, words[2];
    uint32_t types;
    uint8_t version, target; /* version: 63 means 6.3; target: 75 means sm_75; 0: any version or target is sufficient */
} since[] = {
    { PTX_ABS, { 0 }, HALF, 65, 53 },
    { PTX_ACTIVEMASK, { 0 }, 0, 62, 30 },
    { PTX_ADD, { 0 }, HALF, 42, 53 },
    { PTX_ADD, { 0 }, BRAIN, 78, 90 },
    { PTX_ADD, { PTX_W_CC }, WIDE, 43, 0 },
    { PTX_APPLYPRIORITY, { 0 }, 0, 74, 80 },
    { PTX_ATOM, { PTX_W_CTA }, 0, 50, 60 },
    { PTX_ATOM, { PTX_W_GPU }, 0, 50, 60 },
    { PTX_ATOM, { PTX_W_SYS }, 0, 50, 60 },
    { PTX_ATOM, { PTX_W_NOFTZ }, T(F16X2), 62, 60 },
    { PTX_ATOM, { PTX_W_NOFTZ }, T(F16), 63, 70 },
    { PTX_ATOM, { PTX_W_NOFTZ }, BRAIN, 78, 90 },
    { PTX_ATOM, { PTX_W_CAS }, T(B16), 63, 70 },
    { PTX_ATOM, { PTX_W_ADD }, T(F64), 50, 60 },
    { PTX_ATOM, { PTX_W_MIN }, WIDE, 31, 32 },
    { PTX_ATOM, { PTX_W_MAX }, WIDE, 31, 32 },
    { PTX_ATOM, { PTX_W_AND }, WIDE, 31, 32 },
    { PTX_ATOM, { PTX_W_OR }, WIDE, 31, 32 },
    { PTX_ATOM, { PTX_W_XOR }, WIDE, 31, 32 },
    { PTX_ATOM, { PTX_W_V2 }, 0, 81, 90 },
    { PTX_ATOM, { PTX_W_V4 }, 0, 81, 90 },
    { PTX_ATOM, { PTX_W_V8 }, 0, 81, 90 },
    { PTX_BAR, { PTX_W_WARP }, 0, 60, 30 },
    { PTX_BAR, { PTX_W_CTA }, 0, 78, 0 },
    { PTX_BARRIER, { 0 }, 0, 60, 30 },
    { PTX_BARRIER, { PTX_W_CTA }, 0, 78, 30 },
    { PTX_BMSK, { 0 }, 0, 76, 70 },
    { PTX_CP, { PTX_W_ASYNC }, 0, 70, 80 },
    { PTX_CP, { PTX_W_BULK }, 0, 80, 90 },
    { PTX_CREATEPOLICY, { 0 }, 0, 74, 80 },
    { PTX_CVT, { PTX_W_PACK }, 0, 65, 72 },
    { PTX_CVT, { PTX_W_SATFINITE }, HALF | BRAIN, 81, 0 },
    { PTX_CVT, { 0 }, T(F16X2), 70, 80 },
    { PTX_CVT, { 0 }, EIGHTHS, 78, 89 },
    { PTX_CVT, { 0 }, T(TF32), 70, 80 },
    { PTX_CVT, { PTX_W_RN }, T(TF32), 78, 90 },
    { PTX_CVT, { PTX_W_RZ }, T(TF32), 78, 90 },
    { PTX_CVT, { PTX_W_SATFINITE }, T(TF32), 81, 80 },
    { PTX_CVT, { PTX_W_SATFINITE, PTX_W_RN }, T(TF32), 86, 100 },
    { PTX_CVT, { PTX_W_SATFINITE, PTX_W_RZ }, T(TF32), 86, 100 },
    { PTX_CVTA, { PTX_W_CONST }, 0, 31, 0 },
    { PTX_CVTA, { PTX_W_PARAM }, 0, 77, 70 },
    { PTX_DISCARD, { 0 }, 0, 74, 80 },
    { PTX_DP2A, { 0 }, 0, 50, 61 },
    { PTX_DP4A, { 0 }, 0, 50, 61 },
    { PTX_ELECT, { 0 }, 0, 80, 90 },
    { PTX_EX2, { 0 }, HALF, 70, 75 },
    { PTX_EX2, { 0 }, BRAIN, 78, 90 },
    { PTX_FENCE, { 0 }, 0, 60, 70 },
    { PTX_FENCE, { PTX_W_PROXY }, 0, 75, 70 },
    { PTX_FENCE, { PTX_W_ASYNC }, 0, 80, 90 },
    { PTX_FENCE, { PTX_W_MBARRIER_INIT }, 0, 80, 90 },
    { PTX_FENCE, { PTX_W_TENSORMAP_GENERIC }, 0, 83, 90 },
    { PTX_FENCE, { PTX_W_ASYNC_GENERIC }, 0, 86, 90 },
    { PTX_FMA, { 0 }, HALF, 42, 53 },
    { PTX_FNS, { 0 }, 0, 60, 30 },
    { PTX_GRIDDEPCONTROL, { 0 }, 0, 78, 90 },
    { PTX_ISSPACEP, { PTX_W_CONST }, 0, 31, 0 },
    { PTX_ISSPACEP, { PTX_W_PARAM }, 0, 77, 70 },
    { PTX_LD, { PTX_W_V4 }, WIDE | T(F64), 88, 100 },
    { PTX_LOP3, { 0 }, 0, 43, 50 },
    { PTX_MAD, { PTX_W_CC }, 0, 30, 20 },
    { PTX_MAD, { PTX_W_CC }, WIDE, 43, 0 },
    { PTX_MADC, { 0 }, 0, 30, 20 },
    { PTX_MATCH, { 0 }, 0, 60, 70 },
    { PTX_MAX, { 0 }, HALF, 70, 80 },
    { PTX_MAX, { PTX_W_RELU }, T(S32), 80, 90 },
    { PTX_MBARRIER, { 0 }, 0, 70, 80 },
    { PTX_MEMBAR, { PTX_W_PROXY }, 0, 75, 70 },
    { PTX_MIN, { 0 }, HALF, 70, 80 },
    { PTX_MIN, { PTX_W_RELU }, T(S32), 80, 90 },
    { PTX_MUL, { 0 }, HALF, 42, 53 },
    { PTX_MUL, { 0 }, BRAIN, 78, 90 },
    { PTX_NANOSLEEP, { 0 }, 0, 62, 70 },
    { PTX_NEG, { 0 }, HALF, 60, 53 },
    { PTX_PMEVENT, { PTX_W_MASK }, 0, 30, 0 },
    { PTX_PREFETCH, { PTX_W_L2_LAST }, 0, 74, 80 },
    { PTX_PREFETCH, { PTX_W_L2_NORMAL }, 0, 74, 80 },
    { PTX_RED, { PTX_W_CTA }, 0, 50, 60 },
    { PTX_RED, { PTX_W_GPU }, 0, 50, 60 },
    { PTX_RED, { PTX_W_SYS }, 0, 50, 60 },
    { PTX_RED, { PTX_W_NOFTZ }, T(F16X2), 62, 60 },
    { PTX_RED, { PTX_W_NOFTZ }, T(F16), 63, 70 },
    { PTX_RED, { PTX_W_NOFTZ }, BRAIN, 78, 90 },
    { PTX_RED, { PTX_W_ADD }, T(F64), 50, 60 },
    { PTX_RED, { PTX_W_MIN }, WIDE, 31, 32 },
    { PTX_RED, { PTX_W_MAX }, WIDE, 31, 32 },
    { PTX_RED, { PTX_W_AND }, WIDE, 31, 32 },
    { PTX_RED, { PTX_W_OR }, WIDE, 31, 32 },
    { PTX_RED, { PTX_W_XOR }, WIDE, 31, 32 },
    { PTX_RED, { PTX_W_V2 }, 0, 81, 90 },
    { PTX_RED, { PTX_W_V4 }, 0, 81, 90 },
    { PTX_RED, { PTX_W_V8 }, 0, 81, 90 },
    { PTX_REDUX, { 0 }, 0, 70, 80 },
    { PTX_REDUX, { 0 }, T(F32), 86, 100 },
    { PTX_RSQRT, { PTX_W_FTZ }, T(F64), 40, 20 },
    { PTX_SET, { 0 }, HALF, 42, 53 },
    { PTX_SET, { 0 }, BRAIN, 78, 90 },
    { PTX_SETP, { 0 }, HALF, 42, 53 },
    { PTX_SETP, { 0 }, BRAIN, 78, 90 },
    { PTX_SHF, { 0 }, 0, 31, 32 },
    { PTX_SHFL, { 0 }, 0, 30, 30 },
    { PTX_SHFL, { PTX_W_SYNC }, 0, 60, 30 },
    { PTX_ST, { PTX_W_V4 }, WIDE | T(F64), 88, 100 },
    { PTX_SUB, { 0 }, HALF, 42, 53 },
    { PTX_SUB, { 0 }, BRAIN, 78, 90 },
    { PTX_SUB, { PTX_W_CC }, WIDE, 43, 0 },
    { PTX_SZEXT, { 0 }, 0, 76, 70 },
    { PTX_TANH, { 0 }, 0, 70, 75 },
    { PTX_TANH, { 0 }, BRAIN, 78, 90 },
    { PTX_VOTE, { PTX_W_SYNC }, 0, 60, 30 },
    { PTX_VABSDIFF2, { 0 }, 0, 30, 30 },
    { PTX_VABSDIFF4, { 0 }, 0, 30, 30 },
    { 0, { 0 }, BRAIN, 70, 80 },
    { 0, { 0 }, T(U16X2) | T(S16X2), 80, 90 },
    { 0, { 0 }, T(F32X2), 86, 100 },
    { 0, { PTX_W_NAN_WINS }, 0, 70, 80 },
    { 0, { PTX_W_RELU }, 0, 70, 80 },
    { 0, { PTX_W_XORSIGN }, 0, 72, 86 },
    { 0, { PTX_W_SATFINITE }, 0, 60, 70 },
    { 0, { PTX_W_WEAK }, 0, 60, 70 },
    { 0, { PTX_W_RELAXED }, 0, 60, 70 },
    { 0, { PTX_W_ACQUIRE }, 0, 60, 70 },
    { 0, { PTX_W_RELEASE }, 0, 60, 70 },
    { 0, { PTX_W_ACQ_REL }, 0, 60, 70 },
    { 0, { PTX_W_SC }, 0, 60, 70 },
    { 0, { PTX_W_MMIO }, 0, 82, 70 },
    { 0, { PTX_W_NC }, 0, 31, 32 },
    { 0, { PTX_W_V8 }, 0, 88, 100 },
    { 0, { PTX_W_CLUSTER }, 0, 78, 90 },
    { 0, { PTX_W_SHARED_CTA }, 0, 78, 30 },
    { 0, { PTX_W_SHARED_CLUSTER }, 0, 78, 90 },
    { 0, { PTX_W_RESTRICT_CTA }, 0, 86, 90 },
    { 0, { PTX_W_RESTRICT_CLUSTER }, 0, 86, 90 },
    { 0, { PTX_W_L1_NORMAL }, 0, 74, 70 },
    { 0, { PTX_W_L1_UNCHANGED }, 0, 74, 70 },
    { 0, { PTX_W_L1_FIRST }, 0, 74, 70 },
    { 0, { PTX_W_L1_LAST }, 0, 74, 70 },
    { 0, { PTX_W_L1_NO_ALLOCATE }, 0, 74, 70 },
    { 0, { PTX_W_L2_64B }, 0, 74, 75 },
    { 0, { PTX_W_L2_128B }, 0, 74, 75 },
    { 0, { PTX_W_L2_256B }, 0, 74, 80 },
};
/* the newest version and target in the table: a module with both needs no search */
enum { LAST_VERSION = 88, LAST_TARGET = 100 };

static bool fits(const struct since *row, const struct ptx_insn *in, uint32_t types)
{
    if (row->types != 0 && (row->types & types) == 0)
        return false;
    for (unsigned i = 0; i < LW_COUNT_OF(row->words); i++)
        if (row->words[i] != PTX_W_NONE && !ptx_has(in, (enum ptx_word)row->words[i]))
            return false;
    return true;
}

/* Fails if the module's version or target is too old for part @what of the instruction, which the message shows after a
 * dot. @what is "" for the instruction itself. */
static void require(struct ptx_sel *sel, const char *what, unsigned version, unsigned target)
{
    const struct ptx_dialect *have = &sel->unit->module->dialects.at[sel->fn->source];
    const char *dot = what[0] != '\0' ? "'." : "", *quote = what[0] != '\0' ? "' " : "the instruction ";

    if (have->version < version)
        ptx_sel_fail(sel, LW_EINPUT, "%s%s%sneeds .version %u.%u or later, but this module has %u.%u",
                     dot, what, quote, version / 10, version % 10, have->version / 10,
                     have->version % 10);
    if (have->target < target)
        ptx_sel_fail(sel, LW_EINPUT, "%s%s%sneeds .target sm_%u or higher, but this module has sm_%u",
                     dot, what, quote, target, have->target);
}

static void check_row(struct ptx_sel *sel, const struct since *row, uint32_t types)
{
    const char *what = "";

    if (!fits(row, &sel->in, types))
        return;
    if (row->words[0] != PTX_W_NONE)
        what = ptx_word_text((enum ptx_word)row->words[0]);
    else if (row->types != 0)
        what = ptx_type_name((enum ptx_type)__builtin_ctz(row->types & types));
    require(sel, what, row->version, row->target);
}

/* Refuses shuffles and votes without '.sync', because targets with independent thread scheduling do not have such
 * instructions. */
static void check_gone(struct ptx_sel *sel, const struct ptx_dialect *have)
{
    if ((sel->in.op == PTX_SHFL || sel->in.op == PTX_VOTE) && !ptx_has(&sel->in, PTX_W_SYNC) &&
        have->version >= 64 && have->target >= 70)
        ptx_sel_fail(sel, LW_EINPUT, "without '.sync' the instruction requires .version 6.3 or earlier, or a target "
                                     "below sm_70");
}

/* Refuses features that a target has only with the letter 'a' or 'f' after its number. */
static void check_variant(struct ptx_sel *sel, const struct ptx_dialect *have)
{
    if (sel->in.op == PTX_REDUX && sel->in.type_count != 0 && sel->in.type[0] == PTX_T_F32 &&
        (have->variant == 0 || have->target < 100 || have->target >= 110))
        ptx_sel_fail(sel, LW_EINPUT, "'.f32' needs .target sm_100a, sm_100f, sm_103a or sm_103f, but this module has "
                                     "sm_%u%.1s", have->target, &have->variant);
}

static void check_special(struct ptx_sel *sel, const struct ptx_operand *o)
{
    switch (o->reg) {
    case ISA_SR_GLOBALTIMER: require(sel, "", 31, 30); break;
    case ISA_SR_DYN_SHARED: case ISA_SR_TOTAL_SHARED: require(sel, "", 41, 20); break;
    case ISA_SR_CLOCK64:
        if (o->imm != 0) /* the operand is %clock_hi, the upper word of the clock */
            require(sel, "", 50, 20);
        break;
    default: break;
    }
}

void ptx_verify_version(struct ptx_sel *sel)
{
    const struct ptx_dialect *have = &sel->unit->module->dialects.at[sel->fn->source];
    const struct ptx_insn *in = &sel->in;
    unsigned low = 0, high = LW_COUNT_OF(since);
    uint32_t types = 0;

    if (!have->is_checked || in->newer)
        return;
    check_gone(sel, have);
    check_variant(sel, have);
    if (have->version >= LAST_VERSION && have->target >= LAST_TARGET)
        return;
    for (unsigned i = 0; i < in->type_count; i++)
        types |= UINT32_C(1) << in->type[i];
    if (in->op == PTX_CVT && (types & EIGHTHS) != 0) { /* the other type does not matter */
        types &= EIGHTHS;
        if (have->target < 90)
            require(sel, ptx_type_name((enum ptx_type)__builtin_ctz(types)), 81, 89);
    }
    while (low < high) { /* rows are in the order of ptx_ops.def */
        unsigned middle = (low + high) / 2;

        if (since[middle].op != PTX_OP_NONE && since[middle].op < in->op)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < LW_COUNT_OF(since) && since[low].op == in->op; low++)
        check_row(sel, &since[low], types);
    if ((in->words[0] | in->words[1] | in->words[2]) != 0 || types >= T(F16))
        for (low = LW_COUNT_OF(since); low-- > 0 && since[low].op == PTX_OP_NONE;)
            check_row(sel, &since[low], types);
    if (in->op == PTX_MOV && in->operand_count == 2 && in->operand[1].kind == PTX_O_SPECIAL)
        check_special(sel, &in->operand[1]);
    if ((in->op == PTX_ADD || in->op == PTX_SUB || in->op == PTX_FMA) && in->type_count == 2)
        require(sel, ptx_type_name((enum ptx_type)in->type[1]), 86, 100);
    if ((in->op == PTX_MIN || in->op == PTX_MAX) && in->operand_count == 4)
        require(sel, "", 88, 100);
    if (in->op == PTX_CVT && in->type_count == 2 && (types & BRAIN) != 0 &&
        (types & (T(F32) | T(BF16X2))) == 0)
        require(sel, ptx_type_name(PTX_T_BF16), 78, 90);
    if (in->op == PTX_CVT && in->type_count == 2 && in->type[1] == PTX_T_BF16)
        require(sel, ptx_type_name(PTX_T_BF16), 71, 80);
}
