# SPDX-License-Identifier: Apache-2.0
"""Turns a text file into a C array: embed.py IN OUT NAME."""
import sys

source, target, name = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read() + b"\0"
with open(target, "w") as file:
    file.write(f"extern const char {name}[];\nconst char {name}[] = {{\n")
    for start in range(0, len(data), 20):
        file.write("    " + ", ".join(str(byte) for byte in data[start : start + 20]) + ",\n")
    file.write("};\n")
