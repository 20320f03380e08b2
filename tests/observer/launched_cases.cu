/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that launch kernels, each case with a mended twin: launched_cases CASE [mended]. */
#include <cstdio>
#include <cstdlib>
#include <cstring>

static cudaStream_t one, other;
static cudaEvent_t ready;
static int *a, *b;
static bool mended;

static void check(cudaError_t status)
{
    if (status) {
        std::printf("%s\n", cudaGetErrorName(status));
        std::exit(0);
    }
}

__global__ void set(int *to, int value)
{
    to[threadIdx.x] = value;
}

__global__ void add(int *to, const int *from)
{
    to[threadIdx.x] += from[threadIdx.x];
}

/* What it writes it hands on. */
__global__ void hands_on(int *to, int *between, const int *from)
{
    between[32] = 1;
    add<<<1, 32>>>(to, from);
    add<<<1, 1>>>(to, between + 32);
}

__global__ void waits(int *to, const int *from, bool at_all)
{
    if (at_all)
        cudaGridDependencySynchronize();
    else
        to[0] = from[0];
    add<<<1, 32>>>(to, from);
}

static void meet(cudaStream_t from, cudaStream_t to)
{
    if (mended) {
        check(cudaEventRecord(ready, from));
        check(cudaStreamWaitEvent(to, ready));
    }
}

/* A kernel that another one has launched reads what a stream writes, and writes what it reads. */
static void reads()
{
    set<<<1, 32, 0, one>>>(a, 1);
    meet(one, other);
    hands_on<<<1, 1, 0, other>>>(b, b, a);
}

static void writes()
{
    hands_on<<<1, 1, 0, other>>>(b, b, a);
    meet(other, one);
    set<<<1, 32, 0, one>>>(b, 1);
}

/* A kernel that may begin early waits, and what it launches then comes after the wait. */
static void dependent()
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute early;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = config.blockDim = 1;
    config.stream = one;
    config.attrs = &early;
    config.numAttrs = 1;
    set<<<1, 32, 0, one>>>(a, 1);
    check(cudaLaunchKernelEx(&config, waits, b, (const int *)a, mended));
}

int main(int count, char **words)
{
    const struct {
        const char *name;
        void (*run)();
    } cases[] = {{"reads", reads}, {"writes", writes}, {"dependent", dependent}};
    mended = count > 2 && std::strcmp(words[2], "mended") == 0;
    check(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    check(cudaMalloc(&a, 256));
    check(cudaMalloc(&b, 256));
    check(cudaMemset(a, 0, 256));
    check(cudaMemset(b, 0, 256));
    check(cudaDeviceSynchronize());
    for (const auto &each : cases)
        if (count > 1 && std::strcmp(words[1], each.name) == 0)
            each.run();
    check(cudaDeviceSynchronize());
    std::puts("done");
    return 0;
}
