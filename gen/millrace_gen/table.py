# SPDX-License-Identifier: Apache-2.0
"""Reads spec/*.toml into objects and refuses a table that contradicts itself.

A Function is one entry point of the manual; it has one Symbol per ABI version.
Everything that a generator wants to know about a parameter (its type, its
name, whether it is a handle, a stream, an output) is derived here, once.
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

CUDA_VERSION = 13000

# Handle types that a refusing stub checks, and the kind that it names.
HANDLE_KINDS = {
    "CUdevice": "MR_STUB_DEVICE",
    "CUcontext": "MR_STUB_CONTEXT",
    "CUmodule": "MR_STUB_MODULE",
    "CUfunction": "MR_STUB_FUNCTION",
    "CUlibrary": "MR_STUB_LIBRARY",
    "CUkernel": "MR_STUB_KERNEL",
    "CUstream": "MR_STUB_STREAM",
    "CUevent": "MR_STUB_EVENT",
    "CUarray": "MR_STUB_ARRAY",
    "CUmipmappedArray": "MR_STUB_ARRAY",
    "CUtexref": "MR_STUB_TEXREF",
    "CUsurfref": "MR_STUB_SURFREF",
    "CUgraph": "MR_STUB_GRAPH",
    "CUgraphNode": "MR_STUB_GRAPH_NODE",
    "CUgraphExec": "MR_STUB_GRAPH_EXEC",
    "CUmemoryPool": "MR_STUB_POOL",
    "CUlinkState": "MR_STUB_LINK",
    "CUuserObject": "MR_STUB_USER_OBJECT",
    "CUgreenCtx": "MR_STUB_GREEN_CONTEXT",
    "CUgraphicsResource": "MR_STUB_GRAPHICS",
    "CUexternalMemory": "MR_STUB_EXTERNAL",
    "CUexternalSemaphore": "MR_STUB_EXTERNAL",
}


class TableError(Exception):
    """The table contradicts itself; the message names file and row."""


@dataclass
class Param:
    """One parameter, split into type and name."""

    text: str
    type: str
    name: str

    @staticmethod
    def parse(text, where):
        match = re.fullmatch(r"(.*?[\s*])(\w+)(\[\])?", text.strip())
        if not match:
            raise TableError(f"{where}: cannot read parameter '{text}'")
        return Param(text.strip(), match[1].strip(), match[2])

    @property
    def handle_kind(self):
        """The stub's check for this parameter, or None."""
        return HANDLE_KINDS.get(self.type)

    @property
    def is_stream(self):
        return self.type == "CUstream"

    @property
    def kind(self):
        """'stream', 'handle', 'out', 'in', 'flags' or 'value'. A pointer to non-const is an
        output unless it is plain memory or text that the callee reads."""
        if self.is_stream:
            return "stream"
        if self.handle_kind:
            return "handle"
        if "*" in self.type:
            return "in" if self.type.startswith("const") else "out"
        return "flags" if self.name.lower().endswith("flags") else "value"


@dataclass
class Symbol:
    """One exported ABI version of a function."""

    function: "Function"
    elf: str
    since: int
    params: list
    per_thread: str | None
    per_thread_since: int
    implemented: bool
    refuses: bool
    same_as: str | None
    order: list = field(default_factory=list)
    first_interface: bool = False
    target: "Symbol | None" = None

    @property
    def per_thread_elf(self):
        return f"{self.elf}_{self.per_thread}" if self.per_thread else None

    @property
    def default_stream(self):
        """True where the implementation is told which default stream to use."""
        return self.per_thread == "ptds"

    @property
    def params_text(self):
        return ", ".join(p.text for p in self.params) or "void"

    @property
    def has_body(self):
        """True where a hand-written body is called, be it one that refuses."""
        return self.implemented or self.refuses

    @property
    def impl(self):
        """The symbol whose hand-written body serves this one."""
        return self.target or self


