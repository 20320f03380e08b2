/* SPDX-License-Identifier: Apache-2.0 */
/* Ends in the way that its argument names, after some work. */
#include <cuda.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void own_handler(int number)
{
    (void)number;
    _exit(7);
}

static volatile int *nowhere;

static void end(const char *how)
{
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(3);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "term") == 0)
        kill(getpid(), SIGTERM);
    if (strcmp(how, "fault") == 0)
        *nowhere = 1;
    if (strcmp(how, "handled") == 0)
        raise(SIGINT);
    if (strcmp(how, "fork") == 0) {
        pid_t child = fork();
        if (child == 0)
            exit(0);
        waitpid(child, NULL, 0);
    }
}

int main(int count, char **names)
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
    if (count < 2)
        return 2;
    if (strcmp(names[1], "handled") == 0)
        signal(SIGINT, own_handler);
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuCtxCreate(&context, NULL, 0, device) || cuMemAlloc(&memory, 4096) ||
        cuMemsetD8(memory, 1, 4096) || cuCtxSynchronize())
        return 2;
    end(names[1]);
    return 0;
}
