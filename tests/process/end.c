/* SPDX-License-Identifier: Apache-2.0 */
/* How a process may end with the driver in use: every way of ending, with every kind of work in hand. None may hang,
 * crash or change the exit status.
 *
 *     end                run each pair once, in a process of its own, and then the special cases
 *     end --repeat N     the same N times
 *     end WORK WAY       one pair, in this process
 *
 * A process that hangs is ended by its own alarm, which is a failure like any other signal. */
#include <cuda.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_STATUS = 7, LIMIT_S = 60 };

static void check(int line, CUresult status)
{
    if (status == CUDA_SUCCESS)
        return;
    fprintf(stderr, "end.c:%d: status %d\n", line, (int)status);
    _exit(1);
}
#define OK(call) check(__LINE__, call)

static void sleep_ms(unsigned ms)
{
    struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static CUcontext context;
static CUstream stream, other;
static CUdeviceptr words;
static CUmodule module;
static CUfunction spin, store;
static atomic_int entered;
static int exit_status = EXIT_STATUS;

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    /* Spins until the word is 1. */
    ".visible .entry spin(.param .u64 word)\n{\n .reg .pred %p; .reg .b32 %r; .reg .b64 %rd;\n ld.param.u64 %rd, [word];\n"
    "again:\n ld.volatile.global.u32 %r, [%rd];\n setp.ne.u32 %p, %r, 1;\n @%p bra again;\n ret;\n}\n"
    /* Stores 5. */
    ".visible .entry store(.param .u64 word)\n{\n .reg .b32 %r; .reg .b64 %rd;\n ld.param.u64 %rd, [word];\n mov.u32 %r, 5;\n"
    " st.global.u32 [%rd], %r;\n ret;\n}\n";

static void begin(void)
{
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, 0));
    OK(cuMemAlloc(&words, 4096));
    OK(cuMemsetD8(words, 0, 4096));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&spin, module, "spin"));
    OK(cuModuleGetFunction(&store, module, "store"));
}

static CUresult launch(CUfunction function, CUstream to, unsigned blocks)
{
    void *params[] = {&words};
    return cuLaunchKernel(function, blocks, 1, 1, 32, 1, 1, 0, to, params, NULL);
}

/* ---- work in hand ---- */

static void CUDA_CB host_sleeps(void *data)
{
    (void)data;
    atomic_store(&entered, 1);
    sleep_ms(1000 * LIMIT_S);
}

static void CUDA_CB host_spins(void *data)
{
    (void)data;
    atomic_store(&entered, 1);
    for (;;)
        sched_yield();
}

static void await_entry(void)
{
    while (!atomic_load(&entered))
        sched_yield();
}

static void work_none(void)
{
    OK(cuInit(0));
}

static void work_idle(void)
{
    begin();
    OK(launch(store, stream, 4));
    OK(cuCtxSynchronize());
}

static void work_gone(void)
{
    work_idle();
    OK(cuCtxDestroy(context));
}

static void work_kernel(void)
{
    begin();
    OK(launch(spin, stream, 1));
}

static void work_shared_kernel(void)
{
    begin();
    OK(launch(spin, stream, 16));
}

static void work_sleeping_host(void)
{
    begin();
    OK(cuLaunchHostFunc(stream, host_sleeps, NULL));
    await_entry();
}

static void work_spinning_host(void)
{
    begin();
    OK(cuLaunchHostFunc(stream, host_spins, NULL));
    await_entry();
}

static void work_memory_wait(void)
{
    begin();
    OK(cuStreamWaitValue32(stream, words, 77, CU_STREAM_WAIT_VALUE_EQ));
    OK(launch(store, stream, 1));
}

