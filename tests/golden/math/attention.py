#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of attention by cuDNN's graphs, on their own: attention.py PROGRAM

Each case compares what the graphs leave with plain loops, and says yes or no. What hardware says is another question
(compare.py): its library refuses some of these graphs."""
import subprocess
import sys

said = subprocess.run([sys.argv[1], "--filter", "dnn_attention."], capture_output=True, text=True, check=True)
lines = [line for line in said.stdout.splitlines() if line.startswith("dnn_attention.")]
wrong = [line for line in lines if "=no" in line or not (" o=yes" in line and " dv=yes" in line or ".text_" in line
                                                         or ".plan_as_text" in line)]
print(said.stdout, said.stderr)
assert len(lines) >= 15 and not wrong, wrong
