/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A function's frame: the prologue with its slots and hoisted loads, the loop
 * over warps (kernels), the start of a warp, then each block's instructions.
 */
#include "compile/codegen/basics/lines.h"
#include "compile/codegen/body/blocks.h"
#include "compile/codegen/body/dispatcher.h"
#include "compile/codegen/body/early.h"
#include "compile/codegen/body/stack.h"
#include "compile/codegen/body/turns.h"
#include "compile/codegen/numbers/contract.h"
#include "compile/codegen/operands/access.h"
#include "compile/codegen/operands/narrow.h"
#include "compile/codegen/operands/parameters.h"
#include "compile/codegen/operands/stepped.h"

#include "base/memory.h"

LLVMTypeRef cg_state_type(const struct cg_unit *unit)
{
    /* Number of the warp; lanes that have exited the kernel; stack pointers of the lanes, the memory that they point into, and how
     * many bytes of it each lane has. */
    LLVMTypeRef fields[5] = {unit->i32, unit->i32, LLVMArrayType2(unit->i64, CG_LANES_MAX), unit->i64, unit->i64};
    return LLVMStructTypeInContext(unit->context, fields, unit->allocas ? 5 : 2, false);
}

LLVMTypeRef cg_function_type(const struct cg_unit *unit, const struct mr_ptx_function *func)
{
    if (func->is_entry) {
        LLVMTypeRef kernel[3] = {unit->ptr, unit->i32, unit->i32};
        return LLVMFunctionType(unit->void_type, kernel, 3, false);
    }
    /* block, state, mask, then a pointer to 32 lanes of each parameter and each return value */
    unsigned count = 3 + func->param_count + func->return_count;
    LLVMTypeRef *types = mr_calloc(count, sizeof *types);
    if (!types)
        return NULL;
    for (unsigned i = 0; i < count; i++)
        types[i] = i == 2 ? unit->i32 : unit->ptr;
    LLVMTypeRef type = LLVMFunctionType(unit->void_type, types, count, false);
    mr_free(types);
    return type;
}

LLVMValueRef *cg_var_slot(struct cg *g, const struct mr_ptx_var *var)
{
    uint32_t index = var->index;
    if (var->is_input)
        index += g->func->var_count;
    else if (var->is_return)
        index += g->func->var_count + g->func->param_count;
    return &g->var_slots[index];
}

static void hoist_fields(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    g->runtime = cg_block_field(g, offsetof(struct mr_block, runtime), unit->ptr, "runtime");
    g->params = cg_block_field(g, offsetof(struct mr_block, params), unit->ptr, "params");
    g->symbols = cg_block_field(g, offsetof(struct mr_block, symbols), unit->ptr, "symbols");
    g->shared = cg_block_field(g, offsetof(struct mr_block, shared), unit->i64, "shared");
    LLVMPositionBuilderBefore(g->b, g->prologue_end);
    g->params_place = cg_narrow_parameters(g, g->params);
    g->shared = cg_aligned(g, g->shared, 256);
    LLVMPositionBuilderAtEnd(g->b, g->prologue);
    g->threads = cg_block_field(g, offsetof(struct mr_block, threads), unit->i32, "threads");
    for (unsigned i = 0; i < 3; i++) {
        g->ntid[i] = cg_block_field(g, offsetof(struct mr_block, ntid) + 4 * i, unit->i32, "ntid");
        g->ctaid[i] = cg_block_field(g, offsetof(struct mr_block, ctaid) + 4 * i, unit->i32, "ctaid");
        g->nctaid[i] = cg_block_field(g, offsetof(struct mr_block, nctaid) + 4 * i, unit->i32, "nctaid");
    }
}

/* What may be spilled of the registers counts for the frame, within reason. */
#define SPILLED_MAX (256u << 10)

/* One scalar for each row. */
static LLVMTypeRef per_row(struct cg *g, LLVMTypeRef type)
{
    return g->flow.rows == 1 ? type : LLVMArrayType2(type, g->flow.rows);
}

static void make_register_slots(struct cg *g)
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
        g->slots[r] = cg_slot(g, type, "");
        if (c.kind == MR_CLASS_AFFINE && c.wrap)
            g->breaks[r] = cg_slot(g, per_row(g, g->unit->i32), "");
    }
    g->frame += spilled < SPILLED_MAX ? spilled : SPILLED_MAX;
}

