# SPDX-License-Identifier: Apache-2.0
"""Reads spec/nvml/, the tables of the management library's functions, and writes its files from them. README.md there
explains the rows.

Every exported function asks first whether the library is initialised and whether the device is one. What is left to
do has a body in src/libs/nvml/, or the function answers NVML_ERROR_NOT_SUPPORTED.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from .table import TableError
from .text import GENERATED, wrap_call

STATES = ("always", "done", "refused", "unseen", "absent")
# Of these there is none.
OTHERS = re.compile(r"nvml(Unit|VgpuTypeId|VgpuInstance|GpuInstance|ComputeInstance)_t \w+$")
HANDLE = "nvmlDevice_t device"
TYPES = ["types_1_device", "types_2_state", "types_3_vgpu", "types_4_fields", "types_5_events", "types_6_links", "types_7_metrics"]
SCALARS = re.compile(r"^(unsigned (int|char|long|long long)|int|nvml\w+_t) \w+$")


@dataclass
class Function:
    name: str
    params: list
    state: str
    section: str
    answer: str  # of a refused function
    older: bool  # had a plain name first; programs see it with NVML_NO_UNVERSIONED_FUNC_DEFS alone

    @property
    def returns(self):
        return "const char *" if self.name == "nvmlErrorString" else "nvmlReturn_t "

    def pointers(self):
        return [_name(p) for p in self.params if "*" in p]

    @property
    def is_refused(self):
        return self.state in ("refused", "unseen", "absent")

    @property
    def has_device(self):
        return bool(self.params) and self.params[0] == HANDLE


def _name(param):
    return re.search(r"(\w+)$", param)[1]


def load(spec_dir):
    """All functions, in the order of files and rows."""
    functions, seen = [], set()
    for path in sorted((Path(spec_dir) / "nvml").glob("*.txt")):
        lines = path.read_text().splitlines()
        section = next(line[2:].rstrip(".") for line in lines[1:] if line.startswith("# "))
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            cells = [cell.strip() for cell in line.split("|")]
            state, _, answer = cells[0].partition("=")
            if len(cells) != 3 or state not in STATES:
                raise TableError(f"{path.name}: a row is 'state | name | parameters': {line}")
            _, name, params = cells
            if name in seen:
                raise TableError(f"{path.name}: {name} is there twice")
            seen.add(name)
            params = [] if params == "void" else [p.strip() for p in params.split(",")]
            functions.append(Function(name, params, state, section, answer or "NOT_SUPPORTED", path.stem == "older"))
    return functions


def emit_header(functions, include_dir):
    folder = Path(include_dir) / "nvml"
    text = (folder / "nvml.h.in").read_text()
    types = "\n\n".join((folder / f"{name}.h.in").read_text().strip() for name in TYPES)
    lines, older, section = [], [], None
    for function in functions:
        prototype = wrap_call(f"{function.returns}DECLDIR {function.name}".replace("* DECLDIR", "*DECLDIR"), function.params) + ";"
        if function.older:
            older.append(prototype)
            continue
        if function.section != section:
            section = function.section
            lines += ["", f"/* {section}. */"]
        lines.append(prototype)
    return text.replace("@TYPES@", types).replace("@PROTOTYPES@", "\n".join(lines).strip()).replace("@OLDER@", "\n".join(older))


def emit_impl(functions):
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED} */", "#ifndef MR_NVML_IMPL_H", "#define MR_NVML_IMPL_H", "",
             "#define NVML_NO_UNVERSIONED_FUNC_DEFS", "#include <nvml.h>", ""]
    lines += [wrap_call(f"{f.returns}mr_{f.name}", f.params) + ";" for f in functions if not f.is_refused]
    return "\n".join(lines + ["", "#endif", ""])


def _versions(include_dir):
    """For each type of structure that begins with a version: the macros of the versions that it may have."""
    text = "\n".join((Path(include_dir) / "nvml" / f"{name}.h.in").read_text() for name in TYPES)
    macros = {}
    for macro, stem in re.findall(r"^#define ((nvml\w+)_v\d+) NVML_STRUCT_VERSION\(", text, re.M):
        macros.setdefault(stem, []).append(macro)
    versioned = set(re.findall(r"^typedef struct \w* ?\{\n    unsigned int version;\n(?:(?!^\}).*\n)*\} (\w+);", text, re.M))
    versioned |= {new for old, new in re.findall(r"^typedef (nvml\w+) (nvml\w+);$", text, re.M) if old in versioned}
    stems = {name: re.sub(r"(_v\d+)?_t$", "", name) for name in versioned}
    return {name: macros[stem] for name, stem in stems.items() if stem in macros}


def _version_check(function, versions):
    """The condition that the structure's version is wrong; None if there is no such structure."""
    for param in function.params:
        match = re.match(r"(?:const )?(nvml\w+) \*(\w+)$", param)
        if match and match[1] in versions:
            return " && ".join(f"{match[2]}->version != {macro}" for macro in versions[match[1]])
    return None


