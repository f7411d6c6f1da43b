/* Inlined calls in loops: gdb_inlined.sh. */
static int limit(int v, int low, int high)
{
    int r = v;
    if (r < low)
        r = low;
    if (r > high)
        r = high;
    return r;
}

static int weigh(int v, int k, global int *mark)
{
    int w = limit(v, k, 40);
    *mark = w;
    return w * 3;
}

kernel void unrolled_calls(global int *out, global const int *in, int n)
{
    int lid = get_local_id(0);
    int total = lid;
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        int v = in[lid + 32 * i];
        total += weigh(v, i * n, out + 32);
        out[lid] = total;
    }
    #pragma nounroll
    for (int j = 0; j < n; j++) {
        int v = in[lid + j];
        total += limit(v, j, 20) ^ limit(v, n, 30);
        out[64 + lid] = total;
    }
    #pragma unroll 2
    for (int k = 0; k < n; k++) {
        int v = in[lid ^ k];
        total -= weigh(v + total, k, out + 33);
        out[96 + lid] = total;
    }
    out[lid] = total;
}
