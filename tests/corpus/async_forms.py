# SPDX-License-Identifier: Apache-2.0
"""Kernels of forms that touch shared memory in other ways: asynchronous copies, mbarriers, matrices of a warp.
memory_forms.py says what places there are.

Each thread has an mbarrier of its own, 64 bytes into its place in shared memory, so that nothing depends on other
threads.
"""
import re

from kernel_text import fold
from memory_forms import address, assembled, filled, folded, kind_of, parts

WAIT = "{ .reg .pred w; again: mbarrier.try_wait.parity.shared.b64 w, [%mb32], 0; @!w bra again; }"
OVER = "mbarrier.inval.shared.b64 [%mb32];"


def expecting(count):
    return [f"mbarrier.init.shared.b64 [%mb32], 1; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, [%mb32], {count};"]


def copy(form, into):
    """cp.async and what goes with it."""
    words, registers, inside, _ = parts(form)
    if words[1:3] == ["async", "mbarrier"] or words[2].startswith(("commit", "wait")):
        target = re.search(r"\[(\w+)\]", form)
        before = [filled("shared", "%ss", "b64"), "cp.async.ca.shared.global [%ss], [%is], 16;"]
        if not target:
            return assembled(form, into, before, ["cp.async.wait_all;", folded("shared", "%ss", into)])
        generic = not any(word.startswith("shared") for word in words)
        before += ["mbarrier.init.shared.b64 [%mb32], 2;", address(target.group(1), "%mb", "shared" if generic else None)]
        rest = "mbarrier.arrive.shared.b64 _, [%mb32];" * (1 if "noinc" in words else 2)
        return assembled(form, into, before, [rest, WAIT, OVER, folded("shared", "%ss", into)])
    before = [filled("shared", "%ss", "b64"), address(inside[0], "%ss"), address(inside[1], "%is")]
    size = re.search(r"\],(\d+)(?:,(\w+))?", form)
    if size and size.group(2) == "r3":
        before.append(f"and.b32 r3, %i, {int(size.group(1)) - 1};")
    return assembled(form, into, before, ["cp.async.wait_all;", folded("shared", "%ss", into)])


def bulk(form, into):
    """cp.async.bulk and cp.reduce.async.bulk."""
    words, _, inside, _ = parts(form)
    reduces, group = words[1] == "reduce", "bulk_group" in words
    kind = kind_of(words) if reduces else "b64"
    spaces = [word.partition("::")[0] for word in words if word.partition("::")[0] in ("shared", "global")][:2]
    count = "r3" if ",r3" in form else re.search(r"\],(\d+)", form).group(1)
    to, of = ("%gs", "%ss") if group else ("%ss", "%is" if spaces[1] == "global" else "%of")
    before = ["{ .reg .b64 %of; add.u64 %of, %ss, 32;", filled(spaces[0], to, kind)]
    if of != "%is":
        before.append(filled("shared", of, kind, 0))
    before += ["and.b32 r3, %i, 16; add.u32 r3, r3, 16;"] if count == "r3" else []
    before += [address(inside[0], to), address(inside[1], of), "}"]
    if group:
        before.append("fence.proxy.async;")
        after = ["cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; fence.proxy.async;"]
    else:
        before += expecting(count) + [address(inside[2], "%mb")]
        after = [WAIT, OVER]
    return assembled(form, into, before, after + [folded(spaces[0], to, into, kind)])


def sent(form, into):
    """st.async and red.async."""
    words, _, inside, _ = parts(form)
    kind = kind_of(words)
    size = int(re.search(r"\d+", kind).group()) // 8 * {"v2": 2, "v4": 4}.get(next((word for word in words if word in ("v2", "v4")), ""), 1)
    generic = None if any(word.startswith("shared") for word in words) else "shared"
    before = [filled("shared", "%ss", kind)] + expecting(size) + [address(inside[0], "%ss", generic), address(inside[1], "%mb", generic)]
    return assembled(form, into, before, [WAIT, OVER, folded("shared", "%ss", into, kind)])


