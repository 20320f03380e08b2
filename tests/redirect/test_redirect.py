# SPDX-License-Identifier: Apache-2.0
"""Programs that carry a runtime library, or name NVIDIA's libraries by path, under millrace run.

Usage: test_redirect.py MILLRACE PROGRAM PROGRAM_WITHOUT_PIE OBJECT_12 OBJECT_13 SWAP LOOKS LOOKS_BOUND_AT_START ELEVEN
REFUSE [TEST]
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

MILLRACE, PROGRAM, FIXED, TWELVE, THIRTEEN, SWAP, LOOKS, LOOKS_NOW, ELEVEN, REFUSE = sys.argv[1:11]
LIBRARIES = pathlib.Path(MILLRACE).resolve().parent.parent / "lib"
AUDIT = str(LIBRARIES / "millrace" / "audit" / "$LIB" / "libmillrace-audit.so")  # as LD_AUDIT has it
TOOLKIT = os.environ.get("CUDA_HOME", "/usr/local/cuda")
NVCC = shutil.which("nvcc", path=TOOLKIT + "/bin")


def run(*command, through=True, **environment):
    """The command's status and what it says, under millrace run unless `through` is False."""
    environment = dict(os.environ, **{name: value for name, value in environment.items() if value is not None})
    command = [MILLRACE, "run", "--", *command] if through else command
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=250
    )
    return done.returncode, done.stdout


class Carried(unittest.TestCase):
    def passes(self, *command, **environment):
        status, said = run(*command, **environment)
        self.assertEqual((status, said.splitlines()[-1:]), (0, ["passed"]), said)
        return said

    def test_alone_it_runs_its_own(self):
        """Else the other tests would show nothing."""
        status, said = run(PROGRAM, "own", through=False, LD_LIBRARY_PATH=str(LIBRARIES))
        self.assertEqual(status, 1)
        self.assertIn("cudaRuntimeGetVersion of the runtime library inside ran", said)
        self.assertIn("inside ran", run(PROGRAM, "own", MILLRACE_REDIRECT="0")[1])

    def test_a_program(self):
        for program in PROGRAM, FIXED:
            status, said = run(program, "own", MILLRACE_LOG="info")
            self.assertEqual((status, said.splitlines()[-1]), (0, "13000"), said)
            self.assertRegex(said, r"millrace: info: the program: \d+ functions of the runtime library inside go to libcudart.so.13")

    def test_version_11(self):
        status, said = run(ELEVEN, MILLRACE_LOG="info")
        self.assertEqual((status, said.splitlines()[-1:]), (0, ["passed"]), said)
        self.assertIn("go to libcudart.so.12, as version 11's", said)

    def test_objects_of_both_versions(self):
        said = self.passes(PROGRAM, "load", TWELVE, THIRTEEN, MILLRACE_LOG="info")
        self.assertIn("carried_12.so: ", said)

    def test_one_primary_context(self):
        self.passes(PROGRAM, "share", TWELVE, THIRTEEN)

    def test_a_policy_that_refuses(self):
        """No page may be made executable: neither the bridges nor, in the second case, the program's own code."""
        for pages, program in ("all", PROGRAM), ("low", FIXED):
            status, said = run(REFUSE, pages, program, "own")
            if status == 77:
                self.skipTest("the kernel has no seccomp")
            self.assertEqual(status, 1, said)
            self.assertEqual(said.count("the program: the runtime library inside can't be replaced, so its calls will fail: a security policy"), 1, said)
            self.assertIn("cudaRuntimeGetVersion of the runtime library inside ran", said)

    def test_a_thousand_loads(self):
        self.passes(PROGRAM, "repeat", TWELVE, THIRTEEN)

    def test_threads_that_load_at_once(self):
        self.passes(PROGRAM, "threads", TWELVE, THIRTEEN)

    def test_pages_are_as_they_were(self):
        self.passes(PROGRAM, "pages")
        self.passes(FIXED, "pages")

    def test_an_absent_function_says_so_once(self):
        said = self.passes(PROGRAM, "absent")
        self.assertIn("801 801", said)
        self.assertEqual(said.count("cudaUnbindTexture: the program's own runtime library has this function"), 1, said)

    def test_a_command_inside_a_command(self):
        status, said = run(MILLRACE, "run", "--", "sh", "-c", 'echo "$LD_AUDIT"; exec "$0" own', PROGRAM)
        self.assertEqual((status, said.split()), (0, [AUDIT, "13000"]))

    def test_a_child_in_a_cleared_folder(self):
        """By fork and exec, and by an interpreter between."""
        code = "import subprocess, sys; sys.exit(subprocess.call([sys.argv[1], 'own'], cwd='/'))"
        self.assertEqual(run(sys.executable, "-c", code, os.path.abspath(PROGRAM)), (0, "13000\n"))

    def test_another_audit_library_stays(self):
        status, said = run("sh", "-c", 'echo "$LD_AUDIT"', LD_AUDIT="/nothing/there.so")
        self.assertEqual(said.splitlines()[-1], f"{AUDIT}:/nothing/there.so")


