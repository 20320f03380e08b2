/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a process, and processes that were forked.
 *
 * Each case makes a child of its own and says what that child heard: the child
 * notes statuses in shared memory, because it may end in the middle of a call.
 * A "bare" case forks before the driver was ever called, so the child is an
 * ordinary program that comes to an end in some way; the others fork with the
 * driver in use, and the child is what must be refused.
 */
#include "gold.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a child notes; the parent says it, in order. */
enum { NOTES = 32, UNDONE = -12345 };
struct notes {
    int count;
    int status[NOTES];
};
static struct notes *notes;

static void note(int status)
{
    if (notes->count < NOTES)
        notes->status[notes->count++] = status;
}

/* A call that may never return leaves a trace of having been begun. */
#define NOTE(call) \
    do { \
        int place = notes->count; \
        note(UNDONE); \
        CUresult answer = (call); \
        if (place < NOTES) \
            notes->status[place] = (int)answer; \
    } while (0)

static void say_end(pid_t pid)
{
    int status = 0;
    for (int i = 0; i < 12000; i++) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid) {
            if (WIFSIGNALED(status))
                say_value("signal", WTERMSIG(status));
            else
                say_value("exit", WEXITSTATUS(status));
            return;
        }
        gold_sleep_ms(1);
    }
    kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
    say_text("hangs");
}

/* Forks; the child runs BODY and leaves by _exit(5) if that returns. */
static void in_child(void (*body)(void))
{
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (notes == MAP_FAILED)
        gold_stop("mmap");
    pid_t pid = fork();
    if (pid < 0)
        gold_stop("fork");
    if (pid == 0) {
        body();
        _exit(5);
    }
    say_end(pid);
    for (int i = 0; i < notes->count; i++) {
        if (notes->status[i] == UNDONE)
            say_text("unfinished");
        else
            say((CUresult)notes->status[i]);
    }
}

/* ---- forked with the driver in use ---- */

static CUstream the_stream;
static CUevent the_event;
static CUdeviceptr the_word;
static CUfunction the_function;
static unsigned *the_pinned;

