#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""millrace check --explore, --explore-join, --witnesses, and millrace replay.

Arguments: schedule_program, the millrace command.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM, MILLRACE = map(os.path.abspath, sys.argv[1:3])
SHARES = ("MILLRACE_EXPLORE_SHARE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "PMI_RANK", "PMI_SIZE")


def millrace(*arguments: str, folder: pathlib.Path, **variables: str) -> subprocess.CompletedProcess:
    environment = {key: value for key, value in os.environ.items() if key not in SHARES} | variables
    return subprocess.run(
        [MILLRACE, *arguments], capture_output=True, text=True, timeout=280, cwd=folder, env=environment
    )


def test_explore(folder: pathlib.Path) -> None:
    """Schedules under which the program ends otherwise are told, with how to see it again."""
    done = millrace("check", "--explore", "8", "--jobs", "2", "--", PROGRAM, "copies", "2", folder=folder)
    assert done.returncode == 1, done
    assert re.search(r"8 schedules: [1-7] end as an eager run does \(exit status 0\), [1-7] differ", done.stdout), done
    assert "exit status 3" in done.stdout, done
    again = re.search(r"MILLRACE_OBSERVE=(\S+) millrace run", done.stdout)
    for _ in range(5):
        seen = millrace("run", "--", PROGRAM, "copies", "2", folder=folder, MILLRACE_OBSERVE=again.group(1), MILLRACE_WORKERS="1")
        assert seen.returncode == 3, seen
    done = millrace("check", "--explore", "5", "--error-exitcode", "7", "--", PROGRAM, "nothing", folder=folder)
    assert done.returncode == 0 and "5 end as an eager run does" in done.stdout, done


def test_shares(folder: pathlib.Path) -> None:
    """Shares, by option and by what mpirun sets, give one report together."""
    words = ("check", "--explore", "7", "--explore-out", "shares", "--error-exitcode", "7", "--", PROGRAM, "copies", "2")
    one = millrace(*words, folder=folder, OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2")
    assert "4 schedules:" in one.stdout, one
    early = millrace("check", "--explore-join", "shares", folder=folder)
    assert early.returncode == 125 and "of 7 schedules 4 are there" in early.stderr, early
    other = millrace(*words, folder=folder, MILLRACE_EXPLORE_SHARE="1/2")
    assert "3 schedules:" in other.stdout, other
    joined = millrace("check", "--explore-join", "shares", folder=folder)
    assert joined.returncode == 1 and "7 schedules:" in joined.stdout, joined
    # A plain run that ends so, too, is no way to see it again.
    shares = {path: json.loads(path.read_text()) for path in (folder / "shares").glob("*.json")}
    outcomes = [one for share in shares.values() for one in share["schedules"]]
    plain, wrong = next(one for one in outcomes if not one["schedule"]), next(one for one in outcomes if one["status"] == 3 and one["schedule"])
    plain.update({**wrong, "schedule": ""})
    for path, share in shares.items():
        path.write_text(json.dumps(share))
    joined = millrace("check", "--explore-join", "shares", folder=folder)
    assert re.search(r"\n  plain \S.*\n  again: \S+ MILLRACE_OBSERVE=schedule:[a-z]", joined.stdout), joined
    (folder / "shares" / "explore-9.json").write_text('{"format": "millrace-explo')
    assert millrace("check", "--explore-join", "shares", folder=folder).returncode == 125


def test_bad(folder: pathlib.Path) -> None:
    for words, status, text in ((("--explore", "x", "--", PROGRAM), 2, "--explore can't be 'x'"), (("--explore", "3"), 2, "name the program"),
                                (("--explore", "3", "--format", "json", "--", PROGRAM), 2, "does not go with --explore"),
                                (("--explore", "3", "--", "./nonesuch"), 125, "cannot start './nonesuch'"),
                                (("--explore-join", "nowhere"), 125, "cannot read the folder nowhere")):
        done = millrace("check", *words, folder=folder)
        assert done.returncode == status and text in done.stderr, (words, done)
    done = millrace("check", "--explore", "3", "--", PROGRAM, folder=folder, MILLRACE_EXPLORE_SHARE="3/3")
    assert done.returncode == 2 and "MILLRACE_EXPLORE_SHARE is '3/3'" in done.stderr, done


def make_witness(folder: pathlib.Path) -> pathlib.Path:
    """From results as the tool race leaves them."""
    first, second = map(int, millrace("run", "--", PROGRAM, "copies", folder=folder).stdout.split()[1:])
    side = {"what": "fill", "how": "writes", "call": "cuMemsetD32Async", "thread": 1, "node": 0, "site": 0}
    finding = {"tool": "race", "kind": "race", "number": 1, "first": 4096, "bytes": 4, "times": 1,
               "allocation": {"first": 4096, "size": 4, "call": "cuMemAlloc", "thread": 1, "of_thread": first - 3, "site": 0},
               "sides": [side | {"of_thread": second, "work": 2}, side | {"of_thread": first, "work": 1}]}
    host = finding | {"number": 2, "sides": [finding["sides"][0], {"what": "allocation", "how": "allocates", "call": "cuMemAllocAsync", "thread": 1, "of_thread": 3}]}
    results = {"format": "millrace-results", "version": 1, "pid": 1, "program": PROGRAM, "end": "exit", "calls": 9, "operations": 2, "accesses": 2,
               "notes": [], "findings": [finding, host], "modules": [], "sites": []}
    (folder / "results").mkdir()
    (folder / "results" / "1.results.json").write_text(json.dumps(results))
    done = millrace("check", "--results", "results", "--witnesses", "witnesses", folder=folder)
    assert done.returncode == 1 and "witnesses/race-1.json: the fill of cuMemsetD32Async" in done.stderr, done
    assert "1 findings have no witness" in done.stderr and [path.name for path in (folder / "witnesses").iterdir()] == ["race-1.json"], done
    return folder / "witnesses" / "race-1.json"


def test_replay(folder: pathlib.Path) -> None:
    """Forced, the order shows its other bytes each time; in the program's order never."""
    witness = make_witness(folder)
    for _ in range(10):
        done = millrace("replay", str(witness), "--", PROGRAM, "copies", "2", folder=folder)
        assert done.returncode == 1 and "element 0 is 2 in the program's order, 1 forced" in done.stdout, done
        assert "In the program's order: exit status 0" in done.stdout and "Forced, the later one first: exit status 3" in done.stdout, done
    done = millrace("replay", str(witness), "--", PROGRAM, "nothing", folder=folder)
    assert done.returncode == 125 and "the program did not come to the fill" in done.stderr, done
    done = millrace("replay", str(witness), "--", "true", folder=folder)
    assert done.returncode == 125 and "no process has used CUDA" in done.stderr, done
    copy = folder / "copy"
    copy.write_bytes(pathlib.Path(PROGRAM).read_bytes() + b"x")
    copy.chmod(0o755)
    done = millrace("replay", str(witness), "--", str(copy), "copies", folder=folder)
    assert done.returncode == 125 and "this is another one" in done.stderr, done
    text = witness.read_text()
    for bad, words in ((text[:200], "is cut short"), ("{}", "this is no witness"), (text.replace('"millrace":', '"millrace": "0.0", "x":'), "is of Millrace 0.0"),
                       (re.sub(r'"hold":\s*"[^"]*"', '"hold": "1"', text), "is damaged"), (re.sub(r'"until":\s*"[^"]*"', '"hold": ""', text), "is damaged")):
        (folder / "bad.json").write_text(bad)
        done = millrace("replay", "bad.json", "--", PROGRAM, "copies", folder=folder)
        assert done.returncode == 125 and words in done.stderr, (bad, done)
    done = millrace("replay", "missing.json", "--", PROGRAM, folder=folder)
    assert done.returncode == 125 and "cannot read missing.json" in done.stderr, done


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            with tempfile.TemporaryDirectory() as where:
                test(pathlib.Path(where))
            print(f"{name}: passed")
