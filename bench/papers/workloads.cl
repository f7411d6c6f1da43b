/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of bench/papers/run. Each has the access pattern of a benchmark of the papers. workloads.py computes the
 * inputs and expected results. */

/* Finds the nearest of @k centres for each point. A point is a row of the input; the row is read again for each centre. */
__kernel void kmn(__global const int *point, __global const int *centre, __global int *nearest, int features, int k)
{
    int t = get_global_id(0), least = 0x7fffffff, found = -1;

    for (int c = 0; c < k; c++) {
        int distance = 0;

#pragma unroll 1
        for (int f = 0; f < features; f++) {
            int d = point[t * features + f] - centre[c * features + f];

            distance += d * d;
        }
        if (distance < least) {
            least = distance;
            found = c;
        }
    }
    nearest[t] = found;
}

/* Computes the next level of a breadth-first search: each vertex of the last level visits all its neighbours. */
__kernel void bfs(__global const int *row, __global const int *column, __global int *level, __global int *changed, int n,
                  int current)
{
    int v = get_global_id(0);

    if (v < n && level[v] == current) {
#pragma unroll 1
        for (int e = row[v]; e < row[v + 1]; e++) {
            int w = column[e];

            if (level[w] < 0) {
                level[w] = level[v] + 1;
                changed[0] = 1;
            }
        }
    }
}

/* Looks up a key in a hash table with chains, and sums the words of its value. A record consists of the number of
 * the next record, the number of words of the value, the key and the value. */
__kernel void memc(__global const uint *request, __global const int *bucket, __global const uint *record,
                   __global uint *answer, int buckets, int key_words, int record_words)
{
    int t = get_global_id(0);
    __global const uint *key = request + t * key_words;
    uint hash = 0, sum = 0;

#pragma unroll 1
    for (int i = 0; i < key_words; i++)
        hash = hash * 31 + key[i];
    for (int at = bucket[hash % buckets]; at >= 0;) {
        __global const uint *r = record + at * record_words;
        int same = 0;

#pragma unroll 1
        while (same < key_words && r[2 + same] == key[same])
            same++;
        if (same == key_words) {
            int words = r[1];

#pragma unroll 1
            for (int i = 0; i < words; i++)
                sum = sum * 5 + r[2 + key_words + i];
            break;
        }
        at = r[0];
    }
    answer[t] = sum;
}

/* A round of marking in garbage collection. Each object that the last round reached marks the objects to which it refers, and
 * its words are read. An object consists of its class, its numbers of references and words, the references and the words. */
__kernel void gc(__global const int *object, __global const int *heap, __global const int *class, __global int *mark,
                 __global int *sum, __global int *changed, int n, int round)
{
    int t = get_global_id(0);

    if (t >= n || mark[t] != round)
        return;
    __global const int *o = heap + object[t];
    int kind = o[0], references = o[1], words = o[2], total = class[2 * kind] + class[2 * kind + 1];

#pragma unroll 1
    for (int i = 0; i < references; i++) {
        int to = o[3 + i];

        if (mark[to] < 0) {
            mark[to] = round + 1;
            changed[0] = 1;
        }
    }
#pragma unroll 1
    for (int i = 0; i < words; i++)
        total = total * 3 + o[3 + references + i];
    sum[t] = total;
}

/* A round of shortest paths: computes the least distance of each node over its edges. The low 16 bits of an edge are the number
 * of the neighbour - the number of the node + 128; the high 16 bits are the weight. */
__kernel void sssp(__global const uint *edge, __global const int *old, __global int *new, __global int *changed, int degree)
{
    int v = get_global_id(0), least = old[v];

#pragma unroll 1
    for (int e = 0; e < degree; e++) {
        uint x = edge[v * degree + e];
        int offer = old[v + (int)(x & 0xffff) - 128] + (int)(x >> 16);

        if (offer < least)
            least = offer;
    }
    if (least < old[v])
        changed[0] = 1;
    new[v] = least;
}

/* Half of the warps read a table, whose lines they all share. The other warps read the lines of a stream, each of which is
 * read again only after a long time. Each lane of a warp reads another line. @entries, @lines: powers of two. */
__kernel void mixed(__global const uint *table, __global const uint *stream, __global uint *out, uint entries, uint lines, int steps)
{
    uint t = get_global_id(0), total = 0;

    if (t / 32 % 2 == 0) {
#pragma unroll 1
        for (uint i = 0; i < (uint)steps; i++)
            total = total * 3 + table[(t * 40503u + i * 2654435761u) >> 7 & (entries - 1)];
    } else {
#pragma unroll 1
        for (uint i = 0; i < (uint)steps; i++)
            total = total * 3 + stream[(t + i * 2654435u & (lines - 1)) * 32];
    }
    out[t] = total;
}

/* ---- kernels whose speed does not depend on L1 ---- */

__kernel void vecadd(__global const int *a, __global const int *b, __global int *c)
{
    int t = get_global_id(0);

    c[t] = a[t] + b[t];
}

/* Computes steps of a five-point stencil on a tile of 16 x 16 in shared memory. The elements at the edges of the tile do not
 * change. */
__kernel void hotsp(__global const int *in, __global int *out, int width, int steps)
{
    __local int tile[2][16][16];
    int x = get_local_id(0), y = get_local_id(1), at = get_global_id(1) * width + get_global_id(0);
    int inside = x > 0 && x < 15 && y > 0 && y < 15;

    tile[0][y][x] = tile[1][y][x] = in[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < steps; s++) {
        __local int (*from)[16] = tile[s & 1], (*to)[16] = tile[~s & 1];

        if (inside)
            to[y][x] = (from[y][x] * 4 + from[y][x - 1] + from[y][x + 1] + from[y - 1][x] + from[y + 1][x]) >> 3;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[at] = tile[steps & 1][y][x];
}

/* Gaussian elimination in tiles of 16 x 16, as if each pivot were 1, in 32-bit arithmetic that wraps. */
__kernel void lud(__global uint *a, int width)
{
    __local uint tile[16][16];
    int x = get_local_id(0), y = get_local_id(1), at = get_global_id(1) * width + get_global_id(0);

    tile[y][x] = a[at];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 15; k++) {
        if (y > k && x > k)
            tile[y][x] -= tile[y][k] * tile[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    a[at] = tile[y][x];
}

/* A layer of a neural network: each block of 16 x 16 threads sums the products of 16 inputs and their weights for 16 outputs. */
__kernel void backp(__global const int *in, __global const int *weight, __global int *partial, int outputs)
{
    __local int product[16][16];
    int x = get_local_id(0), y = get_local_id(1), i = get_global_id(1), o = get_global_id(0);

    product[y][x] = in[i] * weight[i * outputs + o];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int h = 8; h > 0; h >>= 1) {
        if (y < h)
            product[y][x] += product[y + h][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (y == 0)
        partial[get_group_id(1) * outputs + o] = product[0][x];
}
