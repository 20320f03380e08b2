# SPDX-License-Identifier: Apache-2.0
"""Takes an installation away again.

    uninstall.py --record BUILD PREFIX    after `make install`: notes what was installed
    uninstall.py PREFIX                   removes that, and folders that are empty then

Only what the note names goes, and only below the prefix: other files in it stay.
"""
import pathlib
import sys

NOTE = pathlib.Path("share/doc/millrace/installed-files")


def record(build: pathlib.Path, prefix: pathlib.Path) -> None:
    log = (build / "meson-logs/install-log.txt").read_text().splitlines()
    paths = {pathlib.Path(line) for line in log if line and not line.startswith("#")}
    known = (prefix / NOTE).read_text().splitlines() if (prefix / NOTE).exists() else []
    names = {*known, *(str(path.relative_to(prefix)) for path in paths if path.is_relative_to(prefix)), str(NOTE)}
    (prefix / NOTE).parent.mkdir(parents=True, exist_ok=True)
    (prefix / NOTE).write_text("\n".join(sorted(names)) + "\n")


def remove(prefix: pathlib.Path) -> None:
    if not (prefix / NOTE).exists():
        sys.exit(f"uninstall: nothing is installed in {prefix}, or by an older version: {prefix / NOTE} is not there")
    names = (prefix / NOTE).read_text().splitlines()
    folders = set()
    for name in names:
        path = prefix / name
        if ".." in pathlib.PurePath(name).parts or pathlib.PurePath(name).is_absolute():
            sys.exit(f"uninstall: {prefix / NOTE} names a path outside of the prefix: {name}")
        if path.is_symlink() or path.is_file():
            path.unlink()
        folders.update([path, *path.parents] if path.is_dir() and not path.is_symlink() else path.parents)
    inside = [folder for folder in folders if folder.is_relative_to(prefix)]
    for folder in sorted(inside, key=lambda folder: len(folder.parts), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def main() -> None:
    if sys.argv[1] == "--record":
        record(pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve())
    else:
        remove(pathlib.Path(sys.argv[1]).resolve())


if __name__ == "__main__":
    main()
