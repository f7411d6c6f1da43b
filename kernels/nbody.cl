/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the accelerations of n bodies; the four floats of a body are x, y, z and the mass. */
__kernel void nbody(__global const float4 *body, __global float4 *acceleration, uint n,
                    float softening)
{
    uint i = get_global_id(0);

    if (i >= n)
        return;
    float4 me = body[i];
    float ax = 0, ay = 0, az = 0;
    for (uint j = 0; j < n; j++) {
        float4 other = body[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float r = rsqrt(dx * dx + dy * dy + dz * dz + softening);
        float f = other.w * r * r * r;

        ax += f * dx;
        ay += f * dy;
        az += f * dz;
    }
    acceleration[i] = (float4)(ax, ay, az, 0);
}
