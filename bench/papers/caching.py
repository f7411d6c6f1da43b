# SPDX-License-Identifier: Apache-2.0
"""Mechanisms of caches that depend on the warp: MeDiC and dynamic priority-based cache allocation (sections 16.6 and 16.9 of the
specification of the book on GPU architectures)."""
from experiment import SCHEDULERS, harmonic, mean, swl

REUSE = ('kmn', 'bfs_rmat', 'memc', 'gc', 'spmv_random', 'spmv_banded', 'mixed')
STILL = ('vector_random', 'vecadd')
QUICK = ('kmn', 'spmv_random', 'mixed', 'vecadd')
TYPES = ('all_miss', 'mostly_miss', 'balanced', 'mostly_hit', 'all_hit')


def chosen(options):
    return [n for n in REUSE + STILL if (n in QUICK if options.quick else not options.only or n in options.only)]


def only(*parts):
    return ['medic.on=true'] + ['medic.%s=%s' % (p, 'true' if p in parts else 'false') for p in ('bypass', 'insert', 'priority')]


def medic(e, options):
    """Prints the IPC with MeDiC, and with each of its parts, relative to gto without MeDiC, and the types of the warps in L2.
    Also prints the IPC of lrr with MeDiC relative to lrr without."""
    names = chosen(options)
    lrr = SCHEDULERS['lrr']
    keys = {'gto': [], 'medic': ['medic.on=true'], 'bypass': only('bypass'), 'insert': only('insert'), 'priority': only('priority'),
            'lrr': lrr, 'lrr medic': lrr + ['medic.on=true']}
    if not options.quick:
        keys.update({'fixed': ['medic.on=true', 'medic.tune=false']})
        keys.update({'%d cycles' % n: ['medic.on=true', 'medic.interval=%d' % n] for n in (5000, 100000)})
    got = e.all(names, keys)
    speed = {n: {k: got[n]['lrr' if k.startswith('lrr') else 'gto'].cycles / got[n][k].cycles for k in keys} for n in names}
    forms = [k for k in keys if k not in ('gto', 'lrr')]
    rows = []
    for n in names:
        r = got[n]['medic']
        samples = max(1, sum(r.slices['medic_' + t] for t in TYPES))
        rows.append([n] + ['%.2f' % speed[n][k] for k in forms] + ['%.0f' % (100 * r.slices['medic_' + t] / samples) for t in TYPES] +
                    ['%.0f' % (100 * r.slices['medic_bypasses'] / max(1, r.slices['reads'])), '%.2f' % (r.joules / got[n]['gto'].joules)])
    columns = ['kernel'] + forms + [t.replace('_', '-') + ' %' for t in TYPES] + ['bypass %', 'energy']
    print('\nMeDiC: IPC relative to gto (lrr: relative to lrr); samples of warps by type; reads that bypass L2; energy relative to gto')
    e.lay_out(columns, rows)
    e.keep('medic', [c.replace(' ', '_') for c in columns], rows)
    codes = [n for n in names if n in REUSE]
    still = [n for n in names if n in STILL]
    if codes:
        e.row('IPC of medic over gto (source: over other management of the caches)', '1.22', '%.2f' % harmonic([speed[n]['medic'] for n in codes]), 'abstract')
        e.row('IPC of medic with lrr over lrr', 'not stated', '%.2f' % harmonic([speed[n]['lrr medic'] for n in codes]), '16.6')
        e.row('IPC for each joule, of medic over gto', '1.20', '%.2f' % mean([got[n]['gto'].joules / got[n]['medic'].joules for n in codes]), 'abstract')
        e.trend('medic same work', all(got[n][k].thread_instructions == got[n]['gto'].thread_instructions for n in names if n != 'bfs_rmat' for k in keys),
                'the lanes execute the same number of instructions')
        e.trend('medic types', all(sum(got[n]['medic'].slices['medic_' + t] for t in TYPES) > 0 for n in codes), 'samples of warps of each kernel with reuse are complete')
        e.trend('medic safe', min(speed[n]['medic'] for n in codes) >= .95, 'the IPC with medic is at least 0.95 times that of gto: x %.2f to x %.2f' % (
            min(speed[n]['medic'] for n in codes), max(speed[n]['medic'] for n in codes)))
    if still:
        e.trend('medic neutral', min(speed[n]['medic'] for n in still) >= .95, 'kernels without reuse: the IPC with medic is at least 0.95 times that of gto; the lowest is x %.3f' % min(speed[n]['medic'] for n in still))


