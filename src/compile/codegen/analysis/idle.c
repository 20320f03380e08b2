/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Loops that poll by plain loads.
 *
 * Most loops that end by what they load don't wait: each round brings them further, a pointer, a count, something
 * stored. A loop that can go round without changing anything that it goes by, and ends by what it loads, would go round
 * for ever if memory stayed as it is: it waits for somebody else.
 *
 * So this looks for an idle round: a way from the head of the loop back to it on which no carried register gets a new
 * value and nothing is done that others could see, or that another round could. Carried is what is live at the head, is
 * written in the loop, and has to do with which way it goes. A store doesn't count if it stores the same to the same
 * place in each round, or if it goes to global or shared memory that the loop does not load itself. What has a guard
 * may be left out. `mov`, `selp` and an addition of something that may be 0 may leave the old value. What is loaded
 * anew, and what is made of that, is no new value if nothing that moves has to do with it (moving.c).
 *
 * A loop waits as well, whatever its rounds change, if one of its ways out goes by nothing but what it loads from a
 * place that stays the same. A count beside that only says how long it waits at most. Loops with barriers are left out:
 * their warps come round together.
 *
 * It is found without regard to which conditions go together. To call a loop waiting by mistake costs a little time.
 */
#include "compile/codegen/analysis/flow.h"
#include "compile/codegen/analysis/moving.h"

#include "base/alloc.h"

struct idle {
    const struct mr_flow *flow;
    const struct mr_flow_loop *loop;
    mr_word *written;  /* registers that the loop writes */
    mr_word *relevant; /* that have to do with its way */
    mr_word *carried;  /* both, and live at its head */
    mr_word *kept;     /* may hold an old value of a carried register */
    mr_word *zeros;    /* may be 0, by a choice between that and something else */
    mr_word *loaded;   /* loaded in the loop, or made of that */
    mr_word *moving;   /* moving.c */
    mr_word *own;      /* likewise; instructions */
    bool barriers;     /* the loop has some */
    mr_word *seen;     /* blocks */
    uint32_t *stack;   /* of blocks */
    /* of the visit at hand */
    bool hit, changed;
    const mr_word *asked;
};

static const struct mr_ptx_inst *inst_at(const struct idle *idle, uint32_t i)
{
    return &idle->flow->func->insts[i];
}

/* ---- which registers ---- */

static void written_visit(void *data, uint32_t reg, bool is_definition)
{
    struct idle *idle = data;
    if (is_definition)
        mr_bit_set(idle->written, reg);
}

static void asked_definition_visit(void *data, uint32_t reg, bool is_definition)
{
    struct idle *idle = data;
    idle->hit |= is_definition && mr_bit_get(idle->asked, reg);
}

static void asked_use_visit(void *data, uint32_t reg, bool is_definition)
{
    struct idle *idle = data;
    idle->hit |= !is_definition && mr_bit_get(idle->asked, reg);
}

static bool defines(struct idle *idle, const struct mr_ptx_inst *inst, const mr_word *set)
{
    idle->hit = false;
    idle->asked = set;
    mr_flow_registers(idle->flow, inst, asked_definition_visit, idle);
    return idle->hit;
}

static bool uses(struct idle *idle, const struct mr_ptx_inst *inst, const mr_word *set)
{
    idle->hit = false;
    idle->asked = set;
    mr_flow_registers(idle->flow, inst, asked_use_visit, idle);
    return idle->hit;
}

static bool is_reg_of(const struct mr_ptx_operand *operand, const mr_word *set)
{
    return operand->kind == MR_PTX_OPERAND_REG && !operand->negated && mr_bit_get(set, operand->reg);
}

static bool is_zero(const struct mr_ptx_operand *operand, const mr_word *zeros)
{
    return (operand->kind == MR_PTX_OPERAND_IMM_INT && operand->value == 0) || is_reg_of(operand, zeros);
}

/* Whether the result may be an old value of a carried register. */
static bool keeps(const struct idle *idle, const struct mr_ptx_inst *inst)
{
    if (inst->dst_count != 1 || inst->operand_count < 2)
        return false;
    const struct mr_ptx_operand *a = &inst->operands[1], *b = inst->operand_count > 2 ? &inst->operands[2] : a;
    switch (inst->op) {
    case MR_PTX_OP_MOV:
        return is_reg_of(a, idle->kept);
    case MR_PTX_OP_SELP:
    case MR_PTX_OP_MIN:
    case MR_PTX_OP_MAX:
        return is_reg_of(a, idle->kept) || is_reg_of(b, idle->kept);
    case MR_PTX_OP_ADD:
    case MR_PTX_OP_OR:
    case MR_PTX_OP_XOR:
        return (is_reg_of(a, idle->kept) && is_zero(b, idle->zeros)) ||
               (is_reg_of(b, idle->kept) && is_zero(a, idle->zeros));
    case MR_PTX_OP_SUB:
        return is_reg_of(a, idle->kept) && is_zero(b, idle->zeros);
    default:
        return false;
    }
}

/* Whether it may be 0 by a choice. */
static bool may_be_zero(const struct idle *idle, const struct mr_ptx_inst *inst)
{
    if (inst->dst_count != 1 || inst->operand_count < 2)
        return false;
    const struct mr_ptx_operand *a = &inst->operands[1], *b = inst->operand_count > 2 ? &inst->operands[2] : a;
    switch (inst->op) {
    case MR_PTX_OP_SELP:
        return is_zero(a, idle->zeros) || is_zero(b, idle->zeros);
    case MR_PTX_OP_SET:
        return true;
    case MR_PTX_OP_MOV:
    case MR_PTX_OP_CVT:
    case MR_PTX_OP_NEG:
        return is_reg_of(a, idle->zeros);
    case MR_PTX_OP_AND:
        return is_reg_of(a, idle->zeros) || is_reg_of(b, idle->zeros);
    default:
        return false;
    }
}

