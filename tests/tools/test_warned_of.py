# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA's nvcc takes, with a warning or none, and clang refuses: it compiles and runs, and what is wrong beside it
is told. Usage: test_warned_of.py NVCC_SHIM BUILD"""
import os
import pathlib
import subprocess
import sys
import tempfile

SHIM, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])

PARTS = """#include <cstdio>
#include <cstring>
#include <string>
#define BOTH __host__ __device__
#define NEXT(p, n) ((p) + (n))
template <class T> struct counter {
    T value;
    BOTH counter<T>::counter(T first)
        : value(first) {}
    BOTH T counter<T>::next();
};
template <class T> BOTH T counter<T>::next() { return ++value; }
namespace outer { struct inner { int x; inner::inner() : x(5) {} inner::~inner() {} int outer::inner::get() const { return x; } }; }
template <class T> BOTH const void *behind(T *p) { return p + 4; }
__global__ void kernel(void *p, int kind)
{
    void *q = p;
    q += sizeof(int);
    *(int *)p = counter<int>(6).next();
    *(int *)q = 8; *(int *)NEXT(NEXT(p, 4), 4) = 9; *(int *)(12 + p) = *(const int *)behind((const void *)p);
    q -= 4, *(int *)((q + 32) - 16) = 10;
    switch (kind) {
    case 0:
        const int twice = 2 * kind; *(int *)(p + 20) = twice; break;
    default:
        *(int *)(p + 20) = 11;
    }
}
int main()
{
    void *p;
    cudaMallocManaged(&p, 24);
    kernel<<<1, 1>>>(p, 1);
    cudaDeviceSynchronize();
    const void *end = p + 24;
    for (const void *at = p; at != end; at += sizeof(int))
        printf("%d ", *(const int *)at);
    char text[64];
    std::string word = "word", other = "other";
    snprintf(text, sizeof text, "%p", word);
    printf("%d %d\\n", outer::inner().get(), strcmp(text, "") != 0 && other == "other");
    return 0;
}
"""

NO_CLANG = """#include <cstdio>
#include <vector>
#include <string.h>
#ifdef __clang__
# error "this needs another compiler"
#endif
#if __GNUC__ < 5
#error "this needs a newer one"
#endif
__global__ void kernel(int *p) { *p = 12; }
int main() { int *p; cudaMallocManaged(&p, 4); kernel<<<1, 1>>>(p); cudaDeviceSynchronize(); printf("%d\\n", *p); }
"""


def run(folder: pathlib.Path, source: str, *words: str, good: bool = True) -> str:
    (folder / "source.cu").write_text(source)
    done = subprocess.run([SHIM, *words, "source.cu"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == good, (words, done.returncode, done.stderr)
    return done.stderr


def printed(folder: pathlib.Path) -> str:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib")}
    done = subprocess.run([folder / "program"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for words in ([], ["-rdc=true"], ["-std=c++14", "-G"]):
            assert "error" not in run(folder, PARTS, "-o", "program", *words)
            assert printed(folder) == "7 8 9 8 10 11 5 1\n", printed(folder)
            assert not run(folder, NO_CLANG, "-o", "program", *words)
            assert printed(folder) == "12\n"
        # What is wrong beside it is told, at its line.
        shown = run(folder, PARTS + "int wrong = nothing;\n", "-c", "-o", "source.o", good=False)
        assert f"source.cu:{PARTS.count(chr(10)) + 1}:" in shown and "'nothing'" in shown, shown
        shown = run(folder, "#error not for anybody\n" + NO_CLANG, "-c", "-o", "source.o", good=False)
        assert "source.cu:1:" in shown, shown
        # As with nvcc, an element of void has no size.
        for wrong in ("p++", "p[1]", "p - (void *)0"):
            source = f"__global__ void kernel(void *p) {{ {wrong}; }}\n"
            assert "source.cu:1:" in run(folder, source, "-c", "-o", "source.o", good=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
