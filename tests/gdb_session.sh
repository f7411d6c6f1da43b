#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The recorded session: stock gdb, connected by `target remote` alone, stops a kernel at a
# source line, looks around in warps and lanes, steps, and runs it to its verified end.
. "${srcdir:-.}/tests/gdb_lib.sh"
golden=$src/tests/golden/gdb/session.txt
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
        echo "ok: $gdb gives the recorded session"
    fi
    cp "$work/transcript" "$work/last"
done

# The same session against a stub without a feature must not pass: gdb is told to do without
# the packet, as it would with a stub that does not know it.
for packet in target-features pid-to-exec-file software-breakpoint threads; do
    serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0
    gdb_off="set remote $packet-packet off"
    session gdb
    gdb_off=
    stop_server
    if cmp -s "$golden" "$work/transcript"; then
        fail "the session passes without $packet"
    else
        echo "ok: the session fails without $packet"
    fi
done
finish
