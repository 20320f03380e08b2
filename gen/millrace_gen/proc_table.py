# SPDX-License-Identifier: Apache-2.0
"""The table behind cuGetProcAddress: name -> versions -> addresses."""

from .text import GENERATED

PROLOGUE = """/* SPDX-License-Identifier: Apache-2.0 */
/* {generated}
 *
 * What cuGetProcAddress finds, sorted by name. The versions of a name rise. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

#include "observe/interop_types.h"
#include "api/proc_table.h"

/* Interop functions have no public prototype; only their addresses are wanted here. */
{declarations}

#define MR_FN(name) ((void (*)(void))name)
"""


def emit_proc_table(functions):
    """proc_table.c."""
    hidden = [s for f in functions if f.header == "none" for s in f.symbols]
    declarations = "\n".join(
        f"CUresult CUDAAPI {elf}({s.params_text});"
        for s in hidden for elf in (s.elf, s.per_thread_elf) if elf)
    names = {f.name: f.symbols for f in functions}
    out = [PROLOGUE.format(generated=GENERATED, declarations=declarations)]
    versions, entries = [], []
    for name in sorted(names):
        first = len(versions)
        for symbol in names[name]:
            per_thread = symbol.per_thread_elf
            versions.append(
                f"    {{{symbol.since}, MR_FN({symbol.elf}), "
                + (f"{symbol.per_thread_since}, MR_FN({per_thread})}}," if per_thread
                   else "0, NULL},"))
        entries.append(f"    {{\"{name}\", {first}, {len(versions) - first}}},")
    out += ["const struct mr_proc_version mr_proc_versions[] = {", *versions, "};", "",
            "const struct mr_proc_entry mr_proc_entries[] = {", *entries, "};", "",
            f"const unsigned mr_proc_entry_count = {len(entries)};"]
    return "\n".join(out) + "\n"
