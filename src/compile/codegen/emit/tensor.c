/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Copies of parts of tensors: operands go into a record of rows of 32 lanes, the runtime (src/kernel/tensor.c) does the
 * rest. There is one such record in a function's frame. Like all copies they are done at once.
 */
#include "compile/codegen/emit/emit.h"
#include "compile/codegen/operands/touch.h"

#include <stddef.h>

static LLVMValueRef record(struct cg *g)
{
    if (!g->memory.tensors) {
        g->memory.tensors = cg_slot(g, LLVMArrayType2(g->unit->i8, sizeof(struct mr_tensor_lanes)), "tensor");
        LLVMSetAlignment(g->memory.tensors, 64);
        g->memory.bytes += sizeof(struct mr_tensor_lanes);
    }
    return g->memory.tensors;
}

static void put(struct cg *g, size_t offset, LLVMValueRef value)
{
    LLVMValueRef place = LLVMConstInt(g->unit->i64, offset, false);
    LLVMBuildStore(g->b, value, LLVMBuildGEP2(g->b, g->unit->i8, record(g), &place, 1, ""));
}

static void put_address(struct cg *g, size_t offset, const struct mr_ptx_operand *operand, unsigned space,
                        unsigned align)
{
    struct cg_address address;
    cg_address(g, operand, space, &address);
    cg_check_alignment(g, operand, &address, align);
    put(g, offset, cg_address_vector(g, &address));
}

static void put_numbers(struct cg *g, size_t offset, const struct mr_ptx_operand *operand, unsigned bits)
{
    for (unsigned i = 0; i < operand->count; i++) {
        LLVMValueRef value = cg_source(g, &operand->elements[i], cg_int_type(g, bits));
        put(g, offset + i * sizeof(uint32_t[CG_LANES]), cg_resize(g, value, g->unit->i32, false));
    }
}

/* Operands stand in the order shared memory, map, coordinates, barrier for loads, and map, coordinates, shared memory
 * for the others. */
void cg_emit_tensor(struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *operands = inst->operands;
    bool loads = inst->space != MR_PTX_SPACE_GLOBAL, wide = inst->mode == MR_PTX_MODE_TENSOR_WIDE;
    bool columns = wide || inst->mode == MR_PTX_MODE_TENSOR_COLUMNS;
    unsigned own = inst->operand_count - ((inst->flags & MR_PTX_FLAG_CACHE_HINT) != 0), next = 4;
    unsigned mode = wide                                    ? MR_TENSOR_WIDE
                    : columns                               ? MR_TENSOR_COLUMNS
                    : inst->mode == MR_PTX_MODE_TENSOR_ROWS ? MR_TENSOR_ROWS
                                                            : MR_TENSOR_TILE;
    unsigned rank = inst->geom >= MR_PTX_GEOM_4D ? inst->geom - MR_PTX_GEOM_4D + 4u : inst->geom - MR_PTX_GEOM_1D + 1u;
    g->unit->flags |= MR_CODE_ALIGNED; /* swizzles go by the address */
    const struct mr_ptx_operand *map = &operands[loads ? 1 : 0], *shared = &operands[loads ? 0 : 2];
    put_address(g, offsetof(struct mr_tensor_lanes, map), map, MR_PTX_SPACE_GENERIC, 64);
    put_address(g, offsetof(struct mr_tensor_lanes, shared), shared, MR_PTX_SPACE_SHARED, 128);
    put_numbers(g, offsetof(struct mr_tensor_lanes, at), map + 1, 32);
    if (loads)
        put_address(g, offsetof(struct mr_tensor_lanes, barrier), &operands[3], MR_PTX_SPACE_SHARED, 8);
    if (loads && columns)
        put_numbers(g, offsetof(struct mr_tensor_lanes, offset), &operands[next++], 16);
    LLVMValueRef mask = g->now.exec;
    if (loads && next < own)
        mask = LLVMBuildAnd(g->b, cg_mask_bits(g, cg_multicast(g, &operands[next])), mask, "");
    uint32_t stores = MR_SITE_WRITE | (cg_reduction(inst) == MR_REDUCE_NONE ? 0u : MR_SITE_READ | MR_SITE_ATOMIC);
    cg_touch_service(g, cg_touch_flags(g, NULL, MR_PTX_SPACE_GLOBAL, loads ? MR_SITE_READ : stores));
    uint32_t code = MR_TENSOR_PUT(OP, loads ? MR_TENSOR_LOAD : MR_TENSOR_STORE) | MR_TENSOR_PUT(MODE, mode) |
                    MR_TENSOR_PUT(RANK, rank) | MR_TENSOR_PUT(REDUCE, cg_reduction(inst));
    LLVMValueRef args[4] = {mask, LLVMConstInt(g->unit->i32, code, false),
                            LLVMConstInt(g->unit->i32, inst->line, false), record(g)};
    cg_runtime_call(g, offsetof(struct mr_runtime, copy_tensor), g->unit->void_type, args, 4);
}
