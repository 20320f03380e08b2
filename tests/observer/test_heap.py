# SPDX-License-Identifier: Apache-2.0
"""millrace check on memory that kernels have from malloc(): what each case of heap_cases.cu is reported for by each
tool, and its mended twin for nothing; nothing is left out as unknown.

test_heap.py MILLRACE SOURCE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MILLRACE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
# Of each finding: its kind, the kernels and what they do, the later one first, and the allocation's size.
RACE = {
    "race": [("race", [("sum", "reads"), ("set", "writes")], 128)],
    "early": [("early-free", [("drop", "frees"), ("set", "writes")], 128)],
    "late": [("use-after-free", [("sum", "reads"), ("drop", "frees")], 128)],
    "past": [],
    "twice": [],
    "foreign": [],
    "apart": [],
    "bound": [],
    "many": [],
}
MEM = {
    "race": [],
    "early": [],
    "late": [("freed-memory", [("sum", "reads"), ("drop", "frees")], 128)],
    "past": [("out-of-bounds", [("sum", "reads")], 124)],
    "twice": [("bad-free", [("drop", "frees"), ("drop", "frees")], 128)],
    "foreign": [("bad-free", [("drop", "frees")], 64)],
    "apart": [],
    "bound": [],
    "many": [],
}
FAILS = ("twice", "foreign")  # and their kernel with them


def summary(finding):
    sides = [(side["kernel"].split("(")[0], side["how"]) for side in finding["sides"]]
    return finding["kind"], sides, finding["allocation"]["size"]


class Heap(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.program = str(pathlib.Path(cls.room.name, "heap_cases"))
        made = subprocess.run([MILLRACE, "cc", "-g", "-lineinfo", "-o", cls.program, str(SOURCE)], capture_output=True, text=True, timeout=300)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def check(self, tool, *words, form="json"):
        report = pathlib.Path(self.room.name, "report")
        done = subprocess.run([MILLRACE, "check", "--tool", tool, "--error-exitcode", "9", "--format", form, "-o", str(report), "--", self.program, *words],
                              capture_output=True, text=True, timeout=120)
        self.assertIn(done.returncode, (0, 9), done.stdout + done.stderr)
        return done.stdout, json.loads(report.read_text())["findings"] if form == "json" else report.read_text()

    def look(self, tool, cases):
        for name, expected in cases.items():
            with self.subTest(name=name, tool=tool):
                said, findings = self.check(tool, name)
                self.assertEqual(said, "cudaErrorLaunchFailure\n" if name in FAILS else "done\n")
                self.assertEqual([summary(finding) for finding in findings], expected, findings)
                said, findings = self.check(tool, name, "mended")
                self.assertEqual((said, findings), ("done\n", []))

    def test_race(self):
        self.look("race", RACE)

    def test_mem(self):
        self.look("mem", MEM)

    def test_all(self):
        """The tools see the same together, whichever of them comes first."""
        for tools in "race,mem,init", "init,mem,race":
            with self.subTest(tools=tools):
                kinds = sorted(finding["kind"] for finding in self.check(tools, "late")[1])
                self.assertEqual(kinds, ["freed-memory", "use-after-free"])

    def test_text(self):
        text = self.check("race", "early", form="text")[1]
        self.assertIn("allocation: 128 bytes at 0x", text)
        self.assertIn(", by malloc() in a kernel:", text)
        self.assertNotIn("no call had allocated", text)
        for name in "apart", "many":
            self.assertNotIn("no call had allocated", self.check("race", name, form="text")[1])
        self.assertIn("frees memory that a kernel has freed before", self.check("mem", "twice", form="text")[1])


unittest.main(argv=sys.argv[:1])
