/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Functions that wait and may come back to themselves, as part of the kernel.
 *
 * A body in each call's place would never end. So functions that call each other in a ring become routines: each body
 * stands in the kernel once for a call from outside the ring, calls within the ring are jumps to it, and its end is a
 * jump to where it was called, by number. What belongs to one call is in a frame on the lane's stack (stack.c), which
 * the routine takes when it begins: its parameters, results and local variables, and what it has to get back when a
 * call in it is over, for that call may have changed it: the registers that are live behind the call. So all lanes are
 * in one function, however deep each of them is, and those that wait for each other can. Parameters and results pass
 * through variables of the kernel.
 *
 *     frame: where to return to | the caller's frame | the stack pointer before | variables | registers, as calls need
 * them
 */
#include "compile/codegen/rewrite/splice.h"

#include <string.h>

#include "base/alloc.h"

enum { FRAME_RETURN = 0, FRAME_CALLER = 8, FRAME_STACK = 16, FRAME_HEAD = 24 };
#define FRAME_ALIGN 16u

/* The routines of a ring, for one call from outside. */
struct ring {
    uint32_t number;
    uint32_t frame;  /* register: the frame of the routine that runs */
    uint32_t back;   /* register: where the routine that is jumped to is to return to */
    struct cg_routine *first, **last;
};

struct cg_routine {
    const struct mr_ptx_function *func;
    struct ring *ring;
    struct cg_routine *next;
    uint32_t start;                /* label */
    uint32_t table;                /* of the places where it is called */
    uint32_t *places, place_count, place_room; /* labels */
    struct mr_ptx_var **mail;      /* by parameter, then result: what they pass through */
    struct mr_ptx_var **temporary; /* by variable: what stands for it in calls that don't call the ring's routines */
    uint64_t *offsets;             /* by variable: in the frame */
    uint64_t *saved;               /* by register: in the frame, 0 if not yet */
    uint64_t bytes, align;         /* of the frame */
    struct mr_ptx_operand *taken;  /* where these two stand */
    const struct mr_flow *flow;    /* while its body is copied */
};

bool cg_find_rings(struct cg_work *work, const struct mr_ptx_module *module, bool *const *reach)
{
    uint32_t rings = 0;
    work->rings = cg_take(work, module->function_count * sizeof *work->rings);
    if (!work->rings)
        return false;
    for (uint32_t f = 0; f < module->function_count; f++) {
        if (!reach[f] || work->rings[f])
            continue;
        rings++;
        for (uint32_t other = f; other < module->function_count; other++)
            if (reach[other] && reach[f][other] && reach[other][f])
                work->rings[other] = rings;
    }
    return true;
}

bool cg_is_in_ring(const struct cg_work *work, const struct cg_splice *inside, const struct mr_ptx_function *callee)
{
    return inside && inside->routine && inside->routine->ring->number == work->rings[callee->index];
}

static uint32_t var_count(const struct mr_ptx_function *func)
{
    return func->var_count + func->param_count + func->return_count;
}

static struct mr_ptx_var *var_at(const struct mr_ptx_function *func, uint32_t place)
{
    if (place < func->var_count)
        return func->vars[place];
    place -= func->var_count;
    return place < func->param_count ? func->params[place] : func->returns[place - func->param_count];
}

/* Takes bytes of a frame. */
static uint64_t take_place(struct cg_routine *routine, uint64_t bytes, uint64_t align)
{
    uint64_t offset = (routine->bytes + align - 1) / align * align;
    routine->bytes = offset + bytes;
    if (align > routine->align)
        routine->align = align;
    return offset;
}

