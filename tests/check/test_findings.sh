#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that the shell and gdb stop at findings. Each finding must stop the run once, even after steps backwards and
# forwards. The list at the end must be equal to the list of a run without a debugger. The user can select the kinds that
# stop. After a value was changed in the past, checks that depend on history must be disabled.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

cat >k.cl <<'E2'
kernel void k(global int *o, global int *a, global int *never, int n)
{
    local int s[64];
    int i = get_local_id(0);

    s[i] = a[i];
    o[i] = s[i ^ 32]; /* a race with line 6 */
    if (i == 63)
        o[i + n] = 1; /* out of bounds */
    if (never[i] == 3) /* a branch on an uninitialised value */
        o[i] = 2;
}
kernel void after(global int *o) { o[get_local_id(0) + 40] = 1; }
E2
"$lanewise" compile -X -O0 -X -g -o k.lwo k.cl 2>err || { fail "k.cl does not compile"; exit 1; }
cat >k.yaml <<'E2'
program: {source: k.lwo}
buffers:
  o: {type: i32, count: 64, init: {constant: 0}}
  a: {type: i32, count: 64, init: {ramp: {start: 0, step: 1}}}
  never: {type: i32, count: 64}
steps:
  - launch: {entry: k, grid: 1, block: 64, args: [o, a, never, 1]}
  - launch: {entry: after, grid: 1, block: 64, args: [o]}
E2
kinds=memory,races,uninitialised

# usage: shell WHAT WANTED-STATUS OPTION... -- COMMAND... . Runs a session with these commands and checks its exit status
shell() {
    what=$1
    wanted=$2
    shift 2
    options=
    while [ "$1" != -- ]; do options="$options $1"; shift; done
    shift
    : >script
    for command in "$@"; do echo "$command" >>script; done
    # shellcheck disable=SC2086
    timeout 60 "$lanewise" debug $options k.yaml --batch -x script >out 2>err </dev/null
    got=$?
    [ $got = "$wanted" ] || fail "$what: exit status $got, expected $wanted"
}
stops() {
    [ "$(grep -c '^finding [0-9]*: ' out)" = "$1" ] || fail "$what: $(grep -c '^finding' out) stops, expected $1"
}
same() {
    tail -n "$(wc -l <list)" err | cmp -s - list || fail "$what: the list differs from that of a run without a debugger"
}

"$lanewise" run -q --check=$kinds k.yaml >out 2>list
[ $? = 1 ] || fail "run without a debugger: expected exit status 1"
tail -n 1 list | grep -q '^k.yaml: 4 findings$' || fail "run without a debugger: expected 4 findings"

shell plain 1 --check=$kinds -- c c c c c
stops 4
same
grep -q 'k.cl:6: race: .*lanes 0xffffffff, .*previous access at .*k.cl:7' out ||
    fail "the race is not reported with all of its lanes"
grep -A 1 'k.cl:9: out-of-bounds' out | grep -q '^block(0,0,0) w1 lane 31 at k+' ||
    fail "the focus is not on the lane of the finding"
# The run must stop before the instruction with the finding and show the line of this instruction, also if the warp ends at
# it or the next instruction has another line.
sed -n 's/^finding [0-9]*: [^ ]*k.cl:\([0-9]*\): .*/\1/p' out >lines
grep -A 1 '^finding' out | sed -n 's/^block.* at .*(k.cl:\([0-9]*\))$/\1/p' | cmp -s - lines || fail "a stop shows another line"
shell back 1 --check=$kinds -- c rsi rs 'goto end' c rc stepi c 'goto start' 'goto end' c rsi rsi c c c
[ "$(sed -n 's/^finding \([0-9]*\): .*/\1/p' out | sort -u | wc -l)" = 4 ] || fail "back: not all findings are reported"
same
# In the past the run stops at findings again, in both directions, in order and at their lines. If a stoppoint comes before a
# finding, the run stops at the stoppoint first.
shell again 1 --check=$kinds -- c c c c rc rc rc rc c c c c rc 'break 8' rc c c c
[ "$(sed -n 's/^finding \([0-9]*\): .*/\1/p' out | tr -d '\n')" = 12343211234334 ] ||
    fail "again: the run stops at other findings, or in another order"
