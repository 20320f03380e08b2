/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that touch what is no memory for them, and their mended twins: mem_faults NAME [mended]. What each one must
 * be found guilty of stands in test_mem.py. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call) check(call, #call)

static void check(cudaError_t status, const char *call)
{
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(status));
    std::exit(2);
}

static bool mended;

__global__ void trap()
{
    __trap();
}

__global__ void fill(int *to, int count, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = value;
}

__global__ void fill_bytes(unsigned char *to, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = 1;
}

__global__ void sum(int *to, const int *from, int first, int step)
{
    atomicAdd(to, from[first + step * (int)threadIdx.x]);
}

__global__ void both(int *a, const int *b, int i)
{
    int value = b[i];
    a[i] = value;
}

__global__ void count(int *to)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        atomicAdd(to, i + 1);
}

__global__ void heap(int *to)
{
    int *own = (int *)malloc(16 * sizeof(int));
    own[threadIdx.x % 16] = 3;
    to[threadIdx.x] = own[threadIdx.x % 16];
    free(own);
}

__device__ int variable[64];
__constant__ int table[64];
__device__ __managed__ int shared_variable[64];

__global__ void globals(int *to)
{
    __shared__ int near[64];
    int own[8];
    near[threadIdx.x] = table[threadIdx.x];
    for (int i = 0; i < 8; i++)
        own[i] = variable[(threadIdx.x + i) % 64];
    __syncthreads();
    shared_variable[threadIdx.x] = near[63 - threadIdx.x];
    int *generic = threadIdx.x % 2 ? near : own;
    to[threadIdx.x] = generic[threadIdx.x % 8];
}

__global__ void read_at(int *to, const char *from, int step)
{
    to[threadIdx.x] = *(const int *)(from + step * threadIdx.x);
}

static void wait()
{
    CHECK(cudaDeviceSynchronize());
}

/* 100 ints, and 128 threads that write all: 112 bytes behind the end. */
static void past_the_end()
{
    int *a;
    CHECK(cudaMalloc(&a, 400));
    for (int i = 0; i < 3; i++)
        fill<<<2, 64>>>(a, mended ? 100 : 128, 7);
    wait();
    CHECK(cudaFree(a));
}

/* One byte. */
static void one_byte()
{
    unsigned char *a;
    CHECK(cudaMalloc(&a, 333));
    fill_bytes<<<1, 512>>>(a, mended ? 333 : 334);
    wait();
    CHECK(cudaFree(a));
}

/* Reads every second int: 5 of 32 lie behind the end. In a pool. */
static void strided()
{
    int *a, *to;
    CHECK(cudaMallocAsync(&a, 54 * 4, 0));
    CHECK(cudaMallocAsync(&to, 4, 0));
    CHECK(cudaMemsetAsync(a, 0, 54 * 4, 0));
    CHECK(cudaMemsetAsync(to, 0, 4, 0));
    sum<<<1, mended ? 27 : 32>>>(to, a, 0, 2);
    CHECK(cudaFreeAsync(a, 0));
    CHECK(cudaFreeAsync(to, 0));
    wait();
}

/* From an allocation in pinned memory, 8 bytes before its start. */
static void before_the_start()
{
    int *a;
    CHECK(cudaMallocHost(&a, 4096));
    std::memset(a, 0, 4096);
    int *to;
    CHECK(cudaMalloc(&to, 4));
    CHECK(cudaMemset(to, 0, 4));
    sum<<<1, 32>>>(to, a, mended ? 0 : -2, 1);
    cudaError_t status = cudaDeviceSynchronize(); /* the page before may not be there */
    std::printf("%s\n", status == cudaSuccess ? "went on" : "stopped");
}

/* Two places of one kernel. */
static void two_places()
{
    int *a, *b;
    CHECK(cudaMalloc(&a, 100));
    CHECK(cudaMalloc(&b, 100));
    CHECK(cudaMemset(b, 0, 100));
    both<<<1, 1>>>(a, b, mended ? 24 : 25);
    wait();
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}

static void freed_device()
{
    int *a;
    CHECK(cudaMalloc(&a, 1024));
    fill<<<1, 64>>>(a, 64, 0); /* so that the module is there before the memory is free for it */
    if (!mended)
        CHECK(cudaFree(a));
    fill<<<1, 64>>>(a, 64, 1);
    std::printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "went on" : "stopped");
    if (mended)
        CHECK(cudaFree(a));
}

/* The memory lies in the pool again, and the work after the free touches half of it. */
static void freed_pool()
{
    int *a;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocAsync(&a, 1024, stream));
    if (!mended)
        CHECK(cudaFreeAsync(a, stream));
    fill<<<1, 128, 0, stream>>>(a, 128, 1);
    if (mended)
        CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
}

/* A graph's fill of what was freed, launched twice: the calls themselves are refused. Copies from and to pageable memory
 * are right. */
