/* SPDX-License-Identifier: Apache-2.0 */
/* The same work as between.cu, as somebody writes it in C who has cores and no device: a scan in two passes over a
 * stretch for each thread, a critical section, a list that grows under a lock. */
#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "../kernels/kernels.h"
#include "../kernels/rounds.h"
#include "between.h"

static float *in, *out;
static int chunks[CHUNKS], values[APPENDED];

static void scan(void)
{
    static float sums[1024];
#pragma omp parallel
    {
        int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        int first = (int)((long long)SCANNED * thread / threads),
            end = (int)((long long)SCANNED * (thread + 1) / threads);
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = first; i < end; i++)
            sum += in[i];
        sums[thread] = sum;
#pragma omp barrier
        float base = 0;
        for (int t = 0; t < thread; t++)
            base += sums[t];
        for (int i = first; i < end; i++)
            out[i] = base += in[i];
    }
}

int main(void)
{
    int locked = 0, used = 0;
    atomic_int appended;
    in = aligned_alloc(64, SCANNED * sizeof *in);
    out = aligned_alloc(64, SCANNED * sizeof *out);
    kernels_fill(in, SCANNED, 1);
    REPEAT(12)
    scan();
    kernels_print("scan", timing.best, kernels_sum(out, SCANNED));
    REPEAT(6)
    {
        locked = 0;
#pragma omp parallel for
        for (int i = 0; i < LOCKED; i++) {
#pragma omp critical
            locked++;
        }
    }
    kernels_print("lock", timing.best, locked);
    REPEAT(6)
    {
        used = 0;
        atomic_store(&appended, 0);
        memset(chunks, 0, sizeof chunks);
#pragma omp parallel for
        for (int i = 0; i < APPENDED; i++) {
            int number = atomic_fetch_add(&appended, 1), chunk = number / CHUNK, place;
#pragma omp atomic read
            place = chunks[chunk];
            if (!place) {
#pragma omp critical
                {
                    if (!chunks[chunk])
                        chunks[chunk] = ++used;
                    place = chunks[chunk];
                }
            }
            values[(place - 1) * CHUNK + number % CHUNK] = i;
        }
    }
    double sum = 0;
    for (int i = 0; i < APPENDED; i++)
        sum += values[i];
    kernels_print("append", timing.best, sum);
    return 0;
}
