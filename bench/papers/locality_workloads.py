# SPDX-License-Identifier: Apache-2.0
"""Inputs and expected results of the kernels in locality.cl: the twelve codes of the address pre-computation thesis
(specification, section 10), and kernels for its trends. The results are computed here, never by the emulator. A row of tiles has
an odd number of cache lines, so that the lines of a column are distributed to all sets of L1."""
import random

from workloads import MASK, below, buffers


def s32(x):
    return (x & MASK) - ((x & 0x80000000) << 1)


def launch(entry, grid, block, args):
    return '  - launch: {entry: %s, grid: %s, block: %s, args: [%s]}\n' % (entry, grid, block, args)


def check(buffer, file):
    return '  - check: {buffer: %s, file: %s}\n' % (buffer, file)


def text(folder, arrays, outputs, steps):
    """Returns the text of a launch file. @arrays maps the name of an input to its values. @outputs maps the name of an output to
    its expected values, or to its number of words if it is not checked."""
    rows = {n: ('s32', len(v), folder.put(folder.prefix + n, v)) for n, v in arrays.items()}
    rows.update({n: ('s32', v if isinstance(v, int) else len(v), None) for n, v in outputs.items()})
    return ('program: {source: locality.lwo}\n' + buffers(**rows) + 'steps:\n' + steps +
            ''.join(check(n, folder.put(folder.prefix + n + '_expected', v)) for n, v in outputs.items() if not isinstance(v, int)))


def side(size, of=18):
    """Returns the number of tiles in a row of tiles: twice an odd number, and not a multiple of the five cores."""
    return max((n for n in (2, 6, 14, 18, 22, 26, 34) if n <= of * size ** .5 + 1), default=2)


def values(seed, count, most=1000):
    r = random.Random(seed)
    return [below(r, most) for _ in range(count)]


def hs(folder, size):
    tiles = side(size, 22)
    w = tiles * 12
    a, p = values(1, w * w), values(2, w * w, 8)
    pad = lambda v: [[v[min(max(y, 0), w - 1) * w + min(max(x, 0), w - 1)] for x in range(-2, w + 2)] for y in range(-2, w + 2)]
    t, power = pad(a), pad(p)
    for i in range(2):
        t = [[(t[y - 1][x] + t[y + 1][x] + t[y][x - 1] + t[y][x + 1] + 4 * t[y][x] >> 3) + power[y][x] if i < x < w + 3 - i and i < y < w + 3 - i else t[y][x]
              for x in range(w + 4)] for y in range(w + 4)]
    return text(folder, {'in': a, 'power': p}, {'out': [t[y + 2][x + 2] for y in range(w) for x in range(w)]},
                launch('hs', [tiles, tiles], [16, 16], 'in, power, out, %d' % w))


