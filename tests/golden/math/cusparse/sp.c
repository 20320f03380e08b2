/* SPDX-License-Identifier: Apache-2.0 */
/* What cases of cuSPARSE stand on. */
#include "sp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sp(cusparseStatus_t status)
{
    char text[48];
    const char *name = cusparseGetErrorName(status);
    if (name && strncmp(name, "CUSPARSE_STATUS_", 16) == 0)
        snprintf(text, sizeof text, "%s", name + 16);
    else
        snprintf(text, sizeof text, "status=%d", (int)status);
    say_text(text);
}

void sp_need(cusparseStatus_t status, const char *what)
{
    char text[200];
    if (status == CUSPARSE_STATUS_SUCCESS)
        return;
    snprintf(text, sizeof text, "%.150s status=%d", what, (int)status);
    gold_stop(text);
}

/* ---- memory ---- */

#define ROOM ((size_t)32 << 20)
static char *room;
static size_t used;

void *sp_room(size_t bytes)
{
    void *at = room + used;
    used += (bytes + 255) & ~(size_t)255;
    if (used > ROOM)
        gold_stop("the case needs more memory than there is");
    return at;
}

struct sp sp_begin_with(char type, bool wide, int base)
{
    static cusparseHandle_t handle;
    static const struct {
        char letter;
        cudaDataType data;
    } types[] = {{'S', CUDA_R_32F}, {'D', CUDA_R_64F},  {'C', CUDA_C_32F}, {'Z', CUDA_C_64F},
                 {'H', CUDA_R_16F}, {'B', CUDA_R_16BF}, {'I', CUDA_R_8I}};
    if (!handle) {
        SP_NEED(cusparseCreate(&handle));
        RT_NEED(cudaMalloc((void **)&room, ROOM));
        used = ROOM;
    }
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemset(room, 0, used < ROOM ? used : ROOM));
    used = 0;
    SP_NEED(cusparseSetStream(handle, NULL));
    SP_NEED(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    struct sp s = {.h = handle, .type = type, .wide = wide, .base = base};
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].letter == type)
            s.data = types[i].data;
    s.index = wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    s.from = base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
    return s;
}

struct sp sp_begin(char type)
{
    return sp_begin_with(type, false, 0);
}

/* ---- elements ---- */

static size_t element_size(char type)
{
    switch (type) {
    case 'I':
        return 1;
    case 'H':
    case 'B':
        return 2;
    case 'S':
        return 4;
    case 'Z':
        return 16;
    default:
        return 8;
    }
}

/* A small whole number as half: exact. */
static unsigned short half_of(int value)
{
    if (value == 0)
        return 0;
    int size = abs(value), exponent = 0;
    while (size >> (exponent + 1))
        exponent++;
    unsigned fraction = (unsigned)(size - (1 << exponent)) << 10 >> exponent;
    return (unsigned short)((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | (int)fraction);
}

static void put(char type, void *at, size_t index, int value)
{
    float number = (float)value;
    unsigned bits;
    memcpy(&bits, &number, sizeof bits);
    switch (type) {
    case 'I':
        ((signed char *)at)[index] = (signed char)value;
        break;
    case 'H':
        ((unsigned short *)at)[index] = half_of(value);
        break;
    case 'B':
        ((unsigned short *)at)[index] = (unsigned short)(bits >> 16);
        break;
    case 'S':
        ((float *)at)[index] = number;
        break;
    case 'D':
        ((double *)at)[index] = value;
        break;
    case 'C':
        ((float *)at)[2 * index] = number;
        ((float *)at)[2 * index + 1] = (float)(value % 3);
        break;
    default:
        ((double *)at)[2 * index] = value;
        ((double *)at)[2 * index + 1] = value % 3;
    }
}

void *sp_elements(const struct sp *s, const int *values, size_t count)
{
    static char host[16 * 4096];
    void *device = sp_room(count * element_size(s->type) + 1);
    for (size_t i = 0; i < count; i++)
        put(s->type, host, i, values[i]);
    RT_NEED(cudaMemcpy(device, host, count * element_size(s->type), cudaMemcpyHostToDevice));
    return device;
}

void *sp_numbers(const struct sp *s, size_t count, int seed)
{
    static int host[4096];
    for (size_t i = 0; i < count; i++)
        host[i] = ((int)i * 7 + seed) % 9 - 4;
    return sp_elements(s, host, count);
}

void *sp_indices(const struct sp *s, const int *values, size_t count)
{
    static int64_t host[4096];
    size_t size = s->wide ? 8 : 4;
    void *device = sp_room(count * size + 1);
    for (size_t i = 0; i < count; i++)
        if (s->wide)
            host[i] = values[i] + s->base;
        else
            ((int *)host)[i] = values[i] + s->base;
    RT_NEED(cudaMemcpy(device, host, count * size, cudaMemcpyHostToDevice));
    return device;
}

const void *sp_scalar(const struct sp *s, int value)
{
    static double scalars[4][2];
    static unsigned next;
    void *at = scalars[next++ % 4];
    memset(at, 0, 16);
    if (s->type == 'I')
        *(int *)at = value;
    else if (s->type == 'C' || s->type == 'Z') {
        put(s->type, at, 0, value);
        if (value == 1 || value == 0) /* what is left out by programs stays what it is */
            memset((char *)at + (s->type == 'C' ? 4 : 8), 0, s->type == 'C' ? 4 : 8);
    } else
        put(s->type == 'D' ? 'D' : 'S', at, 0, value);
    return at;
}

void sp_say_as(char type, const void *at, size_t count)
{
    static char host[16 * 4096];
    static long long whole[2 * 4096];
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, at, count * element_size(type), cudaMemcpyDefault));
    size_t numbers = type == 'C' || type == 'Z' ? 2 * count : count;
    for (size_t i = 0; i < numbers; i++) {
        if (type == 'H' || type == 'B')
            whole[i] = ((unsigned short *)(void *)host)[i];
        else if (type == 'I')
            whole[i] = ((signed char *)host)[i];
        else
            whole[i] = llrint(
                16 * (type == 'S' || type == 'C' ? (double)((float *)(void *)host)[i] : ((double *)(void *)host)[i]));
    }
    if (numbers <= 16)
        for (size_t i = 0; i < numbers; i++)
            say_int(whole[i]);
    else
        say_hash(whole, numbers * sizeof *whole);
}

