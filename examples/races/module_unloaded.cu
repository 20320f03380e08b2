/* SPDX-License-Identifier: Apache-2.0 */
/* Unloading a module waits for the work of its own context alone. A kernel of another one still reads its variable. */
#include <cuda.h>

#include "race.h"

#define CHECK_DRIVER(call) CHECK((cudaError_t)(call)) /* both have the same numbers */

static const char text[] = ".version 7.0\n"
                           ".target sm_70\n"
                           ".address_size 64\n"
                           ".visible .global .align 256 .b8 table[262144];\n";

static CUdeviceptr load(CUmodule *module, int value)
{
    CUdeviceptr table;
    CHECK_DRIVER(cuModuleLoadData(module, text));
    CHECK_DRIVER(cuModuleGetGlobal(&table, nullptr, *module, "table"));
    CHECK_DRIVER(cuMemsetD32(table, value, N));
    CHECK(cudaDeviceSynchronize());
    return table;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *b = new_buffer();
    CUcontext home, elsewhere;
    CUmodule first, second;
    CUdeviceptr table = load(&first, 1);
    CHECK_DRIVER(cuCtxGetCurrent(&home));
    CHECK_DRIVER(cuCtxCreate(&elsewhere, nullptr, 0, 0));
    cudaStream_t reader = new_stream();
    add<<<BLOCKS, THREADS, 0, reader>>>(b, (int *)table, 1);
    if (mended)
        CHECK(cudaStreamSynchronize(reader));
    CHECK_DRIVER(cuCtxSetCurrent(home));
    CHECK_DRIVER(cuModuleUnload(first));
    load(&second, 7); /* its table has the place of the first one's */
    CHECK(cudaStreamSynchronize(reader));
    return verdict_of_device(b, 2);
}
