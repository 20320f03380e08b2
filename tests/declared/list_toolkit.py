# SPDX-License-Identifier: Apache-2.0
"""What a CUDA toolkit's headers declare: functions with their sides, result and parameters, one row each. Usage:
list_toolkit.py INCLUDE_FOLDER OUTPUT_FOLDER HEADER...

Writes one file for each header named, in the form that test_declared.py reads. The headers are preprocessed by g++ as
they are for the host and for a device, and the declarations are read
from that: names and types, which are facts, and nothing else. To be run by hand when there is a newer toolkit; the test
needs none."""
import pathlib
import re
import subprocess
import sys

ALSO = ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h", "cuComplex.h", "cuda_pipeline_primitives.h", "cuda_awbarrier_primitives.h", "curand_kernel.h", "mma.h",
        "cuda_pipeline.h", "cuda_awbarrier.h", "texture_indirect_functions.h", "surface_indirect_functions.h", "sm_60_atomic_functions.h")
TYPES = {"int", "unsigned", "signed", "char", "short", "long", "float", "double", "bool", "void", "const", "volatile"}
SHORTER = (("unsigned long long int", "unsigned long long"), ("long long int", "long long"), ("unsigned long int", "unsigned long"), ("long int", "long"), ("unsigned short int", "unsigned short"),
           ("short int", "short"), ("uint32_t", "unsigned int"))


def preprocessed(top: pathlib.Path, architecture: int) -> str:
    """All headers for the host (0) or for a device."""
    words = ["g++", "-std=c++17", "-E", "-x", "c++", "-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0", "-D__CUDACC_VER_BUILD__=88", f"-isystem{top}",
             f"-isystem{top}/cccl", "-include", "cuda_runtime.h"]
    if architecture:
        words += [f"-D__CUDA_ARCH__={architecture}", f"-D__CUDA_ARCH_LIST__={architecture}"]
    source = "".join(f"#include <{header}>\n" for header in ALSO)
    return subprocess.run([*words, "-"], input=source, capture_output=True, text=True, check=True).stdout


def own_lines(text: str, top: pathlib.Path) -> list[tuple[str, str]]:
    """Lines of the toolkit's headers, each with its header's name."""
    header, lines = "", []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            path = pathlib.Path(marker.group(1)).resolve()
            header = str(path.relative_to(top)) if path.is_relative_to(top) else ""
        elif header and not header.startswith(("cccl/", "cuda/", "nv/")):
            lines.append((header, "" if line.lstrip().startswith("#") else line))
    return lines


def end_of(text: str, start: int, opening: str, closing: str) -> int:
    """Behind what closes the bracket that opens at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == opening) - (text[at] == closing)
        if depth == 0:
            return at + 1
    return len(text)


def without_attributes(text: str) -> tuple[str, set[str]]:
    sides: set[str] = set()
    while found := re.search(r"\b(__attribute__|__declspec|alignas|__align__|asm|__asm__|noexcept|throw)\s*\(", text):
        end = end_of(text, found.end() - 1, "(", ")")
        sides |= {side for side in ("host", "device", "global") if re.search(rf"\b(__)?{side}(__)?\b", text[found.end():end])}
        text = text[:found.start()] + " " + text[end:]
    return re.sub(r"\b(noexcept|__restrict__|__restrict|__extension__|explicit)\b", " ", text), sides


def type_of(text: str) -> str:
    """The type in a parameter's declaration, in one spelling; without const where it says nothing to a caller."""
    text = re.sub(r"=.*", "", text, flags=re.S).strip()
    parts = re.findall(r"[A-Za-z_]\w*(?:::\w+)*|\.\.\.|[*&<>,\[\]()]|\d+", text)
    words = [part for part in parts if re.match(r"[A-Za-z_]", part) and part not in ("const", "volatile", "enum", "struct")]
    if len(words) > 1 and parts[-1] == "]":
        parts = parts[:parts.index("[") - 1] + ["*"]
    elif len(words) > 1 and re.match(r"[A-Za-z_]", parts[-1]) and parts[-1] not in TYPES:
        parts = parts[:-1]
    if "*" not in parts and "&" not in parts:
        parts = [part for part in parts if part not in ("const", "volatile")]
    result = " ".join(part for part in parts if part not in ("enum", "struct")).removesuffix(" const") if "*" in parts else " ".join(
        part for part in parts if part not in ("enum", "struct"))
    for long, short in SHORTER:
        result = re.sub(rf"\b{long}\b", short, result)
    return {"unsigned": "unsigned int"}.get(result, result).replace(" *", "*").replace("* *", "**").replace(" &", "&").replace("* const*", "* const *")


