/* SPDX-License-Identifier: Apache-2.0 */
/* Systems with three or five diagonals. Each is solved by Gaussian elimination, with exchange of rows where the
 * function promises pivots. A part has some right-hand sides or some systems, and works on copies of its own: the
 * diagonals stay as they were, except those of interleaved batches, which may be overwritten, as the manual says. */
#include "libs/cusparse/older.h"
#include "libs/math/hypot.h"

#include <math.h>

#define STRIP 16
#define WIDTH 7 /* places of a row: two before the diagonal, two behind it, two more that exchanges fill */

struct bands {
    enum mr_type type;
    int64_t m, count; /* unknowns; right-hand sides or systems */
    const void *diagonals[5]; /* ds, dl, d, du, dw: row i has x[i - 2] to x[i + 2]; NULL: zero */
    void *x;
    int64_t step, x_next, next; /* between elements; between right-hand sides; between systems' diagonals */
    bool pivot;
    int64_t each;
    const char *name;
};

/* `rows` has WIDTH places for each row: place j of row i belongs to column (first[i] + j). */
#define SOLVE(s, element, real, conjugate) \
    static real size_##s(element value) \
    { \
        return (real)mr_hypot(creal(value), cimag(value)); \
    } \
    static void load_##s(const struct bands *r, int64_t system, element *rows) \
    { \
        for (int64_t i = 0; i < r->m; i++) \
            for (int64_t j = 0; j < WIDTH; j++) { \
                int64_t column = i + j - 2; \
                const element *from = j < 5 ? r->diagonals[j] : NULL; \
                rows[i * WIDTH + j] = from && column >= 0 && column < r->m ? from[i * r->step + system * r->next] : 0; \
            } \
    } \
    /* Row k takes part in rows k + 1 and k + 2. All rows begin at column k when step k begins. */ \
    static void solve_##s(const struct bands *r, element *rows, element *x) \
    { \
        int64_t m = r->m; \
        for (int64_t i = 0; i < m && i < 2; i++) /* the places before column 0 */ \
            for (int64_t j = 0; j < WIDTH; j++) \
                rows[i * WIDTH + j] = j + 2 - i < WIDTH ? rows[i * WIDTH + j + 2 - i] : 0; \
        for (int64_t k = 0; k < m; k++) { \
            int64_t last = k + 2 < m - 1 ? k + 2 : m - 1, best = k; \
            element *row = rows + k * WIDTH; \
            for (int64_t i = k + 1; i <= last && r->pivot; i++) \
                if (size_##s(rows[i * WIDTH]) > size_##s(rows[best * WIDTH])) \
                    best = i; \
            for (int64_t j = 0; j < WIDTH && best != k; j++) { \
                element swap = row[j]; \
                row[j] = rows[best * WIDTH + j]; \
                rows[best * WIDTH + j] = swap; \
            } \
            if (best != k) { \
                element swap = x[k]; \
                x[k] = x[best]; \
                x[best] = swap; \
            } \
            for (int64_t i = k + 1; i <= last; i++) { \
                element *other = rows + i * WIDTH, factor = other[0] == 0 ? 0 : other[0] / row[0]; \
                for (int64_t j = 1; j < WIDTH; j++) \
                    other[j - 1] = other[j] - factor * row[j]; \
                other[WIDTH - 1] = 0; \
                x[i] -= factor * x[k]; \
            } \
        } \
        for (int64_t i = m - 1; i >= 0; i--) { \
            element sum = x[i]; \
            for (int64_t j = 1; j < WIDTH && i + j < m; j++) \
                if (rows[i * WIDTH + j] != 0) \
                    sum -= rows[i * WIDTH + j] * x[i + j]; \
            x[i] = sum / rows[i * WIDTH]; \
        } \
    } \
    static bool do_##s(const struct bands *r, int64_t begin, int64_t stop) \
    { \
        element *rows = mr_math_scratch(0, (size_t)(r->m * WIDTH) * sizeof *rows); \
        element *x = mr_math_scratch(1, (size_t)r->m * sizeof *x), *to = r->x; \
        for (int64_t system = begin; system < stop && rows && x; system++) { \
            load_##s(r, system, rows); \
            for (int64_t i = 0; i < r->m; i++) \
                x[i] = to[i * r->step + system * r->x_next]; \
            solve_##s(r, rows, x); \
            for (int64_t i = 0; i < r->m; i++) \
                to[i * r->step + system * r->x_next] = x[i]; \
        } \
        return rows && x; \
    }
MR_FOR_TYPES(SOLVE)

static void run(void *data, uint64_t first, uint64_t end)
{
    static bool (*const solve[])(const struct bands *, int64_t, int64_t) = MR_FAMILY(do);
    const struct bands *r = data;
    struct mr_span span = mr_span(first, end, r->each, r->count);
    if (!solve[r->type](r, span.begin, span.stop))
        mr_math_short_of_memory(r->name);
}

static cusparseStatus_t submit(const struct mr_form *form, const struct mr_cusparse *sparse, struct bands r)
{
    r.type = mr_type_of(form);
    r.name = form->name;
    r.each = 4096 / (r.m + 1) + 1;
    return mr_cusparse_submit(form, sparse, r.m ? mr_parts_of((uint64_t)r.count, (uint64_t)r.each) : 0, run, &r,
                              sizeof r);
}

/* ---- one system, several right-hand sides ---- */

/* Who asks for the buffer's size may have no diagonals yet: JAX gives NULL. */
static cusparseStatus_t check_sizes(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                    int64_t ldb)
{
    MR_ENTER(form, handle);
    MR_CHECK(form, m >= 3 && n >= 0 && ldb >= m);
    return CUSPARSE_STATUS_SUCCESS;
}

static cusparseStatus_t check(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n, const void *dl,
                              const void *d, const void *du, const void *b, int64_t ldb)
{
    MR_STEP(check_sizes(form, handle, m, n, ldb));
    MR_CHECK(form, dl && d && du && (n == 0 || b));
    return CUSPARSE_STATUS_SUCCESS;
}

#define SIZE(pointer, condition) \
    MR_CHECK(form, pointer); \
    MR_STEP(condition); \
    *(pointer) = 0; \
    return CUSPARSE_STATUS_SUCCESS

cusparseStatus_t mr_cusparse_gtsv2_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                 int64_t n, const void *dl, const void *d, const void *du,
                                                 const void *B, int64_t ldb, size_t *bufferSizeInBytes)
{
    (void)dl, (void)d, (void)du, (void)B;
    SIZE(bufferSizeInBytes, check_sizes(form, handle, m, n, ldb));
}

