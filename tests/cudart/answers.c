/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the runtime answers to calls with bad and borderline input, one line per call. The same program runs on NVIDIA's runtime and on
 * Millrace; answers.py compares. Each section is a process of its own, so that a crash costs no more than its section.
 * No handle that was destroyed is used: NVIDIA's driver may crash on those. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>

/* The call and its answer, and what stays behind as the last error. */
#define ASK(call)                                                                                                   \
    do {                                                                                                            \
        cudaError_t ask_status = (call);                                                                            \
        cudaError_t ask_last = cudaGetLastError();                                                                  \
        printf("%s -> %s%s%s\n", #call, cudaGetErrorName(ask_status), ask_last != ask_status ? ", last " : "",      \
            ask_last != ask_status ? cudaGetErrorName(ask_last) : "");                                              \
        fflush(stdout);                                                                                             \
    } while (0)
#define TELL(format, ...)                     \
    do {                                      \
        printf(format "\n", __VA_ARGS__);     \
        fflush(stdout);                       \
    } while (0)

static void *device; /* 4096 bytes */
static char host[4096];

static void errors(void)
{
    for (int i = 0; i < 1000; i++)
        if (strcmp(cudaGetErrorName((cudaError_t)i), "unrecognized error code") != 0)
            TELL("%d: %s: %s", i, cudaGetErrorName((cudaError_t)i), cudaGetErrorString((cudaError_t)i));
    TELL("%s, %s", cudaGetErrorName((cudaError_t)4711), cudaGetErrorString((cudaError_t)4711));
    TELL("%s, %s", cudaGetErrorName((cudaError_t)-1), cudaGetErrorString((cudaError_t)-1));
}

static void devices(void)
{
    int value;
    char bus[32];
    ASK(cudaGetDeviceCount(NULL));
    ASK(cudaGetDevice(NULL));
    ASK(cudaSetDevice(-1));
    ASK(cudaSetDevice(64));
    ASK(cudaInitDevice(0, 0, 2));
    ASK(cudaInitDevice(64, 0, 0));
    ASK(cudaInitDevice(0, 0x4000, cudaInitDeviceFlagsAreValid));
    ASK(cudaSetDeviceFlags(0x1000));
    ASK(cudaSetDeviceFlags(3));
    ASK(cudaGetDeviceFlags(NULL));
    ASK(cudaSetValidDevices(NULL, 1));
    ASK(cudaSetValidDevices(NULL, 0));
    ASK(cudaChooseDevice(NULL, NULL));
    ASK(cudaGetDeviceProperties(NULL, 0));
    ASK(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
    ASK(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)0, 0));
    ASK(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)100000, 0));
    ASK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 64));
    ASK(cudaDeviceGetPCIBusId(NULL, 32, 0));
    ASK(cudaDeviceGetPCIBusId(bus, 4, 0));
    ASK(cudaDeviceGetPCIBusId(bus, 32, 64));
    ASK(cudaDeviceGetByPCIBusId(&value, "nonsense"));
    ASK(cudaDeviceGetByPCIBusId(NULL, "0000:00:00.0"));
    ASK(cudaDeviceGetLimit(NULL, cudaLimitStackSize));
    ASK(cudaDeviceGetLimit((size_t *)host, (enum cudaLimit)77));
    ASK(cudaDeviceSetLimit((enum cudaLimit)77, 1));
    ASK(cudaDeviceSetCacheConfig((enum cudaFuncCache)9));
    ASK(cudaDeviceGetCacheConfig(NULL));
    ASK(cudaDeviceGetStreamPriorityRange(NULL, NULL));
    ASK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
    ASK(cudaDeviceCanAccessPeer(&value, 0, 0));
    ASK(cudaDeviceCanAccessPeer(&value, 0, 64));
    ASK(cudaDeviceEnablePeerAccess(0, 0));
    ASK(cudaDeviceEnablePeerAccess(64, 0));
    ASK(cudaDeviceDisablePeerAccess(0));
    ASK(cudaRuntimeGetVersion(NULL));
    ASK(cudaDriverGetVersion(NULL));
    ASK(cudaGetDevice(&value));
    ASK(cudaDeviceSynchronize());
}

