# SPDX-License-Identifier: Apache-2.0
"""make wheel: a wheel for pip of what `make install` installs, with the libraries inside that Millrace needs.

    wheel.py BUILD_FOLDER OUTPUT_FOLDER

The same build gives the same bits. Needs patchelf. Not inside: what every system of the wheel's tag has, the CPU
libraries of mathematics, clang, and millrace-managed, which needs the whole of LLVM: `__managed__` variables in sources
that nvcc compiles want an installation by `make install`.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
NAME = "millrace_driver"
# What glibc and gcc bring, which systems have that can read the wheel's tag.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux-x86-64)\.so\.\d+")
LEFT_OUT = ("lib/millrace/millrace-managed",)


def run(*words, **more) -> str:
    return subprocess.run([str(word) for word in words], check=True, text=True, stdout=subprocess.PIPE, **more).stdout


def is_elf(path: pathlib.Path) -> bool:
    """A program or library of this machine's kind: the audit library's silent twins are of others."""
    with open(path, "rb") as file:
        head = file.read(20)
    return head[:5] == b"\x7fELF\x02" and head[18:20] == b"\x3e\x00"


def needed(path: pathlib.Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", path))


def installed(build: pathlib.Path, into: pathlib.Path) -> pathlib.Path:
    """The installation's root, below `into`."""
    run("meson", "install", "-C", build, "--quiet", "--no-rebuild", "--destdir", into)
    return next(path for path in into.rglob("version.json")).parent


def find_library(name: str) -> pathlib.Path:
    found = re.search(rf"^\s*{re.escape(name)} .*=> (\S+)$", run("/sbin/ldconfig", "-p"), re.MULTILINE)
    if not found:
        sys.exit(f"wheel: there is no {name}")
    return pathlib.Path(found[1]).resolve()


def package_of(library: pathlib.Path) -> str:
    """Debian's package that has a library; its licence goes into the wheel."""
    for path in (str(library), str(library).removeprefix("/usr")):
        done = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    sys.exit(f"wheel: no package has {library}")


def bundle(root: pathlib.Path) -> set[str]:
    """Copies the libraries that ours need beside them, and has each look there. The packages that they are from."""
    packages = set()
    waiting = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and is_elf(path)]
    programs = list(waiting)
    while waiting:
        for name in needed(waiting.pop()):
            copy = root / "lib" / name
            if SYSTEM.fullmatch(name) or copy.exists():
                continue
            library = find_library(name)
            packages.add(package_of(library))
            shutil.copy(library, copy)
            waiting.append(copy)
            programs.append(copy)
    for path in [path for path in root.rglob("*.a") if not path.is_symlink()]:
        run("strip", "--strip-debug", "--enable-deterministic-archives", path)
    for path in programs:
        run("strip", "--strip-unneeded", path)
        if any((root / "lib" / name).exists() for name in needed(path)):
            run("patchelf", "--set-rpath", "$ORIGIN/" + os.path.relpath(root / "lib", path.parent) if path.parent != root / "lib" else "$ORIGIN", path)
    return packages


def unlink(root: pathlib.Path) -> None:
    """A wheel can't have links. What a linker or a program calls a library without its version becomes text that linkers
    read, and millrace/__init__.py makes links again; others become copies, and the library's own name goes where only
    its version differs. Links to folders (lib64, those in targets) become text, too, so that pip knows the names when
    it takes the wheel away."""
    links = {path: path.resolve() for path in root.rglob("*") if path.is_symlink() and path.resolve().is_file()}
    folders = {path: os.readlink(path) for path in root.rglob("*") if path.is_symlink() and path.is_dir()}
    for path in [path for path in root.rglob("*") if path.is_symlink()]:
        path.unlink()
    for path, target in folders.items():
        path.write_text(f"{target}\n")
    for path in sorted(links, key=lambda path: path.name.endswith(".so")):
        target = links[path]
        if path.parent.name == "runtime" or (path.name.endswith(".so") and path.parent in (target.parent, target.parent / "stubs")):
            soname = next(iter(sorted(root.glob(f"lib/{path.name}.*"), reverse=True)), root / "lib" / path.name)
            path.write_text(f"INPUT({os.path.relpath(soname, path.parent)})\n")
        elif path.parent == target.parent:
            target.rename(path)
        else:
            shutil.copy(target, path)


