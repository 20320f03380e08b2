#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our nvml.h with NVIDIA's, where that is on the machine.

    compare_nvml_header.py COMPILER OUR_INCLUDE_FOLDER

As compare_headers.py: one program prints every enumerator, every numeric macro, the size of every type and the offset
of every field, once against each; then everything that NVIDIA's header declares must exist here, with the same
parameters. NVIDIA's is looked for in NVML_HEADER_FOLDER and in the toolkit (PyPI has it: nvidia-nvml-dev). Exits with
77 (skip) where there is none, or it has another version.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from c_names import declarations, fields, preprocess  # noqa: E402
from compare_headers import find_toolkit, parameter_types, run_probe  # noqa: E402

SKIP = 77
HEADER = "nvml.h"
# What NVIDIA's header has besides the interface.
PRIVATE = re.compile(r"NVML_MCDM_SUPPORT|NVML_VGPU_(PGPU_)?VIRTUALIZATION_CAP_MIGRATION$|.*_FMT$|__nvml")


class Names:
    """All names of the header."""

    def __init__(self, compiler, folder):
        self.types, self.enumerators, self.functions, self.fields = [], [], {}, {}
        text = re.sub(r"^#.*$", "", preprocess(compiler, folder, HEADER), flags=re.M)
        for item in declarations(text):
            self._read(item.strip())
        dump = subprocess.run([compiler, "-E", "-dM", "-x", "c", "-I", folder, "-"], input=f"#include <{HEADER}>\n", check=True,
                              text=True, capture_output=True).stdout
        self.macros = {n: b for n, b in re.findall(r"^#define ((?:nvml|NVML|MAX_CLK|INVALID_GPU)\w*) (.*)$", dump, re.M) if not PRIVATE.match(n)}

    def _read(self, item):
        function = re.search(r"(?:^|[\s*])(nvml[A-Z]\w+) ?\(([^{}]*)\)$", item)
        if function and not item.startswith("typedef"):
            self.functions[function[1]] = function[2]
            return
        match = re.match(r"typedef (enum|struct|union) *\w* *\{(.*)\} *([\w, ]+)$", item, re.S)
        if match:
            for name in re.split(r", *", match[3]):
                self.types.append(name)
                if match[1] != "enum":
                    arrays = re.findall(r"\} (\w+)\[", match[2])  # of structures: their first element stands for all
                    self.fields[name] = [re.sub(rf"^({'|'.join(arrays)})\.", r"\1[0].", f) if arrays else f for f in fields(match[2])]
            if match[1] == "enum":
                self.enumerators += [e.split("=")[0].strip() for e in re.split(r",(?![^(]*\))", match[2]) if e.strip()]
        elif item.startswith("typedef ") and re.search(r"\bnvml\w+$", item):
            self.types.append(re.search(r"(\w+)$", item)[1])


def probe(ours, theirs):
    lines = [f"#include <{HEADER}>", "#include <stddef.h>", "#include <stdio.h>", "int main(void)", "{"]
    for name in sorted(set(ours.enumerators) & set(theirs.enumerators)):
        lines.append(f'    printf("{name} = %lld\\n", (long long){name});')
    for name in sorted(set(ours.macros) & set(theirs.macros)):
        if re.match(r"[(0-9N]", theirs.macros[name]) and not re.match(r"nvml\w+$", theirs.macros[name]):
            lines.append(f'    printf("{name} = %lld\\n", (long long)({name}));')
    for name in sorted(set(ours.types) & set(theirs.types)):
        lines.append(f'    printf("sizeof {name} = %zu, align %zu\\n", sizeof({name}), _Alignof({name}));')
        for field in theirs.fields.get(name, []):
            if field in ours.fields.get(name, []):
                lines.append(f'    printf("{name}.{field} at %zu, size %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
    return "\n".join(lines + ["    return 0;", "}"]) + "\n"


def missing(ours, theirs):
    found = [f"enumerator {n}" for n in theirs.enumerators if n not in set(ours.enumerators)]
    found += [f"macro {n}" for n in theirs.macros if n not in ours.macros]
    found += [f"type {n}" for n in theirs.types if n not in ours.types]
    found += [f"function {n}" for n in theirs.functions if n not in ours.functions]
    for name, paths in theirs.fields.items():
        found += [f"field {name}.{p}" for p in paths if p not in ours.fields.get(name, [])]
    return found


def main(argv):
    folder = os.environ.get("NVML_HEADER_FOLDER") or find_toolkit()
    if folder is None or not (Path(folder) / HEADER).exists():
        print(f"no other {HEADER} here")
        return SKIP
    ours, theirs = Names(argv[1], argv[2]), Names(argv[1], folder)
    if ours.macros.get("NVML_API_VERSION") != theirs.macros.get("NVML_API_VERSION") or "nvmlDeviceGetNvLinkInfo" not in theirs.functions:
        print(f"the other header has version {theirs.macros.get('NVML_API_VERSION')}")
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
    if len(mine) < 1500 or len(theirs.functions) < 370:
        print("too few facts: the headers were not read")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
