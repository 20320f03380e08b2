#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes bessel_right.txt, the values that test_bessel.c expects, by mpmath in 200 bits and more: bessel_right.py OUTPUT
(the build does not run it)

A line: function, order (0 if it has none), argument, value rounded to a double. Arguments: the doubles around each zero
below 12 and around the places where device/millrace_bessel.h goes from one form to the next, and random ones, half of
them floats.
"""
import math
import random
import struct
import sys

import mpmath as mp

EDGES = {"j0": [1, 3.84375, 7.03125], "j1": [1.84375, 5.34375, 8], "y0": [0.67, 1.117, 2.21875, 5.40625, 8], "y1": [1.648, 2.746, 3.6875, 6.9375],
         "cyl_bessel_i0": [8], "cyl_bessel_i1": [8]}
VALUES = {"j0": lambda n, x: mp.besselj(0, x), "j1": lambda n, x: mp.besselj(1, x), "jn": mp.besselj, "y0": lambda n, x: mp.bessely(0, x),
          "y1": lambda n, x: mp.bessely(1, x), "yn": mp.bessely, "cyl_bessel_i0": lambda n, x: mp.besseli(0, x),
          "cyl_bessel_i1": lambda n, x: mp.besseli(1, x)}
ORDERS = (2, 3, 4, 5, 10, 20, 64, 127, 128, 381, 1000)


def near(x):
    return [math.nextafter(x, -math.inf), x, math.nextafter(x, math.inf)]


def arguments(name, numbers):
    if name in ("jn", "yn"):
        pairs = []
        for n in ORDERS:
            pairs += [(n, x) for x in near(float(n))]
            pairs += [(n, numbers.uniform(0, 3) * n) for _ in range(8)] + [
                (n, n * 2 ** numbers.uniform(-30, 0)),
                (n, 2 ** numbers.uniform(5, 90)),
            ]
        return pairs
    xs = [x for edge in EDGES[name] for x in near(float(edge))]
    if name.startswith("c"):
        xs += [numbers.uniform(-12, 12) for _ in range(40)] + [numbers.uniform(-713, 713) for _ in range(40)]
        xs += [2 ** numbers.uniform(-600, -1) for _ in range(10)] + [713.9, 713.98, -713.9]
    else:
        zero = mp.besseljzero if name[0] == "j" else mp.besselyzero
        xs += [x for k in range(1, 4) for x in near(float(zero(int(name[1]), k)))]
        xs += [numbers.uniform(0, 9) for _ in range(60)] + [numbers.uniform(9, 400) for _ in range(20)]
        xs += [2 ** numbers.uniform(9, 1023) for _ in range(20)] + [2 ** numbers.uniform(-600, 0) for _ in range(20)]
        if name[0] == "j":
            xs = [-x if numbers.random() < 0.3 else x for x in xs]
    return [(0, x) for x in xs]


def main():
    numbers = random.Random(2026)
    with open(sys.argv[1], "w", encoding="ascii") as out:
        for name, value in VALUES.items():
            for index, (n, x) in enumerate(arguments(name, numbers)):
                if index % 2 and abs(x) < 2.0 ** 127:
                    x = struct.unpack("f", struct.pack("f", x))[0]
                mp.mp.prec = 200 + max(0, math.frexp(x)[1])
                out.write(f"{name} {n} {float(x).hex()} {float(value(n, mp.mpf(x))).hex()}\n")


main()
