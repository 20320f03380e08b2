# SPDX-License-Identifier: Apache-2.0
"""The observer's library: which tools it opens and calls, and when it writes what they have found.

test_tools.py DRIVER TOOLS LIBRARY: the program that stands for a driver, the library with the test's tools, the one
that users get.
"""
import os
import subprocess
import sys
import tempfile
import unittest

DRIVER, TOOLS, LIBRARY = sys.argv[1:4]


class Tools(unittest.TestCase):
    def setUp(self):
        self.room = tempfile.TemporaryDirectory()
        self.addCleanup(self.room.cleanup)

    def run_driver(self, tools, *do, library=TOOLS, status=0, **settings):
        settings = {"MILLRACE_OBSERVE_OUT": self.room.name, **settings}
        done = subprocess.run(
            [DRIVER, library, tools, *do], env={**os.environ, **settings}, capture_output=True, text=True, timeout=60
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return (done.stdout if status == 0 else done.stderr).splitlines()

    def marks(self):
        """How many processes have said, for the command, that they could not leave all."""
        return sum(name.endswith(".failed") for name in os.listdir(self.room.name))

    def found(self):
        return f"{self.room.name}/one"

    def test_names_and_options(self):
        self.assertEqual(self.run_driver("one"), ["one opens: '' with the driver", "points 2"])
        self.assertEqual(self.run_driver("one:a:b,two"), ["one opens: 'a:b' with the driver", "points 11"])
        for text, message in (("three", "the tool 'three', which this version does not have (it has one, two)"), ("one,one", "the tool 'one' twice"),
                              ("", "names no tool"), (",", "names no tool"), ("two,three:x", "the tool 'three'"), ("x" * 600, "is too long")):
            with self.subTest(tools=text):
                before = self.marks()
                self.assertIn(message, "".join(self.run_driver(text, status=3)))
                self.assertEqual(self.marks(), before + 1)
        self.run_driver("one:bad", status=3)

    def test_the_users_library(self):
        with open(LIBRARY, "rb") as library:
            if b"__asan_" in library.read():
                self.skipTest("the library has a sanitizer, and the program has none")
        self.assertIn("the tool 'three', which this version does not have", "".join(self.run_driver("three", library=LIBRARY, status=3)))
        listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertEqual([line.split()[-1] for line in listed.splitlines()], ["InitializeInjectionNvtx2", "millrace_observer"])

    def test_calls_inside_each_other(self):
        lines = self.run_driver("one,two", "call")[2:]
        self.assertEqual(lines, [f"two enters {n} with nothing" for n in range(1, 13)] + [f"two leaves {n} with {n}, status {n}" for n in range(12, 0, -1)])

    def test_may_begin(self):
        self.assertEqual(self.run_driver("one,two", "may", "1", "may", "2")[2:], ["may: yes", "may: no"])
        self.assertEqual(self.run_driver("one", "may", "2")[2:], ["may: yes"])

    def test_when_results_are_written(self):
        lines = self.run_driver("one", "show", self.found(), "begin", "show", self.found(), "finish", "0", "show", self.found())
        self.assertEqual([line for line in lines if line.startswith("file")], ["file: 0 ''", "file: 0 ''", "file: 1 'exit'"])
        lines = self.run_driver("two,one", "begin", "finish", "11", "show", self.found())
        self.assertEqual(lines[-1], "file: 1 'signal 11'")

    def test_more_is_written_when_a_call_returns(self):
        self.run_driver("one", "begin", "until", self.found(), "1 ''", "begin", "until", self.found(), "2 ''")

    def test_cuProfilerStop_writes_at_once(self):
        lines = self.run_driver("one", *["begin", "stop", "show", self.found()] * 20)
        self.assertEqual([line for line in lines if line.startswith("file")], [f"file: {n} ''" for n in range(1, 21)])

    def test_works_that_run_at_the_end_are_looked_at(self):
        self.assertEqual(self.run_driver("one", "later", "finish", "0", "show", self.found())[-1], "file: 1 'exit'")
        self.assertEqual(self.run_driver("one", "later", "finish", "11", "show", self.found())[-1], "file: 0 'signal 11'")

    def test_a_forked_child_tells_nothing(self):
        lines = self.run_driver("one,two", "begin", "fork", "show", self.found(), "finish", "0", "show", self.found())
        self.assertEqual(lines[-3:], ["one begin 3", "file: 0 ''", "file: 1 'exit'"])

    def test_bad_folders(self):
        for folder in (self.room.name + "/none", DRIVER):
            message = "".join(self.run_driver("one", status=3, MILLRACE_OBSERVE_OUT=folder))
            self.assertIn(f"MILLRACE_OBSERVE_OUT: the folder {folder} can't be written to", message)
        os.mkdir(self.found())
        message = "".join(self.run_driver("one", status=3))
        self.assertIn(f"what the tool one has found could not be written to the folder {self.room.name}: Is a directory", message)
        self.assertEqual(self.marks(), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
