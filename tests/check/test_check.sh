#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests `lanewise run --check` with kernels that have a bug, and with correct counterparts: on several machines, with report
# files, suppressions and limits. Most kernels are in assembly, which needs no compiler.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

# The expectations in this test contain line numbers of this kernel file.
cat >k.s <<'END'
.kernel add
.param ptr.global x
.param u32 step
    v_s2r v0, %tid.x
    v_mov_b64 v4:5, c[x]
    v_mov_b32 v3, c[step]
    v_mul_u32 v2, v0, v3
    v_mulwide_u32 v6:7, v2, 1
    v_add_u64 v4:5, v4:5, v6:7
    ld.global.b32 v1, [v4:5]
    v_add_u32 v1, v1, 1
    st.global.b32 [v4:5], v1
    exit
.end
.kernel twice
    malloc v12:13, 24
    malloc v14:15, 24
    free v12:13
    free v12:13
    exit
.end
.kernel once
    malloc v12:13, 24
    free v12:13
    exit
.end
.kernel leak
    malloc v12:13, 24
    exit
.end
.kernel forever
top:
    bra top
.end
END
# usage: launch FILE ENTRY ARGS. Launches one block of 8 threads; x has 5 elements
launch() {
    cat >"$1.yaml" <<END
machine: {hang_window: 20000}
program: {source: k.s}
buffers: {x: {type: u32, count: $4, init: {ramp: {start: 5}}}}
steps:
  - launch: {entry: $2, grid: 1, block: 8, args: [$3]}
END
}
launch good add 'x, 4' 8
launch wild add 'x, 4' 5
launch odd add 'x, 1' 8
launch twice twice '' 8
launch once once '' 8
launch leak leak '' 8
launch forever forever '' 8

for machine in '' '-w 4' '-w 8' '-w 64' '--tags compact -w 8' '--tags shadow -w 8' '--reconv stack' '--timing=fermi'; do
    # shellcheck disable=SC2086
    expect 0 '^ok: ' run $machine good.yaml --check
    [ ! -s err ] || fail "$machine: there is output on the correct kernel"
    # shellcheck disable=SC2086
    expect 1 '^k.s:10: out-of-bounds: global load of 4 bytes .*3 times$' run $machine wild.yaml --check --dump x=x.bin
    grep -q '^k.s:12: out-of-bounds: global store of 4 bytes .*3 times$' err || fail "$machine: the store is not reported"
    grep -q '^wild.yaml: 2 findings$' err || fail "$machine: expected two findings"
    # the accesses of the other lanes have been executed
    [ "$(od -An -tu4 x.bin | tr -s ' ')" = "$(printf ' 6 7 8 9\n 10')" ] || fail "$machine: the results differ"
done
# the message names the buffer also for a generic address
sed 's/\.global\./.generic./' k.s >generic.s
sed 's/k\.s/generic.s/' wild.yaml >generic.yaml
expect 1 '^generic.s:10: out-of-bounds: generic load of 4 bytes' run generic.yaml --check --check-file generic.json
[ "$(grep -c '"allocation": "x"' generic.json)" = 2 ] ||
    fail "findings at generic addresses do not name the allocation: $(grep allocation generic.json)"
expect 1 'lanes 0xe0' run wild.yaml --check
expect 3 'fault: out-of-bounds' run wild.yaml --check=misaligned
expect 3 'fault: out-of-bounds' run wild.yaml
expect 1 '^k.s:10: misaligned: global load.*lanes 0xee.*6 times$' run odd.yaml --check=misaligned
expect 1 '^k.s:19: bad-free: ' run twice.yaml --check
expect 3 'fault: bad-free' run twice.yaml --check=misaligned
expect 3 'fault: bad-free' run twice.yaml
expect 1 '^k.s:19: bad-free: ' run --timing=fermi twice.yaml --check
expect 1 '^k.s:19: bad-free: ' run --tags compact twice.yaml --check
expect 0 '' run once.yaml --check=all
expect 0 '' run leak.yaml --check
expect 1 '^k.s:28: heap-leak: kernels never freed 8 allocations (192 bytes in total) made by malloc here.*; kernel leak, block (0,0,0), warp 0, lanes 0x1, ' run leak.yaml --check=all
expect 4 '^k.s:[0-9]*: livelock: ' run forever.yaml --check
expect 4 '^k.s:[0-9]*: livelock: ' run forever.yaml --check --hang-limit 3000
expect 4 '^k.s:[0-9]*: livelock: ' run forever.yaml --check --hang-limit 3000
expect 2 'hang-limit: expected an integer of 0 or more, found "soon"' run forever.yaml --hang-limit soon

# ---- for PTX without line information, locations of findings are lines of the PTX file

