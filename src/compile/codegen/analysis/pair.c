/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Two warps as one of 64 lanes. A kernel that calculates long chains in few
 * registers leaves most of the processor idle: the next result waits for the
 * last. Twice the lanes are twice the independent work at hand. It is done only
 * where nobody can tell: nothing in the kernel may ask for its warp or lane, talk
 * to other lanes, wait, or order its memory accesses among lanes.
 *
 * Kernels whose warps take turns at barriers (regions.c) may use shared memory too: what the two warps do to each
 * other's data between two barriers is a race in any case. Those whose warps are two rows of 16 threads gain by it:
 * what is read in one row after the other, of a tile in shared memory, is read once for four rows.
 */
#include "compile/codegen/analysis/flow.h"

#include "base/alloc.h"
#include "compile/codegen.h"

/* Vectors of 64 x 32 bits that fit the 32 registers of a processor with wide vectors, with room for temporaries. */
#define LIVE_BYTES_MAX (6u * 4u)

/* Arithmetic for each memory access from which it is worth it. */
#define INTENSITY_MIN 12u

static bool operand_tells(const struct mr_ptx_operand *operand)
{
    if (operand->var && mr_flow_is_per_lane(operand->var))
        return true;
    if (operand->kind != MR_PTX_OPERAND_SPECIAL)
        return false;
    switch (operand->special) {
    case MR_PTX_SPECIAL_TID:
    case MR_PTX_SPECIAL_NTID:
    case MR_PTX_SPECIAL_CTAID:
    case MR_PTX_SPECIAL_NCTAID:
        return false;
    default:
        return true;
    }
}

/* Accesses for each arithmetic instruction up to which it is worth it for tiles. */
#define TILE_ACCESSES_MAX 3u

/* Whether lanes may be told apart by, or act on each other through, the instruction. `turns`: warps take turns at
 * barriers. */
static bool inst_tells(const struct mr_flow *flow, const struct mr_ptx_inst *inst, bool turns)
{
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (operand_tells(&inst->operands[i]))
            return true;
    switch (inst->op) {
    case MR_PTX_OP_SHR:
    case MR_PTX_OP_AND:
    case MR_PTX_OP_OR:
    case MR_PTX_OP_XOR:
    case MR_PTX_OP_BFE:
    case MR_PTX_OP_SETP: /* the number of the warp, or of the lane in it; what is told by it */
        return (mr_flow_operand_class(flow, &inst->operands[1]).aligned ||
                mr_flow_operand_class(flow, &inst->operands[2]).aligned) &&
               mr_flow_result_class(flow, inst).kind != MR_CLASS_VARYING;
    case MR_PTX_OP_LD:
    case MR_PTX_OP_ST:
        return (inst->semantics != MR_PTX_SEM_NONE && inst->semantics != MR_PTX_SEM_WEAK) ||
               (inst->space == MR_PTX_SPACE_SHARED && !turns) || inst->space == MR_PTX_SPACE_LOCAL ||
               inst->type[0] == MR_PTX_TYPE_B128;
    case MR_PTX_OP_CALL:
    case MR_PTX_OP_ATOM:
    case MR_PTX_OP_RED:
    case MR_PTX_OP_SHFL:
    case MR_PTX_OP_VOTE:
    case MR_PTX_OP_MATCH:
    case MR_PTX_OP_ACTIVEMASK:
    case MR_PTX_OP_REDUX:
    case MR_PTX_OP_ELECT:
    case MR_PTX_OP_MEMBAR:
    case MR_PTX_OP_FENCE:
    case MR_PTX_OP_NANOSLEEP:
    case MR_PTX_OP_ISSPACEP:
    case MR_PTX_OP_TRAP:
    case MR_PTX_OP_BRKPT:
    case MR_PTX_OP_BRX:
    case MR_PTX_OP_LDU:
    case MR_PTX_OP_TEX:
    case MR_PTX_OP_TLD4:
    case MR_PTX_OP_TXQ:
    case MR_PTX_OP_SULD:
    case MR_PTX_OP_SUST:
    case MR_PTX_OP_SURED:
    case MR_PTX_OP_SUQ:
    case MR_PTX_OP_ISTYPEP:
    case MR_PTX_OP_ALLOCA:
    case MR_PTX_OP_STACKSAVE:
    case MR_PTX_OP_STACKRESTORE:
        return true;
    case MR_PTX_OP_BAR:
    case MR_PTX_OP_BARRIER:
        return !turns || inst->mode != MR_PTX_MODE_SYNC;
    default:
        return inst->form != 0;
    }
}

