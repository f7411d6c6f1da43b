# SPDX-License-Identifier: Apache-2.0
"""Dynamic warp formation, thread block compaction and CAPRI (sections 11.1.1, 11.1.2 and 11.1.4 of the specification of the
book on GPU architectures), large warps (11.1.3) and interweaving (11.1.7), with the kernels of chapter 6 of the warp scheduling
thesis on one core of rogers-vws."""
from vws import Widths
from vws_workloads import DIVERGENT

KERNELS = tuple(DIVERGENT) + ('fft', 'matmul', 'radix')
QUICK = ('lighting', 'raytrace', 'comd', 'matmul')
CBAR = ['core.reconvergence=cbar', 'issue.split_lanes=true']
FORMS = CBAR + ['dwf.on=true']
HEURISTICS = ('majority', 'minority', 'time', 'pc', 'policy')


class Formed(Widths):
    """Results of the kernels with static warps, and with warps that the core forms dynamically."""

    def __init__(self, program, work, out, options, known):
        super().__init__(program, work, out, options, known)
        self.names = [n for n in KERNELS if n in (options.only or (QUICK if options.quick else KERNELS))]
        self.got = {}

    def lanes(self, name, keys):
        """Returns the average number of active lanes of an instruction."""
        r = self.got[name][keys]
        return r.thread_instructions / r.instructions

    def accesses(self, name, keys):
        return self.got[name][keys].core['accesses'] / self.got[name]['static'].core['accesses']


def table(e, name, keys):
    """Prints the IPC and the accesses of L1, both relative to static warps, and the active lanes per instruction."""
    formed = [k for k in keys if k != 'static']
    for title, columns, value in (('IPC over that of static warps', formed, lambda n, k: '%.2f' % e.speed(n, k, 'static')),
                                  ('lanes of an instruction', list(keys), lambda n, k: '%.1f' % e.lanes(n, k)),
                                  ('accesses of L1 over those of static warps', formed, lambda n, k: '%.2f' % e.accesses(n, k))):
        rows = [[n] + [value(n, k) for k in columns] for n in e.names]
        if title.startswith('IPC'):
            e.keep(name, ['kernel'] + columns, rows)
        print('\n' + title)
        e.lay_out(['kernel'] + columns, rows)
    print()


def common(e, name, keys):
    """Checks the trends that must hold for all mechanisms that form warps."""
    formed = [k for k in keys if k != 'static']
    divergent = e.of(DIVERGENT)
    e.trend(name + ' same work', all(e.got[n][k].thread_instructions == e.got[n]['static'].thread_instructions for n in e.names for k in formed),
            'the lanes execute the same number of instructions')
    e.trend(name + ' convergent', all(e.got[n][k].core['formed_lanes'] == 0 for n in e.names if n not in divergent for k in formed),
            'on convergent kernels no warps are formed')
    return formed, divergent


def dwf(e, options):
    """Checks dynamic warp formation: with each heuristic, with whole splits (majority), and with the scheduler that static warps
    have (policy)."""
    keys = {'static': CBAR}
    keys.update({h: FORMS + ['dwf.heuristic=' + h] for h in HEURISTICS})
    keys['splits'] = FORMS + ['dwf.threads=false']
    e.got = e.all(e.names, keys)
    table(e, 'dwf', keys)
    formed, divergent = common(e, 'dwf', keys)
    e.trend('dwf lanes', all(e.lanes(n, k) > 1.1 * e.lanes(n, 'static') for n in divergent for k in formed), 'on divergent kernels an instruction has more lanes')
    mean_of = {k: e.speeds(divergent, k, 'static') for k in formed}
    e.trend('dwf gains', max(mean_of.values()) > 1.15, 'divergent kernels, harmonic mean: ' + ', '.join('%s x %.2f' % (k, x) for k, x in mean_of.items()))
    e.trend('dwf scheduling', max(mean_of.values()) > 1.05 * min(mean_of.values()), 'the speed depends on the heuristic')
    same = [n for n in e.names if n not in divergent]
    worst = max(abs(e.speed(n, 'policy', 'static') - 1) for n in same)
    e.trend('dwf neutral', worst <= .02, 'convergent kernels with the scheduler of static warps: %.2f %% at most' % (100 * worst))
    most = max((e.accesses(n, k), n, k) for n in divergent for k in HEURISTICS)
    e.trend('dwf coalescing', most[0] > 1.05, 'threads that are grouped anew coalesce less: %s with %s makes x %.2f accesses' % (most[1], most[2], most[0]))


