# SPDX-License-Identifier: Apache-2.0
"""Kernels of forms that touch memory: loads, stores, atomics.  async_forms.py has copies, barriers and matrices.

A thread has 128 bytes of its own in each space.  A form finds numbers there, and what it leaves is folded into the
results beside its registers.  Where the address is generic, the space that it means goes round with the forms.  Atomics
run on words of a whole block, too, and on words of the whole grid, with operands for which the order does not matter.
"""
import re

from kernel_text import EPILOGUE, PROLOGUE, REGISTER, TYPES, fill, fold, loads

SLOT, BLOCK, THREADS = 128, 128, 2048
PLACES = ("global", "shared", "local", "const", "param", "input")
# The thread's place in each space, as an address in that space.
BASES = {"global": "%gs", "shared": "%ss", "local": "%ls", "const": "%cs", "param": "%ps", "input": "%is"}
PREFIX = {"input": "global", "shared": "shared", "global": "global", "local": "local", "const": "const", "param": "param"}
SETUP = """.local .align 16 .b8 lv[64]; .reg .b64 %gs, %ss, %ls, %cs, %ps, %is, %mb, %z; .reg .b32 %s32, %mb32, %t, %u; .reg .pred %p, %first;
mov.u64 %gs, gm; mad.wide.u32 %gs, %i, 128, %gs; mov.u64 %ss, sm; mad.wide.u32 %ss, %k, 128, %ss; cvt.u32.u64 %s32, %ss; mov.u64 %ls, lv;
mov.u64 %cs, cm; and.b32 %t, %i, 127; mad.wide.u32 %cs, %t, 16, %cs; mov.u64 %ps, more; and.b32 %t, %i, 3; mad.wide.u32 %ps, %t, 16, %ps; mad.wide.u32 %is, %i, 16, %in;
add.u64 %mb, %ss, 64; cvt.u32.u64 %mb32, %mb; setp.eq.u32 %first, %k, 0;
"""


def noise(count, state=2026):
    for _ in range(count):
        state = (state + 0x9e3779b97f4a7c15) % 2**64
        z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9 % 2**64
        z = (z ^ z >> 27) * 0x94d049bb133111eb % 2**64
        yield z ^ z >> 31


def variables():
    """What a module of such kernels declares."""
    numbers = ", ".join(map(str, noise(BLOCK * 2)))
    return f".global .align 16 .b8 gm[{THREADS * SLOT}];\n.global .align 16 .b8 gw[{THREADS // BLOCK * 16}];\n.shared .align 16 .b8 sm[{BLOCK * SLOT}];\n" \
        f".shared .align 16 .b8 sw[32];\n.const .align 16 .b64 cm[{BLOCK * 2}] = {{{numbers}}};\n"


def kernel(name, body, cluster=False, setup=""):
    registers, text = loads()
    head = PROLOGUE.format(name=name, registers=registers)
    head = head.replace(".param .u32 n)", ".param .u32 n, .param .align 16 .b8 more[64])" + (" .explicitcluster .reqnctapercluster 1" if cluster else ""))
    return head + text + SETUP + setup + body + EPILOGUE.format()


# ---- Places ----

def member(kind):
    """The operands that hold numbers of a type, and how many bytes each has."""
    if kind in ("f16", "f16x2", "bf16", "bf16x2"):
        return kind.removesuffix("x2") + "x2", 4
    bits = int(re.search(r"\d+", kind).group())
    letter = "f" if kind[0] == "f" else "i"
    return (f"{letter}64", 8) if bits >= 64 else (f"{letter}32", 4)


def filled(space, base, kind, shift=2):
    """Statements that put numbers of a type into the first 32 bytes of a place."""
    name, size = member(kind)
    own = {"i64": "b64", "f64": "f64", "f32": "f32"}.get(name, "b32")
    each = 16 // size
    return " ".join(f"st.{space}.v{each}.{own} [{base}+{part * 16}], {{{', '.join(f'%{name}_{(part * each + i + shift + (part if size == 8 else 0)) % 3}' for i in range(each))}}};"
                    for part in range(2))


def folded(space, base, into, kind="b64", count=32):
    """Statements that fold what a place holds; of doubles all NaNs are one."""
    text = []
    for at in range(0, count, 16):
        if kind == "f64":
            text.append(f"{{ .reg .f64 d0, d1; ld.{space}.v2.f64 {{d0, d1}}, [{base}+{at}]; {fold('d0', into)} {fold('d1', into)} }}")
        else:
            text.append(f"ld.{space}.v2.b64 {{%y, %z}}, [{base}+{at}]; mad.lo.u64 {into}, {into}, 0x100000001b3, %y; mad.lo.u64 {into}, {into}, 0x100000001b3, %z;")
    return "\n".join(text)


