#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests three levels of inlined functions in stock gdb. nvcc 13.0 has compiled the PTX from tests/clients/golden/levels.cu with -G
# (lines and variables) and with -lineinfo (lines only). Also tests calls in loops that are unrolled or not, compiled by each
# clang at each level of optimisation.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
cp "$src"/tests/ptx/corpus/inlined_nvcc.ptx "$src"/tests/ptx/corpus/inlined_nvcc_lines.ptx \
    "$src"/tests/clients/golden/levels.cu "$work/"
for ptx in inlined_nvcc inlined_nvcc_lines; do
    cat >"$work/$ptx.yaml" <<END
program: {source: $ptx.ptx}
buffers:
  all: {type: f32, count: 8, init: [0, 0, 3, 4, 10, 10, -2, 1]}
  from: {type: f32, count: 8, init: [0, 1, 9, 9, 4, 4, -9, 2]}
  out: {type: s32, count: 8}
steps:
  - launch: {entry: levels, grid: [1], block: [4], args: [all, 4, from, out]}
  - check: {buffer: out, values: [0, 1, 2, 4, 1, 1, 3, 2500]}
END
done

serve "$lanewise" run inlined_nvcc.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
set print frame-arguments all
break levels.cu:9
continue
backtrace
info locals
up
info args
up
info locals
print all[1]
print *best
up
info locals
delete
break levels.cu:25 if i == 2
continue
backtrace
print l
print found
set \$lane = 2
print to
delete
break 39
continue
step
backtrace
delete
continue
END
session gdb
expect "inlined functions with their variables" <<END
^Breakpoint 1 at .*3 locations
^Breakpoint 1.*square \\(v=0\\) at .*levels.cu:9
^#0  .*square \\(v=0\\) at .*levels.cu:9
^#1  .*length2 \\(p=@0x[0-9a-f]+: \\{x = 0, y = -1\\}\\) at .*levels.cu:14
^#2  .*nearest \\(all=0x200000000000, n=4, to=\\{x = 0, y = 1\\}, best=0x[0-9a-f]+\\) at .*levels.cu:24
^#3  levels \\(all=0x200000000000, n=4, from=0x[0-9a-f]+, out=0x[0-9a-f]+\\) at .*levels.cu:37
^twice = 0
^p = @0x[0-9a-f]+: \\{x = 0, y = -1\\}
^d = \\{x = 0, y = -1\\}
^i = 0
^found = -1
^\\\$1 = \\{x = 3, y = 4\\}
^\\\$2 = 0
^best = 0
^Breakpoint 2, .*nearest .* at .*levels.cu:25
^#1  levels .* at .*levels.cu:37
^\\\$3 = 181
^\\\$4 = 0
^\\\$5 = \\{x = 4, y = 4\\}
^Breakpoint 3, levels
^_INTERNAL.*square \\(v=1\\) at .*levels.cu:8
^#1  levels .* at .*levels.cu:39
exited normally
END
server_ends
[ "$status" = 0 ] || fail "-G: the run ended with status $status"

serve "$lanewise" run inlined_nvcc_lines.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
break levels.cu:9
continue
backtrace
delete
break levels.cu:38
continue
backtrace
delete
continue
END
session gdb
expect "inlined functions by their lines" <<END
^note: no variables are known: nvcc writes none for optimised code; compile with -g, or with --compiler clang, which keeps values of optimised code$
^#1  .*length2 .* at .*levels.cu:14
^#2  .*nearest .* at .*levels.cu:24
^#3  levels .* at .*levels.cu:37
exited normally
END
server_ends
[ "$status" = 0 ] || fail "-lineinfo: the run ended with status $status"
[ "$(grep -c 'which keeps values' "$work/transcript")" = 1 ] || fail "-lineinfo: the note about clang is not printed once"
(cd "$work" && "$lanewise" debug inlined_nvcc_lines.yaml -b -c 'break levels.cu:9' -c continue -c locals) >"$work/transcript" 2>&1
grep -q '^no variables are known: nvcc .*which keeps values of optimised code$' "$work/transcript" ||
    fail "-lineinfo: the shell does not name clang: $(cat "$work/transcript")"

