# SPDX-License-Identifier: Apache-2.0
"""Runs one module of unittest tests: unittest_module.py MODULE RESULTS LEFT-OUT, with LEFT-OUT a list in JSON of
beginnings of names ("file.Class.test").

RESULTS gains a line "begun NAME" before each test and "passed NAME", "failed NAME" or "skipped NAME" after it, so that
a crash shows where it was.
"""
import json
import sys
import unittest

class Result(unittest.TextTestResult):
    results = None    # the open file

    def startTest(self, test):
        self.outcome = "passed"
        self.write("begun", test)
        super().startTest(test)

    def write(self, outcome, test):
        self.results.write(f"{outcome} {test.id()}\n")
        self.results.flush()

    def stopTest(self, test):
        self.write(self.outcome, test)
        super().stopTest(test)

    def addFailure(self, test, error):
        self.outcome = "failed"
        super().addFailure(test, error)

    def addError(self, test, error):
        if error[0].__name__ == "Skipped":    # pytest's, from importorskip
            self.addSkip(test, str(error[1]))
            return
        self.outcome = "failed"
        if not hasattr(test, "_testMethodName"):    # a class or a module that could not be set up
            self.write("failed", test)
        super().addError(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.outcome = "failed"
        super().addSubTest(test, subtest, error)

    def addSkip(self, test, reason):
        self.outcome = "skipped"
        if not hasattr(test, "_testMethodName"):
            self.write("skipped", test)
        super().addSkip(test, reason)

    def addUnexpectedSuccess(self, test):
        self.outcome = "failed"
        super().addUnexpectedSuccess(test)


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def main():
    module, names = sys.argv[1], tuple(json.loads(sys.argv[3]))
    folder = module.rpartition(".")[0] + "."
    with open(sys.argv[2], "a", encoding="utf-8") as Result.results:
        try:
            tests = list(tests_of(unittest.defaultTestLoader.loadTestsFromName(module)))
        except unittest.SkipTest as reason:
            print(reason)
            Result.results.write(f"skipped {module}\n")
            return
        # Numba's tests give a process that they start 4 or 30 seconds, imports included: too short for a machine that
        # does other work as well.
        loaded = sys.modules[module]
        if hasattr(loaded, "FUTURE_TIMEOUT"):
            loaded.FUTURE_TIMEOUT = 120
        if hasattr(loaded, "run_in_subprocess"):
            start = loaded.run_in_subprocess
            loaded.run_in_subprocess = lambda *given, timeout=0, **named: start(
                *given, timeout=max(timeout, 120), **named
            )
        suite = unittest.TestSuite(test for test in tests if not test.id().removeprefix(folder).startswith(names))
        unittest.TextTestRunner(resultclass=Result, verbosity=2).run(suite)


if __name__ == "__main__":    # tests that start processes import this file anew
    main()
