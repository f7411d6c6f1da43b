/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of bench/wide. wide.c has their arguments and sizes. */

/* ---- stencils ------------------------------------------------------------------------------------ */

kernel void stencil5(global const float *in, global float *out, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[y * n + x] = 0.2f * (in[y * n + x] + in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

kernel void stencil5_rows(global const float *in, global float *out, int n)
{
    const int i = get_global_id(0), x = i % n, y = i / n;

    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

kernel void stencil9(global const float *in, global float *out, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;

    if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1)
        return;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += in[(y + dy) * n + x + dx] * (float)(2 - abs(dx)) * (float)(2 - abs(dy));
    out[y * n + x] = sum / 16.0f;
}

kernel void stencil7(global const float *in, global float *out, int n)
{
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2), i = (z * n + y) * n + x;

    if (x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1)
        out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
}

kernel void heat(global const float *in, global float *out, int n)
{
    const int i = get_global_id(0);
    const float left = in[max(i - 1, 0)], right = in[min(i + 1, n - 1)];

    out[i] = in[i] + 0.25f * (left - 2.0f * in[i] + right);
}

kernel void conway(global const uchar *in, global uchar *out, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    int alive = 0;

    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            alive += (dx != 0 || dy != 0) && (in[((y + dy) & (n - 1)) * n + ((x + dx) & (n - 1))] & 1);
    out[y * n + x] = alive == 3 || (alive == 2 && (in[y * n + x] & 1));
}

/* ---- linear algebra ------------------------------------------------------------------------------ */

kernel void spmv_row(global const int *row, global const int *column, global const float *value, global const float *x, global float *y)
{
    const int r = get_global_id(0);
    float sum = 0;

    for (int k = row[r]; k < row[r + 1]; k++)
        sum += value[k] * x[column[k]];
    y[r] = sum;
}

kernel void spmv_warp(global const int *row, global const int *column, global const float *value, global const float *x, global float *y, local float *part)
{
    const int lane = get_local_id(0) & 31, r = get_global_id(0) / 32, l = get_local_id(0);
    float sum = 0;

    for (int k = row[r] + lane; k < row[r + 1]; k += 32)
        sum += value[k] * x[column[k]];
    part[l] = sum;
    for (int d = 16; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < d)
            part[l] += part[l + d];
    }
    if (lane == 0)
        y[r] = part[l];
}

kernel void transpose(global const float *in, global float *out, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);

    out[x * n + y] = in[y * n + x];
}

kernel void transpose_tiled(global const float *in, global float *out, int n)
{
    local float tile[16][17];
    const int lx = get_local_id(0), ly = get_local_id(1), bx = get_group_id(0) * 16, by = get_group_id(1) * 16;

    tile[ly][lx] = in[(by + ly) * n + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(bx + ly) * n + by + lx] = tile[lx][ly];
}

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
kernel void gemm_double(global const double *a, global const double *b, global double *c, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    double sum = 0;

    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

kernel void gemm_half(global const half *a, global const half *b, global half *c, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;

    for (int k = 0; k < n; k++)
        sum += vload_half(y * n + k, a) * vload_half(k * n + x, b);
    vstore_half(sum / (float)n, y * n + x, c);
}

kernel void floyd(global int *distance, int n, int k)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int through = distance[y * n + k] + distance[k * n + x];

    if (through < distance[y * n + x])
        distance[y * n + x] = through;
}

/* ---- sorts, scans, reductions -------------------------------------------------------------------- */

kernel void bitonic(global uint *data, int step)
{
    const uint i = get_global_id(0);
    uint k = 2, j, before = 0;

    for (uint passes = 1; before + passes <= (uint)step; passes++) {
        before += passes;
        k *= 2;
    }
    j = k >> ((uint)step - before + 1);
    const uint other = i ^ j;
    if (other > i) {
        const uint a = data[i], b = data[other];

        if ((a > b) == ((i & k) == 0)) {
            data[i] = b;
            data[other] = a;
        }
    }
}

