# SPDX-License-Identifier: Apache-2.0
"""Reads spec/runtime/*.toml, the table of the runtime API, and writes the runtime library's files from it.

The rows look like the driver's (table.py), but a version is a version of the library (12, 13 or both), and many a
row needs no hand-written body: it names the driver's function that does the work.
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from .table import Param, TableError
from .text import GENERATED, wrap_call

MAJORS = (12, 13)
NEEDS = ("nothing", "driver", "context")
FUNCTION_KEYS = {"name", "statuses", "returns", "needs", "header", "deprecated", "symbol"}
SYMBOL_KEYS = {"elf", "only", "params", "per_thread", "implemented", "body", "driver", "call", "direct"}


@dataclass
class RuntimeSymbol:
    """One exported version of a function."""

    function: "RuntimeFunction"
    elf: str
    only: int | None
    params: list
    defaults: list
    per_thread: str | None
    implemented: bool
    body: str
    driver: str | None
    call: str | None
    direct: bool

    @property
    def per_thread_elf(self):
        return f"{self.elf}_{self.per_thread}" if self.per_thread else None

    @property
    def names(self):
        return [n for n in (self.elf, self.per_thread_elf) if n]

    @property
    def works(self):
        return bool(self.implemented or self.driver or self.call or self.direct)

    def in_major(self, major):
        return self.only in (None, major)


@dataclass
class RuntimeFunction:
    """One function of the manual."""

    name: str
    family: str
    section: str
    statuses: list
    returns: str
    needs: str
    header: str
    deprecated: bool
    symbols: list = field(default_factory=list)

    def current(self, major):
        """The version that the plain name means with this major version, or None."""
        for symbol in self.symbols:
            if symbol.elf == self.name and symbol.in_major(major):
                return symbol
        return None


def _load_symbol(function, row, where):
    where = f"{where}: {row.get('elf')}"
    unknown = set(row) - SYMBOL_KEYS
    if unknown:
        raise TableError(f"{where}: unknown keys {sorted(unknown)}")
    params, defaults = [], []
    for text in row["params"]:
        declaration, _, default = text.partition(" = ")
        params.append(Param.parse(declaration, where))
        defaults.append(default or None)
    ways = [k for k in ("implemented", "driver", "call", "direct") if k in row]
    if len(ways) != 1:
        raise TableError(f"{where}: needs exactly one of implemented, driver, call, direct")
    if row.get("per_thread") not in (None, "ptsz", "ptds"):
        raise TableError(f"{where}: per_thread is 'ptsz' or 'ptds'")
    if row.get("only") not in (None, *MAJORS):
        raise TableError(f"{where}: only is one of {MAJORS}")
    return RuntimeSymbol(function, row["elf"], row.get("only"), params, defaults, row.get("per_thread"),
                         row.get("implemented", False), row.get("body", row["elf"]), row.get("driver"),
                         row.get("call"), row.get("direct", False))


def _load_function(row, family, section, where):
    unknown = set(row) - FUNCTION_KEYS
    if unknown:
        raise TableError(f"{where}: unknown keys {sorted(unknown)}")
    if row.get("needs", "context") not in NEEDS:
        raise TableError(f"{where}: {row['name']}: needs is one of {NEEDS}")
    function = RuntimeFunction(row["name"], family, section, row.get("statuses", []),
                               row.get("returns", "cudaError_t"), row.get("needs", "context"),
                               row.get("header", "cuda_runtime_api.h"), row.get("deprecated", False))
    function.symbols = [_load_symbol(function, s, where) for s in row["symbol"]]
    return function


def _check(functions):
    for major in MAJORS:
        seen = set()
        for function in functions:
            for symbol in function.symbols:
                if not symbol.in_major(major):
                    continue
                for name in symbol.names:
                    if name in seen:
                        raise TableError(f"{name}: exported twice by version {major}")
                    seen.add(name)


def load(folder):
    """All functions of the runtime's table, by family file and then in file order."""
    functions = []
    for path in sorted((Path(folder) / "runtime").glob("*.toml")):
        if path.name == "errors.toml":
            continue
        with path.open("rb") as file:
            data = tomllib.load(file)
        for row in data["function"]:
            functions.append(_load_function(row, data["family"], data["section"], path.name))
    _check(functions)
    return functions


def load_errors(folder):
    """[(name, value, text)] from runtime/errors.toml, by value."""
    with (Path(folder) / "runtime" / "errors.toml").open("rb") as file:
        rows = tomllib.load(file)["error"]
    result = [(r["name"], r["value"], r["text"]) for r in rows]
    values = [r[1] for r in result]
    if values != sorted(set(values)):
        raise TableError("runtime/errors.toml: values must rise")
    return result


