# SPDX-License-Identifier: Apache-2.0
"""Dynamic warp resizing: kernels, GPU model, and the trends of section 16.2 of its specification (dwr.md).

Each kernel represents a benchmark of the paper: it has the property by which the paper explains the figures of the benchmark.
The expected results are computed here, never by the emulator.
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
    for _ in range(4): # four tables, in which most records refer to one of the first records as the next one
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
    """Returns the keys of a GPU model with @simd lanes: the scheduler, the units and the banks of shared memory serve @simd
    threads in a cycle, whatever the width of warps. A wider warp occupies the scheduler for several cycles (section 2)."""
    return ['issue.lanes=%d' % simd, 'shared.banks=%d' % simd] + ['units.%s.lanes=%d' % (u, simd) for u in ('int', 'fp', 'cvt', 'mem', 'warp') if simd != 8]


EXPLICIT = ['dwr.bar_mode=explicit']
LITERAL = ['dwr.skip_counts_as_arrival=false']


def sizes(simd=8):
    """Returns the variants with @simd lanes. Fixed warps have 1, 2, 4 and 8 times as many lanes, up to 64; resized warps have up
    to 2, 4 and 8 times as many. In variants 'explicit', barriers are instructions of the program. In variants 'literal', an
    ignored barrier does not count as an arrival."""
    return {**{w: fixed(w, simd) for w in (simd, 2 * simd, 4 * simd, 8 * simd) if w <= 64},
            **{'dwr %d' % w: large(w, simd) for w in (2 * simd, 4 * simd, 8 * simd)}, 'explicit %d' % (8 * simd): large(8 * simd, simd) + EXPLICIT,
            'literal %d' % (8 * simd): large(8 * simd, simd) + LITERAL}


class Sized(Result):
    def __init__(self, report):
        super().__init__(report)
        causes = report['sums']['causes']
        slots = sum(causes.values())
        self.idle = (slots - sum(causes.get(k, 0) for k in ('issued', 'unit', 'collector'))) / slots
        loads = self.core['l1_hits'] + self.core['l1_misses'] + self.core['l1_merges']
        self.off_core = self.core['l1_misses'] + self.core['accesses'] - loads # all stores leave the core: L1 writes through
        self.accesses = self.core['accesses']
        self.coalescing = self.core['access_lanes'] / self.off_core
        self.pre_l1 = self.core['access_lanes'] / self.accesses
        self.activity = report['ratios'].get('simd_efficiency', 1)


class Machine(Experiment):
    """The GPU model tesla-dwr with @cores of its 16 cores, and the same share of its 6 memory partitions."""

    model = 'tesla-dwr'

    def __init__(self, program, work, out, cores, size, jobs, known=()):
        super().__init__(program, work, out, cores, size, jobs, known)
        partitions = max(1, round(cores * 6 / 16))
        self.machine = ['core.count=%d' % cores, 'l2.slices=%d' % partitions, 'dram.channels=%d' % partitions]

    def make_folder(self):
        folder = Folder.__new__(Folder)
        folder.path = self.work
        for output, more in (('dwr.lwo', []), ('dwr_barriers.lwo', ['--lat-barriers'])):
            command = [self.program, 'compile', '--no-scalar', *more, os.path.join(HERE, 'dwr.cl'), '-o', output]
            if subprocess.run(command, cwd=self.work).returncode != 0:
                sys.exit('bench/papers: cannot compile: ' + ' '.join(command))
        return folder

    def launch_with(self, name, keys):
        text = self.launch(name)
        return text.replace('dwr.lwo', 'dwr_barriers.lwo') if EXPLICIT[0] in keys else text

    def make(self, name):
        return KERNELS[name]

    def result(self, report):
        return Sized(report)


BARRIERS = ('dwr 64', 'explicit 64', 'literal 64')
MODES = (('', 'dwr 64'), (' explicit', 'explicit 64')) # for each mode of barriers: suffix of the trend's name, variant


# ---- the experiment -----------------------------------------------------------------------------------

def speeds(got, names, variant, over):
    return harmonic([got[n][over].cycles / got[n][variant].cycles for n in names])


def idle_cycles(got, names, variant, over):
    """Returns the idle cycles of @variant as a share of all cycles of @over: the mean over the kernels."""
    return mean([got[n][variant].idle * got[n][variant].cycles / got[n][over].cycles for n in names])


def table(e, title, got, variants, what, text):
    print('\n' + title)
    rows = [[n] + [what(got[n], v) for v in variants] for n in got]
    e.lay_out(['kernel'] + [str(v) for v in variants], rows)
    e.keep(text, ['kernel'] + [str(v).replace(' ', '_') for v in variants], rows)


def gap(got, names, fixed_sizes, resized):
    """Returns the mean IPC of the best resized variant divided by the mean IPC of the best fixed size."""
    base = fixed_sizes[0]
    return (max(speeds(got, names, v, base) for v in resized) / max(speeds(got, names, v, base) for v in fixed_sizes))


def experiment(e, options):
    names = [n for n in KERNELS if not options.only or n in options.only]
    variants = sizes()
    fixed_sizes, resized = [8, 16, 32, 64], ['dwr 16', 'dwr 32', 'dwr 64']
    got = e.all(names, variants)
    has = lambda *some: all(n in names for n in some)

    table(e, 'IPC over that of warps of 16', got, variants, lambda r, v: '%.2f' % (r[16].cycles / r[v].cycles), 'dwr')
    table(e, 'idle cycles as a share of all cycles, %', got, variants, lambda r, v: '%.0f' % (100 * r[v].idle), 'dwr_idle')
    table(e, 'lane operations per access before L1', got, variants, lambda r, v: '%.2f' % r[v].pre_l1, 'dwr_pre_l1')
    table(e, 'lane operations per request that leaves the core', got, variants, lambda r, v: '%.2f' % r[v].coalescing, 'dwr_coalescing')
    table(e, 'LAT barriers: ignored ones, %; instructions inserted into the ignore list; warps that issue as one large warp at a LAT', got, resized + ['explicit 64', 'literal 64'],
          lambda r, v: '%.0f; %d; %.1f' % (100 * r[v].core['dwr_ignored'] / max(1, r[v].core['dwr_barriers']), r[v].core['dwr_ilt_inserts'] // e.cores,
                                          r[v].core['dwr_barriers'] / max(1, sum_of(r[v].histograms['dwr_issue_size']))), 'dwr_barriers')
    if e.out:
        plot.bars(os.path.join(e.out, 'dwr.svg'), 'IPC over that of warps of 16', 'x', names,
                  {str(v): [got[n][16].cycles / got[n][v].cycles for n in names] for v in variants})
    print()
    if has('bkp'):
        r = got['bkp']
        e.trend('dwr T1 accesses', all(r[a].accesses > r[b].accesses for a, b in zip(fixed_sizes, fixed_sizes[1:])),
                'bkp: wider warps make fewer accesses (width, accesses): ' + ', '.join('%d %d' % (v, r[v].accesses) for v in fixed_sizes))
        e.trend('dwr T1 same', all(r['dwr %d' % w].accesses == r[w].accesses for w in (16, 32, 64)), 'bkp: large warps of 16, 32 and 64 lanes make exactly as many accesses as fixed warps of these widths')
        e.trend('dwr T1 same explicit', r['explicit 64'].accesses == r[64].accesses, 'bkp: with explicit barriers, large warps of 64 lanes make exactly as many accesses as fixed warps of 64')
        for name, v in MODES:
            e.trend('dwr T1 speed' + name, r[8].cycles > r[v].cycles, 'bkp: variant %s is faster than warps of 8: its IPC is %.2f times as high' % (v, r[8].cycles / r[v].cycles))
        e.trend('dwr T12 coalescing', r['dwr 16'].pre_l1 < r['dwr 32'].pre_l1 < r['dwr 64'].pre_l1,
                'bkp: a higher limit on the size of large warps (16, 32, 64) coalesces more lane operations per access: ' + ', '.join('%.2f' % r[v].pre_l1 for v in resized))
        e.trend('dwr T13', max(abs(r[v].activity / r[8].activity - 1) for v in fixed_sizes) < .01, 'bkp: the share of active lanes is the same for all widths of warps')
    if has('mu'):
        r = got['mu']
        e.trend('dwr T2 size', r[8].cycles <= r[16].cycles < r[32].cycles < r[64].cycles, 'mu: IPC falls as warps get wider (8, 16, 32, 64; IPC relative to warps of 8): ' +
                ', '.join('%.2f' % (r[8].cycles / r[v].cycles) for v in fixed_sizes))
        e.trend('dwr T2 list', r['dwr 64'].core['dwr_ilt_inserts'] > 0, 'mu: barriers of some instructions are ignored: %d instructions on each core' % (r['dwr 64'].core['dwr_ilt_inserts'] // e.cores))
        for name, v in MODES:
            e.trend('dwr T2 64' + name, r[v].pre_l1 < r[64].pre_l1 and r[v].cycles <= r[64].cycles and r[v].idle < r[64].idle,
                    'mu: variant %s coalesces less than warps of 64 (%.2f times as much), but is not slower (IPC x %.2f) and is less often idle (%.0f %% of the cycles; warps of 64: %.0f %%)' %
                    (v, r[v].pre_l1 / r[64].pre_l1, r[64].cycles / r[v].cycles, 100 * r[v].idle, 100 * r[64].idle))
        waits = [r[v].core['dwr_wait_cycles'] for v in resized]
        e.trend('dwr T12 waits', waits[0] < waits[1] < waits[2], 'mu: warps wait longer for partners if the limit on the size of large warps is higher (cycles with 16, 32, 64): ' + ', '.join(map(str, waits)))
    if has('cp'):
        worst = max(abs(got['cp'][v].cycles / got['cp'][16].cycles - 1) for v in variants)
        e.trend('dwr T3', worst < .02, 'cp: the cycles of all variants are within 2 %% of those of warps of 16; the largest difference is %.1f %%' % (100 * worst))
    if has('nnc'):
        r = got['nnc']
        e.trend('dwr T4 list', r['dwr 64'].core['dwr_ignored'] > .5 * r['dwr 64'].core['dwr_barriers'],
                'nnc: more than half of the barriers are ignored, because they are on divergent paths: %.0f %%, of %.0f instructions' % (100 * r['dwr 64'].core['dwr_ignored'] / r['dwr 64'].core['dwr_barriers'], r['dwr 64'].core['dwr_ignored_instructions'] / e.cores))
        for name, v in MODES:
            e.trend('dwr T4 size' + name, r[v].cycles < 1.05 * r[8].cycles and r[32].cycles > r[v].cycles and r[64].cycles > r[v].cycles,
                    'nnc: variant %s is within 5 %% of warps of 8 and faster than warps of 32 and 64; its IPC relative to theirs is %.2f, %.2f and %.2f' %
                    ((v,) + tuple(r[w].cycles / r[v].cycles for w in (8, 32, 64))))
    if has('mtm'):
        r, best = got['mtm'], min(got['mtm'][v].cycles for v in fixed_sizes)
        for name, v in MODES:
            e.trend('dwr T5 gain' + name, abs(best / r[v].cycles - 1) < .05, 'mtm: variant %s is as fast as the best fixed width within 5 %%: IPC x %.2f' % (v, best / r[v].cycles))
        e.trend('dwr T5 list', all(r[v].core['dwr_nb_lat'] == 0 for v in resized + ['explicit 64']), 'mtm: the barriers of no instruction are ignored')
        e.trend('dwr T5 rate', all(abs(r['dwr %d' % w].pre_l1 / r[w].pre_l1 - 1) < .01 for w in (16, 32, 64)), 'mtm: large warps coalesce as many lane operations per access as fixed warps of their size')
    if len(names) == len(KERNELS):
        means = {v: speeds(got, names, v, 16) for v in variants}
        idle = {v: mean([got[n][v].idle for n in names]) for v in variants}
        order = means[8] > means[32] > means[64] and abs(means[8] / means[16] - 1) < .05
        for name, v in MODES:
            e.trend('dwr T6 best' + name, means[v] > max(means[w] for w in fixed_sizes), 'the mean IPC of variant %s is higher than that of any fixed width: ' % v +
                    ', '.join('%s %.2f' % x for x in means.items()))
        e.trend('dwr T6 order', order, 'among fixed widths, 8 and 16 have equal mean IPCs, then 32 and 64 follow')
        implied = {8: 1.00, 16: 1.00, 32: .97, 64: .92} # these figures follow from the gains of DWR-64 in section 12.1 of dwr.md
        e.trend('dwr T6 sizes', all(abs(means[w] / x - 1) <= .15 for w, x in implied.items()), 'the mean IPCs of fixed widths are within 15 % of the figures of the source (in parentheses): ' +
                ', '.join('%s %.2f (%.2f)' % (w, means[w], x) for w, x in implied.items()))
        e.trend('dwr T6 idle', idle['dwr 64'] < min(idle[w] for w in fixed_sizes), 'DWR-64 has the smallest share of idle cycles: ' + ', '.join('%s %.0f %%' % (v, 100 * x) for v, x in idle.items()))
        of_source = ((8, '+8 %', '2.16'), (16, '+8 %', '1.7'), (32, '+11 %', '1.71'), (64, '+18 %', '2.28'))
        for v, (w, source, best) in ((v, row) for v in BARRIERS for row in of_source):
            e.row('IPC of variant %s over that of warps of %d: mean gain; best kernel' % (v, w), source + '; ' + best,
                  '%+.0f %%; %.2f' % (100 * (speeds(got, names, v, w) - 1), max(got[n][w].cycles / got[n][v].cycles for n in names)), '12.1')
        for v in BARRIERS:
            e.row('share of idle cycles of variant %s relative to that of warps of 8, 16, 32 and 64' % v, '-26, -12, -17, -25 %',
                  ', '.join('%+.0f' % (100 * (idle[v] / idle[w] - 1)) for w in fixed_sizes) + ' %', '12.1')
            e.row('idle cycles of variant %s over all kernels together, relative to those of warps of 8, 16, 32 and 64' % v, '-26, -12, -17, -25 %',
                  ', '.join('%+.0f' % (100 * (idle_cycles(got, names, v, 16) / idle_cycles(got, names, w, 16) - 1)) for w in fixed_sizes) + ' %', '12.1')
        rate = {v: mean([got[n][v].coalescing / got[n][8].coalescing for n in names]) for v in variants}
        e.row('lane operations per request of DWR-64, relative to warps of 8; to warps of 64', '1.14; 0.97', '%.2f; %.2f' % (rate['dwr 64'], rate['dwr 64'] / rate[64]), '12.1')
        sensitivity(e, options, names, got)
    costs(e, options, [n for n in ('bkp', 'mu', 'cp') if n in names], got)


def sum_of(histogram):
    return histogram.get('count', 1)


def sensitivity(e, options, names, base):
    """Checks T7 to T9 (other sizes of L1, more lanes, smaller ignore lists), and prints T14 (lines of 128 bytes)."""
    e_sizes, resized = [8, 16, 32, 64], ['dwr 16', 'dwr 32', 'dwr 64']
    some = ['dwr 64', 8, 16, 64] if options.quick else [v for v in sizes() if v not in BARRIERS[1:]]
    gaps = {}
    for kb, keys in KB.items():
        got = e.all(names, {v: sizes()[v] + keys for v in some}) if keys else base
        gaps[kb] = gap(got, names, [v for v in e_sizes if v in some], [v for v in resized if v in some])
        prefers = speeds(got, names, 64, 8)
        e.report('T7', 'with %d KB of L1, the IPC of the best DWR is %.3f times that of the best fixed width, and the IPC of warps of 64 is %.2f times that of warps of 8' % (kb, gaps[kb], prefers))
    e.trend('dwr T7', gaps[12] < gaps[48] and abs(gaps[192] / gaps[48] - 1) < .03, 'the gain of the best DWR over the best fixed width falls with a smaller L1, and stays with a larger L1: ' +
            ', '.join('%d KB %+.1f %%' % (kb, 100 * (x - 1)) for kb, x in gaps.items()))
    e.row('gain of the best DWR over the best fixed width, with an L1 of 48 KB; 12 KB; 192 KB', '8; 4; 8 %', '; '.join('%+.0f' % (100 * (gaps[k] - 1)) for k in (48, 12, 192)) + ' %', '12.3')
    if options.quick:
        return
    by_lanes = {8: gaps[48]}
    for simd in (16, 32):
        variants = {v: keys for v, keys in sizes(simd).items() if not str(v).startswith(('explicit', 'literal'))}
        got = e.all(names, variants)
        by_lanes[simd] = gap(got, names, [v for v in variants if not isinstance(v, str)], [v for v in variants if isinstance(v, str)])
    e.trend('dwr T8', by_lanes[8] > by_lanes[16] > by_lanes[32], 'the gain of the best DWR over the best fixed width falls with more lanes of the core: ' +
            ', '.join('%d lanes %+.1f %%' % (s, 100 * (x - 1)) for s, x in by_lanes.items()))
    e.row('gain of the best DWR over the best fixed width, with 8 lanes; 16; 32', '8; 7; 5 %', '; '.join('%+.0f' % (100 * (x - 1)) for x in by_lanes.values()) + ' %', '12.3')
    lists = {'16 entries': ['dwr.ilt_ways=4'], '8 entries': ['dwr.ilt_sets=2', 'dwr.ilt_ways=4']}
    got = e.all(names, {v: large(64) + keys for v, keys in lists.items()})
    ratio = {v: harmonic([base[n]['dwr 64'].cycles / got[n][v].cycles for n in names]) for v in lists}
    e.trend('dwr T9', all(abs(x - 1) < .02 for x in ratio.values()), 'smaller ignore lists cost less than 2 % of the IPC: ' + ', '.join('%s x %.3f' % x for x in ratio.items()))
    e.row('IPC with an ILT of 16 or 8 entries over that with 32', '0.99', ', '.join('%.3f' % x for x in ratio.values()), '12.3')
    line = ['l1.line=128', 'l1.sector=128', 'l2.line=128', 'l2.sector=128', 'l1.bytes=49152', 'l1.ways=6', 'dram.burst_bytes=64']
    got = e.all(names, {'dwr 64': large(64) + line})
    e.report('T14', 'with lines of 128 bytes, the IPC of DWR-64 is %.2f times as high' % harmonic([base[n]['dwr 64'].cycles / got[n]['dwr 64'].cycles for n in names]))


def costs(e, options, names, base):
    """Checks T10 (without an ignore list) and T11 (other latencies of the barrier)."""
    variants = {'no list': large(64) + ['dwr.ilt_sets=0'], 'no list explicit': large(64) + EXPLICIT + ['dwr.ilt_sets=0'],
                **{t: large(64) + ['dwr.latency=%d' % t] for t in (0, 48)}}
    if not names:
        return
    got = e.all(names, variants)
    for name, v in MODES:
        if 'mu' in names:
            a, b = base['mu'][v], got['mu']['no list' + name]
            e.trend('dwr T10' + name, b.cycles > a.cycles and b.core['dwr_wait_cycles'] > a.core['dwr_wait_cycles'],
                    'mu: without an ignore list, variant %s is slower and its warps wait longer: IPC x %.2f, wait cycles x %.2f' %
                    (v, a.cycles / b.cycles, b.core['dwr_wait_cycles'] / max(1, a.core['dwr_wait_cycles'])))
    cost = {n: [base[n]['dwr 64'].cycles / x for x in (got[n][0].cycles, base[n]['dwr 64'].cycles, got[n][48].cycles)] for n in names if n != 'mu'}
    if 'bkp' in cost:
        e.trend('dwr T11 bkp', cost['bkp'][0] >= cost['bkp'][1] >= cost['bkp'][2], 'bkp: a longer latency of the barrier costs IPC (with 0, 24 and 48 cycles): x ' + ', '.join('%.3f' % x for x in cost['bkp']))
    if 'cp' in cost:
        e.trend('dwr T11 cp', max(cost['cp']) - min(cost['cp']) < .01, 'cp: the latency of the barrier changes IPC by less than 1 % (with 0, 24 and 48 cycles): x ' + ', '.join('%.3f' % x for x in cost['cp']))


# ---- the points that the paper leaves open (section 15 of dwr.md) ----------------------------------------------------

GTO = ['issue.policy=gto']
SETTINGS = {
    'as it is': [], 'barriers explicit': EXPLICIT, 'explicit, ignored_latency 0': EXPLICIT + ['dwr.ignored_latency=0'], 'ignored_latency 0 (9)': ['dwr.ignored_latency=0'], 'wakeup large (10)': ['dwr.wakeup=large'],
    'on_foreign_release (6)': ['dwr.on_foreign_release=true'], 'group_span_blocks (5)': ['dwr.group_span_blocks=true'],
    'lat_param (4)': ['dwr.lat_param=true'], 'ilt_keep (3)': ['dwr.ilt_keep=true'], 'ilt_index_shift 3 (1)': ['dwr.ilt_index_shift=3'],
    'timeout 1000 (19)': ['dwr.timeout=1000'], 'latency 0': ['dwr.latency=0'], 'schedulers gto': GTO,
    'skip no arrival (7)': LITERAL, '(7), ignored_latency 0': LITERAL + ['dwr.ignored_latency=0'], '(7), wakeup large': LITERAL + ['dwr.wakeup=large'],
    '(7), on_foreign_release': LITERAL + ['dwr.on_foreign_release=true'], '(7), group_span_blocks': LITERAL + ['dwr.group_span_blocks=true'],
    '(7), timeout 1000': LITERAL + ['dwr.timeout=1000'], '(7), latency 0': LITERAL + ['dwr.latency=0'], '(7), schedulers gto': LITERAL + GTO,
}


def open_points(e, options):
    """Prints the figures of trends that depend on points which the paper leaves open, with each setting of each point."""
    names, sets = list(KERNELS), {}
    fixed_sizes = (8, 16, 32, 64)
    for what, keys in SETTINGS.items():
        own = [k for k in keys if k in GTO]
        for kb, cache in KB.items():
            sets[what, kb] = large(64) + keys + cache
            for w in fixed_sizes:
                sets[w, kb, bool(own)] = fixed(w) + own + cache
        sets[what, 'no list'] = large(64) + keys + ['dwr.ilt_sets=0']
        for latency in (0, 48):
            sets[what, 'latency', latency] = large(64) + keys + ([] if 'dwr.latency=0' in keys else ['dwr.latency=%d' % latency])
    got = e.all(names, sets)
    heading = ['DWR-64', 'T2 mu/64', 'idle mu-64', 'T4 nnc/8', 'T6 mean/best', 'idle: it', 'least', 'T7 12', '48', '192 KB', 'T10 mu', 'T11 bkp 0', '48']
    rows = []
    for what, keys in SETTINGS.items():
        own = any(k in GTO for k in keys)
        r = {n: got[n][what, 48] for n in names}
        of = lambda n, w: got[n][w, 48, own]
        gaps = [harmonic([got[n][8, kb, own].cycles / got[n][what, kb].cycles for n in names]) /
                max(harmonic([got[n][8, kb, own].cycles / got[n][w, kb, own].cycles for n in names]) for w in fixed_sizes) for kb in KB]
        idle = {w: mean([of(n, w).idle for n in names]) for w in fixed_sizes}
        rows.append([what, '%.2f' % (of('mu', 64).cycles / r['mu'].cycles), '%+.0f' % (100 * (r['mu'].idle - of('mu', 64).idle)),
                     '%.2f' % (of('nnc', 8).cycles / r['nnc'].cycles), '%.3f' % gaps[1],
                     '%.0f' % (100 * mean([r[n].idle for n in names])), '%.0f' % (100 * min(idle.values()))] + ['%+.1f' % (100 * (g - 1)) for g in gaps] +
                    ['%.2f' % (r['mu'].cycles / got['mu'][what, 'no list'].cycles)] +
                    ['%.3f' % (r['bkp'].cycles / got['bkp'][what, 'latency', latency].cycles) for latency in (0, 48)])
    print('\nIPC of DWR-64 over warps of 64 on mu, of 8 on nnc, the best mean of one size; idle shares in %; gaps in %; without a list, and with other')
    print('latencies, over the setting itself. Numbers in parentheses are the rows of dwr.md 15.')
    e.lay_out(heading, rows)
    e.keep('dwr_open', [h.replace(' ', '_') for h in heading], [[r[0].replace(' ', '_')] + r[1:] for r in rows])


# The settings that product() combines. lat_param, ilt_keep and ilt_index_shift change nothing on these kernels.
KNOBS = {
    'explicit': EXPLICIT, 'ignored_latency 0 (9)': ['dwr.ignored_latency=0'], 'wakeup large (10)': ['dwr.wakeup=large'],
    'on_foreign_release (6)': ['dwr.on_foreign_release=true'], 'group_span_blocks (5)': ['dwr.group_span_blocks=true'],
    'timeout 1000 (19)': ['dwr.timeout=1000'], '(7)': LITERAL, 'gto': GTO,
}


def product(e, options):
    """Prints T4, T5, T6 and T11 (bkp) with all combinations of settings of the open points, and for each trend the number of
    combinations with which it holds. With --only, T4 needs nnc, T5 needs mtm, T11 needs bkp, and T6 needs all kernels."""
    names, knobs = [n for n in KERNELS if not options.only or n in options.only], list(KNOBS)
    ways = [tuple(k for i, k in enumerate(knobs) if at >> i & 1) for at in range(1 << len(knobs))]
    if options.quick:
        ways = [w for w in ways if len(w) < 2]
    whole, latencies = len(names) == len(KERNELS), (0, 48) if 'bkp' in names else ()
    base = {(n, w, gto): e.start(n, fixed(w) + GTO * gto) for gto in (False, True) for n in names for w in (8, 16, 32, 64)}
    runs = {}
    for way in ways:
        keys = large(64) + [x for k in way for x in KNOBS[k]]
        for n in names:
            runs[n, way] = e.start(n, keys)
        for t in latencies:
            runs[t, way] = e.start('bkp', keys + ['dwr.latency=%d' % t])
    base, runs = ({at: f.result() for at, f in of.items()} for of in (base, runs))
    cells, holds = {}, {}
    for way in ways:
        of = {(n, w): base[n, w, 'gto' in way] for n in names for w in (8, 16, 32, 64)}
        r = {n: runs[n, way] for n in names}
        cell, held = cells.setdefault(way, {}), holds.setdefault(way, {})
        if 'nnc' in r:
            cell['T4 nnc/8'] = of['nnc', 8].cycles / r['nnc'].cycles
            held['T4'] = cell['T4 nnc/8'] > 1 / 1.05
        if 'mtm' in r:
            cell['T5 mtm/best'] = min(of['mtm', w].cycles for w in (8, 16, 32, 64)) / r['mtm'].cycles
            held['T5'] = abs(cell['T5 mtm/best'] - 1) < .05
        if whole:
            mean_of = lambda w: harmonic([of[n, 8].cycles / of[n, w].cycles for n in names])
            cell['T6 mean/best'] = harmonic([of[n, 8].cycles / r[n].cycles for n in names]) / max(map(mean_of, (8, 16, 32, 64)))
            cell['T6 idle less least'] = mean([r[n].idle for n in names]) - min(mean([of[n, w].idle for n in names]) for w in (8, 16, 32, 64))
            held['T6 mean'], held['T6 idle'] = cell['T6 mean/best'] > 1, cell['T6 idle less least'] < 0
        if latencies:
            cell['T11 bkp 0'], cell['T11 bkp 48'] = (r['bkp'].cycles / runs[t, way].cycles for t in (0, 48))
            held['T11'] = cell['T11 bkp 0'] >= 1 >= cell['T11 bkp 48']
    print('\n%d settings; %s; all: %d' % (len(ways), ', '.join('%s holds with %d' % (t, sum(h[t] for h in holds.values())) for t in holds[ways[0]]),
                                         sum(all(h.values()) for h in holds.values())))
    columns = list(cells[ways[0]])
    text = {way: [', '.join(way) or 'as it is'] + ['%.3f' % cells[way][c] for c in columns] for way in ways}
    shown = [text[()]]
    for c in columns:
        for what, best in (('most', max), ('least', min)):
            row = text[best(ways, key=lambda way: cells[way][c])]
            shown.append(['%s %s: %s' % (what, c, row[0])] + row[1:])
    e.lay_out(['settings'] + columns, shown)
    e.keep('dwr_product', ['settings'] + [c.replace(' ', '_') for c in columns], [[row[0].replace(' ', '_')] + row[1:] for row in text.values()])
