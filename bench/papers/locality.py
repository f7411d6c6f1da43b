# SPDX-License-Identifier: Apache-2.0
"""Address pre-computation: GPU model, and the trends of section 14.2 of its specification. locality_workloads.py computes the
inputs of the kernels."""
import os
import subprocess
import sys

import plot
from experiment import HERE, Experiment, Result, harmonic, mean
from locality_workloads import MAKERS, TYPES, side
from workloads import Folder

CORES = 5
ACTIVE = 24
LA_B = ['kernels.policy=la_b']
LA_W = ['la_w.on=true', 'la_w.active=%d' % ACTIVE]
VARIANTS = {'rr': [], 'bcs': ['kernels.policy=bcs'], 'la_b': LA_B, 'la_w': LA_W, 'la_bw': LA_B + LA_W}
QUICK = ('hs', 'his', 'lud', 'tran', 'sift', 'nn', 'rows2', 'rows4', 'tran_multiple')
STRUCTURAL = ('lsu', 'collector', 'unit', 'address')
CONTROL = ('barrier', 'fetch', 'empty', 'ended', 'throttled', 'launch')
RAW = ('load', 'result', 'war')


class Local(Result):
    def __init__(self, report):
        super().__init__(report)
        causes, self.gpu = report['sums']['causes'], report['sums']['gpu']
        of = lambda names: sum(causes.get(n, 0) for n in names)
        self.structural, self.control, self.raw = of(STRUCTURAL), of(CONTROL), of(RAW)
        self.slots = sum(causes.values())
        self.l1_misses, self.merges = self.core['l1_misses'], self.core['l1_merges']
        self.miss_rate = self.l1_misses / max(self.loads, 1)
        self.wait = self.core['shares_wait_cycles'] / max(self.core['shares_waits'], 1)
        resident = self.histograms.get('shares_resident', {'sum': 0})
        self.resident = resident['sum'] / max(self.core['blocks'], 1)


class Machine(Experiment):
    """The GPU model fermi with @cores of its 15 cores, and the same share of its 6 DRAM channels."""

    model = 'fermi'

    def __init__(self, program, work, out, cores, size, jobs, known=()):
        super().__init__(program, work, out, cores, size, jobs, known)
        channels = max(1, round(cores * 6 / 15))
        self.machine = ['core.count=%d' % cores, 'l2.slices=%d' % channels, 'dram.channels=%d' % channels, 'shares.on=true']
        self.folder.cores = cores

    def make_folder(self):
        folder = Folder.__new__(Folder)
        folder.path = self.work
        command = [self.program, 'compile', os.path.join(HERE, 'locality.cl'), '-o', 'locality.lwo']
        if subprocess.run(command, cwd=self.work).returncode != 0:
            sys.exit('bench/papers: cannot compile: ' + ' '.join(command))
        return folder

    def make(self, name):
        def made(folder, size):
            folder.prefix = name + '_'
            return MAKERS[name](folder, size)
        return made

    def result(self, report):
        return Local(report)


def speed(r, variant, over='rr'):
    return r[over].cycles / r[variant].cycles


def percent(x):
    return '%+.0f %%' % (100 * (x - 1))


def table(e, title, got, what, kept):
    print('\n' + title)
    rows = [[n] + [what(got[n], v) for v in VARIANTS] for n in got]
    e.lay_out(['kernel'] + list(VARIANTS), rows)
    e.keep(kept, ['kernel'] + list(VARIANTS), rows)


