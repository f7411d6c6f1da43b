/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/ref_parts.h"
#include "tests/model/ref_root.h"

#include <stdlib.h>

/* ---- operands -------------------------------------------------------------------- */

static u64 x_value(const struct ref_lane *t, const struct isa_insn *i, int n, bool is_double)
{
    switch (i->xkind) {
    case ISA_X_VECTOR: return ref_v(t, i->x & 255, n);
    case ISA_X_SCALAR: return ref_s(t, i->x & 255, n);
    case ISA_X_CONST: {
        u64 v = 0;
        memcpy(&v, t->bank0 + (i->x & 0xffff), (size_t)n * 4);
        return v;
    }
    default:
        if (n == 1)
            return i->x;
        return is_double ? (u64)i->x << 32 : (u64)(s64)(s32)i->x;
    }
}

static u64 modified(u64 v, int n, unsigned mods, bool is_float)
{
    u64 sign = n == 2 ? 1ull << 63 : 1ull << 31;
    if (is_float) {
        if (mods & 2)
            v &= ~sign;
        if (mods & 1)
            v ^= sign;
    } else {
        if (mods & 2)
            v = ~v;
        if (mods & 1)
            v = 0 - v;
    }
    return n == 2 ? v : (u32)v;
}
static void set_pred(struct ref_lane *t, unsigned p, bool v)
{
    if (p != 7)
        t->p[p] = v;
}

