/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/codegen/emit/matrix_kept.h"

#include "base/alloc.h"

#define FACTORS 16u /* places of the frame at most */
#define SUMS 32u

struct kept {
    bool holds;
    uint32_t regs[CG_MATRIX_REGS];
    unsigned count;
    LLVMValueRef writer;      /* of a factor */
    struct cg_sums_kind kind; /* of sums */
    LLVMValueRef value;       /* a factor's place; the structure of the sums' vectors */
    unsigned bytes;           /* of a place */
    uint64_t used;            /* when it was of use: the product's number */
};

struct cg_kept {
    uint32_t block, next; /* what is kept holds in front of that instruction of that block */
    uint64_t product;     /* counts them */
    struct kept factors[FACTORS], sums[SUMS];
    unsigned factor_count, sum_next;
};

static void forget_all(struct cg_kept *kept)
{
    for (unsigned i = 0; i < FACTORS; i++)
        kept->factors[i].holds = false;
    for (unsigned i = 0; i < SUMS; i++)
        kept->sums[i].holds = false;
}

static void forget(struct kept *list, unsigned count, uint32_t reg)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned r = 0; r < list[i].count && list[i].holds; r++)
            list[i].holds = list[i].regs[r] != reg;
}

static void forget_written(void *data, uint32_t reg, bool is_definition)
{
    struct cg_kept *kept = data;
    if (!is_definition)
        return;
    forget(kept->factors, FACTORS, reg);
    forget(kept->sums, SUMS, reg);
}

void cg_kept_begin(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (!g->memory.kept && !(g->memory.kept = mr_calloc(1, sizeof *g->memory.kept))) {
        cg_fail(g->unit, inst, "memory is short");
        return;
    }
    struct cg_kept *kept = g->memory.kept;
    uint32_t here = (uint32_t)(inst - g->func->insts);
    if (kept->block != g->now.at || kept->next > here)
        forget_all(kept);
    else
        for (uint32_t i = kept->next; i < here; i++)
            mr_flow_registers(&g->flow, &g->func->insts[i], forget_written, kept);
    kept->block = g->now.at;
    kept->next = here;
    kept->product++;
}

void cg_kept_end(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct cg_kept *kept = g->memory.kept;
    if (!kept)
        return;
    if (g->now.guard)
        forget_all(kept);
    mr_flow_registers(&g->flow, inst, forget_written, kept);
    kept->next = (uint32_t)(inst - g->func->insts) + 1;
}

/* Takes down the registers; false if they are not all registers. */
static bool note(struct kept *to, const struct mr_ptx_operand *operand, unsigned count)
{
    to->count = count;
    for (unsigned i = 0; i < count; i++) {
        if (operand->elements[i].kind != MR_PTX_OPERAND_REG)
            return false;
        to->regs[i] = operand->elements[i].reg;
    }
    return true;
}

static bool is_of(const struct kept *one, const struct mr_ptx_operand *operand, unsigned count)
{
    bool same = one->holds && one->count == count;
    for (unsigned i = 0; i < count && same; i++)
        same = operand->elements[i].kind == MR_PTX_OPERAND_REG && one->regs[i] == operand->elements[i].reg;
    return same;
}

LLVMValueRef cg_kept_factor(struct cg *g, LLVMValueRef writer, const struct mr_ptx_operand *operand, unsigned count)
{
    struct cg_kept *kept = g->memory.kept;
    for (unsigned i = 0; kept && i < FACTORS; i++)
        if (kept->factors[i].writer == writer && is_of(&kept->factors[i], operand, count)) {
            kept->factors[i].used = kept->product;
            return kept->factors[i].value;
        }
    return NULL;
}

/* A place that holds nothing, a new one, or the one whose last use is longest ago. */
static struct kept *choose(struct cg_kept *kept, unsigned bytes)
{
    struct kept *oldest = NULL;
    for (unsigned i = 0; i < kept->factor_count; i++) {
        struct kept *one = &kept->factors[i];
        if (one->bytes != bytes || one->used == kept->product)
            continue;
        if (!one->holds)
            return one;
        if (!oldest || one->used < oldest->used)
            oldest = one;
    }
    return kept->factor_count < FACTORS ? &kept->factors[kept->factor_count++] : oldest;
}

static LLVMValueRef new_place(struct cg *g, unsigned bytes)
{
    LLVMValueRef place = cg_slot(g, LLVMArrayType2(g->unit->i8, bytes), "factor");
    LLVMSetAlignment(place, 64);
    g->memory.bytes += bytes;
    return place;
}

LLVMValueRef cg_keep_factor(struct cg *g, LLVMValueRef writer, const struct mr_ptx_operand *operand, unsigned count,
                            unsigned bytes)
{
    struct cg_kept *kept = g->memory.kept;
    struct kept *place = kept ? choose(kept, bytes) : NULL;
    if (!place) /* all are of other sizes */
        return new_place(g, bytes);
    if (!place->value)
        place->value = new_place(g, bytes);
    place->bytes = bytes;
    place->writer = writer;
    place->used = kept->product;
    place->holds = note(place, operand, count);
    return place->value;
}

static bool same_kind(struct cg_sums_kind a, struct cg_sums_kind b)
{
    return a.vector == b.vector && a.type == b.type && a.turned == b.turned;
}

LLVMValueRef cg_kept_sums(struct cg *g, struct cg_sums_kind kind, const struct mr_ptx_operand *operand, unsigned count)
{
    struct cg_kept *kept = g->memory.kept;
    for (unsigned i = 0; kept && i < SUMS; i++)
        if (same_kind(kept->sums[i].kind, kind) && is_of(&kept->sums[i], operand, count))
            return kept->sums[i].value;
    return NULL;
}

void cg_keep_sums(struct cg *g, LLVMValueRef vectors, struct cg_sums_kind kind, const struct mr_ptx_operand *operand,
                  unsigned count)
{
    struct cg_kept *kept = g->memory.kept;
    if (!kept || g->now.guard)
        return;
    /* A lane that is parked keeps what its registers had. */
    for (unsigned i = 0; i < count; i++)
        if (operand->elements[i].kind == MR_PTX_OPERAND_REG &&
            mr_bit_get(g->flow.blocks[g->now.at].parked, operand->elements[i].reg))
            return;
    struct kept *place = &kept->sums[kept->sum_next++ % SUMS];
    place->kind = kind;
    place->value = vectors;
    place->holds = note(place, operand, count);
}
