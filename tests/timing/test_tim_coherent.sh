#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests L1 caches without coherence (l1.coherent off). The L1 of block 1 contains a line. Block 0 stores to this line and sets a
# flag. Then block 1 loads the line in one of several ways. PTX defines which loads may return the old value: those with cache
# operator .ca may; those with .cg or .cv, volatile loads and atomics may not. After a fence of sufficient scope, loads must
# return the new value.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >coherent.py <<'END'
import json, subprocess, sys
failures = 0
def expect(what, fine, seen):
    global failures
    if not fine:
        failures += 1
        print('FAIL:', what, seen)
KERNEL = '''
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 value)
{
    .reg .u64 %%a<4>; .reg .u32 %%r<10>; .reg .pred %%p<4>;
    ld.param.u64 %%a0, [out];
    ld.param.u32 %%r0, [value];
    mov.u32 %%r1, %%tid.x;
    setp.ne.u32 %%p0, %%r1, 0;
    @%%p0 bra end;
    mov.u32 %%r2, %%ctaid.x;
    setp.ne.u32 %%p1, %%r2, 0;
    @%%p1 bra reader;
wait0:
    ld.volatile.global.u32 %%r3, [%%a0+132];
    setp.eq.u32 %%p2, %%r3, 0;
    @%%p2 bra wait0;
    st.global.u32 [%%a0], %%r0;
    membar.gl;
    st.volatile.global.u32 [%%a0+128], 1;
    bra end;
reader:
    ld.global.u32 %%r4, [%%a0+4];
    add.u32 %%r4, %%r4, 1;
    st.volatile.global.u32 [%%a0+132], %%r4;
wait1:
    ld.volatile.global.u32 %%r3, [%%a0+128];
    setp.eq.u32 %%p2, %%r3, 0;
    @%%p2 bra wait1;
    %s
    st.global.u32 [%%a0+256], %%r5;
end:
    ret;
}
.visible .entry again(.param .u64 out)
{
    .reg .u64 %%a<2>; .reg .u32 %%r<2>;
    ld.param.u64 %%a0, [out];
    ld.global.u32 %%r0, [%%a0];
    st.global.u32 [%%a0+260], %%r0;
    ret;
}
'''
def run(load, machine, *keys, more=(), launches=1, status=0):
    with open('k.ptx', 'w') as f:
        f.write(KERNEL % load)
    with open('k.yaml', 'w') as f:
        f.write('program: {source: k.ptx}\nbuffers: {out: {type: u32, count: 1024}}\nsteps:\n'
                '  - launch: {entry: k, grid: [2], block: [32], args: [out, 42]}\n')
        f.write('  - launch: {entry: again, grid: [2], block: [32], args: [out]}\n' * (launches - 1))
    command = [sys.argv[1], 'run', 'k.yaml', '-q', '--hash', '--dump', 'out=out.txt', '--timing=' + machine,
               '--timing-report', 'r.json', '--log', 'k.log', *more]
    for key in ('l1.global=cache',) + keys:
        command += ['--timing-set', key]
    done = subprocess.run(command, capture_output=True, text=True)
    expect(f'{load}: status', done.returncode == status, (done.returncode, done.stderr))
    if status not in (0, 1):
        return None, None, None, done.stdout + done.stderr
    with open('out.txt') as f, open('r.json') as r:
        out, report = [int(line) for line in f], json.load(r)
    return out, report['counts_hash'], report['sums']['cores'], done.stdout + done.stderr
