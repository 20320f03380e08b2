# SPDX-License-Identifier: Apache-2.0
"""Forms for forms.py of what is named otherwise than usual: variables as addresses, registers of other types than those
that an access has, words in another order."""
import itertools
import re

import forms_memory

VARIABLES = {".global": ("gv", "gw"), ".shared": ("sv", "sw"), ".const": ("cv", "cw"), ".local": ("lv", "lw"), ".param": ("ps", "ps")}
OFFSETS = ("", "+16", "+0x10", "+32+-16", "+-16", "-16", "+010", "+0b100", "+1*16", "+(3+1)*4", "+3", "+48", "+16U")


def named():
    """Loads and stores at variables: a number of bytes behind them, one of their elements, an address as a number."""
    spaces = {**VARIABLES, ".shared::cta": VARIABLES[".shared"], ".shared::cluster": VARIABLES[".shared"], ".param::entry": VARIABLES[".param"]}
    for (space, (bytes_, words)), (vector, kind) in itertools.product(spaces.items(), (("", "u8"), ("", "s16"), ("", "b32"), ("", "f32"), ("", "b64"), (".v4", "f32"), (".v2", "b64"), ("", "b128"))):
        values = forms_memory.registers(kind, vector)
        for way, inside in itertools.product((space, ""), [f"[{bytes_}{offset}]" for offset in OFFSETS] + [f"{words}[0]", f"{words}[3]", f"{words}[1+1]", f"[{words}[1]]", f"{bytes_}",
                                                                                                          f"[{words}+4]"]):
            yield f"ld{way}{vector}.{kind} {values},{inside};"
            if space not in (".const", ".param"):
                yield f"st{way}{vector}.{kind} {inside},{values};"
    for space, inside in itertools.product(("", *spaces), ("[rd8+16]", "[rd8+-16]", "[rd8-16]", "[rd8+0x10]", "[rd8+2147483632]", "[rd8+2147483648]", "[rd8+4294967296]", "[rd8+rd7]", "[16]", "[0x10]",
                                                           "[rd8+8+8]", "[rd8+(2*8)]", "[r8+16]", "[r8+-16]", "[r8-16]", "[r8+4294967280]", "rd8", "rd8[1]", "[gv+rd8]", "[rd8+gv]")):
        yield f"ld{space}.b32 r1,{inside};"
        yield f"st{space}.b32 {inside},r1;"
        yield f"atom{space}.add.u32 r1,{inside},r2;"
    for (space, (bytes_, words)), (what, kind), order in itertools.product(spaces.items(), (("add", "u32"), ("cas", "b64"), ("exch", "b32"), ("add", "f32"), ("add.noftz", "f16x2")), ("", ".relaxed.gpu")):
        value = forms_memory.registers(kind, "").rstrip("1")
        for way, inside in itertools.product((space, ""), (f"[{bytes_}]", f"[{bytes_}+16]", f"[{bytes_}+-16]", f"{words}[1]")):
            yield f"atom{order}{way}.{what}.{kind} {value}1,{inside},{value}2{',' + value + '3' if what == 'cas' else ''};"
            if what not in ("exch", "cas"):
                yield f"red{order}{way}.{what}.{kind} {inside},{value}2;"


INDICES = ("r1", "s1", "u1", "rd2", "sd1", "h1", "hs1", "hu1", "r1+1", "r1+-1", "r1-1", "1+r1", "r1*2", "(r1)", "-r1", "r1+(1+2)*2", "r1+1+1", "r1+WARP_SZ", "r1+2U", "r1+1.0", "r1+r2", "f1", "d1", "p1", "hf1",
           "hh1", "q1", "%laneid", "%clock64", "%smid+1", "%tid.x", "%tid", "2", "-2", "+2", "0x100000001", "2U", "1.0", "WARP_SZ")


