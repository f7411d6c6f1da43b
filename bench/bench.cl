/* SPDX-License-Identifier: Apache-2.0 */
/* The eight kernels of the speed measurements. bench/run has their sizes and instruction counts. */

__kernel void vecadd(__global const float *a, __global const float *b, __global float *c, int n)
{
    int i = get_global_id(0);

    if (i < n)
        c[i] = a[i] + b[i];
}

__kernel void gemm(__global const float *a, __global const float *b, __global float *c, int n)
{
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;

    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void gemm_tiled(__global const float *a, __global const float *b, __global float *c, int n)
{
    __local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_global_id(0), row = get_global_id(1);
    float sum = 0;

    for (int t = 0; t < n; t += TILE) {
        tile_a[y][x] = a[row * n + t + x];
        tile_b[y][x] = b[(t + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

__kernel void reduce(__global const float *in, __global float *out, __local float *share, int n)
{
    int lane = get_local_id(0), i = get_global_id(0);

    share[lane] = i < n ? in[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = get_local_size(0) / 2; k > 0; k >>= 1) {
        if (lane < k)
            share[lane] += share[lane + k];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        out[get_group_id(0)] = share[0];
}

__kernel void mandel(__global int *steps, int width, int height, int limit)
{
    int x = get_global_id(0), y = get_global_id(1), k = 0;
    float c_re = -2.0f + 3.0f * x / width, c_im = -1.5f + 3.0f * y / height;
    float re = 0, im = 0;

    while (k < limit && re * re + im * im < 4.0f) {
        float next = re * re - im * im + c_re;

        im = 2 * re * im + c_im;
        re = next;
        k++;
    }
    steps[y * width + x] = k;
}

__kernel void nbody(__global const float4 *body, __global float4 *acceleration, int n)
{
    int i = get_global_id(0);
    float4 me = body[i];
    float ax = 0, ay = 0, az = 0;

    for (int j = 0; j < n; j++) {
        float4 other = body[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float r = rsqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
        float f = other.w * r * r * r;

        ax += f * dx;
        ay += f * dy;
        az += f * dz;
    }
    acceleration[i] = (float4)(ax, ay, az, 0);
}

__kernel void bfs(__global const int *row, __global const int *column, __global int *level,
                  __global int *changed, int n, int current)
{
    int v = get_global_id(0);

    if (v < n && level[v] == current) {
        for (int e = row[v]; e < row[v + 1]; e++) {
            int w = column[e];

            if (level[w] < 0) {
                level[w] = current + 1;
                changed[0] = 1;
            }
        }
    }
}

__kernel void hist(__global const uint *data, __global int *bins, __local int *mine, int n)
{
    int lane = get_local_id(0);

    for (int i = lane; i < 256; i += get_local_size(0))
        mine[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&mine[data[i] & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = lane; i < 256; i += get_local_size(0))
        atomic_add(&bins[i], mine[i]);
}
