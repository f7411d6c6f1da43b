/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes a matrix through a tile in shared memory. The tile is one column wider than the warp,
 * so that the elements of a column are in different banks. */
#define TILE 32
#define ROWS 8

__global__ void transpose(const unsigned *in, unsigned *out, int width, int height)
{
    __shared__ unsigned tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (int row = 0; row < TILE; row += ROWS) {
        if (x < width && y + row < height)
            tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += ROWS) {
        if (x < height && y + row < width)
            out[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
    }
}
