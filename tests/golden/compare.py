#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the answers of a driver with those recorded on hardware.

    compare.py GOLDEN PROGRAM [--filter TEXT]... [--known FILE] [--jobs N] [--verbose]

PROGRAM is golden_cases, built against the driver in question.  An answer is
right when it equals the recorded one, or matches one of the case's other
right answers (golden_cases --allow).  A recorded crash or timeout is never a
right answer by itself.  A case that the golden file lacks is skipped.

FILE lists cases whose difference is known, one per line: the name, then the
reason after white space.  Such a case is skipped; when it passes after all,
that is a failure, so that the list never grows stale.
"""
import argparse
import fnmatch
import os
import subprocess
import sys


def parse(lines):
    """name -> answer, in order; comment lines left out."""
    answers = {}
    for line in lines:
        if line.startswith("#") or ": " not in line and not line.rstrip().endswith(":"):
            continue
        name, _, answer = line.rstrip("\n").partition(":")
        answers[name] = answer.strip()
    return answers


def read_allowed(program):
    """name -> (patterns, reason)."""
    text = subprocess.run([program, "--allow"], capture_output=True, text=True, check=True).stdout
    allowed = {}
    for line in text.splitlines():
        name, patterns, reason = (line.split("\t") + ["", ""])[:3]
        allowed[name] = (patterns.split("|"), reason)
    return allowed


def read_known(path):
    known = {}
    if path:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                name, _, reason = line.strip().partition(" ")
                if not reason.strip():
                    sys.exit(f"{path}:{number}: {name} has no reason")
                known[name] = reason.strip()
    return known


def crashed(answer):
    return answer == "timeout" or answer.startswith(("signal ", "exit "))


def run_cases(program, filters, jobs):
    """The program's answers; its parts run side by side."""
    command = [program]
    for text in filters:
        command += ["--filter", text]
    parts = max(jobs, 2)
    # The answers are those of an sm_90 device; cases for it need one here too.
    environment = {"MILLRACE_COMPUTE_CAPABILITY": "9.0", **os.environ}
    running = [
        subprocess.Popen(command + ["--shard", f"{part}/{parts}"], stdout=subprocess.PIPE, text=True, env=environment)
        for part in range(parts)
    ]
    answers = {}
    for process in running:
        answers.update(parse(process.communicate()[0].splitlines()))
        if process.returncode != 0:
            print(f"{program} ended with status {process.returncode}")
    names = subprocess.run(command + ["--list"], capture_output=True, text=True, check=True).stdout.split()
    missing = [name for name in names if name not in answers]
    return {name: answers[name] for name in names if name in answers}, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("golden")
    parser.add_argument("program")
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--known")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 2, 8))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()

    with open(options.golden, encoding="utf-8") as file:
        golden = parse(file)
    allowed, known = read_allowed(options.program), read_known(options.known)
    got, missing = run_cases(options.program, options.filter, options.jobs)

    passed, failed, skipped = 0, 0, 0
    for name in missing:
        failed += 1
        print(f"FAIL {name}: no answer at all")
    for name, answer in got.items():
        if name not in golden:
            skipped += 1
            print(f"SKIP {name}: not recorded on hardware\n    here      {answer}")
            continue
        patterns, reason = allowed.get(name, ([], ""))
        right = answer == golden[name] and not crashed(answer)
        right = right or any(fnmatch.fnmatchcase(answer, pattern) for pattern in patterns)
        if name in known and right:
            failed += 1
            print(f"FAIL {name}: passes, but is listed as a known difference")
        elif name in known:
            skipped += 1
            print(f"SKIP {name}: {known[name]}")
        elif right:
            passed += 1
            if options.verbose:
                print(f"PASS {name}: {answer}")
        else:
            failed += 1
            print(f"FAIL {name}\n    hardware  {golden[name]}\n    here      {answer}")
            for pattern in patterns:
                print(f"    or        {pattern}")
            if patterns:
                print(f"    because   {reason}")
    for name in golden if not options.filter else []:
        if name not in got and name not in missing:
            failed += 1
            print(f"FAIL {name}: recorded on hardware, but no longer a case")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not got else 0


if __name__ == "__main__":
    sys.exit(main())