void sp_say(const struct sp *s, const void *at, size_t count)
{
    sp_say_as(s->type, at, count);
}

void sp_say_indices(const struct sp *s, const void *at, size_t count)
{
    static int64_t host[4096];
    static long long whole[4096];
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaMemcpy(host, at, count * (s->wide ? 8 : 4), cudaMemcpyDefault));
    for (size_t i = 0; i < count; i++)
        whole[i] = (s->wide ? host[i] : ((int *)host)[i]) - s->base;
    if (count <= 16)
        for (size_t i = 0; i < count; i++)
            say_int(whole[i]);
    else
        say_hash(whole, count * sizeof *whole);
}

void sp_say_ints(const int *at, size_t count)
{
    struct sp s = {0};
    sp_say_indices(&s, at, count);
}

/* ---- matrices ---- */

const int sp_general[6][4] = {{1, 0, 2, 0}, {0, 0, 0, 0}, {3, -1, 4, 2}, {0, 5, 0, 0}, {-2, 0, 0, 0}, {0, 3, 1, 0}};
const int sp_square[4][4] = {{1, 2, 0, -1}, {3, -1, 2, 0}, {0, -2, 1, 4}, {2, 0, 3, -1}};

static int entry(int which, int row, int column)
{
    return which == GENERAL ? sp_general[row][column] : sp_square[row][column];
}

struct sp_csr sp_csr(const struct sp *s, int which)
{
    struct sp narrow = *s;
    narrow.wide = false;
    struct sp_csr m = {.rows = which == GENERAL ? 6 : 4, .cols = 4};
    int offsets[7] = {0}, columns[24], values[24];
    for (int i = 0; i < m.rows; i++) {
        for (int j = 0; j < m.cols; j++)
            if (entry(which, i, j)) {
                columns[m.nnz] = j;
                values[m.nnz++] = entry(which, i, j);
            }
        offsets[i + 1] = m.nnz;
    }
    m.offsets = sp_indices(&narrow, offsets, (size_t)m.rows + 1);
    m.columns = sp_indices(&narrow, columns, (size_t)m.nnz);
    m.values = sp_elements(s, values, (size_t)m.nnz);
    return m;
}

static cusparseSpMatDescr_t compressed(const struct sp *s, int which, cusparseFormat_t format)
{
    int rows = which == GENERAL ? 6 : 4, cols = 4, nnz = 0;
    bool by_column = format == CUSPARSE_FORMAT_CSC;
    int offsets[7] = {0}, lines[24], across[24], values[24];
    for (int i = 0; i < (by_column ? cols : rows); i++) {
        for (int j = 0; j < (by_column ? rows : cols); j++) {
            int value = by_column ? entry(which, j, i) : entry(which, i, j);
            if (!value)
                continue;
            lines[nnz] = i;
            across[nnz] = j;
            values[nnz++] = value;
        }
        offsets[i + 1] = nnz;
    }
    cusparseSpMatDescr_t made = NULL;
    size_t count = (size_t)nnz;
    void *value = sp_elements(s, values, count), *index = sp_indices(s, across, count);
    if (format == CUSPARSE_FORMAT_COO)
        SP_NEED(cusparseCreateCoo(&made, rows, cols, nnz, sp_indices(s, lines, count), index, value, s->index, s->from,
                                  s->data));
    else if (by_column)
        SP_NEED(cusparseCreateCsc(&made, rows, cols, nnz, sp_indices(s, offsets, 5), index, value, s->index, s->index,
                                  s->from, s->data));
    else
        SP_NEED(cusparseCreateCsr(&made, rows, cols, nnz, sp_indices(s, offsets, (size_t)rows + 1), index, value,
                                  s->index, s->index, s->from, s->data));
    return made;
}

