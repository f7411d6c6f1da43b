#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests lldb 19 with the target architecture x86-64. After `gdb-remote PORT`, without other options, lldb must have lines,
# variables, frames, steps and names of warps. No file may remain afterwards.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
lldb=${LLDB:-lldb-19}
need "$lldb"
cp "$src"/tests/clients/golden/variables.cl "$src"/tests/clients/golden/calls.cl "$work"/
mkdir "$work/tmp"
TMPDIR=$work/tmp
export TMPDIR

on_crash=
# usage: talk [COMMAND]. Runs a batch session of lldb with $work/session, connected to $port
talk() {
    set -- -X -x -b ${on_crash:+-k "$on_crash"} ${1:+-o "$1"} -o "gdb-remote $port"
    while read -r command; do
        set -- "$@" -o "$command"
    done <"$work/session"
    (cd "$work" && timeout 400 "$lldb" "$@") </dev/null >"$work/raw" 2>&1
    sed "s#$work/##g" "$work/raw" >"$work/transcript"
}
left_behind() {
    server_ends
    [ "$status" = "$1" ] || fail "the run ended with status $status, not $1"
    [ -z "$(ls -A "$work/tmp")" ] || fail "files remain in TMPDIR: $(ls "$work/tmp")"
}

serve "$lanewise" run calls.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
breakpoint set -f calls.cl -l 7
continue
bt
thread step-over
thread step-out
frame variable
thread list
register read exec lane
breakpoint delete -f
breakpoint set -n calls
thread step-inst
continue
END
talk
expect "lldb: lines, frames and steps" <<'END'
^Breakpoint 1: where = calls\.cl\.lwo`leaf \+ 112 at calls\.cl:7:7
^  \* frame #0: .*`leaf\(x=401, y=1\) at calls\.cl:7
^    frame #1: .*`fact\(n=1, depth=4\) at calls\.cl:15
^    frame #2: .*`fact\(n=2, depth=3\) at calls\.cl:16
^    frame #6: .*`calls\(out=.*, n=64\) at calls\.cl:25
stop reason = step over
^-> 8 
stop reason = step out
^Return value: \(int\) \$0 = 402
^\(int\) n = 1
^\(int\) mine = 401
^  thread #2: .* name = 'block\(0,0,0\) w1 lane 0'
^    exec = 0x00000000ffffffff
^    lane = 0x00000001
^All breakpoints removed
stop reason = instruction step into
^Process 1 exited with status = 0
END
left_behind 0

serve "$lanewise" run variables.yaml --gdb 127.0.0.1:0
line=$(sed -n '/in the loop/=' "$work/variables.cl")
cat >"$work/session" <<END
breakpoint set -f variables.cl -l $line
continue
next
next
next
frame variable k t
print r.in
print k + 1
register write lane 5
breakpoint delete -f
next
frame variable i
memory region \$pc
process plugin packet monitor lanes
detach
END
talk
expect "lldb: variables and the focus lane" <<'END'
^Breakpoint 1: where = variables\.cl\.lwo`variables
stop reason = breakpoint 1\.1
stop reason = step over
stop reason = step over
stop reason = breakpoint 1\.1
^\(int\) k = 1
^\(float\) t = 1\.5
big = -7
^\(int\) 2
^\* thread #1, name = 'block\(0,0,0\) w0 lane 5', stop reason = step over
^\(int\) i = 5
^\[0x0000000100000000-0x0000000200000000\) r-x
^\* *5  \(5,0,0\) 
^Process 1 detached
END
left_behind 0

# With --gdb-file, which editors need, the stub writes the object to this file and to no other one.
serve "$lanewise" run calls.yaml --gdb 127.0.0.1:0 --gdb-file "$work/kernels.lwo"
printf '%s\n' 'breakpoint set -f calls.cl -l 7' continue bt next 'image list' 'breakpoint delete -f' continue \
    >"$work/session"
talk "target create $work/kernels.lwo"
expect "lldb: the program as a file" <<'END'
^Breakpoint 1: where = kernels\.lwo`leaf \+ 112
^  \* frame #0: .*`leaf\(x=401, y=1\) at calls\.cl:7
^    frame #6: .*`calls\(
stop reason = step over
^\[  0\] .* kernels\.lwo
^Process 1 exited with status = 0
END
grep -q '^\[  1\]' "$work/transcript" && fail "lldb has loaded the program's object twice"
left_behind 0

