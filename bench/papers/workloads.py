# SPDX-License-Identifier: Apache-2.0
"""Inputs and expected results of the kernels in workloads.cl and spmv.cu: one kernel for each benchmark of the warp scheduling
thesis that affects a figure (section 8.1 of its specification). The results are computed here, never by the emulator. All numbers
are integers, so that the results are exact.

Each kernel has a maker: a function whose arguments are a Folder and a size (1 for the figures of the papers; smaller for tests).
It writes files to the folder, and returns the text of a launch file that checks the result.
"""
import array
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MASK = 0xffffffff


class Folder:
    """A folder that contains the compiled kernels, and to which makers write inputs and expected results."""

    def __init__(self, path, program):
        self.path = path
        for source in ('workloads.cl', 'spmv.cu', 'vws.cl'):
            command = [program, 'compile', os.path.join(HERE, source), '-o', source.split('.')[0] + '.lwo']
            if subprocess.run(command, cwd=path).returncode != 0:
                sys.exit('bench/papers: cannot compile: ' + ' '.join(command))

    def put(self, name, values, kind='i'):
        """Writes a file of 32-bit numbers (@kind: a type code of module array). Returns the file's name."""
        with open(os.path.join(self.path, name + '.bin'), 'wb') as f:
            a = array.array(kind, values)
            if sys.byteorder == 'big':
                a.byteswap()
            a.tofile(f)
        return name + '.bin'


def buffers(**rows):
    """Returns the section `buffers` of a launch file. @rows: name=(type, count, file or None)."""
    text = 'buffers:\n'
    for name, (kind, count, file) in rows.items():
        text += '  %s: {type: %s, count: %d%s}\n' % (name, kind, count, ', init: {file: %s}' % file if file else '')
    return text


def program(source):
    return 'program: {source: %s.lwo}\n' % source


def below(r, n):
    """Returns a random number from 0 to @n - 1. Unlike randrange(), it gives the same numbers in all versions of Python."""
    return int(r.random() * n)


# ---- k-means ----------------------------------------------------------------------------------------

