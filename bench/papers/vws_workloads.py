# SPDX-License-Identifier: Apache-2.0
"""Inputs and expected results of the kernels in vws.cl, as in workloads.py. The results are computed here, never by the
emulator."""
import random

from workloads import MASK, below, buffers

THREADS = 4096


def program():
    return 'program: {source: vws.lwo}\n'


def signed(x):
    x &= MASK
    return x - (1 << 32) if x >> 31 else x


def quads(r, n, of):
    """Returns a value for each of @n threads. The four threads of a quad get the same value, which the function @of returns."""
    return [x for _ in range(n // 4) for x in [of(r)] * 4]


def launch(name, n, args, check, expected, block=256):
    return ('steps:\n  - launch: {entry: %s, grid: [%d], block: [%d], args: [%s]}\n  - check: {buffer: %s, file: %s}\n' %
            (name, n // block, block, ', '.join(map(str, args)), check, expected))


PATHS = [
    (3, lambda x, i, s: (x ^ i) * 3), (4, lambda x, i, s: x + ((x << 3) & MASK ^ i)), (3, lambda x, i, s: x ^ ((x >> 5) + i)),
    (4, lambda x, i, s: x * x + i), (3, lambda x, i, s: (x - i) ^ s), (4, lambda x, i, s: x - (x >> 2 | i)),
    (3, lambda x, i, s: (x | 7) * (s + i)), (4, lambda x, i, s: x + (s & x >> i)), (3, lambda x, i, s: ((x << 1 | x >> 31) & MASK) + i),
    (4, lambda x, i, s: x ^ (s + x * i)), (3, lambda x, i, s: (x + i) * 5 ^ s), (4, lambda x, i, s: s - x + i),
    (3, lambda x, i, s: x + (x * 9 ^ i)), (4, lambda x, i, s: x >> 1 ^ s << i), (3, lambda x, i, s: (x & s) + x * 3 + i),
    (4, lambda x, i, s: (x ^ s) - (x << i)),
]


def lighting(folder, size=1):
    n, lights, r = int(THREADS * size), 12, random.Random(21)
    material = []
    for quad in range(n // 4): # half of the quads have the same material as the previous quad
        material += material[-4:] if quad and below(r, 2) else [below(r, 16)] * 4
    out = []
    for t, m in enumerate(material):
        x = seed = t * 2654435761 & MASK
        for light in range(lights):
            trips, step = PATHS[m + light * (m & 3) & 15]
            for i in range(trips):
                x = step(x, i, seed) & MASK
        out.append(x)
    return (program() + buffers(material=('u32', n, folder.put('material', material)), out=('u32', n, None)) +
            launch('lighting', n, ['material', 'out', lights], 'out', folder.put('lighting_expected', out, 'I')))


def raytrace(folder, size=1):
    n, nodes, r = int(THREADS * size), 2048, random.Random(22)
    node = []
    for k in range(nodes):
        children = [below(r, nodes) if r.random() < .97 else -1 for _ in range(2)]
        node += children + [below(r, 1 << 20), 0]
    ray = quads(r, n, lambda r: below(r, 1 << 32))
    out = []
    for bits in ray:
        at, x, steps = 0, 1, 0
        while at >= 0:
            left, right, what, _ = node[at * 4:at * 4 + 4]
            x = (x * 31 + what if what & 1 else x ^ ((x >> 3) + what)) & MASK
            bits = (bits * 1664525 + 1013904223) & MASK
            at = left if bits >> 31 else right
            steps += 1
            if steps == 96:
                break
        out.append(x + steps & MASK)
    return (program() + buffers(node=('s32', 4 * nodes, folder.put('node', node)), ray=('u32', n, folder.put('ray', ray, 'I')), out=('u32', n, None)) +
            launch('raytrace', n, ['node', 'ray', 'out'], 'out', folder.put('raytrace_expected', out, 'I')))


def comd(folder, size=1):
    n, r = int(THREADS * size), random.Random(23)
    place = [below(r, 4096) for _ in range(n)]
    counts = [c + below(r, 3) for c in quads(r, n, lambda r: 2 + below(r, 40))]
    first, neighbour = [0], []
    for t, c in enumerate(counts):
        neighbour += [(t + below(r, 256)) % n for _ in range(c)]
        first.append(len(neighbour))
    force = []
    for t in range(n):
        total = 0
        for k in neighbour[first[t]:first[t + 1]]:
            d = place[k] - place[t]
            if d * d < 4000:
                total += (d * 7 ^ d >> 2) * 3 + (d * d >> 5)
        force.append(signed(total))
    return (program() + buffers(first=('s32', n + 1, folder.put('first', first)), neighbour=('s32', len(neighbour), folder.put('neighbour', neighbour)),
                                place=('s32', n, folder.put('place', place)), force=('s32', n, None)) +
            launch('comd', n, ['first', 'neighbour', 'place', 'force'], 'force', folder.put('comd_expected', force)))


def physics(folder, size=1):
    n, steps, r = int(THREADS * size), 60, random.Random(24)
    active = []
    for _ in range(n // 32):
        half = below(r, 2)
        active += [int(t // 16 == half) for t in range(32)]
    state = [below(r, 1 << 20) for _ in range(n)]
    out = list(state)
    for t in range(n):
        x, v = state[t], t & 63
        for _ in range(steps if active[t] else 0):
            v = signed(v + (x >> 4 & 15) - (v >> 3))
            x = signed(x + v)
            x = signed(x ^ x >> 7)
        out[t] = x
    return (program() + buffers(active=('s32', n, folder.put('active', active)), state=('s32', n, folder.put('physics_state', state))) +
            launch('physics', n, ['active', 'state', steps], 'state', folder.put('physics_expected', out)))


def classify(folder, size=1):
    n, stages, r = int(THREADS * size), 24, random.Random(25)
    image = [below(r, 1 << 16) for _ in range(n)]
    stage = [x for s in range(stages) for x in (below(r, 512), below(r, 512), 9 + below(r, 4), 0)]
    found = []
    for t in range(n):
        x, s = image[t], 0
        while s < stages:
            a, b = image[(t + stage[s * 4]) % n], image[(t + stage[s * 4 + 1]) % n]
            x = signed(signed(x * 5 + a - b) ^ x >> 9)
            if (x & 15) >= stage[s * 4 + 2] + (t // 4 * 7 + s) % 5:
                break
            s += 1
        found.append(signed(s * 65536 + (x & 65535)))
    return (program() + buffers(image=('s32', n, folder.put('classify_image', image)), stage=('s32', 4 * stages, folder.put('stage', stage)),
                                found=('s32', n, None)) +
            launch('classify', n, ['image', 'stage', 'found', n, stages], 'found', folder.put('classify_expected', found)))


def image(folder, size=1):
    n, rounds, r = int(2 * THREADS * size), 64, random.Random(26)
    values = [below(r, 1 << 32) for _ in range(n)]
    out = []
    for x in values:
        for _ in range(rounds):
            x = ((x * 1103515245 + 12345) ^ x >> 11) & MASK
        out.append(x)
    return (program() + buffers(**{'in': ('u32', n, folder.put('pixels', values, 'I')), 'out': ('u32', n, None)}) +
            launch('image', n, ['in', 'out', rounds], 'out', folder.put('image_expected', out, 'I')))


def convolution(folder, size=1):
    n, weights, r = int(2 * THREADS * size), 32, random.Random(27)
    values = [below(r, 256) for _ in range(n + 256)]
    out = [sum(values[t + k] * (k * 3 + 1) for k in range(weights)) + 5 for t in range(n)]
    return (program() + buffers(**{'in': ('s32', n + 256, folder.put('samples', values)), 'bias': ('s32', 1, folder.put('bias', [5])), 'out': ('s32', n, None)}) +
            launch('convolution', n, ['in', 'bias', 'out', weights], 'out', folder.put('convolution_expected', out)))


def fft(folder, size=1):
    n, r = int(2 * THREADS * size), random.Random(28)
    values = [below(r, 1024) for _ in range(n)]
    out = []
    for b in range(0, n, 256):
        v, half = values[b:b + 256], 1
        while half < 256:
            v = [signed((v[k ^ half] - v[k] if k & half else v[k] + v[k ^ half]) * 3 + half) for k in range(256)]
            half *= 2
        out += v
    return (program() + buffers(**{'in': ('s32', n, folder.put('signal', values)), 'out': ('s32', n, None)}) +
            launch('fft', n, ['in', 'out'], 'out', folder.put('fft_expected', out)))


def matmul(folder, size=1):
    n, r = 112 if size >= .5 else 48, random.Random(29) # a row of 112 words takes three and a half cache lines
    a, b = [below(r, 100) for _ in range(n * n)], [below(r, 100) for _ in range(n * n)]
    columns = [b[c::n] for c in range(n)]
    c = [sum(x * y for x, y in zip(a[i * n:(i + 1) * n], columns[j])) for i in range(n) for j in range(n)]
    return (program() + buffers(a=('s32', n * n, folder.put('matrix_a', a)), b=('s32', n * n, folder.put('matrix_b', b)), c=('s32', n * n, None)) +
            launch('matmul', n * n, ['a', 'b', 'c', n], 'c', folder.put('matmul_expected', c)))


def radix(folder, size=1):
    n, keys, r = int(THREADS * size), 16, random.Random(30)
    key = [below(r, 1 << 32) for _ in range(n * keys)]
    before = sorted(range(n * keys), key=lambda i: key[i] & 7) # the order of the keys after the previous pass
    order = sorted(range(n * keys), key=lambda i: key[before[i]] >> 3 & 7)
    place = [0] * (n * keys)
    for at, i in enumerate(order):
        place[i] = at
    return (program() + buffers(key=('u32', n * keys, folder.put('keys', key, 'I')), source=('s32', n * keys, folder.put('before', before)),
                                place=('s32', n * keys, folder.put('places', place)), out=('u32', n * keys, None)) +
            launch('radix', n, ['key', 'source', 'place', 'out', keys, n], 'out', folder.put('radix_expected', [key[before[i]] for i in order], 'I')))


def feature(folder, size=1):
    n, width, boxes, r = int(THREADS * size), 256, 20, random.Random(31)
    height = n // (width - 64) + 16
    integral = [below(r, 1 << 16) for _ in range(width * height)]
    out = []
    for t in range(n):
        at, total = t // (width - 64) * width + t % (width - 64), 0
        for i in range(boxes):
            w, h = 4 + i % 5 * 3, 3 + i % 7
            total += integral[at] + integral[at + h * width + w] - integral[at + w] - integral[at + h * width]
            at += i % 3
        out.append(signed(total))
    return (program() + buffers(integral=('s32', width * height, folder.put('integral', integral)), out=('s32', n, None)) +
            launch('feature', n, ['integral', 'out', width, boxes], 'out', folder.put('feature_expected', out)))


def vertices(folder, size=1):
    n, rounds, r = int(THREADS * size), 16, random.Random(32)
    values = [[below(r, 1 << 20) for _ in range(4)] for _ in range(n)]
    out = []
    for t in range(n):
        total = [0] * 4
        for i in range(rounds):
            total = [s + v * 3 + i for s, v in zip(total, values[(t + i * 96) % n])]
        out += [signed(x) for x in total]
    return (program() + buffers(**{'in': ('s32', 4 * n, folder.put('vertices', [x for v in values for x in v])), 'out': ('s32', 4 * n, None)}) +
            launch('vertices', n, ['in', 'out', rounds, n], 'out', folder.put('vertices_expected', out)))


DIVERGENT = {'lighting': lighting, 'raytrace': raytrace, 'comd': comd, 'physics': physics, 'classify': classify}
INSENSITIVE = {'image': image, 'convolution': convolution, 'fft': fft}
CONVERGENT = {'matmul': matmul, 'radix': radix, 'feature': feature, 'vertices': vertices}
