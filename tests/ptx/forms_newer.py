# SPDX-License-Identifier: Apache-2.0
"""Forms of instructions that came with targets above sm_90, for generic targets."""
import itertools

TARGETS = ("sm_100", "sm_120")
ROUNDINGS = ("", ".rn", ".rz", ".rm", ".rp", ".rni", ".approx")
HINTS = ("", ".L1::evict_last", ".L1::no_allocate", ".L2::evict_last", ".L2::evict_first", ".L2::evict_normal", ".L1::evict_first.L2::evict_last",
         ".L2::evict_unchanged", ".L2::64B", ".L2::cache_hint", ".L2::evict_last.L2::cache_hint", ".L2::128B.L2::evict_first")


def numbers(name, count, first=1):
    return ",".join(f"{name}{i}" for i in range(first, first + count))


def floats():
    for name, way, ftz, last in itertools.product(("add", "sub", "mul", "fma", "mad", "min", "max", "neg", "abs"), ROUNDINGS, ("", ".ftz"), ("", ".sat", ".relu")):
        count = {"fma": 4, "mad": 4, "neg": 2, "abs": 2}.get(name, 3)
        for register in ("rd", "d", "f"):
            yield f"{name}{way}{ftz}{last}.f32x2 {numbers(register, count)};"
        for half, register in itertools.product(("f16", "bf16", "f16x2", "f32"), ("h", "r")):
            halves = [register + "1"] * (2 if name in ("fma", "mad") else 1)
            yield f"{name}{way}{ftz}{last}.f32.{half} f1,{','.join(halves)},f2;"
            yield f"{name}{way}{ftz}{last}.f32.{half} f1,{','.join(halves)},0f3f800000;"
    for name, ftz, nan, sign, kind in itertools.product(("min", "max"), ("", ".ftz"), ("", ".NaN"), ("", ".abs", ".xorsign.abs", ".relu"),
                                                        ("f32", "f64", "f16", "bf16x2", "s32", "u16x2")):
        register = {"f32": "f", "f64": "d", "f16": "h"}.get(kind, "r")
        yield f"{name}{ftz}{nan}{sign}.{kind} {numbers(register, 4)};"
        yield f"{name}{ftz}{nan}{sign}.{kind} {numbers(register, 3)};"
    for way, relu, satfinite in itertools.product(ROUNDINGS + (".rna",), ("", ".relu"), ("", ".satfinite")):
        yield f"cvt{way}{relu}{satfinite}.tf32.f32 r1,f1;"


def wide():
    for vector, kind in itertools.product((".v8", ".v4"), ("b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64", "b16", "f16x2", "b128")):
        count = int(vector[2:])
        for register in {"f32": ("f", "r"), "f64": ("d", "rd"), "b128": ("q",), "b16": ("h",)}.get(kind, ("rd",) if "64" in kind else ("r", "f")):
            values = "{" + numbers(register, count, 0) + "}" if register != "q" else "{q0,q1,q2,q0}"
            for order, space in itertools.product(("", ".weak", ".volatile", ".relaxed.gpu", ".acquire.sys", ".release.cta", ".mmio.relaxed.sys"),
                                                  ("", ".global", ".shared", ".local", ".const", ".param")):
                yield f"ld{order}{space}{vector}.{kind} {values},[rd8];"
                yield f"st{order}{space}{vector}.{kind} [rd8],{values};"
            for hint, cache in itertools.product(HINTS, ("", ".ca", ".cg", ".cs", ".nc", ".wb")):
                policy = ",rd7" if "cache_hint" in hint else ""
                yield f"ld.global{cache}{hint}{vector}.{kind} {values},[rd8]{policy};"
                yield f"st.global{cache}{hint}{vector}.{kind} [rd8],{values}{policy};"
    for text in ("ldu.global.v8.b32 {r1,r2,r3,r4,r5,r6,r7,r8},[rd1]", "ld.global.v8.b32 {r1,_,r3,_,r5,r6,r7,r8},[gv]", "ld.v8.b32 {r1,r2,r3,r4,r5,r6,r7,r8},[sv]",
                 "st.global.v4.b64 [rd1],{1,2,3,rd4}", "ld.global.L2::evict_last.v4.b32 {r1,r2,r3,r4},[rd1]"):
        yield text + ";"


