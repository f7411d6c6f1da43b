#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the Python file in stock gdb, loaded from the stub and by `source`. In a gdb without Python, and with another program, it
# must fail with a message. Also tests `lanewise gdb`, which starts server and gdb, and the window of lanes in the TUI.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
need gdb-multiarch
need script
python="python exec(bytes.fromhex(gdb.selected_inferior().connection.send_packet('qGpuPy').decode()))"

cat >"$work/looks" <<'END'
lane
break walk.s:18
continue
info splits
info lanes
lane
print-lanes $v7
print-lanes/x $v3 + 1
print-lanes $v7.f32
print-lanes $lanev($v7, 1) + 1
print $lanev($v7, 3)
print $lanev($v7, 3, "f32")
print $lane_of(6)
print $lane_of(64)
lane where $v7 == 2
lane 99
lane where $nosuch.x == 1
lane where 0 == 1
print-lanes
print $lane_of()
print $lanev(3, 1)
x/2i $pc
disassemble /r $pc,+16
delete
break square
continue
backtrace
up
print-lanes $lane
info frame
info lane-registers v6 exec
info warps
END
looks() {
    expect "$1: lanes, functions, instructions" <<'END'
^\[block\(0,0,0\) w0 lane 0: active, 32 of 32 lanes run together\]$
hit Breakpoint 1, walk
^\*.* ready .* 0xeeeeeeee .*walk\.s:18
^   ( ) 0  \(0,0,0\) .* no  
^\* *1  \(1,0,0\) .* yes .*walk\.s:18
^\[block\(0,0,0\) w0 lane 1: active, 24 of 32 lanes run together\]$
^   0: \(0\) +1 +2 +3 \(0\) +1 +2 +3$
^  24: \(0x19\) +0x1a +0x1b +0x1c
^   0: +\(0\) +1\.40129846e-45
^   8: \(2\) +2 +2 +2 \(2\) +2
^\$1 = 3$
^\$2 = 4\.20389539e-45$
^\$3 = 6$
^\$4 = -1$
^\[block\(0,0,0\) w0 lane 2\]$
^#0 .*walk
^lane 99: this warp has lanes 0 to 31$
^0 == 1 is not true in any lane of the [0-9]* resident warps
^print-lanes takes an expression
^\$lane_of takes the index of a thread in its block: 
^\$lanev: expected a vector register
^=> 0x[0-9a-f]* <walk.*>:	v_add_u32 v6, v6, v7$
^   0x[0-9a-f]* <walk.*>:	v_sub_u32 v7, v7, 1$
^=> 0x[0-9a-f]* <walk.*>:	02 70 06 00 07 [0-9a-f ]*	v_add_u32 v6, v6, v7$
hit Breakpoint 2, square
^#0  square \[lane 2\] \(\) at walk\.s
^   0:  0  1  2  3  4  5  6  7$
^Stack level 1,
^v6 +0x00000003 
^exec +0xffffffff$
^\* *1  block\(0,0,0\) w0 lane 2 .*square
END
    grep -q 'Python Exception\|Traceback' "$work/transcript" && fail "$1: gdb prints a Python exception"
}
for gdb in gdb gdb-multiarch; do
    if [ $gdb = gdb ]; then arch=x86-64; else arch=aarch64; fi
    serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0 --gdb-arch $arch
    { echo "$python"; cat "$work/looks"; } >"$work/session"
    session $gdb
    looks "$gdb, sent by the stub"
done

