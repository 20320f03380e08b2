# SPDX-License-Identifier: Apache-2.0
"""make demo: runs the five examples, each of which checks its own results, and prints a table of times."""
import pathlib
import subprocess
import sys
import time

EXAMPLES = [
    ("events", "time an operation, make a stream wait for an event"),
    ("streams", "copy and sum on a stream, back to the default stream"),
    ("timing", "timing contexts, an event pool, a stream chosen at run time"),
    ("arrays", "200 arrays: serial, a stream each, with events"),
    ("threads", "a context per host thread"),
]


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    rows, failed = [], 0
    for number, (name, about) in enumerate(EXAMPLES, 1):
        print(f"[{number}/{len(EXAMPLES)}] {name}: {about}", flush=True)
        command = [build / "bin" / "millrace", "run", "--", build / "examples" / name]
        begin = time.monotonic()
        status = subprocess.run(command, check=False).returncode
        rows.append((name, "right" if status == 0 else f"FAILED (status {status})", time.monotonic() - begin))
        failed += status != 0
    print(f"\n{'example':10} {'result':24} {'seconds':>8}")
    for name, result, seconds in rows:
        print(f"{name:10} {result:24} {seconds:8.3f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