/* The routine of a function, which is new if it has none yet. NULL when memory is short. */
static struct cg_routine *routine_of(struct cg_work *work, struct ring *ring, const struct mr_ptx_function *func,
                                     const struct mr_ptx_inst *like)
{
    for (struct cg_routine *routine = ring->first; routine; routine = routine->next)
        if (routine->func == func)
            return routine;
    struct cg_routine *routine = cg_take(work, sizeof *routine);
    if (!routine || !CG_GROW(work, table, 1))
        return NULL;
    uint32_t count = var_count(func), passed = func->param_count + func->return_count;
    *routine = (struct cg_routine){.func = func,
                                   .ring = ring,
                                   .start = cg_add_label(work, like),
                                   .table = work->body.table_count,
                                   .bytes = FRAME_HEAD,
                                   .align = FRAME_ALIGN,
                                   .mail = cg_take(work, passed * sizeof *routine->mail),
                                   .temporary = cg_take(work, count * sizeof *routine->temporary),
                                   .offsets = cg_take(work, count * sizeof *routine->offsets),
                                   .saved = cg_take(work, func->reg_count * sizeof *routine->saved)};
    work->body.tables[work->body.table_count++] = (struct mr_ptx_table){.name = "", .line = like->line};
    for (uint32_t i = 0; i < passed && !work->no_memory; i++)
        routine->mail[i] = cg_new_var(work, var_at(func, func->var_count + i));
    for (uint32_t i = 0; i < count && !work->no_memory; i++) {
        const struct mr_ptx_var *var = var_at(func, i);
        if (mr_flow_is_per_lane(var))
            routine->offsets[i] = take_place(routine, var->size, var->align);
    }
    *ring->last = routine;
    ring->last = &routine->next;
    return work->no_memory ? NULL : routine;
}

static struct mr_ptx_operand frame_address(const struct cg_routine *routine, uint64_t offset,
                                           const struct mr_ptx_inst *like)
{
    return (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_REG_ADDRESS,
                                   .reg = routine->ring->frame,
                                   .reg2 = MR_PTX_NONE,
                                   .value = (int64_t)offset,
                                   .type = MR_PTX_TYPE_U64,
                                   .line = like->line,
                                   .column = like->column};
}

/* Copies a variable's bytes; both places are aligned as it is. */
static bool add_copy(struct cg_work *work, const struct mr_ptx_inst *like, struct mr_ptx_operand to,
                     struct mr_ptx_operand from, const struct mr_ptx_var *var)
{
    for (uint64_t done = 0; done < var->size;) {
        uint64_t step = var->align < 8 ? var->align : 8;
        while (step > var->size - done)
            step /= 2;
        enum mr_ptx_type type = cg_type_of_bytes(step);
        uint32_t through = cg_add_reg(work, step < 4 ? MR_PTX_TYPE_B32 : type, like->line);
        if (through == MR_PTX_NONE || !cg_add_load(work, like, type, through, from) ||
            !cg_add_store(work, like, type, to, through))
            return false;
        to.value += (int64_t)step;
        from.value += (int64_t)step;
        done += step;
    }
    return true;
}

/* One of the registers that a call in a routine may change: into the frame or back. */
static bool keep_register(struct cg_work *work, const struct cg_splice *splice, uint32_t reg,
                          const struct mr_ptx_inst *like, bool back)
{
    struct cg_routine *routine = splice->routine;
    enum mr_ptx_type type = (enum mr_ptx_type)routine->func->regs[reg].type;
    uint64_t bytes = cg_passed_bytes(type);
    if (!routine->saved[reg])
        routine->saved[reg] = take_place(routine, bytes, bytes);
    struct mr_ptx_operand place = frame_address(routine, routine->saved[reg], like);
    return back ? cg_add_get(work, like, type, splice->regs + reg, place)
                : cg_add_put(work, like, type, place, splice->regs + reg);
}

static bool keep_registers(struct cg_work *work, const struct cg_splice *splice, const mr_word *live,
                           const struct mr_ptx_inst *like, bool back)
{
    for (uint32_t reg = 0; reg < splice->callee->reg_count; reg++)
        if (mr_bit_get(live, reg) && !keep_register(work, splice, reg, like, back))
            return false;
    return true;
}

/* A number in front of which the routine comes back, for its table. */
static bool add_place(struct cg_work *work, struct cg_routine *routine, uint32_t label)
{
    if (!cg_room(work, &routine->places, routine->place_count, &routine->place_room, 1, sizeof *routine->places))
        return false;
    routine->places[routine->place_count++] = label;
    return true;
}

