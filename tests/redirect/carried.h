/* SPDX-License-Identifier: Apache-2.0 */
/* What looks like the runtime library that NVIDIA links into programs: hidden functions of its names. Each answers
 * WRONG, and none must ever run. */
#ifndef CARRIED_H
#define CARRIED_H

#include <stddef.h>

#define CARRIED __attribute__((visibility("hidden")))
#define WRONG 999

CARRIED int cudaRuntimeGetVersion(int *version);
CARRIED int cudaMalloc(void **memory, size_t size);
CARRIED int cudaFree(void *memory);
CARRIED int cudaMemset(void *memory, int value, size_t count);
CARRIED int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, int kind, void *stream);
CARRIED int cudaStreamSynchronize(void *stream);
CARRIED int cudaDeviceGetDefaultMemPool(void **pool, int device);
CARRIED int cudaUnbindTexture(const void *texture); /* Millrace's has none */
CARRIED int cudaGetLastError(void);                 /* a short body */
CARRIED int cudaPeekAtLastError(void);              /* a body that is too short, with a neighbour behind it */
CARRIED int neighbour(void);                        /* that one: 42 */
CARRIED extern volatile int carried_runs;           /* how often one of them has run */
#if VERSION == 12
CARRIED int cudaThreadExit(void); /* tells the version */
#endif

/* Calls of the functions above, from the object that holds this: 0, or the number of the check that failed. *version is
 * what the runtime library says. */
int carried_check(int *version);

/* The status of cudaUnbindTexture. */
int carried_absent(void);

/* 64 bytes of the device's memory by the library of the object that holds this. */
int carried_malloc(void **memory);

/* The address of one of the functions, as the object has it. */
const void *carried_function(void);

#endif
