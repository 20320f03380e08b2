#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one generated file.

    generate.py SPEC_DIR INCLUDE_DIR KIND OUTPUT

KIND names the output (see KINDS). The build calls this once per file, so that a
change of the table rebuilds exactly what depends on it.
"""

import sys
from pathlib import Path

from millrace_gen import coverage, errors, exports, header, proc_table, table

KINDS = {
    "cuda.h": lambda f, e, inc: header.emit_cuda_h(f, e, inc),
    "cudaProfiler.h": lambda f, e, inc: header.emit_profiler_h(f, inc),
    "cudaTypedefs.h": lambda f, e, inc: header.emit_typedefs_h(f, inc),
    "api_impl.h": lambda f, e, inc: header.emit_api_impl_h(f),
    "exports.c": lambda f, e, inc: exports.emit_exports(f),
    "exports.txt": lambda f, e, inc: exports.emit_names(f),
    "libcuda.map": lambda f, e, inc: exports.emit_map(f),
    "proc_table.c": lambda f, e, inc: proc_table.emit_proc_table(f),
    "error_table.inc": lambda f, e, inc: errors.emit_error_table(e),
    "coverage.md": lambda f, e, inc: coverage.emit_coverage(f),
}


def main(argv):
    if len(argv) != 5 or argv[3] not in KINDS:
        sys.exit(__doc__)
    spec_dir, include_dir, kind, output = argv[1:]
    try:
        functions = table.load(spec_dir)
        text = KINDS[kind](functions, table.load_errors(spec_dir), include_dir)
    except table.TableError as error:
        sys.exit(f"spec: {error}")
    Path(output).write_text(text)


if __name__ == "__main__":
    main(sys.argv)
