/* SPDX-License-Identifier: Apache-2.0 */

/*
 * atom and red. Lanes take their turns in order, one atomic instruction each:
 * two lanes may name the same place. Two cases are shortened: integer reductions
 * into one place are folded over the lanes first, and .shared memory, which only
 * this thread of the host touches, needs no locked instructions.
 */
#include "compile/codegen/emit/emit.h"
#include "compile/codegen/operands/touch.h"

struct atomic {
    const struct mr_ptx_inst *inst;
    const struct mr_ptx_operand *address, *result,
        *value; /* the last two of the element at hand, where the operation is on vectors; result may be NULL */
    LLVMTypeRef type; /* integer of the operation's width */
    unsigned bytes;
    bool shared;
    LLVMAtomicOrdering ordering;
    LLVMValueRef keeps; /* whether a generic address means shared memory, where sums of f32 keep subnormal numbers; NULL
                           where that is known or nobody asks */
};

static LLVMAtomicOrdering ordering_of(const struct mr_ptx_inst *inst)
{
    switch (inst->semantics) {
    case MR_PTX_SEM_ACQUIRE:
        return LLVMAtomicOrderingAcquire;
    case MR_PTX_SEM_RELEASE:
        return LLVMAtomicOrderingRelease;
    case MR_PTX_SEM_ACQ_REL:
    case MR_PTX_SEM_SC:
        return LLVMAtomicOrderingAcquireRelease;
    default:
        return LLVMAtomicOrderingMonotonic;
    }
}

/* Whether anybody looks at it: compilers write atom where nobody does. */
static bool has_result(const struct cg *g, const struct atomic *a)
{
    if (!a->result || a->result->kind == MR_PTX_OPERAND_SINK)
        return false;
    return a->result->kind != MR_PTX_OPERAND_REG || mr_bit_get(g->flow.read, a->result->reg);
}

/* The processor's instruction for the operation; false if it has to be a loop around compare-and-swap. */
static bool plain_operation(const struct mr_ptx_inst *inst, LLVMAtomicRMWBinOp *op)
{
    bool sign = mr_ptx_type_class(inst->type[0]) == 'S';
    if (mr_ptx_type_class(inst->type[0]) == 'F')
        return false;
    switch (inst->atom) {
    case MR_PTX_ATOM_ADD:
        *op = LLVMAtomicRMWBinOpAdd;
        return true;
    case MR_PTX_ATOM_AND:
        *op = LLVMAtomicRMWBinOpAnd;
        return true;
    case MR_PTX_ATOM_OR:
        *op = LLVMAtomicRMWBinOpOr;
        return true;
    case MR_PTX_ATOM_XOR:
        *op = LLVMAtomicRMWBinOpXor;
        return true;
    case MR_PTX_ATOM_EXCH:
        *op = LLVMAtomicRMWBinOpXchg;
        return true;
    case MR_PTX_ATOM_MIN:
        *op = sign ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
        return true;
    case MR_PTX_ATOM_MAX:
        *op = sign ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
        return true;
    case MR_PTX_ATOM_INC:
        *op = LLVMAtomicRMWBinOpUIncWrap;
        return true;
    case MR_PTX_ATOM_DEC:
        *op = LLVMAtomicRMWBinOpUDecWrap;
        return true;
    default:
        return false;
    }
}

/* Halves are added, or the smaller or larger one is taken. */
static LLVMValueRef combine_halves(struct cg *g, unsigned atom, LLVMValueRef a, LLVMValueRef b, bool bfloat)
{
    LLVMValueRef x = bfloat ? cg_bfloat_to_float(g, a) : cg_half_to_float(g, a);
    LLVMValueRef y = bfloat ? cg_bfloat_to_float(g, b) : cg_half_to_float(g, b);
    LLVMValueRef sum =
        atom == MR_PTX_ATOM_ADD ? LLVMBuildFAdd(g->b, x, y, "") : cg_min_max(g, x, y, atom == MR_PTX_ATOM_MAX, false);
    return bfloat ? cg_float_to_bfloat(g, sum) : cg_float_to_half(g, sum);
}