static void make_variable_slots(struct cg *g)
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
        g->var_slots[i] = slot;
        g->frame += bytes;
    }
    if (g->func->is_entry)
        return;
    for (uint32_t i = 0; i < g->func->param_count + g->func->return_count; i++)
        g->var_slots[g->func->var_count + i] = LLVMGetParam(g->fn, 3 + i);
}

static void make_parking(struct cg *g)
{
    uint32_t count = g->flow.block_count;
    g->crowded = g->flow.dispatched || (g->flow.crowded && !g->regions);
    if (g->crowded)
        cg_dispatcher_slots(g);
    for (uint32_t b = 0; b < count; b++) {
        g->entries[b] = cg_new_block(g, "block");
        if (!g->crowded)
            g->parked[b] = cg_slot(g, g->unit->mask, "parked");
    }
}

/* Registers and masks at the start of a warp: zero, so that what was never written is at least the same each time. Registers that are always written before they are
 * read, as nearly all are, need none: LLVM makes a value of a slot in no time if it is stored to once. */
void cg_clear_warp(struct cg *g)
{
    for (uint32_t r = 0; r < g->flow.reg_count; r++) {
        if (!mr_bit_get(g->flow.blocks[0].live_in, r))
            continue;
        LLVMBuildStore(g->b, LLVMConstNull(LLVMGetAllocatedType(g->slots[r])), g->slots[r]);
        if (g->breaks[r])
            for (g->row = 0; g->row < g->flow.rows; g->row++)
                LLVMBuildStore(g->b, LLVMConstInt(g->unit->i32, cg_row_lanes(g), false), cg_row_place(g, g->breaks[r]));
        g->row = 0;
    }
    if (g->crowded) {
        cg_dispatcher_clear(g);
        return;
    }
    for (uint32_t b = 0; b < g->flow.block_count; b++)
        LLVMBuildStore(g->b, cg_mask_zero(g), g->parked[b]);
}

LLVMValueRef cg_bounded_tid(struct cg *g, unsigned axis, LLVMValueRef tid)
{
    if (LLVMGetTypeKind(LLVMTypeOf(tid)) == LLVMVectorTypeKind)
        return tid;
    unsigned bits = axis == 2 ? 63 : 1023;
    if (axis == 0 && (g->unit->request->shape & MR_SHAPE_LINEAR))
        bits &= ~(CG_LANES - 1);
    return LLVMBuildAnd(g->b, tid, LLVMConstInt(g->unit->i32, bits, false), "tid");
}

