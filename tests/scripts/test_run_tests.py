# SPDX-License-Identifier: Apache-2.0
"""scripts/run_tests.py: what is counted, and what Ctrl-C does. Meson is a stand-in. Usage: test_run_tests.py SCRIPT"""
import fcntl
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import termios
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
PASSES = """#!/bin/sh
echo "a line of meson's"
mkdir -p build/meson-logs
printf '%s\\n' '{"result": "OK", "stdout": "3 passed, 0 failed, 1 skipped"}' '{"result": "OK", "stdout": ""}' '{"result": "SKIP"}' >build/meson-logs/testlog.json
"""
# Says when it runs, and waits for its end; then it says something that nobody wants to read.
WAITS = """#!/bin/sh
trap 'echo many words; exit 1' TERM INT
sleep 1000 &
echo $! >child
echo begun
wait
"""
MAKEFILE = f"test:\n\t@{sys.executable} {SCRIPT} build\n"


class RunTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.env = {**os.environ, "PATH": f"{self.path}:{os.environ['PATH']}", "LC_ALL": "C"}
        for name in ("MAKELEVEL", "MAKEFLAGS"):
            self.env.pop(name, None)
        (self.path / "Makefile").write_text(MAKEFILE)

    def meson(self, text):
        (self.path / "meson").write_text(text)
        (self.path / "meson").chmod(0o755)

    def test_counts(self):
        self.meson(PASSES)
        done = subprocess.run([sys.executable, SCRIPT, "build"], cwd=self.path, env=self.env, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.stdout, done.returncode), ("a line of meson's\n4 passed, 0 failed, 2 skipped\n", 0), done.stderr)

    def interrupt(self, *command):
        """What is on the terminal once Ctrl-C was pressed in it, and how the command ended."""
        self.meson(WAITS)
        ours, theirs = pty.openpty()
        own = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "start_new_session": True}
        with subprocess.Popen(command, cwd=self.path, env=self.env, **own,
                              preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as running:
            os.close(theirs)
            said = b""
            while b"begun" not in said:
                said += os.read(ours, 4096)
            os.write(ours, b"\x03")
            said = b""
            while True:
                try:
                    part = os.read(ours, 4096)
                except OSError:
                    break
                if not part:
                    break
                said += part
            status = running.wait(60)
        os.close(ours)
        self.addCleanup(lambda: os.kill(int((self.path / "child").read_text()), signal.SIGKILL))
        return said.decode().replace("^C", "").replace("\x1b[K", "").replace("\r", "").strip(), status

    def test_ctrl_c(self):
        said, status = self.interrupt(sys.executable, str(SCRIPT), "build")
        self.assertEqual((said, status), ("", -signal.SIGINT))

    def test_ctrl_c_in_make(self):
        said, status = self.interrupt("make", "test")
        self.assertRegex(said, r"^make: \*\*\* \[Makefile:2: test\] Interrupt$")
        self.assertEqual(status, -signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
