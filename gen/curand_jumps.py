#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The jumps of XORWOW for device/include/curand_kernel.h and for libcurand: curand_jumps.py OUTPUT [host]

The five words of Marsaglia's XORWOW (Xorshift RNGs, 2003) without its counter are a linear map T over GF(2). With P the
map's minimal polynomial, T^n is p(T) for p = x^n mod P, which has at most 160 terms. The header holds x^(2^i) mod P and
x^(2^(67+i)) mod P for each bit i of a count.
"""
import sys

WORDS, BITS = 5, 160
MASK = 0xffffffff


def step(v):
    t = v[0] ^ (v[0] >> 2)
    last = v[4] ^ (v[4] << 4 & MASK) ^ t ^ (t << 1 & MASK)
    return v[1:] + [last]


def minimal_polynomial():
    """Berlekamp and Massey on one bit of the map's states; a polynomial is an integer, bit i for x^i."""
    v, bits = [123456789, 362436069, 521288629, 88675123, 5783321], []
    for _ in range(2 * BITS + 8):
        bits.append(v[0] & 1)
        v = step(v)
    current, previous, length, gap = 1, 1, 0, 1
    for n, bit in enumerate(bits):
        discrepancy = bit
        for i in range(1, length + 1):
            discrepancy ^= (current >> i & 1) & bits[n - i]
        if discrepancy:
            kept = current
            current ^= previous << gap
            if 2 * length <= n:
                length, previous, gap = n + 1 - length, kept, 0
        gap += 1
    assert length == BITS
    return int(f"{current:0{BITS + 1}b}"[::-1], 2)


def square(a, modulus):
    a = int("0".join(f"{a:b}"), 2)
    for i in range(a.bit_length() - 1, BITS - 1, -1):
        if a >> i & 1:
            a ^= modulus << (i - BITS)
    return a


def table(name, first, count, powers):
    rows = []
    for p in powers[first:first + count]:
        rows.append("    {" + ", ".join(f"0x{p >> 32 * w & MASK:08x}u" for w in range(WORDS)) + "},")
    place = "" if sys.argv[2:] == ["host"] else "__attribute__((device)) "
    return f"static {place}const unsigned int {name}[{count}][{WORDS}] = {{\n" + "\n".join(rows) + "\n};\n"


def main():
    modulus = minimal_polynomial()
    powers = [2]
    while len(powers) < 67 + 64:
        powers.append(square(powers[-1], modulus))
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by gen/curand_jumps.py: powers of x modulo the minimal polynomial of XORWOW. */\n")
        out.write(table("mr_xorwow_jumps", 0, 64, powers))
        out.write(table("mr_xorwow_sequence_jumps", 67, 64, powers))


main()
