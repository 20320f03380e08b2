/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions with waiting loops become part of the kernel that calls them.
 *
 * Lanes of a warp that wait for each other have to be in one function: those parked in a caller can't
 * run before a call comes back, and a call comes back when all its lanes are done. So a lock taken in a function that the
 * compiler did not inline would never be handed on. Here the kernel's body is rewritten: a call of a function that waits, or calls one that does, is replaced by
 * the function's body with registers, labels and local variables of its own. Its parameters are the caller's .param variables, which is how calls
 * pass them anyway. A call through a pointer becomes a comparison with each function that waits and that it may lead to, with the body behind it, and stays for
 * all others. A function that moves the stack pointer has it put back behind its body.
 *
 * What can't be replaced stays a call: that of a function from inside its own body, arguments in registers, and what would make the kernel larger than INSTS_MAX.
 *
 * Everything is new but what does not change; the verified module is left alone.
 */
#include "compile/codegen/inline.h"

#include <string.h>

#include "base/memory.h"
#include "compile/codegen/emit_stack.h"

#define INSTS_MAX 60000u
#define DEPTH_MAX 64u

struct piece { void *memory; struct piece *next; };

/* Lists that grow, in the order of the new function's. */
struct body {
    struct mr_ptx_inst *insts;
    struct mr_ptx_reg *regs;
    struct mr_ptx_label *labels;
    struct mr_ptx_table *tables;
    struct mr_ptx_var **vars;
    uint32_t inst_count, inst_room, reg_count, reg_room, label_count, label_room, table_count, table_room, var_count, var_room;
};

struct work {
    struct cg_inlined *in;
    const struct mr_flow_facts *facts;
    bool *waits;             /* by function: it or what it calls */
    const struct mr_ptx_function **targets; /* of calls through pointers, those that wait */
    uint32_t target_count;
    enum cg_inline_barriers barriers;
    struct body body;
    bool no_memory;
};

/* One call being replaced. */
struct splice {
    const struct mr_ptx_function *callee;
    const struct mr_ptx_call *call;
    uint32_t regs, labels, tables;      /* what the callee's numbers are raised by */
    struct mr_ptx_var **vars;           /* for each of its vars, params, returns: what stands for it */
    uint32_t end;                       /* the label behind its last instruction */
    const struct splice *outer;         /* what the call stands in; NULL in the kernel itself */
    uint32_t depth;
};

static void *take(struct work *work, size_t bytes)
{
    struct piece *piece = mr_calloc(1, sizeof *piece);
    void *memory = piece ? mr_calloc(1, bytes ? bytes : 1) : NULL;
    if (!memory) {
        mr_free(piece);
        work->no_memory = true;
        return NULL;
    }
    *piece = (struct piece){memory, work->in->pieces};
    work->in->pieces = piece;
    return memory;
}

/* Room for `more` elements behind `count`; false when memory is short. Lists that are given up are freed with all others, at the end. */
static bool room(struct work *work, void *list, uint32_t count, uint32_t *have, uint32_t more, size_t size)
{
    if (count + more <= *have)
        return true;
    uint32_t wanted = (count + more) * 2;
    void *old, *grown = take(work, (size_t)wanted * size);
    if (!grown)
        return false;
    memcpy(&old, list, sizeof old);
    if (count)
        memcpy(grown, old, (size_t)count * size);
    memcpy(list, &grown, sizeof grown);
    *have = wanted;
    return true;
}

#define GROW(work, kind, more) room(work, &(work)->body.kind##s, (work)->body.kind##_count, &(work)->body.kind##_room, more, sizeof *(work)->body.kind##s)

static bool add_inst(struct work *work, const struct mr_ptx_inst *inst)
{
    if (!GROW(work, inst, 1))
        return false;
    work->body.insts[work->body.inst_count++] = *inst;
    return true;
}

static bool owned(const struct mr_ptx_var *var, const struct mr_ptx_function *func)
{
    return var && var->owner == func && mr_flow_is_per_lane(var);
}

