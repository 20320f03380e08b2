/* SPDX-License-Identifier: Apache-2.0 */
/* Sparse matrix times sparse matrix, in CSR: C = alpha * A * B + beta * C.
 *
 * Row i of C is the sum of the rows of B that row i of A names. A row's *products* are what is multiplied for it. They
 * are gathered in a table, which a hash of the column finds, and sorted by column in the end. Each sum is taken in the
 * order of A's and B's entries, so parts (rows, shared out by their products) don't matter to the result.
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
    int64_t *total;
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

/* Slots 0 and 1 of the scratch memory: `capacity` columns, -1 for a free place, and values. */
struct table {
    uint64_t mask;
    int64_t *column;
    void *value;
    int64_t *used; /* slot 2: the columns that are there */
    int64_t count;
};

static bool table_begin(struct table *table, int64_t products, int64_t columns, size_t size)
{
    uint64_t wanted = (uint64_t)(products < columns ? products : columns) * 2 + 2, capacity = 16;
    while (capacity < wanted)
        capacity *= 2;
    table->mask = capacity - 1;
    table->column = mr_math_scratch(0, capacity * sizeof(int64_t));
    table->value = mr_math_scratch(1, capacity * size);
    table->used = mr_math_scratch(2, capacity * sizeof(int64_t));
    table->count = 0;
    if (!table->column || !table->value || !table->used)
        return false;
    memset(table->column, 0xff, capacity * sizeof(int64_t));
    return true;
}

/* The column's place; *is_new if it was not there. */
static inline uint64_t table_find(struct table *table, int64_t column, bool *is_new)
{
    uint64_t at = (uint64_t)column * 0x9e3779b97f4a7c15u >> 20 & table->mask;
    while (table->column[at] != column && table->column[at] >= 0)
        at = (at + 1) & table->mask;
    *is_new = table->column[at] < 0;
    if (*is_new) {
        table->column[at] = column;
        table->used[table->count++] = column;
    }
    return at;
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

/* ---- steps ---- */

static void run_products(void *data, uint64_t first, uint64_t end)
{
    const struct spgemm *r = data;
    struct mr_span span = mr_span(first, end, r->each, r->a.rows);
    for (int64_t i = span.begin; i < span.stop; i++) {
        int64_t sum = 0, stop = offset(&r->a, i + 1);
        for (int64_t k = offset(&r->a, i); k < stop; k++) {
            int64_t row = mr_index(r->a.indices, r->a.index_type, k) - r->a.base;
            sum += offset(&r->b, row + 1) - offset(&r->b, row);
        }
        r->products[i + 1] = sum;
    }
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

static void run_count(void *data, uint64_t first, uint64_t end)
{
    const struct spgemm *r = data;
    int64_t stop = cut(r, end);
    struct table table;
    bool is_new;
    for (int64_t i = cut(r, first); i < stop; i++) {
        if (!table_begin(&table, r->products[i + 1] - r->products[i], r->b.cols, 1)) {
            mr_math_short_of_memory(r->name);
            return;
        }
        int64_t last = offset(&r->a, i + 1);
        for (int64_t k = offset(&r->a, i); k < last; k++) {
            int64_t row = mr_index(r->a.indices, r->a.index_type, k) - r->a.base, l = offset(&r->b, row);
            for (int64_t l_stop = offset(&r->b, row + 1); l < l_stop; l++)
                (void)table_find(&table, mr_index(r->b.indices, r->b.index_type, l) - r->b.base, &is_new);
        }
        r->counts[i + 1] = table.count;
    }
}

#define COMPUTE(s, element, real, conjugate) \
    static bool compute_##s(const struct spgemm *r, int64_t i, const struct mr_finish *finish) \
    { \
        struct table table; \
        bool is_new; \
        const element *a = r->a.values, *b = r->b.values; \
        if (!table_begin(&table, r->products[i + 1] - r->products[i], r->b.cols, sizeof(element))) \
            return false; \
        element *sums = table.value; \
        int64_t last = offset(&r->a, i + 1); \
        for (int64_t k = offset(&r->a, i); k < last; k++) { \
            int64_t row = mr_index(r->a.indices, r->a.index_type, k) - r->a.base, l = offset(&r->b, row); \
            for (int64_t l_stop = offset(&r->b, row + 1); l < l_stop; l++) { \
                uint64_t at = table_find(&table, mr_index(r->b.indices, r->b.index_type, l) - r->b.base, &is_new); \
                element product = a[k] * b[l]; \
                sums[at] = is_new ? product : sums[at] + product; \
            } \
        } \
        sort(table.used, table.count); \
        int64_t to = r->counts[i]; \
        for (int64_t k = 0; k < table.count; k++) { \
            if (r->structure) \
                mr_index_put(r->c.indices, r->c.index_type, to + k, table.used[k] + r->c.base); \
            if (r->values) \
                mr_finish_##s(finish, r->c.values, to + k, sums[table_find(&table, table.used[k], &is_new)]); \
        } \
        if (r->structure) \
            mr_index_put(r->c.offsets, r->c.offset_type, i + 1, to + table.count + r->c.base); \
        return true; \
    }
MR_FOR_TYPES(COMPUTE)

static void run_compute(void *data, uint64_t first, uint64_t end)
{
    static bool (*const compute[])(const struct spgemm *, int64_t, const struct mr_finish *) = MR_FAMILY(compute);
    const struct spgemm *r = data;
    cudaDataType_t stored = mr_stored(r->type);
    struct mr_finish finish = {0};
    int64_t stop = cut(r, end);
    if (r->values)
        finish = mr_finish_of(r->type, stored, &r->alpha, &r->beta, stored);
    if (first == 0 && r->structure)
        mr_index_put(r->c.offsets, r->c.offset_type, 0, r->c.base);
    for (int64_t i = cut(r, first); i < stop; i++)
        if (!compute[r->type](r, i, &finish)) {
            mr_math_short_of_memory(r->name);
            return;
        }
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
    int64_t parts = call->total_products / PART_PRODUCTS + call->a->rows / PART_PRODUCTS + 1;
    r.parts = (uint64_t)(parts < MOST_PARTS ? parts : MOST_PARTS);
    return r;
}

cusparseStatus_t mr_cusparse_count_products(const struct mr_form *form, const struct mr_cusparse *sparse,
                                            const struct mr_spgemm *call, int64_t *total)
{
    struct spgemm r = record(form, call);
    int64_t found = 0;
    r.total = &found;
    MR_STEP(mr_cusparse_wait(form, sparse)); /* refuses a capture */
    MR_STEP(mr_cusparse_submit(form, sparse, mr_parts_of((uint64_t)r.a.rows, (uint64_t)r.each), run_products, &r,
                               sizeof r));
    MR_STEP(mr_cusparse_submit(form, sparse, 1, run_add_products, &r, sizeof r));
    MR_STEP(mr_cusparse_wait(form, sparse));
    *total = found;
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
