/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of bench/timing_trends. Each has one property that affects its speed on a GPU model or with a policy. */

/* Each thread reads its own cache line word by word. All words after the first hit L1 if the line stays there. */
__kernel void private_stream(__global const int *a, __global int *out, int n)
{
    int t = get_global_id(0), sum = 0;

#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum += a[t * n + i];
    out[t] = sum;
}

/* In each iteration, all threads together read the next part of an array, so that no word is read twice. */
__kernel void stream(__global const int *a, __global int *out, int n)
{
    int t = get_global_id(0), all = get_global_size(0), sum = 0;

#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum += a[i * all + t];
    out[t] = sum;
}

/* Neighbouring threads read the same words, so that wider warps need fewer requests. */
__kernel void gather(__global const int *a, __global int *out, int n)
{
    int t = get_global_id(0), all = get_global_size(0), sum = 0;
    int from = (t & ~63) + ((5 * t) & 63);

#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum += a[i * all + from];
    out[t] = sum;
}

/* Each group of eight threads takes another path, with loads that depend on each other. */
__kernel void paths(__global const int *next, __global int *out, int n)
{
    int t = get_global_id(0), p = t & 4095, q = 0;

#define PATH(k, step)                \
    case k:                          \
        _Pragma("unroll 1")          \
        for (int i = 0; i < n; i++)  \
            p = next[p ^ k], q += p step; \
        break;
    switch ((t >> 3) & 7) {
        PATH(0, *3) PATH(1, *5) PATH(2, ^9) PATH(3, &7) PATH(4, |1) PATH(5, >>2) PATH(6, <<1) PATH(7, -4)
    }
    out[t] = p + q;
}

/* Only arithmetic. The loop body is long, so that the loop counter and the first fetch of the code hardly matter. */
__kernel void compute(__global const int *a, __global int *out, int n)
{
    int t = get_global_id(0), x = a[t], y = x + 1, z = x + 2, w = x + n;

#pragma unroll 1
    for (int j = 0; j < n / 4; j++) {
#pragma unroll
        for (int i = 0; i < 32; i++) {
            x = x * y + i;
            y = y * z + i;
            z = z * w + i;
            w = w * x + i;
        }
    }
    out[t] = x ^ y ^ z ^ w;
}
