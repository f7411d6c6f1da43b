#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests packets of stock gdb for watchpoints, dprintf, `info os`, `run`, and the end of a warp at a breakpoint, with both target
# architectures. Also tests which clients may connect.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"

protocol() {
    gdb=$1
    carrier=$2

    serve "$server_program" walk.yaml "$carrier"
    cat >"$work/session" <<'END'
break walk.s:12
continue
delete
set $lane = 7
watch *(unsigned*)(0xf000000000000000 + 4*6)
continue
print $lane
delete
watch *(unsigned*)0x200000000008
rwatch *(unsigned*)0x20000000000c
awatch *(unsigned*)0x200000000010
continue
print $lane
delete 3 4
continue
print $lane
continue
END
    session "$gdb"
    expect "$gdb, $carrier: each watchpoint stops behind the access, with its lane and both values" <<'END'
^Thread 1 "block\(0,0,0\) w0 lane 7" hit Hardware watchpoint 2
^Old value = 0
^New value = 3
^walk \(.*\) at walk\.s:19
\$1 = 7
^Thread 1 "block\(0,0,0\) w0 lane 2" hit Hardware watchpoint 3
^Old value = 0
^New value = 11
^walk \(.*\) at walk\.s:27
\$2 = 2
^Thread 1 "block\(0,0,0\) w0 lane 4" hit Hardware access \(read/write\) watchpoint 5
^New value = 4
\$3 = 4
exited normally
END

    serve "$server_program" walk.yaml "$carrier"
    cat >"$work/session" <<'END'
watch *(unsigned*)0x200000000008
continue
reverse-continue
print $lane
continue
reverse-step
reverse-next
reverse-stepi
reverse-stepi
reverse-stepi
delete
reverse-continue
END
    session "$gdb"
    expect "$gdb, $carrier: back to before the write, forward behind it, and back by lines" <<'END'
hit Hardware watchpoint 1
hit Hardware watchpoint 1
^Old value = 11
^New value = 0
^walk \(.*\) at walk\.s:26
\$1 = 2
hit Hardware watchpoint 1
^New value = 11
^\+reverse-step
^26	
^\+reverse-next
^25	
^24	
^square \(\) at walk\.s:33
^\+reverse-continue
No more reverse-execution history
^walk \(.*\) at walk\.s:6
END

    serve "$server_program" walk.yaml "$carrier"
    cat >"$work/session" <<'END'
set dprintf-style agent
dprintf walk.s:18,"lane %d of warp %u: %5.3d\n", $lane, $warp, threadIdx.x
condition 1 $lane == 5 || $lane == 9
break walk.s:27 if blockIdx.x == 1
continue
info breakpoints
END
    session "$gdb"
    expect "$gdb, $carrier: dprintf prints for each lane, in lane order, without a stop" <<'END'
^lane 5 of warp 0:   005
^lane 9 of warp 0:   009
^lane 5 of warp 1:   037
^lane 9 of warp 1:   041
hit Breakpoint 2
agent-printf
END

    serve "$server_program" walk.yaml "$carrier"
    cat >"$work/session" <<'END'
break walk.s:27
continue
continue
info os
info os warps
info os allocations
info os findings
END
    session "$gdb"
    expect "$gdb, $carrier: continue from a warp's last instruction; info os" <<'END'
^Thread 1 .* hit Breakpoint 1
w0 has ended; the focus is on block\(0,0,0\) w1
^Thread 2 .* hit Breakpoint 1
^kernels +Launches
^barriers +CTA barriers and convergence barriers in use
^findings +Findings of checks
^thread +launch +block
^2 +1 +\(0,0,0\) +1 +0x
^0x200000000000 384 +out
END

    serve "$server_program" walk.yaml "$carrier"
    connect=extended-remote
    cat >"$work/session" <<'END'
break walk.s:25 if $lane == 4
run
print $lane
kill
info threads
run
delete
continue
run
END
    session "$gdb"
    connect=
    expect "$gdb, $carrier: run begins again, also behind a kill and behind the end" <<'END'
^Thread 1 .* hit Breakpoint 1
\$1 = 4
Inferior 1 .* killed
No threads
^Thread 1 .* hit Breakpoint 1
exited normally
exited normally
END
}

# After a run has ended at a fault, the connection remains open, and the program can be started again.
run_again_behind_a_fault() {
    serve "$lanewise" run fault.yaml --gdb 127.0.0.1:0
    connect=extended-remote
    cat >"$work/session" <<'END'
continue
continue
run
print $lane
reverse-stepi
END
    session gdb
    connect=
    expect "gdb: run again behind a fault, and back from it" <<'END'
^Program received signal SIGSEGV
^Program terminated with signal SIGSEGV
^fault: out-of-bounds
^Program received signal SIGSEGV
\$1 = 7
^9	
END
    server_ends
    [ "$status" = 3 ] || fail "after a fault in the last run the program ends with $status, not 3"
}

# A second client is refused with a message of gdb. After the first client has disconnected, another client is accepted.
second_client() {
    serve "$server_program" walk.yaml
    mkfifo "$work/hold"
    timeout 400 gdb -nx -batch -iex 'set debuginfod enabled off' -ex "target remote :$port" \
        -ex "shell touch $work/there; read x <$work/hold" -ex detach >/dev/null 2>&1 </dev/null &
    first=$!
    while [ ! -e "$work/there" ] && kill -0 $first; do sleep 0.1; done
    : >"$work/session"
    session gdb
    expect "gdb: a second client is told that another is there" <<'END'
another debugger is connected to this program
END
    echo >"$work/hold"
    wait $first
    cat >"$work/session" <<'END'
print $lane + 40
END
    session gdb
    expect "gdb: when the first has left the next is served" <<'END'
\$1 = 40
END
}

unix_socket() {
    socket=$work/socket
    serve_unix "$lanewise" run walk.yaml --gdb "unix:$socket"
    [ "$(stat -c %a "$socket")" = 600 ] || fail "other users can open the socket"
    port=
    target=$socket
    cat >"$work/session" <<'END'
print $lane + 41
continue
END
    session gdb
    target=
    expect "gdb: a Unix socket" <<'END'
\$1 = 41
exited normally
END
    server_ends
    [ "$status" = 0 ] || fail "run --gdb unix: ended with $status"
    [ ! -e "$socket" ] || fail "the socket is not removed when the program ends"
}

need gdb
need gdb-multiarch
protocol gdb x86-64
protocol gdb-multiarch aarch64
run_again_behind_a_fault
second_client
unix_socket
finish
