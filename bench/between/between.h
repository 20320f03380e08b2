/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that the kernels whose blocks wait for each other and their twins in C share. */
#ifndef BENCH_BETWEEN_H
#define BENCH_BETWEEN_H

#define SCANNED (1 << 22)
#define SCAN_THREADS 256
#define SCAN_EACH 16 /* values of a thread */
#define LOCKED 16384 /* threads that take the lock once each */
#define APPENDED (1 << 16)
#define CHUNK 64 /* values of a chunk of a list */
#define CHUNKS (APPENDED / CHUNK)

#endif
