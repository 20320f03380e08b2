# SPDX-License-Identifier: Apache-2.0
"""A host half that makes instances of templates which only the device half can: it compiles, and runs; what is wrong
in it otherwise is told, and nothing else. Usage: test_host_half.py NVCC_SHIM BUILD SOURCE"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SHIM, BUILD, SOURCE = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
SMALL = """#ifdef __CUDA_ARCH__
__device__ long long atomicAdd(long long *a, long long v) { return v; }
#endif
template <class T> __global__ void kernel(T *p) { atomicAdd(p, (T)1); }
#line 77
%s
int main() { kernel<<<1, 1>>>((long long *)nullptr); }
"""


def run(folder: pathlib.Path, *words: str, good: bool = True) -> str:
    done = subprocess.run([SHIM, "-arch=sm_80", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == good, (words, done.returncode, done.stderr)
    return done.stderr


def small(folder: pathlib.Path, line: str, *words: str, good: bool = True) -> str:
    (folder / "small.cu").write_text(SMALL % line)
    return run(folder, "-c", *words, "small.cu", "-o", "small.o", good=good)


def main() -> int:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib")}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for words in ([], ["-rdc=true"]):
            shown = run(folder, *words, str(SOURCE), "-o", "program")
            assert "error" not in shown, shown
            done = subprocess.run([folder / "program"], env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (done.returncode, done.stdout)
        # With nothing wrong, nothing is said; a warning is, at its line.
        assert not small(folder, "static __device__ int unused() { return 1; }")
        assert "small.cu:77" in small(folder, 'static int f() { return 1; }\n[[deprecated]] int g();\nint h() { return f() + g(); }'.replace("\n", " "))
        # What is wrong on the host is told, at its line, and no more than that.
        shown = small(folder, 'int h() { return nothing; }\n#ifdef __CUDA_ARCH__\nint nothing;\n#endif', good=False)
        assert re.search(r"small\.cu:77:\d+: error: use of undeclared identifier 'nothing'", shown), shown
        shown = small(folder, "\n#ifndef __CUDA_ARCH__\nint h() { return nothing; }\n#endif", good=False)
        assert re.search(r"small\.cu:79:\d+: error: use of undeclared identifier 'nothing'", shown), shown
        assert shown.count("error: ") == 1, shown
        # Managed variables and lists of dependencies go the same way.
        small(folder, "__managed__ int m; int h() { return m; }", "-MD", "-MF", "small.d")
        assert re.match(r"small\.o:[ \\\n]*small\.cu\b", (folder / "small.d").read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
