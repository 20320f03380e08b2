# SPDX-License-Identifier: Apache-2.0
"""The exported wrappers, the refusing stubs and the linker's version script."""

from .calls import has_struct
from .table import TableError
from .text import GENERATED, wrap_call

PROLOGUE = """/* SPDX-License-Identifier: Apache-2.0 */
/* {generated}
 *
 * Every ELF symbol of libcuda. A wrapper leaves the function's name for messages (base/call.h), looks at the
 * driver's state and calls the hand-written mr_<SYMBOL> in a visit (base/visit.h), so that what a handle leads to
 * stays what it is for as long as the call lasts. A function that is not implemented checks what hardware checks
 * first (state, context, handles) and answers CUDA_ERROR_NOT_SUPPORTED. Functions that might disturb a stream
 * capture ask first whether they may. Where an observer is told of calls (api/observed.h), mr_observed_<SYMBOL> calls
 * the wrapper once more, by its name in this file (mr_own_<SYMBOL>). */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

#include "observe/interop_types.h"
#include "api/observed.h"
#include "api/stub.h"
#include "api_impl.h"
#include "base/call.h"
#include "base/visit.h"
#include "capture/capture.h"
#include "observe/calls.h"

#define MR_EXPORT __attribute__((visibility("default")))

/* The interop functions have no public prototype here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
"""

def _observed_call(elf, symbol):
    """Where the wrapper finds that an observer is to be told, in the branch that calls hardly ever take."""
    call = f"mr_observed_{elf}({', '.join(p.name for p in symbol.params)})"
    return ["        if (mr_observed_outer()) {", f"            return {call};", "        }"]


def _unless_ready(elf, symbol, refusal):
    return (["    if (__builtin_expect(!mr_driver_ready(), 0)) {"] + _observed_call(elf, symbol) +
            ["        if (!mr_driver_open()) {"] + refusal + ["        }", "    }"])


def _end_check(elf, symbol):
    """What may be called before cuInit is refused as well once the process ends."""
    return (["    if (__builtin_expect(mr_driver_past_ready(), 0)) {"] + _observed_call(elf, symbol) +
            ["        if (mr_driver_ended()) {", "            return mr_driver_refuse();", "        }", "    }"])


def _arguments(symbol, per_thread, before):
    """The call's arguments; appends statements that have to run before to `before`."""
    args = []
    mapped = False
    for param in symbol.params:
        if per_thread and param.is_stream:
            args.append(f"{param.name} == NULL ? CU_STREAM_PER_THREAD : {param.name}")
            mapped = True
        elif per_thread and param.type == "const CUlaunchConfig *":
            before += ["    CUlaunchConfig mr_config;",
                       f"    if ({param.name} != NULL && {param.name}->hStream == NULL) {{",
                       f"        mr_config = *{param.name};",
                       "        mr_config.hStream = CU_STREAM_PER_THREAD;",
                       f"        {param.name} = &mr_config;", "    }"]
            args.append(param.name)
            mapped = True
        elif per_thread and param.type == "CUDA_GRAPH_INSTANTIATE_PARAMS *":
            # The call's answers go into the same struct, so that it can't be a copy.
            call = ", ".join(p.name for p in symbol.params)
            before += [f"    if ({param.name} != NULL && {param.name}->hUploadStream == NULL) {{",
                       "        uint64_t mr_outer = mr_visit_begin();",
                       "        CUresult mr_status;",
                       f"        {param.name}->hUploadStream = CU_STREAM_PER_THREAD;",
                       f"        mr_status = mr_{symbol.impl.elf}({call});",
                       f"        {param.name}->hUploadStream = NULL;",
                       "        mr_visit_end(mr_outer);"]
            before += [line.replace("mr_result", "mr_status").replace("    ", "        ", 1) for line in _reorder(symbol, per_thread)]
            before += ["        return mr_status;", "    }"]
            args.append(param.name)
            mapped = True
        else:
            args.append(param.name)
    if symbol.default_stream:
        args.append("CU_STREAM_PER_THREAD" if per_thread else "CU_STREAM_LEGACY")
        mapped = True
    if per_thread and not mapped:
        raise TableError(f"{symbol.elf}: its per-thread form has no stream that could be mapped")
    return args


def _naming(symbol):
    """Messages name the function, whichever of its forms was called."""
    return [f'    mr_call_name = "{symbol.function.name}";']


def _capture_check():
    """Refuses a call that might disturb a stream capture (src/capture/mode.c)."""
    return ["    if (mr_capture_open()) {",
            "        CUresult mr_permitted = mr_capture_permit();",
            "        if (mr_permitted != CUDA_SUCCESS) {",
            "            return mr_permitted;",
            "        }", "    }"]


# The hottest ones begin their visits themselves, which saves a frame.
OWN_VISITS = {"cuEventQuery", "cuEventSynchronize", "cuEventElapsedTime", "cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel"}
# Looks at nothing but what the thread holds itself.
NO_VISITS = {"cuCtxGetCurrent"}


