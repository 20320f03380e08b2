# SPDX-License-Identifier: Apache-2.0
"""millrace check, with programs whose order is that of dependent launches and of values that streams wait for: what each
program of order_cases.cu is found guilty of, and its mended twin of nothing, several times.

test_order_cases.py MILLRACE SOURCE [TIMES]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MILLRACE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
TIMES = int(sys.argv[3]) if len(sys.argv) > 3 else 3
SYNCHRONISE = "cudaGridDependencySynchronize"
# Of each finding: what the later and the earlier side are, what they do, and a part of the advice.
CASES = {
    "early": [("hasty", "reads", "fill", "writes", SYNCHRONISE)],
    "recorded": [("hasty", "reads", "fill", "writes", SYNCHRONISE)],
    "lent": [("hasty", "reads", "fill", "writes", SYNCHRONISE)],
    "waited": [("hasty", "reads", "fill", "writes", SYNCHRONISE)],
    "never": [("waits_never", "reads", "fill", "writes", SYNCHRONISE)],
    "third": [("waits_never", "writes", "patient", "reads", SYNCHRONISE)],
    "graph": [("hasty", "reads", "fill", "writes", SYNCHRONISE)],
    "launch_edge": [("waits_never", "reads", "fill", "writes", "add an edge")],
    "ordinary": [],
    "value_later": [("fill", "writes", "waits_never", "reads", "make stream")],
    "graph_value_before": [("waits_never", "reads", "fill", "writes", "make stream")],
    "graph_value_later": [("fill", "writes", "waits_never", "reads", "make stream")],
    "graph_writes": [("fill", "writes", "waits_never", "reads", "make stream")],
    "graph_value_set": [("fill", "writes", "waits_never", "reads", "make stream")],
    "graph_params_set": [("fill", "writes", "waits_never", "reads", "make stream")],
    "graph_updated": [("fill", "writes", "waits_never", "reads", "make stream")],
    "graph_event_set": [("waits_never", "reads", "fill", "writes", "make stream")],
    "graph_event": [("waits_never", "reads", "fill", "writes", "make stream")],
    "value_of_kernel": [("fill", "writes", "waits_never", "reads", "make stream")],
    "value_of_host": [("fill", "writes", "waits_never", "reads", "make stream")],
    "set_back_by_value": [("waits_never", "reads", "fill", "writes", "make stream")],
    "set_back_by_fill": [("waits_never", "reads", "fill", "writes", "make stream")],
    "set_back_by_copy": [("waits_never", "reads", "fill", "writes", "make stream")],
    "set_back_by_kernel": [("waits_never", "reads", "fill", "writes", "make stream")],
    "set_back_later": [("fill", "writes", "waits_never", "reads", "make stream")],
    "set_back_in_graph": [("waits_never", "reads", "fill", "writes", "make stream")],
    "value_chain": [("fill", "writes", "waits_never", "reads", "make stream")],
    "exported_here": [("waits_never", "reads", "fill", "writes", "make stream")],
    "imported_twice": [("waits_never", "reads", "fill", "writes", "make stream")],
    "imported_and_freed": [("waits_never", "reads", "fill", "writes", "make stream")],
    "imported_again": [("waits_never", "reads", "fill", "writes", "make stream")],
    "memory_exported_here": [("waits_never", "reads", "fill", "writes", "make stream")],
    "memory_imported_twice": [("waits_never", "reads", "fill", "writes", "make stream")],
    "two_memories": [],
    "copied_to_host_memory": [("cuMemcpy", "writes", "waits_never", "reads", "make the legacy default stream")],
    "freed_in_legacy": [
        ("cuMemFreeAsync", "frees", "cuMemAllocAsync", "allocates", "make stream"),
        ("cuMemFreeAsync", "frees", "fill", "writes", "make stream"),
    ],
    "told_inside": [("fill", "writes", "waits_never", "reads", "make stream")],
    "told_inside_graph": [("fill", "writes", "waits_never", "reads", "make stream")],
}
# The same of programs in which the host waits for a word in memory. It is seen in code that was compiled for it.
TALKS = {
    "told_by_kernel": [("waits_never", "reads", "tell", "writes", "make stream")],
    "told_by_stream": [("waits_never", "reads", "fill", "writes", "make stream")],
    "told_by_both": [("waits_never", "reads", "serve", "writes", "make stream")],
}


class Cases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.program, cls.seen = (str(pathlib.Path(cls.room.name, name)) for name in ("order_cases", "seen"))
        for program, more in (cls.program, []), (cls.seen, ["--check"]):
            made = subprocess.run([MILLRACE, "cc", *more, "-g", "-lineinfo", "-arch=sm_90", "-o", program, str(SOURCE), "-lcuda"], capture_output=True, text=True, timeout=300)
            assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def check(self, *words, program=None, options=()):
        report = pathlib.Path(self.room.name, "report")
        done = subprocess.run([MILLRACE, "check", *options, "--error-exitcode", "9", "--format", "json", "-o", str(report), "--", program or self.program, *words],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout, "done\n", done.stderr)
        return json.loads(report.read_text())["findings"]

    def test_cases(self):
        for name, expected in (CASES | TALKS).items():
            for _ in range(TIMES):
                with self.subTest(name=name):
                    findings = self.check(name, program=self.seen if name in TALKS else None)
                    seen = [tuple(part for side in finding["sides"] for part in ((side.get("kernel") or side["call"]).split("(")[0], side["how"])) for finding in findings]
                    self.assertEqual(seen, [words[:4] for words in expected], findings)
                    for finding, words in zip(findings, expected):
                        self.assertIn(words[4], finding["advice"])

    def test_mended(self):
        for name in CASES | TALKS:
            for program in (self.program, self.seen)[: 2 if name in TALKS else 1] * TIMES:
                with self.subTest(name=name, program=program):
                    self.assertEqual(self.check(name, "mended", program=program), [])

    def test_strict(self):
        """With threads that are in order only by what the program does, the host's look at a word is a race with who
        writes the word."""
        for name, writer in ("told_by_kernel", "tell"), ("told_by_stream", "cuStreamWriteValue32"):
            with self.subTest(name=name):
                titles = [finding["title"] for finding in self.check(name, "mended", program=self.seen, options=["--host-threads=strict"])]
                self.assertTrue(any(title.startswith("the host's code reads") and writer in title for title in titles), titles)


unittest.main(argv=sys.argv[:1])
