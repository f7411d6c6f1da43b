/* SPDX-License-Identifier: Apache-2.0 */
/* A function for each way in which a result is returned: in registers, in memory, in a mixed structure. */
typedef struct {
    int a;
    float b;
} pair;
typedef struct {
    float x, y;
    int n;
} mixed;
typedef struct {
    long k[3];
    double d;
} big;

float half_of(float x)
{
    float h = x / 2; /* a float */
    return h;
}
double third(double x)
{
    double t = x / 3; /* a double */
    return t;
}
pair make_pair(int i)
{
    pair p = {i, i + 0.5f}; /* one eightbyte */
    return p;
}
mixed make_mixed(int i)
{
    mixed m = {i, i + 0.25f, 7}; /* two of different classes */
    return m;
}
float4 make_vector(int i)
{
    float4 v = (float4)(i, i + 1, i + 2, i + 3); /* a vector */
    return v;
}
big make_big(int i)
{
    big b = {{i, i + 1, i + 2}, i * 0.25}; /* in memory */
    return b;
}
/* In this function, the hidden argument is relative to the stack pointer. */
long through(int i)
{
    big b = make_big(i);
    return b.k[2];
}
kernel void results(global float *out)
{
    int i = get_global_id(0) + 3;
    float f = half_of(i);
    double d = third(i);
    pair p = make_pair(i);
    mixed m = make_mixed(i);
    float4 v = make_vector(i);
    long l = through(i);
    out[i - 3] = f + d + p.a + p.b + m.x + m.n + v.x + v.w + l;
}
