/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One function: its frame (frame.c), then each block's instructions, and each block's end (control.c).
 */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/basics/stack.h"
#include "compile/codegen/body/blocks.h"
#include "compile/codegen/body/body.h"
#include "compile/codegen/body/dispatcher.h"
#include "compile/codegen/body/early.h"
#include "compile/codegen/body/shown.h"
#include "compile/codegen/body/turns.h"
#include "compile/codegen/numbers/contract.h"
#include "compile/codegen/operands/parameters.h"

#include "base/alloc.h"

/* The instructions of a block and what comes after it, for the lanes in g->now.mask. */
static void emit_instructions(struct cg *g, const struct mr_flow_block *block)
{
    for (uint32_t i = block->first; i < block->end && !g->unit->error[0]; i++) {
        if (g->shown.count)
            cg_shown_before(g, i);
        if (block->last && i + 1 == block->end)
            break;
        cg_emit_instruction(g, &g->func->insts[i]);
        cg_regions_note_writes(g, &g->func->insts[i]);
        if (g->shown.count)
            cg_shown_after(g, i);
    }
    cg_begin_instruction(g, block->last);
    cg_emit_block_end(g);
}

/* Most instructions of a block that is there twice, and of its function: compiling takes time. */
#define TWICE_BLOCK 96u
#define TWICE_FUNCTION 256u

/* Whether an instruction takes less time where it is known that all lanes run. With AVX-512, masks are free except for
 * loads from afar (by_mask in access.c). */
static bool gains_by_all_lanes(const struct cg *g, const struct mr_ptx_inst *inst)
{
    if (g->unit->wide)
        return cg_is_far(inst) && inst->op == MR_PTX_OP_LD;
    return (cg_is_far(inst) || inst->space == MR_PTX_SPACE_SHARED) &&
           (inst->op == MR_PTX_OP_LD || inst->op == MR_PTX_OP_ST || inst->op == MR_PTX_OP_ATOM ||
            inst->op == MR_PTX_OP_RED);
}

static bool is_worth_twice(const struct cg *g, const struct mr_flow_block *block)
{
    bool gains = false;
    if (g->unit->request->optimisation == 0 || g->unit->request->hurry || g->flow.dispatched || block->barrier ||
        block->meets || block->end - block->first > TWICE_BLOCK || g->func->inst_count > TWICE_FUNCTION)
        return false;
    for (uint32_t i = block->first; i < block->end; i++) {
        const struct mr_ptx_inst *inst = &g->func->insts[i];
        if (inst->call || inst->op == MR_PTX_OP_WMMA || inst->op == MR_PTX_OP_MMA ||
            (g->unit->wide && inst->space == MR_PTX_SPACE_SHARED))
            return false;
        gains |= gains_by_all_lanes(g, inst);
    }
    return gains;
}

static void emit_block(struct cg *g, uint32_t index)
{
    const struct mr_flow_block *block = &g->flow.blocks[index];
    LLVMPositionBuilderAtEnd(g->b, g->parking.entries[index]);
    g->now.at = index;
    if (block->first < block->end)
        cg_line(g, &g->func->insts[block->first]);
    g->now.mask = LLVMBuildLoad2(g->b, g->unit->mask, g->parking.masks[index], "mask");
    if (mr_bit_get(g->parking.kept, index))
        LLVMBuildStore(g->b, cg_mask_zero(g), g->parking.masks[index]);
    g->now.mask_vector = cg_mask_vector(g, g->now.mask);
    cg_regions_pause(g);
    if (block->follows_wait)
        cg_block_store(g, offsetof(struct mr_block, left_wait), LLVMConstInt(g->unit->i32, 1, false));
    if (block->barrier) {
        cg_begin_instruction(g, NULL);
        cg_emit_early_arrival(g);
    }
    if (block->meets) {
        cg_begin_instruction(g, NULL);
        cg_emit_members_wait(g);
    }
    if (!LLVMIsConstant(g->now.mask) && is_worth_twice(g, block)) {
        LLVMValueRef mask = g->now.mask, all = LLVMConstAllOnes(g->unit->mask);
        LLVMBasicBlockRef whole = cg_new_block(g, "whole"), part = cg_new_block(g, "part");
        LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, mask, all, ""), whole, part);
        LLVMPositionBuilderAtEnd(g->b, whole);
        g->now.mask = all;
        g->now.mask_vector = cg_mask_vector(g, all);
        emit_instructions(g, block);
        LLVMPositionBuilderAtEnd(g->b, part);
        g->now.mask = mask;
        g->now.mask_vector = cg_mask_vector(g, mask);
    }
    emit_instructions(g, block);
}

static bool has_products(const struct mr_ptx_function *func)
{
    for (uint32_t i = 0; i < func->inst_count; i++)
        if (func->insts[i].op == MR_PTX_OP_MMA)
            return true;
    return false;
}

static bool divides(const struct mr_ptx_function *func)
{
    for (uint32_t i = 0; i < func->inst_count; i++)
        if (func->insts[i].op == MR_PTX_OP_DIV || func->insts[i].op == MR_PTX_OP_REM)
            return true;
    return false;
}

