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

# The golden comparison must notice what a stub without a feature leaves out.
for line in 'hit Breakpoint 1' 'Thread 4' '\$2 = ' 'in walk ('; do
    grep -v -- "$line" "$work/last" >"$work/transcript"
    cmp -s "$golden" "$work/transcript" && fail "a transcript without \"$line\" passes"
done
finish
