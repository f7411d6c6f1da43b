/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic with an undefined or infinite result. memory.cl describes the format; a is filled with zeros. There is no shift
 * by too many bits, since OpenCL C takes the count of a shift modulo the number of bits. */

/* find: division-by-zero @1 0x20 */
kernel void divided_bad(global int *a, int n)
{
    int i = get_global_id(0);

    if (i < n)
        a[i] = n / (a[i] + i - 5); /* @1 */
}
kernel void divided_good(global int *a, int n)
{
    int i = get_global_id(0);

    if (i < n)
        a[i] = n / (a[i] + i + 5);
}

/* find: float-cast-overflow @3 0x8 */
kernel void converted_bad(global int *a, int n)
{
    int i = get_global_id(0);
    float big = i == 3 ? 3e9f + a[0] : 3e4f;

    if (i < n)
        a[i] = (int)big; /* @3 */
}
kernel void converted_good(global int *a, int n)
{
    int i = get_global_id(0);
    float big = i == 3 ? 2e9f + a[0] : 3e4f;

    if (i < n)
        a[i] = (int)big;
}

/* find: nan-generated @4 0x1 */
kernel void root_bad(global int *a, int n)
{
    int i = get_global_id(0);

    if (i < n)
        a[i] = native_sqrt((float)(a[i] + i - 1)) > 3; /* @4 */
}
kernel void root_good(global int *a, int n)
{
    int i = get_global_id(0);

    if (i < n)
        a[i] = native_sqrt((float)(a[i] + i)) > 3;
}

/* find: inf-generated @5 0xc0000000 */
kernel void product_bad(global int *a, int n)
{
    int i = get_global_id(0);
    double x = a[0] + 1e300;

    if (i < n)
        a[i] = x * (i % 32 < 30 ? 2 : 1e9) > n; /* @5 */
}
kernel void product_good(global int *a, int n)
{
    int i = get_global_id(0);
    double x = a[0] + 1e300;

    if (i < n)
        a[i] = x * (i % 32 < 30 ? 2 : 1e7) > n;
}

/* find: inf-generated @6 0xc0000000 */
kernel void narrowed_bad(global int *a, int n)
{
    int i = get_global_id(0);
    double x = a[0] + 1e30;

    if (i < n)
        a[i] = (float)(i % 32 < 30 ? x : x * 1e9) > n; /* @6 */
}
kernel void narrowed_good(global int *a, int n)
{
    int i = get_global_id(0);
    double x = a[0] + 1e30;

    if (i < n)
        a[i] = (float)(i % 32 < 30 ? x : x * 1e8) > n;
}

/* The library function clamps by selects, after a conversion that may be out of range.
   find: float-cast-overflow @7 0x8 */
kernel void clamped_bad(global int *a, int n)
{
    int i = get_global_id(0);
    float big = i == 3 ? 3e9f + a[0] : 3e4f;

    if (i < n)
        a[i] = convert_int_sat(big) + convert_int(big); /* @7 */
}
kernel void clamped_good(global int *a, int n)
{
    int i = get_global_id(0);
    float big = i == 3 ? 3e9f + a[0] : i == 4 ? -3e9f : 3e4f;

    if (i < n)
        a[i] = convert_int_sat(big);
}

/* The compiler turns the guard into a select. An invalid conversion is reported only if its result is selected.
   find: float-cast-overflow @8 0x8 */
kernel void guarded_bad(global int *a, int n)
{
    float f = get_global_id(0) * 1e9f + a[0];
    a[get_global_id(0) & 127] = f < 4e9f ? (int)f : 0; /* @8 */
}
kernel void guarded_good(global int *a, int n)
{
    float f = get_global_id(0) * 1e9f + a[0];
    a[get_global_id(0) & 127] = f < 2e9f ? (int)f : 0;
}

/* The compiler turns the branch into guards of instructions. Lanes that a guard excludes do not divide.
   find: division-by-zero @9 0x20 */
kernel void kept_out_bad(global int *a, int n)
{
    int i = get_global_id(0), y = a[i % 100] + i - 5;

    if (i < 64)
        a[i + 100] = n / y; /* @9 */
    a[i % 100] = 0;
}
kernel void kept_out_good(global int *a, int n)
{
    int i = get_global_id(0), y = a[i % 100] + i - 5;

    if (y != 0 && i < 64)
        a[i + 100] = n / y;
    a[i % 100] = 0;
}
