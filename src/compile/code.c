/* SPDX-License-Identifier: Apache-2.0 */
/* The machine code that a launch gets: what is there for its class of block shapes, what was made ahead (ahead.c), what
 * the cache has on disk, or what is made now. */
#include "base/alloc.h"
#include "compile/program.h"

/* Loads or makes the first version, and lets launches have it. */
static CUresult make(struct mr_program *program, size_t entry, unsigned shape)
{
    struct mr_variant *variant = mr_calloc(1, sizeof *variant);
    if (!variant)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult status = CUDA_SUCCESS;
    if (!mr_variant_from_disk(program, entry, shape, variant)) {
        mr_ahead_follow(program, entry, shape);
        status = mr_variant_new(program, entry, shape, MR_WANTED_BY_LAUNCH, variant);
    }
    if (status == CUDA_SUCCESS) {
        mr_tier_begin(variant);
        mr_variant_free(mr_variant_put(program, entry, shape, variant));
    } else {
        mr_free(variant);
    }
    return status;
}

/* One launch makes the code, and the others that need it wait. */
static void begin_making(struct mr_entry_code *code, unsigned shape)
{
    uint32_t bit = 1u << shape, before;
    while ((before = atomic_fetch_or_explicit(&code->in_making, bit, memory_order_acquire)) & bit)
        mr_futex_wait(&code->in_making, before, UINT64_MAX);
}

static void end_making(struct mr_entry_code *code, unsigned shape)
{
    atomic_fetch_and_explicit(&code->in_making, ~(1u << shape), memory_order_release);
    mr_futex_wake(&code->in_making, INT32_MAX);
}

static CUresult add_variant(struct mr_program *program, size_t entry, unsigned shape, struct mr_variant **out)
{
    struct mr_entry_code *code = &program->code[entry];
    _Atomic(struct mr_variant *) *place = &code->variants[shape];
    CUresult status = CUDA_SUCCESS;
    atomic_store_explicit(&code->asked, true, memory_order_relaxed);
    begin_making(code, shape);
    mr_ahead_collect(program, entry, shape);
    if (atomic_load_explicit(place, memory_order_acquire))
        mr_ahead_follow(program, entry, shape);
    else
        status = make(program, entry, shape);
    *out = atomic_load_explicit(place, memory_order_acquire);
    end_making(code, shape);
    return status;
}

CUresult mr_program_code(struct mr_program *program, size_t entry, const unsigned block[3], const struct mr_code **out)
{
    unsigned shape = mr_shape_class(block);
    if (entry >= program->entry_count)
        return CUDA_ERROR_INVALID_VALUE;
    struct mr_variant *variant = atomic_load_explicit(&program->code[entry].variants[shape], memory_order_acquire);
    if (__builtin_expect(!variant, 0)) {
        CUresult status = add_variant(program, entry, shape, &variant);
        if (status != CUDA_SUCCESS)
            return status;
    }
    *out = &variant->code;
    return CUDA_SUCCESS;
}
