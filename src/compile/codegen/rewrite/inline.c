/* SPDX-License-Identifier: Apache-2.0 */

/* Functions with waiting loops become part of the kernel that calls them.
 *
 * Lanes of a warp that wait for each other have to be in one function: those parked in a caller can't
 * run before a call comes back, and a call comes back when all its lanes are done. So a lock taken in a function that
 * the compiler did not inline would never be handed on. Here the kernel's body is rewritten: a call of a function that
 * waits, or calls one that does, is replaced by the function's body with registers, labels and local variables of its
 * own. Its parameters are the caller's .param variables, which is how calls pass them anyway. A call through a pointer
 * becomes a comparison with each function that waits and that it may lead to, with the body behind it, and stays for
 * all others. A function that moves the stack pointer has it put back behind its body.
 *
 * Functions that may come back to themselves are recursion.c's; what is passed in registers is passing.c's. What can't
 * be replaced stays a call: parameters that are arrays of any size, and what would make the kernel larger than
 * INSTS_MAX.
 *
 * Everything that changes is new; the verified module is left alone. */
#include "compile/codegen/rewrite/splice.h"

#include <string.h>

#include "base/alloc.h"

#define INSTS_MAX 60000u
#define DEPTH_MAX 64u

bool cg_owned(const struct mr_ptx_var *var, const struct mr_ptx_function *func)
{
    return var && var->owner == func && mr_flow_is_per_lane(var);
}

uint32_t cg_var_place(const struct mr_ptx_var *var)
{
    const struct mr_ptx_function *func = var->owner;
    return var->index + (var->is_input ? func->var_count : var->is_return ? func->var_count + func->param_count : 0);
}

static const struct mr_ptx_var *var_of(const struct cg_splice *splice, const struct mr_ptx_var *var)
{
    return !splice->routine && cg_owned(var, splice->callee) ? splice->vars[cg_var_place(var)] : var;
}

static uint32_t reg_of(const struct cg_splice *splice, uint32_t reg)
{
    return reg == MR_PTX_NONE ? reg : reg + splice->regs;
}

static struct mr_ptx_operand *operands_of(struct cg_work *work, const struct cg_splice *splice,
                                          const struct mr_ptx_operand *from, uint32_t count)
{
    struct mr_ptx_operand *to = count ? cg_take(work, count * sizeof *to) : NULL;
    for (uint32_t i = 0; i < count && to; i++) {
        to[i] = from[i];
        switch (from[i].kind) {
        case MR_PTX_OPERAND_REG:
        case MR_PTX_OPERAND_REG_ADDRESS:
        case MR_PTX_OPERAND_PAIR:
            to[i].reg = reg_of(splice, from[i].reg);
            to[i].reg2 = from[i].kind == MR_PTX_OPERAND_PAIR ? reg_of(splice, from[i].reg2) : from[i].reg2;
            break;
        case MR_PTX_OPERAND_LABEL:
            to[i].label += splice->labels;
            break;
        case MR_PTX_OPERAND_TABLE:
            to[i].label += splice->tables;
            break;
        case MR_PTX_OPERAND_VECTOR:
            to[i].elements = operands_of(work, splice, from[i].elements, from[i].count);
            break;
        default:
            break;
        }
        to[i].var = var_of(splice, from[i].var);
    }
    return to;
}

static const struct mr_ptx_call *call_of(struct cg_work *work, const struct cg_splice *splice,
                                         const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_call *from = inst->call;
    struct mr_ptx_call *to = cg_take(work, sizeof *to);
    struct mr_ptx_operand *args = operands_of(work, splice, from->args, from->arg_count),
                          *returns = operands_of(work, splice, from->returns, from->return_count);
    if (!to || work->no_memory)
        return NULL;
    if (splice->routine && (!cg_routine_call(work, splice, inst, args, from->arg_count) ||
                            !cg_routine_call(work, splice, inst, returns, from->return_count)))
        return NULL;
    *to = *from;
    to->callee_reg = reg_of(splice, from->callee_reg);
    to->args = args;
    to->returns = returns;
    if (!from->callee && !from->prototype)
        to->table += splice->tables;
    return to;
}

