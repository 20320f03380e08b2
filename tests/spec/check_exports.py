#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The built library exports exactly the names of the table.

    check_exports.py NM LIBCUDA EXPORTS_TXT
"""

import subprocess
import sys
from pathlib import Path


def main(argv):
    nm, library, wanted_file = argv[1:]
    output = subprocess.run([nm, "-D", "--defined-only", library], check=True, text=True,
                            capture_output=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in output.splitlines() if line.split()[-2] != "A"}
    wanted = set(Path(wanted_file).read_text().split())
    for name in sorted(wanted - exported):
        print(f"not exported: {name}")
    for name in sorted(exported - wanted):
        print(f"not in the table: {name}")
    print(f"{len(exported)} symbols")
    return 0 if exported == wanted else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
