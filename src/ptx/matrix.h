/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The matrices of a warp instruction: sizes, element types, and how many
 * registers of each lane hold them. The verifier counts operands with it, code
 * generation works on it.
 */
#ifndef MR_PTX_MATRIX_H
#define MR_PTX_MATRIX_H

#include "ptx/ptx.h"

/* Shapes of warp matrix instructions: X(m, n, k). */
#define MR_PTX_SHAPES(X) \
    X(8, 8, 4) \
    X(8, 8, 16) \
    X(8, 8, 32) \
    X(8, 8, 128) \
    X(16, 8, 4) \
    X(16, 8, 8) \
    X(16, 8, 16) \
    X(16, 8, 32) \
    X(16, 8, 64) \
    X(16, 8, 128) \
    X(16, 8, 256) \
    X(16, 16, 16) \
    X(8, 32, 16) \
    X(32, 8, 16) \
    X(16, 16, 8)

enum mr_ptx_shape {
    MR_PTX_SHAPE_NONE,
#define X(m, n, k) MR_PTX_SHAPE_M##m##N##n##K##k,
    MR_PTX_SHAPES(X)
#undef X
        MR_PTX_SHAPE_COUNT
};

/* How a matrix lies in memory or in fragments. */
enum mr_ptx_matrix_layout { MR_PTX_LAYOUT_NONE, MR_PTX_LAYOUT_ROW, MR_PTX_LAYOUT_COL };

enum mr_ptx_matrix_name { MR_PTX_MATRIX_A, MR_PTX_MATRIX_B, MR_PTX_MATRIX_C, MR_PTX_MATRIX_D, MR_PTX_MATRIX_COUNT };

/* D = A * B + C. A is m * k, B is k * n, C and D are m * n. */
struct mr_ptx_matrix_op {
    uint16_t m, n, k;
    uint8_t type[MR_PTX_MATRIX_COUNT]; /* enum mr_ptx_type of elements; NONE where the instruction has no such matrix */
    uint8_t regs[MR_PTX_MATRIX_COUNT]; /* registers of 32 bits (f64: of 64) per lane */
    uint8_t parts[MR_PTX_MATRIX_COUNT]; /* elements in a register; b1 counts its 32 bits as one */
    bool quads; /* mma.m8n8k4 of f16: four products at a time, each in 8 lanes */
    bool
        turned; /* wmma.m8n32k16: the product lies in registers turned over, B as A of others, and C and D by columns */
    /* mma.sp: A is kept as half of each row. `group` neighbours of a row are called a group, of which `group` / 2 are
     * kept; four bits of metadata say which. 0 for other instructions. */
    uint8_t group;
};

/* Groups in a row of a sparse matrix. */
static inline unsigned mr_ptx_matrix_groups(const struct mr_ptx_matrix_op *op)
{
    return op->k / op->group;
}

/* How many values the sparsity selector can have: so many sets of lanes can hold the metadata. */
static inline unsigned mr_ptx_matrix_selectors(const struct mr_ptx_matrix_op *op)
{
    return 16 / mr_ptx_matrix_groups(op);
}

/*
 * Fragments are made of tiles of eight lines: rows of A, columns of B, and of C and D rows or, if the product is
 * turned, columns. Four lanes have a line of a tile, each with one register (sums of 32 bits and more: with two). The
 * next register has the tile below, if lines come in sixteens, as those of A of mma do; then follow the tiles to the
 * right, and then the lines below.
 */
static inline unsigned mr_ptx_matrix_lines(const struct mr_ptx_matrix_op *op, enum mr_ptx_matrix_name name)
{
    return name == MR_PTX_MATRIX_B || (name != MR_PTX_MATRIX_A && op->turned) ? op->n : op->m;
}

/* Tiles below each other before the next to the right. */
static inline unsigned mr_ptx_matrix_tall(const struct mr_ptx_matrix_op *op, enum mr_ptx_matrix_name name)
{
    return mr_ptx_matrix_lines(op, name) >= 16 && name != (op->turned ? MR_PTX_MATRIX_A : MR_PTX_MATRIX_B) ? 2 : 1;
}

/* Of an mma or wmma instruction that has a form. For loads and stores only the matrix that they move. */
struct mr_ptx_matrix_op mr_ptx_matrix_of(const struct mr_ptx_inst *inst);

/* The type that a register of that matrix must have. */
enum mr_ptx_type mr_ptx_matrix_register(const struct mr_ptx_matrix_op *op, enum mr_ptx_matrix_name name);

#endif
