# SPDX-License-Identifier: Apache-2.0
"""Makes libdevice.10.bc, the library of device functions that compilers of kernels link: bitcode of LLVM whose
functions are those of Millrace's headers (functions.txt).

    make.py CLANG TABLE BUILD OUTPUT

What a compiler adds for a program of its own is taken out: the flags of the module, which contradict those of the
module that the library is linked into, and the processor. So are the places of assembly in the source: they count from
the names of folders on, and the same bits shall come of each folder.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = """#include <cuda_fp16.h>
static __device__ inline double mr_rcp64h(double a)
{
    double result;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(result) : "d"(a));
    return result;
}
"""


def source(table):
    """The functions in CUDA C++."""
    text = HEAD
    for line in Path(table).read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, result, params, function = (cell.strip() for cell in line.split("|"))
        names = ", ".join(re.search(r"(\w+)$", param)[1] for param in params.split(",")) if params else ""
        call = function if "(" in function else f"{function}({names})"
        give = "" if result == "void" else "return "
        text += f'extern "C" __device__ {result} {name}({params}) {{ {give}{call}; }}\n'
    return text


def assembly(clang, path, build):
    """LLVM's text of the source file."""
    seen = [f"-include{build}/device/millrace_device.h", f"-I{build}/device/before", f"-isystem{build}/device/include",
            f"-isystem{build}/include", f"-include{build}/include/cuda_runtime.h"]
    said = ["-D__NVCC__=1", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0", "-D__CUDACC_VER_BUILD__=0"]
    how = ["-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "-std=c++17", "-Xclang", "-target-sdk-version=12.3",
           "-Wno-unused-command-line-argument", "--cuda-device-only", "--cuda-feature=+ptx83", "--cuda-gpu-arch=sm_75",
           "-O1", "-ffp-contract=fast", "-fdebug-compilation-dir=."]
    return subprocess.run(
        [clang, "--no-default-config", "-x", "cuda", *how, *said, *seen, "-S", "-emit-llvm", "-o", "-", path],
        check=True, stdout=subprocess.PIPE, text=True).stdout


def stripped(text):
    text = re.sub(r"^!(llvm\.module\.flags|llvm\.ident|nvvm\.annotations|nvvmir\.version) = .*\n", "", text, flags=re.M)
    own = "target-cpu|target-features|no-trapping-math|stack-protector-buffer-size|frame-pointer"
    text = re.sub(rf' "({own})"="[^"]*"', "", text)
    text = re.sub(r"^target triple = .*$", 'target triple = "nvptx64-nvidia-gpulibs"', text, flags=re.M)
    text = re.sub(r", !srcloc !\d+", "", text)
    text = re.sub(r"^; ModuleID = .*\n", "", text, flags=re.M)
    return re.sub(r"^source_filename = .*$", 'source_filename = "libdevice"', text, flags=re.M)


def main():
    clang, table, build, output = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "libdevice.cu"
        path.write_text(source(table))
        text = stripped(assembly(clang, str(path), build))
        subprocess.run([clang, "--no-default-config", "-x", "ir", "-c", "-emit-llvm", "-O0", "-Wno-override-module",
                        "--target=nvptx64-nvidia-cuda", "-o", output, "-"], input=text, text=True, check=True)


if __name__ == "__main__":
    main()
