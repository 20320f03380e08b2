/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine can do at most, in C with OpenMP on all its cores: bytes of memory a second, floating-point
 * operations a second. The kernels are measured against it.
 *
 * Memory: reading, copying and a triad (two arrays read, one written) over arrays far above the last cache, the best of
 * some rounds of the three. Stores go past the caches, so that nothing is read for being overwritten: bytes count as
 * the loop says them. Arithmetic: fused multiply-adds of single precision in vectors of this processor's width, with
 * enough of them that do not wait for each other; each counts as two operations. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define LANES (VECTOR_BYTES / sizeof(float))

typedef float vector __attribute__((vector_size(VECTOR_BYTES)));

enum { ROUNDS = 6, CHAINS = 12, STEPS = 1 << 22, PARTS = 16, LARGE_PAGE = 2 << 20 };

/* Bytes of each of three arrays: four times the last cache, if the system says how large that is, and 128 MiB at least;
 * all three at most half of the memory. */
static size_t array_bytes(void)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE), pages = sysconf(_SC_PHYS_PAGES);
    size_t bytes = (size_t)128 << 20, most = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) / 6;
    if (cache > 0 && (size_t)cache * 4 > bytes)
        bytes = (size_t)cache * 4;
    if (bytes > most)
        bytes = most;
    return bytes / LARGE_PAGE * LARGE_PAGE;
}

/* In large pages where the system has them: neither their making nor their look-up should count. */
static vector *array(size_t bytes)
{
    vector *made = aligned_alloc(LARGE_PAGE, bytes);
    if (!made)
        exit(1);
    madvise(made, bytes, MADV_HUGEPAGE);
    return made;
}

static void keep(double *best, double bytes, double begin)
{
    double rate = bytes / (kernels_seconds() - begin);
    if (rate > *best)
        *best = rate;
}

static double bytes_a_second(void)
{
    size_t bytes = array_bytes(), count = bytes / sizeof(vector);
    vector *a = array(bytes), *b = array(bytes), *c = array(bytes), sum = {0};
    double best = 0;
    /* Each thread touches first what it works on later. */
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++)
        a[i] = b[i] = c[i] = (vector){1};
    for (int round = 0; round < ROUNDS; round++) {
        double begin = kernels_seconds();
#pragma omp parallel
        {
            vector mine[4] = {{0}};
#pragma omp for schedule(static)
            for (size_t i = 0; i < count / 4 * 4; i += 4)
                for (size_t k = 0; k < 4; k++)
                    mine[k] += a[i + k];
#pragma omp critical
            sum += mine[0] + mine[1] + mine[2] + mine[3];
        }
        keep(&best, (double)bytes, begin);
        begin = kernels_seconds();
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < count; i++)
            __builtin_nontemporal_store(a[i], &c[i]);
        keep(&best, 2 * (double)bytes, begin);
        begin = kernels_seconds();
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < count; i++)
            __builtin_nontemporal_store(a[i] + 3.0f * b[i], &c[i]);
        keep(&best, 3 * (double)bytes, begin);
    }
    /* Looked at, so that no loop is without effect. */
    fprintf(stderr, "%s", sum[0] + c[count / 2][0] < 0 ? "memory: a sum of ones is negative\n" : "");
    free(a);
    free(b);
    free(c);
    return best;
}

static double operations_a_second(void)
{
    double best = 0, sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = kernels_seconds();
        /* More parts than threads, so that each works to the end, wherever the system lets it run. */
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
        for (int part = 0; part < PARTS; part++) {
            vector chain[CHAINS], factor = (vector){0} + 0.999f, more = (vector){0} + (float)(part + 1);
            memset(chain, 0, sizeof chain);
            for (int step = 0; step < STEPS / CHAINS; step++)
#pragma unroll
                for (int k = 0; k < CHAINS; k++)
                    chain[k] = chain[k] * factor + more;
            for (int k = 0; k < CHAINS; k++)
                sum += (double)chain[k][0];
        }
        keep(&best, (double)PARTS * (STEPS / CHAINS) * CHAINS * LANES * 2, begin);
    }
    fprintf(stderr, "%s", sum < 0 ? "arithmetic: a sum of positive numbers is negative\n" : "");
    return best;
}

int main(void)
{
    printf("peak_bytes %.0f\n", bytes_a_second());
    printf("peak_operations %.0f\n", operations_a_second());
    return 0;
}
