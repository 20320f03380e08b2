/* SPDX-License-Identifier: Apache-2.0 */
/* Zeroing memory that nobody uses yet: whole pages are given back to the system, which brings zeros when they are
 * touched. */
#include <string.h>
#include <sys/mman.h>

#include "memory/allocation.h"

/* Below this a system call costs more than the stores. */
#define BY_PAGES_LEAST ((size_t)256 << 10)

void mr_memory_clear(uintptr_t base, size_t size)
{
    size_t page = mr_memory_page();
    uintptr_t first = (base + page - 1) & ~(uintptr_t)(page - 1), last = (base + size) & ~(uintptr_t)(page - 1);
    /* Pages that are locked stay. */
    if (size < BY_PAGES_LEAST || madvise((void *)first, last - first, MADV_DONTNEED) != 0) {
        memset((void *)base, 0, size);
        return;
    }
    memset((void *)base, 0, first - base);
    memset((void *)last, 0, base + size - last);
}
