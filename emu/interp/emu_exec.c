/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter: makes handlers from the rows of isa/insns.def. Compiled once per x86-64 level (EMU_LEVEL 1, 3, 4).
 * emu_mem_exec.c, which contains the handlers of memory instructions, is compiled in the same way. emu_level_choose selects one
 * of the compiled versions when a core is created.
 *
 * The semantics of an instruction become one always-inline body, from which several handlers are compiled. Letters in the names
 * of handlers: operand X is a vector register (v) or a uniform operand (u); the handler writes all lanes (f), or only the lanes
 * of the mask row (p; a word 0 or ~0 for each lane), or the instruction has a guard (g), which is expanded to a separate mask. A
 * float instruction has an additional handler `m`, which supports the instruction's modifiers. A rare instruction, marked SELDOM,
 * has only two bodies: one for all lanes without modifiers, and one for all other cases.
 */
#include "emu/interp/emu_control_priv.h"
#include "emu/emu_machine_priv.h"
#include "emu/lane/emu_lane_ops_priv.h"
#include "emu/interp/emu_level_priv.h"
#include "emu/lane/emu_math_priv.h"
#include "emu/lane/emu_mufu_priv.h"
#include "emu/lane/emu_semantics_priv.h"
#include "emu/emu_next_priv.h"
#include "emu/interp/emu_simd_priv.h"

/* ---- vector registers and types -------------------------------------------------------- */

#define PAIR(r0, r1, l) ((uint64_t)(r1)[l] << 32 | (r0)[l])
#define GET_u32(r0, r1, l) ((r0)[l])
#define GET_s32(r0, r1, l) ((int32_t)(r0)[l])
#define GET_f32(r0, r1, l) emu_f32_bits((r0)[l])
#define GET_u64(r0, r1, l) PAIR(r0, r1, l)
#define GET_s64(r0, r1, l) ((int64_t)PAIR(r0, r1, l))
#define GET_f64(r0, r1, l) emu_f64_bits(PAIR(r0, r1, l))

#define GET_f16(r0, r1, l) emu_f32_of_f16((r0)[l])
#define GET_bf16(r0, r1, l) emu_f32_of_bf16((r0)[l])

#define UNIFORM_u32(w, di) emu_uniform32(w, di)
#define UNIFORM_s32(w, di) ((int32_t)emu_uniform32(w, di))
#define UNIFORM_f32(w, di) emu_f32_bits(emu_uniform32(w, di))
#define UNIFORM_u64(w, di) emu_uniform64(w, di)
#define UNIFORM_s64(w, di) ((int64_t)emu_uniform64(w, di))
#define UNIFORM_f64(w, di) emu_f64_bits(emu_uniform64(w, di))
/* never used, because instructions of these types are SELDOM, and have no handlers for a uniform X */
#define UNIFORM_f16(w, di) 0.0f
#define UNIFORM_bf16(w, di) 0.0f

#define MERGE(dst, l, bits, mask)                                                             \
    (dst)[l] = (mask) != NULL ? ((bits) & (mask)[l]) | ((dst)[l] & ~(mask)[l]) : (bits)
#define PUT32(d0, d1, l, v, mask)                                                             \
    do {                                                                                      \
        uint32_t v_ = (v);                                                                    \
        MERGE(d0, l, v_, mask);                                                               \
    } while (0)
#define PUT64(d0, d1, l, v, mask)                                                             \
    do {                                                                                      \
        uint64_t v_ = (v);                                                                    \
        uint32_t lo_ = (uint32_t)v_, hi_ = (uint32_t)(v_ >> 32);                              \
        MERGE(d0, l, lo_, mask);                                                              \
        MERGE(d1, l, hi_, mask);                                                              \
    } while (0)
#define PUT_f16(d0, d1, l, x, m) PUT32(d0, d1, l, BITS_f16(x), m)
#define PUT_bf16(d0, d1, l, x, m) PUT32(d0, d1, l, BITS_bf16(x), m)
#define PUT_u32(d0, d1, l, x, m) PUT32(d0, d1, l, BITS_u32(x), m)
#define PUT_s32(d0, d1, l, x, m) PUT32(d0, d1, l, BITS_s32(x), m)
#define PUT_f32(d0, d1, l, x, m) PUT32(d0, d1, l, BITS_f32(x), m)
#define PUT_u64(d0, d1, l, x, m) PUT64(d0, d1, l, BITS_u64(x), m)
#define PUT_s64(d0, d1, l, x, m) PUT64(d0, d1, l, BITS_s64(x), m)
#define PUT_f64(d0, d1, l, x, m) PUT64(d0, d1, l, BITS_f64(x), m)

