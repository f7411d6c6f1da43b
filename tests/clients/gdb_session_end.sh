#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests how sessions of stock gdb end and begin again: attach, signals to lanewise, hangs. Also tests the text of a stop at which
# several conditions are true.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb

# gdb kills the program, and then attaches to it: the program starts again, with gdb's breakpoints.
connect=extended-remote
serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
break square
continue
attach 1
info threads
continue
delete
continue
END
session gdb
connect=remote
expect "attach begins the launch again" <<'END'
hit Breakpoint 1, square
^\+attach 1
^walk \(.*walk\.s:6
^\* 1 .*active=32/32
^\+continue
hit Breakpoint 1, square
exited normally
END
server_ends
[ "$status" = 0 ] || fail "attach: the run ended with status $status"

# After a signal, `lanewise gdb` removes its temporary folder and ends gdb.
for signal in TERM HUP; do
    mkdir "$work/tmp"
    : >"$work/out"
    (cd "$work" && TMPDIR=$work/tmp exec env --default-signal="$signal" "$lanewise" gdb walk.yaml -- -nx -batch -ex 'print 6 * 7' \
        -ex 'python import time; time.sleep(600)') >"$work/out" 2>&1 </dev/null &
    server=$!
    tries=0
    while ! grep -q ' = 42' "$work/out" && [ $tries -lt 1200 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    [ -n "$(ls "$work/tmp")" ] || fail "SIG$signal: lanewise has created no temporary folder"
    kill -$signal "$server"
    server_ends
    case $(ls "$work/tmp")$status in
        143 | 129) echo "ok: SIG$signal: the temporary folder is removed and gdb has ended" ;;
        *) fail "SIG$signal: exit status $status, remaining files: $(ls "$work/tmp")" ;;
    esac
    rm -rf "$work/tmp"
done

# The server prints a warning if other hosts can reach its address, but not for a loopback address.
for address in 0.0.0.0:0 127.0.0.1:0; do
    serve "$lanewise" run walk.yaml --gdb $address
    warned=$(grep -c '^lanewise: warning: --gdb .*anyone who can reach this address' "$work/server.out")
    case $address$warned in
        0.0.0.0:01 | 127.0.0.1:00) echo "ok: $address: $warned warnings" ;;
        *) fail "--gdb $address: wrong number of warnings: $warned" ;;
    esac
done
stop_server

# A hang report shows the location once.
cp "$src"/tests/clients/behaviours/simt_barrier_stack.yaml "$src"/tests/kernels/simt_barrier.s "$work/"
serve "$lanewise" run simt_barrier_stack.yaml --gdb 127.0.0.1:0
printf '%s\n' continue 'info os warps' >"$work/session"
session gdb
expect "a hang" <<'END'
^hang: SIMT deadlock
received signal SIGABRT
^simt_barrier \(.*simt_barrier\.s:10
^\+info os
END
n=$(sed '/^+info os/,$d' "$work/transcript" | grep -c '^10	')
[ "$n" = 1 ] || fail "the location of a hang is shown $n times"
stop_server

# Two conditions at one location are true in two lanes of a split. The stop reports both breakpoints.
serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
break square if $lane == 3
break square if $lane == 9
break square if $lane == 3 && $warp == 0
continue
info breakpoints
print/x $hit_lanes
print $lane
END
session gdb
expect "two conditions at one place" <<'END'
^note: lanes 0x00000200 hit another breakpoint at this stop$
lane 3" hit Breakpoint 1, square
breakpoint already hit 1 time
breakpoint already hit 1 time
^\$1 = 0x208
^\$2 = 3
END
grep -c 'another breakpoint' "$work/transcript" | grep -qx 1 || fail "the other breakpoint is not reported exactly once"
stop_server

# The other warp reaches the last instruction of the kernel first. gdb steps it off its breakpoint there, which also moves it past
# the breakpoint that `advance` has inserted at the return address of the kernel.
serve "$lanewise" run meet.yaml --gdb 127.0.0.1:0
printf '%s\n' 'advance meet.s:10' 'print $warp' 'stepi' continue >"$work/session"
session gdb
expect "advance to a kernel's last line, where another warp ends" <<'END'
^block\(0,0,0\) w1 has ended; the focus is on block\(0,0,0\) w0 lane 0$
^meet \(.*meet\.s:10
^\$1 = 0
exited normally
END
server_ends
[ "$status" = 0 ] || fail "advance to the last line: the run ended with status $status"
finish
