#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests --coverage, --profile and performance findings. Counts must equal those computed by hand. Counts that do not depend on
# the machine must be equal on every machine. If lcov is installed, it must be able to read the tracefile.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

# The kernel runs in two blocks of 48 threads. The expectations in this test contain line numbers of this file.
cat >k.s <<'END'
.kernel k
.shared table 8192
.param ptr.global x
    v_s2r v0, %tid.x
    v_mov_b64 v4:5, c[x]
    v_mulwide_u32 v6:7, v0, 128
    v_add_u64 v6:7, v4:5, v6:7
    ld.global.b32 v1, [v6:7]
    v_mulwide_u32 v6:7, v0, 4
    v_add_u64 v6:7, v4:5, v6:7
    ld.global.b32 v2, [v6:7]
    v_mul_u32 v8, v0, 128
    st.shared.b32 [v8], v1
    v_mul_u32 v9, v0, 4
    st.shared.b32 [v9], v2
    v_setp_u32.lt p0, v0, 8
    @p0 bra low
    v_setp_u32.lt p1, v0, 64
    @p1 exit
    bra low
low:
    v_add_u32 v1, v1, 1
    exit
.end
.kernel never
    exit
.end
END
cat >k.yaml <<'END'
program: {source: k.s}
buffers: {x: {type: u32, count: 2048}}
steps:
  - launch: {entry: k, grid: 2, block: 48, args: [x]}
END

# ---- coverage counts the lanes that executed each line, and is equal on every machine
expect 0 '^ok: ' run k.yaml --coverage k.info
cp k.info first
for line in DA:4,96 DA:8,96 DA:17,96 DA:18,80 DA:20,0 DA:22,16 DA:23,16 DA:26,0 BRDA:17,0,0,16 BRDA:17,0,1,80 \
    BRDA:19,0,0,80 BRDA:19,0,1,0 BRF:4 BRH:3 FNDA:96,k FNDA:0,never FNF:2 FNH:1 "SF:$(realpath k.s)"; do
    grep -qx "$line" k.info || fail "the coverage lacks $line"
done
[ "$(grep -c '^DA:' k.info)" = 20 ] || fail "the coverage has other lines than those with code"
for machine in '-w 4' '-w 8' '-w 64' '--tags compact -w 16' '--tags shadow' '--reconv stack' '--timing=fermi' '-t 2'; do
    # shellcheck disable=SC2086
    expect 0 '^ok: ' run $machine k.yaml --coverage k.info
    cmp -s k.info first || fail "$machine: the coverage differs"
done
if command -v genhtml >/dev/null; then
    lcov --summary k.info --rc lcov_branch_coverage=1 >out 2>&1 || fail "lcov cannot read the tracefile"
    grep -q 'lines.*(18 of 20 lines)' out || fail "lcov counts other lines"
    genhtml -q --branch-coverage -o pages k.info >out 2>&1 || fail "genhtml cannot read the tracefile"
    find pages -name 'k.s.gcov.html' | grep -q . || fail "genhtml made no page of k.s"
fi

# ---- profile with 32 lanes: 2 blocks of 2 warps; in the second warp of a block half of the lanes have a thread
expect 0 '^ok: ' run k.yaml --profile p.txt --stats s.json
row() { # usage: row LINE COLUMNS. Expects that the profile has these values for the line
    tr -s ' ' <p.txt | grep -q "^ $2 | $1 " || { tr -s ' ' <p.txt | grep "| $1 " >out; fail "line $1 is not '$2'"; }
}
row 4 '4 [0-9.]* 24.00'
row 8 '4 [0-9.]* 24.00 4 24.00 3.00'  # lanes access words 128 bytes apart, so each needs a sector: (32 + 16) / 2
row 11 '4 [0-9.]* 24.00 4 3.00 3.00'  # lanes access adjacent words
row 13 '4 [0-9.]* 24.00 4 24.00 1.00' # all lanes access bank 0
row 15 '4 [0-9.]* 24.00 4 1.00 1.00'
row 17 '4 [0-9.]* 24.00'
row 22 '2 [0-9.]* 8.00'
total=$(sed -n 's/.*"warp_instructions": *\([0-9]*\).*/\1/p' s.json | head -n 1)
grep -q "^Profile of k.yaml: $total warp instructions" p.txt ||
    fail "the profile does not have the $total warp instructions of the statistics"
expect 0 'warp insns' run k.yaml --profile -

# ---- performance findings
expect 0 '^ok: ' run k.yaml --check
expect 1 '^k.yaml: 3 findings$' run k.yaml --check=performance
grep -q '^k.s:8: uncoalesced: warps access global memory 4 times here; an access takes 24.0 sectors of 32 bytes, but 3.0 would be enough if it were contiguous' err ||
    fail "line 8: expected uncoalesced"
grep -q '^k.s:13: bank-conflict: warps access shared memory 4 times here; an access takes 24.0 passes over the banks because of bank conflicts, but 1.0 would be enough without them' err ||
    fail "line 13: expected bank-conflict"
