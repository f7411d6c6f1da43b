/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of bench/papers/run vws. Each has the control flow and access pattern of a benchmark of chapter 6 of the warp
 * scheduling thesis. In the thesis, narrow warps are faster than wide ones on divergent benchmarks, equally fast on insensitive
 * ones, and slower on convergent ones. vws_workloads.py computes the inputs and expected results. In most divergent kernels,
 * the four threads of a quad take the same path, as threads of neighbouring pixels do.
 */

/* ---- divergent ------------------------------------------------------------------------------------------------------ */

/* Lighting: for each light a quad executes one of sixteen paths, selected by its material. */
__kernel void lighting(__global const uint *material, __global uint *out, int lights)
{
    int t = get_global_id(0);
    uint m = material[t], x = t * 2654435761u, seed = x;

#pragma unroll 1
    for (int l = 0; l < lights; l++) {
        uint i;

        switch ((m + l * (m & 3)) & 15) {
#define PATH(n, trips, step) case n: _Pragma("unroll 1") for (i = 0; i < trips; i++) { step; } break;
        PATH(0, 3, x = (x ^ i) * 3)
        PATH(1, 4, x += (x << 3) ^ i)
        PATH(2, 3, x ^= (x >> 5) + i)
        PATH(3, 4, x = x * x + i)
        PATH(4, 3, x = (x - i) ^ seed)
        PATH(5, 4, x -= (x >> 2) | i)
        PATH(6, 3, x = (x | 7) * (seed + i))
        PATH(7, 4, x += seed & (x >> i))
        PATH(8, 3, x = (x << 1 | x >> 31) + i)
        PATH(9, 4, x ^= seed + x * i)
        PATH(10, 3, x = (x + i) * 5 ^ seed)
        PATH(11, 4, x = seed - x + i)
        PATH(12, 3, x += x * 9 ^ i)
        PATH(13, 4, x = (x >> 1) ^ (seed << i))
        PATH(14, 3, x = (x & seed) + x * 3 + i)
        PATH(15, 4, x = (x ^ seed) - (x << i))
        }
    }
    out[t] = x;
}

/* Ray tracing: each quad of rays descends a tree by its own path, and the paths have different lengths. A node consists of two
 * children and a value. */
__kernel void raytrace(__global const int *node, __global const uint *ray, __global uint *out)
{
    int t = get_global_id(0), at = 0;
    uint bits = ray[t], x = 1, steps = 0;

    while (at >= 0) {
        int left = node[at * 4], right = node[at * 4 + 1];
        uint what = node[at * 4 + 2];

        if (what & 1)
            x = x * 31 + what;
        else
            x ^= (x >> 3) + what;
        bits = bits * 1664525u + 1013904223u;
        at = bits >> 31 ? left : right;
        if (++steps == 96)
            break;
    }
    out[t] = x + steps;
}

/* Molecular dynamics (CoMD): each thread sums the forces of an atom's near neighbours. The number of neighbours differs. */
__kernel void comd(__global const int *first, __global const int *neighbour, __global const int *place, __global int *force)
{
    int t = get_global_id(0), sum = 0, mine = place[t], end = first[t + 1];

#pragma unroll 1
    for (int i = first[t]; i < end; i++) {
        int d = place[neighbour[i]] - mine;

        if (d * d < 4000)
            sum += (d * 7 ^ (d >> 2)) * 3 + (d * d >> 5);
    }
    force[t] = sum;
}

/* Game physics: of each 32 bodies, the first or the last 16 do not move; all other bodies execute the same number of steps. */
__kernel void physics(__global const int *active, __global int *state, int steps)
{
    int t = get_global_id(0), x = state[t], v = t & 63;

    if (active[t] == 0)
        return;
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
        v += (x >> 4 & 15) - (v >> 3);
        x += v;
        x ^= x >> 7;
    }
    state[t] = x;
}

