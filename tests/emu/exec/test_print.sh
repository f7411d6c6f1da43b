#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests printf and assert in PTX that compilers have generated. `lanewise run`, the shell and gdb must print the text.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
cp "$src"/tests/kernels/print* "$src"/tests/kernels/text.* "$work"

# usage: same WHAT STATUS. Expects that the output of the last run equals the standard input, and its exit status STATUS
same() {
    cat >"$work/want"
    cmp -s "$work/want" "$work/out" || {
        fail "$1: the output differs from the expected text"
        diff "$work/want" "$work/out" | head -n 10 | sed 's/^/    /'
    }
    [ "$status" = "$2" ] || fail "$1: exit status $status, expected $2"
}
run() {
    (cd "$work" && "$lanewise" run "$@") >"$work/out" 2>"$work/err"
    status=$?
}

run print_cuda.yaml --quiet
same "CUDA's printf" 0 <<'END'
0 0.00 beef
1 1.00 beef
done
END
run print_opencl.yaml --quiet
same "OpenCL's printf, arguments in separate calls" 0 <<'END'
word 0,1,0,1 A
word 1,2,1,2 B
word 2,3,2,3 C
END
# In PTX of clang 14, an argument that is a vector of two bytes takes two bytes.
cat >"$work/bytes.ptx" <<'END'
.version 3.2
.target sm_35, texmode_independent
.address_size 64
.func  (.param .b32 func_retval0) printf (.param .b64 printf_param_0) ;
.const .align 1 .b8 _$_str[18] = {37, 118, 50, 104, 104, 100, 32, 37, 118, 51, 104, 104, 117, 32, 37, 100, 10, 0};
.entry k()
{
	.reg .b16 	%rs<6>;
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<2>;
	mov.u64 	%rd1, _$_str;
	mov.u16 	%rs1, 245;
	mov.u16 	%rs2, 10;
	mov.u16 	%rs3, 2;
	mov.u16 	%rs4, 1;
	mov.u16 	%rs5, 200;
	mov.u32 	%r1, 7;
	{
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd1;
	.param .align 2 .b8 param1[2];
	st.param.v2.b8 	[param1+0], {%rs2, %rs1};
	.param .align 4 .b8 param2[4];
	st.param.v2.b8 	[param2+0], {%rs4, %rs3};
	st.param.b8 	[param2+2], %rs5;
	.param .b32 param3;
	st.param.b32 	[param3+0], %r1;
	.param .b32 retval0;
	call.uni (retval0), printf, (param0, param1, param2, param3);
	ld.param.b32 	%r2, [retval0+0];
	}
	ret;
}
END
cat >"$work/bytes.yaml" <<'END'
program: {source: bytes.ptx}
steps:
  - launch: {entry: k, grid: [1], block: [1], args: []}
END
run bytes.yaml --quiet
same "OpenCL's printf of two bytes" 0 <<'END'
10,-11 1,2,200 7
END
# Versions of clang lay out the arguments differently. clang 16 leaves no gaps, so that only the format distinguishes
# floats from vectors.
cat >"$work/gaps.cl" <<'END'
__constant char shape[] = "%v2lf|%c|%5.1f\n";
__kernel void k(int n)
{
    float x = n * 0.5f;
    char3 c = (char3)(n, -2, 3);
    printf("%d %f %d\n", n, x, 77);
    printf("%v3hhd %%%d %v2lf %ld %s\n", c, 77, (double2)(x, 1.5), 99L, "end");
    printf("%*d %v4hlf %v2hd %.*f\n", 4, n, (float4)(x, 1, 2, 3), (short2)(n, 9), 1, x);
    printf("%hhd %v8hlx %v16hhu %v3hle\n", c.x, (int8)(n), (uchar16)(200), (float3)(x, 1, 2));
    printf(shape, (double2)(3, x), 'z', x);
    printf("nothing\n");
}
END
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    cat >"$work/gaps.yaml" <<END
program: {source: gaps.cl, compiler: $clang, options: [-O$([ $clang = clang-15 ] && echo 0 || echo 3)]}
steps:
  - launch: {entry: k, grid: [1], block: [1], args: [5]}
END
    run gaps.yaml --quiet
    same "arguments of $clang" 0 <<'END'
5 2.500000 77
5,-2,3 %77 2.500000,1.500000 99 end
   5 2.500000,1.000000,2.000000,3.000000 5,9 2.5
5 5,5,5,5,5,5,5,5 200,200,200,200,200,200,200,200,200,200,200,200,200,200,200,200 2.500000e+00,1.000000e+00,2.000000e+00
3.000000,2.500000|z|  2.5
nothing
END
done
if command -v clang-16 >/dev/null; then
    sed -i 's/"nothing.n"/n > 1 ? "%d" : "%f", n/' "$work/gaps.cl"
    sed -i 's/clang-19/clang-16/' "$work/gaps.yaml"
    run gaps.yaml --quiet
    [ "$status" = 2 ] && grep -q 'gaps.cl:11: .*the format must be a literal with clang 16, .*another clang' "$work/err" ||
        fail "a format that is chosen at run time: $(cat "$work/err")"
fi
# If the last line that a kernel prints has no line end, the summary begins on a new line.
sed 's/110, 101, 10, 0/110, 101, 0, 0/' "$src/tests/kernels/print.ptx" >"$work/open.ptx"
sed 's/print\.ptx/open.ptx/' "$work/print_cuda.yaml" >"$work/open.yaml"
run open.yaml --quiet
printf '0 0.00 beef\n1 1.00 beef\ndone' >"$work/want"
cmp -s "$work/want" "$work/out" || fail "--quiet adds text to what kernels print"
run open.yaml
sed -n 3p "$work/out" | grep -qx done || fail "the summary is on the same line as the text"
sed -n 4p "$work/out" | grep -q '^ok: 1 check passed' || fail "there is no summary after the text"

run print_assert.yaml
same "what was printed before an assertion failed" 3 <<'END'
0 0.00 beef
1 1.00 beef
END
grep -q 'fault: assert: a.cu:77: a.cu: assertion .x < 4. failed; kernel cuda, block (0,0,0), warp 0, lanes 0x60' \
    "$work/err" || fail "the message does not name the assertion: $(cat "$work/err")"

# The shell prints the same text once.
run text.yaml --quiet
(cd "$work" && "$lanewise" debug text.yaml --batch -c continue) >"$work/shell" 2>&1 ||
    fail "the shell ended with status $?"
grep '^block [0-9]' "$work/shell" | cmp -s - "$work/out" || fail "the shell does not show what run prints"
[ "$(wc -l <"$work/out")" = 4190 ] || fail "text.yaml does not print 4190 lines"

need gdb
serve "$lanewise" run print_cuda.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
continue
END
session gdb
expect "gdb's console shows what kernels print" <<'END'
^0 0\.00 beef
^1 1\.00 beef
^done
exited normally
END
server_ends
[ "$status" = 0 ] || fail "the run under gdb ended with status $status"
grep -q beef "$work/server.out" && fail "the server has printed the text, too"
finish
