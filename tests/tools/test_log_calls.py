# SPDX-License-Identifier: Apache-2.0
"""Calls in the log, settings that are wrong, and private tables that are refused.

    test_log_calls.py PROGRAM MILLRACE LIBCUDA

PROGRAM is debugged.c's, MILLRACE the command."""
import ctypes
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MILLRACE, LIBCUDA = (os.path.abspath(word) for word in sys.argv[1:4])

ASK_FOR_TABLE = """
import ctypes, sys
driver = ctypes.CDLL(sys.argv[1])
driver.cuInit(0)
table, name = ctypes.c_void_p(), (ctypes.c_char * 16)()
for _ in range(2):
    assert driver.cuGetExportTable(ctypes.byref(table), name) != 0
"""

SAY_VERSION = """
import ctypes, sys
driver = ctypes.CDLL(sys.argv[1])
version, found = ctypes.c_int(), ctypes.c_void_p()
assert driver.cuInit(0) == 0
assert driver.cuDriverGetVersion(ctypes.byref(version)) == 0
newer = [driver.cuGetProcAddress_v2(b"cuInit", ctypes.byref(found), version.value + more, ctypes.c_uint64(0), None) for more in (0, 10)]
print(version.value, *newer)
"""

# An ELF file of a header and the words that NVIDIA's assembler leaves in its code; cut short; and of none.
LOAD_MACHINE_CODE = """
import ctypes, struct, sys
driver = ctypes.CDLL(sys.argv[1])
context, module = ctypes.c_void_p(), ctypes.c_void_p()
assert driver.cuInit(0) == 0 and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0
text = sys.argv[2].encode()
for extra in (1 << 40, 0, 0):
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\\x7fELF\\x02\\x01\\x01", 2, 190, 1, 0, 0, 64 + len(text) + extra, 0, 64, 0, 0, 64, 0, 0)
    assert driver.cuModuleLoadData(ctypes.byref(module), head + text) == 209
"""

# Each text twice; then whether the next call works.
LOAD_TEXTS = """
import ctypes, sys
driver = ctypes.CDLL(sys.argv[1])
context, module = ctypes.c_void_p(), ctypes.c_void_p()
assert driver.cuInit(0) == 0 and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0
for text in sys.argv[2:] * 2:
    print(driver.cuModuleLoadData(ctypes.byref(module), text.encode()))
assert driver.cuModuleLoadData(ctypes.byref(module), b".version 8.0\\n.target sm_80\\n.address_size 64\\n") == 0
"""
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def kernel(line, head=HEAD):
    return head + ".visible .entry k()\n{\n.reg .b32 %r<4>;\n" + line + "\nret;\n}\n"


def clean(**settings):
    return {k: v for k, v in os.environ.items() if not k.startswith("MILLRACE_LOG")} | settings


