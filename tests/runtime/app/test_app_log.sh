#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests schedule logs of programs: lanewise app --log and --replay.
. "${srcdir:-.}/tests/runtime/cuda_lib.sh"
unset LANEWISE_OPTIONS
top=$(cd "$src/../.." && pwd)
"$lanewise" cc -G -g "$top/docs/examples/pairs.cu" -o pairs >log 2>&1 || { fail "pairs.cu does not compile"; cat log; exit 1; }
sed 's/<<<2, 64>>>/<<<4, 32>>>/' "$top/docs/examples/pairs.cu" >other.cu
"$lanewise" cc -G -g other.cu -o other >log 2>&1 || { fail "other.cu does not compile"; cat log; exit 1; }
# usage: run STATUS OPTION... PROGRAM. Its output is in out, its messages in err.
run() {
    expected=$1
    shift
    "$lanewise" app "$@" >out 2>err
    status=$?
    [ $status = "$expected" ] || { fail "$*: status $status, expected $expected"; cat out err; }
}
message() { # usage: message TEXT
    grep -qF -- "$1" err || { fail "expected \"$1\", found:"; cat err; }
}

# A replay gives the same output, findings and memory.
run 1 --check=all --hash --log run.log ./pairs
cat out err >first
[ -s run.log ] || fail "there is no schedule log"
run 1 --check=all --hash --replay run.log ./pairs
cat out err | cmp -s - first || { fail "the replay differs:"; cat out err first; }
grep -q hash_mem first || fail "the run prints no hash"
# A second log replaces none of another process, and %p is the process id.
run 1 --log "$PWD/log-%p" ./pairs
set -- log-*
[ $# = 1 ] && "$lanewise" app --replay "$1" ./pairs 2>err | grep -q 'out\[99\] is 0' || fail "log-%p: $*"

# Calls that differ from those of the log, other options, and no log.
run 1 --replay run.log ./other
message 'does not match this run'
run 2 --replay run.log -w 16 ./pairs
message 'app: --replay: file'
run 2 --replay run.log --log more.log ./pairs
message '--replay cannot be combined with log'
run 2 --replay run.log --timing volta ./pairs
message '--replay cannot be combined with timing'
run 2 --replay missing.log ./pairs
message 'missing.log'
run 2 --replay pairs ./pairs
run 2 --log missing/run.log ./pairs
message '--log'
if command -v gdb >/dev/null; then # a debugger goes back in time in a replay
    timeout 120 "$lanewise" app --debug --replay run.log ./pairs >out 2>&1 <<'END'
break pairs.cu:11
continue
print right
reverse-continue
kill
END
    grep -qF '$1 = 10' out || { fail "gdb in a replay:"; cat out; }
fi
exit $failed
