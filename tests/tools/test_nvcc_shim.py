# SPDX-License-Identifier: Apache-2.0
"""The nvcc shim: the calls that PyCUDA makes, and what it refuses. Usage: test_nvcc_shim.py NVCC"""
import ctypes
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

LINES_WORD = "-Xclang=-debug-info-kind=line-tables-only"
NVCC = pathlib.Path(sys.argv.pop(1)).resolve()
SOURCE = """
#define FACTOR 2
#ifdef EXTRA
#include "extra.h"
#endif
extern "C" __global__ void scale(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= FACTOR;
}
"""

USES = """
__constant__ float table[16];
__device__ int global[10];
extern "C" __global__ void first(float *p)
{
    __shared__ float s[64];
    s[threadIdx.x] = p[threadIdx.x] * table[threadIdx.x & 15];
    __syncthreads();
    p[threadIdx.x] = s[63 - threadIdx.x] + global[threadIdx.x % 10];
}
extern "C" __global__ void second(double *p, int n)
{
    volatile double a[20];
    for (int i = 0; i < 20; i++)
        a[i * n % 20] = p[i];
    *p = a[n % 20];
}
"""
USED = r"""ptxas info    : 40 bytes gmem, 64 bytes cmem\[3\]
ptxas info    : Compiling entry function 'first' for 'sm_80'
ptxas info    : Function properties for first
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used \d+ registers, used 1 barriers, 256 bytes smem, 8 bytes cmem\[0\]
ptxas info    : Compiling entry function 'second' for 'sm_80'
ptxas info    : Function properties for second
    160 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used \d+ registers, used 0 barriers, 160 bytes cumulative stack size, 12 bytes cmem\[0\]
"""
NVIDIA = pathlib.Path("/usr/local/cuda/bin/nvcc")


def hear_all_signals():
    """In a child: a shell that starts its commands in the background lets them ignore some."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


class Shim(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        (self.path / "kernel.cu").write_text(SOURCE)

    def nvcc(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run([NVCC, *arguments], cwd=self.path, capture_output=True, text=True, check=False,
                              env={**os.environ, **environment}, timeout=120)

    def test_version(self):
        done = self.nvcc("--version")
        self.assertEqual(done.returncode, 0)
        self.assertIn("release 13.0", done.stdout)
        self.assertIn("Millrace", done.stdout)

    def test_cubin_holds_ptx(self):
        done = self.nvcc("--cubin", "-O2", "-arch", "sm_80", "-m64", f"-I{self.path}", "kernel.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.path / "kernel.cubin").read_text()
        self.assertIn(".visible .entry scale", text)
        self.assertIn("sm_80", text)

    def test_ptx_and_output_name(self):
        done = self.nvcc("-ptx", "-gencode", "arch=compute_75,code=sm_75", "kernel.cu", "-o", "out.ptx")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("sm_75", (self.path / "out.ptx").read_text())

    def test_includes_and_macros(self):
        (self.path / "extra.h").write_text("#define VALUE 1\n")
        self.assertEqual(self.nvcc("--cubin", "-DEXTRA", "-I", str(self.path), "kernel.cu").returncode, 0)

    def test_habitual_headers(self):
        names = ("cuda_runtime.h", "device_launch_parameters.h", "math.h", "stdio.h", "stdint.h", "string.h", "assert.h")
        (self.path / "habit.cu").write_text("".join(f"#include <{name}>\n" for name in names) + SOURCE)
        done = self.nvcc("--ptx", "habit.cu")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_headers_that_come_unasked(self):
        (self.path / "bare.cu").write_text("""