struct pressure {
    const struct mr_flow *flow;
    mr_word *live;
    bool definitions;
};

static void pressure_visit(void *data, uint32_t reg, bool is_definition)
{
    struct pressure *pressure = data;
    if (is_definition != pressure->definitions)
        return;
    if (is_definition)
        mr_bit_clear(pressure->live, reg);
    else
        mr_bit_set(pressure->live, reg);
}

/* Bytes of one lane's vector registers that are live; predicates live elsewhere. */
static unsigned live_bytes(const struct mr_flow *flow, const mr_word *live)
{
    unsigned bytes = 0;
    for (uint32_t r = 0; r + 1 < flow->reg_count; r++)
        if (mr_bit_get(live, r) && mr_flow_register_class(flow, r).kind == MR_CLASS_VARYING)
            bytes += mr_ptx_type_bits((enum mr_ptx_type)flow->func->regs[r].type) / 8;
    return bytes;
}

static bool pressure_is_low(const struct mr_flow *flow)
{
    struct pressure pressure = {.flow = flow, .live = mr_calloc(mr_bit_words(flow->reg_count), sizeof(mr_word))};
    bool low = pressure.live != NULL;
    for (uint32_t b = 0; b < flow->block_count && low; b++) {
        const struct mr_flow_block *block = &flow->blocks[b];
        for (size_t w = 0; w < mr_bit_words(flow->reg_count); w++) {
            pressure.live[w] = 0;
            for (uint32_t s = 0; s < block->succ_count; s++)
                pressure.live[w] |= flow->blocks[block->succs[s]].live_in[w];
        }
        for (uint32_t i = block->end; i-- > block->first && low;) {
            pressure.definitions = true;
            mr_flow_registers(flow, &flow->func->insts[i], pressure_visit, &pressure);
            pressure.definitions = false;
            mr_flow_registers(flow, &flow->func->insts[i], pressure_visit, &pressure);
            low = live_bytes(flow, pressure.live) <= LIVE_BYTES_MAX;
        }
    }
    mr_free(pressure.live);
    return low;
}

bool mr_flow_pairs_fit(const struct mr_flow *flow, bool turns)
{
    if (!(flow->shape & MR_SHAPE_PAIRED) || !(flow->shape & (MR_SHAPE_LINEAR | MR_SHAPE_ROWS_16)) || flow->dispatched ||
        !flow->func->is_entry)
        return false;
    for (uint32_t l = 0; l < flow->loop_count; l++)
        if (flow->loops[l].waits)
            return false;
    for (uint32_t b = 0; b < flow->block_count; b++)
        if (flow->blocks[b].barrier && mr_flow_barrier_shared(flow, b))
            return false; /* the two warps might be at different ones */
    for (uint32_t i = 0; i < flow->func->inst_count; i++)
        if (inst_tells(flow, &flow->func->insts[i], turns))
            return false;
    return true;
}

bool mr_flow_pairs_pay(const struct mr_flow *flow)
{
    unsigned arithmetic = 0, accesses = 1, shared = 0;
    if (flow->func->inst_count > 4000)
        return false;
    for (uint32_t i = 0; i < flow->func->inst_count; i++) {
        const struct mr_ptx_inst *inst = &flow->func->insts[i];
        bool is_access = inst->op == MR_PTX_OP_LD || inst->op == MR_PTX_OP_ST;
        accesses += is_access && inst->space != MR_PTX_SPACE_PARAM;
        shared += is_access && inst->space == MR_PTX_SPACE_SHARED;
        arithmetic += !is_access && inst->op != MR_PTX_OP_MOV && inst->type_count &&
                      mr_ptx_type_class((enum mr_ptx_type)inst->type[0]) == 'F';
    }
    bool tiles = flow->rows > 1 && 2 * shared > accesses && TILE_ACCESSES_MAX * arithmetic >= accesses;
    return (tiles || arithmetic >= INTENSITY_MIN * accesses) && pressure_is_low(flow);
}