static void mark_result(struct idle *idle, const struct mr_ptx_inst *inst, mr_word *set)
{
    const struct mr_ptx_operand *result = &inst->operands[0];
    if (result->kind != MR_PTX_OPERAND_REG || mr_bit_get(set, result->reg))
        return;
    mr_bit_set(set, result->reg);
    idle->changed = true;
}

static bool is_load(const struct mr_ptx_inst *inst)
{
    return inst->op == MR_PTX_OP_LD && inst->space != MR_PTX_SPACE_PARAM && inst->space != MR_PTX_SPACE_LOCAL;
}

/* Made of what was loaded. */
static bool is_loaded(struct idle *idle, const struct mr_ptx_inst *inst)
{
    return is_load(inst) || uses(idle, inst, idle->loaded);
}

static void find_kept(struct idle *idle)
{
    for (idle->changed = true; idle->changed;) {
        idle->changed = false;
        for (uint32_t b = idle->loop->first; b < idle->loop->end; b++)
            for (uint32_t i = idle->flow->blocks[b].first; i < idle->flow->blocks[b].end; i++) {
                if (keeps(idle, inst_at(idle, i)))
                    mark_result(idle, inst_at(idle, i), idle->kept);
                if (may_be_zero(idle, inst_at(idle, i)))
                    mark_result(idle, inst_at(idle, i), idle->zeros);
                if (inst_at(idle, i)->dst_count && is_loaded(idle, inst_at(idle, i)))
                    mark_result(idle, inst_at(idle, i), idle->loaded);
            }
    }
}

/* ---- the round ---- */

/* Whether it does something that makes the next round another one, or calls what may. */
static bool acts(struct idle *idle, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_CALL:
        return !inst->call->callee || idle->flow->facts[mr_layout_resolve(inst->call->callee)->index].acts;
    case MR_PTX_OP_ST:
        if (inst->space == MR_PTX_SPACE_GLOBAL || inst->space == MR_PTX_SPACE_SHARED)
            return (idle->barriers || mr_bit_get(idle->own, (uint32_t)(inst - idle->flow->func->insts))) &&
                   uses(idle, inst, idle->written);
        return inst->space != MR_PTX_SPACE_PARAM && uses(idle, inst, idle->written);
    default:
        return mr_flow_acts(inst);
    }
}

/* Whether the block may leave all as it was. */
static bool is_idle(struct idle *idle, const struct mr_flow_block *block)
{
    for (uint32_t i = block->first; i < block->end; i++) {
        const struct mr_ptx_inst *inst = inst_at(idle, i);
        if (inst->guard != MR_PTX_NONE)
            continue;
        bool anew = is_loaded(idle, inst) && !defines(idle, inst, idle->moving);
        if (acts(idle, inst) || (defines(idle, inst, idle->carried) && !keeps(idle, inst) && !anew))
            return false;
    }
    return true;
}

static bool has_idle_round(struct idle *idle)
{
    const struct mr_flow_loop *loop = idle->loop;
    uint32_t depth = 0;
    idle->stack[depth++] = loop->first;
    mr_bit_set(idle->seen, loop->first);
    while (depth) {
        const struct mr_flow_block *block = &idle->flow->blocks[idle->stack[--depth]];
        if (!is_idle(idle, block))
            continue;
        for (uint32_t s = 0; s < block->succ_count; s++) {
            uint32_t to = block->succs[s];
            if (to == loop->first)
                return true;
            if (to < loop->first || to >= loop->end || mr_bit_get(idle->seen, to))
                continue;
            mr_bit_set(idle->seen, to);
            idle->stack[depth++] = to;
        }
    }
    return false;
}

int mr_flow_idles(const struct mr_flow *flow, const struct mr_flow_loop *loop)
{
    size_t words = mr_bit_words(flow->reg_count), block_words = mr_bit_words(flow->block_count);
    struct idle idle = {.flow = flow, .loop = loop};
    mr_word *sets = mr_calloc(7 * words + block_words + mr_bit_words(flow->func->inst_count), sizeof *sets);
    idle.stack = mr_calloc(flow->block_count, sizeof *idle.stack);
    int found = -1;
    if (sets && idle.stack) {
        idle.written = sets;
        idle.relevant = sets + words;
        idle.carried = sets + 2 * words;
        idle.kept = sets + 3 * words;
        idle.zeros = sets + 4 * words;
        idle.loaded = sets + 5 * words;
        idle.moving = sets + 6 * words;
        idle.seen = sets + 7 * words;
        idle.own = idle.seen + block_words;
        for (uint32_t b = loop->first; b < loop->end; b++) {
            idle.barriers |= flow->blocks[b].barrier;
            for (uint32_t i = flow->blocks[b].first; i < flow->blocks[b].end; i++)
                mr_flow_registers(flow, inst_at(&idle, i), written_visit, &idle);
        }
        mr_flow_relevant(flow, loop, idle.relevant);
        for (size_t w = 0; w < words; w++)
            idle.kept[w] = idle.carried[w] = idle.written[w] & idle.relevant[w] & flow->blocks[loop->first].live_in[w];
        find_kept(&idle);
        bool polls;
        if (mr_flow_moving(flow, loop, idle.moving, idle.own, &polls))
            found = (polls && !idle.barriers) || has_idle_round(&idle);
    }
    mr_free(sets);
    mr_free(idle.stack);
    return found;
}
