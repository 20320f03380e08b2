/* SPDX-License-Identifier: Apache-2.0 */
/* The life of texture and surface objects. They keep what they read alive, so that a kernel in flight never reads an
 * array's memory after somebody else got it. */
#include "module/texture.h"

#include "object/context.h"

static void texture_finish(void *object)
{
    struct mr_texture *texture = object;
    if (texture->holder)
        mr_object_drop(texture->holder);
    mr_object_drop(texture->context);
}

struct mr_texture *mr_texture_new(enum mr_kind kind, struct mr_context *context, void *holder)
{
    struct mr_texture *texture = mr_object_new(kind, sizeof *texture, texture_finish);
    if (!texture)
        return NULL;
    mr_object_hold(context);
    texture->context = context;
    if (holder)
        mr_object_hold(holder);
    texture->holder = holder;
    return texture;
}

bool mr_texture_end(struct mr_texture *texture)
{
    if (!mr_object_retire(texture))
        return false;
    mr_object_drop(texture);
    return true;
}

static void end_texture(void *object, void *data)
{
    struct mr_texture *texture = object;
    if (texture->context == data)
        (void)mr_texture_end(texture);
}

void mr_textures_end_all(struct mr_context *context)
{
    mr_object_each(MR_KIND_TEXTURE, end_texture, context);
    mr_object_each(MR_KIND_SURFACE, end_texture, context);
}