/* The sum of two floats given as bits (of halves also the smaller or larger one). In f32 global memory flushes
 * subnormals, shared memory does not. */
static LLVMValueRef combine_floats(struct cg *g, const struct atomic *a, LLVMValueRef old, LLVMValueRef value)
{
    LLVMTypeRef i16 = g->unit->i16, i32 = g->unit->i32;
    unsigned type = a->inst->type[0];
    bool bfloat = type == MR_PTX_TYPE_BF16 || type == MR_PTX_TYPE_BF16X2;
    if (type == MR_PTX_TYPE_F32 || type == MR_PTX_TYPE_F64) {
        LLVMTypeRef kind = type == MR_PTX_TYPE_F32 ? g->unit->f32 : g->unit->f64;
        bool flush = type == MR_PTX_TYPE_F32 && !a->shared;
        LLVMValueRef x = cg_cast_bits(g, old, kind), y = cg_cast_bits(g, value, kind);
        LLVMValueRef sum = LLVMBuildFAdd(g->b, flush ? cg_flush(g, x) : x, flush ? cg_flush(g, y) : y, "");
        if (flush)
            sum = cg_flush(g, sum);
        if (a->keeps)
            sum = cg_select(g, a->keeps, LLVMBuildFAdd(g->b, x, y, ""), sum);
        if (type == MR_PTX_TYPE_F32)
            sum = cg_nan_mended(g, sum);
        return cg_cast_bits(g, sum, a->type);
    }
    if (type == MR_PTX_TYPE_F16 || type == MR_PTX_TYPE_BF16)
        return combine_halves(g, a->inst->atom, old, value, bfloat);
    LLVMValueRef r = NULL;
    for (unsigned part = 0; part < 2; part++) {
        LLVMValueRef by = cg_int(g, i32, 16 * part);
        LLVMValueRef x = cg_resize(g, LLVMBuildLShr(g->b, old, by, ""), i16, false);
        LLVMValueRef y = cg_resize(g, LLVMBuildLShr(g->b, value, by, ""), i16, false);
        LLVMValueRef sum =
            LLVMBuildShl(g->b, cg_resize(g, combine_halves(g, a->inst->atom, x, y, bfloat), i32, false), by, "");
        r = r ? LLVMBuildOr(g->b, r, sum, "") : sum;
    }
    return r;
}

/* What the place holds afterwards. */
static LLVMValueRef new_value(struct cg *g, const struct atomic *a, LLVMValueRef old, LLVMValueRef b, LLVMValueRef c)
{
    bool sign = mr_ptx_type_class(a->inst->type[0]) == 'S';
    LLVMValueRef one = LLVMConstInt(a->type, 1, false), zero = LLVMConstInt(a->type, 0, false);
    if (mr_ptx_type_class(a->inst->type[0]) == 'F')
        return combine_floats(g, a, old, b);
    switch (a->inst->atom) {
    case MR_PTX_ATOM_ADD:
        return LLVMBuildAdd(g->b, old, b, "");
    case MR_PTX_ATOM_AND:
        return LLVMBuildAnd(g->b, old, b, "");
    case MR_PTX_ATOM_OR:
        return LLVMBuildOr(g->b, old, b, "");
    case MR_PTX_ATOM_XOR:
        return LLVMBuildXor(g->b, old, b, "");
    case MR_PTX_ATOM_EXCH:
        return b;
    case MR_PTX_ATOM_CAS:
        return cg_select(g, LLVMBuildICmp(g->b, LLVMIntEQ, old, b, ""), c, old);
    case MR_PTX_ATOM_MIN:
        return cg_binary(g, sign ? "llvm.smin" : "llvm.umin", old, b);
    case MR_PTX_ATOM_MAX:
        return cg_binary(g, sign ? "llvm.smax" : "llvm.umax", old, b);
    case MR_PTX_ATOM_INC:
        return cg_select(g, LLVMBuildICmp(g->b, LLVMIntUGE, old, b, ""), zero, LLVMBuildAdd(g->b, old, one, ""));
    default: {
        LLVMValueRef wrap = LLVMBuildOr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, old, zero, ""),
                                        LLVMBuildICmp(g->b, LLVMIntUGT, old, b, ""), "");
        return cg_select(g, wrap, b, LLVMBuildSub(g->b, old, one, ""));
    }
    }
}

