/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The instructions whose operands follow no pattern: call, in its direct and
 * indirect forms, and the barriers.
 *
 *   call (ret), f, (a, b);          call f, (a);          call f;
 *   call (ret), %rd1, (a), proto;   call %rd1, targets;
 */
#include <string.h>

#include "ptx/parse.h"

/* "(a, b, ...)" */
static bool parse_list(struct parser *parser, const struct mr_ptx_operand **operands, uint32_t *count)
{
    struct list *list = &parser->operands;
    list->count = 0;
    if (!mr_ptx_expect(parser, '(', "'('"))
        return false;
    if (!mr_ptx_is(parser, ')')) {
        do {
            struct mr_ptx_operand operand = {0};
            if (!mr_ptx_parse_operand(parser, &operand))
                return false;
            *(struct mr_ptx_operand *)mr_ptx_list_add(parser, list, sizeof operand) = operand;
        } while (mr_ptx_accept(parser, ','));
    }
    *operands = mr_ptx_list_copy(parser, list, sizeof(struct mr_ptx_operand));
    *count = (uint32_t)list->count;
    return mr_ptx_expect(parser, ')', "')'");
}

/* What is called: a function's name or a register. */
static bool parse_callee(struct parser *parser, struct mr_ptx_call *call)
{
    struct mr_ptx_token token = parser->token;
    struct atom *atom = mr_ptx_expect_name(parser, "a function");
    if (!atom)
        return false;
    struct binding *binding = mr_ptx_lookup(parser, atom);
    if (!binding || binding->kind == BINDING_VAR || (binding->kind == BINDING_REG && binding->count > 1))
        return mr_ptx_error_at(parser, token.line, token.column, "'%.*s' is not a declared function",
                               atom->length > 60 ? 60 : (int)atom->length, atom->name);
    if (binding->kind == BINDING_FUNCTION)
        call->callee = binding->function;
    else
        call->callee_reg = binding->reg;
    return true;
}

bool mr_ptx_parse_call(struct parser *parser, struct mr_ptx_inst *inst)
{
    struct mr_ptx_call *call = mr_ptx_new(parser, 1, sizeof *call);
    call->callee_reg = MR_PTX_NONE;
    call->table = MR_PTX_NONE;
    inst->call = call;
    if (mr_ptx_is(parser, '(') &&
        (!parse_list(parser, &call->returns, &call->return_count) || !mr_ptx_expect(parser, ',', "','")))
        return false;
    struct mr_ptx_token token = parser->token;
    if (!parse_callee(parser, call))
        return false;
    bool more = mr_ptx_accept(parser, ',');
    if (more && mr_ptx_is(parser, '(')) {
        if (!parse_list(parser, &call->args, &call->arg_count))
            return false;
        more = mr_ptx_accept(parser, ',');
    }
    if (call->callee)
        return !more || mr_ptx_error(parser, "a direct call has no prototype");
    if (!more)
        return mr_ptx_error_at(parser, token.line, token.column,
                               "a call through a register needs a prototype or targets");
    token = parser->token;
    struct atom *atom = mr_ptx_expect_name(parser, "a prototype");
    if (!atom)
        return false;
    struct mention *mention = mr_ptx_mention(parser, atom);
    mention->call = call;
    mention->line = token.line;
    mention->column = token.column;
    return true;
}

/* Turns the words of the mnemonic into one mode. */
static bool settle_barrier(struct parser *parser, struct mr_ptx_inst *inst)
{
    const char *name = mr_ptx_op_name((enum mr_ptx_op)inst->op);
    if (inst->mode2 == MR_PTX_MODE_WARP_SYNC) {
        if (inst->mode != MR_PTX_MODE_SYNC)
            return mr_ptx_error(parser, "'%s.warp' needs '.sync'", name);
        inst->mode = MR_PTX_MODE_WARP_SYNC;
        inst->mode2 = MR_PTX_MODE_NONE;
        return true;
    }
    if (inst->scope == MR_PTX_SCOPE_CLUSTER) {
        if (inst->mode == MR_PTX_MODE_ARRIVE)
            inst->mode = MR_PTX_MODE_CLUSTER_ARRIVE;
        else if (inst->mode == MR_PTX_MODE_WAIT)
            inst->mode = MR_PTX_MODE_CLUSTER_WAIT;
        else
            return mr_ptx_error(parser, "'%s.cluster' needs '.arrive' or '.wait'", name);
        return true;
    }
    if (inst->mode == MR_PTX_MODE_NONE || inst->mode == MR_PTX_MODE_WAIT)
        return mr_ptx_error(parser, "'%s' needs '.sync', '.arrive' or '.red'", name);
    bool reduces = inst->mode2 == MR_PTX_MODE_POPC || inst->boolop != MR_PTX_BOOL_NONE;
    if (reduces != (inst->mode == MR_PTX_MODE_RED))
        return mr_ptx_error(parser, "'%s.red' and an operation need each other", name);
    if (inst->op == MR_PTX_OP_BAR)
        inst->flags |= MR_PTX_FLAG_ALIGNED; /* bar is barrier.aligned */
    return true;
}

bool mr_ptx_parse_barrier(struct parser *parser, struct mr_ptx_inst *inst)
{
    enum { MOST = 4 };
    if (!settle_barrier(parser, inst))
        return false;
    struct mr_ptx_operand *operands = mr_ptx_new(parser, MOST, sizeof *operands);
    inst->operands = operands;
    inst->dst_count = inst->mode == MR_PTX_MODE_RED;
    while (!mr_ptx_is(parser, ';')) {
        if (inst->operand_count > 0 && !mr_ptx_expect(parser, ',', "','"))
            return false;
        if (inst->operand_count == MOST)
            return mr_ptx_error(parser, "a barrier has at most %d operands", MOST);
        if (!mr_ptx_parse_operand(parser, &operands[inst->operand_count]))
            return false;
        inst->operand_count++;
    }
    uint8_t least, most;
    switch (inst->mode) {
    case MR_PTX_MODE_WARP_SYNC:
        least = most = 1;
        break;
    case MR_PTX_MODE_SYNC:
        least = 1;
        most = 2;
        break;
    case MR_PTX_MODE_ARRIVE:
        least = most = 2;
        break;
    case MR_PTX_MODE_RED:
        least = 3;
        most = 4;
        break;
    default:
        least = most = 0;
        break;
    }
    if (inst->operand_count < least || inst->operand_count > most)
        return mr_ptx_error(parser, "wrong number of operands for a barrier");
    return true;
}
