# SPDX-License-Identifier: Apache-2.0
"""The millrace command, as `python -m millrace` and as the script that pip installs."""
import os
import sys

from . import command


def main() -> None:
    os.execv(command(), ["millrace", *sys.argv[1:]])


if __name__ == "__main__":
    main()