# Tests a watchpoint, a condition, and the end of the run by kill.
serve "$lanewise" run calls.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
breakpoint set -f calls.cl -l 7 -c "x == 301"
continue
expression q * 2
breakpoint delete -f
watchpoint set expression -w write -s 4 -- (int *)0x200000000008
continue
kill
END
talk
expect "lldb: a condition and a watchpoint" <<'END'
^\* thread #1, name = 'block\(0,0,0\) w0 lane 0', stop reason = breakpoint 1\.1
^\(int\) \$0 = 602
^Watchpoint created
^memory at 0x200000000008 \(4 bytes\) was written by lane 2
stop reason = watchpoint 1
^Process 1 exited with status = 9 
END
grep -q 'read failed' "$work/transcript" && fail "lldb cannot read the last bytes of a buffer"
left_behind 1

# 160 warps reach a line after a barrier, 32 at the same time. The breakpoint on this line is hit once by each warp.
sed 's/127/1023/; s/128/1024/' "$src/tests/clients/behaviours/wait.cl" >"$work/wait.cl"
sed 's/256/5120/; s/\[2\]/[5]/; s/\[128\]/[1024]/' "$src/tests/clients/behaviours/wait.yaml" >"$work/wait.yaml"
behind=$(sed -n '/behind the barrier/=' "$work/wait.cl")
serve "$lanewise" run wait.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
breakpoint set -f wait.cl -l $behind
continue
thread select 3
frame variable lid
expression lid + n
thread select 40
frame variable out n
breakpoint modify -i 1000 1
continue
breakpoint list
END
talk
expect "lldb: all warps that come to a line hit it" <<'END'
^\(int\) lid = 64
^\(int\) \$0 = 71
^\(.*\) out = 0x0000200000000000
^\(int\) n = 7
^Process 1 exited with status = 0
^1: .* hit count = 160 
END
left_behind 0

# A condition that is true in one lane of one of 40 blocks causes one stop, in that lane.
cp "$src/tests/clients/behaviours/points.cu" "$work"/
sed 's/grid: \[2\]/grid: [40]/; s/128\]/2560]/; s/count: 128/count: 2560/' "$src/tests/clients/behaviours/points.yaml" >"$work/points.yaml"
behind=$(sed -n '/parts/=' "$work/points.cu")
serve "$lanewise" run points.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
breakpoint set -f points.cu -l $behind -c "threadIdx.x == 37" -G true
continue
breakpoint list
END
talk
expect "lldb: a condition that holds in one lane of each block" <<'END'
^Process 1 exited with status = 0
^1: .* hit count = 40 
END
left_behind 0

# Registers of more than 8 bytes: those with three components, and lane_pcs with a pc for each lane.
printf '.kernel dims\n    exit\n.end\n' >"$work/dims.s"
cat >"$work/dims.yaml" <<'END'
program: {source: dims.s}
steps:
  - launch: {entry: dims, grid: [3, 5, 2], block: [2, 3, 2], args: []}
END
serve "$lanewise" run dims.yaml --warp 4 --gdb 127.0.0.1:0
printf '%s\n' 'thread select 3' 'register read tid ntid nctaid lane_pcs' >"$work/session"
talk
expect "lldb: registers of several numbers" <<'END'
^ *tid = \{0x00000000 0x00000001 0x00000001\}
^ *ntid = \{0x00000002 0x00000003 0x00000002\}
^ *nctaid = \{0x00000003 0x00000005 0x00000002\}
^ *lane_pcs = \{0x0000000100000000 0x0000000100000000 0x0000000100000000 0x0000000100000000\}
END
stop_server

