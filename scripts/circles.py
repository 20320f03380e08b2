#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the circles between the files of src/: sets of files of which each needs each other one, maybe through others.

    scripts/circles.py BUILD                 a table of each room's largest circles, by calls and by includes
    scripts/circles.py BUILD --room ROOM     that room's circles, file by file (--ties: with the names that tie them)
    scripts/circles.py BUILD --check         fails when a circle is larger than docs/circles.txt allows, or when a room
                                             calls one that docs/layers.txt does not let it include

BUILD is a folder that Meson configured and ninja built. A file here is a .c file together with the header of the same
name. There are three kinds of circles:

calls     File A calls B when an object file of A needs a symbol that an object file of B defines: a function or data.
          `nm` tells. A call through a pointer is not seen, and need not be: by a hook a lower file reaches a higher
          one without knowing it.
includes  File A includes B by an #include "..." line.
folders   Both of these, between the folders of a room.

A room is a folder that docs/layers.txt lists, with the folders in it, or any folder below src/ that --room names.
Circles of whole rooms are told last.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
LIBRARIES = "libs/"
KINDS = ("calls", "includes", "folders")
Graph = dict[str, dict[str, set[str]]]  # file -> file it needs -> what it needs there: symbols or headers


def unit(path: pathlib.Path) -> str:
    """The name of a file in src/, without its suffix: x.c and x.h are one."""
    return str(path.with_suffix(""))


def circles(graph: Graph) -> list[list[str]]:
    """The strongly connected components with more than one member, largest first: Tarjan's, without recursion."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    inside: set[str] = set()
    found = []
    for root in sorted(graph):
        if root in number:
            continue
        work = [(root, iter(sorted(graph[root])))]
        number[root] = low[root] = len(number)
        stack.append(root)
        inside.add(root)
        while work:
            node, others = work[-1]
            for other in others:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    inside.add(other)
                    work.append((other, iter(sorted(graph.get(other, {})))))
                    break
                if other in inside:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    members = []
                    while True:
                        member = stack.pop()
                        inside.discard(member)
                        members.append(member)
                        if member == node:
                            break
                    if len(members) > 1:
                        found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members))


def within(graph: Graph, room: str) -> Graph:
    """The part of the graph whose both ends lie in a room."""
    prefix = room + "/"
    return {file: {other: ties for other, ties in needs.items() if other.startswith(prefix)}
            for file, needs in graph.items() if file.startswith(prefix)}


def merged(graph: Graph, name_of) -> Graph:
    """The graph of what name_of() makes of each file."""
    result: Graph = {}
    for file, needs in graph.items():
        mine = result.setdefault(name_of(file), {})
        for other, ties in needs.items():
            if name_of(other) != name_of(file):
                mine.setdefault(name_of(other), set()).update(ties)
    return result


def include_graph(src: pathlib.Path) -> Graph:
    graph: Graph = {}
    for file in sorted(src.rglob("*.[chS]")):
        name = file.relative_to(src)
        needs = graph.setdefault(unit(name), {})
        for included in INCLUDE.findall(file.read_text()):
            other = name.parent / included
            if not (src / other).exists():
                other = pathlib.Path(included)
            if (src / other).exists() and unit(other) != unit(name):
                needs.setdefault(unit(other), set()).add(included)
    return graph


def symbols(objects: list[pathlib.Path]) -> dict[pathlib.Path, tuple[set[str], set[str]]]:
    """For each object file, the global symbols that it defines and those that it leaves undefined."""
    command = ["nm", "-A", "-g", "-P", *map(str, objects)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {path: (set(), set()) for path in objects}
    for line in text.splitlines():
        path, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        found[pathlib.Path(path)][1 if kind in "Uwv" else 0].add(name)
    return found


def call_graph(build: pathlib.Path, src: pathlib.Path, rooms: dict[str, list[str]]) -> Graph:
    objects: dict[pathlib.Path, str] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        output = pathlib.Path(entry["directory"]) / entry["output"]
        if source.is_relative_to(src) and source.suffix in (".c", ".S") and output.exists():
            objects[output] = unit(source.relative_to(src))
    if not objects:
        sys.exit(f"circles: no object files in {build}; build first")
    found = symbols(list(objects))
    home: dict[str, set[str]] = {}
    for path, (defined, _) in found.items():
        for symbol in defined:
            home.setdefault(symbol, set()).add(objects[path])
    graph: Graph = {file: {} for file in objects.values()}
    for path, (_, undefined) in found.items():
        mine = objects[path]
        for symbol in undefined:
            # A library beside the driver may define a name of the driver or of the C library, too: it gives nothing to
            # others, and the own room's name comes first.
            room = room_of(mine, rooms)
            others = home.get(symbol, set())
            near = {other for other in others if room_of(other, rooms) == room}
            others = {other for other in others if not other.startswith(LIBRARIES)}
            for other in near or others:
                if other != mine:
                    graph[mine].setdefault(other, set()).add(symbol)
    return graph


def rooms_listed(root: pathlib.Path) -> dict[str, list[str]]:
    """docs/layers.txt: each room of src/, and the rooms that it may include."""
    lines = (root / "docs" / "layers.txt").read_text().splitlines()
    parts = (line.split("#")[0].partition(":") for line in lines)
    return {room.strip(): known.split() for room, _, known in parts if room.strip() and not room.startswith("tools/")}


def room_of(file: str, rooms) -> str:
    """The room with the longest name that holds this file."""
    return max((room for room in rooms if file.startswith(room + "/")), key=len, default=file.split("/")[0])


def folder_of(file: str) -> str:
    return file.rpartition("/")[0]


def of_room(graphs: dict[str, Graph], room: str) -> dict[str, list[list[str]]]:
    found = {kind: circles(within(graphs[kind], room)) for kind in ("calls", "includes") if kind in graphs}
    both: Graph = {}
    for graph in graphs.values():
        for file, needs in within(graph, room).items():
            for other, ties in needs.items():
                both.setdefault(file, {}).setdefault(other, set()).update(ties)
            both.setdefault(file, {})
    found["folders"] = circles(merged(both, folder_of))
    return found


def of_rooms(graphs: dict[str, Graph], rooms: dict[str, list[str]]) -> dict[str, list[list[str]]]:
    return {kind: circles(merged(graph, lambda file: room_of(file, rooms))) for kind, graph in graphs.items()}


def print_ties(graph: Graph, members: list[str], room: str) -> None:
    for file in members:
        for other in sorted(set(graph[file]) & set(members)):
            names = " ".join(sorted(graph[file][other]))
            print(f"      {file.removeprefix(room + '/')} -> {other.removeprefix(room + '/')}: {names}")


def print_room(graphs: dict[str, Graph], room: str, ties: bool) -> None:
    for kind, found in of_room(graphs, room).items():
        print(f"{room}, by {kind}: " + (f"{len(found)} circles" if found else "no circle"))
        for members in found:
            print(f"  {len(members)}: " + " ".join(member.removeprefix(room + "/") for member in members))
            if ties and kind in graphs:
                print_ties(graphs[kind], members, room)


def sizes(found: list[list[str]]) -> str:
    numbers = [str(len(members)) for members in found]
    return " ".join(numbers[:6] + ["..."] * (len(numbers) > 6)) or "-"


def print_table(graphs: dict[str, Graph], rooms: dict[str, list[str]]) -> None:
    width = max(len(room) for room in rooms)
    print(f"{'room':{width}}  files  {'calls':16}{'includes':16}folders")
    for room in rooms:
        files = {file for graph in graphs.values() for file in within(graph, room)}
        found = of_room(graphs, room)
        columns = "".join(f"{sizes(found.get(kind, [])):16}" for kind in KINDS)
        print(f"{room:{width}}  {len(files):5}  {columns.rstrip()}")
    for kind, found in of_rooms(graphs, rooms).items():
        print(f"circles of rooms, by {kind}: " + ("; ".join(" ".join(members) for members in found) or "none"))


def limits(root: pathlib.Path) -> dict[str, dict[str, int]]:
    """docs/circles.txt: for each folder and kind the size that its largest circle may have."""
    table: dict[str, dict[str, int]] = {}
    for line in (root / "docs" / "circles.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            room, _, allowed = line.partition(":")
            words = allowed.split()
            table[room.strip()] = {kind: int(size) for kind, size in zip(words[::2], words[1::2])}
    return table


def unlisted(calls: Graph, rooms: dict[str, list[str]]) -> list[str]:
    """Calls between rooms that the table of includes does not know: by a header that a header brings, or by a
    declaration of the caller's own."""
    return [f"{room} calls {other}, which docs/layers.txt does not let it include: {' '.join(sorted(names))}"
            for room, needs in merged(calls, lambda file: room_of(file, rooms)).items()
            for other, names in needs.items() if other not in (*rooms.get(room, []), "base")]


