# SPDX-License-Identifier: Apache-2.0
"""Forms of instructions that touch memory, for forms.py: orders and scopes, vectors, narrow values in wide registers,
cache operators and hints."""
import itertools
import re

SPACES = ("", ".global", ".shared", ".shared::cta", ".shared::cluster", ".local")
SCOPES = ("", ".cta", ".cluster", ".gpu", ".sys")
LEVELS = ("", ".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first", ".L1::evict_last", ".L1::no_allocate")
FETCHED = ("", ".L2::64B", ".L2::128B", ".L2::256B")


def registers(kind, vector):
    """The registers of an access: one, or as many as the vector has in braces."""
    bits = int(re.search(r"\d+", kind).group()) * (2 if kind.endswith("x2") else 1)
    letter = {"f32": "f", "f64": "d"}.get(kind) or ("q" if bits == 128 else "h" if bits <= 16 else "r" if bits == 32 else "rd")
    count = int(vector[2:]) if vector else 1
    values = ",".join(f"{letter}{i}" for i in range(1, count + 1))
    return "{" + values + "}" if vector else values


def orders():
    shapes = (("", "u8"), ("", "s16"), ("", "b32"), ("", "f32"), ("", "s64"), ("", "f64"), (".v2", "b32"), (".v4", "u8"), (".v4", "f32"), (".v2", "b64"), ("", "b128"))
    for (vector, kind), space, scope in itertools.product(shapes, SPACES, SCOPES):
        for way in (".weak", ".volatile", ".relaxed", ".acquire", ".mmio.relaxed"):
            yield f"ld{way}{scope}{space}{vector}.{kind} {registers(kind, vector)},[rd8];"
        for way in (".weak", ".volatile", ".relaxed", ".release", ".mmio.relaxed"):
            yield f"st{way}{scope}{space}{vector}.{kind} [rd8],{registers(kind, vector)};"
    updates = (("add", "u32"), ("cas", "b32"), ("exch", "b64"), ("min", "s64"), ("add", "f32"), ("add.noftz", "f16x2"), ("add", "f64"), ("exch", "b128"), ("cas", "b128"),
               ("cas", "b16"), ("inc", "u32"), ("xor", "b64"))
    for (what, kind), space, order, scope in itertools.product(updates, SPACES[:5], ("", ".relaxed", ".acquire", ".release", ".acq_rel"), SCOPES):
        value = registers(kind, "").rstrip("1")
        yield f"atom{order}{scope}{space}.{what}.{kind} {value}1,[rd8],{value}2{',' + value + '0' if what == 'cas' and value == 'q' else ',' + value + '3' if what == 'cas' else ''};"
        if what not in ("exch", "cas"):
            yield f"red{order}{scope}{space}.{what}.{kind} [rd8],{value}2;"
    for name, order, space, what, vector, kind in itertools.product(("atom", "red"), ("", ".relaxed.gpu", ".release.sys"), ("", ".global", ".shared"), ("add", "min", "max", "exch"),
        (".v2", ".v4", ".v8"), ("f16", "f16x2", "bf16", "bf16x2", "f32", "u32")):
        way = what + (".noftz" if kind not in ("f32", "u32") else "")
        values = registers(kind, vector)
        second = re.sub(r"\d+", lambda number: str(int(number.group()) + 8 if int(vector[2:]) < 8 and kind[-2:] in ("32", "x2") else int(number.group())), values)
        yield f"{name}{order}{space}.{way}{vector}.{kind} {values + ',' if name == 'atom' else ''}[rd8],{second};"


def widths():
    """Narrow values in wide registers."""
    for space, kind in itertools.product(("", ".global", ".shared", ".local", ".const", ".param"), ("u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32", "f32")):
        for letter in ("r", "rd", "f", "d"):
            for vector, values in (("", f"{letter}1"), (".v2", f"{{{letter}1,{letter}2}}"), (".v4", f"{{{letter}1,{letter}2,{letter}3,{letter}4}}")):
                yield f"ld{space}{vector}.{kind} {values},[rd8];"
                yield f"st{space}{vector}.{kind} [rd8],{values};"


def hinted():
    shapes = (("", "b32"), (".v4", "f32"), (".v2", "b64"), ("", "u8"), ("", "s16"), ("", "b128"))
    for (vector, kind), space, hint in itertools.product(shapes, ("", ".global", ".shared"), ("", ".L2::cache_hint")):
        values, policy = registers(kind, vector), ",rd4" if hint else ""
        for way, fetched in itertools.product(("", ".nc") + tuple(cache + more for cache in (".ca", ".cg", ".cs") for more in ("", ".nc")) + (".lu", ".cv"), FETCHED):
            yield f"ld{space}{way}{hint}{fetched}{vector}.{kind} {values},[rd8]{policy};"
        for way, level, fetched in itertools.product(("", ".nc", ".relaxed.gpu"), LEVELS[1:], FETCHED):
            before, after = (way, "") if way.startswith(".r") else ("", way)
            yield f"ld{before}{space}{after}{level}{hint}{fetched}{vector}.{kind} {values},[rd8]{policy};"
        for way in (".wb", ".cg", ".cs", ".wt") + LEVELS:
            yield f"st{space}{way}{hint}{vector}.{kind} [rd8],{values}{policy};"
    for vector, kind, space in itertools.product(("", ".v2", ".v4"), ("u8", "s8", "b16", "u32", "s32", "b64", "f32", "f64", "f16", "b128"), ("", ".global", ".const")):
        yield f"ldu{space}{vector}.{kind} {registers(kind, vector)},[rd8];"
    for name, space, (what, kind), order in itertools.product(("atom", "red"), ("", ".global", ".shared"),
        (("add", "u32"), ("add", "f32"), ("max", "s64"), ("exch", "b32"), ("cas", "b64"), ("add.noftz", "bf16x2"), ("dec", "u32"), ("exch", "b128")), ("", ".relaxed.gpu", ".acq_rel.sys")):
        value = registers(kind, "").rstrip("1")
        yield f"{name}{order}{space}.{what}.L2::cache_hint.{kind} {value + '1,' if name == 'atom' else ''}[rd8],{value}2{',' + value + '3' if what == 'cas' else ''},rd4;"
        yield f"{name}{order}{space}.{what}.{kind}.L2::cache_hint {value + '1,' if name == 'atom' else ''}[rd8],{value}2,rd4;"