def each_kernel(e, got, quick):
    """Checks R1 to R8, the trends of single kernels."""
    if 'rows2' in got:
        r = got['rows2']
        m = {v: r[v].l1_misses for v in r}
        e.trend('loc R1 misses', m['la_b'] < .9 * m['rr'] and abs(m['la_b'] / m['bcs'] - 1) < .1, 'rows2 (two neighbouring blocks of a row share lines): la_b has about as many misses of L1 as bcs, and fewer than rr: %s' % m)
        e.trend('loc R1 speed', speed(r, 'la_b') > 1.02 and abs(speed(r, 'la_b', 'bcs') - 1) < .05, 'rows2: la_b and bcs are about equally fast, and faster than rr: IPC x %.2f and x %.2f' % (speed(r, 'la_b'), speed(r, 'bcs')))
    if 'rows4' in got:
        r = got['rows4']
        e.trend('loc R2', r['la_b'].l1_misses < r['bcs'].l1_misses < r['rr'].l1_misses,
                'rows4 (four neighbouring blocks of a row share lines): la_b has fewer misses of L1 than bcs, and bcs fewer than rr: ' + ', '.join('%s %d' % (v, r[v].l1_misses) for v in ('la_b', 'bcs', 'rr')))
    if 'tran' in got:
        r = got['tran']
        e.trend('loc R3 misses', r['la_b'].l1_misses < .9 * r['bcs'].l1_misses and abs(r['bcs'].l1_misses / r['rr'].l1_misses - 1) < .1,
                'tran (blocks of a column share lines): la_b has at least 10 % fewer misses of L1 than bcs, which has about as many as rr: ' + ', '.join('%s %d' % (v, r[v].l1_misses) for v in ('la_b', 'bcs', 'rr')))
        e.trend('loc R3 speed', speed(r, 'la_b') > 1.1, 'tran: la_b is at least 10 %% faster than rr: IPC x %.2f' % speed(r, 'la_b'))
        if 'tran_multiple' in got:
            many = got['tran_multiple']
            e.trend('loc R4', speed(many, 'la_b') < speed(r, 'la_b'), 'tran: the gain of la_b is smaller if the number of blocks in a row is a multiple of the number of cores: IPC x %.3f instead of x %.3f' % (speed(many, 'la_b'), speed(r, 'la_b')))
    if 'nn' in got:
        r = got['nn']
        e.trend('loc R5', abs(speed(r, 'la_b') - 1) < .005 and speed(r, 'bcs') < .98, 'nn (blocks share no lines): la_b is as fast as rr, and bcs is slower: IPC x %.3f, x %.3f' % (speed(r, 'la_b'), speed(r, 'bcs')))
        e.row('NN, BCS over RR', '-8 %', percent(speed(r, 'bcs')), '11')
    for n in ('hs', 'srad'):
        if n in got:
            r = got[n]
            e.trend('loc R6 la_b ' + n, speed(r, 'la_b', 'bcs') >= .99, '%s: la_b is not slower than bcs: IPC x %.2f' % (n, speed(r, 'la_b', 'bcs')))
            text = '%s: la_bw is faster than la_b: IPC x %.3f' % (n, speed(r, 'la_bw', 'la_b'))
            if quick: # depending on the size of the input, the mechanism changes the speed by +2 % to -2 %
                e.report('loc R6 la_bw ' + n, text)
            else:
                e.trend('loc R6 la_bw ' + n, speed(r, 'la_bw', 'la_b') > 1, text)
    for n in ('hs', 'lud'):
        if n in got:
            r = got[n]
            e.trend('loc R7 ' + n, r['la_bw'].wait > r['la_b'].wait and r['la_bw'].control / r['la_bw'].slots > r['la_b'].control / r['la_b'].slots and abs(speed(r, 'la_bw', 'la_b') - 1) < .05,
                    '%s (tiles and barriers): with la_bw, warps wait longer at barriers than with la_b (%.0f cycles, %.0f), more issue slots are idle (%.1f %%, %.1f %%), and the kernel is as fast: IPC x %.3f' %
                    (n, r['la_bw'].wait, r['la_b'].wait, 100 * r['la_bw'].control / r['la_bw'].slots, 100 * r['la_b'].control / r['la_b'].slots, speed(r, 'la_bw', 'la_b')))
    for n in ('rows2', 'rows4', 'tran'):
        if n in got:
            rr, la = got[n]['rr'], got[n]['la_b']
            e.trend('loc R8 ' + n, la.raw + la.structural < rr.raw + rr.structural and (la.merges > rr.merges or la.l1_misses < rr.l1_misses),
                    '%s: with la_b, fewer issue slots than with rr are lost to registers and full units (%s of the slots of rr, %s), and L1 has more merges or fewer misses (la_b: %d merges, %d misses; rr: %d, %d)' %
                    (n, '%.2f' % ((la.raw + la.structural) / rr.slots), '%.2f' % ((rr.raw + rr.structural) / rr.slots), la.merges, la.l1_misses, rr.merges, rr.l1_misses))


