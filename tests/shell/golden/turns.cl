/* SPDX-License-Identifier: Apache-2.0 */
__attribute__((noinline)) int turns(int n, int i)
{
    int sum = 0;
    for (int k = 0; k < n; k++) sum += k ^ i;
    return sum;
}

__kernel void round_and_round(__global int *out, int n)
{
    int i = get_global_id(0);
    out[i] = turns(n, i);
    out[i] += 1;
}
