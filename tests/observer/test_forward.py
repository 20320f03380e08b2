# SPDX-License-Identifier: Apache-2.0
"""millrace check --gpu with Millrace's own driver as the GPU's: what each program of forward_program.c is found guilty of,
and its mended twin of nothing; the examples that lack an order; and what the command refuses.

test_forward.py MILLRACE LIBRARIES PROGRAM [EXAMPLES]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MILLRACE, LIBRARIES, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:4])
EXAMPLES = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": LIBRARIES, "MILLRACE_DEVICES": "2"}
ENVIRONMENT.pop("MILLRACE_DRIVER_BEHIND", None)
READS, MAY_WRITE, MAY_READ = "reads", "may read or write", "may read"
# Of each finding: its kind and level, how many bytes both sides have, and what the later and the earlier side do.
CASES = {
    "copies": [("race", "error", 2, READS, "writes")],
    "beside": [],
    "fills": [("race", "error", 2, "writes", "writes")],
    "columns": [("race", "error", 4, "writes", "writes")],
    "batch": [("race", "error", 1, "writes", "writes")],
    "pool": [("early-free", "error", 4096, "frees", "writes"), ("unordered-use", "error", 4096, "frees", "allocates")],
    "default_stream": [("race", "error", 64, READS, "writes")],
    "per_thread": [("race", "error", 64, READS, "writes")],
    "kernels": [("race", "note", 65536, MAY_WRITE, MAY_READ)],
    "library": [("race", "note", 64, "writes", MAY_READ)],
    "library_early": [("race", "note", 64, "writes", MAY_READ)],
    "certain": [("race", "error", 64, READS, "writes"), ("race", "note", 64, READS, MAY_WRITE)],
    "host_function": [("race", "error", 64, READS, "writes")],
    "callback": [("race", "error", 64, READS, "writes")],
    "values": [("race", "error", 64, "writes", READS)],
    "threads": [("race", "error", 64, READS, "writes")],
    "nothing": [],
}
# What the examples are found guilty of, by name; and of the mended twins, where pointers alone can't tell them apart.
FOUND = {
    "missing_wait": {("race", "note")},
    "copy_overtakes": {("race", "note")},
    "pinned_copied_early": {("race", "error")},
    "pool_early_use": {("unordered-use", "note")},
    "pool_reuse": {("early-free", "note")},
    "partial_overlap": {("race", "note")},
    "write_value": {("race", "note")},
    "two_devices": {("race", "note")},
}
FOUND_MENDED = {"partial_overlap": {("race", "note")}}


def check(report, *words, **more):
    return subprocess.run([MILLRACE, "check", "--gpu", "--error-exitcode", "9", "--format", "json", "-o", str(report), *words], capture_output=True, text=True,
                          timeout=120, env={**ENVIRONMENT, **more})


class Forward(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)

    def findings(self, *program):
        report = self.room / "report"
        done = check(report, "--", *program)
        findings = json.loads(report.read_text())["findings"]
        errors = any(finding["level"] == "error" for finding in findings)
        self.assertEqual(done.returncode, 9 if errors else 0, done.stdout + done.stderr)
        return findings, done.stdout

    def test_cases(self):
        for name, expected in CASES.items():
            for twin in [], ["mended"]:
                with self.subTest(name=name, twin=twin):
                    findings, out = self.findings(PROGRAM, name, *twin)
                    self.assertEqual(out, "done\n")
                    seen = [(finding["kind"], finding["level"], finding["bytes"], *(side["how"] for side in finding["sides"])) for finding in findings]
                    self.assertEqual(sorted(seen), sorted(expected if not twin else []), findings)

    @unittest.skipUnless(EXAMPLES, "programs of the compiler's have no sanitizer")
    def test_examples(self):
        for name, expected in FOUND.items():
            program = str(self.room / name)
            made = subprocess.run([MILLRACE, "cc", "-g", "-o", program, str(EXAMPLES / f"{name}.cu"), "-lcuda"], capture_output=True, text=True, timeout=300)
            self.assertEqual(made.returncode, 0, made.stderr)
            for twin in [], ["mended"]:
                with self.subTest(name=name, twin=twin):
                    report = self.room / "report"
                    done = check(report, "--", program, *twin)
                    findings = json.loads(report.read_text())["findings"]
                    seen = {(finding["kind"], finding["level"]) for finding in findings}
                    self.assertEqual(seen, FOUND_MENDED.get(name, set()) if twin else expected, findings)
                    if twin:
                        self.assertEqual((done.returncode, done.stdout), (0, f"{name}: right\n"), done.stderr)
                    for finding in findings:
                        self.assertTrue(finding["sides"][0]["stack"][0]["file"].endswith((f"{name}.cu", "race.h")), finding)

    def test_refused(self):
        for words in ["--tool", "mem"], ["--tool", "race,init"], ["--host-touch"], ["--witnesses", "folder"], ["--trace", "run.json"]:
            with self.subTest(words=words):
                done = check(self.room / "report", *words, "--", PROGRAM, "copies")
                self.assertEqual(done.returncode, 2)
                self.assertIn("--gpu does not go with", done.stderr)

    def test_no_driver(self):
        done = check(self.room / "report", "--", PROGRAM, "copies", MILLRACE_DRIVER_BEHIND="/nowhere/libcuda.so.1")
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot read the driver /nowhere/libcuda.so.1", done.stderr)

    def test_itself(self):
        """A driver behind that is the library itself, and one that is no driver."""
        for behind in f"{LIBRARIES}/millrace/forward/libcuda.so.1", f"{LIBRARIES}/libmillrace-observer.so":
            with self.subTest(behind=behind):
                done = check(self.room / "report", "--", PROGRAM, "copies", MILLRACE_DRIVER_BEHIND=behind)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("status 100" if "forward" in behind else "status 801", done.stderr)


unittest.main(argv=sys.argv[:1])
