/* SPDX-License-Identifier: Apache-2.0 */
/* Making few boxes of many that hold the same bytes.
 *
 * Stretches that touch or overlap become one. Boxes of the same rows whose stretches touch become wider; where they
 * fill their pitch, they are a stretch. Boxes of the same width and pitch, one below the other, become one with more
 * rows. Stretches of one width at even distances become a box. This is repeated as long as it makes a difference. */
#include <stdlib.h>

#include "kernel/touched.h"

#define ROUNDS_MOST 4u

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_first(const void *left, const void *right)
{
    const struct mr_box *a = left, *b = right;
    return compare(a->first, b->first);
}

/* Stretches first, by where they begin; then boxes of the same rows side by side. */
static int by_rows(const void *left, const void *right)
{
    const struct mr_box *a = left, *b = right;
    int order = compare(a->rows > 1, b->rows > 1);
    if (order == 0 && a->rows > 1) {
        order = compare(a->pitch, b->pitch);
        if (order == 0)
            order = compare(a->rows, b->rows);
    }
    return order ? order : by_first(left, right);
}

/* Boxes of the same width and pitch, one below the other in each column. */
static int by_column(const void *left, const void *right)
{
    const struct mr_box *a = left, *b = right;
    int order = compare(a->pitch, b->pitch);
    if (order == 0)
        order = compare(a->width, b->width);
    if (order == 0 && a->pitch)
        order = compare(a->first % a->pitch, b->first % b->pitch);
    return order ? order : by_first(left, right);
}

/* Sorted stretches: those that touch become one. */
static uint32_t join_stretches(struct mr_box *boxes, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct mr_box *last = kept ? &boxes[kept - 1] : NULL;
        if (last && boxes[i].first <= last->first + last->width) {
            uint64_t end = boxes[i].first + boxes[i].width;
            if (end > last->first + last->width)
                last->width = end - last->first;
        } else {
            boxes[kept++] = boxes[i];
        }
    }
    return kept;
}

/* Boxes sorted by rows: those that touch within their rows become one, and a stretch where they fill the pitch. */
static uint32_t join_columns(struct mr_box *boxes, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct mr_box *last = kept ? &boxes[kept - 1] : NULL, box = boxes[i];
        bool same = last && last->rows == box.rows && last->pitch == box.pitch;
        uint64_t ahead = same ? box.first - last->first : 0;
        if (same && ahead <= last->width && ahead + box.width <= box.pitch) {
            if (ahead + box.width > last->width)
                last->width = ahead + box.width;
        } else {
            boxes[kept++] = box;
        }
    }
    for (uint32_t i = 0; i < kept; i++)
        if (boxes[i].width == boxes[i].pitch)
            boxes[i] = (struct mr_box){boxes[i].first, boxes[i].pitch * boxes[i].rows, 1, 0};
    return kept;
}

/* Boxes sorted by column: those that follow or overlap each other become one. */
static uint32_t join_rows(struct mr_box *boxes, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct mr_box *last = kept ? &boxes[kept - 1] : NULL, box = boxes[i];
        bool same =
            last && last->width == box.width && last->pitch == box.pitch && (box.first - last->first) % box.pitch == 0;
        uint64_t ahead = same ? (box.first - last->first) / box.pitch : 0;
        if (same && ahead <= last->rows) {
            if (ahead + box.rows > last->rows)
                last->rows = ahead + box.rows;
        } else {
            boxes[kept++] = box;
        }
    }
    return kept;
}

/* Sorted stretches: three or more of one width at even distances become a box. */
static uint32_t make_boxes(struct mr_box *boxes, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count;) {
        struct mr_box box = boxes[i];
        uint64_t pitch = i + 1 < count ? boxes[i + 1].first - box.first : 0;
        uint32_t end = i + 1;
        while (end < count && boxes[end].width == box.width && boxes[end].first - boxes[end - 1].first == pitch)
            end++;
        if (end - i >= 3) {
            box.rows = end - i;
            box.pitch = pitch;
            i = end;
        } else {
            i++;
        }
        boxes[kept++] = box;
    }
    return kept;
}

uint32_t mr_boxes_join(struct mr_box *boxes, uint32_t count)
{
    uint32_t before = count < 2 ? count : 0;
    for (unsigned round = 0; round < ROUNDS_MOST && count != before; round++) {
        before = count;
        qsort(boxes, count, sizeof *boxes, by_rows);
        uint32_t flat = 0;
        while (flat < count && boxes[flat].rows == 1)
            flat++;
        uint32_t kept = join_stretches(boxes, flat);
        kept = make_boxes(boxes, kept);
        for (uint32_t i = flat; i < count; i++)
            boxes[kept + i - flat] = boxes[i];
        count = kept + count - flat;
        qsort(boxes, count, sizeof *boxes, by_rows);
        for (flat = 0; flat < count && boxes[flat].rows == 1;)
            flat++;
        uint32_t tall = join_columns(boxes + flat, count - flat);
        qsort(boxes + flat, tall, sizeof *boxes, by_column);
        uint32_t level = 0; /* those that have become stretches stand first: they have no pitch */
        while (level < tall && boxes[flat + level].rows == 1)
            level++;
        count = flat + level + join_rows(boxes + flat + level, tall - level);
    }
    return count;
}
