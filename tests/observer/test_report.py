# SPDX-License-Identifier: Apache-2.0
"""Call stacks of a real program, and reports of made-up findings: text as a whole, the other forms by their members.

test_report.py STACKS PLUGIN REPORT_TOOL PYTHON_SITE HAS_NAMES
"""
import ctypes
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

STACKS, PLUGIN, TOOL, PYTHON_SITE, HAS_NAMES = sys.argv[1:6]
SOURCE = pathlib.Path(__file__).resolve().parent

def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


class Report(unittest.TestCase):
    def setUp(self):
        self.room = tempfile.TemporaryDirectory()
        self.addCleanup(self.room.cleanup)
        self.folder = pathlib.Path(self.room.name, "out")
        self.folder.mkdir()

    def stacks(self, program=STACKS, plugin=PLUGIN):
        done = run(program, str(self.folder), plugin)
        self.assertEqual(done.returncode, 0, done.stderr)

    def report(self, form, *more, status=1):
        done = run(TOOL, form, str(self.folder), *more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def suppress(self, text, status=1, form="verbose"):
        rules = pathlib.Path(self.room.name, "rules.txt")
        rules.write_text(text)
        done = run(TOOL, form, str(self.folder), str(rules))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return (done.stdout if status != 3 else done.stderr).replace(str(rules), "RULES")

    @unittest.skipUnless(HAS_NAMES == "yes", "built without a library for debug information")
    def test_text(self):
        self.stacks()
        text = self.report("text")
        plain = re.sub(r"(:\d+):\d+", r"\1", re.sub(r"[\w./-]*/(\w+\.c:)", r"\1", text))
        plain = re.sub(r"0x[0-9a-f]+", "0x", plain)
        expected = (SOURCE / "report.txt").read_text()
        self.assertEqual(re.sub(r":\d+", ":N", plain), expected)
        self.assertNotIn("\033", text)
        self.assertIn("\033[", self.report("colour"))

    @unittest.skipUnless(HAS_NAMES == "yes", "built without a library for debug information")
    def test_without_debug_information(self):
        for strip, shows in (("-g", r"#\d main\+0x"), ("-s", r"#\d \(stripped\+0x")):
            with self.subTest(strip=strip):
                program = str(pathlib.Path(self.room.name, "stripped"))
                done = run("strip", strip, STACKS, "-o", program)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.stacks(program)
                self.assertRegex(self.report("text"), shows)

    def test_another_file_in_its_place(self):
        program, plugin = (str(pathlib.Path(self.room.name, name)) for name in ("program", "plugin.so"))
        shutil.copy(STACKS, program)
        shutil.copy(PLUGIN, plugin)
        self.stacks(program, plugin)
        os.remove(plugin)
        shutil.copy(TOOL, program)
        done = run(TOOL, "text", str(self.folder))
        self.assertEqual(done.returncode, 1)
        if HAS_NAMES == "yes":
            self.assertIn("plugin.so: the file is gone", done.stderr)
            self.assertIn("program: the file is another than the one that ran", done.stderr)
        self.assertRegex(done.stdout, r"\(program\+0x")
        self.assertRegex(done.stdout, r"\(plugin.so\+0x")

    def test_frames_of_pytorch(self):
        self.stacks()
        (path,) = self.folder.glob("*.results.json")
        written = json.loads(path.read_text())
        for folder, shown in (("millrace_torch", False), ("others", True)):
            for site in written["sites"]:
                site[:0] = site and [{"file": f"/lib/{folder}/operator.py", "line": 7, "function": "run"}]
            path.write_text(json.dumps(written))
            self.assertEqual(f"/{folder}/operator.py:7" in self.report("text"), shown)

    def test_json(self):
        self.stacks()
        report = json.loads(self.report("json"))
        self.assertEqual((report["format"], report["version"]), ("millrace-report", 1))
        race, freed = report["findings"]
        self.assertEqual((race["kind"], race["times"], race["bytes"], race["first"]), ("race", 5, 16, 0x1010))
        self.assertEqual([side["what"] for side in race["sides"]], ["copy", "kernel"])
        self.assertEqual(race["sides"][1]["symbol"], "_Z5scalePfi")
        self.assertEqual(race["allocation"]["size"], 64)
        self.assertEqual(freed["title"], "the fill by cuMemsetD8Async writes what cuMemFree has freed")
        self.assertEqual(report["processes"][0]["operations"], 7)

    def test_several_allocations(self):
        self.stacks()
        (path,) = self.folder.glob("*.results.json")
        written = json.loads(path.read_text())
        (race,) = (finding for finding in written["findings"] if finding["bytes"] == 16)
        for size, where in ((48, "from offset 16 of the allocation on"), (49, "in several allocations, in the first one from offset 16 on")):
            race["bytes"] = size
            path.write_text(json.dumps(written))
            self.assertIn(f"  bytes: {size}, {where}\n", self.report("text"))

    def test_versions_of_a_kernel(self):
        """Numba gives each kernel's name tags that tell versions apart."""
        self.stacks()
        for path in pathlib.Path(self.folder).glob("*.json"):
            path.write_text(path.read_text().replace("_Z5scalePfi", "_ZN8__main__5scaleB2v1B6cw51cXEPfi"))
        self.assertIn("kernel '__main__::scale(float*, int)'", self.report("text"))
        self.assertIn("1 suppressed", self.suppress("kernel=__main__::scale", 1))

    def test_sarif(self):
        self.stacks()
        log = json.loads(self.report("sarif"))
        self.assertEqual(log["version"], "2.1.0")
        rules = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
        self.assertEqual(rules, {"race", "use-after-free"})
        for result in log["runs"][0]["results"]:
            self.assertIn(result["ruleId"], rules)
            self.assertTrue(result["message"]["text"])
            for location in result["locations"] + result["relatedLocations"]:
                self.assertGreater(location["physicalLocation"]["region"]["startLine"], 0)
            for stack in result["stacks"]:
                self.assertTrue(stack["frames"])

    def test_html(self):
        self.stacks()
        page = self.report("html")
        self.assertEqual(page.count("<article>"), 2)
        self.assertIn("record an event &quot;after&quot; the launch", page)
        self.assertNotRegex(page, r"(src|href)=")
        open_tags = []

        class Check(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                if tag not in ("meta",):
                    open_tags.append(tag)

            def handle_endtag(self, tag):
                assert open_tags.pop() == tag, tag

        Check().feed(page)
        self.assertEqual(open_tags, [])

    def test_suppressions(self):
        self.stacks()
        both = self.report("suppressions")
        rules = re.findall(r"suppression: (.*)", both)
        self.assertEqual(len(rules), 2)
        self.assertIn("0 findings, 2 suppressed", self.suppress("# all of them\n\n" + "\n".join(rules), status=0))
        self.assertIn("RULES:2: this suppression has hidden nothing", self.suppress("kind=race kernel=sc?le\nkind=host-*"))
        for rule, status in (("tool=race", 0), ("kernel=_Z5scale*", 1), ("kernel=scale call=cuMemcpy*", 1), ("kind=race kernel=other", 1),
                             ("module=stacks", 0), ("module=*/stacks", 0), ("call=cuMem[sc]*", 0)):
            with self.subTest(rule=rule):
                text = self.suppress(rule, status)
                self.assertEqual("has hidden nothing" in text, rule.endswith("other"), text)

    def test_bad_suppressions(self):
        self.stacks()
        for text, message in (("kind=race\nkernl=x", "RULES:2: there is no such key"),
                              ("kind=rase", "RULES:1: there is no such kind; there are race host-race "), ("tool=rac[a-d]", "RULES:1: there is no such tool (race, mem, init)"), ("race", "RULES:1: a condition has the form KEY=PATTERN"),
                              ('kernel="x', "RULES:1: a quote is not closed"), ('kernel="x"y', "RULES:1: a blank is missing"),
                              ("kind=", "RULES:1: a pattern is empty"), ("kind=a\0b", "RULES:1: this is no text")):
            with self.subTest(text=text):
                self.assertIn(message, self.suppress(text, 3, "text"))
        done = run(TOOL, "text", str(self.folder), self.room.name + "/none")
        self.assertEqual(done.returncode, 3)
        self.assertIn("none: cannot read suppressions: No such file", done.stderr)

    def test_bad_results(self):
        self.stacks()
        whole = next(self.folder.iterdir())
        text = whole.read_text()
        for bad, message in ((text[: len(text) // 2], "cut short"), ("", "cut short"), ("{}", "no file of results"),
                             (text.replace('"version": 1', '"version": 2', 1), "another version"),
                             (text.replace('"sides"', '"sights"', 1), "lacks its tool, kind or sides")):
            with self.subTest(message=message):
                whole.write_text(bad)
                done = run(TOOL, "text", str(self.folder))
                self.assertEqual(done.returncode, 3)
                self.assertIn(message, done.stderr)

    def test_several_processes(self):
        self.stacks()
        self.stacks()
        report = json.loads(self.report("json"))
        self.assertEqual((len(report["processes"]), [finding["times"] for finding in report["findings"]]), (2, [10, 2]))

    def test_place_of_python(self):
        """The first line, and what code hosts show, is the program's own line, not a package's below it."""
        packages = "/home/u/.venv/lib/python3.11/site-packages"
        below = [{"file": f"{packages}/numba_cuda/driver.py", "function": "copy", "line": 9}, {"file": "/usr/lib/python3.11/contextlib.py", "function": "inner", "line": 81}]
        own = [{"file": "/somewhere/fit.py", "function": "main", "line": 33}]
        frozen = [{"file": "<frozen runpy>", "function": "_run_module_as_main", "line": 198}]
        kernel = {"what": "kernel", "how": "writes", "kernel": "add", "call": "cuLaunchKernel", "number": 1, "thread": 1}
        for name, frames, side, place in (("program", below + own, {}, "/somewhere/fit.py:33"), ("packages alone", below, {}, f"{packages}/numba_cuda/driver.py:9"),
                                          ("packages by python -m", below + frozen, {}, f"{packages}/numba_cuda/driver.py:9"),
                                          ("kernel of a package", below + own, {"file": f"{packages}/cub/scan.cuh", "line": 5}, "/somewhere/fit.py:33"),
                                          ("kernel", below + own, {"file": "/somewhere/add.cu", "line": 5}, "/somewhere/add.cu:5")):
            with self.subTest(name):
                finding = {"tool": "race", "kind": "race", "number": 1, "first": 1, "bytes": 4, "times": 1, "level": "error", "luck": False, "rough": False,
                           "sides": [{**kernel, **side, "site": 1}, {**kernel, "number": 2, "site": 1}]}
                results = {"format": "millrace-results", "version": 1, "pid": 7, "program": "/usr/bin/python3", "end": "exit", "calls": 1, "operations": 1, "accesses": 1,
                           "notes": [], "findings": [finding], "modules": [], "sites": [frames]}
                (self.folder / "7.results.json").write_text(json.dumps(results))
                self.assertTrue(self.report("text").startswith(f"{place}: race: "), self.report("text"))
                location = json.loads(self.report("sarif"))["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
                self.assertEqual((location["artifactLocation"]["uri"].removeprefix("file://"), str(location["region"]["startLine"])), tuple(place.rsplit(":", 1)))

    def test_unwritable(self):
        done = run(STACKS, self.room.name + "/none", PLUGIN)
        self.assertEqual(done.returncode, 4)
        self.assertIn("No such file", done.stderr)
        # No room for the file: a limit stands for a full disk.
        done = run("sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$0" "$1" "$2"', STACKS, str(self.folder), PLUGIN)
        self.assertIn("File too large", done.stderr)
        self.assertEqual((done.returncode, os.listdir(self.folder)), (4, []))

    def test_the_same_number_again(self):
        done = run("sh", "-c", 'echo old >"$1/$$.results.json"; echo part >"$1/$$-2.results.json.part"; exec "$0" "$1" "$2"', STACKS, str(self.folder), PLUGIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = sorted(re.sub(r"^\d+", "PID", name) for name in os.listdir(self.folder))
        self.assertEqual(names, ["PID-2.results.json.part", "PID-3.results.json", "PID.results.json"])


class Größe:
    def inner(self, library):
        return library.stack_here()


def outer(library):
    return Größe().inner(library)


@unittest.skipUnless((3, 8) <= sys.version_info < (3, 14) and PYTHON_SITE != "none", "frames of this Python are not known")
class Python(unittest.TestCase):
    def text(self, site):
        room = ctypes.create_string_buffer(20000)
        ctypes.CDLL(PYTHON_SITE).stack_text(site, room, len(room))
        return [line.rsplit("/", 1)[-1] for line in room.value.decode().splitlines() if not line.startswith("native")]

    def test_frames(self):
        line = Größe.inner.__code__.co_firstlineno
        name = "Größe.inner" if sys.version_info >= (3, 11) else "inner"
        for form in (ctypes.CDLL, ctypes.PyDLL): # the first one lets the interpreter's lock go
            library = form(PYTHON_SITE)
            sites = {outer(library) for _ in range(20)}
            self.assertEqual(len(sites), 1)
            self.assertEqual(self.text(sites.pop())[:2], [f"test_report.py:{line + 1} {name}", f"test_report.py:{outer.__code__.co_firstlineno + 1} outer"])

    def test_names_are_kept_once(self):
        library = ctypes.CDLL(PYTHON_SITE)
        one, other = library.stack_here(), \
            library.stack_here()
        self.assertNotEqual(one, other)
        self.assertTrue(library.names_shared(one, other))

    def test_thread(self):
        out = []
        thread = threading.Thread(target=lambda: out.append(outer(ctypes.CDLL(PYTHON_SITE))))
        thread.start()
        thread.join()
        self.assertIn("test_report.py", self.text(out[0])[0])
        self.assertRegex(self.text(out[0])[-1], r"^threading.py:\d+ .*_bootstrap$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