# If the user asks lldb to call a function or to return from one, the state does not change, and lldb prints a message.
cat >"$work/saved.cl" <<'END'
__attribute__((noinline)) int f(int n)
{
    if (n <= 0)
        return 1;
    int r = f(n - 1);
    return r * 3 + n;
}

__kernel void saved(__global int *out)
{
    out[get_global_id(0)] = f(4);
}
END
cat >"$work/saved.yaml" <<'END'
program: {source: saved.cl, options: [-O2, -g]}
buffers:
  out: {type: s32, count: 4}
steps:
  - launch: {entry: saved, grid: [1], block: [4], args: [out]}
  - check: {buffer: out, values: [139, 139, 139, 139]}
END
serve "$lanewise" run saved.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
script do = lambda c: (r := lldb.SBCommandReturnObject(), lldb.debugger.GetCommandInterpreter().HandleCommand(c, r), r.GetOutput() + r.GetError())[2]
breakpoint set -f saved.cl -l 6
continue
script a = do('register read -a'), do('bt'), do('memory read -c 512 0xf700000000000000'), do('memory read -c 16 0x200000000000')
script print(do('expression f(3)'))
script print('call' if a == (do('register read -a'), do('bt'), do('memory read -c 512 0xf700000000000000'), do('memory read -c 16 0x200000000000')) else 'other', 'state')
script print(do('thread return'), 'thread', 'returned')
script print('return' if a == (do('register read -a'), do('bt'), do('memory read -c 512 0xf700000000000000'), do('memory read -c 16 0x200000000000')) else 'other', 'state')
breakpoint delete -f
continue
END
talk
expect "lldb: a call and a return by the debugger" <<'END'
^error: Can't evaluate the expression without a running target
^call state
thread returned$
^return state
^note: `thread return` 
^Process 1 exited with status = 0
END
left_behind 0

# The negative counterpart: without the stub's replies for lldb, lldb has no lines.
serve "$server_program" calls.yaml x86-64 --without lldb
printf '%s\n' 'breakpoint set -f calls.cl -l 7' 'image list' >"$work/session"
talk
expect "lldb without what it asks" <<'END'
^WARNING: +Unable to resolve breakpoint
^error: the target has no associated executable images
END
grep -q 'calls.cl:' "$work/transcript" && fail "lldb has lines without the feature"
stop_server

# lldb shows a fault as a signal with the message of the fault. In batch mode lldb ends at a fault.
serve "$lanewise" run fault.yaml --gdb 127.0.0.1:0
printf '%s\n' 'continue' >"$work/session"
talk
expect "lldb: a fault" <<'END'
^fault: 
^\* thread #1, name = 'block\(0,0,0\) w0 lane 7', stop reason = signal SIGSEGV
END
left_behind 3

# If another warp hits a breakpoint while a warp steps over a barrier, the step ends.
cat >"$work/behind.s" <<'END'
.kernel behind
.param ptr.global out
    v_s2r v3, %tid.x
    v_mov_b32 v6, 1
    v_mov_b32 v6, 2
    v_mov_b32 v6, 3
    bar.sync 0
    v_mov_b32 v6, 4
    exit
.end
END
cat >"$work/behind.yaml" <<'END'
program: {source: behind.s}
buffers: {out: {type: u32, count: 1}}
steps:
  - launch: {entry: behind, grid: [1], block: [64], args: [out]}
