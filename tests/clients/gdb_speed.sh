#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that commands of gdb need few packets and little time. The time (the best of several) may be at most five times the
# documented figure. On a busy host, the CPU time of gdb and server is used instead. bench/debugger measures exactly.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
slow=${ASAN_OPTIONS:+10} # factor for the limits in a build with sanitizers
slow=${slow:-1}
# in tests/aarch64.sh, qemu runs lanewise
case $server_program in */tests/gdb_server) ;; *) slow=20 ;; esac
cat >"$work/speed.py" <<'END'
import os, time
def spent():
    "Processor time of gdb and of the server, in milliseconds."
    with open('/proc/%s/stat' % os.environ['SERVER_PID']) as stat:
        fields = stat.read().rsplit(')', 1)[1].split()
    ticks = int(fields[11]) + int(fields[12])
    return 1000 * (time.process_time() + ticks / os.sysconf('SC_CLK_TCK'))
def measure(name, command, count):
    "The best time of some, in milliseconds, and the packets of the last of them."
    times = []
    began = spent()
    for i in range(count):
        start = time.perf_counter()
        gdb.execute(command, to_string=True)
        times.append(1000 * (time.perf_counter() - start))
    gdb.execute('set debug remote 1', to_string=True)
    start = time.perf_counter()
    text = gdb.execute(command, to_string=True)
    times.append(1000 * (time.perf_counter() - start))
    times.append((spent() - began) / len(times))
    gdb.execute('set debug remote 0', to_string=True)
    print('%s: %.2f ms, %d packets' % (name, min(times), text.count('Sending packet')))
END
# writes a loop that executes 3 * n instructions
cat >"$work/count.s" <<'END'
# SPDX-License-Identifier: Apache-2.0
.kernel count
.param u32 n
    v_mov_b32 v3, 0
again:
    v_add_u32 v3, v3, 1
    v_setp_u32.lt p0, _, v3, c[n]
    @p0 bra again
    exit
.end
END
for n in 8000 20000 100000 4000000 15000000; do
    printf '# SPDX-License-Identifier: Apache-2.0\nprogram: {source: count.s}\nsteps:\n  - launch: %s\n' \
        "{entry: count, grid: [1], block: [32], args: [$n]}" >"$work/count$n.yaml"
done

step=$(tail -n 1 "$work/count15000000.yaml")
printf '%s\n%s\n%s\n' "$step" "$step" "$step" >>"$work/count15000000.yaml"

# usage: measured LAUNCH NAME COMMAND TIMES-BEFORE MOST-MS MOST-PACKETS [GDB-COMMAND]... . COMMAND must take at most MOST-MS
# milliseconds and MOST-PACKETS packets
measured() {
    launch=$1 name=$2 command=$3 count=$4 ms=$5 packets=$6
    shift 6
    serve "$server_program" "$launch"
    set -- -ex "directory $work" -ex "target remote :$port" "$@" \
        -ex "python measure('$name', '$command', $count)" -ex kill
    SERVER_PID=$server \
        timeout 900 gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set confirm off' -x "$work/speed.py" "$@" \
        </dev/null >"$work/out" 2>&1
    stop_server
    sed -n "s/^$name: \([0-9]*\)\.[0-9]* ms, \([0-9]*\) packets$/\1 \2/p" "$work/out" >"$work/figures"
    read -r took sent <"$work/figures" || { fail "$name: gdb printed no time"; cat "$work/out"; return; }
    [ "$took" -le $((ms * slow)) ] || fail "$name takes $took ms, more than $((ms * slow))"
    [ "$sent" -ge 1 ] && [ "$sent" -le "$packets" ] || fail "$name takes $sent packets, expected 1 to $packets"
    echo "ok: $name: $took ms (at most $((ms * slow))), $sent packets (at most $packets)"
}
measured spin.yaml 'a step' stepi 20 5 12
measured many.yaml 'a stop with 2048 warps' stepi 11 100 12
measured many.yaml 'info threads with 2048 warps' 'info threads' 3 500 600
measured many.yaml '2048 hits that gdb finds false' continue 0 5000 60000 \
    -ex 'break square if $v3.u32[5] == 77777' -ex 'break walk.s:26 if $warp == 1 && $ctaid_x == 1000'
measured count100000.yaml '100000 false conditions' continue 0 20000 30 \
    -ex 'break count.s:6 if $lane == 77' -ex 'break count.s:9'
measured count4000000.yaml 'reverse-stepi at instruction ten million' reverse-stepi 0 5000 24 \
    -ex 'break count.s:9' -ex continue -ex 'monitor goto 10000000' -ex 'maint flush register-cache'
# Reverse execution with a watchpoint on a location that changes often. Without the Python file gdb tests the condition at each
# hit, and the last hit must not take longer than the first. With the Python file the stub reports only the hit at which the
# condition is true.
place='*(unsigned *)0xf00000000000000c'
measured count8000.yaml 'back over 8000 hits that gdb finds false' reverse-continue 0 9000 120000 \
    -ex 'break count.s:9' -ex continue -ex delete -ex "watch $place if $place == 3"
measured count20000.yaml 'back over 20000 hits that are false' reverse-continue 0 1500 60 \
    -ex 'break count.s:9' -ex continue -ex delete \
    -ex "python exec(bytes.fromhex(gdb.selected_inferior().connection.send_packet('qGpuPy').decode()))" \
    -ex "watch $place if $place == 3"

# usage: cpu COMMAND... . Runs COMMAND and sets $hundredths to its CPU time in hundredths of a second
cpu() {
    TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>"$work/cpu"
    hundredths=$(awk '{ printf "%d", 100 * ($1 + $2) }' "$work/cpu")
}
# An attached gdb without breakpoints costs nearly nothing; the limit is 5 %.
alone=999999 with=999999
for _ in 1 2 3; do
    (cd "$work" && cpu "$lanewise" run count15000000.yaml && echo "$hundredths" >alone)
    read -r hundredths <"$work/alone"
    [ "$hundredths" -ge $alone ] || alone=$hundredths
    : >"$work/server.out"
    (
        cd "$work" || exit 1
        TIMEFORMAT='%U %S'
        { time timeout 300 "$server_program" count15000000.yaml >server.out 2>&1; } 2>cpu2
    ) &
    until port=$(sed -n 's/^listening on .*://p' "$work/server.out") && [ -n "$port" ]; do sleep 0.1; done
    timeout 200 gdb -nx -batch -iex 'set debuginfod enabled off' -ex "target remote :$port" -ex continue -ex kill \
        </dev/null >"$work/out" 2>&1
    wait
    grep -q 'exited normally' "$work/out" || fail "the attached run does not end: $(cat "$work/out")"
    hundredths=$(awk '{ printf "%d", 100 * ($1 + $2) }' "$work/cpu2")
    [ "$hundredths" -ge $with ] || with=$hundredths
done
[ $with -le $((alone * 125 / 100 + 10 * slow)) ] ||
    fail "with gdb attached and no breakpoint, the run takes $with hundredths of a second instead of $alone"
echo "ok: with gdb attached, without breakpoints: $with hundredths of a second; without gdb: $alone"
finish
