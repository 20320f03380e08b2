# SPDX-License-Identifier: Apache-2.0
"""The wheel of `make wheel`, in a virtual environment of its own and far from the build. Usage: test_wheel.py BUILD_FOLDER"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(os.environ["MR_SOURCE_ROOT"])

KERNEL = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 p)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
"""
PROGRAM = f"""
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *words):
    status = getattr(cuda, name)(*words)
    assert status == 0, (name, status)
context, module, kernel, memory, out = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64(), (ctypes.c_uint32 * 32)()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoadData", ctypes.byref(module), {KERNEL!r}.encode())
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"fill")
call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(128))
call("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, (ctypes.c_void_p * 1)(ctypes.addressof(memory)), None)
call("cuMemcpyDtoH_v2", out, memory, ctypes.c_size_t(128))
print(sum(out))
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name)
        cls.make("first")
        cls.wheel = next((cls.path / "first").glob("*.whl"))
        cls.do(sys.executable, "-m", "venv", "--without-pip", cls.path / "environment")
        cls.bin = cls.path / "environment" / "bin"
        cls.site = next((cls.path / "environment" / "lib").glob("python3*")) / "site-packages"
        with zipfile.ZipFile(cls.wheel) as wheel:  # as pip does: the files, and what they may be done with
            for entry in wheel.infolist():
                path = wheel.extract(entry, cls.site)
                os.chmod(path, entry.external_attr >> 16 & 0o777)

    @classmethod
    def make(cls, name):
        cls.do(sys.executable, ROOT / "packaging" / "wheel.py", BUILD, cls.path / name)

    @classmethod
    def do(cls, *words, **more):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("CUDA", "LD_", "PYTHON", "TRITON"))}
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                              env={**env, **more}, timeout=300, cwd=cls.path)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout

    def test_command(self):
        self.assertEqual(self.do(self.bin / "python", "-m", "millrace", "run", "--", self.bin / "python", "-c", PROGRAM), "496\n")
        self.assertIn(str(self.site), self.do(self.bin / "python", "-m", "millrace", "info"))

    def test_compiler_of_the_other_package(self):
        """It is last in PATH where the machine has none, and not there where it has one."""
        package, empty = self.site / "millrace_clang", self.path / "empty"
        package.mkdir()
        self.addCleanup(shutil.rmtree, package)
        empty.mkdir()
        (package / "__init__.py").write_text("def folder(): return '/of/clang'\n")
        ask = "import os, millrace; millrace.command(); print(os.environ['PATH'])"
        self.assertEqual(self.do(self.bin / "python", "-c", ask, PATH=str(empty)), f"{empty}:/of/clang\n")
        (empty / "clang-19").write_text("#!/bin/sh\n")
        (empty / "clang-19").chmod(0o755)
        self.assertEqual(self.do(self.bin / "python", "-c", ask, PATH=str(empty)), f"{empty}\n")

    def test_size(self):
        self.assertLess(self.wheel.stat().st_size, 20e6)

    def test_activate(self):
        self.assertEqual(self.do(self.bin / "python", "-c", "import millrace; millrace.activate(); assert millrace.is_active()\n" + PROGRAM), "496\n")
        late = "import ctypes, millrace; ctypes.CDLL(LIBRARY)\ntry: millrace.activate()\nexcept RuntimeError: print('late')"
        self.assertEqual(self.do(self.bin / "python", "-c", late.replace("LIBRARY", repr(str(BUILD / "lib" / "libcuda.so.1")))), "late\n")

    def test_activate_leads_to_all_libraries(self):
        """By the names that packages ask for, in the process itself; the modules for PyTorch are found, too."""
        ask = """import ctypes, importlib.metadata, millrace
millrace.activate()
for name in "libcuda.so.1", "libcudart.so.12", "libcudart.so.13", "libcublas.so.12", "libcublasLt.so.13", "libcudnn.so.9", "libcufft.so.12", "libcusolver.so.12", "libcusparse.so.12", "libcurand.so.10", "libnccl.so.2", "libnvToolsExt.so.1":
    ctypes.CDLL(name)