static bool map_vars(struct cg_work *work, struct cg_splice *splice)
{
    const struct mr_ptx_function *callee = splice->callee;
    const struct mr_ptx_call *call = splice->call;
    uint32_t count = callee->var_count + callee->param_count + callee->return_count;
    splice->vars = cg_take(work, count * sizeof *splice->vars);
    if (!splice->vars)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t param = i - callee->var_count, result = param - callee->param_count;
        if (i < callee->var_count)
            splice->vars[i] =
                mr_flow_is_per_lane(callee->vars[i]) ? cg_new_var(work, callee->vars[i]) : callee->vars[i];
        else if (param < callee->param_count)
            memcpy(&splice->vars[i], &call->args[param].var, sizeof(struct mr_ptx_var *));
        else if (call->returns[result].kind == MR_PTX_OPERAND_SYMBOL)
            memcpy(&splice->vars[i], &call->returns[result].var, sizeof(struct mr_ptx_var *));
        else
            splice->vars[i] = cg_new_var(work, callee->returns[result]);
    }
    return !work->no_memory;
}

static bool raise_tables(struct cg_work *work, const struct cg_splice *splice)
{
    if (!CG_GROW(work, table, splice->callee->table_count))
        return false;
    for (uint32_t t = 0; t < splice->callee->table_count; t++) {
        struct mr_ptx_table table = splice->callee->tables[t];
        uint32_t *labels = table.labels ? cg_take(work, table.count * sizeof *labels) : NULL;
        if (table.labels && !labels)
            return false;
        for (uint32_t i = 0; labels && i < table.count; i++)
            labels[i] = table.labels[i] + splice->labels;
        table.labels = labels;
        work->body.tables[work->body.table_count++] = table;
    }
    return true;
}

static bool add_replaced(struct cg_work *work, const struct cg_splice *inside, const struct mr_ptx_inst *inst);

static bool copy_inst(struct cg_work *work, const struct cg_splice *splice, const struct mr_ptx_inst *from)
{
    if (from->op == MR_PTX_OP_RET)
        return cg_add_jump(work, splice->end, from, reg_of(splice, from->guard), from->guard_negated);
    struct mr_ptx_inst to = *from;
    to.guard = reg_of(splice, from->guard);
    struct mr_ptx_operand *operands = operands_of(work, splice, from->operands, from->operand_count);
    to.operands = operands;
    if (work->no_memory || (splice->routine && !cg_routine_operands(work, splice, &to, operands)))
        return false;
    if (from->call)
        to.call = call_of(work, splice, from);
    if (work->no_memory || !add_replaced(work, splice, &to))
        return false;
    return !from->call || !splice->routine || cg_routine_call_end(work, splice, from);
}

bool cg_copy_body(struct cg_work *work, const struct cg_splice *splice, const struct mr_ptx_function *func,
                  uint32_t first)
{
    uint32_t *places = cg_take(work, ((size_t)func->inst_count + 1) * sizeof *places);
    struct cg_splice here = splice ? *splice : (struct cg_splice){.callee = func};
    if (!places)
        return false;
    for (uint32_t i = 0; i < func->inst_count; i++) {
        places[i] = work->body.inst_count;
        here.at = i;
        if (!(splice ? copy_inst(work, &here, &func->insts[i]) : add_replaced(work, NULL, &func->insts[i])))
            return false;
    }
    places[func->inst_count] = work->body.inst_count;
    for (uint32_t l = 0; l < func->label_count; l++)
        work->body.labels[first + l].inst = places[func->labels[l].inst];
    return true;
}

