#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests `lanewise app`, which runs unmodified OpenCL programs on Lanewise's OpenCL driver, with options of the emulator.
set -u
lanewise=${LANEWISE:-./lanewise}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

if nm -D "$(dirname "$lanewise")/liblanewise-opencl.so" 2>/dev/null | grep -q '__asan_init'; then
    echo "skipped: programs cannot load a runtime that is built with the address sanitizer"
    exit 77
fi
# clinfo makes all queries of the OpenCL API. No query may return an error.
"$lanewise" app clinfo >"$scratch/clinfo" 2>&1 || fail "clinfo ends with exit status $?"
grep -q 'Platform Name *Lanewise' "$scratch/clinfo" || fail "clinfo does not list the platform Lanewise"
grep -iE 'error|CL_[A-Z_]*INVALID' "$scratch/clinfo" | grep -v 'Error Correction support' &&
    fail "clinfo: a query returns an error"
[ "$(grep -c 'Number of platforms *1$' "$scratch/clinfo")" = 1 ] || fail "clinfo: expected one platform"
"$lanewise" app --timing volta clinfo >"$scratch/clinfo" 2>&1
grep -q 'Device Name *Lanewise volta' "$scratch/clinfo" || fail "clinfo: the name of the device lacks the GPU model"
grep -q 'Max compute units *80' "$scratch/clinfo" || fail "clinfo: the device does not have 80 cores"
grep -q 'Max clock frequency *1380MHz' "$scratch/clinfo" || fail "clinfo: wrong clock frequency"

# Runs the tests of the OpenCL driver as a program. lanewise must report their out-of-bounds store, write reports, and return the
# exit status of the program.
LW_PROGRAM=$(dirname "$lanewise")/tests/runtime/opencl/test_opencl
"$lanewise" app --hash --stats "$scratch/stats.json" --check=memory --check-file="$scratch/findings file.json" \
    "$LW_PROGRAM" >"$scratch/out" 2>"$scratch/err" || fail "test_opencl ends with exit status $?"
