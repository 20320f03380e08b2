/* SPDX-License-Identifier: Apache-2.0 */
/* Reading lines, and sharing them out. */
#include "libs/cusparse/lines.h"

#define PART_COST 32768 /* entries and lines of a part */
#define MOST_PARTS 4096

uint64_t mr_lines_parts(const struct cusparseSpMatDescr *matrix, int64_t weight)
{
    int64_t lines = mr_lines(matrix);
    if (lines == 0)
        return 0;
    double cost = ((double)matrix->nnz + (double)lines) * (double)(weight > 0 ? weight : 1);
    double parts = cost / PART_COST + 1;
    if (parts > MOST_PARTS)
        parts = MOST_PARTS;
    return parts > (double)lines ? (uint64_t)lines : (uint64_t)parts;
}

int64_t mr_index_bound(const void *at, cusparseIndexType_t type, int64_t count, int64_t wanted)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (mr_index(at, type, middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t mr_lines_before(const struct cusparseSpMatDescr *m, int64_t line)
{
    switch (m->format) {
    case CUSPARSE_FORMAT_CSR:
    case CUSPARSE_FORMAT_CSC:
        return mr_index(m->offsets, m->offset_type, line) - m->base;
    case CUSPARSE_FORMAT_COO:
        return mr_index_bound(m->offsets, m->offset_type, m->nnz, line + m->base);
    case CUSPARSE_FORMAT_BSR: {
        int64_t block = line / m->block_rows, first = mr_index(m->offsets, m->offset_type, block) - m->base;
        if (line % m->block_rows == 0)
            return first * m->block_rows * m->block_cols;
        int64_t here = mr_index(m->offsets, m->offset_type, block + 1) - m->base - first;
        return first * m->block_rows * m->block_cols + here * m->block_cols * (line % m->block_rows);
    }
    case CUSPARSE_FORMAT_BLOCKED_ELL:
        return line * m->ell_cols;
    case CUSPARSE_FORMAT_SLICED_ELLPACK: {
        int64_t slice = line / m->slice_size, first = mr_index(m->offsets, m->offset_type, slice);
        if (line % m->slice_size == 0)
            return first - m->base;
        int64_t all = mr_index(m->offsets, m->offset_type, slice + 1) - first;
        return first - m->base + all / m->slice_size * (line % m->slice_size);
    }
    }
    return 0;
}

int64_t mr_lines_cut(const struct cusparseSpMatDescr *matrix, uint64_t part, uint64_t parts)
{
    int64_t lines = mr_lines(matrix);
    if (part == 0)
        return 0;
    if (part >= parts)
        return lines;
    int64_t all = mr_lines_before(matrix, lines) + lines;
    int64_t wanted = (int64_t)((double)all / (double)parts * (double)part);
    int64_t low = 0, high = lines;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (mr_lines_before(matrix, middle) + middle < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What a line of each format is made of: `groups` groups of `each` neighbouring places across, whose indices are
 * `index_step` apart from `index_at` on, and whose values begin at `value_at`, `group_step` from group to group, and
 * are `value_step` apart. */
struct shape {
    int64_t groups, each, index_at, index_step, value_at, group_step, value_step;
};

static struct shape shape_of(const struct cusparseSpMatDescr *m, int64_t line)
{
    switch (m->format) {
    case CUSPARSE_FORMAT_CSR:
    case CUSPARSE_FORMAT_CSC: {
        int64_t at = mr_index(m->offsets, m->offset_type, line) - m->base;
        int64_t count = mr_index(m->offsets, m->offset_type, line + 1) - m->base - at;
        return (struct shape){count, 1, at, 1, at, 1, 1};
    }
    case CUSPARSE_FORMAT_COO: {
        int64_t at = mr_lines_before(m, line), count = mr_lines_before(m, line + 1) - at;
        return (struct shape){count, 1, at, 1, at, 1, 1};
    }
    case CUSPARSE_FORMAT_BSR: {
        int64_t block = line / m->block_rows, within = line % m->block_rows, size = m->block_rows * m->block_cols;
        int64_t at = mr_index(m->offsets, m->offset_type, block) - m->base;
        int64_t count = mr_index(m->offsets, m->offset_type, block + 1) - m->base - at;
        bool by_row = m->block_order == CUSPARSE_ORDER_ROW;
        return (struct shape){count,
                              m->block_cols,
                              at,
                              1,
                              at * size + (by_row ? within * m->block_cols : within),
                              size,
                              by_row ? 1 : m->block_rows};
    }
    case CUSPARSE_FORMAT_BLOCKED_ELL: {
        int64_t each = m->block_cols, count = m->ell_cols / each;
        return (struct shape){count, each, line / each * count, 1, line * m->ell_cols, each, 1};
    }
    case CUSPARSE_FORMAT_SLICED_ELLPACK: {
        int64_t slice = line / m->slice_size;
        int64_t first = mr_index(m->offsets, m->offset_type, slice);
        int64_t count = (mr_index(m->offsets, m->offset_type, slice + 1) - first) / m->slice_size;
        int64_t at = first - m->base + line % m->slice_size;
        return (struct shape){count, 1, at, m->slice_size, at, m->slice_size, 1};
    }
    }
    return (struct shape){0};
}

static void conjugate(enum mr_type type, void *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (type == MR_C)
            ((float *)values)[2 * i + 1] = -((float *)values)[2 * i + 1];
        else
            ((double *)values)[2 * i + 1] = -((double *)values)[2 * i + 1];
}

bool mr_line(const struct mr_reader *r, int64_t line, struct mr_entries *entries)
{
    const struct cusparseSpMatDescr *m = r->matrix;
    struct shape s = shape_of(m, line);
    int64_t most = s.groups > 0 ? s.groups * s.each : 0, count = 0;
    size_t size = mr_type_size(r->type), stored = mr_element_size(m->type);
    int64_t *index = mr_math_scratch(r->slot, (size_t)most * sizeof *index);
    void *value = mr_math_scratch(r->slot + 1, (size_t)most * (r->places ? sizeof(int64_t) : size));
    if (!index || !value)
        return false;
    const char *indices = m->indices, *values = m->values;
    bool plain = s.each == 1 && s.group_step == 1;
    for (int64_t g = 0; g < s.groups; g++) {
        int64_t across = mr_index(indices, m->index_type, s.index_at + g * s.index_step) - m->base;
        if (across < 0 && !plain) /* padding of ELL */
            continue;
        for (int64_t e = 0; e < s.each; e++)
            index[count + e] = across * s.each + e;
        int64_t at = s.value_at + g * s.group_step;
        if (r->places)
            for (int64_t e = 0; e < s.each; e++)
                ((int64_t *)value)[count + e] = at + e * s.value_step;
        else if (!plain)
            mr_take(m->type, values + (size_t)at * stored, s.value_step, s.each, r->type,
                    (char *)value + (size_t)count * size);
        count += s.each;
    }
    *entries = (struct mr_entries){.count = count, .index = index, .value = value};
    if (r->places) {
        entries->place = value;
        entries->value = NULL;
    } else if (plain && m->type == mr_stored(r->type) && !r->conjugated)
        entries->value = values + (size_t)s.value_at * stored;
    else if (plain)
        mr_take(m->type, values + (size_t)s.value_at * stored, 1, count, r->type, value);
    if (r->conjugated && mr_type_is_complex(r->type) && !r->places)
        conjugate(r->type, value, count);
    return true;
}
