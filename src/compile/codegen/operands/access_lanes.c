/* SPDX-License-Identifier: Apache-2.0 */

/* Accesses lane by lane: a gather or scatter where the processor has one of that width, else a loop over the lanes that
 * run. */
#include "compile/codegen/operands/access.h"
#include "compile/codegen/operands/operands.h"

static LLVMValueRef splat_offset(struct cg *g, LLVMValueRef vector, uint64_t offset)
{
    if (!offset)
        return vector;
    return LLVMBuildAdd(g->b, vector, cg_splat(g, LLVMConstInt(g->unit->i64, offset, false)), "");
}

static bool has_gather(const struct cg *g, const struct cg_access *a)
{
    return g->unit->wide && a->bytes >= 4;
}

static LLVMValueRef lane_pointer(struct cg *g, LLVMValueRef slot, LLVMTypeRef element, LLVMValueRef lane)
{
    return LLVMBuildGEP2(g->b, element, slot, &lane, 1, "");
}

/* The address of one lane of a stepping address: for the rare case that lanes overflowed or don't run, kept short. */
static LLVMValueRef stepping_address(struct cg *g, const struct cg_address *address, LLVMValueRef lane)
{
    LLVMTypeRef i64 = g->unit->i64;
    bool wraps = address->c.wrap != 0;
    LLVMValueRef base = address->base[0], brk = wraps ? address->brk[0] : NULL;
    if (g->flow.rows > 1) {
        LLVMValueRef row = LLVMBuildUDiv(g->b, lane, LLVMConstInt(g->unit->i32, cg_row_lanes(g), false), "");
        lane = LLVMBuildURem(g->b, lane, LLVMConstInt(g->unit->i32, cg_row_lanes(g), false), "");
        for (unsigned i = 1; i < g->flow.rows; i++) {
            LLVMValueRef is = LLVMBuildICmp(g->b, LLVMIntEQ, row, LLVMConstInt(g->unit->i32, i, false), "");
            base = LLVMBuildSelect(g->b, is, address->base[i], base, "");
            brk = wraps ? LLVMBuildSelect(g->b, is, address->brk[i], brk, "") : NULL;
        }
    }
    LLVMValueRef wide = LLVMBuildZExt(g->b, lane, i64, "");
    LLVMValueRef step = LLVMBuildMul(g->b, wide, LLVMConstInt(i64, (uint64_t)address->c.stride, true), "");
    if (!wraps)
        return LLVMBuildAdd(g->b, base, step, "");
    LLVMValueRef past = LLVMBuildICmp(g->b, LLVMIntUGE, lane, brk, "");
    LLVMValueRef wrap = LLVMBuildSelect(g->b, past, LLVMConstInt(i64, (uint64_t)address->c.wrap, true),
                                        LLVMConstInt(i64, 0, false), "");
    return LLVMBuildAdd(g->b, LLVMBuildAdd(g->b, base, step, ""), wrap, "");
}

/* Where each lane's elements are: one of the three. */
struct places {
    LLVMValueRef same; /* for all lanes */
    const struct cg_address *stepping;
    LLVMValueRef array; /* addresses by lane, in memory */
};

static LLVMValueRef place_of(struct cg *g, const struct places *places, LLVMValueRef lane)
{
    if (places->same)
        return places->same;
    if (places->stepping)
        return stepping_address(g, places->stepping, lane);
    return LLVMBuildLoad2(g->b, g->unit->i64, lane_pointer(g, places->array, g->unit->i64, lane), "");
}

static struct places array_of(struct cg *g, LLVMValueRef addresses)
{
    struct places places = {.array = cg_scratch(g, g->unit->i64)};
    LLVMBuildStore(g->b, addresses, places.array);
    return places;
}

/* Moves the elements of one lane. */
typedef void move(struct cg *g, const struct cg_access *a, LLVMValueRef address, LLVMValueRef *elements);

static void read_each(struct cg *g, const struct cg_access *a, LLVMValueRef address, LLVMValueRef *elements)
{
    for (unsigned i = 0; i < a->count; i++) {
        elements[i] = LLVMBuildLoad2(g->b, a->element, cg_offset_pointer(g, address, (uint64_t)i * a->bytes), "");
        LLVMSetAlignment(elements[i], a->bytes);
    }
}

static void write_each(struct cg *g, const struct cg_access *a, LLVMValueRef address, LLVMValueRef *elements)
{
    for (unsigned i = 0; i < a->count; i++)
        LLVMSetAlignment(LLVMBuildStore(g->b, elements[i], cg_offset_pointer(g, address, (uint64_t)i * a->bytes)),
                         a->bytes);
}

/* What the processor moves at once: an integer, or a vector of 16 bytes (two registers, if it were an integer). */
static LLVMTypeRef undivided_type(struct cg *g, const struct cg_access *a)
{
    unsigned bytes = a->count * a->bytes;
    return bytes == 16 ? LLVMVectorType(g->unit->i64, 2) : LLVMIntTypeInContext(g->unit->context, bytes * 8);
}

static void read_undivided(struct cg *g, const struct cg_access *a, LLVMValueRef address, LLVMValueRef *elements)
{
    LLVMValueRef whole = LLVMBuildLoad2(g->b, undivided_type(g, a), cg_pointer(g, address), "");
    LLVMSetAlignment(whole, a->count * a->bytes);
    LLVMSetVolatile(whole, true);
    whole = LLVMBuildBitCast(g->b, whole, LLVMVectorType(a->element, a->count), "");
    for (unsigned i = 0; i < a->count; i++)
        elements[i] = LLVMBuildExtractElement(g->b, whole, LLVMConstInt(g->unit->i32, i, false), "");
}

