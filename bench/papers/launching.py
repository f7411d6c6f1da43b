# SPDX-License-Identifier: Apache-2.0
"""Launches by the device and the placement of their blocks: trends TR-1 to TR-13 and TR-18 of the specification of the dynamic
parallelism thesis, section 15. The codes of launches.cu run on a part of `kepler-k20c`."""
import os
import re

import launches
import plot
from experiment import Experiment, Result, harmonic, mean

CDP, DTBL = [], ['dtbl.on=true', 'dtbl.pending=true']
IDEAL = ['kernels.ideal=true']
VARIANTS = {'flat': ('flat', []), 'CDPI': ('cdp', CDP + IDEAL), 'CDP': ('cdp', CDP), 'DTBLI': ('dtbl', DTBL + IDEAL), 'DTBL': ('dtbl', DTBL), 'PT': ('pt', [])}
QUICK = ('bfs_citation', 'bfs_roads', 'sssp_citation', 'clr_citation', 'amr')
POLICIES = {'RR': 'rr', 'TB-Pri': 'tb_pri', 'SMX-Bind': 'smx_bind', 'Adaptive-Bind': 'adaptive_bind'}
LAPERM = ('bfs_citation', 'sssp_citation', 'clr_citation', 'join_gaussian', 'join_uniform', 'pre', 'amr')
QUICK_LAPERM = ('join_gaussian', 'pre', 'amr')


class Launched(Result):
    def __init__(self, report):
        super().__init__(report)
        gpu, ratios = report['sums']['gpu'], report['ratios']
        self.gpu, self.occupancy, self.activity = gpu, 100 * ratios['occupancy'], 100 * ratios['simd_efficiency']
        self.dram, self.l2 = ratios['dram_efficiency'] or 0, 100 * (ratios['l2_hit_rate'] or 0)
        self.l1 = 100 * self.hits
        self.launches = gpu['device_launches']
        self.wait = gpu['device_wait'] / self.launches if self.launches else 0
        self.bytes = gpu['device_bytes'] / self.cycles
        self.joined = gpu['dtbl_joined'] / gpu['dtbl_groups'] if gpu['dtbl_groups'] else 0
        placed = gpu['dtbl_table_hits'] + gpu['dtbl_spills']
        self.table = gpu['dtbl_table_hits'] / placed if placed else 0
        self.family = report.get('family') or {}
        busy = [core['active_cycles'] for core in report['cores']]
        self.imbalance = max(busy) / mean(busy) if sum(busy) else 1


    def shared(self, who):
        """Returns the share of the lines of @who (parents_children, siblings or parents) that are shared, in %, or None."""
        lines = self.family.get(who, {})
        return 100 * lines['both'] / lines['all'] if lines.get('all') else None


class Machine(Experiment):
    """The GPU model kepler-k20c with @cores of its 13 cores, and the same share of its 5 DRAM channels and 10 L2 slices."""

    model = 'kepler-k20c'

    def __init__(self, program, work, out, cores, size, jobs, known=()):
        super().__init__(program, work, out, cores, size, jobs, known)
        channels = max(1, round(cores * 5 / 13))
        self.machine = ['core.count=%d' % cores, 'l2.slices=%d' % (2 * channels), 'dram.channels=%d' % channels]

    def make_folder(self):
        return launches.Folder(self.work, self.program)

    def make(self, name):
        """Returns a function that makes the launch file for @name, which has the form CODE/FORM[@ELEMENTS]. ELEMENTS replaces
        launches.MANY: an item with at least this number of elements is launched."""
        code, form = name.split('/')
        form, _, many = form.partition('@')

        def maker(folder, size):
            usual, launches.MANY = launches.MANY, int(many or launches.MANY)
            try:
                return launches.CODES[code](folder, form, size)
            finally:
                launches.MANY = usual
        return maker

    def result(self, report):
        return Launched(report)

    def every(self, codes, variants, more=()):
        """Runs each code with each of @variants, a dictionary from name to (form, keys), and the keys @more. Returns {code:
        {variant: Launched}}."""
        for code in codes:
            for form, keys in variants.values():
                self.start(code + '/' + form, keys + list(more))
        return {code: {v: self.get(code + '/' + form, keys + list(more)) for v, (form, keys) in variants.items()} for code in codes}


def chosen(options, of, quick):
    return [c for c in of if c in (options.only or (quick if options.quick else of))]


