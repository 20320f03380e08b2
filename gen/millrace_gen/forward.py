# SPDX-License-Identifier: Apache-2.0
"""The exported functions of the driver that hands calls on to another one (src/libs/forward/)."""

from .exports import exported_names, observed_record
from .text import GENERATED, wrap_call

PROLOGUE = """/* SPDX-License-Identifier: Apache-2.0 */
/* {generated}
 *
 * Every function of the driver API, handed on to the driver behind (libs/forward/forward.h). Where an observer is told
 * of calls, it is told before and after. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

#include "libs/forward/forward.h"
#include "observe/interop_types.h"
#include "observe/calls.h"

#define MR_EXPORT __attribute__((visibility("default")))

/* The interop functions have no public prototype here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
"""

# Answered by hand-written functions (mr_forward_<SYMBOL>), which get the function of the driver behind.
OWN = {"cuGetProcAddress", "cuGetProcAddress_v2", "cuInit"}

# Called with what is left in the record: libs/forward/works.c may exchange the program's function for its own.
EXCHANGED = {"cuLaunchHostFunc", "cuStreamAddCallback"}


def _forms(functions):
    for function in functions:
        for symbol in function.symbols:
            yield symbol, symbol.elf, False
            if symbol.per_thread:
                yield symbol, symbol.per_thread_elf, True


def _function(index, symbol, elf, per_thread):
    names = ", ".join(p.name for p in symbol.params)
    types = ", ".join(p.type + (" *" if p.text.endswith("]") else "") for p in symbol.params) or "void"
    body = [f"    CUresult (*mr_behind)({types});",
            f"    *(void **)&mr_behind = mr_forward_behind({index});"]
    if elf in OWN:
        return body + [f"    return mr_forward_{elf}({', '.join(['mr_behind'] + [p.name for p in symbol.params])});"]
    before, after = observed_record(symbol, per_thread)
    told = names if symbol.elf not in EXCHANGED else ", ".join(f"mr_params.{p.name}" for p in symbol.params)
    return body + ["    if (!mr_behind) {", f"        return mr_forward_lacks(\"{elf}\");", "    }",
                   "    if (!mr_forward_tells()) {", f"        return mr_behind({names});", "    }"] + before + [
        "    mr_forward_enter(&mr_call, __builtin_return_address(0));",
        f"    CUresult mr_status = mr_behind({told});",
        "    mr_forward_leave(&mr_call, mr_status);"] + after + ["    return mr_status;"]


def emit_exports(functions):
    """forward_exports.c."""
    out = [PROLOGUE.format(generated=GENERATED)]
    rows = []
    for index, (symbol, elf, per_thread) in enumerate(_forms(functions)):
        head = wrap_call(f"MR_EXPORT CUresult CUDAAPI {elf}", symbol.params)
        out.append("\n".join([head, "{"] + _function(index, symbol, elf, per_thread) + ["}", ""]))
        rows.append(f"    {{\"{elf}\", \"{symbol.function.name}\", (void *){elf}, {str(per_thread).lower()}}},")
    out += ["const struct mr_forwarded mr_forwarded[] = {"] + rows + ["};",
            "const size_t mr_forwarded_count = sizeof mr_forwarded / sizeof mr_forwarded[0];", ""]
    return "\n".join(out)


def emit_map(functions):
    """forward.map: exactly the table's symbols are global."""
    lines = [f"# {GENERATED}", "{", "  global:"] + [f"    {name};" for name in exported_names(functions)]
    return "\n".join(lines + ["  local:", "    *;", "};"]) + "\n"
