#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests LaPerm with kernels in CUDA C++: cache hits, the number of blocks on each core, and the lines that parents and children
# share (L-9 to L-12 in section 8.7 of the specification of the dynamic parallelism thesis). test_tim_blocks.c tests L-1 to L-8.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

cat >laperm.cu <<'C'
/* L-9: each parent writes 8 KB, which its child reads. Meanwhile other parents write their own data and evict lines. */
__global__ void reads(const int *data, int *sum)
{
    int total = 0;

    for (int i = threadIdx.x; i < 2048; i += 64)
        total += __ldca(data + i);
    atomicAdd(sum, total);
}
__global__ void stream(int *data, int *sum, int rounds)
{
    int *mine = data + blockIdx.x * 2048, total = 0;

    for (int i = threadIdx.x; i < 2048; i += 64)
        mine[i] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += 64)
        total += __ldca(mine + (i ^ 32)); /* data of the block's other warp; L1 has it after this load */
    if (threadIdx.x == 0)
        lanewise::launch_group<reads>(1, 64)(mine, sum);
    for (int r = 0; r < rounds; r++) /* time for the child to begin while its parent runs */
        total = total * 3 + 1;
    if (total == 12345)
        *sum = 0;
}

/* L-10 and L-11: each parent launches the number of children in the array `children`, and each child computes for a while. */
__global__ void computes(int *done, int rounds)
{
    int x = threadIdx.x;

    for (int r = 0; r < rounds; r++)
        x = x * 3 + r;
    if (threadIdx.x == 0)
        atomicAdd(done, 1 + (x == 12345 ? 1 : 0));
}
__global__ void parents(const int *children, int *done, int rounds)
{
    if ((int)threadIdx.x < children[blockIdx.x])
        lanewise::launch_group<computes>(1, 64)(done, rounds);
}
/* L-12: a parent accesses lines 0 to 9, and its two children access lines 5 to 11 and 8 to 14. The children have 10 lines, of
 * which the parent accesses 5. */
__global__ void touches(int *data, int first, int lines)
{
    if (threadIdx.x < lines)
        atomicAdd(data + (first + threadIdx.x) * 32, 1);
}
__global__ void parent(int *data)
{
    if (threadIdx.x < 10)
        atomicAdd(data + threadIdx.x * 32, 1);
    if (threadIdx.x < 2)
        lanewise::launch_group<touches>(1, 32)(data, threadIdx.x == 0 ? 5 : 8, 7);
}
C
launch() { # usage: launch NAME BUFFERS ENTRY BLOCKS THREADS ARGUMENTS CHECK. Writes NAME.yaml.
    cat >"$1.yaml" <<Y
program: {source: laperm.lwo}
buffers: {$2}
steps:
  - launch: {entry: $3, grid: [$4], block: [$5], args: [$6]}
  - check: {$7}
Y
}
"$lanewise" compile laperm.cu -o laperm.lwo || exit 1
n=104
sum=$((n * 2047 * 1024))
launch shared "data: {type: s32, count: $((n * 2048))}, sum: {type: s32, count: 1}" stream $n 64 "data, sum, 400" "buffer: sum, values: [$sum]"
heavy="100, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1"
launch heavy "children: {type: s32, count: 13, init: [$heavy]}, done: {type: s32, count: 1}" parents 13 128 "children, done, 2000" "buffer: done, values: [112]"
even="16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16"
launch even "children: {type: s32, count: 13, init: [$even]}, done: {type: s32, count: 1}" parents 13 128 "children, done, 2000" "buffer: done, values: [208]"

launch family "data: {type: s32, count: 512}" parent 1 32 "data" "buffer: data, index: 256, values: [3]"

run() { # usage: run NAME POLICY KEYS. Runs NAME.yaml and writes the report NAME.POLICY.
    "$lanewise" run "$1.yaml" -q --timing=kepler-k20c --mechanism dtbl --timing-set dtbl.pending=true --timing-set kernels.policy="$2" \
        --timing-report "$1.$2" $3 >out 2>err || fail "$1, $2: the run fails"
}
# Launches take little time, so that children begin while parents run. The kernels load by __ldca, so that L1 caches the lines.
soon='--timing-set kernels.latency=20 --timing-set kernels.buffer_base=50 --timing-set kernels.buffer_lane=1 --timing-set kernels.launch_base=100 --timing-set kernels.launch_lane=1'
for policy in rr tb_pri smx_bind adaptive_bind; do
    run shared $policy "$soon --timing-set core.blocks=2 --timing-set l2.bytes=16384 --timing-set l1.bytes=32768"
    run heavy $policy "$soon --timing-set core.blocks=1"
    run even $policy "$soon --timing-set core.blocks=1"
