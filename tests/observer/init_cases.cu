/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that copy or read device memory before anything has written it, and their mended twins: init_cases NAME
 * [mended]. What each one is found guilty of stands in test_init.py. */
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstring>

#include "cases.h"

static bool mended;
static unsigned char host[1 << 20];

struct padded {
    char letter;
    int number;
    double value;
};

__global__ void fill(int *to, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = i;
}

__global__ void even(int *to)
{
    to[2 * threadIdx.x] = 1;
}

__global__ void members(padded *to)
{
    to[threadIdx.x].letter = 'a';
    to[threadIdx.x].number = 1;
    to[threadIdx.x].value = 2;
}

__global__ void copy(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}

__global__ void count_all(int *to)
{
    atomicAdd(to, 1);
}

__global__ void branch_by(int *to, const int *flags)
{
    if (flags[threadIdx.x] > 7)
        atomicAdd(to, 1);
}

/* As many rounds as the bytes say, up to the first that is 0. */
__global__ void loop_by(int *to, const bool *more)
{
    int rounds = 0;
    while (*(const volatile bool *)(more + rounds))
        rounds++;
    *to = rounds;
}

__global__ void gather(int *to, const int *from, const int *index)
{
    to[threadIdx.x] = from[index[threadIdx.x]];
}

/* Reads all, and uses what is there. */
__global__ void choose(int *to, const int *from, int count)
{
    int here = from[threadIdx.x], value = (int)threadIdx.x < count ? here : 0;
    if (value > 7)
        atomicAdd(to, 1);
}

__global__ void add_one(int *to)
{
    to[threadIdx.x] += 1;
}

/* Half of the bytes are read before another thread writes them. */
__global__ void exchange(int *room, bool before)
{
    if (before && threadIdx.x < 32)
        room[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x >= 32)
        room[threadIdx.x] = room[threadIdx.x - 32];
    __syncthreads();
    if (threadIdx.x < 32)
        room[threadIdx.x] = 2 * threadIdx.x;
}

/* Each texel becomes what it was and one more; a quarter of them are made before. */
__global__ void grow(cudaSurfaceObject_t surface, int made)
{
    int i = threadIdx.x;
    if (i < made)
        surf2Dwrite(i, surface, 4 * (i % 16), i / 16);
    surf2Dwrite(surf2Dread<int>(surface, 4 * (i % 16), i / 16) + 1, surface, 4 * (i % 16), i / 16);
}

__global__ void scratch(int *to, int *room)
{
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = room[255 - threadIdx.x];
}

static int *device(size_t bytes)
{
    void *made;
    CHECK(cudaMalloc(&made, bytes));
    return (int *)made;
}

/* 200 of 256 ints are written, and all are copied out. */
static void tail()
{
    int *a = device(1024);
    fill<<<1, 256>>>(a, mended ? 256 : 200);
    CHECK(cudaMemcpy(host, a, 1024, cudaMemcpyDeviceToHost));
}

/* Every other int of 64. */
static void holes()
{
    int *a = device(256);
    if (mended)
        CHECK(cudaMemset(a, 0, 256));
    even<<<1, 32>>>(a);
    CHECK(cudaMemcpy(host, a, 256, cudaMemcpyDeviceToHost));
}

/* One byte is left out between two fills. */
static void one_byte()
{
    unsigned char *a = (unsigned char *)device(1000);
    CHECK(cudaMemset(a, 1, 332));
    CHECK(cudaMemset(a + 333 - mended, 1, 667 + mended));
    CHECK(cudaMemcpy(host, a, 1000, cudaMemcpyDeviceToHost));
}

/* Between the members of structures nothing is written. */
static void padding()
{
    padded *a = (padded *)device(32 * sizeof(padded));
    if (mended)
        CHECK(cudaMemset(a, 0, 32 * sizeof(padded)));
    members<<<1, 32>>>(a);
    CHECK(cudaMemcpy(host, a, 32 * sizeof(padded), cudaMemcpyDeviceToHost));
}

