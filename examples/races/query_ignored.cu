/* SPDX-License-Identifier: Apache-2.0 */
/* The program asks whether the work is done, and goes on whatever the answer is. */
#include "race.h"

#include <atomic>

static std::atomic<bool> asked(false);

/* Keeps the writer's work from being done before the program has asked for it. */
static void hold(void *)
{
    while (!asked)
        ;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    int *a = new_buffer(), *b = new_buffer();
    cudaStream_t writer = new_stream(), reader = new_stream();
    cudaEvent_t written = new_event();
    CHECK(cudaLaunchHostFunc(writer, hold, nullptr));
    set<<<BLOCKS, THREADS, 0, writer>>>(a, 1);
    CHECK(cudaEventRecord(written, writer));
    bool ready = cudaEventQuery(written) == cudaSuccess;
    asked = true;
    if (mended)
        while (!ready)
            ready = cudaEventQuery(written) == cudaSuccess;
    else if (!ready)
        std::fprintf(stderr, "not ready yet\n");
    add<<<BLOCKS, THREADS, 0, reader>>>(b, a, 1);
    return verdict_of_device(b, 2);
}