static void memory(void)
{
    void *out = NULL;
    size_t pitch;
    unsigned flags;
    struct cudaPitchedPtr box;
    struct cudaPointerAttributes attributes;
    ASK(cudaMalloc(NULL, 4));
    ASK(cudaMalloc(&out, 0));
    TELL("pointer is %s", out ? "set" : "NULL");
    ASK(cudaMalloc(&out, (size_t)1 << 60));
    ASK(cudaMalloc(&out, SIZE_MAX));
    ASK(cudaFree(NULL));
    ASK(cudaFree(host));
    ASK(cudaFree((char *)device + 16));
    ASK(cudaMallocHost(NULL, 4));
    ASK(cudaMallocHost(&out, 0));
    ASK(cudaFreeHost(NULL));
    ASK(cudaFreeHost(host));
    ASK(cudaFreeHost(device));
    ASK(cudaHostAlloc(&out, 64, 0x100));
    ASK(cudaHostAlloc(&out, 0, 0));
    ASK(cudaMallocManaged(&out, 0, cudaMemAttachGlobal));
    ASK(cudaMallocManaged(&out, 64, 0));
    ASK(cudaMallocManaged(&out, 64, cudaMemAttachSingle));
    ASK(cudaMallocManaged(NULL, 64, cudaMemAttachGlobal));
    ASK(cudaMallocPitch(NULL, &pitch, 4, 4));
    ASK(cudaMallocPitch(&out, NULL, 4, 4));
    ASK(cudaMallocPitch(&out, &pitch, 0, 4));
    TELL("pitch %zu, pointer is %s", pitch, out ? "set" : "NULL");
    ASK(cudaMalloc3D(NULL, make_cudaExtent(1, 1, 1)));
    ASK(cudaMalloc3D(&box, make_cudaExtent(0, 1, 1)));
    ASK(cudaMalloc3D(&box, make_cudaExtent(5, 0, 1)));
    ASK(cudaHostRegister(NULL, 64, 0));
    ASK(cudaHostRegister(host, 0, 0));
    ASK(cudaHostRegister(host, 64, 0x100));
    ASK(cudaHostUnregister(NULL));
    ASK(cudaHostUnregister(host));
    ASK(cudaHostGetDevicePointer(&out, host, 0));
    ASK(cudaHostGetDevicePointer(&out, NULL, 0));
    ASK(cudaHostGetDevicePointer(NULL, host, 0));
    ASK(cudaHostGetFlags(&flags, host));
    ASK(cudaMemGetInfo(NULL, NULL));
    ASK(cudaPointerGetAttributes(NULL, device));
    ASK(cudaPointerGetAttributes(&attributes, NULL));
    TELL("type %d, device %d, devicePointer %s, hostPointer %s", attributes.type, attributes.device, attributes.devicePointer ? "set" : "NULL",
        attributes.hostPointer ? "set" : "NULL");
    ASK(cudaPointerGetAttributes(&attributes, host));
    TELL("type %d, device %d, devicePointer %s, hostPointer %s", attributes.type, attributes.device, attributes.devicePointer ? "set" : "NULL",
        attributes.hostPointer ? "set" : "NULL");
    ASK(cudaPointerGetAttributes(&attributes, device));
    TELL("type %d, device %d, devicePointer %s, hostPointer %s", attributes.type, attributes.device, attributes.devicePointer ? "set" : "NULL",
        attributes.hostPointer ? "set" : "NULL");
}

