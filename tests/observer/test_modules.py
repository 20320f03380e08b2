# SPDX-License-Identifier: Apache-2.0
"""millrace check, with programs that unload modules and libraries: what each program of module_cases.cu is found guilty
of, and with --luck; and its mended twin of nothing, with --luck too.

test_modules.py MILLRACE SOURCE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MILLRACE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
LUCK = ("early-free", True) # the kind, and whether hardware orders the two
# What is found, and what is found with --luck.
CASES = {
    "unloaded_early": ([], [LUCK]),
    "code_unloaded_early": ([], [LUCK]),
    "library_unloaded_early": ([], [LUCK]),
    "loaded_again": ([], [LUCK]),
    "graph_of_unloaded": ([("use-after-free", False)],) * 2,
    "graph_of_unloaded_library": ([("use-after-free", False)],) * 2,
    "used_elsewhere": ([("early-free", False)],) * 2,
    "read_elsewhere": ([("early-free", False)],) * 2,
    "refused": ([], []),
    "left": ([], []),
}


class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.program = str(pathlib.Path(cls.room.name, "module_cases"))
        made = subprocess.run([MILLRACE, "cc", "-g", "-o", cls.program, str(SOURCE), "-lcuda"], capture_output=True, text=True, timeout=300)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def check(self, *words, options=()):
        report = pathlib.Path(self.room.name, "report")
        done = subprocess.run([MILLRACE, "check", *options, "--error-exitcode", "9", "--format", "json", "-o", str(report), "--", self.program, *words],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout, "done\n", done.stderr)
        return json.loads(report.read_text())["findings"]

    def test_cases(self):
        for name, expected in CASES.items():
            for options, wanted in ([], expected[0]), (["--luck"], expected[1]):
                with self.subTest(name=name, options=options):
                    findings = self.check(name, options=options)
                    self.assertEqual([(finding["kind"], finding["luck"]) for finding in findings], wanted, findings)
                    for finding in findings:
                        self.assertTrue(any(side["call"] in ("cuModuleUnload", "cuLibraryUnload") for side in finding["sides"]), finding)
                    if "code" in name or "graph" in name:
                        self.assertIn("runs", [side["how"] for side in findings[0]["sides"]] if findings else "runs")

    def test_mended(self):
        for name in CASES:
            for options in [], ["--luck"]:
                with self.subTest(name=name, options=options):
                    self.assertEqual(self.check(name, "mended", options=options), [])


unittest.main(argv=sys.argv[:1])
