#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes mathematics.h: arguments and results of CUDA's functions that the host's C library lacks. The results are those of
mpmath with 150 bits, rounded once. Usage: mathematics.py >mathematics.h"""
import random
import struct

from mpmath import mp, mpf, besseli, erf, erfc, exp, log, pi, sqrt

mp.prec = 150


def erfcinv(q):
    """Solves erfc(y) = q by Newton's method for the logarithm, or for erf near q = 1."""
    if q > 1:
        return -erfcinv(2 - q)
    y = sqrt(-log(q / 2)) if q < 0.5 else (1 - q) * sqrt(pi) / 2
    for _ in range(12):
        slope = 2 / sqrt(pi) * exp(-y * y)
        y += (log(erfc(y)) - log(q)) * erfc(y) / slope if q < 0.5 else ((1 - q) - erf(y)) / slope
    return y


def erfinv(x):
    return erfcinv(1 - x) if abs(x) > mpf(2) ** -60 else x * sqrt(pi) / 2


def erfcx(x):
    if x < 1000:
        return exp(x * x) * erfc(x)
    return (1 - 1 / (2 * x * x) + 3 / (4 * x ** 4)) / (x * sqrt(pi))


NEAR_1 = [mpf(1) - mpf(2) ** -n for n in (1, 2, 5, 12, 24, 40, 53)]
TINY = [mpf(10) ** -n for n in (1, 3, 8, 10, 15, 40, 45, 99, 101, 200, 300, 308, 320)]
TINY += [mpf(2) ** -149, mpf(2) ** -1074]
REAL = [[mpf(x) for x in row.split()] for row in (
    "-26.6 -9 -6 -5.5 -1 1e-300 0.5 9.99 10 25 26.5 27 1e5 1e20 1e300",
    "-38.4 -37.6 -34.5 -14.1 -5 -1e-20 0.1 1 5 8.3 30",
    "1e-300 1e-9 0.1 1.99 -2 10 19.99 20 88 -300 713")]
# name: function, chosen arguments, range of random arguments
FUNCTIONS = {
    "erfinv": (erfinv, NEAR_1 + TINY + [-NEAR_1[4], -TINY[2]], (-1, 1)),
    "erfcinv": (erfcinv, NEAR_1 + TINY + [2 - x for x in NEAR_1 + TINY[:5]], (0, 2)),
    "erfcx": (erfcx, REAL[0], (-9, 40)),
    "normcdf": (lambda x: erfc(-x / sqrt(mpf(2))) / 2, REAL[1], (-14, 6)),
    "normcdfinv": (lambda p: -sqrt(mpf(2)) * erfcinv(2 * p), NEAR_1[1:] + TINY, (0, 1)),
    "cyl_bessel_i0": (lambda x: besseli(0, x), REAL[2], (-25, 25)),
    "cyl_bessel_i1": (lambda x: besseli(1, x), REAL[2], (-25, 25)),
}


def single(x):
    """Returns @x rounded to a float, as a double."""
    return struct.unpack("f", struct.pack("f", float(x)))[0] if abs(x) < mpf(2) ** 128 else float("inf")


def rounded(y, bits, least):
    """Returns @y rounded to @bits bits, with multiples of 2^@least only, as a double."""
    if y == 0:
        return 0.0
    unit = mpf(2) ** max(int(mp.floor(mp.log(abs(y), 2))) - bits + 1, least)
    return float(mp.nint(y / unit) * unit)


random.seed(1)
print("/* SPDX-License-Identifier: Apache-2.0 */")
print("/* Written by mathematics.py: DOUBLE(function, argument, result) and FLOAT(function, argument, result). */")
for name, (function, chosen, (low, high)) in FUNCTIONS.items():
    points = chosen + [mpf(random.uniform(low, high)) for _ in range(14)]
    for x in map(float, points):
        print(f"DOUBLE({name}, {x.hex()}, {rounded(function(mpf(x)), 53, -1074).hex()})")
    for x in map(single, points):
        if low < x < high and (x != 0 or low < 0) and abs(function(mpf(x))) < mpf(2) ** 127:
            print(f"FLOAT({name}, {x.hex()}, {rounded(function(mpf(x)), 24, -149).hex()})")
