/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common conversions as loops over lanes; included by emu_exec.c. emu_convert (emu_math.c) computes all other conversions, and
 * conversions of a uniform source, lane by lane; for common conversions, emu_convert gives the same results as the loops.
 */

/* Sets of values of the modifier CRND, as bits. For a conversion between integer and float, the rounding modes rn and rni are the
 * same. */
#define CVT_RN 0x11
#define CVT_RZ 0x22
#define CVT_RM 0x44
#define CVT_RP 0x88
#define CVT_EXACT 0xff   /* for exact conversions, on which rounding modes have no effect */
#define CVT_WIDENS 0x0f  /* for a float to a wider float: exact, unless a mode such as rni rounds to an integral value */

#define CVT_WIDEN(high) LANEW_BODY(emu_uniform32, 0, 0, bl, high)
#define CVT_FLOAT                                                                             \
    const unsigned mods = cvt_mods(di);                                                       \
    LANE_BODY(f32, f32, f32, fin_f32(ftz_f32(b, mods), mods))

/* FORM(name, to, from, permitted rounding modes, modifiers that are permitted because they are supported or have no effect,
 * body). The first FORM that matches is used. X64 and X32 stand for signed and unsigned integers; x32_x64 takes the low word. */
#define CONVERSIONS(FORM)                                                                                \
    FORM(f32_s32, F32, S32, CVT_RN, FTZ, LANE_BODY(f32, s32, s32, (float)b))                             \
    FORM(f32_u32, F32, U32, CVT_RN, FTZ, LANE_BODY(f32, u32, u32, (float)b))                             \
    FORM(f32_f16, F32, F16, CVT_WIDENS, FTZ, LANE_BODY(f32, f16, f16, b))                                \
    FORM(f32_bf16, F32, BF16, CVT_WIDENS, NOTHING, LANE_BODY(f32, bf16, bf16, b))                        \
    FORM(f16_f32, F16, F32, 1, FTZ, LANE_BODY(f16, f32, f32, b))                                         \
    FORM(bf16_f32, BF16, F32, 1, NOTHING, LANE_BODY(bf16, f32, f32, b))                                  \
    FORM(s32_f32_rz, S32, F32, CVT_RZ, BOTH, LANE_BODY(s32, f32, f32, emu_s32_of_f32(b)))                \
    FORM(u32_f32_rz, U32, F32, CVT_RZ, BOTH, LANE_BODY(u32, f32, f32, emu_u32_of_f32(b)))                \
    FORM(s32_f32_rn, S32, F32, CVT_RN, BOTH, LANE_BODY(s32, f32, f32, emu_s32_of_f32(emu_rint_f32(b))))  \
    FORM(s32_f32_rm, S32, F32, CVT_RM, SAT, LANE_BODY(s32, f32, f32, emu_s32_of_f32(emu_floor_f32(b))))  \
    FORM(s32_f32_rp, S32, F32, CVT_RP, SAT, LANE_BODY(s32, f32, f32, emu_s32_of_f32(emu_ceil_f32(b))))   \
    FORM(f32_f32_rn, F32, F32, CVT_RN & 0xf0, NOTHING, LANE_BODY(f32, f32, f32, emu_rint_f32(b)))        \
    FORM(f32_f32_rz, F32, F32, CVT_RZ & 0xf0, NOTHING, LANE_BODY(f32, f32, f32, emu_trunc_f32(b)))       \
    FORM(f32_f32_rm, F32, F32, CVT_RM & 0xf0, NOTHING, LANE_BODY(f32, f32, f32, emu_floor_f32(b)))       \
    FORM(f32_f32_rp, F32, F32, CVT_RP & 0xf0, NOTHING, LANE_BODY(f32, f32, f32, emu_ceil_f32(b)))        \
    FORM(f32_f32, F32, F32, CVT_WIDENS, BOTH, CVT_FLOAT)                                                 \
    FORM(f64_f32, F64, F32, CVT_WIDENS, NOTHING, LANE_BODY(f64, f32, f32, (double)b))                    \
    FORM(f32_f64, F32, F64, 1, NOTHING, LANE_BODY(f32, f64, f64, (float)b))                              \
    FORM(f64_s32, F64, S32, CVT_EXACT, NOTHING, LANE_BODY(f64, s32, s32, (double)b))                     \
    FORM(f64_u32, F64, U32, CVT_EXACT, NOTHING, LANE_BODY(f64, u32, u32, (double)b))                     \
    FORM(s32_f64_rz, S32, F64, CVT_RZ, SAT, LANE_BODY(s32, f64, f64, emu_s32_of_f64(b)))                 \
    FORM(x64_s32, X64, S32, CVT_EXACT, NOTHING, CVT_WIDEN((uint32_t)((int32_t)bl >> 31)))                \
    FORM(x64_u32, X64, U32, CVT_EXACT, NOTHING, CVT_WIDEN(0))                                            \
    FORM(x32_x64, X32, X64, CVT_EXACT, NOTHING, LANE_BODY(u32, u32, u32, b))                             \
    FORM(x32_u8, X32, U8, CVT_EXACT, NOTHING, LANE_BODY(u32, u32, u32, b & 0xff))                        \
    FORM(x32_s8, X32, S8, CVT_EXACT, NOTHING, LANE_BODY(u32, u32, u32, (uint32_t)(int32_t)(int8_t)b))    \
    FORM(x32_u16, X32, U16, CVT_EXACT, NOTHING, LANE_BODY(u32, u32, u32, b & 0xffff))                    \
    FORM(x32_s16, X32, S16, CVT_EXACT, NOTHING, LANE_BODY(u32, u32, u32, (uint32_t)(int32_t)(int16_t)b))

