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
refused '--history: expected an integer of 0 or more, found "abc"' --history abc
refused '--gdb: expected PORT, HOST:PORT or unix:PATH, found "here"' --gdb=here
refused '--timeout: expected a time above 0' --timeout x
refused '--max-instructions: expected ' --max-instructions 1x
refused '--max-findings: expected an integer from 1 to 1000000, found "0"' --max-findings 0
refused '--hang-limit: expected an integer of 0 or more, found "x"' --hang-limit x
refused '--read-poison: expected an integer' --read-poison x
refused '--compiler: no-such-compiler: the program does not exist' --compiler no-such-compiler
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
# Correct options start the program, and leave no file or folder if the program does not use the device.
mkdir made && cd made || exit 99
"$lanewise" app --check -w 16 -t 2 -g --history 5 --gdb=0 --stats s.json --check-file f.sarif --record r/ --sources new sh -c 'echo ran' >../out 2>&1 </dev/null
[ "$(cat ../out)" = ran ] || { fail "correct options: the program does not run"; cat ../out; }
[ -z "$(ls)" ] || { fail "files are left:"; ls; }
cd ..

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
environment 0 'warp 16' "-w 16"
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
