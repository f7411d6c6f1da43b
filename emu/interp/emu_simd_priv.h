/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on vector registers for handlers: comparison with affine values or with a range; moves and blends; conversions of
 * 16-bit floats; the processor's rounding mode.
 *
 * Each operation exists for every x86-64 level, selected by the compiler's target, and in plain C for other processors. No other
 * file uses intrinsics (tests/lint/lint_includes.sh); this header is included only by files that are compiled once per level. A
 * register row, `row` in these functions, has n lanes of 32 bits; n is 8, 16, 32 or 64. Bit l of a mask is for lane l. If @all is
 * set, the mask is ignored. Memory of lanes outside the mask is neither read nor written, and registers of these lanes do not
 * change.
 */
#ifndef EMU_SIMD_PRIV_H
#define EMU_SIMD_PRIV_H

#include "base/lw.h"

#define EMU_ROW static inline __attribute__((always_inline, unused))

#if defined(__x86_64__)
#include <immintrin.h>
#define EMU_SIMD_NAME "x86-64-v" EMU_LEVEL_TEXT
#elif defined(__aarch64__)
#define EMU_SIMD_NAME "aarch64"
#else
#define EMU_SIMD_NAME "generic"
#endif

/* ---- eight lanes at a time: AVX2, and narrow warps with AVX-512 -------------------- */

#if defined(__AVX2__)

EMU_ROW __m256i emu_load8(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}
EMU_ROW void emu_store8(void *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}
EMU_ROW __m256i emu_splat8(uint32_t v)
{
    return _mm256_set1_epi32((int)v);
}
/** Expands the mask bits of eight lanes to words 0 or ~0. */
EMU_ROW __m256i emu_mask8(uint64_t m, unsigned l)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);

    return _mm256_cmpeq_epi32(_mm256_and_si256(emu_splat8(m >> l & 0xff), bit), bit);
}
/** Returns first, first + bytes, first + 2 * bytes, ... if @ramp is set, otherwise `first` in all lanes. @bytes is a compile-time
 *  constant. */
EMU_ROW __m256i emu_ramp8(uint32_t first, bool ramp, unsigned bytes)
{
    int b = (int)bytes;
    __m256i steps = _mm256_setr_epi32(0, b, 2 * b, 3 * b, 4 * b, 5 * b, 6 * b, 7 * b);

    return ramp ? _mm256_add_epi32(emu_splat8(first), steps) : emu_splat8(first);
}

/* True if an operation applies to all lanes of a warp of 32. The operation's four steps are then written without a loop: gcc
 * would not unroll it, and half of its instructions would be loop control. */
#define EMU_ALL_32(n, all) (__builtin_constant_p(n) && (n) == 32 && (all))

EMU_ROW bool emu_affine8(const uint32_t *row, const uint32_t *high, bool pair, unsigned n,
                         uint64_t m, bool all, uint32_t first, uint32_t high_first, bool ramp,
                         unsigned bytes)
{
    __m256i want = emu_ramp8(first, ramp, bytes), next = emu_splat8(ramp ? 8 * bytes : 0);
    __m256i want_high = emu_splat8(high_first), bad = _mm256_setzero_si256();

    if (EMU_ALL_32(n, all) && !pair) {
        __m256i want1 = _mm256_add_epi32(want, next), want2 = _mm256_add_epi32(want1, next);
        __m256i bad1 = _mm256_xor_si256(emu_load8(row + 8), want1);
        __m256i bad2 = _mm256_xor_si256(emu_load8(row + 16), want2);
        __m256i bad3 = _mm256_xor_si256(emu_load8(row + 24), _mm256_add_epi32(want2, next));
        bad = _mm256_or_si256(_mm256_xor_si256(emu_load8(row), want), bad1);
        bad = _mm256_or_si256(bad, _mm256_or_si256(bad2, bad3));
        return _mm256_testz_si256(bad, bad);
    }
    for (unsigned l = 0; l < n; l += 8) {
        __m256i differ = _mm256_xor_si256(emu_load8(row + l), want);
        if (pair)
            differ = _mm256_or_si256(differ,
                                     _mm256_xor_si256(emu_load8(high + l), want_high));
        if (!all)
            differ = _mm256_and_si256(differ, emu_mask8(m, l));
        bad = _mm256_or_si256(bad, differ);
        want = _mm256_add_epi32(want, next);
    }
    return _mm256_testz_si256(bad, bad);
}

EMU_ROW bool emu_within8(const uint32_t *row, unsigned n, uint64_t m, bool all, uint32_t flip,
                         uint32_t low, uint32_t span, uint32_t add, uint32_t odd_bits)
{
    __m256i limit = emu_splat8(span), bad = _mm256_setzero_si256();

    for (unsigned l = 0; l < n; l += 8) {
        __m256i v = emu_load8(row + l);
        __m256i off = _mm256_sub_epi32(_mm256_xor_si256(v, emu_splat8(flip)), emu_splat8(low));
        __m256i odd = _mm256_and_si256(_mm256_add_epi32(v, emu_splat8(add)),
                                       emu_splat8(odd_bits));
        __m256i out = _mm256_xor_si256(_mm256_max_epu32(off, limit), limit);
        out = _mm256_or_si256(out, odd);
        if (!all)
            out = _mm256_and_si256(out, emu_mask8(m, l));
        bad = _mm256_or_si256(bad, out);
    }
    return _mm256_testz_si256(bad, bad);
}

