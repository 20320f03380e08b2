/* SPDX-License-Identifier: Apache-2.0 */

/* The way in: one request from start to end. An LLVM context and module, a function for the kernel and for each
 * function that it may call, passes, object. Of all that only the machine that code was made for outlives the request
 * (llvm/target.c), and no two requests share anything at a time.
 *
 * Folders, in the order of the way through them. Each has a header that says what its words mean.
 *
 *   analysis  flow.h      what is known of a function before any code is made; no LLVM
 *   rewrite   rewrite.h   PTX to PTX: what a kernel calls becomes a part of it; no LLVM
 *   basics    basics.h    what all code that makes LLVM IR stands on
 *   numbers   numbers.h   numbers with a point
 *   operands  operands.h  registers, variables, addresses
 *   emit      emit.h      instructions by family
 *   body      body.h      what is around them: prologue, warps, blocks, barriers
 *   llvm      llvm.h      LLVM's passes, the processor, the object file
 *
 * Each folder needs only those above it here. */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/basics/sites.h"
#include "compile/codegen/body/blocks.h"
#include "compile/codegen/body/body.h"
#include "compile/codegen/llvm/llvm.h"
#include "compile/codegen/operands/narrow.h"
#include "compile/codegen/rewrite/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compile/codegen_interface.h"

static void set_types(struct cg_unit *unit)
{
    LLVMContextRef context = unit->context;
    unit->void_type = LLVMVoidTypeInContext(context);
    unit->i1 = LLVMInt1TypeInContext(context);
    unit->i8 = LLVMInt8TypeInContext(context);
    unit->i16 = LLVMInt16TypeInContext(context);
    unit->i32 = LLVMInt32TypeInContext(context);
    unit->i64 = LLVMInt64TypeInContext(context);
    unit->f16 = LLVMHalfTypeInContext(context);
    unit->f32 = LLVMFloatTypeInContext(context);
    unit->f64 = LLVMDoubleTypeInContext(context);
    unit->ptr = LLVMPointerTypeInContext(context, 0);
    unit->mask = unit->i32;
    unit->width = CG_LANES;
}

static void add_attribute(struct cg_unit *unit, LLVMValueRef fn, const char *key, const char *value)
{
    LLVMAttributeRef attribute =
        LLVMCreateStringAttribute(unit->context, key, (unsigned)strlen(key), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, attribute);
}

static void add_flag(struct cg_unit *unit, LLVMValueRef fn, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(unit->context, kind, 0));
}

/* LLVM tells of each function's frame as if it were larger than is allowed, since the limit is 0: "PLACE: stack frame
 * size (BYTES) exceeds limit (0) in function 'NAME'". */
static void note_frame(LLVMDiagnosticInfoRef diagnostic, void *data)
{
    struct cg_unit *unit = data;
    static const char words[] = "stack frame size (";
    char *text = LLVMGetDiagInfoDescription(diagnostic);
    const char *frame = strstr(text, words);
    if (LLVMGetDiagInfoSeverity(diagnostic) == LLVMDSError)
        cg_fail(unit, NULL, text);
    else if (frame)
        unit->frames += strtoull(frame + sizeof words - 1, NULL, 10);
    LLVMDisposeMessage(text);
}

/* Declares the kernel and everything that it may call. */
static bool declare(struct cg_unit *unit)
{
    for (uint32_t i = 0; i < unit->entry->reachable_count; i++) {
        const struct mr_ptx_function *func = unit->entry->reachable[i];
        LLVMTypeRef type = cg_function_type(unit, func);
        if (!type)
            return false;
        const char *name = func == unit->entry->func ? MR_KERNEL_SYMBOL : func->name;
        LLVMValueRef fn = LLVMAddFunction(unit->module, name, type);
        if (func != unit->entry->func)
            LLVMSetLinkage(fn, LLVMInternalLinkage);
        add_attribute(unit, fn, "prefer-vector-width", "512");
        add_attribute(unit, fn, "min-legal-vector-width", unit->wide ? "512" : "256");
        add_attribute(unit, fn, "probe-stack", "inline-asm");
        add_attribute(unit, fn, "no-builtins", "true");
        add_attribute(unit, fn, "warn-stack-size", "0");
        add_flag(unit, fn, "nounwind");
        add_flag(unit, fn, "null_pointer_is_valid"); /* what is read or written there is a fault of the kernel's, which
                                                        nobody may reason away */
        unit->callees[func->index] = fn;
    }
    return true;
}

