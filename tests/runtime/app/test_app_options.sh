#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that `lanewise app` checks its options before it starts the program, and that LANEWISE_OPTIONS has the same options.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
unset LANEWISE_OPTIONS

# For a wrong option, lanewise prints one sentence, ends with status 2, and does not run the program.
refused() { # message, options...
    want="lanewise: app: $1"
    shift
    "$lanewise" app "$@" sh -c 'echo the program ran' >out 2>err </dev/null
    [ $? = 2 ] || fail "app $*: expected exit status 2"
    case $(cat err) in "$want"*) ;; *) fail "app $*: expected \"$want\", found:"; cat err ;; esac
    [ "$(wc -l <err)" = 1 ] || { fail "app $*: expected one line"; cat err; }
    [ ! -s out ] || { fail "app $*: expected no output"; cat out; }
}
refused '--check: there is no kind of finding "memroy"; did you mean "memory"?' --fail-on-findings --check=memroy
refused '--warp: expected 4, 8, 16, 32 or 64, found "7"' -w 7
refused '--threads: expected an integer from 1 to 1024, found "0"' -t0
refused '--policy: unknown name "rrr"; did you mean "rr"?' -p rrr
refused '--reconv: unknown name "no"' --reconv no
refused '--engine: unknown name "nativ"; did you mean "native"?' --engine nativ
refused '--tags: unknown name "x"' --tags x
refused '--timing: "voltaa" is neither a shipped GPU model nor a file; did you mean "volta"?' --timing voltaa
refused '--timing-set: expected SECTION.KEY=VALUE' --timing volta --timing-set l1
refused '--mechanism: expected mechanisms of ' --timing volta --mechanism x
refused '--warp: the GPU model volta determines this value' --timing volta --warp 16
refused '--threads: the timing model runs on one host thread' --timing volta --threads 2
refused '--timing-report has no effect without the timing model: add --timing' --timing-report t.txt
refused '--timing-set has no effect without the timing model: add --timing' --timing-set l1.bytes=32768
refused '--history: expected an integer from 0 to 1099511627775, found "abc"' --history abc
refused '--gdb: expected PORT, HOST:PORT or unix:PATH, found "here"' --gdb=here
refused '--timeout: expected a time above 0' --timeout x
refused '--max-instructions: expected ' --max-instructions 1x
refused '--max-findings: expected an integer from 1 to 1000000, found "0"' --max-findings 0
refused '--hang-limit: expected an integer of 0 or more, found "x"' --hang-limit x
refused '--read-poison: expected an integer' --read-poison x
refused '--compiler: no-such-compiler: the program does not exist' --compiler no-such-compiler
refused '--quantum: expected an integer from 0 to ' --quantum x
refused '--fairness-limit: expected an integer from 0 to ' --fairness-limit x
refused '--level: expected an integer from 0 to 4, found "5"' --level 5
refused '--tag-rules: unknown name "x"; the names are table, exact, fold' --tags shadow --tag-rules x
refused '--tag-rules has no effect without tags' --tag-rules fold
refused '--tag-plan has an effect only on compact tags' --tags shadow --tag-plan all
refused '--push-order: the reconvergence engine cbar of this machine has no push order' --push-order smaller
refused '--profile-by: unknown name "x"; the names are kernel, launch' --profile-by x
refused '--profile-by has no effect without a profile' --profile-by launch
refused '--check-base: none: the folder does not exist' --check-base none
refused '--timing-window: expected FROM:TO in cycles' --timing volta --timing-trace t.json --timing-window 5
refused '--timing-window has no effect without a trace' --timing volta --timing-window 0:5
refused '--timing-events: expected an integer of 1 or more' --timing volta --timing-trace t.json --timing-events 0
refused '--timing-sample: expected an integer of 1 or more' --timing volta --timing-sample x
refused '--timing-trace has no effect without the timing model: add --timing' --timing-trace t.json
refused '--gdb-arch: unknown name "mips"; the names are x86-64, aarch64' --gdb-arch mips
refused '--cache: expected on or off, found "x"' --cache x
refused '--include: none: the folder does not exist' -I none
# Options that only lanewise run has are refused with the reason and another way.
refused '--checkpoint-at is an option of "lanewise run" only: a checkpoint does not have' --checkpoint-at 5
refused '--grid is an option of "lanewise run" only: it describes a launch' --grid 4
refused '-v is an option of "lanewise run" only: record the launches' -v
refused '-q is an option of "lanewise run" only: there is no summary' -q
for option in stats check-file coverage profile; do
    refused "--$option: none/file.json: cannot be written: " --$option none/file.json
