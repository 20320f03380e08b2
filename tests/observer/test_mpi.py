# SPDX-License-Identifier: Apache-2.0
"""millrace check on messages of MPI: what each case of mpi/mpi_cases.cu is reported for, and its mended twin for nothing;
with the small library beside it and, where there is one, with the machine's. And that a library which was built without
CUDA says, in a program that `millrace run` has started, that it takes device pointers.

test_mpi.py MILLRACE FOLDER CC
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MILLRACE, FOLDER, CC = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3].split()
ROOT = {f"{launcher}_ALLOW_RUN_AS_ROOT{more}": "1" for launcher in ("OMPI", "PRTE") for more in ("", "_CONFIRM")}
# Of each case: the tool and the finding: its kind, the sides and what they do, the later one first, how many bytes.
CASES = {
    "send": ("race", ("host-race", [("MPI_Send", "reads"), ("set", "writes")], 256)),
    "isend": ("race", ("host-race", [("set", "writes"), ("MPI_Isend", "reads")], 256)),
    "irecv": ("race", ("host-race", [("set", "writes"), ("MPI_Irecv", "writes")], 256)),
    "column": ("race", ("host-race", [("MPI_Send", "reads"), ("set_column", "writes")], 4)),
    "overlap": ("race", ("host-race", [("MPI_Send", "reads"), ("set", "writes")], 32)),
    "persistent": ("race", ("host-race", [("set", "writes"), ("MPI_Start", "reads")], 256)),
    "two": ("race", ("host-race", [("set", "writes"), ("MPI_Isend", "reads")], 128)),
    "none": ("race", None),
    "sum": ("race", ("host-race", [("MPI_Allreduce", "writes"), ("set", "writes")], 256)),
    "gatherv": ("race", ("host-race", [("MPI_Gatherv", "writes"), ("set", "writes")], 128)),
    "free": ("race", ("early-free", [("cuMemFree", "frees"), ("MPI_Isend", "reads")], 256)),
    "unwritten": ("init", ("unwritten-copy", [("MPI_Send", "reads")], 256)),
    "past": ("mem", ("out-of-bounds", [("MPI_Send", "reads")], 8)),
}
# A copy finds that nobody has written what the message has told of, too.
MORE = {"unwritten": 1}


def side_of(side):
    return (side["kernel"].split("(")[0] if side.get("kernel") else side["call"], side["how"])


def of_machine():
    """Options for compiling and linking with the machine's MPI library, or None."""
    for compiling, linking in (("--showme:compile", "--showme:link"), ("-compile-info", "-link-info")):
        if not shutil.which("mpicc"):
            return None
        answers = [subprocess.run(["mpicc", option], capture_output=True, text=True, check=False) for option in (compiling, linking)]
        if all(answer.returncode == 0 for answer in answers):
            return [word for answer in answers for word in answer.stdout.split() if re.match("-(I|L|l|Wl,-?rpath)", word)]
    return None


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        room = pathlib.Path(cls.room.name)
        library = room / "libmpi.so.12"
        subprocess.run([*CC, "-shared", "-fPIC", "-g", f"-I{FOLDER}", "-Wl,-soname,libmpi.so.12", "-o", library, FOLDER / "small_mpi.c"], check=True, timeout=120)
        cls.words = [f"-I{FOLDER}", str(library), f"-Wl,-rpath,{room}"]
        cls.small = cls.build("small", cls.words)

    @classmethod
    def build(cls, name, options):
        program = str(pathlib.Path(cls.room.name, name))
        words = ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", *(f"-Xlinker={o[4:]}" if o.startswith("-Wl,") else o for o in options)]
        made = subprocess.run([MILLRACE, "cc", "-g", "-o", program, str(FOLDER / "mpi_cases.cu"), *words], capture_output=True, text=True, timeout=300)
        assert made.returncode == 0, made.stderr
        return program

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def check(self, tool, *command):
        report = pathlib.Path(self.room.name, "report")
        done = subprocess.run([MILLRACE, "check", "--tool", tool, "--error-exitcode", "9", "--format", "json", "-o", str(report), "--", *command],
                              capture_output=True, text=True, timeout=120, env=os.environ | ROOT)
        self.assertIn(done.returncode, (0, 9), done.stdout + done.stderr)
        self.assertIn("done\n", done.stdout)
        return json.loads(report.read_text())["findings"]

    def look(self, program):
        for name, (tool, expected) in CASES.items():
            with self.subTest(name=name, tool=tool, program=program):
                findings = self.check(tool, program, name)
                self.assertEqual(len(findings), MORE.get(name, 0) + (expected is not None), findings)
                if expected:
                    sides = [side_of(side) for side in findings[0]["sides"]]
                    self.assertEqual((findings[0]["kind"], sides), expected[:2], findings)
                    self.assertIn(expected[2], (findings[0]["bytes"], findings[0].get("touched")), findings)
                self.assertEqual(self.check(tool, program, name, "mended"), [])

    def test_small(self):
        self.look(self.small)

    def test_as_ranks_of_many_machines_do(self):
        results = pathlib.Path(self.room.name, "results")
        results.mkdir()
        subprocess.run([MILLRACE, "run", "--", self.small, "send"], check=True, capture_output=True, timeout=120,
                       env=os.environ | {"MILLRACE_OBSERVE": "race", "MILLRACE_OBSERVE_OUT": str(results)})
        done = subprocess.run([MILLRACE, "check", "--results", str(results)], capture_output=True, text=True, timeout=60)
        self.assertIn("the message by MPI_Send reads", done.stderr)

    def test_all_tools_at_once(self):
        self.assertEqual(self.check("race,mem,init", self.small, "send", "mended"), [])
        self.assertEqual([finding["kind"] for finding in self.check("race,mem,init", self.small, "send")], ["host-race"])

    def test_of_machine(self):
        options = of_machine()
        if options is None:
            self.skipTest("this machine has no MPI library")
        self.look(self.build("machine", options))

    def test_what_is_said(self):
        done = subprocess.run([MILLRACE, "check", "--", self.small, "isend"], capture_output=True, text=True, timeout=120)
        self.assertIn("kernel 'set(int*, int)' writes what the message by MPI_Isend reads, and nothing orders them", done.stderr)
        self.assertIn("the kernel in the legacy default stream does not wait for the message by MPI_Isend", done.stderr)
        self.assertIn("ask for the kernel when the request of MPI_Isend is complete (MPI_Wait)", done.stderr)

    def test_with_the_hosts_code(self):
        program = self.build("told", ["--check", *self.words])
        (finding,) = self.check("race", program, "host")
        self.assertEqual({side_of(side) for side in finding["sides"]}, {("MPI_Irecv", "writes"), ("the host's code", "reads")})
        self.assertEqual(finding["missing"], "the host's code does not wait for the message by MPI_Irecv")
        self.assertEqual(finding["advice"], "wait until the request of MPI_Irecv is complete (MPI_Wait) before the host reads the bytes")
        self.assertEqual(self.check("race", program, "host", "mended"), [])

    def test_says_that_it_takes_device_pointers(self):
        program = pathlib.Path(self.room.name, "asks")
        source = program.with_suffix(".c")
        source.write_text('#include <mpi.h>\n#include <stdio.h>\nint main(void) { printf("%d\\n", MPIX_Query_cuda_support()); }\n')
        room = self.room.name
        subprocess.run([*CC, f"-I{FOLDER}", "-o", program, source, f"{room}/libmpi.so.12", f"-Wl,-rpath,{room}"], check=True, timeout=120)
        answers = [subprocess.run([MILLRACE, "run", program], capture_output=True, text=True, timeout=60, env=os.environ | more).stdout
                   for more in ({}, {"MILLRACE_KEEP": "libmpi"})]
        self.assertEqual(answers, ["1\n", "0\n"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