/* Functions for the bodies of `m` handlers. ftz_* flushes denormal sources to zero. fin_* flushes and saturates results. */
INLINE float ftz_f32(float x, unsigned sub)
{
    uint32_t b = emu_bits_f32(x);
    return (sub & 1) && (b & 0x7f800000u) == 0 ? emu_f32_bits(b & 0x80000000u) : x;
}
INLINE double ftz_f64(double x, unsigned sub)
{
    uint64_t b = emu_bits_f64(x);
    return (sub & 1) && (b & UINT64_C(0x7ff0000000000000)) == 0
               ? emu_f64_bits(b & UINT64_C(0x8000000000000000)) : x;
}
INLINE float fin_f32(float x, unsigned sub)
{
    x = ftz_f32(x, sub);
    if (sub & 2) /* clamps to [0, 1]; a NaN becomes +0 */
        x = x >= 1.0f ? 1.0f : x > 0.0f ? x : 0.0f;
    return x;
}
INLINE double fin_f64(double x, unsigned sub)
{
    x = ftz_f64(x, sub);
    if (sub & 2)
        x = x >= 1.0 ? 1.0 : x > 0.0 ? x : 0.0;
    return x;
}
#define SRC_u32(x, s) (x)
#define SRC_s32(x, s) (x)
#define SRC_u64(x, s) (x)
#define SRC_s64(x, s) (x)
#define SRC_f32(x, s) ftz_f32(x, s)
#define SRC_f64(x, s) ftz_f64(x, s)
#define FIN_u32(x, s) (x)
#define FIN_s32(x, s) (x)
#define FIN_u64(x, s) (x)
#define FIN_s64(x, s) (x)
#define FIN_f32(x, s) fin_f32(x, s)
#define FIN_f64(x, s) fin_f64(x, s)

/* ---- masks -------------------------------------------------------------------- */

/* [lane of 32] a word with the lane's bit set. At every level, compilers vectorise a look-up in this table. They do not vectorise
 * a shift that computes the bit. */
static const uint32_t LEVEL(lane_bit)[32] __attribute__((aligned(64))) = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

INLINE void expand(uint32_t *out, uint64_t lanes, unsigned n)
{
    uint32_t low = (uint32_t)lanes, high = (uint32_t)(lanes >> 32);
    unsigned first = n < 32 ? n : 32;

    EMU_LANE_LOOP
    for (unsigned l = 0; l < first; l++)
        out[l] = (low & LEVEL(lane_bit)[l]) != 0 ? ~UINT32_C(0) : 0;
    if (n > 32) {
        EMU_LANE_LOOP
        for (unsigned l = 0; l < 32; l++)
            out[32 + l] = (high & LEVEL(lane_bit)[l]) != 0 ? ~UINT32_C(0) : 0;
    }
}
static void LEVEL(expand_mask)(uint32_t *out, uint64_t lanes, unsigned n)
{
    expand(out, lanes, n);
}

static uint64_t LEVEL(bends)(const uint32_t *row, unsigned n)
{
    return emu_row_affine_breaks(row, n);
}
static bool LEVEL(is_splat)(const uint32_t *row, unsigned n, uint64_t lanes, uint32_t value)
{
    return emu_row_affine(row, n, lanes, false, value, false, 0);
}

/* ---- functions of register rows -------------------------------------------------------------- */

