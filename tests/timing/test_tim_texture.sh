#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests GPU models whose L1 is also the texture cache (texture.bytes: 0), so that textures and loads share its capacity. A warp
# fetches an array as a texture, then loads an array, and then does both a second time. Expected counts are computed below from
# the sizes of the arrays and caches.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >both.ptx <<'END_PTX'
.version 6.0
.target sm_70
.address_size 64
.global .texref line;
.visible .entry both(.param .u64 out, .param .u64 data, .param .u32 words, .param .u32 rounds)
{
    .reg .u64 %a<4>; .reg .u32 %r<10>; .reg .f32 %f<8>; .reg .pred %p<3>;
    ld.param.u64 %a0, [data];
    ld.param.u32 %r0, [words];
    ld.param.u32 %r1, [rounds];
    mov.f32 %f5, 0f00000000;
round:
    mov.u32 %r2, %tid.x;
fetch:
    tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [line, {%r2}];
    add.f32 %f5, %f5, %f0;
    add.u32 %r2, %r2, 32;
    setp.lt.u32 %p0, %r2, %r0;
    @%p0 bra fetch;
    mov.u32 %r2, %tid.x;
load:
    mul.wide.u32 %a1, %r2, 4;
    add.u64 %a1, %a0, %a1;
    ld.global.f32 %f6, [%a1];
    add.f32 %f5, %f5, %f6;
    add.u32 %r2, %r2, 32;
    setp.lt.u32 %p0, %r2, %r0;
    @%p0 bra load;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra round;
    ld.param.u64 %a2, [out];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %a1, %r2, 4;
    add.u64 %a2, %a2, %a1;
    st.global.f32 [%a2], %f5;
    ret;
}
END_PTX
cat >both.py <<'END_PY'
import json, struct, subprocess, sys
failures = 0
def expect(what, fine, seen):
    global failures
    if not fine:
        failures += 1
        print('FAIL:', what, seen)
rounds = 2
def run(machine, words, *keys, reference=False, other=False):
    """Run the kernel. It loads the array that it fetches, or with `other` a second array of the same size."""
    with open('k.yaml', 'w') as f:
        f.write('program: {source: both.ptx}\nbuffers:\n  out: {type: f32, count: 32}\n'
                '  data: {type: f32, count: %d, init: {constant: 1}}\n  more: {type: f32, count: %d, init: {constant: 1}}\n'
                'textures: {line: {buffer: data}}\n'
                'steps: [launch: {entry: both, grid: [1], block: [32], args: [out, %s, %d, %d]}]\n' %
                (words, words, 'more' if other else 'data', words, rounds))
    command = [sys.argv[1], 'run', 'k.yaml', '-q', '--dump', 'out=out.bin', '--timing=' + machine, '--timing-report', 'r.json']
    # There is one block, so one core is enough: the reference model would simulate each further core cycle by cycle.
    for key in ('l1.hash=none', 'core.count=1') + keys:
        command += ['--timing-set', key]
    subprocess.run(command + ['--timing-reference'] * reference, check=True)
    with open('out.bin', 'rb') as f, open('r.json') as r:
        sums, report = struct.unpack('<32f', f.read()), json.load(r)
    expect('%s, %d words: sums' % (machine, words), sums == (2.0 * rounds * words / 32,) * 32, sums)
    return report['cycles'], report['sums']['cores'], report['config']
for machine in ('volta', 'ampere', 'gcn-tahiti', 'fermi'):
    size = run(machine, 32)[2]['l1']['bytes'] // 4
    one = machine != 'fermi'
    # The array has half the size of L1. It is first fetched as a texture, so all loads hit if L1 is the texture cache.
    cycles, core, config = run(machine, size // 2, 'l1.classes=true')
    name = '%s: half of L1' % machine
    expect(name + ': is the texture cache', (config['texture']['bytes'] == 0) == one, config['texture'])
    accesses = rounds * (size // 2) * 4 // config['l1']['line']
    if one:
        expect(name + ': misses of textures', core['texture_misses'] == accesses // rounds, core['texture_misses'])
        expect(name + ': hits of textures', core['texture_hits'] == accesses - accesses // rounds, core['texture_hits'])
        expect(name + ': loads hit', core['l1_hits'] == accesses and core['l1_misses'] == 0, (core['l1_hits'], core['l1_misses']))
    else:
        expect(name + ': loads miss', core['l1_misses'] == accesses // rounds, core['l1_misses'])
        expect(name + ': misses of textures', core['texture_misses'] == accesses // rounds, core['texture_misses'])
    expect(name + ': classes of loads alone', sum(core['l1_hits_' + k] for k in ('thread', 'warp', 'other')) == core['l1_hits'] and
           sum(core['l1_misses_' + k] for k in ('compulsory', 'conflict', 'warp', 'other')) == core['l1_misses'], core)
    # Each array has 3/4 of the size of L1. In one cache with LRU, textures and loads evict each other's lines. Two caches of this
    # size would hold all lines.
    _, shared, _ = run(machine, size * 3 // 4, other=True)
    _, apart, _ = run(machine, size * 3 // 4, 'texture.bytes=%d' % (4 * size), 'texture.line=%d' % config['l1']['line'],
                      'texture.ways=%d' % config['l1']['ways'], other=True)
    accesses = rounds * (size * 3 // 4) * 4 // config['l1']['line']
    if one:
        expect(machine + ': misses of both', shared['l1_misses'] + shared['texture_misses'] == 2 * accesses,
               (shared['l1_misses'], shared['texture_misses'], accesses))
    expect(machine + ': two caches', apart['l1_misses'] == apart['texture_misses'] == accesses // rounds,
           (apart['l1_misses'], apart['texture_misses'], accesses))
    again = run(machine, size * 3 // 4, reference=True, other=True)[1]
    expect(machine + ': the reference', again == shared, 'differs')
    # Without L1 this model has no texture cache either.
    if machine == 'volta':
        _, none, _ = run(machine, size // 2, 'l1.bytes=0')
        expect('volta without L1', none['texture_hits'] + none['texture_misses'] + none['l1_hits'] == 0, none)
        _, stale, _ = run(machine, size // 2, 'l1.coherent=false')
        expect('volta, l1.coherent off', stale['l1_hits'] == rounds * (size // 2) * 4 // 128, stale['l1_hits'])
sys.exit(failures != 0)
END_PY
python3 both.py "$lanewise" || failures=1
exit $failures
