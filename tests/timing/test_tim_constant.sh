#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that loads from arrays in constant space use the constant cache, in PTX, OpenCL C and CUDA. A load takes one pass for each
# different word that its lanes read. The number of misses depends on the size of the cache. Also tests generic pointers to such
# an array, arrays that a launch file initialises, and a store to an array. Expected counts are computed below from the kernels.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >table.ptx <<'END_PTX'
.version 6.0
.target sm_70
.address_size 64
.const .align 4 .b32 table[128] = {1, 2, 3, 4, 5, 6, 7, 8};
.visible .entry walk(.param .u64 out, .param .u32 rounds, .param .u32 stride)
{
    .reg .u64 %a<4>; .reg .u32 %r<10>; .reg .pred %p<3>;
    ld.param.u64 %a0, [out];
    ld.param.u32 %r0, [rounds];
    ld.param.u32 %r9, [stride];
    mov.u32 %r1, %tid.x;
    mul.lo.u32 %r2, %r1, %r9;
    mov.u32 %r3, 0;
round:
    mov.u32 %r4, 0;
next:
    add.u32 %r5, %r4, %r2;
    and.b32 %r5, %r5, 127;
    mul.wide.u32 %a1, %r5, 4;
    mov.u64 %a2, table;
    add.u64 %a2, %a2, %a1;
    ld.const.u32 %r6, [%a2];
    add.u32 %r3, %r3, %r6;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p0, %r4, 128;
    @%p0 bra next;
    sub.u32 %r0, %r0, 1;
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra round;
    mul.wide.u32 %a1, %r1, 4;
    add.u64 %a0, %a0, %a1;
    st.global.u32 [%a0], %r3;
    ret;
}
.visible .entry pointer(.param .u64 out)
{
    .reg .u64 %a<4>; .reg .u32 %r<4>;
    ld.param.u64 %a0, [out];
    cvta.const.u64 %a1, table;
    ld.u32 %r0, [%a1+28];
    ld.const.v2.u8 {%r1, %r2}, [table+4];
    add.u32 %r0, %r0, %r1;
    add.u32 %r0, %r0, %r2;
    st.global.u32 [%a0], %r0;
    ret;
}
.visible .entry store()
{
    .reg .u64 %a<2>;
    cvta.const.u64 %a0, table;
    st.u32 [%a0], 1;
    ret;
}
END_PTX
cat >table.cl <<'END_CL'
__constant int table[128] = {1, 2, 3, 4, 5, 6, 7, 8};
__kernel void walk(__global int *out, int rounds, int stride)
{
    int sum = 0;
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < 128; i++)
            sum += table[(i + get_local_id(0) * stride) & 127];
    out[get_local_id(0)] = sum;
}
/* A pointer into constant space, to a buffer. */
__kernel void buffer(__global int *out, __constant int *from)
{
    out[get_local_id(0)] = from[get_local_id(0)];
}
END_CL
cat >table.cu <<'END_CU'
__constant__ int table[128] = {1, 2, 3, 4, 5, 6, 7, 8};
extern "C" __global__ void walk(int *out, int rounds, int stride)
{
    int sum = 0;
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < 128; i++)
            sum += table[(i + threadIdx.x * stride) & 127];
    out[threadIdx.x] = sum;
}
END_CU
cat >constant.py <<'END_PY'
import json, struct, subprocess, sys
failures = 0
def expect(what, fine, seen):
    global failures
    if not fine:
        failures += 1
        print('FAIL:', what, seen)
def run(source, entry, args, machine, *keys, reference=False, buffers=''):
    with open('k.yaml', 'w') as f:
        f.write('program: {source: %s}\nbuffers:\n  out: {type: u32, count: 32}\n%ssteps: [launch: {entry: %s, grid: [1], block: [32], '
                'args: [%s]}]\n' % (source, buffers, entry, args))
    command = [sys.argv[1], 'run', 'k.yaml', '-q', '--dump', 'out=out.bin', '--timing=' + machine, '--timing-report', 'r.json']
    # There is one block, so one core is enough: the reference model would simulate each further core cycle by cycle.
    for key in ('core.count=1',) + keys:
        command += ['--timing-set', key]
    subprocess.run(command + ['--timing-reference'] * reference, check=True)
    with open('out.bin', 'rb') as f, open('r.json') as r:
        report = json.load(r)
        return struct.unpack('<32I', f.read()), report['cycles'], report['sums']['cores']
