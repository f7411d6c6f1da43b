#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests streams of the host. Hardware queues, the distributor's entries and the dispatcher determine which kernels run at the same
# time, on which cores their blocks run, and when blocks begin. Each block records its core, and the cycles of its beginning and
# end. B-3 to B-8 are rows of table B in section 3.6 of the specification of the dynamic parallelism thesis. test_tim_blocks.c
# tests B-1, B-2 and B-8.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >note.s <<'END'
.kernel note
.param ptr.global out
.param u32 first
    v_s2r v0, %ctaid.x
    v_mov_b64 v2:3, c[out]
    v_mov_b32 v1, c[first]
    v_add_u32 v0, v0, v1
    v_madwide_u32 v2:3, v0, 16, v2:3
    v_s2r v4, %smid
    v_mov_b32 v5, 40000
    v_s2r v6, %clock
    nanosleep v5
    v_s2r v7, %clock
    st.global.b32 [v2:3], v4
    st.global.b32 [v2:3+4], v6
    st.global.b32 [v2:3+8], v7
    v_mov_b32 v8, 1
    st.global.b32 [v2:3+12], v8
    exit
.end
END
cat >streams.py <<'END'
import json, os, struct, subprocess, sys
failures = 0
def run(launches, *keys, blocks=1, shared={}, reference=False):
    """Run a launch for each element of launches, in that stream, or in no stream if the element is None. Each launch has the
    same number of blocks. shared[i] is the number of bytes of shared memory of a block of launch i. Return for each launch the
    list of its blocks as (core, begin, end), and the report."""
    count = blocks * len(launches)
    with open('k.yaml', 'w') as f:
        f.write('program: {source: note.s}\nbuffers: {out: {type: u32, count: %d}}\nsteps:\n' % (4 * count))
        for i, s in enumerate(launches):
            f.write('  - launch: {entry: note, grid: [%d], block: [32], shared: %d, args: [out, %d]%s}\n' %
                    (blocks, shared.get(i, 0), i * blocks, '' if s is None else ', stream: %d' % s))
    command = [sys.argv[1], 'run', 'k.yaml', '-q', '--dump', 'out=out.bin', '--timing=kepler-k20c', '--timing-report', 'r.json']
    for key in ('fetch.perfect=true', 'constant.perfect=true') + keys:
        command += ['--timing-set', key]
    subprocess.run(command + ['--timing-reference'] * reference, check=True)
    with open('out.bin', 'rb') as f:
        words = struct.unpack('<%dI' % (4 * count), f.read())
    assert all(words[3::4]), 'a block has not run'
    seen = [(words[4 * i], words[4 * i + 1], words[4 * i + 2]) for i in range(count)]
    return [seen[i * blocks:(i + 1) * blocks] for i in range(len(launches))], json.load(open('r.json'))
def overlap(a, b):
    return a[0][1] < b[0][2] and b[0][1] < a[0][2]
def most(kernels):
    return max(sum(k[0][1] <= t[0][1] < k[0][2] for k in kernels) for t in kernels)
def expect(what, fine, seen):
    global failures
    if not fine:
        failures += 1
        print('FAIL:', what, seen)
latency = 283
k, r = run([1, 2])
expect('two streams', overlap(*k) and k[1][0][1] - k[0][0][1] == latency, k)
expect('the next core around', [k[0][0][0], k[1][0][0]] == [0, 1], k)
k, r = run([1, 1])
expect('B-4: one stream', not overlap(*k) and k[1][0][1] - k[0][0][2] >= latency, k)
k, r = run([None, None])
expect('no stream', not overlap(*k), k)
k, r = run([1, None, 2])
expect('a launch without a stream waits', not overlap(k[0], k[1]) and not overlap(k[1], k[2]), k)
k, r = run([1, 2], 'kernels.queues=1')
expect('B-6: one queue for two streams', not overlap(*k), k)
k, r = run([0, 32, 1])
expect('B-5: streams 0 and 32 share a queue', not overlap(k[0], k[1]) and overlap(k[0], k[2]), k)
k, r = run(list(range(12)), 'kernels.queues=64', 'kernels.entries=8')
expect('entries', most(k) == 8, most(k))
expect('the ninth comes when an entry is free', k[8][0][1] >= min(x[0][2] for x in k), k)
for queues in (32, 64): # B-3
    k, r = run(list(range(40)), 'kernels.queues=%d' % queues, 'kernels.latency=0')
    begins, ends = sorted(x[0][1] for x in k), sorted(x[0][2] for x in k)
    expect('B-3: 32 of 40 kernels run', most(k) == 32, most(k))
    expect('B-3: kernels 33 to 40 begin when others have ended', all(b >= e for b, e in zip(begins[32:], ends)) and begins[31] < ends[0], (begins, ends))
# B-7: 14 blocks of the first kernel need all shared memory of a core each, so that one of them waits for one of 13 cores. The
# blocks of the second kernel, which need none, wait as well, except with kernels.bypass.
for bypass in (False, True):
    k, r = run([1, 2], 'kernels.bypass=%s' % str(bypass).lower(), blocks=14, shared={0: 49152})
    first = min(x[2] for x in k[0])
    expect('B-7: bypass %s' % bypass, max(x[1] for x in k[0]) >= first and (min(x[1] for x in k[1]) < first) == bypass, k)
k, r = run([1, 2], blocks=5)
expect('B-8: blocks in rotation, kernel by kernel', [b[0] for x in k for b in x] == list(range(10)), k)
for keys in ([], ['kernels.queues=2', 'kernels.entries=2'], ['kernels.mixed=false', 'core.count=2']):
    k, r = run([0, 1, 2, 3, 1, 0], *keys, blocks=3)
    naive, s = run([0, 1, 2, 3, 1, 0], *keys, blocks=3, reference=True)
    expect('the naive model', k == naive and r['counts_hash'] == s['counts_hash'], keys)
sys.exit(failures != 0)
END
python3 streams.py "$lanewise" || exit 1
"$lanewise" run k.yaml >out || { cat out; exit 1; }
grep -q '6 launches' out || { cat out; echo "FAIL: the functional run does not execute 6 launches"; exit 1; }
sed 's/stream: 3/stream: -1/' k.yaml >bad.yaml
"$lanewise" run bad.yaml 2>&1 | grep 'bad.yaml:[0-9]*: stream: ' || { echo "FAIL: a negative stream is not refused"; exit 1; }
