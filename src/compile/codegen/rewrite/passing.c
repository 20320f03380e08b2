/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What calls pass, where bodies take their place (inline.c, recursion.c).
 *
 * Those passes know variables in .param only. A value that a call passes in a register, or that a function has in one
 * (.func (.reg .b32 r) f (.reg .b64 a)), goes through a variable of its own, which LLVM makes a value again: the call's
 * side fills it, or reads it behind the body, and the body begins with the parameters' registers being read from it and
 * ends with the results' being put there.
 */
#include "compile/codegen/rewrite/splice.h"

#include <string.h>

static bool is_variable(const struct mr_ptx_operand *operand)
{
    return operand->kind == MR_PTX_OPERAND_SYMBOL || operand->kind == MR_PTX_OPERAND_SINK;
}

/* What a call passes for a parameter: through a pointer, what the prototype says. */
static const struct mr_ptx_var *said(const struct mr_ptx_call *call, const struct mr_ptx_function *callee, uint32_t i,
                                     bool result)
{
    if (call->prototype)
        return result ? call->prototype->returns[i] : call->prototype->params[i];
    return result ? callee->returns[i] : callee->params[i];
}

static uint64_t bytes_of(const struct mr_ptx_var *var)
{
    return var->type == MR_PTX_TYPE_PRED ? cg_passed_bytes(var->type) : var->size;
}

/* An argument or a result can be the function's: as many bytes, and a register where the function has one or a number.
 */
static bool fits_one(const struct cg_work *work, const struct mr_ptx_call *call, const struct mr_ptx_function *callee,
                     uint32_t i, bool result)
{
    const struct mr_ptx_operand *operand = result ? &call->returns[i] : &call->args[i];
    const struct mr_ptx_var *var = result ? callee->returns[i] : callee->params[i], *as = said(call, callee, i, result);
    if (var->incomplete || operand->kind == MR_PTX_OPERAND_VECTOR)
        return false;
    if (operand->kind == MR_PTX_OPERAND_SINK)
        return result;
    if (operand->kind == MR_PTX_OPERAND_SYMBOL)
        return operand->var->size == var->size;
    if (var->is_array || var->vector > 1 || bytes_of(as) != bytes_of(var))
        return false;
    return operand->kind != MR_PTX_OPERAND_REG ||
           cg_passed_bytes((enum mr_ptx_type)work->body.regs[operand->reg].type) == bytes_of(var);
}

bool cg_call_suits(const struct cg_work *work, const struct mr_ptx_call *call, const struct mr_ptx_function *callee)
{
    if (call->arg_count != callee->param_count || call->return_count != callee->return_count)
        return false;
    for (uint32_t i = 0; i < call->arg_count; i++)
        if (!fits_one(work, call, callee, i, false))
            return false;
    for (uint32_t i = 0; i < call->return_count; i++) {
        if (!fits_one(work, call, callee, i, true))
            return false;
        /* A variable that is both is the function's parameter still when its result is written. */
        for (uint32_t a = 0; a < call->arg_count && call->returns[i].kind == MR_PTX_OPERAND_SYMBOL; a++)
            if (call->args[a].kind == MR_PTX_OPERAND_SYMBOL && call->args[a].var == call->returns[i].var)
                return false;
    }
    return true;
}

/* A variable in the place of an operand. */
static bool put_variable(struct cg_work *work, struct mr_ptx_operand *operand, const struct mr_ptx_var *like)
{
    const struct mr_ptx_var *var = cg_new_var(work, like);
    if (!var)
        return false;
    *operand = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_SYMBOL,
                                       .var = var,
                                       .reg = MR_PTX_NONE,
                                       .reg2 = MR_PTX_NONE,
                                       .type = (uint8_t)var->type,
                                       .line = operand->line,
                                       .column = operand->column};
    return true;
}

