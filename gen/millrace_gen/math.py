# SPDX-License-Identifier: Apache-2.0
"""Reads spec/math/, the tables of the libraries of mathematics, and writes their files from them. libraries.txt there
names the libraries; the other files have their functions.

A row is a family: functions that differ in the type of their elements, and in whether sizes have 32 or 64 bits. All of
a family's functions call one body, which is told by a form which of them was called.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from .table import TableError
from .text import GENERATED, wrap_call

KEYS = {"name", "forms", "suffix", "wide", "returns", "params", "done", "until", "later", "touches"}
ELEMENTS = {"S": "float", "D": "double", "C": "cuComplex", "Z": "cuDoubleComplex", "H": "__half", "X": None}
COMPLEXES = {"S": "cuComplex", "D": "cuDoubleComplex", "C": "cuComplex", "Z": "cuDoubleComplex", "H": None, "X": None}
TOUCH = re.compile(r"(r|w|rw) (\w+)\((.*)\)")
HOWS = {"r": "MR_READS", "w": "MR_WRITES", "rw": "MR_READS | MR_WRITES"}
REALS = {"S": "float", "D": "double", "C": "float", "Z": "double", "H": "__half", "X": None}


@dataclass
class Library:
    """A line of libraries.txt."""

    name: str
    title: str
    status: str
    mark: str  # stands before the names in the headers
    sonames: list  # the numbers, oldest first: of CUDA 11 where it is here, 12 and 13; one if those two are the same
    headers: list

    @property
    def impl(self):
        return f"{self.name}_impl.h"

    @property
    def folder(self):
        return self.name.lower()


def load_libraries(spec_dir):
    """The libraries by name, in the order of the file."""
    libraries = {}
    for line in (Path(spec_dir) / "math" / "libraries.txt").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("#")[0].split("|")]
        if cells == [""]:
            continue
        if len(cells) != 6:
            raise TableError(f"libraries.txt: six cells are wanted: {line}")
        name, title, status, mark, sonames, headers = cells
        libraries[name] = Library(name, title, status, mark, [int(s.split("=")[0]) for s in sonames.split()], headers.split())
    if list(libraries) != sorted(libraries):
        raise TableError("libraries.txt: the lines are not in the order of the alphabet")
    return libraries


@dataclass
class Family:
    lib: Library
    section: str
    header: str
    name: str
    forms: dict
    suffix: str
    wide: bool
    returns: str
    params: list
    done: bool
    until: int  # the last soname whose library has it; 0: all have, and the header
    apart: bool = False  # its header does not go together with the library's others
    later: bool = False  # a later version's: exported, and in no header
    touches: list = None  # what its works touch, or None: its body tells, or nobody does

    @property
    def body(self):
        return f"mr_{self.lib.folder}_{self.name}"

    @property
    def in_headers(self):
        return not self.until and not self.later

    def symbols(self):
        """(letter, wide, name in programs, exported symbol) of each function."""
        for letter, names_of in self.forms.items():
            for name in [names_of] if isinstance(names_of, str) else names_of:
                yield letter, False, name, name + self.suffix
                if self.wide:
                    yield letter, True, f"{name}_64", f"{name}{self.suffix}_64"


def _load_family(library, table, row, where):
    unknown = set(row) - KEYS
    if unknown:
        raise TableError(f"{where}: unknown keys {sorted(unknown)}")
    for letter in row["forms"]:
        if letter not in ELEMENTS:
            raise TableError(f"{where}: {row['name']}: no type has the letter {letter}")
    for touch in row.get("touches", []):
        if not TOUCH.fullmatch(touch):
            raise TableError(f"{where}: {row['name']}: not 'r', 'w' or 'rw', a word and its arguments: {touch}")
    return Family(library, table["section"], table.get("header", library.headers[0]), row["name"], row["forms"], row.get("suffix", ""),
                  row.get("wide", False), row.get("returns", library.status), row["params"], row["done"], row.get("until", 0),
                  table.get("apart", False), row.get("later", False), row.get("touches"))


def load(spec_dir, name):
    """All families of a library, in the order of files and rows."""
    families, seen = [], set()
    libraries = load_libraries(spec_dir)
    for path in sorted((Path(spec_dir) / "math").glob("*.toml")):
        with open(path, "rb") as file:
            table = tomllib.load(file)
        if table["library"] not in libraries:
            raise TableError(f"{path.name}: no library is called {table['library']}")
        if table["library"] != name:
            continue
        if table.get("header", libraries[name].headers[0]) not in libraries[name].headers:
            raise TableError(f"{path.name}: {name} has no header {table['header']}")
        for row in table["function"]:
            family = _load_family(libraries[name], table, row, path.name)
            for _, _, _, symbol in family.symbols():
                if symbol in seen:
                    raise TableError(f"{path.name}: {symbol} is there twice")
                seen.add(symbol)
            families.append(family)
    return families


def _public(param, letter, wide):
    """A parameter as a program sees it."""
    text = param.replace("{T}", ELEMENTS[letter] or "").replace("{R}", REALS[letter] or "").replace("{C}", COMPLEXES[letter] or "")
    text = re.sub(r"\blong long\b", "long long int", text)
    return re.sub(r"^(const )?int\b(?! \*\*)", r"\1int64_t", text) if wide else text


def _returns_element(family):
    """Whether the functions return an element or an index: the body leaves it behind a pointer."""
    return "{" in family.returns or (family.apart and family.returns == "int")


CLASSES = re.compile(r"\b(__half|__nv_bfloat16)\b")


def _name(param):
    return re.search(r"(\w+)(\[\])?$", param)[1]


ELEMENT = (r"(\{T\}|\{R\}|void|float|double|__half|__nv_bfloat16|cuComplex|cuDoubleComplex|cufftReal|cufftDoubleReal|cufftComplex"
           r"|cufftDoubleComplex|fftw_complex|fftwf_complex)")


def _internal(param, wide):
    """The same parameter as the body gets it, and the cast that takes it there."""
    name = _name(param)
    match = re.match(rf"(const )?{ELEMENT} \*(?:const )?\w+\[\]$", param)
    if match:
        kind = f"{match[1] or ''}void *const *"
        return kind + name, f"({kind}){name}"
    match = re.match(rf"const {ELEMENT} \w+\[\]$", param)
    if match or (wide and re.match(r"const int \w+\[\]$", param)):
        return f"const void *{name}", name
    match = re.match(rf"(const )?{ELEMENT} \*\w+$", param)
    if match:
        return f"{match[1] or ''}void *{name}", name
    if re.match(r"\{[TC]\} \w+$", param):  # by value: the body gets its address
        return f"const void *{name}", f"&{name}"
    if wide and re.match(r"int \*\w+$", param):
        return f"void *{name}", name
    if re.match(r"\{R\} \w+$", param):
        return f"double {name}", name
    if re.match(r"(int|long long) \w+$", param):
        return f"int64_t {name}", name
    return param, name


def emit_impl(families):
    """The prototypes of the bodies."""
    library = families[0].lib
    guard = f"MR_{library.name.upper()}_IMPL_H"
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED} */", f"#ifndef {guard}", f"#define {guard}", ""]
    apart = {f.header for f in families if f.apart}
    lines += ["#include <stdint.h>", ""] + [f"#include <{header}>" for header in library.headers if header not in apart]
    lines += ['#include "libs/math/form.h"', ""]
    for family in families:
        if family.done:
            params = ["const struct mr_form *form"] + [_internal(p, family.wide)[0] for p in family.params]
            returns = family.returns
            if _returns_element(family):
                params, returns = params + ["void *result"], "void"
            lines.append(wrap_call(f"{returns} {family.body}".replace("* ", "*"), params) + ";")
    return "\n".join(lines + ["", "#endif", ""])


def _emit_touches(family):
    """What tells observers of the call's memory, before its body."""
    lines = ["    if (mr_tell_call(form.name)) {"]
    for touch in family.touches:
        how, word, args = TOUCH.fullmatch(touch).groups()
        lines.append(f"        mr_touch_{word}(form.name, {HOWS[how]}, {args});")
    return lines + ["    }"]