def _visits(function):
    """Whether the wrapper begins a visit: the function may look at objects."""
    return (function.needs_init or function.name.startswith("cuIpc")) and function.name not in OWN_VISITS and function.name not in NO_VISITS


def _call(head, symbol, args):
    head = f"{head} mr_{symbol.impl.elf}"
    return (wrap_call(head, args) if args else head + "()") + ";"


# Handles that are looked up before the context is looked at.
ENDS_FIRST = {"MR_STUB_FUNCTION", "MR_STUB_MODULE", "MR_STUB_LIBRARY", "MR_STUB_KERNEL", "MR_STUB_LINK"}


def _rules(symbol, per_thread):
    """The table's `order` for this form: ("init", ""), ("context", "") or (condition in C, status). Of a parameter that
    the form lacks there is none, and a stream that is 0 is one where the default stream is the thread's own."""
    params = {p.name: p for p in symbol.params}
    rules = []
    for rule in symbol.order:
        if rule in ("init", "context"):
            rules.append((rule, ""))
            continue
        condition, _, status = rule.rpartition(" ")
        if condition.isidentifier():
            param = params.get(condition)
            if param is None or (per_thread and param.is_stream):
                continue
            condition = f"!{condition}"
            if param.handle_kind in ENDS_FIRST and status == "INVALID_HANDLE":
                condition = f"mr_stub_check_handle({param.name}, {param.handle_kind}) != CUDA_SUCCESS"
            if param.type == "CUdevice":
                condition = f"mr_stub_check_handle((const void *)(intptr_t){param.name}, MR_STUB_DEVICE) != CUDA_SUCCESS"
        rules.append((condition, "CUDA_SUCCESS" if status == "SUCCESS" else f"CUDA_ERROR_{status}"))
    return rules


def _state_check(elf, symbol, per_thread):
    """Refuses the call before cuInit, with what hardware complains of before it looks at that, and once the process
    ends."""
    rules = _rules(symbol, per_thread)
    before = rules[:rules.index(("init", ""))] if ("init", "") in rules else []
    if not symbol.function.needs_init:
        return _end_check(elf, symbol)
    if not before:
        return _unless_ready(elf, symbol, ["            return mr_driver_refuse();"])
    body = ["            CUresult mr_refused = mr_driver_refuse();"]
    for condition, status in before:
        body += [f"            if (mr_refused == CUDA_ERROR_NOT_INITIALIZED && ({condition})) {{", f"                return {status};", "            }"]
    return _unless_ready(elf, symbol, body + ["            return mr_refused;"])


def _reorder(symbol, per_thread):
    """What hardware complains of first, where a call has failed for its arguments or for want of a context."""
    rules = [r for r in _rules(symbol, per_thread) if r[0] != "init"]
    if not rules:
        return []
    body = ["    CUresult mr_lacks;",
            "    if (__builtin_expect(mr_result != CUDA_SUCCESS, 0) && mr_stub_reorder(mr_result, &mr_lacks)) {"]
    for number, (condition, status) in enumerate(rules):
        word = "if" if number == 0 else "} else if"
        if condition == "context":
            body += [f"        {word} (mr_lacks != CUDA_SUCCESS) {{", "            mr_result = mr_lacks;"]
        else:
            body += [f"        {word} ({condition}) {{", f"            mr_result = {status};"]
    return body + ["        }", "    }"]


def _wrapper_body(elf, symbol, per_thread):
    before = []
    args = _arguments(symbol, per_thread, before)
    body = _naming(symbol) + _state_check(elf, symbol, per_thread)
    if symbol.first_interface:
        body += ["    if (!mr_stub_first_interface()) {", "        return CUDA_ERROR_INVALID_CONTEXT;", "    }"]
    if symbol.function.unsafe_in_capture:
        body += _capture_check()
    body += before
    if not _visits(symbol.function):
        return body + [_call("    return", symbol, args)]
    return body + ["    uint64_t mr_outer = mr_visit_begin();", _call("    CUresult mr_result =", symbol, args),
                   "    mr_visit_end(mr_outer);"] + _reorder(symbol, per_thread) + ["    return mr_result;"]


def _stub_body(elf, symbol, per_thread):
    function = symbol.function
    body = _naming(symbol) + _state_check(elf, symbol, per_thread)
    if function.unsafe_in_capture:
        body += _capture_check()
    checks = []
    if function.needs_context:
        checks.append("mr_stub_check_context()")
    for param in symbol.params:
        if param.handle_kind == "MR_STUB_DEVICE":
            checks.append(f"mr_stub_check_handle((const void *)(intptr_t){param.name}, MR_STUB_DEVICE)")
        elif param.handle_kind:
            checks.append(f"mr_stub_check_handle({param.name}, {param.handle_kind})")
    if checks:
        body.append("    CUresult mr_status;")
        for check in checks:
            body += [f"    mr_status = {check};", "    if (mr_status != CUDA_SUCCESS) {",
                     "        return mr_status;", "    }"]
    checked = {p.name for p in symbol.params if p.handle_kind}
    body += [f"    (void){p.name};" for p in symbol.params if p.name not in checked]
    body.append(f"    return mr_stub_refuse(\"{symbol.elf}\");")
    return body