def address(register, base, generic=None):
    """Statements that put an address into a register of either size."""
    if generic:
        return f"cvta.{generic}.u64 {register}, {base};"
    return f"mov.b64 {register}, {base};" if register.startswith("rd") else f"cvt.u32.u64 {register}, {base};"


def parts(form):
    """Words of the name, registers, those that hold addresses, those that get results."""
    head, _, operands = form.rstrip(";").partition(" ")
    found = re.findall(REGISTER, operands)
    inside = re.findall(r"\[(\w+)\]", operands)
    first = re.match(r"\{[^}]*\}|[^,]*", operands).group()
    results = [] if first.startswith("[") else re.findall(REGISTER, first)
    return head.split("."), list(dict.fromkeys(found)), inside, results


def declared(registers):
    return " ".join(f".reg .{TYPES[re.match('[a-z]+', register).group()]} {register};" for register in registers)


def prepared(register, form):
    """What fills a register that holds no address."""
    if "L2::cache_hint" in form and register == form.rstrip(";").rpartition(",")[2]:
        return f"createpolicy.fractional.L2::evict_first.b64 {register};"
    return fill(register, form)


def assembled(form, into, before, after, opaque=False):
    """A form between what goes before and what comes after it; its results are folded unless their bits mean nothing to
    others."""
    _, registers, inside, results = parts(form)
    lines = [f"// {form}", "{ " + declared(registers), *[prepared(register, form) for register in registers if register not in inside]]
    return "\n".join(lines + before + [form] + [fold(register, into) for register in results if not opaque] + after) + "\n}\n"


# ---- Loads, stores, atomics of a thread's own place ----

def spaces_of(form, words):
    """Where a form may go: its own space, or those that a generic address may mean."""
    own = next((word.partition("::")[0] for word in words if word.partition("::")[0] in PREFIX.values()), None)
    if words[0] == "ldu" or "nc" in words:
        return ("const",) if own == "const" else ("input",), own is None
    if own:
        return (own,), False
    if "L2" in form or "L1" in form or "mmio" in words or (words[0] in ("atom", "red") and {"v2", "v4", "v8"} & set(words)):
        return ("global",), True
    plain = not {"volatile", "relaxed", "acquire", "release", "acq_rel"} & set(words)
    if words[0] in ("atom", "red") or not plain:
        return ("global", "shared"), True
    return ("global", "shared", "local") + (("const", "param") if words[0] == "ld" and not {"ca", "cg", "cs", "lu", "cv"} & set(words) else ()), True


def kind_of(words):
    return next(word for word in reversed(words) if re.fullmatch(r"(?:bf|[usbf])\d+(?:x2)?", word))


def access(form, into, place, generic):
    words, _, inside, _ = parts(form)
    space, base, atomic = PREFIX[place], BASES[place], words[0] in ("atom", "red")
    kind = kind_of(words)
    before = [address(inside[0], base, space if generic else None)]
    if place in ("global", "shared", "local"):
        before.insert(0, filled(space, base, kind if atomic else "b64"))
    return assembled(form, into, before, [folded(space, base, into, kind if atomic else "b64")] if words[0] in ("st", "atom", "red") else [])


# ---- Atomics of many threads ----