static void copies(void)
{
    struct cudaMemcpy3DParms empty = { 0 }, both = { .srcPtr = { host, 16, 16, 16 }, .dstPtr = { device, 16, 16, 16 }, .extent = { 16, 1, 1 }, .kind = cudaMemcpyHostToDevice };
    ASK(cudaMemcpy(device, host, 64, (enum cudaMemcpyKind)5));
    ASK(cudaMemcpy(device, host, 64, (enum cudaMemcpyKind)-1));
    ASK(cudaMemcpy(NULL, host, 64, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy(device, NULL, 64, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy(NULL, NULL, 0, (enum cudaMemcpyKind)7));
    ASK(cudaMemcpy(device, host, 8192, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy(host, device, 64, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy(device, host, 64, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpy(device, host, 64, cudaMemcpyDeviceToDevice));
    ASK(cudaMemcpy(device, device, 64, cudaMemcpyHostToHost));
    ASK(cudaMemcpy(host, host + 64, 64, cudaMemcpyHostToHost));
    ASK(cudaMemcpy(host, host + 64, 64, cudaMemcpyDefault));
    ASK(cudaMemcpyAsync(device, host, 64, (enum cudaMemcpyKind)5, NULL));
    ASK(cudaMemcpyAsync(NULL, NULL, 0, cudaMemcpyHostToDevice, NULL));
    ASK(cudaMemcpy2D(device, 8, host, 16, 16, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2D(device, 16, host, 8, 16, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2D(device, 16, host, 16, 0, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2D(device, 16, host, 16, 16, 0, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2D(device, 16, host, 16, 16, 4, (enum cudaMemcpyKind)8));
    ASK(cudaMemcpy2D(NULL, 16, host, 16, 16, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy3D(NULL));
    ASK(cudaMemcpy3D(&empty));
    ASK(cudaMemcpy3D(&both));
    both.kind = (enum cudaMemcpyKind)9;
    ASK(cudaMemcpy3D(&both));
    both.kind = cudaMemcpyHostToDevice;
    both.srcPtr.pitch = 8;
    ASK(cudaMemcpy3D(&both));
    both.srcPtr.pitch = 16;
    both.extent.depth = 0;
    ASK(cudaMemcpy3D(&both));
    ASK(cudaMemcpyPeer(device, 64, device, 0, 4));
    ASK(cudaMemcpyPeer(device, 0, (char *)device + 64, 0, 4));
    ASK(cudaMemset(NULL, 0, 4));
    ASK(cudaMemset(NULL, 0, 0));
    ASK(cudaMemset(device, 0, 8192));
    ASK(cudaMemset(host, 0, 4));
    ASK(cudaMemset2D(device, 4, 0, 8, 2));
    ASK(cudaMemset2D(device, 8, 0, 0, 2));
    ASK(cudaMemset3D((struct cudaPitchedPtr){ device, 16, 16, 2 }, 0, make_cudaExtent(16, 4, 2)));
    ASK(cudaMemset3D((struct cudaPitchedPtr){ device, 16, 16, 2 }, 0, make_cudaExtent(32, 1, 1)));
}

static void streams(void)
{
    cudaStream_t stream;
    cudaEvent_t event, other;
    unsigned flags;
    int priority;
    float ms;
    unsigned long long id;
    cudaStreamAttrValue value;
    memset(&value, 0, sizeof value);
    ASK(cudaStreamCreate(NULL));
    ASK(cudaStreamCreateWithFlags(&stream, 2));
    ASK(cudaStreamCreateWithPriority(&stream, 0, 100));
    ASK(cudaStreamCreateWithPriority(&stream, 0, -100));
    ASK(cudaStreamGetPriority(stream, NULL));
    ASK(cudaStreamGetFlags(NULL, &flags));
    TELL("flags %u", flags);
    ASK(cudaStreamGetPriority(NULL, &priority));
    TELL("priority %d", priority);
    ASK(cudaStreamGetId(cudaStreamLegacy, &id));
    ASK(cudaStreamGetId(stream, NULL));
    ASK(cudaStreamDestroy(NULL));
    ASK(cudaStreamDestroy(cudaStreamLegacy));
    ASK(cudaStreamDestroy(cudaStreamPerThread));
    ASK(cudaStreamQuery(NULL));
    ASK(cudaStreamSynchronize(cudaStreamPerThread));
    ASK(cudaStreamWaitEvent(stream, NULL, 0));
    ASK(cudaStreamAddCallback(stream, NULL, NULL, 0));
    ASK(cudaLaunchHostFunc(stream, NULL, NULL));
    ASK(cudaStreamSetAttribute(stream, (cudaStreamAttrID)99, &value));
    ASK(cudaStreamGetAttribute(stream, (cudaStreamAttrID)99, &value));
    ASK(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, NULL));
    ASK(cudaStreamAttachMemAsync(stream, device, 0, cudaMemAttachGlobal));
    ASK(cudaEventCreate(NULL));
    ASK(cudaEventCreateWithFlags(&event, 0x10));
    ASK(cudaEventCreateWithFlags(&event, cudaEventInterprocess));
    ASK(cudaEventCreate(&event));
    ASK(cudaEventCreate(&other));
    ASK(cudaEventQuery(event));
    ASK(cudaEventSynchronize(event));
    ASK(cudaEventElapsedTime(&ms, event, other));
    ASK(cudaEventElapsedTime(NULL, event, other));
    ASK(cudaEventRecord(NULL, NULL));
    ASK(cudaEventRecordWithFlags(event, stream, 7));
    ASK(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    ASK(cudaEventQuery(NULL));
    ASK(cudaEventDestroy(NULL));
    ASK(cudaStreamWaitEvent(stream, event, 3));
}

static void captures(void)
{
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    enum cudaStreamCaptureStatus status;
    void *out;
    ASK(cudaStreamCreate(&stream));
    ASK(cudaStreamEndCapture(stream, &graph));
    ASK(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    ASK(cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)7));
    ASK(cudaStreamIsCapturing(stream, NULL));
    ASK(cudaStreamIsCapturing(NULL, &status));
    ASK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ASK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ASK(cudaMalloc(&out, 64));
    ASK(cudaStreamIsCapturing(stream, &status));
    TELL("status %d", status);
    ASK(cudaStreamEndCapture(stream, &graph));
    ASK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    ASK(cudaMalloc(&out, 64));
    ASK(cudaMemcpy(out, host, 64, cudaMemcpyHostToDevice));
    ASK(cudaStreamQuery(stream));
    ASK(cudaStreamEndCapture(stream, &graph));
    ASK(cudaThreadExchangeStreamCaptureMode(NULL));
}

static void graphs(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    struct cudaKernelNodeParams kernel = { 0 };
    struct cudaMemsetParams fill = { 0 };
    struct cudaHostNodeParams call = { 0 };
    struct cudaMemcpy3DParms copy = { 0 };
    struct cudaGraphNodeParams any;
    size_t count;
    memset(&any, 0, sizeof any);
    ASK(cudaGraphCreate(NULL, 0));
    ASK(cudaGraphCreate(&graph, 1));
    ASK(cudaGraphCreate(&graph, 0));
    ASK(cudaGraphAddKernelNode(&node, graph, NULL, 0, NULL));
    ASK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    ASK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, NULL));
    ASK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &fill));
    ASK(cudaGraphAddHostNode(&node, graph, NULL, 0, NULL));
    ASK(cudaGraphAddHostNode(&node, graph, NULL, 0, &call));
    ASK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, NULL));
    ASK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &copy));
    ASK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, device, host, 64, (enum cudaMemcpyKind)9));
    ASK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, NULL));
    ASK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &any));
    ASK(cudaGraphAddEmptyNode(NULL, graph, NULL, 0));
    ASK(cudaGraphAddEmptyNode(&node, NULL, NULL, 0));
    ASK(cudaGraphAddEmptyNode(&node, graph, NULL, 1));
    ASK(cudaGraphAddEventRecordNode(&node, graph, NULL, 0, NULL));
    ASK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, NULL));
    ASK(cudaGraphGetNodes(graph, NULL, NULL));
    ASK(cudaGraphGetNodes(graph, NULL, &count));
    ASK(cudaGraphInstantiate(NULL, graph, 0));
    ASK(cudaGraphInstantiate(&exec, graph, 0x1000));
    ASK(cudaGraphInstantiate(&exec, NULL, 0));
    ASK(cudaGraphInstantiateWithParams(&exec, graph, NULL));
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    ASK(cudaGraphLaunch(NULL, NULL));
    ASK(cudaGraphLaunch(exec, NULL));
    ASK(cudaGraphExecDestroy(NULL));
    ASK(cudaGraphDestroy(NULL));
    ASK(cudaGraphClone(NULL, graph));
    ASK(cudaGraphDebugDotPrint(graph, NULL, 0));
    ASK(cudaUserObjectCreate(NULL, NULL, NULL, 0, 0));
    ASK(cudaDeviceGraphMemTrim(64));
}

