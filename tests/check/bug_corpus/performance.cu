/* SPDX-License-Identifier: Apache-2.0 */
/* Code that is slow. tests/check/bug_corpus/memory.cl describes the format; these findings have no lanes. In unoptimised code
 * the addresses of shared memory are generic. */

/* find: bank-conflict @1 0x0 */
__global__ void column_of_a_tile_bad(int *a, int n)
{
    __shared__ int tile[32 * 32];
    tile[threadIdx.x % 32 * 32] = n;                                /* @1 */
    __syncthreads();
    a[threadIdx.x] = tile[0];
}
__global__ void column_of_a_tile_good(int *a, int n)
{
    __shared__ int tile[32 * 33];
    tile[threadIdx.x % 32 * 33] = n;
    __syncthreads();
    a[threadIdx.x] = tile[0];
}
