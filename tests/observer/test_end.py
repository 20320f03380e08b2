#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The observer hears of the end of a process, however that comes, once; and a program runs on without an observer.

    test_end.py PROGRAM RANDOM OBSERVER

RANDOM is the program that runs random programs (tests/random): whatever they do, points come in the right order.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

OBSERVER, RANDOM, PROGRAM = sys.argv.pop(), sys.argv.pop(), sys.argv.pop()
# How the program ends: its status, and what the observer writes.
ENDS = {
    "return": (0, "finish 0 1 0\n"),
    "exit": (3, "finish 0 1 0\n"),
    "quick_exit": (3, "finish 0 1 0\n"),
    "_exit": (3, ""),
    "abort": (-signal.SIGABRT, f"finish {int(signal.SIGABRT)} 1 0\n"),
    "term": (-signal.SIGTERM, f"finish {int(signal.SIGTERM)} 1 0\n"),
    "fault": (-signal.SIGSEGV, f"finish {int(signal.SIGSEGV)} 1 0\n"),
    "handled": (7, ""),
    "fork": (0, "finish 0 1 0\n"),
}


def run(how, program=PROGRAM, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MILLRACE_OBSERVE")} | settings
    # A fault is the program's own here, and no sanitizer's.
    environment |= {"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:detect_leaks=0", "TSAN_OPTIONS": "handle_segv=0:handle_abort=0",
                    "UBSAN_OPTIONS": "handle_segv=0:handle_abort=0"}
    return subprocess.run([program, *how.split()], env=environment, capture_output=True, text=True, timeout=300)


class End(unittest.TestCase):
    def test_each_way(self):
        for how, (status, text) in ENDS.items():
            with self.subTest(how), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "points"
                ran = run(how, MILLRACE_OBSERVER=OBSERVER, MILLRACE_OBSERVE=f"points:{file}")
                self.assertEqual(ran.returncode, status, ran.stderr)
                self.assertEqual(file.read_text() if file.exists() else "", text)

    def test_random_programs(self):
        for settings in ({}, {"MILLRACE_CHAOS": "1"}, {"MILLRACE_DEVICES": "2", "MILLRACE_WORKERS": "4"}):
            with self.subTest(settings), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "points"
                ran = run("--seeds 40 --from 7000", RANDOM, MILLRACE_OBSERVER=OBSERVER, MILLRACE_OBSERVE=f"rules:{file}", **settings)
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                self.assertEqual(file.read_text(), "finish 0 1 0\n")

    def refused(self, *words, **settings):
        ran = run("exit", **settings)
        self.assertEqual(ran.returncode, 3, ran.stderr)
        for word in words:
            self.assertIn(word, ran.stderr)
        return ran.stderr

    def test_without(self):
        self.assertEqual(self.refused(), "")

    def test_missing(self):
        self.refused("MILLRACE_OBSERVE", "/nowhere/observer.so", MILLRACE_OBSERVER="/nowhere/observer.so", MILLRACE_OBSERVE="points")

    def test_no_observer(self):
        self.refused("millrace_observer", MILLRACE_OBSERVER="libm.so.6", MILLRACE_OBSERVE="points")

    def test_refusing(self):
        self.assertEqual(self.refused(MILLRACE_OBSERVER=OBSERVER, MILLRACE_OBSERVE="none"), "points: refused\n")

    def test_the_users_library_says_it_once(self):
        for tools, words in (("race,three", "'race,three' names a tool that is none of the observer's"), ("race,race", "'race' twice"), ("race:luk", "no option 'luk'"), (",", "names no tool"),
                             ("trace:mib=0", "not 'mib=0'"), ("schedule:lat", "lat")):
            with self.subTest(tools), tempfile.TemporaryDirectory() as folder:
                said = self.refused(words, MILLRACE_OBSERVE=tools, MILLRACE_OBSERVE_OUT=folder)
                self.assertEqual(said.count("\n"), 1, said)

    def test_other_version(self):
        self.refused("version", MILLRACE_OBSERVER=OBSERVER, MILLRACE_OBSERVE="other")


if __name__ == "__main__":
    unittest.main()