done
run family adaptive_bind "$soon --mechanism dtbl,family"
run family rr "$soon --mechanism family"
python3 - <<'P' || fail "properties L-9 to L-12 do not hold"
import json
policies = ('rr', 'tb_pri', 'smx_bind', 'adaptive_bind')
report = {(n, p): json.load(open('%s.%s' % (n, p))) for n in ('shared', 'heavy', 'even') for p in policies}


def rate(name, policy, scope, hit):
    core = report[name, policy]['sums'][scope]
    return core[hit + 'hits'] / max(1, core[hit + 'hits'] + core[hit + 'misses'] + core[hit + 'merges'])


def blocks(name, policy):
    return [core['blocks'] for core in report[name, policy]['cores']]


bad = []


def claim(holds, text):
    print('ok  ' if holds else 'FAIL', text)
    if not holds:
        bad.append(text)


def of_children(name, policy, child):
    """Returns the hit rate of L1 in the blocks of kernel @child, and the mean time of such a block in cycles."""
    blocks = [k for k in report[name, policy]['kernels'] if k['plain_name'] == child]
    hits, misses = (sum(b['sums']['cores'][c] for b in blocks for c in what) for what in (('l1_hits',), ('l1_misses', 'l1_merges')))
    return hits / max(1, hits + misses), sum(b['ended'] - b['started'] for b in blocks) / len(blocks)


l1 = {p: of_children('shared', p, 'reads')[0] for p in policies}
l2 = {p: rate('shared', p, 'slices', '') for p in policies}
claim(l1['smx_bind'] > .9 and l1['rr'] < .01, 'L-9: loads of children hit in L1 what their parents wrote with smx_bind, and miss with rr: %.3f, %.3f' % (l1['smx_bind'], l1['rr']))
claim(l2['tb_pri'] > l2['rr'], 'L-9: and in L2 with tb_pri more often than with rr: %.3f, %.3f' % (l2['tb_pri'], l2['rr']))
cycles = {(n, p): report[n, p]['cycles'] for n in ('heavy', 'even') for p in policies}
spread = {p: max(blocks('heavy', p)) / (sum(blocks('heavy', p)) / 13) for p in policies}
claim(max(blocks('heavy', 'smx_bind')) >= 101, 'L-10: with smx_bind a core has the parent and all its 100 children: %s' % blocks('heavy', 'smx_bind'))
child = of_children('heavy', 'smx_bind', 'computes')[1]
claim(abs(cycles['heavy', 'smx_bind'] / (100 * child) - 1) < .05, 'L-10: and takes as long as they do one after the other: %d cycles, 100 children of %.0f' %
      (cycles['heavy', 'smx_bind'], child))
claim(abs(cycles['heavy', 'adaptive_bind'] / (112 * child / 13) - 1) < .1, 'L-10: with adaptive_bind all children take as long as a 13th of them do one after the other: %d cycles, 112 / 13 x %.0f' %
      (cycles['heavy', 'adaptive_bind'], child))
claim(spread['smx_bind'] > 4 * spread['adaptive_bind'], 'L-10: imbalance %.2f, adaptive_bind %.2f' % (spread['smx_bind'], spread['adaptive_bind']))
ratio = cycles['even', 'smx_bind'] / cycles['even', 'adaptive_bind']
claim(abs(ratio - 1) < .05, 'L-11: with as many children for each parent both take as long: %.3f' % ratio)
for p in ('rr', 'adaptive_bind'):
    family = json.load(open('family.' + p))['family']
    claim(family['children'] == 2 and (family['parents_children']['both'], family['parents_children']['all']) == (5, 10),
          'L-12: a parent touches 5 of the 10 lines of its children: %s' % family['parents_children'])
    claim((family['siblings']['both'], family['siblings']['all']) == (8, 14), 'L-12: a child touches 4 of the 7 lines of its sibling: %s' % family['siblings'])
    claim(family['parents']['all'] == 0 and family['complete'], 'L-12: one parent shares with no other one: %s' % family['parents'])
raise SystemExit(1 if bad else 0)
P
[ $failures = 0 ]
