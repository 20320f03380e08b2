# SPDX-License-Identifier: Apache-2.0
"""What the host's own code touches is seen in programs that `millrace cc --check` has compiled, by clang and by gcc.

test_host.py MILLRACE LIBRARIES SOURCE
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

MILLRACE, LIBRARIES, SOURCE = sys.argv[1:4]
# Each case with the kind of the one finding that it has, and how many bytes are both's, if that is known.
CASES = {
    "read-early": "host-race", "change-early": "host-race", "write-early": "host-race", "set-early": "host-race", "registered": "host-race",
    "array": "host-race", "variable": "host-race", "managed": "host-race", "thread-ends": "host-race", "function": "host-function-race", "read-late": None, "read-beside": None, "both-read": None,
    "write-before": None, "thread-waits": None, "function-in-order": None, "own": None,
}


# What the C library does for the program, with the number of bytes that both touch.
LIBRARY = {"strlen": 601, "strcmp": 1, "memcmp": 600, "strcpy": 601, "strcpy-to": 601, "write": 600, "read": 600, "fwrite": 600,
           "fprintf": 601, "precision": 600, "snprintf": 600, "nothing-of-it": None}


class Host(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("MILLRACE_")} | {"LD_LIBRARY_PATH": LIBRARIES}

    def compile(self, *options):
        program = self.room / "host_touch"
        done = subprocess.run([MILLRACE, "cc", *options, "-g", "-cudart", "none", SOURCE, "-o", program, "-lcuda", "-lpthread"],
                              env=self.environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def findings(self, program, case):
        folder = self.room / case
        folder.mkdir()
        done = subprocess.run([program, case], env=self.environment | {"MILLRACE_OBSERVE": "race", "MILLRACE_OBSERVE_OUT": str(folder)},
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        (results,) = folder.glob("*.results.json")
        found = json.loads(results.read_text())["findings"]
        shutil.rmtree(folder)
        return found

    def cases(self, program, unseen=()):
        for case, kind in CASES.items():
            if case in unseen:
                continue
            with self.subTest(case):
                found = self.findings(program, case)
                self.assertEqual({finding["kind"] for finding in found}, {kind} if kind else set(), found)
                for finding in found:
                    self.assertIn("wait", finding["missing"])
                    self.assertTrue(any(side.get("site") for side in finding["sides"]))

    def check_each_case(self, program):
        for case, count in LIBRARY.items():
            with self.subTest(case):
                found = self.findings(program, f"library:{case}")
                self.assertEqual({finding["kind"] for finding in found}, {"host-race"} if count else set(), found)
                self.assertEqual(max((finding["bytes"] for finding in found), default=None), count, found)

    def test_library(self):
        self.check_each_case(self.compile("--check"))
        self.check_each_case(self.compile("--check", "-O2"))
        if shutil.which("gcc"):
            self.check_each_case(self.compile("--check", "-O2", "-ccbin", "gcc", "-Xcompiler", "-D_FORTIFY_SOURCE=2"))

    def test_clang(self):
        self.cases(self.compile("--check"))

    def test_optimised(self):
        self.cases(self.compile("--check", "-O2"))

    def test_gcc(self):
        if not shutil.which("gcc"):
            self.skipTest("there is no gcc")
        # Of a load and a store of the same place gcc tells of the load, and of a known place of a variable nothing:
        # docs/check.md says so.
        self.cases(self.compile("--check", "-ccbin", "gcc"), unseen=("change-early", "array", "variable"))

    def test_without_check(self):
        program = self.compile()
        self.assertEqual(self.findings(program, "read-early"), [])

    def test_without_observer(self):
        program = self.compile("--check")
        done = subprocess.run([program, "read-early"], env=self.environment, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
