#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes kernels of the corpus from the forms of instructions that tests/ptx/forms.py draws up: all that look at
registers alone, and those that touch memory.

    forms.py OUTPUT LIBCUDA [--ptxas PTXAS] [--each N] [--family NAME]

Writes forms-90.FAMILY.ptx.  A kernel runs up to N forms of one instruction, each on registers that are filled anew, and
leaves what they gave folded into four numbers, by turns.  Forms are those that Millrace's library takes; the assembler
then has to take the whole file.  Left out are approximations, which approx.cu has.  Products of floats get numbers
whose sums are exact in any order.  What touches memory: memory_forms.py.
"""
import argparse
import ctypes
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "ptx"))
import forms as drawn  # noqa: E402
import async_forms  # noqa: E402
import memory_forms  # noqa: E402
import named_forms  # noqa: E402
from kernel_text import EPILOGUE, PROLOGUE, TYPES, fill, fold, loads  # noqa: E402

def is_exact(form):
    words = form.split()[0].split(".")
    if words[0] == "mma" and "f16" == words[-1] and words[-2] in ("e4m3", "e5m2"):
        return False
    return words[0] not in ("sin", "cos", "lg2", "ex2", "tanh", "rsqrt", "bar", "mov", "tex", "tld4", "txq", "suld", "sust", "suq") and \
        not {"approx", "full", "sp", "sp::ordered_metadata"} & set(words) and (words[0] not in ("div", "sqrt", "rcp") or len(words) > 1)


def block(form, into):
    """A form between what fills its registers and what looks at its results."""
    head, _, operands = form.partition(" ")
    registers = list(dict.fromkeys(re.findall(r"\b(?:rd|[phrsfdq])\d+\b", operands)))
    declared = " ".join(f".reg .{TYPES[re.match('[a-z]+', register).group()]} {register};" for register in registers)
    first = re.match(r"\{[^}]*\}|[^,]*", operands).group()
    results = re.findall(r"\b(?:rd|[phrsfdq])\d+\b", first)
    lines = [f"// {form}", "{ " + declared, *[fill(register, form) for register in registers]]
    words = head.split(".")
    if words[0] in ("addc", "subc", "madc"):
        lines.append("{ .reg .b32 t; add.cc.u32 t, %i32_1, %i32_2; }" if words[0] != "subc" else "{ .reg .b32 t; sub.cc.u32 t, %i32_1, %i32_2; }")
    lines.append(form)
    if "cc" in words:
        subtracts = words[0] in ("sub", "subc")
        lines.append("{ .reg .b32 t; " + ("subc" if subtracts else "addc") + ".u32 t, 0, 0; " + fold("r0", into).replace("r0", "t") + " }")
    return "\n".join(lines + [fold(register, into) for register in results]) + "\n}\n"


def taken(cuda, form):
    module = ctypes.c_void_p()
    text = drawn.HEAD.format("") + drawn.KERNEL.format(0) + form + drawn.END
    if cuda.cuModuleLoadData(ctypes.byref(module), text.encode()):
        return False
    cuda.cuModuleUnload(module)
    return True


def texts_of(family, cuda, ptxas=None):
    """Forms that Millrace's library takes, and the assembler, too, if it is given."""
    source = getattr(drawn, family, None) or drawn.FAMILIES[family]
    texts = [form if isinstance(form, str) else form[0] for form in source() if isinstance(form, str) or not form[1]]
    texts = [form for form in dict.fromkeys(texts) if taken(cuda, form)]
    batches = [texts[start:start + drawn.BATCH] for start in range(0, len(texts), drawn.BATCH)] if ptxas else []
    return [form for batch in batches for form, good in zip(batch, drawn.assembler_takes(ptxas, "", batch)) if good] if ptxas else texts


def kernels(family, cuda, each):
    groups = {}
    for form in texts_of(family, cuda):
        if is_exact(form):
            groups.setdefault(re.match(r"\w+", form).group(), []).append(form)
    registers, text = loads()
    for name, members in groups.items():
        for start in range(0, len(members), each):
            body = "".join(block(form, f"%fold{i % 4}") for i, form in enumerate(members[start:start + each]))
            yield PROLOGUE.format(name=f"{name}_{start // each}", registers=registers) + text + body + EPILOGUE.format()
    print(f"{family}: {sum(map(len, groups.values()))} forms")


REGISTERS = ("arithmetic", "comparisons", "conversions", "others", "video", "selectors", "warps", "products")
# Families that touch memory: what draws the forms, what makes blocks of them, what fills memory before.
MEMORY = {"accesses": ("accesses", memory_forms.drawn, ""), "orders": ("orders", memory_forms.drawn, ""), "widths": ("widths", memory_forms.drawn, ""),
          "hinted": ("hinted", memory_forms.drawn, ""), "typed": ("typed", memory_forms.drawn, ""), "named": ("named", named_forms.drawn, named_forms.SETUP),
          "stack": ("accesses", named_forms.drawn, ""), "contended": ("accesses", memory_forms.drawn_contended, ""), "copies": ("copies", async_forms.drawn, ""),
          "mbarriers": ("mbarriers", async_forms.drawn, ""), "fragments": ("matrices", async_forms.drawn, async_forms.FULL)}


def memory_kernels(family, cuda, each, ptxas):
    source, makes, setup = MEMORY[family]
    groups = {}
    for group, make in makes(texts_of(source, cuda, ptxas if family == "named" else None)):
        groups.setdefault(group, []).append(make)
    yield memory_forms.variables() + (named_forms.variables() if family == "named" else "")
    count = 0
    for name, members in groups.items():
        for start in range(0, len(members), each):
            blocks = [make(f"%fold{i % 4}", i) for i, make in enumerate(members[start:start + each])]
            count += len(blocks) - blocks.count(None)
            yield memory_forms.kernel(f"{name}_{start // each}", "".join(filter(None, blocks)), "cluster" in name, setup)
    print(f"{family}: {count} forms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output")
    parser.add_argument("libcuda")
    parser.add_argument("--ptxas", default="/usr/local/cuda/bin/ptxas")
    parser.add_argument("--each", type=int, default=12)
    parser.add_argument("--family")
    options = parser.parse_args()
    os.environ.setdefault("MILLRACE_COMPUTE_CAPABILITY", "9.0")
    cuda, context = ctypes.CDLL(options.libcuda), ctypes.c_void_p()
    if cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or cuda.cuCtxSetCurrent(context):
        sys.exit("no device")
    for family in [options.family] if options.family else (*REGISTERS, *MEMORY):
        path = pathlib.Path(options.output) / f"forms-90.{family}.ptx"
        path.write_text(".version 9.0\n.target sm_90\n.address_size 64\n" + "".join(memory_kernels(family, cuda, options.each, options.ptxas) if family in MEMORY else kernels(family, cuda, options.each)))
        subprocess.run([options.ptxas, "-arch=sm_90", "-O0", path, "-o", "/dev/null"], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
