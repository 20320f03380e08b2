/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: parameters in both forms, shapes and limits, shared memory,
 * functions that are not functions, and the newer launch calls.
 */
#include "gold.h"

#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

/* Launches places over a grid and says a hash of what all threads stored. */
static void places(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz)
{
    size_t count = (size_t)gx * gy * gz * bx * by * bz;
    CUdeviceptr address = gold_alloc_words(count, 0);
    unsigned *words = calloc(count, sizeof *words);
    if (!words)
        gold_stop("calloc");
    void *params[] = {&address};
    say(cuLaunchKernel(gold_function("places"), gx, gy, gz, bx, by, bz, 0, NULL, params, NULL));
    NEED(cuMemcpyDtoH(words, address, count * sizeof *words));
    size_t right = 0;
    for (size_t i = 0; i < count; i++)
        right += words[i] == (unsigned)i * 2654435761u;
    say_value("right", (long long)right);
    free(words);
    NEED(cuMemFree(address));
}

CASE(launch, shape_one)
{
    places(1, 1, 1, 1, 1, 1);
}

CASE(launch, shape_line)
{
    places(13, 1, 1, 97, 1, 1);
}

CASE(launch, shape_plane)
{
    places(5, 7, 1, 9, 11, 1);
}

CASE(launch, shape_box)
{
    places(3, 4, 5, 7, 6, 5);
}

CASE(launch, shape_largest_block)
{
    places(2, 1, 1, 1024, 1, 1);
    places(1, 1, 2, 16, 1, 64);
    places(1, 2, 1, 1, 1024, 1);
}

/* Says the status of a launch of the empty kernel. */
static void shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz)
{
    say(cuLaunchKernel(gold_function("empty"), gx, gy, gz, bx, by, bz, 0, NULL, NULL, NULL));
}

CASE(launch, zero_dimension)
{
    shape(0, 1, 1, 1, 1, 1);
    shape(1, 0, 1, 1, 1, 1);
    shape(1, 1, 0, 1, 1, 1);
    shape(1, 1, 1, 0, 1, 1);
    shape(1, 1, 1, 1, 0, 1);
    shape(1, 1, 1, 1, 1, 0);
}

CASE(launch, block_too_large)
{
    shape(1, 1, 1, 1025, 1, 1);
    shape(1, 1, 1, 32, 33, 1);
    shape(1, 1, 1, 1, 1, 65);
    shape(1, 1, 1, 1, 1025, 1);
    shape(1, 1, 1, UINT32_MAX, 1, 1);
    shape(1, 1, 1, 65536, 65536, 1);
    say(cuCtxSynchronize());
}

CASE(launch, grid_too_large)
{
    shape(1, 65536, 1, 1, 1, 1);
    shape(1, 1, 65536, 1, 1, 1);
    shape(0x80000000u, 1, 1, 1, 1, 1);
    shape(1, 65535, 1, 1, 1, 1);
    shape(1, 1, 65535, 1, 1, 1);
    say(cuCtxSynchronize());
}

CASE(launch, maxntid_respected)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    void *params[] = {&word};
    CUfunction function = gold_function("bounded");
    say(gold_launch(function, 64, NULL, params));
    say_int(gold_word(word));
    say(gold_launch(function, 65, NULL, params));
    say(gold_launch(function, 1024, NULL, params));
    say(cuCtxSynchronize());
}

CASE(launch, reqntid_respected)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    void *params[] = {&word};
    CUfunction function = gold_function("exactly32");
    say(gold_launch(function, 32, NULL, params));
    say_int(gold_word(word));
    say(gold_launch(function, 31, NULL, params));
    say(gold_launch(function, 33, NULL, params));
    say(cuLaunchKernel(function, 1, 1, 1, 16, 2, 1, 0, NULL, params, NULL));
}

/* ---- parameters ---- */

struct packed {
    CUdeviceptr target;
    unsigned char a;
    unsigned short b;
    unsigned c;
    double d;
};

static void say_params(CUdeviceptr address)
{
    unsigned words[4] = {0};
    double d = 0;
    NEED(cuMemcpyDtoH(words, address, 12));
    NEED(cuMemcpyDtoH(&d, address + 16, 8));
    for (int i = 0; i < 3; i++)
        say_int(words[i]);
    say_if("double", d == 2.5);
}