static void work_blocked_streams(void)
{
    begin();
    CUevent event;
    OK(cuEventCreate(&event, 0));
    OK(cuStreamWaitValue32(stream, words, 77, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuEventRecord(event, stream));
    for (int i = 0; i < 50; i++) {
        CUstream more;
        OK(cuStreamCreate(&more, i % 2 ? CU_STREAM_NON_BLOCKING : 0));
        OK(cuStreamWaitEvent(more, event, 0));
        OK(launch(store, more, 1));
    }
}

static void work_queue(void)
{
    begin();
    for (int i = 0; i < 3000; i++)
        OK(launch(store, i % 2 ? stream : other, 1 + (unsigned)i % 3));
}

/* Other threads in calls of every kind. */
static void *calls_for_ever(void *data)
{
    unsigned kind = (unsigned)(uintptr_t)data;
    unsigned value;
    (void)cuCtxSetCurrent(context);
    for (;;) {
        switch (kind++ % 6) {
        case 0:
            (void)launch(store, stream, 1);
            break;
        case 1:
            (void)cuStreamSynchronize(stream);
            break;
        case 2:
            (void)cuMemcpyDtoH(&value, words, 4);
            break;
        case 3:
            (void)cuCtxSynchronize();
            break;
        case 4: {
            CUevent event;
            if (cuEventCreate(&event, 0) == CUDA_SUCCESS) {
                (void)cuEventRecord(event, stream);
                (void)cuEventSynchronize(event);
                (void)cuEventDestroy(event);
            }
            break;
        }
        default: {
            CUdeviceptr memory;
            if (cuMemAlloc(&memory, 1000) == CUDA_SUCCESS)
                (void)cuMemFree(memory);
        }
        }
    }
    return NULL;
}

static void start(void *(*function)(void *), void *data)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, data) != 0)
        _exit(1);
    pthread_detach(thread);
}

static void work_calling_threads(void)
{
    begin();
    for (uintptr_t i = 0; i < 3; i++)
        start(calls_for_ever, (void *)i);
    sleep_ms(2);
}

static void *waits(void *data)
{
    (void)cuCtxSetCurrent(context);
    (void)cuStreamSynchronize(data);
    return NULL;
}

static void work_waiting_threads(void)
{
    work_memory_wait();
    OK(launch(spin, other, 1));
    start(waits, stream);
    start(waits, other);
    sleep_ms(2);
}

static void *destroys(void *data)
{
    (void)data;
    (void)cuCtxDestroy(context);
    return NULL;
}

static void work_context_going(void)
{
    work_memory_wait();
    start(destroys, NULL);
    sleep_ms(2);
}

/* Loads and launches a kernel that nobody has compiled before. */
static void compile_one(unsigned number, unsigned offset)
{
    char text[400];
    CUmodule loaded;
    CUfunction function;
    snprintf(
        text, sizeof text,
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f(.param .u64 word)\n{\n .reg .b32 %%r; .reg .b64 %%rd;\n"
        " ld.param.u64 %%rd, [word];\n mov.u32 %%r, %u;\n st.global.u32 [%%rd+%u], %%r;\n ret;\n}\n",
        number + (unsigned)getpid() * 1000u, offset);
    if (cuModuleLoadData(&loaded, text) != CUDA_SUCCESS)
        return;
    if (cuModuleGetFunction(&function, loaded, "f") == CUDA_SUCCESS)
        (void)launch(function, other, 1);
    (void)cuModuleUnload(loaded);
}

static void *compiles(void *data)
{
    (void)cuCtxSetCurrent(context);
    for (unsigned i = 1;; i++)
        compile_one(i, (unsigned)(uintptr_t)data);
    return NULL;
}

static void work_compiling_threads(void)
{
    begin();
    compile_one(0, 0); /* the code generator is there */
    start(compiles, (void *)(uintptr_t)4);
    start(compiles, (void *)(uintptr_t)8);
    sleep_ms(20);
}

static const struct {
    const char *name;
    void (*run)(void);
} works[] = {
    {"none", work_none},
    {"idle", work_idle},
    {"gone", work_gone},
    {"kernel", work_kernel},
    {"shared-kernel", work_shared_kernel},
    {"sleeping-host", work_sleeping_host},
    {"spinning-host", work_spinning_host},
    {"memory-wait", work_memory_wait},
    {"blocked-streams", work_blocked_streams},
    {"queue", work_queue},
    {"calling-threads", work_calling_threads},
    {"waiting-threads", work_waiting_threads},
    {"context-going", work_context_going},
    {"compiling-threads", work_compiling_threads},
};

/* ---- ways to end ---- */

static void way_exit(void)
{
    exit(exit_status);
}

static void way_return(void)
{
}

static void way_quick(void)
{
    quick_exit(exit_status);
}

static void way_fast(void)
{
    _exit(exit_status);
}

static void way_abort(void)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    abort();
}

static void way_signal(void)
{
    (void)raise(SIGTERM);
    for (;;)
        pause();
}

static void *exits(void *data)
{
    (void)data;
    exit(exit_status);
}

static void way_thread(void)
{
    start(exits, NULL);
    for (;;)
        pause();
}

/* Main goes first, as a thread. */
static void way_main_leaves(void)
{
    start(exits, NULL);
    pthread_exit(NULL);
}

static void CUDA_CB exit_inside(void *data)
{
    (void)data;
    exit(exit_status);
}

