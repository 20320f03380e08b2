/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Asynchronous copies, the barriers that they complete, and clusters of one
 * block.
 *
 * A copy is done at once, so what waits for copies has nothing to do; that is one
 * of the orders that the manual allows. cp.async becomes a load and a store like
 * any other, except for lanes that fill up with zeros, which the runtime does, as it
 * does everything on mbarriers and in bulk (src/kernel/mbarrier.c, bulk.c).
 */
#include "compile/codegen/emit/emit.h"
#include "compile/codegen/operands/touch.h"

static LLVMValueRef number(struct cg *g, uint64_t value)
{
    return LLVMConstInt(g->unit->i32, value, false);
}

/* A value of each lane, where the runtime can read it. */
static LLVMValueRef in_memory(struct cg *g, LLVMValueRef value)
{
    LLVMValueRef slot = cg_scratch(g, cg_element(value));
    LLVMBuildStore(g->b, value, slot);
    return slot;
}

/* The address of each lane, which must be a multiple of `align`. */
static LLVMValueRef address_of(struct cg *g, const struct mr_ptx_operand *operand, unsigned space, unsigned align)
{
    struct cg_address address;
    cg_address(g, operand, space, &address);
    cg_check_alignment(g, operand, &address, align);
    return in_memory(g, cg_address_vector(g, &address));
}

/* Integers of each lane, as 64 bits. */
static LLVMValueRef wide_source(struct cg *g, const struct mr_ptx_operand *operand, unsigned bits)
{
    return cg_resize(g, cg_source(g, operand, cg_int_type(g, bits)), g->unit->i64, false);
}

/* --- cp.async --------------------------------------------------------------------- */

/* Bytes that each lane reads, NULL if all read as many as they write. */
static LLVMValueRef read_bytes(struct cg *g, const struct mr_ptx_inst *inst, unsigned bytes)
{
    unsigned own = inst->operand_count - ((inst->flags & MR_PTX_FLAG_CACHE_HINT) != 0);
    const struct mr_ptx_operand *operand = &inst->operands[3];
    if (own < 4)
        return NULL;
    if (operand->type == MR_PTX_TYPE_PRED)
        return cg_select(g, cg_predicate(g, operand), cg_int(g, g->unit->i32, 0), cg_int(g, g->unit->i32, bytes));
    return cg_source(g, operand, g->unit->i32);
}

static void emit_copy(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned bytes = (unsigned)inst->operands[2].value;
    LLVMValueRef reads = read_bytes(g, inst, bytes);
    if (!reads) {
        cg_emit_copy(g, inst, bytes);
        return;
    }
    LLVMBasicBlockRef whole = cg_new_block(g, "whole"), part = cg_new_block(g, "part"), on = cg_new_block(g, "on");
    LLVMValueRef less = LLVMBuildICmp(g->b, LLVMIntNE, reads, cg_int(g, g->unit->i32, bytes), "");
    less = LLVMBuildAnd(g->b, cg_mask_bits(g, less), g->now.exec, "");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, less, cg_mask_zero(g), ""), whole, part);
    LLVMPositionBuilderAtEnd(g->b, whole);
    cg_emit_copy(g, inst, bytes);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, part);
    LLVMValueRef limit = cg_int(g, g->unit->i32, bytes);
    reads = cg_select(g, LLVMBuildICmp(g->b, LLVMIntULT, reads, limit, ""), reads, limit);
    LLVMValueRef args[5] = {g->now.exec, number(g, bytes), address_of(g, &inst->operands[0], inst->space, bytes),
                            address_of(g, &inst->operands[1], inst->space2, bytes), in_memory(g, reads)};
    cg_touch_sizes(g, args[3], args[4], cg_touch_flags(g, &inst->operands[1], inst->space2, MR_SITE_READ));
    cg_runtime_call(g, offsetof(struct mr_runtime, copy_part), g->unit->void_type, args, 5);
    LLVMBuildBr(g->b, on);
    LLVMPositionBuilderAtEnd(g->b, on);
}

