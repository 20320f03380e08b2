# SPDX-License-Identifier: Apache-2.0
"""Small floats (cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, cuda_fp6.h, cuda_fp4.h) beside NVIDIA's headers, as far as facts
about those stand in halves/. Usage: test_halves.py host BUILD | kernels BUILD NVCC_SHIM LIBNVRTC | toolkit

host: g++ and clang++ find every function that the toolkit's have for host compilers, with its type, and each gives
NVIDIA's results bit by bit; classes convert as theirs do; C and each standard of C++ take the headers; the macros that
take parts away do. kernels: every function of kernels is there, with its type, also for libnvrtc, and gives what
hardware gives. toolkit: the lists of facts are those of the toolkit, where there is one."""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "halves"
# Pairs are more than NVIDIA's, which have copying members of their own: these can be copied like any other memory, as
# sources that union or memcpy them expect.
MORE = {"__half2": " trivially_copyable moved_without_throw", "__nv_bfloat162": " trivially_copyable moved_without_throw"}
# Not among the recorded sums: test_half.c compares each number with hardware's.
APPROXIMATE = re.compile(r"tanh_approx\(")
OFF = {
    "__CUDA_NO_HALF_CONVERSIONS__": "__half h = 1.0f; (void)h;", "__CUDA_NO_BFLOAT16_CONVERSIONS__": "__nv_bfloat16 h = 1.0f; (void)h;",
    "__CUDA_NO_HALF_OPERATORS__": "__half h = 1.0f; h += h;", "__CUDA_NO_HALF2_OPERATORS__": "__half2 h(1.0f, 1.0f); h += h;",
    "__CUDA_NO_BFLOAT16_OPERATORS__": "__nv_bfloat16 h = 1.0f; h += h;", "__CUDA_NO_BFLOAT162_OPERATORS__": "__nv_bfloat162 h(1.0f, 1.0f); h += h;",
    "CUDA_NO_HALF": "half h; (void)h;", "CUDA_NO_BFLOAT16": "nv_bfloat16 h; (void)h;", "__CUDA_NO_FP8_CONVERSIONS__": "__nv_fp8_e4m3 x(1.0f); (void)x;",
    "__CUDA_NO_FP8_CONVERSION_OPERATORS__": "__nv_fp8_e8m0 x(1.0f); (void)(float)x;", "__CUDA_NO_FP6_CONVERSIONS__": "__nv_fp6x2_e2m3 x(make_float2(1, 2)); (void)x;",
    "__CUDA_NO_FP6_CONVERSION_OPERATORS__": "__nv_fp6_e2m3 x(1.0f); (void)(int)x;", "__CUDA_NO_FP4_CONVERSIONS__": "__nv_fp4_e2m1 x(1.0f); (void)x;",
    "__CUDA_NO_FP4_CONVERSION_OPERATORS__": "__nv_fp4x4_e2m1 x(make_float4(1, 2, 3, 4)); (void)(float4)x;",
    "__CUDA_FP16_DISABLE_IMPLICIT_INTEGER_CONVERTS_FOR_HOST_COMPILERS__": "__half h = 1u; (void)h;",
    "__CUDA_BF16_DISABLE_IMPLICIT_INTEGER_CONVERTS_FOR_HOST_COMPILERS__": "__nv_bfloat16 h = 1u; (void)h;",
}


def made(command: list, folder: pathlib.Path, source: str, name: str, env: dict | None = None) -> list[str]:
    """What a program of this source prints."""
    (folder / name).write_text(source)
    subprocess.run([*command, folder / name, "-o", folder / "program"], check=True, stderr=subprocess.STDOUT)
    return subprocess.run([folder / "program"], capture_output=True, text=True, check=True, env={**os.environ, **(env or {})}).stdout.splitlines()


def differences(right: list[str], got: list[str]) -> list[str]:
    lines = [f"not as NVIDIA's: {line}" for line in got if line not in set(right)]
    return lines + [f"missing: {line}" for line in right if line not in set(got)]


def sums(side: str) -> list[str]:
    return [line for line in (HERE / "sums.txt").read_text().splitlines() if line.startswith(side)]


def source_of(sides: str) -> str:
    return subprocess.run([sys.executable, HERE / "make_source.py", HERE / "functions.txt", sides], capture_output=True, text=True, check=True).stdout


def accepts(compiler: list, folder: pathlib.Path, name: str, source: str) -> bool:
    (folder / name).write_text(source)
    return subprocess.run([*compiler, "-fsyntax-only", folder / name], capture_output=True, check=False).returncode == 0


