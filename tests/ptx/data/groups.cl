/* SPDX-License-Identifier: Apache-2.0 */
/* Compares results of work-group and sub-group functions with sums that each work-item computes. `bad` counts differences. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
int value(size_t i) { return (int)(i * 7 % 13) - 5; }

#define CHECK(x) (cases++, (x) ? 0 : atomic_or(bad + cases / 32, 1 << cases % 32))
#define TYPE(T, LOWEST, HIGHEST) \
    { \
        T x = (T)value(at), all = 0, low = HIGHEST, high = LOWEST, sum = 0, least = HIGHEST, most = LOWEST; \
        for (size_t i = 0; i < n; i++) { \
            T v = (T)value(i); \
            all += v; \
            low = v < low ? v : low; \
            high = v > high ? v : high; \
            if (i < at) { sum += v; least = v < least ? v : least; most = v > most ? v : most; } \
        } \
        CHECK(work_group_reduce_add(x) == all); \
        CHECK(work_group_reduce_min(x) == low); \
        CHECK(work_group_reduce_max(x) == high); \
        CHECK(work_group_scan_exclusive_add(x) == sum); \
        CHECK(work_group_scan_exclusive_min(x) == least); \
        CHECK(work_group_scan_exclusive_max(x) == most); \
        CHECK(work_group_scan_inclusive_add(x) == sum + x); \
        CHECK(work_group_scan_inclusive_min(x) == (x < least ? x : least)); \
        CHECK(work_group_scan_inclusive_max(x) == (x > most ? x : most)); \
        CHECK(work_group_broadcast(x, get_local_size(0) - 1, 1) == (T)value(2 * get_local_size(0) - 1)); \
        all = sum = 0, low = least = HIGHEST, high = most = LOWEST; \
        for (size_t i = at / 32 * 32; i < n && i < at / 32 * 32 + 32; i++) { \
            T v = (T)value(i); \
            all += v; \
            low = v < low ? v : low; \
            high = v > high ? v : high; \
            if (i < at) { sum += v; least = v < least ? v : least; most = v > most ? v : most; } \
        } \
        CHECK(sub_group_reduce_add(x) == all); \
        CHECK(sub_group_reduce_min(x) == low); \
        CHECK(sub_group_reduce_max(x) == high); \
        CHECK(sub_group_scan_exclusive_add(x) == sum); \
        CHECK(sub_group_scan_exclusive_min(x) == least); \
        CHECK(sub_group_scan_exclusive_max(x) == most); \
        CHECK(sub_group_scan_inclusive_add(x) == sum + x); \
        CHECK(sub_group_scan_inclusive_min(x) == (x < least ? x : least)); \
        CHECK(sub_group_scan_inclusive_max(x) == (x > most ? x : most)); \
        CHECK(sub_group_broadcast(x, 1) == (T)value(at / 32 * 32 + 1)); \
    }

kernel void groups(global int *bad, global int *done)
{
    const size_t n = get_local_size(0) * get_local_size(1) * get_local_size(2), at = get_local_linear_id();
    int cases = 0;

    CHECK(at == (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
    CHECK(get_enqueued_local_size(0) == get_local_size(0) && get_enqueued_local_size(1) == 3 && get_enqueued_local_size(7) == 1);
    CHECK(get_global_linear_id() == get_global_id(1) * get_global_size(0) + get_global_id(0));
    CHECK(get_sub_group_local_id() == at % 32 && get_sub_group_id() == at / 32);
    CHECK(get_num_sub_groups() == (n + 31) / 32 && get_enqueued_num_sub_groups() == (n + 31) / 32);
    CHECK(get_max_sub_group_size() == (n < 32 ? n : 32));
    CHECK(get_sub_group_size() == (at / 32 == n / 32 ? n % 32 : 32));
    CHECK(work_group_all(at < n) == 1 && work_group_all(at != 3) == 0);
    CHECK(work_group_any(at == 3) == 1 && work_group_any(at == n) == 0);
    CHECK(sub_group_all(at < n) == 1 && sub_group_all(at % 32 != 1) == 0);
    CHECK(sub_group_any(at % 32 == 1) == 1 && sub_group_any(at == n) == 0);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    sub_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_sub_group);
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    TYPE(int, -0x7fffffff - 1, 0x7fffffff)
    TYPE(uint, 0u, 0xffffffffu)
    TYPE(long, -0x7fffffffffffffffL - 1, 0x7fffffffffffffffL)
    TYPE(ulong, 0ul, 0xfffffffffffffffful)
    TYPE(float, -INFINITY, INFINITY)
    TYPE(double, -(double)INFINITY, (double)INFINITY)
    TYPE(half, -(half)INFINITY, (half)INFINITY)
    atomic_add(done, cases);
}
