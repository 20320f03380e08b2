# SPDX-License-Identifier: Apache-2.0
"""The host's functions of mathematics that CUDA C++ adds give what NVIDIA's own give, to within the error that either
may have.
Usage: test_host_math.py NVCC_SHIM BUILD SOURCE GOLDEN
GOLDEN is the output of the same program, compiled by nvcc 13.0 on Debian 12."""
import os
import pathlib
import subprocess
import sys
import tempfile

# Units in the last place of the result; those of double precision that NVIDIA's manual allows, and functions of the C
# library, whose versions differ. All others are the same to the bit.
ULPS = {"rcbrt": 1, "sinpi": 2, "cospi": 2, "sincospi_s": 2, "sincospi_c": 2, "erfinv": 8, "erfcinv": 8, "erfcx": 4, "normcdf": 5, "normcdfinv": 8}
LIBRARY = {name: 2 for function in ("exp10", "j0", "j1", "y0", "y1", "jn", "yn", "sincos") for name in (function, f"{function}f", f"{function}_of_float", f"{function}_of_float_s", f"{function}_of_float_c")}


def place(bits: int, width: int) -> int:
    """Where a number stands among all of its type."""
    sign = 1 << (width - 1)
    return bits if bits < sign else sign - bits


def is_nan(bits: int, width: int) -> bool:
    infinity = 0x7f800000 if width == 32 else 0x7ff0000000000000
    return bits & ((1 << (width - 1)) - 1) > infinity


def main() -> int:
    shim, build, source, golden = (pathlib.Path(path).resolve() for path in sys.argv[1:5])
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        subprocess.run([shim, source, "-o", program], check=True)
        shown = subprocess.run([program, "8"], env={**os.environ, "LD_LIBRARY_PATH": str(build / "lib")}, capture_output=True, text=True, check=True).stdout.splitlines()
    right = golden.read_text().splitlines()
    assert len(right) > 1000 and len(shown) == len(right), (len(shown), len(right))
    wrong = 0
    for ours, theirs in zip(shown, right):
        *call, result = ours.split()
        *other_call, other = theirs.split()
        assert call == other_call, (ours, theirs)
        width = 32 if call[1] == "f" else 64
        a, b = int(result, 16), int(other, 16)
        near = abs(place(a, width) - place(b, width)) <= ULPS.get(call[0], LIBRARY.get(call[0], 0)) and (
            a == b or place(a, width) != 0
        )
        if not near and not (is_nan(a, width) and is_nan(b, width)):
            print(f"{ours}, and {theirs} with nvcc")
            wrong += 1
    print(f"{len(right)} calls, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
