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

/* A row's columns and sums, in slots 0 to 2 of the scratch memory. A *plain* table has a place for every column of B,
 * and a bit that says whether the column is there; a bit of `words` says whether a word of 64 such bits has any. Bits
 * are cleared when the row is read out. Where B has too many columns, a hash finds the place, and all places are
 * cleared for each row. */
struct table {
    bool is_plain;
    uint64_t *there; /* plain: a bit for each column */
    uint64_t *words; /* plain: a bit for each word of `there` */
    int64_t *column; /* hashed: -1 for a free place */
    uint64_t mask;
    void *value;
    int64_t *used; /* the columns that are there */
    int64_t count, least, most;
};

#define PLAIN ((size_t)64 << 20) /* bytes of values, at most */

/* Before the rows of some parts. `products` is that of the row that has most. */
static bool table_begin(struct table *table, int64_t products, int64_t columns, size_t size)
{
    *table = (struct table){.is_plain = (size_t)columns * size <= PLAIN};
    int64_t entries = products < columns ? products : columns;
    table->used = mr_math_scratch(2, (size_t)entries * sizeof(int64_t));
    if (table->is_plain) {
        size_t words = (size_t)columns / 64 + 1, all = words + words / 64 + 1;
        table->there = mr_math_scratch(0, all * sizeof(uint64_t));
        table->value = mr_math_scratch(1, (size_t)columns * size);
        if (table->there) {
            memset(table->there, 0, all * sizeof(uint64_t));
            table->words = table->there + words;
        }
        return table->there && table->value && table->used;
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

/* The column's place; *is_new if it was not there. */
static inline int64_t table_find(struct table *table, int64_t column, bool *is_new)
{
    int64_t at = column;
    if (table->is_plain) {
        uint64_t bit = (uint64_t)1 << (column & 63), *word = &table->there[column >> 6];
        *is_new = !(*word & bit);
        *word |= bit;
    } else {
        at = (int64_t)((uint64_t)column * 0x9e3779b97f4a7c15u >> 20 & table->mask);
        while (table->column[at] != column && table->column[at] >= 0)
            at = (int64_t)((uint64_t)(at + 1) & table->mask);
        *is_new = table->column[at] < 0;
        table->column[at] = column;
    }
    if (*is_new) {
        if (table->is_plain)
            table->words[column >> 12] |= (uint64_t)1 << (column >> 6 & 63);
        table->used[table->count++] = column;
        table->least = column < table->least ? column : table->least;
        table->most = column > table->most ? column : table->most;
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

/* The columns of one word of `there`, which is cleared, behind the `count` that are in `used`. */
static inline int64_t take_word(struct table *table, int64_t word, int64_t count)
{
    for (uint64_t bits = table->there[word]; bits; bits &= bits - 1)
        table->used[count++] = word * 64 + __builtin_ctzll(bits);
    table->there[word] = 0;
    return count;
}

/* Behind a row: `used` ascends (if that is wanted), and the bits are cleared. Reading the bits in order sorts the
 * columns, unless they lie so far from each other that it takes longer than sorting. */
static void table_end(struct table *table, bool sorted)
{
    int64_t count = 0, least = table->least >> 12, most = table->most >> 12;
    if (table->count == 0)
        return;
    if (!table->is_plain) {
        if (sorted)
            sort(table->used, table->count);
        return;
    }
    if (!sorted || most - least > 8 * table->count) {
        for (int64_t i = 0; i < table->count; i++) {
            table->there[table->used[i] >> 6] = 0;
            table->words[table->used[i] >> 12] = 0;
        }
        if (sorted)
            sort(table->used, table->count);
        return;
    }
    for (int64_t w = least; w <= most; w++) {
        for (uint64_t bits = table->words[w]; bits; bits &= bits - 1)
            count = take_word(table, w * 64 + __builtin_ctzll(bits), count);
        table->words[w] = 0;
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

/* The columns of row i of the result. */
#define FIND(width, index_t) \
    static void find_##width(const struct spgemm *r, int64_t i, struct table *table) \
    { \
        const index_t *a = r->a.indices, *b = r->b.indices, *rows = r->b.offsets; \
        int64_t base = r->b.base, last = offset(&r->a, i + 1); \
        bool is_new; \
        for (int64_t k = offset(&r->a, i); k < last; k++) { \
            int64_t row = a[k] - (int64_t)r->a.base; \
            for (int64_t l = rows[row] - base, stop = rows[row + 1] - base; l < stop; l++) \
                (void)table_find(table, b[l] - base, &is_new); \
        } \
    }
FIND(32, int32_t)
FIND(64, int64_t)

static void run_count(void *data, uint64_t first, uint64_t end)
{
    const struct spgemm *r = data;
    int64_t begin = cut(r, first), stop = cut(r, end);
    struct table table;
    if (!table_begin(&table, most_products(r, begin, stop), r->b.cols, 1)) {
        mr_math_short_of_memory(r->name);
        return;
    }
    for (int64_t i = begin; i < stop; i++) {
        table_row(&table);
        (r->b.index_type == CUSPARSE_INDEX_32I ? find_32 : find_64)(r, i, &table);
        r->counts[i + 1] = table.count;
        table_end(&table, false);
    }
}

/* Row i's sums. */
#define ADD(s, element, width, index_t) \
    static void add_##s##width(const struct spgemm *r, int64_t i, struct table *table) \
    { \
        const index_t *columns = r->a.indices, *others = r->b.indices, *rows = r->b.offsets; \
        const element *a = r->a.values, *b = r->b.values; \
        element *sums = table->value; \
        int64_t base = r->b.base, last = offset(&r->a, i + 1); \
        bool is_new; \
        for (int64_t k = offset(&r->a, i); k < last; k++) { \
            int64_t row = columns[k] - (int64_t)r->a.base; \
            for (int64_t l = rows[row] - base, stop = rows[row + 1] - base; l < stop; l++) { \
                int64_t at = table_find(table, others[l] - base, &is_new); \
                element product = a[k] * b[l]; \
                sums[at] = is_new ? product : sums[at] + product; \
            } \
        } \
    }

#define COMPUTE(s, element, real, conjugate) \
    ADD(s, element, 32, int32_t) \
    ADD(s, element, 64, int64_t) \
    static void compute_##s(const struct spgemm *r, int64_t i, struct table *table, const struct mr_finish *finish) \
    { \
        table_row(table); \
        (r->b.index_type == CUSPARSE_INDEX_32I ? add_##s##32 : add_##s##64)(r, i, table); \
        table_end(table, true); \
        int64_t to = r->counts[i]; \
        const element *sums = table->value; \
        for (int64_t k = 0; k < table->count; k++) { \
            if (r->structure) \
                mr_index_put(r->c.indices, r->c.index_type, to + k, table->used[k] + r->c.base); \
            if (r->values) \
                mr_finish_##s(finish, r->c.values, to + k, sums[table_place(table, table->used[k])]); \
        } \
        if (r->structure) \
            mr_index_put(r->c.offsets, r->c.offset_type, i + 1, to + table->count + r->c.base); \
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
    int64_t each = PART_PRODUCTS + call->b->cols / 8; /* a part begins with empty tables */
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