class Broken(unittest.TestCase):
    """Objects whose files lie: they load as they would without Millrace, or their calls go wrong, but nothing
    crashes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.good = pathlib.Path(THIRTEEN).read_bytes()
        self.sections = int.from_bytes(self.good[40:48], "little")

    def try_object(self, content):
        file = self.path / "object.so"
        file.write_bytes(content)
        status, said = run(PROGRAM, "try", str(file), MILLRACE_LOG="info")
        self.assertEqual((status, said.splitlines()[-2:]), (0, ["loaded", "passed"]), said)
        return said

    def test_no_sections(self):
        self.try_object(self.good[:self.sections])
        self.assertIn("section headers lie beyond its end", self.try_object(self.good[:self.sections + 70]))

    def test_symbols_that_point_elsewhere(self):
        """Each function of the runtime library is said to lie in the data, in the headers, far beyond the file, or on
        the last byte of the text. What lies there stays as it is, and a line says so."""
        symbols, names, text = self.tables()
        end = text["sh_addr"] + text["sh_size"]
        for value in 0, 1, self.section(".data")["sh_addr"], self.section(".strtab")["sh_offset"], end - 1, end, end + 1, 1 << 20, 1 << 47, (1 << 64) - 8:
            with self.subTest(hex(value)):
                bad = bytearray(self.good)
                changed = 0
                for at in range(symbols["sh_offset"], symbols["sh_offset"] + symbols["sh_size"], 24):
                    name = names["sh_offset"] + int.from_bytes(bad[at:at + 4], "little")
                    if bad[at + 4] & 15 == 2 and bad[name:name + 4] == b"cuda":  # STT_FUNC
                        bad[at + 8:at + 16] = value.to_bytes(8, "little")
                        changed += 1
                self.assertGreater(changed, 5)
                said = self.try_object(bytes(bad))
                if value == end - 1:
                    self.assertIn(f"object.so: 0 functions of the runtime library inside go to libcudart.so.13; too short for that: {changed}", said)
                else:
                    self.assertIn(f"object.so: its symbol table has {changed} functions of a runtime library that lie outside of its code", said)
                    self.assertNotIn("object.so: 0 functions", said)

    def section(self, wanted):
        """The header of a section of the good object."""
        fields = ("sh_name", 4), ("sh_type", 4), ("sh_flags", 8), ("sh_addr", 8), ("sh_offset", 8), ("sh_size", 8), ("sh_link", 4)
        count, names = (int.from_bytes(self.good[at:at + 2], "little") for at in (60, 62))
        headers = []
        for at in range(self.sections, self.sections + 64 * count, 64):
            header = {}
            for field, size in fields:
                header[field] = int.from_bytes(self.good[at:at + size], "little")
                at += size
            headers.append(header)
        for header in headers:
            name = headers[names]["sh_offset"] + header["sh_name"]
            if self.good[name:self.good.index(b"\0", name)] == wanted.encode():
                return header
        self.fail(f"the object has no {wanted}")

    def tables(self):
        """The symbols, their names and the text."""
        return self.section(".symtab"), self.section(".strtab"), self.section(".text")

    def test_random_changes(self):
        """Only of what the loader itself doesn't read: section headers and what lies behind the last segment."""
        rng = random.Random(2)
        for _ in range(40):
            bad = bytearray(self.good)
            for _ in range(rng.randrange(1, 6)):
                bad[rng.randrange(self.sections, len(bad))] = rng.choice((0, 255, rng.randrange(256)))
            self.try_object(bytes(bad))

    def test_stripped(self):
        file = self.path / "object.so"
        file.write_bytes(self.good)
        subprocess.run(["strip", str(file)], check=True)
        said = run(PROGRAM, "try", str(file))[1]
        self.assertNotIn("warn", said)
        # With kernels inside, there is a runtime library inside as well.
        (self.path / "kernels").write_bytes(b"kernels")
        subprocess.run(["objcopy", "--add-section", f".nvFatBinSegment={self.path / 'kernels'}", str(file)], check=True)
        said = run(PROGRAM, "try", str(file), MILLRACE_LOG="info")[1]
        self.assertEqual(said.count("NVIDIA's runtime library may be inside, and the names of its functions are stripped"), 1, said)
        # As long as nobody calls it, there is nothing to warn of.
        self.assertNotIn("warn", run(PROGRAM, "try", str(file))[1])
        # Millrace's static runtime library has a section that stays.
        subprocess.run(["objcopy", "--add-section", f"millrace_runtime={self.path / 'kernels'}", str(file)], check=True)
        self.assertNotIn("may be inside", run(PROGRAM, "try", str(file), MILLRACE_LOG="info")[1])

    def test_another_file_in_its_place(self):
        """The loader has mapped one file when its name comes to lead to another: an audit library before ours puts it
        there."""
        file, other = self.path / "object.so", self.path / "other.so"
        file.write_bytes(self.good)
        function = self.good.find(bytes.fromhex("31c0c3"))  # a short one of carried.c
        self.assertGreater(function, 0)
        other.write_bytes(self.good[:function] + bytes.fromhex("90c390") + self.good[function + 3:])
        status, said = run(PROGRAM, "try", str(file), through=False, LD_LIBRARY_PATH=str(LIBRARIES), LD_AUDIT=f"{SWAP}:{LIBRARIES / 'libmillrace-audit.so'}",
                           SWAP_OBJECT=str(file), SWAP_WITH=str(other))
        self.assertEqual((status, said.splitlines()[-2:]), (0, ["loaded", "passed"]), said)
        self.assertIn("can't be replaced, so its calls will fail: its file has changed", said)
        self.assertFalse(other.exists())


