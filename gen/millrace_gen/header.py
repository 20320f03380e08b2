# SPDX-License-Identifier: Apache-2.0
"""cuda.h and cudaProfiler.h: the template with types, prototypes and redirections."""

from pathlib import Path

from .text import wrap_call, GENERATED


def _error_enum(errors):
    lines = ["/* What every function returns. */", "typedef enum cudaError_enum {"]
    lines += [f"    {name} = {value}," for name, value, _ in errors[:-1]]
    lines += [f"    {errors[-1][0]} = {errors[-1][1]}", "} CUresult;"]
    return "\n".join(lines)


def _prototypes(functions):
    lines = []
    family = None
    for function in functions:
        if function.section != family:
            family = function.section
            lines += ["", f"/* {family}. */"]
        for symbol in function.symbols:
            for elf in filter(None, (symbol.elf, symbol.per_thread_elf)):
                lines.append(wrap_call(f"CUresult CUDAAPI {elf}", symbol.params) + ";")
    return "\n".join(lines).strip()


def _redirections(functions):
    """The macros that send a plain name to its current ABI version."""
    plain, legacy, per_thread = [], [], []
    by_elf = {s.elf: s for f in functions for s in f.symbols}
    for function in functions:
        symbol = by_elf[function.current_symbol]
        if symbol.per_thread:
            per_thread.append((function.name, symbol.per_thread_elf))
            if symbol.elf != function.name:
                legacy.append((function.name, symbol.elf))
        elif symbol.elf != function.name:
            plain.append((function.name, symbol.elf))
        # A version that is called by its suffixed name still follows the
        # per-thread default stream.
        for other in function.symbols:
            if other.per_thread and other.elf != function.name:
                per_thread.append((other.elf, other.per_thread_elf))
    text = [f"#define {a} {b}" for a, b in plain]
    text += ["", "#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)"]
    text += [f"#define {a} {b}" for a, b in per_thread]
    text += ["#else"]
    text += [f"#define {a} {b}" for a, b in legacy]
    text += ["#endif"]
    return "\n".join(text)


def _strip_comment(text):
    """Drops the SPDX line of a part: the whole header has one."""
    first, rest = text.split("\n", 1)
    return rest if first.startswith("/* SPDX") else text


def emit_cuda_h(functions, errors, include_dir):
    """The text of cuda.h from cuda.h.in and cuda_types_*.h.in."""
    include_dir = Path(include_dir)
    template = (include_dir / "cuda.h.in").read_text()
    parts = sorted(include_dir.glob("cuda_types_*.h.in"))
    types = []
    for index, part in enumerate(parts):
        types.append(_strip_comment(part.read_text()).strip())
        if index == 0:
            types.append(_error_enum(errors))
    mine = [f for f in functions if f.header == "cuda.h"]
    return (template.replace("@TYPES@", "\n\n".join(types))
            .replace("@PROTOTYPES@", _prototypes(mine))
            .replace("@REDIRECTIONS@", _redirections(mine)))


def emit_profiler_h(functions, include_dir):
    """The text of cudaProfiler.h."""
    template = (Path(include_dir) / "cudaProfiler.h.in").read_text()
    mine = [f for f in functions if f.header == "cudaProfiler.h"]
    return template.replace("@PROTOTYPES@", _prototypes(mine))


def _typedefs(functions):
    """PFN_<name>_v<since> for every version, and PFN_<name> for the newest."""
    lines = []
    for function in functions:
        for symbol in function.symbols:
            forms = [(symbol.since, "")]
            if symbol.per_thread:
                forms.append((symbol.per_thread_since, "_" + symbol.per_thread))
            for since, suffix in forms:
                lines.append(wrap_call(
                    f"typedef CUresult (CUDAAPI *PFN_{function.name}_v{since}{suffix})",
                    symbol.params) + ";")
    lines += ["", "#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)"]
    per_thread = [f.symbols[-1] for f in functions if f.symbols[-1].per_thread]
    lines += [f"#define PFN_{s.function.name} PFN_{s.function.name}_v{s.per_thread_since}_{s.per_thread}"
              for s in per_thread]
    lines += ["#else"]
    lines += [f"#define PFN_{s.function.name} PFN_{s.function.name}_v{s.since}" for s in per_thread]
    lines += ["#endif"]
    lines += [f"#define PFN_{f.name} PFN_{f.name}_v{f.symbols[-1].since}"
              for f in functions if not f.symbols[-1].per_thread]
    return "\n".join(lines)


def emit_typedefs_h(functions, include_dir):
    """The text of cudaTypedefs.h."""
    template = (Path(include_dir) / "cudaTypedefs.h.in").read_text()
    return template.replace("@TYPEDEFS@", _typedefs([f for f in functions if f.header == "cuda.h"]))


def emit_api_impl_h(functions):
    """Prototypes of the hand-written mr_<SYMBOL>, and of nothing else."""
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED}",
             " *",
             " * One prototype per ABI version that has a body of its own. A body may assume that",
             " * the driver is initialised (unless the row says needs_init = false). Stream",
             " * parameters hold what the caller passed; the per-thread forms arrive with 0",
             " * replaced by CU_STREAM_PER_THREAD. mr_default is the default stream that a",
             " * synchronous memory function has to order itself with. */",
             "#ifndef MR_API_IMPL_H", "#define MR_API_IMPL_H", "", "#include <cuda.h>",
             "#include <cudaProfiler.h>", "", "#include \"observe/interop_types.h\"", ""]
    for function in functions:
        for symbol in function.symbols:
            if symbol.same_as:
                continue
            params = [p.text for p in symbol.params]
            if symbol.default_stream:
                params.append("CUstream mr_default")
            lines.append(wrap_call(f"CUresult mr_{symbol.elf}", params) + ";")
    lines += ["", "#endif"]
    return "\n".join(lines) + "\n"