with open("/proc/self/maps") as maps:
    print(*{line.split()[-1].rsplit("/", 1)[0] for line in maps if "/libcu" in line or "/libnccl" in line})
print(*(entry.name for entry in importlib.metadata.entry_points(group="torch.backends")))
"""
        self.assertEqual(self.do(self.bin / "python", "-c", ask), f"{self.site / 'millrace' / 'toolkit' / 'lib'}\nmillrace\n")

    def test_restart(self):
        """A script that starts again under `millrace run`: once, with its arguments."""
        (self.path / "script.py").write_text("import sys, millrace\nmillrace.restart()\nprint(sys.argv[1:])\n" + PROGRAM)
        self.assertEqual(self.do(self.bin / "python", "script.py", "a b"), "['a b']\n496\n")

    def test_nothing_of_the_build(self):
        """Libraries that ours need are inside, or every system has them; no file names the build."""
        said = ""
        for path in (self.site / "millrace" / "toolkit").rglob("*.so*"):
            if path.read_bytes()[:4] == b"\x7fELF" and not set(path.parts) & {"aarch64-linux-gnu", "i386-linux-gnu", "lib32"} and "silent" not in path.name:
                said += self.do("ldd", path)
        self.assertNotIn("not found", said)
        self.assertNotIn(str(BUILD), said)

    def test_licences(self):
        folder = next(self.site.glob("*.dist-info")) / "licenses"
        self.assertIn("llvm", (folder / "NOTICE").read_text())
        self.assertTrue((folder / "LICENSE").is_file())
        self.assertIn("Hiroshima University", (folder / "NOTICE").read_text())

    @unittest.skipUnless(os.confstr("CS_GNU_LIBC_VERSION") == "glibc 2.36", "what is built by another glibc may need that one")
    def test_oldest_glibc(self):
        """Systems have it from RHEL 9 on: no function of a newer one is used unawares (hypot is such a one)."""
        self.assertIn("manylinux_2_34_x86_64", self.wheel.name)

    def test_same_bits(self):
        self.make("second")
        self.assertEqual((self.path / "second" / self.wheel.name).read_bytes(), self.wheel.read_bytes())

    def test_links(self):
        """Names without a version are links after the command's first call, and text for linkers before."""
        fresh = self.path / "fresh"
        with zipfile.ZipFile(self.wheel) as wheel:
            wheel.extractall(fresh)
        self.assertEqual((fresh / "millrace" / "toolkit" / "lib" / "libcuda.so").read_text(), "INPUT(libcuda.so.1)\n")
        stubs = fresh / "millrace" / "toolkit" / "lib" / "stubs"
        self.assertEqual((stubs / "libcublas.so").read_text(), "INPUT(../libcublas.so.13)\n")
        runtime = fresh / "millrace" / "toolkit" / "lib" / "runtime"
        self.assertEqual((runtime / "libcudart.so").read_text(), "INPUT(../libcudart.so.13)\n")
        self.assertEqual((runtime / "libcudart_static.a").read_text(), "INPUT(../libcudart_static.a)\n")
        self.do(sys.executable, "-c", "import millrace; millrace.command()", PYTHONPATH=str(fresh))
        for path in [*(fresh / "millrace" / "toolkit" / "lib").glob("lib*.so"), *stubs.glob("lib*.so")]:
            if not path.name.startswith("libmillrace-"):
                self.assertTrue(path.is_symlink() and path.exists(), path)
        self.assertTrue((fresh / "millrace" / "toolkit" / "lib64" / "libcuda.so").is_symlink())
        for name in ("include/cuda.h", "lib/libcuda.so.1"):
            self.assertEqual(len([*(fresh / "millrace" / "toolkit" / "targets").glob(f"*-linux/{name}")]), 1, name)


if __name__ == "__main__":
    if not shutil.which("patchelf"):
        print("SKIP: there is no patchelf")
        sys.exit(77)
    unittest.main()