/* --- mbarrier ---------------------------------------------------------------------- */

static unsigned barrier_operation(const struct mr_ptx_inst *inst)
{
    bool parity = inst->flags & MR_PTX_FLAG_PARITY;
    switch (inst->mode) {
    case MR_PTX_MODE_INIT:
        return MR_MBARRIER_INIT;
    case MR_PTX_MODE_INVAL:
        return MR_MBARRIER_INVAL;
    case MR_PTX_MODE_EXPECT_TX:
        return MR_MBARRIER_EXPECT_TX;
    case MR_PTX_MODE_COMPLETE_TX:
        return MR_MBARRIER_COMPLETE_TX;
    case MR_PTX_MODE_ARRIVE_EXPECT_TX:
        return MR_MBARRIER_ARRIVE_EXPECT_TX;
    case MR_PTX_MODE_ARRIVE_DROP:
    case MR_PTX_MODE_ARRIVE_DROP_NO_COMPLETE:
        return MR_MBARRIER_ARRIVE_DROP;
    case MR_PTX_MODE_ARRIVE_DROP_EXPECT_TX:
        return MR_MBARRIER_ARRIVE_DROP_EXPECT_TX;
    case MR_PTX_MODE_TEST_WAIT:
        return parity ? MR_MBARRIER_TEST_PARITY : MR_MBARRIER_TEST;
    case MR_PTX_MODE_TRY_WAIT:
        return parity ? MR_MBARRIER_TRY_PARITY : MR_MBARRIER_TRY;
    case MR_PTX_MODE_COPY_ARRIVE:
        return inst->flags & MR_PTX_FLAG_NOINC ? MR_MBARRIER_ARRIVE : MR_MBARRIER_COPY_ARRIVE;
    default:
        return MR_MBARRIER_ARRIVE;
    }
}

/* A call of the runtime: what it gives for each lane, as 64 bits. */
static LLVMValueRef barrier_call(struct cg *g, const struct mr_ptx_inst *inst, unsigned space)
{
    LLVMTypeRef i64 = g->unit->i64;
    unsigned at = inst->dst_count, last = at + 1;
    bool waits = inst->mode == MR_PTX_MODE_TEST_WAIT || inst->mode == MR_PTX_MODE_TRY_WAIT;
    bool token = waits && !(inst->flags & MR_PTX_FLAG_PARITY);
    LLVMValueRef value = cg_int(g, i64, 1); /* an arrival without a count */
    if (last < inst->operand_count)
        value = wide_source(g, &inst->operands[last], token ? 64 : 32);
    LLVMValueRef result = cg_scratch(g, i64);
    LLVMValueRef args[5] = {number(g, barrier_operation(inst)), g->now.exec,
                            address_of(g, &inst->operands[at], space, 8), in_memory(g, value), result};
    if (inst->mode == MR_PTX_MODE_TRY_WAIT)
        g->unit->flags |= MR_CODE_COOPERATIVE;
    cg_runtime_call(g, offsetof(struct mr_runtime, mbarrier), g->unit->void_type, args, 5);
    return LLVMBuildLoad2(g->b, cg_vector_type(i64, CG_LANES), result, "");
}

static void emit_mbarrier(struct cg *g, const struct mr_ptx_inst *inst)
{
    if (inst->mode == MR_PTX_MODE_PENDING_COUNT) {
        LLVMValueRef state = cg_source(g, &inst->operands[1], g->unit->i64);
        state = LLVMBuildAnd(g->b, state, cg_int(g, g->unit->i64, MR_MBARRIER_PENDING), "");
        cg_write(g, &inst->operands[0], cg_resize(g, state, g->unit->i32, false));
        return;
    }
    LLVMValueRef result = barrier_call(g, inst, inst->space);
    if (inst->mode == MR_PTX_MODE_TEST_WAIT || inst->mode == MR_PTX_MODE_TRY_WAIT)
        result = LLVMBuildICmp(g->b, LLVMIntNE, result, cg_int(g, g->unit->i64, 0), "");
    if (inst->dst_count)
        cg_write(g, &inst->operands[0], result);
}

