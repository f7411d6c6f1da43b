#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that llvm-dwarfdump --verify reports no error for the objects of the sample kernels. Each clang, and nvcc if it is
# installed, compiles the kernels with optimisation and only lines, with optimisation and variables, and without optimisation.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
failures=0
checked=0
dump=
for tool in llvm-dwarfdump-19 llvm-dwarfdump-14 llvm-dwarfdump; do
    command -v $tool >/dev/null && dump=$tool && break
done
if [ -z "$dump" ]; then
    echo "skipped: llvm-dwarfdump is not installed"
    exit 77
fi

# usage: verify NAME. Moves object $work/o to the folder $work/kept, for verified()
mkdir "$work/kept"
verify() {
    checked=$((checked + 1))
    mv "$work/o" "$work/kept/$checked" || failures=$((failures + 1))
    names="$names$checked $1
"
}
names=

# usage: verified. Checks that llvm-dwarfdump reports no error for any object in $work/kept. If its output for all objects lacks
# the success message of an object, checks this object alone
verified() {
    # shellcheck disable=SC2046
    (cd "$work/kept" && $dump --verify $(seq $checked)) >"$work/out" 2>&1
    printf '%s' "$names" | awk '
        NR == FNR { name[$1] = $0; n = $1; next }
        /^Verifying [0-9]+:/ { last = $2 + 0; next }
        /^No errors/ { good[last] = 1 }
        END { for (i = 1; i <= n; i++) if (!(i in good)) print name[i] }' - "$work/out" >"$work/doubtful"
    while read -r number name; do
        $dump --verify "$work/kept/$number" >"$work/out" 2>&1 && grep -q '^No errors' "$work/out" && continue
        echo "FAIL: $name: the debug information is not valid"
        grep -v '^Verifying' "$work/out" | head -n 10
        failures=$((failures + 1))
    done <"$work/doubtful"
}

# usage: object NAME OPTIONS... SOURCE. Compiles a source to an object, for verified(). It is a failure if the source does not
# compile
object() {
    name=$1
    shift
    if ! "$lanewise" compile -o "$work/o" "$@" 2>"$work/out"; then
        echo "FAIL: $name does not compile"
        head -n 5 "$work/out"
        failures=$((failures + 1))
        return 1
    fi
    verify "$name"
}

for clang in clang-19 clang-16 clang-15 clang-14; do
    command -v $clang >/dev/null || { echo "skipped: $clang is not installed"; continue; }
    kernels="$src/kernels/*.cl"
    [ $clang = clang-19 ] || kernels="$src/kernels/gemm_tiled.cl $src/kernels/bfs.cl"
    for file in $kernels "$src/tests/clients/golden/variables.cl"; do
        for form in '-X -O3' '-X -gline-tables-only' '-X -O0 -X -g -X -cl-opt-disable'; do
            case "$form $file" in # with -gline-tables-only the objects of all kernels are similar: a few are enough
            *tables*gemm_tiled* | *tables*bfs* | *tables*variables*) ;;
            *tables*) continue ;;
            *enqueue*) form="$form -X -cl-std=CL2.0" ;;
            esac
            # shellcheck disable=SC2086
            object "$clang $form ${file##*/}" --clang $clang $form "$file"
        done
    done
done
# Compiles the CUDA C++ kernels by clang, and by nvcc if it is installed.
for file in "$src"/kernels/*.cu; do
    command -v clang-19 >/dev/null || break
    for form in '-X -O3' '-X -O0 -X -g -X --cuda-noopt-device-debug'; do
        # shellcheck disable=SC2086
        object "$form ${file##*/}" --clang clang-19 $form "$file"
    done
done
if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    for file in cuda_half.cu cuda_saxpy.cu; do
        for form in '-X -G' ''; do
            # shellcheck disable=SC2086
            object "nvcc $form $file" --compiler nvcc $form "$src/kernels/$file"
        done
    done
else
    echo "skipped: nvcc is not installed"
fi
for file in "$src"/kernels/*.s; do
    "$lanewise" asm -o "$work/o" "$file" || failures=$((failures + 1))
    verify "${file##*/}"
done
for file in "$src"/tests/ptx/corpus/debug_*.ptx; do
    object "${file##*/}" "$file"
done
verified
# The debug information must contain variables. llvm-dwarfdump would also accept objects without them.
"$lanewise" compile -o "$work/o" "$src/tests/ptx/corpus/debug_clang19.ptx"
$dump --debug-info "$work/o" 2>/dev/null | grep -q 'DW_AT_name.*"weight"' ||
    { echo "FAIL: the object lacks the structure's member"; failures=$((failures + 1)); }
# In loops of nvcc, code of other lines jumps back into the middle of a statement. The line table must have a row at the target.
cat >"$work/head.s" <<'END'
.producer "nvcc"
.file 1 "head.cu"
.kernel k
.regs v=4 s=4 b=0
.loc 1 9 5
    s_mov_b32 s1, 3
.L1:
    s_setp_s32.gt sp0, s1, 0
    @!sp0 s_bra .L2
.loc 1 10 9
    s_sub_u32 s1, s1, 1
    bra .L1
.L2:
.loc 1 12 5
    exit
.end
END
"$lanewise" asm -o "$work/o" "$work/head.s"
rows=$($dump --debug-line "$work/o" | awk '/^0x/ { printf "%s:%s ", substr($1, length($1) - 1), $2 }')
[ "$rows" = "00:9 10:9 30:10 50:12 60:12 " ] ||
    { echo "FAIL: wrong rows of the line table for a loop like nvcc's: $rows"; failures=$((failures + 1)); }
echo "$checked objects verified by $dump"
[ $failures = 0 ] && [ $checked -ge 3 ]
