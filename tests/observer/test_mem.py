# SPDX-License-Identifier: Apache-2.0
"""millrace check --tool mem: what each program of mem_faults.cu is found guilty of, to the byte, and its mended twin of
nothing.

test_mem.py MILLRACE SOURCE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

MILLRACE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
LINES = SOURCE.read_text().splitlines()


def line_of(text):
    return 1 + next(i for i, line in enumerate(LINES) if text in line)


FILL, SUM = line_of("to[i] = value"), line_of("atomicAdd(to, from")
# Of each finding: its kind, the bytes, where they begin in the allocation, the allocation's size, how often it was
# seen, and the line of the kernel.
FAULTS = {
    "past_the_end": [("out-of-bounds", 112, 400, 400, 3, FILL)],
    "one_byte": [("out-of-bounds", 1, 333, 333, 1, line_of("to[i] = 1;"))],
    "strided": [("out-of-bounds", 20, 216, 216, 1, SUM)],
    "before_the_start": [("out-of-bounds", 8, -8, 4096, 1, SUM)],
    "two_places": [("out-of-bounds", 4, 100, 100, 1, line_of("int value = b[i]")), ("out-of-bounds", 4, 100, 100, 1, line_of("a[i] = value"))],
    "freed_device": [("freed-memory", 256, 0, 1024, 1, FILL)],
    "freed_pool": [("freed-memory", 512, 0, 1024, 1, FILL)],
    "handed_out_again": [],
    "host_heap": [("host-pointer", 256, None, None, 1, FILL)],
    "unrolled": [("host-pointer", 4, None, None, 1, line_of("atomicAdd(to, i"))],
    "host_stack": [("host-pointer", 256, None, None, 1, FILL)],
    "unregistered": [("freed-memory", 256, 0, 4096, 1, FILL)],
    "null_pointer": [("wild-pointer", 4, None, None, 1, FILL)],
    "null_warp": [("wild-pointer", 128, None, None, 1, FILL)],
    "graph": [("out-of-bounds", 4, 400, 400, 2, FILL)],
    "misaligned": [("misaligned", 4, None, None, 1, line_of("*(const int *)(from"))],
    "neighbour": [("out-of-bounds", 4, 1 << 20, 1 << 16, 1, line_of("(char *)to + bytes"))],
    "far_neighbour": [("out-of-bounds", 4, (2 << 30) - (64 << 20), 1 << 24, 1, line_of("(char *)to + bytes"))],
    "pool_neighbour": [("out-of-bounds", 512, 1024, 1024, 1, FILL)],
    "array_destroyed": [("freed-memory", 128, 0, 512, 1, unittest.mock.ANY)],
    "array_in_use": [],
    "device_pointer": [],
    "copies": [("freed-memory", 64, 0, 64, 2, None)],
    "kernels_own": [],
    "leaks": [],
    "reset": [],
}


def summary(finding):
    allocation = finding.get("allocation")
    begins = finding["first"] - allocation["first"] if allocation else None
    return (finding["kind"], finding["bytes"], begins, allocation and allocation["size"], finding["times"], finding["sides"][0].get("line"))


class Mem(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.program = str(pathlib.Path(cls.room.name, "mem_faults"))
        made = subprocess.run([MILLRACE, "cc", "-g", "-lineinfo", "-o", cls.program, str(SOURCE)], capture_output=True, text=True, timeout=300)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def check(self, *words, tool="mem", options=(), form="json"):
        """Runs the program under the tool; its output, the findings and the exit status."""
        report = pathlib.Path(self.room.name, "report")
        done = subprocess.run([MILLRACE, "check", "--tool", tool, "--error-exitcode", "9", "--format", form, "-o", str(report), *options, "--", self.program, *words],
                              capture_output=True, text=True, timeout=120)
        self.assertIn(done.returncode, (0, 9), done.stdout + done.stderr)
        text = report.read_text()
        findings = json.loads(text)["findings"] if form == "json" else text
        self.assertTrue(form != "json" or bool(findings) == (done.returncode == 9))
        return done.stdout, findings

    def test_host(self):
        """The host's own code is seen where it was compiled for that."""
        plain, checked = self.program, str(pathlib.Path(self.room.name, "checked"))
        made = subprocess.run([MILLRACE, "cc", "--check", "-g", "-lineinfo", "-o", checked, str(SOURCE)], capture_output=True, text=True, timeout=300)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.program = checked
        _, findings = self.check("device_pointer")
        found = sorted((finding["kind"], finding["bytes"], finding["first"] - finding["allocation"]["first"], finding["times"]) for finding in findings)
        self.assertEqual(found, [("device-pointer", 4, 12, 1), ("device-pointer", 4, 32, 3)])
        self.assertEqual({finding["title"] for finding in findings}, {"the host's code reads 4 bytes of device memory", "the host's code writes 4 bytes of device memory"})
        for case in ("device_pointer", "past_the_end"):
            self.assertEqual(self.check(case, "mended")[1], [])
        self.program = plain

    def test_faults(self):
        for name, expected in FAULTS.items():
            with self.subTest(name=name):
                _, findings = self.check(name)
                self.assertEqual(sorted(map(summary, findings), key=str), sorted(expected, key=str))
                self.assertEqual({finding["tool"] for finding in findings}, {"mem"} if expected else set())
                self.assertEqual([len(finding["sides"]) for finding in findings], [2 if kind == "freed-memory" else 1 for kind, *_ in expected])

    def test_mended(self):
        for name in FAULTS:
            with self.subTest(name=name):
                said, findings = self.check(name, "mended")
                self.assertEqual(findings, [])
                self.assertNotIn("stopped", said)

    def test_the_program_goes_on(self):
        self.assertEqual(self.check("freed_device")[0], "went on\n")
        self.assertEqual(self.check("null_pointer")[0], "stopped\n")

    def test_arrays_in_use(self):
        """As with cuMemFree: hardware waits, which no manual promises."""
        for tools in ("race", "race,mem"):
            _, findings = self.check("array_in_use", tool=tools, options=["--luck"])
            self.assertEqual([(finding["kind"], [side["call"] for side in finding["sides"]]) for finding in findings],
                             [("early-free", ["cuMipmappedArrayDestroy", "cuMemcpy2DAsync"])])
            self.assertEqual(self.check("array_in_use", "mended", tool=tools, options=["--luck"])[1], [])
            self.assertEqual(self.check("array_in_use", tool=tools)[1], [])

    def test_text(self):
        text = re.sub(r"0x[0-9a-f]+", "0x", self.check("past_the_end", form="text")[1])
        for line in ("mem: kernel 'fill(int*, int, int)' writes 112 bytes outside of every allocation, from 0 bytes behind the end of one of 400 bytes on [out-of-bounds]",
                     "  bytes: 112, from offset 400 of the allocation on", "  allocation: 400 bytes at 0x, by cuMemAlloc:", "  missing: the allocation lacks 112 bytes",
                     "  mend: let threads whose index is beyond the end do nothing, or allocate 512 bytes", "  seen 3 times"):
            self.assertIn(line, text)
        self.assertNotIn("freed", self.check("strided", form="text")[1])
        self.assertIn("writes 256 bytes that cuMemFree has freed", self.check("freed_device", form="text")[1])

    def test_leaks(self):
        _, findings = self.check("leaks", options=["--leak-check"])
        self.assertEqual(sorted((finding["kind"], finding["bytes"], finding["times"], finding["sides"][0]["call"]) for finding in findings),
                         [("leak", 64, 1, "cuMemAllocAsync"), ("leak", 600, 3, "cuMemAlloc")])
        for words in (["leaks", "mended"], ["reset"], ["handed_out_again"], ["kernels_own"], ["graph", "mended"]):
            with self.subTest(words=words):
                self.assertEqual(self.check(*words, options=["--leak-check"])[1], [])
        _, findings = self.check("free_fails", options=["--leak-check"])
        self.assertEqual([(finding["kind"], finding["bytes"], finding["sides"][0]["call"]) for finding in findings], [("leak", 400, "cuMemAlloc")])
        self.assertEqual(self.check("free_fails", "mended", options=["--leak-check"])[1], [])
        self.assertIn("cuMemAlloc makes 3 allocations of 600 bytes in all that nobody frees [leak]", self.check("leaks", options=["--leak-check"], form="text")[1])

    def test_suppressions(self):
        rules = pathlib.Path(self.room.name, "rules")
        rules.write_text("tool=mem kind=leak call=cuMemAlloc\n")
        options = ["--leak-check", "--suppress", str(rules)]
        self.assertEqual([finding["bytes"] for finding in self.check("leaks", options=options)[1] if not finding.get("suppressed")], [64])
        rules.write_text("kind=out-of-bounds kernel=fill\n")
        self.assertIn("0 findings, 1 suppressed", self.check("graph", options=["--suppress", str(rules)], form="text")[1])

    def test_beside_race(self):
        for tools in ("race,mem", "mem,race"):
            _, findings = self.check("past_the_end", tool=tools)
            self.assertEqual(list(map(summary, findings)), FAULTS["past_the_end"])
            _, findings = self.check("freed_pool", tool=tools)
            self.assertEqual(sorted((finding["tool"], finding["kind"]) for finding in findings), [("mem", "freed-memory"), ("race", "use-after-free")])
            self.assertEqual(self.check("strided", "mended", tool=tools)[1], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
