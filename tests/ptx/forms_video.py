# SPDX-License-Identifier: Apache-2.0
"""Forms of video instructions for forms.py whose operands name bytes and halves: inputs of two types, shifts, vmad,
lanes chosen from both inputs."""
import itertools

NUMBERS = ("u32", "s32")
PAIRS = (("", ".h1"), (".b3", ""), (".h0", ".b2"), (".b1", ".b1"))
RESULTS = (("", "", ""), ("", ".add", ",r4"), ("", ".min", ",r4"), ("", ".max", ",r4"), (".b2", "", ",r4"), (".h0", "", ",r4"), (".h1", "", ",r4"))
LANES = {2: ((".h10", ".h32", ""), (".h1", ".h31", ".h02"), (".h0", "", ".h12")), 4: ((".b3210", ".b7654", ""), (".b30", ".b0123", ".b4004"), (".b2", "", ".b5160"))}


def selectors():
    for name, to, (a, b), sat, (d, last, third), (left, right) in itertools.product("vadd vsub vabsdiff vmin vmax".split(), NUMBERS, (("u32", "s32"), ("s32", "u32")),
        ("", ".sat"), RESULTS, PAIRS):
        yield f"{name}.{to}.{a}.{b}{sat}{last} r1{d},r2{left},r3{right}{third};"
    for name, to, a, b, sat, d in itertools.product("vadd vsub vabsdiff vmin vmax".split(), NUMBERS, NUMBERS, NUMBERS, ("", ".sat"), (".b0", ".b1", ".b3", ".h1")):
        yield f"{name}.{to}.{a}.{b}{sat} r1{d},r2.h1,r3,r4;"
    for a, b, compare, d in itertools.product(NUMBERS, NUMBERS, ("lt", "ne"), (".b0", ".b1", ".b3")):
        yield f"vset.{a}.{b}.{compare} r1{d},r2.h1,r3,r4;"
    for name, to, a, sat, way, d in itertools.product(("vshl", "vshr"), NUMBERS, NUMBERS, ("", ".sat"), (".clamp", ".wrap"), (".b1", ".b3")):
        yield f"{name}.{to}.{a}.u32{sat}{way} r1{d},r2,r3.b1,r4;"
    for a, b, compare, (d, last, third), (left, right) in itertools.product(NUMBERS, NUMBERS, "eq ne lt le gt ge".split(), RESULTS, PAIRS[1:]):
        yield f"vset.{a}.{b}.{compare}{last} r1{d},r2{left},r3{right}{third};"
    for name, to, a, sat, way, (d, last, third), (left, right) in itertools.product(("vshl", "vshr"), NUMBERS, NUMBERS, ("", ".sat"), (".clamp", ".wrap"), RESULTS + ((".b0", "", ",r4"),),
        (("", ""), (".h1", ".b1"), (".b2", ".h0"))):
        yield f"{name}.{to}.{a}.u32{sat}{way}{last} r1{d},r2{left},r3{right}{third};"
    for to, a, b, po, sat, shift, (left, right) in itertools.product(NUMBERS, NUMBERS, NUMBERS, ("", ".po"), ("", ".sat"), ("", ".shr7", ".shr15"),
        PAIRS + (("", ".b0"), (".h1", ".h1"), (".b0", ".h0"))):
        for signs in ("{},{},r4", "-{},{},r4", "{},{},-r4") if left == ".h0" else ("{},{},r4",):
            yield f"vmad.{to}.{a}.{b}{po}{sat}{shift} r1,{signs.format('r2' + left, 'r3' + right)};"
    for lanes, chosen in LANES.items():
        for what, to, (a, b), sat, last, (d, left, right) in itertools.product("add sub avrg absdiff min max".split(), NUMBERS, (("u32", "s32"), ("s32", "u32")), ("", ".sat"),
            ("", ".add"), chosen):
            yield f"v{what}{lanes}.{to}.{a}.{b}{sat}{last} r1{d},r2{left},r3{right},r4;"
        for a, b, compare, last, (d, left, right) in itertools.product(NUMBERS, NUMBERS, "eq ne lt le gt ge".split(), ("", ".add"), chosen):
            yield f"vset{lanes}.{a}.{b}.{compare}{last} r1{d},r2{left},r3{right},r4;"
