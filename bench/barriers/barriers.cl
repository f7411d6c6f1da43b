/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels whose threads exchange values through shared memory and synchronise by barriers of the block. */
#define TILE 16

/** Sorts each block's 512 numbers, two for each thread. */
__kernel void bitonic_sort(__global uint *data, __local uint *key)
{
    uint t = get_local_id(0), n = get_local_size(0) * 2, first = get_group_id(0) * n;

    key[t] = data[first + t];
    key[t + n / 2] = data[first + t + n / 2];
    for (uint size = 2; size <= n; size *= 2)
        for (uint stride = size / 2; stride > 0; stride /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint low = 2 * t - (t & (stride - 1)), high = low + stride;
            uint a = key[low], b = key[high];
            bool up = (low & size) == 0;
            key[low] = up ? min(a, b) : max(a, b);
            key[high] = up ? max(a, b) : min(a, b);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[first + t] = key[t];
    data[first + t + n / 2] = key[t + n / 2];
}

/** Inclusive prefix sums of each block. In each step, each thread adds the number whose index is lower by `d` to its own. */
__kernel void scan_steps(__global uint *data, __local uint *sum)
{
    uint t = get_local_id(0), n = get_local_size(0), i = get_global_id(0), value = data[i];

    sum[t] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < n; d *= 2) {
        uint other = t >= d ? sum[t - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        value += other;
        sum[t] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[i] = value;
}

/** Exclusive prefix sums of each block's 512 numbers, by a pass up a tree of partial sums and a pass down. */
__kernel void scan_tree(__global uint *data, __local uint *sum)
{
    uint t = get_local_id(0), n = get_local_size(0) * 2, first = get_group_id(0) * n, step = 1;

    sum[2 * t] = data[first + 2 * t];
    sum[2 * t + 1] = data[first + 2 * t + 1];
    for (uint d = n / 2; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < d)
            sum[step * (2 * t + 2) - 1] += sum[step * (2 * t + 1) - 1];
        step *= 2;
    }
    if (t == 0)
        sum[n - 1] = 0;
    for (uint d = 1; d < n; d *= 2) {
        step /= 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < d) {
            uint left = step * (2 * t + 1) - 1, right = step * (2 * t + 2) - 1, value = sum[left];
            sum[left] = sum[right];
            sum[right] += value;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[first + 2 * t] = sum[2 * t];
    data[first + 2 * t + 1] = sum[2 * t + 1];
}

/** The mean of each point and its four neighbours. Each block reads a tile and the points around the tile. */
__kernel void five_point_tile(__global const float *in, __global float *out, int n)
{
    __local float tile[TILE + 2][TILE + 2];
    int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0) + 1, ly = get_local_id(1) + 1;
    int left = max(x - 1, 0), right = min(x + 1, n - 1), up = max(y - 1, 0), down = min(y + 1, n - 1);

    tile[ly][lx] = in[y * n + x];
    if (lx == 1)
        tile[ly][0] = in[y * n + left];
    if (lx == TILE)
        tile[ly][TILE + 1] = in[y * n + right];
    if (ly == 1)
        tile[0][lx] = in[up * n + x];
    if (ly == TILE)
        tile[TILE + 1][lx] = in[down * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[y * n + x] = 0.2f * (tile[ly][lx] + tile[ly][lx - 1] + tile[ly][lx + 1] + tile[ly - 1][lx] + tile[ly + 1][lx]);
}

/** Twenty weighted means of each number and its neighbours on a ring of 256 numbers in shared memory. */
__kernel void jacobi(__global float *data, __local float *a)
{
    int t = get_local_id(0), n = get_local_size(0), i = get_global_id(0);
    float value = data[i];

    for (int k = 0; k < 20; k++) {
        a[t] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
        value = 0.25f * a[(t + n - 1) & (n - 1)] + 0.5f * value + 0.25f * a[(t + 1) & (n - 1)];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[i] = value;
}

/** A Fourier transform of each block's 512 complex numbers, radix 2, two numbers for each thread. */
__kernel void fft(__global float2 *data, __global const float2 *root, __local float *re, __local float *im)
{
    uint t = get_local_id(0), n = get_local_size(0) * 2, first = get_group_id(0) * n;
    float2 a = data[first + t], b = data[first + t + n / 2];

    for (uint m = 1; m < n; m *= 2) {
        uint k = t & (m - 1), at = ((t - k) << 1) + k;
        float2 w = root[k * (n / 2 / m)];
        float2 turned = (float2)(b.x * w.x - b.y * w.y, b.x * w.y + b.y * w.x);
        re[at] = a.x + turned.x;
        im[at] = a.y + turned.y;
        re[at + m] = a.x - turned.x;
        im[at + m] = a.y - turned.y;
        barrier(CLK_LOCAL_MEM_FENCE);
        a = (float2)(re[t], im[t]);
        b = (float2)(re[t + n / 2], im[t + n / 2]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[first + t] = a;
    data[first + t + n / 2] = b;
}

/** Cheapest paths through `rows` rows of costs. In each row, the results at the two ends of a block become wrong for lack of a
 *  neighbour, so neighbouring blocks overlap. */
__kernel void pathfinder(__global const int *cost, __global const int *from, __global int *to, int columns, int rows, __local int *best)
{
    int t = get_local_id(0), n = get_local_size(0), x = (int)get_group_id(0) * (n - 2 * rows) - rows + t;
    int at = clamp(x, 0, columns - 1), value = from[at];

    best[t] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < rows; k++) {
        bool inside = t > k && t < n - 1 - k;
        if (inside) {
            int left = x > 0 ? best[t - 1] : value, right = x < columns - 1 ? best[t + 1] : value;
            value = min(min(left, right), value) + cost[k * columns + at];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (inside)
            best[t] = value;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t >= rows && t < n - rows && x >= 0 && x < columns)
        to[x] = value;
}

/** Decomposes the 16 x 16 matrix of each block into a lower and an upper triangular matrix (LU). */
__kernel void lud(__global float *data)
{
    __local float m[TILE][TILE + 1];
    int x = get_local_id(0), y = get_local_id(1);
    __global float *mine = data + get_group_id(0) * TILE * TILE;

    m[y][x] = mine[y * TILE + x];
    for (int k = 0; k < TILE - 1; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (x == k && y > k)
            m[y][k] /= m[k][k];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (x > k && y > k)
            m[y][x] -= m[y][k] * m[k][x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    mine[y * TILE + x] = m[y][x];
}

/** Sums the forces of all bodies on each body. A block copies the bodies to shared memory tile by tile. */
__kernel void nbody_tiled(__global const float4 *body, __global float4 *force, int n, __local float4 *tile)
{
    int t = get_local_id(0), size = get_local_size(0), i = get_global_id(0);
    float4 me = body[i], sum = 0;

    for (int base = 0; base < n; base += size) {
        tile[t] = body[base + t];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < size; k++) {
            float4 other = tile[k], d = other - me;
            float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f, r = native_rsqrt(r2);
            sum += d * (other.w * r * r * r);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    force[i] = sum;
}

/** Convolves each row with seventeen weights. */
__kernel void convolve(__global const float *in, __global float *out, __constant float *weight, int n, __local float *row)
{
    int t = get_local_id(0), size = get_local_size(0), i = get_global_id(0);

    row[t + 8] = in[i];
    if (t < 8) {
        row[t] = i >= 8 ? in[i - 8] : 0;
        row[t + size + 8] = i + size < n ? in[i + size] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < 17; k++)
        sum += weight[k] * row[t + k];
    out[i] = sum;
}

/** Transposes a matrix by tiles in shared memory. */
__kernel void transpose_tile(__global const float *in, __global float *out, int n)
{
    __local float tile[TILE][TILE + 1];
    int x = get_local_id(0), y = get_local_id(1), gx = get_group_id(0) * TILE, gy = get_group_id(1) * TILE;

    tile[y][x] = in[(gy + y) * n + gx + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(gx + y) * n + gy + x] = tile[x][y];
}

/** One dot product for each block, by a tree reduction. The steps of the last warp are unrolled, as in old programs. */
__kernel void dot(__global const float *a, __global const float *b, __global float *out, __local float *share)
{
    uint t = get_local_id(0), n = get_local_size(0), i = get_group_id(0) * n * 2 + t;

    share[t] = a[i] * b[i] + a[i + n] * b[i + n];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = n / 2; d > 0; d /= 2) {
        if (t < d)
            share[t] += share[t + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = share[0];
}
