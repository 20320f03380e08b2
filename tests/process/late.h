/* SPDX-License-Identifier: Apache-2.0 */
/* What orders.c tells late.c. */
#ifndef TESTS_PROCESS_LATE_H
#define TESTS_PROCESS_LATE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

struct late_calls {
    CUresult (*get_count)(int *count);
    CUresult (*allocate)(CUdeviceptr *memory, size_t size);
    CUresult (*synchronize)(void);
    CUresult (*init)(unsigned flags);
    const bool *
        exiting; /* the process ends: every call must be refused; else the library is closed and every call must work */
};

/* Copies the record, which the library's destructor then uses. */
void late_set(const struct late_calls *given);

#endif
