/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting long copies and fills into pieces, which the engine shares out as it does the blocks of a grid. What a
 * library gives in parts is cut already.
 *
 * One core moves about half of what a small machine's memory can, and a tenth of a large one's. A piece takes about a
 * tenth of a millisecond, so that waking another thread for it pays. */
#include "command/parts.h"
#include "engine/bulk.h"
#include "engine/transfer.h"

#define PIECE ((size_t)1 << 20)
#define SHARE_LEAST ((size_t)4 << 20)   /* less is left to one thread */

/* The copy's bytes if it is a single run; 0 if it is several runs, or may not be cut. */
static size_t copy_run(const struct mr_copy *copy)
{
    uintptr_t to = (uintptr_t)copy->destination, from = (uintptr_t)copy->source;
    size_t size = copy->width;
    if (copy->height > 1) {
        if (copy->destination_pitch != size || copy->source_pitch != size)
            return 0;
        size *= copy->height;
    }
    if (copy->depth > 1) {
        if (copy->destination_slice != size || copy->source_slice != size)
            return 0;
        size *= copy->depth;
    }
    return (to > from ? to - from : from - to) >= size && copy->height && copy->depth ? size : 0;
}

static size_t fill_run(const struct mr_fill *fill)
{
    size_t row = fill->width * fill->element;
    return fill->height <= 1 || fill->pitch == row ? row * fill->height : 0;
}

static size_t run_of(const struct mr_command *command)
{
    if (command->kind == MR_COMMAND_COPY)
        return copy_run(&command->copy);
    return command->kind == MR_COMMAND_FILL ? fill_run(&command->fill) : 0;
}

uint64_t mr_transfer_pieces(const struct mr_command *command)
{
    if (command->kind == MR_COMMAND_PARTS)
        return command->parts->count;
    size_t size = run_of(command);
    return size < SHARE_LEAST ? 1 : (size + PIECE - 1) / PIECE;
}

void mr_transfer_run(const struct mr_command *command, uint64_t first, uint64_t end)
{
    if (command->kind == MR_COMMAND_PARTS) {
        command->parts->run(command->parts->data, first, end);
        return;
    }
    size_t size = run_of(command), start = first * PIECE;
    size_t bytes = end * PIECE < size ? (end - first) * PIECE : size - start;
    if (command->kind == MR_COMMAND_COPY)
        mr_bulk_copy((char *)command->copy.destination + start, (const char *)command->copy.source + start, bytes,
                     true);
    else
        mr_bulk_fill((char *)command->fill.destination + start,
                     mr_fill_pattern(command->fill.value, command->fill.element), bytes, true);
}
