/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the types of an instruction by position, the modifiers that its selection rule would drop without a check, and
 * combinations of modifiers on memory accesses. The checks follow the PTX ISA's sections on the instructions; where these
 * say nothing, they follow ptxas 13.0. */
#include "ptx/select/ptx_select_priv.h"

/* ---- types ------------------------------------------------------------------------ */

#define T(name) (UINT32_C(1) << PTX_T_##name)
enum {
    WORD = T(U32) | T(S32),
    INT = T(U16) | T(S16) | WORD | T(U64) | T(S64),
    WIDE = WORD | T(U64) | T(S64),
    BITS = T(B16) | T(B32) | T(B64),
    HALF = T(F16) | T(BF16) | T(F16X2) | T(BF16X2),
    FLOAT = T(F32) | T(F64),
    PACKED = T(U16X2) | T(S16X2),
    LANE = INT | BITS | FLOAT, /* LANE: types of values that instructions such as mov and selp copy */
    CELL = LANE | T(B8) | T(U8) | T(S8), /* types of loads and stores */
    NUMBER = INT | T(U8) | T(S8) | FLOAT | HALF,
    FLAG = T(PRED),
    SHORT = T(F16) | T(BF16),
    EIGHTHS = T(E4M3X2) | T(E5M2X2), /* pairs of floats of 8 bits */
    OPTIONAL = (int)(UINT32_C(1) << 31), /* the type may be missing */
};
_Static_assert(PTX_T_COUNT < 31, "types and OPTIONAL are bits of one word");

/* Permitted types of an operation, by position, or 0 if a position has no type. A row applies to instructions with modifier
 * @word, and the first matching row decides. An operation without a row has no types, or its selection rule checks
 * them. */
