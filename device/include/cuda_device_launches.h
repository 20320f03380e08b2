/* SPDX-License-Identifier: Apache-2.0 */
/* Launches from kernels (CUDA C++ programming guide, CUDA Dynamic Parallelism), and what else of the runtime API kernels may call.
 *
 * What a kernel launches runs when all its blocks have ended, in the order in which it was launched, and before whatever waits for the kernel. So
 * streams and events inside kernels have nothing to do: their calls check what they are given, and each order that they can ask for holds. A kernel
 * can't wait for kernels that it has launched.
 *
 * A buffer for parameters is memory of the device's heap, for its one launch, which frees it; NULL where the heap is full. The record of the launch is
 * in front of it: struct mr_launch_record of Millrace's abi/abi.h.
 *
 * `kernel<<<grid, block, shared, stream>>>(arguments)` in device code becomes mr_device_launch<decltype(&kernel), &kernel>(grid, block, shared,
 * stream)(arguments): the compiler's front end has no such launches, but takes the address of a kernel for a constant. */
#ifndef MILLRACE_CUDA_DEVICE_LAUNCHES_H
#define MILLRACE_CUDA_DEVICE_LAUNCHES_H

#ifndef cudaStreamTailLaunch /* after all else that the kernel launches */
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)
#endif

extern "C" __device__ unsigned int __millrace_launch(void *record, unsigned long long stream);

struct mr_device_record {
    unsigned long long kernel;
    unsigned int grid[3], block[3], shared, unused[7];
};

/* Each thread has its last error. It is kept with the thread's number in a place that some threads share: of two that
 * fail at one time the first may lose its error, and none finds another's. */
