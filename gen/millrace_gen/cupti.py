# SPDX-License-Identifier: Apache-2.0
"""Reads spec/cupti/, the tables of CUPTI's functions and of the numbers of its callbacks, and writes its files from them.
README.md there explains the rows.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from . import calls, runtime
from .table import TableError
from .text import GENERATED, wrap_call

MAJORS = (12, 13)
STATES = ("done", "refused")
C_HEAD = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED} */"]
# How each domain's numbers begin in programs, and the last number's name.
DOMAINS = {"driver": "CUPTI_DRIVER_TRACE_CBID_", "runtime": "CUPTI_RUNTIME_TRACE_CBID_", "nvtx": "CUPTI_CBID_NVTX_"}


@dataclass
class Function:
    name: str
    params: list
    state: str
    section: str
    header: str  # where its prototype goes; "" for none
    only: int | None

    @property
    def returns(self):
        return "int" if self.name.startswith("InitializeInjection") else "CUptiResult"


def load(spec_dir):
    """All functions, in the order of rows."""
    functions, seen, section, header = [], set(), None, ""
    path = Path(spec_dir) / "cupti" / "functions.txt"
    for line in path.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        title = re.fullmatch(r"\[(.*)\] ?(\S*)", line)
        if title:
            section, header = title[1], title[2]
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) not in (3, 4) or cells[0] not in STATES or not section:
            raise TableError(f"{path.name}: a row is 'state | name | parameters', and '| version': {line}")
        if cells[1] in seen:
            raise TableError(f"{path.name}: {cells[1]} is there twice")
        seen.add(cells[1])
        params = [] if cells[2] in ("void", "...") else [p.strip() for p in cells[2].split(",")]
        functions.append(Function(cells[1], params, cells[0], section, header if cells[0] == "done" else "",
                                  int(cells[3]) if len(cells) == 4 else None))
    return functions


def numbers(spec_dir, domain):
    return runtime.load_calls(Path(spec_dir) / "cupti" / f"{domain}_calls.txt")


def emit_header(name, functions, include_dir):
    text = (Path(include_dir) / "cupti" / (name + ".in")).read_text()
    prototypes = [wrap_call(f"{f.returns} CUPTIAPI {f.name}", f.params) + ";" for f in functions if f.header == name]
    return text.replace("@PROTOTYPES@", "\n".join(prototypes))


def emit_numbers(spec_dir, domain):
    """One of the headers of callbacks' numbers."""
    prefix, rows = DOMAINS[domain], numbers(spec_dir, domain)
    guard = f"_CUPTI_{domain.upper()}_CBID_H_"
    plain = {"driver": "CUpti_driver_api_trace_cbid", "runtime": "CUpti_runtime_api_trace_cbid", "nvtx": "CUpti_nvtx_api_trace_cbid"}[domain]
    lines = C_HEAD + [f"#ifndef {guard}", f"#define {guard}", "", "typedef enum {", f"    {prefix}INVALID = 0,"]
    lines += [f"    {prefix}{name} = {number}," for name, number in rows.items()]
    return "\n".join(lines + [f"    {prefix}SIZE = {max(rows.values()) + 1},", f"    {prefix}FORCE_INT = 0x7fffffff", f"}} {plain};", "", "#endif", ""])


def _struct(name, members):
    return ["", "typedef struct {"] + [f"    {m};" for m in members] + [f"}} {name}_params;"]


def emit_driver_meta(functions, spec_dir):
    """generated_cuda_meta.h: what functionParams points to, for calls of the driver."""
    known = numbers(spec_dir, "driver")
    lines = C_HEAD + ["#ifndef GENERATED_CUDA_META_H", "#define GENERATED_CUDA_META_H", "", "#include <cuda.h>", "#include <cudaProfiler.h>"]
    for function in functions:
        for symbol in function.symbols:
            if not calls.has_struct(symbol) or not symbol.params:
                continue
            members = [text for text, name in calls.members(symbol) if name != "mr_default"]
            for elf in (symbol.elf, symbol.per_thread_elf):
                if elf and elf in known:
                    lines += _struct(elf, members)
    return "\n".join(lines + ["", "#endif", ""])


def emit_runtime_meta(functions, spec_dir):
    """generated_cuda_runtime_api_meta.h, as libcudart.so.13 has the functions."""
    names = {number: name for name, number in numbers(spec_dir, "runtime").items()}
    lines = C_HEAD + ["#ifndef GENERATED_CUDA_RUNTIME_API_META_H", "#define GENERATED_CUDA_RUNTIME_API_META_H", "", "#include <cuda_runtime_api.h>"]
    seen = set()
    for function in functions:
        for symbol in function.symbols:
            if not symbol.in_major(13) or not symbol.params or function.returns != "cudaError_t" or function.header == "none":
                continue
            members = [(p.type + (" *" if p.text.endswith("]") else " ") + p.name).replace("* *", "**").replace("* " + p.name, "*" + p.name) for p in symbol.params]
            for name in symbol.names:
                number = runtime.call_number(symbol, name, 13, functions, numbers(spec_dir, "runtime"))
                if number and number not in seen:
                    seen.add(number)
                    lines += _struct(names[number], members)
    return "\n".join(lines + ["", "#endif", ""])


