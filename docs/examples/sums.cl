// SPDX-License-Identifier: Apache-2.0
// The sums of 32 numbers for each of n threads: neighbours far apart in memory, or next to each other.
kernel void by_row(global const int *in, global int *sum, uint n)
{
    uint i = get_global_id(0);
    int total = 0;

    for (uint k = 0; k < 32; k++)
        total += in[32 * i + k];
    sum[i] = total;
}

kernel void by_column(global const int *in, global int *sum, uint n)
{
    uint i = get_global_id(0);
    int total = 0;

    for (uint k = 0; k < 32; k++)
        total += in[n * k + i];
    sum[i] = total;
}
