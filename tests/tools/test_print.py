# SPDX-License-Identifier: Apache-2.0
"""What lanes of a warp print together stays together, as recorded on an H200, and each type of argument arrives: a kernel
compiled by nvcc, as it is, with debug information, and relocatable. Usage: test_print.py NVCC_SHIM BUILD"""
import os
import pathlib
import subprocess
import sys
import tempfile

SHIM, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])

SOURCE = r"""#include <cstdio>
__global__ void line() { int t = threadIdx.x; if (t == 0) printf("a:"); printf("%d ", t); if (t == 0) printf("\n"); }
__global__ void part()
{
    int t = threadIdx.x;
    if (t == 3) printf("[");
    printf("%d ", t);
    if (t == 3) printf("]\n"); else printf(".");
}
__global__ void rows()
{
    int t = threadIdx.x;
    for (int i = 0; i < 2; i++) {
        if (t == 0) printf("row %d:", i);
        printf(" %d", t);
        if (t == 0) printf("\n");
    }
}
__global__ void types(float f)
{
    short h = -3;
    struct { int a; double d; } by_hand = {7, 1.5};
    printf("%f %g %c %hd %llu %d %s %5.2f|%%\n", f, 2.5, 'x', h, 1ull << 40, true, "text", (double)f);
    std::printf("%s %ld\n", "std", -5L);
    vprintf("%d %f\n", (const char *)&by_hand);
    printf("none\n");
}
int main()
{
    line<<<1, 16>>>();
    part<<<1, 8>>>();
    types<<<1, 1>>>(1.25f);
    rows<<<1, 8>>>();
    cudaError_t status = cudaDeviceSynchronize();
    printf("%d\n", status);
    return status;
}
"""

WANTED = """a:0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 
[0 1 2 3 4 5 6 7 ]
.......1.250000 2.5 x -3 1099511627776 1 text  1.25|%
std -5
7 1.500000
none
row 0: 0 1 2 3 4 5 6 7
row 1: 0 1 2 3 4 5 6 7
0
"""


def main() -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib")}
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "print.cu", pathlib.Path(folder) / "print"
        source.write_text(SOURCE)
        for options in ([], ["-G"], ["-rdc=true"]):
            subprocess.run([SHIM, *options, source, "-o", program], check=True)
            printed = subprocess.run([program], env=environment, check=True, capture_output=True, text=True).stdout
            if printed != WANTED:
                sys.exit(f"nvcc {' '.join(options)}: {printed!r}, not {WANTED!r}")
    print("3 passed, 0 failed")


main()
