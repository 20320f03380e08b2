/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: names, the last error of each thread, which calls note theirs and which leave it alone. */
#include "rt.h"

#include <string.h>

/* ---- names ---- */

CASE(error, names_of_all)
{
    int wrong = 0, known = 0;
    for (int status = 0; status < 1200; status++) {
        const char *name = rt_status_name((cudaError_t)status);
        if (!name)
            continue;
        known++;
        wrong += strcmp(cudaGetErrorName((cudaError_t)status), name) != 0;
    }
    say_value("known", known);
    say_value("wrong", wrong);
}

CASE(error, name_unknown)
{
    say_text(cudaGetErrorName((cudaError_t)12345));
    say_text(cudaGetErrorName((cudaError_t)-1));
    say_text(cudaGetErrorName((cudaError_t)10000));
}

CASE(error, string_unknown)
{
    say_text(cudaGetErrorString((cudaError_t)12345));
    say_text(cudaGetErrorString((cudaError_t)-1));
}

CASE(error, string_is_there)
{
    int there = 0, known = 0;
    for (int status = 0; status < 1200; status++) {
        if (!rt_status_name((cudaError_t)status))
            continue;
        const char *text = cudaGetErrorString((cudaError_t)status);
        known++;
        there += text && *text;
    }
    say_if("all", there == known);
}

CASE(error, string_success)
{
    say_text(cudaGetErrorString(cudaSuccess));
}

#define STRING(title, status) \
    CASE(error, string_##title) \
    { \
        say_text(cudaGetErrorString(status)); \
    }

STRING(invalid_value, cudaErrorInvalidValue)
STRING(memory_allocation, cudaErrorMemoryAllocation)
STRING(invalid_configuration, cudaErrorInvalidConfiguration)
STRING(invalid_device, cudaErrorInvalidDevice)
STRING(invalid_device_function, cudaErrorInvalidDeviceFunction)
STRING(no_device, cudaErrorNoDevice)
STRING(not_ready, cudaErrorNotReady)
STRING(illegal_address, cudaErrorIllegalAddress)
STRING(invalid_handle, cudaErrorInvalidResourceHandle)
STRING(not_supported, cudaErrorNotSupported)

/* ---- the last error ---- */

CASE(error, get_clears)
{
    rt(cudaMalloc(NULL, 4));
    rt(cudaGetLastError());
    rt(cudaGetLastError());
}

CASE(error, peek_keeps)
{
    rt(cudaMalloc(NULL, 4));
    rt(cudaPeekAtLastError());
    rt(cudaPeekAtLastError());
    rt(cudaGetLastError());
    rt(cudaPeekAtLastError());
}

CASE(error, success_keeps)
{
    int device;
    void *address;
    rt(cudaMalloc(NULL, 4));
    rt(cudaGetDevice(&device));
    rt(cudaMalloc(&address, 4));
    rt(cudaFree(address));
    rt(cudaDeviceSynchronize());
    rt_last();
}

CASE(error, later_replaces)
{
    rt(cudaMalloc(NULL, 4));
    rt(cudaSetDevice(-1));
    rt_last();
    rt_last();
}

CASE(error, later_replaces_back)
{
    rt(cudaSetDevice(-1));
    rt(cudaMalloc(NULL, 4));
    rt_last();
}

CASE(error, kept_by_names)
{
    rt(cudaMalloc(NULL, 4));
    say_text(cudaGetErrorName(cudaSuccess));
    rt_last();
}

static void other_thread(void *argument)
{
    cudaError_t *last = argument;
    last[0] = cudaGetLastError();
    last[1] = cudaSetDevice(-1);
    last[2] = cudaPeekAtLastError();
}

CASE(error, per_thread)
{
    cudaError_t last[3];
    rt(cudaMalloc(NULL, 4));
    rt_thread(other_thread, last);
    rt(last[0]);
    rt(last[1]);
    rt(last[2]);
    rt_last();
}

CASE(error, fresh_process, .bare = true)
{
    rt(cudaPeekAtLastError());
    rt(cudaGetLastError());
}

CASE(error, fresh_process_names, .bare = true)
{
    say_text(cudaGetErrorName(cudaErrorInvalidValue));
    say_text(cudaGetErrorString(cudaErrorInvalidValue));
    rt_last();
}

CASE(error, before_use, .bare = true)
{
    rt(cudaMalloc(NULL, 4));
    rt_last();
    rt(cudaSetDevice(-1));
    rt_last();
}

/* A driver call's failure is none of the runtime's. */
CASE(error, driver_failures_are_apart)
{
    CUdeviceptr address;
    say(cuMemAlloc(&address, 0));
    rt_last();
}

/* A status that is an answer and no failure. */
CASE(error, not_ready_of_stream)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    struct rt_gate gate = rt_gate_close(stream);
    rt_noted(cudaStreamQuery(stream));
    rt_gate_open(gate);
    RT_NEED(cudaStreamDestroy(stream));
}