EMU_ROW void emu_splat_row8(uint32_t *d, unsigned n, uint64_t m, bool all, uint32_t value)
{
    __m256i v = emu_splat8(value);

    for (unsigned l = 0; l < n; l += 8) {
        if (!all)
            emu_store8(d + l, _mm256_blendv_epi8(emu_load8(d + l), v, emu_mask8(m, l)));
        else
            emu_store8(d + l, v);
    }
}

EMU_ROW void emu_load_row8(uint32_t *d, const uint8_t *p, unsigned n, uint64_t m, bool all)
{
    if (EMU_ALL_32(n, all)) {
        __m256i v0 = emu_load8(p), v1 = emu_load8(p + 32), v2 = emu_load8(p + 64);
        __m256i v3 = emu_load8(p + 96);
        emu_store8(d, v0);
        emu_store8(d + 8, v1);
        emu_store8(d + 16, v2);
        emu_store8(d + 24, v3);
        return;
    }
    for (unsigned l = 0; l < n; l += 8) {
        if (!all) {
            __m256i mask = emu_mask8(m, l);
            __m256i v = _mm256_maskload_epi32((const int *)(const void *)(p + 4 * l), mask);
            emu_store8(d + l, _mm256_blendv_epi8(emu_load8(d + l), v, mask));
        } else {
            emu_store8(d + l, emu_load8(p + 4 * l));
        }
    }
}

/** Writes eight words to a vector register, from lane l on, by one store. The host can forward one such store to a later vector
 *  load. The host cannot forward eight stores of a word to one load, which would have to wait. */
EMU_ROW void emu_words_row8(uint32_t *d, unsigned l, uint64_t m, bool all, const uint32_t word[8])
{
    __m256i v = _mm256_setr_epi32((int)word[0], (int)word[1], (int)word[2], (int)word[3],
                                  (int)word[4], (int)word[5], (int)word[6], (int)word[7]);

    if (!all)
        v = _mm256_blendv_epi8(emu_load8(d + l), v, emu_mask8(m, l));
    emu_store8(d + l, v);
}

EMU_ROW bool emu_store_row8(uint8_t *p, const uint32_t *b, unsigned n, uint64_t m, bool all)
{
    __m256i changed = _mm256_setzero_si256();

    if (EMU_ALL_32(n, all)) {
        __m256i v0 = emu_load8(b), v1 = emu_load8(b + 8), v2 = emu_load8(b + 16);
        __m256i v3 = emu_load8(b + 24);
        __m256i old0 = _mm256_xor_si256(emu_load8(p), v0);
        __m256i old1 = _mm256_xor_si256(emu_load8(p + 32), v1);
        __m256i old2 = _mm256_xor_si256(emu_load8(p + 64), v2);
        __m256i old3 = _mm256_xor_si256(emu_load8(p + 96), v3);
        emu_store8(p, v0);
        emu_store8(p + 32, v1);
        emu_store8(p + 64, v2);
        emu_store8(p + 96, v3);
        changed = _mm256_or_si256(_mm256_or_si256(old0, old1), _mm256_or_si256(old2, old3));
        return !_mm256_testz_si256(changed, changed);
    }
    for (unsigned l = 0; l < n; l += 8) {
        __m256i v = emu_load8(b + l);
        if (!all) {
            __m256i mask = emu_mask8(m, l);
            int *at = (int *)(void *)(p + 4 * l);
            __m256i differ = _mm256_xor_si256(_mm256_maskload_epi32(at, mask), v);
            changed = _mm256_or_si256(changed, _mm256_and_si256(differ, mask));
            _mm256_maskstore_epi32(at, mask, v);
        } else {
            changed = _mm256_or_si256(changed, _mm256_xor_si256(emu_load8(p + 4 * l), v));
            emu_store8(p + 4 * l, v);
        }
    }
    return !_mm256_testz_si256(changed, changed);
}
#endif

/* ---- sixteen lanes at a time: AVX-512 ------------------------------------------------ */

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define EMU_HAVE_16 1

EMU_ROW __m512i emu_splat16(uint32_t v)
{
    return _mm512_set1_epi32((int)v);
}
EMU_ROW __mmask16 emu_bits16(uint64_t m, unsigned l, bool all)
{
    return all ? 0xffff : (__mmask16)(m >> l);
}

