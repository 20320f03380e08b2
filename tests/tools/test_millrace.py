# SPDX-License-Identifier: Apache-2.0
"""The millrace command: run, info, env, help and what it says to wrong arguments. Usage: test_millrace.py MILLRACE"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
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

    def test_xla_is_told(self):
        """TensorFlow and JAX: flags that the user has not given."""
        said = 'echo "$XLA_FLAGS"; dirname $(dirname $(command -v nvcc))'
        flags, own = millrace("run", "--", "sh", "-c", said, XLA_FLAGS=None).stdout.splitlines()
        self.assertEqual(flags, f"--xla_gpu_cuda_data_dir={own} --xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false")
        flags = millrace("run", "--", "sh", "-c", 'echo "$XLA_FLAGS"', XLA_FLAGS="--xla_gpu_autotune_level=4").stdout
        self.assertEqual(flags, f"--xla_gpu_autotune_level=4 --xla_gpu_cuda_data_dir={own} --xla_gpu_enable_triton_gemm=false\n")

    def test_pytorch_finds_its_kernels(self):
        """PyTorch calls what packages offer as torch.backends."""
        ask = "from importlib.metadata import entry_points\nprint(*(each.value for each in entry_points(group='torch.backends')))"
        self.assertEqual(millrace("run", "--", sys.executable, "-c", ask, PYTHONPATH=None).stdout, "millrace_torch:activate\n")
        folders = millrace("run", "--", MILLRACE, "run", "--", "sh", "-c", "echo $PYTHONPATH", PYTHONPATH="/elsewhere").stdout.strip().split(":")
        self.assertEqual(folders[0], "/elsewhere")
        self.assertEqual(len(folders), 2)

    def test_pytorch_keeps_its_kernels(self):
        """Where the driver is another one, and where the user says so."""
        ask = "import sys, millrace_torch\nmillrace_torch.activate()\nprint('torch' in sys.modules)"
        self.assertEqual(millrace("run", "--", sys.executable, "-c", ask, MILLRACE_KEEP="libnvrtc,torch").stdout, "False\n")
        with tempfile.TemporaryDirectory() as elsewhere:
            for module in ("ctypes", "torch"):
                (pathlib.Path(elsewhere) / f"{module}.py").write_text("def CDLL(name): return object()\n")
            self.assertEqual(millrace("run", "--", sys.executable, "-c", ask, PYTHONPATH=elsewhere).stdout, "False\n")

    @unittest.skipIf(os.environ.get("MR_SANITIZED"), "a sanitizer brings libraries")
    @unittest.skipUnless(shutil.which("readelf"), "there is no readelf")
    def test_starting_needs_the_c_library_alone(self):
        """Each other library that the command loads delays every program."""
        said = subprocess.run(["readelf", "-dW", MILLRACE], capture_output=True, text=True, check=True).stdout
        self.assertEqual(set(re.findall(r"NEEDED.*\[(.*)\]", said)) - {"libc.so.6", "libpthread.so.0", "libdl.so.2"}, set())

    def test_the_other_commands_are_missed(self):
        """The command says what it lacks, and `run` works without."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "bin").mkdir()
            (pathlib.Path(folder) / "lib").symlink_to(MILLRACE.parent.parent / "lib")
            alone = shutil.copy(MILLRACE, f"{folder}/bin/millrace")
            (pathlib.Path(folder) / "bin" / "nvcc").symlink_to(MILLRACE.parent / "nvcc")
            done = subprocess.run([alone, "info"], capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"{folder}/bin/millrace-commands", done.stderr)
            self.assertEqual(subprocess.run([alone, "run", "true"], check=False, timeout=120).returncode, 0)

    def test_status_passes(self):
        self.assertEqual(millrace("run", "--", "sh", "-c", "exit 42").returncode, 42)
        self.assertEqual(millrace("run", "sh", "-c", "exit 3").returncode, 3)

    def test_missing_program(self):
        done = millrace("run", "--", "/nonexistent/program")
        self.assertEqual(done.returncode, 127)
        self.assertIn("/nonexistent/program", done.stderr)

    def test_wrong_settings_are_told(self):
        """Of a program that never loads the driver, and once of one that does. What the program changes is told anew."""
        wanted = ["MILLRACE_LOGG is no setting, and does nothing; did you mean MILLRACE_LOG? 'millrace env' lists them all",
                  "MILLRACE_COMPUTE_CAPABILITY='4.0' is neither auto nor a compute capability from 5.0 to 12.1; the default is used: auto",
                  "MILLRACE_GUARD='7' is not 0, 1, or an alignment (a power of two up to 512); the default is used: 0",
                  "MILLRACE_WORKERS='many' is not a number; the default is used",
                  "MILLRACE_CPU='granite' is no processor that code can be made for; the default is used",
                  "MILLRACE_CPU_FEATURES='+avx,fma' is not a list of features (+NAME or -NAME, with commas between) that code can be made for; the default is used",
                  "MILLRACE_KEEP: 'cudart' is neither a library (libNAME), ptxas, devices nor torch, and is passed over"]
        wrong = {"MILLRACE_CPU": "granite", "MILLRACE_CPU_FEATURES": "+avx,fma", "MILLRACE_KEEP": "ptxas,cudart,libnvrtc",
                 "MILLRACE_LOGG": "x", "MILLRACE_WORKERS": "many", "MILLRACE_COMPUTE_CAPABILITY": "4.0", "MILLRACE_GUARD": "7", "MILLRACE_LOG": None, "MILLRACE_LOG_FILE": None}
        driver = [os.environ["MR_DRIVER_VERSION"], "init"]
        for words in (["true"], driver, ["sh", "-c", '"$@"; "$@"', "sh", *driver]):
            self.assertEqual(sorted(millrace("run", "--", *words, **wrong).stderr.splitlines()), sorted(f"millrace: warn: {line}" for line in wanted), words)
        done = millrace("run", "--", "env", "MILLRACE_WORKERS=2", "MILLRACE_STALL=soon", *driver, **wrong)
        self.assertEqual(done.stderr.count("MILLRACE_WORKERS"), 1)
        self.assertEqual(done.stderr.count("MILLRACE_STALL='soon' is not a number"), 1)
        self.assertEqual(done.stderr.count("MILLRACE_LOGG is no setting"), 2)
        for words in (["env"], ["info"], ["smi"]):
            self.assertEqual(len(millrace(*words, **wrong).stderr.splitlines()), len(wanted), words)
        self.assertEqual(millrace("run", "--", *driver, **{**wrong, "MILLRACE_LOG": "off"}).stderr, "")
        self.assertEqual(millrace("run", "--log", "error", "--", "true", **wrong).stderr, "")
        self.assertEqual(millrace("run", "--", "true", MILLRACE_LOG=None).stderr, "")
        # Names that the pytest plugin and the clients' scripts hand on are no faults of the user's.
        self.assertEqual(millrace("run", "--", "true", MILLRACE_PYTEST_OUT="x", MILLRACE_SAMPLES_LIMIT="9", MILLRACE_CLIENTS_CACHE="y").stderr, "")

    def test_unknown_tools_are_told(self):
        wanted = "MILLRACE_OBSERVE='trace,rase:strict' names a tool that is none of the observer's, which has race mem init pages schedule trace; nothing is observed"
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        driver, settings = [os.environ["MR_DRIVER_VERSION"], "init"], {"MILLRACE_OBSERVE": "trace,rase:strict", "MILLRACE_OBSERVE_OUT": room.name}
        for words in (["run", "--", "true"], ["run", "--", *driver], ["env"], ["info"], ["smi"]):
            self.assertEqual(millrace(*words, **settings).stderr, f"millrace: warn: {wanted}\n", words)
            # Another library may have other tools.
            self.assertNotIn("none of the observer's", millrace(*words, **{**settings, "MILLRACE_OBSERVE": "rase", "MILLRACE_OBSERVER": "/nonexistent.so"}).stderr)
        self.assertIn("names the tool 'rase'", millrace("run", "--log", "error", "--", *driver, **settings).stderr)
        self.assertEqual(millrace("run", "--", "true", MILLRACE_OBSERVE="race:strict,mem").stderr, "")
        done = subprocess.run([MILLRACE, "doctor", "--json"], env={**os.environ, **settings, "MILLRACE_OBSERVE": "rase"}, capture_output=True, text=True, check=False, timeout=120)
        self.assertIn("MILLRACE_OBSERVE='rase' names a tool", done.stdout)
        self.assertEqual(done.returncode, 1)

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

    def test_settings_in_force(self):
        wrong = {"MILLRACE_COMPUTE_CAPABILITY": "4.0", "MILLRACE_DRIVER_VERSION": "12.9", "MILLRACE_GUARD": "7", "MILLRACE_WORKERS": "3"}
        document = json.loads(millrace("info", "--json", **wrong).stdout)
        shown = [document["settings"][name] for name in wrong]
        self.assertEqual((shown, document["driver_version"]), (["auto", "13.0", "0", "3"], 13000))

    def test_bad_argument(self):
        self.assertEqual(millrace("info", "--yaml").returncode, 2)


    def test_output_that_can_not_be_written(self):
        for words in (["info", "--json"], ["info"], ["--help"], ["--version"], ["env"], ["doctor", "--help"], ["run", "--help"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([MILLRACE, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                                      timeout=120)
            self.assertEqual(done.returncode, 1, words)
            self.assertEqual(done.stderr, "millrace: cannot write to standard output: No space left on device\n")


class Doctor(unittest.TestCase):
    """What it finds in a place that is made for it: an empty home, a path without anything of CUDA's."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def ask(self, **environment) -> tuple[dict, int]:
        """Findings by topic: pairs of verdict and text."""
        quiet = {name: None for name in ("LD_LIBRARY_PATH", "LD_PRELOAD", "MILLRACE_CC", "MILLRACE_CACHE", "MILLRACE_REDIRECT")}
        done = millrace("doctor", "--json", **{**quiet, "MILLRACE_CACHE_DIR": str(self.path / "cache"), **environment})
        self.assertEqual(done.stderr, "")
        findings = {}
        for finding in json.loads(done.stdout):
            self.assertEqual("mend" in finding, finding["verdict"] != "ok", finding)
            findings.setdefault(finding["topic"], []).append((finding["verdict"], finding["text"]))
        self.assertEqual(done.returncode, int(any(verdict == "wrong" for topic in findings.values() for verdict, _ in topic)))
        return findings, done.returncode

    def test_a_kernel_runs(self):
        findings, _ = self.ask()
        self.assertEqual(findings["kernel"], [("ok", "a kernel was compiled and ran")])
        self.assertEqual(findings["driver"][0][0], "ok")
        self.assertEqual({"driver", "wheels", "parts", "compiler", "processor", "memory", "limits", "sandbox", "cache", "settings", "kernel"}, set(findings))
        self.assertIn("nothing is wrong" if self.ask()[1] == 0 else "wrong", millrace("doctor").stdout)

    def test_another_driver_first(self):
        (self.path / "libcuda.so.1").symlink_to("/bin/true")
        done = millrace("doctor", LD_LIBRARY_PATH=f"{MILLRACE.parent.parent / 'lib'}:{self.path}")
        self.assertNotIn("another driver: " + str(self.path), done.stdout)
        copy = self.path / "other"
        copy.mkdir()
        shutil.copy(MILLRACE.parent.parent / "lib/libcuda.so.1", copy / "libcuda.so.1")
        findings, status = self.ask(LD_LIBRARY_PATH=f"{copy}:{MILLRACE.parent.parent / 'lib'}", MILLRACE_COMPILER=str(MILLRACE.parent.parent / "lib/libmillrace-compile.so"))
        self.assertEqual(status, 1)
        self.assertEqual([verdict for verdict, text in findings["driver"] if str(copy) in text], ["wrong", "wrong"])

    def test_nvidias_packages(self):
        folder = self.path / "site/nvidia/cuda_runtime/lib"
        folder.mkdir(parents=True)
        (folder / "libcudart.so.13").touch()
        findings, _ = self.ask(PYTHONPATH=str(self.path / "site"))
        self.assertEqual([(verdict, str(folder) in text) for verdict, text in findings["wheels"]], [("note", True)])
        findings, _ = self.ask(PYTHONPATH=str(self.path / "site"), MILLRACE_REDIRECT="off")
        self.assertEqual(findings["wheels"][0][0], "wrong")
        findings, _ = self.ask(PYTHONPATH=str(self.path / "site"), LD_LIBRARY_PATH=f"{folder}:{MILLRACE.parent.parent / 'lib'}")
        self.assertEqual(findings["wheels"][0][0], "wrong")
        findings, _ = self.ask(PYTHONPATH=str(self.path / "site"), LD_LIBRARY_PATH=f"{MILLRACE.parent.parent / 'lib'}:{folder}")
        self.assertEqual(findings["wheels"][0][0], "note")

    def test_no_compiler(self):
        findings, status = self.ask(PATH=str(self.path))
        self.assertEqual((findings["compiler"][0][0], status), ("wrong", 1))
        self.assertIn("can't be started", findings["compiler"][0][1])

    def test_another_nvcc(self):
        (self.path / "nvcc").write_text("#!/bin/sh\n")
        (self.path / "nvcc").chmod(0o755)
        findings, _ = self.ask(PATH=f"{self.path}:{os.environ['PATH']}")
        self.assertEqual(findings["compiler"][1], ("note", f"the nvcc in PATH is another: {self.path / 'nvcc'}"))

    def test_caches(self):
        self.assertEqual(self.ask()[0]["cache"][0][0], "ok")
        (self.path / "cache").mkdir(exist_ok=True)
        (self.path / "cache/old.mrk").write_bytes(b"of another version" * 100)
        self.assertEqual(self.ask()[0]["cache"][0][0], "note")
        (self.path / "cache").chmod(0o777)
        self.assertIn("not yours alone", self.ask()[0]["cache"][0][1])
        self.assertEqual(self.ask(MILLRACE_CACHE="off")[0]["cache"][0][0], "note")
        (self.path / "file").touch()
        findings, status = self.ask(MILLRACE_CACHE_DIR=str(self.path / "file/cache"))
        self.assertEqual((findings["cache"][0][0], status), ("wrong", 1))

        findings, status = self.ask(MILLRACE_CACHE_DIR="/proc/no/cache")  # where nobody can make a file, though root may write
        self.assertEqual((findings["cache"][0][0], status), ("wrong", 1))

    def test_settings(self):
        self.assertEqual(self.ask()[0]["settings"][0][0], "ok")
        findings, status = self.ask(MILLRACE_CASH="off", MILLRACE_REDIRECT="perhaps", MILLRACE_STALL="soon")
        self.assertEqual(([verdict for verdict, _ in findings["settings"]], status), (["wrong"] * 3, 1))
        for wanted in ("did you mean MILLRACE_CACHE?", "MILLRACE_REDIRECT='perhaps' is neither on nor off", "MILLRACE_STALL='soon' is not a number"):
            self.assertEqual(len([text for _, text in findings["settings"] if wanted in text]), 1, findings["settings"])

    def test_limits(self):
        for limit, words in ((resource.RLIMIT_NOFILE, "200 files"), (resource.RLIMIT_STACK, "512 KiB")):
            value = 200 if limit == resource.RLIMIT_NOFILE else 512 << 10
            done = subprocess.run([MILLRACE, "doctor"], capture_output=True, text=True, check=False, timeout=120,
                                  preexec_fn=lambda: resource.setrlimit(limit, (value, resource.getrlimit(limit)[1])))
            self.assertIn(words, done.stdout)


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
        for arguments in (["--help"], ["run", "--help"], ["info", "--help"], ["env", "--help"], ["doctor", "--help"]):
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
