#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that recorded launches have all memory that their kernels reach, at the addresses that it had in the program.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
src=$src/record
unset LANEWISE_OPTIONS
check() { # usage: check FOLDER LAUNCHES RESULTS PROGRAM. Records the program, and runs each launch.
    mkdir -p recorded && "$lanewise" app --record "recorded/$1" "$4" >out 2>err || { fail "$1: status $?"; cat out err; }
    [ ! -s err ] && [ "$(cat out)" = "$3" ] || { fail "$1: wrong results or messages"; cat out err; }
    [ "$(ls recorded/"$1"/*.yaml | wc -l)" = "$2" ] || fail "$1: expected $2 launch files, found $(ls recorded/"$1")"
    for file in recorded/"$1"/*.yaml; do
        "$lanewise" run "$file" >out 2>&1 || { fail "$file: the launch differs"; cat out "$file"; }
    done
}
results='303 12 29 14 97 12
35'
for clang in clang-14 clang-19; do
    "$lanewise" cc --compiler $clang -O1 "$src/reach.cu" -o reach-$clang >err 2>&1 || { fail "reach.cu does not compile"; cat err; continue; }
    check $clang 4 "$results" ./reach-$clang
done
"$lanewise" cc --compiler clang-19 "$src/textures.cu" -o textures >err 2>&1 || { fail "textures.cu does not compile"; cat err; }
check textures 2 124 ./textures
# Objects without a pointer are not recorded, but the heap has as much space as in the program. Objects of earlier launches are no leaks.
"$lanewise" cc --compiler clang-19 "$src/heap.cu" -o heap >err 2>&1 || { fail "heap.cu does not compile"; cat err; }
check heap 2 "$(./heap)" ./heap
"$lanewise" run --check=heap-leak recorded/heap/0002-fill.yaml >out 2>&1
grep -q '^heap-leak\|: heap-leak' out && [ "$(grep -c 'heap-leak' out)" = 1 ] || { fail "leaks of a recorded launch"; cat out; }
if ${CC:-cc} "$src/shared.c" -o shared -lOpenCL 2>err; then
    check shared 1 1123 ./shared
else
    echo "without OpenCL: $(head -n 1 err)"
fi
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if "$nvcc" --cudart shared -gencode arch=compute_75,code=compute_75 "$src/reach.cu" -o reach-nvcc >err 2>&1; then
    check nvcc 4 "$results" ./reach-nvcc
else
    echo "without nvcc: $(head -n 1 err)"
fi

# A recorded launch can be timed, checked, logged, and run backwards.
file=recorded/clang-19/0003-use.yaml
"$lanewise" run --timing volta --check "$file" >out 2>&1 || { fail "timing: status $?"; cat out; }
"$lanewise" run --log use.log "$file" >out 2>&1 && "$lanewise" run --replay use.log "$file" >out 2>&1 || { fail "a replay differs"; cat out; }
"$lanewise" debug -b -c 'stepi 60' -c 'reverse-stepi 60' -c 'print *list' "$file" >out 2>&1
grep -q 'value = 102' out || { fail "debug: wrong values"; cat out; }
# Addresses that overlap or are outside memory are refused.
refuses() { # usage: refuses SED-COMMAND MESSAGE
    sed "$1" "$file" >recorded/clang-19/changed.yaml
    "$lanewise" run recorded/clang-19/changed.yaml >out 2>err
    [ $? = 2 ] && grep -q "^lanewise: recorded/clang-19/changed.yaml:[0-9]*: $2" err || { fail "$1: expected status 2 and \"$2\""; cat out err; }
}
refuses 's/address: 0x20000000c000/address: 0x200000001000/' '.*overlap'
refuses 's/address: 0x200000000000/address: 0x1000/' '[0-9]* bytes at 0x1000 are outside global memory'
refuses 's/address: 0x200000000000/address: 0x200000000008/' '0x200000000008 cannot be the address of an allocation'
refuses 's/variables: 0x[0-9a-f]*/variables: 0x200000000000/' '.*overlap'
refuses 's/code: 0x[0-9a-f]*/code: 0x100000010/' 'code cannot begin at 0x100000010'
refuses 's/next: 0x[0-9a-f]*/next: 5/' 'allocations cannot begin at 0x5'
refuses 's/machine: {/machine: {heap_bytes: 32, /' 'the heap for malloc in kernels, of 32 bytes'
exit $failed