def averages(e, got):
    """Checks R14, and adds rows that compare our mean figures with those of the source."""
    of = lambda *types: [n for n in got if TYPES.get(n) in types]
    gain = lambda names, v, over: harmonic([speed(got[n], v, over) for n in names])
    names = of('I', 'II', 'III')
    if not (of('I') and of('II') and of('III')):
        return
    means = {v: gain(names, v, 'rr') for v in VARIANTS}
    small = gain(of('I'), 'la_bw', 'bcs')
    large = gain(of('II'), 'la_bw', 'bcs')
    none = gain(of('III'), 'la_bw', 'rr')
    e.trend('loc R14 order', means['la_bw'] > means['la_b'] > means['bcs'] > 1, 'mean IPC relative to rr: la_bw is fastest, then la_b, then bcs, and rr is slowest: ' + ', '.join('%s %.3f' % x for x in means.items()))
    e.trend('loc R14 types', 1 < small < large and abs(none - 1) < .02, 'la_bw gains little over bcs on kernels of type I (IPC x %.2f), much on type II (x %.2f), and nothing over rr on type III (x %.3f)' % (small, large, none))
    best = lambda v, over: max(speed(got[n], v, over) for n in names)
    e.row('LA-BW over RR: mean; most', '+26 %; +59 %', '%s; %s' % (percent(means['la_bw']), percent(best('la_bw', 'rr'))), '11')
    e.row('LA-BW over BCS: mean; most', '+10 %; +42 %', '%s; %s' % (percent(gain(names, 'la_bw', 'bcs')), percent(best('la_bw', 'bcs'))), '11')
    e.row('LA-B over BCS, mean', '', percent(gain(names, 'la_b', 'bcs')), '11')
    for kind, bw, b in (('I', '+3 %', '0'), ('II', '+26 %', '+24 %'), ('III', 'none', 'none')):
        e.row('type %s: LA-BW over BCS; LA-B over BCS' % kind, bw + '; ' + b, '%s; %s' % (percent(gain(of(kind), 'la_bw', 'bcs')), percent(gain(of(kind), 'la_b', 'bcs'))), '11')
    e.row('types I and II: LA-BW over LA-B', '+3 %', percent(gain(of('I', 'II'), 'la_bw', 'la_b')), '11')
    points = {n: 100 * (got[n]['rr'].miss_rate - got[n]['la_bw'].miss_rate) for n in names}
    most = max(points, key=points.get)
    e.row('miss rate of L1, largest reduction by LA-BW from RR: percentage points; relative', 'at most 15 %', '%.0f (%s); %.0f %%' % (points[most], most, points[most] / got[most]['rr'].miss_rate), '11')
    e.row('miss rate of L1, type II, reduction by LA-B from BCS: percentage points; relative', '10 %', '%.0f; %.0f %%' % (
        100 * mean([got[n]['bcs'].miss_rate - got[n]['la_b'].miss_rate for n in of('II')]), 100 * mean([1 - got[n]['la_b'].miss_rate / max(got[n]['bcs'].miss_rate, 1e-9) for n in of('II')])), '11')
    if 'gabor' in got:
        e.row('Gabor (of no type): LA-BW over RR; BCS over RR', '', '%s; %s' % (percent(speed(got['gabor'], 'la_bw')), percent(speed(got['gabor'], 'bcs'))), '10')