/* The frame of a call, with its parameters in it. */
static bool begin_routine(struct cg_work *work, struct cg_routine *routine, const struct mr_ptx_inst *like)
{
    uint32_t stack = cg_add_reg(work, MR_PTX_TYPE_U64, like->line),
             frame = cg_add_reg(work, MR_PTX_TYPE_U64, like->line);
    routine->taken = cg_take(work, 3 * sizeof *routine->taken);
    if (stack == MR_PTX_NONE || frame == MR_PTX_NONE || !routine->taken)
        return false;
    struct mr_ptx_operand save = cg_reg_operand(work, stack, like);
    struct mr_ptx_inst take = {.op = MR_PTX_OP_ALLOCA,
                               .dst_count = 1,
                               .operand_count = 3,
                               .operands = routine->taken,
                               .type = {MR_PTX_TYPE_U64},
                               .type_count = 1,
                               .guard = MR_PTX_NONE,
                               .vector = 1,
                               .line = like->line,
                               .column = like->column,
                               .loc_file = like->loc_file,
                               .loc_line = like->loc_line};
    routine->taken[0] = cg_reg_operand(work, frame, like);
    routine->taken[1] = routine->taken[2] = cg_number(0, like);
    cg_set_label(work, routine->start);
    if (!cg_add_new(work, like, (struct mr_ptx_inst){.op = MR_PTX_OP_STACKSAVE, .dst_count = 1, .operand_count = 1},
                    &save) ||
        !cg_add_inst(work, &take))
        return false;
    struct mr_ptx_operand place = frame_address(routine, 0, like);
    const uint64_t offsets[3] = {FRAME_RETURN, FRAME_CALLER, FRAME_STACK};
    const uint32_t regs[3] = {routine->ring->back, routine->ring->frame, stack};
    place.reg = frame;
    for (unsigned i = 0; i < 3; i++) {
        place.value = (int64_t)offsets[i];
        if (!cg_add_store(work, like, i ? MR_PTX_TYPE_B64 : MR_PTX_TYPE_B32, place, regs[i]))
            return false;
    }
    if (!cg_add_move(work, like, MR_PTX_TYPE_U64, routine->ring->frame, cg_reg_operand(work, frame, like)))
        return false;
    const struct mr_ptx_function *func = routine->func;
    for (uint32_t i = 0; i < func->param_count; i++)
        if (func->params[i]->reg == MR_PTX_NONE &&
            !add_copy(work, like, frame_address(routine, routine->offsets[func->var_count + i], like),
                      cg_var_address(routine->mail[i], like), func->params[i]))
            return false;
    return true;
}

/* Results to where the caller looks, the frame given back, and the jump. */
static bool end_routine(struct cg_work *work, struct cg_routine *routine, const struct mr_ptx_inst *like)
{
    const struct mr_ptx_function *func = routine->func;
    for (uint32_t i = 0; i < func->return_count; i++)
        if (func->returns[i]->reg == MR_PTX_NONE &&
            !add_copy(work, like, cg_var_address(routine->mail[func->param_count + i], like),
                      frame_address(routine, routine->offsets[func->var_count + func->param_count + i], like),
                      func->returns[i]))
            return false;
    uint32_t back = cg_add_reg(work, MR_PTX_TYPE_U32, like->line),
             stack = cg_add_reg(work, MR_PTX_TYPE_U64, like->line);
    uint32_t caller = cg_add_reg(work, MR_PTX_TYPE_U64, like->line);
    struct mr_ptx_operand *where = cg_take(work, 2 * sizeof *where);
    if (back == MR_PTX_NONE || stack == MR_PTX_NONE || caller == MR_PTX_NONE || !where)
        return false;
    struct mr_ptx_operand restore = cg_reg_operand(work, stack, like);
    where[0] = cg_reg_operand(work, back, like);
    where[1] = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_TABLE,
                                       .label = routine->table,
                                       .reg = MR_PTX_NONE,
                                       .reg2 = MR_PTX_NONE,
                                       .line = like->line,
                                       .column = like->column};
    struct mr_ptx_inst jump = {.op = MR_PTX_OP_BRX,
                               .operand_count = 2,
                               .operands = where,
                               .guard = MR_PTX_NONE,
                               .vector = 1,
                               .line = like->line,
                               .column = like->column,
                               .loc_file = like->loc_file,
                               .loc_line = like->loc_line};
    return cg_add_load(work, like, MR_PTX_TYPE_B32, back, frame_address(routine, FRAME_RETURN, like)) &&
           cg_add_load(work, like, MR_PTX_TYPE_B64, stack, frame_address(routine, FRAME_STACK, like)) &&
           cg_add_load(work, like, MR_PTX_TYPE_B64, caller, frame_address(routine, FRAME_CALLER, like)) &&
           cg_add_new(work, like, (struct mr_ptx_inst){.op = MR_PTX_OP_STACKRESTORE, .operand_count = 1}, &restore) &&
           cg_add_move(work, like, MR_PTX_TYPE_U64, routine->ring->frame, cg_reg_operand(work, caller, like)) &&
           cg_add_inst(work, &jump);
}