def dynpcal(e, options):
    """Prints the IPC with dynamic priority-based cache allocation, with ccws, and with the best fixed number of warps, all
    relative to gto. Also prints the average share of warps with a token."""
    names = chosen(options)
    ccws = SCHEDULERS['ccws']
    keys = {'gto': [], 'max_tlp': ['dynpcal.on=true'], 'ccws': ccws, 'both': ccws + ['dynpcal.on=true', 'dynpcal.mode=ccws']}
    keys.update({'swl %d' % n: swl(n) for n in ((2, 8) if options.quick else (1, 2, 3, 4, 6, 8, 12, 16))})
    if not options.quick:
        keys.update({'max_tlp %d' % n: ['dynpcal.on=true', 'dynpcal.epoch=%d' % n] for n in (1024, 16384)})
        keys.update({'both %d' % n: ccws + ['dynpcal.on=true', 'dynpcal.mode=ccws', 'dynpcal.epoch=%d' % n] for n in (1024, 16384)})
    got = e.all(names, keys)
    speed = {n: {k: got[n]['gto'].cycles / got[n][k].cycles for k in keys} for n in names}
    forms = [k for k in keys if k != 'gto' and not k.startswith('swl')]
    rows = []
    for n in names:
        best = max((k for k in keys if k.startswith('swl')), key=speed[n].get)
        rows.append([n] + ['%.2f' % speed[n][k] for k in forms] + ['%.2f' % speed[n][best], best.split()[-1]] +
                    ['%.0f' % (100 * got[n][k].core['dynpcal_tokens'] / max(1, got[n][k].core['dynpcal_warps'])) for k in ('max_tlp', 'both')] +
                    ['%.1f' % (got[n]['both'].core['dynpcal_warps'] / max(1, got[n]['both'].core['dynpcal_periods']))])
    columns = ['kernel'] + forms + ['best swl', 'limit', 'tokens max_tlp %', 'both %', 'warps']
    print('\ndynamic priority-based cache allocation: IPC relative to gto; share of warps with a token; warps that may load')
    e.lay_out(columns, rows)
    e.keep('dynpcal', [c.replace(' ', '_') for c in columns], rows)
    codes = [n for n in names if n in REUSE]
    still = [n for n in names if n in STILL]
    if codes:
        e.row('IPC of dynpcal with ccws over ccws', '1.11', '%.2f' % harmonic([speed[n]['both'] / speed[n]['ccws'] for n in codes]), '16.9')
        e.row('IPC of dynpcal (max_tlp) over gto', 'not stated', '%.2f' % harmonic([speed[n]['max_tlp'] for n in codes]), '16.9')
        e.trend('dynpcal same work', all(got[n][k].thread_instructions == got[n]['gto'].thread_instructions for n in names if n != 'bfs_rmat' for k in keys),
                'the lanes execute the same number of instructions')
        e.trend('dynpcal gains', max(speed[n]['max_tlp'] for n in codes) >= 1.05, 'on some kernel with reuse the IPC of max_tlp is at least 1.05 times that of gto: x %.2f to x %.2f' % (
            min(speed[n]['max_tlp'] for n in codes), max(speed[n]['max_tlp'] for n in codes)))
    if still:
        least = min(min(speed[n]['max_tlp'], speed[n]['both']) for n in still)
        e.trend('dynpcal neutral', least >= .95, 'kernels without reuse: the IPC with dynpcal is at least 0.95 times that of gto; the lowest is x %.3f' % least)
