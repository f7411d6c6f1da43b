#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that every kernel of kernels/ gives the result that a C program computes on the host, with every installed clang.
# The newest clang compiles all kernels, and the others some of them, or all with LW_LONG=1. Also tests the messages for a wrong
# result, an out-of-bounds store and a missing file.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# usage: expect STATUS WHAT COMMAND... . Runs the command, writes its output to $work/out and expects exit status STATUS
expect() {
    want=$1
    what=$2
    shift 2
    "$@" >"$work/out" 2>&1
    got=$?
    if [ $got != "$want" ]; then
        fail "$what: exit status $got, expected $want"
        head -n 5 "$work/out" | sed 's/^/    /'
    fi
}

sh "$src/kernels/prepare" "$work/k" || exit 1
cd "$work/k" || exit 1

for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    turn=${clang#clang-}
    for launch in *.yaml; do
        turn=$((turn + 1))
        case ${LW_LONG:-}$clang in clang-1[456]) [ $((turn % 3)) = 0 ] || continue ;; esac
        expect 0 "$launch with $clang" env LANEWISE_CLANG=$clang "$lanewise" run "$launch"
        grep 'warning:' "$work/out" && fail "$launch with $clang: the compiler warns"
    done
done
# Some kernels are also compiled for debuggers by every clang, with all variables in memory and without inlining.
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    for launch in scan spmv bfs cuda_reduction cuda_half; do
        options='-O0, -g, -cl-opt-disable'
        case $launch in cuda_*) options='-O0, -g, --cuda-noopt-device-debug' ;; esac
        sed "s/^program: {source: \([a-z_]*\.c[lu]\)/program: {source: \1, options: [$options]/" \
            $launch.yaml >debug.yaml
        expect 0 "$launch.yaml for debuggers with $clang" "$lanewise" run debug.yaml --compiler $clang
    done
done
rm -f debug.yaml
if command -v "${LANEWISE_NVCC:-nvcc}" >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    turn=0
    for launch in cuda_*.yaml; do
        turn=$((turn + 1))
        [ "${LW_LONG:-}" != 1 ] && [ $((turn % 2)) = 0 ] ||
            expect 0 "$launch with nvcc" "$lanewise" run "$launch" --compiler nvcc
        [ "${LW_LONG:-}" != 1 ] && [ $((turn % 2)) = 1 ] && continue
        sed -e 's/, options: \[/&-G, /; t' -e "s/source: [a-z_]*\.cu/&, options: [-G]/" $launch >debug.launch
        expect 0 "$launch with nvcc -G" "$lanewise" run debug.launch --compiler nvcc
    done
    sed 's/cuda_reduction.cu/&, options: [-G]/' cuda_reduction.yaml >debug.yaml
    expect 0 "cuda_reduction.yaml with nvcc -G" "$lanewise" run debug.yaml --compiler nvcc
    rm -f debug.yaml
