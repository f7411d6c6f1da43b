#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random sessions of gdb, with and without the Python file, and of lldb, each against the shell: the
# same stops, places and values after each command, and no packet answered for another thread.
#
#   LW_SESSIONS=N  sessions of each client (8)    LW_SEED=NUMBER|random  the first seed (1)
#   LW_CLIENTS="gdb plain lldb"  those clients alone: `plain` is gdb without the Python file
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
lldb=${LLDB:-lldb-19}
need gdb
need "$lldb"
need python3
count=${LW_SESSIONS:-8}
seed=${LW_SEED:-1}
[ "$seed" != random ] || seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
echo "first seed $seed"
"$src/kernels/prepare" "$work/kernels" >/dev/null || { echo "FAIL: kernels/prepare"; exit 1; }
for client in ${LW_CLIENTS:-gdb plain lldb}; do
    python3 "$src/tests/clients/sessions/random_sessions.py" --lanewise "$lanewise" --kernels "$work/kernels" \
        --client "$client" --lldb "$lldb" --count "$count" --seed "$seed" >"$work/said" 2>&1 ||
        fail "$client: $(cat "$work/said")"
    tail -n 1 "$work/said"
done
[ $failures = 0 ] || exit 1
