# SPDX-License-Identifier: Apache-2.0
"""Joins the kernels of PTX files into one module of at least 1,000 lines of instructions: thousand_lines.py OUT IN...

Kernels are taken whole and in order; when there are no more, they are taken from the first one on again, under a name
with a number behind. What precedes the first kernel is that of the first file.
"""
import pathlib
import re
import sys

LINES = 1000
ENTRY = re.compile(r"^\.visible \.entry (\w+)\(.*?^\}\n", re.MULTILINE | re.DOTALL)


def instructions(text: str) -> int:
    """Lines with an instruction; directives, labels and comments are none."""
    return len(re.findall(r"^\s*(?:@!?%\w+\s+)?[a-z][\w.:]*(?:\s[^;\n]*)?;", text, re.MULTILINE))


def join(texts: list[str]) -> str:
    kernels = [(found.group(1), found.group(0)) for text in texts for found in ENTRY.finditer(text)]
    joined, turn = texts[0][: ENTRY.search(texts[0]).start()], 1
    while True:
        for name, kernel in kernels:
            if instructions(joined) >= LINES:
                return joined
            joined += kernel if turn == 1 else re.sub(rf"\b{name}(?=\(|_param_)", f"{name}_{turn}", kernel)
        turn += 1


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(join([pathlib.Path(path).read_text() for path in sys.argv[2:]]))