static void make_things(void)
{
    void *memory;
    the_stream = gold_stream(CU_STREAM_NON_BLOCKING);
    the_event = gold_event(0);
    the_word = gold_alloc_words(1, 0);
    the_function = gold_function("add");
    NEED(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    the_pinned = memory;
    memset(the_pinned, 0, 64);
    NEED(cuEventRecord(the_event, the_stream));
    NEED(cuStreamSynchronize(the_stream));
}

/*
 * Hardware's driver does not look at whose child it is in calls that name an object: some go through, some crash, some
 * submit to the parent's queue.  Those that harm the parent are left out; for the others every refusal is right.
 */
#define REFUSED "exit=5 CUDA_ERROR_NOT_INITIALIZED* CUDA_SUCCESS CUDA_SUCCESS 1"
#define UNCHECKED "hardware's driver does not notice the fork in such calls, and may crash"

#define FORK_CASE(title, ...) FORK_CASE_OR(title, NULL, __VA_ARGS__)
#define FORK_CASE_OR(title, allowed, ...) \
    static void forked_##title(void) \
    { \
        __VA_ARGS__; \
    } \
    CASE(process_end, fork_##title, .alone = true, .allow = allowed, .why = allowed ? UNCHECKED : NULL) \
    { \
        make_things(); \
        in_child(forked_##title); \
        unsigned one = 1; \
        void *params[] = {&the_word, &one}; \
        say(gold_launch(the_function, 1, the_stream, params)); \
        say(cuCtxSynchronize()); \
        say_int(gold_word(the_word)); \
    }

FORK_CASE(init, NOTE(cuInit(0)); NOTE(cuInit(1)))
FORK_CASE(version, int version = 0; NOTE(cuDriverGetVersion(&version)); note(version > 0 ? 0 : 1);
          NOTE(cuDriverGetVersion(NULL)))
FORK_CASE(error_text, const char *text = NULL; NOTE(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
          note(text ? 0 : 1))
FORK_CASE(device, int count = 0; CUdevice device; int value; NOTE(cuDeviceGetCount(&count));
          NOTE(cuDeviceGet(&device, 0)); NOTE(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0)))
FORK_CASE(context_current, CUcontext context = NULL; NOTE(cuCtxGetCurrent(&context)); note(context ? 0 : 1);
          NOTE(cuCtxSetCurrent(NULL)); NOTE(cuCtxGetCurrent(NULL)))
FORK_CASE(context_create, CUcontext context; NOTE(cuCtxCreate(&context, NULL, 0, 0)))
FORK_CASE(context_destroy, NOTE(cuCtxDestroy(gold_context())))
FORK_CASE(context_synchronize, NOTE(cuCtxSynchronize()))
FORK_CASE(primary, CUcontext context; NOTE(cuDevicePrimaryCtxRetain(&context, 0)); NOTE(cuDevicePrimaryCtxReset(0)))
FORK_CASE(memory_alloc, CUdeviceptr address; NOTE(cuMemAlloc(&address, 64)))
FORK_CASE(memory_free, NOTE(cuMemFree(the_word)); NOTE(cuMemFreeHost(the_pinned)))
FORK_CASE(host_alloc, void *address; NOTE(cuMemHostAlloc(&address, 64, 0)))
FORK_CASE(copy, unsigned value = 0; NOTE(cuMemcpyDtoH(&value, the_word, 4)); NOTE(cuMemcpyHtoD(the_word, &value, 4)))
FORK_CASE(stream_create, CUstream stream; NOTE(cuStreamCreate(&stream, 0)))
FORK_CASE_OR(stream_query, REFUSED, NOTE(cuStreamQuery(the_stream)))
FORK_CASE_OR(stream, REFUSED, NOTE(cuStreamQuery(the_stream)); NOTE(cuStreamSynchronize(the_stream));
             NOTE(cuStreamDestroy(the_stream)))
FORK_CASE(event_create, CUevent event; NOTE(cuEventCreate(&event, 0)))
FORK_CASE_OR(event_query, REFUSED, NOTE(cuEventQuery(the_event)))
FORK_CASE_OR(event_elapsed, REFUSED, float ms; NOTE(cuEventElapsedTime(&ms, the_event, the_event)))
FORK_CASE_OR(current_device, REFUSED, CUdevice device; NOTE(cuCtxGetDevice(&device)); NOTE(cuCtxGetDevice(NULL)))
FORK_CASE(memory_info, size_t spare, total; NOTE(cuMemGetInfo(&spare, &total)))
FORK_CASE(managed, CUdeviceptr address; NOTE(cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL)))
FORK_CASE(launch, unsigned one = 1; void *params[] = {&the_word, &one};
          NOTE(gold_launch(the_function, 1, the_stream, params)))
FORK_CASE(module, CUmodule module; NOTE(cuModuleLoadData(&module, gold_ptx)))
FORK_CASE_OR(null_arguments, REFUSED, NOTE(cuMemAlloc(NULL, 0)); NOTE(cuStreamCreate(NULL, 77));
             NOTE(cuStreamSynchronize((CUstream)GOLD_WILD)))
FORK_CASE(pinned_memory_is_there, the_pinned[0] = 7; note(the_pinned[0] == 7 ? 0 : 1))
FORK_CASE(proc_address, void *function = NULL; CUdriverProcAddressQueryResult found;
          NOTE(cuGetProcAddress("cuCtxGetDevice", &function, 12000, 0, &found)); note(function ? 0 : 1))
FORK_CASE(exit_normally, exit(6))

static void forked_again(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        NOTE(cuInit(0));
        NOTE(cuCtxSynchronize());
        _exit(0);
    }
    (void)waitpid(pid, &status, 0);
    NOTE(cuInit(0));
}

CASE(process_end, fork_twice, .alone = true)
{
    make_things();
    in_child(forked_again);
    say(cuCtxSynchronize());
}

CASE(process_end, fork_with_work_pending, .alone = true,
     .allow = "exit=5 CUDA_ERROR_NOT_INITIALIZED CUDA_ERROR_NOT_INITIALIZED CUDA_ERROR_NOT_INITIALIZED CUDA_SUCCESS 5",
     .why = UNCHECKED)
{
    make_things();
    struct gold_gate gate = gold_gate_close(the_stream);
    gold_add(the_stream, the_word, 5);
    in_child(forked_stream);
    gold_gate_open(gate);
    say(cuStreamSynchronize(the_stream));
    say_int(gold_word(the_word));
}

static void init_and_note(void)
{
    CUcontext context;
    NOTE(cuInit(0));
    NOTE(cuCtxCreate(&context, NULL, 0, 0));
    NOTE(cuCtxSynchronize());
}

CASE(process_end, fork_before_init, .bare = true)
{
    in_child(init_and_note);
    say(cuInit(0));
}

CASE(process_end, fork_after_init_without_context, .bare = true)
{
    NEED(cuInit(0));
    in_child(init_and_note);
    say(cuInit(0));
}

static void version_only(void)
{
    int version;
    NOTE(cuDriverGetVersion(&version));
    init_and_note();
}

CASE(process_end, fork_after_version_only, .bare = true)
{
    int version;
    say(cuDriverGetVersion(&version));
    in_child(version_only);
}

CASE(process_end, fork_after_contexts_are_gone, .bare = true)
{
    CUcontext context;
    NEED(cuInit(0));
    NEED(cuCtxCreate(&context, NULL, 0, 0));
    NEED(cuCtxDestroy(context));
    in_child(init_and_note);
}

/* ---- calls while the process ends: the child has its own driver ---- */

static void CUDA_CB sleep_long(void *data)
{
    (void)data;
    gold_sleep_ms(30000);
}

static CUmodule own_module;
static volatile unsigned *own_flag;

/* The child's driver: a context, a stream, a word; a gate's kernel is ready to be put. */
static void own_begin(void)
{
    void *memory;
    gold_child_begin(false);
    if (cuStreamCreate(&the_stream, CU_STREAM_NON_BLOCKING) || cuEventCreate(&the_event, 0) ||
        cuMemAlloc(&the_word, 64) || cuModuleLoadData(&own_module, gold_ptx) ||
        cuModuleGetFunction(&the_function, own_module, "add") || cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP))
        _exit(90);
    memset(memory, 0, 64);
    own_flag = memory;
    the_pinned = memory;
}

