# SPDX-License-Identifier: Apache-2.0
"""millrace trace: a timeline of a program whose doings are known (trace_program.c).

test_trace.py MILLRACE PROGRAM
"""
import collections
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from timeline import Timeline, check_form, nanoseconds

MILLRACE, PROGRAM = map(os.path.abspath, sys.argv[1:3])
ROUNDS, COUNT, THREADS = 8, 1 << 16, 3
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Trace(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)
        self.temporary = self.room / "tmp"
        self.temporary.mkdir()
        self.file = self.room / "run.json"
        self.environment = {**os.environ, "TMPDIR": str(self.temporary), "MILLRACE_WORKERS": "3"}

    def run_trace(self, *arguments, status=0):
        done = subprocess.run([MILLRACE, "trace", *arguments], env=self.environment, capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(os.listdir(self.temporary), [])
        return done

    def trace(self, *options, end="exit", status=0):
        done = self.run_trace("-o", str(self.file), *options, "--", PROGRAM, end, status=status)
        timeline = Timeline(self.file.read_text())
        self.check_form(timeline)
        return timeline, done.stderr

    def check_form(self, timeline):
        """What is true of every timeline."""
        check_form(self, timeline)
        self.check_sums(timeline)

    def check_sums(self, timeline):
        for process in timeline.processes:
            works = [w for w in timeline.works if w["pid"] == process["pid"]]
            sums = collections.Counter()
            counts = collections.Counter()
            for work in works:
                name = (work["cat"], work["args"].get("kernel"))
                sums[name] += work["to"] - work["from"]
                counts[name] += 1
            self.assertEqual({(t["kind"], t.get("kernel")): t["total_ns"] for t in process["works"]}, dict(sums))
            self.assertEqual({(t["kind"], t.get("kernel")): t["count"] for t in process["works"]}, dict(counts))
            totals = [t["total_ns"] for t in process["works"]]
            self.assertEqual(totals, sorted(totals, reverse=True))
            busy = [w for w in works if w["cat"] in ("kernel", "copy", "fill", "host function")]
            edges = sorted([(w["from"], 1) for w in busy] + [(w["to"], -1) for w in busy])
            running = union = twice = 0
            for (time, more), (later, _) in zip(edges, edges[1:]):
                running += more
                union += (later - time) * (running > 0)
                twice += (later - time) * (running > 1)
            self.assertEqual((process["busy_ns"], process["overlap_ns"]), (union, twice))
            self.assertEqual(process["work_ns"], sum(w["to"] - w["from"] for w in busy))
            if busy:
                self.assertEqual(process["idle_ns"], edges[-1][0] - edges[0][0] - union)
            self.assertEqual(process["critical_works"], sum(w["args"].get("critical", False) for w in works))

    def test_program(self):
        timeline, said = self.trace()
        self.assertEqual(said, "")
        (process,) = timeline.processes
        self.assertEqual((process["end"], process["lost"], os.path.realpath(process["program"])), ("exit", 0, os.path.realpath(PROGRAM)))
        kinds = collections.Counter((w["cat"], w["name"]) for w in timeline.works if not w["args"].get("node"))
        self.assertEqual(kinds["kernel", "add"], 2 * ROUNDS)
        self.assertEqual(kinds["host function", "host function"], ROUNDS)
        self.assertEqual(kinds["copy", "copy"], ROUNDS)
        self.assertEqual(kinds["fill", "fill"], 1 + THREADS)
        self.assertEqual(kinds["graph", "graph"], 2)
        for work in timeline.works:
            args = work["args"]
            self.assertEqual(timeline.lanes[work["pid"], work["tid"]]["number"], args["stream"])
            if work["name"] == "add":
                self.assertEqual((args["grid"], args["block"]), ([COUNT // 256, 1, 1], [256, 1, 1]))
                self.assertEqual((args["kernel"], args["symbol"], args["asked by"]), ("add(unsigned int*, unsigned int)", "_Z3addPjj", "cuLaunchKernel"))
                self.assertEqual(args.get("function", "launch"), "launch")
            if work["cat"] == "copy":
                self.assertEqual(args["bytes"], 4 * COUNT)
            self.assertNotIn("status", args)
        calls = collections.Counter(c["name"] for c in timeline.calls)
        self.assertEqual(calls["cuLaunchKernel"], 2 * ROUNDS + 3)
        self.assertEqual((calls["cuGraphLaunch"], calls["cuEventSynchronize"]), (2, ROUNDS))
        threads = {c["tid"] for c in timeline.calls if c["name"] == "cuMemsetD8"}
        self.assertEqual(len(threads), THREADS)
        numbers = sorted(c["args"]["call"] for c in timeline.calls)
        self.assertEqual(len(numbers), len(set(numbers)))

    def test_streams_in_order(self):
        timeline, _ = self.trace()
        streams = collections.defaultdict(list)
        for work in timeline.works:
            if not work["args"].get("node"):
                streams[work["args"]["stream"]].append(work)
        for works in streams.values():
            self.assertEqual(len({w["tid"] for w in works}), 1)
            works.sort(key=lambda w: w["args"]["work"])
            for one, other in zip(works, works[1:]):
                self.assertLessEqual(one["to"], other["from"])
        order = [w["name"] for w in next(s for s in streams.values() if any(w["cat"] == "copy" for w in s))]
        self.assertEqual(order, ["add", "host function", "copy"] * ROUNDS)

    def test_graph(self):
        timeline, _ = self.trace()
        runs = [w for w in timeline.works if w["cat"] == "graph"]
        for run in runs:
            steps = [w for w in timeline.works if w["args"]["work"] == run["args"]["work"] and w["args"].get("node")]
            self.assertEqual([w["name"] for w in steps if w["cat"] == "kernel"], ["other"] * 3)
            for step in steps:
                self.assertTrue(run["from"] <= step["from"] and step["to"] <= run["to"])
            last = max(steps, key=lambda w: w["from"])
            self.assertTrue(all(w["to"] <= last["from"] for w in steps if w is not last and w["cat"] == "kernel"))

    def test_slices(self):
        timeline, _ = self.trace()
        works = {(w["args"]["work"], w["args"].get("node")): w for w in timeline.works}
        cut = set()
        for part in timeline.slices:
            name = (part["args"]["work"], part["args"].get("node"))
            self.assertEqual(part["name"], works[name]["name"])
            self.assertTrue(works[name]["from"] <= part["to"] and part["from"] <= works[name]["to"])
            cut.add(name)
        self.assertTrue(all(name in cut for name, w in works.items() if w["cat"] in ("kernel", "copy", "fill", "host function")))

    def test_arrows(self):
        timeline, _ = self.trace()
        found = collections.Counter()
        submitted = set()
        for ends in timeline.arrows.values():
            source, target = timeline.at(ends["s"])[-1], timeline.at(ends["f"])
            found[ends["s"]["name"], source["name"], target[0]["name"]] += 1
            if ends["s"]["name"] == "submit":
                self.assertEqual(source["args"]["call"], target[0]["args"]["call"])
                submitted.add(target[0]["args"]["work"])
        self.assertEqual(submitted, {w["args"]["work"] for w in timeline.works if not w["args"].get("node") and w["cat"] != "driver"} | submitted)
        self.assertEqual(found["submit", "cuLaunchKernel", "add"], 2 * ROUNDS)
        self.assertEqual(found["submit", "cuGraphLaunch", "graph"], 2)
        self.assertEqual(found["event", "add", "add"], ROUNDS)
        self.assertEqual(sum(count for (kind, _, _), count in found.items() if kind == "event"), ROUNDS)
        self.assertEqual(found["host waits", "copy", "cuEventSynchronize"], ROUNDS)
        self.assertEqual(found["host waits", "add", "cuStreamSynchronize"], 1)
        # A fill may go on after its call has returned, which then has not waited for it.
        ended = {call["args"]["call"]: call["to"] for call in timeline.calls}
        fills = [w for w in timeline.works if w["args"].get("asked by") == "cuMemsetD8"]
        self.assertEqual(len(fills), THREADS)
        waited = sum(fill["to"] <= ended[fill["args"]["call"]] for fill in fills)
        self.assertEqual(found["host waits", "fill", "cuMemsetD8"], waited)

    def ends_of(self, timeline, name):
        """The innermost span at each end of the arrows of a name."""
        return [(timeline.at(ends["s"])[-1], timeline.at(ends["f"])[0]) for ends in timeline.arrows.values() if ends["s"]["name"] == name]

    def test_waits_without_events(self):
        timeline, _ = self.trace(end="more")
        legacy = [(a["name"], b["name"]) for a, b in self.ends_of(timeline, "default stream") if a["cat"] == "kernel" or b["cat"] == "kernel"]
        self.assertEqual(sorted(legacy), [("add", "add"), ("add", "add"), ("add", "copy"), ("fill", "add")])
        waited = [(a["name"], b["name"]) for a, b in self.ends_of(timeline, "host waits")]
        self.assertIn(("copy", "cuMemcpyDtoH"), waited)
        self.assertIn(("other", "cuStreamQuery"), waited)
        ((write, wait),) = self.ends_of(timeline, "value")
        self.assertEqual((write["args"]["asked by"], wait["args"]["asked by"]), ("cuStreamWriteValue32", "cuStreamWaitValue32"))
        critical = [w for w in timeline.works if w["args"].get("critical")]
        asked = [w["args"]["asked by"] for w in sorted(critical, key=lambda w: w["from"])]
        self.assertEqual(timeline.processes[0]["critical_works"], len(asked))
        self.assertIn("cuStreamWriteValue32", asked)
        self.assertIn("cuMemcpyDtoH", asked)

    def test_steps(self):
        timeline, _ = self.trace()
        for run, step in self.ends_of(timeline, "graph"):
            self.assertEqual((run["cat"], run["args"]["work"]), ("graph", step["args"]["work"]))
            self.assertNotEqual(run["tid"], step["tid"])

    def check_with_trace(self, file, *options, end, status):
        return subprocess.run([MILLRACE, "check", "--trace", str(file), *options, "--", PROGRAM, end], env=self.environment, capture_output=True, text=True, timeout=240), status

    def test_findings(self):
        done, status = self.check_with_trace(self.file, end="race", status=1)
        self.assertEqual(done.returncode, status, done.stderr)
        timeline = Timeline(self.file.read_text())
        self.check_form(timeline)
        (finding,) = timeline.processes[0]["findings"]
        self.assertEqual((finding["number"], finding["kind"], len(finding["drawn"])), (1, "race", 2))
        self.assertIn("nothing orders them", finding["title"])
        self.assertIn("wait for", finding["mend"])
        ((ends),) = [ends for ends in timeline.arrows.values() if ends["s"]["cat"] == "finding"]
        works = [timeline.at(ends[end])[0] for end in "sf"]
        self.assertEqual([w["name"] for w in works], ["add", "add"])
        self.assertEqual(len({w["args"]["stream"] for w in works}), 2)
        marks = [m for m in timeline.marks if m["cat"] == "finding"]
        self.assertEqual(sorted(m["tid"] for m in marks), sorted(w["tid"] for w in works))
        # Without a finding, and with one that a rule hides.
        done, _ = self.check_with_trace(self.file, end="exit", status=0)
        self.assertEqual((done.returncode, Timeline(self.file.read_text()).processes[0]["findings"]), (0, []), done.stderr)
        rules = self.room / "rules"
        rules.write_text("kind=race\n")
        done, _ = self.check_with_trace(self.file, "--suppress", str(rules), end="race", status=0)
        self.assertEqual((done.returncode, Timeline(self.file.read_text()).processes[0]["findings"]), (0, []), done.stderr)
        done, _ = self.check_with_trace("/nowhere/run.json", end="exit", status=125)
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot write /nowhere/run.json", done.stderr)

    def test_critical_path(self):
        timeline, _ = self.trace()
        path = [w for w in timeline.works if w["args"].get("critical")]
        self.assertTrue(path)
        path.sort(key=lambda w: w["from"])
        for one, other in zip(path, path[1:]):
            self.assertLessEqual(one["to"], other["from"])
        (process,) = timeline.processes
        self.assertEqual(process["critical_ns"], sum(w["to"] - w["from"] for w in path))
        self.assertLessEqual(process["critical_ns"] + process["critical_host_ns"], process["span_ns"])

    def test_ends(self):
        timeline, said = self.trace(end="fail", status=3)
        self.assertEqual(timeline.processes[0]["end"], "exit")
        for end, number in (("kill", 9), ("abort", 6)):
            timeline, said = self.trace(end=end, status=128 + number)
            self.assertIn(f"was ended by signal {number}", said)
            self.assertEqual(timeline.processes[0]["end"], "" if end == "kill" else "signal 6")
            self.assertEqual(sum(w["name"] == "add" for w in timeline.works), 2 * ROUNDS)
        timeline, _ = self.trace(end="again")
        self.assertEqual([p["end"] for p in timeline.processes], ["", "exit"])
        self.assertEqual(len({p["pid"] for p in timeline.processes}), 2)
        self.assertEqual(len({p["process"] for p in timeline.processes}), 1)

    def test_limit(self):
        timeline, said = self.trace("--limit", "1", "--no-sites", end="many")
        (process,) = timeline.processes
        self.assertGreater(process["lost"], 0)
        self.assertIn(f"had no room for its last {process['lost']} records", said)
        self.assertFalse(any("function" in c["args"] or "module" in c["args"] for c in timeline.calls))

    def test_threads_that_end_leave_their_room(self):
        timeline, _ = self.trace("--limit", "8", end="threads")
        self.assertEqual(timeline.processes[0]["lost"], 0)
        self.assertEqual(sum(c["name"] == "cuMemsetD8" for c in timeline.calls), 2000 + THREADS)

    def test_two_processes(self):
        self.run_trace("-o", str(self.file), "--", "sh", "-c", f"'{PROGRAM}' & '{PROGRAM}'; wait")
        timeline = Timeline(self.file.read_text())
        self.check_form(timeline)
        self.assertEqual(len(timeline.processes), 2)
        self.assertEqual(sum(w["name"] == "add" for w in timeline.works), 4 * ROUNDS)

    def test_without_cuda(self):
        done = self.run_trace("-o", "-", "--", "true")
        self.assertEqual(json.loads(done.stdout)["traceEvents"], [])
        self.assertIn("no process has used CUDA through Millrace", done.stderr)

    def test_bad_arguments(self):
        for arguments, status, message in (([], 2, "name a file for the timeline"), (["-o", "x"], 2, "name the program to run"),
                                           (["--limit", "0", "-o", "x", "true"], 2, "--limit can't be '0'"), (["--limit", "1x"], 2, "--limit can't be '1x'"),
                                           (["-o"], 2, "-o needs a value"), (["--colour"], 2, "'--colour' is not understood"),
                                           (["-o", str(self.room / "none" / "x"), "true"], 125, "cannot write"),
                                           (["-o", str(self.file), "/nonexistent/program"], 127, "cannot start /nonexistent/program"),
                                           (["-o", str(self.file), str(self.room)], 126, "cannot start")):
            with self.subTest(arguments=arguments):
                self.assertIn(message, self.run_trace(*arguments, status=status).stderr)
        self.assertIn("Usage: millrace trace", self.run_trace("--help").stdout)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no device that is full")
    def test_full_disk(self):
        self.assertIn("cannot write /dev/full: No space left", self.run_trace("-o", "/dev/full", "--", "true", status=125).stderr)

    def test_damaged(self):
        """A process's file with bytes turned over: never more than a message."""
        script = f"'{PROGRAM}'; python3 - <<'END'\nimport glob, os, random\nrandom.seed(1)\n" \
                 "path, = glob.glob(os.environ['MILLRACE_OBSERVE_OUT'] + '/*.trace')\n" \
                 "data = bytearray(open(path, 'rb').read())\nfor i in range(300):\n    data[random.randrange(4096, 20000)] = random.randrange(256)\n" \
                 "open(path, 'wb').write(data[:30001])\nEND"
        done = self.run_trace("-o", str(self.file), "--", "sh", "-c", script, status=125)
        self.assertIn("is damaged", done.stderr)
        json.loads(self.file.read_text())


@unittest.skipUnless(CHROMIUM, "no Chromium")
class Page(unittest.TestCase):
    """The page in a browser without a window: a script that is put at its end does what a user would, and leaves what
    is seen then."""

    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = pathlib.Path(room.name)

    def open(self, page, script):
        file = self.room / "opened.html"
        before = "<script>window.onerror = (text) => { document.documentElement.dataset.fault = text; };</script>"
        after = "<script>document.documentElement.dataset.seen = JSON.stringify((() => {" + script + "})());</script>"
        file.write_text(page.replace("<head>", "<head>" + before, 1).replace("</body>", after + "</body>"))
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.room}/profile", "--window-size=1200,900",
                               "--virtual-time-budget=2000", "--dump-dom", file.as_uri()], capture_output=True, text=True, timeout=240)
        self.assertIsNone(re.search(r'data-fault="[^"]*"', done.stdout))
        seen = re.search(r'data-seen="([^"]*)"', done.stdout)
        self.assertIsNotNone(seen, done.stdout[-2000:] + done.stderr[-2000:])
        return json.loads(html.unescape(seen[1]))

    def both(self, *tools, status=0):
        """The page and Chrome's form of one run."""
        folder, file = self.room / "results", self.room / "run"
        done = subprocess.run([MILLRACE, "trace", "-o", f"{file}.html", "--results", str(folder), "--", PROGRAM, *tools], timeout=240,
                              env={**os.environ, "MILLRACE_WORKERS": "3"})
        self.assertEqual(done.returncode, status)
        subprocess.run([MILLRACE, "trace", "-o", f"{file}.json", "--results", str(folder)], check=True, timeout=240)
        return pathlib.Path(f"{file}.html").read_text(), Timeline(pathlib.Path(f"{file}.json").read_text())

    def test_all_of_it(self):
        """Each span, mark and arrow of the page is one of Chrome's form, with all that is said of it."""
        page, timeline = self.both("exit")
        seen = self.open(
            page,
            """
            const all = spans.map((s) => [s.lane.pid, s.lane.name, s.mark ? "i" : "X", s.cat, s.name, s.from, s.to - s.from, s.args]);
            const numbers = [...Array(arrowCount).keys()];
            return { all, arrows: numbers.map(arrowAt).map((a) => a && [a.name, a.from, a.to, a.a.lane.name, a.b.lane.name]), processes: data.processes };""",
        )
        self.assertEqual(seen["processes"], timeline.processes)
        lanes = {key: lane["name"] for key, lane in timeline.lanes.items()}
        expected = [[e["pid"], lanes[e["pid"], e["tid"]], e["ph"], e["cat"], e["name"], nanoseconds(e["ts"]), nanoseconds(e.get("dur", 0)), e["args"]]
                    for e in timeline.events if e["ph"] in "Xi"]
        self.assertGreater(len(expected), 100)
        in_order = lambda all_of_it: sorted(all_of_it, key=json.dumps)
        self.assertEqual(in_order(seen["all"]), in_order(expected))
        ends = [(arrow["s"], arrow["f"]) for arrow in timeline.arrows.values()]
        self.assertEqual(in_order(seen["arrows"]), in_order([[s["name"], nanoseconds(s["ts"]), nanoseconds(f["ts"]), lanes[s["pid"], s["tid"]], lanes[f["pid"], f["tid"]]] for s, f in ends]))

    def test_page(self):
        page, timeline = self.both()
        self.assertNotRegex(page, r'(?:src|href)=|https?:|@import|url\(')
        seen = self.open(
            page,
            """
            const add = spans.filter((s) => s.name === "add" && s.lane.kind === "stream");
            const rows = [...document.querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
            search("add kernel");
            const matches = foundList.length;
            step(1);
            const detail = $("detail").textContent, shown = [from, to], target = [chosen.from, chosen.to];
            search("nothing is called so");
            return { rows, matches, detail, shown, target, none: foundList.length, lanes: lanes.length, spans: spans.length,
                     arrows: arrowCount, add: add.length, title: document.title, ink: width > 0 && tall > 0 };""",
        )
        (process,) = timeline.processes
        self.assertEqual([(row[0], row[1], int(row[2])) for row in seen["rows"]], [(w.get("kernel", w["name"]), w["kind"], w["count"]) for w in process["works"]])
        self.assertEqual((seen["matches"], seen["add"], seen["none"]), (2 * ROUNDS, 2 * ROUNDS, 0))
        self.assertEqual((seen["lanes"], seen["spans"], seen["arrows"]), (len(timeline.lanes), len(timeline.spans), len(timeline.arrows)))
        self.assertIn("add(unsigned int*, unsigned int)", seen["detail"])
        self.assertIn("cuLaunchKernel in thread", seen["detail"])
        self.assertTrue(seen["shown"][0] < seen["target"][0] <= seen["target"][1] < seen["shown"][1])
        self.assertTrue(seen["ink"])
        self.assertIn("trace_program", seen["title"])

    def test_keyboard(self):
        file = self.room / "run.html"
        done = subprocess.run([MILLRACE, "check", "--trace", str(file), "--", PROGRAM, "race"], timeout=240, capture_output=True, env={**os.environ, "MILLRACE_WORKERS": "3"})
        self.assertEqual(done.returncode, 1, done.stderr)
        seen = self.open(
            file.read_text(),
            """
            const press = (key, target) => (target || document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
            const before = to - from;
            press("w");
            const closer = to - from;
            press("-");
            press("f");
            const names = [];
            press("ArrowDown");
            const first = chosen;
            press("ArrowRight");
            const second = chosen;
            press("ArrowLeft");
            const back = chosen === first;
            press("ArrowDown");
            const below = chosen.lane;
            press("z");
            const shown = to - from, inView = chosen.from >= from && chosen.to <= to;
            press("/");
            const focused = document.activeElement.id;
            search("add kernel");
            press("Enter", $("search"));
            const found = chosen.name;
            press("Escape", $("search"));
            const header = document.querySelectorAll("th")[0], row = document.querySelectorAll("tbody tr")[0];
            press("Enter", header);
            press("Enter", row);
            return { closer: closer < before, sequence: second.from >= first.from && second !== first, back, below: below !== first.lane, inView,
                     focused, found, sorted: header.getAttribute("aria-sort"), chosen: chosen.cat, title: chosen.args.title,
                     tables: [...document.querySelectorAll("h2")].map((h) => h.textContent), races: arrowsShown((table) => table.category === "finding").length,
                     figure: $("summary").textContent.includes("1 finding") };""",
        )
        self.assertEqual((seen["closer"], seen["sequence"], seen["back"], seen["below"], seen["inView"]), (True,) * 5)
        self.assertEqual((seen["focused"], seen["found"], seen["sorted"], seen["chosen"]), ("search", "add", "ascending", "finding"))
        self.assertIn("nothing orders them", seen["title"])
        self.assertEqual((seen["tables"], seen["races"], seen["figure"]), (["Findings of the check", "Works by total time"], 1, True))

    def test_names_that_look_like_a_page(self):
        folder = self.room / "<script>"
        folder.mkdir()
        shutil.copy(PROGRAM, folder / "program")
        file = self.room / "run.html"
        subprocess.run([MILLRACE, "trace", "-o", str(file), "--", str(folder / "program")], check=True, timeout=240)
        seen = self.open(file.read_text(), "return { title: document.title, text: $('programs').textContent };")
        self.assertEqual(seen, {"title": "program – millrace trace", "text": os.path.realpath(folder / "program")})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
