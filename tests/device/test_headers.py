# SPDX-License-Identifier: Apache-2.0
"""Each header that docs/compilers.md lists stands alone, by the nvcc shim and by libnvrtc, and all of them together in
the host half, but for those that exclude others; and each of the toolkit's is there or said to be missing. Usage: test_headers.py NVCC_SHIM LIBNVRTC
DOCS"""
import concurrent.futures
import ctypes
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SHIM, LIBRARY, DOCS = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
# Something that each of these must have brought.
USES = {
    "cooperative_groups.h": "cooperative_groups::this_grid().sync();", "cooperative_groups/reduce.h": "(void)cooperative_groups::plus<int>()(1, 2);",
    "cuda_fp16.h": "(void)__float2half(1.f);", "cuda_bf16.h": "(void)__float2bfloat16(1.f);", "cuda_fp8.h": "__nv_fp8_e4m3 x(1.f); (void)x;",
    "curand_kernel.h": "curandState s; curand_init(1, 2, 3, &s);", "curand_normal.h": "curandStateXORWOW_t s; curand_init(1, 2, 3, &s); (void)curand_normal(&s);",
    "curand_philox4x32_x.h": "curandStatePhilox4_32_10_t s; (void)s;", "cuComplex.h": "(void)cuCaddf(make_cuFloatComplex(1, 2), make_cuFloatComplex(3, 4));",
    "math_constants.h": "(void)CUDART_PI_F;", "mma.h": "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f; nvcuda::wmma::fill_fragment(f, 0.f);",
    "crt/mma.h": "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f; (void)f;", "vector_types.h": "float4 v = { 1, 2, 3, 4 }; (void)v;",
    "vector_functions.h": "(void)make_int3(1, 2, 3);", "device_launch_parameters.h": "(void)(threadIdx.x + blockDim.y);", "library_types.h": "(void)CUDA_R_32F;",
    "device_types.h": "(void)cudaRoundZero;", "cuda_pipeline.h": "__pipeline_commit();", "math_functions.h": "(void)sinf(1.f);", "sm_61_intrinsics.h": "(void)__dp4a(1, 2, 3);",
    "crt/sm_70_rt.h": "(void)__match_any_sync(~0u, 1);", "sm_60_atomic_functions.h": "__shared__ double d; atomicAdd(&d, 1.0);", "nv/target": "int side = 0; NV_IF_TARGET(NV_IS_DEVICE, (side = 1;)) (void)side;", "cuda/atomic": "cuda::atomic<int> a(1); (void)a;",
    "assert.h": "assert(threadIdx.x < 5);", "texture_indirect_functions.h": "(void)tex2D<float>(cudaTextureObject_t(0), 1, 2);",
    "surface_indirect_functions.h": "(void)surf1Dread<int>(cudaSurfaceObject_t(0), 4);", "crt/host_defines.h": "__align__(16) int a; (void)a;",
}


def listed(kind: str) -> list[str]:
    """The names in the table's row."""
    row = next(line for line in DOCS.read_text().splitlines() if line.startswith(f"| {kind} |"))
    return re.findall(r"`([^`]+)`", row.split("|")[2])


def source_of(name: str) -> str:
    return f"#include <{name}>\n#include <{name}>\n__global__ void kernel() {{ {USES.get(name, '')} }}\n"


def commands(folder: pathlib.Path) -> list[list[str]]:
    """What the shim runs for each half, without what comes after the compiling."""
    (folder / "x.cu").write_text("")
    done = subprocess.run([SHIM, "-c", "-arch=sm_80", "--dryrun", "x.cu"], cwd=folder, capture_output=True, text=True, check=True)
    halves = []
    for line in done.stderr.splitlines():
        words = shlex.split(line.removeprefix("#$ ").replace("# ", "")) if "clang" in line and "-x cuda" in line else []
        if words:
            cut = words.index("-S") if "-S" in words else words.index("-fcuda-include-gpubinary") - 1
            halves.append([*words[:cut], "-fsyntax-only"])
    assert len(halves) == 2, done.stderr
    return halves


def by_shim(name: str, source: str, half: list[str], folder: pathlib.Path) -> list[str]:
    path = folder / (re.sub(r"\W", "_", name) + ".cu")
    path.write_text(source)
    done = subprocess.run([*half, path], capture_output=True, text=True, check=False)
    return [f"{name}: {done.stderr}"] if done.returncode else []


def by_nvrtc(name: str, library) -> list[str]:
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert library.nvrtcCreateProgram(ctypes.byref(program), source_of(name).encode(), b"x.cu", 0, None, None) == 0
    status = library.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"-arch=compute_80"))
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return [f"{name}, by libnvrtc: {log.value.decode()}"] if status else []


def toolkit_headers() -> list[str]:
    top = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
    return [str(path.relative_to(top)) for pattern in ("*.h", "crt/*.h", "cooperative_groups/*.h") for path in top.glob(pattern)]


def main() -> int:
    names, host_only, alone = listed("kernels and hosts"), listed("hosts"), listed("hosts, without `cublas_v2.h`")
    missing = re.compile("|".join(re.escape(name).replace(r"\*", r"[^/]*") for row in ("of other libraries", "of graphics and profilers", "not there") for name in listed(row)) + "$")
    wrong = [f"{name} is neither there nor said to be missing" for name in toolkit_headers() if name not in names + host_only + alone and not missing.match(name)]
    wrong += [f"{name} is of no header that is listed" for name in USES if name not in names]
    library = ctypes.CDLL(str(LIBRARY))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        halves = commands(pathlib.Path(folder))
        runs = [pool.submit(by_shim, name, source_of(name), halves[0], pathlib.Path(folder)) for name in names]
        runs.append(pool.submit(by_shim, "all, host half", "".join(f"#include <{name}>\n" for name in names + host_only), halves[1], pathlib.Path(folder)))
        runs += [pool.submit(by_shim, f"{name}, host half", f"#include <{name}>\n", halves[1], pathlib.Path(folder)) for name in alone]
        runs += [pool.submit(by_nvrtc, name, library) for name in names]
        wrong += [line for run in runs for line in run.result()]
    print(f"{len(names)} headers of kernels and hosts, {len(host_only + alone)} of hosts")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
