#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of entry points is sound, and the generator notices when it is not.

    test_table.py SOURCE_ROOT
"""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "gen"))

from millrace_gen import calls, exports, header, proc_table, table  # noqa: E402

GOOD = """
family = "t"
section = "T"
[[function]]
name = "cuThing"
statuses = ["INVALID_VALUE"]
  [[function.symbol]]
  elf = "cuThing"
  since = 2000
  params = ["CUstream hStream", "int *out"]
  per_thread = "ptsz"
  implemented = true
"""

MORE = """
  [[function.symbol]]
  elf = "%s"
  since = %d
  params = [%s]
  %s
"""


def load(text):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "t.toml").write_text(text)
        return table.load(folder)


class Table(unittest.TestCase):
    """The table as it stands."""

    @classmethod
    def setUpClass(cls):
        cls.functions = table.load(ROOT / "spec")
        cls.symbols = {s.elf: s for f in cls.functions for s in f.symbols}

    def test_size(self):
        self.assertGreater(len(self.functions), 470)
        self.assertGreater(len(exports.exported_names(self.functions)), 660)

    def test_symbols_belong_to_their_function(self):
        for symbol in self.symbols.values():
            self.assertTrue(symbol.elf.startswith(symbol.function.name), symbol.elf)

    def test_versions_are_known_releases(self):
        for symbol in self.symbols.values():
            self.assertTrue(2000 <= symbol.since <= table.CUDA_VERSION, symbol.elf)
            self.assertEqual(symbol.since % 10, 0, symbol.elf)
            if symbol.per_thread:
                self.assertGreaterEqual(symbol.per_thread_since, 7000, symbol.elf)

    def test_stream_forms_have_a_stream(self):
        carriers = ("CUstream", "const CUlaunchConfig *", "CUDA_GRAPH_INSTANTIATE_PARAMS *")
        for symbol in self.symbols.values():
            if symbol.per_thread == "ptsz":
                self.assertTrue(any(p.type in carriers for p in symbol.params), symbol.elf)

    def test_statuses_exist(self):
        known = {name for name, _, _ in table.load_errors(ROOT / "spec")}
        for function in self.functions:
            for status in function.statuses:
                self.assertIn("CUDA_ERROR_" + status, known, function.name)

    def test_errors_have_a_text(self):
        rows = table.load_errors(ROOT / "spec")
        self.assertGreater(len(rows), 95)
        for name, _, text in rows:
            self.assertTrue(text, name)

    def test_every_family_file_has_an_essay(self):
        for path in sorted((ROOT / "spec").glob("*.toml")):
            self.assertTrue(path.read_text().startswith("# SPDX-License-Identifier: Apache-2.0"), path)

    def test_prototypes_cover_the_table(self):
        text = header.emit_cuda_h(self.functions, table.load_errors(ROOT / "spec"), ROOT / "include")
        for symbol in self.symbols.values():
            if symbol.function.header == "cuda.h":
                self.assertIn(f" {symbol.elf}(", text)

    def test_known_redirections(self):
        current = {f.name: f.current_symbol for f in self.functions}
        self.assertEqual(current["cuCtxCreate"], "cuCtxCreate_v4")
        self.assertEqual(current["cuEventElapsedTime"], "cuEventElapsedTime_v2")
        self.assertEqual(current["cuCtxGetDevice"], "cuCtxGetDevice")
        self.assertEqual(current["cuMemAlloc"], "cuMemAlloc_v2")


    def test_kinds_of_parameters(self):
        kinds = {elf: [p.kind for p in self.symbols[elf].params] for elf in self.symbols}
        self.assertEqual(kinds["cuEventCreate"], ["out", "flags"])
        self.assertEqual(kinds["cuStreamWaitEvent"], ["stream", "handle", "flags"])
        self.assertEqual(kinds["cuModuleGetFunction"], ["out", "handle", "in"])
        self.assertEqual(kinds["cuMemcpyHtoD_v2"], ["value", "in", "value"])


class Mistakes(unittest.TestCase):
    """A contradiction is refused with the name of its row."""

    def refuse(self, text, pattern):
        with self.assertRaisesRegex(table.TableError, pattern):
            load(text)

    def test_good(self):
        self.assertEqual(len(load(GOOD)), 1)

    def test_same_symbol_twice(self):
        self.refuse(GOOD + MORE % ("cuThing", 3000, "", ""), "exported twice")

    def test_versions_must_rise(self):
        self.refuse(GOOD + MORE % ("cuThing_v2", 1000, "", ""), "not in order")

    def test_unknown_key(self):
        self.refuse(GOOD + "  sincce = 3", "unknown keys")

    def test_alias_of_nothing(self):
        self.refuse(GOOD + MORE % ("cuThing_v2", 3000, "", 'same_as = "cuOther"'), "same_as")

    def test_alias_of_another_signature(self):
        self.refuse(GOOD + MORE % ("cuThing_v2", 3000, '"int a"', 'same_as = "cuThing"'), "signature")

    def test_unreadable_parameter(self):
        self.refuse(GOOD.replace("CUstream hStream", "CUstream"), "cannot read parameter")

    def test_unknown_current(self):
        self.refuse(GOOD.replace('statuses', 'current = "cuNone"\nstatuses'), "does not exist")


class Output(unittest.TestCase):
    """The shape of what is generated."""

    def test_per_thread_form_maps_the_null_stream(self):
        text = exports.emit_exports(load(GOOD))
        self.assertIn("= mr_cuThing(hStream, out);", text)
        self.assertIn("= mr_cuThing(hStream == NULL ? CU_STREAM_PER_THREAD : hStream, out);", text)

    def test_synchronous_form_is_told_its_stream(self):
        text = exports.emit_exports(load(GOOD.replace("ptsz", "ptds").replace("CUstream hS", "CUdeviceptr s")))
        self.assertIn("mr_cuThing(stream, out, CU_STREAM_LEGACY);", text)
        self.assertIn("mr_cuThing(stream, out, CU_STREAM_PER_THREAD);", text)

    def test_stub_checks_its_handle(self):
        text = exports.emit_exports(load(GOOD.replace("= true", "= false")))
        self.assertIn("mr_stub_check_handle(hStream, MR_STUB_STREAM)", text)
        self.assertIn('mr_stub_refuse("cuThing")', text)

    def test_launch_configuration_is_copied(self):
        text = exports.emit_exports(load(GOOD.replace("CUstream hStream", "const CUlaunchConfig *config")))
        self.assertIn("mr_config.hStream = CU_STREAM_PER_THREAD;", text)

    def test_per_thread_form_needs_a_stream(self):
        with self.assertRaisesRegex(table.TableError, "no stream"):
            exports.emit_exports(load(GOOD.replace("CUstream hStream", "int stream")))

    def test_observers_know_each_call_once(self):
        text = calls.emit_calls_h(load(GOOD + MORE % ("cuThing_v2", 3020, '"void *what[]"', 'same_as = "cuThing_v3"') +
                                       MORE % ("cuThing_v3", 3020, '"void *what[]"', "implemented = true")))
        self.assertIn("    MR_CALL_cuThing,\n    MR_CALL_cuThing_v3,\n    MR_CALL_COUNT\n", text)
        self.assertIn("struct mr_params_cuThing {\n    CUstream hStream;\n    int *out;\n};", text)
        self.assertIn("struct mr_params_cuThing_v3 {\n    void **what;\n};", text)
        self.assertNotIn("cuThing_v2", text)

    def test_observers_are_told_the_default_stream(self):
        text = calls.emit_calls_h(load(GOOD.replace('"CUstream hStream", ', "").replace("ptsz", "ptds")))
        self.assertIn("    CUstream mr_default;\n", text)

    def test_look_up_table_is_sorted(self):
        names = [line.split('"')[1] for line in
                 proc_table.emit_proc_table(table.load(ROOT / "spec")).splitlines()
                 if line.startswith('    {"')]
        self.assertEqual(names, sorted(names))
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