same
# Steps over several lines stop at findings, too.
shell walk 1 --check=$kinds -- c 'goto start' 'next 9' 'print pc' 'next' c c c c
[ "$(grep -c '^finding 1: ' out)" = 2 ] || fail "walk: a step does not stop at a finding that was already reported"
same
# The run does not stop at findings of kinds that are no longer selected.
shell quiet 1 --check=$kinds -- c c 'check off' rc c
[ "$(grep -c '^finding' out)" = 2 ] && grep -q '^this is the start of history' out ||
    fail "quiet: after 'check off' the run stops at a finding"
same
shell steps 1 --check=$kinds -- c next next c c c
tail -n 1 err | grep -q '^k.yaml: 4 findings$' || fail "steps: the number of findings differs" # the warps run in another order
shell where 1 --check=$kinds -- c c c 'findings 3' 'table findings' c c
stops 4
at=$(sed -n 's/^3  .*out-of-bounds.*`goto \([0-9]*\)` goes back to just before it$/\1/p' out)
grep -q "^3 *out-of-bounds *1 *$at *.*k.cl:9 " out || fail "the table of findings lacks a row"
shell goto 1 -- "goto 0" 'check memory' c "goto $at" 'print pc' 'quit 0'
grep -q 'k.cl:9' out || fail "\`goto\` does not go to the position before the finding"
shell off 1 --check=$kinds -- 'check off' c
stops 0
same
shell some 1 --check=$kinds -- 'check races' c c
stops 1
same
shell late 3 -- c
grep -q '^fault: out-of-bounds' out || fail "expected a fault without --check"
shell late 1 -- c 'check memory' c c c
stops 2 # the run continues from the fault
grep -q '^these checks are not enabled, because they need the option --check at the start of a run: variable-bounds$' out || fail "the kinds that are not enabled are not named"
shell named 2 -- stepi 'check memory,variable-bounds'
grep -q 'variable-bounds can be enabled only at the start of a run' err ||
    fail "a kind that cannot be enabled after the start is not refused"
shell refused 2 -- stepi 'check races'
grep -q 'race can be enabled only at the start of a run' err || fail "races are not refused after the start of the run"
shell changed 1 --check=$kinds -- c 'goto 5' 'set v0 = 0' c c c
grep -q '^a value was changed in the past, so that the checks that depend on history' out || fail "no message about the changed past"
grep -q '^finding.*race' out && fail "a race is reported although history was changed"

for timing in '--timing' '--replay k.log'; do
    [ "$timing" = --timing ] || "$lanewise" run -q --check=$kinds --log k.log k.yaml >out 2>err
    # shellcheck disable=SC2086
    "$lanewise" run -q --check=$kinds $timing k.yaml >out 2>err
    [ $? = 1 ] || fail "run $timing: expected exit status 1"
    what=$timing
    [ "$timing" = --timing ] || same
    cp err timed
    shell "$timing" 1 --check=$kinds $timing -- c c c c c
    stops 4
    tail -n "$(wc -l <timed)" err | cmp -s - timed || fail "$timing: the list differs from that of a run without a debugger"
done

# In gdb the run stops with a signal and a message. The table of findings and the list at the end have the same findings.
command -v gdb >/dev/null || fail "gdb is not installed"
HOME=$work "$lanewise" gdb --check=$kinds k.yaml -- -nx -batch -ex 'set width 0' -ex c -ex 'info os findings' -ex c \
    -ex reverse-stepi -ex stepi -ex 'handle SIGUSR1 nostop noprint' -ex 'monitor check off' -ex c >out 2>err </dev/null
[ $? = 1 ] || fail "gdb: expected exit status 1"
what=gdb
same
[ "$(sed -n 's/^Thread \([12]\) .* received signal SIGUSR1.*/\1/p' out | tr -d '\n')" = 122 ] ||
    fail "gdb: expected SIGUSR1 in threads 1, 2 and 2"
grep -q '^1 *uninitialised-branch *[0-9]* *[0-9]* *.*k.cl:10' out || fail "gdb: the table of findings lacks finding 1"
[ "$(cat out err | grep -c '^finding [0-9]*: ')" = 3 ] || fail "gdb: expected three messages"
HOME=$work "$lanewise" gdb --check=$kinds k.yaml -- -nx -batch -ex 'set width 0' -ex c -ex c -ex reverse-continue -ex reverse-continue \
    -ex c -ex c -ex c >out 2>err </dev/null
[ "$(sed -n 's/^finding \([0-9]*\): .*/\1/p' out err | tr -d '\n')" = 121123 ] ||
    fail "gdb: expected findings 1, 2, 1, 1, 2, 3 in forward and reverse execution"
