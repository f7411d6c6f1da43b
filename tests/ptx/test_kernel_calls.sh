#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests an OpenCL C kernel that calls another kernel as a function (docs/reference/ptx-support.md). With two compilers, with
# optimisation and for debuggers, the results must be equal to those of a host program. The shell and gdb must show the frames of
# such a call.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >calls.cl <<'END'
struct weights { int first; uchar step; float4 scale; };

__kernel void add(__global int *out, uchar small, short bias, struct weights w, float4 v)
{
    size_t i = get_global_id(0);

    out[i] += small + bias + w.first * w.step + (int)(v.x * w.scale.x + v.w * w.scale.w);
}

__kernel void shift(__global int *out, __local int *row)
{
    __local int last;
    size_t i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);

    row[l] = out[i];
    if (l == n - 1)
        last = out[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = l == 0 ? last : row[l - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel void triangle(__global int *out, uint n)
{
    if (n == 0)
        return;
    out[get_global_id(0)] += n;
    triangle(out, n - 1);
}

__kernel void both(__global int *out, __local int *row, char small)
{
    size_t i = get_global_id(0);
    struct weights w = {3, 5, (float4)(2.0f, 0.0f, 0.0f, 0.5f)};

    if (i % 3 == 0)
        add(out, (uchar)(200 + i), (short)-1000, w, (float4)(4.0f, 1.0f, 1.0f, 8.0f));
    else
        triangle(out, i & 7);
    barrier(CLK_GLOBAL_MEM_FENCE);
    shift(out, row);
    if (i & 1)
        add(out, small, 7, w, (float4)(1.0f));
    shift(out, row);
}

__kernel void alone(__global int *out)
{
    out[get_global_id(0)] ^= 0x55;
}
END
cat >host.c <<'END'
#include <stdio.h>
enum { N = 192, BLOCK = 64 };
static int out[N];
static void shift(void)
{
    int next[N];

    for (int i = 0; i < N; i++)
        next[i] = i % BLOCK == 0 ? out[i + BLOCK - 1] : out[i - 1];
    for (int i = 0; i < N; i++)
        out[i] = next[i];
}
int main(void)
{
    for (int i = 0; i < N; i++) {
        out[i] = i;
        if (i % 3 == 0)
            out[i] += (unsigned char)(200 + i) - 1000 + 3 * 5 + 12;
        for (int n = i & 7; i % 3 != 0 && n != 0; n--)
            out[i] += n;
    }
    shift();
    for (int i = 1; i < N; i += 2)
        out[i] += (unsigned char)-3 + 7 + 3 * 5 + 2;
    shift();
    for (int i = 0; i < N; i++) /* add on its own, then triangle, then alone */
        out[i] += 255 - 5 + 7 * 2 + 30 + 3 + 2 + 1;
    shift();
    for (int i = 0; i < N; i++)
        printf("%d\n", out[i] ^ 0x55);
    return 0;
}
END
${CC:-cc} -o host host.c && ./host >expected.txt || fail "the host program does not run"
launches='buffers: {out: {type: s32, count: 192, init: {ramp: {start: 0}}}}
steps:
  - launch: {entry: both, grid: 3, block: 64, args: [out, {local: 256}, -3]}
  - launch: {entry: add, grid: 3, block: 64, args: [out, 255, -5, {struct: [{s32: 7}, {u8: [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}, {f32: [10, 0, 0, 0]}]}, {f32: [3, 0, 0, 0]}]}
  - launch: {entry: triangle, grid: 3, block: 64, args: [out, 3]}
  - launch: {entry: shift, grid: 3, block: 64, args: [out, {local: 256}]}
  - launch: {entry: alone, grid: 3, block: 64, args: [out]}
  - check: {buffer: out, file: expected.txt}'
for clang in clang-19 clang-14 clang; do
    command -v $clang >/dev/null || continue
    for options in "-X -O2" "-X -O0 -X -g -X -cl-opt-disable"; do
        # shellcheck disable=SC2086
        expect 0 '' compile --compiler $clang $options calls.cl -o calls.lwo
        printf 'program: {source: calls.lwo}\n%s\n' "$launches" >calls.yaml
        for how in "-w 8 -p minpc" "-w 64 --reconv stack" --timing; do
            # shellcheck disable=SC2086
            expect 0 'ok: 1 check passed, 5 launches' run calls.yaml $how
        done
    done
done
# Runs the PTX of the kernels without the source.
expect 0 '' compile --emit ptx calls.cl -o calls.ptx
sed -i 's/^program: .*/program: {source: calls.ptx}/' calls.yaml
expect 0 'ok: 1 check passed, 5 launches' run calls.yaml

# In a debugger, each of the two kernels must have its own lines, frames and variables.
sed -i 's/^program: .*/program: {source: calls.cl, options: [-O0, -g, -cl-opt-disable]}/' calls.yaml
expect 0 '' debug calls.yaml --batch -c 'break calls.cl:7' -c continue -c backtrace -c 'print bias' -c 'print small' -c 'print i'
grep -q 'add.*calls.cl:7' out || fail "the shell does not stop in the called kernel"
grep -q 'both.*calls.cl:37' out || fail "the shell's backtrace lacks the calling kernel"
grep -q -- '-1000' out || fail "the shell does not show the parameter of the called kernel"
if command -v gdb >/dev/null; then
    cat >session <<'END'
set pagination off
set confirm off
set print frame-arguments scalars
break calls.cl:27 if n == 2 && threadIdx.x == 11
continue
backtrace
up
finish
delete 1
break add
continue
print bias
print small
up
print small
kill
END
    timeout 120 "$lanewise" gdb calls.yaml -- -batch -x session >out 2>err </dev/null
    grep -q '^#0 .*triangle .*n=2) at .*calls.cl:27' out || fail "gdb: wrong frame 0"
    grep -q '^#1 .*triangle .*n=3) at .*calls.cl:28' out || fail "gdb: wrong frame 1"
    grep -q '^#2 .*both .*small=-3 .*) at .*calls.cl:39' out || fail "gdb: wrong frame of the kernel"
    grep -q '^0x[0-9a-f]* in both .* at .*calls.cl:39' out || fail "gdb: finish does not return to the caller"
    grep -q '^Breakpoint 2 at .*: add\. (2 locations)' out ||
        fail "gdb: a breakpoint on the name is not at both copies of the kernel"
    [ "$(sed -n 's/^\$[0-9]* = //p' out | tr '\n' ' ')" = "7 253 '\\375' -3 '\\375' " ] ||
        fail "gdb: wrong values of variables in the frames"
fi

# A kernel with an unsupported feature must be refused with its name, and the other kernels must run.
cat >pointer.ptx <<'END'
.version 7.0
.target sm_70, texmode_independent
.address_size 64
.entry k(.param .u64 .ptr .global .align 8 k_param_0)
{
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [k_param_0];
	mov.u64 %rd2, k;
	st.global.u64 [%rd1], %rd2;
	ret;
}
END
"$lanewise" compile pointer.ptx -o pointer.lwo 2>err || { cat err; fail "PTX with the address of a kernel is refused"; }
sed 's/mov.u64 %rd2, k;/cp.async.bulk.commit_group;/' pointer.ptx >bulk.ptx
refuse 'bulk.ptx:8: cp: this form needs .version 8.0 and .target sm_90 or later' compile bulk.ptx
printf '%d cases, %d failures\n' "$cases" "$failures"
[ "$failures" = 0 ]
