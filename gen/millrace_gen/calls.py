# SPDX-License-Identifier: Apache-2.0
"""observe/calls.h: what an observer knows of the public interface."""

from .text import GENERATED

PROLOGUE = """/* SPDX-License-Identifier: Apache-2.0 */
/* {generated}
 *
 * The calls that observe/observe.h tells of: a number for each function with a body of its own, and its parameters.
 *
 * - MR_CALL_<SYMBOL> is the function by its ELF name, so the versions of a function are calls of different numbers
 *   (MR_CALL_cuMemAlloc, MR_CALL_cuMemAlloc_v2). Two versions that do the same are one call, under the later name:
 *   cuEventDestroy comes as MR_CALL_cuEventDestroy_v2.
 * - The forms with per-thread default streams (_ptsz, _ptds) are the same call as the form without. Stream parameters
 *   are as the driver takes them: in the per-thread forms CU_STREAM_PER_THREAD stands where the program gave 0, also in
 *   a launch's configuration. In the other forms 0 stands for the legacy default stream of the current context, as does
 *   CU_STREAM_LEGACY.
 * - A synchronous memory function has no stream parameter. `mr_default` says which default stream it is ordered with:
 *   CU_STREAM_LEGACY or CU_STREAM_PER_THREAD.
 * - A function without parameters has a struct with the member `mr_none`, which means nothing.
 * - The graphics functions of other headers (EGL, OpenGL, VDPAU), which are refused, have numbers and no structs; their
 *   `params` is NULL. */
#ifndef MR_OBSERVE_CALLS_H
#define MR_OBSERVE_CALLS_H

#include <cuda.h>
#include <cudaProfiler.h>
"""


def own_symbols(functions):
    """The symbols that are calls of their own, in the order of the table."""
    return [s for f in functions for s in f.symbols if not s.same_as]


def has_struct(symbol):
    """Whether the parameters' types are public here."""
    return symbol.function.header != "none"


def members(symbol):
    """The struct's members, as (declaration, name)."""
    found = []
    for param in symbol.params:
        kind = param.type + (" *" if param.text.endswith("]") else " ")
        found.append((f"{kind}{param.name}".replace("* *", "**").replace("* " + param.name, "*" + param.name), param.name))
    if symbol.default_stream:
        found.append(("CUstream mr_default", "mr_default"))
    return found


def emit_calls_h(functions):
    """observe/calls.h."""
    symbols = own_symbols(functions)
    out = [PROLOGUE.format(generated=GENERATED), "enum mr_call {", "    MR_CALL_NONE,"]
    out += [f"    MR_CALL_{s.elf}," for s in symbols]
    out += ["    MR_CALL_COUNT", "};"]
    for symbol in filter(has_struct, symbols):
        out += ["", f"struct mr_params_{symbol.elf} {{"]
        out += [f"    {text};" for text, _ in members(symbol)] or ["    char mr_none;"]
        out += ["};"]
    return "\n".join(out + ["", "#endif"]) + "\n"