[ "$(sed -n 's/.* in k (.* at .*k.cl:\([0-9]*\)$/\1/p' out | tr '\n' ' ')" = '10 6 10 10 6 9 ' ] || fail "gdb: a stop shows another line"
grep -q 'No more reverse-execution history' out err || fail "gdb: reverse execution does not reach the start of history"
HOME=$work "$lanewise" gdb --check=memory k.yaml -- -nx -batch -ex c -ex run -ex c -ex c -ex c >out 2>err </dev/null
[ $? = 1 ] || fail "gdb run: the exit status is not 1"
[ "$(cat out err | grep -c '^finding 1: .*k.cl:9: out-of-bounds')" = 2 ] ||
    fail "gdb run: the finding is not reported again after \`run\`"
tail -n 1 err | grep -q '^k.yaml: 2 findings$' || fail "gdb run: wrong list at the end"
# A finding at which the run did not stop has no timestamp, and must not get the timestamp of the next stop.
cat >quiet.cl <<'E2'
kernel void k(global int *o, global int *a, int n)
{
    local int s[64];
    int i = get_local_id(0);
    s[i] = a[i];
    o[i] = s[i ^ 32];
    if (i == 63)
        o[i + n] = 1;
}
E2
"$lanewise" compile -X -O0 -X -g -o quiet.lwo quiet.cl 2>err || fail "quiet.cl does not compile"
cat >quiet.yaml <<'E2'
program: {source: quiet.lwo}
buffers: {o: {type: i32, count: 64, init: 0}, a: {type: i32, count: 64, init: 0}}
steps:
  - launch: {entry: k, grid: 1, block: 64, args: [o, a, 1]}
E2
printf 'check out-of-bounds\ncontinue\nfindings\n' | "$lanewise" debug --check=memory,races quiet.yaml >out 2>err
grep -q '^1  .*race: .*times$' out && grep -q '^2  .*out-of-bounds: .*`goto [0-9]*` goes back to just before it$' out ||
    fail "the table of findings lacks the race, or the instruction of out-of-bounds: $(cat out)"
# If the user inspects blocks that have not started, the findings do not change, neither of a correct kernel nor of kernels
# with races.
cat >right.cl <<'E2'
__kernel void pairs(__global const int *in, __global int *out)
{
    __local int buf[128];
    int l = get_local_id(0);
    buf[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = buf[(l + 64) % 128];
}
E2
cat >two.cl <<'E2'
__kernel void pairs(__global const int *in, __global int *out)
{
    __local int buf[128];
    int l = get_local_id(0), r = 0;
    if (get_group_id(0) == 0) {
        buf[l] = in[l];
        r = buf[(l + 64) % 128];
    } else if (get_group_id(0) == 2) {
        buf[l] = in[l] + 1;
        r = buf[(l + 64) % 128];
    }
    out[get_global_id(0)] = r;
}
E2
looked() { # usage: looked KERNEL COMMANDS. Prints the races that a session with these commands finds
    printf "$2"'continue\ncontinue\ncontinue\nfindings\n' | "$lanewise" debug -g "$1" --grid 3 --block 128 \
        --arg 'in=s32[384]:ramp' --arg 'out=s32[384]' --check=races 2>err | sed -n 's/^[0-9]* .*:\([0-9]*\): race.*/\1/p' | tr '\n' ' '
}
# A reverse search must also stop at a finding in this warp that an instruction of another warp caused, at a barrier.
cat >part.cu <<'E2'
extern "C" __global__ void part(int *out, int k)
{
    if ((int)threadIdx.x < k)
        __syncthreads();
    out[threadIdx.x] = k;
}
E2
printf '%s\n' continue stepi stepi reverse-continue reverse-continue |
    "$lanewise" debug -g part.cu --grid 1 --block 64 --arg 's32[64]' --arg 5 --check >out 2>err
[ "$(grep -c '^finding 1: .*part.cu:4: barrier-divergence: ' out)" = 2 ] && grep -q '^this is the start of history' out && ! grep -q '^error' out err ||
    fail "reverse-continue does not stop at the finding of a barrier"
for look in '' 'block 1\nlocals\n' 'block 2\nwhere\nblock 0\n' 'continue\nblock 2\nlocals\nblock 1\nlocals\n'; do
    [ -z "$(looked right.cl "$look")" ] ||
        fail "right.cl: expected no finding after the commands $look: $(looked right.cl "$look")"
    [ "$(looked two.cl "$look")" = '6 9 ' ] ||
        fail "two.cl: expected findings in lines 6 and 9 after the commands $look: $(looked two.cl "$look")"
done
[ $failures = 0 ]