/* --- Bulk ---------------------------------------------------------------------------- */

unsigned cg_reduction(const struct mr_ptx_inst *inst)
{
    switch (inst->atom) {
    case MR_PTX_ATOM_ADD:
        return MR_REDUCE_ADD;
    case MR_PTX_ATOM_MIN:
        return MR_REDUCE_MIN;
    case MR_PTX_ATOM_MAX:
        return MR_REDUCE_MAX;
    case MR_PTX_ATOM_INC:
        return MR_REDUCE_INC;
    case MR_PTX_ATOM_DEC:
        return MR_REDUCE_DEC;
    case MR_PTX_ATOM_AND:
        return MR_REDUCE_AND;
    case MR_PTX_ATOM_OR:
        return MR_REDUCE_OR;
    case MR_PTX_ATOM_XOR:
        return MR_REDUCE_XOR;
    default:
        return MR_REDUCE_NONE;
    }
}

static unsigned number_of(const struct mr_ptx_inst *inst)
{
    switch (inst->type[0]) {
    case MR_PTX_TYPE_S32:
        return MR_NUMBER_S32;
    case MR_PTX_TYPE_U64:
    case MR_PTX_TYPE_B64:
        return MR_NUMBER_U64;
    case MR_PTX_TYPE_S64:
        return MR_NUMBER_S64;
    case MR_PTX_TYPE_F32:
        return MR_NUMBER_F32;
    case MR_PTX_TYPE_F64:
        return MR_NUMBER_F64;
    case MR_PTX_TYPE_F16:
        return MR_NUMBER_F16;
    case MR_PTX_TYPE_BF16:
        return MR_NUMBER_BF16;
    default:
        return MR_NUMBER_U32;
    }
}

/* to, from: addresses of each lane; size: i32 of each lane; barrier: addresses or NULL. `reads`: how the source is
 * noted (cg_touch_flags), 0: it is not; the destination is by its space. */
static void bulk_call(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef to, LLVMValueRef from,
                      LLVMValueRef size, LLVMValueRef barrier, uint32_t reads)
{
    uint32_t reduces = cg_reduction(inst) == MR_REDUCE_NONE ? 0u : MR_SITE_READ | MR_SITE_ATOMIC;
    if (!barrier)
        barrier = LLVMConstNull(g->unit->ptr);
    LLVMValueRef args[7] = {
        number(g, cg_reduction(inst)), number(g, number_of(inst)), g->now.exec, to, from, in_memory(g, size), barrier};
    cg_touch_sizes(g, from, args[5], reads);
    cg_touch_sizes(g, to, args[5], cg_touch_flags(g, &inst->operands[0], inst->space, MR_SITE_WRITE | reduces));
    cg_runtime_call(g, offsetof(struct mr_runtime, copy_bulk), g->unit->void_type, args, 7);
}

/* .multicast::cluster: of the mask of blocks that get a copy only the first one is there. */
LLVMValueRef cg_multicast(struct cg *g, const struct mr_ptx_operand *operand)
{
    LLVMTypeRef i16 = cg_int_type(g, 16);
    LLVMValueRef mask = cg_source(g, operand, i16);
    LLVMValueRef others = LLVMBuildICmp(g->b, LLVMIntUGT, mask, cg_int(g, i16, 1), "");
    others = LLVMBuildAnd(g->b, cg_mask_bits(g, others), g->now.exec, "");
    LLVMBasicBlockRef bad = cg_new_block(g, "no.block"), on = cg_new_block(g, "on");
    cg_mark_unlikely(g, LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, others, cg_mask_zero(g), ""), bad, on));
    LLVMPositionBuilderAtEnd(g->b, bad);
    bool cluster = g->unit->entry->func->explicitcluster || g->unit->entry->func->reqnctapercluster[0] > 0;
    cg_emit_trap(g, cluster ? MR_TRAP_TRAP : MR_TRAP_NO_BLOCK); /* two statuses, as on hardware */
    LLVMBuildUnreachable(g->b);
    LLVMPositionBuilderAtEnd(g->b, on);
    return LLVMBuildICmp(g->b, LLVMIntNE, mask, cg_int(g, i16, 0), "");
}

