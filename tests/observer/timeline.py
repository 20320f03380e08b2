# SPDX-License-Identifier: Apache-2.0
"""A strict reader of Chrome's trace format: what its description says of the events that `millrace trace` writes, and
what is true of every timeline besides."""
import collections
import json


def nanoseconds(microseconds: float) -> int:
    return round(microseconds * 1000)


class Timeline:
    """A file in Chrome's trace format, spans in nanoseconds."""

    def __init__(self, text: str) -> None:
        self.data = json.loads(text, object_pairs_hook=refuse_twice, parse_constant=refuse)
        self.events = self.data["traceEvents"]
        self.processes = self.data["millrace"]["processes"]
        self.lanes = {(e["pid"], e["tid"]): e["args"] for e in self.events if e["ph"] == "M" and e["name"] == "thread_name"}
        self.spans = [{**e, "from": nanoseconds(e["ts"]), "to": nanoseconds(e["ts"]) + nanoseconds(e["dur"])} for e in self.events if e["ph"] == "X"]
        self.by_lane = collections.defaultdict(list)
        for span in self.spans:
            self.by_lane[span["pid"], span["tid"]].append(span)
        self.calls = [s for s in self.spans if s["cat"] == "call"]
        self.slices = [s for s in self.spans if s["cat"] == "slice"]
        self.works = [s for s in self.spans if s["cat"] not in ("call", "slice", "range")]
        self.ranges = [s for s in self.spans if s["cat"] == "range"]
        self.marks = [e for e in self.events if e["ph"] == "i"]
        self.arrows = collections.defaultdict(dict)
        for e in self.events:
            if e["ph"] in "sf":
                self.arrows[e["id"]][e["ph"]] = e

    def at(self, event: dict) -> list[dict]:
        """The spans that a moment of a lane is in, outermost first."""
        moment = nanoseconds(event["ts"])
        inside = [s for s in self.by_lane[event["pid"], event["tid"]] if s["from"] <= moment < s["to"] or s["from"] == moment == s["to"]]
        return sorted(inside, key=lambda s: (s["from"], -s["to"]))


# What each kind of event has: its members with their types; those of OPTIONAL may be there.
NUMBER, TEXT, OBJECT = (int, float), (str,), (dict,)
EVENTS = {
    "M": {"pid": (int,), "name": TEXT, "args": OBJECT},
    "X": {"pid": (int,), "tid": (int,), "ts": NUMBER, "dur": NUMBER, "name": TEXT, "cat": TEXT, "args": OBJECT},
    "i": {"pid": (int,), "tid": (int,), "ts": NUMBER, "s": TEXT, "name": TEXT, "cat": TEXT, "args": OBJECT},
    "s": {"pid": (int,), "tid": (int,), "ts": NUMBER, "id": (int,), "name": TEXT, "cat": TEXT},
    "f": {"pid": (int,), "tid": (int,), "ts": NUMBER, "id": (int,), "name": TEXT, "cat": TEXT, "bp": TEXT},
}
OPTIONAL = {"M": {"tid": (int,)}, "X": {"cname": TEXT}, "s": {"args": OBJECT}, "f": {"args": OBJECT}}
# Metadata with the member of args that each needs. Colours that viewers know.
METADATA = {"process_name": ("name", str), "process_sort_index": ("sort_index", int), "thread_name": ("name", str), "thread_sort_index": ("sort_index", int)}
COLOURS = {"terrible", "bad", "good"}


def refuse_twice(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        raise ValueError(f"a member is there twice: {keys}")
    return dict(pairs)


def refuse(name):
    raise ValueError(f"{name} is no JSON")


def check_event(test, event) -> None:
    needed = EVENTS.get(event.get("ph"))
    test.assertIsNotNone(needed, event)
    may = {**needed, **OPTIONAL.get(event["ph"], {})}
    test.assertEqual(set(event) - {"ph"} - set(may), set(), event)
    test.assertEqual(set(needed) - set(event), set(), event)
    for key, kinds in may.items():
        if key in event:
            test.assertTrue(isinstance(event[key], kinds) and not isinstance(event[key], bool), event)
    for key in ("ts", "dur"):
        test.assertGreaterEqual(event.get(key, 0), 0, event)
    if event["ph"] == "M":
        key, kind = METADATA[event["name"]]
        test.assertIsInstance(event["args"][key], kind)
        test.assertEqual("tid" in event, event["name"].startswith("thread_"), event)
    if event["ph"] == "i":
        test.assertIn(event["s"], "gpt")
    if event["ph"] == "f":
        test.assertEqual(event["bp"], "e")
    test.assertIn(event.get("cname", "good"), COLOURS)


def check_form(test, timeline) -> None:
    """What the format says, and what is true of every timeline."""
    test.assertIn(timeline.data["displayTimeUnit"], ("ms", "ns"))
    seen = set()
    for event in timeline.events:
        check_event(test, event)
        if event["ph"] == "M":
            key = (event["pid"], event.get("tid"), event["name"])
            test.assertNotIn(key, seen)
            seen.add(key)
        else:
            test.assertIn((event["pid"], event["tid"]), timeline.lanes)
    tids = [tid for _, tid in timeline.lanes]
    test.assertEqual(len(tids), len(set(tids)))
    for lane, spans in timeline.by_lane.items():
        open_until = []
        for span in sorted(spans, key=lambda s: (s["from"], -s["to"])):
            while open_until and open_until[-1] <= span["from"]:
                open_until.pop()
            test.assertTrue(not open_until or span["to"] <= open_until[-1], f"{span} crosses another in lane {timeline.lanes[lane]}")
            if span["to"] > span["from"]:
                open_until.append(span["to"])
    for name, ends in timeline.arrows.items():
        test.assertEqual(set(ends), {"s", "f"}, name)
        test.assertEqual((ends["s"]["name"], ends["s"]["cat"]), (ends["f"]["name"], ends["f"]["cat"]))
        test.assertLessEqual(nanoseconds(ends["s"]["ts"]), nanoseconds(ends["f"]["ts"]))
        for end in ends.values():
            test.assertTrue(timeline.at(end), f"an arrow's end is in no span: {end}")