static __device__ inline unsigned int mr_device_thread()
{
    unsigned long long grid;
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
    unsigned long long block = (blockIdx.z * static_cast<unsigned long long>(gridDim.y) + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned long long number = (grid << 42 ^ block << 10 ^ thread) * 0x9e3779b97f4a7c15ull;
    return static_cast<unsigned int>(number >> 32);
}

static __device__ inline unsigned long long *mr_device_error()
{
    static unsigned long long errors[256];
    return &errors[mr_device_thread() % 256];
}

static __device__ inline unsigned int mr_device_last()
{
    unsigned long long error = *mr_device_error();
    return error >> 32 == mr_device_thread() ? static_cast<unsigned int>(error) : 0;
}

static __device__ inline cudaError_t mr_device_note(unsigned int status)
{
    if (status)
        atomicExch(mr_device_error(), static_cast<unsigned long long>(mr_device_thread()) << 32 | status);
    return static_cast<cudaError_t>(status);
}

static __device__ inline void *mr_device_buffer(size_t size)
{
    char *record = static_cast<char *>(malloc(sizeof(mr_device_record) + size));
    return record ? record + sizeof(mr_device_record) : nullptr;
}

static __device__ inline mr_device_record *mr_device_record_of(void *buffer) { return static_cast<mr_device_record *>(buffer) - 1; }

static __device__ inline void mr_device_shape(mr_device_record *record, const void *kernel, dim3 grid, dim3 block, unsigned int shared)
{
    record->kernel = reinterpret_cast<unsigned long long>(kernel);
    record->grid[0] = grid.x, record->grid[1] = grid.y, record->grid[2] = grid.z;
    record->block[0] = block.x, record->block[1] = block.y, record->block[2] = block.z;
    record->shared = shared;
}

static __device__ inline cudaError_t mr_device_send(void *buffer, cudaStream_t stream)
{
    if (!buffer)
        return mr_device_note(cudaErrorLaunchPendingCountExceeded);
    mr_device_record *record = mr_device_record_of(buffer);
    unsigned int status = __millrace_launch(record, reinterpret_cast<unsigned long long>(stream));
    free(record);
    return mr_device_note(status);
}

extern "C" {
static __device__ inline void *cudaGetParameterBuffer(size_t, size_t size) { return mr_device_buffer(size); }
static __device__ inline void *cudaGetParameterBufferV2(void *kernel, dim3 grid, dim3 block, unsigned int shared)
{
    void *buffer = mr_device_buffer(4096); /* as much as a kernel of this interface can have */
    if (buffer)
        mr_device_shape(mr_device_record_of(buffer), kernel, grid, block, shared);
    return buffer;
}
static __device__ inline cudaError_t cudaLaunchDeviceV2(void *buffer, cudaStream_t stream) { return mr_device_send(buffer, stream); }
static __device__ inline cudaError_t cudaLaunchDeviceV2_ptsz(void *buffer, cudaStream_t stream) { return mr_device_send(buffer, stream); }
static __device__ inline cudaError_t cudaLaunchDevice(void *kernel, void *buffer, dim3 grid, dim3 block, unsigned int shared, cudaStream_t stream)
{
    if (buffer)
        mr_device_shape(mr_device_record_of(buffer), kernel, grid, block, shared);
    return mr_device_send(buffer, stream);
}
static __device__ inline cudaError_t cudaLaunchDevice_ptsz(void *kernel, void *buffer, dim3 grid, dim3 block, unsigned int shared, cudaStream_t stream)
{
    return cudaLaunchDevice(kernel, buffer, grid, block, shared, stream);
}
}

/* Waiting for kernels that a kernel launched: there is none. */
static __device__ inline cudaError_t __cudaDeviceSynchronizeDeprecationAvoidance() { return cudaErrorNotSupported; }

/* The address of a kernel, as a constant. */
template <class T, T kernel> struct mr_device_kernel { static constexpr T value = kernel; };

/* The type of a kernel for arguments of these types. */
template <class... Arguments> __host__ __device__ auto mr_device_kernel_for(Arguments...) -> void (*)(Arguments...);

/* Of overloaded kernels the one with as many parameters, up to 16. */
template <size_t count> struct mr_device_count;
#define MR_DEVICE_TYPES(...) __VA_ARGS__
#define MR_DEVICE_COUNT(count, names, types) \
    template <> struct mr_device_count<count> { \
        template <names> static constexpr __host__ __device__ auto of(void (*kernel)(types)) -> void (*)(types) { return kernel; } \
    };
MR_DEVICE_COUNT(1, MR_DEVICE_TYPES(class T0), MR_DEVICE_TYPES(T0))
MR_DEVICE_COUNT(2, MR_DEVICE_TYPES(class T0, class T1), MR_DEVICE_TYPES(T0, T1))
MR_DEVICE_COUNT(3, MR_DEVICE_TYPES(class T0, class T1, class T2), MR_DEVICE_TYPES(T0, T1, T2))
MR_DEVICE_COUNT(4, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3), MR_DEVICE_TYPES(T0, T1, T2, T3))
MR_DEVICE_COUNT(5, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4), MR_DEVICE_TYPES(T0, T1, T2, T3, T4))
MR_DEVICE_COUNT(6, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5))
MR_DEVICE_COUNT(7, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5, class T6), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5, T6))
MR_DEVICE_COUNT(8, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5, class T6, class T7), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5, T6, T7))
MR_DEVICE_COUNT(9, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5, class T6, class T7, class T8), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5, T6, T7, T8))
MR_DEVICE_COUNT(10, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5, class T6, class T7, class T8, class T9), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9))
MR_DEVICE_COUNT(11, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5, class T6, class T7, class T8, class T9, class T10), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10))
MR_DEVICE_COUNT(12, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5, class T6, class T7, class T8, class T9, class T10, class T11), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11))
MR_DEVICE_COUNT(13, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5, class T6, class T7, class T8, class T9, class T10, class T11, class T12), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12))
MR_DEVICE_COUNT(14, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5, class T6, class T7, class T8, class T9, class T10, class T11, class T12, class T13), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13))
MR_DEVICE_COUNT(15, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5, class T6, class T7, class T8, class T9, class T10, class T11, class T12, class T13, class T14), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14))
MR_DEVICE_COUNT(16, MR_DEVICE_TYPES(class T0, class T1, class T2, class T3, class T4, class T5, class T6, class T7, class T8, class T9, class T10, class T11, class T12, class T13, class T14, class T15), MR_DEVICE_TYPES(T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15))
#undef MR_DEVICE_COUNT
#undef MR_DEVICE_TYPES
template <class Kernel> struct mr_device_overload;
template <class... Arguments> struct mr_device_overload<void (*)(Arguments...)> : mr_device_count<sizeof...(Arguments)> {};