fi
# All kernels are compiled for debuggers, with all variables in memory and without inlining, and run with other warp widths and
# policies.
turn=0
turns= # "yes" if the two compilers compile launch files in turn, "" if both compile each
[ "${LW_LONG:-}" = 1 ] || ! command -v clang-14 >/dev/null || ! command -v clang-19 >/dev/null || turns=yes
for launch in *.yaml; do
    grep -q 'source: [a-z_]*\.c[lu]' $launch || continue
    turn=$((turn + 1))
    case $launch in
    cuda_*) flags="-O0, -g" ;;
    *) flags="-O0, -g, -cl-opt-disable" ;;
    esac
    sed -e "s/, options: \[/&$flags, /; t" -e "s/source: [a-z_]*\.c[lu]/&, options: [$flags]/" \
        $launch >debug.launch
    set -- --warp 32
    case $turns$((turn % 4))$launch in yes[23]cuda_*) ;; yes[23]*) set -- --warp 8 --policy most_lanes ;; esac
    for clang in clang-14 clang-19; do
        command -v $clang >/dev/null || continue
        case $launch$clang in
        cuda_*14) continue ;;
        cuda_*) ;;
        *) [ -z "$turns" ] || [ $(((turn + ${clang#clang-}) % 2)) = 0 ] || continue ;;
        esac
        expect 0 "$launch at -O0 with $clang, $*" "$lanewise" run debug.launch --clang $clang "$@"
        case $launch in # CUDA's shuffles need warps of 32 lanes
        cuda_*) ;;
        *) set -- --warp 8 --policy most_lanes ;;
        esac
    done
done
rm -f debug.launch

# The error message for an unsupported feature contains its name and its line in the source.
cat >call.cl <<'END'
uint sq(uint x);
__kernel void k(__global uint *a)
{
    a[get_global_id(0)] = sq(a[get_global_id(0)]);
}
END
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    expect 2 "a call with $clang" "$lanewise" compile call.cl -o x.lwo --clang $clang
    grep -q 'call.cl:4: call to sq' "$work/out" || fail "the message about the call does not name it with $clang"
    # printf prints the same as C's printf. If statistics go to standard output, this text goes to standard error.
    "$lanewise" run hello.yaml --quiet --clang $clang >text 2>err || fail "the run of hello.yaml with $clang fails"
    cmp -s text hello.expected.txt || fail "the output of hello differs with $clang"
    "$lanewise" run hello.yaml --quiet --stats - --clang $clang >text 2>err
    cmp -s err hello.expected.txt || fail "the text of hello is mixed with the statistics with $clang"
done
cat >texture.cu <<'END'
texture<float, 2> t;
__global__ void k(float *p)
{
    p[threadIdx.x] = tex2Dgather(t, threadIdx.x, 0);
}
END
expect 2 "a texture" "$lanewise" compile texture.cu -o x.lwo
grep -q 'texture.cu:4: tex2Dgather is not supported' "$work/out" ||
    fail "the message about the texture does not name it"
# The clang that lanewise selects by default must work.
for launch in vadd.yaml gemm_tiled.yaml spinlock.yaml; do
    expect 0 "$launch" "$lanewise" run "$launch"
done

# The lock needs independent progress of lanes, so it hangs on a SIMT stack. The hang report names the lanes that wait, the lanes
# for which they wait, and their source lines.
sed 's/^program:/machine: {hang_window: 200000}\nprogram:/' spinlock.yaml >stack.yaml
expect 4 "spinlock on a SIMT stack" "$lanewise" run stack.yaml --reconv stack
grep -q '^hang: SIMT deadlock' "$work/out" || fail "the hang is not reported as a SIMT deadlock"
grep -q 'warp 0 lanes 0-6 (stacked at pc .*spinlock.cl:17)) wait in the SIMT stack below lanes 7-31' \
    "$work/out" || fail "the report does not name the lanes that hold the locks"
grep -q 'warp 0 lanes 7-31 spin with atom.global at pc .*spinlock.cl:14) until one of 7 values changes, from lock' \
    "$work/out" || fail "the report does not name the lanes that wait"

# The user can set the size of the stack. Recursion that needs more is a fault, and its message names the stack.
cat >deep.cl <<'END'
uint down(uint n, uint k)
{
    if (n == 0)
        return k;
    return down(n - 1, k + n) ^ n;
}
__kernel void k(__global uint *a)
{
    a[get_global_id(0)] = down(1000, 1);
}
END
cat >deep.yaml <<'END'
program: {source: deep.cl, options: [-O0, -cl-opt-disable], stack: 200000}
buffers: {a: {type: u32, count: 32}}
steps:
  - launch: {entry: k, grid: [1], block: [32], args: [a]}
  - check: {buffer: a, constant: 499965}
END
expect 0 "recursion with a stack" "$lanewise" run deep.yaml
sed 's/, stack: 200000//' deep.yaml >full.yaml
expect 3 "recursion deeper than the stack" "$lanewise" run full.yaml
grep -q 'stack overflow: the address is .* bytes below the local memory' "$work/out" ||
    fail "the message of the fault does not name the stack"

# One wrong bit in one expected number must make the check fail.
cp vadd.expected.bin kept
printf '\001' | dd of=vadd.expected.bin bs=1 seek=1996 conv=notrunc 2>/dev/null
expect 1 "vadd with a damaged expectation" "$lanewise" run vadd.yaml
grep -q 499 "$work/out" || fail "the message does not name element 499"
mv kept vadd.expected.bin

# If the kernel gets a count that is one element too large, the message of the fault names the source line.
sed 's/args: \[a, b, c, 1000\]/args: [a, b, c, 1001]/; s/grid: \[4\]/grid: [5]/' vadd.yaml >wild.yaml
expect 3 "vadd beyond its buffers" "$lanewise" run wild.yaml
grep -q 'vadd.cl:8' "$work/out" || fail "the message does not name the source line of the access"

# In blocks of 32 threads the last block is only partly used.
sed 's/grid: \[4\], block: \[250\]/grid: [32], block: [32]/' vadd.yaml >blocks.yaml
expect 0 "vadd in blocks of 32" "$lanewise" run blocks.yaml

# Two launches each process one half of the elements, the second one with a global offset.
sed 's/^  - launch: \(.*\)grid: \[4\]\(.*\)}$/  - launch: \1grid: [2]\2}\
  - launch: \1grid: [2]\2, offset: [500]}/' vadd.yaml >offset.yaml
[ "$(grep -c launch: offset.yaml)" = 2 ] || fail "the launch file with an offset is wrong"
expect 0 "vadd with a global offset" "$lanewise" run offset.yaml

sed 's/vadd.cl/none.cl/' vadd.yaml >none.yaml
expect 2 "a missing source" "$lanewise" run none.yaml
grep -q 'none.cl' "$work/out" || fail "the message does not name the missing source"

sed 's/entry: vadd/entry: vsub/' vadd.yaml >entry.yaml
expect 2 "a missing kernel" "$lanewise" run entry.yaml
grep -q 'vsub' "$work/out" || fail "the message does not name the missing kernel"

[ $failures = 0 ] && echo "all kernels verified"
exit $((failures > 0))
