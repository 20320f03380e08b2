# SPDX-License-Identifier: Apache-2.0
"""How far results of the corpus may be from what they ought to be: the errors that NVIDIA's manuals give.

A result is right if it has hardware's bits, or if it is NaN, infinite or zero where hardware's is, has its sign, and
lies within twice the bound of hardware's (which may be as far off on the other side). Where RIGHT knows the function,
it also has to be within the bound of that.
"""
import math
import struct

# Instructions: what the PTX manual says. ("relative", e), ("absolute", e), ("ulp", n) or, for lg2, relative outside [0.5, 2] and absolute inside.
BOUNDS = {
    "approx_rcp_f32": ("ulp", 1), "approx_rcp_ftz_f32": ("ulp", 1),
    "approx_sqrt_f32": ("relative", 2**-23), "approx_sqrt_ftz_f32": ("relative", 2**-23),
    "approx_rsqrt_f32": ("relative", 2**-22.9), "approx_rsqrt_ftz_f32": ("relative", 2**-22.9),
    "approx_sin_f32": ("angle", 0), "approx_sin_ftz_f32": ("angle", 0), "approx_cos_f32": ("angle", 0), "approx_cos_ftz_f32": ("angle", 0),
    "approx_lg2_f32": ("logarithm", 2**-22), "approx_lg2_ftz_f32": ("logarithm", 2**-22),
    "approx_ex2_f32": ("ulp", 2), "approx_ex2_ftz_f32": ("ulp", 2),
    "approx_tanh_f32": ("relative", 2**-11),
    "approx_div_f32": ("ulp", 2), "approx_div_ftz_f32": ("ulp", 2), "approx_div_full_f32": ("ulp", 2), "approx_div_full_ftz_f32": ("ulp", 2),
    "approx_rcp_ftz_f64": ("relative", 2**-20), "approx_rsqrt_f64": ("relative", 2**-20), "approx_rsqrt_ftz_f64": ("relative", 2**-20),
    "approx_ex2_f16": ("relative", 2**-9.9), "approx_ex2_f16x2": ("relative", 2**-9.9),
    "approx_tanh_f16": ("absolute", 2**-10.987), "approx_tanh_f16x2": ("absolute", 2**-10.987),
    "approx_ex2_bf16": ("relative", 2**-7), "approx_ex2_bf16x2": ("relative", 2**-7),
    "approx_tanh_bf16": ("absolute", 2**-8), "approx_tanh_bf16x2": ("absolute", 2**-8),
}
# Functions of CUDA C++: errors in units of the last place, from the programming guide's tables.
ULPS = {
    "sinf": 2, "cosf": 2, "tanf": 4, "asinf": 2, "acosf": 2, "atanf": 2, "sinhf": 3, "coshf": 2, "tanhf": 2, "expf": 2, "exp2f": 2, "exp10f": 2, "expm1f": 1,
    "logf": 1, "log2f": 1, "log10f": 2, "log1pf": 1, "cbrtf": 1, "rsqrtf": 2, "sqrtf": 0, "erff": 2, "erfcf": 4, "rintf": 0, "roundf": 0, "floorf": 0,
    "truncf": 0, "powf": 4, "atan2f": 3, "fmodf": 0, "hypotf": 3, "fdimf": 0, "sin": 2, "cos": 2, "exp": 1, "log": 1, "atan": 2, "tanh": 2, "cbrt": 1,
    "rsqrt": 1, "erf": 2,
}
RIGHT = {
    "approx_rcp": lambda a: 1 / a, "approx_sqrt": math.sqrt, "approx_rsqrt": lambda a: 1 / math.sqrt(a), "approx_sin": math.sin, "approx_cos": math.cos,
    "approx_lg2": math.log2, "approx_ex2": lambda a: 2.0**a, "approx_tanh": math.tanh, "approx_div": lambda a, b: a / b,
}


def number(bits, kind):
    """The value of a float's bits."""
    if kind == "f64":
        return struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    if kind == "f16":
        return struct.unpack("<e", bits.to_bytes(2, "little"))[0]
    return struct.unpack("<f", (bits << 16 if kind == "bf16" else bits).to_bytes(4, "little"))[0]


