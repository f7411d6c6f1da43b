/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel each() executes each atomic of OpenCL C 2.0 on each type in one work-item: `done` counts checks, and `bad` failed
   checks. In kernel many(), many work-items access the same locations. Expected numbers were computed by hand. */
#define IS(X) do { done++; if (!(X)) bad++; } while (0)
#define R memory_order_relaxed
#define A memory_order_acquire
#define L memory_order_release
#define B memory_order_acq_rel
#define Q memory_order_seq_cst
#define GROUP memory_scope_work_group
#define DEVICE memory_scope_device
#define SVM memory_scope_all_svm_devices

/* Tests loads, stores, exchanges and compare-exchanges of each type. */
#define MOVES(T) \
    void moves_##T(volatile atomic_##T *p, uint *bad_, uint *done_) \
    { \
        uint bad = 0, done = 0; \
        T e; \
        atomic_store(p, (T)5); \
        IS(atomic_load(p) == (T)5); \
        atomic_store_explicit(p, (T)6, L); \
        IS(atomic_load_explicit(p, A) == (T)6); \
        atomic_store_explicit(p, (T)7, R, GROUP); \
        IS(atomic_load_explicit(p, R, SVM) == (T)7); \
        atomic_store_explicit(p, (T)8, Q, SVM); \
        IS(atomic_load_explicit(p, Q, DEVICE) == (T)8); \
        IS(atomic_exchange(p, (T)9) == (T)8); \
        IS(atomic_exchange_explicit(p, (T)10, A) == (T)9); \
        IS(atomic_exchange_explicit(p, (T)11, L, GROUP) == (T)10); \
        e = (T)11; \
        IS(atomic_compare_exchange_strong(p, &e, (T)12) && e == (T)11); \
        IS(!atomic_compare_exchange_strong(p, &e, (T)13) && e == (T)12); \
        IS(atomic_compare_exchange_strong_explicit(p, &e, (T)14, B, A) && e == (T)12); \
        IS(!atomic_compare_exchange_strong_explicit(p, &e, (T)15, L, R, SVM) && e == (T)14); \
        IS(atomic_compare_exchange_weak(p, &e, (T)16) && e == (T)14); \
        IS(!atomic_compare_exchange_weak_explicit(p, &e, (T)17, R, A) && e == (T)16); \
        IS(atomic_compare_exchange_weak_explicit(p, &e, (T)18, Q, Q, GROUP) && e == (T)16); \
        IS(atomic_load(p) == (T)18); \
        *bad_ += bad; \
        *done_ += done; \
    }
/* Tests fetch-and-modify functions of type T, which has 32 or 64 bits. V is the type of the operand. */
#define FETCHES(T, V, LEAST, MOST) \
    void fetches_##T(volatile atomic_##T *p, uint *bad_, uint *done_) \
    { \
        uint bad = 0, done = 0; \
        atomic_store(p, (T)100); \
        IS(atomic_fetch_add(p, (V)5) == 100); \
        IS(atomic_fetch_add_explicit(p, (V)5, R) == 105); \
        IS(atomic_fetch_add_explicit(p, (V)5, A, GROUP) == 110); \
        IS(atomic_fetch_sub(p, (V)15) == 115); \
        IS(atomic_fetch_sub_explicit(p, (V)1, L) == 100); \
        IS(atomic_fetch_sub_explicit(p, (V)1, B, SVM) == 99); \
        IS(atomic_fetch_or(p, (V)1) == 98); \
        IS(atomic_fetch_or_explicit(p, (V)16, Q) == 99); \
        IS(atomic_fetch_or_explicit(p, (V)4, R, DEVICE) == 115); \
        IS(atomic_fetch_xor(p, (V)7) == 119); \
        IS(atomic_fetch_xor_explicit(p, (V)1, A) == 112); \
        IS(atomic_fetch_xor_explicit(p, (V)2, L, GROUP) == 113); \
        IS(atomic_fetch_and(p, (V)~1) == 115); \
        IS(atomic_fetch_and_explicit(p, (V)~2, B) == 114); \
        IS(atomic_fetch_and_explicit(p, (V)63, Q, SVM) == 112); \
        IS(atomic_fetch_max(p, (V)50) == 48); \
        IS(atomic_fetch_max_explicit(p, (V)49, R) == 50); \
        IS(atomic_fetch_max_explicit(p, (V)MOST, A, GROUP) == 50); \
        IS(atomic_fetch_min(p, (V)9) == (T)MOST); \
        IS(atomic_fetch_min_explicit(p, (V)10, L) == 9); \
        IS(atomic_fetch_min_explicit(p, (V)LEAST, B, DEVICE) == 9); \
        IS(atomic_load(p) == (T)LEAST); \
        *bad_ += bad; \
        *done_ += done; \
    }