def tensors():
    at = {1: "{r2}", 2: "{r2,r3}", 3: "{r2,r3,r4}", 4: "{r2,r3,r4,r5}", 5: "{r2,r3,r4,r5,r6}"}
    offsets = ("", ",{h1}", ",{h1,h2}", ",{h1,h2,h3}")
    for rank, count, mode, hint in itertools.product(range(1, 6), range(1, 6), ("", ".tile", ".im2col", ".im2col_no_offs", ".tile::gather4", ".im2col::w"), ("", ".L2::cache_hint")):
        policy = ",rd4" if hint else ""
        for offset, to, (multicast, mask) in itertools.product(offsets, (".shared::cluster", ".shared::cta", ".global"), (("", ""), (".multicast::cluster", ",h5"))):
            yield f"cp.async.bulk.tensor.{rank}d{to}.global{mode}.mbarrier::complete_tx::bytes{multicast}{hint} [r1],[rd1,{at[count]}],[r7]{offset}{mask}{policy};"
        yield f"cp.async.bulk.tensor.{rank}d.global.shared::cta{mode}.bulk_group{hint} [rd1,{at[count]}],[r7]{policy};"
        for offset in offsets:
            yield f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global{mode}{hint} [rd1,{at[count]}]{offset}{policy};"
        for what in "add min max inc dec and or xor exch".split():
            yield f"cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{what}{mode}.bulk_group{hint} [rd1,{at[count]}],[r7]{policy};"
    for map_at, place, box, barrier in itertools.product(("rd1", "r8", "gv", "gv+16", "cv", "rd1+64"), ("{r2,5}", "{f1,r3}", "{rd2,r3}", "{h1,h2}"), ("r1", "rd3", "sv", "sv+128"), ("r7", "rd5", "sv")):
        yield f"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [{box}],[{map_at},{place}],[{barrier}];"


def cancels():
    """clusterlaunchcontrol: a block asks for the work of one that has not begun."""
    for asynchronous, space, done, cast, kind in itertools.product((".async", ""), ("", ".shared::cta", ".shared::cluster", ".shared", ".global"),
                                                                   (".mbarrier::complete_tx::bytes", "", ".bulk_group"), ("", ".multicast::cluster::all", ".multicast::cluster"), ("b128", "b64", "u128")):
        for operands in ("[r1],[r2]", "[rd1],[rd2]", "[r1],[rd2]", "[sv],[sv+16]", "[gv],[r2]", "[r1]", "[r1],[r2],h1"):
            yield f"clusterlaunchcontrol.try_cancel{asynchronous}{space}{done}{cast}.{kind} {operands};"
    for what, kind, source, operands in itertools.product(("is_canceled", "get_first_ctaid", "get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z", "get_first_ctaid::w"),
                                                          (".pred", ".b32", ".v4.b32", ".u32", ".v4.u32", ".v2.b32", ".b64", ".v3.b32", ""), (".b128", "", ".b64"),
                                                          ("p1,q1", "r1,q1", "f1,q1", "s1,q1", "{r1,r2,r3,r4},q1", "{r1,r2,r3,_},q1", "{r1,r2},q1", "{f1,r2,s3,r4},q1", "_,q1", "r1,rd1", "p1,rd1")):
        yield f"clusterlaunchcontrol.query_cancel.{what}{kind}{source} {operands};"


