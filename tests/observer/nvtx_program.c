/* SPDX-License-Identifier: Apache-2.0 */
/* A program with NVTX in it, of which a timeline is made (test_nvtx.py, which knows what it does). It is compiled with
 * the headers, and with declarations alone to use the library (-DBY_LIBRARY). Ranges come before cuInit too. */
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef BY_LIBRARY
#define NVTX_DECLSPEC
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
void nvtxMarkA(const char *);
void nvtxMarkW(const wchar_t *);
void nvtxDomainMarkEx(nvtxDomainHandle_t, const nvtxEventAttributes_t *);
int nvtxRangePushA(const char *);
int nvtxRangePushW(const wchar_t *);
int nvtxRangePushEx(const nvtxEventAttributes_t *);
int nvtxRangePop(void);
int nvtxDomainRangePushEx(nvtxDomainHandle_t, const nvtxEventAttributes_t *);
int nvtxDomainRangePop(nvtxDomainHandle_t);
nvtxRangeId_t nvtxRangeStartA(const char *);
nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t, const nvtxEventAttributes_t *);
void nvtxRangeEnd(nvtxRangeId_t);
void nvtxDomainRangeEnd(nvtxDomainHandle_t, nvtxRangeId_t);
nvtxDomainHandle_t nvtxDomainCreateA(const char *);
nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *);
nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t, const char *);
void nvtxDomainNameCategoryA(nvtxDomainHandle_t, uint32_t, const char *);
void nvtxNameCategoryA(uint32_t, const char *);
void nvtxNameOsThreadA(uint32_t, const char *);
void nvtxNameCuDeviceA(CUdevice, const char *);
void nvtxNameCuContextA(CUcontext, const char *);
void nvtxNameCuStreamA(CUstream, const char *);
void nvtxNameCuStreamW(CUstream, const wchar_t *);
void nvtxNameCuEventA(CUevent, const char *);
#else
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#endif

#define OK(call) \
    do { \
        CUresult status = (call); \
        if (status != CUDA_SUCCESS) { \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, (int)status); \
            exit(9); \
        } \
    } while (0)

static CUcontext context;
static nvtxRangeId_t across;
static int listened;

/* What a function answers where a tool listens, and where none does. */
static void answers(int line, int seen, int with_tool)
{
    if (seen != (listened ? with_tool : NVTX_NO_PUSH_POP_TRACKING)) {
        fprintf(stderr, "%s:%d: %d\n", __FILE__, line, seen);
        exit(9);
    }
}

static nvtxEventAttributes_t message(const char *text)
{
    nvtxEventAttributes_t event = {0};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = text;
    return event;
}

static void *thread(void *data)
{
    CUdeviceptr memory;
    (void)data;
    nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "helper");
    nvtxRangePushA("in the thread");
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&memory, 4096));
    OK(cuMemsetD8(memory, 1, 4096));
    OK(cuMemFree(memory));
    nvtxRangePop();
    nvtxRangeEnd(across);
    return NULL;
}

/* Two domains whose ranges overlap, with a category, colours and payloads. */
static void domains(void)
{
    nvtxDomainHandle_t one = nvtxDomainCreateA("solver"), two = nvtxDomainCreateW(L"l\u00f6ser");
    nvtxEventAttributes_t event = message("step");
    nvtxDomainNameCategoryA(one, 7, "assembly");
    nvtxNameCategoryA(7, "of the default domain");
    event.category = 7;
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0xff12ab34;
    event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    event.payload.dValue = 0.5;
    answers(__LINE__, nvtxDomainRangePushEx(one, &event), 0);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(two, "a registered text");
    event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    event.payload.iValue = -3;
    event.category = 9;
    answers(__LINE__, nvtxDomainRangePushEx(two, &event), 0);
    answers(__LINE__, nvtxDomainRangePop(one), 0);
    nvtxDomainMarkEx(two, &event);
    answers(__LINE__, nvtxDomainRangePop(two), 0);
    answers(__LINE__, nvtxDomainRangePop(two), -1);
    event = message("started");
    event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    event.payload.ullValue = UINT64_MAX;
    nvtxRangeId_t first = nvtxDomainRangeStartEx(one, &event), second = nvtxDomainRangeStartEx(one, &event);
    nvtxDomainRangeEnd(one, first);
    nvtxDomainRangeEnd(one, second);
}

static void streams(void)
{
    CUstream stream, other;
    CUevent event;
    CUdeviceptr memory;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    nvtxNameCuStreamA(stream, "copies");
    nvtxNameCuStreamW(other, L"\u0444\u0438\u043b\u043b\u044b");
    nvtxNameCuEventA(event, "done");
    nvtxNameCuContextA(context, "main context");
    nvtxNameCuDeviceA(0, "first device");
    OK(cuMemAlloc(&memory, 4096));
    answers(__LINE__, nvtxRangePushW(L"fill \u00b5"), 1);
    answers(__LINE__, nvtxRangePushA("inner"), 2);
    OK(cuMemsetD8Async(memory, 1, 4096, stream));
    OK(cuEventRecord(event, stream));
    answers(__LINE__, nvtxRangePop(), 2);
    OK(cuStreamWaitEvent(other, event, 0));
    OK(cuMemsetD8Async(memory, 2, 4096, other));
    answers(__LINE__, nvtxRangePop(), 1);
    OK(cuStreamSynchronize(other));
    OK(cuMemFree(memory));
    OK(cuEventDestroy(event));
}

/* Two fills that nothing orders, in streams with names. */
static void race(void)
{
    CUstream one, other;
    CUdeviceptr memory;
    OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    nvtxNameCuStreamA(one, "first");
    OK(cuMemAlloc(&memory, 4096));
    nvtxRangePushA("left");
    nvtxRangePop();
    nvtxRangePushA("forward");
    OK(cuMemsetD8Async(memory, 1, 4096, one));
    nvtxRangePushA("inside");
    OK(cuMemsetD8Async(memory, 2, 4096, other));
    nvtxRangePop();
    nvtxRangePop();
    OK(cuCtxSynchronize());
}

int main(int count, char **names)
{
    const char *how = count > 1 ? names[1] : "";
    char big[3000];
    CUdevice device;
    pthread_t helper;
    listened = getenv("NVTX_INJECTION64_PATH") != NULL;
    answers(__LINE__, nvtxRangePushA("whole"), 0);
    nvtxMarkA("before cuInit");
    if (strcmp(how, "fork") == 0 && fork() == 0) {
        nvtxRangePushA("of the child");
        _exit(0);
    }
    if (strcmp(how, "alone") == 0)
        return 0;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    if (strcmp(how, "race") == 0)
        race();
    streams();
    domains();
    across = nvtxRangeStartA("across threads");
    if (pthread_create(&helper, NULL, thread, NULL) != 0 || pthread_join(helper, NULL) != 0)
        return 9;
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    nvtxMarkA(big);
    nvtxMarkA("<script>\"\\\n");
    nvtxMarkA(NULL);
    nvtxMarkW(L"\xd800!");
    if (strcmp(how, "open") == 0) {
        nvtxRangePushA("never popped");
        exit(3);
    }
    answers(__LINE__, nvtxRangePop(), 0);
    answers(__LINE__, nvtxRangePop(), -1);
    wait(NULL);
    return 0;
}
