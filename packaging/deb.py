# SPDX-License-Identifier: Apache-2.0
"""make deb: Debian packages, built by debhelper from a copy of the sources.

    deb.py [--no-lint] [--in FOLDER] OUTPUT_FOLDER

The copy has the files that git knows, or, without git, all but the build's, and packaging/debian as debian/. It lies in
FOLDER, by default a temporary one. Times are those of SOURCE_DATE_EPOCH, by default of the last commit. The linter
(lintian) looks at what was made, if it is there and wanted.
"""
import email.utils
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent


def git(*words: str) -> str | None:
    """What git says; None: there is no git, or no repository."""
    if not shutil.which("git"):
        return None
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def source_time() -> int:
    """SOURCE_DATE_EPOCH, or the last commit's time; without git, when CHANGELOG.md was last changed."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct") or (ROOT / "CHANGELOG.md").stat().st_mtime)


def sources() -> list[str]:
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed is not None:
        return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    built = {"build", "dist", "debian", ".git"}
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and path.relative_to(ROOT).parts[0].split("-")[0] not in built]


def copy(into: pathlib.Path, version: str, epoch: int) -> None:
    for name in sources():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, into / name, follow_symlinks=False)
    shutil.copytree(HERE / "debian", into / "debian")
    changelog = into / "debian/changelog"
    changelog.write_text(changelog.read_text().replace("@VERSION@", version).replace("@DATE@", email.utils.formatdate(epoch)))
    (into / "debian/rules").chmod(0o755)


def main() -> None:
    words = sys.argv[1:]
    lint = words[0] != "--no-lint"
    words = words if lint else words[1:]
    place = pathlib.Path(words[1]).resolve() if words[0] == "--in" else None
    output = pathlib.Path(words[-1]).resolve()
    missing = [program for program in ("dpkg-buildpackage", "dh") if not shutil.which(program)]
    if missing:
        sys.exit("deb: debhelper is missing (apt-get install debhelper)")
    version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]
    epoch = source_time()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (place or pathlib.Path(temporary)) / f"millrace-{version}"
        copy(folder, version, epoch)
        done = subprocess.run(["dpkg-buildpackage", "-b", "-us", "-uc", "-tc", "--no-check-builddeps"], cwd=folder, check=False, env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output.mkdir(parents=True, exist_ok=True)
        log = output / "deb.log"
        log.write_text(done.stdout)
        if done.returncode != 0:
            sys.exit(f"{done.stdout[-4000:]}\ndeb: the build failed; all of its log is in {log}")
        made = sorted(folder.parent.glob("*.deb"))
        for path in [*made, *folder.parent.glob("*.buildinfo"), *folder.parent.glob("*.changes")]:
            shutil.move(path, output / path.name)
    for path in made:
        print(f"deb: {output / path.name}, {(output / path.name).stat().st_size / 1e6:.1f} MB")
    if lint and shutil.which("lintian"):
        changes = next(output.glob("*.changes"))
        linted = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", changes], check=False)
        print("deb: lintian finds nothing" if linted.returncode == 0 else "deb: see what lintian finds above")
        sys.exit(linted.returncode)


if __name__ == "__main__":
    main()