static u64 lookup3(u64 a, u64 b, u64 c, unsigned table, unsigned bits)
{
    u64 r = 0;
    for (unsigned k = 0; k < bits; k++) {
        unsigned index = (unsigned)(a >> k & 1) << 2 | (unsigned)(b >> k & 1) << 1 |
                         (unsigned)(c >> k & 1);
        r |= (u64)(table >> index & 1) << k;
    }
    return r;
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* Return the address of @bytes bytes at @offset of a memory. An access outside the memory gets the address of zeros and sets
 * an error, because a program that is being reduced to a minimal failure may access any address. */
static uint8_t *within(struct ref_lane *t, uint8_t *memory, u64 size, u64 offset, size_t bytes)
{
    if (bytes <= size && offset <= size - bytes)
        return memory + offset;
    t->fault = "an access outside memory";
    memset(t->nowhere, 0, sizeof t->nowhere);
    return t->nowhere;
}
static uint8_t *place(struct ref_lane *t, const struct isa_insn *i, size_t bytes)
{
    s64 disp = (s32)i->x >> 8;
    u64 address, factor = (u64)1 << isa_mod_get(i, ISA_MOD_ASCALE);
    switch (isa_mod_get(i, ISA_MOD_AMODE)) {
    case ISA_AMODE_PAIR: address = ref_v(t, i->a, 2) + (u64)disp; break;
    case ISA_AMODE_32: address = (u32)(ref_v(t, i->a, 1) + (u64)disp); break;
    case ISA_AMODE_SU32:
        address = ref_s(t, i->c, 2) + ref_v(t, i->a, 1) * factor + (u64)disp;
        break;
    default:
        address = ref_s(t, i->c, 2) + (u64)(s64)(s32)ref_v(t, i->a, 1) * factor + (u64)disp;
        break;
    }
    switch (i->op) {
    case ISA_LD_SHARED: case ISA_ST_SHARED: case ISA_ATOM_SHARED: case ISA_RED_SHARED:
        return within(t, t->shared, t->shared_bytes, address, bytes);
    case ISA_LD_LOCAL: case ISA_ST_LOCAL:
        return within(t, t->local, t->local_bytes, address, bytes);
    case ISA_LD_GENERIC: case ISA_ST_GENERIC: case ISA_ATOM_GENERIC: case ISA_RED_GENERIC:
        if (address >= ISA_SHARED_BASE && address < ISA_SHARED_BASE + (1ull << 32))
            return within(t, t->shared, t->shared_bytes, address - ISA_SHARED_BASE, bytes);
        if (address >= ISA_LOCAL_BASE && address < ISA_LOCAL_BASE + (1ull << 32))
            return within(t, t->local, t->local_bytes, address - ISA_LOCAL_BASE, bytes);
        break;
    default:
        break;
    }
    return within(t, t->global, t->global_bytes, address - t->global_base, bytes);
}
static void load(struct ref_lane *t, const struct isa_insn *i)
{
    const uint8_t *m = place(t, i, isa_mem_bytes(i));
    u32 w[4] = {0};
    switch (isa_mod_get(i, ISA_MOD_SIZE)) {
    case ISA_SIZE_U8: ref_put(t, i->d, 1, m[0]); return;
    case ISA_SIZE_S8: ref_put(t, i->d, 1, (u32)(s32)(int8_t)m[0]); return;
    case ISA_SIZE_U16: ref_put(t, i->d, 1, m[0] | m[1] << 8); return;
    case ISA_SIZE_S16: ref_put(t, i->d, 1, (u32)(s32)(int16_t)(m[0] | m[1] << 8)); return;
    default: break;
    }
    unsigned n = isa_mem_regs(i);
    memcpy(w, m, n * 4);
    for (unsigned k = 0; k < n && i->d != 255; k++)
        t->v[i->d + k] = w[k];
}
static void store(struct ref_lane *t, const struct isa_insn *i)
{
    uint8_t *m = place(t, i, isa_mem_bytes(i));
    unsigned r = i->x & 255, n = isa_mem_regs(i);
    u32 w[4];
    for (unsigned k = 0; k < n; k++)
        w[k] = r == 255 ? 0 : t->v[r + k];
    switch (isa_mod_get(i, ISA_MOD_SIZE)) {
    case ISA_SIZE_U8: case ISA_SIZE_S8: memcpy(m, w, 1); return;
    case ISA_SIZE_U16: case ISA_SIZE_S16: memcpy(m, w, 2); return;
    default: memcpy(m, w, n * 4); return;
    }
}
static void atomic(struct ref_lane *t, const struct isa_insn *i, bool result)
{
    unsigned type = isa_mod_get(i, ISA_MOD_ATYPE);
    int n = type == ISA_ATYPE_U64 || type == ISA_ATYPE_S64 || type == ISA_ATYPE_B64 ||
                    type == ISA_ATYPE_F64
                ? 2
                : 1;
    u64 old = 0, x = ref_v(t, i->x & 255, n), c = result ? ref_v(t, i->c, n) : 0, r = 0;
    bool is_signed = type == ISA_ATYPE_S32 || type == ISA_ATYPE_S64;
    int half = type == ISA_ATYPE_F16 || type == ISA_ATYPE_BF16 || type == ISA_ATYPE_B16 ? 1
               : type == ISA_ATYPE_F16X2 || type == ISA_ATYPE_BF16X2 ? 2 : 0;
    size_t bytes = half ? (size_t)half * 2 : (size_t)n * 4;
    uint8_t *m = place(t, i, bytes);
    memcpy(&old, m, bytes);
    if (half == 1)
        x &= 0xffff, c &= 0xffff;
    if (half && type != ISA_ATYPE_B16 && isa_mod_get(i, ISA_MOD_AOP) <= ISA_AOP_MAX) {
        bool bf = type == ISA_ATYPE_BF16 || type == ISA_ATYPE_BF16X2;
        static const char *const names[3] = {"add", "min", "max"};
        for (int k = 0; k < half; k++) {
            struct isa_insn plain;
            u32 out, h[3] = {(u32)(old >> 16 * k) & 0xffff, (u32)(x >> 16 * k) & 0xffff, 0};
            isa_insn_init(&plain, ISA_V_ADD_F16);
            ref_half_lane(&plain, names[isa_mod_get(i, ISA_MOD_AOP)], bf, h, &out);
            r |= (u64)out << 16 * k;
        }
        memcpy(m, &r, bytes);
        if (result)
            ref_put(t, i->d, 1, old);
        return;
    }
    s64 so = n == 1 ? (s32)old : (s64)old, sx = n == 1 ? (s32)x : (s64)x;
    switch (isa_mod_get(i, ISA_MOD_AOP)) {
    case ISA_AOP_ADD:
        r = type == ISA_ATYPE_F32 ? ref_f_bits(ref_f((u32)old) + ref_f((u32)x))
            : type == ISA_ATYPE_F64 ? ref_d_bits(ref_d(old) + ref_d(x)) : old + x;
        break;
    case ISA_AOP_MIN: r = is_signed ? (u64)(so < sx ? so : sx) : old < x ? old : x; break;
    case ISA_AOP_MAX: r = is_signed ? (u64)(so > sx ? so : sx) : old > x ? old : x; break;
    case ISA_AOP_INC: r = old >= x ? 0 : old + 1; break;
    case ISA_AOP_DEC: r = old == 0 || old > x ? x : old - 1; break;
    case ISA_AOP_AND: r = old & x; break;
    case ISA_AOP_OR: r = old | x; break;
    case ISA_AOP_XOR: r = old ^ x; break;
    case ISA_AOP_EXCH: r = x; break;
    default: r = old == x ? c : old; break;
    }
    memcpy(m, &r, bytes);
    if (result)
        ref_put(t, i->d, n, old);
}

/* ---- one instruction ---------------------------------------------------------------------------- */

enum result { UNKNOWN, DONE };

/* Properties of an instruction that are parsed from its mnemonic, cached because parsing is slow. */
struct row {
    bool known, is_half, bf16, packed;
    int a, x, c;
    char half[8];
};

static const struct row *row_of(unsigned op)
{
    static struct row rows[ISA_OP_COUNT];
    struct row *row = &rows[op];
    if (!row->known) {
        const struct isa_op_info *info = isa_op_info((enum isa_op)op);
        row->a = (int)isa_op_words(info, ISA_TOK_VA, ISA_TOK_VA2);
        row->x = (int)isa_op_words(info, ISA_TOK_XB, ISA_TOK_XB2);
        row->c = (int)isa_op_words(info, ISA_TOK_VC, ISA_TOK_VC2);
        row->is_half = ref_half_row(info, row->half, &row->bf16, &row->packed);
        row->known = true;
    }
    return row;
}

static enum result execute(struct ref_lane *t, const struct isa_insn *i, bool probe)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)i->op);
    const struct row *row = row_of(i->op);
    bool fl = info->flags & ISA_F_FLOAT;
    bool dbl = fl || info->unit == ISA_UNIT_DP;
    int na = row->a, nx = row->x, nc = row->c;
    bool mods = !(info->flags & ISA_F_NOSRCMOD);
    u64 a = 0, b = 0, c = 0;
    if (i->variant && nx && nc) { /* X is the third source, and C is the second one */
        int k = nx;
        nx = nc;
        nc = k;
    }
    if (na && !probe)
        a = i->a_scalar ? ref_s(t, i->a, na) : ref_v(t, i->a, na);
    if (nx && !probe)
        b = x_value(t, i, nx, dbl);
    if (nc && !probe)
        c = i->c_scalar ? ref_s(t, i->c, nc) : ref_v(t, i->c, nc);
    if (mods) {
        a = modified(a, na, i->mod & 3, fl);
        b = modified(b, nx, i->mod >> 2 & 3, fl);
        c = modified(c, nc, i->mod >> 4 & 3, fl);
    }
    if (i->variant && nx && nc) {
        u64 k = b;
        b = c;
        c = k;
    }
    bool ftz = ref_mod(i, ISA_MOD_FTZ), sat = ref_mod(i, ISA_MOD_SAT);
    unsigned rnd = ref_mod(i, ISA_MOD_RND);
    float fa = ref_flush(ref_f((u32)a), ftz), fb = ref_flush(ref_f((u32)b), ftz),
          fc = ref_flush(ref_f((u32)c), ftz);
    double da = ref_flush_d(ref_d(a), ftz), db = ref_flush_d(ref_d(b), ftz), dc = ref_flush_d(ref_d(c), ftz);
    u32 ua = (u32)a, ub = (u32)b, uc = (u32)c;
    s32 sa = (s32)ua, sb = (s32)ub;
    s64 la = (s64)a, lb = (s64)b;
    bool r = probe ? false : ref_p(t, i->mod >> 12 & 7, i->mod >> 15 & 1);
    unsigned bpos = ub & 255, blen = ub >> 8 & 255;
