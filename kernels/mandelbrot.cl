/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts steps until z = z * z + c leaves the disk of radius two. Neighbouring threads leave the
 * loop in different iterations. Without contraction to fma a host computes the same counts.
 */
#pragma OPENCL FP_CONTRACT OFF

__kernel void mandelbrot(__global uint *steps, uint width, uint height, float scale, uint limit)
{
    uint i = get_global_id(0);

    if (i >= width * height)
        return;
    float c_re = (float)(i % width) * scale - 2.0f;
    float c_im = (float)(i / width) * scale - 1.25f;
    float re = 0, im = 0;
    uint k = 0;
    while (k < limit && re * re + im * im < 4.0f) {
        float next = re * re - im * im + c_re;
        im = 2.0f * re * im + c_im;
        re = next;
        k++;
    }
    steps[i] = k;
}
