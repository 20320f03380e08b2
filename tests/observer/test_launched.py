# SPDX-License-Identifier: Apache-2.0
"""millrace check on kernels that launch kernels: what each case of launched_cases.cu is reported for, with the name of
the kernel that did it, and its mended twin for nothing, by all tools.

test_launched.py MILLRACE SOURCE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MILLRACE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
LAUNCHED = "in kernel 'add(int*, int const*)', which it has launched"
# Of each finding: of the later kernel and of the earlier one its name, what it does, and the note.
CASES = {
    "reads": [("hands_on", "reads", LAUNCHED, "set", "writes", None)],
    "writes": [("set", "writes", None, "hands_on", "writes", LAUNCHED)],
    "dependent": [("waits", "reads", None, "set", "writes", None)],
}


class Launched(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.program = str(pathlib.Path(cls.room.name, "launched_cases"))
        made = subprocess.run([MILLRACE, "cc", "-g", "-lineinfo", "-arch=sm_90", "-rdc=true", "-o", cls.program, str(SOURCE)], capture_output=True, text=True, timeout=300)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def check(self, tools, *words, options=()):
        report = pathlib.Path(self.room.name, "report")
        done = subprocess.run([MILLRACE, "check", "--tool", tools, "--error-exitcode", "9", "--format", "json", "-o", str(report), *options, "--", self.program, *words],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout, "done\n", done.stderr)
        return json.loads(report.read_text())["findings"]

    def test_cases(self):
        for name, expected in CASES.items():
            with self.subTest(name=name):
                seen = [tuple(part for side in finding["sides"] for part in (side["kernel"].split("(")[0], side["how"], side.get("note")))
                        for finding in self.check("race", name)]
                self.assertEqual(sorted(map(str, seen)), sorted(map(str, expected)))

    def test_suppressed(self):
        """By the name of either kernel: the one that the host has launched, and the one that this one has."""
        rules = pathlib.Path(self.room.name, "rules")
        for kernel in ("hands_on", "add", "_Z3addPiPKi"):
            with self.subTest(kernel=kernel):
                rules.write_text(f"kernel={kernel}\n")
                found = self.check("race", "reads", options=("--suppress", str(rules)))
                self.assertEqual([finding.get("suppressed") for finding in found], [f"{rules}:1"])

    def test_mended(self):
        for name in CASES:
            with self.subTest(name=name):
                self.assertEqual(self.check("race,mem,init", name, "mended"), [])


unittest.main(argv=sys.argv[:1])
