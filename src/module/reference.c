/* SPDX-License-Identifier: Apache-2.0 */
/* The life of texture and surface references. */
#include "module/reference.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "module/module.h"
#include "object/context.h"

static void reference_finish(void *object)
{
    struct mr_reference *reference = object;
    if (reference->texture)
        (void)mr_texture_end(reference->texture);
    mr_object_drop(reference->context);
}

struct mr_reference *mr_reference_new(enum mr_kind kind, struct mr_context *context, uintptr_t place)
{
    struct mr_reference *reference = mr_object_new(kind, sizeof *reference, reference_finish);
    if (!reference)
        return NULL;
    mr_lock_init(&reference->lock, MR_LOCK_REFERENCE);
    mr_object_hold(context);
    reference->context = context;
    reference->place = place;
    reference->format = CU_AD_FORMAT_FLOAT;
    reference->channels = 1;
    for (unsigned i = 0; i < 3; i++)
        reference->desc.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    return reference;
}

struct mr_reference *mr_module_reference(struct mr_module *module, size_t symbol, enum mr_kind kind)
{
    struct mr_reference *reference = NULL;
    mr_lock_take(&module->lock);
    if (!module->references)
        module->references = mr_calloc(module->symbol_count, sizeof(struct mr_reference *));
    if (module->references && !(reference = module->references[symbol]))
        reference = module->references[symbol] = mr_reference_new(kind, module->context, module->symbols[symbol]);
    mr_lock_drop(&module->lock);
    return reference;
}

bool mr_module_owns(struct mr_module *module, const struct mr_reference *reference)
{
    bool owns = false;
    mr_lock_take(&module->lock);
    for (size_t i = 0; i < module->symbol_count && module->references && !owns; i++)
        owns = module->references[i] == reference;
    mr_lock_drop(&module->lock);
    return owns;
}

void mr_reference_set(struct mr_reference *reference, struct mr_texture *texture)
{
    MR_HELD(&reference->lock);
    struct mr_texture *old = reference->texture;
    uint64_t handle = texture ? (uint64_t)(uintptr_t)mr_object_handle(texture) : 0;
    reference->texture = texture;
    if (reference->place)
        atomic_store_explicit((_Atomic uint64_t *)reference->place, handle, memory_order_release);
    if (old)
        (void)mr_texture_end(old);
}

void mr_reference_part(struct mr_reference *reference)
{
    (void)mr_object_retire(reference);
    mr_lock_take(&reference->lock);
    reference->place = 0;
    mr_lock_drop(&reference->lock);
}

bool mr_reference_end(struct mr_reference *reference)
{
    if (!mr_object_retire(reference))
        return false;
    mr_object_drop(reference);
    return true;
}
