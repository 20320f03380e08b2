# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian's archive beside the processor, for clients/debian.sh.

debian_check.py crack MILLRACE MODE: hashcat finds the word of its own example of that kind of hash.
debian_check.py film MILLRACE PER_MILLE FILTERS THEIRS: FFmpeg's filters for CUDA give the pictures that its others give,
but for so many bytes of a thousand."""

import pathlib
import re
import subprocess
import sys
import tempfile

SOURCES = [
    "-f",
    "lavfi",
    "-i",
    "testsrc=size=640x480:rate=25:duration=1,format=yuv420p",
    "-f",
    "lavfi",
    "-i",
    "testsrc2=size=160x120:rate=25:duration=1,format=yuv420p",
]


def crack(millrace: str, mode: str) -> None:
    info = subprocess.run(["hashcat", "--hash-info", "-m", mode], check=True, capture_output=True, text=True).stdout
    example, word = (re.search(rf"Example\.{name}\.*: (.+)", info)[1] for name in ("Hash", "Pass"))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "hash").write_text(example + "\n")
        (path / "words").write_text(f"hello\nworld\n{word}\nnothing\n")
        command = ["hashcat", "-d", "1", "-m", mode, "-a", "0", "hash", "words", "--potfile-disable", "-o", "found", "--force", "--quiet"]
        done = subprocess.run([millrace, "run", "--", *command], cwd=path, check=False)
        found = (path / "found").read_text() if (path / "found").exists() else ""
    if done.returncode or not found.endswith(f":{word}\n"):
        sys.exit(f"status {done.returncode}, found {found!r}")


def pictures(command: list[str], filters: str) -> bytes:
    return subprocess.run([*command, *SOURCES, "-filter_complex", filters, "-f", "rawvideo", "-"], check=True, stdout=subprocess.PIPE).stdout


def film(millrace: str, per_mille: str, filters: str, theirs: str) -> None:
    ffmpeg = ["ffmpeg", "-hide_banner", "-loglevel", "error"]
    ours = pictures([millrace, "run", "--", *ffmpeg, "-init_hw_device", "cuda=c"], filters)
    plain = pictures(ffmpeg, theirs)
    differ = sum(a != b for a, b in zip(ours, plain))
    print(f"{len(ours)} bytes, {differ} differ")
    if not ours or len(ours) != len(plain) or differ * 1000 > len(ours) * int(per_mille):
        sys.exit(f"{len(plain)} bytes were wanted")


if __name__ == "__main__":
    {"crack": crack, "film": film}[sys.argv[1]](*sys.argv[2:])
