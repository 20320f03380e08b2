/* SPDX-License-Identifier: Apache-2.0 */
/* A program that was built against version 12: functions that 13 has in another form, as 12 had them. */
#include <cuda.h>
#include <string.h>

#define MR_RUNTIME_NO_PROTOTYPES
#include <cuda_runtime_api.h>
#include "libs/cudart/device.h"
#include "libs/cudart/version12.h"

/* What expect.h and this test call. */
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceProperties(struct mr_device_prop_11 *prop, int device);
cudaError_t cudaGetDeviceProperties_v2(struct mr_device_prop_12 *prop, int device);
cudaError_t cudaMallocManaged(void **memory, size_t size, unsigned flags);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMemAdvise(const void *memory, size_t size, enum cudaMemoryAdvise advice, int device);
cudaError_t cudaMemPrefetchAsync(const void *memory, size_t size, int device, cudaStream_t stream);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id);
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **dependencies, size_t *count);
cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                  size_t count);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     size_t count);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count);
cudaError_t cudaPointerGetAttributes(struct mr_pointer_attributes_12 *attributes, const void *memory);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct mr_resource_desc_12 *what,
                                    const struct cudaTextureDesc *how, const struct mr_resource_view_desc_12 *view);
cudaError_t cudaGetTextureObjectResourceDesc(struct mr_resource_desc_12 *what, cudaTextureObject_t object);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
cudaError_t cudaLaunchCooperativeKernelMultiDevice(void *list, unsigned count, unsigned flags);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream);
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *options, void **values,
                                unsigned count, enum cudaLibraryOption *library_options, void **library_values,
                                unsigned library_count);
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaDeviceSynchronize(void);
#define __CUDA_RUNTIME_H__
#define MILLRACE_CUDA_RUNTIME_H
#include "expect.h"

static void test_properties(void)
{
    struct mr_device_prop_11 old;
    struct mr_device_prop_12 now;
    int version = 0;
    OK(cudaRuntimeGetVersion(&version));
    HOLDS(version / 1000 == 12);
    memset(&old, 0xff, sizeof old);
    OK(cudaGetDeviceProperties(&old, 0));
    OK(cudaGetDeviceProperties_v2(&now, 0));
    HOLDS(memcmp(&old, &now.old, sizeof old) == 0);
    HOLDS(old.clockRate > 0 && old.warpSize == 32 && old.major >= 7 && now.memoryPoolsSupported == 1);
}

static void test_managed(void)
{
    int *memory;
    OK(cudaMallocManaged((void **)&memory, 4096, cudaMemAttachGlobal));
    OK(cudaMemAdvise(memory, 4096, cudaMemAdviseSetPreferredLocation, 0));
    OK(cudaMemAdvise(memory, 4096, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    OK(cudaMemPrefetchAsync(memory, 4096, 0, NULL));
    OK(cudaMemPrefetchAsync(memory, 4096, cudaCpuDeviceId, NULL));
    OK(cudaThreadSynchronize());
    OK(cudaFree(memory));
}

/* Structures that grew: what lies behind the older ones stays as it is. */
static void test_small_structures(void)
{
    struct {
        struct mr_pointer_attributes_12 attributes;
        unsigned char behind[128];
    } pointer;
    struct {
        struct mr_resource_desc_12 what;
        unsigned char behind[128];
    } resource;
    struct mr_resource_desc_12 given;
    struct cudaTextureDesc how;
    cudaTextureObject_t texture;
    void *memory;
    memset(&pointer, 0x5a, sizeof pointer);
    memset(&resource, 0x5a, sizeof resource);
    memset(&given, 0, sizeof given);
    memset(&how, 0, sizeof how);
    OK(cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal));
    OK(cudaPointerGetAttributes(&pointer.attributes, memory));
    HOLDS(pointer.attributes.type == cudaMemoryTypeManaged && pointer.attributes.devicePointer == memory);
    given.resType = cudaResourceTypeLinear;
    given.res.linear.devPtr = memory;
    given.res.linear.desc = (struct cudaChannelFormatDesc){32, 0, 0, 0, cudaChannelFormatKindUnsigned};
    given.res.linear.sizeInBytes = 4096;
    OK(cudaCreateTextureObject(&texture, &given, &how, NULL));
    OK(cudaGetTextureObjectResourceDesc(&resource.what, texture));
    HOLDS(resource.what.resType == cudaResourceTypeLinear && resource.what.res.linear.devPtr == memory &&
          resource.what.res.linear.sizeInBytes == 4096);
    for (size_t i = 0; i < sizeof pointer.behind; i++)
        HOLDS(pointer.behind[i] == 0x5a && resource.behind[i] == 0x5a);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(memory));
    GIVES(cudaErrorInvalidValue, cudaPointerGetAttributes(NULL, &given));
    GIVES(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, NULL, &how, NULL));
}

static void test_graphs(void)
{
    cudaGraph_t graph, seen = NULL;
    cudaGraphNode_t a, b;
    size_t count = 9;
    cudaStream_t stream;
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 0, again = 0;
    const cudaGraphNode_t *dependencies;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cudaGraphAddEmptyNode(&b, graph, NULL, 0));
    OK(cudaGraphAddDependencies(graph, &a, &b, 1));
    OK(cudaGraphGetEdges(graph, NULL, NULL, &count));
    HOLDS(count == 1);
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    OK(cudaStreamGetCaptureInfo(stream, &status, &id));
    OK(cudaStreamGetCaptureInfo_v2(stream, &status, &again, &seen, &dependencies, &count));
    HOLDS(status == cudaStreamCaptureStatusActive && id == again && id != 0 && seen != NULL && count == 0);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    GIVES(cudaErrorNotSupported, cudaLaunchCooperativeKernelMultiDevice(NULL, 0, 0));
}

/* As the manual has it. Version 13 hands on what the driver says, as recorded on hardware (tests/golden/runtime). */
static void test_shapes(void)
{
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty()\n{\n    ret;\n}\n";
    const dim3 one = {1, 1, 1}, none = {0, 1, 1}, many = {1025, 1, 1};
    cudaLibrary_t library;
    cudaKernel_t kernel;
    OK(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&kernel, library, "empty"));
    OK(cudaLaunchKernel((const void *)kernel, one, one, NULL, 0, NULL));
    GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernel((const void *)kernel, none, one, NULL, 0, NULL));
    GIVES(cudaErrorInvalidConfiguration, cudaLaunchKernel((const void *)kernel, one, many, NULL, 0, NULL));
    GIVES(cudaErrorInvalidValue, cudaLaunchKernel((const void *)kernel, one, one, NULL, 49153, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaLibraryUnload(library));
}

int main(void)
{
    test_properties();
    test_shapes();
    test_managed();
    test_small_structures();
    test_graphs();
    return finish();
}
