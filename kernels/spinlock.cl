/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that single threads take. The winner leaves the loop while the other lanes of its
 * warp still spin: a machine that reconverges by a stack waits for them before the winner
 * may continue to unlock, for ever. With lanes that make progress of their own it ends.
 */
__kernel void spinlock(volatile __global int *lock, volatile __global uint *count,
                       volatile __global uint *sum, uint locks, uint n)
{
    uint i = get_global_id(0), which = i % locks;

    if (i >= n)
        return;
    while (atomic_cmpxchg(&lock[which], 0, 1) != 0)
        ;
    /* Plain loads and stores: only the lock keeps the others out. */
    count[which] = count[which] + 1;
    sum[which] = sum[which] + i;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(&lock[which], 0);
}
