# SPDX-License-Identifier: Apache-2.0
"""What an installation has beside programs and libraries: man pages, completions, files for pkg-config and CMake, what
takes it away again, the list of what is inside. Usage: test_packaging.py BUILD_FOLDER"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(os.environ["MR_SOURCE_ROOT"])
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "scripts")]
HOST = """#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>
int main(void)
{
    int count = 0, major, minor;
    return cuInit(0) || cudaGetDeviceCount(&count) || nvrtcVersion(&major, &minor) || count < 1;
}
"""


def run(*words, **more):
    words = [str(word) for word in words]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, **more)


def commands():
    said = run(BUILD / "bin/millrace", "--help").stdout
    return re.findall(r"^  ([a-z]+) ", said, re.MULTILINE)


class Pages(unittest.TestCase):
    def test_each_command_has_one(self):
        self.assertGreater(len(commands()), 7)
        for name in ("millrace", "nvcc", "ptxas", "fatbinary", "cuobjdump", "nvidia-smi", *(f"millrace-{command}" for command in commands())):
            page = (BUILD / "share/man/man1" / f"{name}.1").read_text()
            self.assertRegex(page, rf'^\.TH {name.upper()} 1 ')
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION"):
                self.assertIn(f".SH {section}\n", page)
        page = (BUILD / "share/man/man1/millrace-check.1").read_text()
        for option in re.findall(r"^  (--[a-z-]+)", run(BUILD / "bin/millrace", "check", "--help").stdout, re.MULTILINE):
            self.assertIn(f"\\fB{option}".replace("-", "\\-"), page)

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_they_are_well_formed(self):
        for page in (BUILD / "share/man/man1").glob("*.1"):
            done = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page, env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""})
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)

    def complete(self, line):
        script = f"""_init_completion() {{ cur=${{COMP_WORDS[COMP_CWORD]}} words=("${{COMP_WORDS[@]}}") cword=$COMP_CWORD; }}
_command_offset() {{ COMPREPLY=("a program at $1"); }}
_filedir() {{ COMPREPLY=("a file"); }}
source {BUILD / "share/bash-completion/completions/millrace"}
COMP_WORDS=({line} {"''" if line.endswith(" ") else ""})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_millrace
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        done = run("bash", "-c", script)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return done.stdout.split("\n")[:-1]

    def test_completion_of_bash(self):
        self.assertEqual(self.complete("millrace "), [*commands(), "--help", "--version"])
        self.assertEqual(self.complete("millrace d"), ["doctor"])
        self.assertEqual(self.complete("millrace check --for"), ["--format"])
        self.assertEqual(self.complete("millrace doctor --j"), ["--json"])
        self.assertEqual(self.complete("millrace run "), ["a program at 2"])
        self.assertEqual(self.complete("millrace check --leak-check -- x"), ["a program at 4"])
        self.assertEqual(self.complete("millrace cc "), ["a file"])

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_completion_of_zsh(self):
        self.assertEqual(run("zsh", "-n", BUILD / "share/zsh/site-functions/_millrace").stderr, "")


class Builds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "host.cpp").write_text(HOST)

    @unittest.skipUnless(shutil.which("pkg-config") and shutil.which("g++"), "there is no pkg-config, or no g++")
    def test_pkg_config(self):
        env = {**os.environ, "PKG_CONFIG_PATH": str(BUILD / "lib/pkgconfig")}
        files = sorted(path.stem for path in (BUILD / "lib/pkgconfig").glob("*.pc"))
        self.assertEqual(run("pkg-config", "--exists", "--print-errors", *files, env=env).stderr, "")
        self.assertIn("millrace-cublas", files)
        flags = run("pkg-config", "--cflags", "--libs", "millrace-cuda", "millrace-cudart", "millrace-nvrtc", env=env).stdout.split()
        self.assertEqual(run("g++", "host.cpp", "-o", "host", *flags, cwd=self.path).stderr, "")
        self.assertEqual(run(self.path / "host").returncode, 0)

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("g++"), "there is no cmake, or no g++")
    def test_cmake(self):
        (self.path / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.18)
