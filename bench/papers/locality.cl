/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with the access patterns of the codes of the address pre-computation thesis: a block shares cache lines with the
 * next block in x, with the next block in y, or with no block. All numbers are integers. */

/* HS: two steps of a stencil on tiles of 12 x 12 with a halo of two, in shared memory. */
__kernel void hs(__global const int *in, __global const int *power, __global int *out, int w)
{
    __local int t[16][16];
    int tx = get_local_id(0), ty = get_local_id(1), x = get_group_id(0) * 12 + tx - 2, y = get_group_id(1) * 12 + ty - 2;
    int at = min(max(y, 0), w - 1) * w + min(max(x, 0), w - 1), p = power[at], n;

    t[ty][tx] = n = in[at];
    for (int i = 0; i < 2; i++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (tx > i && tx < 15 - i && ty > i && ty < 15 - i)
            n = ((t[ty - 1][tx] + t[ty + 1][tx] + t[ty][tx - 1] + t[ty][tx + 1] + 4 * t[ty][tx]) >> 3) + p;
        barrier(CLK_LOCAL_MEM_FENCE);
        t[ty][tx] = n;
    }
    if (tx > 1 && tx < 14 && ty > 1 && ty < 14 && x < w && y < w)
        out[y * w + x] = n;
}

/* BP: bp_forward computes a layer of a neural network, then bp_adjust changes its weights. A row of weights has 17 words. */
__kernel void bp_forward(__global const int *in, __global const int *weight, __global int *sum)
{
    __local int t[16][16];
    int tx = get_local_id(0), ty = get_local_id(1), by = get_group_id(1);

    t[ty][tx] = weight[17 * (16 * by + ty + 1) + tx + 1] * in[16 * by + ty];
    for (int rest = 8; rest > 0; rest >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (ty < rest)
            t[ty][tx] += t[ty + rest][tx];
    }
    if (ty == 0)
        sum[16 * by + tx] = t[0][tx];
}
__kernel void bp_adjust(__global const int *in, __global const int *delta, __global const int *weight, __global int *out)
{
    int tx = get_local_id(0), ty = get_local_id(1), at = 17 * (16 * get_group_id(1) + ty + 1) + tx + 1;

    out[at] = weight[at] + delta[tx] * in[16 * get_group_id(1) + ty];
}

/* SRAD: each thread reads its element and the element's four neighbours from global memory. */
__kernel void srad(__global const int *in, __global int *out, int w)
{
    int x = get_global_id(0), y = get_global_id(1), c = in[y * w + x];
    int n = in[max(y - 1, 0) * w + x], s = in[min(y + 1, w - 1) * w + x];
    int a = in[y * w + max(x - 1, 0)], b = in[y * w + min(x + 1, w - 1)];

    out[y * w + x] = c + ((n + s + a + b - 4 * c) >> 2);
}

/* CONV: a convolution with seventeen factors, first along rows, then along columns. */
__kernel void conv_rows(__global const int *in, __constant int *factor, __global int *out, int w)
{
    int x = get_global_id(0), y = get_global_id(1), sum = 0;

#pragma unroll 1
    for (int k = -8; k <= 8; k++)
        sum += factor[k + 8] * in[y * w + min(max(x + k, 0), w - 1)];
    out[y * w + x] = sum;
}
__kernel void conv_columns(__global const int *in, __constant int *factor, __global int *out, int w)
{
    int x = get_global_id(0), y = get_global_id(1), sum = 0;

#pragma unroll 1
    for (int k = -8; k <= 8; k++)
        sum += factor[k + 8] * in[min(max(y + k, 0), w - 1) * w + x];
    out[y * w + x] = sum;
}

/* HIS: blocks of 32 threads read bytes, so that four neighbouring blocks share a line in each round. */
__kernel void his(__global const uchar *in, __global int *out, int rounds)
{
    int t = get_global_id(0), n = get_global_size(0), low = 0, high = 0;

#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        int v = in[k * n + t];

        low += v < 64;
        high += v >= 192;
    }
    out[t] = high * 65536 + low;
}

