#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The project's own programs in CUDA C++ (tests/cudart, examples/cuda), compiled by millrace cc --check and run by
millrace check with the tools race, mem and init at once: nothing is reported but what docs/check.md explains.

test_project.py MILLRACE SOURCES
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MILLRACE, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
ENVIRONMENT = {**os.environ, "MILLRACE_DEVICES": "2"}
OPTIONS = {"per_thread": ["--default-stream", "per-thread"], "threads": ["--extended-lambda", "--default-stream", "per-thread"], "cooperative": ["-std=c++17"],
           "relocatable": ["-rdc=true"]}
PARTS = {"relocatable_other", "late_library"} # of other programs
# What is written to on purpose; and a program that expects what mem changes: a pool gives freed memory back.
FINDINGS = {"fault": ["wild-pointer"], "errors": ["wild-pointer"]}
TOOLS = {"pools": "race,init"}


def run(*command):
    return subprocess.run([str(word) for word in command], env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


def problem(sources, name, folder):
    program, report = folder / name, folder / f"{name}.json"
    made = run(MILLRACE, "cc", "--check", "-g", "-lineinfo", *OPTIONS.get(name.split("-")[1], []), "-o", program, *sources)
    if made.returncode:
        return f"{name} can't be compiled:\n{made.stderr}"
    done = run(MILLRACE, "check", "--tool", TOOLS.get(name.split("-")[1], "race,mem,init"), "--error-exitcode", "9", "--format", "json", "-o", report, "--", program)
    findings = json.loads(report.read_text())["findings"] if report.exists() else None
    expected = FINDINGS.get(name.split("-")[1], [])
    if done.returncode == (9 if expected else 0) and findings is not None and [finding["kind"] for finding in findings] == expected:
        return None
    titles = [finding["title"] for finding in findings or []]
    return f"{name}: ended with {done.returncode}, found {titles}:\n{done.stdout}{done.stderr}"


def main():
    programs = {}
    for folder in "tests/cudart", "examples/cuda":
        for source in sorted((SOURCES / folder).glob("*.cu")):
            if source.stem not in PARTS:
                programs[f"{source.parent.name}-{source.stem}"] = [source]
    programs["cudart-relocatable"].append(SOURCES / "tests/cudart/relocatable_other.cu")
    programs["cuda-relocatable"] = sorted((SOURCES / "examples/cuda/relocatable").glob("*.cu"))
    with tempfile.TemporaryDirectory() as room, concurrent.futures.ThreadPoolExecutor(2) as pool:
        texts = pool.map(lambda name: problem(programs[name], name, pathlib.Path(room)), programs)
        bad = [text for text in texts if text]
    print("\n".join(bad) or f"{len(programs)} programs")
    return 1 if bad or len(programs) < 30 else 0


sys.exit(main())
