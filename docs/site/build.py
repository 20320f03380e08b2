#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make docs: the documentation as a site.

    build.py BUILD_FOLDER OUTPUT_FOLDER

gather.py collects the pages, Sphinx makes HTML of them, and then each link of the result is looked at: it must lead to
a file of the site, and its fragment to something that has this name there. What style sheets import counts as well. A warning of Sphinx's is an error. The
output depends on the sources alone, so two runs give the same bits. It needs no server and nothing from the network.
"""
import html.parser
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

import gather


NEEDED = {"python3-sphinx": "sphinx", "python3-myst-parser": "myst_parser", "furo": "furo"}


# Debian's furo leaves this sheet to a package of its own, and asks a server for it. The site takes it along.
SERVERS_SHEET, SHEET = "/javascript/normalize.css/normalize.css", pathlib.Path("/usr/share/javascript/normalize.css/normalize.css")


class Page(html.parser.HTMLParser):
    """A page's links, and the names that links can lead to."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.names.add(value)
            elif name in ("href", "src") and value is not None:
                self.links.append(value)


def wrong_links(site: pathlib.Path) -> tuple[int, list[str]]:
    """How many links between pages there are, and those that lead nowhere."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    count, wrong = 0, []
    for path in sorted(site.rglob("*.css")):
        for link in re.findall(r"url\(\s*[\"']?([^\"')]+)", path.read_text()):
            if urllib.parse.urlsplit(link).scheme or link.startswith("#"):
                continue
            count += 1
            if link.startswith("/") or not (path.parent / urllib.parse.urlsplit(link).path).is_file():
                wrong.append(f"{path.relative_to(site)}: no file {link}")
    for path, page in pages.items():
        for link in page.links:
            scheme, _, to, _, fragment = urllib.parse.urlsplit(link)
            if scheme:
                continue
            count += 1
            target = (path.parent / urllib.parse.unquote(to)).resolve() if to else path
            if not target.is_file():
                wrong.append(f"{path.relative_to(site)}: no file {link}")
            elif fragment and target in pages and urllib.parse.unquote(fragment) not in pages[target].names:
                wrong.append(f"{path.relative_to(site)}: nothing is called {link}")
    return count, wrong


def take_sheet(site: pathlib.Path) -> None:
    """Has the theme import its sheet of common defaults from beside it."""
    for path in sorted((site / "_static/styles").glob("*.css")):
        text = path.read_text()
        if SERVERS_SHEET in text and SHEET.is_file():
            shutil.copyfile(SHEET, path.parent / SHEET.name)
            path.write_text(text.replace(SERVERS_SHEET, SHEET.name))


def main() -> None:
    build, output = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    missing = [package for package, module in NEEDED.items() if not importlib.util.find_spec(module)]
    system = "/usr/bin/python3"  # Debian's packages are for this one, which need not be first on PATH
    if missing and os.path.realpath(sys.executable) != os.path.realpath(system) and os.path.exists(system):
        os.execv(system, [system, *sys.argv])
    if missing:
        sys.exit(f"docs: {sys.executable} finds no {', '.join(missing)} (Debian's packages have these names)")
    with tempfile.TemporaryDirectory() as temporary:
        sources, result = pathlib.Path(temporary) / "sources", pathlib.Path(temporary) / "html"
        sources.mkdir()
        try:
            gather.gather(build, sources)
        except gather.Wrong as what:
            sys.exit(f"docs: {what}")
        done = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", pathlib.Path(temporary) / "trees", sources, result],
                              env={**os.environ, "LC_ALL": "C.UTF-8"}, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}{done.stderr.replace(str(sources), '')}\ndocs: Sphinx has warnings")
        for name in (".buildinfo", "objects.inv", "_static/scripts/gumshoe-patched.js"):
            (result / name).unlink(missing_ok=True)
        take_sheet(result)
        count, wrong = wrong_links(result)
        if wrong:
            sys.exit("\n".join([*wrong, f"docs: {len(wrong)} of {count} links lead nowhere"]))
        shutil.rmtree(output, ignore_errors=True)
        output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(result, output)
    print(f"docs: {len(list(output.rglob('*.html')))} pages, {count} links, all lead somewhere: {output}/index.html")


if __name__ == "__main__":
    main()
