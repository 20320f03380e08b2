/* SPDX-License-Identifier: Apache-2.0 */
/* ends HOW: two fills of the same bytes that nothing orders, and then an end of the program: "exit", "return",
 * "_exit", "abort", "segv", "kill", "callback" (exit in a host function), "exec" (the same program again, with "exit"),
 * "fork" (a child that has the driver from its parent ends first), "child" (a child makes its own fills), "running"
 * (the second fill has not begun at the end). */
#include <cuda.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static CUstream streams[2];
static volatile int *volatile nowhere;

static void check(CUresult status, const char *what)
{
    if (status != CUDA_SUCCESS) {
        fprintf(stderr, "%s: %d\n", what, (int)status);
        _exit(9);
    }
}

static void CUDA_CB leave(void *unused)
{
    (void)unused;
    exit(5);
}

static void CUDA_CB sleeps(void *unused)
{
    (void)unused;
    usleep(200000);
}

static void fills(int slow)
{
    CUcontext context;
    CUdeviceptr memory;
    check(cuInit(0), "cuInit");
    check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(cuMemAlloc(&memory, 4096), "cuMemAlloc");
    for (int i = 0; i < 2; i++)
        check(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    check(cuMemsetD8Async(memory, 1, 4096, streams[0]), "cuMemsetD8Async");
    if (slow)
        check(cuLaunchHostFunc(streams[1], sleeps, NULL), "cuLaunchHostFunc");
    check(cuMemsetD8Async(memory, 2, 4096, streams[1]), "cuMemsetD8Async");
    if (!slow)
        check(cuCtxSynchronize(), "cuCtxSynchronize");
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    if (strcmp(how, "child") == 0) {
        pid_t child = fork();
        if (child == 0) {
            fills(0);
            exit(0);
        }
        waitpid(child, NULL, 0);
        return 0;
    }
    fills(strcmp(how, "running") == 0);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "segv") == 0)
        *nowhere = 1;
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "exec") == 0)
        execl("/proc/self/exe", argv[0], "exit", (char *)NULL);
    if (strcmp(how, "fork") == 0) {
        pid_t child = fork();
        if (child == 0)
            exit(cuCtxSynchronize() == CUDA_SUCCESS);
        waitpid(child, NULL, 0);
    }
    if (strcmp(how, "callback") == 0) {
        check(cuLaunchHostFunc(streams[0], leave, NULL), "cuLaunchHostFunc");
        cuCtxSynchronize();
        pause();
    }
    if (strcmp(how, "exit") == 0)
        exit(0);
    return 0;
}