static LLVMValueRef swap_loop(struct cg *g, const struct atomic *a, LLVMValueRef pointer, LLVMValueRef b)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), again = cg_new_block(g, "again"), on = cg_new_block(g, "on");
    LLVMValueRef first = LLVMBuildLoad2(g->b, a->type, pointer, "");
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(first, a->bytes);
    LLVMBuildBr(g->b, again);
    LLVMPositionBuilderAtEnd(g->b, again);
    LLVMValueRef old = LLVMBuildPhi(g->b, a->type, "");
    LLVMValueRef next = new_value(g, a, old, b, NULL);
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(g->b, pointer, old, next, LLVMAtomicOrderingAcquireRelease,
                                               LLVMAtomicOrderingMonotonic, false);
    LLVMSetAlignment(pair, a->bytes);
    LLVMValueRef seen = LLVMBuildExtractValue(g->b, pair, 0, ""), done = LLVMBuildExtractValue(g->b, pair, 1, "");
    LLVMAddIncoming(old, (LLVMValueRef[]){first, seen}, (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(g->b)}, 2);
    LLVMBuildCondBr(g->b, done, on, again);
    LLVMPositionBuilderAtEnd(g->b, on);
    return old;
}

/* One lane's operation; gives the old value. */
static LLVMValueRef perform(struct cg *g, struct atomic *a, LLVMValueRef pointer, LLVMValueRef b, LLVMValueRef c)
{
    LLVMAtomicRMWBinOp op;
    a->keeps = NULL;
    if (a->inst->space == MR_PTX_SPACE_GENERIC && a->inst->type[0] == MR_PTX_TYPE_F32 &&
        a->inst->atom == MR_PTX_ATOM_ADD)
        a->keeps = cg_in_shared(g, LLVMBuildPtrToInt(g->b, pointer, g->unit->i64, ""));
    if (a->shared) {
        LLVMValueRef old = LLVMBuildLoad2(g->b, a->type, pointer, "");
        LLVMSetAlignment(old, a->bytes);
        LLVMSetAlignment(LLVMBuildStore(g->b, new_value(g, a, old, b, c), pointer), a->bytes);
        return old;
    }
    if (a->inst->atom == MR_PTX_ATOM_CAS) {
        LLVMAtomicOrdering failure =
            a->ordering == LLVMAtomicOrderingRelease || a->ordering == LLVMAtomicOrderingMonotonic
                ? LLVMAtomicOrderingMonotonic
                : LLVMAtomicOrderingAcquire;
        LLVMValueRef pair = LLVMBuildAtomicCmpXchg(g->b, pointer, b, c, a->ordering, failure, false);
        LLVMSetAlignment(pair, a->bytes);
        return LLVMBuildExtractValue(g->b, pair, 0, "");
    }
    if (!plain_operation(a->inst, &op))
        return swap_loop(g, a, pointer, b);
    LLVMValueRef old = LLVMBuildAtomicRMW(g->b, op, pointer, b, a->ordering, false);
    LLVMSetAlignment(old, a->bytes);
    return old;
}

static void one_place(struct cg *g, struct atomic *a, const struct cg_address *address, LLVMValueRef values)
{
    LLVMValueRef folded = cg_fold_lanes(g, a->inst, values, g->now.exec_vector);
    g->now.lanes = 1;
    perform(g, a, cg_pointer(g, address->base[0]), folded, NULL);
    g->now.lanes = CG_LANES;
}