def table(e, title, codes, columns, cell):
    print('\n' + title)
    rows = [[c] + [cell(c, v) for v in columns] for c in codes]
    columns = [str(v) for v in columns]
    e.lay_out(['code', *columns], rows)
    e.keep('_'.join(re.findall('[A-Za-z0-9]+', title.split(':')[0])), ['code', *columns], rows)


def dtbl(e, options):
    codes = chosen(options, launches.CODES, QUICK)
    got = e.every(codes, VARIANTS)
    speed = {c: {v: got[c]['flat'].cycles / r.cycles for v, r in got[c].items()} for c in codes}
    busy = [c for c in codes if got[c]['CDP'].launches]
    table(e, 'speed over flat: launches as kernels (CDP) and as block groups (DTBL), with latencies and without (CDPI, DTBLI), relative to the flat form', codes, VARIANTS, lambda c, v: '%.2f' % speed[c][v])
    table(e, 'occupancy, %', codes, VARIANTS, lambda c, v: '%.1f' % got[c][v].occupancy)
    table(e, 'warp activity, %', codes, VARIANTS, lambda c, v: '%.1f' % got[c][v].activity)
    table(e, 'launches: their number; average wait in cycles; share of block groups that joined a kernel; hit rate of the group table', busy, ('CDP', 'DTBL'),
          lambda c, v: '%d %.0f %.2f %.2f' % (got[c][v].launches, got[c][v].wait, got[c][v].joined, got[c][v].table))
    if e.out:
        plot.bars(os.path.join(e.out, 'dtbl.svg'), 'launches by the device: speed relative to the flat form', 'x', codes, {v: [speed[c][v] for c in codes] for v in VARIANTS})
        plot.bars(os.path.join(e.out, 'dtbl_occupancy.svg'), 'warps on the cores', '%', codes, {v: [got[c][v].occupancy for c in codes] for v in VARIANTS})
    average = {v: harmonic([speed[c][v] for c in codes]) for v in VARIANTS}
    for v, source in (('CDPI', '1.43'), ('CDP', '0.86'), ('DTBLI', '1.63'), ('DTBL', '1.21')):
        e.row('speed relative to the flat form, harmonic mean: ' + v, source, '%.2f' % average[v], '13.1')
    e.row('speed of DTBL over that of CDP', '1.40', '%.2f' % (average['DTBL'] / average['CDP']), '13.1')
    if busy:
        e.row('wait of a launch, DTBL over CDP', '0.76', '%.2f' % mean([got[c]['DTBL'].wait / got[c]['CDP'].wait for c in busy]), '13.1')
        e.row('wait of a launch, DTBLI over CDPI', '0.81', '%.2f' % mean([got[c]['DTBLI'].wait / max(1, got[c]['CDPI'].wait) for c in busy]), '13.1')
        e.row('memory of launches that have not started, DTBL over CDP', '0.74', '%.2f' % mean([got[c]['DTBL'].bytes / got[c]['CDP'].bytes for c in busy]), '13.1')
        e.row('block groups that join a kernel', '0.82', '%.2f' % mean([got[c]['DTBL'].joined for c in busy]), '13.1')
        e.row('DRAM efficiency relative to the flat form: CDP; DTBL', '1.14; 1.27', '; '.join(
            '%.2f' % mean([got[c][v].dram / got[c]['flat'].dram for c in busy]) for v in ('CDP', 'DTBL')), '13.1')
        e.row('warp activity, percentage points above the flat form: CDP; DTBL', '10.7; 10.7', '; '.join(
            '%.1f' % mean([got[c][v].activity - got[c]['flat'].activity for c in busy]) for v in ('CDP', 'DTBL')), '13.1')
        e.row('occupancy, DTBLI over CDPI', '1.24', '%.2f' % mean([got[c]['DTBLI'].occupancy / got[c]['CDPI'].occupancy for c in busy]), '13.1')
    order = ('DTBLI', 'CDPI', 'DTBL', 'flat', 'CDP')
    if len(codes) > 1:
        for a, b in zip(order, order[1:]):
            e.trend('order %s %s' % (a, b), average[a] > average[b], 'on average, form %s is faster than form %s: speeds relative to the flat form %.2f and %.2f' % (a, b, average[a], average[b]))
        e.trend('DTBL over CDP', average['DTBL'] / average['CDP'] > 1.15, 'DTBL is at least 15 % faster than CDP')
    if 'bfs_citation' in codes:
        s = speed['bfs_citation']
        e.trend('TR-1 ideal', s['DTBLI'] > s['CDPI'] > 1, 'BFS on a power-law graph: groups without latencies (DTBLI) are faster than kernels without latencies (CDPI, ratio %.2f), which are faster than the flat form (%.2f)' % (s['DTBLI'] / s['CDPI'], s['CDPI']))
        e.trend('TR-1 real', s['DTBL'] > 1 > s['CDP'], 'BFS on a power-law graph: groups (DTBL) are faster than the flat form (%.2f), and kernels (CDP) are slower (%.2f)' % (s['DTBL'], s['CDP']))
    if 'clr_graph500' in codes:
        s, r = speed['clr_graph500'], got['clr_graph500']
        e.trend('TR-2', abs(s['DTBL'] - 1) <= .05 and s['CDP'] < 1, 'graph with uniform degrees: groups (DTBL) are as fast as the flat form (%.2f), and kernels (CDP) are slower (%.2f)' % (s['DTBL'], s['CDP']))
        e.trend('TR-18', r['CDP'].wait < 1.05 * r['CDPI'].wait and r['DTBL'].wait < 1.05 * r['DTBLI'].wait,
                'graph with uniform degrees: a launch waits as long with its latency as without it: ratio %.2f for kernels, %.2f for groups' % (r['CDP'].wait / r['CDPI'].wait, r['DTBL'].wait / r['DTBLI'].wait))
    if 'bfs_roads' in codes:
        s = speed['bfs_roads']
        e.trend('TR-3', got['bfs_roads']['CDP'].launches == 0 and max(abs(s[v] - 1) for v in ('CDP', 'DTBL')) <= .01,
                'road graph: nothing is launched, and CDP and DTBL are as fast as the flat form: %.3f, %.3f' % (s['CDP'], s['DTBL']))
    if 'regx_strings' in codes:
        s, r = speed['regx_strings'], got['regx_strings']
        e.trend('TR-4 ideal', s['DTBLI'] >= 2, 'regx_strings, tiny children: groups without latencies (DTBLI) are at least twice as fast as the flat form: %.2f' % s['DTBLI'])
        e.trend('TR-4 real', .85 <= s['DTBL'] <= 1.1, 'regx_strings, tiny children: groups (DTBL) are about as fast as the flat form: %.2f' % s['DTBL'])
        e.trend('TR-6', r['DTBLI'].occupancy / r['CDPI'].occupancy >= 1.2, 'regx_strings, tiny children: occupancy is at least 1.2 times as high with groups as with kernels (without latencies): x %.2f' % (r['DTBLI'].occupancy / r['CDPI'].occupancy))
    if 'pre' in codes:
        r = got['pre']
        e.trend('TR-5', abs(r['DTBL'].occupancy / r['CDP'].occupancy - 1) <= .02, 'pre, coarse children: occupancy is equal with groups and with kernels: ratio %.3f' %
                (r['DTBL'].occupancy / r['CDP'].occupancy))
    for c in busy:
        r = got[c]
        e.trend('TR-7 ' + c, abs(r['DTBL'].activity - r['CDP'].activity) <= .5 and (r['CDP'].activity > r['flat'].activity or c == 'clr_graph500'),
                '%s: warp activity is equal with kernels and with groups (%.1f %%, %.1f %%), and higher than in the flat form (%.1f %%)' % (c, r['CDP'].activity, r['DTBL'].activity, r['flat'].activity))
    if not options.quick:
        ablations(e, [c for c in ('bfs_citation', 'join_gaussian', 'amr', 'regx_packets') if c in codes])