__global__ void k(float *p) { assert(p); p[0] = sinf(p[0]); printf("%d", threadIdx.x); }
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 4;
    float *p = (float *)malloc(n * sizeof(float));
    memset(p, 0, n * sizeof(float));
    srand((unsigned)time(NULL));
    p[1] = sqrt((double)rand()) + std::abs(-2.5f);
    std::swap(p[0], p[1]);
    printf("%f\\n", p[0]);
    free(p);
    exit(0);
}
""")
        done = self.nvcc("-c", "bare.cu")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_no_loss_of_digits(self):
        for name in ("exp", "sin"):
            (self.path / "double.cu").write_text(f"__global__ void f(double *x) {{ *x = {name}(*x); }}\n")
            done = self.nvcc("--ptx", "double.cu")
            self.assertEqual(done.returncode, 0, done.stderr)
            text = (self.path / "double.ptx").read_text()
            self.assertIn("fma.rn.f64", text)
            self.assertNotIn("cvt.rn.f32.f64", text)

    def test_option_files(self):
        (self.path / "options").write_text("-load\n/nonexistent.so\n")
        for words in (("@options",), ("-I@options",), ("-I", "@options"), ("-include", "@options"), ("-o", "@options")):
            done = self.nvcc("--ptx", *words, "kernel.cu")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("option files are not read", done.stderr)

    def test_preprocess(self):
        done = self.nvcc("--preprocess", "-arch", "sm_80", "kernel.cu", "--compiler-options", "-P")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("data[i] *= 2;", done.stdout)
        self.assertNotIn("# 1 ", done.stdout)

    def test_source_error_names_line(self):
        (self.path / "broken.cu").write_text("__global__ void f() { undeclared = 1; }\n")
        done = self.nvcc("--cubin", "broken.cu")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("broken.cu:1:", done.stderr)
        self.assertFalse((self.path / "broken.cubin").exists())

    def test_what_kernels_use(self):
        (self.path / "uses.cu").write_text(USES)
        words = (["-Xptxas", "-v"], ["-Xptxas=-v,-O2"], ["--ptxas-options=--verbose"], ["--resource-usage"], ["-res-usage"])
        for index, option in enumerate(words):
            phase = (["--cubin"], ["--fatbin"], ["-c"], ["-rdc=true", "-c"], ["--cubin", "-rdc=true"])[index]
            done = self.nvcc(*option, *phase, "-arch=sm_80", "uses.cu", "-o", "out")
            self.assertEqual((done.returncode, done.stdout), (0, ""))
            self.assertRegex(done.stderr, USED)
            self.assertEqual(done.stderr.count("Compiling entry function"), 2)
            self.assertTrue((self.path / "out").exists())
        for words in (["-Xptxas", "-v", "--ptx"], ["-Xptxas", "-O3", "--cubin"], ["-c"]):
            done = self.nvcc(*words, "uses.cu")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = self.nvcc("-res-usage", "-c", "-gencode", "arch=compute_75,code=sm_75", "-gencode", "arch=compute_86,code=sm_86", "uses.cu")
        self.assertEqual(re.findall(r"'first' for 'sm_(\d+)'", done.stderr), ["75", "86"])

    @unittest.skipUnless(NVIDIA.exists(), "NVIDIA's nvcc is not here")
    def test_what_kernels_use_as_nvidia_says_it(self):
        """Each line has the same shape. NVIDIA's adds its compile time, and bank 4."""
        def shape(text):
            text = re.sub(r", \d+ bytes cmem\[4\]", "", text)
            return sorted(re.sub(r"Used \d+|\d+ bytes cmem\[0\]", "N", line) for line in text.splitlines() if "Compile time" not in line)
        (self.path / "uses.cu").write_text(USES)
        words = ["-Xptxas", "-v", "-arch=sm_80", "--cubin", "uses.cu"]
        theirs = subprocess.run(
            [NVIDIA, *words], cwd=self.path, capture_output=True, text=True, check=True, timeout=120
        )
        self.assertEqual(shape(self.nvcc(*words).stderr), shape(theirs.stderr))

    def test_traits_of_extended_lambdas(self):
        (self.path / "lambda.cu").write_text("""
template <class F> __global__ void each(F f) { f(threadIdx.x); }
template <class F> void start(F f)
{
    static_assert(!__nv_is_extended_device_lambda_closure_type(F) || __nv_is_extended_host_device_lambda_closure_type(F)
        || __nv_is_extended_device_lambda_with_preserved_return_type(F), "its return type can be asked for");
    each<<<1, 1>>>(f);
}
int main() { int *p = nullptr; start([=] __device__(int i) { p[i] = i; }); }
""")
        done = self.nvcc("--extended-lambda", "-c", "lambda.cu")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_cubins_are_checked(self):
        (self.path / "large.cu").write_text("__global__ void f(int *p) { __shared__ volatile char s[50000]; s[threadIdx.x] = 1; *p = s[*p]; }\n")
        done = self.nvcc("--cubin", "large.cu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("would not load", done.stderr)
        self.assertIn("50000 bytes of static shared memory", done.stderr)
        self.assertFalse((self.path / "large.cubin").exists())

    def test_tables_larger_than_constant_memory(self):
        """`const` variables of the device are in global memory, as large as they are, where clang's 64 KiB do not hold
        them."""
        (self.path / "tables.cu").write_text("""
static __device__ const int first[10000] = { 1, 2, 3 };
const __device__ double second[5000] = { 4, 5 };
namespace { const __device__ short third[30000] = { 6 }; }
template <class T> __device__ const T fourth[9000] = { 7 };
static const float of_the_host[100000] = { 8 };
__constant__ int filled[16];
__global__ void f(int *p) { *p = first[*p] + (int)second[*p] + third[*p] + fourth<int>[*p] + filled[*p]; }
""")
        for words in (), ("-G",), ("-lineinfo", "-fmad=false"), ("-rdc=true",):
            done = self.nvcc("--ptx", "-w", *words, "tables.cu")
            self.assertEqual(done.returncode, 0, done.stderr)
            text = (self.path / "tables.ptx").read_text()
            spaces = dict(reversed(pair) for pair in re.findall(r"^(?:\.\w+ )?\.(global|const) \.align \d+ \.\w+ (\w+)\[\d{4,}\]", text, re.M))
            self.assertEqual(set(spaces.values()), {"global"}, (words, spaces))
            self.assertEqual(len(spaces), 4, (words, spaces))
            self.assertRegex(text, r"\.const \.align 4 \.b8 filled\[64\]")
        self.assertEqual(self.nvcc("--cubin", "-w", "tables.cu").returncode, 0)
        # The second compilation, too, reads no 16 bytes at once where the address need not be a multiple of 16.
        (self.path / "rounds.cu").write_text("static __device__ const int table[20000] = { 1 };\n__global__ void rest(int *p) { *p = table[*p]; }\n"
                                             + (pathlib.Path(__file__).resolve().parents[1] / "compilers" / "kernels.cu").read_text())
        self.assertEqual(self.nvcc("--ptx", "-w", "rounds.cu").returncode, 0)
        self.assertEqual(re.findall(r"ld\.shared\.v4.*\+\d*[13579]\];", (self.path / "rounds.ptx").read_text()), [])
        # What the host fills is a device's to hold.
        (self.path / "tables.cu").write_text("__constant__ int filled[20000];\n__global__ void f(int *p) { *p = filled[*p]; }\n")
        done = self.nvcc("--cubin", "tables.cu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("constant variables take more than 65536 bytes", done.stderr)

    def test_a_return_without_a_value(self):
        """nvcc warns, as NVIDIA's does."""
        (self.path / "less.cu").write_text("__device__ int f(int a) { if (a) return; return 7; }\n__global__ void k(int *p) { *p = f(0); }\nint main(int n, char **) { if (n > 9) return; return 0; }\n")
        done = self.nvcc("-c", "less.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("less.cu:1:34: warning: non-void function 'f' should return a value", done.stderr)

    def test_what_nvcc_only_warns_of(self):
        """Clang refuses it: narrowing in braces, `register`, no space behind a literal, enumerations out of range."""
        (self.path / "lax.cu").write_text(
            "#include <cinttypes>\n#include <cstdio>\nenum side { LEFT, RIGHT };\nconstexpr side neither = (side)-1;\ntemplate <side s> struct with {};\n"
            "__global__ void k(int n, double d, float *p)\n{\n    register float both[] = {d, n};\n    unsigned u{n};\n    with<(side)7> w;\n    *p = both[0] + u + sizeof w;\n}\n"
            "static int next(register int n) { register int m = n + 1; return m; }\n"
            "int main(int n, char **)\n{\n    dim3 grid = {n / 2, 1}, block{n};\n    float3 v = {n, n, next(n)};\n    uchar4 c{n, n, n, 255};\n"
            '    k<<<grid, block>>>(n, 1, 0);\n    printf("%"PRIu64" %d\\n", (uint64_t)n, (int)v.z + c.w + neither);\n    return 0;\n}\n')
        only = ["-c"] if os.environ.get("MR_SANITIZED") else []  # the runtime library wants a sanitizer's own
        done = self.nvcc("lax.cu", *only, "-o", "lax")
        self.assertEqual(done.returncode, 0, done.stderr)
        for place, words in (("8:30", "from type 'double' to 'float'"), ("9:16", "'int' to 'unsigned int'"), ("13:17", "'register'"), ("16:18", "'int' to 'unsigned int'")):
            self.assertRegex(done.stderr, rf"lax\.cu:{place}: warning: .*{words}")
        done = self.nvcc("-w", "lax.cu", *only, "-o", "lax")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        if not only:
            self.assertEqual(subprocess.run([self.path / "lax"], capture_output=True, text=True).stdout, "1 256\n")

    @unittest.skipIf(os.environ.get("MR_SANITIZED"), "Python loads a library that wants a sanitizer's own")
    def test_link_time(self):
        """-dlto -ltoir: a container of relocatable code, which nvJitLink links; what NVIDIA's nvcc refuses is refused."""
        (self.path / "caller.cu").write_text('extern __device__ int plus(int);\nextern "C" __global__ void k(int *p) { *p = plus(*p); }\n')
        (self.path / "callee.cu").write_text("__device__ int plus(int x) { return x + 35; }\n")
        library = ctypes.CDLL(str(NVCC.parent.parent / "lib" / "libnvJitLink.so.13"))
        link = {name: library[f"__nvJitLink{name}_13_0"] for name in ("Create", "AddFile", "Complete", "GetLinkedPtxSize", "GetLinkedPtx", "Destroy")}
        for words, ending in (("-ltoir", "-dlto"), "ltoir"), (("-ltoir", "-lto", "-arch=sm_80"), "ltoir"), (("--fatbin", "-dlto"), "fatbin"):
            handle, size = ctypes.c_void_p(), ctypes.c_size_t()
            options = (ctypes.c_char_p * 3)(b"-arch=sm_80", b"-lto", b"-ptx")
            self.assertEqual(link["Create"](ctypes.byref(handle), 3, options), 0)
            for name in "caller", "callee":
                done = self.nvcc(*words, f"{name}.cu")
                self.assertEqual(done.returncode, 0, done.stderr)
                kind = {"ltoir": 3, "fatbin": 4}[ending]
                self.assertEqual(link["AddFile"](handle, kind, os.fsencode(self.path / f"{name}.{ending}")), 0)
            self.assertEqual(link["Complete"](handle), 0)
            self.assertEqual(link["GetLinkedPtxSize"](handle, ctypes.byref(size)), 0)
            text = ctypes.create_string_buffer(size.value)
            self.assertEqual(link["GetLinkedPtx"](handle, text), 0)
            self.assertIn(b".entry k(", text.value)
            self.assertRegex(text.value, rb"(?s)\.func.*35;")
            link["Destroy"](ctypes.byref(handle))
        for words in ("-ltoir",), ("-ltoir", "-arch=sm_80"), ("-ltoir", "-dlto", "-gencode", "arch=compute_80,code=lto_80", "-gencode", "arch=compute_90,code=lto_90"):
            self.assertIn("-ltoir", self.nvcc(*words, "callee.cu").stderr)
            self.assertEqual(self.nvcc(*words, "callee.cu").returncode, 1)

    def test_entries(self):
        """-e: of a cubin these kernels alone; PTX holds them all. Names are looked for where NVIDIA's nvcc runs its
        assembler."""
        (self.path / "two.cu").write_text(SOURCE + "__global__ void other(float *p) { *p = 1; }\n__device__ int table[4] = { 1, 2 };\n"
                                          'extern "C" __device__ __noinline__ int helper(int x) { return x * table[x]; }\n__global__ void third(int *p) { *p = helper(*p); }\n')
        for words, wanted in ((("-e", "scale"), ["scale"]), (("--entries=_Z5otherPf,scale",), ["scale", "_Z5otherPf"]), (("-e=scale", "-e", "_Z5thirdPi"), ["scale", "_Z5thirdPi"]),
                              (("-Xptxas", "-e=scale"), ["scale"]), (("-e", ""), ["scale", "_Z5otherPf", "_Z5thirdPi"])):
            done = self.nvcc("-cubin", *words, "two.cu")
            self.assertEqual(done.returncode, 0, done.stderr)
            text = (self.path / "two.cubin").read_text()
            self.assertEqual(re.findall(r"\.entry (\w+)", text), wanted, words)
            self.assertIn("table", text)
            (self.path / "two.cubin").unlink()
        self.assertEqual(self.nvcc("-ptx", "-e", "scale,nothing", "two.cu").returncode, 0)
        self.assertEqual(len(re.findall(r"\.entry", (self.path / "two.ptx").read_text())), 3)
        for phase in ("-cubin",), ("-fatbin",), ("-c",), ("-dc", "-arch=sm_80"):
            done = self.nvcc(*phase, "-e", "nothing", "two.cu")
            self.assertEqual((done.returncode, done.stderr), (255, "ptxas fatal   : Unknown function nothing\n"), phase)
        self.assertIn("Entry function 'helper' not found", self.nvcc("-cubin", "-e", "helper", "two.cu").stderr)
        self.assertEqual(self.nvcc("-fatbin", "-arch=compute_80", "-e", "nothing", "two.cu").returncode, 0)
        self.assertFalse((self.path / "two.cubin").exists())

    def test_output_to_a_fifo(self):
        """What goes to a FIFO is not read back from there."""
        fifo = self.path / "fifo"
        os.mkfifo(fifo)
        for phase, begin in ("--ptx", b"//"), ("--cubin", b"//"), ("--fatbin", b"\x50\xed\x55\xba"):
            with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE) as reader:
                done = self.nvcc(phase, "kernel.cu", "-o", "fifo")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(reader.communicate(timeout=60)[0].startswith(begin), phase)
            self.assertTrue(fifo.is_fifo())
        done = self.nvcc("--cubin", "kernel.cu", "-o", "-")
        self.assertIn(".entry scale", done.stdout)

    def test_unknown_options_are_named(self):
        for option in ("-fplugin=evil.so", "--load-plugin", "-Xclang", "-m32", "-O9", "-lineinfo=maybe", "-fmad=1", "--unknown"):
            done = self.nvcc("--cubin", option, "kernel.cu")
            self.assertEqual(done.returncode, 1, option)
            self.assertIn(option.split("=")[0].removeprefix("-O"), done.stderr)
            self.assertFalse((self.path / "kernel.cubin").exists())

    def test_other_programs_options_are_guarded(self):
        hostile = ("-fplugin=x.so", "-fpass-plugin=x.so", "-load", "-Xclang", "-B.", "-specs=x", "-wrapper", "-mllvm", "-fuse-ld=./x", "@options", "-Wl,-plugin,x.so", "-O2 -fplugin=x.so", "-O2 -Wl,-z,now -specs=x",
                   "-Wl,--plugin=x.so", "-Wa,x", "-Wp,x", "-I", "-D")
        for option in hostile:
            done = self.nvcc("--cubin", f"--compiler-options={option}", "kernel.cu")
            self.assertEqual(done.returncode, 1, option)
            self.assertIn("Millrace", done.stderr)
        for option in ("-z now -plugin x.so", "-plugin", "--plugin=x.so", "-plugin-opt=x", "@options", "-mllvm"):
            done = self.nvcc("--cubin", "-Xlinker", option, "kernel.cu")
            self.assertEqual(done.returncode, 1, option)
        for words in (("-Xptxas", "--unknown"), ("-Xcudafe", "--unknown"), ("-Xfatbin", "--unknown"), ("-Werror", "unknown"), ("-cudart", "unknown"),
                      ("-default-stream", "unknown"), ("-x", "unknown"), ("-maxrregcount", "many"), ("-optf", "options"), ("--options-file", "options")):
            done = self.nvcc("--cubin", *words, "kernel.cu")
            self.assertEqual(done.returncode, 1, words)

    def test_options_that_pass(self):
        words = ("-Xcompiler", "-Wall,-fPIC", "-Xcompiler", " -O2 -g  -Wl,-rpath,/x,-z,now -fno-math-errno ", "--compiler-options=-O2", "-Xptxas=-v,-O3", "-Xptxas=--register-usage-level=10,-func-maxrregcount=64,--suppress-stack-size-warning",
                 "-Xptxas", "--optimize-float-atomics", "-Xcudafe", "--diag_suppress=20011", "-Xfatbin", "-compress-all",
                 "-Werror", "all-warnings,cross-execution-space-call", "-maxrregcount=32", "-t", "2", "--default-stream", "per-thread", "-use_fast_math",
                 "-ftz=true", "-fmad=false", "-prec-div=true", "--expt-relaxed-constexpr", "--extended-lambda", "-lineinfo", "-g", "-O3", "-std=c++20",
                 "-diag-suppress", "177", "-cudart", "none", "-Wno-deprecated-gpu-targets", "--restrict=true", "-m64", "-rdc=true")
        done = self.nvcc("--ptx", *words, "kernel.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(".loc", (self.path / "kernel.ptx").read_text())

    def test_questions_to_the_host_compiler(self):
        """Build systems ask by a source that is not there, as llama.cpp's does."""
        done = self.nvcc(".c", "-Xcompiler", "--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"clang version [0-9]+\.")
        done = self.nvcc(".c", "-Xcompiler", "-dumpfullversion -dumpversion")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^[0-9]+\.[0-9.]+\n$")
        self.assertEqual(list(self.path.glob("*.o")), [])
        self.assertEqual(self.nvcc("-Xcompiler", "--version").returncode, 1, "there is no source")

    def test_every_option_of_nvcc(self):
        """Each of nvcc 13.0's is taken, or refused with a reason; none is unknown."""
        bare = """-V -h -E -ptx -cubin -fatbin -c -lib -dlink -dc -dw -M -MM -MD -MMD -MP -arch-ls -code-ls -nodlink -pg -noeh -forward-unknown-to-host-compiler
            -forward-unknown-to-host-linker -forward-unknown-opts -dlto -lto -gen-opt-lto -ewp -no-compress -reloc-ptx -nohdinitlist -nohdmoveforward -Wdefault-stream-launch -Wmissing-launch-bounds
            -Wext-lambda-captures-this -Wreorder -Wno-deprecated-declarations -Wno-deprecated-gpu-targets -noprof -objtemp -jobserver --no-align-double -use-local-env -force-cl-env-setup -m64 -w
            -lineinfo -G -g -use_fast_math -restrict -expt-relaxed-constexpr -expt-extended-lambda -extended-lambda -res-usage -src-in-ptx -extra-device-vectorization -allow-unsupported-compiler
            -err-no -no-err-no -v -dryrun -run -shared -keep -save-temps"""
        valued = """-o=x -odir=. -arch=sm_80 -code=sm_75 -gencode=arch=compute_80,code=sm_80 -rdc=true -x=cu -ccbin=clang-19 -keep-dir=. -cudart=static -default-stream=legacy -m=64 -I=a -isystem=a -D=A
            -U=A -include=a.h -std=c++17 -O=2 -Werror=all-warnings -fmad=true -ftz=true -prec-div=true -prec-sqrt=true -maxrregcount=32 -t=2 -split-compile=2 -split-compile-extended=2 -jtd=50
            -Ofc=min -opt-info=inline -compress-mode=size -frandom-seed=7 -static-global-template-stub=true -device-entity-has-hidden-visibility=false -device-stack-protector=true -ldir=a
            -target-dir=a -idp=a -ddp=a -dp=a -cudadevrt=static -diag-suppress=177 -diag-warn=177 -diag-error=177 -Xcompiler=-Wall -Xlinker=-s -Xptxas=-v -Xcudafe=--diag_suppress=177 -Xfatbin=-compress-all
            -Xnvlink=-v,--suppress-stack-size-warning -L=a -l=m -arbin=ar -dopt=on -ftemplate-depth=9 -ftemplate-backtrace-limit=9 -brief-diag=true -optf=/dev/null -e=scale -MT=a -run-args=a,b"""
        refused = """-cuda -optix-ir -fdevice-syntax-only -fdevice-time-trace=a -time=a -clean -Xarchive=a -keep-device-functions -astoolspatch -r -hls=use-lcs -aug-hls
            -qpp-config=a -sanitize=memcheck"""
        for words in [[word] for word in bare.split()] + [word.split("=", 1) for word in valued.split()] + [["-MF", "a", "-MD"]]:
            done = self.nvcc("--dryrun", *words, "kernel.cu")
            self.assertEqual(done.returncode, 0, f"{words} {done.stderr}")
        for word in refused.split():
            done = self.nvcc("--dryrun", *word.split("=", 1), "kernel.cu")
            self.assertEqual((done.returncode, done.stderr.count("error: ")), (1, 2), f"{word} {done.stderr}")
        for words in ("-Ofc", "most"), ("-compress-mode", "i"), ("-opt-info", "inl"), ("-dopt", "off"), ("-jtd", "many"), ("-Xnvlink", "--unknown"), ("-forward-unknown-to-host-linker", "-fplugin=x"), ("-arch=lto_99",):
            self.assertEqual(self.nvcc("--dryrun", *words, "kernel.cu").returncode, 1, words)

    def test_lists_of_what_there_is(self):
        """Build files ask for the architectures."""
        lines = self.nvcc("--list-gpu-arch").stdout.split()
        self.assertEqual((lines[0], lines[-1]), ("compute_50", "compute_121"))
        self.assertEqual(self.nvcc("--list-gpu-code").stdout.split(), [line.replace("compute", "sm") for line in lines])
        self.assertIn("arch=compute_80,code=sm_80", self.nvcc("-arch-ls", "-code-ls").stdout.split())

    def test_files_of_options(self):
        (self.path / "options").write_text("-DFIRST='a b'\n \"-DSECOND=c d\" -DTHIRD=e\\ f\t--generate-line-info\n")
        done = self.nvcc("--ptx", "--dryrun", "--options-file", "options", "kernel.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ('"-DFIRST=a b"', '"-DSECOND=c d"', '"-DTHIRD=e f"', LINES_WORD):
            self.assertIn(word, done.stderr)
        (self.path / "inputs").write_text("kernel.cu -o out.ptx")
        self.assertEqual(self.nvcc("--ptx", "-optf", "inputs").returncode, 0)
        self.assertTrue((self.path / "out.ptx").exists())
        (self.path / "with,comma").write_text("-DFOURTH")
        done = self.nvcc("--dryrun", "-optf", "options,inputs", "-optf=with\\,comma", "--ptx")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ('"-DFIRST=a b"', "-DFOURTH", "out.ptx"):
            self.assertIn(word, done.stderr)
        for words in (("-optf=options,nowhere",), ("-optf=",)):
            self.assertEqual(self.nvcc("--ptx", "kernel.cu", *words).returncode, 1, words)
        for text in ("-optf options", "@options", "-fplugin=x.so", "-Xcompiler -fplugin=x.so", "-D@options", "--unknown", "-DX=`touch hacked` -std"):
            (self.path / "hostile").write_text(text)
            self.assertEqual(self.nvcc("--ptx", "-optf=hostile", "kernel.cu").returncode, 1, text)
        self.assertFalse((self.path / "hacked").exists())

    def test_verbose_shows_places(self):
        done = self.nvcc("-v", "__cmake_determine_cuda")
        self.assertEqual(done.returncode, 1)
        for name in ("TOP", "INCLUDES", "LIBRARIES", "PATH"):
            self.assertIn(f"#$ {name}=", done.stderr)

    def test_several_inputs(self):
        (self.path / "second.cu").write_text(SOURCE.replace("scale", "other"))
        done = self.nvcc("--ptx", "kernel.cu", "second.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(".entry scale", (self.path / "kernel.ptx").read_text())
        self.assertIn(".entry other", (self.path / "second.ptx").read_text())
        self.assertEqual(self.nvcc("--ptx", "kernel.cu", "second.cu", "-o", "one.ptx").returncode, 1)
        (self.path / "out").mkdir()
        self.assertEqual(self.nvcc("--fatbin", "-odir", "out", "kernel.cu", "second.cu").returncode, 0)
        self.assertEqual(sorted(path.name for path in (self.path / "out").iterdir()), ["kernel.fatbin", "second.fatbin"])

    def test_first_phase_counts(self):
        """As nvcc has it: of several phases the one that ends first."""
        for words, made in ((("--ptx", "-dc"), "ptx"), (("-dc", "--ptx"), "ptx"), (("-c", "-ptx"), "ptx"), (("-cubin", "-ptx"), "ptx"), (("-ptx", "-fatbin"), "ptx"),
                            (("-dw", "-cubin"), "cubin"), (("-fatbin", "-cubin", "-c"), "cubin"), (("-fatbin", "-c"), "fatbin"), (("-link", "-fatbin"), "fatbin")):
            done = self.nvcc(*words, "kernel.cu")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(path.name for path in self.path.iterdir()), sorted([f"kernel.{made}", "kernel.cu"]), words)
            (self.path / f"kernel.{made}").unlink()
        for words in (("-c", "-E"), ("-E", "-c", "-ptx")):
            done = self.nvcc(*words, "kernel.cu")
            self.assertIn("data[i] *= 2;", done.stdout)
            self.assertEqual([path.name for path in self.path.iterdir()], ["kernel.cu"])
        # Code that is to be linked later keeps what nobody in its source uses.
        (self.path / "later.cu").write_text("__device__ int later(int x) { return x + 1; }\n")
        self.assertEqual(self.nvcc("--ptx", "-dc", "later.cu").returncode, 0)
        self.assertIn("later", (self.path / "later.ptx").read_text())

    def test_each_option_in_each_spelling(self):
        """What becomes of an option, as the commands show that would be run: words in the device's half and in the
        host's, or None where they must not be."""
        table = (
            (("-I", "a b"), '"-Ia b"', '"-Ia b"'), (("-Ifolder",), "-Ifolder", "-Ifolder"), (("--include-path=folder",), "-Ifolder", "-Ifolder"),
            (("-isystem", "folder"), "-isystemfolder", "-isystemfolder"), (("--system-include", "folder"), "-isystemfolder", "-isystemfolder"),
            (("-D", "A=1"), "-DA=1", "-DA=1"), (("-DA=1",), "-DA=1", "-DA=1"), (("--define-macro", "A"), "-DA", "-DA"), (("-UA",), "-UA", "-UA"),
            (("-include", "h.h"), "-includeh.h", "-includeh.h"), (("-std=c++20",), "-std=c++20", "-std=c++20"), (("--std", "c++14"), "-std=c++14", "-std=c++14"),
            (("-O1",), None, " -O1"), (("-O", "3"), None, " -O3 "), (("--optimize=0",), None, " -O0"), (("-g",), None, " -g "), (("--debug",), None, " -g "),
            (("-G",), "-debug-info-kind=constructor -O0 ", "-D__CUDACC_DEBUG__"), (("--device-debug",), " -O0 ", "-D__CUDACC_DEBUG__"),
            (("-lineinfo",), LINES_WORD, None), (("--generate-line-info",), LINES_WORD, None),
            (("-fmad=false",), "-ffp-contract=off", None), (("--fmad", "true"), "-ffp-contract=fast -ffp-contract=fast", None),
            (("-ftz=true",), "-fgpu-flush-denormals-to-zero", None), (("--ftz=false",), "-fno-gpu-flush-denormals-to-zero", None),
            (("-use_fast_math",), "-fgpu-flush-denormals-to-zero", None), (("--use_fast_math=true",), "-fgpu-flush-denormals-to-zero", None),
            (("--expt-relaxed-constexpr",), "-D__CUDACC_RELAXED_CONSTEXPR__=1", "-D__CUDACC_RELAXED_CONSTEXPR__=1"),
            (("-extended-lambda",), "-D__CUDACC_EXTENDED_LAMBDA__=1", "-D__CUDACC_EXTENDED_LAMBDA__=1"),
            (("--expt-extended-lambda",), "-D__CUDACC_EXTENDED_LAMBDA__=1", "-D__CUDACC_EXTENDED_LAMBDA__=1"),
            (("-rdc=true",), "-fgpu-rdc", "-fgpu-rdc"), (("--relocatable-device-code", "false"), None, None),
            (("-Xcompiler", "-fPIC,-Wall"), None, "-fPIC -Wall"), (("--compiler-options=-fno-rtti",), None, "-fno-rtti"),
            (('--compiler-options="-fPIC"',), None, " -fPIC "), (("-Xcompiler", "'-fPIC',\"-DWORDS=1 2,3\" -Wall"), None, '-fPIC "-DWORDS=1 2,3" -Wall'),
            (("-default-stream", "per-thread"), "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1", "-fgpu-default-stream=per-thread"), (("-w",), " -w ", " -w "),
            (("-Werror", "all-warnings"), " -Werror ", " -Werror "), (("-Werror=reorder",), "-Werror=reorder", "-Werror=reorder"), (("-Wreorder",), "-Wreorder", "-Wreorder"),
            (("-MD",), None, " -MD -MF kernel.d -MT kernel.o"), (("-MMD", "-MF", "x.d", "-MT", "t", "-MP"), None, " -MMD -MF x.d -MT t -MP"),
            (("-o", "out.o"), None, " -o out.o "), (("-odir", "folder"), None, " -o folder/kernel.o "), (("-arch=sm_86",), "--cuda-gpu-arch=sm_86", None),
            (("-arch", "compute_90"), "--cuda-gpu-arch=sm_90", None), (("--gpu-architecture=sm_75", "--gpu-code=sm_80,compute_75"), "--cuda-gpu-arch=sm_75", None),
            (("-gencode=arch=compute_70,code=sm_72",), "--cuda-gpu-arch=sm_70", None), (("--generate-code", "arch=compute_61,code=[sm_61,compute_61]"), "--cuda-gpu-arch=sm_61", None),
            (("-I", "a,b"), "-Ia -Ib", "-Ia -Ib"), (("-DA=1\\,2,B",), "-DA=1,2 -DB", "-DA=1,2 -DB"), (('-DA="1,2"',), r'"-DA=\"1,2\""', r'"-DA=\"1,2\""'),
            (("-isystem=a,b",), "-isystema -isystemb", "-isystema -isystemb"), (("-include", "a.h,b.h"), "-includea.h -includeb.h", "-includea.h -includeb.h"), (("-U", "A,,B"), "-UA -UB", "-UA -UB"),
            (("-pg",), None, " -pg "), (("-noeh",), None, "-fno-exceptions"), (("-ftemplate-depth", "99"), "-ftemplate-depth=99", "-ftemplate-depth=99"),
            (("-ftemplate-backtrace-limit=9",), "-ftemplate-backtrace-limit=9", "-ftemplate-backtrace-limit=9"), (("-brief-diag=true",), "-fno-caret-diagnostics", "-fno-caret-diagnostics"),
            (("-G", "-dopt=on"), LINES_WORD, "-D__CUDACC_DEBUG__"), (("-gencode=arch=compute_80,code=lto_80",), "--cuda-gpu-arch=sm_80", None), (("-arch=lto_80",), "--cuda-gpu-arch=sm_80", None),
            (("-forward-unknown-opts", "-fno-rtti", "-Wl,-z,now"), None, "-fno-rtti"), (("-forward-unknown-to-host-compiler", "-mavx2"), None, "-mavx2"), (("-arch=native",), "--cuda-gpu-arch=sm_", None), (("-arch=all-major",), "--cuda-gpu-arch=sm_90", None), (("-Xptxas", "-v,-O2"), None, None),
            (("--ptxas-options=--verbose",), None, None), (("-maxrregcount", "32"), None, None), (("--keep", "-keep-dir", "."), "./kernel.ptx", "./kernel.fatbin"),
        )
        plain = self.nvcc("--dryrun", "-c", "kernel.cu")
        for words, device, host in table:
            done = self.nvcc("--dryrun", "-c", *words, "kernel.cu")
            self.assertEqual(done.returncode, 0, (words, done.stderr))
            lines = [line + " " for line in done.stderr.splitlines() if " -x cuda " in line]
            for kind, wanted in (("--cuda-device-only", device), ("--cuda-host-only", host)):
                line = [text for text in lines if kind in text][-1]
                if wanted is None:
                    continue
                self.assertIn(wanted, line, words)
                if not wanted.startswith(("--cuda-gpu-arch=sm_75", "--cuda-gpu-arch=sm_")):
                    self.assertNotIn(wanted, "".join(text + " " for text in plain.stderr.splitlines() if kind in text), words)
        for words in (("-Xptxas", "-v,-O2"), ("-maxrregcount=32",), ("--relocatable-device-code", "false")):
            # Nothing that steers the CPU's code.
            self.assertEqual(self.commands(self.nvcc("--dryrun", "-c", *words, "kernel.cu")), self.commands(plain), words)
        link = self.nvcc("--dryrun", "-Lfolder", "-l", "m", "-Xlinker", "-z,now", "-cudart", "shared", "-shared", "kernel.cu", "-o", "l.so").stderr.splitlines()[-1]
        for word in ("-Lfolder", "-lm", "-lcudart ", "-shared", "-o l.so"):
            self.assertIn(word, link + " ")
        self.assertIn("-lcudart_static", self.nvcc("--dryrun", "kernel.cu").stderr)

    @staticmethod
    def commands(done: subprocess.CompletedProcess) -> list[str]:
        """The commands of a dry run, except for the names of temporary folders."""
        return [re.sub(r"millrace-nvcc-\w+", "", line) for line in done.stderr.splitlines()]

    def test_warnings_of_what_is_not_used(self):
        (self.path / "unused.cu").write_text("static int lonely(int a) { return a; }\nstatic __device__ int far_off(int a) { return a; }\n"
                                             "__global__ void k(int *p) { int nobody; int set; set = 3; *p = 1; }\n"
                                             "void host() { int there; k<<<1, 1>>>(0); }\n")
        for words in (("--ptx",), ("-c",), ("-fatbin", "-gencode", "arch=compute_75,code=sm_75", "-gencode", "arch=compute_80,code=sm_80")):
            done = self.nvcc(*words, "unused.cu")
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("lonely", "far_off", "nobody", "set", "there"):
                self.assertEqual(done.stderr.count(f"'{name}'"), 1, (words, name, done.stderr))
        for words in (("-w",), ("-diag-suppress", "177,550"), ("-Xcudafe", "--diag_suppress=177", "-Xcudafe", "--diag_suppress=550")):
            done = self.nvcc("--ptx", *words, "unused.cu")
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        done = self.nvcc("--ptx", "-diag-suppress=177", "unused.cu")
        self.assertEqual(done.stderr.count("warning:"), 1, done.stderr)
        for words in (("-Werror", "all-warnings"), ("-diag-error", "177"), ("-diag-error=550",)):
            self.assertEqual(self.nvcc("--ptx", *words, "unused.cu").returncode, 1, words)

    def entries(self, path: pathlib.Path) -> list[tuple[int, str]]:
        """The targets and texts in a fat binary."""
        data, found = path.read_bytes(), []
        magic, _, head, size = struct.unpack_from("<IHHQ", data)
        self.assertEqual((magic, head + size), (0xba55ed50, len(data)))
        at = head
        while at < len(data):
            kind, _, entry_head, body = struct.unpack_from("<HHIQ", data, at)
            self.assertEqual(kind, 1)
            found.append((struct.unpack_from("<I", data, at + 28)[0], data[at + entry_head:at + entry_head + body].rstrip(b"\0").decode()))
            at += entry_head + body
        return found

    def test_fatbin(self):
        done = self.nvcc("--fatbin", "-gencode", "arch=compute_75,code=[sm_75,compute_75]", "-gencode=arch=compute_80,code=sm_80", "kernel.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.entries(self.path / "kernel.fatbin")
        self.assertEqual([target for target, _ in found], [75, 80])
        for target, text in found:
            self.assertIn(f".target sm_{target}", text)
            self.assertIn(".visible .entry scale", text)

    def test_newer_than_clang_knows(self):
        """The PTX names the target and the version that it needs, and the source sees its number."""
        # A table for which constant memory is too small is one more step of the compiler's.
        (self.path / "arch.cu").write_text('__device__ const int table[20000] = { 1 };\nextern "C" __global__ void k(int *p) { *p = __CUDA_ARCH__; p[1] = table[*p]; }\n')
        for target, version in (100, "8.6"), (103, "8.8"), (110, "9.0"), (120, "8.7"), (121, "8.8"), (88, "8.3"):
            for phase in "--ptx", "--fatbin", "-rdc=true --ptx":
                done = self.nvcc(*phase.split(), f"-arch=sm_{target}", "arch.cu", "-o", "arch.out")
                self.assertEqual(done.returncode, 0, done.stderr)
                text = (self.path / "arch.out").read_text() if phase != "--fatbin" else self.entries(self.path / "arch.out")[0][1]
                self.assertEqual(text.split(".target sm_")[1].split()[0], str(target))
                self.assertEqual(text.split(".version ")[1].split()[0], version)
                self.assertIn(f"{target}0;", text)

    def test_lists_of_architectures(self):
        """What no code can be made for is left out with one warning, unless nothing remains."""
        stock = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in (75, 80, 86, 90, 100, 120)] + ["-gencode=arch=compute_120,code=compute_120"]
        table = (
            (stock, [75, 80, 86, 90, 100, 120], []),
            (["-gencode", "arch=compute_101,code=[sm_101,compute_101]", "-gencode", "arch=compute_90,code=[sm_90,sm_90a]"],
             [90], ["compute_101", "sm_101", "sm_90a"]),
            (["-gencode", "arch=compute_35,code=sm_35", "-gencode", "arch=compute_80,code=sm_80"], [80], ["compute_35", "sm_35"]),
            (["-gencode", "arch=compute_80,code=[sm_80,sm_120a]"], [80], ["sm_120a"]),
            (["-arch=compute_80", "-code=sm_80,sm_101"], [80], ["sm_101"]),
            (["-arch=sm_100f", "-arch=sm_80"], [80], []),
            (["-arch=sm_80", "-arch=all-major"], [50, 60, 70, 80, 90, 100, 110, 120], []),
            (["-arch=all"], [50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121], []),
            (["-arch=native"], None, []),
        )
        for words, targets, left_out in table:
            done = self.nvcc("--fatbin", *words, "kernel.cu")
            self.assertEqual(done.returncode, 0, (words, done.stderr))
            found = [target for target, _ in self.entries(self.path / "kernel.fatbin")]
            self.assertEqual(found, targets if targets else found[:1], words)
            lines = [line for line in done.stderr.splitlines() if "left out" in line]
            self.assertEqual([line.split(": ")[-1].split() for line in lines], [left_out] if left_out else [], words)
            strict = self.nvcc("--fatbin", "--every-architecture", *words, "kernel.cu", "-o", "strict.fatbin")
            self.assertEqual(strict.returncode, 1 if left_out else 0, (words, strict.stderr))
            self.assertEqual((self.path / "strict.fatbin").exists(), not left_out, words)
            (self.path / "strict.fatbin").unlink(missing_ok=True)
        none = (["-arch=sm_101"], ["-arch=sm_80a"], ["-gencode=arch=compute_120b,code=sm_120b"], ["-arch=volta"],
                ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_99,code=sm_99"])
        for words in none:
            done = self.nvcc("--fatbin", *words, "kernel.cu", "-o", "none.fatbin")
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("there is no code (sm_50 to sm_121) for the architecture", done.stderr)
            self.assertFalse((self.path / "none.fatbin").exists(), words)

    def test_architectures_as_a_macro(self):
        """CUTLASS asks for the list, and CCCL names its inner namespaces by it: the host's half and the device's are told the same."""
        (self.path / "list.cu").write_text("""
template <int... list> struct architectures {};
__global__ void k(architectures<__CUDA_ARCH_LIST__>) {}
int main() { k<<<1, 1>>>(architectures<__CUDA_ARCH_LIST__>()); }
""")
        several = ["-gencode", "arch=compute_90,code=sm_90", "-gencode", "arch=compute_80,code=[sm_80,sm_90a]"]
        for words, wanted in (several, (800, 900)), (["-arch=sm_120a"], (1200,)), ([], (750,)):
            name = "_Z1k13architecturesIJ" + "".join(f"Li{number}E" for number in wanted) + "EE"
            done = self.nvcc(*words, "list.cu", "-c", "-o", "list.o")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(name.encode() + b"\0", (self.path / "list.o").read_bytes(), words)  # the host registers it by this name
            done = self.nvcc(*words, "--fatbin", "list.cu", "-o", "list.fatbin")
            self.assertEqual(done.returncode, 0, done.stderr)
            for _, text in self.entries(self.path / "list.fatbin"):
                self.assertIn(f".entry {name}(", text)

    def test_suffixes_alone(self):
        """Code for one chip alone keeps the suffix, which some of its instructions need, and loads."""
        (self.path / "chip.cu").write_text("""
#ifndef __CUDA_ARCH_SPECIFIC__
#define __CUDA_ARCH_SPECIFIC__ 0
#endif
__global__ void k(int *p)
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    p[0] = __CUDA_ARCH_SPECIFIC__ + 11;
#ifdef __CUDA_ARCH_FAMILY_SPECIFIC__
    p[1] = __CUDA_ARCH_FAMILY_SPECIFIC__ + 22;
#endif
#if __CUDA_ARCH_HAS_FEATURE__(SM120_ALL) && __CUDA_HAS_ARCH_SPECIFIC(120) && __CUDA_HAS_ARCH_FAMILY_SPECIFIC(120) && !__CUDA_HAS_ARCH_SPECIFIC(90)
    p[2] = 33;
#endif
}
""")
        self.assertEqual(self.nvcc("--cubin", "-arch=sm_90", "chip.cu").returncode, 1)
        for arch, target, stored in ("sm_90a", 90, [911, 922]), ("sm_100f", 100, [11, 1022]), ("compute_120a", 120, [1211, 1222, 33]):
            done = self.nvcc("--fatbin", f"-arch={arch}", "chip.cu", "-o", "chip.fatbin")
            self.assertEqual(done.returncode, 0, done.stderr)
            (found, text), = self.entries(self.path / "chip.fatbin")
            self.assertEqual(found, target)
            self.assertIn(f".target sm_{arch.partition('_')[2]}\n", text)
            self.assertEqual(sorted(int(value) for value in set(re.findall(r", (\d+);", text)) & {"911", "922", "11", "1022", "1211", "1222", "33"}), sorted(stored), text)
            self.assertEqual(self.nvcc("--fatbin", f"-arch={arch}", "--every-architecture", "chip.cu").returncode, 1)
        several = ["-gencode", "arch=compute_90a,code=sm_90a", "-gencode", "arch=compute_101,code=sm_101",
                   "-gencode", "arch=compute_100f,code=[sm_100f,sm_103a]"]
        done = self.nvcc("--fatbin", *several, "chip.cu", "-o", "chip.fatbin")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([target for target, _ in self.entries(self.path / "chip.fatbin")], [90, 100, 103])
        self.assertRegex(done.stderr, r"left out.*: compute_101 sm_101\n")

    def test_fatbin_of_ptx(self):
        self.assertEqual(self.nvcc("--ptx", "-arch=sm_61", "kernel.cu").returncode, 0)
        done = self.nvcc("--fatbin", "kernel.ptx", "-o", "out.fatbin")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([target for target, _ in self.entries(self.path / "out.fatbin")], [61])
        (self.path / "broken.ptx").write_text(".version 8.0\n.target sm_80\nnonsense\n")
        self.assertEqual(self.nvcc("--fatbin", "broken.ptx").returncode, 1)

    def test_dry_run_does_nothing(self):
        done = self.nvcc("--dryrun", "kernel.cu", "-o", "program", "-DX=a b")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('#$ clang-19 ', done.stderr)
        self.assertIn('"-DX=a b"', done.stderr)
        self.assertEqual(sorted(path.name for path in self.path.iterdir()), ["kernel.cu"])

    def test_host_sources_alone(self):
        (self.path / "main.cpp").write_text('#include <cstdio>\n#include <vector>\nextern "C" int three(void);\n'
                                            'int main() { std::vector<int> v(VALUE); printf("%zu\\n", v.size() + three()); }\n')
        (self.path / "three.c").write_text("int three(void) { int *new = 0; return new ? 0 : 3; }\n")
        done = self.nvcc("-DVALUE=4", "-std=c++17", "-cudart", "none", "main.cpp", "three.c", "-o", "program")
        self.assertEqual(done.returncode, 0, done.stderr)
        ran = subprocess.run([self.path / "program"], capture_output=True, text=True, check=False)
        self.assertEqual(ran.stdout, "7\n")
        self.assertEqual(sorted(path.name for path in self.path.iterdir()), ["kernel.cu", "main.cpp", "program", "three.c"])

    def test_nothing_to_make(self):
        (self.path / "kernel.xyz").write_text("")
        for words in (("kernel.xyz",), ("--ptx", "main.cpp"), ("-c", "kernel.o"), ("-dlink", "missing.o"), ("kernel.ptx",), ("-c", "missing.cu")):
            done = self.nvcc(*words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertNotEqual(done.stderr, "")

    def test_no_option_files(self):
        (self.path / "options").write_text("-DX\n")
        self.assertEqual(self.nvcc("--cubin", "@options").returncode, 1)

    def test_shell_characters_stay_text(self):
        done = self.nvcc("--cubin", "-DX=$(touch hacked);`touch hacked`", "kernel.cu")
        self.assertFalse((self.path / "hacked").exists())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_architecture_bounds(self):
        self.assertEqual(self.nvcc("--cubin", "-arch=sm_130", "kernel.cu").returncode, 1)
        self.assertEqual(self.nvcc("--cubin", "-arch=banana", "kernel.cu").returncode, 1)

    def test_missing_compiler_names_package(self):
        done = self.nvcc("--cubin", "kernel.cu", MILLRACE_CC="/nonexistent/clang")
        self.assertEqual(done.returncode, 1)
        self.assertIn("clang-19", done.stderr)

    def start_one_that_waits(self):
        """A shim whose compiler runs until it is ended; the compiler's number; a pipe that is closed when it is gone."""
        temporary, compiler, pipe = self.path / "temporary", self.path / "clang", self.path / "pipe"
        temporary.mkdir(exist_ok=True)
        compiler.write_text(f"#!/bin/sh\nexec 3>{pipe}\necho $$ >&3\nexec sleep 1000\n")
        compiler.chmod(0o755)
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        shim = subprocess.Popen([NVCC, "--cubin", "kernel.cu"], cwd=self.path, env={**os.environ, "TMPDIR": str(temporary), "MILLRACE_CC": str(compiler)},
                                stderr=subprocess.DEVNULL, preexec_fn=hear_all_signals)
        self.addCleanup(shim.kill)
        reader = open(pipe, encoding="utf-8")
        self.addCleanup(reader.close)
        number = int(reader.readline())
        self.assertEqual(len(list(temporary.iterdir())), 1)
        return shim, number, reader

    def test_nothing_stays_when_it_is_ended(self):
        for name in ("TERM", "INT", "HUP", "QUIT", "PIPE", "ALRM", "XCPU", "USR1"):
            end = signal.Signals["SIG" + name]
            shim, _, reader = self.start_one_that_waits()
            shim.send_signal(end)
            self.assertEqual(shim.wait(60), -end)
            self.assertEqual(reader.read(), "")  # the compiler is gone, too
            self.assertEqual(list((self.path / "temporary").iterdir()), [])

    def test_nothing_stays_when_nobody_reads(self):
        """A reader of its messages that goes away, such as head."""
        temporary = self.path / "temporary"
        temporary.mkdir()
        ours, theirs = os.pipe()
        os.close(ours)
        shim = subprocess.Popen([NVCC, "-v", "--cubin", "kernel.cu"], cwd=self.path, env={**os.environ, "TMPDIR": str(temporary)}, stderr=theirs)
        os.close(theirs)
        self.assertEqual(shim.wait(120), -signal.SIGPIPE)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_output_that_can_not_be_written(self):
        for words in (["--version"], ["--help"], ["--list-gpu-arch"], ["--list-gpu-code"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([NVCC, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (1, "nvcc (Millrace): error: cannot write to standard output: No space left on device\n"))

    def test_what_a_killed_one_left_goes_later(self):
        shim, compiler, _ = self.start_one_that_waits()
        folder, = (self.path / "temporary").iterdir()
        os.utime(folder, (1, 1))
        self.assertEqual(self.nvcc("--cubin", "kernel.cu", TMPDIR=str(folder.parent)).returncode, 0)
        self.assertTrue(folder.exists())  # its shim lives
        os.utime(folder, (1, 1))
        shim.kill()
        shim.wait(60)
        os.kill(compiler, signal.SIGKILL)
        self.assertEqual(self.nvcc("--cubin", "kernel.cu", TMPDIR=str(folder.parent)).returncode, 0)
        self.assertEqual(list((self.path / "temporary").iterdir()), [])

    @unittest.skipIf(os.environ.get("MR_SANITIZED"), "the libraries want a sanitizer's own")
    def test_another_toolkit(self):
        """Its headers and libraries don't come before ours, and what we lack is found there."""
        theirs = self.path / "theirs"
        (theirs / "lib64").mkdir(parents=True)
        (theirs / "include").mkdir()
        for name in ("cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "cuda_fp16.h"):
            (theirs / "include" / name).write_text("#error of another toolkit\n")
        (theirs / "include/their_own.h").write_text("enum { THEIRS = 5 };\n")
        (theirs / "lib64/libcudart_static.a").write_text("no archive")
        (theirs / "lib64/libcudart.so").write_text("no library")
        (self.path / "both.cu").write_text("#include <cuda.h>\n#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n#include <their_own.h>\nint main() { return THEIRS + cudaSuccess; }\n")
        (self.path / "host.cpp").write_text("#include <cuda.h>\n#include <cuda_runtime.h>\n#include <their_own.h>\nint main() { return THEIRS + cudaSuccess; }\n")
        for source in ("both.cu", "host.cpp"):
            for runtime, words, environment in (("static", ["-I", str(theirs / "include")], {}), ("shared", [], {"CPATH": f"/nonexistent:{theirs / 'include'}"})):
                done = self.nvcc(source, "-o", "program", f"-L{theirs / 'lib64'}", "-cudart", runtime, *words, **environment)
                self.assertEqual((done.returncode, done.stderr), (0, ""), (source, words, environment))
                self.assertEqual(subprocess.run([self.path / "program"], check=False, timeout=60).returncode, 5)

    def test_no_source(self):
        self.assertEqual(self.nvcc("--cubin").returncode, 1)
        self.assertEqual(self.nvcc().returncode, 1)


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=1).result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad - len(outcome.skipped)} passed, {bad} failed, {len(outcome.skipped)} skipped")
    sys.exit(1 if bad else 0)
