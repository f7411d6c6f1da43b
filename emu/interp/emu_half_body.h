/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops over lanes for 16-bit floats; included by emu_exec.c. A vector register is widened to f32, computed, and narrowed again.
 * Registers of packed halves are computed in two passes, first the low halves and then the high halves. If processors of the
 * level have instructions that convert f16, the loops use these instructions; otherwise they use integer arithmetic, which gives
 * the same bits.
 */

/** Widens the 16-bit float in bits 15:0 of each lane (if @high: in bits 31:16) to f32. */
static __attribute__((noinline)) void LEVEL(widen_f16)(float *out, const uint32_t *in, bool high,
                                                       unsigned n)
{
    const unsigned shift = high ? 16 : 0;

#if EMU_HAVE_F16
    emu_row_of_f16(out, in, shift, n);
#else
    EMU_LANE_LOOP
    for (unsigned l = 0; l < n; l++)
        out[l] = emu_f32_of_f16(in[l] >> shift);
#endif
}
/** Rounds each lane to a 16-bit float, to nearest even. The result is in bits 15:0; bits 31:16 become zero. */
static __attribute__((noinline)) void LEVEL(narrow_f16)(uint32_t *out, const float *in, unsigned n)
{
#if EMU_HAVE_F16
    emu_row_to_f16(out, in, n);
#else
    EMU_LANE_LOOP
    for (unsigned l = 0; l < n; l++)
        out[l] = emu_f16_of_f32(in[l]);
#endif
}
static __attribute__((noinline)) void LEVEL(widen_bf16)(float *out, const uint32_t *in, bool high,
                                                        unsigned n)
{
    const unsigned shift = high ? 16 : 0;

    EMU_LANE_LOOP
    for (unsigned l = 0; l < n; l++)
        out[l] = emu_f32_of_bf16(in[l] >> shift);
}
static __attribute__((noinline)) void LEVEL(narrow_bf16)(uint32_t *out, const float *in,
                                                         unsigned n)
{
    EMU_LANE_LOOP
    for (unsigned l = 0; l < n; l++)
        out[l] = emu_bf16_of_f32(in[l]);
}

/* Limits below which ftz flushes sources (SRC) and results (FIN). For f16 sources the limit is 2^-14, the least normal number. A
 * result, which is still f32, rounds to at least 2^-14 if it is not less than 2^-14 - 2^-25. */
#define SRC_f16(x, s) emu_flush_below(x, 0x1p-14f, s)
#define SRC_bf16(x, s) emu_flush_below(x, 0x1p-126f, s)
#define FIN_f16(x, s) emu_clamp_half(emu_flush_below(x, 0x1.ffcp-15f, s), s)
#define FIN_bf16(x, s) emu_clamp_half(emu_flush_below(x, 0x1.fep-127f, s), s)

/* Computes the first @halves halves of registers of type T. @sources: number of source registers. @value: expression for the
 * result, with the sources x, y and z. */
#define HALF_BODY(T, halves, sources, value)                                                  \
    SOURCES;                                                                                  \
    float x[EMU_MAX_LANES] __attribute__((aligned(64)));                                      \
    float y[EMU_MAX_LANES] __attribute__((aligned(64)));                                      \
    float z[EMU_MAX_LANES] __attribute__((aligned(64)));                                      \
    uint32_t bits[2][EMU_MAX_LANES] __attribute__((aligned(64)));                             \
    for (unsigned half = 0; half < (halves); half++) {                                        \
        if ((sources) >= 2)                                                                   \
            LEVEL(widen_##T)(x, a0, half, n);                                                 \
        LEVEL(widen_##T)(y, b0, half, n);                                                     \
        if ((sources) >= 3)                                                                   \
            LEVEL(widen_##T)(z, row(w, di->c), half, n);                                      \
        EMU_LANE_LOOP                                                                         \
        for (unsigned l = 0; l < n; l++) {                                                    \
            const float a = SRC_##T((sources) >= 2 ? x[l] : 0.0f, sub);                       \
            const float b = SRC_##T(y[l], sub);                                               \
            const float c = SRC_##T((sources) >= 3 ? z[l] : 0.0f, sub);                       \
            (void)a, (void)c;                                                                 \
            y[l] = FIN_##T((value), sub);                                                     \
        }                                                                                     \
        LEVEL(narrow_##T)(bits[half], y, n);                                                  \
    }                                                                                         \
    EMU_LANE_LOOP                                                                             \
    for (unsigned l = 0; l < n; l++)                                                          \
        PUT32(d0, d1, l, (halves) == 2 ? bits[0][l] | bits[1][l] << 16 : bits[0][l], mask);
#define HALF1(T, value) HALF_BODY(T, 1, 1, value)
#define HALF(T, value) HALF_BODY(T, 1, 2, value)
#define HALF3(T, value) HALF_BODY(T, 1, 3, value)
#define PACKED1(T, value) HALF_BODY(T, 2, 1, value)
#define PACKED(T, value) HALF_BODY(T, 2, 2, value)
#define PACKED3(T, value) HALF_BODY(T, 2, 3, value)
