# SPDX-License-Identifier: Apache-2.0
"""Occupancy bubbles, diversion and voltage scaling: sections 9 and 10 of the specification of the dynamic parallelism thesis,
trends TR-14 to TR-16. The codes of launches.cu run on a part of `kepler-k20c`, with launches of block groups and the block placement
LaPerm."""
import os

import plot
from experiment import harmonic, mean
from launching import DTBL, Launched, Machine as Launches, chosen, table

BASE = DTBL + ['kernels.policy=adaptive_bind', 'dvfs.on=true']
VARIANTS = {'count': ['dvfs.act=count'], 'divert': ['dvfs.act=divert'], 'DVFS': [], 'P 10000': ['dvfs.transition=10000'], 'no drain': ['dvfs.drain=false']}
GROUPS = {1: ('amr', 'bht', 'bfs_citation', 'bfs_cage', 'clr_citation', 'clr_cage', 'sssp_citation', 'sssp_cage', 'join_gaussian'),
          2: ('clr_graph500', 'regx_packets', 'regx_strings', 'pre', 'join_uniform')}
QUICK = ('bfs_citation', 'sssp_citation', 'join_gaussian', 'join_uniform')
# Figures of the source for each group of codes, in %: bubbles, energy saved by ideal gating, energy saved, additional cycles.
SOURCE = {1: ('32.7', '24.5', '15.9', '6.7'), 2: ('4.1', '1.1', '1.0', '0.5')}


class Powered(Launched):
    def __init__(self, report):
        super().__init__(report)
        self.joules, self.watts = report['energy']['joules'], report['energy']['watts']
        self.gated = report['energy'].get('gated', 0) / self.joules
        self.bubbles = report['ratios'].get('bubbles') or 0
        shares = [s['sums']['cores']['warp_cycles'] for s in report.get('samples', [])]
        average = mean(shares) if shares else 0
        self.varies = mean([(x - average) ** 2 for x in shares]) / average ** 2 if average else 0
        slow = report['sums']['cores']
        self.low = slow['dvfs_low_cycles'] / (report['cycles'] * len(report['cores']))