def _head(returns, name, params):
    space = "" if returns.endswith("*") else " "
    return wrap_call(f"{returns}{space}{name}", params)


PROLOGUE = """/* SPDX-License-Identifier: Apache-2.0 */
/* {generated}
 *
 * What libcudart.so.{major} exports. A wrapper makes ready what the function needs (the driver, a current context), calls the
 * driver or the hand-written mr_<NAME>, and notes a failure for cudaGetLastError. A function that is not implemented
 * answers cudaErrorNotSupported. Where an observer is told of calls (libs/cudart/told.h), mr_told_<NAME> calls the
 * wrapper once more, by its name in this file (mr_again_<NAME>). */
#define MR_RUNTIME_NO_PROTOTYPES
#include "libs/cudart/function.h"
#include "libs/cudart/told.h"
#include "libs/cudart/runtime.h"
#include "runtime_impl.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

const int mr_rt_version = {version};
"""

VERSIONS = {12: 12090, 13: 13000}


def _arguments(symbol, per_thread):
    args = []
    for param in symbol.params:
        if per_thread and param.type == "cudaStream_t":
            args.append(f"MR_OWN_STREAM({param.name})")
        else:
            args.append(param.name)
    if symbol.per_thread == "ptds" or _has_hidden_stream(symbol):
        args.append("true" if per_thread else "false")
    return args


def _has_hidden_stream(symbol):
    """True for a per-thread form whose stream is inside a struct, or that has none: the body is told which form was
    called."""
    return symbol.per_thread == "ptsz" and all(p.type != "cudaStream_t" for p in symbol.params)


def _call(symbol, per_thread):
    if symbol.driver:
        text = symbol.driver
        if per_thread:
            for param in symbol.params:
                if param.type == "cudaStream_t":
                    text = re.sub(rf"\b{param.name}\b", f"MR_OWN_STREAM({param.name})", text)
        return "(cudaError_t)" + re.sub(r"\b(cu[A-Z]\w*)\(", r"mr_driver.\1(", text)
    if symbol.call:
        return symbol.call
    return f"mr_{symbol.body}({', '.join(_arguments(symbol, per_thread))})"


def call_number(symbol, name, major, functions, numbers):
    """CUPTI's number for a call of the exported name, or None. Of the versions of a function, CUPTI names each by the
    release that brought it; the one that is meant is the newest, except where version 12 keeps an older one."""
    stem = re.sub(r"_v\d+(?=(_pt[sd][sz])?$)", "", name.lstrip("_"))
    found = [(int(release), number) for key, number in numbers.items() for k, _, release in [key.rpartition("_v")] if k == stem]
    if not found:
        return None
    others = any(re.fullmatch(re.escape(symbol.elf) + r"_v\d+", s.elf) for f in functions for s in f.symbols if s.in_major(major))
    older = major == 12 and stem == name.lstrip("_") and (others or symbol.only == 12)
    return (min if older else max)(found)[1]


def load_calls(path):
    """A table of CUPTI's numbers: name to number."""
    rows = [line.split() for line in Path(path).read_text().splitlines() if line and not line.startswith("#")]
    return {name: int(number) for number, name in rows}


def _told(symbol, name, per_thread, number):
    """The function that tells an observer of a call (observe/attach.h), and makes it."""
    names = [p.name for p in symbol.params]
    form = ", .per_thread = true" if per_thread else ""
    lines = [f"static {_head(symbol.function.returns, f'mr_again_{name}', symbol.params)} __attribute__((alias(\"{name}\")));",
             f"__attribute__((noinline, cold)) static {_head(symbol.function.returns, f'mr_told_{name}', symbol.params)}", "{"]
    told = "NULL"
    if names:
        told = "&mr_params"
        lines += ["    struct {"] + [f"        __typeof__({n}) {n};" for n in names] + [f"    }} mr_params = {{{', '.join(names)}}};"]
    kernel = next((p.name for p in symbol.params if p.name in ("func", "kernel")), None)
    plain = symbol.function.name.lstrip("_")
    if kernel and plain.startswith("cudaLaunch"):
        form += f", .symbol = mr_rt_launch_name({kernel})"
    return lines + [f"    struct mr_observed_call mr_call = {{.call = {number}, .name = \"{plain}\", .params = {told}{form}}};",
                    "    mr_rt_told_enter(&mr_call);", f"    cudaError_t mr_status = mr_again_{name}({', '.join(names)});",
                    "    mr_rt_told_leave(&mr_call, mr_status);", "    return mr_status;", "}", ""]