class Calls(unittest.TestCase):
    def log_of(self, words, **settings):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log")
            done = subprocess.run(words, env=clean(MILLRACE_LOG_FILE=path, **settings), capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            if not os.path.exists(path):
                return [], done.stdout
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read().splitlines(), done.stdout

    def test_all_at_debug(self):
        lines, _ = self.log_of([PROGRAM], MILLRACE_LOG="debug")
        calls = [line for line in lines if re.match(r"millrace: debug: cu\w+\(.*\) = CUDA_\w+", line)]
        names = [re.match(r"millrace: debug: (\w+)", line)[1] for line in calls]
        self.assertEqual(names, ["cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuModuleLoadData",
                                 "cuModuleGetFunction", "cuMemAlloc", "cuLaunchKernel", "cuMemcpyDtoH", "cuModuleUnload"])
        allocation = calls[names.index("cuMemAlloc")]
        self.assertRegex(allocation, r"cuMemAlloc\(dptr=0x[0-9a-f]+, bytesize=128\) = CUDA_SUCCESS, \*dptr=0x[0-9a-f]+; \d+\.\d+ us, thread \d+$")
        self.assertRegex(calls[names.index("cuModuleGetFunction")], r'name="seen"\) = CUDA_SUCCESS, \*hfunc=0x')
        self.assertRegex(calls[names.index("cuLaunchKernel")], r"gridDimX=1, .*blockDimX=32, .*sharedMemBytes=0, hStream=NULL, ")

    def test_by_name_at_any_level(self):
        lines, _ = self.log_of([PROGRAM], MILLRACE_LOG="error", MILLRACE_LOG_CALLS="cuMem*,cuLaunchKernel")
        self.assertEqual([re.match(r"millrace: debug: (\w+)\(", line)[1] for line in lines], ["cuMemAlloc", "cuLaunchKernel", "cuMemcpyDtoH"])

    def test_none(self):
        lines, _ = self.log_of([PROGRAM], MILLRACE_LOG="debug", MILLRACE_LOG_CALLS="none")
        self.assertFalse([line for line in lines if "cuMemAlloc(" in line])
        lines, _ = self.log_of([PROGRAM])
        self.assertEqual(lines, [])

    def test_a_name_that_is_none(self):
        lines, _ = self.log_of([PROGRAM], MILLRACE_LOG_CALLS="cuMemFlee")
        self.assertEqual(len(lines), 1)
        self.assertIn("no function of the driver is called 'cuMemFlee'", lines[0])

    def test_misspelt_settings(self):
        lines, _ = self.log_of([PROGRAM], MILLRACE_LOGG="info", MILLRACE_WORKER="3", MILLRACE_CACHE="perhaps", MILLRACE_STALL="soon")
        for wanted in ("MILLRACE_LOGG is no setting, and does nothing; did you mean MILLRACE_LOG?", "did you mean MILLRACE_WORKERS?",
                       "MILLRACE_CACHE='perhaps' is neither on nor off; the default is used: on", "MILLRACE_STALL='soon' is not a number"):
            self.assertEqual(len([line for line in lines if wanted in line]), 1, (wanted, lines))

    def test_an_unknown_level(self):
        lines, _ = self.log_of([PROGRAM], MILLRACE_LOG="loud")
        self.assertEqual(len(lines), 1)
        self.assertIn("MILLRACE_LOG='loud' is no level (off, error, warn, info, debug); the default is used: warn", lines[0])

    def test_info_shows_what_counts(self):
        _, shown = self.log_of([MILLRACE, "info"], MILLRACE_DEVICES="99", MILLRACE_LOG="loud", MILLRACE_WORKERS="3")
        for name, value in (("MILLRACE_DEVICES", "1"), ("MILLRACE_LOG", "warn"), ("MILLRACE_WORKERS", "3")):
            self.assertRegex(shown, rf"(?m)^ +{name} +{value}$")

    def test_a_private_table(self):
        lines, _ = self.log_of([sys.executable, "-c", ASK_FOR_TABLE, LIBCUDA])
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r"warn: cuGetExportTable: .*ffi\S* asked for .*start the program with 'millrace run'")
        # Started so, it needs other advice: the audit library saw the object, and found no names.
        lines, _ = self.log_of([MILLRACE, "run", "--", sys.executable, "-c", ASK_FOR_TABLE, LIBCUDA])
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r"warn: cuGetExportTable: .*ffi\S* asked for .*are stripped, and 'millrace run' can't")
        self.assertNotIn("start the program", lines[0])

    def test_a_newer_version(self):
        for setting, version in (("13.4", 13040), ("13.0", 13000), ("", 13000)):
            lines, said = self.log_of([sys.executable, "-c", SAY_VERSION, LIBCUDA], MILLRACE_DRIVER_VERSION=setting)
            self.assertEqual((said, lines), (f"{version} 0 1\n", []))
        for wrong in "12.9", "13.10", "13.4x", "13":
            lines, said = self.log_of([sys.executable, "-c", SAY_VERSION, LIBCUDA], MILLRACE_DRIVER_VERSION=wrong)
            self.assertEqual(said, "13000 0 1\n")
            self.assertEqual(lines, [f"millrace: warn: MILLRACE_DRIVER_VERSION='{wrong}' is not a version from 13.0 to 13.9; the default is used: 13.0"])

    def test_machine_code_for_a_newer_driver(self):
        for words, driver, hint in (("Cuda compilation tools, release 13.4, V13.4.7", "", "13.4"), ("Cuda compilation tools, release 13.4", "13.4", ""),
                                    ("Cuda compilation tools, release 13.0, V13.0.88", "", ""), ("Cuda compilation tools, release 14.1", "", ""),
                                    ("Cuda compilation tools, release ", "", ""), ("Cuda compilation tools, release 13.", "", ""), ("", "", "")):
            lines, _ = self.log_of([sys.executable, "-c", LOAD_MACHINE_CODE, LIBCUDA, words], MILLRACE_DRIVER_VERSION=driver)
            self.assertEqual(len(lines), 1, (words, lines))
            if hint:
                self.assertRegex(lines[0], rf"warn: cuModuleLoadData: .* MILLRACE_DRIVER_VERSION={hint} ")
            else:
                self.assertRegex(lines[0], "warn: cuModuleLoadData: the image is machine code .* Millrace runs PTX: .*compute_80")

    def refusals(self, *texts, **settings):
        lines, said = self.log_of([sys.executable, "-c", LOAD_TEXTS, LIBCUDA, *texts], **settings)
        return lines, said.split()

    def test_refused_ptx(self):
        newer = HEAD.replace("sm_80", "sm_90a")
        for text, status, wanted, settings in (
                (kernel("addd.u32 %r1, %r2, 3;"), "218", "line 7, column 1: unknown instruction 'addd'; .*MILLRACE_DUMP=FOLDER", {}),
                (kernel("add.u33 %r1, %r2, 3;"), "218", "line 7, column 4: unknown modifier '.u33' of 'add'; ", {}),
                (kernel("wgmma.fence.sync.aligned;", newer), "218", "unsupported instruction 'wgmma.*MILLRACE_COMPUTE_CAPABILITY=8.0 ", {"MILLRACE_COMPUTE_CAPABILITY": "9.0"}),
                (".extern .func gone();\n".join((HEAD, kernel("call gone;")[len(HEAD):])), "218", "function 'gone' is declared but defined nowhere; link it ", {}),
                (".extern .func __cudaCDP2LaunchDeviceV2();\n".join((HEAD, kernel("call __cudaCDP2LaunchDeviceV2;")[len(HEAD):])), "218", "defined nowhere; kernels that launch kernels are linked with libcudadevrt.a ", {}),
                (HEAD + ".frobnicate 3;\n", "218", "expected a directive before '.frobnicate'; ", {}),
                (HEAD.replace("8.0", "9.9"), "222", "Unsupported .version 9.9; current version is .*; take an older compiler", {}),
                (HEAD.replace("sm_80", "sm_90"), "218", "for sm_90 and the device is sm_80; .*MILLRACE_COMPUTE_CAPABILITY=9.0 ", {"MILLRACE_COMPUTE_CAPABILITY": "8.0"})):
            lines, said = self.refusals(text, **settings)
            self.assertEqual((len(lines), said), (1, [status] * 2), (text, lines))
            self.assertRegex(lines[0], "^millrace: warn: cuModuleLoadData: the PTX is refused: .*" + wanted)

    def test_refused_ptx_once_for_each_cause(self):
        # The same instruction elsewhere is no new cause.
        lines, _ = self.refusals(kernel("addd.u32 %r1, %r2, 3;"), kernel("mov.u32 %r1, 2; addd.u32 %r1, %r2, 3;"), kernel("subb.u32 %r1, %r2, 3;"))
        self.assertEqual([re.search("'(.*?)'", line)[1] for line in lines], ["addd", "subb"])
        # A program that tries many things is told of some, and that there are more.
        lines, said = self.refusals(*(kernel(f"add{i}.u32 %r1, %r2, 3;") for i in range(40)))
        self.assertEqual((len(lines), len(said)), (8, 80))
        self.assertEqual([i for i, line in enumerate(lines) if "further causes are at MILLRACE_LOG=info alone" in line], [7])
        # With that level, each is still told in full.
        lines, _ = self.refusals(kernel("addd.u32 %r1, %r2, 3;"), MILLRACE_LOG="info")
        self.assertEqual(len([line for line in lines if "PTX: line 7, column 1: unknown instruction 'addd'" in line]), 2)

    def test_calls_without_a_context(self):
        driver = f"import ctypes; d = ctypes.CDLL({LIBCUDA!r}); p = ctypes.c_void_p(); "
        lines, _ = self.log_of([sys.executable, "-c", driver + "assert d.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(8)) == 3; d.cuInit(0); "
                                "assert d.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(8)) == 201"], MILLRACE_LOG="info")
        self.assertTrue([line for line in lines if "cuMemAlloc: no context is current to this thread" in line], lines)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
