#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests `lanewise debug`: files that commands write and read, checkpoints in a session, exit statuses with --batch, and C++
# kernels with the names and types of the source.
set -u
src=$(cd "${srcdir:-.}" && pwd)
program=${LANEWISE:-./lanewise}
case $program in /*) ;; *) program=$(pwd)/$program ;; esac
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
cp "$src"/tests/shell/golden/saxpy.* "$src"/tests/shell/golden/wild.* \
    "$src"/tests/shell/golden/stuck.* "$src"/tests/kernels/names.cu "$work"/
cd "$work" || exit 99
failed=0
# usage: session STATUS LAUNCH ARGUMENT... . Runs a session, writes its output to `out` and expects exit status STATUS
session() {
    wanted=$1
    shift
    timeout 60 "$program" debug "$@" >out 2>&1 </dev/null
    got=$?
    [ $got = "$wanted" ] && return
    echo "lanewise debug $*: exit status $got, expected $wanted"
    sed 's/^/    /' out
    failed=1
}
# usage: says PATTERN. Expects a matching line in the output of the last session. usage: lacks PATTERN. Expects none
says() { grep -q -- "$1" out || { echo "there is no line '$1' in:"; sed 's/^/    /' out; failed=1; }; }
lacks() { ! grep -q -- "$1" out || { echo "a line '$1' in:"; sed 's/^/    /' out; failed=1; }; }

# The output of a command must be in the log file when the command ends, because the program may be killed later.
mkfifo lines
"$program" debug saxpy.yaml -c 'log said' -c 'print 40 + 1' -c 'source lines' >out 2>&1 &
session=$!
exec 3>lines
tries=0
until grep -q '= 41$' out && grep -q '= 41$' said || [ $tries = 100 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -9 $session
{ wait $session; } 2>/dev/null
exec 3>&-
says '^40 + 1 = 41$'
grep -q '^40 + 1 = 41$' said || { echo "the log of a killed session lacks a command"; failed=1; }

# Runs the first session of docs/howto/debug-in-the-shell.md, and compares its output without blanks and prompts.
mkdir doc
cp "$src"/kernels/saxpy.cl "$src"/kernels/saxpy.yaml doc/
sed -i '/- check/d' doc/saxpy.yaml
sed -n '/^## Five minutes/,/quit$/s/^    //p' "$src/docs/howto/debug-in-the-shell.md" | sed '/^[$]/d; /^`help`/d' >session
sed -n 's/^(lanewise [^)]*) //p' session >typed
[ "$(wc -l <typed)" -gt 5 ] || { echo "docs/howto/debug-in-the-shell.md has no session"; failed=1; }
"$program" debug doc/saxpy.yaml <typed 2>&1 | sed 's/[[:blank:]][[:blank:]]*/ /g' >got
sed '/^(lanewise /d' session | sed 's/[[:blank:]][[:blank:]]*/ /g' >wanted
diff -u wanted got || { echo "docs/howto/debug-in-the-shell.md differs from the output of the shell"; failed=1; }

# Writes memory to a file, and reads it back.
session 0 saxpy.yaml --batch -c 'dump x.bin x' -c 'dump y.bin y+16 8' -c 'load x.bin y' \
    -c 'assert f32[y + 12] == 3' -c 'find y, 31.0'
says '^128 bytes at 0x[0-9a-f]* were written to file x.bin$'
[ "$(wc -c <x.bin)" = 128 ] && [ "$(wc -c <y.bin)" = 8 ] || { echo "the dumps have wrong sizes"; failed=1; }
session 2 saxpy.yaml --batch -c 'load x.bin y+4'
says 'file x.bin has 128 bytes, but the allocation has only 124 from that address on'
session 2 saxpy.yaml --batch -c 'dump z.bin 0 4'
says 'cannot read memory at 0x0'
[ ! -e z.bin ] || { echo "a file exists after a dump that failed"; failed=1; }

# After a checkpoint was saved and restored in a session, the state, the breakpoints and the rest of the run must be the same.
session 0 saxpy.yaml --batch -c 'break 18' -c 'stepi 3' -c 'lane 5' -c 'set v1 = 77' \
    -c 'save s.lwc' -c 'continue' -c 'set v1 = 1' -c 'restore s.lwc' -c 'assert at(5, v1) == 77' \
    -c 'assert (pc & 0xfff) == 0x30' -c 'points' -c 'continue' -c 'stepi' -c 'goto start' \
    -c 'delete' -c 'continue'
