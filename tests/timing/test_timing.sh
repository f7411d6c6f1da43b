#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the timing model on the command line: GPU models, options, messages for invalid options, reports and traces.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

# ---- lanewise timing ------------------------------------------------------------------
expect 0 '^volta  *A Volta-like GPU' timing
for machine in $(cut -d ' ' -f 1 out); do
    expect 0 "^# The GPU model $machine: all keys" timing "$machine"
    cp out "$machine.yaml"
    expect 0 '' timing "$machine.yaml"
    sed 1d "$machine.yaml" >one
    sed 1d out >two
    cmp -s one two || fail "$machine: after it was printed to a file and read again, the model differs"
    expect 0 '^# A\|^# The' timing --source "$machine"
    cmp -s out "$src/timing/machines/$machine.yaml" || fail "$machine: --source does not print the shipped file"
done
expect 0 '^  bytes: 32768  *# bytes, 0 to 16777216' timing fermi -s l1.bytes=32768
expect 0 '' timing fermi -o saved.yaml
cmp -s saved.yaml fermi.yaml || fail "the file that --output writes differs from the printed GPU model"
refuse 'did you mean "volta"?' timing volt
refuse 'timing: --set: unknown key "l1.byts"; did you mean "l1.bytes"?' timing fermi --set l1.byts=1
refuse 'timing: --set: issue.policy: unknown name "gt0"; did you mean "gto"? The names are lrr, gto, two_level, swl, cggty, active_pending$' timing fermi --set issue.policy=gt0
refuse 'l1.bytes is 1000, but the number of sets must be a power of two' timing fermi --set l1.bytes=1000
refuse 'timing: expected only one GPU model' timing fermi volta
refuse 'timing: expected a GPU model: give MACHINE or FILE' timing --source
expect 0 '^usage: lanewise timing .* \[MACHINE|FILE|compare A.json B.json\]$' help timing
refuse '--source works only for the GPU models that Lanewise ships' timing --source nowhere
refuse 'cannot be read' timing ./nowhere.yaml
printf 'core:\n  count: 0\n' >bad.yaml
refuse '^lanewise: bad.yaml:2: core.count: expected an integer from 1 to 1024 (cores), found "0"$' timing bad.yaml

# The base of a model may be another file. Its path is relative to the folder of the model, not to the current folder.
mkdir -p far/deep
printf 'machine: volta\ncore: {count: 7}\nl1: {bytes: 64K, ways: 4}\n' >far/base.yaml
printf 'machine: ../base.yaml\nl1: {bytes: 32KiB}\n' >far/deep/mine.yaml
expect 0 '^  count: 7 ' timing far/deep/mine.yaml --set l2.bytes=96K
for line in '^  bytes: 32768 ' '^  ways: 4 ' '^  bytes: 98304 '; do grep -q "$line" out ||
    fail "the GPU model based on another lacks the line $line"; done
printf 'machine: deep/two.yaml\n' >far/one.yaml
printf 'machine: ../deep/../one.yaml\n' >far/deep/two.yaml
refuse '^lanewise: far/deep/two.yaml:1: base: ../deep/../one.yaml is, directly or through other files, its own base: one of the files must have a shipped GPU model as its base$' timing far/one.yaml
printf 'machine: self.yaml\n' >self.yaml
refuse '^lanewise: self.yaml:1: base: self.yaml is, directly or through other files, its own base: ' timing self.yaml
for i in $(seq 0 17); do echo "machine: chain$((i + 1)).yaml" >chain$i.yaml; done
echo 'machine: volta' >chain18.yaml
refuse '^lanewise: chain16.yaml:1: base: chain17.yaml ends a chain of more than 16 files' timing chain0.yaml
expect 0 '^# The GPU model chain2.yaml: all keys' timing chain2.yaml
printf 'core: {count: 1}\nmachine: gone.yaml\n' >far/lost.yaml
refuse '^lanewise: far/lost.yaml:2: base: far/gone.yaml: cannot be read: No such file or directory$' timing far/lost.yaml
printf 'core: {cuont: 1}\n' >far/bad.yaml
printf 'machine: bad.yaml\n' >far/worse.yaml
refuse '^lanewise: far/bad.yaml:1: unknown key "core.cuont"; did you mean "core.count"?$' timing far/worse.yaml

# ---- run --timing -----------------------------------------------------------------------
cat >k.s <<'END'
.kernel add
.param ptr.global x
.param ptr.global y
.param u32 n
    v_s2r v0, %ctaid.x
    v_s2r v1, %ntid.x
    v_s2r v2, %tid.x
    v_mad_u32 v0, v0, v1, v2
    v_setp_u32.ge p0, v0, c[n]
    @p0 exit
    v_mulwide_u32 v4:5, v0, 4
    v_mov_b64 v6:7, c[x]
    v_add_u64 v6:7, v6:7, v4:5
    ld.global.b32 v2, [v6:7]
    v_add_u32 v2, v2, 1
    v_mov_b64 v6:7, c[y]
    v_add_u64 v6:7, v6:7, v4:5
    st.global.b32 [v6:7], v2
    exit
.end
END
launch_file() { # usage: launch_file MACHINE_LINE. Prints a launch file.
    cat <<END
$1
program: {source: k.s}
buffers:
  x: {type: u32, count: 1000, init: {ramp: {start: 0, step: 1}}}
  y: {type: u32, count: 1000}
steps:
  - launch: {entry: add, grid: 8, block: 128, args: [x, y, 1000]}
  - launch: {entry: add, grid: 8, block: 128, args: [y, x, 1000]}
  - check: {buffer: x, index: 998, values: [1000, 1001]}
END
}
launch_file '' >good.yaml
launch_file 'machine: {warp: 8}' >eight.yaml
launch_file 'machine: {reconv: stack}' >stack.yaml
launch_file 'machine: {tags: compact}' >tags.yaml
launch_file 'machine: {tags: "off"}' >untagged.yaml
launch_file 'machine: {tags: shadow, tag_rules: table}' >table.yaml
launch_file 'machine: {tags: shadow, tag_expansion: eager}' >eager.yaml
for machine in fermi ampere gcn-tahiti kepler-k20c rogers rogers-vws tesla-dwr volta; do
    expect 0 "^ok: 1 check passed, 2 launches, .* cycles on $machine$" run --timing "$machine" good.yaml --hash
    grep '^hash_mem' out >"$machine.hash"
    cmp -s "$machine.hash" fermi.hash || fail "$machine: hash_mem differs from fermi's"