def on_host(build: pathlib.Path, folder: pathlib.Path) -> list[str]:
    wrong = []
    includes = [f"-I{HERE}", "-isystem", build / "include"]
    for compiler in ("g++", "clang++-19"):
        if not shutil.which(compiler):
            continue
        if compiler == "g++":   # the shim's clang does so in `kernels`
            wrong += differences(sums("host"), made([compiler, "-O1", "-Wno-psabi", "-std=c++17", *includes], folder, source_of("host"), "host.cpp"))
        right = [line + MORE.get(line.split()[0], "") if " size " in line else line for line in (HERE / "traits.txt").read_text().splitlines()]
        ordered = [" ".join(sorted(line.split())) if " size " in line else line for line in right]
        got = made([compiler, "-w", "-std=c++17", *includes], folder, (HERE / "traits.cpp").read_text(), "traits.cpp")
        wrong += differences(ordered, [" ".join(sorted(line.split())) if " size " in line else line for line in got])
    strict = ["g++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *includes]
    for standard in ("98", "11", "14", "17", "20"):
        if not accepts([*strict, f"-std=c++{standard}"], folder, "standard.cpp", "#include <cuda_fp4.h>\nint main() { return __hisnan(__float2half(1.0f)); }\n"):
            wrong.append(f"C++ {standard}")
    plain = ["g++", "-std=c++17", *includes]
    everything = "#include <cuda_fp4.h>\nint main() { " + " ".join(f"{{ {use} }}" for use in OFF.values()) + " return 0; }\n"
    if not accepts(plain, folder, "macro.cpp", everything):
        wrong.append("a use of what macros take away, without one")
    if not accepts([*plain, *(f"-D{macro}" for macro in OFF)], folder, "macro.cpp", "#include <cuda_fp4.h>\nint main() { return 0; }\n"):
        wrong.append("all macros that take parts away")
    for macro, use in OFF.items():
        if accepts([*plain, f"-D{macro}"], folder, "macro.cpp", f"#include <cuda_fp4.h>\nint main() {{ {use} return 0; }}\n"):
            wrong.append(f"what {macro} takes away is there")
    for standard in ("99", "11", "17"):
        strict = ["gcc", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-std=c{standard}", *includes]
        source = ("#include <cuda_fp4.h>\nint main(void)\n{\n    __half_raw h = __nv_cvt_fp4_to_halfraw(7, __NV_E2M1);\n"
                  "    __nv_bfloat16_raw b = __nv_cvt_e8m0_to_bf16raw(127);\n    float2 both = { 1, 2 };\n    __half2_raw pair = { 1, 2 };\n"
                  "    return h.x != 0x4600 || b.x != 0x3f80 || sizeof pair != 4 || __nv_cvt_float2_to_fp8x2(both, __NV_SATFINITE, __NV_E4M3) != 0x4038;\n}\n")
        if not accepts(strict, folder, "c.c", source) or made(["gcc", f"-std=c{standard}", *includes], folder, source, "c.c"):
            wrong.append(f"C {standard}")
    return wrong


def in_kernels(build: pathlib.Path, shim: str, folder: pathlib.Path) -> list[str]:
    env = {"LD_LIBRARY_PATH": str(build / "lib"), "MILLRACE_COMPUTE_CAPABILITY": "9.0"}
    got = made([shim, "-arch=sm_90", "-w", f"-I{HERE}"], folder, source_of("both"), "kernels.cu", env)
    return [line for line in differences(sums(""), got) if not APPROXIMATE.search(line)]


def by_nvrtc(path: str) -> list[str]:
    """What libnvrtc says of all functions at once, for an architecture in the middle."""
    library, wrong = ctypes.CDLL(str(pathlib.Path(path).resolve())), []
    for arch in (b"80",):
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        assert library.nvrtcCreateProgram(ctypes.byref(program), source_of("nvrtc").encode(), b"kernels.cu", 0, None, None) == 0
        options = [b"-arch=compute_" + arch, b"-I" + str(HERE).encode()]
        if library.nvrtcCompileProgram(program, 2, (ctypes.c_char_p * 2)(*options)):
            library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value + 1)
            library.nvrtcGetProgramLog(program, log)
            wrong.append(f"libnvrtc, {arch.decode()}: {log.value.decode()[:3000]}")
        library.nvrtcDestroyProgram(ctypes.byref(program))
    return wrong


def of_toolkit(folder: pathlib.Path) -> list[str]:
    top = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
    version = next((line for line in (top / "cuda.h").read_text().splitlines() if line.startswith("#define CUDA_VERSION")), "") if (top / "cuda.h").exists() else ""
    if "13000" not in version or not shutil.which("g++"):
        print("no CUDA toolkit 13.0 here")
        sys.exit(77)
    traits = made(["g++", "-w", "-std=c++17", "-isystem", top, "-isystem", top / "cccl"], folder, (HERE / "traits.cpp").read_text(), "traits.cpp")
    (folder / "traits.txt").write_text("\n".join(traits) + "\n")
    listed = subprocess.run([sys.executable, HERE / "list_toolkit.py", top, folder / "traits.txt"], capture_output=True, text=True, check=True).stdout.splitlines()
    got = made(["g++", "-w", "-Wno-psabi", "-O1", "-std=c++17", f"-I{HERE}", "-isystem", top, "-isystem", top / "cccl"], folder, source_of("host"), "host.cpp")
    return (differences((HERE / "traits.txt").read_text().splitlines(), traits) + differences((HERE / "functions.txt").read_text().splitlines(), listed)
            + differences(sums("host"), got))


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if sys.argv[1] == "host":
            wrong = on_host(pathlib.Path(sys.argv[2]), folder)
        elif sys.argv[1] == "kernels":
            wrong = in_kernels(pathlib.Path(sys.argv[2]), sys.argv[3], folder) + by_nvrtc(sys.argv[4])
        else:
            wrong = of_toolkit(folder)
    print(f"{len(sums('host'))} functions on the host, {len(sums('device'))} in kernels")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
