#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the project's pages: links between them lead to files and headings that exist, files that
they name exist, docs/README.md lists every page, and what a page shows of a file (`sed -n FROM,TOp FILE`) is what
stands there."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def pages() -> list[pathlib.Path]:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in sorted(listed.split()) if (ROOT / name).exists()]


def anchors(page: pathlib.Path) -> set[str]:
    """The names by which links reach a page's headings."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def wrong_links(page: pathlib.Path) -> list[str]:
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith(("http:", "https:")):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            wrong.append(f"no file {target}")
        elif anchor and anchor not in anchors(path):
            wrong.append(f"no heading {target}")
    return wrong


def wrong_paths(page: pathlib.Path) -> list[str]:
    """Code spans that name a file or a folder of the sources: src/stream/, src/event/mark.h, src/ptx/verify*.c."""
    named = re.findall(r"`((?:src|tools|gen|spec|scripts|bench|clients|examples|tests|device|docs|lib|bin)/[\w./*-]+)`", page.read_text())
    return [f"no file {name}" for name in named if not any(ROOT.glob(name.rstrip("/")))]


def wrong_excerpts(page: pathlib.Path) -> list[str]:
    """`    $ sed -n FROM,TOp FILE` is followed by these lines of the file."""
    wrong, lines = [], page.read_text().splitlines()
    for number, line in enumerate(lines):
        if match := re.fullmatch(r"    \$ sed -n (\d+),(\d+)p (\S+)", line):
            begin, end = int(match[1]) - 1, int(match[2])
            expected = (ROOT / match[3]).read_text().splitlines()[begin:end]
            if [text[4:] for text in lines[number + 1:number + 1 + end - begin]] != expected:
                wrong.append(f"line {number + 1}: {match[3]} has other lines there")
    return wrong


def main() -> int:
    index = ROOT / "docs" / "README.md"
    listed = set(re.findall(r"\]\(([\w./-]+)\)", index.read_text()))
    problems = [f"docs/README.md does not list {page.name}" for page in pages()
                if page.parent == index.parent and page != index and page.name not in listed]
    for page in pages():
        problems += [f"{page.relative_to(ROOT)}: {what}" for what in wrong_links(page) + wrong_paths(page) + wrong_excerpts(page)]
    for problem in problems:
        print(problem)
    print(f"pages: {len(pages())} files, {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