CASE(error, not_ready_of_event)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t event = rt_event(0);
    struct rt_gate gate = rt_gate_close(stream);
    RT_NEED(cudaEventRecord(event, stream));
    rt_noted(cudaEventQuery(event));
    rt_gate_open(gate);
    RT_NEED(cudaStreamSynchronize(stream));
}

CASE(error, not_ready_of_elapsed)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    cudaEvent_t first = rt_event(0), last = rt_event(0);
    float ms = -1;
    RT_NEED(cudaEventRecord(first, stream));
    struct rt_gate gate = rt_gate_close(stream);
    RT_NEED(cudaEventRecord(last, stream));
    rt_noted(cudaEventElapsedTime(&ms, first, last));
    rt_gate_open(gate);
    RT_NEED(cudaStreamSynchronize(stream));
}

/* Not ready does not wipe out what was there. */
CASE(error, not_ready_after_failure)
{
    cudaStream_t stream = rt_stream(cudaStreamNonBlocking);
    struct rt_gate gate = rt_gate_close(stream);
    rt(cudaMalloc(NULL, 4));
    rt(cudaStreamQuery(stream));
    rt_last();
    rt_gate_open(gate);
    RT_NEED(cudaStreamSynchronize(stream));
}

/* ---- which calls note their failure ---- */

#define NOTED(title, call) \
    CASE(error, noted_##title) \
    { \
        rt_noted(call); \
    }

NOTED(get_device_null, cudaGetDevice(NULL))
NOTED(get_device_count_null, cudaGetDeviceCount(NULL))
NOTED(get_attribute_null, cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0))
NOTED(get_properties_null, cudaGetDeviceProperties(NULL, 0))
NOTED(driver_version_null, cudaDriverGetVersion(NULL))
NOTED(runtime_version_null, cudaRuntimeGetVersion(NULL))
NOTED(stream_create_null, cudaStreamCreate(NULL))
NOTED(event_create_null, cudaEventCreate(NULL))
NOTED(event_record_null, cudaEventRecord(NULL, NULL))
NOTED(pointer_attributes_null, cudaPointerGetAttributes(NULL, NULL))
NOTED(free_wild, cudaFree(GOLD_WILD))
NOTED(free_host_wild, cudaFreeHost(GOLD_WILD))
NOTED(memset_null, cudaMemset(NULL, 0, 4))
NOTED(memcpy_null, cudaMemcpy(NULL, NULL, 4, cudaMemcpyDeviceToDevice))
NOTED(mem_get_info_null, cudaMemGetInfo(NULL, NULL))
NOTED(host_register_null, cudaHostRegister(NULL, 4096, 0))
NOTED(host_unregister_null, cudaHostUnregister(NULL))
NOTED(graph_create_null, cudaGraphCreate(NULL, 0))
NOTED(graph_destroy_null, cudaGraphDestroy(NULL))
NOTED(launch_null, rt_launch(NULL, 1, NULL, NULL))
NOTED(func_attributes_null, cudaFuncGetAttributes(NULL, NULL))
NOTED(host_func_null, cudaLaunchHostFunc(NULL, NULL, NULL))
NOTED(library_null, cudaLibraryLoadData(NULL, gold_ptx, NULL, NULL, 0, NULL, NULL, 0))
NOTED(pool_destroy_null, cudaMemPoolDestroy(NULL))

/* ---- wrong in more than one way ---- */

CASE(error, device_before_pointer)
{
    rt_noted(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, -1));
    rt_noted(cudaGetDeviceProperties(NULL, -1));
}