# Focus by coordinates: gdb selects the thread and the lane, and shows variables and steps of this lane.
serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0
{
    echo "$python"
    cat <<'END'
cuda block 1 thread 17
thread
print $lane
print blockIdx.x * 100 + threadIdx.x
cuda kernel block thread
lanewise block (0,0,0) thread (33,0,0)
print $_thread
print threadIdx.x
stepi
print threadIdx.x
info cuda threads block 1 thread 5
info cuda kernels
cuda block 9
focus block (1,0,0) thread (34,0,0)
print $_thread * 100 + $lane
lanewise focus block 0 thread 2
focus nosuch
lanewise corner 3
lane where tid.x == 3 && ctaid.x == 1
print $_thread
lane where $lane == 4
print threadIdx.x
print get_global_id(0)
lw any(tid.x == 5)
lanewise print /x tid.x + 16
lanewise step
complete cuda bl
complete info cuda th
complete lanewise pr
END
} >"$work/session"
session gdb
expect "coordinates" <<'END'
^\+cuda block 1 thread 17
^\[kernel 1, block \(1,0,0\), thread \(17,0,0\), device 0, sm 0, warp 0, lane 17\]$
^#0  walk
^\[Current thread is .* \(Thread 3\)\]
^\$1 = 17$
^\$2 = 117$
^kernel 1, block \(1,0,0\), thread \(17,0,0\)$
^\[kernel 1, block \(0,0,0\), thread \(33,0,0\), device 0, sm 0, warp 1, lane 1\]$
^\$3 = 2$
^\$4 = 33$
^\+stepi
^7	
^\$5 = 33$
^  BlockIdx  ThreadIdx  To BlockIdx  To ThreadIdx  Count
^  \(1,0,0\) +\(5,0,0\) +\(1,0,0\) +\(5,0,0\) +1 
^\*  1 .*walk$
^block \(9,0,0\) does not exist: the grid of kernel 1 has \(2,1,1\) blocks$
^\[kernel 1, block \(1,0,0\), thread \(34,0,0\), device 0, sm 0, warp 1, lane 2\]$
^#0  walk
^\$6 = 402$
^\[kernel 1, block \(0,0,0\), thread \(2,0,0\), device 0, sm 0, warp 0, lane 2\]$
TUI
^"corner" is neither a coordinate nor a command that only shows
^block\(1,0,0\) w0  lanes 0x00000008$
^true in 1 lane of 1 of 4 resident warps$
^\[block\(1,0,0\) w0 lane 3\]$
^#0  walk
^\$7 = 3$
^\[block\(1,0,0\) w0 lane 4\]$
^\$8 = 4$
^\$9 = 68$
^any\(tid\.x == 5\) = 1$
^tid\.x \+ 16 = 0x14$
^"step" is neither a coordinate nor a command that only shows something
^cuda block$
^info cuda threads$
^lanewise print$
END
grep -q 'Python Exception\|Traceback' "$work/transcript" && fail "coordinates: gdb prints a Python exception"
# The file is loaded by `source`, twice: the second load replaces the first. Before gdb is connected, commands fail with
# messages.
serve "$lanewise" run walk.yaml --gdb 127.0.0.1:0
{
    echo "source $python_file"
    echo "source $python_file"
    cat "$work/looks"
    printf '%s\n' delete 'tbreak walk.s:27' continue 'set scheduler-locking on' stepi stepi \
        'monitor warps' lane 'info warps' 'print-lanes 1' # the selected warp has ended
    echo 'kill'
    printf '%s\n' 'lane' 'info warps' 'print-lanes 1' 'print $lane_of(1)' 'help lanewise'
} >"$work/session"
session gdb
looks "gdb, as a file"
expect "a warp that has ended" <<'END'
^No unwaited-for children left\.$
^ *3  block\(1,0,0\) w0 lane 0
^no warp is selected: `info threads` lists the warps, `thread N` selects one$
^no warp is selected: `info threads` lists the warps, `thread N` selects one$
^no warp is selected: `info threads` lists the warps, `thread N` selects one$
END
expect "a session that has ended" <<'END'
^\+kill$
^gdb is not connected to Lanewise: use `target remote :PORT`$
^gdb is not connected to Lanewise: use `target remote :PORT`$
^gdb is not connected to Lanewise: use `target remote :PORT`$
^gdb is not connected to Lanewise: use `target remote :PORT`$
^print-lanes EXPR  
END

# The negative counterparts: with a stub without the features, the commands do not exist.
serve "$server_program" walk.yaml x86-64 --without python --without disassemble
{ echo "source $python_file"; printf '%s\n' 'info warps' 'lane' 'x/i $pc'; } >"$work/session"
session gdb
expect "a stub that knows nothing of it" <<'END'
^gdb is connected to another program than Lanewise$
^gdb is connected to another program than Lanewise$
^=> 0x100000000 <walk>:	
END
grep -q '^=>.*v_s2r' "$work/transcript" && fail "gdb shows GPU instructions without the feature"
stop_server