def last_place(value, kind):
    digits, least = {"f64": (52, -1074), "f32": (23, -149), "f16": (10, -24), "bf16": (7, -133)}[kind]
    return 2.0 ** max((math.frexp(value)[1] - 1 - digits) if value else least, least)


def allowed(bound, operands, value, kind):
    """How far from `value` a result may be."""
    how, much = bound
    if how == "ulp":
        return much * last_place(value, kind)
    if how == "angle":
        return 2**-20.5 if abs(operands[0]) <= math.pi else 2**-14.7 if abs(operands[0]) <= 100 * math.pi else math.inf
    if how == "logarithm":
        return much * (1 if 0.5 < operands[0] < 2 else abs(value))
    if how == "relative":
        # The result is rounded besides.
        return max(much * abs(value), last_place(value, kind))
    return max(much, last_place(value, kind) / 2)


def kind_of(name):
    if name.startswith("math_"):
        return "f32" if name.endswith("f") and name != "math_erf" else "f64"
    return name.rpartition("_")[2].removesuffix("x2")


def parts(text, name):
    """[(operands, result)] as bits, of what the program printed for one thread."""
    whole = int(text, 16)
    if name.endswith("x2"):
        return [([whole & 0xffff], whole >> 32 & 0xffff), ([whole >> 16 & 0xffff], whole >> 48)]
    width = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16}[kind_of(name)]
    mask = (1 << width) - 1
    if len(text) * 4 > 2 * width:
        return [([whole & mask, whole >> width & mask], whole >> 2 * width & mask)]
    return [([whole & mask], whole >> width & mask)]


def right_for(name, operands, kind):
    """What mathematics says, or None where that is no finite number or where the manual promises nothing."""
    function = RIGHT.get(name.split("_f")[0].split("_bf")[0].replace("_full", ""))
    if not function:
        return None
    if "_ftz" in name or "div" in name:
        if any(0 < abs(operand) < 2**-126 for operand in operands) and kind == "f32":
            return None
    if "div" in name and "full" not in name and not 2**-126 <= abs(operands[1]) <= 2**126:
        return None
    try:
        value = function(*operands)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    least = {"f64": 2**-1022, "f32": 2**-126, "f16": 2**-14, "bf16": 2**-126}[kind]
    most = {"f64": 1.7e308, "f32": 3.4e38, "f16": 65504, "bf16": 3.38e38}[kind]
    return value if math.isfinite(value) and least <= abs(value) <= most else None


def differs_one(name, kind, operands, hardware, here):
    if hardware == here:
        return None
    bound = BOUNDS.get(name) or ("ulp", ULPS[name.removeprefix("math_")])
    numbers = [number(bits, kind) for bits in operands]
    wanted, got = number(hardware, kind), number(here, kind)
    said = f"{name}({', '.join(f'{bits:#x} = {value!r}' for bits, value in zip(operands, numbers))}): {here:#x} = {got!r}, on hardware {hardware:#x} = {wanted!r}"
    if math.isnan(wanted) or math.isnan(got):
        return None if math.isnan(wanted) and math.isnan(got) else said
    if math.isinf(wanted) or math.isinf(got):
        return said
    if abs(got - wanted) > 2 * allowed(bound, numbers, wanted, kind):
        return said
    if math.copysign(1, wanted) != math.copysign(1, got) and bound[0] not in ("angle", "absolute"):
        return said
    if all(map(math.isfinite, numbers)):
        right = right_for(name, numbers, kind)
        if (
            right is not None
            and abs(got - right) > allowed(bound, numbers, right, kind) + last_place(right, kind) / 2
            and abs(got - right) > abs(wanted - right)
        ):
            return f"{said}, by right {right!r}"
    return None


def differs(name, hardware, here):
    """None if all results are right, else the first that isn't; both are what the program printed."""
    first, second = hardware.strip(",").split(","), here.strip(",").split(",")
    if len(first) != len(second):
        return f"{len(second)} results, {len(first)} on hardware"
    kind = kind_of(name)
    for one, other in zip(first, second):
        if one != other:
            for (operands, wanted), (same, got) in zip(parts(one, name), parts(other, name)):
                if operands != same:
                    return f"another operand, {same} for {operands}"
                message = differs_one(name, kind, operands, wanted, got)
                if message:
                    return message
    return None
