/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of all sorts, for tests of debuggers. */
typedef struct {
    int id;
    float weight[3];
    struct {
        char tag;
        long big;
    } in;
} record;

enum color { RED, GREEN = 5, BLUE };

__constant float scale[2] = { 0.5f, 2.0f };

__kernel void variables(__global float *out, __global const record *records, int n,
                        __local int *scratch)
{
    __local int table[64];
    int i = get_global_id(0);
    record r;
    enum color c = GREEN;
    float arr[4];
    unsigned char small = 200;

    r.id = i;
    r.in.big = -7;
    for (int k = 0; k < 4; k++) {
        float t = k * 1.5f;
        arr[k] = t + i; /* in the loop */
    }
    table[get_local_id(0)] = i;
    scratch[get_local_id(0)] = 3 * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) /* behind the barrier */
        out[i] = arr[i & 3] * scale[1] + r.id + table[1] + scratch[2] + small + (float)c;
}