def emit_exports(families):
    """The exported functions."""
    library = families[0].lib
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED} */", f'#include "{library.impl}"', "",
             f'#include "libs/{library.folder}/refuse.h"', '#include "libs/math/work.h"', ""]
    if any(family.touches for family in families):
        lines.insert(-1, f'#include "libs/{library.folder}/touch.h"')
    for family in families:
        for letter, wide, name, symbol in family.symbols():
            params = [CLASSES.sub(r"\1_raw", _public(p, letter, wide)) for p in family.params]
            returns = _public(family.returns, letter, False)
            head = wrap_call(f'__attribute__((visibility("default"))) {returns} {symbol}', params)
            if family.apart:  # in another header it is a macro
                lines.append(f"#undef {symbol}")
            # The header has it for C++ alone, or not at all.
            if not family.in_headers or family.apart or params != [_public(p, letter, wide) for p in family.params]:
                lines.append(wrap_call(f"{returns} {symbol}", params or ["void"]) + ";")
            lines += [head, "{"]
            if family.done:
                lines.append(f"    static const struct mr_form form = {{\"{name}\", '{letter}', {'true' if wide else 'false'}}};")
                args = ["&form"] + [_internal(p, family.wide)[1] for p in family.params]
                if _returns_element(family):
                    if family.touches:
                        raise TableError(f"{name}: what a function touches that returns an element can't be told here")
                    lines += [f"    {returns} result = {{0}};", "    mr_tell_in(form.name);", wrap_call(f"    {family.body}", args + ["&result"]) + ";",
                              "    mr_tell_call_over();", "    return result;"]
                elif family.touches is not None:
                    lines += _emit_touches(family) + [wrap_call(f"    {returns} status = {family.body}", args) + ";", "    mr_tell_call_over();",
                                                      "    return status;"]
                elif returns == "void":
                    lines += ["    mr_tell_in(form.name);", wrap_call(f"    {family.body}", args) + ";", "    mr_tell_call_over();"]
                else:
                    space = "" if returns.endswith("*") else " "
                    lines += ["    mr_tell_in(form.name);", wrap_call(f"    {returns}{space}returned = {family.body}", args) + ";", "    mr_tell_call_over();",
                              "    return returned;"]
            else:
                lines += [f"    (void){_name(p)};" for p in params]
                if family.returns == library.status:
                    lines.append(f'    return mr_{library.folder}_refuse("{name}");')
                else:
                    raise TableError(f"{name}: a function that is not done has to return the library's status")
            lines += ["}", ""]
    return "\n".join(lines)


