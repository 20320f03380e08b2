/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that the kernels with atomic operations and their twins in C share. */
#ifndef BENCH_ATOMICS_H
#define BENCH_ATOMICS_H

#define COUNT (1 << 22) /* values, a thread each */
#define BINS 256
#define FEW 8
#define PLACES (1 << 20) /* of the scatter */
#define OWN (1 << 17)    /* places that a thread each adds to */
#define ROUNDS 32

#endif