/* On a worker. Where there is no context any more, a new one. */
static void way_host_function(void)
{
    CUstream fresh;
    if (!context || cuCtxSetCurrent(context) != CUDA_SUCCESS ||
        cuStreamCreate(&fresh, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) {
        OK(cuCtxCreate_v4(&context, NULL, 0, 0));
        OK(cuStreamCreate(&fresh, CU_STREAM_NON_BLOCKING));
    }
    OK(cuLaunchHostFunc(fresh, exit_inside, NULL));
    for (;;)
        pause();
}

/* Calls in a function of atexit's that runs after the driver's own end, and in one before. Nothing is waited for: the
 * work may be endless. */
static CUresult late_status[2];

static void call_late(int which)
{
    CUdeviceptr memory;
    CUstream made;
    int count;
    late_status[which] = cuDeviceGetCount(&count);
    (void)cuInit(0);
    (void)cuMemAlloc(&memory, 64);
    (void)cuStreamCreate(&made, 0);
    (void)cuStreamQuery(stream);
    (void)cuStreamDestroy(other);
    if (which == 0) /* before the driver's end it waits */
        (void)cuModuleUnload(module);
}

static void call_after_end(void)
{
    call_late(0);
    if (late_status[0] != CUDA_ERROR_DEINITIALIZED || late_status[1] != CUDA_SUCCESS)
        _exit(3);
}

static void call_before_end(void)
{
    call_late(1);
}

static void way_late_calls(void)
{
    (void)atexit(call_before_end);
    exit(exit_status);
}

/* A child that was forked meanwhile ends first; then this process. */
static void way_forked(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        int count;
        (void)alarm(LIMIT_S / 2); /* the parent's is not inherited; this one comes first */
        if (cuDeviceGetCount(&count) != CUDA_ERROR_NOT_INITIALIZED || cuInit(0) != CUDA_ERROR_NOT_INITIALIZED ||
            cuStreamSynchronize(stream) != CUDA_ERROR_NOT_INITIALIZED)
            _exit(9);
        exit(EXIT_STATUS);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != EXIT_STATUS)
        _exit(2);
    exit(exit_status);
}

static const struct {
    const char *name;
    void (*run)(void);
    int signal;
} ways[] = {
    {"exit", way_exit, 0},
    {"return", way_return, 0},
    {"quick", way_quick, 0},
    {"fast", way_fast, 0},
    {"abort", way_abort, SIGABRT},
    {"signal", way_signal, SIGTERM},
    {"thread", way_thread, 0},
    {"main-leaves", way_main_leaves, 0},
    {"host-function", way_host_function, 0},
    {"late-calls", way_late_calls, 0},
    {"forked", way_forked, 0},
};

enum { WORKS = sizeof works / sizeof *works, WAYS = sizeof ways / sizeof *ways };

static int run_here(const char *work, const char *way)
{
    (void)alarm(LIMIT_S);
    for (size_t j = 0; j < WAYS; j++) {
        if (strcmp(ways[j].name, way) != 0)
            continue;
        if (ways[j].run == way_late_calls)
            (void)atexit(call_after_end);
        for (size_t i = 0; i < WORKS; i++) {
            if (strcmp(works[i].name, work) == 0) {
                works[i].run();
                ways[j].run();
                return exit_status;
            }
        }
    }
    return 1;
}

static bool run_pair(size_t work, size_t way)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "end", works[work].name, ways[way].name, (char *)NULL);
        _exit(99);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return false;
    bool good = ways[way].signal ? WIFSIGNALED(status) && WTERMSIG(status) == ways[way].signal
                                 : WIFEXITED(status) && WEXITSTATUS(status) == EXIT_STATUS;
    if (!good)
        fprintf(stderr, "end %s %s: %s %d\n", works[work].name, ways[way].name, WIFSIGNALED(status) ? "signal" : "exit",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return good;
}

/* Processes end here in the middle of their work, and what that held is no leak: LeakSanitizer asks. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

int main(int argc, char **argv)
{
    unsigned long rounds = 1, bad = 0;
    if (argc == 3 && strcmp(argv[1], "--repeat") == 0)
        rounds = strtoul(argv[2], NULL, 10);
    else if (argc == 3)
        return run_here(argv[1], argv[2]);
    for (unsigned long round = 0; round < rounds; round++)
        for (size_t i = 0; i < WORKS; i++)
            for (size_t j = 0; j < WAYS; j++)
                bad += !run_pair(i, j);
    printf("%lu of %lu processes ended badly\n", bad, rounds * WORKS * WAYS);
    return bad ? 1 : 0;
}
