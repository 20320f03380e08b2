# SPDX-License-Identifier: Apache-2.0
"""The nvcc shim: the calls that PyCUDA makes, and what it refuses. Usage: test_nvcc_shim.py NVCC"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

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

    def test_unknown_options_are_named(self):
        for option in ("-fplugin=evil.so", "--load-plugin", "-Xclang", "-c", "-rdc=true", "--relocatable-device-code=true"):
            done = self.nvcc("--cubin", option, "kernel.cu")
            self.assertEqual(done.returncode, 1, option)
            self.assertIn(option.split("=")[0], done.stderr)

    def test_no_option_files(self):
        (self.path / "options").write_text("-DX\n")
        self.assertEqual(self.nvcc("--cubin", "@options").returncode, 1)

    def test_shell_characters_stay_text(self):
        done = self.nvcc("--cubin", "-DX=$(touch hacked);`touch hacked`", "kernel.cu")
        self.assertFalse((self.path / "hacked").exists())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_architecture_bounds(self):
        self.assertEqual(self.nvcc("--cubin", "-arch=sm_120", "kernel.cu").returncode, 1)
        self.assertEqual(self.nvcc("--cubin", "-arch=banana", "kernel.cu").returncode, 1)

    def test_missing_compiler_names_package(self):
        done = self.nvcc("--cubin", "kernel.cu", MILLRACE_CC="/nonexistent/clang")
        self.assertEqual(done.returncode, 1)
        self.assertIn("clang-19", done.stderr)

    def test_no_source(self):
        self.assertEqual(self.nvcc("--cubin").returncode, 1)
        self.assertEqual(self.nvcc().returncode, 1)


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=1).result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad - len(outcome.skipped)} passed, {bad} failed, {len(outcome.skipped)} skipped")
    sys.exit(1 if bad else 0)
