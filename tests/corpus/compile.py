#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels of the corpus to PTX, a file for each source and variant.

    compile.py OUTPUT [--nvcc NVCC] [--millrace MILLRACE] [--jobs N] [--sources NAME,…] [--variants NAME,…]
    compile.py --pack ARCHIVE FOLDER

A variant is a compiler, an architecture and how much it optimises: nvcc-90-O3, clang-75-O0.  Files are called
VARIANT.SOURCE.ptx.  --pack puts a folder's files into ptx.tar.xz, the same bytes for the same files; texts in which
a compiler has put device functions of its own headers, which are not ours, stay out of it.
"""
import argparse
import concurrent.futures
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
ARCHITECTURES = (75, 80, 90)
# Sources that take something of the compiler's headers. What nvcc makes of those is not ours to keep.
HEADERS = ("header_half", "header_groups", "math")
NVCC = {"O3": [], "O0": ["-Xcicc", "-O0"], "fast": ["-use_fast_math"]}
CLANG = {"O3": [], "O0": ["-G"]}


def variants(options):
    """name -> command without the files."""
    found = {}
    for architecture in ARCHITECTURES:
        if options.nvcc:
            for level, words in NVCC.items():
                if level != "fast" or architecture == 90:
                    found[f"nvcc-{architecture}-{level}"] = [options.nvcc, "--ptx", f"-arch=compute_{architecture}", *words]
        if options.millrace:
            for level, words in CLANG.items():
                found[f"clang-{architecture}-{level}"] = [options.millrace, "cc", "--ptx", f"-arch=sm_{architecture}", *words]
    if options.variants:
        found = {name: command for name, command in found.items() if name in options.variants.split(",")}
    return found


def clean(text):
    """Without debug information, which names folders of the machine that compiled."""
    lines, depth, kept = text.splitlines(), 0, []
    in_section = False
    for line in lines:
        if line.lstrip().startswith(".section"):
            in_section = True
        if in_section:
            depth += line.count("{") - line.count("}")
            if "}" in line and depth == 0:
                in_section = False
            continue
        if re.match(r"\s*\.(file|loc)\b", line):
            continue
        kept.append(line)
    return re.sub(r"\.target (\w+), debug", r".target \1", "\n".join(kept)) + "\n"


def compile_one(name, command, source, output):
    path = output / f"{name}.{source}.ptx"
    done = subprocess.run([*command, str(HERE / f"{source}.cu"), "-o", str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        path.unlink(missing_ok=True)
        return f"{name} {source}: {done.stdout}{done.stderr}"
    path.write_text(clean(path.read_text()))
    return None


def ours(path):
    """True if a text holds nothing but what our sources say."""
    name, source = path.name.split(".")[:2]
    if not name.startswith("nvcc"):
        return True
    if source in HEADERS:
        return False
    functions = re.findall(r"^\.(?:visible |weak )?func\s*(?:\([^)]*\)\s*)?(\w+)", path.read_text(), re.MULTILINE)
    return not any(re.search(r"(?:^|\d)(?:__|atomic|min|max)", function) for function in functions)


def pack(archive, folder):
    kept = 0
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for path in sorted(pathlib.Path(folder).glob("*.ptx")):
            if not ours(path):
                continue
            data = path.read_bytes()
            member = tarfile.TarInfo(path.name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
            kept += 1
    print(f"{archive}: {kept} files, {os.path.getsize(archive)} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--pack", action="store_true")
    parser.add_argument("--nvcc")
    parser.add_argument("--millrace")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--sources", default=",".join(sorted(path.stem for path in HERE.glob("*.cu"))))
    parser.add_argument("--variants")
    options = parser.parse_args()
    if options.pack:
        pack(options.output, options.folder)
        return 0
    output = pathlib.Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    jobs = [(name, command, source, output) for name, command in variants(options).items() for source in options.sources.split(",")]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for message in pool.map(lambda job: compile_one(*job), jobs):
            if message:
                failed += 1
                print(message, file=sys.stderr)
    print(f"{len(jobs) - failed} compiled, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
