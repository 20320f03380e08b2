# SPDX-License-Identifier: Apache-2.0
"""trace_calls.inc: the name and the parameters of each call, for the log's lines of calls (src/api/trace.c)."""

from .calls import has_struct, own_symbols
from .text import GENERATED

# What a pointer to an output leads to can't be read as a number.
UNREADABLE = {"void *", "const void *", "char *"}

# Arrays of the caller's, which may have no elements.
ARRAYS = {"kernelParams", "extra", "options", "optionValues", "jitOptions", "jitOptionsValues", "libraryOptions", "libraryOptionValues"}


def _readable(param):
    """Whether an output parameter leads to a number or a handle."""
    return param.kind == "out" and param.type not in UNREADABLE and param.name not in ARRAYS and not param.text.endswith("]")


def emit_trace_calls(functions):
    symbols = own_symbols(functions)
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED}",
             " * MR_TRACED(symbol, name, first parameter, parameters), in the order of enum mr_call.",
             " * MR_TRACED_VALUE(symbol, parameter), _TEXT (a string) or _OUTPUT (leads to a number or a handle), in the same order. */"]
    first = 0
    for symbol in symbols:
        count = len(symbol.params) if has_struct(symbol) else 0
        lines.append(f"MR_TRACED({symbol.elf}, \"{symbol.function.name}\", {first}, {count})")
        first += count
    for symbol in filter(has_struct, symbols):
        for param in symbol.params:
            kind = "TEXT" if param.type == "const char *" else "OUTPUT" if _readable(param) else "VALUE"
            lines.append(f"MR_TRACED_{kind}({symbol.elf}, {param.name})")
    return "\n".join(lines) + "\n"
