/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of bench/papers/run dwr. Each has the control flow and access pattern of a benchmark of the paper on dynamic warp
 * resizing. dwr.py computes the inputs and expected results. */

/* BKP: convergent. Groups of 64 threads access 64 words in mixed order, so that warps of 8 access each line several times. */
__kernel void bkp(__global const int *in, __global int *out, int rounds)
{
    int t = get_global_id(0), n = get_global_size(0), at = (t & ~63) + (5 * t & 63), sum = 0;

#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        sum += in[r * n + at];
        out[r * n + at] = sum;
    }
}

/* MU: each group of eight threads follows a chain of records of eight words, with its own number of steps. There are few
 * threads, and they wait for memory. Each word of a record is the number of the next record times 8, plus a random number
 * below 8. */
__kernel void mu(__global const int *a, __global const int *b, __global const int *c, __global const int *d,
                 __global int *out, int mask, int steps)
{
    int t = get_global_id(0), g = t >> 3, field = t & 7, at = g * 73 & mask, sum = field;
    unsigned way = (unsigned)g * 2654435761u;

    steps += g * 7919 % (steps / 2);
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
        way = way * 1103515245u + 12345u;
        switch (way >> 16 & 3) {
        case 0: {
            int x = a[at * 8 + field];
            sum = sum * 3 + x;
            at = x >> 3;
            break;
        }
        case 1: {
            int x = b[at * 8 + field];
            sum = (sum ^ x) + i;
            at = (x >> 3) + 1 & mask;
            break;
        }
        case 2: {
            int x = c[at * 8 + field], y = a[(x >> 3) * 8 + field];
            sum -= x + y * 5;
            at = y >> 3;
            break;
        }
        default: {
            int x = d[at * 8 + field];
            sum += x * x;
            at = (x >> 3) ^ 5;
            break;
        }
        }
    }
    out[t] = sum;
}

/* CP: arithmetic, with one load and one store per thread. */
__kernel void cp(__global const int *in, __global int *out, int rounds)
{
    int t = get_global_id(0), x = in[t], y = t;

#pragma unroll 4
    for (int i = 0; i < rounds; i++) {
        x = x * 13 + (y ^ i);
        y = y * 5 + (x >> 7);
    }
    out[t] = x + y;
}

/* NNC: the halves of a block of 16 threads choose their paths independently; the paths have different loads. */
__kernel void nnc(__global const int *a, __global const int *b, __global const int *c, __global const int *d,
                  __global int *out, int n, int steps)
{
    int t = get_global_id(0), best = 0x7fffffff, at = t;
    unsigned way = (unsigned)(t >> 3) * 2654435761u;

#pragma unroll 1
    for (int i = 0; i < steps; i++) {
        int v;

        way = way * 1103515245u + 12345u;
        if ((way >> 16 & 1) != 0) {
            int x = a[at], y = b[at];
            v = x * x - y;
            if ((way >> 17 & 1) != 0)
                v += c[at] * 3;
        } else {
            int x = d[at], y = c[at];
            v = x + y * 5;
            if ((way >> 17 & 1) != 0)
                v ^= b[at] * 7;
        }
        best = v < best ? v : best;
        at += n;
    }
    out[t] = best;
}

/* MTM: multiplies matrices by tiles. The block waits at a barrier before and after it computes with a tile. */
__kernel void mtm(__global const int *a, __global const int *b, __global int *c, int n, int inner)
{
    __local int left[16][16], right[16][16];
    int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1), sum = 0;

    for (int k = 0; k < inner; k += 16) {
        left[y][x] = a[row * inner + k + x];
        right[y][x] = b[(k + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < 16; i++)
            sum += left[y][i] * right[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
