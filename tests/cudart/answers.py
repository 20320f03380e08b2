#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `answers` prints here with what it printed on hardware.

    answers.py PROGRAM RECORDING KNOWN

RECORDING is the program's output on NVIDIA's runtime, made by on_hardware.sh. KNOWN lists differences that are meant: a line of the recording, or of ours,
with a reason above it. Without a recording the test is skipped (77), but the program still has to run through.
"""

import difflib
import subprocess
import sys
from pathlib import Path

SKIP = 77


def lines_of(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def main(argv):
    program, recording, known = argv[1], Path(argv[2]), Path(argv[3])
    ours = subprocess.run([program], check=True, text=True, capture_output=True).stdout.splitlines()
    broken = [line for line in ours if line.startswith("== ") and " ended with " in line]
    if broken or len(ours) < 300:
        print("\n".join(broken) or f"only {len(ours)} lines")
        return 1
    if not recording.exists():
        print("nothing was recorded on hardware yet")
        return SKIP
    allowed = set(lines_of(known)) if known.exists() else set()
    differences = [line for line in difflib.unified_diff(lines_of(recording), ours, "hardware", "here", lineterm="", n=0)
                   if line[:1] in "+-" and line[:3] not in ("+++", "---") and line[1:] not in allowed]
    print("\n".join(differences))
    print(f"{len(ours)} answers compared")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
