# SPDX-License-Identifier: Apache-2.0
"""Millrace: CUDA on the CPU, for machines without a GPU.

    millrace run -- python3 program.py      runs a program, unmodified
    import millrace; millrace.activate()    in a program, before anything that uses CUDA
    pytest -p millrace                      runs tests with it

`millrace run` is the way that always works: programs that carry NVIDIA's runtime library, or open NVIDIA's libraries by
their path, can only be led to Millrace's while they start.
"""
import ctypes
import os
import pathlib
import shutil
import sys

__all__ = ["ROOT", "activate", "command", "is_active", "restart"]

#: The toolkit's folder: bin, include, lib.
ROOT = pathlib.Path(__file__).resolve().parent / "toolkit"

_OURS = "libmillrace-"  # the driver opens these itself
# Programs may expect their functions without naming a library; of the others the loader knows the name once it has
# them, and takes them for NVIDIA's, which packages look for beside themselves.
_FOR_ALL = ("libcuda", "libcudart", "libnvrtc", "libnvJitLink", "libnvidia-ml", "libcupti")
_BY_NAME = ("libcublas", "libcublasLt", "libcudnn", "libcufft", "libcufftw", "libcurand", "libcusolver", "libcusparse",
            "libnccl", "libnvToolsExt")


def _add_compiler() -> None:
    """The package millrace_clang has the clang 19 that NVRTC and nvcc run, for machines without one: last in PATH."""
    if shutil.which("clang-19"):
        return
    try:
        import millrace_clang
    except ImportError:
        return
    os.environ["PATH"] = os.pathsep.join(filter(None, (os.environ.get("PATH"), millrace_clang.folder())))


def command() -> str:
    """The path of the millrace command, which finds a compiler after this call. A wheel holds no links, so the first call makes those that the libraries have."""
    _add_compiler()
    for name in (ROOT / "lib64", *(ROOT / "targets").glob("*/*"), *(ROOT / "lib").glob("lib*.so"), *(ROOT / "lib" / "stubs").glob("lib*.so")):
        if not name.is_symlink() and not name.name.startswith(_OURS):
            target = name.read_text().removeprefix("INPUT(").rstrip(")\n")
            try:
                fresh = name.with_name(f".{name.name}.{os.getpid()}")
                fresh.symlink_to(target)
                fresh.replace(name)
            except OSError:  # not ours to write: linkers read the text as well
                break
    return str(ROOT / "bin" / "millrace")


def _loaded() -> list[str]:
    """The drivers that this process has loaded, by path."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            return sorted({line.split(None, 5)[5].strip() for line in maps if "/libcuda.so" in line})
    except OSError:
        return []


def is_active() -> bool:
    """Whether this process has Millrace's driver, or finds it first: after activate, or under `millrace run`."""
    ours = str(ROOT / "lib")
    return any(os.path.dirname(path) == ours for path in _loaded()) or os.environ.get("LD_LIBRARY_PATH", "").split(":")[0] == ours


def activate() -> None:
    """Loads Millrace's driver, compilers and libraries of mathematics, so that whatever asks for CUDA's by name gets them,
    in this process and its children. Packages that carry NVIDIA's runtime library inside (CuPy, XGBoost) need `restart`.

    RuntimeError if another driver is loaded already: call this before the import that loads it.
    """
    if any(os.path.dirname(path) != str(ROOT / "lib") for path in _loaded()):
        raise RuntimeError(f"another driver is loaded already ({_loaded()[0]}): call millrace.activate() before what uses CUDA")
    if is_active():
        return
    command()
    for path in sorted((ROOT / "lib").glob("lib*.so.*")):
        stem = path.name.split(".")[0]
        if stem in _FOR_ALL:
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        elif stem in _BY_NAME:
            ctypes.CDLL(str(path), mode=os.RTLD_LOCAL)
    for variable, folder in (("PATH", ROOT / "bin"), ("LD_LIBRARY_PATH", ROOT / "lib")):
        os.environ[variable] = os.pathsep.join(filter(None, (str(folder), os.environ.get(variable))))
    if "CUDA_HOME" not in os.environ and "CUDA_PATH" not in os.environ:
        os.environ["CUDA_HOME"] = os.environ["CUDA_PATH"] = str(ROOT)
    flags = os.environ.get("XLA_FLAGS", "").split()
    for name, value in (("--xla_gpu_cuda_data_dir", ROOT), ("--xla_gpu_autotune_level", 0),
                        ("--xla_gpu_enable_triton_gemm", "false")):
        if not any(flag.startswith(name) for flag in flags):
            flags.append(f"{name}={value}")
    os.environ["XLA_FLAGS"] = " ".join(flags)
    modules = str(ROOT / "lib" / "millrace" / "python")  # PyTorch looks for its kernels there
    sys.path.append(modules)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), modules)))
    os.environ.setdefault("TRITON_PTXAS_PATH", str(ROOT / "bin" / "ptxas"))


def restart() -> None:
    """Starts this process's command again under `millrace run`, unless it runs there."""
    if not is_active():
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(command(), ["millrace", "run", "--", sys.executable, *sys.orig_argv[1:]])


def pytest_addoption(parser) -> None:
    """`pytest -p millrace`: called before output is captured, and before any test's module is read."""
    del parser
    restart()
