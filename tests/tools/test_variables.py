# SPDX-License-Identifier: Apache-2.0
"""What the host writes to a device variable, the kernel reads, whatever kind of variable it is: in whole programs, and in
PTX from `millrace cc` and NVRTC. Usage: test_variables.py MILLRACE LIBCUDA LIBNVRTC [tests]"""
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

MILLRACE, LIBCUDA, LIBNVRTC = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))

# Each has the value 1 at first. Name, declarations, what a kernel reads. `i` is 1, which the compiler does not know.
KINDS = {
    "variable": ("__device__ int variable = 1;", "variable"),
    "constant": ("__constant__ int constant = 1;", "constant"),
    "local": ("static __device__ int local = 1;", "local"),
    "local_constant": ("static __constant__ int local_constant = 1;", "local_constant"),
    "unnamed": ("namespace { __device__ int unnamed = 1; }", "unnamed"),
    "unnamed_constant": ("namespace { __constant__ int unnamed_constant = 1; }", "unnamed_constant"),
    "nested": ("namespace A { inline namespace B { static __device__ int nested = 1; } }", "A::nested"),
    "member": ("struct M { static __device__ int member; }; __device__ int M::member = 1;", "M::member"),
    "constant_member": ("struct C { static __constant__ int constant_member; }; __constant__ int C::constant_member = 1;", "C::constant_member"),
    "inline_member": ("struct I { static inline __device__ int inline_member = 1; };", "I::inline_member"),
    "template_member": ("template <class T> struct TM { static __device__ T template_member; }; template <class T> __device__ T TM<T>::template_member = 1;", "TM<int>::template_member"),
    "inline_template_member": ("template <class T> struct TI { static inline __constant__ T inline_template_member = 1; };", "TI<int>::inline_template_member"),
    "of_type": ("template <class T> __device__ T of_type = 1;", "of_type<int>"),
    "constant_of_type": ("template <class T> __constant__ T constant_of_type = 1;", "constant_of_type<int>"),
    "local_of_type": ("template <class T> static __device__ T local_of_type = 1;", "local_of_type<int>"),
    "of_number": ("template <int N> __device__ int of_number = N;", "of_number<1>"),
    "special": ("template <class T> __device__ T special = 5; template <> __device__ int special<int> = 1;", "special<int>"),
    "in_line": ("inline __device__ int in_line = 1;", "in_line"),
    "constant_in_line": ("inline __constant__ int constant_in_line = 1;", "constant_in_line"),
    "array": ("static __device__ int array[4] = {1, 1, 1, 1};", "array[1]"),
    "array_at": ("static __device__ int array_at[4] = {1, 1, 1, 1};", "array_at[i]"),
    "table": ("static __constant__ int table[2][2] = {{1, 1}, {1, 1}};", "table[1][i]"),
    "zeros": ("static __constant__ int zeros[4] = {};", "zeros[i] + 1"),
    "record": ("static __device__ struct { int a, b; } record = {1, 1};", "record.b"),
    "one_of": ("static __device__ union { int u; float f; } one_of = {1};", "one_of.u"),
    "wide": ("static __constant__ long long wide = 1;", "(int)(wide & 15)"),
    "moving": ("static __device__ volatile int moving = 1;", "moving"),
    "later": ("extern __device__ int later; __device__ int later = 1;", "later"),
    "managed": ("__managed__ int managed = 1;", "managed"),
    "local_managed": ("static __managed__ int local_managed = 1;", "local_managed"),
    "aligned": ("static __device__ __align__(16) int4 aligned = {1, 1, 1, 1};", "aligned.y"),
}
# What only a loader of the PTX can name.
HIDDEN = {
    "in_kernel": ("", "in_kernel()", "static __device__ int in_kernel = 1;"),
    "in_function": ("__device__ int get_in_function() { static __device__ int in_function = 1; return in_function; }", "get_in_function()", ""),
    "constant_in_function": ("__device__ int get_cif() { static __constant__ int constant_in_function = 1; return constant_in_function; }", "get_cif()", ""),
    "in_template": ("template <class T> __device__ T get_it() { static __device__ T in_template = 1; return in_template; }", "get_it<int>()", ""),
    "in_inline": ("inline __device__ int get_ii() { static __device__ int in_inline = 1; return in_inline; }", "get_ii()", ""),
    "in_method": ("struct Q { __device__ int get() { static __device__ int in_method = 1; return in_method; } };", "Q().get()", ""),
}
# Which the host makes point to `second`, whose value is 7.
POINTERS = {
    "pointer": ("static __device__ int *pointer = &first;", "*pointer"),
    "constant_pointer": ("static __constant__ int *constant_pointer = &first;", "*constant_pointer"),
    "pointers": ("static __constant__ int *pointers[2] = {&first, &first};", "*pointers[i]"),
}
# Constants of C++: a kernel may have their first values. nvcc does so except for elements of arrays at indices that it
# does not know.
FIXED = {
    "fixed": ("static __device__ const int fixed = 1;", "fixed"),
    "fixed_constant": ("__constant__ const int fixed_constant = 1;", "fixed_constant"),
    "fixed_pointer": ("__device__ int *const fixed_pointer = &first;", "*fixed_pointer"),
    "reference": ("static __device__ int &reference = first;", "reference"),
    "fixed_expression": ("__device__ constexpr int fixed_expression = 1;", "fixed_expression"),
}


