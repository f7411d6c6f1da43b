#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that SARIF and JUnit reports have the formats that tests/check/report_forms.py and tests/check/junit.xsd define, for
# findings of all kinds.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
command -v python3 >/dev/null || exit 77

cat >all.cl <<'END'
static inline void add(local int *s) { s[0] += 1; }
static inline void twice(local int *s) { add(s); }
kernel void k(global int *a, global int *never, int n)
{
    local int s[4], t[32];
    int i = get_local_id(0);
    twice(s);                  /* a race of a location with itself, in two calls */
    t[i & 31] = i;             /* a race of a location with itself, without calls */
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = s[0] + t[i & 31] + 8 / n;
    a[i + 100] = 1 << (i + n);
    if (never[i & 31] == 3)
        a[i] = 1;
}
END
cp all.cl 'größe "k" <x>&.cl'
for source in all.cl 'größe "k" <x>&.cl'; do
    sed 's/"/\\"/g' >k.yaml <<END
program: {source: '$source'}
buffers: {a: {type: i32, count: 64, init: {constant: 0}}, never: {type: i32, count: 64}}
steps:
  - launch: {entry: k, grid: 1, block: 64, args: [a, never, 0]}
  - check: {buffer: a, constant: 7}
  - check: {buffer: a, constant: 7}
END
    sed -i 's/\\"/"/g' k.yaml
    echo "- {kind: race}" >known.yaml
    n=0
    for more in --check=all --check=memory "--check=all --max-findings 2" "--check=all --check-suppress known.yaml" \
        "--check=memory,arithmetic"; do
        n=$((n + 1))
        # shellcheck disable=SC2086
        timeout 120 "$lanewise" run -q $more --check-file $n.sarif --check-file $n.xml k.yaml >out 2>err </dev/null
        [ $? = 1 ] || fail "$source $more: expected exit status 1"
    done
    # With the list of all findings as suppression list, a run on another host has no finding. A new finding is reported.
    timeout 120 "$lanewise" run -q --check=all --check-file base.yaml --check-file base.json k.yaml >out 2>err </dev/null
    mkdir -p moved
    cp "$source" k.yaml base.yaml moved
    for more in 0 1; do
        [ $more = 0 ] || sed -i '/kind: race,/d' moved/base.yaml
        (cd moved && timeout 120 "$lanewise" run --check=all --check-suppress base.yaml --check-file now.json k.yaml \
            >../out 2>../err </dev/null)
        python3 - $more <<'END' || fail "$source: the list suppresses other findings than those reported ($more)"
