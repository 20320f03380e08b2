# SPDX-License-Identifier: Apache-2.0
"""The functions that a toolkit's headers of small floats declare, one a line: header, sides, type, name and parameters'
types. Its output is functions.txt. Usage: list_toolkit.py TOOLKIT/include TRAITS

`cast` and `make` are conversions and constructors: those that TRAITS, traits.cpp's output with these headers, says
there are. Sides: both (host and device, and host compilers alone), device, and device<700 or device>=800 for those that
depend on the architecture. The preprocessor of g++ brings the text into the form that each compiler sees; what belongs
to no user (parts of other functions) is left out."""
import pathlib
import re
import subprocess
import sys

HEADERS = ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h")
# What the declarations of one header call a type, and what types say of nothing but the value.
WORDS = {"int", "unsigned", "signed", "char", "short", "long", "float", "double", "bool", "void"}
INNER = re.compile(r"__internal|__float_simpl|__hsin_internal|__hcos_internal")
STARTS = {"__half": "cuda_fp16.h", "__nv_bfloat": "cuda_bf16.h", "__nv_fp8": "cuda_fp8.h", "__nv_fp6": "cuda_fp6.h", "__nv_fp4": "cuda_fp4.h"}
NO_ARGUMENTS = ("const char *", "plain", "scoped")
NARROW = ("bool", "char", "signed char", "unsigned char")   # become an int before they become anything else
MODES = {"alone": None, "host": None, "750": 750, "900": 900}


def preprocessed(top: pathlib.Path, mode: str) -> str:
    words = ["g++", "-std=c++17", "-E", "-x", "c++", f"-isystem{top}", f"-isystem{top}/cccl"]
    if mode != "alone":
        words += ["-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0", "-include", "cuda_runtime.h"]
    if MODES[mode]:
        words.append(f"-D__CUDA_ARCH__={MODES[mode]}")
    source = "".join(f"#include <{header}>\n" for header in HEADERS)
    return subprocess.run([*words, "-"], input=source, capture_output=True, text=True, check=True).stdout


def header_lines(text: str, top: pathlib.Path) -> str:
    """The lines of the headers themselves, with a mark where another one begins."""
    name, kept = None, []
    for line in text.splitlines():
        place = re.match(r'# \d+ "([^"]*)"', line)
        if place:
            path = pathlib.Path(place.group(1))
            base = path.stem + ".h" if path.suffix == ".hpp" else path.name
            if base in HEADERS and path.resolve().parent == top and base != name:
                kept.append(f";@{base};")
            name = base if base in HEADERS and path.resolve().parent == top else None
            if name is None:
                kept.append(";@;")
        elif name and not line.startswith("#"):
            kept.append(line)
    return "\n".join(kept)


def without_bodies(text: str) -> str:
    """Declarations alone: each body and each class becomes a semicolon."""
    out, depth = [], 0
    for piece in re.split(r'("(?:\\.|[^"\\])*"|[{}])', text):
        if piece == "{":
            depth += 1
        elif piece == "}":
            depth -= 1
            out.append(";" if depth == 0 else "")
        elif depth == 0:
            out.append(piece)
        else:   # marks of headers count inside as well
            out += re.findall(r";@[\w.]*;", piece)
    return "".join(out)


def type_of(text: str) -> str:
    text, _, default = text.partition("=")
    tokens = re.findall(r"\w+|[*&]", text)
    words = [token for token in tokens if re.match(r"\w", token) and token not in ("const", "enum", "static", "inline", "__inline__", "__forceinline__")]
    if len(words) > 1 and words[-1] not in WORDS:
        words.pop()
    stars = "".join(token for token in tokens if token in "*&")
    name = " ".join(words)
    name = {"unsigned": "unsigned int", "unsigned short int": "unsigned short", "short int": "short", "long long int": "long long",
            "unsigned long long int": "unsigned long long"}.get(name, name)
    constant = stars and re.match(r"\s*(?:\w+\s+)*?const\b[^*&]*[*&]", text)
    return ("const " if constant else "") + name + stars + (f" = {default.strip()}" if default else "")


def functions(text: str, top: pathlib.Path):
    """(header, sides, type, name, parameters' types) of each function outside of classes."""
    header = None
    for piece in without_bodies(header_lines(text, top)).split(";"):
        piece = " ".join(piece.split())
        if piece.startswith("@"):
            header = piece[1:]
            continue
        sides = [side for side in ("host", "device") if re.search(rf"__attribute__ ?\(\((?:__)?{side}(?:__)?\)\)|__{side}__", piece)]
        piece = re.sub(r"__attribute__ ?\(\((?:[^()]|\([^()]*\))*\)\)|\b__(?:host|device)__\b", " ", piece)
        found = re.match(r"^(?:static |extern )?([\w\s&*]+?)\b(operator ?[^\s\w(]+|\w+) ?\(([^()]*)\)$", " ".join(piece.split()))
        if not header or not found or found.group(1).startswith("typedef") or INNER.match(found.group(2)) or not found.group(1).strip():
            continue
        parameters = tuple(type_of(part) for part in found.group(3).split(",") if part.strip())
        yield header, tuple(sides), type_of(found.group(1) + " x"), found.group(2).replace(" ", ""), parameters


def conversions(traits: str):
    """(header, type, name, parameters' types) of each conversion, and of constructors of two."""
    tables = {}
    for line in traits.splitlines():
        name, _, rest = line.partition(" ")
        if name in ("built_in", "ours"):
            tables[name] = rest.split(", ")
            continue
        what, _, cells = rest.partition(" ")
        if what not in ("from_built_in", "to_built_in", "from_ours"):
            continue
        header = next(header for start, header in STARTS.items() if name.startswith(start))
        others = tables["ours" if what == "from_ours" else "built_in"]
        for place, other in enumerate(others):
            if cells[2 * place] == "." or other == name or other in NO_ARGUMENTS or (what == "from_built_in" and other in NARROW):
                continue
            yield (header, other, "cast", (name,)) if what == "to_built_in" else (header, name, "cast", (other,))
    for name in tables["ours"]:
        header = next(header for start, header in STARTS.items() if name.startswith(start))
        if "x4" in name:
            yield header, name, "make", ("__half2", "__half2")
            yield header, name, "make", ("__nv_bfloat162", "__nv_bfloat162")
        elif name in ("__half2", "__nv_bfloat162"):
            yield header, name, "make", (name.replace("2", "") if name == "__half2" else "__nv_bfloat16",) * 2


def main() -> int:
    top = pathlib.Path(sys.argv[1]).resolve()
    rows: dict[tuple, dict[str, tuple]] = {}
    written: dict[tuple, tuple] = {}   # parameters as first declared, with what they are if left out
    for mode in MODES:
        for header, sides, result, name, parameters in functions(preprocessed(top, mode), top):
            parameters = written.setdefault((header, name, tuple(part.partition(" =")[0] for part in parameters)), parameters)
            rows.setdefault((header, result, name, parameters), {})[mode] = sides
    for (header, result, name, parameters), modes in rows.items():
        if "alone" in modes:
            side = "both"
        else:
            side = "device<700" if "750" not in modes and "900" not in modes else "device>=800" if "750" not in modes else "device"
        assert side != "both" or modes["host"] == ("host", "device"), (name, modes)
        print(header, side, f"{result} {name}({', '.join(parameters)})")
    for header, result, name, parameters in conversions(pathlib.Path(sys.argv[2]).read_text()):
        print(header, "both", f"{result} {name}({', '.join(parameters)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
