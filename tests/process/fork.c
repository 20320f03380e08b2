/* SPDX-License-Identifier: Apache-2.0 */
/* A process forks while another of its threads opens the code generation library, whose place libopening takes.
 *
 *     fork whole    the child has the library as a whole: fork waits
 *     fork stuck    the library can't be opened before fork has returned: fork doesn't wait for ever
 *
 * A process that hangs is ended by its own alarm. */
#include <cuda.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GOOD = 7, HALF = 8, LIMIT_S = 50, SOON_MS = 100 };

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry nothing()\n{\n ret;\n}\n";

static atomic_int opening, opened, forking, forked;
static int stuck;

static void await(atomic_int *flag)
{
    while (!atomic_load(flag))
        sched_yield();
}

/* Called by the library's constructor. */
void library_opens(void);
void library_opens(void)
{
    const struct timespec soon = {0, SOON_MS * 1000000L};
    atomic_store(&opening, 1);
    await(stuck ? &forked : &forking);
    nanosleep(&soon, NULL);
    atomic_store(&opened, 1);
}

/* The library is no code generation library, so the launch fails, here or in the stream. */
static void *launches(void *data)
{
    CUcontext context;
    CUmodule module;
    CUfunction function;
    (void)data;
    if (cuCtxCreate_v4(&context, NULL, 0, 0) != CUDA_SUCCESS || cuModuleLoadData(&module, ptx) != CUDA_SUCCESS ||
        cuModuleGetFunction(&function, module, "nothing") != CUDA_SUCCESS)
        return "no kernel";
    CUresult status = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    if (status == CUDA_SUCCESS)
        status = cuCtxSynchronize();
    return status == CUDA_SUCCESS ? "a kernel ran that nobody made" : NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *fault = "no thread";
    int status = 0;
    if (argc != 2)
        return 2;
    stuck = strcmp(argv[1], "stuck") == 0;
    (void)alarm(LIMIT_S);
    if (cuInit(0) != CUDA_SUCCESS || pthread_create(&thread, NULL, launches, NULL) != 0)
        return 1;
    await(&opening);
    atomic_store(&forking, 1);
    pid_t pid = fork();
    if (pid == 0)
        _exit(stuck || atomic_load(&opened) ? GOOD : HALF);
    atomic_store(&forked, 1);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != GOOD) {
        fprintf(stderr, "fork.c: the child has half a library: status %#x\n", (unsigned)status);
        return 1;
    }
    (void)pthread_join(thread, &fault);
    if (fault)
        fprintf(stderr, "fork.c: %s\n", (char *)fault);
    return fault != NULL;
}
