/* SPDX-License-Identifier: Apache-2.0 */
/* Each block sorts SIZE keys in local memory by a bitonic network, with one barrier per step. */
#ifndef SIZE
#define SIZE 256
#endif

__kernel void bitonic(__global uint *key)
{
    __local uint share[SIZE];
    uint base = get_group_id(0) * SIZE;

    for (uint i = get_local_id(0); i < SIZE; i += get_local_size(0))
        share[i] = key[base + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint run = 2; run <= SIZE; run *= 2) {
        for (uint step = run / 2; step > 0; step /= 2) {
            for (uint i = get_local_id(0); i < SIZE; i += get_local_size(0)) {
                uint other = i ^ step;

                if (other > i) {
                    uint a = share[i], b = share[other];

                    if ((a > b) == ((i & run) == 0)) {
                        share[i] = b;
                        share[other] = a;
                    }
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    for (uint i = get_local_id(0); i < SIZE; i += get_local_size(0))
        key[base + i] = share[i];
}
