/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs in this folder share.
 *
 * Each program lacks an order that it needs, so that its result is right by luck. With the argument `mended` it has
 * that order. It prints whether its result is right, and ends with 1 if it isn't.
 *
 *     nvcc -o missing_wait missing_wait.cu
 *     millrace check -- ./missing_wait           reports the race
 *     millrace check -- ./missing_wait mended    reports nothing */
#ifndef MILLRACE_EXAMPLE_RACE_H
#define MILLRACE_EXAMPLE_RACE_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call) \
    do { \
        cudaError_t check_status = (call); \
        if (check_status != cudaSuccess) { \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(check_status)); \
            std::exit(2); \
        } \
    } while (0)

const int N = 1 << 16;                 /* elements of a buffer */
const size_t BYTES = N * sizeof(int);

inline bool mended;
inline const char *program;

/* The first thing in main. */
inline void begin(int argc, char **argv)
{
    const char *slash = std::strrchr(argv[0], '/');
    program = slash ? slash + 1 : argv[0];
    mended = argc > 1 && std::strcmp(argv[1], "mended") == 0;
}

/* The last thing in main: is every element what it should be? */
inline int verdict(const int *found, int expected, int count = N)
{
    for (int i = 0; i < count; i++)
        if (found[i] != expected) {
            std::printf("%s: wrong: element %d is %d, not %d\n", program, i, found[i], expected);
            return 1;
        }
    std::printf("%s: right\n", program);
    return 0;
}

/* The same of device memory, once the device has come to rest. */
inline int verdict_of_device(const int *device, int expected, int count = N)
{
    int *found = (int *)std::malloc(count * sizeof(int));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(found, device, count * sizeof(int), cudaMemcpyDeviceToHost));
    int status = verdict(found, expected, count);
    std::free(found);
    return status;
}

inline cudaStream_t new_stream()
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

inline cudaEvent_t new_event()
{
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

/* Device memory full of zeros, for all streams. */
inline int *new_buffer()
{
    int *buffer;
    CHECK(cudaMalloc(&buffer, BYTES));
    CHECK(cudaMemset(buffer, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    return buffer;
}

inline int *new_pinned()
{
    int *buffer;
    CHECK(cudaMallocHost(&buffer, BYTES));
    std::memset(buffer, 0, BYTES);
    return buffer;
}

__global__ void set(int *to, int value)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add(int *to, const int *from, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] + value;
}

__global__ void accumulate(int *to, const int *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] += from[i];
}

const int THREADS = 256, BLOCKS = N / THREADS;

#endif
