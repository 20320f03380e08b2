# SPDX-License-Identifier: Apache-2.0
"""What gdb, perf and the log see of generated code: names of kernels and device functions, lines of the PTX or of the
source that the module names.

    test_debuggers.py PROGRAM PART, where PART is gdb, map, jitdump, source-gdb, source-jitdump, source-fault,
    source-inlined, source-nvcc, source-nvrtc, source-barrier or source-linked

PROGRAM is debugged.c's, for those with source sourced.c's. Ends with 77 (skipped) where there is no gdb."""
import ctypes
import functools
import os
import shutil
import struct
import subprocess
import sys
import tempfile

PTX_LINES = range(4, 27)


def environment(folder, **more):
    return dict(os.environ, MILLRACE_CACHE="off", MILLRACE_DUMP=folder, **more)


SOURCE = """// A kernel as its programmer sees it.
namespace ns {
__global__ void scale_up(float *values, int first, float factor)
{
    int i = threadIdx.x + first;
    float old = values[i];
    values[i] = old * factor;
}
}
"""


def run_gdb(commands, program, folder):
    """What gdb prints, or None where it can't run the program."""
    if not shutil.which("gdb"):
        return None
    commands = ["set pagination off", "set confirm off", "set breakpoint pending on", "set debuginfod enabled off"] + commands
    words = ["gdb", "-nx", "-batch"] + [word for command in commands for word in ("-ex", command)] + ["--args"] + program
    quiet = environment(folder, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")  # which can't be done under a debugger
    done = subprocess.run(
        words, env=quiet, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if "ptrace: Operation not permitted" in done.stdout or "Could not trace the inferior" in done.stdout:
        return None
    return done.stdout


def said(output, *wanted):
    """0 if all of it is there, in that order."""
    at = 0
    for text in wanted:
        found = output.find(text, at)
        if found < 0:
            print(f"'{text}' is not said, or too early:\n{output}")
            return 1
        at = found + len(text)
    return 0


def test_gdb(program, folder):
    output = run_gdb([f"directory {folder}", "break seen", "break thrice", "run", "bt 1", "continue", "bt 2", "list 8,8", "delete", "continue"],
                     [program], folder)
    if output is None:
        return 77
    name = [file for file in os.listdir(folder) if file.endswith(".ptx")][0]
    return said(output, f"seen (p=", f") at {name}:12", f"thrice () at {name}:7", f") at {name}:22", "8\tmul.lo.u32 %r1, %r1, 3;", "exited normally")


def write_source(folder):
    path = os.path.join(folder, "scale.cu")
    with open(path, "w", encoding="ascii") as file:
        file.write(SOURCE)
    return path


def test_source_gdb(program, folder):
    """By the kernel's plain name, by the line of its source; its variables; its source; a step."""
    path = write_source(folder)
    output = run_gdb(["set environment MILLRACE_WORKERS 1", "break scale_up", "run", "info args", "delete", "break scale.cu:6", "continue", "print threadIdx", "print blockIdx.x",
                      "print blockDim", "print gridDim.z", "print param_0[63]", "set scheduler-locking step", "next", "kill"],
                     [program, path], folder)
    if output is None:
        return 77
    return said(output, "ns::scale_up (param_0=0x", "param_1=0, param_2=3) at ", "param_1 = 0", "param_2 = 3", f"ns::scale_up (param_0=", f"{path}:6",
                "6\t    float old = values[i];", "= {x = 0, y = 0, z = 0}", "= 0", "= {x = 64, y = 1, z = 1}", "= 1", "= 63", "7\t    values[i] = old * factor;")


def test_source_fault(program, folder):
    """One line by default that says where in the source a kernel has failed."""
    path, log = write_source(folder), os.path.join(folder, "log")
    done = subprocess.run([program, path, "fault"], env=environment(folder, MILLRACE_LOG_FILE=log, MILLRACE_LOG="warn"), check=False)
    assert done.returncode == 0, done.returncode
    with open(log, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert len(lines) == 1, lines
    return said(lines[0], "millrace: warn: kernel ns::scale_up(float*, int, float) failed at ", f"{path}:6 (line 20 of the PTX) in block (0,0,0), warp 0",
                "access to an illegal address at 0x", "behind the end of an allocation of 256 bytes at 0x", "made by cuMemAlloc", "MILLRACE_FAULT_THREADS=on")


INLINED = """// A kernel whose compiler has put two functions in the place of their calls.
__device__ float inner(float x, float factor)
{
    return x * factor;
}
__device__ float middle(float x, float factor)
{
    float y = inner(x, factor);
    return y;
}
__global__ void scale_up(float *values, int first, float factor)
{
    int i = threadIdx.x + first;
    values[i] = middle(values[i], factor);
}
"""

# What is between the places that tell of the functions.
INLINED_PTX = """.version 7.0
.target sm_80
.address_size 64
.visible .entry _ZN2ns8scale_upEPfif(.param .u64 p0, .param .u32 p1, .param .f32 p2)
{{
.reg .u64 %d<3>;
.reg .u32 %r<4>;
.reg .f32 %f<3>;
.local .align 4 .b8 depot[8];
.loc 1 11 0
ld.param.u64 %d0, [p0];
ld.param.u32 %r1, [p1];
ld.param.f32 %f0, [p2];
.loc 1 13 5
mov.u32 %r0, %tid.x;
add.u32 %r0, %r0, %r1;
add.u32 %r2, %r0, 7;
st.local.u32 [depot+4], %r2;
mul.wide.u32 %d1, %r0, 4;
.loc 1 14 5
add.u64 %d0, %d0, %d1;
ld.global.f32 %f1, [%d0];
{before}
mul.f32 %f1, %f1, %f0;
{behind}
.loc 1 14 5
st.global.f32 [%d0], %f1;
.loc 1 15 1
ret;
}}
.file 1 "{path}"
{sections}
"""


def section(name, *rows):
    return f".section .{name}\n{{\n" + "".join(row + "\n" for row in rows) + "}\n"


def bytes_of(data):
    return ".b8 " + ",".join(str(byte) for byte in data)


def by_directives(path):
    """As NVIDIA's compiler tells of the functions for -lineinfo."""
    before = (".loc 1 8 5, function_name $L__info_string0, inlined_at 1 14 5\n"
              ".loc 1 4 5, function_name $L__info_string1, inlined_at 1 8 5")
    names = section("debug_str", "$L__info_string0:", bytes_of(b"_Z6middleff\0"), "$L__info_string1:", bytes_of(b"_Z5innerff\0"))
    return INLINED_PTX.format(path=path, before=before, behind="", sections=names)


def in_register(name):
    """A register's name as compilers put it into DWARF: a number whose bytes are the letters, in groups of 7 bits."""
    number, groups = int.from_bytes(name.encode(), "big"), []
    while number:
        groups.append(number & 127 | 128)
        number >>= 7
    groups[-1] &= 127
    return groups


def by_dwarf(path):
    """As clang does, and both compilers for -G."""
    # Number, what it is, whether others stand in it, attributes with their forms.
    abbreviations = (1, 17, 1, 3, 8, 0, 0, 2, 46, 0, 3, 8, 0, 0, 3, 46, 1, 3, 8, 17, 1, 18, 1, 0, 0,
                     4, 29, 1, 49, 19, 17, 1, 18, 1, 88, 11, 89, 11, 87, 11, 0, 0,
                     5, 29, 0, 49, 19, 17, 1, 18, 1, 88, 11, 89, 11, 87, 11, 0, 0,
                     6, 36, 0, 3, 8, 62, 11, 11, 11, 0, 0, 7, 52, 0, 2, 10, 3, 8, 73, 19, 0, 0,
                     8, 52, 0, 2, 6, 3, 8, 73, 19, 0, 0, 0)
    head = 11
    unit = bytes([1]) + b"x.cu\0"
    middle, inner = bytes([2]) + b"middle\0", bytes([2]) + b"inner\0"
    number, real = bytes([6]) + b"int\0" + bytes([5, 4]), bytes([6]) + b"float\0" + bytes([4, 4])
    offsets = head + len(unit), head + len(unit) + len(middle)
    types = offsets[1] + len(inner), offsets[1] + len(inner) + len(number)
    rows = [".b32 1000", ".b8 2, 0", ".b32 .debug_abbrev", ".b8 8", bytes_of(unit), bytes_of(middle), bytes_of(inner), bytes_of(number), bytes_of(real),
            bytes_of(bytes([3]) + b"scale_up\0"), ".b64 $begin", ".b64 $end",
            ".b8 7, 11, 3", ".b64 depot", ".b8 35, 4", bytes_of(b"copy\0"), f".b32 {types[0]}",
            bytes_of((7, 5, 0x90, *in_register("%r2"))), bytes_of(b"sum\0"), f".b32 {types[0]}",
            ".b8 4", f".b32 {offsets[0]}", ".b64 $tmp0", ".b64 $tmp1", ".b8 1, 14, 5",
            ".b8 8", ".b32 .debug_loc", bytes_of(b"scale\0"), f".b32 {types[1]}",
            ".b8 5", f".b32 {offsets[1]}", ".b64 $tmp0", ".b64 $tmp1", ".b8 1, 8, 5", ".b8 0, 0, 0"]
    ptx = INLINED_PTX.format(path=path, before="$tmp0:\n.loc 1 4 5", behind="$tmp1:",
                             sections=section("debug_abbrev", bytes_of(abbreviations)) + section("debug_info", *rows) +
                             section("debug_loc", ".b64 $start", ".b64 $tmp1", ".b8 5, 0", bytes_of((0x90, *in_register("%f0"))), ".b64 0, 0"))
    ptx = ptx.replace(".loc 1 14 5\nadd.u64", "$start:\n.loc 1 14 5\nadd.u64")
    return ptx.replace(".loc 1 11 0", "$begin:\n.loc 1 11 0").replace("ret;\n", "ret;\n$end:\n")


def test_source_inlined(program, folder):
    """Functions that the compiler has put in the place of their calls are frames; breakpoints find them by name."""
    path = os.path.join(folder, "inlined.cu")
    with open(path, "w", encoding="ascii") as file:
        file.write(INLINED)
    for make in (by_directives, by_dwarf):
        text = os.path.join(folder, "text.ptx")
        with open(text, "w", encoding="ascii") as file:
            file.write(make(path))
        output = run_gdb(["set environment MILLRACE_WORKERS 1", "break inner", "run", "bt 3", "info frame", "up", "info locals", "up", "info locals",
                          "delete", "set scheduler-locking step", "next", "bt 1", "kill"],
                         [program, text, "ptx"], folder)
        if output is None:
            return 77
        if said(output, "inner () at ", f"{path}:4", "return x * factor;", "#0  inner () at ", "#1  middle () at ", f"{path}:8", "#2  ns::scale_up (",
                f"{path}:14", "inlined into frame 1", *(["scale = 3", "copy = 7", "sum = 7"] if make is by_dwarf else []), "#0  ns::scale_up ("):
            return 1
    return 0


def by_nvcc(build, path, text):
    subprocess.run([os.path.join(build, "bin/nvcc"), "-G", "--ptx", path, "-o", text], check=True)


def by_nvrtc(build, path, text):
    library = ctypes.CDLL(os.path.join(build, "lib/libnvrtc.so.13"))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()

    def call(name, *words):
        status = getattr(library, name)(*words)
        assert status == 0, (name, status)

    with open(path, "rb") as file:
        call("nvrtcCreateProgram", ctypes.byref(program), file.read(), path.encode(), 0, None, None)
    call("nvrtcCompileProgram", program, 1, (ctypes.c_char_p * 1)(b"-G"))
    call("nvrtcGetPTXSize", program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    call("nvrtcGetPTX", program, ptx)
    with open(text, "wb") as file:
        file.write(ptx.value)


def test_source_compiled(program, folder, compile_to):
    """What Millrace's compilers tell of variables with -G."""
    path, text = write_source(folder), os.path.join(folder, "text.ptx")
    compile_to(build_of(program), path, text)
    output = run_gdb(["set environment MILLRACE_WORKERS 1", f"break {path}:7", "run", "info locals", "ptype old", "kill"], [program, text, "ptx"], folder)
    if output is None:
        return 77
    return said(output, "ns::scale_up (", f"{path}:7", "values = 0x", "first = 0", "factor = 3", "i = 0", "old = 0", "type = float")


BARRIER = """namespace ns {
__global__ void scale_up(float *values, int first, float factor)
{
    __shared__ float all[64];
    int i = threadIdx.x + first, pair[2] = {i, i + 100};
    all[i] = values[i];
    __syncthreads();
    float old = all[pair[0]];
    values[i] = old * factor;
}
}
"""


def build_of(program):
    return os.path.dirname(os.path.dirname(os.path.dirname(program)))


def test_source_barrier(program, folder):
    """Variables of a kernel whose warps meet at a barrier, and threadIdx: those of the warp at hand."""
    path, text = os.path.join(folder, "barrier.cu"), os.path.join(folder, "text.ptx")
    with open(path, "w", encoding="ascii") as file:
        file.write(BARRIER)
    by_nvcc(build_of(program), path, text)
    seen = ["print threadIdx.x", "print i", "print pair"]
    first, second = ["= 0", "= 0", "= {0, 100}"], ["= 32", "= 32", "= {32, 132}"]
    output = run_gdb(["set environment MILLRACE_WORKERS 1", f"break {path}:6", f"break {path}:9", "run", *seen, "continue", *seen, "continue", *seen, "print old",
                      "continue", *seen, "print old", "info locals", "kill"], [program, text, "ptx"], folder)
    if output is None:
        return 77
    # The warp that comes to the barrier last goes on first.
    return said(output, f"{path}:6", *first, f"{path}:6", *second, f"{path}:9", *second, "= 32", f"{path}:9", *first, "= 0",
                "i = 0", "pair = {0, 100}", "old = 0")


LINKED = {"first.cu": """#include "other.h"
static __device__ __forceinline__ int doubled(int x)
{
    int twofold = x * 2;
    return twofold;
}
__global__ void begin(int *p)
{
    p[threadIdx.x] = doubled(threadIdx.x + 5) + other(1);
}
int main()
{
    int *p = nullptr;
    if (cudaMallocManaged(&p, 128) != cudaSuccess)
        return 2;
    begin<<<1, 32>>>(p);
    finish(p);
    return cudaDeviceSynchronize() != cudaSuccess || p[31] != 72 + 1 - 3;
}
""", "second.cu": """#include "other.h"
static __device__ __forceinline__ int doubled(int x)
{
    int less = x - 3;
    return less;
}
__device__ int other(int x) { return x; }
__global__ void finish_up(int *p)
{
    p[threadIdx.x] = doubled(p[threadIdx.x]);
}
void finish(int *p) { finish_up<<<1, 32>>>(p); }
""", "other.h": "extern __device__ int other(int x);\nvoid finish(int *p);\n"}


def test_source_linked(program, folder):
    """Inlined functions, lines and variables of objects that are linked: each with its own files."""
    for name, text in LINKED.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    for option in "-lineinfo", "-G":
        linked = os.path.join(folder, "linked" + option)
        line = 5 if option == "-G" else 4
        sources = [os.path.join(folder, name) for name in ("first.cu", "second.cu")]
        subprocess.run([os.path.join(build_of(program), "bin/nvcc"), option, "-rdc=true", *sources, "-o", linked], check=True)
        subprocess.run([linked], check=True, env=environment(folder))
        output = run_gdb(["set environment MILLRACE_WORKERS 1", f"break first.cu:{line}", "run", "bt 2", "info locals",
                          "delete", "break finish_up", "continue", f"break second.cu:{line}", "continue", "bt 2", "info locals", "kill"], [linked], folder)
        if output is None:
            return 77
        first, second = sources
        wanted = ["#0  doubled", f"{first}:{line}", "#1", "begin (", f"{first}:9", "#0  doubled", f"{second}:{line}", "#1", "finish_up (", f"{second}:10"]
        if option == "-G":
            wanted[5:5], wanted[10:] = ["twofold = 10"], [*wanted[10:], "less = 8"]
        if said(output, *wanted):
            return 1
    return 0


def run(program, folder, way, *words):
    child = subprocess.Popen([program, *words], env=environment(folder, MILLRACE_PERF=way), cwd=folder)
    assert child.wait() == 0, child.returncode
    return child.pid


def test_map(program, folder):
    path = f"/tmp/perf-{run(program, folder, 'map')}.map"
    with open(path, encoding="ascii") as file:
        rows = [line.split() for line in file]
    os.unlink(path)
    places = {name: (int(start, 16), int(size, 16)) for start, size, name in rows}
    assert set(places) == {"seen", "thrice"}, places
    (one, size), (other, _) = sorted(places.values())
    assert one > 0 and one + size <= other, places
    return 0


def read_jitdump(folder, pid):
    """Functions by name: (address, bytes); lines by address: [(address, file, line)]."""
    with open(f"{folder}/jit-{pid}.dump", "rb") as file:
        data = file.read()
    magic, version, size, _, _, of, _, _ = struct.unpack_from("<6IQQ", data)
    assert (magic, version, size, of) == (0x4A695444, 1, 40, pid)
    at, functions, lines, before = size, {}, {}, 0
    while at < len(data):
        kind, size, time = struct.unpack_from("<IIQ", data, at)
        assert time >= before
        before = time
        if kind == 0:
            _, _, _, address, count, index = struct.unpack_from("<IIQQQQ", data, at + 16)
            end = data.index(b"\0", at + 56)
            functions[data[at + 56:end].decode()] = (address, count)
            assert index == len(functions) - 1 and end + 1 + count == at + size
        else:
            assert kind == 2, kind
            address, count = struct.unpack_from("<QQ", data, at + 16)
            place, rows = at + 32, []
            for _ in range(count):
                of, line, _ = struct.unpack_from("<QII", data, place)
                end = data.index(b"\0", place + 16)
                name = data[place + 16:end].decode()
                assert os.path.exists(name), name
                rows.append((of, name, line))
                place = end + 1
            assert place == at + size
            lines[address] = rows
        at += size
    assert at == len(data)
    return functions, lines


def test_jitdump(program, folder):
    functions, lines = read_jitdump(folder, run(program, folder, "jitdump"))
    assert set(functions) == {"seen", "thrice"}, functions
    for name, (address, count) in functions.items():
        rows = lines[address]
        assert all(address <= of < address + count and line in PTX_LINES for of, _, line in rows), (name, rows)
    assert {7, 8, 9} <= {line for _, _, line in lines[functions["thrice"][0]]}
    assert 22 in {line for _, _, line in lines[functions["seen"][0]]}
    return 0


def test_source_jitdump(program, folder):
    path = write_source(folder)
    functions, lines = read_jitdump(folder, run(program, folder, "jitdump", path))
    assert len(functions) == 1, functions
    (address, _), = functions.values()
    assert {5, 6, 7} <= {line for _, file, line in lines[address] if file == path}, lines
    return 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        parts = {"gdb": test_gdb, "map": test_map, "jitdump": test_jitdump, "source-gdb": test_source_gdb, "source-jitdump": test_source_jitdump,
                 "source-fault": test_source_fault, "source-inlined": test_source_inlined,
                 "source-nvcc": functools.partial(test_source_compiled, compile_to=by_nvcc),
                 "source-barrier": test_source_barrier, "source-linked": test_source_linked,
                 "source-nvrtc": functools.partial(test_source_compiled, compile_to=by_nvrtc)}
        return parts[sys.argv[2]](os.path.abspath(sys.argv[1]), folder)


if __name__ == "__main__":
    sys.exit(main())
