/* SPDX-License-Identifier: Apache-2.0 */
/* A tile: its rows of op(A) and columns of op(B) are converted, multiplied into a buffer, which already has C if beta
 * is not 0, and stored. Where no conversion is needed the CPU library reads and writes the matrices themselves. */
#include "libs/math/product.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "libs/math/convert.h"
#include "libs/math/cpu.h"

struct mr_tiles mr_tiles_of(int64_t m, int64_t n, int64_t k)
{
    /* A tile takes some tenths of a millisecond or more, and is large enough for the CPU library to be at full speed.
     */
    const double enough = 4e6, wide = 512, narrow = 256;
    double depth = 2.0 * (double)(k > 0 ? k : 1), work = depth * (double)m * (double)n;
    double edge = work > 64 * depth * wide * wide ? wide : narrow;
    double rows = (double)m, columns = (double)n;
    if (work > enough) {
        rows = fmin(rows, edge);
        columns = fmin(columns, fmax(edge, enough / (depth * rows)));
        if ((double)n < edge) /* a narrow result: taller tiles */
            rows = fmin((double)m, fmax(rows, enough / (depth * (double)n)));
    }
    /* No sliver at the end: tiles of about the same size. */
    struct mr_tiles tiles;
    uint64_t down = mr_parts_of((uint64_t)m, (uint64_t)rows), across = mr_parts_of((uint64_t)n, (uint64_t)columns);
    tiles.m = (int64_t)((mr_parts_of((uint64_t)m, down) + 15) & ~(uint64_t)15);
    tiles.n = (int64_t)((mr_parts_of((uint64_t)n, across) + 15) & ~(uint64_t)15);
    tiles.down = (int64_t)mr_parts_of((uint64_t)m, (uint64_t)tiles.m);
    tiles.across = (int64_t)mr_parts_of((uint64_t)n, (uint64_t)tiles.n);
    return tiles;
}

struct mr_tile mr_tile_at(const struct mr_tiles *tiles, int64_t m, int64_t n, uint64_t index)
{
    struct mr_tile tile = {.row = (int64_t)(index % (uint64_t)tiles->down) * tiles->m,
                           .column = (int64_t)(index / (uint64_t)tiles->down) * tiles->n};
    tile.rows = m - tile.row < tiles->m ? m - tile.row : tiles->m;
    tile.columns = n - tile.column < tiles->n ? n - tile.column : tiles->n;
    return tile;
}

uint64_t mr_product_parts(struct mr_product *p)
{
    if (p->m <= 0 || p->n <= 0 || p->batch <= 0)
        return 0;
    p->tiles = mr_tiles_of(p->m, p->n, p->complex ? 4 * p->k : p->k);
    return (uint64_t)(p->tiles.down * p->tiles.across) * (uint64_t)p->batch;
}

static enum mr_cpu_type type_of(const struct mr_product *p)
{
    return p->complex ? (p->wide ? MR_CPU_Z : MR_CPU_C) : (p->wide ? MR_CPU_D : MR_CPU_S);
}