def source():
    kinds = [*KINDS.values(), *POINTERS.values(), *FIXED.values()]
    reads = [read for _, read in kinds] + [read for _, read, _ in HIDDEN.values()]
    reads = ["in_kernel" if read == "in_kernel()" else read for read in reads]
    return ("\n".join(["static __device__ int first = 1, second = 7;"] + [text for text, _ in kinds] + [text for text, _, _ in HIDDEN.values()]) +
            '\nextern "C" __global__ void read(int *p, int i)\n{\n' + "\n".join(own for _, _, own in HIDDEN.values() if own) + "\n" +
            "\n".join(f"p[{n}] = {read};" for n, read in enumerate(reads)) + "\n}\n")


NAMES = [*KINDS, *POINTERS, *FIXED, *HIDDEN]


class Loaded:
    """PTX in the driver."""

    def __init__(self, ptx):
        self.cuda, self.out = ctypes.CDLL(str(LIBCUDA)), ctypes.c_uint64()
        self.module, self.kernel = ctypes.c_void_p(), ctypes.c_void_p()
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.call("cuModuleLoadData", ctypes.byref(self.module), ptx)
        self.call("cuModuleGetFunction", ctypes.byref(self.kernel), self.module, b"read")
        self.call("cuMemAlloc_v2", ctypes.byref(self.out), ctypes.c_size_t(4096))
        names = re.findall(rb"^(?:\.\w+ )?\.(?:global|const)[^=;\n]*? ([\w$]+)(?:\[\d*\])*(?: =[^\n]*)?;$", ptx, re.MULTILINE)
        self.names = {}
        for kind in [*NAMES, "first", "second"]:
            found = [name for name in names if re.search(rb"(?<![A-Za-z_])" + kind.encode() + rb"(?![a-z_])", name)]
            if len(found) != 1:
                raise AssertionError(f"{kind}: {found}")
            self.names[kind] = found[0]

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            raise AssertionError(f"{name}: {status}")

    def place(self, kind):
        at, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.call("cuModuleGetGlobal_v2", ctypes.byref(at), ctypes.byref(size), self.module, self.names[kind])
        return at, size

    def write(self, kind, value):
        at, size = self.place(kind)
        self.call("cuMemcpyHtoD_v2", at, value * (size.value // len(value)), size)

    def read(self):
        index, values = ctypes.c_int(1), (ctypes.c_int * len(NAMES))()
        parameters = (ctypes.c_void_p * 2)(ctypes.addressof(self.out), ctypes.addressof(index))
        self.call("cuLaunchKernel", self.kernel, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)
        self.call("cuMemcpyDtoH_v2", values, self.out, ctypes.c_size_t(ctypes.sizeof(values)))
        return dict(zip(NAMES, values))


class Variables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def look(self, ptx):
        """Writes to one variable after the other, and looks that it, and nothing else, is another one then."""
        loaded = Loaded(ptx)
        expected = {name: 1 for name in NAMES}
        self.assertEqual(loaded.read(), expected)
        for kind in [*KINDS, *HIDDEN]:
            loaded.write(kind, struct.pack("<I", 2))
            expected[kind] = 3 if kind == "zeros" else 2
            self.assertEqual(loaded.read(), expected, kind)
        second = struct.pack("<Q", loaded.place("second")[0].value)
        for kind in POINTERS:
            loaded.write(kind, second)
            expected[kind] = 7
            self.assertEqual(loaded.read(), expected, kind)
        loaded.write("first", struct.pack("<I", 5))
        expected["reference"] = expected["fixed_pointer"] = 5
        self.assertEqual(loaded.read(), expected)

    def test_ptx(self):
        (self.path / "k.cu").write_text(source())
        for options in ([], ["-rdc=true"], ["-G"], ["-O0"]):
            with self.subTest(options):
                subprocess.run([MILLRACE, "cc", "--ptx", "-w", "-std=c++17", *options, "k.cu", "-o", "k.ptx"], cwd=self.path, check=True, timeout=300)
                self.look((self.path / "k.ptx").read_bytes())

    def test_nvrtc(self):
        for words in ([b"-std=c++17"], [b"-std=c++17", b"-rdc=true"], [b"-std=c++17", b"-G"]):
            with self.subTest(words):
                nvrtc, program, size = ctypes.CDLL(str(LIBNVRTC)), ctypes.c_void_p(), ctypes.c_size_t()
                self.assertEqual(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source().encode(), b"k.cu", 0, None, None), 0)
                options = (ctypes.c_char_p * len(words))(*words)
                self.assertEqual(nvrtc.nvrtcCompileProgram(program, len(words), options), 0)
                self.assertEqual(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)), 0)
                text = ctypes.create_string_buffer(size.value)
                self.assertEqual(nvrtc.nvrtcGetPTX(program, text), 0)
                self.look(text.value)

    def test_programs(self):
        """The host names each by the runtime's calls."""
        named = {kind: pair for kind, pair in KINDS.items() if kind not in ("record", "one_of", "moving", "managed", "local_managed")}
        text = "#include <cstdio>\n" + "\n".join(text for text, _ in KINDS.values())
        text += "\n__global__ void read(int *p, int i)\n{\n" + "\n".join(f"p[{n}] = {read};" for n, (_, read) in enumerate(KINDS.values())) + "\n}\n"
        text += "template <class T> void write(T &symbol)\n{\n    static const int twos[16] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};\n"
        text += '    if (cudaMemcpyToSymbol(symbol, twos, sizeof symbol)) puts("not written");\n}\nint main()\n{\n    int *p;\n    cudaMallocManaged(&p, 4096);\n'
        show = "    read<<<1, 1>>>(p, 1);\n    cudaDeviceSynchronize();\n" + f'    for (int i = 0; i < {len(KINDS)}; i++) printf("%d", p[i]);\n    puts("");\n'
        text += show
        for kind in KINDS:
            name = re.sub(r"\[.*|\(int\)\((\w+).*|\.[yub]$| \+ 1", r"\1", KINDS[kind][1])
            text += f"    {name} = 2;\n" if "managed" in kind else f"    write({name});\n" if kind in named else f"    {{ int two[2] = {{2, 2}}; cudaMemcpyToSymbol({name}, two, sizeof {name}); }}\n"
        text += show + "    return 0;\n}\n"
        (self.path / "p.cu").write_text(text)
        expected = "1" * len(KINDS) + "\n" + "".join("3" if kind == "zeros" else "2" for kind in KINDS) + "\n"
        for options in ([], ["-rdc=true"], ["-O0"]):
            with self.subTest(options):
                subprocess.run([MILLRACE, "cc", "-w", "-std=c++17", *options, "p.cu", "-o", "p"], cwd=self.path, check=True, timeout=300)
                done = subprocess.run([MILLRACE, "run", "--", "./p"], cwd=self.path, check=True, timeout=300, capture_output=True, text=True)
                self.assertEqual(done.stdout, expected)


if __name__ == "__main__":
    os.environ.setdefault("MILLRACE_COMPUTE_CAPABILITY", "9.0")
    unittest.main(verbosity=2)
