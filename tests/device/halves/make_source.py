# SPDX-License-Identifier: Apache-2.0
"""The program that calls every function of a list (functions.txt) with the arguments of inputs.h and prints one number
for each. Usage: make_source.py FUNCTIONS host|both|nvrtc > SOURCE

host: a C++ source for a host compiler; both: a CUDA source that runs on the host what is of both sides, and on the
device all but constructors and casts; nvrtc: kernels of everything. Lines are `side number declaration`. A function
that is missing, has another type or other parameters is an error of the compiler."""
import pathlib
import re
import sys

HEADERS = ("cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h")
# Types of which every value is tried only where another argument varies with it.
FIXED = re.compile(r"enum|cudaRoundMode|__nv_saturation_t|.*interpretation_t|int = 32")
CELL = 3   # the place of what a pointer points to at first


def parse(line: str) -> tuple[str, str, str, str, list[str]]:
    header, side, rest = line.split(" ", 2)
    found = re.match(r"(.*?) (\S+)\((.*)\)$", rest.strip())
    return header, side, found.group(1), found.group(2), [part for part in found.group(3).split(", ") if part]


def value_of(name: str, parameters: list[str], place: int, kind: str, several: int) -> str:
    """What parameter `place` is in call `call`."""
    lanes = name.startswith("__shfl") and kind in ("int", "unsigned int")
    if kind == "cudaRoundMode":   # e8m0 goes towards zero or up, the others to the nearest or towards zero
        return f"mixed(call * 8 + 3) & 1 ? cudaRoundZero : {'cudaRoundPosInf' if 'e8m0' in name else 'cudaRoundNearest'}"
    if lanes and place == 0:
        return "0xffffffff"
    if lanes:
        return "32" if place == len(parameters) - 1 else "(call * 7 >> 3) & 31"
    return f"argument<{kind}>::of(call, {place}, {several})"


def arguments(name: str, parameters: list[str]) -> list[tuple[int, str, str, bool]]:
    """(place, type, value, through a pointer) of each argument."""
    several = int(sum(not FIXED.match(part) for part in parameters) > 1)
    out = []
    for place, whole in enumerate(parameters):
        kind = re.sub(r"const |&|\*| = .*", "", whole)
        if name in ("operator++", "operator--") and place == 1:
            continue
        if whole.endswith("*"):
            out.append((place, kind, f"argument<{kind}>::of(call, 5, 1)", True))
        else:
            out.append((place, kind, value_of(name, parameters, place, kind, several), False))
    return out


def statements(result: str, name: str, parameters: list[str], on_device: bool) -> str:
    """Statements that make `bits` of call `call`."""
    operator = name.removeprefix("operator") if name.startswith("operator") else None
    lines, names = [], []
    for place, kind, value, pointer in arguments(name, parameters):
        value = f"read<{kind}>(given, call, {CELL if pointer else place})" if on_device else value
        if pointer and parameters[place].startswith("const"):
            lines.append(f"const {kind} *a{place} = (const {kind} *)&given[{CELL} * CALLS + call];")
        elif pointer:
            lines.append(f"word &cell = memory[call]; cell = 0; {kind} *a{place} = ({kind} *)&cell; *a{place} = {value};")
        else:
            lines.append(f"{kind} a{place} = {value};")
        names.append(f"a{place}")
    if operator is None:
        call = f"({result})a0" if name == "cast" else f"{result if name == 'make' else name}({', '.join(names)})"
    elif len(parameters) == 1:
        call = f"({operator}a0)"
    else:
        call = "(a0++)" if operator == "++" else "(a0--)" if operator == "--" else f"(a0 {operator} a1)"
    if result == "void":
        return " ".join([*lines, f"{call}; bits = cell;"])
    lines.append(f"bits = bits_of({call}); static_assert(same_type<decltype({call}), {result}>::value, \"type\");")
    if any(part.endswith("*") and not part.startswith("const") for part in parameters):
        lines.append("bits ^= mixed(cell);")
    if operator in ("++", "--") or (operator or "").endswith("=") and operator not in ("==", "!=", "<=", ">="):
        lines.append("bits ^= mixed(bits_of(a0));")
    return " ".join(lines)


def host_source(rows: list) -> str:
    out = "".join(f"#include <{header}>\n" for header in HEADERS) + '#include "inputs.h"\n'
    calls = ""
    for number, (_, side, result, name, parameters) in enumerate(rows):
        if side == "both":
            out += f"static word host{number}(word call) {{ word bits; {statements(result, name, parameters, False)} return bits; }}\n"
            calls += f'    host(host{number}, "{result} {name}({", ".join(parameters)})");\n'
    return out + '#include "runs.h"\nstatic void all_on_host()\n{\n' + calls + "}\n"


def kernels(rows: list) -> str:
    return "".join(f"__global__ void device{number}(const slot *given, word *out, word *memory) {{ word call = blockIdx.x * blockDim.x + threadIdx.x, bits; "
                   f"{statements(result, name, parameters, True)} out[call] = bits; }}\n"
                   for number, (_, side, result, name, parameters) in enumerate(rows) if side != "device<700")


def device_source(rows: list) -> str:
    calls = ""
    for number, (_, side, result, name, parameters) in enumerate(rows):
        if side == "device<700":
            continue
        for place, kind, value, pointer in arguments(name, parameters):
            calls += f"    give<{kind}>({CELL if pointer else place}, [](word call) -> {kind} {{ return {value}; }});\n"
        calls += f'    device(device{number}, "{result} {name}({", ".join(parameters)})");\n'
    return kernels(rows) + "static void all_on_device()\n{\n" + calls + "}\n"


def main() -> int:
    rows = [parse(line) for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
    if sys.argv[2] == "nvrtc":
        print("".join(f"#include <{header}>\n" for header in HEADERS) + '#include "calls.h"\n' + kernels(rows))
        return 0
    print(host_source(rows))
    if sys.argv[2] == "both":
        print(device_source([row for row in rows if row[3] not in ("cast", "make")]))
    print("int main()\n{\n    all_on_host();\n" + ("    all_on_device();\n" if sys.argv[2] == "both" else "") + "    return 0;\n}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