static const struct mr_ptx_var *var_of(const struct splice *splice, const struct mr_ptx_var *var)
{
    if (!owned(var, splice->callee))
        return var;
    uint32_t at = var->index;
    if (var->is_input)
        at += splice->callee->var_count;
    else if (var->is_return)
        at += splice->callee->var_count + splice->callee->param_count;
    return splice->vars[at];
}

static uint32_t reg_of(const struct splice *splice, uint32_t reg)
{
    return reg == MR_PTX_NONE ? reg : reg + splice->regs;
}

static const struct mr_ptx_operand *operands_of(struct work *work, const struct splice *splice, const struct mr_ptx_operand *from, uint32_t count)
{
    struct mr_ptx_operand *to = count ? take(work, count * sizeof *to) : NULL;
    for (uint32_t i = 0; i < count && to; i++) {
        to[i] = from[i];
        switch (from[i].kind) {
        case MR_PTX_OPERAND_REG: case MR_PTX_OPERAND_REG_ADDRESS: case MR_PTX_OPERAND_PAIR:
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

static const struct mr_ptx_call *call_of(struct work *work, const struct splice *splice, const struct mr_ptx_call *from)
{
    struct mr_ptx_call *to = take(work, sizeof *to);
    if (!to)
        return NULL;
    *to = *from;
    to->callee_reg = reg_of(splice, from->callee_reg);
    to->args = operands_of(work, splice, from->args, from->arg_count);
    to->returns = operands_of(work, splice, from->returns, from->return_count);
    if (!from->callee && !from->prototype)
        to->table += splice->tables;
    return to;
}

/* A jump under a guard or none. */
static bool add_jump(struct work *work, uint32_t label, const struct mr_ptx_inst *like, uint32_t guard, bool negated)
{
    struct mr_ptx_operand *to = take(work, sizeof *to);
    if (!to)
        return false;
    *to = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_LABEL, .label = label, .reg = MR_PTX_NONE, .reg2 = MR_PTX_NONE, .line = like->line, .column = like->column};
    struct mr_ptx_inst jump = {.op = MR_PTX_OP_BRA, .operand_count = 1, .operands = to, .guard = guard, .guard_negated = negated, .vector = 1, .line = like->line,
                               .column = like->column, .loc_file = like->loc_file, .loc_line = like->loc_line};
    return add_inst(work, &jump);
}

/* A label in front of the instruction that comes next, or, with set_label, of a later one. */
static uint32_t add_label(struct work *work, const struct mr_ptx_inst *like)
{
    if (!GROW(work, label, 1))
        return MR_PTX_NONE;
    work->body.labels[work->body.label_count] = (struct mr_ptx_label){.name = "", .inst = work->body.inst_count, .line = like->line, .column = like->column};
    return work->body.label_count++;
}

static void set_label(struct work *work, uint32_t label)
{
    work->body.labels[label].inst = work->body.inst_count;
}

static uint32_t add_reg(struct work *work, enum mr_ptx_type type, uint32_t line)
{
    if (!GROW(work, reg, 1))
        return MR_PTX_NONE;
    work->body.regs[work->body.reg_count] = (struct mr_ptx_reg){.name = "", .type = (uint8_t)type, .line = line};
    return work->body.reg_count++;
}

static struct mr_ptx_operand reg_operand(const struct work *work, uint32_t reg, const struct mr_ptx_inst *like)
{
    return (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_REG, .reg = reg, .reg2 = MR_PTX_NONE, .type = work->body.regs[reg].type, .line = like->line,
                                   .column = like->column};
}

/* An instruction of our own on 64 bits, of one type. */
static bool add_new(struct work *work, const struct mr_ptx_inst *like, struct mr_ptx_inst what, const struct mr_ptx_operand *operands)
{
    struct mr_ptx_operand *copy = take(work, what.operand_count * sizeof *copy);
    if (!copy)
        return false;
    memcpy(copy, operands, what.operand_count * sizeof *copy);
    what.operands = copy;
    what.type_count = 1;
    what.type[0] = MR_PTX_TYPE_U64;
    what.guard = MR_PTX_NONE;
    what.vector = 1;
    what.line = like->line;
    what.column = like->column;
    what.loc_file = like->loc_file;
    what.loc_line = like->loc_line;
    return add_inst(work, &what);
}

static struct mr_ptx_var *new_var(struct work *work, const struct mr_ptx_var *like)
{
    struct mr_ptx_var *var = take(work, sizeof *var);
    if (!var || !GROW(work, var, 1))
        return NULL;
    *var = *like;
    var->is_input = var->is_return = false;
    var->owner = &work->in->func;
    var->index = work->body.var_count;
    work->body.vars[work->body.var_count++] = var;
    return var;
}

static bool map_vars(struct work *work, struct splice *splice)
{
    const struct mr_ptx_function *callee = splice->callee;
    const struct mr_ptx_call *call = splice->call;
    uint32_t count = callee->var_count + callee->param_count + callee->return_count;
    splice->vars = take(work, count * sizeof *splice->vars);
    if (!splice->vars)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t param = i - callee->var_count, result = param - callee->param_count;
        if (i < callee->var_count)
            splice->vars[i] = mr_flow_is_per_lane(callee->vars[i]) ? new_var(work, callee->vars[i]) : callee->vars[i];
        else if (param < callee->param_count)
            memcpy(&splice->vars[i], &call->args[param].var, sizeof splice->vars[i]);
        else if (call->returns[result].kind == MR_PTX_OPERAND_SYMBOL)
            memcpy(&splice->vars[i], &call->returns[result].var, sizeof splice->vars[i]);
        else
            splice->vars[i] = new_var(work, callee->returns[result]);
    }
    return !work->no_memory;
}

static bool raise_tables(struct work *work, const struct splice *splice)
{
    if (!GROW(work, table, splice->callee->table_count))
        return false;
    for (uint32_t t = 0; t < splice->callee->table_count; t++) {
        struct mr_ptx_table table = splice->callee->tables[t];
        uint32_t *labels = table.labels ? take(work, table.count * sizeof *labels) : NULL;
        if (table.labels && !labels)
            return false;
        for (uint32_t i = 0; labels && i < table.count; i++)
            labels[i] = table.labels[i] + splice->labels;
        table.labels = labels;
        work->body.tables[work->body.table_count++] = table;
    }
    return true;
}

static bool add_replaced(struct work *work, const struct splice *inside, const struct mr_ptx_inst *inst);

static bool copy_inst(struct work *work, const struct splice *splice, const struct mr_ptx_inst *from)
{
    if (from->op == MR_PTX_OP_RET)
        return add_jump(work, splice->end, from, reg_of(splice, from->guard), from->guard_negated);
    struct mr_ptx_inst to = *from;
    to.guard = reg_of(splice, from->guard);
    to.operands = operands_of(work, splice, from->operands, from->operand_count);
    if (from->call)
        to.call = call_of(work, splice, from->call);
    return !work->no_memory && add_replaced(work, splice, &to);
}

/* The instructions of a function, its labels being there from `first` on; calls in it are replaced as well. */
static bool copy_body(struct work *work, const struct splice *splice, const struct mr_ptx_function *func, uint32_t first)
{
    uint32_t *places = take(work, ((size_t)func->inst_count + 1) * sizeof *places);
    if (!places)
        return false;
    for (uint32_t i = 0; i < func->inst_count; i++) {
        places[i] = work->body.inst_count;
        if (!(splice ? copy_inst(work, splice, &func->insts[i]) : add_replaced(work, NULL, &func->insts[i])))
            return false;
    }
    places[func->inst_count] = work->body.inst_count;
    for (uint32_t l = 0; l < func->label_count; l++)
        work->body.labels[first + l].inst = places[func->labels[l].inst];
    return true;
}

/* Puts the body of a function where its call was. The guard is looked at before. */
static bool put_body(struct work *work, const struct splice *inside, const struct mr_ptx_inst *inst, const struct mr_ptx_function *callee)
{
    struct body *body = &work->body;
    struct splice splice = {.callee = callee, .call = inst->call, .regs = body->reg_count, .labels = body->label_count, .tables = body->table_count,
                            .end = body->label_count + callee->label_count, .outer = inside, .depth = inside ? inside->depth + 1 : 1};
    bool moves = cg_stack_is_used(callee);
    if (!GROW(work, reg, callee->reg_count) || !GROW(work, label, callee->label_count + 1) || !raise_tables(work, &splice) || !map_vars(work, &splice))
        return false;
    work->in->any = true;
    if (callee->reg_count)
        memcpy(body->regs + body->reg_count, callee->regs, callee->reg_count * sizeof *body->regs);
    body->reg_count += callee->reg_count;
    if (callee->label_count)
        memcpy(body->labels + body->label_count, callee->labels, callee->label_count * sizeof *body->labels);
    body->label_count += callee->label_count;
    if (add_label(work, inst) == MR_PTX_NONE)
        return false;
    uint32_t saved = moves ? add_reg(work, MR_PTX_TYPE_U64, inst->line) : 0;
    if (saved == MR_PTX_NONE)
        return false;
    struct mr_ptx_operand pointer = moves ? reg_operand(work, saved, inst) : (struct mr_ptx_operand){0};
    if (moves && !add_new(work, inst, (struct mr_ptx_inst){.op = MR_PTX_OP_STACKSAVE, .dst_count = 1, .operand_count = 1}, &pointer))
        return false;
    if (!copy_body(work, &splice, callee, splice.labels))
        return false;
    set_label(work, splice.end);
    return !moves || add_new(work, inst, (struct mr_ptx_inst){.op = MR_PTX_OP_STACKRESTORE, .operand_count = 1}, &pointer);
}

/* All arguments and results are variables, none of them both. */
static bool by_variables(const struct mr_ptx_call *call, const struct mr_ptx_function *callee)
{
    if (call->arg_count != callee->param_count || call->return_count != callee->return_count)
        return false;
    for (uint32_t i = 0; i < call->arg_count; i++)
        if (call->args[i].kind != MR_PTX_OPERAND_SYMBOL || callee->params[i]->reg != MR_PTX_NONE || callee->params[i]->incomplete)
            return false;
    for (uint32_t i = 0; i < call->return_count; i++) {
        if ((call->returns[i].kind != MR_PTX_OPERAND_SYMBOL && call->returns[i].kind != MR_PTX_OPERAND_SINK) || callee->returns[i]->reg != MR_PTX_NONE)
            return false;
        for (uint32_t a = 0; a < call->arg_count && call->returns[i].kind == MR_PTX_OPERAND_SYMBOL; a++)
            if (call->args[a].var == call->returns[i].var)
                return false;
    }
    return true;
}

/* Whether the variables that a call passes can be the function's own. */
static bool suits(const struct mr_ptx_call *call, const struct mr_ptx_function *callee)
{
    if (!by_variables(call, callee))
        return false;
    for (uint32_t i = 0; i < call->arg_count; i++)
        if (call->args[i].var->size != callee->params[i]->size)
            return false;
    for (uint32_t i = 0; i < call->return_count; i++)
        if (call->returns[i].kind == MR_PTX_OPERAND_SYMBOL && call->returns[i].var->size != callee->returns[i]->size)
            return false;
    return true;
}

/* Whether a body may take the call's place: it waits, is not inside itself, and there is room. */
static bool fits(struct work *work, const struct splice *inside, const struct mr_ptx_call *call, const struct mr_ptx_function *callee)
{
    if (!callee->has_body || !work->waits[callee->index])
        return false;
    bool good = suits(call, callee);
    if (!good && !call->callee)
        return false; /* hardly what the pointer leads to */
    good = good && work->body.inst_count < INSTS_MAX && (!inside || inside->depth < DEPTH_MAX);
    for (; inside && good; inside = inside->outer)
        good = inside->callee != callee;
    if (!good)
        work->in->stays = callee;
    return good;
}

/* For a call through a pointer: if it is this function's, its body, and on behind the call. */
static bool put_target(struct work *work, const struct splice *inside, const struct mr_ptx_inst *inst, const struct mr_ptx_function *target, uint32_t over)
{
    uint32_t address = add_reg(work, MR_PTX_TYPE_U64, inst->line), equal = add_reg(work, MR_PTX_TYPE_PRED, inst->line), next = add_label(work, inst);
    if (address == MR_PTX_NONE || equal == MR_PTX_NONE || next == MR_PTX_NONE)
        return false;
    struct mr_ptx_operand mov[2] = {reg_operand(work, address, inst), {.kind = MR_PTX_OPERAND_FUNCTION, .func = target, .reg = MR_PTX_NONE, .reg2 = MR_PTX_NONE}};
    struct mr_ptx_operand compare[3] = {reg_operand(work, equal, inst), reg_operand(work, inst->call->callee_reg, inst), mov[0]};
    if (!add_new(work, inst, (struct mr_ptx_inst){.op = MR_PTX_OP_MOV, .dst_count = 1, .operand_count = 2}, mov)
        || !add_new(work, inst, (struct mr_ptx_inst){.op = MR_PTX_OP_SETP, .dst_count = 1, .operand_count = 3, .cmp = MR_PTX_CMP_EQ}, compare)
        || !add_jump(work, next, inst, equal, true) || !put_body(work, inside, inst, target) || !add_jump(work, over, inst, MR_PTX_NONE, false))
        return false;
    set_label(work, next);
    return true;
}

/* A barrier at which each lane waits by itself: it arrives, and asks until it may go on. */
static bool put_barrier(struct work *work, const struct mr_ptx_inst *inst)
{
    uint32_t over = add_label(work, inst), again = add_label(work, inst), free = add_reg(work, MR_PTX_TYPE_PRED, inst->line);
    if (over == MR_PTX_NONE || again == MR_PTX_NONE || free == MR_PTX_NONE)
        return false;
    if (inst->guard != MR_PTX_NONE && !add_jump(work, over, inst, inst->guard, !inst->guard_negated))
        return false;
    struct mr_ptx_inst join = *inst, test = *inst;
    join.mode = MR_PTX_MODE_JOIN;
    join.guard = MR_PTX_NONE;
    join.operands = inst->operands + inst->dst_count;
    join.operand_count = (uint8_t)(inst->operand_count - inst->dst_count);
    join.dst_count = 0;
    struct mr_ptx_operand *pair = take(work, sizeof *pair);
    if (!pair || !add_inst(work, &join))
        return false;
    *pair = reg_operand(work, free, inst);
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
    set_label(work, again);
    if (!add_inst(work, &test) || !add_jump(work, again, inst, free, true))
        return false;
    set_label(work, over);
    return true;
}

/* An instruction of the new body; if it is a call of what waits, that in its place. */
static bool add_replaced(struct work *work, const struct splice *inside, const struct mr_ptx_inst *inst)
{
    if (work->barriers == CG_BARRIERS_APART && mr_flow_is_barrier(inst) && inst->mode != MR_PTX_MODE_CLUSTER_WAIT)
        return put_barrier(work, inst);
    if (!inst->call)
        return add_inst(work, inst);
    const struct mr_ptx_function *callee = mr_layout_resolve(inst->call->callee), *const *targets = callee ? &callee : work->targets;
    uint32_t count = callee ? 1 : work->target_count, over = MR_PTX_NONE;
    if (!callee && mr_ptx_type_bits(work->body.regs[inst->call->callee_reg].type) != 64)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!fits(work, inside, inst->call, targets[i]))
            continue;
        if (over == MR_PTX_NONE) {
            over = add_label(work, inst);
            if (over == MR_PTX_NONE || (inst->guard != MR_PTX_NONE && !add_jump(work, over, inst, inst->guard, !inst->guard_negated)))
                return false;
        }
        if (!(callee ? put_body(work, inside, inst, callee) : put_target(work, inside, inst, targets[i], over)))
            return false;
    }
    if ((!callee || over == MR_PTX_NONE) && !add_inst(work, inst))
        return false;
    if (over != MR_PTX_NONE)
        set_label(work, over);
    return true;
}

