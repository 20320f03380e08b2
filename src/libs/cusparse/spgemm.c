/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse matrix times sparse matrix, in CSR: C = alpha * A * B + beta * C.
 *
 * Row i of C is the sum of the rows of B that row i of A names. A row's *products* are what is multiplied for it. They
 * are added up in a table by column, and read out in the columns' order. Each sum is taken in the order of A's and B's
 * entries, so the result does not depend on how rows are shared out among parts.
 *
 * The first step counts each row's products, the second its entries; what they find lies in the program's buffers, as
 * sums over the rows before. The last step computes. */
#include "libs/cusparse/spgemm.h"

#include "libs/cusparse/finish.h"
#include "libs/cusparse/lines.h"

#define PART_PRODUCTS 32768
#define MOST_PARTS 1024

struct spgemm {
    struct cusparseSpMatDescr a, b, c;
    enum mr_type type;
    struct mr_scalar alpha, beta;
    int64_t *products; /* rows + 1: products of the rows before; first each row's, one place further */
    int64_t *counts; /* the same of entries */
    int64_t *total, *least; /* in the caller's frame */
    int64_t each; /* rows of a part, where products are not known yet */
    uint64_t parts;
    bool values, structure; /* what is written */
    const char *name;
};

static int64_t offset(const struct cusparseSpMatDescr *m, int64_t row)
{
    return mr_index(m->offsets, m->offset_type, row) - m->base;
}

/* ---- tables ---- */

/* A row's columns and sums. A *plain* table has a sum for every column of B, and a bit that says whether the column is
 * there. All are 0 before a row, and are made 0 again when it is read out. Where B has too many columns, a hash finds
 * the place, and all places are cleared for each row. */
struct table {
    bool is_plain;
    uint64_t *there; /* plain: a bit for each column */
    int64_t least, most; /* plain: the least and the greatest column of the row */
    int64_t *column; /* hashed: -1 for a free place */
    uint64_t mask;
    void *value;
    int64_t *used; /* the columns that are there, where they are listed */
    int64_t count;
};

#define PLAIN ((size_t)64 << 20) /* bytes of values, at most */

/* Before the rows of some parts. `products` is that of the row that has most. A size of 0: no values. */
static bool table_begin(struct table *table, int64_t products, int64_t columns, size_t size)
{
    *table = (struct table){.is_plain = (size_t)columns * (size ? size : 1) <= PLAIN};
    int64_t entries = products < columns ? products : columns;
    table->used = mr_math_scratch(2, (size_t)entries * sizeof(int64_t));
    if (table->is_plain) {
        size_t words = ((size_t)columns / 64 + 8) & ~(size_t)7;
        table->there = mr_math_zeros(words * sizeof(uint64_t) + (size_t)columns * size);
        table->value = table->there ? table->there + words : NULL;
        return table->there && table->used;
    }
    uint64_t capacity = 16;
    while (capacity < (uint64_t)entries * 2 + 2)
        capacity *= 2;
    table->mask = capacity - 1;
    table->column = mr_math_scratch(0, capacity * sizeof(int64_t));
    table->value = mr_math_scratch(1, capacity * size);
    return table->column && table->value && table->used;
}

/* Before a row. */
static void table_row(struct table *table)
{
    table->count = 0;
    table->least = INT64_MAX;
    table->most = -1;
    if (!table->is_plain)
        memset(table->column, 0xff, (table->mask + 1) * sizeof(int64_t));
}

/* The column's place in a hashed table; *is_new if it was not there. */
static inline int64_t table_find(struct table *table, int64_t column, bool *is_new)
{
    uint64_t at = (uint64_t)column * 0x9e3779b97f4a7c15u >> 20 & table->mask;
    while (table->column[at] != column && table->column[at] >= 0)
        at = (at + 1) & table->mask;
    *is_new = table->column[at] < 0;
    table->column[at] = column;
    if (*is_new)
        table->used[table->count++] = column;
    return (int64_t)at;
}

/* Whether a plain row is read out in the order of the bits: unless its columns lie so far from each other that sorting
 * takes less time. */
static bool is_dense(const struct table *table, int64_t products)
{
    return (table->most >> 6) - (table->least >> 6) <= 8 * products + 8;
}

