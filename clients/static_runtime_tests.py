# SPDX-License-Identifier: Apache-2.0
"""The conformance tests of the runtime library and the examples, built by NVIDIA's compiler with its defaults or linked
with NVIDIA's static runtime library, and started by millrace run. For pytest.

BUILD: Millrace's build folder. RUNTIME: a folder with NVIDIA's include and lib/libcudart_static.a. NVCC: the compiler,
whose own runtime library is passed over for RUNTIME's; without one, only the tests in C are run. HEADERS: a folder with
more of NVIDIA's headers (crt).
"""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD, RUNTIME = pathlib.Path(os.environ["BUILD"]), pathlib.Path(os.environ["RUNTIME"])
NVCC, HEADERS = os.environ.get("NVCC"), os.environ.get("HEADERS")
ARCHITECTURE = ["-gencode", "arch=compute_80,code=compute_80"]  # which the tests ask about; the examples are built with nvcc's own
TESTS, EXAMPLES = ROOT / "tests" / "cudart", ROOT / "examples" / "cuda"
NEEDS = ["-lcuda", "-lrt", "-lpthread", "-ldl"]

C_TESTS = ["device", "memory", "stream", "container", "ipc", "visible"]
CUDA_TESTS = {"launch": [], "symbol": [], "graph": [], "fault": [], "texture": [], "threads": [], "managed": [], "per_thread": ["--default-stream", "per-thread"]}
EXAMPLE_OPTIONS = {"threads": ["--extended-lambda", "--default-stream", "per-thread"]}
# Forms of a program: the words behind nvcc's own.
FORMS = {"relocatable": ["-rdc=true"], "whole": [], "debug": ["-G", "-g"], "not PIE": ["-Xcompiler", "-fno-pie,-no-pie"], "compressed": ["-Xfatbin", "-compress-all"],
         "sections": ["-Xcompiler", "-ffunction-sections,-fdata-sections", "-Xlinker", "--gc-sections"], "without unwinding": ["-Xlinker", "--strip-debug"]}

nvcc_only = pytest.mark.skipif(not NVCC, reason="this version has no nvcc on PyPI")


def run(*command, **environment):
    environment = dict(os.environ, MILLRACE_DEVICES="2", **environment)
    done = subprocess.run(
        [str(word) for word in command],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


# Millrace's runtime library says 13.0, and a test compares that with the headers' version.
VERSION = int(re.search(r"#define CUDART_VERSION\s+(\d+)", (RUNTIME / "include" / "cuda_runtime_api.h").read_text())[1])
newer = pytest.mark.skipif(VERSION > 13000, reason="the headers are newer than 13.0")


def runs(program, *words, functions=True):
    """The program under millrace run, which must have replaced the library inside; and once more when it is stripped."""
    said = run(BUILD / "bin" / "millrace", "run", "--", program, *words, MILLRACE_LOG="info")
    if functions:
        assert "the program: " in said and " functions of the runtime library inside go to libcudart.so." in said, said
        run("strip", program)
        again = run(BUILD / "bin" / "millrace", "run", "--", program, *words, MILLRACE_LOG="info")
        assert " is inside, without names" in again and " functions of the runtime library inside go to libcudart.so." in again, again
    return said


def by_nvcc(path, *words):
    program = path / "program"
    run(NVCC, "-std=c++17", f"-L{RUNTIME}/lib", "-o", program, *words, f"-L{BUILD}/lib", *NEEDS)
    return program


@pytest.mark.parametrize("name", [pytest.param(name, marks=newer) if name == "device" else name for name in C_TESTS])
def test_in_c(tmp_path, name):
    if not NVCC and name in ("memory", "stream"):
        pytest.skip("calls functions that changed in version 13")
    program = tmp_path / "program"
    run("cc", "-D_GNU_SOURCE", f"-I{RUNTIME}/include", *([f"-I{HEADERS}"] if HEADERS else []), "-o", program, TESTS / f"{name}.c", f"{RUNTIME}/lib/libcudart_static.a", f"-L{BUILD}/lib", *NEEDS)
    runs(program)


@nvcc_only
@pytest.mark.parametrize("name", CUDA_TESTS)
def test_in_cuda(tmp_path, name):
    runs(by_nvcc(tmp_path, TESTS / f"{name}.cu", *ARCHITECTURE, *CUDA_TESTS[name]))


@nvcc_only
def test_relocatable(tmp_path):
    runs(by_nvcc(tmp_path, "-rdc=true", TESTS / "relocatable.cu", TESTS / "relocatable_other.cu"))


@nvcc_only
@pytest.mark.parametrize("form", FORMS)
def test_forms(tmp_path, form):
    runs(by_nvcc(tmp_path, TESTS / "launch.cu", *ARCHITECTURE, *FORMS[form]))


@nvcc_only
@pytest.mark.parametrize("name", sorted(file.stem for file in EXAMPLES.glob("*.cu")))
def test_examples(tmp_path, name):
    said = runs(by_nvcc(tmp_path, EXAMPLES / f"{name}.cu", *EXAMPLE_OPTIONS.get(name, [])))
    assert f"{name}:" in said or name == "hello"


@nvcc_only
def test_example_of_two_sources(tmp_path):
    assert "relocatable:" in runs(by_nvcc(tmp_path, "-rdc=true", EXAMPLES / "relocatable" / "main.cu", EXAMPLES / "relocatable" / "table.cu"))


@nvcc_only
def test_plugins(tmp_path):
    """Libraries, each with the runtime library inside, opened by a program that has one, too."""
    for name, operator in ("add", "+"), ("times", "*"):
        run(NVCC, "-shared", "-Xcompiler", "-fPIC", f"-DOPERAND={3 if name == 'add' else 2}", f"-DOPERATOR={operator}", f"-L{RUNTIME}/lib", "-o", tmp_path / f"{name}.so",
            EXAMPLES / "plugin" / "plugin.cu")
    said = runs(by_nvcc(tmp_path, EXAMPLES / "plugin" / "main.cpp"), tmp_path / "add.so", tmp_path / "times.so", functions=False)
    # Three rounds of +3 and *2.
    assert "plugin: " + " ".join(str(((value + 3) * 2 + 3) * 2 * 2 + 6) for value in (1, 2, 3, 4)) in said
    assert said.count("functions of the runtime library inside go to") >= 6