says '^1  enabled .*saxpy.s:18'
says '^breakpoint 1, lanes 0xff: '
says '^all launches have ended'
session 1 saxpy.yaml --batch -c 'save s.lwc' -c 'stepi 3' -c 'restore s.lwc' -c 'assert pc == 0'
says '^lanewise: assert failed: pc == 0 is 0 (false): pc = 4294967296; at saxpy (saxpy.s:8)'
session 2 saxpy.yaml --batch -c 'restore x.bin'
says 'x.bin'
session 2 saxpy.yaml --batch -w 4 -c 'restore s.lwc'
says 'but in this run the option is 4'
session 2 saxpy.yaml --batch --log l.log -c 'restore s.lwc'
says 'restore cannot be used with --log'
session 0 saxpy.yaml -c 'stepi 3' -c 'restore x.bin' -c 'echo still at {/x pc}'
says '^still at 0x100000030'

# A log contains the output of the session. Options -x and -c are executed in the order of the command line.
echo 'echo from the script' >one.lws
session 0 saxpy.yaml --batch -c 'log said.txt' -c 'echo before' -x one.lws -c 'echo behind' \
    -c 'log off' -c 'echo unheard'
[ "$(tr '\n' ' ' <said.txt)" = 'before from the script behind ' ] ||
    { echo "the log contains:"; cat said.txt; failed=1; }
# If a log cannot be written, an error is printed at the end of the log or of the session.
session 2 saxpy.yaml --batch -c 'log /dev/full' -c 'echo lost' -c 'log off'
says '^lanewise: cannot write all of the log file: No space left'
session 2 saxpy.yaml --batch -c 'log /dev/full' -c 'echo lost'
says '^lanewise: cannot write all of the log file: No space left'
# A file that is not a script is refused, and no line of it is executed.
printf 'echo heard\0\necho unheard\n' >zero.lws
session 2 saxpy.yaml --batch -x zero.lws
says '^lanewise: zero.lws: the file is not a script: it contains a zero byte$'
lacks '^heard'
session 2 saxpy.yaml --batch -x /dev/zero
says '^lanewise: /dev/zero: the input is longer than 256 MiB, the limit for a pipe or device: copy the input to a regular file$'

# Exit statuses with --batch.
session 0 saxpy.yaml --batch -c 'assert 1'
session 1 saxpy.yaml --batch -c 'assert 0'
session 0 saxpy.yaml -c 'assert 0'
says '^error: assert failed: 0 is 0 (false); at saxpy'
session 2 saxpy.yaml --batch -c 'assert nosuch'
session 7 saxpy.yaml --batch -c 'quit 7' -c 'assert 0'
session 3 wild.yaml --batch -c continue
session 4 stuck.yaml --batch -c continue
# Findings of --check change the status without a terminal, also without --batch.
session 1 wild.yaml --batch --check -c continue
session 1 wild.yaml --check -c continue
session 0 wild.yaml --check -c stepi
session 0 saxpy.yaml --check -c continue
session 7 wild.yaml --check -c continue -c 'quit 7'
printf 'define f\nstepi\n' >open.lws
session 2 saxpy.yaml --batch -x open.lws
says 'the definition of f has no `end`'
printf 'define f\nf\nend\nf\n' >circle.lws
session 2 saxpy.yaml --batch -x circle.lws
says 'more than 16 deep'

# In C++ kernels the user can use the names of the source.
cat >names.yaml <<'END'
program: {source: names.cu, options: [-O0, -g, --cuda-noopt-device-debug]}
buffers:
  x: {type: f32, count: 64, init: {ramp: {start: 0, step: 1}}}
  y: {type: f32, count: 64}
steps:
  - launch: {entry: "_Z6reduceIfEvPT_S1_i", grid: [2], block: [32], args: [x, y, 40]}
