// SPDX-License-Identifier: Apache-2.0
// Counts how often each number can be halved before it is odd.
kernel void halve(global int *out)
{
    int i = get_global_id(0);
    int value = i + 1, count = 0;

    while (value % 2 == 0) {
        value = value / 2;
        count++;
    }
    out[i] = count;
}