plain = 'ld.global.u32 %r5, [%a0];'
# Maps a name to the instructions that replace %s in the kernel, and whether they load the old value.
ways = {
    'plain': (plain, True),
    'at all levels': ('ld.global.ca.u32 %r5, [%a0];', True),
    'generic': ('ld.u32 %r5, [%a0];', True),
    'past L1': ('ld.global.cg.u32 %r5, [%a0];', False),
    'again': ('ld.global.cv.u32 %r5, [%a0];', False),
    'volatile': ('ld.volatile.global.u32 %r5, [%a0];', False),
    'relaxed': ('ld.relaxed.gpu.global.u32 %r5, [%a0];', False),
    'atomic': ('atom.global.add.u32 %r5, [%a0], 0;', False),
    'fence of the block': ('membar.cta; ' + plain, True),
    'fence of the device': ('membar.gl; ' + plain, False),
    'fence of the system': ('membar.sys; ' + plain, False),
    'acquire': ('ld.acquire.gpu.global.u32 %r3, [%a0+128]; ' + plain, False),
    'acquire of the block': ('ld.acquire.cta.global.u32 %r3, [%a0+128]; ' + plain, True),
    'barrier of the warp': ('bar.warp.sync 1; ' + plain, True),
    # L1 has one set of four lines, so these four loads evict the line
    'thrown out': (''.join(f'ld.global.u32 %r6, [%a0+{128 * i}]; ' for i in range(4, 8)) +
                   'mul.wide.u32 %a1, %r6, 4; add.u64 %a1, %a1, %a0; ld.global.u32 %r5, [%a1];', False),
    # A core sees its own stores. Whether other words of the line are old depends on l1.store.
    'own store to the word': ('st.global.u32 [%a0], 7; ' + plain, None),
    'bytes': ('ld.global.u8 %r5, [%a0];', True),
    'signed': ('ld.global.s16 %r5, [%a0];', True),
    'vector': ('ld.global.v2.u32 {%r5, %r6}, [%a0];', True),
}
small = ('l1.bytes=512', 'l1.ways=4', 'l1.line=128', 'l1.sector=128')
for machine, store in (('fermi', 'evict'), ('fermi', 'update'), ('volta', 'evict')):
    for what, (load, stale) in ways.items():
        name = f'{machine}, {store}, {what}'
        keys = small + ('l1.store=' + store,)
        out, counts, cores, _ = run(load, machine, *keys, 'l1.coherent=off')
        value = 7 if stale is None else 0 if stale else 42
        expect(name, out[64] == value and cores['l1_stale'] == bool(stale), (out[64], cores['l1_stale']))
        expect(name + ': memory', out[0] == (7 if stale is None else 42), out[0])
        if machine == 'fermi' and store == 'evict': # also tests the reference model, and a replay of the schedule
            functional = subprocess.run([sys.argv[1], 'run', 'k.yaml', '-q', '--hash', '--replay', 'k.log'],
                                        capture_output=True, text=True).stdout
            naive = run(load, machine, *keys, 'l1.coherent=off', more=('--timing-reference',))
            expect(name + ': the reference', naive[:3] == (out, counts, cores), (naive, out, counts))
            expect(name + ': replay', functional.split()[:4] == naive[3].split()[:4] and 'hash_mem' in functional, functional)
        if machine == 'volta' and stale:
            out, _, cores, _ = run(load, machine, *keys)
            expect(name + ': coherent', out[64] == 42 and cores['l1_stale'] == cores['l1_invalidations'] == 0, out[64])
# If a store updates the line in the core's own L1, the other words of the line remain old. If it evicts the line, they are loaded
# again.
for store, value in (('evict', 42), ('update', 0)):
    out, _, _, _ = run('st.global.u32 [%a0+8], 7; ' + plain, 'fermi', 'l1.coherent=off', 'l1.store=' + store)
    expect(f'own store beside it, {store}', out[64] == value and out[2] == 7, out[:3])
# A kernel must see the stores of earlier kernels.
out, _, cores, _ = run(plain, 'fermi', 'l1.coherent=off', launches=2)
expect('a later kernel', out[64] == 0 and out[65] == 42 and cores['l1_stale'] == 1, (out[64:66], cores['l1_stale']))
# The finding must name the stale load and the store.
line = 1 + KERNEL[:KERNEL.index('%s')].count('\n')
before = 1 + KERNEL[:KERNEL.index('st.global.u32 [%%a0], %%r0')].count('\n')
for check in ('stale', 'all,-performance', 'memory,stale'):
    _, _, _, said = run(plain, 'fermi', 'l1.coherent=off', more=('--check=' + check,), status=1)
    found = [one for one in said.splitlines() if ': stale: ' in one]
    expect('finding ' + check, len(found) == 1 and f'k.ptx:{line}: stale: ' in found[0] and '__threadfence' in found[0] and
           "in 'out'" in found[0] and f'k.ptx:{before};' in found[0] and 'block (1,0,0)' in found[0], said)
    run('membar.gl; ' + plain, 'fermi', 'l1.coherent=off', more=('--check=stale,memory',), status=0)
    run(plain, 'fermi', more=('--check=stale,memory',), status=0)
# A loop polls a stale line in its L1. This is not reported as a hang, because the line could be evicted. The limit of
# instructions ends the run, and the finding is reported.
poll = 'poll: ld.global.u32 %r5, [%a0]; setp.eq.u32 %p2, %r5, 0; @%p2 bra poll;'
_, _, _, said = run(poll, 'fermi', 'l1.coherent=off', more=('--check=stale', '--max-instructions', '600000', '--hang-limit', '20000'), status=4)
expect('polling', ': stale: ' in said and 'limit' in said, said)
sys.exit(failures != 0)
END
python3 coherent.py "$lanewise" || failures=1

# With --check=stale, a note must be printed if no line can be stale in the run.
cat >u.cl <<'END'
__kernel void u(__global int *out) { out[get_global_id(0)] = 1; }
END
set -- run u.cl --grid 1 --block 32 --arg 'out=s32[32]'
expect 0 '^lanewise: u.cl: the check stale finds nothing .*: add --timing=fermi and --timing-set l1.coherent=off$' "$@" --check=stale
expect 0 '^lanewise: u.cl: the check stale finds nothing .*: add --timing-set l1.coherent=off$' "$@" --check=stale --timing=fermi
expect 0 '' "$@" --check=stale --timing=fermi --timing-set l1.coherent=off
! grep -q 'stale finds nothing' err || fail "there is a note although loads may be stale"
expect 0 '' "$@" --check=all
! grep -q 'stale finds nothing' err || fail "there is a note although all kinds are enabled"
exit $failures
