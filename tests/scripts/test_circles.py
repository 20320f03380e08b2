# SPDX-License-Identifier: Apache-2.0
"""scripts/circles.py on small trees: it finds circles by calls, by includes, of folders and of rooms; limits hold."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)

# Two rooms: `low` has a circle of calls (a, b), `high` one of includes (x, y), which ties its two folders as well.
# c and z lie on no circle.
TREE = {
    "docs/layers.txt": "low:\nhigh: low  # above it\n",
    "docs/circles.txt": "low: calls 2\nhigh: includes 2 folders 2\n",
    "src/low/a.h": "int a(int);\n",
    "src/low/a.c": '#include "a.h"\nint b(int);\nint a(int n) { return n ? b(n - 1) : 0; }\n',
    "src/low/b.c": '#include "a.h"\nint b(int n);\nint b(int n) { return n ? a(n - 1) : 1; }\n',
    "src/low/c.c": '#include "low/a.h"\nint c(void);\nint c(void) { return a(3); }\n',
    "src/high/one/x.h": '#pragma once\n#include "high/two/y.h"\n',
    "src/high/one/x.c": '#include "high/one/x.h"\nint x;\n',
    "src/high/two/y.h": "#pragma once\n",
    "src/high/two/y.c": '#include "high/two/y.h"\n#include "high/one/x.h"\nint y;\n',
    "src/high/z.c": '#include "low/a.h"\nint z(void);\nint z(void) { return a(1); }\n',
}


class Tree:
    """A tree of files, compiled as a build with Meson leaves it: objects and compile_commands.json."""

    def __init__(self, changes: dict[str, str]) -> None:
        self.root = pathlib.Path(tempfile.mkdtemp())
        commands = []
        for name, text in (TREE | changes).items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.root / "build").mkdir()
        for source in sorted(self.root.glob("src/**/*.c")):
            output = "_".join(source.relative_to(self.root).parts) + ".o"
            subprocess.run(["cc", "-O0", "-I", self.root / "src", "-c", source, "-o", self.root / "build" / output],
                           check=True)
            commands.append({"directory": str(self.root / "build"), "file": str(source), "output": output})
        (self.root / "build" / "compile_commands.json").write_text(json.dumps(commands))

    def run(self, *options: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, SCRIPT, "--root", self.root, self.root / "build", *options],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def __enter__(self) -> "Tree":
        return self

    def __exit__(self, *_) -> None:
        shutil.rmtree(self.root)


class Circles(unittest.TestCase):
    def test_circles_within_their_limits_pass(self) -> None:
        with Tree({}) as tree:
            self.assertEqual(tree.run("--check"), (0, "circles: 0 problems\n"))

    def test_a_larger_circle_of_calls_fails(self) -> None:
        with Tree({"src/low/b.c": "int c(void);\nint b(int n);\nint b(int n) { return n + c(); }\n"}) as tree:
            code, text = tree.run("--check")
            self.assertEqual(code, 1)
            self.assertIn("low: a circle of 3 by calls, the limit is 2: a b c", text)

    def test_a_circle_that_no_limit_allows_fails(self) -> None:
        with Tree({"docs/circles.txt": ""}) as tree:
            code, text = tree.run("--check")
            self.assertEqual(code, 1)
            self.assertIn("low: a circle of 2 by calls, the limit is 0: a b", text)
            self.assertIn("high: a circle of 2 by includes, the limit is 0: one/x two/y", text)
            self.assertIn("high: a circle of 2 by folders, the limit is 0: one two", text)

    def test_a_circle_of_rooms_fails(self) -> None:
        with Tree({"src/low/c.c": '#include "low/a.h"\nint z(void);\nint c(void);\nint c(void) { return z(); }\n',
                   "docs/layers.txt": "low: high\nhigh: low\n"}) as tree:
            code, text = tree.run("--check")
            self.assertEqual(code, 1)
            self.assertIn("rooms: a circle of 2 by calls, the limit is 0: high low", text)

    def test_a_call_that_the_table_of_includes_does_not_know_fails(self) -> None:
        with Tree({"docs/layers.txt": "low:\nhigh:\n"}) as tree:
            code, text = tree.run("--check")
            self.assertEqual(code, 1)
            self.assertIn("high calls low, which docs/layers.txt does not let it include: a\n", text)

    def test_a_library_beside_gives_the_driver_nothing(self) -> None:
        with Tree({"docs/layers.txt": "low:\nhigh: low\nlibs/own: low\n",
                   "src/libs/own/e.c": '#include "low/a.h"\nint open(void);\nint open(void) { return a(1); }\n',
                   "src/low/c.c": "int open(void);\nint c(void);\nint c(void) { return open(); }\n"}) as tree:
            self.assertEqual(tree.run("--check"), (0, "circles: 0 problems\n"))

    def test_a_smaller_circle_is_told_and_a_folder_that_is_gone_fails(self) -> None:
        with Tree({"docs/circles.txt": "low: calls 5\nhigh: includes 2 folders 2\nold: calls 2\n"}) as tree:
            code, text = tree.run("--check")
            self.assertEqual(code, 1)
            self.assertIn("docs/circles.txt may say so, not 5", text)
            self.assertIn("docs/circles.txt: no folder src/old", text)

    def test_ties_name_the_symbols(self) -> None:
        with Tree({}) as tree:
            code, text = tree.run("--room", "low", "--ties")
            self.assertEqual(code, 0)
            self.assertIn("2: a b", text)
            self.assertIn("a -> b: b", text)
            self.assertIn("b -> a: a", text)

    def test_a_room_that_is_not_there_fails(self) -> None:
        with Tree({}) as tree:
            self.assertEqual(tree.run("--room", "lwo"), (1, "circles: no folder src/lwo\n"))

    def test_a_folder_that_is_not_built_is_no_success(self) -> None:
        with Tree({}) as tree:
            for path in tree.root.glob("build/*.o"):
                path.unlink()
            code, text = tree.run("--check")
            self.assertEqual(code, 1)
            self.assertIn("no object files", text)


if __name__ == "__main__":
    unittest.main()