/* tid from the number of the warp: see MR_SHAPE_LINEAR. The builder may go on in another block. */
static void find_any_thread(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    LLVMBuilderRef b = g->b;
    LLVMValueRef first = LLVMBuildShl(b, g->warp, LLVMConstInt(unit->i32, 5, false), "first");
    if (unit->request->shape & MR_SHAPE_LINEAR) {
        /* Most blocks are one row: then there is nothing to divide. */
        LLVMValueRef zero = LLVMConstInt(unit->i32, 0, false);
        LLVMBasicBlockRef here = LLVMGetInsertBlock(b), later = cg_new_block(g, "row"), on = cg_new_block(g, "thread");
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, first, g->ntid[0], ""), on, later);
        LLVMPositionBuilderAtEnd(b, later);
        LLVMValueRef row = LLVMBuildUDiv(b, first, g->ntid[0], "");
        LLVMValueRef z = LLVMBuildUDiv(b, row, g->ntid[1], "");
        LLVMValueRef found[3] = {LLVMBuildSub(b, first, LLVMBuildMul(b, row, g->ntid[0], ""), ""), LLVMBuildSub(b, row, LLVMBuildMul(b, z, g->ntid[1], ""), ""), z};
        LLVMBuildBr(b, on);
        LLVMPositionBuilderAtEnd(b, on);
        for (unsigned i = 0; i < 3; i++) {
            g->tid[i] = LLVMBuildPhi(b, unit->i32, "tid");
            LLVMAddIncoming(g->tid[i], (LLVMValueRef[]){i ? zero : first, found[i]}, (LLVMBasicBlockRef[]){here, later}, 2);
        }
        return;
    }
    if (g->flow.rows > 1) {
        LLVMValueRef row = LLVMBuildMul(b, g->warp, LLVMConstInt(unit->i32, mr_flow_shape_rows(g->flow.shape), false), "");
        g->tid[0] = LLVMConstInt(unit->i32, 0, false);
        g->tid[2] = LLVMBuildUDiv(b, row, g->ntid[1], "tid.z");
        row = LLVMBuildSub(b, row, LLVMBuildMul(b, g->tid[2], g->ntid[1], ""), "tid.y");
        g->tid[1] = row;
        return;
    }
    /* Small numbers: the quotient of floats, half a step in, never rounds to the wrong side. */
    g->lanes = g->unit->width;
    LLVMValueRef n = LLVMBuildAdd(b, cg_splat(g, first), cg_lane_numbers(g, unit->i32, 1), "");
    LLVMTypeRef floats = cg_type(g, unit->f32), ints = cg_type(g, unit->i32);
    for (unsigned axis = 0; axis < 2; axis++) {
        LLVMValueRef size = cg_splat(g, g->ntid[axis]);
        LLVMValueRef half = LLVMBuildFAdd(b, LLVMBuildSIToFP(b, n, floats, ""), cg_real(g, unit->f32, 0.5), "");
        LLVMValueRef quotient = LLVMBuildFDiv(b, half, LLVMBuildSIToFP(b, size, floats, ""), "");
        LLVMValueRef row = LLVMBuildFPToSI(b, quotient, ints, "");
        g->tid[axis] = LLVMBuildSub(b, n, LLVMBuildMul(b, row, size, ""), "tid");
        n = row;
    }
    g->tid[2] = n;
}

static void find_thread(struct cg *g)
{
    find_any_thread(g);
    for (unsigned axis = 0; axis < 3; axis++)
        g->tid[axis] = cg_bounded_tid(g, axis, g->tid[axis]);
}

/* Lanes of the warp that exist. */
LLVMValueRef cg_first_mask(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    if (unit->request->shape & MR_SHAPE_FULL)
        return LLVMConstAllOnes(unit->mask);
    LLVMValueRef first = LLVMBuildShl(g->b, g->warp, LLVMConstInt(unit->i32, 5, false), "");
    LLVMValueRef left = LLVMBuildSub(g->b, g->threads, first, "");
    LLVMValueRef full = LLVMBuildICmp(g->b, LLVMIntUGE, left, LLVMConstInt(unit->i32, g->unit->width, false), "");
    LLVMValueRef shift = LLVMBuildAnd(g->b, left, LLVMConstInt(unit->i32, g->unit->width - 1, false), "");
    LLVMValueRef bits = LLVMBuildShl(g->b, LLVMConstInt(unit->i32, 1, false), shift, "");
    bits = LLVMBuildSub(g->b, bits, LLVMConstInt(unit->i32, 1, false), "");
    return LLVMBuildSelect(g->b, full, LLVMConstAllOnes(unit->i32), bits, "alive");
}

/* Parks the function's lanes in front of its first block. */
static void start(struct cg *g, LLVMValueRef mask)
{
    LLVMBuildStore(g->b, mask, g->parked[0]);
    LLVMBuildBr(g->b, g->entries[0]);
}

/* A kernel that may wait by plain loads may be interrupted, and its warps behind the one at hand given to others (MR_CODE_PARTS). So each warp is noted first, and then
 * begins only if it has not been given away, or is the call's first: whoever interrupts the code between the two, or before, finds out which warps the call has begun. */
