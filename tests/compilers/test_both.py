# SPDX-License-Identifier: Apache-2.0
"""The same kernels by clang and by NVIDIA's compilers, where those are: the results are compared. Usage: test_both.py
BOTH NVCC_SHIM"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SHIM = pathlib.Path(sys.argv.pop()).resolve()
BOTH = pathlib.Path(sys.argv.pop()).resolve()
SOURCE = pathlib.Path(__file__).resolve().parent / "kernels.cu"
ROOTS = [pathlib.Path(root) for root in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if root]


def find_nvcc() -> str | None:
    found = [str(root / "bin" / "nvcc") for root in ROOTS] + [shutil.which("nvcc")]
    return next(
        (path for path in found if path and os.access(path, os.X_OK) and not os.path.samefile(path, SHIM)), None
    )


def find_nvrtc() -> str | None:
    folders = [root / name for root in ROOTS for name in ("lib64", "lib")]
    return next((str(path) for folder in folders for path in sorted(folder.glob("libnvrtc.so.1[23]"))), None)


NVCC, NVRTC = find_nvcc(), find_nvrtc()


class Both(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = pathlib.Path(cls.folder.name)
        cls.shim(cls, "clang.ptx")

    def do(self, *command, expect: int = 0, **environment: str) -> subprocess.CompletedProcess:
        clean = {name: value for name, value in os.environ.items() if name not in ("MILLRACE_CC", "MILLRACE_NVRTC")}
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
            env={**clean, **environment},
            timeout=300,
        )
        if done.returncode != expect:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def shim(self, output: str, *options: str, **environment: str) -> None:
        Both.do(self, SHIM, "--ptx", "-arch=sm_80", "-fmad=false", *options, SOURCE, "-o", output, **environment)

    def compare(self, output: str) -> None:
        self.assertIn(" 0 with different results", self.do(BOTH, "compare", "clang.ptx", output).stdout)

    def test_runtime_compilation_by_clang(self):
        self.do(BOTH, "compile", SOURCE, "rtc.ptx")
        self.compare("rtc.ptx")

    def test_without_optimisation(self):
        self.shim("slow.ptx", "-G")
        self.compare("slow.ptx")

    def test_a_wrong_path(self):
        done = self.do(BOTH, "compile", SOURCE, "none.ptx", expect=1, MILLRACE_NVRTC="/nonexistent/libnvrtc.so.13")
        self.assertIn("/nonexistent/libnvrtc.so.13", done.stderr)
        done = self.do(SHIM, "--ptx", SOURCE, expect=1, MILLRACE_CC="/nonexistent/nvcc")
        self.assertIn("/nonexistent/nvcc", done.stderr)

    def test_the_runtime_compiler_has_clang_when_the_shim_has_nvcc(self):
        self.do(BOTH, "compile", SOURCE, "with.ptx", MILLRACE_CC="nvcc")
        self.assertIn("LLVM NVPTX", (self.path / "with.ptx").read_text())

    @unittest.skipUnless(NVCC, "NVIDIA's nvcc is not here")
    def test_nvcc(self):
        for name, value in (("nvcc.ptx", NVCC), ("debug.ptx", NVCC)):
            self.shim(name, *(("-G",) if name == "debug.ptx" else ()), MILLRACE_CC=value)
            self.assertIn("NVIDIA", (self.path / name).read_text())
            self.compare(name)

    @unittest.skipUnless(NVCC, "NVIDIA's nvcc is not here")
    def test_nvcc_gets_nothing_that_a_shell_reads(self):
        for word in ("-DX=$(touch hacked)", "-DX=`touch hacked`", "-DX=1;touch hacked", "-I\"$HOME\""):
            done = self.do(SHIM, "--ptx", word, SOURCE, "-o", "x.ptx", expect=1, MILLRACE_CC=NVCC)
            self.assertIn("shell", done.stderr)
        self.assertFalse((self.path / "hacked").exists())

    @unittest.skipUnless(NVCC, "NVIDIA's nvcc is not here")
    def test_nvcc_errors(self):
        (self.path / "broken.cu").write_text("__global__ void f() { undeclared = 1; }\n")
        done = self.do(SHIM, "--ptx", "broken.cu", expect=1, MILLRACE_CC=NVCC)
        self.assertIn("broken.cu(1)", done.stdout + done.stderr)

    @unittest.skipUnless(NVCC and not os.environ.get("MR_SANITIZED"), "NVIDIA's nvcc is not here, or the libraries want a sanitizer's")
    def test_programs_by_nvcc(self):
        examples = SOURCE.parent.parent.parent / "examples" / "cuda"
        relocatable = examples / "relocatable"
        for words in ((examples / "hello.cu",), (examples / "cooperative.cu",), ("-rdc=true", relocatable / "main.cu", relocatable / "table.cu")):
            self.do(SHIM, "-arch=sm_80", *words, "-o", "program", MILLRACE_CC=NVCC)
            self.do("./program", LD_LIBRARY_PATH=str(SHIM.parent.parent.parent / "lib"))

    @unittest.skipUnless(NVRTC, "NVIDIA's libnvrtc is not here")
    def test_nvrtc(self):
        self.do(BOTH, "compile", SOURCE, "nvrtc.ptx", MILLRACE_NVRTC=NVRTC)
        self.assertIn("NVIDIA", (self.path / "nvrtc.ptx").read_text())
        self.compare("nvrtc.ptx")


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=1).result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad - len(outcome.skipped)} passed, {bad} failed, {len(outcome.skipped)} skipped")
    sys.exit(1 if bad else 0)