cusparseStatus_t mr_cusparse_gtsv2(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                   const void *dl, const void *d, const void *du, void *B, int64_t ldb, void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    MR_STEP(check(form, handle, m, n, dl, d, du, B, ldb));
    return submit(
        form, sparse,
        (struct bands){
            .m = m, .count = n, .diagonals = {NULL, dl, d, du, NULL}, .x = B, .step = 1, .x_next = ldb, .pivot = true});
}

cusparseStatus_t mr_cusparse_gtsv2_nopivot_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                                         int64_t n, const void *dl, const void *d, const void *du,
                                                         const void *B, int64_t ldb, size_t *bufferSizeInBytes)
{
    (void)dl, (void)d, (void)du, (void)B;
    SIZE(bufferSizeInBytes, check_sizes(form, handle, m, n, ldb));
}

cusparseStatus_t mr_cusparse_gtsv2_nopivot(const struct mr_form *form, cusparseHandle_t handle, int64_t m, int64_t n,
                                           const void *dl, const void *d, const void *du, void *B, int64_t ldb,
                                           void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    MR_STEP(check(form, handle, m, n, dl, d, du, B, ldb));
    return submit(
        form, sparse,
        (struct bands){.m = m, .count = n, .diagonals = {NULL, dl, d, du, NULL}, .x = B, .step = 1, .x_next = ldb});
}

/* ---- batches ---- */

