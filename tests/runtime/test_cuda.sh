#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that programs for the CUDA runtime run unchanged on Lanewise's runtime. They are compiled by clang without an SDK, and by
# nvcc if it is installed.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
runtime=$(dirname "$lanewise")/lanewise-cuda

runs() { # usage: runs NAME. Runs the program $scratch/NAME; checks its results, findings and reports
    "$lanewise" app "./$1" >out 2>err || { fail "$1 ends with exit status $?"; cat out err; }
    grep -q '^all right$' out || fail "$1: wrong results"
    grep -q 'out-of-bounds: global store of 4 bytes' err || fail "$1: the out-of-bounds store is not reported"
    "$lanewise" app --timing fermi --timing-report report.json --strict "./$1" >out 2>err
    grep -q '"cycles"' report.json || fail "$1: no timing report"
    grep -q 'fault: out-of-bounds' err || { fail "$1: --strict does not stop at the out-of-bounds store"; cat err; }
    grep -q ': cudaStreamSynchronize(stream) == 0' out || fail "$1: cudaStreamSynchronize() returns no error after a fault"
    grep -q ': cudaMemcpy(h, a, 4' out || fail "$1: cudaMemcpy() returns no error after a fault"
}

for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || { fail "$clang is not installed"; continue; }
    flags="-x cuda --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_75 -Xclang -target-sdk-version=11.0 -I $src -O2 -Wno-unknown-cuda-version"
    $clang $flags --cuda-device-only -S "$src/vector.cu" -o a.ptx 2>log ||
        { fail "$clang: PTX cannot be generated"; cat log; continue; }
    printf '\0' >>a.ptx
    $clang $flags --cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang a.ptx -c "$src/vector.cu" -o a.o 2>log &&
        cc a.o -L"$runtime" -l:libcudart.so.13 -o program-$clang 2>log ||
            { fail "$clang: the program cannot be linked"; cat log; continue; }
    runs program-$clang
done
# A program that opens the library of the CUDA driver API by its name.
cc -O1 -o driver "$src/test_cuda_driver.c" -ldl 2>log || { fail "the program for the driver API cannot be built"; cat log; }
"$lanewise" app ./driver >out 2>err
grep -q '^all right$' out || { fail "the program for the driver API fails"; cat out err; }
[ "$(grep -c 'calls cuGreenCtxCreate(), which is not supported' err)" = 1 ] || { fail "a function that is not supported is not named once"; cat err; }
grep -q 'does not define the kernel nowhere' err || { fail "the launch of a kernel without PTX does not name it"; cat err; }
# The static runtime cannot run without the driver's tables. NVIDIA's compiler library can, so nothing is printed for it.
echo 'extern int cuGetExportTable(const void **, const void *); int ask(void) { const void *p; return cuGetExportTable(&p, 0); }' >ask.c
echo 'int ask(void); int main(void) { return ask() != 801; }' >asks.c
cc -fPIC -shared ask.c -o libnvrtc.so -L"$runtime" -l:libcuda.so.1 && cc asks.c ask.c -o asks -L"$runtime" -lcudart -lcuda &&
    cc asks.c -o asks-library -L. -lnvrtc -Wl,-rpath,. -L"$runtime" -Wl,-rpath-link,"$runtime" || fail "programs that ask for a table cannot be built"
"$lanewise" app ./asks 2>err && grep -q 'link it with nvcc -cudart shared' err || { fail "a program that needs a table gets no message"; cat err; }
"$lanewise" app ./asks-library 2>err && [ ! -s err ] || { fail "a library that does not need a table causes a message"; cat err; }
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
    for form in "-gencode arch=compute_75,code=compute_75" "-arch=sm_75" "-arch=sm_75 --no-compress"; do
        # shellcheck disable=SC2086
        "$nvcc" -cudart shared $form "$src/vector.cu" -o program-nvcc >log 2>&1 ||
            { fail "nvcc $form: vector.cu does not compile"; cat log; continue; }
        runs program-nvcc
    done
    # Files that nvcc links. Names of one file differ from equal names of another one.
    for form in "-gencode arch=compute_75,code=compute_75" "-arch=sm_75"; do
        # shellcheck disable=SC2086
        "$nvcc" -cudart shared $form -dc "$src/cc/linked_one.cu" "$src/cc/linked_two.cu" >log 2>&1 &&
            "$nvcc" -cudart shared $form linked_one.o linked_two.o -o linked >>log 2>&1 ||
            { fail "nvcc $form: linked files do not compile"; cat log; continue; }
        "$lanewise" app ./linked >out 2>err && grep -q '^all right$' out || { fail "nvcc $form -dc: linked files fail"; cat out err; }
    done
    "$nvcc" -cudart shared -arch=sm_75 --default-stream per-thread "$src/vector.cu" -o per-thread >log 2>&1 && runs per-thread ||
        { fail "nvcc --default-stream per-thread: the program fails"; cat log; }
    "$nvcc" -cudart shared -gencode arch=compute_75,code=sm_75 "$src/vector.cu" -o no-ptx >log 2>&1 && "$lanewise" app ./no-ptx >out 2>err
    grep -q 'compute_75,code=compute_75' err ||
        { fail "a program without PTX: the message does not say which option to use"; cat err; }
    "$nvcc" -arch=sm_75 "$src/vector.cu" -o static >log 2>&1 && "$lanewise" app ./static >out 2>err
    grep -q 'link it with nvcc -cudart shared' err ||
        { fail "a program that contains CUDA's runtime: the message does not say how to link it"; cat out err; }
fi
exit $failed
