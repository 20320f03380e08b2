# SPDX-License-Identifier: Apache-2.0
"""Forms of instructions that came with targets above sm_90, for generic targets."""
import itertools

TARGETS = ("sm_100", "sm_120")
ROUNDINGS = ("", ".rn", ".rz", ".rm", ".rp", ".rni", ".approx")
HINTS = ("", ".L1::evict_last", ".L1::no_allocate", ".L2::evict_last", ".L2::evict_first", ".L2::evict_normal", ".L1::evict_first.L2::evict_last",
         ".L2::evict_unchanged", ".L2::64B", ".L2::cache_hint", ".L2::evict_last.L2::cache_hint", ".L2::128B.L2::evict_first")


def numbers(name, count, first=1):
    return ",".join(f"{name}{i}" for i in range(first, first + count))


def floats():
    for name, way, ftz, last in itertools.product(("add", "sub", "mul", "fma", "mad", "min", "max", "neg", "abs"), ROUNDINGS, ("", ".ftz"), ("", ".sat", ".relu")):
        count = {"fma": 4, "mad": 4, "neg": 2, "abs": 2}.get(name, 3)
        for register in ("rd", "d", "f"):
            yield f"{name}{way}{ftz}{last}.f32x2 {numbers(register, count)};"
        for half, register in itertools.product(("f16", "bf16", "f16x2", "f32"), ("h", "r")):
            halves = [register + "1"] * (2 if name in ("fma", "mad") else 1)
            yield f"{name}{way}{ftz}{last}.f32.{half} f1,{','.join(halves)},f2;"
            yield f"{name}{way}{ftz}{last}.f32.{half} f1,{','.join(halves)},0f3f800000;"
    for name, ftz, nan, sign, kind in itertools.product(("min", "max"), ("", ".ftz"), ("", ".NaN"), ("", ".abs", ".xorsign.abs", ".relu"),
                                                        ("f32", "f64", "f16", "bf16x2", "s32", "u16x2")):
        register = {"f32": "f", "f64": "d", "f16": "h"}.get(kind, "r")
        yield f"{name}{ftz}{nan}{sign}.{kind} {numbers(register, 4)};"
        yield f"{name}{ftz}{nan}{sign}.{kind} {numbers(register, 3)};"
    for way, relu, satfinite in itertools.product(ROUNDINGS + (".rna",), ("", ".relu"), ("", ".satfinite")):
        yield f"cvt{way}{relu}{satfinite}.tf32.f32 r1,f1;"


def wide():
    for vector, kind in itertools.product((".v8", ".v4"), ("b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b16", "f16x2", "b128")):
        count = int(vector[2:])
        for register in {"f32": ("f", "r"), "f64": ("d", "rd"), "b128": ("q",), "b16": ("h",)}.get(kind, ("rd",) if "64" in kind else ("r", "f")):
            values = "{" + numbers(register, count, 0) + "}" if register != "q" else "{q0,q1,q2,q0}"
            for order, space in itertools.product(("", ".weak", ".volatile", ".relaxed.gpu", ".acquire.sys", ".release.cta", ".mmio.relaxed.sys"),
                                                  ("", ".global", ".shared", ".local", ".const", ".param")):
                yield f"ld{order}{space}{vector}.{kind} {values},[rd8];"
                yield f"st{order}{space}{vector}.{kind} [rd8],{values};"
            for hint, cache in itertools.product(HINTS, ("", ".ca", ".cg", ".cs", ".nc", ".wb")):
                policy = ",rd7" if "cache_hint" in hint else ""
                yield f"ld.global{cache}{hint}{vector}.{kind} {values},[rd8]{policy};"
                yield f"st.global{cache}{hint}{vector}.{kind} [rd8],{values}{policy};"
    for text in ("ldu.global.v8.b32 {r1,r2,r3,r4,r5,r6,r7,r8},[rd1]", "ld.global.v8.b32 {r1,_,r3,_,r5,r6,r7,r8},[gv]", "ld.v8.b32 {r1,r2,r3,r4,r5,r6,r7,r8},[sv]",
                 "st.global.v4.b64 [rd1],{1,2,3,rd4}", "ld.global.L2::evict_last.v4.b32 {r1,r2,r3,r4},[rd1]"):
        yield text + ";"


def tensors():
    at = {1: "{r2}", 2: "{r2,r3}", 3: "{r2,r3,r4}", 4: "{r2,r3,r4,r5}", 5: "{r2,r3,r4,r5,r6}"}
    offsets = ("", ",{h1}", ",{h1,h2}", ",{h1,h2,h3}")
    for rank, count, mode, hint in itertools.product(range(1, 6), range(1, 6), ("", ".tile", ".im2col", ".im2col_no_offs", ".tile::gather4", ".im2col::w"), ("", ".L2::cache_hint")):
        policy = ",rd4" if hint else ""
        for offset, to, (multicast, mask) in itertools.product(offsets, (".shared::cluster", ".shared::cta", ".global"), (("", ""), (".multicast::cluster", ",h5"))):
            yield f"cp.async.bulk.tensor.{rank}d{to}.global{mode}.mbarrier::complete_tx::bytes{multicast}{hint} [r1],[rd1,{at[count]}],[r7]{offset}{mask}{policy};"
        yield f"cp.async.bulk.tensor.{rank}d.global.shared::cta{mode}.bulk_group{hint} [rd1,{at[count]}],[r7]{policy};"
        for offset in offsets:
            yield f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global{mode}{hint} [rd1,{at[count]}]{offset}{policy};"
        for what in "add min max inc dec and or xor exch".split():
            yield f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{what}{mode}.bulk_group{hint} [rd1,{at[count]}],[r7]{policy};"
    for map_at, place, box, barrier in itertools.product(("rd1", "r8", "gv", "gv+16", "cv", "rd1+64"), ("{r2,5}", "{f1,r3}", "{rd2,r3}", "{h1,h2}"), ("r1", "rd3", "sv", "sv+128"), ("r7", "rd5", "sv")):
        yield f"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [{box}],[{map_at},{place}],[{barrier}];"


def newer():
    for target, family in itertools.product(TARGETS, (floats, wide)):
        for text in dict.fromkeys(family()):
            yield text, target
