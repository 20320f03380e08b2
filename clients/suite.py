#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a client's own test files and compares the counts with docs/clients.md.

    suite.py pytest   SUITE OUTPUT -- PYTHON-COMMAND… FILE…      one process of pytest
    suite.py unittest SUITE OUTPUT -- PYTHON-COMMAND… MODULE…    a process for each module, two at a time

docs/clients.md is the one home of what is expected: a row "| SUITE | passed | failed | skipped |" in its table of
counts, and in the tables of what is left out a row "| SUITE | test | reason |" for each test (or file, class or
beginning of a test's name) that is not run. OUTPUT is a folder for logs and results. The last line printed is "SUITE: N
passed, N failed, N skipped, N left out"; the status is 0 if no fewer tests pass than the docs state and no more fail.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
DOCS = HERE.parent / "docs" / "clients.md"
MODULE_SECONDS = 1800
SUITE_SECONDS = 6000


def rows():
    for line in DOCS.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            yield [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]


def expected_counts(suite):
    for row in rows():
        if len(row) == 4 and row[0] == suite and row[1].isdigit():
            return tuple(map(int, row[1:]))
    return None


def left_out(suite):
    return [row[1] for row in rows() if len(row) == 3 and row[0] == suite]


def outcome_of(case):
    for kind, outcome in (("failure", "failed"), ("error", "failed"), ("skipped", "skipped")):
        if case.find(kind) is not None:
            return outcome
    return "passed"


def run_pytest(output, names, command, files):
    """Returns {test: outcome}. Names that are left out are those of functions, with their class."""
    report = output / "report.xml"
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no", "-o", "xfail_strict=false", f"--junitxml={report}"]
    # A test's id begins with its file's place below this folder, or below the one that holds all files.
    root = os.path.commonpath([os.path.dirname(file) for file in files])
    arguments.append(f"--rootdir={root}")
    for file in files:
        arguments += [f"--deselect={os.path.relpath(file, root)}::{name}" for name in names]
    with open(output / "log.txt", "wb") as log:
        try:
            subprocess.run(
                command + arguments + files,
                cwd=output,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=SUITE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {f"the whole suite: not done in {SUITE_SECONDS} s": "failed"}
    if not report.exists():
        return {"the whole suite: no report was written": "failed"}
    return {f"{case.get('classname')}::{case.get('name')}": outcome_of(case) for case in ElementTree.parse(report).iter("testcase")}


def run_module(output, names, command, module):
    """One module in a process of its own: a crash or a hang costs this module only."""
    results = output / f"{module}.results"
    results.unlink(missing_ok=True)
    note = None
    with open(output / f"{module}.log", "wb") as log:
        try:
            status = subprocess.run(
                command + [str(HERE / "unittest_module.py"), module, str(results), json.dumps(names)],
                cwd=output,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=MODULE_SECONDS,
                check=False,
            ).returncode
            if status != 0:
                note = f"ended with status {status}"
        except subprocess.TimeoutExpired:
            note = f"not done in {MODULE_SECONDS} s"
    outcomes = {}
    for line in results.read_text(encoding="utf-8").splitlines() if results.exists() else []:
        outcome, test = line.split(" ", 1)
        outcomes[test] = "failed" if outcome == "begun" else outcome
    if note:
        outcomes[f"{module}: {note}"] = "failed"
    return outcomes


def run_modules(output, names, command, modules):
    outcomes, done, begun = {}, 0, time.monotonic()
    modules = [module for module in modules if module.rpartition(".")[2] not in names]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(run_module, output, names, command, module) for module in modules]
        for future in concurrent.futures.as_completed(futures):
            outcomes.update(future.result())
            done += 1
            if done % 10 == 0:
                print(f"  {done} of {len(modules)} files, {time.monotonic() - begun:.0f} s", flush=True)
    return outcomes


def main():
    kind, suite, output = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    rest = sys.argv[sys.argv.index("--") + 1:]
    split = next(i for i, word in enumerate(rest) if word.endswith("python")) + 1
    command, targets = rest[:split], rest[split:]
    shutil.rmtree(output, ignore_errors=True)
    os.makedirs(output)
    names = left_out(suite)
    outcomes = (run_pytest if kind == "pytest" else run_modules)(output, names, command, targets)
    for test, outcome in sorted(outcomes.items()):
        if outcome == "failed":
            print(f"  failed: {re.sub(r'^numba[.]cuda[.]tests[.]', '', test)}")
    passed, failed, skipped = (sum(outcome == kind for outcome in outcomes.values()) for kind in ("passed", "failed", "skipped"))
    expected = expected_counts(suite)
    status = 0
    if expected is None:
        print(f"  {DOCS.name} has no counts for {suite}")
        status = 1
    elif passed < expected[0] or failed > expected[1]:
        print(f"  worse than {DOCS.name} states: {expected[0]} passed, {expected[1]} failed; logs in {output}")
        status = 1
    elif passed > expected[0] or failed < expected[1]:
        print(f"  better than {DOCS.name} states: {expected[0]} passed, {expected[1]} failed; write the new counts there")
    print(f"{suite}: {passed} passed, {failed} failed, {skipped} skipped, {len(names)} left out", flush=True)
    return status


sys.exit(main())
