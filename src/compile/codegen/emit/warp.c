/* SPDX-License-Identifier: Apache-2.0 */

/* What lanes of a warp do together: votes, shuffles, matches, reductions.
 *
 * The lanes that take part are those that run the instruction at this moment; lanes that name different masks act in
 * groups. Lanes reconverge as early as they can (flow.h), so in correct code that is every lane that the mask names; a
 * lane that is elsewhere at the time is left out rather than waited for.
 *
 * A mask that lacks the lane which names it is an illegal instruction on hardware, except where all lanes are known to
 * be there with one mask: there nobody looks into it, and all lanes count. It is the same here, by what the flow knows.
 */
#include "compile/codegen/emit/emit.h"

static LLVMValueRef number(struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i32, value, false);
}

static LLVMValueRef equal(struct cg *g, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(g->b, LLVMIntEQ, a, b, "");
}

static bool is_uniform(struct cg *g, const struct mr_ptx_operand *operand)
{
    return mr_flow_operand_class(&g->flow, operand).kind == MR_CLASS_UNIFORM;
}

/* Ends the launch if a lane is not in its own mask. Known masks fold. */
void cg_check_members(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *masks)
{
    bool uniform = is_uniform(g, masks), together = inst->guard == MR_PTX_NONE || !g->now.guard_varies;
    if (uniform && together && (g->flow.dispatched || mr_flow_runs_alone(&g->flow, g->now.at)))
        return;
    LLVMValueRef has;
    if (uniform) {
        has = cg_scalar_source(g, masks);
    } else {
        g->now.lanes = CG_LANES;
        LLVMValueRef mine = LLVMBuildShl(g->b, cg_int(g, g->unit->i32, 1), cg_lane_numbers(g, g->unit->i32, 1), "");
        mine = LLVMBuildAnd(g->b, cg_source(g, masks, g->unit->i32), mine, "");
        has = cg_mask_bits(g, LLVMBuildICmp(g->b, LLVMIntNE, mine, cg_int(g, g->unit->i32, 0), ""));
    }
    if (LLVMIsAConstantInt(has) && LLVMConstIntGetZExtValue(has) == UINT32_MAX)
        return;
    LLVMValueRef lacks = LLVMBuildAnd(g->b, g->now.exec, LLVMBuildNot(g->b, has, ""), "");
    lacks = LLVMBuildICmp(g->b, LLVMIntNE, lacks, number(g, 0), "");
    LLVMBasicBlockRef bad = cg_new_block(g, "no.member"), good = cg_new_block(g, "members");
    cg_mark_unlikely(g, LLVMBuildCondBr(g->b, lacks, bad, good));
    LLVMPositionBuilderAtEnd(g->b, bad);
    cg_emit_trap(g, MR_TRAP_NO_MEMBER);
    LLVMBuildUnreachable(g->b);
    LLVMPositionBuilderAtEnd(g->b, good);
}

/* What an instruction gives to the lanes that act together: one value for all of them, or a vector. `flag` for the
 * second destination, or NULL. */
struct outcome {
    LLVMValueRef value, flag;
};

typedef struct outcome together(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef act);

static struct outcome vote(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef act)
{
    LLVMValueRef bits = LLVMBuildAnd(g->b, cg_mask_bits(g, cg_predicate(g, &inst->operands[1])), act, "");
    switch (inst->mode) {
    case MR_PTX_MODE_BALLOT:
        return (struct outcome){bits, NULL};
    case MR_PTX_MODE_ANY:
        return (struct outcome){LLVMBuildICmp(g->b, LLVMIntNE, bits, number(g, 0), ""), NULL};
    case MR_PTX_MODE_UNI:
        return (struct outcome){LLVMBuildOr(g->b, equal(g, bits, act), equal(g, bits, number(g, 0)), ""), NULL};
    default:
        return (struct outcome){equal(g, bits, act), NULL};
    }
}

