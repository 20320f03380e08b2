/* SPDX-License-Identifier: Apache-2.0 */
/* Points of calls, and of each kind of work in a stream. */
#define __CUDA_API_VERSION_INTERNAL
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "points_test.h"

#define READ MR_ACCESS_READ
#define WRITE MR_ACCESS_WRITE
#define ATOMIC MR_ACCESS_ATOMIC
#define TIMES 100

static const char kernel_text[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                                  ".visible .entry set(.param .u64 p) {\n"
                                  ".reg .u64 %a<3>;\n.reg .u32 %r<5>;\n"
                                  "ld.param.u64 %a1, [p];\n"
                                  "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
                                  "mad.lo.u32 %r4, %r1, %r2, %r3;\n"
                                  "mul.wide.u32 %a2, %r4, 4;\nadd.u64 %a1, %a1, %a2;\n"
                                  "st.global.u32 [%a1], %r4;\nret;\n}\n"
                                  ".visible .entry wrong() {\n.reg .u64 %a;\nmov.u64 %a, 64;\n"
                                  "st.global.u32 [%a], 1;\nret;\n}\n";

static CUfunction function(const char *name, CUmodule *module)
{
    CUfunction found = NULL;
    OK(cuModuleLoadData(module, kernel_text));
    OK(cuModuleGetFunction(&found, *module, name));
    return found;
}

static CUdeviceptr device_memory(size_t size)
{
    CUdeviceptr made = 0;
    OK(cuMemAlloc_v2(&made, size));
    return made;
}

static CUstream stream_new(void)
{
    CUstream stream = NULL;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static uint64_t id_of(CUstream stream)
{
    unsigned long long id = 0;
    OK(cuStreamGetId(stream, &id));
    return id;
}

/* ---- calls ---- */

void test_calls(void)
{
    CUdeviceptr memory;
    CUcontext current;
    unsigned long long id;
    OK(cuCtxGetCurrent(&current));
    mark();
    OK(cuMemAlloc_v2(&memory, 1000));
    OK(cuMemFree_v2(memory));
    CHECK(cuMemFree_v2(memory) != CUDA_SUCCESS);
    OK(cuStreamSynchronize_ptsz(NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemcpy(0, 0, 0));
    OK(cuMemcpy_ptds(0, 0, 0));
    CHECK(cuMemAlloc_v2(NULL, 1) == CUDA_ERROR_INVALID_VALUE);
    look();
    const struct point *at = next_call(NULL, POINT_ENTER, MR_CALL_cuMemAlloc_v2);
    const struct point *left = next_call(NULL, POINT_LEAVE, MR_CALL_cuMemAlloc_v2);
    Dl_info site, own;
    CHECK(at && at->params[0] == (uintptr_t)&memory && at->params[1] == 1000 &&
          at->call.data == (void *)at->call.number);
    CHECK(at && strcmp(at->call.name, "cuMemAlloc") == 0 && at->call.context == current);
    CHECK(at && dladdr(at->call.site, &site) && dladdr((void *)test_calls, &own) && site.dli_fbase == own.dli_fbase);
    CHECK(left > at && left->call.number == at->call.number && left->call.data == at->call.data &&
          left->status == CUDA_SUCCESS);
    at = next_call(NULL, POINT_LEAVE, MR_CALL_cuMemFree_v2);
    CHECK(at && at->status == CUDA_SUCCESS && at->params[0] == memory);
    at = next_call(at, POINT_LEAVE, MR_CALL_cuMemFree_v2);
    CHECK(at && at->status == CUDA_ERROR_INVALID_VALUE);
    at = next_call(NULL, POINT_ENTER, MR_CALL_cuStreamSynchronize);
    CHECK(at && at->params[0] == (uintptr_t)CU_STREAM_PER_THREAD);
    at = next_call(at, POINT_ENTER, MR_CALL_cuStreamSynchronize);
    CHECK(at && at->params[0] == 0);
    at = next_call(NULL, POINT_ENTER, MR_CALL_cuMemcpy);
    CHECK(at && at->params[3] == (uintptr_t)CU_STREAM_LEGACY);
    at = next_call(at, POINT_ENTER, MR_CALL_cuMemcpy);
    CHECK(at && at->params[3] == (uintptr_t)CU_STREAM_PER_THREAD);
    at = next_call(next_call(NULL, POINT_LEAVE, MR_CALL_cuMemAlloc_v2), POINT_LEAVE, MR_CALL_cuMemAlloc_v2);
    CHECK(at && at->status == CUDA_ERROR_INVALID_VALUE);

    /* Calls of a thread that is paused, and those that the observer makes by itself, are none. */
    CUresult (*get_id)(CUstream, unsigned long long *) =
        (CUresult(*)(CUstream, unsigned long long *))observed_driver()->function("cuStreamGetId");
    CHECK(get_id != NULL && observed_driver()->function("cuNothing") == NULL);
    mark();
    observed_driver()->pause(true);
    OK(get_id(NULL, &id));
    observed_driver()->pause(false);
    OK(get_id(NULL, &id));
    look();
    at = next_call(NULL, POINT_ENTER, MR_CALL_cuStreamGetId);
    CHECK(at && !next_call(at, POINT_ENTER, MR_CALL_cuStreamGetId));
}

/* ---- copies and fills ---- */

void test_copies(void)
{
    CUdeviceptr a = device_memory(1 << 20), b = device_memory(1 << 20), large = device_memory(16 << 20);
    unsigned char *pinned, *pageable = malloc(8 << 20);
    CUstream stream = stream_new();
    OK(cuMemAllocHost_v2((void **)&pinned, 1 << 20));
    CUDA_MEMCPY3D box = {.WidthInBytes = 10,
                         .Height = 5,
                         .Depth = 3,
                         .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = a,
                         .srcPitch = 64,
                         .srcHeight = 8,
                         .srcXInBytes = 4,
                         .srcY = 1,
                         .srcZ = 1,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = b,
                         .dstPitch = 32,
                         .dstHeight = 5};
    CUDA_MEMCPY2D rows = {.WidthInBytes = 7,
                          .Height = 4,
                          .srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = pinned,
                          .srcPitch = 7,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = a,
                          .dstPitch = 100};
    mark();
    OK(cuMemcpyHtoDAsync_v2(a + 3, pinned + 5, 1001, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(pageable, a, 5 << 10));
    OK(cuMemcpyDtoDAsync_v2(large + (8 << 20), large, 8 << 20, stream));
    OK(cuMemcpy3DAsync_v2(&box, stream));
    OK(cuMemcpy2DAsync_v2(&rows, stream));
    OK(cuMemsetD32Async(b, 7, 100, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemsetD2D16_v2(b + 2, 64, 1, 3, 9));
    OK(cuMemcpyHtoD_v2(large, pageable, 8 << 20));
    look();
    check_works();
    const struct point *at = bound_by(MR_CALL_cuMemcpyHtoDAsync_v2);
    uint64_t work = at->work.work;
    CHECK(at->work.kind == MR_OBSERVED_COPY && at->work.bytes == 1001 && at->work.stream == id_of(stream) &&
          at->work.node == 0 && at->work.grid == 0 && !at->work.kernel);
    CHECK(has_box(work, 0, ROW(a + 3, 1001, WRITE)) && has_box(work, 0, ROW(pinned + 5, 1001, READ)));
    CHECK(count_of(POINT_ACCESS, work, 0) == 2 && count_of(POINT_SLICE, work, 0) == 1);
    at = bound_by(MR_CALL_cuMemcpyDtoH_v2);
    CHECK(has_box(at->work.work, 0, ROW(a, 5 << 10, READ)) && has_box(at->work.work, 0, ROW(pageable, 5 << 10, WRITE)));
    CHECK(at->work.stream == id_of(CU_STREAM_LEGACY));
    at = next_call(NULL, POINT_LEAVE, MR_CALL_cuMemcpyDtoH_v2);
    CHECK(at && next_of(NULL, POINT_END, bound_by(MR_CALL_cuMemcpyDtoH_v2)->work.work, 0) < at);
    at = bound_by(MR_CALL_cuMemcpyDtoDAsync_v2);
    CHECK(has_box(at->work.work, 0, ROW(large, 8 << 20, READ)) &&
          has_box(at->work.work, 0, ROW(large + (8 << 20), 8 << 20, WRITE)));
    CHECK(count_of(POINT_SLICE, at->work.work, 0) >= 1);
    at = bound_by(MR_CALL_cuMemcpy3DAsync_v2);
    work = at->work.work;
    CHECK(at->work.bytes == 150 && count_of(POINT_ACCESS, work, 0) == 4);
    for (unsigned z = 1; z < 4; z++)
        CHECK(has_box(work, 0, BOX(a + z * 512 + 64 + 4, 10, 5, 64, READ)));
    CHECK(has_box(work, 0, BOX(b, 10, 15, 32, WRITE)));
    at = bound_by(MR_CALL_cuMemcpy2DAsync_v2);
    CHECK(has_box(at->work.work, 0, ROW(pinned, 28, READ)) && has_box(at->work.work, 0, BOX(a, 7, 4, 100, WRITE)));
    at = bound_by(MR_CALL_cuMemsetD32Async);
    CHECK(at->work.kind == MR_OBSERVED_FILL && at->work.bytes == 400 && has_box(at->work.work, 0, ROW(b, 400, WRITE)));
    at = bound_by(MR_CALL_cuMemsetD2D16_v2);
    CHECK(has_box(at->work.work, 0, BOX(b + 2, 6, 9, 64, WRITE)) && count_of(POINT_ACCESS, at->work.work, 0) == 1);
    at = bound_by(MR_CALL_cuMemcpyHtoD_v2);
    CHECK(has_box(at->work.work, 0, ROW(pageable, 8 << 20, READ)));
    OK(cuMemFreeHost(pinned));
    OK(cuMemFree_v2(a));
    OK(cuMemFree_v2(b));
    OK(cuMemFree_v2(large));
    OK(cuStreamDestroy_v2(stream));
    free(pageable);
}

/* A small pageable source is read by the call. */
void test_staged(void)
{
    CUdeviceptr a = device_memory(4096);
    CUstream stream = stream_new();
    unsigned char *pageable = malloc(4096);
    CUDA_MEMCPY2D rows = {.WidthInBytes = 7,
                          .Height = 4,
                          .srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = pageable,
                          .srcPitch = 9,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = a,
                          .dstPitch = 100};
    mark();
    OK(cuMemcpyHtoDAsync_v2(a, pageable + 1, 999, stream));
    OK(cuMemcpy2DAsync_v2(&rows, stream));
    look();
    check_works();
    uint64_t work = bound_by(MR_CALL_cuMemcpyHtoDAsync_v2)->work.work;
    CHECK(has_box(work, 0, ROW(pageable + 1, 999, READ | MR_ACCESS_CALL)) && has_box(work, 0, ROW(a, 999, WRITE)) &&
          count_of(POINT_ACCESS, work, 0) == 2);
    work = bound_by(MR_CALL_cuMemcpy2DAsync_v2)->work.work;
    CHECK(has_box(work, 0, BOX(pageable, 7, 4, 9, READ | MR_ACCESS_CALL)) &&
          has_box(work, 0, BOX(a, 7, 4, 100, WRITE)));
    OK(cuMemFree_v2(a));
    OK(cuStreamDestroy_v2(stream));
    free(pageable);
}

/* Two arrays, the second perhaps where the first was: at addresses of their own. */
void test_arrays(void)
{
    CUDA_ARRAY_DESCRIPTOR shape = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUdeviceptr a = device_memory(4096);
    uintptr_t before = 0;
    for (int i = 0; i < 2; i++) {
        CUarray array;
        OK(cuArrayCreate_v2(&array, &shape));
        CUDA_MEMCPY2D rows = {.WidthInBytes = 16,
                              .Height = 2,
                              .srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = a,
                              .srcPitch = 16,
                              .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                              .dstArray = array,
                              .dstXInBytes = 8,
                              .dstY = 3};
        mark();
        OK(cuMemcpy2D_v2(&rows));
        look();
        check_works();
        uint64_t work = bound_by(MR_CALL_cuMemcpy2D_v2)->work.work;
        const struct point *at = next_of(NULL, POINT_ACCESS, work, 0);
        CHECK(has_box(work, 0, ROW(a, 32, READ)) && count_of(POINT_ACCESS, work, 0) == 2);
        while (at && at->box.first < MR_OBSERVED_ARRAYS)
            at = next_of(at, POINT_ACCESS, work, 0);
        CHECK(at && at->box.width == 16 && at->box.rows == 2 && at->box.pitch == 64 && at->box.how == WRITE);
        CHECK(at && (at->box.first & (((uintptr_t)1 << 36) - 1)) == 3 * 64 + 8 && at->box.first != before);
        before = at ? at->box.first : 0;
        OK(cuArrayDestroy(array));
    }
    OK(cuMemFree_v2(a));
}

/* ---- kernels ---- */

/* The place of the kernel's store: `st.global` is in line 14 of the text. */
static void check_place(const struct point *access)
{
    struct mr_observed_place place = {0};
    CHECK(access && observed_driver()->place(access->box.place, &place));
    CHECK(place.kernel && strcmp(place.kernel, "set") == 0 && place.ptx_line == 14 && !place.file);
    CHECK(!observed_driver()->place(0, &place));
}

void test_kernels(void)
{
    CUmodule module;
    CUfunction set = function("set", &module);
    CUdeviceptr a = device_memory(4 << 20);
    void *params[] = {&a};
    uint64_t grids[3] = {0};
    for (int i = 0; i < 3; i++) {
        unsigned blocks = i == 0 ? 1 : i == 1 ? 3 : 8192;
        mark();
        OK(cuLaunchKernel(set, blocks, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
        look();
        check_works();
        const struct point *at = bound_by(MR_CALL_cuLaunchKernel);
        CHECK(at->work.kind == MR_OBSERVED_KERNEL && at->work.kernel && strcmp(at->work.kernel, "set") == 0);
        CHECK(at->work.blocks[0] == blocks && at->work.blocks[2] == 1 && at->work.threads[0] == 64);
        CHECK(count_of(POINT_SLICE, at->work.work, 0) >= 1);
        CHECK(count_of(POINT_ACCESS, at->work.work, 0) == 1);
        CHECK(has_box(at->work.work, 0, ROW(a, blocks * 256ul, WRITE)));
        check_place(next_of(NULL, POINT_ACCESS, at->work.work, 0));
        grids[i] = at->work.grid;
    }
    CHECK(grids[0] && grids[1] && grids[2] && grids[0] != grids[1] && grids[1] != grids[2]);
    OK(cuModuleUnload(module));
    OK(cuMemFree_v2(a));
}

/* ---- a stream that is busy ---- */

static atomic_int gate;

static void CUDA_CB wait_for_gate(void *data)
{
    (void)data;
    while (!atomic_load(&gate))
        ;
}

static void CUDA_CB called_back(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)status, (void)data;
}

void test_busy(void)
{
    CUmodule module;
    CUfunction set = function("set", &module);
    CUdeviceptr a = device_memory(4096);
    void *params[] = {&a};
    CUstream stream = stream_new();
    atomic_store(&gate, 0);
    mark();
    OK(cuLaunchHostFunc(stream, wait_for_gate, NULL));
    OK(cuMemsetD8Async(a, 1, 256, stream));
    OK(cuLaunchKernel(set, 2, 1, 1, 32, 1, 1, 0, stream, params, NULL));
    OK(cuStreamAddCallback(stream, called_back, NULL, 0));
    OK(cuStreamQuery(NULL));
    atomic_store(&gate, 1);
    look();
    check_works();
    const struct point *last = next_call(NULL, POINT_LEAVE, MR_CALL_cuStreamQuery);
    static const uint32_t calls[] = {MR_CALL_cuMemsetD8Async, MR_CALL_cuLaunchKernel, MR_CALL_cuStreamAddCallback};
    const struct point *host = bound_by(MR_CALL_cuLaunchHostFunc), *before = host;
    CHECK(host->work.kind == MR_OBSERVED_HOST && count_of(POINT_SLICE, host->work.work, 0) == 1);
    for (int i = 0; i < 3; i++) {
        const struct point *at = bound_by(calls[i]);
        CHECK(next_of(NULL, POINT_BEGIN, at->work.work, 0) > last);
        CHECK(next_of(NULL, POINT_BEGIN, at->work.work, 0) > next_of(NULL, POINT_END, before->work.work, 0));
        CHECK(at->work.stream == id_of(stream));
        before = at;
    }
    CHECK(before->work.kind == MR_OBSERVED_HOST);
    OK(cuStreamDestroy_v2(stream));
    OK(cuModuleUnload(module));
    OK(cuMemFree_v2(a));
}

/* ---- memory operations ---- */

/* A write is told of before the wait that it ends. */
void test_memory_ops(void)
{
    CUdeviceptr a = device_memory(4096);
    CUstream writes = stream_new(), waits = stream_new();
    OK(cuMemsetD8_v2(a, 0, 4096));
    for (unsigned i = 1; i <= TIMES; i++) {
        CUstreamBatchMemOpParams ops[2] = {
            {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = a + 64, .value = i}},
            {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = a + 8, .value = i}}};
        mark();
        OK(cuStreamWaitValue32_v2(waits, a + 8, i, CU_STREAM_WAIT_VALUE_EQ));
        OK(cuStreamBatchMemOp_v2(writes, 2, ops, 0));
        look();
        check_works();
        uint64_t wait = bound_by(MR_CALL_cuStreamWaitValue32_v2)->work.work;
        uint64_t write = bound_by(MR_CALL_cuStreamBatchMemOp_v2)->work.work;
        CHECK(bound_by(MR_CALL_cuStreamWaitValue32_v2)->work.kind == MR_OBSERVED_MEMORY_OP);
        CHECK(has_box(wait, 0, ROW(a + 8, 4, READ | ATOMIC)) && count_of(POINT_ACCESS, wait, 0) == 1);
        CHECK(has_box(write, 0, ROW(a + 64, 4, WRITE | ATOMIC)) && has_box(write, 0, ROW(a + 8, 4, WRITE | ATOMIC)));
        const struct point *last = next_of(next_of(NULL, POINT_ACCESS, write, 0), POINT_ACCESS, write, 0);
        CHECK(last < next_of(NULL, POINT_ACCESS, wait, 0));
    }
    OK(cuStreamDestroy_v2(writes));
    OK(cuStreamDestroy_v2(waits));
    OK(cuMemFree_v2(a));
}

/* ---- several threads ---- */

static void *thread_work(void *data)
{
    CUstream stream = stream_new();
    CUdeviceptr a = device_memory(4096);
    (void)data;
    for (unsigned i = 0; i < TIMES; i++) {
        OK(cuMemsetD8Async(a, 1, 256, stream));
        OK(cuMemcpyDtoDAsync_v2(a + 256, a, 256, stream));
        if (i % 10 == 0)
            OK(cuStreamSynchronize(stream));
    }
    OK(cuStreamDestroy_v2(stream));
    OK(cuMemFree_v2(a));
    return NULL;
}

struct start {
    CUcontext context;
};

static void *thread_start(void *data)
{
    OK(cuCtxSetCurrent(((struct start *)data)->context));
    return thread_work(data);
}

/* Calls of a thread are told of in turns, enter and leave; every bind is between its thread's. */
void test_threads(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct start start;
    OK(cuCtxGetCurrent(&start.context));
    mark();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_start, &start);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    look();
    check_works();
    unsigned binds = 0;
    for (const struct point *at = next_point(NULL, POINT_ENTER); at; at = next_point(at, POINT_ENTER)) {
        const struct point *leave = next_point(at, POINT_LEAVE), *other = next_point(at, POINT_ENTER);
        while (leave && leave->thread != at->thread)
            leave = next_point(leave, POINT_LEAVE);
        while (other && other->thread != at->thread)
            other = next_point(other, POINT_ENTER);
        bool last = !leave && at->call.call == MR_CALL_cuCtxSynchronize;
        CHECK(last || (leave && leave->call.number == at->call.number && (!other || leave < other)));
        for (const struct point *bind = next_point(at, POINT_BIND); bind && bind < leave;
             bind = next_point(bind, POINT_BIND))
            binds += bind->thread == at->thread;
    }
    CHECK(binds == THREADS * TIMES * 2);
}

/* ---- a context that fails ---- */

/* Work behind a fault ends with its status, and touches nothing. In a context of its own. */
void test_failure(void)
{
    CUmodule module;
    CUcontext before, context;
    CUdevice device;
    OK(cuCtxGetCurrent(&before));
    OK(cuCtxGetDevice(&device));
    OK(cuCtxCreate_v4(&context, NULL, 0, device));
    CUfunction wrong = function("wrong", &module);
    CUstream stream = stream_new();
    CUdeviceptr a = device_memory(4096);
    atomic_store(&gate, 0);
    OK(cuCtxSetCurrent(before));
    mark();
    OK(cuCtxSetCurrent(context));
    OK(cuLaunchHostFunc(stream, wait_for_gate, NULL));
    OK(cuLaunchKernel(wrong, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    OK(cuMemsetD8Async(a, 1, 256, stream));
    atomic_store(&gate, 1);
    CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxDestroy_v2(context));
    OK(cuCtxSetCurrent(before));
    look();
    check_works();
    uint64_t fill = bound_by(MR_CALL_cuMemsetD8Async)->work.work, kernel = bound_by(MR_CALL_cuLaunchKernel)->work.work;
    CHECK(next_of(NULL, POINT_END, kernel, 0) &&
          next_of(NULL, POINT_END, kernel, 0)->status == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(next_of(NULL, POINT_END, fill, 0) && next_of(NULL, POINT_END, fill, 0)->status == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(count_of(POINT_ACCESS, fill, 0) == 0);
    CHECK(has_box(kernel, 0, ROW(64, 4, WRITE)));
}
