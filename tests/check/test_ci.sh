#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the script of docs/howto/ci.md on several launch files, also with suppressed findings, and the commands of that page
# that merge reports.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
export LANEWISE="$lanewise"
cat >k.s <<'END'
.kernel add
.param ptr.global x
    v_s2r v0, %tid.x
    v_setp_u32.lt p1, v0, 8
    @!p1 exit
    v_mov_b64 v4:5, c[x]
    v_mulwide_u32 v6:7, v0, 4
    v_add_u64 v4:5, v4:5, v6:7
    ld.global.b32 v1, [v4:5]
    v_add_u32 v1, v1, 1
    st.global.b32 [v4:5], v1
    exit
.end
END
mkdir tests
launch() { # usage: launch NAME COUNT. Writes launch file NAME with COUNT elements of x
    cat >"$1" <<END
program: {source: ../k.s}
buffers: {x: {type: u32, count: $2, init: {constant: 5}}}
steps:
  - launch: {entry: add, grid: 1, block: 8, args: [x]}
  - check: {buffer: x, constant: 6}
END
}
launch tests/good.yaml 8
launch tests/wild.yaml 5
sed 's/entry: add/entry: ad/' tests/good.yaml >tests/wrong.yaml

# usage: ci STATUS FILE... . Runs the script and expects exit status STATUS
ci() {
    want=$1
    shift
    timeout 120 sh "$src/docs/examples/ci.sh" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ] || fail "ci.sh $*: exit status $got, expected $want"
}
ci 2
ci 0 tests/good.yaml
ci 1 tests/wild.yaml tests/good.yaml
ci 2 tests/wild.yaml tests/wrong.yaml tests/good.yaml
[ "$(grep -c ': status ' out)" = 3 ] || fail "the script does not run all launch files"
ls reports >have
printf '%s\n' tests-good.info tests-good.sarif tests-good.xml tests-good.yaml tests-wild.info tests-wild.sarif tests-wild.xml tests-wild.yaml >want
cmp -s have want || fail "the script wrote other reports: $(cat have)"
printf '#!/bin/sh\nsleep 20\n' >slow && chmod +x slow
LANEWISE=./slow LIMIT=0.2 timeout 60 sh "$src/docs/examples/ci.sh" tests/good.yaml >out 2>err
[ $? = 124 ] || fail "the exit status at the time limit is not 124"
ci 1 tests/good.yaml tests/wild.yaml

# merge the reports of all launch files by the commands of the page
sed -n '/^<!-- tests\/check\/test_ci.sh -->$/,/^$/s/^    //p' "$src/docs/howto/ci.md" >commands
[ "$(wc -l <commands)" = 4 ] || fail "the commands of docs/howto/ci.md are not found"
for tool in sed:1 jq:2 lcov:3 genhtml:4; do
    command -v ${tool%:*} >/dev/null || { echo "${tool%:*} is not installed: its command is not tested"; continue; }
    sed -n "${tool#*:}p" commands | sh >out 2>err ||
        fail "the command of docs/howto/ci.md with ${tool%:*} fails: $(tail -n 1 err)"
done
if command -v python3 >/dev/null; then
    python3 - <<'END' || fail "a merged report has wrong contents"
import json, os, xml.etree.ElementTree as tree
suites = tree.parse("all.xml").getroot().findall("testsuite")
assert [(s.get("name"), s.get("failures")) for s in suites] == [("tests/good.yaml", "0"), ("tests/wild.yaml", "2")]
if os.path.exists("all.sarif"):
    runs = json.load(open("all.sarif"))["runs"]
    assert [len(r["results"]) for r in runs] == [0, 2]
    assert len({r["automationDetails"]["id"] for r in runs}) == 2
if os.path.exists("all.info"):
    rows = open("all.info").read().split("\n")
    assert any(r.startswith("DA:5,16") for r in rows) and any(r.startswith("BRDA:") for r in rows), rows
END
fi

# Suppressed findings do not fail the job. New findings fail it, and the YAML report contains only these.
mkdir known
cp reports/*.yaml known
sed -i '/- check/d' tests/wild.yaml
ci 0 tests/good.yaml tests/wild.yaml
grep -q '2 findings suppressed' out || fail "no findings are suppressed"
grep -q '^- ' reports/*.yaml && fail "a suppressed finding is in the list of new findings"
sed -i '$d' known/tests-wild.yaml
ci 1 tests/good.yaml tests/wild.yaml
[ "$(grep -c '^- ' reports/tests-wild.yaml)" = 1 ] || fail "expected one new finding"
cat reports/tests-wild.yaml >>known/tests-wild.yaml
ci 0 tests/wild.yaml
sed -i 's/^    v_s2r/\n&/' k.s
ci 1 tests/wild.yaml
sed "s/, line: [0-9]*//" known/tests-wild.yaml >rows
mv rows known/tests-wild.yaml
ci 0 tests/wild.yaml
[ $failures = 0 ]