def observed_record(symbol, per_thread):
    """What tells an observer of a call, as statements before and after it: mr_call is the record. Parameters are told as
    the driver takes them."""
    before, values, after = [], [], []
    for param in symbol.params:
        value = param.name
        if per_thread and param.is_stream:
            value = f"{param.name} == NULL ? CU_STREAM_PER_THREAD : {param.name}"
        elif per_thread and param.type == "const CUlaunchConfig *":
            before += ["    CUlaunchConfig mr_config;", f"    if ({param.name} != NULL && {param.name}->hStream == NULL) {{",
                       f"        mr_config = *{param.name};", "        mr_config.hStream = CU_STREAM_PER_THREAD;",
                       f"        {param.name} = &mr_config;", "    }"]
        elif per_thread and param.type == "CUDA_GRAPH_INSTANTIATE_PARAMS *":
            before += [f"    bool mr_mapped = {param.name} != NULL && {param.name}->hUploadStream == NULL;", "    if (mr_mapped) {",
                       f"        {param.name}->hUploadStream = CU_STREAM_PER_THREAD;", "    }"]
            after += ["    if (mr_mapped) {", f"        {param.name}->hUploadStream = NULL;", "    }"]
        values.append(value)
    if symbol.default_stream:
        values.append("CU_STREAM_PER_THREAD" if per_thread else "CU_STREAM_LEGACY")
    own = symbol.impl.elf
    told = "NULL"
    if has_struct(symbol):
        told = "&mr_params"
        before += [f"    struct mr_params_{own} mr_params = {{{', '.join(values) or '0'}}};"]
    form = ", .per_thread = true" if per_thread else ""
    before += [f"    struct mr_observed_call mr_call = {{.call = MR_CALL_{own}, .name = \"{symbol.function.name}\", .params = {told}{form}}};"]
    return before, after


def _observed(elf, symbol, per_thread):
    """The function that tells an observer of a call, and makes it."""
    before, after = observed_record(symbol, per_thread)
    head = wrap_call(f"__attribute__((noinline, cold)) static CUresult mr_observed_{elf}", symbol.params)
    alias = wrap_call(f"CUresult mr_own_{elf}", symbol.params)
    return "\n".join([f"{alias}", f"    __attribute__((alias(\"{elf}\"), visibility(\"hidden\")));", head, "{"] + before + [
        "    mr_observed_enter(&mr_call);",
        f"    CUresult mr_status = mr_own_{elf}({', '.join(p.name for p in symbol.params)});",
        "    mr_observed_leave(&mr_call, mr_status);"] + after + ["    return mr_status;", "}", ""])


def emit_exports(functions):
    """exports.c."""
    out = [PROLOGUE.format(generated=GENERATED)]
    for function in functions:
        for symbol in function.symbols:
            forms = [(symbol.elf, False)]
            if symbol.per_thread:
                forms.append((symbol.per_thread_elf, True))
            for elf, per_thread in forms:
                head = wrap_call(f"MR_EXPORT CUresult CUDAAPI {elf}", symbol.params)
                body = (_wrapper_body if symbol.has_body else _stub_body)(elf, symbol, per_thread)
                out.append(_observed(elf, symbol, per_thread))
                out.append("\n".join([head, "{"] + body + ["}", ""]))
    return "\n".join(out)


def exported_names(functions):
    """Every ELF name, sorted."""
    names = []
    for function in functions:
        for symbol in function.symbols:
            names += [n for n in (symbol.elf, symbol.per_thread_elf) if n]
    return sorted(names)


# What the driver exports beside the table, for Millrace's own libraries alone (src/object/device.h,
# src/object/machine.h, src/command/parts.h, src/observe/attach.h).
PRIVATE = ["millrace_attach", "millrace_runtime_points", "millrace_prefer_capability", "millrace_machine_device", "millrace_machine_uses", "millrace_submit_parts", "millrace_fail_part", "millrace_touch_part", "millrace_touch_late"]


def emit_map(functions):
    """libcuda.map: exactly the table's symbols are global."""
    lines = [f"# {GENERATED}", "{", "  global:"]
    lines += [f"    {name};" for name in exported_names(functions) + PRIVATE]
    lines += ["  local:", "    *;", "};"]
    return "\n".join(lines) + "\n"


def emit_names(functions):
    """exports.txt: one ELF name per line, for the tests."""
    return "\n".join(exported_names(functions) + PRIVATE) + "\n"