kernel void radix_block(global const uint *in, global uint *out)
{
    local uint key[256], position[256];
    const uint l = get_local_id(0), base = get_group_id(0) * 256;
    uint mine = in[base + l];

    for (uint bit = 0; bit < 32; bit++) {
        const uint one = mine >> bit & 1;

        position[l] = one;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint d = 1; d < 256; d *= 2) {
            const uint add = l >= d ? position[l - d] : 0;

            barrier(CLK_LOCAL_MEM_FENCE);
            position[l] += add;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        key[one ? 256 - position[255] + position[l] - 1 : l - position[l]] = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
        mine = key[l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[base + l] = mine;
}

kernel void scan_steps(global const uint *in, global uint *out)
{
    local uint value[256];
    const uint l = get_local_id(0), i = get_global_id(0);

    value[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < 256; d *= 2) {
        const uint add = l >= d ? value[l - d] : 0;

        barrier(CLK_LOCAL_MEM_FENCE);
        value[l] += add;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = value[l];
}

kernel void scan_tree(global const uint *in, global uint *out)
{
    local uint value[512];
    const uint l = get_local_id(0), base = get_group_id(0) * 512;

    value[2 * l] = in[base + 2 * l];
    value[2 * l + 1] = in[base + 2 * l + 1];
    for (uint d = 256, step = 1; d > 0; d /= 2, step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            value[step * (2 * l + 2) - 1] += value[step * (2 * l + 1) - 1];
    }
    if (l == 0)
        value[511] = 0;
    for (uint d = 1, step = 256; d < 512; d *= 2, step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            const uint left = value[step * (2 * l + 1) - 1];

            value[step * (2 * l + 1) - 1] = value[step * (2 * l + 2) - 1];
            value[step * (2 * l + 2) - 1] += left;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + 2 * l] = value[2 * l];
    out[base + 2 * l + 1] = value[2 * l + 1];
}

kernel void arg_max(global const float *in, global int *out, int n)
{
    local float best[256];
    local int where[256];
    const int l = get_local_id(0);
    float most = -1e30f;
    int at = -1;

    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        if (in[i] > most) {
            most = in[i];
            at = i;
        }
    best[l] = most;
    where[l] = at;
    for (int d = 128; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d && (best[l + d] > best[l] || (best[l + d] == best[l] && where[l + d] < where[l]))) {
            best[l] = best[l + d];
            where[l] = where[l + d];
        }
    }
    if (l == 0)
        out[get_group_id(0)] = where[0];
}

kernel void triad(global const float *a, global const float *b, global float *c, int n)
{
    const int i = get_global_id(0);

    c[3 * i % n] = a[3 * i % n] + 1.5f * b[3 * i % n];
}

/* ---- signals and images -------------------------------------------------------------------------- */

kernel void fft(global const float *in, global float2 *out)
{
    local float2 value[256];
    const uint l = get_local_id(0), base = get_group_id(0) * 256;
    uint reversed = 0;

    for (uint b = 0; b < 8; b++)
        reversed |= (l >> b & 1) << (7 - b);
    value[reversed] = (float2)(in[base + l], 0);
    for (uint half_size = 1; half_size < 256; half_size *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < 128) {
            const uint k = l & (half_size - 1), even = 2 * l - k, odd = even + half_size;
            const float angle = -3.14159265f * (float)k / (float)half_size, c = native_cos(angle), s = native_sin(angle);
            const float2 e = value[even], o = value[odd];
            const float2 turned = (float2)(o.x * c - o.y * s, o.x * s + o.y * c);

            value[even] = e + turned;
            value[odd] = e - turned;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base + l] = value[l];
}

kernel void convolve(global const float *in, constant const float *weight, global float *out, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;

    if (x < 3 || y < 3 || x >= n - 3 || y >= n - 3)
        return;
    for (int dy = 0; dy < 7; dy++)
        for (int dx = 0; dx < 7; dx++)
            sum += weight[dy * 7 + dx] * in[(y + dy - 3) * n + x + dx - 3];
    out[y * n + x] = sum;
}

kernel void convolve_row(global const float *in, constant const float *weight, global float *out, int n)
{
    local float line[256 + 16];
    const int l = get_local_id(0), i = get_global_id(0);
    float sum = 0;

    line[l + 8] = in[i];
    if (l < 8) {
        line[l] = in[max(i - 8, 0)];
        line[l + 264] = in[min(i + 256, n - 1)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 17; k++)
        sum += weight[k] * line[l + k];
    out[i] = sum;
}

kernel void gray(global const uchar4 *in, global uchar *out)
{
    const int i = get_global_id(0);
    const uchar4 p = in[i];

    out[i] = (uchar)((77 * p.x + 150 * p.y + 29 * p.z) >> 8);
}

kernel void sobel(global const uchar *in, global uchar *out, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);

    if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1)
        return;
    global const uchar *p = in + y * n + x;
    const int gx = p[1 - n] + 2 * p[1] + p[1 + n] - p[-1 - n] - 2 * p[-1] - p[n - 1];
    const int gy = p[n - 1] + 2 * p[n] + p[n + 1] - p[-n - 1] - 2 * p[-n] - p[1 - n];

    out[y * n + x] = (uchar)min((int)(abs(gx) + abs(gy)), 255);
}

kernel void box_short(global const ushort *in, global ushort *out, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    uint sum = 0;

    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += in[clamp(y + dy, 0, n - 1) * n + clamp(x + dx, 0, n - 1)];
    out[y * n + x] = (ushort)(sum / 25);
}

/* ---- data mining, dynamic programming ------------------------------------------------------------ */

kernel void kmeans(global const float *point, global const float *center, global int *nearest, int n)
{
    const int i = get_global_id(0);
    float best = 1e30f;
    int at = 0;

    for (int c = 0; c < 16; c++) {
        float sum = 0;

        for (int d = 0; d < 8; d++) {
            const float difference = point[d * n + i] - center[c * 8 + d];

            sum += difference * difference;
        }
        if (sum < best) {
            best = sum;
            at = c;
        }
    }
    nearest[i] = at;
}

kernel void pathfinder(global const int *wall, global int *result, int n, int rows)
{
    local int cost[2][256];
    const int l = get_local_id(0), x = get_global_id(0);

    cost[0][l] = wall[x];
    for (int r = 1; r < rows; r++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const int from = (r - 1) & 1, left = cost[from][max(l - 1, 0)], right = cost[from][min(l + 1, 255)];

        cost[r & 1][l] = wall[r * n + x] + min(cost[from][l], min(left, right));
    }
    result[x] = cost[(rows - 1) & 1][l];
}

kernel void needle(global const uchar *first, global const uchar *second, global int *score)
{
    local int previous[65], last[65], now[65];
    const int l = get_local_id(0), g = get_group_id(0);

    for (int d = 0; d < 127; d++) { /* anti-diagonal d: thread l computes the cell in column l, row d - l */
        const int r = d - l;

        if (r >= 0 && r < 64) {
            const int diagonal = l == 0 || r == 0 ? -(l + r) : previous[l - 1];
            const int up = r == 0 ? -(l + 1) : last[l], left = l == 0 ? -(r + 1) : last[l - 1];
            const int match = (first[g * 64 + l] & 3) == (second[g * 64 + r] & 3) ? 2 : -1;

            now[l] = max(diagonal + match, max(up, left) - 1);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        previous[l] = last[l];
        last[l] = now[l];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 63)
        score[g] = last[63];
}

/* ---- hashes, ciphers, searches ------------------------------------------------------------------- */

constant uint sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

kernel void sha256(global const uint *message, global uint *digest)
{
    const uint i = get_global_id(0);
    uint w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    for (uint k = 0; k < 16; k++)
        w[k] = message[16 * i + k];
    uint a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], z = h[7];
    for (uint t = 0; t < 64; t++) {
        if (t >= 16) {
            const uint x = w[(t + 1) & 15], y = w[(t + 14) & 15];

            w[t & 15] += (rotate(x, 25u) ^ rotate(x, 14u) ^ (x >> 3)) + w[(t + 9) & 15] + (rotate(y, 15u) ^ rotate(y, 13u) ^ (y >> 10));
        }
        const uint one = z + (rotate(e, 26u) ^ rotate(e, 21u) ^ rotate(e, 7u)) + ((e & f) ^ (~e & g)) + sha_k[t] + w[t & 15];
        const uint two = (rotate(a, 30u) ^ rotate(a, 19u) ^ rotate(a, 10u)) + ((a & b) ^ (a & c) ^ (b & c));

        z = g; g = f; f = e; e = d + one; d = c; c = b; b = a; a = one + two;
    }
    digest[8 * i] = h[0] + a;
    digest[8 * i + 1] = h[1] + b;
    digest[8 * i + 2] = h[2] + c;
    digest[8 * i + 3] = h[3] + d;
    digest[8 * i + 4] = h[4] + e;
    digest[8 * i + 5] = h[5] + f;
    digest[8 * i + 6] = h[6] + g;
    digest[8 * i + 7] = h[7] + z;
}

kernel void xtea(global const uint2 *in, global uint2 *out, global const uint *key)
{
    const int i = get_global_id(0);
    uint2 v = in[i];
    uint sum = 0;

    for (int r = 0; r < 32; r++) {
        v.x += (((v.y << 4) ^ (v.y >> 5)) + v.y) ^ (sum + key[sum & 3]);
        sum += 0x9e3779b9;
        v.y += (((v.x << 4) ^ (v.x >> 5)) + v.x) ^ (sum + key[sum >> 11 & 3]);
    }
    out[i] = v;
}

kernel void queens(global uint *count, int n)
{
    const uint i = get_global_id(0), all = (1u << n) - 1;
    uint columns[16], left[16], right[16], free_squares[16], found = 0;
    int depth = 2;
    const uint first = 1u << i % n, second = 1u << i / n;

    columns[2] = first | second;
    left[2] = (first << 2 | second << 1) & all;
    right[2] = first >> 2 | second >> 1;
    free_squares[2] = second == first || second == first << 1 || second == first >> 1 ? 0 : all & ~(columns[2] | left[2] | right[2]);
    while (depth >= 2) {
        const uint square = free_squares[depth] & -free_squares[depth];

        if (square == 0) {
            depth--;
            continue;
        }
        free_squares[depth] ^= square;
        if (depth == n - 1) {
            found++;
            continue;
        }
        columns[depth + 1] = columns[depth] | square;
        left[depth + 1] = (left[depth] | square) << 1;
        right[depth + 1] = (right[depth] | square) >> 1;
        depth++;
        free_squares[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
    }
    count[i] = found;
}

kernel void collatz(global uint *steps)
{
    ulong n = get_global_id(0) + 1;
    uint count = 0;

    for (; n != 1; count++)
        n = n & 1 ? 3 * n + 1 : n / 2;
    steps[get_global_id(0)] = count;
}

kernel void search(global const int *table, global const uint *key, global int *at, int n)
{
    const int i = get_global_id(0), wanted = key[i] % (4 * (uint)n);
    int low = 0, high = n;

    while (low < high) {
        const int middle = low + (high - low) / 2;

        if (4 * middle + (table[middle] & 3) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    at[i] = low;
}

kernel void mandel_double(global int *steps, int n, int limit)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const double cx = -2.0 + 3.0 * x / n, cy = -1.5 + 3.0 * y / n;
    double zx = 0, zy = 0;
    int count = 0;

    while (count < limit && zx * zx + zy * zy < 4.0) {
        const double next = zx * zx - zy * zy + cx;

        zy = 2.0 * zx * zy + cy;
        zx = next;
        count++;
    }
    steps[y * n + x] = count;
}

/* ---- Monte Carlo, finance, atomics, launches ------------------------------------------------------- */

kernel void monte_carlo(global const uint *seed, global uint *inside, int rounds)
{
    uint state = seed[get_global_id(0)] | 1, hits = 0;

    for (int r = 0; r < rounds; r++) {
        state ^= state << 13; state ^= state >> 17; state ^= state << 5;
        const float x = (float)(state >> 8) * (1.0f / 16777216.0f);

        state ^= state << 13; state ^= state >> 17; state ^= state << 5;
        const float y = (float)(state >> 8) * (1.0f / 16777216.0f);

        hits += x * x + y * y < 1.0f;
    }
    inside[get_global_id(0)] = hits;
}

kernel void black_scholes(global const float *price, global const float *strike, global float *call)
{
    const int i = get_global_id(0);
    const float s = 20.0f + 10.0f * price[i], k = 20.0f + 10.0f * strike[i], rate = 0.02f, v = 0.3f, t = 1.5f;
    const float d1 = (log(s / k) + (rate + 0.5f * v * v) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
    const float n1 = 0.5f * erfc(-d1 * 0.70710678f), n2 = 0.5f * erfc(-d2 * 0.70710678f);

    call[i] = s * n1 - k * exp(-rate * t) * n2;
}

kernel void histogram(global const uint *in, global uint *bins)
{
    atomic_inc(&bins[in[get_global_id(0)] & 1023]);
}

kernel void histogram_local(global const uint *in, global uint *bins, int n)
{
    local uint mine[256];

    mine[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[in[i] & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[get_local_id(0)], mine[get_local_id(0)]);
}

kernel void small(global const float *x, global float *y)
{
    const int i = get_global_id(0);

    y[i] += 0.5f * x[i];
}