def emit_impl(functions):
    lines = C_HEAD + ["#ifndef MR_CUPTI_IMPL_H", "#define MR_CUPTI_IMPL_H", "", "#include <cupti.h>", "", "/* A program's tables of NVTX, by number. */",
                      "typedef const void *(*mr_nvtx_exports)(uint32_t number);", ""]
    lines += [wrap_call(f"{f.returns} mr_{f.name}", f.params or ["void"]) + ";" for f in functions if f.state == "done"]
    return "\n".join(lines + ["", "#endif", ""])


def emit_exports(functions, major):
    """A refused function looks at none of its parameters, so it is there without them."""
    lines = C_HEAD + ['#include "cupti_impl.h"', "", '#include "libs/cupti/cupti.h"', "", '#pragma GCC diagnostic ignored "-Wmissing-prototypes"', ""]
    for f in functions:
        if f.only not in (None, major):
            continue
        lines += [wrap_call(f'__attribute__((visibility("default"))) {f.returns} {f.name}', f.params or ["void"]), "{"]
        if f.state == "done":
            names = [re.search(r"(\w+)$", p)[1] for p in f.params]
            kept = f.returns == "int" or f.name in ("cuptiGetLastError", "cuptiActivityGetNextRecord")
            call = wrap_call(f"mr_{f.name}", names or [""])
            lines.append(f"    return {call};" if kept else f"    return mr_cupti_note({call});")
        elif f.returns == "int":
            lines.append(f'    return (mr_cupti_refuse("{f.name}"), 0);')
        else:
            lines.append(f'    return mr_cupti_note(mr_cupti_refuse("{f.name}"));')
        lines += ["}", ""]
    return "\n".join(lines)


def emit_names_inc(spec_dir, functions):
    """Names of callbacks by number, and the driver's calls (observe/calls.h) to numbers: plain form, per-thread form."""
    lines = list(C_HEAD)
    for domain in DOMAINS:
        rows = {number: name for name, number in numbers(spec_dir, domain).items()}
        lines += [f"static const char *const {domain}_names[] = {{"] + [f'    [{n}] = "{rows[n]}",' for n in sorted(rows)] + ["};", ""]
    known = numbers(spec_dir, "driver")
    lines += ["static const uint16_t driver_numbers[MR_CALL_COUNT][2] = {"]
    for symbol in calls.own_symbols(functions):
        lines.append(f"    [MR_CALL_{symbol.elf}] = {{{known.get(symbol.elf, 0)}, {known.get(symbol.per_thread_elf, 0)}}},")
    return "\n".join(lines + ["};", ""])


def emit_map(functions, major):
    lines = [f"# {GENERATED}", f"libcupti.so.{major} {{", "  global:"] + [f"    {name};" for name in exported(functions, major)]
    return "\n".join(lines + ["  local:", "    *;", "};", ""])


def exported(functions, major):
    return sorted(f.name for f in functions if f.only in (None, major))


def emit_coverage(functions):
    here = [f for f in functions if f.only in (None, 13)]
    done = sum(1 for f in here if f.state == "done")
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", f"<!-- {GENERATED} -->", "", "# Coverage of CUPTI (CUDA 13.0)", "",
             f"{len(here)} functions of libcupti.so.13: {done} do their work, {len(here) - done} answer `CUPTI_ERROR_NOT_SUPPORTED`.", ""]
    for section in dict.fromkeys(f.section for f in here):
        lines += [f"## {section}", "", "| function | state |", "| --- | --- |"]
        lines += [f"| {f.name} | {'refused' if f.state == 'refused' else 'implemented'} |" for f in here if f.section == section]
        lines.append("")
    return "\n".join(lines)


HEADERS = ("cupti.h", "cupti_result.h", "cupti_version.h", "cupti_callbacks.h", "cupti_activity.h")


def kinds(spec_dir, driver, runtime_table):
    """What generate.py can write: the name of a file and the function that makes its text. `driver` and `runtime_table`
    load the tables of the driver's and the runtime's functions."""
    def made(emit, *more):
        return lambda inc: emit(load(spec_dir), *more)
    found = {name: lambda inc, name=name: emit_header(name, load(spec_dir), inc) for name in HEADERS}
    found |= {f"cupti_{domain}_cbid.h": lambda inc, domain=domain: emit_numbers(spec_dir, domain) for domain in DOMAINS}
    for major in MAJORS:
        found |= {f"cupti_exports_{major}.c": made(emit_exports, major), f"libcupti{major}.map": made(emit_map, major),
                  f"libcupti{major}.txt": lambda inc, major=major: "\n".join(exported(load(spec_dir), major)) + "\n"}
    return found | {"cupti_impl.h": made(emit_impl), "cupti-coverage.md": made(emit_coverage),
                    "cupti_names.inc": lambda inc: emit_names_inc(spec_dir, driver()),
                    "generated_cuda_meta.h": lambda inc: emit_driver_meta(driver(), spec_dir),
                    "generated_cuda_runtime_api_meta.h": lambda inc: emit_runtime_meta(runtime_table(), spec_dir)}