static void leave_if_given_away(struct cg *g, LLVMValueRef noted)
{
    struct cg_unit *unit = g->unit;
    bool parts = false;
    for (uint32_t i = 0; i < unit->entry->reachable_count; i++)
        parts |= unit->facts[unit->entry->reachable[i]->index].may_wait;
    if (!parts || g->blocks)
        return;
    unit->flags |= MR_CODE_PARTS;
    LLVMSetVolatile(noted, true);
    LLVMValueRef place = LLVMConstInt(unit->i64, offsetof(struct mr_block, warp_limit), false);
    LLVMValueRef limit = LLVMBuildLoad2(g->b, unit->i32, LLVMBuildGEP2(g->b, unit->i8, g->block, &place, 1, ""), "limit");
    LLVMSetVolatile(limit, true);
    LLVMBasicBlockRef leave = cg_new_block(g, "given_away"), stay = cg_new_block(g, "stay");
    LLVMValueRef given = LLVMBuildICmp(g->b, LLVMIntUGE, g->warp, limit, "");
    LLVMValueRef later = LLVMBuildICmp(g->b, LLVMIntNE, g->warp, LLVMGetParam(g->fn, 1), "");
    cg_mark_unlikely(g, LLVMBuildCondBr(g->b, LLVMBuildAnd(g->b, given, later, ""), leave, stay));
    LLVMPositionBuilderAtEnd(g->b, leave);
    LLVMBuildRetVoid(g->b);
    LLVMPositionBuilderAtEnd(g->b, stay);
}

static void start_kernel(struct cg *g, LLVMBasicBlockRef *loop, LLVMValueRef *warp)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef first = LLVMGetParam(g->fn, 1);
    g->state = cg_slot(g, cg_state_type(unit), "state");
    if (unit->allocas) {
        g->stack_saved = cg_stack_memory(g);
        unit->lane_stacks = (uint64_t)MR_LANE_STACK * unit->width;
    }
    if (g->regions) {
        *loop = cg_regions_begin(g);
        find_thread(g);
        cg_regions_note_thread(g);
        start(g, cg_first_mask(g));
        return;
    }
    *loop = cg_new_block(g, "warp");
    LLVMPositionBuilderAtEnd(g->b, *loop);
    if (g->blocks) {
        cg_blocks_begin(g, g->prologue, *loop);
    } else {
        *warp = g->warp = LLVMBuildPhi(g->b, unit->i32, "warp");
        LLVMAddIncoming(g->warp, &first, &g->prologue, 1);
    }
    LLVMBuildStore(g->b, g->warp, LLVMBuildStructGEP2(g->b, cg_state_type(unit), g->state, 0, ""));
    leave_if_given_away(g, cg_note_warp(g));
    LLVMBuildStore(g->b, LLVMConstInt(unit->i32, 0, false),
                   LLVMBuildStructGEP2(g->b, cg_state_type(unit), g->state, 1, ""));
    if (unit->allocas)
        cg_stack_start(g, g->stack_saved);
    find_thread(g);
    cg_clear_warp(g);
    start(g, cg_first_mask(g));
}

static void start_device_function(struct cg *g, LLVMBasicBlockRef *loop)
{
    g->state = LLVMGetParam(g->fn, 1);
    *loop = cg_new_block(g, "start");
    LLVMPositionBuilderAtEnd(g->b, *loop);
    g->warp = LLVMBuildLoad2(g->b, g->unit->i32,
                             LLVMBuildStructGEP2(g->b, cg_state_type(g->unit), g->state, 0, ""), "warp");
    if (cg_stack_is_used(g->func))
        g->stack_saved = cg_stack_load(g);
    find_thread(g);
    cg_clear_warp(g);
    for (uint32_t i = 0; i < g->func->param_count; i++) {
        const struct mr_ptx_var *var = g->func->params[i];
        if (var->reg == MR_PTX_NONE)
            continue;
        LLVMTypeRef type = cg_vector_type(cg_passed_type(g, var->type), g->unit->width);
        LLVMValueRef value = LLVMBuildLoad2(g->b, type, *cg_var_slot(g, var), "");
        if (var->type == MR_PTX_TYPE_PRED)
            value = cg_resize(g, value, g->unit->i1, false);
        LLVMBuildStore(g->b, value, g->slots[var->reg]);
    }
    start(g, LLVMGetParam(g->fn, 2));
}

static void end_kernel(struct cg *g, LLVMBasicBlockRef loop, LLVMValueRef warp)
{
    struct cg_unit *unit = g->unit;
    if (g->regions) {
        cg_regions_end(g);
        LLVMBuildRetVoid(g->b);
        return;
    }
    LLVMBasicBlockRef done = cg_new_block(g, "done");
    LLVMPositionBuilderAtEnd(g->b, g->finish);
    if (g->blocks) {
        cg_blocks_end(g, done);
    } else {
        LLVMValueRef next = LLVMBuildAdd(g->b, warp, LLVMConstInt(unit->i32, unit->width / 32, false), "");
        LLVMAddIncoming(warp, &next, &g->finish, 1);
        LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntULT, next, LLVMGetParam(g->fn, 2), "");
        LLVMBuildCondBr(g->b, more, loop, done);
    }
    LLVMPositionBuilderAtEnd(g->b, done);
    LLVMBuildRetVoid(g->b);
}

