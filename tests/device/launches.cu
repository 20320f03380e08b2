/* SPDX-License-Identifier: Apache-2.0 */
/* Launches from kernels: how kernels are named, what they are given, in which order they run, and what waits for them.
 * Compiled by NVIDIA's nvcc 13.0 and run on an H200 (November 2026), all of main held but for the bytes that a kernel's
 * cudaMemsetAsync sets. There it answers success and sets none, whatever the memory, the size and the stream. */
#include <cstdio>

#define HOLDS(what) \
    if (!(what)) \
    return printf("line %d: %s\n", __LINE__, #what), 1

/* --- How kernels are named --- */

__global__ void plain(int *p, int value) { atomicAdd(p, value); }
__global__ void elsewhere(int *p, unsigned int value); /* launches_other.cu's */
static __global__ void local(int *p) { atomicAdd(p, 1); }
template <class T> __global__ void deduced(T *p, T value) { atomicAdd(p, value); }
template <int count, class T> __global__ void partly(T *p) { atomicAdd(p, count); }
__global__ void overloaded(int *p) { atomicAdd(p, 1); }
__global__ void overloaded(int *p, size_t value) { atomicAdd(p, (int)value); } /* called with an int */
namespace inner {
template <class T, int step> struct holder {
    static __device__ void go(T *p) { partly<step><<<1, 1>>>(p); }
};
__global__ void deep(int *p) { atomicAdd(p, 1); }
}
#define LAUNCH(kernel, ...) kernel<<<1, 1>>>(__VA_ARGS__)

__global__ void names(int *p)
{
    plain<<<1, 1>>>(p, 1);
    elsewhere<<<1, 1, 0>>>(p + 1, 5);
    local<<<1, 1>>>(p + 2);
    deduced<<<2, 1>>>(p + 3, 2);
    deduced<int>
        <<<1,
           1>>>(p + 3, 1);
    overloaded<<<1, 1>>>(p + 4);
    overloaded<<<1, 1>>>(p + 4, 3);
    inner::holder<int, 7>::go(p + 5);
    ::inner::deep<<<dim3(1, 2), dim3(1, 1, 2), 0, cudaStreamFireAndForget>>>(p + 6);
    LAUNCH(plain, p + 7, 4);
    if (p)
        plain<<<1, 1>>>(p + 8, 1);
    else
        plain<<<1, 1>>>(p + 9, 1);
    void *buffer = cudaGetParameterBuffer(8, 16);
    *(int **)buffer = p + 10;
    ((int *)buffer)[2] = 6;
    p[11] = cudaLaunchDevice((void *)plain, buffer, dim3(1), dim3(1), 0, 0);
    buffer = cudaGetParameterBufferV2((void *)&plain, dim3(1), dim3(1), 0);
    *(int **)buffer = p + 10;
    ((int *)buffer)[2] = 10;
    p[12] = cudaLaunchDeviceV2(buffer, 0);
}

/* --- What they are given --- */

struct alignas(16) wide {
    double value[2];
    char last;
};

__global__ void takes(char a, short b, wide c, bool d, float e, unsigned char f, double *out)
{
    extern __shared__ double room[];
    room[threadIdx.x] = a + b + c.value[0] + c.value[1] + c.last + d + e + f;
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = room[0] + room[63];
}

__global__ void gives(double *out)
{
    wide c = {{0.25, 1000}, 3};
    takes<<<3, 64, 64 * sizeof(double)>>>('a', -300, c, true, 0.5f, 200, out);
}

/* --- Order --- */

__global__ void append(int *list, int value)
{
    if (threadIdx.x == 0 && blockIdx.x == 0)
        list[++list[0]] = value;
}

__global__ void nested(int *list)
{
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 4);
    append<<<1, 1>>>(list, 2);
    append<<<2, 32>>>(list, 3);
}

__global__ void ordered(int *list, int *copy)
{
    cudaStream_t one, two;
    cudaEvent_t event;
    cudaError_t bad = cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    bad = bad ? bad : cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    bad = bad ? bad : cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 7);
    append<<<1, 1, 0, one>>>(list, 1);
    nested<<<1, 1, 0, one>>>(list);
    bad = bad ? bad : cudaEventRecord(event, one);
    bad = bad ? bad : cudaStreamWaitEvent(two, event, 0);
    append<<<1, 1, 0, two>>>(list, 5);
    bad = bad ? bad : cudaMemcpyAsync(copy, list, 6 * sizeof *list, cudaMemcpyDeviceToDevice, two);
    append<<<1, 1, 0, two>>>(list, 6);
    bad = bad ? bad : cudaMemsetAsync(copy + 6, 0x11, 2 * sizeof *list, two);
    bad = bad ? bad : cudaStreamDestroy(one);
    bad = bad ? bad : cudaStreamDestroy(two);
    bad = bad ? bad : cudaEventDestroy(event);
    copy[8] = bad ? bad : cudaGetLastError();
}

__global__ void descend(int *p, int depth)
{
    atomicAdd(p, 1);
    if (threadIdx.x == 0 && depth > 0)
        descend<<<1, 2>>>(p, depth - 1);
}

__global__ void crowd(int *p)
{
    plain<<<1, 32>>>(p, 1);
}

/* --- What is wrong --- */

__global__ void wrong(int *status, int none)
{
    plain<<<none, 1>>>(status, 1);
    status[1] = cudaPeekAtLastError();
    status[2] = cudaGetLastError();
    status[3] = cudaGetLastError();
    plain<<<1, 1025>>>(status, 1);
    status[4] = cudaGetLastError();
    plain<<<1, 1, 1 << 20>>>(status, 1);
    status[5] = cudaGetLastError();
    cudaStream_t stream;
    cudaEvent_t event;
    status[6] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
    status[7] = cudaEventCreateWithFlags(&event, cudaEventDefault);
    status[8] = cudaGetErrorString((cudaError_t)1)[0];
}

