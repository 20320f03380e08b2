#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The runtime's table: what it must refuse, and that its rows fit the driver's.

    test_runtime_table.py SOURCE_ROOT
"""

import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop() if len(sys.argv) > 1 else ".")
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "gen"))
from millrace_gen import runtime, table  # noqa: E402

HEAD = 'family = "x"\nsection = "X"\n'
ROW = '[[function]]\nname = "cudaX"\n  [[function.symbol]]\n  elf = "cudaX"\n  params = []\n'


class Loading(unittest.TestCase):
    def load(self, text):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "runtime").mkdir()
            (Path(folder) / "runtime" / "x.toml").write_text(HEAD + text)
            return runtime.load(folder)

    def test_a_row(self):
        functions = self.load(ROW + '  driver = "cuX()"\n')
        self.assertEqual(functions[0].symbols[0].names, ["cudaX"])
        self.assertTrue(functions[0].symbols[0].works)

    def test_refused(self):
        for text in (ROW, ROW + '  driver = "cuX()"\n  implemented = true\n', ROW + '  implemented = true\n  colour = 1\n',
                     ROW + '  implemented = true\n  only = 11\n', ROW + '  implemented = true\n  per_thread = "x"\n',
                     (ROW + '  implemented = true\n') * 2):
            with self.assertRaises(table.TableError, msg=text):
                self.load(text)

    def test_one_name_in_two_versions(self):
        text = ROW + '  only = 12\n  implemented = true\n  [[function.symbol]]\n  elf = "cudaX"\n  only = 13\n  params = []\n  implemented = false\n'
        functions = self.load(text)
        self.assertTrue(functions[0].current(12).works)
        self.assertFalse(functions[0].current(13).works)


class Rows(unittest.TestCase):
    def setUp(self):
        self.functions = runtime.load(ROOT / "spec")
        driver = table.load(ROOT / "spec")
        self.driver = {f.name for f in driver} | {s.elf for f in driver for s in f.symbols}

    def test_driver_functions_exist(self):
        for function in self.functions:
            for symbol in function.symbols:
                for name in re.findall(r"\b(cu[A-Z]\w*)\(", symbol.driver or ""):
                    self.assertIn(name, self.driver, symbol.elf)

    def test_every_parameter_is_used(self):
        for function in self.functions:
            for symbol in function.symbols:
                for param in symbol.params:
                    if symbol.driver:
                        self.assertRegex(symbol.driver, rf"\b{param.name}\b", symbol.elf)

    def test_per_thread_forms_have_a_stream(self):
        for function in self.functions:
            for symbol in function.symbols:
                if symbol.driver and symbol.per_thread:
                    self.assertIn("cudaStream_t", [p.type for p in symbol.params], symbol.elf)

    def test_statuses_exist(self):
        known = {name for name, _, _ in runtime.load_errors(ROOT / "spec")}
        for function in self.functions:
            for status in function.statuses:
                self.assertIn("cudaError" + status if status != "Success" else "cudaSuccess", known, function.name)


if __name__ == "__main__":
    unittest.main()