bool cg_splice_begin(struct cg_work *work, struct cg_splice *splice, const struct mr_ptx_inst *like)
{
    struct cg_body *body = &work->body;
    const struct mr_ptx_function *callee = splice->callee;
    splice->regs = body->reg_count;
    splice->labels = body->label_count;
    splice->tables = body->table_count;
    splice->end = body->label_count + callee->label_count;
    if (!CG_GROW(work, reg, callee->reg_count) || !CG_GROW(work, label, callee->label_count + 1) ||
        !raise_tables(work, splice))
        return false;
    if (callee->reg_count)
        memcpy(body->regs + body->reg_count, callee->regs, callee->reg_count * sizeof *body->regs);
    body->reg_count += callee->reg_count;
    if (callee->label_count)
        memcpy(body->labels + body->label_count, callee->labels, callee->label_count * sizeof *body->labels);
    body->label_count += callee->label_count;
    return cg_add_label(work, like) != MR_PTX_NONE;
}

static bool put_copy(struct cg_work *work, const struct cg_splice *inside, const struct mr_ptx_inst *inst,
                     const struct mr_ptx_function *callee)
{
    struct cg_splice splice = {
        .callee = callee, .call = inst->call, .outer = inside, .depth = inside ? inside->depth + 1 : 1};
    bool moves = mr_flow_moves_stack(callee);
    if (!cg_splice_begin(work, &splice, inst) || !map_vars(work, &splice))
        return false;
    work->in->any = true;
    uint32_t saved = moves ? cg_add_reg(work, MR_PTX_TYPE_U64, inst->line) : 0;
    if (saved == MR_PTX_NONE)
        return false;
    struct mr_ptx_operand pointer = moves ? cg_reg_operand(work, saved, inst) : (struct mr_ptx_operand){0};
    if (moves &&
        !cg_add_new(work, inst, (struct mr_ptx_inst){.op = MR_PTX_OP_STACKSAVE, .dst_count = 1, .operand_count = 1},
                    &pointer))
        return false;
    struct mr_ptx_var *const *passed = splice.vars + callee->var_count;
    if (!cg_enter_body(work, &splice, passed, inst) || !cg_copy_body(work, &splice, callee, splice.labels))
        return false;
    cg_set_label(work, splice.end);
    if (!cg_leave_body(work, &splice, passed, inst))
        return false;
    return !moves ||
           cg_add_new(work, inst, (struct mr_ptx_inst){.op = MR_PTX_OP_STACKRESTORE, .operand_count = 1}, &pointer);
}

/* Puts the body of a function where its call was. The guard is looked at before. */
static bool put_body(struct cg_work *work, const struct cg_splice *inside, const struct mr_ptx_inst *inst,
                     const struct mr_ptx_function *callee)
{
    struct mr_ptx_inst passing = *inst;
    passing.call = cg_call_by_variables(work, inst, callee);
    if (!passing.call)
        return false;
    return (work->rings[callee->index] ? cg_put_routine : put_copy)(work, inside, &passing, callee) &&
           cg_take_results(work, inst, passing.call, callee);
}

/* Whether a body may take the call's place: it waits, and there is room, or it is there already. */
static bool fits(struct cg_work *work, const struct cg_splice *inside, const struct mr_ptx_call *call,
                 const struct mr_ptx_function *callee)
{
    if (!callee->has_body || !work->waits[callee->index])
        return false;
    bool good = cg_call_suits(work, call, callee);
    if (!good && !call->callee)
        return false; /* hardly what the pointer leads to */
    if (!cg_is_in_ring(work, inside, callee))
        good = good && work->body.inst_count < INSTS_MAX && (!inside || inside->depth < DEPTH_MAX);
    if (!good)
        work->in->stays = callee;
    return good;
}

