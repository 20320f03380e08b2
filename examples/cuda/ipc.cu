/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes share memory and an event: the child waits for the parent's event in a stream of its own, and changes what the parent wrote. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const int n = 256;

struct handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

__global__ void fill(int *data)
{
    data[threadIdx.x] = threadIdx.x;
}

__global__ void twice(int *data)
{
    data[threadIdx.x] *= 2;
}

static int child(int from)
{
    handles shared;
    int *data;
    cudaEvent_t filled;
    cudaStream_t stream;
    EXPECT(read(from, &shared, sizeof shared) == (ssize_t)sizeof shared);
    CHECK(cudaIpcOpenMemHandle((void **)&data, shared.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&filled, shared.event));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamWaitEvent(stream, filled, 0));
    twice<<<1, n, 0, stream>>>(data);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaIpcCloseMemHandle(data));
    CHECK(cudaEventDestroy(filled));
    return 0;
}

int main()
{
    int ends[2], status = -1, *data, result[n];
    handles shared;
    cudaEvent_t filled;
    EXPECT(pipe(ends) == 0);
    pid_t other = fork(); /* before the first CUDA call: a process that forks later has none of it in the child */
    EXPECT(other >= 0);
    if (other == 0)
        return child(ends[0]);
    CHECK(cudaMalloc(&data, sizeof result));
    CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming | cudaEventInterprocess));
    fill<<<1, n>>>(data);
    CHECK(cudaEventRecord(filled));
    CHECK(cudaIpcGetMemHandle(&shared.memory, data));
    CHECK(cudaIpcGetEventHandle(&shared.event, filled));
    EXPECT(write(ends[1], &shared, sizeof shared) == (ssize_t)sizeof shared);
    EXPECT(waitpid(other, &status, 0) == other && status == 0);
    CHECK(cudaMemcpy(result, data, sizeof result, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(result[i] == 2 * i);
    CHECK(cudaEventDestroy(filled));
    CHECK(cudaFree(data));
    std::printf("ipc: %d numbers changed by another process\n", n);
    return 0;
}