done
refused '--timing-report: none/file.json: cannot be written: ' --timing volta --timing-report none/file.json
refused '--check-file: a.sarrif: the suffix selects the format, and this one is not known; did you mean .sarif?' --check-file a.sarrif
refused '--check-suppress: none.yaml: cannot be read: ' --check-suppress none.yaml
for option in record sources; do
    refused "--$option: none/folder: cannot be created: " --$option none/folder
    refused "--$option: out: is not a folder" --$option out
done
# The model of --timing is not optional, and an operand that is a program is none.
printf '#!/bin/sh\necho the program ran\n' >program && chmod +x program
refused '--timing: expected a GPU model, found the program ./program: in "lanewise app" the model is not optional; write "--timing volta"' --timing ./program
# A build of the program alone has no runtimes, and says how to build them.
mkdir alone && cp "$lanewise" alone/lanewise
alone/lanewise app ./program >out 2>err && fail "without runtimes: the program runs"
if grep -q 'the runtimes of Lanewise are not in ' err; then
    grep -q 'run "make" in the build folder' err && [ ! -s out ] || { fail "without runtimes: the message"; cat err; }
    echo 'int main() {}' >none.cu
    alone/lanewise cc none.cu >out 2>err && fail "cc without runtimes: status 0"
    grep -q 'is not in .*: run "make" in the build folder, which builds it' err || { fail "cc without runtimes: the message"; cat err; }
elif [ ! -e /usr/local/lib/lanewise-cuda ]; then
    fail "without runtimes: no message" && cat err
fi
# Correct options start the program, and leave no file or folder if the program does not use the device.
mkdir made && cd made || exit 99
"$lanewise" app --check -w 16 -t 2 -g --history 5 --gdb=0 --stats s.json --check-file f.sarif --record r/ --sources new sh -c 'echo ran' >../out 2>&1 </dev/null
[ "$(cat ../out)" = ran ] || { fail "correct options: the program does not run"; cat ../out; }
[ -z "$(ls)" ] || { fail "files are left:"; ls; }
cd ..
# The machine options reach the program's device.
cat >branch.cu <<'E'
__global__ void branch(int *p) { if (threadIdx.x % 2) p[threadIdx.x] += 1; else p[threadIdx.x] -= 1; }
int main()
{
    int *p;
    cudaMalloc(&p, 128);
    branch<<<2, 32>>>(p);
    branch<<<2, 32>>>(p);
    return cudaDeviceSynchronize();
}
E
"$lanewise" cc -g branch.cu -o branch >err 2>&1 || { fail "branch.cu does not compile"; cat err; }
"$lanewise" app --tags compact --tag-plan all --tag-rules fold --tag-expansion eager --reconv stack --push-order smaller --quantum 5 \
    --fairness-limit 9 --level 1 --check-base . --profile p.txt --profile-by launch --cache off ./branch >out 2>err ||
    { fail "machine options: status $?"; cat err; }
[ "$(grep -c '^Launch [12], kernel branch' p.txt)" -ge 2 ] || { fail "--profile-by launch: the profile has no launches"; cat p.txt; }
"$lanewise" app --timing volta --timing-trace t.json --timing-window 0:500 --timing-events 1000 --timing-report r.json --timing-sample 100 ./branch \
    >out 2>err || { fail "options of timing: status $?"; cat err; }
