/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A warp's record, where warps take turns (turns.c): a piece of memory in the kernel's frame. Here is what is done
 * with any such memory: room in it, what goes there and comes back.
 */
#include "compile/codegen/basics/basics.h"
#include "compile/codegen/basics/record.h"

/* A place of that many bytes, aligned to its size (to 64 at most). */
uint64_t cg_record_take(struct cg_regions *regions, uint64_t bytes)
{
    uint64_t align = bytes >= 64 ? 64 : bytes >= 8 ? 8 : 4, place = (regions->bytes + align - 1) / align * align;
    regions->bytes = place + bytes;
    return place;
}

static uint64_t scalar_bytes(LLVMTypeRef type)
{
    return (cg_bits(type) + 31) / 32 * 4;
}

/* Bytes that a slot's content takes in a record: a vector of predicates is a mask. */
uint64_t cg_record_bytes(struct cg *g, LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind: {
        unsigned bits = cg_bits(LLVMGetElementType(type));
        return (uint64_t)g->unit->width * bits / 8;
    }
    case LLVMArrayTypeKind:
        return LLVMGetArrayLength2(type) * scalar_bytes(LLVMGetElementType(type));
    default:
        return scalar_bytes(type);
    }
}

LLVMValueRef cg_record_place(struct cg *g, uint64_t place)
{
    LLVMValueRef offset = LLVMConstInt(g->unit->i64, place, false);
    return LLVMBuildGEP2(g->b, g->unit->i8, g->regions->record, &offset, 1, "");
}

void cg_record_store(struct cg *g, LLVMValueRef value, uint64_t place)
{
    uint64_t bytes = cg_record_bytes(g, LLVMTypeOf(value));
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind && cg_bits(cg_element(value)) == 1)
        value = LLVMBuildBitCast(g->b, value, g->unit->mask, "");
    LLVMSetAlignment(LLVMBuildStore(g->b, value, cg_record_place(g, place)), bytes >= 64 ? 64 : 4);
}

LLVMValueRef cg_record_load(struct cg *g, LLVMTypeRef type, uint64_t place)
{
    uint64_t bytes = cg_record_bytes(g, type);
    bool predicates = LLVMGetTypeKind(type) == LLVMVectorTypeKind && cg_bits(LLVMGetElementType(type)) == 1;
    LLVMValueRef value = LLVMBuildLoad2(g->b, predicates ? g->unit->mask : type, cg_record_place(g, place), "");
    LLVMSetAlignment(value, bytes >= 64 ? 64 : 4);
    return predicates ? LLVMBuildBitCast(g->b, value, type, "") : value;
}

/* Between a slot and the record: the element of each row, or the whole. */
void cg_record_move(struct cg *g, LLVMValueRef slot, uint64_t place, bool to_record)
{
    LLVMTypeRef type = LLVMGetAllocatedType(slot), element = type;
    uint64_t count = 1;
    if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
        element = LLVMGetElementType(type);
        count = LLVMGetArrayLength2(type);
    }
    for (uint64_t i = 0; i < count; i++, place += scalar_bytes(element)) {
        LLVMValueRef index = LLVMConstInt(g->unit->i32, i, false),
                     part = count > 1 ? LLVMBuildGEP2(g->b, element, slot, &index, 1, "") : slot;
        if (to_record)
            cg_record_store(g, LLVMBuildLoad2(g->b, element, part, ""), place);
        else
            LLVMBuildStore(g->b, cg_record_load(g, element, place), part);
    }
}

bool cg_regions_turns_in_loop(const struct cg *g)
{
    uint32_t l = g->flow.blocks[g->now.at].loop;
    if (!g->regions || l == MR_FLOW_NONE)
        return false;
    for (uint32_t b = g->flow.loops[l].first; b < g->flow.loops[l].end; b++)
        if (g->flow.blocks[b].barrier)
            return true;
    return false;
}

LLVMValueRef cg_regions_step(struct cg *g)
{
    struct cg_regions *regions = g->regions;
    if (!regions || regions->steps_used == regions->step_count)
        return NULL;
    return cg_record_place(g, regions->steps + 8 * regions->steps_used++);
}
