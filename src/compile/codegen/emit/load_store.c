/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loads and stores: operands and results, parameters, orders. How memory is reached is access.c's matter.
 *
 * Anything stronger than a weak access is fenced off from the compiler's own
 * reordering; acquire and release get the processor's fence too. A uniform
 * access is volatile then, so that each round of a polling loop looks again.
 */
#include "compile/codegen/emit/emit.h"
#include "compile/codegen/operands/access.h"
#include "compile/codegen/operands/parameters.h"

static bool is_strong(const struct mr_ptx_inst *inst)
{
    return (inst->semantics != MR_PTX_SEM_NONE && inst->semantics != MR_PTX_SEM_WEAK) || inst->cache == MR_PTX_CACHE_CV;
}

static void compiler_fence(struct cg *g)
{
    LLVMBuildFence(g->b, LLVMAtomicOrderingAcquireRelease, true, "");
}

static const struct mr_ptx_operand *component(const struct mr_ptx_operand *operand, unsigned index)
{
    return operand->kind == MR_PTX_OPERAND_VECTOR ? &operand->elements[index] : operand;
}

/* A scalar parameter of a function or call is 32 lanes of one number, not memory with a stride. */
static bool is_lane_parameter(const struct mr_ptx_operand *address)
{
    if (address->kind != MR_PTX_OPERAND_SYMBOL_ADDRESS)
        return false;
    const struct mr_ptx_var *var = address->var;
    return var->space == MR_PTX_SPACE_PARAM && mr_flow_is_per_lane(var) && !var->is_array && var->vector <= 1;
}

static void lane_parameter(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *address,
                           bool is_load)
{
    const struct mr_ptx_var *var = address->var;
    unsigned whole = (unsigned)var->size * 8, bits = mr_ptx_type_bits(inst->type[0]);
    unsigned count = inst->vector ? inst->vector : 1;
    LLVMTypeRef type = cg_int_type(g, whole), part = cg_int_type(g, bits);
    LLVMValueRef slot = *cg_var_slot(g, var);
    g->now.lanes = g->unit->width;
    LLVMValueRef all = LLVMBuildLoad2(g->b, LLVMVectorType(type, g->unit->width), slot, ""), old = all;
    for (unsigned i = 0; i < count; i++) {
        uint64_t shift = ((uint64_t)address->value + (uint64_t)i * (bits / 8)) * 8;
        if (shift + bits > whole) {
            cg_fail(g->unit, inst, "an access outside a parameter");
            return;
        }
        if (is_load) {
            LLVMValueRef value = shift ? LLVMBuildLShr(g->b, all, cg_int(g, type, shift), "") : all;
            cg_write_extended(g, component(&inst->operands[0], i), cg_resize(g, value, part, false),
                              mr_ptx_type_class(inst->type[0]) == 'S');
            continue;
        }
        LLVMValueRef value = cg_resize(g, cg_source(g, component(&inst->operands[1], i), part), type, false);
        if (bits == whole) {
            all = value;
            continue;
        }
        uint64_t hole = ~((bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1) << shift);
        value = LLVMBuildShl(g->b, value, cg_int(g, type, shift), "");
        all = LLVMBuildOr(g->b, LLVMBuildAnd(g->b, all, cg_int(g, type, hole), ""), value, "");
    }
    if (!is_load)
        LLVMBuildStore(g->b, LLVMBuildSelect(g->b, g->now.exec_vector, all, old, ""), slot);
}

static void fence_for(struct cg *g, const struct mr_ptx_inst *inst, bool before)
{
    if (!is_strong(inst))
        return;
    if (before ? inst->semantics == MR_PTX_SEM_RELEASE : inst->semantics == MR_PTX_SEM_ACQUIRE)
        LLVMBuildFence(g->b, before ? LLVMAtomicOrderingRelease : LLVMAtomicOrderingAcquire, false, "");
    else
        compiler_fence(g);
}

/* 128 bits are two halves of 64. */
static void emit_quad(struct cg *g, const struct mr_ptx_inst *inst, bool is_load)
{
    struct cg_access a = {.inst = inst, .element = g->unit->i64, .bytes = 8, .count = 2, .strong = is_strong(inst)};
    LLVMTypeRef whole = cg_int_type(g, 128);
    cg_access_address(g, &inst->operands[is_load ? 1 : 0], &a);
    if (is_load) {
        cg_access_load(g, &a);
        LLVMValueRef high = cg_resize(g, a.values[1], whole, false);
        unsigned lanes = g->now.lanes;
        g->now.lanes = LLVMGetTypeKind(LLVMTypeOf(high)) == LLVMVectorTypeKind ? g->unit->width : 1;
        high = LLVMBuildShl(g->b, high, cg_int(g, whole, 64), "");
        cg_write(g, &inst->operands[0], LLVMBuildOr(g->b, high, cg_resize(g, a.values[0], whole, false), ""));
        g->now.lanes = lanes;
        return;
    }
    g->now.lanes = g->unit->width;
    LLVMValueRef value = cg_source(g, &inst->operands[1], whole);
    a.values[0] = cg_resize(g, value, g->unit->i64, false);
    a.values[1] = cg_resize(g, LLVMBuildLShr(g->b, value, cg_int(g, whole, 64), ""), g->unit->i64, false);
    cg_access_store(g, &a);
}

