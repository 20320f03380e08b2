# SPDX-License-Identifier: Apache-2.0
"""Gathers the pages of the site in one folder, as Sphinx wants them.

The Markdown pages of the project are the source. docs/README.md is the index: each of its sections is a part of the
site, and the pages that its table lists are that part, in that order. The build adds lists of functions
(build/docs/*.md) and what the programs print for --help. Every file that a page links to comes along, a source as a
page that shows it. So each link leads to a page of the site; one that leads nowhere ends the run.

A *place* is a page's name in the site, without suffix: "installing", "commands/millrace-run".
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "share"))
import pages as help_pages  # noqa: E402  (share/pages.py)

LANGUAGES = {".c": "c", ".h": "c", ".cu": "cuda", ".py": "python", ".sh": "sh"}
# What stands at the site's top under another name than the file's.
TOP = {"README.md": "index", "docs/README.md": "pages", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog",
       "SECURITY.md": "security"}
CODE_OR_LINK = re.compile(r"(?P<code>`+[^`]*`+)|\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


class Wrong(Exception):
    """A link that leads nowhere, or a page that no part lists."""


def place_of(name: str) -> str:
    """The place of a file of the project."""
    if name in TOP:
        return TOP[name]
    path = pathlib.PurePosixPath(name)
    if path.suffix != ".md":
        return f"files/{name}"
    return path.stem if str(path.parent) == "docs" else str(path.with_suffix(""))


def title_of(text: str) -> str:
    """The first heading, up to a colon, for the list beside each page and for links."""
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1].partition(":")[0].strip() if found else ""


def blocks(text: str) -> list[tuple[bool, str]]:
    """The text in pieces: (is it code, lines)."""
    pieces: list[tuple[bool, list[str]]] = []
    fenced = False
    blank, in_list = True, False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        if line and not line.startswith(" ") and not fenced:
            in_list = bool(re.match(r"[-*] |\d+\. ", line))
        indented = line.startswith("    ") and not in_list and (blank or bool(pieces and pieces[-1][0]))
        code = fenced or fence or indented
        fenced ^= fence
        if not pieces or pieces[-1][0] != code:
            pieces.append((code, []))
        pieces[-1][1].append(line)
        blank = not line.strip()
    return [(code, "\n".join(lines)) for code, lines in pieces]


def relative(origin: str, place: str) -> str:
    """The link from one place to another."""
    up = "../" * origin.count("/")
    return f"{up}{place}.md"


class Site:
    def __init__(self, build: pathlib.Path, output: pathlib.Path, root: pathlib.Path = ROOT) -> None:
        self.build, self.output, self.root = build, output, root
        self.texts: dict[str, str] = {}        # by place: what is written
        self.waiting: list[str] = []           # files of the project that pages link to
        self.titles: dict[str, str] = {}       # by place

    # -- pages ---------------------------------------------------------------------------------------------------

    def read(self, name: str) -> str:
        return re.sub(r"\A(<!--.*?-->\n)+", "", (self.root / name).read_text())

    def title(self, name: str) -> str:
        return title_of(self.read(name)) if name.endswith(".md") else name

    def add_file(self, name: str) -> None:
        place = place_of(name)
        if place in self.texts:
            return
        self.texts[place] = ""
        text = self.read(name)
        if name.endswith(".md"):
            self.titles[place] = title_of(text)
            self.texts[place] = self.linked(name, text)
        else:
            language = LANGUAGES.get(pathlib.PurePosixPath(name).suffix, "none")
            self.texts[place] = f"# {name}\n\n````{{code-block}} {language}\n{text}````\n"

    def linked(self, name: str, text: str) -> str:
        return "\n".join(piece if code else CODE_OR_LINK.sub(lambda match: self.link(name, match), piece)
                         for code, piece in blocks(text))

    def link(self, name: str, match: re.Match) -> str:
        origin = place_of(name)
        if match["code"]:
            # Lists that the build makes are pages here.
            listed = re.fullmatch(r"`build/docs/([\w-]+)\.md`", match["code"])
            if not listed:
                return match["code"]
            place = f"coverage/{listed[1]}"
            if place not in self.titles:
                raise Wrong(f"{name}: the build makes no {match['code']}")
            return f"[{self.titles[place]}]({relative(origin, place)})"
        target, text = match["target"], match["text"]
        if re.match(r"[a-z]+:", target):
            return match[0]
        file, _, anchor = target.partition("#")
        if not file:
            return match[0]
        path = (self.root / name).parent.joinpath(file).resolve()
        if not path.is_file() or not path.is_relative_to(self.root):
            raise Wrong(f"{name}: no file {target}")
        to = str(path.relative_to(self.root))
        self.waiting.append(to)
        # "[debugging.md](debugging.md)": a reader of the site knows titles, not names of files.
        if text in (file, target, path.name):
            text = self.title(to) or text
        return f"[{text}]({relative(origin, place_of(to))}{'#' + anchor if anchor else ''})"

    def add_coverage(self) -> list[str]:
        """The lists of functions that the build made."""
        for path in sorted((self.build / "docs").glob("*coverage.md")):
            place = f"coverage/{path.stem}"
            text = re.sub(r"<!--.*?-->\n", "", path.read_text())
            self.titles[place] = title_of(text).removeprefix("Coverage of ").removeprefix("the ")
            self.texts[place] = text
        return sorted(place for place in self.texts if place.startswith("coverage/"))

    def add_commands(self) -> list[str]:
        """What the programs print for --help: those that have a page for man."""
        places = []
        for path in sorted((self.build / "share/man/man1").glob("*.1")):
            program, _, command = path.stem.partition("-")
            words = [program, command] if program == "millrace" and command else [path.stem]
            place = f"commands/{path.stem}"
            self.titles[place] = " ".join(words)
            self.texts[place] = help_pages.markdown(str(self.build / "bin" / words[0]), *words[1:])
            places.append(place)
        return places

    # -- the index -----------------------------------------------------------------------------------------------

    def parts(self) -> list[tuple[str, list[str]]]:
        """The sections of docs/README.md: heading, and the files that its table lists."""
        found: list[tuple[str, list[str]]] = []
        for line in self.read("docs/README.md").split("\n"):
            if line.startswith("## "):
                found.append((line[3:], []))
            elif match := re.match(r"\| \[[^\]]*\]\(([^)#]+)\)", line):
                found[-1][1].append(str((self.root / "docs" / match[1]).resolve().relative_to(self.root)))
        return found

    def tree(self, places: list[str], caption: str = "", hidden: bool = True) -> str:
        lines = ["", "```{toctree}", *([":hidden:"] if hidden else []), ":maxdepth: 1", *([f":caption: {caption}"] if caption else []), ""]
        lines += [f"{self.titles[place]} <{'/' + place}>" for place in places]
        return "\n".join([*lines, "```", ""])

    def gather(self) -> None:
        coverage, commands = self.add_coverage(), self.add_commands()
        if not coverage or not commands:
            raise Wrong(f"{self.build} has no lists of functions or no man pages: build it first")
        parts = self.parts()
        listed = {name for _, names in parts for name in names}
        unlisted = {f"docs/{path.name}" for path in (self.root / "docs").glob("*.md")} - listed - {"docs/README.md"}
        if unlisted:
            raise Wrong(f"docs/README.md does not list {', '.join(sorted(unlisted))}")
        for name in ["README.md", "docs/README.md", *listed]:
            self.add_file(name)
        while self.waiting:
            self.add_file(self.waiting.pop())
        for name, places in {"docs/coverage-page.md": coverage, "docs/commands.md": commands}.items():
            self.texts[place_of(name)] += self.tree(places, hidden=False)
        index, trees = TOP["README.md"], set()
        for number, (heading, names) in enumerate(parts):
            places = [place_of(name) for name in names if place_of(name) != index]
            for place in places:
                self.titles.setdefault(place, place.removeprefix("files/"))
            self.texts[index] += self.tree([*([TOP["docs/README.md"]] if number == 0 else []), *places], heading)
            trees |= {*places}
        trees |= {index, TOP["docs/README.md"], *coverage, *commands}
        for place, text in self.texts.items():
            path = self.output / f"{place}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if place in trees else f"---\norphan: true\n---\n{text}")


def gather(build: pathlib.Path, output: pathlib.Path) -> None:
    """Writes the pages and Sphinx's settings to OUTPUT, a folder that is there and empty."""
    Site(build, output).gather()
    for source, target in {"conf.py": "conf.py", "millrace.css": "_static/millrace.css", "theme.js": "_static/scripts/furo.js"}.items():
        (output / target).parent.mkdir(parents=True, exist_ok=True)
        (output / target).write_text((HERE / source).read_text())


