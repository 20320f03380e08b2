#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a header with a number that changes whenever one of the given headers does.

    interface.py OUTPUT HEADER...

The driver and the code generation library share the syntax tree and other records, so they fit together only if they
were built from the same headers. The number says so; nobody has to remember to raise it.
"""
import hashlib
import pathlib
import sys

digest = hashlib.sha256()
for name in sys.argv[2:]:
    text = pathlib.Path(name).read_bytes()
    digest.update(f"{pathlib.Path(name).name} {len(text)}\n".encode() + text)
pathlib.Path(sys.argv[1]).write_text(f"""/* SPDX-License-Identifier: Apache-2.0 */
/* Made by interface.py from the headers that driver and code generation library share. */
#ifndef MR_COMPILE_CODEGEN_INTERFACE_H
#define MR_COMPILE_CODEGEN_INTERFACE_H

#define MR_CODEGEN_INTERFACE 0x{digest.hexdigest()[:16]}u

#endif
""")
