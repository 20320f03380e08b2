#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tool schedule under the driver: what runs in which order, by options in MILLRACE_OBSERVE.

Arguments: schedule_program, the folder with libcuda.so.1.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, LIBRARIES = sys.argv[1:3]


def run(schedule: str, what: str, workers: int = 1) -> tuple[list[str], dict, str]:
    """What the program printed, what it left, and the log. A busy machine is no reason to let anything go."""
    schedule += "" if "patience" in schedule else ":patience=60000"
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"LD_LIBRARY_PATH": LIBRARIES, "MILLRACE_OBSERVE": f"schedule:{schedule}", "MILLRACE_OBSERVE_OUT": folder,
                                    "MILLRACE_WORKERS": str(workers)}
        done = subprocess.run([PROGRAM, what], env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (schedule, what, done)
        left = [json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*.schedule.json")]
        assert len(left) <= 1
        return done.stdout.split("\n")[:-1], left[0] if left else {}, done.stderr


def letters(schedule: str, what: str) -> str:
    printed, left, _ = run(schedule, what)
    assert left["overdue"] == 0 and left["end"] == "exit", left
    return printed[-1].split()[0]


def test_orders() -> None:
    assert letters("eager", "four") == "ABCD"
    assert letters("late", "four") == "BADC"
    assert letters("reversed", "four") == "CBAD"
    assert letters("eager", "events") == "ABC"
    assert letters("reversed", "events") == "CAB"
    assert letters("eager", "graph") == "ABCD"
    assert letters("reversed", "graph") == "CBAD"
    assert letters("late", "poll") in ("ABC", "BAC")


def test_asks() -> None:
    """What was refused is asked about when the schedule wants to be asked, and not all the time: at most seven things
    are ready in a run, and each decision, call and wait lets them be asked about once more."""
    for schedule in ("eager", "reversed", "random:seed=1"):
        for workers in (1, 3):
            left = run(schedule, "graph", workers)[1]
            assert left["asked"] <= 7 * (left["decisions"] + 25), (schedule, workers, left)


def test_seeds() -> None:
    """The same run from the same seed, with several workers too; other seeds give other runs."""
    seen = set()
    for seed in range(8):
        for what in ("four", "graph", "copies"):
            runs = [run(f"random:seed={seed}:length=12", what, workers) for workers in (1, 3)]
            assert len({(tuple(printed), left["trace"]) for printed, left, _ in runs}) == 1, (seed, what, runs)
            seen.add((what, runs[0][0][-1]))
    assert len({order for what, order in seen if what == "four"}) > 3, seen
    assert len({order for what, order in seen if what == "graph"}) > 2, seen
    assert len({order for what, order in seen if what == "copies"}) == 2, seen


def calls_of(what: str) -> list[str]:
    return run("plain", what)[0][-1].split()[1:]


def test_witness() -> None:
    """One operation is held until the other is done, 20 times of 20."""
    first, second = calls_of("copies")
    for _ in range(20):
        printed, left, _ = run(f"plain:hold=1.{first}:until=1.{second}", "copies", 2)
        assert printed[-1].startswith("1 ") and left["hold_ended"] and left["until_ended"] and not left["let_go"], (printed, left)
        printed, left, _ = run(f"plain:hold=1.{second}:until=1.{first}", "copies", 2)
        assert printed[-1].startswith("2 ") and not left["let_go"], (printed, left)
    _, a, b, c, d = "", *calls_of("four")
    assert run(f"plain:hold=1.{b}:until=1.{d}", "four")[0][-1].split()[0].index("B") > 0
    nodes, last = run("plain", "graph")[0]
    one, two, three = nodes.split()
    launch = last.split()[1]
    for _ in range(5):
        assert run(f"plain:hold=1.{launch}@{one}:until=1.{launch}@{three}", "graph")[0][-1].startswith(("CAB", "CBA", "BCA"))
        assert run(f"plain:hold=1.{launch}@{three}:until=1.{launch}@{one}", "graph")[0][-1].startswith(("ABC", "ACB", "BAC"))


def test_bytes() -> None:
    """The bytes of the allocation as they were when each began and ended."""
    first, second = map(int, calls_of("copies"))
    _, left, _ = run(f"plain:hold=1.{first}:until=1.{second}:bytes=1.{first - 3}+1+2", "copies")
    assert (left["until_begins"], left["until_ends"], left["hold_begins"], left["hold_ends"]) == ("0000", "0000", "0000", "0000"), left
    _, left, _ = run(f"plain:hold=1.{first}:until=1.{second}:bytes=1.{first - 3}+0+4", "copies")
    assert (left["until_begins"], left["until_ends"], left["hold_begins"], left["hold_ends"]) == ("07000000", "02000000", "02000000", "01000000"), left


def test_let_go() -> None:
    """Nothing hangs: what everything waits for is let go, and so is what is waited for out of the driver's sight. A
    thread that has stopped goes on when another one, which waited, has gone on."""
    _, a, b, c = "", *calls_of("events")
    printed, left, _ = run(f"plain:hold=1.{a}:until=1.{b}", "events")
    assert printed[-1].split()[0].replace("C", "") == "AB" and left["let_go"] and left["overdue"] == 0, (printed, left)
    printed, left, _ = run("reversed:patience=200", "outside")
    assert sorted(printed[-1].split()[0]) == ["A", "B"] and left["overdue"] > 0, (printed, left)
    for schedule in ("eager", "random:seed=1", "random:seed=2", "late:patience=200", "reversed:patience=200"):
        assert sorted(run(schedule, "threads")[0][-1].split()[0]) == ["A", "B", "C"]


    for seed in range(20):
        assert run(f"random:seed={seed}", "joins")[1]["overdue"] == 0, seed


def test_end() -> None:
    """A program that ends while its work is held ends at once."""
    for schedule in ("late:patience=60000", "reversed:patience=60000", "random:seed=1:patience=60000"):
        _, left, log = run(schedule, "end")
        assert left["end"] == "exit" and left["overdue"] == 0 and "does not end" not in log, (left, log)


def test_bad() -> None:
    """What is not understood is told, and the program runs without a schedule."""
    for schedule, words in (("sideways", "'sideways' is no option"), ("hold=1.2", "belong together"), ("random:seed=x", "'seed=x'")):
        printed, left, log = run(schedule, "four")
        assert words in log and sorted(printed[-1].split()[0]) == list("ABCD"), (log, printed)
        assert not left
    _, left, _ = run("plain:hold=1.7:until=1.8:program=1234", "four")
    assert left["other_program"] and not left["hold_began"] and not left["held"], left


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(f"{name}: passed")
