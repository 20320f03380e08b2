#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the corpus computed on hardware, recorded and compared.

    golden.py unpack FOLDER                                   the PTX texts that come with the sources
    golden.py fold GOLDEN VALUES GPU DRIVER RAW…              what the program corpus printed, into two files
    golden.py compare GOLDEN VALUES PROGRAM [--known FILE] [--full [--level L] | --hurry] [--ptx FOLDER] [--nvcc NVCC]
    [--jobs N] [--filter TEXT]

A line of GOLDEN is SOURCE.KERNEL HASH VARIANTS, where * stands for all variants that no other line names.  VALUES holds
the results behind the hashes of kernels that may differ within a bound: bounds.py says which bound.

compare runs a sample, unless --full is given: every kernel of nvcc's and clang's optimised code for sm_90, of clang's
unoptimised code for sm_75, and those of forms.py.  The first is compiled with all of LLVM's passes, the second and the
last in a hurry, as for programs that don't say (-), the third with hardly any passes; --level L is for --full.  With
--hurry all of it is compiled in a hurry: for sanitizers, which look at Millrace's code and not at LLVM's.
"""
import argparse
import collections
import lzma
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time

import bounds

HERE = pathlib.Path(__file__).resolve().parent


def unpack(folder):
    with tarfile.open(HERE / "ptx.tar.xz") as tar:
        for member in tar.getmembers():
            if re.fullmatch(r"[\w.-]+\.ptx", member.name):
                (pathlib.Path(folder) / member.name).write_bytes(tar.extractfile(member).read())


def read_raw(paths):
    """(source.kernel, variant) -> (hash or a status, values or None)."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if len(words) < 3:
                    continue
                variant, _, source = words[0].rpartition(".")
                status = words[2] if len(words[2]) == 16 else " ".join(words[2:4]).replace(" ", "-")
                found[f"{source}.{words[1]}", variant] = (status, words[3] if len(words[2]) == 16 and len(words) > 3 else None)
    return found


def fold(golden, values, gpu, driver, raw):
    kernels, texts = collections.defaultdict(lambda: collections.defaultdict(list)), {}
    for (kernel, variant), (answer, text) in read_raw(raw).items():
        kernels[kernel][answer].append(variant)
        if text:
            texts[kernel, answer] = text
    recorded = read_raw(raw)
    with open(golden, "w", encoding="utf-8") as file:
        file.write("# What the corpus computed; made by record.sh, compared by golden.py.\n")
        file.write(f"# gpu: {gpu}\n# driver: {driver}\n# date: {time.strftime('%Y-%m-%d', time.gmtime())}\n")
        for name in sorted({f"{variant}.{kernel.partition('.')[0]}" for kernel, variant in recorded}):
            file.write(f"# recorded: {name}\n")
        for kernel, answers in sorted(kernels.items()):
            most = max(answers, key=lambda answer: (len(answers[answer]), answer))
            for answer, names in sorted(answers.items(), key=lambda item: (item[0] != most, item[0])):
                file.write(f"{kernel} {answer} {'*' if answer == most else ','.join(sorted(names))}\n")
    with lzma.open(values, "wt", encoding="utf-8", preset=9) as file:
        for (kernel, answer), text in sorted(texts.items()):
            file.write(f"{kernel} {answer} {text}\n")


def read_golden(path):
    """source.kernel -> variant or * -> answer; the VARIANT.SOURCE that were recorded."""
    golden, recorded = collections.defaultdict(dict), set()
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("# recorded: "):
                recorded.add(line.split()[2])
            elif not line.startswith("#"):
                kernel, answer, names = line.split()
                for name in names.split(","):
                    golden[kernel][name] = answer
    return golden, recorded


def read_values(path):
    found = {}
    if path and os.path.exists(path):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                kernel, answer, text = line.split()
                found[kernel, answer] = text
    return found


def read_known(path):
    """Patterns of SOURCE.KERNEL, with a reason each."""
    known = []
    if path:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip() and not line.startswith("#"):
                    pattern, _, reason = line.strip().partition(" ")
                    if not reason.strip():
                        sys.exit(f"{path}:{number}: {pattern} has no reason")
                    known.append((re.compile(pattern.replace(".", r"\.").replace("*", ".*")), reason.strip()))
    return known


