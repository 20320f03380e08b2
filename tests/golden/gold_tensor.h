/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers of the cases about tensor maps: a map over memory whose 16-bit words count up, and one instruction that moves
 * a box of it to shared memory or back.
 */
#ifndef GOLD_TENSOR_H
#define GOLD_TENSOR_H

#include "gold.h"

enum { TENSOR_BYTES = 131072, TENSOR_ROOM = 16384 };

/* What cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col take; what is 0 gets a usual value: strides without gaps,
 * steps of 1. */
struct tensor {
    CUtensorMapDataType type;
    unsigned rank;
    cuuint64_t dim[5], stride[4];
    cuuint32_t box[5], step[5];
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
    bool im2col;
    int lower[3], upper[3];
    unsigned channels, pixels;
    size_t begin; /* bytes into the memory */
};

/* Bytes of an element. */
unsigned tensor_element(CUtensorMapDataType type);

/* Fills in what is 0 and encodes. `memory`: where the tensor is. */
CUresult tensor_encode(const struct tensor *tensor, CUdeviceptr memory, CUtensorMap *map);

/* TENSOR_BYTES of memory whose 16-bit words count up from 0, or as `words` says. */
CUdeviceptr tensor_memory(const uint32_t *words, size_t count);

/*
 * Runs `instruction` in one thread. It finds %rm, the map's address; %c0..%c4, the coordinates; %h0..%h2, 16-bit
 * numbers; %s, where the box is in shared memory (`room` and `offset` bytes, aligned to 1024 without the offset); %b,
 * an mbarrier that expects `bytes` (0: none is waited for; then a bulk group is). Shared memory begins as 0xcdcd, or,
 * without bytes, as words that count up from 0x8000. *room gets it as it is afterwards.
 */
CUresult tensor_run(const CUtensorMap *map, const char *instruction, const int at[5], const unsigned short more[3],
                    unsigned bytes, unsigned offset, uint16_t room[TENSOR_ROOM / 2], bool *late);

/* The instruction that loads, or that stores, a box in tile mode. */
const char *tensor_load(unsigned rank);
const char *tensor_store(unsigned rank);

/* Says a hash of words; with GOLDEN_DUMP in the environment also puts them to stderr, as runs: FIRST+COUNT counts up,
 * FIRST*COUNT repeats. */
void tensor_say(const char *name, const uint16_t *words, size_t count);

#endif