project(host LANGUAGES CXX)
find_package(millrace 0.1 REQUIRED)
add_executable(shared host.cpp)
target_link_libraries(shared millrace::cuda millrace::cudart millrace::nvrtc millrace::cublas)
add_executable(static host.cpp)
target_link_libraries(static millrace::cudart_static millrace::cuda millrace::nvrtc)
""")
        for words in (["-S", ".", "-B", "out", f"-Dmillrace_DIR={BUILD / 'lib/cmake/millrace'}"], ["--build", "out"]):
            done = run("cmake", *words, cwd=self.path)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ("shared", "static"):
            self.assertEqual(run(self.path / "out" / name).returncode, 0)


class Installation(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name)
        log = BUILD / "meson-logs/install-log.txt"
        done = run("meson", "install", "-C", BUILD, "--quiet", "--no-rebuild", "--destdir", cls.path)
        assert done.returncode == 0, done.stdout + done.stderr
        cls.root = next(cls.path.rglob("version.json")).parent
        assert log.exists()
        cls.recorded = run(sys.executable, ROOT / "scripts/uninstall.py", "--record", BUILD, cls.root)

    def test_sbom(self):
        import sbom
        first, again = (sbom.document(self.root, "1.2.3", 1000000000) for _ in range(2))
        self.assertEqual(json.dumps(first), json.dumps(again))
        names = {package["name"] for package in first["packages"]}
        self.assertLessEqual({"millrace", "LLVM", "libc6", "libzstd1", "liblz4-1"}, names)
        self.assertIn("./lib/libcuda.so.1", {file["fileName"] for file in first["files"]})
        known = {part["SPDXID"] for part in (*first["packages"], *first["files"])}
        self.assertEqual(len(known), len(first["packages"]) + len(first["files"]))
        for relation in first["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, known)

    def test_each_file_is_in_one_of_debians_packages(self):
        packages = ROOT / "packaging/debian"
        names = re.findall(r"^Package: (\S+)", (packages / "control").read_text(), re.MULTILINE)
        self.assertEqual(names, ["libmillrace1", "millrace", "millrace-dev", "millrace-doc"])
        patterns = []
        for name in names[:3]:
            lines = (packages / f"{name}.install").read_text().splitlines()
            patterns += [line.removeprefix("usr/lib/*/millrace/") for line in lines if line.startswith("usr/lib/*/millrace/")]
        for path in sorted(path for path in self.root.rglob("*") if path.is_symlink() or path.is_file()):
            name = str(path.relative_to(self.root))
            if name.split("/")[0] == "share" or name.startswith("lib/pkgconfig/"):  # debian/rules moves these
                continue
            # A folder's pattern has all that is in it; a star has no slash.
            has = [pattern for pattern in patterns if re.match(re.escape(pattern).replace(r"\*", "[^/]*") + "(/|$)", name)]
            self.assertEqual(len(has), 1, f"{name}: {has}")

    @unittest.skipUnless(shutil.which("dpkg-deb"), "there is no dpkg-deb")
    def test_packages_that_differ_are_told(self):
        """What `make reproducible` does once it has built twice."""
        with tempfile.TemporaryDirectory() as folder:
            outputs = []
            for name, text, link in (("one", "1", "a"), ("same", "1", "a"), ("text", "2", "a"), ("link", "1", "b")):
                tree, output = pathlib.Path(folder) / name / "tree", pathlib.Path(folder) / name / "out"
                (tree / "DEBIAN").mkdir(parents=True)
                (tree / "DEBIAN/control").write_text("Package: p\nVersion: 1\nArchitecture: all\nMaintainer: M <m@localhost>\nDescription: p\n")
                (tree / "file").write_text(text)
                (tree / "name").symlink_to(link)
                output.mkdir()
                made = run("dpkg-deb", "--root-owner-group", "-b", tree, output / "p.deb", env={**os.environ, "SOURCE_DATE_EPOCH": "1000000000"})
                self.assertEqual(made.returncode, 0, made.stderr)
                outputs.append(output)
            said = [run(sys.executable, ROOT / "packaging/reproducible.py", "--compare", outputs[0], other) for other in outputs]
            self.assertEqual([done.returncode for done in said], [0, 0, 1, 1], said)
            self.assertIn("p.deb is the same", said[1].stdout)
            self.assertRegex(said[2].stdout, r"p.deb differs:\n    file\n$")
            self.assertRegex(said[3].stdout, r"p.deb differs:\n    name\n$")

    def test_sources_without_git(self):
        """In a container there may be none, or a copy that is no repository of the user who builds."""
        import deb
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, PATH=folder):
            os.environ.pop("SOURCE_DATE_EPOCH", None)
            self.assertGreater(deb.source_time(), 1500000000)
            names = deb.sources()
        self.assertIn("packaging/deb.py", names)
        self.assertEqual([name for name in names if name.startswith((".git/", "build/", "dist/"))], [])

    @unittest.skipUnless(shutil.which("clang-19"), "there is no clang 19")
    def test_libdevice_is_the_same_in_each_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for name in ("one", "another-with-a-longer-name"):
                place = pathlib.Path(folder) / name
                place.symlink_to(BUILD)
                output = pathlib.Path(folder) / f"{name}.bc"
                source = ROOT / "nvvm/libdevice"
                done = run(sys.executable, source / "make.py", "clang-19", source / "functions.txt", place, output)
                self.assertEqual(done.returncode, 0, done.stderr)
                made.append(output.read_bytes())
            self.assertEqual(made[0], made[1])
            self.assertEqual(made[0], (self.root / "nvvm/libdevice/libdevice.10.bc").read_bytes())

    def test_the_archive_knows_its_folder(self):
        prefix = "/" + str(self.root.relative_to(self.path))
        data = (self.root / "lib/libcudart_static.a").read_bytes()
        self.assertEqual(re.findall(rb"MILLRACE-HOME:(/[^\0]*)", data), [f"{prefix}/lib".encode()])
        self.assertNotIn(str(BUILD).encode() + b"/lib\0", data)

    def test_z_uninstall(self):
        """Last: what is not Millrace's stays, and nothing else."""
        self.assertEqual(self.recorded.returncode, 0, self.recorded.stderr)
        (self.root / "bin/own").touch()
        self.assertEqual(run(sys.executable, ROOT / "scripts/uninstall.py", self.root).returncode, 0)
        self.assertEqual(sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*")), ["bin", "bin/own"])
        self.assertEqual(run(sys.executable, ROOT / "scripts/uninstall.py", self.root).returncode, 1)

    def test_notes_that_lead_elsewhere_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            note = pathlib.Path(folder) / "prefix/share/doc/millrace/installed-files"
            note.parent.mkdir(parents=True)
            (pathlib.Path(folder) / "precious").touch()
            note.write_text("../precious\n")
            self.assertEqual(run(sys.executable, ROOT / "scripts/uninstall.py", pathlib.Path(folder) / "prefix").returncode, 1)
            self.assertTrue((pathlib.Path(folder) / "precious").exists())


if __name__ == "__main__":
    unittest.main()
