#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the launch files that `lanewise app --record` writes.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
src=$src/app
unset LANEWISE_OPTIONS
mkdir include && echo 'static ulong GET(ulong x) { return x ^ 5; }' >include/ids.h

# A run of the launch file has the dimensions and offsets of the program's launch.
if ${CC:-cc} "$src/dimensions.c" -o dimensions -lOpenCL 2>err; then
    "$lanewise" app --record ids ./dimensions >out 2>err || { fail "dimensions: status $?"; cat out err; }
    [ "$(ls ids/*.yaml | wc -l)" = 6 ] || fail "dimensions: expected 6 launch files, found $(ls ids)"
    for file in ids/*.yaml; do
        "$lanewise" run "$file" >out 2>&1 || { fail "$file: the launch differs"; cat out "$file"; }
    done
    # -D, -I and -X are options of each build.
    mkdir headers && mv include/ids.h headers && "$lanewise" app -I headers -D GIVEN -X -Werror ./dimensions >out 2>err ||
        { fail "-I: status $?"; cat out err; }
    "$lanewise" app -I headers -D ids=other ./dimensions >out 2>err && { fail "-D: the macro does not rename the kernel"; cat out err; }
    mv headers/ids.h include
    # The folder can be moved: the sources of the program and its include files are in the folder.
    mkdir elsewhere && mv ids elsewhere/moved && mv include other
    "$lanewise" run --profile - elsewhere/moved/0001-ids.yaml >out 2>&1 || { fail "moved: status $?"; cat out; }
    grep -q 'out\[3\] = get_work_dim' out || { fail "moved: the profile has no source"; cat out; }
    find elsewhere/moved/*.sources -name ids.h | grep -q . || fail "moved: the include file is not in the folder"
else
    echo "without OpenCL: $(head -n 1 err)"
fi
# The same for CUDA. A second run and other processes lose no launch of earlier ones.
cat >add.cu <<'E'
#include <cstdio>
#include "by.h"
__global__ void add(int *p) { *p += BY; }
int main()
{
    int *p, h = 0;
    cudaMalloc(&p, 4);
    cudaMemset(p, 0, 4);
    for (int i = 0; i < 3; i++)
        add<<<1, 1>>>(p);
    return cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost) == cudaSuccess && h == 3 * BY ? 0 : 1;
}
E
echo '#define BY 5' >by.h
"$lanewise" cc -G -g add.cu -o add >err 2>&1 || { fail "add.cu does not compile"; cat err; exit 1; }
"$lanewise" app --record two ./add >out 2>err || { fail "add: status $?"; cat err; }
"$lanewise" app --record two sh -c './add & ./add & wait' >out 2>err || { fail "three processes: status $?"; cat err; }
[ "$(ls two/*.yaml | wc -l)" = 9 ] && [ -s two/0001-add.yaml ] && [ -s two/0009-add.yaml ] || fail "three processes: $(ls two)"
for file in two/*.yaml; do
    "$lanewise" run "$file" >out 2>&1 || { fail "$file: status $?"; cat out "$file"; }
done
ls two/*.tmp >/dev/null 2>&1 && fail "a temporary file was left: $(ls two)"
mkdir -p elsewhere && mv two elsewhere/cuda && rm add.cu by.h
"$lanewise" run --profile - elsewhere/cuda/0002-add.yaml >out 2>&1
grep -q 'p += BY' out || { fail "CUDA, moved: the profile has no source"; cat out; }
"$lanewise" debug -b -c list elsewhere/cuda/0002-add.yaml >out 2>&1
grep -q 'p += BY' out || { fail "CUDA, moved: the debugger has no source"; cat out; }

# A launch that a signal has ended can be run again.
cat >endless.cu <<'E'
#include <cstdio>
__global__ void endless(volatile int *p) { while (*p == 0) { } }
int main()
{
    int *p;
    cudaMalloc(&p, 4);
    cudaMemset(p, 0, 4);
    endless<<<1, 1>>>(p);
    return cudaDeviceSynchronize();
}
E
"$lanewise" cc endless.cu -o endless >err 2>&1 || { fail "endless.cu does not compile"; cat err; }
timeout -s INT 5 "$lanewise" app --hang-limit 0 --record hang ./endless >out 2>err
grep -q 'It has not ended' hang/0001-endless.yaml || { fail "no launch file after a signal: $(ls hang)"; cat err; }
"$lanewise" run --max-instructions 1000 hang/0001-endless.yaml >out 2>&1
[ $? = 4 ] || { fail "the launch that a signal has ended does not run again"; cat out; }
exit $failed
