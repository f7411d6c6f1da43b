#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests variables of optimised code in gdb and the shell: the session of docs/howto/debug-optimised-code.md,
# conditions for each lane, watchpoints, assignments, structures in several pieces, findings.
. "${srcdir:-.}/tests/clients/gdb_lib.sh"
need gdb
page=$src/docs/howto/debug-optimised-code.md
cp "$src"/docs/examples/nearby.* "$work/"
cd "$work" || exit 1

sed -n '/^<!-- tests\/clients\/gdb_optimised.sh -->$/,/^```$/p' "$page" | sed -e '1,2d' -e '$d' >"$work/block"
sed -n '/^(gdb) /,$p' "$work/block" >"$work/golden"
sed -n 's/^(gdb) //p' "$work/block" >"$work/session"
[ -s "$work/session" ] || fail "$page has no session after its marker"
"$lanewise" run nearby.yaml >run.out 2>&1
[ $? = 1 ] || fail "the wrong kernel does not fail its check"
grep '^nearby.yaml:' run.out >symptom
grep -qxF "$(cat symptom)" block || fail "the page does not contain the output of the run: $(cat symptom)"
serve "$lanewise" run nearby.yaml --gdb 127.0.0.1:0
session gdb
server_ends
sed -n '/^+break/,$p' transcript |
    sed -e '/^+continue $/d' -e '/^+next $/d' -e 's/^+/(gdb) /' -e '/^$/d' -e '/^\[Inferior 1 .* detached\]$/d' \
        -e 's|file [^,]*/nearby.cl|file nearby.cl|' -e 's|at [^ ]*/nearby.cl|at nearby.cl|' \
        -e 's/^Thread [0-9]* ".*" hit //' >said
if diff -u golden said >diff; then
    echo "ok: the session of the page"
else
    fail "the session of $page has other output"
    cat diff
fi

cat >pieces.cl <<'END'
struct pair { int a; int b; };
kernel void pieces(global int *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    int total = 0;
    #pragma nounroll
    for (int i = 0; i < n; i++) {
        int v = in[(gid * n + i * i) & 127];
        struct pair p = {v + 1, v - 1};
        total += p.a * p.b;
    }
    out[gid] = total;
}
END
"$lanewise" run pieces.cl --grid 1 --block 32 --arg 'out=i32[32]' --arg 'in=i32[128]:ramp' --arg n=4 --values \
    --save-launch pieces.yaml >/dev/null || fail "run with --values and --save-launch fails"
grep -q 'values: kept' pieces.yaml || fail "the saved launch file lacks 'values: kept'"
cat >"$work/session" <<'END'
break pieces.cl:10 if gid == 13 && v == 56
continue
print gid
print $lane
print p
print p.b
print i
watch total
delete 1
continue
print total
set var total = 1000
print total
END
serve "$lanewise" run pieces.yaml --gdb 127.0.0.1:0
session gdb
server_ends
expect "values in optimised code" <<'END'
^\$1 = 13
^\$2 = 13
^\$3 = \{a = 57, b = 55\}
^\$4 = 55
^\$5 = 2
^\$6 = 
^\$7 = 1000
END
# The shell shows the same values, and a note where values are missing.
cat >shell.lw <<'END'
break pieces.cl:10 if gid == 13 && v == 56
continue
p p.a
p p
locals
wrote total
origin total
END
"$lanewise" debug pieces.yaml -b -x shell.lw >shell.out 2>&1 || fail "the session of the shell fails: $(cat shell.out)"
for want in '^p.a = 57' 'a = 57, b = 55' '^i = 2' '^gid = 13' \
    '^total was written by lane 13 at pieces.* \(.*pieces.cl:1?[0-9]\): ' '^ +from v[0-9]+ = '; do
    grep -qE "$want" shell.out || fail "the shell does not show $want: $(cat shell.out)"
