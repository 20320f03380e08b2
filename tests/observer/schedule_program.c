/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_program WHAT: host functions in streams and graphs that write down in which order they run, one letter each.
 * Prints "LETTERS CALLS...": the letters, and for each letter in the order of the alphabet the number of the call that
 * queued it. */
#include <cuda.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char letters[64];
static _Thread_local unsigned calls;
static unsigned call_of[26];
static _Atomic bool told;
static CUstream streams[3];

static void check(CUresult status, int line)
{
    calls++;
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY) {
        fprintf(stderr, "line %d: status %d\n", line, (int)status);
        exit(9);
    }
}

#define DO(call) check(call, __LINE__)

static void write_down(void *letter)
{
    pthread_mutex_lock(&lock);
    strncat(letters, letter, 1);
    pthread_mutex_unlock(&lock);
}

static void idle(void *data)
{
    (void)data;
}

static void tell(void *letter)
{
    write_down(letter);
    atomic_store(&told, true);
}

static void queue(int stream, char *letter)
{
    DO(cuLaunchHostFunc(streams[stream], write_down, letter));
    call_of[*letter - 'A'] = calls;
}

static void four(void)
{
    queue(0, "A");
    queue(1, "B");
    queue(2, "C");
    queue(0, "D");
    DO(cuStreamSynchronize(streams[1]));
}

/* A fork of three nodes, and one behind them. */
static void graph(void)
{
    static char *const names[] = {"A", "B", "C", "D"};
    CUgraph made;
    CUgraphExec exec;
    CUgraphNode nodes[4];
    DO(cuGraphCreate(&made, 0));
    for (int i = 0; i < 4; i++) {
        CUDA_HOST_NODE_PARAMS host = {.fn = write_down, .userData = names[i]};
        DO(cuGraphAddHostNode(&nodes[i], made, i == 3 ? nodes : NULL, i == 3 ? 3 : 0, &host));
    }
    DO(cuGraphInstantiate(&exec, made, 0));
    DO(cuGraphLaunch(exec, streams[0]));
    call_of[0] = calls;
    DO(cuStreamSynchronize(streams[0]));
    printf("%llx %llx %llx\n", (unsigned long long)(size_t)nodes[0], (unsigned long long)(size_t)nodes[1],
           (unsigned long long)(size_t)nodes[2]);
}

static void poll(void)
{
    CUresult status;
    queue(0, "A");
    queue(1, "B");
    do
        DO(status = cuStreamQuery(streams[1]));
    while (status == CUDA_ERROR_NOT_READY);
    queue(2, "C");
}

/* Waits where no driver sees it. */
static void outside(void)
{
    queue(0, "A");
    DO(cuLaunchHostFunc(streams[1], tell, "B"));
    call_of[1] = calls;
    while (!atomic_load(&told))
        sched_yield();
}

static void events(void)
{
    CUevent event;
    DO(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    queue(0, "A");
    DO(cuEventRecord(event, streams[0]));
    DO(cuStreamWaitEvent(streams[1], event, 0));
    queue(1, "B");
    queue(2, "C");
    DO(cuStreamSynchronize(streams[1]));
}

static void copies(void)
{
    CUdeviceptr memory;
    unsigned value = 0;
    DO(cuMemAlloc(&memory, 4));
    DO(cuMemsetD32(memory, 7, 1));
    DO(cuCtxSynchronize());
    DO(cuMemsetD32Async(memory, 1, 1, streams[0]));
    call_of[0] = calls;
    DO(cuMemsetD32Async(memory, 2, 1, streams[1]));
    call_of[1] = calls;
    DO(cuCtxSynchronize());
    DO(cuMemcpyDtoH(&value, memory, 4));
    letters[0] = (char)('0' + value);
}

static void *other_thread(void *data)
{
    (void)data;
    DO(cuLaunchHostFunc(streams[1], write_down, "B"));
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    queue(0, "A");
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    queue(2, "C");
}

/* A thread that has stopped behind its call while this one waits, and then waits for the thread. */
static void joins(void)
{
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, other_thread, NULL);
        DO(cuLaunchHostFunc(streams[0], idle, NULL));
        DO(cuStreamSynchronize(streams[0]));
        pthread_join(thread, NULL);
    }
    queue(0, "A");
}

/* Ends without waiting. */
static void end(void)
{
    queue(0, "A");
    queue(1, "B");
    exit(0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } parts[] = {{"four", four},     {"graph", graph},     {"poll", poll},   {"outside", outside}, {"events", events},
                 {"copies", copies}, {"threads", threads}, {"joins", joins}, {"end", end}};
    CUcontext context;
    CUdevice device;
    if (argc < 2 || cuInit(0) != CUDA_SUCCESS)
        return 9;
    DO(cuDeviceGet(&device, 0));
    DO(cuDevicePrimaryCtxRetain(&context, device));
    DO(cuCtxSetCurrent(context));
    for (int i = 0; i < 3; i++)
        DO(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            parts[i].function();
    DO(cuCtxSynchronize());
    printf("%s", letters);
    for (int i = 0; i < 26 && call_of[i]; i++)
        printf(" %u", call_of[i]);
    puts("");
    /* For --explore and replay: the order of the program's own is the right one. */
    return argc > 2 && strcmp(letters, argv[2]) != 0 ? 3 : 0;
}
