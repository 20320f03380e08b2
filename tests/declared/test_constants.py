# SPDX-License-Identifier: Apache-2.0
"""Constants of mathematics to the bit, enumerators, and sizes of vector types are those of CUDA 13.0's headers
(constants.lst, which list_constants.py makes), in both halves. Usage: test_constants.py NVCC"""
import pathlib
import subprocess
import sys
import tempfile

LIST = pathlib.Path(__file__).resolve().parent / "constants.lst"
WORD = {"float": "unsigned int", "double": "unsigned long long"}


def check(line: str) -> str:
    """A line of C++ that is an error if the row of the list is not so."""
    _, kind, name, value = line.split()
    if kind in ("size", "alignment"):
        return f'static_assert({"sizeof" if kind == "size" else "alignof"}({name}) == {value}, "{line}");'
    if kind in WORD:
        return f'static_assert(__builtin_bit_cast({WORD[kind]}, ({kind}){name}) == {value} && sizeof({name}) == sizeof({kind}), "{line}");'
    return f'static_assert((unsigned long long){name} == {value}, "{line}");'


def main() -> int:
    rows = LIST.read_text().splitlines()
    assert len(rows) > 250, len(rows)
    source = "#include <math_constants.h>\n#include <library_types.h>\n" + "\n".join(map(check, rows)) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "constants.cu").write_text(source)
        done = subprocess.run([pathlib.Path(sys.argv[1]).resolve(), "-c", "constants.cu", "-o", "constants.o"], cwd=folder, capture_output=True, text=True, check=False)
    print(f"{len(rows)} constants and sizes")
    print("\n".join(line for line in done.stderr.splitlines() if "error" in line))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