/* A function of ROW1 is long, so it is compiled into one loop, which all handlers of the instruction and native code call. */
#define ROW1(T, f)                                                                            \
    static __attribute__((noinline)) void LEVEL(row_##f)(uint32_t *d, const uint32_t *b, unsigned n) \
    {                                                                                         \
        uint32_t *const d0 = __builtin_assume_aligned(d, 32);                                 \
        const uint32_t *const b0 = __builtin_assume_aligned(b, 32);                           \
        if (n % ROW_LANES != 0 || n == 0)                                                     \
            __builtin_unreachable();                                                          \
        EMU_LANE_LOOP                                                                         \
        for (unsigned l = 0; l < n; l++)                                                      \
            d0[l] = BITS_##T(f(GET_##T(b0, b0, l)));                                          \
    }
#define ROW_OF_FUNCTION EMU_IS(DEFINE)
#define ROW_DEFINE(semantics) semantics
#define ROW_NOTHING(semantics)
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)      \
    EMU_PASTE(ROW_, EMU_BY_GROUP(ROW_OF_, EMU_GROUP_##semantics, NOTHING))(semantics)
#include "isa/insns.def"
#undef ROW1

#define ROW1(T, f) LEVEL(row_##f)
#define ENTRY_OF_FUNCTION EMU_IS(ROW)
#define ENTRY_ROW(id, semantics) [ISA_##id] = semantics,
#define ENTRY_NOTHING(id, semantics)
static emu_row_fn *const LEVEL(row_functions)[ISA_OP_COUNT] = {
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)      \
    EMU_PASTE(ENTRY_, EMU_BY_GROUP(ENTRY_OF_, EMU_GROUP_##semantics, NOTHING))(id, semantics)
#include "isa/insns.def"
};
#undef ROW1

/* ---- lane semantics ------------------------------------------------------------- */

/*
 * Parameters of every body:
 *   lanes  lanes in which the instruction has an effect; used only if mask != NULL
 *   mask   [lane] 0 or ~0: only lanes with ~0 are written; NULL: all lanes are written
 *   bu     X is a uniform operand
 *   mod    apply the modifiers in di->reg, which expressions name `sub`
 */
#define BODY_PARAMS                                                                           \
    struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes, const uint32_t *mask,     \
        const bool bu, const bool mod

#define SOURCES                                                                               \
    const unsigned n = lanes_of(w), step = w->stride / 4;                                     \
    const uint32_t *const a0 = row(w, di->a), *const a1 = a0 + step;                          \
    const uint32_t *const b0 = bu ? row(w, w->row_zero) : row(w, di->b), *const b1 = b0 + step; \
    uint32_t *const d0 = row_out(w, di->d), *const d1 = d0 + step;                            \
    const unsigned sub = mod ? di->reg : 0;                                                   \
    (void)a0, (void)a1, (void)b0, (void)b1, (void)d0, (void)d1, (void)sub, (void)lanes

/* Loop over the lanes of a vector register. The loop is unrolled for the common case that all of 32 lanes are written. */
#define EACH_LANE(...)                                                                        \
    if (EMU_LEVEL != 1 && mask == NULL && !mod && __builtin_expect(n == 32, 1)) {                                  \
        EMU_LANE_LOOP_32                                                                      \
        for (unsigned l = 0; l < 32; l++)                                                     \
            __VA_ARGS__                                                                       \
    } else {                                                                                  \
        EMU_LANE_LOOP                                                                         \
        for (unsigned l = 0; l < n; l++)                                                      \
            __VA_ARGS__                                                                       \
    }
#define LANE_BODY(TD, TA, TB, e)                                                              \
    SOURCES;                                                                                  \
    const T_##TB b_ = bu ? UNIFORM_##TB(w, di) : (T_##TB)0;                                   \
    EACH_LANE({                                                                               \
        const T_##TA a = SRC_##TA(GET_##TA(a0, a1, l), sub);                                  \
        const T_##TB b = SRC_##TB(bu ? b_ : GET_##TB(b0, b1, l), sub);                        \
        (void)a;                                                                              \
        PUT_##TD(d0, d1, l, FIN_##TD((T_##TD)(e), sub), mask);                                \
    })
#define LANE_BODY3(TD, TA, TB, TC, e)                                                         \
    SOURCES;                                                                                  \
    const uint32_t *const c0 = row(w, di->c), *const c1 = c0 + step;                          \
    const T_##TB b_ = bu ? UNIFORM_##TB(w, di) : (T_##TB)0;                                   \
    (void)c1;                                                                                 \
    EACH_LANE({                                                                               \
        const T_##TA a = SRC_##TA(GET_##TA(a0, a1, l), sub);                                  \
        const T_##TB b = SRC_##TB(bu ? b_ : GET_##TB(b0, b1, l), sub);                        \
        const T_##TC c = SRC_##TC(GET_##TC(c0, c1, l), sub);                                  \
        PUT_##TD(d0, d1, l, FIN_##TD((T_##TD)(e), sub), mask);                                \
    })
#define LANE1(T, e) LANE_BODY(T, T, T, e)
#define LANE(T, e) LANE_BODY(T, T, T, e)
#define LANE3(T, e) LANE_BODY3(T, T, T, T, e)
#define LANEX1(TD, TB, e) LANE_BODY(TD, TB, TB, e)
#define LANEX(TD, TA, TB, e) LANE_BODY(TD, TA, TB, e)
#define LANEX3(TD, TA, TB, TC, e) LANE_BODY3(TD, TA, TB, TC, e)

/* 64-bit operations computed as two 32-bit halves. If the operation has at most one carry, two 32-bit halves are faster than an
 * operation on the combined words of each lane. */
#define LANEW_BODY(uniform, cl_, ch_, lo_, hi_)                                               \
    SOURCES;                                                                                  \
    const uint64_t b_ = bu ? uniform(w, di) : 0;                                              \
    const uint32_t b_low = (uint32_t)b_, b_high = (uint32_t)(b_ >> 32);                       \
    EACH_LANE({                                                                               \
        const uint32_t al = a0[l], ah = a1[l], cl = cl_, ch = ch_;                            \
        const uint32_t bl = bu ? b_low : b0[l], bh = bu ? b_high : b1[l];                     \
        const uint32_t lo = (lo_), hi = (hi_);                                                \
        (void)al, (void)ah, (void)bl, (void)bh, (void)cl, (void)ch;                           \
        MERGE(d0, l, lo, mask);                                                               \
        MERGE(d1, l, hi, mask);                                                               \
    })
#define LANEW(lo, hi) LANEW_BODY(emu_uniform64, 0, 0, lo, hi)
#define LANEW3(lo, hi)                                                                        \
    const uint32_t *const c0 = row(w, di->c), *const c1 = c0 + w->stride / 4;                 \
    LANEW_BODY(emu_uniform32, c0[l], c1[l], lo, hi)

#include "emu/interp/emu_half_body.h"

/* Body of an expression with a variable r, which is the lane's bit of predicate R. The bits r come from a mask row that is made
 * first. */
#define LANER(T, e)                                                                           \
    SOURCES;                                                                                  \
    const T_##T b_ = bu ? UNIFORM_##T(w, di) : (T_##T)0;                                      \
    uint32_t pick[EMU_MAX_LANES] __attribute__((aligned(64)));                                \
    expand(pick, emu_predicate(w, di->r), n);                                                     \
    EMU_LANE_LOOP                                                                             \
    for (unsigned l = 0; l < n; l++) {                                                        \
        const T_##T a = GET_##T(a0, a1, l);                                                   \
        const T_##T b = bu ? b_ : GET_##T(b0, b1, l);                                         \
        const bool r = pick[l] != 0;                                                          \
        PUT_##T(d0, d1, l, e, mask);                                                          \
    }

/* Body that calls a function of register rows. A register row has more than EMU_MAX_LANES lanes if an instruction is executed for
 * a whole block. */
#define ROW1(T, f)                                                                            \
    SOURCES;                                                                                  \
    uint32_t part[EMU_MAX_LANES] __attribute__((aligned(64)));                                \
    if (bu) {                                                                                 \
        for (unsigned l = 0; l < ROW_LANES; l++)                                              \
            part[l] = emu_uniform32(w, di);                                                   \
        LEVEL(row_##f)(part, part, ROW_LANES);                                                \
        const uint32_t value = part[0];                                                       \
        EMU_LANE_LOOP                                                                         \
        for (unsigned l = 0; l < n; l++)                                                      \
            MERGE(d0, l, value, mask);                                                        \
    } else if (mask == NULL && !mod) {                                                        \
        LEVEL(row_##f)(d0, b0, n);                                                            \
    } else {                                                                                  \
        for (unsigned first = 0; first < n; first += EMU_MAX_LANES) {                         \
            const unsigned count = n - first < EMU_MAX_LANES ? n - first : EMU_MAX_LANES;     \
            if (count % ROW_LANES != 0)                                                       \
                __builtin_unreachable();                                                      \
            EMU_LANE_LOOP                                                                     \
            for (unsigned l = 0; l < count; l++)                                              \
                part[l] = BITS_##T(SRC_##T(GET_##T(b0, b1, first + l), sub));                 \
            LEVEL(row_##f)(part, part, count);                                                \
            EMU_LANE_LOOP                                                                     \
            for (unsigned l = 0; l < count; l++)                                              \
                PUT_##T(d0, d1, first + l, FIN_##T(GET_##T(part, part, l), sub), mask);       \
        }                                                                                     \
    }

/* Comparison. Host vectors compare the lanes if the level supports this for the type and the instruction has no modifiers;
 * otherwise a loop compares them. */
#define COMPARE_LOOP(T, op, e)                                                                \
    if (!mod && EMU_FAST_COMPARE_##T) {                                                       \
        bits = EMU_COMPARE_##T(op);                                                           \
    } else {                                                                                  \
        uint8_t truth[EMU_MAX_LANES] __attribute__((aligned(64)));                            \
        EMU_LANE_LOOP                                                                         \
        for (unsigned l = 0; l < n; l++) {                                                    \
            const T_##T a = SRC_##T(GET_##T(a0, a1, l), sub);                                 \
            const T_##T b = SRC_##T(bu ? b_ : GET_##T(b0, b1, l), sub);                       \
            truth[l] = (e);                                                                   \
        }                                                                                     \
        bits = emu_bits_of_bytes(truth, n);                                                         \
    }                                                                                         \
    break;
#define EMU_COMPARE_u32(op)                                                                   \
    emu_compare_row(EMU_CMP_##op, false, a0, b0, bu, (uint32_t)b_, n)
#define EMU_COMPARE_s32(op)                                                                   \
    emu_compare_row(EMU_CMP_##op, true, a0, b0, bu, (uint32_t)b_, n)
#define EMU_COMPARE_u64(op)                                                                   \
    emu_compare_pair(EMU_CMP_##op, false, a0, a1, b0, b1, bu, (uint64_t)b_, n)
#define EMU_COMPARE_s64(op)                                                                   \
    emu_compare_pair(EMU_CMP_##op, true, a0, a1, b0, b1, bu, (uint64_t)b_, n)
#define EMU_COMPARE_f32(op)                                                                   \
    emu_compare_float(EMU_CMP_##op, a0, b0, bu, emu_bits_f32((float)b_), n)
#define EMU_COMPARE_f64(op) 0
#define EMU_FAST_COMPARE_u32 EMU_HAVE_COMPARE
#define EMU_FAST_COMPARE_s32 EMU_HAVE_COMPARE
#define EMU_FAST_COMPARE_u64 EMU_HAVE_COMPARE
#define EMU_FAST_COMPARE_s64 EMU_HAVE_COMPARE
#define EMU_FAST_COMPARE_f32 EMU_HAVE_COMPARE
#define EMU_FAST_COMPARE_f64 0

/* Each comparison is computed by one of a few loops, whose result is complemented if `flip` is set. For integers, the loops eq,
 * lt and le are enough. For floats, the `u` comparisons are true for unordered operands, so the loops gt, ge, ne and num are
 * necessary, too. */
#define LOOPS_OF_INTEGERS(T)                                                                  \
    switch (di->sub & 15) {                                                                   \
    case ISA_CMP_NE: case ISA_CMP_NEU: flip = ~UINT64_C(0); /* fall through */                \
    case ISA_CMP_EQ: case ISA_CMP_EQU: COMPARE_LOOP(T, EQ, a == b)                            \
    case ISA_CMP_GE: case ISA_CMP_GEU: flip = ~UINT64_C(0); /* fall through */                \
    case ISA_CMP_LT: case ISA_CMP_LTU: COMPARE_LOOP(T, LT, a < b)                             \
    case ISA_CMP_GT: case ISA_CMP_GTU: flip = ~UINT64_C(0); /* fall through */                \
    case ISA_CMP_LE: case ISA_CMP_LEU: COMPARE_LOOP(T, LE, a <= b)                            \
    default: /* num, nan */                                                                   \
        bits = (di->sub & 15) == ISA_CMP_NUM ? ~UINT64_C(0) : 0;                              \
        break;                                                                                \
    }
#define LOOPS_OF_FLOATS(T)                                                                    \
    switch (di->sub & 15) {                                                                   \
    case ISA_CMP_NEU: flip = ~UINT64_C(0); /* fall through */                                 \
    case ISA_CMP_EQ: COMPARE_LOOP(T, EQ, a == b)                                              \
    case ISA_CMP_EQU: flip = ~UINT64_C(0); /* fall through */                                 \
    case ISA_CMP_NE: COMPARE_LOOP(T, NE, (a < b) | (a > b))                                   \
    case ISA_CMP_GEU: flip = ~UINT64_C(0); /* fall through */                                 \
    case ISA_CMP_LT: COMPARE_LOOP(T, LT, a < b)                                               \
    case ISA_CMP_GTU: flip = ~UINT64_C(0); /* fall through */                                 \
    case ISA_CMP_LE: COMPARE_LOOP(T, LE, a <= b)                                              \
    case ISA_CMP_LEU: flip = ~UINT64_C(0); /* fall through */                                 \
    case ISA_CMP_GT: COMPARE_LOOP(T, GT, a > b)                                               \
    case ISA_CMP_LTU: flip = ~UINT64_C(0); /* fall through */                                 \
    case ISA_CMP_GE: COMPARE_LOOP(T, GE, a >= b)                                              \
    case ISA_CMP_NAN: flip = ~UINT64_C(0); /* fall through */                                 \
    default: COMPARE_LOOP(T, NUM, (a == a) & (b == b))                                        \
    }
#define LOOPS_u32(T) LOOPS_OF_INTEGERS(T)
#define LOOPS_s32(T) LOOPS_OF_INTEGERS(T)
#define LOOPS_u64(T) LOOPS_OF_INTEGERS(T)
#define LOOPS_s64(T) LOOPS_OF_INTEGERS(T)
#define LOOPS_f32(T) LOOPS_OF_FLOATS(T)
#define LOOPS_f64(T) LOOPS_OF_FLOATS(T)
#define COMPARE(T)                                                                            \
    SOURCES;                                                                                  \
    const T_##T b_ = bu ? UNIFORM_##T(w, di) : (T_##T)0;                                      \
    uint64_t flip = 0, bits;                                                                  \
    LOOPS_##T(T)                                                                              \
    emu_put_compare(w, di, mask == NULL ? w->e : lanes, bits ^ flip, ~(bits ^ flip))

/* Handlers for instructions that a function in emu_lane_ops.c executes, instead of a loop over one expression. */
#define CALL(f) f(w, di, lanes)
#define SELDOM(semantics) semantics

/* ---- handlers ------------------------------------------------------------------------ */

#define BODY(id, ...)                                                                         \
    INLINE void LEVEL(body_##id)(BODY_PARAMS)                                                 \
    {                                                                                         \
        (void)bu, (void)mod, (void)mask, (void)lanes;                                         \
        __VA_ARGS__;                                                                          \
    }

#define HANDLER(name, ...)                                                                    \
    static void LEVEL(name)(struct emu_warp *w, const struct emu_dinsn *di)                   \
    {                                                                                         \
        __VA_ARGS__;                                                                          \
    }
/* Defines a handler twice, for the full and for the masked chain. */
#define TWO(name, ...)                                                                        \
    HANDLER(name##f, __VA_ARGS__; EMU_NEXT_FULL(w, di))                                       \
    HANDLER(name##p, __VA_ARGS__; EMU_NEXT_PART(w, di))

/* Handler that writes all lanes. The handler itself executes the common case of 32 lanes, for which it needs no stack frame; a
 * separate function handles other widths. */
#if EMU_LEVEL == 1
#define WHOLE(id, name, bu)                                                                   \
    HANDLER(h_##id##_##name, LEVEL(body_##id)(w, di, 0, NULL, bu, false); EMU_NEXT_FULL(w, di))
#else
#define WHOLE(id, name, bu)                                                                   \
    static __attribute__((noinline)) void LEVEL(h_##id##_##name##_other)(                     \
        struct emu_warp * w, const struct emu_dinsn *di)                                      \
    {                                                                                         \
        if (w->n == 32)                                                                       \
            __builtin_unreachable();                                                          \
        LEVEL(body_##id)(w, di, 0, NULL, bu, false);                                          \
        EMU_NEXT_FULL(w, di);                                                                 \
    }                                                                                         \
    static void LEVEL(h_##id##_##name)(struct emu_warp *w, const struct emu_dinsn *di)        \
    {                                                                                         \
        if (__builtin_expect(w->n != 32, 0))                                                  \
            EMU_TAIL LEVEL(h_##id##_##name##_other)(w, di);                                   \
        LEVEL(body_##id)(w, di, 0, NULL, bu, false);                                          \
        EMU_NEXT_FULL(w, di);                                                                 \
    }
#endif
#define PART(id, name, bu)                                                                    \
    HANDLER(h_##id##_##name, LEVEL(body_##id)(w, di, w->e, w->mask_row, bu, false); EMU_NEXT_PART(w, di))
#define GUARDED(id, bu)                                                                       \
    uint64_t lanes = w->e & emu_guard(w, di);                                                 \
    if (lanes != 0) {                                                                         \
        uint32_t mask[EMU_MAX_LANES] __attribute__((aligned(64)));                            \
        expand(mask, lanes, lanes_of(w));                                                     \
        LEVEL(body_##id)(w, di, lanes, mask, bu, false);                                      \
    }
#define PLAIN(id)                                                                             \
    WHOLE(id, vf, false)                                                                      \
    PART(id, vp, false)                                                                       \
    WHOLE(id, uf, true)                                                                       \
    PART(id, up, true)                                                                        \
    TWO(h_##id##_vg, GUARDED(id, false))                                                      \
    TWO(h_##id##_ug, GUARDED(id, true))

/* Handler of an instruction with modifiers or a rounding mode. Each such instruction has one body without specialisations, which
 * tests a guard; the guard is pt if the instruction has none. The body is a function of its own, so that the compiler cannot move
 * parts of it across the changes of the rounding mode. */
#define MODDED(id)                                                                            \
    static __attribute__((noinline)) void LEVEL(m_##id)(struct emu_warp *w,                   \
                                                        const struct emu_dinsn *di)           \
    {                                                                                         \
        uint64_t lanes = w->e & emu_guard(w, di);                                             \
        uint32_t mask[EMU_MAX_LANES] __attribute__((aligned(64)));                            \
        const unsigned mode = di->reg >> 2 & 3;                                               \
        unsigned old = 0;                                                                     \
        if (lanes == 0)                                                                       \
            return;                                                                           \
        expand(mask, lanes, lanes_of(w));                                                     \
        if (mode != 0)                                                                        \
            old = emu_rounding_begin(mode);                                                       \
        LEVEL(body_##id)(w, di, lanes, mask, false, true);                                    \
        if (mode != 0)                                                                        \
            emu_rounding_end(old);                                                                \
    }                                                                                         \
    TWO(h_##id##_m, LEVEL(m_##id)(w, di))
#define NOT_MODDED(id)

/* Formats whose modifiers need `m` handlers. */
#define FMT_IS_ALU(has, not, id) not(id)
#define FMT_IS_FLT(has, not, id) has(id)
#define FMT_IS_FUN(has, not, id) has(id)
#define FMT_IS_MNM(has, not, id) has(id)
#define FMT_IS_CMP(has, not, id) has(id)
#define FMT_IS_LUT(has, not, id) not(id)
#define FMT_IS_PRM(has, not, id) not(id)

#define CALLED_ROW(id)                                                                        \
    TWO(h_##id##_c, LEVEL(body_##id)(w, di, w->e & emu_guard(w, di), w->mask_row, false, false))

/* Kind of the handlers of each semantics group (emu_semantics_priv.h). Other files define the handlers of all other semantics
 * groups. */
#define KIND_LANES EMU_IS(HOT)
#define KIND_FUNCTION EMU_IS(HOT)
#define KIND_LANER EMU_IS(HOT)
#define KIND_COMPARE EMU_IS(HOT)
#define KIND_SELDOM_LANES EMU_IS(FEW)
#define KIND_SELDOM_HALVES EMU_IS(FEW)
#define KIND_SELDOM_PACKED EMU_IS(FEW)
#define KIND_CALL EMU_IS(CALLED)
#define OF_KIND(prefix, group) EMU_PASTE(prefix, EMU_BY_GROUP(KIND_, group, NONE))

#define HANDLERS_HOT(id, format, ...) BODY(id, __VA_ARGS__) PLAIN(id) FMT_IS_##format(MODDED, NOT_MODDED, id)
#define HANDLERS_FEW(id, format, ...) BODY(id, __VA_ARGS__) WHOLE(id, vf, false) MODDED(id)
#define HANDLERS_CALLED(id, format, ...) BODY(id, __VA_ARGS__) CALLED_ROW(id)
#define HANDLERS_NONE(id, format, ...)
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)      \
    OF_KIND(HANDLERS_, EMU_GROUP_##semantics)(id, format, semantics)
#include "isa/insns.def"

struct LEVEL(row_handlers) {
    emu_handler_fn *plain[2][2][2]; /* [uniform X][guarded][partial] */
    emu_handler_fn *modded[2];      /* [partial] */
    bool rows_only;                 /* there are no handlers for a uniform X */
};
#define MODDED_PAIR(id) {LEVEL(h_##id##_mf), LEVEL(h_##id##_mp)}
#define NO_PAIR(id) {NULL, NULL}
#define CALLED_PAIR(id) {LEVEL(h_##id##_cf), LEVEL(h_##id##_cp)}
#define ROW_HOT(id, format)                                                              \
    {{{{LEVEL(h_##id##_vf), LEVEL(h_##id##_vp)}, {LEVEL(h_##id##_vgf), LEVEL(h_##id##_vgp)}}, \
      {{LEVEL(h_##id##_uf), LEVEL(h_##id##_up)}, {LEVEL(h_##id##_ugf), LEVEL(h_##id##_ugp)}}}, \
     FMT_IS_##format(MODDED_PAIR, NO_PAIR, id),                                               \
     false}
#define ROW_FEW(id, format)                                                              \
    {{{{LEVEL(h_##id##_vf), LEVEL(h_##id##_mp)}, MODDED_PAIR(id)}}, MODDED_PAIR(id), true}
#define ROW_CALLED(id, format)                                                           \
    {{{CALLED_PAIR(id), CALLED_PAIR(id)}, {CALLED_PAIR(id), CALLED_PAIR(id)}}, {NULL, NULL},  \
     false}
#define ROW_NONE(id, format) {.rows_only = false}
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)      \
    [ISA_##id] = OF_KIND(ROW_, EMU_GROUP_##semantics)(id, format),
static const struct LEVEL(row_handlers) LEVEL(rows)[ISA_OP_COUNT] = {
#include "isa/insns.def"
};
static bool LEVEL(rows_only)(unsigned op)
{
    return LEVEL(rows)[op].rows_only;
}

/* ---- conversions ------------------------------------------------------------------------- */

#include "emu/interp/emu_cvt_body.h"

static bool LEVEL(converts_rows)(const struct emu_dinsn *di)
{
    struct emu_handlers h;

    return LEVEL(cvt_handlers)(di, &h);
}

/* ---- preludes ------------------------------------------------------------------------------ */

/** Copies the sources of an instruction to scratch registers, and applies source modifiers. The negation of a float changes one
 *  bit; the negation of a 64-bit integer carries from the low to the high word. */
static __attribute__((noinline)) void LEVEL(prepare)(struct emu_warp *w,
                                                     const struct emu_prelude *pre)
{
    const unsigned n = lanes_of(w), step = w->stride / 4;

    for (unsigned i = 0; i < 3; i++) {
        const bool wide = pre->source[i].words == 2;
        const unsigned mods = pre->source[i].mods;
        uint32_t *const d0 = row_out(w, pre->source[i].to), *const d1 = d0 + step;
        const uint32_t *a0, *a1;
        if (pre->source[i].kind == EMU_PRE_NONE)
            continue;
        if (pre->source[i].kind == EMU_PRE_UNIFORM) {
            const char *from = w->ubase[pre->source[i].ukind] + pre->source[i].from;
            emu_row_splat(d0, n, 0, true, lw_get32(from));
            if (wide)
                emu_row_splat(d1, n, 0, true, lw_get32(from + 4));
            if (mods == 0)
                continue;
            a0 = d0;
        } else {
            a0 = row(w, pre->source[i].from);
        }
        a1 = a0 + step;
        if (pre->is_float) { /* abs is applied before neg */
            const uint32_t keep = mods & 2 ? 0x7fffffffu : ~0u, turn = mods & 1 ? 1u << 31 : 0;
            const uint32_t *const sign = wide ? a1 : a0;
            uint32_t *const out = wide ? d1 : d0;
            if (wide) {
                EMU_LANE_LOOP
                for (unsigned l = 0; l < n; l++)
                    d0[l] = a0[l];
            }
            EMU_LANE_LOOP
            for (unsigned l = 0; l < n; l++)
                out[l] = (sign[l] & keep) ^ turn;
        } else { /* the complement is applied before the negation, which is a complement plus 1, so that two complements cancel */
            const uint32_t turn = (mods & 2 ? ~0u : 0) ^ (mods & 1 ? ~0u : 0);
            const uint32_t one = mods & 1;
            if (wide) {
                EMU_LANE_LOOP
                for (unsigned l = 0; l < n; l++) {
                    uint32_t low = (a0[l] ^ turn) + one;
                    d0[l] = low;
                    d1[l] = (a1[l] ^ turn) + (low < one);
                }
            } else {
                EMU_LANE_LOOP
                for (unsigned l = 0; l < n; l++)
                    d0[l] = (a0[l] ^ turn) + one;
            }
        }
    }
}

/* ---- preludes as handlers, and selection of handlers -------------------------------------- */

#define PRELUDE(chain)                                                                        \
    HANDLER(prelude_##chain, const struct emu_prelude *pre = &w->code->prelude[di->aux];      \
            LEVEL(prepare)(w, pre); EMU_TAIL pre->base.chain(w, di))
PRELUDE(full)
PRELUDE(part)

/* ---- s2r of all lanes --------------------------------------------------------------------- */

/** Writes thread index @axis of all lanes to @d, if it is the same in all lanes or grows by 1 from lane to lane. Otherwise
 *  returns false. */
INLINE bool tid_ramp(const struct emu_warp *w, unsigned axis, uint32_t *d, unsigned n)
{
    const uint32_t *size = w->block->grid->launch.block;
    const uint32_t linear = w->index * w->width, x = linear % size[0];
    const uint32_t rows = linear / size[0];

    if (x + n > size[0] && size[1] * size[2] != 1)
        return false;
    if (axis != 0) {
        emu_row_splat(d, n, 0, true, axis == 1 ? rows % size[1] : rows / size[1]);
        return true;
    }
    EMU_LANE_LOOP
    for (unsigned l = 0; l < n; l++)
        d[l] = x + l;
    return true;
}

static __attribute__((noinline)) void LEVEL(s2r_row)(struct emu_warp *w, const struct emu_dinsn *di)
{
    const enum isa_special sr = (enum isa_special)di->reg;
    const unsigned n = lanes_of(w);
    uint32_t *const d = row_out(w, di->d);
    uint64_t value;

    if (sr > ISA_SR_TID_Z || !tid_ramp(w, sr - ISA_SR_TID_X, d, n)) {
        if (emu_special_uniform(w, sr, &value))
            emu_row_splat(d, n, 0, true, (uint32_t)value);
        else
            emu_special_rows(w, sr, d, NULL);
    }
}
/* Executes s2r for any special register. This function is not part of the handler, because it needs a stack frame, and a handler
 * that jumps to the next handler must not have one. */
static __attribute__((noinline)) void LEVEL(s2r_any)(struct emu_warp *w, const struct emu_dinsn *di)
{
    LEVEL(s2r_row)(w, di);
    EMU_NEXT_FULL(w, di);
}
static void LEVEL(s2r_f)(struct emu_warp *w, const struct emu_dinsn *di)
{
    const uint32_t *size = &w->block->special[ISA_SR_NTID_X - ISA_SR_NTID_X];

    if (di->reg == ISA_SR_TID_X && size[1] == 1 && size[2] == 1 && w->n == 32) {
        const uint32_t first = w->index * w->width;
        uint32_t *const d = row_out(w, di->d);
        EMU_LANE_LOOP_32
        for (unsigned l = 0; l < 32; l++)
            d[l] = first + l;
        EMU_NEXT_FULL(w, di);
    }
    EMU_TAIL LEVEL(s2r_any)(w, di);
}
/** Returns true for a special register whose value comes neither from the engine nor from the schedule log. */
static bool LEVEL(s2r_is_plain)(enum isa_special sr)
{
    const struct isa_special_info *info = isa_special_info(sr);

    return info->order == ISA_ORDER_NONE && sr != ISA_SR_NSMID &&
           (info->uniform || sr <= ISA_SR_TID_Z);
}

static void LEVEL(handlers)(const struct isa_insn *insn, const struct emu_dinsn *di,
                            struct emu_handlers *out, const char **why)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    const bool is_move = di->ukind == EMU_U_SPECIAL;
    const struct LEVEL(row_handlers) *rows = &LEVEL(rows)[is_move ? ISA_V_MOV_B32 : insn->op];

    out->full = out->part = NULL;
    if (info->flags & (ISA_F_CONTROL | ISA_F_SCALAR)) {
        emu_control_handlers(insn, di, out);
    } else if (info->flags & ISA_F_MEMORY) {
        LEVEL(memory_handlers)(insn, di, out, why);
    } else if (info->format == ISA_FMT_CVT && LEVEL(cvt_handlers)(di, out)) {
        return;
    } else if (rows->modded[0] != NULL && di->flags & EMU_D_FLOAT_MODE) {
        if (!EMU_HAVE_ROUNDING && (di->reg >> 2 & 3) != 0) {
            *why = "rounding modes other than .rn need an x86-64 or AArch64 processor";
            return;
        }
        out->full = rows->modded[0];
        out->part = rows->modded[1];
    } else {
        bool guarded = (di->guard & 7) != ISA_PT || di->guard & 8;

        out->full = rows->plain[di->ukind != EMU_U_ROW][guarded][0];
        out->part = rows->plain[di->ukind != EMU_U_ROW][guarded][1];
        if (!guarded && !is_move && di->op == ISA_V_S2R && LEVEL(s2r_is_plain)((enum isa_special)di->reg))
            out->full = LEVEL(s2r_f);
    }
}

const struct emu_level LEVEL(emu_level) = {
    .name = EMU_SIMD_NAME,
    .level = EMU_LEVEL,
    .row_lanes = ROW_LANES,
    .prelude = {LEVEL(prelude_full), LEVEL(prelude_part)},
    .hook = {LEVEL(hooked_full), LEVEL(hooked_part)},
    .handlers = LEVEL(handlers),
    .expand_mask = LEVEL(expand_mask),
#if defined EMU_HAVE_16
    .vector_lanes = 16,
#elif defined __AVX2__
    .vector_lanes = 8,
#else
    .vector_lanes = 4,
#endif
    .make_row = LEVEL(make_row),
    .tagged_memory = LEVEL(tagged_memory),
    .bends = LEVEL(bends),
    .is_splat = LEVEL(is_splat),
    .rows_only = LEVEL(rows_only),
    .converts_rows = LEVEL(converts_rows),
    .row_functions = LEVEL(row_functions),
};
