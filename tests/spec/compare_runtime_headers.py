#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our headers of the runtime API with NVIDIA's, where those are on the machine.

    compare_runtime_headers.py COMPILER OUR_INCLUDE_FOLDER

As compare_headers.py: one program prints every enumerator, every flag, the size of every type and the offset of every
field, once against each; then everything that NVIDIA's headers declare must exist here, with the same parameters.
Exits with 77 (skip) where there is no such header or it has another version.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from c_names import declarations, fields, preprocess  # noqa: E402
from compare_headers import find_toolkit, parameter_types, run_probe  # noqa: E402

SKIP = 77
HEADERS = ("cuda_runtime.h", "cuda_profiler_api.h")
# What NVIDIA's headers have besides the interface: names of their own making.
PRIVATE = {"CUDART_DEVICE", "CUDARTAPI", "CUDARTAPI_CDECL", "CUDART_CB"}


class RuntimeNames:
    """All names of the runtime's headers that are theirs."""

    def __init__(self, compiler, folder):
        self.types, self.enumerators, self.functions, self.fields = {}, [], {}, {}
        self.macros = {}
        for header in HEADERS:
            self._read_header(compiler, folder, header)

    def _read_header(self, compiler, folder, header):
        text = preprocess(compiler, folder, header)
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
        for item in declarations(text):
            self._read(item)
        dump = subprocess.run([compiler, "-E", "-dM", "-x", "c", "-I", folder, "-"], input=f"#include <{header}>\n", check=True,
                              text=True, capture_output=True).stdout
        for name, body in re.findall(r"^#define ((?:cuda|CUDA)\w+) (.*)$", dump, re.M):
            if name not in PRIVATE and not name.startswith("CUDA_UUID"):
                self.macros[name] = body

    def _read(self, item):
        item = item.strip()
        function = re.search(r"(?:^|[\s*])(cuda[A-Z]\w+) ?\(([^{}]*)\)$", item)
        if function and item.startswith("extern"):
            self.functions[function[1]] = function[2]
            return
        match = re.match(r"(typedef )?(enum|struct|union) *(\w*) *\{(.*)\} *(\w*)$", item)
        if match:
            name = match[5] if match[1] else f"{match[2]} {match[3]}"
            if match[2] == "enum":
                self.enumerators += [e.split("=")[0].strip() for e in match[4].split(",") if e.strip()]
            else:
                self.fields[name] = fields(match[4])
            self.types[name] = True
        elif item.startswith("typedef ") and re.search(r"\bcuda\w+$", item):
            self.types[re.search(r"(\w+)$", item)[1]] = True


def is_public(name):
    word = name.split()[-1]
    return word.startswith("cuda") or word in ("dim3",) or re.fullmatch(r"(struct )?u?(char|short|int|long|longlong|float|double)[1-4](_16a|_32a)?", name)


def probe(ours, theirs):
    lines = ["#include <cuda_runtime.h>", "#include <stddef.h>", "#include <stdio.h>", "int main(void)", "{"]
    for name in sorted(set(ours.enumerators) & set(theirs.enumerators)):
        lines.append(f'    printf("{name} = %lld\\n", (long long){name});')
    for name in sorted(set(ours.macros) & set(theirs.macros)):
        if re.match(r"[(0-9]", theirs.macros[name]):
            lines.append(f'    printf("{name} = %lld\\n", (long long)({name}));')
    for name in sorted(filter(is_public, set(ours.types) & set(theirs.types))):
        if name in ("struct cudaArray", "struct cudaMipmappedArray"):
            continue
        lines.append(f'    printf("sizeof {name} = %zu, align %zu\\n", sizeof({name}), _Alignof({name}));')
        for field in theirs.fields.get(name, []):
            if field in ours.fields.get(name, []):
                lines.append(f'    printf("{name}.{field} at %zu, size %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
    return "\n".join(lines + ["    return 0;", "}"]) + "\n"


def missing(ours, theirs):
    found = [f"enumerator {n}" for n in theirs.enumerators if n not in set(ours.enumerators) and n.startswith("cuda")]
    found += [f"macro {n}" for n in theirs.macros if n not in ours.macros]
    found += [f"type {n}" for n in theirs.types if is_public(n) and n not in ours.types]
    found += [f"function {n}" for n in theirs.functions if n not in ours.functions]
    for name, paths in theirs.fields.items():
        if is_public(name) and "cuda" in name:
            found += [f"field {name}.{p}" for p in paths if p not in ours.fields.get(name, [])]
    return found


def main(argv):
    folder = find_toolkit()
    if folder is None or not (Path(folder) / "cuda_runtime_api.h").exists():
        print("no other cuda_runtime_api.h here")
        return SKIP
    ours, theirs = RuntimeNames(argv[1], argv[2]), RuntimeNames(argv[1], folder)
    if ours.macros.get("CUDART_VERSION") != theirs.macros.get("CUDART_VERSION"):
        print(f"the toolkit's header has version {theirs.macros.get('CUDART_VERSION')}")
        return SKIP
    problems = [f"missing: {line}" for line in missing(ours, theirs)]
    problems += [f"signature of {n}: ours ({ours.functions[n]}), theirs ({t})" for n, t in theirs.functions.items()
                 if n in ours.functions and parameter_types(t) != parameter_types(ours.functions[n])]
    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / "probe.c"
        source.write_text(probe(ours, theirs))
        mine, other = (run_probe(argv[1], f, source, work, tag) for f, tag in ((argv[2], "ours"), (folder, "theirs")))
    problems += [f"differs: ours '{a}', theirs '{b}'" for a, b in zip(mine, other) if a != b]
    print("\n".join(problems))
    print(f"{len(mine)} facts compared, {len(theirs.functions)} functions")
    if len(mine) < 1000 or len(theirs.functions) < 280:
        print("too few facts: the headers were not read")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