static struct outcome match(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef act)
{
    struct cg_unit *unit = g->unit;
    LLVMTypeRef type = cg_int_type(g, mr_ptx_type_bits(inst->type[0]));
    LLVMValueRef a = cg_source(g, &inst->operands[1], type);
    if (inst->mode == MR_PTX_MODE_ALL) {
        LLVMValueRef first = LLVMBuildExtractElement(g->b, a, cg_lowest_lane(g, act), "");
        LLVMValueRef same = LLVMBuildAnd(g->b, cg_mask_bits(g, equal(g, a, cg_splat(g, first))), act, "");
        LLVMValueRef all = equal(g, same, act);
        return (struct outcome){LLVMBuildSelect(g->b, all, act, number(g, 0), ""), all};
    }
    LLVMValueRef from = cg_scratch(g, type), result = cg_scratch(g, unit->i32);
    LLVMBuildStore(g->b, a, from);
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, act, &loop);
    LLVMValueRef mine = LLVMBuildLoad2(g->b, type, LLVMBuildGEP2(g->b, type, from, &loop.lane, 1, ""), "");
    LLVMValueRef same = LLVMBuildAnd(g->b, cg_mask_bits(g, equal(g, a, cg_splat(g, mine))), act, "");
    LLVMBuildStore(g->b, same, LLVMBuildGEP2(g->b, unit->i32, result, &loop.lane, 1, ""));
    cg_lane_loop_end(g, &loop);
    return (struct outcome){LLVMBuildLoad2(g->b, cg_vector_type(unit->i32, CG_LANES), result, ""), NULL};
}

static struct outcome redux(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef act)
{
    LLVMValueRef a = cg_source(g, &inst->operands[1], g->unit->i32);
    return (struct outcome){cg_fold_lanes(g, inst, a, cg_mask_vector(g, act)), NULL};
}

static struct outcome elect(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef act)
{
    (void)inst;
    LLVMValueRef bit = LLVMBuildAnd(g->b, act, LLVMBuildNeg(g->b, act, ""), "");
    return (struct outcome){cg_lowest_lane(g, act), cg_mask_vector(g, bit)};
}

/* Puts a group's part of a result into its slot of 32 numbers of 32 bits. */
static void merge(struct cg *g, LLVMValueRef slot, LLVMValueRef group, LLVMValueRef part)
{
    LLVMTypeRef type = cg_vector_type(g->unit->i32, CG_LANES);
    part = cg_resize(g, LLVMGetTypeKind(LLVMTypeOf(part)) == LLVMVectorTypeKind ? part : cg_splat(g, part),
                     g->unit->i32, false);
    LLVMValueRef before = LLVMBuildLoad2(g->b, type, slot, "");
    LLVMBuildStore(g->b, LLVMBuildSelect(g->b, cg_mask_vector(g, group), part, before, ""), slot);
}

/* The member mask differs from lane to lane, as with tiles of a warp: lanes with the same mask act together, one group
 * after the other. */
static struct outcome by_groups(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef masks,
                                together *act_together)
{
    struct cg_unit *unit = g->unit;
    LLVMTypeRef type = cg_vector_type(unit->i32, CG_LANES);
    LLVMValueRef value = cg_scratch(g, unit->i32), flag = cg_scratch(g, unit->i32);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), body = cg_new_block(g, "group"),
                      done = cg_new_block(g, "groups.done");
    LLVMBuildBr(g->b, body);
    LLVMPositionBuilderAtEnd(g->b, body);
    LLVMValueRef rest = LLVMBuildPhi(g->b, unit->i32, "rest");
    LLVMAddIncoming(rest, &g->now.exec, &before, 1);
    LLVMValueRef mine = LLVMBuildExtractElement(g->b, masks, cg_lowest_lane(g, rest), "");
    LLVMValueRef group = LLVMBuildAnd(g->b, rest, cg_mask_bits(g, equal(g, masks, cg_splat(g, mine))), "");
    struct outcome part = act_together(g, inst, group);
    merge(g, value, group, part.value);
    if (part.flag)
        merge(g, flag, group, part.flag);
    LLVMValueRef next = LLVMBuildAnd(g->b, rest, LLVMBuildNot(g->b, group, ""), "");
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMAddIncoming(rest, &next, &here, 1);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, next, number(g, 0), ""), body, done);
    LLVMPositionBuilderAtEnd(g->b, done);
    struct outcome whole = {LLVMBuildLoad2(g->b, type, value, ""),
                            part.flag ? LLVMBuildLoad2(g->b, type, flag, "") : NULL};
    if (cg_bits(cg_element(part.value)) == 1)
        whole.value = cg_resize(g, whole.value, unit->i1, false);
    if (whole.flag)
        whole.flag = cg_resize(g, whole.flag, unit->i1, false);
    return whole;
}