static bool is_own_type(const struct mr_product *p, cudaDataType_t type)
{
    static const cudaDataType_t own[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return type == own[type_of(p)];
}

static size_t unit_of(const struct mr_product *p)
{
    return (p->wide ? sizeof(double) : sizeof(float)) * (p->complex ? 2 : 1);
}

/* The matrix of a member of the batch. */
static char *member_of(const struct mr_product *p, const struct mr_matrix *matrix, int64_t member)
{
    if (p->pointers)
        return ((char *const *)matrix->at)[member];
    return (char *)(uintptr_t)matrix->at + member * matrix->stride * (int64_t)mr_element_size(matrix->type);
}

/* alpha or beta in the type of the computation, times `factor`. False if it is 0. */
static bool scalar(const struct mr_product *p, const struct mr_scalar *from, double factor, unsigned char *to)
{
    double parts[2] = {0, 0};
    const char *at = mr_scalar_at(from);
    parts[0] = mr_load_one(p->scale_type, at) * factor;
    if (mr_element_is_complex(p->scale_type))
        parts[1] = mr_load_one(p->scale_type, at + mr_element_size(p->scale_type) / 2) * factor;
    for (int i = 0; i < 2; i++)
        if (p->wide)
            memcpy(to + i * 8, &parts[i], 8);
        else
            memcpy(to + i * 4, &(float){(float)parts[i]}, 4);
    return parts[0] != 0 || parts[1] != 0;
}

static double factor(const struct mr_product *p, int which)
{
    return p->factors[which] ? (double)*p->factors[which] : 1;
}

/* The tile's share of A or B: in place if no conversion is needed, or converted. NULL when memory is short. */
static const void *operand(const struct mr_product *p, const struct mr_matrix *matrix, const char *base, int64_t row,
                           int64_t column, int64_t rows, int64_t columns, unsigned slot, int *ld)
{
    const char *at = base + (row + column * matrix->ld) * (int64_t)mr_element_size(matrix->type);
    if (is_own_type(p, matrix->type)) {
        *ld = (int)matrix->ld;
        return at;
    }
    *ld = rows > 0 ? (int)rows : 1;
    void *buffer = mr_math_scratch(slot, (size_t)rows * (size_t)columns * unit_of(p));
    if (buffer)
        mr_load(matrix->type, at, matrix->ld, rows, columns, p->wide, buffer);
    return buffer;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static double gelu_slope(double x)
{
    double inner = 0.7978845608028654 * (x + 0.044715 * x * x * x), t = tanh(inner);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * 0.7978845608028654 * (1 + 3 * 0.044715 * x * x);
}

/* One element's way through the epilogue. `aux`: the product's, which there is if a step reads or writes it; `place`:
 * the element's place in it, a bit for relu and an element for gelu. */
static double through(const struct mr_epilogue *e, double x, char *aux, int64_t place)
{
    if (e->steps & MR_EPILOGUE_RELU) {
        if (e->steps & MR_EPILOGUE_AUX) {
            unsigned char mask = (unsigned char)(1u << (place % 8));
            if (x >= 0)
                __atomic_fetch_or((unsigned char *)aux + place / 8, mask, __ATOMIC_RELAXED);
            else
                __atomic_fetch_and((unsigned char *)aux + place / 8, (unsigned char)~mask, __ATOMIC_RELAXED);
        }
        return x > 0 ? x : 0;
    }
    assert(aux || !(e->steps & MR_EPILOGUE_RELU_BACK));
    if (e->steps & MR_EPILOGUE_RELU_BACK)
        return ((unsigned char *)aux)[place / 8] >> (place % 8) & 1 ? x : 0;
    char *at = aux ? aux + place * (int64_t)mr_element_size(e->aux_type) : NULL;
    if (e->steps & MR_EPILOGUE_GELU) {
        if (e->steps & MR_EPILOGUE_AUX)
            mr_store(e->aux_type, at, 1, 1, 1, true, &x);
        return gelu(x);
    }
    if (e->steps & MR_EPILOGUE_GELU_BACK)
        return x * gelu_slope(mr_load_one(e->aux_type, at));
    return x;
}

/* The tile in `buffer`, with columns `ld` elements apart. */
static void finish_tile(const struct mr_product *p, const struct mr_tile *tile, int64_t member, void *buffer,
                        int64_t ld)
{
    const struct mr_epilogue *e = &p->epilogue;
    bool is_bits = e->steps & (MR_EPILOGUE_RELU | MR_EPILOGUE_RELU_BACK);
    int64_t aux_step = is_bits ? e->aux_stride / 8 : e->aux_stride * (int64_t)mr_element_size(e->aux_type);
    char *aux = e->aux ? (char *)e->aux + member * aux_step : NULL;
    const char *bias = e->bias ? (const char *)e->bias + member * e->bias_stride * mr_element_size(e->bias_type) : NULL;
    double scale = factor(p, 3);
    for (int64_t j = 0; j < tile->columns; j++)
        for (int64_t i = 0; i < tile->rows; i++) {
            char *at = (char *)buffer + (i + j * ld) * (int64_t)unit_of(p);
            double x = p->wide ? *(double *)at : (double)*(float *)at;
            if (e->steps & MR_EPILOGUE_BIAS)
                x += mr_load_one(e->bias_type, bias + (tile->row + i) * (int64_t)mr_element_size(e->bias_type));
            x = through(e, x, aux, tile->row + i + (tile->column + j) * e->aux_ld) * scale;
            if (p->wide)
                *(double *)at = x;
            else
                *(float *)at = (float)x;
        }
}

static void run_tile(const struct mr_product *p, const struct mr_tile *tile, int64_t member)
{
    const char *c = p->c.at ? member_of(p, &p->c, member) : NULL;
    char *d = member_of(p, &p->d, member);
    int sizes[] = {(int)tile->rows, (int)tile->columns, (int)p->k}, lda, ldb, ldt = (int)tile->rows;
    _Alignas(16) unsigned char alpha[16], beta[16];
    if (!scalar(p, &p->alpha, factor(p, 0) * factor(p, 1), alpha))
        sizes[2] = 0; /* A and B are not read */
    bool adds = scalar(p, &p->beta, factor(p, 2), beta) && c;
    bool plain_a = p->transa == 'N', plain_b = p->transb == 'N';
    const void *a = operand(p, &p->a, member_of(p, &p->a, member), plain_a ? tile->row : 0, plain_a ? 0 : tile->row,
                            plain_a ? tile->rows : p->k, plain_a ? p->k : tile->rows, 0, &lda);
    const void *b =
        operand(p, &p->b, member_of(p, &p->b, member), plain_b ? 0 : tile->column, plain_b ? tile->column : 0,
                plain_b ? p->k : tile->columns, plain_b ? tile->columns : p->k, 1, &ldb);
    char *to = d + (tile->row + tile->column * p->d.ld) * (int64_t)mr_element_size(p->d.type);
    const char *from = adds ? c + (tile->row + tile->column * p->c.ld) * (int64_t)mr_element_size(p->c.type) : NULL;
    bool finishes = p->epilogue.steps || p->factors[3];
    bool in_place =
        is_own_type(p, p->d.type) && (!from || (from == to && p->c.type == p->d.type && p->c.ld == p->d.ld));
    void *buffer = in_place ? to : mr_math_scratch(2, (size_t)tile->rows * (size_t)tile->columns * unit_of(p));
    if (!a || !b || !buffer) {
        mr_math_short_of_memory(p->function);
        return;
    }
    if (in_place)
        ldt = (int)p->d.ld;
    else if (from)
        mr_load(p->c.type, from, p->c.ld, tile->rows, tile->columns, p->wide, buffer);
    if (!adds)
        memset(beta, 0, sizeof beta);
    mr_cpu.gemm[type_of(p)](&p->transa, &p->transb, &sizes[0], &sizes[1], &sizes[2], alpha, a, &lda, b, &ldb, beta,
                            buffer, &ldt);
    if (finishes)
        finish_tile(p, tile, member, buffer, ldt);
    if (!in_place)
        mr_store(p->d.type, to, p->d.ld, tile->rows, tile->columns, p->wide, buffer);
}

void mr_product_run(void *data, uint64_t first, uint64_t end)
{
    const struct mr_product *p = data;
    uint64_t tiles = (uint64_t)(p->tiles.down * p->tiles.across);
    for (uint64_t i = first; i < end; i++) {
        struct mr_tile tile = mr_tile_at(&p->tiles, p->m, p->n, i % tiles);
        run_tile(p, &tile, (int64_t)(i / tiles));
    }
}

/* One member of the batch; with pointers, which are read when the work runs, all of them. */
static bool tell_matrix(const struct mr_product *p, const struct mr_matrix *matrix, int64_t member, int64_t rows,
                        int64_t columns, unsigned how)
{
    size_t size = mr_element_size(matrix->type);
    const void *at = p->pointers ? matrix->at : member_of(p, matrix, member);
    return mr_tell_batch(p->function, at, p->pointers ? p->batch : 0, rows, columns, matrix->ld, size, how);
}

static bool tell_member(const struct mr_product *p, int64_t member, bool reads, unsigned result)
{
    bool plain_a = p->transa == 'N', plain_b = p->transb == 'N';
    bool asked = tell_matrix(p, &p->d, member, p->m, p->n, MR_WRITES);
    if (asked && result)
        asked = tell_matrix(p, &p->c, member, p->m, p->n, result);
    if (asked && reads)
        asked = tell_matrix(p, &p->a, member, plain_a ? p->m : p->k, plain_a ? p->k : p->m, MR_READS) &&
                tell_matrix(p, &p->b, member, plain_b ? p->k : p->n, plain_b ? p->n : p->k, MR_READS);
    return asked;
}

void mr_product_tell(const struct mr_product *p)
{
    const struct mr_epilogue *e = &p->epilogue;
    size_t size = mr_element_size(p->scale_type);
    bool reads = p->k > 0 && !mr_scalar_is_0(&p->alpha, size), asked = true;
    unsigned result = p->beta.device || mr_scalar_is_0(&p->beta, size) ? 0 : MR_READS;
    if (e->steps & (MR_EPILOGUE_AUX | MR_EPILOGUE_RELU_BACK | MR_EPILOGUE_GELU_BACK))
        return;
    for (int64_t member = 0; member < (p->pointers ? 1 : p->batch) && asked; member++)
        asked = tell_member(p, member, reads, result);
    for (int64_t member = 0; member < p->batch && asked && e->steps & MR_EPILOGUE_BIAS; member++)
        asked = mr_tell_rows(p->function,
                             (const char *)e->bias + member * e->bias_stride * (int64_t)mr_element_size(e->bias_type),
                             (size_t)p->m * mr_element_size(e->bias_type), 1, 0, MR_READS);
    for (int i = 0; i < 4 && asked; i++)
        asked = mr_tell_rows(p->function, p->factors[i], sizeof(float), 1, 0, MR_READS);
    if (asked)
        (void)(mr_tell_scalar(p->function, &p->alpha, size) && mr_tell_scalar(p->function, &p->beta, size));
}
