#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests findings of class arithmetic. A line with a mark "BAD KIND LANES" must have a finding of this kind in these lanes. No
# other line may have a finding.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

cat >a.s <<'END'
.kernel a
.param ptr.global g
.param f32 big
.param f64 wide
    v_s2r v0, %tid.x
    v_mov_b32 v1, 7
    v_mov_b32 v3, 0
    v_mov_b32 v4, 100
    v_mov_b32 v5, 0
    v_and_b32 v2, v0, 3
    v_div_u32 v6, v1, v2                # BAD division-by-zero 0x11111111
    v_rem_s32 v6, v1, v2                # BAD division-by-zero 0x11111111
    v_div_u32 v6, v1, 3
    v_setp_u32.ne p0, v2, 0
    @p0 v_div_s32 v6, v1, v2
    v_div_u64 v6:7, v0:1, v2:3          # BAD division-by-zero 0x11111111
    v_div_u64 v6:7, v0:1, v4:5
    v_shl_b32 v6, v1, v0
    v_add_u32 v8, v0, 1
    v_shl_b32 v6, v1, v8                # BAD shift-out-of-range 0x80000000
    v_shr_u32 v6, v1, 40                # BAD shift-out-of-range 0xffffffff
    v_shl_b64 v6:7, v0:1, v8
    s_mov_b32 s4, 64
    s_mov_b32 s5, 1
    s_shl_b32 s5, s5, s4                # BAD shift-out-of-range 0x1
    v_mov_b32 v10, c[big]               # 3e38
    v_cvt.s32.f32.rzi v6, v10           # BAD float-cast-overflow 0xffffffff
    v_cvt.s32.f32.rzi.sat v6, v10
    v_cvt.f32.u32.rn v11, v0
    v_cvt.u8.f32.rzi v6, v11
    v_sub_f32 v12, v11, 4.0
    v_cvt.u32.f32.rzi v6, v12           # BAD float-cast-overflow 0xf
    v_cvt.s32.f32.rzi v6, v12
    v_add_f32 v13, v10, v10             # BAD inf-generated 0xffffffff
    v_add_f32 v14, v13, v13
    v_sub_f32 v14, v13, v13
    v_mul_f32 v14, v10, v11             # BAD inf-generated 0xfffffffc
    v_fma_f32 v14, v10, 1.0, -v10
    v_div_f32 v14, v12, v11             # BAD inf-generated 0x1
    v_mov_b32 v15, 0
    v_div_f32 v14, v15, v11             # BAD nan-generated 0x1
    v_rcp_f32 v14, v12                  # BAD inf-generated 0x10
    v_sqrt_f32 v14, v12                 # BAD nan-generated 0xf
    v_sqrt_f32 v14, |v12|
    v_rsq_f32 v14, v11                  # BAD inf-generated 0x1
    v_lg2_f32 v14, v12                  # BAD nan-generated 0xf
    v_mov_b64 v16:17, c[wide]           # 1e308
    v_add_f64 v18:19, v16:17, v16:17    # BAD inf-generated 0xffffffff
    v_cvt.f64.f32.rn v18:19, v10
    v_mul_f64 v18:19, v18:19, v18:19
    v_cvt.f32.f64.rn v14, v16:17        # BAD inf-generated 0xffffffff
    v_cvt.f32.f64.rz v14, v16:17
    v_cvt.f32.f64.rm v14, v16:17
    v_cvt.f32.f64.rp v14, v16:17        # BAD inf-generated 0xffffffff
    v_cvt.f32.f64.rn.sat v14, v16:17
    v_cvt.f16.f32.rn v14, v10           # BAD inf-generated 0xffffffff
    v_cvt.f16.f32.rn v14, v13
    v_add_u32 v20, v0, 65504
    v_cvt.f16.u32.rn v14, v20           # BAD inf-generated 0xffff0000
    v_cvt.f16.u32.rp v14, v20           # BAD inf-generated 0xfffffffe
    v_cvt.f16.s16.rn v14, v20
    v_cvt.bf16.f32.rn v14, v10
    v_mov_b32 v21, 0x7f7fffff
    v_cvt.bf16.f32.rn v14, v21          # BAD inf-generated 0xffffffff
    exit
.end
END
cat >a.yaml <<'END'
program: {source: a.s}
buffers: {g: {type: u32, count: 32}}
steps:
  - launch: {entry: a, grid: 1, block: 32, args: [g, 3.0e38, 1.0e308]}
END
# The line of v_lg2_f32 has a second finding: log2(0) is infinite, and other lanes give NaN.
sed -n 's/.*# BAD \(.*\)/\1/p' a.s >kinds
grep -n '# BAD' a.s | sed 's/:.*BAD / /' | while read -r line kind lanes; do
    echo "a.s:$line: $kind $lanes"
done >wanted
echo "a.s:$(grep -n 'v_lg2_f32' a.s | cut -d: -f1): inf-generated 0x10" >>wanted
for how in "" "--tags compact" "--tags shadow" "--timing" "--reconv stack"; do
    # shellcheck disable=SC2086
    "$lanewise" run -q --check=arithmetic $how a.yaml >out 2>err
    [ $? = 1 ] || fail "$how: expected exit status 1: $(head -n 2 err)"
    sed -n 's/^\(a.s:[0-9]*: [a-z-]*\): .*, lanes \(0x[0-9a-f]*\),.*/\1 \2/p' err | sort >got
    sort wanted | diff - got >difference || fail "$how: wanted and found differ: $(cat difference)"
done

"$lanewise" run -q --check=arithmetic,-nan-generated,-inf-generated a.yaml 2>err
[ $? = 1 ] && grep -q ": shift-out-of-range: " err && ! grep -q "generated" err ||
    fail "kinds are reported that were not selected: $(cat err)"

# In CUDA: a division that clang compiles to one instruction, and the same division inside an `if` that excludes zero.
cat >d.cu <<'END'
extern "C" __global__ void bad(int *g, int n)
{
    g[threadIdx.x] = 100 / (n - (int)threadIdx.x); /* here */
}
extern "C" __global__ void good(int *g, int n)
{
    int d = n - (int)threadIdx.x;
    g[threadIdx.x] = d != 0 ? 100 / d : 0;
}
END
for entry in bad good; do
    for options in -O3 "-O0, -g"; do
        cat >d.yaml <<END
program: {source: d.cu, options: [$options]}
buffers: {g: {type: s32, count: 32}}
steps:
  - launch: {entry: $entry, grid: 1, block: 32, args: [g, 5]}
END
        "$lanewise" run -q --check=arithmetic d.yaml >out 2>err
        got=$?
        case $entry in
        bad) [ $got = 1 ] && grep -q "d.cu:3: division-by-zero: .*kernel bad, .*lanes 0x20," err ||
            fail "$entry $options: expected a division by zero in line 3, exit status $got: $(cat err)" ;;
        # with -O3 the compiler may execute the division in all lanes and then select results
        good) [ "$options" = -O3 ] || [ $got = 0 ] || fail "$entry $options: expected no finding: $(cat err)" ;;
        esac
    done
done
[ $failures = 0 ] || exit 1
