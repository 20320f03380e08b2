# SPDX-License-Identifier: Apache-2.0
"""The millrace command: run, info, env, help and what it says to wrong arguments. Usage: test_millrace.py MILLRACE"""
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

MILLRACE = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(os.environ["MR_SOURCE_ROOT"])


def millrace(*arguments: str, **environment: str | None) -> subprocess.CompletedProcess:
    """None takes a variable away."""
    env = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
    return subprocess.run([MILLRACE, *arguments], capture_output=True, text=True, check=False, env=env, timeout=120)


def settings_in_table() -> list[str]:
    return re.findall(r'^MR_SETTING\(\w+, "(\w+)"', (ROOT / "src/base/settings.def").read_text(), re.MULTILINE)


class Run(unittest.TestCase):
    def test_paths_come_first(self):
        done = millrace("run", "--", "sh", "-c", "echo $LD_LIBRARY_PATH; echo $PATH; command -v nvcc", LD_LIBRARY_PATH="/elsewhere")
        libraries, path, nvcc = done.stdout.splitlines()
        first, rest = libraries.split(":", 1)
        self.assertTrue((pathlib.Path(first) / "libcuda.so.1").exists())
        self.assertEqual(rest, "/elsewhere")
        self.assertEqual(pathlib.Path(nvcc).parent, pathlib.Path(path.split(":")[0]))

    def test_triton_is_told_of_the_assembler(self):
        """It takes none from PATH. A user's own word counts more."""
        done = millrace("run", "--", "sh", "-c", "command -v ptxas; echo $TRITON_PTXAS_PATH")
        self.assertEqual(*done.stdout.splitlines())
        done = millrace("run", "--", "sh", "-c", "echo $TRITON_PTXAS_PATH", TRITON_PTXAS_PATH="/own/ptxas")
        self.assertEqual(done.stdout, "/own/ptxas\n")

    def test_a_toolkit_is_named(self):
        """Unless the user names one."""
        said = "echo $CUDA_HOME $CUDA_PATH; dirname $(dirname $(command -v nvcc))"
        root, own = millrace("run", "--", "sh", "-c", said, CUDA_HOME=None, CUDA_PATH=None).stdout.splitlines()
        self.assertEqual(root, f"{own} {own}")
        self.assertEqual(millrace("run", "--", "sh", "-c", "echo $CUDA_HOME $CUDA_PATH", CUDA_HOME=None, CUDA_PATH="/own").stdout, "/own\n")

    def test_status_passes(self):
        self.assertEqual(millrace("run", "--", "sh", "-c", "exit 42").returncode, 42)
        self.assertEqual(millrace("run", "sh", "-c", "exit 3").returncode, 3)

    def test_missing_program(self):
        done = millrace("run", "--", "/nonexistent/program")
        self.assertEqual(done.returncode, 127)
        self.assertIn("/nonexistent/program", done.stderr)

    def test_nothing_to_run(self):
        self.assertEqual(millrace("run").returncode, 2)
        self.assertEqual(millrace("run", "--").returncode, 2)
        self.assertEqual(millrace("run", "--bad").returncode, 2)

    def test_program_gets_this_driver(self):
        done = millrace("run", "--", os.environ["MR_DRIVER_VERSION"], LD_LIBRARY_PATH="/elsewhere")
        self.assertEqual(done.returncode, 0, done.stderr)
        version, path = done.stdout.split()
        self.assertEqual(version, "13000")
        self.assertTrue(pathlib.Path(path).samefile(MILLRACE.parent.parent / "lib" / "libcuda.so.1"), path)


class Info(unittest.TestCase):
    def test_json(self):
        done = millrace("info", "--json", MILLRACE_DEVICES="2")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(len(document["devices"]), 2)
        self.assertIn("Millrace", document["devices"][0]["name"])
        self.assertEqual(document["devices"][0]["warp_size"], 32)
        self.assertEqual(set(document["devices"][1]["context_limits"]), {"stack_size", "printf_fifo_size", "malloc_heap_size"})
        self.assertLessEqual(document["devices"][1]["free_memory"], document["devices"][1]["total_memory"])
        self.assertEqual(document["driver_version"], 13000)
        self.assertEqual(sorted(document["settings"]), sorted(settings_in_table()))
        self.assertIn("folder", document["cache"])

    def test_text(self):
        done = millrace("info")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warp_size", done.stdout)
        self.assertRegex(done.stdout, r"driver_version +CUDA 13\.0\n")
        self.assertRegex(done.stdout, r"shared_memory_per_block +49152 \(48 KiB\)\n")

    def test_bad_argument(self):
        self.assertEqual(millrace("info", "--yaml").returncode, 2)


class Env(unittest.TestCase):
    def test_lists_every_setting(self):
        done = millrace("env", MILLRACE_LOG="info")
        for name in settings_in_table():
            self.assertIn(name, done.stdout)
        self.assertIn("set to:  info", done.stdout)

    def test_docs_agree(self):
        page = (ROOT / "docs/settings.md").read_text()
        self.assertEqual(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE), settings_in_table())


class Help(unittest.TestCase):
    def test_help_and_version(self):
        for arguments in (["--help"], ["run", "--help"], ["info", "--help"], ["env", "--help"]):
            done = millrace(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertIn("Usage: millrace", done.stdout)
        self.assertRegex(millrace("--version").stdout, r"^millrace \d+\.\d+\.\d+ ")

    def test_wrong_command(self):
        done = millrace("walk")
        self.assertEqual(done.returncode, 2)
        self.assertIn("walk", done.stderr)
        self.assertEqual(millrace().returncode, 2)


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=1).result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad - len(outcome.skipped)} passed, {bad} failed, {len(outcome.skipped)} skipped")
    sys.exit(1 if bad else 0)