/* LUD: the inner tiles of one step. Blocks of the same row share the left panel, blocks of the same column the upper panel. */
__kernel void lud(__global const int *a, __global int *out, int n, int k)
{
    __local int left[16][16], up[16][16];
    int tx = get_local_id(0), ty = get_local_id(1), x = get_global_id(0), y = get_global_id(1), sum = 0;

    left[ty][tx] = a[y * n + k + tx];
    up[ty][tx] = a[(k + ty) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 16; i++)
        sum += left[ty][i] * up[i][tx];
    out[y * n + x] = a[y * n + x] - sum;
}

/* GAUSSIAN: neighbouring threads work on neighbouring rows. */
__kernel void gaussian(__global const int *a, __global const int *m, __global int *out, int n, int t)
{
    int row = get_global_id(0), column = get_global_id(1);

    out[n * row + column] = a[n * row + column] - m[n * row + t] * a[n * t + column];
}

/* TRAN: a transpose that reads columns and writes rows. */
__kernel void tran(__global const int *in, __global int *out, int w, int h)
{
    int x = get_global_id(0), y = get_global_id(1);

    out[y * w + x] = in[x * h + y];
}

/* SIFT: a block reads sixteen columns of 64 rows; the block in the next row of blocks reads the next columns. */
__kernel void sift(__global const int *in, __global int *out, int w)
{
    int row = get_global_id(0);
    __global const int4 *at = (__global const int4 *)(in + row * w + get_group_id(1) * 16);
    int4 most = max(max(at[0], at[1]), max(at[2], at[3]));

    out[get_group_id(1) * get_global_size(0) + row] = max(max(most.x, most.y), max(most.z, most.w));
}

/* NN: each block is one warp, and shares no line with other blocks. */
__kernel void nn(__global const int *in, __global int *out, int rounds)
{
    int t = get_global_id(0), n = get_global_size(0), best = 0x7fffffff;

#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        int a = in[(k * n + t) * 2], b = in[(k * n + t) * 2 + 1];

        best = min(best, a * a + b * b);
    }
    out[t] = best;
}

/* NW: the tiles on one diagonal of the matrix. Each thread computes a column of its block's tile. */
__kernel void nw(__global const int *ref, __global int *m, int n, int diagonal, int first)
{
    __local int t[17][17], r[16][16];
    int tx = get_local_id(0), bx = first + get_group_id(0), by = diagonal - bx, x = bx * 16, y = by * 16, w = n + 1;

    for (int i = 0; i < 16; i++)
        r[i][tx] = ref[(y + i) * n + x + tx];
    t[0][tx + 1] = m[y * w + x + tx + 1];
    t[tx + 1][0] = m[(y + tx + 1) * w + x];
    if (tx == 0)
        t[0][0] = m[y * w + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < 31; d++) {
        int i = d - tx;

        if (i >= 0 && i < 16)
            t[i + 1][tx + 1] = max(t[i][tx] + r[i][tx], max(t[i + 1][tx], t[i][tx + 1]) - 10);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 16; i++)
        m[(y + i + 1) * w + x + tx + 1] = t[i + 1][tx + 1];
}

/* GABOR: a filter of 8 x 8, whose factors all blocks read. */
__kernel void gabor(__global const int *in, __constant int *factor, __global int *out, int w)
{
    int x = get_global_id(0), y = get_global_id(1), sum = 0;

#pragma unroll 1
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 8; i++)
            sum += factor[j * 8 + i] * in[(y + j) * (w + 8) + x + i];
    out[y * w + x] = sum;
}

/* Rows: in each round, each thread of a block reads one word of a tile, which has as many rows and columns as the block has
 * threads in y and x. */
__kernel void rows(__global const int *in, __global int *out, int w, int rounds)
{
    int x = get_global_id(0), ty = get_local_id(1), high = get_local_size(1), sum = 0;

#pragma unroll 1
    for (int k = 0; k < rounds; k++)
        sum += in[(k * high + ty) * w + x];
    out[ty * w + x] = sum;
}
