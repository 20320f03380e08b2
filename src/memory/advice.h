/* SPDX-License-Identifier: Apache-2.0 */
/* Advice on managed memory: what the program said about ranges of it, and where it asked for them to be.
 *
 * All memory is one, so advice changes nothing but what cuMemRangeGetAttribute tells. Ranges are page-granular and may
 * cut across one another. Any thread. */
#ifndef MR_MEMORY_ADVICE_H
#define MR_MEMORY_ADVICE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MR_ADVICE_CPU 31u   /* the processor's bit in accessed_by; devices have the bit of their ordinal */

struct mr_advice {
    bool read_mostly;
    CUmemLocation preferred;     /* type CU_MEM_LOCATION_TYPE_INVALID: none */
    CUmemLocation prefetched;    /* likewise */
    uint32_t accessed_by;
};

/* Applies `change` to what is known of every page of the range. False when memory is short: nothing has changed then.
 */
bool mr_advice_update(uintptr_t start, size_t size, void (*change)(struct mr_advice *advice, const void *data),
                      const void *data) __attribute__((warn_unused_result));

/* Calls `visit` for each stretch of the range, gaps (with empty advice) included, in order. */
void mr_advice_visit(uintptr_t start, size_t size, void (*visit)(const struct mr_advice *advice, void *data),
                     void *data);

/* Forgets the range: its memory is freed. */
void mr_advice_forget(uintptr_t start, size_t size);

#endif