def glibc(root: pathlib.Path) -> int:
    """The newest minor version of glibc that something asks for."""
    versions = [0]
    for path in root.rglob("*"):
        if path.is_file() and path.suffix != ".a" and is_elf(path):
            versions += [int(minor) for minor in re.findall(r"\bGLIBC_2\.(\d+) +Flags: none", run("readelf", "-VW", path))]
    return max(versions)


def licences(build: pathlib.Path, packages: set[str], folder: pathlib.Path) -> None:
    folder.mkdir(parents=True)
    shutil.copy(HERE.parent / "LICENSE", folder / "LICENSE")
    text = [(HERE.parent / "NOTICE").read_text(), "Inside of this wheel, beside Millrace's own files:", ""]
    for package in sorted(packages | {package_of(pathlib.Path("/usr/lib/llvm-19/lib/libLLVMCore.a"))}):
        shutil.copy(f"/usr/share/doc/{package}/copyright", folder / f"{package}.txt")
        text.append(f"- from Debian's package {package}: its licence is in {package}.txt")
    (folder / "NOTICE").write_text("\n".join(text) + "\n")


def pack(tree: pathlib.Path, record: str, output: pathlib.Path) -> None:
    """A zip with the list of its files, in the order of names, dated by SOURCE_DATE_EPOCH or 1980."""
    lines = []
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        def add(name: str, data: bytes, mode: int) -> None:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)

        for path in sorted(path for path in tree.rglob("*") if path.is_file()):
            name, data = str(path.relative_to(tree)), path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}")
            add(name, data, 0o755 if os.access(path, os.X_OK) else 0o644)
        add(record, ("\n".join([*lines, f"{record},,"]) + "\n").encode(), 0o644)


def main() -> None:
    build, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if not shutil.which("patchelf"):
        sys.exit("wheel: patchelf is missing; on Debian it is in the package of that name (apt-get install patchelf)")
    version = re.search(r"version: '([^']+)'", (HERE.parent / "meson.build").read_text())[1]
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        root = tree / "millrace" / "toolkit"
        shutil.copytree(installed(build, pathlib.Path(folder) / "installed"), root, symlinks=True)
        for name in LEFT_OUT:
            (root / name).unlink()
        for path in (HERE / "millrace").glob("*.py"):
            shutil.copy(path, root.parent)
        packages = bundle(root)
        unlink(root)
        tag = f"py3-none-manylinux_2_{glibc(root)}_x86_64"
        info = tree / f"{NAME}-{version}.dist-info"
        licences(build, packages, info / "licenses")
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: millrace\nRoot-Is-Purelib: false\nTag: {tag}\n")
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {NAME.replace('_', '-')}\nVersion: {version}\nSummary: CUDA on the CPU, for machines without a GPU\nLicense: Apache-2.0\n"
            "Requires-Python: >=3.10\nProvides-Extra: clang\nRequires-Dist: millrace-clang; extra == 'clang'\nDescription-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text())
        # Not "millrace": pytest would take that for the module of `-p millrace`.
        (info / "entry_points.txt").write_text("[console_scripts]\nmillrace = millrace.__main__:main\n\n[pytest11]\nmillrace-option = millrace.pytest_plugin\n")
        output.mkdir(parents=True, exist_ok=True)
        wheel = output / f"{NAME}-{version}-{tag}.whl"
        pack(tree, f"{info.name}/RECORD", wheel)
    print(f"wheel: {wheel}, {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
