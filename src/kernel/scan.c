/* SPDX-License-Identifier: Apache-2.0 */
/* Which block of a large function runs next: the first in scan order in front of which lanes are parked. Small
 * functions have this written out at the end of each block; generated code of large ones asks here. The order is
 * mr_flow_scan's (compile/codegen/analysis/pending.c): ring by ring from the inside, what follows in the loop, then the
 * loop from its head. Or the block is drawn. */
#include "kernel/scan.h"

struct scan {
    const uint32_t *table;
    const void *masks;
    uint32_t order, first, end;   /* the loop that gives way: those inside come later */
    uint32_t found[4]; /* the first block of each class; a class is taken if there is nothing in those before it */
};

static bool has_lanes(const struct scan *scan, uint32_t block)
{
    return scan->table[MR_SCAN_WIDE] ? ((const uint64_t *)scan->masks)[block] != 0
                                     : ((const uint32_t *)scan->masks)[block] != 0;
}

static uint32_t class_of(const struct scan *scan, uint32_t block)
{
    bool barrier = scan->table[MR_SCAN_HEAD + block] & MR_SCAN_MARK;
    if (scan->order == MR_SCAN_ORDER_BARRIERS)
        return !barrier;
    return (barrier ? 2u : 0u) + (block >= scan->first && block < scan->end);
}

/* True if a block of the best class is among these. */
static bool look(struct scan *scan, uint32_t from, uint32_t end)
{
    for (uint32_t b = from; b < end; b++) {
        if (!has_lanes(scan, b))
            continue;
        uint32_t class = class_of(scan, b);
        if (scan->found[class] == MR_SCAN_NONE)
            scan->found[class] = b;
        if (class == 0)
            return true;
    }
    return false;
}

/* The first block with lanes from a drawn place on, all around; barriers count last. */
static uint32_t draw(const struct scan *scan, uint32_t drawn)
{
    uint32_t count = scan->table[MR_SCAN_BLOCKS], start = (uint32_t)((uint64_t)drawn * count >> 16);
    uint32_t barrier = MR_SCAN_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = start + i < count ? start + i : start + i - count;
        if (!has_lanes(scan, b))
            continue;
        if (!(scan->table[MR_SCAN_HEAD + b] & MR_SCAN_MARK))
            return b;
        barrier = barrier == MR_SCAN_NONE ? b : barrier;
    }
    return barrier;
}

uint32_t mr_scan_next(struct mr_block *block, const void *masks, const void *registers, const uint32_t *table,
                      uint32_t at, uint32_t order)
{
    (void)block;
    (void)registers;
    struct scan scan = {table, masks, order, 0, 0, {MR_SCAN_NONE, MR_SCAN_NONE, MR_SCAN_NONE, MR_SCAN_NONE}};
    if ((order & ((1u << MR_SCAN_ORDER_BITS) - 1)) == MR_SCAN_ORDER_DRAWN)
        return draw(&scan, order >> MR_SCAN_ORDER_BITS);
    const uint32_t *loops = table + MR_SCAN_HEAD + table[MR_SCAN_BLOCKS];
    uint32_t own = table[MR_SCAN_HEAD + at] & ~MR_SCAN_MARK, low = at + 1, high = at + 1;
    for (uint32_t loop = own; order == MR_SCAN_ORDER_OUTSIDE && loop != MR_SCAN_NO_LOOP;
         loop = loops[3 * loop + 2] & ~MR_SCAN_MARK)
        if (loops[3 * loop + 2] & MR_SCAN_MARK) {
            scan.first = loops[3 * loop];
            scan.end = loops[3 * loop + 1];
            break;
        }
    for (uint32_t loop = own;; loop = loops[3 * loop + 2] & ~MR_SCAN_MARK) {
        bool last = loop == MR_SCAN_NO_LOOP;
        uint32_t first = last ? 0 : loops[3 * loop], end = last ? table[MR_SCAN_BLOCKS] : loops[3 * loop + 1];
        if (look(&scan, high, end) || look(&scan, first, low) || last)
            break;
        high = end;
        low = first;
    }
    for (unsigned i = 0; i < 4; i++)
        if (scan.found[i] != MR_SCAN_NONE)
            return scan.found[i];
    return MR_SCAN_NONE;
}
