#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our headers of CUPTI with NVIDIA's, where those are on the machine.

    compare_cupti_header.py COMPILER OUR_INCLUDE_FOLDER

One program prints every enumerator and numeric macro of our headers, the size of every structure and the offset of
every field, and the size of the parameters of every call. It is compiled twice, once against each; the outputs must be
equal. So what we declare NVIDIA declares, too, and in the same way. Events, metrics and sampling have no declarations
here. Exits with 77 (skip) where there are no such headers, or they are of another release.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from c_names import declarations, fields, preprocess  # noqa: E402
from compare_headers import find_toolkit, run_probe  # noqa: E402

SKIP = 77
HEADERS = ("cupti.h",)
OURS = re.compile(r"^#define (CUPTI_\w+|CUpti_\w+|ACTIVITY_RECORD_ALIGNMENT) (.*)$", re.M)
NOT_VALUES = {"CUPTI_PACKED"}
# Of functions that Millrace has and the 13.0 toolkit's generated header leaves out.
LEFT_OUT = re.compile(r"cu(GL|EGL|VDPAU|Graphics(GL|EGL|VDPAU))\w*_params$|cuProfilerInitialize_params$|cudaGetExportTable_v13000_params$")


def names_of(compiler, folder, header):
    """(enumerators, {structure: fields}) that the header declares."""
    enumerators, structures = [], {}
    text = re.sub(r"^#.*$", "", preprocess(compiler, folder, header), flags=re.M)
    for item in declarations(text):
        match = re.match(r"\s*typedef (enum|struct|union)\b[^{]*\{(.*)\} *(\w+)$", item.strip(), re.S)
        if not match or not (match[3].startswith("CU") and "pti" in match[3].lower() or match[3].endswith("_params")):
            continue
        if match[1] == "enum":
            enumerators += [e.split("=")[0].strip() for e in match[2].split(",") if e.strip()]
        else:
            structures[match[3]] = fields(match[2])
    return enumerators, structures


def main(argv):
    if len(argv) != 3:
        sys.exit(__doc__)
    compiler, ours = argv[1:]
    theirs = find_toolkit()
    if theirs is None or not (Path(theirs) / "cupti.h").exists():
        print("there are no headers of NVIDIA's CUPTI here")
        return SKIP
    if "CUPTI_API_VERSION 130001" not in (Path(theirs) / "cupti_version.h").read_text():
        print("the headers of NVIDIA's CUPTI are of another release")
        return SKIP
    lines = [f"#include <{h}>" for h in HEADERS] + ["#include <stddef.h>", "#include <stdio.h>", "int main(void)", "{"]
    facts = 0
    for header in HEADERS:
        enumerators, structures = names_of(compiler, ours, header)
        lines += [f'    printf("{n} = %lld\\n", (long long){n});' for n in enumerators]
        for name, members in structures.items():
            if LEFT_OUT.match(name):
                continue
            lines.append(f'    printf("{name}: %zu\\n", sizeof({name}));')
            if name.endswith("_params"):  # some parameters have other names there
                members = []
            lines += [f'    printf("{name}.{f}: %zu\\n", offsetof({name}, {f}));' for f in members if not re.search(r"\.\d+$", f)]  # bit fields have no place
            facts += 1 + len(members)
        facts += len(enumerators)
    dump = subprocess.run([compiler, "-E", "-dM", "-x", "c", "-I", ours, "-"], input="#include <cupti.h>\n", check=True, text=True, capture_output=True).stdout
    macros = [n for n, _ in OURS.findall(dump) if n not in NOT_VALUES]
    lines += [f'    printf("{n} = %lld\\n", (long long)({n}));' for n in macros]
    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / "probe.c"
        source.write_text("\n".join(lines + ["    return 0;", "}"]) + "\n")
        mine, other = (run_probe(compiler, folder, source, work, tag) for folder, tag in ((ours, "ours"), (theirs, "theirs")))
    wrong = [f"ours {a}, NVIDIA's {b}" for a, b in zip(mine, other) if a != b]
    print("\n".join(wrong + [f"{facts} facts, {len(wrong)} differ"]))
    return 1 if wrong or facts < 2000 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
