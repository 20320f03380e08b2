# SPDX-License-Identifier: Apache-2.0
"""What the programs of the part `frameworks` share: two sides of one case measured by turns, and how it is told.

A side is a function that does the work once and waits for its result.
"""
import os
import sys
import time

ROUNDS = 5
STRETCH = 0.06    # seconds that one measurement takes, if a call is shorter


def stretch(side, calls: int) -> tuple[float, float]:
    """Wall and processor time of one call, in milliseconds."""
    wall, processor = time.perf_counter(), time.process_time()
    for _ in range(calls):
        side()
    return (time.perf_counter() - wall) * 1e3 / calls, (time.process_time() - processor) * 1e3 / calls


def case(name: str, ours, theirs) -> None:
    """Prints the best figures of some rounds; the sides take turns, so that the machine's other work hits both."""
    if sys.argv[1:] and not any(name.startswith(wanted) for wanted in sys.argv[1:]):
        return
    sides = {"ours": ours, "cpu": theirs}
    figures = {who: [float("inf")] * 2 for who in sides}
    for side in sides.values():
        side()
        side()
    calls = {who: max(1, int(STRETCH / (stretch(side, 1)[0] / 1e3))) for who, side in sides.items()}
    for turn in range(ROUNDS):
        for who in list(sides) if turn % 2 == 0 else reversed(list(sides)):
            figures[who] = [min(pair) for pair in zip(figures[who], stretch(sides[who], calls[who]), strict=True)]
    for who, (wall, processor) in figures.items():
        print(f"{name}_{who}_ms {wall:.4f}")
        print(f"{name}_{who}_processor_ms {processor:.4f}", flush=True)


def since_start() -> float:
    """Seconds since this process began, by the kernel's own clock ticks."""
    with open("/proc/self/stat", encoding="ascii") as file:
        ticks = int(file.read().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