# usage: ours NAME STATUS OPTIONS... . Runs `lanewise gdb` in a batch session
ours() {
    name=$1 want=$2
    shift 2
    (cd "$work" && timeout 400 "$lanewise" gdb "$@") </dev/null >"$work/transcript" 2>&1
    status=$?
    [ $status = "$want" ] || { fail "$name: status $status, not $want"; sed 's/^/    | /' "$work/transcript"; }
}
# A backtrace shows parameters as a stop does: also in code without lines, and with names of functions without types. A watchpoint
# on a variable that all lanes share prints no note.
cat >"$work/bare.ptx" <<'END'
.version 7.5
.target sm_75
.address_size 64
.func _Z4leafi(.param .b32 x)
{
    ret;
}
.visible .entry _Z4barePii(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<2>;
    ld.param.u32 %r0, [n];
    { .param .b32 a;
      st.param.b32 [a], %r0;
      call _Z4leafi, (a); }
    ret;
}
END
sed -e 's/^\.func/.file 1 "lined.cu"\n&/' -e 's/^    /    .loc 1 7 1\n&/' "$work/bare.ptx" >"$work/lined.ptx"
for bare in bare lined; do
    cat >"$work/$bare.yaml" <<END
program: {source: $bare.ptx}
buffers: {out: {type: s32, count: 8}}
steps:
  - launch: {entry: bare, grid: [1], block: [8], args: [out, 3]}
END
    ours "a backtrace of $bare" 1 $bare.yaml -- -nx -batch -ex 'break _Z4leafi' -ex continue -ex backtrace \
        -ex 'watch *(int *)0x200000000000'
    expect "a backtrace of $bare" <<'END'
^#0  .*leaf \[lane 0\] \(
^#1  .* bare \(out=35184372088832, n=3\)
^Hardware watchpoint 2: \*\(int \*\)0x200000000000$
END
    grep -q '^note: ' "$work/transcript" && fail "$bare: there is a note on a variable that all lanes share"
done
ours "a run to its end" 0 walk.yaml -- -nx -batch -ex 'break square' -ex continue -ex 'lane' \
    -ex delete -ex continue
