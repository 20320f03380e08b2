/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: what a configuration may be, forms of launching, and what a faulting kernel leaves. */
#include "rt.h"

#include <string.h>

/* What the stubs of nvcc 13 call; no public header declares these. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **params, size_t shared,
                               cudaStream_t stream);

static cudaError_t launch(const void *kernel, dim3 grid, dim3 block, size_t shared, void **params)
{
    return cudaLaunchKernel(kernel, grid, block, params, shared, NULL);
}

static dim3 size(unsigned x, unsigned y, unsigned z)
{
    return (dim3){x, y, z};
}

CASE(launch, registered)
{
    unsigned *word = rt_words(1, 0), value = 11;
    void *params[] = {&word, &value};
    rt(launch(&rt_host_store, size(1, 1, 1), size(1, 1, 1), 0, params));
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
}

CASE(launch, kernel_of_library)
{
    unsigned *word = rt_words(1, 0), value = 12;
    void *params[] = {&word, &value};
    rt(launch(rt_kernel("store"), size(1, 1, 1), size(1, 1, 1), 0, params));
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
}

CASE(launch, function_by_symbol)
{
    unsigned *word = rt_words(1, 0), value = 13;
    void *params[] = {&word, &value};
    cudaFunction_t function;
    RT_NEED(cudaGetFuncBySymbol(&function, &rt_host_store));
    say(cuLaunchKernel((CUfunction)function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
}

CASE(launch, unknown_function)
{
    rt_noted(launch(&rt_host_missing, size(1, 1, 1), size(1, 1, 1), 0, NULL));
    rt_noted(launch(NULL, size(1, 1, 1), size(1, 1, 1), 0, NULL));
}

CASE(launch, variable_is_no_kernel)
{
    rt_noted(launch(&rt_host_counter, size(1, 1, 1), size(1, 1, 1), 0, NULL));
}

#define BAD(title, grid, block, shared) \
    CASE(launch, title) \
    { \
        rt_noted(launch(&rt_host_empty, grid, block, shared, NULL)); \
        rt(cudaDeviceSynchronize()); \
    }

BAD(no_blocks, size(0, 1, 1), size(1, 1, 1), 0)
BAD(no_blocks_y, size(1, 0, 1), size(1, 1, 1), 0)
BAD(no_threads, size(1, 1, 1), size(0, 1, 1), 0)
BAD(no_threads_z, size(1, 1, 1), size(1, 1, 0), 0)
BAD(block_1024, size(1, 1, 1), size(1024, 1, 1), 0)
BAD(block_1025, size(1, 1, 1), size(1025, 1, 1), 0)
BAD(block_product_too_large, size(1, 1, 1), size(32, 32, 2), 0)
BAD(block_z_too_large, size(1, 1, 1), size(1, 1, 65), 0)
BAD(grid_y_too_large, size(1, 65536, 1), size(1, 1, 1), 0)
BAD(grid_z_too_large, size(1, 1, 65536), size(1, 1, 1), 0)
BAD(grid_x_too_large, size(0x80000000u, 1, 1), size(1, 1, 1), 0)
BAD(shared_48k, size(1, 1, 1), size(1, 1, 1), 49152)
BAD(shared_above_48k, size(1, 1, 1), size(1, 1, 1), 49153)
BAD(shared_far_too_large, size(1, 1, 1), size(1, 1, 1), (size_t)1 << 30)

/* As with BAD. */
CASE(launch, shared_above_32_bits, .allow = "cudaErrorInvalidValue cudaSuccess",
     .why = "NVIDIA's library drops the upper half of the size; here it is refused")
{
    rt_noted(launch(&rt_host_empty, size(1, 1, 1), size(1, 1, 1), (size_t)1 << 33, NULL));
    rt(cudaDeviceSynchronize());
}

CASE(launch, beyond_bounds_of_kernel)
{
    unsigned *word = rt_words(1, 0);
    void *params[] = {&word};
    rt_noted(launch(&rt_host_bounded, size(1, 1, 1), size(64, 1, 1), 0, params));
    rt_noted(launch(&rt_host_bounded, size(1, 1, 1), size(65, 1, 1), 0, params));
    rt(cudaDeviceSynchronize());
}

