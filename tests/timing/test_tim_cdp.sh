#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the time of kernel launches by the device: rows CT-1 to CT-5 and CT-8 in section 5.7 of the specification of the dynamic
# parallelism thesis, and row CF-5 of section 4.8. test_tim_blocks.c tests CT-6 and CT-7. The launch latencies are those of
# kepler-k20c: a stream takes 7,165 cycles, a parameter buffer 8,023 + 129 for each lane, a launch 12,187 + 1,592 for each lane,
# and a dispatch 283. With LW_LONG=1, CT-8 has up to 256K launches.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >launches.s <<'S'
.const child_d 40 8 = addr child, u32 1, 1, 1, 32, 1, 1, 0, 0
.kernel child
.param ptr.global out
.param u32 number
.param u32 sleep
    v_s2r v6, %clock
    v_mov_b64 v2:3, c[out]
    v_mov_b32 v0, c[number]
    v_madwide_u32 v2:3, v0, 16, v2:3
    v_s2r v9, %tid.x
    v_setp_u32.ne p0, v9, 0
    @p0 exit
    v_mov_b32 v5, c[sleep]
    nanosleep v5
    v_s2r v7, %clock
    st.global.b32 [v2:3], v6
    st.global.b32 [v2:3+4], v7
    exit
.end
.kernel parent
.param ptr.global out                   # element n: begin and end of child n; then, for warp n, begin of its first call and end of its last call
.param u32 lanes                        # number of lanes of a warp that launch
.param u32 sleep                        # time of a child, in ns
.param u32 after                        # time of the parent after its launches, in ns
    v_s2r v0, %tid.x
    v_s2r v1, %ctaid.x
    v_s2r v2, %ntid.x
    v_mad_u32 v0, v1, v2, v0            # number of the thread
    v_s2r v3, %laneid
    v_mov_b64 v10:11, c[out]
    v_setp_u32.ge p0, v3, c[lanes]
    @p0 bra done
    v_shr_u32 v4, v0, 5
    v_mul_u32 v5, v4, c[lanes]
    v_add_u32 v5, v5, v3                # number of the child
    v_mov_b32 v8, lo(child_d)
    v_mov_b32 v9, hi(child_d)
    v_mov_b32 v12, c[sleep]
    v_s2r v20, %clock
    launch.stream v14:15
    launch.buffer v6:7, 16
    st.global.b64 [v6:7], v10:11
    st.global.b32 [v6:7+8], v5
    st.global.b32 [v6:7+12], v12
    launch.kernel v13, v8:9, v6:7, v14:15
    v_s2r v21, %clock
    v_madwide_u32 v10:11, v5, 16, v10:11
    st.global.b32 [v10:11+8], v20
    st.global.b32 [v10:11+12], v21
done:
    v_mov_b32 v5, c[after]
    nanosleep v5
    exit
.end
.const empty_d 40 8 = addr empty, u32 1, 1, 1, 32, 1, 1, 0, 0
.kernel empty
    exit
.end
.kernel empties
.param ptr.global out
    v_mov_b32 v8, lo(empty_d)
    v_mov_b32 v9, hi(empty_d)
    launch.stream v14:15
    launch.buffer v6:7, 0
    launch.kernel v13, v8:9, v6:7, v14:15
    exit
.end
.const chain_d 40 8 = addr chain, u32 1, 1, 1, 32, 1, 1, 0, 0
.kernel chain
.param ptr.global out
.param u32 left
    v_s2r v0, %tid.x
    v_setp_u32.ne p0, v0, 0
    @p0 exit
    v_mov_b64 v10:11, c[out]
    v_mov_b32 v1, 1
    red.global.add.u32 [v10:11], v1
    v_mov_b32 v2, c[left]
    v_setp_u32.eq p0, v2, 0
    @p0 exit
    v_sub_u32 v2, v2, 1
    v_mov_b32 v8, lo(chain_d)
    v_mov_b32 v9, hi(chain_d)
    launch.buffer v6:7, 12
    st.global.b64 [v6:7], v10:11
    st.global.b32 [v6:7+8], v2
    launch.kernel v13, v8:9, v6:7, vz
    exit
.end
S
cat >launches.py <<'P'
import json, os, re, struct, subprocess, sys
failures = 0
def run(entry, grid, block, args, count, *keys, pending=2048, only_cycles=False):
    """Run a launch of kernel entry. Return the words of buffer out, which has count words, and the report. only_cycles: return
    only the cycles, because the report has an element for each of many launches."""
    with open('k.yaml', 'w') as f:
        f.write('machine: {pending_launches: %d}\nprogram: {source: launches.s}\nbuffers: {out: {type: u32, count: %d}}\nsteps:\n'
                '  - launch: {entry: %s, grid: [%d], block: [%d], args: [%s]}\n' % (pending, count, entry, grid, block, ', '.join(['out', *map(str, args)])))
    command = [sys.argv[1], 'run', 'k.yaml', '-q', '--dump', 'out=out.bin', '--timing=kepler-k20c', '--timing-report', 'r.json']
    for key in ('fetch.perfect=true', 'constant.perfect=true') + keys:
        command += ['--timing-set', key]
    subprocess.run(command, check=True)
    if only_cycles:
        with open('r.json') as f:
            return int(re.search('"cycles": ([0-9]+)', f.read(4096)).group(1))
    with open('out.bin', 'rb') as f:
        return struct.unpack('<%dI' % count, f.read()), json.load(open('r.json'))
