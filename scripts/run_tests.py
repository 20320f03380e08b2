# SPDX-License-Identifier: Apache-2.0
"""make test: runs Meson's tests with a progress line, shows what failed, and closes with "N passed, N failed, N
skipped".

Usage: run_tests.py BUILD [--needed] [meson test's own arguments]. cmocka programs are counted test by test, from
their closing lines; any other program counts as one. --needed first builds what the suites named by --suite need, and
no more.
"""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import threading

PASSED = re.compile(r"\[\s*PASSED\s*\]\s+(\d+) test")
FAILED = re.compile(r"\[\s*FAILED\s*\]\s+(?:\w+: )?(\d+) test")
SKIPPED = re.compile(r"\[\s*SKIPPED\s*\]\s+(?:\w+: )?(\d+) test")
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)


def last_number(pattern: re.Pattern, text: str) -> int:
    return sum(int(number) for number in pattern.findall(text))


def count(test: dict) -> tuple[int, int, int]:
    """Passed, failed and skipped tests of one program."""
    text = test.get("stdout", "") + test.get("stderr", "")
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    if test["result"] == "SKIP":
        return 0, 0, 1
    closing = CLOSING.findall(text)
    if closing:
        passed, failed, skipped = (int(number or 0) for number in closing[-1])
    else:
        passed, failed, skipped = (last_number(pattern, text) for pattern in (PASSED, FAILED, SKIPPED))
    if passed + failed + skipped == 0:
        return (1, 0, 0) if good else (0, 1, 0)
    if not good and failed == 0:
        failed = 1
    return passed, failed, skipped


def copy(source: int, to: int, quiet: threading.Event) -> None:
    """What comes from one descriptor, to another, until its other end is closed. Nothing once `quiet` is set."""
    while True:
        try:
            data = os.read(source, 65536)
        except OSError:  # a terminal's other end
            return
        if not data:
            return
        while data and not quiet.is_set():
            data = data[os.write(to, data):]


def stop(meson: subprocess.Popen | None) -> None:
    """After Ctrl-C: Meson ends its tests, without a word, and then this process ends as one that was interrupted: `make`
    has one line for that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if meson:
        meson.terminate()
        try:
            meson.wait(20)
        except subprocess.TimeoutExpired:
            meson.kill()
    if os.isatty(1):
        os.write(1, b"\r\x1b[K")  # in the place of the progress line
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


def wait(meson: subprocess.Popen) -> int:
    """Meson's status. Python sees a Ctrl-C that comes just before a wait when that wait ends, so none is long."""
    while True:
        try:
            return meson.wait(1)
        except subprocess.TimeoutExpired:
            pass


def run(words: list) -> int:
    """Runs Meson with its output passed on."""
    quiet, meson = threading.Event(), None
    ours, theirs = pty.openpty() if os.isatty(1) else os.pipe()
    try:
        meson = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        reader = threading.Thread(target=copy, args=(ours, 1, quiet), daemon=True)
        reader.start()
        status = wait(meson)
        reader.join()
    except KeyboardInterrupt:
        quiet.set()
        stop(meson)
        raise
    return status


def introspect(build: pathlib.Path, what: str) -> list:
    return json.loads(subprocess.run(["meson", "introspect", build, what], stdout=subprocess.PIPE, check=True).stdout)


def build_needed(build: pathlib.Path, suites: set) -> int:
    """Builds the targets that the tests of these suites name."""
    tests = [test for test in introspect(build, "--tests") if suites & {suite.rpartition(":")[2] for suite in test["suite"]}]
    needed = {identity for test in tests for identity in test["depends"]}
    files = {os.path.relpath(file, build) for target in introspect(build, "--targets") if target["id"] in needed
             for file in target["filename"]}
    return subprocess.run(["ninja", "-C", build, "--quiet", *sorted(files)]).returncode


def main() -> int:
    build, words = pathlib.Path(sys.argv[1]), sys.argv[2:]
    if "--needed" in words:
        words.remove("--needed")
        status = build_needed(build, {suite for word, suite in zip(words, words[1:]) if word == "--suite"})
        if status:
            return status
    status = run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", *words])
    totals = [0, 0, 0]
    log = build / "meson-logs" / "testlog.json"
    for line in log.read_text(errors="replace").splitlines():
        for index, number in enumerate(count(json.loads(line))):
            totals[index] += number
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if status or totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