static const struct signature {
    uint8_t op, word;
    uint32_t type[3];
} signatures[] = {
    { PTX_ABS, PTX_W_NONE, { T(S16) | T(S32) | T(S64) | HALF | FLOAT } },
    { PTX_ACTIVEMASK, PTX_W_NONE, { T(B32) } },
    { PTX_ADD, PTX_W_CC, { WIDE } },
    { PTX_ADD, PTX_W_NONE, { INT | PACKED | HALF | FLOAT | T(F32X2), SHORT | OPTIONAL } },
    { PTX_ADDC, PTX_W_NONE, { WIDE } },
    { PTX_ALLOCA, PTX_W_NONE, { T(U32) | T(U64) } },
    { PTX_AND, PTX_W_NONE, { BITS | FLAG } },
    { PTX_APPLYPRIORITY, PTX_W_NONE, { 0 } },
    { PTX_ATOM, PTX_W_EXCH, { T(B32) | T(B64) } },
    { PTX_ATOM, PTX_W_CAS, { BITS } },
    { PTX_ATOM, PTX_W_AND, { T(B32) | T(B64) } },
    { PTX_ATOM, PTX_W_OR, { T(B32) | T(B64) } },
    { PTX_ATOM, PTX_W_XOR, { T(B32) | T(B64) } },
    { PTX_ATOM, PTX_W_NOFTZ, { HALF } },
    { PTX_ATOM, PTX_W_ADD, { WORD | T(U64) | FLOAT } },
    { PTX_ATOM, PTX_W_INC, { T(U32) } },
    { PTX_ATOM, PTX_W_DEC, { T(U32) } },
    { PTX_ATOM, PTX_W_NONE, { WIDE } },
    { PTX_BAR, PTX_W_POPC, { T(U32) } },
    { PTX_BAR, PTX_W_RED, { FLAG } },
    { PTX_BAR, PTX_W_NONE, { 0 } },
    { PTX_BARRIER, PTX_W_POPC, { T(U32) } },
    { PTX_BARRIER, PTX_W_RED, { FLAG } },
    { PTX_BARRIER, PTX_W_NONE, { 0 } },
    { PTX_BFE, PTX_W_NONE, { WIDE } },
    { PTX_BFI, PTX_W_NONE, { T(B32) | T(B64) } },
    { PTX_BFIND, PTX_W_NONE, { WIDE } },
    { PTX_BMSK, PTX_W_NONE, { T(B32) } },
    { PTX_BRA, PTX_W_NONE, { 0 } },
    { PTX_BREV, PTX_W_NONE, { T(B32) | T(B64) } },
    { PTX_BRKPT, PTX_W_NONE, { 0 } },
    { PTX_CALL, PTX_W_NONE, { 0 } },
    { PTX_CLZ, PTX_W_NONE, { T(B32) | T(B64) } },
    { PTX_CNOT, PTX_W_NONE, { BITS } },
    { PTX_COPYSIGN, PTX_W_NONE, { FLOAT } },
    { PTX_COS, PTX_W_NONE, { T(F32) } },
    { PTX_CP, PTX_W_NONE, { 0 } },
    { PTX_CREATEPOLICY, PTX_W_NONE, { T(B64) } },
    { PTX_CVT, PTX_W_PACK, { INT | T(U8) | T(S8), T(S32), T(B32) | OPTIONAL } }, /* the third type is that of cvt.pack of bytes */
    { PTX_CVT, PTX_W_NONE, { NUMBER | T(TF32) | EIGHTHS, NUMBER | EIGHTHS } },
    { PTX_CVTA, PTX_W_NONE, { T(U32) | T(U64) } },
    { PTX_DISCARD, PTX_W_NONE, { 0 } },
    { PTX_DIV, PTX_W_NONE, { INT | FLOAT } },
    { PTX_DP2A, PTX_W_NONE, { WORD, WORD } },
    { PTX_DP4A, PTX_W_NONE, { WORD, WORD } },
    { PTX_EX2, PTX_W_NONE, { T(F32) | HALF } },
    { PTX_EXIT, PTX_W_NONE, { 0 } },
    { PTX_FENCE, PTX_W_NONE, { 0 } },
    { PTX_FMA, PTX_W_NONE, { HALF | FLOAT | T(F32X2), SHORT | OPTIONAL } },
    { PTX_FNS, PTX_W_NONE, { T(B32) } },
    { PTX_ISSPACEP, PTX_W_NONE, { 0 } },
    { PTX_LD, PTX_W_NONE, { CELL } },
    { PTX_LDU, PTX_W_NONE, { CELL } },
    { PTX_LG2, PTX_W_NONE, { T(F32) } },
    { PTX_LOP3, PTX_W_NONE, { T(B32) } },
    { PTX_MAD, PTX_W_CC, { WIDE } },
    { PTX_MAD, PTX_W_WIDE, { T(U16) | T(S16) | WORD } },
    { PTX_MAD, PTX_W_NONE, { INT | FLOAT } },
    { PTX_MAD24, PTX_W_NONE, { WORD } },
    { PTX_MADC, PTX_W_NONE, { WIDE } },
    { PTX_MATCH, PTX_W_NONE, { T(B32) | T(B64) } },
    { PTX_MAX, PTX_W_NONE, { INT | PACKED | HALF | FLOAT } },
    { PTX_MEMBAR, PTX_W_NONE, { 0 } },
    { PTX_MIN, PTX_W_NONE, { INT | PACKED | HALF | FLOAT } },
    { PTX_MOV, PTX_W_NONE, { LANE | FLAG } },
    { PTX_MUL, PTX_W_WIDE, { T(U16) | T(S16) | WORD } },
    { PTX_MUL, PTX_W_NONE, { INT | HALF | FLOAT | T(F32X2) } },
    { PTX_MUL24, PTX_W_NONE, { WORD } },
    { PTX_NANOSLEEP, PTX_W_NONE, { T(U32) } },
    { PTX_NEG, PTX_W_NONE, { T(S16) | T(S32) | T(S64) | HALF | FLOAT } },
    { PTX_NOT, PTX_W_NONE, { BITS | FLAG } },
    { PTX_OR, PTX_W_NONE, { BITS | FLAG } },
    { PTX_PMEVENT, PTX_W_NONE, { 0 } },
    { PTX_POPC, PTX_W_NONE, { T(B32) | T(B64) } },
    { PTX_PREFETCH, PTX_W_NONE, { 0 } },
    { PTX_PREFETCHU, PTX_W_NONE, { 0 } },
    { PTX_PRMT, PTX_W_NONE, { T(B32) } },
    { PTX_RCP, PTX_W_NONE, { FLOAT } },
    { PTX_RED, PTX_W_AND, { T(B32) | T(B64) } },
    { PTX_RED, PTX_W_OR, { T(B32) | T(B64) } },
    { PTX_RED, PTX_W_XOR, { T(B32) | T(B64) } },
    { PTX_RED, PTX_W_NOFTZ, { HALF } },
    { PTX_RED, PTX_W_ADD, { WORD | T(U64) | FLOAT } },
    { PTX_RED, PTX_W_INC, { T(U32) } },
    { PTX_RED, PTX_W_DEC, { T(U32) } },
    { PTX_RED, PTX_W_NONE, { WIDE } },
    { PTX_REDUX, PTX_W_AND, { T(B32) } },
    { PTX_REDUX, PTX_W_OR, { T(B32) } },
    { PTX_REDUX, PTX_W_XOR, { T(B32) } },
    { PTX_REDUX, PTX_W_NONE, { WORD | T(F32) } },
    { PTX_REM, PTX_W_NONE, { INT } },
    { PTX_RET, PTX_W_NONE, { 0 } },
    { PTX_RSQRT, PTX_W_NONE, { FLOAT } },
    { PTX_SAD, PTX_W_NONE, { INT } },
    { PTX_SELP, PTX_W_NONE, { LANE } },
    { PTX_SET, PTX_W_NONE, { WORD | T(U16) | T(S16) | HALF | T(F32), LANE | HALF } },
    { PTX_SETP, PTX_W_NONE, { LANE | HALF } },
    { PTX_SHF, PTX_W_NONE, { T(B32) } },
    { PTX_SHFL, PTX_W_NONE, { T(B32) } },
    { PTX_SHL, PTX_W_NONE, { BITS } },
    { PTX_SHR, PTX_W_NONE, { BITS | INT } },
    { PTX_SIN, PTX_W_NONE, { T(F32) } },
    { PTX_SLCT, PTX_W_NONE, { LANE, T(S32) | T(F32) } },
    { PTX_SQRT, PTX_W_NONE, { FLOAT } },
    { PTX_ST, PTX_W_NONE, { CELL } },
    { PTX_STACKRESTORE, PTX_W_NONE, { T(U32) | T(U64) } },
    { PTX_STACKSAVE, PTX_W_NONE, { T(U32) | T(U64) } },
    { PTX_SUB, PTX_W_CC, { WIDE } },
    { PTX_SUB, PTX_W_NONE, { INT | PACKED | HALF | FLOAT | T(F32X2), SHORT | OPTIONAL } },
    { PTX_SUBC, PTX_W_NONE, { WIDE } },
    { PTX_SZEXT, PTX_W_NONE, { WORD } },
    { PTX_TANH, PTX_W_NONE, { T(F32) | HALF } },
    { PTX_TESTP, PTX_W_NONE, { FLOAT } },
    { PTX_TRAP, PTX_W_NONE, { 0 } },
    { PTX_VOTE, PTX_W_BALLOT, { T(B32) } },
    { PTX_VOTE, PTX_W_NONE, { FLAG } },
    { PTX_XOR, PTX_W_NONE, { BITS | FLAG } },
    { PTX_VABSDIFF2, PTX_W_NONE, { WORD, WORD, WORD } },
    { PTX_VABSDIFF4, PTX_W_NONE, { WORD, WORD, WORD } },
};

