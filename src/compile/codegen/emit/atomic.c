/* SPDX-License-Identifier: Apache-2.0 */

/*
 * atom and red. What they do to a place is in atomic_operation.c; lanes at one place go together (atomic_together.c),
 * others take their turns in order (atomic_lanes.c).
 */
#include "compile/codegen/emit/atomic.h"
#include "compile/codegen/operands/touch.h"

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

/* An operation on a vector is one on each of its elements. */
static void each_element(struct cg *g, struct cg_atomic *a, const struct cg_address *address)
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
        old[i] = cg_atomic_lanes(g, a, &place, given[i], NULL);
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
    struct cg_atomic a = {.inst = inst,
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
    LLVMValueRef old = cg_atomic_lanes(g, &a, &address, b, c);
    if (old)
        cg_write(g, a.result, old);
    return true;
}