cat >bare.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [a];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    sub.s32 %r3, %r2, %r1;
    div.s32 %r4, 100, %r3;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
END
# In lost.ptx a .loc refers to a file that is not declared. In some.ptx one instruction has a line of a declared file.
sed 's/^    div/    .loc 3 70 1\n    div/' bare.ptx >lost.ptx
sed 's/^    div/    .loc 1 70 1\n    div/; s/^    mul/    .loc 3 71 1\n    mul/' bare.ptx >some.ptx
echo '.file 1 "known.cu"' >>some.ptx
for name in bare lost some; do
    cat >$name.yaml <<END
program: {source: $name.ptx}
buffers: {a: {type: i32, count: 20}}
steps:
  - launch: {entry: k, grid: 1, block: 32, args: [a, 5]}
END
done
expect 1 '^bare.ptx:12: division-by-zero: ' run bare.yaml --check=all --coverage bare.info --check-file bare.sarif
expect 1 '^bare.ptx:15: out-of-bounds: ' run bare.yaml --check
expect 3 'bare.ptx:15' run bare.yaml
grep -q '^SF:.*bare.ptx$' bare.info && grep -q '^DA:12,32$' bare.info || fail "bare.ptx has no coverage: $(head -n 5 bare.info)"
grep -q '"startLine": 15' bare.sarif || fail "bare.sarif names no line"
expect 1 '^lost.ptx:13: division-by-zero: ' run lost.yaml --check=all
expect 1 '^lost.ptx:16: out-of-bounds: ' run lost.yaml --check=all
expect 1 '^known.cu:70: division-by-zero: ' run some.yaml --check=all
expect 1 '^some.ptx:17: out-of-bounds: ' run some.yaml --check=all

# ---- a finding in a function without line information is reported at the caller, also through several calls