done
# Some members of a structure have no value.
sed -e 's/v - 1}/v * v * 3}/' -e 's/p.a \* p.b/p.a * i/' pieces.cl >partly.cl
cat >"$work/session" <<'END'
break partly.cl:10 if gid == 13
continue
print p
print p.b
END
"$lanewise" run partly.cl --grid 1 --block 32 --arg 'out=i32[32]' --arg 'in=i32[128]:ramp' --arg n=4 \
    --save-launch partly.yaml >/dev/null || fail "the run of partly.cl fails"
serve "$lanewise" run partly.yaml --gdb 127.0.0.1:0
session gdb
server_ends
expect "members without a value in gdb" <<'END'
^\$1 = \{a = 53, b = <optimized out>\}
^\$2 = <optimized out>
END
"$lanewise" gdb partly.yaml -- -batch -ex 'break partly.cl:10 if gid == 13 && v == 3' >noted.out 2>&1 </dev/null
grep -q '^note: breakpoint 1: a variable of the condition "gid == 13 && v == 3" has no value there' noted.out ||
    fail "gdb prints no note about a variable of a condition: $(cat noted.out)"
# A watchpoint on a variable without a value is deleted when it is set: gdb would end the next `continue` at once to delete it.
"$lanewise" gdb partly.yaml -- -batch -ex 'break partly.cl:10 if gid == 13' -ex continue -ex 'watch v' -ex 'watch p.b' \
    -ex 'info watchpoints' -ex 'delete 1' -ex continue >missing.out 2>&1 </dev/null
for want in '2 deleted: v' '3 deleted: this part of the variable'; do
    grep -q "^watchpoint $want has no value here because the compiler has optimised it out; compile with --values" missing.out ||
        fail "gdb keeps a watchpoint on a variable without a value: expected $want: $(cat missing.out)"
done
grep -q '^No watchpoints' missing.out && ! grep -q 'Error evaluating' missing.out ||
    fail "gdb keeps a watchpoint on a variable without a value: $(cat missing.out)"
# A loop that is unrolled whole: code of several iterations has one row of the line table, so the line has no stop for each iteration.
cat >unrolled.cl <<'END'
kernel void unrolled(global int *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    int x = gid & 7, count = 0;
    for (int dx = -1; dx <= 1; dx++) {
        int xx = (x + dx) & 7;
        count += in[xx] & 1;
    }
    out[gid] = count;
    out[gid + 96] = n;
}
END
"$lanewise" run unrolled.cl --grid 2 --block 32 --arg 'out=i32[192]' --arg 'in=i32[128]:ramp' --arg n=4 \
    --save-launch unrolled.yaml >/dev/null || fail "the run of unrolled.cl fails"
# A condition that is never true.
note='^note: unrolled.cl:7: the condition of the breakpoint was evaluated 192 times, and was never true; optimised code has no stop'
"$lanewise" gdb unrolled.yaml -- -batch -ex 'break unrolled.cl:7 if dx == 4' -ex 'break unrolled.cl:10 if gid == 3' -ex continue \
    -ex continue >untrue.out 2>&1 </dev/null
[ "$(grep -c "$note" untrue.out)" = 1 ] && [ "$(grep -c '^note: unrolled' untrue.out)" = 1 ] ||
    fail "gdb prints no note, or another one, about a condition that is never true: $(cat untrue.out)"
"$lanewise" debug unrolled.yaml -b -c 'break unrolled.cl:7 if dx == 4' -c 'break unrolled.cl:10 if gid == 3' -c continue -c continue \
    >untrue.out 2>&1
[ "$(grep -c "$note" untrue.out)" = 1 ] && [ "$(grep -c '^note: unrolled' untrue.out)" = 1 ] ||
    fail "the shell prints no note, or another one, about a condition that is never true: $(cat untrue.out)"
"$lanewise" gdb unrolled.yaml -- -batch -ex 'set dprintf-style agent' -ex 'dprintf unrolled.cl:10,"[%d]", gid' -ex continue >untrue.out 2>&1 </dev/null
grep -q '\[63\]' untrue.out && ! grep -q '^note: unrolled' untrue.out || fail "a dprintf counts as a condition that is never true"
# A variable of the condition has a value at only some locations of the breakpoint.
"$lanewise" gdb unrolled.yaml -- -batch -ex 'break unrolled.cl:7 if count == 99' >untrue.out 2>&1 </dev/null
grep -q '^note: breakpoint 1: a variable of the condition "count == 99" has no value in at least one of the [23] locations' untrue.out ||
    fail "gdb prints no note about the locations of a breakpoint: $(cat untrue.out)"
