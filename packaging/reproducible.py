# SPDX-License-Identifier: Apache-2.0
"""make reproducible: are two builds of the Debian packages the same, bit by bit?

    reproducible.py [FOLDER]            builds twice, in FOLDER (by default a temporary one), and compares
    reproducible.py --compare ONE OTHER compares the packages in two folders

The builds differ in the time, in the folder that they are made in and its name's length, in the time zone, the
language, the home folder and the rights of new files. Of packages that differ, the files that do are named; diffoscope
then tells more, if it is there. The exit status is 1 if anything differs.
"""
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Of the two builds: what differs.
PLACES = ({"folder": "one", "TZ": "UTC", "LC_ALL": "C.UTF-8", "umask": 0o022},
          {"folder": "another/with-a-longer-name", "TZ": "Pacific/Kiritimati", "LC_ALL": "POSIX", "umask": 0o027})


def build(place: dict, root: pathlib.Path) -> pathlib.Path:
    """Builds in a place; the packages are then in the folder that is returned."""
    work, output = root / str(place["folder"]) / "work", root / str(place["folder"]) / "packages"
    home = work / "home"
    home.mkdir(parents=True, mode=0o755)
    done = subprocess.run([sys.executable, HERE / "deb.py", "--no-lint", "--in", work, output], check=False, umask=int(place["umask"]),
                          env={**os.environ, "TZ": str(place["TZ"]), "LC_ALL": str(place["LC_ALL"]), "HOME": str(home)})
    shutil.rmtree(work, ignore_errors=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return output


def entries(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*"))}


def same(one: pathlib.Path, other: pathlib.Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and os.readlink(one) == os.readlink(other)
    if one.is_dir() or other.is_dir():
        return one.is_dir() and other.is_dir()
    return filecmp.cmp(one, other, shallow=False)


def differing(one: pathlib.Path, other: pathlib.Path) -> list[str]:
    """The files that differ inside two packages, their control files among them; times and rights count, too."""
    with tempfile.TemporaryDirectory() as temporary:
        trees = []
        for number, package in enumerate((one, other)):
            subprocess.run(["dpkg-deb", "-R", package, f"{temporary}/{number}"], check=True)
            trees.append(entries(pathlib.Path(temporary) / str(number)))
        found = [f"{name}: in one of them alone" for name in sorted(trees[0].keys() ^ trees[1].keys())]
        for name in sorted(trees[0].keys() & trees[1].keys()):
            paths = trees[0][name], trees[1][name]
            if not same(*paths):
                found.append(name)
            # A folder's time is that of unpacking, if links in it are made last.
            elif len({(path.lstat().st_mode, path.is_dir() or int(path.lstat().st_mtime)) for path in paths}) > 1:
                found.append(f"{name}: its rights or its time")
    return found or ["the files are the same: how they are packed differs"]


def compare(one: pathlib.Path, other: pathlib.Path) -> int:
    packages = [{path.name: path for path in folder.glob("*.deb")} for folder in (one, other)]
    wrong = 0
    if not packages[0]:
        sys.exit(f"reproducible: there are no packages in {one}")
    for name in sorted(packages[0].keys() | packages[1].keys()):
        paths = [each.get(name) for each in packages]
        if None in paths:
            print(f"reproducible: {name} was made once alone")
        elif filecmp.cmp(*paths, shallow=False):
            print(f"reproducible: {name} is the same")
            continue
        else:
            print(f"reproducible: {name} differs:", *differing(*paths), sep="\n    ")
            if shutil.which("diffoscope"):
                subprocess.run(["diffoscope", *paths], check=False)
        wrong += 1
    return int(wrong > 0)


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["--compare"]:
        return compare(*(pathlib.Path(word) for word in words[1:3]))
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(words[0] if words else temporary).resolve()
        return compare(*(build(place, root) for place in PLACES))


if __name__ == "__main__":
    sys.exit(main())
