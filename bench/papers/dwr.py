# SPDX-License-Identifier: Apache-2.0
"""Dynamic warp resizing: its kernels, its machine and the trends of dwr.md 16.2.

A kernel represents a benchmark of the paper by the property with which the paper explains its figures. Results are computed
here, never by the emulator.
"""
import os
import random
import subprocess
import sys

import plot
from experiment import HERE, Experiment, Result, harmonic, mean
from workloads import MASK, Folder, below, buffers

KB = {12: ['l1.bytes=12288', 'l1.ways=6'], 48: [], 192: ['l1.bytes=196608', 'l1.ways=24']}


# ---- kernels ------------------------------------------------------------------------------------------

def s32(x):
    return (x & MASK) - ((x & 0x80000000) << 1)


def launch(entry, grid, block, args, checks):
    return ('steps:\n  - launch: {entry: %s, grid: %s, block: %s, args: [%s]}\n' % (entry, grid, block, args) +
            ''.join('  - check: {buffer: %s, file: %s}\n' % c for c in checks))


def bkp(folder, size=1):
    n, rounds, r = 64 * max(1, int(256 * size)), 4, random.Random(31)
    data = [below(r, 1 << 20) for _ in range(n * rounds)]
    out = [0] * (n * rounds)
    for t in range(n):
        at, total = (t & ~63) + (5 * t & 63), 0
        for k in range(rounds):
            total = s32(total + data[k * n + at])
            out[k * n + at] = total
    return ('program: {source: dwr.lwo}\n' + buffers(**{'in': ('s32', len(data), folder.put('bkp_in', data)), 'out': ('s32', len(out), None)}) +
            launch('bkp', [n // 256 or 1], [min(n, 256)], 'in, out, %d' % rounds, [('out', folder.put('bkp_out', out))]))


def mu(folder, size=1):
    n, records, steps, r = 256 * max(1, int(8 * size)), 8192, 40, random.Random(32)
    mask, out, tables = records - 1, [], []
    for _ in range(4): # some records are followed to much more often
        following = [int(records * r.random() ** 1.5) for _ in range(records)]
        tables.append([8 * x + below(r, 8) for x in following for _ in range(8)])
    a, b, c, d = tables
    for t in range(n):
        g, field = t >> 3, t & 7
        at, total, way = g * 73 & mask, field, g * 2654435761 & MASK
        for i in range(steps + g * 7919 % (steps // 2)):
            way = way * 1103515245 + 12345 & MASK
            kind = way >> 16 & 3
            if kind == 0:
                x = a[at * 8 + field]
                total, at = total * 3 + x, x >> 3
            elif kind == 1:
                x = b[at * 8 + field]
                total, at = (total ^ x) + i, (x >> 3) + 1 & mask
            elif kind == 2:
                x = c[at * 8 + field]
                y = a[(x >> 3) * 8 + field]
                total, at = total - (x + y * 5), y >> 3
            else:
                x = d[at * 8 + field]
                total, at = total + x * x, x >> 3 ^ 5
            total = s32(total)
        out.append(total)
    return ('program: {source: dwr.lwo}\n' +
            buffers(**{k: ('s32', len(v), folder.put('mu_' + k, v)) for k, v in (('a', a), ('b', b), ('c', c), ('d', d))}, out=('s32', n, None)) +
            launch('mu', [n // 256], [256], 'a, b, c, d, out, %d, %d' % (mask, steps), [('out', folder.put('mu_out', out))]))


def cp(folder, size=1):
    n, rounds, r = 128 * max(1, int(64 * size)), 160, random.Random(33)
    data, out = [below(r, 1 << 20) for _ in range(n)], []
    for t in range(n):
        x, y = data[t], t
        for i in range(rounds):
            x = s32(x * 13 + (y ^ i))
            y = s32(y * 5 + (x >> 7))
        out.append(s32(x + y))
    return ('program: {source: dwr.lwo}\n' + buffers(**{'in': ('s32', n, folder.put('cp_in', data)), 'out': ('s32', n, None)}) +
            launch('cp', [n // 128], [128], 'in, out, %d' % rounds, [('out', folder.put('cp_out', out))]))


def nnc(folder, size=1):
    n, steps, r = 16 * max(1, int(320 * size)), 12, random.Random(34)
    a, b, c, d = ([below(r, 1000) for _ in range(n * steps)] for _ in range(4))
    out = []
    for t in range(n):
        best, at, way = 0x7fffffff, t, (t >> 3) * 2654435761 & MASK
        for i in range(steps):
            way = way * 1103515245 + 12345 & MASK
            if way >> 16 & 1:
                v = a[at] * a[at] - b[at] + (c[at] * 3 if way >> 17 & 1 else 0)
            else:
                v = d[at] + c[at] * 5
                v ^= b[at] * 7 if way >> 17 & 1 else 0
            best, at = min(best, v), at + n
        out.append(best)
    return ('program: {source: dwr.lwo}\n' +
            buffers(**{k: ('s32', len(v), folder.put('nnc_' + k, v)) for k, v in (('a', a), ('b', b), ('c', c), ('d', d))}, out=('s32', n, None)) +
            launch('nnc', [n // 16], [16], 'a, b, c, d, out, %d, %d' % (n, steps), [('out', folder.put('nnc_out', out))]))


def mtm(folder, size=1):
    n, rows, inner, r = 64, 16 * max(1, int(8 * size)), 64, random.Random(35)
    a, b = [below(r, 100) for _ in range(rows * inner)], [below(r, 100) for _ in range(inner * n)]
    columns = [b[x::n] for x in range(n)]
    out = [sum(p * q for p, q in zip(a[y * inner:(y + 1) * inner], columns[x])) for y in range(rows) for x in range(n)]
    return ('program: {source: dwr.lwo}\n' +
            buffers(a=('s32', len(a), folder.put('mtm_a', a)), b=('s32', len(b), folder.put('mtm_b', b)), c=('s32', len(out), None)) +
            launch('mtm', [n // 16, rows // 16], [16, 16], 'a, b, c, %d, %d' % (n, inner), [('c', folder.put('mtm_c', out))]))


KERNELS = {'bkp': bkp, 'mu': mu, 'cp': cp, 'nnc': nnc, 'mtm': mtm}


# ---- machines -----------------------------------------------------------------------------------------

def fixed(width, simd=8):
    return ['core.warp_width=%d' % width, 'core.warps=%d' % (1024 // width)] + lanes(simd)


def large(width, simd=8):
    return fixed(simd, simd) + ['core.group=%d' % (width // simd), 'dwr.on=true']


def lanes(simd):
    """A wider warp holds the scheduler (2); shared memory serves as many threads a cycle whatever their warps."""
    return ['issue.lanes=%d' % simd, 'shared.banks=%d' % simd] + ['units.%s.lanes=%d' % (u, simd) for u in ('int', 'fp', 'cvt', 'mem', 'warp') if simd != 8]


SKIP = ['dwr.skip_counts_as_arrival=true']


def sizes(simd=8):
    """Warps of 1, 2, 4 and 8 times the lanes; of more than 64 lanes there are none. skip: an ignored barrier is an arrival."""
    return {**{w: fixed(w, simd) for w in (simd, 2 * simd, 4 * simd, 8 * simd) if w <= 64},
            **{'dwr %d' % w: large(w, simd) for w in (2 * simd, 4 * simd, 8 * simd)}, 'skip %d' % (8 * simd): large(8 * simd, simd) + SKIP}


class Sized(Result):
    def __init__(self, report):
        super().__init__(report)
        causes = report['sums']['causes']
        slots = sum(causes.values())
        self.idle = (slots - sum(causes.get(k, 0) for k in ('issued', 'unit', 'collector'))) / slots
        loads = self.core['l1_hits'] + self.core['l1_misses'] + self.core['l1_merges']
        self.off_core = self.core['l1_misses'] + self.core['accesses'] - loads # with stores, which write through
        self.accesses = self.core['accesses']
        self.coalescing = self.core['access_lanes'] / self.off_core
        self.pre_l1 = self.core['access_lanes'] / self.accesses
        self.activity = report['ratios'].get('simd_efficiency', 1)


class Machine(Experiment):
    """@cores of the 16, with their share of the 6 partitions."""

    model = 'tesla-dwr'

    def __init__(self, program, work, out, cores, size, jobs, known=()):
        super().__init__(program, work, out, cores, size, jobs, known)
        partitions = max(1, round(cores * 6 / 16))
        self.machine = ['core.count=%d' % cores, 'l2.slices=%d' % partitions, 'dram.channels=%d' % partitions]

    def make_folder(self):
        folder = Folder.__new__(Folder)
        folder.path = self.work
        command = [self.program, 'compile', '--no-scalar', os.path.join(HERE, 'dwr.cl'), '-o', 'dwr.lwo']
        if subprocess.run(command, cwd=self.work).returncode != 0:
            sys.exit('bench/papers: cannot compile: ' + ' '.join(command))
        return folder

    def make(self, name):
        return KERNELS[name]

    def result(self, report):
        return Sized(report)


# ---- the experiment -----------------------------------------------------------------------------------

def speeds(got, names, variant, over):
    return harmonic([got[n][over].cycles / got[n][variant].cycles for n in names])


def table(e, title, got, variants, what, text):
    print('\n' + title)
    rows = [[n] + [what(got[n], v) for v in variants] for n in got]
    e.lay_out(['kernel'] + [str(v) for v in variants], rows)
    e.keep(text, ['kernel'] + [str(v).replace(' ', '_') for v in variants], rows)


def gap(got, names, fixed_sizes, resized):
    """Ratio of mean IPCs: the best resized configuration over the best fixed size."""
    base = fixed_sizes[0]
    return (max(speeds(got, names, v, base) for v in resized) / max(speeds(got, names, v, base) for v in fixed_sizes))


def experiment(e, options):
    names = [n for n in KERNELS if not options.only or n in options.only]
    variants = sizes()
    fixed_sizes, resized = [8, 16, 32, 64], ['dwr 16', 'dwr 32', 'dwr 64']
    got = e.all(names, variants)
    has = lambda *some: all(n in names for n in some)

    table(e, 'IPC over that of warps of 16', got, variants, lambda r, v: '%.2f' % (r[16].cycles / r[v].cycles), 'dwr')
    table(e, 'idle cycles of all, %', got, variants, lambda r, v: '%.0f' % (100 * r[v].idle), 'dwr_idle')
    table(e, 'lane operations an access before L1', got, variants, lambda r, v: '%.2f' % r[v].pre_l1, 'dwr_pre_l1')
    table(e, 'lane operations a request that leaves the core', got, variants, lambda r, v: '%.2f' % r[v].coalescing, 'dwr_coalescing')
    table(e, 'LAT barriers: ignored, of a hundred; instructions in the list; warps of a LAT', got, resized + ['skip 64'],
          lambda r, v: '%.0f; %d; %.1f' % (100 * r[v].core['dwr_ignored'] / max(1, r[v].core['dwr_barriers']), r[v].core['dwr_ilt_inserts'] // e.cores,
                                          r[v].core['dwr_barriers'] / max(1, sum_of(r[v].histograms['dwr_issue_size']))), 'dwr_barriers')
    if e.out:
        plot.bars(os.path.join(e.out, 'dwr.svg'), 'IPC over that of warps of 16', 'x', names,
                  {str(v): [got[n][16].cycles / got[n][v].cycles for n in names] for v in variants})
    print()
    if has('bkp'):
        r = got['bkp']
        e.trend('dwr T1 accesses', all(r[a].accesses > r[b].accesses for a, b in zip(fixed_sizes, fixed_sizes[1:])),
                'bkp: accesses fall with the size of warps: ' + ', '.join('%d %d' % (v, r[v].accesses) for v in fixed_sizes))
        e.trend('dwr T1 same', all(r['dwr %d' % w].accesses == r[w].accesses for w in (16, 32, 64)), 'bkp: large warps make the accesses of warps of their size, exactly')
        e.trend('dwr T1 speed', r[8].cycles > r['dwr 64'].cycles, 'bkp: DWR-64 is faster than warps of 8: IPC x %.2f' % (r[8].cycles / r['dwr 64'].cycles))
        e.trend('dwr T12 coalescing', r['dwr 16'].pre_l1 < r['dwr 32'].pre_l1 < r['dwr 64'].pre_l1,
                'bkp: coalescing rises with the largest warp: ' + ', '.join('%.2f' % r[v].pre_l1 for v in resized))
        e.trend('dwr T13', max(abs(r[v].activity / r[8].activity - 1) for v in fixed_sizes) < .01, 'bkp: the share of active lanes is the same for all sizes')
    if has('mu'):
        r = got['mu']
        e.trend('dwr T2 size', r[8].cycles <= r[16].cycles < r[32].cycles < r[64].cycles, 'mu: IPC falls with the size of warps: ' +
                ', '.join('%.2f' % (r[8].cycles / r[v].cycles) for v in fixed_sizes))
        e.trend('dwr T2 list', r['dwr 64'].core['dwr_ilt_inserts'] > 0, 'mu: instructions are ignored: %d of a core' % (r['dwr 64'].core['dwr_ilt_inserts'] // e.cores))
        for name, v in (('', 'dwr 64'), (' skip', 'skip 64')):
            e.trend('dwr T2 64' + name, r[v].pre_l1 < r[64].pre_l1 and r[v].cycles <= r[64].cycles and r[v].idle < r[64].idle,
                    'mu: %s coalesces less than warps of 64, is not slower, and less idle: %.2f of the rate, IPC x %.2f, idle %.0f %% of %.0f %%' %
                    (v, r[v].pre_l1 / r[64].pre_l1, r[64].cycles / r[v].cycles, 100 * r[v].idle, 100 * r[64].idle))
        waits = [r[v].core['dwr_wait_cycles'] for v in resized]
        e.trend('dwr T12 waits', waits[0] < waits[1] < waits[2], 'mu: waits for partners rise with the largest warp: ' + ', '.join(map(str, waits)))
    if has('cp'):
        worst = max(abs(got['cp'][v].cycles / got['cp'][16].cycles - 1) for v in variants)
        e.trend('dwr T3', worst < .02, 'cp: all machines are within 2 %%: %.1f %%' % (100 * worst))
    if has('nnc'):
        r = got['nnc']
        e.trend('dwr T4 list', r['dwr 64'].core['dwr_ignored'] > .5 * r['dwr 64'].core['dwr_barriers'],
                'nnc: barriers on diverging ways are ignored: %.0f %%, %.0f instructions' % (100 * r['dwr 64'].core['dwr_ignored'] / r['dwr 64'].core['dwr_barriers'], r['dwr 64'].core['dwr_ignored_instructions'] / e.cores))
        for name, v in (('', 'dwr 64'), (' skip', 'skip 64')):
            e.trend('dwr T4 size' + name, r[v].cycles < 1.05 * r[8].cycles and r[32].cycles > r[v].cycles and r[64].cycles > r[v].cycles,
                    'nnc: %s is within 5 %% of warps of 8, and warps of 32 and 64 are slower: IPC x %.2f of theirs, %.2f, %.2f' %
                    ((v,) + tuple(r[w].cycles / r[v].cycles for w in (8, 32, 64))))
    if has('mtm'):
        r, best = got['mtm'], min(got['mtm'][v].cycles for v in fixed_sizes)
        e.trend('dwr T5 gain', abs(best / r['dwr 64'].cycles - 1) < .05, 'mtm: DWR-64 gains nothing over the best size: IPC x %.2f' % (best / r['dwr 64'].cycles))
        e.trend('dwr T5 list', all(r[v].core['dwr_nb_lat'] == 0 for v in resized), 'mtm: no instruction is ignored')
        e.trend('dwr T5 rate', all(abs(r['dwr %d' % w].pre_l1 / r[w].pre_l1 - 1) < .01 for w in (16, 32, 64)), 'mtm: large warps coalesce as warps of their size')
    if len(names) == len(KERNELS):
        means = {v: speeds(got, names, v, 16) for v in variants}
        idle = {v: mean([got[n][v].idle for n in names]) for v in variants}
        order = means[8] > means[32] > means[64] and abs(means[8] / means[16] - 1) < .05
        for name, v in (('', 'dwr 64'), (' skip', 'skip 64')):
            e.trend('dwr T6 best' + name, means[v] > max(means[w] for w in fixed_sizes), 'the mean IPC of %s is higher than that of any size: ' % v +
                    ', '.join('%s %.2f' % x for x in means.items()))
        e.trend('dwr T6 order', order, 'of one size, 8 is as 16, then 32, then 64')
        implied = {8: 1.00, 16: 1.00, 32: .97, 64: .92} # 12.1, worked out there from the gains of DWR-64
        e.trend('dwr T6 sizes', all(abs(means[w] / x - 1) <= .15 for w, x in implied.items()), 'the mean IPC of warps of one size is within 15 % of the source: ' +
                ', '.join('%s %.2f (%.2f)' % (w, means[w], x) for w, x in implied.items()))
        e.trend('dwr T6 idle', idle['dwr 64'] == min(idle.values()), 'DWR-64 is idle least: ' + ', '.join('%s %.0f %%' % (v, 100 * x) for v, x in idle.items()))
        of_source = ((8, '+8 %', '2.16'), (16, '+8 %', '1.7'), (32, '+11 %', '1.71'), (64, '+18 %', '2.28'))
        for v, (w, source, best) in ((v, row) for v in ('dwr 64', 'skip 64') for row in of_source):
            e.row('%s over warps of %d: mean; best kernel' % (v, w), source + '; ' + best,
                  '%+.0f %%; %.2f' % (100 * (speeds(got, names, v, w) - 1), max(got[n][w].cycles / got[n][v].cycles for n in names)), '12.1')
        for v in ('dwr 64', 'skip 64'):
            e.row('share of idle cycles of %s over those of 8, 16, 32, 64' % v, '-26, -12, -17, -25 %',
                  ', '.join('%+.0f' % (100 * (idle[v] / idle[w] - 1)) for w in fixed_sizes) + ' %', '12.1')
        rate = {v: mean([got[n][v].coalescing / got[n][8].coalescing for n in names]) for v in variants}
        e.row('coalescing rate of DWR-64 over that of 8; of 64', '1.14; 0.97', '%.2f; %.2f' % (rate['dwr 64'], rate['dwr 64'] / rate[64]), '12.1')
        sensitivity(e, options, names, got)
    costs(e, options, [n for n in ('bkp', 'mu', 'cp') if n in names], got)


def sum_of(histogram):
    return histogram.get('count', 1)


def sensitivity(e, options, names, base):
    """T7 to T9: other caches, more lanes, smaller lists."""
    e_sizes, resized = [8, 16, 32, 64], ['dwr 16', 'dwr 32', 'dwr 64']
    gaps = {}
    some = ['dwr 64', 'skip 64', 8, 16, 64] if options.quick else list(sizes())
    skips = {}
    for kb, keys in KB.items():
        got = e.all(names, {v: sizes()[v] + keys for v in some}) if keys else base
        gaps[kb] = gap(got, names, [v for v in e_sizes if v in some], [v for v in resized if v in some])
        skips[kb] = gap(got, names, [v for v in e_sizes if v in some], ['skip 64'])
        prefers = speeds(got, names, 64, 8)
        e.report('T7', '%d KB of L1: the best DWR over the best size x %.3f, with skip x %.3f; warps of 64 over those of 8 x %.2f' % (kb, gaps[kb], skips[kb], prefers))
    for name, g in (('', gaps), (' skip', skips)):
        e.trend('dwr T7' + name, g[12] < g[48] and abs(g[192] / g[48] - 1) < .03, 'the gap falls with a smaller L1, and is as large with a larger one: ' +
                ', '.join('%d KB %+.1f %%' % (kb, 100 * (x - 1)) for kb, x in g.items()))
    for name, g in (('best DWR', gaps), ('skip 64', skips)):
        e.row(name + ' over best size, L1 of 48 KB; of 12; of 192', '8; 4; 8 %', '; '.join('%+.0f' % (100 * (g[k] - 1)) for k in (48, 12, 192)) + ' %', '12.3')
    if options.quick:
        return
    by_lanes, skip_by_lanes = {8: gaps[48]}, {8: skips[48]}
    for simd in (16, 32):
        variants = sizes(simd)
        got = e.all(names, variants)
        skip_by_lanes[simd] = gap(got, names, [v for v in variants if not isinstance(v, str)], ['skip %d' % (8 * simd)])
        by_lanes[simd] = gap(got, names, [v for v in variants if not isinstance(v, str)], [v for v in variants if isinstance(v, str) and v.startswith('dwr')])
    for name, g in (('', by_lanes), (' skip', skip_by_lanes)):
        e.trend('dwr T8' + name, g[8] > g[16] > g[32], 'the gap falls with more lanes: ' + ', '.join('%d lanes %+.1f %%' % (s, 100 * (x - 1)) for s, x in g.items()))
    for name, g in (('best DWR', by_lanes), ('skip', skip_by_lanes)):
        e.row(name + ' over best size, 8 lanes; 16; 32', '8; 7; 5 %', '; '.join('%+.0f' % (100 * (x - 1)) for x in g.values()) + ' %', '12.3')
    lists = {'16 entries': ['dwr.ilt_ways=4'], '8 entries': ['dwr.ilt_sets=2', 'dwr.ilt_ways=4']}
    got = e.all(names, {v: large(64) + keys for v, keys in lists.items()})
    ratio = {v: harmonic([base[n]['dwr 64'].cycles / got[n][v].cycles for n in names]) for v in lists}
    e.trend('dwr T9', all(abs(x - 1) < .02 for x in ratio.values()), 'smaller lists cost less than 2 %: ' + ', '.join('%s x %.3f' % x for x in ratio.items()))
    e.row('ILT of 16 or 8 entries over 32', '0.99', ', '.join('%.3f' % x for x in ratio.values()), '12.3')
    line = ['l1.line=128', 'l1.sector=128', 'l2.line=128', 'l2.sector=128', 'l1.bytes=49152', 'l1.ways=6', 'dram.burst_bytes=64']
    got = e.all(names, {'dwr 64': large(64) + line})
    e.report('T14', 'lines of 128 bytes: DWR-64 x %.2f' % harmonic([base[n]['dwr 64'].cycles / got[n]['dwr 64'].cycles for n in names]))


def costs(e, options, names, base):
    """T10 and T11: without a list, and other latencies of the barrier."""
    variants = {'no list': large(64) + ['dwr.ilt_sets=0'], 'no skip': large(64) + SKIP + ['dwr.ilt_sets=0'],
                **{t: large(64) + ['dwr.latency=%d' % t] for t in (0, 48)}}
    if not names:
        return
    got = e.all(names, variants)
    for name, v, without in (('', 'dwr 64', 'no list'), (' skip', 'skip 64', 'no skip')):
        if 'mu' in names:
            a, b = base['mu'][v], got['mu'][without]
            e.trend('dwr T10' + name, b.cycles > a.cycles and b.core['dwr_wait_cycles'] > a.core['dwr_wait_cycles'],
                    'mu: %s without a list is slower and waits longer: IPC x %.2f, waits x %.2f' %
                    (v, a.cycles / b.cycles, b.core['dwr_wait_cycles'] / max(1, a.core['dwr_wait_cycles'])))
    cost = {n: [base[n]['dwr 64'].cycles / x for x in (got[n][0].cycles, base[n]['dwr 64'].cycles, got[n][48].cycles)] for n in names if n != 'mu'}
    if 'bkp' in cost:
        e.trend('dwr T11 bkp', cost['bkp'][0] >= cost['bkp'][1] >= cost['bkp'][2], 'bkp: a slower barrier costs: 0, 24, 48 cycles: IPC x ' + ', '.join('%.3f' % x for x in cost['bkp']))
    if 'cp' in cost:
        e.trend('dwr T11 cp', max(cost['cp']) - min(cost['cp']) < .01, 'cp: it does not matter: IPC x ' + ', '.join('%.3f' % x for x in cost['cp']))