CASE(launch, other_than_required_block)
{
    unsigned *word = rt_words(1, 0);
    void *params[] = {&word};
    rt_noted(launch(rt_kernel("exactly32"), size(1, 1, 1), size(32, 1, 1), 0, params));
    rt_noted(launch(rt_kernel("exactly32"), size(1, 1, 1), size(31, 1, 1), 0, params));
    rt(cudaDeviceSynchronize());
}

CASE(launch, no_params_needed)
{
    rt_noted(launch(&rt_host_empty, size(1, 1, 1), size(1, 1, 1), 0, NULL));
}

CASE(launch, failure_is_noted_once)
{
    rt(launch(&rt_host_empty, size(0, 1, 1), size(1, 1, 1), 0, NULL));
    rt(cudaPeekAtLastError());
    rt(launch(&rt_host_empty, size(1, 1, 1), size(1, 1, 1), 0, NULL));
    rt(cudaDeviceSynchronize());
    rt_last();
    rt_last();
}

CASE(launch, without_context, .alone = true)
{
    NEED(cuCtxSetCurrent(NULL));
    rt_noted(launch(&rt_host_empty, size(1, 1, 1), size(1, 1, 1), 0, NULL));
    rt(cudaDeviceSynchronize());
}

CASE(launch, first_call_of_process, .bare = true)
{
    rt_noted(launch(&rt_host_empty, size(1, 1, 1), size(1, 1, 1), 0, NULL));
    rt(cudaDeviceSynchronize());
}

/* ---- extended launches ---- */

CASE(launch, extended)
{
    unsigned *word = rt_words(1, 0), value = 14;
    void *params[] = {&word, &value};
    cudaLaunchConfig_t config;
    memset(&config, 0, sizeof config);
    config.gridDim = config.blockDim = size(1, 1, 1);
    rt(cudaLaunchKernelExC(&config, &rt_host_store, params));
    rt(cudaDeviceSynchronize());
    say_int(rt_word(word));
}

CASE(launch, extended_bad)
{
    cudaLaunchConfig_t config;
    memset(&config, 0, sizeof config);
    config.gridDim = config.blockDim = size(1, 1, 1);
    rt_noted(cudaLaunchKernelExC(&config, NULL, NULL));
    rt_noted(cudaLaunchKernelExC(&config, &rt_host_missing, NULL));
    config.gridDim = size(0, 1, 1);
    rt_noted(cudaLaunchKernelExC(&config, &rt_host_empty, NULL));
    rt_noted(cudaLaunchKernelExC(&config, rt_kernel("empty"), NULL));
}

CASE(launch, extended_without_config, RT_CRASHES("cudaErrorInvalidValue"))
{
    rt_noted(cudaLaunchKernelExC(NULL, &rt_host_empty, NULL));
}

CASE(launch, extended_without_attributes)
{
    cudaLaunchConfig_t config;
    memset(&config, 0, sizeof config);
    config.gridDim = config.blockDim = size(1, 1, 1);
    config.numAttrs = 1;
    rt_noted(cudaLaunchKernelExC(&config, &rt_host_empty, NULL));
}

/* A kernel by its handle, and as the stubs of nvcc 13 launch one that is registered: the same shapes as above. */
#define BAD_HANDLE(title, grid, block, shared) \
    CASE(launch, title) \
    { \
        cudaKernel_t kernel = NULL; \
        rt_noted(launch(rt_kernel("empty"), grid, block, shared, NULL)); \
        RT_NEED(__cudaGetKernel(&kernel, &rt_host_empty)); \
        rt_noted(__cudaLaunchKernel(kernel, grid, block, NULL, shared, NULL)); \
        rt(cudaDeviceSynchronize()); \
    }

