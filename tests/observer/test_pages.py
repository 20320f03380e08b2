# SPDX-License-Identifier: Apache-2.0
"""millrace check --host-touch: what the code of unmodified programs touches is seen by pages (pages_program.c), and
programs work as ever.

test_pages.py MILLRACE PROGRAM SOURCES: SOURCES has examples/races.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MILLRACE, PROGRAM, SOURCES = map(os.path.abspath, sys.argv[1:4])
RACES = ["host_function", "managed_touch", "pinned_read_early", "pinned_written_early"]


def can_see() -> bool:
    """Whether the system lets this user see what is touched."""
    done = subprocess.run([MILLRACE, "check", "--host-touch", "--", PROGRAM], capture_output=True, text=True, timeout=120)
    if done.returncode == 125 and "can't be seen" in done.stderr:
        print(done.stderr, file=sys.stderr)
        return False
    return True


class Pages(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)

    def check(self, program, *arguments, status=(0, 9), **environment):
        report = self.room / "report.json"
        done = subprocess.run([MILLRACE, "check", "--host-touch", "--error-exitcode", "9", "--format", "json", "-o", str(report), "--", program, *arguments],
                              capture_output=True, text=True, timeout=200, env={**os.environ, **environment})
        self.assertIn(done.returncode, status, done.stdout + done.stderr)
        return json.loads(report.read_text()), done

    def one(self, how):
        report, done = self.check(PROGRAM, how)
        self.assertTrue(report["findings"], f"{how}: {done.stderr}")
        return report["findings"]

    def test_touches(self):
        for how, words, function in (("read", "reads", "touch_read"), ("managed", "reads", "touch_read"), ("library", "reads", "by_library"), ("after", "reads", "touch_read")):
            with self.subTest(how):
                (finding,) = [f for f in self.one(how) if f["kind"] == "host-race"][:1]
                self.assertIn(f"the host's code {words}", finding["title"])
                host = next(side for side in finding["sides"] if side["what"] == "host")
                self.assertIn(function, [frame.get("function") for frame in host["stack"]])
                self.assertEqual(finding["bytes"], 1)

    def test_a_report_says_if_nobody_looks(self):
        words = "what the program's own code reads and writes in pinned and managed memory was not looked at"
        self.assertNotIn(words, self.check(PROGRAM, "read")[1].stderr + json.dumps(self.check(PROGRAM, "read")[0]))
        for tool, expected in (("race", True), ("race,init", True), ("mem", False)):
            done = subprocess.run([MILLRACE, "check", "--tool", tool, "--", PROGRAM, "read"], capture_output=True, text=True, timeout=120)
            self.assertEqual(words in done.stderr, expected, done.stderr)

    def test_a_write_after_a_read(self):
        how = {side["how"] for f in self.one("read-then-write") for side in f["sides"] if side["what"] == "host"}
        self.assertIn("writes", how)

    def test_calls_of_the_system(self):
        for how, words in (("write(2)", "reads"), ("readv(2)", "writes")):
            with self.subTest(how):
                self.assertIn(words, {side["how"] for f in self.one(how) for side in f["sides"] if side["what"] == "host"})

    def test_a_thread_that_takes_no_signals(self):
        (finding,) = self.one("signals")
        host = next(side for side in finding["sides"] if side["what"] == "host")
        self.assertEqual([frame.get("function") for frame in host["stack"]], ["touch_read"])

    def test_a_thread_that_never_calls(self):
        """It has no number; what is known of its stack is the instruction."""
        for finding in self.one("unknown"):
            host = next(side for side in finding["sides"] if side["what"] == "host")
            self.assertEqual(([frame.get("function") for frame in host["stack"]], host.get("thread")), (["without_calls"], None))
        report, done = self.check(PROGRAM, "unknown-after", status=(0,))
        self.assertEqual(report["findings"], [], done.stderr)

    def test_nothing_to_find(self):
        for how in ("", "clean", "fork"):
            with self.subTest(how):
                report, done = self.check(PROGRAM, how, status=(0,))
                self.assertEqual(report["findings"], [], done.stderr)

    def test_examples(self):
        for name in RACES:
            program = self.room / name
            subprocess.run([MILLRACE, "cc", "-g", "-lineinfo", "-o", str(program), f"{SOURCES}/{name}.cu", "-lcuda"], check=True, timeout=240)
            with self.subTest(name):
                report, done = self.check(str(program), "mended", status=(0,))
                self.assertEqual((report["findings"], done.stdout), ([], f"{name}: right\n"))
                report, done = self.check(str(program), status=(1, 9))
                self.assertTrue(any(f["kind"].startswith("host") for f in report["findings"]), done.stderr)

    def test_says_so(self):
        done = subprocess.run([MILLRACE, "check", "--host-touch", "--", PROGRAM, "read"], capture_output=True, text=True, timeout=200)
        self.assertRegex(done.stderr, r"touches of memory by the host's code were seen")


if __name__ == "__main__":
    if not can_see():
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