# A value that the debugger computes cannot be watched or written, and a message says so at the command.
"$lanewise" gdb unrolled.yaml -- -batch -ex 'break unrolled.cl:7' -ex continue -ex 'print x' -ex 'watch x' -ex 'info breakpoints' \
    -ex 'set var x = 2' >computed.out 2>&1 </dev/null
why='this is the value of a variable that the compiler has optimised out, and the debugger computes it from other values$'
for want in '^\$1 = 0$' "^watchpoint 2 deleted: 0xfc[0-9a-f]* cannot be watched: $why" "^gdb stub: cannot write at 0xfc[0-9a-f]*: $why"; do
    grep -q "$want" computed.out || fail "a computed value in gdb: expected $want: $(cat computed.out)"
done
[ "$(grep -c '^[0-9] .*watchpoint' computed.out)" = 0 ] || fail "a watchpoint remains: $(cat computed.out)"
for command in 'p p' locals 'p p.b'; do
    "$lanewise" debug partly.yaml -b -c 'break partly.cl:10 if gid == 13' -c continue -c "$command" >partly.out 2>&1
    case $command in
    'p p.b') want='this part of the variable has no value here because the compiler has optimised it out' ;;
    *) want='^p = {a = 53, b = <optimized out>}$' ;;
    esac
    grep -q "$want" partly.out || fail "$command in the shell: expected '$want': $(cat partly.out)"
done
# A watchpoint on a variable in a register reports the values of the variable, but no other values of the register: neither the
# intermediate product of the loop nor values of another variable.
cat >watched.cl <<'END'
kernel void watched(global int *out, global const int *in, int n)
{
    int gid = get_global_id(0);
    int total = 0;
    #pragma nounroll
    for (int i = 0; i < n; i++) {
        int v = in[(gid * n + i * i) & 31];
        total += v * v + 1;
    }
    out[gid] = total;
    int other = in[gid] * 7;
    #pragma nounroll
    for (int k = 0; k < n; k++) {
        other += in[(gid + k) & 31] * other;
        out[gid + 1 + k] = other;
    }
    out[gid + 2] = other;
}
END
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    set -- watched.cl --compiler $clang -X -O2 --grid 1 --block 4 --arg 'out=i32[64]' --arg 'in=i32[32]:ramp' --arg n=5
    printf '%s\n' 'break watched.cl:8' continue 'watch total' 'delete 1' continue continue continue continue continue \
        continue >"$work/session"
    serve "$lanewise" run "$@" --gdb 127.0.0.1:0
    session gdb
    server_ends
    expect "a watchpoint on a variable in a register, $clang" <<'END'
^New value = 1$
^Old value = 1$
^New value = 3$
^Old value = 3$
^New value = 20$
^New value = 102$
^New value = 359$
exited normally
END
    [ "$(grep -c '^New value' "$work/transcript")" = 5 ] || fail "$clang: the watchpoint reports other values: $(cat "$work/transcript")"
    "$lanewise" debug "$@" -b -c 'break watched.cl:8' -c continue -c 'watch total' -c 'delete 1' -c continue -c continue -c continue \
        -c continue -c continue -c continue -c continue >watched.out 2>&1
    said=$(sed -n 's/^watchpoint 2: total was written by lane 0 at .*: \([0-9]* -> [0-9]*\)$/\1,/p' watched.out | tr -d '\n')
    [ "$said" = '0 -> 1,1 -> 3,3 -> 20,20 -> 102,102 -> 359,' ] || fail "$clang: the watchpoint reports $said: $(cat watched.out)"
    # The location of the variable begins after another instruction than the one that writes the register. The run stops there, with
    # the static filter of watchpoints, and without it, which a catchpoint with a SIMT stack requires.
    "$lanewise" compile watched.cl --compiler $clang -X -O2 --emit ptx -o - | awk '
        /lw.value total 4 = / { next }
        /lw.value total 4 - [(][)] %r/ { held = $0; next }
        { print }
        /^\t[a-z]/ && held != "" { print held; held = "" }' >late.ptx
    shift 5
    for reconv in cbar stack; do
        "$lanewise" debug late.ptx "$@" --reconv $reconv -b -c 'break watched.cl:8' -c continue -c 'watch total' -c 'delete 1' \
            -c 'catch reconverge' -c continue -c continue -c continue -c continue -c continue -c continue -c continue -c continue >late.out 2>&1
        said=$(sed -n 's/^watchpoint 2: total was written by lane 0 at .*: \([0-9]* -> [0-9]*\)$/\1,/p' late.out | tr -d '\n')
        [ "$said" = '0 -> 1,1 -> 3,3 -> 20,20 -> 102,102 -> 359,' ] || fail "$clang $reconv: the watchpoint reports $said: $(cat late.out)"
    done
