# SPDX-License-Identifier: Apache-2.0
"""What docs/site/gather.py gathers for the site. Sphinx is not needed here: `make docs` and `make check` run it, and
look at each link. Usage: test_site.py BUILD_FOLDER"""
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "docs/site"))
import build  # noqa: E402  (docs/site/build.py)
import gather  # noqa: E402  (docs/site/gather.py)


class Gathered(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.site = pathlib.Path(cls.folder.name)
        gather.gather(BUILD, cls.site)

    def trees(self) -> list[str]:
        """The places that the lists beside the pages name."""
        return [place for path in self.site.rglob("*.md") for tree in re.findall(r"```{toctree}(.*?)```", path.read_text(), re.DOTALL)
                for place in re.findall(r"<(\S+)>$", tree, re.MULTILINE)]

    def test_each_page_is_in_one_list(self) -> None:
        listed = self.trees()
        self.assertEqual(len(listed), len(set(listed)), "a page is in two lists")
        for page in (ROOT / "docs").glob("*.md"):
            place = "pages" if page.name == "README.md" else page.stem
            self.assertIn(f"/{place}", listed, page)

    def test_each_list_of_functions_is_there(self) -> None:
        made = {f"/coverage/{path.stem}" for path in (BUILD / "docs").glob("*coverage.md")}
        self.assertGreaterEqual(len(made), 10)
        self.assertLessEqual(made, set(self.trees()))
        self.assertIn("cuEventRecord", (self.site / "coverage/coverage.md").read_text())
        self.assertIn("(coverage/cusolver-coverage.md)", (self.site / "status.md").read_text())

    def test_each_command_has_its_options(self) -> None:
        for command in ("run", "check", "replay", "trace", "cc", "smi", "info", "env", "doctor"):
            self.assertIn(f"/commands/millrace-{command}", self.trees())
        text = (self.site / "commands/millrace-check.md").read_text()
        self.assertIn("`--format FORM`\n: text (the default), json, sarif or html", text)

    def test_links(self) -> None:
        """They name titles, not files; sources come along as pages; code stays as it is."""
        text = (self.site / "index.md").read_text()
        self.assertIn("[Finding missing synchronisation](check.md)", text)
        self.assertIn("```{code-block} cuda", (self.site / "files/examples/mpi/halo.cu.md").read_text())
        self.assertFalse([path for path in self.site.rglob("*.md") if "<!-- SPDX" in path.read_text().partition("\n")[0]])


class Wrong(unittest.TestCase):
    """A small project, and what is wrong with it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.output = pathlib.Path(folder.name).resolve() / "project", pathlib.Path(folder.name) / "site"
        (self.root / "docs").mkdir(parents=True)
        self.write("README.md", "# Small\n")
        self.write("docs/README.md", "# Pages\n\n## Part\n\n| page | answers |\n| --- | --- |\n| [a](a.md) | all |\n| [l](coverage-page.md) | lists |\n| [c](commands.md) | c |\n")
        for name in ("a", "coverage-page", "commands"):
            self.write(f"docs/{name}.md", f"# The {name}: and more\n")

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def gather(self) -> None:
        shutil.rmtree(self.output, ignore_errors=True)
        gather.Site(BUILD, self.output, self.root).gather()

    def test_right(self) -> None:
        self.write("docs/a.md", "# The a\n\n[b](../b.txt), [commands.md](commands.md), `[c](c.md)`\n\n    [d](d.md)\n\n- e\n\n    [b](../b.txt)\n")
        self.write("b.txt", "text\n")
        self.gather()
        self.assertEqual((self.output / "a.md").read_text(),
                         "# The a\n\n[b](files/b.txt.md), [The commands](commands.md), `[c](c.md)`\n\n    [d](d.md)\n\n- e\n\n    [b](files/b.txt.md)\n")

    def test_wrong(self) -> None:
        for name, text, what in (("docs/a.md", "[b](b.md)", "no file b.md"), ("docs/a.md", "[b](../../b)", "no file"), ("docs/a.md", "`build/docs/x.md`", "the build makes no"),
                                 ("docs/new.md", "# New", "does not list docs/new.md")):
            before = (self.root / name).read_text() if (self.root / name).exists() else None
            self.write(name, f"# A\n\n{text}\n")
            with self.assertRaisesRegex(gather.Wrong, re.escape(what)):
                self.gather()
            if before is None:
                (self.root / name).unlink()
            else:
                self.write(name, before)

    def test_links_of_the_result(self) -> None:
        self.output.mkdir()
        (self.output / "a.html").write_text('<h1 id="one">A</h1><a href="b.html#two">b</a><img src="https://somewhere/x.png"><link href="b.html?digest=1"><a href="#one">up</a>')
        (self.output / "b.html").write_text('<a name="two" href="a.html">a</a>')
        self.assertEqual(build.wrong_links(self.output), (4, []))
        (self.output / "b.html").write_text('<a href="c.html">c</a><a href="a.html#three">a</a>')
        self.assertEqual(build.wrong_links(self.output)[1],
                         ["a.html: nothing is called b.html#two", "b.html: no file c.html", "b.html: nothing is called a.html#three"])

    def test_style_sheets_of_the_result(self) -> None:
        """What they import is beside them: no server is asked for it."""
        styles = self.output / "_static/styles"
        styles.mkdir(parents=True)
        (styles / "a.css").write_text('@import url("b.css?digest=1"); p { background: url(data:image/png;base64,) }')
        (styles / "b.css").write_text("p { margin: 0 }")
        self.assertEqual(build.wrong_links(self.output), (1, []))
        (styles / "b.css").write_text("@import url(/elsewhere/c.css); @import url( 'd.css' );")
        self.assertEqual(build.wrong_links(self.output)[1], ["_static/styles/b.css: no file /elsewhere/c.css", "_static/styles/b.css: no file d.css"])


if __name__ == "__main__":
    unittest.main(verbosity=0)
