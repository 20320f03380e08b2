# SPDX-License-Identifier: Apache-2.0
"""clang 19 for Millrace, on machines that have none. The package millrace_driver finds it by itself."""
import pathlib


def folder() -> str:
    """The folder that has clang-19, for PATH."""
    return str(pathlib.Path(__file__).resolve().parent / "clang" / "bin")