static bool allocate(struct cg *g)
{
    size_t regs = g->flow.reg_count, blocks = g->flow.block_count;
    size_t vars = (size_t)g->func->var_count + g->func->param_count + g->func->return_count;
    g->regs.slots = mr_calloc(regs, sizeof *g->regs.slots);
    g->regs.breaks = mr_calloc(regs, sizeof *g->regs.breaks);
    g->memory.vars = mr_calloc(vars ? vars : 1, sizeof *g->memory.vars);
    g->parking.masks = mr_calloc(blocks, sizeof *g->parking.masks);
    g->parking.entries = mr_calloc(blocks, sizeof *g->parking.entries);
    g->parking.kept = mr_calloc(mr_bit_words((uint32_t)blocks), sizeof *g->parking.kept);
    bool steps = g->func->is_entry && g->func->reqntid[0] && !g->unit->request->hurry;
    g->regs.block_steps = steps ? mr_flow_block_steps(&g->flow) : NULL;
    bool near = divides(g->func) && !g->unit->wide && !g->unit->request->hurry;
    g->regs.near = near ? mr_flow_near(&g->flow) : NULL;
    return (g->regs.block_steps || !steps) && (g->regs.near || !near) && g->regs.slots && g->regs.breaks &&
           g->memory.vars && g->parking.masks && g->parking.entries && g->parking.kept && cg_nan_prepare(g) &&
           cg_flush_prepare(g) && cg_contract_prepare(g) && cg_parameters_prepare(g);
}

/* Lets two warps run as one, or each by itself. */
static void run_paired(struct cg *g, bool paired)
{
    struct cg_unit *unit = g->unit;
    unit->width = paired ? CG_LANES_MAX : CG_LANES;
    unit->mask = paired ? unit->i64 : unit->i32;
    if (g->flow.rows > 1)
        g->flow.rows = mr_flow_shape_rows(g->flow.shape) * (paired ? 2 : 1);
}

/* A kernel of more blocks is not told to LLVM as a loop over warps. */
#define LOOP_BLOCKS 256u

static void hide_loops(struct cg *g, LLVMBasicBlockRef loop)
{
    if (!g->func->is_entry || g->flow.block_count <= LOOP_BLOCKS || g->unit->request->hurry ||
        g->unit->request->optimisation < 2)
        return;
    if (g->regions)
        cg_regions_hide(g);
    cg_hide_loop(g, g->prologue.start, loop);
}

static void emit_all(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    LLVMBasicBlockRef loop;
    LLVMValueRef warp = NULL;
    struct cg_blocks blocks;
    if (g->func->is_entry && (unit->flags & MR_CODE_BLOCKS))
        g->launch.several = &blocks;
    g->b = LLVMCreateBuilderInContext(unit->context);
    cg_lines_function(g);
    g->prologue.start = cg_new_block(g, "prologue");
    g->parking.finish = cg_new_block(g, "finish");
    LLVMPositionBuilderAtEnd(g->b, g->prologue.start);
    g->prologue.end = LLVMBuildUnreachable(g->b);
    g->launch.block = LLVMGetParam(g->fn, 0);
    if (g->func->is_entry)
        cg_variables_declare(g);
    cg_frame_fields(g);
    cg_frame_registers(g);
    bool good = cg_regions_plan(g);
    if (good && unit->width != CG_LANES && !g->regions && unit->facts[g->func->index].barriers) {
        /* They would have to wait each for itself. */
        run_paired(g, false);
        cg_frame_registers(g);
        good = cg_regions_plan(g);
    }
    if (!good)
        cg_fail(unit, NULL, "memory is short");
    cg_frame_variables(g);
    cg_shown_declare(g);
    cg_frame_parking(g);
    if (g->func->is_entry)
        cg_frame_start_kernel(g, &loop, &warp);
    else
        cg_frame_start_function(g, &loop);
    cg_begin_turns(g);
    for (uint32_t b = 0; b < g->flow.block_count && !unit->error[0]; b++)
        emit_block(g, b);
    if (!unit->error[0]) {
        cg_line_own(g);
        if (g->parking.crowded)
            cg_dispatcher_emit(g);
        if (g->func->is_entry) {
            cg_frame_end_kernel(g, loop, warp);
        } else {
            LLVMPositionBuilderAtEnd(g->b, g->parking.finish);
            if (g->warp.stack_saved)
                cg_stack_store(g, g->warp.stack_saved);
            LLVMBuildRetVoid(g->b);
        }
        LLVMPositionBuilderBefore(g->b, g->prologue.end);
        LLVMBuildBr(g->b, loop);
        LLVMInstructionEraseFromParent(g->prologue.end);
        hide_loops(g, loop);
    }
    LLVMDisposeBuilder(g->b);
}

bool cg_emit_function(struct cg_unit *unit, const struct mr_ptx_function *func)
{
    struct cg g = {.unit = unit, .func = func, .multiplies = has_products(func), .fn = unit->callees[func->index]};
    bool good = mr_flow_build(&g.flow, func, unit->facts, unit->request->shape) && allocate(&g);
    bool turns = good && unit->facts[func->index].barriers && mr_flow_regions_fit(&g.flow, unit->entry);
    if (good && unit->wide && unit->entry->reachable_count == 1 && mr_flow_pairs_fit(&g.flow, turns) &&
        (unit->request->all_pairs || mr_flow_pairs_pay(&g.flow)))
        run_paired(&g, true);
    if (good)
        emit_all(&g);
    else
        cg_fail(unit, NULL, "memory is short");
    unit->frame_bytes += g.memory.bytes;
    cg_regions_clear(&g);
    cg_shown_clear(&g);
    mr_free(g.regs.slots);
    mr_free(g.regs.breaks);
    mr_free(g.regs.loose);
    mr_free(g.regs.block_steps);
    mr_free(g.regs.near);
    mr_free(g.regs.known);
    mr_free(g.regs.contracted);
    mr_free(g.regs.parameters);
    mr_free(g.early.slots);
    mr_free(g.memory.vars);
    mr_free(g.memory.kept);
    mr_free(g.parking.masks);
    mr_free(g.parking.entries);
    mr_free(g.parking.kept);
    mr_flow_clear(&g.flow);
    return good && !unit->error[0];
}
