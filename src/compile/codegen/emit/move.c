/* SPDX-License-Identifier: Apache-2.0 */

/*
 * mov, cvta, isspacep, special registers; and what has no effect here
 * (prefetches, cache hints, profiling events).
 */
#include "compile/codegen/basics/cg.h"
#include "compile/codegen/body/stack.h"
#include "compile/codegen/operands/narrow.h"

static LLVMValueRef zero_or(struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i32, value, false);
}

/* A timer of the runtime: no argument, 64 bits. Volatile by nature: a call. */
static LLVMValueRef read_timer(struct cg *g, size_t offset)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef place = LLVMConstInt(unit->i64, offset, false);
    LLVMValueRef pointer = LLVMBuildGEP2(g->b, unit->i8, g->runtime, &place, 1, "");
    LLVMValueRef callee = LLVMBuildLoad2(g->b, unit->ptr, pointer, "");
    return LLVMBuildCall2(g->b, LLVMFunctionType(unit->i64, NULL, 0, false), callee, NULL, 0, "");
}

static LLVMValueRef half_of(struct cg *g, LLVMValueRef wide, bool high)
{
    if (high)
        wide = LLVMBuildLShr(g->b, wide, LLVMConstInt(g->unit->i64, 32, false), "");
    return LLVMBuildTrunc(g->b, wide, g->unit->i32, "");
}

/* %lanemask_*: a constant per lane. */
static LLVMValueRef lane_masks(struct cg *g, unsigned special)
{
    LLVMValueRef all[CG_LANES];
    for (unsigned lane = 0; lane < CG_LANES; lane++) {
        uint32_t equal = UINT32_C(1) << lane, less = equal - 1, value;
        switch (special) {
        case MR_PTX_SPECIAL_LANEMASK_EQ: value = equal; break;
        case MR_PTX_SPECIAL_LANEMASK_LE: value = less | equal; break;
        case MR_PTX_SPECIAL_LANEMASK_LT: value = less; break;
        case MR_PTX_SPECIAL_LANEMASK_GE: value = ~less; break;
        default: value = ~(less | equal); break;
        }
        all[lane] = LLVMConstInt(g->unit->i32, value, false);
    }
    return LLVMConstVector(all, CG_LANES);
}

/* The linear number of the block in the grid, and sizes, are those of a cluster of one block. */
static LLVMValueRef launch_special(struct cg *g, const struct mr_ptx_operand *operand)
{
    unsigned c = operand->component;
    switch (operand->special) {
    case MR_PTX_SPECIAL_NTID: return c < 3 ? g->ntid[c] : zero_or(g, 1);
    case MR_PTX_SPECIAL_CTAID: case MR_PTX_SPECIAL_CLUSTERID: return c < 3 ? g->ctaid[c] : zero_or(g, 0);
    case MR_PTX_SPECIAL_NCTAID: case MR_PTX_SPECIAL_NCLUSTERID: return c < 3 ? g->nctaid[c] : zero_or(g, 1);
    case MR_PTX_SPECIAL_CLUSTER_NCTAID: case MR_PTX_SPECIAL_CLUSTER_NCTARANK: return zero_or(g, 1);
    case MR_PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        return LLVMConstInt(g->unit->i1, g->unit->entry->func->explicitcluster || g->unit->entry->func->reqnctapercluster[0] > 0, false);
    case MR_PTX_SPECIAL_WARPID: return g->warp;
    case MR_PTX_SPECIAL_NWARPID: return cg_block_field(g, offsetof(struct mr_block, warps), g->unit->i32, "");
    case MR_PTX_SPECIAL_SMID: return cg_block_field(g, offsetof(struct mr_block, worker), g->unit->i32, "");
    case MR_PTX_SPECIAL_NSMID: return zero_or(g, 4096); /* numbers of workers stay below */
    case MR_PTX_SPECIAL_GRIDID: return cg_block_field(g, offsetof(struct mr_block, grid_id), g->unit->i64, "");
    case MR_PTX_SPECIAL_TOTAL_SMEM_SIZE: case MR_PTX_SPECIAL_AGGR_SMEM_SIZE:
        return cg_block_field(g, offsetof(struct mr_block, shared_size), g->unit->i32, "");
    case MR_PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        return cg_block_field(g, offsetof(struct mr_block, dynamic_shared_size), g->unit->i32, "");
    case MR_PTX_SPECIAL_ENVREG:
        return operand->component == 1 || operand->component == 2
                   ? half_of(g, cg_block_field(g, offsetof(struct mr_block, grid_workspace), g->unit->i64, ""), operand->component == 1)
                   : zero_or(g, 0);
    case MR_PTX_SPECIAL_CURRENT_GRAPH_EXEC: return LLVMConstInt(g->unit->i64, 0, false);
    default: return NULL;
    }
}