done
expect 0 '^ok' run good.yaml --hash
grep '^hash_mem' out | cmp -s - fermi.hash || fail "hash_mem differs from the functional run's"
expect 0 'cycles on fermi$' run --timing good.yaml
expect 0 'cycles on fermi.yaml$' run --timing=fermi.yaml good.yaml
expect 0 '^ok' run --timing rogers stack.yaml

# If the run is shorter than the trace window, the spans that are open at the end of the run must end there.
expect 0 '^ok' run --timing volta good.yaml --timing-report r1.json --timing-trace t.json --timing-window 0:100000
python3 - <<'END' || fail "a span ends after the run"
import json
r, t = json.load(open('r1.json')), json.load(open('t.json'))
assert r['format_version'] == 1
assert max(x['ts'] + x['dur'] for x in t['traceEvents'] if x['ph'] == 'X') == r['cycles'] < 100000
assert t['otherData']['cycles'] == '0 to %d' % r['cycles']
assert t['otherData']['ends'] == 'with the run'
END
[ ! -s err ] || fail "there is a warning although the trace is complete"
# A message is printed if the trace window is after the end of the run, or if the trace is truncated. Counters must not change.
cycles=$(sed -n 's/.* \([0-9]*\) cycles on volta$/\1/p' out)
expect 0 "^lanewise: --timing-window 90000:90001: the trace has no events, as the run ended at cycle $cycles$" \
    run --timing volta good.yaml --timing-trace t.json --timing-window 90000:90001 --timing-report r2.json
cmp -s r1.json r2.json || fail "the window changes the counters"
expect 0 '^lanewise: --timing-trace: the trace ends at cycle [0-9]*, after 2000 events: give a shorter --timing-window, or more events with --timing-events$' \
    run --timing volta good.yaml --timing-trace t.json --timing-events 2000 --timing-report r2.json
cmp -s r1.json r2.json || fail "a truncated trace changes the counters"
sed -n 's/.* ends at cycle \([0-9]*\),.*/\1/p' err >end
# In a truncated trace, all requests end at the end of the trace, and the arrow of a request ends at the last unit that it
# reached.
python3 - "$(cat end)" <<'END' || fail "a request or an arrow has no end"
import json, sys
t, end = json.load(open('t.json')), int(sys.argv[1])
assert t['otherData'] == {'cycles': '0 to %d' % end, 'unit': 'a microsecond is a cycle', 'ends': 'after 2000 events'}
for phases in ('be', 'sf'):
    ids = [sorted(x['id'] for x in t['traceEvents'] if x['ph'] == p) for p in phases]
    assert ids[0] == ids[1] and len(set(ids[0])) == len(ids[0]) > 20, (phases, len(ids[0]), len(ids[1]))
    assert any(x['ph'] == 'e' and x['ts'] == end for x in t['traceEvents'])