def sweep(e, what, name, points, over):
    """Runs kernel @name with each of @points, a dictionary from point to keys. Returns the IPC of each relative to that with the
    keys @over."""
    for keys in points.values():
        e.start(name, keys)
    base = e.get(name, over).cycles
    return {p: base / e.get(name, keys).cycles for p, keys in points.items()}


def show_sweep(e, title, kept, lines):
    points = list(next(iter(lines.values())))
    print('\n' + title)
    rows = [[n] + ['%.3f' % x for x in values.values()] for n, values in lines.items()]
    heading = ['kernel'] + [str(p) for p in points]
    e.lay_out(heading, rows)
    e.keep(kept, [h.replace(' ', '_') for h in heading], rows)
    if e.out:
        plot.lines(os.path.join(e.out, kept + '.svg'), title, 'x', [str(p) for p in points], {n: list(v.values()) for n, v in lines.items()})


def ablations(e, got, options):
    quick = options.quick
    if 'tran' in got:
        across = side(e.size)
        needs = across - e.cores + 1
        windows = (2, needs - 1, needs, 2 * across, 0) if quick else (2, needs // 2, needs - 1, needs, across, 2 * across, 0)
        gains = sweep(e, 'window', 'tran', {w or 'all': LA_B + ['ap.window=%d' % w] for w in windows}, [])
        show_sweep(e, 'tran: IPC of la_b over that of rr, by ap.window', 'locality_window', {'tran': gains})
        whole = gains['all'] - 1
        e.trend('loc R10', gains[2] - 1 < .5 * whole, 'tran: a window that is too small loses more than half of the gain of la_b: IPC x %.3f with a window of 2, x %.3f with %d, which reaches the block that shares lines, x %.3f with all blocks' %
                (gains[2], gains[needs], needs, gains['all']))
    if quick:
        return
    names = [n for n in ('hs', 'srad', 'lud', 'sift') if n in got]
    if names:
        sizes = {kb: ['l1.bytes=%d' % (kb * 1024), 'l1.ways=%d' % (4 * kb // 16)] for kb in (16, 48)}
        gain = {kb: {n: e.get(n, LA_B + keys).cycles / e.get(n, LA_B + LA_W + keys).cycles for n in names} for kb, keys in sizes.items()}
        both = {kb: harmonic(list(g.values())) for kb, g in gain.items()}
        e.trend('loc R9', abs(both[48] - 1) < abs(both[16] - 1) or both[48] < both[16], 'the gain of la_bw over la_b is smaller with 48 KB of L1 (IPC x %.3f) than with 16 KB (x %.3f)' % (both[48], both[16]))
        forms = {'4+4': ['ap.regions=4', 'ap.subregions=4'], '6+16': ['ap.regions=6'], '10+16': [], 'lines': ['ap.exact=true']}
        vectors = {n: sweep(e, 'vectors', n, {f: LA_B + LA_W + keys for f, keys in forms.items()}, LA_B) for n in names}
        show_sweep(e, 'IPC of la_bw over that of la_b, by size of the access vectors', 'locality_vectors', vectors)
        means = {f: harmonic([vectors[n][f] for n in names]) for f in forms}
        e.trend('loc R11', means['4+4'] <= means['10+16'] + .002 and abs(means['10+16'] - means['lines']) < .02,
                'the gain of la_bw grows with the size of the access vectors, and vectors of 10+16 bits are as good as exact lines: ' + ', '.join('%s x %.3f' % x for x in means.items()))
        counts = (4, 8, 16, 24, 48)
        active = {n: sweep(e, 'active', n, {a: LA_B + ['la_w.on=true', 'la_w.active=%d' % a] for a in counts}, LA_B) for n in names}
        show_sweep(e, 'IPC of la_bw over that of la_b, by la_w.active', 'locality_active', active)
        means = {a: harmonic([active[n][a] for n in names]) for a in counts}
        e.trend('loc R12', max(means, key=means.get) not in (4,) and means[16] >= .97 * max(means.values()), 'IPC has an optimum or a plateau over the size of the active group, at more than 4 warps: ' +
                ', '.join('%d x %.3f' % x for x in means.items()))
    for n in ('hs', 'tran', 'nn'):
        if n not in got:
            continue
        points = []
        for window, cost in ((4, 1), (4, 2), (36, 1), (36, 2), (36, 5)):
            free = e.get(n, LA_B + ['ap.window=%d' % window])
            r = e.get(n, LA_B + ['ap.window=%d' % window, 'ap.dispatch_cost=%d' % cost])
            points.append((cost * r.gpu['ap_decision_ops'] / max(r.gpu['blocks'], 1), free.cycles / r.cycles, free.cycles / r.gpu['blocks']))
        words = ', '.join('%.0f x %.3f' % p[:2] for p in sorted(points))
        e.trend('loc R13 ' + n, min(p[1] for p in points if p[0] <= 1000) > .95, '%s: decisions of up to 1,000 cycles cost less than 5 %% of the IPC (average cycles of a decision, and IPC): %s; a block is placed every %.0f cycles' % (n, words, points[0][2]))
        hidden = [p for p in points if p[0] < .5 * p[2]]
        if hidden:
            e.trend('loc R13 hidden ' + n, min(p[1] for p in hidden) > .95, '%s: decisions that take less than half of the time between two blocks cost less than 5 %% of the IPC: %s' % (n, ', '.join('%.0f x %.3f' % p[:2] for p in sorted(hidden))))


def experiment(e, options):
    names = [n for n in MAKERS if (n in options.only if options.only else not options.quick or n in QUICK)]
    got = e.all(names, VARIANTS)

    table(e, 'IPC over that of rr', got, lambda r, v: '%.3f' % speed(r, v), 'locality')
    table(e, 'hits of L1, %', got, lambda r, v: '%.1f' % (100 * r[v].hits), 'locality_hits')
    table(e, 'lines that blocks shared while they were on a core together: predicted, observed', got, lambda r, v: '%d %d' % (r[v].core['shares_predicted'], r[v].core['shares_observed']), 'locality_shares')
    table(e, 'issue slots without an issue, %: full units; idle or control; registers', got,
          lambda r, v: ' '.join('%.0f' % (100 * x / r[v].slots) for x in (r[v].structural, r[v].control, r[v].raw)), 'locality_stalls')
    print('\nwith la_bw: share of accesses that have a slice; blocks chosen for the lines that they share; evaluations of slices; computed overlaps; instructions of the greedy warp and of warps chosen by locality; average wait at a barrier')
    rows = []
    for n in got:
        r, g = got[n]['la_bw'], got[n]['la_bw'].gpu
        rejected = sum(v for k, v in g.items() if k.startswith('ap_rejected_'))
        chosen = g['la_b_overlap'] + g['la_b_least']
        issues = sum(r.core['la_w_' + k] for k in ('greedy', 'locality', 'oldest', 'first'))
        rows.append([n, '%d of %d' % (g['ap_sites'] - rejected, g['ap_sites']), '%.0f %%' % (100 * g['la_b_overlap'] / max(chosen, 1)), g['ap_slice_evals'], g['ap_decision_ops'],
                     '%.0f %%' % (100 * r.core['la_w_greedy'] / max(issues, 1)), '%.0f %%' % (100 * r.core['la_w_locality'] / max(issues, 1)), '%.0f' % r.wait])
    e.lay_out(['kernel', 'slices', 'chosen', 'evaluations', 'overlaps', 'greedy', 'locality', 'wait'], rows)
    if e.out:
        plot.bars(os.path.join(e.out, 'locality.svg'), 'IPC over that of rr', 'x', list(got), {v: [speed(r, v) for r in got.values()] for v in VARIANTS})
    print()
    each_kernel(e, got, options.quick)
    averages(e, got)
    ablations(e, got, options)
