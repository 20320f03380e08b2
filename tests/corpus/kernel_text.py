# SPDX-License-Identifier: Apache-2.0
"""Parts of the kernels that forms.py and memory_forms.py make: the operands of a thread, what fills registers, and what
folds results into numbers."""
import re

THREADS = 2048
# Members of struct corpus_input: name, PTX type, bytes.
MEMBERS = (("i64", "b64", 8), ("f64", "f64", 8), ("i32", "b32", 4), ("f32", "f32", 4), ("f16x2", "b32", 4), ("bf16x2", "b32", 4), ("i16", "b16", 2), ("f16", "b16", 2),
           ("bf16", "b16", 2))
REGISTER = r"\b(?:rd|h[fsuh]|[su]d|[phrsfdqu])\d+\b"
TYPES = {"hf": "f16", "hs": "s16", "hu": "u16", "hh": "f16x2", "sd": "s64", "ud": "u64", "u": "u32", "p": "pred", "h": "b16", "r": "b32", "s": "s32", "f": "f32", "rd": "b64", "d": "f64", "q": "b128"}
# Masks that leave few bits of each element of a product's factors, and what is then set in them.
FACTORS = {"f16": (0x83c083c0, 0x3c003c00), "bf16": (0x80708070, 0x3f803f80), "e4m3": (0x87878787, 0x38383838), "e5m2": (0x83838383, 0x3c3c3c3c)}
SHORT = (0x82008200, 0x3c003c00)
PROLOGUE = """.visible .entry {name}(.param .u64 in, .param .u64 out, .param .u64 scratch, .param .u32 n)
{{
.reg .b32 %i, %j, %k; .reg .b64 %in, %out, %at, %fold<4>, %x, %y; .reg .pred %nan;
{registers}
mov.u32 %i, %ctaid.x; mov.u32 %j, %ntid.x; mov.u32 %k, %tid.x; mad.lo.u32 %i, %i, %j, %k;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out;
mov.u64 %fold0, 1; mov.u64 %fold1, 2; mov.u64 %fold2, 3; mov.u64 %fold3, 4;
"""
EPILOGUE = """mad.wide.u32 %out, %i, 32, %out;
st.global.v2.u64 [%out], {{%fold0, %fold1}}; st.global.v2.u64 [%out+16], {{%fold2, %fold3}};
ret;
}}
"""


def loads():
    """The operands of the thread: %i64_0 and so on."""
    registers, text, offset = [], [], 0
    for name, kind, size in MEMBERS:
        registers.append(f".reg .{kind} %{name}_<3>;")
        text.append(f"mad.wide.u32 %at, %i, {size}, %in;")
        for operand in range(3):
            text.append(f"ld.global.{kind} %{name}_{operand}, [%at+{offset}];")
            offset += THREADS * size
    return " ".join(registers), "\n".join(text) + "\n"


def fill(register, form):
    """Statements that give a register of a form its contents."""
    letters, number = re.fullmatch(r"([a-z]+)(\d+)", register).groups()
    words, operand = form.split()[0].split("."), (int(number) + 1) % 3
    product = words[0] == "mma"
    kinds = [word for word in words[1:] if word in FACTORS or word in ("tf32", "f64", "f32", "f16x2", "bf16x2")]
    if letters == "p":
        return f"setp.lt.s32 {register}, %i32_{operand}, %i32_{(operand + 1) % 3};"
    if letters in ("h", "hf", "hs", "hu"):
        kind = next((word for word in reversed(words) if word in ("f16", "bf16")), "i16")
        return f"mov.b16 {register}, %{kind}_{operand};"
    if letters in ("r", "s", "u", "hh"):
        kind = next((word for word in reversed(words) if word in ("f16x2", "bf16x2")), "i32")
        if words[0] in ("shfl", "vote", "match", "redux", "elect") and number == "5":
            return f"mov.b32 {register}, -1;"
        if words[0] in ("div", "rem") and number == "3":
            return f"or.b32 {register}, %i32_{operand}, 1;"
        text = f"mov.b32 {register}, %{kind}_{operand};"
        if product:
            text = f"mad.lo.u32 {register}, %i32_{operand}, {0x9e3779b1 + 2 * int(number)}, %i32_{(operand + 1) % 3};"
            short = "f16" in (words[-4], words[-1]) and words[-3] == "f16"
            if kinds and kinds[-2 if len(kinds) > 2 else 0] == "tf32":
                text += f" shr.u32 {register}, {register}, 9; and.b32 {register}, {register}, 255; sub.s32 {register}, {register}, 128; {{ .reg .f32 t; cvt.rn.f32.s32 t, {register}; mov.b32 {register}, t; }}"
            elif words[-2] in FACTORS or words[-3] in FACTORS:
                keep, set_ = SHORT if short else FACTORS[words[-3]] if words[-3] in FACTORS else FACTORS[words[-2]]
                text += f" and.b32 {register}, {register}, {keep}; or.b32 {register}, {register}, {set_};"
        return text
    if letters == "f":
        if product:
            return f"{{ .reg .b32 t; shr.u32 t, %i32_{operand}, 3; and.b32 t, t, 255; sub.s32 t, t, {100 + int(number)}; cvt.rn.f32.s32 {register}, t; }}"
        return f"mov.f32 {register}, %f32_{operand};"
    if letters == "d":
        if product:
            return f"{{ .reg .b32 t; shr.u32 t, %i32_{operand}, 3; and.b32 t, t, 255; sub.s32 t, t, {100 + int(number)}; cvt.rn.f64.s32 {register}, t; }}"
        return f"mov.f64 {register}, %f64_{operand};"
    if letters == "q":
        return f"mov.b128 {register}, {{%i64_{operand}, %i64_{(operand + 1) % 3}}};"
    if words[0] in ("div", "rem") and number == "3":
        return f"or.b64 {register}, %i64_{operand}, 1;"
    return f"mov.b64 {register}, %i64_{operand};"


def fold(register, into):
    letters = re.match("[a-z]+", register).group()
    value = {"hf": f"{{ .reg .b16 t; mov.b16 t, {register}; cvt.u64.u16 %x, t; }}", "hh": f"{{ .reg .b32 t; mov.b32 t, {register}; cvt.u64.u32 %x, t; }}",
             "hs": f"cvt.u64.u16 %x, {register};", "hu": f"cvt.u64.u16 %x, {register};", "u": f"cvt.u64.u32 %x, {register};", "sd": f"mov.b64 %x, {register};",
             "ud": f"mov.b64 %x, {register};", "p": f"selp.u64 %x, 1, 0, {register};", "h": f"cvt.u64.u16 %x, {register};", "r": f"cvt.u64.u32 %x, {register};", "s": f"cvt.u64.u32 %x, {register};",
             "f": f"{{ .reg .b32 t; mov.b32 t, {register}; cvt.u64.u32 %x, t; }}", "rd": f"mov.b64 %x, {register};",
             "d": f"setp.nan.f64 %nan, {register}, {register}; mov.b64 %x, {register}; selp.b64 %x, 0x7ff8000000000000, %x, %nan;",
             "q": f"mov.b128 {{%x, %y}}, {register}; mad.lo.u64 %x, %y, 31, %x;"}[letters]
    return f"{value} mad.lo.u64 {into}, {into}, 0x100000001b3, %x;"
