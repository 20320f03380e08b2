#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Audit libraries that do nothing, for programs of other architectures.

`millrace run` names its audit library in LD_AUDIT, and child processes inherit that. A loader of another architecture
can't load it, and says so on standard error. So LD_AUDIT holds a path with $LIB in it, which each loader replaces by
the name of its own folder of libraries ("lib/x86_64-linux-gnu", "lib32"). Behind the name of this architecture's
folder is Millrace's library. Behind the others is one of these: a shared object whose la_version answers 0, which tells
the loader to do without it (man 7 rtld-audit).

    silent_audit.py MACHINE OUTPUT                    writes the library for a machine
    silent_audit.py --tree FOLDER STAMP NAME=TARGET…  makes FOLDER/NAME/libmillrace-audit.so lead to each target, then
    STAMP
"""
import os
import pathlib
import struct
import sys

# By machine: bits, its number in ELF headers, and the code of la_version, which returns 0.
MACHINES = {
    "i386": (32, 3, bytes.fromhex("31c0c3")),
    "aarch64": (64, 183, bytes.fromhex("00008052c0035fd6")),
}
PAGE = 0x10000  # the largest page of these machines
LOAD, DYNAMIC, STACK = 1, 2, 0x6474E551  # kinds of segments
EXECUTABLE, WRITABLE, READABLE = 1, 2, 4
HASH, STRINGS, SYMBOLS, STRINGS_SIZE, SYMBOL_SIZE, SONAME = 4, 5, 6, 10, 11, 14  # entries of the dynamic section


def library(bits: int, machine: int, code: bytes) -> bytes:
    """The file: one segment with everything that is read, then one with the dynamic section, to which loaders write."""
    wide = bits == 64
    word = "Q" if wide else "I"
    header_size, segment_size, symbol_size = (64, 56, 24) if wide else (52, 32, 16)
    names = b"\0la_version\0libmillrace-audit.so\0"
    at = header_size + 4 * segment_size
    place = {}
    for name, size in ("hash", 20), ("symbols", 2 * symbol_size), ("names", len(names)), ("code", len(code)), ("dynamic", 0):
        at = (at + 15) // 16 * 16
        place[name] = at
        at += size

    def segment(kind, flags, begin, size, address, align):
        order = (
            (kind, flags, begin, address, address, size, size, align)
            if wide
            else (kind, begin, address, address, size, size, flags, align)
        )
        return struct.pack("<IIQQQQQQ" if wide else "<8I", *order)

    def symbol(name, value, size, kind, section):
        return struct.pack("<IBBHQQ", name, kind, 0, section, value, size) if wide else struct.pack("<IIIBBH", name, value, size, kind, 0, section)

    entries = [(HASH, place["hash"]), (STRINGS, place["names"]), (SYMBOLS, place["symbols"]), (STRINGS_SIZE, len(names)), (SYMBOL_SIZE, symbol_size), (SONAME, 12), (0, 0)]
    dynamic = b"".join(struct.pack("<2" + word, *entry) for entry in entries)
    begin = place["dynamic"]
    parts = {
        # Identification, a shared object, no sections.
        0: b"\x7fELF"
        + bytes([2 if wide else 1, 1, 1])
        + bytes(9)
        + struct.pack(f"<HHI3{word}I6H", 3, machine, 1, 0, header_size, 0, 0, header_size, segment_size, 4, 0, 0, 0),
        header_size: segment(LOAD, READABLE | EXECUTABLE, 0, begin, 0, PAGE)
        + segment(LOAD, READABLE | WRITABLE, begin, len(dynamic), PAGE + begin, PAGE)
        + segment(DYNAMIC, READABLE | WRITABLE, begin, len(dynamic), PAGE + begin, 8)
        + segment(STACK, READABLE | WRITABLE, 0, 0, 0, 16),
        # One bucket with the one symbol.
        place["hash"]: struct.pack("<5I", 1, 2, 1, 0, 0),
        # A function, for all, in a section whose number means nothing here.
        place["symbols"]: symbol(0, 0, 0, 0, 0) + symbol(1, place["code"], len(code), 0x12, 1),
        place["names"]: names,
        place["code"]: code,
        begin: dynamic,
    }
    out = bytearray(begin + len(dynamic))
    for offset, part in parts.items():
        out[offset:offset + len(part)] = part
    return bytes(out)


def make_tree(folder: pathlib.Path, pairs: list) -> None:
    for pair in pairs:
        name, target = pair.split("=", 1)
        link = folder / name / "libmillrace-audit.so"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(target, link.parent))


def main() -> None:
    if sys.argv[1] == "--tree":
        folder = pathlib.Path(sys.argv[2])
        make_tree(folder, sys.argv[4:])
        pathlib.Path(sys.argv[3]).touch()
    else:
        pathlib.Path(sys.argv[2]).write_bytes(library(*MACHINES[sys.argv[1]]))


if __name__ == "__main__":
    main()
