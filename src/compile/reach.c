/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel reaches; reach.h tells how. A function or variable counts as met when it bears the number of the turn,
 * so nothing is cleared between turns. */
#include "compile/reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compile/layout.h"

static bool note(struct mr_reach *reach, uint32_t item)
{
    if (reach->item_count == reach->item_room) {
        void *items = reach->items;
        if (!mr_array_reserve(&items, &reach->item_room, reach->item_count + 1, sizeof *reach->items))
            return false;
        reach->items = items;
    }
    reach->items[reach->item_count++] = item;
    return true;
}

static bool meet(uint32_t *met, uint32_t turn)
{
    bool fresh = *met != turn;
    *met = turn;
    return fresh;
}

static bool note_function(struct mr_reach *reach, const struct mr_ptx_function *func)
{
    func = mr_layout_resolve(func);
    return !func || !func->has_body || !meet(&reach->function_turn[func->index], reach->turn) ||
           note(reach, func->index);
}

static bool note_calls(struct mr_reach *reach, const struct mr_ptx_function *func, struct mr_reach_body *body)
{
    bool good = true;
    for (uint32_t i = 0; i < func->inst_count && good; i++) {
        const struct mr_ptx_call *call = func->insts[i].call;
        if (call && call->callee) {
            good = note_function(reach, call->callee);
            body->prints |= strcmp(call->callee->name, "vprintf") == 0;
        } else if (call) {
            body->calls_indirectly = true;
        }
    }
    return good;
}

static bool note_addresses(struct mr_reach *reach, const struct mr_ptx_function *func)
{
    bool good = true;
    for (uint32_t i = 0; i < func->inst_count && good; i++) {
        const struct mr_ptx_inst *inst = &func->insts[i];
        for (uint32_t k = 0; k < inst->operand_count && good; k++)
            if (inst->operands[k].kind == MR_PTX_OPERAND_FUNCTION)
                good = note_function(reach, inst->operands[k].func);
    }
    return good;
}

/* A shared variable of the module. */
static bool is_shared(const struct mr_ptx_var *var)
{
    return var && !var->owner && var->space == MR_PTX_SPACE_SHARED;
}

static bool note_variables(struct mr_reach *reach, const struct mr_ptx_function *func)
{
    bool good = true;
    for (uint32_t i = 0; i < func->inst_count && good; i++)
        for (uint32_t k = 0; k < func->insts[i].operand_count && good; k++) {
            const struct mr_ptx_var *var = func->insts[i].operands[k].var;
            if (is_shared(var) && meet(&reach->var_turn[var->index], reach->turn))
                good = note(reach, var->index);
        }
    return good;
}

static bool read_body(struct mr_reach *reach, const struct mr_ptx_function *func)
{
    struct mr_reach_body *body = &reach->bodies[func->index];
    reach->turn++;
    body->functions = reach->item_count;
    bool good = note_calls(reach, func, body);
    body->taken = reach->item_count;
    good = good && note_addresses(reach, func);
    body->variables = reach->item_count;
    good = good && note_variables(reach, func);
    body->end = reach->item_count;
    return good;
}

/* Shared variables whose addresses are initial values: every kernel has them. */
static bool note_pinned(struct mr_reach *reach)
{
    const struct mr_ptx_module *module = reach->module;
    bool good = true;
    reach->turn++;
    for (uint32_t i = 0; i < module->var_count; i++)
        for (uint32_t r = 0; r < module->vars[i]->reloc_count && good; r++) {
            const struct mr_ptx_var *var = module->vars[i]->relocs[r].var;
            if (is_shared(var) && meet(&reach->var_turn[var->index], reach->turn))
                good = note(reach, var->index);
        }
    reach->pinned_count = reach->item_count;
    return good;
}

bool mr_reach_begin(struct mr_reach *reach, const struct mr_ptx_module *module)
{
    size_t functions = module->function_count ? module->function_count : 1,
           variables = module->var_count ? module->var_count : 1;
    *reach = (struct mr_reach){.module = module};
    reach->bodies = mr_calloc(functions, sizeof *reach->bodies);
    reach->targets = mr_calloc(functions, sizeof *reach->targets);
    reach->function_turn = mr_calloc(functions, sizeof *reach->function_turn);
    reach->functions = mr_calloc(functions, sizeof *reach->functions);
    reach->var_turn = mr_calloc(variables, sizeof *reach->var_turn);
    reach->variables = mr_calloc(variables, sizeof *reach->variables);
    bool good = reach->bodies && reach->targets && reach->function_turn && reach->functions && reach->var_turn &&
                reach->variables && note_pinned(reach);
    for (uint32_t f = 0; f < module->function_count && good; f++) {
        const struct mr_ptx_function *func = module->functions[f];
        if (func->address_taken && !func->is_entry)
            reach->targets[reach->target_count++] = f;
        good = read_body(reach, func);
    }
    return good;
}

static void reach_function(struct mr_reach *reach, const struct mr_ptx_function *func)
{
    func = mr_layout_resolve(func);
    if (func && func->has_body && meet(&reach->function_turn[func->index], reach->turn))
        reach->functions[reach->function_count++] = func->index;
}

static void reach_variable(struct mr_reach *reach, uint32_t index)
{
    if (meet(&reach->var_turn[index], reach->turn))
        reach->variables[reach->variable_count++] = index;
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

void mr_reach_walk(struct mr_reach *reach, const struct mr_ptx_function *entry)
{
    const struct mr_ptx_module *module = reach->module;
    reach->turn++;
    reach->function_count = reach->variable_count = 0;
    reach->calls_indirectly = reach->prints = false;
    reach_function(reach, entry);
    for (size_t i = 0; i < reach->pinned_count; i++)
        reach_variable(reach, reach->items[i]);
    for (uint32_t next = 0; next < reach->function_count; next++) {
        const struct mr_reach_body *body = &reach->bodies[reach->functions[next]];
        for (size_t i = body->functions; i < body->variables; i++)
            reach_function(reach, module->functions[reach->items[i]]);
        for (size_t i = body->variables; i < body->end; i++)
            reach_variable(reach, reach->items[i]);
        for (uint32_t i = 0; i < reach->target_count && body->calls_indirectly && !reach->calls_indirectly; i++)
            reach_function(reach, module->functions[reach->targets[i]]);
        reach->calls_indirectly |= body->calls_indirectly;
        reach->prints |= body->prints;
    }
    qsort(reach->variables, reach->variable_count, sizeof *reach->variables, compare);
}

void mr_reach_end(struct mr_reach *reach)
{
    mr_free(reach->bodies);
    mr_free(reach->items);
    mr_free(reach->targets);
    mr_free(reach->function_turn);
    mr_free(reach->var_turn);
    mr_free(reach->functions);
    mr_free(reach->variables);
    *reach = (struct mr_reach){.module = NULL};
}
