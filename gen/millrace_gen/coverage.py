# SPDX-License-Identifier: Apache-2.0
"""docs/coverage.md: which entry points work and which are refused."""

from .text import GENERATED


def emit_coverage(functions):
    symbols = [s for f in functions for s in f.symbols]
    forms = sum(2 if s.per_thread else 1 for s in symbols)
    done = sum(1 for s in symbols if s.implemented)
    lines = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", f"<!-- {GENERATED} -->", "",
             "# Coverage of the driver API (CUDA 13.0)", "",
             f"{len(functions)} documented functions in {len(symbols)} ABI versions; "
             f"{forms} exported symbols with the per-thread-stream forms. "
             f"{done} ABI versions are implemented, {len(symbols) - done} are refused with "
             "`CUDA_ERROR_NOT_SUPPORTED`.", "",
             "| section | functions | implemented | refused |", "| --- | --- | --- | --- |"]
    sections = {}
    for function in functions:
        sections.setdefault(function.section, []).append(function)
    sections = dict(sorted(sections.items()))
    for section, members in sections.items():
        ok = sum(1 for f in members if f.symbols[-1].implemented)
        lines.append(f"| {section} | {len(members)} | {ok} | {len(members) - ok} |")
    for section, members in sections.items():
        lines += ["", f"## {section}", "", "| function | symbol | since | per thread | state |",
                  "| --- | --- | --- | --- | --- |"]
        for function in members:
            for symbol in function.symbols:
                since = f"{symbol.since // 1000}.{symbol.since % 1000 // 10}"
                state = "implemented" if symbol.implemented else "refused"
                if symbol.same_as:
                    state += f" (as `{symbol.same_as}`)"
                lines.append(f"| {function.name} | `{symbol.elf}` | {since} | "
                             f"{'`' + symbol.per_thread_elf + '`' if symbol.per_thread else ''} | {state} |")
    return "\n".join(lines) + "\n"
