/* SPDX-License-Identifier: Apache-2.0 */
/* Load: many host threads, streams, live events and queued operations at once. Says what each weighs, what an operation
 * costs at the start and at the end of it all, and whether anything was lost: every launch adds one to a counter of its
 * stream.
 *
 *     bench_load [threads, by default 64] [streams, 10000] [events, 1000000] [operations, 10000000]
 *
 * All streams are held by a host function until everything is queued. Of ten operations six launch, two record an event
 * and two wait for one that another stream of the same thread recorded.
 *
 * What the first tenth costs and what the last one costs has to be asked of the same work. So each thread launches once
 * and records each of its events once before the clock starts: else nearly all waits of the first tenth would be for
 * events that were never recorded, which are no work, and those of the last would be real. A tenth is five slices of
 * time, and counts as their median; between slices all threads meet. Processor time is told as well: on a machine with
 * other work the clock says little. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry add(.param .u64 at)\n{\n    .reg .b64 %rd<2>;\n    .reg .b32 %r<2>;\n"
    "    ld.param.u64 %rd1, [at];\n    ld.global.u32 %r1, [%rd1];\n    add.u32 %r1, %r1, 1;\n    st.global.u32 [%rd1], %r1;\n    ret;\n}\n";

enum { TENTH = 5, SLICES = 10 * TENTH };

static int threads = 64, streams = 10000;
static long events = 1000000, operations = 10000000;
static CUcontext context;
static CUfunction add;
static CUdeviceptr counters;
static CUstream *stream;
static CUevent *event;
static uint32_t *launched;
static _Atomic int gate;
static pthread_barrier_t slice_begins, slice_ends;

static double resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        exit(1);
    fclose(file);
    return (double)pages * 4096.0;
}

static void CUDA_CB hold(void *data)
{
    (void)data;
    while (!atomic_load(&gate))
        usleep(1000);
}

static void CUDA_CB nothing(void *data)
{
    (void)data;
}

static void operate(int thread, long number, uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    int mine = streams / threads, which = thread * mine + (int)((*state >> 33) % (uint64_t)mine);
    long own = events / threads, which_event = thread * own + (long)((*state >> 20) % (uint64_t)own);
    if (number % 10 < 6) {
        CUdeviceptr at = counters + (CUdeviceptr)which * 4;
        void *params[] = {&at};
        CHECK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream[which], params, NULL));
        launched[which]++;
    } else if (number % 10 < 8) {
        CHECK(cuEventRecord(event[which_event], stream[which]));
    } else {
        CHECK(cuStreamWaitEvent(stream[which], event[which_event], 0));
    }
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The median of the five slices from `first` on, in nanoseconds of an operation. */
static double tenth_of(const double *first)
{
    double sorted[TENTH];
    memcpy(sorted, first, sizeof sorted);
    qsort(sorted, TENTH, sizeof *sorted, compare);
    return sorted[TENTH / 2];
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The first launch, which compiles, and the first recording of each event. */
static void begin_work(int thread)
{
    uint64_t state = (uint64_t)thread;
    long own = events / threads;
    operate(thread, 0, &state);
    for (long i = 0; i < own; i++)
        CHECK(cuEventRecord(event[thread * own + i],
                            stream[thread * (streams / threads) + (int)(i % (streams / threads))]));
}

static void *work(void *data)
{
    int thread = (int)(intptr_t)data;
    uint64_t state = (uint64_t)thread + 1;
    long each = operations / threads / SLICES;
    CHECK(cuCtxSetCurrent(context));
    begin_work(thread);
    pthread_barrier_wait(&slice_ends);
    for (int slice = 0; slice < SLICES; slice++) {
        pthread_barrier_wait(&slice_begins);
        for (long i = 0; i < each; i++)
            operate(thread, i, &state);
        pthread_barrier_wait(&slice_ends);
    }
    return NULL;
}

static void make_objects(void)
{
    double before = resident();
    for (int i = 0; i < streams; i++)
        CHECK(cuStreamCreate(&stream[i], i % 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    printf("bytes_stream %.0f\n", (resident() - before) / streams);
    before = resident();
    double begin = bench_seconds(), first = 0;
    for (long i = 0; i < events; i++) {
        CHECK(cuEventCreate(&event[i], CU_EVENT_DISABLE_TIMING));
        if (i == events / 10)
            first = bench_seconds() - begin;
    }
    printf("bytes_event %.0f\n", (resident() - before) / (double)events);
    printf("event_create_first_tenth %.1f\nevent_create_all %.1f\n", first * 1e10 / (double)events,
           (bench_seconds() - begin) * 1e9 / (double)events);
}

/* Holds every stream, by way of one that a host function holds. */
static void hold_streams(CUstream *holder)
{
    CUevent held;
    CHECK(cuStreamCreate(holder, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&held, CU_EVENT_DISABLE_TIMING));
    CHECK(cuLaunchHostFunc(*holder, hold, NULL));
    CHECK(cuLaunchHostFunc(*holder, nothing, NULL));
    CHECK(cuEventRecord(held, *holder));
    for (int i = 0; i < streams; i++)
        CHECK(cuStreamWaitEvent(stream[i], held, 0));
    CHECK(cuEventDestroy(held));
}

static long count_lost(void)
{
    uint32_t *found = malloc((size_t)streams * 4);
    long lost = 0;
    if (!found)
        exit(1);
    CHECK(cuMemcpyDtoH(found, counters, (size_t)streams * 4));
    for (int i = 0; i < streams; i++)
        lost += found[i] != launched[i];
    free(found);
    return lost;
}

static void run(void)
{
    pthread_t *thread = malloc(sizeof *thread * (size_t)threads);
    CUstream holder;
    double cost[SLICES], processor[SLICES], before, begin, begin_processor;
    long each = operations / threads / SLICES * threads;
    if (!thread)
        exit(1);
    hold_streams(&holder);
    pthread_barrier_init(&slice_begins, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&slice_ends, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i) != 0)
            exit(1);
    pthread_barrier_wait(&slice_ends);
    before = resident();
    for (int slice = 0; slice < SLICES; slice++) {
        begin = bench_seconds();
        begin_processor = processor_seconds();
        pthread_barrier_wait(&slice_begins);
        pthread_barrier_wait(&slice_ends);
        cost[slice] = (bench_seconds() - begin) * 1e9 / (double)each;
        processor[slice] = (processor_seconds() - begin_processor) * 1e9 / (double)each;
    }
    printf("queued_operations %ld\nbytes_queued_operation %.0f\n", each * SLICES,
           (resident() - before) / (double)(each * SLICES));
    printf("operation_first_tenth %.1f\noperation_last_tenth %.1f\n", tenth_of(cost), tenth_of(cost + SLICES - TENTH));
    printf("operation_first_tenth_processor %.1f\noperation_last_tenth_processor %.1f\n", tenth_of(processor),
           tenth_of(processor + SLICES - TENTH));
    if (getenv("BENCH_SLICES"))
        for (int slice = 0; slice < SLICES; slice++)
            printf("slice_%d %.1f %.1f\n", slice, cost[slice], processor[slice]);
    begin = bench_seconds();
    atomic_store(&gate, 1);
    CHECK(cuCtxSynchronize());
    printf("drain_operation %.1f\n", (bench_seconds() - begin) * 1e9 / (double)(each * SLICES));
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    CHECK(cuStreamDestroy(holder));
    free(thread);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUmodule module;
    threads = argc > 1 ? atoi(argv[1]) : threads;
    streams = argc > 2 ? atoi(argv[2]) : streams;
    events = argc > 3 ? atol(argv[3]) : events;
    operations = argc > 4 ? atol(argv[4]) : operations;
    if (threads < 1 || streams < threads || events < threads || operations < threads * SLICES)
        return 1;
    stream = calloc((size_t)streams, sizeof *stream);
    event = calloc((size_t)events, sizeof *event);
    launched = calloc((size_t)streams, sizeof *launched);
    if (!stream || !event || !launched)
        return 1;
    for (long i = 0; i < events; i += 512)
        event[i] = (CUevent)&gate; /* touched, so that it doesn't count as the driver's */
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&add, module, "add"));
    CHECK(cuMemAlloc(&counters, (size_t)streams * 4));
    CHECK(cuMemsetD32(counters, 0, (size_t)streams));
    CHECK(cuCtxSynchronize());
    make_objects();
    run();
    long lost = count_lost();
    printf("streams_with_lost_launches %ld\n", lost);
    for (long i = 0; i < events; i++)
        CHECK(cuEventDestroy(event[i]));
    for (int i = 0; i < streams; i++)
        CHECK(cuStreamDestroy(stream[i]));
    CHECK(cuDevicePrimaryCtxRelease(device));
    free(launched);
    free(event);
    free(stream);
    return lost != 0;
}
