/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that the kernels of this part and their twins in C share. */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H

#define SIDE 2048
#define TILE_ROWS 128 /* of a block's tile of the product */
#define TILE_COLS 128
#define TILE_BYTES 64 /* of a row of a factor that is in shared memory at a time */
#define PITCH 80      /* from row to row there */
#define WARP_ROWS 64
#define WARP_COLS 32
#define THREADS (32 * (TILE_ROWS / WARP_ROWS) * (TILE_COLS / WARP_COLS))
#define WMMA_SIDE 1024

#endif
