/* SPDX-License-Identifier: Apache-2.0 */
/* The life of texture and surface references. */
#include "module/reference.h"

#include <stdatomic.h>

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