def parents(grid, block, lanes, sleep, after, *keys):
    """Run kernel parent, of which the given number of lanes of each warp launch a child. Return the children as (begin of the child,
    end of the child, begin of its parent's calls, end of its parent's calls), in the order in which they begin."""
    count = grid * block // 32 * lanes
    words, report = run('parent', grid, block, [lanes, sleep, after], 4 * count, *keys)
    assert all(words[1::4]), 'a child has not run'
    return sorted(words[4 * i:4 * i + 4] for i in range(count)), report
def expect(what, fine, seen):
    global failures
    if not fine:
        failures += 1
        print('FAIL:', what, seen)
STREAM, DISPATCH = 7165, 283
def calls(lanes):
    return STREAM + 8023 + 129 * lanes + 12187 + 1592 * lanes
SLACK = 150 # cycles for the other instructions, such as the stores of the parameters
c, _ = parents(1, 32, 1, 1000, 1000)
expect('CT-1', calls(1) + DISPATCH == 29379 and 29379 <= c[0][0] - c[0][2] < 29379 + SLACK, c)
# CT-2: the k-th child begins after k dispatches. The 32nd has no entry, because the parent and 31 children have all of them.
c, _ = parents(1, 32, 32, 40000, 200000)
t = c[0][2]
expect('CT-2, calls', calls(32) == 82447 and all(82447 <= x[3] - x[2] < 82447 + SLACK for x in c), c)
for k in range(1, 32):
    at = c[k - 1][0] - t - 82447 - DISPATCH * k
    expect('CT-2, child %d' % k, 0 <= at < SLACK, at)
expect('CT-2, the last child', c[31][0] >= min(x[1] for x in c) + DISPATCH and c[31][0] - t > 91503, c[31])
# CT-3: 31 of 64 long children are resident while the parent is.
c, _ = parents(2, 32, 32, 100000, 1000000)
most = max(sum(x[0] <= y[0] < x[1] for x in c) for y in c)
expect('CT-3', most == 31, most)
# CT-4: the calls of 64 warps on one core take as long as those of one warp.
c, _ = parents(2, 1024, 1, 1000, 1000, 'core.count=1')
took = max(x[3] for x in c) - min(x[2] for x in c)
expect('CT-4', len(c) == 64 and calls(1) == 29096 and 29096 <= took < 1.1 * 29096, took)
# CT-5: without latencies, the calls take the time of their instructions, and all children run as with latencies.
c, _ = parents(1, 32, 32, 1000, 1000, 'kernels.ideal=true')
expect('CT-5', len(c) == 32 and max(x[3] - x[2] for x in c) < 2 * SLACK and c[0][0] - c[0][2] < 2 * SLACK, c[0])
# CT-8: empty children, launched by full warps
cycles = {}
for n in (32, 512, 2048, 8192, 16384):
    _, r = run('empties', n // 32, 32, [], 1, pending=1 << 20)
    cycles[n] = r['cycles']
    expect('CT-8, number of launches', r['sums']['gpu']['device_launches'] == n, r['sums']['gpu']['device_launches'])
    expect('CT-8, %d children' % n, abs(cycles[n] / (82447 + DISPATCH * n) - 1) < .05, cycles[n])
if os.environ.get('LW_LONG'): # section 5.3: the time of 256K launches
    for n in (131072, 262144):
        cycles[n] = run('empties', n // 32, 32, [], 1, pending=1 << 20, only_cycles=True)
        expect('CT-8, %d children' % n, abs(cycles[n] / (82447 + DISPATCH * n) - 1) < .05, cycles[n])
    expect('CT-8, 256K children take 100 to 150 ms', 100 <= cycles[262144] / 706e3 <= 150 and 1.9 < cycles[262144] / cycles[131072] < 2.1, cycles)
expect('CT-8, twice as many children', 1.9 < cycles[16384] / cycles[8192] < 2.1, cycles)
_, few = run('empties', 1, 32, [], 1, 'kernels.fixed=550000')
_, many = run('empties', 16, 32, [], 1, 'kernels.fixed=550000')
expect('CT-8, kernels.fixed', few['cycles'] == cycles[32] + 550000 and many['cycles'] == cycles[512] + 550000 and many['cycles'] / few['cycles'] < 1.3, few['cycles'])
# CF-5: each kernel launches the next one and waits for nothing; the depth exceeds the number of entries.
for keys in ([], ['kernels.entries=1'], ['kernels.ideal=true']):
    words, r = run('chain', 1, 32, [40], 1, *keys)
    expect('CF-5', words[0] == 41 and r['sums']['gpu']['device_launches'] == 40, words)
sys.exit(failures != 0)
P
python3 launches.py "$lanewise" || fail "a launch takes another time than computed"
[ $failures = 0 ]