done
# clang writes no entry in an inlined call for a variable that has no value there. Debuggers list such a variable, too.
cat >lost.cl <<'END'
struct rgba { uchar r, g, b, a; };
uint mixed(global const uint *in, int i)
{
    struct rgba h = *(global const struct rgba *)(in + i);
    h.r ^= 3;
    return h.r + h.a; /* in the call */
}
kernel void lost(global uint *out, global const uint *in)
{
    int gid = get_global_id(0);
    out[gid] = mixed(in, gid + 3);
}
END
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    set -- lost.cl --compiler $clang -X -O2 --grid 1 --block 4 --arg 'out=u32[4]' --arg 'in=u32[8]:ramp'
    printf '%s\n' 'break lost.cl:5' continue 'info locals' 'print h' 'print sizeof h' >"$work/session"
    serve "$lanewise" run "$@" --gdb 127.0.0.1:0
    session gdb
    server_ends
    expect "a variable without a value in an inlined call, $clang" <<'END'
^h = <optimized out>
^\$1 = <optimized out>
^\$2 = 4
END
    "$lanewise" debug "$@" -b -c 'break lost.cl:5' -c continue -c locals >lost.out 2>&1
    [ "$(grep -c '^h = <optimized out>$' lost.out)" = 1 ] || fail "$clang: locals does not list h: $(cat lost.out)"
done
# clang replaces branches by selections. After such a branch the variable has the right value in lanes that take the branch and
# in the others.
cat >selected.cl <<'END'
kernel void selected(global int *out, int n)
{
    int i = get_local_id(0);
    int b = i * 3;
    if (b > n) b -= n;
    out[i] = b;
    if (b < 4)
        b = 4;
    out[i + 32] = b;
    if (b > 20) {
        b ^= i;
    }
    out[i + 64] = b;
}
END
for clang in clang-14 clang-15 clang-16 clang-19; do
    command -v $clang >/dev/null || continue
    for level in -O1 -O3; do
        "$lanewise" debug selected.cl --compiler $clang -X $level --grid 1 --block 32 --arg 'out=i32[96]' --arg n=5 -b \
            -c 'break selected.cl:6' -c 'break selected.cl:9' -c 'break selected.cl:13' -c continue -c 'lane 1' -c 'p b' -c 'lane 10' -c 'p b' \
            -c continue -c 'lane 1' -c 'p b' -c 'lane 10' -c 'p b' -c continue -c 'lane 1' -c 'p b' -c 'lane 10' -c 'p b' >selected.out 2>&1
        said=$(sed -n 's/^b = //p' selected.out | tr '\n' ' ')
        [ "$said" = '3 25 4 25 4 19 ' ] || fail "$clang $level: b has the values $said: $(cat selected.out)"
    done