static void functions(void)
{
    struct cudaFuncAttributes attributes;
    void *address;
    size_t size;
    cudaKernel_t kernel;
    cudaLaunchConfig_t config;
    memset(&config, 0, sizeof config);
    const dim3 one = { 1, 1, 1 };
    ASK(cudaLaunchKernel(NULL, one, one, NULL, 0, NULL));
    ASK(cudaLaunchKernel(host, one, one, NULL, 0, NULL));
    ASK(cudaLaunchKernelExC(NULL, host, NULL));
    ASK(cudaLaunchKernelExC(&config, host, NULL));
    ASK(cudaLaunchCooperativeKernel(host, one, one, NULL, 0, NULL));
    ASK(cudaFuncGetAttributes(NULL, host));
    ASK(cudaFuncGetAttributes(&attributes, NULL));
    ASK(cudaFuncGetAttributes(&attributes, host));
    ASK(cudaFuncSetAttribute(host, cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
    ASK(cudaFuncSetAttribute(host, (enum cudaFuncAttribute)1, 0));
    ASK(cudaFuncSetCacheConfig(host, cudaFuncCachePreferL1));
    ASK(cudaGetKernel(&kernel, host));
    ASK(cudaGetKernel(NULL, host));
    ASK(cudaGetSymbolAddress(&address, NULL));
    ASK(cudaGetSymbolAddress(&address, host));
    ASK(cudaGetSymbolAddress(NULL, host));
    ASK(cudaGetSymbolSize(&size, host));
    ASK(cudaMemcpyToSymbol(host, host, 4, 0, cudaMemcpyHostToDevice));
    ASK(cudaMemcpyToSymbol(host, host, 4, 0, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpyFromSymbol(host, host, 4, 0, cudaMemcpyHostToDevice));
    ASK(cudaMemcpyFromSymbol(host, NULL, 4, 0, cudaMemcpyDeviceToHost));
}

static void pools(void)
{
    cudaMemPool_t pool;
    struct cudaMemPoolProps props;
    void *out = NULL;
    unsigned long long value = 0;
    memset(&props, 0, sizeof props);
    ASK(cudaMallocAsync(NULL, 4, NULL));
    ASK(cudaMallocAsync(&out, 0, NULL));
    ASK(cudaFreeAsync(NULL, NULL));
    ASK(cudaFreeAsync(host, NULL));
    ASK(cudaMemPoolCreate(&pool, NULL));
    ASK(cudaMemPoolCreate(&pool, &props));
    ASK(cudaDeviceGetDefaultMemPool(NULL, 0));
    ASK(cudaDeviceGetDefaultMemPool(&pool, 64));
    ASK(cudaDeviceGetDefaultMemPool(&pool, 0));
    ASK(cudaMemPoolDestroy(pool));
    ASK(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)99, &value));
    ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
    value = 1;
    ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
    ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &value));
    ASK(cudaDeviceSetMemPool(0, NULL));
}

