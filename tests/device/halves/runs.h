/* SPDX-License-Identifier: Apache-2.0 */
/* Runs all calls of a function and prints what came of them, on the host and (for CUDA compilers) on the device. */
#ifndef HALVES_RUNS_H
#define HALVES_RUNS_H

static word results[CALLS];
static void host(word (*one)(word), const char *name)
{
    for (int i = 0; i < CALLS; i++)
        results[i] = one((word)i);
    printf("host %016llx %s\n", sum_of(results), name);
}

#ifdef __CUDACC__
/* Arguments are made here, and read there. */
static slot arguments[CALLS], *given;
static word *out, *memory;
template <class T, class F> static void give(int place, F value)
{
    for (int i = 0; i < CALLS; i++) {
        T x = value((word)i);
        memcpy((void *)&arguments[i], (const void *)&x, sizeof x);
    }
    if (!given && (cudaMalloc(&given, 4 * sizeof arguments) || cudaMalloc(&out, sizeof results) ||
                   cudaMalloc(&memory, sizeof results)))
        printf("no memory\n");
    cudaMemcpy(given + place * CALLS, arguments, sizeof arguments, cudaMemcpyHostToDevice);
}
static void device(void (*kernel)(const slot *, word *, word *), const char *name)
{
    kernel<<<CALLS / 256, 256>>>(given, out, memory);
    if (cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost))
        printf("%s: ", cudaGetErrorString(cudaGetLastError()));
    printf("device %016llx %s\n", sum_of(results), name);
}
#endif
#endif
