# SPDX-License-Identifier: Apache-2.0
"""Packages that carry NVIDIA's static runtime library of 11 and 12, as stripped objects. For pytest.

BUILD: Millrace's build folder. STRIPPED: a folder with a folder for each package, named as below. DESILO's packages are
stripped as they come; a multiplication of encrypted numbers by them runs. Of the others a copy is stripped here; under
millrace run as many functions must be found in it as the names of the original say.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

BUILD, STRIPPED = pathlib.Path(os.environ["BUILD"]), pathlib.Path(os.environ["STRIPPED"])

# A package's folder: the version inside, and the object.
NAMED = {
    "nccl-cu11-2.19.3": ("11.0", "nvidia/nccl/lib/libnccl.so.2"),
    "ctranslate2-3.5.0": ("11.2", "ctranslate2.libs/libctranslate2-*.so"),
    "nccl-cu11-2.13.4": ("11.7", "nvidia/nccl/lib/libnccl.so.2"),
    "nvcomp-cu11-4.0.1": ("11.8", "nvidia/nvcomp/libnvcomp.so.4"),
    "nccl-cu12-2.16.5": ("12.0", "nvidia/nccl/lib/libnccl.so.2"),
    "nccl-cu12-2.17.1": ("12.1", "nvidia/nccl/lib/libnccl.so.2"),
    "ctranslate2-4.0.0": ("12.2", "ctranslate2.libs/libctranslate2-*.so.4.0.0"),
    "nccl-cu12-2.19.3": ("12.3", "nvidia/nccl/lib/libnccl.so.2"),
    "nvcomp-cu12-4.0.1": ("12.5", "nvidia/nvcomp/libnvcomp.so.4"),
    "ctranslate2-4.8.5": ("12.8", "ctranslate2.libs/libctranslate2-*.so.4.8.5"),
}
# Functions of a package's own that are named as functions of the runtime library.
OWN = {"nccl-cu11-2.19.3": 5}
MULTIPLY = """
import desilofhe, numpy
engine = desilofhe.Engine(mode="gpu")
key = engine.create_secret_key()
public = engine.create_public_key(key)
one, two = numpy.random.default_rng(1).random((2, 64))
encrypted = engine.multiply(engine.encrypt(one, public), engine.encrypt(two, public), engine.create_relinearization_key(key))
error = abs(engine.decrypt(encrypted, key)[:64] - one * two).max()
assert error < 1e-6, error
"""


def said_by(*words, **environment):
    """The log of a Python program under millrace run."""
    done = subprocess.run(
        [str(word) for word in (BUILD / "bin" / "millrace", "run", "--", sys.executable, *words)],
        env=dict(os.environ, MILLRACE_LOG="info", **environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize("toolkit, version", [("cu121", "12.1"), ("cu124", "12.4"), ("cu126", "12.6"), ("cu128", "12.8")])
def test_desilo(toolkit, version):
    said = said_by("-c", MULTIPLY, PYTHONPATH=str(STRIPPED / f"desilofhe-{toolkit}"))
    assert re.search(rf"CUDA {re.escape(version)}[.0-9]* is inside, without names", said), said


@pytest.mark.parametrize("package", NAMED)
def test_named(tmp_path, package):
    version, name = NAMED[package]
    (original,) = (STRIPPED / package).glob(name)
    (tmp_path / "named").mkdir()
    named, stripped = tmp_path / "named" / "object.so", tmp_path / "object.so"
    shutil.copy(original, named)
    subprocess.run(["strip", "-o", stripped, named], check=True)
    # What else the object needs lies beside the original, if the package brings it.
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    environment = {"LD_LIBRARY_PATH": str(original.parent)}
    functions = r": (\d+) functions of the runtime library inside go to libcudart\.so\.12"
    by_name = said_by("-c", load, named, **environment)
    by_code = said_by("-c", load, stripped, **environment)
    assert "without names" not in by_name and re.search(rf"CUDA {re.escape(version)}[.0-9]* is inside, without names", by_code), by_code
    named_count, count = (int(re.search(functions, said)[1]) for said in (by_name, by_code))
    assert named_count == count + OWN.get(package, 0), by_name + by_code
