/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread acquires the same lock. The owner leaves the loop while other lanes of its warp
 * spin. With a SIMT stack the owner then waits for these lanes before it can unlock, so the kernel
 * hangs. With independent thread scheduling the kernel ends.
 */
__kernel void spinlock(volatile __global int *lock, volatile __global uint *count,
                       volatile __global uint *sum, uint locks, uint n)
{
    uint i = get_global_id(0), which = i % locks;

    if (i >= n)
        return;
    while (atomic_cmpxchg(&lock[which], 0, 1) != 0)
        ;
    /* Plain loads and stores: only the lock excludes other threads. */
    count[which] = count[which] + 1;
    sum[which] = sum[which] + i;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(&lock[which], 0);
}
