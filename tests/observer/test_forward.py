# SPDX-License-Identifier: Apache-2.0
"""millrace check --gpu and millrace trace --gpu with Millrace's own driver as the GPU's: what each program of
forward_program.c is found guilty of, and its mended twin of nothing; the examples that lack an order; when works ran;
and what the command refuses.

test_forward.py MILLRACE LIBRARIES PROGRAM [EXAMPLES]
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from timeline import Timeline, check_form

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
    "module_again": [],
    "library_again": [],
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
    "module_unloaded": {("early-free", "note")},
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

    def trace(self, *words):
        """The timeline, after what is true of all that programs on a GPU have."""
        file = self.room / "run.json"
        done = subprocess.run([MILLRACE, "trace", "--gpu", "-o", str(file), "--", PROGRAM, *words], capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))
        timeline = Timeline(file.read_text())
        self.check_times(timeline)
        return timeline

    def check_times(self, timeline):
        check_form(self, timeline)
        calls = {call["args"]["call"]: call for call in timeline.calls}
        lanes = collections.defaultdict(list)
        for work in timeline.works:
            lanes[work["tid"]].append(work)
            self.assertGreaterEqual(work["from"], calls[work["args"]["call"]]["from"], work)
            self.assertNotIn("unfinished", work["args"])
        for works in lanes.values():
            works.sort(key=lambda work: work["args"]["work"])
            for before, after in zip(works, works[1:]):
                self.assertLessEqual(before["to"], after["from"], (before, after))

    def test_times(self):
        timeline = self.trace("times")
        names = {lane: args["name"] for (_, lane), args in timeline.lanes.items()}
        seen = collections.defaultdict(list)
        for work in sorted(timeline.works, key=lambda work: work["args"]["work"]):
            seen[names[work["tid"]]].append((work["cat"], work["name"], work["args"]["asked by"]))
        fill, copy = ("fill", "fill", "cuMemsetD8Async"), ("copy", "copy", "cuMemcpyDtoDAsync")
        batch = ("copy", "copy", "cuMemcpyBatchAsync")
        self.assertEqual(seen.pop("stream 2"), [fill] * 202 + [batch])
        # Works of one call have the same time, so the second one stands beside the first one.
        self.assertEqual(seen.pop("stream 2 (2)"), [batch])
        self.assertEqual(seen.pop("stream 3"),
                         [copy, ("host function", "host function", "cuLaunchHostFunc"), copy, ("graph", "graph", "cuGraphLaunch"), fill])
        self.assertEqual(seen.pop("legacy default stream"), [("copy", "copy", "cuMemcpyDtoH")])
        self.assertEqual(seen.pop("default stream of a thread (1)"), [("kernel", "plain", "cuLaunchKernel")])
        self.assertEqual(dict(seen), {})
        kinds = collections.Counter(pair["s"]["name"] for pair in timeline.arrows.values())
        self.assertEqual(kinds["submit"], len(timeline.works))
        self.assertGreaterEqual(kinds["event"], 2)
        waited = next(call for call in timeline.calls if call["name"] == "cuStreamSynchronize")
        for work in timeline.works:
            if work["args"]["call"] < waited["args"]["call"]:
                self.assertLessEqual(work["to"], waited["to"], work)
        process, = timeline.processes
        self.assertEqual((process["lost"], process["workers"]), (0, 0))
        self.assertEqual(sum(total["count"] for total in process["works"]), len(timeline.works))

    def test_times_of_contexts(self):
        """What a context had is there although nobody has waited for it."""
        timeline = self.trace("contexts")
        self.assertEqual([work["name"] for work in timeline.works], ["fill"] * 4)
        self.assertEqual([work["args"].get("status") for work in timeline.works], [None] * 4)

    def test_times_and_findings(self):
        """A check that draws a timeline finds what it finds without."""
        for name, expected in CASES.items():
            with self.subTest(name=name):
                report, file = self.room / "report", self.room / "run.json"
                done = check(report, "--trace", str(file), "--", PROGRAM, name)
                findings = json.loads(report.read_text())["findings"]
                seen = [(finding["kind"], finding["level"], finding["bytes"], *(side["how"] for side in finding["sides"])) for finding in findings]
                self.assertEqual(sorted(seen), sorted(expected), done.stderr)
                timeline = Timeline(file.read_text())
                self.check_times(timeline)
                self.assertEqual([finding["kind"] for finding in timeline.processes[0]["findings"]], [finding["kind"] for finding in findings])

    def test_refused(self):
        for words in ["--tool", "mem"], ["--tool", "race,init"], ["--host-touch"], ["--witnesses", "folder"]:
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