EMU_ROW bool emu_affine16(const uint32_t *row, const uint32_t *high, bool pair, unsigned n,
                          uint64_t m, bool all, uint32_t first, uint32_t high_first, bool ramp,
                          unsigned bytes)
{
    int b = (int)bytes;
    __m512i steps = _mm512_setr_epi32(0, b, 2 * b, 3 * b, 4 * b, 5 * b, 6 * b, 7 * b, 8 * b,
                                      9 * b, 10 * b, 11 * b, 12 * b, 13 * b, 14 * b, 15 * b);
    __m512i want = emu_splat16(first), next = emu_splat16(ramp ? 16 * bytes : 0);
    __m512i want_high = emu_splat16(high_first), bad = _mm512_setzero_si512();

    if (ramp)
        want = _mm512_add_epi32(want, steps);
    for (unsigned l = 0; l < n; l += 16) {
        __m512i differ = _mm512_xor_si512(_mm512_loadu_si512(row + l), want);
        if (pair) /* truth table 0xf6: differ | (high ^ want_high) */
            differ = _mm512_ternarylogic_epi32(differ, _mm512_loadu_si512(high + l), want_high,
                                               0xf6);
        bad = all ? _mm512_or_si512(bad, differ)
                  : _mm512_mask_or_epi32(bad, emu_bits16(m, l, false), bad, differ);
        if (ramp)
            want = _mm512_add_epi32(want, next);
    }
    return _mm512_test_epi32_mask(bad, bad) == 0;
}

EMU_ROW bool emu_within16(const uint32_t *row, unsigned n, uint64_t m, bool all, uint32_t flip,
                          uint32_t low, uint32_t span, uint32_t add, uint32_t odd_bits)
{
    unsigned bad = 0;

    for (unsigned l = 0; l < n; l += 16) {
        __mmask16 k = emu_bits16(m, l, all);
        __m512i v = _mm512_loadu_si512(row + l);
        __m512i off = _mm512_sub_epi32(_mm512_xor_si512(v, emu_splat16(flip)),
                                       emu_splat16(low));
        bad |= _mm512_mask_cmpgt_epu32_mask(k, off, emu_splat16(span));
        bad |= _mm512_mask_test_epi32_mask(k, _mm512_add_epi32(v, emu_splat16(add)),
                                           emu_splat16(odd_bits));
    }
    return bad == 0;
}

EMU_ROW void emu_splat_row16(uint32_t *d, unsigned n, uint64_t m, bool all, uint32_t value)
{
    __m512i v = emu_splat16(value);

    for (unsigned l = 0; l < n; l += 16) {
        if (!all) {
            __m512i old = _mm512_loadu_si512(d + l);
            _mm512_storeu_si512(d + l, _mm512_mask_mov_epi32(old, emu_bits16(m, l, false), v));
        } else {
            _mm512_storeu_si512(d + l, v);
        }
    }
}

EMU_ROW void emu_load_row16(uint32_t *d, const uint8_t *p, unsigned n, uint64_t m, bool all)
{
    for (unsigned l = 0; l < n; l += 16) {
        __m512i v;
        if (!all)
            v = _mm512_mask_loadu_epi32(_mm512_loadu_si512(d + l), emu_bits16(m, l, false),
                                        p + 4 * l);
        else
            v = _mm512_loadu_si512(p + 4 * l);
        _mm512_storeu_si512(d + l, v);
    }
}

EMU_ROW bool emu_store_row16(uint8_t *p, const uint32_t *b, unsigned n, uint64_t m, bool all)
{
    unsigned changed = 0;

    for (unsigned l = 0; l < n; l += 16) {
        __mmask16 k = emu_bits16(m, l, all);
        __m512i v = _mm512_loadu_si512(b + l);
        if (!all) {
            changed |= _mm512_mask_cmpneq_epi32_mask(
                k, _mm512_maskz_loadu_epi32(k, p + 4 * l), v);
            _mm512_mask_storeu_epi32(p + 4 * l, k, v);
        } else {
            changed |= _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(p + 4 * l), v);
            _mm512_storeu_si512(p + 4 * l, v);
        }
    }
    return changed != 0;
}

/** Packs the words of lanes @m of a warp of 32 into out[0], out[1], ..., each word ^ @flip. After the packed words, the first
 *  word is written eight more times. Returns the number of lanes. */
EMU_ROW unsigned emu_row_pack(uint32_t out[40], const uint32_t *row, uint32_t m, uint32_t flip)
{
    const unsigned low = lw_popcount(m & 0xffff), count = lw_popcount(m);
    const __m512i flips = emu_splat16(flip);
    __m512i front = _mm512_xor_si512(_mm512_loadu_si512(row), flips);
    __m512i back = _mm512_xor_si512(_mm512_loadu_si512(row + 16), flips);

    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)m, front));
    _mm512_storeu_si512(out + low, _mm512_maskz_compress_epi32((__mmask16)(m >> 16), back));
    emu_store8(out + count, emu_splat8(row[lw_lowest(m)] ^ flip));
    return count;
}
/** The inverse of emu_row_pack: moves the first @count words of @word to the lanes @m of @d. Reads eight words at a time, because
 *  emu_row_pack has stored eight words at a time: a wider load would have to wait until these stores are complete. */