static void own_gate(void)
{
    CUfunction spin;
    CUdeviceptr address;
    if (cuModuleGetFunction(&spin, own_module, "spin") ||
        cuMemHostGetDevicePointer(&address, (void *)(uintptr_t)own_flag, 0))
        _exit(91);
    void *params[] = {&address};
    if (gold_launch(spin, 1, the_stream, params))
        _exit(92);
}

static void late_calls(void)
{
    CUcontext context;
    int value;
    unsigned one = 1;
    void *params[] = {&the_word, &one};
    NOTE(cuCtxGetCurrent(&context));
    NOTE(cuDriverGetVersion(&value));
    NOTE(cuDeviceGetCount(&value));
    NOTE(cuInit(0));
    NOTE(gold_launch(the_function, 1, the_stream, params));
    NOTE(cuStreamSynchronize(the_stream));
    NOTE(cuEventQuery(the_event));
    NOTE(cuMemFree(the_word));
    NOTE(cuStreamDestroy(the_stream));
    NOTE(cuCtxSynchronize());
}

static void late_destroy(void)
{
    NOTE(cuModuleUnload(own_module));
    NOTE(cuEventDestroy(the_event));
    NOTE(cuMemFreeHost(the_pinned));
    NOTE(cuCtxDestroy(gold_context()));
}

