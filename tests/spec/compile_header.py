#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cuda.h compiles alone: in C11 to C23 and C++11 to C++20, under every compiler found.

    compile_header.py OUR_INCLUDE_FOLDER

The program below uses the plain names, so it also shows that they lead to the
current binary interface, with and without per-thread default streams.
"""

import shutil
import subprocess
import sys

PROGRAM = """
#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaTypedefs.h>
int main(void)
{
    CUdeviceptr address = 0;
    CUcontext context = 0;
    float time = 0;
    size_t size = sizeof(CUtensorMap);
    CUgraphNodeParams node;
    node.type = CU_GRAPH_NODE_TYPE_KERNEL;
    node.kernel.func = 0;
    (void)node;
    PFN_cuMemAlloc_v3020 allocate = cuMemAlloc;
    PFN_cuStreamQuery query = cuStreamQuery;
    (void)allocate, (void)query;
    return cuMemAlloc(&address, size) + cuCtxCreate(&context, NULL, 0, 0) + cuMemcpyHtoD(address, "", 1) +
           cuEventElapsedTime(&time, 0, 0) + cuEventRecord(0, CU_STREAM_LEGACY) + cuCtxSynchronize() +
           cuGetProcAddress("cuInit", 0, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, 0) + cuProfilerStop();
}
"""

COMPILERS = [
    (("cc", "gcc", "clang", "clang-19"), "c", ("c11", "c17", "gnu17", "c2x")),
    (("c++", "g++", "clang++", "clang++-19"), "c++", ("c++11", "c++14", "c++17", "c++20")),
]
DEFINES = ([], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"])


def main(argv):
    failed = tried = 0
    for names, language, standards in COMPILERS:
        for name in filter(shutil.which, names):
            for standard in standards:
                for defines in DEFINES:
                    command = [name, f"-std={standard}", "-x", language, "-fsyntax-only", "-Wall",
                               "-Wextra", "-Werror", "-I", argv[1], *defines, "-"]
                    result = subprocess.run(command, input=PROGRAM, text=True, capture_output=True)
                    tried += 1
                    if result.returncode != 0:
                        failed += 1
                        print(" ".join(command), result.stderr, sep="\n")
    print(f"{tried} compilations, {failed} failed")
    return 1 if failed or tried == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
