/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that the kernels of this part and their twins in C share. */
#ifndef BENCH_LANES_H
#define BENCH_LANES_H

#define WAVES (1 << 22)
#define SET_SIDE 1024
#define SET_ROUNDS 100
#define PICTURE 2048
#define TAPS 9
#define TREE_THREADS 256
#define TREES (1 << 22)
#define KEYS (1 << 18)
#define KEY_BYTES 64 /* from one key to the next; three words of it are read */

#endif
