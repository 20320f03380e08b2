/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program on the driver: each host thread takes its own operations, in order. Uses nothing but cuda.h, so that
 * the same source runs on any driver, or with RANDOM_RUNTIME nothing but the runtime API. Every status is looked at;
 * contents are compared where the program says so, and all of them at the end. */
#include "run.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels.h"

CUcontext run_context[DEVICES];
CUfunction run_kernel[DEVICES][3];
/* The driver's own, if it is part of this program. */
uint64_t mr_alloc_fail_mine(uint64_t n) __attribute__((weak));
uint64_t mr_alloc_live(void) __attribute__((weak));

unsigned run_scarce;
_Atomic unsigned long run_scarce_failures;
bool run_saw[OPS];
bool run_in_turn;
static _Atomic int turn; /* the operation that is next; observers don't see what threads tell each other by it */
struct run *run_current;
static int devices;
static _Thread_local int current = -1;

void run_use(int device)
{
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    if (current == device)
        return;
    for (int tries = 0; tries < 9 && status == CUDA_ERROR_OUT_OF_MEMORY;
         tries++) /* an allocation may be made to fail */
        status = cuCtxSetCurrent(run_context[device]);
    if (status == CUDA_SUCCESS)
        current = device;
}

void run_fail(struct run *run, int index, const char *format, ...)
{
    va_list arguments;
    atomic_fetch_add(&run->failures, 1);
    if (!run->loud)
        return;
    fprintf(stderr, "random: seed %llu: ", (unsigned long long)run->program->seed);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    if (index >= 0)
        op_print(run->program, index);
}

bool run_ok(struct run *run, int index, const char *call, CUresult status)
{
    const char *name = NULL;
    if (status == CUDA_SUCCESS)
        return true;
    (void)cuGetErrorName(status, &name);
    run_fail(run, index, "%s gave %s", call, name ? name : "an unknown status");
    return false;
}

