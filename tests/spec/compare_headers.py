#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our cuda.h with NVIDIA's, where that is on the machine.

    compare_headers.py COMPILER OUR_INCLUDE_FOLDER

One program prints every enumerator, every numeric macro, the size of every type
and the offset of every field that both headers have. It is compiled twice, once
against each header; the outputs must be equal. Then everything that NVIDIA's
header declares must exist here too. Exits with 77 (skip) where there is no such
header: it is looked for in CUDA_HOME, CUDA_PATH and the usual folder.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from c_names import Names  # noqa: E402

SKIP = 77

# Names that NVIDIA's header has and this one leaves out, each with its reason.
LEFT_OUT = {}


def find_toolkit():
    for folder in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if folder and (Path(folder) / "include" / "cuda.h").exists():
            return str(Path(folder) / "include")
    return None


def version_of(names):
    return names.macros.get("CUDA_VERSION", "?")


def probe(ours, theirs):
    """The program: one printed line per fact."""
    lines = ["#include <cuda.h>", "#include <stddef.h>", "#include <stdio.h>", "int main(void)", "{"]
    for name in sorted(set(ours.enumerators) & set(theirs.enumerators)):
        lines.append(f'    printf("{name} = %lld\\n", (long long){name});')
    for name in sorted(set(ours.macros) & set(theirs.macros)):
        if theirs.macros[name]:
            lines.append(f'    printf("{name} = %lld\\n", (long long)({name}));')
    for name in sorted(set(ours.typedefs) & set(theirs.typedefs)):
        lines.append(f'    printf("sizeof {name} = %zu, align %zu\\n", sizeof({name}), _Alignof({name}));')
        for field in theirs.fields.get(name, []):
            if field in ours.fields.get(name, []):
                lines.append(f'    printf("{name}.{field} at %zu, size %zu\\n", offsetof({name}, {field}), '
                             f"sizeof((({name} *)0)->{field}));")
    lines += ["    return 0;", "}"]
    return "\n".join(lines) + "\n"


def run_probe(compiler, folder, source, work, tag):
    binary = Path(work) / tag
    subprocess.run([compiler, "-std=gnu17", "-w", "-O0", "-I", folder, "-x", "c", str(source), "-o",
                    str(binary)], check=True)
    return subprocess.run([str(binary)], check=True, text=True, capture_output=True).stdout.splitlines()


def missing(ours, theirs):
    """What NVIDIA's header declares and ours does not, one line per name."""
    found = []
    for kind, mine, other in (("enumerator", ours.enumerators, theirs.enumerators),
                              ("macro", ours.macros, theirs.macros),
                              ("type", ours.typedefs, theirs.typedefs),
                              ("function", ours.functions, theirs.functions)):
        found += [f"{kind} {n}" for n in other if n not in set(mine) and n not in LEFT_OUT]
    for name, paths in theirs.fields.items():
        found += [f"field {name}.{p}" for p in paths if p not in ours.fields.get(name, [])]
    return found


def parameter_types(text):
    """Parameter types of a prototype, without names and with one spelling of blanks."""
    types = []
    for parameter in text.split(","):
        parameter = re.sub(r"\s+", " ", parameter).strip()
        match = re.fullmatch(r"(.*[\s*])(\w+)", parameter)
        types.append(re.sub(r"\s*\*\s*", "*", (match[1] if match else parameter)).strip())
    return types


def other_signatures(ours, theirs):
    """Functions that both declare, with different parameters."""
    return [f"{name}: ours ({ours.functions[name]}), theirs ({text})"
            for name, text in theirs.functions.items()
            if name in ours.functions and parameter_types(text) != parameter_types(ours.functions[name])]


def compare(compiler, ours_folder, theirs_folder):
    status = 0
    for defines in ((), ("CUDA_API_PER_THREAD_DEFAULT_STREAM",), ("__CUDA_API_VERSION_INTERNAL",)):
        ours = Names(compiler, ours_folder, defines=defines)
        theirs = Names(compiler, theirs_folder, defines=defines)
        if version_of(ours) != version_of(theirs):
            print(f"the toolkit's header has version {version_of(theirs)}, ours {version_of(ours)}")
            return SKIP
        lost = missing(ours, theirs)
        for line in lost:
            print(f"missing ({' '.join(defines) or 'plain'}): {line}")
        changed = other_signatures(ours, theirs)
        for line in changed:
            print(f"signature ({' '.join(defines) or 'plain'}): {line}")
        status |= bool(lost or changed)
    pointers = [Names(compiler, folder, "cudaTypedefs.h", ("__CUDA_API_VERSION_INTERNAL",)).pointers
                for folder in (ours_folder, theirs_folder)]
    for name in sorted(set(pointers[1]) - set(pointers[0])):
        print(f"missing: function pointer type {name}")
        status = 1
    ours, theirs = Names(compiler, ours_folder), Names(compiler, theirs_folder)
    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / "probe.c"
        source.write_text(probe(ours, theirs))
        mine = run_probe(compiler, ours_folder, source, work, "ours")
        other = run_probe(compiler, theirs_folder, source, work, "theirs")
    for a, b in zip(mine, other):
        if a != b:
            print(f"differs: ours '{a}', theirs '{b}'")
            status = 1
    print(f"{len(mine)} facts compared, {len(theirs.functions)} functions declared")
    if len(mine) < 1000 or len(mine) != len(other):
        print("too few facts: the headers were not read")
        status = 1
    return int(status)


def main(argv):
    theirs = find_toolkit()
    if theirs is None:
        print("no other cuda.h here")
        return SKIP
    return compare(argv[1], argv[2], theirs)


if __name__ == "__main__":
    sys.exit(main(sys.argv))
