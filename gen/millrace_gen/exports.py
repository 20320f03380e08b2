# SPDX-License-Identifier: Apache-2.0
"""The exported wrappers, the refusing stubs and the linker's version script."""

from .table import TableError
from .text import GENERATED, wrap_call

PROLOGUE = """/* SPDX-License-Identifier: Apache-2.0 */
/* {generated}
 *
 * Every ELF symbol of libcuda. A wrapper looks at the driver's state and calls the
 * hand-written mr_<SYMBOL> in a visit (base/visit.h), so that what a handle leads to stays
 * what it is for as long as the call lasts; a function that is not implemented checks what hardware
 * checks first (state, context, handles) and answers CUDA_ERROR_NOT_SUPPORTED. Functions
 * that might disturb a stream capture ask first whether they may. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

#include "api/interop_types.h"
#include "api/state.h"
#include "api/stub.h"
#include "api_impl.h"
#include "base/visit.h"
#include "capture/capture.h"

#define MR_EXPORT __attribute__((visibility("default")))

/* The interop functions have no public prototype here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
"""

STATE_CHECK = ["    if (__builtin_expect(!mr_driver_ready(), 0)) {",
               "        return mr_driver_refuse();", "    }"]

# What may be called before cuInit is refused as well once the process ends.
END_CHECK = ["    if (__builtin_expect(mr_driver_ended(), 0)) {",
             "        return mr_driver_refuse();", "    }"]


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
                       "        mr_visit_end(mr_outer);",
                       "        return mr_status;", "    }"]
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


def _capture_check(function):
    """Refuses a call that might disturb a stream capture (src/capture/mode.c)."""
    return ["    if (mr_capture_open()) {",
            f"        CUresult mr_permitted = mr_capture_permit(\"{function.name}\");",
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


def _without_context(symbol):
    """What hardware answers to a call that failed, where the thread has no current context and an argument is 0."""
    names = {p.name for p in symbol.params}
    body = ["    if (__builtin_expect(mr_result != CUDA_SUCCESS, 0) && mr_stub_without_context()) {"]
    for number, rule in enumerate(symbol.function.without_context):
        word, _, status = rule.partition(" ")
        if word == "context":
            body.append("        mr_result = CUDA_ERROR_INVALID_CONTEXT;" if number == 0 else "        else mr_result = CUDA_ERROR_INVALID_CONTEXT;")
        elif word in names:
            body.append(f"        {'else ' if number and len(body) > 1 else ''}if (!{word}) mr_result = CUDA_ERROR_{status};")
    return body + ["    }"] if len(body) > 1 else []


def _wrapper_body(symbol, per_thread):
    before = []
    args = _arguments(symbol, per_thread, before)
    body = list(STATE_CHECK if symbol.function.needs_init else END_CHECK)
    if symbol.function.unsafe_in_capture:
        body += _capture_check(symbol.function)
    body += before
    if not _visits(symbol.function):
        return body + [_call("    return", symbol, args)]
    return body + ["    uint64_t mr_outer = mr_visit_begin();", _call("    CUresult mr_result =", symbol, args),
                   "    mr_visit_end(mr_outer);"] + _without_context(symbol) + ["    return mr_result;"]


def _stub_body(symbol):
    function = symbol.function
    body = list(STATE_CHECK if function.needs_init else END_CHECK)
    if function.unsafe_in_capture:
        body += _capture_check(function)
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
                body = _wrapper_body(symbol, per_thread) if symbol.has_body else _stub_body(symbol)
                out.append("\n".join([head, "{"] + body + ["}", ""]))
    return "\n".join(out)


def exported_names(functions):
    """Every ELF name, sorted."""
    names = []
    for function in functions:
        for symbol in function.symbols:
            names += [n for n in (symbol.elf, symbol.per_thread_elf) if n]
    return sorted(names)


def emit_map(functions):
    """libcuda.map: exactly the table's symbols are global."""
    lines = [f"# {GENERATED}", "{", "  global:"]
    lines += [f"    {name};" for name in exported_names(functions)]
    lines += ["  local:", "    *;", "};"]
    return "\n".join(lines) + "\n"


def emit_names(functions):
    """exports.txt: one ELF name per line, for the tests."""
    return "\n".join(exported_names(functions)) + "\n"
