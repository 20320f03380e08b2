# SPDX-License-Identifier: Apache-2.0
"""Kernels of forms whose address is a variable, an element of one, or a register with an offset, and of those that take
memory from the stack.

Variables are of a block or of all blocks, so one thread of each block works on those in shared memory, and one of the
grid on those in global memory; the others have every thread.
"""
import re

from kernel_text import fold
from memory_forms import BASES, PREFIX, address, assembled, declared, filled, folded, kind_of, parts, prepared

NAMES = {"gv": "vg", "gw": "vgw", "sv": "vs", "sw": "vsw", "cv": "vc", "cw": "vcw", "lv": "vl", "lw": "vlw", "ps": "more"}
SPACES = {"g": "global", "s": "shared", "c": "const", "l": "local", "p": "param"}
SIZE = 64
SETUP = f".local .align 16 .b8 vl[{SIZE}]; .local .align 16 .b32 vlw[{SIZE // 4}]; .reg .pred %one, %alone; setp.eq.u32 %one, %k, 77; setp.eq.u32 %alone, %i, 205;\n"


def variables():
    bytes_ = ", ".join(str(7 * i % 256) for i in range(SIZE))
    words = ", ".join(str(0x9e3779b9 * (i + 1) % 2**32) for i in range(SIZE // 4))
    return f".global .align 16 .b8 vg[{SIZE}]; .global .align 16 .b32 vgw[{SIZE // 4}];\n.shared .align 16 .b8 vs[{SIZE}]; .shared .align 16 .b32 vsw[{SIZE // 4}];\n" \
        f".const .align 16 .b8 vc[{SIZE}] = {{{bytes_}}};\n.const .align 16 .b32 vcw[{SIZE // 4}] = {{{words}}};\n"


def offset_of(text):
    """How far an address is behind what it names, in bytes or elements."""
    number = re.sub(r"\b0(\d+)\b", r"0o\1", text.replace("U", ""))
    return eval(number, {"__builtins__": {}}) if number else 0


def bits_of(words):
    kind = kind_of(words)
    return int(re.search(r"\d+", kind).group()) * (2 if kind.endswith("x2") else 1)


def named(form):
    """Which variable a form names, and where in it."""
    return re.search(r"\[(gv|gw|sv|sw|cv|cw|lv|lw|ps)\b([^\]]*)\]", form) or re.search(r"\b(gw|sw|cw|lw|ps)\[([^\]]*)\]", form)


def at_variable(form, into):
    """A form whose address names a variable; None if it would leave it, or lie askew."""
    words, _, _, _ = parts(form)
    found = named(form)
    name, inside = found.groups()
    at = offset_of(inside) * (1 if found.group().startswith("[") or name == "ps" else 4)
    count = next((int(word[1:]) for word in words if re.fullmatch(r"v\d", word)), 1)
    size = bits_of(words) // 8 * count
    if at % size or at < 0 or at + size > SIZE:
        return None
    space, name = SPACES[name[0]], NAMES[name]
    form = re.sub(r"\b(" + "|".join(NAMES) + r")\b", lambda one: NAMES[one.group()], form)
    kind = kind_of(words) if words[0] in ("atom", "red") else "b64"
    before, after = [], []
    if space in ("global", "shared", "local"):
        before = [filled(space, name, kind), filled(space, f"{name}+32", kind, 1)]
        after = [folded(space, name, into, kind, SIZE)] if words[0] != "ld" else []
    if space in ("global", "shared"):
        before.insert(0, f"@!{'%one' if space == 'shared' else '%alone'} bra over;")
        after.append("over:")
    return f"{{\n{assembled(form, into, before, after)}}}\n"


def at_register(form, into):
    """A register with an offset, which is set so that both together are 16 bytes into the thread's place."""
    words, registers, _, results = parts(form)
    register, inside = re.search(r"\[(\w+)([^\]]*)\]", form).groups()
    own = next((word.partition("::")[0] for word in words if word.partition("::")[0] in PREFIX.values()), None)
    space = own or "global"
    base = BASES["const" if space == "const" else space]
    if space == "param" or (register[0] == "r" and register[1] != "d" and space == "global"):
        return None
    lines = [f"// {form}", "{ " + declared(registers), *[prepared(one, form) for one in registers if one != register]]
    if space in ("global", "shared", "local"):
        lines.append(filled(space, base, "b64"))
    least = -offset_of(inside) + (0 if space == "const" else 16)
    lines += [address(register, base, None if own else space), f"add.s{64 if register[1] == 'd' else 32} {register}, {register}, {least};", form, *[fold(one, into) for one in results]]
    if words[0] != "ld":
        lines.append(folded(space, base, into))
    return "\n".join(lines) + "\n}\n"


def from_stack(form, into):
    """alloca, stacksave and stackrestore: what is stored there is found again, and the address is aligned."""
    words, registers, _, results = parts(form)
    bits = re.search(r"\d+", words[1]).group()
    base = results[0] if results else None
    lines = [f"// {form}", "{ " + declared(registers)]
    if words[0] == "stackrestore":
        own = registers[0]
        lines += [f"stacksave.u{bits} {own};", "{ " + f".reg .b{bits} a; alloca.u{bits} a, 64; {filled('local', 'a', 'b64')} {folded('local', 'a', into)} }}", form,
                  f"{{ .reg .b{bits} a; alloca.u{bits} a, 64; st.local.u32 [a+60], %i; ld.local.u32 %t, [a+60]; cvt.u64.u32 %x, %t; {fold('rd0', into).replace('rd0', '%x')} }}"]
        return "\n".join(lines) + "\n}\n"
    lines += [f"mov.b{bits} {register}, 48;" for register in registers if register not in results]
    lines.append(form)
    if words[0] == "stacksave":
        lines.append(f"{{ .reg .b{bits} a; alloca.u{bits} a, 64; {filled('local', 'a', 'b64')} {folded('local', 'a', into)} }} stackrestore.u{bits} {base};")
        return "\n".join(lines) + "\n}\n"
    align = 32 if ",32;" in form else 8
    lines += [f"st.local.v2.b64 [{base}], {{%i64_0, %i64_1}};" if align > 8 else f"st.local.b64 [{base}], %i64_0; st.local.b64 [{base}+8], %i64_1;",
              f"{{ .reg .b{bits} a; and.b{bits} a, {base}, {align - 1}; cvt.u64.u{bits} %x, a; {fold('rd0', into).replace('rd0', '%x')} }}" if bits == "32" else
              f"and.b64 %x, {base}, {align - 1}; {fold('rd0', into).replace('rd0', '%x')}",
              f"ld.local.b64 %x, [{base}]; {fold('rd0', into).replace('rd0', '%x')} ld.local.b64 %x, [{base}+8]; {fold('rd0', into).replace('rd0', '%x')}"]
    return "\n".join(lines) + "\n}\n"


def drawn(texts):
    for form in texts:
        words, _, _, _ = parts(form)
        if words[0] in ("alloca", "stacksave", "stackrestore"):
            yield "stack", lambda into, _, form=form: from_stack(form, into)
        elif re.search(r"\[(?:rd|r)8[+-]", form):
            far = max(abs(offset_of(re.search(r"\[r?d?8?([^\]]*)\]", form).group(1).removeprefix("8"))), 0) > 4096
            yield words[0] + ("_far" if far else "_offset") + ("_cluster" if "cluster" in form else ""), lambda into, _, form=form: at_register(form, into)
        elif named(form):
            own = next((word.partition("::")[0] for word in words if word.partition("::")[0] in PREFIX.values()), "generic")
            group = f"{words[0]}_named_{own}_{SPACES[named(form).group(1)[0]]}"
            yield group + ("_cluster" if "cluster" in form else ""), lambda into, _, form=form: at_variable(form, into)