/* For a call through a pointer: if it is this function's, its body, and on behind the call. */
static bool put_target(struct cg_work *work, const struct cg_splice *inside, const struct mr_ptx_inst *inst,
                       const struct mr_ptx_function *target, uint32_t over)
{
    uint32_t address = cg_add_reg(work, MR_PTX_TYPE_U64, inst->line),
             equal = cg_add_reg(work, MR_PTX_TYPE_PRED, inst->line), next = cg_add_label(work, inst);
    if (address == MR_PTX_NONE || equal == MR_PTX_NONE || next == MR_PTX_NONE)
        return false;
    struct mr_ptx_operand mov[2] = {
        cg_reg_operand(work, address, inst),
        {.kind = MR_PTX_OPERAND_FUNCTION, .func = target, .reg = MR_PTX_NONE, .reg2 = MR_PTX_NONE}};
    struct mr_ptx_operand compare[3] = {cg_reg_operand(work, equal, inst),
                                        cg_reg_operand(work, inst->call->callee_reg, inst), mov[0]};
    if (!cg_add_new(work, inst, (struct mr_ptx_inst){.op = MR_PTX_OP_MOV, .dst_count = 1, .operand_count = 2}, mov) ||
        !cg_add_new(
            work, inst,
            (struct mr_ptx_inst){.op = MR_PTX_OP_SETP, .dst_count = 1, .operand_count = 3, .cmp = MR_PTX_CMP_EQ},
            compare) ||
        !cg_add_jump(work, next, inst, equal, true) || !put_body(work, inside, inst, target) ||
        !cg_add_jump(work, over, inst, MR_PTX_NONE, false))
        return false;
    cg_set_label(work, next);
    return true;
}

/* A barrier at which each lane waits by itself: it arrives, and asks until it may go on. */
static bool put_barrier(struct cg_work *work, const struct mr_ptx_inst *inst)
{
    uint32_t over = cg_add_label(work, inst), again = cg_add_label(work, inst),
             free = cg_add_reg(work, MR_PTX_TYPE_PRED, inst->line);
    if (over == MR_PTX_NONE || again == MR_PTX_NONE || free == MR_PTX_NONE)
        return false;
    if (inst->guard != MR_PTX_NONE && !cg_add_jump(work, over, inst, inst->guard, !inst->guard_negated))
        return false;
    struct mr_ptx_inst join = *inst, test = *inst;
    join.mode = MR_PTX_MODE_JOIN;
    join.guard = MR_PTX_NONE;
    join.operands = inst->operands + inst->dst_count;
    join.operand_count = (uint8_t)(inst->operand_count - inst->dst_count);
    join.dst_count = 0;
    struct mr_ptx_operand *pair = cg_take(work, sizeof *pair);
    if (!pair || !cg_add_inst(work, &join))
        return false;
    *pair = cg_reg_operand(work, free, inst);
    pair->kind = MR_PTX_OPERAND_PAIR;
    pair->reg = inst->dst_count && inst->operands[0].kind == MR_PTX_OPERAND_REG ? inst->operands[0].reg : MR_PTX_NONE;
    pair->reg2 = free;
    if (pair->reg != MR_PTX_NONE)
        pair->type = work->body.regs[pair->reg].type;
    test.op = MR_PTX_OP_BAR;
    test.mode = MR_PTX_MODE_TEST;
    test.guard = MR_PTX_NONE;
    test.operands = pair;
    test.dst_count = test.operand_count = 1;
    work->in->any = true;
    cg_set_label(work, again);
    if (!cg_add_inst(work, &test) || !cg_add_jump(work, again, inst, free, true))
        return false;
    cg_set_label(work, over);
    return true;
}