/* .ignore_oob: so many bytes at the source's begin and end (up to 15) may be out of bounds, and what comes in their
 * place is undefined. They lie in units of 16 bytes with others that are there, so all are copied; noted as read are
 * the others. */
static void touch_between(struct cg *g, const struct mr_ptx_inst *inst, LLVMValueRef size)
{
    LLVMTypeRef i32 = g->unit->i32;
    LLVMValueRef left = cg_source(g, &inst->operands[3], i32), right = cg_source(g, &inst->operands[4], i32);
    struct cg_address address;
    cg_address(g, &inst->operands[1], inst->space2, &address);
    LLVMValueRef from = LLVMBuildAdd(g->b, cg_address_vector(g, &address), cg_resize(g, left, g->unit->i64, false), "");
    size = LLVMBuildSub(g->b, size, LLVMBuildAdd(g->b, left, right, ""), "");
    cg_touch_sizes(g, in_memory(g, from), in_memory(g, size),
                   cg_touch_flags(g, &inst->operands[1], inst->space2, MR_SITE_READ));
}

static void emit_bulk(struct cg *g, const struct mr_ptx_inst *inst)
{
    unsigned count = inst->operand_count - ((inst->flags & MR_PTX_FLAG_CACHE_HINT) != 0);
    bool many = count == 5, ignores = count == 6;
    bool to_global = inst->space == MR_PTX_SPACE_GLOBAL;
    LLVMValueRef to = address_of(g, &inst->operands[0], inst->space, 16);
    LLVMValueRef from = address_of(g, &inst->operands[1], inst->space2, 16);
    LLVMValueRef size = cg_source(g, &inst->operands[2], g->unit->i32);
    if (many)
        size = cg_select(g, cg_multicast(g, &inst->operands[4]), size, cg_int(g, g->unit->i32, 0));
    LLVMValueRef barrier = to_global ? NULL : address_of(g, &inst->operands[ignores ? 5 : 3], MR_PTX_SPACE_SHARED, 8);
    if (ignores)
        touch_between(g, inst, size);
    bulk_call(g, inst, to, from, size, barrier,
              ignores ? 0 : cg_touch_flags(g, &inst->operands[1], inst->space2, MR_SITE_READ));
}

/* st.async and red.async: a copy in bulk of what a lane's registers hold. */
static void emit_remote(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct cg_unit *unit = g->unit;
    unsigned bytes = mr_ptx_type_bytes((enum mr_ptx_type)inst->type[0]), count = inst->vector;
    LLVMTypeRef element = cg_int_type(g, bytes * 8);
    LLVMValueRef parts[4];
    for (unsigned i = 0; i < count; i++) {
        const struct mr_ptx_operand *operand = &inst->operands[1];
        parts[i] = cg_source(g, operand->kind == MR_PTX_OPERAND_VECTOR ? &operand->elements[i] : operand, element);
    }
    LLVMValueRef all = cg_join(g, parts, count), lanes[CG_LANES * 4];
    for (unsigned i = 0; i < CG_LANES * count; i++)
        lanes[i] = number(g, i % count * CG_LANES + i / count);
    all =
        LLVMBuildShuffleVector(g->b, all, LLVMGetPoison(LLVMTypeOf(all)), LLVMConstVector(lanes, CG_LANES * count), "");
    LLVMValueRef slot = cg_slot(g, LLVMTypeOf(all), "values");
    g->memory.bytes += (uint64_t)CG_LANES * count * bytes;
    LLVMBuildStore(g->b, all, slot);
    LLVMValueRef from = cg_splat(g, LLVMBuildPtrToInt(g->b, slot, unit->i64, ""));
    from = LLVMBuildAdd(g->b, from, cg_lane_numbers(g, unit->i64, (int64_t)bytes * count), "");
    LLVMValueRef to = address_of(g, &inst->operands[0], inst->space, bytes * count);
    LLVMValueRef barrier = address_of(g, &inst->operands[2], inst->space, 8);
    bulk_call(g, inst, to, in_memory(g, from), cg_int(g, unit->i32, (uint64_t)bytes * count), barrier, 0);
}