static const struct signature *signature_of(const struct ptx_insn *in)
{
    unsigned low = 0, high = LW_COUNT_OF(signatures);

    while (low < high) { /* rows are in the order of ptx_ops.def */
        unsigned middle = (low + high) / 2;

        if (signatures[middle].op < in->op)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < LW_COUNT_OF(signatures) && signatures[low].op == in->op; low++)
        if (signatures[low].word == PTX_W_NONE ||
            ptx_has(in, (enum ptx_word)signatures[low].word))
            return &signatures[low];
    return NULL;
}

static void check_types(struct ptx_sel *sel)
{
    const struct ptx_insn *in = &sel->in;
    const struct signature *row = signature_of(in);
    unsigned count = 0, needed = 0;

    if (row == NULL)
        return;
    while (count < LW_COUNT_OF(row->type) && row->type[count] != 0)
        needed += (row->type[count++] & (uint32_t)OPTIONAL) == 0;
    if (in->type_count > count)
        ptx_sel_fail(sel, LW_EINPUT, count == 0 ? "'.%s' is not allowed on this instruction" : "the instruction has too many "
                                                                                   "types: remove '.%s'", ptx_type_name((enum ptx_type)in->type[count]));
    if (in->type_count < needed)
        ptx_sel_fail(sel, LW_EINPUT, in->type_count == 0 ? "the type is missing"
                                                         : "the instruction needs %u types", count);
    for (unsigned i = 0; i < in->type_count; i++)
        if ((row->type[i] >> in->type[i] & 1) == 0)
            ptx_sel_fail(sel, LW_EINPUT, "'.%s%s%s' is not allowed on this instruction",
                         row->word != PTX_W_NONE ? ptx_word_text((enum ptx_word)row->word) : "",
                         row->word != PTX_W_NONE ? "." : "",
                         ptx_type_name((enum ptx_type)in->type[i]));
    if (needed < count && in->type_count == count && row->word == PTX_W_NONE &&
        in->type[0] != PTX_T_F32)
        ptx_sel_fail(sel, LW_EINPUT, "the instruction has too many types: remove '.%s'",
                     ptx_type_name((enum ptx_type)in->type[count - 1]));
    /* only untyped bits can be packed and unpacked */
    if (in->op == PTX_MOV && in->type_count != 0 && (BITS >> in->type[0] & 1) == 0 &&
        !ptx_has(in, PTX_W_V2) && !ptx_has(in, PTX_W_V4))
        for (unsigned i = 0; i < in->operand_count; i++) {
            if (in->operand[i].kind != PTX_O_VECTOR || in->operand[i].count < 2)
                continue;
            if (in->operand[i].element[0].kind == PTX_O_SPECIAL)
                ptx_sel_fail(sel, LW_EINPUT, "a special register with three elements needs .v4; to read one element, "
                                             "give its name, as in %%tid.x");
            ptx_sel_fail(sel, LW_EINPUT, "a vector must be moved as .b16, .b32 or .b64, not as .%s",
                         ptx_type_name((enum ptx_type)in->type[0]));
        }
}