class Nvvm(unittest.TestCase):
    """NVIDIA's libnvvm, whose LTO code nobody else reads, makes PTX. A stand-in says which options come to it."""

    SOURCE = """#include <stdio.h>
    int nvvmCompileProgram(void *program, int count, const char **options);
    int nvvmCompileProgram(void *program, int count, const char **options)
    {
        for (int i = 0; i < count; i++)
            puts(options[i]);
        return *(int *)program;
    }
    """
    PROGRAM = """#include <dlfcn.h>
    #include <stdio.h>
    int main(int argc, char **argv)
    {
        const char *options[] = {"-arch=compute_90", "-gen-lto", "-opt=3"};
        for (int i = 1, status = 40 + i; i < argc; i++, status++) {
            void *library = dlopen(argv[i], RTLD_NOW);
            int (*compile)(void *, int, const char **);
            *(void **)&compile = dlsym(library, "nvvmCompileProgram");
            if (compile(&status, 3, options) != status)
                return 1;
        }
        return 0;
    }
    """

    def test_options(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "nvvm.c").write_text(self.SOURCE)
            (path / "program.c").write_text(self.PROGRAM)
            for name in "libnvvm.so.4", "libnvvm.so.4.0.0", "libnvvmlike.so.4":
                subprocess.run(["cc", "-shared", "-fPIC", "-o", str(path / name), str(path / "nvvm.c")], check=True)
            subprocess.run(["cc", "-o", str(path / "program"), str(path / "program.c"), "-ldl"], check=True)
            libraries = [str(path / "libnvvm.so.4"), str(path / "libnvvm.so.4.0.0")]
            plain, less = ["-arch=compute_90", "-gen-lto", "-opt=3"], ["-arch=compute_90", "-opt=3"]
            self.assertEqual(run(str(path / "program"), *libraries), (0, "\n".join(2 * less) + "\n"))
            self.assertEqual(run(str(path / "program"), *libraries, through=False), (0, "\n".join(2 * plain) + "\n"))
            self.assertEqual(run(str(path / "program"), *libraries, MILLRACE_KEEP="libnvvm"), (0, "\n".join(2 * plain) + "\n"))
            self.assertEqual(run(str(path / "program"), str(path / "libnvvmlike.so.4")), (0, "\n".join(plain) + "\n"))