static void sort(int64_t *keys, int64_t count)
{
    while (count > 24) {
        int64_t a = keys[0], b = keys[count / 2], c = keys[count - 1];
        int64_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        int64_t low = 0, high = count - 1;
        while (low <= high) {
            while (keys[low] < pivot)
                low++;
            while (keys[high] > pivot)
                high--;
            if (low <= high) {
                int64_t key = keys[low];
                keys[low++] = keys[high];
                keys[high--] = key;
            }
        }
        if (high + 1 < count - low) { /* the shorter half first */
            sort(keys, high + 1);
            keys += low;
            count -= low;
        } else {
            sort(keys + low, count - low);
            count = high + 1;
        }
    }
    for (int64_t i = 1; i < count; i++) {
        int64_t key = keys[i], j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

/* Where a sum lies that is there. */
static inline int64_t table_place(const struct table *table, int64_t column)
{
    if (table->is_plain)
        return column;
    uint64_t at = (uint64_t)column * 0x9e3779b97f4a7c15u >> 20 & table->mask;
    while (table->column[at] != column)
        at = (at + 1) & table->mask;
    return (int64_t)at;
}

/* ---- steps ---- */

static void run_products(void *data, uint64_t first, uint64_t end)
{
    const struct spgemm *r = data;
    struct mr_span span = mr_span(first, end, r->each, r->a.rows);
    int64_t least = 0;
    for (int64_t i = span.begin; i < span.stop; i++) {
        int64_t sum = 0, most = 0, stop = offset(&r->a, i + 1);
        for (int64_t k = offset(&r->a, i); k < stop; k++) {
            int64_t row = mr_index(r->a.indices, r->a.index_type, k) - r->a.base;
            int64_t count = offset(&r->b, row + 1) - offset(&r->b, row);
            sum += count;
            most = count > most ? count : most;
        }
        r->products[i + 1] = sum;
        least += most;
    }
    __atomic_fetch_add(r->least, least, __ATOMIC_RELAXED);
}

static void add_up(int64_t *counts, int64_t rows, int64_t *total)
{
    counts[0] = 0;
    for (int64_t i = 0; i < rows; i++)
        counts[i + 1] += counts[i];
    *total = counts[rows];
}

static void run_add_products(void *data, uint64_t first, uint64_t end)
{
    const struct spgemm *r = data;
    (void)first, (void)end;
    add_up(r->products, r->a.rows, r->total);
}

static void run_add_counts(void *data, uint64_t first, uint64_t end)
{
    const struct spgemm *r = data;
    (void)first, (void)end;
    add_up(r->counts, r->a.rows, r->total);
}

/* The first row of a part: parts have about as many products and rows as each other. */
static int64_t cut(const struct spgemm *r, uint64_t part)
{
    int64_t all = r->products[r->a.rows] + r->a.rows;
    int64_t wanted = (int64_t)((double)all / (double)r->parts * (double)part), low = 0, high = r->a.rows;
    if (part >= r->parts)
        return r->a.rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (r->products[middle] + middle < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The greatest number of products that a row of these has. */
static int64_t most_products(const struct spgemm *r, int64_t begin, int64_t stop)
{
    int64_t most = 0;
    for (int64_t i = begin; i < stop; i++)
        most = r->products[i + 1] - r->products[i] > most ? r->products[i + 1] - r->products[i] : most;
    return most;
}

/* The columns of row i of the result: FIND puts them into the table, LIST takes them out of the bits of a plain one, as
 * a list in no order. */
#define EACH_PRODUCT(width, index_t) \
    const index_t *left = r->a.indices, *right = r->b.indices, *rows = r->b.offsets; \
    int64_t base = r->b.base, last = offset(&r->a, i + 1); \
    for (int64_t k = offset(&r->a, i); k < last; k++) \
        for (int64_t row = left[k] - (int64_t)r->a.base, l = rows[row] - base, stop = rows[row + 1] - base; l < stop; \
             l++)
#define MARK(column) \
    table->there[(column) >> 6] |= (uint64_t)1 << ((column) & 63); \
    least = (column) < least ? (column) : least; \
    most = (column) > most ? (column) : most
#define FIND(width, index_t) \
    static void find_##width(const struct spgemm *r, int64_t i, struct table *table) \
    { \
        int64_t least = INT64_MAX, most = -1; \
        bool is_new; \
        EACH_PRODUCT(width, index_t) \
        { \
            int64_t column = right[l] - base; \
            if (table->is_plain) { \
                MARK(column); \
            } else { \
                (void)table_find(table, column, &is_new); \
            } \
        } \
        table->least = least; \
        table->most = most; \
    } \
    static void list_##width(const struct spgemm *r, int64_t i, struct table *table) \
    { \
        EACH_PRODUCT(width, index_t) \
        { \
            int64_t column = right[l] - base; \
            uint64_t bit = (uint64_t)1 << (column & 63), *word = &table->there[column >> 6]; \
            if (*word & bit) \
                table->used[table->count++] = column; \
            *word &= ~bit; \
        } \
    }
FIND(32, int32_t)
FIND(64, int64_t)

/* Counts a row's bits, and clears them. */
static int64_t count_bits(const struct table *table)
{
    int64_t count = 0;
    for (int64_t w = table->least >> 6; w <= table->most >> 6; w++) {
        count += __builtin_popcountll(table->there[w]);
        table->there[w] = 0;
    }
    return count;
}

static void run_count(void *data, uint64_t first, uint64_t end)
{
    const struct spgemm *r = data;
    int64_t begin = cut(r, first), stop = cut(r, end);
    bool is_narrow = r->b.index_type == CUSPARSE_INDEX_32I;
    struct table table;
    if (!table_begin(&table, most_products(r, begin, stop), r->b.cols, 0)) {
        mr_math_short_of_memory(r->name);
        return;
    }
    for (int64_t i = begin; i < stop; i++) {
        table_row(&table);
        (is_narrow ? find_32 : find_64)(r, i, &table);
        if (table.is_plain && table.most >= 0) {
            if (is_dense(&table, r->products[i + 1] - r->products[i]))
                table.count = count_bits(&table);
            else
                (is_narrow ? list_32 : list_64)(r, i, &table);
        }
        r->counts[i + 1] = table.count;
    }
    if (table.is_plain)
        mr_math_zeros_back();
}

/* Row i's sums. */
#define ADD(s, element, width, index_t) \
    static void add_##s##width(const struct spgemm *r, int64_t i, struct table *table) \
    { \
        const element *a = r->a.values, *b = r->b.values; \
        element *sums = table->value; \
        int64_t least = INT64_MAX, most = -1; \
        bool is_new; \
        if (table->is_plain) { \
            EACH_PRODUCT(width, index_t) \
            { \
                int64_t column = right[l] - base; \
                sums[column] += a[k] * b[l]; \
                MARK(column); \
            } \
        } else { \
            EACH_PRODUCT(width, index_t) \
            { \
                int64_t at = table_find(table, right[l] - base, &is_new); \
                element product = a[k] * b[l]; \
                sums[at] = is_new ? product : sums[at] + product; \
            } \
        } \
        table->least = least; \
        table->most = most; \
    }

/* Reads a row out from element `to` of the result on: in the order of the bits, or of the list. The end. */
#define READ(s, element, width, index_t) \
    static int64_t read_bits_##s##width(const struct spgemm *r, struct table *table, int64_t to, \
                                        struct mr_finish finish) \
    { \
        index_t *columns = r->c.indices; \
        element *sums = table->value, *values = r->c.values; \
        const bool has_structure = r->structure, has_values = r->values; \
        const int64_t base = r->c.base, last = table->most >> 6; \
        for (int64_t w = table->least >> 6; w <= last; w++) { \
            uint64_t bits = table->there[w]; \
            table->there[w] = 0; \
            for (; bits; bits &= bits - 1, to++) { \
                int64_t column = w * 64 + __builtin_ctzll(bits); \
                if (has_structure) \
                    columns[to] = (index_t)(column + base); \
                if (has_values) \
                    mr_finish_##s(&finish, values, to, sums[column]); \
                sums[column] = 0; \
            } \
        } \
        return to; \
    } \
    static int64_t read_list_##s##width(const struct spgemm *r, struct table *table, int64_t to, \
                                        struct mr_finish finish) \
    { \
        index_t *columns = r->c.indices; \
        element *sums = table->value; \
        sort(table->used, table->count); \
        for (int64_t k = 0; k < table->count; k++, to++) { \
            int64_t place = table_place(table, table->used[k]); \
            if (r->structure) \
                columns[to] = (index_t)(table->used[k] + r->c.base); \
            if (r->values) \
                mr_finish_##s(&finish, r->c.values, to, sums[place]); \
            sums[place] = 0; \
        } \
        return to; \
    }

#define ROW(s, element, width, index_t) \
    ADD(s, element, width, index_t) \
    READ(s, element, width, index_t) \
    static int64_t row_##s##width(const struct spgemm *r, int64_t i, struct table *table, \
                                  const struct mr_finish *finish) \
    { \
        table_row(table); \
        add_##s##width(r, i, table); \
        if (table->is_plain && table->most < 0) \
            return r->counts[i]; \
        if (table->is_plain && is_dense(table, r->products[i + 1] - r->products[i])) \
            return read_bits_##s##width(r, table, r->counts[i], *finish); \
        if (table->is_plain) \
            list_##width(r, i, table); \
        return read_list_##s##width(r, table, r->counts[i], *finish); \
    }
#define COMPUTE(s, element, real, conjugate) \
    ROW(s, element, 32, int32_t) \
    ROW(s, element, 64, int64_t) \
    static void compute_##s(const struct spgemm *r, int64_t i, struct table *table, const struct mr_finish *finish) \
    { \
        int64_t end = (r->b.index_type == CUSPARSE_INDEX_32I ? row_##s##32 : row_##s##64)(r, i, table, finish); \
        if (r->structure) \
            mr_index_put(r->c.offsets, r->c.offset_type, i + 1, end + r->c.base); \
    }
MR_FOR_TYPES(COMPUTE)

static void run_compute(void *data, uint64_t first, uint64_t end)
{
    static void (*const compute[])(const struct spgemm *, int64_t, struct table *, const struct mr_finish *) =
        MR_FAMILY(compute);
    const struct spgemm *r = data;
    cudaDataType_t stored = mr_stored(r->type);
    struct mr_finish finish = {0};
    struct table table;
    int64_t begin = cut(r, first), stop = cut(r, end);
    if (!table_begin(&table, most_products(r, begin, stop), r->b.cols, mr_type_size(r->type))) {
        mr_math_short_of_memory(r->name);
        return;
    }
    if (r->values)
        finish = mr_finish_of(r->type, stored, &r->alpha, &r->beta, stored);
    if (first == 0 && r->structure)
        mr_index_put(r->c.offsets, r->c.offset_type, 0, r->c.base);
    for (int64_t i = begin; i < stop; i++)
        compute[r->type](r, i, &table, &finish);
    if (table.is_plain)
        mr_math_zeros_back();
}

/* ---- submitting ---- */

static struct spgemm record(const struct mr_form *form, const struct mr_spgemm *call)
{
    struct spgemm r = {.a = *call->a,
                       .b = *call->b,
                       .c = *call->c,
                       .type = mr_type_for(call->a->type),
                       .products = call->products,
                       .counts = call->counts,
                       .values = call->values,
                       .structure = call->structure,
                       .alpha = call->alpha,
                       .beta = call->beta,
                       .each = 4096,
                       .name = form->name};
    int64_t each = PART_PRODUCTS + call->b->cols / 8; /* a part may begin with making its tables */
    int64_t parts = (call->total_products + call->a->rows) / each + 1;
    r.parts = (uint64_t)(parts < MOST_PARTS ? parts : MOST_PARTS);
    return r;
}

cusparseStatus_t mr_cusparse_count_products(const struct mr_form *form, const struct mr_cusparse *sparse,
                                            const struct mr_spgemm *call, int64_t *total, int64_t *least)
{
    struct spgemm r = record(form, call);
    int64_t found = 0, found_least = 0;
    r.total = &found;
    r.least = &found_least;
    MR_STEP(mr_cusparse_wait(form, sparse)); /* refuses a capture */
    MR_STEP(mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)r.a.rows, (uint64_t)r.each), run_products, &r,
                               sizeof r));
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_add_products, &r, sizeof r));
    MR_STEP(mr_cusparse_wait(form, sparse));
    *total = found;
    *least = found_least;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_count_entries(const struct mr_form *form, const struct mr_cusparse *sparse,
                                           const struct mr_spgemm *call, int64_t *total)
{
    struct spgemm r = record(form, call);
    int64_t found = 0;
    r.total = &found;
    MR_STEP(mr_cusparse_wait(form, sparse)); /* refuses a capture */
    MR_STEP(mr_cusparse_submit(form, sparse, r.parts, run_count, &r, sizeof r));
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_add_counts, &r, sizeof r));
    MR_STEP(mr_cusparse_wait(form, sparse));
    *total = found;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t mr_cusparse_compute_entries(const struct mr_form *form, const struct mr_cusparse *sparse,
                                             const struct mr_spgemm *call)
{
    struct spgemm r = record(form, call);
    return mr_cusparse_submit(form, sparse, r.parts, run_compute, &r, sizeof r);
}
