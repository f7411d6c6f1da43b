// SPDX-License-Identifier: Apache-2.0
// Each of n threads adds up 32 numbers. Threads of a warp read distant addresses (by_row) or consecutive ones (by_column).
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
