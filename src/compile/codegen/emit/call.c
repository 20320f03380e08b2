/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Calls: device functions, functions through pointers, and the services that the
 * runtime provides (vprintf, malloc, free, __assertfail, cudaGraphSetConditional,
 * __millrace_launch).
 */
#include "compile/codegen/emit/emit.h"

#include <string.h>

#include "base/alloc.h"

static void copy_piece(struct cg *g, LLVMValueRef to, LLVMValueRef from, LLVMValueRef at, unsigned bytes)
{
    LLVMTypeRef i8 = g->unit->i8, type = cg_vector_type(i8, bytes);
    LLVMValueRef value = LLVMBuildLoad2(g->b, type, LLVMBuildGEP2(g->b, i8, from, &at, 1, ""), "");
    LLVMSetAlignment(value, 1);
    LLVMSetAlignment(LLVMBuildStore(g->b, value, LLVMBuildGEP2(g->b, i8, to, &at, 1, "")), 1);
}

#define PIECE 64u

/* Copies bytes from one place to another that does not overlap it. */
static void copy_bytes(struct cg *g, LLVMValueRef to, LLVMValueRef from, uint64_t bytes)
{
    LLVMTypeRef i64 = g->unit->i64;
    uint64_t whole = bytes / PIECE * PIECE;
    if (whole) {
        LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), round = cg_new_block(g, "copy"),
                          done = cg_new_block(g, "copied");
        LLVMBuildBr(g->b, round);
        LLVMPositionBuilderAtEnd(g->b, round);
        LLVMValueRef at = LLVMBuildPhi(g->b, i64, "at");
        copy_piece(g, to, from, at, PIECE);
        LLVMValueRef next = LLVMBuildAdd(g->b, at, LLVMConstInt(i64, PIECE, false), "");
        LLVMAddIncoming(at, (LLVMValueRef[]){LLVMConstInt(i64, 0, false), next}, (LLVMBasicBlockRef[]){before, round},
                        2);
        LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntULT, next, LLVMConstInt(i64, whole, false), ""), round, done);
        LLVMPositionBuilderAtEnd(g->b, done);
    }
    for (unsigned piece = PIECE / 2; piece; piece /= 2)
        if (bytes & piece) {
            copy_piece(g, to, from, LLVMConstInt(i64, whole, false), piece);
            whole += piece;
        }
}

/* For a parameter that is an array of any size: a copy with the distance between lanes that the callee reckons with.
 * `var` may be NULL: nothing is passed. */
static LLVMValueRef open_slot(struct cg *g, const struct mr_ptx_var *var)
{
    LLVMTypeRef i8 = g->unit->i8, i64 = g->unit->i64;
    uint64_t stride = mr_flow_open_stride(g->func->module);
    LLVMValueRef slot = cg_slot(g, LLVMArrayType2(i8, stride * CG_LANES), "open");
    LLVMSetAlignment(slot, 64);
    g->memory.bytes += stride * CG_LANES;
    if (!var)
        return slot;
    uint64_t bytes = var->incomplete ? stride : var->size;
    uint64_t step = !var->is_array && var->vector <= 1 ? var->size : mr_flow_lane_stride(var);
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->now.exec, &loop);
    LLVMValueRef lane = LLVMBuildZExt(g->b, loop.lane, i64, "");
    LLVMValueRef from = LLVMBuildMul(g->b, lane, LLVMConstInt(i64, step, false), ""),
                 to = LLVMBuildMul(g->b, lane, LLVMConstInt(i64, stride, false), "");
    copy_bytes(g, LLVMBuildGEP2(g->b, i8, slot, &to, 1, ""),
               LLVMBuildGEP2(g->b, i8, *cg_var_slot(g, var), &from, 1, ""), bytes);
    cg_lane_loop_end(g, &loop);
    return slot;
}

