#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that lines of sources and of pages end at 120 columns. Longer may be: a line with a text in quotes, which is
found by searching for it and therefore not broken; a text of several lines in Python, except for what says what
something is; what stands between `clang-format off` and `clang-format on`; and a page's tables and code."""
import ast
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 120
C_FOLDERS = ("src", "tools", "tests", "bench", "examples")


def files() -> list[pathlib.Path]:
    patterns = [f"{folder}/*.[ch]" for folder in C_FOLDERS] + ["*.md", "*.py", "*meson.build"]
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split() if (ROOT / name).exists()]


def texts(source: str) -> set[int]:
    """The lines of texts in a Python source that are longer than one line, except for those that document it."""
    tree = ast.parse(source)
    documentation = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    lines = set()
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str | bytes)
        if is_text and isinstance(node, ast.expr) and node not in documentation:
            lines |= set(range(node.lineno, node.end_lineno + 1)) if node.end_lineno > node.lineno else set()
    return lines


def is_exempt(path: pathlib.Path, line: str) -> bool:
    if path.suffix == ".md":
        return line.startswith(("|", "    "))
    return '"' in line or ("'" in line and path.suffix not in (".c", ".h") and not line.lstrip().startswith("#"))


def too_long(path: pathlib.Path) -> list[int]:
    found, on, source = [], True, path.read_text()
    exempt = texts(source) if path.suffix == ".py" else set()
    for number, line in enumerate(source.splitlines(), 1):
        if "clang-format o" in line:
            on = "clang-format on" in line
        if len(line) > WIDTH and on and number not in exempt and not is_exempt(path, line):
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
