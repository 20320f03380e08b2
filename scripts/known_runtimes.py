#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/libs/redirect/known.def: where the functions lie in the copies of NVIDIA's static runtime library.

    known_runtimes.py VERSION=FILE[,FILE…]…  >src/libs/redirect/known.def

FILE is libcudart_static.a of that version, or the object in it; or a program or shared library that carries a copy and
has kept the names of its functions. With several files of one version a window counts only if all have it.

What is read are symbol tables, which say where each function begins, and an archive's relocations, which say what
bytes a linker changes. A linked copy has no relocations any more. There each four bytes count as changed that, taken as
a distance, lead out of the copy or to the beginning of a function. The code itself is not taken apart: the table holds
hashes of some windows of 16 bytes, by which libs/redirect/known.c finds the same code in an object without names.
Versions with the same code share a column, under the name of the first.

The table was made of these packages, in this order:

    11.0      nvidia-nccl-cu11 2.18.3, 2.21.5         12.3      nvidia-nccl-cu12 2.19.3
    11.2.152  nvidia-cuda-dev of Debian 11            12.4.127  nvidia-cuda-dev of Debian 13, nvidia-nccl-cu12 2.20.5
    11.5      warp-lang 0.6.1, 0.7.2                  12.5.39   nvidia-cuda-dev of Debian's experimental,
    11.7      nvidia-nccl-cu11 2.13.4, cvcuda-cu11              nvidia-nccl-cu12 2.22.3
    11.8.89   nvidia-cuda-dev of Debian 12            12.6      nvidia-nccl-cu12 2.23.4
    12.0      nvidia-nccl-cu12 2.16.5,                12.8      xgboost 2.1.4, ctranslate2 4.8.5
              custatevec-cu12 1.3.0                   12.9      nvidia-cuda-runtime-cu12 12.9.37; and 12.9.79
    12.1      nvidia-nccl-cu12 2.17.1; and 2.18.1,    13        nvidia-cuda-runtime 13.0.48, 13.1.80, 13.2.51,
              gpu4pyscf-cuda12x 1.0                             13.3.29, 13.4.49, 13.4.92, 13.5.37
    12.2      nvidia-nccl-cu12 2.24.3, ctranslate2 4.0.0