def problems_of(graphs: dict[str, Graph], rooms: dict[str, list[str]], allowed: dict[str, dict[str, int]]) -> list[str]:
    problems = [f"docs/circles.txt: no folder src/{room}" for room in allowed
                if room != "rooms" and not any(within(graph, room) for graph in graphs.values())]
    found = {room: of_room(graphs, room) for room in sorted(set(rooms) | set(allowed) - {"rooms"})}
    found["rooms"] = of_rooms(graphs, rooms)
    for room, kinds in found.items():
        for kind, members in kinds.items():
            largest, limit = (len(members[0]) if members else 0), allowed.get(room, {}).get(kind, 0)
            if largest > limit:
                problems.append(f"{room}: a circle of {largest} by {kind}, the limit is {limit}: "
                                + " ".join(member.removeprefix(room + "/") for member in members[0]))
            elif largest < limit:
                print(f"{room}: the largest circle by {kind} is {largest}; docs/circles.txt may say so, not {limit}")
    return problems + unlisted(graphs.get("calls", {}), rooms)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?", help="a built folder; without it only includes count")
    parser.add_argument("--room", action="append", help="a folder of src/, such as compile/codegen")
    parser.add_argument("--ties", action="store_true", help="with --room: the names by which a file needs another")
    parser.add_argument("--check", action="store_true", help="compare with docs/circles.txt")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent,
                        help="another tree with src/ and docs/")
    args = parser.parse_args()
    root = args.root.resolve()
    src, rooms = root / "src", rooms_listed(root)
    graphs = {"calls": call_graph(args.build.resolve(), src, rooms)} if args.build else {}
    graphs["includes"] = include_graph(src)
    if args.check:
        problems = problems_of(graphs, rooms, limits(root))
        print("\n".join([*problems, f"circles: {len(problems)} problems"]))
        return 1 if problems else 0
    if args.room:
        for room in (room.removeprefix("src/").rstrip("/") for room in args.room):
            if not (src / room).is_dir():
                sys.exit(f"circles: no folder src/{room}")
            print_room(graphs, room, args.ties)
        return 0
    print_table(graphs, rooms)
    return 0


if __name__ == "__main__":
    sys.exit(main())
