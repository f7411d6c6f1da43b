/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of the scalar unit, made from the SCALAR semantics in the instruction table; included only by emu_control.c. A handler
 * executes its instruction once for the warp, and requires that all live lanes are in the running split.
 */
#ifndef EMU_SCALAR_BODY_H
#define EMU_SCALAR_BODY_H

/** Reads a scalar register or pair. @known: the decoder has checked that the register or pair exists. */
static inline uint64_t scalar_read(const struct emu_warp *w, unsigned reg, unsigned words, bool known)
{
    uint64_t v;

    if (known)
        return words == 2 ? lw_get64(&w->s[reg]) : w->s[reg];
    if (reg > 127)
        return 0;
    v = w->s[reg];
    if (words == 2)
        v |= (uint64_t)(reg < 127 ? w->s[reg + 1] : 0) << 32;
    return v;
}
static inline void scalar_write(struct emu_warp *w, unsigned reg, unsigned words, uint64_t v, bool known)
{
    if (!known && reg > 127)
        return;
    w->s[reg] = (uint32_t)v;
    if (words == 2 && (known || reg < 127))
        w->s[reg + 1] = (uint32_t)(v >> 32);
}

#define WORDS(T) ((unsigned)sizeof(T_##T) / 4)
#define SCALAR_X(T) (WORDS(T) == 2 ? (T_##T)emu_uniform64(w, di) : (T_##T)emu_uniform32(w, di))

/** Returns true if a scalar instruction needs no further check: all live lanes are in the running split, and the instruction has
 *  no guard and does not write exec. */
static inline bool scalar_is_plain(const struct emu_warp *w, const struct emu_dinsn *di,
                                   unsigned words, bool predicate)
{
    return w->m == w->live && (di->guard & 15) == ISA_PT &&
           (predicate || di->reg + words <= ISA_S_EXEC);
}

/** Checks a scalar instruction for which scalar_is_plain() is false. Returns false if a fault was raised. */
static __attribute__((noinline)) bool scalar_begin(struct emu_warp *w, const struct emu_dinsn *di,
                                     unsigned words, bool predicate)
{
    if (!predicate && writes_exec(di, words))
        return exec_allowed(w, di);
    return scalar_allowed(w, di);
}

/* Defines three handlers from one body. `slow` (control_slow_*) handles all cases. The decoder uses `known`
 * (control_known_*) for warps whose lanes are all active if scalar_known() has found that the instruction needs no check. The
 * third handler executes instructions for which scalar_is_plain() is true, and otherwise calls `slow` by a tail call, so that it
 * needs no stack frame. */
#define SCALAR_ROW(words, predicate, body)                                                    \
    if (is_known) {                                                                           \
        body                                                                                  \
        EMU_NEXT_FULL(w, di);                                                                 \
    } else if (is_slow) {                                                                     \
        if (!scalar_begin(w, di, words, predicate))                                           \
            return;                                                                           \
        if (scalar_guard(w, di)) {                                                            \
            body                                                                              \
            if (!(predicate) && writes_exec(di, words))                                       \
                emu_warp_set_lanes(w, w->m);                                                  \
        }                                                                                     \
        EMU_GO(w, di + 1);                                                                    \
    } else if (scalar_is_plain(w, di, words, predicate)) {                                    \
        body                                                                                  \
        EMU_GO(w, di + 1);                                                                    \
    } else {                                                                                  \
        EMU_TAIL slow(w, di);                                                                 \
    }