/* An instruction of the new body; if it is a call of what waits, that in its place. */
static bool add_replaced(struct cg_work *work, const struct cg_splice *inside, const struct mr_ptx_inst *inst)
{
    if (work->barriers == CG_BARRIERS_APART && mr_flow_is_barrier(inst) && inst->mode != MR_PTX_MODE_CLUSTER_WAIT)
        return put_barrier(work, inst);
    if (!inst->call)
        return cg_add_inst(work, inst);
    const struct mr_ptx_function *callee = mr_layout_resolve(inst->call->callee), *const *targets =
                                                                                      callee ? &callee : work->targets;
    uint32_t count = callee ? 1 : work->target_count, over = MR_PTX_NONE;
    if (!callee && mr_ptx_type_bits(work->body.regs[inst->call->callee_reg].type) != 64)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!fits(work, inside, inst->call, targets[i]))
            continue;
        if (over == MR_PTX_NONE) {
            over = cg_add_label(work, inst);
            if (over == MR_PTX_NONE ||
                (inst->guard != MR_PTX_NONE && !cg_add_jump(work, over, inst, inst->guard, !inst->guard_negated)))
                return false;
        }
        if (!(callee ? put_body(work, inside, inst, callee) : put_target(work, inside, inst, targets[i], over)))
            return false;
    }
    if ((!callee || over == MR_PTX_NONE) && !cg_add_inst(work, inst))
        return false;
    if (over != MR_PTX_NONE)
        cg_set_label(work, over);
    return true;
}

/* Marks what a body calls; *pointers if through pointers. */
static void mark_callees(const struct mr_ptx_function *func, bool *seen, uint32_t *stack, uint32_t *depth,
                         bool *pointers)
{
    for (uint32_t i = 0; i < func->inst_count; i++) {
        const struct mr_ptx_call *call = func->insts[i].call;
        const struct mr_ptx_function *callee = call ? mr_layout_resolve(call->callee) : NULL;
        *pointers |= call && !call->callee;
        if (callee && callee->has_body && !seen[callee->index]) {
            seen[callee->index] = true;
            stack[(*depth)++] = callee->index;
        }
    }
}

/* What a function may come to, itself too if so, in seen; whether it waits. `stack`: room for all functions. */
static void look_from(struct cg_work *work, const struct mr_ptx_module *module, uint32_t f, bool *seen, uint32_t *stack)
{
    uint32_t count = module->function_count, depth = 0;
    bool pointers = false, followed = false;
    memset(seen, 0, count);
    stack[depth++] = f;
    while (depth) {
        const struct mr_ptx_function *at = module->functions[stack[--depth]];
        work->waits[f] |=
            work->facts[at->index].waits || (work->barriers != CG_BARRIERS_STAY && work->facts[at->index].barriers);
        mark_callees(at, seen, stack, &depth, &pointers);
        for (uint32_t t = 0; t < count && pointers && !followed; t++) {
            const struct mr_ptx_function *target = mr_layout_resolve(module->functions[t]);
            if (module->functions[t]->address_taken && target->has_body && !target->is_entry && !seen[target->index]) {
                seen[target->index] = true;
                stack[depth++] = target->index;
            }
        }
        followed = pointers;
    }
}

/* What waits, with what calls it. */
static bool look_at_calls(struct cg_work *work, const struct mr_ptx_module *module)
{
    uint32_t count = module->function_count;
    bool *seen = NULL, **reach = cg_take(work, count * sizeof *reach), any = false;
    uint32_t *stack = cg_take(work, (size_t)count * sizeof *stack);
    work->targets = cg_take(work, (size_t)count * sizeof *work->targets);
    if (!reach || !stack || !work->targets)
        return false;
    for (uint32_t f = 0; f < count; f++) {
        if (module->functions[f]->is_entry || !module->functions[f]->has_body)
            continue;
        seen = seen ? seen : cg_take(work, count);
        if (!seen)
            return false;
        look_from(work, module, f, seen, stack);
        any |= work->waits[f];
        if (work->waits[f] && seen[f]) {
            reach[f] = seen;
            seen = NULL;
        }
    }
    for (uint32_t f = 0; f < count; f++) {
        const struct mr_ptx_function *target = mr_layout_resolve(module->functions[f]);
        bool wanted =
            module->functions[f]->address_taken && target->has_body && !target->is_entry && work->waits[target->index];
        for (uint32_t t = 0; t < work->target_count && wanted; t++)
            wanted = work->targets[t] != target;
        if (wanted)
            work->targets[work->target_count++] = target;
    }
    work->in->any = any || work->barriers == CG_BARRIERS_APART;
    return cg_find_rings(work, module, reach);
}