done
# The note that says how to see more variables depends on the compiler options.
for keep in '' --values '-g -X -O2'; do
    # shellcheck disable=SC2086
    "$lanewise" debug pieces.cl $keep --grid 1 --block 32 --arg 'out=i32[32]' --arg 'in=i32[128]:ramp' --arg n=4 -b -c locals >more.out 2>&1
    case "$keep$(grep '^some variables are optimized out' more.out)" in
    'some variables are optimized out: compile with --values to see more variables, with -g to see all') ;;
    '--valuessome variables are optimized out: compile with -g and without an option -O to see all variables' | '-g -X -O2some variables are optimized out: compile with -g and without an option -O to see all variables') ;;
    *) fail "locals with '$keep' prints: $(cat more.out)" ;;
    esac
done
# A run without debugger and checks needs no debug values, so clang is not asked to print them. The code is the same.
clang=$(command -v clang-19 || command -v clang-16 || command -v clang-14)
printf '#!/bin/sh\necho "$*" >>args\nexec %s "$@"\n' "$clang" >clang
chmod +x clang
for how in run 'run --check' 'debug -b'; do
    : >args
    # shellcheck disable=SC2086
    "$lanewise" $how pieces.cl --compiler ./clang --grid 1 --block 32 --arg 'out=i32[32]' --arg 'in=i32[128]:ramp' --arg n=4 >out 2>&1 ||
        fail "$how fails: $(cat out)"
    case "$how:$(grep -c -- -print-after args)" in
    run:0 | run\ --check:[1-9]* | debug\ -b:[1-9]*) ;;
    *) fail "$how passes wrong options to clang: $(cat args)" ;;
    esac
done
cat >linked.yaml <<'END'
program: {sources: [pieces.cl, nearby.cl], compiler: ./clang}
buffers: {out: {type: i32, count: 32}, in: {type: i32, count: 128, init: {ramp: {}}}}
steps:
  - launch: {entry: pieces, grid: 1, block: 32, args: [out, in, 4]}
END
for how in run 'run --check'; do
    : >args
    # shellcheck disable=SC2086
    "$lanewise" $how linked.yaml >out 2>&1 || fail "$how fails with two sources: $(cat out)"
    case "$how:$(grep -c -- -print-after args)" in
    run:0 | run\ --check:2) ;;
    *) fail "$how of two sources passes wrong options to clang: $(cat args)" ;;
    esac
done
hashes() { "$lanewise" "$@" --hash --grid 1 --block 32 --arg 'out=i32[32]' --arg 'in=i32[128]:ramp' --arg n=4 | grep hash; }
[ "$(hashes run pieces.cl)" = "$(hashes run pieces.cl --check)" ] || fail "debug values change the results"
# A finding in an optimised kernel names a variable in shared memory, whose address does not change.
cat >unwritten.cl <<'END'
kernel void unwritten(global int *out, int n)
{
    local int tile[32];
    int i = get_local_id(0);
    if (i < n)
        tile[i] = n;
    barrier(CLK_LOCAL_MEM_FENCE);
    int first = tile[31 - i] + n;
    if (first > 3)
        out[i] = first;
}
END
"$lanewise" run unwritten.cl --grid 1 --block 32 --arg 'out=i32[32]' --arg n=3 --check=uninitialised >finding.out 2>&1
grep -q "unwritten.cl:9: uninitialised-branch: .*: shared 'tile\[31\]', declared in line 3, read at .*unwritten.cl:8;" finding.out ||
    fail "no finding names the variable: $(cat finding.out)"
