# SPDX-License-Identifier: Apache-2.0
"""scripts/check_layers.py on small trees: each fault that it is there to find, made on purpose, is found."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)

TREE = {
    "docs/layers.txt": "base:\nlow:\nhigh: low  # above it\nlibs/own: low\ntools/one: libs/own\n",
    "src/base/list.h": "",
    "src/low/a.h": '#include "base/list.h"\n',
    "src/low/a.c": '#include "low/a.h"\n#include <stdio.h>\n',
    "src/high/b.h": "",
    "src/high/deep/c.c": '#include "low/a.h"\n#include "high/b.h"\n',
    "src/libs/own/d.h": "",
    "src/libs/own/d.c": '#include "low/a.h"\n#include "libs/own/d.h"\n',
    "tools/one/e.h": "",
    "tools/one/deep/f.c": '#include "e.h"\n#include "libs/own/d.h"\n',
}


def check(changes: dict[str, str | None]) -> tuple[int, list[str]]:
    """Exit status and lines of the check of the tree with these files changed, or taken out (None)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (TREE | changes).items():
            if text is not None:
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, "--root", folder], capture_output=True, text=True)
        return done.returncode, (done.stdout + done.stderr).splitlines()


class Layers(unittest.TestCase):
    def assert_found(self, changes: dict[str, str | None], *problems: str) -> None:
        """These problems, in any order, and no other."""
        code, lines = check(changes)
        self.assertEqual((code, sorted(lines[:-1])), (1, sorted(problems)))

    def test_a_tree_without_fault_passes(self) -> None:
        self.assertEqual(check({}), (0, ["layers: 9 files, 0 problems"]))

    def test_a_tool_includes_what_is_listed(self) -> None:
        self.assert_found({"tools/one/deep/f.c": '#include "libs/own/d.h"\n#include "low/a.h"\n#include "gone.h"\n'},
                          "tools/one/deep/f.c: tools/one may not include low/a.h",
                          "tools/one/deep/f.c: there is no gone.h")

    def test_nothing_includes_a_tool(self) -> None:
        self.assert_found({"docs/layers.txt": TREE["docs/layers.txt"].replace("libs/own: low", "libs/own: low tools/one")},
                          "docs/layers.txt: libs/own may not include tools/one, which is a tool",
                          "docs/layers.txt: libs/own may include tools/one, and never does",
                          "docs/layers.txt: a circle of rooms: libs/own tools/one")

    def test_an_include_that_is_not_listed(self) -> None:
        self.assert_found({"src/low/a.c": '#include "high/b.h"\n'}, "src/low/a.c: low may not include high/b.h")

    def test_a_circle_of_two_rooms(self) -> None:
        self.assert_found({"docs/layers.txt": "base:\nlow: high\nhigh: low\nlibs/own: low\ntools/one: libs/own\n",
                           "src/low/a.c": '#include "high/b.h"\n'},
                          "docs/layers.txt: low stands below high, which it may include",
                          "docs/layers.txt: a circle of rooms: high low")

    def test_a_circle_of_three_rooms(self) -> None:
        self.assert_found({"docs/layers.txt": "base:\nlow: top\nhigh: low\nlibs/own: low\ntop: high\ntools/one: libs/own\n",
                           "src/low/a.c": '#include "top/e.h"\n', "src/top/e.h": '#include "high/b.h"\n'},
                          "docs/layers.txt: low stands below top, which it may include",
                          "docs/layers.txt: a circle of rooms: high low top")

    def test_a_room_below_one_that_it_may_include(self) -> None:
        self.assert_found({"docs/layers.txt": "base:\nhigh: low\nlow:\nlibs/own: low\ntools/one: libs/own\n"},
                          "docs/layers.txt: high stands below low, which it may include")

    def test_a_pair_that_no_include_uses(self) -> None:
        self.assert_found({"src/high/deep/c.c": ""}, "docs/layers.txt: high may include low, and never does")

    def test_a_room_that_is_gone(self) -> None:
        self.assert_found({"docs/layers.txt": TREE["docs/layers.txt"] + "old:\n"},
                          "docs/layers.txt: there is no room old")

    def test_a_room_that_is_not_listed(self) -> None:
        self.assert_found({"src/new/e.c": "", "src/f.c": ""}, "src/f.c: no room of docs/layers.txt holds it",
                          "src/new/e.c: no room of docs/layers.txt holds it")

    def test_a_pair_with_a_room_that_is_not_listed(self) -> None:
        self.assert_found({"docs/layers.txt": "base:\nlow: new\nhigh: low\nlibs/own: low\ntools/one: libs/own\n"},
                          "docs/layers.txt: low may include new, which is not listed",
                          "docs/layers.txt: low may include new, and never does")

    def test_an_include_of_nothing(self) -> None:
        self.assert_found({"src/low/a.c": '#include "low/gone.h"\n#include "api_impl.h"\n'},
                          "src/low/a.c: there is no low/gone.h", "src/low/a.c: low may not include api_impl.h")

    def test_the_driver_needs_no_library_that_sits_on_it(self) -> None:
        self.assert_found({"docs/layers.txt": "base:\nlow:\nlibs/own: low\nhigh: low libs/own\ntools/one: libs/own\n",
                           "src/high/b.h": '#include "libs/own/d.h"\n'},
                          "docs/layers.txt: high is the driver's, and may not include libs/own, which sits on it")

    def test_base_is_listed_nowhere(self) -> None:
        self.assert_found({"docs/layers.txt": "base:\nlow: base\nhigh: low\nlibs/own: low\ntools/one: libs/own\n"},
                          "docs/layers.txt: low need not list base, which all may include")

    def test_sizes(self) -> None:
        long = "int f(void)\n{\n" + "    f();\n" * 79 + "}\n"
        self.assert_found({"src/low/g.c": "\n" * 1001, "src/low/h.c": long},
                          "src/low/g.c: 1001 lines, the limit is 1000",
                          "src/low/h.c: 82 lines in int f(void), the limit is 80")


if __name__ == "__main__":
    unittest.main()