/* Where the 32 lanes of an argument are: a .param variable's own slot, or a new one for a register or number. */
static LLVMValueRef argument_slot(struct cg *g, const struct mr_ptx_operand *operand, const struct mr_ptx_var *formal)
{
    if (operand->kind == MR_PTX_OPERAND_SYMBOL && formal && formal->incomplete)
        return open_slot(g, operand->var);
    if (operand->kind == MR_PTX_OPERAND_SYMBOL || operand->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS)
        return *cg_var_slot(g, operand->var);
    LLVMTypeRef type = cg_int_type(g, formal ? (unsigned)formal->size * 8 : 64);
    LLVMValueRef slot = cg_slot(g, cg_vector_type(type, CG_LANES), "argument");
    LLVMSetAlignment(slot, 64);
    g->now.lanes = CG_LANES;
    if (operand->kind != MR_PTX_OPERAND_SINK)
        LLVMBuildStore(g->b, cg_resize(g, cg_source(g, operand, type), type, false),
                       slot); /* !p is a bit whatever is asked for */
    return slot;
}

struct call {
    const struct mr_ptx_inst *inst;
    LLVMValueRef *slots; /* arguments, then returns */
    unsigned args, count;
};

static bool prepare(struct cg *g, const struct mr_ptx_inst *inst, struct call *call)
{
    const struct mr_ptx_call *c = inst->call;
    struct mr_ptx_var *const *params = NULL, *const *returns = NULL;
    uint32_t param_count = 0, return_count = 0;
    if (c->callee) {
        params = c->callee->params;
        param_count = c->callee->param_count;
        returns = c->callee->returns;
        return_count = c->callee->return_count;
    } else if (c->prototype) {
        params = c->prototype->params;
        param_count = c->prototype->param_count;
        returns = c->prototype->returns;
        return_count = c->prototype->return_count;
    }
    call->inst = inst;
    /* An array of any size may be left out at the end. */
    bool omitted = param_count == c->arg_count + 1;
    call->args = c->arg_count + omitted;
    call->count = call->args + c->return_count;
    call->slots = mr_calloc(call->count ? call->count : 1, sizeof *call->slots);
    if (!call->slots) {
        cg_fail(g->unit, inst, "memory is short");
        return false;
    }
    for (uint32_t i = 0; i < c->arg_count; i++)
        call->slots[i] = argument_slot(g, &c->args[i], i < param_count ? params[i] : NULL);
    if (omitted)
        call->slots[c->arg_count] = open_slot(g, NULL);
    for (uint32_t i = 0; i < c->return_count; i++)
        call->slots[call->args + i] = argument_slot(g, &c->returns[i], i < return_count ? returns[i] : NULL);
    return true;
}

/* Return values that go to registers. */
static void take_returns(struct cg *g, const struct call *call)
{
    const struct mr_ptx_call *c = call->inst->call;
    for (uint32_t i = 0; i < c->return_count; i++) {
        if (c->returns[i].kind != MR_PTX_OPERAND_REG)
            continue;
        LLVMTypeRef type = cg_passed_type(g, c->returns[i].type);
        g->now.lanes = CG_LANES;
        LLVMValueRef value = LLVMBuildLoad2(g->b, cg_vector_type(type, CG_LANES), call->slots[call->args + i], "");
        cg_write(g, &c->returns[i],
                 c->returns[i].type == MR_PTX_TYPE_PRED ? cg_resize(g, value, g->unit->i1, false) : value);
    }
}

static void call_function(struct cg *g, const struct mr_ptx_function *callee, const struct call *call,
                          LLVMValueRef mask)
{
    LLVMValueRef fn = g->unit->callees[callee->index], *args = mr_calloc(call->count + 3, sizeof *args);
    if (!fn || !args) {
        cg_fail(g->unit, call->inst, "memory is short");
        mr_free(args);
        return;
    }
    args[0] = g->launch.block;
    args[1] = g->warp.state;
    args[2] = mask;
    for (unsigned i = 0; i < call->count; i++)
        args[3 + i] = call->slots[i];
    LLVMBuildCall2(g->b, LLVMGlobalGetValueType(fn), fn, args, call->count + 3, "");
    mr_free(args);
}

