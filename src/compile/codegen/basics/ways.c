/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Blocks of LLVM's instructions and the ways between them: branches of which one way is hardly ever taken, loops over
 * lanes, jumps by number.
 */
#include "compile/codegen/basics/basics.h"
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/basics/nothing.h"

#include "base/alloc.h"

LLVMBasicBlockRef cg_new_block(struct cg *g, const char *name)
{
    return LLVMAppendBasicBlockInContext(g->unit->context, g->fn, name);
}

void cg_mark_unlikely(struct cg *g, LLVMValueRef branch)
{
    LLVMContextRef context = g->unit->context;
    LLVMMetadataRef weights[3] = {LLVMMDStringInContext2(context, "branch_weights", 14),
                                  LLVMValueAsMetadata(LLVMConstInt(g->unit->i32, 1, false)),
                                  LLVMValueAsMetadata(LLVMConstInt(g->unit->i32, 1u << 20, false))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, weights, 3);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "prof", 4), LLVMMetadataAsValue(context, node));
}

void cg_lane_loop_begin(struct cg *g, LLVMValueRef mask, struct cg_lane_loop *loop)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    loop->body = cg_new_block(g, "lane");
    LLVMBuildBr(g->b, loop->body);
    LLVMPositionBuilderAtEnd(g->b, loop->body);
    loop->rest = LLVMBuildPhi(g->b, g->unit->mask, "rest");
    LLVMAddIncoming(loop->rest, &mask, &before, 1);
    LLVMTypeRef type = g->unit->mask;
    loop->lane =
        cg_intrinsic(g, "llvm.cttz", &type, 1, (LLVMValueRef[]){loop->rest, LLVMConstInt(g->unit->i1, 1, false)}, 2);
    if (type != g->unit->i32)
        loop->lane = LLVMBuildTrunc(g->b, loop->lane, g->unit->i32, "");
}

void cg_lane_loop_end(struct cg *g, struct cg_lane_loop *loop)
{
    LLVMValueRef less = LLVMBuildSub(g->b, loop->rest, LLVMConstInt(g->unit->mask, 1, false), "");
    LLVMValueRef next = LLVMBuildAnd(g->b, loop->rest, less, "");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b), done = cg_new_block(g, "lanes.done");
    LLVMAddIncoming(loop->rest, &next, &here, 1);
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntNE, next, cg_mask_zero(g), "");
    LLVMBuildCondBr(g->b, more, loop->body, done);
    LLVMPositionBuilderAtEnd(g->b, done);
}

/* LLVM looks through all ways out of a block for each of them, so there are not more than this many. */
#define WAYS_BITS 6u

void cg_jump(struct cg *g, LLVMValueRef number, const LLVMBasicBlockRef *ways, uint32_t count,
             LLVMBasicBlockRef otherwise)
{
    struct cg_unit *unit = g->unit;
    uint32_t parts = (count + (1u << WAYS_BITS) - 1) >> WAYS_BITS;
    LLVMValueRef part = parts <= 1 ? NULL : LLVMBuildLShr(g->b, number, LLVMConstInt(unit->i32, WAYS_BITS, false), "");
    LLVMBasicBlockRef *inner = part ? mr_calloc(parts, sizeof *inner) : NULL;
    if (part && !inner) {
        cg_fail(unit, NULL, "memory is short");
        LLVMBuildUnreachable(g->b);
        return;
    }
    for (uint32_t p = 0; p < parts && inner; p++)
        inner[p] = cg_new_block(g, "part");
    if (inner)
        cg_jump(g, part, inner, parts, otherwise);
    for (uint32_t p = 0; p < parts; p++) {
        if (inner)
            LLVMPositionBuilderAtEnd(g->b, inner[p]);
        LLVMValueRef jump = LLVMBuildSwitch(g->b, number, otherwise, 1u << WAYS_BITS);
        for (uint32_t i = p << WAYS_BITS; i < count && i >> WAYS_BITS == p; i++)
            LLVMAddCase(jump, LLVMConstInt(unit->i32, i, false), ways[i]);
    }
    mr_free(inner);
}

/* Lets every jump to `from` in `end` lead to `to`. */
static void lead_to(LLVMValueRef end, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
        if (LLVMGetSuccessor(end, i) == from)
            LLVMSetSuccessor(end, i, to);
}

/* The phi at the head, as one in `latch` for all ways there and one that chooses between that and `before`. */
static void split_phi(LLVMBuilderRef builder, LLVMValueRef phi, LLVMBasicBlockRef before, LLVMBasicBlockRef head,
                      LLVMBasicBlockRef latch)
{
    LLVMTypeRef type = LLVMTypeOf(phi);
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(latch));
    LLVMValueRef round = LLVMBuildPhi(builder, type, "");
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(head));
    LLVMValueRef both = LLVMBuildPhi(builder, type, ""), values[2] = {NULL, round};
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMAddIncoming(round, &value, &from, 1);
        if (from == before)
            values[0] = value;
    }
    LLVMAddIncoming(both, values, (LLVMBasicBlockRef[]){before, latch}, 2);
    LLVMReplaceAllUsesWith(phi, both);
    LLVMInstructionEraseFromParent(phi);
}

void cg_hide_loop(struct cg *g, LLVMBasicBlockRef before, LLVMBasicBlockRef head)
{
    LLVMBasicBlockRef latch = cg_new_block(g, "latch");
    LLVMValueRef end = LLVMGetBasicBlockTerminator(before), next;
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(head)), following; use; use = following) {
        LLVMValueRef user = LLVMGetUser(use);
        following = LLVMGetNextUse(use);
        if (user != end && LLVMIsATerminatorInst(user))
            lead_to(user, head, latch);
    }
    LLVMPositionBuilderAtEnd(g->b, latch);
    cg_line_again(g);
    cg_compiler_barrier(g->b, g->unit->context); /* without an instruction the block would go away */
    LLVMBuildBr(g->b, head);
    uint32_t phis = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(head); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        phis++;
    /* The new ones come to stand in front. */
    for (LLVMValueRef i = LLVMGetFirstInstruction(head); phis-- > 0; i = next) {
        next = LLVMGetNextInstruction(i);
        split_phi(g->b, i, before, head, latch);
    }
    LLVMPositionBuilderAtEnd(g->b, before);
    LLVMInstructionEraseFromParent(end);
    LLVMValueRef zero = LLVMConstInt(g->unit->i32, 0, false), same = cg_hidden(g->b, zero, false);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, same, zero, ""), head, latch);
}
