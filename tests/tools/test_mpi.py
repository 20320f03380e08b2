# SPDX-License-Identifier: Apache-2.0
"""The example of examples/mpi, with four ranks of Open MPI or MPICH; and how ranks divide the machine.

    test_mpi.py NVCC SOURCE MILLRACE

Ends with 77 (skipped) where there is no MPI."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def words_of_compiler():
    """Options for compiling and linking a program of MPI, or None."""
    if not shutil.which("mpirun") or not shutil.which("mpicc"):
        return None
    for compiling, linking in (("--showme:compile", "--showme:link"), ("-compile-info", "-link-info")):
        answers = [subprocess.run(["mpicc", option], capture_output=True, text=True, check=False) for option in (compiling, linking)]
        if all(answer.returncode == 0 for answer in answers):
            words = [[word for word in answer.stdout.split() if re.match("-(I|L|l|pthread|Wl,-?rpath)", word)] for answer in answers]
            return words[0], words[1]
    return None


def main():
    nvcc, source, millrace = (os.path.abspath(word) for word in sys.argv[1:4])
    words = words_of_compiler()
    if words is None:
        return 77
    environment = {k: v for k, v in os.environ.items() if k != "MILLRACE_WORKERS"} | ROOT
    many = ["mpirun", "--oversubscribe"] if b"Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True, check=False).stdout else ["mpirun"]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "halo")
        built = subprocess.run([nvcc, *words[0], source, "-o", program, *words[1]], capture_output=True, text=True, check=False)
        if "mpi.h" in built.stderr and "not found" in built.stderr:
            return 77
        assert built.returncode == 0, built.stderr
        done = subprocess.run([*many, "-n", "4", program], env=environment, capture_output=True, text=True, check=False)
        print(done.stdout, done.stderr)
        assert done.returncode == 0
        assert done.stdout.count(": right") == 2, done.stdout
        # The memory that a rank of four finds is a quarter of what one process finds.
        found = [subprocess.run([*many, "-n", str(ranks), millrace, "info", "--json"], env=environment, capture_output=True, text=True, check=True)
                 for ranks in (1, 4)]
        sizes = [{int(size) for size in re.findall(r'"total_memory":\s*(\d+)', run.stdout)} for run in found]
        (whole,), (part,) = sizes
        assert abs(part - whole / 4) <= 2 << 20, sizes
    return 0


if __name__ == "__main__":
    sys.exit(main())
