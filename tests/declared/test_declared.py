# SPDX-License-Identifier: Apache-2.0
"""Every function that CUDA 13.0's headers declare is declared by ours, for the same sides and with the same result,
or stands in missing.txt with the reason.
Usage: test_declared.py NVCC HALF [LIBNVRTC]
HALF is host or device, or nvrtc for what NVRTC's sources see; the files of functions lie beside this one
(list_toolkit.py makes them).

Each function is called with arguments of exactly its parameters' types, and the type of the call is compared. A
function of missing.txt that is there after all is an error, too: the list
says what is so. Then all calls are compiled in earnest: nothing that is declared may be undefined, and the driver has
to take the device's code."""
import ctypes
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = ("cuComplex.h", "curand_kernel.h", "mma.h", "cuda_pipeline_primitives.h", "cuda_awbarrier_primitives.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h",
           "cuda_fp6.h", "cuda_fp4.h")
SAME = "template <class A, class B> struct same { static constexpr bool value = false; }; template <class A> struct same<A, A> { static constexpr bool value = true; };\n"
ROW = re.compile(r"([hd]+) (?:template (\S+)|(.*?) (\S*?operator ?\S+?|[\w:]+)\((.*)\))$")


def rows() -> list[str]:
    return [line for path in sorted(HERE.glob("*.txt")) if path.name != "missing.txt" for line in path.read_text().splitlines() if ROW.match(line)]


def missing(letter: str) -> list[re.Pattern[str]]:
    """The rows of missing.txt for one side, with ~ for any text; lines in brackets are reasons."""
    lines = (HERE / "missing.txt").read_text().splitlines()
    rows_of = [line.split(" ", 1) for line in lines if line and not line.startswith("[")]
    return [re.compile(re.escape(row).replace("\\~", "~").replace("~", ".*")) for sides, row in rows_of if letter in sides]


def parted(parameters: str) -> list[str]:
    parts, depth, part = [], 0, ""
    for char in parameters:
        depth += (char in "(<[") - (char in ")>]")
        if char == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += char
    return parts + ([part.strip()] if part.strip() else [])


def called(row: str, number: int, side: str) -> str:
    """A function that calls the one of the row, on one line."""
    _, template, result, name, parameters = ROW.match(row).groups()
    if template:
        return f"namespace is{number} {{ using ::{template}; }}\n"
    types = [part for part in parted(parameters) if part != "..."]
    spelt = [f"{part} a{i}" if "(" not in part else f"{part.replace('(*)', f'(*a{i})')}" for i, part in enumerate(types)]
    arguments = ", ".join(f"a{i}" for i in range(len(types)))
    symbol = name.rsplit("::", 1)[-1].removeprefix("operator").strip()
    if not name.rsplit("::", 1)[-1].startswith("operator") or symbol in ("new", "delete", "new[]", "delete[]"):
        call = f"::{name}({arguments})"
    elif len(types) == 2 and symbol not in ("++", "--"):
        call = f"(a0 {symbol} a1)"
    else:
        call = f"(a0{symbol})" if len(types) == 2 else f"({symbol}a0)"
    return f'__{side}__ void f{number}({", ".join(spelt)}) {{ static_assert(same<decltype({call}), {result}>::value, "another result"); {call}; }}\n'


def command(nvcc: pathlib.Path, side: str, source: str) -> list[str]:
    """What the shim would run for this half, to check the source alone."""
    words = [nvcc, "--dryrun", "-c", "-arch=sm_100", "-w", source, "-o", "none.o"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    line = next(line for line in shown.splitlines() if f"--cuda-{side}-only" in line)
    words = shlex.split(line.removeprefix("#$ "))
    packed = words.index("-fcuda-include-gpubinary") - 1 if side == "host" else len(words)
    return [words[0], "-fsyntax-only", "-ferror-limit=0", "-w", *(word for at, word in enumerate(words) if at and not packed <= at < packed + 4)]


def text_of(wanted: list[str], side: str) -> str:
    top = "".join(f"#include <{header}>\n" for header in HEADERS) + SAME + "using namespace nvcuda::wmma;\n" * (side == "device")
    return top + "".join(called(row, number, side) for number, row in enumerate(wanted))


def found_faults(nvcc: pathlib.Path, wanted: list[str], side: str) -> dict[str, str]:
    """The rows that do not compile, each with the compiler's words."""
    text = text_of(wanted, side)
    before = text.count("\n") - len(wanted) + 1
    faults: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "declared.cu"
        source.write_text(text)
        done = subprocess.run(command(nvcc, side, str(source)), cwd=folder, capture_output=True, text=True, check=False)
    for line in done.stderr.splitlines():
        found = re.match(rf"{re.escape(str(source))}:(\d+):\d+: (?:fatal )?error: (.*)", line)
        if found and int(found.group(1)) >= before:
            faults.setdefault(wanted[int(found.group(1)) - before], found.group(2))
        elif " error: " in line:
            faults.setdefault(line, line)
    assert done.returncode == 0 or faults, done.stderr
    return faults


def compile_all(nvcc: pathlib.Path, rows_there: list[str], side: str) -> str:
    """What the compiler, the linker and the driver's check say about all calls together."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "all.cu").write_text(text_of(rows_there, side) + "int main() { return 0; }\n" * (side == "host"))
        words = [nvcc, "-arch=sm_100", "-w", "all.cu", "-o", "all"] + ["--cubin"] * (side == "device")
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr or "the compiler says nothing"


def compile_at_run_time(library: str, rows_there: list[str]) -> str:
    """NVRTC's log of all calls together."""
    nvrtc = ctypes.CDLL(library)
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text_of(rows_there, "device").encode(), b"all.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 2)(b"--gpu-architecture=compute_100", b"-w")
    status = nvrtc.nvrtcCompileProgram(program, 2, options)
    assert nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size)) == 0
    log = ctypes.create_string_buffer(size.value)
    assert nvrtc.nvrtcGetProgramLog(program, log) == 0
    return "" if status == 0 else log.value.decode() or f"status {status}"


def main() -> int:
    nvcc, half = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    side = "device" if half == "nvrtc" else half
    wanted = [row for row in rows() if side[0] in row.split(" ", 1)[0]]
    assert len(wanted) > 300, len(wanted)
    known = missing(side[0])
    expected = {row for row in wanted if any(pattern.fullmatch(row.split(" ", 1)[1]) for pattern in known)}
    there = [row for row in wanted if row not in expected]
    if half == "nvrtc":
        absent = missing("r")
        there = [row for row in there if not any(pattern.fullmatch(row.split(" ", 1)[1]) for pattern in absent)]
        print(f"{len(there)} functions called in a source for NVRTC")
        log = compile_at_run_time(sys.argv[3], there)
        print(log)
        return 1 if log else 0
    faults = found_faults(nvcc, wanted, side)
    wrong = [f"{row}: {fault}" for row, fault in faults.items() if row not in expected]
    wrong += [f"{row}: is there, and in missing.txt" for row in wanted if row in expected and row not in faults]
    print(f"{len(wanted)} functions of the {side} looked for, {len(faults)} are not there as in the toolkit, {len(expected)} are known not to be")
    wrong += [] if wrong else filter(None, [compile_all(nvcc, there, side)])
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
