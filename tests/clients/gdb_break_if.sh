#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests breakpoint conditions that gdb cannot compile to agent bytecode. With the Python file, the stub tests them in each lane on
# `continue`. Random conditions must stop exactly where gdb's `print` shows that they are true. No hit may be missed after steps
# to a breakpoint, or if other breakpoints are at its location.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
{
    cat <<'END'
struct inner { float f; double d; int i; uchar c; float a[4]; };
constant uint specials[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x3f800000, 0x3fc00000, 0x4b800001, 0xbf000000};
kernel void numbers(global uint *x, uint n) {
    uint seed = 1;
    for (uint round = 0; round < n; round++) {
        struct inner p;
        struct inner *q = &p;
        float4 v;
        float a, b, *r = &a;
        double d, e;
        int i, j, done = 0;
        uint u;
        char c;
        uchar uc;
        short s;
        long l;
        ulong ul;
        bool t;
        seed = seed * 1664525 + 1013904223;
        i = (int)seed >> (seed % 31);
        u = seed >> (seed / 64 % 3 * 8);
        j = (int)(u * 40503) >> 20;
        c = u >> 9;
        uc = u >> 7;
        s = u >> 3;
        l = (long)i * j;
        ul = (ulong)seed << (seed / 4096 % 33);
        t = u / 2048 % 2;
        a = round % 2 ? as_float(specials[u / 32 % 10]) : j * 0.1f;
        b = round % 3 ? j * 0.25f : as_float(specials[u / 512 % 10]);
        d = round % 5 ? j * 0.1 : (double)as_float(specials[u / 8192 % 10]);
        e = round % 4 ? (double)b : l * 1.7;
        p.f = b; p.d = d; p.i = j; p.c = uc; p.a[1] = a; p.a[2] = 16777216.0f;
        v = (float4)(a, b, 2.5f, j);
        x[0] = seed + r[0] + q->i + v.x + e + done + s + c + ul + t;
END
    i=1
    while [ $i -le 21 ]; do echo "        x[$i] = i;"; i=$((i + 1)); done
    printf '    }\n}\n'
} >"$work/numbers.cl"
cat >"$work/numbers.yaml" <<'END'
program: {source: numbers.cl, options: [-O0, -g, -cl-opt-disable]}
buffers: {x: {type: u32, count: 32}}
steps:
  - launch: {entry: numbers, grid: [1], block: [1], args: [x, 100000]}
END
cat >"$work/random.py" <<'END'
import os, random, re
rng = random.Random(int(os.environ["BREAK_IF_SEED"]))
first = 1 + [line.strip() for line in open(os.environ["BREAK_IF_SOURCE"])].index("x[1] = i;")
LINES = 20
def pick(*these):
    return rng.choice(these)
def leaf():
    return pick("a", "b", "*r", "r[0]", "p.f", "q->f", "p.a[1]", "q->a[2]", "v[0]", "v[3]", "d", "e", "p.d", "q->d",
                "i", "j", "u", "c", "uc", "s", "l", "p.i", "q->i", "p.c", "round", "ul", "t", "$lane", "'a'",
                "0", "1", "7", "70000", "16777217", "0.5", "1.5f", "-2.25", "3.0", ".1", "0.1f", "1.0e10", "25e-1")
def number(depth):
    if depth == 0 or rng.random() < 0.2:
        return leaf()
    kind = rng.random()
    if kind < 0.75:
        return "%s %s %s" % (term(depth - 1), pick("+", "-", "*", "/", "+", "-", "*", "<<", "%", "&"), term(depth - 1))
    return "(%s) %s" % (pick("float", "double", "float", "double", "int", "unsigned char"), term(depth - 1))
def term(depth):
    return pick("%s", "(%s)") % number(depth) if depth > 0 else leaf()
def condition(depth):
    kind = rng.random()
    if depth == 0 or kind < 0.5:
        return "%s %s %s" % (term(2), pick("<", ">", "<=", ">=", "==", "!="), term(2))
    if kind < 0.8:
        return "(%s) %s (%s)" % (condition(depth - 1), pick("&&", "||"), condition(depth - 1))
    return pick("!(%s)", "%s") % (condition(depth - 1) if kind < 0.9 else term(2))
def here():
    return gdb.newest_frame().find_sal().line
for line in (first - 1, first + LINES):
    gdb.execute("break numbers.cl:%d" % line, to_string=True)
for line in range(first, first + LINES):
    gdb.execute("break numbers.cl:%d" % line, to_string=True)
points = sorted(gdb.breakpoints(), key=lambda point: point.number)[-LINES:]
tested = ours = trues = differ = 0
for _ in range(int(os.environ["BREAK_IF_ROUNDS"])):
    for point in points:
        point.enabled = False
    while here() != first - 1:
        gdb.execute("continue", to_string=True)
    wanted = {}
    for line, point in enumerate(points, first):
        text = condition(2)
        try:
            wanted[line] = (text, bool(gdb.parse_and_eval("(%s) ? 1 : 0" % text)))
        except gdb.error:
            continue  # gdb refuses the condition, for example because of a division by zero
        where = "-at numbers.cl:%d, " % line
        try:
            LanewiseCode.compiled(text, where)
            if re.search(r"(?<![\w.])" + LanewiseCode.FLOAT, text):
                del wanted[line]  # gdb itself compiles this condition, with 0 in place of 0.5
                continue
        except gdb.error:
            ours += LanewiseCode.of(text, where) is not None
        point.condition = text
        point.enabled = True
    hit = set()
    while here() != first + LINES:
        gdb.execute("continue", to_string=True)
        hit.add(here())
    for line, (text, yes) in wanted.items():
        tested += 1
        trues += yes
        if yes != (line in hit):
            differ += 1
            print("differs: %s: gdb says %d" % (text, yes))
print("%d conditions, %d differ" % (tested, differ))
print("enough" if min(trues, tested - trues) > tested // 5 and ours > tested // 4 else
      "tested %d, ours %d, true %d" % (tested, ours, trues))
END
: "${BREAK_IF_ROUNDS:=40}" "${BREAK_IF_SEED:=1}"
BREAK_IF_SOURCE=$work/numbers.cl
export BREAK_IF_ROUNDS BREAK_IF_SEED BREAK_IF_SOURCE
python="python exec(bytes.fromhex(gdb.selected_inferior().connection.send_packet('qGpuPy').decode()))"
program="$lanewise run --gdb 127.0.0.1:0"
# shellcheck disable=SC2086 # words
serve $program numbers.yaml
printf '%s\nsource %s\nkill\n' "$python" "$work/random.py" >"$work/session"
session gdb
grep '^differs' "$work/transcript"
expect "random conditions are true where gdb says so" <<'END'
^[0-9]+ conditions, 0 differ
^enough
END

cat >"$work/lanes.cl" <<'END'
float twice(float a) {
    return a * 2;
}
kernel void lanes(global float *x, global uint *y) {
    int i = get_global_id(0);
    float f = i * 0.5f;
    x[i] = twice(f);
    x[i] += 1;
    y[i] = 3;
    y[i] += 4;
}
END
cat >"$work/lanes.yaml" <<'END'
program: {source: lanes.cl, options: [-O0, -g, -cl-opt-disable]}
buffers: {x: {type: f32, count: 128}, y: {type: u32, count: 128}}
steps:
  - launch: {entry: lanes, grid: [2], block: [64], args: [x, y]}
END
# usage: lanes COMMAND. Runs COMMAND, and then a session with: steps to locations with a false condition; two conditions at one
# location that are true in lanes of different splits; a condition at the location of an enabled or disabled breakpoint without a
# condition; reverse execution
lanes() {
    # shellcheck disable=SC2086 # words
    serve $program lanes.yaml
    cat >"$work/session" <<END
$1
$python
break lanes.cl:8 if f == 1e30
break lanes.cl:9 if f == 1e30
break lanes.cl:6
continue
delete 3
advance lanes.cl:8
until lanes.cl:9
print i
delete
break lanes.cl:10 if f == 2.5
break lanes.cl:10 if i == 37
continue
print i
continue
print i
delete
break lanes.cl:10
break lanes.cl:10 if f == 1e30
continue
disable 6
condition 7 f * 2 == 100
continue
print i
condition 7 f == 8.5
reverse-continue
print i
kill
END
    session gdb
}
lanes 'print 0'
expect "each lane is tested, and no step nor breakpoint beside a false one misses its place" <<'END'
^note: breakpoint 1: the condition "f == 1e30" is tested in each lane only by .continue.; other commands test it in the lane in focus only
hit Breakpoint 3, lanes
^\+advance
 at lanes.cl:8$
^\+until
 at lanes.cl:9$
^\$2 = 0
hit Breakpoint 4, lanes
^\$3 = 5
hit Breakpoint 5, lanes
^\$4 = 37
hit Breakpoint 6, lanes
hit Breakpoint 7, lanes
^\$5 = 100
hit Breakpoint 7, lanes
^\$6 = 17
END
# If the user has defined `hook-continue`, the Python file does not replace it. gdb then tests the conditions in the focus
# lane only, and misses hits of other lanes.
lanes 'python gdb.execute("define hook-continue\necho mine\\n\nend")'
expect "a hook of the user's stays" <<'END'
^note: breakpoint 1: gdb tests the condition "f == 1e30" in the lane in focus only
hit Breakpoint 3, lanes
^note: breakpoint 4: gdb tests the condition "f == 2.5" in the lane in focus only
exited normally
END

# The pc of a warp that waits at a barrier is already at the next line, which the warp has not reached. A breakpoint there is hit,
# and `next` ends there, only after the other warps have reached the barrier.
cat >"$work/waits.cl" <<'END'
__kernel void k(__global int *a)
{
    __local int t[64];
    int l = get_local_id(0);
    t[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[l] = t[63 - l];
}
__kernel void other(__global int *a)
{
END
i=1
while [ $i -le 100 ]; do echo "    a[$i] = $i;" >>"$work/waits.cl"; i=$((i + 1)); done
echo '}' >>"$work/waits.cl"
cat >"$work/waits.yaml" <<'END'
program: {source: waits.cl, options: [-O0, -g, -cl-opt-disable]}
buffers: {a: {type: s32, count: 64}}
steps:
  - launch: {entry: k, grid: [1], block: [64], args: [a]}
END
serve "$lanewise" run waits.yaml --gdb 127.0.0.1:0
printf '%s\n' "source $python_file" 'break 6' 'break 7 if l == 100' continue stepi 'x/2i $pc' stepi step step 'delete 1' \
    >"$work/session"
session gdb
expect "a false condition behind a barrier" <<'END'
hit Breakpoint 1
^\+stepi$
^0x[0-9a-f]*8.*6	
^=> 0x[0-9a-f]*8 <k.*bar\.sync
^   0x[0-9a-f]*0 <k
^\+stepi$
^Thread 2 .* hit Breakpoint 1
^\+step$
^7	
END
server_ends
serve "$lanewise" run waits.yaml --gdb 127.0.0.1:0
printf '%s\n' 'break 6' 'break 7' continue continue stepi 'print t[5] + t[45]' continue 'print t[5] + t[45]' continue \
    >"$work/session"
session gdb
expect "a breakpoint behind a barrier" <<'END'
^Thread 1 .* hit Breakpoint 1
^Thread 2 .* hit Breakpoint 1
^\+stepi
^Thread 2 .* hit Breakpoint 2
= 50
^Thread 1 .* hit Breakpoint 2
= 50
exited normally
END
server_ends
serve "$lanewise" run waits.yaml --gdb 127.0.0.1:0
printf '%s\n' 'break 6 if l == 7' 'break 7 if l == 7' continue continue 'print t[45]' continue >"$work/session"
session gdb
expect "breakpoints of one lane at a barrier and behind it" <<'END'
hit Breakpoint 1
hit Breakpoint 2
= 45
exited normally
END
server_ends
serve "$lanewise" run waits.yaml --gdb 127.0.0.1:0
printf '%s\n' 'break 6 if l == 7' continue next 'print t[45]' 'delete 1' continue >"$work/session"
session gdb
expect "next from a breakpoint at a barrier" <<'END'
hit Breakpoint 1
^lane 7 waits at CTA barrier 0 for warps 1: meanwhile other lanes and warps ran
^7	
= 45
exited normally
END
server_ends
serve "$lanewise" run waits.yaml --gdb 127.0.0.1:0
printf '%s\n' 'break 6 if l == 7' continue 'set scheduler-locking on' next 'set scheduler-locking off' next \
    'print t[45]' 'delete 1' continue >"$work/session"
session gdb
expect "next from a breakpoint at a barrier, with locked warps" <<'END'
hit Breakpoint 1
^waiting: lane 7 waits at CTA barrier 0 for warps 1; they do not run during step-alone
^6	
^lane 7 waits at CTA barrier 0 for warps 1: meanwhile other lanes and warps ran
^7	
= 45
exited normally
END
server_ends
# A monitor command between the hit and `continue` does not change this.
serve "$lanewise" run waits.yaml --gdb 127.0.0.1:0
printf '%s\n' 'break 6' 'break 7' continue 'monitor focus' continue 'monitor focus' continue continue continue >"$work/session"
session gdb
expect "a monitor command where a warp waits at a breakpoint" <<'END'
^Thread 1 .* hit Breakpoint 1
^\+monitor focus
^Thread 2 .* hit Breakpoint 1
^\+monitor focus
^Thread 2 .* hit Breakpoint 2
^Thread 1 .* hit Breakpoint 2
exited normally
END
server_ends
# This is so with any number of other breakpoints.
serve "$lanewise" run waits.yaml --gdb 127.0.0.1:0
{
    i=1
    while [ $i -le 100 ]; do echo "break *((long)&other + 16 * $i)"; i=$((i + 1)); done
    printf '%s\n' 'break 6 if l == 7' 'break 7 if l == 7' continue continue 'print t[45]' continue
} >"$work/session"
session gdb
expect "a barrier with a hundred breakpoints" <<'END'
hit Breakpoint 101
hit Breakpoint 102
= 45
exited normally
END
server_ends
finish
