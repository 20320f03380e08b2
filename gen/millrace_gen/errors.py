# SPDX-License-Identifier: Apache-2.0
"""error_table.inc: the rows of src/api/error.c, by rising value."""

from .text import GENERATED


def emit_error_table(errors):
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {GENERATED}",
             " * MR_ERROR_ROW(name, text), by rising value. */"]
    for name, _, text in errors:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'MR_ERROR_ROW({name}, "{escaped}")')
    return "\n".join(lines) + "\n"