#define START(call) \
    do { \
        CUresult start_status = (call); \
        if (start_status != CUDA_SUCCESS) { \
            fprintf(stderr, "random: %s gave %d; no programs can be run\n", #call, (int)start_status); \
            exit(2); \
        } \
    } while (0)

/* Asks the driver for one of everything. */
static unsigned probe(void)
{
    unsigned found = CAN_HOST | CAN_THREADS | CAN_HOLD | CAN_WIDE;
    CUdeviceptr pointer;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    int managed = 0, peer = 0;
    START(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (cuDeviceGetAttribute(&managed, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 0) == CUDA_SUCCESS && managed)
        found |= CAN_MANAGED;
    if (cuMemAllocAsync(&pointer, 64, stream) == CUDA_SUCCESS && cuMemFreeAsync(pointer, stream) == CUDA_SUCCESS)
        found |= CAN_POOL;
    if (cuMemAllocHost((void **)&pointer, 64) == CUDA_SUCCESS) {
        if (cuStreamWriteValue32(stream, pointer, 1, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS &&
            cuStreamWaitValue32(stream, pointer, 1, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS)
            found |= CAN_VALUES;
        START(cuStreamSynchronize(stream));
        START(cuMemFreeHost((void *)(uintptr_t)pointer));
    }
    if (cuGraphCreate(&graph, 0) == CUDA_SUCCESS) {
        if (cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_SUCCESS) {
            if (cuGraphLaunch(exec, stream) == CUDA_SUCCESS)
                found |= CAN_GRAPHS;
            (void)cuGraphExecDestroy(exec);
        }
        (void)cuGraphDestroy(graph);
    }
    if ((found & CAN_GRAPHS) && cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) == CUDA_SUCCESS) {
        if (cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS && graph) {
            found |= CAN_CAPTURE;
            (void)cuGraphDestroy(graph);
        }
    }
#ifdef RANDOM_RUNTIME
    found &= ~(unsigned)CAN_WIDE;
#endif
#ifdef RANDOM_LIBRARIES
    found |= CAN_LIBRARIES;
#endif
    if (devices > 1 && cuDeviceCanAccessPeer(&peer, 0, 1) == CUDA_SUCCESS)
        found |= CAN_PEER;
    START(cuStreamSynchronize(stream));
    START(cuStreamDestroy(stream));
    return found;
}

unsigned run_begin(unsigned wanted)
{
    static const char *const names[] = {"mix", "make", "add"};
    START(cuInit(0));
    START(cuDeviceGetCount(&devices));
    if (devices > DEVICES)
        devices = DEVICES;
    for (int i = devices - 1; i >= 0; i--) {
        CUdevice device;
        CUmodule module;
        CUdeviceptr words;
        START(cuDeviceGet(&device, i));
        START(cuDevicePrimaryCtxRetain(&run_context[i], device));
        run_use(i);
        START(cuModuleLoadData(&module, random_ptx));
        START(cuMemAlloc(&words, 256));
#ifdef RANDOM_LIBRARIES
        START(run_libraries_begin(i) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
#endif
        for (int k = 0; k < 3; k++) {
            struct kernel_values values = {.to = words, .from = words + 64, .with = words + 128, .count = 16};
            void *pointers[] = {&values.to,     &values.from, &values.with, &values.count,
                                &values.factor, &values.salt, &values.spin};
            START(cuModuleGetFunction(&run_kernel[i][k], module, names[k]));
            START(cuLaunchKernel(run_kernel[i][k], 1, 1, 1, 16, 1, 1, 0, NULL, pointers, NULL));
        }
        START(cuCtxSynchronize());
        START(cuMemFree(words));
    }
    return wanted & probe();
}

CUdeviceptr run_address(const struct run *run, struct range range)
{
    return range_is(range) ? run->buffer[range.buffer] + (CUdeviceptr)range.first * (CUdeviceptr)run->program->words * 4
                           : 0;
}

static uint32_t *host_of(const struct run *run, struct range range)
{
    return (uint32_t *)(uintptr_t)run->buffer[range.buffer];
}

void run_values(const struct run *run, const struct op *op, struct kernel_values *values)
{
    unsigned count = (unsigned)(op->to.count * run->program->words);
    unsigned block = 16u << (op->salt >> 28) % 5;
    *values = (struct kernel_values){run_address(run, op->to),
                                     run_address(run, op->from),
                                     run_address(run, op->with),
                                     count,
                                     op->factor,
                                     op->salt,
                                     op->spin,
                                     block,
                                     (count + block - 1) / block,
                                     {NULL}};
    void *pointers[] = {&values->to,     &values->from, &values->with, &values->count,
                        &values->factor, &values->salt, &values->spin};
    memcpy(values->pointers, pointers, sizeof pointers);
}

struct call *run_call(struct run *run, const struct op *op)
{
    struct call *call = calloc(1, sizeof *call);
    if (!call)
        abort();
    *call = (struct call){.to = host_of(run, op->to),
                          .from = host_of(run, op->from),
                          .to_range = op->to,
                          .from_range = op->from,
                          .words = run->program->words,
                          .factor = op->factor,
                          .salt = op->salt,
                          .delay = op->spin};
    call->next = atomic_load(&run->calls);
    while (!atomic_compare_exchange_weak(&run->calls, &call->next, call)) {
    }
    return call;
}

void CUDA_CB run_host(void *data)
{
    struct call *call = data;
    if (call->delay)
        usleep(call->delay);
    touch_words(call->to, call->from, call->words, call->to_range, call->from_range, call->factor, call->salt);
}

static void CUDA_CB hold(void *data)
{
    while (!atomic_load((_Atomic uint32_t *)data))
        usleep(20);
}

static CUresult copy(struct run *run, const struct op *op, CUstream stream)
{
    CUdeviceptr to = run_address(run, op->to), from = run_address(run, op->from);
    size_t cell = (size_t)run->program->words * 4, bytes = cell * op->to.count;
    int to_place = run->place[op->to.buffer], from_place = run->place[op->from.buffer];
    bool to_host = to_place == PLACE_PINNED || to_place == PLACE_PAGEABLE,
         from_host = from_place == PLACE_PINNED || from_place == PLACE_PAGEABLE;
    CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                         .srcDevice = from,
                         .srcPitch = cell * op->from.step,
                         .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                         .dstDevice = to,
                         .dstPitch = cell * op->to.step,
                         .WidthInBytes = cell,
                         .Height = op->to.count};
    switch (op->form) {
    case FORM_SYNC:
        if (to_host && from_host)
            return cuMemcpy(to, from, bytes);
        return from_host ? cuMemcpyHtoD(to, (void *)(uintptr_t)from, bytes)
               : to_host ? cuMemcpyDtoH((void *)(uintptr_t)to, from, bytes)
                         : cuMemcpyDtoD(to, from, bytes);
    case FORM_TYPED:
        return from_host ? cuMemcpyHtoDAsync(to, (void *)(uintptr_t)from, bytes, stream)
               : to_host ? cuMemcpyDtoHAsync((void *)(uintptr_t)to, from, bytes, stream)
                         : cuMemcpyDtoDAsync(to, from, bytes, stream);
    case FORM_BOX:
        return cuMemcpy2DAsync(&box, stream);
    case FORM_PEER:
        return cuMemcpyPeerAsync(to, run_context[run->home[op->to.buffer]], from,
                                 run_context[run->home[op->from.buffer]], bytes, stream);
    default:
        return cuMemcpyAsync(to, from, bytes, stream);
    }
}

static CUresult fill(struct run *run, const struct op *op, CUstream stream)
{
    CUdeviceptr to = run_address(run, op->to);
    size_t cell = (size_t)run->program->words * 4, row = cell / op->form, all = row * op->to.count,
           pitch = cell * op->to.step;
    bool box = op->to.step > 1;
    switch (op->form) {
    case 1:
        return box ? cuMemsetD2D8Async(to, pitch, (unsigned char)op->salt, row, op->to.count, stream)
                   : cuMemsetD8Async(to, (unsigned char)op->salt, all, stream);
    case 2:
        return box ? cuMemsetD2D16Async(to, pitch, (unsigned short)op->salt, row, op->to.count, stream)
                   : cuMemsetD16Async(to, (unsigned short)op->salt, all, stream);
    default:
        return box ? cuMemsetD2D32Async(to, pitch, op->salt, row, op->to.count, stream)
                   : cuMemsetD32Async(to, op->salt, all, stream);
    }
}

CUresult run_work(struct run *run, const struct op *op, CUstream stream, int device)
{
    struct kernel_values values;
#ifdef RANDOM_LIBRARIES
    if (op->kind <= OP_COPY && op->form == FORM_LIBRARY)
        return run_library(op, stream, device, run_address(run, op->to), run_address(run, op->from),
                           run_address(run, op->with), op->to.count * run->program->words);
#endif
    switch (op->kind) {
    case OP_MIX:
    case OP_MAKE:
    case OP_ADD:
        run_values(run, op, &values);
        return cuLaunchKernel(run_kernel[device][op->kind - OP_MIX], values.grid, 1, 1, values.block, 1, 1, 0, stream,
                              values.pointers, NULL);
    case OP_COPY:
        return copy(run, op, stream);
    case OP_FILL:
        return fill(run, op, stream);
    case OP_HOST:
        return cuLaunchHostFunc(stream, run_host, run_call(run, op));
    case OP_VALUE:
        return cuStreamWriteValue32(stream, run_address(run, op->to), op->salt, CU_STREAM_WRITE_VALUE_DEFAULT);
    case OP_LAUNCH:
        return cuGraphLaunch(run->exec[op->exec].exec, stream);
    default:
        return CUDA_ERROR_UNKNOWN;
    }
}

static CUstream stream_of(const struct run *run, const struct op *op)
{
    if (op->stream < STREAM_THREAD)
        return CU_STREAM_LEGACY;
    return op->stream < STREAM_FIRST ? CU_STREAM_PER_THREAD : run->stream[op->stream];
}

static CUresult allocate(struct run *run, const struct op *op, CUstream stream)
{
    size_t bytes = (size_t)run->program->words * 4 * CELLS;
    CUdeviceptr *out = &run->buffer[op->to.buffer];
    run->place[op->to.buffer] = op->place;
    run->home[op->to.buffer] = op->device;
    if (op->kind == OP_ALLOC_ASYNC)
        return cuMemAllocAsync(out, bytes, stream);
    switch (op->place) {
    case PLACE_PINNED:
        return cuMemHostAlloc((void **)out, bytes, CU_MEMHOSTALLOC_PORTABLE);
    case PLACE_MANAGED:
        return cuMemAllocManaged(out, bytes, CU_MEM_ATTACH_GLOBAL);
    case PLACE_PAGEABLE:
        *out = (CUdeviceptr)(uintptr_t)calloc(1, bytes);
        return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    default:
        return cuMemAlloc(out, bytes);
    }
}

static CUresult release(struct run *run, int buffer, bool async, CUstream stream)
{
    CUdeviceptr address = run->buffer[buffer];
    CUresult status = CUDA_SUCCESS;
    if (run->place[buffer] == PLACE_PAGEABLE)
        free((void *)(uintptr_t)address);
    else if (run->place[buffer] == PLACE_PINNED)
        status = cuMemFreeHost((void *)(uintptr_t)address);
    else
        status = async ? cuMemFreeAsync(address, stream) : cuMemFree(address);
    if (status == CUDA_SUCCESS)
        run->buffer[buffer] = 0;
    return status;
}

static CUresult make_stream(struct run *run, const struct op *op)
{
    unsigned flags = op->form & 1 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    int least = 0, greatest = 0;
    run->device[op->stream] = op->device;
    if (!(op->form & 2))
        return cuStreamCreate(&run->stream[op->stream], flags);
    CUresult status = cuCtxGetStreamPriorityRange(&least, &greatest);
    return status != CUDA_SUCCESS
               ? status
               : cuStreamCreateWithPriority(&run->stream[op->stream], flags, op->form & 4 ? greatest : least);
}

static CUresult make_event(struct run *run, const struct op *op)
{
    static const unsigned flags[] = {CU_EVENT_DEFAULT, CU_EVENT_BLOCKING_SYNC, CU_EVENT_DISABLE_TIMING,
                                     CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING};
    CUresult status = CUDA_SUCCESS;
    for (int i = 0; i < run->program->devices && status == CUDA_SUCCESS; i++) {
        run_use(i);
        if (!run->event[op->event][i])
            status = cuEventCreate(&run->event[op->event][i], flags[op->form & 3]);
    }
    run->recorded[op->event] = 0;
    return status;
}

static CUresult end_event(struct run *run, int event)
{
    CUresult status = CUDA_SUCCESS;
    for (int i = 0; i < DEVICES; i++) {
        if (run->event[event][i] && status == CUDA_SUCCESS)
            status = cuEventDestroy(run->event[event][i]);
        run->event[event][i] = NULL;
    }
    return status;
}

/* A query. What has happened for certain must be seen. */
static CUresult query(struct run *run, int index, CUstream stream, CUevent event)
{
    const struct op *op = &run->program->op[index];
    CUresult status = event ? cuEventQuery(event) : cuStreamQuery(stream);
    run_saw[index] = status == CUDA_SUCCESS;
    if (status != CUDA_ERROR_NOT_READY)
        return status;
    if (op->expect)
        run_fail(run, index, "the query does not see what has happened");
    return CUDA_SUCCESS;
}

static CUresult poll(CUstream stream, CUevent event)
{
    CUresult status;
    while ((status = event ? cuEventQuery(event) : cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY)
        sched_yield();
    return status;
}

static void check(struct run *run, int index)
{
    const struct op *op = &run->program->op[index];
    if (model_hash(host_of(run, op->from), run->program->words, op->from, run->program->seed) != op->expect)
        run_fail(run, index, "the host reads other contents than the model has");
}

static CUresult synchronize(void)
{
    run_capture_lock();
    CUresult status = cuCtxSynchronize();
    run_capture_unlock();
    return status;
}

static CUresult step(struct run *run, int index)
{
    int version;
    const struct op *op = &run->program->op[index];
    int device = op->stream < 0 ? op->device : op->kind == OP_STREAM ? op->device : run->device[op->stream];
    CUstream stream = op->stream < 0 ? NULL : stream_of(run, op);
    run_use(device);
    CUresult status;
    CUevent event =
        op->event < 0 ? NULL : run->event[op->event][op->kind == OP_RECORD ? device : run->recorded[op->event]];
    switch (op->kind) {
    case OP_TOUCH:
        if (run_program_number)
            (void)cuDriverGetVersion(&version); /* what the host touches behind a call is an operation by itself */
        touch_words(host_of(run, op->to), host_of(run, op->from), run->program->words, op->to, op->from, op->factor,
                    op->salt);
        return CUDA_SUCCESS;
    case OP_CHECK:
        if (run_program_number)
            (void)cuDriverGetVersion(&version);
        check(run, index);
        return CUDA_SUCCESS;
    case OP_POST:
        sem_post(&run->told[op->name]);
        return CUDA_SUCCESS;
    case OP_RELEASE:
        atomic_store(&run->posted[op->name], 1);
        return CUDA_SUCCESS;
    case OP_AWAIT:
        return sem_wait(&run->told[op->name]) == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
    case OP_HOLD:
        return cuLaunchHostFunc(stream, hold, &run->posted[op->name]);
    case OP_EVENT:
        return make_event(run, op);
    case OP_EVENT_END:
        return end_event(run, op->event);
    case OP_STREAM:
        return make_stream(run, op);
    case OP_STREAM_END:
        status = cuStreamDestroy(stream);
        if (status == CUDA_SUCCESS)
            run->stream[op->stream] = NULL;
        return status;
    case OP_ALLOC:
    case OP_ALLOC_ASYNC:
        return allocate(run, op, stream);
    case OP_FREE:
    case OP_FREE_ASYNC:
        return release(run, op->to.buffer, op->kind == OP_FREE_ASYNC, stream);
    case OP_GRAPH:
        return run_graph_make(run, op);
    case OP_UPDATE:
        return run_graph_update(run, op);
    case OP_RECORD:
        run->recorded[op->event] = (uint8_t)device;
        return cuEventRecord(event, stream);
    case OP_WAIT:
        return cuStreamWaitEvent(stream, event, 0);
    case OP_EVENT_SYNC:
        return cuEventSynchronize(event);
    case OP_EVENT_QUERY:
    case OP_STREAM_QUERY:
        return query(run, index, stream, event);
    case OP_EVENT_POLL:
    case OP_STREAM_POLL:
        return poll(stream, event);
    case OP_STREAM_SYNC:
        return cuStreamSynchronize(stream);
    case OP_DEVICE_SYNC:
        return synchronize();
    case OP_FLAG:
        return cuStreamWriteValue32(stream, (CUdeviceptr)(uintptr_t)&run->flags[op->name], 1,
                                    CU_STREAM_WRITE_VALUE_DEFAULT);
    case OP_FLAG_WAIT:
        return cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)&run->flags[op->name], 1, CU_STREAM_WAIT_VALUE_GEQ);
    default:
        return run_work(run, op, stream, device);
    }
}

struct part {
    struct run *run;
    int thread;
};

bool run_can_be_scarce(void)
{
    return mr_alloc_fail_mine && mr_alloc_live;
}

uint64_t run_live_allocations(void)
{
    return mr_alloc_live ? mr_alloc_live() : 0;
}

/* A step in which an allocation of the driver fails may say so. It must then have changed nothing, and do when it is
 * taken again. Waits are left alone: they run what others submitted. */
static CUresult step_scarce(struct run *run, int index, struct dice *dice)
{
    const struct op *op = &run->program->op[index];
    int kind = op->kind;
    bool waits = kind == OP_EVENT_SYNC || kind == OP_EVENT_POLL || kind == OP_STREAM_SYNC || kind == OP_STREAM_POLL ||
                 kind == OP_DEVICE_SYNC || kind == OP_FREE;
    if (kind == OP_COPY &&
        (op->form == FORM_SYNC ||
         (run->place[op->to.buffer] != PLACE_DEVICE && run->place[op->from.buffer] != PLACE_DEVICE) ||
         run->place[op->to.buffer] == PLACE_PAGEABLE || run->place[op->from.buffer] == PLACE_PAGEABLE))
        waits = true;
    if (waits || !dice_chance(dice, run_scarce))
        return step(run, index);
    for (unsigned nth = 1 + dice_below(dice, 4);; nth += 1 + dice_below(dice, 3)) {
        (void)mr_alloc_fail_mine(nth);
        CUresult status = step(run, index);
        if (mr_alloc_fail_mine(0) != 0 || status != CUDA_ERROR_OUT_OF_MEMORY)
            return status;
        run_scarce_failures++;
    }
}

static void *run_thread(void *data)
{
    struct part *part = data;
    struct run *run = part->run;
    struct dice dice = {run->program->seed ^ (uint64_t)part->thread};
    for (int i = 0; i < run->program->count; i++) {
        if (run->program->op[i].thread != part->thread)
            continue;
        while (run_in_turn && atomic_load(&turn) != i)
            sched_yield();
        atomic_store_explicit(&run->at[part->thread], i, memory_order_relaxed);
        CUresult status = run_scarce           ? step_scarce(run, i, &dice)
                          : run_program_number ? run_from_place(step, run, i)
                                               : step(run, i);
        if (status != CUDA_SUCCESS)
            (void)run_ok(run, i, op_name(run->program->op[i].kind), status);
        atomic_store(&turn, i + 1);
    }
#ifdef RANDOM_RUNTIME
    (void)run_ok(run, -1, "cudaGetLastError at the end of a thread", (CUresult)cudaGetLastError());
#endif
    return NULL;
}

/* Compares all contents that were ever written. */
static void compare(struct run *run, const struct model *model)
{
    size_t cell = (size_t)run->program->words * 4;
    uint32_t *words = malloc(cell * CELLS);
    if (!words)
        abort();
    for (int b = 0; b < BUFFERS; b++) {
        if (!model->alive[b])
            continue;
        run_use(run->home[b]);
        if (run->place[b] == PLACE_PAGEABLE)
            memcpy(words, (void *)(uintptr_t)run->buffer[b], cell * CELLS);
        else if (!run_ok(run, -1, "cuMemcpy of the final contents", cuMemcpyDtoH(words, run->buffer[b], cell * CELLS)))
            break;
        for (int i = 0; i < run->program->words * CELLS; i++) {
            int c = i / run->program->words;
            if (!model->written[b][c] || words[i] == model->cell[b][i])
                continue;
            run_fail(run, -1, "buffer %d, cell %d, word %d is %#x in the end, not %#x", b, c, i % run->program->words,
                     words[i], model->cell[b][i]);
            break;
        }
    }
    free(words);
}

static void clean_up(struct run *run, const struct model *model)
{
    for (int i = 0; i < EXECS; i++)
        run_graph_end(&run->exec[i]);
    for (int i = 0; i < EVENTS; i++)
        (void)run_ok(run, -1, "cuEventDestroy", end_event(run, i));
    for (int i = STREAM_FIRST; i < STREAMS; i++)
        if (run->stream[i])
            (void)run_ok(run, -1, "cuStreamDestroy", cuStreamDestroy(run->stream[i]));
    for (int i = 0; i < BUFFERS; i++)
        if (model->alive[i] && run->buffer[i])
            (void)run_ok(run, -1, "free", release(run, i, false, NULL));
    if (run->flags)
        (void)run_ok(run, -1, "cuMemFreeHost", cuMemFreeHost(run->flags));
    for (struct call *call = atomic_load(&run->calls), *next; call; call = next) {
        next = call->next;
        free(call);
    }
}

int run_program(const struct program *program, const struct model *model, bool loud)
{
    static struct run run;
    memset(run_saw, 0, sizeof run_saw);
    atomic_store(&turn, 0);
    struct part parts[THREADS];
    pthread_t threads[THREADS];
    memset(&run, 0, sizeof run);
    run.program = program;
    run.loud = loud;
    for (int i = 0; i < DEVICES; i++)
        run.device[i] = (uint8_t)i;
    run_current = &run;
    run_use(0);
    if (!run_ok(&run, -1, "cuMemAllocHost", cuMemHostAlloc((void **)&run.flags, FLAGS * 4, CU_MEMHOSTALLOC_PORTABLE)))
        return 1;
    memset(run.flags, 0, FLAGS * 4);
    for (int i = 0; i < POSTS; i++)
        sem_init(&run.told[i], 0, 0);
    int made = run_program_number ? 0 : 1; /* programs with a number share no thread, nor its default stream */
    for (int i = 0; i < program->threads; i++) {
        parts[i] = (struct part){&run, i};
        if (i >= made && pthread_create(&threads[i], NULL, run_thread, &parts[i]) != 0)
            abort();
    }
    if (made == 1)
        (void)run_thread(&parts[0]);
    for (int i = made; i < program->threads; i++)
        pthread_join(threads[i], NULL);
    for (int i = program->devices - 1; i >= 0; i--) {
        run_use(i);
        (void)run_ok(&run, -1, "cuCtxSynchronize at the end", cuCtxSynchronize());
    }
    compare(&run, model);
    clean_up(&run, model);
    run_current = NULL;
    return atomic_load(&run.failures);
}
