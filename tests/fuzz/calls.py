#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Entry points called with arguments drawn at random: handles that live, have ended, are of another kind or were never
given out; NULL or memory that holds small numbers and handles; numbers at the edges. Nothing may crash or hang, and
every status must be one that the table (spec/) lists for the function, or one of those that any function may give.

    calls.py SOURCE_ROOT LIBCUDA [--seed N] [--calls N] [--family NAME…]

Each group of families runs in a process of its own. One that dies leaves its last call in a file, which is printed with
the command that repeats it. Left out are calls that would rightly take the ground from under the test (the end of its
context), read or write where a number says (copies), or wait for ever.
"""

import argparse
import ctypes
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

GROUPS = (("capture", "graph", "graph_node", "graph_exec", "user_object", "stream", "event", "streammem"),
          ("mempool", "vmm", "unified", "ipc", "peer", "primary_context", "multicast", "stream", "context"),
          ("memory", "vmm", "mempool", "graph_node", "fill"), ("array", "texobj", "surfobj", "texref", "surfref"), ("device", "occupancy", "error", "errlog", "memory"))
LEFT_OUT = {"cuCtxDestroy", "cuDevicePrimaryCtxReset", "cuMemFreeHost", "cuMemHostRegister", "cuMemHostUnregister", "cuIpcGetMemHandle",
            "cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize", "cuPointerGetAttributes", "cuMemRangeGetAttributes",
            "cuLogsDumpToFile", "cuLaunchKernelEx"}
# What any function may answer; ILLEGAL_STATE, UNKNOWN and the last as hardware does (docs/conformance.md).
ALWAYS = {"SUCCESS", "INVALID_VALUE", "OUT_OF_MEMORY", "INVALID_CONTEXT", "INVALID_HANDLE", "NOT_SUPPORTED", "CONTEXT_IS_DESTROYED",
          "STREAM_CAPTURE_UNSUPPORTED", "STREAM_CAPTURE_INVALIDATED", "STREAM_CAPTURE_IMPLICIT", "INVALID_DEVICE", "ILLEGAL_STATE", "UNKNOWN", "UNSUPPORTED_EXEC_AFFINITY"}
NUMBERS = [0, 0, 0, 1, 1, 2, 3, 4, 5, 7, 8, 16, 255, 256, 4096, 0x7fffffff, 0xffffffff, 1 << 31, 1 << 63, (1 << 64) - 1]
COUNTS = [0, 1, 2, 3, 4, 8]
POINTERS = {"CUhostFn", "CUstreamCallback", "CUlogsCallback", "CUoccupancyB2DSize"}
HANDLES = {"CUstream", "CUevent", "CUgraph", "CUgraphNode", "CUgraphExec", "CUcontext", "CUmemoryPool", "CUuserObject", "CUfunction", "CUkernel",
           "CUmodule", "CUdeviceptr", "CUgraphConditionalHandle", "CUmemGenericAllocationHandle"}
PTX = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry e(.param .u64 a)\n{\n    ret;\n}\n\0"
PAGE = 2048          # words that a pointer leads to
u64 = ctypes.c_uint64


class Caller:
    """One process's calls."""

    def __init__(self, root, library, families, seed, note):
        sys.path.insert(0, str(root / "gen"))
        from millrace_gen import table
        self.lib = ctypes.CDLL(str(library))
        self.random = random.Random(f"{seed} {families}")
        self.note = os.open(note, os.O_WRONLY)
        self.errors = {value: name.removeprefix("CUDA_").removeprefix("ERROR_") for name, value, _ in table.load_errors(root / "spec")}
        self.symbols = [(elf, symbol) for function in table.load(root / "spec") if function.family in families and function.name not in LEFT_OUT
                        and not function.name.startswith("cuMemcpy") for symbol in function.symbols
                        for elf in (symbol.elf, symbol.per_thread_elf) if elf]
        self.live, self.kept, self.wrong = [], [], set()
        self.nothing = ctypes.cast(
            ctypes.CDLL(None).abs, ctypes.c_void_p
        ).value  # a function for the driver to call, which does nothing
        self.lib.cuInit(0)
        self.context = self.make("cuCtxCreate_v2", 0, 0)
        self.make("cuModuleGetFunction", u64(self.make("cuModuleLoadData", PTX)), b"e")

    def make(self, name, *args):
        made = u64(0)
        if getattr(self.lib, name)(ctypes.byref(made), *args) == 0:
            self.live.append(made.value)
        return made.value

    def make_some(self):
        """Something live of each kind, now and then a stream that is captured."""
        self.lib.cuCtxSetCurrent(u64(self.context))
        self.make("cuStreamCreate", self.random.choice([0, 1]))
        self.make("cuEventCreate", self.random.choice([0, 1, 2, 6]))
        graph = self.make("cuGraphCreate", 0)
        self.make("cuGraphAddEmptyNode", u64(graph), None, u64(0))
        self.make("cuGraphInstantiateWithFlags", u64(graph), u64(0))
        self.make("cuGraphConditionalHandleCreate", u64(graph), u64(self.context), 0, 0)
        self.make("cuMemAlloc_v2", u64(4096))
        self.make("cuMemAllocManaged", u64(4096), 1)
        self.make("cuDeviceGetDefaultMemPool", 0)
        self.make("cuMemPoolCreate", (ctypes.c_int * 32)(1, 0, 1, 0))
        self.make("cuUserObjectCreate", u64(1), u64(self.nothing), 1, 1)
        self.make("cuMemAddressReserve", u64(2 << 20), u64(0), u64(0), u64(0))
        stream = self.make("cuStreamCreate", 1)
        if self.random.random() < 0.3:
            self.lib.cuStreamBeginCapture_v2(u64(stream), self.random.choice([0, 1, 2]))

    def handle(self):
        chance = self.random.random()
        if chance < 0.2:
            return self.random.choice([0, 0, 1, 2, 3, 0x7f0000001230, (1 << 64) - 1, 12345])
        return self.random.choice(self.live[-40:] if chance < 0.8 else self.live)

    def pointer(self, param):
        chance = self.random.random()
        if chance < 0.12 or (param.type == "void *" and param.name in ("userData", "ptr")):
            return u64(0), "NULL"
        memory = (u64 * PAGE)()
        if param.type == "size_t *":
            memory[0] = self.random.choice(COUNTS)   # room in an array: no more than there is
        elif chance < 0.5:
            for i in range(self.random.choice([1, 4, 16])):
                memory[i] = self.handle() if self.random.random() < 0.6 else self.random.choice(NUMBERS[:12])
        elif chance < 0.8:
            halves = ctypes.cast(memory, ctypes.POINTER(ctypes.c_uint32))
            for i in range(self.random.choice([2, 8, 24])):
                halves[i] = self.random.choice(NUMBERS[:9])
        self.kept = self.kept[-2000:] + [memory]     # the driver may have kept an address
        return memory, "[" + " ".join(f"{memory[i]:#x}" for i in range(12)) + " …]"

    def argument(self, param):
        if param.type == "const char *":
            text = self.random.choice([b"/dev/null", None, b"/dev/null/none", b""])
            return ctypes.c_char_p(text), repr(text)
        if "*" in param.type:
            return self.pointer(param)
        if param.type == "float":
            return ctypes.c_float(0), "0.0"
        if param.type in POINTERS:
            value = self.random.choice([0, self.nothing])
        elif param.type in HANDLES:
            value = self.handle()
        elif param.type == "size_t" or param.name.lower().startswith(("num", "count")):
            value = self.random.choice(COUNTS if self.random.random() < 0.85 else NUMBERS[:12])
        else:
            value = self.random.choice(NUMBERS)
        return u64(value), f"{value:#x}"

    def call(self):
        elf, symbol = self.random.choice(self.symbols)
        arguments = [self.argument(param) for param in symbol.params]
        text = f"{elf}({', '.join(told for _, told in arguments)})"
        os.pwrite(self.note, text.ljust(4000)[:4000].encode(), 0)
        status = getattr(self.lib, elf)(*(value for value, _ in arguments))
        name = self.errors.get(status, str(status))
        if name not in ALWAYS and name not in symbol.function.statuses:
            self.wrong.add(f"{elf} answered {name}: {text}")
        if status == 0 and symbol.params and isinstance(arguments[0][0], ctypes.Array) and arguments[0][0][0] > 10:
            self.live.append(arguments[0][0][0])

    def run(self, calls):
        for number in range(calls):
            if number % 40 == 0:
                self.make_some()
            self.call()
        for line in sorted(self.wrong):
            print(line)
        sys.stdout.flush()
        os._exit(bool(self.wrong))


def run_group(options, families):
    command = [sys.executable, "-B", str(Path(__file__).resolve()), str(options.root.resolve()), str(options.driver.resolve()), "--seed", str(options.seed), "--calls", str(options.calls), "--family", *families]
    with tempfile.NamedTemporaryFile() as note, tempfile.TemporaryDirectory() as folder:
        try:
            status = subprocess.run(command + ["--note", note.name], timeout=options.patience, cwd=folder).returncode
        except subprocess.TimeoutExpired:
            status = "a hang"
        if status not in (0, 1):
            print(f"{status} in {Path(note.name).read_text().rstrip()}")
    if status != 0:
        print("repeat with", " ".join(command))
    return status == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("driver", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=6000)
    parser.add_argument("--patience", type=int, default=200, help="seconds for a group")
    parser.add_argument("--family", nargs="+")
    parser.add_argument("--note", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.note:
        Caller(options.root, options.driver, options.family, options.seed, options.note).run(options.calls)
    groups = [tuple(options.family)] if options.family else GROUPS
    good = sum([run_group(options, families) for families in groups])
    print(f"{options.calls} calls of {len(groups)} groups of functions: {len(groups) - good} went wrong")
    return good != len(groups)


if __name__ == "__main__":
    sys.exit(main())