BAD_HANDLE(handle_no_blocks, size(0, 1, 1), size(1, 1, 1), 0)
BAD_HANDLE(handle_no_threads, size(1, 1, 1), size(0, 1, 1), 0)
BAD_HANDLE(handle_block_1025, size(1, 1, 1), size(1025, 1, 1), 0)
BAD_HANDLE(handle_grid_y_too_large, size(1, 65536, 1), size(1, 1, 1), 0)
BAD_HANDLE(handle_shared_above_48k, size(1, 1, 1), size(1, 1, 1), 49153)

CASE(launch, stub)
{
    rt(rt_stub_launch(size(1, 1, 1), size(1, 1, 1), 0));
    rt(rt_stub_launch(size(0, 1, 1), size(1, 1, 1), 0));
    rt(rt_stub_launch(size(1, 1, 1), size(0, 1, 1), 0));
    rt(rt_stub_launch(size(1, 1, 1), size(1025, 1, 1), 0));
    rt(rt_stub_launch(size(1, 65536, 1), size(1, 1, 1), 0));
    rt(rt_stub_launch(size(1, 1, 1), size(1, 1, 1), 49153));
    rt(rt_stub_launch(size(1, 1, 1), size(1, 1, 1), (size_t)1 << 30));
    rt(cudaDeviceSynchronize());
}

/* A stub asks for its kernel first. */
CASE(launch, stub_of_unknown_kernel)
{
    cudaKernel_t kernel = NULL;
    rt_noted(__cudaGetKernel(&kernel, &rt_host_missing));
    rt_noted(__cudaGetKernel(&kernel, NULL));
    rt_noted(__cudaLaunchKernel(NULL, size(1, 1, 1), size(1, 1, 1), NULL, 0, NULL));
    rt(cudaDeviceSynchronize());
}

CASE(launch, extended_attributes)
{
    cudaLaunchConfig_t config;
    cudaLaunchAttribute attribute;
    memset(&config, 0, sizeof config);
    memset(&attribute, 0, sizeof attribute);
    config.gridDim = config.blockDim = size(1, 1, 1);
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = -1;
    rt_noted(cudaLaunchKernelExC(&config, &rt_host_empty, NULL));
    attribute.id = cudaLaunchAttributeIgnore;
    rt_noted(cudaLaunchKernelExC(&config, &rt_host_empty, NULL));
    attribute.id = (cudaLaunchAttributeID)200;
    rt_noted(cudaLaunchKernelExC(&config, &rt_host_empty, NULL));
    rt(cudaDeviceSynchronize());
}

CASE(launch, cooperative)
{
    rt_noted(cudaLaunchCooperativeKernel(&rt_host_empty, size(1, 1, 1), size(32, 1, 1), NULL, 0, NULL));
    rt_noted(cudaLaunchCooperativeKernel(&rt_host_empty, size(1u << 24, 1, 1), size(1024, 1, 1), NULL, 0, NULL));
    rt_noted(cudaLaunchCooperativeKernel(&rt_host_missing, size(1, 1, 1), size(32, 1, 1), NULL, 0, NULL));
    rt_noted(cudaLaunchCooperativeKernel(&rt_host_empty, size(0, 1, 1), size(32, 1, 1), NULL, 0, NULL));
    rt(cudaDeviceSynchronize());
}

/* Other handles than those of kernels, where a kernel is asked for. */
CASE(launch, handle_of_function)
{
    cudaFunction_t function = NULL;
    struct cudaFuncAttributes attributes;
    RT_NEED(cudaGetFuncBySymbol(&function, &rt_host_empty));
    rt_noted(launch(function, size(1, 1, 1), size(1, 1, 1), 0, NULL));
    rt_noted(cudaFuncGetAttributes(&attributes, function));
    rt(cudaDeviceSynchronize());
}

CASE(launch, handle_of_kernel_again)
{
    const void *kernel = rt_kernel("empty"), *store = rt_kernel("store");
    unsigned *word = rt_words(1, 1), value = 6;
    void *params[] = {&word, &value};
    for (int i = 0; i < 3; i++) {
        rt_noted(launch(kernel, size(1, 1, 1), size(1, 1, 1), 0, NULL));
        rt_noted(launch(store, size(1, 1, 1), size(1, 1, 1), 0, params));
    }
    say_int(rt_word(word));
}

