# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/races, compiled by millrace cc --check: millrace check --witnesses leaves witnesses of what
it finds, and millrace replay shows with one of them, each time, that the program is right in its own order and wrong in
the other.

test_witnesses.py MILLRACE SOURCES [--times N] [PROGRAM...]: two at a time, each replayed N times.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MILLRACE, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
WORDS = sys.argv[3:]
TIMES = int(WORDS[1]) if WORDS[:1] == ["--times"] else 2
NAMES = WORDS[2 if WORDS[:1] == ["--times"] else 0:] or sorted(path.stem for path in SOURCES.glob("*.cu"))
# Arrays have no address at which their bytes could be read.
WITHOUT_BYTES = {"texture_update"}
# Of several pairs that make the result wrong, some have the same bytes in both orders: what is forced lets another pair
# race.
SAME_BYTES = {"two_graphs"}
ENVIRONMENT = {**os.environ, "MILLRACE_DEVICES": "2"} # two_devices needs them


def run(*command):
    return subprocess.run([str(word) for word in command], env=ENVIRONMENT, capture_output=True, text=True, timeout=240)


def is_shown(name, replay):
    """Is the result right in the program's order and wrong in the other, with bytes that differ?"""
    halves = re.fullmatch(r"Earlier: .*\nLater: .*\nIn the program's order: exit status 0\n(.*)"
                          r"Forced, the (?:later one first|(?:later|earlier) one as late as can be): exit status 1\n(.*?)"
                          r"(What is there .*|The bytes are not known.*)", replay.stdout, re.DOTALL)
    differ = "The bytes are not known" if name in WITHOUT_BYTES else " in both orders| bytes differ" if name in SAME_BYTES else " bytes differ"
    return (replay.returncode == 1 and halves and f"{name}: right" in halves[1] and f"{name}: wrong: " in halves[2] and re.search(differ, halves[3])
            and "The program ends otherwise" in halves[3])


def problems(name, folder):
    program, witnesses = folder / name, folder / f"{name}.witnesses"
    made = run(MILLRACE, "cc", "--check", "-g", "-lineinfo", "-o", program, SOURCES / f"{name}.cu", "-lcuda")
    if made.returncode:
        return [f"{name} can't be compiled:\n{made.stderr}"]
    check = run(MILLRACE, "check", "--error-exitcode", "9", "--witnesses", witnesses, "--", program)
    files = sorted(witnesses.glob("race-*.json"))
    if not files or "no witness" in check.stderr:
        return [f"{name}: not each finding has a witness: {check.stdout}{check.stderr}"]
    found = []
    for _ in range(TIMES):
        replays = [run(MILLRACE, "replay", file, "--", program) for file in files]
        if not all(is_shown(name, replay) for replay in replays):
            found.append(f"{name}: not shown:\n" + "\n".join(f"{replay.returncode}\n{replay.stdout}{replay.stderr}" for replay in replays))
    return found


with tempfile.TemporaryDirectory() as room, concurrent.futures.ThreadPoolExecutor(2) as pool:
    bad = [text for texts in pool.map(lambda name: problems(name, pathlib.Path(room)), NAMES) for text in texts]
print("\n".join(bad) or f"{len(NAMES)} programs, each replayed {TIMES} times")
sys.exit(bool(bad) or not NAMES)
