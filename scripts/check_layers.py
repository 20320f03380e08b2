# SPDX-License-Identifier: Apache-2.0
"""Compares every #include "..." in src/ with docs/layers.txt, and sizes of files with the project's limits."""
import pathlib
import re
import sys

ALWAYS = {"base", "observe"}
GENERATED = {"api_impl.h", "error_table.inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
LIMITS = {".c": 1000, ".h": 300, ".S": 300}


def read_table(path: pathlib.Path) -> dict[str, set[str]]:
    table = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            layer, _, known = line.partition(":")
            table[layer.strip()] = set(known.split())
    return table


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
            lines = len(file.read_text().splitlines())
            if lines > LIMITS[file.suffix]:
                problems.append(f"{file.relative_to(root)}: {lines} lines, the limit is {LIMITS[file.suffix]}")
    for problem in problems:
        print(problem)
    print(f"layers: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