/* The value of a register or a constant into the variable that stands for it. */
static bool fill_variable(struct cg_work *work, const struct mr_ptx_inst *inst, const struct mr_ptx_operand *value,
                          enum mr_ptx_type type, const struct mr_ptx_var *var)
{
    bool plain = value->kind == MR_PTX_OPERAND_REG && !value->negated;
    uint32_t reg = value->reg;
    if (!plain) {
        type = mr_ptx_type_bits(type) == 8 ? MR_PTX_TYPE_B16 : type;
        reg = cg_add_reg(work, type, inst->line);
        if (reg == MR_PTX_NONE || !cg_add_move(work, inst, type, reg, *value))
            return false;
    }
    if (type == MR_PTX_TYPE_PRED)
        return cg_add_put(work, inst, type, cg_var_address(var, inst), reg);
    return cg_add_store(work, inst, cg_type_of_bytes(var->size), cg_var_address(var, inst), reg);
}

const struct mr_ptx_call *cg_call_by_variables(struct cg_work *work, const struct mr_ptx_inst *inst,
                                               const struct mr_ptx_function *callee)
{
    const struct mr_ptx_call *call = inst->call;
    bool good = true;
    for (uint32_t i = 0; i < call->arg_count; i++)
        good &= is_variable(&call->args[i]);
    for (uint32_t i = 0; i < call->return_count; i++)
        good &= is_variable(&call->returns[i]);
    if (good)
        return call;
    struct mr_ptx_call *passed = cg_take(work, sizeof *passed);
    struct mr_ptx_operand *args = cg_take(work, call->arg_count * sizeof *args),
                          *returns = cg_take(work, call->return_count * sizeof *returns);
    if (!passed || !args || !returns)
        return NULL;
    *passed = *call;
    passed->args = args;
    passed->returns = returns;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        args[i] = call->args[i];
        if (is_variable(&args[i]))
            continue;
        if (!put_variable(work, &args[i], callee->params[i]) ||
            !fill_variable(work, inst, &call->args[i], said(call, callee, i, false)->type, args[i].var))
            return NULL;
    }
    for (uint32_t i = 0; i < call->return_count; i++) {
        returns[i] = call->returns[i];
        if (!is_variable(&returns[i]) && !put_variable(work, &returns[i], callee->returns[i]))
            return NULL;
    }
    return passed;
}

bool cg_take_results(struct cg_work *work, const struct mr_ptx_inst *inst, const struct mr_ptx_call *passed,
                     const struct mr_ptx_function *callee)
{
    const struct mr_ptx_call *call = inst->call;
    for (uint32_t i = 0; i < call->return_count; i++)
        if (!is_variable(&call->returns[i]) && !cg_add_get(work, inst, callee->returns[i]->type, call->returns[i].reg,
                                                           cg_var_address(passed->returns[i].var, inst)))
            return false;
    return true;
}

bool cg_enter_body(struct cg_work *work, const struct cg_splice *splice, struct mr_ptx_var *const *passed,
                   const struct mr_ptx_inst *like)
{
    const struct mr_ptx_function *func = splice->callee;
    for (uint32_t i = 0; i < func->param_count; i++) {
        const struct mr_ptx_var *param = func->params[i];
        if (param->reg != MR_PTX_NONE &&
            !cg_add_get(work, like, param->type, splice->regs + param->reg, cg_var_address(passed[i], like)))
            return false;
    }
    return true;
}

bool cg_leave_body(struct cg_work *work, const struct cg_splice *splice, struct mr_ptx_var *const *passed,
                   const struct mr_ptx_inst *like)
{
    const struct mr_ptx_function *func = splice->callee;
    for (uint32_t i = 0; i < func->return_count; i++) {
        const struct mr_ptx_var *result = func->returns[i];
        if (result->reg != MR_PTX_NONE &&
            !cg_add_put(work, like, result->type, cg_var_address(passed[func->param_count + i], like),
                        splice->regs + result->reg))
            return false;
    }
    return true;
}