# Each breakpoint stops the lane as often as execution of the source reaches the line, whether the loop is unrolled or not. The
# caller's local variables are visible between the copies of a call. `limit` is called 4 and 3 times by `weigh`, and twice on
# line 32 in each of 3 iterations.
need "${LLDB:-lldb-19}"
cp "$src/tests/clients/golden/unrolled_calls.cl" "$work/"
points='5:13 7:13 14:7 15:7 25:4 26:4 27:4 31:3 32:3 33:3 37:3 38:3 39:3'
number=0
: >"$work/hits"
for point in $points; do
    number=$((number + 1))
    where='lid == 13'
    [ "${point%:*}" -gt 19 ] || where="\$lane == 13"
    printf '%s\n' "break unrolled_calls.cl:${point%:*} if $where" "ignore $number 1000" >>"$work/hits"
done
printf '%s\n' continue 'info breakpoints' delete continue >>"$work/hits"
want=$(for point in $points; do printf '%s ' "${point#*:}"; done)
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    for level in -O1 -O2 -O3; do
        cat >"$work/unrolled_calls.yaml" <<END
program: {source: unrolled_calls.cl, compiler: $clang, options: [$level]}
buffers: {out: {type: i32, count: 128}, in: {type: i32, count: 128, init: {ramp: {}}}}
steps:
  - launch: {entry: unrolled_calls, grid: 1, block: 32, args: [out, in, 3]}
END
        serve "$lanewise" run unrolled_calls.yaml --gdb 127.0.0.1:0
        cp "$work/hits" "$work/session"
        session gdb
        server_ends
        said=$(awk '/^[0-9]+ +breakpoint/ { n = $1 } /already hit/ { hit[n] = $4 }
            END { for (n = 1; n <= 13; n++) printf "%d ", hit[n] }' "$work/transcript")
        [ "$said" = "$want" ] || fail "$clang $level: the lines are reached $said times, not $want: $(cat "$work/transcript")"
        ! grep -q 'No symbol' "$work/transcript" ||
            fail "$clang $level: a variable is not found: $(grep 'No symbol' "$work/transcript")"
    done
done
[ $failures != 0 ] || echo "ok: lines in and around inlined calls in loops"

cat >"$work/session" <<'END'
break unrolled_calls.cl:7 if $lane == 13
continue
continue
backtrace
up
info locals
up
info locals
info frame
frame 0
finish
delete
break unrolled_calls.cl:15 if $lane == 13
continue
print w
finish
info locals
END
serve "$lanewise" run unrolled_calls.yaml --gdb 127.0.0.1:0
session gdb
expect "frames in an unrolled loop" <<'END'
^Breakpoint 1\.1, limit \(.*, low=0, high=40\)
^Breakpoint 1\.2, limit \(.*, low=3, high=40\)
^#1 .*weigh \(.*, k=3, .*\) at .*:14
^#2 .*unrolled_calls \(out=0x200000000000, in=.*, n=3\) at .*:26
^w = 
^i = 1
^lid = 13
^ rip = .* in unrolled_calls .*; saved rip
^weigh \(.*, k=3, .*\) at .*:1[45]
^Breakpoint 2\..*, weigh \(.*, k=[36], .*\) at .*:15
^\$1 = [0-9]
^unrolled_calls \(.*\) at .*:26
^i = [12]
END
server_ends

serve "$lanewise" run unrolled_calls.yaml --gdb 127.0.0.1:0
(cd "$work" && timeout 400 "${LLDB:-lldb-19}" -X -x -b -o "gdb-remote $port" \
    -o 'breakpoint set -f unrolled_calls.cl -l 26 -c "lid == 13"' -o continue -o continue -o 'print i' -o continue -o continue \
    -o 'print i' -o 'breakpoint delete -f' -o 'breakpoint set -f unrolled_calls.cl -l 7' -o continue -o bt -o finish \
    -o 'breakpoint delete -f' -o continue) </dev/null >"$work/transcript" 2>&1
expect "lldb finds the caller's locals in an unrolled loop" <<'END'
^Breakpoint 1: 4 locations
breakpoint 1\.1$
^\(int\) .*1$
breakpoint 1\.4$
^\(int\) .*3$
^Breakpoint 2: 9 locations
frame #1: .*weigh.* at unrolled_calls.cl:14
frame #2: .*unrolled_calls\(.* at unrolled_calls.cl:26
stop reason = step out
^Process 1 exited with status = 0
END
server_ends
finish
