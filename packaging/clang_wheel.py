# SPDX-License-Identifier: Apache-2.0
"""make wheel-clang: clang 19 as a wheel for pip, for machines that have none: what NVRTC and nvcc run.

    clang_wheel.py OUTPUT_FOLDER

It holds Debian's clang 19 and the libraries that it needs, with their licences. Two of them are replaced: LLVM calls
libz3 in its static analyzer and libxml2 for manifests of Windows, neither of which compiles CUDA C++; they and what
libxml2 needs are a third of the size. In their place are libraries whose functions end the process with a message. The
wheel runs where glibc is 2.34 or newer: arc4random, the one function of a newer one, is inside.
"""
import pathlib
import re
import shutil
import struct
import sys
import tempfile

from wheel import SYSTEM, find_library, glibc, needed, pack, package_of, run

HERE = pathlib.Path(__file__).resolve().parent
NAME = "millrace_clang"
LLVM = pathlib.Path("/usr/lib/llvm-19")
REPLACED = ("libz3.so.4", "libxml2.so.2")
# Not the system's: those of the wheel's tag may have one that is older than gcc 12's.
BROUGHT = ("libstdc++.so.6",)
RANDOM = """#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
uint32_t arc4random(void)
{
    uint32_t value;
    if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value)
        abort();
    return value;
}
"""
REFUSAL = """#include <stdio.h>
#include <stdlib.h>
static void refuse(const char *name)
{
    fprintf(stderr, "clang (millrace_clang): %s is not in this wheel: use Debian's clang-19\\n", name);
    abort();
}
"""


def undefined(paths: list[pathlib.Path]) -> dict[str, str]:
    """Names that the libraries want from others, with the version that they want ("": none)."""
    found = {}
    for path in paths:
        for name, version in re.findall(r" UND (\w+)(?:@(\S+))?(?: \(\d+\))?$", run("readelf", "--dyn-syms", "-W", path), re.MULTILINE):
            found[name] = version
    return found


def defined(path: pathlib.Path) -> set[str]:
    return {name for name in re.findall(r"\d+: [0-9a-f]{16} +\d+ +\w+ +(?:GLOBAL|WEAK) +DEFAULT +\d+ (\w+)", run("readelf", "--dyn-syms", "-W", path))}


def compile_library(source: str, output: pathlib.Path, *words: str) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write(source)
        file.flush()
        run("gcc", "-O2", "-shared", "-fPIC", "-s", "-Wl,--build-id=none", f"-Wl,-soname,{output.name}", *words, "-o", output, file.name)


def replacement(name: str, users: list[pathlib.Path], output: pathlib.Path) -> None:
    """A library of that name with the functions that the users want of it."""
    wanted, has = undefined(users), defined(find_library(name))
    versions: dict[str, list[str]] = {}
    for function in sorted(set(wanted) & has):
        versions.setdefault(wanted[function], []).append(function)
    text = REFUSAL + "".join(f'void {each}(void) {{ refuse("{each}"); }}\n' for names in versions.values() for each in names)
    with tempfile.NamedTemporaryFile("w", suffix=".map") as script:
        script.write("".join(f"{version} {{ global: {'; '.join(names)}; }};\n" for version, names in versions.items() if version))
        script.flush()
        compile_library(text, output, "-Wno-builtin-declaration-mismatch", *([f"-Wl,--version-script={script.name}"] if any(versions) else []))


def weaken(path: pathlib.Path, version: str) -> None:
    """The loader no longer insists on a version of the C library that nothing is bound to any more."""
    data = bytearray(path.read_bytes())
    names, needs = (re.search(rf" {re.escape(section)} +\w+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) ", run("readelf", "-SW", path)) for section in (".dynstr", ".gnu.version_r"))
    strings, at, size = int(names[1], 16), int(needs[1], 16), int(needs[2], 16)
    changed = 0
    for offset in range(at, at + size - 15, 4):  # entries of 16 bytes: hash, flags, number, name, next
        name = struct.unpack_from("<I", data, offset + 8)[0]
        end = strings + name
        if struct.unpack_from("<I", data, offset)[0] == elf_hash(version) and data[end:end + len(version) + 1] == version.encode() + b"\0":
            struct.pack_into("<H", data, offset + 4, 2)
            changed += 1
    if changed != 1:
        sys.exit(f"wheel-clang: {path.name} names {version} {changed} times, and once is wanted")
    path.write_bytes(data)