/* A scalar or vector; NULL if *affine was filled instead. */
LLVMValueRef cg_special(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *affine)
{
    switch (operand->special) {
    case MR_PTX_SPECIAL_TID: {
        if (operand->component > 2)
            return zero_or(g, 0);
        LLVMValueRef slot = g->tid_slots[operand->component];
        LLVMValueRef tid = slot ? LLVMBuildLoad2(g->b, LLVMGetAllocatedType(slot), slot, "") : g->tid[operand->component];
        if (mr_flow_operand_class(&g->flow, operand).kind == MR_CLASS_AFFINE) {
            *affine = (struct cg_affine){{MR_CLASS_AFFINE, operand->component == 0, 0}, tid, NULL};
            if (operand->component == 1 && g->row)
                affine->base = LLVMBuildAdd(g->b, affine->base, LLVMConstInt(g->unit->i32, g->row, false), "");
            return NULL;
        }
        return tid;
    }
    case MR_PTX_SPECIAL_LANEID:
        *affine = (struct cg_affine){{MR_CLASS_AFFINE, 1, 0}, cg_row_start(g, zero_or(g, 0), 1), NULL};
        return NULL;
    case MR_PTX_SPECIAL_LANEMASK_EQ: case MR_PTX_SPECIAL_LANEMASK_LE: case MR_PTX_SPECIAL_LANEMASK_LT:
    case MR_PTX_SPECIAL_LANEMASK_GE: case MR_PTX_SPECIAL_LANEMASK_GT:
        return lane_masks(g, operand->special);
    case MR_PTX_SPECIAL_CLOCK64: return read_timer(g, offsetof(struct mr_runtime, clock64));
    case MR_PTX_SPECIAL_CLOCK: return half_of(g, read_timer(g, offsetof(struct mr_runtime, clock64)), false);
    case MR_PTX_SPECIAL_CLOCK_HI: return half_of(g, read_timer(g, offsetof(struct mr_runtime, clock64)), true);
    case MR_PTX_SPECIAL_GLOBALTIMER: return read_timer(g, offsetof(struct mr_runtime, global_timer));
    case MR_PTX_SPECIAL_GLOBALTIMER_LO:
        return half_of(g, read_timer(g, offsetof(struct mr_runtime, global_timer)), false);
    case MR_PTX_SPECIAL_GLOBALTIMER_HI:
        return half_of(g, read_timer(g, offsetof(struct mr_runtime, global_timer)), true);
    default: {
        LLVMValueRef value = launch_special(g, operand);
        return value ? value : zero_or(g, 0); /* %pm, ranks in a cluster of one */
    }
    }
}

static void emit_mov(struct cg *g, const struct mr_ptx_inst *inst)
{
    bool predicate = inst->type[0] == MR_PTX_TYPE_PRED;
    unsigned bits = mr_ptx_type_bits(inst->type[0]);
    LLVMTypeRef type = inst->type[0] == MR_PTX_TYPE_F32 ? g->unit->f32
        : inst->type[0] == MR_PTX_TYPE_F64 ? g->unit->f64 : cg_int_type(g, bits);
    if (predicate && inst->operands[1].kind != MR_PTX_OPERAND_SPECIAL) {
        cg_write(g, &inst->operands[0], cg_predicate(g, &inst->operands[1]));
        return;
    }
    cg_write(g, &inst->operands[0], cg_source(g, &inst->operands[1], type));
}

/* Generic addresses are host addresses; only the shared window has another base. */
static void emit_cvta(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = g->unit->i64;
    LLVMValueRef a = cg_source(g, &inst->operands[1], type);
    bool number = (inst->flags & MR_PTX_FLAG_TO) && inst->operands[1].kind == MR_PTX_OPERAND_SYMBOL; /* a variable's address is in its space already */
    if (!number && (inst->space == MR_PTX_SPACE_SHARED || inst->space == MR_PTX_SPACE_SHARED_CLUSTER)) {
        LLVMValueRef base = g->lanes == 1 ? g->shared : cg_splat(g, g->shared);
        a = inst->flags & MR_PTX_FLAG_TO ? LLVMBuildSub(g->b, a, base, "") : LLVMBuildAdd(g->b, a, base, "");
    }
    if (inst->space == MR_PTX_SPACE_CONST && (g->unit->narrow & 1u << MR_PTX_SPACE_CONST))
        a = cg_narrow_constant(g, a);
    cg_write(g, &inst->operands[0], a);
}

