#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spec/math/joe_kuo.txt as bytes for src/libs/curand/tables.c: sobol_table.py INPUT OUTPUT"""
import base64
import sys


def main():
    with open(sys.argv[1], encoding="ascii") as text:
        data = base64.b64decode("".join(line.strip() for line in text if not line.startswith("#")))
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.write("/* SPDX-License-Identifier: BSD-3-Clause */\n/* Made by gen/sobol_table.py from spec/math/joe_kuo.txt. */\n")
        for i in range(0, len(data), 24):
            out.write(",".join(str(byte) for byte in data[i:i + 24]) + ",\n")


main()
