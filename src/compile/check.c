/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What the verifier lets pass because it is right PTX, and code generation can't
 * do: refused when the module is loaded, so that nothing fails at a launch. This
 * file is the list, one function per family, in the order of ptx_ops.def. It is
 * part of the driver and has no LLVM in it.
 */
#include <string.h>

#include "compile/codegen.h"

/* Above this many blocks times registers a function's data flow would take gigabytes. */
#define SETS_MAX (UINT64_C(1) << 33)

struct check {
    const struct mr_ptx_module *module;
    const struct mr_ptx_function *func;
    const struct mr_ptx_inst *inst;
    struct mr_ptx_diag *diag;
    bool good;
};

static void refuse(struct check *check, const char *what)
{
    mr_ptx_diag_error(check->diag, check->inst->line, check->inst->column, "%s: %s is not supported",
                      mr_ptx_op_name((enum mr_ptx_op)check->inst->op), what);
    if (check->diag)
        check->diag->unsupported = true;
    check->good = false;
}

static bool is_pair(unsigned type)
{
    return type == MR_PTX_TYPE_F16X2 || type == MR_PTX_TYPE_BF16X2;
}

static bool is_half(unsigned type)
{
    return type == MR_PTX_TYPE_F16 || type == MR_PTX_TYPE_BF16;
}

/* Types that registers hold and arithmetic knows. */
static bool is_plain(unsigned type)
{
    char c = mr_ptx_type_class((enum mr_ptx_type)type);
    return (c == 'B' || c == 'U' || c == 'S' || c == 'F' || c == 'P') && type != MR_PTX_TYPE_F32X2;
}

static void check_arithmetic(struct check *check)
{
    const struct mr_ptx_inst *inst = check->inst;
    bool dot = inst->op == MR_PTX_OP_DP4A || inst->op == MR_PTX_OP_DP2A;
    for (unsigned i = 0; i < inst->type_count; i++)
        if (!is_plain(inst->type[i]))
            refuse(check, "this type");
    if (inst->type_count > 1 && !dot)
        refuse(check, "arithmetic of mixed precision");
    if (is_half(inst->type[0]) || is_pair(inst->type[0])) {
        bool ignored = inst->op == MR_PTX_OP_FMA && inst->type[0] == MR_PTX_TYPE_BF16X2;
        if (inst->rounding != MR_PTX_ROUND_NONE && inst->rounding != MR_PTX_ROUND_RN && !ignored)
            refuse(check, "this rounding of 16-bit floats");
        if ((inst->op == MR_PTX_OP_MIN || inst->op == MR_PTX_OP_MAX) &&
            (inst->operand_count > 3 || ((inst->flags & MR_PTX_FLAG_ABS) && !(inst->flags & MR_PTX_FLAG_XORSIGN))))
            refuse(check, "this form for 16-bit floats");
    }
}

static bool rounds_to_integer(const struct mr_ptx_inst *inst)
{
    return inst->rounding >= MR_PTX_ROUND_RNI;
}

static void check_convert(struct check *check)
{
    const struct mr_ptx_inst *inst = check->inst;
    enum mr_ptx_type to = (enum mr_ptx_type)inst->type[0], from = (enum mr_ptx_type)inst->type[1];
    if (inst->rounding == MR_PTX_ROUND_RS || (inst->flags & MR_PTX_FLAG_SCALED)) {
        refuse(check, "this form");
        return;
    }
    if ((inst->flags & MR_PTX_FLAG_PACK) || to == MR_PTX_TYPE_TF32)
        return;
    if (mr_ptx_type_is_fp8_pair(to) || mr_ptx_type_is_fp8_pair(from)) {
        bool narrows = mr_ptx_type_is_fp8_pair(to);
        if (narrows ? from != MR_PTX_TYPE_F32 && from != MR_PTX_TYPE_F16X2 : to != MR_PTX_TYPE_F16X2)
            refuse(check, "this conversion of numbers of 8 bits");
        return;
    }
    if (is_pair(to)) {
        if (from != MR_PTX_TYPE_F32 || inst->operand_count != 3 || inst->rounding == MR_PTX_ROUND_RM ||
            inst->rounding == MR_PTX_ROUND_RP)
            refuse(check, "this conversion to a pair");
        return;
    }
    if (!is_plain(to) || !is_plain(from) || is_pair(from)) {
        refuse(check, "this type");
        return;
    }
    if (inst->rounding == MR_PTX_ROUND_RNA && !rounds_to_integer(inst))
        refuse(check, "'.rna'");
}

/* A scalar parameter of a device function has no address of its own: its 32 copies lie side by side. */
static void check_address_taken(struct check *check, const struct mr_ptx_operand *operand)
{
    if (operand->kind != MR_PTX_OPERAND_SYMBOL || !operand->var)
        return;
    const struct mr_ptx_var *var = operand->var;
    bool entry_param = var->owner && var->owner->is_entry && var->is_input;
    if (var->space == MR_PTX_SPACE_PARAM && !entry_param && !var->is_array && var->vector <= 1)
        refuse(check, "the address of a parameter that is not an array");
}