static bool fits(const struct mr_ptx_function *func, const struct mr_ptx_call *call, uint32_t args)
{
    if (func->is_entry || !func->has_body || func->param_count != args || func->return_count != call->return_count)
        return false;
    for (uint32_t i = 0; call->prototype && i < func->param_count; i++)
        if (func->params[i]->size != call->prototype->params[i]->size ||
            func->params[i]->incomplete != call->prototype->params[i]->incomplete)
            return false;
    for (uint32_t i = 0; call->prototype && i < func->return_count; i++)
        if (func->returns[i]->size != call->prototype->returns[i]->size)
            return false;
    return true;
}

/* Lanes may hold different targets: each round takes the lowest lane's and serves all that agree with it. */
static void call_indirectly(struct cg *g, const struct call *call)
{
    struct cg_unit *unit = g->unit;
    const struct mr_ptx_call *c = call->inst->call;
    const struct mr_ptx_operand target = {
        .kind = MR_PTX_OPERAND_REG, .reg = c->callee_reg, .type = g->func->regs[c->callee_reg].type};
    g->now.lanes = CG_LANES;
    LLVMValueRef targets = cg_source(g, &target, unit->i64);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), round = cg_new_block(g, "round"),
                      on = cg_new_block(g, "called");
    LLVMBasicBlockRef done = cg_new_block(g, "all.called"), bad = cg_new_block(g, "bad.target");
    LLVMBuildBr(g->b, round);
    LLVMPositionBuilderAtEnd(g->b, round);
    LLVMValueRef rest = LLVMBuildPhi(g->b, unit->i32, "rest");
    LLVMTypeRef type = unit->i32;
    uint64_t held = mr_ptx_type_bits((enum mr_ptx_type)target.type) == 32
                        ? UINT32_MAX
                        : UINT64_MAX; /* what the register has of an address */
    LLVMValueRef lane =
        cg_intrinsic(g, "llvm.cttz", &type, 1, (LLVMValueRef[]){rest, LLVMConstInt(unit->i1, 1, false)}, 2);
    LLVMValueRef mine = LLVMBuildExtractElement(g->b, targets, lane, "");
    LLVMValueRef same = cg_mask_bits(g, LLVMBuildICmp(g->b, LLVMIntEQ, targets, cg_splat(g, mine), ""));
    same = LLVMBuildAnd(g->b, same, rest, "");
    LLVMValueRef jump = LLVMBuildSwitch(g->b, mine, bad, 8);
    for (uint32_t i = 0; i < unit->entry->reachable_count; i++) {
        const struct mr_ptx_function *func = unit->entry->reachable[i];
        if (!fits(func, c, call->args))
            continue;
        LLVMBasicBlockRef arm = cg_new_block(g, "target");
        LLVMAddCase(jump, LLVMConstInt(unit->i64, mr_layout_function_value(unit->request->layout, func) & held, false),
                    arm);
        LLVMPositionBuilderAtEnd(g->b, arm);
        call_function(g, func, call, same);
        LLVMBuildBr(g->b, on);
    }
    LLVMPositionBuilderAtEnd(g->b, bad);
    cg_emit_trap(g, MR_TRAP_BAD_CALL);
    LLVMBuildUnreachable(g->b);
    LLVMPositionBuilderAtEnd(g->b, on);
    LLVMValueRef left = LLVMBuildAnd(g->b, rest, LLVMBuildNot(g->b, same, ""), "");
    LLVMAddIncoming(rest, (LLVMValueRef[]){g->now.exec, left}, (LLVMBasicBlockRef[]){before, on}, 2);
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntNE, left, LLVMConstInt(unit->i32, 0, false), "");
    LLVMBuildCondBr(g->b, more, round, done);
    LLVMPositionBuilderAtEnd(g->b, done);
}

static LLVMValueRef lane_of(struct cg *g, LLVMValueRef slot, LLVMTypeRef type, LLVMValueRef lane)
{
    return LLVMBuildLoad2(g->b, type, LLVMBuildGEP2(g->b, type, slot, &lane, 1, ""), "");
}

/* Where a service puts the lanes' results: the call's, or a place that nobody reads if it has none. */
static LLVMValueRef service_result(struct cg *g, const struct call *call, LLVMTypeRef type)
{
    if (call->count > call->args)
        return call->slots[call->args];
    LLVMValueRef slot = cg_slot(g, cg_vector_type(type, CG_LANES), "unread");
    LLVMSetAlignment(slot, 64);
    return slot;
}