CASE(launch, handle_of_unloaded_kernel, RT_CRASHES("cudaErrorInvalidResourceHandle"))
{
    cudaLibrary_t library;
    cudaKernel_t kernel = NULL;
    RT_NEED(cudaLibraryLoadData(&library, gold_ptx, NULL, NULL, 0, NULL, NULL, 0));
    RT_NEED(cudaLibraryGetKernel(&kernel, library, "empty"));
    RT_NEED(launch((const void *)kernel, size(1, 1, 1), size(1, 1, 1), 0, NULL));
    RT_NEED(cudaDeviceSynchronize());
    RT_NEED(cudaLibraryUnload(library));
    rt_noted(launch((const void *)kernel, size(1, 1, 1), size(1, 1, 1), 0, NULL));
}

/* ---- faults: each in a process of its own ---- */

static void store_to_null(void)
{
    void *nowhere = NULL;
    unsigned value = 1;
    void *params[] = {&nowhere, &value};
    RT_NEED(launch(&rt_host_store, size(1, 1, 1), size(1, 1, 1), 0, params));
}

CASE(fault, synchronize_says_it, .alone = true)
{
    store_to_null();
    rt(cudaDeviceSynchronize());
    rt(cudaDeviceSynchronize());
}

CASE(fault, last_error_sticks, .alone = true)
{
    store_to_null();
    rt(cudaDeviceSynchronize());
    rt(cudaGetLastError());
    rt(cudaGetLastError());
    rt(cudaPeekAtLastError());
}

CASE(fault, later_calls, .alone = true)
{
    void *address = NULL;
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    int device = -1;
    store_to_null();
    rt(cudaDeviceSynchronize());
    rt(cudaMalloc(&address, 4));
    rt(cudaStreamCreate(&stream));
    rt(cudaEventCreate(&event));
    rt(cudaStreamQuery(NULL));
    rt(launch(&rt_host_empty, size(1, 1, 1), size(1, 1, 1), 0, NULL));
    rt(cudaGetDevice(&device));
    rt(cudaSetDevice(0));
    rt(cudaGetDeviceCount(&device));
    rt(cudaFree(NULL));
}

static void errors_of_thread(void *argument)
{
    cudaError_t *errors = argument;
    errors[0] = cudaGetLastError();
    errors[1] = cudaDeviceSynchronize();
    errors[2] = cudaGetLastError();
    errors[3] = cudaGetLastError();
}

CASE(fault, other_thread_sees_it, .alone = true)
{
    cudaError_t errors[4];
    store_to_null();
    rt(cudaDeviceSynchronize());
    rt_thread(errors_of_thread, errors);
    for (int i = 0; i < 4; i++)
        rt(errors[i]);
}

CASE(fault, other_error_does_not_hide_it, .alone = true)
{
    store_to_null();
    rt(cudaDeviceSynchronize());
    rt(cudaSetDevice(-1));
    rt_last();
    rt_last();
}

CASE(fault, event_of_faulted_stream, .alone = true)
{
    cudaStream_t stream = rt_stream(0);
    cudaEvent_t event = rt_event(0);
    void *nowhere = NULL;
    unsigned value = 1;
    void *params[] = {&nowhere, &value};
    struct rt_gate gate = rt_gate_close(stream); /* so that the event is recorded before the fault */
    RT_NEED(rt_launch(&rt_host_store, 1, stream, params));
    rt(cudaEventRecord(event, stream));
    rt_gate_open(gate);
    rt(cudaEventSynchronize(event));
    rt(cudaEventQuery(event));
}

CASE(fault, copy_says_it, .alone = true)
{
    unsigned *word = rt_words(1, 0), value;
    store_to_null();
    rt(cudaMemcpy(&value, word, 4, cudaMemcpyDeviceToHost));
    rt_last();
}

CASE(fault, reset_after, .alone = true)
{
    store_to_null();
    rt(cudaDeviceSynchronize());
    rt(cudaDeviceReset());
    rt_last();
}
