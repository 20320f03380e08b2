#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of instructions in docs/ptx.md, made from src/ptx/ptx_ops.def.

    ptx_page.py --check    fails if the page differs from the table
    ptx_page.py --write    brings the page up to date

What stands between the page's two marks is replaced, the rest is left alone.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPS = ROOT / "src/ptx/ptx_ops.def"
PAGE = ROOT / "docs/ptx.md"
BEGIN, END = "<!-- instructions: from ptx_ops.def -->\n", "<!-- end of instructions -->\n"


def read_ops(text):
    """[(group, [names])] in the table's order, and the names without a row."""
    groups, known = [], []
    rows = re.compile(r'^/\* ([A-Z][A-Za-z -]+) \*/$|^PTX_OP\((\w+), "([\w.]+)",.*?, \d+, \d+, [A-Z]+\)$|^PTX_KNOWN\("(\w+)"\)$',
                      re.MULTILINE | re.DOTALL)
    for row in rows.finditer(text):
        title, _, name, bare = row.groups()
        if title:
            groups.append((title, []))
        elif name:
            groups[-1][1].append(name)
        elif bare:
            known.append(bare)
    return groups, known


def cell(names):
    return ", ".join(f"`{name}`" for name in names) or "none"


def table(text):
    groups, known = read_ops(text)
    if len(re.findall(r"^PTX_OP\(", text, re.MULTILINE)) != sum(len(names) for _, names in groups):
        sys.exit(f"{OPS}: a row was not understood")
    lines = ["| group | instructions |", "| --- | --- |"]
    lines += [f"| {title} | {cell(names)} |" for title, names in groups]
    lines.append(f"| Refused by name | {cell(known)} |")
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] not in (["--check"], ["--write"]):
        sys.exit(__doc__)
    page = PAGE.read_text(encoding="utf-8")
    before, found, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        sys.exit(f"{PAGE}: the marks around the table are missing")
    wanted = before + BEGIN + "\n" + table(OPS.read_text(encoding="utf-8")) + "\n" + END + after
    if sys.argv[1] == "--write":
        PAGE.write_text(wanted, encoding="utf-8")
    elif page != wanted:
        sys.exit("docs/ptx.md differs from src/ptx/ptx_ops.def: run scripts/ptx_page.py --write")


if __name__ == "__main__":
    main()