def parted(parameters: str) -> list[str]:
    parts, depth, part = [], 0, ""
    for char in parameters:
        depth += (char in "(<[") - (char in ")>]")
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    return parts + ([part] if part.strip() else [])


class Reader:
    """Goes through declarations at file scope and in namespaces; classes and function bodies are passed over."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, tuple[str, ...], frozenset[str]]] = []
        self.scope: list[str] = []

    def add(self, header: str, text: str) -> None:
        text, sides = without_attributes(" ".join(text.split()))
        text = text.strip()
        if "(" not in text or text.startswith(("typedef", "using", "static_assert", "friend", "struct ", "class ", "union ", "enum ")):
            return
        template = text.startswith("template")
        while text.startswith("template"):
            text = text[end_of(text, text.index("<"), "<", ">"):].strip()
        text = re.sub(r"\s*::\s*", "::", text)
        if re.search(r"\w::(operator|~)", text):   # a member's definition
            return
        found = re.match(r"^(.*?)\b(operator\s*(?:\(\)|(?:new|delete)\s*\[\]|[^\s(]+)|[A-Za-z_][\w:]*)\s*\((.*)\)\s*(const)?$", text, flags=re.S)
        if not found or "decltype" in found.group(1) or "::" in found.group(2) or found.group(2) == "sizeof":
            return
        result = re.sub(r'\b(extern|static|inline|__inline__|__inline|constexpr|__forceinline__)\b|"C(\+\+)?"', " ", found.group(1))
        name = "::".join([*filter(None, self.scope), re.sub(r"operator(?=new|delete)", "operator ", "".join(found.group(2).split()))])
        parameters = [type_of(part) for part in parted(found.group(3))]
        row = ("template", "", name) if template else ("", type_of(result + " x"), name, *([] if parameters == ["void"] else parameters))
        self.rows.append((header, row, frozenset(sides or {"host"})))

    def read(self, lines: list[tuple[str, str]]) -> None:
        text = "".join(line + "\n" for _, line in lines)
        owners = [header for header, line in lines for _ in range(len(line) + 1)]
        start = at = depth = 0
        while at < len(text):
            char = text[at]
            if char in "\"'":
                at += 1
                while text[at] != char:
                    at += 2 if text[at] == "\\" else 1
            depth += (char == "(") - (char == ")")
            if depth == 0 and char in ";{}":
                piece = text[start:at]
                header = owners[start + len(piece) - len(piece.lstrip())] if piece.strip() else ""
                if char == "}":
                    self.scope[-1:] = []
                elif char == "{":
                    space = re.match(r'\s*(?:inline\s+)?namespace\b\s*([\w:]*)\s*$|\s*extern\s*"C(?:\+\+)?"\s*$', piece)
                    if space:
                        self.scope.append(space.group(1) or "")
                    else:
                        at = end_of(text, at, "{", "}") - 1
                        self.add(header, piece)
                        if re.match(r"\s*(?:typedef\s+)?(?:struct|class|union|enum)\b", piece) and "(" not in without_attributes(piece)[0]:
                            at = text.index(";", at)
                else:
                    self.add(header, piece)
                start = at + 1
            at += 1


def main() -> None:
    top, output = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    kept: dict[tuple[str, ...], tuple[str, set[str]]] = {}
    for architecture in (0, 1000):
        reader = Reader()
        reader.read(own_lines(preprocessed(top, architecture), top))
        for header, row, sides in reader.rows:
            header = header.removesuffix("pp") if header.endswith(".hpp") else header
            home = kept.setdefault(row, (header, set()))
            home[1].update(side for side in sides if side != ("host" if architecture else "device"))
    for wanted in sys.argv[3:]:
        lines = []
        for (kind, result, name, *parameters), (header, sides) in kept.items():
            if header == wanted and sides - {"global"}:
                mark = "".join(letter for side, letter in (("host", "h"), ("device", "d")) if side in sides)
                lines.append(f"{mark} template {name}" if kind else f"{mark} {result} {name}({', '.join(parameters)})")
        (output / (wanted.replace("/", "_").removesuffix(".h") + ".txt")).write_text("".join(f"{line}\n" for line in sorted(lines, key=lambda line: line.split(" ", 1)[1])))
        print(wanted, len(lines))


main()