def ablations(e, codes):
    if not codes:
        return
    flat = {c: e.get(c + '/flat', []).cycles for c in codes}

    def sweep(title, unit, variants):
        got = e.every(codes, variants)
        table(e, title, codes, variants, lambda c, v: '%.2f' % (flat[c] / got[c][v].cycles))
        if e.out:
            plot.lines(os.path.join(e.out, title.split(':')[0].replace(' ', '_') + '.svg'), title, unit, list(variants),
                       {c: [flat[c] / got[c][v].cycles for v in variants] for c in codes})
        return {c: list(got[c].values()) for c in codes}

    sizes = sweep('group table: speed relative to the flat form', 'x', {n: ('dtbl', DTBL + ['dtbl.entries=%d' % n]) for n in (64, 256, 512, 1024, 2048)})
    for c, r in sizes.items():
        e.trend('TR-8 ' + c, all(b.table >= a.table - .001 and b.cycles <= 1.01 * a.cycles for a, b in zip(r, r[1:])),
                '%s: a larger group table has more hits and does not reduce speed: hit rates %s' % (c, ', '.join('%.2f' % x.table for x in r)))
    scales = (0, .25, .5, 1, 2)

    def latency(scale):
        return ['kernels.%s=%d' % (key, scale * value) for key, value in
                (('stream_create', 7165), ('buffer_base', 8023), ('buffer_lane', 129), ('launch_base', 12187), ('launch_lane', 1592), ('latency', 283))]
    kernels = sweep('launch latency, kernels: speed relative to the flat form', 'x', {'x%g' % s: ('cdp', CDP + latency(s)) for s in scales})
    groups = sweep('launch latency, groups: speed relative to the flat form', 'x', {'x%g' % s: ('dtbl', DTBL + latency(s)) for s in scales})
    for c in codes:
        falls = all(b.cycles >= .99 * a.cycles for a, b in zip(kernels[c], kernels[c][1:]))
        e.trend('TR-9 ' + c, falls and groups[c][-1].cycles / groups[c][0].cycles < kernels[c][-1].cycles / kernels[c][0].cycles,
                '%s: a higher launch latency slows kernels down, and groups less: cycles x %.2f, x %.2f' %
                (c, kernels[c][-1].cycles / kernels[c][0].cycles, groups[c][-1].cycles / groups[c][0].cycles))
    entries = sweep('distributor, kernels: speed relative to the flat form', 'x', {n: ('cdp', CDP + ['kernels.entries=%d' % n]) for n in (8, 16, 32, 64, 128)})
    for c in codes:
        e.trend('TR-10 ' + c, entries[c][-1].occupancy >= .99 * entries[c][2].occupancy, '%s: occupancy does not fall if the distributor has 128 entries instead of 32: %.1f %%, %.1f %%' %
                (c, entries[c][2].occupancy, entries[c][-1].occupancy))
    with_ranges = [c for c in codes if c in ('bfs_citation', 'join_gaussian')]
    if with_ranges:
        least = {n: ('dtbl@%d' % n, DTBL) for n in (32, 64, 128, 256)}
        got = e.every(with_ranges, least)
        table(e, 'minimum size of a group, in elements: speed relative to the flat form', with_ranges, least, lambda c, v: '%.2f' % (flat[c] / got[c][v].cycles))
    sweep('groups that find no kernel: speed relative to the flat form', 'x', {'also join waiting kernels': ('dtbl', DTBL), 'join running kernels only': ('dtbl', ['dtbl.on=true']),
                                                            'fallback costs only a dispatch': ('dtbl', DTBL + ['dtbl.fallback=false'])})


