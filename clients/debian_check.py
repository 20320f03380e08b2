# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian's archive beside the processor, for clients/debian.sh.

debian_check.py crack MILLRACE MODE: hashcat finds the word of its own example of that kind of hash.
debian_check.py film MILLRACE PER_MILLE FILTERS THEIRS: FFmpeg's filters for CUDA give the pictures that its others give,
but for so many bytes of a thousand.
debian_check.py magnets MILLRACE: mumax3 finds the energy of a cube, how a spin turns, and where spins come to rest.
debian_check.py image MILLRACE OPTIONS…: BART reconstructs a picture on the device as on the processor."""

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


# What textbooks say: a cube's energy in its own field, a sixth of the constant times the square of its magnetisation,
# times its volume; a spin in a field of 0.1 T, after 0.1 ns; a film of spins in a field across lies along it at last.
MAGNETS = """
SetMesh(32, 32, 32, 4e-9, 4e-9, 4e-9, 0, 0, 0)
Msat = 8e5
Aex = 13e-12
m = Uniform(0, 0, 1)
expect("energy", E_demag, 4e-7 * pi * 8e5 * 8e5 / 6 * pow(128e-9, 3), 1e-18)

SetMesh(16, 16, 1, 4e-9, 4e-9, 4e-9, 0, 0, 0)
EnableDemag = false
alpha = 0
m = Uniform(1, 0, 0)
B_ext = Vector(0, 0, 0.1)
run(1e-10)
expect("turned", m.comp(0).average(), cos(1.7595e11 * 0.1 * 1e-10), 1e-4)

EnableDemag = true
alpha = 0.5
m = RandomMagSeed(7)
B_ext = Vector(0, 1, 0)
relax()
expect("at rest", m.comp(1).average(), 1, 1e-2)
"""


def magnets(millrace: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "cube.mx3"
        path.write_text(MAGNETS)
        done = subprocess.run([millrace, "run", "--", "mumax3", "-http", "", "-s", str(path)], check=False, capture_output=True, text=True)
        print(done.stdout + done.stderr)
        if done.returncode or len(re.findall(r"OK$", done.stdout + done.stderr, re.MULTILINE)) != 3:
            sys.exit(f"status {done.returncode}")


def image(millrace: str, *options: str) -> None:
    def bart(*command: str, on: tuple[str, ...] = ()) -> str:
        return subprocess.run([*on, "bart", *command], cwd=folder, check=True, capture_output=True, text=True).stdout

    with tempfile.TemporaryDirectory() as folder:
        bart("phantom", "-k", "-s", "4", "-x", "64", "signals")
        bart("ecalib", "-m", "1", "signals", "coils")
        bart("pics", *options, "signals", "coils", "processor")
        bart("pics", "-g", *options, "signals", "coils", "device", on=(millrace, "run", "--"))
        print("differ by", bart("nrmse", "-t", "1e-4", "processor", "device"))


if __name__ == "__main__":
    {"crack": crack, "film": film, "magnets": magnets, "image": image}[sys.argv[1]](*sys.argv[2:])
