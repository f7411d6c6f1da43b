/* SPDX-License-Identifier: Apache-2.0 */
/* The scalar unit of the reference: each lane executes scalar instructions on its own scalar registers. */
#include "tests/model/ref_parts.h"

static u64 x_value(const struct ref_lane *t, const struct isa_insn *i, int n)
{
    u64 v = 0;

    if (i->xkind == ISA_X_SCALAR)
        return ref_s(t, i->x & 255, n);
    if (i->xkind == ISA_X_CONST) {
        memcpy(&v, t->bank0 + (i->x & 0xffff), (size_t)n * 4);
        return v;
    }
    return n == 2 ? (u64)(s64)(s32)i->x : i->x;
}

static int ones(u64 x)
{
    int n = 0;

    for (; x != 0; x >>= 1)
        n += x & 1;
    return n;
}
static int zeros_above(u64 x, int width)
{
    int n = 0;

    while (n < width && !(x >> (width - 1 - n) & 1))
        n++;
    return n;
}
static u32 first_one(u64 x)
{
    for (u32 k = 0; k < 64; k++)
        if (x >> k & 1)
            return k;
    return 0xffffffff;
}
static u32 mirrored(u32 x)
{
    u32 out = 0;

    for (int k = 0; k < 32; k++)
        out = out << 1 | (x >> k & 1);
    return out;
}

static void compare(struct ref_lane *t, const struct isa_insn *i, u64 a, u64 b, bool is_signed)
{
    bool x = ref_compare_i(isa_mod_get(i, ISA_MOD_CMP), (s64)a, (s64)b, is_signed);
    bool r = ref_sp(t, i->mod >> 12 & 7, i->mod >> 15 & 1);
    unsigned p = i->mod >> 6 & 7;

    switch (isa_mod_get(i, ISA_MOD_BOOL)) {
    case ISA_BOOL_AND: x = x & r; break;
    case ISA_BOOL_OR: x = x | r; break;
    case ISA_BOOL_XOR: x = x ^ r; break;
    default: break;
    }
    if (p != 7)
        t->sp[p] = x;
}

