# SPDX-License-Identifier: Apache-2.0
"""Compares every #include "..." in src/ with docs/layers.txt, and sizes of files and functions with the project's limits."""
import pathlib
import re
import sys

ALWAYS = {"base", "observe"}
GENERATED = {"api_impl.h", "error_table.inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
LIMITS = {".c": 1000, ".h": 300, ".S": 300}
FUNCTION_LIMIT = 80


def read_table(path: pathlib.Path) -> dict[str, set[str]]:
    table = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            layer, _, known = line.partition(":")
            table[layer.strip()] = set(known.split())
    return table


def functions(lines: list[str]) -> list[tuple[str, int]]:
    """Head and length of each function: what stands in column 0 around a brace in column 0."""
    found, begin = [], 0
    for number, line in enumerate(lines):
        if line == "{":
            begin = number
            while begin > 0 and lines[begin - 1][:1] not in ("", "}", "#", "/") and not lines[begin - 1].endswith(("*/", ";")):
                begin -= 1
        elif line == "}" and begin:
            found.append((lines[begin], number - begin + 1))
            begin = 0
    return found


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    table = read_table(root / "docs" / "layers.txt")
    problems = []
    files = sorted((root / "src").rglob("*.[chS]"))
    for file in files:
        layer = file.relative_to(root / "src").parts[0]
        name = file.relative_to(root)
        text = file.read_text()
        if layer not in table:
            problems.append(f"{name}: the layer '{layer}' is not in docs/layers.txt")
            continue
        for included in INCLUDE.findall(text):
            other = included.split("/")[0] if "/" in included else layer
            if included in GENERATED and layer == "api":
                continue
            if other != layer and other not in table[layer] | ALWAYS:
                problems.append(f"{name}: {layer} may not include {included}")
    for folder in ("src", "tools", "examples", "tests", "bench"):
        for file in sorted((root / folder).rglob("*.[chS]")):
            lines = file.read_text().splitlines()
            if len(lines) > LIMITS[file.suffix]:
                problems.append(f"{file.relative_to(root)}: {len(lines)} lines, the limit is {LIMITS[file.suffix]}")
            for head, length in functions(lines):
                if length > FUNCTION_LIMIT:
                    problems.append(f"{file.relative_to(root)}: {length} lines in {head}, the limit is {FUNCTION_LIMIT}")
    for problem in problems:
        print(problem)
    print(f"layers: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