expect "lanewise gdb: a run to its end" <<'END'
hit Breakpoint 1, square
^\[block\(0,0,0\) w0 lane 0: active
exited normally
^ok: 1 check passed, 1 launch
END
# With a GPU model, blocks begin one after the other. gdb must not print a line for each new warp.
ours "calm" 1 many.yaml --timing volta -- -nx -batch -ex 'tbreak *0x100000020 if blockIdx.x > 1000' -ex continue
expect "lanewise gdb: calm" <<'END'
hit Temporary breakpoint 1
END
grep -q 'New Thread\|lines off' "$work/transcript" && fail "lanewise gdb: gdb prints a line for each new warp"
# gdb's own breakpoint of `start` has a condition that gdb evaluates; there must be no note about it
ours "start" 1 walk.yaml -- -nx -batch -ex start -ex lane -ex stepi -ex lane
expect "lanewise gdb: start" <<'END'
hit Temporary breakpoint 1, walk
^\[block\(0,0,0\) w0 lane 0: active
^\[block\(0,0,0\) w0 lane 0: active
END
grep -q '^note:\|No frame' "$work/transcript" && fail "start: there is a note about gdb's own condition"
ours "packets of a step" 1 walk.yaml -- -nx -batch -ex stepi -ex 'set debug remote 1' -ex stepi -ex 'set debug remote 0'
sent=$(grep -c 'Sending packet: \$[mv]' "$work/transcript")
# a step reads memory only for itself and for its frame. gdb reads the code at the stop from its copy of the file
[ "$sent" -ge 1 ] && [ "$sent" -le 2 ] || { fail "lanewise gdb: a step reads $sent times"; cat "$work/transcript"; }
ours "gdb leaves" 1 walk.yaml -- -nx -batch -ex 'x/i $pc'
expect "lanewise gdb: gdb leaves before the end" <<'END'
^=> 0x100000000 <walk>:	v_s2r v3, %ctaid\.x$
^lanewise: the debugger disconnected before the program ended: results were not checked$
END
ours "gdb dies" 1 walk.yaml -- -nx -batch -ex 'python import os; os.kill(os.getpid(), 9)'
expect "lanewise gdb: gdb dies" <<'END'
^lanewise: the debugger disconnected before the program ended: results were not checked$
END
ours "detach" 0 walk.yaml --arch aarch64 -- -nx -batch -ex 'print $x0' -ex detach
expect "lanewise gdb: the run goes on behind detach" <<'END'
^\$1 = 0$
^ok: 1 check passed
END
ours "a fault" 3 fault.yaml -- -nx -batch -ex continue -ex continue
expect "lanewise gdb: a fault" <<'END'
^fault: 
received signal SIG
END
# If the source changes between two runs, gdb's copy of the object changes, too. Otherwise gdb does not read it again.
mkdir "$work/edited"
cp "$work"/walk.* "$work/edited/"
cp "$work/edited/walk.s" "$work/before.s"
ours "edit and run" 1 edited/walk.yaml -- -nx -batch -ex 'break walk.s:24' -ex continue -ex run \
    -ex 'shell sed -i "2i # a line more" edited/walk.s' -ex run -ex 'shell echo nonsense >>edited/walk.s' -ex run \
    -ex 'print $retired'
expect "lanewise gdb: edit and run" <<'END'
hit Breakpoint 1, walk .*walk\.s:24$
hit Breakpoint 1, walk .*walk\.s:24$
has changed; re-reading symbols
hit Breakpoint 1, walk .*walk\.s:24$
^24	    call v0:1, square$
walk\.s:36: nonsense
^\$1 = 28$
END
[ "$(grep -c 're-reading symbols' "$work/transcript")" = 1 ] || fail "gdb reads an unchanged program again"
cp "$work/before.s" "$work/edited/walk.s"
# In a gdb without Python, a message says which command to type, and that command works.
serve "$lanewise" run edited/walk.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<'END'
run
stepi
shell sed -i "2i # a line more" $work/edited/walk.s
run
stepi
file target:/lanewise/walk.s.lwo
info line square
END
sed -i "s#\$work#$work#" "$work/session"
connect=extended-remote session gdb
connect=
expect "run behind an edit says that the program is another one" <<'END'
^note: the program has changed, and gdb may still use .*: `file target:/lanewise/walk\.s\.lwo` makes
^Line 32 of
END
[ "$(grep -c '^note: the program' "$work/transcript")" = 1 ] || fail "there is a note although the program has not changed"
stop_server
ours "no gdb" 2 walk.yaml --gdb-program /nonexistent/gdb
expect "lanewise gdb: no gdb" <<'END'
^lanewise: gdb: cannot start "/nonexistent/gdb": No such file or directory; install the Debian package gdb,
END
ours "a gdb that does not connect" 1 walk.yaml --gdb-program true
ours "two launch files" 2 walk.yaml walk.yaml
ours "a wrong carrier" 2 walk.yaml --arch arm
expect "lanewise gdb: a wrong carrier" <<'END'
--arch: expected x86-64 or aarch64, found "arm"
END

# Sessions in a terminal. Input is sent when the terminal shows an expected text.
# usage: typed PATTERN TEXT. Waits, at most a minute, until the terminal shows PATTERN, and prints TEXT (a format of printf)
typed() {
    tries=0
    until grep -aq "$1" "$work/typescript" 2>/dev/null || [ $tries -ge 1200 ]; do
        tries=$((tries + 1))
        sleep 0.05
    done
    sleep 0.2
    # shellcheck disable=SC2059
    printf "$2"
}
# usage: terminal GDB-OPTIONS. Runs lanewise gdb in a terminal of 40 lines, with the input from standard input
terminal() {
    (cd "$work" && TERM=xterm timeout 400 script -qfc "stty rows 40 cols 120; '$lanewise' gdb $1" \
        typescript >/dev/null 2>&1)
}

# Ctrl-C goes to gdb: the kernel stops, and the server is not ended.
rm -f "$work/typescript"
{
    typed '(gdb)' 'continue\n'
    typed 'Continuing' ''
    wait_until_busy >&2
    printf '\003'
    typed 'SIGINT' 'print-lanes $lane < 2\n'
    typed '  24: 0' 'kill\n'
    typed '(y or n)' 'y\n'
    typed 'killed' 'quit\n'
    typed 'disconnected before' ''
} | terminal "spin.yaml -- -nx -iex 'set style enabled off'"
tr -d '\r' <"$work/typescript" >"$work/transcript"
expect "lanewise gdb: Ctrl-C" <<'END'
received signal SIGINT
   0: 1 1 0 0 0 0 0 0$
lanewise: the debugger disconnected before the program ended
END

# `layout regs` shows the GPU registers of the focus lane, and marks those that changed.
rm -f "$work/typescript"
{
    typed 'hit Breakpoint 1' 'print $lane + 1000\n'
    typed '= 1001' 'layout regs\n'
    typed 'v9 ' 'stepi\n'
    typed 'walk+0xc0' 'set var $lane = 6\n'
    typed 'w0 lane 6' 'quit\n'
    typed 'Quit anyway' 'y\n'
    typed 'disconnected before' ''
} | terminal "walk.yaml -- -nx -ex 'break walk.s:18' -ex continue"
tr '\033\r' '\n\n' <"$work/typescript" | sed 's/^[[(][0-9;?]*[A-Za-z]//' >"$work/transcript"
cat >"$work/expected" <<'END'
block\(0,0,0\) w0 lane 1
pc 0x1000000b0  walk\+0xb0 \(walk\.s:18\)
lane 1
exec 0xffffffff
active 0xeeeeeeee
v6 +0x00000000  0
pc 0x1000000c0  walk\+0xc0
v6 +0x00000001  1
block\(0,0,0\) w0 lane 6
END
if in_order "$work/expected" "$work/transcript" >"$work/lines" && ! grep -q 'rax  *0x' "$work/transcript"; then
    echo "ok: layout regs"
else
    fail "layout regs: the terminal does not show the expected registers"
    sed 's/^/    | /' "$work/transcript" | grep -v '| *$' | head -n 200
fi

# The window of lanes is drawn, and is drawn again when the focus moves.
rm -f "$work/typescript"
{
    typed 'hit Breakpoint 1' 'print-lanes $v7\n'
    typed '  24:' 'layout lanewise\n'
    typed '24 of 32 active' 'lanes-window $v7\n'
    typed '\$v7:' 'lanes-window $v7 * 1000000.5\n'
    typed '28:' 'lane 2\n' # a row of the table now has four values instead of eight, because they are wider
    typed 'w0 lane 2' 'quit\n'
    typed 'Quit anyway' 'y\n'
    typed 'disconnected before' ''
} | terminal "walk.yaml -- -nx -ex 'break walk.s:18' -ex continue"
# Colours are used only in terminals. Without them an inactive lane is in parentheses.
dim=$(printf '   0:\033\\[2m 0\033\\[m 1')
grep -aq "$dim" "$work/typescript" && echo "ok: inactive lanes are dim on a terminal" ||
    fail "inactive lanes are not dim on a terminal"
tr '\033\r' '\n\n' <"$work/typescript" | sed 's/^[[(][0-9;?]*[A-Za-z]//' >"$work/transcript"
cat >"$work/expected" <<'END'
block\(0,0,0\) w0 lane 1  24 of 32 active
A 24 at walk\.s:18
B  8 at walk\.s:2
\$v7:
28:
lane 2
END
# A terminal draws lines more than once, so the test cannot remove lines to check that each one is needed.
if in_order "$work/expected" "$work/transcript" >"$work/lines"; then
    echo "ok: the window of lanes"
else
    fail "the window of lanes"
    sed 's/^/    | /' "$work/transcript" | grep -v '| *$' | head -n 200
fi
finish