/* Object classifier: a window passes through stages, until one rejects it. */
__kernel void classify(__global const int *image, __global const int *stage, __global int *found, int n, int stages)
{
    int t = get_global_id(0), s = 0, x = image[t];

    for (; s < stages; s++) {
        int a = image[(t + stage[s * 4]) % n], b = image[(t + stage[s * 4 + 1]) % n];

        x = (x * 5 + a - b) ^ (x >> 9);
        if ((x & 15) >= stage[s * 4 + 2] + (t / 4 * 7 + s) % 5)
            break;
    }
    found[t] = s * 65536 + (x & 65535);
}

/* ---- insensitive ------------------------------------------------------------------------------------------------------ */

/* Image processing: each pixel is computed independently. */
__kernel void image(__global const uint *in, __global uint *out, int rounds)
{
    int t = get_global_id(0);
    uint x = in[t];

#pragma unroll 4
    for (int i = 0; i < rounds; i++)
        x = (x * 1103515245u + 12345u) ^ (x >> 11);
    out[t] = x;
}

/* Convolution of a row in shared memory. */
__kernel void convolution(__global const int *in, __global const int *bias, __global int *out, int weights)
{
    __local int row[256 + 32];
    int l = get_local_id(0), t = get_global_id(0), sum = 0;

    row[l] = in[t];
    if (l < 32)
        row[256 + l] = in[t + 256];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
    for (int k = 0; k < weights; k++)
        sum += row[l + k] * (k * 3 + 1);
    out[t] = sum + bias[0];
}

/* Butterflies of a transform (FFT), in shared memory. */
__kernel void fft(__global const int *in, __global int *out)
{
    __local int value[256];
    int l = get_local_id(0), t = get_global_id(0);

    value[l] = in[t];
    for (int apart = 1; apart < 256; apart *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int other = value[l ^ apart], mine = value[l], x = l & apart ? other - mine : mine + other;
        barrier(CLK_LOCAL_MEM_FENCE);
        value[l] = x * 3 + apart;
    }
    out[t] = value[l];
}

/* ---- convergent ------------------------------------------------------------------------------------------------------- */

/* Dense matrix multiplication: neighbouring lanes compute neighbouring columns, mostly of the same row. */
__kernel void matmul(__global const int *a, __global const int *b, __global int *c, int n)
{
    int column = get_global_id(0) % n, row = get_global_id(0) / n, sum = 0;

#pragma unroll 4
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

/* A pass of radix sort: reads each key from the position to which the previous pass has moved it, and moves it next to the keys
 * with the same digit. Keys that neighbouring threads read and that have the same digit become neighbours. */
__kernel void radix(__global const uint *key, __global const int *source, __global const int *place, __global uint *out,
                    int keys, int threads)
{
    int t = get_global_id(0);

#pragma unroll 1
    for (int i = 0; i < keys; i++) {
        int at = i * threads + t;

        out[place[at]] = key[source[at]];
    }
}

/* Feature detection: sums boxes by an integral image. The boxes have the same positions in each window. */
__kernel void feature(__global const int *integral, __global int *out, int width, int boxes)
{
    int t = get_global_id(0), x = t % (width - 64), y = t / (width - 64), sum = 0;
    __global const int *at = integral + y * width + x;

#pragma unroll 1
    for (int i = 0; i < boxes; i++) {
        int w = 4 + i % 5 * 3, h = 3 + i % 7;

        sum += at[0] + at[h * width + w] - at[w] - at[h * width];
        at += i % 3;
    }
    out[t] = sum;
}

/* A game's vertices: sums records of four words. */
__kernel void vertices(__global const int4 *in, __global int4 *out, int rounds, int n)
{
    int t = get_global_id(0);
    int4 sum = (int4)(0);

#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        int4 v = in[(t + i * 96) % n];

        sum += v * 3 + (int4)(i);
    }
    out[t] = sum;
}
