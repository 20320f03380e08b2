# SPDX-License-Identifier: Apache-2.0
"""millrace cc: managed variables, and what several sources with relocatable device code share. Usage: test_separate.py
MILLRACE [Managed|Relocatable]"""
import unittest

from test_compile import EXAMPLES, MILLRACE, Programs

CHECK = """
#include <cstdio>
#include <cstdlib>
#define HOLDS(what) ((what) ? (void)0 : (printf("line %d: not so: %s\\n", __LINE__, #what), exit(1)))
"""


class Managed(Programs):
    def test_the_example(self):
        for options in ("-O2",), ("-rdc=true", "-g", "-G"), ("-cudart", "shared", "-gencode", "arch=compute_75,code=compute_75", "-gencode", "arch=compute_90,code=sm_90"):
            with self.subTest(options):
                self.assertIn("managed_variables: ", self.example("managed_variables", *options))
                (self.path / "program").unlink()

    def test_several_sources(self):
        """One variable that both name, and two of one name that are each source's own."""
        self.write({
            "shared.h": CHECK + "struct pair { int a, b; };\nextern __device__ __managed__ pair both[3];\nint *own_of_other();\nvoid other(int times);\n",
            "main.cu": """
#include "shared.h"
static __managed__ int own = 100;
__global__ void here() { both[1].b += own; own++; }
int main()
{
    int *all[2] = { &own, &both[2].a };
    HOLDS(both[0].a == 1 && both[2].b == 6 && own == 100);
    HOLDS(*all[0] == 100 && *all[1] == 5 && all[1] == &both[2].a);
    HOLDS(*own_of_other() == 200 && own_of_other() != &own);
    here<<<1, 1>>>();
    other(3);
    HOLDS(cudaDeviceSynchronize() == cudaSuccess);
    HOLDS(both[1].b == 4 + 100 && own == 101 && *own_of_other() == 203);
    HOLDS(both[1].a == 3 + 200 + 201 + 202);
    puts("shared by two");
    return 0;
}
""",
            "other.cu": """
#include "shared.h"
__managed__ pair both[3] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
static __managed__ int own = 200;
int *own_of_other() { return &own; }
__global__ void there() { both[1].a += own++; }
void other(int times) { while (times-- > 0) there<<<1, 1>>>(); }
"""})
        self.cc("-rdc=true", "-O2", "main.cu", "other.cu", "-o", "program")
        self.assertEqual(self.run_it(), "shared by two\n")
        self.cc("-dc", "main.cu", "other.cu")
        self.cc("--lib", "other.o", "-o", "libother.a")
        self.cc("main.o", "-L.", "-lother", "-o", "second")
        self.assertEqual(self.run_it("./second"), "shared by two\n")

    def test_in_a_header_only(self):
        """The word is not in the source itself; one expression has two variables; a loop's value comes from either."""
        self.write(
            {
                "variables.h": "inline __managed__ int left = 1;\ntemplate <class T> __managed__ T right = 2;\n__managed__ int line_length = 64;\n__managed__ char line[64];\n",
                "main.cu": CHECK
                + """
#include "variables.h"
__global__ void swap() { int t = left; left = right<int>; right<int> = t; line[3] = 'x'; }
__attribute__((noinline)) int *choose(bool one) { return one ? &left : &right<int>; }
template <class T> T read(const T &from) { return from; }
int *pointers[2] = { &line_length, &right<int> };
int main(int argc, char **)
{
    long apart = (char *)&left - (char *)&right<int>;
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += *choose(i & 1);
    HOLDS(*pointers[0] == 64 && pointers[1] == &right<int> && sum == 6 && apart == (char *)choose(true) - (char *)choose(false));
    swap<<<1, 1>>>();
    HOLDS(cudaDeviceSynchronize() == cudaSuccess && left == 2 && right<int> == 1);
    switch (read(left)) {
    case 2: HOLDS((&line[1])[2] == 'x'); break;
    default: HOLDS(false);
    }
    try {
        if (argc > 0)
            throw &left;
    } catch (int *caught) {
        HOLDS(caught == &left);
    }
    puts("right");
    return 0;
}
""",
            }
        )
        for level in "-O0", "-O3":
            self.cc(level, "main.cu", "-o", "program")
            self.assertEqual(self.run_it(), "right\n")
        self.assertIn(".global .attribute(.managed) .align 4 .u32 left", self.cc("--ptx", "main.cu", "-o", "-").stdout)

    def test_before_a_kernel(self):
        """The first use is the runtime's."""
        self.write({"main.cu": CHECK + """
__managed__ int x = 5;
__global__ void add() { x++; }
int main()
{
    cudaSetDevice(0);
    void *address = nullptr;
    HOLDS(cudaGetSymbolAddress(&address, x) == cudaSuccess && address == &x);
    HOLDS(cudaGetSymbolAddress(&address, address) != cudaSuccess);
    puts("right");
    return 0;
}
"""})
        self.cc("main.cu", "-o", "program")
        self.assertEqual(self.run_it(), "right\n")

    def test_what_is_refused(self):
        self.write({"constant.cu": "__managed__ const int x = 1;\n__managed__ int y;\n", "local.cu": "__managed__ int x;\nthread_local int *p = &x;\n",
                    "dynamic.cu": "int f();\n__managed__ int x = f();\n"})
        self.assertIn("constant.cu", self.cc("-c", "constant.cu", expect=1).stderr)
        self.assertIn("thread_local variable: p", self.cc("-c", "local.cu", expect=1).stderr)
        self.assertIn("-rdc=true", self.cc("-dc", "local.cu", expect=1).stderr)
        self.assertIn("dynamic.cu:2", self.cc("-c", "dynamic.cu", expect=1).stderr)
        # Another way through these headers would give each side a variable of its own.
        done = self.do("clang-19", "-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-fdeclspec", "-fsyntax-only", "-include",
                       EXAMPLES.parent.parent / "device" / "millrace_device.h", "dynamic.cu", expect=1)
        self.assertIn("managed_variables_are_compiled_by_millrace_cc", done.stderr)


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
        """Templates, inline functions and variables are in both sources and once in the program; a weak function gives
        way to a strong one."""
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

    def test_kernels_of_other_sources(self):
        """A kernel that one source declares and another defines, before and after the source that uses it, and in an
        archive."""
        self.write({"main.cu": CHECK + """
extern __global__ void fill(int *out, int by);
template <class T> __global__ void twice(T *out);
extern template __global__ void twice<int>(int *out);
extern __device__ int added;
int main()
{
    int *out, more = 5;
    HOLDS(cudaMallocManaged(&out, 4 * sizeof *out) == cudaSuccess);
    HOLDS(cudaMemcpyToSymbol(added, &more, sizeof more) == cudaSuccess);
    fill<<<1, 4>>>(out, 10);
    twice<<<1, 4>>>(out);
    HOLDS(cudaDeviceSynchronize() == cudaSuccess);
    printf("%d %d %d %d\\n", out[0], out[1], out[2], out[3]);
    return 0;
}
""", "fill.cu": """
__device__ int added;
__global__ void fill(int *out, int by) { out[threadIdx.x] = threadIdx.x * by + added; }
""", "twice.cu": """
template <class T> __global__ void twice(T *out) { out[threadIdx.x] *= 2; }
template __global__ void twice<int>(int *out);
"""})
        for sources in (("main.cu", "fill.cu", "twice.cu"), ("twice.cu", "fill.cu", "main.cu")):
            self.cc("-rdc=true", *sources, "-o", "program")
            self.assertEqual(self.run_it(), "10 30 50 70\n")
        self.cc("-dc", "fill.cu", "twice.cu")
        self.cc("--lib", "fill.o", "twice.o", "-o", "libkernels.a")
        for linker in ("clang++-19", "g++"): # makefiles name g++, which takes sources of C for C++
            self.cc("-rdc=true", "-ccbin", linker, "main.cu", "libkernels.a", "-o", "program")
            self.assertEqual(self.run_it(), "10 30 50 70\n")
        self.cc("-rdc=true", "main.cu", "fill.cu", "-o", "program", expect=1)

    def test_archives_in_a_link_at_run_time(self):
        """cuLinkAddFile takes objects and archives with relocatable code, and one that has none, such as
        libcudadevrt.a."""
        self.write(
            {
                "halves.cu": "__device__ int half_of(int value) { return value / 2; }\n__device__ int third_of(int value) { return value / 3; }\n",
                "user.cu": '__device__ int half_of(int);\nextern "C" __global__ void k(int *p) { *p = half_of(*p); }\n',
                "main.cpp": CHECK
                + """
#include <cuda.h>
int main(int argc, char **argv)
{
    CUcontext context;
    CUdevice device;
    CUlinkState link;
    CUmodule module;
    CUfunction k;
    CUdeviceptr p;
    void *image;
    int value = 84, expected = atoi(argv[1]);
    HOLDS(!cuInit(0) && !cuDeviceGet(&device, 0) && !cuDevicePrimaryCtxRetain(&context, device) && !cuCtxSetCurrent(context));
    HOLDS(!cuLinkCreate(0, 0, 0, &link));
    for (int i = 2; i < argc; i++) {
        bool library = argv[i][strlen(argv[i]) - 1] == 'a';
        HOLDS(!cuLinkAddFile(link, library ? CU_JIT_INPUT_LIBRARY : CU_JIT_INPUT_OBJECT, argv[i], 0, 0, 0));
    }
    CUresult status = cuLinkComplete(link, &image, 0);
    if (expected < 0)
        return status == CUDA_SUCCESS;
    HOLDS(status == CUDA_SUCCESS);
    HOLDS(!cuModuleLoadData(&module, image) && !cuModuleGetFunction(&k, module, "k") && !cuMemAlloc(&p, 4));
    HOLDS(!cuMemcpyHtoD(p, &value, 4));
    void *params[] = { &p };
    HOLDS(!cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, params, 0) && !cuMemcpyDtoH(&value, p, 4) && value == expected);
    puts("linked");
    return 0;
}
""",
            }
        )
        self.write({"main.cpp": "#include <cstring>\n" + (self.path / "main.cpp").read_text()})
        self.cc("-dc", "halves.cu", "user.cu")
        self.cc("--lib", "halves.o", "-o", "libhalves.a")
        self.cc("main.cpp", "-o", "program", "-lcuda", "-lcudadevrt")
        libraries = [folder for folder in (MILLRACE.parent.parent / "lib",) if (folder / "libcudadevrt.a").is_file()]
        self.assertTrue(libraries)
        runtime = libraries[0] / "libcudadevrt.a"
        for inputs in (("user.o", "libhalves.a", runtime), (runtime, "libhalves.a", "user.o"), ("halves.o", "user.o")):
            self.assertEqual(self.do(MILLRACE, "run", "--", "./program", "42", *inputs).stdout, "linked\n")
        self.do(MILLRACE, "run", "--", "./program", "-1", "user.o", runtime)

    def test_nothing_to_link(self):
        """An object that registers nothing, as with nvcc: build systems link it with the others."""
        self.write({"plain.cu": "__global__ void k(int *p) { *p = 1; }\nint main() { return 0; }\n", "host.cpp": "int unused;\n"})
        self.cc("-c", "plain.cu", "host.cpp")
        for objects in ("plain.o", "host.o"), ("host.o",):
            self.cc("-dlink", *objects, "-o", "none.o")
            self.cc("plain.o", "none.o", "-o", "program")
            self.run_it()
        self.cc("-dlink", "host.o")
        self.assertTrue((self.path / "a_dlink.o").exists())

    def test_images_of_a_device_link(self):
        """--cubin and --fatbin beside --device-link, as CuPy calls nvcc for kernels that launch kernels."""
        self.write({"inner.cu": "__global__ void inner(int *p) { *p += 2; }\n",
                    "outer.cu": '__global__ void inner(int *);\nextern "C" __global__ void outer(int *p) { inner<<<1, 1>>>(p); }\n',
                    "main.cpp": CHECK + """
#include <cstring>
#include <cuda.h>
int main(int, char **argv)
{
    CUcontext context;
    CUdevice device;
    CUmodule module;
    CUfunction outer;
    CUdeviceptr p;
    int value = 5;
    HOLDS(!cuInit(0) && !cuDeviceGet(&device, 0) && !cuDevicePrimaryCtxRetain(&context, device) && !cuCtxSetCurrent(context));
    HOLDS(!cuModuleLoad(&module, argv[1]) && !cuModuleGetFunction(&outer, module, "outer") && !cuMemAlloc(&p, 4) && !cuMemcpyHtoD(p, &value, 4));
    void *params[] = { &p };
    HOLDS(!cuLaunchKernel(outer, 1, 1, 1, 1, 1, 1, 0, 0, params, 0) && !cuMemcpyDtoH(&value, p, 4) && value == 7);
    return 0;
}
"""})
        self.cc("-dc", "inner.cu", "outer.cu")
        self.cc("main.cpp", "-o", "program", "-lcuda")
        for words, image in ((("--cubin", "--device-link", "-o", "x.cubin"), "x.cubin"), (("-dlink", "-cubin"), "a_dlink.cubin"), (("-dlink", "-fatbin"), "a_dlink.fatbin")):
            self.cc("-arch=sm_80", *words, "inner.o", "outer.o")
            self.do(MILLRACE, "run", "--", "./program", image)
        self.write({"host.cpp": "int unused;\n"})
        self.cc("-c", "host.cpp")
        self.assertIn("no relocatable device code", self.cc("-dlink", "-cubin", "-arch=sm_80", "host.o", expect=1).stderr)

    def test_dynamic_shared_memory_in_anonymous_namespaces(self):
        """Is no warning, as with nvcc: with -rdc=true clang takes such an array for one that is defined nowhere."""
        self.write({"shared.cu": """
#include <cstdio>
namespace {
template <int N> __global__ void turn(int *p)
{
    extern __shared__ int words[];
    words[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = words[N - 1 - threadIdx.x];
}
}
int main()
{
    int host[64], *p;
    for (int i = 0; i < 64; i++)
        host[i] = i;
    cudaMalloc(&p, sizeof host);
    cudaMemcpy(p, host, sizeof host, cudaMemcpyDefault);
    turn<64><<<1, 64, sizeof host>>>(p);
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDefault);
    printf("%d to %d\\n", host[0], host[63]);
}
"""})
        for options in (), ("-rdc=true",):
            done = self.cc("shared.cu", "-Werror=all-warnings", "-o", "program", *options)
            self.assertEqual(done.stderr, "")
            self.assertIn("63 to 0", self.run_it())

    def test_launches_from_kernels(self):
        """Also by the functions, whatever the words."""
        self.write({"main.cu": CHECK + """
__global__ void child(int *p) { p[threadIdx.x]++; }
__global__ void launch(int *status)
{
    void *buffer = cudaGetParameterBuffer(8, 8);
    *(int **)buffer = status;
    child<<<1, 3>>>(status);
    cudaLaunchDevice((void *)child, buffer, dim3(1), dim3(3), 0, 0);
}
int main()
{
    int *status;
    HOLDS(cudaMallocManaged(&status, 3 * sizeof *status) == cudaSuccess);
    launch<<<1, 3>>>(status);
    HOLDS(cudaDeviceSynchronize() == cudaSuccess);
    HOLDS(status[0] == 6 && status[2] == 6);
    return 0;
}
"""})
        for words in (("-rdc=true",), ("-rdc=true", "-lcudadevrt"), ("-rdc=true", "-std=c++14"), ("-rdc=true", "-G")):
            self.cc("main.cu", "-o", "program", *words)
            self.assertEqual(self.run_it(), "")


if __name__ == "__main__":
    unittest.main()