static void copies()
{
    char *a, host[64] = {0};
    cudaGraph_t plan;
    cudaGraphExec_t run;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&a, 64));
    CHECK(cudaMemcpyAsync(a, host, 64, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(host, a, 64, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(a, 1, 64, stream));
    CHECK(cudaStreamEndCapture(stream, &plan));
    CHECK(cudaGraphInstantiate(&run, plan, 0));
    CHECK(cudaStreamSynchronize(stream));
    if (!mended)
        CHECK(cudaFree(a));
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(run, stream));
    std::printf("%s\n", cudaStreamSynchronize(stream) == cudaSuccess ? "went on" : "stopped");
    if (mended)
        CHECK(cudaFree(a));
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphDestroy(plan));
}

/* Handed out again: the old pointer is the new one's, which is right. */
static void handed_out_again()
{
    for (int i = 0; i < 200; i++) {
        int *a, *pinned;
        CHECK(cudaMalloc(&a, 4096 + 4 * i));
        CHECK(cudaMallocHost(&pinned, 4096));
        fill<<<1, 1024>>>(a, 1024, i);
        CHECK(cudaMemcpyAsync(pinned, a, 4096, cudaMemcpyDeviceToHost, 0));
        wait();
        CHECK(cudaFree(a));
        CHECK(cudaFreeHost(pinned));
    }
}

static void host_heap()
{
    int *a = (int *)std::malloc(256);
    if (mended)
        CHECK(cudaHostRegister(a, 256, 0));
    fill<<<1, 64>>>(a, 64, 1);
    wait();
    if (mended)
        CHECK(cudaHostUnregister(a));
    std::free(a);
}

/* Four accesses of one line to the same bytes. */
static void unrolled()
{
    int *a = (int *)std::calloc(1, 256);
    if (mended)
        CHECK(cudaHostRegister(a, 256, 0));
    count<<<1, 1>>>(a);
    wait();
    if (mended)
        CHECK(cudaHostUnregister(a));
    std::free(a);
}

static void host_stack()
{
    int a[64], *b = a;
    if (mended)
        CHECK(cudaMallocManaged(&b, sizeof a));
    fill<<<1, 64>>>(b, 64, 1);
    wait();
    if (mended)
        CHECK(cudaFree(b));
}

static void unregistered()
{
    int *a = (int *)std::aligned_alloc(4096, 4096);
    CHECK(cudaHostRegister(a, 4096, 0));
    if (!mended)
        CHECK(cudaHostUnregister(a));
    fill<<<1, 64>>>(a, 64, 1);
    wait();
    if (mended)
        CHECK(cudaHostUnregister(a));
    std::free(a);
}

static void at_null(int count)
{
    int *a = nullptr;
    if (mended)
        CHECK(cudaMalloc(&a, count * sizeof(int)));
    fill<<<1, count>>>(a, count, 1);
    std::printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "went on" : "stopped");
    if (mended)
        CHECK(cudaFree(a));
}

static void null_pointer()
{
    at_null(1);
}

/* All threads of a warp. */
static void null_warp()
{
    at_null(32);
}

/* A kernel in a graph, launched twice: one int. */
static void graph()
{
    int *a;
    cudaGraph_t plan;
    cudaGraphExec_t run;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&a, 400));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    fill<<<1, 128, 0, stream>>>(a, mended ? 100 : 101, 7);
    CHECK(cudaStreamEndCapture(stream, &plan));
    CHECK(cudaGraphInstantiate(&run, plan, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphDestroy(plan));
    CHECK(cudaFree(a));
}

/* 3 of 200 bytes by one line, 1 of 64 by another. */
static void leaks()
{
    for (int i = 0; i < 3; i++) {
        void *a;
        CHECK(cudaMalloc(&a, 200));
        if (mended)
            CHECK(cudaFree(a));
    }
    void *b;
    CHECK(cudaMallocAsync(&b, 64, 0));
    wait();
    if (mended)
        CHECK(cudaFreeAsync(b, 0));
    wait();
}

/* The context is of no use any more, so the free fails. The memory is still what cudaMalloc has made. */
static void free_fails()
{
    int *a;
    CHECK(cudaMalloc(&a, 400));
    if (!mended)
        trap<<<1, 1>>>();
    cudaDeviceSynchronize();
    cudaFree(a);
}

static void reset()
{
    void *a;
    CHECK(cudaMalloc(&a, 200));
    CHECK(cudaMallocHost(&a, 200));
    CHECK(cudaDeviceReset());
}

/* Nothing is wrong here. */
static void kernels_own()
{
    int *a, *symbol;
    int host[64] = {0};
    CHECK(cudaMalloc(&a, 256));
    CHECK(cudaMemcpyToSymbol(table, host, sizeof host));
    CHECK(cudaGetSymbolAddress((void **)&symbol, variable));
    CHECK(cudaMemset(symbol, 0, 256));
    fill<<<1, 64>>>(symbol, 64, 3);
    globals<<<1, 64>>>(a);
    heap<<<1, 64>>>(a);
    CHECK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(a));
}

