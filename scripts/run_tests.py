# SPDX-License-Identifier: Apache-2.0
"""make test: runs Meson's tests with a progress line, shows what failed, and closes with "N passed, N failed, N
skipped".

Usage: run_tests.py BUILD [meson test's own arguments]. cmocka programs are counted test by test, from their closing
lines; any other program counts as one.
"""
import json
import pathlib
import re
import subprocess
import sys

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


def main() -> int:
    build = pathlib.Path(sys.argv[1])
    status = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", *sys.argv[2:]],
                            stdin=subprocess.DEVNULL, check=False).returncode
    totals = [0, 0, 0]
    log = build / "meson-logs" / "testlog.json"
    for line in log.read_text(errors="replace").splitlines():
        for index, number in enumerate(count(json.loads(line))):
            totals[index] += number
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if status or totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