static struct cg_access plain_access(struct cg *g, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *address)
{
    struct cg_access a = {.inst = inst,
                          .element = cg_memory_type(g, inst->type[0]),
                          .bytes = mr_ptx_type_bytes(inst->type[0]),
                          .count = inst->vector ? inst->vector : 1,
                          .strong = is_strong(inst),
                          .constant = inst->space == MR_PTX_SPACE_CONST};
    cg_access_address(g, address, &a);
    return a;
}

static void emit_load(struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *address = &inst->operands[1];
    if (is_lane_parameter(address)) {
        lane_parameter(g, inst, address, true);
        return;
    }
    if (cg_emit_parameter_load(g, inst))
        return;
    struct cg_access a = plain_access(g, inst, address);
    cg_access_load(g, &a);
    bool sign = mr_ptx_type_class(inst->type[0]) == 'S';
    for (unsigned i = 0; i < a.count; i++) {
        const struct mr_ptx_operand *to = component(&inst->operands[0], i);
        if (to->kind != MR_PTX_OPERAND_SINK)
            cg_write_extended(g, to, a.values[i], sign);
    }
}

static void emit_store(struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *address = &inst->operands[0];
    if (is_lane_parameter(address)) {
        lane_parameter(g, inst, address, false);
        return;
    }
    struct cg_access a = plain_access(g, inst, address);
    for (unsigned i = 0; i < a.count; i++) {
        const struct mr_ptx_operand *from = component(&inst->operands[1], i);
        g->now.lanes = mr_flow_operand_class(&g->flow, from).kind == MR_CLASS_UNIFORM ? 1 : g->unit->width;
        LLVMValueRef converted = cg_converted_store(g, from, inst->type[0]);
        a.values[i] = converted ? cg_cast_bits(g, converted, a.element) : cg_source(g, from, a.element);
    }
    g->now.lanes = g->unit->width;
    cg_access_store(g, &a);
}

void cg_emit_copy(struct cg *g, const struct mr_ptx_inst *inst, unsigned bytes)
{
    struct mr_ptx_inst load = {.op = MR_PTX_OP_LD, .space = inst->space2, .line = inst->line, .column = inst->column},
                       store = load;
    store.op = MR_PTX_OP_ST;
    store.space = inst->space;
    struct cg_access from = {.inst = &load, .element = g->unit->i32, .bytes = 4, .count = bytes / 4}, to = from;
    to.inst = &store;
    cg_access_address(g, &inst->operands[0], &to);
    cg_access_address(g, &inst->operands[1], &from);
    if (to.address.c.kind == MR_CLASS_VARYING || (!from.steps && from.address.c.kind == MR_CLASS_VARYING)) {
        cg_copy_by_lane(g, &to, &from);
        return;
    }
    cg_access_load(g, &from);
    for (unsigned i = 0; i < to.count; i++)
        to.values[i] = from.values[i];
    cg_access_store(g, &to);
}

bool cg_emit_memory(struct cg *g, const struct mr_ptx_inst *inst)
{
    bool is_load = inst->op == MR_PTX_OP_LD || inst->op == MR_PTX_OP_LDU;
    switch (inst->op) {
    case MR_PTX_OP_LD:
    case MR_PTX_OP_LDU:
    case MR_PTX_OP_ST:
        fence_for(g, inst, true);
        if (inst->type[0] == MR_PTX_TYPE_B128)
            emit_quad(g, inst, is_load);
        else if (is_load)
            emit_load(g, inst);
        else
            emit_store(g, inst);
        fence_for(g, inst, false);
        return true;
    case MR_PTX_OP_MEMBAR:
    case MR_PTX_OP_FENCE:
        if (inst->operand_count) { /* about a tensor map, which it does not look at */
            struct cg_address address;
            cg_address(g, &inst->operands[0], inst->space, &address);
            cg_check_alignment(g, &inst->operands[0], &address, 128);
        }
        LLVMBuildFence(g->b,
                       inst->scope == MR_PTX_SCOPE_CTA && inst->semantics != MR_PTX_SEM_SC
                           ? LLVMAtomicOrderingAcquireRelease
                           : LLVMAtomicOrderingSequentiallyConsistent,
                       false, "");
        return true;
    default:
        return false;
    }
}