def tbc(e, options):
    """Checks thread block compaction, next to dynamic warp formation with two heuristics."""
    keys = {'static': CBAR, 'tbc': CBAR + ['tbc.on=true'], 'majority': FORMS, 'time': FORMS + ['dwf.heuristic=time']}
    e.got = e.all(e.names, keys)
    table(e, 'tbc', keys)
    _, divergent = common(e, 'tbc', keys)
    core = {n: e.got[n]['tbc'].core for n in e.names}
    rows = [[n, core[n]['tbc_branches'], core[n]['tbc_divergent'], core[n]['tbc_compactions'], '%.2f' % (core[n]['tbc_dynamic'] / max(1, core[n]['tbc_static']))]
            for n in e.names]
    e.lay_out(['kernel', 'branches', 'divergent', 'compactions', 'dynamic warps of a static one'], rows)
    print()
    e.trend('tbc lanes', all(e.lanes(n, 'tbc') >= e.lanes(n, 'static') for n in divergent) and max(e.lanes(n, 'tbc') / e.lanes(n, 'static') for n in divergent) > 1.2,
            'on divergent kernels an instruction has more lanes')
    e.trend('tbc coalescing', all(e.accesses(n, 'tbc') <= 1.02 for n in e.names), 'warps are static where flow converges, so that as many accesses coalesce')
    worst = max(abs(e.speed(n, 'tbc', 'static') - 1) for n in e.names if n not in divergent)
    e.trend('tbc neutral', worst <= .02, 'convergent kernels: %.2f %% at most' % (100 * worst))
    speeds = {n: e.speed(n, 'tbc', 'static') for n in divergent}
    e.report('tbc speed', 'divergent kernels: ' + ', '.join('%s x %.2f' % x for x in speeds.items()))


def lwm(e, options):
    """Checks large warps, next to thread block compaction and dynamic warp formation."""
    large = CBAR + ['lwm.on=true']
    keys = {'static': CBAR, 'lwm': large, '2 warps': large + ['lwm.warps=2'], '4 warps': large + ['lwm.warps=4'], 'tbc': CBAR + ['tbc.on=true'],
            'majority': FORMS}
    e.got = e.all(e.names, keys)
    table(e, 'lwm', keys)
    _, divergent = common(e, 'lwm', keys)
    core = {n: e.got[n]['lwm'].core for n in e.names}
    e.lay_out(['kernel', 'steps', 'releases', 'instructions of a step'], [[n, core[n]['lwm_steps'], core[n]['lwm_releases'], '%.2f' % (e.got[n]['lwm'].instructions / core[n]['lwm_steps'])]
                                                                         for n in e.names])
    print()
    e.trend('lwm lanes', all(e.lanes(n, 'lwm') >= .99 * e.lanes(n, 'static') for n in divergent) and max(e.lanes(n, 'lwm') / e.lanes(n, 'static') for n in divergent) > 1.2,
            'on divergent kernels an instruction has more lanes')
    e.trend('lwm size', all(e.lanes(n, 'lwm') >= .95 * e.lanes(n, '2 warps') for n in divergent), 'larger warps compact at least as many threads, within 5 %')
    for k in ('lwm', 'tbc'):
        speeds = {n: e.speed(n, k, 'static') for n in e.names}
        e.report('lwm speed of ' + k, ', '.join('%s x %.2f' % x for x in speeds.items()))


def interweave(e, options):
    """Checks interweaving of branches (SBI) and of warps (SWI), with warps of 32 lanes and, as in the source, of 64 lanes. The
    IPC is relative to warps of the same width without interweaving."""
    wide = CBAR + ['core.warp_width=64', 'core.warps=16', 'units.int.lanes=64']
    both, one = ['interweave.on=true'], {'sbi': ['interweave.warps=false'], 'swi': ['interweave.branches=false'], 'both': [], 'xor': ['core.permute=xor'], 'mirror': ['core.permute=mirror']}
    keys = {'static': CBAR, **{k: CBAR + both + more for k, more in one.items()}}
    keys['static 64'] = wide
    keys.update({k + ' 64': wide + both + more for k, more in one.items()})
    e.got = e.all(e.names, keys)
    divergent = e.of(DIVERGENT)
    forms = [k for k in keys if not k.startswith('static')]
    base = {k: 'static 64' if k.endswith('64') else 'static' for k in keys}
    def seconds(n, k):
        core = e.got[n][k].core
        return (core['interweave_branches'] + core['interweave_warps']) / e.got[n][k].instructions
    rows = [[n] + ['%.2f' % e.speed(n, k, base[k]) for k in forms] for n in e.names]
    print('\nIPC over that of warps of the same width without interweaving')
    e.lay_out(['kernel'] + forms, rows)
    e.keep('interweave', ['kernel'] + [k.replace(' ', '_') for k in forms], rows)
    print('\nsecond instructions, % of all instructions')
    e.lay_out(['kernel'] + forms, [[n] + ['%.0f' % (100 * seconds(n, k)) for k in forms] for n in e.names])
    print()
    for where, names, source in (('convergent', [n for n in e.names if n not in divergent], '1.23'), ('divergent', divergent, '1.40')):
        if names:
            e.row('%s kernels (source: %s): IPC with both over IPC without' % (where, 'irregular' if where == 'divergent' else 'regular'), source,
                  '%.2f, xor %.2f; warps of 64 %.2f, xor %.2f' % tuple(e.speeds(names, k, base[k]) for k in ('both', 'xor', 'both 64', 'xor 64')), 'abstract')
    e.trend('interweave same work', all(e.got[n][k].thread_instructions == e.got[n][base[k]].thread_instructions for n in e.names for k in forms),
            'the lanes execute the same number of instructions')
    e.trend('interweave gains', all(e.speed(n, 'both', 'static') >= .97 for n in divergent) and e.speeds(divergent, 'both', 'static') > 1.1,
            'divergent kernels, harmonic mean: ' + ', '.join('%s x %.2f' % (k, e.speeds(divergent, k, base[k])) for k in forms))
    worst = max(abs(e.speed(n, k, base[k]) - 1) for n in e.names if n not in divergent for k in forms)
    e.trend('interweave neutral', worst <= .03, 'convergent kernels: %.2f %% at most' % (100 * worst))


