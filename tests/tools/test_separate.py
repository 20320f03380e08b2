# SPDX-License-Identifier: Apache-2.0
"""millrace cc: what several sources with relocatable device code share. Usage: test_separate.py MILLRACE [Relocatable]"""
import unittest

from test_compile import Programs

CHECK = """
#include <cstdio>
#include <cstdlib>
#define HOLDS(what) ((what) ? (void)0 : (printf("line %d: not so: %s\\n", __LINE__, #what), exit(1)))
"""


class Relocatable(Programs):
    def test_variables_of_one_source(self):
        """A kernel that uses one before the host does, and after."""
        source = CHECK + """
static __device__ int total;
static __constant__ int add[2] = { 1, 2 };
namespace { __device__ int hidden = 50; }
__global__ void NAME() { total += add[1]; hidden++; }
void NAME_all(int *out)
{
    int value = BASE, more[2] = { 3, 10 };
    HOLDS(cudaMemcpyToSymbol(total, &value, sizeof value) == cudaSuccess);
    NAME<<<1, 1>>>();
    HOLDS(cudaMemcpyToSymbol(add, more, sizeof more) == cudaSuccess);
    NAME<<<1, 1>>>();
    HOLDS(cudaMemcpyFromSymbol(out, total, sizeof *out) == cudaSuccess);
    HOLDS(cudaMemcpyFromSymbol(out + 1, hidden, sizeof *out) == cudaSuccess);
}
__global__ void NAME_after() { total = 0; hidden = 0; }
"""
        self.write({"one.cu": source.replace("NAME", "one").replace("BASE", "5"), "two.cu": source.replace("NAME", "two").replace("BASE", "1000"),
                    "main.cu": CHECK + """
void one_all(int *out);
void two_all(int *out);
int main()
{
    int out[4];
    one_all(out), two_all(out + 2);
    printf("%d %d %d %d\\n", out[0], out[1], out[2], out[3]);
    return 0;
}
"""})
        self.cc("-rdc=true", "one.cu", "two.cu", "main.cu", "-o", "program")
        self.assertEqual(self.run_it(), "17 52 1012 52\n")

    def test_weak_symbols(self):
        """Templates, inline functions and variables are in both sources and once in the program; a weak function gives way to a strong one."""
        self.write({"common.h": CHECK + """
template <class T> __device__ T doubled(T value) { static T calls = 0; return 2 * value + 0 * ++calls; }
__device__ inline int tripled(int value) { return 3 * value; }
inline __device__ int counter = 10;
template <class T> __global__ void fill(T *out, T value) { *out = doubled(value) + tripled(1); }
__device__ int which();
__device__ __attribute__((weak)) int fallback();
int of_other(int *);
""", "main.cu": """
#include "common.h"
__device__ __attribute__((weak)) int which() { return 1; }
__device__ __attribute__((weak)) int fallback() { return 7; }
__global__ void ask(int *out) { out[0] = which(); out[1] = fallback(); out[2] = ++counter; fill<int><<<1, 1>>>; }
int main()
{
    int *out;
    HOLDS(cudaMallocManaged(&out, 8 * sizeof *out) == cudaSuccess);
    ask<<<1, 1>>>(out);
    HOLDS(cudaDeviceSynchronize() == cudaSuccess);
    fill<int><<<1, 1>>>(out + 3, 20);
    HOLDS(cudaDeviceSynchronize() == cudaSuccess);
    HOLDS(of_other(out + 4) == 0);
    printf("%d %d %d %d %d %d\\n", out[0], out[1], out[2], out[3], out[4], out[5]);
    return 0;
}
""".replace(" fill<int><<<1, 1>>>;", ""), "other.cu": """
#include "common.h"
__device__ int which() { return 2; }
__global__ void count(int *out) { out[1] = ++counter; }
int of_other(int *out)
{
    fill<int><<<1, 1>>>(out, 30);
    count<<<1, 1>>>(out);
    return cudaDeviceSynchronize();
}
"""})
        self.cc("-rdc=true", "-O2", "main.cu", "other.cu", "-o", "program")
        self.assertEqual(self.run_it(), "2 7 11 43 63 12\n")


if __name__ == "__main__":
    unittest.main()
