#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares random sessions of gdb (with and without the Python file) and of lldb with sessions of the shell. After each command,
# stops, locations and values must be equal. Each packet must be answered for the thread that it names.
#
#   LW_SESSIONS=N  sessions of each client (4)    LW_SEED=NUMBER|random  the first seed (1)
#   LW_CLIENTS="gdb plain lldb"  runs only these clients; `plain` is gdb without the Python file
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
lldb=${LLDB:-lldb-19}
need gdb
need "$lldb"
need python3
count=${LW_SESSIONS:-4}
seed=${LW_SEED:-1}
[ "$seed" != random ] || seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
echo "first seed $seed"
"$src/kernels/prepare" "$work/kernels" >/dev/null || { echo "FAIL: kernels/prepare fails"; exit 1; }
for client in ${LW_CLIENTS:-gdb plain lldb}; do
    python3 "$src/tests/clients/sessions/random_sessions.py" --lanewise "$lanewise" --kernels "$work/kernels" \
        --client "$client" --lldb "$lldb" --count "$count" --seed "$seed" >"$work/said" 2>&1 ||
        fail "random sessions of $client fail: $(cat "$work/said")"
    tail -n 3 "$work/said"
done
# usage: kept CLIENT PROGRAM SESSION. Runs a session that failed with an earlier version of the stub. The comments describe the
# errors.
kept() {
    python3 "$src/tests/clients/sessions/random_sessions.py" --lanewise "$lanewise" --kernels "$work/kernels" --lldb "$lldb" \
        --client "$1" --count 1 --program "$2" --session "$3" >"$work/said" 2>&1 ||
            fail "the session of $1 fails: $(cat "$work/said")"
}
if [ -z "${LW_SESSIONS:-}" ]; then
    # gdb 13 aborted: it stepped the reported warp back off its breakpoint, and got a watchpoint stop of another warp.
    kept gdb bitonic "[('rcontinue',), ('break', 32, ''), ('focus', 1), ('watch', 35184372088840), ('advance', 32), \
        ('focus', 11), ('tbreak', 32, ''), ('continue',), ('lane', 8), ('next',), ('continue',), ('continue',), ('focus', 9), ('rstepi',)]"
    # lldb's user selected another lane, and the next `continue` returned to the first lane.
    kept lldb histogram "[('stepi', 2), ('next',), ('break', 17, ''), ('continue',), ('next',), ('lane', 0), ('continue',), ('step',), \
        ('break', 12, ''), ('stepi', 7), ('set', 'n', 78), ('next',), ('delete', 2), ('stepi', 2), ('break', 10, ''), ('lane', 1), \
        ('next',), ('step',), ('continue',)]"
    # For two watchpoints at the same address, gdb inserts one and stops once.
    kept gdb bitonic "[('watch', 35184372088840), ('watch', 35184372088840), ('continue',), ('next',)]"
    # While gdb stepped a warp over its breakpoint, the warp reached another breakpoint with a false condition, and
    # gdb stepped it over that, too.
    kept gdb bitonic "[('break', 24, ''), ('continue',), ('break', 25, 'threadIdx.x == 1'), ('focus', 2), ('stepi', 1), ('focus', 4)]"
    # For a step into a static function, gdb lets all warps run, and another warp is selected afterwards.
    kept gdb scan "[('break', 15, ''), ('break', 30, ''), ('continue',), ('next',), ('continue',), ('next',), ('next',), \
        ('continue',), ('next',), ('step',), ('continue',)]"
    # When a breakpoint is set, lldb does not read again the pcs of a warp that waits, or of a warp of which a lane was selected.
    kept lldb reduction "[('break', 16, ''), ('continue',), ('stepi', 1), ('break', 17, ''), ('stepi', 1)]"
    # lldb caches memory in lines of 512 bytes. The computed values of two variables were in one line, and lldb read the second
    # value as 0.
    kept lldb bitonic "[('lane', 26), ('break', 33, ''), ('continue',)]"
    kept lldb calls "[('break', 5, ''), ('continue',), ('lane', 28), ('break', 15, ''), ('stepi', 1), ('continue',)]"
fi
[ $failures = 0 ] || exit 1
