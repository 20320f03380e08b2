#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs what tests/golden/proc_table printed on hardware into the form that test_proc_table reads.

    pack_proc_table.py GPU DRIVER DATE < proc_table.txt > nvidia-….txt

One line per name and flag: ranges of CUDA versions, each with the symbol found,
or '-' and the query result. Names that are found under no version, and the flag
that asks for the legacy stream where it differs in nothing, are left out.
"""

import re
import sys


def main(argv):
    gpu, driver, date = argv[1:]
    print("# What cuGetProcAddress_v2 found on hardware, by name, flags and CUDA version.")
    print(f"# gpu: {gpu}\n# driver: {driver}\n# date: {date}")
    for line in sys.stdin:
        name, flags, *ranges = line.split()
        found = []
        for item in ranges:
            first, last, elf, status, result = re.fullmatch(r"(\d+)-(\d+):(.*)\((\d+),(\d+)\)", item).groups()
            if int(last) > 13000 or status != "0":
                continue
            found.append(f"{first}-{last}:{elf if elf != '-' else '-' + result}")
        if flags == "1" or all(":-1" in f for f in found):
            continue
        print(name, flags, *found)


if __name__ == "__main__":
    main(sys.argv)
