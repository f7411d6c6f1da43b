# SPDX-License-Identifier: Apache-2.0
"""Inputs and expected results of the kernels in launches.cu: the codes of the dynamic parallelism thesis (specification, section
12), with inputs of the same classes. The results are computed here, never by the emulator.

Each code has a maker: a function whose arguments are a Folder, a form (flat, cdp, dtbl or pt) and a size (1: the size for the
figures of the papers). It returns the text of a launch file that checks the result. All forms share inputs and results.
"""
import os
import random
import subprocess
import sys

from workloads import HERE, MASK, below, buffers, compressed, levels
from workloads import Folder as Files

FORMS = ('flat', 'cdp', 'dtbl', 'pt')
MANY = 64 # an item with at least this number of elements is launched
BLOCK = 64 # threads of each block that the host launches
PERSISTENT = 16 # blocks that the host launches in the form pt


class Folder(Files):
    def __init__(self, path, program):
        self.path, self.made = path, {}
        command = [program, 'compile', os.path.join(HERE, 'launches.cu'), '-o', 'launches.lwo']
        if subprocess.run(command, cwd=path).returncode != 0:
            sys.exit('bench/papers: cannot compile: ' + ' '.join(command))

    def once(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


def rows(**all_rows):
    return 'program: {source: launches.lwo}\nmachine: {pending_launches: 1000000}\n' + buffers(**all_rows)


def launch(entry, blocks, threads, args, indent=2):
    return '%s- launch: {entry: %s, grid: [%d], block: [%d], args: [%s]}\n' % (' ' * indent, entry, blocks, threads, ', '.join(map(str, args)))


def check(**of):
    return ''.join('  - check: {buffer: %s, file: %s}\n' % pair for pair in of.items())


def grid(form, n):
    return (PERSISTENT, BLOCK) if form == 'pt' else (-(-n // BLOCK), BLOCK)


# ---- graphs -----------------------------------------------------------------------------------------

def citation(n, r):
    """Returns a graph whose degrees follow a power law: most vertices have few edges, a few have hundreds (at most n / 8)."""
    lists = []
    for v in range(n):
        degree = min(n // 8, int(2 / (1 - r.random()) ** .95))
        lists.append([below(r, n) for _ in range(degree)])
    return lists


def road(n, r):
    """Returns a grid of streets, some of which are missing: degrees of up to 4."""
    side = int(n ** .5)
    lists = [[] for _ in range(side * side)]
    for v in range(side * side):
        for w, there in ((v + 1, v % side + 1 < side), (v + side, v + side < side * side)):
            if there and r.random() < .85:
                lists[v].append(w)
                lists[w].append(v)
    return lists


def cage(n, r):
    """Returns a graph in which the numbers of neighbouring vertices are close. The degrees vary from 3 to 132."""
    return [[min(n - 1, max(0, v + below(r, 400) - 200)) for _ in range(3 + int(130 * r.random() ** 3))] for v in range(n)]


def uniform(n, r):
    """Returns a graph with degrees of 56 to 72, which are close to MANY, and random neighbours."""
    return [[below(r, n) for _ in range(56 + below(r, 17))] for _ in range(n)]


GRAPHS = {'citation': (citation, 3000), 'road': (road, 3600), 'cage': (cage, 4000), 'graph500': (uniform, 800)}


def graph(folder, kind, size):
    def make():
        of, n = GRAPHS[kind]
        lists = of(int(n * size), random.Random(41))
        row, column = compressed(lists)
        return lists, row, column, folder.put('%s_%g_row' % (kind, size), row), folder.put('%s_%g_column' % (kind, size), column)
    return folder.once((kind, size), make)


def until(n, fills, launches):
    return ('steps:\n  - repeat: %d\n    until: {buffer: changed, index: 0, equals: 0}\n    steps:\n' % n +
            ''.join('      - fill: {buffer: %s, value: 0}\n' % b for b in fills) + launches)


ITERATION = '{iteration: {start: 0}}'


def bfs(folder, form, size, kind):
    lists, row, column, row_file, column_file = graph(folder, kind, size)
    n = len(lists)
    start = max(range(n), key=lambda v: len(lists[v]) if kind != 'road' else -v)

    def make():
        first = [-1] * n
        first[start] = 0
        return folder.put('%s_%g_level' % (kind, size), first), folder.put('%s_%g_levels' % (kind, size), levels(lists, start))
    first, expected = folder.once(('bfs', kind, size), make)
    return (rows(row=('s32', n + 1, row_file), column=('s32', len(column), column_file), level=('s32', n, first), changed=('s32', 1, None), next=('u32', 1, None)) +
            until(n, ('changed', 'next'), launch('bfs_' + form, *grid(form, n), ['row', 'column', 'level', 'changed', ITERATION, n, MANY, 'next'], 6)) +
            check(level=expected))


def sssp(folder, form, size, kind):
    lists, row, column, row_file, column_file = graph(folder, kind, size)
    n = len(lists)

    def make():
        import heapq
        r = random.Random(42)
        weight = [1 + below(r, 20) for _ in column]
        start = max(range(n), key=lambda v: len(lists[v]))
        far = 1 << 30
        distance = [far] * n
        distance[start] = 0
        first = list(distance)
        heap = [(0, start)]
        while heap:
            d, v = heapq.heappop(heap)
            if d > distance[v]:
                continue
            for e in range(row[v], row[v + 1]):
                if d + weight[e] < distance[column[e]]:
                    distance[column[e]] = d + weight[e]
                    heapq.heappush(heap, (d + weight[e], column[e]))
        touched = [-1] * n
        touched[start] = 0
        return (folder.put('%s_%g_weight' % (kind, size), weight), folder.put('%s_%g_distance' % (kind, size), first), folder.put('%s_%g_touched' % (kind, size), touched),
                folder.put('%s_%g_distances' % (kind, size), distance))
    weight, first, touched, expected = folder.once(('sssp', kind, size), make)
    return (rows(row=('s32', n + 1, row_file), column=('s32', len(column), column_file), weight=('s32', len(column), weight),
                 distance=('s32', n, first), touched=('s32', n, touched), changed=('s32', 1, None), next=('u32', 1, None)) +
            until(n, ('changed', 'next'), launch('sssp_' + form, *grid(form, n), ['row', 'column', 'weight', 'distance', 'touched', 'changed', ITERATION, n, MANY, 'next'], 6)) +
            check(distance=expected))


def clr(folder, form, size, kind):
    lists, row, column, row_file, column_file = graph(folder, kind, size)
    n = len(lists)

    def make():
        r = random.Random(43)
        rank = list(range(n))
        r.shuffle(rank)
        colour, turn = [-1] * n, 0
        while any(c < 0 for c in colour):
            taken = [v for v in range(n) if colour[v] < 0 and all(colour[w] >= 0 or rank[w] <= rank[v] for w in lists[v])]
            for v in taken:
                colour[v] = turn
            turn += 1
        return folder.put('%s_%g_rank' % (kind, size), rank), folder.put('%s_%g_held' % (kind, size), [-1] * n), folder.put('%s_%g_colours' % (kind, size), colour)
    rank, minus, expected = folder.once(('clr', kind, size), make)
    return (rows(row=('s32', n + 1, row_file), column=('s32', len(column), column_file), rank=('s32', n, rank), colour=('s32', n, minus), held=('s32', n, minus),
                 changed=('s32', 1, None), next=('u32', 1, None)) +
            until(n, ('changed', 'next'), launch('clr_' + form, *grid(form, n), ['row', 'column', 'rank', 'colour', 'held', ITERATION, n, MANY, 'next'], 6) +
                  launch('clr_take', -(-n // 256), 256, ['colour', 'held', 'changed', ITERATION, n], 6)) +
            check(colour=expected))


# ---- relations --------------------------------------------------------------------------------------

def join(folder, form, size, kind):
    n, keys = int(2048 * size), 1 << 12

    def make():
        import bisect
        r = random.Random(44)
        m = int(16384 * size)
        if kind == 'uniform':
            keys_here = max(64, m // 24)
            right = sorted(below(r, keys_here) for _ in range(m))
            left = [below(r, keys_here) for _ in range(n)]
        else: # most keys are near the middle of the range, so that many of them are equal
            right = sorted(min(keys - 1, max(0, int(r.gauss(keys / 2, 12 if below(r, 2) else 400)))) for _ in range(m))
            left = [min(keys - 1, max(0, int(r.gauss(keys / 2, 900)))) for _ in range(n)]
        payload = [below(r, 1 << 20) for _ in range(m)]
        place, out = [], []
        for i, key in enumerate(left):
            place.append(len(out))
            out += [payload[e] * 3 + i for e in range(bisect.bisect_left(right, key), bisect.bisect_right(right, key))]
        put = lambda name, values: folder.put('join_%s_%s' % (kind, name), values)
        return m, len(out), put('left', left), put('right', right), put('payload', payload), put('place', place), put('out', out)
    m, count, left, right, payload, place, expected = folder.once(('join', kind, size), make)
    return (rows(left=('s32', n, left), right=('s32', m, right), payload=('s32', m, payload), place=('s32', n, place), out=('s32', count, None), next=('u32', 1, None)) +
            'steps:\n' + launch('join_' + form, *grid(form, n), ['left', 'right', 'payload', 'place', 'out', m, n, MANY, 'next']) + check(out=expected))


def pre(folder, form, size, kind):
    n, things = int(512 * size), 600

    def make():
        r = random.Random(45)
        lists = [[below(r, things) for _ in range(2 + int(40 * r.random() ** 3))] for _ in range(n)]
        together = [0] * (things * things)
        for bought in lists:
            for i, a in enumerate(bought):
                for j, b in enumerate(bought):
                    if i != j:
                        together[a * things + b] += 1
        row, thing = compressed(lists)
        return len(thing), folder.put('pre_row', row), folder.put('pre_thing', thing), folder.put('pre_together', together)
    count, row, thing, expected = folder.once(('pre', size), make)
    return (rows(row=('s32', n + 1, row), thing=('s32', count, thing), together=('s32', things * things, None), next=('u32', 1, None)) +
            'steps:\n' + launch('pre_' + form, *grid(form, n), ['row', 'thing', 'together', things, n, 4 * MANY, 'next']) + check(together=expected))


# ---- recursion --------------------------------------------------------------------------------------

def mixed(x):
    x ^= x >> 16
    x = x * 0x7feb352d & MASK
    x ^= x >> 15
    x = x * 0x846ca68b & MASK
    return x ^ x >> 16


def amr(folder, form, size, kind):
    """All roots are refined. A part is refined if its low 16 bits are below a threshold, which halves at each level."""
    n, depth, threshold, steps, room = int(192 * size), 4, 9000, 24, 1 << 15

    def make():
        r = random.Random(46)
        roots = [1 + below(r, MASK - 1) for _ in range(n)]
        cells, heat, work = [0] * (depth + 1), [0] * (depth + 1), [(x, 0) for x in roots]
        while work:
            cell, level = work.pop()
            for i in range(32):
                x = cell * 33 + i & MASK
                for s in range(steps):
                    x = mixed(x + s & MASK)
                cells[level + 1] += 1
                heat[level + 1] += x & 255
                if level + 1 < depth and (x & 0xffff) < threshold >> level + 1:
                    work.append((x, level + 1))
        return (folder.put('amr_roots', roots + [0] * (room - n), 'I'), folder.put('amr_count', [n]), folder.put('amr_cells', cells),
                folder.put('amr_heat', heat), folder.put('amr_open', [n]))
    roots, count, cells, heat, opened = folder.once(('amr', size), make)
    common = dict(cells=('s32', depth + 1, None), heat=('u32', depth + 1, None))
    if form == 'flat':
        text = rows(list=('u32', room, roots), list2=('u32', room, None), count=('s32', 1, count), count2=('s32', 1, None), **common) + 'steps:\n'
        at = (('list', 'count'), ('list2', 'count2'))
        for level in range(depth):
            (here, number), (there, added) = at[level & 1], at[1 - (level & 1)]
            text += '  - fill: {buffer: %s, value: 0}\n' % added
            text += launch('amr_flat', room // 8 // BLOCK if level else -(-n // BLOCK), BLOCK,
                           [here, there, number, added, 'cells', 'heat', level, depth, threshold, steps])
    elif form == 'pt':
        text = rows(list=('u32', room, roots), taken=('u32', 1, None), added=('s32', 1, count), open=('s32', 1, opened), depth=('u8', room, None), **common)
        text += 'steps:\n' + launch('amr_pt', PERSISTENT, BLOCK, ['list', 'taken', 'added', 'open', 'cells', 'heat', 'depth', depth, threshold, steps])
    else:
        text = rows(list=('u32', room, roots), **common) + 'steps:\n'
        text += launch('amr_' + form, -(-n // BLOCK), BLOCK, ['list', n, 'cells', 'heat', depth, threshold, steps])
    return text + check(cells=cells, heat=heat)


def regx(folder, form, size, kind):
    n, length, states, letters = int(256 * size), 8, 48, 16
    many = 12

    def make():
        r = random.Random(47)
        lists = []
        for state in range(states):
            for letter in range(letters):
                wide = state == 0 or r.random() < (.004 if kind == 'packets' else .02)
                count = 16 + below(r, 17) if wide else below(r, 3)
                lists.append([below(r, states - 1) + 1 if r.random() > .12 else -1 for _ in range(count)])
        row, edge = compressed(lists)
        if kind == 'packets': # strings are made of a few words that occur often
            words = [[below(r, letters) for _ in range(length)] for _ in range(24)]
            strings = [words[below(r, 24)] for _ in range(n)]
        else:
            strings = [[below(r, letters) for _ in range(length)] for _ in range(n)]
        cache = {}

        def count(state, word):
            key = (state, tuple(word))
            if key not in cache:
                total = 0
                for to in lists[state * letters + word[0]]:
                    total += 1 if to < 0 else count(to, word[1:]) if len(word) > 1 else 0
                cache[key] = total
            return cache[key]
        found = [count(0, s) for s in strings]
        text = [a | b << 8 | c << 16 | d << 24 for s in strings for a, b, c, d in (s[:4], s[4:])]
        put = lambda name, values, k='i': folder.put('regx_%s_%s' % (kind, name), values, k)
        return len(edge), put('text', text, 'I'), put('row', row), put('edge', edge), put('found', found)
    count, text_file, row, edge, expected = folder.once(('regx', kind, size), make)
    text = rows(text=('u8', n * length, text_file), row=('s32', states * letters + 1, row), edge=('s32', count, edge), found=('s32', n, None), next=('u32', 1, None)) + 'steps:\n'
    args = ['text', 'row', 'edge', 'found', n, length]
    if form == 'pt':
        text += launch('regx_pt', PERSISTENT, BLOCK, args + ['next'])
    else:
        text += launch('regx_' + form, -(-n // BLOCK), BLOCK, args + ([many] if form != 'flat' else []))
    return text + check(found=expected)


def bht(folder, form, size, kind):
    """An eighth of the bodies is in a small square. A node is a leaf if it contains at most 2 bodies or has the largest depth;
    other nodes have 16 children."""
    n, side, deepest = int(1024 * size), 4096, 5
    dense = side // 16

    def make():
        r = random.Random(48)
        body = [(below(r, dense), below(r, dense)) if below(r, 8) == 0 else (below(r, side), below(r, side)) for _ in range(n)]
        node, top = [], []

        def fill(inside, x0, y0, wide, depth):
            at, mass = len(node), len(inside)
            leaf = mass <= 2 or depth == deepest
            node.append(None)
            if depth == 1:
                top.append(at)
            part = wide // 4
            if not leaf:
                boxes = [[] for _ in range(16)]
                for b in inside:
                    boxes[min(3, (b[1] - y0) // part) * 4 + min(3, (b[0] - x0) // part)].append(b)
                for c in range(16):
                    fill(boxes[c], x0 + c % 4 * part, y0 + c // 4 * part, part, depth + 1)
            x = sum(b[0] for b in inside) // mass if mass else x0 + wide // 2
            y = sum(b[1] for b in inside) // mass if mass else y0 + wide // 2
            node[at] = (x, y, mass, wide, len(node), int(leaf))
        fill(body, 0, 0, side, 0)
        force = []
        for x, y in body:
            at, total = 0, 0
            while at < len(node):
                cx, cy, mass, wide, after, leaf = node[at]
                d = (cx - x) ** 2 + (cy - y) ** 2
                if leaf or d > 4 * wide * wide:
                    total += mass * 1024 // (d + 16)
                    at = after
                else:
                    at += 1
            force.append(total)
        return (len(node), folder.put('bht_node', [v for p in node for v in p]), folder.put('bht_top', top),
                folder.put('bht_body', [v for b in body for v in b]), folder.put('bht_force', force))
    count, node, top, body, expected = folder.once(('bht', size), make)
    args = ['node', 'top', 'body', 'force', n]
    blocks = (PERSISTENT, BLOCK) if form == 'pt' else (-(-n // BLOCK), BLOCK)
    return (rows(node=('s32', 6 * count, node), top=('s32', 16, top), body=('s32', 2 * n, body), force=('s32', n, None), next=('u32', 1, None)) + 'steps:\n' +
            launch('bht_' + form, *blocks, args + (['next'] if form == 'pt' else [dense])) + check(force=expected))


def of(code, kind, part=1):
    return lambda folder, form, size=1: code(folder, form, size * part, kind)


CODES = {
    'bfs_citation': of(bfs, 'citation'), 'bfs_roads': of(bfs, 'road'), 'bfs_cage': of(bfs, 'cage'),
    'sssp_citation': of(sssp, 'citation'), 'sssp_cage': of(sssp, 'cage', .6),
    'clr_citation': of(clr, 'citation'), 'clr_graph500': of(clr, 'graph500', .4), 'clr_cage': of(clr, 'cage', .3),
    'join_uniform': of(join, 'uniform'), 'join_gaussian': of(join, 'gaussian'), 'pre': of(pre, None),
    'amr': of(amr, None), 'regx_packets': of(regx, 'packets'), 'regx_strings': of(regx, 'strings'), 'bht': of(bht, None),
}