/* The functions that CUDA's device runtime provides; names and shapes are checked when the module is loaded. */
static void call_service(struct cg *g, const char *name, const struct call *call)
{
    struct cg_unit *unit = g->unit;
    LLVMValueRef *slots = call->slots;
    if (strcmp(name, "vprintf") == 0) {
        LLVMValueRef args[4] = {g->now.exec, slots[0], slots[1], service_result(g, call, unit->i32)};
        cg_runtime_call(g, offsetof(struct mr_runtime, print), unit->void_type, args, 4);
    } else if (strcmp(name, "malloc") == 0) {
        LLVMValueRef args[4] = {g->now.exec, slots[0], LLVMConstNull(LLVMTypeOf(slots[0])),
                                service_result(g, call, unit->i64)};
        cg_runtime_call(g, offsetof(struct mr_runtime, allocate), unit->void_type, args, 4);
    } else if (strcmp(name, "__cuda_syscall_aligned_malloc") == 0) {
        LLVMValueRef args[4] = {g->now.exec, slots[0], slots[1], service_result(g, call, unit->i64)};
        cg_runtime_call(g, offsetof(struct mr_runtime, allocate), unit->void_type, args, 4);
    } else if (strcmp(name, "free") == 0) {
        LLVMValueRef args[2] = {g->now.exec, slots[0]};
        cg_runtime_call(g, offsetof(struct mr_runtime, release), unit->void_type, args, 2);
    } else if (strcmp(name, "cudaGraphSetConditional") == 0) {
        LLVMValueRef args[3] = {g->now.exec, slots[0], slots[1]};
        cg_runtime_call(g, offsetof(struct mr_runtime, set_conditional), unit->void_type, args, 3);
    } else if (strcmp(name, "__millrace_launch") == 0) {
        LLVMValueRef args[4] = {g->now.exec, slots[0], slots[1], service_result(g, call, unit->i32)};
        cg_runtime_call(g, offsetof(struct mr_runtime, launch), unit->void_type, args, 4);
        unit->flags |= MR_CODE_LAUNCHES;
    } else if (strcmp(name, "__assertfail") == 0) {
        LLVMTypeRef type = unit->i32;
        LLVMValueRef lane =
            cg_intrinsic(g, "llvm.cttz", &type, 1, (LLVMValueRef[]){g->now.exec, LLVMConstInt(unit->i1, 1, false)}, 2);
        LLVMValueRef first = LLVMBuildShl(g->b, g->warp.number, LLVMConstInt(unit->i32, 5, false), "");
        LLVMValueRef args[5] = {
            cg_pointer(g, lane_of(g, slots[0], unit->i64, lane)), cg_pointer(g, lane_of(g, slots[1], unit->i64, lane)),
            lane_of(g, slots[2], unit->i32, lane), cg_pointer(g, lane_of(g, slots[3], unit->i64, lane)),
            LLVMBuildAdd(g->b, first, lane, "")};
        cg_runtime_call(g, offsetof(struct mr_runtime, assert_fail), unit->void_type, args, 5);
    } else {
        cg_fail(unit, call->inst, "a function without a body");
    }
}

bool cg_emit_call(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct call call;
    const struct mr_ptx_function *callee;
    switch (inst->op) {
    case MR_PTX_OP_TRAP:
    case MR_PTX_OP_BRKPT:
        cg_emit_trap(g, inst->op == MR_PTX_OP_TRAP ? MR_TRAP_TRAP : MR_TRAP_BREAKPOINT);
        return true;
    case MR_PTX_OP_CALL:
        if (!prepare(g, inst, &call))
            return true;
        callee = mr_layout_resolve(inst->call->callee);
        if (!callee)
            call_indirectly(g, &call);
        else if (callee->has_body)
            call_function(g, callee, &call, g->now.exec);
        else
            call_service(g, callee->name, &call);
        take_returns(g, &call);
        mr_free(call.slots);
        return true;
    default:
        return false;
    }
}
