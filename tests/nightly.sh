#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests that take too long for `make check`: exhaustive tests, long random tests, random calls with the thread sanitizer, all
# tests on AArch64 under qemu, and the fuzzers. `make nightly` in a build folder runs this script. A test program that was not built counts as a failure.
#
#   LW_NIGHTLY_PROGRAMS  random programs (1000000)   LW_FUZZ_SECONDS  seconds for each fuzzer (600)
#   LW_NIGHTLY_SWEEP     0: omit the tests of all 2^32 inputs
#   LW_NIGHTLY_LIST      1: print the command of each step, one per line, and run none (for tests/lint/lint_nightly.sh)
set -u
src=$(cd "${srcdir:-.}" && pwd)
programs=${LW_NIGHTLY_PROGRAMS:-1000000}
seconds=${LW_FUZZ_SECONDS:-600}
unset LW_RANDOM_DIVISOR LW_RANDOM_COUNT LW_SLOW # these variables would make random tests shorter
passed=0; failed=0
step() { # usage: step NAME COMMAND... . Runs the command; its output is written to nightly-NAME.log
    name=$1; shift
    if [ "${LW_NIGHTLY_LIST:-}" = 1 ]; then echo "$name: $*"; return; fi
    if "$@" >"nightly-$name.log" 2>&1; then
        passed=$((passed + 1)); echo "ok: $name"
    else
        failed=$((failed + 1)); echo "FAILED: $name (nightly-$name.log)"
    fi
}
if [ "${LW_NIGHTLY_SWEEP:-1}" != 0 ]; then # each test runs on all processors
    for sweep in test_math test_half test_convert; do
        step "$sweep" env LW_EXHAUSTIVE=1 "tests/emu/exec/$sweep"
    done
fi
step silicon tests/ptx/silicon/test_ptx_silicon
step flow env LW_SEED=random LW_RANDOM_COUNT="$programs" tests/emu/exec/prop_flow
step programs env LW_SEED=random LW_RANDOM_COUNT="$programs" tests/emu/exec/prop_exec
step native env LW_SEED=random LW_NATIVE_COUNT=2000 "$src/tests/native/prop_native.sh"
step native-grids env LW_SEED=random LW_RANDOM_COUNT=4000 tests/native/prop_native_grids
step native_access env LW_SEED=random "$src/tests/native/test_native_access.sh"
step native-fuzz env srcdir="$src" LW_SEED=random LW_RANDOM_COUNT="$programs" tests/native/fuzz_native -t "$seconds"
step opencl-calls env LW_SEED=random LW_FUZZ_SECONDS="$seconds" LANEWISE_ENGINE=interpreter tests/runtime/calls/prop_opencl
step cuda-calls env LW_SEED=random LW_FUZZ_SECONDS="$seconds" LANEWISE_ENGINE=interpreter tests/runtime/calls/prop_cuda
step endless env LW_SEED=random LW_RANDOM_COUNT=20000 tests/emu/engine/prop_endless
step threads env LW_REPEATS=20 "$src/tests/emu/engine/test_threads.sh"
step hangs env LW_LONG=1 "$src/tests/emu/engine/test_hangs.sh"
step sweeps env LW_SEED=random LW_RANDOM_COUNT="$programs" tests/emu/engine/prop_block_vector
step loads env LW_SEED=random LW_RANDOM_COUNT="$programs" tests/emu/memory/prop_addr_cache
step slices env LW_SEED=random LW_RANDOM_COUNT="$programs" tests/emu/predict/prop_predict
step checks env LW_RANDOM_COUNT=3000 tests/check/prop_race_filter
step zoo env LW_ZOO=all "$src/tests/check/test_zoo.sh"
step lldb-dap env LW_DAP_RUNS=100 "$src/tests/clients/lldb_dap.sh"
step splits env LW_RANDOM_COUNT="$programs" tests/emu/simt/prop_split
step objects env LW_SEED=random tests/isa/test_isa_object
step rows env LW_SEED=random tests/isa/prop_isa
for t in emu/history/test_checkpoint emu/history/test_history emu/history/test_replay ptx/test_ptx_cuda; do
    step "${t##*/}" env LW_LONG=1 "tests/$t"
