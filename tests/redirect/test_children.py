# SPDX-License-Identifier: Apache-2.0
"""Programs that start others, under millrace run: all of them are redirected, and those that can't be say nothing.

Usage: test_children.py MILLRACE PROGRAM OBJECT [TEST]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

MILLRACE, PROGRAM, OBJECT = (os.path.abspath(path) for path in sys.argv[1:4])
OWN = "13000\n"  # what PROGRAM says if its runtime library is Millrace's

# Calls the object's runtime library, as a function of the module `work`.
WORK = f"""
import ctypes
library = ctypes.CDLL({OBJECT!r})
def version(_=0):
    number = ctypes.c_int()
    return library.carried_check(ctypes.byref(number)) or number.value
"""


def run(*command, **options):
    """The command's status and what it says, under millrace run."""
    done = subprocess.run([MILLRACE, "run", "--", *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250, check=False, **options)
    return done.returncode, done.stdout


class Children(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.path / name).write_text(text)
        return self.path / name

    def test_bash(self):
        script = '"$0" own; (exec "$0" own); echo "$("$0" own)"; "$0" own | cat; "$0" own & wait $!'
        shell = shutil.which("bash") or "/bin/sh"
        self.assertEqual(run(shell, "-c", script, PROGRAM), (0, OWN * 5))
        # A login shell with a file of commands, from standard input.
        self.assertEqual(run(shell, "-l", "-s", input=f"cd /\n'{PROGRAM}' own\n", env=dict(os.environ, HOME=str(self.path))), (0, OWN))

    @unittest.skipUnless(shutil.which("make"), "make is not here")
    def test_make(self):
        """Recipes, a recipe's make, and a function that runs a program."""
        self.write("Makefile", f"said := $(shell '{PROGRAM}' own)\nall: a b c\n\t@echo $(said)\na b:\n\t@'{PROGRAM}' own\nc:\n\t@$(MAKE) --no-print-directory -f Makefile a\n")
        self.assertEqual(run("make", "-j4", "-C", self.path, "--no-print-directory"), (0, OWN * 4))

    def test_multiprocessing(self):
        """Each way of starting. A child by fork inherits the object that its parent has loaded."""
        self.write("work.py", WORK)
        program = self.write("program.py", "import multiprocessing, sys, work\nif __name__ == '__main__':\n"
                             "    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:\n        print(*pool.map(work.version, range(4)))\n")
        for way in "fork", "spawn", "forkserver":
            with self.subTest(way):
                self.assertEqual(run(sys.executable, program, way), (0, "13000 13000 13000 13000\n"))

    def test_pytest_xdist(self):
        self.write("work.py", WORK)
        tests = self.write("test_work.py", "import os, pytest, work\n@pytest.mark.parametrize('number', range(4))\ndef test_version(number):\n"
                           "    assert 'PYTEST_XDIST_WORKER' in os.environ and work.version() == 13000\n")
        python = os.environ.get("XDIST_PYTHON", sys.executable)
        if subprocess.run([python, "-c", "import pytest, xdist"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            self.skipTest("pytest-xdist is not here")
        status, said = run(python, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", tests, cwd=self.path)
        self.assertEqual(status, 0, said)
        self.assertIn("4 passed", said)

    @unittest.skipUnless(shutil.which("mpirun"), "mpirun is not here")
    def test_mpirun(self):
        """Both ways round. Open MPI wants to be told that the user may be root and that there may be fewer processors
        than processes."""
        allow = {name: "1" for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe", "PRTE_ALLOW_RUN_AS_ROOT",
                                         "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM")}
        allow |= {"OMPI_MCA_plm_rsh_agent": "/bin/false", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "TMPDIR": str(self.path)}
        environment = dict(os.environ, **allow)
        self.assertEqual(run("mpirun", "-n", "2", PROGRAM, "own", env=environment), (0, OWN * 2))
        done = subprocess.run(["mpirun", "-n", "2", MILLRACE, "run", "--", PROGRAM, "own"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250,
                              env=environment, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, OWN * 2))


class LeftAlone(unittest.TestCase):
    """Programs that the audit library can't watch run as they do without it, and nobody says a word."""

    def same(self, *command):
        plain = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False
        )
        self.assertEqual(plain.returncode, 0, plain.stdout)
        for through in command, ("sh", "-c", '"$@"; exit $?', "sh", *command):
            self.assertEqual(run(*through), (0, plain.stdout))

    def test_setuid(self):
        """For a user who is not root, the machine's own; for root, a copy that belongs to another user."""
        if os.geteuid() != 0:
            su = shutil.which("su")
            if not su or not os.stat(su).st_mode & 0o4000:
                self.skipTest("there is no setuid program")
            self.same(su, "--version")
            return
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = shutil.copy(shutil.which("echo"), folder)
            os.chown(copy, 65534, 65534)
            os.chmod(copy, 0o6755)
            self.same(copy, "hello")

    @unittest.skipUnless(os.path.exists("/lib/ld-linux.so.2") and os.uname().machine == "x86_64", "there is no loader for programs of 32 bits")
    def test_32_bits(self):
        """A program in assembler, so that no compiler's libraries for 32 bits are needed."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            library = next((file for file in ("/lib32/libc.so.6", "/lib/i386-linux-gnu/libc.so.6") if os.path.exists(file)), None)
            (path / "hello.S").write_text('.globl _start\n_start: pushl $text\ncall puts@plt\npushl $0\ncall exit@plt\n.data\ntext: .asciz "hello"\n.section .note.GNU-stack,"",@progbits\n')
            for command in ("cc", "-m32", "-nostdlib", "-c", "-o", path / "hello.o", path / "hello.S"), \
                           ("ld", "-m", "elf_i386", "-dynamic-linker", "/lib/ld-linux.so.2", "-o", path / "hello", path / "hello.o", library):
                if not library or subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode != 0:
                    self.skipTest("no program of 32 bits can be built")
            self.same(str(path / "hello"))

    def test_static(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "hello.c"), str(pathlib.Path(folder, "hello"))
            source.write_text('#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n')
            if subprocess.run(["cc", "-static", "-o", program, source], stderr=subprocess.DEVNULL, check=False).returncode != 0:
                self.skipTest("no program can be linked statically")
            self.same(program)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=2)