CONTENDED = {"b16": 16, "u32": 32, "s32": 32, "b32": 32, "u64": 64, "s64": 64, "b64": 64, "f32": 32, "f64": 64, "f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32}
SMALL = {"f32": "{{ .reg .b32 t; and.b32 t, %k, 63; sub.s32 t, t, 20; cvt.rn.f32.s32 {0}, t; }}", "f64": "{{ .reg .b32 t; sub.s32 t, %k, 20; cvt.rn.f64.s32 {0}, t; }}",
         "f16": "{{ .reg .b32 t; .reg .f32 f; and.b32 t, %k, 1; cvt.rn.f32.u32 f, t; cvt.rn.f16.f32 {0}, f; }}",
         "bf16": "{{ .reg .b32 t; .reg .f32 f; and.b32 t, %k, 1; cvt.rn.f32.u32 f, t; cvt.rn.bf16.f32 {0}, f; }}",
         "f16x2": "{{ .reg .b32 t; and.b32 t, %k, 3; mul.lo.u32 t, t, 0x2000; and.b32 t, t, 0x6000; shl.b32 t, t, 1; and.b32 t, t, 0x4000; or.b32 {0}, t, 0x3c000000; }}",
         "bf16x2": "{{ .reg .b32 t; and.b32 t, %k, 1; mul.lo.u32 t, t, 0x3f80; or.b32 {0}, t, 0x3f800000; }}"}


def is_contended(form):
    words, _, _, _ = parts(form)
    return words[0] in ("atom", "red") and not {"v2", "v4", "v8"} & set(words) and kind_of(words) in CONTENDED


def values(form, words, kind, registers):
    """Operands for which the order of threads does not matter."""
    if kind in SMALL:
        return [SMALL[kind].format(register) for register in registers]
    suffix = "16" if kind == "b16" else kind[1:]
    if "cas" in words:
        return [f"mov.b{suffix} {registers[0]}, 77;", f"mov.b{suffix} {registers[1]}, 99;"]
    if "inc" in words or "dec" in words:
        return [f"mov.b{suffix} {register}, 77;" for register in registers]
    return [f"mov.b{suffix} {register}, %i{suffix}_1;" for register in registers]


def contended(form, into, place, generic, at):
    """All threads of a block on one word, which the first has filled; returned values are summed up where their sum
    says something."""
    words, registers, inside, results = parts(form)
    kind, space = kind_of(words), PREFIX[place]
    operands = [register for register in registers if register not in inside and register not in results]
    start = {"cas": "77"}.get(next((word for word in words if word in ("cas",)), ""), None)
    own = "b16" if CONTENDED[kind] == 16 else f"b{CONTENDED[kind]}"
    word = "sw" if space == "shared" else "%at"
    lines = [f"// {form}", "{ " + declared(registers) + " .reg .b64 sum; .reg .b16 h99; .reg .b32 r99; .reg .b64 rd99;"]
    if space == "global":
        lines.append("{ .reg .b32 t; mov.u32 t, %ctaid.x; mov.u64 %at, gw; mad.wide.u32 %at, t, 16, %at; }")
    lines.append(address(inside[0], word, space if generic else None) if word == "%at" or generic else f"mov.b{64 if inside[0].startswith('rd') else 32} {inside[0]}, sw;")
    if generic and space == "shared":
        lines[-1] = f"mov.u64 %z, sw; cvta.shared.u64 {inside[0]}, %z;"
    number = {"b16": "h99", "b32": "r99", "b64": "rd99"}[own]
    first = "0" if kind in SMALL else start or f"%i{own[1:]}_0"
    lines += [f"mov.{own} {number}, {first};", "bar.sync 0;", f"@%first st.{space}.{own} [{word}], {number}; @%first st.shared.u64 [sw+16], 0;", "bar.sync 0;"]
    lines += values(form, words, kind, operands) + [form]
    summed = results and {"exch", "inc", "dec", "cas"} & set(words)
    if summed:
        wide = {"h": "cvt.u64.u16", "r": "cvt.u64.u32"}.get(results[0][0] if not results[0].startswith("rd") else "", "mov.b64")
        lines.append(f"{wide} sum, {results[0]}; red.shared.add.u64 [sw+16], sum;")
    lines += ["bar.sync 0;", f"ld.{space}.{own} {number}, [{word}];"]
    if summed:
        wide = {"b16": "cvt.u64.u16", "b32": "cvt.u64.u32", "b64": "mov.b64"}[own]
        lines.append(f"{wide} sum, {number}; ld.shared.u64 %x, [sw+16]; add.u64 sum, sum, %x; mad.lo.u64 {into}, {into}, 0x100000001b3, sum;")
    if not (summed and "exch" in words):
        lines.append(fold(number, into))
    lines.append("}")
    if space == "global" and CONTENDED[kind] >= 32:
        # The word of the whole grid, zero at first, is hashed behind the kernel.
        lines += ["{ " + declared(registers), f"ld.param.u64 %at, [scratch]; {'' if generic else 'cvta.to.global.u64 %at, %at; '}add.u64 {inside[0]}, %at, {at};"]
        lines += [line.replace(", 77;", ", 0;") if "cas" in words else line for line in values(form, words, kind, operands)]
        if "exch" in words:
            lines += [f"mov.b{CONTENDED[kind]} {register}, 5;" for register in operands]
        if kind == "f16x2" or kind == "bf16x2":
            lines += [f"and.b32 {register}, {register}, 0xffff; setp.lt.u32 %p, %i, 64; selp.b32 {register}, {register}, 0, %p;" for register in operands]
        lines += [form, "}"]
    return "\n".join(lines) + "\n"


def drawn(texts):
    """(group, function that makes a block) of forms of ld, ldu, st, atom and red."""
    for turn, form in enumerate(texts):
        words = parts(form)[0]
        if words[0] not in ("ld", "ldu", "st", "atom", "red") or "param::func" in words:
            continue
        places, generic = spaces_of(form, words)
        place = places[turn % len(places)]
        group = words[0] + "_" + ("generic" if generic else place) + ("_cluster" if "cluster" in form else "")
        yield group, lambda into, _, form=form, place=place, generic=generic: access(form, into, place, generic)


def drawn_contended(texts):
    for form in texts:
        words = parts(form)[0]
        if not is_contended(form) or {"relaxed", "acquire", "release", "acq_rel"} & set(words):
            continue
        places, generic = spaces_of(form, words)
        for place in places:
            group = words[0] + "_contended_" + ("generic_" if generic else "") + place
            yield (
                group,
                lambda into, at, form=form, place=place, generic=generic: contended(
                    form, into, place, generic, at * 16
                ),
            )