/* ---- words ------------------------------------------------------------------------ */

enum { MAX_WORDS = 14 };

/* Modifiers that an instruction permits. At least one of @needed is mandatory if the list is not empty. */
static const struct vocabulary {
    uint8_t op, words[MAX_WORDS], needed[5];
} vocabularies[] = {
    { PTX_APPLYPRIORITY, { PTX_W_GLOBAL, PTX_W_L2_NORMAL }, { PTX_W_L2_NORMAL } },
    { PTX_BAR, { PTX_W_CTA, PTX_W_SYNC, PTX_W_ARRIVE, PTX_W_RED, PTX_W_WARP, PTX_W_POPC, PTX_W_AND,
                 PTX_W_OR }, { PTX_W_SYNC, PTX_W_ARRIVE, PTX_W_RED } },
    { PTX_BARRIER, { PTX_W_CTA, PTX_W_SYNC, PTX_W_ARRIVE, PTX_W_RED, PTX_W_ALIGNED, PTX_W_POPC,
                     PTX_W_AND, PTX_W_OR, PTX_W_CLUSTER },
      { PTX_W_SYNC, PTX_W_ARRIVE, PTX_W_RED } },
    { PTX_CREATEPOLICY, { PTX_W_FRACTIONAL, PTX_W_RANGE, PTX_W_CVT, PTX_W_L2, PTX_W_GLOBAL,
                          PTX_W_L2_NORMAL, PTX_W_L2_UNCHANGED, PTX_W_L2_FIRST, PTX_W_L2_LAST },
      { PTX_W_FRACTIONAL, PTX_W_RANGE, PTX_W_CVT } },
    { PTX_DISCARD, { PTX_W_GLOBAL, PTX_W_L2 }, { PTX_W_L2 } },
    { PTX_LDU, { PTX_W_GLOBAL, PTX_W_V2, PTX_W_V4 }, { 0 } },
    { PTX_MEMBAR, { PTX_W_CTA, PTX_W_GL, PTX_W_SYS, PTX_W_PROXY, PTX_W_ALIAS },
      { PTX_W_CTA, PTX_W_GL, PTX_W_SYS, PTX_W_ALIAS } },
    { PTX_PMEVENT, { PTX_W_MASK }, { 0 } },
    { PTX_PREFETCH, { PTX_W_GLOBAL, PTX_W_LOCAL, PTX_W_L1, PTX_W_L2, PTX_W_L2_LAST,
                      PTX_W_L2_NORMAL },
      { PTX_W_L1, PTX_W_L2, PTX_W_L2_LAST, PTX_W_L2_NORMAL } },
    { PTX_PREFETCHU, { PTX_W_L1 }, { PTX_W_L1 } },
};

