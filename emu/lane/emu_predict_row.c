/* SPDX-License-Identifier: Apache-2.0 */
/* Executes, for one lane, the instructions that address slices can contain (isa_slice_sources). */
#include "emu/lane/emu_math_priv.h"
#include "emu/lane/emu_predict_priv.h"

/* Float instructions give 0, because address slices do not contain float instructions. */
#define IF_INTEGER_u32(x) x
#define IF_INTEGER_s32(x) x
#define IF_INTEGER_u64(x) x
#define IF_INTEGER_s64(x) x
#define IF_INTEGER_f32(x) 0
#define IF_INTEGER_f64(x) 0
#define IF_INTEGER_f16(x) 0
#define IF_INTEGER_bf16(x) 0
#define ROW(TD, TA, TB, TC, e)                                                                     \
    ({                                                                                             \
        const T_##TA a = (T_##TA)x;                                                                \
        const T_##TB b = (T_##TB)y;                                                                \
        const T_##TC c = (T_##TC)z;                                                                \
        (void)a, (void)b, (void)c;                                                                 \
        BITS_##TD((T_##TD)(e));                                                                    \
    })
#define OF_LANE1(T, e) IF_INTEGER_##T(ROW(T, T, T, T, e))
#define OF_ROW1(T, f) OF_LANE1(T, f(b))
#define OF_LANE(T, e) IF_INTEGER_##T(ROW(T, T, T, T, e))
#define OF_LANE3(T, e) IF_INTEGER_##T(ROW(T, T, T, T, e))
#define OF_LANEX1(TD, TB, e) IF_INTEGER_##TD(IF_INTEGER_##TB(ROW(TD, TB, TB, TB, e)))
#define OF_LANEX(TD, TA, TB, e) IF_INTEGER_##TD(IF_INTEGER_##TA(ROW(TD, TA, TB, TB, e)))
#define OF_LANEX3(TD, TA, TB, TC, e) IF_INTEGER_##TD(IF_INTEGER_##TA(ROW(TD, TA, TB, TC, e)))
#define OF_LANER(T, e) IF_INTEGER_##T(ROW(T, T, T, T, e))
#define OF_LANEW(low, high)                                                                        \
    ({                                                                                             \
        const uint32_t al = (uint32_t)x, ah = (uint32_t)(x >> 32), bl = (uint32_t)y, bh = (uint32_t)(y >> 32); \
        const uint32_t lo = (low);                                                                 \
        (void)al, (void)ah, (void)bl, (void)bh;                                                    \
        (uint64_t)(high) << 32 | lo;                                                               \
    })
#define OF_LANEW3(low, high)                                                                       \
    ({                                                                                             \
        const uint32_t al = (uint32_t)x, bl = (uint32_t)y, cl = (uint32_t)z, ch = (uint32_t)(z >> 32); \
        const uint32_t lo = (low);                                                                 \
        (void)al, (void)bl, (void)ch;                                                              \
        (uint64_t)(high) << 32 | lo;                                                               \
    })
#define OF_COMPARE(T) IF_INTEGER_##T(compare(n, relation(((T_##T)x > (T_##T)y) - ((T_##T)x < (T_##T)y)), r))
#define OF_SELDOM(semantics) OF_##semantics
#define OF_SCALAR1(T, e) OF_LANE1(T, e)
#define OF_SCALAR(T, e) OF_LANE(T, e)
#define OF_SCALAR3(T, e) OF_LANE3(T, e)
#define OF_SCALARX1(TD, TB, e) OF_LANEX1(TD, TB, e)
#define OF_SCALARX(TD, TA, TB, e) OF_LANEX(TD, TA, TB, e)
#define OF_SCALARR(T, e) OF_LANER(T, e)
#define OF_SCALAR_COMPARE(T) OF_COMPARE(T)
#define OF_HALF1(...) 0
#define OF_HALF(...) 0
#define OF_HALF3(...) 0
#define OF_PACKED1(...) 0
#define OF_PACKED(...) 0
#define OF_PACKED3(...) 0
#define OF_LOAD(...) 0
#define OF_STORE(...) 0
#define OF_ATOMIC(...) 0
#define OF_REDUCE(...) 0
#define OF_FETCH(...) 0
#define OF_SCALAR_LOAD(...) 0
#define OF_CALL(f) 0
#define OF_CONTROL(f) 0
#define OF_REFUSED(...) 0

