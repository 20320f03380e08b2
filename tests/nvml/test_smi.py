# SPDX-License-Identifier: Apache-2.0
"""nvidia-smi's forms, beside a process that uses a device.

    test_smi.py MILLRACE-COMMAND
"""

import csv
import io
import os
import re
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

MILLRACE = Path(sys.argv.pop(1))
SMI = MILLRACE.parent / "nvidia-smi"

HOLDER = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, address = ctypes.c_void_p(), ctypes.c_uint64()
status = [cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 1), cuda.cuCtxSetCurrent(context),
          cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(64 << 20))]
print(status, flush=True)
sys.stdin.read()
"""


class Forms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["MILLRACE_DEVICES"] = "2"
        cls.holder = subprocess.Popen([MILLRACE, "run", "--", sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert cls.holder.stdout.readline().strip() == "[0, 0, 0, 0]"

    @classmethod
    def tearDownClass(cls):
        cls.holder.communicate("")

    def smi(self, *arguments, status=0):
        done = subprocess.run([SMI, *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def rows(self, *arguments):
        return list(csv.reader(io.StringIO(self.smi(*arguments)), skipinitialspace=True))

    def test_table(self):
        lines = self.smi().splitlines()
        self.assertTrue(all(len(line) == 91 for line in lines[1:] if line), "\n".join(lines))
        text = "\n".join(lines)
        self.assertRegex(text, r"NVIDIA-SMI \S+ +Driver Version: \S+ +CUDA Version: 13\.0")
        self.assertEqual(len(re.findall(r"^\|   [01]  Millrace", text, re.M)), 2)
        self.assertRegex(text, rf"\|    1   N/A  N/A +{self.holder.pid}      C   \S+ +6\dMiB \|")

    def test_list(self):
        lines = self.smi("-L").splitlines()
        self.assertEqual(len(lines), 2)
        for number, line in enumerate(lines):
            self.assertRegex(line, rf"^GPU {number}: Millrace \(.*\) \(UUID: GPU-[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}\)$")
        self.assertEqual(self.smi("-i", "1", "--list-gpus").splitlines(), lines[1:])

    def test_query(self):
        rows = self.rows("--query-gpu=index,gpu_name,memory.used,memory.total,fan.speed", "--format=csv")
        self.assertEqual(rows[0], ["index", "name", "memory.used [MiB]", "memory.total [MiB]", "fan.speed [%]"])
        self.assertEqual([row[0] for row in rows[1:]], ["0", "1"])
        self.assertRegex(rows[2][2], r"^6\d MiB$")
        self.assertEqual(rows[2][4], "[N/A]")
        bare = self.rows("--query-gpu=memory.used,compute_cap", "--format=csv,noheader,nounits", "--id=1")
        self.assertEqual(len(bare), 1)
        self.assertRegex(bare[0][0], r"^6\d$")
        self.assertEqual(bare[0][1], "8.0")

    def test_every_field(self):
        fields = re.findall(r'"([^"]+)"', self.smi("--help-query-gpu"))
        self.assertGreater(len(fields), 100)
        row = self.rows("--query-gpu=" + ",".join(fields), "--format=csv,noheader", "-i", "0")
        self.assertEqual(len(row[0]), len(fields))
        self.assertTrue(all(row[0]))

    def test_processes(self):
        rows = self.rows("--query-compute-apps=pid,name,used_memory,gpu_uuid", "--format=csv")
        self.assertEqual(rows[0], ["pid", "process_name", "used_gpu_memory [MiB]", "gpu_uuid"])
        mine = [row for row in rows[1:] if row[0] == str(self.holder.pid)]
        self.assertEqual(len(mine), 1)
        self.assertRegex(mine[0][2], r"^6\d MiB$")
        self.assertIn(mine[0][3], self.smi("-L").splitlines()[1])

    def test_report(self):
        text = self.smi("-q")
        self.assertIn("==============NVSMI LOG==============", text)
        self.assertRegex(text, r"(?m)^Attached GPUs                                          : 2$")
        self.assertRegex(text, rf"(?m)^        Process ID                        : {self.holder.pid}$")
        part = self.smi("-q", "-d", "MEMORY", "-i", "1")
        self.assertRegex(part, r"(?m)^        Used                                           : 6\d MiB$")
        self.assertNotIn("Product Name", part)

    def test_xml(self):
        log = ElementTree.fromstring(self.smi("-q", "-x"))
        self.assertEqual(log.findtext("attached_gpus"), "2")
        self.assertRegex(log.findall("gpu")[1].findtext("fb_memory_usage/used"), r"^6\d MiB$")
        pids = [p.findtext("pid") for p in log.findall("gpu")[1].findall("processes/process_info")]
        self.assertIn(str(self.holder.pid), pids)

    def test_monitors(self):
        lines = self.smi("dmon", "-c", "2", "-d", "0.1").splitlines()
        self.assertEqual(lines[0].split()[:5], ["#", "gpu", "pwr", "gtemp", "mtemp"])
        self.assertEqual([line.split()[0] for line in lines[2:]], ["0", "1", "0", "1"])
        self.assertTrue(all(len(line.split()) == len(lines[1].split()) - 1 for line in lines[2:]), lines)
        lines = self.smi("pmon", "-c", "1", "-s", "um").splitlines()
        mine = [line.split() for line in lines if str(self.holder.pid) in line.split()]
        self.assertEqual(mine[0][0], "1")
        self.assertRegex(mine[0][9], r"^6\d$")

    def test_bad_arguments(self):
        self.assertIn('Field "nonsense" is not a valid field to query.', self.smi("--query-gpu=nonsense", "--format=csv", status=2))
        for arguments in (["--query-gpu=name", "--format=xml"], ["dmon", "-z"]):
            self.smi(*arguments, status=2)
        for arguments in (["--frob"], ["-q", "-d", "NONSENSE"]):
            self.smi(*arguments, status=255)
        self.assertEqual(self.smi("--query-gpu=index"), "index\n0\n1\n")
        for device in ("7", "GPU-00000000-0000-0000-0000-000000000000", "0000:77:00.0"):
            self.assertEqual(self.smi("-i", device, status=6).strip(), "No devices were found")

    def test_by_run(self):
        done = subprocess.run([MILLRACE, "run", "--", "nvidia-smi", "-L"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, self.smi("-L"))
        done = subprocess.run([MILLRACE, "smi", "-L"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, self.smi("-L"))

    def test_library_by_any_name(self):
        """A program that names NVIDIA's library by its path or release gets Millrace's."""
        source = """
import ctypes
for name in ("libnvidia-ml.so.1", "libnvidia-ml.so", "/usr/lib/nvidia/libnvidia-ml.so.1", "libnvidia-ml.so.580.82.07"):
    count = ctypes.c_uint()
    library = ctypes.CDLL(name)
    assert library.nvmlInit_v2() == 0 and library.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 and count.value == 2, name
"""
        subprocess.run([MILLRACE, "run", "--", sys.executable, "-c", source], check=True)


if __name__ == "__main__":
    unittest.main()
