/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The verifier's way in: modules, functions, calls.
 *
 * After it has passed, code generation may rely on the types, widths and spaces
 * of every operand, on every called function having a body or being one that
 * the device runtime provides, and on every instruction being one it knows.
 */
#include "ptx/verify.h"

#include <string.h>

#define CONST_BYTES_MAX UINT64_C(65536)
#define PARAM_BYTES_OLD UINT64_C(4352)   /* before sm_70 or PTX 8.1 */
#define PARAM_BYTES_MAX UINT64_C(32764)

/* Functions that have no body in any module: the device runtime has them. */
static const char *const runtime_functions[] = {
    "vprintf",          "malloc", "__cuda_syscall_aligned_malloc", "free", "__assertfail", "cudaGraphSetConditional",
    "__millrace_launch"};

/* --- Calls ------------------------------------------------------------------- */

static bool is_runtime_function(const char *name)
{
    for (size_t i = 0; i < sizeof runtime_functions / sizeof runtime_functions[0]; i++)
        if (strcmp(name, runtime_functions[i]) == 0)
            return true;
    return false;
}

/* Whether a function that is used has no body, and nobody else will bring one. */
static bool is_missing(const struct verifier *verifier, const struct mr_ptx_function *function)
{
    return !function->has_body && !function->alias_of && !is_runtime_function(function->name) &&
           !verifier->module->is_partial;
}

/* What is passed for a parameter: a .param variable of its size, or a value. */
static bool check_argument(struct verifier *verifier, const struct mr_ptx_operand *argument,
                           const struct mr_ptx_var *param, bool is_return)
{
    bool is_reg = param->space == MR_PTX_SPACE_REG;
    switch (argument->kind) {
    case MR_PTX_OPERAND_SYMBOL:
        if (argument->var->space != MR_PTX_SPACE_PARAM || argument->value != 0)
            return mr_ptx_verify_operand_error(verifier, argument, "'%s' is not a variable in space '.param'",
                                               argument->var->name);
        if (!param->incomplete && argument->var->size != param->size)
            return mr_ptx_verify_operand_error(verifier, argument, "'%s' has %llu bytes, the parameter has %llu",
                                               argument->var->name, (unsigned long long)argument->var->size,
                                               (unsigned long long)param->size);
        if (param->incomplete && argument->var->size > verifier->open_size)
            verifier->open_size = argument->var->size;
        return true;
    case MR_PTX_OPERAND_SINK:
        return is_return || mr_ptx_verify_operand_error(verifier, argument, "an argument is missing");
    default:
        if (param->is_array || (param->vector > 1 && !is_reg))
            return mr_ptx_verify_operand_error(verifier, argument, "parameter '%s' needs a variable in space '.param'",
                                               param->name);
        return is_return ? mr_ptx_verify_dest(verifier, argument, param->type, false)
                         : mr_ptx_verify_source(verifier, argument, param->type, false);
    }
}

static bool check_arguments(struct verifier *verifier, const struct mr_ptx_operand *arguments, uint32_t count,
                            struct mr_ptx_var *const *params, uint32_t param_count, bool is_return)
{
    bool open = param_count > 0 && params[param_count - 1]->incomplete; /* variadic */
    if (count != param_count && !(open && count + 1 == param_count))
        return mr_ptx_verify_error(verifier, "the call has %u %s, the function has %u", count,
                                   is_return ? "results" : "arguments", param_count);
    for (uint32_t i = 0; i < count; i++)
        if (!check_argument(verifier, &arguments[i], params[i], is_return))
            return false;
    return true;
}

static bool check_signature(struct verifier *verifier, const struct mr_ptx_call *call,
                            struct mr_ptx_var *const *returns, uint32_t return_count, struct mr_ptx_var *const *params,
                            uint32_t param_count)
{
    return check_arguments(verifier, call->returns, call->return_count, returns, return_count, true) &&
           check_arguments(verifier, call->args, call->arg_count, params, param_count, false);
}