/* The guard of the instruction at hand, and the lanes that it leaves. */
static void begin_instruction(struct cg *g, const struct mr_ptx_inst *inst)
{
    g->inst = inst;
    if (inst)
        cg_line(g, inst->line, inst->column);
    g->looks = inst && cg_nan_looks(g, inst);
    g->scratch_used = 0;
    g->guard = NULL;
    g->guard_varies = false;
    g->exec = g->mask;
    g->exec_vector = g->mask_vector;
    if (!inst || inst->guard == MR_PTX_NONE)
        return;
    g->guard_varies = mr_flow_register_class(&g->flow, inst->guard).kind == MR_CLASS_VARYING;
    g->lanes = g->guard_varies ? g->unit->width : 1;
    g->guard = cg_read(g, inst->guard);
    if (inst->guard_negated)
        g->guard = LLVMBuildNot(g->b, g->guard, "");
    g->exec = LLVMBuildAnd(g->b, g->mask, cg_mask_bits(g, g->guard), "");
    g->exec_vector = cg_mask_vector(g, g->exec);
}

static bool has_effects(const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_LD: case MR_PTX_OP_LDU: case MR_PTX_OP_ST: case MR_PTX_OP_ATOM: case MR_PTX_OP_RED:
    case MR_PTX_OP_CALL: case MR_PTX_OP_BAR: case MR_PTX_OP_BARRIER: case MR_PTX_OP_NANOSLEEP: case MR_PTX_OP_TRAP:
    case MR_PTX_OP_BRKPT: case MR_PTX_OP_TEX: case MR_PTX_OP_TLD4: case MR_PTX_OP_SULD: case MR_PTX_OP_SUST: case MR_PTX_OP_SURED:
    case MR_PTX_OP_TXQ: case MR_PTX_OP_SUQ: case MR_PTX_OP_ISTYPEP:
    case MR_PTX_OP_LDMATRIX: case MR_PTX_OP_STMATRIX: case MR_PTX_OP_WMMA: case MR_PTX_OP_CP:
    case MR_PTX_OP_MBARRIER: case MR_PTX_OP_ST_ASYNC: case MR_PTX_OP_RED_ASYNC:
        return true;
    default:
        return false;
    }
}

static void emit_family(struct cg *g, const struct mr_ptx_inst *inst, struct mr_class c)
{
    if (c.kind == MR_CLASS_AFFINE && inst->dst_count && cg_emit_affine(g, inst, c))
        return;
    if (c.kind == MR_CLASS_STEPPED && mr_flow_register_class(&g->flow, inst->operands[0].reg).kind == MR_CLASS_STEPPED) {
        cg_emit_stepped(g, inst);
        return;
    }
    bool done = cg_emit_integer(g, inst) || cg_emit_bits(g, inst) || cg_emit_video(g, inst) || cg_emit_carry(g, inst) || cg_emit_half(g, inst)
        || cg_emit_float(g, inst) || cg_emit_compare(g, inst) || cg_emit_move(g, inst) || cg_emit_convert(g, inst)
        || cg_emit_memory(g, inst) || cg_emit_atomic(g, inst) || cg_emit_warp(g, inst) || cg_emit_barrier(g, inst)
        || cg_emit_texture(g, inst) || cg_emit_stack(g, inst) || cg_emit_matrix(g, inst) || cg_emit_async(g, inst)
        || cg_emit_cluster(g, inst) || cg_emit_call(g, inst);
    if (!done)
        cg_fail(g->unit, inst, "code generation does not know it");
}

