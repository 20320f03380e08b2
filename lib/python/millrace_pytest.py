# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: a test fails if millrace check finds something new in it, with that test's own report.

    millrace check -- pytest -p millrace_pytest [--millrace-suppress FILE] [-n 4] tests

After each part of a test (set-up, call, teardown) the plugin lets the devices finish their work and has the observer
write what it has found. New findings of this process, and of processes that the test started, fail the part. What was
found before is told once: a later test that does the same does not fail. With pytest-xdist each worker looks after its
own tests.
"""
import ctypes
import json
import os
import pathlib
import subprocess
import tempfile

import pytest

COMMANDS = [pathlib.Path(__file__).resolve().parents[up] / "bin" / "millrace" for up in (2, 3)] # in the build folder, installed
OUT, ALL = "MILLRACE_OBSERVE_OUT", "MILLRACE_PYTEST_OUT"
NOT_FOUND, FINDINGS = 0, 1


def pytest_addoption(parser):
    parser.getgroup("millrace").addoption("--millrace-suppress", action="append", default=[], metavar="FILE",
                                          help="leave out what the rules in this file name (of millrace check --suppress)")


def pytest_configure(config):
    above = os.environ.get(ALL) or os.environ.get(OUT)
    if not above:
        raise pytest.UsageError("the plugin millrace_pytest works under millrace check: millrace check -- pytest -p millrace_pytest ...")
    suppressions = [os.path.abspath(path) for path in config.getoption("--millrace-suppress")]
    for path in suppressions:
        if not os.access(path, os.R_OK):
            raise pytest.UsageError(f"--millrace-suppress: cannot read {path}")
    # This process, and those that its tests start, leave their results in a folder of their own.
    os.environ[ALL] = above
    os.environ[OUT] = tempfile.mkdtemp(prefix=getattr(config, "workerinput", {}).get("workerid", "main") + "-", dir=above)
    config.pluginmanager.register(Findings(pathlib.Path(os.environ[OUT]), suppressions), "millrace-findings")


def driver():
    """The driver, if this process has loaded it."""
    try:
        return ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None


def settle():
    """Waits for the work of the current context and of each device's primary context; the observer then writes."""
    cuda = driver()
    if cuda is None:
        return
    count, flags, active, context = ctypes.c_int(), ctypes.c_uint(), ctypes.c_int(), ctypes.c_void_p()
    cuda.cuCtxSynchronize()
    if cuda.cuDeviceGetCount(ctypes.byref(count)) == 0:
        for device in range(count.value):
            if cuda.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active)) or not active.value:
                continue
            if cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0:
                if cuda.cuCtxPushCurrent_v2(context) == 0:
                    cuda.cuCtxSynchronize()
                    cuda.cuCtxPopCurrent_v2(ctypes.byref(context))
                cuda.cuDevicePrimaryCtxRelease_v2(device)
    cuda.cuProfilerStop() # after it the results are on disk


class Findings:
    def __init__(self, folder, suppressions):
        self.folder, self.suppressions = folder, suppressions
        self.told = {} # by file: how many findings

    def new_results(self):
        """Each file with findings that were not told yet, as results that have these alone."""
        settle()
        for path in sorted(self.folder.glob("*.results.json")):
            try:
                results = json.loads(path.read_text())
            except (OSError, ValueError):
                continue # the command's report at the end says what is wrong with it
            findings, told = results.get("findings", []), self.told.get(path.name, 0)
            self.told[path.name] = len(findings)
            if len(findings) > told:
                # What was not seen is the whole process's, and the last report's.
                yield path.name, {**results, "findings": findings[told:], "notes": [], "end": "exit"}

    def report(self):
        """A report of what is new; None: nothing is, or rules hide it."""
        with tempfile.TemporaryDirectory() as room:
            some = False
            for name, results in self.new_results():
                pathlib.Path(room, name).write_text(json.dumps(results))
                some = True
            if not some:
                return None
            command = [str(next(path for path in COMMANDS if path.exists())), "check", "--print-suppressions", "--results", room]
            for path in self.suppressions:
                command += ["--suppress", path]
            done = subprocess.run(command, capture_output=True, text=True)
        return None if done.returncode == NOT_FOUND else done.stdout + done.stderr

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report, text = outcome.get_result(), self.report()
        if text is None:
            return
        if report.outcome == "failed":
            report.sections.append(("millrace check", text))
        else:
            report.outcome, report.longrepr = "failed", text
