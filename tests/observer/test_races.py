# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/races, compiled by millrace cc: each mended twin is right; the program that lacks an order
ends, right or wrong.

test_races.py MILLRACE SOURCES [PROGRAM...]: two at a time.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

MILLRACE, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
NAMES = sys.argv[3:] or sorted(path.stem for path in SOURCES.glob("*.cu"))
ENVIRONMENT = {**os.environ, "MILLRACE_DEVICES": "2"} # two_devices needs them


def run(*command):
    return subprocess.run([str(word) for word in command], env=ENVIRONMENT, capture_output=True, text=True, timeout=240)


def problems(name, folder):
    program = folder / name
    made = run(MILLRACE, "cc", "-g", "-o", program, SOURCES / f"{name}.cu", "-lcuda")
    if made.returncode:
        return [f"{name} can't be compiled:\n{made.stderr}"]
    found = []
    for twin, may in (("mended", {0}), ("", {0, 1})):
        done = run(MILLRACE, "run", "--", program, *twin.split())
        verdict = f"{name}: {'wrong' if done.returncode else 'right'}"
        if done.returncode not in may or not done.stdout.startswith(verdict) or done.stdout.count("\n") != 1:
            found.append(f"{name} {twin}: ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return found


with tempfile.TemporaryDirectory() as room, concurrent.futures.ThreadPoolExecutor(2) as pool:
    bad = [text for texts in pool.map(lambda name: problems(name, pathlib.Path(room)), NAMES) for text in texts]
print("\n".join(bad) or f"{len(NAMES)} programs and their twins")
sys.exit(bool(bad) or not NAMES)
