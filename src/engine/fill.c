/* SPDX-License-Identifier: Apache-2.0 */
/* Fills: bytes, half words and words, in rows.
 *
 * A value whose bytes are all equal is a memset, whatever the element. Other values are stored in plain loops that the
 * compiler vectorises; elements are aligned, since misaligned fills are refused by the API. */
#include "engine/transfer.h"

#include <stdint.h>
#include <string.h>

/* The value widened to 32 bits by repetition. */
static uint32_t repeat(uint32_t value, unsigned element)
{
    if (element == 1)
        return (value & 0xff) * 0x01010101u;
    if (element == 2)
        return (value & 0xffff) * 0x00010001u;
    return value;
}

static void fill_row(void *row, size_t count, unsigned element, uint32_t pattern)
{
    if (pattern == (pattern & 0xff) * 0x01010101u) {
        memset(row, (int)(pattern & 0xff), count * element);
    } else if (element == 2) {
        uint16_t *to = row, value = (uint16_t)pattern;
        for (size_t i = 0; i < count; i++)
            to[i] = value;
    } else {
        uint32_t *to = row;
        for (size_t i = 0; i < count; i++)
            to[i] = pattern;
    }
}

void mr_fill_execute(const struct mr_fill *fill)
{
    uint32_t pattern = repeat(fill->value, fill->element);
    if (fill->pitch == fill->width * fill->element) {
        fill_row(fill->destination, fill->width * fill->height, fill->element, pattern);
        return;
    }
    char *row = fill->destination;
    for (size_t y = 0; y < fill->height; y++, row += fill->pitch)
        fill_row(row, fill->width, fill->element, pattern);
}