grep -q 'out-of-bounds: global store of 4 bytes' "$scratch/err" || fail "the out-of-bounds store is not reported"
grep -q '^hash_mem [0-9a-f]\{16\}$' "$scratch/err" || fail "--hash does not print hash_mem"
grep -q '"thread_instructions": [1-9]' "$scratch/stats.json" || fail "--stats does not write statistics"
grep -q '"out-of-bounds"' "$scratch/findings file.json" || fail "the report of findings lacks the store"
ls "$scratch"/*.tmp >/dev/null 2>&1 && fail "a temporary file was left"
"$lanewise" app --check-file "$scratch/a.json" --check-file "$scratch/b b.sarif" --check-file "$scratch/c.txt" "$LW_PROGRAM" \
    >"$scratch/out" 2>"$scratch/err" || fail "three reports of findings: exit status $?"
grep -q '"findings": \[' "$scratch/a.json" && grep -q '"ruleId": "out-of-bounds"' "$scratch/b b.sarif" &&
    grep -q ': out-of-bounds: ' "$scratch/c.txt" || fail "three reports of findings: one lacks the store"
"$lanewise" app --check-file "$scratch/d.json" --check-file "$scratch/none/e.json" "$LW_PROGRAM" >"$scratch/out" 2>"$scratch/err"
grep -q 'none/e.json: ' "$scratch/err" || fail "no message that the second report cannot be written"

# With native code the memory at the end must be the same as with the interpreter. Without LLVM 19 lanewise must name its package.
cat >"$scratch/add.cu" <<'END'
#include <cstdio>
__global__ void add(const int *a, int *b, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++)
        b[i] += a[(i + k) % 1024] - a[i];
}
int main()
{
    int h[1024], *a, *b;
    for (int i = 0; i < 1024; i++)
        h[i] = i;
    cudaMalloc(&a, sizeof h);
    cudaMalloc(&b, sizeof h);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice);
    add<<<8, 128>>>(a, b, 20);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    return h[1000] == 1000 + 20 * 19 / 2 ? 0 : 1;
}
END
"$lanewise" cc "$scratch/add.cu" -o "$scratch/add" || fail "add.cu does not compile"
if "$lanewise" app --engine native "$scratch/add" >"$scratch/out" 2>"$scratch/err"; then
    for engine in interpreter native; do
        "$lanewise" app --strict --hash --stats "$scratch/$engine.json" --engine $engine "$scratch/add" \
            >"$scratch/out" 2>"$scratch/$engine.err" || fail "--engine $engine: exit status $?: $(cat "$scratch/$engine.err")"
    done
    [ "$(grep hash_mem "$scratch/interpreter.err")" = "$(grep hash_mem "$scratch/native.err")" ] || fail "--engine native: another hash_mem"
    grep -q '"native_warp_instructions": [1-9]' "$scratch/native.json" || fail "--engine native: no native code was executed"
else
    grep -q 'libllvm19' "$scratch/err" || fail "--engine native: $(cat "$scratch/err")"
fi

# A program may change its current folder. lanewise writes reports relative to the folder in which it was started. The device has
# the warp width of option --warp.
mkdir "$scratch/a folder" && here=$(pwd)
case $lanewise in /*) full=$lanewise ;; *) full=$here/$lanewise ;; esac
(cd "$scratch/a folder" && "$full" app --warp 16 --stats 'own stats.json' sh -c 'cd / && exec clinfo') >"$scratch/clinfo" 2>&1
[ -s "$scratch/a folder/own stats.json" ] || fail "the statistics are not in the folder in which lanewise was started"
grep -q 'Preferred work group size multiple (device) *16' "$scratch/clinfo" ||
    fail "clinfo: the device does not have the warp width of --warp"

# A report may be written to a pipe or a device, which must not be replaced by a file. If a path cannot be written, lanewise must
# refuse it before it runs the program.
mkfifo "$scratch/pipe"
cat "$scratch/pipe" >"$scratch/piped" &
"$lanewise" app --stats "$scratch/pipe" clinfo -l >"$scratch/clinfo" 2>&1
wait
[ -p "$scratch/pipe" ] && grep -q '"thread_instructions"' "$scratch/piped" || fail "a report replaced a pipe"
"$lanewise" app --stats "$scratch/none/stats.json" clinfo -l >"$scratch/out" 2>"$scratch/err"
grep -q 'none/stats.json: ' "$scratch/err" || fail "no message that the report cannot be written"
grep -q 'Device #0: Lanewise' "$scratch/out" && fail "the program runs although the report cannot be written"

# If the program calls exit() while another thread executes a kernel, exit() does not wait for the kernel. Reports are written.
timeout 60 "$lanewise" app --stats "$scratch/endless.json" "$LW_PROGRAM" endless >"$scratch/out" 2>"$scratch/err" ||
    fail "exit() while a kernel runs: exit status $?"
grep -q 'the program ended while a kernel was running' "$scratch/err" || fail "no message that a kernel was running"
grep -q 'lanewise_' "$scratch/err" && fail "exit() while a kernel runs: the message names a function of the library"
"$lanewise" app --check=all --timeout 60 "$LW_PROGRAM" endless >"$scratch/out" 2>"$scratch/err"
grep -q 'the kernel has not ended, so the checks at the end of the run are not made' "$scratch/err" && ! grep -q 'lanewise_' "$scratch/err" ||
    { fail "exit() while a kernel runs, with checks"; cat "$scratch/err"; }
grep -q '"thread_instructions"' "$scratch/endless.json" || fail "no statistics after exit() while a kernel runs"

# For wrong usage, lanewise prints one message, ends with status 2, and does not run the program.
refused() { # message, arguments...
    want=$1
    shift
    "$lanewise" app "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    [ $? = 2 ] || fail "app $*: expected exit status 2"
    grep -qF "$want" "$scratch/err" || { fail "app $*: expected \"$want\", found:"; cat "$scratch/err"; }
    [ ! -s "$scratch/out" ] || fail "app $*: expected no output"
}
refused 'expected the name of a program'
refused 'the program does not exist' ./no-such-program
touch source.cu && cp /bin/true here
refused 'source.cu: is a source file: compile it with "lanewise cc source.cu' source.cu
refused 'here: no folder of PATH has this program: for the file in this folder, write ./here' here
refused 'did you mean "--timing"?' --timng volta clinfo
LANEWISE_OPTIONS="--timng volta" "$lanewise" app clinfo -l >"$scratch/out" 2>"$scratch/err"
grep -q 'unknown key "timng"; did you mean "timing"?' "$scratch/err" ||
    fail "LANEWISE_OPTIONS: the unknown option is not reported"
"$lanewise" app --timing voltaa clinfo >"$scratch/out" 2>"$scratch/err"
grep -q 'did you mean "volta"' "$scratch/err" && ! grep -q 'Lanewise GPU' "$scratch/out" ||
    { fail "an unknown GPU model: the program runs, or there is no message"; cat "$scratch/err"; }
[ "$("$lanewise" app sh -c 'exit 7' >/dev/null 2>&1; echo $?)" = 7 ] ||
    fail "lanewise app does not return the exit status of the program"
# With --fail-on-findings the exit status tells of findings, of a fault and of a hang, unless the program's own status is not 0. All
# of the program's output is written, and its destructors run.
cat >"$scratch/ends.cu" <<'END'
#include <cstdio>
#include <cstdlib>
struct last {
    ~last() { printf("destroyed\n"); }
} global;
__global__ void outside(int *p) { p[4] = 1; }
__global__ void trap() { asm volatile("trap;"); }
__global__ void waits(volatile int *p) { while (*p == 0) { } }
int main(int argc, char **argv)
{
    int *p;
    cudaMalloc(&p, 16);
    cudaMemset(p, 0, 16);
    switch (argv[1][0]) {
    case 'o': outside<<<1, 1>>>(p); break;
    case 't': trap<<<1, 1>>>(); break;
    case 'w': waits<<<1, 1>>>(p); break;
    }
    printf("%s", cudaDeviceSynchronize() == cudaSuccess ? "fine\n" : "bad\n");
    return argc > 2 ? atoi(argv[2]) : 0;
}
END
if "$lanewise" cc "$scratch/ends.cu" -o "$scratch/ends" >"$scratch/err" 2>&1; then
    ends() { # expected status, options of app, arguments of the program
        want=$1
        "$lanewise" app $2 "$scratch/ends" $3 >"$scratch/out" 2>"$scratch/err"
        got=$?
        [ $got = "$want" ] || { fail "app $2 ends $3: exit status $got, expected $want"; cat "$scratch/err"; }
        [ "$(grep -c 'destroyed\|fine\|bad' "$scratch/out")" = 2 ] || { fail "app $2 ends $3: output is missing"; cat "$scratch/out"; }
    }
    ends 0 "" o
    ends 1 --fail-on-findings o
    ends 1 "--fail-on-findings --check=all --stats=$scratch/ends.json" o
    [ -s "$scratch/ends.json" ] || fail "--fail-on-findings: the report is missing"
    ends 7 --fail-on-findings "o 7"
    ends 0 --fail-on-findings n
    ends 0 "--fail-on-findings --check=races" n
    ends 3 --fail-on-findings t
    ends 0 "" t
    ends 3 "--fail-on-findings --strict" o
    ends 4 "--fail-on-findings --hang-limit 100000" w
    echo '- {kind: out-of-bounds}' >"$scratch/known.yaml"
    ends 0 "--fail-on-findings --check=default --check-suppress=$scratch/known.yaml" o
else
    fail "ends.cu does not compile"
fi
"$lanewise" app --fail-on-findings "$LW_PROGRAM" >"$scratch/out" 2>"$scratch/err"
[ $? = 1 ] || fail "--fail-on-findings: test_opencl does not end with status 1"
exit $failed