def masked():
    """Bulk copies of some of each 16 bytes; stores and reductions that tell others of what came before."""
    for to, source, done, hint, word, operands in itertools.product((".global", ".shared::cluster", ".shared::cta"), (".shared::cta", ".global", ".shared"), (".bulk_group", ".mbarrier::complete_tx::bytes"),
                                                                    ("", ".L2::cache_hint"), (".cp_mask", ".cp_mask.cp_mask"),
                                                                    ("[rd1],[r2],r3", "[rd1],[r2],r3,h1", "[rd1],[r2],r3,rd4,h1", "[rd1],[r2],r3,h1,rd4", "[rd1],[r2],r3,r4", "[rd1],[r2],r3,255", "[rd1],[r2],64,hu1",
                                                                     "[rd1],[r2],64,hf1", "[rd1],[r2],r3,rd4,65535", "[gv],[sv],64,h1", "[rd1],[r2],40,h1", "[rd1],[rd2],r3,h1", "[rd1],[r2],r3,-1")):
        yield f"cp.async.bulk{to}{source}{done}{hint}{word} {operands};"
    yield "cp.async.bulk.global.shared::cta.bulk_group.cp_mask.L2::cache_hint [rd1],[r2],r3,rd4,h1;"
    yield "cp.reduce.async.bulk.global.shared::cta.bulk_group.cp_mask.add.u32 [rd1],[r2],r3,h1;"
    kinds = "b8 u8 s8 b16 u16 s16 f16 b32 u32 s32 f32 b64 u64 s64 f64 b128".split()
    spaces, orders = ("", ".global", ".shared"), (".release", ".relaxed", ".weak", ".volatile", ".acquire", "")
    for mmio, order, scope, space, vector, kind in itertools.product(("", ".mmio"), orders, ("", ".cta", ".cluster", ".gpu", ".sys"), spaces, ("", ".v2"), kinds):
        held = {"f32": "f", "f64": "d", "b128": "q", "f16": "h"}.get(kind, "rd" if "64" in kind else "h" if kind[1:] in ("8", "16") else "r")
        value = f"{held}1" if not vector else "{" + numbers(held, int(vector[2:])) + "}"
        yield f"st.async{mmio}{order}{scope}{space}{vector}.{kind} [rd8],{value};"
    for mmio, order, scope, space, what, kind in itertools.product(("", ".mmio"), orders, ("", ".cta", ".cluster", ".gpu", ".sys"), spaces, "add min max inc dec and or xor".split(), kinds[7:]):
        held = {"f32": "f", "f64": "d", "b128": "q", "f16": "h"}.get(kind, "rd" if "64" in kind else "h" if kind[1:] in ("8", "16") else "r")
        yield f"red.async{mmio}{order}{scope}{space}.{what}.{kind} [rd8],{held}1;"
    for text in ("st.async.release.gpu.global.b32 [r1],r2", "st.async.release.gpu.global.b32 [gv],r2", "st.async.release.gpu.b32 [r1],r2", "st.async.release.gpu.b32 [sv],r2", "st.async.release.gpu.b32 [lv],r2",
                 "st.async.release.gpu.global.b32 [rd1],5", "st.async.release.gpu.global.b32 [rd1],{r1}", "st.async.release.gpu.global.b32 [rd1],f1", "st.async.release.gpu.global.b64 [rd1],d1",
                 "st.async.release.gpu.global.u32 [rd1+16],s1", "st.async.release.gpu.global.b8 [rd1],r1", "st.async.release.gpu.global.b8 [rd1],rd1", "st.async.release.gpu.global.s16 [rd1],r1",
                 "st.async.gpu.release.global.b32 [rd1],r1", "st.async.global.release.gpu.b32 [rd1],r1", "st.async.release.gpu.global.b32 gv[1],r2",
                 "st.async.release.mmio.sys.global.b32 [rd1],r1", "st.async.release.sys.mmio.global.b32 [rd1],r1", "red.async.release.gpu.global.add.u32 [r1],r2", "red.async.release.gpu.global.add.u32 [gv],r2",
                 "red.async.release.gpu.add.u32 [r1],r2", "red.async.release.gpu.add.u32 [sv],r2", "red.async.release.gpu.global.add.u32 [rd1],5", "red.async.release.gpu.global.add.u32 [rd1],f1",
                 "red.async.release.gpu.global.add.u32 [rd1],s1", "red.async.release.gpu.global.and.b32 [rd1],f1", "red.async.gpu.release.global.add.u32 [rd1],r1", "red.async.release.mmio.sys.global.add.u32 [rd1],r1",
                 "red.async.mmio.release.sys.add.global.u32 [rd1],r1", "red.async.release.gpu.global.add.u32 [rd1],{r1}"):
        yield text + ";"


def kept():
    """Tensor maps that kernels copy."""
    for to, source, proxy, order, scope, sync, aligned in itertools.product((".global", "", ".shared::cta"), (".shared::cta", ".shared", "", ".shared::cluster"), (".tensormap::generic", ""), (".release", ".acquire", ""),
                                                                          (".cta", ".cluster", ".gpu", ".sys", ""), (".sync", ""), (".aligned", "")):
        yield f"tensormap.cp_fenceproxy{to}{source}{proxy}{order}{scope}{sync}{aligned} [rd1],[r1],128;"
    head = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    for to, source, size in itertools.product(("[rd1]", "[gv]", "[gv+128]", "[r1]", "[rd1+128]", "[cv]"), ("[r1]", "[rd2]", "[sv]", "[sv+128]", "[gv]"), (",128", ",64", ",256", ",r1", "", ",rd1", ",128,1", ",0x80")):
        yield f"{head} {to},{source}{size};"
    for text in ("tensormap.cp_fenceproxy.shared::cta.global.tensormap::generic.release.gpu.sync.aligned [rd1],[r1],128", "tensormap.cp_fenceproxy.global.shared::cta.release.tensormap::generic.gpu.sync.aligned [rd1],[r1],128",
                 "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.gpu.release.sync.aligned [rd1],[r1],128", "tensormap.cp_fenceproxy.sync.aligned.global.shared::cta.tensormap::generic.release.gpu [rd1],[r1],128",
                 "tensormap.global.cp_fenceproxy.shared::cta.tensormap::generic.release.gpu.sync.aligned [rd1],[r1],128"):
        yield text + ";"


