/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The pieces of which a kernel's new body is made: see splice.h.
 */
#include "compile/codegen/rewrite/splice.h"

#include <string.h>

#include "base/alloc.h"

struct piece {
    void *memory;
    struct piece *next;
};

void *cg_take(struct cg_work *work, size_t bytes)
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

bool cg_room(struct cg_work *work, void *list, uint32_t count, uint32_t *have, uint32_t more, size_t size)
{
    if (count + more <= *have)
        return true;
    uint32_t wanted = (count + more) * 2;
    void *old, *grown = cg_take(work, (size_t)wanted * size);
    if (!grown)
        return false;
    memcpy(&old, list, sizeof old);
    if (count)
        memcpy(grown, old, (size_t)count * size);
    memcpy(list, &grown, sizeof grown);
    *have = wanted;
    return true;
}

bool cg_add_inst(struct cg_work *work, const struct mr_ptx_inst *inst)
{
    if (!CG_GROW(work, inst, 1))
        return false;
    work->body.insts[work->body.inst_count++] = *inst;
    return true;
}

bool cg_add_jump(struct cg_work *work, uint32_t label, const struct mr_ptx_inst *like, uint32_t guard, bool negated)
{
    struct mr_ptx_operand *to = cg_take(work, sizeof *to);
    if (!to)
        return false;
    *to = (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_LABEL,
                                  .label = label,
                                  .reg = MR_PTX_NONE,
                                  .reg2 = MR_PTX_NONE,
                                  .line = like->line,
                                  .column = like->column};
    struct mr_ptx_inst jump = {.op = MR_PTX_OP_BRA,
                               .operand_count = 1,
                               .operands = to,
                               .guard = guard,
                               .guard_negated = negated,
                               .vector = 1,
                               .line = like->line,
                               .column = like->column,
                               .loc_file = like->loc_file,
                               .loc_line = like->loc_line};
    return cg_add_inst(work, &jump);
}

uint32_t cg_add_label(struct cg_work *work, const struct mr_ptx_inst *like)
{
    if (!CG_GROW(work, label, 1))
        return MR_PTX_NONE;
    work->body.labels[work->body.label_count] =
        (struct mr_ptx_label){.name = "", .inst = work->body.inst_count, .line = like->line, .column = like->column};
    return work->body.label_count++;
}

void cg_set_label(struct cg_work *work, uint32_t label)
{
    work->body.labels[label].inst = work->body.inst_count;
}

uint32_t cg_add_reg(struct cg_work *work, enum mr_ptx_type type, uint32_t line)
{
    if (!CG_GROW(work, reg, 1))
        return MR_PTX_NONE;
    work->body.regs[work->body.reg_count] = (struct mr_ptx_reg){.name = "", .type = (uint8_t)type, .line = line};
    return work->body.reg_count++;
}

struct mr_ptx_operand cg_reg_operand(const struct cg_work *work, uint32_t reg, const struct mr_ptx_inst *like)
{
    return (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_REG,
                                   .reg = reg,
                                   .reg2 = MR_PTX_NONE,
                                   .type = work->body.regs[reg].type,
                                   .line = like->line,
                                   .column = like->column};
}

bool cg_add_new(struct cg_work *work, const struct mr_ptx_inst *like, struct mr_ptx_inst what,
                const struct mr_ptx_operand *operands)
{
    struct mr_ptx_operand *copy = cg_take(work, what.operand_count * sizeof *copy);
    if (!copy)
        return false;
    memcpy(copy, operands, what.operand_count * sizeof *copy);
    what.operands = copy;
    if (!what.type_count) {
        what.type_count = 1;
        what.type[0] = MR_PTX_TYPE_U64;
    }
    what.guard = MR_PTX_NONE;
    what.vector = 1;
    what.line = like->line;
    what.column = like->column;
    what.loc_file = like->loc_file;
    what.loc_line = like->loc_line;
    return cg_add_inst(work, &what);
}

enum mr_ptx_type cg_type_of_bytes(uint64_t bytes)
{
    return bytes == 16  ? MR_PTX_TYPE_B128
           : bytes == 8 ? MR_PTX_TYPE_B64
           : bytes == 4 ? MR_PTX_TYPE_B32
           : bytes == 2 ? MR_PTX_TYPE_B16
                        : MR_PTX_TYPE_B8;
}

uint32_t cg_passed_bytes(enum mr_ptx_type type)
{
    return type == MR_PTX_TYPE_PRED ? 4 : mr_ptx_type_bits(type) / 8;
}

struct mr_ptx_var *cg_new_var(struct cg_work *work, const struct mr_ptx_var *like)
{
    struct mr_ptx_var *var = cg_take(work, sizeof *var);
    if (!var || !CG_GROW(work, var, 1))
        return NULL;
    *var = *like;
    var->is_input = var->is_return = false;
    if (var->reg != MR_PTX_NONE) {
        var->reg = MR_PTX_NONE;
        var->space = MR_PTX_SPACE_PARAM;
        var->size = var->element_size = var->align = cg_passed_bytes(var->type);
        var->type = cg_type_of_bytes(var->size);
    }
    var->owner = &work->in->func;
    var->index = work->body.var_count;
    work->body.vars[work->body.var_count++] = var;
    return var;
}

