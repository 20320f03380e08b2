# SPDX-License-Identifier: Apache-2.0
"""millrace check --host-threads=strict: threads are in order only by what the program does for that.

test_threads.py MILLRACE SOURCE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MILLRACE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
ORDERED = ("mutex", "condition", "rwlock", "spin", "barrier", "semaphore", "once", "join", "create", "condition-11", "join-11")
UNSEEN = ("flag", "nothing", "waited")
LIBRARIES = pathlib.Path(MILLRACE).resolve().parent.parent / "lib"


class Threads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory()
        cls.program = str(pathlib.Path(cls.room.name, "thread_order"))
        made = subprocess.run([MILLRACE, "cc", "--check", "-g", "-cudart", "none", "-o", cls.program, str(SOURCE), "-lcuda", "-lpthread"],
                              capture_output=True, text=True, timeout=300)
        assert made.returncode == 0, made.stderr

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def check(self, case, *options):
        report = pathlib.Path(self.room.name, "report")
        done = subprocess.run([MILLRACE, "check", "--error-exitcode", "9", "--format", "json", "-o", str(report), *options, "--", self.program, case],
                              capture_output=True, text=True, timeout=120)
        self.assertIn(done.returncode, (0, 9), (case, done.stdout + done.stderr))
        return json.loads(report.read_text())["findings"]

    def test_strict(self):
        for case in ORDERED:
            with self.subTest(case=case):
                for _ in range(3):
                    self.assertEqual([finding["title"] for finding in self.check(case, "--host-threads=strict")], [])
        for case in UNSEEN:
            with self.subTest(case=case):
                titles = [finding["title"] for finding in self.check(case, "--host-threads", "strict")]
                self.assertIn("the copy by cuMemcpyDtoHAsync reads what the fill by cuMemsetD8Async writes, and nothing orders them", titles)
                self.assertTrue(any("the host's code writes" in title or "what the host's code" in title for title in titles), titles)

    def test_calls(self):
        """Without it the order of calls counts."""
        for case in ORDERED + UNSEEN:
            with self.subTest(case=case):
                self.assertEqual(self.check(case, "--host-threads=calls"), [])

    def test_options(self):
        done = subprocess.run([MILLRACE, "check", "--host-threads=loose", "--", "true"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--host-threads can't be 'loose': it is calls or strict", done.stderr)
        done = subprocess.run([MILLRACE, "check", "--tool", "mem", "--host-threads=strict", "--", "true"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--host-threads=strict needs the tool race", done.stderr)
        done = subprocess.run([MILLRACE, "check", "--host-touch", "--host-threads=strict", "--", "true"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--host-touch does not go with --host-threads=strict", done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([self.program, "flag"], env=os.environ | {"LD_LIBRARY_PATH": str(LIBRARIES), "MILLRACE_OBSERVE": "race:threads", "MILLRACE_OBSERVE_OUT": folder},
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertIn("libmillrace-threads.so is not in LD_PRELOAD", done.stderr)


unittest.main(argv=sys.argv[:1])