def kmn(folder, size=1):
    n, features, k, r = int(16384 * size), 34, 5, random.Random(11)
    point = [below(r, 256) for _ in range(n * features)]
    centre = [below(r, 256) for _ in range(k * features)]
    rows = [centre[c * features:(c + 1) * features] for c in range(k)]
    nearest = []
    for t in range(n):
        p = point[t * features:(t + 1) * features]
        distances = [sum((a - b) * (a - b) for a, b in zip(p, row)) for row in rows]
        nearest.append(distances.index(min(distances)))
    return (program('workloads') + buffers(point=('s32', n * features, folder.put('kmn_point', point)),
                                           centre=('s32', k * features, folder.put('kmn_centre', centre)), nearest=('s32', n, None)) +
            'steps:\n  - launch: {entry: kmn, grid: [%d], block: [128], args: [point, centre, nearest, %d, %d]}\n'
            '  - check: {buffer: nearest, file: %s}\n' % (n // 128, features, k, folder.put('kmn_expected', nearest)))


# ---- graphs -----------------------------------------------------------------------------------------

def compressed(lists):
    row, column = [0], []
    for neighbours in lists:
        column += neighbours
        row.append(len(column))
    return row, column


def levels(lists, start):
    level, frontier, depth = [-1] * len(lists), [start], 0
    level[start] = 0
    while frontier:
        reached = []
        for v in frontier:
            for w in lists[v]:
                if level[w] < 0:
                    level[w] = depth + 1
                    reached.append(w)
        frontier, depth = reached, depth + 1
    return level


def search(folder, name, lists):
    n = len(lists)
    start = max(range(n), key=lambda v: len(lists[v]))
    row, column = compressed(lists)
    first = [-1] * n
    first[start] = 0
    return (program('workloads') +
            buffers(row=('s32', n + 1, folder.put(name + '_row', row)), column=('s32', len(column), folder.put(name + '_column', column)),
                    level=('s32', n, folder.put(name + '_level', first)), changed=('s32', 1, None)) +
            'steps:\n  - repeat: %d\n    until: {buffer: changed, index: 0, equals: 0}\n    steps:\n      - fill: {buffer: changed, value: 0}\n'
            '      - launch: {entry: bfs, grid: [%d], block: [256], args: [row, column, level, changed, %d, {iteration: {start: 0}}]}\n'
            '  - check: {buffer: level, file: %s}\n' % (n, -(-n // 256), n, folder.put(name + '_expected', levels(lists, start))))


def bfs_random(folder, size=1, name='bfs_random'):
    """Searches a random graph with degrees of 1 to 15: half a million edges with size 1."""
    n, r = int(65536 * size), random.Random(12)
    return search(folder, name, [[below(r, n) for _ in range(1 + below(r, 15))] for _ in range(n)])


def bfs_large(folder, size=1):
    """Searches a random graph that is twice as large."""
    return bfs_random(folder, 2 * size, 'bfs_large')


def bfs_rmat(folder, size=1):
    """Searches a recursive matrix (R-MAT) with 16 edges per node on average. A few nodes have hundreds of edges."""
    bits, r = 15 if size == 1 else 14 if size >= .5 else 11, random.Random(13)
    lists = [[] for _ in range(1 << bits)]
    for _ in range(16 << bits):
        v = w = 0
        for _ in range(bits):
            u = r.random()
            v, w = 2 * v + (u >= .67), 2 * w + (.45 <= u < .67 or u >= .89)
        lists[v].append(w)
    return search(folder, 'bfs_rmat', lists)


def bfs_road(folder, size=1):
    """Searches a grid of streets, a fifth of which are missing: nodes have few neighbours, and the search has many levels."""
    side, r = 64 if size == 1 else 24, random.Random(14)
    lists = [[] for _ in range(side * side)]
    for y in range(side):
        for x in range(side):
            for dx, dy in ((1, 0), (0, 1)):
                if x + dx < side and y + dy < side and r.random() < .8:
                    a, b = y * side + x, (y + dy) * side + x + dx
                    lists[a].append(b)
                    lists[b].append(a)
    return search(folder, 'bfs_road', lists)


def sssp(folder, size=1):
    """Shortest paths: each node has six edges to near nodes. An edge takes one word, so the edges of 32 warps fit into 32 KB."""
    n, degree, r = int(16384 * size), 6, random.Random(15)
    edge = []
    for v in range(n):
        for _ in range(degree):
            to = min(max(v + below(r, 129) - 64, 0), n - 1)
            edge.append(to - v + 128 | 1 + below(r, 100) << 16)
    old = [0 if v % 1024 == 0 else 1 << 20 for v in range(n)]
    first, rounds = folder.put('sssp_old', old), 0
    while True:
        new = [min([old[v]] + [old[v + (x & 0xffff) - 128] + (x >> 16) for x in edge[v * degree:(v + 1) * degree]]) for v in range(n)]
        rounds += 1
        if new == old:
            break
        old = new
    return (program('workloads') +
            buffers(edge=('u32', n * degree, folder.put('sssp_edge', edge, 'I')), old=('s32', n, first), new=('s32', n, None), changed=('s32', 1, None)) +
            'steps:\n  - repeat: %d\n    until: {buffer: changed, index: 0, equals: 0}\n    steps:\n      - fill: {buffer: changed, value: 0}\n'
            '      - launch: {entry: sssp, grid: [%d], block: [256], args: [edge, old, new, changed, %d]}\n      - swap: [old, new]\n'
            '  - check: {buffer: old, file: %s}\n' % (rounds, n // 256, degree, folder.put('sssp_expected', old)))


# ---- a hash table and a heap --------------------------------------------------------------------------

def memc(folder, size=1):
    """Requests for 8,192 keys, some of which are requested much more often than others. The first words of a key all have one of
    16 values, so that many keys begin with the same words."""
    n, items, buckets, key_words, record_words, r = int(16384 * size), 8192, 2048, 8, 32, random.Random(16)
    keys, chains = [], [[] for _ in range(buckets)]
    for i in range(items):
        key = [7 + i % 16] * 3 + [below(r, 4) for _ in range(key_words - 4)] + [i]
        keys.append(key)
    record = []
    for i, key in enumerate(keys):
        h = 0
        for word in key:
            h = h * 31 + word & MASK
        chains[h % buckets].append(i)
    following = [-1] * items
    for chain in chains:
        for a, b in zip(chain, chain[1:]):
            following[a] = b
    for i, key in enumerate(keys):
        words = 4 + below(r, record_words - 2 - key_words - 4)
        value = [below(r, 1 << 30) for _ in range(record_words - 2 - key_words)]
        record += [following[i] & MASK, words] + key + value
    request, answer = [], []
    for _ in range(n):
        i = min(int(items * r.random() ** 2), items - 1)
        request += keys[i]
        at, total = i * record_words, 0
        for word in record[at + 2 + key_words:at + 2 + key_words + record[at + 1]]:
            total = total * 5 + word & MASK
        answer.append(total)
    bucket = [chain[0] if chain else -1 for chain in chains]
    return (program('workloads') +
            buffers(request=('u32', len(request), folder.put('memc_request', request, 'I')), bucket=('s32', buckets, folder.put('memc_bucket', bucket)),
                    record=('u32', len(record), folder.put('memc_record', record, 'I')), answer=('u32', n, None)) +
            'steps:\n  - launch: {entry: memc, grid: [%d], block: [128], args: [request, bucket, record, answer, %d, %d, %d]}\n'
            '  - check: {buffer: answer, file: %s}\n' % (n // 128, buckets, key_words, record_words, folder.put('memc_expected', answer, 'I')))


def gc(folder, size=1):
    """Objects with up to six references and 48 words each. Some objects are garbage."""
    n, classes, r = int(32768 * size), 64, random.Random(17)
    table = [below(r, 1000) for _ in range(2 * classes)]
    heap, where, references, bodies = [], [], [], []
    for t in range(n):
        to = [below(r, n) for _ in range(below(r, 7))]
        body = [below(r, 1 << 20) for _ in range(below(r, 49))]
        kind = below(r, classes)
        where.append(len(heap))
        heap += [kind, len(to), len(body)] + to + body
        references.append(to)
        bodies.append((kind, body))
    mark = [0 if t % 8 == 0 else -1 for t in range(n)]
    first, total, depth = folder.put('gc_mark', mark), [0] * n, 0
    frontier = [t for t in range(n) if mark[t] == 0]
    while frontier:
        reached = []
        for t in frontier:
            kind, body = bodies[t]
            s = table[2 * kind] + table[2 * kind + 1]
            for word in body:
                s = s * 3 + word & MASK
            total[t] = s - (s >> 31 << 32)
            for to in references[t]:
                if mark[to] < 0:
                    mark[to] = depth + 1
                    reached.append(to)
        frontier, depth = reached, depth + 1
    return (program('workloads') +
            buffers(object=('s32', n, folder.put('gc_object', where)), heap=('s32', len(heap), folder.put('gc_heap', heap)),
                    table=('s32', 2 * classes, folder.put('gc_class', table)), mark=('s32', n, first), sum=('s32', n, folder.put('gc_zero', [0] * n)),
                    changed=('s32', 1, None)) +
            'steps:\n  - repeat: %d\n    until: {buffer: changed, index: 0, equals: 0}\n    steps:\n      - fill: {buffer: changed, value: 0}\n'
            '      - launch: {entry: gc, grid: [%d], block: [256], args: [object, heap, table, mark, sum, changed, %d, {iteration: {start: 0}}]}\n'
            '  - check: {buffer: mark, file: %s}\n  - check: {buffer: sum, file: %s}\n' %
            (n, n // 256, n, folder.put('gc_expected_mark', mark), folder.put('gc_expected_sum', total)))


# ---- sparse matrices ----------------------------------------------------------------------------------

def matrix(kind, n, r):
    """Returns a list with the list of columns of each row. A row has 82 columns on average."""
    rows = []
    for t in range(n):
        if kind == 'random':   # row lengths are close to the average
            length = sum(below(r, 8) for _ in range(24)) - 2
            rows.append([below(r, n) for _ in range(max(length, 1))])
        elif kind == 'banded':
            length = 1 + below(r, 163)
            rows.append([min(max(t - length // 2 + i, 0), n - 1) for i in range(length)])
        else:                  # 'power': row lengths follow a power law, so that few rows are long
            length = min(int(34 / (1 - r.random()) ** .65), 512)
            rows.append([int(n * r.random() ** 3) for _ in range(length)])
    return rows


def spmv(entry, kind):
    def make(folder, size=1):
        n, r = int(8192 * size), random.Random(18)
        row, column = compressed(matrix(kind, n, r))
        value = [1 + below(r, 4) for _ in column]
        x = [below(r, 8) for _ in range(n)]
        y = [sum(value[e] * x[column[e]] for e in range(row[t], row[t + 1])) for t in range(n)]
        name, threads = '%s_%s' % (entry, kind), n if entry == 'scalar' else 32 * n
        return (program('spmv') +
                buffers(row=('s32', n + 1, folder.put(name + '_row', row)), column=('s32', len(column), folder.put(name + '_column', column)),
                        value=('f32', len(column), folder.put(name + '_value', value, 'f')), data=('f32', n, folder.put(name + '_x', x, 'f')),
                        y=('f32', n, None)) +
                'textures:\n  x: {buffer: data}\nsteps:\n  - launch: {entry: %s, grid: [%d], block: [128], args: [row, column, value, y, %d]}\n'
                '  - check: {buffer: y, file: %s}\n' % (entry, threads // 128, n, folder.put(name + '_expected', y, 'f')))
    return make


# ---- warps of two kinds ---------------------------------------------------------------------------------

def mixed(folder, size=1):
    """Warps that hit in L2, and warps that miss in L2. The class and the benchmark are those of no thesis."""
    threads, steps, entries, lines, r = int(8192 * size), 48, 16384, 16384, random.Random(23)
    table, stream = [below(r, 1 << 20) for _ in range(entries)], [below(r, 1 << 20) for _ in range(lines * 32)]
    out = []
    for t in range(threads):
        total = 0
        for i in range(steps):
            if t // 32 % 2 == 0:
                total = total * 3 + table[(t * 40503 + i * 2654435761 & MASK) >> 7 & entries - 1] & MASK
            else:
                total = total * 3 + stream[(t + i * 2654435 & MASK & lines - 1) * 32] & MASK
        out.append(total)
    return (program('workloads') + buffers(table=('u32', entries, folder.put('mixed_table', table, 'I')), stream=('u32', lines * 32, folder.put('mixed_stream', stream, 'I')),
                                          out=('u32', threads, None)) +
            'steps:\n  - launch: {entry: mixed, grid: [%d], block: [256], args: [table, stream, out, %d, %d, %d]}\n  - check: {buffer: out, file: %s}\n' %
            (threads // 256, entries, lines, steps, folder.put('mixed_expected', out, 'I')))


# ---- kernels whose speed does not depend on L1 --------------------------------------------------------

def vecadd(folder, size=1):
    n, r = int(131072 * size), random.Random(19)
    a, b = ([below(r, 1 << 20) for _ in range(n)] for _ in range(2))
    return (program('workloads') + buffers(a=('s32', n, folder.put('vecadd_a', a)), b=('s32', n, folder.put('vecadd_b', b)), c=('s32', n, None)) +
            'steps:\n  - launch: {entry: vecadd, grid: [%d], block: [256], args: [a, b, c]}\n  - check: {buffer: c, file: %s}\n' %
            (n // 256, folder.put('vecadd_expected', [p + q for p, q in zip(a, b)])))


def tiles(side, data):
    """Yields (y, x, rows) of each tile of 16 x 16."""
    for y in range(0, side, 16):
        for x in range(0, side, 16):
            yield y, x, [data[(y + i) * side + x:(y + i) * side + x + 16] for i in range(16)]


def put_tile(side, data, y, x, rows):
    for i, row in enumerate(rows):
        data[(y + i) * side + x:(y + i) * side + x + 16] = row


def stencil(folder, size=1):
    side, steps, r = 256 if size == 1 else 64, 8, random.Random(20)
    data = [below(r, 1 << 16) for _ in range(side * side)]
    out = [0] * (side * side)
    for y, x, t in tiles(side, data):
        for _ in range(steps):
            t = [[t[i][j] if i in (0, 15) or j in (0, 15) else
                  (t[i][j] * 4 + t[i][j - 1] + t[i][j + 1] + t[i - 1][j] + t[i + 1][j]) >> 3 for j in range(16)] for i in range(16)]
        put_tile(side, out, y, x, t)
    return (program('workloads') + buffers(a=('s32', side * side, folder.put('stencil_in', data)), out=('s32', side * side, None)) +
            'steps:\n  - launch: {entry: hotsp, grid: [%d, %d], block: [16, 16], args: [a, out, %d, %d]}\n  - check: {buffer: out, file: %s}\n' %
            (side // 16, side // 16, side, steps, folder.put('stencil_expected', out)))


def lud(folder, size=1):
    side, r = 256 if size == 1 else 64, random.Random(21)
    data = [below(r, 1 << 16) for _ in range(side * side)]
    out = [0] * (side * side)
    for y, x, t in tiles(side, data):
        for k in range(15):
            for i in range(k + 1, 16):
                for j in range(k + 1, 16):
                    t[i][j] = t[i][j] - t[i][k] * t[k][j] & MASK
        put_tile(side, out, y, x, t)
    return (program('workloads') + buffers(a=('u32', side * side, folder.put('lud_in', data, 'I'))) +
            'steps:\n  - launch: {entry: lud, grid: [%d, %d], block: [16, 16], args: [a, %d]}\n  - check: {buffer: a, file: %s}\n' %
            (side // 16, side // 16, side, folder.put('lud_expected', out, 'I')))


def backp(folder, size=1):
    inputs, outputs, r = int(1024 * size), 128, random.Random(22)
    data = [below(r, 100) for _ in range(inputs)]
    weight = [below(r, 100) for _ in range(inputs * outputs)]
    partial = [sum(data[i] * weight[i * outputs + o] for i in range(b, b + 16)) for b in range(0, inputs, 16) for o in range(outputs)]
    return (program('workloads') +
            buffers(a=('s32', inputs, folder.put('backp_in', data)), weight=('s32', inputs * outputs, folder.put('backp_weight', weight)),
                    partial=('s32', len(partial), None)) +
            'steps:\n  - launch: {entry: backp, grid: [%d, %d], block: [16, 16], args: [a, weight, partial, %d]}\n  - check: {buffer: partial, file: %s}\n' %
            (outputs // 16, inputs // 16, outputs, folder.put('backp_expected', partial)))


# Maps the name of a kernel to (class of the represented benchmark in the thesis, name of this benchmark, maker).
WORKLOADS = {
    'kmn': ('HCS', 'KMN', kmn), 'bfs_random': ('HCS', 'BFS', bfs_random), 'bfs_rmat': ('HCS', 'BFS', bfs_rmat), 'memc': ('HCS', 'MEMC', memc),
    'gc': ('HCS', 'GC', gc), 'spmv_random': ('HCS', 'SPMV-Scalar', spmv('scalar', 'random')),
    'spmv_banded': ('HCS', 'SPMV-Scalar', spmv('scalar', 'banded')), 'spmv_power': ('HCS', 'SPMV-Scalar', spmv('scalar', 'power')),
    'bfs_large': ('HCS', 'BFS', bfs_large), 'bfs_road': ('MCS', 'BFS', bfs_road), 'sssp': ('MCS', 'SSSP', sssp),
    'vector_random': ('CI', 'SPMV-Vector', spmv('vector', 'random')), 'vecadd': ('CI', '-', vecadd), 'stencil': ('CI', 'HOTSP', stencil),
    'lud': ('CI', 'LUD', lud), 'backp': ('CI', 'BACKP', backp), 'mixed': ('-', '-', mixed),
}
