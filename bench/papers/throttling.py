# SPDX-License-Identifier: Apache-2.0
"""The trends of ccws with all combinations of settings of the points that the warp scheduling thesis leaves open."""
from experiment import SCHEDULERS, harmonic, swl

# Settings other than the defaults. A1 to A4 and A17 are points of section 11 of the specification of the thesis.
KNOBS = {
    'no cap (A1)': ['ccws.score_bits=0'], 'threads (A2)': ['ccws.inst_unit=thread'], 'by load (A2)': ['ccws.hit_unit=load'],
    'window (A2)': ['ccws.window=100000'], 'start (A3)': ['ccws.cutoff=start'], 'assign (A4)': ['ccws.set=assign'], 'kept (A17)': ['ccws.take=off'],
}
LIMITS = (1, 2, 3, 4, 6, 8, 12, 16)
# IPC of ccws over gto that the source gives: a figure label for KMN, and a lower bound that follows from other figures for SPMV
SOURCE = {'kmn': 4.1, 'spmv_random': 2.45}


def product(e, options, codes):
    """Prints the IPC of ccws over gto for each kernel of @codes and their harmonic mean, with all combinations of KNOBS. Counts the
    combinations with which ccws reaches the figures of the source, and those with which it is slower than gto on a kernel."""
    names, knobs = [n for n in codes if not options.only or n in options.only], list(KNOBS)
    ways = [tuple(k for i, k in enumerate(knobs) if at >> i & 1) for at in range(1 << len(knobs))]
    if options.quick:
        ways = [w for w in ways if len(w) < 2]
    gto = {n: e.start(n, []) for n in names}
    best = {n: [e.start(n, swl(x)) for x in LIMITS] for n in names}
    runs = {(n, way): e.start(n, SCHEDULERS['ccws'] + [x for k in way for x in KNOBS[k]]) for way in ways for n in names}
    gto = {n: f.result().cycles for n, f in gto.items()}
    best = {n: max(gto[n] / f.result().cycles for f in fs) for n, fs in best.items()}
    cells = {way: {n: gto[n] / runs[n, way].result().cycles for n in names} for way in ways}
    for way in ways:
        cells[way]['harmonic mean'] = harmonic([cells[way][n] for n in names])
    columns = names + ['harmonic mean']
    counts = ['%s: IPC of at least %.2f with %d' % (codes[n], x, sum(cells[w][n] >= x for w in ways)) for n, x in SOURCE.items() if n in names]
    counts.append('all kernels at least as fast as with gto (-2 %%) with %d' % sum(min(cells[w].values()) >= .98 for w in ways))
    counts.append('T1 (faster than gto, not faster than the best limit) with %d' % sum(1 < cells[w]['kmn'] <= best['kmn'] for w in ways) if 'kmn' in names else '')
    print('\n%d settings; %s' % (len(ways), '; '.join(c for c in counts if c)))
    text = {way: [', '.join(way) or 'defaults'] + ['%.2f' % cells[way][c] for c in columns] for way in ways}
    shown = [['best limit of swl'] + ['%.2f' % best[n] for n in names] + ['%.2f' % harmonic([best[n] for n in names])], text[()]]
    for c in columns:
        for what, pick in (('most', max), ('least', min)):
            row = text[pick(ways, key=lambda way: cells[way][c])]
            shown.append(['%s %s: %s' % (what, c, row[0])] + row[1:])
    for k in knobs: # the mean effect of each setting, over all combinations of the others
        on = [w for w in ways if k in w]
        effect = {c: sum(cells[w][c] / cells[tuple(x for x in w if x != k)][c] for w in on) / len(on) for c in columns}
        shown.append(['mean effect of %s' % k] + ['x %.2f' % effect[c] for c in columns])
    e.lay_out(['ccws over gto, IPC'] + columns, shown)
    e.keep('ccws_product', ['settings'] + [c.replace(' ', '_') for c in columns], [[row[0].replace(' ', '_')] + row[1:] for row in text.values()])