def elf_hash(name: str) -> int:
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xf0000000
        value = (value ^ (high >> 24)) & ~high & 0xffffffff
    return value


def gather(root: pathlib.Path) -> set[str]:
    """Clang and what it needs, in bin/ and lib/. The packages that they are from."""
    program = LLVM / "bin/clang"
    packages = {package_of(program.resolve()), package_of((LLVM / "lib/clang/19/include/stddef.h").resolve())}
    for folder in ("bin", "lib"):
        (root / folder).mkdir(parents=True)
    shutil.copytree(LLVM / "lib/clang/19/include", root / "lib/clang/19/include", ignore=shutil.ignore_patterns("fuzzer", "sanitizer", "xray", "orc", "profile"))
    shutil.copy(program.resolve(), root / "bin/clang-19")
    waiting, users = [root / "bin/clang-19"], []
    while waiting:
        for name in needed(waiting.pop()):
            copy = root / "lib" / name
            if copy.exists() or name in REPLACED or (SYSTEM.fullmatch(name) and name not in BROUGHT):
                continue
            library = find_library(name)
            packages.add(package_of(library))
            shutil.copy(library, copy)
            waiting.append(copy)
            users.append(copy)
    for name in REPLACED:
        replacement(name, users, root / "lib" / name)
    compile_library(RANDOM, root / "lib/libmillrace-arc4random.so")
    for path in users:
        run("strip", "--strip-unneeded", path)
        if "arc4random" in undefined([path]):
            run("patchelf", "--clear-symbol-version", "arc4random", path)
            run("patchelf", "--add-needed", "libmillrace-arc4random.so", path)
        run("patchelf", "--set-rpath", "$ORIGIN", path)
        if "arc4random" in undefined([path]):
            weaken(path, "GLIBC_2.36")
    run("patchelf", "--set-rpath", "$ORIGIN/../lib", root / "bin/clang-19")
    shutil.copy(root / "bin/clang-19", root / "bin/clang++-19")
    return packages


def main() -> None:
    output = pathlib.Path(sys.argv[1]).resolve()
    for program, package in (("patchelf", "patchelf"), ("gcc", "gcc")):
        if not shutil.which(program):
            sys.exit(f"wheel-clang: {program} is missing (apt-get install {package})")
    if not (LLVM / "bin/clang").exists():
        sys.exit("wheel-clang: there is no clang 19 (apt-get install clang-19)")
    version = re.search(r"clang version (\d+\.\d+\.\d+)", run(LLVM / "bin/clang", "--version"))[1]
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        packages = gather(tree / NAME / "clang")
        shutil.copy(HERE / "millrace_clang.py", tree / NAME / "__init__.py")
        info = tree / f"{NAME}-{version}.dist-info"
        (info / "licenses").mkdir(parents=True)
        notice = ["Debian's clang 19 and libraries. Their licences are in files beside this one:", ""]
        for package in sorted(packages):
            shutil.copy(f"/usr/share/doc/{package}/copyright", info / "licenses" / f"{package}.txt")
            notice.append(f"- {package}")
        (info / "licenses/NOTICE").write_text("\n".join(notice) + "\n")
        tag = f"py3-none-manylinux_2_{glibc(tree)}_x86_64"
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: millrace\nRoot-Is-Purelib: false\nTag: {tag}\n")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME.replace('_', '-')}\nVersion: {version}\nSummary: clang {version}, for Millrace\n"
                                       "License: Apache-2.0 WITH LLVM-exception\nRequires-Python: >=3.10\n")
        output.mkdir(parents=True, exist_ok=True)
        wheel = output / f"{NAME}-{version}-{tag}.whl"
        pack(tree, f"{info.name}/RECORD", wheel)
    print(f"wheel-clang: {wheel}, {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