#define END_CASE(title, ...) \
    static void ends_##title(void) \
    { \
        __VA_ARGS__; \
    } \
    CASE(process_end, title, .bare = true) \
    { \
        in_child(ends_##title); \
    }

/* Calls that need no driver otherwise. */
static void late_texts(void)
{
    const char *text = NULL;
    void *function = NULL;
    CUdriverProcAddressQueryResult found;
    NOTE(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &text));
    NOTE(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
    NOTE(cuGetErrorName((CUresult)123456, &text));
    NOTE(cuGetProcAddress("cuInit", &function, 12000, 0, &found));
    NOTE(cuDriverGetVersion(NULL));
    NOTE(cuInit(1));
    NOTE(cuDeviceGetCount(NULL));
    NOTE(cuStreamCreate(NULL, 99));
}

END_CASE(atexit_before_init_texts, atexit(late_texts); own_begin(); exit(7))
END_CASE(atexit_before_init_alone, atexit(late_texts); NOTE(cuInit(0)); exit(7))
END_CASE(exit_idle, own_begin(); exit(7))
END_CASE(exit_without_context, NOTE(cuInit(0)); exit(7))
END_CASE(exit_after_destroy, own_begin(); NOTE(cuCtxDestroy(gold_context())); exit(7))
END_CASE(exit_with_work_pending, own_begin(); own_gate(); exit(7))
END_CASE(exit_with_wait_pending, own_begin();
         NOTE(cuStreamWaitValue32(the_stream, the_word, 0x7fffffff, CU_STREAM_WAIT_VALUE_EQ)); exit(7))
END_CASE(exit_with_host_function_asleep, own_begin(); NOTE(cuLaunchHostFunc(the_stream, sleep_long, NULL));
         gold_sleep_ms(100); exit(7))
END_CASE(quick_exit, own_begin(); own_gate(); quick_exit(7))
END_CASE(fast_exit, own_begin(); own_gate(); _exit(7))
END_CASE(abort, own_begin(); own_gate(); abort())
END_CASE(killed, own_begin(); own_gate(); raise(SIGKILL))
END_CASE(atexit_after_init, own_begin(); atexit(late_calls); exit(7))
END_CASE(atexit_before_init, atexit(late_calls); own_begin(); exit(7))
END_CASE(atexit_before_init_destroys, atexit(late_destroy); own_begin(); exit(7))
END_CASE(atexit_after_init_destroys, own_begin(); atexit(late_destroy); exit(7))
END_CASE(atexit_between_init_and_context, if (cuInit(0)) _exit(93); atexit(late_calls); own_begin(); exit(7))
END_CASE(at_quick_exit, own_begin(); at_quick_exit(late_calls); quick_exit(7))

/* A destructor of the program itself: it runs after all that atexit was given. */
static bool destructor_calls;

__attribute__((destructor)) static void in_destructor(void)
{
    if (destructor_calls)
        late_calls();
}

END_CASE(destructor, own_begin(); destructor_calls = true; exit(7))
END_CASE(destructor_without_init, destructor_calls = true; exit(7))

static void init_late(void)
{
    int count;
    NOTE(cuInit(0));
    NOTE(cuDeviceGetCount(&count));
}

END_CASE(first_init_in_atexit, atexit(init_late); exit(7))

static void key_destructor(void *data)
{
    (void)data;
    late_calls();
}

static void *thread_with_key(void *data)
{
    pthread_setspecific(*(pthread_key_t *)data, data);
    cuCtxSetCurrent(gold_context());
    return NULL;
}

static pthread_key_t the_key;

END_CASE(thread_key_destructor, pthread_t thread; own_begin(); pthread_key_create(&the_key, key_destructor);
         pthread_create(&thread, NULL, thread_with_key, &the_key); pthread_join(thread, NULL); exit(7))

static void *exit_now(void *data)
{
    (void)data;
    gold_sleep_ms(100);
    exit(7);
}

END_CASE(exit_from_other_thread_while_waiting, pthread_t thread; own_begin(); own_gate();
         pthread_create(&thread, NULL, exit_now, NULL); cuStreamSynchronize(the_stream))

static void *keep_calling(void *data)
{
    (void)data;
    cuCtxSetCurrent(gold_context());
    unsigned one = 1;
    void *params[] = {&the_word, &one};
    for (;;) {
        (void)gold_launch(the_function, 1, the_stream, params);
        (void)cuStreamSynchronize(the_stream);
    }
    return NULL;
}

END_CASE(exit_while_others_call, pthread_t thread; own_begin();
         for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, keep_calling, NULL); gold_sleep_ms(50); exit(7))

static void *wait_then_exit(void *data)
{
    (void)data;
    cuCtxSetCurrent(gold_context());
    NOTE(cuStreamSynchronize(the_stream));
    NOTE(cuCtxDestroy(gold_context()));
    exit(8);
}

END_CASE(main_ends_as_thread, pthread_t thread; own_begin(); pthread_create(&thread, NULL, wait_then_exit, NULL);
         pthread_exit(NULL))

static void CUDA_CB exit_inside(void *data)
{
    (void)data;
    exit(9);
}

END_CASE(exit_from_host_function, own_begin(); if (cuLaunchHostFunc(the_stream, exit_inside, NULL)) _exit(94);
         gold_sleep_ms(3000); _exit(7))