/* Those that no mbarrier hears of are a store or a reduction like others; with a scope alone they release, too. */
static bool emit_plain(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct mr_ptx_inst plain = *inst;
    bool stores = inst->op == MR_PTX_OP_ST_ASYNC;
    plain.op = stores ? MR_PTX_OP_ST : MR_PTX_OP_RED;
    plain.form = 0;
    plain.flags &= ~MR_PTX_FLAG_MMIO;
    if (plain.scope != MR_PTX_SCOPE_NONE && plain.semantics == MR_PTX_SEM_NONE)
        plain.semantics = MR_PTX_SEM_RELEASE;
    return stores ? cg_emit_memory(g, &plain) : cg_emit_atomic(g, &plain);
}

/* multimem: there are no addresses of several devices' memory. At others a store or a reduction is an ordinary one on
 * hardware, and a load is a fault. */
static bool emit_multimem(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct mr_ptx_inst plain = *inst;
    plain.form = 0;
    plain.op = inst->mode == MR_PTX_MODE_REDUCE ? MR_PTX_OP_RED : MR_PTX_OP_ST;
    if (inst->mode != MR_PTX_MODE_LOAD_REDUCE)
        return plain.op == MR_PTX_OP_ST ? cg_emit_memory(g, &plain) : cg_emit_atomic(g, &plain);
    LLVMBasicBlockRef bad = cg_new_block(g, "no.multicast"), on = cg_new_block(g, "on");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntNE, g->now.exec, cg_mask_zero(g), ""), bad, on);
    LLVMPositionBuilderAtEnd(g->b, bad);
    cg_emit_trap(g, MR_TRAP_NO_MULTICAST);
    LLVMBuildUnreachable(g->b);
    LLVMPositionBuilderAtEnd(g->b, on);
    return true;
}

/* A bulk copy of those bytes of each 16 that a mask names. */
static void emit_masked(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef bits = cg_source(g, &inst->operands[inst->operand_count - 1], cg_int_type(g, 16));
    LLVMValueRef args[5] = {g->now.exec, address_of(g, &inst->operands[0], inst->space, 16),
                            address_of(g, &inst->operands[1], inst->space2, 16),
                            in_memory(g, cg_source(g, &inst->operands[2], g->unit->i32)),
                            in_memory(g, cg_resize(g, bits, g->unit->i32, false))};
    cg_touch_service(g, cg_touch_flags(g, &inst->operands[0], inst->space, MR_SITE_WRITE));
    cg_runtime_call(g, offsetof(struct mr_runtime, copy_masked), g->unit->void_type, args, 5);
}

/* tensormap.cp_fenceproxy: the warp copies 128 bytes; every lane has the same addresses, which hardware wants no more
 * aligned than words. */
static void emit_map_copy(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef to = address_of(g, &inst->operands[0], MR_PTX_SPACE_GLOBAL, 4);
    LLVMValueRef from = address_of(g, &inst->operands[1], MR_PTX_SPACE_SHARED, 4);
    LLVMValueRef size = cg_splat(g, number(g, 128));
    bulk_call(g, inst, to, from, size, NULL, 0);
    LLVMBuildFence(g->b, LLVMAtomicOrderingRelease, false, "");
}