/* Blocks of 2 x 2. */
static cusparseSpMatDescr_t blocks(const struct sp *s, int which)
{
    int rows = which == GENERAL ? 3 : 2, nnz = 0, offsets[4] = {0}, columns[6], values[24];
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < 2; j++) {
            int block[4];
            for (int k = 0; k < 4; k++)
                block[k] = entry(which, 2 * i + k / 2, 2 * j + k % 2);
            if (!block[0] && !block[1] && !block[2] && !block[3])
                continue;
            memcpy(values + 4 * nnz, block, sizeof block);
            columns[nnz++] = j;
        }
        offsets[i + 1] = nnz;
    }
    cusparseSpMatDescr_t made = NULL;
    SP_NEED(cusparseCreateBsr(&made, rows, 2, nnz, 2, 2, sp_indices(s, offsets, (size_t)rows + 1),
                              sp_indices(s, columns, (size_t)nnz), sp_elements(s, values, (size_t)nnz * 4), s->index,
                              s->index, s->from, s->data, CUSPARSE_ORDER_ROW));
    return made;
}

/* Slices of 2 rows. */
static cusparseSpMatDescr_t slices(const struct sp *s, int which)
{
    int rows = which == GENERAL ? 6 : 4, at = 0, nnz = 0, offsets[4] = {0}, columns[24], values[24];
    for (int slice = 0; slice < rows / 2; slice++) {
        int widest = 0;
        for (int i = 0; i < 2; i++) {
            int count = 0;
            for (int j = 0; j < 4; j++)
                count += entry(which, 2 * slice + i, j) != 0;
            widest = count > widest ? count : widest;
            nnz += count;
        }
        for (int i = 0; i < 2; i++)
            for (int j = 0, k = 0; k < widest; j++)
                if (j >= 4 || entry(which, 2 * slice + i, j)) {
                    columns[at + 2 * k + i] = j >= 4 ? -1 - s->base : j;
                    values[at + 2 * k++ + i] = j >= 4 ? 0 : entry(which, 2 * slice + i, j);
                }
        at += 2 * widest;
        offsets[slice + 1] = at;
    }
    cusparseSpMatDescr_t made = NULL;
    SP_NEED(cusparseCreateSlicedEll(&made, rows, 4, nnz, at, 2, sp_indices(s, offsets, (size_t)rows / 2 + 1),
                                    sp_indices(s, columns, (size_t)at), sp_elements(s, values, (size_t)at), s->index,
                                    s->index, s->from, s->data));
    return made;
}

/* Blocks of 2 x 2, both of a row. */
static cusparseSpMatDescr_t blocked_ell(const struct sp *s, int which)
{
    int rows = which == GENERAL ? 6 : 4, columns[6] = {0, 1, 0, 1, 0, 1}, values[24];
    for (int i = 0; i < rows * 4; i++)
        values[i] = entry(which, i / 4, i % 4);
    cusparseSpMatDescr_t made = NULL;
    /* One after the other: cases print as many elements as the library says there are, and so what lies behind. */
    void *elements = sp_elements(s, values, (size_t)rows * 4), *indices = sp_indices(s, columns, (size_t)rows);
    SP_NEED(cusparseCreateBlockedEll(&made, rows, 4, 2, 4, indices, elements, s->index, s->from, s->data));
    return made;
}

cusparseSpMatDescr_t sp_matrix(const struct sp *s, int which, cusparseFormat_t format)
{
    switch (format) {
    case CUSPARSE_FORMAT_BSR:
        return blocks(s, which);
    case CUSPARSE_FORMAT_SLICED_ELLPACK:
        return slices(s, which);
    case CUSPARSE_FORMAT_BLOCKED_ELL:
        return blocked_ell(s, which);
    default:
        return compressed(s, which, format);
    }
}

cusparseDnVecDescr_t sp_vector(const struct sp *s, int64_t size, void *values)
{
    cusparseDnVecDescr_t made = NULL;
    SP_NEED(cusparseCreateDnVec(&made, size, values, s->data));
    return made;
}

cusparseDnMatDescr_t sp_dense(const struct sp *s, int64_t rows, int64_t cols, void *values, cusparseOrder_t order)
{
    cusparseDnMatDescr_t made = NULL;
    SP_NEED(cusparseCreateDnMat(&made, rows, cols, order == CUSPARSE_ORDER_ROW ? cols : rows, values, s->data, order));
    return made;
}

cusparseMatDescr_t sp_older(const struct sp *s)
{
    cusparseMatDescr_t made = NULL;
    SP_NEED(cusparseCreateMatDescr(&made));
    SP_NEED(cusparseSetMatIndexBase(made, s->from));
    return made;
}