/* Within [start, start + size), as one unsigned comparison. */
static LLVMValueRef within(struct cg *g, LLVMValueRef address, LLVMValueRef start, LLVMValueRef size)
{
    if (g->lanes != 1) {
        start = cg_splat(g, start);
        size = cg_splat(g, size);
    }
    return LLVMBuildICmp(g->b, LLVMIntULT, LLVMBuildSub(g->b, address, start, ""), size, "");
}

LLVMValueRef cg_in_shared(struct cg *g, LLVMValueRef address)
{
    LLVMValueRef size = cg_block_field(g, offsetof(struct mr_block, shared_size), g->unit->i32, "");
    return within(g, address, g->shared, LLVMBuildZExt(g->b, size, g->unit->i64, ""));
}

/* Local memory is whatever lies in the frames of this warp: any of the function's own variables counts, and so does what is
 * close above the frame, where its callers' variables are; and memory of alloca, with what the kernel has close above it. */
static LLVMValueRef in_local(struct cg *g, LLVMValueRef address)
{
    LLVMValueRef mark = cg_slot(g, g->unit->i64, "frame");
    LLVMValueRef start = LLVMBuildSub(g->b, LLVMBuildPtrToInt(g->b, mark, g->unit->i64, ""),
                                      LLVMConstInt(g->unit->i64, 1u << 20, false), "");
    LLVMValueRef near = within(g, address, start, LLVMConstInt(g->unit->i64, 2u << 20, false));
    if (!g->unit->allocas)
        return near;
    LLVMValueRef size, stack = cg_stack_range(g, &size);
    size = LLVMBuildAdd(g->b, size, LLVMConstInt(g->unit->i64, 1u << 20, false), "");
    return LLVMBuildOr(g->b, near, within(g, address, stack, size), "");
}

/* Inside one of the module's constant variables. */
static LLVMValueRef in_const(struct cg *g, LLVMValueRef address)
{
    const struct mr_layout *layout = g->unit->request->layout;
    LLVMValueRef any = cg_int(g, g->unit->i1, 0);
    for (uint32_t i = 0; i < layout->variable_count; i++) {
        const struct mr_ptx_var *var = layout->symbols[i].var;
        if (!var || var->space != MR_PTX_SPACE_CONST)
            continue;
        LLVMValueRef start = cg_symbol_address(g, var), size = LLVMConstInt(g->unit->i64, var->size, false);
        any = LLVMBuildOr(g->b, any, within(g, address, start, size), "");
    }
    return any;
}

static void emit_isspacep(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef a = cg_source(g, &inst->operands[1], g->unit->i64), r;
    LLVMValueRef shared = cg_in_shared(g, a);
    switch (inst->space) {
    case MR_PTX_SPACE_SHARED: case MR_PTX_SPACE_SHARED_CLUSTER:
        r = shared;
        break;
    case MR_PTX_SPACE_LOCAL:
        r = in_local(g, a);
        break;
    case MR_PTX_SPACE_CONST:
        r = in_const(g, a);
        break;
    case MR_PTX_SPACE_GLOBAL:
        r = LLVMBuildOr(g->b, LLVMBuildOr(g->b, shared, in_local(g, a), ""), in_const(g, a), "");
        r = LLVMBuildNot(g->b, r, "");
        break;
    default: {
        /* .param, .param::entry: the kernel's parameters. */
        LLVMValueRef start = LLVMBuildPtrToInt(g->b, g->params_place, g->unit->i64, "");
        r = within(g, a, start, LLVMConstInt(g->unit->i64, g->unit->entry->func->param_size, false));
        break;
    }
    }
    cg_write(g, &inst->operands[0], r);
}

bool cg_emit_move(struct cg *g, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_MOV:
        emit_mov(g, inst);
        return true;
    case MR_PTX_OP_CVTA:
        emit_cvta(g, inst);
        return true;
    case MR_PTX_OP_ISSPACEP:
        emit_isspacep(g, inst);
        return true;
    case MR_PTX_OP_CREATEPOLICY: /* what it stands for is never looked at */
        cg_write(g, &inst->operands[0], cg_int(g, g->unit->i64, 0));
        return true;
    case MR_PTX_OP_PREFETCH: case MR_PTX_OP_PREFETCHU: case MR_PTX_OP_APPLYPRIORITY: case MR_PTX_OP_DISCARD:
    case MR_PTX_OP_PMEVENT:
        return true; /* hints: to do nothing is one of the things that they allow */
    default:
        return false;
    }
}
