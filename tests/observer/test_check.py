# SPDX-License-Identifier: Apache-2.0
"""millrace check: options, exit statuses, reports, and programs that end in every way. The programs leave the results
of made-up findings (stacks.c) where an observer would leave them.

test_check.py MILLRACE STACKS PLUGIN ENDS
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MILLRACE, STACKS, PLUGIN, ENDS = map(os.path.abspath, sys.argv[1:5])
LEAVE = f"'{STACKS}' \"$MILLRACE_OBSERVE_OUT\" '{PLUGIN}'"  # as a command of a shell


def take_all_signals():
    """In the child, before it starts: whoever runs the tests may ignore some, and a shell can't trap what it was
    started to ignore."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)


class Check(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        self.temporary = self.room / "tmp"
        self.temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}

    def check(self, *options, script=LEAVE, status=1, left=0):
        """Runs a script under check; the streams. `left`: folders of results that stay."""
        program = ["--", "sh", "-c", script] if script is not None else []
        done = subprocess.run([MILLRACE, "check", *options, *program], env=self.environment, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(len(os.listdir(self.temporary)), left)
        return done.stdout, done.stderr

    def test_environment(self):
        out, _ = self.check(script="env", status=0)
        values = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
        self.assertEqual(values["MILLRACE_OBSERVE"], "race")
        self.assertTrue(values["MILLRACE_OBSERVE_OUT"].startswith(str(self.temporary)))
        plain = subprocess.run([MILLRACE, "run", "env"], env=self.environment, capture_output=True, text=True, timeout=60).stdout
        for line in plain.splitlines():
            if line.split("=")[0] in ("PATH", "LD_LIBRARY_PATH", "LD_AUDIT", "TRITON_PTXAS_PATH", "CUDA_HOME", "CUDA_PATH"):
                self.assertIn(line, out.splitlines())
        out, _ = self.check("--luck", "--tool", "race", script="echo $MILLRACE_OBSERVE", status=0)
        self.assertEqual(out, "race:luck\n")
        for options, tools in ((["--tool", "mem"], "mem"), (["--tool", "mem,race", "--luck"], "race:luck,mem"), (["--tool=mem", "--leak-check"], "mem:leaks")):
            self.assertEqual(self.check(*options, script="echo $MILLRACE_OBSERVE", status=0)[0], tools + "\n")

    def test_statuses(self):
        self.check(status=1)
        self.check("--error-exitcode", "42", status=42)
        self.check("--error-exitcode=0", status=0)
        self.check(script=LEAVE + "; exit 3", status=3)
        self.check("--error-exitcode", "42", script=LEAVE + "; exit 125", status=125)
        _, said = self.check(script="exit 0", status=0)
        self.assertIn("no process has used CUDA through Millrace, so nothing was checked", said)

    def test_forms(self):
        _, said = self.check(script=LEAVE + "; echo out")
        self.assertIn("millrace check: 2 findings", said)
        out, _ = self.check("--format", "json")
        self.assertEqual(len(json.loads(out)["findings"]), 2)
        file = self.room / "report"
        for form, begins in (("text", str(pathlib.Path(STACKS))[:1]), ("json", "{"), ("sarif", "{"), ("html", "<!doctype html>")):
            out, said = self.check("--format", form, "-o", str(file), script=LEAVE + "; echo out")
            self.assertEqual((out, said), ("out\n", ""))
            self.assertTrue(file.read_text().startswith(begins) or form == "text", form)
            self.assertIn("cuMemFree", file.read_text())
        out, _ = self.check("-o", "-")
        self.assertIn("2 findings", out)

    def test_bad_arguments(self):
        for options, message in ((["--format", "xml"], "--format can't be 'xml': it is text, json, sarif or html"), (["--tool", "leak"], "--tool can't be 'leak': it is race, mem, init, or several of them with commas between"),
                                 (["--tool", "mem,"], "--tool can't be 'mem,'"), (["--leak-check"], "--leak-check needs the tool mem"),
                                 (["--tool", "mem", "--luck"], "--luck needs the tool race"),
                                 (["--error-exitcode", "256"], "it is a number from 0 to 255"), (["--error-exitcode", ""], "it is a number from 0 to 255"),
                                 (["--colour"], "'--colour' is not understood"), (["-q"], "'-q' is not understood"),
                                 (["--output"], "--output needs a value"), ([], "name the program to run")):
            with self.subTest(options=options):
                self.assertIn(message, self.check(*options, script=None, status=2)[1])
        self.assertIn("Usage: millrace check", self.check("--help", script=None, status=0)[0])
        done = subprocess.run([MILLRACE, "check", "/nonexistent/program"], env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, os.listdir(self.temporary)), (127, []))
        self.assertIn("cannot start /nonexistent/program: No such file", done.stderr)
        done = subprocess.run([MILLRACE, "check", str(self.room)], env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, os.listdir(self.temporary)), (126, []))

    def test_suppressions(self):
        rules = self.room / "rules"
        rules.write_text("kind=race\nkernel=nobody\n")
        out, said = self.check("--suppress", str(rules), "-v")
        self.assertIn("1 finding, 1 suppressed", said.replace("\033[1;31m", ""))
        self.assertIn(f"{rules}:2: this suppression has hidden nothing", said)
        more = self.room / "more"
        more.write_text("kind=use-after-free\n")
        self.check("--suppress", str(rules), "--suppress", str(more), status=0)
        _, said = self.check("--print-suppressions")
        rules.write_text("".join(line.split(": ", 1)[1] + "\n" for line in said.splitlines() if line.startswith("  suppression: ")))
        self.check("--suppress", str(rules), status=0)

    def test_bad_files_are_told_before_the_program_runs(self):
        mark = self.room / "ran"
        for option, name, message in (("--suppress", "none", "cannot read suppressions: No such file"), ("--output", "none/report", "cannot write"),
                                      ("--results", "none/results", "cannot make the folder")):
            _, said = self.check(option, str(self.room / name), script=f"touch '{mark}'", status=125)
            self.assertIn(message, said)
        rules = self.room / "rules"
        rules.write_text("kind\n")
        self.assertIn("a condition has the form KEY=PATTERN", self.check("--suppress", str(rules), script=f"touch '{mark}'", status=125)[1])
        self.environment["TMPDIR"] = "/nonexistent"
        done = subprocess.run([MILLRACE, "check", "touch", str(mark)], env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot make a folder for results", done.stderr)
        self.assertFalse(mark.exists())

    @unittest.skipUnless(os.path.exists("/dev/full"), "no device that is full")
    def test_full_disk(self):
        _, said = self.check("--output", "/dev/full", status=125, left=1)
        self.assertIn("cannot write /dev/full: No space left", said)
        self.assertIn(f"what the processes left is in {self.temporary}", said)
        kept = next(self.temporary.iterdir())
        _, said = self.check("--results", str(kept), script=None, left=1)
        self.assertIn("2 findings", said)

    def test_results_that_are_lacking(self):
        _, said = self.check(script=LEAVE + "; : >$MILLRACE_OBSERVE_OUT/1.failed", status=125, left=1)
        self.assertIn("2 findings", said)
        self.assertIn("1 of the processes could not be observed", said)
        _, said = self.check(script=LEAVE + "; echo '{' >$MILLRACE_OBSERVE_OUT/1.results.json; exit 7", status=125, left=2)
        self.assertIn("2 findings", said)
        self.assertIn("1.results.json: the file is cut short", said)

    def test_results_folder(self):
        folder = self.room / "results"
        self.check("--results", str(folder))
        out, _ = self.check("--results", str(folder), "--format", "json", script=None)
        self.assertEqual(len(json.loads(out)["findings"]), 2)
        self.assertIn("has results of another run", self.check("--results", str(folder), status=125)[1])
        self.assertIn("cannot read the folder", self.check("--results", str(self.room / "none"), script=None, status=125)[1])

    def test_several_processes(self):
        script = f"{LEAVE} & {LEAVE} & wait; mkdir $MILLRACE_OBSERVE_OUT/more; '{STACKS}' $MILLRACE_OBSERVE_OUT/more '{PLUGIN}'"
        out, _ = self.check("--format", "json", script=script)
        report = json.loads(out)
        self.assertEqual((len(report["processes"]), [finding["times"] for finding in report["findings"]]), (3, [15, 3]))

    def test_how_processes_end(self):
        for end, note in (("", "ended without a word"), ("signal 11", "(stacks) was ended by signal 11")):
            script = LEAVE + f"; sed -i 's/\"end\": \"exit\"/\"end\": \"{end}\"/' $MILLRACE_OBSERVE_OUT/*.json"
            self.assertIn(note, self.check(script=script)[1])

    def test_program_ends_by_a_signal(self):
        _, said = self.check(script=LEAVE + "; kill -SEGV $$", status=128 + signal.SIGSEGV)
        self.assertIn("sh was ended by signal 11", said)
        self.assertIn("2 findings", said)

    def start(self, script, group=False):
        process = subprocess.Popen([MILLRACE, "check", "--", "sh", "-c", script], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=group, preexec_fn=take_all_signals)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_signals_go_on_to_the_program(self):
        wait = "echo ready; while :; do sleep 0.05; done"
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            process = self.start(f"trap '{LEAVE}; exit 9' {number}; {wait}")
            process.send_signal(number)
            _, said = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 9)
            self.assertIn("2 findings", said)
        process = self.start(wait)
        process.terminate()
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)

    def test_ignored_signals_stay_ignored(self):
        done = subprocess.run(["sh", "-c", 'trap "" HUP; exec "$0" check -- sh -c \'kill -HUP $$; kill -HUP $PPID; echo alive; exit 0\'', MILLRACE], env=self.environment,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "alive\n"))


