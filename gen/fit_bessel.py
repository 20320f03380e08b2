#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of device/millrace_bessel.h: fit_bessel.py (needs mpmath; the build does not run it)

Each is a polynomial through Chebyshev's points of its interval in 300 bits, of the least degree whose error,
coefficients rounded to doubles, is below the bound. What is fitted is said in the header, and beside each line here.
Printed: C constants, highest power first, and the error as log2.
"""
import mpmath as mp

mp.mp.prec = 300


def polynomial(function, low, high, count):
    """Coefficients, lowest power first, by Newton's differences."""
    points = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    rest = [function(x) for x in points]
    for level in range(1, count):
        for i in range(count - 1, level - 1, -1):
            rest[i] = (rest[i] - rest[i - 1]) / (points[i] - points[i - level])
    terms = [rest[-1]]
    for i in range(count - 2, -1, -1):
        terms = [mp.mpf(0)] + terms
        for k in range(len(terms) - 1):
            terms[k] -= points[i] * terms[k + 1]
        terms[0] += rest[i]
    return terms


def fit(name, function, low, high, bound):
    low, high = mp.mpf(low), mp.mpf(high)
    grid = [low + (high - low) * (mp.mpf(i) + mp.mpf("0.37")) / 60 for i in range(60)]
    right = [function(x) for x in grid]
    for count in range(6, 40):
        # The rounding of the first terms is a part of any sum in doubles: the bound is for the rest.
        exact = polynomial(function, low, high, count)
        terms = [mp.mpf(float(c)) for c in exact]
        error = max(abs(mp.polyval(exact[::-1], x) / y - 1) for x, y in zip(grid, right))
        if error < mp.mpf(2) ** bound:
            whole = max(abs(mp.polyval(terms[::-1], x) / y - 1) for x, y in zip(grid, right))
            print(f"/* {name}: degree {count - 1}, 2^{float(mp.log(error, 2)):.1f}, rounded 2^{float(mp.log(whole, 2)):.1f} */")
            print("    " + ", ".join(float(c).hex() for c in terms[::-1]))
            return
    raise SystemExit(f"{name}: no fit")


def pair(name, x):
    high = float(x)
    print(f"{name} = {{{high.hex()}, {float(x - high).hex()}}}")


def root(function, near):
    return mp.findroot(function, near)


def near_root(name, function, zero, low, high, bound=-57):
    """function(x) / (x - zero) in powers of x - zero."""
    pair(f"zero of {name}", zero)
    fit(f"{name} near {float(zero):.4f}", lambda t: function(zero + t) / t, mp.mpf(low) - zero, mp.mpf(high) - zero, bound)


def j0(x): return mp.besselj(0, x)
def j1(x): return mp.besselj(1, x)
def y0(x): return mp.bessely(0, x)
def y1(x): return mp.bessely(1, x)


def main():
    # Near 0 by squares.
    fit("j0 near 0", lambda u: j0(mp.sqrt(u)), 0, 1, -58)
    near_root("j0", j0, mp.besseljzero(0, 1), 1, 3.875)
    near_root("j0", j0, mp.besseljzero(0, 2), 3.8125, 7.0625)
    fit("j1 near 0, over x", lambda u: j1(mp.sqrt(u)) / mp.sqrt(u), 0, 4, -58)
    near_root("j1", j1, mp.besseljzero(1, 1), 1.8125, 5.375)
    near_root("j1", j1, mp.besseljzero(1, 2), 5.3125, 8)
    # y0(x) = 2/pi ln(x / z) j0(x) + (x - z) (x + z) T(x^2), z the first zero; T is entire.
    z = mp.besselyzero(0, 1)
    pair("zero of y0", z)
    fit("y0's rest", lambda u: (y0(mp.sqrt(u)) - 2 / mp.pi * mp.log(mp.sqrt(u) / z) * j0(mp.sqrt(u))) / (u - z * z), 0, 5, -57)
    near_root("y0", y0, mp.besselyzero(0, 2), 2.1875, 5.4375)
    near_root("y0", y0, mp.besselyzero(0, 3), 5.375, 8)
    # y1(x) = 2/pi ln(x / z) j1(x) + (x - z) (x + z) / x T(x^2)
    z = mp.besselyzero(1, 1)
    pair("zero of y1", z)
    fit("y1's rest", lambda u: (y1(mp.sqrt(u)) - 2 / mp.pi * mp.log(mp.sqrt(u) / z) * j1(mp.sqrt(u))) / (u - z * z) * mp.sqrt(u), 0, 14.0625, -57)
    near_root("y1", y1, mp.besselyzero(1, 2), 3.625, 7)
    # j = sqrt(2/(pi x)) beta cos(x - (2n + 1) pi/4 + alpha / x), y with the sine; alpha and beta of 1 / x^2.
    for n in range(2):
        def angle(s, n=n):
            x = 1 / mp.sqrt(s)
            turned = mp.atan2(mp.bessely(n, x), mp.besselj(n, x)) - x + (2 * n + 1) * mp.pi / 4
            return (turned - 2 * mp.pi * mp.nint(turned / (2 * mp.pi))) * x

        def size(s, n=n):
            x = 1 / mp.sqrt(s)
            return mp.sqrt(mp.pi * x / 2 * (mp.besselj(n, x) ** 2 + mp.bessely(n, x) ** 2))
        fit(f"alpha {n}", angle, 0, mp.mpf(1) / 47, -52)
        fit(f"beta {n}", size, 0, mp.mpf(1) / 47, -57)
    # exp(-x) sqrt(x) i(x) of 16 / x - 1, and i by squares.
    for n in range(2):
        fit(f"i{n} near 0", lambda u, n=n: mp.besseli(n, mp.sqrt(u)) / mp.sqrt(u) ** n, 0, 64, -57)
        fit(f"i{n} far", lambda t, n=n: mp.besseli(n, 16 / (t + 1)) * mp.exp(-16 / (t + 1)) * mp.sqrt(16 / (t + 1)), -1, 1, -57)


main()
