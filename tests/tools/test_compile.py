# SPDX-License-Identifier: Apache-2.0
"""millrace cc: whole programs, compiled, linked and run. Usage: test_compile.py MILLRACE
[Examples|Languages|Options]"""
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MILLRACE = pathlib.Path(sys.argv.pop(1)).resolve()
CCCL = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include" / "cccl"
EXAMPLES = pathlib.Path(os.environ["MR_SOURCE_ROOT"]) / "examples" / "cuda"

HALVES = {
    "kernels.h": "int twice_on_device(int value);\n",
    "kernels.cu": """
#include <cuda_runtime.h>
#include "kernels.h"
static __global__ void twice(int *p) { *p *= 2; }
int twice_on_device(int value)
{
    int *p, result = -1;
    if (cudaMallocManaged(&p, sizeof *p) != cudaSuccess)
        return -1;
    *p = value;
    twice<<<1, 1>>>(p);
    if (cudaDeviceSynchronize() == cudaSuccess)
        result = *p;
    cudaFree(p);
    return result;
}
""",
    "main.cpp": """
#include <cuda_runtime_api.h>
#include <iostream>
#include "kernels.h"
int main()
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count < 1)
        return 2;
    std::cout << twice_on_device(21) << std::endl;
    return 0;
}
""",
}


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def do(self, *command, expect: int = 0, **environment: str) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **environment},
            timeout=300,
        )
        self.assertEqual(done.returncode, expect, f"{command}\n{done.stdout}{done.stderr}")
        return done

    def cc(self, *words, **more) -> subprocess.CompletedProcess:
        return self.do(MILLRACE, "cc", *words, **more)

    def run_it(self, program: str = "./program", expect: int = 0) -> str:
        return self.do(MILLRACE, "run", "--", program, expect=expect).stdout

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.path / name).write_text(text)

    def example(self, name: str, *options: str) -> str:
        self.cc(EXAMPLES / f"{name}.cu", "-o", "program", *options)
        self.assertEqual([path.name for path in self.path.iterdir()], ["program"])
        return self.run_it()


class Examples(Programs):
    def test_hello(self):
        out = self.example("hello")
        self.assertIn("hello from thread 1 of block 1", out)
        self.assertIn("1000 sums are right", out)

    def test_examples(self):
        for name in ("streams", "graphs", "managed", "callbacks", "ipc", "textures", "priorities", "pipeline", "pools", "capture", "symbols", "pitched",
                     "surfaces", "occupancy", "errors", "mapped", "ring", "squares"):
            with self.subTest(name):
                self.assertIn(f"{name}: ", self.example(name, "-O2"))

    def test_several_devices(self):
        self.cc(EXAMPLES / "devices.cu", "-o", "program")
        self.assertIn("there is one device", self.do(MILLRACE, "run", "--", "./program", MILLRACE_DEVICES="1").stdout)
        self.assertIn("devices: 2", self.do(MILLRACE, "run", "--", "./program", MILLRACE_DEVICES="2").stdout)

    def test_plugins(self):
        source = EXAMPLES / "plugin" / "plugin.cu"
        self.cc("-shared", "-Xcompiler", "-fPIC", "-cudart", "shared", "-DOPERAND=5", "-DOPERATOR=+", source, "-o", "libadd.so")
        self.cc("-shared", "-Xcompiler", "-fPIC", "-cudart", "static", "-DOPERAND=3", "-DOPERATOR=*", source, "-o", "libmultiply.so")
        self.cc("-cudart", "shared", EXAMPLES / "plugin" / "main.cpp", "-o", "program")
        done = self.do(MILLRACE, "run", "--", "./program", "./libadd.so", "./libmultiply.so")
        values = [1, 2, 3, 4]
        for _ in range(3):
            values = [(value + 5) * 3 for value in values]
        self.assertEqual(done.stdout, f"plugin: {' '.join(map(str, values))}\n")

    def test_cooperative(self):
        self.assertIn("add up to", self.example("cooperative", "-arch=sm_80", "-std=c++20"))

    def test_threads(self):
        for options in (("--default-stream", "per-thread", "--extended-lambda"), ("-default-stream=per-thread", "-cudart", "shared", "-g", "-lineinfo")):
            with self.subTest(options):
                self.assertIn("8 threads", self.example("threads", *options))

    def test_relocatable(self):
        sources = EXAMPLES / "relocatable" / "main.cu", EXAMPLES / "relocatable" / "table.cu"
        self.cc("-rdc=true", *sources, "-o", "program")
        self.assertIn("32 values", self.run_it())
        self.cc("-dc", *sources)
        self.cc("main.o", "table.o", "-o", "second")
        self.assertIn("32 values", self.run_it("./second"))
        self.cc("--lib", "table.o", "-o", "libtable.a")
        self.cc("main.o", "-L.", "-ltable", "-o", "third")
        self.assertIn("32 values", self.run_it("./third"))
        self.cc("main.o", "libtable.a", "-arch=sm_75", "-o", "fourth")
        self.assertIn("32 values", self.run_it("./fourth"))
        self.cc("-dlink", "main.o", "table.o", "-o", "linked.o")
        self.assertIn("look_up", self.cc("-c", sources[0], "-o", "alone.o", expect=1).stderr)


