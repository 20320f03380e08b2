# SPDX-License-Identifier: Apache-2.0
"""What a C header declares: enumerators, struct fields, typedefs, functions, macros.

Reads the compiler's preprocessed output, so only declarations as they stand in a
plain C interface have to be understood: no bit fields, no nested function types.
"""

import re
import subprocess


def preprocess(compiler, folder, header, defines=()):
    """Preprocessed text of `#include <header>`."""
    command = [compiler, "-E", "-P", "-x", "c", "-I", folder, *("-D" + d for d in defines), "-"]
    return subprocess.run(command, input=f"#include <{header}>\n", check=True, text=True,
                          capture_output=True).stdout


def macros(compiler, folder, header):
    """{name: body} of the object-like macros that the header adds and that look public."""
    command = [compiler, "-E", "-dM", "-x", "c", "-I", folder, "-"]
    text = subprocess.run(command, input=f"#include <{header}>\n", check=True, text=True,
                          capture_output=True).stdout
    pairs = re.findall(r"^#define (\w+) (.*)$", text, re.M)
    return {n: b for n, b in pairs if re.match(r"(CU_|CUDA_|RESOURCE_ABI)", n)}


def declarations(text):
    """Top-level declarations, each on one line without the final semicolon."""
    found, depth, start = [], 0, 0
    for index, char in enumerate(text):
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
        elif char == ";" and depth == 0:
            found.append(re.sub(r"\s+", " ", text[start:index]).strip())
            start = index + 1
    return found


def _split_top(body):
    """Members of a struct body, split at semicolons outside braces."""
    return declarations(body)


def _field_name(member):
    """Name of a plain member, without array bounds; '' for none."""
    member = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*\)*", "", member).strip()
    match = re.search(r"(\w+)\s*(\[.*\])*\s*$", member)
    return match[1] if match else ""


def fields(body, prefix=""):
    """Paths of all fields of a struct body, members of anonymous structs included."""
    paths = []
    for member in _split_top(body):
        if "{" in member:
            inner = member[member.index("{") + 1:member.rindex("}")]
            name = member[member.rindex("}") + 1:].strip()
            name = re.sub(r"\[.*\]", "", name).strip()
            if name:
                paths.append(prefix + name)
                paths += fields(inner, prefix + name + ".")
            else:
                paths += fields(inner, prefix)
        else:
            name = _field_name(member)
            if name:
                paths.append(prefix + name)
    return paths


class Names:
    """All names of one header."""

    def __init__(self, compiler, folder, header="cuda.h", defines=()):
        text = preprocess(compiler, folder, header, defines)
        self.macros = macros(compiler, folder, header)
        self.enumerators, self.typedefs, self.functions = [], [], {}
        self.fields = {}
        self.pointers = []  # PFN_ types
        for item in declarations(text):
            self._read(item)

    def _read(self, item):
        # Where a declaration follows `extern "C" {` or an inline body, only its end matters.
        function = re.search(r"\bCUresult (?:CUDAAPI )?(cu\w+) ?\(([^{}]*)\)$", item)
        if function and "typedef" not in item:
            self.functions[function[1]] = function[2]
            return
        if not item.startswith("typedef") or "CU" not in item.upper():
            return
        pointer = re.search(r"\( ?\*(\w+)\) ?\([^{}]*\)$", item)
        name = pointer[1] if pointer else re.search(r"(\w+)$", item)[1]
        if name.startswith("PFN_cu"):
            self.pointers.append(name)
        if not re.match(r"(CU|cu|cl_)", name):
            return
        self.typedefs.append(name)
        if "{" not in item:
            return
        body = item[item.index("{") + 1:item.rindex("}")]
        if re.match(r"typedef enum", item):
            self.enumerators += [e.split("=")[0].strip() for e in body.split(",") if e.strip()]
        else:
            self.fields[name] = fields(body)
