#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that a run which a signal or a limit ends early reports its findings so far and writes its files.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
command -v python3 >/dev/null || exit 77

# The kernel has a finding at its start, and then a loop of stores that takes longer than the test.
cat >k.cl <<'END'
kernel void k(global volatile int *a, int n)
{
    int i = get_global_id(0), x = i;
    a[i + 60] = 1;
    for (int j = 0; j < n; j++) {
        x = x * 1664525 + 1013904223;
        a[i & 31] = x;
    }
}
END
cat >clean.cl <<'END'
kernel void k(global volatile int *a, int n)
{
    int i = get_global_id(0), x = i;
    for (int j = 0; j < n; j++) {
        x = x * 1664525 + 1013904223;
        a[i] = x;
    }
}
END
launch() {
    cat <<END
program: {source: $1}
buffers: {a: {type: i32, count: 64}}
steps:
  - launch: {entry: k, grid: 2, block: 32, args: [a, $2]}
  - check: {buffer: a, constant: 7}
END
}
launch k.cl 2000000000 >k.yaml
launch clean.cl 2000000000 >clean.yaml

# usage: send.py [-2] SIGNAL COMMAND... . Runs the command, sends it the signal when it has run for a while (twice with -2), and
# prints its exit status
cat >send.py <<'END'
import os, signal, subprocess, sys, time
words = sys.argv[1:]
twice = words[0] == "-2"
words = words[twice:]
number, command = getattr(signal, words[0]), words[1:]
signal.signal(signal.SIGINT, signal.default_int_handler) # the shell starts programs with "&" with SIGINT ignored
run = subprocess.Popen(command, stdin=subprocess.PIPE if "COMMANDS" in os.environ else subprocess.DEVNULL, stdout=open("out", "w"), stderr=open("err", "w"), start_new_session=True)
end = time.time() + 100
caught_at = None
def busy(): # returns True when the program has set its signal handler and then run for a while
    global caught_at
    try:
        status = open("/proc/%d/status" % run.pid).read()
        caught = int(status.split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1
        ticks = sum(map(int, open("/proc/%d/stat" % run.pid).read().split(") ")[1].split()[11:13]))
    except (OSError, IndexError):
        return False
    if caught and caught_at is None:
        caught_at = ticks
    return caught_at is not None and ticks > caught_at + 20
if "COMMANDS" in os.environ:
    run.stdin.write(os.environ["COMMANDS"].encode() + b"\n")
    run.stdin.flush()
while not busy() and run.poll() is None and time.time() < end:
    if "SAYS" in os.environ and os.environ["SAYS"] in open("out").read():
        time.sleep(0.3)
        break
    time.sleep(0.02)
run.send_signal(number)
if twice:
    time.sleep(0.3)
    run.send_signal(number)
try:
    run.wait(60)
except subprocess.TimeoutExpired:
    os.killpg(run.pid, signal.SIGKILL)
    print("did not end")
    sys.exit(99)
print(run.returncode)
END
ended() { # usage: ended STATUS SIGNAL ARGUMENT... . Expects that the signal ends the program with STATUS
    want=$1
    number=$2
    shift 2
    cases=$((cases + 1))
    got=$(python3 send.py "$number" "$lanewise" "$@")
    [ "$got" = "$want" ] || fail "lanewise $*: $number: ended with $got, expected $want"
    grep -q "^interrupted: ended by $number\(, in cycle [1-9][0-9]* of fermi\)*; in kernel k, 0 of 2 blocks have ended" err ||
        fail "lanewise $*: the message about $number is missing"
    [ -n "${SAYS-}" ] || grep -q '^  blocks\{0,1\} 0.* warp 0 lanes 0-31 (at pc 0x[0-9a-f]* (.*:[0-9]*))' err ||
        fail "lanewise $*: the positions of lanes are not printed"
}

# Every report contains the findings and says that a signal has ended the run.
for number in SIGINT SIGTERM; do
    rm -f r.* cov prof st.json dump.bin
    ended -$([ $number = SIGINT ] && echo 2 || echo 15) $number run --check --check-file r.txt --check-file r.json --check-file r.sarif \
        --check-file r.xml --coverage cov --profile prof --stats st.json --dump a=dump.bin -X -g k.yaml
    grep -q 'k.cl:4: out-of-bounds' err || fail "$number: the finding is not reported"
    grep -q 'k.cl:4: out-of-bounds' r.txt && grep -q "^interrupted: ended by $number" r.txt ||
        fail "$number: r.txt lacks the finding or how the run ended"
    python3 - $number <<'END' || fail "$number: a report does not say that a signal ended the run"
import json, os, signal, sys
import xml.etree.ElementTree as ET
name = sys.argv[1]
r = json.load(open("r.json"))
assert r["signal"] == name and name in r["ended"] and r["count"] == 1, r
run = json.load(open("r.sarif"))["runs"][0]
how = run["invocations"][0]
assert how["executionSuccessful"] is False and how["exitSignalName"] == name and len(run["results"]) == 1, how
assert how["exitSignalNumber"] == getattr(signal, name)
suite = ET.parse("r.xml").getroot()[0]
assert suite.get("errors") == "1" and suite.find(".//error").get("type") == "signal"
assert any("out-of-bounds" in f.get("type") for f in suite.iter("failure"))
s = json.load(open("st.json"))
assert s["status"] == "interrupted" and s["signal"] == name and s["findings"] == 1 and "k.cl" in s["ended"], s
assert s["exit_status"] == 128 + getattr(signal, name)
assert os.path.getsize("dump.bin") == 256
END
    grep -q "^TN:ended_by_$number$" cov && grep -q '^DA:7,[1-9]' cov ||
        fail "$number: the coverage lacks how the run ended or line 7"
    grep -q "^interrupted: ended by $number" prof && grep -q 'a\[i & 31\] = x' prof ||
        fail "$number: the profile lacks how the run ended or the source"
    left=$(ls | grep -c '\.[A-Za-z0-9]\{6\}$')
    [ "$left" = 0 ] || fail "$number: a temporary file is left"
done
python3 "$src/tests/check/report_forms.py" r.sarif r.xml >out 2>&1 || fail "a report of a run that was ended has a wrong format"

# The same is tested for other options and commands.
ended -15 SIGTERM run --check=all k.yaml -X -O0
grep -q 'k.cl:4: out-of-bounds' err || fail "at -O0 with all kinds: the finding is not reported"
ended -15 SIGTERM run --threads 2 clean.yaml
ended -2 SIGINT run --timing --check --timing-report t.json --timing-trace trace.json k.yaml
grep -q '"ended": "ended by SIGINT' t.json && grep -q traceEvents trace.json && grep -q 'k.cl:4: out-of-bounds' err ||
    fail "with --timing: the finding, the report or the trace is missing"
ended -15 SIGTERM run --log log.bin --checkpoint c.bin clean.yaml
expect 4 '^limit: ' run --resume c.bin --timeout 0.1 clean.yaml
SAYS="waiting for a debugger" ended -2 SIGINT run --gdb --check --check-file waiting.json k.yaml
grep -q '"signal": "SIGINT"' waiting.json || fail "a run that waits for gdb writes no report"

# A second signal ends the program immediately, also during a host step.
cat >host.yaml <<END
program: {source: clean.cl}
buffers: {a: {type: i32, count: 4000000}, b: {type: i32, count: 4000000}}
steps:
  - {repeat: 10000000, steps: [{copy: {from: a, to: b}}]}
END
cases=$((cases + 1))
got=$(python3 send.py -2 SIGTERM "$lanewise" run host.yaml)
[ "$got" = -15 ] && [ ! -s err ] || fail "a second signal: ended with $got"

# If `lanewise gdb` is ended by a signal, it also ends gdb, which prints no message.
if command -v gdb >/dev/null; then
    mkdir -p tmp
    cases=$((cases + 1))
    got=$(TMPDIR=$work/tmp SAYS=begun python3 send.py SIGTERM "$lanewise" gdb --check --check-file gdb.json k.yaml -- -batch \
        -ex continue -ex 'echo begun\n' -ex continue)
    [ "$got" = -15 ] || fail "lanewise gdb: ended with $got"
    grep -q '"signal": "SIGTERM"' gdb.json && grep -q 'out-of-bounds' gdb.json ||
        fail "lanewise gdb: the report lacks the signal or the finding"
    [ -z "$(ls tmp)" ] || fail "lanewise gdb: the temporary folder is not removed"
fi

# If the program is ended by a signal while a compiler runs, it also ends the compiler, and no file remains.
mkdir -p bin tmp
cat >bin/clang <<'END'
#!/bin/sh
case $* in *--version*) echo "clang version 19.1.0"; exit 0 ;; esac
echo $$ >>pids
sleep 50
END
chmod +x bin/clang
cases=$((cases + 1))
(TMPDIR=$work/tmp timeout -s TERM 2 "$lanewise" run --compiler "$work/bin/clang" --check --check-file never.json clean.yaml >out 2>err)
[ ! -e never.json ] || fail "a run that did not begin wrote a report"
[ -z "$(ls tmp)" ] || fail "the temporary folder of the compiler is not removed"
for pid in $(cat pids); do
    ! kill -0 "$pid" 2>/dev/null || fail "the compiler still runs"
