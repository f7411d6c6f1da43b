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
# Checks in the replay add no entries for memory that the host shares, and see that its bytes are initialised.
cat >shared.cu <<'END'
#include <cstdio>
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 32 * sizeof(int));
    for (int i = 0; i < 32; i++)
        p[i] = i;
    twice<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    printf("%d\n", p[31]);
    cudaFree(p);
}
END
"$lanewise" cc shared.cu -o shared >log 2>&1 || { fail "shared.cu does not compile"; cat log; exit 1; }
run 0 --log shared.log ./shared
run 0 --fail-on-findings --check=all,-performance --replay shared.log ./shared
[ "$(cat out)" = 62 ] && [ ! -s err ] || { fail "the replay of shared memory with checks:"; cat out err; }
# A second log replaces none of another process, and %p is the process id.
run 1 --log "$PWD/log-%p" ./pairs
set -- log-*
[ $# = 1 ] && "$lanewise" app --replay "$1" ./pairs 2>err | grep -q 'out\[99\] is 0' || fail "log-%p: $*"

# Calls that differ from those of the log, other options, and no log.
run 1 --replay run.log ./other
message 'does not match this run'
! grep -q 'lanewise_wait' err || { fail 'the failed replay has a message for programmers of lanewise.h:'; cat err; }
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