cusparseStatus_t mr_cusparse_gtsv2StridedBatch_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle,
                                                             int64_t m, const void *dl, const void *d, const void *du,
                                                             const void *x, int64_t batchCount, int64_t batchStride,
                                                             size_t *bufferSizeInBytes)
{
    SIZE(bufferSizeInBytes, check(form, handle, m, batchCount, dl, d, du, x, batchStride));
}

cusparseStatus_t mr_cusparse_gtsv2StridedBatch(const struct mr_form *form, cusparseHandle_t handle, int64_t m,
                                               const void *dl, const void *d, const void *du, void *x,
                                               int64_t batchCount, int64_t batchStride, void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    MR_STEP(check(form, handle, m, batchCount, dl, d, du, x, batchStride));
    return submit(form, sparse,
                  (struct bands){.m = m,
                                 .count = batchCount,
                                 .diagonals = {NULL, dl, d, du, NULL},
                                 .x = x,
                                 .step = 1,
                                 .x_next = batchStride,
                                 .next = batchStride});
}

static cusparseStatus_t check_interleaved(const struct mr_form *form, cusparseHandle_t handle, int64_t algo,
                                          int64_t most, int64_t m, const void *dl, const void *d, const void *du,
                                          const void *x, int64_t count)
{
    MR_STEP(check(form, handle, m, count, dl, d, du, x, m));
    MR_CHECK(form, algo >= 0 && algo <= most);
    return CUSPARSE_STATUS_SUCCESS;
}

/* Algorithm 0 is the one without pivots. */
cusparseStatus_t mr_cusparse_gtsvInterleavedBatch_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle,
                                                                int64_t algo, int64_t m, const void *dl, const void *d,
                                                                const void *du, const void *x, int64_t batchCount,
                                                                size_t *pBufferSizeInBytes)
{
    SIZE(pBufferSizeInBytes, check_interleaved(form, handle, algo, 2, m, dl, d, du, x, batchCount));
}

cusparseStatus_t mr_cusparse_gtsvInterleavedBatch(const struct mr_form *form, cusparseHandle_t handle, int64_t algo,
                                                  int64_t m, void *dl, void *d, void *du, void *x, int64_t batchCount,
                                                  void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    MR_STEP(check_interleaved(form, handle, algo, 2, m, dl, d, du, x, batchCount));
    return submit(form, sparse,
                  (struct bands){.m = m,
                                 .count = batchCount,
                                 .diagonals = {NULL, dl, d, du, NULL},
                                 .x = x,
                                 .step = batchCount,
                                 .x_next = 1,
                                 .next = 1,
                                 .pivot = algo != 0});
}

cusparseStatus_t mr_cusparse_gpsvInterleavedBatch_bufferSizeExt(const struct mr_form *form, cusparseHandle_t handle,
                                                                int64_t algo, int64_t m, const void *ds, const void *dl,
                                                                const void *d, const void *du, const void *dw,
                                                                const void *x, int64_t batchCount,
                                                                size_t *pBufferSizeInBytes)
{
    MR_CHECK(form, ds && dw);
    SIZE(pBufferSizeInBytes, check_interleaved(form, handle, algo, 0, m, dl, d, du, x, batchCount));
}

cusparseStatus_t mr_cusparse_gpsvInterleavedBatch(const struct mr_form *form, cusparseHandle_t handle, int64_t algo,
                                                  int64_t m, void *ds, void *dl, void *d, void *du, void *dw, void *x,
                                                  int64_t batchCount, void *pBuffer)
{
    (void)pBuffer;
    MR_ENTER(form, handle);
    MR_CHECK(form, ds && dw);
    MR_STEP(check_interleaved(form, handle, algo, 0, m, dl, d, du, x, batchCount));
    return submit(form, sparse,
                  (struct bands){.m = m,
                                 .count = batchCount,
                                 .diagonals = {ds, dl, d, du, dw},
                                 .x = x,
                                 .step = batchCount,
                                 .x_next = 1,
                                 .next = 1,
                                 .pivot = true});
}
