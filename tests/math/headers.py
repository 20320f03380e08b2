#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The headers of a library of mathematics, each alone, in C and C++ by both compilers; and beside NVIDIA's, where those
are on the machine: each enumerator's value, each type's size and each function's parameters.

    headers.py OUR_INCLUDE_FOLDER LIBRARY HEADER…

NVIDIA's are looked for in the toolkit. Of a library that the toolkit hasn't, they are in the folder that
LIBRARY_HEADER_FOLDER names (CUDNN_HEADER_FOLDER: PyPI's package nvidia-cudnn-cu13 has it); what they include of CUDA is
taken from ours. Where NVIDIA's have an older version, ours may have more; a newer version is not compared.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LANGUAGES = {"c": ("gcc", "clang-19"), "c++": ("g++", "clang++-19")}


def compile_alone(folder, header):
    """Complaints of compilers about a source that includes the header alone."""
    wrong = []
    for language, compilers in LANGUAGES.items():
        for compiler in compilers:
            if shutil.which(compiler):
                done = subprocess.run([compiler, "-fsyntax-only", "-Wall", "-Werror", "-x", language, "-I", folder, "-"],
                                      input=f"#include <{header}>\n", text=True, capture_output=True)
                if done.returncode:
                    wrong.append(f"{compiler} -x {language}: {header}: {done.stderr[:800]}")
    return wrong


def states_of_kernels(folder):
    """Complaints of compilers of C++ about a host's source that allocates states of curand_kernel.h. The sizes are the
    toolkit's."""
    sizes = {"curandState": 48, "curandStateMRG32k3a": 48, "curandStatePhilox4_32_10_t": 64, "curandStateSobol64": 536}
    source = "#include <curand_kernel.h>\n" + "".join(f"static_assert(sizeof({name}) == {size});\n" for name, size in sizes.items())
    wrong = []
    for compiler in filter(shutil.which, LANGUAGES["c++"]):
        done = subprocess.run([compiler, "-fsyntax-only", "-Wall", "-Werror", "-std=c++17", "-x", "c++", "-I", folder, "-"],
                              input=source, text=True, capture_output=True)
        if done.returncode:
            wrong.append(f"{compiler}: curand_kernel.h: {done.stderr[:800]}")
    return wrong


def include(folders):
    return [f"-I{folder}" for folder in folders]


def read(folders, header, prefix):
    """The header as the C++ preprocessor leaves it: only the parts of headers whose name begins with the prefix."""
    text = subprocess.run(["g++", "-E", "-x", "c++", *include(folders), "-"], input=f"#include <{header}>\n", text=True, check=True,
                          capture_output=True).stdout
    kept, own = [], False
    for line in text.splitlines():
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            own = Path(mark[1]).name.startswith((prefix, "library_types"))
        elif own:
            kept.append(line)
    return "\n".join(kept)


def parameters(text):
    """The parameters' types, one form of each."""
    types = []
    for parameter in text.split(","):
        parameter = re.sub(r"\s+", " ", parameter).strip()
        array = parameter.endswith("]")
        parameter = re.sub(r"\s*\w*\s*(\[\d*\])?$", "", parameter) if parameter != "void" else parameter
        types.append(re.sub(r"\s*\*\s*", "*", parameter) + ("*" if array else ""))
    types = types if types != [""] else ["void"]
    return [t.replace("long long int", "long long").replace("cudaDataType_t", "cudaDataType") for t in types]


def functions(text, prefix):
    return {name: parameters(params) for name, params in re.findall(rf"\b({prefix}\w+)\s*\(([^(){{}};]*)\)\s*;", text)}


def enumerators(text):
    names = []
    for body in re.findall(r"\benum\s*\w*\s*\{([^}]*)\}", text):
        names += [entry.split("=")[0].strip() for entry in body.split(",") if entry.strip()]
    return names


def types(text, prefix):
    return re.findall(rf"\}}\s*({prefix}\w+)\s*;", text)


def answers(folders, header, names, sizes):
    """What a program prints of the names."""
    lines = [f"#include <{header}>", "#include <stdio.h>", "int main() {"]
    lines += [f'printf("{n} %lld\\n", (long long)({n}));' for n in names]
    lines += [f'printf("{n} %zu\\n", sizeof({n}));' for n in sizes]
    with tempfile.TemporaryDirectory() as room:
        program = Path(room) / "probe"
        subprocess.run(["g++", "-w", "-x", "c++", *include(folders), "-", "-o", program], input="\n".join(lines + ["}"]), text=True, check=True)
        return subprocess.run([program], text=True, check=True, capture_output=True).stdout.splitlines()


def numbers(folders, header, prefix):
    """The headers' macros that are numbers."""
    text = subprocess.run(["g++", "-E", "-dM", "-x", "c++", *include(folders), "-"], input=f"#include <{header}>\n", text=True, check=True,
                          capture_output=True).stdout
    return dict(re.findall(rf"^#define ({prefix.upper()}_\w+) (\d+)$", text, re.M))


def version(numbers_of_header, prefix):
    """As a list to compare by; empty where the header doesn't tell."""
    names = [f"{prefix.upper()}_{part}" for part in ("MAJOR", "MINOR", "PATCHLEVEL")]
    return [int(numbers_of_header[name]) for name in names if name in numbers_of_header]


def compare(ours, theirs, header, prefix):
    """Complaints about our header (ours and theirs: the folders to look in) beside NVIDIA's."""
    have_numbers, want_numbers = numbers(ours, header, prefix), numbers(theirs, header, prefix)
    have_version, want_version = version(have_numbers, prefix), version(want_numbers, prefix)
    if want_version > have_version:
        print(f"{header}: NVIDIA's has version {want_version}, ours {have_version}: not compared")
        return []
    mine, other = read(ours, header, prefix), read(theirs, header, prefix)
    wrong = []
    have, want = functions(mine, prefix), functions(other, prefix)
    for name in want:
        if name not in have:
            wrong.append(f"{header}: {name} is missing")
        elif have[name] != want[name]:
            wrong.append(f"{header}: {name} has {have[name]}, NVIDIA's {want[name]}")
    names, sizes = enumerators(other), types(other, prefix)
    if want_version == have_version:
        wrong += [f"{header}: {name} is not NVIDIA's" for name in have if name not in want]
        wrong += [f"{header}: {name} is {have_numbers.get(name)}, NVIDIA's {value}" for name, value in want_numbers.items()
                  if have_numbers.get(name) != value]
    else:  # there may be more knobs
        names = [name for name in names if not re.search("_COUNTS?$", name)]
    wrong += [f"{header}: {name} is missing" for name in set(names) - set(enumerators(mine))]
    wrong += [f"{header}: {name} is missing" for name in set(sizes) - set(types(mine, prefix))]
    if not wrong:
        for a, b in zip(answers(ours, header, names, sizes), answers(theirs, header, names, sizes)):
            if a != b:
                wrong.append(f"{header}: {a}, NVIDIA's {b}")
    print(f"{header}: {len(functions(other, prefix))} functions, {len(names)} enumerators, {len(sizes)} types compared")
    return wrong


def main(argv):
    ours, library, headers = argv[1], argv[2], argv[3:]
    prefix = "cublas" if library == "cublasLt" else library  # it is in the names of headers, functions and types
    toolkit = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
    own = os.environ.get(f"{library.upper()}_HEADER_FOLDER")
    wrong = states_of_kernels(ours) if library == "curand" else []
    for header in headers:
        wrong += compile_alone(ours, header)
        if own and not wrong:
            wrong += compare([ours], [own, ours], header, prefix)
        elif not own and (toolkit / header).exists() and not wrong:
            if re.search(r"define CUDA_VERSION 13", (toolkit / "cuda.h").read_text()):
                wrong += compare([ours], [toolkit], header, prefix)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
