# SPDX-License-Identifier: Apache-2.0
"""millrace check --tool init: what each program of init_cases.cu is found guilty of, to the byte, and its mended twin
of nothing.

test_init.py MILLRACE SOURCE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MILLRACE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
LINES = SOURCE.read_text().splitlines()


def line_of(text):
    return 1 + next(i for i, line in enumerate(LINES) if text in line)


# Of each finding: its kind, the bytes, where they begin in the allocation, the allocation's size, and how often it was
# seen.
CASES = {
    "tail": [("unwritten-copy", 224, 800, 1024, 1)],
    "holes": [("unwritten-padding", 128, 4, 256, 1)],
    "one_byte": [("unwritten-copy", 1, 332, 1000, 1)],
    "padding": [("unwritten-padding", 96, 1, 512, 1)],
    "travels": [("unwritten-copy", 24, 1000, 1024, 1)],
    "pool": [("unwritten-copy", 512, 0, 512, 1)],
    "graph": [("unwritten-copy", 4, 396, 400, 2)],
    "graph_host": [("unwritten-copy", 4, 396, 400, 2)],
    "read": [("unwritten-read", 224, 800, 1024, 1)],
    "counter": [("unwritten-read", 4, 0, 4, 1)],
    "branch": [("unwritten-branch", 224, 800, 1024, 1)],
    "loop": [("unwritten-branch", 1, 3, 4, 1)],
    "index": [("unwritten-address", 16, 48, 64, 1)],
    "chosen": [("unwritten-read", 224, 800, 1024, 1)],
    "added": [("unwritten-read", 224, 800, 1024, 1)],
    "exchanged": [("unwritten-read", 128, 0, 256, 1)],
    "texels": [("unwritten-read", 256, 0, 1024, 1)],
    "mapped": [("unwritten-copy", 192, 8000, 2 << 20, 1)],
    "host_mapped": [("unwritten-copy", 24, 1000, 1024, 1)],
    "host_pool": [("unwritten-copy", 24, 1000, 1024, 1)],
    "ordinary": [],
}
NOTES = {"unwritten-padding", "unwritten-read"}


def summary(finding):
    allocation = finding["allocation"]
    return finding["kind"], finding["bytes"], finding["first"] - allocation["first"], allocation["size"], finding["times"]


class Init(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.program = str(pathlib.Path(cls.room.name, "init_cases"))
        made = subprocess.run([MILLRACE, "cc", "-g", "-lineinfo", "-o", cls.program, str(SOURCE), "-lcuda"], capture_output=True, text=True, timeout=300)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def check(self, *words, tool="init", form="json"):
        report = pathlib.Path(self.room.name, "report")
        done = subprocess.run([MILLRACE, "check", "--tool", tool, "--error-exitcode", "9", "--format", form, "-o", str(report), "--", self.program, *words],
                              capture_output=True, text=True, timeout=120)
        self.assertIn(done.returncode, (0, 9), done.stdout + done.stderr)
        text = report.read_text()
        findings = json.loads(text)["findings"] if form == "json" else text
        if form == "json":
            self.assertEqual(any(finding["level"] == "error" for finding in findings), done.returncode == 9, findings)
        return findings

    def test_cases(self):
        for name, expected in CASES.items():
            with self.subTest(name=name):
                findings = self.check(name)
                self.assertEqual(list(map(summary, findings)), expected)
                for finding in findings:
                    self.assertEqual((finding["tool"], finding["level"]), ("init", "note" if finding["kind"] in NOTES else "error"))
                    if name != "mapped":
                        frames = finding["allocation"]["stack"]
                        self.assertTrue(any(frame.get("file", "").endswith("init_cases.cu") for frame in frames), frames)

    def test_mended(self):
        for name in CASES:
            with self.subTest(name=name):
                self.assertEqual(self.check(name, "mended"), [])

    def test_together(self):
        """With the other tools, which change nothing of it."""
        for tool in ("race,mem,init", "init,race", "init,mem"):
            for name in ("tail", "counter", "graph"):
                self.assertEqual([summary(finding) for finding in self.check(name, tool=tool) if finding["tool"] == "init"], CASES[name])

    def test_words(self):
        text = self.check("read", form="text")
        self.assertIn(f"init_cases.cu:{line_of('to[threadIdx.x] = from[threadIdx.x];')}: init: note: kernel 'copy(int*, int const*)' reads 224 bytes "
                      "that nothing has written [unwritten-read]", text)
        self.assertIn("millrace check: 0 findings, 1 note\n", text)
        text = self.check("branch", form="text")
        self.assertIn(f"init_cases.cu:{line_of('if (flags[threadIdx.x] > 7)')}: init: kernel 'branch_by(int*, int const*)' branches by 224 bytes "
                      "that nothing has written [unwritten-branch]", text)
        text = self.check("index", form="text")
        self.assertIn("init: kernel 'gather(int*, int const*, int const*)' accesses memory at an address that it makes of 16 bytes "
                      "that nothing has written [unwritten-address]", text)
        text = self.check("tail", form="text")
        self.assertIn("init: the copy by cuMemcpyDtoH brings 224 bytes to the host that nothing has written [unwritten-copy]", text)
        self.assertIn("millrace check: 1 finding\n", text)
        sarif = json.loads(self.check("read", form="sarif"))
        self.assertEqual([result["level"] for result in sarif["runs"][0]["results"]], ["note"])
        self.assertIn("1 note.", self.check("read", form="html"))


unittest.main(argv=sys.argv[:1])