END
line=$(sed -n '/out\[i\] =/=' names.cu)
cat >names.lws <<END
info functions
break scale(float *, int) if i == 3
tbreak *pc + 16
continue
continue
break scale
break util::twice
break twice
break reduce<int>
tbreak $line
points
where
print p[i]
up
print it.name
print text
print m[1]
print *pi
print pi->weight[0]@3
print (*pi).flags + sizeof(item)
ptype it
whatis pi
whatis &m
whatis m[1]
whatis it.name
down
delete
tbreak $line
continue
print sum(i) * 2 == sum(tile[threadIdx.x])
break nosuch(int)
END
session 0 names.yaml -x names.lws
says 'kernel  reduce<float>(float \*, float \*, int)  (_Z6reduceIfEvPT_S1_i)$'
says '^0x[0-9a-f]*          util::twice(float)  (_ZN4util5twiceEf)$'
[ "$(grep -c '^breakpoint [0-9]* at scale+' out)" = 3 ] || { echo "expected three breakpoints in scale"; failed=1; }
[ "$(grep -c '^breakpoint [0-9]* at util::twice+' out)" = 2 ] || { echo "twice"; failed=1; }
says '^breakpoint [0-9]* at reduce<int>+'
says '^#1  reduce<float>+'
says '^breakpoint 1, lanes 0x00000008: .* lane 3 at scale+'
says '^it.name = 0x[0-9a-f]* "hello"$'
says '^text = "abc"$'
says '^m\[1\] = {4, 5, 6}$'
says '^\*pi = {id = 3, weight = {[^}]*}, name = 0x[0-9a-f]* "hello", flags = 5}$'
says '^pi->weight\[0\]@3 = {[^,]*, 1.5, [^,]*}$'
says '^(\*pi).flags + sizeof(item) = 37$'
says '^    const char \*name;$'
says '^    unsigned int flags : 3;$'
says '^type = struct item \*$'
says '^type = float (\*)\[2\]\[3\]$'
says '^type = float\[3\]$'
says '^sum(i) \* 2 == sum(tile\[threadIdx.x\]) = 1$'
says '^error: names.lws:[0-9]*: there is no function "nosuch(int)"'

# Vectors of OpenCL C.
cat >vector.cl <<'END'
kernel void k(global float4 *x, global float *y)
{
    int i = get_global_id(0);
    float4 v = x[i] * 2; float3 t = v.xyz;
    y[i] = v.y + t.z; /* here */
}
END
cat >vector.yaml <<'END'
program: {source: vector.cl, options: [-O0, -g, -cl-opt-disable]}
buffers:
  x: {type: f32, count: 256, init: {ramp: {start: 0, step: 1}}}
  y: {type: f32, count: 64}
steps:
  - launch: {entry: k, grid: [2], block: [32], args: [x, y]}
END
session 0 vector.yaml --batch -c 'tbreak 5' -c continue -c 'lane 1' -c 'print v' -c 'set v.z = 9' \
    -c 'print v.x + v.w' -c 'print x[1].z' -c 'print v[2]' -c 'print v.s3' -c 'whatis v' -c 'print t.z'
says '^v = {8, 10, 12, 14}$'
says '^v.x + v.w = 22$'
says '^x\[1\].z = 6$'
says '^v\[2\] = 9$'
says '^v.s3 = 14$'
says '^type = float4$'
says '^t\.z = 12$'
session 2 vector.yaml --batch -c 'tbreak 5' -c continue -c 'print $v' # the message must not suggest v
says '^lanewise: there is no "v" here: names are registers'
session 2 vector.yaml --batch -c 'tbreak 5' -c continue -c 'print v.q'
session 2 vector.yaml --batch -c 'tbreak 5' -c continue -c 'print v.s4'
session 2 vector.yaml --batch -c 'tbreak 5' -c continue -c 'print t.w'
says 'there is no element \.w: the vector has 3 elements$'
# Some lanes are in a function in which the name is that of a variable of another type. The values in the other lanes are shown
# nevertheless.
cat >where.cl <<'END'
float f(float v)
{
    return v + 1.0f;
}

__kernel void k(__global float *x)
{
    uint lid = get_local_id(0);
    float4 v = (float4)(1.0f, lid, 2.0f, 3.0f);

    if (lid % 2 == 0)
        x[lid] = f(v.x);
    x[lid] += v.y;
}
END
cat >where.yaml <<'END'
program: {source: where.cl}
buffers:
  x: {type: f32, count: 32}
steps:
  - launch: {entry: k, grid: [1], block: [32], args: [x]}
END
session 0 where.yaml -g --batch -c 'tbreak 3' -c continue -c 'lane where v.y == 7' -c 'print lid'
says '^true in 1 lane of 1 of 1 resident warps$'
says '^the expression cannot be evaluated in 16 lanes: \.y is not a type'
says '^lid = 7$'
session 2 where.yaml -g --batch -c 'lane where lid == 32'
says '^lanewise: lid == 32 is not true in any lane of the 1 resident warp$'
session 0 where.yaml -g --batch -c 'dump one.bin x 1' -c 'load one.bin x+1' -c 'info symbol x + 1'
says '^1 byte at 0x[0-9a-f]* was written to file one.bin$'
says '^1 byte of file one.bin was written to memory at 0x[0-9a-f]*$'
session 2 where.yaml -g --batch -c 'lane where v.y =='
says '^lanewise: expected a value at the end of "v.y =="$'
session 2 where.yaml -g --batch -c 'tbreak 8' -c continue -c 'print f(1)'
says 'f() cannot be called: an expression cannot run code of the program; write out what the function computes, or step into it$'
[ $failed = 0 ] && echo "files, checkpoints, exit statuses and names are right"
exit $failed