class Machine(Launches):
    """The GPU model of launching.py, with the cores' share of the card's static power, which is 25 W for 13 cores."""

    def __init__(self, program, work, out, cores, size, jobs, known=()):
        super().__init__(program, work, out, cores, size, jobs, known)
        self.machine.append('energy.gpu_static=%d' % (25000 * cores // 13))

    def run(self, launch, machine, keys, dump=None, name='launch', options=()):
        return super().run(launch, machine, keys, dump, name, [*options, '--timing-sample', '1000'])

    def result(self, report):
        return Powered(report)


def power(e, options):
    codes = chosen(options, GROUPS[1] + GROUPS[2], QUICK)
    variants = {v: ('dtbl', BASE + keys) for v, keys in VARIANTS.items()}
    variants['PT'] = ('pt', [])
    got = e.every(codes, variants)
    saved = {c: {v: 100 * (1 - r.joules / got[c]['count'].joules) for v, r in got[c].items()} for c in codes}
    slower = {c: {v: 100 * (r.cycles / got[c]['count'].cycles - 1) for v, r in got[c].items()} for c in codes}
    acts = [v for v in VARIANTS if v != 'count']
    table(e, 'bubbles: share of time with occupancy bubbles, %; energy that ideal gating would save, %; diversions; aborted drains', codes, ('bubbles', 'ideal', 'diversions', 'aborts'),
          lambda c, v: {'bubbles': '%.1f' % (100 * got[c]['count'].bubbles), 'ideal': '%.1f' % (100 * got[c]['count'].gated),
                        'diversions': got[c]['DVFS'].gpu['dvfs_diversions'], 'aborts': got[c]['DVFS'].gpu['dvfs_aborts']}[v])
    table(e, 'energy saved, %', codes, acts, lambda c, v: '%.1f' % saved[c][v])
    table(e, 'more cycles, %', codes, acts, lambda c, v: '%.1f' % slower[c][v])
    table(e, 'watts and variance of occupancy: groups; persistent warps', codes, ('count', 'PT'), lambda c, v: '%.1f %.3f' % (got[c][v].watts, got[c][v].varies))
    if e.out:
        plot.bars(os.path.join(e.out, 'power.svg'), 'energy saved', '%', codes, {v: [saved[c][v] for c in codes] for v in acts})
        plot.bars(os.path.join(e.out, 'power_time.svg'), 'more cycles', '%', codes, {v: [slower[c][v] for c in codes] for v in acts})
    for group, members in GROUPS.items():
        here = [c for c in codes if c in members]
        if not here:
            continue
        ours = (100 * mean([got[c]['count'].bubbles for c in here]), 100 * mean([got[c]['count'].gated for c in here]),
                mean([saved[c]['DVFS'] for c in here]), mean([slower[c]['DVFS'] for c in here]))
        for what, source, value in zip(('bubbles', 'energy saved by ideal gating', 'energy saved', 'more cycles'), SOURCE[group], ours):
            e.row('group %d: %s, %%' % (group, what), source, '%.1f' % value, '10.6')
        if group == 1:
            e.row('with a transition of 10,000 cycles: percentage points of energy saved less; percentage points of cycles more', '1.2; 0.6', '%.1f; %.1f' % (
                mean([saved[c]['DVFS'] - saved[c]['P 10000'] for c in here]), mean([slower[c]['P 10000'] - slower[c]['DVFS'] for c in here])), '10.6')
            e.trend('TR-15 bursty', 10 <= ours[2] <= 25 and ours[3] < 10, 'codes of group 1: the mechanism saves 10 to 25 %% of the energy (%.1f %%) and costs less than 10 %% of the time (%.1f %%)' % ours[2:])
            e.trend('TR-16', mean([saved[c]['P 10000'] for c in here]) <= mean([saved[c]['DVFS'] for c in here]), 'longer transitions save less energy: %.1f %% with 10,000 cycles, %.1f %% with the default' % (
                mean([saved[c]['P 10000'] for c in here]), mean([saved[c]['DVFS'] for c in here])))
        else:
            e.trend('TR-15 saturated', ours[2] < 2 and ours[3] < 2, 'codes of group 2: the mechanism saves less than 2 %% of the energy (%.1f %%) and costs less than 2 %% of the time (%.1f %%)' % ours[2:])
    least = max(got[c]['DVFS'].joules / got[c]['count'].joules for c in codes)
    e.trend('P bound', all(saved[c]['DVFS'] <= 100 * got[c]['count'].gated + 100 * max(0, -slower[c]['DVFS']) / 100 + 1 for c in codes),
            'no code saves more energy than ideal gating would; the largest ratio of the energy with the mechanism to that without is %.3f' % least)
    e.row('average power, groups over persistent warps', '0.873', '%.3f' % mean([got[c]['count'].watts / got[c]['PT'].watts for c in codes]), '9.2')
    e.row('variance of occupancy, groups over persistent warps', '1.235', '%.2f' % mean([got[c]['count'].varies / got[c]['PT'].varies for c in codes]), '9.2')
    e.trend('TR-14 variance', mean([got[c]['count'].varies / got[c]['PT'].varies for c in codes]) > 1, 'occupancy varies more with groups than with persistent warps')
    e.trend('TR-14 power', mean([got[c]['count'].watts / got[c]['PT'].watts for c in codes]) < 1, 'groups draw less power than persistent warps: ratio %.3f' %
            mean([got[c]['count'].watts / got[c]['PT'].watts for c in codes]))
    if not options.quick:
        ablations(e, [c for c in ('bfs_citation', 'join_gaussian', 'amr', 'bht') if c in codes], {c: got[c]['count'] for c in codes})


def ablations(e, codes, base):
    if not codes:
        return
    for title, key, values in (('sampling', 'dvfs.sample', (100, 250, 500, 1000, 2000)), ('threshold, warps', 'dvfs.threshold', (1, 2, 4, 8, 16)),
                               ('transition, cycles', 'dvfs.transition', (0, 100, 500, 2000, 10000)), ('drain, samples', 'dvfs.wait', (1, 5, 10, 20, 50))):
        sweep = {v: ('dtbl', BASE + ['%s=%d' % (key, v)]) for v in values}
        r = e.every(codes, sweep)
        table(e, title + ': energy saved, %; more cycles, %', codes, sweep,
              lambda c, v, r=r: '%.1f %.1f' % (100 * (1 - r[c][v].joules / base[c].joules), 100 * (r[c][v].cycles / base[c].cycles - 1)))
        if e.out:
            plot.lines(os.path.join(e.out, 'power_' + key.split('.')[1] + '.svg'), title + ': energy saved', '%', [str(v) for v in values],
                       {c: [100 * (1 - r[c][v].joules / base[c].joules) for v in values] for c in codes})
    e.row('more cycles with a transition of 0, 500, 10000 cycles, harmonic mean of IPC', '-', '; '.join('%.3f' % harmonic(
        [base[c].cycles / e.get(c + '/dtbl', BASE + ['dvfs.transition=%d' % t]).cycles for c in codes]) for t in (0, 500, 10000)), '10.6')