def elements():
    """Elements of arrays at an index in a register or a constant one."""
    spaces = {**VARIABLES, ".shared::cta": VARIABLES[".shared"], ".param::entry": VARIABLES[".param"], "": VARIABLES[".global"]}
    for (space, (_, words)), index in itertools.product(spaces.items(), INDICES):
        for vector, kind in (("", "b32"), (".v2", "f32"), ("", "u8"), ("", "b128")):
            values = forms_memory.registers(kind, vector)
            yield f"ld{space}{vector}.{kind} {values},{words}[{index}];"
            if space not in (".const", ".param", ".param::entry"):
                yield f"st{space}{vector}.{kind} {words}[{index}],{values};"
        yield f"mov.u64 rd1,{words}[{index}];"
        yield f"cvta{space or '.global'}.u64 rd1,{words}[{index}];"
        if space != "":
            yield f"mov.u32 r1,{words}[{index}];"
    for inside in ("[gw[r1]]", "[gw+r1]", "gw[r1]+4", "gw[r1][1]", "gw+4[r1]", "rd1[r1]", "q0[r1]", "pa[r1]"):
        yield f"ld.global.b32 r1,{inside};"
        yield f"ld.param.b32 r1,{inside};"
        yield f"mov.b64 rd1,{inside};"
    for text in ("atom.global.add.u32 r1,gw[r2],r3;", "red.global.add.u32 gw[r2],r3;", "prefetch.global.L1 gw[r2];", "isspacep.global p1,gw[r2];", "add.u64 rd1,rd2,gw[r2];",
                 "cvta.to.global.u64 rd1,gw[r2];", "cvta.shared.u64 rd1,gw[r2];", "ldu.global.b32 r1,gw[r2];", "ld.volatile.global.b32 r1,gw[r2];", "ld.relaxed.gpu.b32 r1,gw[r2];", "@p1 ld.global.nc.b32 r1,gw[r2];",
                 "st.param.b32 pd[r1],r2;", "mov.u16 h1,sw[r1];", "mov.b128 q1,sw[r1];", "mov.f32 f1,sw[r1];"):
        yield text


TYPED = ("hf", "hs", "hu", "hh", "s", "u", "sd", "ud")


def typed():
    """Loads, stores and atomics with registers of f16, f16x2, bf16 and of integers with and without a sign."""
    for space, kind, letter in itertools.product(("", ".global", ".shared", ".local", ".const"), ("u8", "s8", "b8", "u16", "s16", "b16", "f16", "bf16", "f16x2", "u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64"),
                                                 TYPED):
        for vector, values in (("", f"{letter}1"), (".v2", f"{{{letter}1,{letter}2}}")):
            yield f"ld{space}{vector}.{kind} {values},[rd8];"
            if space != ".const":
                yield f"st{space}{vector}.{kind} [rd8],{values};"
    for space, (what, kind), letter in itertools.product(("", ".global", ".shared"), (("add", "u32"), ("add", "s32"), ("max", "s32"), ("exch", "b32"), ("add", "u64"), ("min", "s64"), ("and", "b64"), ("add", "f32"),
        ("add", "f64"), ("add.noftz", "f16"), ("add.noftz", "bf16"), ("add.noftz", "f16x2"), ("add.noftz", "bf16x2"), ("exch", "b64"), ("inc", "u32"), ("cas", "b16"), ("cas", "b32")), TYPED + ("h", "r", "f", "rd", "d")):
        more = f",{letter}3" if what == "cas" else ""
        yield f"atom{space}.{what}.{kind} {letter}1,[rd8],{letter}2{more};"
        if what not in ("exch", "cas"):
            yield f"red{space}.{what}.{kind} [rd8],{letter}2;"


