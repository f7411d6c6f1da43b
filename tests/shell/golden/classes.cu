/* SPDX-License-Identifier: Apache-2.0 */
/* Classes that are derived, have a destructor, or have a static member. */
struct base { float w; __device__ base(float x) : w(x) {} };
struct odd : base {
    int k;
    static const int nothing = 3;
    __device__ odd(int i) : base(i + 0.5f), k(i) {}
    __device__ odd(const odd &o) : base(o.w), k(o.k + 100) {}
    __device__ ~odd() { k = -1; }
};
struct plain : base { int k; __device__ plain(int i) : base(i + 0.5f), k(i) {} };
struct dbl { double a, b, c; };
__device__ __noinline__ odd mk_odd(int i) { odd o(i); return o; }
__device__ __noinline__ plain mk_plain(int i) { plain o(i); return o; }
__device__ __noinline__ dbl mk_dbl(int i) { dbl d = {i + 1.0, i + 2.0, i + 3.0}; return d; }
__device__ __noinline__ bool mk_bool(int i) { return i == 0; }
__device__ __noinline__ float3 mk_f3(int i) { return make_float3(i, i + 1, i + 2); }
__device__ __noinline__ int& mk_ref(int *p) { return p[0]; }
extern "C" __global__ void cls(int *out)
{
    int i = threadIdx.x;
    odd o = mk_odd(i);
    plain p = mk_plain(i);
    dbl d = mk_dbl(i);
    bool b = mk_bool(i);
    float3 f = mk_f3(i);
    int &r = mk_ref(out + i);
    r = o.k + p.k + d.b + b + f.y;
}