static void arrays(void)
{
    cudaArray_t array;
    cudaTextureObject_t texture;
    struct cudaChannelFormatDesc desc = { 32, 0, 0, 0, cudaChannelFormatKindFloat }, odd = { 32, 32, 32, 0, cudaChannelFormatKindFloat },
                                 none = { 0, 0, 0, 0, cudaChannelFormatKindNone };
    struct cudaResourceDesc what;
    struct cudaTextureDesc how;
    memset(&what, 0, sizeof what);
    memset(&how, 0, sizeof how);
    ASK(cudaMallocArray(NULL, &desc, 8, 8, 0));
    ASK(cudaMallocArray(&array, NULL, 8, 8, 0));
    ASK(cudaMallocArray(&array, &odd, 8, 8, 0));
    ASK(cudaMallocArray(&array, &none, 8, 8, 0));
    ASK(cudaMallocArray(&array, &desc, 0, 8, 0));
    ASK(cudaMallocArray(&array, &desc, 8, 8, 0x1000));
    ASK(cudaMallocArray(&array, &desc, 8, 8, 0));
    ASK(cudaFreeArray(NULL));
    ASK(cudaFreeMipmappedArray(NULL));
    ASK(cudaGetChannelDesc(NULL, array));
    ASK(cudaMemcpy2DToArray(array, 0, 0, host, 8, 32, 8, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 9, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 8, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpy2DToArray(NULL, 0, 0, host, 32, 32, 8, cudaMemcpyHostToDevice));
    ASK(cudaCreateTextureObject(&texture, NULL, &how, NULL));
    ASK(cudaCreateTextureObject(&texture, &what, &how, NULL));
    what.res.array.array = array;
    ASK(cudaCreateTextureObject(&texture, &what, NULL, NULL));
    ASK(cudaCreateTextureObject(NULL, &what, &how, NULL));
    ASK(cudaCreateTextureObject(&texture, &what, &how, NULL));
    ASK(cudaDestroyTextureObject(0));
    ASK(cudaDestroySurfaceObject(0));
    ASK(cudaCreateSurfaceObject((cudaSurfaceObject_t *)&texture, &what));
}

static const struct {
    const char *name;
    void (*run)(void);
} sections[] = { { "errors", errors }, { "devices", devices }, { "memory", memory }, { "copies", copies }, { "streams", streams }, { "captures", captures },
    { "graphs", graphs }, { "functions", functions }, { "pools", pools }, { "arrays", arrays } };
#define SECTIONS (int)(sizeof sections / sizeof *sections)

int main(int argc, char **argv)
{
    if (argc == 2) {
        int number = atoi(argv[1]);
        if (number < 0 || number >= SECTIONS)
            return 2;
        if (number > 1 && cudaMalloc(&device, 4096) != cudaSuccess)
            return 3;
        sections[number].run();
        return 0;
    }
    for (int i = 0; i < SECTIONS; i++) {
        char number[16];
        int status = 0;
        printf("== %s\n", sections[i].name);
        fflush(stdout);
        snprintf(number, sizeof number, "%d", i);
        pid_t pid = fork();
        if (pid == 0) {
            execl("/proc/self/exe", argv[0], number, (char *)NULL);
            _exit(127);
        }
        waitpid(pid, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            printf("== %s ended with %d\n", sections[i].name, status);
    }
    return 0;
}