grep -q '^k.s:17: divergent-branch: the lanes of a warp diverge here in 2 of 4 executions of the branch' err ||
    fail "line 17: expected divergent-branch"
expect 1 '^k.yaml: 1 finding$' run k.yaml --check=bank-conflict
expect 1 'would be enough without them; kernel k, pc 0x' run k.yaml --check=bank-conflict
echo '- {kernel: k}' >known.yaml
expect 0 '^ok: ' run k.yaml --check=performance --check-suppress known.yaml
echo '- {kernel: kk}' >known.yaml
expect 1 '^k.yaml: 3 findings$' run k.yaml --check=performance --check-suppress known.yaml
expect 1 '^k.yaml: 3 findings$' run k.yaml --check=performance --timing=volta
expect 0 '^ok: ' run k.yaml --check=performance -w 4 --check=local-traffic

# ---- code without line information
echo 'kernel void k(global int *x) { x[get_global_id(0)] = 1; }' >bare.cl
sed 's/source: k.s/source: bare.cl, options: [-g0]/' k.yaml >bare.yaml
expect 0 'coverage bare.info: the file is empty, as no executed instruction has a source line' run bare.yaml --coverage bare.info
[ -e bare.info ] && [ ! -s bare.info ] || fail "bare.info is not empty"

# ---- combinations of options that are refused
expect 2 'coverage and --gdb' run k.yaml --coverage c.info --gdb
expect 0 '' run k.yaml --checkpoint k.ck --checkpoint-at 20
expect 2 'coverage and --resume cannot be combined, as a kernel must be checked from its start' run k.yaml --resume k.ck --coverage c.info
expect 2 'coverage' run k.yaml --coverage none/c.info
expect 2 'profile' run k.yaml --profile none/p.txt

# ---- C++ functions appear by their names in the source; functions with the same name also with their symbol
cat >over.cu <<'END'
__global__ void scale(float *a, float n) { a[threadIdx.x] *= n; }
__global__ void scale(int *a, int n) { a[threadIdx.x] *= n; }
template <typename T, int N> __global__ void fill(T *a) { a[threadIdx.x] = N; }
template __global__ void fill<int, 7>(int *);
__global__ void alone(int *a) { a[threadIdx.x] = 1; }
END
cat >over.yaml <<'END'
program: {source: over.cu}
buffers: {a: {type: i32, count: 32}}
steps:
  - launch: {entry: _Z5scalePii, grid: 1, block: 32, args: [a, 3]}
END
expect 0 '' run over.yaml --coverage over.info
for line in 'FN:1,scale [_Z5scalePff]' 'FN:2,scale [_Z5scalePii]' 'FNDA:32,scale [_Z5scalePii]' 'FNDA:0,scale [_Z5scalePff]' \
    'FN:3,fill<int; 7>' 'FN:5,alone' 'FNDA:0,alone' FNF:4 FNH:1; do
    grep -qxF "$line" over.info || fail "the coverage lacks $line: $(grep '^FN' over.info)"
done

# ---- counts of several launches
cat >twice.cl <<'END'
kernel void k(global int *a, int n)
{
    for (int i = 0; i < n; i++)
        a[get_global_id(0)] += i * a[0];
}
END
cat >twice.yaml <<'END'
program: {source: twice.cl, options: [-g, -O0]}
buffers: {a: {type: i32, count: 64}}
steps:
  - launch: {entry: k, grid: 2, block: 32, args: [a, 10]}
  - launch: {entry: k, grid: 1, block: 32, args: [a, 50]}
END
expect 0 '' run twice.yaml --profile all.txt
expect 0 '' run twice.yaml --profile by.txt --profile-by launch
expect 0 '' run twice.yaml --profile kernel.txt --profile-by kernel
cmp -s all.txt kernel.txt || fail "--profile-by kernel is not the default"
grep -q '^Profile of twice.yaml, by launch: 2 launches$' by.txt &&
    grep -q '^Launch 1, kernel k, grid (2,1,1), block (32,1,1): ' by.txt &&
    grep -q '^Launch 2, kernel k, grid (1,1,1), block (32,1,1): ' by.txt ||
        fail "the profile has no separate entry for the second launch"
total=$(sed -n '1s/.*: \([0-9]*\) warp.*/\1/p' all.txt)
parts=$(sed -n 's/^Launch .*: \([0-9]*\) warp.*/\1/p' by.txt | awk '{ n += $1 } END { print n }')
[ "$total" = "$parts" ] || fail "the launches have $parts warp instructions, and the run $total"
lines=$(grep -c 'a\[get_global_id(0)\]' by.txt)
[ "$lines" = 2 ] || fail "the profile has the source $lines times, not twice"
expect 2 'profile-by: expected kernel or launch, found "line"' run twice.yaml --profile x --profile-by line
expect 2 'profile-by has no effect without a profile' run twice.yaml --profile-by launch

[ $failures = 0 ] || { echo "$failures failed"; exit 1; }
echo "all passed"
