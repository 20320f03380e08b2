# SPDX-License-Identifier: Apache-2.0
"""fatbinary and cuobjdump: calls as builds make them, and files of NVIDIA's own fatbinary. Usage: test_binaries.py ROOT,
the folder with bin/, include/ and lib/."""
import functools
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
PTX = """.version 7.0
.target sm_%d
.address_size 64
.visible .entry seven(.param .u64 out)
{
    .reg .u64 %%p; .reg .u32 %%r;
    ld.param.u64 %%p, [out];
    mov.u32 %%r, 7;
    st.global.u32 [%%p], %%r;
    ret;
}
"""
# What NVIDIA's fatbinary 13.0 wrote for four lines of PTX: Zstandard, with a name and a block of options; and LZ4.
NVIDIA_TEXT = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n"
NVIDIA_ZSTD = """ba55ed50 00100001 000000b8 00000000 01010001 00000058 00000060 00000000 0000005b 00000048 00080000 00000050
00000040 00000004 00008011 00000000 00000000 00000000 00000057 00000000 75632e61 00000000 00000050 00000000
00000000 00000000 fd2fb528 02955720 13857200 6d39801a b97eb1c0 824330b7 660844c5 44e46b80 686c0784 80028d27
97b0786a 18c05866 58adc4a5 c180f31a eee5dc8a b150103b 5be4a179 97aa22a0 73af6249 af7a8a20 f3afb690 35020bc3
000079af 00000000"""


