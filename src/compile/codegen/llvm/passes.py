#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LLVM's transformation passes that no kernel needs stay out of libmillrace-compile.so.

LLVM's parser of pipelines (its library Passes) refers to every pass by name, so a linker keeps them all: vectorisers,
sanitizers, coroutines, profiles. They are a fifth of LLVM's code here. optimise.c names the few that run. For each of
the others the linker is told (--wrap) that the parser's references go to a function made here, which names the pass and
ends the process. It can't be called unless optimise.c names a pass that USED lacks, and then this script fails.

    passes.py NM FOLDER OPTIMISE_C SOURCE ARGUMENTS -lLLVM…

NM is a program like nm, FOLDER has LLVM's static libraries, -lLLVM… are those that are linked. Writes a source in C and
the linker's arguments.

A pass is left out if its class has a name in "Pass", it is in one of FROM, and of all libraries Passes alone refers to
its function `run`. So what a pass or the code generator calls by itself stays.
"""
import pathlib
import re
import subprocess
import sys

# What optimise.c calls its passes, and the classes of LLVM's that run for it.
USED = {"function": (), "loop-mssa": ("LoopSimplifyPass", "LCSSAPass"), "sroa": ("SROAPass",), "early-cse": ("EarlyCSEPass",),
        "simplifycfg": ("SimplifyCFGPass",), "instcombine": ("InstCombinePass",), "loop-rotate": ("LoopRotatePass",),
        "licm": ("LICMPass",), "simple-loop-unswitch": ("SimpleLoopUnswitchPass",), "gvn": ("GVNPass",), "adce": ("ADCEPass",)}
FROM = ("ipo", "Instrumentation", "Vectorize", "Coroutines", "ObjCARCOpts", "HipStdPar", "ScalarOpts",
        "AggressiveInstCombine", "TransformUtils")
RUN = re.compile(r"_ZN4llvm(\d+)(\w+)")

SOURCE = """/* Made by passes.py. LLVM's passes that are not inside: see there. */
#include <stdio.h>
#include <stdlib.h>

static void absent(const char *name)
{
    fprintf(stderr, "millrace: LLVM's %s is not in libmillrace-compile.so (src/compile/codegen/llvm/passes.py)\\n", name);
    abort();
}

"""


def named(text: str) -> set[str]:
    """The passes in optimise.c's pipelines: words in the strings that it returns, without what stands in <>."""
    strings = "".join(re.findall(r'"([^"\n]*)"', text[text.index("*pipeline("):text.index("bool cg_optimise")]))
    return set(re.findall(r"[a-z][a-z-]*", re.sub(r"<[^>]*>", " ", strings)))


def pass_of(symbol: str) -> str:
    """The class, if the symbol is a class's function `run`, else ""."""
    found = RUN.match(symbol)
    if not found:
        return ""
    name, rest = found[2][:int(found[1])], found[2][int(found[1]):]
    return name if rest.startswith("3runE") and name.endswith("Pass") else ""


def symbols(nm: str, library: pathlib.Path) -> tuple[set[str], set[str]]:
    """The functions `run` of passes that a library refers to and has not, and those that it has."""
    listed = subprocess.run([nm, "-P", library], capture_output=True, text=True, check=True).stdout
    wanted, has = set(), set()
    for line in listed.splitlines():
        words = line.split()
        if len(words) > 1 and "3run" in words[0] and pass_of(words[0]):
            (wanted if words[1] == "U" else has).add(words[0])
    return wanted - has, has


def main() -> None:
    nm, folder, optimise = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    unknown = named(optimise.read_text()) - USED.keys()
    if unknown:
        sys.exit(f"passes.py: optimise.c names passes that USED lacks: {', '.join(sorted(unknown))}")
    paths = [folder / f"lib{word.removeprefix('-l')}.a" for word in sys.argv[6:] if word.startswith("-lLLVM")]
    tables = {path.stem.removeprefix("libLLVM"): symbols(nm, path) for path in paths}
    wanted, _ = tables.pop("Passes")
    elsewhere = set().union(*(others for others, _ in tables.values()))
    has = set().union(*(tables[name][1] for name in FROM))
    used = {name for names in USED.values() for name in names}
    out = sorted(symbol for symbol in (wanted & has) - elsewhere if pass_of(symbol) not in used)
    if not out:
        sys.exit(f"passes.py: found no passes of LLVM's in {folder}")
    functions = [f'void __wrap_{symbol}(void);\nvoid __wrap_{symbol}(void)\n{{\n    absent("{pass_of(symbol)}");\n}}\n' for symbol in out]
    pathlib.Path(sys.argv[4]).write_text(SOURCE + "".join(functions))
    pathlib.Path(sys.argv[5]).write_text("".join(f"-Wl,--wrap={symbol}\n" for symbol in out))


if __name__ == "__main__":
    main()