static bool check_indirect(struct verifier *verifier, const struct mr_ptx_call *call)
{
    const struct mr_ptx_reg *reg = &verifier->function->regs[call->callee_reg];
    bool narrow = mr_ptx_verify_type_fits((enum mr_ptx_type)reg->type, MR_PTX_TYPE_U32, false);
    if (!narrow && !mr_ptx_verify_type_fits((enum mr_ptx_type)reg->type, MR_PTX_TYPE_U64, false))
        return mr_ptx_verify_error(verifier, "register '%s' of type '.%s' cannot hold a function's address", reg->name,
                                   mr_ptx_type_name((enum mr_ptx_type)reg->type));
    if (call->prototype)
        return check_signature(verifier, call, call->prototype->returns, call->prototype->return_count,
                               call->prototype->params, call->prototype->param_count);
    const struct mr_ptx_table *table = &verifier->function->tables[call->table];
    if (!table->functions)
        return mr_ptx_verify_error(verifier, "'%s' is a table of branch targets", table->name);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct mr_ptx_function *callee = table->functions[i];
        if (!check_signature(verifier, call, callee->returns, callee->return_count, callee->params,
                             callee->param_count))
            return false;
    }
    return true;
}

static bool check_call(struct verifier *verifier)
{
    const struct mr_ptx_call *call = verifier->inst->call;
    const struct mr_ptx_function *callee = call->callee;
    if (!callee)
        return check_indirect(verifier, call);
    if (callee->is_entry)
        return mr_ptx_verify_error(verifier, "'%s' is a kernel and cannot be called", callee->name);
    if (is_missing(verifier, callee))
        return mr_ptx_verify_error(verifier, "function '%s' is declared but defined nowhere", callee->name);
    return check_signature(verifier, call, callee->returns, callee->return_count, callee->params, callee->param_count);
}

/* --- Functions and modules ----------------------------------------------------- */

/* brx.idx needs labels, not functions. */
static bool check_table(struct verifier *verifier)
{
    const struct mr_ptx_table *table = &verifier->function->tables[verifier->inst->operands[1].label];
    return table->labels || mr_ptx_verify_error(verifier, "'%s' is a table of call targets", table->name);
}

static bool check_used_functions(struct verifier *verifier)
{
    const struct mr_ptx_inst *inst = verifier->inst;
    for (uint8_t i = 0; i < inst->operand_count; i++) {
        const struct mr_ptx_operand *operand = &inst->operands[i];
        if (operand->kind == MR_PTX_OPERAND_FUNCTION && is_missing(verifier, operand->func))
            return mr_ptx_verify_operand_error(verifier, operand, "function '%s' is declared but defined nowhere",
                                               operand->func->name);
    }
    return true;
}

static void check_body(struct verifier *verifier, const struct mr_ptx_function *function)
{
    verifier->function = function;
    for (uint32_t i = 0; i < function->inst_count && verifier->errors <= MR_PTX_DIAG_ERRORS_MAX; i++) {
        verifier->inst = &function->insts[i];
        bool good = verifier->inst->op == MR_PTX_OP_CALL ? check_call(verifier) : mr_ptx_verify_inst(verifier);
        if (good && verifier->inst->op == MR_PTX_OP_BRX)
            good = check_table(verifier);
        if (good)
            check_used_functions(verifier);
    }
}

static void check_function(struct verifier *verifier, const struct mr_ptx_function *function)
{
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct mr_ptx_var *param = function->params[i];
        if (function->is_entry && param->space != MR_PTX_SPACE_PARAM)
            mr_ptx_verify_error_at(verifier, param->line, param->column,
                                   "parameters of kernels must be in space '.param'");
        if (function->is_entry && mr_ptx_type_class(param->type) == 'O')
            mr_ptx_verify_error_at(verifier, param->line, param->column, "parameters of type '.%s' are not supported",
                                   mr_ptx_type_name(param->type));
        if (param->incomplete && (function->is_entry || i + 1 < function->param_count))
            mr_ptx_verify_error_at(verifier, param->line, param->column, "parameter '%s' has no size", param->name);
    }
    bool large = mr_ptx_verify_is_sm(verifier, 70) && mr_ptx_verify_is_version(verifier, 8, 1);
    uint64_t most = large ? PARAM_BYTES_MAX : PARAM_BYTES_OLD;
    if (function->is_entry && function->param_size > most)
        mr_ptx_verify_error_at(verifier, function->line, function->column,
                               "parameters of '%s' take %llu bytes, more than %llu", function->name,
                               (unsigned long long)function->param_size, (unsigned long long)most);
    if (function->is_entry && !function->has_body && function->linkage != MR_PTX_LINKAGE_EXTERN)
        mr_ptx_verify_error_at(verifier, function->line, function->column, "kernel '%s' has no body", function->name);
    if (function->maxntid[0] && function->reqntid[0])
        mr_ptx_verify_error_at(verifier, function->line, function->column,
                               "'.maxntid' and '.reqntid' exclude each other");
    check_body(verifier, function);
}

