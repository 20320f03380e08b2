/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Calls of the runtime, traps among them, and what code notes in the block's record for reports of faults.
 *
 * No line tells which lane an instruction of the processor works for. So all code notes the warp that it runs for,
 * and before a call of a service the line, in the block's record; code that is asked to (MILLRACE_FAULT_THREADS)
 * notes the addresses of each access before it is made (cg_note_access).
 */
#include "compile/codegen/basics/basics.h"

LLVMValueRef cg_note_warp(struct cg *g)
{
    return cg_block_store(g, offsetof(struct mr_block, warp), g->warp.number);
}

void cg_note_service(struct cg *g)
{
    if (!g->now.inst)
        return;
    cg_block_store(g, offsetof(struct mr_block, service_line), LLVMConstInt(g->unit->i32, g->now.inst->line, false));
    /* What is touched now is not the access that was noted last. */
    if (g->unit->request->note_accesses)
        cg_block_store(g, offsetof(struct mr_block, access_bytes), LLVMConstInt(g->unit->i32, 0, false));
}

LLVMValueRef cg_runtime_call(struct cg *g, size_t offset, LLVMTypeRef result, LLVMValueRef *args, unsigned count)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef all[8] = {g->launch.block}, place = LLVMConstInt(unit->i64, offset, false);
    LLVMTypeRef types[8] = {unit->ptr};
    for (unsigned i = 0; i < count; i++) {
        all[i + 1] = args[i];
        types[i + 1] = LLVMTypeOf(args[i]);
    }
    LLVMValueRef pointer = LLVMBuildGEP2(g->b, unit->i8, g->launch.runtime, &place, 1, "");
    LLVMValueRef callee = LLVMBuildLoad2(g->b, unit->ptr, pointer, "");
    if (offset != offsetof(struct mr_runtime, trap))
        cg_note_service(g);
    return LLVMBuildCall2(g->b, LLVMFunctionType(result, types, count + 1, false), callee, all, count + 1, "");
}

void cg_emit_trap(struct cg *g, unsigned kind)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef args[2] = {LLVMConstInt(unit->i32, kind, false),
                            LLVMConstInt(unit->i32, g->now.inst ? g->now.inst->line : 0, false)};
    cg_runtime_call(g, offsetof(struct mr_runtime, trap), unit->void_type, args, 2);
}
