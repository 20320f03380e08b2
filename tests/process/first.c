/* SPDX-License-Identifier: Apache-2.0 */
/* A process that ends while another of its threads launches the first kernel: while the code generation library is
 * found, opened and made ready, while it compiles, and while a thread of the driver's compiles again. It may not crash,
 * hang or change the exit status, at whatever moment it ends.
 *
 *     first [--repeat N]     N processes for each way to end (20), at moments spread over the whole launch
 *     first WAY MICROSECONDS one process
 *
 * A process that hangs is ended by its own alarm, which is a failure like any other signal. */
#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_STATUS = 7, LIMIT_S = 60, LAUNCHES = 64 /* enough for the code to be hot */ };

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry store(.param .u64 word)\n{\n .reg .b32 %r; .reg .b64 %rd;\n"
    " ld.param.u64 %rd, [word];\n mov.u32 %r, 5;\n st.global.u32 [%rd], %r;\n ret;\n}\n";

static CUcontext context;
static CUdeviceptr words;
static CUfunction store;

static void check(int line, CUresult status)
{
    if (status == CUDA_SUCCESS)
        return;
    fprintf(stderr, "first.c:%d: status %d\n", line, (int)status);
    _exit(1);
}
#define OK(call) check(__LINE__, call)

static uint64_t now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static void begin(void)
{
    CUmodule module;
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuMemAlloc(&words, 4096));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&store, module, "store"));
}

/* Whoever comes too late is told so. */
static void *launches(void *width)
{
    void *params[] = {&words};
    (void)cuCtxSetCurrent(context);
    CUresult status = CUDA_SUCCESS;
    for (int i = 0; i < LAUNCHES && status == CUDA_SUCCESS; i++)
        status = cuLaunchKernel(store, 1, 1, 1, (unsigned)(uintptr_t)width, 1, 1, 0, NULL, params, NULL);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_DEINITIALIZED)
        _exit(3);
    return NULL;
}

/* Two threads: block shapes of two kinds, so that both compile. */
static int end_after(const char *way, unsigned long delay)
{
    pthread_t threads[2];
    (void)alarm(LIMIT_S);
    begin();
    for (uintptr_t i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, launches, (void *)(i + 32)) != 0)
            return 1;
    struct timespec pause = {(time_t)(delay / 1000000), (long)(delay % 1000000) * 1000};
    nanosleep(&pause, NULL);
    if (strcmp(way, "return") == 0)
        return EXIT_STATUS;
    if (strcmp(way, "quick") == 0)
        quick_exit(EXIT_STATUS);
    if (strcmp(way, "joined") == 0)
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    exit(EXIT_STATUS);
}

static bool run(const char *way, unsigned long delay)
{
    char number[32];
    int status = 0;
    snprintf(number, sizeof number, "%lu", delay);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "first", way, number, (char *)NULL);
        _exit(99);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return false;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_STATUS;
    if (!good)
        fprintf(stderr, "first %s %lu: %s %d\n", way, delay, WIFSIGNALED(status) ? "signal" : "exit",
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
    static const char *const ways[] = {"exit", "return", "quick"};
    unsigned long rounds = 20, bad = 0, count = 0;
    setenv("MILLRACE_CACHE", "off", 1);
    setenv("MILLRACE_OPTIMISE_AFTER", "1", 1);
    if (argc == 3 && strcmp(argv[1], "--repeat") == 0)
        rounds = strtoul(argv[2], NULL, 10);
    else if (argc == 3)
        return end_after(argv[1], strtoul(argv[2], NULL, 10));
    /* How long it takes when nobody ends it; the second compilation comes on top, and takes up to three times as long.
     */
    uint64_t start = now_us();
    bad += !run("joined", 0);
    uint64_t whole = now_us() - start;
    srand((unsigned)getpid());
    for (unsigned long round = 0; round < rounds; round++)
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++, count++)
            bad += !run(ways[i], (unsigned long)rand() % (whole * 2));
    printf("%lu of %lu processes ended badly; a whole one takes %llu us\n", bad, count + 1, (unsigned long long)whole);
    return bad ? 1 : 0;
}
