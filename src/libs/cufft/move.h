/* SPDX-License-Identifier: Apache-2.0 */
/* Moving lines between memory and scratch. In scratch, elements are float or double (complex ones: the real part first)
 * and follow each other. */
#ifndef MR_CUFFT_MOVE_H
#define MR_CUFFT_MOVE_H

#include <library_types.h>
#include <stdbool.h>
#include <stdint.h>

/* Lines in memory; strides in bytes. */
struct mr_move {
    cudaDataType type;
    int64_t stride, gap; /* between elements; between the parts of a complex one */
    int64_t n; /* elements of a line */
    int64_t lines, apart; /* how many, and how far apart */
};

/* From memory to scratch, whose lines are `room` elements apart. */
void mr_move_in(const struct mr_move *move, const char *memory, void *scratch, int64_t room);

/* From scratch to memory. */
void mr_move_out(const struct mr_move *move, char *memory, const void *scratch, int64_t room);

/* Bytes of an element in scratch. */
int64_t mr_move_bytes(cudaDataType type);

/* One complex element as double. */
void mr_move_load(cudaDataType type, const char *at, int64_t gap, double out[2]);
void mr_move_store(cudaDataType type, char *at, int64_t gap, const double in[2]);

#endif
