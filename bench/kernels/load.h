/* SPDX-License-Identifier: Apache-2.0 */
/* How programs that time kernels come to them. */
#ifndef BENCH_KERNELS_LOAD_H
#define BENCH_KERNELS_LOAD_H

#include "../bench.h"

/* Opens the first device and loads PTX there. Kernels get code that is as good as it gets at once. */
static inline CUmodule kernels_load(const char *ptx)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    setenv("MILLRACE_OPTIMISE_AFTER", "0", 0);
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx));
    return module;
}

#endif