EMU_ROW void emu_row_unpack(uint32_t *d, uint32_t m, const uint32_t word[32], unsigned count)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i skip = emu_splat16(lw_popcount(m & 0xffff));
    __m512i front = _mm512_zextsi256_si512(emu_load8(word)), back = _mm512_setzero_si512();

    if (count > 8)
        front = _mm512_inserti64x4(front, emu_load8(word + 8), 1);
    if (count > 16)
        back = _mm512_zextsi256_si512(emu_load8(word + 16));
    if (count > 24)
        back = _mm512_inserti64x4(back, emu_load8(word + 24), 1);
    _mm512_storeu_si512(d, _mm512_mask_expand_epi32(_mm512_loadu_si512(d), (__mmask16)m, front));
    back = _mm512_permutex2var_epi32(front, _mm512_add_epi32(lanes, skip), back);
    _mm512_storeu_si512(d + 16, _mm512_mask_expand_epi32(_mm512_loadu_si512(d + 16),
                                                         (__mmask16)(m >> 16), back));
}
#endif

/* ---- comparisons: a mask bit for each lane ---------------------------------------------- */

enum emu_cmp { EMU_CMP_EQ, EMU_CMP_LT, EMU_CMP_LE, EMU_CMP_GT, EMU_CMP_GE, EMU_CMP_NE, EMU_CMP_NUM };

/* Compares floats. Unordered operands give false in every comparison; the comparison `num` is true if both operands are
 * ordered. */
#define EMU_COMPARE_FLOATS(compare)                                                           \
    switch (op) {                                                                             \
    case EMU_CMP_EQ: return compare(x, y, _CMP_EQ_OQ);                                        \
    case EMU_CMP_LT: return compare(x, y, _CMP_LT_OQ);                                        \
    case EMU_CMP_LE: return compare(x, y, _CMP_LE_OQ);                                        \
    case EMU_CMP_GT: return compare(x, y, _CMP_GT_OQ);                                        \
    case EMU_CMP_GE: return compare(x, y, _CMP_GE_OQ);                                        \
    case EMU_CMP_NE: return compare(x, y, _CMP_NEQ_OQ);                                       \
    default: return compare(x, y, _CMP_ORD_Q);                                                \
    }
#if defined(EMU_HAVE_16)
#define EMU_HAVE_COMPARE 1
enum { EMU_CMP_LANES = 16 };
typedef __m512i emu_chunk;

EMU_ROW emu_chunk emu_chunk_load(const uint32_t *p)
{
    return _mm512_loadu_si512(p);
}
EMU_ROW emu_chunk emu_chunk_splat(uint32_t v)
{
    return emu_splat16(v);
}
/** Compares integers; @op is eq, lt or le. */
EMU_ROW uint64_t emu_chunk_compare(enum emu_cmp op, bool is_signed, emu_chunk a, emu_chunk b)
{
    if (op == EMU_CMP_EQ)
        return _mm512_cmpeq_epi32_mask(a, b);
    if (op == EMU_CMP_LT)
        return is_signed ? _mm512_cmplt_epi32_mask(a, b) : _mm512_cmplt_epu32_mask(a, b);
    return is_signed ? _mm512_cmple_epi32_mask(a, b) : _mm512_cmple_epu32_mask(a, b);
}
EMU_ROW uint64_t emu_chunk_float(enum emu_cmp op, emu_chunk a, emu_chunk b)
{
    __m512 x = _mm512_castsi512_ps(a), y = _mm512_castsi512_ps(b);

    EMU_COMPARE_FLOATS(_mm512_cmp_ps_mask)
}
#elif defined(__AVX2__)
#define EMU_HAVE_COMPARE 1
enum { EMU_CMP_LANES = 8 };
typedef __m256i emu_chunk;

EMU_ROW emu_chunk emu_chunk_load(const uint32_t *p)
{
    return emu_load8(p);
}
EMU_ROW emu_chunk emu_chunk_splat(uint32_t v)
{
    return emu_splat8(v);
}
EMU_ROW uint64_t emu_chunk_bits(__m256i v)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(v));
}
EMU_ROW uint64_t emu_chunk_compare(enum emu_cmp op, bool is_signed, emu_chunk a, emu_chunk b)
{
    if (op == EMU_CMP_EQ)
        return emu_chunk_bits(_mm256_cmpeq_epi32(a, b));
    if (!is_signed) {
        const __m256i top = emu_splat8(UINT32_C(1) << 31);
        a = _mm256_xor_si256(a, top);
        b = _mm256_xor_si256(b, top);
    }
    if (op == EMU_CMP_LT)
        return emu_chunk_bits(_mm256_cmpgt_epi32(b, a));
    return emu_chunk_bits(_mm256_cmpgt_epi32(a, b)) ^ 0xff;
}
EMU_ROW uint64_t emu_chunk_float(enum emu_cmp op, emu_chunk a, emu_chunk b)
{
    __m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b);

#define EMU_COMPARE_8(x, y, predicate) (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, y, predicate))
    EMU_COMPARE_FLOATS(EMU_COMPARE_8)
}
#else
#define EMU_HAVE_COMPARE 0
#define emu_compare_row(...) 0
#define emu_compare_pair(...) 0
#define emu_compare_float(...) 0
#endif