def _emit_refusal(f, versions):
    lines = [f"    (void){_name(p)};" for p in f.params]
    if f.params and OTHERS.match(f.params[0]):
        return lines + ["    return NVML_ERROR_INVALID_ARGUMENT;"]
    given = " && ".join(f.pointers()) if f.state == "refused" else ""
    if given:
        lines += [f"    if (!({given}))", "        return NVML_ERROR_INVALID_ARGUMENT;"]
        wrong = _version_check(f, versions)
        if wrong:
            lines += [f"    if ({wrong})", "        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;"]
    if f.answer != "NOT_SUPPORTED":
        return lines + [f"    return NVML_ERROR_{f.answer};"]
    return lines + ["    static bool told;", f'    return mr_nvml_refuse("{f.name}", &told);']


def emit_exports(functions, include_dir):
    versions = _versions(include_dir)
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED} */", '#include "nvml_impl.h"', "",
             '#include "libs/nvml/nvml.h"', ""]
    for f in functions:
        lines += [wrap_call(f'__attribute__((visibility("default"))) {f.returns}{f.name}', f.params), "{"]
        names = [_name(p) for p in f.params]
        if f.state != "always":
            lines += ["    if (!mr_nvml_ready())", "        return NVML_ERROR_UNINITIALIZED;"]
            if f.has_device and f.state != "absent":
                lines += ["    if (!mr_nvml_device_of(device))", "        return NVML_ERROR_INVALID_ARGUMENT;"]
        if f.is_refused:
            lines += _emit_refusal(f, versions)
        else:
            lines.append(wrap_call(f"    return mr_{f.name}", names or [""]) + ";")
        lines += ["}", ""]
    return "\n".join(lines)


def emit_map(functions):
    lines = [f"# {GENERATED}", "{", "  global:"] + [f"    {name};" for name in sorted(f.name for f in functions)]
    return "\n".join(lines + ["  local:", "    *;", "};", ""])


def emit_names(functions):
    return "\n".join(sorted(f.name for f in functions)) + "\n"


def emit_each(functions):
    """For conformance cases: EACH(name, call with NULL and zeros, call with zeroed memory, kind). `device` and `memory(n)`
    are the case's. The kind says whether the function asks (ASKS) or changes something (CHANGES)."""
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED} */"]
    for f in functions:
        if f.name in ("nvmlErrorString", "nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlShutdown", "nvmlEventSetWait", "nvmlEventSetWait_v2"):
            continue
        changes = re.search(r"Set[A-Z]|Reset|Clear|Create|Destroy|Remove|Modify|Freeze|Update|Activate|Discover|Alloc|Free|Register|Validate|ReadWrite",
                            f.name.replace("EventSet", "").replace("OffSet", ""))
        null, some = [], []
        for n, param in enumerate(f.params):
            kind = param[: -len(_name(param))].strip()
            if param == HANDLE or re.match(r"nvmlDevice_t device[12]$", param):
                null.append("device")
                some.append("device")
            elif "*" in param or re.match(r"nvml(Unit|GpuInstance|ComputeInstance|EventSet|SystemEventSet|GpmSample)_t ", param):
                null.append("NULL")
                some.append(f"memory({n})" if "*" in param else "NULL")
            elif SCALARS.match(param):
                null.append(f"({kind})0")
                some.append(f"({kind}){'64' if re.match(r'(length|size|.*SetSize)$', _name(param)) else '0'}")
            else:
                raise TableError(f"{f.name}: what is {param}?")
        device = "ON_DEVICE" if f.has_device else "ON_SYSTEM"
        lines.append(f"EACH({f.name}, ({', '.join(null)}), ({', '.join(some)}), {'CHANGES' if changes else 'ASKS'}, {device})")
    return "\n".join(lines + [""])


def emit_coverage(functions):
    done = sum(1 for f in functions if not f.is_refused)
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", f"<!-- {GENERATED} -->", "", "# Coverage of NVML", "",
             f"{len(functions)} functions: {done} do their work, {len(functions) - done} are refused.", ""]
    for section in dict.fromkeys(f.section for f in functions):
        lines += [f"## {section}", "", "| function | state |", "| --- | --- |"]
        lines += [f"| {f.name} | {'refused' if f.is_refused else 'implemented'} |" for f in functions if f.section == section]
        lines.append("")
    return "\n".join(lines)


def kinds(spec_dir):
    """What generate.py can write: the name of a file and the function that makes its text."""
    def made(emit):
        return lambda inc: emit(load(spec_dir))
    return {"nvml.h": lambda inc: emit_header(load(spec_dir), inc), "nvml_impl.h": made(emit_impl), "nvml_exports.c": lambda inc: emit_exports(load(spec_dir), inc),
            "libnvidia-ml.map": made(emit_map), "libnvidia-ml.txt": made(emit_names), "nvml_each.inc": made(emit_each),
            "nvml-coverage.md": made(emit_coverage)}
