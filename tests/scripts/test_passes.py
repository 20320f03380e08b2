# SPDX-License-Identifier: Apache-2.0
"""Which passes of LLVM's the code generator's library has (src/compile/codegen/llvm/passes.py). Usage: test_passes.py NM LIBRARIES"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LIBRARIES = sys.argv.pop(2)
NM = sys.argv.pop(1)
ROOT = pathlib.Path(os.environ["MR_SOURCE_ROOT"])
FOLDER = ROOT / "src/compile/codegen/llvm"
NAMES = ("Passes", "ipo", "Instrumentation", "Vectorize", "Coroutines", "ObjCARCOpts", "HipStdPar", "ScalarOpts",
         "AggressiveInstCombine", "TransformUtils")
# The last two prepare each loop for the passes over loops.
STAY = ("SROAPass", "EarlyCSEPass", "SimplifyCFGPass", "InstCombinePass", "LoopRotatePass", "LICMPass", "SimpleLoopUnswitchPass", "GVNPass",
        "ADCEPass", "LoopSimplifyPass", "LCSSAPass")
LEFT_OUT = ("SLPVectorizerPass", "LoopVectorizePass", "AddressSanitizerPass", "InlinerPass", "CoroSplitPass")


class Passes(unittest.TestCase):
    def made(self, optimise):
        """The status, what was said, and the linker's arguments."""
        with tempfile.TemporaryDirectory() as folder:
            source, words, text = (pathlib.Path(folder) / name for name in ("absent.c", "absent.args", "optimise.c"))
            text.write_text(optimise)
            done = subprocess.run([sys.executable, FOLDER / "passes.py", NM, LIBRARIES, text, source, words, *(f"-lLLVM{name}" for name in NAMES)],
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stderr, words.read_text() if words.exists() else ""

    def test_what_runs_stays(self):
        status, _, words = self.made((FOLDER / "optimise.c").read_text())
        self.assertEqual(status, 0)
        for names, left_out in ((STAY, False), (LEFT_OUT, True)):
            for name in names:
                self.assertEqual(f"{len(name)}{name}3run" in words, left_out, name)

    def test_a_pass_that_would_be_missing_is_told(self):
        status, said, words = self.made((FOLDER / "optimise.c").read_text().replace("sroa,", "sroa,loop-vectorize,", 1))
        self.assertEqual((status, words), (1, ""))
        self.assertIn("optimise.c names passes that USED lacks: loop-vectorize", said)


if __name__ == "__main__":
    unittest.main()
