/* SPDX-License-Identifier: Apache-2.0 */
/* Each output is a weighted mean of nearby inputs; nearer ones weigh more. Has a bug: docs/howto/debug-optimised-code.md. */
static float weight(int distance)
{
    int parts = 1 + distance;
    return 1 / parts;
}

kernel void nearby(global float *out, global const float *in, int n, int reach)
{
    int i = get_global_id(0);
    float sum = 0, total = 0;
    for (int d = -reach; d <= reach; d++) {
        int at = i + d;
        if (at < 0 || at >= n)
            continue;
        float w = weight(abs(d));
        sum += w * in[at];
        total += w;
    }
    out[i] = sum / total;
}