END
serve "$lanewise" run behind.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
breakpoint set -f behind.s -l 7
continue
breakpoint delete -f
breakpoint set -f behind.s -l 5
thread step-over
thread list
breakpoint delete -f
continue
END
talk
expect "lldb: a step that another warp's breakpoint ends" <<'END'
thread #1, .*stop reason = breakpoint 1\.1
thread step-over
^block\(0,0,0\) w1 stopped; this warp ran because the stepped warp waits for it
thread #1, .*stop reason = step over
thread list
thread #2: .* at behind\.s:4,
Process 1 exited with status = 0
END
left_behind 0
# The warp still waits. The next step cannot move it either, because the warp for which it waits reaches its next breakpoint
# first.
serve "$lanewise" run behind.yaml --gdb 127.0.0.1:0
sed -i -e '/^thread list/,$d' -e 's/^\(breakpoint set -f behind.s -l \)5$/&\n\16/' "$work/session"
echo 'thread step-inst' >>"$work/session"
# In batch mode lldb ends at a stop that it considers a crash. lldb 19 then kills the program; lldb 22 lets it continue.
on_crash=kill
talk
on_crash=
expect "lldb: a step of a warp that waits" <<'END'
^block\(0,0,0\) w1 stopped; this warp ran because the stepped warp waits for it
thread #1, .*stop reason = step over
thread step-inst
thread #1, .*stop reason = block\(0,0,0\) w1 stopped; this warp ran because the stepped warp waits for it
END
left_behind 1

# Variables of optimised code: values in registers, a condition on them, an assignment, a watchpoint, a structure in
# two registers, and a structure of which one member is optimised out. lldb would show zero for that member.
cat >"$work/weights.cl" <<'END'
struct pair { int a; int b; };
kernel void weights(global float *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    float total = 0;
    #pragma nounroll
    for (int i = 0; i < n; i++) {
        int v = in[(gid * n + i * i) & 127];
        struct pair p = {v + 1, v - 1}, q = {v * v * 3, v + 9};
        total += 0.5f * (p.a ^ p.b) + q.b;
    }
    out[gid] = total;
}
END
serve "$lanewise" run weights.cl --values --grid 1 --block 32 --arg 'out=f32[32]' --arg 'in=i32[128]:ramp' --arg n=4 --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
breakpoint set -f weights.cl -l 10 -c 'gid == 13 && v == 56'
continue
frame variable gid v i total p.b
frame variable q
expression p.a * 2
expression total = 1000.5
watchpoint set variable total
breakpoint delete -f
continue
frame variable total
watchpoint delete -f
continue
END
talk
expect "lldb: variables of optimised code" <<'END'
thread #1, name = 'block\(0,0,0\) w0 lane 13', stop reason = breakpoint 1\.1
^\(int\) gid = 13
^\(int\) v = 56
^\(int\) i = 2
^\(float\) total = 127$
^\(int\) p\.b = 55
^\(pair\) q = <.*optimized out
^\(int\) \$0 = 114
^\(float\) \$1 = 1000\.5
^total was written by lane 13 at weights\+.*weights\.cl:10\): 1000\.5 -> 1072\.5$
^\(float\) total = 1072\.5
^Process 1 exited with status = 0
END
left_behind 0

# A branch was converted to guarded instructions. Lanes that do not take it do not hit a breakpoint with a condition.
write_halves 2
serve "$lanewise" run halves.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
breakpoint set -f halves.cl -l 9 -c "t == 1"
continue
expression s
continue
expression s
continue
END
talk
expect "lldb: a condition in a guarded branch" <<'END'
^\(uint\) \$0 = 2
^\(uint\) \$1 = 2
^Process 1 exited with status = 0
END
left_behind 0

# A second debugger is refused immediately; lldb prints its usual message for a refused connection.
echo 'thread list' >"$work/session"
serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0
began=$(date +%s)
talk
usual=$(($(date +%s) - began))
serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0
gdb -nx -batch -ex "target remote :$port" -ex 'python import time; time.sleep(600)' >"$work/first" 2>&1 </dev/null &
first=$!
tries=0
while ! grep -q '^walk' "$work/first" && [ $tries -lt 1200 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
began=$(date +%s)
talk
took=$(($(date +%s) - began))
kill $first
wait $first 2>/dev/null
expect "lldb: a second one" <<'END'
^error: Connection shut down by remote side
END
[ $took -le $((2 * usual + 10)) ] || fail "the second lldb waits for $took seconds; the first one took $usual"
stop_server
finish
