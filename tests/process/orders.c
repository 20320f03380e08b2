/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that open the driver at run time, and close it, in every order with its use, with other libraries and with
 * the end of the process.
 *
 *     orders              run each order once, in a process of its own
 *     orders --repeat N   the same N times
 *     orders ORDER        one order, in this process
 *
 * An order is a word; each letter is a step (see step()). */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "late.h"

enum { EXIT_STATUS = 7, LIMIT_S = 60 };

static const char *const orders[] = {
    /* opened and closed, with and without use */
    "ox",
    "ocx",
    "ococ",
    "oix",
    "oicx",
    "oicocx",
    "oicoicx",
    "oIcx",
    "oicq",
    /* with work in hand */
    "oiwx",
    "oiwcx",
    "oihx",
    "oihcx",
    "oiwhq",
    "oiwhcf",
    "oiwcoshx",
    "oicwx",
    "oichcx",
    /* with threads that call */
    "oitx",
    "oitcx",
    "oiwtcx",
    "oitwchx",
    "oitq",
    /* closed by a function of atexit's, registered before or after cuInit; calls in such functions */
    "oaix",
    "oiax",
    "oiawx",
    "oAix",
    "oiAx",
    "oAicx",
    "oiAcx",
    "oiAwcx",
    /* a library with a late destructor, opened before or after the driver, closed or left */
    "loix",
    "loicx",
    "olix",
    "oilx",
    "oilcx",
    "oilLx",
    "oilcLx",
    "loiwx",
    "oilwtx",
    "oilLcx",
    "loicq",
    /* a forked child in between, which ends by itself */
    "oikx",
    "oiwkcx",
    "oiktx",
    "koix",
    "okix",
};
enum { ORDERS = sizeof orders / sizeof *orders };

static void *driver, *late;
static bool exiting;
static CUcontext context;
static CUstream stream;
static CUdeviceptr word;
static atomic_int entered;

static void *find(const char *name)
{
    void *function = dlsym(driver, name);
    if (!function)
        _exit(20);
    return function;
}

/* Entry points; they stay where they are, though the library is closed. */
static struct {
    CUresult (*init)(unsigned);
    CUresult (*context_create)(CUcontext *, unsigned, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*stream_create)(CUstream *, unsigned);
    CUresult (*host_function)(CUstream, CUhostFn, void *);
    CUresult (*wait_value)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    CUresult (*allocate)(CUdeviceptr *, size_t);
    CUresult (*release)(CUdeviceptr);
    CUresult (*fill)(CUdeviceptr, unsigned char, size_t);
    CUresult (*synchronize)(void);
    CUresult (*get_count)(int *);
} cu;

static void need(int line, CUresult status)
{
    if (status == CUDA_SUCCESS)
        return;
    fprintf(stderr, "orders.c:%d: status %d\n", line, (int)status);
    _exit(21);
}
#define NEED(call) need(__LINE__, call)

static void open_driver(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(22);
    }
    *(void **)&cu.init = find("cuInit");
    *(void **)&cu.context_create = find("cuCtxCreate_v2");
    *(void **)&cu.set_current = find("cuCtxSetCurrent");
    *(void **)&cu.stream_create = find("cuStreamCreate");
    *(void **)&cu.host_function = find("cuLaunchHostFunc");
    *(void **)&cu.wait_value = find("cuStreamWaitValue32_v2");
    *(void **)&cu.allocate = find("cuMemAlloc_v2");
    *(void **)&cu.release = find("cuMemFree_v2");
    *(void **)&cu.fill = find("cuMemsetD8_v2");
    *(void **)&cu.synchronize = find("cuCtxSynchronize");
    *(void **)&cu.get_count = find("cuDeviceGetCount");
}

static void close_driver(void)
{
    if (driver && dlclose(driver) != 0)
        _exit(23);
    driver = NULL;
}