/** Returns the relation of two numbers as one bit (less 1, equal 2, greater 4), from the result -1, 0 or 1 of their
 *  comparison. */
static unsigned relation(int order)
{
    return order < 0 ? 1 : order == 0 ? 2 : 4;
}

/** Computes a predicate result of a comparison: P = cmp op R, or Q = !cmp op R. @is: relation of the operands, as returned by
 *  relation(). */
static bool compare(const struct isa_slice_node *n, unsigned is, bool r)
{
    static const uint8_t wanted[16] = {
        [ISA_CMP_EQ] = 2, [ISA_CMP_NE] = 5, [ISA_CMP_LT] = 1, [ISA_CMP_LE] = 3,
        [ISA_CMP_GT] = 4, [ISA_CMP_GE] = 6, [ISA_CMP_EQU] = 2, [ISA_CMP_NEU] = 5,
        [ISA_CMP_LTU] = 1, [ISA_CMP_LEU] = 3, [ISA_CMP_GTU] = 4, [ISA_CMP_GEU] = 6, [ISA_CMP_NUM] = 7
    };
    const struct isa_insn insn = { .op = n->op, .mod = n->mod };
    bool t = (wanted[isa_mod_get(&insn, ISA_MOD_CMP) & 15] & is) != 0;

    t = n->part == ISA_SLICE_Q ? !t : t;
    switch (isa_mod_get(&insn, ISA_MOD_BOOL)) {
    case ISA_BOOL_AND: return t && r;
    case ISA_BOOL_OR: return t || r;
    case ISA_BOOL_XOR: return t != r;
    default: return t;
    }
}

/** lop3: computes each bit of the result from the bits of @a, @b and @c at the same position, by the truth table @table. */
static uint32_t look_up(uint32_t a, uint32_t b, uint32_t c, unsigned table)
{
    uint32_t r = 0;

    for (unsigned k = 0; k < 8; k++)
        if (table >> k & 1)
            r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return r;
}

static uint64_t convert(const struct isa_insn *insn, uint64_t x)
{
    unsigned type = isa_mod_get(insn, ISA_MOD_STYPE);

    return emu_convert(isa_mod_get(insn, ISA_MOD_DTYPE), type, isa_mod_get(insn, ISA_MOD_CRND),
                       isa_mod_get(insn, ISA_MOD_CSAT), false, type < ISA_ST_U64 ? (uint32_t)x : x);
}

uint64_t emu_predict_row(const struct isa_slice_node *n, uint64_t x, uint64_t y, uint64_t z, bool r)
{
    const struct isa_insn insn = { .op = n->op, .mod = n->mod };
    uint64_t sum;
    bool bit;

    switch (n->op) {
    case ISA_V_CVT: return convert(&insn, y);
    case ISA_V_LOP3_B32: return look_up((uint32_t)x, (uint32_t)y, (uint32_t)z, isa_insn_lut(&insn));
    case ISA_V_PLOP3:
        bit = look_up(x != 0, y != 0, r, n->mod & 255) & 1;
        return n->part == ISA_SLICE_Q ? !bit : bit;
    case ISA_V_SP2P: return r;
    case ISA_V_ADDC_U32: case ISA_V_SUBC_U32:
        sum = (uint64_t)(uint32_t)x + ((uint32_t)y ^ (n->op == ISA_V_SUBC_U32 ? UINT32_MAX : 0)) + r;
        return n->part == ISA_SLICE_D ? (uint32_t)sum : sum >> 32;
    default: break;
    }
    switch (n->op) {
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)           \
    case ISA_##id: return (uint64_t)(OF_##semantics);
#include "isa/insns.def"
    default: return 0;
    }
}
