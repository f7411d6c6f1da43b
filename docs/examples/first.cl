// SPDX-License-Identifier: Apache-2.0
// Each thread computes one element.
kernel void first(global const float *in, global float *out, uint n)
{
    uint i = get_global_id(0);

    if (i < n)
        out[i] = 2.0f * in[i] + 1.0f;
}