#if EMU_HAVE_COMPARE
/* Loop over the chunks of a vector register, unrolled for the common case of 32 lanes. */
#if defined(__clang__)
#define EMU_UNROLL
#else
#define EMU_UNROLL _Pragma("GCC unroll 4")
#endif
#define EMU_EACH_CHUNK(n, ...)                                                                \
    if ((n) == 32) {                                                                          \
        EMU_UNROLL                                                                            \
        for (unsigned l = 0; l < 32; l += EMU_CMP_LANES)                                      \
            __VA_ARGS__                                                                       \
    } else {                                                                                  \
        for (unsigned l = 0; l < (n); l += EMU_CMP_LANES)                                     \
            __VA_ARGS__                                                                       \
    }

/** Compares 32-bit integers. Returns the mask of the lanes with a[l] op b[l], or with a[l] op @u if @bu is set; @op is eq, lt or
 *  le. */
EMU_ROW uint64_t emu_compare_row(enum emu_cmp op, bool is_signed, const uint32_t *a,
                                 const uint32_t *b, bool bu, uint32_t u, unsigned n)
{
    uint64_t bits = 0;

    EMU_EACH_CHUNK(n, {
        emu_chunk y = bu ? emu_chunk_splat(u) : emu_chunk_load(b + l);
        bits |= emu_chunk_compare(op, is_signed, emu_chunk_load(a + l), y) << l;
    })
    return bits;
}
/** Compares 64-bit integers, whose low and high words are in separate vector registers. If the high words are equal, the low
 *  words decide. */
EMU_ROW uint64_t emu_compare_pair(enum emu_cmp op, bool is_signed, const uint32_t *a0,
                                  const uint32_t *a1, const uint32_t *b0, const uint32_t *b1,
                                  bool bu, uint64_t u, unsigned n)
{
    uint64_t bits = 0;

    for (unsigned l = 0; l < n; l += EMU_CMP_LANES) {
        emu_chunk x0 = emu_chunk_load(a0 + l), x1 = emu_chunk_load(a1 + l);
        emu_chunk y0 = bu ? emu_chunk_splat((uint32_t)u) : emu_chunk_load(b0 + l);
        emu_chunk y1 = bu ? emu_chunk_splat((uint32_t)(u >> 32)) : emu_chunk_load(b1 + l);
        uint64_t r = emu_chunk_compare(op, false, x0, y0) &
                     emu_chunk_compare(EMU_CMP_EQ, false, x1, y1);
        if (op != EMU_CMP_EQ)
            r |= emu_chunk_compare(EMU_CMP_LT, is_signed, x1, y1);
        bits |= r << l;
    }
    return bits;
}
/** Compares floats, given as bits, as emu_compare_row() compares integers; @op is any comparison. */
EMU_ROW uint64_t emu_compare_float(enum emu_cmp op, const uint32_t *a, const uint32_t *b,
                                   bool bu, uint32_t u, unsigned n)
{
    uint64_t bits = 0;

    EMU_EACH_CHUNK(n, {
        emu_chunk y = bu ? emu_chunk_splat(u) : emu_chunk_load(b + l);
        bits |= emu_chunk_float(op, emu_chunk_load(a + l), y) << l;
    })
    return bits;
}
#endif

/* ---- the functions that handlers call -------------------------------------------------- */

/** Returns true if, for all lanes of the mask, row[l] == first + l * bytes (if @ramp) or row[l] == first, and, if @pair, high[l]
 *  == high_first. */
EMU_ROW bool emu_rows_affine(const uint32_t *row, const uint32_t *high, bool pair, unsigned n,
                             uint64_t m, bool all, uint32_t first, uint32_t high_first,
                             bool ramp, unsigned bytes)
{
#if defined(EMU_HAVE_16)
    if (n >= 16)
        return emu_affine16(row, high, pair, n, m, all, first, high_first, ramp, bytes);
#endif
#if defined(__AVX2__)
    return emu_affine8(row, high, pair, n, m, all, first, high_first, ramp, bytes);
#else
    uint32_t bad = 0, step = ramp ? bytes : 0;
    for (unsigned l = 0; l < n; l++) {
        uint32_t differ = row[l] ^ (first + l * step);
        if (pair)
            differ |= high[l] ^ high_first;
        bad |= differ & (all || m >> l & 1 ? ~UINT32_C(0) : 0);
    }
    return bad == 0;
#endif
}
EMU_ROW bool emu_row_affine(const uint32_t *row, unsigned n, uint64_t m, bool all,
                            uint32_t first, bool ramp, unsigned bytes)
{
    return emu_rows_affine(row, NULL, false, n, m, all, first, 0, ramp, bytes);
}