static void begin(void)
{
    NEED(cu.init(0));
    if (context) {
        NEED(cu.set_current(context)); /* opened anew: it is all there still */
        return;
    }
    NEED(cu.context_create(&context, 0, 0));
    NEED(cu.stream_create(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cu.allocate(&word, 64));
    NEED(cu.fill(word, 0, 64));
}

static void CUDA_CB sleeps(void *data)
{
    (void)data;
    const struct timespec time = {LIMIT_S, 0};
    atomic_store(&entered, 1);
    nanosleep(&time, NULL);
}

static void *calls_for_ever(void *data)
{
    (void)data;
    (void)cu.set_current(context);
    for (;;) {
        CUdeviceptr memory;
        if (cu.allocate(&memory, 256) == CUDA_SUCCESS) {
            (void)cu.fill(memory, 1, 256);
            (void)cu.release(memory);
        }
    }
    return NULL;
}

static void late_call(void)
{
    int count;
    CUdeviceptr memory;
    CUresult first = cu.get_count(&count), second = cu.allocate(&memory, 64);
    if ((first != CUDA_SUCCESS && first != CUDA_ERROR_DEINITIALIZED) || first != second)
        _exit(24);
}

static void open_late(void)
{
    late = dlopen("liblate.so", RTLD_NOW | RTLD_LOCAL);
    if (!late)
        _exit(25);
}

/* What the library needs is known when the driver has been opened. */
static void tell_late(void)
{
    if (!late || !context)
        return;
    const struct late_calls calls = {.get_count = cu.get_count,
                                     .allocate = cu.allocate,
                                     .synchronize = cu.get_count ? cu.synchronize : NULL,
                                     .init = cu.init,
                                     .exiting = &exiting};
    void (*set)(const struct late_calls *);
    *(void **)&set = dlsym(late, "late_set");
    if (set)
        set(&calls);
}

static void child(void)
{
    int status, count;
    pid_t pid = fork();
    if (pid == 0) {
        if (context &&
            (cu.get_count(&count) != CUDA_ERROR_NOT_INITIALIZED || cu.allocate(&word, 8) != CUDA_ERROR_NOT_INITIALIZED))
            _exit(26);
        exit(EXIT_STATUS);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != EXIT_STATUS)
        _exit(27);
}

static void end(void (*how)(int))
{
    exiting = true;
    how(EXIT_STATUS);
}

static void step(char letter)
{
    pthread_t thread;
    switch (letter) {
    case 'o':
        open_driver();
        break;
    case 'c':
        close_driver();
        break;
    case 'I':
        NEED(cu.init(0));
        break;
    case 'i':
        begin();
        break;
    case 's':
        NEED(cu.set_current(context));
        break;
    case 'w':
        NEED(cu.wait_value(stream, word, 5, CU_STREAM_WAIT_VALUE_EQ));
        break;
    case 'h': {
        CUstream other;
        NEED(cu.stream_create(&other, CU_STREAM_NON_BLOCKING));
        atomic_store(&entered, 0);
        NEED(cu.host_function(other, sleeps, NULL));
        while (!atomic_load(&entered))
            sched_yield();
        break;
    }
    case 't':
        if (pthread_create(&thread, NULL, calls_for_ever, NULL) != 0)
            _exit(28);
        pthread_detach(thread);
        break;
    case 'a':
        (void)atexit(close_driver);
        break;
    case 'A':
        (void)atexit(late_call);
        break;
    case 'l':
        open_late();
        break;
    case 'L':
        if (dlclose(late) != 0)
            _exit(29);
        late = NULL;
        break;
    case 'k':
        child();
        break;
    case 'x':
        end(exit);
        break;
    case 'q':
        end(quick_exit);
        break;
    case 'f':
        end(_exit);
        break;
    default:
        _exit(30);
    }
    tell_late();
}

static bool run_order(const char *order)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "orders", order, (char *)NULL);
        _exit(99);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return false;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_STATUS;
    if (!good)
        fprintf(stderr, "orders %s: %s %d\n", order, WIFSIGNALED(status) ? "signal" : "exit",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return good;
}

int main(int argc, char **argv)
{
    unsigned long rounds = 1, bad = 0;
    if (argc == 2) {
        (void)alarm(LIMIT_S);
        for (const char *letter = argv[1]; *letter; letter++)
            step(*letter);
        exiting = true;
        return EXIT_STATUS;
    }
    if (argc == 3 && strcmp(argv[1], "--repeat") == 0)
        rounds = strtoul(argv[2], NULL, 10);
    for (unsigned long round = 0; round < rounds; round++)
        for (size_t i = 0; i < ORDERS; i++)
            bad += !run_order(orders[i]);
    printf("%lu of %lu processes ended badly\n", bad, rounds * ORDERS);
    return bad ? 1 : 0;
}