bool ptx_is_hint(enum ptx_word word)
{
    return word >= PTX_W_L1_NORMAL && word <= PTX_W_L2_256B;
}

static bool listed(const uint8_t *words, unsigned count, unsigned word)
{
    return word != PTX_W_NONE && memchr(words, (int)word, count) != NULL;
}

static void check_vocabulary(struct ptx_sel *sel, const struct vocabulary *v)
{
    bool found = v->needed[0] == PTX_W_NONE;

    for (unsigned w = 1; w < PTX_W_COUNT; w++) {
        if (!ptx_has(&sel->in, (enum ptx_word)w))
            continue;
        if (!listed(v->words, MAX_WORDS, w))
            ptx_sel_fail(sel, LW_EINPUT, "'.%s' is not allowed on this instruction",
                         ptx_word_text((enum ptx_word)w));
        found |= listed(v->needed, sizeof v->needed, w);
    }
    if (!found)
        ptx_sel_fail(sel, LW_EINPUT, "'.%s' is missing",
                     ptx_word_text((enum ptx_word)v->needed[0]));
}

static unsigned count_of(const struct ptx_insn *in, const uint8_t *words, unsigned count)
{
    unsigned n = 0;

    for (unsigned i = 0; i < count; i++)
        n += words[i] != PTX_W_NONE && ptx_has(in, (enum ptx_word)words[i]);
    return n;
}

static const uint8_t scopes[] = { PTX_W_CTA, PTX_W_CLUSTER, PTX_W_GPU, PTX_W_SYS };
static const uint8_t strong[] = { PTX_W_RELAXED, PTX_W_ACQUIRE, PTX_W_RELEASE, PTX_W_ACQ_REL };
static const uint8_t cached[] = { PTX_W_CA, PTX_W_CG, PTX_W_CS, PTX_W_LU, PTX_W_CV, PTX_W_WB,
                                  PTX_W_WT };