static void check_relocs(struct verifier *verifier, const struct mr_ptx_var *var)
{
    for (uint32_t i = 0; i < var->reloc_count; i++) {
        const struct mr_ptx_function *function = var->relocs[i].func;
        if (function && is_missing(verifier, function))
            mr_ptx_verify_error_at(verifier, var->line, var->column, "function '%s' is declared but defined nowhere",
                                   function->name);
    }
}

static void check_vars(struct verifier *verifier)
{
    uint64_t constants = 0;
    for (uint32_t i = 0; i < verifier->module->var_count; i++) {
        const struct mr_ptx_var *var = verifier->module->vars[i];
        bool is_reference = mr_ptx_type_class(var->type) == 'O';
        if (var->space == MR_PTX_SPACE_TEX)
            mr_ptx_verify_error_at(verifier, var->line, var->column,
                                   "variables in space '.tex' are not supported; declare it '.global .texref'");
        else if (var->type == MR_PTX_TYPE_SAMPLERREF)
            mr_ptx_verify_error_at(verifier, var->line, var->column,
                                   "'.samplerref' needs '.texmode_independent', which is not supported");
        else if (is_reference && (var->space != MR_PTX_SPACE_GLOBAL || var->is_array))
            mr_ptx_verify_error_at(verifier, var->line, var->column,
                                   "a '.%s' has to be a single variable in space '.global'",
                                   mr_ptx_type_name(var->type));
        if (var->space == MR_PTX_SPACE_LOCAL)
            mr_ptx_verify_error_at(verifier, var->line, var->column, "variables in space '.local' belong to functions");
        if (var->linkage == MR_PTX_LINKAGE_EXTERN && var->space != MR_PTX_SPACE_SHARED && !verifier->module->is_partial)
            mr_ptx_verify_error_at(verifier, var->line, var->column, "variable '%s' is declared but defined nowhere",
                                   var->name);
        if (var->space == MR_PTX_SPACE_CONST) {
            constants = ((constants + var->align - 1) & ~(uint64_t)(var->align - 1)) + var->size;
            if (constants > CONST_BYTES_MAX) {
                mr_ptx_verify_error_at(verifier, var->line, var->column, "constant variables take more than %llu bytes",
                                       (unsigned long long)CONST_BYTES_MAX);
                constants = 0;
            }
        }
        check_relocs(verifier, var);
    }
}

bool mr_ptx_verify(struct mr_ptx_module *module, struct mr_ptx_diag *diag)
{
    struct verifier verifier = {.module = module, .diag = diag};
    mr_ptx_verify_find_unmet(&verifier);
    if (diag) {
        diag->source = module->text;
        diag->source_length = module->text_length;
    }
    if (module->address_size != 64)
        mr_ptx_verify_error_at(&verifier, 0, 0, "32-bit addresses are not supported: .address_size must be 64");
    check_vars(&verifier);
    for (uint32_t i = 0; i < module->function_count; i++)
        if (verifier.errors <= MR_PTX_DIAG_ERRORS_MAX)
            check_function(&verifier, module->functions[i]);
    module->open_size = verifier.open_size;
    if (diag) {
        diag->source = NULL;
        diag->source_length = 0;
    }
    return verifier.errors == 0;
}