# What is run without --full, and how much is optimised: the code that programs have, and the code that is most unlike
# it.
SAMPLE = {"nvcc-90-O3": "4", "clang-90-O3": "-", "clang-75-O0": "0", "forms-90": "-"}


def choose(folder, options):
    """level -> files."""
    groups = collections.defaultdict(list)
    for path in sorted(pathlib.Path(folder).glob("*.ptx")):
        variant = path.name.split(".")[0]
        if options.filter and options.filter not in path.name:
            continue
        if options.full:
            groups[options.level].append(path)
        elif variant in SAMPLE:
            groups["-" if options.hurry else SAMPLE[variant]].append(path)
    return groups


def run(program, groups, jobs, folder):
    """The raw lines of all files, in parts side by side."""
    environment = {"MILLRACE_COMPUTE_CAPABILITY": "9.0", **os.environ}
    running, outputs = [], []
    for level, files in groups.items():
        for part in range(jobs):
            some = files[part::jobs]
            if some:
                outputs.append(folder / f"raw-{level}-{part}")
                with open(outputs[-1], "w", encoding="utf-8") as file:
                    running.append(subprocess.Popen([program, "--values", "--level", level, *map(str, some)], stdout=file, env=environment))
    statuses = [process.wait() for process in running]
    if any(statuses):
        print(f"{program} ended with {statuses}")
    return read_raw(outputs), any(statuses)


def compare(options):
    (golden, recorded), values, known = (
        read_golden(options.golden),
        read_values(options.values),
        read_known(options.known),
    )
    passed, within, skipped, failures, useless = 0, 0, 0, [], {pattern for pattern, _ in known}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ptx = pathlib.Path(options.ptx) if options.ptx else folder
        if not options.ptx:
            unpack(folder)
        if options.nvcc:
            subprocess.run([sys.executable, HERE / "compile.py", ptx, "--nvcc", options.nvcc, "--sources", "header_half,header_groups,math"], check=True)
        got, broken = run(options.program, choose(ptx, options), options.jobs, folder)
    for (kernel, variant), (answer, text) in got.items():
        answers = golden.get(kernel, {})
        right = answers.get(variant, answers.get("*")) if f"{variant}.{kernel.partition('.')[0]}" in recorded else None
        reasons = [(pattern, reason) for pattern, reason in known if pattern.fullmatch(kernel) or pattern.fullmatch(f"{kernel}@{variant}")]
        if right is None:
            skipped += 1
        elif answer == right:
            passed += 1
        elif text and (kernel, right) in values:
            message = bounds.differs(kernel.partition(".")[2], values[kernel, right], text)
            if message is None:
                passed += 1
                within += 1
            elif reasons:
                skipped += 1
                useless.discard(reasons[0][0])
            else:
                failures.append(f"{kernel} {variant}: {message}")
        elif reasons:
            skipped += 1
            useless.discard(reasons[0][0])
        else:
            failures.append(f"{kernel} {variant}: {answer}, on hardware {right}")
    if options.full and options.nvcc:
        failures += [f"{pattern.pattern} is listed as a known difference, but nothing differs" for pattern in useless]
    for failure in failures:
        print(f"FAIL {failure}")
    print(f"{within} of them within a bound, all others bit for bit")
    print(f"{passed} passed, {len(failures)} failed, {skipped} skipped")
    return 1 if failures or broken or not passed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("unpack").add_argument("folder")
    part = commands.add_parser("fold")
    for name in ("golden", "values", "gpu", "driver"):
        part.add_argument(name)
    part.add_argument("raw", nargs="+")
    part = commands.add_parser("compare")
    for name in ("golden", "values", "program"):
        part.add_argument(name)
    part.add_argument("--known")
    part.add_argument("--ptx")
    part.add_argument("--nvcc")
    part.add_argument("--filter")
    part.add_argument("--level", default="4")
    part.add_argument("--full", action="store_true")
    part.add_argument("--hurry", action="store_true")
    part.add_argument("--jobs", type=int, default=min(os.cpu_count() or 2, 4))
    options = parser.parse_args()
    if options.command == "unpack":
        unpack(options.folder)
    elif options.command == "fold":
        fold(options.golden, options.values, options.gpu, options.driver, options.raw)
    else:
        return compare(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