/* tensormap.replace: what a map has is the runtime's business. */
static void emit_map_change(struct cg *g, const struct mr_ptx_inst *inst)
{
    const struct mr_ptx_operand *last = &inst->operands[inst->operand_count - 1];
    unsigned dimension = inst->operand_count == 3 ? (unsigned)inst->operands[1].value : 0;
    bool wide = inst->mode == MR_PTX_MODE_MAP_ADDRESS || inst->mode == MR_PTX_MODE_MAP_STRIDE;
    struct cg_address address;
    cg_address(g, &inst->operands[0], inst->space, &address);
    cg_check_alignment(g, &inst->operands[0], &address, 64);
    cg_touch(g, &address, 128, cg_touch_flags(g, &inst->operands[0], inst->space, MR_SITE_WRITE));
    LLVMValueRef args[6] = {g->now.exec,
                            number(g, (unsigned)inst->mode - MR_PTX_MODE_MAP_ADDRESS + MR_MAP_ADDRESS),
                            number(g, dimension),
                            number(g, inst->line),
                            in_memory(g, cg_address_vector(g, &address)),
                            in_memory(g, wide_source(g, last, wide ? 64 : 32))};
    cg_runtime_call(g, offsetof(struct mr_runtime, change_map), g->unit->void_type, args, 6);
}

/* st.bulk: a copy in bulk of zeros. Sizes are below 2^24. */
static void emit_zeros(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMValueRef to = address_of(g, &inst->operands[0], inst->space, 8);
    LLVMValueRef size = cg_resize(g, cg_source(g, &inst->operands[1], g->unit->i64), g->unit->i32, false);
    LLVMValueRef args[7] = {number(g, MR_REDUCE_ZERO), number(g, MR_NUMBER_U32),   g->now.exec, to, to,
                            in_memory(g, size),        LLVMConstNull(g->unit->ptr)};
    cg_touch_sizes(g, to, args[5], cg_touch_flags(g, &inst->operands[0], inst->space, MR_SITE_WRITE));
    cg_runtime_call(g, offsetof(struct mr_runtime, copy_bulk), g->unit->void_type, args, 7);
}

static void emit_cp(struct cg *g, const struct mr_ptx_inst *inst)
{
    switch (inst->mode) {
    case MR_PTX_MODE_COPY:
        emit_copy(g, inst);
        break;
    case MR_PTX_MODE_COPY_ARRIVE:
        barrier_call(g, inst, inst->space);
        break;
    case MR_PTX_MODE_BULK:
    case MR_PTX_MODE_BULK_REDUCE:
        emit_bulk(g, inst);
        break;
    case MR_PTX_MODE_BULK_MASK:
        emit_masked(g, inst);
        break;
    case MR_PTX_MODE_TENSOR_TILE:
    case MR_PTX_MODE_TENSOR_COLUMNS:
    case MR_PTX_MODE_TENSOR_ROWS:
    case MR_PTX_MODE_TENSOR_WIDE:
        cg_emit_tensor(g, inst);
        break;
    default:
        break; /* groups are complete, and to prefetch is a hint */
    }
}

bool cg_emit_async(struct cg *g, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_CP:
        g->now.lanes = CG_LANES;
        emit_cp(g, inst);
        return true;
    case MR_PTX_OP_MBARRIER:
        g->now.lanes = CG_LANES;
        emit_mbarrier(g, inst);
        return true;
    case MR_PTX_OP_ST_BULK:
        g->now.lanes = CG_LANES;
        emit_zeros(g, inst);
        return true;
    case MR_PTX_OP_MULTIMEM:
        return emit_multimem(g, inst);
    case MR_PTX_OP_TENSORMAP:
        g->now.lanes = CG_LANES;
        (inst->mode == MR_PTX_MODE_MAP_COPY ? emit_map_copy : emit_map_change)(g, inst);
        return true;
    case MR_PTX_OP_ST_ASYNC:
    case MR_PTX_OP_RED_ASYNC:
        if (inst->mode == MR_PTX_MODE_PLAIN)
            return emit_plain(g, inst);
        g->now.lanes = CG_LANES;
        emit_remote(g, inst);
        return true;
    default:
        return false;
    }
}