/* Marks what a body calls; *pointers if through pointers. */
static void mark_callees(const struct mr_ptx_function *func, bool *seen, uint32_t *stack, uint32_t *depth, bool *pointers)
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

/* What waits, with what calls it. */
static bool look_at_calls(struct work *work, const struct mr_ptx_module *module)
{
    uint32_t count = module->function_count;
    bool *seen = take(work, count), any = false;
    uint32_t *stack = take(work, (size_t)count * sizeof *stack);
    work->targets = take(work, (size_t)count * sizeof *work->targets);
    if (!seen || !stack || !work->targets)
        return false;
    for (uint32_t f = 0; f < count; f++) {
        const struct mr_ptx_function *func = module->functions[f];
        uint32_t depth = 0;
        bool pointers = false, followed = false;
        if (func->is_entry || !func->has_body)
            continue;
        memset(seen, 0, count);
        stack[depth++] = f;
        seen[f] = true;
        while (depth) {
            const struct mr_ptx_function *at = module->functions[stack[--depth]];
            work->waits[f] |= work->facts[at->index].waits || (work->barriers != CG_BARRIERS_STAY && work->facts[at->index].barriers);
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
        any |= work->waits[f];
    }
    for (uint32_t f = 0; f < count; f++) {
        const struct mr_ptx_function *target = mr_layout_resolve(module->functions[f]);
        bool wanted = module->functions[f]->address_taken && target->has_body && !target->is_entry && work->waits[target->index];
        for (uint32_t t = 0; t < work->target_count && wanted; t++)
            wanted = work->targets[t] != target;
        if (wanted)
            work->targets[work->target_count++] = target;
    }
    work->in->any = any || work->barriers == CG_BARRIERS_APART;
    return true;
}

static bool begin_body(struct work *work, const struct mr_ptx_function *func)
{
    struct body *body = &work->body;
    if (!GROW(work, inst, func->inst_count) || !GROW(work, reg, func->reg_count) || !GROW(work, label, func->label_count) ||
        !GROW(work, table, func->table_count) || !GROW(work, var, func->var_count))
        return false;
#define COPY(kind)                                                                                                                             \
    do {                                                                                                                                       \
        if (func->kind##_count)                                                                                                                \
            memcpy(body->kind##s, func->kind##s, func->kind##_count * sizeof *body->kind##s);                                                  \
        body->kind##_count = func->kind##_count;                                                                                               \
    } while (0)
    COPY(reg);
    COPY(label);
    COPY(table);
    COPY(var);
#undef COPY
    return true;
}

/* Functions that the new kernel may still call; all of before if it calls through pointers. */
static bool find_reachable(struct work *work, const struct mr_layout_entry *entry)
{
    struct cg_inlined *in = work->in;
    const struct mr_ptx_function **list = take(work, (entry->reachable_count + 1) * sizeof *list);
    uint32_t count = 0;
    if (!list)
        return false;
    list[count++] = &in->func;
    for (uint32_t at = 0; at < count && !entry->calls_indirectly; at++)
        for (uint32_t i = 0; i < list[at]->inst_count; i++) {
            const struct mr_ptx_function *callee = list[at]->insts[i].call ? mr_layout_resolve(list[at]->insts[i].call->callee) : NULL;
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

static bool make_module(struct work *work, const struct mr_ptx_module *module)
{
    struct cg_inlined *in = work->in;
    struct mr_ptx_function **functions = take(work, module->function_count * sizeof *functions);
    if (!functions)
        return false;
    memcpy(functions, module->functions, module->function_count * sizeof *functions);
    functions[in->func.index] = &in->func;
    in->module = *module;
    in->module.functions = functions;
    in->func.module = &in->module;
    return true;
}

bool cg_inline_waits(struct cg_inlined *in, const struct mr_layout_entry *entry, const struct mr_flow_facts *facts, enum cg_inline_barriers barriers)
{
    const struct mr_ptx_function *func = entry->func;
    struct work work = {.in = in, .facts = facts, .barriers = barriers};
    *in = (struct cg_inlined){.any = false};
    if (entry->reachable_count < 2 && barriers != CG_BARRIERS_APART)
        return true;
    work.waits = take(&work, func->module->function_count);
    if (!work.waits || !look_at_calls(&work, func->module))
        return false;
    bool some = in->any;
    in->any = false;
    if (some && (!begin_body(&work, func) || !copy_body(&work, NULL, func, 0)))
        return false;
    if (!in->any)
        return true;
    const struct body *body = &work.body;
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

void cg_inline_clear(struct cg_inlined *in)
{
    for (struct piece *piece = in->pieces, *next; piece; piece = next) {
        next = piece->next;
        mr_free(piece->memory);
        mr_free(piece);
    }
    in->pieces = NULL;
}
