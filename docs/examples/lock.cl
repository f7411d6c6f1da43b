// SPDX-License-Identifier: Apache-2.0
kernel void count(global volatile int *lock, global int *sum)
{
    while (atomic_cmpxchg(lock, 0, 1) != 0)
        ;
    *sum += 1;
    if (get_global_id(0) != 3) // lane 3 never releases the lock
        atomic_xchg(lock, 0);
}
