#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests features of the stub, in one session of plain gdb for each subject. With LW_LONG=1 the sessions also run in gdb-multiarch.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"

# usage: fresh LAUNCH-FILE. Starts a new program for the next session.
fresh() {
    serve "$lanewise" run "$1" --gdb 127.0.0.1:0
}

all_features() {
    gdb=$1

    cp "$src"/tests/kernels/simt_barrier.* "$work/"
    serve "$lanewise" run simt_barrier.yaml --reconv stack --gdb 127.0.0.1:0
    cat >"$work/session" <<'END'
continue
monitor splits
END
    session "$gdb"
    expect "$gdb: a hang says who waits for whom, the SIMT stack is shown" <<'END'
^hang: SIMT deadlock: the lanes on top of the SIMT stack wait for lanes below them; kernel simt_barrier
^  warp 0 lanes 0-3 \(stacked at pc 0x100000060 \(simt_barrier\.s:12\)\) wait in the SIMT stack below lanes 4-7
^  CTA barrier 0: 12 of 16 live lanes arrived: warp 0 lanes 4-7 \(pc 0x[0-9a-f]* \(simt_barrier\.s:[0-9]*\)\), warp 1 lanes 0-7 \(pc .*\); missing: warp 0 lanes 0-3
SIGABRT
stack of 3 entries, the top first
END

    cp "$src"/tests/kernels/launch_chain.* "$work/"
    fresh launch_chain.yaml
    cat >"$work/session" <<'END'
break launch_chain.s:24
continue
info threads
monitor launches
delete
next
next
continue
END
    session "$gdb"
    expect "$gdb: a breakpoint stops in a kernel that a kernel launched" <<'END'
hit Breakpoint 1, child \(out=0x200000000000, left=2, pad=0\) at launch_chain\.s:24
launch 2 block\(0,0,0\) w0 lane 0
^1 +parent, grid \(2,1,1\), block \(8,1,1\), 0 of 2 blocks ended, 2 launches by it have not completed
^2 +child, .* by launch 1 block\(0,0,0\) w0 lane 3
^25
^26
launched by kernel child \(launch 4\), block \(0,0,0\), warp 0, lane 0, which was launched by kernel child
SIGSEGV
END

    fresh walk.yaml
    cat >"$work/session" <<'END'
break walk.s:18 if $lane == 6
continue
print $lane
print $hit_lanes
break walk.s:27 if threadIdx.x == 37 && blockIdx.x == 0
delete 1
continue
info breakpoints
print threadIdx
print $tid
print $warp
print $v5.u32[5]
END
    session "$gdb"
    expect "$gdb: conditions are evaluated in the stub, per lane" <<'END'
hit Breakpoint 1
\$1 = 6
\$2 = 64
Breakpoint 2 at .* line 27
Thread 2 "block\(0,0,0\) w1 lane 5" hit Breakpoint 2
stop only if threadIdx\.x == 37 && blockIdx\.x == 0 .target evals.
already hit 1 time
\$3 = \{x = 37, y = 0, z = 0\}
\$4 = \{x = 37, y = 0, z = 0\}
\$5 = 1
\$6 = 37
END

    fresh walk.yaml
    cat >"$work/session" <<'END'
break walk.s:23
continue
stepi
print $pc
info symbol $pc
backtrace
up
frame function square
finish
END
    session "$gdb"
    expect "$gdb: stepi goes into a call, bt shows both frames and ends" <<'END'
hit Breakpoint 1
^square \(\) at walk\.s:31
\$1 = .*<square>
square in section
#0  square \(\) at walk\.s:31
#1  0x[0-9a-f]+ in walk \(out=0x200000000000, n=96\) at walk\.s:23
^\+up
^#1 .* in walk
^\+finish
^walk \(.*\) at walk\.s:24
END

    fresh walk.yaml
    cat >"$work/session" <<'END'
break walk.s:25
continue
print $v6.u32[3]
set var $v6.u32[3] = 99
print $v6.u32[3]
print $v6.u32[2]
print/x $s99
set $exec = 1
print *(unsigned*)(0xf000000000000000 + 4*5)
set $lane = 7
print *(unsigned*)(0xf000000000000000 + 4*5)
set {unsigned}(0xf000000000000000 + 4*6) = 4321
print $v6.u32[7]
print/x *(unsigned long long*)0x40000000000
x/2xg $pc
set $lane = 40
print $lane
set $rax = 1
info registers lane tid
END
    session "$gdb"
    expect "$gdb: registers and memory are read and written, refusals are said" <<'END'
hit Breakpoint 1
\$1 = 6
\$2 = 99
\$3 = 3
\$4 = void
\$5 = 0
\$6 = 7
\$7 = 4321
\$8 = 0x200000000000
<walk\+[0-9]+>:
lane 40 does not exist
\$9 = 7
is a register of the target
^lane +0x7 +7
^tid +\{x = 0x7
END

    fresh walk.yaml
    cat >"$work/session" <<'END'
monitor help
monitor lane 3
maint flush register-cache
print $lane
monitor set v1 = 5
monitor nonsense
END
    session "$gdb"
    expect "$gdb: monitor runs the shell's commands" <<'END'
^ +step .count
^ +break .location
^ +disassemble 
note: gdb still shows the state before
\$1 = 3
note: gdb still shows the state before
error: .*"nonsense"
END

    fresh fault.yaml
    cat >"$work/session" <<'END'
continue
print $fault_code != 0
print/x $fault_addr
print/x $fault_lanes
print $lane
backtrace
continue
END
    session "$gdb"
    expect "$gdb: a fault is a signal, with text and registers" <<'END'
^fault: out-of-bounds: global store of 4 bytes at 0x[0-9a-f]+: .*lanes 0x80
received signal SIGSEGV
^wild \(out=.*\) at fault\.s:10
\$1 = 1
\$2 = 0x[0-9a-f]+
\$3 = 0x80
\$4 = 7
#0  wild \(.*\) at fault\.s:10
Program terminated with signal SIGSEGV
END
    server_ends
    [ "$status" = 3 ] || fail "$gdb: after a fault the program ends with $status, not 3"

    fresh spin.yaml
    interrupted "$gdb"
    expect "$gdb: Ctrl-C stops an endless kernel, and kill ends the program" <<'END'
received signal SIGINT
^spin \(.*\) at spin\.s:
\$1 = .*<spin
killed
END
    server_ends
    [ "$status" != running ] || fail "$gdb: the program still runs after kill"

    fresh walk.yaml
    cat >"$work/session" <<'END'
break walk.s:27
continue
delete
stepi
info threads
END
    session "$gdb"
    expect "$gdb: a step over a warp's end shows the next warp" <<'END'
hit Breakpoint 1
^block\(0,0,0\) w0 has ended
^Thread 2 .* stopped\.
^\* 2 .* at walk\.s:6
END

    fresh meet.yaml
    cat >"$work/session" <<'END'
set scheduler-locking on
stepi
stepi
continue
thread 2
stepi
stepi
info threads
continue
END
    session "$gdb"
    expect "$gdb: a warp that runs alone says whom it waits for" <<'END'
^6	    bar\.sync 0
^waiting: lane 0 waits at CTA barrier 0 for warps 1
^7	
^waiting: lane 0 waits at CTA barrier 0 for warps 1
^Thread 1 .* stopped\.
Switching to thread 2
^6	    bar\.sync 0
^7	
^ *1 .*state=ready.* at meet\.s:7
No unwaited-for children left
END

    # The stub ends the step only outside the address range of line 7. Otherwise gdb would have to repeat the step many
    # times.
    fresh meet.yaml
    cat >"$work/session" <<'END'
set scheduler-locking on
stepi
next
next
set scheduler-locking off
continue
END
    session "$gdb"
    expect "$gdb: next stops where a locked warp waits for others" <<'END'
^6	    bar\.sync 0
^7	
^waiting: lane 0 waits at CTA barrier 0 for warps 1; they do not run during step-alone
^Thread 1 .* stopped\.
exited normally
END

    fresh meet.yaml
    cat >"$work/session" <<'END'
stepi
next
info threads
continue
END
    session "$gdb"
    expect "$gdb: next goes over a barrier, since others run meanwhile" <<'END'
^6	    bar\.sync 0
^lane 0 waits at CTA barrier 0 for warps 1: meanwhile other lanes and warps ran
^7	
^ *2 .* at meet\.s:7
exited normally
END

    fresh walk.yaml
    cat >"$work/session" <<'END'
break walk.s:12
continue
set scheduler-locking on
thread 2
stepi
info threads
set scheduler-locking off
thread 1
next
next
find /w &walk, +64, *(int*)&walk
compare-sections .text
delete
continue
END
    session "$gdb"
    expect "$gdb: a locked step moves one warp only; find and compare-sections work" <<'END'
hit Breakpoint 1
Switching to thread 2
^ *1 .* at walk\.s:12
^\* 2 .* at walk\.s:7
Switching to thread 1
^13	
^14	
0x100000000 <walk>
1 pattern found
matched
exited normally
END
    server_ends
    [ "$status" = 0 ] || fail "$gdb: the run ended with $status"
}

# Interrupts a `continue` that would never end by SIGINT, which a terminal sends for Ctrl-C.
interrupted() {
    cat >"$work/session" <<'END'
continue
print $pc
kill
END
    # SIGINT must be sent to gdb only, so a separate shell determines gdb's process id.
    (
        wait_until_busy
        pid=$(cat "$work/gdb.pid")
        kill -INT "$pid"
    ) &
    cat >"$work/gdb-wrapper" <<END
#!/bin/sh
echo \$\$ >$work/gdb.pid
exec $1 "\$@"
END
    chmod +x "$work/gdb-wrapper"
    session "$work/gdb-wrapper"
    wait $!
}

for gdb in gdb ${LW_LONG:+gdb-multiarch}; do
    need $gdb
    all_features $gdb
done
finish