static bool put_routine_body(struct cg_work *work, const struct cg_splice *outside, struct cg_routine *routine,
                             const struct mr_ptx_inst *like)
{
    struct cg_splice splice = {
        .callee = routine->func, .routine = routine, .outer = outside, .depth = outside ? outside->depth + 1 : 1};
    struct mr_flow flow = {.func = routine->func, .facts = work->facts, .reg_count = routine->func->reg_count + 1};
    routine->flow = &flow;
    bool good = mr_flow_order(&flow) && mr_flow_liveness(&flow) && begin_routine(work, routine, like) &&
                cg_splice_begin(work, &splice, like) && cg_enter_body(work, &splice, routine->mail, like) &&
                cg_copy_body(work, &splice, routine->func, splice.labels);
    mr_flow_clear(&flow);
    routine->flow = NULL;
    if (!good)
        return false;
    cg_set_label(work, splice.end);
    return cg_leave_body(work, &splice, routine->mail, like) && end_routine(work, routine, like);
}

/* All routines of a ring, those too that come up on the way. */
static bool put_ring(struct cg_work *work, const struct cg_splice *outside, const struct ring *ring,
                     const struct mr_ptx_inst *like)
{
    for (struct cg_routine *routine = ring->first; routine; routine = routine->next)
        if (!put_routine_body(work, outside, routine, like))
            return false;
    for (struct cg_routine *routine = ring->first; routine; routine = routine->next) {
        work->body.tables[routine->table].labels = routine->places;
        work->body.tables[routine->table].count = routine->place_count;
        routine->taken[1].value = (int64_t)((routine->bytes + routine->align - 1) / routine->align * routine->align);
        routine->taken[2].value = (int64_t)routine->align;
    }
    return true;
}

/* A call of a routine. `within`: the splice of the routine of the same ring that it stands in; else NULL, and all of
 * the ring is put behind the jump. */
static bool put_call(struct cg_work *work, struct ring *ring, const struct cg_splice *inside,
                     const struct cg_splice *within, const struct mr_ptx_inst *inst,
                     const struct mr_ptx_function *callee)
{
    struct cg_routine *routine = routine_of(work, ring, callee, inst);
    uint32_t place = cg_add_label(work, inst);
    mr_word *live = within ? cg_take(work, mr_bit_words(within->callee->reg_count + 1) * sizeof *live) : NULL;
    if (!routine || place == MR_PTX_NONE || (within && !live))
        return false;
    if (within)
        mr_flow_live_after(within->routine->flow, within->at, live);
    const struct mr_ptx_call *call = inst->call;
    for (uint32_t i = 0; i < call->arg_count; i++)
        if (!add_copy(work, inst, cg_var_address(routine->mail[i], inst), cg_var_address(call->args[i].var, inst),
                      routine->mail[i]))
            return false;
    if ((within && !keep_registers(work, within, live, inst, false)) ||
        !cg_add_move(work, inst, MR_PTX_TYPE_U32, ring->back, cg_number(routine->place_count, inst)) ||
        !add_place(work, routine, place) || !cg_add_jump(work, routine->start, inst, MR_PTX_NONE, false) ||
        (!within && !put_ring(work, inside, ring, inst)))
        return false;
    cg_set_label(work, place);
    if (within && !keep_registers(work, within, live, inst, true))
        return false;
    for (uint32_t i = 0; i < call->return_count; i++)
        if (call->returns[i].kind == MR_PTX_OPERAND_SYMBOL &&
            !add_copy(work, inst, cg_var_address(call->returns[i].var, inst),
                      cg_var_address(routine->mail[callee->param_count + i], inst),
                      routine->mail[callee->param_count + i]))
            return false;
    work->in->any = true;
    return true;
}

