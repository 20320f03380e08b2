# SPDX-License-Identifier: Apache-2.0
"""Ranges, marks and names that a program gives by NVTX are in its timeline (nvtx_program.c), whichever headers or
library it has them from.

test_nvtx.py MILLRACE LIBCUDA SOURCE NAME=PROGRAM...
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from timeline import Timeline, check_form

MILLRACE, LIBCUDA, SOURCE = map(os.path.abspath, sys.argv[1:4])
PROGRAMS = {name: os.path.abspath(path) for name, path in (argument.split("=", 1) for argument in sys.argv[4:])}
SANITIZED = b"__asan_init" in pathlib.Path(LIBCUDA).read_bytes()
TOOLKITS = [root for root in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if root and os.path.exists(f"{root}/include/nvtx3/nvtxDetail")]


class Nvtx(unittest.TestCase):
    def trace(self, program, *arguments, status=0):
        with tempfile.TemporaryDirectory() as room:
            file = pathlib.Path(room) / "run.json"
            done = subprocess.run([MILLRACE, "trace", "-o", str(file), "--", program, *arguments], capture_output=True, text=True, timeout=240)
            self.assertEqual((done.returncode, done.stderr), (status, ""), done.stdout)
            timeline = Timeline(file.read_text())
        check_form(self, timeline)
        return timeline

    def one(self, timeline, name):
        found = [r for r in timeline.ranges if r["name"] == name]
        self.assertEqual(len(found), 1, name)
        return found[0]

    def lane(self, timeline, event):
        return timeline.lanes[event["pid"], event["tid"]]["name"]

    def inside(self, inner, outer):
        self.assertTrue(outer["from"] <= inner["from"] <= inner["to"] <= outer["to"], (inner, outer))

    def check(self, program):
        timeline = self.trace(program)
        by_name = {r["name"]: r for r in timeline.ranges}
        whole, fill, inner = (self.one(timeline, name) for name in ("whole", "fill µ", "inner"))
        self.inside(fill, whole)
        self.inside(inner, fill)
        main = self.lane(timeline, whole)
        self.assertRegex(main, r"^thread \d+ \S+: ranges$")
        self.assertEqual({self.lane(timeline, fill), self.lane(timeline, inner)}, {main})
        for call in timeline.calls:
            if call["tid"] == whole["args"]["thread"] and call["name"] in ("cuStreamCreate", "cuMemFree"):
                self.inside(call, whole)
        self.check_domains(timeline, by_name)
        self.check_marks(timeline, main)
        self.check_names(timeline)
        self.check_sums(timeline)
        (across,), (helper,) = ([r for r in timeline.ranges if r["name"] == name] for name in ("across threads", "in the thread"))
        self.assertEqual(self.lane(timeline, across), "ranges")
        self.inside(helper, across)
        self.assertRegex(self.lane(timeline, helper), r"^thread \d+ helper: ranges$")
        self.assertNotEqual(helper["args"]["thread"], across["args"]["thread"])
        self.assertFalse([r for r in timeline.ranges if "unfinished" in r["args"]])

    def check_domains(self, timeline, by_name):
        step, registered = by_name["step"], by_name["a registered text"]
        self.assertLess(step["from"], registered["from"])
        self.assertLess(registered["from"], step["to"])
        self.assertLess(step["to"], registered["to"])
        self.assertRegex(self.lane(timeline, step), r": ranges of solver$")
        self.assertRegex(self.lane(timeline, registered), r": ranges of löser$")
        thread = step["args"]["thread"]
        self.assertEqual(step["args"], {"thread": thread, "domain": "solver", "category": "assembly", "payload": 0.5, "colour": "#12ab34"})
        self.assertEqual(registered["args"], {"thread": thread, "domain": "löser", "category": 9, "payload": -3, "colour": "#12ab34"})
        started = [r for r in timeline.ranges if r["name"] == "started"]
        self.assertEqual(sorted(self.lane(timeline, r) for r in started), ["ranges of solver", "ranges of solver (2)"])
        self.assertEqual([r["args"]["payload"] for r in started], [2**64 - 1] * 2)

    def check_marks(self, timeline, main):
        marks = sorted(timeline.marks, key=lambda m: m["ts"])
        self.assertEqual([m["name"] for m in marks], ["before cuInit", "a registered text", "x" * 1024, '<script>"\\\n', "(no message)", "\ufffd!"])
        self.assertEqual([self.lane(timeline, m) for m in (marks[0], *marks[2:])], [main] * 5)
        self.assertLess(marks[0]["ts"], min(call["ts"] for call in timeline.calls))

    def check_names(self, timeline):
        streams = {timeline.lanes[w["pid"], w["tid"]]["name"] for w in timeline.works}
        for name in (r"^stream \d+ copies, first device, main context$", r"^stream \d+ филлы, first device, main context$"):
            self.assertTrue([s for s in streams if re.match(name, s)], streams)
        record, wait = ([c for c in timeline.calls if c["name"] == name] for name in ("cuEventRecord", "cuStreamWaitEvent"))
        self.assertEqual({c["args"]["event name"] for c in (*record, *wait)}, {"done"})

    def check_sums(self, timeline):
        fills = sorted((w for w in timeline.works if w["cat"] == "fill" and "in" in w["args"]), key=lambda w: w["args"]["work"])
        self.assertEqual([w["args"]["in"] for w in fills], ["inner", "fill µ", "in the thread"])
        (process,) = timeline.processes
        sums = {(r.get("domain"), r["name"]): r for r in process["ranges"]}
        self.assertEqual({key: r["count"] for key, r in sums.items()},
                         {(None, "whole"): 1, (None, "fill µ"): 1, (None, "inner"): 1, ("solver", "step"): 1, ("löser", "a registered text"): 1,
                          ("solver", "started"): 2, (None, "across threads"): 1, (None, "in the thread"): 1})
        lengths = [w["to"] - w["from"] for w in fills]
        self.assertEqual([(sums[None, name]["works"], sums[None, name]["work_ns"]) for name in ("inner", "fill µ", "whole", "in the thread")],
                         [(1, lengths[0]), (2, lengths[0] + lengths[1]), (2, lengths[0] + lengths[1]), (1, lengths[2])])
        totals = [r["total_ns"] for r in process["ranges"]]
        self.assertEqual(totals, sorted(totals, reverse=True))

    @unittest.skipIf(SANITIZED, "the program lacks the sanitizer's library")
    @unittest.skipUnless(TOOLKITS, "no toolkit with NVTX's headers is here")
    def test_headers_of_the_toolkit(self):
        with tempfile.TemporaryDirectory() as room:
            program = f"{room}/program"
            subprocess.run(["cc", "-o", program, SOURCE, f"-I{TOOLKITS[0]}/include", LIBCUDA, f"-Wl,-rpath,{os.path.dirname(LIBCUDA)}", "-lpthread", "-ldl"], check=True, timeout=120)
            self.check(program)

    def test_without_a_tool(self):
        for name, program in PROGRAMS.items():
            with self.subTest(name):
                environment = {key: value for key, value in os.environ.items() if key != "NVTX_INJECTION64_PATH"}
                done = subprocess.run([MILLRACE, "run", "--", program], capture_output=True, text=True, timeout=120, env=environment)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_findings_say_where(self):
        program = next(iter(PROGRAMS.values()))
        with tempfile.TemporaryDirectory() as room:
            report = f"{room}/report.json"
            for more in ((), ("--trace", f"{room}/run.json")):
                done = subprocess.run([MILLRACE, "check", *more, "--format", "json", "-o", report, "--", program, "race"], capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 1, done.stderr)
                (finding,) = json.loads(pathlib.Path(report).read_text())["findings"]
                self.assertEqual([side["note"] for side in finding["sides"]], ["in the range 'inside'", "in the range 'forward'"])
                self.assertRegex(finding["sides"][0]["stream"], r"^stream \d+ \(non-blocking\)$")
                self.assertRegex(finding["sides"][1]["stream"], r"^stream \d+ 'first' \(non-blocking\)$")
            done = subprocess.run([MILLRACE, "check", "--", program, "race"], capture_output=True, text=True, timeout=120)
            self.assertIn("     in the range 'forward'\n", done.stderr)

    def test_another_tool_asks_for_no_ranges(self):
        program = next(iter(PROGRAMS.values()))
        # The program believes that somebody listens, and is told so.
        observer = f"{os.path.dirname(LIBCUDA)}/libmillrace-observer.so"
        done = subprocess.run([MILLRACE, "run", "--", program], capture_output=True, text=True, timeout=120, env={**os.environ, "NVTX_INJECTION64_PATH": observer})
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertIn(": -2", done.stderr)

    def test_killed_and_open(self):
        timeline = self.trace(next(iter(PROGRAMS.values())), "open", status=3)
        opened = {r["name"] for r in timeline.ranges if r["args"].get("unfinished")}
        self.assertEqual(opened, {"whole", "never popped"})

    def test_a_child_writes_nothing(self):
        timeline = self.trace(next(iter(PROGRAMS.values())), "fork")
        self.assertNotIn("of the child", {r["name"] for r in timeline.ranges})

    def test_a_program_without_cuda(self):
        timeline = self.trace(next(iter(PROGRAMS.values())), "alone")
        self.assertEqual({r["name"] for r in timeline.ranges}, {"whole"})
        self.assertEqual([m["name"] for m in timeline.marks], ["before cuInit"])


for name, program in PROGRAMS.items():
    setattr(Nvtx, f"test_{name}", lambda self, program=program: self.check(program))

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