done

# The shell also writes its reports if the signal arrives while a command runs, or while it waits for a command.
for commands in 'continue' 'continue
continue'; do
    cases=$((cases + 1))
    says=out-of-bounds # the last output before the shell waits for a command
    [ "$commands" = continue ] || says='it says nothing more, and runs'
    got=$(COMMANDS=$commands SAYS=$says python3 send.py SIGTERM "$lanewise" debug --check --check-file sh.json k.yaml)
    [ "$got" = -15 ] || fail "debug: ended with $got"
    grep -q '^interrupted by SIGTERM' err && grep -q '"signal": "SIGTERM"' sh.json && grep -q 'out-of-bounds' sh.json ||
        fail "SIGTERM while the shell runs $commands"
    rm -f sh.json
done
# A limit gives exit status 4, the positions of all lanes, and reports.
expect 4 '^limit: 1000 warp instructions were executed (max-instructions 1000), in cycle [1-9][0-9]* of volta; in kernel k' run --timing volta --max-instructions 1000 --check k.yaml
expect 4 '^limit: 1000 warp instructions were executed (max-instructions 1000); in kernel k, 0 of 2 blocks have ended' run \
    --max-instructions 1000 --check --check-file l.json --check-file l.sarif --stats st.json k.yaml
grep -q '^  block 0 warp 0 lanes 0-31 (at pc 0x[0-9a-f]* (.*k.cl:[67]))' err ||
    fail "a limit: the message does not contain the positions of lanes"