/* Each thread has its own error. */
__global__ void own_errors(int *p, int none)
{
    if (threadIdx.x == 5)
        plain<<<none, 1>>>(p, 1);
    __syncthreads();
    p[threadIdx.x] = cudaGetLastError();
}

/* Shared memory as the program has asked for it, beside what the kernel has. */
__global__ void large(int *p)
{
    extern __shared__ int words[];
    words[20000] = 3;
    *p = words[20000];
}
__global__ void full(int *p)
{
    __shared__ volatile int own[10000];
    extern __shared__ int words[];
    own[threadIdx.x + *p] = words[0] = 4;
    *p = own[threadIdx.x + *p] + words[1];
}
__global__ void shares(int *p, int bytes)
{
    large<<<1, 1, bytes>>>(p);
    p[1] = cudaGetLastError();
    full<<<1, 1, 45000>>>(p + 2);
    p[3] = cudaGetLastError();
}

__global__ void fails() { __trap(); }
__global__ void launches_what_fails(int *p)
{
    fails<<<1, 1>>>();
    plain<<<1, 1>>>(p, 1);
}

int main()
{
    int *p;
    double *out;
    cudaStream_t stream;
    cudaEvent_t event;
    HOLDS(!cudaMallocManaged(&p, 4096) && !cudaMallocManaged(&out, 4096) && !cudaStreamCreate(&stream) && !cudaEventCreate(&event));
    cudaMemset(p, 0, 4096);
    names<<<1, 1, 0, stream>>>(p);
    HOLDS(!cudaEventRecord(event, stream) && !cudaEventSynchronize(event));
    const int named[] = {1, 5, 1, 5, 4, 7, 4, 4, 1, 0, 16, 0, 0};
    for (int i = 0; i < 13; i++)
        HOLDS(p[i] == named[i] || (printf("%d: %d\n", i, p[i]), false));

    gives<<<1, 1>>>(out);
    HOLDS(!cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++)
        HOLDS(out[i] == 2 * (97 - 300 + 1000.25 + 3 + 1 + 0.5 + 200));

    cudaMemset(p, 0, 4096);
    ordered<<<1, 1>>>(p, p + 100);
    HOLDS(!cudaDeviceSynchronize());
    HOLDS(p[108] == 0 && p[0] == 7);
    for (int i = 1; i <= 7; i++)
        HOLDS(p[i] == i);
    HOLDS(p[100] == 5 && p[105] == 5 && p[106] == 0x11111111 && p[107] == 0x11111111);

    cudaMemset(p, 0, 4096);
    descend<<<1, 2>>>(p, 300);
    crowd<<<7, 64>>>(p + 1);
    HOLDS(!cudaDeviceSynchronize() && p[0] == 602 && p[1] == 7 * 64 * 32);

    /* A graph has an end when what its kernels have launched has ended. */
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    HOLDS(!cudaMemset(p, 0, 4096) && !cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    descend<<<1, 2, 0, stream>>>(p, 3);
    HOLDS(!cudaMemcpyAsync(p + 1, p, sizeof *p, cudaMemcpyDeviceToDevice, stream));
    crowd<<<2, 64, 0, stream>>>(p + 2);
    HOLDS(!cudaMemcpyAsync(p + 3, p + 2, sizeof *p, cudaMemcpyDeviceToDevice, stream));
    HOLDS(!cudaStreamEndCapture(stream, &graph) && !cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 1; i <= 3; i++) {
        HOLDS(!cudaGraphLaunch(exec, stream) && !cudaStreamSynchronize(stream));
        HOLDS(p[1] == 8 * i && p[3] == 2 * 64 * 32 * i);
    }

    cudaMemset(p, 0, 4096);
    wrong<<<1, 1>>>(p, 0);
    HOLDS(!cudaDeviceSynchronize());
    HOLDS(p[0] == 0 && p[1] == cudaErrorInvalidConfiguration && p[2] == cudaErrorInvalidConfiguration && p[3] == 0);
    HOLDS(p[4] == cudaErrorInvalidConfiguration && p[5] == cudaErrorInvalidConfiguration);
    HOLDS(p[6] == 0 && p[7] == cudaErrorInvalidValue && p[8] == 'i');

    own_errors<<<1, 64>>>(p, 0);
    HOLDS(!cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        HOLDS(p[i] == (i == 5 ? cudaErrorInvalidConfiguration : 0));
    own_errors<<<1, 5>>>(p, 0); /* of another launch */
    HOLDS(!cudaDeviceSynchronize() && p[4] == 0);

    HOLDS(!cudaMemset(p, 0, 4096) && !cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 90000));
    shares<<<1, 1>>>(p, 90000);
    HOLDS(!cudaDeviceSynchronize() && p[0] == 3 && p[1] == 0 && p[2] == 0 && p[3] == cudaErrorInvalidConfiguration);
    /* For launches from kernels it counts that the program has set more than the default, not how much. */
    int most;
    HOLDS(!cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) && most > 90000);
    shares<<<1, 1>>>(p, most);
    HOLDS(!cudaDeviceSynchronize() && p[1] == 0);
    shares<<<1, 1>>>(p, most + 1);
    HOLDS(!cudaDeviceSynchronize() && p[1] == cudaErrorInvalidConfiguration);

    launches_what_fails<<<1, 1>>>(p);
    HOLDS(cudaDeviceSynchronize() == cudaErrorLaunchFailure && cudaMemset(p, 0, 4) == cudaErrorLaunchFailure);
    puts("passed");
    return 0;
}
