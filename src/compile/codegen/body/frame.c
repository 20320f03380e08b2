/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A function's frame: the prologue with its slots and hoisted loads, the loop
 * over warps (kernels), the start of a warp and its end.
 */
#include "compile/codegen/basics/stack.h"
#include "compile/codegen/body/blocks.h"
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/body/body.h"
#include "compile/codegen/body/dispatcher.h"
#include "compile/codegen/body/turns.h"
#include "compile/codegen/operands/narrow.h"
#include "compile/codegen/operands/stepped.h"

void cg_frame_fields(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    g->launch.runtime = cg_block_field(g, offsetof(struct mr_block, runtime), unit->ptr, "runtime");
    g->launch.params = cg_block_field(g, offsetof(struct mr_block, params), unit->ptr, "params");
    g->launch.symbols = cg_block_field(g, offsetof(struct mr_block, symbols), unit->ptr, "symbols");
    g->launch.shared = cg_block_field(g, offsetof(struct mr_block, shared), unit->i64, "shared");
    if (unit->request->notes)
        g->launch.notes = cg_block_field(g, offsetof(struct mr_block, notes), unit->ptr, "notes");
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    g->launch.params_place = cg_narrow_parameters(g, g->launch.params);
    g->launch.shared = cg_aligned(g, g->launch.shared, 256);
    LLVMPositionBuilderAtEnd(g->b, g->prologue.start);
    g->launch.threads = cg_block_field(g, offsetof(struct mr_block, threads), unit->i32, "threads");
    for (unsigned i = 0; i < 3; i++) {
        g->launch.ntid[i] = cg_block_field(g, offsetof(struct mr_block, ntid) + 4 * i, unit->i32, "ntid");
        g->launch.ctaid[i] = cg_block_field(g, offsetof(struct mr_block, ctaid) + 4 * i, unit->i32, "ctaid");
        g->launch.nctaid[i] = cg_block_field(g, offsetof(struct mr_block, nctaid) + 4 * i, unit->i32, "nctaid");
    }
}

/* What may be spilled of the registers counts for the frame, within reason. */
#define SPILLED_MAX (256u << 10)

/* One scalar for each row. */
static LLVMTypeRef per_row(struct cg *g, LLVMTypeRef type)
{
    return g->flow.rows == 1 ? type : LLVMArrayType2(type, g->flow.rows);
}

void cg_frame_registers(struct cg *g)
{
    uint64_t spilled = 0;
    for (uint32_t r = 0; r < g->flow.reg_count; r++) {
        LLVMTypeRef type = r + 1 == g->flow.reg_count ? g->unit->i1 : cg_reg_type(g, g->func->regs[r].type);
        struct mr_class c = mr_flow_register_class(&g->flow, r);
        if (c.kind == MR_CLASS_VARYING) {
            spilled += g->unit->width * (cg_bits(type) + 7) / 8;
            type = cg_vector_type(type, g->unit->width);
        } else if (c.kind == MR_CLASS_AFFINE) {
            type = per_row(g, type);
        } else if (c.kind == MR_CLASS_STEPPED) {
            type = cg_stepped_slot_type(g, c);
        }
        g->regs.slots[r] = cg_slot(g, type, "");
        if (c.kind == MR_CLASS_AFFINE && c.wrap)
            g->regs.breaks[r] = cg_slot(g, per_row(g, g->unit->i32), "");
    }
    g->memory.bytes += spilled < SPILLED_MAX ? spilled : SPILLED_MAX;
}

void cg_frame_variables(struct cg *g)
{
    for (uint32_t i = 0; i < g->func->var_count; i++) {
        const struct mr_ptx_var *var = g->func->vars[i];
        if (!mr_flow_is_per_lane(var) || var->reg != MR_PTX_NONE || (g->regions && var->space == MR_PTX_SPACE_LOCAL))
            continue;
        uint64_t bytes = mr_flow_lane_stride(var) * g->unit->width;
        bool scalar = var->space == MR_PTX_SPACE_PARAM && !var->is_array && var->vector <= 1;
        if (scalar)
            bytes = var->size * g->unit->width;
        LLVMTypeRef type = scalar ? cg_vector_type(cg_int_type(g, (unsigned)var->size * 8), g->unit->width)
                                  : LLVMArrayType2(g->unit->i8, bytes);
        LLVMValueRef slot = cg_slot(g, type, var->name);
        LLVMSetAlignment(slot, var->align > 64 ? var->align : 64);
        g->memory.vars[i] = slot;
        g->memory.bytes += bytes;
    }
    if (g->func->is_entry)
        return;
    for (uint32_t i = 0; i < g->func->param_count + g->func->return_count; i++)
        g->memory.vars[g->func->var_count + i] = LLVMGetParam(g->fn, 3 + i);
}