struct mr_ptx_operand cg_var_address(const struct mr_ptx_var *var, const struct mr_ptx_inst *like)
{
    return (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_SYMBOL_ADDRESS,
                                   .var = var,
                                   .reg = MR_PTX_NONE,
                                   .reg2 = MR_PTX_NONE,
                                   .type = (uint8_t)var->type,
                                   .line = like->line,
                                   .column = like->column};
}

struct mr_ptx_operand cg_number(int64_t value, const struct mr_ptx_inst *like)
{
    return (struct mr_ptx_operand){.kind = MR_PTX_OPERAND_IMM_INT,
                                   .value = value,
                                   .reg = MR_PTX_NONE,
                                   .reg2 = MR_PTX_NONE,
                                   .line = like->line,
                                   .column = like->column};
}

bool cg_add_move(struct cg_work *work, const struct mr_ptx_inst *like, enum mr_ptx_type type, uint32_t to,
                 struct mr_ptx_operand from)
{
    struct mr_ptx_operand operands[2] = {cg_reg_operand(work, to, like), from};
    return cg_add_new(
        work, like,
        (struct mr_ptx_inst){
            .op = MR_PTX_OP_MOV, .dst_count = 1, .operand_count = 2, .type = {(uint8_t)type}, .type_count = 1},
        operands);
}

static unsigned space_of(const struct mr_ptx_operand *address)
{
    return address->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS ? address->var->space : MR_PTX_SPACE_LOCAL;
}

bool cg_add_load(struct cg_work *work, const struct mr_ptx_inst *like, enum mr_ptx_type type, uint32_t to,
                 struct mr_ptx_operand from)
{
    struct mr_ptx_operand operands[2] = {cg_reg_operand(work, to, like), from};
    return cg_add_new(work, like,
                      (struct mr_ptx_inst){.op = MR_PTX_OP_LD,
                                           .space = (uint8_t)space_of(&from),
                                           .dst_count = 1,
                                           .operand_count = 2,
                                           .type = {(uint8_t)type},
                                           .type_count = 1},
                      operands);
}

bool cg_add_store(struct cg_work *work, const struct mr_ptx_inst *like, enum mr_ptx_type type, struct mr_ptx_operand to,
                  uint32_t from)
{
    struct mr_ptx_operand operands[2] = {to, cg_reg_operand(work, from, like)};
    return cg_add_new(work, like,
                      (struct mr_ptx_inst){.op = MR_PTX_OP_ST,
                                           .space = (uint8_t)space_of(&to),
                                           .operand_count = 2,
                                           .type = {(uint8_t)type},
                                           .type_count = 1},
                      operands);
}

bool cg_add_put(struct cg_work *work, const struct mr_ptx_inst *like, enum mr_ptx_type type, struct mr_ptx_operand to,
                uint32_t from)
{
    if (type != MR_PTX_TYPE_PRED)
        return cg_add_store(work, like, cg_type_of_bytes(cg_passed_bytes(type)), to, from);
    uint32_t word = cg_add_reg(work, MR_PTX_TYPE_U32, like->line);
    if (word == MR_PTX_NONE)
        return false;
    struct mr_ptx_operand select[4] = {cg_reg_operand(work, word, like), cg_number(1, like), cg_number(0, like),
                                       cg_reg_operand(work, from, like)};
    return cg_add_new(work, like,
                      (struct mr_ptx_inst){.op = MR_PTX_OP_SELP,
                                           .dst_count = 1,
                                           .operand_count = 4,
                                           .type = {MR_PTX_TYPE_U32},
                                           .type_count = 1},
                      select) &&
           cg_add_store(work, like, MR_PTX_TYPE_B32, to, word);
}

bool cg_add_get(struct cg_work *work, const struct mr_ptx_inst *like, enum mr_ptx_type type, uint32_t to,
                struct mr_ptx_operand from)
{
    if (type != MR_PTX_TYPE_PRED)
        return cg_add_load(work, like, cg_type_of_bytes(cg_passed_bytes(type)), to, from);
    uint32_t word = cg_add_reg(work, MR_PTX_TYPE_U32, like->line);
    if (word == MR_PTX_NONE)
        return false;
    struct mr_ptx_operand compare[3] = {cg_reg_operand(work, to, like), cg_reg_operand(work, word, like),
                                        cg_number(0, like)};
    return cg_add_load(work, like, MR_PTX_TYPE_B32, word, from) &&
           cg_add_new(work, like,
                      (struct mr_ptx_inst){.op = MR_PTX_OP_SETP,
                                           .dst_count = 1,
                                           .operand_count = 3,
                                           .type = {MR_PTX_TYPE_U32},
                                           .type_count = 1,
                                           .cmp = MR_PTX_CMP_NE},
                      compare);
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
