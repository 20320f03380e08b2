#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that lines of C files and of pages end at 120 columns. Longer may be: a line with a text in quotes, which is found by searching
for it and therefore not broken; what stands between `clang-format off` and `clang-format on`; and a page's tables and code."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 120
C_FOLDERS = ("src", "tools", "tests", "bench", "examples")


def files() -> list[pathlib.Path]:
    patterns = [f"{folder}/*.[ch]" for folder in C_FOLDERS] + ["*.md"]
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split() if (ROOT / name).exists()]


def too_long(path: pathlib.Path) -> list[int]:
    found, on = [], True
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if "clang-format o" in line:
            on = "clang-format on" in line
        exempt = line.startswith(("|", "    ")) if path.suffix == ".md" else '"' in line
        if len(line) > WIDTH and on and not exempt:
            found.append(number)
    return found


def main() -> int:
    problems = [f"{path.relative_to(ROOT)}:{number}: more than {WIDTH} columns" for path in files() for number in too_long(path)]
    for problem in problems:
        print(problem)
    print(f"lines: {len(files())} files, {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