/* A jump by a number that differs from lane to lane adds to the masks of all its targets; at the end of other blocks
 * those in `pend` are looked at. */
static void find_kept(struct cg *g)
{
    size_t words = mr_bit_words(g->flow.block_count);
    for (uint32_t b = 0; b < g->flow.block_count; b++) {
        const struct mr_flow_block *block = &g->flow.blocks[b];
        for (size_t w = 0; w < words; w++)
            g->parking.kept[w] |= g->parking.crowded ? ~UINT64_C(0) : block->pend[w];
        for (uint32_t i = 0; block->end_kind == MR_END_TABLE && i < block->succ_count; i++)
            mr_bit_set(g->parking.kept, block->succs[i]);
    }
}

/* LLVM walks over much of the function for each slot that it makes a value of, if the slot is stored to at several
 * places. Code that is made in full has them as values all the same: of each loop that stores to one LLVM would take
 * the store out, and then look at all that follows in the function. */
static bool are_masks_in_memory(const struct cg *g)
{
    const struct mr_codegen_request *request = g->unit->request;
    return !g->parking.crowded && g->flow.block_count > MR_FLOW_MASKS_IN_MEMORY &&
           (request->hurry || request->optimisation < 2);
}

static void keep_masks_in_memory(struct cg *g)
{
    uint32_t count = g->flow.block_count, used = 0;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMValueRef array = cg_slot_in_memory(g, LLVMArrayType2(g->unit->mask, count), "parked");
    LLVMPositionBuilderBefore(g->b, g->prologue.end);
    for (uint32_t b = mr_bit_next(g->parking.kept, 0, count); b < count;
         b = mr_bit_next(g->parking.kept, b + 1, count)) {
        LLVMValueRef place = LLVMConstInt(g->unit->i64, (uint64_t)used++ * cg_bits(g->unit->mask) / 8, false);
        g->parking.masks[b] = LLVMBuildInBoundsGEP2(g->b, g->unit->i8, array, &place, 1, "");
    }
    g->memory.bytes += 8ull * count;
    LLVMPositionBuilderAtEnd(g->b, here);
    cg_line_again(g);
}

void cg_frame_parking(struct cg *g)
{
    uint32_t count = g->flow.block_count;
    g->parking.crowded = g->flow.dispatched || (g->flow.crowded && !g->regions);
    if (g->parking.crowded)
        cg_dispatcher_slots(g);
    for (uint32_t b = 0; b < count; b++) {
        g->parking.entries[b] = cg_new_block(g, "block");
        if (!g->parking.crowded)
            g->parking.masks[b] = cg_slot(g, g->unit->mask, "parked");
    }
    find_kept(g);
    if (are_masks_in_memory(g))
        keep_masks_in_memory(g);
}

/* Parks the function's lanes in front of its first block. */
static void start(struct cg *g, LLVMValueRef mask)
{
    LLVMBuildStore(g->b, mask, g->parking.masks[0]);
    LLVMBuildBr(g->b, g->parking.entries[0]);
}

/* A kernel that may wait by plain loads may be interrupted, and its warps behind the one at hand given to others
 * (MR_CODE_PARTS). So each warp is noted first, and then begins only if it has not been given away, or is the call's
 * first: an interrupt between the two, or before, finds out which warps the call has begun. */
static void leave_if_given_away(struct cg *g, LLVMValueRef noted)
{
    struct cg_unit *unit = g->unit;
    bool parts = false;
    for (uint32_t i = 0; i < unit->entry->reachable_count; i++)
        parts |= unit->facts[unit->entry->reachable[i]->index].may_wait;
    if (!parts || g->launch.several)
        return;
    unit->flags |= MR_CODE_PARTS;
    LLVMSetVolatile(noted, true);
    LLVMValueRef place = LLVMConstInt(unit->i64, offsetof(struct mr_block, warp_limit), false);
    LLVMValueRef limit =
        LLVMBuildLoad2(g->b, unit->i32, LLVMBuildGEP2(g->b, unit->i8, g->launch.block, &place, 1, ""), "limit");
    LLVMSetVolatile(limit, true);
    LLVMBasicBlockRef leave = cg_new_block(g, "given_away"), stay = cg_new_block(g, "stay");
    LLVMValueRef given = LLVMBuildICmp(g->b, LLVMIntUGE, g->warp.number, limit, "");
    LLVMValueRef later = LLVMBuildICmp(g->b, LLVMIntNE, g->warp.number, LLVMGetParam(g->fn, 1), "");
    cg_mark_unlikely(g, LLVMBuildCondBr(g->b, LLVMBuildAnd(g->b, given, later, ""), leave, stay));
    LLVMPositionBuilderAtEnd(g->b, leave);
    LLVMBuildRetVoid(g->b);
    LLVMPositionBuilderAtEnd(g->b, stay);
}

