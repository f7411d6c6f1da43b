#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that the race checker finds the same races with deferred and with immediate evaluation of accesses. In the reference
# run, the kinds of class performance are enabled: they count requests, so that each access must be evaluated immediately.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

cat >k.cl <<'END'
#define AT(i) (((i) * 1103515245u + 12345u) >> 7 & 16383)

/* All work-items read the table at scattered addresses, and then one writes it. */
__kernel void late(__global int *table, __global int *out, int often)
{
    uint i = get_global_id(0);
    int sum = 0;

    for (int k = 0; k < often; k++)
        sum += table[AT(i + k * 977)];
    out[i] = sum;
    if (i == get_global_size(0) - 1)
        table[AT(3)] = 1;
}

/* The first work-item at an element marks it: all with the same value, or, with `own`, each with its own. */
__kernel void mark(__global int *marks, __global int *any, int own)
{
    uint i = get_global_id(0);

    for (int k = 0; k < 8; k++) {
        uint at = AT(i * 8 + k);
        if (marks[at] == 0) {
            marks[at] = own != 0 ? (int)i + 1 : 1;
            any[0] = 1;
        }
    }
}

/* The lanes of a warp diverge into two sides, so that no lockstep orders their accesses. */
__kernel void arms(__global int *a, __global int *out, int often)
{
    uint i = get_global_id(0);
    int sum = 0;

    if (i & 1) {
        for (int k = 0; k < often; k++)
            a[(i * 2 + k) & 16383] = k + (int)i;
    } else {
        for (int k = 0; k < often; k++)
            sum += a[(i * 2 + 2 + k * 3) & 16383];
    }
    out[i] = sum + a[(i * 2 + 1) & 16383];
}

/* No work-item writes an element that others read. */
__kernel void clean(__global const int *table, __global int *out, int often)
{
    uint i = get_global_id(0);
    int sum = 0;

    for (int k = 0; k < often; k++)
        sum += table[AT(i * 31 + k)];
    out[i] = sum;
}

/* The stores of group 0 are scattered. Group 1 loads 8 bytes at a time of the elements that group 2 writes. */
__kernel void pairs(__global int *a, __global int *out, int often)
{
    uint l = get_local_id(0), g = get_group_id(0);

    if (g == 0)
        a[l * 31 + 8192] = (int)l;
    if (g == 1) {
        int2 v = ((__global int2 *)a)[l];
        out[l] = v.x + v.y;
    }
    if (g == 2)
        a[l] = (int)l + often;
}

/* One load instruction reads two buffers, of which the lower lanes read the one without writes. */
__kernel void either(__global int *a, __global int *out, int often)
{
    uint l = get_local_id(0), g = get_group_id(0);

    if (g == 0)
        a[l * 31 + 8192] = (int)l;
    if (g == 1) {
        __global int *p = l % 32 < 8 ? out : a;
        out[l + 8192] = p[l * 5 & 511];
    }
    if (g == 2)
        a[l] = (int)l + often;
}

/* More consecutive loads than the cells of the packed shadow can distinguish, and then a load with another pattern. */
#define READ(i) sum = (sum + (uint)a[l + (i) * 256u]) ^ (i + 7u);
#define READ_8(i) READ(i) READ(i + 1) READ(i + 2) READ(i + 3) READ(i + 4) READ(i + 5) READ(i + 6) READ(i + 7)
__kernel void many(__global int *a, __global int *out, int often)
{
    uint l = get_local_id(0), sum = 0;

    if (get_group_id(0) != 0)
        return;
    READ_8(0u) READ_8(8u) READ_8(16u) READ_8(24u) READ(32u)
    barrier(CLK_GLOBAL_MEM_FENCE);
    sum += (uint)a[l * 5 & 255];
    out[l] = (int)sum;
    a[10000 + l * 37 % 4096] = often + (int)l;
    a[(l * 3 + 1) & 255] = often * 2 + (int)l;
}
END

# usage: races KINDS. Prints the locations and the count of each race
races() {
    "$lanewise" run --check="$1" k.yaml 2>&1 |
        sed -n 's/.*\(k.cl:[0-9]*: [a-z-]*\(ra\|synchronous\)[a-z]*\): .*previous access at [^;]*\(k.cl:[0-9]*\);.*pc 0x[0-9a-f]*\(; .*times\)*$/\1 \3\4/p' | sort
}

# usage: same NAME ARGUMENTS [AGAIN] [KINDS]. Expects that both runs find the same races. AGAIN are more steps of the launch file
same() {
    cat >k.yaml <<END
program: {source: k.cl}
buffers:
  a: {type: s32, count: 16384$init}
  b: {type: s32, count: 16384$init}
steps:
  - launch: {entry: $1, grid: 32, block: 256, args: [$2]}
${3:-}
END
    races "races,${4:-warp-synchronous}" >later
    races "races,performance,${4:-warp-synchronous}" >once
    cmp -s later once || {
        fail "$1, $2: the races of deferred evaluation differ:"
        diff once later
    }
    [ -s later ] || [ "$1" = clean ] || fail "$1, $2: no race was found"
}

init=
again='  - launch: {entry: late, grid: 32, block: 256, args: [a, b, 3]}'
same late 'a, b, 1'
same late 'a, b, 3'
same late 'a, b, 64' # the kernel makes more accesses than the checker can defer
same late 'a, b, 3' "$again"
same clean 'a, b, 5' "$again"
same clean 'a, b, 64' '  - launch: {entry: clean, grid: 32, block: 256, args: [b, a, 5]}'
same mark 'a, b, 0'
same mark 'a, b, 1'
same arms 'a, b, 1'
same arms 'a, b, 9'
same arms 'a, b, 9' '  - launch: {entry: arms, grid: 32, block: 256, args: [a, b, 9]}'
same mark 'a, b, 0' '' benign-race
same mark 'a, b, 1' '' benign-race
# Buffers that the host has initialised may have the packed shadow.
init=', init: {ramp: {start: 5, step: 3}}'
same pairs 'a, b, 7'
same either 'a, b, 7'
same many 'a, b, 5000'
same mark 'a, b, 1' '  - launch: {entry: arms, grid: 32, block: 256, args: [a, b, 9]}'
[ $failures = 0 ] || exit 1