static char *copy_text(const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    return size ? mr_memdup(text, size) : NULL;
}

static char *print_module(const struct cg_unit *unit)
{
    char *text = LLVMPrintModuleToString(unit->module), *copy = copy_text(text);
    LLVMDisposeMessage(text);
    return copy;
}

static bool has_wide_alignment(struct mr_ptx_var *const *vars, uint32_t count, enum mr_ptx_space space, uint32_t usual)
{
    for (uint32_t i = 0; i < count; i++)
        if (vars[i]->space == space && vars[i]->align > usual)
            return true;
    return false;
}

/* Whether parameters or shared memory have to begin at rounder addresses than they always do. */
static bool is_aligned(const struct cg_unit *unit)
{
    const struct mr_ptx_function *entry = unit->entry->func;
    bool wide =
        has_wide_alignment(entry->params, entry->param_count, MR_PTX_SPACE_PARAM, 16) ||
        has_wide_alignment(unit->request->module->vars, unit->request->module->var_count, MR_PTX_SPACE_SHARED, 256);
    for (uint32_t i = 0; !wide && i < unit->entry->reachable_count; i++)
        wide = has_wide_alignment(unit->entry->reachable[i]->vars, unit->entry->reachable[i]->var_count,
                                  MR_PTX_SPACE_SHARED, 256);
    return wide;
}

static bool generate(struct cg_unit *unit, struct mr_codegen_result *result)
{
    if (!declare(unit)) {
        cg_fail(unit, NULL, "memory is short");
        return false;
    }
    for (uint32_t i = 0; i < unit->entry->reachable_count; i++)
        unit->allocas |= mr_flow_moves_stack(unit->entry->reachable[i]);
    const struct mr_layout_entry *written = &unit->request->layout->entries[unit->request->entry];
    for (uint32_t i = 0; i < written->reachable_count; i++)
        unit->narrow |= cg_narrow_spaces(written->reachable[i]);
    if (cg_narrow_needs_stack(unit->narrow))
        unit->flags |= MR_CODE_LOW_STACK;
    if (is_aligned(unit))
        unit->flags |= MR_CODE_ALIGNED;
    cg_lines_begin(unit);
    if (cg_blocks_fit(unit))
        unit->flags |= MR_CODE_BLOCKS;
    for (uint32_t i = 0; i < unit->entry->reachable_count; i++)
        if (!cg_emit_function(unit, unit->entry->reachable[i]))
            return false;
    for (uint32_t i = 0; i < unit->entry->reachable_count; i++) {
        const struct mr_flow_facts *facts = &unit->facts[unit->entry->reachable[i]->index];
        if (facts->barriers && !unit->regions)
            unit->flags |= MR_CODE_COOPERATIVE;
        unit->flags |= facts->may_wait ? MR_CODE_MAY_WAIT : 0;
        if (facts->waits)
            unit->flags |= MR_CODE_COOPERATIVE | MR_CODE_WAITS;
    }
    if (unit->flags & MR_CODE_WAITS)
        unit->flags &= ~(unsigned)MR_CODE_MAY_WAIT;
    if (unit->flags & MR_CODE_COOPERATIVE)
        unit->flags &=
            ~(unsigned)(MR_CODE_BLOCKS | MR_CODE_PARTS); /* it is never told of more than one block, or warp */
    unit->flags |= unit->width > CG_LANES ? MR_CODE_PAIRS : 0;
    if (unit->regions && (unit->flags & MR_CODE_COOPERATIVE)) {
        cg_fail(unit, NULL, "a kernel whose warps take turns in one call needs stacks");
        return false;
    }
    if (unit->request->notes)
        cg_sites_emit(unit);
    cg_lines_end(unit);
    if (unit->request->want_ir)
        result->ir_text = print_module(unit);
    if (!cg_optimise(unit))
        return false;
    cg_mend(unit);
    if (!cg_constants(unit))
        return false;
    cg_cut(unit);
    if (unit->request->want_ir)
        result->ir_optimised = print_module(unit);
    return cg_object(unit, result);
}

/* Whether the kernel and what it calls have barriers of several numbers, as far as is known: most have not, and
 * nothing has to be found out about them. */
