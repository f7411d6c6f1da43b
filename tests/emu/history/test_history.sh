#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests schedule logs from the command line. Replays of all kernels, and of sessions of a debugger, must have the same
# hashes as the recorded run. A log that does not match the program must be refused with a message.
set -u
src=$(cd "${srcdir:-.}" && pwd)
lanewise=${LANEWISE:-$(pwd)/lanewise}
case $lanewise in /*) ;; *) lanewise=$(pwd)/$lanewise ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$src/tests/lib/compile_once.sh"
failures=0

fail() {
    echo "FAIL: $*"
    head -n 5 "$work/out" "$work/err" 2>/dev/null | sed 's/^/    /'
    failures=$((failures + 1))
}
# usage: ok WHAT ARGUMENT... . Runs lanewise and expects exit status 0. Writes the output without times to $work/out
ok() {
    what=$1
    shift
    "$lanewise" "$@" >"$work/raw" 2>"$work/err" </dev/null || fail "$what: the command fails"
    sed 's/, [0-9.]* s$//' "$work/raw" >"$work/out"
}
# usage: refused WORDS ARGUMENT... . Expects exit status 2 and one message that contains WORDS
refused() {
    words=$1
    shift
    "$lanewise" "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = 2 ] || fail "not refused: $*"
    grep -q -- "$words" "$work/err" || fail "$*: expected the message '$words'"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "the message is not one line: $*"
}

sh "$src/kernels/prepare" "$work/k" || exit 1
cd "$work/k" || exit 1
for launch in *.yaml; do
    ok "$launch" run "$launch" --hash --log "$work/log"
    cp "$work/out" "$work/first"
    ok "$launch, replayed" run "$launch" --hash --replay "$work/log"
    cmp -s "$work/first" "$work/out" || fail "$launch: the replay has other output"
    [ "$(wc -c <"$work/log")" -lt 100000 ] || fail "$launch: its log has $(wc -c <"$work/log") bytes"
done

# Steps of single warps, and an edit, change the schedule. The kernel observes the schedule by clocks. The replay must have the
# changed schedule.
cat >order.s <<'END'
.kernel order
.param ptr.global c
    v_s2r v0, %tid.x
    v_mov_b64 v2:3, c[c]
    v_madwide_u32 v2:3, v0, 4, v2:3
    v_s2r v1, %clock
    v_add_u32 v1, v1, v4
    st.global.b32 [v2:3], v1
    bar.sync 0
    exit
.end
END
cat >order.yaml <<'END'
program: {source: order.s}
buffers: {c: {type: u32, count: 128}}
steps:
  - launch: {entry: order, grid: [1], block: [128], args: [c]}
END
cat >"$work/session" <<'END'
stepi 2
warp 2
stepi 3
set v4 = 1234
break *0x100000050
continue
stepi
delete 1
warp 1
stepi
continue
END
ok "a session" debug order.yaml --log "$work/log" --batch -x "$work/session"
ok "the session replayed" run order.yaml --replay "$work/log" --dump c=c1
ok "the session replayed in the shell" debug order.yaml --replay "$work/log" --batch -c continue
ok "a plain run" run order.yaml --log "$work/log2" --dump c=c2
cmp -s c1 c2 && fail "the steps and the edit did not change the results"
ok "it replayed" run order.yaml --replay "$work/log2" --dump c=c3
cmp -s c2 c3 || fail "the replay of a plain run differs"

# A session with reverse execution writes the same log as a session without it.
cat >"$work/back" <<'END'
stepi 3
reverse-stepi 2
continue
goto 7
stepi
goto end
END
ok "a session that goes back" debug order.yaml --log "$work/log3" --batch -x "$work/back"
grep -q '^goto\|^error' "$work/out" && fail "a command of the session with reverse execution fails: $(cat "$work/out")"
ok "its log" run order.yaml --replay "$work/log3" --dump c=c4
cat >"$work/steps" <<'END'
stepi 3
continue
END
ok "one that does not" debug order.yaml --log "$work/log4" --batch -x "$work/steps"
cmp -s "$work/log3" "$work/log4" || fail "reverse execution has changed the schedule"
ok "another future" debug order.yaml --log "$work/log5" --batch -c continue -c 'goto 2' \
    -c 'set v4 = 100000' -c continue
grep -q '^a value was changed in the past: history after instruction 2 was deleted' "$work/out" ||
    fail "no message that the past was changed"
ok "its log" run order.yaml --replay "$work/log5" --dump c=c5
cmp -s c4 c5 && fail "the change in the past did not change the results"
ok "back in a replay" debug order.yaml --replay "$work/log" --batch -c continue -c 'goto 7' \
    -c 'reverse-stepi' -c continue
refused 'add --gdb, or use "lanewise debug"' run order.yaml --history 16
refused 'expected an integer from 0 to 1048576, found "much"' debug order.yaml --history much
# If the recorded run has not executed the next instruction of a lane, a step of the lane first goes to the end of history.
cat >"$work/steps" <<'END'
stepi
reverse-stepi
focus 2
stepi
assert $retired == 1
focus 1
assert $retired == 1
END
ok "a step after the end of the record" debug order.yaml --batch -x "$work/steps"
grep -q 'other lanes and warps ran' "$work/out" && fail "other warps ran although the lane waits for no other lane"
# A step in the past follows the recorded schedule. A message says that other lanes ran, and shows their position.
ok "a step of a warp after steps of other warps" debug order.yaml --batch -c continue -c 'goto 2' -c stepi -c 'warp 2' \
    -c stepi -c stepi
[ "$(grep '^the step was replayed as recorded: ' "$work/out")" = "the step was replayed as recorded: other lanes and warps executed 11 instructions; \
w0 is at order+0x70 (order.s:10); w1 is at order+0x70 (order.s:10)" ] ||
    fail "the step does not print once what other warps ran: $(grep '^replayed' "$work/out")"
ok "the same in a replay" debug order.yaml --replay "$work/log2" --batch -c 'warp 2' -c stepi
[ "$(grep '^the step was replayed as recorded: ' "$work/out")" = "the step was replayed as recorded: other lanes and warps executed 14 instructions; \
w0 is at order+0x70 (order.s:10); w1 is at order+0x70 (order.s:10)" ] ||
    fail "the step of a replay does not print what other warps ran: $(grep '^replayed' "$work/out")"
ok "a step of a line in the past" debug order.yaml --batch -c continue -c 'goto 7' -c 'warp 1' -c next
grep -q '^replayed: ' "$work/out" && fail "a message says that other warps ran, but none did"
ok "no history" debug order.yaml --history 0 --batch -c stepi
refused 'no history is recorded' debug order.yaml --history 0 --batch -c stepi -c reverse-stepi

refused 'option warp=32, but in this run the option is 64' run order.yaml --replay "$work/log" --warp 64
refused 'does not match this run' run collatz_asm.yaml --replay "$work/log"
refused 'give one of them' run vadd_asm.yaml --replay "$work/log" --log "$work/log2"
refused 'is not a schedule log' run vadd_asm.yaml --replay vadd.s
refused 'none/such' run vadd_asm.yaml --replay none/such
refused 'none/such' run vadd_asm.yaml -q --log none/such
head -c 50 "$work/log" >"$work/short"
refused 'damaged' run vadd_asm.yaml --replay "$work/short"

[ $failures = 0 ] || exit 1