/* `index` is the operand that holds the member mask; forms without one mean the lanes that run. */
static void emit_together(struct cg *g, const struct mr_ptx_inst *inst, unsigned index, together *act_together)
{
    const struct mr_ptx_operand *to = &inst->operands[0];
    bool masked = (inst->op == MR_PTX_OP_ELECT || (inst->flags & MR_PTX_FLAG_SYNC)) && index < inst->operand_count;
    struct outcome r;
    if (masked)
        cg_check_members(g, inst, &inst->operands[index]);
    g->now.lanes = CG_LANES;
    if (masked && !is_uniform(g, &inst->operands[index]))
        r = by_groups(g, inst, cg_source(g, &inst->operands[index], g->unit->i32), act_together);
    else
        r = act_together(g, inst, g->now.exec);
    cg_write(g, to, r.value);
    if (to->kind == MR_PTX_OPERAND_PAIR && to->reg2 != MR_PTX_NONE)
        cg_write_reg(g, to->reg2, r.flag);
}

/* values[index[l]] for every lane l; indices are below 32. */
static LLVMValueRef permute(struct cg *g, LLVMValueRef values, LLVMValueRef index)
{
    struct cg_unit *unit = g->unit;
    LLVMTypeRef whole = LLVMVectorType(unit->i32, CG_LANES);
    if (LLVMIsConstant(index))
        return LLVMBuildShuffleVector(g->b, values, LLVMGetPoison(whole), index, "");
    if (!unit->wide) {
        LLVMValueRef from = cg_scratch(g, unit->i32), at = cg_scratch(g, unit->i32), to = cg_scratch(g, unit->i32);
        LLVMBuildStore(g->b, values, from);
        LLVMBuildStore(g->b, index, at);
        struct cg_lane_loop loop;
        cg_lane_loop_begin(g, g->now.exec, &loop);
        LLVMValueRef j = LLVMBuildLoad2(g->b, unit->i32, LLVMBuildGEP2(g->b, unit->i32, at, &loop.lane, 1, ""), "");
        LLVMValueRef v = LLVMBuildLoad2(g->b, unit->i32, LLVMBuildGEP2(g->b, unit->i32, from, &j, 1, ""), "");
        LLVMBuildStore(g->b, v, LLVMBuildGEP2(g->b, unit->i32, to, &loop.lane, 1, ""));
        cg_lane_loop_end(g, &loop);
        return LLVMBuildLoad2(g->b, whole, to, "");
    }
    /* Two registers of 16 lanes as a table, looked up by two registers of indices. */
    LLVMValueRef first[16], second[16], both[CG_LANES], poison = LLVMGetPoison(whole);
    for (unsigned i = 0; i < 16; i++) {
        first[i] = number(g, i);
        second[i] = number(g, 16 + i);
    }
    for (unsigned i = 0; i < CG_LANES; i++)
        both[i] = number(g, i);
    LLVMValueRef low = LLVMConstVector(first, 16), high = LLVMConstVector(second, 16), halves[2];
    LLVMValueRef table[2] = {LLVMBuildShuffleVector(g->b, values, poison, low, ""),
                             LLVMBuildShuffleVector(g->b, values, poison, high, "")};
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef part = LLVMBuildShuffleVector(g->b, index, poison, i ? high : low, "");
        halves[i] =
            cg_intrinsic(g, "llvm.x86.avx512.vpermi2var.d.512", NULL, 0, (LLVMValueRef[]){table[0], part, table[1]}, 3);
    }
    return LLVMBuildShuffleVector(g->b, halves[0], halves[1], LLVMConstVector(both, CG_LANES), "");
}