/* Parameters one after the other, each at a multiple of its alignment. */
static __device__ inline char *mr_device_put(char *at) { return at; }
template <class T, class... Rest> static __device__ inline char *mr_device_put(char *at, const T &value, const Rest &...rest)
{
    at = reinterpret_cast<char *>((reinterpret_cast<unsigned long long>(at) + alignof(T) - 1) & ~static_cast<unsigned long long>(alignof(T) - 1));
    __builtin_memcpy(at, &value, sizeof(T));
    return mr_device_put(at + sizeof(T), rest...);
}

static constexpr size_t mr_device_room(size_t sum) { return sum; }
template <class T, class... Rest> static constexpr size_t mr_device_room(size_t sum, T size, Rest... rest) { return mr_device_room(sum + size, rest...); }

template <class T, T kernel> struct mr_device_launch;
template <class... Parameters, void (*kernel)(Parameters...)> struct mr_device_launch<void (*)(Parameters...), kernel> {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;

    __host__ __device__ mr_device_launch(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) :
        grid(grid), block(block), shared(shared), stream(stream)
    {
    }
    __device__ void operator()(Parameters... parameters) const { (void)send(parameters...); }
    __device__ cudaError_t send(Parameters... parameters) const
    {
        char *buffer = static_cast<char *>(mr_device_buffer(mr_device_room(0, (sizeof(Parameters) + alignof(Parameters))...)));
        if (buffer) {
            const void *address = reinterpret_cast<const void *>(mr_device_kernel<void (*)(Parameters...), kernel>::value);
            mr_device_shape(mr_device_record_of(buffer), address, grid, block, shared > 0xffffffffu ? 0xffffffffu : static_cast<unsigned int>(shared));
            mr_device_put(buffer, parameters...);
        }
        return mr_device_send(buffer, stream);
    }
};

/* Copies and fills are launches, too. Only the ones in use become kernels. */
template <int> __global__ void mr_device_copy(char *to, size_t to_pitch, const char *from, size_t from_pitch, size_t width, size_t height)
{
    for (size_t row = blockIdx.y; row < height; row += gridDim.y)
        for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < width; i += static_cast<size_t>(gridDim.x) * blockDim.x)
            to[row * to_pitch + i] = from[row * from_pitch + i];
}

template <int> __global__ void mr_device_fill(char *to, size_t pitch, char value, size_t width, size_t height)
{
    for (size_t row = blockIdx.y; row < height; row += gridDim.y)
        for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < width; i += static_cast<size_t>(gridDim.x) * blockDim.x)
            to[row * pitch + i] = value;
}

static __device__ inline dim3 mr_device_grid(size_t width, size_t height)
{
    size_t blocks = (width + 255) / 256;
    return dim3(blocks < 1024 ? static_cast<unsigned int>(blocks) : 1024u, height < 1024 ? static_cast<unsigned int>(height) : 1024u);
}

template <int number>
static __device__ inline cudaError_t mr_device_copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaStream_t stream)
{
    if ((height > 1 && (width > to_pitch || width > from_pitch)) || ((!to || !from) && width && height))
        return mr_device_note(cudaErrorInvalidValue);
    if (!width || !height)
        return cudaSuccess;
    return mr_device_launch<decltype(&mr_device_copy<number>), &mr_device_copy<number>>(mr_device_grid(width, height), dim3(256), 0, stream).send(
        static_cast<char *>(to), to_pitch, static_cast<const char *>(from), from_pitch, width, height);
}

template <int number> static __device__ inline cudaError_t mr_device_fill_rows(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    if ((height > 1 && width > pitch) || (!to && width && height))
        return mr_device_note(cudaErrorInvalidValue);
    if (!width || !height)
        return cudaSuccess;
    return mr_device_launch<decltype(&mr_device_fill<number>), &mr_device_fill<number>>(mr_device_grid(width, height), dim3(256), 0, stream).send(
        static_cast<char *>(to), pitch, static_cast<char>(value), width, height);
}