static void write_undivided(struct cg *g, const struct cg_access *a, LLVMValueRef address, LLVMValueRef *elements)
{
    LLVMValueRef whole = LLVMGetPoison(LLVMVectorType(a->element, a->count));
    for (unsigned i = 0; i < a->count; i++)
        whole = LLVMBuildInsertElement(g->b, whole, elements[i], LLVMConstInt(g->unit->i32, i, false), "");
    LLVMValueRef store =
        LLVMBuildStore(g->b, LLVMBuildBitCast(g->b, whole, undivided_type(g, a), ""), cg_pointer(g, address));
    LLVMSetAlignment(store, a->count * a->bytes);
    LLVMSetVolatile(store, true);
}

static void load_by_lane(struct cg *g, struct cg_access *a, const struct places *places, move *read)
{
    LLVMValueRef to[8], elements[8];
    for (unsigned i = 0; i < a->count; i++)
        to[i] = cg_scratch(g, a->element);
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->now.exec, &loop);
    read(g, a, place_of(g, places, loop.lane), elements);
    for (unsigned i = 0; i < a->count; i++)
        LLVMBuildStore(g->b, elements[i], lane_pointer(g, to[i], a->element, loop.lane));
    cg_lane_loop_end(g, &loop);
    for (unsigned i = 0; i < a->count; i++)
        a->values[i] = LLVMBuildLoad2(g->b, LLVMVectorType(a->element, g->unit->width), to[i], "");
}

static void store_by_lane(struct cg *g, struct cg_access *a, const struct places *places, move *write)
{
    LLVMValueRef from[8], elements[8];
    for (unsigned i = 0; i < a->count; i++) {
        from[i] = cg_scratch(g, a->element);
        LLVMBuildStore(g->b, a->values[i], from[i]);
    }
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->now.exec, &loop);
    LLVMValueRef address = place_of(g, places, loop.lane);
    for (unsigned i = 0; i < a->count; i++)
        elements[i] = LLVMBuildLoad2(g->b, a->element, lane_pointer(g, from[i], a->element, loop.lane), "");
    write(g, a, address, elements);
    cg_lane_loop_end(g, &loop);
}

void cg_load_stepwise(struct cg *g, struct cg_access *a)
{
    load_by_lane(g, a, &(struct places){.stepping = &a->address}, read_each);
}

void cg_store_stepwise(struct cg *g, struct cg_access *a)
{
    store_by_lane(g, a, &(struct places){.stepping = &a->address}, write_each);
}

void cg_load_scattered(struct cg *g, struct cg_access *a)
{
    LLVMValueRef addresses = cg_address_vector(g, &a->address);
    if (!has_gather(g, a)) {
        struct places places = array_of(g, addresses);
        load_by_lane(g, a, &places, read_each);
        return;
    }
    LLVMTypeRef type = LLVMVectorType(a->element, g->unit->width),
                types[2] = {type, LLVMVectorType(g->unit->ptr, g->unit->width)};
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef args[4] = {cg_pointer(g, splat_offset(g, addresses, (uint64_t)i * a->bytes)),
                                LLVMConstInt(g->unit->i32, a->bytes, false), g->now.exec_vector, LLVMGetPoison(type)};
        a->values[i] = cg_intrinsic(g, "llvm.masked.gather", types, 2, args, 4);
    }
}

void cg_store_scattered(struct cg *g, struct cg_access *a)
{
    LLVMValueRef addresses = cg_address_vector(g, &a->address);
    if (!has_gather(g, a)) {
        struct places places = array_of(g, addresses);
        store_by_lane(g, a, &places, write_each);
        return;
    }
    LLVMTypeRef types[2] = {LLVMVectorType(a->element, g->unit->width), LLVMVectorType(g->unit->ptr, g->unit->width)};
    for (unsigned i = 0; i < a->count; i++) {
        LLVMValueRef args[4] = {a->values[i], cg_pointer(g, splat_offset(g, addresses, (uint64_t)i * a->bytes)),
                                LLVMConstInt(g->unit->i32, a->bytes, false), g->now.exec_vector};
        cg_intrinsic(g, "llvm.masked.scatter", types, 2, args, 4);
    }
}

static struct places places_of(struct cg *g, const struct cg_access *a)
{
    if (!a->steps && a->address.c.kind == MR_CLASS_UNIFORM)
        return (struct places){.same = a->address.base[0]};
    return array_of(g, a->steps ? cg_stepped_vector(g, &a->stepped, g->unit->i64) : cg_address_vector(g, &a->address));
}

void cg_load_undivided(struct cg *g, struct cg_access *a)
{
    struct places places = places_of(g, a);
    if (places.same)
        read_undivided(g, a, places.same, a->values);
    else
        load_by_lane(g, a, &places, read_undivided);
}

void cg_store_undivided(struct cg *g, struct cg_access *a)
{
    struct places places = places_of(g, a);
    store_by_lane(g, a, &places, write_undivided);
}

void cg_copy_by_lane(struct cg *g, struct cg_access *to, struct cg_access *from)
{
    struct places source = places_of(g, from), target = places_of(g, to);
    LLVMTypeRef whole = undivided_type(g, from);
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->now.exec, &loop);
    LLVMValueRef value = LLVMBuildLoad2(g->b, whole, cg_pointer(g, place_of(g, &source, loop.lane)), "");
    LLVMSetAlignment(value, from->count * from->bytes);
    LLVMSetAlignment(LLVMBuildStore(g->b, value, cg_pointer(g, place_of(g, &target, loop.lane))),
                     to->count * to->bytes);
    cg_lane_loop_end(g, &loop);
}