def _wrapper(symbol, name, per_thread, number):
    function = symbol.function
    plain = function.name.lstrip("_")
    told = symbol.works and number is not None and function.returns == "cudaError_t"
    lines = _told(symbol, name, per_thread, number) if told else []
    lines += ["MR_RT_EXPORT " + _head(function.returns, name, symbol.params), "{"]
    if told:
        lines += ["    if (mr_rt_is_observed())", f"        return mr_told_{name}({', '.join(p.name for p in symbol.params)});"]
    if not symbol.works:
        lines += [f"    (void){p.name};" for p in symbol.params]
        lines += [f"    return mr_rt_refuse(\"{name}\");", "}", ""]
        return "\n".join(lines)
    call = _call(symbol, per_thread)
    if function.returns != "cudaError_t" or function.name in ("cudaGetLastError", "cudaPeekAtLastError"):
        return "\n".join(lines + [f"    return {call};", "}", ""])
    if function.needs == "nothing":
        lines.append(f"    cudaError_t mr_status = {call};")
    else:
        lines += [f"    cudaError_t mr_status = mr_rt_{function.needs}();",
                  "    if (__builtin_expect(mr_status == cudaSuccess, 1))",
                  f"        mr_status = {call};"]
    lines += ["    return __builtin_expect(mr_status == cudaSuccess, 1) ? cudaSuccess : mr_rt_fail(mr_status, "
              f"\"{plain}\");", "}", ""]
    return "\n".join(lines)


def emit_exports(functions, major, calls):
    """runtime_exports_<major>.c. `calls`: the table of CUPTI's numbers."""
    numbers = load_calls(calls)
    out = [PROLOGUE.format(generated=GENERATED, major=major, version=VERSIONS[major])]
    for function in functions:
        for symbol in function.symbols:
            if not symbol.in_major(major) or symbol.direct:
                continue
            for name in symbol.names:
                number = call_number(symbol, name, major, functions, numbers)
                out.append(_wrapper(symbol, name, name != symbol.elf, number))
    return "\n".join(out)


def emit_map(functions, major):
    """libcudart.so.<major>'s version script."""
    lines = [f"# {GENERATED}", f"libcudart.so.{major} {{", "  global:"]
    lines += [f"    {name};" for name in exported_names(functions, major)]
    lines += ["  local:", "    *;", "};"]
    return "\n".join(lines) + "\n"


def exported_names(functions, major):
    return sorted(n for f in functions for s in f.symbols if s.in_major(major) for n in s.names)


def emit_redirect_names(functions, absent):
    """redirect_names.h: every function that a runtime library may have inside a program, ours and those of `absent`, in
    order."""
    listed = [line for line in Path(absent).read_text().splitlines() if line and not line.startswith("#")]
    exported = {name for major in MAJORS for name in exported_names(functions, major)}
    both = sorted(exported & set(listed))
    if both:
        raise TableError(f"{Path(absent).name} lists functions that are exported: {', '.join(both)}")
    names = sorted(exported | set(listed))
    rows = [f'    "{name}", \\' for name in names]
    return "\n".join(["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED} */", f"#define MR_REDIRECT_NAMES {len(names)}", "#ifndef __ASSEMBLER__",
                      "#define MR_REDIRECT_NAME_LIST \\"] + rows + ["", "#endif", ""])


def emit_names(functions, major):
    return "\n".join(exported_names(functions, major)) + "\n"


def emit_impl_h(functions):
    """Prototypes of the hand-written bodies and of what is exported directly."""
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED}", " *",
             " * One prototype per body. Where the row has per_thread = \"ptds\", and where the stream is inside a struct, the last",
             " * parameter says that the per-thread form was called; elsewhere a stream of 0 is already cudaStreamPerThread. */",
             "#ifndef MR_RUNTIME_IMPL_H", "#define MR_RUNTIME_IMPL_H", "", "#include <stdbool.h>", "",
             "#include \"libs/cudart/device.h\"", "#include \"libs/cudart/runtime.h\"", "#include \"libs/cudart/version12.h\"", "", "struct cudaLaunchParams;", "struct surfaceReference;", "struct textureReference;", ""]
    seen = set()
    for function in functions:
        for symbol in function.symbols:
            if symbol.direct:
                for name in symbol.names:
                    lines.append("MR_RT_EXPORT " + _head(function.returns, name, symbol.params) + ";")
            elif symbol.implemented and symbol.body not in seen:
                seen.add(symbol.body)
                params = [p.text for p in symbol.params]
                if symbol.per_thread == "ptds" or _has_hidden_stream(symbol):
                    params.append("bool per_thread")
                lines.append(_head(function.returns, f"mr_{symbol.body}", params) + ";")
    lines += ["", "#endif"]
    return "\n".join(lines) + "\n"


