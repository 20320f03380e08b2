/* SPDX-License-Identifier: Apache-2.0 */
/* A stream waits for a word in memory, which another stream writes too early. */
#include <cuda.h>

#include "race.h"

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer(), *flag = new_buffer();
    cudaStream_t writer = new_stream(), reader = new_stream();
    if (!mended)
        cuStreamWriteValue32(writer, (CUdeviceptr)flag, 1, CU_STREAM_WRITE_VALUE_DEFAULT);
    set<<<BLOCKS, THREADS, 0, writer>>>(a, 1);
    if (mended)
        cuStreamWriteValue32(writer, (CUdeviceptr)flag, 1, CU_STREAM_WRITE_VALUE_DEFAULT);
    cuStreamWaitValue32(reader, (CUdeviceptr)flag, 1, CU_STREAM_WAIT_VALUE_GEQ);
    add<<<BLOCKS, THREADS, 0, reader>>>(b, a, 1);
    return verdict_of_device(b, 2);
}