static void check_memory(struct check *check)
{
    const struct mr_ptx_inst *inst = check->inst;
    unsigned count = inst->vector ? inst->vector : 1;
    if (!is_plain(inst->type[0]))
        refuse(check, "this type");
    if (inst->type[0] == MR_PTX_TYPE_B128 && count > 1)
        refuse(check, "a vector of '.b128'");
    const struct mr_ptx_operand *address = &inst->operands[inst->op == MR_PTX_OP_ST ? 0 : 1];
    if (address->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS && inst->type[0] == MR_PTX_TYPE_B128 &&
        address->var->space == MR_PTX_SPACE_PARAM && !address->var->is_array)
        refuse(check, "a parameter of '.b128'");
    /* A scalar parameter is read and written whole or in part, never past its end. */
    if (address->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS && address->var->space == MR_PTX_SPACE_PARAM &&
        !(address->var->owner && address->var->owner->is_entry && address->var->is_input) && !address->var->is_array) {
        uint64_t bytes = (uint64_t)mr_ptx_type_bytes((enum mr_ptx_type)inst->type[0]) * count;
        if (address->value < 0 || (uint64_t)address->value + bytes > address->var->size)
            refuse(check, "an access that is not inside its parameter");
    }
}

static void check_atomic(struct check *check)
{
    const struct mr_ptx_inst *inst = check->inst;
    unsigned type = inst->type[0];
    if (mr_ptx_type_class((enum mr_ptx_type)type) == 'F' && inst->atom != MR_PTX_ATOM_ADD && inst->vector == 1)
        refuse(check, "this operation on floats");
    if ((inst->atom == MR_PTX_ATOM_INC || inst->atom == MR_PTX_ATOM_DEC) && type != MR_PTX_TYPE_U32)
        refuse(check, "this type");
}

static void check_call(struct check *check)
{
    const struct mr_ptx_call *call = check->inst->call;
    const struct mr_ptx_function *callee = mr_layout_resolve(call->callee);
    /* A service that gives a result may be declared without one: nobody looks at it then. */
    static const struct {
        const char *name;
        uint32_t params, returns;
    } services[] = {{"vprintf", 2, 1},
                    {"malloc", 1, 1},
                    {"__cuda_syscall_aligned_malloc", 2, 1},
                    {"free", 1, 0},
                    {"__assertfail", 5, 0},
                    {"cudaGraphSetConditional", 2, 0},
                    {"__millrace_launch", 2, 1}};
    if (!callee || callee->has_body || check->func->module->is_partial)
        return;
    for (unsigned i = 0; i < sizeof services / sizeof *services; i++)
        if (strcmp(callee->name, services[i].name) == 0 && call->arg_count == services[i].params &&
            call->return_count <= services[i].returns)
            return;
    mr_ptx_diag_error(check->diag, check->inst->line, check->inst->column, "the function '%s' has no body here",
                      callee->name);
    check->good = false;
}

static void check_instruction(struct check *check)
{
    const struct mr_ptx_inst *inst = check->inst;
    for (unsigned i = inst->dst_count; i < inst->operand_count; i++)
        if (inst->op == MR_PTX_OP_MOV || inst->op == MR_PTX_OP_CVTA)
            check_address_taken(check, &inst->operands[i]);
    switch (inst->op) {
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_SUB:
    case MR_PTX_OP_MUL:
    case MR_PTX_OP_MAD:
    case MR_PTX_OP_FMA:
    case MR_PTX_OP_ABS:
    case MR_PTX_OP_NEG:
    case MR_PTX_OP_MIN:
    case MR_PTX_OP_MAX:
    case MR_PTX_OP_EX2:
    case MR_PTX_OP_TANH:
        check_arithmetic(check);
        break;
    case MR_PTX_OP_CVT:
        check_convert(check);
        break;
    case MR_PTX_OP_LD:
    case MR_PTX_OP_LDU:
    case MR_PTX_OP_ST:
        check_memory(check);
        break;
    case MR_PTX_OP_ATOM:
    case MR_PTX_OP_RED:
        check_atomic(check);
        break;
    case MR_PTX_OP_REDUX:
        if (mr_ptx_type_class((enum mr_ptx_type)inst->type[0]) == 'F')
            refuse(check, "a reduction of floats");
        break;
    case MR_PTX_OP_CALL:
        check_call(check);
        break;
    default:
        break;
    }
}

static void check_function(struct check *check)
{
    const struct mr_ptx_function *func = check->func;
    uint64_t blocks = 1;
    for (unsigned axis = 0; axis < 3; axis++)
        if (func->reqnctapercluster[axis] > 1) {
            mr_ptx_diag_error(check->diag, func->line, func->column,
                              "'%s' needs a cluster of more than one block, which is not supported", func->name);
            check->good = false;
            break;
        }
    for (uint32_t i = 0; i < func->inst_count; i++) {
        check->inst = &func->insts[i];
        check_instruction(check);
        blocks += check->inst->op == MR_PTX_OP_BRA || check->inst->op == MR_PTX_OP_CALL;
    }
    if ((blocks + func->label_count) * (func->reg_count + blocks) > SETS_MAX) {
        mr_ptx_diag_error(check->diag, func->line, func->column, "the function '%s' is too large", func->name);
        check->good = false;
    }
}

bool mr_codegen_check(const struct mr_ptx_module *module, struct mr_ptx_diag *diag)
{
    struct check check = {.module = module, .diag = diag, .good = true};
    if (module->address_size != 64) {
        mr_ptx_diag_error(diag, 0, 0, "modules of 32-bit addresses are not supported");
        return false;
    }
    for (uint32_t f = 0; f < module->function_count; f++) {
        check.func = module->functions[f];
        if (check.func->has_body)
            check_function(&check);
    }
    return check.good;
}