bool ref_scalar(struct ref_lane *t, const struct isa_insn *i)
{
    static const struct ref_lane blank;
    struct ref_lane probe;

    if (t == NULL) {
        if (i->op == ISA_S_LD_CONST)
            return true;
        probe = blank;
        t = &probe;
    }

    bool known_x = t->bank0 != NULL || i->xkind != ISA_X_CONST;
    u32 a = (u32)ref_s(t, i->a, 1), b = known_x ? (u32)x_value(t, i, 1) : 0;
    u32 c = (u32)ref_s(t, i->c, 1);
    /* a pair starts at an even register; an odd register may be the last one, which has no successor */
    u64 wa = i->a == 255 || i->a % 2 == 0 ? ref_s(t, i->a, 2) : 0;
    u64 wb = known_x && (i->xkind != ISA_X_SCALAR || i->x % 2 == 0 || i->x == 255)
                 ? x_value(t, i, 2)
                 : 0;
    bool r = ref_sp(t, i->mod >> 12 & 7, i->mod >> 15 & 1);
#define D1(x) do { ref_put_s(t, i->d, 1, (u32)(x)); return true; } while (0)
#define D2(x) do { ref_put_s(t, i->d, 2, (u64)(x)); return true; } while (0)
    switch (i->op) {
    case ISA_S_MOV_B32: D1(b);
    case ISA_S_ADD_U32: D1(a + b);
    case ISA_S_SUB_U32: D1(a - b);
    case ISA_S_MUL_U32: D1(a * b);
    case ISA_S_AND_B32: D1(a & b);
    case ISA_S_OR_B32: D1(a | b);
    case ISA_S_XOR_B32: D1(a ^ b);
    case ISA_S_SHL_B32: D1(b >= 32 ? 0 : a << b);
    case ISA_S_SHR_U32: D1(b >= 32 ? 0 : a >> b);
    case ISA_S_SHR_S32: D1((s64)(s32)a >> (b >= 32 ? 32 : b));
    case ISA_S_MIN_U32: D1(a <= b ? a : b);
    case ISA_S_MAX_U32: D1(a >= b ? a : b);
    case ISA_S_MIN_S32: D1((s32)a <= (s32)b ? a : b);
    case ISA_S_MAX_S32: D1((s32)a >= (s32)b ? a : b);
    case ISA_S_MULHI_U32: D1((u64)a * b >> 32);
    case ISA_S_MULHI_S32: D1((u64)((s64)(s32)a * (s32)b) >> 32);
    case ISA_S_MULWIDE_U32: D2((u64)a * b);
    case ISA_S_MULWIDE_S32: D2((s64)(s32)a * (s32)b);
    case ISA_S_MAD_U32: D1(i->variant ? a * c + b : a * b + c);
    case ISA_S_NOT_B32: D1(b ^ 0xffffffff);
    case ISA_S_ANDN2_B32: D1(a & (b ^ 0xffffffff));
    case ISA_S_ORN2_B32: D1(a | (b ^ 0xffffffff));
    case ISA_S_BFE_U32: D1(ref_field(a, b, 32, false));
    case ISA_S_BFE_S32: D1(ref_field(a, b, 32, true));
    case ISA_S_ABS_S32: D1((s32)b < 0 ? 0u - b : b);
    case ISA_S_POPC_B32: D1(ones(b));
    case ISA_S_CLZ_B32: D1(zeros_above(b, 32));
    case ISA_S_FF1_B32: D1(first_one(b));
    case ISA_S_BREV_B32: D1(mirrored(b));
    case ISA_S_CSELECT_B32: D1(r ? a : b);
    case ISA_S_MOV_B64: D2(wb);
    case ISA_S_ADD_U64: D2(wa + wb);
    case ISA_S_SUB_U64: D2(wa - wb);
    case ISA_S_MUL_U64: D2(wa * wb);
    case ISA_S_AND_B64: D2(wa & wb);
    case ISA_S_OR_B64: D2(wa | wb);
    case ISA_S_XOR_B64: D2(wa ^ wb);
    case ISA_S_ANDN2_B64: D2(wa & ~wb);
    case ISA_S_ORN2_B64: D2(wa | ~wb);
    case ISA_S_NOT_B64: D2(~wb);
    case ISA_S_SHL_B64: D2(b >= 64 ? 0 : wa << b);
    case ISA_S_SHR_U64: D2(b >= 64 ? 0 : wa >> b);
    case ISA_S_SHR_S64: D2((s64)wa >> (b >= 64 ? 63 : b));
    case ISA_S_BFE_U64: D2(ref_field(wa, b, 64, false));
    case ISA_S_BFE_S64: D2(ref_field(wa, b, 64, true));
    case ISA_S_POPC_B64: D1(ones(wb));
    case ISA_S_CLZ_B64: D1(zeros_above(wb, 64));
    case ISA_S_FF1_B64: D1(first_one(wb));
    case ISA_S_CSELECT_B64: D2(r ? wa : wb);
    case ISA_S_SETP_U32: compare(t, i, a, b, false); return true;
    case ISA_S_SETP_S32: compare(t, i, (u64)(s64)(s32)a, (u64)(s64)(s32)b, true); return true;
    case ISA_S_SETP_U64: compare(t, i, wa, wb, false); return true;
    case ISA_S_SETP_S64: compare(t, i, wa, wb, true); return true;
    case ISA_S_SP2R: {
        u32 bits = 0;
        for (int k = 0; k < 7; k++)
            bits += (u32)t->sp[k] << k;
        D1(bits);
    }
    case ISA_S_R2SP:
        for (int k = 0; k < 7; k++)
            t->sp[k] = (a & 1u << k) != 0;
        return true;
    case ISA_S_LD_CONST: {
        u32 words[4], n = isa_mod_get(i, ISA_MOD_SSIZE) == ISA_SSIZE_B32   ? 1
                          : isa_mod_get(i, ISA_MOD_SSIZE) == ISA_SSIZE_B64 ? 2
                                                                           : 4;
        memcpy(words, t->bank0 + ((s32)i->x >> 8) + a, n * 4);
        for (u32 k = 0; k < n && i->d != 255; k++)
            t->s[i->d + k] = words[k];
        return true;
    }
    default:
        return false;
    }
}