class Assembler(unittest.TestCase):
    """A library of somebody's that exports NVIDIA's PTX Compiler API, which makes machine code. A stand-in answers 77 for
    each function; one of them is of some day to come."""

    NAMES = pathlib.Path(__file__).resolve().parents[2].joinpath("lib/nvptxcompiler.txt").read_text(encoding="utf-8").split()
    PROGRAM = """#include <dlfcn.h>
    #include <stdio.h>
    #include <string.h>
    int main(int argc, char **argv)
    {
        static const char ptx[] = ".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k()\\n{\\nret;\\n}\\n";
        const char *options[] = {"-arch=sm_80"};
        void *compiler = NULL, *library = dlopen(argv[1], RTLD_NOW);
        unsigned major = 0, minor = 0;
        size_t size = 0;
        int (*version)(unsigned *, unsigned *), (*create)(void **, size_t, const char *), (*compile)(void *, int, const char **), (*size_of)(void *, size_t *),
            (*destroy)(void **), (*future)(void), (*other)(void);
        *(void **)&version = dlsym(library, "nvPTXCompilerGetVersion");
        *(void **)&create = dlsym(library, "nvPTXCompilerCreate");
        *(void **)&compile = dlsym(library, "nvPTXCompilerCompile");
        *(void **)&size_of = dlsym(library, "nvPTXCompilerGetCompiledProgramSize");
        *(void **)&destroy = dlsym(library, "nvPTXCompilerDestroy");
        *(void **)&future = dlsym(library, "nvPTXCompilerSomeDay");
        *(void **)&other = dlsym(library, "other");
        printf("%d", version(&major, &minor));
        printf(" %d", create(&compiler, strlen(ptx), ptx));
        printf(" %d", compile(compiler, 1, options));
        printf(" %d", size_of(compiler, &size));
        printf(" %d", destroy(&compiler));
        printf(" %d %d %u %s\\n", future(), other(), major, size ? "program" : "none");
        return argc - 2;
    }
    """

    def test_functions(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            functions = [*self.NAMES, "nvPTXCompilerSomeDay", "other"]
            (path / "stands_in.c").write_text("".join(f"int {name}(void); int {name}(void) {{ return 77; }}\n" for name in functions))
            (path / "program.c").write_text(self.PROGRAM)
            subprocess.run(["cc", "-o", str(path / "program"), str(path / "program.c"), "-ldl"], check=True)
            program, theirs = str(path / "program"), "77 77 77 77 77 77 77 0 none\n"
            for style in "gnu", "sysv": # the two tables in which the loader looks names up
                library = str(path / f"lib{style}.so")
                subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,--hash-style={style}", "-o", library, str(path / "stands_in.c")], check=True)
                status, said = run(program, library)
                self.assertEqual((status, said.splitlines()[-1]), (0, "0 0 0 0 0 4 77 13 program"), said)
                self.assertIn("nvPTXCompilerSomeDay", said)
                self.assertEqual(run(program, library, through=False), (0, theirs))
                self.assertEqual(run(program, library, MILLRACE_KEEP="libnvptxcompiler"), (0, theirs))


class Libraries(unittest.TestCase):
    """NVIDIA's libraries by path, by RPATH and by the names that packers of wheels give them."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = pathlib.Path(cls.folder.name)
        here = pathlib.Path(__file__).parent
        (cls.path / "map12").write_text('"libcudart.so.12" { global: *; };\n')
        for name in "libcudart.so.12", "libcudart.so.13", "libcudart-0123abcd.so.12.9.79", "libcudart.so.10.2", "libnvrtc.so.12", "libcudartist.so.12", "libcuda.so.580.82":
            version = cls.path / "map"
            version.write_text(f'"{name}" {{ global: *; }};\n' if name in ("libcudart.so.12", "libcudart.so.13") else "V { global: *; };\n")
            extra = "int cudaRuntimeGetVersion(int *version) { *version = -1; return 0; }\n"
            (cls.path / "extra.c").write_text("int cudaRuntimeGetVersion(int *version);\n" + extra)
            subprocess.run(["cc", "-shared", "-fPIC", "-o", str(cls.path / name), str(here / "nvidias.c"), str(cls.path / "extra.c"), f"-Wl,-soname,{name}",
                            f"-Wl,--version-script={version}"], check=True)

    def whose(self, name, **environment):
        status, said = run(PROGRAM, "library", name, **environment)
        self.assertEqual((status, said.splitlines()[-1]), (0, "passed"), said)
        return said.splitlines()[-2]

    def test_by_path(self):
        for name, ours in (("libcudart.so.12", "libcudart.so.12"), ("libcudart.so.13", "libcudart.so.13"), ("libcudart-0123abcd.so.12.9.79", "libcudart.so.12")):
            self.assertEqual(self.whose(str(self.path / name)), str(LIBRARIES / ours))
        self.assertEqual(self.whose(str(self.path / "libnvrtc.so.12")), "neither")
        self.assertEqual(self.whose(str(self.path / "libcuda.so.580.82")), "neither")

    def test_what_millrace_has_not_stays(self):
        for name in "libcudart.so.10.2", "libcudartist.so.12":
            self.assertEqual(self.whose(str(self.path / name)), "NVIDIA's")

    def test_version_11(self):
        """The library stays, and its functions lead to Millrace's: those that are as in 12, and those that are not."""
        here = pathlib.Path(__file__).parent
        for name in "libcudart.so.11.0", "libcudart-0123abcd.so.11.0":
            library, program = self.path / "eleven" / name, self.path / "eleven" / "user"
            library.parent.mkdir(exist_ok=True)
            script = library.with_suffix(".map")
            script.write_text("V { global: cuda*; local: *; };\n")
            subprocess.run(["cc", "-s", "-shared", "-fPIC", "-DSHARED", "-o", str(library), str(here / "eleven.c"), f"-Wl,-soname,{name}", f"-Wl,--version-script={script}"],
                           check=True)
            subprocess.run(["cc", "-DUSER", "-o", str(program), str(here / "eleven.c"), str(library), f"-Wl,-rpath,{library.parent}", "-pthread"], check=True)
            self.assertIn("cudaRuntimeGetVersion of the runtime library inside ran", run(str(program), through=False)[1])
            status, said = run(str(program), MILLRACE_LOG="info")
            self.assertEqual((status, said.splitlines()[-1:]), (0, ["passed"]), said)
            self.assertIn(f"{name}: 13 functions of the runtime library inside go to libcudart.so.12, as version 11's", said)
            self.assertIn("inside ran", run(str(program), MILLRACE_KEEP="libcudart")[1])

    def test_keep(self):
        self.assertEqual(self.whose(str(self.path / "libcudart.so.12"), MILLRACE_KEEP="libnvrtc,libcudart"), "NVIDIA's")
        self.assertEqual(self.whose(str(self.path / "libcudart.so.12"), MILLRACE_KEEP="libcudart.so.12"), "NVIDIA's")
        self.assertEqual(self.whose(str(self.path / "libcudart.so.12"), MILLRACE_KEEP="libcuda"), str(LIBRARIES / "libcudart.so.12"))
        self.assertIn("NVIDIA's\n", run(PROGRAM, "library", str(self.path / "libcudart.so.12"), MILLRACE_REDIRECT="off")[1])

    def test_by_rpath(self):
        """Also lazily bound, and with the version of the symbols that a library of that name has, which the loader
        compares."""
        here = pathlib.Path(__file__).parent
        for name, version in ("libcudart.so.12", "12090"), ("libcudart.so.13", "13000"):
            for binding in "lazy", "now":
                program = self.path / "user"
                subprocess.run(["cc", "-o", str(program), str(here / "user.c"), str(self.path / name), f"-Wl,-rpath,{self.path},--disable-new-dtags,-z,{binding}"], check=True)
                self.assertEqual(run(str(program), through=False)[1].split()[:2], ["0", "-1"])
                self.assertEqual(run(str(program)), (0, f"0 {version} {LIBRARIES / name}\n"))

    def test_a_name_of_a_packers(self):
        """A program linked with such a library asks for the symbols' version in the library of that name."""
        here = pathlib.Path(__file__).parent
        program = self.path / "user"
        library = self.path / "libcudart-0123abcd.so.12.9.79"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(here / "nvidias.c"), str(self.path / "extra.c"), f"-Wl,-soname,{library.name}",
                        f"-Wl,--version-script={self.path / 'map12'}"], check=True)
        subprocess.run(["cc", "-o", str(program), str(here / "user.c"), str(library), f"-Wl,-rpath,{self.path}"], check=True)
        self.assertEqual(run(str(program)), (0, f"0 12090 {LIBRARIES / 'libcudart.so.12'}\n"))

    def test_names_of_packers_for_what_is_loaded(self):
        """The loader knows Millrace's library by each of these names, whichever came first."""
        source, first = self.path / "calls.c", "libcudart.so.12"
        source.write_text("int cudaRuntimeGetVersion(int *);\nint ask(void) { int version = 0; return cudaRuntimeGetVersion(&version) ? -1 : version; }\n")
        objects = []
        for name in "libcudart-0123abcd.so.12.9.79", "libcudart-4567cdef.so.12.6.68":
            folder = self.path / name.split(".")[0]
            folder.mkdir()
            subprocess.run(["cc", "-shared", "-fPIC", "-o", str(folder / name), str(pathlib.Path(__file__).parent / "nvidias.c"), str(self.path / "extra.c"),
                            f"-Wl,-soname,{name}", f"-Wl,--version-script={self.path / 'map12'}"], check=True)
            objects.append(folder / "calls.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-o", str(objects[-1]), str(source), str(folder / name), f"-Wl,-rpath,{folder}"], check=True)
        load = "import ctypes, sys\nfor path in sys.argv[1:]: print(getattr(ctypes.CDLL(path), 'ask', lambda: 'loaded')())"
        for order in (objects, [first, *objects], [objects[1], first, objects[0]], [*objects, *objects]):
            status, said = run(sys.executable, "-c", load, *map(str, order))
            self.assertEqual((status, said.split()), (0, ["loaded" if path == first else "12090" for path in order]))