def bp(folder, size):
    n = 16 * int(320 * size)
    data, delta, weight = values(3, n), values(4, 16), values(5, 17 * (n + 1))
    total = [sum(weight[17 * (16 * by + ty + 1) + tx + 1] * data[16 * by + ty] for ty in range(16)) for by in range(n // 16) for tx in range(16)]
    out = [0] * len(weight)
    for y in range(n):
        for tx in range(16):
            at = 17 * (y + 1) + tx + 1
            out[at] = weight[at] + delta[tx] * data[y]
    return text(folder, {'in': data, 'delta': delta, 'weight': weight}, {'sum': total, 'out': out},
                launch('bp_forward', [1, n // 16], [16, 16], 'in, weight, sum') + launch('bp_adjust', [1, n // 16], [16, 16], 'in, delta, weight, out'))


def srad(folder, size):
    tiles = side(size)
    w = tiles * 16

    def step(a):
        out = []
        for y in range(w):
            row, north, south = a[y * w:y * w + w], a[max(y - 1, 0) * w:][:w], a[min(y + 1, w - 1) * w:][:w]
            out += [c + (north[x] + south[x] + row[max(x - 1, 0)] + row[min(x + 1, w - 1)] - 4 * c >> 2) for x, c in enumerate(row)]
        return out
    a = values(6, w * w)
    b = step(a)
    return text(folder, {'in': a}, {'mid': b, 'out': step(b)},
                launch('srad', [tiles, tiles], [16, 16], 'in, mid, %d' % w) + launch('srad', [tiles, tiles], [16, 16], 'mid, out, %d' % w))


def conv(folder, size):
    tiles = side(size, 14)
    w = tiles * 16
    a, factor = values(7, w * w), values(8, 17, 9)
    clamp = lambda i: min(max(i, 0), w - 1)
    at = [[clamp(i + k - 8) for k in range(17)] for i in range(w)]
    mid = [sum(t * a[y * w + i] for t, i in zip(factor, at[x])) for y in range(w) for x in range(w)]
    out = [s32(sum(t * mid[i * w + x] for t, i in zip(factor, at[y]))) for y in range(w) for x in range(w)]
    return text(folder, {'in': a, 'factor': factor}, {'mid': mid, 'out': out},
                launch('conv_rows', [tiles, w // 4], [16, 4], 'in, factor, mid, %d' % w) +
                launch('conv_columns', [tiles, w // 8], [16, 8], 'mid, factor, out, %d' % w))


def his(folder, size):
    blocks, rounds = int(400 * size), 24
    n, r = 32 * blocks, random.Random(9)
    data = bytes(below(r, 256) for _ in range(n * rounds))
    out = []
    for t in range(n):
        own = data[t::n]
        out.append(sum(v >= 192 for v in own) * 65536 + sum(v < 64 for v in own))
    words = [int.from_bytes(data[i:i + 4], 'little', signed=True) for i in range(0, len(data), 4)]
    return text(folder, {'in': words}, {'out': out}, launch('his', [blocks], [32], 'in, out, %d' % rounds))


def lud(folder, size):
    tiles = side(size, 14)
    n = 16 * tiles
    a = values(10, n * n, 50)
    steps, outputs = '', {}
    for k in (0, n // 32 * 16):
        name = 'out%d' % k
        outputs[name] = out = []
        columns = [[a[(k + i) * n + x] for i in range(16)] for x in range(n)]
        for y in range(n):
            left = a[y * n + k:y * n + k + 16]
            out += [a[y * n + x] - sum(p * q for p, q in zip(left, columns[x])) for x in range(n)]
        steps += launch('lud', [tiles, tiles], [16, 16], 'a, %s, %d, %d' % (name, n, k))
    return text(folder, {'a': a}, outputs, steps)


def gaussian(folder, size):
    tiles = side(size, 14)
    n = 16 * tiles
    a, m = values(11, n * n), values(12, n * n, 9)
    steps, outputs = '', {}
    for t in (0, 5):
        name = 'out%d' % t
        outputs[name] = [a[n * y + x] - m[n * y + t] * a[n * t + x] for y in range(n) for x in range(n)]
        steps += launch('gaussian', [tiles, tiles], [16, 16], 'a, m, %s, %d, %d' % (name, n, t))
    return text(folder, {'a': a, 'm': m}, outputs, steps)


def transpose(folder, size, tiles):
    w, h = tiles * 16, side(size) * 16
    a = values(13, w * h)
    return text(folder, {'in': a}, {'out': [a[x * h + y] for y in range(h) for x in range(w)]},
                launch('tran', [tiles, h // 16], [16, 16], 'in, out, %d, %d' % (w, h)))


def tran(folder, size):
    return transpose(folder, size, side(size))


def tran_multiple(folder, size):
    """A transpose in which the number of blocks in a row is a multiple of the number of cores."""
    return transpose(folder, size, max(folder.cores, int(20 * size ** .5) // folder.cores * folder.cores))


def sift(folder, size):
    chunks, columns = side(size, 6), 32 * (int(16 * size ** .5) | 1)
    rows = 64 * chunks
    a = values(14, rows * columns)
    return text(folder, {'in': a}, {'out': [max(a[y * columns + 16 * b:y * columns + 16 * b + 16]) for b in range(columns // 16) for y in range(rows)]},
                launch('sift', [chunks, columns // 16], [64, 1], 'in, out, %d' % columns))


def nn(folder, size):
    n, rounds = 32 * int(500 * size), 6
    a = values(15, 2 * n * rounds)
    return text(folder, {'in': a}, {'out': [min(a[2 * (k * n + t)] ** 2 + a[2 * (k * n + t) + 1] ** 2 for k in range(rounds)) for t in range(n)]},
                launch('nn', [n // 32], [32], 'in, out, %d' % rounds))


def nw(folder, size):
    tiles = max(2, int(14 * size ** .5))
    n = 16 * tiles
    ref, w = [v - 5 for v in values(16, n * n, 15)], n + 1
    m = [0] * (w * w)
    for i in range(w):
        m[i] = m[i * w] = -10 * i
    first = list(m)
    for y in range(1, w):
        for x in range(1, w):
            m[y * w + x] = max(m[(y - 1) * w + x - 1] + ref[(y - 1) * n + x - 1], max(m[y * w + x - 1], m[(y - 1) * w + x]) - 10)
    steps = ''
    for d in range(2 * tiles - 1):
        low = max(0, d - tiles + 1)
        steps += launch('nw', [min(d, tiles - 1) - low + 1], [16], 'ref, m, %d, %d, %d' % (n, d, low))
    return text(folder, {'ref': ref, 'm': first}, {}, steps + check('m', folder.put(folder.prefix + 'm_expected', m)))


def gabor(folder, size):
    tiles = side(size, 14)
    w = 16 * tiles
    a, factor = values(17, (w + 8) * (w + 8), 100), values(18, 64, 9)
    out = [sum(factor[j * 8 + i] * a[(y + j) * (w + 8) + x + i] for j in range(8) for i in range(8)) for y in range(w) for x in range(w)]
    return text(folder, {'in': a, 'factor': factor}, {'out': out}, launch('gabor', [tiles, tiles], [16, 16], 'in, factor, out, %d' % w))


def share_rows(folder, size, wide, high):
    blocks, rounds = int(400 * size) // 8 * 8 + (2 if wide == 16 else 4), 96 // high # a row has an odd number of lines
    w = wide * blocks
    a = values(19, w * high * rounds)
    out = [sum(a[(k * high + ty) * w + x] for k in range(rounds)) for ty in range(high) for x in range(w)]
    return text(folder, {'in': a}, {'out': out}, launch('rows', [blocks], [wide, high], 'in, out, %d, %d' % (w, rounds)))


def rows2(folder, size):
    return share_rows(folder, size, 16, 8)


def rows4(folder, size):
    return share_rows(folder, size, 8, 16)


TYPES = {'hs': 'I', 'bp': 'I', 'srad': 'I', 'conv': 'I', 'his': 'I', 'lud': 'II', 'gaussian': 'II', 'tran': 'II', 'sift': 'II',
         'nn': 'III', 'nw': 'III', 'gabor': '-'}
MAKERS = {'hs': hs, 'bp': bp, 'srad': srad, 'conv': conv, 'his': his, 'lud': lud, 'gaussian': gaussian, 'tran': tran, 'sift': sift,
          'nn': nn, 'nw': nw, 'gabor': gabor, 'rows2': rows2, 'rows4': rows4, 'tran_multiple': tran_multiple}
