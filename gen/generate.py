#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one generated file.

    generate.py SPEC_DIR INCLUDE_DIR KIND OUTPUT

KIND names the output (see KINDS). The build calls this once per file, so that a
change of the table rebuilds exactly what depends on it.
"""

import sys
from pathlib import Path

from millrace_gen import calls, coverage, cupti, errors, exports, forward, header, math, nvml, proc_table, runtime
from millrace_gen import table, trace

KINDS = {
    "cuda.h": lambda f, e, inc: header.emit_cuda_h(f, e, inc),
    "cudaProfiler.h": lambda f, e, inc: header.emit_profiler_h(f, inc),
    "cudaTypedefs.h": lambda f, e, inc: header.emit_typedefs_h(f, inc),
    "api_impl.h": lambda f, e, inc: header.emit_api_impl_h(f),
    "trace_calls.inc": lambda f, e, inc: trace.emit_trace_calls(f),
    "calls.h": lambda f, e, inc: calls.emit_calls_h(f),
    "exports.c": lambda f, e, inc: exports.emit_exports(f),
    "exports.txt": lambda f, e, inc: exports.emit_names(f),
    "libcuda.map": lambda f, e, inc: exports.emit_map(f),
    "forward_exports.c": lambda f, e, inc: forward.emit_exports(f),
    "forward.map": lambda f, e, inc: forward.emit_map(f),
    "proc_table.c": lambda f, e, inc: proc_table.emit_proc_table(f),
    "error_table.inc": lambda f, e, inc: errors.emit_error_table(e),
    "coverage.md": lambda f, e, inc: coverage.emit_coverage(f),
}

# The runtime library's, from spec/runtime/.
RUNTIME_KINDS = {
    "runtime_impl.h": lambda f, e, inc: runtime.emit_impl_h(f),
    "runtime_errors.inc": lambda f, e, inc: runtime.emit_error_table(e),
    "runtime_driver.inc": lambda f, e, inc: runtime.emit_driver_inc(f, Path(inc).parent / "src" / "libs" / "cudart"),
    "runtime-coverage.md": lambda f, e, inc: runtime.emit_coverage(f),
}
RUNTIME_KINDS["redirect_names.h"] = lambda f, e, inc: runtime.emit_redirect_names(f, Path(inc).parent / "spec" / "runtime" / "absent.txt")
for major in runtime.MAJORS:
    RUNTIME_KINDS |= {
        f"runtime_exports_{major}.c": lambda f, e, inc, major=major: runtime.emit_exports(f, major, Path(inc).parent / "spec" / "cupti" / "runtime_calls.txt"),
        f"libcudart{major}.map": lambda f, e, inc, major=major: runtime.emit_map(f, major),
        f"libcudart{major}.txt": lambda f, e, inc, major=major: runtime.emit_names(f, major),
    }
RUNTIME_HEADERS = ("cuda_runtime_api.h", "cuda_profiler_api.h", "driver_types.h")
for name in RUNTIME_HEADERS:
    RUNTIME_KINDS[name] = lambda f, e, inc, name=name: runtime.emit_header(name, f, e, inc)


def main(argv):
    if len(argv) != 5:
        sys.exit(__doc__)
    spec_dir, include_dir, kind, output = argv[1:]
    try:
        math_kinds = math.kinds(spec_dir) | nvml.kinds(spec_dir)
        math_kinds |= cupti.kinds(spec_dir, lambda: table.load(spec_dir), lambda: runtime.load(spec_dir))
        if kind not in KINDS | RUNTIME_KINDS | math_kinds:
            sys.exit(__doc__)
        if kind in math_kinds:
            text = math_kinds[kind](include_dir)
        elif kind in KINDS:
            text = KINDS[kind](table.load(spec_dir), table.load_errors(spec_dir), include_dir)
        else:
            text = RUNTIME_KINDS[kind](runtime.load(spec_dir), runtime.load_errors(spec_dir), include_dir)
    except table.TableError as error:
        sys.exit(f"spec: {error}")
    # A file that stays as it was keeps its time, so that nothing is built again for it.
    path = Path(output)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


if __name__ == "__main__":
    main(sys.argv)
