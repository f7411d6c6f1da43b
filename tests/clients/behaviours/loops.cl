// SPDX-License-Identifier: Apache-2.0
kernel void loops(global int *out, int n)
{
    int i = get_global_id(0), sum = 0;

    if (i > 3)
        sum += 2;
    for (int k = 0; k < n; k++)
        sum += k;
    out[i] = sum;
}