grep -q 'k.cl:4: out-of-bounds' err && grep -q '"ended": "limit: 1000 warp' l.json && grep -q '"signal": null' l.json ||
    fail "a limit: the finding is missing, or JSON lacks how the run ended"
grep -q '"executionSuccessful": false' l.sarif && ! grep -q exitSignal l.sarif ||
    fail "a limit: SARIF does not say how the run ended"
grep -q '"toolExecutionNotifications": .*"uri": "k.cl".*"startLine": [67]}}}]}]' l.sarif ||
    fail "a limit: SARIF does not contain the line"
grep -q '"status": "limit"' st.json && grep -q '"exit_status": 4' st.json || fail "a limit: the statistics lack the status"
expect 4 '^limit: .* s have passed (timeout 0.2)' run --timeout 0.2 clean.yaml
expect 4 '^limit: 500 warp' run --max-instructions 500 --timing clean.yaml
launch clean.cl 10 >short.yaml
expect 1 'failed: 1 of 1' run --max-instructions 100000 --timeout 1000 short.yaml
count=$("$lanewise" run --stats - short.yaml 2>/dev/null | sed -n 's/.*"warp_instructions": \([0-9]*\),/\1/p')
expect 1 'failed: 1 of 1' run --max-instructions "$count" short.yaml
expect 4 '^limit: ' run --max-instructions $((count - 1)) short.yaml
# A launch file may set limits, which options override.
{ cat short.yaml; echo 'limits: {instructions: 50, seconds: 100}'; } >limits.yaml
expect 4 '^limit: 50 warp instructions' run limits.yaml
expect 1 'failed: 1 of 1' run --max-instructions 100000 limits.yaml
{ cat short.yaml; echo 'limits: {seconds: 0}'; } >limits.yaml
refuse 'limits.yaml:.*seconds: expected a number above 0' run limits.yaml
{ cat short.yaml; echo 'limits: {second: 1}'; } >limits.yaml
refuse 'second.*did you mean "seconds"' run limits.yaml
refuse 'run: --max-instructions: expected an integer of 1 or more, .*, found "0"' run --max-instructions 0 short.yaml
refuse 'run: --timeout: expected a time above 0' run --timeout 0 short.yaml
refuse 'run: --timeout: expected a time above 0' run --timeout nan short.yaml
expect 2 '--timeout and --gdb' run --timeout 5 --gdb short.yaml

echo "$cases cases, $failures failures"
[ $failures = 0 ]
