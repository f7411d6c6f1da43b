#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests functions of a translated program in stock gdb and in the shell: frames, finish, steps over calls, recursion.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
cat >"$work/fact.cl" <<'END'
uint twice(uint x)
{
    return x * 2;
}

uint fact(uint n)
{
    uint below;

    if (n < 2)
        return 1;
    below = fact(n - 1);
    return n * below;
}

__kernel void k(__global uint *a)
{
    uint i = get_global_id(0);
    uint f = fact(i % 6);

    a[i] = f + twice(i);
}
END
cat >"$work/fact.yaml" <<'END'
program: {source: fact.cl, options: [-O0, -g, -cl-opt-disable]}
buffers: {a: {type: u32, count: 128}}
steps:
  - launch: {entry: k, grid: [2], block: [64], args: [a]}
  - check: {buffer: a, file: fact.txt}
END
for i in $(seq 0 127); do
    case $((i % 6)) in 0 | 1) f=1 ;; 2) f=2 ;; 3) f=6 ;; 4) f=24 ;; 5) f=120 ;; esac
    echo $((f + 2 * i))
done >"$work/fact.txt"

serve "$lanewise" run fact.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
break fact.cl:11 if threadIdx.x == 5
continue
print $lane
backtrace
up
finish
finish
delete
break twice if threadIdx.x == 5
continue
backtrace
finish
delete
continue
END
session gdb
expect "recursion: frames and results" <<'END'
hit Breakpoint 1, fact \(
^11	
^\$1 = 5
^#0  fact \(.* at .*fact\.cl:11$
^#1  0x.* in fact \(.* at .*fact\.cl:12$
^#2  0x.* in fact \(.* at .*fact\.cl:12$
^#3  0x.* in fact \(.* at .*fact\.cl:12$
^#4  0x.* in fact \(.* at .*fact\.cl:12$
^#5  0x.* in k \(.* at .*fact\.cl:19$
^\+up
^#1  0x.* in fact \(.* at .*fact\.cl:12$
^Value returned is \$2 = 2$
^Value returned is \$3 = 6$
hit Breakpoint 2, twice \(
^#0  twice \(.* at .*fact\.cl:3$
^#1  0x.* in k \(.* at .*fact\.cl:21$
^Value returned is \$4 = 10$
exited normally
END
server_ends

# After a monitor command has run or moved the machine, gdb shows the frames of the new position.
serve "$lanewise" run fact.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
source $python_file
break fact if n == 3 && \$lane == 5
continue
delete
next
next
next
backtrace
monitor reverse-step
monitor reverse-step
backtrace
kill
END
session gdb
expect "frames behind monitor" <<'END'
^\+backtrace
^#0  fact .*n=3
^#3  .* k \(
^\+backtrace
^#0  fact .*n=2
^#1  .* fact .*n=3
^#4  .* k \(
END
stop_server
[ "$status" = 0 ] || fail "recursion: the run ended with status $status"

# next steps over a call, and step into it; each thread has its own position.
serve "$lanewise" run fact.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
break fact.cl:19 if threadIdx.x == 4
continue
delete
next
step
backtrace
continue
END
session gdb
expect "recursion: next and step" <<'END'
hit Breakpoint 1, k \(
^\+next
^21	
^\+step
^#0  twice \(
^#1  0x.* in k \(
exited normally
END
server_ends
[ "$status" = 0 ] || fail "next: the run ended with status $status"

# gdb expects the results of some types in registers that the stub's target description does not have. gdb then shows no result,
# and the session continues.
cat >"$work/kinds.cl" <<'END'
struct pair { int a, b; };
float half_of(int x) { return x * 0.5f; }
double third_of(int x) { return x / 3.0; }
struct pair two_of(int x) { struct pair p = {x, x + 1}; return p; }
long big_of(int x) { return x * 10000000000L; }
__kernel void k(__global float *a)
{
    int i = get_global_id(0);
    struct pair p = two_of(i);

    a[i] = half_of(i) + third_of(i) + p.a + big_of(i);
}
END
cat >"$work/kinds.yaml" <<'END'
program: {source: kinds.cl, options: [-O0, -g, -cl-opt-disable]}
buffers: {a: {type: f32, count: 32}}
steps:
  - launch: {entry: k, grid: [1], block: [32], args: [a]}
END
serve "$lanewise" run kinds.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
set $lane=3
break two_of
continue
finish
break half_of
continue
finish
break third_of
continue
finish
break big_of if x == 3
continue
finish
delete
continue
END
session gdb
expect "results of every kind" <<'END'
Breakpoint 1, two_of \(
^Value returned is \$[0-9]+ = \{a = 3, b = 4\}$
Breakpoint 2, half_of \(
^Value returned is \$[0-9]+ = 1\.5$
Breakpoint 3, third_of \(
^Value returned is \$[0-9]+ = 1$
Breakpoint 4, big_of \(
^Value returned is \$[0-9]+ = 30000000000$
exited normally
END
server_ends
[ "$status" = 0 ] || fail "kinds: the run ended with status $status"

# The assembly text that the translator prints can be assembled.
(cd "$work" && "$lanewise" compile kinds.cl --emit asm -o kinds.s &&
    "$lanewise" asm kinds.s -o kinds.lwo) >"$work/out" 2>&1 || {
    fail "the assembly text of a translated kernel cannot be assembled"
    head -n 3 "$work/out"
}

# The shell shows the same frames.
cat >"$work/commands" <<'END'
break fact.cl:11
continue
delete
backtrace
finish
continue
END
(cd "$work" && "$lanewise" debug fact.yaml <commands) >"$work/out" 2>&1
grep -q '^#0  fact+.* (fact.cl:11)' "$work/out" || fail "the shell does not show the innermost frame"
grep -q '^#1  k+.* (fact.cl:19)' "$work/out" || fail "the shell does not show the frame of the kernel"
[ "$failures" = 0 ] || sed -n '1,40p' "$work/out"
finish
