# SPDX-License-Identifier: Apache-2.0
"""millrace check, with programs whose streams have work of the libraries of mathematics: what each program of
library_cases.cu is found guilty of, and its mended twin of nothing.

test_library_cases.py MILLRACE SOURCE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MILLRACE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
# The finding: both sides, the later one first: kernel or function, or call, and what it does; then the bytes.
RACES = {
    "product": ("cublasSaxpy", "reads", "cublasSgemm", "writes", 16384),
    "own_stream": ("cublasSaxpy", "reads", "cublasSgemm", "writes", 16384),
    "halves": ("cublasSgemm", "reads and writes", "cublasSgemm", "reads and writes", 4),
    "triangle": ("cuMemsetD8Async", "writes", "cublasStrsv", "reads", 4),
    "scalar": ("cublasSscal", "reads", "cublasSdot", "writes", 4),
    "transform": ("cuMemcpyDtoHAsync", "reads", "cufftExecC2C", "writes", 4),
    "numbers": ("fill", "writes", "curandGenerateUniform", "writes", 16384),
    "light": ("fill", "writes", "cublasLtMatmul", "writes", 16384),
    "captured": ("fill", "writes", "cublasSaxpy", "reads and writes", 16384),
    "by_pointers": ("fill", "writes", "cublasSgemmBatched", "writes", 16384),
    "banded": ("fill", "writes", "cublasSgbmv", "writes", 256),
    "sparse": ("fill", "writes", "cusparseSpMV", "writes", 256),
    "scattered": ("cuMemsetD8Async", "writes", "cusparseScatter", "writes", 4),
    "added": ("cuMemsetD8Async", "writes", "cusparseScsrgeam2", "writes", 4),
    "cholesky": ("cuMemsetD8Async", "writes", "cusolverDnSpotrf", "reads and writes", 4),
    "workspace": ("cusolverDnSpotrf", "writes", "cusolverDnSpotrf", "writes", 256),
    "blocks": ("cuMemcpyDtoHAsync", "reads", "cusolverDnSgetrf", "writes", 4),
    "network": ("cuMemsetD8Async", "writes", "cudnnActivationForward", "writes", 4),
    "network_graph": ("fill", "writes", "cudnnBackendExecute", "reads", 16384),
    "network_products": ("fill", "writes", "cudnnBackendExecute", "writes", 16384),
    "all_reduce": ("fill", "writes", "ncclAllReduce", "writes", 16384),
    "unknown_end": ("fill", "writes", "fill", "writes", 16384),
}


class Cases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.program = str(pathlib.Path(cls.room.name, "library_cases"))
        made = subprocess.run([MILLRACE, "cc", "-g", "-lineinfo", "-std=c++17", "-o", cls.program, str(SOURCE), "-lcublas", "-lcublasLt", "-lcudnn", "-lcufft", "-lcurand", "-lcusolver", "-lcusparse", "-lnccl"],
                              capture_output=True, text=True, timeout=300)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def check(self, *words, tool="race", said="done\n"):
        report = pathlib.Path(self.room.name, "report")
        done = subprocess.run([MILLRACE, "check", "--tool", tool, "--error-exitcode", "9", "--format", "json", "-o", str(report), "--", self.program, *words],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout, said, done.stderr)
        return json.loads(report.read_text())

    @staticmethod
    def notes(report):
        return [note for process in report["processes"] for note in process.get("notes", []) if "librar" in note]

    @staticmethod
    def name(side):
        """As the program has it, without a version."""
        return (side.get("kernel") or side["call"]).split("(")[0].removesuffix("_v2")

    def test_races(self):
        for name, expected in RACES.items():
            with self.subTest(name=name):
                findings = self.check(name)["findings"]
                seen = [tuple(part for side in finding["sides"] for part in (self.name(side), side["how"])) + (finding["bytes"],) for finding in findings]
                self.assertEqual(seen, [expected], findings)
                for finding in findings:
                    self.assertEqual(finding["kind"], "race")
                    for side in finding["sides"]:
                        self.assertIn("library_cases.cu", json.dumps(side["stack"][0]))

    def test_mended(self):
        for name in RACES:
            with self.subTest(name=name):
                report = self.check(name, "mended")
                self.assertEqual((report["findings"], self.notes(report)), ([], []))

    def test_memory(self):
        """What libraries have for themselves is nothing that a program could have wrong."""
        for name in RACES:
            with self.subTest(name=name):
                self.assertEqual(self.check(name, "mended", tool="mem")["findings"], [])

    def test_what_is_not_told(self):
        report = self.check("coloured")
        self.assertEqual(report["findings"], [])
        self.assertTrue(self.notes(report)[0].startswith("1 works of libraries"))

    def test_names(self):
        """In a timeline works have the names of the library's functions, also those that tell nothing of what they touch."""
        wanted = {"product": {"cublasSgemm", "cublasSaxpy"}, "transform": {"cufftExecC2C"}, "numbers": {"curandGenerateUniform"}, "captured": {"cublasSaxpy"},
                  "sparse": {"cusparseSpMV"}, "network": set(), "coloured": {"cusparseScsrcolor"}}
        for name, functions in wanted.items():
            with self.subTest(name=name):
                file = pathlib.Path(self.room.name, "run.json")
                done = subprocess.run([MILLRACE, "trace", "-o", str(file), "--", self.program, name], capture_output=True, text=True, timeout=120)
                self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
                events = json.loads(file.read_text())["traceEvents"]
                places = {pathlib.Path(event["args"].get("file", "")).name for event in events if event["name"] in ("cuMemAlloc", "cuMemsetD8")}
                self.assertIn("library_cases.cu", places) # not a file of the runtime library
                works = [event for event in events if event.get("cat") == "host function"]
                self.assertLessEqual(functions, {work["name"] for work in works})
                self.assertNotIn("host function", {work["name"] for work in works})
                for work in works:
                    self.assertEqual(work["args"]["kernel"], work["name"])
                    self.assertNotIn("grid", work["args"])

    def test_mem(self):
        findings = self.check("beyond", tool="mem", said="")["findings"] # the work faults
        self.assertEqual({(finding["kind"], finding["bytes"]) for finding in findings}, {("out-of-bounds", 4)}, findings)
        self.assertEqual(self.check("beyond", "mended", tool="mem")["findings"], [])

    def test_init(self):
        findings = self.check("unwritten", tool="init")["findings"]
        self.assertEqual([(finding["kind"], finding["bytes"]) for finding in findings], [("unwritten-copy", 4)], findings)
        self.assertEqual(self.check("unwritten", "mended", tool="init")["findings"], [])


unittest.main(argv=sys.argv[:1])
