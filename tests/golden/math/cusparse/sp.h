/* SPDX-License-Identifier: Apache-2.0 */
/* The common header of the cases about cuSPARSE: as rt.h, which it takes its words and fixtures from. The same source
 * is built against NVIDIA's library to record the answers and against Millrace's to compare them.
 *
 * Elements are small whole numbers, so sums and products are exact and results are the same to the last bit, in
 * whatever order they are computed. */
#ifndef SP_H
#define SP_H

#include "../../runtime/rt.h"

#include <cusparse.h>

/* How a case's elements and indices are. */
struct sp {
    cusparseHandle_t h;
    char type; /* S, D, C, Z; H: half, B: bfloat16, I: integers of 8 bits */
    bool wide; /* indices of 64 bits */
    int base;
    cudaDataType data; /* the type's number */
    cusparseIndexType_t index; /* the indices' */
    cusparseIndexBase_t from;
};

struct sp sp_begin(char type);
/* With indices of 64 bits, and with a base of 1. */
struct sp sp_begin_with(char type, bool wide, int base);

/* Says the status's name without CUSPARSE_STATUS_. */
void sp(cusparseStatus_t status);

/* Ends the case unless the step succeeds. */
#define SP_NEED(expr) sp_need((expr), #expr)
void sp_need(cusparseStatus_t status, const char *what);

/* Device memory that lasts until the next case begins; zero at first. */
void *sp_room(size_t bytes);
/* Elements, of whose imaginary parts each is the real one modulo 3; indices, to which the base is added. */
void *sp_elements(const struct sp *s, const int *values, size_t count);
void *sp_indices(const struct sp *s, const int *values, size_t count);
/* `count` elements: numbers from -4 to 4, which depend on `seed`. */
void *sp_numbers(const struct sp *s, size_t count, int seed);
/* A scalar on the host, of the type in which the type's products are computed. Four at a time. */
const void *sp_scalar(const struct sp *s, int value);

/* Waits for the device, and says `count` elements (times 16, to the nearest whole number) or a hash of them. */
void sp_say(const struct sp *s, const void *at, size_t count);
/* The same of an element type of its own: S, D, C or Z. */
void sp_say_as(char type, const void *at, size_t count);
/* Says indices, less the base, or a hash of them. */
void sp_say_indices(const struct sp *s, const void *at, size_t count);
void sp_say_ints(const int *at, size_t count);

/* The two matrices of the cases, in any format.
 *     GENERAL, 6 x 4: an empty row, a full one, nothing in the last column but one entry.
 *     SQUARE, 4 x 4: entries on both sides of a diagonal of ones and minus ones. */
enum { GENERAL, SQUARE };
cusparseSpMatDescr_t sp_matrix(const struct sp *s, int which, cusparseFormat_t format);
/* Their entries, by rows. */
extern const int sp_general[6][4], sp_square[4][4];
/* Row offsets, column indices and values of CSR. */
struct sp_csr {
    int rows, cols, nnz;
    int *offsets, *columns; /* device, 32 bits, with the case's base */
    void *values;
};
struct sp_csr sp_csr(const struct sp *s, int which);

cusparseDnVecDescr_t sp_vector(const struct sp *s, int64_t size, void *values);
cusparseDnMatDescr_t sp_dense(const struct sp *s, int64_t rows, int64_t cols, void *values, cusparseOrder_t order);
cusparseMatDescr_t sp_older(const struct sp *s);

/* Calls the type's function of an older family. */
#define SP_CALL(s, name, ...) \
    ((s)->type == 'S'   ? cusparseS##name(__VA_ARGS__) \
     : (s)->type == 'D' ? cusparseD##name(__VA_ARGS__) \
     : (s)->type == 'C' ? cusparseC##name(__VA_ARGS__) \
                        : cusparseZ##name(__VA_ARGS__))

#endif
