/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of the scalar unit: the SCALAR columns of the table as handlers, included by
 * emu_control.c only. Each runs once a warp and needs all live lanes.
 */
#ifndef EMU_SCALAR_BODY_H
#define EMU_SCALAR_BODY_H

static uint64_t scalar_read(const struct emu_warp *w, unsigned reg, unsigned words)
{
    uint64_t v;

    if (reg > 127)
        return 0;
    v = w->s[reg];
    if (words == 2)
        v |= (uint64_t)(reg < 127 ? w->s[reg + 1] : 0) << 32;
    return v;
}
static void scalar_write(struct emu_warp *w, unsigned reg, unsigned words, uint64_t v)
{
    if (reg > 127)
        return;
    w->s[reg] = (uint32_t)v;
    if (words == 2 && reg < 127)
        w->s[reg + 1] = (uint32_t)(v >> 32);
}

#define WORDS(T) ((unsigned)sizeof(T_##T) / 4)
#define SCALAR_X(T) (WORDS(T) == 2 ? (T_##T)emu_uniform64(w, di) : (T_##T)emu_uniform32(w, di))

static bool scalar_begin(struct emu_warp *w, const struct emu_dinsn *di, unsigned words,
                         bool predicate)
{
    if (!predicate && writes_exec(di, words))
        return exec_allowed(w, di);
    return scalar_allowed(w, di);
}
#define SCALAR_OP(TD, TA, TB, e)                                                              \
    if (!scalar_begin(w, di, WORDS(TD), false))                                               \
        return;                                                                               \
    if (scalar_guard(w, di)) {                                                                \
        const T_##TA a = (T_##TA)scalar_read(w, di->p, WORDS(TA));                            \
        const T_##TB b = SCALAR_X(TB);                                                        \
        (void)a;                                                                              \
        scalar_write(w, di->reg, WORDS(TD), (uint64_t)(T_##TD)(e));                           \
        if (writes_exec(di, WORDS(TD)))                                                       \
            emu_warp_set_lanes(w, w->m);                                                      \
    }                                                                                         \
    EMU_GO(w, di + 1)
#define SCALAR(T, e) SCALAR_OP(T, T, T, e)
#define SCALAR1(T, e) SCALAR_OP(T, T, T, e)
#define SCALARX1(TD, TB, e) SCALAR_OP(TD, TB, TB, e)
#define SCALARX(TD, TA, TB, e) SCALAR_OP(TD, TA, TB, e)
/* with the variant X has the third source and C the second */
#define SCALAR3(T, e)                                                                         \
    if (!scalar_begin(w, di, WORDS(T), false))                                                \
        return;                                                                               \
    if (scalar_guard(w, di)) {                                                                \
        const T_##T a = (T_##T)scalar_read(w, di->p, WORDS(T)), at_x = SCALAR_X(T);           \
        const T_##T at_c = (T_##T)scalar_read(w, di->c, WORDS(T));                            \
        const T_##T b = di->sub ? at_c : at_x, c = di->sub ? at_x : at_c;                     \
        scalar_write(w, di->reg, WORDS(T), (uint64_t)(T_##T)(e));                             \
        if (writes_exec(di, WORDS(T)))                                                        \
            emu_warp_set_lanes(w, w->m);                                                      \
    }                                                                                         \
    EMU_GO(w, di + 1)
#define SCALARR(T, e)                                                                         \
    const bool r = w->sp[di->r & 7] != (di->r >> 3 & 1);                                      \
    SCALAR_OP(T, T, T, e)
#define SCALAR_COMPARE(T)                                                                     \
    if (!scalar_begin(w, di, 1, true))                                                        \
        return;                                                                               \
    if (scalar_guard(w, di) && di->q < ISA_PT) {                                              \
        const T_##T a = (T_##T)scalar_read(w, di->p, WORDS(T)), b = SCALAR_X(T);              \
        const bool r = w->sp[di->r & 7] != (di->r >> 3 & 1);                                  \
        bool t;                                                                               \
        switch (di->sub & 15) {                                                               \
        case ISA_CMP_EQ: case ISA_CMP_EQU: t = a == b; break;                                 \
        case ISA_CMP_NE: case ISA_CMP_NEU: t = a != b; break;                                 \
        case ISA_CMP_LT: case ISA_CMP_LTU: t = a < b; break;                                  \
        case ISA_CMP_LE: case ISA_CMP_LEU: t = a <= b; break;                                 \
        case ISA_CMP_GT: case ISA_CMP_GTU: t = a > b; break;                                  \
        case ISA_CMP_GE: case ISA_CMP_GEU: t = a >= b; break;                                 \
        default: t = (di->sub & 15) == ISA_CMP_NUM; break;                                    \
        }                                                                                     \
        switch (di->sub >> 4 & 3) {                                                           \
        case ISA_BOOL_AND: t = t && r; break;                                                 \
        case ISA_BOOL_OR: t = t || r; break;                                                  \
        case ISA_BOOL_XOR: t = t != r; break;                                                 \
        default: break;                                                                       \
        }                                                                                     \
        w->sp[di->q] = t;                                                                     \
    }                                                                                         \
    EMU_GO(w, di + 1)

/** A load once a warp. False: raised. */
static bool scalar_load(struct emu_warp *w, const struct emu_dinsn *di, enum isa_space space)
{
    unsigned bytes = emu_size_bytes(di->sub);
    uint64_t address = emu_scalar_address(w, di);
    struct emu_spot spot;
    enum emu_fault_kind kind =
        emu_lane_spot(w, space, lw_lowest(w->m), address, bytes, false, &spot);

    if (kind != EMU_FAULT_NULL_PAGE && (address & (bytes - 1)) != 0)
        kind = EMU_FAULT_MISALIGNED;
    if (kind != EMU_FAULT_NONE) {
        emu_raise_memory(w, di, kind, w->m, space, address, bytes, false);
        return false;
    }
    for (unsigned k = 0; k < bytes / 4 && di->reg + k < 128; k++)
        w->s[di->reg + k] = lw_get32(spot.host + 4 * k);
    w->core->stats.loads++;
    return true;
}
#define SCALAR_LOAD(space)                                                                    \
    if (!scalar_begin(w, di, (unsigned)di->delta, false))                                     \
        return;                                                                               \
    if (scalar_guard(w, di)) {                                                                \
        if (!scalar_load(w, di, ISA_SPACE_##space))                                           \
            return;                                                                           \
        if (writes_exec(di, (unsigned)di->delta))                                             \
            emu_warp_set_lanes(w, w->m);                                                      \
    }                                                                                         \
    EMU_GO(w, di + 1)

#endif