MOVES(int) MOVES(uint) MOVES(long) MOVES(ulong) MOVES(float) MOVES(double)
FETCHES(int, int, -3, 0x7ffffff0) FETCHES(uint, uint, 1, 0xfffffff0u)
FETCHES(long, long, -3, 0x7ffffffffffffff0) FETCHES(ulong, ulong, 1, 0xfffffffffffffff0u)

void flags(volatile atomic_flag *f, uint *bad_, uint *done_)
{
    uint bad = 0, done = 0;
    atomic_flag_clear(f);
    IS(!atomic_flag_test_and_set(f));
    IS(atomic_flag_test_and_set_explicit(f, A));
    atomic_flag_clear_explicit(f, L);
    IS(!atomic_flag_test_and_set_explicit(f, R, DEVICE));
    atomic_flag_clear_explicit(f, R, GROUP);
    IS(!atomic_flag_test_and_set(f));
    *bad_ += bad;
    *done_ += done;
}

void words(volatile atomic_uintptr_t *p, volatile atomic_intptr_t *q, volatile atomic_size_t *s, volatile atomic_ptrdiff_t *d,
           uint *bad_, uint *done_)
{
    uint bad = 0, done = 0;
    ptrdiff_t three = 3;
    atomic_store(p, (uintptr_t)7);
    IS(atomic_fetch_add(p, three) == 7);
    IS(atomic_fetch_sub_explicit(p, three, R, DEVICE) == 10 && atomic_load(p) == 7);
    atomic_store(q, (intptr_t)-7);
    IS(atomic_fetch_max(q, (intptr_t)4) == -7 && atomic_load(q) == 4);
    atomic_store(s, (size_t)9);
    IS(atomic_exchange(s, (size_t)8) == 9);
    atomic_store(d, (ptrdiff_t)-9);
    IS(atomic_fetch_or(d, (ptrdiff_t)1) == -9);
    *bad_ += bad;
    *done_ += done;
}

/* Tests each type of 32 bits, then each type of 64 bits, in global and local memory. */
kernel void each(global uint *out, global uint *g, global ulong *h)
{
    local uint l;
    local ulong m;
    uint bad = 0, done = 0;
#define ON(T, G, P) moves_##T((volatile global atomic_##T *)G, &bad, &done); moves_##T((volatile local atomic_##T *)&P, &bad, &done);
#define FETCH_ON(T, G, P) fetches_##T((volatile global atomic_##T *)G, &bad, &done); fetches_##T((volatile local atomic_##T *)&P, &bad, &done);
    ON(int, g, l) ON(uint, g, l) ON(float, g, l) ON(long, h, m) ON(ulong, h, m) ON(double, h, m)
    FETCH_ON(int, g, l) FETCH_ON(uint, g, l) FETCH_ON(long, h, m) FETCH_ON(ulong, h, m)
    flags((volatile global atomic_flag *)g, &bad, &done);
    flags((volatile local atomic_flag *)&l, &bad, &done);
    words((volatile global atomic_uintptr_t *)h, (volatile local atomic_intptr_t *)&m, (volatile global atomic_size_t *)h,
          (volatile global atomic_ptrdiff_t *)h, &bad, &done);
    out[0] = bad;
    out[1] = done;
}

/* Runs with 4 work-groups of 64 work-items. */
kernel void many(global int *out, global uint *lock, global uint *shared)
{
    local atomic_int sum, least;
    local atomic_float total;
    int i = (int)get_global_id(0);
    uint expected = 0;

    if (get_local_id(0) == 0) {
        atomic_init(&sum, 0);
        atomic_init(&least, 1000);
        atomic_init(&total, 0.0f);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    atomic_fetch_add_explicit(&sum, i, memory_order_relaxed, memory_scope_work_group);
    atomic_fetch_min_explicit(&least, i, memory_order_relaxed, memory_scope_work_group);
    for (float was = atomic_load(&total); !atomic_compare_exchange_weak(&total, &was, was + 0.5f);)
        ;
    /* a lock that protects a plain word */
    while (!atomic_compare_exchange_strong_explicit((volatile global atomic_uint *)lock, &expected, 1u, memory_order_acquire,
                                                    memory_order_relaxed, memory_scope_device))
        expected = 0;
    *shared += 3;
    atomic_store_explicit((volatile global atomic_uint *)lock, 0u, memory_order_release, memory_scope_device);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        out[3 * get_group_id(0)] = atomic_load(&sum);
        out[3 * get_group_id(0) + 1] = atomic_load(&least);
        out[3 * get_group_id(0) + 2] = (int)atomic_load(&total);
    }
}

/* Tests generic pointers to local memory in the first work-item, to global memory in the second, to private in the third. */
kernel void spaces(global int *out)
{
    local int near;
    int own = 0, item = (int)get_local_id(0);
    int *p = item == 0 ? &near : item == 1 ? (int *)out : &own;
    const int *c = p;

    *p = 7;
    out[1 + 3 * item] = (int)get_fence(c);
    out[2 + 3 * item] = to_global(p) == out;
    out[3 + 3 * item] = to_private(p) == &own;
    out[10 + item] = to_local(p) == &near;
}