# A finding names an array in local memory and its element, although the memory does not have the array's value at all
# instructions. The address of the array comes from the notes in the PTX. Without notes the finding gives the offset, except with
# clang 14, whose debug sections contain the address, too.
cat >list.cl <<'END'
kernel void list(global int *out, global const int *in, int n)
{
    int list[8];
    int i = get_local_id(0);
    for (int k = 0; k < n; k++)
        list[in[k] & 7] = k;
    int v = list[in[i] & 7];
    if (v > 3)
        out[i] = v;
}
kernel void past(global int *out, global const int *in, int n)
{
    int list[8];
    int i = get_local_id(0);
    for (int k = 0; k < 8; k++)
        list[k] = in[i + k] * 3;
    list[in[i] + n] = 7;
    out[i] = list[n & 7] + list[i & 3];
}
END
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    for level in -O2 -O3; do
        "$lanewise" compile list.cl --compiler $clang -X $level --emit ptx -o list.ptx || fail "$clang $level: compile list.cl"
        grep -v '//lw.value list ' list.ptx >unnoted.ptx
        for source in list.ptx unnoted.ptx; do
            "$lanewise" run $source --entry list --grid 1 --block 32 --arg 'out=i32[32]' --arg 'in=i32[64]:ramp' --arg n=3 \
                --check=uninitialised >$source.out 2>&1
        done
        grep -q "list.cl:8: uninitialised-branch: .*: local 'list\[3\]', declared in line 3, read at .*list.cl:7;" list.ptx.out ||
            fail "$clang $level: no finding names the array: $(cat list.ptx.out)"
        [ $clang = clang-14 ] || grep -q "list.cl:8: uninitialised-branch: .*: local memory at offset 12, read at" unnoted.ptx.out ||
            fail "$clang $level: without notes, no finding names local memory at offset 12: $(cat unnoted.ptx.out)"
        "$lanewise" run list.ptx --entry past --grid 1 --block 32 --arg 'out=i32[32]' --arg 'in=i32[64]:ramp' --arg n=3 \
            --check=memory >past.out 2>&1
        grep -q "list.cl:17: out-of-bounds: .*, and the access is 0 bytes past the end of 'list' (32 bytes, declared in line 13);" past.out ||
            fail "$clang $level: no finding names the array before the access: $(cat past.out)"
    done
done
# If the location expressions of an object refer to the debug address range for expressions themselves, lanewise refuses the
# object or shows no values, but does not crash.
need python3
"$lanewise" compile pieces.cl -o pieces.lwo || fail "compile pieces.cl"
cat >hostile.py <<'END'
import re
data = open("pieces.lwo", "rb").read()
at = data.index(b"LWDBG")
for index in range(12):
    address = (0xfc << 56 | index << 8).to_bytes(8, "little")
    tail, count = re.subn(rb"(?s)\x03.\x00{6}[\xf0\xf2](?=\x94|\x93)", lambda m: b"\x03" + address, data[at:])
    open("hostile%d.lwo" % index, "wb").write(data[:at] + tail)
print(count)
END
[ "$(python3 hostile.py)" -gt 0 ] || fail "pieces.lwo has no expression"
for hostile in hostile*.lwo; do
    "$lanewise" debug "$hostile" --grid 1 --block 32 --arg 'out=i32[32]' --arg 'in=i32[128]:ramp' --arg n=4 \
        -b -c 'break pieces.cl:10' -c continue -c locals -c 'watch p' >hostile.out 2>&1
    [ $? -lt 128 ] || fail "$hostile ends the program by a signal: $(tail -n 2 hostile.out)"
done
# A branch was converted to guarded instructions. Breakpoints with a condition stop there only for lanes that take the branch. No
# lane stops at code of the branch that all lanes execute.
cat >guarded.cl <<'END'
kernel void guarded(global uint *out, global const uint *in, uint n)
{
    uint lid = get_local_id(0);
    uint x = in[lid];
    if (in[lid + 32] == n) {
        uint z = x * 31u;
        out[lid + 32] = z;
        out[lid + 64] = z ^ n;
    }
    out[lid] = x;
}
END
guarded() { # usage: guarded N. Runs the shell with breakpoints on both lines of the branch.
    "$lanewise" debug guarded.cl -X -O2 --grid 1 --block 32 --arg 'out=u32[96]' --arg 'in=u32[64]:ramp' --arg "n=$1" -b \
        -c 'break guarded.cl:6 if x < 40' -c 'break guarded.cl:8 if x < 40' -c continue -c 'print x' -c 'print z' -c continue \
        -c continue >guarded.out 2>&1
}
"$lanewise" compile guarded.cl -X -O2 --emit asm -o - | grep -q '@!*p[0-9] st.global' || fail "guarded.cl has no guarded store"
guarded 45
grep -q '^breakpoint 1, lanes 0x00002000' guarded.out && grep -q '^x = 13$' guarded.out && grep -q '^z = 403$' guarded.out &&
    [ "$(grep -c '^breakpoint [12].*lanes 0x00002000' guarded.out)" = 2 ] ||
        fail "breakpoints in a guarded branch stop in wrong lanes or with wrong values: $(cat guarded.out)"
