#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which forms of instructions NVIDIA's assembler takes for sm_90, and for newer targets what came with them, and which
Millrace does.

    forms.py LIBCUDA [--ptxas PTXAS] [--family NAME] [--filter TEXT] [--jobs N]

A template is a statement with <alternatives|in brackets>; every choice is a form, put into a kernel and given to both.
Forms that only one of them takes are printed, then the counts.  LIBCUDA is Millrace's library; nothing is run.
"""
import argparse
import concurrent.futures
import ctypes
import itertools
import os
import re
import subprocess
import sys
import tempfile

import forms_memory
import forms_newer
import forms_places
import forms_video

HEAD = """.version 9.0
.target {}
.address_size 64
.global .align 16 .b8 gv[256]; .shared .align 16 .b8 sv[256]; .const .align 16 .b8 cv[64];
.global .align 16 .b32 gw[16]; .shared .align 16 .b32 sw[16]; .const .align 16 .b32 cw[16];
.func fn0 {{ ret; }}
.func fn1 (.reg .b32 i) {{ ret; }}
.func (.reg .b32 o) fn2 (.reg .b32 i) {{ mov.b32 o,i; ret; }}
.func (.param .b32 o) fn3 (.param .b32 i) {{ st.param.b32 [o],1; ret; }}
.func fn4 (.param .align 8 .b8 i[16]) {{ ret; }}
"""
KERNEL = """.visible .entry k{}(.param .u64 q0, .param .align 16 .b8 ps[64]) {{
.local .align 16 .b8 lv[64]; .local .align 16 .b32 lw[16]; .param .b32 pa; .param .b32 pb; .param .b64 pc; .param .align 8 .b8 pd[16];
.reg .pred p<4>; .reg .b16 h<9>; .reg .b32 r<17>; .reg .s32 s<9>; .reg .f32 f<17>; .reg .b64 rd<9>; .reg .f64 d<9>; .reg .b128 q<3>;
.reg .f16 hf<4>; .reg .s16 hs<4>; .reg .u16 hu<4>; .reg .f16x2 hh<4>; .reg .u32 u<4>; .reg .s64 sd<4>; .reg .u64 ud<4>;
P0: .callprototype _ (); P1: .callprototype (.reg .b32 _) _ (.reg .b32 _); P2: .callprototype (.param .b32 _) _ (.param .b32 _);
T0: .branchtargets L0, L1; T1: .calltargets fn0; T2: .calltargets fn2;
"""
END = "\nL0: ret;\nL1: ret; }\n"
BATCH = 64
F4, R4 = "{f1,f2,f3,f4}", "{r1,r2,r3,r4}"
KINDS = "<f16|f16x2|bf16|bf16x2|f32|f64>"
REGISTER = {"f16": "h", "bf16": "h", "f16x2": "r", "bf16x2": "r", "f32": "f", "f64": "d"}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4}
PLACES = {"1d": "{f1}", "2d": "{f1,f2}", "3d": "{f1,f2,f3,f3}", "a1d": "{r1,f1}", "a2d": "{r1,f1,f2,f2}", "cube": "{f1,f2,f3,f3}",
          "acube": "{r1,f1,f2,f3}"}
GRADIENTS = {"1d": "{f1},{f2}", "a1d": "{f1},{f2}", "2d": "{f1,f2},{f1,f2}", "a2d": "{f1,f2},{f1,f2}"}


def expand(template):
    parts = re.split(r"<([^<>]*\|[^<>]*)>", template)
    choices = [[part] if i % 2 == 0 else part.split("|") for i, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def sparse():
    """mma.sp: every shape that holds whole registers, of every pair of types."""
    for k, (a, bits), sums, ordered in itertools.product((4, 8, 16, 32, 64, 128), BITS.items(), ("f16.f16", "f32.f32", "s32.s32"), ("", "::ordered_metadata")):
        count_a, count_b = 8 * k * bits // 1024, 8 * k * bits // 1024
        if count_a == 0 or count_a > 4:
            continue
        d = "{r1,r2}" if sums[0] == "f" and sums[1:3] == "16" else "{s1,s2,s3,s4}" if sums[0] == "s" else F4
        for b in BITS:
            if BITS[b] == bits:
                vectors = [f"{{{','.join(f'r{i + 5 + shift}' for i in range(count))}}}" for count, shift in ((count_a, 0), (count_b, 4))]
                first, last = sums.split(".")
                for satfinite in ("", ".satfinite") if sums[0] == "s" else ("",):
                    yield f"mma.sp{ordered}.sync.aligned.m16n8k{k}.row.col{satfinite}.{first}.{a}.{b}.{last} {d},{vectors[0]},{vectors[1]},{d},r13,0;"


def textures():
    for geom, at in PLACES.items():
        for beside in ("", "|p1"):
            for kind, result in (("f32", F4), ("s32", "{s1,s2,s3,s4}"), ("u32", R4)):
                for more in ("", ",f9", ",{r1,r2}", ",{r1,r2},f9", ",{r1}", ",{r1,r2,r3,r4}", ",{r1,f2}", ",s1", ",3", ",r1,f9", ",s1,f9", ",{r1},s1"):
                    yield f"tex.{geom}.v4.{kind}.f32 {result}{beside},[rd1,{at}]{more};"
                yield f"tex.level.{geom}.v4.{kind}.f32 {result}{beside},[rd1,{at}],f5;"
                yield f"tex.level.{geom}.v4.{kind}.f32 {result}{beside},[rd1,{at}],f5,f9;"
                yield f"tex.grad.{geom}.v4.{kind}.f32 {result}{beside},[rd1,{at}],{GRADIENTS.get(geom, '{f1,f2,f3,f3},{f1,f2,f3,f3}')};"
                for more in ("", ",f9", ",{r1,r2}"):
                    yield f"tld4.r.{geom}.v4.{kind}.f32 {result}{beside},[rd1,{at}]{more};"
        for more in ("{f1,f2}", "{f1,f2,f3,f4}", "{r1,f2,f3,f4}", "{f1,f2,f3}", "f1"):
            yield f"tex.{geom}.v4.f32.f32 {F4},[rd1,{more}];"
            yield f"tld4.g.{geom}.v4.f32.f32 {F4},[rd1,{more}];"
        for more in ("{s1,s2}", "{s1,s2,s3,s4}", "{r1,r2,r3,r4}", "s1"):
            yield f"suld.b.{geom}.b32.trap r9,[rd1,{more}];"
            yield f"sust.b.{geom}.v2.b32.zero [rd1,{more}],{{r9,r10}};"
    for mode, geom in itertools.product(("", ".base", ".level"), ("2dms", "a2dms")):
        level = ",r5" if mode == ".level" else ""
        yield f"tex{mode}.{geom}.v4.f32.s32 {F4},[rd1,{R4}]{level};"
        yield f"tex{mode}.{geom}.v4.f32.s32 {F4}|p1,[rd1,{R4}]{level};"
    questions = ("width", "height", "depth", "channel_data_type", "channel_order", "array_size")
    for question in questions + ("normalized_coords", "num_mipmap_levels", "num_samples", "force_unnormalized_coords", "filter_mode", "addr_mode_0"):
        yield f"txq.{question}.b32 r1,[rd1];"
    for question in questions + ("memory_layout",):
        yield f"suq.{question}.b32 r1,[rd1];"


def held(kind, number):
    """A register for a value of that type."""
    if kind == "pred":
        return f"p{number % 4}"
    if kind in ("f32", "f64"):
        return ("f" if kind == "f32" else "d") + str(number)
    bits = int(re.search(r"\d+", kind).group()) * (2 if kind.endswith("x2") else 1)
    if bits == 128:
        return f"q{number % 3}"
    return ("h" if bits <= 16 else "r" if bits == 32 else "rd") + str(number)


INTEGERS = tuple(sign + bits for bits in ("8", "16", "32", "64") for sign in "usb")
FLOATS = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64")
ROUNDINGS = ("", ".rn", ".rz", ".rm", ".rp")
WAYS = {1: ("abs", "neg", "sqrt", "rcp", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"), 2: ("add", "sub", "mul", "div", "min", "max", "copysign"), 3: ("mad",)}
BITWISE = {1: ("popc", "clz", "brev", "bfind", "bfind.shiftamt", "not", "cnot", "abs", "neg"),
           2: ("add", "sub", "add.sat", "sub.sat", "add.cc", "sub.cc", "addc", "subc", "addc.cc", "subc.cc", "mul.lo", "mul.hi", "mul", "mul24.lo",
               "mul24.hi", "div", "rem", "min",
               "max", "min.relu", "max.relu", "and", "or", "xor"),
           3: ("mad.lo", "mad.hi", "mad.hi.sat", "mad.lo.cc", "madc.lo", "madc.hi", "madc.hi.cc", "mad24.lo", "mad24.hi", "mad24.hi.sat", "sad")}


def arithmetic():
    for count, names in WAYS.items():
        for name, kind, way, ftz, last in itertools.product(names, FLOATS, ROUNDINGS + (".approx", ".full"), ("", ".ftz"), ("", ".sat", ".NaN", ".relu")):
            yield f"{name}{way}{ftz}{last}.{kind} {','.join(held(kind, i) for i in range(1, count + 2))};"
    for count, names in BITWISE.items():
        for name, kind in itertools.product(names, INTEGERS + ("u16x2", "s16x2", "pred")):
            result = "r1" if count == 1 and name.startswith(("popc", "clz", "bfind")) else held(kind, 1)
            yield f"{name}.{kind} {','.join([result] + [held(kind, i) for i in range(2, count + 2)])};"
    for name, kind in itertools.product(("mul.wide", "mad.wide"), INTEGERS):
        wide = {"8": "h", "16": "r", "32": "rd", "64": "rd"}[kind[1:]] + "1"
        yield f"{name}.{kind} {wide},{held(kind, 2)},{held(kind, 3)}{',' + wide if name == 'mad.wide' else ''};"
    for name, kind in itertools.product(("shl", "shr", "bfe", "bmsk.clamp", "bmsk.wrap", "szext.clamp", "szext.wrap"), INTEGERS):
        yield f"{name}.{kind} {held(kind, 1)},{held(kind, 2)},r3{',r4' if name == 'bfe' else ''};"


def comparisons():
    for kind, compare, ftz in itertools.product(INTEGERS + FLOATS, "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan".split(), ("", ".ftz")):
        yield f"setp.{compare}{ftz}.{kind} p1,{held(kind, 2)},{held(kind, 3)};"
        yield f"setp.{compare}.and{ftz}.{kind} p1|p2,{held(kind, 2)},{held(kind, 3)},!p3;"
        for result in ("u32", "s32", "f32", "f16", "bf16", "f16x2", "bf16x2"):
            yield f"set.{compare}{ftz}.{result}.{kind} {held(result, 1)},{held(kind, 2)},{held(kind, 3)};"
    for kind in INTEGERS + FLOATS + ("pred",):
        yield f"selp.{kind} {held(kind, 1)},{held(kind, 2)},{held(kind, 3)},p1;"
        for choice in ("s32", "f32"):
            yield f"slct.{kind}.{choice} {held(kind, 1)},{held(kind, 2)},{held(kind, 3)},{held(choice, 4)};"


def conversions():
    plain = tuple(kind for kind in INTEGERS if kind[0] != "b") + ("f16", "bf16", "f32", "f64")
    for way, last, to, of in itertools.product(("", ".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi", ".rna"), ("", ".sat", ".ftz", ".relu"),
        plain, plain):
        yield f"cvt{way}{last}.{to}.{of} {held(to, 1)},{held(of, 2)};"


def accesses():
    for space, kind in itertools.product(("", ".global", ".shared", ".local", ".const", ".param"), INTEGERS + ("f16", "f32", "f64", "b128")):
        for way in ("", ".ca", ".cg", ".cs", ".lu", ".cv", ".nc", ".volatile", ".relaxed.gpu", ".acquire.cta", ".weak", ".mmio.relaxed.sys"):
            for vector in ("", ".v2", ".v4"):
                elements = {"": 1, ".v2": 2, ".v4": 4}[vector]
                values = ",".join(held(kind, i) if kind != "b128" else f"rd{i}" for i in range(1, elements + 1))
                for address in ("rd8",) if way or vector else ("rd8", "r8"):
                    yield f"ld{way if way in ('.volatile', '.weak') or '.re' in way or '.ac' in way else ''}{space}{way if len(way) == 3 else ''}{vector}.{kind} " \
                        f"{values if elements == 1 else '{' + values + '}'},[{address}];"
        for way in ("", ".wb", ".cg", ".cs", ".wt", ".volatile", ".relaxed.gpu", ".release.sys", ".weak"):
            yield f"st{way if len(way) > 3 else ''}{space}{way if len(way) == 3 else ''}.{kind} [rd8],{held(kind, 1) if kind != 'b128' else 'rd1'};"
    for space, kind, what in itertools.product(("", ".global", ".shared", ".local"), INTEGERS + FLOATS + ("b128",),
        "and or xor exch add inc dec min max cas".split()):
        way = ".noftz" if what == "add" and kind in ("f16", "f16x2", "bf16", "bf16x2") else ""
        values = f"{held(kind, 2)},{held(kind, 3)}" if what == "cas" else held(kind, 2)
        for order in ("", ".relaxed.gpu", ".acq_rel.sys"):
            yield f"atom{order}{space}.{what}{way}.{kind} {held(kind, 1)},[rd8],{values};"
            if what not in ("exch", "cas"):
                yield f"red{order}{space}.{what}{way}.{kind} [rd8],{values};"
    for name, kind in itertools.product(("alloca", "stacksave", "stackrestore"), ("u32", "u64", "s32", "b32", "b64")):
        for more in (",16", ",{},32".format(held(kind, 2)), "," + held(kind, 2)) if name == "alloca" else ("",):
            yield f"{name}.{kind} {held(kind, 1)}{more};"


VIDEO = {1: "vadd vsub vabsdiff vmin vmax", 2: "vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2", 4: "vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4"}
SELECTORS = {1: (("", "", ""), ("", ".b0", ".h1"), (".h0", ".b3", ""), (".b1", "", "")),
             2: (("", "", ""), (".h10", ".h32", ""), (".h1", ".h31", ".h02"), (".h01", "", "")),
             4: (("", "", ""), (".b3210", ".b7654", ""), (".b30", ".b0123", ".b4004"), ("", "", ".b0"))}


def video():
    numbers = ("u32", "s32")
    for lanes, names in VIDEO.items():
        for name, to, a, b, sat, last in itertools.product(names.split(), numbers, numbers, numbers + ("b32",), ("", ".sat"), ("", ".add", ".min", ".max")):
            for d, left, right in SELECTORS[lanes] if a == b else SELECTORS[lanes][:1]:
                for third in ("", ",r4") if not last or d else (",r4",):
                    yield f"{name}.{to}.{a}.{b}{sat}{last} r1{d},r2{left},r3{right}{third};"
        suffix = str(lanes) if lanes > 1 else ""
        for compare, a, b, last in itertools.product("eq ne lt le gt ge lo hi equ".split(), numbers, numbers, ("", ".add", ".min", ".max")):
            yield f"vset{suffix}.{a}.{b}.{compare}{last} r1,r2,r3{',r4' if last or lanes > 1 else ''};"
    for name, to, a, b, sat, way, last in itertools.product(("vshl", "vshr"), numbers, numbers, numbers, ("", ".sat"), ("", ".clamp", ".wrap"), ("", ".add", ".max")):
        yield f"{name}.{to}.{a}.{b}{sat}{way}{last} r1,r2,r3.b1{',r4' if last else ''};"
    for to, a, b, po, sat, shift in itertools.product(numbers, numbers, numbers, ("", ".po"), ("", ".sat"), ("", ".shr7", ".shr15", ".shr8")):
        for signs in ("r2,r3,r4", "-r2,r3,r4", "r2,r3,-r4", "r2.h1,-r3.b0,r4", "-r2,-r3,r4"):
            yield f"vmad.{to}.{a}.{b}{po}{sat}{shift} r1,{signs};"


def warps():
    for sync, mode, kind, result, lane, clamp, mask in itertools.product(("", ".sync"), ("", ".up", ".down", ".bfly", ".idx"), ("b32", "u32", "f32", "b64"),
        ("{}", "{}|p1", "_|p1", "{}|_"), ("r3", "5"), ("r4", "31", "0x1f1f"), ("", ",r5", ",-1")):
        yield f"shfl{sync}{mode}.{kind} {result.format(held(kind, 1))},{held(kind, 2)},{lane},{clamp}{mask};"
    for sync, mode, kind, source, mask in itertools.product(("", ".sync"), ("", ".all", ".any", ".uni", ".ballot"), ("pred", "b32", "u32"), ("p2", "!p2", "1"),
        ("", ",r5", ",-1")):
        yield f"vote{sync}{mode}.{kind} {held(kind, 1)},{source}{mask};"
    for sync, mode, kind, result, source, mask in itertools.product(("", ".sync"), (".any", ".all"), ("b32", "b64", "u32", "f32"), ("r1", "r1|p1", "_|p1", "r1|_"),
        ("", "7"), ("r5", "-1")):
        yield f"match{mode}{sync}.{kind} {result},{source or held(kind, 2)},{mask};"
    for sync, what, kind, mask in itertools.product(("", ".sync"), "and or xor add min max inc exch".split(), INTEGERS + ("f32",), ("r5", "-1")):
        yield f"redux{sync}.{what}.{kind} {held(kind, 1)},{held(kind, 2)},{mask};"
    for kind in ("b32", "u32", "s32", "b64"):
        yield f"activemask.{kind} {held(kind, 1)};"
    for sync, result, mask in itertools.product(("", ".sync"), ("r1|p1", "_|p1", "r1", "r1|_"), ("r5", "-1", "p1")):
        yield f"elect{sync} {result},{mask};"
    for mask in ("r5", "-1", "rd1", ""):
        yield f"bar.warp.sync {mask};"
        yield f"bar.warp.arrive {mask};"


def barriers():
    names = [name + cta + aligned for name, aligned in (("bar", ""), ("barrier", ""), ("barrier", ".aligned")) for cta in ("", ".cta")]
    for name, where, threads in itertools.product(names, ("0", "15", "16", "r1", "rd1"), ("", ",64", ",r2", ",33", ",0")):
        head, aligned = (name[:-8], ".aligned") if name.endswith(".aligned") else (name, "")
        yield f"{head}.sync{aligned} {where}{threads};"
        yield f"{head}.arrive{aligned} {where}{threads};"
        for how, result in ((".popc", "r3"), (".and", "p1"), (".or", "p1"), (".xor", "p1")):
            for kind in ("u32", "s32", "b32", "pred"):
                for source in ("p2", "!p2", "1"):
                    yield f"{head}.red{how}{aligned}.{kind} {result},{where}{threads},{source};"
    for name in names:
        yield name.replace(".aligned", "") + ".sync" + (".aligned" if "aligned" in name else "") + ";"
    for what, sem, aligned in itertools.product((".arrive", ".wait", ".sync"), ("", ".release", ".acquire", ".relaxed", ".acq_rel"), ("", ".aligned")):
        yield f"barrier.cluster{what}{sem}{aligned};"
    for level in ("", ".cta", ".gl", ".sys", ".gpu", ".cluster"):
        yield f"membar{level};"
    for sem, scope, space in itertools.product(("", ".sc", ".acq_rel", ".acquire", ".release", ".relaxed", ".weak"), ("", ".cta", ".cluster", ".gpu", ".sys"),
        ("", ".sync_restrict::shared::cta", ".sync_restrict::shared::cluster", ".shared::cta")):
        yield f"fence{sem}{space}{scope};"
        yield f"fence.mbarrier_init{sem}{scope}{space};"
        yield f"fence.proxy.async::generic{sem}{space}{scope};"
        yield f"fence.proxy.tensormap::generic{sem}{scope};"
        yield f"fence.proxy.tensormap::generic{sem}{scope} [rd1],128;"
    for proxy, space in itertools.product(("alias", "async", "async::generic", "tensormap", "generic"),
        ("", ".global", ".shared::cta", ".shared::cluster", ".shared", ".local")):
        yield f"fence.proxy.{proxy}{space};"
        yield f"membar.proxy.{proxy}{space};"
    for text in mbarriers():
        yield text


def mbarriers():
    spaces, orders = ("", ".shared", ".shared::cta", ".shared::cluster", ".global"), [sem + scope for sem in ("", ".release", ".acquire", ".relaxed")
                                                                                       for scope in ("", ".cta", ".cluster", ".gpu")]
    for space, at in itertools.product(spaces, ("r1", "rd1", "sv+8")):
        for count in ("r2", "16", "rd2"):
            yield f"mbarrier.init{space}.b64 [{at}],{count};"
        yield f"mbarrier.inval{space}.b64 [{at}];"
        for order in orders:
            for count in ("r2", "16"):
                yield f"mbarrier.expect_tx{order}{space}.b64 [{at}],{count};"
                yield f"mbarrier.complete_tx{order}{space}.b64 [{at}],{count};"
            for drop, how, state in itertools.product(("", "_drop"), ("", ".expect_tx", ".noComplete"), ("rd3", "_")):
                for count in ("", ",r2", ",16"):
                    yield f"mbarrier.arrive{drop}{how}{order}{space}.b64 {state},[{at}]{count};"
            for wait, (parity, phase) in itertools.product(("test", "try"), (("", "rd3"), (".parity", "r2"), (".parity", "1"), ("", "r2"), (".parity", "rd3"))):
                for time in ("", ",r4", ",1000"):
                    yield f"mbarrier.{wait}_wait{parity}{order}{space}.b64 p1,[{at}],{phase}{time};"
    for kind in ("b64", "u64", "b32"):
        yield f"mbarrier.pending_count.{kind} r1,rd1;"


ELEMENTS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "f32": 32, "s32": 32, "u8": 8, "s8": 8, "u4": 4, "s4": 4, "b1": 1, "e4m3": 8, "e5m2": 8, "e3m2": 8}
SHAPES = ("m16n16k16", "m8n32k16", "m32n8k16", "m16n16k8", "m8n8k4", "m8n8k32", "m8n8k128")


def registers(kind, count, first=1):
    """As many registers as a matrix of that type takes, in braces."""
    name = {"f32": "f", "f64": "d"}.get(kind, "r")
    return "{" + ",".join(f"{name}{(first + i - 1) % 8 + 1 if name == 'd' else first + i}" for i in range(count)) + "}"


def shared_out(rows, columns, kind):
    return rows * columns * ELEMENTS[kind] // (64 if kind == "f64" else 32) // 32


def products():
    """mma: every shape that holds whole registers, of every pair of types."""
    sums = {"f16": ("f16", "f32"), "b1": ("s32",), "f64": ("f64",), "u8": ("s32",), "s8": ("s32",), "u4": ("s32",), "s4": ("s32",)}
    extras = {"b1": (("", ""), (".satfinite", ""), ("", ".xor.popc"), ("", ".and.popc")), "f64": (("", ""), (".satfinite", ""), (".rz", ""), (".rp", ""))}
    shapes = [(8, 8, k) for k in (4, 16, 32, 128)] + [(16, 8, k) for k in (4, 8, 16, 32, 64, 128, 256)]
    for (m, n, k), a, b in itertools.product(shapes, ELEMENTS, ELEMENTS):
        if ELEMENTS[a] != ELEMENTS[b] or a in ("f32", "s32"):
            continue
        for d, c, layouts in itertools.product(sums.get(a, ("f32", "f16")), sums.get(a, ("f32", "f16")), ("row.col", "col.row")):
            counts = [shared_out(m, n, d), shared_out(m, k, a), shared_out(k, n, b), shared_out(m, n, c)]
            if (m, n, k) == (8, 8, 4) and a == "f16":
                counts = [8 if d == "f32" else 4, 2, 2, 8 if c == "f32" else 4]
            if min(counts) < 1 or max(counts) > 8:
                continue
            operands = ",".join(registers(kind, count, first) for kind, count, first in zip((d, a, b, c), counts, (1, 9, 13, 1)))
            for more, last in extras.get(a, (("", ""), (".satfinite", ""))):
                yield f"mma.sync.aligned.m{m}n{n}k{k}.{layouts}{more}.{d}.{a}.{b}.{c}{last} {operands};"


def fragments():
    """wmma."""
    kinds = [kind for kind in ELEMENTS if not kind.startswith("e")]
    for shape, kind, which, space, step, layout in itertools.product(SHAPES, kinds, "abcd", ("", ".global", ".shared", ".shared::cta", ".local"), ("", ",r16", ",16"),
        ("row", "col")):
        m, n, k = map(int, re.findall(r"\d+", shape))
        count = shared_out(*{"a": (m, k), "b": (k, n)}.get(which, (m, n)), kind) or 1
        if kind == "f16":
            count = 4 if which in "cd" else 8 if m * n == 256 and k == 16 else count
        if count > 8:
            continue
        at, values = "[r15]" if "shared" in space else "[rd1]", registers(kind, count)
        if which == "d":
            yield f"wmma.store.d.sync.aligned.{layout}.{shape}{space}.{kind} {at},{values}{step};"
        else:
            yield f"wmma.load.{which}.sync.aligned.{layout}.{shape}{space}.{kind} {values},{at}{step};"
    for shape, layouts, d, c, factor, last in itertools.product(SHAPES, ("row.row", "row.col", "col.row", "col.col"), ("f16", "f32", "f64", "s32"), ("f16", "f32", "f64", "s32"),
        ("", ".bf16", ".tf32", ".f64", ".u8", ".s8", ".u4", ".b1"), ("", ".satfinite")):
        m, n, k = map(int, re.findall(r"\d+", shape))
        kind = factor[1:] or "f16"
        if len({kind == "f64", d == "f64", c == "f64"}) > 1:
            continue
        counts = [
            shared_out(m, n, d) or 1,
            shared_out(m, k, kind) or 1,
            shared_out(k, n, kind) or 1,
            shared_out(m, n, c) or 1,
        ]
        if kind == "f16":
            counts[1:3] = 8, 8
        if max(counts) > 8:
            continue
        operands = ",".join(registers(own, count, first) for own, count, first in zip((d, kind, kind, c), counts, (1, 1 if kind == "f64" else 9, 1 if kind == "f64" else 9, 1)))
        types = f".{d}{factor}{factor}.{c}" if factor else f".{d}.{c}"
        yield f"wmma.mma{'.xor.popc' if kind == 'b1' else ''}.sync.aligned.{layouts}.{shape}{types}{last} {operands};"


def matrices():
    yield from products()
    yield from fragments()
    for name, shape, count, trans, space, kind, at in itertools.product(("ldmatrix", "stmatrix"), ("m8n8", "m16n8", "m16n16", "m8n16"), (1, 2, 4, 8), ("", ".trans"),
        ("", ".shared", ".shared::cta", ".shared::cluster", ".global"), ("b16", "b8", "u16", "b32", "b8x16.b6x16_p32"), ("r9", "rd1", "sv")):
        values = registers("b32", count)
        yield f"{name}.sync.aligned.{shape}.x{count}{trans}{space}.{kind} " + (f"{values},[{at}];" if name[0] == "l" else f"[{at}],{values};")
    for shape, trans, kind in itertools.product(("m8n8", "m16n8"), ("", ".trans"), ("b16", "b8", "b32")):
        yield f"movmatrix.sync.aligned.{shape}{trans}.{kind} r1,r2;"


def copies():
    for cache, to, of, hint, at, source in itertools.product((".ca", ".cg", ""), (".shared", ".shared::cta", ".shared::cluster", ".global"), (".global", ".shared", ""),
        ("", ".L2::cache_hint", ".L2::64B", ".L2::128B", ".L2::256B", ".L2::cache_hint.L2::128B", ".L2::evict_last"), ("r1", "rd1", "sv"), ("rd2", "r2", "gv")):
        for size, more in (("4", ""), ("16", ""), ("8", ",r3"), ("16", ",8"), ("16", ",p1"), ("16", ",!p1"), ("2", ""), ("16", ",rd3")):
            policy = ",rd4" if "cache_hint" in hint else ""
            if (at, source) == ("r1", "rd2") or (size, more, hint) == ("16", "", ""):
                yield f"cp.async{cache}{to}{of}{hint} [{at}],[{source}],{size}{more}{policy};"
    for text in ("commit_group", "wait_all", "wait_group 0", "wait_group 7", "wait_group r1", "bulk.commit_group", "bulk.wait_group 0", "bulk.wait_group.read 3",
                 "bulk.wait_group r1", "bulk.wait_all"):
        yield f"cp.async.{text};"
    for noinc, space, at in itertools.product(("", ".noinc"), ("", ".shared", ".shared::cta", ".shared::cluster", ".global"), ("r1", "rd1", "sv")):
        yield f"cp.async.mbarrier.arrive{noinc}{space}.b64 [{at}];"
    ends = ((".mbarrier::complete_tx::bytes", ",[r4]"), (".bulk_group", ""), ("", ""))
    spaces = (".shared", ".shared::cta", ".shared::cluster", ".global")
    for to, of, (end, barrier), hint, size in itertools.product(spaces, spaces, ends, ("", ".L2::cache_hint", ".multicast::cluster", ".cp_mask", ".ignore_oob"),
        ("r3", "16", "24", "rd3")):
        to_at, of_at = "rd1" if to == ".global" else "r1", "rd2" if of == ".global" else "r2"
        more = {".L2::cache_hint": ",rd4", ".multicast::cluster": ",h1", ".cp_mask": ",h1"}.get(hint, "")
        yield f"cp.async.bulk{to}{of}{end}{hint} [{to_at}],[{of_at}],{size}{barrier}{more};"
        if hint in ("", ".L2::cache_hint") and size == "r3":
            for what, kind in itertools.product("add min max inc dec and or xor cas".split(), INTEGERS + ("f16", "bf16", "f32", "f64", "f16x2")):
                for noftz in ("", ".noftz") if kind in ("f16", "bf16") else ("",):
                    yield f"cp.reduce.async.bulk{to}{of}{end}{hint}.{what}{noftz}.{kind} [{to_at}],[{of_at}],{size}{barrier}{more};"
    for level, space, hint, size in itertools.product((".L2", ".L1"), ("", ".global", ".shared"), ("", ".L2::cache_hint"), ("r3", "16", "24")):
        yield f"cp.async.bulk.prefetch{level}{space}{hint} [rd1],{size}{',rd4' if hint else ''};"
    for weak, space, vector, kind in itertools.product(("", ".weak", ".relaxed.cluster"), ("", ".shared::cluster", ".shared::cta", ".global"), ("", ".v2", ".v4"),
        INTEGERS + ("f16", "f32", "f64", "b128")):
        values = ",".join(held(kind, i) for i in range(1, {"": 1, ".v2": 2, ".v4": 4}[vector] + 1)) if kind != "b128" else "q1"
        at, barrier = ("r10", "r11") if space else ("rd7", "rd8")
        yield f"st.async{weak}{space}.mbarrier::complete_tx::bytes{vector}.{kind} [{at}],{'{' + values + '}' if vector else values},[{barrier}];"
    for order, space, what, kind in itertools.product(("", ".relaxed.cluster", ".relaxed.gpu"), ("", ".shared::cluster", ".shared::cta"),
        "add min max inc dec and or xor".split(), INTEGERS + ("f32",)):
        at, barrier = ("r10", "r11") if space else ("rd7", "rd8")
        yield f"red.async{order}{space}.mbarrier::complete_tx::bytes.{what}.{kind} [{at}],{held(kind, 1)},[{barrier}];"


CALLS = """fn0 fn0,() (r1),fn0 fn0,P0 fn1 fn1,() fn1,(r1) fn1,(5) fn1,(f1) fn1,(rd1) fn1,(h1) fn1,(pa) (r1),fn2,(r2) (_),fn2,(r2) fn2,(r2) (rd1),fn2,(r2) (f1),fn2,(r2)
(pa),fn2,(r2) (r1),fn2,(r2),P1 (pa),fn3,(pb) (r1),fn3,(r2) (_),fn3,(pb) fn3,(pb) (pa),fn3,(pc) (pa),fn3,(7) (pa),fn3,(rd1) (rd1),fn3,(pb) fn4,(pd) fn4,(ps) fn4,(lv) fn4,(pa)
k0 rd1 rd1,P0 rd1,(),P0 (r1),rd1,(r2),P1 (r1),rd1,(1),P1 (h1),rd1,(h2),P1 (pa),rd1,(pb),P1 (pa),rd1,(pb),P2 (r1),rd1,(r2),P2 r1,P0 rd1,T0 rd1,T1 rd1,(),T1 rd1,(r1),T1
(r1),rd1,(r2),T2""".split()


def control():
    for guard, uni in itertools.product(("", "@p1 ", "@!p1 "), ("", ".uni")):
        for what in (f"bra{uni} L0", f"bra{uni} T0", f"bra{uni} nowhere", f"ret{uni}", "exit", f"exit{uni}", "trap", "brkpt"):
            yield f"{guard}{what};"
        for idx, where in itertools.product(("", ".idx"), ("r1,T0", "1,T0", "rd1,T0", "r1,T1")):
            yield f"{guard}brx{idx}{uni} {where};"
        for call in CALLS:
            yield f"{guard}call{uni} {call};"
    for what in ("pmevent 3", "pmevent r1", "pmevent 16", "pmevent.mask 3", "pmevent.mask r1", "pmevent.mask 65536", "nanosleep.u32 r1", "nanosleep.u32 20", "nanosleep.u64 rd1",
                 "griddepcontrol.wait", "griddepcontrol.launch_dependents", "griddepcontrol", "setmaxnreg.inc.sync.aligned.u32 64"):
        yield what + ";"
    for space, kind, source in itertools.product(("", ".shared::cluster", ".shared::cta", ".shared"), ("u32", "u64", "b32"), ("r2", "rd2", "sv", "sv+4", "gv")):
        yield f"getctarank{space}.{kind} r1,{source};"
        for rank in ("r3", "2"):
            yield f"mapa{space}.{kind} {held(kind, 1)},{source},{rank};"


SPECIALS = """tid.x tid.w ntid.y ctaid.z nctaid.x laneid warpid nwarpid smid nsmid gridid is_explicit_cluster clusterid.x nclusterid.y cluster_ctaid.z cluster_nctaid.w
cluster_ctarank cluster_nctarank lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt clock clock_hi clock64 pm0 pm7 pm8 pm0_64 pm7_64 envreg0 envreg31 envreg32 globaltimer
globaltimer_lo globaltimer_hi total_smem_size aggr_smem_size dynamic_smem_size reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap
reserved_smem_offset_0 reserved_smem_offset_1 reserved_smem_offset_2 current_graph_exec tid""".split()


def hints():
    spaces = ("", ".global", ".local", ".shared", ".const", ".param")
    levels = (".L1", ".L2", "", ".L2::evict_last", ".L2::evict_normal", ".L2::evict_first", ".L2::evict_unchanged", ".L1::evict_last", ".tensormap")
    for level, space, at in itertools.product(levels, spaces, ("rd1", "r1", "gv", "lv")):
        yield f"prefetch{space}{level} [{at}];"
        yield f"prefetchu{space}{level} [{at}];"
        for size in ("128", "64", "r2"):
            yield f"discard{space}{level} [{at}],{size};"
            yield f"applypriority{space}{level} [{at}],{size};"
    priorities = ("L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged", "L1::evict_last")
    for first, second, space, fraction in itertools.product(priorities, ("",) + priorities, ("", ".global", ".shared"), ("", ",0.5", ",f1", ",1", ",0.0", ",2.0", ",r1")):
        second = "." + second if second else ""
        yield f"createpolicy.fractional.{first}{second}{space}.b64 rd1{fraction};"
    for first, second, space, sizes in itertools.product(priorities, ("",) + priorities, ("", ".global", ".shared"), ("r1,r2", "64,128", "rd3,r2", "128,64")):
        second = "." + second if second else ""
        yield f"createpolicy.range{space}.{first}{second}.b64 rd1,[rd2],{sizes};"
    for text in ("cvt.L2.b64 rd1,rd2", "cvt.b64 rd1,rd2", "cvt.L1.b64 rd1,rd2", "cvt.L2.b64 rd1,r2", "cvt.L2.b32 r1,r2"):
        yield f"createpolicy.{text};"
    spaces = ("", ".const", ".global", ".local", ".shared", ".shared::cta", ".shared::cluster", ".param", ".param::entry", ".param::func")
    for to, space, kind, source in itertools.product(("", ".to"), spaces, ("u64", "u32", "s64", "b64"), ("rd2", "r2", "gv", "sv", "cv", "lv", "q0", "pa", "gv+4", "sv+4", "cv+4", "lv+4", "ps+4", "16")):
        yield f"cvta{to}{space}.{kind} {held(kind, 1)},{source};"
        if not to and kind == "u64":
            yield f"isspacep{space} p1,{source};"
    for kind, source in itertools.product(INTEGERS + ("f32", "f64", "pred"), ("gv", "sv", "cv", "lv", "q0", "ps", "pa", "pd", "fn0", "gv+4", "ps+4", "k0", "L0")):
        yield f"mov.{kind} {held(kind, 1)},{source};"
    for kind, source in itertools.product(INTEGERS + ("f32", "f64", "pred"), SPECIALS):
        yield f"mov.{kind} {held(kind, 1)},%{source};"
        if kind in ("u64", "s32", "u16"):
            yield f"cvt.{kind}.u32 {held(kind, 1)},%{source};"
            yield f"add.{kind} {held(kind, 1)},%{source},{held(kind, 2)};"



def others():
    """(statement, target)."""
    for text in expand(f"fma.<rn|rz|rm|rp>.<ftz.|sat.|relu.|oob.|sat.oob.|ftz.oob.|oob.relu.|>{KINDS} 1,2,3,4;".replace("<ftz.|", "<|ftz.|").replace("|>", ">")):
        register = REGISTER[text.split()[0].rpartition(".")[2]]
        yield re.sub(r"\b([1-4])\b(?=[,;])", register + r"\1", text), "sm_90"
    for text in expand("mov.v4.<u32|s32|b32> {r1,r2,r3,r4},<%tid|%ntid|%ctaid|%nctaid|%clusterid|%nclusterid|%cluster_ctaid|%cluster_nctaid|{r4,r3,r2,r1}|{1,2,3,r1}>;"):
        yield text, "sm_90"
    for text in sparse():
        yield text, "sm_90"
    for text in textures():
        yield text, "sm_90"
    for geom, at in PLACES.items():
        yield f"tex.{geom}.v4.f32.f32 {F4},[rd1,rd2,{at}];", "sm_90, texmode_independent"
        yield f"tex.{geom}.v4.f32.f32 {F4},[rd1,{at}];", "sm_90, texmode_independent"
        yield f"tld4.r.{geom}.v4.f32.f32 {F4},[rd1,rd2,{at}];", "sm_90, texmode_independent"


FAMILIES = {"arithmetic": arithmetic, "comparisons": comparisons, "conversions": conversions, "accesses": accesses, "orders": forms_memory.orders,
            "widths": forms_memory.widths, "hinted": forms_memory.hinted, "others": others, "video": video, "selectors": forms_video.selectors,
            "warps": warps, "barriers": barriers, "matrices": matrices, "copies": copies, "control": control, "hints": hints,
            "named": forms_places.named, "elements": forms_places.elements, "typed": forms_places.typed, "permuted": forms_places.permuted, "newer": forms_newer.newer, "tensors": forms_newer.tensors}


def forms(family):
    chosen = [FAMILIES[family]] if family else FAMILIES.values()
    return list(dict.fromkeys(form if isinstance(form, tuple) else (form, "sm_90") for one in chosen for form in one()))


def assembler_says(ptxas, target, statements):
    """Whether the assembler takes all, each in a kernel of its own; and else which of them its messages name the lines
    of, if they do."""
    lines, owners = HEAD.format(target).splitlines(), [None] * HEAD.count("\n")
    for i, statement in enumerate(statements):
        part = (KERNEL.format(i) + statement + END).splitlines()
        lines += part
        owners += [i] * len(part)
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        run = subprocess.run([ptxas, "-arch=" + target.partition(",")[0], file.name, "-o", "/dev/null"], capture_output=True, text=True, check=False)
    named = [int(line) - 1 for line in re.findall(r"line (\d+); (?:error|fatal)", run.stdout + run.stderr)]
    return run.returncode == 0, {owners[line] for line in named if line < len(owners)} - {None}


def assembler_takes(ptxas, target, statements):
    """Which statements the assembler takes: all in one file at first, then those that no message names, until there is
    no message. A message that names none is looked for by halves."""
    good, named = assembler_says(ptxas, target, statements)
    if good or len(statements) == 1:
        return [good] * len(statements)
    if not named:
        middle = len(statements) // 2
        return assembler_takes(ptxas, target, statements[:middle]) + assembler_takes(ptxas, target, statements[middle:])
    left = [statement for i, statement in enumerate(statements) if i not in named]
    answers = iter(assembler_takes(ptxas, target, left) if left else ())
    return [i not in named and next(answers) for i in range(len(statements))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libcuda")
    parser.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    os.environ.setdefault("MILLRACE_COMPUTE_CAPABILITY", "12.1")
    cuda, context, module = ctypes.CDLL(options.libcuda), ctypes.c_void_p(), ctypes.c_void_p()
    if cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or cuda.cuCtxSetCurrent(context):
        sys.exit("no device")
    statements = [pair for pair in forms(options.family) if options.filter in pair[0]]
    batches = []
    for target in dict.fromkeys(target for _, target in statements):
        texts = [text for text, own in statements if own == target]
        batches += [(target, texts[i:i + BATCH]) for i in range(0, len(texts), BATCH)]
    refused = wrong = taken = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = pool.map(lambda batch: assembler_takes(options.ptxas, *batch), batches)
        for target, text, there in (
            (target, text, there)
            for (target, texts), batch in zip(batches, answers)
            for text, there in zip(texts, batch)
        ):
            here = (
                cuda.cuModuleLoadData(
                    ctypes.byref(module), (HEAD.format(target) + KERNEL.format(0) + text + END).encode()
                )
                == 0
            )
            if here:
                cuda.cuModuleUnload(module)
            if here != there:
                there, _ = assembler_says(options.ptxas, target, [text])
            taken += there
            refused += there and not here
            wrong += here and not there
            if here != there:
                print(f"{'only the assembler' if there else 'only Millrace'}: {text}")
    print(f"{len(statements)} forms; the assembler takes {taken}, Millrace refuses {refused} of them and takes {wrong} that it refuses")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
