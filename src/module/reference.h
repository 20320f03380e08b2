/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface references: variables of a module that the program binds arrays and memory to, from before there
 * were texture objects.
 *
 * The variable's 8 bytes in the module hold the handle of a texture or surface object that the driver makes for the
 * reference, or 0. */
#ifndef MR_MODULE_REFERENCE_H
#define MR_MODULE_REFERENCE_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/thread.h"
#include "module/texture.h"
#include "object/handle.h"

struct mr_context;

struct mr_reference {
    struct mr_object object;            /* MR_KIND_TEXREF or MR_KIND_SURFREF */
    struct mr_context *context;         /* counted */
    uintptr_t place;                    /* the variable; 0 for one that cuTexRefCreate made */
    mr_lock lock;                       /* guards what follows */
    struct mr_texture *texture;         /* counted; what is in the variable, or NULL */
    bool bound;                         /* `resource` says to what */
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    CUarray_format format;              /* of linear memory */
    unsigned channels;
};

/* A reference with the settings that it has at first. NULL when memory is short. */
struct mr_reference *mr_reference_new(enum mr_kind kind, struct mr_context *context, uintptr_t place)
    __attribute__((warn_unused_result));

/* Puts a texture, or nothing, into the variable; takes over the reference. The lock is held; no kernel runs that may
 * read it. */
void mr_reference_set(struct mr_reference *reference, struct mr_texture *texture);

/* Ends the handle of one whose module is unloaded: from then on the variable stays as it is, for kernels in flight. The
 * module keeps the reference. */
void mr_reference_part(struct mr_reference *reference);

/* Ends one that cuTexRefCreate made; false if it has ended already. */
bool mr_reference_end(struct mr_reference *reference);

#endif