static bool has_many_barriers(const struct mr_layout_entry *entry)
{
    const struct mr_ptx_inst *first = NULL;
    for (uint32_t f = 0; f < entry->reachable_count; f++)
        for (uint32_t i = 0; i < entry->reachable[f]->inst_count; i++) {
            const struct mr_ptx_inst *inst = &entry->reachable[f]->insts[i];
            if (!mr_flow_is_barrier(inst) || inst->mode == MR_PTX_MODE_CLUSTER_WAIT)
                continue;
            first = first ? first : inst;
            if (!mr_flow_same_number(first, inst))
                return true;
        }
    return false;
}

/* The kernel with what it takes in, and the facts as they are then. */
static bool take_in(struct cg_unit *unit, struct cg_inlined *inlined, enum cg_inline_barriers barriers)
{
    const struct mr_layout_entry *entry = &unit->request->layout->entries[unit->request->entry];
    size_t bytes = unit->request->module->function_count * sizeof *unit->facts;
    cg_inline_clear(inlined);
    unit->entry = entry;
    memset(unit->facts, 0, bytes);
    if (!mr_flow_facts_find(unit->request->module, unit->facts) ||
        !cg_inline_waits(inlined, entry, unit->facts, barriers))
        return false;
    if (!inlined->any)
        return true;
    unit->entry = &inlined->entry;
    memset(unit->facts, 0, bytes);
    return mr_flow_facts_find(&inlined->module, unit->facts);
}

/* Facts about all functions; then, if the kernel takes some of them in, about it as it is then. */
static bool find_facts(struct cg_unit *unit, struct cg_inlined *inlined)
{
    if (!has_many_barriers(unit->entry))
        return take_in(unit, inlined, CG_BARRIERS_STAY);
    if (!take_in(unit, inlined, CG_BARRIERS_INSIDE))
        return false;
    struct mr_flow flow;
    if (!mr_flow_build(&flow, unit->entry->func, unit->facts, unit->request->shape))
        return false;
    bool part = mr_flow_barriers_part(&flow);
    mr_flow_clear(&flow);
    return take_in(unit, inlined, part ? CG_BARRIERS_APART : CG_BARRIERS_STAY);
}

static char *stays_note(const struct mr_ptx_function *func)
{
    char text[400];
    snprintf(
        text, sizeof text,
        "function '%s', line %u of the PTX, has or calls loops that wait for other threads, and calls of it stay calls (it takes "
        "an array of any size, or is too large): lanes of one warp that wait for each other there would do so for ever",
        func->name, func->line);
    return copy_text(text);
}

static bool emit(const struct mr_codegen_request *request, struct mr_codegen_result *result)
{
    memset(result, 0, sizeof *result);
    struct cg_unit unit = {.request = request, .entry = &request->layout->entries[request->entry]};
    struct cg_inlined inlined = {.any = false};
    bool good = false;
    unit.context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(unit.context, note_frame, &unit);
    unit.module = LLVMModuleCreateWithNameInContext(unit.entry->func->name, unit.context);
    set_types(&unit);
    unit.callees = mr_calloc(request->module->function_count, sizeof *unit.callees);
    unit.facts = mr_calloc(request->module->function_count, sizeof *unit.facts);
    if (!unit.callees || !unit.facts || !find_facts(&unit, &inlined))
        cg_fail(&unit, NULL, "memory is short");
    else if (cg_machine_take(&unit))
        good = generate(&unit, result);
    result->symbol = MR_KERNEL_SYMBOL;
    result->flags = unit.flags;
    if (good && inlined.stays)
        result->note = stays_note(inlined.stays);
    if (!good)
        result->error = copy_text(unit.error[0] ? unit.error : "code generation failed");
    cg_lines_clear(&unit);
    cg_sites_clear(&unit);
    LLVMDisposeModule(unit.module);
    cg_machine_give(&unit);
    LLVMContextDispose(unit.context);
    cg_inline_clear(&inlined);
    mr_free(unit.callees);
    mr_free(unit.facts);
    return good;
}

static void release(struct mr_codegen_result *result)
{
    mr_free(result->object);
    mr_free(result->ir_text);
    mr_free(result->ir_optimised);
    mr_free(result->assembly);
    mr_free(result->error);
    mr_free(result->note);
    memset(result, 0, sizeof *result);
}

/* The library's one symbol. */
extern const struct mr_codegen_api mr_codegen;
__attribute__((visibility("default"))) const struct mr_codegen_api mr_codegen = {
    .version = MR_CODEGEN_VERSION,
    .abi = MR_ABI_VERSION,
    .interface = MR_CODEGEN_INTERFACE,
    .emit = emit,
    .release = release,
};