@dataclass
class Function:
    """One entry point of the manual."""

    name: str
    family: str
    section: str
    statuses: list
    needs_init: bool
    needs_context: bool
    header: str
    deprecated: bool
    current: str | None
    unsafe_in_capture: bool
    order: list
    symbols: list = field(default_factory=list)

    @property
    def current_symbol(self):
        """ELF name that the plain name means in a program built now."""
        return self.current or self.symbols[-1].elf


FUNCTION_KEYS = {"name", "statuses", "needs_init", "needs_context", "header",
                 "deprecated", "current", "unsafe_in_capture", "order", "symbol"}
SYMBOL_KEYS = {"elf", "since", "params", "per_thread", "per_thread_since",
               "implemented", "refuses", "same_as", "order", "first_interface"}


def _load_symbol(function, row, where):
    unknown = set(row) - SYMBOL_KEYS
    if unknown:
        raise TableError(f"{where}: unknown keys {sorted(unknown)}")
    elf = row["elf"]
    params = [Param.parse(p, f"{where}: {elf}") for p in row["params"]]
    per_thread = row.get("per_thread")
    if per_thread not in (None, "ptsz", "ptds"):
        raise TableError(f"{where}: {elf}: per_thread is 'ptsz' or 'ptds'")
    same_as = row.get("same_as")
    if same_as and "implemented" in row:
        raise TableError(f"{where}: {elf}: same_as takes 'implemented' from its target")
    return Symbol(function, elf, row["since"], params, per_thread,
                  row.get("per_thread_since", max(7000, row["since"])),
                  row.get("implemented", False), row.get("refuses", False), same_as, row.get("order", function.order), row.get("first_interface", False))


def _load_function(row, family, section, where):
    unknown = set(row) - FUNCTION_KEYS
    if unknown:
        raise TableError(f"{where}: unknown keys {sorted(unknown)}")
    statuses = row.get("statuses", [])
    function = Function(row["name"], family, section, statuses,
                        row.get("needs_init", True),
                        row.get("needs_context", "INVALID_CONTEXT" in statuses),
                        row.get("header", "cuda.h"), row.get("deprecated", False),
                        row.get("current"), row.get("unsafe_in_capture", False),
                        row.get("order", []))
    function.symbols = [_load_symbol(function, s, where) for s in row["symbol"]]
    return function


def _check(functions):
    """Cross-row rules: unique names, rising versions, aliases that exist."""
    symbols = {}
    names = set()
    for function in functions:
        if function.name in names:
            raise TableError(f"{function.name}: two rows")
        names.add(function.name)
        last = 0
        for symbol in function.symbols:
            if symbol.since < last:
                raise TableError(f"{symbol.elf}: ABI versions are not in order")
            last = symbol.since
            for elf in filter(None, (symbol.elf, symbol.per_thread_elf)):
                if elf in symbols:
                    raise TableError(f"{elf}: exported twice")
                symbols[elf] = symbol
    for function in functions:
        if function.current and function.current not in symbols:
            raise TableError(f"{function.name}: current = {function.current} does not exist")
        for symbol in function.symbols:
            if not symbol.same_as:
                continue
            target = symbols.get(symbol.same_as)
            if target is None or target.same_as:
                raise TableError(f"{symbol.elf}: same_as must name a symbol with a body")
            if [p.type for p in target.params] != [p.type for p in symbol.params]:
                raise TableError(f"{symbol.elf}: same_as has another signature")
            symbol.target = target
            symbol.implemented = target.implemented
            symbol.refuses = target.refuses


def load(folder):
    """All functions of the table, by family file name and then in file order."""
    functions = []
    for path in sorted(Path(folder).glob("*.toml")):
        with path.open("rb") as file:
            data = tomllib.load(file)
        if "family" not in data:
            continue
        for row in data["function"]:
            functions.append(_load_function(row, data["family"], data["section"], path.name))
    _check(functions)
    return functions


def load_errors(folder):
    """[(name, value, description)] from errors.toml, by value."""
    with (Path(folder) / "errors.toml").open("rb") as file:
        rows = tomllib.load(file)["error"]
    result = [(r["name"], r["value"], r["text"]) for r in rows]
    values = [r[1] for r in result]
    if values != sorted(set(values)):
        raise TableError("errors.toml: values must rise")
    return result
