# SPDX-License-Identifier: Apache-2.0
"""What gdb and perf see of generated code: names of kernels and device functions, lines of the PTX.

    test_debuggers.py PROGRAM [gdb|map|jitdump]

PROGRAM is debugged.c's. Ends with 77 (skipped) where there is no gdb."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

PTX_LINES = range(4, 27)


def environment(folder, **more):
    return dict(os.environ, MILLRACE_CACHE="off", MILLRACE_DUMP=folder, **more)


def test_gdb(program, folder):
    if not shutil.which("gdb"):
        return 77
    commands = ["set pagination off", "set confirm off", "set breakpoint pending on", "set debuginfod enabled off", f"directory {folder}",
                "break seen", "break thrice", "run", "bt 1", "continue", "bt 2", "list 8,8", "delete", "continue"]
    words = ["gdb", "-nx", "-batch"] + [word for command in commands for word in ("-ex", command)] + [program]
    quiet = environment(folder, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")  # which can't be done under a debugger
    done = subprocess.run(
        words, env=quiet, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if "ptrace: Operation not permitted" in done.stdout or "Could not trace the inferior" in done.stdout:
        return 77
    name = [file for file in os.listdir(folder) if file.endswith(".ptx")][0]
    for wanted in (f"seen () at {name}:12", f"thrice () at {name}:7", f"in seen () at {name}:22", "8\tmul.lo.u32 %r1, %r1, 3;", "exited normally"):
        if wanted not in done.stdout:
            print(f"gdb does not say '{wanted}':\n{done.stdout}")
            return 1
    return 0


def run(program, folder, way):
    child = subprocess.Popen([program], env=environment(folder, MILLRACE_PERF=way), cwd=folder)
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


def test_jitdump(program, folder):
    pid = run(program, folder, "jitdump")
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
                assert os.path.exists(data[place + 16:end].decode()), data[place + 16:end]
                rows.append((of, line))
                place = end + 1
            assert place == at + size
            lines[address] = rows
        at += size
    assert at == len(data)
    assert set(functions) == {"seen", "thrice"}, functions
    for name, (address, count) in functions.items():
        rows = lines[address]
        assert all(address <= of < address + count and line in PTX_LINES for of, line in rows), (name, rows)
    assert {7, 8, 9} <= {line for _, line in lines[functions["thrice"][0]]}
    assert 22 in {line for _, line in lines[functions["seen"][0]]}
    return 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        return {"gdb": test_gdb, "map": test_map, "jitdump": test_jitdump}[sys.argv[2]](os.path.abspath(sys.argv[1]), folder)


if __name__ == "__main__":
    sys.exit(main())
