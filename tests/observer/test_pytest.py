# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin, with tests that leave made-up findings (stacks.c) as processes that they start would. It needs a
Python that has pytest, and pytest-xdist for the last test; else they are skipped.

test_pytest.py MILLRACE STACKS PLUGIN; PYTEST_PYTHON names another Python.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MILLRACE, STACKS, PLUGIN = map(os.path.abspath, sys.argv[1:4])
PYTHON = os.environ.get("PYTEST_PYTHON", sys.executable)

TESTS = f"""
import os, subprocess, pytest

def leave():
    subprocess.run([{STACKS!r}, os.environ["MILLRACE_OBSERVE_OUT"], {PLUGIN!r}], check=True)

@pytest.fixture
def leaves_at_its_end():
    yield
    leave()

def test_good():
    pass

def test_race():
    leave()

def test_good_again():
    pass

def test_fixture(leaves_at_its_end):
    pass

def test_wrong():
    leave()
    assert False, "wrong by itself"

@pytest.mark.parametrize("n", range(6))
def test_many(n):
    if n % 2:
        leave()
"""


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True).returncode == 0


@unittest.skipUnless(has("pytest"), "pytest is not installed")
class Pytest(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        (self.room / "test_it.py").write_text(TESTS)

    def pytest(self, *options, through=("check", "-o", "report", "--")):
        command = [MILLRACE, *through, PYTHON, "-m", "pytest", "-rfE", "-q", "-p", "no:cacheprovider", "-p", "millrace_pytest", *options, "test_it.py"]
        done = subprocess.run(command, cwd=self.room, capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout + done.stderr

    def bad(self, text):
        return sorted(re.findall(r"^(?:FAILED|ERROR) test_it\.py::(\S+)", text, re.MULTILINE))

    def test_findings_fail_the_test_that_has_them(self):
        status, text = self.pytest()
        self.assertEqual(status, 1, text)
        self.assertEqual(self.bad(text), ["test_fixture", "test_many[1]", "test_many[3]", "test_many[5]", "test_race", "test_wrong"], text)
        self.assertIn("ERROR test_it.py::test_fixture", text)
        self.assertIn("wrong by itself", text)
        self.assertIn("reads what kernel 'scale(float*, int)' writes, and nothing orders them [race]", text)
        self.assertEqual(text.count("millrace check: 2 findings"), 6)
        self.assertIn("2 findings, in 6 processes", (self.room / "report").read_text())

    def test_suppressions(self):
        rules = self.room / "rules"
        rules.write_text("kind=*\n")
        status, text = self.pytest("--millrace-suppress", "rules", "--deselect", "test_it.py::test_wrong")
        self.assertIn("10 passed, 1 deselected", text)
        self.assertEqual(status, 1) # the command's report is not of the plugin's rules
        status, text = self.pytest("--millrace-suppress", "rules", "--deselect", "test_it.py::test_wrong", through=("check", "--suppress", "rules", "--"))
        self.assertEqual(status, 0, text)
        rules.write_text("kind=race\n")
        self.assertEqual(len(self.bad(self.pytest("--millrace-suppress", "rules")[1])), 6)
        self.assertIn("--millrace-suppress: cannot read", self.pytest("--millrace-suppress", "none")[1])

    def test_outside_of_check(self):
        os.environ["PYTHONPATH"] = str(pathlib.Path(MILLRACE).parents[1] / "lib" / "python")
        status, text = self.pytest(through=("run", "--"))
        self.assertEqual(status, 4)
        self.assertIn("works under millrace check", text)

    @unittest.skipUnless(has("xdist"), "pytest-xdist is not installed")
    def test_xdist(self):
        status, text = self.pytest("-n", "4")
        self.assertEqual(status, 1, text)
        self.assertEqual(self.bad(text), ["test_fixture", "test_many[1]", "test_many[3]", "test_many[5]", "test_race", "test_wrong"], text)
        self.assertIn("2 findings, in 6 processes", (self.room / "report").read_text())


CUDA = """
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")
streams = []


def call(name, *arguments):
    assert getattr(cuda, name)(*arguments) == 0, name


def fill(which):
    if not streams:
        fill.memory, context = ctypes.c_uint64(), ctypes.c_void_p()
        call("cuInit", 0)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        call("cuCtxSetCurrent", context)
        call("cuMemAlloc_v2", ctypes.byref(fill.memory), ctypes.c_size_t(4096))
        for _ in range(2):
            streams.append(ctypes.c_void_p())
            call("cuStreamCreate", ctypes.byref(streams[-1]), 1)
    call("cuMemsetD8Async", fill.memory, 1, ctypes.c_size_t(4096), streams[which])


def test_one_stream():
    fill(0)
    fill(0)


def test_two_streams():
    fill(0)
    fill(1)


def test_other_stream():
    fill(0)
"""


@unittest.skipIf(os.environ.get("MR_SANITIZED"), "a Python loads the driver, which wants a sanitizer's own library")
class Real(Pytest):
    """Tests that use the driver."""

    def setUp(self):
        super().setUp()
        (self.room / "test_it.py").write_text(CUDA)

    def test_findings_fail_the_test_that_has_them(self):
        status, text = self.pytest()
        self.assertEqual((status, self.bad(text)), (1, ["test_two_streams"]), text)
        self.assertIn("make stream 3 wait for an event recorded in stream 2", text)
        self.assertIn("test_two_streams test_it.py:", text)
        self.assertNotIn("_multicall", text.replace(str(self.room), ""))

    def test_suppressions(self):
        (self.room / "rules").write_text("kind=race function=fill call=cuMemset*\n")
        status, text = self.pytest("--millrace-suppress", "rules", through=("check", "--suppress", "rules", "--"))
        self.assertEqual(status, 0, text)

    @unittest.skipUnless(has("xdist"), "pytest-xdist is not installed")
    def test_xdist(self):
        status, text = self.pytest("-n", "4")
        self.assertEqual((status, self.bad(text)), (1, ["test_two_streams"]), text)

    test_outside_of_check = None


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