/** Returns the modifiers ftz and saturate of a conversion (bits 4 and 3 of di->reg) in the encoding of `sub`. */
INLINE unsigned cvt_mods(const struct emu_dinsn *di)
{
    return (di->reg & 16 ? EMU_FTZ : 0) | (di->reg & 8 ? EMU_SAT : 0);
}

#define FORM(name, to, from, roundings, mods, ...)                                            \
    INLINE void LEVEL(cvt_##name)(BODY_PARAMS)                                                \
    {                                                                                         \
        __VA_ARGS__;                                                                          \
    }                                                                                         \
    static __attribute__((noinline)) void LEVEL(cvt_part_##name)(                             \
        struct emu_warp *w, const struct emu_dinsn *di, const uint32_t *mask)                 \
    {                                                                                         \
        LEVEL(cvt_##name)(w, di, 0, mask, false, false);                                      \
    }                                                                                         \
    HANDLER(h_cvt_##name##_f, LEVEL(cvt_##name)(w, di, 0, NULL, false, false); EMU_NEXT_FULL(w, di)) \
    HANDLER(h_cvt_##name##_p, LEVEL(cvt_part_##name)(w, di, w->mask_row); EMU_NEXT_PART(w, di)) \
    HANDLER(h_cvt_##name##_g,                                                                 \
        uint32_t mask[EMU_MAX_LANES] __attribute__((aligned(64)));                            \
        expand(mask, w->e & emu_guard(w, di), lanes_of(w));                                   \
        LEVEL(cvt_part_##name)(w, di, mask);                                                  \
        EMU_NEXT(w, di))
CONVERSIONS(FORM)
#undef FORM

/** Selects the handlers of a common conversion. Returns false if the conversion is not in CONVERSIONS. */
static bool LEVEL(cvt_handlers)(const struct emu_dinsn *di, struct emu_handlers *out)
{
    enum { NOTHING = 0, FTZ = 1, SAT = 2, BOTH = 3 };
    enum { CV_BOTH = 16 }; /* bit of a CV_... value: the conversion is for both u32 and s32, or for both u64 and s64 */
    enum { CV_X64 = ISA_DT_U64 | CV_BOTH, CV_X32 = ISA_DT_U32 | CV_BOTH, CV_U8 = ISA_DT_U8, CV_S8 = ISA_DT_S8,
           CV_U16 = ISA_DT_U16, CV_S16 = ISA_DT_S16, CV_U32 = ISA_DT_U32, CV_S32 = ISA_DT_S32,
           CV_F16 = ISA_DT_F16, CV_BF16 = ISA_DT_BF16, CV_F32 = ISA_DT_F32, CV_F64 = ISA_DT_F64 };
#define FORM(name, to, from, roundings, mods, ...)                                            \
    {CV_##to, CV_##from, roundings, mods, {LEVEL(h_cvt_##name##_f), LEVEL(h_cvt_##name##_p), LEVEL(h_cvt_##name##_g)}},
    static const struct {
        uint8_t to, from, roundings, mods;
        emu_handler_fn *h[3]; /* full, masked, guarded */
    } known[] = {CONVERSIONS(FORM)};
#undef FORM
    const unsigned dtype = di->sub & 15, stype = di->sub >> 4, mods = cvt_mods(di);
    const bool guarded = (di->guard & 7) != ISA_PT || di->guard & 8;

    if (di->ukind != EMU_U_ROW)
        return false;
    for (size_t i = 0; i < LW_COUNT_OF(known); i++) {
        const unsigned to = known[i].to, from = known[i].from;
        if ((to & 15) != (to & CV_BOTH ? dtype & ~1u : dtype) ||
            (from & 15) != (from & CV_BOTH ? stype & ~1u : stype) ||
            !(known[i].roundings >> (di->reg & 7) & 1) || (mods & ~(unsigned)known[i].mods) != 0)
            continue;
        out->full = known[i].h[guarded ? 2 : 0];
        out->part = known[i].h[guarded ? 2 : 1];
        return true;
    }
    return false;
}
