#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests source variables in stock gdb: of OpenCL C compiled with -O0 -g (all variables in memory), of CUDA C++ compiled by nvcc
# with -G (variables in registers), and parameters of optimised code.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
cp "$src"/tests/clients/golden/variables.cl "$src"/tests/clients/golden/calls.cl "$src"/tests/ptx/corpus/debug_nvcc.ptx \
    "$src"/tests/ptx/corpus/debug_inlined.ptx "$src"/tests/ptx/corpus/debug_params.ptx "$work"/
inner=$(sed -n '/in the loop/=' "$work/variables.cl")
behind=$(sed -n '/behind the barrier/=' "$work/variables.cl")

serve "$lanewise" run variables.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
break variables.cl:$inner if k == 2 && global_id.x == 70
continue
print k
print t
info locals
info args
ptype r
ptype c
print r.in
set var r.in.big = 1234567890123
print r.in.big
print &arr
delete
break variables.cl:$behind
continue
print arr
print *arr@2
print table[0]@3
print scratch[2]
print records[1].weight[0]
print/x records->id
print small
print c == GREEN
print scale
print sizeof(record)
set \$lane = 3
print i
print r.id
set var i = 100
print global_id
print global_size
print warpSize
print work_dim
info scope variables
up
delete
continue
END
session gdb
expect "everything of an unoptimised kernel" <<END
hit Breakpoint 1, variables \\(out=0x[0-9a-f]+, records=0x[0-9a-f]+, n=100, scratch=0x10000000100\\)
^\\\$1 = 2
^\\\$2 = 3
^t = 3
^k = 2
^table = \\{0 <repeats 64 times>\\}
^i = 70
^r = \\{id = 70, weight = \\{0, 0, 0\\}, in = \\{tag = 0 '.000', big = -7\\}\\}
^c = GREEN
^arr = \\{70, 71.5, 0, 0\\}
^small = 200
^n = 100
^type = struct \\{
^    float weight\\[3\\];
^        long big;
^type = enum color \\{RED, GREEN = 5, BLUE\\}
^\\\$3 = \\{tag = 0 '.000', big = -7\\}
^\\\$4 = 1234567890123
^\\\$5 = \\(float \\(\\*\\)\\[4\\]\\) 0xf7
hit Breakpoint 2, variables
^\\\$6 = \\{[0-9]+, [0-9.]+, [0-9]+, [0-9.]+\\}
^\\\$7 = \\{[0-9]+, [0-9.]+\\}
^\\\$8 = \\{64, 65, 66\\}
^\\\$9 = 198
^\\\$10 = 2.3[0-9]*e-38
^\\\$11 = 0x1010101
^\\\$12 = 200
^\\\$13 = 1
^\\\$14 = \\{0.5, 2\\}
^\\\$15 = 32
^\\\$16 = (67|99)
^\\\$17 = (67|99)
^\\\$18 = \\{x = (67|99), y = 0, z = 0\\}
^\\\$19 = \\{x = 128, y = 1, z = 1\\}
^\\\$20 = 32
^\\\$21 = 1
^Symbol table is 
^ +0: DW_OP_const8u 1099511627776
^Initial frame selected
exited normally
END
server_ends
[ "$status" = 0 ] || fail "variables: the run ended with status $status"

# In optimised code, parameters have names and types, and are in the constant bank. Debug information contains inlined functions
# and other variables, but no locations of the variables.
sed 's/-O0, -g, -cl-opt-disable/-O3/' "$work/variables.yaml" >"$work/fast.yaml"
serve "$lanewise" run fast.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
break variables.cl:$behind
continue
info args
print i
print *records
print *scratch@2
ptype records
delete
continue
END
session gdb
expect "parameters of optimised code" <<END
hit Breakpoint 1, variables \\(out=0x[0-9a-f]+, records=0x[0-9a-f]+, n=100, scratch=0x10000000100\\)
^n = 100
^\\\$1 = 32
^\\\$2 = \\{id = 16843009, weight = \\{2
^\\\$3 = \\{0, 3\\}
^type = const struct \\{
exited normally
END
server_ends
[ "$status" = 0 ] || fail "fast: the run ended with status $status"

# gdb shows the variables of each frame of a recursion, for one of the five lanes that are in the recursion.
serve "$lanewise" run calls.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
break calls.cl:$(sed -n '/in the leaf/=' "$work/calls.cl") if global_id.x == 5
continue
backtrace
info locals
up
info locals
up
print mine
frame 6
info locals
set var arr[0] = 7
print arr
frame 3
print depth
delete
finish
continue
END
session gdb
expect "variables of frames" <<END
hit Breakpoint 1, leaf \(x=401, y=1\)
^#0  leaf \(x=401, y=1\) at calls.cl:
^#1  .* in fact \(n=1, depth=4\) at calls.cl:
^#2  .* in fact \(n=2, depth=3\)
^#5  .* in fact \(n=5, depth=0\)
^#6  .* in calls \(out=0x[0-9a-f]+, n=64\)
^q = 401
^mine = 401
^rest = 0
^\\\$1 = 302
^i = 5
^arr = \{0, 0, 5\}
^\\\$2 = \{7, 0, 5\}
^\\\$3 = 2
^Value returned is
exited normally
END
server_ends
[ "$status" = 0 ] || fail "calls: the run ended with status $status"

# In code of nvcc, a variable in a register has a value at those instructions at which the register contains it.
cat >"$work/nvcc.yaml" <<END
program: {source: debug_nvcc.ptx}
buffers: {out: {type: f32, count: 128}, records: {type: u8, count: 4096}}
steps:
  - launch: {entry: variables, grid: [2], block: [64], args: [out, records, 100, {f32: [1, 2, 3, 4, 5]}]}
END
serve "$lanewise" run nvcc.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
break variables.cu:12 if threadIdx.x == 5 && blockIdx.x == 1
continue
info locals
print d
set var wide = 8
print wide
print by
print coef
print &counter
print counter
set var counter = 11
print counter
ptype record
delete
continue
END
session gdb
expect "registers with location lists" <<END
hit Breakpoint 1, variables \\(
^arr = \\{3, 4.5, 6, 7.5\\}
^i = 69
^c = GREEN
^r = \\{id = 69, weight = \\{0, 0, 0\\}, low = 0, high = 77\\}
^d = 34.5
^wide = -69
^table = \\{64, 65, 
^\\\$1 = 34.5
^\\\$2 = 8
^\\\$3 = \\{id = [0-9]+, weight = \\{2, 3, 4\\}
^\\\$4 = \\{1, 2, 3, 4\\}
^\\\$5 = \\(int \\*\\) 0x2
^\\\$6 = 9
^\\\$7 = 11
^    unsigned int high : 7;
exited normally
END
server_ends
[ "$status" = 0 ] || fail "nvcc: the run ended with status $status"

# A parameter that is loaded into a register also has a value before the load.
cat >"$work/late.yaml" <<END
program: {source: debug_params.ptx}
buffers: {out: {type: s32, count: 32}}
steps:
  - launch: {entry: late, grid: [1], block: [32], args: [out, 1, 2.75]}
END
"$lanewise" debug --batch -c 'print flag' -c 'print weight' -c 'break late.cu:4' -c continue -c 'print flag' \
    -c 'print weight + i' "$work/late.yaml" >"$work/transcript" 2>&1 </dev/null
expect "parameters at the entry" <<END
late.cu:1
^flag = 1
^weight = 2.75
^flag = 1
^weight \+ i = 2.75
END

# After a stack overflow, the argument of the innermost frame is outside the stack, as $fault_addr shows.
cat >"$work/deep.cl" <<'END'
static int deep(int n) { volatile int room[8]; room[n & 7] = n; return deep(n + 1) + room[n & 7]; }
__kernel void top(__global int *out) { out[0] = deep(1); }
END
cat >"$work/deep.yaml" <<END
program: {source: deep.cl, options: [-O0, -g, -cl-opt-disable]}
buffers: {out: {type: s32, count: 1}}
steps:
  - launch: {entry: top, grid: [1], block: [4], args: [out]}
END
(cd "$work" && exec "$lanewise" gdb deep.yaml -- -nx -batch -ex continue -ex 'backtrace 2' -ex 'x $fault_addr' \
    -ex 'set $lane = -1') >"$work/transcript" 2>&1 </dev/null
expect "a stack that overflows" <<'END'
^fault: out-of-bounds: local
^#0  0x[0-9a-f]+ in deep \[lane 0\] \(.*\) at .*deep\.cl:1$
^#1  0x[0-9a-f]+ in deep \(n=[0-9]+\) at .*deep\.cl:1$
^0x1ffffffffd0:.*Cannot access memory
lane -1 does not exist
END

# A kernel and functions that it calls have static shared variables with the same name. Each has its own memory and its own debug
# information. The code was compiled by clang, and by nvcc -G.
cp "$src/tests/ptx/corpus/shared_nvcc.ptx" "$work/"
cat >"$work/twice.cu" <<'END'
__device__ __noinline__ int first(int x)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = x;
    __syncthreads();
    return tile[threadIdx.x ^ 1];
}
__device__ __noinline__ int second(int x)
{
    __shared__ int tile[64];
    tile[threadIdx.x + 32] = x * 3;
    __syncthreads();
    return tile[(threadIdx.x ^ 1) + 32];
}
__global__ void twice(int *p)
{
    __shared__ char tile[8];
    tile[threadIdx.x & 7] = 'a' + (threadIdx.x & 7);
    int a = first(threadIdx.x + 100);
    int b = second(threadIdx.x + 200);
    p[threadIdx.x] = a + b + tile[0];
}
__global__ void beyond(int *p, int n)
{
    __shared__ int tile[16];
    tile[threadIdx.x] = n;
    __syncthreads();
    p[threadIdx.x] = tile[threadIdx.x ^ 1];
}
END
for program in 'twice.cu, options: [-O0, -g, --cuda-noopt-device-debug]' shared_nvcc.ptx; do
    cat >"$work/twice.yaml" <<END
program: {source: $program}
buffers: {p: {type: s32, count: 32}}
steps:
  - launch: {entry: twice, grid: [1], block: [32], args: [p]}
  - check: {buffer: p, values: [801, 797, 809, 805, 817, 813, 825, 821, 833, 829, 841, 837, 849, 845, 857, 853, 865, 861, 873, 869, 881, 877, 889, 885, 897, 893, 905, 901, 913, 909, 921, 917]}
  - launch: {entry: beyond, grid: [1], block: [32], args: [p, 3]}
END
    (cd "$work" && exec "$lanewise" gdb twice.yaml -- -nx -batch -ex 'break twice.cu:6' -ex 'break twice.cu:13' \
        -ex continue -ex 'print sizeof(tile)' -ex 'print tile[31]' -ex up -ex 'print tile' -ex continue \
        -ex 'print sizeof(tile)' -ex 'print tile[33]' -ex up -ex 'print tile') >"$work/transcript" 2>&1 </dev/null
    expect "static shared variables of one name, $program" <<'END'
^\$1 = 128
^\$2 = 131
^\$3 = "abcdefgh"
^\$4 = 256
^\$5 = 603
^\$6 = "abcdefgh"
END
    (cd "$work" && exec "$lanewise" run --check=memory twice.yaml) >"$work/transcript" 2>&1 </dev/null
    expect "a finding in the shared memory of a kernel whose variable has another one's name, $program" <<'END'
twice.cu:26: out-of-bounds: .*the block has 64 bytes of shared memory; kernel .*beyond
^failed: 2 findings; 1 check passed
END
done

# For `extern __shared__ float s[]`, nvcc -G writes no length. The size of s is what the launch requests.
cp "$src/tests/ptx/corpus/dynamic_nvcc.ptx" "$work/"
cat >"$work/dynamic.yaml" <<END
program: {source: dynamic_nvcc.ptx}
buffers: {out: {type: f32, count: 8}}
steps:
  - launch: {entry: dynamic, grid: [1], block: [8], shared: 32, args: [out]}
END
(cd "$work" && exec "$lanewise" gdb dynamic.yaml -- -nx -batch -ex 'break 6' -ex continue -ex 'watch s[3]' -ex continue \
    -ex 'print *s@4' -ex 'monitor print s' -ex 'monitor plane s[lane]' -ex 'monitor watch s') >"$work/transcript" 2>&1 </dev/null
expect 'dynamic shared memory of nvcc -G' <<'END'
^Hardware watchpoint 2: s\[3\]$
^\[s\[3\]: block\(0,0,0\)\]$
^memory at 0x1000000001c \(4 bytes\) was written by lane 3 
^New value = 1\.5$
^\$1 = \{0, 0\.5, 1, 1\.5\}$
^s = \{0, 0\.5, 1, 1\.5, 2, 2\.5, 3, 3\.5\}$
^  0: +0 +0\.5 +1 +1\.5
^error: the size of s is not known: watch a part of it, as in s\[0\]$
END
# gdb sends no type with a watchpoint. The message of a hit shows an element of a buffer of floats as a float, but not a part of
# an element.
cat >"$work/half.cl" <<'END'
kernel void half_it(global float *y, global double *z) { y[get_global_id(0)] *= 0.5f; z[get_global_id(0)] = 0.25; }
END
cat >"$work/half.yaml" <<END
program: {source: half.cl}
buffers: {y: {type: f32, count: 8, init: {ramp: {start: 1}}}, z: {type: f64, count: 8}}
steps:
  - launch: {entry: half_it, grid: [1], block: [8], args: [y, z]}
END
(cd "$work" && exec "$lanewise" gdb -g half.yaml -- -nx -batch -ex 'break half_it' -ex continue -ex 'watch y[4]' -ex continue \
    -ex 'watch z[2]' -ex continue -ex delete -ex 'watch *(unsigned short *)((char *)y + 22)' -ex reverse-continue) >"$work/transcript" 2>&1 </dev/null
expect 'floats at a watchpoint' <<'END'
^memory at 0x200000000010 \(4 bytes\) was written by lane 4 at .*: 5 -> 2\.5$
^memory at 0x200000002010 \(8 bytes\) was written by lane 2 at .*: 0 -> 0\.25$
^memory at 0x200000000016 \(2 bytes\) was written by lane 5 at .*: 16576 -> 16448$
END
# In nvcc's location lists, a location remains valid in the order of the instructions in memory, not along the executed path: from
# one side of an `if` into the other side, and from the body of a loop into the code after the loop. Lanewise shows the location
# that is valid on the executed path. The source of arms_nvcc.ptx has `else v /= 2` and `for (j = n; j-- > 0;)`.
cp "$src/tests/ptx/corpus/arms_nvcc.ptx" "$work/"
cat >"$work/arms.yaml" <<END
machine: {policy: rr_quantum}
program: {source: arms_nvcc.ptx}
buffers: {out: {type: s32, count: 8}}
steps:
  - launch: {entry: arms, grid: [1], block: [8], args: [out, 3]}
END
(cd "$work" && exec "$lanewise" gdb arms.yaml -- -nx -batch -ex 'break 8' -ex 'break 12' -ex continue \
    -ex 'monitor plane /d v' -ex continue -ex 'monitor plane /d j' -ex 'print v') >"$work/transcript" 2>&1 </dev/null
expect 'variables of nvcc -G where ways part and join' <<'END'
^Breakpoint 1, arms 
^  0: \(3\)   4 \(5\)   6 \(7\)   8 \(9\)  10$
^Breakpoint 2, arms 
^  0: -1 -1 -1 -1 -1 -1 -1 -1
END
# gdb shows frames of inlined functions in code of nvcc -lineinfo.
cat >"$work/inlined.yaml" <<END
program: {source: debug_inlined.ptx}
buffers: {out: {type: s32, count: 64}}
steps:
  - launch: {entry: inl, grid: [1], block: [64], args: [out, 60]}
END
serve "$lanewise" run inlined.yaml --gdb 127.0.0.1:0
cat >"$work/session" <<END
break inlined.cu:1
continue
backtrace
up
info frame
delete
finish
continue
END
session gdb
expect "frames of inlined functions" <<END
hit Breakpoint 1, sq
^#0  sq.* at .*inlined.cu:1
^#1  both.* at .*inlined.cu:4
^#2  inl \\(.*\\) at .*inlined.cu:9
^#1  both
inlined into frame 2
exited normally
END
server_ends
[ "$status" = 0 ] || fail "inlined: the run ended with status $status"

# The shell, which has its own DWARF reader, shows the same variables.
cat >"$work/commands" <<END
break variables.cl:$inner if k == 2 && i == 70
continue
locals
print r.in.big
print arr[1] + 1
print *records
print records->weight[1] == records[0].weight[1]
print *scratch
set arr[1] = 2.5
print arr
plane i
print global_id.x
print \$lane
print c == GREEN && c != RED
set c = BLUE
print c
print (int)BLUE
print r.nosuch
END
"$lanewise" debug "$work/variables.yaml" -x "$work/commands" >"$work/transcript" 2>&1
expect "variables in the shell" <<END
^breakpoint 1, lanes 0x00000040
^t = 3
^k = 2
^table = \{0 <repeats 64 times>\}
^i = 70
^r = \{id = 70, weight = \{0, 0, 0\}, in = \{tag = 0, big = -7\}\}
^c = GREEN
^arr = \{70, 71.5, 0, 0\}
^r.in.big = -7
^arr\[1\] . 1 = 72.5
^.records = \{id = 16843009, weight = \{2
^records->.* = 1
^.scratch = 0
^arr = \{70, 2.5, 0, 0\}
^  8: 72 73 74 75 76 77 78 79
^global_id.x = 70
lane = 6
^c == GREEN && c != RED = 1
^c = BLUE
^\(int\)BLUE = 6
no member nosuch
END
printf 'break leaf\ncontinue\nlocals\n' >"$work/commands"
"$lanewise" debug "$work/calls.yaml" -x "$work/commands" >"$work/transcript" 2>&1
expect "a function's variables in the shell" <<END
^x = 401
^y = 1
^q = 0
END

# With -g, clang writes no locations for structures that are parameters of functions. The source assigns to `a`, does not use `c`,
# and passes `last` on the stack.
cat >"$work/structures.cl" <<'END'
typedef struct { float x, y, z; } vec;
typedef struct __attribute__((packed)) { char tag; short middle; } odd;
typedef struct { long at[9]; } nine;
__attribute__((noinline)) float inner(vec v)
{
    return v.x * v.y; /* inner */
}
__attribute__((noinline)) float outer(vec a, vec b, odd c, nine d, long e, long f, long g, long h, long i, long j, long k, long l,
                                      long m, long n, vec last)
{
    a.x += 10.0f;
    b = a.z > 0 ? b : a;
    return inner(last) + a.x + b.y + d.at[8] + e + f + g + h + i + j + k + l + m + n; /* call */
}
kernel void structures(global float *out)
{
    int id = get_global_id(0);
    vec a = {id, 1, 2}, b = {3, id, 4}, last = {5, id, 6};
    odd c = {7, 300};
    nine d = {{0, 1, 2, 3, 4, 5, 6, 7, id}};

    out[id] = outer(a, b, c, d, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, last);
}
END
innermost=$(sed -n '/inner \*\//=' "$work/structures.cl")
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    serve "$lanewise" debug structures.cl -g --clang $clang --grid 1 --block 64 --arg 'out=f32[64]' --gdb 127.0.0.1:0
    cat >"$work/session" <<END
break structures.cl:$innermost if global_id.x == 9
continue
info args
set var v.y = 20
up
print a
print b
print c
print d.at[7] + d.at[8]
print last
print n
delete
finish
continue
END
    session gdb
    expect "structures that are parameters, $clang" <<END
^v = \\{x = 5, y = 9, z = 6\\}
^#1 .* outer \\(a=\\.\\.\\., b=\\.\\.\\., c=\\.\\.\\., d=\\.\\.\\., e=1,
^\\\$1 = \\{x = 19, y = 1, z = 2\\}
^\\\$2 = \\{x = 3, y = 9, z = 4\\}
^\\\$3 = \\{tag = 7 '.a', middle = 300\\}
^\\\$4 = 16
^\\\$5 = \\{x = 5, y = 9, z = 6\\}
^\\\$6 = 10
^Value returned is \\\$7 = 192
exited normally
END
done

# A structure of more than 1,024 bytes that is a parameter has a value at -g, except in a recursive function. There the notes of
# debuggers do not recommend the option -g.
cat >"$work/large.cl" <<'END'
struct large { int head, at[270]; };
int plain(struct large b, int i)
{
    int r = b.at[i];
    return r + b.head; /* plain */
}
int again(struct large b, int i);
int other(int i)
{
    struct large y;
    for (int k = 0; k < 270; k++)
        y.at[k] = k;
    return again(y, i - 1);
}
int again(struct large b, int i)
{
    int r = b.at[i];
    return i == 0 ? r : other(i) + r; /* again */
}
kernel void large(global int *out, int n)
{
    struct large x;
    int i = get_global_id(0);
    x.head = 7;
    for (int k = 0; k < 270; k++)
        x.at[k] = k * n + i;
    out[i] = plain(x, i) + again(x, 1);
}
END
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    serve "$lanewise" debug large.cl -g --clang $clang --grid 1 --block 32 --arg 'out=i32[32]' --arg n=3 --gdb 127.0.0.1:0
    cat >"$work/session" <<END
break large.cl:$(sed -n '/plain \*\//=' "$work/large.cl") if i == 9
break large.cl:$(sed -n '/again \*\//=' "$work/large.cl") if i == 0
continue
print b.head
print b.at[i]
print b.at[269]
continue
print b.head
print r
END
    session gdb
    expect "large structures that are parameters, $clang" <<'END'
^\$1 = 7
^\$2 = 36
^\$3 = 816
^note: 1 variable is optimized out here; no compiler option shows more variables, because the program is already compiled with -g
^\$4 = <optimized out>
^\$5 = 0
END
done

if command -v lldb-19 >/dev/null; then
    serve "$lanewise" run variables.yaml --gdb 127.0.0.1:0
    "$lanewise" compile -X -O0 -X -g -X -cl-opt-disable -o "$work/v.lwo" "$work/variables.cl"
    # changes the processor in the ELF header to one that lldb supports, as the stub does
    printf '\076\000' | dd of="$work/v.lwo" bs=1 seek=18 conv=notrunc 2>/dev/null
    timeout 400 lldb-19 --no-lldbinit --batch -o "target create $work/v.lwo" \
        -o "gdb-remote $port" -o "breakpoint set -f variables.cl -l $behind" -o continue \
        -o 'frame variable' -o 'frame variable r.in.big arr[1]' -o kill \
        >"$work/transcript" 2>&1 </dev/null
    expect "lldb" <<END
^\\(int\\) n = 100
^\\(int\\) i = [0-9]+
^  weight = 
^\\(color\\) c = GREEN
big = -7$
END
else
    echo "skipped: lldb-19 is not installed"
fi
finish