static void check_fence(struct ptx_sel *sel)
{
    static const uint8_t orders[] = { PTX_W_SC, PTX_W_ACQ_REL, PTX_W_ACQUIRE, PTX_W_RELEASE };
    static const uint8_t proxies[] = { PTX_W_ALIAS, PTX_W_ASYNC };
    static const uint8_t of_async[] = { PTX_W_GLOBAL, PTX_W_SHARED_CTA, PTX_W_SHARED_CLUSTER };
    static const uint8_t both[] = { PTX_W_TENSORMAP_GENERIC, PTX_W_ASYNC_GENERIC };
    static const uint8_t directions[] = { PTX_W_ACQUIRE, PTX_W_RELEASE };
    const struct ptx_insn *in = &sel->in;
    unsigned spaces = count_of(in, of_async, sizeof of_async);
    bool restricted = (ptx_has(in, PTX_W_ACQUIRE) && ptx_has(in, PTX_W_RESTRICT_CLUSTER)) ||
                      (ptx_has(in, PTX_W_RELEASE) && ptx_has(in, PTX_W_RESTRICT_CTA));

    if (ptx_has(in, PTX_W_MBARRIER_INIT)) {
        if (count_of(in, orders, sizeof orders) != 1 || !ptx_has(in, PTX_W_RELEASE) ||
            !ptx_has(in, PTX_W_CLUSTER) || ptx_has(in, PTX_W_PROXY) || spaces != 0)
            ptx_sel_fail(sel, LW_EINPUT, "'.mbarrier_init' requires '.release.cluster'");
        return;
    }
    if (count_of(in, both, sizeof both) != 0) { /* the fence orders accesses in one direction between two proxies */
        if (!ptx_has(in, PTX_W_PROXY) || count_of(in, both, sizeof both) != 1 ||
            count_of(in, proxies, sizeof proxies) != 0 ||
            count_of(in, orders, sizeof orders) != 1 ||
            count_of(in, directions, sizeof directions) != 1 ||
            count_of(in, scopes, sizeof scopes) != 1 || ptx_has(in, PTX_W_GL) ||
            count_of(in, of_async + 1, 2) != 0 ||
            (ptx_has(in, PTX_W_ASYNC_GENERIC) &&
             (!restricted || !ptx_has(in, PTX_W_CLUSTER) || spaces != 0)))
            ptx_sel_fail(sel, LW_EINPUT, "expected '.proxy.tensormap::generic.acquire.gpu [a], "
                         "128' or '.proxy.tensormap::generic.release.gpu' (or another scope), or '.proxy.async::generic.acquire."
                         "sync_restrict::shared::cluster.cluster' or '.proxy.async::generic.release.sync_restrict::"
                         "shared::cta.cluster'");
        return;
    }
    if (!ptx_has(in, PTX_W_PROXY)) {
        if (count_of(in, scopes, sizeof scopes) == 0)
            ptx_sel_fail(sel, LW_EINPUT,
                         "the scope is missing: '.cta', '.cluster', '.gpu' or '.sys'");
        if (ptx_has(in, PTX_W_GL) || spaces != 0 || count_of(in, proxies, sizeof proxies) != 0)
            ptx_sel_fail(sel, LW_EINPUT, "'.gl' is allowed only for 'membar', and '.alias', '.async' and a state space "
                         "only after '.proxy'");
        if ((ptx_has(in, PTX_W_RESTRICT_CTA) &&
             !(ptx_has(in, PTX_W_RELEASE) && ptx_has(in, PTX_W_CLUSTER))) ||
            (ptx_has(in, PTX_W_RESTRICT_CLUSTER) &&
             !(ptx_has(in, PTX_W_ACQUIRE) && ptx_has(in, PTX_W_CLUSTER))))
            ptx_sel_fail(sel, LW_EINPUT, "a restricted fence must be '.acquire.sync_restrict::"
                         "shared::cluster.cluster' or '.release.sync_restrict::shared::cta.cluster'");
        return;
    }
    if (count_of(in, proxies, sizeof proxies) != 1 || spaces > ptx_has(in, PTX_W_ASYNC) ||
        ptx_has(in, PTX_W_GL) || count_of(in, orders, sizeof orders) != 0 ||
        count_of(in, scopes, sizeof scopes) != 0)
        ptx_sel_fail(sel, LW_EUNSUPP, "a fence for one proxy must be '.proxy.alias' or '.proxy.async', without an order "
                                      "and a scope; only '.proxy.async' may have a state space");
}

