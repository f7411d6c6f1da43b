# SPDX-License-Identifier: Apache-2.0
"""Experiments with variable warp sizing, chapter 6 of the warp scheduling thesis, on the GPU model rogers-vws: one core of 32
lanes."""
import itertools
import os

import plot
from experiment import Experiment, harmonic, mean
from vws_workloads import CONVERGENT, DIVERGENT, INSENSITIVE

KERNELS = {**DIVERGENT, **INSENSITIVE, **CONVERGENT}
QUICK = ('lighting', 'raytrace', 'physics', 'fft', 'matmul', 'radix')
PATHS, DENSE = ('lighting', 'raytrace'), ('matmul', 'radix')  # the kernels of trend T13, and those of T14


def slices(width):
    """Returns the keys of a GPU model with warps of @width lanes on 32 / @width slices. All else is as with warps of 32 lanes."""
    n = 32 // width
    keys = ['core.warp_width=%d' % width, 'core.warps=%d' % (1024 // width), 'core.group=%d' % n, 'issue.schedulers=%d' % n, 'fetch.width=8']
    for unit, lanes in (('int', width), ('dp', width // 2), ('sfu', max(1, width // 4)), ('mem', width)):
        keys += ['units.%s.pipes=%d' % (unit, n), 'units.%s.lanes=%d' % (unit, lanes)]
    return keys + ['vws.on=true']


def fixed(width):
    return slices(width) + ['fetch.width=%d' % (32 // width), 'vws.mode=slice']


def cache(ports, l0):
    """Returns the keys of a core whose instruction cache serves @ports fetches in a cycle. If @l0 is not 0, each slice has an L0
    instruction cache of @l0 bytes with lines of 32 bytes."""
    if l0 == 0:
        return ['fetch.cache_line=32', 'fetch.width=%d' % ports]
    return ['fetch.cache_line=32', 'fetch.ports=%d' % ports, 'fetch.l0_bytes=%d' % l0, 'fetch.l0_ways=%d' % (l0 // 32), 'fetch.link=1']


INELASTIC, ELASTIC = slices(4), slices(4) + ['vws.reform=opportunistic']
CONFIGURATIONS = {  # section 7.7 of the specification
    'WS 32': [], 'WS 16': fixed(16), 'WS 8': fixed(8), 'WS 4': fixed(4),
    'I-VWS': INELASTIC,
    'I-VWS-GTO': INELASTIC + ['vws.policy=gto'], 'I-VWS-LRR': INELASTIC + ['vws.policy=lrr', 'issue.policy=lrr'],
    'I-VWS-LPC': INELASTIC + ['vws.policy=lpc'], 'I-VWS-LGTO': INELASTIC + ['vws.policy=lgto'],
    'I-VWS 1 gang': INELASTIC + ['vws.gangs=1'], 'I-VWS 4 gangs': INELASTIC + ['vws.gangs=4'],
    'I-VWS-GroupMem': INELASTIC + ['vws.memory=group'], 'I-VWS-ImpatientMem': INELASTIC + ['vws.memory=impatient'],
    'E-VWS': ELASTIC, 'E-VWS-ImpatientMem': ELASTIC + ['vws.memory=impatient'],
    'E-VWS-Sync10': ELASTIC + ['vws.sync=10'], 'E-VWS-Sync50': ELASTIC + ['vws.sync=50'], 'E-VWS-Sync100': ELASTIC + ['vws.sync=100'],
    'I-VWS width 8': slices(8), 'gangs only': INELASTIC + ['vws.mode=gang', 'vws.gangs=1'],
}
QUICK_CONFIGURATIONS = ('WS 32', 'WS 4', 'I-VWS', 'I-VWS 1 gang', 'I-VWS-ImpatientMem', 'E-VWS', 'E-VWS-ImpatientMem', 'I-VWS width 8')


class Widths(Experiment):
    """Results of the kernels with the configurations of the thesis."""

    model = 'rogers-vws'

    def __init__(self, program, work, out, options, known):
        super().__init__(program, work, out, 1, options.size or 1, options.jobs, known)
        self.machine = []
        self.names = [n for n in KERNELS if n in (options.only or (QUICK if options.quick else KERNELS))]
        self.configurations = {c: keys for c, keys in CONFIGURATIONS.items() if not options.quick or c in QUICK_CONFIGURATIONS}
        self.quick = options.quick

    def launch(self, name):
        if name not in self.launches:
            self.launches[name] = KERNELS[name](self.folder, self.size)
        return self.launches[name]

    def of(self, kernels, among=None):
        return [n for n in self.names if n in kernels and (among is None or n in among)]

    def speed(self, name, configuration, over='WS 32'):
        return self.got[name][over].cycles / self.got[name][configuration].cycles

    def speeds(self, names, configuration, over='WS 32'):
        return harmonic([self.speed(n, configuration, over) for n in names])

    def fetches(self, name, configuration):
        """Returns the average number of instruction fetches per cycle."""
        r = self.got[name][configuration]
        return r.core['fetches'] / r.cycles


def show(e):
    columns = list(e.configurations)
    for title, value in (('IPC over that of WS 32', lambda n, c: '%.2f' % e.speed(n, c)), ('fetches in a cycle', lambda n, c: '%.2f' % e.fetches(n, c)),
                         ('accesses of L1 for each of WS 32', lambda n, c: '%.2f' % (e.got[n][c].core['accesses'] / e.got[n]['WS 32'].core['accesses']))):
        rows = [[n] + [value(n, c) for c in columns] for n in e.names]
        if title.startswith('IPC'):
            for what, kernels in (('divergent', DIVERGENT), ('insensitive', INSENSITIVE), ('convergent', CONVERGENT)):
                if e.of(kernels):
                    rows.append(['harmonic mean, ' + what] + ['%.2f' % e.speeds(e.of(kernels), c) for c in columns])
            e.keep('vws', ['kernel'] + [c.replace(' ', '_') for c in columns], rows[:len(e.names)])
        print('\n' + title)
        for at in range(0, len(columns), 8): # prints at most eight columns in a table
            e.lay_out(['kernel'] + columns[at:at + 8], [row[:1] + row[1 + at:9 + at] for row in rows])
    if e.out:
        plot.bars(os.path.join(e.out, 'vws.svg'), 'IPC over that of WS 32', 'x', e.names,
                  {c: [e.speed(n, c) for n in e.names] for c in columns if c in ('WS 4', 'I-VWS', 'E-VWS', 'E-VWS-ImpatientMem')})


def trends(e):
    """Checks T13 to T15 and T18 of section 12.1 of the specification."""
    for n in e.of(PATHS):
        ws4, ivws = e.speed(n, 'WS 4'), e.speed(n, 'I-VWS')
        e.trend('T13 ' + n, min(ws4, ivws) >= 1.2 and ivws >= .95 * ws4,
                '%s: WS 4 and I-VWS are at least 20 %% faster than WS 32, and I-VWS is at most 5 %% slower than WS 4: IPC x %.2f and x %.2f' % (n, ws4, ivws))
        gain = (e.speed(n, 'I-VWS width 8') - 1) / (ivws - 1) if ivws != 1 else 0
        e.trend('T18 ' + n, gain > .5, '%s: I-VWS with base width 8 has more than half of the gain of base width 4: %.0f %%' % (n, 100 * gain))
    for n in e.of(DENSE):
        ws4, ivws, impatient, eight = (e.speed(n, c) for c in ('WS 4', 'I-VWS', 'I-VWS-ImpatientMem', 'I-VWS width 8'))
        e.trend('T14 ' + n, ws4 <= .9 and abs(ivws - 1) <= .01 and impatient < ivws,
                '%s: WS 4 is at least 10 %% slower than WS 32 (IPC x %.2f), I-VWS is as fast within 1 %% (x %.3f), and I-VWS with vws.memory=impatient is slower than I-VWS (x %.3f)' %
                (n, ws4, ivws, impatient))
        e.trend('T18 ' + n, abs(eight - 1) <= .01, '%s: I-VWS with base width 8 is as fast as WS 32 within 1 %%: IPC x %.3f' % (n, eight))
        count = {c: e.got[n][c].core['fetches'] for c in ('WS 32', 'WS 4', 'I-VWS')}
        e.trend('T15 ' + n, abs(count['I-VWS'] / count['WS 32'] - 1) <= .05 and 7 <= count['WS 4'] / count['WS 32'] <= 9,
                '%s: I-VWS makes as many fetches as WS 32 within 5 %%, and WS 4 makes about eight times as many: x %.2f and x %.2f' %
                (n, count['I-VWS'] / count['WS 32'], count['WS 4'] / count['WS 32']))
    for n in e.of(PATHS):
        e.trend('T15 ' + n, e.fetches(n, 'I-VWS') < e.fetches(n, 'WS 4') and e.fetches(n, 'E-VWS') < e.fetches(n, 'I-VWS'),
                '%s: WS 4 makes more fetches per cycle than I-VWS, and I-VWS more than E-VWS: %.2f, %.2f, %.2f' %
                (n, e.fetches(n, 'WS 4'), e.fetches(n, 'I-VWS'), e.fetches(n, 'E-VWS')))


def instruction_supply(e):
    """Checks T16: an instruction cache with two ports, and an L0 instruction cache in each slice."""
    names = e.of(PATHS)
    ports, sizes = ((2,), (0, 64, 256)) if e.quick else ((2, 4, 8), (0, 32, 64, 128, 256))
    if not names:
        return
    whole = {n: e.start(n, INELASTIC + cache(8, 0)) for n in names}
    for n in names:
        for p in ports:
            for size in sizes:
                e.start(n, INELASTIC + cache(p, size))
    rows = {(n, p): [whole[n].result().cycles / e.get(n, INELASTIC + cache(p, size)).cycles for size in sizes] for n in names for p in ports}
    print('\nI-VWS by ports of the instruction cache (rows) and bytes of L0 (columns): IPC relative to 8 ports and no L0')
    e.lay_out(['kernel, ports'] + [str(s) for s in sizes], [['%s, %d' % at] + ['%.2f' % x for x in row] for at, row in rows.items()])
    e.keep('vws_fetch', ['kernel', 'ports'] + [str(s) for s in sizes], [list(at) + ['%.3f' % x for x in row] for at, row in rows.items()])
    for n in names:
        row = rows[n, 2]
        rises = all(b >= .99 * a for a, b in zip(row, row[1:]))
        e.trend('T16 ' + n, rises and row[-1] >= .9, '%s: with 2 ports, IPC rises with the size of L0, and with 256 bytes it is at least 90 %% of the IPC with 8 ports: %s' %
                (n, ', '.join('%.2f' % x for x in row)))
    if not e.quick:
        e.row('divergent kernels: IPC with 2 fetches per cycle and an L0 of 256 bytes, over 8 fetches per cycle', '0.95', '%.2f' % harmonic([rows[n, 2][-1] for n in names]), '9.3')
        e.row('divergent kernels: IPC with 2 fetches per cycle and no L0, over 8 fetches per cycle', 'below 0.5', '%.2f' % harmonic([rows[n, 2][0] for n in names]), '9.3')


def figures(e):
    """Adds rows that compare our figures with those of section 9.3 of the specification."""
    divergent, convergent, insensitive = (e.of(k) for k in (DIVERGENT, CONVERGENT, INSENSITIVE))
    if not (divergent and convergent and insensitive):
        return
    for what, source, names in (('WS 4, divergent', '1.38', divergent), ('WS 4, convergent', '0.73', convergent), ('WS 4, insensitive', '1', insensitive),
                                ('I-VWS, divergent', '1.35', divergent), ('I-VWS, convergent', '1.00', convergent), ('I-VWS, insensitive', '1.00', insensitive),
                                ('E-VWS, divergent', 'slightly below I-VWS', divergent), ('E-VWS, convergent', '1.00', convergent),
                                ('E-VWS-ImpatientMem, convergent', '0.78', convergent), ('I-VWS width 8, divergent', 'most of the gain', divergent)):
        e.row('%s, over WS 32' % what, source, '%.2f' % e.speeds(names, what.split(',')[0]), '9.3')
    pairs = [('E-VWS-ImpatientMem', 'I-VWS', '1.02'), ('I-VWS 1 gang', 'I-VWS', '0.90')]
    if not e.quick:
        pairs += [('I-VWS 4 gangs', 'I-VWS', 'within 1 %'), ('I-VWS-GTO', 'I-VWS', 'about 1'), ('I-VWS-LRR', 'I-VWS', 'about 1'), ('I-VWS-LPC', 'I-VWS', 'below 1'),
                  ('I-VWS-LGTO', 'I-VWS', 'far below 1'), ('E-VWS-Sync10', 'E-VWS', 'below 1'), ('E-VWS-Sync50', 'E-VWS', 'below 1'), ('E-VWS-Sync100', 'E-VWS', 'below 1')]
    for a, b, source in pairs:
        e.row('%s over %s, divergent' % (a, b), source, '%.2f' % e.speeds(divergent, a, b), '9.3')
    pairs = [('I-VWS', 'WS 4', '0.43'), ('E-VWS', 'I-VWS', '0.45'), ('I-VWS-ImpatientMem', 'I-VWS', '1.69')]
    if not e.quick:
        pairs += [('I-VWS-GroupMem', 'I-VWS', '1.41'), ('E-VWS-ImpatientMem', 'I-VWS', 'at most 1')]
    for a, b, source in pairs:
        e.row('fetches per cycle, %s over %s, divergent kernels' % (a, b), source, '%.2f' % mean([e.fetches(n, a) / e.fetches(n, b) for n in divergent]), '9.3')
    e.row('number of fetches, I-VWS over WS 32, convergent and insensitive kernels', '1', '%.2f' %
          mean([e.got[n]['I-VWS'].core['fetches'] / e.got[n]['WS 32'].core['fetches'] for n in convergent + insensitive]), '9.3')


def vws(e, options):
    e.got = e.all(e.names, e.configurations)
    show(e)
    print()
    trends(e)
    instruction_supply(e)
    figures(e)


# ---- T16 and T18 with each setting of the points that the source leaves open (specification, section 11) -----------------

SETTINGS = {
    'as it is': [], 'gang_fetch 1 (A29)': ['vws.gang_fetch=1'], 'gang_fetch 4 (A29)': ['vws.gang_fetch=4'], 'merge_limit 7 (A7)': ['vws.merge_limit=7'],
    'gangs 1': ['vws.gangs=1'], 'gangs 4': ['vws.gangs=4'], 'policy gto': ['vws.policy=gto'], 'policy lpc': ['vws.policy=lpc'],
    'singles lrr': ['issue.policy=lrr'], 'E-VWS': ['vws.reform=opportunistic'], 'E-VWS, merge_limit 7 (A7)': ['vws.reform=opportunistic', 'vws.merge_limit=7'],
    'GroupMem': ['vws.memory=group'], 'ImpatientMem': ['vws.memory=impatient'],
}
CACHES = { # settings of open point A18, which affects only trend T16
    'L0 of lines of 64': ['fetch.cache_line=64', 'fetch.l0_ways=4'], 'L0 of 2 ways': ['fetch.l0_ways=2'], 'link 4': ['fetch.link=4'],
    'prefetch 2': ['fetch.prefetch=2'], 'L0 of 512': ['fetch.l0_bytes=512', 'fetch.l0_ways=16'], 'L0 of 1024': ['fetch.l0_bytes=1024', 'fetch.l0_ways=32'],
}


def open_points(e, options):
    names = e.of(PATHS + DENSE)
    base = {n: e.start(n, []) for n in names}
    runs = {}
    for what, keys in {**SETTINGS, **CACHES}.items():
        for n in e.of(PATHS):
            runs[n, what, 'whole'] = e.start(n, INELASTIC + cache(8, 0) + (keys if what in SETTINGS else []))
            runs[n, what, 'l0'] = e.start(n, INELASTIC + cache(2, 256) + keys)
        for n in names if what in SETTINGS else ():
            runs[n, what, 4] = e.start(n, INELASTIC + keys)
            runs[n, what, 8] = e.start(n, slices(8) + keys)
    cycles = {at: future.result().cycles for at, future in runs.items()}
    rows = []
    for what in [*SETTINGS, *CACHES]:
        row = [what] + ['%.2f' % (cycles[n, what, 'whole'] / cycles[n, what, 'l0']) for n in PATHS]
        if what in SETTINGS:
            of = {(n, w): base[n].result().cycles / cycles[n, what, w] for n in PATHS + DENSE for w in (4, 8)}
            row += ['%.0f %%' % (100 * (of[n, 8] - 1) / (of[n, 4] - 1)) for n in PATHS] + ['%.3f' % of[n, 8] for n in DENSE]
        rows.append(row + [''] * (7 - len(row)))
    print('\nT16: IPC with 2 ports and 256 bytes of L0, relative to 8 ports; T18: gain of base width 8 as a share of that of base width 4, and IPC of base width 8 relative to WS 32')
    heading = ['I-VWS with'] + ['T16 ' + n for n in PATHS] + ['T18 ' + n for n in PATHS + DENSE]
    e.lay_out(heading, rows)
    e.keep('vws_open', [h.replace(' ', '_') for h in heading], [[r[0].replace(' ', '_')] + r[1:] for r in rows])


# The settings of each open point. product() combines them. merge_limit has an effect only if warps reform.
POINTS = [[('', []), ('gang_fetch 1', ['vws.gang_fetch=1']), ('gang_fetch 4', ['vws.gang_fetch=4'])],
          [('', []), ('gangs 1', ['vws.gangs=1']), ('gangs 4', ['vws.gangs=4'])],
          [('', []), ('policy gto', ['vws.policy=gto'])],
          [('', []), ('singles lrr', ['issue.policy=lrr'])],
          [('', []), ('E-VWS', ['vws.reform=opportunistic']), ('E-VWS, merge_limit 7', ['vws.reform=opportunistic', 'vws.merge_limit=7'])]]


def product(e, options):
    """Prints T13, T14, T16 and T18 with all combinations of settings of the open points, and for each trend the number of
    combinations with which it holds."""
    points = [p[:2] for p in POINTS[:2]] if options.quick else POINTS
    ways = {', '.join(name for name, _ in way if name) or 'as it is': [k for _, keys in way for k in keys] for way in itertools.product(*points)}
    base = {n: e.start(n, []) for n in PATHS + DENSE}
    runs = {}
    for what, keys in ways.items():
        for n in PATHS:
            runs[n, what, 'whole'] = e.start(n, INELASTIC + cache(8, 0) + keys)
            runs[n, what, 'l0'] = e.start(n, INELASTIC + cache(2, 256) + keys)
        for n in PATHS + DENSE:
            runs[n, what, 4] = e.start(n, INELASTIC + keys)
            runs[n, what, 8] = e.start(n, slices(8) + keys)
    cycles = {at: f.result().cycles for at, f in runs.items()}
    rows, held = [], {}
    for what in ways:
        t16 = [cycles[n, what, 'whole'] / cycles[n, what, 'l0'] for n in PATHS]
        of = {(n, w): base[n].result().cycles / cycles[n, what, w] for n in PATHS + DENSE for w in (4, 8)}
        gain = [(of[n, 8] - 1) / (of[n, 4] - 1) if of[n, 4] > 1 else 0 for n in PATHS]
        held[what] = {'T16': min(t16) >= .9, 'T13': min(of[n, 4] for n in PATHS) >= 1.2, 'T14': min(of[n, 4] for n in DENSE) >= .98,
                      'T18 paths': min(gain) > .5, 'T18 dense': all(abs(of[n, 8] - 1) <= .01 for n in DENSE)}
        rows.append([what] + ['%.2f' % x for x in t16] + ['%.0f %%' % (100 * g) for g in gain] + ['%.3f' % of[n, 8] for n in DENSE] +
                    ['%.2f' % of[n, 4] for n in PATHS] + ['%.2f' % of[n, 4] for n in DENSE])
    first = next(iter(held.values()))
    print('\n%d settings; number of settings with each trend: ' % len(rows) + ', '.join('%s: %d' % (t, sum(h[t] for h in held.values())) for t in first) +
          '; all: %d; all but T13: %d' % (sum(all(h.values()) for h in held.values()), sum(all(v for t, v in h.items() if t != 'T13') for h in held.values())))
    heading = ['settings'] + ['T16 ' + n for n in PATHS] + ['T18 ' + n for n in PATHS + DENSE] + ['I-VWS ' + n for n in PATHS + DENSE]
    most = max(sum(h.values()) for h in held.values())
    print('settings with the most trends (%d of %d), and the default setting:' % (most, len(first)))
    e.lay_out(heading, [row for row in rows if row is rows[0] or sum(held[row[0]].values()) == most])
    e.keep('vws_product', [h.replace(' ', '_') for h in heading], [[row[0].replace(' ', '_')] + [x.replace(' ', '') for x in row[1:]] for row in rows])
