/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Special registers.
 */
#include "compile/codegen/operands/operands.h"

static LLVMValueRef zero_or(struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i32, value, false);
}

/* A timer of the runtime: no argument, 64 bits. Volatile by nature: a call. */
static LLVMValueRef read_timer(struct cg *g, size_t offset)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef place = LLVMConstInt(unit->i64, offset, false);
    LLVMValueRef pointer = LLVMBuildGEP2(g->b, unit->i8, g->launch.runtime, &place, 1, "");
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
        case MR_PTX_SPECIAL_LANEMASK_EQ:
            value = equal;
            break;
        case MR_PTX_SPECIAL_LANEMASK_LE:
            value = less | equal;
            break;
        case MR_PTX_SPECIAL_LANEMASK_LT:
            value = less;
            break;
        case MR_PTX_SPECIAL_LANEMASK_GE:
            value = ~less;
            break;
        default:
            value = ~(less | equal);
            break;
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
    case MR_PTX_SPECIAL_NTID:
        return c < 3 ? g->launch.ntid[c] : zero_or(g, 1);
    case MR_PTX_SPECIAL_CTAID:
    case MR_PTX_SPECIAL_CLUSTERID:
        return c < 3 ? g->launch.ctaid[c] : zero_or(g, 0);
    case MR_PTX_SPECIAL_NCTAID:
    case MR_PTX_SPECIAL_NCLUSTERID:
        return c < 3 ? g->launch.nctaid[c] : zero_or(g, 1);
    case MR_PTX_SPECIAL_CLUSTER_NCTAID:
    case MR_PTX_SPECIAL_CLUSTER_NCTARANK:
        return zero_or(g, 1);
    case MR_PTX_SPECIAL_IS_EXPLICIT_CLUSTER:
        return LLVMConstInt(g->unit->i1,
                            g->unit->entry->func->explicitcluster || g->unit->entry->func->reqnctapercluster[0] > 0,
                            false);
    case MR_PTX_SPECIAL_WARPID:
        return g->warp.number;
    case MR_PTX_SPECIAL_NWARPID:
        return cg_block_field(g, offsetof(struct mr_block, warps), g->unit->i32, "");
    case MR_PTX_SPECIAL_SMID:
        return cg_block_field(g, offsetof(struct mr_block, worker), g->unit->i32, "");
    case MR_PTX_SPECIAL_NSMID:
        return zero_or(g, 4096); /* numbers of workers stay below */
    case MR_PTX_SPECIAL_GRIDID:
        return cg_block_field(g, offsetof(struct mr_block, grid_id), g->unit->i64, "");
    case MR_PTX_SPECIAL_TOTAL_SMEM_SIZE:
    case MR_PTX_SPECIAL_AGGR_SMEM_SIZE:
        return cg_block_field(g, offsetof(struct mr_block, shared_size), g->unit->i32, "");
    case MR_PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        return cg_block_field(g, offsetof(struct mr_block, dynamic_shared_size), g->unit->i32, "");
    case MR_PTX_SPECIAL_ENVREG:
        return operand->component == 1 || operand->component == 2
                   ? half_of(g, cg_block_field(g, offsetof(struct mr_block, grid_workspace), g->unit->i64, ""),
                             operand->component == 1)
                   : zero_or(g, 0);
    case MR_PTX_SPECIAL_CURRENT_GRAPH_EXEC:
        return LLVMConstInt(g->unit->i64, 0, false);
    default:
        return NULL;
    }
}

/* A scalar or vector; NULL if *affine was filled instead. */
LLVMValueRef cg_special(struct cg *g, const struct mr_ptx_operand *operand, struct cg_affine *affine)
{
    switch (operand->special) {
    case MR_PTX_SPECIAL_TID: {
        if (operand->component > 2)
            return zero_or(g, 0);
        LLVMValueRef slot = g->warp.tid_slots[operand->component];
        LLVMValueRef tid =
            slot ? LLVMBuildLoad2(g->b, LLVMGetAllocatedType(slot), slot, "") : g->warp.tid[operand->component];
        if (mr_flow_operand_class(&g->flow, operand).kind == MR_CLASS_AFFINE) {
            *affine = (struct cg_affine){{MR_CLASS_AFFINE, operand->component == 0, 0}, tid, NULL};
            if (operand->component == 1 && g->now.row)
                affine->base = LLVMBuildAdd(g->b, affine->base, LLVMConstInt(g->unit->i32, g->now.row, false), "");
            return NULL;
        }
        return tid;
    }
    case MR_PTX_SPECIAL_LANEID:
        *affine = (struct cg_affine){{MR_CLASS_AFFINE, 1, 0}, cg_row_start(g, zero_or(g, 0), 1), NULL};
        return NULL;
    case MR_PTX_SPECIAL_LANEMASK_EQ:
    case MR_PTX_SPECIAL_LANEMASK_LE:
    case MR_PTX_SPECIAL_LANEMASK_LT:
    case MR_PTX_SPECIAL_LANEMASK_GE:
    case MR_PTX_SPECIAL_LANEMASK_GT:
        return lane_masks(g, operand->special);
    case MR_PTX_SPECIAL_CLOCK64:
        return read_timer(g, offsetof(struct mr_runtime, clock64));
    case MR_PTX_SPECIAL_CLOCK:
        return half_of(g, read_timer(g, offsetof(struct mr_runtime, clock64)), false);
    case MR_PTX_SPECIAL_CLOCK_HI:
        return half_of(g, read_timer(g, offsetof(struct mr_runtime, clock64)), true);
    case MR_PTX_SPECIAL_GLOBALTIMER:
        return read_timer(g, offsetof(struct mr_runtime, global_timer));
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