/** Returns true if row[l] == first + l * step, modulo 2^32, for all lanes of the mask. */
EMU_ROW bool emu_row_strided(const uint32_t *row, unsigned n, uint64_t m, bool all, uint32_t first,
                             uint32_t step)
{
#if defined(EMU_HAVE_16)
    if (n >= 16) {
        const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        const __m512i next = emu_splat16(16 * step);
        __m512i want = _mm512_add_epi32(emu_splat16(first), _mm512_mullo_epi32(lanes, emu_splat16(step)));
        unsigned bad = 0;
        for (unsigned l = 0; l < n; l += 16) {
            bad |= _mm512_mask_cmpneq_epi32_mask(emu_bits16(m, l, all), _mm512_loadu_si512(row + l), want);
            want = _mm512_add_epi32(want, next);
        }
        return bad == 0;
    }
#endif
#if defined(__AVX2__)
    const __m256i next = emu_splat8(8 * step), steps = emu_splat8(step);
    __m256i want = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), bad = _mm256_setzero_si256();
    want = _mm256_add_epi32(emu_splat8(first), _mm256_mullo_epi32(want, steps));
    for (unsigned l = 0; l < n; l += 8) {
        const __m256i differ = _mm256_xor_si256(emu_load8(row + l), want);
        bad = _mm256_or_si256(bad, all ? differ : _mm256_and_si256(differ, emu_mask8(m, l)));
        want = _mm256_add_epi32(want, next);
    }
    return _mm256_testz_si256(bad, bad);
#else
    uint32_t bad = 0;
    for (unsigned l = 0; l < n; l++)
        bad |= (row[l] ^ (first + l * step)) & (all || m >> l & 1 ? ~UINT32_C(0) : 0);
    return bad == 0;
#endif
}

/** Returns the affine breaks: a bit for each l of 1 .. n - 2 for which row[l] - row[l - 1] != row[l + 1] - row[l]. */
EMU_ROW uint64_t emu_row_affine_breaks(const uint32_t *row, unsigned n)
{
    uint64_t bends = 0;

#if defined(__AVX2__)
    if (n >= 16) {
        for (unsigned l = 1; l < n - 1; l += 8) {
            unsigned at = l < n - 9 ? l : n - 9; /* the last eight lanes overlap the preceding eight */
            __m256i before = emu_load8(row + at - 1), here = emu_load8(row + at);
            __m256i behind = emu_load8(row + at + 1);
            __m256i equal = _mm256_cmpeq_epi32(_mm256_sub_epi32(here, before),
                                               _mm256_sub_epi32(behind, here));
            bends |= (uint64_t)(uint8_t)~_mm256_movemask_ps(_mm256_castsi256_ps(equal)) << at;
        }
        return bends;
    }
#endif
    for (unsigned l = 1; l + 1 < n; l++)
        bends |= (uint64_t)(row[l] - row[l - 1] != row[l + 1] - row[l]) << l;
    return bends;
}

/** Returns true if (row[l] ^ flip) - low <= span (modulo 2^32), and row[l] + add has none of the bits in @odd_bits, for all lanes
 *  l of the mask. */
EMU_ROW bool emu_row_within(const uint32_t *row, unsigned n, uint64_t m, bool all,
                            uint32_t flip, uint32_t low, uint32_t span, uint32_t add,
                            uint32_t odd_bits)
{
#if defined(EMU_HAVE_16)
    if (n >= 16)
        return emu_within16(row, n, m, all, flip, low, span, add, odd_bits);
#endif
#if defined(__AVX2__)
    return emu_within8(row, n, m, all, flip, low, span, add, odd_bits);
#else
    uint32_t bad = 0;
    for (unsigned l = 0; l < n; l++) {
        uint32_t out = ((row[l] ^ flip) - low > span) | ((row[l] + add) & odd_bits);
        bad |= out & (all || m >> l & 1 ? ~UINT32_C(0) : 0);
    }
    return bad == 0;
#endif
}

/** Returns true if, in each half of 16 lanes, row[l] is the first word of the half, plus @unit * (l % 16) if @ramp is set. If
 *  @pair is set, all high[l] must equal high[0], too. */