void cg_emit_instruction(struct cg *g, const struct mr_ptx_inst *inst)
{
    begin_instruction(g, inst);
    struct mr_class c = inst->dst_count || inst->call || (inst->flags & MR_PTX_FLAG_CC)
        ? mr_flow_result_class(&g->flow, inst) : (struct mr_class){MR_CLASS_VARYING, 0, 0};
    g->lanes = c.kind == MR_CLASS_UNIFORM || c.kind == MR_CLASS_NONE ? 1 : g->unit->width;
    if (!g->guard || !has_effects(inst)) {
        emit_family(g, inst, c);
        return;
    }
    LLVMBasicBlockRef some = cg_new_block(g, "some"), on = cg_new_block(g, "on");
    LLVMValueRef any = LLVMBuildICmp(g->b, LLVMIntNE, g->exec, cg_mask_zero(g), "");
    LLVMBuildCondBr(g->b, any, some, on);
    LLVMPositionBuilderAtEnd(g->b, some);
    emit_family(g, inst, c);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

/* The instructions of a block and what comes after it, for the lanes in g->mask. */
static void emit_instructions(struct cg *g, const struct mr_flow_block *block)
{
    for (uint32_t i = block->first; i < block->end && !g->unit->error[0]; i++)
        if (!block->last || i + 1 < block->end)
            cg_emit_instruction(g, &g->func->insts[i]);
    begin_instruction(g, block->last);
    cg_emit_block_end(g);
}

/* Most instructions of a block that is there twice, and of its function: compiling takes time. */
#define TWICE_BLOCK 96u
#define TWICE_FUNCTION 256u

/* Whether an instruction takes less time where it is known that all lanes run. With AVX-512, masks are free but for loads from afar (by_mask in access.c). */
static bool gains_by_all_lanes(const struct cg *g, const struct mr_ptx_inst *inst)
{
    if (g->unit->wide)
        return cg_is_far(inst) && inst->op == MR_PTX_OP_LD;
    return (cg_is_far(inst) || inst->space == MR_PTX_SPACE_SHARED)
        && (inst->op == MR_PTX_OP_LD || inst->op == MR_PTX_OP_ST || inst->op == MR_PTX_OP_ATOM || inst->op == MR_PTX_OP_RED);
}

static bool is_worth_twice(const struct cg *g, const struct mr_flow_block *block)
{
    bool gains = false;
    if (g->unit->request->optimisation == 0 || g->unit->request->hurry || g->flow.dispatched || block->barrier || block->meets || block->end - block->first > TWICE_BLOCK
        || g->func->inst_count > TWICE_FUNCTION)
        return false;
    for (uint32_t i = block->first; i < block->end; i++) {
        const struct mr_ptx_inst *inst = &g->func->insts[i];
        if (inst->call || inst->op == MR_PTX_OP_WMMA || inst->op == MR_PTX_OP_MMA || (g->unit->wide && inst->space == MR_PTX_SPACE_SHARED))
            return false;
        gains |= gains_by_all_lanes(g, inst);
    }
    return gains;
}

static void emit_block(struct cg *g, uint32_t index)
{
    const struct mr_flow_block *block = &g->flow.blocks[index];
    LLVMPositionBuilderAtEnd(g->b, g->entries[index]);
    g->at = index;
    if (block->first < block->end)
        cg_line(g, g->func->insts[block->first].line, g->func->insts[block->first].column);
    g->mask = LLVMBuildLoad2(g->b, g->unit->mask, g->parked[index], "mask");
    LLVMBuildStore(g->b, cg_mask_zero(g), g->parked[index]);
    g->mask_vector = cg_mask_vector(g, g->mask);
    cg_regions_pause(g);
    if (block->barrier) {
        begin_instruction(g, NULL);
        cg_emit_early_arrival(g);
    }
    if (block->meets) {
        begin_instruction(g, NULL);
        cg_emit_members_wait(g);
    }
    if (!LLVMIsConstant(g->mask) && is_worth_twice(g, block)) {
        LLVMValueRef mask = g->mask, all = LLVMConstAllOnes(g->unit->mask);
        LLVMBasicBlockRef whole = cg_new_block(g, "whole"), part = cg_new_block(g, "part");
        LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, mask, all, ""), whole, part);
        LLVMPositionBuilderAtEnd(g->b, whole);
        g->mask = all;
        g->mask_vector = cg_mask_vector(g, all);
        emit_instructions(g, block);
        LLVMPositionBuilderAtEnd(g->b, part);
        g->mask = mask;
        g->mask_vector = cg_mask_vector(g, mask);
    }
    emit_instructions(g, block);
}

