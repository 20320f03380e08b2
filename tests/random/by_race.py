#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs under the race finder: none is reported that has all its waits, and each that lacks one is, with the
two operations that nothing orders.

    by_race.py RANDOM [--from SEED] [--seeds N] [--drops N] [--chunk N] [--threads LIBRARY] [--keep FOLDER]

RANDOM is the program that runs random programs (random_programs_checked). N seeds are run as they are, on one device
and on two, with and without random delays; the first N of --drops without a wait. LIBRARY is libmillrace-threads.so:
with it, half of the programs without a wait have several host threads, whose order is seen; else all have one.
Each operation is asked for from a place of its own (places.c), so a finding's call stacks say which operations of
which program it is about. What is not as it should be is told with the seed.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ORDERED = "race" # as millrace check has it
# Nothing counts as order that isn't documented, and a host function that has ended tells the host nothing.
STRICT = "race:strict:luck"
THREADS = "race:threads:luck" # the same, and threads are in order only by what they do
ONE_THREAD, NO_HOLD = 1023 - 128, 1023 - 256 # --features
DIGITS = 5


def run(random, folder, tool, first, count, *options, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MILLRACE_OBSERVE")} | settings
    environment |= {"MILLRACE_OBSERVE": tool, "MILLRACE_OBSERVE_OUT": str(folder)}
    folder.mkdir(parents=True)
    ran = subprocess.run([random, "--places", "--from", str(first), "--seeds", str(count), *options], env=environment,
                         capture_output=True, text=True, timeout=3000)
    (folder / "out").write_text(ran.stdout + ran.stderr)
    return ran


class Results:
    """What a process left, and which operation of which program a call stack is of."""

    def __init__(self, folder, ran):
        words = re.search(r"random: places([ \d]+), operations (\d+)", ran.stdout)
        self.digits = {int(place): digit for digit, place in enumerate(words[1].split())}
        self.operations = int(words[2])
        files = list(folder.glob("*.results.json"))
        self.content = json.loads(files[0].read_text()) if len(files) == 1 else None

    def operation(self, side):
        """(how-manieth program, which operation), or None."""
        if not side["site"]:
            return None
        own = [frame["offset"] for frame in self.content["sites"][side["site"] - 1]
               if "offset" in frame and self.content["modules"][frame["module"]]["path"] == self.content["program"]]
        number = 0
        digits = [self.digits[offset] for offset in own if offset in self.digits]
        if len(digits) != DIGITS:
            return None
        for digit in digits: # innermost first: that is the highest digit
            number = number * 16 + digit
        return divmod(number, self.operations)

    def findings(self):
        for finding in self.content["findings"]:
            yield finding, [self.operation(side) for side in finding["sides"]]


def tell(finding, operations, first):
    sides = []
    for side, operation in zip(finding["sides"], operations):
        seed = f"seed {first + operation[0]} operation {operation[1]}" if operation else "no operation of a program"
        sides.append(f"{side.get('call')} in {side.get('stream')} ({side.get('how')}; {seed})")
    return f"{finding['kind']}{' by luck' if finding['luck'] else ''}: {' and '.join(sides)}"


def ordered(random, folder, first, count, **settings):
    """Texts of what was reported, though nothing is missing."""
    ran = run(random, folder, ORDERED, first, count, **settings)
    results = Results(folder, ran)
    if ran.returncode or results.content is None:
        return [f"seeds from {first} {settings}: ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}"]
    if results.content["accesses"] < 20 * count:
        return [f"seeds from {first} {settings}: only {results.content['accesses']} accesses were seen"]
    return [f"{settings}: {tell(finding, operations, first)}" for finding, operations in results.findings()]


def dropped(random, folder, first, count, **settings):
    """Texts of programs that were not reported, and of reported pairs that the model has in order; in how many programs
    the two operations themselves were not named, how many there were, in how many a query or arrival ordered the two,
    and in how many arrival ordered all pairs."""
    threads = "LD_PRELOAD" in settings
    options = ["--in-turn", "--features", str(NO_HOLD)] if threads else ["--features", str(ONE_THREAD)]
    ran = run(random, folder, THREADS if threads else STRICT, first, count, "--drop-told", *options, **settings)
    results = Results(folder, ran)
    if ran.returncode or results.content is None:
        return [f"seeds from {first} {settings}: ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}"], [], 0, 0, 0, 0
    found = {}
    for _, operations in results.findings():
        if all(operations) and operations[0][0] == operations[1][0]:
            found.setdefault(first + operations[0][0], set()).add(frozenset(operation[1] for operation in operations))
    missed, wrong, near, count, queried = [], [], 0, 0, 0
    unordered = {int(words[1]): {frozenset(map(int, pair.split("-"))) for pair in words[2].split()}
                 for words in re.finditer(r"^random: seed (\d+): unordered(.*)$", ran.stdout, re.MULTILINE)}
    for line in ran.stdout.splitlines():
        words = re.match(r"random: seed (\d+): left out .* (?:nothing|arrival|a query) orders (\d+) \(.*\) and (\d+) \(", line)
        if not words:
            continue
        count += 1
        seed, pair = int(words[1]), frozenset((int(words[2]), int(words[3])))
        if seed not in found and unordered[seed]:
            missed.append(f"not reported: {line} {settings}")
            continue
        if found.setdefault(seed, set()) - unordered[seed]:
            wrong.append(f"reported, but in order: {line} {settings}: {sorted(map(sorted, found[seed] - unordered[seed]))}")
        queried += pair not in unordered[seed]
        near += pair in unordered[seed] and pair not in found[seed] # see docs/random-programs.md
    return missed, wrong, near, count, queried, ran.stdout.count("the order of arrival orders all")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("random")
    options.add_argument("--from", type=int, default=1, dest="first")
    options.add_argument("--seeds", type=int, default=100)
    options.add_argument("--drops", type=int, default=100)
    options.add_argument("--chunk", type=int, default=100)
    options.add_argument("--threads", help="libmillrace-threads.so")
    options.add_argument("--keep", type=pathlib.Path, help="leave the results in this folder, which is made")
    options = options.parse_args()
    false, missed, unnamed, near, drops, queried, threaded, by_arrival = [], [], [], 0, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as room:
        room = options.keep or pathlib.Path(room)
        settings = [{"MILLRACE_DEVICES": "1"}, {"MILLRACE_DEVICES": "2", "MILLRACE_CHAOS": "1"}]
        for i, first in enumerate(range(options.first, options.first + options.seeds, options.chunk)):
            count = min(options.chunk, options.first + options.seeds - first)
            false += ordered(options.random, room / f"ordered-{first}", first, count, **settings[i % 2])
        for i, first in enumerate(range(options.first, options.first + options.drops, options.chunk)):
            count = min(options.chunk, options.first + options.drops - first)
            threads = {"LD_PRELOAD": options.threads} if options.threads and i // 2 % 2 else {}
            more = dropped(options.random, room / f"dropped-{first}", first, count, **settings[i % 2], **threads)
            if threads:
                threaded, by_arrival = threaded + more[3], by_arrival + more[5]
            missed = missed + more[0]
            unnamed = unnamed + more[1]
            near, drops, queried = near + more[2], drops + more[3], queried + more[4]
    print("\n".join(false + missed + unnamed))
    print(f"{options.seeds} programs: {len(false)} reports too many; {drops} that lack a wait: {len(missed)} not reported, "
          f"{len(unnamed)} with a pair that is in order, {near} with another pair that isn't, {queried} whose pair a query or arrival has ordered; "
          f"{threaded} of them with several threads, in {by_arrival} of which the order of arrival in streams orders all pairs")
    return 1 if false or missed or unnamed or near > drops // 10 or drops < options.drops // 2 else 0


sys.exit(main())