static bool begin_body(struct cg_work *work, const struct mr_ptx_function *func)
{
    struct cg_body *body = &work->body;
    if (!CG_GROW(work, inst, func->inst_count) || !CG_GROW(work, reg, func->reg_count) ||
        !CG_GROW(work, label, func->label_count) || !CG_GROW(work, table, func->table_count) ||
        !CG_GROW(work, var, func->var_count))
        return false;
#define COPY(kind) \
    do { \
        if (func->kind##_count) \
            memcpy(body->kind##s, func->kind##s, func->kind##_count * sizeof *body->kind##s); \
        body->kind##_count = func->kind##_count; \
    } while (0)
    COPY(reg);
    COPY(label);
    COPY(table);
    COPY(var);
#undef COPY
    return true;
}

/* Functions that the new kernel may still call; all of before if it calls through pointers. */
static bool find_reachable(struct cg_work *work, const struct mr_layout_entry *entry)
{
    struct cg_inlined *in = work->in;
    const struct mr_ptx_function **list = cg_take(work, (entry->reachable_count + 1) * sizeof *list);
    uint32_t count = 0;
    if (!list)
        return false;
    list[count++] = &in->func;
    for (uint32_t at = 0; at < count && !entry->calls_indirectly; at++)
        for (uint32_t i = 0; i < list[at]->inst_count; i++) {
            const struct mr_ptx_function *callee =
                list[at]->insts[i].call ? mr_layout_resolve(list[at]->insts[i].call->callee) : NULL;
            bool known = !callee || !callee->has_body || count > entry->reachable_count;
            for (uint32_t k = 0; k < count && !known; k++)
                known = list[k] == callee;
            if (!known)
                list[count++] = callee;
        }
    for (uint32_t i = 0; i < entry->reachable_count && entry->calls_indirectly; i++)
        if (entry->reachable[i] != entry->func)
            list[count++] = entry->reachable[i];
    in->entry = *entry;
    in->entry.func = &in->func;
    in->entry.reachable = list;
    in->entry.reachable_count = count;
    return true;
}

static bool make_module(struct cg_work *work, const struct mr_ptx_module *module)
{
    struct cg_inlined *in = work->in;
    struct mr_ptx_function **functions = cg_take(work, module->function_count * sizeof *functions);
    if (!functions)
        return false;
    memcpy(functions, module->functions, module->function_count * sizeof *functions);
    functions[in->func.index] = &in->func;
    in->module = *module;
    in->module.functions = functions;
    in->func.module = &in->module;
    return true;
}

bool cg_inline_waits(struct cg_inlined *in, const struct mr_layout_entry *entry, const struct mr_flow_facts *facts,
                     enum cg_inline_barriers barriers)
{
    const struct mr_ptx_function *func = entry->func;
    struct cg_work work = {.in = in, .facts = facts, .barriers = barriers};
    *in = (struct cg_inlined){.any = false};
    if (entry->reachable_count < 2 && barriers != CG_BARRIERS_APART)
        return true;
    work.waits = cg_take(&work, func->module->function_count);
    if (!work.waits || !look_at_calls(&work, func->module))
        return false;
    bool some = in->any;
    in->any = false;
    if (some && (!begin_body(&work, func) || !cg_copy_body(&work, NULL, func, 0)))
        return false;
    if (!in->any)
        return true;
    const struct cg_body *body = &work.body;
    in->func = *func;
    in->func.insts = body->insts;
    in->func.inst_count = body->inst_count;
    in->func.regs = body->regs;
    in->func.reg_count = body->reg_count;
    in->func.labels = body->labels;
    in->func.label_count = body->label_count;
    in->func.tables = body->tables;
    in->func.table_count = body->table_count;
    in->func.vars = body->vars;
    in->func.var_count = body->var_count;
    return make_module(&work, func->module) && find_reachable(&work, entry);
}