def emit_driver_inc(functions, sources):
    """The names of the driver's functions that the library calls, one MR_DRIVER(name) per line."""
    names = set()
    for function in functions:
        for symbol in function.symbols:
            names.update(re.findall(r"\b(cu[A-Z]\w*)\(", symbol.driver or ""))
    for path in sorted(Path(sources).glob("*.[ch]")):
        names.update(re.findall(r"\bmr_driver\.(cu\w+)", path.read_text()))
    return f"/* {GENERATED} */\n" + "".join(f"MR_DRIVER({name})\n" for name in sorted(names))


def emit_error_table(errors):
    return f"/* {GENERATED} */\n" + "".join(f'{{ {value}, "{name}", "{text}" }},\n' for name, value, text in errors)


def _prototype(symbol):
    params = []
    for param, default in zip(symbol.params, symbol.defaults):
        params.append(f"{param.text} __dv({default})" if default else param.text)
    return _head("extern " + symbol.function.returns, symbol.elf, params) + ";"


def _prototypes(functions, header):
    lines, section = [], None
    for function in functions:
        symbol = function.current(13)
        if symbol is None or function.header != header:
            continue
        if function.section != section:
            section = function.section
            lines += ["", f"/* {section}. */"]
        lines.append(_prototype(symbol))
    return "\n".join(lines).strip()


def _redirections(functions):
    """Plain names to the forms whose default stream is the thread's own."""
    return "\n".join(f"#define {f.name} {f.current(13).per_thread_elf}" for f in functions
                     if f.current(13) and f.current(13).per_thread and not f.current(13).direct)


def _error_enum(errors):
    return "\n".join(["/* What nearly every function returns. A value that the driver has as well means the same there. */",
                      "enum cudaError {"] + [f"    {n} = {v}," for n, v, _ in errors[:-1]] +
                     [f"    {errors[-1][0]} = {errors[-1][1]}", "};", "typedef enum cudaError cudaError_t;"])


def emit_header(name, functions, errors, include_dir):
    """One of the runtime's public headers, from include/runtime/<name>.in."""
    folder = Path(include_dir) / "runtime"
    text = (folder / (name + ".in")).read_text()
    if "@TYPES@" in text:
        parts = [p.read_text().split("\n", 1)[1].strip() for p in sorted(folder.glob("types_*.h.in"))]
        text = text.replace("@TYPES@", "\n\n".join([_error_enum(errors)] + parts))
    return text.replace("@PROTOTYPES@", _prototypes(functions, name)).replace("@REDIRECTIONS@", _redirections(functions))


def emit_coverage(functions):
    """runtime-coverage.md."""
    current = [(f, f.current(13)) for f in functions if f.current(13)]
    done = sum(1 for _, s in current if s.works)
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", f"<!-- {GENERATED} -->", "",
             "# Coverage of the runtime API (CUDA 13.0)", "",
             f"{len(current)} functions of libcudart.so.13: {done} do their work, {len(current) - done} answer `cudaErrorNotSupported`. "
             f"libcudart.so.12 exports {len(exported_names(functions, 12))} symbols, libcudart.so.13 {len(exported_names(functions, 13))}. "
             "Where a function is the driver's under another name, what the driver refuses is refused here as well.", ""]
    sections = {}
    for function in functions:
        sections.setdefault(function.section, []).append(function)
    for section, members in sorted(sections.items()):
        lines += [f"## {section}", "", "| function | symbol | version | per thread | state |", "| --- | --- | --- | --- | --- |"]
        for function in members:
            for s in function.symbols:
                state = "refused" if not s.works else f"by `{re.match(r'cu[A-Z0-9]?[A-Za-z0-9_]*', s.driver)[0]}`" if s.driver else "implemented"
                lines.append(f"| {function.name} | `{s.elf}` | {s.only or '12, 13'} | "
                             f"{'`' + s.per_thread_elf + '`' if s.per_thread else ''} | {state} |")
        lines.append("")
    return "\n".join(lines)