CASE(launch, params_by_pointers)
{
    struct packed p = {gold_alloc_words(8, 0), 200, 60000, 4000000000u, 2.5};
    void *params[] = {&p.target, &p.a, &p.b, &p.c, &p.d};
    say(gold_launch(gold_function("params"), 1, NULL, params));
    say_params(p.target);
}

CASE(launch, params_are_copied_at_the_call)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr target = gold_alloc_words(1, 0);
    unsigned value = 5;
    void *params[] = {&target, &value};
    CUfunction function = gold_function("store");
    struct gold_gate gate = gold_gate_close(stream);
    NEED(gold_launch(function, 1, stream, params));
    value = 6;
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
    say_int(gold_word(target));
}

static CUresult launch_buffer(CUfunction function, void *buffer, size_t size)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
}

CASE(launch, params_by_buffer)
{
    struct packed p = {gold_alloc_words(8, 0), 201, 60001, 4000000001u, 2.5};
    say(launch_buffer(gold_function("params"), &p, sizeof p));
    say_params(p.target);
}

CASE(launch, buffer_too_small, .allow = "CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE",
     .why = "hardware runs the kernel on what happens to lie behind the buffer")
{
    struct packed p = {gold_alloc_words(8, 0), 201, 60001, 4000000001u, 2.5};
    say(launch_buffer(gold_function("params"), &p, 8));
    say(launch_buffer(gold_function("params"), &p, 0));
    say(launch_buffer(gold_function("params"), &p, sizeof p - 1));
}

CASE(
    launch, buffer_too_large,
    .allow = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
    .why = "hardware cuts the size to 32 bits")
{
    struct {
        struct packed p;
        char more[5000];
    } wide = {.p = {gold_alloc_words(8, 0), 1, 2, 3, 2.5}};
    say(launch_buffer(gold_function("params"), &wide, sizeof wide.p + 8));
    say(launch_buffer(gold_function("params"), &wide, sizeof wide));
    say(launch_buffer(gold_function("params"), &wide, (size_t)1 << 40));
}

CASE(launch, buffer_missing_parts)
{
    struct packed p = {gold_alloc_words(8, 0), 201, 60001, 4000000001u, 2.5};
    size_t size = sizeof p;
    CUfunction function = gold_function("params");
    void *no_size[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_END};
    void *no_buffer[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    void *nothing[] = {CU_LAUNCH_PARAM_END};
    void *unknown[] = {(void *)(uintptr_t)77, &p, CU_LAUNCH_PARAM_END};
    say(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, no_size));
    say(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, no_buffer));
    say(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, nothing));
    say(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, unknown));
}

CASE(launch, params_and_buffer)
{
    struct packed p = {gold_alloc_words(8, 0), 201, 60001, 4000000001u, 2.5};
    size_t size = sizeof p;
    void *params[] = {&p.target, &p.a, &p.b, &p.c, &p.d};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    say(cuLaunchKernel(gold_function("params"), 1, 1, 1, 1, 1, 1, 0, NULL, params, extra));
}

