/* SPDX-License-Identifier: Apache-2.0 */
kernel void vectors(global float *out)
{
    int i = get_global_id(0);
    float4 v = (float4)(i, i + 0.5f, 3, 4);
    float f = i * 0.5f;

    out[i] = v.x + f; /* uses both */
    out[128 + i] = v.w;
}
