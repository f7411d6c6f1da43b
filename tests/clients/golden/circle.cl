/* SPDX-License-Identifier: Apache-2.0 */
/* A loop that lanes enter in the middle: the front end duplicates the code between this entry and the loop's header. */
__kernel void circle(__global int *out, int n)
{
    int i = (int)get_global_id(0);
    int sum = 0;
    int left = n;
    switch (i & 3) {
    case 0:
        do {
            int step = left * 2;
            sum += step;
    case 3:
            sum += 3;
    case 2:
            sum += 20;
    case 1:
            sum += 100;
        } while (--left > 0);
    }
    out[i] = sum;
}