assert all(x['ts'] + x.get('dur', 0) <= end for x in t['traceEvents'])
END
# A trace may be written to standard output. All other output then goes to standard error.
expect 0 '^ok: 1 check passed' run --timing volta good.yaml --hash --timing-trace - --timing-window 0:500 --timing-report -
python3 -c 'import json, sys; json.load(sys.stdin)["traceEvents"]' <out || fail "standard output is not only the trace"
for line in '^hash_mem' '^timing: volta'; do grep -q "$line" err || fail "there is no line with $line on standard error"; done
[ ! -e ./- ] || fail "a file named - was written"
# Two options may not write to the same file.
ln -s t.json link.json
for o in '--timing-report:--timing-trace:new.json:new.json' '--timing-trace:--timing-report:t.json:t.json' \
    '--timing-report:--timing-trace:./t.json:link.json' '--stats:--timing-trace:-:-' '--stats:--log:x.log:x.log' \
    '--timing-trace:--profile:-:-' '--dump:--stats:x=new.bin:new.bin'; do
    rest=${o#*:}
    files=${rest#*:}
    refuse "^lanewise: run: --[a-z-]* and --[a-z-]* both write to .*: give two different files$" \
        run --timing good.yaml "${o%%:*}" "${files%:*}" "${rest%%:*}" "${files#*:}"
    for option in "${o%%:*}" "${rest%%:*}"; do grep -q -- "$option " err || grep -q -- "$option:" err ||
        fail "$o: the message does not name $option"; done
done
[ ! -e new.json ] || fail "a run that was refused wrote a file"
expect 0 '^ok' run --timing good.yaml --timing-report /dev/null --timing-trace /dev/null

# Reports: two runs must give the same report, each issue slot must have one stall reason per cycle, and the sums of samples and
# the counters of --stats must be equal to those of the report.
for n in 1 2; do
    expect 0 '^ok' run --timing volta good.yaml --timing-report r$n.json --timing-sample 500 -s s.json \
        --timing-trace t.json --timing-window 0:3000
done
cmp -s r1.json r2.json || fail "two runs have different counters"
python3 - <<'END' || fail "the report or the trace is wrong"
import json
r, t, s = json.load(open('r1.json')), json.load(open('t.json')), json.load(open('s.json'))
assert s['timing'] == r and s['cycles'] == r['cycles']
c = r['config']
for core in r['cores']:
    for sched in core['schedulers']:
        assert len(sched['causes']) == c['issue']['width']
        for slot in sched['causes']:
            assert sum(slot.values()) == r['cycles'], (sum(slot.values()), r['cycles'])
assert len(r['kernels']) == 2 and all(k['name'] == 'add' and k['blocks'] == 8 for k in r['kernels'])
assert r['kernels'][0]['ended'] <= r['kernels'][1]['begun'] < r['kernels'][1]['ended'] <= r['cycles']
assert sum(x['reads'] for x in r['slices']) > 0 and sum(x['l1_misses'] for x in r['cores']) > 0
assert r['sums']['schedulers']['instructions'] == s['warp_instructions']
# Consecutive kernels: the counters of each kernel must cover only its own work, in whole cycles.
for k in r['kernels']:
    assert k['queued'] <= k['dispatched'] < k['started'] <= k['begun'] <= k['ended'], k
    gpu = k['sums']['gpu']
    assert gpu['cycles'] == k['cycles'] == k['ended'] - k['started'] + 1 and gpu['kernels'] == 1 and gpu['blocks'] == 8
    assert gpu['warp_instructions'] == k['warp_instructions'] == k['sums']['schedulers']['instructions'] > 0
    assert gpu['thread_instructions'] == k['thread_instructions']
    assert sum(k['sums']['causes'].values()) == k['cycles'] * c['core']['count'] * c['issue']['schedulers'] * c['issue']['width']
# Histograms: the sums of their values must be equal to the counters.
h, sums = r['histograms'], r['sums']
for scope in h:
    for name, total in h[scope].items():
        parts = [x['histograms'][name] for x in r[scope]]
        assert total["count"] == sum(total["buckets"]) == sum(x["count"] for x in parts) and total["sum"] == sum(x['sum'] for x in parts)
        assert total["most"] == max(x['most'] for x in parts) and r['units']['histograms'][scope][name]
assert (h['cores']['load_latency']['count'], h['cores']['load_latency']['sum']) == (sums['cores']['loads_done'], sums['cores']['load_cycles'])
assert sums['cores']['loads_done'] == sums['cores']['global_loads'] > 0 and h['cores']['packet_latency']['count'] == sums['cores']['replies'] > 0
assert h['cores']['icnt_queue']['count'] == sums['cores']['requests'] == h['slices']['queue']['count'] == h['slices']['latency']['count']
assert h['slices']['waiting']['sum'] + h['slices']['waiting']['count'] == sums['slices']['queue_cycles']
assert h['cores']['lsu_queue']['count'] == sums['cores']['global_loads'] + sums['cores']['global_stores'], h['cores']['lsu_queue']
assert 0 < h['channels']['latency']['count'] <= h['channels']['queue']['count']
assert r['sums']['schedulers']['thread_instructions'] == s['thread_instructions']
ends = [500 * (i + 1) for i in range(r['cycles'] // 500)]
assert [x['cycle'] for x in r['samples']] == ends + [r['cycles']] * (r['cycles'] % 500 != 0)
for scope, sums in r['sums'].items():
    for name, value in sums.items():
        assert sum(x['sums'][scope][name] for x in r['samples']) == value, (scope, name)
spans = [e for e in t['traceEvents'] if e['ph'] == 'X']
tracks = {}
for x in spans:
    assert 0 <= x['ts'] < 3000 and x['dur'] > 0
    tracks.setdefault((x['pid'], x['tid']), []).append((x['ts'], x['ts'] + x['dur']))
for v in tracks.values():
    v.sort()
    assert all(a[1] <= b[0] for a, b in zip(v, v[1:]))
# In the trace, a request goes through the crossbar to its L2 slice, after a miss to a bank of DRAM, and returns.
process = {e['pid']: e['args']['name'] if e['pid'] >= c['core']['count'] else 'core' for e in t['traceEvents'] if e['ph'] == 'M' and e['name'] == 'process_name'}
flows = {}
for e in t['traceEvents']:
    if e['ph'] in 'stf':
        flows.setdefault(e['id'], []).append((e['ts'], 'stf'.index(e['ph']), process[e['pid']]))
        assert any(a <= e['ts'] < b for a, b in tracks[e['pid'], e['tid']]), e
reads, whole, cut = set(), 0, 0
for flow in flows.values():
    assert [x for x in flow if x[1] == 0] == [min(flow)], flow
    if max(flow)[1] == 2:
        way = [x[2] for x in sorted(flow)]
        if way[-1] != 'core': # the request had not returned at the end of the window, where its flow ends
            cut += 1
            continue
        whole += 1
        assert way[:3] == ['core', 'crossbar to L2', 'L2'] and way[-2:] == ['crossbar to the cores', 'core'], way
        assert set(way[3:-2]) <= {'DRAM'}, way
        reads.add(len(way[3:-2]))
assert whole > 20 and cut < whole and 0 in reads and max(reads) > 0, (whole, cut, reads)
k = r['kernels'][0]
assert k['queued'] == 0 and k['dispatched'] == c['kernels']['latency'] < k['begun'] - 2 - c['fetch']['latency'], k
END
# `timing compare` prints the cycles of two reports, then the ratios, stall reasons and counters that differ, and the keys that
# differ.
expect 0 '' run --timing good.yaml -q --timing-report a.json
expect 0 '' run --timing good.yaml -q --timing-set l1.latency=99 --timing-set units.int.latency=40 --timing-report b.json
expect 0 '^A: a.json, on fermi$' timing compare a.json b.json
for row in '  time, us  *[0-9.]*  *[0-9.]*  *[0-9.]*' '  energy, uJ  *[0-9.]*  *[0-9.]*  *[0-9.]*' '  power, W  *[0-9.]*  *[0-9.]*  *[0-9.]*' 'energy by component, in uJ' \
    'stall reasons, as a share of all issue slots' '  issued  *[0-9.]*%  *[0-9.]*%'; do
    grep -q "^$row$" out || fail "compare does not print the row '$row'"
done
[ "$(sed -n 5p out | cut -c 1-9)" = '  cycles ' ] || fail "compare does not print cycles first"
a=$(sed -n 's/^  "cycles": \([0-9]*\),$/\1/p' a.json) b=$(sed -n 's/^  "cycles": \([0-9]*\),$/\1/p' b.json)
[ "$a" != "$b" ] || fail "the two runs take the same cycles"
grep -q "^  cycles  *$a  *$b  *$(echo "$a $b" | awk '{ printf "%.3f", $2 / $1 }')$" out || fail "compare does not print cycles and their ratio"
[ "$(sed -n 10p out)" = ratios ] || fail "ratios do not follow the cycles"
python3 - <<'END' || fail "compare does not print exactly the ratios that differ"
import json
a, b = json.load(open('a.json'))['ratios'], json.load(open('b.json'))['ratios']
lines = [l.split() for l in open('out').read().split('\nratios\n')[1].split('\n\n')[0].splitlines()]
assert [l[0] for l in lines] == [k for k in a if a[k] != b[k]], lines
ipc = [l for l in lines if l[0] == 'ipc'][0]
assert ipc[1:] == ['%.3f' % a['ipc'], '%.3f' % b['ipc'], '%.3f' % (b['ipc'] / a['ipc'])], ipc
for l in lines:
    shares = l[0] in ('occupancy', 'slots_issued', 'l1_hit_rate', 'l2_hit_rate')
    assert not shares or l[1] == '%.1f%%' % (100 * a[l[0]]), l
END
grep -q '^stall reasons, in issue slots$' out || fail "compare does not print stall reasons"
grep -q '^  l1.latency  *[0-9]*  *99$' out || fail "compare does not print a key that differs"
grep -q '^  units.int.latency  *[0-9]*  *40$' out || fail "compare does not print a key of a unit"
! grep -q '^  warp_instructions ' out || fail "compare prints a counter that does not differ"
sed 's/"switches": [0-9]*, *//; s/, *"switches": [0-9]*//' a.json >c.json
expect 0 '^  switches  *[0-9][0-9]*  *-$' timing compare a.json c.json
expect 0 '^  switches  *-  *[0-9][0-9]*$' timing compare c.json a.json
expect 0 '^all counters are equal$' timing compare a.json a.json
[ "$(wc -l <out)" = 10 ] || fail "compare prints more than cycles for two equal reports"
refuse '^lanewise: good.yaml: expected a report of the timing model, found the keys "program", ' timing compare a.json good.yaml
refuse '^lanewise: k.s: expected a report of the timing model, found a text: ' timing compare k.s a.json
expect 0 '' run --timing good.yaml -q --timing-trace tr.json --timing-window 0:20
refuse '^lanewise: tr.json: expected .*, found a trace, as --timing-trace writes it: ' timing compare tr.json a.json
refuse 'compare: expected two reports, as in compare A.json B.json' timing compare a.json
refuse 'compare: expected two reports' timing compare a.json b.json --set l1.bytes=1
refuse '^lanewise: gone.json: cannot be read: No such file or directory$' timing compare gone.json a.json

expect 0 '^issue slots: ' run --timing good.yaml --timing-report -
expect 0 '^timing: ' run --timing good.yaml -q --timing-report - --timing-set core.count=1 --timing-set clocks.core=700
[ ! -s err ] || fail "--timing-report - wrote to standard error"
grep -q '^timing: fermi, 1 core of 48 warps of 32 lanes, 700 MHz$' out ||
    fail "--timing-set has not set core.count and clocks.core"

# docs/howto/measure-cycles.md contains a script and the table that the script prints.
cp "$src"/docs/examples/lines.* "$src"/docs/examples/sweep.sh .
mkdir -p bin
ln -s "$lanewise" bin/lanewise
cases=$((cases + 1))
PATH=$work/bin:$PATH sh sweep.sh lines.yaml >out 2>err || fail "the sweep of docs/howto/measure-cycles.md failed"
{ sed 1,3d sweep.sh && echo 'The script prints this table:' && cat out; } | sed '/^$/d' >want
sed -n '/^## A sweep$/,/^## /p' "$src/docs/howto/measure-cycles.md" | sed -n '/^The script prints this table:$/p; s/^    //p' | diff - want ||
    fail "docs/howto/measure-cycles.md: A sweep: script and figures are not those of docs/examples/sweep.sh"
# Reports show kernels of CUDA C++ by their names in the source.
sed 's/^\.kernel add$/.kernel _ZN3ops3addIiEEvPKT_PS1_j/' k.s >mangled.s
sed 's/k\.s/mangled.s/; s/entry: add/entry: _ZN3ops3addIiEEvPKT_PS1_j/' good.yaml >mangled.yaml
expect 0 '^  ops::add<int>  *1 ' run --timing mangled.yaml --timing-report -
expect 0 '^ok' run --timing mangled.yaml --timing-report m.json
python3 -c 'import json; k = json.load(open("m.json"))["kernels"][0]
assert (k["name"], k["plain_name"]) == ("_ZN3ops3addIiEEvPKT_PS1_j", "ops::add<int>"), k' ||
    fail "JSON does not contain the name in the source"

# The schedule of a run on the model is replayed without the model.
expect 0 '^ok' run --timing fermi good.yaml --log x.log --hash
grep '^hash' out >want
expect 0 '^ok' run good.yaml --replay x.log --hash
grep '^hash' out | cmp -s - want || fail "the replay of a timed run has other hashes"
# The debugger can also step backwards in this replay, although it normally starts blocks in the fixed order.
printf 'stepi 4\nreverse-stepi 2\nhistory\nstepi 2\ngoto start\ncontinue\n' |
    "$lanewise" debug good.yaml --replay x.log >out 2>&1
grep -q '^now at instruction .*history covers instructions 0 to' out && ! grep '^error' out && grep -q '^all launches have ended' out || {
    cat out
    fail "a replay of a timed run does not step backwards"
}
expect 0 '^ok' run --timing rogers good.yaml --log x.log --hash
grep '^hash' out >want
expect 0 '^ok' run good.yaml --replay x.log --hash
grep '^hash' out | cmp -s - want || fail "the replay of a timed run on rogers has other hashes"

# A fault or hang must end a run with the same message as without a GPU model, and the report must be written. A hang must also be
# detected if one warp of a block has ended and another one spins.
cat >ends.s <<'END'
.kernel beyond
.param ptr.global x
    v_mov_b64 v6:7, c[x]
    v_s2r v2, %tid.x
    v_mulwide_u32 v4:5, v2, 4
    v_add_u64 v6:7, v6:7, v4:5
    st.global.b32 [v6:7], v2
    exit
.end
.kernel circle
.param ptr.global x
loop:
    bra loop
    exit
.end
.kernel half
.param ptr.global x
    v_s2r v2, %tid.x
    v_setp_u32.ge p0, v2, 32
    @p0 exit
    v_mov_b32 v3, 64
    bar.sync 0, v3
    exit
.end
END
for end in '3 beyond ^fault: out-of-bounds: global store' '4 circle ^hang: livelock' '4 half ^hang: partial CTA barrier'; do
    set -- $end
    kernel=$2
    printf '%s\n' 'machine: {hang_window: 20000}' 'program: {source: ends.s}' 'buffers: {x: {type: u32, count: 21}}' \
        "steps: [launch: {entry: $kernel, grid: 1, block: 64, args: [x]}]" >$kernel.yaml
    status=$1
    shift 2
    expect "$status" "$*" run --timing --timing-set core.count=1 $kernel.yaml --timing-report $kernel.json
    cp err timed
    expect "$status" "$*" run $kernel.yaml
    [ "$(head -n 1 timed)" = "$(head -n 1 err)" ] || fail "$kernel ends with another message with --timing"
    python3 - $kernel.json <<'END' || fail "$kernel: the report is wrong"
import json, sys
r = json.load(open(sys.argv[1]))
slots, sums = r['config']['issue']['schedulers'] * r['config']['issue']['width'], r['sums']
assert r['cycles'] > 0 and sums['causes']['issued'] == sums['schedulers']['instructions'] == sums['gpu']['warp_instructions']
assert 0 <= sum(sums['causes'].values()) - r['cycles'] * slots < slots, sums['causes']
END
done

# Invalid options are refused, and there are notes about keys without effect.
refuse '^lanewise: --timing: "volt" is neither a shipped GPU model nor a file; did you mean "volta"?$' run --timing volt good.yaml
refuse '^lanewise: --timing: bad.yaml:2: core.count: expected' run --timing=bad.yaml good.yaml
refuse 'give the file of a GPU model as --timing=FILE' run --timing bad.yaml good.yaml
"$lanewise" run --timing --mechanism loads --timing-report loads.json -q good.yaml >out 2>err ||
    fail 'the profile of loads is not written'
expect 0 '^lanewise: note: --timing-set issue.limit has no effect: only GPU models with swl.on=true or issue.policy=swl use this key$' run --timing --timing-set issue.limit=4 good.yaml
expect 0 '' run --timing --timing-set issue.limit=4 -q good.yaml
expect 0 '^lanewise: note: --timing-set issue.stall_odd has no effect: only GPU models with issue.dependence=control use this key$' run --timing --timing-set issue.stall_odd=3 --timing-set issue.limit=4 --mechanism swl good.yaml
[ "$(grep -c 'note:' err)" = 1 ] || fail 'expected one note'
expect 0 '^lanewise: note: --timing-set ccws.k has no effect' run --timing --timing-set ccws.k=4 good.yaml
refuse '--timing-set: unknown key "l1.byts"; did you mean "l1.bytes"?' run --timing --timing-set l1.byts=1 good.yaml
refuse '--timing: l1.bytes is 1000, but the number of sets must be a power of two' run --timing --timing-set l1.bytes=1000 good.yaml
for o in '--timing-set l1.bytes=1' --timing-reference '--timing-report r' '--timing-trace t' '--timing-sample 1' \
    '--timing-window 0:1' '--timing-events 5' '--timing-profile r'; do
    # shellcheck disable=SC2086
    refuse "${o%% *} has no effect without the timing model: add --timing" run $o good.yaml
done
refuse '--timing-profile: good.yaml: expected a timing report with a profile of loads: write one with' run --timing --mechanism daws --timing-profile good.yaml good.yaml
refuse 'a profile of loads has no effect without mechanism daws' run --timing --timing-profile loads.json good.yaml
refuse '^lanewise: debug: unknown option "--timing-report": only "lanewise run" has this option; in the shell, the command timing prints the counters$' \
    debug --timing --timing-report=r good.yaml
refuse '^lanewise: debug: unknown option "--hash": only "lanewise run" has this option$' debug --hash good.yaml
refuse '--timing-set has no effect without the timing model' debug --timing-set l1.bytes=1 good.yaml
for scheduler in lrr gto two_level swl cggty active_pending; do
    refuse "^lanewise: --policy selects a split of a warp, but $scheduler is a warp scheduler: use --timing with --timing-set issue.policy=$scheduler\$" \
        run --timing --policy $scheduler good.yaml
done
refuse '--policy: unknown name "rrr"; did you mean "rr"?' run --timing --policy rrr good.yaml
refuse '--warp: the GPU model fermi has warps of 32 lanes: use --timing-set core.warp_width=8' run --timing --warp 8 good.yaml
refuse '--reconv: the GPU model fermi has cbar: use --timing-set core.reconvergence=stack' run --timing --reconv stack good.yaml
# Options with the values of the GPU model are accepted. Options override the launch file.
expect 0 '^ok' run --timing --warp 32 --reconv cbar good.yaml
expect 0 '^ok' run --timing --warp 32 eight.yaml
refuse 'eight.yaml: the launch file has warps of 8 lanes, but the GPU model fermi has warps of 32: use --warp 32, or --timing-set core.warp_width=8' run --timing eight.yaml
refuse 'core.threads is 1536, but core.warps (48) with 8 lanes each have fewer threads: set core.warps to 192' \
    run --timing --timing-set core.warp_width=8 eight.yaml
expect 0 '^ok' run --timing --timing-set core.warp_width=8 --timing-set core.warps=192 eight.yaml
refuse 'stack.yaml: the launch file has the reconvergence engine stack, but the GPU model fermi has cbar: use --timing-set core.reconvergence=stack' run --timing stack.yaml
expect 0 '^ok' run --timing --timing-set core.reconvergence=stack stack.yaml
expect 0 '^ok' run tags.yaml
detect='--timing-set tags.detect=exact'
# shellcheck disable=SC2086
{
    refuse '--tags off: the GPU model fermi needs tags: also use --timing-set tags.detect=off' run --timing $detect --tags off good.yaml
    refuse 'untagged.yaml: the launch file has tags: off, but the GPU model fermi needs tags: use --timing-set tags.detect=off' \
        run --timing $detect untagged.yaml
    refuse '--tag-rules: the GPU model fermi sets this option to exact: use --timing-set tags.detect=fold' \
        run --timing $detect --tag-rules fold good.yaml
    refuse '--tag-expansion: the GPU model fermi sets this option to lazy: use --timing-set tags.expansion=eager' \
        run --timing $detect --tag-expansion eager good.yaml
    refuse 'table.yaml: the launch file has tag_rules: table, but the GPU model fermi has exact: use --timing-set tags.detect=table' \
        run --timing $detect table.yaml
    refuse 'eager.yaml: the launch file has tag_expansion: eager, but the GPU model fermi has lazy: use --timing-set tags.expansion=eager' \
        run --timing $detect eager.yaml
    refuse '--tag-plan has an effect only on compact tags' run --timing $detect --tag-plan all good.yaml
}
for key in tags.scalar=pipe tags.affine=unit; do
    refuse "--timing: tags.* cannot be combined with registers.collector=window, which selects a pipe before the tags are known: set tags.* to off" \
        run --timing ampere --timing-set tags.detect=table --timing-set $key good.yaml
done
set -- --timing ampere --timing-set tags.detect=table --timing-set registers.tags=affine --timing-set tags.scalar=lane
refuse '--timing: registers.compact=part cannot be combined with registers.collector=window, which reserves whole banks: set registers.compact to file' \
    run "$@" --timing-set registers.compact=part good.yaml
expect 0 '^ok' run "$@" --timing-set tags.address=once good.yaml
for key in registers.tags=uniform tags.scalar=lane tags.affine=unit tags.address=once; do
    refuse "--timing: ${key%=*} has no effect while tags.detect is off: set tags.detect to table, exact or fold" \
        run --timing --timing-set $key good.yaml
done
# If no key of the model uses tags, tags may change only the counters of tags. If keys use tags, results must not depend on how
# the emulator stores tags.
cycles() { sed -n 's/^ok: .* \([0-9]*\) cycles on .*/\1/p' out; }
expect 0 '^ok' run --timing good.yaml --hash
plain=$(cycles)
grep '^hash_' out >plain.hash
for tags in '--tags shadow' '--tags compact' '--tags shadow --tag-rules table --tag-expansion eager' "$detect" tags.yaml table.yaml; do
    file=good.yaml
    case $tags in *.yaml) file=$tags && tags= ;; esac
    # shellcheck disable=SC2086
    expect 0 '^tags: ' run --timing $tags $file --hash
    [ "$(cycles)" = "$plain" ] || fail "$tags $file: the run takes $(cycles) cycles, but $plain without tags"
    grep '^hash_' out | cmp -s - plain.hash || fail "$tags $file: the hashes differ from those without tags"
done
for tags in '' '--tags compact' '--tags compact --tag-plan all' '--timing-set tags.expansion=eager'; do
    # shellcheck disable=SC2086
    expect 0 '^tags: ' run --timing $detect --timing-set registers.tags=affine --timing-set tags.scalar=pipe \
        --timing-set tags.affine=unit --timing-set tags.address=once $tags good.yaml --hash --log tags.log
    grep '^hash_mem' out | cmp -s - fermi.hash || fail "tags in use, $tags: hash_mem differs from the functional run's"
    grep '^hash_state' out >timed.hash
    expect 0 '^ok' run --replay tags.log good.yaml --hash
    grep '^hash_state' out | cmp -s - timed.hash || fail "tags in use, $tags: the replay has another state"
done
refuse '--threads and --timing cannot be combined' run --timing --threads 2 good.yaml
expect 0 '^ok' run --timing --threads 1 good.yaml
refuse '--checkpoint and --timing cannot be combined' run --timing --checkpoint x.lwc good.yaml
refuse '--replay and --timing cannot be combined, as .*: give one of them' run --timing --replay x.log good.yaml
refuse '--resume and --timing cannot be combined, as .*: give one of them' run --timing --resume x.lwc good.yaml
refuse '--history: a run on the timing model cannot go back in time: instead, write its schedule with --log FILE, and then debug with --replay FILE' debug --timing --history 3 good.yaml
refuse '--timing-window has no effect without a trace: add --timing-trace FILE' run --timing --timing-window 0:1 good.yaml
refuse '--timing-window: expected FROM:TO in cycles, such as 0:5000, found "7:7"' run --timing --timing-trace t --timing-window 7:7 good.yaml
refuse '--timing-events has no effect without a trace: add --timing-trace FILE' run --timing --timing-events 5 good.yaml
refuse '--timing-events: expected an integer from 1 to 100000000, found "0"' run --timing --timing-trace t --timing-events 0 good.yaml
refuse '--timing-sample: expected a number of cycles, found "0"' run --timing --timing-sample 0 --timing-report r good.yaml
refuse '--timing-sample has no effect without a report' run --timing --timing-sample 5 good.yaml
refuse '--timing-sample: a report on standard output has no samples' run --timing --timing-sample 5 --timing-report - good.yaml
refuse '--timing-report: /nowhere/r: cannot be written' run --timing --timing-report /nowhere/r good.yaml

# ---- with the debugger --------------------------------------------------------------------
commands='cycle 0;why;cycle 30;why all;queues;tbreak *0x100000080;continue;why;scoreboard;collectors;mshrs;queues;cache fetch;cache l1 3;timing;timing keys'
set --
IFS=';'
for c in $commands; do set -- "$@" -c "$c"; done
unset IFS
expect 0 '^cycle 592$' debug --timing good.yaml --batch "$@"
for line in '^cycle 562$' '^cycle 562, core 0, warp slot 0, scheduler 0: the warp.s instruction buffer is empty$' \
    '^cycle 592: resident warps: 32$' '^ *32  fetch  *the warp.s instruction buffer is empty$' \
    '^next: 0x100000080: v_add_u64' 'instructions in flight' '^fetch: . of at most 4 outstanding lines$' \
    'packets are without an answer$' '^core 0, fetch: 16384 bytes, 32 sets of 4 ways$' \
    '^timing: fermi, 15 cores' '^# The GPU model fermi: all keys'; do
    grep -q -- "$line" out || fail "debug --timing: no line matches '$line'"
done
# Stepping by cycle does not change the run: 30 cycles with one command, or with 30 commands.
expect 0 '' debug --timing good.yaml --batch -c 'cycle 900' -c 'why all' -c timing
cp out at_once
set -- -c 'cycle 870'
n=0
while [ $n -lt 30 ]; do set -- "$@" -c cycle; n=$((n + 1)); done
expect 0 '' debug --timing good.yaml --batch "$@" -c 'why all' -c timing
sed -n '/resident warps: [0-9]*$/,$p' at_once >one
sed -n '/resident warps: [0-9]*$/,$p' out | cmp -s - one || fail "30 commands of one cycle have another effect than one command"
[ -s one ] || fail "there is no report after cycle 900"
refuse_last() { # usage: refuse_last MESSAGE COMMAND. Expects that the shell refuses COMMAND with MESSAGE.
    expect 2 "$1" debug --timing good.yaml --batch -c "$2"
}
refuse_last 'cycle: expected a number of cycles, found "x"' 'cycle x'
refuse_last 'why: too many operands: remove "b"' 'why a b'
refuse_last 'why: expected all or no operand (for the warp in focus), found "b"' 'why b'
refuse_last 'mshrs: expected a core from 0 to 14, found "15"' 'mshrs 15'
refuse_last 'cache: expected l1, constant, texture, fetch, l0, operand or l2, found "l3"' 'cache l3'
refuse_last 'cache: expected a set from 0 to 31, found "32"' 'cache l1 32'
refuse_last 'timing: expected keys or no operand (for the report), found "x"' 'timing x'
expect 2 '^lanewise: why: this session has no timing model: start it with --timing, as in `lanewise debug --timing LAUNCH.yaml`$' debug good.yaml --batch -c why
# The same commands in gdb, with a GPU model.
expect 0 '^ok: 1 check passed, 2 launches, .* cycles on volta$' gdb --timing volta good.yaml --timing-report g.json -- \
    -batch -nx -ex 'monitor why' -ex 'break *0x100000080' -ex continue -ex 'monitor why' -ex stepi \
    -ex 'monitor cycle 5' -ex delete -ex continue
for line in 'the warp.s instruction buffer is empty' '^next: 0x100000080: v_add_u64' 'hit Breakpoint 1, add'; do
    cat out err | grep -q -- "$line" || fail "gdb --timing: no line matches '$line'"
done
grep -q '"machine": "volta"' g.json || fail "gdb --timing wrote no report"

# Steps a warp from a breakpoint at which other warps are also stopped. These must wait at the breakpoint, and continue later.
cat >loop.s <<'END'
.kernel loop
.param ptr.global out
    v_mov_b32 v0, 0
again:
    v_add_u32 v0, v0, 1
    v_setp_u32.lt p0, v0, 20
    @p0 bra again
    exit
.end
END
cat >loop.yaml <<'END'
program: {source: loop.s}
buffers: {out: {type: u32, count: 1}}
steps: [launch: {entry: loop, grid: [3], block: [64], args: [out]}]
END
set -- -c 'break 5' -c continue
for verb in next stepi 'stepi 7' continue next next; do set -- "$@" -c "$verb"; done
expect 0 'all launches have ended' debug --timing loop.yaml --batch "$@" -c delete -c continue
# If the condition of a breakpoint is false, all warps must continue. Also tests a watchpoint on a register of a warp that is
# not on the first core.
expect 0 'all launches have ended' debug --timing loop.yaml --batch -c 'break 5 if v0 > 30' -c continue
expect 0 ': v0 was written by lane 5 at .*: 18 -> 19$' debug --timing loop.yaml --batch \
    -c 'break 5 if ctaid.x == 2 && tid.x == 37 && v0 == 18' -c continue -c 'watch v0' -c continue
grep -q '^breakpoint 1, lanes 0x00000020: block(2,0,0) w1 lane 5 at loop+0x10 ' out ||
    fail "debug --timing: the condition did not stop the lane that it names"

# Each stall reason of stall_reasons.def must occur in one of these runs. not_picked can occur only while a debugger steps one of
# several ready warps.
cat >why.s <<'END'
.kernel why
.param ptr.global out
.shared room 1024 4
    v_s2r v0, %tid.x {wr=5}
    v_shl_b32 v1, v0, 3 {wt=0x20,st=4}
    v_mov_b64 v4:5, c[out] {st=15}
    v_mov_b32 v9, 100 {st=4}
    nanosleep v9
    st.shared.b32 [v1], v0 {rd=4,st=2}
    v_mov_b32 v1, 4 {wt=0x10}
    ld.global.b32 v6, [v4:5] {wr=0,st=2}
    v_add_u32 v6, v6, 1 {wt=1,st=4}
    v_rcp_f32 v7, v6 {wr=1,st=2}
    v_rcp_f32 v8, v6 {wr=1,st=2}
    v_rcp_f32 v10, v6 {wr=1,st=2}
    v_add_f32 v7, v7, v8 {wt=2,st=4}
    s_mov_b32 s1, 1 {st=1,y}
    s_mov_b32 s2, 1 {st=1,y}
    s_mov_b32 s3, 1 {st=1,y}
    v_fma_f32 v11, v12, v14, v16
    v_fma_f32 v13, v12, v14, v16
    v_fma_f32 v15, v12, v14, v16
    v_fma_f32 v17, v12, v14, v16
    v_fma_f32 v19, v12, v14, v16
    v_fma_f32 v21, v12, v14, v16
    st.global.b32 [v4:5], v6
    st.global.b32 [v4:5+12], v6
    st.global.b32 [v4:5+16], v6
    st.global.b32 [v4:5+20], v6
    st.global.b32 [v4:5+4], v6
    st.global.b32 [v4:5+8], v6
    fence.gpu
    bar.sync 0
    exit
.end
END
cp "$src"/tests/kernels/nest.* .
set -- --grid 2 --block 64 --arg 'u32[8]' --timing-set core.count=1 -q
for n in 'a:volta --timing-set issue.policy=swl --timing-set issue.limit=2 --timing-set lsu.queue=1' \
    'b:fermi --timing-set lsu.replay=buffer --timing-set issue.width=2 --timing-set registers.collectors=1' \
    'c:fermi --timing-set issue.war=release_on_commit --timing-set registers.collectors=1'; do
    expect 0 '' run why.s "$@" --timing=${n#*:} --timing-report why_${n%%:*}.json
done
set -- --arg 'u32[8]' --timing-set core.count=1 -q --timing=ampere --timing-set fetch.perfect=true
expect 0 '' run why.s --grid 2 --block 64 "$@" --timing-report why_e.json
expect 0 '' run why.s --grid 4 --block 128 "$@" --timing-report why_f.json
expect 0 '' run nest.yaml -q --timing=fermi --timing-set core.count=2 --timing-report why_d.json
cat >split.s <<'END'
.kernel split
.param ptr.global out
    v_s2r v0, %laneid
    v_setp_u32.lt p0, v0, 4
    bssy b0, join
    @p0 bra join, b0
    v_add_u32 v0, v0, 1
join:
    bsync b0
    exit
.end
END
expect 0 '' run split.s --grid 1 --block 32 --arg 'u32[8]' -q --timing=fermi --timing-set tags.detect=exact \
    --timing-set tags.expansion=eager --timing-set registers.tags=affine --timing-report why_h.json
expect 0 '' run why.s --grid 2 --block 64 "$@" --timing=gcn-tahiti --timing-set issue.vm_count=2 --timing-report why_g.json
expect 0 '^  not_picked  *[1-9]' debug --timing loop.yaml --timing-set core.count=1 --batch -c 'break 5' -c continue -c 'stepi 7' -c timing
python3 - "$src/timing/stall_reasons.def" <<'END' || fail "a stall reason never occurs"
import json, re, sys
seen = [json.load(open(f'why_{n}.json'))['sums']['causes'] for n in 'abcdefgh']
reasons = re.findall(r'^STALL_REASON\(\w+, *"(\w+)"', open(sys.argv[1]).read(), re.M)
assert len(reasons) == len(seen[0]) > 15, reasons
never = [r for r in reasons if not any(s[r] for s in seen)]
assert never == ['not_picked'], never
END

# On a model that obeys control fields, wrong control fields must be reported once. On other models they must not be reported.
printf '.kernel k\n.param ptr.global out\n  v_mov_b64 v4:5, c[out] {st=4}\n  v_add_u32 v1, v1, 1\n  v_add_u32 v1, v1, 1\n' >wrong.s
printf '  st.global.b32 [v4:5], v1 {rd=0,st=2}\n  exit {wt=1}\n.end\n' >>wrong.s
sed 's/ {.*//' wrong.s >filled.s
set -- --grid 1 --block 32 --arg 'u32[1]'
expect 0 '^lanewise: note: wrong.s:5: k+0x20: v_add_u32: the stall counts before this instruction are too short for v1; on volta, .* 2 instr' run wrong.s "$@" --timing=volta
[ "$(grep -c note err)" = 1 ] || fail "run --timing=volta: expected one note about wrong control fields"
for other in 'wrong.s --timing' 'wrong.s --timing=volta -q' 'wrong.s --timing=volta --timing-set issue.dependence=scoreboard' \
    'filled.s --timing=volta'; do
    expect 0 '' run $other "$@"
    ! grep -q note err || fail "run $other: there is a note about control fields"
done

# On a model on which only waitcnt protects the registers of loads, a missing waitcnt must be reported, with the number of
# instructions that need one. On other models it must not be reported.
printf '.kernel k\n.param ptr.global out\n  v_mov_b64 v4:5, c[out]\n  ld.global.b32 v1, [v4:5]\n  ld.global.b32 v2, [v4:5+4]\n' >wait.s
printf '  waitcnt vmcnt(1)\n  v_add_u32 v1, v1, 1\n  v_add_u32 v1, v1, v2\n  waitcnt vmcnt(0)\n  st.global.b32 [v4:5], v1\n  exit\n.end\n' >>wait.s
sed 's/vmcnt(1)/vmcnt(0)/' wait.s >waits.s
sed /waitcnt/d wait.s >compiled.s
set -- --grid 1 --block 32 --arg 'u32[2]'
expect 0 '^wait.s:8: k+0x50: v_add_u32: no waitcnt waits until v2 has the result of k+0x20' run wait.s "$@" --timing=gcn-tahiti
[ "$(grep -c 'no waitcnt' err)" = 1 ] && grep -q 'like GPU model gcn-tahiti .* at 1 instruction, before which' err ||
    fail "run --timing=gcn-tahiti: expected one note about a missing waitcnt"
for other in 'wait.s --timing' 'wait.s --timing=gcn-tahiti -q' 'waits.s --timing=gcn-tahiti' 'compiled.s --timing=gcn-tahiti'; do
    expect 0 '' run $other "$@"
    ! grep -q note err || fail "run $other: there is a note about a missing waitcnt"
done

# Checks all trends except many_launches, which takes long; under sanitizers only those that take little time. The source archive
# does not contain bench/.
if [ -x "$src/bench/timing_trends" ]; then
    trends='--skip many_launches'
    [ -z "${LW_SLOW:-}" ] || trends='streaming requests launches'
    cases=$((cases + 1))
    # shellcheck disable=SC2086
    LANEWISE=$lanewise "$src/bench/timing_trends" --out trends $trends >out 2>&1 || {
        grep FAIL out
        fail "bench/timing_trends: a claim does not hold"
    }
    [ "$(wc -l <trends/streaming.txt)" = 4 ] || fail "bench/timing_trends --out does not write figures"
fi

echo "test_timing: $cases commands"
[ $failures = 0 ]