/* What kernels may call of the runtime API, beside the host's functions of these names. Those that launch kernels are templates: only a call makes them. */
static __device__ inline cudaError_t cudaPeekAtLastError() { return static_cast<cudaError_t>(mr_device_last()); }
static __device__ inline cudaError_t cudaGetLastError()
{
    unsigned int error = mr_device_last();
    if (error)
        atomicExch(mr_device_error(), 0ull);
    return static_cast<cudaError_t>(error);
}
/* Those that calls in kernels give. */
static __device__ inline const char *mr_device_error_text(cudaError_t error, bool name)
{
    switch (error) {
    case cudaSuccess: return name ? "cudaSuccess" : "no error";
    case cudaErrorInvalidValue: return name ? "cudaErrorInvalidValue" : "invalid argument";
    case cudaErrorMemoryAllocation: return name ? "cudaErrorMemoryAllocation" : "out of memory";
    case cudaErrorInvalidConfiguration: return name ? "cudaErrorInvalidConfiguration" : "invalid configuration argument";
    case cudaErrorLaunchPendingCountExceeded: return name ? "cudaErrorLaunchPendingCountExceeded" : "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount";
    case cudaErrorInvalidDeviceFunction: return name ? "cudaErrorInvalidDeviceFunction" : "invalid device function";
    case cudaErrorInvalidResourceHandle: return name ? "cudaErrorInvalidResourceHandle" : "invalid resource handle";
    case cudaErrorNotSupported: return name ? "cudaErrorNotSupported" : "operation not supported";
    default: return "unrecognized error code";
    }
}
static __device__ inline const char *cudaGetErrorName(cudaError_t error) { return mr_device_error_text(error, true); }
static __device__ inline const char *cudaGetErrorString(cudaError_t error) { return mr_device_error_text(error, false); }
/* All streams and events inside kernels have this handle. */
#define MR_DEVICE_HANDLE 16ull
template <class T> static __device__ inline cudaError_t mr_device_make(T *handle, bool allowed)
{
    if (!handle || !allowed)
        return mr_device_note(cudaErrorInvalidValue);
    *handle = reinterpret_cast<T>(MR_DEVICE_HANDLE);
    return cudaSuccess;
}
template <class T> static __device__ inline cudaError_t mr_device_handle(T handle)
{
    return mr_device_note(handle == reinterpret_cast<T>(MR_DEVICE_HANDLE) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
#undef MR_DEVICE_HANDLE
static __device__ inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return mr_device_make(stream, flags == 0 || flags == cudaStreamNonBlocking);
}
static __device__ inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return mr_device_handle(stream); }
static __device__ inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    return mr_device_make(event, flags == cudaEventDisableTiming);
}
static __device__ inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) { return mr_device_handle(event); }
static __device__ inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned int = 0) { return mr_device_handle(event); }
static __device__ inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return mr_device_handle(event); }
static __device__ inline cudaError_t cudaMalloc(void **memory, size_t size)
{
    if (!memory)
        return mr_device_note(cudaErrorInvalidValue);
    *memory = malloc(size);
    return mr_device_note(*memory ? cudaSuccess : cudaErrorMemoryAllocation);
}
template <class T> static __device__ inline cudaError_t cudaMalloc(T **memory, size_t size) { return ::cudaMalloc(reinterpret_cast<void **>(memory), size); }
static __device__ inline cudaError_t cudaFree(void *memory)
{
    free(memory);
    return cudaSuccess;
}
template <int number = 0> static __device__ inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind, cudaStream_t stream = nullptr)
{
    return mr_device_copy_rows<number>(to, size, from, size, size, 1, stream);
}
template <int number = 0> static __device__ inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind,
                                                       cudaStream_t stream = nullptr)
{
    return mr_device_copy_rows<number>(to, to_pitch, from, from_pitch, width, height, stream);
}
template <int number = 0> static __device__ inline cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream = nullptr)
{
    return mr_device_fill_rows<number>(to, size, value, size, 1, stream);
}
template <int number = 0> static __device__ inline cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream = nullptr)
{
    return mr_device_fill_rows<number>(to, pitch, value, width, height, stream);
}

#endif
