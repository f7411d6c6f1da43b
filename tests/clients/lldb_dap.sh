#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Drives lldb-dap 19 as an editor does, attached to lanewise as docs/howto/debug-in-vscode.md describes. All runs must have the
# same stops. LW_DAP_RUNS is the number of runs.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
adapter=${LLDB_DAP:-lldb-dap-19}
need "$adapter"
need python3
cp "$src"/tests/clients/behaviours/wait.* "$work"/
behind=$(sed -n '/behind the barrier/=' "$work/wait.cl")
TMPDIR=$work
export TMPDIR

# usage: attach NAME [CONDITION] <WANTED. Runs the program with a breakpoint. Expects the stops WANTED, in any order, and a
# normal end
attach() {
    name=$1
    shift
    sort >"$work/wanted"
    serve "$lanewise" run wait.yaml --gdb 127.0.0.1:0 --gdb-file "$work/kernels.lwo"
    timeout 300 python3 "$src/tests/clients/dap_client.py" "$adapter" "$src/docs/howto/debug-in-vscode.md" "$port" "$work/kernels.lwo" \
        "$work/wait.cl" "$behind" "$@" >"$work/stops" 2>&1
    sort "$work/stops" | cmp -s - "$work/wanted" ||
        { fail "$name: the stops differ from the expected ones"; sed 's/^/    | /' "$work/stops"; }
    server_ends
    [ "$status" = 0 ] || fail "$name: the run ended with status $status"
}

run=0
while [ $run -lt "${LW_DAP_RUNS:-3}" ] && [ $failures = 0 ]; do
    attach "lldb-dap: a condition" 'lid == 5' <<END
breakpoint block(0,0,0) w0 lane 5 wait:$behind lid=5
breakpoint block(1,0,0) w0 lane 5 wait:$behind lid=5
exited
END
    run=$((run + 1))
done
attach "lldb-dap: each warp" <<END
$(for block in 0 1; do
    for warp in 0 1 2 3; do
        echo "breakpoint block($block,0,0) w$warp lane 0 wait:$behind lid=$((32 * warp))"
    done
done)
exited
END
[ $failures != 0 ] || echo "ok: lldb-dap: $run runs with a condition, one without"
finish
