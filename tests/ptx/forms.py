#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which forms of instructions NVIDIA's assembler takes for sm_90, and which Millrace does.

    forms.py LIBCUDA [--ptxas PTXAS] [--filter TEXT] [--jobs N]

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


def forms():
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


def assembler_takes(ptxas, text):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(text)
        file.flush()
        return subprocess.run([ptxas, "-arch=sm_90", file.name, "-o", "/dev/null"], capture_output=True, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libcuda")
    parser.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    os.environ.setdefault("MILLRACE_COMPUTE_CAPABILITY", "9.0")
    cuda, context, module = ctypes.CDLL(options.libcuda), ctypes.c_void_p(), ctypes.c_void_p()
    if cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or cuda.cuCtxSetCurrent(context):
        sys.exit("no device")
    statements = [(text, target) for text, target in forms() if options.filter in text]
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
