#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests reverse execution in stock gdb: by source lines, and from the end of the run.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
need gdb-multiarch
cat >"$work/loop.cl" <<'END'
uint early(uint x)
{
    uint i, sum = 0;

    if (x % 2 == 0)
        return x;
    for (i = 0; i < x; i++)
        sum += i;
    return sum;
}

__kernel void k(__global uint *a)
{
    uint i = get_global_id(0);
    uint f = 0;

    for (uint j = 0; j < 2; j++)
        f += early(i + j) + early(j);
    do {
        f += 3;
    } while (f % 5 != 0 || f % 2 != 0);
    a[i] = f;
}
END
cat >"$work/loop.yaml" <<'END'
program: {source: loop.cl, options: [-O0, -g, -cl-opt-disable]}
buffers: {a: {type: u32, count: 32}}
steps:
  - launch: {entry: k, grid: [1], block: [32], args: [a]}
END

# usage: lines COMMAND. Prints, in one line, the numbers of the source lines that the transcript shows after "+COMMAND"
lines() {
    sed -n "/^+$1/,\$p" "$work/transcript" | sed -n 's/^\([0-9][0-9]*\)	.*/\1/p' | tr '\n' ' '
}
repeat() {
    for i in $(seq "$1"); do echo "$2"; done
}
# same NAME EXPECTED FOUND
same() {
    if [ "$2" = "$3" ]; then
        echo "ok: $1"
    else
        fail "$1: expected lines $2, found $3"
        [ -s "$work/told" ] || cat "$work/transcript"
        : >"$work/told"
    fi
}

# usage: there_and_back GDB TARGET-ARCHITECTURE. reverse-step and reverse-next must stop at the same lines as step and next, in
# reverse order
there_and_back() {
    serve "$lanewise" run loop.yaml --gdb 127.0.0.1:0 --gdb-arch $2
    { echo 'tbreak k'; echo continue; repeat 24 step; repeat 24 reverse-step; } >"$work/session"
    session $1
    same "$1, $2: step" "15 17 18 3 5 6 10 3 5 6 10 17 18 3 5 7 8 7 9 10 3 5 7 8 " \
        "$(lines step | cut -d' ' -f1-24) "
    same "$1, $2: reverse-step" "7 5 3 10 9 7 8 7 5 3 18 17 10 6 5 3 10 6 5 3 18 17 15 14 " \
        "$(lines reverse-step)"
    server_ends
    serve "$lanewise" run loop.yaml --gdb 127.0.0.1:0 --gdb-arch $2
    { echo 'tbreak k'; echo continue; repeat 11 next; repeat 12 reverse-next; } >"$work/session"
    session $1
    same "$1, $2: next" "15 17 18 17 18 17 19 20 21 20 21 " "$(lines next | cut -d' ' -f1-11) "
    same "$1, $2: reverse-next" "20 21 20 19 17 18 17 18 17 15 14 13 " "$(lines reverse-next)"
    server_ends
}
there_and_back gdb x86-64
there_and_back gdb-multiarch aarch64

# Reverse steps stop at the head of a loop, also if the end of the loop has no code except a jump.
cat >"$work/while.cl" <<'END'
__kernel void k(__global uint *a)
{
    uint b = 2;
    while (b != 0) {
        a[b] = b;
        b--;
    }
    a[0] = 1;
}
END
sed 's/loop\.cl/while.cl/' "$work/loop.yaml" >"$work/while.yaml"
serve "$lanewise" run while.yaml --gdb 127.0.0.1:0
{ echo 'tbreak while.cl:8'; echo continue; repeat 8 reverse-next; } >"$work/session"
session gdb
same "reverse-next through while" "4 6 5 4 6 5 4 3 " "$(lines reverse-next)"
server_ends

# gdb stops at the end of the run. The session goes back from this stop, and reaches it again by continue and by a step.
back_from_end() {
    serve "$lanewise" run walk.yaml ${3:-} --gdb 127.0.0.1:0 --gdb-arch $2
    cat >"$work/session" <<'END'
monitor at-end
monitor at-end stop
continue
info threads
x/i $pc
watch *(unsigned *)0x200000000014
reverse-continue
delete
break square
reverse-continue
delete
continue
stepi
END
    session $1
}
back_from_end gdb x86-64
cp "$work/transcript" "$work/x86"
back_from_end gdb-multiarch aarch64
cp "$work/transcript" "$work/arm"
for carrier in x86 arm; do
    cp "$work/$carrier" "$work/transcript"
    expect "$carrier: back from the end" <<'END'
^at the end of the run the program exits
^at the end of the run gdb stops before the last instruction
^\+continue
^all launches have ended: the last instruction was undone
^No more reverse-execution history
^\* .* active=.* state=ready
^\+reverse-continue
hit Hardware watchpoint 1: \*\(unsigned
^\+reverse-continue
hit Breakpoint 2, square
^\+continue
^all launches have ended: the last instruction was undone
^No more reverse-execution history
^\+stepi
exited normally
END
done
server_ends
[ "$status" = 0 ] || fail "the run ended with status $status"
# Before gdb goes back in the selected warp, it steps the warp of the last stop off its breakpoint. The stub's reply to the
# reverse step must be for the selected warp.
sed 's/: 32}/: 64}/; s/block: .32./block: [64]/' "$work/loop.yaml" >"$work/two.yaml"
serve "$lanewise" run two.yaml --gdb 127.0.0.1:0
{ echo 'break early'; repeat 2 continue; echo 'thread 1'; echo reverse-stepi; echo thread; } >"$work/session"
session gdb
expect "reverse-stepi of another warp than the reported one" <<'END'
^Thread 2 .* hit Breakpoint 1
^\+reverse-stepi
^\[Current thread is 1
END
! grep -q SIGTRAP "$work/transcript" || fail "gdb shows the warp of the last stop"
server_ends
# Without history gdb does not stop at the end of the run, and no command is executed twice.
back_from_end gdb x86-64 '--history 0'
expect "an end without history" <<'END'
^at the end of the run gdb stops before the last instruction
^\+continue
exited normally
END
! grep -q 'was undone' "$work/transcript" || fail "gdb stops at the end of the run without history"

# If gdb disconnects at the end of the run, the exit status is 0. If gdb has changed a value in the past before, it is 1.
leave() {
    (cd "$work" && timeout 400 "$lanewise" gdb walk.yaml -- -nx -ex 'set confirm off' "$@" -ex quit \
        </dev/null) >"$work/transcript" 2>&1
    status=$?
}
leave -ex continue -ex 'reverse-stepi'
expect "leaving behind the end" <<'END'
^all launches have ended: the last instruction was undone
^ok: 1 check passed, 1 launch
END
[ "$status" = 0 ] || fail "disconnecting at the end of the run: exit status $status"
leave -ex continue -ex 'set $v3.u32[0]=5'
expect "leaving a changed past" <<'END'
^all launches have ended: the last instruction was undone
^lanewise: the debugger disconnected before the program ended
END
[ "$status" = 1 ] || fail "disconnecting after a changed past: exit status $status"
finish