PERMUTED = ("mbarrier.arrive.release.cta.shared.b64 _,[r1];", "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 rd3,[r1],16;", "mbarrier.arrive.noComplete.release.cta.shared.b64 rd3,[r1],r2;",
            "mbarrier.arrive_drop.relaxed.cluster.shared::cluster.b64 _,[r1];", "mbarrier.test_wait.parity.acquire.cta.shared.b64 p1,[r1],r2;", "mbarrier.try_wait.acquire.cluster.shared::cta.b64 p1,[r1],rd3;",
            "mbarrier.expect_tx.relaxed.cta.shared.b64 [r1],16;", "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [r1],16;", "mbarrier.init.shared.b64 [r1],16;", "mbarrier.inval.shared.b64 [r1];",
            "cp.async.ca.shared.global.L2::128B [r1],[rd2],16;", "cp.async.cg.shared.global.L2::cache_hint [r1],[rd2],16,rd4;", "cp.async.ca.shared::cta.global.L2::cache_hint.L2::64B [r1],[rd2],4,rd4;",
            "cp.async.mbarrier.arrive.noinc.shared.b64 [r1];", "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group.read 0;", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1],[rd2],r3,[r4];",
            "cp.async.bulk.global.shared::cta.bulk_group [rd1],[r2],r3;", "cp.async.bulk.prefetch.L2.global [rd1],r3;", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [rd1],[r2],r3;",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.f16 [rd1],[r2],r3,rd4;", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [r1],r2,[r4];",
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [r1],r2,[r4];", "ld.relaxed.gpu.global.L1::evict_last.v2.b32 {r1,r2},[rd1];", "ld.volatile.global.v2.b32 {r1,r2},[rd1];",
            "ld.global.ca.nc.v2.b32 {r1,r2},[rd1];", "ld.global.nc.L1::no_allocate.L2::128B.b32 r1,[rd1];", "st.release.sys.global.b32 [rd1],r1;", "st.global.cs.v2.b32 [rd1],{r1,r2};",
            "st.mmio.relaxed.sys.global.b32 [rd1],r1;", "atom.acq_rel.gpu.global.add.u32 r1,[rd1],r2;", "atom.global.add.noftz.f16x2 r1,[rd1],r2;", "red.relaxed.cta.shared.max.s32 [r4],r2;",
            "red.global.add.noftz.v2.f16 [rd1],{h1,h2};", "atom.global.v2.add.f32 {f1,f2},[rd1],{f3,f4};", "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {r1,r2},[r4];", "movmatrix.sync.aligned.m8n8.trans.b16 r1,r2;",
            "wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {r1,r2},[r4];", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {f1,f2,f3,f4},{r1,r2,r3,r4},{r5,r6},{f1,f2,f3,f4};",
            "barrier.cta.red.popc.aligned.u32 r1,0,p1;", "bar.cta.sync 0;", "barrier.cluster.arrive.release.aligned;", "fence.acq_rel.cluster;", "fence.proxy.async.shared::cta;", "membar.proxy.alias;",
            "shfl.sync.up.b32 r1,r2,3,0,-1;", "vote.sync.ballot.b32 r1,p1,-1;", "match.any.sync.b32 r1,r2,-1;", "redux.sync.add.s32 s1,s2,-1;", "elect.sync r1|p1,-1;", "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 rd1,0.5;",
            "prefetch.global.L2::evict_last [rd1];", "applypriority.global.L2::evict_normal [rd1],128;", "discard.global.L2 [rd1],128;", "isspacep.shared::cluster p1,rd1;", "cvta.to.shared.u64 rd1,rd2;",
            "mapa.shared::cluster.u32 r1,r2,r3;", "add.rn.ftz.sat.f32 f1,f2,f3;", "fma.rn.ftz.sat.f32 f1,f2,f3,f4;", "fma.rn.ftz.relu.f16x2 r1,r2,r3,r4;", "cvt.rn.satfinite.relu.f16x2.f32 r1,f1,f2;", "cvt.rni.ftz.sat.s32.f32 s1,f1;",
            "cvt.rn.ftz.sat.f32.f32 f1,f2;", "setp.lt.and.ftz.f32 p1,f1,f2,p2;", "set.lt.ftz.u32.f32 r1,f1,f2;", "min.ftz.NaN.xorsign.abs.f32 f1,f2,f3;", "max.NaN.f16x2 r1,r2,r3;", "mul.hi.u32 r1,r2,r3;", "mad.lo.cc.u32 r1,r2,r3,r4;",
            "mad.hi.sat.s32 s1,s2,s3,s4;", "shf.l.wrap.b32 r1,r2,r3,r4;", "prmt.b32.f4e r1,r2,r3,r4;", "bfind.shiftamt.u32 r1,r2;", "div.full.ftz.f32 f1,f2,f3;", "ex2.approx.ftz.f32 f1,f2;", "slct.ftz.u32.f32 r1,r2,r3,f4;",
            "dp4a.s32.u32 s1,s2,r3,s4;", "dp2a.lo.s32.u32 s1,s2,r3,s4;", "vadd.s32.u32.s32.sat.add r1,r2,r3,r4;", "vmad.u32.u32.u32.po.sat.shr7 r1,r2,r3,r4;", "tex.level.2d.v4.f32.f32 {f1,f2,f3,f4},[rd1,{f1,f2}],f5;")


def permuted():
    """Each word of a name at each other place."""
    for form in PERMUTED:
        head, operands = form.split(" ", 1) if " " in form else (form[:-1], ";")
        first, *words = head.split(".")
        yield form
        for at, to in itertools.permutations(range(len(words)), 2):
            moved = words[:at] + words[at + 1:]
            moved.insert(to, words[at])
            yield ".".join([first, *moved]) + (" " if operands != ";" else "") + operands
        for at in range(len(words)):
            yield ".".join([first, *words[:at], *words[at + 1:]]) + (" " if operands != ";" else "") + operands
            yield ".".join([first, *words[:at + 1], *words[at:]]) + (" " if operands != ";" else "") + operands
