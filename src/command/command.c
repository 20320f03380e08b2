/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a command: where its record comes from, and what goes with it when it ends. */
#include "command/command.h"

#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "command/parts.h"
#include "kernel/launch.h"

/* Copies and fills need records of two cache lines, all others of one. */
#define SHORT_SIZE (offsetof(struct mr_command, copy) + 32)
_Static_assert(SHORT_SIZE <= 64 && sizeof(((struct mr_command *)0)->wait) <= 32 && sizeof(struct mr_async) <= 32,
               "most commands fit a cache line");

static struct mr_pool commands[] = {
    {.place = MR_POOL_COMMANDS, .size = SHORT_SIZE, .link = 0, .lock = MR_LOCK_INIT(POOL)},
    {.place = MR_POOL_COMMANDS + 1, .size = sizeof(struct mr_command), .link = 0, .lock = MR_LOCK_INIT(POOL)},
};

static bool is_long(enum mr_command_kind kind)
{
    return kind == MR_COMMAND_COPY || kind == MR_COMMAND_FILL;
}

struct mr_command *mr_command_new(enum mr_command_kind kind)
{
    struct mr_command *command = mr_pool_get(&commands[is_long(kind)]);
    if (!command)
        return NULL;
    memset(command, 0, is_long(kind) ? sizeof *command : SHORT_SIZE);
    command->kind = kind;
    return command;
}

void mr_command_free(struct mr_command *command)
{
    switch (command->kind) {
    case MR_COMMAND_COPY:
        if (command->copy.owns_source)
            mr_free((void *)(uintptr_t)command->copy.source);
        break;
    case MR_COMMAND_LAUNCH:
        if (command->launch)
            mr_launch_free(command->launch);
        break;
    case MR_COMMAND_WAIT:
        if (command->wait.on)
            mr_mark_drop(command->wait.on);
        break;
    case MR_COMMAND_PARTS:
        mr_parts_drop(command->parts);
        break;
    case MR_COMMAND_ASYNC:
        command->async.free(command->async.data);
        break;
    case MR_COMMAND_FILL:
    case MR_COMMAND_HOST:
    case MR_COMMAND_CALLBACK:
    case MR_COMMAND_RECORD:
    case MR_COMMAND_RELEASE:
        break;
    }
    if (command->mark)
        mr_mark_drop(command->mark);
    mr_pool_put(&commands[is_long(command->kind)], command);
}

/* Bytes of the staged source, up to where its origin stands. */
static size_t staged_bytes(const struct mr_copy *copy)
{
    size_t align = _Alignof(struct mr_copy_origin);
    return (copy->width * copy->height * copy->depth + align - 1) & ~(align - 1);
}

void *mr_copy_stage(const struct mr_copy *copy)
{
    size_t bytes = staged_bytes(copy);
    char *staged = mr_alloc(bytes + sizeof(struct mr_copy_origin));
    if (staged)
        *(struct mr_copy_origin *)(void *)(staged + bytes) =
            (struct mr_copy_origin){copy->source, copy->source_pitch, copy->source_slice};
    return staged;
}

const struct mr_copy_origin *mr_copy_origin(const struct mr_copy *copy)
{
    return (const void *)((const char *)copy->source + staged_bytes(copy));
}

const char *mr_command_name(enum mr_command_kind kind)
{
    static const char *const names[] = {
        [MR_COMMAND_COPY] = "copy",
        [MR_COMMAND_FILL] = "fill",
        [MR_COMMAND_LAUNCH] = "kernel launch",
        [MR_COMMAND_HOST] = "host function",
        [MR_COMMAND_PARTS] = "work of a library",
        [MR_COMMAND_CALLBACK] = "stream callback",
        [MR_COMMAND_RECORD] = "event record",
        [MR_COMMAND_WAIT] = "event wait",
        [MR_COMMAND_RELEASE] = "deferred release",
        [MR_COMMAND_ASYNC] = "work of several steps",
    };
    return names[kind];
}