/* Modifiers for order and caching that a memory access permits. */
static const struct access {
    uint8_t op, words[MAX_WORDS];
} accesses[] = {
    { PTX_LD, { PTX_W_WEAK, PTX_W_VOLATILE, PTX_W_RELAXED, PTX_W_ACQUIRE, PTX_W_CA, PTX_W_CG,
                PTX_W_CS, PTX_W_LU, PTX_W_CV } },
    { PTX_ST, { PTX_W_WEAK, PTX_W_VOLATILE, PTX_W_RELAXED, PTX_W_RELEASE, PTX_W_WB, PTX_W_CG,
                PTX_W_CS, PTX_W_WT } },
    { PTX_ATOM, { PTX_W_RELAXED, PTX_W_ACQUIRE, PTX_W_RELEASE, PTX_W_ACQ_REL } },
    { PTX_RED, { PTX_W_RELAXED, PTX_W_RELEASE } },
};

static void check_access(struct ptx_sel *sel, const struct access *a)
{
    static const uint8_t all[] = { PTX_W_WEAK, PTX_W_VOLATILE, PTX_W_RELAXED, PTX_W_ACQUIRE,
                                   PTX_W_RELEASE, PTX_W_ACQ_REL, PTX_W_CA, PTX_W_CG, PTX_W_CS,
                                   PTX_W_LU, PTX_W_CV, PTX_W_WB, PTX_W_WT };
    const struct ptx_insn *in = &sel->in;
    unsigned order = count_of(in, strong, sizeof strong);
    unsigned scope = count_of(in, scopes, sizeof scopes);
    unsigned cache = count_of(in, cached, sizeof cached);
    bool atomic = in->op == PTX_ATOM || in->op == PTX_RED, plain = order == 0 && !atomic;

    for (unsigned i = 0; i < sizeof all; i++)
        if (ptx_has(in, (enum ptx_word)all[i]) && !listed(a->words, MAX_WORDS, all[i]))
            ptx_sel_fail(sel, LW_EINPUT, "'.%s' is not allowed on this instruction",
                         ptx_word_text((enum ptx_word)all[i]));
    if (ptx_has(in, PTX_W_MMIO)) {
        static const uint8_t elsewhere[] = { PTX_W_SHARED, PTX_W_SHARED_CTA, PTX_W_SHARED_CLUSTER,
                                             PTX_W_V2, PTX_W_V4, PTX_W_V8 };

        if (atomic || !ptx_has(in, PTX_W_RELAXED) || !ptx_has(in, PTX_W_SYS))
            ptx_sel_fail(sel, LW_EINPUT, "'.mmio' requires '.relaxed.sys' of ld or st");
        if (count_of(in, elsewhere, sizeof elsewhere) != 0)
            ptx_sel_fail(sel, LW_EINPUT, "'.mmio' is allowed only for one value in global memory");
    }
    if (scope != 0 && plain)
        ptx_sel_fail(sel, LW_EINPUT, "a scope requires '.relaxed', '.acquire' or '.release'");
    if (scope == 0 && order != 0 && !atomic)
        ptx_sel_fail(sel, LW_EINPUT, "the scope is missing: '.cta', '.cluster', '.gpu' or '.sys'");
    if (cache != 0 && (order != 0 || ptx_has(in, PTX_W_VOLATILE)))
        ptx_sel_fail(sel, LW_EINPUT, "an ordered or volatile access cannot have a cache operator");
    if ((order != 0 || ptx_has(in, PTX_W_VOLATILE)) &&
        (ptx_has(in, PTX_W_CONST) || ptx_has(in, PTX_W_PARAM) ||
         (order != 0 && ptx_has(in, PTX_W_LOCAL))))
        ptx_sel_fail(sel, LW_EINPUT, "accesses to this state space have no memory order");
    if (ptx_has(in, PTX_W_NC) && ptx_has(in, PTX_W_WEAK))
        ptx_sel_fail(sel, LW_EINPUT, "'.nc' does not permit '.weak'");
    if (ptx_has(in, PTX_W_NOFTZ) && !ptx_has(in, PTX_W_ADD))
        ptx_sel_fail(sel, LW_EINPUT, "'.noftz' is allowed only for '.add'");
    if (ptx_has(in, PTX_W_NC) && !ptx_has(in, PTX_W_GLOBAL))
        ptx_sel_fail(sel, LW_EINPUT, "'.nc' is allowed only for '.global'");
    if (ptx_has(in, PTX_W_NC) && (ptx_has(in, PTX_W_LU) || ptx_has(in, PTX_W_CV)))
        ptx_sel_fail(sel, LW_EINPUT, "'.nc' permits neither '.lu' nor '.cv'");
}