guarded 3
grep -q '^breakpoint [12],\|^breakpoint [12]:' guarded.out && fail "a stop although no lane takes the branch: $(cat guarded.out)"
grep -q 'all launches have ended' guarded.out || fail "no lane takes the branch, but the run does not end: $(cat guarded.out)"
cat >guarded.yaml <<'END'
program: {source: guarded.cl, options: [-O2]}
buffers: {out: {type: u32, count: 96}, in: {type: u32, count: 64, init: {ramp: {start: 0}}}}
steps:
  - launch: {entry: guarded, grid: [1], block: [32], args: [out, in, 45]}
END
serve "$lanewise" run guarded.yaml --gdb 127.0.0.1:0
printf '%s\n' 'break guarded.cl:8 if x == 12' 'break guarded.cl:8 if x == 13' continue 'print x' continue >"$work/session"
session gdb
expect "a condition in a guarded branch" <<'END'
^Breakpoint 2, guarded
^\$1 = 13
exited normally
END
server_ends
# gdb tests the condition itself after its step over the breakpoint at the previous instruction.
write_halves 1
serve "$lanewise" run halves.yaml --gdb 127.0.0.1:0
printf '%s\n' 'break halves.cl:8 if t == 1' 'break halves.cl:9 if t == 1' continue continue 'print s' continue 'print s' \
    continue >"$work/session"
session gdb
expect "a condition after a step over another breakpoint" <<'END'
^Breakpoint 1\.1, halves
^Breakpoint 2\.1, halves
^\$1 = 2
^Breakpoint 1\.2, halves
^\$2 = 1
exited normally
END
server_ends
grep -q '^Breakpoint 2\.2, ' "$work/transcript" && fail "lane 1 stops at an instruction that it does not execute"
# The writer of a variable in a register is the last instruction that wrote the register, also if the variable's location begins later.
# A variable that is computed when it is read has no writer.
# writer.cl is the first loop of watched.cl, and keeps gid in its register.
{ sed 10q watched.cl; printf '    out[gid + 32] = total + (int)get_local_id(0);\n}\n'; } >writer.cl
for case in 'writer wrote' 'writer origin' 'watched wrote'; do
    "$lanewise" debug "${case% *}.cl" --grid 2 --block 32 --arg 'out=i32[128]' --arg 'in=i32[64]:ramp=100,7' --arg n=4 -b \
        -c "break ${case% *}.cl:8 if gid == 45" -c continue -c "${case#* } gid" >"$case.out" 2>&1
done
grep -q '^gid was written by lane 13 at watched+0x[0-9a-f]* (writer.cl:3)' 'writer wrote.out' || fail "wrote gid: $(cat 'writer wrote.out')"
grep -q 'writer.cl:3' 'writer origin.out' || fail "origin gid: $(cat 'writer origin.out')"
grep -q 'no instruction writes gid: the compiler has optimised the variable out' 'watched wrote.out' ||
    fail "wrote of a computed variable: $(cat 'watched wrote.out')"
for command in wrote origin; do
    "$lanewise" debug halves.yaml -b -c 'break halves.cl:12' -c continue -c "$command t" >register.out 2>&1
    grep -q 'no instruction writes t: it is a special register$' register.out ||
        fail "$command of a special register: $(cat register.out)"
done
# nvcc writes no debug information of variables for optimised code. The message names a compiler that does.
if command -v nvcc >/dev/null; then
    echo '__global__ void k(int *out, int n) { int i = threadIdx.x; if (i * 3 + n > 5) out[i] = i; }' >nvcc.cu
    "$lanewise" debug nvcc.cu --compiler nvcc --grid 1 --block 32 --arg 'out=i32[32]' --arg n=3 -b -c locals >nvcc.out 2>&1
    grep -q 'which keeps values of optimised code' nvcc.out || fail "there is no message about nvcc: $(cat nvcc.out)"
fi
finish