bool cg_put_routine(struct cg_work *work, const struct cg_splice *inside, const struct mr_ptx_inst *inst,
                    const struct mr_ptx_function *callee)
{
    if (cg_is_in_ring(work, inside, callee))
        return put_call(work, inside->routine->ring, inside, inside, inst, callee);
    struct ring *ring = cg_take(work, sizeof *ring);
    if (!ring)
        return false;
    *ring = (struct ring){.number = work->rings[callee->index],
                          .frame = cg_add_reg(work, MR_PTX_TYPE_U64, inst->line),
                          .back = cg_add_reg(work, MR_PTX_TYPE_U32, inst->line)};
    ring->last = &ring->first;
    if (ring->frame == MR_PTX_NONE || ring->back == MR_PTX_NONE)
        return false;
    return cg_add_move(work, inst, MR_PTX_TYPE_U64, ring->frame, cg_number(0, inst)) &&
           put_call(work, ring, inside, NULL, inst, callee);
}

/* An address that is wanted in 32 bits. */
static bool cut_address(struct cg_work *work, const struct mr_ptx_inst *like, struct mr_ptx_operand *operand)
{
    uint32_t narrow = cg_add_reg(work, MR_PTX_TYPE_U32, like->line);
    if (narrow == MR_PTX_NONE)
        return false;
    struct mr_ptx_operand cut[2] = {cg_reg_operand(work, narrow, like), *operand};
    *operand = cut[0];
    return cg_add_new(work, like,
                      (struct mr_ptx_inst){.op = MR_PTX_OP_CVT,
                                           .dst_count = 1,
                                           .operand_count = 2,
                                           .type = {MR_PTX_TYPE_U32, MR_PTX_TYPE_U64},
                                           .type_count = 2},
                      cut);
}

bool cg_routine_operands(struct cg_work *work, const struct cg_splice *splice, struct mr_ptx_inst *to,
                         struct mr_ptx_operand *operands)
{
    const struct cg_routine *routine = splice->routine;
    for (uint32_t i = 0; i < to->operand_count; i++) {
        struct mr_ptx_operand *operand = &operands[i];
        if (!cg_owned(operand->var, splice->callee))
            continue;
        uint64_t offset = routine->offsets[cg_var_place(operand->var)];
        if (to->space == MR_PTX_SPACE_PARAM)
            to->space = MR_PTX_SPACE_LOCAL;
        if (operand->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS) {
            *operand = frame_address(routine, offset + (uint64_t)operand->value, to);
            continue;
        }
        uint32_t address = cg_add_reg(work, MR_PTX_TYPE_U64, to->line);
        if (address == MR_PTX_NONE)
            return false;
        struct mr_ptx_operand sum[3] = {cg_reg_operand(work, address, to),
                                        cg_reg_operand(work, routine->ring->frame, to),
                                        cg_number((int64_t)offset + operand->value, to)};
        if (!cg_add_new(work, to, (struct mr_ptx_inst){.op = MR_PTX_OP_ADD, .dst_count = 1, .operand_count = 3}, sum))
            return false;
        *operand = sum[0];
        if (mr_ptx_type_bits((enum mr_ptx_type)to->type[0]) == 32 && !cut_address(work, to, operand))
            return false;
    }
    return true;
}

bool cg_routine_call(struct cg_work *work, const struct cg_splice *splice, const struct mr_ptx_inst *like,
                     struct mr_ptx_operand *passed, uint32_t count)
{
    struct cg_routine *routine = splice->routine;
    for (uint32_t i = 0; i < count; i++) {
        const struct mr_ptx_var *var = passed[i].var;
        if (passed[i].kind != MR_PTX_OPERAND_SYMBOL || !cg_owned(var, splice->callee))
            continue;
        uint32_t place = cg_var_place(var);
        if (!routine->temporary[place])
            routine->temporary[place] = cg_new_var(work, var);
        passed[i].var = routine->temporary[place];
        if (!passed[i].var || !add_copy(work, like, cg_var_address(passed[i].var, like),
                                        frame_address(routine, routine->offsets[place], like), var))
            return false;
    }
    return true;
}

bool cg_routine_call_end(struct cg_work *work, const struct cg_splice *splice, const struct mr_ptx_inst *from)
{
    const struct cg_routine *routine = splice->routine;
    for (uint32_t i = 0; i < from->call->return_count; i++) {
        const struct mr_ptx_operand *result = &from->call->returns[i];
        if (result->kind != MR_PTX_OPERAND_SYMBOL || !cg_owned(result->var, splice->callee))
            continue;
        uint32_t place = cg_var_place(result->var);
        if (!add_copy(work, from, frame_address(routine, routine->offsets[place], from),
                      cg_var_address(routine->temporary[place], from), result->var))
            return false;
    }
    return true;
}
