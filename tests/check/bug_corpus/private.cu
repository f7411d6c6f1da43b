/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of tests/check/bug_corpus/private.cl in CUDA
 */

/* find: variable-bounds @1 0x88888888 */
extern "C" __global__ void past_a_private_bad(int *a, int n)
{
    int front[4], own[4], back[4];
    int i = threadIdx.x;
    for (int k = 0; k < 4; k++)
        front[k] = own[k] = back[k] = k;
    if (blockIdx.x == 0)
        a[i] = own[i % 4 + 1];                         /* @1 */
}
extern "C" __global__ void past_a_private_good(int *a, int n)
{
    int front[4], own[4], back[4];
    int i = threadIdx.x;
    for (int k = 0; k < 4; k++)
        front[k] = own[k] = back[k] = k;
    if (blockIdx.x == 0)
        a[i] = own[i % 4];
}
