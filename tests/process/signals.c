/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's own threads leave the program's signals alone: of each that can be made to start, the kernel is asked which signals it blocks. */
#include <cuda.h>
#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(int line, CUresult status)
{
    if (status == CUDA_SUCCESS)
        return;
    fprintf(stderr, "signals.c:%d: status %d\n", line, (int)status);
    exit(1);
}
#define OK(call) check(__LINE__, call)

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    /* Spins until the word is 1. */
    ".visible .entry spin(.param .u64 word)\n{\n .reg .pred %p; .reg .b32 %r; .reg .b64 %rd;\n ld.param.u64 %rd, [word];\n"
    "again:\n ld.volatile.global.u32 %r, [%rd];\n setp.ne.u32 %p, %r, 1;\n @%p bra again;\n ret;\n}\n";

static const char *const expected[] = { "millrace-0", "millrace-poll", "millrace-log" };
enum { EXPECTED = sizeof expected / sizeof *expected };

static const int blocked[] = { SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGCHLD, SIGPROF, SIGIO };
static const int of_faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };

static bool has(uint64_t mask, int number)
{
    return mask >> (number - 1) & 1;
}

/* Looks at one thread of the process. False if it blocks what it shall not, or the other way round. Its name is noted. */
static bool look(const char *task, bool seen[EXPECTED])
{
    char path[300], line[200], name[32] = "";
    uint64_t mask = 0;
    bool right = true;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/status", task);
    FILE *file = fopen(path, "r");
    if (!file)
        return true;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Name: %31s", name) != 1)
            sscanf(line, "SigBlk: %" SCNx64, &mask);
    fclose(file);
    if (strncmp(name, "millrace-", 9) != 0)
        return true;
    for (unsigned i = 0; i < EXPECTED; i++)
        seen[i] |= strcmp(name, expected[i]) == 0 || (i == 0 && name[9] >= '0' && name[9] <= '9');
    for (unsigned i = 0; i < sizeof blocked / sizeof *blocked; i++)
        right &= has(mask, blocked[i]);
    for (unsigned i = 0; i < sizeof of_faults / sizeof *of_faults; i++)
        right &= !has(mask, of_faults[i]);
    if (!right)
        fprintf(stderr, "signals.c: thread %s blocks %016" PRIx64 "\n", name, mask);
    return right;
}

static bool look_at_all(bool seen[EXPECTED])
{
    bool right = true;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        exit(77);
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        if (entry->d_name[0] != '.')
            right &= look(entry->d_name, seen);
    closedir(tasks);
    return right;
}

static void CUDA_CB hear(void *data, CUlogLevel level, char *message, size_t length)
{
    (void)data, (void)level, (void)message, (void)length;
}

int main(void)
{
    CUcontext context;
    CUstream stream, other;
    CUmodule module;
    CUfunction spin;
    CUdeviceptr word;
    CUlogsCallbackHandle callback;
    alarm(120);
    OK(cuInit(0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuLogsRegisterCallback(hear, NULL, &callback));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&word, 4));
    OK(cuMemsetD32(word, 0, 1));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&spin, module, "spin"));
    OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){ &word }, NULL));
    OK(cuStreamWaitValue32(other, word, 1, CU_STREAM_WAIT_VALUE_EQ));
    bool seen[EXPECTED] = { false }, all = false, right = true;
    /* A thread has its name a moment after it begins. Nothing but the alarm limits how long that may take. */
    while (right && !all) {
        sched_yield();
        right = look_at_all(seen);
        all = true;
        for (unsigned i = 0; i < EXPECTED; i++)
            all &= seen[i];
    }
    OK(cuMemsetD32Async(word, 1, 1, CU_STREAM_PER_THREAD));
    OK(cuCtxSynchronize());
    OK(cuLogsUnregisterCallback(callback));
    OK(cuCtxDestroy(context));
    return right ? 0 : 1;
}