done
for t in emu/history/test_checkpoint program/test_matrix program/test_kernels clients/gdb_features timing/test_tim_cdp; do
    step "${t##*/}.sh" env LW_LONG=1 "$src/tests/$t.sh"
done
for t in "$src"/tests/clients/behaviours_*.sh; do # the behaviours of each client (debugger)
    step "$(basename "$t" .sh)" env LW_LONG=1 "$t"
done
step reverse env LW_SEED=random LW_RANDOM_COUNT=1000 "$src/tests/debug/prop_reverse.sh"
for clang in clang-14 clang-15 clang-16 clang-19; do # 10,000 kernels in all, distributed to the compilers
    command -v $clang >/dev/null || continue
    step values-$clang env LW_SEED=random LW_VALUES_CLANG=$clang LW_RANDOM_COUNT=2500 "$src/tests/debug/prop_values.sh"
    step memory-$clang env LW_SEED=random LW_VALUES_CLANG=$clang LW_RANDOM_COUNT=500 LW_VALUES_MODE=memory "$src/tests/debug/prop_values.sh"
    step macros-$clang env LW_SEED=random LW_VALUES_CLANG=$clang LW_RANDOM_COUNT=500 LW_VALUES_MODE=macros "$src/tests/debug/prop_values.sh"
    step idioms-$clang env LW_SEED=random LW_VALUES_CLANG=$clang LW_RANDOM_COUNT=500 LW_VALUES_MODE=idioms "$src/tests/debug/prop_values.sh"
    step free-$clang env LW_SEED=random LW_VALUES_CLANG=$clang LW_RANDOM_COUNT=500 LW_VALUES_MODE=free "$src/tests/debug/prop_values.sh"
done
step values-table env LANEWISE=./lanewise "$src/bench/values" --check "$src/docs/evidence/values.tsv"
step reverse-finish env LW_RANDOM_COUNT=2000 "$src/tests/clients/prop_reverse_finish.sh"
step sessions env LW_SESSIONS=200 LW_SEED=random "$src/tests/clients/prop_sessions.sh"
step timing_trends env LANEWISE=./lanewise "$src/bench/timing_trends"
step timing_samples env LANEWISE=./lanewise "$src/bench/timing_samples" --check
for paper in ccws daws bypass equalizer mrpb mascar medic dynpcal dws dwf tbc lwm interweave capri orf rows prf regless vws dwr locality dtbl laperm power; do
    step "papers-$paper" env LANEWISE=./lanewise "$src/bench/papers/run" "$paper" --known --out "papers-$paper"