def everywhere():
    """multimem: one address for the memory of several devices."""
    kinds = "b32 u32 s32 b64 u64 s64 f16 f16x2 bf16 bf16x2 f32 f64 e4m3 e5m2 e4m3x4 e5m2x4 e4m3x2 f32x2".split()

    def values(kind, vector):
        held = {"f32": "f", "f64": "d", "f16": "h", "bf16": "h", "e4m3": "h", "e5m2": "h", "e4m3x2": "h", "f32x2": "rd"}.get(kind, "rd" if "64" in kind else "r")
        return f"{held}1" if not vector else "{" + numbers(held, int(vector[2:])) + "}"

    orders = ("", ".weak", ".relaxed.sys", ".relaxed.gpu", ".relaxed.cluster", ".relaxed.cta", ".acquire.gpu", ".release.sys", ".relaxed", ".volatile", ".sys", ".acq_rel.gpu")
    for order, space, vector, kind in itertools.product(orders, ("", ".global", ".shared"), ("", ".v2", ".v4", ".v8"), kinds):
        yield f"multimem.st{order}{space}{vector}.{kind} [rd8],{values(kind, vector)};"
    for order, space, what, sums, vector, kind in itertools.product(orders, ("", ".global"), "min max add and or xor inc exch".split(), ("", ".acc::f32", ".acc::f16"), ("", ".v2", ".v4", ".v8"), kinds):
        if sums and (space == "" or order not in ("", ".weak", ".acquire.gpu")):
            continue
        yield f"multimem.ld_reduce{order}{space}.{what}{sums}{vector}.{kind} {values(kind, vector)},[rd8];"
        if not sums:
            yield f"multimem.red{order}{space}.{what}{vector}.{kind} [rd8],{values(kind, vector)};"
    for text in ("multimem.st.global.b32 [r1],r2", "multimem.st.b32 [r1],r2", "multimem.st.b32 [gv],r2", "multimem.st.b32 [sv],r2", "multimem.st.global.b32 [rd1+16],5", "multimem.st.global.f32 [rd1],0f3f800000",
                 "multimem.st.global.b32 [rd1],f1", "multimem.st.global.f32 [rd1],r1", "multimem.st.global.u32 [rd1],s1", "multimem.st.global.f16x2 [rd1],hh1", "multimem.st.global.b32 gw[1],r1",
                 "multimem.ld_reduce.global.add.f32 _,[rd1]", "multimem.ld_reduce.global.add.v2.f32 {f1,_},[rd1]", "multimem.ld_reduce.global.add.u32 f1,[rd1]", "multimem.ld_reduce.global.and.b32 f1,[rd1]",
                 "multimem.ld_reduce.global.add.u32 s1,[gv]", "multimem.ld_reduce.global.add.u32 r1,[r2]", "multimem.red.global.add.u32 [rd1],5", "multimem.red.global.add.u32 [gv+4],r1",
                 "multimem.red.global.add.u32 [r1],r1", "multimem.red.global.add.f32 [rd1],r1", "multimem.red.global.and.b32 [rd1],f1", "multimem.red.global.add.noftz.f16x2 [rd1],r1",
                 "multimem.ld_reduce.global.add.noftz.f16x2 r1,[rd1]", "multimem.global.ld_reduce.add.u32 r1,[rd1]", "multimem.ld_reduce.add.global.u32 r1,[rd1]", "multimem.ld_reduce.global.add.f16x2.v4 {r1,r2,r3,r4},[rd1]",
                 "multimem.ld_reduce.global.v4.add.f32 {f1,f2,f3,f4},[rd1]", "multimem.ld_reduce.global.add.v4.acc::f32.f16x2 {r1,r2,r3,r4},[rd1]"):
        yield text + ";"


def newer():
    for target, family in itertools.product(TARGETS, (floats, wide)):
        for text in dict.fromkeys(family()):
            yield text, target
    for family in (cancels, masked):
        for text in dict.fromkeys(family()):
            yield text, TARGETS[0]
    for family in (kept, everywhere):
        for text in dict.fromkeys(family()):
            yield text, "sm_90"
    for text in dict.fromkeys(tensors()):
        if "im2col::w" in text or "gather4" in text:
            yield text, TARGETS[0]
