# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/races, compiled by millrace cc --check and run by millrace check: it finds something in each
program that lacks an order, and nothing in its mended twin, which is right.

test_races.py MILLRACE SOURCES [PROGRAM...]: two at a time.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MILLRACE, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
NAMES = sys.argv[3:] or sorted(path.stem for path in SOURCES.glob("*.cu"))
TITLES = {"missing_wait": "kernel 'add(int*, int const*, int)' reads what kernel 'set(int*, int)' writes, and nothing orders them",
          "pinned_read_early": "the host's code reads what the copy by cuMemcpyDtoHAsync writes, and nothing orders them"}
ENVIRONMENT = {**os.environ, "MILLRACE_DEVICES": "2"} # two_devices needs them


def run(*command):
    return subprocess.run([str(word) for word in command], env=ENVIRONMENT, capture_output=True, text=True, timeout=240)


def problems(name, folder):
    program, report = folder / name, folder / f"{name}.json"
    made = run(MILLRACE, "cc", "--check", "-g", "-lineinfo", "-o", program, SOURCES / f"{name}.cu", "-lcuda")
    if made.returncode:
        return [f"{name} can't be compiled:\n{made.stderr}"]
    found = []
    for twin in ("mended", ""):
        done = run(MILLRACE, "check", "--error-exitcode", "9", "--format", "json", "-o", report, "--", program, *twin.split())
        findings = json.loads(report.read_text())["findings"]
        kinds = [finding["kind"] for finding in findings]
        titles = [finding["title"] for finding in findings]
        places = {side["file"] for finding in findings for side in finding["sides"] if "file" in side}
        elsewhere = [place for place in places if pathlib.Path(place).resolve().parent != SOURCES.resolve()]
        right = done.stdout == f"{name}: right\n"
        wrong = not twin and done.stdout.startswith(f"{name}: wrong: ") and done.stdout.count("\n") == 1
        status = 1 if wrong else 9 if kinds else 0
        if (
            not (right or wrong)
            or done.returncode != status
            or bool(kinds) == bool(twin)
            or (not twin and TITLES.get(name, titles[0]) not in titles)
            or elsewhere # as in a header of the compiler's
        ):
            found.append(f"{name} {twin}: ended with {done.returncode}, found {kinds} {titles} at {places}:\n{done.stdout}{done.stderr}")
    return found


with tempfile.TemporaryDirectory() as room, concurrent.futures.ThreadPoolExecutor(2) as pool:
    bad = [text for texts in pool.map(lambda name: problems(name, pathlib.Path(room)), NAMES) for text in texts]
print("\n".join(bad) or f"{len(NAMES)} programs and their twins")
sys.exit(bool(bad) or not NAMES)
