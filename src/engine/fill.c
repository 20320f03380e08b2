/* SPDX-License-Identifier: Apache-2.0 */
/* Fills: bytes, half words and words, in rows.
 *
 * Every element is a part or the whole of a pattern of four bytes, so a row is one run of that pattern (bulk.c), and
 * rows without gaps are one run together. */
#include "engine/transfer.h"

#include <stdint.h>

#include "engine/bulk.h"

uint32_t mr_fill_pattern(uint32_t value, unsigned element)
{
    if (element == 1)
        return (value & 0xff) * 0x01010101u;
    if (element == 2)
        return (value & 0xffff) * 0x00010001u;
    return value;
}

void mr_fill_execute(const struct mr_fill *fill)
{
    uint32_t pattern = mr_fill_pattern(fill->value, fill->element);
    if (fill->pitch == fill->width * fill->element) {
        mr_bulk_fill(fill->destination, pattern, fill->width * fill->height * fill->element, false);
        return;
    }
    char *row = fill->destination;
    for (size_t y = 0; y < fill->height; y++, row += fill->pitch)
        mr_bulk_fill(row, pattern, fill->width * fill->element, false);
}
