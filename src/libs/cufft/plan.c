/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to a plan: its work area, and the end of both. */
#include <stdlib.h>
#include <unistd.h>

#include "libs/cufft/fft.h"

void mr_fft_area_drop(struct mr_fft_area *area)
{
    if (!area || atomic_fetch_sub_explicit(&area->references, 1, memory_order_acq_rel) != 1)
        return;
    free(area->memory);
    free(area);
}

struct mr_fft_area *mr_fft_area_new(size_t size)
{
    /* The system could promise more memory than the machine has, but it could not be used. */
    size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    struct mr_fft_area *area = size <= memory ? malloc(sizeof *area) : NULL;
    if (!area)
        return NULL;
    atomic_init(&area->references, 1);
    area->memory = aligned_alloc(256, (size + 255) & ~(size_t)255);
    if (area->memory)
        return area;
    free(area);
    return NULL;
}

void mr_fft_end(struct mr_fft *fft)
{
    for (int i = 0; i < 2; i++)
        mr_fft_program_drop(fft->programs[i]);
    mr_fft_area_drop(fft->area);
    free(fft);
}