EMU_ROW bool emu_halves_affine(const uint32_t *row, const uint32_t *high, bool pair, bool ramp,
                               unsigned unit)
{
#if defined(EMU_HAVE_16)
    const int u = (int)unit;
    __m512i want0 = emu_splat16(row[0]), want1 = emu_splat16(row[16]), bad;
    if (ramp) {
        const __m512i steps = _mm512_setr_epi32(0, u, 2 * u, 3 * u, 4 * u, 5 * u, 6 * u, 7 * u, 8 * u,
                                                9 * u, 10 * u, 11 * u, 12 * u, 13 * u, 14 * u,
                                                15 * u);
        want0 = _mm512_add_epi32(want0, steps);
        want1 = _mm512_add_epi32(want1, steps);
    }
    bad = _mm512_xor_si512(_mm512_loadu_si512(row), want0);
    bad = _mm512_ternarylogic_epi32(bad, _mm512_loadu_si512(row + 16), want1, 0xf6);
    if (pair) {
        __m512i want_high = emu_splat16(high[0]);
        bad = _mm512_ternarylogic_epi32(bad, _mm512_loadu_si512(high), want_high, 0xf6);
        bad = _mm512_ternarylogic_epi32(bad, _mm512_loadu_si512(high + 16), want_high, 0xf6);
    }
    return _mm512_test_epi32_mask(bad, bad) == 0;
#elif defined(__AVX2__)
    /* written without a loop, because gcc -O2 would not unroll a loop */
    const __m256i want0 = emu_ramp8(row[0], ramp, unit), want2 = emu_ramp8(row[16], ramp, unit);
    const __m256i eight = emu_splat8(ramp ? 8 * unit : 0);
    const __m256i want1 = ramp ? _mm256_add_epi32(want0, eight) : want0;
    const __m256i want3 = ramp ? _mm256_add_epi32(want2, eight) : want2;
    __m256i bad = _mm256_xor_si256(emu_load8(row), want0);
    bad = _mm256_or_si256(bad, _mm256_xor_si256(emu_load8(row + 8), want1));
    __m256i more = _mm256_xor_si256(emu_load8(row + 16), want2);
    more = _mm256_or_si256(more, _mm256_xor_si256(emu_load8(row + 24), want3));
    if (pair) {
        const __m256i want_high = emu_splat8(high[0]);
        bad = _mm256_or_si256(bad, _mm256_xor_si256(emu_load8(high), want_high));
        more = _mm256_or_si256(more, _mm256_xor_si256(emu_load8(high + 8), want_high));
        bad = _mm256_or_si256(bad, _mm256_xor_si256(emu_load8(high + 16), want_high));
        more = _mm256_or_si256(more, _mm256_xor_si256(emu_load8(high + 24), want_high));
    }
    bad = _mm256_or_si256(bad, more);
    return _mm256_testz_si256(bad, bad);
#else
    uint32_t bad = 0;
    for (unsigned l = 0; l < 32; l++) {
        bad |= row[l] ^ (row[l & 16] + (ramp ? l % 16 * unit : 0));
        if (pair)
            bad |= high[l] ^ high[0];
    }
    return bad == 0;
#endif
}

/** Sets d[l] to @value for the lanes of the mask. */
EMU_ROW void emu_row_splat(uint32_t *d, unsigned n, uint64_t m, bool all, uint32_t value)
{
#if defined(EMU_HAVE_16)
    if (n >= 16) {
        emu_splat_row16(d, n, m, all, value);
        return;
    }
#endif
#if defined(__AVX2__)
    emu_splat_row8(d, n, m, all, value);
#else
    for (unsigned l = 0; l < n; l++)
        d[l] = all || m >> l & 1 ? value : d[l];
#endif
}

/** Loads the word at p + 4 * l into d[l], for the lanes of the mask. */
EMU_ROW void emu_row_load(uint32_t *d, const uint8_t *p, unsigned n, uint64_t m, bool all)
{
#if defined(EMU_HAVE_16)
    if (n >= 16) {
        emu_load_row16(d, p, n, m, all);
        return;
    }
#endif
#if defined(__AVX2__)
    emu_load_row8(d, p, n, m, all);
#else
    if (all)
        memcpy(d, p, 4 * n);
    else
        for (LW_EACH_BIT(l, m))
            d[l] = lw_get32(p + 4 * l);
#endif
}

/** Sets d[l + k] to word[k] for the eight lanes from @l on that are in the mask; @l is a multiple of 8. */
EMU_ROW void emu_row_words(uint32_t *d, unsigned l, uint64_t m, bool all, const uint32_t word[8])
{
#if defined(__AVX2__)
    emu_words_row8(d, l, m, all, word);
#else
    for (unsigned k = 0; k < 8; k++)
        d[l + k] = all || m >> (l + k) & 1 ? word[k] : d[l + k];
#endif
}
/** For eight lanes from @l on: sets out[k] to row[l + k] if lane l + k is in the mask, otherwise to @other. */
EMU_ROW void emu_row_pick(uint32_t out[8], const uint32_t *row, unsigned l, uint64_t m, uint32_t other)
{
#if defined(__AVX2__)
    emu_store8(out, _mm256_blendv_epi8(emu_splat8(other), emu_load8(row + l), emu_mask8(m, l)));
#else
    for (unsigned k = 0; k < 8; k++)
        out[k] = m >> (l + k) & 1 ? row[l + k] : other;
#endif
}

/** Stores b[l] at p + 4 * l, for the lanes of the mask. Returns true if a byte in memory changed. */
EMU_ROW bool emu_row_store(uint8_t *p, const uint32_t *b, unsigned n, uint64_t m, bool all)
{
#if defined(EMU_HAVE_16)
    if (n >= 16)
        return emu_store_row16(p, b, n, m, all);
#endif
#if defined(__AVX2__)
    return emu_store_row8(p, b, n, m, all);
#else
    bool changed = false;
    if (all) {
        changed = memcmp(p, b, 4 * n) != 0;
        memcpy(p, b, 4 * n);
        return changed;
    }
    for (LW_EACH_BIT(l, m)) {
        changed |= lw_get32(p + 4 * l) != b[l];
        lw_put32(p + 4 * l, b[l]);
    }
    return changed;
#endif
}

/** Returns a mask of the elements of @truth[0 .. n - 1] that are not 0. The array has space for n rounded up to a multiple of
 *  16. */
