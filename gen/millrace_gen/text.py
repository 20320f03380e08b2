# SPDX-License-Identifier: Apache-2.0
"""Small helpers for writing C text."""

GENERATED = "Generated from the tables in spec/ by gen/generate.py; do not edit."
WIDTH = 110


def wrap_call(head, params):
    """'head(a, b, c)', broken at commas where the line would grow too long."""
    texts = [p if isinstance(p, str) else p.text for p in params] or ["void"]
    line = f"{head}({', '.join(texts)})"
    if len(line) <= WIDTH:
        return line
    lines, current = [], f"{head}("
    for index, text in enumerate(texts):
        piece = text + (", " if index < len(texts) - 1 else ")")
        if len(current) + len(piece.rstrip()) > WIDTH:
            lines.append(current.rstrip())
            current = "    "
        current += piece
    lines.append(current)
    return "\n".join(lines)