/* What has not been written goes along with copies: row by row, to an array and back, and into the host. */
static void travels()
{
    int *a = device(1024), *b = device(4096), *c = device(1024);
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    CHECK(cudaMallocArray(&array, &format, 16, 16));
    fill<<<1, 256>>>(a, mended ? 256 : 250);
    CHECK(cudaMemcpy2D(b, 256, a, 64, 64, 16, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, b, 256, 64, 16, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DFromArray(c, 64, array, 0, 0, 64, 16, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(host, c, 1024, cudaMemcpyDeviceToHost));
}

/* A pool hands memory out again: what its last owner wrote is nothing. */
static void pool()
{
    void *a, *b;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocAsync(&a, 512, stream));
    CHECK(cudaMemsetAsync(a, 1, 512, stream));
    CHECK(cudaFreeAsync(a, stream));
    CHECK(cudaMallocAsync(&b, 512, stream));
    if (mended)
        CHECK(cudaMemsetAsync(b, 1, 512, stream));
    CHECK(cudaMemcpyAsync(host, b, 512, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
}

static void nothing(void *) {}

static void graph_of(bool host_function)
{
    int *a = device(400);
    cudaStream_t stream;
    cudaGraph_t made;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    if (host_function)
        CHECK(cudaLaunchHostFunc(stream, nothing, nullptr));
    fill<<<1, 128, 0, stream>>>(a, mended ? 100 : 99);
    CHECK(cudaMemcpyAsync(host, a, 400, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamEndCapture(stream, &made));
    CHECK(cudaGraphInstantiate(&exec, made, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
}

/* A graph's copy node. */
static void graph()
{
    graph_of(false);
}

/* The same behind a host function in the graph, which writes no device memory. */
static void graph_host()
{
    graph_of(true);
}

/* A kernel reads what nothing has written. */
static void read()
{
    int *a = device(1024), *b = device(1024);
    fill<<<1, 256>>>(a, mended ? 256 : 200);
    copy<<<1, 256>>>(b, a);
    CHECK(cudaMemcpy(host, b, 1024, cudaMemcpyDeviceToHost));
}

/* A counter that nobody has set. */
static void counter()
{
    int *a = device(4);
    if (mended)
        CHECK(cudaMemset(a, 0, 4));
    count_all<<<4, 64>>>(a);
    CHECK(cudaMemcpy(host, a, 4, cudaMemcpyDeviceToHost));
}

/* A kernel goes by what nobody has written. */
static void branch()
{
    int *a = device(1024), *b = device(4);
    CHECK(cudaMemset(b, 0, 4));
    fill<<<1, 256>>>(a, mended ? 256 : 200);
    branch_by<<<1, 256>>>(b, a);
}

static void loop()
{
    int *a = device(4), *b = device(4);
    CHECK(cudaMemset(a, 1, 3));
    if (mended)
        CHECK(cudaMemset((char *)a + 3, 0, 1));
    loop_by<<<1, 1>>>(b, (const bool *)a);
}

static void index()
{
    int *a = device(1024), *b = device(64), *c = device(64);
    fill<<<1, 256>>>(a, 256);
    fill<<<1, 16>>>(b, mended ? 16 : 12);
    gather<<<1, 16>>>(c, a, b);
}

static void chosen()
{
    int *a = device(1024), *b = device(4);
    CHECK(cudaMemset(b, 0, 4));
    fill<<<1, 256>>>(a, mended ? 256 : 200);
    choose<<<1, 256>>>(b, a, 200);
}

/* A sum into memory of which a part was never set: the kernel reads before it writes. */
static void added()
{
    int *a = device(1024);
    fill<<<1, 256>>>(a, mended ? 256 : 200);
    add_one<<<1, 256>>>(a);
    CHECK(cudaMemcpy(host, a, 1024, cudaMemcpyDeviceToHost));
}

static void exchanged()
{
    int *a = device(256);
    exchange<<<1, 64>>>(a, mended);
    CHECK(cudaMemcpy(host, a, 256, cudaMemcpyDeviceToHost));
}

/* The same in an array. */
static void texels()
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaSurfaceObject_t surface;
    cudaResourceDesc what = {};
    CHECK(cudaMallocArray(&array, &format, 16, 16, cudaArraySurfaceLoadStore));
    what.resType = cudaResourceTypeArray;
    what.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&surface, &what));
    grow<<<1, 256>>>(surface, mended ? 256 : 192);
    CHECK(cudaMemcpy2DFromArray(host, 64, array, 0, 0, 64, 16, cudaMemcpyDeviceToHost));
}

/* Memory that is mapped at two places is written at one and read at the other. */
static void mapped()
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp what = {};
    CUmemAccessDesc access = {};
    CUdeviceptr at[2];
    size_t size = 0;
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location = what.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(cudaFree(nullptr));
    bool good = cuMemGetAllocationGranularity(&size, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS &&
                cuMemCreate(&handle, size, &what, 0) == CUDA_SUCCESS;
    for (int i = 0; i < 2; i++)
        good = good && cuMemAddressReserve(&at[i], size, 0, 0, 0) == CUDA_SUCCESS &&
               cuMemMap(at[i], size, 0, handle, 0) == CUDA_SUCCESS &&
               cuMemSetAccess(at[i], size, &access, 1) == CUDA_SUCCESS;
    if (!good)
        std::exit(2);
    CHECK(cudaMemset((void *)at[0], 1, mended ? 8192 : 8000));
    CHECK(cudaMemcpy(host, (void *)at[1], 8192, cudaMemcpyDeviceToHost));
}

/* What the host's code writes there is written, and so is what is copied from there. What is copied there the host may
 * read. */
static void use_host_memory(CUdeviceptr at)
{
    int *shared = reinterpret_cast<int *>(at), *there, *count, *fresh;
    CHECK(cudaMalloc(&there, 1024));
    CHECK(cudaMalloc(&count, sizeof(int)));
    CHECK(cudaMemset(count, 0, sizeof(int)));
    std::memset(shared, 1, 1024);
    CHECK(cudaMemcpy(there, shared, 1024, cudaMemcpyDefault));
    branch_by<<<1, 256>>>(count, there);
    branch_by<<<1, 256>>>(count, shared);
    CHECK(cudaMalloc(&fresh, 1024));
    CHECK(cudaMemset(fresh, 0, mended ? 1024 : 1000));
    CHECK(cudaMemcpy(shared, fresh, 1024, cudaMemcpyDefault));
}

/* Host memory that is made first and mapped later. */
static void host_mapped()
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp what = {};
    CUmemAccessDesc access[2] = {};
    CUdeviceptr at;
    size_t size = 0;
    CHECK(cudaFree(nullptr));
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    access[0].location = what.location;
    access[1].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access[0].flags = access[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(cuMemGetAllocationGranularity(&size, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(cuMemCreate(&handle, size, &what, 0));
    CHECK(cuMemAddressReserve(&at, size, 0, 0, 0));
    CHECK(cuMemMap(at, size, 0, handle, 0));
    CHECK(cuMemSetAccess(at, size, access, 2));
    use_host_memory(at);
}

/* A pool of host memory. */
static void host_pool()
{
    CUmemoryPool pool;
    CUmemPoolProps what = {};
    CUmemAccessDesc access = {};
    CUdeviceptr at;
    CHECK(cudaFree(nullptr));
    what.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_HOST;
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(cuMemPoolCreate(&pool, &what));
    CHECK(cuMemPoolSetAccess(pool, &access, 1));
    CHECK(cuMemAllocFromPoolAsync(&at, 1024, pool, nullptr));
    CHECK(cudaDeviceSynchronize());
    use_host_memory(at);
}

/* Ordinary programs: what a kernel writes itself it may read, memory of both sides and variables of modules are the
 * host's as well, and a copy may bring what only the host has written. */
__device__ int variable[64];

static void ordinary()
{
    int *a = device(1024), *b = device(1024), *pinned, *managed;
    CHECK(cudaMallocHost(&pinned, 1024));
    CHECK(cudaMallocManaged(&managed, 1024));
    scratch<<<1, 256>>>(a, b);
    copy<<<1, 256>>>(a, pinned);
    copy<<<1, 256>>>(b, managed);
    CHECK(cudaMemcpyFromSymbol(host, variable, sizeof variable));
    CHECK(cudaMemcpy(a, pinned, 1024, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, managed, 1024, cudaMemcpyDefault));
    CHECK(cudaMemcpy(host, a, 1024, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(host, b, 1024, cudaMemcpyDeviceToHost));
}

int main(int count, char **arguments)
{
    static const one_case all[] = {{"tail", tail},       {"holes", holes}, {"one_byte", one_byte}, {"padding", padding},
               {"travels", travels}, {"pool", pool},   {"graph", graph},       {"graph_host", graph_host}, {"read", read},
               {"counter", counter}, {"branch", branch}, {"loop", loop},
               {"index", index}, {"chosen", chosen}, {"added", added}, {"exchanged", exchanged}, {"texels", texels},
               {"mapped", mapped}, {"host_mapped", host_mapped}, {"host_pool", host_pool}, {"ordinary", ordinary}};
    mended = count > 2 && std::strcmp(arguments[2], "mended") == 0;
    return run_case(all, arguments[1]);
}
