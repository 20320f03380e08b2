/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Barriers of a block, which the runtime does unless the kernel's warps take turns.
 */
#include "compile/codegen/body/body.h"
#include "compile/codegen/body/early.h"
#include "compile/codegen/body/turns.h"

static LLVMValueRef number(struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i32, value, false);
}

/* What the runtime calls the operation. */
static unsigned barrier_operation(const struct mr_ptx_inst *inst, bool reduces)
{
    unsigned op = !reduces ? 0 : inst->mode2 == MR_PTX_MODE_POPC ? 1 : inst->boolop == MR_PTX_BOOL_AND ? 2 : 3;
    return op | (inst->op == MR_PTX_OP_BARRIER && !(inst->flags & MR_PTX_FLAG_ALIGNED) ? MR_BARRIER_PER_THREAD : 0);
}

/* Each lane's barrier and threads may be its own. */
static void emit_barrier_join(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct cg_unit *unit = g->unit;
    bool reduces = inst->mode2 == MR_PTX_MODE_POPC || inst->boolop != MR_PTX_BOOL_NONE;
    unsigned numbers = inst->operand_count - (unsigned)reduces;
    LLVMValueRef args[5] = {cg_scratch(g, unit->i32), cg_scratch(g, unit->i32), g->now.exec,
                            number(g, barrier_operation(inst, reduces)), number(g, 0)};
    g->now.lanes = CG_LANES;
    for (unsigned i = 0; i < 2; i++)
        LLVMBuildStore(g->b, i < numbers ? cg_source(g, &inst->operands[i], unit->i32) : cg_int(g, unit->i32, 0),
                       args[i]);
    if (reduces)
        args[4] = cg_mask_bits(g, cg_predicate(g, &inst->operands[numbers]));
    unit->flags |= MR_CODE_COOPERATIVE;
    cg_runtime_call(g, offsetof(struct mr_runtime, barrier_join), unit->void_type, args, 5);
}

static void emit_barrier_test(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef result = cg_scratch(g, g->unit->i32), args[2] = {g->now.exec, result};
    LLVMValueRef go = cg_runtime_call(g, offsetof(struct mr_runtime, barrier_test), g->unit->i32, args, 2);
    const struct mr_ptx_operand *to = &inst->operands[0];
    g->now.lanes = CG_LANES;
    if (to->reg != MR_PTX_NONE) {
        LLVMValueRef value = LLVMBuildLoad2(g->b, cg_type(g, g->unit->i32), result, "");
        if (inst->boolop != MR_PTX_BOOL_NONE)
            value = LLVMBuildICmp(g->b, LLVMIntNE, value, cg_int(g, g->unit->i32, 0), "");
        cg_write_reg(g, to->reg, value);
    }
    cg_write_reg(g, to->reg2, cg_mask_vector(g, go));
}

/* Barriers: number, threads (0 = all), mask, operation, predicate bits. */
static void emit_block_barrier(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct cg_unit *unit = g->unit;
    unsigned at = inst->dst_count, last = inst->operand_count;
    bool reduces = inst->mode == MR_PTX_MODE_RED;
    LLVMValueRef predicate = number(g, 0);
    if (g->regions) {
        cg_regions_barrier(g, inst);
        return;
    }
    if (reduces) {
        last--;
        g->now.lanes = CG_LANES;
        predicate = LLVMBuildAnd(g->b, cg_mask_bits(g, cg_predicate(g, &inst->operands[last])), g->now.exec, "");
    }
    LLVMValueRef id = at < last ? cg_scalar_source(g, &inst->operands[at]) : number(g, 0);
    LLVMValueRef threads = at + 1 < last ? cg_scalar_source(g, &inst->operands[at + 1]) : number(g, 0);
    unit->flags |= MR_CODE_COOPERATIVE;
    if (inst->mode == MR_PTX_MODE_ARRIVE) {
        LLVMValueRef args[4] = {id, threads, g->now.exec, number(g, barrier_operation(inst, false))};
        cg_runtime_call(g, offsetof(struct mr_runtime, barrier_arrive), unit->void_type, args, 4);
        return;
    }
    LLVMValueRef lanes = g->now.exec, arrived = inst->guard == MR_PTX_NONE ? cg_early_lanes(g) : NULL;
    if (arrived) {
        lanes = LLVMBuildOr(g->b, lanes, LLVMBuildLoad2(g->b, unit->i32, arrived, ""), "");
        LLVMBuildStore(g->b, number(g, 0), arrived);
    }
    bool apart = arrived && mr_flow_reduces_apart(&g->flow, g->now.at);
    if (apart) {
        LLVMValueRef early = cg_early_predicates(g);
        predicate = LLVMBuildOr(g->b, predicate, LLVMBuildLoad2(g->b, unit->i32, early, ""), "");
        LLVMBuildStore(g->b, number(g, 0), early);
    }
    unsigned op = barrier_operation(inst, reduces);
    LLVMValueRef args[5] = {id, threads, lanes, number(g, op), predicate};
    LLVMValueRef r = cg_runtime_call(g, offsetof(struct mr_runtime, barrier_sync), unit->i32, args, 5);
    if (g->warp.number && unit->request->module->shown_count) /* other warps ran; debuggers show threadIdx by it */
        LLVMSetVolatile(cg_note_warp(g), true);
    if (!reduces)
        return;
    if ((op & 3) != 1)
        r = LLVMBuildICmp(g->b, LLVMIntNE, r, number(g, 0), "");
    cg_write(g, &inst->operands[0], r);
    if (apart)
        cg_give_reduction(g, r);
}

bool cg_emit_barrier(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (inst->op != MR_PTX_OP_BAR && inst->op != MR_PTX_OP_BARRIER)
        return false;
    bool arrives = inst->mode == MR_PTX_MODE_CLUSTER_ARRIVE;
    if (arrives || inst->mode == MR_PTX_MODE_CLUSTER_WAIT) {
        size_t service =
            arrives ? offsetof(struct mr_runtime, cluster_arrive) : offsetof(struct mr_runtime, cluster_wait);
        g->unit->flags |= MR_CODE_COOPERATIVE;
        cg_runtime_call(g, service, g->unit->void_type, &g->now.exec, 1);
        return true;
    }
    if (inst->mode == MR_PTX_MODE_WARP_SYNC) { /* lanes run in step: only the order of memory accesses matters */
        cg_check_members(g, inst, &inst->operands[0]);
        LLVMBuildFence(g->b, LLVMAtomicOrderingAcquireRelease, true, "");
    } else if (inst->mode == MR_PTX_MODE_JOIN)
        emit_barrier_join(g, inst);
    else if (inst->mode == MR_PTX_MODE_TEST)
        emit_barrier_test(g, inst);
    else
        emit_block_barrier(g, inst);
    return true;
}
