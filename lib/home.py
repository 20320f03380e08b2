# SPDX-License-Identifier: Apache-2.0
"""After an installation: names its folder of libraries in libcudart_static.a, in the place of the build's
(src/libs/cudart/home.h). Usage, by Meson: home.py ARCHIVE, relative to the prefix."""
import os
import pathlib
import sys

MARK, ROOM = b"MILLRACE-HOME:/", 4096


def main() -> None:
    path = pathlib.Path(os.environ["MESON_INSTALL_DESTDIR_PREFIX"]) / sys.argv[1]
    folder = os.fsencode((pathlib.Path(os.environ["MESON_INSTALL_PREFIX"]) / sys.argv[1]).parent)
    data = bytearray(path.read_bytes())
    if data.count(MARK) != 1:
        sys.exit(f"home.py: {path} names its folder {data.count(MARK)} times, and once is wanted")
    at = data.index(MARK) + len(MARK) - 1
    if len(folder) >= ROOM - len(MARK):
        sys.exit(f"home.py: the folder's name is too long: {folder!r}")
    data[at:at + ROOM - len(MARK) + 1] = folder.ljust(ROOM - len(MARK) + 1, b"\0")
    path.write_bytes(data)


if __name__ == "__main__":
    main()