class Real(unittest.TestCase):
    """A program with a race that uses the driver, and ends in every way (ends.c): what was found before is reported."""

    def test_ends(self):
        for how, status, ends in (("return", 1, ["exit"]), ("exit", 1, ["exit"]), ("running", 1, ["exit"]), ("_exit", 1, [""]), ("abort", 128 + signal.SIGABRT, ["signal 6"]),
                                  ("segv", 128 + signal.SIGSEGV, ["signal 11"]), ("kill", 128 + signal.SIGKILL, [""]), ("exec", 1, ["", "exit"]), ("fork", 1, ["exit"]),
                                  ("child", 1, ["exit"]), ("callback", 5, ["exit"])):
            with self.subTest(how=how):
                done = subprocess.run([MILLRACE, "check", "--format", "json", "--", ENDS, how], capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                report = json.loads(done.stdout)
                self.assertEqual(sorted(process["end"] for process in report["processes"]), ends)
                self.assertEqual([finding["kind"] for finding in report["findings"]], ["race"])

    def test_full_disk(self):
        """The program runs to its end, the log has what was found, and the command says that it is missing in the report."""
        for trap, status in (("trap '' XFSZ", "0"), (":", str(128 + signal.SIGXFSZ))):
            with self.subTest(trap=trap), tempfile.TemporaryDirectory() as room:
                script = f"({trap}; ulimit -f 1; exec '{ENDS}' exit); echo ended with $?"
                done = subprocess.run([MILLRACE, "check", "--", "sh", "-c", script], env={**os.environ, "TMPDIR": room}, capture_output=True, text=True, timeout=120)
                self.assertEqual((done.returncode, done.stdout), (125, f"ended with {status}\n"), done.stderr)
                self.assertIn("1 of the processes could not be observed, or could not leave all that was found", done.stderr)
                if status == "0":
                    self.assertIn("what the tool race has found could not be written to the folder", done.stderr)
                    self.assertIn("File too large", done.stderr)
                    told = [line for line in done.stderr.splitlines() if "which could not be left for the report" in line]
                    self.assertEqual(len(told), 1, done.stderr)
                    self.assertRegex(told[0], r"error: race, which .*: \w.* (writes|reads).* \(cu\w+, call \d+\) at \w+\+0x[0-9a-f]+.*; .* \(cu\w+, call \d+\) at .*; missing: stream")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
