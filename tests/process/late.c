/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose destructor calls the driver: see orders.c, which loads it before or after the driver. */
#include "late.h"

#include <stdlib.h>
#include <unistd.h>

static struct late_calls calls;

void late_set(const struct late_calls *given)
{
    calls = *given;
}

__attribute__((destructor)) static void at_the_end(void)
{
    CUdeviceptr memory = 0;
    CUresult status[4];
    int count = 0;
    if (!calls.get_count)
        return;
    status[0] = calls.get_count(&count);
    status[1] = calls.allocate(&memory, 64);
    status[2] = calls.synchronize();
    status[3] = calls.init(0);
    for (int i = 0; i < 4; i++)
        if (*calls.exiting ? status[i] != CUDA_ERROR_DEINITIALIZED : status[i] != CUDA_SUCCESS)
            _exit(40 + i);
}
