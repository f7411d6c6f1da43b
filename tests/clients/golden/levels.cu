// SPDX-License-Identifier: Apache-2.0
struct point {
    float x, y;
};

static __device__ __forceinline__ float square(float v)
{
    float twice = v + v;
    return twice * v * 0.5f;
}

static __device__ __forceinline__ float length2(const point &p)
{
    float sum = square(p.x);
    sum += square(p.y);
    return sum;
}

static __device__ __forceinline__ int nearest(const point *all, int n, point to, float *best)
{
    int found = -1;
    for (int i = 0; i < n; i++) {
        point d = {all[i].x - to.x, all[i].y - to.y};
        float l = length2(d);
        if (found < 0 || l < *best) {
            *best = l;
            found = i;
        }
    }
    return found;
}

extern "C" __global__ void levels(const point *all, int n, const point *from, int *out)
{
    int i = threadIdx.x;
    float best = 0;
    int which = nearest(all, n, from[i], &best);
    out[2 * i] = which;
    out[2 * i + 1] = (int)square(best);
}