done
step papers-ablations env LANEWISE=./lanewise "$src/bench/papers/run" ablations --out papers-ablations
step fidelity sh -c 'LANEWISE=./lanewise "$1/bench/fidelity" --check >fidelity.md && cmp fidelity.md "$1/docs/reference/fidelity.md"' sh "$src"
step builtins env LW_BUILTINS=all "$src/tests/ptx/test_ptx_builtins.sh"
step timing-memory tests/timing/prop_tim_memory 1000 20000
step timing-machines env LW_RANDOM_COUNT=5000 tests/timing/prop_tim
step timing-kernels env LW_SEED=random LW_TIMING=all "$src/tests/timing/test_tim_kernels.sh"
step timing-micro env LW_TIMING=all "$src/tests/timing/test_tim_micro.sh"
step front-end env LW_RANDOM_COUNT="$programs" tests/ptx/prop_ptx
step lane-classes env LW_RANDOM_COUNT="$programs" tests/ptx/prop_ptx_affine
step ptx-evaluator env LW_RANDOM_COUNT="$programs" tests/ptx/eval/prop_ptx_eval
[ "${LW_NIGHTLY_LIST:-}" != 1 ] || exit 0
# Builds the runtimes with the thread sanitizer, and calls them from three threads.
thread_sanitizer() (
    mkdir -p nightly-tsan && cd nightly-tsan || return 1
    [ -f Makefile ] || "$src/configure" -q --enable-tsan --enable-one-level CFLAGS='-O1 -g' || return 1
    make -j"$(nproc)" V=0 all tests/runtime/calls/prop_opencl tests/runtime/calls/prop_cuda || return 1
    for t in opencl cuda; do
        LW_SEED=random LANEWISE_ENGINE=interpreter "tests/runtime/calls/prop_$t" -j 3 -t "$seconds" || return 1
    done
)
step thread-sanitizer thread_sanitizer
# Builds for AArch64, and runs and compares under qemu.
"$src/tests/aarch64.sh" nightly-aarch64 >nightly-aarch64.log 2>&1
case $? in
0) passed=$((passed + 1)); echo "ok: $(tail -n 1 nightly-aarch64.log)" ;;
77) echo "skipped: $(tail -n 1 nightly-aarch64.log)" ;;
*) failed=$((failed + 1)); echo "FAILED: aarch64 (nightly-aarch64.log)" ;;
esac
clang=
for c in clang-19 clang-16 clang-15 clang-14; do
    if [ -z "$clang" ] && command -v $c >/dev/null &&
        echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { (void)d; return n > 99999; }' |
        $c -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null; then
        clang=$c
    fi
done
if [ -z "$clang" ]; then
    failed=$((failed + 1))
    echo "FAILED: no clang with libFuzzer for the fuzzers (Debian: clang-19 libclang-rt-19-dev)"
else
    libs="-lelf -lyaml -lreadline -lcapstone -lpthread"
    for harness in $(find "$src/tests" -name "fuzz_*.c" ! -name fuzz_native.c); do
        name=$(basename "$harness" .c)
        extra=; [ "$name" != fuzz_rsp ] || extra="$src/tests/gdbstub/fake_dbg.c gdbstub/rsp_python_text.c"
        dirs="base isa ptx"; [ "$name" != fuzz_rsp ] || dirs="base isa gdbstub"
        [ "$name" != fuzz_yaml ] || dirs="base isa ptx emu launch"
        [ "$name" != fuzz_checkpoint ] || dirs="base isa emu"
        [ "$name" != fuzz_shell ] || dirs="base isa emu debug shell"
        [ "$name" != fuzz_timing ] || {
            dirs="base isa emu"
            extra="$src/timing/tim_config.c $src/timing/tim_config_check.c $src/timing/tim_machines.c"
        }
        files=; for d in $dirs; do files="$files $(find "$src/$d" -name "*.c")"; done
        # shellcheck disable=SC2086
        if ! $clang -g -O1 -std=gnu11 -D_GNU_SOURCE -DLW_FUZZ_LIBFUZZER -w \
            -DLW_LOOP -DLW_ONE_LEVEL -DEMU_LEVEL=1 '-DEMU_LEVEL_TEXT="1"' -fno-math-errno \
            -fsanitize=fuzzer,address,undefined -I. -I"$src" "$harness" $extra $files $libs -o "nightly-$name"; then
            failed=$((failed + 1)); echo "FAILED: $name does not build"; continue
        fi
        mkdir -p "nightly-corpus/$name"
        [ "$name" != fuzz_checkpoint ] || tests/emu/history/fuzz_checkpoint -w "nightly-corpus/$name"
        case $name in
        fuzz_asm | fuzz_decode) seeds=$src/tests/isa/corpus/${name#fuzz_} ;;
        *) seeds=$src/tests/${name#fuzz_}/corpus ;;
        esac
        [ "$name" != fuzz_rsp ] || seeds="$src/tests/clients/golden/fuzz"
        [ -d "$seeds" ] || seeds=
        # shellcheck disable=SC2086
        step "$name" "./nightly-$name" -max_total_time="$seconds" -print_final_stats=1 \
            "nightly-corpus/$name" $seeds
        grep -hE 'cov: |number_of_executed_units' "nightly-$name.log" | tail -n 2
    done
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
