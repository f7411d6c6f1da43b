/* SPDX-License-Identifier: Apache-2.0 */
/* Small kernels with code shapes of public suites that are easily translated wrongly. */

/* Lanes of a warp of W lanes count without atomics: each lane stores its sum with a tag, and reads which lane's store remains. */
#define WARPS (128 / W)
__kernel void tagged_count(__global uint *bins, __global const uint *data, int n)
{
    volatile __local uint count[WARPS * 16];
    uint warp = get_local_id(0) / W, tag = (get_local_id(0) % W) << 26;

    for (uint i = get_local_id(0); i < WARPS * 16; i += get_local_size(0))
        count[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        volatile __local uint *c = &count[warp * 16 + data[i]];
        uint sum;

        do {
            sum = tag | ((*c & 0x3ffffff) + 1);
            *c = sum;
        } while (*c != sum);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < 16; i += get_local_size(0)) {
        uint sum = 0;

        for (int w = 0; w < WARPS; w++)
            sum += count[w * 16 + i] & 0x3ffffff;
        atomic_add(&bins[i], sum);
    }
}

/* Conversions clamp values that are out of range, as the PTX instruction does. */
__kernel void convert_all(__global const float *x, __global uint *u, __global int *s)
{
    int i = get_global_id(0);

    u[i] = (uint)x[i];
    s[i] = (int)x[i];
}

/* In each round, all work-groups wait for each other, and pass a value to the next work-group. */
__kernel void grid_rounds(volatile __global int *met, volatile __global int *slots, int rounds)
{
    int group = get_group_id(0), groups = get_num_groups(0);

    for (int r = 0; r < rounds; r++) {
        int value = slots[(r & 1) * groups + (group + 1) % groups];

        if (get_local_id(0) == 0)
            slots[(~r & 1) * groups + group] = value + 1;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (get_local_id(0) == 0) {
            atomic_add(met, 1);
            while (atomic_or(met, 0) < groups * (r + 1))
                ;
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}

/* Tree reductions in which complete work-groups and the partial last one take different branches, both with barriers in loops. */
__kernel void sums(__global float *x, int n)
{
    __local float part[64];
    int i = get_global_id(0), l = get_local_id(0), group = get_group_id(0);
    int last = n - group * 64;

    if (i < n)
        part[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (last >= 64) {
        for (int step = 2; step <= 64; step *= 2) {
            if ((l + 1) % step == 0)
                part[l] += part[l - step / 2];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (l == 63)
            x[group * 64] = part[63];
    } else {
        int whole = 1;

        while (whole * 2 <= last)
            whole *= 2;
        for (int step = 2; step <= whole; step *= 2) {
            if ((l + 1) % step == 0 && l < whole)
                part[l] += part[l - step / 2];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (l == whole - 1) {
            for (int k = whole; k < last; k++)
                part[l] += x[group * 64 + k];
            x[group * 64] = part[l];
        }
    }
}

/* A scan row by row, in which the last thread passes the sum to the next row. The barriers are in a function. */
uint scan(uint value, __local uint *mem)
{
    int l = get_local_id(0), size = get_local_size(0);

    mem[l] = 0;
    mem[l + size] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < size; d *= 2) {
        uint t = mem[l + size - d];

        barrier(CLK_LOCAL_MEM_FENCE);
        mem[l + size] += t;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return mem[l + size - 1];
}

__kernel void rows(__global uint *x, int n, int count, __local uint *mem)
{
    __local uint seed;
    int l = get_local_id(0);

    seed = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < count; r++) {
        uint value = l < n ? x[r * n + l] : 0, before = scan(value, mem);

        if (l < n)
            x[r * n + l] = before + seed;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l == n - 1)
            seed += before + value;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* There are more elements than threads. A work-group keeps its new values in a buffer until all neighbours have been read. */
__kernel void relax(__global int *x, int n, int rounds)
{
    __local int cell[512], wait[64];
    int l = get_local_id(0), blocks = (n + 63) / 64, i, old_i = 0;

    for (i = l; i < n; i += 64)
        cell[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < rounds; r++) {
        int first = cell[n - 1];

        barrier(CLK_LOCAL_MEM_FENCE);
        for (int b = 0; b < blocks; b++) {
            int value = 0;

            i = b * 64 + l;
            if (i < n)
                value = i == 0 ? first : cell[i - 1];
            barrier(CLK_LOCAL_MEM_FENCE);
            if (b > 0 && old_i < n)
                cell[old_i] = wait[l];
            if (b < blocks - 1)
                wait[l] = value;
            else if (i < n)
                cell[i] = value;
            old_i = i;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    for (i = l; i < n; i += 64)
        x[i] = cell[i];
}

/* Structures are passed by value, and are in buffers and in local memory. Functions get pointers to them. */
struct near { int x; long at; };
struct box { int number; long first; int count; struct near near[3]; };
struct scale { float by; int add; };
struct tile { int width; struct box box; float data[40]; };

float look(__local struct tile *t, int i) { return t->data[i % t->width] + t->box.near[2].x; }

void fill(__local struct tile *t, const struct box *b, int l)
{
    if (l == 0) {
        t->width = 32;
        t->box = *b;
    }
    t->data[l] = (float)(b->first + l);
}

__kernel void boxes(__global const struct box *all, __global float *out, struct scale s)
{
    __local struct tile tile;
    int l = get_local_id(0), g = get_group_id(0);
    struct box mine = all[all[g].near[1].at];

    fill(&tile, &mine, l);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g * 32 + l] = look(&tile, l + 1) * s.by + s.add;
}
