/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the extensions of sub-groups with values that each work-item computes. `bad` counts differences. The work-items with
 * take(i) call the functions that need not be called by a whole sub-group. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
int value(size_t i) { return (int)(i * 7 % 13) - 5; }
bool take(size_t i) { return value(i) % 3 != 0; }

#define CHECK(x) (cases++, (x) ? 0 : atomic_or(bad + cases / 32, 1 << cases % 32))
#define FOLD(T, NAME, FIRST, COMBINE) \
    { \
        T x = (T)value(at), all = (T)(FIRST), before = (T)(FIRST), cluster = (T)(FIRST), r, v; \
        for (size_t i = begin; i < end; i++) { \
            if (!take(i)) \
                continue; \
            v = (T)value(i); \
            r = all, all = (T)(COMBINE); \
            if (i < at) \
                r = before, before = (T)(COMBINE); \
            if (i / 4 == at / 4) \
                r = cluster, cluster = (T)(COMBINE); \
        } \
        CHECK(sub_group_non_uniform_reduce_##NAME(x) == all); \
        CHECK(sub_group_non_uniform_scan_exclusive_##NAME(x) == before); \
        v = x, r = before; \
        CHECK(sub_group_non_uniform_scan_inclusive_##NAME(x) == (T)(COMBINE)); \
        CHECK(sub_group_clustered_reduce_##NAME(x, 4) == cluster); \
    }
#define FOLDS(T, LOWEST, HIGHEST) \
    FOLD(T, add, 0, r + v) FOLD(T, mul, 1, r * v) FOLD(T, min, HIGHEST, v < r ? v : r) FOLD(T, max, LOWEST, v > r ? v : r)
#define INTEGER(T, LOWEST, HIGHEST) FOLDS(T, LOWEST, HIGHEST) FOLD(T, and, -1, r & v) FOLD(T, or, 0, r | v) FOLD(T, xor, 0, r ^ v)
#define MOVES(T) \
    { \
        T x = (T)value(at), down = sub_group_shuffle_down(x, 1), up = sub_group_shuffle_up(x, 2), other = sub_group_shuffle_xor(x, 1); \
        const size_t with = begin + (own ^ 1); \
        CHECK(sub_group_non_uniform_broadcast(x, first - begin) == (T)value(first) && sub_group_broadcast_first(x) == (T)value(first)); \
        CHECK(sub_group_non_uniform_all_equal(x) == same && sub_group_non_uniform_all_equal((T)3) != 0); \
        CHECK(sub_group_shuffle(x, last - begin) == (T)value(last)); \
        CHECK(at + 1 >= end || !take(at + 1) || down == (T)value(at + 1)); \
        CHECK(at < begin + 2 || !take(at - 2) || up == (T)value(at - 2)); \
        CHECK(with >= end || !take(with) || other == (T)value(with)); \
    }
#define WHOLE(T, N) \
    { \
        T##N x = (T##N)((T)value(at)), r = sub_group_broadcast(x, 1); \
        x.s0 = (T)at, x.s##N##LAST = (T)(2 * at); \
        r = sub_group_broadcast(x, 1); \
        CHECK(r.s0 == (T)(begin + 1) && r.s##N##LAST == (T)(2 * begin + 2)); \
    }
#define s2LAST s1
#define s3LAST s2
#define s4LAST s3
#define s8LAST s7
#define s16LAST sf
#define SMALL(T, LOWEST, HIGHEST) \
    { \
        T x = (T)value(at), sum = 0, low = HIGHEST, high = LOWEST, all = 0; \
        for (size_t i = begin; i < end; i++) { \
            T v = (T)value(i); \
            all += v; \
            if (i <= at) { sum += v; low = v < low ? v : low; high = v > high ? v : high; } \
        } \
        CHECK(sub_group_broadcast(x, 1) == (T)value(begin + 1) && sub_group_reduce_add(x) == all); \
        CHECK(sub_group_scan_inclusive_add(x) == sum && sub_group_scan_exclusive_add(x) == (T)(sum - x)); \
        CHECK(sub_group_scan_inclusive_min(x) == low && sub_group_scan_inclusive_max(x) == high); \
    }

kernel void extensions(global int *bad, global int *done)
{
    const size_t n = get_local_size(0), at = get_local_linear_id(), begin = at / 32 * 32, end = begin + 32 < n ? begin + 32 : n;
    const uint own = at % 32, valid = 0xffffffffu >> (32 - get_max_sub_group_size());
    size_t first = end, last = begin;
    uint ballot = 0;
    int cases = 0, same = 1;

    SMALL(char, -128, 127) SMALL(uchar, 0, 255) SMALL(short, -32768, 32767) SMALL(ushort, 0, 65535)
    WHOLE(char, 2) WHOLE(ushort, 3) WHOLE(int, 4) WHOLE(float, 8) WHOLE(double, 16) WHOLE(half, 4) WHOLE(long, 2)
    for (size_t i = begin; i < end; i++)
        if (take(i)) {
            first = i < first ? i : first;
            last = i;
            same = same && value(i) == value(first);
            if (value(i) > 1)
                ballot |= 1u << (i - begin);
        }
    CHECK(get_sub_group_eq_mask().x == (1u << own & valid) && get_sub_group_lt_mask().x == ((1u << own) - 1 & valid));
    CHECK(get_sub_group_ge_mask().x == (0xffffffffu << own & valid) && get_sub_group_gt_mask().x == (0xfffffffeu << own & valid));
    CHECK(get_sub_group_le_mask().x == (((1u << own) - 1 | 1u << own) & valid) && get_sub_group_le_mask().y == 0);
    if (take(at)) {
        uint4 b = sub_group_ballot(value(at) > 1);

        CHECK(b.x == ballot && b.y == 0 && b.z == 0 && b.w == 0);
        CHECK(sub_group_inverse_ballot(b) == (value(at) > 1) && sub_group_ballot_bit_extract(b, own) == (value(at) > 1));
        CHECK(sub_group_ballot_bit_count(b) == popcount(ballot));
        CHECK(sub_group_ballot_exclusive_scan(b) == popcount(ballot & ((1u << own) - 1)));
        CHECK(sub_group_ballot_inclusive_scan(b) == popcount(ballot & ((2u << own) - 1)));
        CHECK(ballot == 0 || (sub_group_ballot_find_lsb(b) == popcount((ballot & -ballot) - 1) && sub_group_ballot_find_msb(b) == 31 - clz(ballot)));
        CHECK(sub_group_elect() == (at == first));
        CHECK(sub_group_non_uniform_all(take(at)) && !sub_group_non_uniform_all(at != first));
        CHECK(sub_group_non_uniform_any(at == last) && !sub_group_non_uniform_any(at == n));
        MOVES(char) MOVES(uchar) MOVES(short) MOVES(ushort) MOVES(int) MOVES(uint) MOVES(long) MOVES(ulong) MOVES(float) MOVES(double) MOVES(half)
        INTEGER(char, -128, 127) INTEGER(uchar, 0, 255) INTEGER(short, -32768, 32767) INTEGER(ushort, 0, 65535)
        INTEGER(int, -0x7fffffff - 1, 0x7fffffff) INTEGER(uint, 0u, 0xffffffffu)
        INTEGER(long, -0x7fffffffffffffffL - 1, 0x7fffffffffffffffL) INTEGER(ulong, 0ul, 0xfffffffffffffffful)
        FOLDS(float, -INFINITY, INFINITY) FOLDS(double, -(double)INFINITY, (double)INFINITY)
        FOLD(half, add, 0, r + v) FOLD(half, min, (half)INFINITY, v < r ? v : r) FOLD(half, max, -(half)INFINITY, v > r ? v : r)
        FOLD(int, logical_and, 1, r && v) FOLD(int, logical_or, 0, r || v) FOLD(int, logical_xor, 0, !r != !v)
    }
    atomic_add(done, cases);
}