cat >calls.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.func (.param .b32 r) root(.param .b32 x)
{
    .reg .f32 %f<3>;
    ld.param.f32 %f1, [x];
    sqrt.rn.f32 %f2, %f1;
    st.param.f32 [r], %f2;
    ret;
}
.func (.param .b32 r) twice(.param .b32 x)
{
    .reg .f32 %f<4>;
    ld.param.f32 %f1, [x];
    {
        .param .b32 a;
        .param .b32 b;
        st.param.f32 [a], %f1;
        call (b), root, (a);
        ld.param.f32 %f2, [b];
    }
    add.f32 %f3, %f2, %f2;
    st.param.f32 [r], %f3;
    ret;
}
.visible .entry k(.param .u64 p)
{
    .reg .b64 %rd<2>;
    .reg .f32 %f<9>;
    .loc 1 1 1
    ld.param.u64 %rd1, [p];
    ld.global.f32 %f1, [%rd1];
END
for call in "10 root 2 4" "20 root 3 8" "30 twice 4 12" "40 twice 5 16"; do
    # shellcheck disable=SC2086
    set -- $call
    cat <<END
    .loc 1 $1 1
    {
        .param .b32 a;
        .param .b32 b;
        st.param.f32 [a], %f1;
        call (b), $2, (a);
        ld.param.f32 %f$3, [b];
    }
    st.global.f32 [%rd1+$4], %f$3;
END
done >>calls.ptx
printf '    ret;\n}\n.file 1 "calls.cu"\n' >>calls.ptx
cat >calls.yaml <<'END'
program: {source: calls.ptx}
buffers: {p: {type: f32, count: 8, init: -2}}
steps:
  - launch: {entry: k, grid: 1, block: 1, args: [p]}
END
for how in "" "--timing" "--tags shadow"; do
    for line in "10: .*in root" "20: .*in root" "30: .*in twice" "40: .*in twice"; do
        # shellcheck disable=SC2086
        expect 1 "^calls.cu:${line%%:*}: nan-generated: ${line#*: }, called at calls.cu:${line%%:*}; kernel k, .* in root$" run calls.yaml --check=nan-generated $how
    done
    expect 1 '^calls.yaml: 4 findings$' run calls.yaml --check=nan-generated
done
echo '- {line: 30}' >known.yaml
expect 1 '3 findings, 1 suppressed' run calls.yaml --check=nan-generated --check-suppress known.yaml

# ---- if a fault ends the run, no leaks are reported: the threads had no chance to free their memory

cat >broke.s <<'END'
.kernel k
.param ptr.global g
    v_mov_b64 v0:1, 8
    malloc v2:3, v0:1
    trap 0
    exit
.end
END
sed 's/calls.ptx/broke.s/; s/args: .p./args: [p]/' calls.yaml >broke.yaml
expect 3 'trap' run broke.yaml --check=heap-leak
grep -q heap-leak err && fail "a leak is reported although a fault ended the run: $(cat err)"

# ---- a hang is one finding, no matter how many lanes wait

printf '.kernel k\n.param ptr.global g\nagain:\n    v_mov_b64 v0:1, c[g]\n    ld.global.b32 v2, [v0:1]\n    v_setp_u32.eq p0, v2, 0\n    @p0 bra again\n    exit\n.end\n' >wait.s
printf 'machine: {hang_window: 5000}\nprogram: {source: wait.s}\nbuffers: {p: {type: u32, count: 4}}\nsteps: [launch: {entry: k, grid: 1, block: 256, args: [p]}]\n' >wait.yaml
expect 4 'hang: ' run wait.yaml --check
grep -q ': spin-wait: ' err || fail "the hang is not reported: $(cat err)"
! grep -q 'spin-wait: .* times' err || fail "the finding of a hang has the number of lanes as its count: $(grep spin-wait err)"
# With the check of races, which makes such loops slow, the emulator searches for hangs earlier.
sed -i '/^machine:/d' wait.yaml
expect 4 ': spin-wait: ' run wait.yaml --check=races --max-instructions 20000000

# ---- former names of kinds are accepted in lists, in `explain` and in suppressions; former names of options and keys, too
for pair in shift-too-far=shift-out-of-range conversion-range=float-cast-overflow nan-made=nan-generated infinity-made=inf-generated \
    value-wait=spin-wait; do
    expect 0 "^${pair#*=} (class .*, formerly ${pair%=*}): " explain "${pair%=*}"
    expect 0 "^${pair#*=} (class" explain "${pair#*=}"
done
printf '.kernel bits\n.param u32 n\n    v_mov_b32 v0, 1\n    v_shl_b32 v1, v0, 40\n    exit\n.end\n' >bits.s
printf 'machine: {fairness_limit: 64, hang_limit: 5000}\nprogram: {source: bits.s}\nsteps: [launch: {entry: bits, grid: 1, block: 32, args: [1]}]\n' >bits.yaml
sed 's/fairness_limit/window/; s/hang_limit/hang_window/' bits.yaml >bits-former.yaml
for f in bits.yaml bits-former.yaml; do
    expect 1 '^bits.s:4: shift-out-of-range: ' run $f --check=shift-too-far --check-file bits.json --check-file bits.sarif
    expect 1 '^bits.s:4: shift-out-of-range: ' run $f --check=arithmetic,-nan-made --window 128 --hang-window 6000 --stats bits-stats.json
    cp bits-stats.json bits-stats-former.json
    expect 1 '^bits.s:4: shift-out-of-range: ' run $f --check=arithmetic,-nan-generated --fairness-limit 128 --hang-limit 6000 --stats bits-stats.json
    sed '/second/d' bits-stats.json >bits-1 && sed '/second/d' bits-stats-former.json | diff bits-1 - >out ||
        fail "the former name of an option has another effect: $(cat out)"
done
sed -n 2p bits.json | grep -qx '  "format_version": 3,' || fail "findings in JSON have no format version"
sed -n 2p bits-stats.json | grep -qx '  "format_version": 1,' || fail "statistics have no format version"
grep -q '"id": "shift-out-of-range", .*"deprecatedIds": \["shift-too-far"\]' bits.sarif ||
    fail "SARIF does not contain the former name"
for kind in shift-too-far shift-out-of-range 'shift-too-*' '"shift-*"'; do
    printf -- '- {kind: %s, kernel: bits}\n' "$kind" >former.yaml
    expect 0 '1 finding suppressed' run bits.yaml --check=shift-out-of-range --check-suppress former.yaml
    ! grep -q 'no finding of this run' err || fail "$kind: a suppression by its former name counts as unused"
done
# A message names each former name that is used. There is no message with -q, nor for a kind whose new name is also used.
ends=': use the new name, because the next version removes the old one$'
printf -- '- {kind: shift-too-far, kernel: bits}\n- {kind: shift-*}\n- {kind: infinity-*}\n' >former.yaml
expect 0 '' run bits.yaml --check=-nan-made,shift-too-far,nan-generated --window 128 --hang-window 6000 --check-suppress former.yaml
grep "$ends" err >said
diff - said <<END || fail "the messages about former names differ"
lanewise: --window was renamed to --fairness-limit$(echo "$ends" | tr -d '$')
lanewise: --hang-window was renamed to --hang-limit$(echo "$ends" | tr -d '$')
lanewise: nan-made was renamed to nan-generated$(echo "$ends" | tr -d '$')
lanewise: shift-too-far was renamed to shift-out-of-range$(echo "$ends" | tr -d '$')
lanewise: former.yaml:1: shift-too-far was renamed to shift-out-of-range$(echo "$ends" | tr -d '$')
lanewise: former.yaml:3: infinity-made was renamed to inf-generated$(echo "$ends" | tr -d '$')
END
expect 0 '' run -q bits.yaml --check=-nan-made,shift-too-far,nan-generated --window 128 --hang-window 6000 --check-suppress former.yaml
! grep -q 'renamed' err || fail "-q does not silence former names: $(cat err)"
expect 1 '' run bits.yaml --check=shift-out-of-range --fairness-limit 128 --hang-limit 6000 --check-file -
! grep -q 'renamed' out err || fail "new names are reported as former names"
expect 0 "^lanewise: nan-made was renamed to nan-generated$ends" explain nan-made
expect 0 "^nan-made was renamed to nan-generated$ends" debug bits.yaml --check=nan-generated --batch --command 'check nan-made'
expect 2 'there is no kind of finding "shift-too-fa"' explain shift-too-fa

# ---- files, suppressions, limits
expect 1 '' run wild.yaml --check --check-file f.json --check-file f.xml --check-file f.sarif --check-file f.txt
grep -q '"kind": "out-of-bounds", "class": "memory"' f.json || fail "f.json does not contain the finding"
grep -q '"lanes": \[5, 6, 7\]' f.json || fail "f.json has other lanes"
grep -q '"allocation": "x"' f.json || fail "f.json does not contain the allocation"
cmp -s f.txt err || fail "f.txt differs from the printed findings"
cp err first
if command -v python3 >/dev/null; then
    python3 - <<'END' || fail "a report file has wrong contents"
import json, xml.etree.ElementTree as tree
found = json.load(open("f.json"))
assert found["count"] == 2 and [f["place"]["line"] for f in found["findings"]] == [10, 12]
run = json.load(open("f.sarif"))["runs"][0]
rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
assert len(set(rules)) == len(rules)
for r, line in zip(run["results"], (10, 12), strict=True):
    assert rules[r["ruleIndex"]] == r["ruleId"] == "out-of-bounds" and r["occurrenceCount"] == 3
    place = r["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == line and place["artifactLocation"]["uri"].endswith("k.s")
suite = tree.parse("f.xml").getroot().find("testsuite")
assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == 2
assert int(suite.get("tests")) == len(suite.findall("testcase"))
END
fi
# report files contain the results of the check steps of the launch file
cp good.yaml checks.yaml
cat >>checks.yaml <<'END'
  - check: {buffer: x, values: [6, 7, 8, 9, 10, 11, 12, 13]}
  - repeat:
      count: 2
      steps:
      - check: {buffer: x, constant: 9}
END
expect 1 '2 of 3 checks failed' run checks.yaml --check --check-file c.json --check-file c.xml --check-file c.sarif
if command -v python3 >/dev/null; then
    python3 - <<'END' || fail "the check steps of the launch file are not in the report files"
import json, xml.etree.ElementTree as tree
found = json.load(open("c.json"))
assert found["count"] == 0 and [(c["line"], c["passed"]) for c in found["checks"]] == [(6, True), (10, False)]
assert found["checks"][1]["message"].startswith("check failed: x[0] is 6, expected 9")
suite = tree.parse("c.xml").getroot().find("testsuite")
assert suite.get("failures") == "1" and int(suite.get("tests")) == len(suite.findall("testcase"))
cases = [c for c in suite.findall("testcase") if c.get("classname") == "check"]
assert [(c.get("name"), len(c)) for c in cases] == [("checks.yaml:6", 0), ("checks.yaml:10", 1)]
run = json.load(open("c.sarif"))["runs"][0]
(r,) = run["results"]
assert run["tool"]["driver"]["rules"][r["ruleIndex"]]["id"] == r["ruleId"] == "check"
assert r["locations"][0]["physicalLocation"]["region"]["startLine"] == 10
END
fi
# Messages say that results are not checked, and that uninitialised outputs are checked but the host reads no buffer.
none='^lanewise: good.yaml: uninitialised-output is checked only when the host reads a buffer, but this launch file reads none: add a check .* --dump'
for kinds in all uninitialised uninitialised-output; do
    expect 0 "$none" run good.yaml --check=$kinds
    grep -q '^ok: no findings; results were not checked (no "check" step), no buffer was read, 1 launch' out || fail "$kinds: the last line does not say that no buffer was read"
done
for more in --check=all,-uninitialised-output --check '--check=all -q' '--check=all --dump x=x.bin'; do
    # shellcheck disable=SC2086
    expect 0 '' run good.yaml $more
    grep -q 'buffer was read\|host reads' out err && fail "good.yaml $more: there is a message about reads by the host"
done
for step in '{check: {buffer: x, values: [6, 7, 8, 9, 10, 11, 12, 13]}}' \
    '{repeat: {until: {buffer: x, index: 0, equals: 6, max: 2}, steps: [{fill: {buffer: x, value: {constant: 6}}}]}}' \
    '{repeat: {count: 2, steps: [{check: {buffer: x, values: [6, 7, 8, 9, 10, 11, 12, 13]}}]}}'; do
    { cat good.yaml; echo "  - $step"; } >reads.yaml
    expect 0 '^ok: ' run reads.yaml --check=all
    grep -q 'buffer was read\|host reads' out err && fail "$step is reported as a read by the host"
done
expect 1 '' run wild.yaml --check
cmp -s first err || fail "the messages of two runs differ"
expect 1 'findings above the limit were dropped (occurrences, counted by lane: 3); a larger' run wild.yaml --check --max-findings 1
echo '- {kind: out-of-bounds, line: 10}' >known.yaml
expect 1 '^wild.yaml: 1 finding, 1 suppressed$' run wild.yaml --check --check-suppress known.yaml
expect 1 '^failed: 1 finding, 1 finding suppressed, 1 launch' run wild.yaml --check --check-suppress known.yaml
expect 1 '^failed: 2 findings, 1 launch' run wild.yaml --check
echo '- {kernel: "a*", allocation: x}' >known.yaml
expect 0 '^ok: no findings; results were not checked (no "check" step), 2 findings suppressed, 1 launch' run wild.yaml --check --check-suppress known.yaml
echo '- {kernel: "b*", allocation: x}' >known.yaml
expect 1 '2 findings' run wild.yaml --check --check-suppress known.yaml
# a suppression may name a file by the last part of its path, and a C++ kernel by its symbol or its name in the source
mkdir -p deep
sed 's/^\.kernel add$/.kernel _ZN5scope3addIiEEvPT_/' k.s >deep/cxx.s
sed 's|k\.s|deep/cxx.s|; s/entry: add/entry: _ZN5scope3addIiEEvPT_/' wild.yaml >cxx.yaml
for row in 'file: cxx.s' 'file: "*/cxx.s"' 'kernel: "_ZN5scope*"' 'kernel: "scope::add"' 'kernel: "scope::add<int>"'; do
    echo "- {$row}" >known.yaml
    expect 0 '^ok: ' run cxx.yaml --check --check-suppress known.yaml
done
# all reports contain the name of the kernel in the source
expect 1 'out-of-bounds: global load .*; kernel scope::add<int>, block' run cxx.yaml --check --check-file cxx.json --check-file cxx.xml
grep -q '"kernel": "_ZN5scope3addIiEEvPT_", "kernel_name": "scope::add<int>"' cxx.json ||
    fail "the JSON report lacks the symbol or the source name of the kernel"
grep -q 'name="out-of-bounds in scope::add&lt;int&gt; at ' cxx.xml || fail "the JUnit report lacks the source name of the kernel"
expect 3 '^fault: .*; kernel scope::add<int>, block' run cxx.yaml
expect 0 'kernel scope::add<int>: order-free' run -v cxx.yaml --check --check-suppress known.yaml
expect 3 'fault: .*; kernel scope::add<int>, block' debug cxx.yaml --batch -c continue
sed 's/^\.kernel add$/.kernel _ZNK5scope5table3addIN2ns1VEEEvPT_/' k.s >deep/cxx.s # a symbol that is demangled only in part
sed 's/entry: [^,]*/entry: "scope::table::add"/' cxx.yaml >member.yaml
expect 3 '^fault: .*; kernel scope::table::add, block' run member.yaml
sed 's/^\.kernel add$/.kernel _ZTX/' k.s >deep/cxx.s
sed 's/entry: [^,]*/entry: _ZTX/' cxx.yaml >other.yaml
expect 3 '^fault: .*; kernel _ZTX, block' run other.yaml
sed 's/^\.kernel add$/.kernel _ZN5scope3addIiEEvPT_/' k.s >deep/cxx.s
cat >deep/table.s <<'END'
.global _ZN5scope5tableE 16 4
.kernel over
    v_mov_b32 v2, lo(_ZN5scope5tableE)
    v_mov_b32 v3, hi(_ZN5scope5tableE)
    st.global.b32 [v2:3+16], vz
    exit
.end
END
echo '{program: {source: deep/table.s}, steps: [launch: {entry: over, grid: 1, block: 1}]}' >table.yaml
expect 1 "0 bytes past the end of 'scope::table' (16 bytes" run table.yaml --check
echo '- {allocation: "scope::table"}' >known.yaml
expect 0 '^ok: ' run table.yaml --check --check-suppress known.yaml
for row in 'file: deep' 'file: "deep/x.s"' 'kernel: add' 'kernel: "scope::ad"'; do
    echo "- {$row}" >known.yaml
    expect 1 '2 findings' run cxx.yaml --check --check-suppress known.yaml
done
# A schedule log of a run with --check cannot be replayed without --check, and vice versa.
expect 3 '' run wild.yaml --log faulted.log
expect 2 'faulted.log does not match this run.*; replay a log with the same --check with which it was written$' run wild.yaml --check --replay faulted.log
expect 1 '' run wild.yaml --check --log checked.log
expect 2 'checked.log does not match this run.*; replay a log with the same --check with which it was written$' run wild.yaml --replay checked.log
expect 1 '2 findings' run wild.yaml --check --replay checked.log
for nothing in '' '# none yet' '[]'; do
    echo "$nothing" >known.yaml
    expect 1 '2 findings' run wild.yaml --check --check-suppress known.yaml
done
# a report in YAML has one row for each source line with findings; as a suppression list it suppresses them in the next run
mkdir -p lists
expect 1 '' run wild.yaml --check --check-file lists/base.yaml --check-file lists/base.yml
cmp -s lists/base.yaml lists/base.yml || fail "a .yml file differs from the .yaml file"
grep -q '^# Suppressed findings of "wild.yaml"' lists/base.yaml || fail "the list does not name its launch file"
grep -v '^#' lists/base.yaml >rows
cat >want <<'END'
- {kind: out-of-bounds, kernel: "add", file: "k.s", line: 10}
- {kind: out-of-bounds, kernel: "add", file: "k.s", line: 12}
END
cmp -s want rows || fail "the list has wrong rows: $(cat rows)"
expect 0 '^ok: no findings; results were not checked (no "check" step), 2 findings suppressed' run wild.yaml --check --check-suppress lists/base.yaml
# if a list suppresses findings, a new list contains only the other findings
sed -i 1,2d lists/base.yaml
expect 1 '' run wild.yaml --check --check-suppress lists/base.yaml --check-file lists/more.yaml
[ "$(grep -c '^- ' lists/more.yaml)" = 1 ] || fail "the list contains suppressed findings"
expect 0 '2 findings suppressed' run wild.yaml --check --check-suppress lists/base.yaml --check-suppress lists/more.yaml
expect 1 '' run wild.yaml --check --max-findings 1 --check-file lists/most.yaml
grep -q '^# Findings above the limit were dropped (occurrences, counted by lane: 3); a larger' lists/most.yaml || fail "the list does not say that findings were dropped"
refuse 'both name file lists/more.yaml, so that the suppressions would be overwritten' run wild.yaml --check --check-suppress lists/more.yaml --check-file lists/more.yaml
[ -s lists/more.yaml ] || fail "the list was removed"
cp wild.yaml lists/launch.yaml
for command in run 'debug --batch'; do
    # shellcheck disable=SC2086
    refuse 'would overwrite the launch file' $command lists/launch.yaml --check --check-file "$work/lists/launch.yaml"
done
cmp -s wild.yaml lists/launch.yaml || fail "the launch file was overwritten"
# a suffix similar to that of a format is an error; any other suffix means text
for near in 'x.sarrif .sarif' 'X.SARRIF .sarif' 'lists/x.jsn .json' 'x.yam .yaml' 'x.txtt .txt'; do
    refuse "run: --check-file ${near% *}: the suffix selects the format, and this one is not known; did you mean ${near#* }? (.txt is text)\$" run wild.yaml --check --check-file "${near% *}"
done
[ ! -e x.sarrif ] || fail "a file with a mistyped suffix is written"
for text in lists/x.log lists/x.out lists/x.md lists/x.sarif.1 lists/json lists.d.json/x; do
    mkdir -p lists.d.json
    expect 1 '' run wild.yaml --check --check-file $text
    grep -q '^k.s:10: out-of-bounds: ' $text || fail "$text is not a report in text form"
done
# a refused option leaves the report of an earlier run unchanged
echo 'kind: misaligned' >known.yaml
refuse 'expected a list' run wild.yaml --check --check-file lists/base.yml --check-suppress known.yaml
[ -s lists/base.yml ] || fail "a refused list has removed an earlier report"
# paths of files in reports are relative to a folder, which --check-base sets
echo '- {file: deep/cxx.s}' >known.yaml
expect 0 '^ok: ' run "$work/cxx.yaml" --check --check-suppress known.yaml
expect 0 '^ok: ' run "$work/cxx.yaml" --check --check-suppress known.yaml --check-base .
expect 1 '2 findings' run "$work/cxx.yaml" --check --check-suppress known.yaml --check-base deep
expect 1 '2 findings' run "$work/cxx.yaml" --check --check-suppress known.yaml --check-base ''
# unused suppressions are reported; used ones are not
cat >known.yaml <<'END'
- {kind: out-of-bounds}
- {kind: race} # not reported as unused: races are not enabled

- {kernel: nobody}
END
expect 0 '^known.yaml:4: unused suppression: no finding of this run matches it; ' run wild.yaml --check --check-suppress known.yaml
[ "$(wc -l <err)" = 1 ] || fail "more than one line is printed: $(cat err)"
expect 0 '' run -q wild.yaml --check --check-suppress known.yaml
[ ! -s err ] || fail "--quiet does not suppress all messages: $(cat err)"
echo '- {kind: raec}' >known.yaml
refuse 'known.yaml:1: there is no kind of finding "raec"; did you mean "race"?' run wild.yaml --check --check-suppress known.yaml
# several suppression lists apply together
echo '- {kind: out-of-bounds, line: 10}' >known.yaml
echo '- {kind: out-of-bounds, line: 12}' >other_list.yaml
expect 0 '2 findings suppressed' run wild.yaml --check --check-suppress known.yaml --check-suppress other_list.yaml
expect 0 '2 findings suppressed' run wild.yaml --check --check-suppress other_list.yaml --check-suppress known.yaml
expect 2 'nowhere.yaml' run wild.yaml --check --check-suppress known.yaml --check-suppress nowhere.yaml
: >known.yaml
expect 1 '2 findings' run wild.yaml --check --check-suppress known.yaml
echo 'kind: misaligned' >known.yaml
expect 2 'known.yaml:1: expected a list of suppressions' run wild.yaml --check --check-suppress known.yaml
echo '- {kind: out-of-bonds}' >known.yaml
expect 2 'known.yaml:1: ' run wild.yaml --check --check-suppress known.yaml
echo '- {lines: 3}' >known.yaml
expect 2 'line' run wild.yaml --check --check-suppress known.yaml
expect 1 '"status": "finding"' run wild.yaml --check --stats -
expect 0 '^memory *out-of-bounds ' explain
expect 0 '^wrong:' explain misaligned
for kind in null-access read-only bad-free heap-leak uninitialised-address uninitialised-branch shift-out-of-range float-cast-overflow; do
    expect 0 'with -O0 -g' explain $kind
done
"$lanewise" explain misaligned | grep -q O0 && fail "explain misaligned mentions -O0, but no optimisation hides this kind"
expect 2 'did you mean "misaligned"' explain misalined
# options that select kinds, and the words all and default, which are not classes
"$lanewise" explain >kinds
"$lanewise" explain all | cmp -s - kinds || fail "explain all and explain print different lists"
grep ' (default)$' kinds >usual
"$lanewise" explain default | cmp -s - usual || fail "explain default does not list the kinds that are marked as default"
grep -q '^memory  *out-of-bounds ' usual && ! grep -q '^races\|heap-leak' usual ||
    fail "the default kinds are wrong: $(cat usual)"
grep -v ' (default)$\| (with its class)$\| (by name only)$' kinds && fail "a kind has no mark that says how it is selected"
expect 2 'did you mean "default"' explain defualt
expect 0 '^races *race ' explain races
expect 2 'did you mean "races"' explain racess
"$lanewise" explain races | grep -v '^races ' && fail "explain races lists kinds of another class"
expect 0 '' run good.yaml --check --threads 4

# File names may contain non-ASCII letters and quotes. Compilers encode such names in PTX in different ways.
name='größe "k" \x.cl'
printf 'kernel void k(global int *a) {\n    a[get_global_id(0)] = 3;\n}\n' >"$name"
cat >any.yaml <<END
program: {source: '$name'}
buffers: {a: {type: s32, count: 16}}
steps: [{launch: {entry: k, grid: [1], block: [32], args: [a]}}]
END
expect 1 '"k" .x.cl:2: out-of-bounds' run any.yaml --check --check-file n.sarif --check-file n.xml --coverage n.lcov
grep -q 'gr%C3%B6%C3%9Fe%20%22k%22%20%5Cx.cl"' n.sarif && grep -qF "$name" n.lcov &&
    grep -qF 'größe &quot;k&quot; \x.cl' n.xml || fail "the report does not contain the name of the source"
"$lanewise" debug --batch -c "break '$name':2" -c c -c list any.yaml </dev/null 2>&1 | grep -q '^=> 2.*= 3;$' ||
    fail "the source with this name is not found"

# A load with a finding returns 0. So if it loads the bound of a loop, the loop ends.
cat >bound.cl <<'END'
kernel void k(global uint *out, global const uint *bound)
{
    uint n = bound[4096];
    for (uint i = 0; i < n; i++)
        out[i & 1] += out[(i + 1) & 1] * 3 + i;
    out[2] = n;
}
END
cat >bound.yaml <<END
program: {source: bound.cl}
buffers: {out: {type: u32, count: 4}, bound: {type: u32, count: 4}}
steps:
  - launch: {entry: k, grid: 1, block: 1, args: [out, bound]}
  - check: {buffer: out, index: 2, count: 1, constant: 0}
END
expect 1 '1 finding; 1 check passed' run --max-instructions 100000 --check bound.yaml
sed -i 's/constant: 0}/constant: 77}/' bound.yaml
expect 1 '1 finding; 1 check passed' run --max-instructions 100000 --check --read-poison 77 bound.yaml
expect 1 '1 finding; 1 check passed' run --max-instructions 100000 --check --read-poison 0x4d -X -O0 bound.yaml
expect 2 'read-poison: expected an integer from 0 to 0xffffffff, found "0x100000000"' run --check --read-poison 0x100000000 bound.yaml
expect 2 'read-poison has no effect, as no checks are enabled: add --check' run --read-poison 1 bound.yaml
expect 0 'bound' debug --batch --check --read-poison 5 -c 'break k' bound.yaml
# A report that contains a mangled name also contains the name in the source.
cat >names.cu <<'END'
namespace tool { __device__ int scale[4]; __device__ volatile int flag; }
__global__ void over(int *a) { a[threadIdx.x] = tool::scale[threadIdx.x + 60]; }
__global__ void waits(int *a) { while (tool::flag == 0) { } a[0] = 1; }
template <class T> __global__ void first(T *a) { __shared__ T s[32]; s[threadIdx.x] = a[threadIdx.x]; a[0] = s[(threadIdx.x + 1) % 32]; }
template __global__ void first<float>(float *);
END
cat >names.yaml <<END
program: {source: names.cu, options: [-O1]}
buffers: {a: {type: i32, count: 64}}
steps:
  - launch: {entry: over, grid: 1, block: 32, args: [a]}
END
names() { # usage: names WHAT. Expects that no line of out and err has a mangled name without the name in the source
    sed 's/[^ ]* (_Z[A-Za-z0-9_]*)//g' out err | grep -q '_Z' && fail "$1: a mangled name without the name in the source"
}
expect 1 "past the end of 'tool::scale'" run --check --check-file names.json --stats names.st names.yaml
names "a finding"
grep -q '"allocation_name": "tool::scale"' names.json && grep -q '"kernel_name": "over"' names.json ||
    fail "the JSON report lacks the source name of the variable or of the kernel"
grep -q '"plain_name": "over"' names.st || fail "the statistics have no plain names"
sed 's/entry: over/entry: waits/' names.yaml >waits.yaml
expect 4 'tool::flag' run waits.yaml
names "a hang"
sed 's/entry: over/entry: "first<float>"/' names.yaml >first.yaml
expect 1 'kernel first<float>' run --check=races first.yaml
names "a race"
cat >missing.cl <<'END'
int __attribute__((overloadable)) not_here(float x);
kernel void k(global int *a) { a[0] = not_here(1.0f); }
END
sed 's/names.cu.*/missing.cl}/; s/entry: over/entry: k/' names.yaml >missing.yaml
expect 2 '' run missing.yaml
names "a refusal"
grep -q 'not_here' err || fail "the message about an undefined function does not name it"

# A message names the nearest buffer of the program, and never an internal allocation.
cat >near.cu <<'END'
__global__ void k(int *a) { dim3 t = threadIdx; a[t.x + 1500] = blockIdx.x; }
END
cat >near.yaml <<END
program: {source: near.cu, options: [-O0, -g]}
buffers: {a: {type: i32, count: 64}}
steps:
  - launch: {entry: k, grid: 1, block: 32, args: [a]}
END
expect 1 "bytes past the end of 'a' (256 bytes" run --check near.yaml
expect 3 "bytes past the end of 'a' (256 bytes" run near.yaml
# Far from all buffers no buffer is named: here the index is negative and unsigned.
sed -i 's/t.x + 1500/t.x - 1500/' near.cu
expect 1 "no allocation is near this address; kernel k" run --check near.yaml
# The suffix of a report file selects its format, in upper or lower case.
expect 1 '' run --check --check-file F.SARIF --check-file F.Json --check-file F.XML --check-file F.YAML bound.yaml
grep -q sarif-2.1.0 F.SARIF && grep -q '"findings"' F.Json && grep -q '<testsuites>' F.XML && grep -q '^- {' F.YAML ||
    fail "a suffix in upper case selects another format"

[ $failures = 0 ] || exit 1
echo "checks as expected"