class Languages(Programs):
    def test_headers_on_the_host(self):
        self.write({"host.cu": """
#include <cuda.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuComplex.h>
#include <math_constants.h>
#include <cooperative_groups.h>
#include <device_launch_parameters.h>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
__global__ void k(__half *h, __nv_bfloat16 *b, cuFloatComplex *c)
{
    h[0] = __hadd(h[0], h[0]);
    b[0] = b[0] * b[0];
    c[0] = cuCmulf(c[0], c[0]);
}
int main()
{
    __half *h;
    __nv_bfloat16 *b;
    cuFloatComplex *c, z = make_cuFloatComplex(1, 2);
    cudaMallocManaged(&h, sizeof *h);
    cudaMallocManaged(&b, sizeof *b);
    cudaMallocManaged(&c, sizeof *c);
    *h = __float2half(1.5f);
    *b = __float2bfloat16(1.5f);
    *c = cuCaddf(z, z);
    k<<<1, 1>>>(h, b, c);
    cudaDeviceSynchronize();
    std::printf("%g %g %g %g %g %d\\n", __half2float(*h), __bfloat162float(*b), cuCrealf(*c), cuCabsf(make_cuFloatComplex(3, 4)), std::max(1.0f, 2.0f) + max(1, 2) +
        fminf(3.0f, 4.0f) + std::abs(-1.5) + sqrtf(4.0f), (int)make_float4(1, 2, 3, 4).w);
    return 0;
}
"""})
        for options in ((), ("-std=c++20", "-O2", "-Xcompiler", "-Wall,-Wextra"), ("-std=c++11",)):
            self.assertEqual(self.cc("-arch=sm_80", *options, "host.cu", "-o", "program").stderr, "")
            self.assertEqual(self.run_it(), "3 2.25 -12 5 10.5 4\n")

    @unittest.skipUnless(CCCL.is_dir(), "NVIDIA's C++ headers are not here")
    def test_nvidias_headers(self):
        self.write({"cccl.cu": """
#include <cub/block/block_scan.cuh>
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
__global__ void scan(int *p)
{
    typedef cub::BlockScan<int, 128> Scan;
    __shared__ Scan::TempStorage room;
    cuda::std::array<int, 2> pair{ p[threadIdx.x], 1 };
    Scan(room).InclusiveSum(cuda::std::get<0>(cuda::std::make_tuple(pair[0] * pair[1], 2)), p[threadIdx.x]);
}
int main()
{
    thrust::device_vector<int> v(128, 3);
    scan<<<1, 128>>>(thrust::raw_pointer_cast(v.data()));
    std::printf("%d %d %d\\n", (int)v[0], (int)v[127], thrust::reduce(v.begin(), v.end()));
}
"""})
        self.cc("cccl.cu", "-I", CCCL, "-o", "program")
        self.assertEqual(self.run_it(), "3 384 24768\n")

    def test_assertions_of_release_builds(self):
        """With NDEBUG, CCCL's headers declare what a failed assertion calls, for both sides."""
        self.write({"release.cu": """
extern "C" {
__host__ __device__ void __assert_fail(const char *, const char *, unsigned, const char *) noexcept __attribute__((__noreturn__));
}
#ifdef AGAIN
#undef NDEBUG
#endif
#include <cassert>
#include <cstdio>
__host__ __device__ void both(int a) { a < 9 ? (void)0 : __assert_fail("both", "file", 1, "both"); }
__global__ void kernel(int a) { assert(a == 1); both(a); }
int main(int count, char **)
{
    both(count);
    kernel<<<1, 1>>>(count);
    std::printf("%d\\n", cudaDeviceSynchronize());
    assert(count < 3);
}
"""})
        self.cc("-DNDEBUG", "release.cu", "-o", "quiet")
        self.cc("-DNDEBUG", "-DAGAIN", "release.cu", "-o", "loud")
        for count in range(3):
            self.assertEqual(self.do(MILLRACE, "run", "--", "./quiet", *["x"] * count).stdout, "0\n")
        self.assertEqual(self.run_it("./loud"), "0\n")
        self.assertEqual(self.do(MILLRACE, "run", "--", "./loud", "x").stdout, "710\n")

    def test_several_languages(self):
        self.write(HALVES)
        self.cc("main.cpp", "kernels.cu", "-o", "program")
        self.assertEqual(self.run_it(), "42\n")
        self.cc("-c", "main.cpp", "kernels.cu")
        self.cc("main.o", "kernels.o", "-o", "second")
        self.assertEqual(self.run_it("./second"), "42\n")
        self.cc("-x", "cu", "main.cpp", "kernels.cu", "-o", "third")
        self.assertEqual(self.run_it("./third"), "42\n")

    @unittest.skipUnless(shutil.which("g++"), "there is no g++")
    def test_another_host_compiler(self):
        self.write(HALVES)
        self.cc("-ccbin", "g++", "-Xcompiler", "-Wall,-O2", "main.cpp", "kernels.cu", "-o", "program")
        self.assertEqual(self.run_it(), "42\n")

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "there is no CMake")
    def test_cmake(self):
        sources = EXAMPLES / "relocatable"
        self.write({"CMakeLists.txt": f"""
cmake_minimum_required(VERSION 3.20)
project(demo LANGUAGES CXX CUDA)
set(CMAKE_CUDA_ARCHITECTURES 75 80)
add_library(table STATIC {sources}/table.cu)
set_target_properties(table PROPERTIES CUDA_SEPARABLE_COMPILATION ON POSITION_INDEPENDENT_CODE ON)
add_executable(relocatable {sources}/main.cu)
set_target_properties(relocatable PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
target_link_libraries(relocatable table)
add_executable(program main.cpp kernels.cu)
set_target_properties(program PROPERTIES CUDA_STANDARD 17)
target_include_directories(program PRIVATE ${{CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES}})
""", **HALVES})
        self.do(MILLRACE, "run", "--", "sh", "-c", "CUDACXX=$(command -v nvcc) cmake -G Ninja -S . -B b")
        self.do("ninja", "-C", "b")
        self.assertEqual(self.run_it("b/program"), "42\n")
        self.assertIn("32 values", self.run_it("b/relocatable"))

    def test_templates_and_objects_in_two_sources(self):
        self.write({"shared.h": """
#pragma once
#include <new>
template <class T> __global__ void add(T *p, T v) { p[threadIdx.x] += v; }
template <class T> inline void add_on_device(T *p, T v) { add<T><<<1, 4>>>(p, v); }
struct Base { __device__ virtual int f(int x) { return x; } __device__ virtual ~Base() {} };
struct Derived : Base { int by = 2; __device__ int f(int x) override { return x * by; } };
""", "one.cu": """
#include "shared.h"
#include <cstdio>
void other(int *p);
__global__ void objects(int *p)
{
    alignas(16) char room[64];
    Base *here = new (room) Derived, *heap = p[0] > 0 ? new Derived : new Base;
    int *list = new int[3]();
    p[3] = heap->f(p[3]) + here->f(1000) + list[2];
    here->~Base();
    delete heap;
    delete[] list;
}
int main()
{
    int *p;
    cudaMallocManaged(&p, 4 * sizeof(int));
    cudaMemset(p, 0, 4 * sizeof(int));
    add_on_device(p, 1);
    other(p);
    objects<<<1, 1>>>(p);
    std::printf("%s", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf(" %d %d\\n", p[0], p[3]);
    return 0;
}
""", "two.cu": '#include "shared.h"\nvoid other(int *p) { add_on_device(p, 10); }\n'})
        for options in ((), ("-rdc=true",), ("-std=c++20", "-G")):
            self.cc(*options, "one.cu", "two.cu", "-o", "program")
            self.assertEqual(self.run_it(), "cudaSuccess 11 2022\n")

    def test_debug(self):
        self.write(HALVES)
        self.cc("-g", "-G", "main.cpp", "kernels.cu", "-o", "program")
        self.assertEqual(self.run_it(), "42\n")

    def test_errors_name_the_source(self):
        self.write({"broken.cu": "#include <vector>\n\n__global__ void f() { undeclared = 1; }\nint main() { return 0; }\n",
                    "host.cu": "__global__ void f() {}\nint main() { f<<<1>>>(); }\n", "wrong.cu": "int helper();\n__global__ void f(int *p) { *p = helper(); }\n"})
        for name, line in (("broken", 3), ("host", 2), ("wrong", 2)):
            self.assertIn(f"{name}.cu:{line}:", self.cc("-c", f"{name}.cu", expect=1).stderr)
            self.assertFalse((self.path / f"{name}.o").exists())

    def test_faults_reach_the_program(self):
        self.write({"fault.cu": """
#include <cstdio>
__global__ void bad(int *p) { *p = 1; }
int main()
{
    bad<<<1, 1>>>((int *)16);
    cudaError_t status = cudaDeviceSynchronize();
    printf("%s\\n", cudaGetErrorName(status));
    return status == cudaErrorIllegalAddress ? 3 : 0;
}
"""})
        self.cc("fault.cu", "-o", "program")
        self.assertEqual(self.run_it(expect=3), "cudaErrorIllegalAddress\n")


