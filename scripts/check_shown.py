#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every file, test and conformance case that docs/what-shows-it.md names is there.

In that page's code spans: `family.case` (with *) is a recorded case, or, without its family, one of the family named
last; `FILE: test` is a test in a file; a path or a file's name is a file; a name that begins with test_ is a test in
the file named last.
"""
import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "what-shows-it.md"
GOLDEN = ("nvidia-h200-580.txt", "nvidia-h200-x2-580.txt")
FOLDERS = ("tests", "bench", "clients", "examples", "scripts", "src/event")


def recorded() -> set[str]:
    return {line.split(":")[0] for name in GOLDEN for line in (ROOT / "tests/golden" / name).read_text().splitlines() if not line.startswith("#")}


def named_files() -> dict[str, list[pathlib.Path]]:
    found: dict[str, list[pathlib.Path]] = {}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            found.setdefault(path.name, []).append(path)
    return found


class Page:
    def __init__(self) -> None:
        self.cases, self.files = recorded(), named_files()
        self.family, self.file, self.wrong = "", "", []

    def check_file(self, name: str) -> None:
        matches = [
            path
            for base, paths in self.files.items()
            if fnmatch.fnmatch(base, pathlib.PurePath(name).name)
            for path in paths
        ]
        if not any(fnmatch.fnmatch(str(path), f"*/{name}") for path in matches):
            self.wrong.append(f"no file {name}")
        self.file = pathlib.PurePath(name).name

    def check_test(self, name: str) -> None:
        if not any(re.search(rf"\b{name}\b", path.read_text()) for base, paths in self.files.items() if fnmatch.fnmatch(base, self.file) for path in paths):
            self.wrong.append(f"no test {name} in {self.file}")

    def check_case(self, family: str, case: str) -> None:
        self.family = family or self.family
        if not fnmatch.filter(self.cases, f"{self.family}.{case}"):
            self.wrong.append(f"no case {self.family}.{case}")

    def check(self, span: str) -> None:
        if match := re.fullmatch(r"(\S+\.(?:cu|c|h|py)): (\w+)", span):
            self.check_file(match[1])
            self.check_test(match[2])
        elif re.fullmatch(r"[\w/*]+\.(cu|c|h|py|sh|def)", span) or (re.fullmatch(r"(tests|bench|clients|examples|scripts)/[\w/]+", span)):
            self.check_file(span)
        elif re.fullmatch(r"test_\w+", span):
            self.check_test(span)
        elif match := re.fullmatch(r"([a-z_0-9]*)\.([a-z_0-9*]+)", span):
            self.check_case(match[1], match[2])


def main() -> int:
    page = Page()
    spans = re.findall(r"`([^`]+)`", PAGE.read_text())
    for span in spans:
        page.check(span)
    for line in page.wrong:
        print(f"{PAGE.relative_to(ROOT)}: {line}")
    print(f"what shows it: {len(spans)} names, {len(page.wrong)} problems")
    return bool(page.wrong)


if __name__ == "__main__":
    sys.exit(main())
