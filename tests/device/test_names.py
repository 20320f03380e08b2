# SPDX-License-Identifier: Apache-2.0
"""Every function that a CUDA toolkit's headers declare for kernels has its name in ours, in both halves of a
compilation, and so has every constant. Usage: test_names.py NVCC Skipped where there is no toolkit: CUDA_HOME, or
/usr/local/cuda."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = ("crt/math_functions.h", "crt/device_functions.h", "crt/device_double_functions.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "sm_20_intrinsics.h",
           "sm_30_intrinsics.h", "sm_32_intrinsics.h", "sm_61_intrinsics.h", "device_atomic_functions.h", "sm_20_atomic_functions.h",
           "sm_32_atomic_functions.h", "sm_60_atomic_functions.h", "crt/sm_70_rt.h", "crt/sm_80_rt.h", "crt/sm_90_rt.h", "vector_functions.h",
           "cuComplex.h", "texture_indirect_functions.h",
           "surface_indirect_functions.h", "curand_uniform.h", "curand_normal.h", "curand_lognormal.h", "math_constants.h")
# What a header declares and a kernel does not call: other compilers' names, helpers, names withdrawn long ago.
INNER = re.compile(r"_Pow_int|_[A-Z]?[a-z]*(Cosh|Sinh|Sinx|Log|sign|Dsign|int|hypot|hypotf)$|__(FLOAT|DOUBLE)_BITS|__cmath_power|__pow_helper|__libcpp_.*|__nv_.*|__is(finite|inf|nan)[dfl]?$"
                   r"|__finite[fl]?|__signbit[dfl]?|__pm\d|__declspec|__DEPRECATED__|d(add|sub|mul)|fdivide|(u?int|u?ll|float|double)2(u?int|u?ll|float|double)"
                   r"|syncthreads_.*|_?curand_box_muller.*|__attribute__|__NV_ATOMIC_.*|__u128Atomic.*|operator|defined|__CUDA.*|_curand_uniform(4|_double_hq)")
# Missing: tests/declared/missing.txt.
MISSING = re.compile(r"__cvta_(generic_to_)?grid_constant.*")
DECLARED = re.compile(r"(?:_DECL__|__device__|__HOST_DEVICE_FP8_DECL__|QUALIFIERS|__STATIC_INLINE__)[^;{}()]*?(?:__attribute__\(\([^)]*\)\)[^;{}()]*?)*\b([A-Za-z_]\w*)\s*\(")


def declared(path: pathlib.Path) -> set[str]:
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(errors="replace"), flags=re.S)
    if path.name == "math_constants.h":
        return set(re.findall(r"#define\s+(CUDART_\w+)", text))
    return set(DECLARED.findall(re.sub(r"^\s*#[^\n]*", "", text.replace("\\\n", " "), flags=re.M)))


def main() -> int:
    toolkit = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
    if not (toolkit / "crt/math_functions.h").exists():
        print("no CUDA toolkit here")
        return 77
    names = set().union(*(declared(toolkit / header) for header in HEADERS if (toolkit / header).exists()))
    names = {name for name in names if not INNER.match(name) and not MISSING.match(name)}
    assert len(names) > 1000, len(names)
    source = "".join(f"#include <{header}>\n" for header in ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuComplex.h", "curand_kernel.h", "math_constants.h", "curand_uniform.h", "curand_normal.h",
                                                           "curand_lognormal.h", "curand_poisson.h", "curand_philox4x32_x.h", "curand_mrg32k3a.h"))
    for number, name in enumerate(sorted(names)):
        if name.startswith("CUDART_"):
            source += f"#ifndef {name}\n#error there is no {name}\n#endif\n"
        else:
            source += f"namespace name{number} {{ using ::{name}; }}\n"
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "names.cu").write_text(source)
        done = subprocess.run([pathlib.Path(sys.argv[1]).resolve(), "-c", "-arch=sm_90", "names.cu"], cwd=folder, capture_output=True, text=True, check=False)
    print(f"{len(names)} names looked for")
    print("\n".join(line for line in done.stderr.splitlines() if "error" in line))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
