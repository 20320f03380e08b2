# SPDX-License-Identifier: Apache-2.0
"""Projects that look for a CUDA toolkit: by CMake, by Meson, by make. NVIDIA's toolkit is hidden where that can be
done, and the programs run without `millrace run`. Usage: test_build_systems.py ROOT, the folder with bin/, include/ and
lib64/."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
CMAKE_PROGRAM = os.environ.get("MILLRACE_TEST_CMAKE", "cmake")  # another one than the system's

MESON_PROGRAM = os.environ.get("MILLRACE_TEST_MESON", "meson")

# One command with empty folders in the place of NVIDIA's toolkit, in a namespace of its own.
HIDE = r"""
empty=$1; shift
for folder in /usr/local/cuda /usr/local/cuda-* /usr/local/lib /usr/local/lib64 /usr/local/include; do
    [ ! -e "$folder" ] || mount --bind "$empty" "$(readlink -f "$folder")" || exit 125
done
exec "$@"
"""
CAN_HIDE = subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True).returncode == 0 if shutil.which("unshare") else False

KERNEL = """
#include <cstdio>
#include "twice.h"
__global__ void fill(int *p) { p[threadIdx.x] = twice(threadIdx.x); }
int main()
{
    int *p = nullptr;
    if (cudaMallocManaged(&p, 32 * sizeof *p) != cudaSuccess)
        return 2;
    fill<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    printf("%d\\n", p[31]);
    return p[31] != 62;
}
"""
HOST = """
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>
int main()
{
    int count = 0, major = 0, minor = 0;
    if (cuInit(0) || cudaGetDeviceCount(&count) || nvrtcVersion(&major, &minor))
        return 2;
    printf("%d\\n", major);
    return count < 1;
}
"""
# Of the libraries of mathematics, which no other program here loads.
TRANSFORMS = """
#include <cstdlib>
#include <cublas_v2.h>
#include <cufft.h>
static int made = [] {
    cufftHandle plan;
    cublasHandle_t handle;
    if (cufftPlan1d(&plan, 8, CUFFT_C2C, 1) || cublasCreate(&handle))
        exit(3);
    return 1;
}();
"""
FILES = {
    "kernel.cu": KERNEL,
    "twice.h": "static __device__ int twice(int x) { return 2 * x; }\n",
    "host.cpp": HOST,
    "transforms.cu": KERNEL.replace("int main(", TRANSFORMS + "int main("),
    "apart.cu": KERNEL,
    "other.cu": "__device__ int twice(int x) { return 2 * x; }\n",
    "apart/twice.h": "extern __device__ int twice(int x);\n",
}

CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(programs LANGUAGES CXX CUDA)
find_package(CUDAToolkit 12.0 REQUIRED)
add_executable(stock kernel.cu)
set_target_properties(stock PROPERTIES CUDA_ARCHITECTURES "75;80;86;90")
add_executable(shared kernel.cu)
set_target_properties(shared PROPERTIES CUDA_RUNTIME_LIBRARY Shared CUDA_ARCHITECTURES 80 BUILD_RPATH "${CUDAToolkit_LIBRARY_DIR}")
add_executable(host host.cpp)
target_link_libraries(host CUDA::cudart CUDA::cuda_driver CUDA::nvrtc)
add_executable(apart apart.cu other.cu)
target_include_directories(apart BEFORE PRIVATE apart)
set_target_properties(apart PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_ARCHITECTURES native)
add_executable(transforms transforms.cu)
set_target_properties(transforms PROPERTIES CUDA_ARCHITECTURES 80)
target_link_libraries(transforms CUDA::cufft CUDA::cublas)
foreach(library cudart cudart_static cuda_driver nvrtc cublas cublasLt)
  if(NOT TARGET CUDA::${library})
    message(SEND_ERROR "there is no CUDA::${library}")
  endif()
endforeach()
message(STATUS "includes: ${CUDAToolkit_INCLUDE_DIRS}")
enable_testing()
foreach(program stock shared host apart transforms)
  add_test(NAME ${program} COMMAND ${program})
endforeach()
"""
# No CUDA C++ in it: the runtime library is linked in by the C++ compiler.
CMAKE_HOST = """
cmake_minimum_required(VERSION 3.18)
project(host LANGUAGES CXX)
find_package(CUDAToolkit 12.0 REQUIRED)
add_executable(host runtime.cpp)
target_link_libraries(host CUDA::cudart_static)
enable_testing()
add_test(NAME host COMMAND host)
"""
RUNTIME = """
#include <cstdio>
#include <cuda_runtime.h>
int main()
{
    int count = 0, *p = nullptr, value = 3;
    if (cudaGetDeviceCount(&count) || cudaMalloc(&p, 4) || cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice))
        return 2;
    return count < 1;
}
"""
# The PTX Compiler API, in C.
CMAKE_ASSEMBLER = """
cmake_minimum_required(VERSION 3.18)
project(assembler LANGUAGES C)
find_package(CUDAToolkit 12.0 REQUIRED)
add_executable(assembler assembler.c)
target_link_libraries(assembler CUDA::nvptxcompiler_static)
"""
ASSEMBLER = """
#include <nvPTXCompiler.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    static const char ptx[] = ".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k()\\n{\\nret;\\n}\\n";
    const char *options[] = {"--gpu-name=sm_80"};
    nvPTXCompilerHandle compiler;
    size_t size = 0;
    int status = nvPTXCompilerCreate(&compiler, strlen(ptx), ptx);
    status |= nvPTXCompilerCompile(compiler, 1, options);
    status |= nvPTXCompilerGetCompiledProgramSize(compiler, &size);
    status |= nvPTXCompilerDestroy(&compiler);
    printf("%d %s\\n", status, size > sizeof ptx ? "made" : "none");
    return 0;
}
"""
ASSEMBLER_SAYS = "0 made\n"
# The libraries of mathematics under the names of NVIDIA's static ones.
CMAKE_STATIC = """
cmake_minimum_required(VERSION 3.18)
project(mathematics LANGUAGES CXX)
find_package(CUDAToolkit 12.0 REQUIRED)
add_executable(mathematics mathematics.cpp)
target_link_libraries(mathematics CUDA::cublas_static CUDA::cublasLt_static CUDA::cufft_static CUDA::cufftw_static CUDA::curand_static
  CUDA::cusparse_static CUDA::cusolver_static CUDA::cufft_static_nocallback CUDA::culibos CUDA::cudart_static)
enable_testing()
add_test(NAME mathematics COMMAND mathematics)
"""
MATHEMATICS = """
#include <cmath>
#include <cstdio>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#define NEED(call) if (auto status_ = (call)) { printf("line %d: %d\\n", __LINE__, (int)status_); return 1; }
static cublasHandle_t made_before_main;
static int made = cublasCreate(&made_before_main);
int main()
{
    float one = 1, zero = 0, a[4] = {4, 2, 2, 3}, b[4], c[4] = {0, 0, 0, 0}, wave[16] = {1, 0, 1, 0, 1, 0, 1, 0};
    float *d_a, *d_c, *d_wave;
    NEED(made);
    NEED(cudaMalloc(&d_a, sizeof a));
    NEED(cudaMalloc(&d_c, sizeof c));
    NEED(cudaMalloc(&d_wave, sizeof wave));
    NEED(cudaMemcpy(d_a, a, sizeof a, cudaMemcpyHostToDevice));
    NEED(cudaMemcpy(d_wave, wave, sizeof wave, cudaMemcpyHostToDevice));
    NEED(cublasSgemm(made_before_main, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, d_a, 2, d_a, 2, &zero, d_c, 2));
    NEED(cudaMemcpy(c, d_c, sizeof c, cudaMemcpyDeviceToHost));
    printf("cublas %g %g %g %g\\n", c[0], c[1], c[2], c[3]);
    NEED(cublasDestroy(made_before_main));
    cublasLtHandle_t light;
    NEED(cublasLtCreate(&light));
    NEED(cublasLtDestroy(light));
    cufftHandle plan;
    NEED(cufftPlan1d(&plan, 4, CUFFT_C2C, 1));
    NEED(cufftExecC2C(plan, (cufftComplex *)d_wave, (cufftComplex *)d_wave, CUFFT_FORWARD));
    NEED(cudaMemcpy(wave, d_wave, sizeof wave, cudaMemcpyDeviceToHost));
    printf("cufft %g %g\\n", wave[0], std::fabs(wave[2]));
    NEED(cufftDestroy(plan));
    curandGenerator_t generator;
    NEED(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    NEED(curandGenerateUniform(generator, d_c, 4));
    NEED(cudaMemcpy(b, d_c, sizeof b, cudaMemcpyDeviceToHost));
    printf("curand %d\\n", b[0] > 0 && b[0] <= 1 && b[0] != b[1]);
    NEED(curandDestroyGenerator(generator));
    cusolverDnHandle_t solver;
    int room = 0, *d_info, info = 7;
    float *work;
    NEED(cusolverDnCreate(&solver));
    NEED(cusolverDnSpotrf_bufferSize(solver, CUBLAS_FILL_MODE_LOWER, 2, d_a, 2, &room));
    NEED(cudaMalloc(&work, (room + 1) * sizeof *work));
    NEED(cudaMalloc(&d_info, sizeof info));
    NEED(cusolverDnSpotrf(solver, CUBLAS_FILL_MODE_LOWER, 2, d_a, 2, work, room, d_info));
    NEED(cudaMemcpy(a, d_a, sizeof a, cudaMemcpyDeviceToHost));
    NEED(cudaMemcpy(&info, d_info, sizeof info, cudaMemcpyDeviceToHost));
    printf("cusolver %d %g %g %.3f\\n", info, a[0], a[1], a[3]);
    NEED(cusolverDnDestroy(solver));
    cusparseHandle_t sparse;
    int version = 0;
    NEED(cusparseCreate(&sparse));
    NEED(cusparseGetVersion(sparse, &version));
    printf("cusparse %d\\n", version > 0);
    NEED(cusparseDestroy(sparse));
    return 0;
}
"""
MATHEMATICS_SAY = "cublas 20 14 14 13\ncufft 4 0\ncurand 1\ncusolver 0 2 1 1.414\ncusparse 1\n"
EXTENSION = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <cuda_runtime.h>
__global__ void add(int *p, int x) { p[threadIdx.x] += x; }
static PyObject *sum(PyObject *self, PyObject *arguments)
{
    int x, *p = nullptr, total = 0;
    if (!PyArg_ParseTuple(arguments, "i", &x) || cudaMallocManaged(&p, 32 * sizeof *p) != cudaSuccess)
        return nullptr;
    for (int i = 0; i < 32; i++)
        p[i] = i;
    add<<<1, 32>>>(p, x);
    cudaDeviceSynchronize();
    for (int i = 0; i < 32; i++)
        total += p[i];
    cudaFree(p);
    return PyLong_FromLong(total);
}
static PyMethodDef methods[] = {{"sum", sum, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "extension", nullptr, -1, methods};
PyMODINIT_FUNC PyInit_extension() { return PyModule_Create(&module); }
"""
# As projects do it: the compiler's step is replaced for .cu, the toolkit is found by nvcc in PATH.
SETUP = """
import os, shutil
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
root = os.path.dirname(os.path.dirname(shutil.which("nvcc")))
class Build(build_ext):
    def build_extensions(self):
        self.compiler.src_extensions.append(".cu")
        usual, program = self.compiler._compile, self.compiler.compiler_so
        def compile(obj, src, ext, cc_args, extra, pp):
            cuda = src.endswith(".cu")
            self.compiler.set_executable("compiler_so", "nvcc" if cuda else program)
            usual(obj, src, ext, cc_args, ["-arch=sm_80", "-Xcompiler", "-fPIC"] if cuda else [], pp)
            self.compiler.compiler_so = program
        self.compiler._compile = compile
        super().build_extensions()
setup(name="extension", version="1", cmdclass={"build_ext": Build},
      ext_modules=[Extension("extension", ["extension.cu"], libraries=["cudart"], library_dirs=[root + "/lib64"], runtime_library_dirs=[root + "/lib64"],
                             include_dirs=[root + "/include"])])
"""
PYPROJECT = """
[build-system]
requires = ["scikit-build-core"]
build-backend = "scikit_build_core.build"
[project]
name = "extension"
version = "1"
"""
CMAKE_EXTENSION = """
cmake_minimum_required(VERSION 3.18)
project(extension LANGUAGES CXX CUDA)
find_package(Python COMPONENTS Interpreter Development.Module REQUIRED)
python_add_library(extension MODULE extension.cu WITH_SOABI)
set_target_properties(extension PROPERTIES CUDA_ARCHITECTURES 80)
install(TARGETS extension DESTINATION .)
"""


def python_with(*modules):
    """A Python that has them, and headers for extensions; None: there is none."""
    ask = "import importlib, os, sys, sysconfig\nfor name in sys.argv[1:]: importlib.import_module(name)\nsys.exit(not os.path.exists(sysconfig.get_path('include') + '/Python.h'))"
    for program in (sys.executable, "/usr/bin/python3", shutil.which("python3"), os.environ.get("MR_EXTENSIONS_PYTHON")):
        if program and subprocess.run([program, "-c", ask, *modules], check=False, capture_output=True).returncode == 0:
            return program
    return None


MESON = """
project('programs', ['cpp', 'cuda'])
cuda = import('unstable-cuda')
flags = cuda.nvcc_arch_flags(meson.get_compiler('cuda'), '8.0')
driver = meson.get_compiler('cpp').find_library('cuda', dirs: get_option('libraries'))
test('kernel', executable('kernel', 'kernel.cu', cuda_args: flags))
test('host', executable('host', 'host.cpp', dependencies: [dependency('cuda', version: '>=12', modules: ['cudart', 'nvrtc']), driver]))
"""
MAKE = """
NVCC := nvcc
kernel: kernel.o
\t$(NVCC) -o $@ $^
host: host.o
\t$(NVCC) -o $@ $^ -lcuda -lnvrtc
%.o: %.cu
\t$(NVCC) -MMD -MP -c -o $@ $<
%.o: %.cpp
\t$(NVCC) -MMD -MP -c -o $@ $<
-include *.d
"""


class Projects(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "empty").mkdir()
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name, text):
        (self.path / name).parent.mkdir(exist_ok=True)
        (self.path / name).write_text(text)

    def do(self, *command, root=ROOT, **more):
        """The output of a command, whose PATH has the toolkit and no variable names one."""
        env = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "NVCC", "LD_", "LIBRARY_PATH", "CPATH"))}
        env = {**env, "PATH": f"{root / 'bin'}:/usr/bin:/bin", **more}
        words = ["unshare", "-rm", "sh", "-c", HIDE, "sh", self.path / "empty"] if CAN_HIDE else []
        words = [str(word) for word in [*words, *command]]
        done = subprocess.run(words, cwd=self.path, capture_output=True, text=True, check=False, env=env, timeout=500)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-6000:]}{done.stderr[-6000:]}")
        return done.stdout

    @unittest.skipUnless(shutil.which("cmake", path="/usr/bin:/bin"), "there is no cmake")
    def test_cmake(self):
        self.write("CMakeLists.txt", CMAKE)
        said = self.do(CMAKE_PROGRAM, "-S", ".", "-B", "out")
        self.assertIn("The CUDA compiler identification is NVIDIA 13.0", said)
        self.assertIn(f"includes: {ROOT / 'include'}", said)
        self.do(CMAKE_PROGRAM, "--build", "out")
        self.assertRegex(self.do("ctest", "--test-dir", "out"), r"100% tests passed(, 0 tests failed)? out of 5\b")

    def test_folders_of_a_link(self):
        """CMake takes the folders that a dry run names for the toolkit's, looks for lib64 below them, and leaves them out of a
        program's RUNPATH. CMake 4 looks nowhere else."""
        done = subprocess.run([ROOT / "bin/nvcc", "--dryrun", "kernel.cu"], cwd=self.path, capture_output=True, text=True, check=True)
        lines = done.stderr.splitlines()
        folders = next(line for line in lines if line.startswith("#$ LIBRARIES=")).removeprefix("#$ LIBRARIES=")
        self.assertEqual(folders, f"-L{ROOT} -L{ROOT / 'lib/runtime'}")
        self.assertIn(f" {folders} ", lines[-1])
        self.assertTrue((ROOT / "lib64/libcublas.so").exists())
        self.assertEqual(list(ROOT.glob("lib*.so*")), [])

    @unittest.skipUnless(shutil.which("cmake", path="/usr/bin:/bin"), "there is no cmake")
    def test_cmake_without_cuda(self):
        """The driver is found although nvcc had no part in it, and the loader knows no path."""
        self.write("CMakeLists.txt", CMAKE_HOST)
        self.write("runtime.cpp", RUNTIME)
        self.do(CMAKE_PROGRAM, "-S", ".", "-B", "out")
        self.do(CMAKE_PROGRAM, "--build", "out")
        self.assertRegex(self.do("ctest", "--test-dir", "out"), r"100% tests passed(, 0 tests failed)? out of 1\b")

    @unittest.skipUnless(shutil.which("cmake", path="/usr/bin:/bin"), "there is no cmake")
    def test_cmake_static_mathematics(self):
        """CUDA::cublas_static and the like. The program finds the libraries although the loader knows no path."""
        self.write("CMakeLists.txt", CMAKE_STATIC)
        self.write("mathematics.cpp", MATHEMATICS)
        self.do(CMAKE_PROGRAM, "-S", ".", "-B", "out")
        self.do(CMAKE_PROGRAM, "--build", "out")
        self.assertEqual(self.do("out/mathematics"), MATHEMATICS_SAY)

    def test_nvcc_static_mathematics(self):
        """The words of NVIDIA's manuals and samples; and a program that no library is found for."""
        self.write("mathematics.cpp", MATHEMATICS)
        libraries = ("-lcublas_static", "-lcublasLt_static", "-lcusolver_static", "-lcusparse_static", "-lcufft_static", "-lcurand_static", "-lculibos")
        self.do("nvcc", "mathematics.cpp", "-o", "program", *libraries)
        self.assertEqual(self.do("./program"), MATHEMATICS_SAY)
        self.do("g++", "mathematics.cpp", "-o", "program", f"-I{ROOT / 'include'}", f"-L{ROOT / 'lib64'}", *libraries, "-lcudart_static", "-lpthread", "-ldl")
        self.assertEqual(self.do("./program"), MATHEMATICS_SAY)
        self.assertNotIn("libcublas", self.do("readelf", "-d", "program"))
        lost = self.path / "lost"  # like the loader, it says so and ends
        lost.write_bytes((self.path / "program").read_bytes().replace(b"MILLRACE-HOME:/", b"MILLRACE-HOME:-"))
        lost.chmod(0o755)
        if CAN_HIDE or "libcublas." not in subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout:
            self.assertRegex(self.do("sh", "-c", "./lost 2>&1; echo $?"), r"^millrace: error: libcu\w+\.so\.1\d: .*; run the program through 'millrace run'\n127\n$")

    @unittest.skipUnless(shutil.which("cmake", path="/usr/bin:/bin"), "there is no cmake")
    def test_ptx_compiler(self):
        """CUDA::nvptxcompiler_static, and the words of NVIDIA's manual."""
        self.write("CMakeLists.txt", CMAKE_ASSEMBLER)
        self.write("assembler.c", ASSEMBLER)
        self.do("cmake", "-S", ".", "-B", "out")
        self.do("cmake", "--build", "out")
        self.assertEqual(self.do("out/assembler"), ASSEMBLER_SAYS)
        self.do("gcc", "assembler.c", "-o", "program", f"-I{ROOT / 'include'}", f"-L{ROOT / 'lib64'}", "-lnvptxcompiler_static", "-ldl", "-lm", "-lpthread")
        self.assertEqual(self.do("./program"), ASSEMBLER_SAYS)

    @unittest.skipUnless(python_with("setuptools"), "there is no Python with setuptools and headers")
    def test_setuptools(self):
        python = python_with("setuptools")
        self.write("setup.py", SETUP)
        self.write("extension.cu", EXTENSION)
        self.do(python, "setup.py", "-q", "build_ext", "--inplace")
        self.assertEqual(self.do(python, "-c", "import extension; print(extension.sum(2))"), "560\n")

    @unittest.skipUnless(python_with("scikit_build_core", "pip") and shutil.which("cmake", path="/usr/bin:/bin"), "there is no Python with scikit-build-core, or no cmake")
    def test_scikit_build_core(self):
        python = python_with("scikit_build_core", "pip")
        self.write("project/pyproject.toml", PYPROJECT)
        self.write("project/CMakeLists.txt", CMAKE_EXTENSION)
        self.write("project/extension.cu", EXTENSION)
        self.do(python, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", "--target", "installed", "./project")
        self.assertEqual(self.do(python, "-c", "import extension; print(extension.sum(2))", PYTHONPATH=str(self.path / "installed")), "560\n")

    @unittest.skipUnless(shutil.which("meson", path="/usr/bin:/bin"), "there is no meson")
    def test_meson(self):
        self.write("meson.build", MESON)
        self.write("meson_options.txt", "option('libraries', type: 'string')\n")
        self.do(MESON_PROGRAM, "setup", "out", f"-Dlibraries={ROOT / 'lib64'}", CUDA_PATH=str(ROOT))
        self.assertRegex(self.do(MESON_PROGRAM, "test", "-C", "out"), r"Ok: +2\b")

    @unittest.skipUnless(shutil.which("make", path="/usr/bin:/bin"), "there is no make")
    def test_make(self):
        self.write("Makefile", MAKE)
        self.do("make", "kernel", "host")
        self.assertEqual(self.do("./kernel"), "62\n")
        self.assertEqual(self.do("./host"), "13\n")
        self.write("twice.h", "static __device__ int twice(int x) { return x + x; }\n")
        os.utime(self.path / "kernel.o", (1, 1))
        self.assertIn("-o kernel.o", self.do("make", "kernel"))

    def test_stubs(self):
        """lib64/stubs has the names that NVIDIA's has, to link with; as the driver under a name of the user's they run."""
        stubs = ROOT / "lib64" / "stubs"
        for name in ("cuda", "nvidia-ml", "nvrtc", "nvJitLink", "cublas", "cublasLt", "cufft", "cufftw", "curand", "cusolver", "cusparse"):
            path = stubs / f"lib{name}.so"
            self.assertTrue(path.exists(), path)
            self.do("g++", "-shared", "-o", "linked.so", "-Wl,--no-as-needed", f"-L{stubs}", f"-l{name}")
            self.assertRegex(self.do("readelf", "-d", "linked.so"), rf"NEEDED.*\[lib{name}\.so\.\d+\]")
        self.do("g++", "host.cpp", "-o", "host", f"-I{ROOT / 'include'}", f"-L{stubs}", f"-L{ROOT / 'lib64'}", "-lcuda", "-lnvrtc", "-lcudart_static", "-ldl", "-lpthread")
        (self.path / "named").mkdir()
        (self.path / "named" / "libcuda.so.1").symlink_to(stubs / "libcuda.so")
        self.assertEqual(self.do("./host", LD_LIBRARY_PATH=f"{self.path / 'named'}:{ROOT / 'lib64'}"), "13\n")
        self.do("nvcc", "kernel.cu", "-o", "kernel", "-cudart", "shared", f"-L{stubs}", "-lcuda")
        self.assertEqual(self.do("./kernel", LD_LIBRARY_PATH=str(self.path / "named")), "62\n")

    def test_run(self):
        """nvcc --run: what was linked, or a program alone, with arguments."""
        self.assertEqual(self.do("nvcc", "--run", "kernel.cu", "-o", "program"), "62\n")
        self.assertEqual(self.do("nvcc", "-cudart", "shared", "--run", "kernel.cu"), "62\n")
        self.assertEqual(self.do("nvcc", "--run", '"./program"'), "62\n")
        self.write("arguments.cpp", '#include <cstdio>\nint main(int argc, char **argv) { for (int i = 1; i < argc; i++) puts(argv[i]); }\n')
        self.assertEqual(self.do("nvcc", "-run", "-run-args", "a,b c", "arguments.cpp"), "a\nb c\n")

    def test_root(self):
        """What a toolkit's root has."""
        for name in ("bin/nvcc", "bin/ptxas", "bin/fatbinary", "bin/cuobjdump", "include/cuda.h", "include/cooperative_groups.h", "lib64/libcuda.so", "lib64/libcudart.so", "lib64/libcudart_static.a", "lib64/libcudadevrt.a",
                     *(f"lib64/lib{name}_static.a" for name in ("cublas", "cublasLt", "cufft", "cufftw", "curand", "cusolver", "cusparse", "nvptxcompiler")), "lib64/libculibos.a",
                     "nvvm/libdevice", "version.json", f"targets/{os.uname().machine}-linux/include/cuda.h", f"targets/{os.uname().machine}-linux/lib/libcuda.so"):
            self.assertTrue((ROOT / name).exists(), name)

    def test_moved(self):
        """A tree at another place; what was compiled by it finds it there."""
        moved = self.path / "moved tree"
        shutil.copytree(ROOT, moved, symlinks=True, ignore=lambda folder, names: [name for name in names if pathlib.Path(folder) == ROOT and name not in ("bin", "include", "lib", "lib64", "device", "nvvm", "version.json")
                                                                                     or name.endswith(".p")])
        self.do("nvcc", "kernel.cu", "-o", "program", root=moved)
        self.assertEqual(self.do("./program", root=moved), "62\n")


if __name__ == "__main__":
    unittest.main()