/* Each lane's place and operands as arrays, for lanes to take by number. */
struct turns {
    LLVMTypeRef place; /* of `from`: i64, an address; i32, an offset into .shared memory; or i8, what makes up an
                          address with the next two */
    LLVMValueRef start; /* i64, what is added; NULL: nothing */
    unsigned scale; /* what it is multiplied by before */
    LLVMValueRef from, b, c, to; /* c and to may be NULL */
    LLVMValueRef same; /* b, if it is the same for all lanes */
};

static LLVMValueRef lane_of(struct cg *g, LLVMTypeRef type, LLVMValueRef slot, LLVMValueRef lane)
{
    return LLVMBuildGEP2(g->b, type, slot, &lane, 1, "");
}

static void one_turn(struct cg *g, struct atomic *a, const struct turns *turns, LLVMValueRef lane, LLVMValueRef where)
{
    g->now.lanes = 1;
    if (turns->scale > 1)
        where = LLVMBuildMul(g->b, where, LLVMConstInt(g->unit->i64, turns->scale, false), "");
    if (turns->start)
        where = LLVMBuildAdd(g->b, where, turns->start, "");
    LLVMValueRef x = turns->same ? turns->same : LLVMBuildLoad2(g->b, a->type, lane_of(g, a->type, turns->b, lane), ""),
                 y = NULL;
    if (turns->c)
        y = LLVMBuildLoad2(g->b, a->type, lane_of(g, a->type, turns->c, lane), "");
    LLVMValueRef old = perform(g, a, cg_pointer(g, where), x, y);
    if (turns->to)
        LLVMBuildStore(g->b, old, lane_of(g, a->type, turns->to, lane));
    g->now.lanes = CG_LANES;
}

static void turns_of_some(struct cg *g, struct atomic *a, const struct turns *turns)
{
    struct cg_lane_loop loop;
    cg_lane_loop_begin(g, g->now.exec, &loop);
    LLVMValueRef where = LLVMBuildLoad2(g->b, turns->place, lane_of(g, turns->place, turns->from, loop.lane), "");
    one_turn(g, a, turns, loop.lane, cg_resize(g, where, g->unit->i64, turns->place != g->unit->i8));
    cg_lane_loop_end(g, &loop);
}

/* Of all lanes, in .shared memory, where bytes pick the places: eight are read at a time (LLVM would take them out of
 * the vector one by one). */
static void turns_by_bytes(struct cg *g, struct atomic *a, const struct turns *turns)
{
    LLVMTypeRef i64 = g->unit->i64;
    LLVMValueRef eight = NULL;
    for (unsigned lane = 0; lane < CG_LANES; lane++) {
        LLVMValueRef number = LLVMConstInt(g->unit->i32, lane, false);
        if (lane % 8 == 0) {
            eight = LLVMBuildLoad2(g->b, i64, lane_of(g, turns->place, turns->from, number), "");
            LLVMSetVolatile(eight, true);
        }
        LLVMValueRef byte = LLVMBuildLShr(g->b, eight, LLVMConstInt(i64, lane % 8 * 8, false), "");
        one_turn(g, a, turns, number, LLVMBuildAnd(g->b, byte, LLVMConstInt(i64, 255, false), ""));
    }
}

/* Of all lanes, in .shared memory. Offsets are read from the array two by two, not taken out of vector registers, which
 * costs more, though LLVM thinks otherwise (docs/benchmarks.md, "Single figures"). */