def laperm(e, options):
    codes = chosen(options, LAPERM, QUICK_LAPERM)
    forms = {'CDP': ('cdp', CDP), 'DTBL': ('dtbl', DTBL)}
    variants = {'%s %s' % (f, p): (form, keys + ['kernels.policy=' + row]) for f, (form, keys) in forms.items() for p, row in POLICIES.items()}
    got = e.every(codes, variants)
    gain = {c: {v: got[c][v.split()[0] + ' RR'].cycles / got[c][v].cycles for v in variants} for c in codes}
    table(e, 'IPC over that of RR', codes, variants, lambda c, v: '%.3f' % gain[c][v])
    table(e, 'hits of L1, %', codes, variants, lambda c, v: '%.1f' % got[c][v].l1)
    table(e, 'hits of L2, %', codes, variants, lambda c, v: '%.1f' % got[c][v].l2)
    table(e, 'busiest core over the mean: active cycles of the core that has most of them, divided by the mean of all cores', codes, variants, lambda c, v: '%.2f' % got[c][v].imbalance)
    if e.out:
        plot.bars(os.path.join(e.out, 'laperm.svg'), 'LaPerm with groups: IPC over that of RR', 'x', codes, {p: [gain[c]['DTBL ' + p] for c in codes] for p in POLICIES})
    average = {v: harmonic([gain[c][v] for c in codes]) for v in variants}
    delta = lambda v, what: mean([getattr(got[c][v], what) - getattr(got[c][v.split()[0] + ' RR'], what) for c in codes])
    for f, sources in (('CDP', ('1.04', '0.95', '1.06')), ('DTBL', ('1.13', '1.07', '1.27'))):
        for p, source in zip(('TB-Pri', 'SMX-Bind', 'Adaptive-Bind'), sources):
            e.row('%s: IPC of %s over RR' % (f, p), source, '%.3f' % average[f + ' ' + p], '13.2')
    e.row('hit rate in L2, TB-Pri minus RR, in percentage points: CDP; DTBL', '6.7; 8.7', '%.1f; %.1f' % (delta('CDP TB-Pri', 'l2'), delta('DTBL TB-Pri', 'l2')), '13.2')
    e.row('hit rate in L1, SMX-Bind minus RR, in percentage points: CDP; DTBL', '6.6; 13.6', '%.1f; %.1f' % (delta('CDP SMX-Bind', 'l1'), delta('DTBL SMX-Bind', 'l1')), '13.2')
    families = e.every(codes, {'family': ('dtbl', DTBL + ['family.on=true'])})
    kinds = ('parents_children', 'siblings', 'parents')
    shares = {c: {k: families[c]['family'].shared(k) for k in kinds} for c in codes}
    table(e, 'shared lines, %: of the lines of children, those that their parent accesses; of the lines of siblings, those of a child; of the lines of other parents, those of a parent', codes, kinds,
          lambda c, k: 'none' if shares[c][k] is None else '%.1f' % shares[c][k])
    for k, source in zip(kinds, ('38.4', '30.5', '9.3')):
        here = [shares[c][k] for c in codes if shares[c][k] is not None]
        e.row('shared lines, mean, %: ' + k, source, '%.1f' % mean(here) if here else 'none', '8.1')
    e.trend('TR-11 L2', delta('DTBL TB-Pri', 'l2') > 0, 'TB-Pri has a higher hit rate in L2 than RR: %+.2f percentage points' % delta('DTBL TB-Pri', 'l2'))
    e.trend('TR-11 L1', delta('DTBL SMX-Bind', 'l1') > delta('DTBL Adaptive-Bind', 'l1') > delta('DTBL TB-Pri', 'l1') > -.2, # a margin for noise
            'hit rate in L1, difference from RR: SMX-Bind gains most (%+.2f percentage points), then Adaptive-Bind (%+.2f), then TB-Pri (%+.2f), which loses less than 0.2' % tuple(delta('DTBL ' + p, 'l1') for p in ('SMX-Bind', 'Adaptive-Bind', 'TB-Pri')))
    e.trend('TR-11 IPC', average['DTBL Adaptive-Bind'] > average['DTBL TB-Pri'] > 1, 'IPC relative to RR: Adaptive-Bind (%.3f) is faster than TB-Pri (%.3f), and TB-Pri is faster than RR' %
            (average['DTBL Adaptive-Bind'], average['DTBL TB-Pri']))
    e.trend('balance', mean([got[c]['DTBL SMX-Bind'].imbalance for c in codes]) >= max(mean([got[c]['DTBL ' + p].imbalance for c in codes]) for p in POLICIES) - 1e-9,
            'SMX-Bind has the worst balance: active cycles of the busiest core over the mean of all cores: ' + ', '.join('%s %.2f' % (p, mean([got[c]['DTBL ' + p].imbalance for c in codes])) for p in POLICIES))
    for c in ('amr', 'join_uniform'):
        if c in codes:
            moved = max(abs(getattr(got[c]['DTBL ' + p], w) - getattr(got[c]['DTBL RR'], w)) for p in POLICIES for w in ('l1', 'l2'))
            e.trend('TR-12 ' + c, moved < 1, '%s, blocks with disjoint footprints: hit rates change by less than a percentage point: %.2f' % (c, moved))
    e.trend('TR-13', average['DTBL Adaptive-Bind'] > average['CDP Adaptive-Bind'], 'Adaptive-Bind gains more over RR with groups (IPC x %.3f) than with kernels (x %.3f)' %
            (average['DTBL Adaptive-Bind'], average['CDP Adaptive-Bind']))
    if options.quick:
        return
    adaptive = DTBL + ['kernels.policy=adaptive_bind']
    names = [c for c in ('bfs_citation', 'join_gaussian', 'amr') if c in codes]
    for title, key, values in (('levels of priority', 'laperm.levels', (1, 2, 4, 8)), ('entries of a queue', 'laperm.entries', (4, 16, 64, 128)), ('cycles to read an entry', 'laperm.read', (0, 400, 1600))):
        sweep = {v: ('dtbl', adaptive + ['%s=%d' % (key, v)]) for v in values}
        r = e.every(names, sweep)
        table(e, title + ': IPC of Adaptive-Bind over that of RR', names, sweep, lambda c, v, r=r: '%.3f' % (got[c]['DTBL RR'].cycles / r[c][v].cycles))
    table(e, 'backup: IPC with other cores as backup over that without (SMX-Bind)', names, ('DTBL', 'CDP'), lambda c, f: '%.3f' %
          (got[c][f + ' SMX-Bind'].cycles / got[c][f + ' Adaptive-Bind'].cycles))