keys = ('constant.line=64', 'constant.ways=4')
rounds, words, line = 2, 128, 64
for source in ('table.ptx', 'table.cl', 'table.cu'):
    for machine in ('fermi', 'volta'):
        for stride, passes in ((0, 1), (1, 32)):
            name = f'{source} on {machine}, stride {stride}'
            args = f'out, {rounds}, {stride}'
            big = run(source, 'walk', args, machine, 'constant.bytes=8192', *keys)
            small = run(source, 'walk', args, machine, 'constant.bytes=256', *keys)
            one = run(source, 'walk', args, machine, 'constant.bytes=8192', *keys, reference=True)
            for r in (big, small):
                expect(name + ': sums', r[0] == (rounds * 36,) * 32, r[0])
                expect(name + ': global loads', r[2]['global_loads'] == 0 and r[2]['l1_misses'] == 0, r[2])
                loads = rounds * words
                expect(name + ': loads', loads <= r[2]['constant_loads'] <= loads + 8, r[2]['constant_loads'])
                expect(name + ': passes', r[2]['constant_passes'] == loads * passes + r[2]['constant_loads'] - loads,
                       r[2]['constant_passes'])
            # The table of 512 bytes fits into 8 KiB, so each of its lines misses once. The parameters have one or two lines.
            lines = words * 4 // line
            expect(name + ': misses', lines < big[2]['constant_misses'] <= lines + 2, big[2]['constant_misses'])
            expect(name + ': evictions', big[2]['constant_evictions'] == 0, big[2]['constant_evictions'])
            # The table does not fit into 256 bytes, so with LRU each line misses again in the next round.
            expect(name + ': misses of 256 bytes', rounds * lines < small[2]['constant_misses'] , small[2]['constant_misses'])
            expect(name + ': evictions of 256 bytes', (rounds * lines - 4) <= small[2]['constant_evictions'],
                   small[2]['constant_evictions'])
            expect(name + ': cycles', small[1] > big[1], (small[1], big[1]))
            expect(name + ': the reference', one == big, (one, big))
        few, many = (run(source, 'walk', f'out, {rounds}, {s}', machine) for s in (0, 1))
        # A pass takes a cycle, so a load with 32 passes takes 31 cycles more, few of which are hidden.
        expect(f'{source} on {machine}: cycles by lanes', many[1] - few[1] > 25 * rounds * words, (many[1], few[1]))
out, _, cores = run('table.ptx', 'pointer', 'out', 'volta')
expect('a generic pointer reads the array', out[0] == 8 + 2 + 0, out[0])
expect('as a global load; bytes are constants', cores['global_loads'] == 1 and cores['constant_loads'] >= 1, cores)
given = ', '.join(str(100 + i) for i in range(32))
out, _, cores = run('table.cl', 'buffer', 'out, from', 'fermi', buffers='  from: {type: u32, count: 32, init: {values: [%s]}}\n' % given)
expect('a buffer of constant space', out == tuple(range(100, 132)) and cores['global_loads'] == 0, (out, cores))
given = ', '.join(str(i) for i in range(128))
out, _, cores = run('table.cu', 'walk', 'out, 1, 1', 'fermi', buffers='  table: {type: s32, count: 128, variable: table, init: {values: [%s]}}\n' % given)
expect('what a launch file puts there', out == (128 * 127 // 2,) * 32, out)
sys.exit(failures != 0)
END_PY
python3 constant.py "$lanewise" || failures=1
cat >store.yaml <<'END'
program: {source: table.ptx}
steps: [launch: {entry: store, grid: [1], block: [32], args: []}]
END
expect 3 'read-only' run store.yaml -q
exit $failures