void cg_frame_start_kernel(struct cg *g, LLVMBasicBlockRef *loop, LLVMValueRef *warp)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef first = LLVMGetParam(g->fn, 1);
    g->warp.state = cg_slot(g, cg_state_type(unit), "state");
    if (unit->allocas) {
        g->warp.stack_saved = cg_stack_memory(g);
        unit->lane_stacks = (uint64_t)MR_LANE_STACK * unit->width;
    }
    if (g->regions) {
        *loop = cg_regions_begin(g);
        cg_find_thread(g);
        cg_regions_note_thread(g);
        start(g, cg_first_mask(g));
        return;
    }
    *loop = cg_new_block(g, "warp");
    LLVMPositionBuilderAtEnd(g->b, *loop);
    if (g->launch.several) {
        cg_blocks_begin(g, g->prologue.start, *loop);
    } else {
        *warp = g->warp.number = LLVMBuildPhi(g->b, unit->i32, "warp");
        LLVMAddIncoming(g->warp.number, &first, &g->prologue.start, 1);
    }
    LLVMBuildStore(g->b, g->warp.number, LLVMBuildStructGEP2(g->b, cg_state_type(unit), g->warp.state, 0, ""));
    leave_if_given_away(g, cg_note_warp(g));
    LLVMBuildStore(g->b, LLVMConstInt(unit->i32, 0, false),
                   LLVMBuildStructGEP2(g->b, cg_state_type(unit), g->warp.state, 1, ""));
    if (unit->allocas)
        cg_stack_start(g, g->warp.stack_saved);
    cg_find_thread(g);
    cg_clear_warp(g);
    start(g, cg_first_mask(g));
}

void cg_frame_start_function(struct cg *g, LLVMBasicBlockRef *loop)
{
    g->warp.state = LLVMGetParam(g->fn, 1);
    *loop = cg_new_block(g, "start");
    LLVMPositionBuilderAtEnd(g->b, *loop);
    g->warp.number = LLVMBuildLoad2(g->b, g->unit->i32,
                                    LLVMBuildStructGEP2(g->b, cg_state_type(g->unit), g->warp.state, 0, ""), "warp");
    if (mr_flow_moves_stack(g->func))
        g->warp.stack_saved = cg_stack_load(g);
    cg_find_thread(g);
    cg_clear_warp(g);
    for (uint32_t i = 0; i < g->func->param_count; i++) {
        const struct mr_ptx_var *var = g->func->params[i];
        if (var->reg == MR_PTX_NONE)
            continue;
        LLVMTypeRef type = cg_vector_type(cg_passed_type(g, var->type), g->unit->width);
        LLVMValueRef value = LLVMBuildLoad2(g->b, type, *cg_var_slot(g, var), "");
        if (var->type == MR_PTX_TYPE_PRED)
            value = cg_resize(g, value, g->unit->i1, false);
        LLVMBuildStore(g->b, value, g->regs.slots[var->reg]);
    }
    start(g, LLVMGetParam(g->fn, 2));
}

void cg_frame_end_kernel(struct cg *g, LLVMBasicBlockRef loop, LLVMValueRef warp)
{
    struct cg_unit *unit = g->unit;
    if (g->regions) {
        cg_regions_end(g);
        LLVMBuildRetVoid(g->b);
        return;
    }
    LLVMBasicBlockRef done = cg_new_block(g, "done");
    LLVMPositionBuilderAtEnd(g->b, g->parking.finish);
    if (g->launch.several) {
        cg_blocks_end(g, done);
    } else {
        LLVMValueRef next = LLVMBuildAdd(g->b, warp, LLVMConstInt(unit->i32, unit->width / 32, false), "");
        LLVMAddIncoming(warp, &next, &g->parking.finish, 1);
        LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntULT, next, LLVMGetParam(g->fn, 2), "");
        LLVMBuildCondBr(g->b, more, loop, done);
    }
    LLVMPositionBuilderAtEnd(g->b, done);
    LLVMBuildRetVoid(g->b);
}
