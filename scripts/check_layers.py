# SPDX-License-Identifier: Apache-2.0
"""Checks that the rooms of src/ and the tools stand in layers, and that files and functions keep the project's limits of
size.

docs/layers.txt lists each room (a folder of src/, or tools/NAME) with the rooms whose headers it may include. It is an
error if

- an #include "..." is not listed there, or names no file;
- a pair is listed that no #include uses;
- a room is listed that is gone, or sources lie in no room that is listed;
- rooms are listed in a circle, or a room stands above one that it may include;
- a room of the driver may include a library that sits on it (libs/), or a room of src/ a tool.

Every room may include base, which is listed nowhere. --root names another tree.
"""
import argparse
import pathlib
import re
import sys

from circles import circles

ALWAYS = "base"
LIBRARIES = "libs/"
TOOLS = "tools/"
# Made in the build folder: the room that they belong to.
GENERATED = {
    "api_impl.h": "api", "error_table.inc": "api", "trace_calls.inc": "api", "compile/codegen_interface.h": "compile", "observe/calls.h": "observe",
    "runtime_impl.h": "libs/cudart", "runtime_errors.inc": "libs/cudart", "runtime_driver.inc": "libs/cudart",
    "redirect_names.h": "libs/redirect", "redirect_math.inc": "libs/redirect", "nvptxcompiler_static.inc": "libs/redirect",
    "cupti_impl.h": "libs/cupti", "cupti_names.inc": "libs/cupti", "curand_jumps.inc": "libs/curand", "joe_kuo.inc": "libs/curand",
}
# Made for a library of mathematics, from its tables.
MATH_GENERATED = re.compile(r"^(\w+)_impl\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
LIMITS = {".c": 1000, ".S": 300}
FUNCTION_LIMIT = 80


def read_table(path: pathlib.Path) -> dict[str, list[str]]:
    """The rooms in the order of the file, each with the rooms that it may include."""
    table = {}
    for line in path.read_text().splitlines():
        room, _, known = line.split("#")[0].partition(":")
        if room.strip():
            table[room.strip()] = known.split()
    return table


def room_of(path: str, table: dict[str, list[str]]) -> str | None:
    """The room with the longest name that holds this path (relative to src/; a tool's begins with tools/)."""
    return max((room for room in table if path.startswith(room + "/")), key=len, default=None)


def generated_room(name: str, table: dict[str, list[str]]) -> str | None:
    """The room of a header that the build makes."""
    math = MATH_GENERATED.match(name)
    room = LIBRARIES + math[1].lower() if math else None
    return GENERATED.get(name) or (room if room in table else None)


def place(root: pathlib.Path, path: str) -> pathlib.Path:
    """Where a room, or a file of one, lies."""
    return root / path if path.startswith(TOOLS) else root / "src" / path


def table_problems(table: dict[str, list[str]], root: pathlib.Path) -> list[str]:
    page, problems, above = "docs/layers.txt", [], list(table)
    for room, known in table.items():
        if not any(place(root, room).rglob("*.[chS]")):
            problems.append(f"{page}: there is no room {room}")
        for other in known:
            if other == ALWAYS:
                problems.append(f"{page}: {room} need not list {ALWAYS}, which all may include")
            elif other not in table:
                problems.append(f"{page}: {room} may include {other}, which is not listed")
            elif other.startswith(TOOLS) and not room.startswith(TOOLS):
                problems.append(f"{page}: {room} may not include {other}, which is a tool")
            elif other.startswith(LIBRARIES) and not room.startswith((LIBRARIES, TOOLS)):
                problems.append(f"{page}: {room} is the driver's, and may not include {other}, which sits on it")
            elif above.index(other) > above.index(room):
                problems.append(f"{page}: {room} stands below {other}, which it may include")
    graph = {room: {other: set() for other in known} for room, known in table.items()}
    return problems + [f"{page}: a circle of rooms: {' '.join(members)}" for members in circles(graph)]


def candidates(name: pathlib.PurePath, included: str, tools: list[str]) -> list[str]:
    """What an #include may mean: a file beside this one, of a tool also in the folders above or of another tool, or one of
    src/."""
    folders = [*list(name.parents)[:-2], *tools] if str(name).startswith(TOOLS) else [name.parent]
    return [str(pathlib.PurePath(folder) / included) for folder in folders] + [included]


def include_problems(table: dict[str, list[str]], root: pathlib.Path, files: list[pathlib.Path]) -> list[str]:
    problems, used = [], set()
    tools = [room for room in table if room.startswith(TOOLS)]
    for file in files:
        shown = file.relative_to(root)
        name = shown if str(shown).startswith(TOOLS) else shown.relative_to("src")
        room = room_of(str(name), table)
        if room is None:
            problems.append(f"{shown}: no room of docs/layers.txt holds it")
            continue
        for included in INCLUDE.findall(file.read_text()):
            found = [path for path in candidates(name, included, tools) if place(root, path).is_file()]
            other = room_of(found[0], table) if found else generated_room(included, table)
            if other is None:
                problems.append(f"{shown}: there is no {included}")
                continue
            used.add((room, other))
            if other not in (room, ALWAYS) and other not in table[room]:
                problems.append(f"{shown}: {room} may not include {included}")
    return problems + [f"docs/layers.txt: {room} may include {other}, and never does"
                       for room, known in table.items() for other in known if (room, other) not in used]


def functions(lines: list[str]) -> list[tuple[str, int]]:
    """Head and length of each function: what stands in column 0 around a brace in column 0."""
    found, begin = [], None
    for number, line in enumerate(lines):
        if line == "{":
            begin = number
            while (begin > 0 and lines[begin - 1][:1] not in ("", "}", "#", "/")
                   and not lines[begin - 1].endswith(("*/", ";"))):
                begin -= 1
        elif line == "}" and begin is not None:
            found.append((lines[begin], number - begin + 1))
            begin = None
    return found


def size_problems(root: pathlib.Path) -> list[str]:
    problems = []
    for folder in ("src", "tools", "examples", "tests", "bench"):
        for file in sorted((root / folder).rglob("*.[chS]")):
            lines = file.read_text().splitlines()
            if len(lines) > LIMITS.get(file.suffix, len(lines)):
                problems.append(f"{file.relative_to(root)}: {len(lines)} lines, the limit is {LIMITS[file.suffix]}")
            for head, length in functions(lines):
                if length > FUNCTION_LIMIT:
                    name = file.relative_to(root)
                    problems.append(f"{name}: {length} lines in {head}, the limit is {FUNCTION_LIMIT}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    root = parser.parse_args().root.resolve()
    table = read_table(root / "docs" / "layers.txt")
    files = sorted(file for folder in ("src", "tools") for file in (root / folder).rglob("*.[chS]"))
    problems = table_problems(table, root) + include_problems(table, root, files) + size_problems(root)
    for problem in problems:
        print(problem)
    print(f"layers: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
