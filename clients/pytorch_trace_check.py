# SPDX-License-Identifier: Apache-2.0
"""PyTorch's operators have their names in a timeline: pytorch_trace_check.py MILLRACE"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
import torch
x = torch.ones(512, 512, device="cuda")
for _ in range(3):
    y = torch.softmax(x, 1)
z = (y @ x).sum().item()
graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
with torch.cuda.graph(graph, stream=stream):
    w = torch.sigmoid(x)
    v = w * 2
graph.replay()
graph.replay()
torch.cuda.synchronize()
"""

with tempfile.TemporaryDirectory() as room:
    out = pathlib.Path(room, "run.json")
    subprocess.run([sys.argv[1], "trace", "-o", str(out), "--", sys.executable, "-c", PROGRAM], check=True)
    events = json.loads(out.read_text())["traceEvents"]
names = collections.Counter(event["name"] for event in events if event.get("ph") in ("X", "B", "b"))
found = {name: count for name, count in names.items() if "softmax" in name or name.startswith("sum")}
print(found)
assert sum(count for name, count in found.items() if name.startswith("_softmax")) == 3, names
assert any(name.startswith("sum") for name in found), names
# Operators of a captured graph are its steps, in each run.
steps = collections.Counter(event["name"] for event in events if event.get("cat") == "host function")
assert steps["aten::sigmoid"] == steps["aten::mul.Tensor"] == 2, steps
assert all(event["dur"] > 0 for event in events if event["name"].startswith("_softmax") and event.get("ph") == "X"), names