static bool allocate(struct cg *g)
{
    size_t regs = g->flow.reg_count, blocks = g->flow.block_count;
    size_t vars = (size_t)g->func->var_count + g->func->param_count + g->func->return_count;
    g->slots = mr_calloc(regs, sizeof *g->slots);
    g->breaks = mr_calloc(regs, sizeof *g->breaks);
    g->var_slots = mr_calloc(vars ? vars : 1, sizeof *g->var_slots);
    g->parked = mr_calloc(blocks, sizeof *g->parked);
    g->entries = mr_calloc(blocks, sizeof *g->entries);
    return g->slots && g->breaks && g->var_slots && g->parked && g->entries && cg_nan_prepare(g) && cg_contract_prepare(g) && cg_parameters_prepare(g);
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

static void emit_all(struct cg *g)
{
    struct cg_unit *unit = g->unit;
    LLVMBasicBlockRef loop;
    LLVMValueRef warp = NULL;
    struct cg_blocks blocks;
    if (g->func->is_entry && (unit->flags & MR_CODE_BLOCKS))
        g->blocks = &blocks;
    g->b = LLVMCreateBuilderInContext(unit->context);
    cg_lines_function(g);
    g->prologue = cg_new_block(g, "prologue");
    g->finish = cg_new_block(g, "finish");
    LLVMPositionBuilderAtEnd(g->b, g->prologue);
    g->prologue_end = LLVMBuildUnreachable(g->b);
    g->block = LLVMGetParam(g->fn, 0);
    hoist_fields(g);
    make_register_slots(g);
    bool good = cg_regions_plan(g);
    if (good && unit->width != CG_LANES && !g->regions && unit->facts[g->func->index].barriers) {
        /* They would have to wait each for itself. */
        run_paired(g, false);
        make_register_slots(g);
        good = cg_regions_plan(g);
    }
    if (!good)
        cg_fail(unit, NULL, "memory is short");
    make_variable_slots(g);
    make_parking(g);
    if (g->func->is_entry)
        start_kernel(g, &loop, &warp);
    else
        start_device_function(g, &loop);
    for (uint32_t b = 0; b < g->flow.block_count && !unit->error[0]; b++)
        emit_block(g, b);
    if (!unit->error[0]) {
        cg_line(g, g->func->line, g->func->column);
        if (g->crowded)
            cg_dispatcher_emit(g);
        if (g->func->is_entry) {
            end_kernel(g, loop, warp);
        } else {
            LLVMPositionBuilderAtEnd(g->b, g->finish);
            if (g->stack_saved)
                cg_stack_store(g, g->stack_saved);
            LLVMBuildRetVoid(g->b);
        }
        LLVMPositionBuilderBefore(g->b, g->prologue_end);
        LLVMBuildBr(g->b, loop);
        LLVMInstructionEraseFromParent(g->prologue_end);
    }
    LLVMDisposeBuilder(g->b);
}

bool cg_emit_function(struct cg_unit *unit, const struct mr_ptx_function *func)
{
    struct cg g = {.unit = unit, .func = func, .fn = unit->callees[func->index]};
    bool good = mr_flow_build(&g.flow, func, unit->facts, unit->request->shape) && allocate(&g);
    bool turns = good && unit->facts[func->index].barriers && mr_flow_regions_fit(&g.flow, unit->entry);
    if (good && unit->wide && unit->entry->reachable_count == 1 && mr_flow_pairs_fit(&g.flow, turns)
        && (unit->request->all_pairs || mr_flow_pairs_pay(&g.flow)))
        run_paired(&g, true);
    if (good)
        emit_all(&g);
    else
        cg_fail(unit, NULL, "memory is short");
    unit->frame_bytes += g.frame;
    cg_regions_clear(&g);
    mr_free(g.slots);
    mr_free(g.breaks);
    mr_free(g.loose);
    mr_free(g.contracted);
    mr_free(g.parameters);
    mr_free(g.early);
    mr_free(g.var_slots);
    mr_free(g.parked);
    mr_free(g.entries);
    mr_flow_clear(&g.flow);
    return good && !unit->error[0];
}