def number(into):
    return f"cvt.u64.u32 %x, %t; mad.lo.u64 {into}, {into}, 0x100000001b3, %x;"


def probe(into, count=1):
    """An arrival, how many were pending, and whether the phase is over."""
    return f"{{ .reg .b64 st; .reg .pred w; mbarrier.arrive.shared.b64 st, [%mb32], {count}; mbarrier.pending_count.b64 %t, st; mbarrier.test_wait.shared.b64 w, [%mb32], st; " \
        f"selp.u32 %u, 1, 0, w; mad.lo.u32 %t, %t, 2, %u; {number(into)} }}"


def barrier(form, into):
    """mbarrier: a phase in which the form takes part, and the next."""
    words, _, inside, results = parts(form)
    what = words[1]
    generic = None if any(word.startswith("shared") for word in words) else "shared"
    start = "mbarrier.init.shared.b64 [%mb32], {};".format
    target = address(inside[0], "%mb", generic) if inside else ""
    amount = "and.b32 r2, %i32_0, 7; add.u32 r2, r2, 1;" if "r2" in form else ""
    state = re.search(r",(rd3|r2|1)(?:,|;)", form)
    if what == "init":
        return assembled(form, into, [amount, target], [probe(into), probe(into), OVER])
    if what == "inval":
        return assembled(form, into, [start(9), target], [start(3), probe(into, 2), probe(into), probe(into), OVER])
    if what == "pending_count":
        return assembled(form, into, [start(20), "{ .reg .b64 st; mbarrier.arrive.shared.b64 st, [%mb32], 3; mbarrier.arrive.shared.b64 rd1, [%mb32], 2; }"], [OVER])
    if what in ("expect_tx", "complete_tx"):
        count = "r2" if "r2" in form else "16"
        first = f"mbarrier.expect_tx.relaxed.cta.shared.b64 [%mb32], {count};" if what == "complete_tx" else ""
        last = f"mbarrier.complete_tx.relaxed.cta.shared.b64 [%mb32], {count};" if what == "expect_tx" else ""
        return assembled(form, into, [amount, start(2), first, target], [probe(into, 2) if what == "complete_tx" else "mbarrier.arrive.shared.b64 _, [%mb32], 2;", parity(into), last, parity(into),
                                                                        OVER])
    if what in ("arrive", "arrive_drop"):
        count = re.search(r"\],(r2|16)", form)
        count = count.group(1) if count else "1"
        arrivals = "1" if "expect_tx" in words else count
        after = [f"mbarrier.pending_count.b64 %t, rd3; {number(into)}"] if results else []
        after += [f"mov.u32 %u, {arrivals}; sub.u32 %u, 20, %u;", "mbarrier.arrive.shared.b64 _, [%mb32], %u;", parity(into)]
        if "expect_tx" in words:
            after += [f"mbarrier.complete_tx.relaxed.cta.shared.b64 [%mb32], {count};", parity(into)]
        after += [probe(into), probe(into), OVER]
        return assembled(form, into, [amount, start(20), target], after, opaque=True)
    # A wait: for a phase that is over and, where that takes no time, for one that is not.
    soon = what == "test_wait" or re.search(r",(r4|1000);$", form)
    time = "mov.u32 r4, 20;" if "r4" in form else ""
    fresh = state and state.group(1) == "1"
    before = [start(1), target, time] + ([] if fresh else ["mbarrier.arrive.shared.b64 " + ("rd3" if "rd3" in form else "_") + ", [%mb32];"])
    before += ["mov.u32 r2, 0;"] if "r2" in form else []
    after = []
    if soon:
        after = [OVER, start(2), "mbarrier.arrive.shared.b64 rd3, [%mb32];" if "rd3" in form else "mbarrier.arrive.shared.b64 _, [%mb32];" + ("mbarrier.arrive.shared.b64 _, [%mb32];" if fresh else ""),
                 form, fold("p1", into)]
    return assembled(form, into, before, after + [OVER])