#define D1(x) do { if (!probe) ref_put(t, i->d, 1, (u32)(x)); return DONE; } while (0)
#define D2(x) do { if (!probe) ref_put(t, i->d, 2, (u64)(x)); return DONE; } while (0)
#define F1(x) D1(ref_finish((float)(x), ftz, sat))
#define F2(x) D2(ref_finish_d((x), ftz, sat))
    if (row->is_half) {
        const char *half = row->half;
        bool bf = row->bf16, x2 = row->packed;
        u32 out[2] = {0, 0};
        bool truth[2];
        for (int k = 0; k < (x2 ? 2 : 1); k++) {
            u32 in[3] = {ua >> (16 * k) & 0xffff, ub >> (16 * k) & 0xffff, uc >> (16 * k) & 0xffff};
            bool z = ref_mod(i, ISA_MOD_CMPFTZ);
            if (!strcmp(half, "setp"))
                truth[k] = ref_compare_d(isa_mod_get(i, ISA_MOD_CMP), ref_half_in(in[0], bf, z),
                                     ref_half_in(in[1], bf, z));
            else if (!ref_half_lane(i, half, bf, in, &out[k]))
                return UNKNOWN;
        }
        if (!strcmp(half, "setp")) {
            if (!x2)
                truth[1] = !truth[0];
            for (int k = 0; k < 2 && !probe; k++) {
                switch (isa_mod_get(i, ISA_MOD_BOOL)) {
                case ISA_BOOL_AND: truth[k] &= r; break;
                case ISA_BOOL_OR: truth[k] |= r; break;
                case ISA_BOOL_XOR: truth[k] ^= r; break;
                default: break;
                }
                set_pred(t, i->mod >> (k ? 9 : 6) & 7, truth[k]);
            }
            return DONE;
        }
        D1(out[0] | out[1] << 16);
    }
    switch (i->op) {
    case ISA_V_MOV_B32: D1(b);
    case ISA_V_ADD_U32: D1(ua + ub);
    case ISA_V_SUB_U32: D1(ua - ub);
    case ISA_V_MUL_U32: D1(ua * ub);
    case ISA_V_MULHI_U32: D1((u64)ua * ub >> 32);
    case ISA_V_MULHI_S32: D1((u64)((s64)sa * sb) >> 32);
    case ISA_V_MAD_U32: D1(ua * ub + uc);
    case ISA_V_MULWIDE_U32: D2((u64)ua * ub);
    case ISA_V_MULWIDE_S32: D2((s64)sa * sb);
    case ISA_V_MADWIDE_U32: D2((u64)ua * ub + c);
    case ISA_V_LEA_U32: D2(((u64)ua << (ub & 31)) + c);
    case ISA_V_LEA_S32: D2((u64)((s64)((u64)(s64)sa << (ub & 31))) + c);
    case ISA_V_MADWIDE_S32: D2((u64)((s64)sa * sb) + c);
    case ISA_V_MIN_U32: D1(ua < ub ? ua : ub);
    case ISA_V_MAX_U32: D1(ua > ub ? ua : ub);
    case ISA_V_MIN_S32: D1(sa < sb ? sa : sb);
    case ISA_V_MAX_S32: D1(sa > sb ? sa : sb);
    case ISA_V_AND_B32: D1(ua & ub);
    case ISA_V_OR_B32: D1(ua | ub);
    case ISA_V_XOR_B32: D1(ua ^ ub);
    case ISA_V_NOT_B32: D1(~ub);
    case ISA_V_LOP3_B32: D1(lookup3(ua, ub, uc, i->mod >> 16 & 255, 32));
    case ISA_V_SHL_B32: D1(ub >= 32 ? 0 : ua << ub);
    case ISA_V_SHR_U32: D1(ub >= 32 ? 0 : ua >> ub);
    case ISA_V_SHR_S32: D1(sa >> (ub >= 32 ? 31 : ub));
    case ISA_V_ABS_S32: D1(sb < 0 ? 0 - ub : ub);
    case ISA_V_NEG_S32: D1(0 - ub);
    case ISA_V_DIV_U32: D1(ub ? ua / ub : 0xffffffff);
    case ISA_V_DIV_S32: D1(!sb ? -1 : (s64)sa / sb);
    case ISA_V_REM_U32: D1(ub ? ua % ub : ~0u);
    case ISA_V_REM_S32: D1(!sb ? -1 : (s64)sa % sb);
    case ISA_V_BFE_U32: D1(ref_field(a, ub, 32, false));
    case ISA_V_BFE_S32: D1(ref_field(a, ub, 32, true));
    case ISA_V_BFE_U64: D2(ref_field(a, ub, 64, false));
    case ISA_V_BFE_S64: D2(ref_field(a, ub, 64, true));
    case ISA_V_BFI_B32: case ISA_V_BFI_B64: {
        unsigned width = i->op == ISA_V_BFI_B64 ? 64 : 32;
        u64 out = c;
        for (unsigned k = 0; k < blen && bpos + k < width; k++) {
            u64 bit = k < width ? a >> k & 1 : 0;
            out = (out & ~(1ull << (bpos + k))) | bit << (bpos + k);
        }
        if (width == 64)
            D2(out);
        D1(out);
    }
    case ISA_V_POPC_B32: D1(__builtin_popcount(ub));
    case ISA_V_CLZ_B32: D1(ub ? __builtin_clz(ub) : 32);
    case ISA_V_POPC_B64: D1(__builtin_popcountll(b));
    case ISA_V_CLZ_B64: D1(b ? __builtin_clzll(b) : 64);
    case ISA_V_BREV_B32: { u32 x = 0; for (int k = 0; k < 32; k++) x |= (ub >> k & 1) << (31 - k); D1(x); }
    case ISA_V_BREV_B64: { u64 x = 0; for (int k = 0; k < 64; k++) x |= (b >> k & 1) << (63 - k); D2(x); }
    case ISA_V_PRMT_B32: {
        uint8_t bytes[8];
        u32 out = 0, k = ub & 3, mode = isa_mod_get(i, ISA_MOD_PRMT);
        memcpy(bytes, &ua, 4);
        memcpy(bytes + 4, &uc, 4);
        static const uint8_t table[7][4][4] = {
            [ISA_PRMT_F4E] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},
            [ISA_PRMT_B4E] = {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
            [ISA_PRMT_RC8] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
            [ISA_PRMT_ECL] = {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
            [ISA_PRMT_ECR] = {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
            [ISA_PRMT_RC16] = {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}};
        for (int n = 0; n < 4; n++) {
            uint8_t byte;
            if (mode == ISA_PRMT_IDX) {
                byte = bytes[ub >> (4 * n) & 7];
                if (ub >> (4 * n + 3) & 1)
                    byte = byte & 128 ? 255 : 0;
            } else {
                byte = bytes[table[mode][k][n]];
            }
            out |= (u32)byte << (8 * n);
        }
        D1(out);
    }
    case ISA_V_SHFL_B32: D1(uc >= 32 ? ua : uc == 0 ? ub : ub << uc | ua >> (32 - uc));
    case ISA_V_SHFR_B32: D1(uc >= 32 ? ub : uc == 0 ? ua : ua >> uc | ub << (32 - uc));
    case ISA_V_DP4A_U32: { u32 x = uc; for (int k = 0; k < 4; k++) x += (uint8_t)(ua >> 8 * k) * (uint8_t)(ub >> 8 * k); D1(x); }
    case ISA_V_DP4A_S32: { u32 x = uc; for (int k = 0; k < 4; k++) x += (u32)((int8_t)(ua >> 8 * k) * (int8_t)(ub >> 8 * k)); D1(x); }
    case ISA_V_DP4A_US32: { u32 x = uc; for (int k = 0; k < 4; k++) x += (u32)((uint8_t)(ua >> 8 * k) * (int8_t)(ub >> 8 * k)); D1(x); }
    case ISA_V_DP4A_SU32: { u32 x = uc; for (int k = 0; k < 4; k++) x += (u32)((int8_t)(ua >> 8 * k) * (uint8_t)(ub >> 8 * k)); D1(x); }
    case ISA_V_DP2A_U32: D1(uc + (u32)(u64)((ua & 0xffff) * (ub & 255)) + (ua >> 16) * (ub >> 8 & 255));
    case ISA_V_DP2A_S32: D1(uc + (u32)((int16_t)ua * (int8_t)ub) + (u32)((int16_t)(ua >> 16) * (int8_t)(ub >> 8)));
    case ISA_V_DP2A_US32: D1(uc + (u32)((uint16_t)ua * (int8_t)ub) + (u32)((uint16_t)(ua >> 16) * (int8_t)(ub >> 8)));
    case ISA_V_DP2A_SU32: D1(uc + (u32)((int16_t)ua * (uint8_t)ub) + (u32)((int16_t)(ua >> 16) * (uint8_t)(ub >> 8)));
    case ISA_V_BMSK_B32: { u32 x = 0; for (u64 k = ua; k < 32 && k < (u64)ua + ub; k++) x |= 1u << k; D1(x); }
    case ISA_V_SZEXT_U32: { u32 x = 0; for (u32 k = 0; k < 32 && k < ub; k++) x |= ua & 1u << k; D1(x); }
    case ISA_V_SZEXT_S32: {
        u32 x = 0, n = ub < 32 ? ub : 32;
        for (u32 k = 0; k < 32 && n; k++)
            x |= (ua >> (k < n ? k : n - 1) & 1) << k;
        D1(x);
    }
    case ISA_V_FNS_B32: { /* the PTX manual defines this result */
        u32 x = 0xffffffff;
        s64 pos = ub, off = (s32)uc, left = (off < 0 ? -off : off) - 1;
        if (ub > 31)
            D1(x);
        if (off == 0 && ua >> ub & 1)
            x = ub;
        for (; off != 0 && pos >= 0 && pos < 32; pos += off > 0 ? 1 : -1)
            if (ua >> pos & 1 && left-- == 0) {
                x = (u32)pos;
                break;
            }
        D1(x);
    }
    case ISA_V_ADDSAT_S32: { s64 x = (s64)sa + sb; D1(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x); }
    case ISA_V_SUBSAT_S32: { s64 x = (s64)sa - sb; D1(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x); }
    case ISA_V_SAD_U32: D1(uc + (u32)llabs((s64)ua - (s64)ub));
    case ISA_V_SAD_S32: D1(uc + (u32)llabs((s64)sa - sb));
    case ISA_V_RCP64H: case ISA_V_RSQ64H: {
        double x = ref_flush_d(ref_d((u64)ub << 32), true);
        x = ref_flush_d(i->op == ISA_V_RCP64H ? 1 / x : ref_rsq_d(x), true);
        u64 bits;
        memcpy(&bits, &x, 8);
        D1(isnan(x) ? 0x7ff80000 : bits >> 32);
    }
    case ISA_V_ADDC_U32: case ISA_V_SUBC_U32: {
        u64 x = (u64)ua + (i->op == ISA_V_SUBC_U32 ? (u32)~ub : ub) + r;
        if (!probe)
            set_pred(t, i->mod >> 6 & 7, x >> 32);
        D1(x);
    }
    case ISA_V_MOV_B64: D2(b);
    case ISA_V_ADD_U64: D2(a + b);
    case ISA_V_SUB_U64: D2(a - b);
    case ISA_V_MUL_U64: D2(a * b);
    case ISA_V_MULHI_U64: D2((u64)((unsigned __int128)a * b >> 64));
    case ISA_V_MULHI_S64: D2((u64)((__int128)la * lb >> 64));
    case ISA_V_MAD_U64: D2(a * b + c);
    case ISA_V_MIN_U64: D2(a < b ? a : b);
    case ISA_V_MAX_U64: D2(a > b ? a : b);
    case ISA_V_MIN_S64: D2(la < lb ? a : b);
    case ISA_V_MAX_S64: D2(la > lb ? a : b);
    case ISA_V_AND_B64: D2(a & b);
    case ISA_V_OR_B64: D2(a | b);
    case ISA_V_XOR_B64: D2(a ^ b);
    case ISA_V_NOT_B64: D2(~b);
    case ISA_V_SHL_B64: D2(ub >= 64 ? 0 : a << ub);
    case ISA_V_SHR_U64: D2(ub >= 64 ? 0 : a >> ub);
    case ISA_V_SHR_S64: D2(la >> (ub >= 64 ? 63 : ub));
    case ISA_V_ABS_S64: D2(lb < 0 ? 0 - b : b);
    case ISA_V_NEG_S64: D2(0 - b);
    case ISA_V_DIV_U64: D2(b ? a / b : ~0ull);
    case ISA_V_DIV_S64: D2(!b ? ~0ull : (u64)((__int128)la / lb));
    case ISA_V_REM_U64: D2(b ? a % b : ~(u64)0);
    case ISA_V_REM_S64: D2(!b ? ~(u64)0 : (u64)((__int128)la % lb));
    case ISA_V_ADD_F32: F1(ref_directed(fa, fb, '+', 1, rnd));
    case ISA_V_SUB_F32: F1(ref_directed(fa, fb, '-', 1, rnd));
    case ISA_V_MUL_F32: F1(ref_directed(fa, fb, '*', 1, rnd));
    case ISA_V_FMA_F32: F1(ref_directed_fma(fa, fb, fc, 1, rnd));
    case ISA_V_DIV_F32: F1(ref_directed(fa, fb, '/', 1, rnd));
    case ISA_V_RCP_F32: F1(ref_directed(1, fb, '/', 1, rnd));
    case ISA_V_SQRT_F32: F1(ref_directed(fb, 0, 'q', 1, rnd));
    case ISA_V_MIN_F32: F1((float)ref_least(i, fa, fb, false));
    case ISA_V_MAX_F32: F1((float)ref_least(i, fa, fb, true));
    case ISA_V_ABS_F32: D1(ub & 0x7fffffff);
    case ISA_V_NEG_F32: D1(ub ^ 0x80000000);
    case ISA_V_COPYSIGN_F32: D1((ua & 0x80000000) | (ub & 0x7fffffff));
    case ISA_V_RSQ_F32: F1((float)(1.0L / sqrtl((long double)fb)));
    case ISA_V_RSQ_F64: F2(ref_rsq_d(db));
    case ISA_V_ADD_F64: F2(ref_directed(da, db, '+', 2, rnd));
    case ISA_V_SUB_F64: F2(ref_directed(da, db, '-', 2, rnd));
    case ISA_V_MUL_F64: F2(ref_directed(da, db, '*', 2, rnd));
    case ISA_V_FMA_F64: F2(ref_directed_fma(da, db, dc, 2, rnd));
    case ISA_V_DIV_F64: F2(ref_directed(da, db, '/', 2, rnd));
    case ISA_V_RCP_F64: F2(ref_directed(1, db, '/', 2, rnd));
    case ISA_V_SQRT_F64: F2(ref_directed(db, 0, 'q', 2, rnd));
    case ISA_V_MIN_F64: F2(ref_least(i, da, db, false));
    case ISA_V_MAX_F64: F2(ref_least(i, da, db, true));
    case ISA_V_ABS_F64: D2(b & INT64_MAX);
    case ISA_V_NEG_F64: D2(b ^ 1ull << 63);
    case ISA_V_COPYSIGN_F64: D2((a & 1ull << 63) | (b & INT64_MAX));
    case ISA_V_SETP_U32: case ISA_V_SETP_S32: case ISA_V_SETP_F32: case ISA_V_SETP_U64:
    case ISA_V_SETP_S64: case ISA_V_SETP_F64: {
        unsigned cmp = isa_mod_get(i, ISA_MOD_CMP);
        bool z = isa_mod_get(i, ISA_MOD_CMPFTZ), x, y;
        if (i->op == ISA_V_SETP_F32)
            x = ref_compare_d(cmp, ref_flush(ref_f(ua), z), ref_flush(ref_f(ub), z));
        else if (i->op == ISA_V_SETP_F64)
            x = ref_compare_d(cmp, ref_flush_d(da, z), ref_flush_d(db, z));
        else if (i->op == ISA_V_SETP_S32)
            x = ref_compare_i(cmp, sa, sb, true);
        else
            x = ref_compare_i(cmp, la, lb, i->op == ISA_V_SETP_S64);
        y = !x;
        switch (isa_mod_get(i, ISA_MOD_BOOL)) {
        case ISA_BOOL_AND: x = x && r, y = y && r; break;
        case ISA_BOOL_OR: x = x || r, y = y || r; break;
        case ISA_BOOL_XOR: x = x != r, y = y != r; break;
        default: break;
        }
        if (!probe) {
            set_pred(t, i->mod >> 6 & 7, x);
            set_pred(t, i->mod >> 9 & 7, y);
        }
        return DONE;
    }
    case ISA_V_SELP_B32: D1(r ? a : b);
    case ISA_V_SELP_B64: D2(r ? a : b);
    case ISA_V_PLOP3:
        if (!probe) {
            bool x = ref_p(t, i->mod >> 16 & 7, i->mod >> 19 & 1),
                 y = ref_p(t, i->mod >> 20 & 7, i->mod >> 23 & 1);
            bool out = lookup3(x, y, r, i->x & 255, 1);
            set_pred(t, i->mod >> 6 & 7, out);
            set_pred(t, i->mod >> 9 & 7, !out);
        }
        return DONE;
    case ISA_V_P2R: { u32 x = 0; if (!probe) for (int k = 0; k < 7; k++) x |= (u32)t->p[k] << k; D1(x); }
    case ISA_V_R2P:
        for (int k = 0; k < 7 && !probe; k++)
            t->p[k] = ua >> k & 1;
        return DONE;
    case ISA_V_CVT: {
        if (probe)
            return DONE;
        unsigned st = isa_mod_get(i, ISA_MOD_STYPE), dt = isa_mod_get(i, ISA_MOD_DTYPE);
        int n = st == ISA_ST_U64 || st == ISA_ST_S64 || st == ISA_ST_F64 ? 2 : 1;
        int m = dt == ISA_DT_U64 || dt == ISA_DT_S64 || dt == ISA_DT_F64 ? 2 : 1;
        ref_put(t, i->d, m, ref_convert(i, x_value(t, i, n, st == ISA_ST_F64)));
        return DONE;
    }
    case ISA_V_S2R:
        switch (i->x) {
        case ISA_SR_TID_X: D1(t->tid[0]);
        case ISA_SR_TID_Y: D1(t->tid[1]);
        case ISA_SR_TID_Z: D1(t->tid[2]);
        case ISA_SR_NTID_X: D1(t->block[0]);
        case ISA_SR_NTID_Y: D1(t->block[1]);
        case ISA_SR_NCTAID_X: D1(t->grid[0]);
        default: return UNKNOWN;
        }
    case ISA_LD_GLOBAL: case ISA_LD_SHARED: case ISA_LD_LOCAL: case ISA_LD_GENERIC:
        if (!probe)
            load(t, i);
        return DONE;
    case ISA_ST_GLOBAL: case ISA_ST_SHARED: case ISA_ST_LOCAL: case ISA_ST_GENERIC:
        if (!probe)
            store(t, i);
        return DONE;
    case ISA_ATOM_GLOBAL: case ISA_ATOM_SHARED: case ISA_ATOM_GENERIC:
        if (!probe)
            atomic(t, i, true);
        return DONE;
    case ISA_RED_GLOBAL: case ISA_RED_SHARED: case ISA_RED_GENERIC:
        if (!probe)
            atomic(t, i, false);
        return DONE;
    case ISA_NOP: case ISA_DEPBAR_LE: case ISA_WAITCNT: case ISA_BSSY: case ISA_BSYNC: case ISA_BBREAK: case ISA_YIELD: case ISA_FENCE:
    case ISA_NANOSLEEP:
    case ISA_BAR_SYNCH_PARTNER:
        return DONE;
    case ISA_V_SP2P:
    case ISA_V_UNBALLOT: {
        bool x = i->op == ISA_V_SP2P
                     ? !probe && ref_sp(t, i->mod >> 12 & 7, i->mod >> 15 & 1)
                     : !probe && x_value(t, i, 2, false) >> t->lane & 1;
        if (!probe)
            set_pred(t, i->mod >> 6 & 7, x);
        return DONE;
    }
    default:
        return ref_scalar(t, i) ? DONE : UNKNOWN;
    }
}

bool ref_knows(const struct isa_insn *insn)
{
    return execute(NULL, insn, true) == DONE || insn->op == ISA_BRA ||
           insn->op == ISA_S_BRA || insn->op == ISA_EXIT;
}

/* Set *@index to the index of the instruction at the address in a register pair of the lane. Return false if there is none. */
static bool pointed(const struct ref_lane *t, unsigned r, uint32_t count, uint32_t *index)
{
    u64 at = ref_v(t, r, 2) - ISA_CODE_BASE;

    *index = (uint32_t)(at / ISA_WORD_BYTES);
    return at % ISA_WORD_BYTES == 0 && at / ISA_WORD_BYTES < count;
}

enum ref_step ref_step(struct ref_lane *t, const struct isa_insn *code, uint32_t count,
                       const char **why)
{
    uint32_t target;

    t->steps++;
    if (t->pc >= count) {
        *why = "the lane has passed the end of the code";
        return REF_UNKNOWN;
    }
    const struct isa_insn *i = &code[t->pc++];
    const unsigned flags = isa_op_info((enum isa_op)i->op)->flags;
    bool on = i->guard_scalar ? ref_sp(t, i->guard, i->guard_neg)
                              : ref_p(t, i->guard, i->guard_neg);
    /* only lanes in exec execute vector instructions and exit; other control flow and scalar instructions ignore exec */
    if (!(flags & (ISA_F_SCALAR | ISA_F_CONTROL)) || i->op == ISA_EXIT)
        on = on && (u64)t->s[ISA_S_EXEC + t->lane / 32] >> t->lane % 32 & 1;
    if (!on)
        return REF_NEXT;
    target = (uint32_t)((s64)t->pc + (s32)i->x);
    switch (i->op) {
    case ISA_CALLX:
    case ISA_BRX:
    case ISA_RET:
        if (!pointed(t, i->a, count, &target)) {
            *why = "a jump to an address without an instruction";
            return REF_UNKNOWN;
        }
        break;
    default:
        break;
    }
    switch (i->op) {
    case ISA_CALL:
    case ISA_CALLX:
        ref_put(t, i->d, 2, ISA_CODE_BASE + (u64)t->pc * ISA_WORD_BYTES);
        t->pc = target;
        return REF_NEXT;
    case ISA_BRA:
    case ISA_S_BRA:
    case ISA_BRX:
    case ISA_RET:
        t->pc = target;
        return REF_NEXT;
    case ISA_EXIT:
        t->exited = true;
        return REF_EXITED;
    case ISA_V_MOV_TAKE_B:
        ref_put(t, i->d, 2, 0);
        return REF_NEXT;
    case ISA_V_MOV_GIVE_B:
        return REF_NEXT;
    case ISA_BAR_SYNC:
    case ISA_BAR_ARRIVE:
    case ISA_WARPSYNC:
        return REF_ARRIVES;
    default:
        if (execute(t, i, false) == DONE && t->fault == NULL)
            return REF_NEXT;
        *why = t->fault != NULL ? t->fault : isa_op_info((enum isa_op)i->op)->mnemonic;
        return REF_UNKNOWN;
    }
}

bool ref_run(struct ref_lane *t, const struct isa_insn *code, uint32_t count,
             unsigned long limit, const char **why)
{
    while (!t->exited) {
        if (t->steps > limit) {
            *why = "too many steps";
            return false;
        }
        switch (ref_step(t, code, count, why)) {
        case REF_UNKNOWN:
            return false;
        case REF_ARRIVES:
            *why = "a barrier";
            return false;
        default:
            break;
        }
    }
    return true;
}