CASE(launch, params_missing)
{
    say(cuLaunchKernel(gold_function("store"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

CASE(launch, params_null_entry, .alone = true, .allow = "CUDA_ERROR_INVALID_VALUE|signal 11",
     .why = "a null parameter pointer is read by the driver")
{
    CUdeviceptr target = gold_alloc_words(1, 0);
    void *params[] = {&target, NULL};
    say(cuLaunchKernel(gold_function("store"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
}

CASE(launch, params_null_for_empty_kernel)
{
    void *none[] = {NULL};
    say(gold_launch(gold_function("empty"), 1, NULL, NULL));
    say(gold_launch(gold_function("empty"), 1, NULL, none));
    say(cuCtxSynchronize());
}

/* ---- shared memory ---- */

static void rotate(unsigned threads, unsigned bytes)
{
    CUdeviceptr address = gold_alloc_words(threads, 0);
    void *params[] = {&address};
    CUresult status = cuLaunchKernel(gold_function("rotate"), 1, 1, 1, threads, 1, 1, bytes, NULL, params, NULL);
    say(status);
    if (status == CUDA_SUCCESS) {
        unsigned right = 0;
        for (unsigned i = 0; i < threads; i += 31)
            right += gold_word(address + 4 * i) == (i + 1) % threads;
        say_if("right", right == (threads + 30) / 31);
    }
    NEED(cuMemFree(address));
}

CASE(launch, dynamic_shared)
{
    rotate(32, 128);
    rotate(1000, 4000);
}

CASE(launch, dynamic_shared_48k)
{
    rotate(256, 49152);
    rotate(256, 49153);
    rotate(256, 1 << 30);
}

CASE(launch, dynamic_shared_raised)
{
    CUfunction function = gold_function("rotate");
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
    rotate(256, 65536);
    rotate(256, 65537);
    say(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0));
    rotate(256, 4096);
}

CASE(launch, static_and_dynamic_shared)
{
    CUdeviceptr word = gold_alloc_words(1, 0);
    void *params[] = {&word};
    CUfunction function = gold_function("bounded");
    say(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 49152 - 1024, NULL, params, NULL));
    say(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 49152 - 1023, NULL, params, NULL));
    say(cuCtxSynchronize());
}

/* ---- streams and handles ---- */

CASE(launch, default_stream_handles)
{
    CUfunction function = gold_function("empty");
    say(gold_launch(function, 1, CU_STREAM_LEGACY, NULL));
    say(gold_launch(function, 1, CU_STREAM_PER_THREAD, NULL));
    say(cuCtxSynchronize());
}

CASE(launch, is_asynchronous)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    struct gold_gate gate = gold_gate_close(stream);
    say(gold_launch(gold_function("empty"), 1, stream, NULL));
    say(cuStreamQuery(stream));
    gold_gate_open(gate);
    say(cuStreamSynchronize(stream));
}

CASE(launch, null_function)
{
    say(gold_launch(NULL, 1, NULL, NULL));
}

CASE(launch, without_context, .alone = true)
{
    CUfunction function = gold_function("empty");
    NEED(cuCtxSetCurrent(NULL));
    say(gold_launch(function, 1, NULL, NULL));
}

CASE(launch, function_of_other_context, .alone = true)
{
    CUfunction function = gold_function("empty");
    gold_context_new();
    say(gold_launch(function, 1, NULL, NULL));
}

CASE(launch, stream_of_other_context, .alone = true)
{
    CUfunction function = gold_function("empty");
    gold_context_new();
    CUstream stream = gold_stream(0);
    say(gold_launch(function, 1, stream, NULL));
}

#define STALE_FUNCTION \
    .alone = true, .allow = "CUDA_ERROR_INVALID_HANDLE|CUDA_ERROR_INVALID_CONTEXT", \
    .why = "undefined on hardware: it may crash or take the handle for a live one"

CASE(launch, function_of_unloaded_module, STALE_FUNCTION)
{
    CUmodule module = gold_load(gold_ptx);
    CUfunction function;
    NEED(cuModuleGetFunction(&function, module, "empty"));
    NEED(cuModuleUnload(module));
    say(gold_launch(function, 1, NULL, NULL));
}

CASE(launch, foreign_function, STALE_FUNCTION)
{
    say(gold_launch(gold_foreign(), 1, NULL, NULL));
}

CASE(launch, wild_function, STALE_FUNCTION)
{
    say(gold_launch(GOLD_WILD, 1, NULL, NULL));
}

CASE(launch, module_as_function, STALE_FUNCTION)
{
    say(gold_launch((CUfunction)(void *)gold_module(), 1, NULL, NULL));
}

/* ---- cuLaunchKernelEx and cooperative launches ---- */

static CUlaunchConfig config(unsigned threads, CUlaunchAttribute *attributes, unsigned count)
{
    return (CUlaunchConfig){.gridDimX = 1,
                            .gridDimY = 1,
                            .gridDimZ = 1,
                            .blockDimX = threads,
                            .blockDimY = 1,
                            .blockDimZ = 1,
                            .attrs = attributes,
                            .numAttrs = count};
}

CASE(launch, ex)
{
    CUdeviceptr target = gold_alloc_words(1, 0);
    unsigned value = 9;
    void *params[] = {&target, &value};
    CUlaunchConfig plain = config(1, NULL, 0);
    say(cuLaunchKernelEx(&plain, gold_function("store"), params, NULL));
    say_int(gold_word(target));
}

CASE(launch, ex_bad)
{
    CUfunction function = gold_function("empty");
    CUlaunchConfig none = config(0, NULL, 0), many = config(2000, NULL, 0), missing = config(1, NULL, 1);
    say(cuLaunchKernelEx(NULL, function, NULL, NULL));
    say(cuLaunchKernelEx(&none, function, NULL, NULL));
    say(cuLaunchKernelEx(&many, function, NULL, NULL));
    say(cuLaunchKernelEx(&missing, function, NULL, NULL));
    CUlaunchConfig plain = config(1, NULL, 0);
    say(cuLaunchKernelEx(&plain, NULL, NULL, NULL));
}

CASE(launch, ex_priority_attribute)
{
    CUlaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    attribute.value.priority = 0;
    CUlaunchConfig with = config(1, &attribute, 1);
    say(cuLaunchKernelEx(&with, gold_function("empty"), NULL, NULL));
    attribute.id = CU_LAUNCH_ATTRIBUTE_IGNORE;
    say(cuLaunchKernelEx(&with, gold_function("empty"), NULL, NULL));
    say(cuCtxSynchronize());
}

CASE(launch, ex_unknown_attribute)
{
    CUlaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = (CUlaunchAttributeID)999;
    CUlaunchConfig with = config(1, &attribute, 1);
    say(cuLaunchKernelEx(&with, gold_function("empty"), NULL, NULL));
}

CASE(launch, ex_cluster_of_one)
{
    CUlaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    CUlaunchConfig with = config(1, &attribute, 1);
    say(cuLaunchKernelEx(&with, gold_function("empty"), NULL, NULL));
    say(cuCtxSynchronize());
}

CASE(launch, cooperative_small)
{
    say(cuLaunchCooperativeKernel(gold_function("empty"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL));
    say(cuCtxSynchronize());
}

CASE(launch, cooperative_too_large)
{
    say(cuLaunchCooperativeKernel(gold_function("empty"), 1 << 20, 1, 1, 1024, 1, 1, 0, NULL, NULL));
    say(cuCtxSynchronize());
}

/* ---- the launch calls of CUDA 2 ---- */

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

CASE(launch, old_style)
{
    CUdeviceptr target = gold_alloc_words(1, 0);
    CUfunction function = gold_function("store");
    say(cuFuncSetBlockShape(function, 1, 1, 1));
    say(cuParamSetv(function, 0, &target, sizeof target));
    say(cuParamSeti(function, 8, 123));
    say(cuParamSetSize(function, 12));
    say(cuLaunch(function));
    say_int(gold_word(target));
}

CASE(launch, old_style_grid)
{
    CUdeviceptr target = gold_alloc_words(24, 0);
    CUfunction function = gold_function("places");
    CUstream stream = gold_stream(0);
    say(cuFuncSetBlockShape(function, 4, 1, 1));
    say(cuFuncSetSharedSize(function, 0));
    say(cuParamSetv(function, 0, &target, sizeof target));
    say(cuParamSetSize(function, 8));
    say(cuLaunchGrid(function, 3, 2));
    say_int(gold_word(target + 23 * 4) == 23 * 2654435761u);
    say(cuLaunchGridAsync(function, 3, 2, stream));
    say(cuStreamSynchronize(stream));
}

CASE(launch, old_style_bad)
{
    CUfunction function = gold_function("store");
    say(cuFuncSetBlockShape(function, 0, 1, 1));
    say(cuFuncSetBlockShape(function, 2000, 1, 1));
    say(cuFuncSetBlockShape(function, -1, 1, 1));
    say(cuParamSetSize(function, 100000));
    say(cuParamSeti(function, 100000, 1));
    say(cuLaunchGrid(function, 0, 1));
}

/* ---- which context ---- */

CASE(launch, explicit_stream_without_context, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUfunction function = gold_function("store");
    unsigned value = 5;
    void *params[] = {&word, &value};
    NEED(cuCtxSetCurrent(NULL));
    say(gold_launch(function, 1, stream, params));
    say(cuStreamSynchronize(stream));
    NEED(cuCtxSetCurrent(gold_context()));
    say_int(gold_word(word));
}

CASE(launch, explicit_stream_while_other_is_current, .alone = true)
{
    CUstream stream = gold_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr word = gold_alloc_words(1, 0);
    CUfunction function = gold_function("store");
    unsigned value = 6;
    void *params[] = {&word, &value};
    gold_context_new();
    say(gold_launch(function, 1, stream, params));
    say(cuStreamSynchronize(stream));
    NEED(cuCtxSetCurrent(gold_context()));
    say_int(gold_word(word));
}