class Options(Programs):
    def test_headers_of_cccl(self):
        """A package among a Python's modules is found, a folder that is named goes before it, and where there is none a
        note says which package has them. A package beside other modules whose headers the command line names goes
        before the Python in PATH: PyTorch's extensions need its CCCL."""
        self.write({"main.cu": "#include <thrust/only_here.h>\n#include <cstdio>\nint main() { puts(WHERE); return 0; }\n"})
        places = {"package": "venv/lib/python3.11/site-packages/nvidia/cu13/include/cccl", "named": "named",
                  "beside": "other/lib/python3.11/site-packages/nvidia/cuda_cccl/include"}
        for name, place in places.items():
            folder = self.path / place / "thrust"
            folder.mkdir(parents=True)
            (folder / "version.h").write_text("")
            (folder / "only_here.h").write_text(f'#define WHERE "{name}"\n')
        python = self.path / "venv" / "bin" / "python3"
        python.parent.mkdir()
        python.write_text("")
        python.chmod(0o755)
        path = f"{python.parent}:{os.environ['PATH']}"
        self.cc("main.cu", "-o", "program", PATH=path)
        self.assertEqual(self.run_it(), "package\n")
        self.cc("main.cu", "-o", "program", PATH=path, MILLRACE_CCCL=str(self.path / "named"))
        self.assertEqual(self.run_it(), "named\n")
        # CUTLASS names the folder, as in CUDA 13. Nothing else of the folder above hides what is here.
        above = self.path / "venv/lib/python3.11/site-packages/nvidia/cu13/include"
        (above / "cuda_fp16.h").write_text("#error of another toolkit\n")
        self.write({"named.cu": """#include <cccl/thrust/only_here.h>
#include <cuda_fp16.h>
#include <cstdio>
int main() { puts(WHERE); return 0; }
"""})
        for words, variables in ((), {"PATH": path}), (("-Inowhere",), {"MILLRACE_CCCL": str(above / "cccl") + "/"}):
            self.cc("named.cu", "-o", "program", *words, **variables)
            self.assertEqual(self.run_it(), "package\n", variables)
        for words in ("-isystem", "other/lib/python3.11/site-packages/torch/include"), (f"-I{self.path}/other/lib/python3.11/site-packages/torch/include",):
            self.cc("main.cu", "-o", "program", *words, PATH=path)
            self.assertEqual(self.run_it(), "beside\n", words)
        # Parts of it where compilers look, as a toolkit leaves them in /usr/local/include, are not mixed in; nor is it
        # taken before a folder that the command line names.
        for name, place in {"system": "system", "given": "given"}.items():
            (self.path / place / "nv").mkdir(parents=True)
            (self.path / place / "nv" / "target").write_text(f'#define TARGET "{name}"\n')
        (self.path / "named" / "nv").mkdir()
        (self.path / "named" / "nv" / "target").write_text('#define TARGET "named"\n')
        self.write({"target.cu": "#include <thrust/version.h>\n#include <nv/target>\n#include <cstdio>\nint main() { puts(TARGET); return 0; }\n"})
        if not any(pathlib.Path(place, "thrust").exists() for place in ("/usr/include", "/usr/local/include")):
            for words, name in ((), "named"), (("-isystem", "given"), "given"), (("-Igiven",), "given"):
                self.cc("target.cu", "-o", "program", *words, MILLRACE_CCCL=str(self.path / "named"), CPLUS_INCLUDE_PATH=str(self.path / "system"))
                self.assertEqual(self.run_it(), f"{name}\n", words)
        done = self.cc("main.cu", "-o", "program", expect=1, MILLRACE_CCCL=str(self.path / "nowhere"))
        self.assertIn("thrust/only_here.h is one of NVIDIA's C++ headers", done.stderr)
        self.assertIn("libthrust-dev", done.stderr)

    def test_cccl_is_told_of_no_quad_precision(self):
        """CCCL would include headers for __float128 on architectures from 100 on; clang has no such type for devices."""
        self.write({"main.cu": """#if defined __CUDA_ARCH__ != defined CCCL_DISABLE_FLOAT128_SUPPORT
#error "told to the device's half alone"
#endif
int main() { return 0; }
"""})
        for arch in "sm_75", "sm_120":
            self.cc("main.cu", "-arch=" + arch, "-o", "program")

    def test_the_capability_is_what_the_images_need(self):
        """By default the lowest from 8.0 up for which every image has PTX."""
        self.write({
            "main.cu": """
#include <cstdio>
int other();
__global__ void arch(int *p) { *p = __CUDA_ARCH__; }
int main()
{
    int device, *p, at = 0, major, minor;
    cudaError_t status = cudaMallocManaged(&p, sizeof *p);
    arch<<<1, 1>>>(p);
    if (status == cudaSuccess) status = cudaGetLastError();
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    at = status ? 0 : *p;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    printf("%d.%d %d %d %d\\n", major, minor, status, at, other());
}
""",
            "other.cu": "__global__ void arch2(int *p) { *p = __CUDA_ARCH__; }\nint other()\n{\n    int *p, at = -1;\n    if (cudaMallocManaged(&p, sizeof *p)) return -2;\n"
                        "    arch2<<<1, 1>>>(p);\n    if (!cudaDeviceSynchronize()) at = *p;\n    return at;\n}\n"})
        for main, other, expected in (("75", "75", "8.0 0 750 750"), ("75", "120", "12.0 0 750 1200"), ("90", "86", "9.0 0 900 860"), ("103", "100", "10.3 0 1030 1000")):
            for static in (), ("-cudart", "shared"):
                self.cc("-arch=sm_" + main, "-c", "main.cu", "-o", "main.o")
                self.cc("-arch=sm_" + other, "-c", "other.cu", "-o", "other.o")
                self.cc("main.o", "other.o", *static, "-o", "program")
                with self.subTest((main, other, static)):
                    self.assertEqual(self.run_it(), expected + "\n")
        os.environ["MILLRACE_COMPUTE_CAPABILITY"] = "8.0"
        try:
            self.assertEqual(self.run_it().split()[:2], ["8.0", "209"])
        finally:
            del os.environ["MILLRACE_COMPUTE_CAPABILITY"]

    def test_thrust_in_kernels(self):
        """As Thrust has it: in device code a branch that is never taken launches kernels by functions of the host, and
        the sequential way is gone."""
        detail = self.path / "lib" / "thrust" / "system" / "cuda" / "detail"
        target = self.path / "lib" / "nv"
        for folder in detail, target:
            folder.mkdir(parents=True)
        (self.path / "lib" / "thrust" / "version.h").write_text("")
        (target / "target").write_text("#define NV_IS_HOST 1\n#define NV_ANY_TARGET 2\n#define STRIP(...) __VA_ARGS__\n#define NV_TARGET_2(par, ...) STRIP par\n"
                                       "#ifdef __CUDA_ARCH__\n#define NV_TARGET_1(par, ...) STRIP __VA_ARGS__\n#else\n#define NV_TARGET_1(par, ...) STRIP par\n#endif\n"
                                       "#define NV_PASTE(a, b) a##b\n#define NV_CHOOSE(n, ...) NV_PASTE(NV_TARGET_, n)(__VA_ARGS__)\n#define NV_IF_TARGET(cond, ...) { NV_CHOOSE(cond, __VA_ARGS__) }\n")
        (detail / "cdp_dispatch.h").write_text("#include <nv/target>\n#define THRUST_CDP_DISPATCH(par_impl, seq_impl) if (false) { NV_IF_TARGET(NV_ANY_TARGET, par_impl); } NV_IF_TARGET(NV_IS_HOST, par_impl, seq_impl)\n")
        (self.path / "lib" / "thrust" / "fill.h").write_text("""#pragma once
#include <thrust/system/cuda/detail/cdp_dispatch.h>
template <class T> __global__ void fill_kernel(T *p, T v, int n) { if (threadIdx.x < n) p[threadIdx.x] = v; }
struct pair { int first, second; };
template <class T> __host__ pair fill_parallel(T *p, T v, int n) { fill_kernel<T><<<1, 32>>>(p, v, n); return { 1, n }; }
template <class T> __host__ __device__ pair fill(T *p, T v, int n)
{
    THRUST_CDP_DISPATCH((auto made = fill_parallel(p, v, n); return { made.first, made.second };), (for (int i = 0; i < n; i++) p[i] = v; return { 2, n };));
}
""")
        self.write({"main.cu": """
#include <thrust/fill.h>
#include <cstdio>
__global__ void in_kernel(int *p) { p[8] = fill(p, 5, 4).first; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 64);
    int host = fill(p + 4, 6, 4).first;
    in_kernel<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    printf("%d %d %d %d\\n", host, p[8], p[3], p[7]);
    return 0;
}
"""})
        for words in ("-I", "lib"), ("-isystem", "lib", "-rdc=true"), ():
            self.cc("main.cu", "-w", "-o", "program", *words, MILLRACE_CCCL=str(self.path / "lib"))
            self.assertEqual(self.run_it(), "1 2 5 6\n")

    def test_nv_target(self):
        """<nv/target> without NVIDIA's C++ headers: what is left of a choice, on both sides, nested, for each
        architecture; in C and in old C++."""
        self.write({"main.cu": """
#include <nv/target>
#include <cstdio>
__host__ __device__ int side() { NV_IF_ELSE_TARGET(NV_IS_DEVICE, (return 1;), (return 2;)) }
__host__ __device__ int nested(int a, int b)
{
    int r = 0;
    NV_IF_TARGET(NV_IS_DEVICE, (NV_IF_TARGET(NV_PROVIDES_SM_80, (r = max(a, b);), (r = -min(a, b);))), (r = a, r += b;))
    NV_IF_TARGET(NV_NO_TARGET, (this is nothing;))
    NV_IF_TARGET(NV_ANY_TARGET, r += 100;)
    return r;
}
__host__ __device__ int dispatch()
{
    int r = 0;
    NV_DISPATCH_TARGET(NV_HAS_FEATURE_SM_90a, (r = 91;), NV_IS_EXACTLY_SM_80, (r = 80;), NV_PROVIDES_SM_75, (int x = 70, y = 5; r = x + y;),
                       NV_IS_HOST, (r = 1;), NV_ANY_TARGET, (r = 5;))
    NV_DISPATCH_TARGET(NV_NO_TARGET, (this is nothing;), NV_NO_TARGET, (nor is this;))
    NV_DISPATCH_TARGET(NV_ANY_TARGET, (r *= 2;))
    return r;
}
#ifdef MILLRACE_NV_TARGET
static_assert((nv::target::is_host || nv::target::is_device).bits == nv::target::any_target.bits, "");
static_assert((nv::target::provides(nv::target::sm_80) && nv::target::is_exactly(nv::target::sm_75)).bits == 0, "");
static_assert((!nv::target::any_target).bits == nv::target::no_target.bits, "");
#endif
__global__ void kernel(int *p) { p[0] = side(); p[1] = nested(3, 4); p[2] = dispatch(); }
int main()
{
    int *p;
    cudaMallocManaged(&p, 12);
    kernel<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    printf("%d %d %d %d %d %d\\n", p[0], p[1], p[2], side(), nested(3, 4), dispatch());
    return 0;
}
""", "main.c": "#include <nv/target>\nint main(void)\n{\n    NV_IF_TARGET(NV_IS_HOST, (return 0;), (return 1;))\n}\n"})
        for arch, kernel in ("sm_70", "1 97 10"), ("sm_75", "1 97 150"), ("sm_80", "1 104 160"), ("sm_90", "1 104 150"):
            self.cc("main.cu", "-arch=" + arch, "-o", "program", MILLRACE_CCCL="/nonexistent")
            self.assertEqual(self.run_it(), kernel + " 2 107 2\n", arch)
        for words in ("-x", "c"), ("-x", "c++", "-std=c++11"):
            self.cc(*words, "main.c", "-o", "program", MILLRACE_CCCL="/nonexistent")
            self.run_it()

    def test_nvtx(self):
        """Marks and ranges of programs that a profiler could watch: in CUDA C++, C++ and C, with the answers that there
        are when none does."""
        text = """
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <stdio.h>
int NAME(void)
{
    nvtxEventAttributes_t event = { 0 };
    nvtxDomainHandle_t domain = nvtxDomainCreateA("work");
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.colorType = NVTX_COLOR_ARGB;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = "step";
    event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    event.payload.dValue = 1;
    nvtxNameCudaStreamA(0, "stream");
    nvtxNameCuDevice(0, "device");
    nvtxDomainMarkEx(domain, &event);
    nvtxRangeEnd(nvtxRangeStart("all"));
    int depth = nvtxRangePushEx(&event) + nvtxRangePop() + nvtxDomainRangePushEx(domain, &event) + nvtxDomainRangePop(domain);
    nvtxDomainDestroy(domain);
    return sizeof event == 48 && !nvtxDomainRegisterStringA(domain, "s") && depth == 4 * NVTX_NO_PUSH_POP_TRACKING;
}
"""
        self.write({"main.cu": text.replace("NAME", "of_cuda") + 'extern "C" int of_c(void);\nint of_cpp();\n__global__ void k() {}\n'
                               "int main() { nvtxRangePush(\"k\"); k<<<1, 1>>>(); cudaDeviceSynchronize(); nvtxRangePop(); puts(of_cuda() && of_c() && of_cpp() ? \"right\" : \"wrong\"); return 0; }\n",
                    "other.c": text.replace("NAME", "of_c"), "more.cpp": text.replace("NAME", "of_cpp")})
        for words in (), ("-ccbin", "gcc"):
            self.cc("main.cu", "other.c", "more.cpp", "-o", "program", *words)
            self.assertEqual(self.run_it(), "right\n")

    def test_openmp(self):
        """With libomp or without: the sum is right, and a team has the threads that it says it has."""
        text = "#include <omp.h>\n#include <cstdio>\n" + """
int NAME()
{
    int sum = 0, team = 0;
    #pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
    #pragma omp parallel
    {
        #pragma omp critical
        team += omp_get_thread_num() < omp_get_num_threads() ? 1 : 1000;
    }
    return sum == 4950 && team >= 1 && team <= omp_get_max_threads();
}
"""
        self.write({"main.cu": text.replace("NAME", "here") + "int there();\nint main() { puts(here() && there() ? \"right\" : \"wrong\"); return 0; }\n",
                    "other.cpp": text.replace("NAME", "there")})
        self.cc("-Xcompiler", "-fopenmp", "main.cu", "other.cpp", "-o", "program")
        self.assertEqual(self.run_it(), "right\n")
        # Sources and linker by GCC; objects that are linked with GCC's library, as makefiles write it.
        self.cc("-ccbin", "g++", "-Xcompiler", "-fopenmp", "main.cu", "other.cpp", "-o", "program")
        self.assertEqual(self.run_it(), "right\n")
        for compiler in ("clang++-19", "g++"):
            for source in ("main.cu", "other.cpp"):
                self.cc("-ccbin", compiler, "-Xcompiler", "-fopenmp", "-c", source)
            self.cc("-ccbin", compiler, "main.o", "other.o", "-lgomp", "-o", "program")
            self.assertEqual(self.run_it(), "right\n", compiler)

    def test_headers_in_one_folder(self):
        """The folder beside nvcc's has the headers of kernels and those of the libraries that hosts link with."""
        self.write({"main.cpp": "#include <nvrtc.h>\n#include <nvJitLink.h>\n#include <cuda.h>\nint main() { return 0; }\n"})
        self.cc("-c", "main.cpp")
        root = MILLRACE.parent.parent
        include = root / "include"
        for name in ("nvrtc.h", "nvJitLink.h", "cooperative_groups.h", "cooperative_groups/reduce.h", "cuda_fp16.h", "cuda/atomic", "crt/host_defines.h", "mma.h"):
            self.assertTrue((include / name).is_file(), name)
        self.assertTrue((root / "lib64" / "libcudadevrt.a").is_file())

    def test_relocatable_errors(self):
        self.cc("-dc", EXAMPLES / "relocatable" / "main.cu")
        done = self.cc("main.o", "-o", "program", expect=1)
        self.assertIn("look_up", done.stderr)
        self.assertIn("can't be linked", done.stderr)
        (self.path / "bad.o").write_bytes((self.path / "main.o").read_bytes()[:1000])
        self.assertIn("bad.o", self.cc("bad.o", "-o", "program", expect=1).stderr)

    def test_shared_library(self):
        self.write(HALVES)
        self.cc("-shared", "-Xcompiler", "-fPIC", "-cudart", "shared", "kernels.cu", "-o", "libkernels.so")
        self.cc("-cudart=shared", "main.cpp", "-L.", "-lkernels", "-Xlinker", "-rpath,$ORIGIN", "-o", "program")
        self.assertEqual(self.run_it(), "42\n")

    def test_stripped(self):
        """Millrace's static runtime library inside a stripped program is not taken for NVIDIA's."""
        self.write(HALVES)
        for option in "-s", "-s,--gc-sections":
            self.cc("main.cpp", "kernels.cu", "-o", "program", "-Xlinker", option)
            done = self.do(MILLRACE, "run", "--", "./program")
            self.assertEqual((done.stdout, done.stderr), ("42\n", ""))

    def test_several_architectures(self):
        self.write(HALVES)
        self.cc("-gencode", "arch=compute_60,code=sm_60", "-gencode", "arch=compute_90,code=[sm_90,compute_90]", "main.cpp", "kernels.cu", "-o", "program")
        self.assertEqual(self.run_it(), "42\n")
        self.cc("-arch=native", "main.cpp", "kernels.cu", "-o", "program")
        self.assertEqual(self.run_it(), "42\n")

    def test_every_variable(self):
        """Each variable for the device is in the PTX, as with nvcc 13.0 and NVRTC 13.0 (592 kinds compared): of every
        space, linkage, qualifier and first value, whether a kernel uses it or not. Constants of headers are not."""
        lines, uses, names = [], [], []
        for space, place, qualifier, first in itertools.product(
                ("__device__", "__constant__", "__managed__"), ("%s;", "static %s;", "namespace { %s; }", "namespace N { %s; }", "namespace N { static %s; }"),
                ("", "const", "constexpr", "volatile"), ("", " = 7", " = 0", "[2] = {1, 2}")):
            if (qualifier.startswith("const") and not first) or (qualifier and space == "__managed__"):
                continue
            for used in (False, True):
                name = f"variable_{len(names)}_"
                names.append(name)
                lines.append(place % f"{space} {qualifier} int {name}{first}")
                if used:
                    uses.append(("N::" if "N " in place else "") + name + ("[i]" if "[" in first else ""))
        heads = ["cooperative_groups.h", "cuda_fp16.h", "curand_kernel.h", "mma.h", "cuda/barrier", "cuda/atomic"]
        self.write({"all.cu": "".join(f"#include <{head}>\n" for head in heads) + "\n".join(lines) +
                    "\n__global__ void sum(int *p, int i) { *p = " + " + ".join(uses) + "; }\n"})
        for options in ([], ["-rdc=true"], ["-G"]):
            self.cc("--ptx", "-std=c++17", *options, "all.cu", "-o", "all.ptx")
            found = re.findall(r"^(?:\.\w+ )?\.(?:global|const) [^=;\n]*? ([\w$]+)(?:\[\d*\])?(?: =[^\n]*)?;$", (self.path / "all.ptx").read_text(), re.MULTILINE)
            ours = {re.search(r"variable_\d+_", name).group() for name in found if "variable_" in name}
            self.assertEqual(ours, set(names), options)
            self.assertEqual([name for name in found if "variable_" not in name and "$" not in name], [], options)

    def test_static_variables(self):
        """Whoever loads the PTX may look for them by name; in a whole program the host names them."""
        self.write({"local.cu": "#include <stdio.h>\nstatic __constant__ float table[4];\nstatic __device__ int counter = 5;\nstatic __device__ int nobody_reads;\n"
                    "__global__ void sum(float *p) { *p = table[1] + counter; }\n"
                    "int main() { float *p, values[4] = { 0, 2 }; int more = 40; cudaMallocManaged(&p, 4);\n"
                    "    cudaMemcpyToSymbol(table, values, sizeof values); cudaMemcpyToSymbol(counter, &more, sizeof more);\n"
                    "    sum<<<1, 1>>>(p); cudaDeviceSynchronize(); printf(\"%g\\n\", *p); return 0; }\n"})
        self.cc("local.cu", "-o", "program")
        self.assertEqual(self.run_it(), "42\n")
        for options in ([], ["-rdc=true"]):
            self.cc("--ptx", *options, "local.cu", "-o", "local.ptx")
            lines = (self.path / "local.ptx").read_text().splitlines()
            for wanted in (r"\.const .*\[16\];", r"\.global .* = 5;", r"\.global .*nobody_reads.*;"):
                self.assertTrue([line for line in lines if re.search(wanted, line)], (options, wanted))
            self.assertFalse([line for line in lines if "mr_" in line])
        self.assertIn("nobody_reads", self.cc("--ptx", "local.cu", "-o", "/dev/stdout").stdout)

    def test_spellings(self):
        """Blanks in a launch's brackets and alignas behind __shared__, in a source, in headers found in two ways, and
        with the columns of what is wrong."""
        (self.path / "deep/er").mkdir(parents=True)
        (self.path / "my src").mkdir()
        (self.path / "deep/er/kernel.h").write_text(
            "template <class T> __global__ void fill(T *p)\n{\n    __shared__ alignas(32) T tile[32];\n    tile[threadIdx.x] = blockIdx.x;\n    __syncthreads();\n"
            "    p[blockIdx.x * 16 + threadIdx.x] = tile[threadIdx.x ^ 1] + ((unsigned long long)tile & 31);\n}\n")
        (self.path / "deep/go.h").write_text('#pragma once\n#include "er/kernel.h"\ntemplate <class T> void go(T *p) { fill<T> << <2, 16>> >(p); }\n')
        (self.path / "my src/t.cu").write_text("""#include <cstdio>
#include <go.h>
#define LAUNCH(k) k << <1, 1>> >
__global__ void one(int *p) { *p += 1; }
int main()
{
    int *p;
    cudaMallocManaged(&p, 128);
    go(p);
    one<<
        <1, 1>> > (p);
    LAUNCH(one)(p);
    one<<<{1}, {1, 1, 1}, {}, {}>>>(p);
    cudaDeviceSynchronize();
    printf("%d %d %s:%d\\n", p[0], p[31], __FILE__, __LINE__);
#ifdef WRONG
    one << <1, 1 >> > (nothing);
#endif
}
""")
        self.do(MILLRACE, "cc", "-arch=sm_80", "-Ideep", "-MD", "-MF", "t.d", "my src/t.cu", "-o", "t")
        self.assertEqual(self.do(MILLRACE, "run", "--", "./t").stdout, "3 1 my src/t.cu:15\n")
        listed = (self.path / "t.d").read_text()
        for name in ("my\\ src/t.cu", "deep/go.h", "deep/er/kernel.h"):
            self.assertIn(name, listed)
        self.assertNotIn(".spelling", listed)
        wrong = self.do(MILLRACE, "cc", "-arch=sm_80", "-I", "deep", "-DWRONG", "-c", "my src/t.cu", expect=1)
        self.assertIn("my src/t.cu:17:24: error: use of undeclared identifier 'nothing'", wrong.stderr)

    def test_names_that_headers_define(self):
        """Sources ask which headers came before them (NVIDIA's helper_cuda.h does), by the names that the toolkit's
        headers define."""
        names = {
            "cuda.h": "__cuda_cuda_h__", "cuda_runtime.h": "__CUDA_RUNTIME_H__", "cuda_runtime_api.h": "__CUDA_RUNTIME_API_H__", "driver_types.h": "__DRIVER_TYPES_H__",
            "vector_types.h": "__VECTOR_TYPES_H__", "vector_functions.h": "__VECTOR_FUNCTIONS_H__", "library_types.h": "__LIBRARY_TYPES_H__", "texture_types.h": "__TEXTURE_TYPES_H__",
            "surface_types.h": "__SURFACE_TYPES_H__", "device_types.h": "__DEVICE_TYPES_H__", "math_constants.h": "__MATH_CONSTANTS_H__", "cuComplex.h": "CU_COMPLEX_H_",
            "cuda_fp16.h": "__CUDA_FP16_H__", "cuda_bf16.h": "__CUDA_BF16_H__", "nvrtc.h": "__NVRTC_H__", "nvJitLink.h": "nvJitLink_INCLUDED", "cublas_v2.h": "CUBLAS_API_H_",
            "cublas_api.h": "CUBLAS_API_H_", "cufft.h": "_CUFFT_H_", "cufftXt.h": "_CUFFTXT_H_", "curand.h": "CURAND_H_", "curand_kernel.h": "CURAND_KERNEL_H_",
            "cusolverDn.h": "CUSOLVERDN_H_", "cusolverSp.h": "CUSOLVERSP_H_", "cusolver_common.h": "CUSOLVER_COMMON_H_", "cusparse.h": "CUSPARSEAPI", "cusparse_v2.h": "CUSPARSE_H_",
            "cudnn.h": "CUDNN_H_", "cooperative_groups.h": "_COOPERATIVE_GROUPS_H_", "cuda_pipeline.h": "_CUDA_PIPELINE_H_", "cudaProfiler.h": "cuda_profiler_H",
        }
        self.write({"main.cu": "".join(f"#include <{header}>\n#ifndef {name}\n#error {header} does not define {name}\n#endif\n" for header, name in names.items()),
                    "main.cpp": "".join(f"#include <{header}>\n#ifndef {name}\n#error {header} does not define {name}\n#endif\n"
                                        for header, name in names.items() if header not in ("curand_kernel.h", "cooperative_groups.h", "cuda_pipeline.h"))})
        self.cc("main.cu", "-c")
        self.cc("main.cpp", "-c")

    def test_headers_that_bring_others(self):
        """Programs that include a header of NVIDIA's count on what it includes: cublas_v2.h brings math.h."""
        self.write({"main.cpp": "#include <cublas_v2.h>\ndouble size(double x) { return sqrt(fabs(x)); }\n"})
        self.cc("main.cpp", "-c")

    def test_arrays_of_a_late_size(self):
        """The host's arrays whose size clang does not know, with initialisers, as g++ takes them; beside a launch, in a
        template and in a loop."""
        self.write({"main.cu": """
#include <cstdio>
constexpr unsigned long width = 40;
struct point { int x, y; };
__global__ void kernel(int *p) { *p += 1; }
template <class T> T sum(int n, T x) { T a[n] = {x, T(2)}; T s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int main()
{
    auto rank = 2;
    unsigned long size[rank] = {width, 7};
    unsigned stride[rank - 1]
        = {static_cast<unsigned>(width) *
           2};
    point points[rank + 1] = {{1, 2}, {3, 4}};
    int total = 0, *p;
    for (int i = 1; i < 4; i++) { int zeros[i] = {}; for (int j = 0; j < i; j++) total += zeros[j] + 1; }
    cudaMallocManaged(&p, 4);
    kernel<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    printf("%lu %lu %u %d %d %d %d %d %g %d\\n", size[0], size[1], stride[0], points[1].y, points[2].x, total, *p, sum(5, 1), sum(2, 1.5), __LINE__);
    return 0;
}
"""})
        self.cc("main.cu", "-w", "-o", "program")
        self.assertEqual(self.run_it(), "40 7 80 4 0 6 1 3 3.5 20\n")

    def test_names_of_ptx_in_asm(self):
        """One percent sign in front of a register's name, in a source, a header and by macros, as nvcc takes it; operands
        stay, and so do two signs and what host code has."""
        (self.path / "lane.h").write_text('__device__ inline unsigned lane() { unsigned r; asm("mov.u32 %0, %laneid;" : "=r"(r)); return r; }\n')
        self.write({"main.cu": """
#include "lane.h"
#include <cstdio>
#define READ(name) asm volatile("mov.u32 %0, %" #name ";" : "=r"(r[n++]))
__global__ void kernel(unsigned *p)
{
    unsigned r[4], n = 0, sum;
    unsigned long long time;
    READ(laneid);
    READ(ntid.x);
    asm("{ .reg .u32 %x; mov.u32 %x, %%tid.x; add.u32 %0, %x, %1; }" : "=r"(sum) : "r"(100));
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    if (threadIdx.x == 5) { p[0] = r[0]; p[1] = r[1]; p[2] = sum; p[3] = lane(); p[4] = time > 0; }
}
int main()
{
    unsigned char low = 0;
#ifdef __x86_64__
    asm("movb $5, %b0" : "=q"(low));
#else
    low = 5;
#endif
    unsigned *p;
    cudaMallocManaged(&p, 20);
    kernel<<<1, 7>>>(p);
    cudaDeviceSynchronize();
    printf("%u %u %u %u %u %d\\n", p[0], p[1], p[2], p[3], p[4], low);
    return 0;
}
"""})
        self.cc("main.cu", "-o", "program")
        self.assertEqual(self.run_it(), "5 7 105 5 1 5\n")

    def test_shared_variables_of_classes(self):
        """Nobody runs their constructors, as with nvcc; where they are told of by clang one after the other, in a
        template, by a macro, and beside a launch that macros put together."""
        (self.path / "classes.cu").write_text("""#include <cstdio>
struct made { float x = 1, y = 2; __device__ made() : x(3) {} __device__ ~made() { x = 0; } };
#define LESS <
#define ROOM(name) __shared__ made name
template <class T> __device__ float sum(float a)
{
#pragma diag_suppress static_var_with_dynamic_init
    __shared__ T v;
    static __shared__ T w[3][2],
        u; int n = 5;
    ROOM(r);
    v.x = a; w[1][1].x = a + 1; u.y = r.x = 0;
    auto both = [=] { return v.x + w[1][1].x; };
    return both() + sizeof v + sizeof(w) + __LINE__ * 1000 + n;
}
__global__ void k(float *p) { *p = sum<made>(*p); }
int main()
{
    float *p;
    cudaMallocManaged(&p, 4);
    *p = 4;
    k <<LESS 1, 1>>>(p);
    cudaDeviceSynchronize();
    printf("%g %s:%d\\n", *p, __FILE__, __LINE__);
#ifdef WRONG
    k<<<1, 1>>>(nothing);
#endif
}
""")
        self.cc("classes.cu", "-o", "classes")
        self.assertEqual(self.do(MILLRACE, "run", "--", "./classes").stdout, "14070 classes.cu:24\n")
        wrong = self.cc("-DWRONG", "-c", "classes.cu", expect=1)
        self.assertIn("classes.cu:26:17: error: use of undeclared identifier 'nothing'", wrong.stderr)

    def test_bfloat16_keeps_small_numbers(self):
        """Mathematics of bfloat16 gives the same with -use_fast_math, for each number, as on an H100."""
        names = "exp exp2 exp10 log log2 log10 rcp sqrt rsqrt tanh tanh_approx".split()
        (self.path / "small.cu").write_text("#include <cuda_bf16.h>\n#include <cstdio>\n" + "".join(
            f"__global__ void k_{name}(unsigned short *out) {{ unsigned int i = blockIdx.x * 256 + threadIdx.x;"
            f" out[i] = __bfloat16_as_ushort(h{name}(__ushort_as_bfloat16((unsigned short)i))); }}\n" for name in names) +
            "int main() { unsigned short *out; cudaMallocManaged(&out, 131072); unsigned int sum;\n" + "".join(
            f"k_{name}<<<256, 256>>>(out); if (cudaDeviceSynchronize()) return 1; sum = 0;\n"
            f"for (int i = 0; i < 65536; i++) sum = sum * 31 + out[i];\nprintf(\"{name} %08x %x\\n\", sum, out[0x42]);\n" for name in names) + "}\n")
        said = []
        for options in ([], ["-use_fast_math"], ["-ftz=true"]):
            self.cc(*options, "-arch=sm_80", "small.cu", "-o", "program")
            said.append(self.run_it())
        self.assertIn("log ", said[0])
        self.assertEqual(said[0], said[1])
        self.assertEqual(said[0], said[2])

    def test_halves_by_approximations(self):
        """What hardware makes of each of 65,536 numbers by its approximations: recorded on an H100 (driver 580, nvcc
        13.0), as sums."""
        approximations = {"tanh.approx.f16": 0x0bdad6a8, "tanh.approx.bf16": 0xb257bf76, "ex2.approx.f16": 0x0d38b00f, "ex2.approx.ftz.bf16": 0x9d61d941}
        functions = {"hsin": ("bfloat16", 0xae65db26, 0x9710dca2), "hcos": ("bfloat16", 0xe1914840, 0xb8d70fa0), "htanh": ("half", 0x73da52f8, 0x439f6a46)}
        kernels, runs = "", ""
        for number, text in enumerate(approximations):
            kernels += (f"__global__ void a{number}(unsigned short *out) {{ unsigned short i = blockIdx.x * 256 + threadIdx.x, r;"
                        f' asm("{text} %0, %1;" : "=h"(r) : "h"(i)); out[i] = r; }}\n')
            runs += f'run(a{number}, "{text}");\n'
        for name, (kind, *_) in functions.items():
            kernels += (f"__global__ void k_{name}(unsigned short *out) {{ unsigned int i = blockIdx.x * 256 + threadIdx.x;"
                        f" out[i] = __{kind}_as_ushort({name}(__ushort_as_{kind}((unsigned short)i))); }}\n")
            runs += f'run(k_{name}, "{name}");\n'
        (self.path / "halves.cu").write_text("#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cstdio>\n" + kernels +
            "static void run(void (*k)(unsigned short *), const char *name) {\n    unsigned short *out; cudaMallocManaged(&out, 131072); unsigned int sum = 0;\n"
            '    k<<<256, 256>>>(out); if (cudaDeviceSynchronize()) return;\n    for (int i = 0; i < 65536; i++) sum = sum * 31 + out[i];\n    printf("%s %08x\\n", name, sum);\n'
            "    cudaFree(out);\n}\nint main() {\n" + runs + "}\n")
        for fast, options in enumerate(([], ["-use_fast_math"], ["-use_fast_math", "-ftz=false"])):
            self.cc(*options, "-arch=sm_90", "halves.cu", "-o", "program")
            right = [f"{name} {value:08x}" for name, value in approximations.items()] + [f"{name} {sums[min(fast, 1)]:08x}" for name, (_, *sums) in functions.items()]
            self.assertEqual(self.run_it().splitlines(), right)

    def test_traps_do_not_return(self):
        """Functions that end in __trap() may say that they don't return, and may have no result there."""
        (self.path / "trap.cu").write_text("""[[noreturn]] __device__ void stop() { __trap(); }
__device__ int small(int x) { if (x < 3) return x; stop(); }
__device__ int large(int x) { if (x > 3) return x; __trap(); }
extern "C" __global__ void k(int *p, int x) { *p = x < 3 ? small(x) : large(x); }
""")
        for_both = self.cc("-Werror", "all-warnings", "-c", "trap.cu", "-o", "trap.o")
        self.assertEqual(for_both.stderr, "")

    def test_launches_from_kernels(self):
        """Each place gets one message, whatever clang finds wrong with it; other errors are as they were."""
        (self.path / "x.cu").write_text("""__global__ void child(int *p) { *p = 1; }
__global__ void parent(int *p) {
    child<<<1, 1>>>(p);
    int n; cudaGetDeviceCount(&n);
}
template <class T> __global__ void templates(T *p) { child<<<1, 1>>>(p); }
__host__ __device__ void both(int *p) { child<<<1, 1>>>(p); }
static void only() {}
__global__ void wrong() { only(); }
int main() { templates<<<1, 1>>>((int *)0); }
""")
        plain = "error: a launch from a kernel needs relocatable device code: compile with -rdc=true"
        others = ["x.cu:4: error: kernels can't call cudaGetDeviceCount here", "x.cu:9: error: no matching function for call to 'only'"]
        for mode, launches in (("-rdc=false", [f"x.cu:{line}: {plain}" for line in (3, 6, 7)]), ("-rdc=true", [])):
            done = self.do(MILLRACE, "cc", "-arch=sm_80", mode, "-c", "x.cu", expect=1)
            said = [re.sub(r"^(x.cu:\d+):\d+:", r"\1:", line) for line in done.stderr.splitlines() if "error: " in line]
            self.assertEqual(sorted(said), sorted(launches + others))
            self.assertIn(f"{len(said)} errors generated", done.stderr)
            self.assertNotIn("__cudaPushCallConfiguration", done.stderr)
            self.assertIn("note: candidate function not viable: call to __host__ function from __global__ function", done.stderr)

    def test_launches_of_unknown_kernels(self):
        """A kernel's name is looked for, and what cannot be found is told."""
        (self.path / "x.cu").write_text("""template <class T> __global__ void child(T *p, T q, int r) { *p = q; }
__global__ void child(int *p) { *p = 1; }
__global__ void parent(int *p) {
    child<<<1, 1>>>(p, 2.5, 3);
}
""")
        done = self.do(MILLRACE, "cc", "-arch=sm_80", "-rdc=true", "-c", "x.cu", expect=1)
        self.assertIn("x.cu:4:", done.stderr)
        self.assertNotIn("__cudaPushCallConfiguration", done.stderr)

    def test_many_launches(self):
        """More than clang has patience for, and beside classes of the C++ library that are called like its traits."""
        lines = "".join(f"    child<<<1, {i}>>>(p);\n" for i in range(1, 31))
        (self.path / "x.cu").write_text(f"""#include <type_traits>
#if defined(__has_builtin) && __has_builtin(__is_nothrow_convertible)
static_assert(__is_nothrow_convertible(int, long), "");
#endif
__global__ void child(int *p) {{ atomicAdd(p, 1); }}
__global__ void parent(int *p) {{
{lines}}}
int main()
{{
    int *p;
    if (cudaMallocManaged(&p, 4)) return 1;
    *p = 0;
    parent<<<1, 1>>>(p);
    return cudaDeviceSynchronize() || *p != 465;
}}
""")
        self.do(MILLRACE, "cc", "-arch=sm_80", "-rdc=true", "x.cu", "-o", "x")
        self.do("./x")

    def test_dependencies(self):
        self.write(HALVES)
        self.assertIn("kernels.h", self.cc("-MM", "kernels.cu").stdout)
        self.assertIn("cuda_runtime.h", self.cc("-M", "kernels.cu").stdout)
        self.cc("-c", "-MD", "-MF", "deps", "-MT", "target", "kernels.cu")
        self.assertTrue((self.path / "deps").read_text().startswith("target:"))
        self.cc("-c", "-MMD", "kernels.cu", "-o", "out.o")
        self.assertIn("out.o: ", (self.path / "out.d").read_text())

    def test_dependencies_of_each_phase(self):
        """The file is named after the output, else after the source; so is what depends, as a source's object."""
        self.write(HALVES)
        (self.path / "sub").mkdir()
        for words, file, target in ((("-ptx",), "kernels.d", "kernels.o"), (("-cubin", "-arch=sm_80"), "kernels.d", "kernels.o"), (("-fatbin", "-o", "sub/k.fb"), "sub/k.d", "sub/k.fb"),
                                    (("-ptx", "-MF", "x", "-MT", "t"), "x", "t"), (("-c", "-odir", "sub"), "sub/kernels.d", "sub/kernels.o"), (("-dlto", "-ltoir"), "kernels.d", "kernels.o"),
                                    (("-shared", "-o", "sub/lib.so.1"), "sub/lib.so.d", "sub/lib.so.1"), (("-lib", "-o", "lib.a"), "lib.d", "lib.a"), (("-shared",), "kernels.d", "kernels.o")):
            self.cc("-MMD", "-MP", "kernels.cu", *words)
            text = (self.path / file).read_text()
            self.assertTrue(text.startswith(f"{target}: kernels.cu"), text)
            self.assertIn("\nkernels.h:\n", text)
            (self.path / file).unlink()
        self.assertEqual([str(path) for path in self.path.rglob("*.d")], [])

    @unittest.skipUnless(shutil.which("clang++-19"), "there is no clang++-19")
    def test_clang_by_itself(self):
        """Its first error says which compiler to take."""
        self.write({"x.cu": "__global__ void k() {}\n"})
        done = self.do("clang++-19", f"--cuda-path={MILLRACE.parent.parent}", "-isystem", MILLRACE.parent.parent / "include", "--cuda-gpu-arch=sm_80", "--cuda-device-only", "-S", "-o", "x.s", "x.cu", expect=1)
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        self.assertIn("compile with Millrace's nvcc", errors[0])

    def test_order_of_a_link(self):
        """Archives before what needs them, and among -Xlinker's words, which Meson takes for its own libraries."""
        self.write({"main.cu": "int first();\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); return cudaDeviceSynchronize() || first() != 3; }\n",
                    "first.cu": "int second();\nint first() { return second(); }\n", "second.cu": "int second() { return 3; }\n"})
        for name in ("first", "second"):
            self.cc("-lib", f"{name}.cu", "-o", f"lib{name}.a")
        self.cc("-c", "main.cu")
        for words in (("libsecond.a", "libfirst.a", "main.o"), ("-Xlinker", "libfirst.a", "main.o", "libsecond.a"), ("main.o", "-Xlinker=libsecond.a", "-Xlinker=libfirst.a"),
                      ("-L.", "-lsecond", "-lfirst", "main.o")):
            self.cc(*words, "-o", "program")
            self.do("./program")
            (self.path / "program").unlink()

    def test_kept_files(self):
        self.write(HALVES)
        (self.path / "kept").mkdir()
        self.cc("-c", "--keep", "--keep-dir", "kept", "kernels.cu")
        self.assertEqual(sorted(path.name for path in (self.path / "kept").iterdir()), ["kernels.fatbin", "kernels.ptx"])

    def test_temporary_files_go(self):
        (self.path / "tmp").mkdir()
        self.write({"broken.cu": "nonsense\n", **HALVES})
        self.cc("-c", "kernels.cu", TMPDIR=str(self.path / "tmp"))
        self.cc("-c", "broken.cu", expect=1, TMPDIR=str(self.path / "tmp"))
        self.assertEqual(list((self.path / "tmp").iterdir()), [])


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=1).result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad - len(outcome.skipped)} passed, {bad} failed, {len(outcome.skipped)} skipped")
    sys.exit(1 if bad else 0)