class Files(unittest.TestCase):
    """Files that a GPU's kernel module has, and assemblers of packages."""

    def found(self, path, program=LOOKS, **environment):
        """By call, whether the file is there."""
        status, said = run(program, "at", path, **environment)
        self.assertEqual(status, 0, said)
        return {line.split()[0]: line.split()[1] == "1" for line in said.splitlines() if not line.startswith("millrace:")}

    def test_devices(self):
        for program in LOOKS, LOOKS_NOW:
            for path in "/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm", "/proc/driver/nvidia/version", "/proc/driver/nvidia":
                found = self.found(path, program)
                self.assertEqual(len(found), 16)
                self.assertTrue(all(found.values()), (path, found))

    def test_as_many_as_there_are(self):
        for path, devices in ("/dev/nvidia2", "3"), ("/dev/nvidia15", "16"):
            self.assertTrue(all(self.found(path, MILLRACE_DEVICES=devices).values()))
        if not os.path.exists("/dev/nvidiactl"):
            for path in "/dev/nvidia1", "/dev/nvidia00", "/dev/nvidia0x", "/dev/nvidia", "/dev/nvidia-uvm-tools", "/proc/driver/nvidia/gpus":
                self.assertFalse(any(self.found(path).values()), path)
            # More than the driver has: it uses 1.
            self.assertFalse(any(self.found("/dev/nvidia1", MILLRACE_DEVICES="17").values()))

    @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "a GPU's files are here")
    def test_switched_off(self):
        for setting in {"MILLRACE_KEEP": "libnvrtc,devices"}, {"MILLRACE_REDIRECT": "off"}:
            for path in "/dev/nvidiactl", "/proc/driver/nvidia/version":
                self.assertFalse(any(self.found(path, **setting).values()))

    def test_other_files(self):
        self.assertEqual(run(LOOKS, "errno", "/nothing/there"), (0, ""))
        self.assertTrue(all(self.found("/dev/null").values()))
        self.assertEqual(run("cat", "/dev/null"), (0, ""))

    def test_what_was_answered_is_told_once(self):
        said = run(LOOKS, "at", "/dev/nvidia0", MILLRACE_LOG="info")[1]
        self.assertEqual(said.count("millrace: info: /dev/nvidia0: the program gets /dev/null in its place"), 1, said)

    def test_the_version(self):
        status, said = run(sys.executable, "-c", "print(open('/proc/driver/nvidia/version').read())")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"^NVRM version: Millrace x86_64 Kernel Module  \d+\.\d+\.\d+ ")

    def test_assemblers_of_packages(self):
        with tempfile.TemporaryDirectory() as path:
            for folder, ours in ("site-packages/nvidia/cu13/bin", True), ("triton/backends/nvidia/bin", True), ("toolkit/bin", False):
                for name in "ptxas", "ptxas-blackwell", "nvlink":
                    file = pathlib.Path(path, folder, name)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text("#!/bin/sh\necho theirs\n")
                    file.chmod(0o755)
                    replaced = ours and name != "nvlink"
                    status, said = run(LOOKS, "start", str(file))
                    self.assertEqual((status, said.count("ptxas: Millrace "), said.count("theirs")), (0, 7, 0) if replaced else (0, 0, 7), said)
                    if replaced:
                        self.assertEqual(run(LOOKS, "start", str(file), MILLRACE_KEEP="ptxas"), (0, "theirs\n" * 7))