/* Refuses invalid cache hints. Valid ones have no effect. */
static void check_hints(struct ptx_sel *sel)
{
    static const uint8_t first[] = { PTX_W_L1_NORMAL, PTX_W_L1_UNCHANGED, PTX_W_L1_FIRST,
                                     PTX_W_L1_LAST, PTX_W_L1_NO_ALLOCATE };
    static const uint8_t second[] = { PTX_W_L2_NORMAL, PTX_W_L2_UNCHANGED, PTX_W_L2_FIRST,
                                      PTX_W_L2_LAST };
    static const uint8_t sizes[] = { PTX_W_L2_64B, PTX_W_L2_128B, PTX_W_L2_256B };
    const struct ptx_insn *in = &sel->in;
    bool access = in->op == PTX_LD || in->op == PTX_ST;
    bool far = !ptx_has(in, PTX_W_SHARED) && !ptx_has(in, PTX_W_LOCAL) &&
               !ptx_has(in, PTX_W_CONST) && !ptx_has(in, PTX_W_PARAM);
    unsigned n1 = count_of(in, first, sizeof first), n2 = count_of(in, second, sizeof second);
    unsigned n3 = count_of(in, sizes, sizeof sizes);

    if (n1 + n2 + n3 == 0)
        return;
    if (ptx_has(in, PTX_W_MMIO))
        ptx_sel_fail(sel, LW_EINPUT, "'.mmio' bypasses the caches: remove the cache hint");
    if (n1 > 1 || n3 > 1 || (n2 > 1 && in->op != PTX_CREATEPOLICY) ||
        (n2 != 0 && in->op == PTX_PREFETCH && (ptx_has(in, PTX_W_L1) || ptx_has(in, PTX_W_L2))))
        ptx_sel_fail(sel, LW_EINPUT, "only one cache hint of each kind is permitted");
    if (n1 != 0 && (ptx_has(in, PTX_W_VOLATILE) || count_of(in, cached, sizeof cached) != 0))
        ptx_sel_fail(sel, LW_EINPUT, "an access that is volatile or has a cache operator cannot have a hint for L1");
    if (n2 != 0 && access && !ptx_has(in, PTX_W_V8) &&
        !(ptx_has(in, PTX_W_V4) && ptx_type_bytes((enum ptx_type)in->type[0]) == 8))
        ptx_sel_fail(sel, LW_EINPUT, "a hint for L2 needs an access of 32 bytes");
    if ((n1 != 0 && !(access && far)) ||
        (n2 != 0 && !(access && far) && in->op != PTX_PREFETCH && in->op != PTX_APPLYPRIORITY &&
         in->op != PTX_CREATEPOLICY) ||
        (n3 != 0 && !(in->op == PTX_LD && far) &&
         !(in->op == PTX_CP && (ptx_has(in, PTX_W_CA) || ptx_has(in, PTX_W_CG)))))
        ptx_sel_fail(sel, LW_EINPUT, "cache hints are allowed only for accesses to global memory");
}

void ptx_verify_types(struct ptx_sel *sel)
{
    const struct ptx_insn *in = &sel->in;

    check_types(sel);
    if ((in->words[0] | in->words[1] | in->words[2]) == 0 && in->op == PTX_MOV)
        return;
    for (unsigned i = 0; i < LW_COUNT_OF(vocabularies); i++)
        if (vocabularies[i].op == in->op)
            check_vocabulary(sel, &vocabularies[i]);
    for (unsigned i = 0; i < LW_COUNT_OF(accesses); i++)
        if (accesses[i].op == in->op)
            check_access(sel, &accesses[i]);
    if (in->op == PTX_FENCE || (in->op == PTX_MEMBAR && ptx_has(in, PTX_W_PROXY)))
        check_fence(sel);
    check_hints(sel);
}