/* Four threads read ints that begin 6 bytes apart: every other one is at no multiple of 4. */
static void misaligned()
{
    int *a, *b;
    CHECK(cudaMalloc(&a, 64));
    CHECK(cudaMalloc(&b, 64));
    CHECK(cudaMemset(a, 0, 64));
    read_at<<<1, 4>>>(b, (const char *)a + (mended ? 8 : 12), mended ? 8 : 6);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != (mended ? cudaSuccess : cudaErrorMisalignedAddress))
        check(status, "misaligned");
}

__global__ void write_at(int *to, long bytes)
{
    *(int *)((char *)to + bytes) = 1;
}

/* One int a mebibyte behind the start of one of 64 allocations of 64 KiB. */
static void neighbour()
{
    int *all[64];
    for (int i = 0; i < 64; i++)
        CHECK(cudaMalloc(&all[i], 1 << 16));
    write_at<<<1, 1>>>(all[20], mended ? 0 : 1 << 20);
    std::printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "went on" : "stopped");
}

/* The same, nearly 2 GiB behind, of 16 MiB. */
static void far_neighbour()
{
    int *all[64];
    for (int i = 0; i < 64; i++)
        CHECK(cudaMalloc(&all[i], 1 << 24));
    write_at<<<1, 1>>>(all[3], mended ? 0 : (2l << 30) - (64 << 20));
    std::printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "went on" : "stopped");
}

/* 128 ints behind an allocation of a pool, which has another one there as a rule. */
static void pool_neighbour()
{
    int *a, *b;
    CHECK(cudaMallocAsync(&a, 1024, 0));
    CHECK(cudaMallocAsync(&b, 1024, 0));
    fill<<<1, 384>>>(a, mended ? 256 : 384, 1);
    CHECK(cudaFreeAsync(b, 0));
    CHECK(cudaFreeAsync(a, 0));
    std::printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "went on" : "stopped");
}

__global__ void texels(int *to, cudaTextureObject_t texture)
{
    to[threadIdx.x] = tex2D<int>(texture, threadIdx.x, blockIdx.x);
}

/* A kernel reads a row of 32 ints of an array that has been destroyed; its texture is still there. */
static void array_destroyed()
{
    int *a;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    CHECK(cudaMalloc(&a, 256));
    CHECK(cudaMallocArray(&array, &format, 32, 4));
    CHECK(cudaMemset2D(a, 128, 0, 128, 1));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, a, 128, 128, 1, cudaMemcpyDeviceToDevice));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    description.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    texels<<<1, 32>>>(a, texture);
    wait();
    if (!mended)
        CHECK(cudaFreeArray(array));
    texels<<<1, 32>>>(a, texture);
    wait();
    CHECK(cudaDestroyTextureObject(texture));
    if (mended)
        CHECK(cudaFreeArray(array));
    CHECK(cudaFree(a));
}

/* A copy to a mipmapped array's second level goes on, as far as the program knows, when the array is destroyed. */
static void array_in_use()
{
    int *pinned;
    cudaMipmappedArray_t array;
    cudaArray_t level;
    cudaStream_t stream;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&pinned, 64 * 64 * 4));
    CHECK(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(64, 64, 0), 2));
    CHECK(cudaGetMipmappedArrayLevel(&level, array, 1));
    CHECK(cudaMemcpy2DToArrayAsync(level, 0, 0, pinned, 128, 128, 32, cudaMemcpyHostToDevice, stream));
    if (mended)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeMipmappedArray(array));
    CHECK(cudaStreamSynchronize(stream));
}

/* The host's code reads an int of device memory, and writes one three times. Seen in programs by millrace cc --check. */
static void device_pointer()
{
    int *a, *pinned, sum = 0;
    CHECK(cudaMalloc(&a, 256));
    CHECK(cudaMallocHost(&pinned, 256));
    CHECK(cudaMemset(a, 0, 256));
    volatile int *use = mended ? pinned : a;
    wait();
    sum += use[3];
    for (int i = 0; i < 3; i++)
        use[8 + i] = sum;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)();
    } all[] = {{"past_the_end", past_the_end},
               {"one_byte", one_byte},
               {"strided", strided},
               {"before_the_start", before_the_start},
               {"two_places", two_places},
               {"freed_device", freed_device},
               {"freed_pool", freed_pool},
               {"copies", copies},
               {"handed_out_again", handed_out_again},
               {"host_heap", host_heap},
               {"unrolled", unrolled},
               {"host_stack", host_stack},
               {"unregistered", unregistered},
               {"null_pointer", null_pointer}, {"null_warp", null_warp},
               {"graph", graph},
               {"misaligned", misaligned},
               {"neighbour", neighbour},
               {"far_neighbour", far_neighbour},
               {"pool_neighbour", pool_neighbour},
               {"array_destroyed", array_destroyed},
               {"array_in_use", array_in_use},
               {"device_pointer", device_pointer},
               {"leaks", leaks},
               {"free_fails", free_fails},
               {"reset", reset},
               {"kernels_own", kernels_own}};
    mended = count > 2 && std::strcmp(arguments[2], "mended") == 0;
    for (const auto &one : all)
        if (count > 1 && std::strcmp(arguments[1], one.name) == 0) {
            one.run();
            return 0;
        }
    return 3;
}
