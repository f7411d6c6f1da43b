/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory orders and scopes of the atomics of OpenCL C 2.0, for tests/check/test_races.sh; races.cu describes the format. g has
 * 4096 words, for 4 work-groups of 128 work-items. Those of work-group 0 pass a value to those of work-group 1.
 */
#define FLAG(I) ((global atomic_uint *)g + 2048 + (I))

/* A relaxed store does not release the earlier store.
 * find: race @1a @1b 0xffffffff 0xffffffff */
kernel void relaxed_store_bad(global uint *g)
{
    uint t = get_local_id(0);
    if (get_group_id(0) == 0) {
        g[t] = t;                              /* @1b */
        atomic_store_explicit(FLAG(t), 1u, memory_order_relaxed, memory_scope_device);
    } else if (get_group_id(0) == 1) {
        while (atomic_load_explicit(FLAG(t), memory_order_acquire, memory_scope_device) == 0)
            ;
        g[1024 + t] = g[t];                    /* @1a */
    }
}
kernel void relaxed_store_good(global uint *g)
{
    uint t = get_local_id(0);
    if (get_group_id(0) == 0) {
        g[t] = t;
        atomic_store_explicit(FLAG(t), 1u, memory_order_release, memory_scope_device);
    } else if (get_group_id(0) == 1) {
        while (atomic_load_explicit(FLAG(t), memory_order_acquire, memory_scope_device) == 0)
            ;
        g[1024 + t] = g[t];
    }
}

/* find: missing-acquire @2a @2b 0xffffffff 0xffffffff */
kernel void relaxed_load_bad(global uint *g)
{
    uint t = get_local_id(0);
    if (get_group_id(0) == 0) {
        g[t] = t;                              /* @2b */
        atomic_store(FLAG(t), 1u);
    } else if (get_group_id(0) == 1) {
        while (atomic_load_explicit(FLAG(t), memory_order_relaxed) == 0)
            ;
        g[1024 + t] = g[t];                    /* @2a */
    }
}
kernel void relaxed_load_good(global uint *g)
{
    uint t = get_local_id(0);
    if (get_group_id(0) == 0) {
        g[t] = t;
        atomic_store(FLAG(t), 1u);
    } else if (get_group_id(0) == 1) {
        while (atomic_load(FLAG(t)) == 0)
            ;
        g[1024 + t] = g[t];
    }
}

/* Atomics with the scope of a work-group do not order accesses of two work-groups.
 * find: race @3a @3b 0xffffffff 0xffffffff */
kernel void group_scope_bad(global uint *g)
{
    uint t = get_local_id(0);
    if (get_group_id(0) == 0) {
        g[t] = t;                              /* @3b */
        atomic_exchange_explicit(FLAG(t), 1u, memory_order_acq_rel, memory_scope_work_group);
    } else if (get_group_id(0) == 1) {
        while (atomic_fetch_or_explicit(FLAG(t), 0u, memory_order_acq_rel, memory_scope_work_group) == 0)
            ;
        g[1024 + t] = g[t];                    /* @3a */
    }
}
kernel void group_scope_good(global uint *g)
{
    uint t = get_local_id(0);
    if (get_group_id(0) == 0) {
        g[t] = t;
        atomic_exchange_explicit(FLAG(t), 1u, memory_order_acq_rel, memory_scope_all_svm_devices);
    } else if (get_group_id(0) == 1) {
        while (atomic_fetch_or_explicit(FLAG(t), 0u, memory_order_acq_rel, memory_scope_device) == 0)
            ;
        g[1024 + t] = g[t];
    }
}

/* Within a work-group the scope of a work-group suffices, but the order must not be relaxed.
 * find: race @4a @4b 0xffffffff 0xffffffff */
kernel void in_group_bad(global uint *g)
{
    local uint data[128];
    local atomic_uint ready[128];
    uint t = get_local_id(0);
    atomic_init(&ready[t], 0u);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 64) {
        data[t] = t;                           /* @4b */
        atomic_fetch_add_explicit(&ready[t], 1u, memory_order_relaxed, memory_scope_work_group);
    } else {
        while (atomic_load_explicit(&ready[t - 64], memory_order_acquire, memory_scope_work_group) == 0)
            ;
        g[get_global_id(0)] = data[t - 64];    /* @4a */
    }
}
kernel void in_group_good(global uint *g)
{
    local uint data[128];
    local atomic_uint ready[128];
    uint t = get_local_id(0);
    atomic_init(&ready[t], 0u);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 64) {
        data[t] = t;
        atomic_fetch_add_explicit(&ready[t], 1u, memory_order_release, memory_scope_work_group);
    } else {
        while (atomic_load_explicit(&ready[t - 64], memory_order_acquire, memory_scope_work_group) == 0)
            ;
        g[get_global_id(0)] = data[t - 64];
    }
}

/* A fence orders accesses by relaxed atomics, unless the fence itself is relaxed.
 * find: race @5a @5b 0xffffffff 0xffffffff */
kernel void fenced_bad(global uint *g)
{
    uint t = get_local_id(0), expected = 0;
    if (get_group_id(0) == 0) {
        g[t] = t;                              /* @5b */
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_relaxed, memory_scope_device);
        atomic_compare_exchange_strong_explicit(FLAG(t), &expected, 1u, memory_order_relaxed, memory_order_relaxed, memory_scope_device);
    } else if (get_group_id(0) == 1) {
        while (atomic_load_explicit(FLAG(t), memory_order_relaxed, memory_scope_device) == 0)
            ;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        g[1024 + t] = g[t];                    /* @5a */
    }
}
kernel void fenced_good(global uint *g)
{
    uint t = get_local_id(0), expected = 0;
    if (get_group_id(0) == 0) {
        g[t] = t;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_compare_exchange_strong_explicit(FLAG(t), &expected, 1u, memory_order_relaxed, memory_order_relaxed, memory_scope_device);
    } else if (get_group_id(0) == 1) {
        while (atomic_load_explicit(FLAG(t), memory_order_relaxed, memory_scope_device) == 0)
            ;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        g[1024 + t] = g[t];
    }
}