#define SCALAR_OP(TD, TA, TB, e)                                                              \
    SCALAR_ROW(WORDS(TD), false,                                                              \
        const T_##TA a = (T_##TA)scalar_read(w, di->p, WORDS(TA), is_known);                            \
        const T_##TB b = SCALAR_X(TB);                                                        \
        (void)a;                                                                              \
        scalar_write(w, di->reg, WORDS(TD), (uint64_t)(T_##TD)(e), is_known);)
#define SCALAR(T, e) SCALAR_OP(T, T, T, e)
#define SCALAR1(T, e) SCALAR_OP(T, T, T, e)
#define SCALARX1(TD, TB, e) SCALAR_OP(TD, TB, TB, e)
#define SCALARX(TD, TA, TB, e) SCALAR_OP(TD, TA, TB, e)
/* If the variant bit is set, X is the third source operand, and C is the second. */
#define SCALAR3(T, e)                                                                         \
    SCALAR_ROW(WORDS(T), false,                                                               \
        const T_##T a = (T_##T)scalar_read(w, di->p, WORDS(T), is_known); const T_##T at_x = SCALAR_X(T); \
        const T_##T at_c = (T_##T)scalar_read(w, di->c, WORDS(T), is_known);                            \
        const T_##T b = di->sub ? at_c : at_x; const T_##T c = di->sub ? at_x : at_c;         \
        scalar_write(w, di->reg, WORDS(T), (uint64_t)(T_##T)(e), is_known);)
#define SCALARR(T, e)                                                                         \
    const bool r = w->sp[di->r & 7] != (di->r >> 3 & 1);                                      \
    SCALAR_OP(T, T, T, e)

const uint8_t emu_relations[16] = {
    [ISA_CMP_EQ] = 2, [ISA_CMP_NE] = 5, [ISA_CMP_LT] = 1, [ISA_CMP_LE] = 3,
    [ISA_CMP_GT] = 4, [ISA_CMP_GE] = 6, [ISA_CMP_EQU] = 2, [ISA_CMP_NEU] = 5,
    [ISA_CMP_LTU] = 1, [ISA_CMP_LEU] = 3, [ISA_CMP_GTU] = 4, [ISA_CMP_GEU] = 6,
    [ISA_CMP_NUM] = 7
};
static bool scalar_combine(unsigned how, bool t, bool r)
{
    switch (how & 3) {
    case ISA_BOOL_AND: return t && r;
    case ISA_BOOL_OR: return t || r;
    case ISA_BOOL_XOR: return t != r;
    default: return t;
    }
}
/* comparisons that combine their result with predicate R are rare, so `slow` executes them */
#define SCALAR_COMPARE(T)                                                                     \
    if (!is_slow && !is_known && ((di->sub >> 4 & 3) != ISA_BOOL_NONE || di->q >= ISA_PT))                 \
        EMU_TAIL slow(w, di);                                                                 \
    SCALAR_ROW(1, true,                                                                       \
        const T_##T a = (T_##T)scalar_read(w, di->p, WORDS(T), is_known); const T_##T b = SCALAR_X(T);  \
        const bool t = (emu_relations[di->sub & 15] & 1u << ((a == b) + 2 * (a > b))) != 0;       \
        if (!is_slow)                                                                         \
            w->sp[di->q] = t;                                                                 \
        else if (di->q < ISA_PT)                                                              \
            w->sp[di->q] = scalar_combine(di->sub >> 4, t,                                    \
                                          w->sp[di->r & 7] != (di->r >> 3 & 1));)

/** Loads a value once for the whole warp. Returns false if a fault was raised. */
static bool scalar_load(struct emu_warp *w, const struct emu_dinsn *di, enum isa_space space)
{
    unsigned bytes = emu_size_bytes(di->sub);
    uint64_t address = emu_scalar_address(w, di);
    struct emu_host_address target;
    enum emu_fault_kind kind =
        emu_lane_address(w, space, lw_lowest(w->m), address, bytes, false, &target);

    if (kind != EMU_FAULT_NULL_PAGE && (address & (bytes - 1)) != 0)
        kind = EMU_FAULT_MISALIGNED;
    if (kind != EMU_FAULT_NONE) {
        emu_raise_memory(w, di, kind, w->m, space, address, bytes, false);
        return false;
    }
    for (unsigned k = 0; k < bytes / 4 && di->reg + k < 128; k++)
        w->s[di->reg + k] = lw_get32(target.host + 4 * k);
    w->core->stats.loads++;
    return true;
}
#define SCALAR_LOAD(space)                                                                    \
    SCALAR_ROW((unsigned)di->delta, false,                                                    \
        if (!scalar_load(w, di, ISA_SPACE_##space))                                           \
            return;)

#endif