def parity(into):
    return f"{{ .reg .pred w; mbarrier.test_wait.parity.shared.b64 w, [%mb32], 0; selp.u32 %t, 1, 0, w; {number(into)} }}"


# ---- Matrices ----

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "f32": 32, "s32": 32, "u8": 8, "s8": 8, "u4": 4, "s4": 4, "b1": 1}
# All places hold numbers from the start: a warp's are one piece of 4 KiB.
FULL = "{ .reg .b64 n; add.u32 %t, %i, 1; cvt.u64.u32 n, %t;\n" + "\n".join(
    f"mad.lo.u64 %x, n, {0x9e3779b97f4a7c15 + 0x1000002 * at}, {at * 0x0123456789abcdef % 2**64}; mul.hi.u64 %y, %x, {0xbf58476d1ce4e5b9 + 2 * at}; xor.b64 %y, %y, %x; "
    f"mul.lo.u64 %x, %y, {0x94d049bb133111eb + 4 * at}; st.global.v2.b64 [%gs+{at}], {{%x, %y}}; st.shared.v2.b64 [%ss+{at}], {{%x, %y}};" for at in range(0, 128, 16)) + " }\nbar.sync 0;\n"


def leading(words):
    """How far the rows or columns of a matrix are apart, at least; bits of its elements."""
    which, layout = words[2], "row" if "row" in words else "col"
    m, n, k = map(int, re.findall(r"\d+", next(word for word in words if re.fullmatch(r"m\d+n\d+k\d+", word))))
    rows, columns = {"a": (m, k), "b": (k, n)}.get(which, (m, n))
    return columns if layout == "row" else rows, BITS[words[-1]]


def fragment(form, into):
    words, _, inside, _ = parts(form)
    least, bits = leading(words)
    stored = words[1] == "store"
    place = "shared" if "shared" in form else "global" if "global" in words or len(form) % 2 else "shared"
    generic = None if "shared" in form or "global" in words else place
    base = "%gs" if place == "global" else "%ss"
    if form.endswith(",16;") and (bits < 8 or (stored and least > 16)):
        return None
    before = [f"{{ .reg .b64 base; .reg .b32 lane; mov.u32 lane, %laneid; mul.wide.u32 base, lane, 128; sub.u64 base, {base}, base; {address(inside[0], 'base', generic)} }}"]
    if ",r16" in form:
        before.append(f"mov.u32 r16, {least + 128 // bits};")
    before.append("bar.warp.sync -1;")
    return assembled(form, into, before, ["bar.warp.sync -1;", folded(place, base, into, "b64", 128)] if stored else [])


def rows(form, into):
    """ldmatrix and stmatrix, each row in the place of the thread that names it."""
    words, _, inside, _ = parts(form)
    generic = None if any(word.startswith("shared") for word in words) else "shared"
    before = ["bar.warp.sync -1;", address(inside[0], "%ss", generic)]
    return assembled(form, into, before, ["bar.warp.sync -1;", folded("shared", "%ss", into)] if words[0] == "stmatrix" else [])


def drawn(texts):
    for form in texts:
        words = parts(form)[0]
        inside = re.findall(r"\[(\w+\+?\d*)\]", form)
        if any(not re.fullmatch(r"r\d+|rd\d+", at) for at in inside) or "prefetch" in words:
            continue
        if words[0] == "cp":
            make = bulk if ("bulk" in words and words[-1].startswith("bulk") is False and "[" in form) else copy if "bulk" not in words else None
        else:
            make = {"st": sent, "red": sent, "mbarrier": barrier, "ldmatrix": rows, "stmatrix": rows, "wmma": fragment}.get(words[0])
            if words[:2] == ["wmma", "mma"]:
                make = None
        if make is None:
            continue
        group = "_".join(words[:2] if words[0] in ("cp", "mbarrier", "wmma") else words[:1])
        cluster = "cluster" in form or words[0] in ("st", "red")
        yield group + ("_cluster" if cluster else ""), lambda into, _, make=make, form=form: make(form, into)
