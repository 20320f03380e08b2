# SPDX-License-Identifier: Apache-2.0
"""Constants and types of a CUDA toolkit's headers: the bits of math_constants.h, the values of enumerators, size and
alignment of vector types. Usage: list_constants.py INCLUDE_FOLDER >constants.txt

By hand, like list_toolkit.py; test_constants.py holds ours against the list."""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ENUMS = ("library_types.h", "device_types.h", "texture_types.h", "surface_types.h")
TYPES = "char uchar short ushort int uint long ulong longlong ulonglong float double".split()


def bits_of(text: str) -> tuple[str, int] | None:
    """The type and the bits of a constant's definition."""
    text = text.strip().strip("()").strip()
    if found := re.match(r"__(int_as_float|longlong_as_double)\s*\(\s*(0x[0-9a-fA-F]+)", text):
        return ("float" if "float" in found.group(1) else "double"), int(found.group(2), 16)
    if found := re.fullmatch(r"([-+]?[\d.]+(?:[eE][-+]?\d+)?)([fF]?)", text):
        if not re.search(r"[.eE]", found.group(1)):
            return "int", int(found.group(1))
        kind, form, whole = ("float", "<f", "<I") if found.group(2) else ("double", "<d", "<Q")
        return kind, struct.unpack(whole, struct.pack(form, float(found.group(1))))[0]
    return None


def main() -> None:
    top = pathlib.Path(sys.argv[1])
    text = re.sub(r"/\*.*?\*/", "", (top / "math_constants.h").read_text(), flags=re.S)
    lines = []
    for name, value in re.findall(r"#define\s+(CUDART_\w+)\s+([^\n]+)", text):
        found = bits_of(value)
        if found:
            print(f"math_constants.h {found[0]} {name} {found[1]:#x}")
        else:
            lines.append(f'printf("math_constants.h whole {name} %#llx\\n", (unsigned long long){name});')
    sys.stdout.flush()
    for header in ENUMS:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (top / header).read_text(), flags=re.S)
        for body in re.findall(r"\benum\b[^{};()]*\{([^}]*)\}", text):
            body = re.sub(r"^\s*#[^\n]*", "", body, flags=re.M)
            lines += [f'printf("{header} enum {name} %#llx\\n", (unsigned long long){name});' for name in re.findall(r"\b([A-Za-z_]\w*)\s*(?:=[^,]*)?(?:,|$)", body.strip())]
    names = [f"{kind}{count}" for kind in TYPES for count in range(1, 5)] + ["dim3"]
    names += [f"{kind}4_{align}a" for kind in ("long", "ulong", "longlong", "ulonglong", "double") for align in (16, 32)]
    lines += [f'printf("vector_types.h size {name} %#zx\\nvector_types.h alignment {name} %#zx\\n", sizeof({name}), alignof({name}));' for name in names]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "values.cpp"
        source.write_text("#include <cuda_runtime.h>\n#include <library_types.h>\n#include <math_constants.h>\n#include <cstdio>\nint main() {\n" + "\n".join(lines) + "\n}\n")
        subprocess.run(["g++", "-w", f"-I{top}", source, "-o", source.with_suffix("")], check=True)
        sys.stdout.write(subprocess.run([source.with_suffix("")], capture_output=True, text=True, check=True).stdout)


main()