class Capsules(unittest.TestCase):
    """A Python module that carries the library without symbols, and hands its functions to other modules by
    capsules."""

    CODE = """
import ctypes, runtime, sys
name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
capsules = runtime.__pyx_capi__
def function(key, *types, returns=ctypes.c_int):
    return ctypes.CFUNCTYPE(returns, *types)(pointer(capsules[key], name(capsules[key])))
version = ctypes.c_int()
assert function("_cudaRuntimeGetVersion", ctypes.c_void_p)(ctypes.addressof(version)) == 0
def stream(handle):
    number = ctypes.c_ulonglong()
    return function("_cudaStreamGetId", ctypes.c_void_p, ctypes.c_void_p)(handle, ctypes.addressof(number)) or number.value
own = pointer(capsules["own"], b"own")
left = [key for key in capsules if key not in ("_cudaNoCapsule", "own") and pointer(capsules[key], name(capsules[key])) == own]
print(version.value, *left, {1: "legacy", 2: "per thread"}.get(
      next((n for n in (1, 2) if stream(0) == stream(n) != 12345), 0)), name(capsules["_cudaStreamGetId"]).decode())
"""
    LEFT = "_cudaGetDeviceCount _cudaNoSuchFunction cudaDeviceSynchronize helper _cudaNoName"

    def build(self, path, module, *options):
        """The module's folder."""
        subprocess.run(["cc", "-shared", "-fPIC", "-s", "-fvisibility=hidden", f"-DNAME={module}", *options, "-o", f"{path}/{module}.so",
                        str(pathlib.Path(__file__).parent / "capsules.c")], check=True)

    def say(self, path, module="runtime", **environment):
        code = self.CODE.replace("import ctypes, runtime, sys", f"import ctypes, sys, {module} as runtime")
        return run(sys.executable, "-c", code, PYTHONPATH=path, **environment)

    def test_capsules(self):
        text = "cudaError_t (cudaStream_t, unsigned PY_LONG_LONG *)"
        for options in (), ("-DONE_STEP",):
            for version, number in ("13", "13000"), ("12", "12090"):
                with tempfile.TemporaryDirectory() as path, self.subTest((options, version)):
                    self.build(path, "runtime", f"-DVERSION={version}", *options)
                    self.assertEqual(self.say(path), (0, f"{number} {self.LEFT} legacy {text}\n"))
                    self.assertIn("per thread", self.say(path, CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM="1")[1])
                    self.assertIn(f"the Python module runtime: {2 + (version == '12') + 1} functions of the runtime library inside go to libcudart.so.{version}",
                                  self.say(path, MILLRACE_LOG="info")[1])
                    self.assertIn("-1 ", self.say(path, MILLRACE_REDIRECT="off")[1])
                    self.build(path, "runtime_ptds", f"-DVERSION={version}", *options)
                    self.assertIn("per thread", self.say(path, "runtime_ptds")[1])

    def test_version_11(self):
        """Its functions go to 12, but those whose structures have changed since go there by another way."""
        code = self.CODE + """
how, one = (ctypes.c_uint * 20)(*[0xa5a5a5a5] * 20), ctypes.c_ulonglong()
what = (ctypes.c_ulonglong * 8)(2, 0, 32, 0, 2, 1024)
assert function("_cudaMalloc", ctypes.c_void_p, ctypes.c_size_t)(ctypes.addressof(what) + 8, 1024) == 0
how[:17] = [0] * 17
assert function("_cudaCreateTextureObject", *[ctypes.c_void_p] * 4)(ctypes.addressof(one), what, how, None) == 0
how[:17] = [7] * 17
assert function("_cudaGetTextureObjectTextureDesc", ctypes.c_void_p, ctypes.c_ulonglong)(how, one) == 0
assert list(how) == [0] * 17 + [0xa5a5a5a5] * 3, list(how)
"""
        with tempfile.TemporaryDirectory() as path:
            self.build(path, "runtime", "-DVERSION=11")
            status, said = run(sys.executable, "-c", code, PYTHONPATH=path)
            self.assertEqual((status, said.split()[:1]), (0, ["12090"]), said)
            self.assertIn("the Python module runtime: 7 functions of the runtime library inside go to libcudart.so.12, as version 11's",
                          self.say(path, MILLRACE_LOG="info")[1])

    def test_other_modules_stay(self):
        with tempfile.TemporaryDirectory() as path:
            self.build(path, "other", "-DVERSION=13")
            self.assertIn("-1 ", self.say(path, "other")[1])

    def test_a_module_that_is_made_again(self):
        """Another time in the same interpreter."""
        with tempfile.TemporaryDirectory() as path:
            self.build(path, "runtime", "-DVERSION=13")
            again = "import sys, runtime; del sys.modules['runtime']\n" + self.CODE
            self.assertEqual(run(sys.executable, "-c", again, PYTHONPATH=path)[0], 0)
            self.assertIn("13000 ", run(sys.executable, "-c", again, PYTHONPATH=path)[1])