static void turns_of_all(struct cg *g, struct atomic *a, const struct turns *turns)
{
    LLVMTypeRef i64 = g->unit->i64;
    for (unsigned lane = 0; lane < CG_LANES; lane += 2) {
        LLVMValueRef numbers[2] = {LLVMConstInt(g->unit->i32, lane, false),
                                   LLVMConstInt(g->unit->i32, lane + 1, false)};
        LLVMValueRef both = LLVMBuildLoad2(g->b, i64, lane_of(g, turns->place, turns->from, numbers[0]), "");
        LLVMSetVolatile(both, true);
        LLVMValueRef low = LLVMBuildSExt(g->b, LLVMBuildTrunc(g->b, both, turns->place, ""), i64, "");
        one_turn(g, a, turns, numbers[0], low);
        one_turn(g, a, turns, numbers[1], LLVMBuildAShr(g->b, both, LLVMConstInt(i64, 32, false), ""));
    }
}

/* What all places have in common besides the start of .shared memory, as far as an address of 32 bits goes. */
static LLVMValueRef common_start(struct cg *g, const struct mr_flow_byte_places *bytes)
{
    LLVMTypeRef i32 = g->unit->i32, i64 = g->unit->i64;
    LLVMValueRef start = LLVMConstInt(i32, (uint64_t)bytes->offset, false);
    if (bytes->base) {
        LLVMTypeRef type =
            bytes->base->kind == MR_PTX_OPERAND_REG ? cg_reg_type(g, g->func->regs[bytes->base->reg].type) : i64;
        g->now.lanes = 1;
        start = LLVMBuildAdd(g->b, start, cg_resize(g, cg_source(g, bytes->base, type), i32, false), "");
        g->now.lanes = CG_LANES;
    }
    return LLVMBuildSExt(g->b, start, i64, "");
}

/* Each lane's place, as short as can be. */
static void take_places(struct cg *g, const struct atomic *a, const struct cg_address *address, struct turns *turns)
{
    struct mr_flow_byte_places bytes;
    uint32_t at = (uint32_t)(g->now.inst - g->func->insts);
    LLVMValueRef places;
    *turns = (struct turns){.place = g->unit->i64, .scale = 1};
    if (!a->shared) {
        places = cg_address_vector(g, address);
    } else if (a->inst->vector == 1 && mr_flow_byte_places_find(&g->flow, g->now.at, at, a->address, &bytes)) {
        turns->place = g->unit->i8;
        turns->scale = bytes.scale;
        turns->start = LLVMBuildAdd(g->b, g->launch.shared, common_start(g, &bytes), "");
        places = cg_resize(g, cg_read(g, bytes.reg), turns->place, false);
    } else {
        turns->place = g->unit->i32;
        turns->start = g->launch.shared;
        places = cg_resize(g, LLVMBuildSub(g->b, cg_address_vector(g, address), cg_splat(g, g->launch.shared), ""),
                           turns->place, false);
    }
    turns->from = cg_scratch(g, turns->place);
    LLVMBuildStore(g->b, places, turns->from);
}

/* Gives the old values, NULL if nobody wants them. Additions in .shared memory are short: where all lanes run, they
 * stand one behind the other, and nothing is spent on finding the next. */
static LLVMValueRef lanes_in_turn(struct cg *g, struct atomic *a, const struct cg_address *address, LLVMValueRef b,
                                  LLVMValueRef c)
{
    struct turns turns;
    take_places(g, a, address, &turns);
    turns.b = cg_scratch(g, a->type);
    if (a->value->kind == MR_PTX_OPERAND_IMM_INT)
        turns.same = LLVMConstInt(a->type, (uint64_t)a->value->value, true);
    LLVMBuildStore(g->b, b, turns.b);
    if (c)
        LLVMBuildStore(g->b, c, turns.c = cg_scratch(g, a->type));
    if (has_result(g, a))
        turns.to = cg_scratch(g, a->type);
    if (a->shared && !c && mr_ptx_type_class(a->inst->type[0]) != 'F') {
        LLVMBasicBlockRef all = cg_new_block(g, "all"), some = cg_new_block(g, "some"), on = cg_new_block(g, "on");
        LLVMValueRef full = LLVMBuildICmp(g->b, LLVMIntEQ, g->now.exec, LLVMConstAllOnes(g->unit->mask), "");
        LLVMBuildCondBr(g->b, full, all, some);
        LLVMPositionBuilderAtEnd(g->b, all);
        if (turns.place == g->unit->i8)
            turns_by_bytes(g, a, &turns);
        else
            turns_of_all(g, a, &turns);
        LLVMBuildBr(g->b, on);
        LLVMPositionBuilderAtEnd(g->b, some);
        turns_of_some(g, a, &turns);
        LLVMBuildBr(g->b, on);
        LLVMPositionBuilderAtEnd(g->b, on);
    } else {
        turns_of_some(g, a, &turns);
    }
    return turns.to ? LLVMBuildLoad2(g->b, LLVMVectorType(a->type, CG_LANES), turns.to, "") : NULL;
}