class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        for target in (70, 80):
            (self.path / f"k{target}.ptx").write_text(PTX % target + "// much of the same\n" * 40)
        # The head of an ELF file for GPUs.
        (self.path / "k.cubin").write_bytes(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 190, 1, 0, 0, 0, 0, 64, 0, 0, 64, 0, 0) + b"codecode")

    def do(self, tool, *arguments, status=0):
        done = subprocess.run([ROOT / "bin" / tool, *arguments], cwd=self.path, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stderr if status else done.stdout

    def image(self, target=80, kind="ptx"):
        return f"--image3=kind={kind},sm={target},file=k{target}.ptx"

    def runs(self, name):
        """The driver loads the fat binary and runs what is in it."""
        program = f"""
import ctypes
cuda = ctypes.CDLL({str(ROOT / "lib" / "libcuda.so.1")!r})
context, module, function, out, value = *(ctypes.c_void_p() for _ in range(4)), ctypes.c_int()
image = open({str(self.path / name)!r}, "rb").read()
assert not cuda.cuInit(0) and not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) and not cuda.cuCtxPushCurrent_v2(context)
assert not cuda.cuModuleLoadData(ctypes.byref(module), image)
assert not cuda.cuModuleGetFunction(ctypes.byref(function), module, b"seven")
assert not cuda.cuMemAlloc_v2(ctypes.byref(out), ctypes.c_size_t(4))
parameters = (ctypes.c_void_p * 1)(ctypes.addressof(out))
assert not cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)
assert not cuda.cuMemcpyDtoH_v2(ctypes.byref(value), out, ctypes.c_size_t(4))
print(value.value)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((done.stdout, done.returncode), ("7\n", 0), done.stderr)

    def test_each_compression_loads(self):
        size = {}
        for mode in ("default", "size", "speed", "balance", "none"):
            self.do("fatbinary", "-64", "--create", f"{mode}.fatbin", f"--compress-mode={mode}", self.image())
            self.runs(f"{mode}.fatbin")
            size[mode] = (self.path / f"{mode}.fatbin").stat().st_size
            self.assertEqual(self.do("cuobjdump", "-lptx", f"{mode}.fatbin"), f"PTX file    1: {mode}.1.sm_80.ptx\n")
        self.assertLess(size["default"], size["none"])
        self.assertLess(size["speed"], size["none"])
        self.do("fatbinary", "--create", "plain.fatbin", "-compress=false", self.image())
        self.assertEqual((self.path / "plain.fatbin").stat().st_size, size["none"])

    def test_what_goes_in_comes_out(self):
        self.do("fatbinary", "--create=all.fatbin", self.image(70), self.image(80), "--image3", "kind=elf,sm=80,file=k.cubin", "-ident", "a.cu", "--cmdline=-v -O3")
        self.runs("all.fatbin")
        self.assertEqual(self.do("cuobjdump", "-lptx", "-lelf", "all.fatbin"),
                         "PTX file    1: all.1.sm_70.ptx\nPTX file    2: all.2.sm_80.ptx\nELF file    1: all.1.sm_80.cubin\n")
        said = self.do("cuobjdump", "-xptx", "nothing,sm_70", "-xelf", "all", "all.fatbin")
        self.assertIn("all.1.sm_70.ptx -arch=sm_70 -v -O3", said)
        self.assertEqual((self.path / "all.1.sm_70.ptx").read_text(), (self.path / "k70.ptx").read_text())
        self.assertEqual((self.path / "all.1.sm_80.cubin").read_bytes(), (self.path / "k.cubin").read_bytes())
        self.assertFalse((self.path / "all.2.sm_80.ptx").exists())
        self.assertEqual(self.do("cuobjdump", "-arch", "sm_80", "-lptx", "all.fatbin"), "PTX file    1: all.1.sm_80.ptx\n")
        self.assertIn((self.path / "k80.ptx").read_text(), self.do("cuobjdump", "-ptx", "all.fatbin"))
        heads = self.do("cuobjdump", "all.fatbin")
        for line in ("Fatbin ptx code:", "Fatbin elf code:", "arch = sm_70", "code version = [7,0]", "identifier = a.cu", "compressed"):
            self.assertIn(f"{line}\n", heads)

    def test_as_older_compilers_call_it(self):
        """And with what our assembler makes, which is PTX: the same text is there once."""
        self.do("ptxas", "-arch", "sm_80", "k80.ptx", "-o", "k80.cubin")
        self.do("fatbinary", "--cuda", "-64", "--create", "old.fatbin", "--image=profile=sm_80,file=k80.cubin", "--image=profile=compute_80,file=k80.ptx")
        self.runs("old.fatbin")
        self.assertEqual(self.do("cuobjdump", "-lptx", "old.fatbin"), "PTX file    1: old.1.sm_80.ptx\n")

    def test_files_of_nvidias(self):
        words = [int(word, 16) for word in NVIDIA_ZSTD.split()]
        (self.path / "theirs.fatbin").write_bytes(struct.pack(f"<{len(words)}I", *words))
        self.assertIn("identifier = a.cu\n", self.do("cuobjdump", "theirs.fatbin"))
        self.do("cuobjdump", "-xptx", "all", "theirs.fatbin")
        self.assertEqual((self.path / "theirs.1.sm_80.ptx").read_text(), NVIDIA_TEXT)

    @unittest.skipUnless(shutil.which("gcc") and shutil.which("ar"), "there is no gcc")
    def test_in_programs_objects_and_archives(self):
        self.do("fatbinary", "--create=k.fatbin", "--embedded-fatbin=whole.c", self.image())
        self.do("fatbinary", "--create=k.fatbin", "--embedded-fatbin=part.c", "-c", self.image(70))
        (self.path / "main.c").write_text("""#include "whole.c"
extern void **__cudaRegisterFatBinary(void *);
extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
extern void __cudaRegisterFatBinaryEnd(void **);
#include <cuda_runtime_api.h>
static char stub;
int main(void)
{
    void **handle = __cudaRegisterFatBinary((void *)&__fatDeviceText), *out, *arguments[] = { &out };
    dim3 one = { 1, 1, 1 };
    int value = 0;
    __cudaRegisterFunction(handle, &stub, "seven", "seven", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    if (cudaMalloc(&out, 4) || cudaLaunchKernel(&stub, one, one, arguments, 0, 0) || cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost))
        return 1;
    return value;
}
""")
        (self.path / "part_of_a_long_name.c").write_text('#define __NV_MODULE_ID _part\n#include "part.c"\n')
        run = functools.partial(subprocess.run, cwd=self.path, check=False, capture_output=True, text=True, timeout=120)
        flags = ["-I", ROOT / "include", "-L", ROOT / "lib", f"-Wl,-rpath,{ROOT / 'lib'}"]
        for words in (["gcc", "main.c", "-o", "program", *flags, "-lcudart"], ["gcc", "-c", "part_of_a_long_name.c", *flags], ["gcc", "-c", "main.c", *flags],
                      ["ar", "rcs", "libboth.a", "part_of_a_long_name.o", "main.o"]):
            self.assertEqual(run(words).stderr, "")
        self.assertEqual(run(["./program"]).returncode, 7)
        self.assertEqual(self.do("cuobjdump", "-lptx", "program"), "PTX file    1: program.1.sm_80.ptx\n")
        self.assertEqual(self.do("cuobjdump", "-lptx", "part_of_a_long_name.o"), "PTX file    1: part_of_a_long_name.1.sm_70.ptx\n")
        self.assertEqual(self.do("cuobjdump", "-lptx", "libboth.a"), "\nmember libboth.a:main.o:\nPTX file    1: libboth.1.sm_80.ptx\n")
        self.assertEqual(self.do("cuobjdump", "-all", "-lptx", "libboth.a"),
                         "\nmember libboth.a:main.o:\nPTX file    1: libboth.1.sm_80.ptx\n\nmember libboth.a:part_of_a_long_name.o:\nPTX file    2: libboth.2.sm_70.ptx\n")
        self.assertEqual(self.do("cuobjdump", "-lelf", "program"), "cuobjdump info    : No ELF file found to extract from 'program'. You may try with -all option.\n")
        self.assertIn("does not contain device code", self.do("cuobjdump", "-lptx", "/bin/true"))

    def test_ptx_by_itself(self):
        self.assertEqual(self.do("cuobjdump", "-lptx", "k80.ptx"), "PTX file    1: k80.sm_80.ptx\n")

    def test_what_is_refused(self):
        for message, *words in (("no file", "--image3=kind=ptx,sm=80"), ("kind", "--image3=kind=frob,sm=80,file=k80.ptx"), ("architecture", "--image3=kind=ptx,file=k80.ptx"),
                                ("cannot read none.ptx", "--image3=kind=ptx,sm=80,file=none.ptx"), ("neither PTX", "--image3=kind=elf,sm=80,file=text"),
                                ("machine code", "--image3=kind=ptx,sm=80,file=k.cubin"), ("unknown option -frob", "-frob"), ("-32", "-32"), ("image2", "--image2=kind=x,file=y"),
                                ("cannot write /nonexistent/x", "--create=/nonexistent/x", self.image())):
            (self.path / "text").write_text("no code\n")
            self.assertIn(message, self.do("fatbinary", *words, status=1))
        self.do("fatbinary", "--create=k.fatbin", "-compress=false", self.image())
        whole = (self.path / "k.fatbin").read_bytes()
        (self.path / "cut.fatbin").write_bytes(whole[:-9])
        (self.path / "odd.fatbin").write_bytes(whole[:16 + 8] + b"\xff" * 8 + whole[16 + 16:])
        (self.path / "text").write_text("no code\n")
        for message, *words in (("damaged", "-lptx", "cut.fatbin"), ("damaged", "-ptx", "odd.fatbin"), ("no program", "text"), ("cannot read", "missing"), ("one file", "text", "text"),
                                ("-sass", "-sass", "k.fatbin"), ("name the file", "-lptx"), ("sm_80, not", "-arch", "banana", "k.fatbin")):
            self.assertIn(message, self.do("cuobjdump", *words, status=1))
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([ROOT / "bin" / "cuobjdump", self.path / "k.fatbin"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 255)
        self.assertIn("No space left", done.stderr)

    def test_files_of_options(self):
        (self.path / "options").write_text(f"--create=k.fatbin\n  {self.image()}  -ident  b.cu\n")
        self.do("fatbinary", "--options-file", "options", "-compress=false")
        self.assertIn("identifier = b.cu\n", self.do("cuobjdump", "k.fatbin"))

    def test_versions(self):
        for tool in ("fatbinary", "cuobjdump"):
            self.assertIn("release 13.0, V13.0", self.do(tool, "--version"))
            self.assertIn("Usage", self.do(tool, "--help"))


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=1).result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad - len(outcome.skipped)} passed, {bad} failed, {len(outcome.skipped)} skipped")
    sys.exit(1 if bad else 0)