EMU_ROW uint64_t emu_bits_of_bytes(const uint8_t *truth, unsigned n)
{
    uint64_t mask = 0;

#if defined(__SSE2__)
    for (unsigned l = 0; l < n; l += 16) {
        __m128i v = _mm_load_si128((const __m128i *)(const void *)(truth + l));
        mask |= (uint64_t)(uint16_t)~_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128()))
                << l;
    }
#else
    for (unsigned l = 0; l < n; l++)
        mask |= (uint64_t)(truth[l] != 0) << l;
#endif
    return mask & lw_mask(n);
}

/* ---- 16-bit floats ---------------------------------------------------------------------- */

#if defined(EMU_HAVE_16)
#define EMU_HAVE_F16 1
/** Sets out[l] to the value of the f16 in bits 15:0 of in[l] >> shift. */
EMU_ROW void emu_row_of_f16(float *out, const uint32_t *in, unsigned shift, unsigned n)
{
    for (unsigned l = 0; l < n; l += 16) {
        const __mmask16 there = l + 16 <= n ? 0xffff : 0xff;
        const __m512i v = _mm512_srl_epi32(_mm512_maskz_loadu_epi32(there, in + l),
                                           _mm_cvtsi32_si128((int)shift));
        _mm512_storeu_ps(out + l, _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v)));
    }
}
/** Sets out[l] to in[l] rounded to f16, to nearest even. A NaN becomes the canonical NaN. */
EMU_ROW void emu_row_to_f16(uint32_t *out, const float *in, unsigned n)
{
    for (unsigned l = 0; l < n; l += 16) {
        const __m512 v = _mm512_loadu_ps(in + l);
        const __m512i h = _mm512_cvtepu16_epi32(_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
        const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
        _mm512_storeu_si512(out + l, _mm512_mask_mov_epi32(h, nan, _mm512_set1_epi32(0x7fff)));
    }
}
#elif defined(__AVX2__) && defined(__F16C__)
#define EMU_HAVE_F16 1
EMU_ROW void emu_row_of_f16(float *out, const uint32_t *in, unsigned shift, unsigned n)
{
    for (unsigned l = 0; l < n; l += 8) {
        const __m128i by = _mm_cvtsi32_si128((int)shift), low = _mm_set1_epi32(0xffff);
        __m128i v = _mm_loadu_si128((const void *)(in + l));
        __m128i w = _mm_loadu_si128((const void *)(in + l + 4));
        v = _mm_and_si128(_mm_srl_epi32(v, by), low);
        w = _mm_and_si128(_mm_srl_epi32(w, by), low);
        _mm256_storeu_ps(out + l, _mm256_cvtph_ps(_mm_packus_epi32(v, w)));
    }
}
EMU_ROW void emu_row_to_f16(uint32_t *out, const float *in, unsigned n)
{
    for (unsigned l = 0; l < n; l += 8) {
        const __m256 v = _mm256_loadu_ps(in + l);
        const __m256i h =
            _mm256_cvtepu16_epi32(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
        const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
        _mm256_storeu_si256((void *)(out + l),
                            _mm256_blendv_epi8(h, _mm256_set1_epi32(0x7fff), nan));
    }
}
#else
#define EMU_HAVE_F16 0 /* emu_half_body.h then uses integer arithmetic */
#endif

/* ---- the processor's rounding mode ------------------------------------------------------ */

/* Set the rounding mode before a body, and restore it afterwards; @mode is a value of modifier RND. The compiler barriers prevent
 * the compiler from moving the body's loads to before the mode is set, and its stores to after the mode is restored. The body's
 * arithmetic therefore uses the new mode. */
#if defined(__SSE2__)
#define EMU_HAVE_ROUNDING 1
EMU_ROW unsigned emu_rounding_begin(unsigned mode)
{
    static const uint8_t field[4] = {0, 3, 1, 2}; /* values of bits 14:13 of MXCSR for rn, rz, rm, rp */
    unsigned old = _mm_getcsr();

    _mm_setcsr((old & ~0x6000u) | (unsigned)field[mode] << 13);
    __asm__ volatile("" ::: "memory");
    return old;
}
EMU_ROW void emu_rounding_end(unsigned old)
{
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(old);
}
#elif defined(__aarch64__)
#define EMU_HAVE_ROUNDING 1
EMU_ROW unsigned emu_rounding_begin(unsigned mode)
{
    static const uint8_t field[4] = {0, 3, 2, 1}; /* values of bits 23:22 of FPCR for rn, rz, rm, rp */
    uint64_t old;

    __asm__ volatile("mrs %0, fpcr" : "=r"(old));
    __asm__ volatile("msr fpcr, %0"
                     :
                     : "r"((old & ~UINT64_C(0xc00000)) | (uint64_t)field[mode] << 22)
                     : "memory");
    return (unsigned)old;
}
EMU_ROW void emu_rounding_end(unsigned old)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)old) : "memory");
}
#else
#define EMU_HAVE_ROUNDING 0
EMU_ROW unsigned emu_rounding_begin(unsigned mode)
{
    return mode; /* @mode is round to nearest: a program with another mode was refused when it was loaded */
}
EMU_ROW void emu_rounding_end(unsigned old)
{
    (void)old;
}
#endif

#endif