import json, sys
then, now = json.load(open("base.json")), json.load(open("moved/now.json"))
races = sum(f["kind"] == "race" for f in then["findings"])
assert races and now["count"] == races * int(sys.argv[1])
assert now["count"] + now["suppressed"] == then["count"] == len(then["findings"])
END
        grep -q 'no finding of this run' err && fail "$source: a row of the list matches no finding"
    done
    python3 "$src/tests/check/report_forms.py" ./*.sarif ./*.xml >out 2>&1 || fail "$source: a report does not have its format"
    if command -v xmllint >/dev/null; then
        xmllint --noout --schema "$src/tests/check/junit.xsd" ./*.xml >out 2>&1 ||
            fail "$source: a report does not have the format of tests/check/junit.xsd"
    fi
done
grep -q relatedLocations 1.sarif && grep -q suppressions 4.sarif ||
    fail "the reports contain no related locations or no suppressions"
for f in 3.sarif 3.xml; do
    grep -q 'findings above the limit were dropped (occurrences, counted by lane: [0-9]*); a larger --max-findings keeps them' $f || fail "$f: the report does not say that findings were dropped"
done
! grep -q 'were dropped' 1.sarif || fail "findings were dropped without --max-findings"
grep -q '"message": {"text": "the other access"}' 1.sarif || fail "the previous access of a race has no message"

# Reports say how the run ended, regardless of the enabled kinds.
cat >end.cu <<'END'
extern "C" __global__ void stray(int *a) { a[threadIdx.x + 4096] = 1; }
extern "C" __global__ void traps(int *a) { if (a[0] == 0) __trap(); }
extern "C" __global__ void waits(volatile int *a) { while (a[0] == 0) { } a[1] = 2; }
END
for entry in stray traps waits; do
    cat >end.yaml <<END
machine: {hang_window: 20000}
program: {source: end.cu}
buffers: {a: {type: i32, count: 64}}
steps:
  - launch: {entry: $entry, grid: 1, block: 32, args: [a]}
  - check: {buffer: a, constant: 0}
END
    timeout 120 "$lanewise" run -q --check=races --check-file e.sarif --check-file e.xml --check-file e.json --check-file e.txt end.yaml >out 2>err </dev/null
    status=$?
    case $entry in
    stray) [ $status = 3 ] && grep -q '<failure type="out-of-bounds"' e.xml && grep -q '"ended": "fault: .*out-of-bounds' e.json &&
        grep -q 'out-of-bounds' e.txt && grep -q '"ruleId": "out-of-bounds"' e.sarif ;;
    traps) [ $status = 3 ] && grep -q '<error type="trap"' e.xml && grep -q ' errors="1"' e.xml && grep -q '"ended": "fault: .*trap' e.json && grep -q trap e.txt ;;
    waits) [ $status = 4 ] && grep -q '<failure type="spin-wait"' e.xml && grep -q '"ended": "hang: ' e.json && grep -q '"ruleId": "spin-wait"' e.sarif ;;
    esac || fail "$entry: wrong report files, or exit status $status: $(cat e.txt err)"
    grep -q '"executionSuccessful": false, "toolExecutionNotifications"' e.sarif ||
        fail "$entry: SARIF says that the run succeeded"
    # the run has not reached the check step
    grep -q ' skipped="1"' e.xml && grep -A 1 'classname="check" name="end.yaml:[0-9]*"' e.xml | grep -q '<skipped message=' ||
        fail "$entry: the check step after it is not skipped"
    grep -q '"passed": null, "message": "the run ended before this check"' e.json || fail "$entry: JSON does not contain the check step after it"
    python3 "$src/tests/check/report_forms.py" e.sarif e.xml >out 2>&1 || fail "$entry: a file does not have its format: $(cat out)"
    ! command -v xmllint >/dev/null || xmllint --noout --schema "$src/tests/check/junit.xsd" e.xml >out 2>&1 || fail "$entry: not in the format of tests/check/junit.xsd"
done
# This also holds if the kind is suppressed: a report must not show an aborted run as passed.
for entry in stray waits; do
    sed "s/entry: traps/entry: $entry/; s/entry: waits/entry: $entry/; s/entry: stray/entry: $entry/" end.yaml >known-end.yaml
    printf -- '- {kind: spin-wait}\n- {kind: out-of-bounds}\n- {kind: race, kernel: nobody}\n' >known.yaml
    timeout 120 "$lanewise" run -q --check=races --check-suppress known.yaml --check-file e.sarif --check-file e.xml --check-file e.json \
        --check-file e.txt known-end.yaml >out 2>err </dev/null
    status=$?
    case $entry in
    stray) [ $status = 3 ] && grep -q '<error type="out-of-bounds"' e.xml ;;
    waits) [ $status = 4 ] && grep -q '<error type="spin-wait"' e.xml ;;
    esac && grep -q ' failures="0" errors="1"' e.xml && [ "$(wc -l <e.txt)" = 2 ] && grep -q '0 findings, 1 suppressed' e.txt ||
        fail "$entry, suppressed: wrong report files, or exit status $status: $(cat e.txt err)"
    python3 "$src/tests/check/report_forms.py" e.sarif e.xml >out 2>&1 ||
        fail "suppressed $entry: a report does not have its format: $(cat out)"
done

grep -q ' skipped="0"' 1.xml || fail "a check was skipped"
grep -q '"executionSuccessful": true' 1.sarif || fail "SARIF says that a completed run failed"

# If a run could not start, the report of an earlier run is removed.
sed 's/__trap();/__trap()/' end.cu >broken.cu
sed 's/end.cu/broken.cu/' end.yaml >broken.yaml
timeout 120 "$lanewise" run -q --check --check-file e.xml broken.yaml >out 2>err </dev/null
[ $? = 2 ] && [ ! -e e.xml ] || fail "an old report is not removed"

# Names of files are relative to the current folder, relative to another folder, or unchanged.
mkdir -p src/deep
cp end.cu src/deep/far.cu
sed 's/end.cu/far.cu/; s/waits/stray/' end.yaml >src/deep/far.yaml
named() { # usage: named WANTED-SARIF WANTED-REST OPTION... . Expects these file names in SARIF and in the other reports
    wanted=$1
    rest=$2
    shift 2
    timeout 120 "$lanewise" run -q --check --check-file b.sarif --check-file b.xml --check-file b.json "$@" src/deep/far.yaml >out 2>err </dev/null
    [ $? = 1 ] || fail "far.yaml $*: expected exit status 1: $(cat err)"
    grep -q "\"artifactLocation\": {$wanted}" b.sarif && grep -q "name=\"out-of-bounds in stray at $rest:1\"" b.xml &&
        grep -q "\"file\": \"$rest\"" b.json || fail "$*: files are not named $rest"
    python3 "$src/tests/check/report_forms.py" b.sarif b.xml >out 2>&1 ||
        fail "named $*: a report does not have its format: $(cat out)"
}
here=$(pwd -P)
named '"uri": "src/deep/far.cu", "uriBaseId": "%SRCROOT%"' src/deep/far.cu
grep -q "\"originalUriBaseIds\": {\"%SRCROOT%\": {\"uri\": \"file://$here/\"}}" b.sarif ||
    fail "SARIF does not contain the root folder"
named '"uri": "deep/far.cu", "uriBaseId": "%SRCROOT%"' deep/far.cu --check-base src
named "\"uri\": \"file://$here/src/deep/far.cu\"" "$here/src/deep/far.cu" --check-base ''
! grep -q uriBaseId b.sarif || fail "SARIF has a base folder without --check-base"
"$lanewise" run --check --check-file b.xml --check-base none src/deep/far.yaml >out 2>err </dev/null
[ $? = 2 ] && grep -q -e '--check-base: none does not exist or is not a folder' err ||
    fail "a base folder that does not exist is not refused: $(cat err)"
"$lanewise" run --check --check-base src src/deep/far.yaml >out 2>err </dev/null
[ $? = 2 ] && grep -q -e '--check-base has no effect without a report' err ||
    fail "--check-base without a report is not refused: $(cat err)"

# Paths contain no "." and "..", also in messages and for headers, and each file has one path.
mkdir -p inc tests 'root/src'
cat >src/dots.cl <<'END'
#include "put.h"
kernel void dots(global int *a)
{
    local int s[64];
    int i = get_local_id(0);
    s[i] = i;
    put(a, s[63 - i], i);
}
END
echo 'static inline void put(global int *a, int x, int i) { a[i / 2] = x; }' >inc/put.h
cat >tests/dots.yaml <<'END'
program: {source: .././src//dots.cl, options: [-I../inc]}
buffers: {a: {type: i32, count: 64}}
steps:
  - launch: {entry: dots, grid: 1, block: 64, args: [a]}
  - check: {buffer: a, constant: 7}
END
sed 's#program.*#program: {source: ../src/dots.cl, options: [-I../inc]}#' tests/dots.yaml >src/dots.yaml
"$lanewise" run -q --check=races --check-file d.sarif --check-file d.xml --check-file d.json --check-file d.txt --check-file d.yaml tests/dots.yaml >out 2>err </dev/null
[ $? = 1 ] || fail "dots.yaml: expected exit status 1: $(cat err)"
! grep -e '\.\./' d.sarif d.xml d.json d.txt d.yaml >out || fail "a path contains '..': $(cat out)"
! grep "$here" d.xml d.json d.yaml d.txt err >out || fail "a path is absolute: $(cat out)"
[ "$(grep -c "$here" d.sarif)" = 1 ] || fail "SARIF: another path than that of the root is absolute"
grep -q '"file": "inc/put.h"' d.json && grep -q '"file": "src/dots.cl"' d.json && grep -q "^src/dots.cl:6: race" d.txt ||
    fail "dots: paths of files are wrong: $(cat d.txt)"
grep -q '"automationDetails": {"id": "lanewise/tests/dots.yaml/"}' d.sarif || fail "SARIF has no category"
"$lanewise" run -q --check=races --check-file e.json src/dots.yaml >out 2>err </dev/null
[ "$(grep -o '"file": "[^"]*", "line": [0-9]*, "pc"' d.json)" = "$(grep -o '"file": "[^"]*", "line": [0-9]*, "pc"' e.json)" ] ||
    fail "reports contain two paths of one file"
# With --check-base paths are relative to another folder, also the path of the launch file and paths in messages.
(cd src && "$lanewise" run -q --check=races --check-base .. --check-file ../e.xml --check-file ../e.sarif ./dots.yaml >out 2>err </dev/null)
grep -q 'classname="check" name="src/dots.yaml:5"' e.xml && grep -q '"uri": "src/dots.yaml", "uriBaseId": "%SRCROOT%"' e.sarif &&
    grep -q 'race in dots at src/dots.cl:6"' e.xml && ! grep -q "$here" e.xml || fail "the base is not applied to the launch file"
# If a folder is a symbolic link, ".." after it is not the folder that contains the link.
mkdir -p far/away && cp inc/put.h far/put.h && ln -sf far/away link
sed 's#-I../inc#-I../link/..#' tests/dots.yaml >tests/link.yaml
"$lanewise" run -q --check=races --check-file e.json tests/link.yaml >out 2>err </dev/null
! grep -q '"file": "put.h"' e.json || fail "a path through a link names another file: $(cat e.json)"

(cd tests && "$lanewise" run -q --check=races --check-base .. --check-file ../e.json link.yaml >out 2>err </dev/null)
! grep -q '"file": "put.h"' e.json || fail "with --check-base: a path through a link names another file: $(cat e.json)"
# Sources may be compiled with relative paths.
mkdir -p job other/deep && cp inc/put.h job/put.h && cp inc/put.h other/put.h && ln -sf ../other/deep job/link
sed 's#put.h#link/../put.h#' src/dots.cl >job/dots.cl
sed 's#program.*#program: {source: dots.cl, options: [-O0, -g, -fdebug-compilation-dir=.]}#' tests/dots.yaml >job/dots.yaml
(cd job && "$lanewise" run -q --check=races --check-base .. --check-file ../e.json dots.yaml >out 2>err </dev/null)
grep -q '"file": ' e.json && ! grep -q '"file": "job/put.h"' e.json ||
    fail "with --check-base: a relative path through a link names another file: $(cat e.json)"
# With base "/" all files are inside the base.
"$lanewise" run -q --check=races --check-base / --check-file e.json --check-file e.xml tests/dots.yaml >out 2>err </dev/null
grep -q "\"file\": \"${here#/}/src/dots.cl\"" e.json && grep -q "previous access at ${here#/}/src/dots.cl:7" e.xml ||
    fail "--check-base /: the reports do not contain paths relative to /: $(cat e.xml)"

# Reports do not overwrite input files. A refused run removes the report of an earlier run.
cp tests/dots.yaml tests/keep.yaml
echo '- {kind: race}' >keep-list.yaml
for wrong in '--stats tests/keep.yaml' '--log tests/keep.yaml' '--dump a=tests/keep.yaml' '--check-file src/dots.cl' '--coverage src/dots.cl' '--profile inc/put.h' '--coverage tests/keep.yaml' \
    '--check-suppress keep-list.yaml --coverage keep-list.yaml' '--check-suppress keep-list.yaml --profile keep-list.yaml'; do
    # shellcheck disable=SC2086
    "$lanewise" run -q --check=races $wrong tests/keep.yaml >out 2>err </dev/null
    [ $? = 2 ] && grep -q 'overwr' err || fail "$wrong is not refused: $(cat err)"
done
[ -s src/dots.cl ] && cmp -s tests/dots.yaml tests/keep.yaml && [ "$(cat keep-list.yaml)" = '- {kind: race}' ] || fail "an input file was overwritten"
echo old >old.info; echo old >old.prof
sed 's#dots.cl#none.cl#' tests/keep.yaml >tests/none.yaml
"$lanewise" run -q --check=races --coverage old.info --profile old.prof tests/none.yaml >out 2>err </dev/null
[ $? = 2 ] && [ ! -e old.info ] && [ ! -e old.prof ] || fail "the coverage or profile of an earlier run is not removed"
# A kind whose findings are all above the limit of reported findings must not appear as passed.
"$lanewise" run -q --check=all,-performance --max-findings 1 --check-file e.xml k.yaml >out 2>err </dev/null
python3 - <<'END' || fail "a kind whose findings were dropped has passed: $(cat e.xml)"
import re
cases = re.findall(r'<testcase classname="(\w+)" name="([^"]*)"(/?)>', open("e.xml").read())
passed = {n for c, n, p in cases if p}
assert "division-by-zero" not in passed and "out-of-bounds" not in passed and "null-access" in passed, cases
END
python3 "$src/tests/check/report_forms.py" e.xml >out 2>&1 ||
    fail "above the limit of findings: a report does not have its format: $(cat out)"

# Test cases with the same name are numbered.
cat >two.cu <<'END'
extern "C" __global__ void two(const int *a, int *b) { b[threadIdx.x] = a[threadIdx.x]; }
END
cat >two.yaml <<'END'
program: {source: two.cu}
buffers: {a: {type: i32, count: 32}, b: {type: i32, count: 32}}
steps:
  - launch: {entry: two, grid: 1, block: 64, args: [a, b]}
END
"$lanewise" run -q --check --check-file e.xml --check-file e.yaml two.yaml >out 2>err </dev/null
grep -q 'name="out-of-bounds in two at two.cu:1"' e.xml && grep -q 'name="out-of-bounds in two at two.cu:1 (2)"' e.xml ||
    fail "two test cases have the same name: $(cat e.xml)"
python3 "$src/tests/check/report_forms.py" e.xml >out 2>&1 || fail "two: a report does not have its format: $(cat out)"

# With the list of findings as suppression list, a later run reports only new findings.
"$lanewise" run -q --check --check-suppress e.yaml two.yaml >out 2>err </dev/null
[ $? = 0 ] || fail "a written list does not suppress the findings: $(cat e.yaml err)"
[ "$(grep -c '^- ' e.yaml)" = 1 ] || fail "the list contains a row twice: $(cat e.yaml)"
"$lanewise" run -q --check=races --check-suppress d.yaml src/dots.yaml >out 2>err </dev/null
[ $? = 1 ] && ! grep -q ': race' err ||
    fail "the list of dots.yaml does not suppress the race: $(cat d.yaml err)" # the check step fails
sed -i '1i // a line more' two.cu
"$lanewise" run -q --check --check-suppress e.yaml two.yaml >out 2>err </dev/null
[ $? = 1 ] || fail "a finding at another line is suppressed"
# Several lists apply together.
echo '- {kind: race}' >a.yaml
echo '- {kind: out-of-bounds}' >b.yaml
for order in 'a.yaml b.yaml' 'b.yaml a.yaml'; do
    # shellcheck disable=SC2086
    set -- $order
    "$lanewise" run -q --check=memory,races --check-suppress "$1" --check-suppress "$2" two.yaml >out 2>err </dev/null
    [ $? = 0 ] || fail "suppression lists $order: expected exit status 0: $(cat err)"
done
echo '- {kind: raec}' >b.yaml
"$lanewise" run -q --check=memory,races --check-suppress a.yaml --check-suppress b.yaml two.yaml >out 2>err </dev/null
[ $? = 2 ] && grep -q 'b.yaml:1: there is no kind of finding "raec"; did you mean "race"?' err ||
    fail "a mistyped kind in a suppression list is not refused: $(cat err)"
"$lanewise" run -q --check --check-file new.xml --check-file ./new.xml two.yaml >out 2>err </dev/null
[ $? = 2 ] && grep -q 'both write to ./new.xml' err || fail "two reports to one file are not refused: $(cat err)"

# report_forms.py reports keys that the format does not have.
spoil() { # arguments: WHAT FILE SED. Expects that report_forms.py reports the file after the change by sed script SED
    sed "$3" "$2" >spoilt."${2##*.}"
    cmp -s "$2" spoilt."${2##*.}" && fail "$1: nothing was changed"
    python3 "$src/tests/check/report_forms.py" spoilt."${2##*.}" >out 2>&1 && fail "$1 is not reported"
}
spoil "a level" 1.sarif 's/"level": "error"/"level": "bad"/'
spoil "a line" 1.sarif 's/"startLine": [0-9]*/"startLine": 0/'
spoil "no message" 1.sarif 's/"message"/"notes"/'
spoil "a rule's number" 1.sarif 's/"ruleIndex": [0-9]*/"ruleIndex": 0/'
spoil "a version" 1.sarif 's/"2\.1\.0"/"2.0.0"/'
spoil "a URI" 1.sarif 's/"uri": "/"uri": "a b/'
spoil "a place twice" 1.sarif 's/"relatedLocations": \[\({.*}\)\]/"relatedLocations": [\1, \1]/'
spoil "a count" 1.xml 's/failures="/failures="1/'
if command -v xmllint >/dev/null; then
    for change in 's/ name="[^"]*"//' 's/<failure type/<failed type/; s/failure>/failed>/' 's/tests="/tests="-/' 's/ message="[^"]*"//'; do
        sed "$change" 1.xml >spoilt.xml
        cmp -s 1.xml spoilt.xml && fail "$change: nothing was changed"
        xmllint --noout --schema "$src/tests/check/junit.xsd" spoilt.xml >out 2>&1 && fail "$change is not reported"
    done
fi
[ $failures = 0 ]