def capri(e, options):
    """Checks thread block compaction with the compaction-adequacy predictor (CAPRI): with its default keys, with other sizes, and
    with another initial prediction."""
    predicts = CBAR + ['tbc.on=true', 'tbc.capri=true']
    keys = {'static': CBAR, 'tbc': CBAR + ['tbc.on=true'], 'capri': predicts, '1 bit': predicts + ['tbc.capri_bits=1'],
            '4 bits': predicts + ['tbc.capri_bits=4'], 'inadequate': predicts + ['tbc.capri_initial=inadequate'], '4 entries': predicts + ['tbc.capri_entries=4']}
    e.got = e.all(e.names, keys)
    table(e, 'capri', keys)
    formed, divergent = common(e, 'capri', keys)
    predictors = [k for k in formed if k != 'tbc']
    core = {n: {k: e.got[n][k].core for k in predictors} for n in e.names}

    def right(n, k):
        return 100 * (1 - core[n][k]['tbc_mispredictions'] / core[n][k]['tbc_predictions']) if core[n][k]['tbc_predictions'] else None

    e.lay_out(['kernel', 'branches with a wait', 'passes without', 'predictions'], [[n] + [core[n]['capri'][c] for c in ('tbc_branches', 'tbc_passes', 'tbc_predictions')] for n in e.names])
    print('\ncorrect predictions, %')
    e.lay_out(['kernel'] + predictors, [[n] + ['none' if right(n, k) is None else '%.1f' % right(n, k) for k in predictors] for n in e.names])
    print()
    mean_of = {k: e.speeds(divergent, k, 'static') for k in formed}
    e.trend('capri beats tbc', mean_of['capri'] > mean_of['tbc'], 'divergent kernels, harmonic mean: ' + ', '.join('%s x %.2f' % (k, x) for k, x in mean_of.items()))
    worst = max(abs(e.speed(n, 'capri', 'static') - 1) for n in e.names if n not in divergent)
    e.trend('capri neutral', worst <= .02, 'convergent kernels: %.2f %% at most' % (100 * worst))
    e.trend('capri compacts', all(e.lanes(n, 'static') <= e.lanes(n, 'capri') <= e.lanes(n, 'tbc') for n in divergent), 'an instruction has as many lanes as with static warps or more, and as many as with tbc or fewer')
    rates = [right(n, 'capri') for n in divergent if right(n, 'capri') is not None]
    e.report('capri accuracy', 'divergent kernels: %.1f %% of the predictions are correct; source: 86.6 %%' % (sum(rates) / len(rates)))


def permute(e, options):
    """Checks lane permutation under the mechanisms that form warps: with each permutation, relative to the mechanism without."""
    forms = {'dwf': FORMS, 'tbc': CBAR + ['tbc.on=true'], 'lwm': CBAR + ['lwm.on=true']}
    ways = ('xor', 'mirror', 'reverse', 'rotate')
    keys = {'static': CBAR, 'static xor': CBAR + ['core.permute=xor']}
    for m, k in forms.items():
        keys[m] = k
        keys.update({'%s %s' % (m, w): k + ['core.permute=' + w] for w in ways})
    e.got = e.all(e.names, keys)
    _, divergent = common(e, 'permute', {k: v for k, v in keys.items() if not k.startswith('static')} | {'static': CBAR})
    columns = ['%s %s' % (m, w) for m in forms for w in ways]
    for title, value in (('IPC over that without a permutation', lambda n, k: '%.2f' % e.speed(n, k, k.split()[0])), ('lanes of an instruction', lambda n, k: '%.1f' % e.lanes(n, k))):
        of = columns if title.startswith('IPC') else [c for k in forms for c in [k] + [x for x in columns if x.startswith(k)]]
        rows = [[n] + [value(n, k) for k in of] for n in e.names]
        print('\n' + title)
        e.lay_out(['kernel'] + of, rows)
        if title.startswith('IPC'):
            e.keep('permute', ['kernel'] + [c.replace(' ', '_') for c in of], rows)
    print()
    e.trend('permute static', all(e.got[n]['static xor'].cycles == e.got[n]['static'].cycles for n in e.names), 'without a mechanism, a permutation changes no cycle')
    e.trend('permute convergent', all(abs(e.speed(n, k, k.split()[0]) - 1) < 1e-9 for n in e.names if n not in divergent for k in columns), 'on convergent kernels, a permutation changes no cycle')
    means = {k: e.speeds(divergent, k, k.split()[0]) for k in columns}
    e.report('permute gains', 'divergent kernels, harmonic mean: ' + ', '.join('%s x %.3f' % x for x in means.items()))