grep -q '"traceEvents"' t.json && grep -q '"samples"' r.json || fail "--timing-trace or --timing-sample: no trace or samples"
# gdb gets the target architecture of --gdb-arch.
if command -v gdb-multiarch >/dev/null; then
    timeout 60 "$lanewise" app --gdb=unix:"$scratch/socket" --gdb-arch aarch64 ./branch >out 2>err &
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -S socket ] || sleep 0.5
    done
    timeout 60 gdb-multiarch -nx -batch -ex "target remote $scratch/socket" -ex 'show architecture' -ex detach >session 2>&1
    wait
    grep -q 'aarch64' session || { fail "--gdb-arch: another architecture"; cat session; }
fi

# In LANEWISE_OPTIONS, a wrong option lets calls of the program fail, after one line on standard error.
cat >ids.cu <<'E'
#include <cstdio>
int main()
{
    cudaDeviceProp p;
    void *memory;
    if (cudaMalloc(&memory, 16) != cudaSuccess || cudaGetDeviceProperties(&p, 0) != cudaSuccess)
        return 5;
    printf("warp %d\n", p.warpSize);
    return 0;
}
E
"$lanewise" cc ids.cu -o ids >err 2>&1 || { fail "ids.cu does not compile"; cat err; }
environment() { # status, expected text on standard output or error, options
    LANEWISE_OPTIONS=$3 ./ids >out 2>err </dev/null
    got=$?
    [ $got = "$1" ] || { fail "LANEWISE_OPTIONS='$3': exit status $got, expected $1"; cat err; }
    grep -qF -e "$2" out err || { fail "LANEWISE_OPTIONS='$3': expected \"$2\", found:"; cat out err; }
    [ "$(wc -l <err)" = "$([ "$1" = 0 ] && echo 0 || echo 1)" ] || { fail "LANEWISE_OPTIONS='$3': wrong number of lines"; cat err; }
}
environment 5 'LANEWISE_OPTIONS: check: there is no kind of finding "memroy"' --check=memroy
environment 5 'LANEWISE_OPTIONS: history: expected an integer of 0 or more, found "abc"' "--history abc"
environment 5 'LANEWISE_OPTIONS: timing-report has no effect without the timing model: add --timing' "--timing-report t.txt"
environment 5 'LANEWISE_OPTIONS: unknown option "-z"' "-z"
environment 5 'LANEWISE_OPTIONS: option "-w" needs an operand' "-w"
environment 5 '"lanewise app" only: use --gdb' --debug
environment 5 'LANEWISE_OPTIONS: option "--hash" takes no operand' --hash=x
environment 5 'LANEWISE_OPTIONS: unknown option "--zzzzzz"' --zzzzzz=x
environment 5 'LANEWISE_OPTIONS: unknown key "timng"; did you mean "timing"?' --timng=x
environment 5 'expected an option such as --check=all, found "16"' 16
environment 5 'LANEWISE_OPTIONS: cache: expected on or off' "--cache x"
environment 5 'timing-trace has no effect without the timing model' "--timing-trace -"
environment 0 'warp 16' "-w 16"
environment 0 'warp 16' "-DA=1 -I . -X -O1 --option -O1 --quantum 5 --cache on -w 16"
environment 0 'warp 16' "-gw16"
environment 0 'warp 16' "--check -w 16 -t 2 -p rr"
environment 0 'warp 8' "--stats - --warp=8"
# Every option of the list is accepted in LANEWISE_OPTIONS, with its letter, too.
"$lanewise" help app | sed -n 's/^  -\(.\), --\([a-z-]*\).*/\1 \2/p' | grep -v '^h ' >letters
[ "$(wc -l <letters)" -ge 5 ] || { fail "too few letters:"; cat letters; }
while read -r letter name; do
    LANEWISE_OPTIONS="-$letter x" ./ids >out 2>err </dev/null
    grep -q 'unknown' err && ! grep -q 'unknown name' err && { fail "LANEWISE_OPTIONS: -$letter (--$name) is not known"; cat err; }
done <letters
"$lanewise" help app | sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' | grep -v '^help$' >names
while read -r name; do
    LANEWISE_OPTIONS="--$name=x" ./ids >out 2>err </dev/null
    grep -q 'unknown option\|unknown key' err && { fail "LANEWISE_OPTIONS: --$name is not known"; cat err; }
done <names
exit $failed