static void emit_shuffle(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef i32 = g->unit->i32;
    if (inst->flags & MR_PTX_FLAG_SYNC)
        cg_check_members(g, inst, &inst->operands[4]);
    g->now.lanes = CG_LANES;
    LLVMValueRef a = cg_source(g, &inst->operands[1], i32);
    LLVMValueRef b = LLVMBuildAnd(g->b, cg_source(g, &inst->operands[2], i32), cg_int(g, i32, 31), "");
    LLVMValueRef c = cg_source(g, &inst->operands[3], i32), lane = cg_lane_numbers(g, i32, 1), j, good;
    LLVMValueRef segment = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, c, cg_int(g, i32, 8), ""), cg_int(g, i32, 31), "");
    LLVMValueRef inside = LLVMBuildAnd(g->b, LLVMBuildNot(g->b, segment, ""), cg_int(g, i32, 31), "");
    LLVMValueRef least = LLVMBuildAnd(g->b, lane, segment, "");
    LLVMValueRef most = LLVMBuildOr(g->b, least, LLVMBuildAnd(g->b, c, inside, ""), "");
    switch (inst->mode) {
    case MR_PTX_MODE_UP:
        j = LLVMBuildSub(g->b, lane, b, "");
        good = LLVMBuildICmp(g->b, LLVMIntSGE, j, most, "");
        break;
    case MR_PTX_MODE_DOWN:
        j = LLVMBuildAdd(g->b, lane, b, "");
        good = LLVMBuildICmp(g->b, LLVMIntSLE, j, most, "");
        break;
    case MR_PTX_MODE_BFLY:
        j = LLVMBuildXor(g->b, lane, b, "");
        good = LLVMBuildICmp(g->b, LLVMIntSLE, j, most, "");
        break;
    default:
        j = LLVMBuildOr(g->b, least, LLVMBuildAnd(g->b, b, inside, ""), "");
        good = LLVMBuildICmp(g->b, LLVMIntSLE, j, most, "");
        break;
    }
    j = LLVMBuildSelect(g->b, good, j, lane, "");
    LLVMValueRef r = permute(g, a, j);
    const struct mr_ptx_operand *to = &inst->operands[0];
    cg_write(g, to, r);
    if (to->kind == MR_PTX_OPERAND_PAIR && to->reg2 != MR_PTX_NONE)
        cg_write_reg(g, to->reg2, good);
}

bool cg_emit_warp(struct cg *g, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_ACTIVEMASK:
        cg_write(g, &inst->operands[0], g->now.exec);
        return true;
    case MR_PTX_OP_VOTE:
        emit_together(g, inst, 2, vote);
        return true;
    case MR_PTX_OP_SHFL:
        emit_shuffle(g, inst);
        return true;
    case MR_PTX_OP_MATCH:
        emit_together(g, inst, 2, match);
        return true;
    case MR_PTX_OP_REDUX:
        emit_together(g, inst, 2, redux);
        return true;
    case MR_PTX_OP_ELECT:
        emit_together(g, inst, 1, elect);
        return true;
    case MR_PTX_OP_NANOSLEEP: {
        LLVMValueRef time = cg_scalar_source(g, &inst->operands[0]);
        g->unit->flags |= MR_CODE_COOPERATIVE;
        cg_runtime_call(g, offsetof(struct mr_runtime, nanosleep), g->unit->void_type, &time, 1);
        return true;
    }
    default:
        return false;
    }
}