@unittest.skipUnless(NVCC, "no CUDA toolkit: its nvcc is needed")
class Nvidias(unittest.TestCase):
    """Programs that NVIDIA's nvcc builds by its defaults: the runtime library is inside."""

    def build(self, path, source, *options):
        file = pathlib.Path(path) / "program.cu"
        file.write_text(source)
        subprocess.run([NVCC, "-gencode", "arch=compute_75,code=compute_75", "-o", str(file.with_suffix("")), str(file), *options], check=True,
                       env=dict(os.environ, PATH=TOOLKIT + "/bin:" + os.environ["PATH"]))
        return str(file.with_suffix(""))

    def test_streams_and_events(self):
        source = """
#include <cstdio>
__managed__ int sum;
__constant__ int step = 1;
__global__ void add(int *p) { p[threadIdx.x] += threadIdx.x * step; atomicAdd(&sum, 1); }
#define HOLDS(what) if (!(what)) return printf("line %d: %s\\n", __LINE__, #what), 1
int main()
{
    int *p, host[32], two = 2;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float ms = -1;
    HOLDS(cudaMalloc(&p, sizeof host) == cudaSuccess && cudaStreamCreate(&stream) == cudaSuccess);
    HOLDS(cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess);
    HOLDS(cudaMemsetAsync(p, 0, sizeof host, stream) == cudaSuccess && cudaEventRecord(begin, stream) == cudaSuccess);
    add<<<1, 32, 0, stream>>>(p);
    HOLDS(cudaGetLastError() == cudaSuccess && cudaEventRecord(end, stream) == cudaSuccess && cudaEventSynchronize(end) == cudaSuccess);
    HOLDS(cudaEventElapsedTime(&ms, begin, end) == cudaSuccess && ms >= 0 && sum == 32);
    HOLDS(cudaMemcpyToSymbol(step, &two, sizeof two) == cudaSuccess);
    HOLDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    add<<<1, 32, 0, stream>>>(p);
    HOLDS(cudaStreamEndCapture(stream, &graph) == cudaSuccess && cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    HOLDS(cudaGraphLaunch(exec, stream) == cudaSuccess && cudaGraphLaunch(exec, stream) == cudaSuccess && cudaStreamSynchronize(stream) == cudaSuccess);
    HOLDS(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int i = 0; i < 32; i++) HOLDS(host[i] == 5 * i);
    HOLDS(sum == 96 && cudaFree((void *)16) == cudaErrorInvalidValue);
    puts("passed");
}
"""
        with tempfile.TemporaryDirectory() as path:
            for options in (), ("-default-stream", "per-thread"), ("-rdc=true",), ("-Xcompiler", "-fno-pie,-no-pie"), ("-G", "-g"), ("-Xlinker", "-s"):
                with self.subTest(options):
                    self.assertEqual(run(self.build(path, source, *options)), (0, "passed\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[11:], verbosity=2)