def names(families, soname):
    """What the library with that soname exports."""
    return sorted(symbol for f in families if not f.until or soname <= f.until for _, _, _, symbol in f.symbols())


def emit_map(families, soname):
    library = families[0].lib
    lines = [f"# {GENERATED}", f"lib{library.name}.so.{soname} {{", "  global:"]
    lines += [f"    {name};" for name in names(families, soname)]
    return "\n".join(lines + ["  local:", "    *;", "};", ""])


def emit_names(families, soname):
    return "\n".join(names(families, soname)) + "\n"


def _prototypes(families, header):
    lines, section = [], None
    for family in families:
        if not family.in_headers or family.header != header:
            continue
        if family.section != section:
            section = family.section
            lines += ["", f"/* {section}. */"]
        for letter, wide, _, symbol in family.symbols():
            text = wrap_call(" ".join(filter(None, [_public(family.returns, letter, False), family.lib.mark, symbol])),
                             [_public(p, letter, wide) for p in family.params]) + ";"
            # The types of 16 bits are classes, which C has not.
            lines += ["#ifdef __cplusplus", text, "#endif"] if CLASSES.search(text) else [text]
    return "\n".join(lines).strip()


def _plain_names(families):
    return "\n".join(f"#define {name} {symbol}" for f in families if f.in_headers for _, _, name, symbol in f.symbols() if name != symbol)


def emit_header(header, families, include_dir):
    """A public header, from include/math/<header>.in."""
    text = (Path(include_dir) / "math" / (header + ".in")).read_text()
    return text.replace("@PROTOTYPES@", _prototypes(families, header)).replace("@NAMES@", _plain_names(families))


def emit_coverage(families):
    """The library's coverage page."""
    title = families[0].lib.title
    total = sum(1 for f in families for _ in f.symbols())
    done = sum(1 for f in families if f.done for _ in f.symbols())
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", f"<!-- {GENERATED} -->", "", f"# Coverage of {title}", "",
             f"{total} functions: {done} do their work, {total - done} answer NOT_SUPPORTED.", ""]
    for section in dict.fromkeys(f.section for f in families):
        lines += [f"## {section}", "", "| functions | `_64` | state |", "| --- | --- | --- |"]
        for f in families:
            if f.section == section:
                lines.append(f"| {', '.join(name for _, wide, name, _ in f.symbols() if not wide)} | {'yes' if f.wide else ''} | "
                             f"{'implemented' if f.done else 'refused'} |")
        lines.append("")
    return "\n".join(lines)


def emit_redirected(libraries):
    """Rows of src/libs/redirect/libraries.c."""
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED} */"]
    for library in libraries.values():
        lines += [f'{{.stem = "lib{library.name}", .version = "{version}"}},' for version in library.sonames + [""]]
    return "\n".join(lines + [""])


def kinds(spec_dir):
    """What generate.py can write: the name of a file and the function that makes its text."""
    libraries = load_libraries(spec_dir)
    out = {"redirect_math.inc": lambda inc: emit_redirected(libraries)}
    for name, library in libraries.items():
        def made(emit, name=name):
            return lambda inc: emit(load(spec_dir, name), inc)
        for header in library.headers:
            out[header] = made(lambda f, inc, header=header: emit_header(header, f, inc))
        out[library.impl] = made(lambda f, inc: emit_impl(f))
        out[f"{name}_exports.c"] = made(lambda f, inc: emit_exports(f))
        out[f"{name}-coverage.md"] = made(lambda f, inc: emit_coverage(f))
        for soname in library.sonames:
            out[f"lib{name}{soname}.txt"] = made(lambda f, inc, soname=soname: emit_names(f, soname))
            out[f"lib{name}{soname}.map"] = made(lambda f, inc, soname=soname: emit_map(f, soname))
    return out
