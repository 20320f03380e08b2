#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which forms of instructions NVIDIA's assembler takes for sm_90, and which Millrace does.

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

HEAD = """.version 9.0
.target sm_90{}
.address_size 64
.visible .entry k(.param .u64 q0) {{ .reg .pred p<4>; .reg .b16 h<9>; .reg .b32 r<17>; .reg .s32 s<9>; .reg .f32 f<17>; .reg .b64 rd<9>; .reg .f64 d<9>;
"""
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
                for more in ("", ",f9", ",{r1,r2}", ",{r1,r2},f9"):
                    yield f"tex.{geom}.v4.{kind}.f32 {result}{beside},[rd1,{at}]{more};"
                yield f"tex.level.{geom}.v4.{kind}.f32 {result}{beside},[rd1,{at}],f5;"
                yield f"tex.level.{geom}.v4.{kind}.f32 {result}{beside},[rd1,{at}],f5,f9;"
                yield f"tex.grad.{geom}.v4.{kind}.f32 {result}{beside},[rd1,{at}],{GRADIENTS.get(geom, '{f1,f2,f3,f3},{f1,f2,f3,f3}')};"
                for more in ("", ",f9", ",{r1,r2}"):
                    yield f"tld4.r.{geom}.v4.{kind}.f32 {result}{beside},[rd1,{at}]{more};"
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
    return ("h" if bits <= 16 else "r" if bits == 32 else "rd") + str(number)


INTEGERS = tuple(sign + bits for bits in ("8", "16", "32", "64") for sign in "usb")
FLOATS = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64")
ROUNDINGS = ("", ".rn", ".rz", ".rm", ".rp")
WAYS = {1: ("abs", "neg", "sqrt", "rcp", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"), 2: ("add", "sub", "mul", "div", "min", "max", "copysign"), 3: ("mad",)}
BITWISE = {1: ("popc", "clz", "brev", "bfind", "bfind.shiftamt", "not", "cnot", "abs", "neg"),
           2: ("add", "sub", "add.sat", "sub.sat", "add.cc", "sub.cc", "addc", "subc", "addc.cc", "subc.cc", "mul.lo", "mul.hi", "mul", "mul24.lo",
               "mul24.hi", "div", "rem", "min",
               "max", "min.relu", "max.relu", "and", "or", "xor"),
           3: ("mad.lo", "mad.hi", "mad.hi.sat", "mad.lo.cc", "madc.lo", "madc.hi.cc", "mad24.lo", "mad24.hi", "mad24.hi.sat", "sad")}


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


def others():
    """(statement, what follows the target)."""
    for text in expand(f"fma.<rn|rz>.<ftz.|sat.|relu.|oob.|sat.oob.|ftz.oob.|oob.relu.|>{KINDS} 1,2,3,4;".replace("<ftz.|", "<|ftz.|").replace("|>", ">")):
        register = REGISTER[text.split()[0].rpartition(".")[2]]
        yield re.sub(r"\b([1-4])\b(?=[,;])", register + r"\1", text), ""
    for text in expand("mov.v4.<u32|s32|b32> {r1,r2,r3,r4},<%tid|%ntid|%ctaid|%nctaid|%clusterid|%nclusterid|%cluster_ctaid|%cluster_nctaid|{r4,r3,r2,r1}|{1,2,3,r1}>;"):
        yield text, ""
    for text in sparse():
        yield text, ""
    for text in textures():
        yield text, ""
    for geom, at in PLACES.items():
        yield f"tex.{geom}.v4.f32.f32 {F4},[rd1,rd2,{at}];", ", texmode_independent"
        yield f"tex.{geom}.v4.f32.f32 {F4},[rd1,{at}];", ", texmode_independent"
        yield f"tld4.r.{geom}.v4.f32.f32 {F4},[rd1,rd2,{at}];", ", texmode_independent"


FAMILIES = {"arithmetic": arithmetic, "comparisons": comparisons, "conversions": conversions, "accesses": accesses, "others": others}


def forms(family):
    chosen = [FAMILIES[family]] if family else FAMILIES.values()
    return list(dict.fromkeys(form if isinstance(form, tuple) else (form, "") for one in chosen for form in one()))


def assembler_takes(ptxas, text):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        return subprocess.run([ptxas, "-arch=sm_90", file.name, "-o", "/dev/null"], capture_output=True, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libcuda")
    parser.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    os.environ.setdefault("MILLRACE_COMPUTE_CAPABILITY", "9.0")
    cuda, context, module = ctypes.CDLL(options.libcuda), ctypes.c_void_p(), ctypes.c_void_p()
    if cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or cuda.cuCtxSetCurrent(context):
        sys.exit("no device")
    statements = [(text, target) for text, target in forms(options.family) if options.filter in text]
    texts = [HEAD.format(target) + text + "\nret; }\n" for text, target in statements]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        taken = list(pool.map(lambda text: assembler_takes(options.ptxas, text), texts))
    refused = wrong = 0
    for (statement, _), text, there in zip(statements, texts, taken):
        here = cuda.cuModuleLoadData(ctypes.byref(module), text.encode()) == 0
        if here:
            cuda.cuModuleUnload(module)
        refused += there and not here
        wrong += here and not there
        if here != there:
            print(f"{'only the assembler' if there else 'only Millrace'}: {statement}")
    print(f"{len(texts)} forms; the assembler takes {sum(taken)}, Millrace refuses {refused} of them and takes {wrong} that it refuses")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
