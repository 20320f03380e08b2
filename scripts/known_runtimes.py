#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/libs/redirect/known.def: where the functions lie in the copies of NVIDIA's static runtime library.

    known_runtimes.py VERSION=FILE…  >src/libs/redirect/known.def

FILE is libcudart_static.a of that version, as PyPI's packages nvidia-cuda-runtime (13) and nvidia-cuda-runtime-cu12
(from 12.9 on) bring it, or the object in it. What is read are its symbol table, which says where each function begins,
and its relocations, which say what bytes a linker changes. The code itself is not taken apart: the table holds hashes
of some windows of 16 bytes, by which libs/redirect/known.c finds the same code in an object without names. Versions
with the same code share a column, under the name of the first.
"""
import pathlib
import struct
import sys

WINDOW, WINDOWS = 16, 64
# A jump (patch_x86_64.c) takes five bytes, and goes behind the mark where an indirect call may arrive.
JUMP, LANDING = 5, bytes.fromhex("f30f1efa")
FUNCTION, TYPE = 2, 15  # of a symbol
# Bytes that a linker may change, from a relocation's place: an address of 8 bytes, an instruction before what it says
# of the global offset table or of a thread's variables. All others have 4 bytes.
CHANGED = {1: (0, 8), 9: (-3, 4), 41: (-3, 4), 42: (-3, 4), 19: (-8, 16), 20: (-8, 16), 22: (-3, 4)}


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


class Runtime:
    """Its code, which bytes of it stay in any program, and its functions: {name: offset}."""

    def __init__(self, version: str, data: bytes):
        self.version = version
        begin = struct.unpack_from("<Q", data, 40)[0]
        count, names = struct.unpack_from("<HH", data, 60)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, begin + 64 * i) for i in range(count)]

        def name(table: tuple, at: int) -> str:
            return data[table[4] + at:data.index(b"\0", table[4] + at)].decode()

        found = {name(sections[names], section[0]): section for section in sections}
        text = found[".text"]
        self.text = data[text[4]:text[4] + text[5]]
        self.fixed = bytearray(b"\1" * len(self.text))
        relocations = found.get(".rela.text", (0,) * 10)
        for at in range(relocations[4], relocations[4] + relocations[5], 24):
            place, info = struct.unpack_from("<QQ", data, at)
            first, last = CHANGED.get(info & 0xFFFFFFFF, (0, 4))
            for i in range(max(0, place + first), min(len(self.text), place + last)):
                self.fixed[i] = 0
        table = found[".symtab"]
        self.functions = {}
        self.short = []
        for at in range(table[4], table[4] + table[5], 24):
            word, kind, _, section, value, size = struct.unpack_from("<IBBHQQ", data, at)
            called = name(sections[table[6]], word)
            if kind & TYPE != FUNCTION or section != sections.index(text) or not called.startswith(("cuda", "__cuda")):
                continue
            if size < JUMP + (len(LANDING) if self.text.startswith(LANDING, value) else 0):
                self.short.append(called)
            else:
                self.functions[called] = value

    def windows(self) -> list[tuple[int, int]]:
        """Places spread over the code, with what the bytes there hash to. Each is unlike all others in this code."""
        seen: dict[bytes, int] = {}
        for at in range(0, len(self.text) - WINDOW + 1, WINDOW):
            part = self.text[at:at + WINDOW]
            seen[part] = -1 if part in seen else at
        once = [at for part, at in seen.items() if at >= 0 and len(set(part)) > 6]
        good = sorted(at for at in once if all(self.fixed[at:at + WINDOW]))
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


def main() -> None:
    runtimes: list[Runtime] = []
    for word in sys.argv[1:]:
        version, _, file = word.partition("=")
        runtime = Runtime(version, object_of(pathlib.Path(file).read_bytes()))
        if not any(runtime.same(other) for other in runtimes):
            runtimes.append(runtime)
        print(f"{version}: {len(runtime.functions)} functions; too short: {' '.join(runtime.short) or 'none'}", file=sys.stderr)
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Written by scripts/known_runtimes.py. See known.c. */")
    print("/* RUNTIME(its version, the bytes of its code, its windows) */")
    for runtime in runtimes:
        print(f'RUNTIME("{runtime.version}", {len(runtime.text)}, {len(runtime.windows())})')
    print("/* WINDOW(where in the code, what the bytes there hash to): of the first, of the second, … */")
    for runtime in runtimes:
        for at, value in runtime.windows():
            print(f"WINDOW({at}, 0x{value:016x})")
    print("/* FUNCTION(name, where it begins in each; 0 if it is not there) */")
    for called in sorted({called for runtime in runtimes for called in runtime.functions}):
        print(f"FUNCTION({called}, {', '.join(str(runtime.functions.get(called, 0)) for runtime in runtimes)})")


main()