/* An operation on a vector is one on each of its elements. */
static void each_element(struct cg *g, struct atomic *a, const struct cg_address *address)
{
    const struct mr_ptx_operand *values = a->value, *results = a->result;
    LLVMValueRef first = cg_address_vector(g, address), given[8], old[8];
    for (unsigned i = 0; i < a->inst->vector; i++)
        given[i] = cg_source(g, &values->elements[i], a->type);
    for (unsigned i = 0; i < a->inst->vector; i++) {
        struct cg_address place = {.c = {MR_CLASS_VARYING, 0, 0}};
        place.vector = LLVMBuildAdd(g->b, first, cg_int(g, g->unit->i64, (uint64_t)i * a->bytes), "");
        a->value = &values->elements[i];
        a->result = results ? &results->elements[i] : NULL;
        g->memory.scratch_used = 0;
        old[i] = lanes_in_turn(g, a, &place, given[i], NULL);
    }
    for (unsigned i = 0; i < a->inst->vector; i++)
        if (old[i])
            cg_write(g, &results->elements[i], old[i]);
}

bool cg_emit_atomic(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (inst->op != MR_PTX_OP_ATOM && inst->op != MR_PTX_OP_RED)
        return false;
    unsigned at = inst->op == MR_PTX_OP_ATOM ? 1 : 0;
    struct atomic a = {.inst = inst,
                       .address = &inst->operands[at],
                       .result = at ? &inst->operands[0] : NULL,
                       .value = &inst->operands[at + 1],
                       .bytes = mr_ptx_type_bytes(inst->type[0]),
                       .ordering = ordering_of(inst)};
    /* red of a local variable is dropped, as by NVIDIA's assembler. */
    if (inst->op == MR_PTX_OP_RED && a.address->kind == MR_PTX_OPERAND_SYMBOL_ADDRESS &&
        a.address->var->space == MR_PTX_SPACE_LOCAL)
        return true;
    a.type = cg_int_type(g, a.bytes * 8);
    a.shared = inst->space == MR_PTX_SPACE_SHARED || inst->space == MR_PTX_SPACE_SHARED_CLUSTER;
    struct cg_address address;
    uint64_t neutral;
    g->now.lanes = CG_LANES;
    cg_address(g, a.address, inst->space, &address);
    cg_check_alignment(g, a.address, &address, (uint64_t)a.bytes * inst->vector);
    cg_touch(g, &address, a.bytes * inst->vector,
             cg_touch_flags(g, a.address, inst->space, MR_SITE_READ | MR_SITE_WRITE | MR_SITE_ATOMIC));
    if (inst->vector > 1) {
        each_element(g, &a, &address);
        return true;
    }
    LLVMValueRef b = cg_source(g, a.value, a.type), c = NULL;
    if (inst->atom == MR_PTX_ATOM_CAS)
        c = cg_source(g, &inst->operands[at + 2], a.type);
    if (address.c.kind == MR_CLASS_UNIFORM && !has_result(g, &a) && cg_fold_name(inst, &neutral)) {
        one_place(g, &a, &address, b);
        return true;
    }
    LLVMValueRef old = lanes_in_turn(g, &a, &address, b, c);
    if (old)
        cg_write(g, a.result, old);
    return true;
}
