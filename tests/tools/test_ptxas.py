# SPDX-License-Identifier: Apache-2.0
"""The ptxas shim: calls as compilers make them, what it hands on, and what it refuses. Usage: test_ptxas.py PTXAS
LIBCUDA"""
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PTXAS, LIBCUDA = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
PRODUCT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry product(.param .u64 out, .param .f32 x, .param .f32 y)
{
    .reg .f32 %f<4>; .reg .f64 %d<4>; .reg .b64 %p;
    ld.param.u64 %p, [out];
    ld.param.f32 { %f1 }, [x];
    ld.param.f32 %f2, [y];
    mul.f32 %f3, %f1, %f1;   /* add.f32 in a comment */
    add.f32 %f0, %f3, %f2;
    st.global.f32 [%p], { %f0 };
    cvt.f64.f32 %d1, %f1;
    mul.f64 %d2, %d1, %d1;
    mul.rz.f64 %d2, %d2, %d2;
    add.f64 %d2, %d2, -1.0;
    st.global.f64 [%p+8], %d2;
    ret;
}
"""


def ptxas(*arguments, cwd=None):
    return subprocess.run([PTXAS, *arguments], capture_output=True, text=True, check=False, timeout=120, cwd=cwd)


class Shim(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.source = self.path / "product.ptx"
        self.source.write_text(PRODUCT)

    def good(self, *arguments):
        done = ptxas(*arguments, cwd=self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def bad(self, message, *arguments):
        done = ptxas(*arguments, cwd=self.path)
        self.assertEqual(done.returncode, 255, arguments)
        self.assertIn(message, done.stderr)
        self.assertFalse((self.path / "elf.o").exists())
        return done.stderr

    def test_version(self):
        """Triton reads the release, and keeps what each assembler made apart by the whole text."""
        for option in "--version", "-V":
            text = self.good(option).stdout
            self.assertEqual(re.search(r".*release (\d+\.\d+).*", text)[1], "13.0")
            self.assertIn("Millrace", text)
        self.assertIn("Usage: ptxas", self.good("--help").stdout)

    def test_output_that_can_not_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PTXAS, "--version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (255, "ptxas (Millrace): error: cannot write to standard output: No space left on device\n"))

    def test_as_compilers_call(self):
        text = PRODUCT.encode() + b"\0"
        for line in ("product.ptx -o out", "-lineinfo -v --regAllocOptLevel=2 --gpu-name=sm_80 product.ptx -o out", "-g --opt-level 0 -arch sm_89 -o out product.ptx",
                     "-O3 -m64 -c --output-file=out --gpu-name sm_100 product.ptx", "-w -maxrregcount=32 --fmad=true -fmad true -dlcm=ca product.ptx -o=out",
                     "-lineinfo -suppress-debug-info --optimize-float-atomics --allow-expensive-optimizations=true product.ptx -o out"):
            with self.subTest(line):
                self.good(*line.split())
                self.assertEqual((self.path / "out").read_bytes(), text)
                (self.path / "out").unlink()
        self.good("product.ptx")
        self.assertEqual((self.path / "elf.o").read_bytes(), text)

    def test_input_as_string(self):
        """XLA and JAX's Mosaic ask in this way which version of PTX the assembler knows: between the two quotes."""
        for words in ("--input-as-string", PRODUCT), (f"--input-as-string={PRODUCT}",), ("-ias", PRODUCT):
            self.good("-arch=sm_80", *words)
            self.assertEqual((self.path / "elf.o").read_bytes(), PRODUCT.encode() + b"\0")
            (self.path / "elf.o").unlink()
        message = self.bad("ptxas application ptx input would not load", "--input-as-string", ".version 99.99")
        self.assertEqual(len(message.split("'")), 3)
        self.assertRegex(message, r"line 1, column 10: Unsupported \.version 99\.99; current version is '\d\.\d'\n")
        self.bad("one input at a time, not also product.ptx", "-ias", PRODUCT, "product.ptx")
        self.bad("one input at a time, not also --input-as-string", "product.ptx", "-ias", PRODUCT)
        self.bad("would not load", "-ias", "")

    def test_verbose(self):
        uses = self.good("-v", "product.ptx").stderr
        self.assertRegex(uses, r"ptxas info    : Compiling entry function 'product' for 'sm_80'\n")
        self.assertRegex(uses, r"ptxas info    : Used \d+ registers, used 0 barriers, 16 bytes cmem\[0\]\n")

    def test_refusals(self):
        self.bad("name the file with PTX")
        self.bad("cannot read none.ptx: No such file", "none.ptx")
        self.bad("cannot write /nowhere/out: No such file", "product.ptx", "-o", "/nowhere/out")
        self.bad("unknown option --frobnicate", "--frobnicate", "product.ptx")
        self.bad("a value is missing behind -o", "product.ptx", "-o")
        self.bad("this option has no value: --verbose=1", "--verbose=1", "product.ptx")
        self.bad("cannot honour the option --maxntid=32", "--maxntid=32", "product.ptx")
        self.bad("true or false is wanted, not 1", "--fmad=1", "product.ptx")
        self.bad("one input at a time, not also other.ptx", "product.ptx", "other.ptx")
        self.bad("is for sm_80, which is newer than the GPU that is named, sm_75", "-arch=sm_75", "product.ptx")
        self.bad("too old a GPU: sm_20", "-arch=sm_20", "product.ptx")
        self.bad("no such GPU: fermi", "-arch=fermi", "product.ptx")
        self.source.write_text(PRODUCT.replace("cvt.f64.f32", "cvt.f64"))
        self.bad("product.ptx would not load:\nerror: line 13", "product.ptx")

    def test_relocatable(self):
        self.source.write_text(PRODUCT.replace(".visible", ".extern .func other();\n.visible").replace("ret;", "call other; ret;"))
        self.bad("other", "product.ptx")
        self.good("-c", "product.ptx")

    def test_entries(self):
        """-e: these kernels alone, and the words of NVIDIA's assembler for a name that is no kernel's."""
        more = PRODUCT.split(".address_size 64")[1].replace("product", "second")
        self.source.write_text(PRODUCT + ".func helper() { ret; }\n.global .align 4 .b8 table[8] = { 1, 2 };\n" + more)
        for words in ("-e=second",), ("--entry", "second"), ("-e", "second,second"):
            self.good(*words, "product.ptx", "-o", "out")
            text = (self.path / "out").read_text()
            self.assertEqual(re.findall(r"\.entry (\w+)", text), ["second"], words)
            self.assertIn(".func helper", text)
            self.assertIn("table[8] = { 1, 2 }", text)
        self.good("-e", "second", "-e=product", "product.ptx", "-o", "out")
        self.assertEqual(re.findall(r"\.entry (\w+)", (self.path / "out").read_text()), ["product", "second"])
        self.bad("ptxas fatal   : Unknown function third", "-e=second,third", "product.ptx")
        self.bad("ptxas error   : Entry function 'helper' not found\nptxas fatal   : Ptx assembly aborted", "-e=helper", "product.ptx")

    def check_product(self, x, y, wanted):
        """What the driver makes of the file, which it gets by its address alone. Python can't load a sanitizer's
        library."""
        if os.environ.get("MR_SANITIZED"):
            return
        driver = ctypes.CDLL(str(LIBCUDA))
        context, module, function, out = (ctypes.c_void_p() for _ in range(4))
        for status in (
            driver.cuInit(0),
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
            driver.cuCtxSetCurrent(context),
            driver.cuModuleLoadData(
                ctypes.byref(module), ctypes.create_string_buffer((self.path / "out").read_bytes())
            ),
            driver.cuModuleGetFunction(ctypes.byref(function), module, b"product"),
            driver.cuMemAlloc_v2(ctypes.byref(out), ctypes.c_size_t(16)),
        ):
            self.assertEqual(status, 0)
        values = [out, ctypes.c_float(x), ctypes.c_float(y)]
        arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
        self.assertEqual(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, arguments, None), 0)
        host = ctypes.create_string_buffer(16)
        self.assertEqual(driver.cuMemcpyDtoH_v2(host, out, ctypes.c_size_t(16)), 0)
        self.assertEqual(driver.cuModuleUnload(module), 0)
        self.assertEqual(struct.unpack("f4xd", host.raw), wanted)

    def test_products_and_sums(self):
        """Joined, the rounding of the product is left out; not so with -fmad=false."""
        x = 1 + 2.0**-12
        self.good("product.ptx", "-o", "out")
        self.check_product(x, -1, (2.0**-11 + 2.0**-24, (x * x)**2 - 1))
        self.good("--fmad=false", "product.ptx", "-o", "out")
        self.check_product(x, -1, (2.0**-11, (x * x)**2 - 1))
        text = (self.path / "out").read_text()
        for form, count in ("mul.rn.f32", 1), ("add.rn.f32", 1), ("mul.rn.f64", 1), ("mul.rz.f64", 1), ("add.rn.f64", 1), ("/* add.f32 in a comment */", 1):
            self.assertEqual(text.count(form), count, form)


if __name__ == "__main__":
    unittest.main()
