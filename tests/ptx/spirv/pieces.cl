/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels with what differs between LLVM IR for SPIR and for PTX: address spaces in names of functions, generic pointers, constants,
 * structures, atomics, functions of work-groups and sub-groups, vectors, and printf. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct {
    int a;
    float b[3];
} pair;

constant float table[4] = {1.0f, 2.0f, 3.0f, 4.0f};
global int counter = 5;

float through(const float *p, pair s)
{
    return *p + s.b[1];
}

kernel void pieces(global float *x, global int *out, constant int *weights, local float *shared, pair s, global atomic_int *sum)
{
    const size_t i = get_global_id(0), l = get_local_id(0);
    local int counted;
    float y = x[i], whole, parts[4];
    int exponent;
    float4 v = vload4(l & 3, x);

    if (l == 0)
        counted = 0;
    parts[i & 3] = y;
    shared[l] = y * 2.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counted, weights[i & 3]);
    atomic_fetch_add_explicit(sum, (int)i, memory_order_acq_rel, memory_scope_device);
    atomic_inc(&counter);
    y = fract(y * 0.37f, &whole) + frexp(y + 0.5f, &exponent) + exponent + modf(y, parts);
    barrier(CLK_LOCAL_MEM_FENCE);
    v = mad(v, (float4)(y), shuffle(v, (uint4)(3, 2, 1, 0)));
    vstore2(v.lo, l, shared + 64);
    x[i] = sin(y) + table[i & 3] + through(shared + (l ^ 1), s) + through(parts, s) + through(&x[i], s) + dot(v, v) +
           work_group_reduce_add(y) + sub_group_scan_inclusive_add(y) + convert_float(convert_uchar_sat(y * 300.0f));
    out[i] = counted + popcount((int)i) + clz((int)i) + mad24((int)i, 3, exponent) + any(isless(v, (float4)(1.0f))) +
             (int)get_local_linear_id() + (int)get_enqueued_local_size(0) + (int)rotate((uint)i, 3u);
    if (i == 1)
        printf("%d %s %.2f %v4hld\n", (int)i, "one", table[1], (int4)(1, 2, 3, 4));
}

kernel void called(global int *out)
{
    out[get_global_id(0)] += 5;
}

/* A kernel that calls a kernel */
kernel void caller(global int *out)
{
    called(out);
    out[get_global_id(0)] *= 2;
}

kernel __attribute__((reqd_work_group_size(32, 1, 1))) void copies(global const float *from, global float *to, local float *in)
{
    event_t done = async_work_group_copy(in, from, 32, 0);
    double wide = 0.1;
    half narrow = (half)1.5f;

    wait_group_events(1, &done);
    to[get_global_id(0)] = (float)(in[31 - get_local_id(0)] * wide) + (float)narrow + vload_half(0, (const half *)&narrow);
}
