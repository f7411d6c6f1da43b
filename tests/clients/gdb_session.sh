#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a recorded session: stock gdb, connected by `target remote` only, stops a kernel at a source line, inspects warps and
# lanes, steps, and runs the kernel to its end. The transcript must be equal to the recorded one.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
golden=$src/tests/clients/golden/session.txt
cat >"$work/session" <<'END'
info registers rip
break walk.s:18
continue
info threads
print $lane
print $v3
print $v7.u32
set $lane=5
print $lane
print $pc
set $lane=2
next
next
backtrace
delete
break square
continue
backtrace
finish
delete
continue
END
for gdb in gdb gdb-multiarch; do
    need $gdb
    serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0
    session $gdb
    server_ends
    [ "$status" = 0 ] || fail "$gdb: the run ended with status $status, not 0"
    if [ -n "${UPDATE_GOLDEN:-}" ] && [ $gdb = gdb ]; then
        cp "$work/transcript" "$golden"
    fi
    if ! diff -u "$golden" "$work/transcript" >"$work/diff"; then
        fail "$gdb: the transcript differs from $golden"
        cat "$work/diff"
    else
        echo "ok: $gdb prints the recorded session"
    fi
    cp "$work/transcript" "$work/last"
done

# Without a feature the same session must fail because of this feature. For this, gdb is set not to use the packet of the feature.
# usage: without PACKET LOST FOUND KEPT. LOST, FOUND and KEPT are basic regular expressions. The recorded session has lines that
# match LOST and KEPT, and none that matches FOUND. Without the packet it has lines that match FOUND and KEPT, and none that
# matches LOST.
without() {
    serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0
    gdb_off="set remote $1-packet off"
    session gdb
    gdb_off=
    stop_server
    before=$failures
    grep -q "$2" "$golden" && grep -q "$4" "$golden" ||
        fail "without $1: the recorded session lacks '$2' or '$4'"
    grep -q "$3" "$golden" && fail "without $1: the recorded session has '$3'"
    grep -q "$2" "$work/transcript" && fail "the session without $1 still has '$2'"
    for line in "$3" "$4"; do
        grep -q "$line" "$work/transcript" || {
            fail "the session without $1 lacks '$line'"
            sed 's/^/    | /' "$work/transcript"
        }
    done
    [ $failures != $before ] || echo "ok: without $1 the session fails for the expected reason"
}
without target-features '^\$1 = 1$' '^\$1 = void$' 'hit Breakpoint 1, walk'
without pid-to-exec-file '^Reading symbols from target:' \
    '^warning: No executable has been specified' 'exited normally'
without software-breakpoint 'hit Breakpoint 1, walk' '^Cannot insert breakpoint 1\.' \
    '^Reading symbols from target:'
without threads '^Thread 1 "block(0,0,0) w0 lane 1" hit' '^Thread 1 hit Breakpoint 1, walk' \
    '^\$1 = 1$'
finish