/* --- Clusters of one ------------------------------------------------------------------ */

/* The block's own address for rank 0; one that leads nowhere for a block that does not exist. */
static void emit_mapa(struct cg *g, const struct mr_ptx_inst *inst)
{
    LLVMTypeRef type = cg_int_type(g, mr_ptx_type_bits((enum mr_ptx_type)inst->type[0]));
    LLVMValueRef a = cg_source(g, &inst->operands[1], type), rank = cg_source(g, &inst->operands[2], g->unit->i32);
    LLVMValueRef own = LLVMBuildICmp(g->b, LLVMIntEQ, rank, cg_int(g, g->unit->i32, 0), "");
    uint64_t nowhere = inst->space == MR_PTX_SPACE_SHARED_CLUSTER ? UINT64_C(0xf0000000) : 0;
    cg_write(g, &inst->operands[0], cg_select(g, own, a, cg_int(g, type, nowhere)));
}

/* clusterlaunchcontrol. An answer's 128 bits are ours: a word that says whether there is a block, and its place. */
static void emit_cancel(struct cg *g, const struct mr_ptx_inst *inst)
{
    struct cg_unit *unit = g->unit;
    if (inst->mode == MR_PTX_MODE_CANCEL) {
        g->now.lanes = CG_LANES;
        LLVMValueRef args[3] = {g->now.exec, address_of(g, &inst->operands[0], MR_PTX_SPACE_SHARED, 16),
                                address_of(g, &inst->operands[1], MR_PTX_SPACE_SHARED, 8)};
        cg_runtime_call(g, offsetof(struct mr_runtime, cancel), unit->void_type, args, 3);
        return;
    }
    LLVMTypeRef i128 = cg_int_type(g, 128);
    LLVMValueRef answer = cg_source(g, &inst->operands[1], i128), words[4];
    for (unsigned i = 0; i < 4; i++)
        words[i] = cg_resize(g, LLVMBuildLShr(g->b, answer, cg_int(g, i128, (uint64_t)i * 32), ""), unit->i32, false);
    if (inst->mode == MR_PTX_MODE_IS_CANCELED) {
        cg_write(g, &inst->operands[0], LLVMBuildICmp(g->b, LLVMIntNE, words[0], cg_int(g, unit->i32, 0), ""));
        return;
    }
    if (inst->mode != MR_PTX_MODE_FIRST_BLOCK) {
        cg_write(g, &inst->operands[0], words[1 + inst->mode - MR_PTX_MODE_FIRST_BLOCK_X]);
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        if (inst->operands[0].elements[i].kind != MR_PTX_OPERAND_SINK)
            cg_write(g, &inst->operands[0].elements[i], words[(i + 1) % 4]);
}

bool cg_emit_cluster(struct cg *g, const struct mr_ptx_inst *inst)
{
    switch (inst->op) {
    case MR_PTX_OP_CLUSTERLAUNCHCONTROL:
        emit_cancel(g, inst);
        return true;
    case MR_PTX_OP_MAPA:
        emit_mapa(g, inst);
        return true;
    case MR_PTX_OP_GETCTARANK:
        cg_write(g, &inst->operands[0], cg_int(g, g->unit->i32, 0));
        return true;
    case MR_PTX_OP_GRIDDEPCONTROL: /* a grid starts when those before it have ended */
        return true;
    default:
        return false;
    }
}