NCCL says in its text which version it was built with. Of the versions of which there is an archive, all functions and
all windows of linked copies are as in the archive.
"""
import pathlib
import re
import struct
import sys

WINDOW, WINDOWS = 16, 64
# A jump (patch_x86_64.c) takes five bytes, and goes behind the mark where an indirect call may arrive.
JUMP, LANDING = 5, bytes.fromhex("f30f1efa")
FUNCTION, TYPE = 2, 15  # of a symbol
RELOCATABLE = 1  # a file's type
# A function of every copy, what the names of public functions look like, and what those of a copy's own begin with, in
# version 11.0, up to 12.3 and since then.
SIGN, PUBLIC = "cudaRuntimeGetVersion", re.compile("(__)?cuda[A-Z]")
INSIDE = ("_ZN6cudart", "_ZNK6cudart", "__cudart", "libcudart_static_")
# What nvcc adds to each program that links device code.
NVCCS = ("__cudaRegisterLinkedBinary", "__cudaUnregisterBinaryUtil")
# Bytes that a linker may change, from a relocation's place: an address of 8 bytes, an instruction before what it says
# of the global offset table or of a thread's variables. All others have 4 bytes.
CHANGED = {1: (0, 8), 9: (-3, 4), 41: (-3, 4), 42: (-3, 4), 19: (-8, 16), 20: (-8, 16), 22: (-3, 4)}
# In a linked copy: bytes before a distance that may change with it, and bytes of an instruction that may follow one.
BEFORE, BEHIND = 3, 4
BETWEEN = 1024  # bytes between two such functions of a copy, at most: some have other names


def object_of(data: bytes) -> bytes:
    """The one object in an archive, or what is one."""
    if not data.startswith(b"!<arch>\n"):
        return data
    members, at = [], 8
    while at < len(data):
        size = int(data[at + 48:at + 58])
        members.append(data[at + 60:at + 60 + size])
        at += 60 + size + size % 2
    objects = [member for member in members if member.startswith(b"\x7fELF")]
    if len(objects) != 1:
        sys.exit(f"the archive has {len(objects)} objects, not one")
    return objects[0]


class Object:
    """An ELF file: its sections by name, and the functions of its code: [(address, size, name)], in order."""

    def __init__(self, data: bytes):
        self.data = data
        self.is_linked = struct.unpack_from("<H", data, 16)[0] != RELOCATABLE
        begin = struct.unpack_from("<Q", data, 40)[0]
        count, names = struct.unpack_from("<HH", data, 60)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, begin + 64 * i) for i in range(count)]
        self.sections = {self.name(sections[names], section[0]): section for section in sections}
        text, table = self.sections[".text"], self.sections[".symtab"]
        self.text, self.address = data[text[4]:text[4] + text[5]], text[3]
        self.addresses = [section[3] + edge for section in sections if section[3] for edge in (0, section[5])]
        self.functions = []
        for at in range(table[4], table[4] + table[5], 24):
            word, kind, _, section, value, size = struct.unpack_from("<IBBHQQ", data, at)
            if kind & TYPE == FUNCTION and section == sections.index(text):
                self.functions.append((value, size, self.name(sections[table[6]], word)))
        self.functions.sort()

    def name(self, table: tuple, at: int) -> str:
        return self.data[table[4] + at:self.data.index(b"\0", table[4] + at)].decode()


class Runtime:
    """A copy: its code, which bytes of it stay in any program, and its public functions: {name: offset}."""

    def __init__(self, version: str, data: bytes):
        self.version = version
        file = Object(data)
        functions = [one for one in file.functions if PUBLIC.match(one[2]) or one[2].startswith(INSIDE)]
        if file.is_linked:
            functions = self.in_one_piece([one for one in functions if not one[2].startswith(NVCCS)])
            # Before the first lies what is not the copy's, so that no function begins at 0.
            begin, end = functions[0][0] - WINDOW, functions[-1][0] + functions[-1][1]
        else:
            begin, end = 0, len(file.text)
        self.text = file.text[begin - file.address:end - file.address]
        self.fixed = bytearray(b"\1" * len(self.text))
        if file.is_linked:
            self.fixed[:WINDOW] = bytes(WINDOW)
            self.leave_out_distances(file, begin, [one[0] for one in functions])
        else:
            self.leave_out_relocations(file)
        self.functions = {}
        self.short = []
        for value, size, called in functions:
            if called.startswith(INSIDE):
                continue
            if size < JUMP + (len(LANDING) if self.text.startswith(LANDING, value - begin) else 0):
                self.short.append(called)
            else:
                self.functions[called] = value - begin

    def in_one_piece(self, functions: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        """From the copy's first function to its last public one: what follows may be in another order elsewhere."""
        signs = [i for i, one in enumerate(functions) if one[2] == SIGN]
        if len(signs) != 1:
            sys.exit(f"{self.version}: it has {len(signs)} functions named {SIGN}, not one")
        first = last = signs[0]
        while first > 0 and functions[first][0] - sum(functions[first - 1][:2]) < BETWEEN:
            first -= 1
        while last + 1 < len(functions) and functions[last + 1][0] - sum(functions[last][:2]) < BETWEEN:
            last += 1
        while functions[last][2].startswith(INSIDE):
            last -= 1
        return functions[first:last + 1]

    def leave_out_relocations(self, file: Object) -> None:
        relocations = file.sections.get(".rela.text", (0,) * 10)
        for at in range(relocations[4], relocations[4] + relocations[5], 24):
            place, info = struct.unpack_from("<QQ", file.data, at)
            self.leave_out(place, *CHANGED.get(info & 0xFFFFFFFF, (0, 4)))

    def leave_out_distances(self, file: Object, begin: int, starts: list[int]) -> None:
        """A distance counts from the next instruction, which begins behind it or some bytes later."""
        lowest, highest, functions = min(file.addresses), max(file.addresses), set(starts)
        for at in range(len(self.text) - 3):
            target = begin + at + 4 + struct.unpack_from("<i", self.text, at)[0]
            inside = begin <= target and target + BEHIND <= begin + len(self.text)
            if target in functions or (not inside and lowest - BEHIND <= target <= highest):
                self.leave_out(at, -BEFORE, 4)

    def leave_out(self, place: int, first: int, last: int) -> None:
        for i in range(max(0, place + first), min(len(self.text), place + last)):
            self.fixed[i] = 0

    def windows(self, others: list["Runtime"]) -> list[tuple[int, int]]:
        """Places spread over the code, with what the bytes there hash to. Each is unlike all others in this code, and
        the same in other copies of the version."""
        seen: dict[bytes, int] = {}
        for at in range(0, len(self.text) - WINDOW + 1, WINDOW):
            part = self.text[at:at + WINDOW]
            seen[part] = -1 if part in seen else at
        once = [at for part, at in seen.items() if at >= 0 and len(set(part)) > 6]
        good = sorted(at for at in once if all(self.fixed[at:at + WINDOW]))
        for other in others:
            moved = other.functions[SIGN] - self.functions[SIGN]
            good = [at for at in good if other.text.startswith(self.text[at:at + WINDOW], at + moved)]
            if any(other.functions[called] != at + moved for called, at in self.functions.items()):
                sys.exit(f"{self.version}: its files have their functions in other places")
        wanted = min(WINDOWS, len(good))
        if not wanted:
            sys.exit(f"{self.version}: no place in it can be told from others")
        spread = [good[i * len(good) // wanted] for i in range(wanted)]
        return [(at, hash_of(self.text[at:at + WINDOW])) for at in spread]

    def same(self, other: "Runtime") -> bool:
        if len(self.text) != len(other.text) or self.functions != other.functions or self.fixed != other.fixed:
            return False
        return all(a == b or not fixed for a, b, fixed in zip(self.text, other.text, self.fixed))


def hash_of(window: bytes) -> int:
    """As known.c has it."""
    low, high = struct.unpack("<QQ", window)
    return (low * 0x9E3779B97F4A7C15 ^ high * 0xC2B2AE3D27D4EB4F) & 0xFFFFFFFFFFFFFFFF


def print_filled(words: list[str]) -> None:
    """As many to a line as fit."""
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > 120:
            print(line)
            line = ""
        line += (" " if line else "") + word
    print(line)


def main() -> None:
    runtimes: list[Runtime] = []
    windows: list[list[tuple[int, int]]] = []
    for word in sys.argv[1:]:
        version, _, names = word.partition("=")
        files = [Runtime(version, object_of(pathlib.Path(file).read_bytes())) for file in names.split(",")]
        runtime = files[0]
        if not any(runtime.same(other) for other in runtimes):
            runtimes.append(runtime)
            windows.append(runtime.windows(files[1:]))
        print(f"{version}: {len(runtime.functions)} functions; too short: {' '.join(runtime.short) or 'none'}",
              file=sys.stderr)
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Written by scripts/known_runtimes.py. See known.c. */")
    print("/* RUNTIME(its version, the bytes of its code, its windows) */")
    for runtime, its in zip(runtimes, windows):
        print(f'RUNTIME("{runtime.version}", {len(runtime.text)}, {len(its)})')
    print("/* WINDOW(where in the code, what the bytes there hash to): of the first, of the second, … */")
    for its in windows:
        print_filled([f"WINDOW({at}, 0x{value:016x})" for at, value in its])
    print("/* FUNCTION(name, where it begins in each; 0 if it is not there) */")
    for called in sorted({called for runtime in runtimes for called in runtime.functions}):
        places = [f"{runtime.functions.get(called, 0)}," for runtime in runtimes]
        print_filled([f"FUNCTION({called},", *places[:-1], places[-1][:-1] + ")"])


main()
